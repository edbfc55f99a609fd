#!/usr/bin/env python3
"""All weights of one sentence of 2,000 words as JSON (4 million numbers), beside Python's `json.dumps(tensor.tolist())`.

usage: json_peer.py ATTN_CLI [--words N] [--turns N]

Both take turns. The time of the tool is that of the whole process, with everything before the JSON; that of Python is the one
expression, for the same numbers (in an array of NumPy, or without it in a list that is already made).
"""

import argparse
import json
import os
import statistics
import subprocess
import time


def seconds(work):
    before = time.perf_counter()
    work()
    return time.perf_counter() - before


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("program")
    parser.add_argument("--words", type=int, default=2000)
    parser.add_argument("--turns", type=int, default=5)
    arguments = parser.parse_args()
    text = " ".join(f"w{i}" for i in range(arguments.words)).encode()
    command = [os.path.abspath(arguments.program), "run", "-", "--json", "--show", "weights", "--threads"]
    weights = json.loads(subprocess.run([*command, "1"], input=text, capture_output=True, check=True).stdout)["weights"]
    try:
        import numpy

        weights = numpy.array(weights, "float32")
        to_json = lambda: json.dumps(weights.tolist())
    except ImportError:
        to_json = lambda: json.dumps(weights)

    def tool(threads):
        return lambda: subprocess.run([*command, threads], input=text, stdout=subprocess.DEVNULL, check=True)

    contestants = {"attn-cli, 1 thread": tool("1"), "attn-cli, 2 threads": tool("2"), "Python": to_json}
    times = {name: [] for name in contestants}
    for _ in range(arguments.turns):
        for name, work in contestants.items():
            times[name].append(seconds(work))
    medians = {name: statistics.median(values) for name, values in times.items()}
    numbers = arguments.words**2
    print(f"{numbers:,} weights, {arguments.turns} turns, medians:")
    for name, median in medians.items():
        print(f"  {name:<20} {median * 1e3:7.0f} ms   {numbers / median / 1e6:6.1f} million a second   {medians['Python'] / median:5.1f} × Python")


if __name__ == "__main__":
    main()
