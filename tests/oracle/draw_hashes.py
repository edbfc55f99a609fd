#!/usr/bin/env python3
"""Prints tests/unit/random/draw_hashes.hpp: hashes over draws of live PyTorch and NumPy.

    tests/oracle/draw_hashes.py > tests/unit/random/draw_hashes.hpp

Made with PyTorch 1.13 and NumPy 1.24 on a processor with AVX2 and FMA.
"""

import numpy as np
import torch

from bits import bit_hash

SEED = 20231


def torch_draws(kind, count, first, second):
    torch.manual_seed(SEED)
    if kind == "integers":
        return torch.randint(int(first), int(second), (count,)).double().numpy()
    drawn = torch.empty(count)
    return (drawn.uniform_(first, second) if kind == "uniform" else drawn.normal_(first, second)).double().numpy()


def numpy_draws(kind, count, first, second):
    np.random.seed(SEED)
    return getattr(np.random, "randint" if kind == "integers" else kind)(first, second, count)


def pcg64_draws(kind, count, first, second):
    return getattr(np.random.default_rng(SEED), kind)(first, second, count)


MILLION = 1000003
ROWS = [
    (generator, kind, MILLION, *parameters)
    for generator in ("torch", "numpy", "numpy-pcg64")
    for kind, parameters in (("uniform", (0.0, 1.0)), ("uniform", (-0.3, 0.2)), ("normal", (0.0, 1.0)), ("normal", (0.1, 3.7)))
] + [
    (generator, "integers", MILLION, float(low), float(high))
    for generator in ("torch", "numpy", "numpy-pcg64")
    for low, high in ((0, 3), (-7, 94), (0, 2**32 - 1), (-1, 2**32 - 1), (0, 2**32 + 1), (-(2**52) - 2, 2**52 + 1))
] + [("torch", "normal", count, 0.0, 1.0) for count in range(41)]


def main():
    draws = {"torch": torch_draws, "numpy": numpy_draws, "numpy-pcg64": pcg64_draws}
    print("// Hashes over draws of PyTorch and NumPy, made by tests/oracle/draw_hashes.py. Generated: do not edit.")
    print("#pragma once\n\n#include \"attn/tensor/shape.hpp\"\n\n#include <cstdint>\n\n// clang-format off")
    print("struct DrawHash {\n    const char* generator;\n    const char* kind;\n    attn::Index count;\n    double first;  ///< low or mean")
    print("    double second; ///< high or deviation\n    std::uint64_t hash;\n};\n")
    print(f"inline constexpr std::uint32_t draw_hash_seed = {SEED};")
    print("inline constexpr DrawHash draw_hashes[] = {")
    for generator, kind, count, first, second in ROWS:
        result = bit_hash(draws[generator](kind, count, first, second))
        print(f'    {{"{generator}", "{kind}", {count}, {first!r}, {second!r}, {result:#x}}},')
    print("};\n// clang-format on")


main()
