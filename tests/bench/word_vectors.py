#!/usr/bin/env python3
"""Ten words in a file of word vectors: seconds and peak memory of `run --embeddings`, beside `grep -F` over the same file.

More than 3 times grep's seconds, or more than 100 MB, fails. Both are run once to warm the page cache, then the best of five counts.

usage: word_vectors.py ATTN_CLI [--words 1000000] [--size 300] [--file FILE]

The file (2.6 GB by default) is made in a temporary folder (TMPDIR), or once as FILE and then used again.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time

MOST_TIMES, MOST_KILOBYTES = 3.0, 100_000


def make(path, words, size):
    draw = random.Random(1)
    pool = [f"{draw.gauss(0, 0.4):.5g}" for _ in range(1 << 16)]
    with open(path, "w", encoding="ascii") as file:
        for word in range(words):
            first = draw.randrange(len(pool) - size)
            file.write(f"w{word} {' '.join(pool[first : first + size])}\n")


def measured(command):
    """Best seconds of five, and the peak in kilobytes."""
    best, peak = float("inf"), 0
    for round_number in range(6):
        before = time.monotonic()
        with tempfile.TemporaryFile() as out:  # grep stops at the first match when it writes to /dev/null
            child = subprocess.Popen(command, stdout=out)
            _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            raise subprocess.CalledProcessError(child.returncode, command)
        if round_number > 0:
            best = min(best, time.monotonic() - before)
        peak = max(peak, usage.ru_maxrss)
    return best, peak


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--words", type=int, default=1_000_000)
    parser.add_argument("--size", type=int, default=300)
    parser.add_argument("--file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = options.file or f"{folder}/vectors.txt"
        if not os.path.exists(path):
            make(path, options.words, options.size)
        wanted = [f"w{random.Random(2 + i).randrange(options.words)}" for i in range(9)] + [f"w{options.words - 1}"]
        patterns = [part for word in wanted for part in ("-e", word)]
        grep, _ = measured(["grep", "-F", *patterns, path])
        ours, peak = measured([options.program, "run", " ".join(wanted), "--embeddings", path, "--init", "identity", "--json"])
    times = ours / grep
    print(f"grep -F {grep:.3f} s   run --embeddings {ours:.3f} s   {times:.2f} times   peak {peak / 1000:.1f} MB")
    return 1 if times > MOST_TIMES or peak > MOST_KILOBYTES else 0


if __name__ == "__main__":
    sys.exit(main())
