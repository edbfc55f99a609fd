#!/usr/bin/env python3
"""What a call of the Python package costs beside the program's own time: the same attention, in turns.

usage: ATTN_CLI=build/release/attn-cli python_call.py [RUNS]

Causal, float32, (1, 8, n, 64), one thread; the least of RUNS (200) of each, in milliseconds. The program alone reads and writes the
same files in memory, started by posix_spawn.
"""

import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "src/python"))

import attn_cli
import numpy as np


def milliseconds(work):
    begin = time.perf_counter()
    work()
    return (time.perf_counter() - begin) * 1e3


def spawned(command):
    _, status = os.waitpid(os.posix_spawn(command[0], command, os.environ), 0)
    assert status == 0, command


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    random = np.random.default_rng(0)
    print("   n  stages    program     call    added")
    for n, stages in ((8, ["context"]), (128, ["context"]), (128, ["all"]), (512, ["context"])):
        q, k, v = random.standard_normal((3, 1, 8, n, 64), np.float32)
        with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
            for name, array in zip("qkv", (q, k, v)):
                np.save(f"{folder}/{name}.npy", array)
            inputs = [word for name in "qkv" for word in (f"-{name}", f"{folder}/{name}.npy")]
            command = [attn_cli.program_path(), "attend", *inputs, "--causal", "--threads", "1", "--show", ",".join(stages), "-o", f"{folder}/y.safetensors"]
            turns = [(milliseconds(lambda: spawned(command)), milliseconds(lambda: attn_cli.attention(q, k, v, causal=True, threads=1, stages=stages)))
                     for _ in range(runs)]
        program, call = map(min, zip(*turns))
        print(f"{n:4}  {stages[0]:8} {program:8.2f} {call:8.2f} {call - program:8.2f}")


if __name__ == "__main__":
    main()
