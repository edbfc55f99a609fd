// What a page relies on: runs of the program as WebAssembly by data/web/program.js.
//
// usage: node tests/web/cases.mjs attn-cli.wasm
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { loadProgram } from "../../src/web/attn.mjs";

const program = await loadProgram(readFileSync(process.argv[2]));
const bytes = (text) => new TextEncoder().encode(text);
const text = (array) => new TextDecoder().decode(array);
const sentence = "Life is short, eat dessert first";

/// Standard output of a run that succeeds and says nothing.
function said(args, files, env) {
  const { exit, stdout, stderr } = program.run(args, files, env);
  assert.deepEqual([exit, stderr], [0, ""]);
  return text(stdout);
}

test("a sentence becomes JSON", () => {
  const { tokens, weights } = JSON.parse(said(["run", sentence, "--heads", "4", "--json"]));
  assert.equal(tokens.length, 6);
  assert.deepEqual(weights.map((head) => head.length), [6, 6, 6, 6]);
});

test("a second run knows nothing of the first", () => {
  const args = ["run", sentence, "--json", "-o", "out.json"];
  const first = program.run(args);
  assert.deepEqual(Object.keys(first.files), ["out.json"]);
  assert.deepEqual(Object.keys(program.run(["run", sentence]).files), []);
  assert.deepEqual(program.run(args), first);
});

test("files are read, replaced and left as they are", () => {
  const files = { "words/a.txt": bytes("the cat sat\n"), "out.txt": bytes("old") };
  const { exit, files: after } = program.run(["run", "-", "-o", "./words/../out.txt"], { ...files, "/dev/stdin": bytes("the cat") });
  assert.equal(exit, 0);
  assert.deepEqual(Object.keys(after).sort(), ["out.txt", "words/a.txt"]);
  assert.equal(text(after["words/a.txt"]), "the cat sat\n");
  assert.match(text(after["out.txt"]), /cat/);
  assert.equal(text(files["out.txt"]), "old");
});

test("standard input, by lines", () => {
  const lines = said(["run", "--lines", "-", "--json"], { "/dev/stdin": bytes("the cat\na dog\n") }).trimEnd().split("\n");
  assert.deepEqual(lines.map((line) => JSON.parse(line).index), [0, 1]);
});

test("what a run wrote another one checks", () => {
  const { files } = program.run(["run", sentence, "--json", "-o", "life.json"]);
  assert.equal(program.run(["check", "life.json"], files).exit, 0);
});

test("errors have the exit code and the message of every system", () => {
  const { exit, stderr } = program.run(["plot", "missing.npz"]);
  assert.equal(exit, 66);
  assert.equal(stderr, "attn-cli: error: cannot open 'missing.npz': No such file or directory\n");
  assert.equal(program.run(["run", "a", "-o", "nowhere/out.json"]).exit, 73);
  assert.equal(program.run(["run", "a", "-o", "folder"], { "folder/a": bytes("") }).exit, 73);
  assert.equal(program.run(["run", "--embeddings", "a/b"], { a: bytes("") }).exit, 66);
  assert.equal(program.run(["--frob"]).exit, 2);
});

test("the folder of a model is looked through", () => {
  const here = (path) => new Uint8Array(readFileSync(new URL("../../" + path, import.meta.url)));
  const files = { "folder/config.json": here("data/models/induction/config.json"), "folder/tokenizer.json": here("tests/fuzz/corpus/tokenizer/word-level"), "folder/model.bin": bytes("") };
  const { exit, stderr } = program.run(["run", "a", "--model", "folder/"], files);
  assert.equal(exit, 65);
  assert.match(stderr, /'model.bin', a pickle/);
});

test("what needs more memory than there is is refused", () => {
  const { exit, stderr } = program.run(["run", "a b c", "--embed-dim", "40000", "--d-k", "40000"]);
  assert.notEqual(exit, 0);
  assert.match(stderr, /3,\d{3},\d{3},\d{3} bytes \(3\.\d+ GiB\) are free/);
});

test("every recipe gives its published numbers", () => {
  assert.equal(program.run(["check", "--all", "--quiet"]).exit, 0);
});
