#!/usr/bin/env python3
"""Compares the library's draws with live PyTorch and NumPy, bit for bit.

    tests/oracle/live_draws.py path/to/draws [first_seed [--many]]

Random sequences of operations (sizes around PyTorch's block of 16, means, deviations, bounds, new seeds in between), then over a
million draws of each kind; with --many thirty million normals more. Exit 0: all equal; 1: the first difference is on stderr; 77:
PyTorch or NumPy is not installed, which is a failure instead when the environment has ATTN_REQUIRE_LIVE=1.
"""

import random
import subprocess
import sys

from live import skip

try:
    import numpy as np
    import torch
except ImportError as missing:
    skip(missing)


class Torch:
    name = "torch"
    largest_seed = 2**64 - 1

    def __init__(self, seed):
        torch.manual_seed(seed)

    def uniform(self, count, low, high):
        drawn = torch.rand(count) if (low, high) == (0.0, 1.0) else torch.empty(count).uniform_(low, high)
        return drawn.numpy().astype(np.float64)

    def normal(self, count, mean, deviation):
        drawn = torch.randn(count) if (mean, deviation) == (0.0, 1.0) else torch.empty(count).normal_(mean, deviation)
        return drawn.numpy().astype(np.float64)

    def integers(self, count, low, high):
        return torch.randint(low, high, (count,)).numpy().astype(np.float64)


class Numpy:
    name = "numpy"
    largest_seed = 2**32 - 1

    def __init__(self, seed):
        np.random.seed(seed)

    def uniform(self, count, low, high):
        return np.random.rand(count) if (low, high) == (0.0, 1.0) else np.random.uniform(low, high, count)

    def normal(self, count, mean, deviation):
        return np.random.randn(count) if (mean, deviation) == (0.0, 1.0) else np.random.normal(mean, deviation, count)

    def integers(self, count, low, high):
        return np.random.randint(low, high, count).astype(np.float64)


class Pcg64:
    name = "numpy-pcg64"
    largest_seed = 2**64 - 1

    def __init__(self, seed):
        self.generator = np.random.default_rng(seed)

    def uniform(self, count, low, high):
        return self.generator.random(count) if (low, high) == (0.0, 1.0) else self.generator.uniform(low, high, count)

    def normal(self, count, mean, deviation):
        standard = (mean, deviation) == (0.0, 1.0)
        return self.generator.standard_normal(count) if standard else self.generator.normal(mean, deviation, count)

    def integers(self, count, low, high):
        return self.generator.integers(low, high, count).astype(np.float64)


GENERATORS = [Torch, Numpy, Pcg64]


def some_seed(chance, generator):
    return chance.choice([0, 1, 123, 2**32 - 1, generator.largest_seed, chance.randrange(2**32), chance.randint(0, generator.largest_seed)])


def some_count(chance):
    return chance.choice([chance.randint(0, 15), chance.randint(0, 40), 16 * chance.randint(1, 20), chance.randint(0, 3000)])


def some_limits(chance):
    """Of integers: ranges of few numbers, around every power of two, and beyond what a word holds."""
    size = chance.choice([chance.randint(1, 10), 2 ** chance.randint(0, 53) + chance.randint(-1, 1), chance.randint(1, 2**53)])
    low = chance.choice([0, -size // 2, chance.randint(-(2**53), 2**53 - max(size, 1))])
    return low, low + max(size, 1)


def some_draw(chance):
    """A line for the program under test, and the same for the live library."""
    kind, count = chance.choice(["uniform", "normal", "integers"]), some_count(chance)
    if kind == "integers":
        return kind, count, *some_limits(chance)
    first, second = 0.0, 1.0
    if chance.random() < 0.6:
        first = chance.choice([0.0, chance.uniform(-3, 3), chance.uniform(-1, 1) * 10 ** chance.randint(-8, 8)])
        second = chance.choice([1.0, chance.uniform(0, 2), 10 ** chance.uniform(-8, 8)])
        second = first + second if kind == "uniform" else second
    return kind, count, first, second


# Limits of integers: a tutorial's, around what a word of 32 bits holds, where a third and where nearly half are drawn again.
MANY = [(0, 3), (-7, 94), (0, 2**31 + 1), (0, 2**32 - 1), (0, 2**32), (0, 2**32 + 1), (-(2**52) - 2, 2**52 + 1), (5, 6)]


def sequences(first_seed):
    """Streams as (generator, seed, draws)."""
    for number in range(first_seed, first_seed + 600):
        chance = random.Random(number)
        generator = GENERATORS[number % 3]
        yield generator, some_seed(chance, generator), [some_draw(chance) for _ in range(chance.randint(1, 12))]
    for generator in GENERATORS:
        for count in range(41):
            yield generator, count, [("normal", count, 0.0, 1.0), ("uniform", count, -0.25, 0.25), ("normal", count, 0.0, 0.02)]
        large = [("uniform", 1000003, 0.0, 1.0), ("uniform", 1000003, -0.3, 0.2), ("normal", 1000003, 0.0, 1.0), ("normal", 1000003, 0.1, 3.7)]
        yield generator, first_seed, large
        yield generator, 7, [("normal", 15, 0.0, 1.0)] * 70000
        yield generator, first_seed, [("integers", 1000003, low, high) for low, high in MANY]
        for count in range(70):
            yield generator, count, [("integers", count, 0, 3), ("normal", 1, 0.0, 1.0), ("integers", count, 0, 2**32), ("integers", 1, 0, 2**40)]
    for generator in GENERATORS if sys.argv[3:] == ["--many"] else []:
        yield generator, first_seed, [("normal", 2500000, 0.0, 1.0)] * 4


def check(program, generator, seed, draws):
    program.stdin.write(f"seed {generator.name} {seed}\n".encode())
    live = generator(seed)
    for kind, count, first, second in draws:
        limits = f"{first} {second}" if kind == "integers" else f"{first.hex()} {second.hex()}"
        program.stdin.write(f"{kind} {count} {limits}\n".encode())
        program.stdin.flush()
        theirs = getattr(live, kind)(count, first, second)
        ours = np.frombuffer(program.stdout.read(8 * count), dtype="<f8")
        if len(ours) != count:
            sys.exit(f"{generator.name} {seed}: {kind} {count} {first} {second}: the program stopped")
        different = np.flatnonzero(ours.view("<u8") != theirs.view("<u8"))
        if len(different):
            at = different[0]
            sys.exit(
                f"{generator.name} {seed}: {kind} {count} {first} {second}: {len(different)} of {count} differ, first at "
                f"{at}: {ours[at].hex()}, expected {theirs[at].hex()}"
            )
    return sum(count for _, count, _, _ in draws)


def check_bernoulli(program):
    """Dropout's masks, of both types, and where they leave the stream."""
    chance = random.Random(2)
    cases = [(count, p) for count in (*range(7, 40), 1000, 4097) for p in (0.1, 0.3, 0.5, 0.9)] + [(1_000_000, 0.5), (1_000_000, 0.1)]
    mkl = torch.backends.mkl.is_available()
    for count, p in cases:
        for dtype in (torch.float32, torch.float64):
            seed = some_seed(chance, Torch)
            torch.manual_seed(seed)
            theirs = torch.nn.functional.dropout(torch.ones(count, dtype=dtype), p).numpy() != 0
            keep = (1 - p).hex()
            operation = f"bernoulli_mkl {count} {keep} {int(dtype == torch.float64)}" if mkl else f"bernoulli {count} {keep}"
            program.stdin.write(f"seed torch {seed}\n{operation}\nuniform 3 0 1\n".encode())
            program.stdin.flush()
            ours = np.frombuffer(program.stdout.read(8 * count), dtype="<f8")
            after = np.frombuffer(program.stdout.read(8 * 3), dtype="<f8")
            if (ours != theirs).any() or (after != torch.rand(3).numpy()).any():
                sys.exit(f"torch {seed}: {operation}: {(ours != theirs).sum()} of {count} differ, then {after}")
    return 2 * sum(count for count, _ in cases)


def live_bounds(fan_in, fan_out, gain, a):
    """Bounds and deviations as torch.nn.init computes them, read off the calls that it makes."""
    asked = []
    original = torch.Tensor.uniform_, torch.Tensor.normal_
    torch.Tensor.uniform_ = torch.Tensor.normal_ = lambda tensor, first=0, second=1, **_: asked.append(second) or tensor
    try:
        layer = torch.nn.Linear(fan_in, fan_out)
        torch.nn.init.xavier_uniform_(layer.weight, gain)
        torch.nn.init.xavier_normal_(layer.weight, gain)
        torch.nn.init.kaiming_uniform_(layer.weight, a)
        torch.nn.init.kaiming_normal_(layer.weight, a, mode="fan_out")
    finally:
        torch.Tensor.uniform_, torch.Tensor.normal_ = original
    return asked


def check_bounds(program):
    chance = random.Random(1)
    sizes = [(a, b) for a in range(1, 70) for b in (1, 2, 3, 16, 24)] + [(chance.randint(1, 5000), chance.randint(1, 50)) for _ in range(200)]
    for fan_in, fan_out in sizes:
        gain, a = chance.choice([(1.0, 0.0), (2**0.5, 5**0.5), (5 / 3, 0.01), (chance.uniform(0, 3), chance.uniform(-3, 3))])
        program.stdin.write(f"bounds {fan_in} {fan_out} {gain.hex()} {a.hex()}\n".encode())
        program.stdin.flush()
        ours = list(np.frombuffer(program.stdout.read(48), dtype="<f8"))
        theirs = live_bounds(fan_in, fan_out, gain, a)
        if ours != theirs:
            sys.exit(f"bounds of {fan_in}, {fan_out}, gain {gain}, a {a}: {ours}, expected {theirs}")
    return 6 * len(sizes)


def main():
    first_seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    totals = {generator.name: 0 for generator in GENERATORS}
    with subprocess.Popen([sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        for generator, seed, draws in sequences(first_seed):
            totals[generator.name] += check(program, generator, seed, draws)
        totals["bernoulli"] = check_bernoulli(program)
        bounds = check_bounds(program)
        program.stdin.close()
    print("equal: " + ", ".join(f"{total} {name}" for name, total in totals.items()) + f" draws, {bounds} bounds")


main()
