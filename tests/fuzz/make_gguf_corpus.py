#!/usr/bin/env python3
"""Writes tests/fuzz/corpus/gguf: a small .gguf of each tokenizer, without its tensors, a whole one, and some damaged ones.

usage: make_gguf_corpus.py [FOLDER]
"""

import os
import struct
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "cli"))
os.environ.setdefault("ATTN_CLI", sys.executable)  # the modules of the tests look for it

import gguf_files  # noqa: E402
import gguf_models  # noqa: E402


def seeds():
    for name in ("gpt2", "qwen2", "gemma3", "bert"):
        tokens = gguf_models.TOKENIZERS[name]()[1]
        metadata = gguf_models.metadata_of(name, len(tokens["tokenizer.ggml.tokens"]), tokens) if name != "bert" else {"general.architecture": name} | tokens
        yield name, gguf_files.gguf_bytes(metadata, {})
    with tempfile.TemporaryDirectory() as folder:
        whole = gguf_models.write(Path(folder), "gpt2")[1].read_bytes()
    yield "whole", whole
    yield "cut", whole[: len(whole) // 2]
    blocks, _ = gguf_files.random_blocks("Q4_K", 2, 256, 1)
    yield "blocks", gguf_files.gguf_bytes({"general.architecture": "llama", "general.alignment": 64}, {"token_embd.weight": blocks})
    yield "empty", b""
    yield "promise", b"GGUF" + struct.pack("<IQQ", 3, 10**12, 10**12) + bytes(64)
    yield "big-endian", b"GGUF" + struct.pack(">IQQ", 3, 0, 0)
    yield "lists-of-lists", b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + gguf_files.text("a") + struct.pack("<I", 9) * 8 + bytes(64)


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else TESTS / "fuzz" / "corpus" / "gguf"
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in seeds():
        (folder / name).write_bytes(data)


if __name__ == "__main__":
    main()
