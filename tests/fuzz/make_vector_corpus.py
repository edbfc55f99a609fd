#!/usr/bin/env python3
"""Writes the seeds of the fuzz target word_vectors: valid texts of every kind, and one for each rule, which breaks it.

    tests/fuzz/make_vector_corpus.py tests/fuzz/corpus/word_vectors
"""

import sys
from pathlib import Path

FILES = {
    "glove": b"the 0.5 -1.25\ncat 3 4e-2\n",
    "word2vec": b"3 2\n</s> 0 0 \nthe 0.5 -1.25 \ncat 3 4 \n",
    "no-newline": b"a 1 2\nb 3 4",
    "windows": b"2 2\r\na 1 2\r\nb 3 4 \r\n",
    "spaces": b"x 1 2\ny 1 2\n. . . 1 2\nat name 3 4\nat 5 6\n",
    "no-break-space": "New\u00a0York 7 8\n\u2028 1 2\n".encode(),
    "byte-order-mark": b"\xef\xbb\xbf2 2\na 1 2\nb 3 4\n",
    "noticed": b"a 1 2\nunk nan 1\nthe 1 2\nunk 1 2\n",
    "one-number": b"12 5.0\nb 6\n",
    "whole-number": b"1 1\n12 5\n",
    "empty-word": b" 1 2\na 3 4\n",
    "only-spaces": b"   \n   \n",
    "subnormal": b"a 1e-320 -0 1e-400\n",
    "too-few": b"a 1 2\nx 1\nb 3 4\n",
    "too-many": b"x 1 2\ny 1 2\na 1 2 3\nthe 1 2 z 1 2\n",
    "blank-line": b"x 1 2\n\na 1 2\n",
    "repeated": b"x 1 2\na 1 2\nx 1 2\n",
    "nan": b"a 1 nan\nthe inf -inf\n",
    "overflow": b"a 1e999 1\n",
    "no-number": b"a 1 two\n",
    "utf-8": b"x 1 2\nz\xff 1 2\n",
    "surrogate": b"\xed\xa0\x80 1 2\n",
    "empty": b"",
    "newline": b"\n",
    "words-alone": b"word\nlist\n",
    "prose": b"Life is short\n",
    "header-alone": b"0 5\n",
    "header-too-many": b"3 2\na 1 2\nb 1 2\n",
    "header-too-few": b"1 2\na 1 2\nb 1 2\n",
    "header-huge-count": b"99999999999999999999999 1\na 1\n",
    "header-huge-dim": b"2 1048577\na 1\n",
    "header-large-dim": b"2 1048576\na 1\n",
    "header-dim-0": b"2 0\na\n",
    "binary": b"2 2\na \x00\x00\x80\x3f\x00\x00\x80\x3f\n",
    "gzip": b"\x1f\x8b\x08\x00\x00\x00\x00\x00",
    "long": b"a" + b" 1" * 300 + b"\nb" + b" 2" * 300 + b"\n",
}

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in FILES.items():
        (folder / name).write_bytes(content)
