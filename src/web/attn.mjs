// The program as WebAssembly, as if it ran here: standard input, the files of this folder, and what it writes among them.
//
// usage: node src/web/attn.mjs attn-cli.wasm ARGUMENTS
import { lstatSync, readdirSync, readFileSync, statSync, unlinkSync, writeFileSync, writeSync } from "node:fs";
import { fileURLToPath } from "node:url";

const page = fileURLToPath(new URL("../../data/web/program.js", import.meta.url));
export const loadProgram = new Function(`${readFileSync(page, "utf8")}; return loadProgram;`)();

/// Name → bytes of all files below a folder, those of folders that links lead to, too.
export function filesBelow(folder, inside = "") {
  return readdirSync(folder + inside).reduce((all, name) => {
    const path = inside + "/" + name;
    const status = statSync(folder + path, { throwIfNoEntry: false });
    const more = status?.isDirectory() ? filesBelow(folder, path) : status?.isFile() ? { [path.slice(1)]: new Uint8Array(readFileSync(folder + path)) } : {};
    return Object.assign(all, more);
  }, {});
}

function main([wasm, ...args]) {
  const before = filesBelow(".");
  return loadProgram(readFileSync(wasm)).then((program) => {
    const { exit, stdout, stderr, files } = program.run(args, { ...before, "/dev/stdin": new Uint8Array(readFileSync(0)) });
    for (const [name, bytes] of Object.entries(files)) {
      if (bytes !== before[name] && Buffer.compare(bytes, before[name] ?? new Uint8Array(1)) !== 0) {
        writeFileSync(name, bytes);
      }
    }
    writeAll(1, stdout);
    writeAll(2, Buffer.from(stderr));
    process.exitCode = exit;
  });
}

function writeAll(descriptor, bytes) {
  for (let place = 0; place < bytes.length;) {
    place += writeSync(descriptor, bytes, place);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(process.argv.slice(2));
}
