#!/usr/bin/env python3
"""Everything that the manual says of speed, measured in one run, and its tables and plots written from it.

usage: readme.py ATTN_CLI [--rounds 5] [--write] [--python [PEER=]PYTHON …]

Runs the other scripts of this folder, and `attn-cli bench` with several options in turns: every round times each of them once,
and what is told is the median. Takes about half an hour; the machine should have nothing else to do. Without --write the text is
printed; with it, it takes the place of what stands between the two marks in data/manual/performance.md, and data/plots/ gets the
plots. The README quotes some of these figures; tests/cli/manual/test_readme.py says which have changed.
Peers that are missing are named, with what installs them (peers.py --help).
"""

import argparse
import json
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MARKS = ("<!-- tests/bench/readme.py writes what follows -->", "<!-- as far as here -->")
RELEASE = "build/release/attn-cli"
SIZES = (128, 512, 2048, 4096, 8192)
SHAPES = ("--head-dim 32", "--head-dim 80", "--head-dim 128", "--value-dim 96", "--heads 12 --kv-heads 3")


class Benches:
    """`attn-cli bench` with several options, in turns."""

    def __init__(self, program, rounds):
        self.program, self.rounds, self.timings = program, rounds, {}

    def measure(self, all_options):
        for _ in range(self.rounds):
            for options in all_options:
                command = [self.program, "bench", "--json", *options.split()]
                timing = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
                for one in timing if isinstance(timing, list) else [timing]:
                    self.timings.setdefault((options, one["seq"]), []).append(one)

    def median(self, options, seq, value):
        return statistics.median(value(timing) for timing in self.timings[options, seq])

    def seconds(self, options, seq):
        return self.median(options, seq, lambda timing: timing["seconds"]["median"])

    def of_peak(self, options, seq):
        return f"{100 * self.median(options, seq, lambda timing: timing['gflops'] / timing['peak_gflops']):.0f} %"


def machine():
    text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    known = [found(rf"{field}\s*: (.*)", text) for field in ("model name", "cpu family", "model")]
    name = "{} (family {}, model {})".format(*known) if "model name" in text else platform.machine()
    return f"{name}, {'AVX-512' if 'avx512f' in text else 'AVX2'}, {os.cpu_count()} cores"


def script(name, program, *arguments):
    """What it prints."""
    command = [sys.executable, str(HERE / name), program, *arguments]
    print("measuring:", name, *arguments, file=sys.stderr)
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout


def found(pattern, text):
    match = re.search(pattern, text)
    return match.group(1) if match else "–"


def peers_tables(program, options, plots):
    """GFLOP/s on one thread, and how often as fast as the fastest peer attn-cli is in all cases."""
    text = script("peers.py", program, "--all", "--rounds", str(options.rounds), "--plot", str(plots / "peers.svg"), "--python", *options.python)
    speeds, ratios = text.strip().split("\n\n")
    return speeds.partition("\n")[2], ratios


def kernel_rows(program, options):
    one = "--threads 1 --seq "
    avx2 = one + "512,2048,8192 --isa avx2"
    full, causal = one + "2048,4096", one + "2048,4096 --causal"
    shapes = {shape: f"{one}2048 {shape}" for shape in SHAPES}
    ragged, plain = one + "1111", one + "512,2048,8192"
    both = "--threads 2 --seq 512,2048,8192"
    benches = Benches(program, options.rounds)
    print("measuring: attn-cli bench", file=sys.stderr)
    benches.measure([avx2, full, causal, *shapes.values(), ragged, plain, both])

    def each(seqs, figure):
        return ", ".join(figure(seq) for seq in seqs)

    sizes = (512, 2048, 8192)
    by_shape = [f"{shape.replace('--', '')} {benches.of_peak(command, 2048)}" for shape, command in shapes.items()]
    return [
        ("AVX2 alone, of its own peak, n = 512, 2048, 8192", each(sizes, lambda n: benches.of_peak(avx2, n)), f"`attn-cli bench {avx2}`"),
        ("causal, time of the whole, n = 2048, 4096",
         each((2048, 4096), lambda n: f"{benches.seconds(causal, n) / benches.seconds(full, n):.2f}"), f"`attn-cli bench {causal}`, and without `--causal`"),
        ("other shapes, of the peak, n = 2048; n = 1111", ", ".join([*by_shape, f"1111 {benches.of_peak(ragged, 1111)}"]),
         f"`attn-cli bench {one}2048 --head-dim 32` and so on"),
        ("two threads, times one, n = 512, 2048, 8192",
         each(sizes, lambda n: f"{benches.seconds(plain, n) / benches.seconds(both, n):.2f}"), f"`attn-cli bench {both}`, and with one"),
    ]


def file_rows(program, options, folder, plots):
    saved = pathlib.Path(folder) / "scaling.json"
    script("scaling.py", program, "--rounds", str(min(options.rounds, 3)), "--json", str(saved), "--plot", str(plots / "growth.svg"))
    rows = json.loads(saved.read_text(encoding="utf-8"))
    growth = [f"{after['seconds'] / before['seconds']:.2f}" for before, after in zip(rows, rows[1:])]
    most = [f"{after['mib'] / before['mib']:.2f}" for before, after in zip(rows, rows[1:])]
    tensors = 4 * 8 * rows[-1]["seq"] * 64 * 4 / 2**20
    command = f"`tests/bench/scaling.py {RELEASE}`"
    return [
        ("twice the tokens, 4,096 to 65,536, `.npy` to `.npy`: times the time", ", ".join(growth), command),
        ("the same: times the memory", ", ".join(most), command),
        ("peak memory at 65,536, of the four tensors", f"{rows[-1]['mib'] / tensors:.3f}", command),
    ]


def process_rows(program, options):
    start = script("startup.py", program)
    lines = script("lines_peer.py", program)
    numbers = script("json_peer.py", program)
    compared = r"attn-cli, {} thread\S* +[\d,]+ a second +([\d.]+)"
    return [
        ("a run of one sentence, times `/bin/true`", found(r"ratio +([\d.]+)", start), f"`tests/bench/startup.py {RELEASE}`"),
        ("short sentences per second, one thread", found(r"1 thread +([\d,]+)", lines), f"`tests/bench/lines_peer.py {RELEASE}`"),
        ("the same, times PyTorch; times NumPy; two threads, times one",
         "; ".join([found(r"PyTorch .*second +([\d.]+)", lines), found(r"NumPy .*second +([\d.]+)", lines),
                    found(compared.format(2), lines)]), f"`tests/bench/lines_peer.py {RELEASE}`"),
        ("4 million weights as JSON, times Python, one thread; two",
         "; ".join([found(r"1 thread .* ([\d.]+) × Python", numbers), found(r"2 threads .* ([\d.]+) × Python", numbers)]),
         f"`tests/bench/json_peer.py {RELEASE}`"),
    ]


def written(speeds, ratios, rows):
    text = [f"{machine()}, {time.strftime('%B %Y')}; float32, 8 heads (two from n = 4,096 on), the fastest of all rounds, by",
            f"`tests/bench/peers.py {RELEASE} --all`. GFLOP/s of heads of 64 on one thread, without a mask:", "", speeds, "",
            "How many times as fast as the fastest peer, and which it is:", "", ratios, "",
            "![GFLOP/s of attn-cli and its peers](../plots/peers.svg)", "", "| in the same run | | command |", "|---|---|---|"]
    text += [f"| {what} | {figure} | {command} |" for what, figure, command in rows]
    return "\n".join([*text, "", "![Time and memory against the length of the sequence](../plots/growth.svg)"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--python", nargs="*", default=[], metavar="[PEER=]PYTHON", help="where peers are: see peers.py")
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    with tempfile.TemporaryDirectory() as folder:
        plots = ROOT / "data" / "plots" if options.write else pathlib.Path(folder)
        plots.mkdir(exist_ok=True)
        speeds, ratios = peers_tables(program, options, plots)
        rows = [*kernel_rows(program, options), *file_rows(program, options, folder, plots), *process_rows(program, options)]
    text = written(speeds, ratios, rows)
    print(text)
    if options.write:
        page = ROOT / "data" / "manual" / "performance.md"
        before, rest = page.read_text(encoding="utf-8").split(MARKS[0])
        after = rest.split(MARKS[1])[1]
        page.write_text(f"{before}{MARKS[0]}\n\n{text}\n\n{MARKS[1]}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
