#!/usr/bin/env python3
"""Judges that `attn-cli attend --against` accuses no honest kernel of float16 or bfloat16.

Each kernel goes through tiles of 16 to 128 keys with an online softmax, in 1 to 4 splits that are merged at the end, sums in
float32, and rounds to the type what kernels round: the products before the scale or after it, the exponentials that meet the
values (the sum is of those, or of what they were), the result. Cases are those of mistaken_attention.py, and larger ones. With
--accumulator the products with the values are summed in the type, which must be told.

usage: honest_kernels.py ATTN_CLI [--cases N] [--seed S] [--accumulator]
Exits 77 (skipped) without NumPy, or 1 when ATTN_REQUIRE_LIVE=1 says that it must be there.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from live import skip

try:
    import numpy as np
except ImportError as missing:
    skip(missing)

from mistaken_attention import INF, Attention, Case, rounded
from planted_mistakes import is_note, quiet, save


class Kernel(Attention):
    """The right attention of a case, in tiles and with the roundings of a kernel, both drawn from a stream."""

    def __init__(self, case, draw, accumulator=False):
        super().__init__(case)
        chance = lambda share: draw.random() < share
        self.rounds = lambda x: rounded(x, case.type)
        self.tile = int(draw.choice([16, 32, 64, 128]))
        self.splits = int(draw.choice([1, 1, 1, 2, 3, 4]))
        self.scores_in_type, self.scaled_in_type, self.weights_in_type = chance(0.3), chance(0.3), chance(0.8)
        self.sum_of_rounded = chance(0.5)
        self.accumulator = accumulator

    def products(self, q, k):
        s = (q.astype("f4") @ k.astype("f4").swapaxes(2, 3)).astype("f4")
        return self.rounds(s) if self.scores_in_type else s

    def scores(self, products):
        s = super().scores(products).astype("f4")
        return self.rounds(s) if self.scaled_in_type else s

    def mix(self, s, seen, v):
        c = self.case
        s = np.where(seen, s, -INF).astype("f4")
        size = -(-c.S // self.splits)
        parts = [self.attend(s[..., first:first + size], v[:, :, first:first + size]) for first in range(0, c.S, size)]
        if c.sinks is not None:
            sink = np.broadcast_to(c.sinks[:, None, None], s.shape[:3] + (1,)).astype("f4")
            parts.append((sink, np.ones_like(sink), np.zeros(s.shape[:3] + (c.dv,), "f4")))
        largest = np.max([m for m, _, _ in parts], 0)
        shares = [np.exp(m - np.where(largest > -INF, largest, 0)) for m, _, _ in parts]
        total = sum(share * l for share, (_, l, _) in zip(shares, parts))
        return sum(share * acc for share, (_, _, acc) in zip(shares, parts)) / np.where(total == 0, 1, total)

    def attend(self, s, v):
        """The largest score, the sum of the exponentials, and that of the values times them, of each query."""
        m = np.full(s.shape[:3] + (1,), -INF, "f4")
        l, acc = np.zeros_like(m), np.zeros(s.shape[:3] + (self.case.dv,), "f4")
        for first in range(0, s.shape[-1], self.tile):
            tile, values = s[..., first:first + self.tile], v[:, :, first:first + self.tile].astype("f4")
            new = np.maximum(m, tile.max(-1, keepdims=True))
            base = np.where(new > -INF, new, 0)
            p, old = np.exp(tile - base), np.exp(m - base)
            met = self.rounds(p).astype("f4") if self.weights_in_type else p
            l = l * old + (met if self.sum_of_rounded else p).sum(-1, keepdims=True)
            acc = self.add(acc * old, met, values)
            m = new
        return m, l, acc

    def add(self, acc, p, values):
        if not self.accumulator:
            return acc + p @ values
        for j in range(p.shape[-1]):
            acc = self.rounds(acc + p[..., j:j + 1] * values[:, :, j:j + 1])
        return acc

    def file(self):
        return self.rounds(self.case.stored(self.result()))


class Larger(Case):
    """Sequences and heads of the sizes that kernels are tested with."""

    def __init__(self, seed):
        super().__init__(seed)
        draw = np.random.default_rng(seed + 4 * 10**9)
        self.B, self.H, self.Hk, self.P, self.layout, self.four = 1, 2, 1, 0, "HTd", False
        self.T, self.S = (int(draw.choice([64, 128, 200, 384])) for _ in "TS")
        self.d = self.dv = int(draw.choice([32, 64, 128]))
        self.inside, self.mask, self.lengths, self.segments, self.sinks, self.slopes = self.S, None, None, None, None, None
        normal = lambda *shape: rounded(draw.normal(size=shape), self.type)
        self.q, self.k, self.v = normal(1, 2, self.T, self.d), normal(1, 1, self.S, self.d), normal(1, 1, self.S, self.dv)


def heard(seed, program, accumulator):
    """The exit code and the report for one kernel."""
    draw = np.random.default_rng(seed + 5 * 10**9)
    case = (Larger if seed % 4 == 3 else Case)(3 * (seed // 2) + 1 + seed % 2)  # of the two types in turns
    kernel = Kernel(case, draw, accumulator)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        arguments = case.options()
        for option, x in case.tensors().items():
            name = option.strip("-")
            if option in ("--mask", "--lengths", "--sinks", "--segments"):
                np.save(folder / f"{name}.npy", x.astype("f4") if x.dtype == float else x)
                arguments += [option, f"{name}.npy"]
            else:
                arguments += [option, save(folder / name, x, case.type)]
        command = [program, "attend", *arguments, "--against", save(folder / "mine", kernel.file(), case.type), "--json"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"seed {seed}: exit code {done.returncode}: {done.stderr}")
    report = json.loads(done.stdout)
    mistakes = [tuple(each["mistakes"]) for each in report.get("named", [])]
    rounding = any(is_note(names, case.type) for names in mistakes)
    told = "" if not mistakes or report["verdict"] == "likely" else "rounding" if rounding else "mistake"
    if accumulator != (done.returncode == 1 or told == "mistake"):
        half, shape = report["half"], (case.B, case.H, case.T, case.S, case.d, case.dv)
        print(f"seed {seed} ({case.type}, {shape}): {report['agreement']}, {mistakes[:6]}, largest {half['largest_difference']:.2g}, "
              f"unfused {half['unfused']:.2g}; {report['mismatched']} of {report['compared']}", file=sys.stderr)
    return report["agreement"], told


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--accumulator", action="store_true", help="kernels that are not honest: sums in the type")
    given = parser.parse_args()
    program = str(Path(given.program).resolve())
    with ThreadPoolExecutor(2, initializer=quiet) as pool:
        answers = Counter(pool.map(lambda seed: heard(seed, program, given.accumulator), range(given.seed, given.seed + given.cases)))
    for (agreement, named), count in sorted(answers.items()):
        print(f"{count:6} {agreement} {named}")
    accused = sum(count for (agreement, told), count in answers.items() if agreement == "differs" or told == "mistake")
    print(f"{given.cases} kernels, {accused} accused")
    return 0 if given.accumulator or accused == 0 else 1


if __name__ == "__main__":
    quiet()
    sys.exit(main())
