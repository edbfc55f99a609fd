"use strict";

// The program, compiled to WebAssembly, in a page or in node: a command line at a time, with files that are bytes under names.
//
//   const program = await loadProgram(bytes);   // of attn-cli.wasm
//   const { exit, stdout, stderr, files } = program.run(["run", "Life is short", "--json"]);
//
// It asks for its arguments, for files and for the time in calls of WASI (preview 1), which give the number of an error, or 0.

const wasi = { badDescriptor: 8, exists: 20, invalid: 28, isFolder: 31, notThere: 44, unknown: 52, notFolder: 54, noPlace: 70 };
const kinds = { stream: 0, device: 2, folder: 3, file: 4 };
const root = 3; // the descriptor of the folder of all files; 0, 1 and 2 are the streams
const everything = 2n ** 64n - 1n; // of the rights of a descriptor

/// A name without "." and "..", from the root, which is where the program stands.
function placeOf(path) {
  const parts = [];
  path.split("/").forEach((part) => (part === ".." ? parts.pop() : part !== "" && part !== "." && parts.push(part)));
  return parts.join("/");
}

let entries = 0;

/// What a descriptor may be of. `bytes` may be longer than what is in it, which is `size`.
class Entry {
  constructor(kind, bytes = new Uint8Array()) {
    Object.assign(this, { kind, bytes, size: bytes.length, number: ++entries, time: BigInt(Date.now()) * 1000000n });
  }

  content() {
    return this.bytes.subarray(0, this.size);
  }

  write(bytes, place) {
    const end = place + bytes.length;
    if (end > this.bytes.length) {
      const longer = new Uint8Array(Math.max(end, 2 * this.bytes.length));
      longer.set(this.content());
      this.bytes = longer;
    }
    this.bytes.set(bytes, place);
    this.size = Math.max(this.size, end);
  }
}

/// The calls of one run. What they are given are numbers and places in the memory of the program; 64 bits are a BigInt.
function calls(args, files, env) {
  const streams = ["/dev/stdin", "/dev/stdout", "/dev/stderr"].map((name) => new Entry(kinds.stream, files[name]));
  const named = new Map(Object.entries(files).filter(([name]) => name !== "/dev/stdin").map(([name, bytes]) => [placeOf(name), new Entry(kinds.file, bytes)]));
  named.set("dev/null", new Entry(kinds.device));
  const folders = new Map(); // those that were asked for
  const open = new Map(streams.map((entry, number) => [number, { entry, place: 0 }]));
  const texts = { args: ["attn-cli", ...args], environ: Object.entries(env).map(([name, value]) => `${name}=${value}`) };
  let memory = null; // known once the module is an instance

  const view = () => new DataView(memory.buffer);
  const bytesAt = (place, count) => new Uint8Array(memory.buffer, place, count);
  const pathAt = (place, count) => new TextDecoder().decode(bytesAt(place, count));
  const setSize = (place, value) => view().setUint32(place, value, true);
  const setLong = (place, value) => view().setBigUint64(place, BigInt(value), true);

  /// The names in a folder. It is there when there is one.
  const namesIn = (folder) => {
    const start = folder === "" ? "" : folder + "/";
    return [...new Set([...named.keys()].filter((name) => name.startsWith(start)).map((name) => name.slice(start.length).split("/")[0]))];
  };
  /// The file or folder, or the number of an error.
  const find = (path) => {
    const place = placeOf(path);
    const above = place.split("/").map((_, i, parts) => parts.slice(0, i).join("/"));
    const file = named.get(place);
    if (above.some((name) => named.has(name)) || (file && path.endsWith("/"))) {
      return wasi.notFolder;
    }
    if (!file && place !== "" && namesIn(place).length === 0) {
      return wasi.notThere;
    }
    if (!file && !folders.has(place)) {
      folders.set(place, Object.assign(new Entry(kinds.folder), { place }));
    }
    return file ?? folders.get(place);
  };
  open.set(root, { entry: find("/"), place: 0 });

  /// Calls `use(descriptor)`, whose result is the number of an error where it is one.
  const withOpen = (number, use) => (open.has(number) ? use(open.get(number)) ?? 0 : wasi.badDescriptor);
  const withFound = (path, use) => {
    const found = find(path);
    return typeof found === "number" ? found : use(found) ?? 0;
  };
  /// The pieces of memory that a list of `count` names.
  const pieces = (list, count) => Array.from({ length: count }, (_, i) => bytesAt(view().getUint32(list + 8 * i, true), view().getUint32(list + 8 * i + 4, true)));
  const read = (entry, from, list, count) => {
    let place = from;
    for (const piece of pieces(list, count)) {
      const part = entry.content().subarray(place, place + piece.length);
      piece.set(part);
      place += part.length;
    }
    return place - from;
  };
  const state = (entry, place) => {
    bytesAt(place, 64).fill(0);
    setLong(place + 8, entry.number);
    view().setUint8(place + 16, entry.kind);
    setLong(place + 24, 1);
    setLong(place + 32, entry.size);
    [40, 48, 56].forEach((at) => setLong(place + at, entry.time));
  };
  const sizesOf = (name) => (count, size) => {
    setSize(count, texts[name].length);
    setSize(size, texts[name].reduce((sum, text) => sum + new TextEncoder().encode(text).length + 1, 0));
    return 0;
  };
  const putTexts = (name) => (list, buffer) => {
    let place = buffer;
    texts[name].forEach((text, i) => {
      const bytes = new TextEncoder().encode(text + "\0");
      setSize(list + 4 * i, place);
      bytesAt(place, bytes.length).set(bytes);
      place += bytes.length;
    });
    return 0;
  };

  const wasiCalls = {
    args_sizes_get: sizesOf("args"),
    args_get: putTexts("args"),
    environ_sizes_get: sizesOf("environ"),
    environ_get: putTexts("environ"),
    clock_time_get: (clock, _, place) => setLong(place, Math.round((clock === 0 ? Date.now() : performance.now()) * 1e6)) ?? 0,
    sched_yield: () => 0,
    proc_exit: (code) => {
      throw { exit: code };
    },
    // Everything that the program waits for is there.
    poll_oneoff: (wanted, events, count, counted) => {
      const all = Array.from({ length: count }, (_, i) => wanted + 48 * i);
      const ready = all.filter((place) => view().getUint8(place + 8) !== 0);
      (ready.length > 0 ? ready : all).forEach((place, i) => {
        bytesAt(events + 32 * i, 32).fill(0);
        bytesAt(events + 32 * i, 8).set(bytesAt(place, 8));
        view().setUint8(events + 32 * i + 10, view().getUint8(place + 8));
      });
      return setSize(counted, ready.length > 0 ? ready.length : count) ?? 0;
    },
    fd_prestat_get: (number, place) => (number === root ? setLong(place, 2n ** 32n) ?? 0 : wasi.badDescriptor), // a name of one letter
    fd_prestat_dir_name: (_, place) => bytesAt(place, 1).fill("/".charCodeAt(0)) && 0,
    fd_close: (number) => (number < root || open.delete(number) ? 0 : wasi.badDescriptor),
    fd_fdstat_get: (number, place) => withOpen(number, ({ entry }) => {
      setLong(place, entry.kind);
      setLong(place + 8, entry === streams[0] ? 2n : entry.kind === kinds.stream ? 64n : everything); // to read, to write
      setLong(place + 16, everything);
    }),
    fd_filestat_get: (number, place) => withOpen(number, ({ entry }) => state(entry, place)),
    fd_seek: (number, offset, from, result) => withOpen(number, (descriptor) => {
      if (descriptor.entry.kind === kinds.stream) {
        return wasi.noPlace;
      }
      descriptor.place = [0, descriptor.place, descriptor.entry.size][from] + Number(offset);
      return setLong(result, descriptor.place);
    }),
    fd_sync: () => 0,
    fd_read: (number, list, count, result) => withOpen(number, (descriptor) => {
      if (descriptor.entry.kind === kinds.folder) {
        return wasi.isFolder;
      }
      const got = read(descriptor.entry, descriptor.place, list, count);
      descriptor.place += got;
      return setSize(result, got);
    }),
    fd_pread: (number, list, count, offset, result) => withOpen(number, ({ entry }) => setSize(result, read(entry, Number(offset), list, count))),
    fd_write: (number, list, count, result) => withOpen(number, (descriptor) => {
      const start = descriptor.place;
      for (const piece of pieces(list, count)) {
        descriptor.entry.kind === kinds.device || descriptor.entry.write(piece, descriptor.place);
        descriptor.place += piece.length;
      }
      return setSize(result, descriptor.place - start);
    }),
    fd_readdir: (number, buffer, size, cookie, result) => withOpen(number, ({ entry }) => {
      let used = 0;
      for (const [i, name] of namesIn(entry.place).entries()) {
        if (i < Number(cookie) || used === size) {
          continue;
        }
        const bytes = new Uint8Array([...new Uint8Array(24), ...new TextEncoder().encode(name)]);
        const item = new DataView(bytes.buffer);
        const found = find(`${entry.place}/${name}`);
        item.setBigUint64(0, BigInt(i + 1), true);
        item.setBigUint64(8, BigInt(found.number), true);
        item.setUint32(16, bytes.length - 24, true);
        item.setUint8(20, found.kind);
        const part = bytes.subarray(0, size - used);
        bytesAt(buffer + used, part.length).set(part);
        used += part.length;
      }
      return setSize(result, used);
    }),
    path_filestat_get: (_, __, path, length, place) => withFound(pathAt(path, length), (entry) => state(entry, place)),
    path_readlink: (_, path, length) => withFound(pathAt(path, length), () => wasi.invalid), // none is a link
    path_open: (_, __, path, length, how, rights, ___, ____, result) => {
      const name = pathAt(path, length);
      const [create, folder, alone, empty] = [1, 2, 4, 8].map((bit) => (how & bit) !== 0);
      let found = find(name);
      if (found === wasi.notThere && create) {
        const parent = find(placeOf(name).split("/").slice(0, -1).join("/"));
        if (typeof parent === "number") {
          return parent;
        }
        found = new Entry(kinds.file);
        named.set(placeOf(name), found);
      } else if (typeof found !== "number" && create && alone) {
        return wasi.exists;
      }
      if (typeof found === "number") {
        return found;
      }
      if (folder !== (found.kind === kinds.folder) && (folder || (rights & 64n) !== 0n)) {
        return folder ? wasi.notFolder : wasi.isFolder;
      }
      found.size = empty ? 0 : found.size;
      const number = Math.max(...open.keys()) + 1;
      open.set(number, { entry: found, place: 0 });
      return setSize(result, number) ?? 0;
    },
    path_unlink_file: (_, path, length) => withFound(pathAt(path, length), () => void named.delete(placeOf(pathAt(path, length)))),
    path_rename: (_, path, length, __, to, toLength) => withFound(pathAt(path, length), (entry) => {
      named.delete(placeOf(pathAt(path, length)));
      named.set(placeOf(pathAt(to, toLength)), entry);
    }),
  };
  return { wasiCalls, streams, named, use: (instance) => (memory = instance.exports.memory) };
}

/// Compiles the module once. Each run is a new instance, so nothing is left of it, whatever happens.
async function loadProgram(bytes) {
  const module = await WebAssembly.compile(bytes);
  const missing = Object.fromEntries(WebAssembly.Module.imports(module).map(({ name }) => [name, () => wasi.unknown]));
  return {
    /// `files` are the bytes (Uint8Array) of each name, of "/dev/stdin" standard input. What comes back are those and all that were written.
    run(args, files = {}, env = {}) {
      const { wasiCalls, streams, named, use } = calls(args, files, env);
      const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: { ...missing, ...wasiCalls } });
      use(instance);
      let exit = 0;
      let said = "";
      try {
        instance.exports._start();
      } catch (thrown) {
        exit = thrown.exit ?? 70;
        said = "exit" in thrown ? "" : `attn-cli: error: ${thrown.message}\n`;
      }
      named.delete("dev/null");
      const written = Object.fromEntries([...named].map(([name, entry]) => [name, entry.content()]));
      return { exit, stdout: streams[1].content(), stderr: new TextDecoder().decode(streams[2].content()) + said, files: written };
    },
  };
}
