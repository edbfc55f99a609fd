"use strict";

// The program as WebAssembly, in a page or in node: a command line at a time, with files that are bytes under names.
//
//   const program = await loadProgram(bytes);  // of attn-cli.wasm
//   const { exit, stdout, stderr, files } = program.run(["run", "Life is short", "-o", "life.json"]);
//
// It asks for its arguments, for files and for the time in calls of WASI (preview 1), which give the number of an error, or 0.

const wasiError = { badDescriptor: 8, exists: 20, invalid: 28, isFolder: 31, notThere: 44, unknown: 52, notFolder: 54, noPlace: 70 };
const wasiKind = { stream: 0, device: 2, folder: 3, file: 4 };
const wasiRight = { read: 2n, write: 64n, all: 2n ** 64n - 1n };
const wasiRoot = 3; // the descriptor of the folder of all files; 0, 1 and 2 are the streams

/// What a descriptor is of. `bytes` may be longer than what is in it, which is `size`.
class MemoryFile {
  static made = 0;

  constructor(kind, bytes = new Uint8Array()) {
    Object.assign(this, { kind, bytes, size: bytes.length, number: ++MemoryFile.made, time: BigInt(Date.now()) * 1000000n });
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

/// The files of a run by their names, without "." and "..", from the root, where the program stands. A folder is there when a file
/// is in it.
class MemoryFiles {
  constructor(files) {
    this.files = new Map(Object.entries(files).map(([name, bytes]) => [this.nameOf(name), new MemoryFile(wasiKind.file, bytes)]));
    this.files.set("dev/null", new MemoryFile(wasiKind.device));
    this.folders = new Map(); // those that were asked for
  }

  nameOf(path) {
    return path.split("/").reduce((parts, part) => (part === ".." ? parts.slice(0, -1) : ["", "."].includes(part) ? parts : [...parts, part]), []).join("/");
  }

  namesIn(folder) {
    const start = folder === "" ? "" : folder + "/";
    return [...new Set([...this.files.keys()].filter((name) => name.startsWith(start)).map((name) => name.slice(start.length).split("/")[0]))];
  }

  /// A file or folder, or the number of an error.
  find(path) {
    const name = this.nameOf(path);
    const file = this.files.get(name);
    if (name.split("/").some((_, i, parts) => this.files.has(parts.slice(0, i).join("/"))) || (file && path.endsWith("/"))) {
      return wasiError.notFolder;
    }
    if (!file && name !== "" && this.namesIn(name).length === 0) {
      return wasiError.notThere;
    }
    if (!file && !this.folders.has(name)) {
      this.folders.set(name, Object.assign(new MemoryFile(wasiKind.folder), { name }));
    }
    return file ?? this.folders.get(name);
  }

  /// The same; a file that is not there is made, one that must be new is refused.
  findOrMake(path, isNew) {
    const found = this.find(path);
    const folder = this.find(path.slice(0, path.lastIndexOf("/") + 1));
    if (found !== wasiError.notThere || typeof folder === "number") {
      return isNew && typeof found !== "number" ? wasiError.exists : found;
    }
    return this.files.set(this.nameOf(path), new MemoryFile(wasiKind.file)).get(this.nameOf(path));
  }
}

/// The calls of one run, whose memory `memory()` gives. They are given numbers and places in the memory; 64 bits are a BigInt.
function wasiCalls(words, files, streams, memory) {
  const open = new Map([...streams, files.find("")].map((file, number) => [number, { file, place: 0 }]));
  const view = () => new DataView(memory());
  const bytesAt = (place, count) => new Uint8Array(memory(), place, count);
  const pathAt = (place, count) => new TextDecoder().decode(bytesAt(place, count));
  const set = (place, value) => view().setUint32(place, value, true);
  const setLong = (place, value) => view().setBigUint64(place, BigInt(value), true);
  const encode = (text) => new TextEncoder().encode(text);

  /// `use` of an open descriptor, or of what is at a path; its result is the number of an error, or nothing.
  const withOpen = (number, use) => (open.has(number) ? use(open.get(number)) ?? 0 : wasiError.badDescriptor);
  const withFound = (found, use) => (typeof found === "number" ? found : use(found) ?? 0);
  /// The pieces of memory that a list names.
  const pieces = (list, count) => Array.from({ length: count }, (_, i) => bytesAt(view().getUint32(list + 8 * i, true), view().getUint32(list + 8 * i + 4, true)));
  const read = (file, start, list, count) =>
    pieces(list, count).reduce((read, piece) => {
      const part = file.content().subarray(start + read, start + read + piece.length);
      piece.set(part);
      return read + part.length;
    }, 0);
  const putState = (file, place) => {
    [0, file.number, file.kind, 1, file.size, file.time, file.time, file.time].forEach((value, i) => setLong(place + 8 * i, value));
  };
  const sizesOf = (texts) => (count, size) => {
    set(count, texts.length);
    set(size, encode(texts.join("\0") + "\0").length);
    return 0;
  };
  const textsOf = (texts) => (list, buffer) => {
    texts.reduce((place, text, i) => {
      const bytes = encode(text + "\0");
      set(list + 4 * i, place);
      bytesAt(place, bytes.length).set(bytes);
      return place + bytes.length;
    }, buffer);
    return 0;
  };

  return {
    args_sizes_get: sizesOf(words.args),
    args_get: textsOf(words.args),
    environ_sizes_get: sizesOf(words.env),
    environ_get: textsOf(words.env),
    clock_time_get: (clock, _, place) => setLong(place, Math.round((clock === 0 ? Date.now() : performance.now()) * 1e6)) ?? 0,
    sched_yield: () => 0,
    proc_exit: (exit) => {
      throw { exit };
    },
    /// All that the program reads is there: of what it waits for, descriptors are ready, or else a time is over.
    poll_oneoff: (wanted, events, count, result) => {
      const all = Array.from({ length: count }, (_, i) => [bytesAt(wanted + 48 * i, 8).slice(), view().getUint8(wanted + 48 * i + 8)]);
      const ready = all.some(([, kind]) => kind !== 0) ? all.filter(([, kind]) => kind !== 0) : all;
      ready.forEach(([name, kind], i) => bytesAt(events + 32 * i, 32).fill(0).set([...name, 0, 0, kind]));
      return set(result, ready.length) ?? 0;
    },
    fd_prestat_get: (number, place) => (number === wasiRoot ? setLong(place, 2n ** 32n) ?? 0 : wasiError.badDescriptor), // a folder, its name a letter
    fd_prestat_dir_name: (_, place) => set(place, "/".charCodeAt(0)) ?? 0,
    fd_fdstat_get: (number, place) => withOpen(number, ({ file }) => {
      setLong(place, file.kind);
      setLong(place + 8, file.kind !== wasiKind.stream ? wasiRight.all : number === 0 ? wasiRight.read : wasiRight.write);
      setLong(place + 16, wasiRight.all);
    }),
    fd_filestat_get: (number, place) => withOpen(number, ({ file }) => putState(file, place)),
    fd_seek: (number, offset, from, result) => withOpen(number, (descriptor) => {
      if (descriptor.file.kind === wasiKind.stream) {
        return wasiError.noPlace;
      }
      descriptor.place = [0, descriptor.place, descriptor.file.size][from] + Number(offset);
      return setLong(result, descriptor.place);
    }),
    fd_sync: () => 0,
    fd_close: (number) => (number <= wasiRoot || open.delete(number) ? 0 : wasiError.badDescriptor),
    fd_read: (number, list, count, result) => withOpen(number, (descriptor) => {
      if (descriptor.file.kind === wasiKind.folder) {
        return wasiError.isFolder;
      }
      const bytes = read(descriptor.file, descriptor.place, list, count);
      descriptor.place += bytes;
      return set(result, bytes);
    }),
    fd_pread: (number, list, count, offset, result) => withOpen(number, ({ file }) => set(result, read(file, Number(offset), list, count))),
    fd_write: (number, list, count, result) => withOpen(number, (descriptor) => {
      const start = descriptor.place;
      for (const piece of pieces(list, count)) {
        if (descriptor.file.kind !== wasiKind.device) {
          descriptor.file.write(piece, descriptor.place);
        }
        descriptor.place += piece.length;
      }
      return set(result, descriptor.place - start);
    }),
    fd_readdir: (number, buffer, size, cookie, result) => withOpen(number, ({ file }) => {
      const entries = files.namesIn(file.name).map((name, i) => {
        const found = files.find(`${file.name}/${name}`);
        const head = new DataView(new ArrayBuffer(24));
        head.setBigUint64(0, BigInt(i + 1), true);
        head.setBigUint64(8, BigInt(found.number), true);
        head.setUint32(16, encode(name).length, true);
        head.setUint32(20, found.kind, true);
        return [...new Uint8Array(head.buffer), ...encode(name)];
      });
      const bytes = entries.slice(Number(cookie)).flat().slice(0, size);
      bytesAt(buffer, size).set(bytes);
      return set(result, bytes.length);
    }),
    path_filestat_get: (_, __, path, length, place) => withFound(files.find(pathAt(path, length)), (file) => putState(file, place)),
    path_readlink: (_, path, length) => withFound(files.find(pathAt(path, length)), () => wasiError.invalid), // none is a link
    path_open: (_, __, path, length, how, rights, ___, ____, result) => {
      const [make, asFolder, isNew, empty] = [1, 2, 4, 8].map((bit) => (how & bit) !== 0);
      return withFound(make ? files.findOrMake(pathAt(path, length), isNew) : files.find(pathAt(path, length)), (file) => {
        const isFolder = file.kind === wasiKind.folder;
        if (asFolder !== isFolder && (asFolder || (rights & wasiRight.write) !== 0n)) {
          return asFolder ? wasiError.notFolder : wasiError.isFolder;
        }
        file.size = empty ? 0 : file.size;
        const number = Math.max(...open.keys()) + 1;
        open.set(number, { file, place: 0 });
        return set(result, number);
      });
    },
    path_unlink_file: (_, path, length) => withFound(files.find(pathAt(path, length)), () => void files.files.delete(files.nameOf(pathAt(path, length)))),
    path_rename: (_, path, length, __, to, toLength) => withFound(files.find(pathAt(path, length)), (file) => {
      files.files.delete(files.nameOf(pathAt(path, length)));
      files.files.set(files.nameOf(pathAt(to, toLength)), file);
    }),
  };
}

/// Compiles the program once. Each run is an instance of its own, so nothing is left of it, whatever happened.
async function loadProgram(bytes) {
  const module = await WebAssembly.compile(bytes);
  const unknown = Object.fromEntries(WebAssembly.Module.imports(module).map(({ name }) => [name, () => wasiError.unknown]));
  return {
    /// `files`: the bytes (Uint8Array) of each name, "/dev/stdin" for standard input. Back come the files that are there then.
    run(args, files = {}, env = {}) {
      const { "/dev/stdin": input, ...named } = files;
      const there = new MemoryFiles(named);
      const streams = [input, undefined, undefined].map((bytes) => new MemoryFile(wasiKind.stream, bytes));
      const words = { args: ["attn-cli", ...args], env: Object.entries(env).map(([name, value]) => `${name}=${value}`) };
      let instance = null;
      const calls = wasiCalls(words, there, streams, () => instance.exports.memory.buffer);
      instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: { ...unknown, ...calls } });
      let exit = 0;
      let failure = "";
      try {
        instance.exports._start();
      } catch (thrown) {
        exit = thrown.exit ?? 70;
        failure = "exit" in thrown ? "" : `attn-cli: error: ${thrown.message}\n`;
      }
      there.files.delete("dev/null");
      const written = Object.fromEntries([...there.files].map(([name, file]) => [name, file.content()]));
      return { exit, stdout: streams[1].content(), stderr: new TextDecoder().decode(streams[2].content()) + failure, files: written };
    },
  };
}
