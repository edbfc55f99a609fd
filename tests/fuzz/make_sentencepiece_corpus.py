#!/usr/bin/env python3
"""Writes tests/fuzz/corpus/sentencepiece: a small model of each kind, and some damaged ones.

usage: make_sentencepiece_corpus.py [FOLDER]
"""

import struct
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "cli"))

from sentencepiece_files import BPE, CHAR, CONTROL, UNIGRAM, UNKNOWN, UNUSED, USER_DEFINED, WORD, bytes_pieces, field, model, piece  # noqa: E402

UNK = ("<unk>", 0, UNKNOWN)
ENDS = [("<s>", 0, CONTROL), ("</s>", 0, CONTROL)]
LETTERS = [("▁", -2), ("c", -3), ("a", -3), ("t", -3), ("'", -4), ("s", -3), ("T", -5), ("h", -5), ("e", -5), ("中", -6)]
PIECES = [*LETTERS, ("▁The", -1.5), ("at", -2.5), ("▁c", -2.5), ("Th", -2), ("he", -2), ("▁T", -2.2)]


def character_map(offset=0):
    """A double array that maps "T" to "t " and "The" to nothing: the children of a unit lie at its offset ^ byte."""
    units = [0x80000000] * 1024
    units[0] = 256 << 10
    t = 256 ^ ord("T")
    units[t] = ord("T") | 1 << 8 | 512 << 10
    units[t ^ 512] = offset
    h = t ^ 512 ^ ord("h")
    units[h] = ord("h") | 256 << 10
    e = h ^ 256 ^ ord("e")
    units[e] = ord("e") | 1 << 8 | 1 << 10
    units[e ^ 1] = 3
    return struct.pack("<I1024I", 4096, *units) + b"t \0\0"


def seeds():
    yield "unigram", model([UNK, *ENDS, *PIECES], UNIGRAM, precompiled_charsmap=character_map())
    yield "pairs", model([UNK, *ENDS, *PIECES], BPE)
    yield "bytes", model([UNK, *bytes_pieces(), *PIECES], BPE, byte_fallback=True, add_dummy_prefix=False, remove_extra_whitespaces=False)
    users = [("cat", 0, USER_DEFINED), ("é", 0, USER_DEFINED), ("<s>", 0, USER_DEFINED)]
    yield "users", model([UNK, *users, ("\u0130", 0, UNUSED), *PIECES], UNIGRAM, precompiled_charsmap=character_map())
    yield "users-pairs", model([UNK, *users, *PIECES], BPE, treat_whitespace_as_suffix=True)
    yield "characters", model([UNK, *LETTERS], CHAR, escape_whitespaces=False)
    yield "extreme-scores", model([UNK, ("a", 1e28), ("b", -1e28), ("▁", 1e28), ("s", 1e28)], UNIGRAM)
    yield "spec-twice", model([UNK, *PIECES], BPE) + field(2, field(3, UNIGRAM)) + field(3, field(3, 0))
    # refused
    yield "words", model([UNK, *PIECES], WORD)
    yield "map-astray", model([UNK, *PIECES], UNIGRAM, precompiled_charsmap=character_map(77))
    yield "cut", model([UNK, *PIECES], UNIGRAM)[:-9]
    yield "promise", piece(*UNK) + b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f"
    yield "long-varint", b"\x08" + b"\xff" * 11
    yield "groups", b"\x0b" * 1000
    yield "no-utf8", piece(*UNK) + field(1, field(1, b"\xff\xfe"))
    yield "no-score", piece(*UNK) + field(1, field(1, "a") + field(2, float("nan")))
    yield "other-wire", piece(*UNK) + field(1, 3)
    yield "empty", b""


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else TESTS / "fuzz" / "corpus" / "sentencepiece"
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in seeds():
        (folder / name).write_bytes(data)


if __name__ == "__main__":
    main()
