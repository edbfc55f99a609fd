#!/usr/bin/env python3
"""How time and memory of `attend`, from .npy to .npy, grow with the length of the sequence.

Twice the tokens should take four times as long and twice the memory; queries, keys, values and result are the least that there can be.

usage: scaling.py ATTN_CLI [--seq 4096 8192 …] [--heads 8] [--head-dim 64] [--threads N] [--rounds 3] [--json FILE]
                  [--plot FILE.svg]
"""

import argparse
import json
import os
import statistics
import tempfile

import svg_plot
from attend_memory import peak_of, write_inputs


def measure(options, length):
    """Median seconds, and the largest peak in MiB."""
    shape = (1, options.heads, length, options.head_dim)
    files = ["-q", "q.npy", "-k", "k.npy", "-v", "v.npy", "-o", "y.npy"]
    command = [os.path.abspath(options.program), "attend", *files, "--threads", str(options.threads)]
    with tempfile.TemporaryDirectory() as folder:
        write_inputs(folder, shape, "float32")
        peaks, seconds = zip(*(peak_of(command, folder) for _ in range(options.rounds)))
    return {"seq": length, "seconds": statistics.median(seconds), "mib": max(peaks) / 1024}


def print_table(rows, options):
    print("| n | seconds | times the half | peak MiB | of the four tensors |")
    print("|---|---|---|---|---|")
    for before, row in zip([None, *rows], rows):
        tensors = 4 * options.heads * row["seq"] * options.head_dim * 4 / 2**20
        growth = f"{row['seconds'] / before['seconds']:.2f}" if before and row["seq"] == 2 * before["seq"] else ""
        print(f"| {row['seq']} | {row['seconds']:.3f} | {growth} | {row['mib']:.0f} | {row['mib'] / tensors:.3f} |")


def plot(rows, options):
    lengths = [row["seq"] for row in rows]
    figure, panels = svg_plot.pyplot().subplots(1, 2, figsize=(8, 3.5))
    for axes, key, label, power in ((panels[0], "seconds", "seconds", 2), (panels[1], "mib", "peak MiB", 1)):
        axes.plot(lengths, [row[key] for row in rows], marker="o", label="attn-cli attend")
        last = rows[-1]
        axes.plot(lengths, [last[key] * (n / lengths[-1]) ** power for n in lengths], "--", color="gray", label=f"slope {power}")
        axes.set_xscale("log", base=2)
        axes.set_yscale("log", base=2)
        axes.set(xlabel="tokens", ylabel=label)
        axes.legend()
    figure.suptitle(f"{options.heads} heads of {options.head_dim}, {options.threads} thread(s), .npy to .npy")
    svg_plot.save(figure, options.plot)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--seq", type=int, nargs="+", default=[4096, 8192, 16384, 32768, 65536])
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--head-dim", type=int, default=64)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json")
    parser.add_argument("--plot")
    options = parser.parse_args()
    rows = [measure(options, length) for length in options.seq]
    print_table(rows, options)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
    if options.plot:
        plot(rows, options)


if __name__ == "__main__":
    main()
