#!/usr/bin/env python3
"""report::torch_text against print(tensor) of live PyTorch: 2,000 random tensors, byte for byte.

0 to 4 dimensions, also empty ones and more than 1,000 elements; magnitudes from 1e-12 to 1e12, whole numbers, zeros of both signs,
infinities and NaN; numbers at the borders of the rules; float32 and float64; several precisions.

usage: live_torch_texts.py TORCH_TEXTS [FIRST_SEED]
Exits 77 (skipped) without PyTorch, or 1 when ATTN_REQUIRE_LIVE=1 says that it must be there.
"""

import math
import random
import subprocess
import sys

from live import skip

try:
    import torch
except ImportError as missing:
    skip(missing)

CASES = 2000
BORDERS = [1e-4, 1e-3, 1.0, 1e3, 1e8]


def some_shape(chance):
    rank = chance.randint(0, 4)
    longest = chance.choice([2, 4, 8, 8, 40])
    shape = [chance.randint(1, longest) for _ in range(rank)]
    if rank and chance.random() < 0.1:
        shape[chance.randrange(rank)] = chance.choice([0, 1, 6, 7, 300, 1001])
    while math.prod(shape) > 6000:
        shape[shape.index(max(shape))] = chance.randint(1, 7)
    return shape


def border(chance):
    return chance.choice(BORDERS) * chance.choice([1, 1, 1 - 2**-52, 1 + 2**-51, 1 - 2**-23, 1 + 2**-22, 1.5])


def some_number(chance):
    """A way to make numbers that are of one kind."""
    scale = 10.0 ** chance.uniform(-12, 12)
    spread = chance.choice([0.5, 1.5, 3.0, 12.0])
    largest = 10 ** chance.randint(0, 12)
    kinds = [
        lambda: chance.gauss(0, 1),
        lambda: chance.gauss(0, scale),
        lambda: abs(chance.gauss(0, scale)),
        lambda: chance.choice([-1, 1]) * scale * 10.0 ** chance.uniform(-spread, spread),
        lambda: float(chance.randint(-largest, largest)),
        lambda: float(chance.randint(0, 9)) + chance.choice([0.0, 0.0, 0.0, 0.5]),
        lambda: chance.choice([0.0, -0.0]),
        lambda: chance.choice([-1, 1]) * border(chance),
        lambda: chance.choice([1.0, 1000.0, 1e-3, 1e-3 * (1 - 2**-20), 999.5]),
    ]
    return chance.choice(kinds)


def some_tensor(chance):
    shape, number = some_shape(chance), some_number(chance)
    special = chance.choice([0, 0, 0.02, 0.3, 1])
    values = [chance.choice([math.inf, -math.inf, math.nan, -math.nan, 0.0, -0.0]) if chance.random() < special else number()
              for _ in range(math.prod(shape))]
    return torch.tensor(values, dtype=chance.choice([torch.float32, torch.float64])).reshape(shape)


def line_of(tensor, digits):
    words = [str(tensor.dtype).removeprefix("torch."), digits, tensor.dim(), *tensor.shape]
    words += [value.hex() for value in tensor.double().reshape(-1).tolist()]
    return " ".join(map(str, words)) + "\n"


def printed(tensor, digits):
    torch.set_printoptions(precision=digits)
    return str(tensor)


def main():
    program, first = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0
    cases = []
    for seed in range(first, first + CASES):
        chance = random.Random(seed)
        cases.append((some_tensor(chance), chance.choice([4, 4, 4, 4, 2, 8, chance.randint(0, 17)])))
    given = "".join(line_of(*case) for case in cases)
    done = subprocess.run([program], input=given.encode(), capture_output=True, check=True)
    ours = done.stdout.decode().split("\n\f\n")
    for number, (case, text) in enumerate(zip(cases, ours, strict=False)):
        if text != printed(*case):
            sys.exit(f"seed {first + number}, {case[1]} digits, {tuple(case[0].shape)}:\n{text}\nexpected\n{printed(*case)}")
    if len(ours) != CASES + 1:
        sys.exit(f"{len(ours) - 1} texts of {CASES}")
    print(f"{CASES} tensors as PyTorch {torch.__version__} prints them")


if __name__ == "__main__":
    main()
