#!/usr/bin/env python3
"""Prints src/attn/math/log_table.hpp: the numbers behind glibc's double-precision log.

    tests/oracle/log_table.py [libm.so.6] > src/attn/math/log_table.hpp

NumPy's legacy normals are made with that function, so their last bit hangs on these numbers. They stand in the library's read-only
data as one block of doubles (glibc 2.28 and later, x86-64): ln 2 in two parts, 5 coefficients of ln(1 + r) - r for small r,
11 coefficients of the same near x = 1, then 128 pairs (1/c, ln c), one for each 128th of an octave around 1. The script knows
where the block is by its first number and believes it only when every number is as close to its mathematical value as its role
demands.
"""

import math
import struct
import sys

LN2_HIGH = float.fromhex("0x1.62e42fefa3800p-1")
SMALL, NEAR_ONE, INTERVALS = 5, 11, 128
COUNT = 2 + SMALL + NEAR_ONE + 2 * INTERVALS


def plausible(block):
    """Whether these doubles have the structure that the docstring describes."""
    small = block[2 : 2 + SMALL]
    near_one = block[2 + SMALL : 2 + SMALL + NEAR_ONE]
    pairs = block[2 + SMALL + NEAR_ONE :]
    if abs(block[0] + block[1] - math.log(2)) > 1e-16 or abs(block[1]) > 1e-12:
        return False
    for i, (value, slack) in enumerate(zip(small + near_one, SMALL * [1e-2] + NEAR_ONE * [5e-2])):
        power = i + 2 if i < SMALL else i - SMALL + 2
        if abs(value * (-1) ** (power + 1) * power - 1) > slack * power:
            return False
    for i in range(INTERVALS):
        inverse, logarithm = pairs[2 * i], pairs[2 * i + 1]
        if not 0.68 < inverse < 1.46 or abs(logarithm + math.log(inverse)) > 1e-12:
            return False
        if i and inverse >= pairs[2 * i - 2]:
            return False
    return True


def find(image):
    start, found = struct.pack("<d", LN2_HIGH), []
    at = image.find(start)
    while at >= 0:
        piece = image[at : at + 8 * COUNT]
        if len(piece) == 8 * COUNT and plausible(struct.unpack(f"<{COUNT}d", piece)):
            found.append(struct.unpack(f"<{COUNT}d", piece))
        at = image.find(start, at + 1)
    if len(set(found)) != 1:
        sys.exit(f"expected one block of logarithm data, found {len(set(found))}")
    return found[0]


def in_lines(cells, a_line):
    return ",\n    ".join(", ".join(cells[i : i + a_line]) for i in range(0, len(cells), a_line))


def main():
    library = sys.argv[1] if len(sys.argv) > 1 else "/lib/x86_64-linux-gnu/libm.so.6"
    with open(library, "rb") as file:
        block = find(file.read())
    small = block[2 : 2 + SMALL]
    near_one = block[2 + SMALL : 2 + SMALL + NEAR_ONE]
    pairs = block[2 + SMALL + NEAR_ONE :]
    print("// The numbers behind glibc's log, read out of libm.so.6 (glibc 2.36, Debian 12) by tests/oracle/log_table.py. Generated: do not")
    print("// edit.")
    print("#pragma once\n\n#include <array>\n\nnamespace attn::math::log_table {\n\n// clang-format off")
    print("/// ln 2 = high + low; the high part times any exponent is exact.")
    print(f"inline constexpr double ln2_high = {block[0].hex()};\ninline constexpr double ln2_low = {block[1].hex()};\n")
    print("/// (ln(1 + r) - r)/r² as a polynomial in r, lowest power first, for |r| under 1/128.")
    print(f"inline constexpr std::array<double, {SMALL}> small{{\n    " + in_lines([c.hex() for c in small], 5) + "};\n")
    print("/// The same for x from 1 - 1/16 to just over 1 + 1/16.")
    print(f"inline constexpr std::array<double, {NEAR_ONE}> near_one{{\n    " + in_lines([c.hex() for c in near_one], 5) + "};\n")
    print("/// For each 128th of an octave from 0x1.6p-1: 1/c and ln c for a c near its middle.")
    print("struct Interval {\n    double inverse;\n    double logarithm;\n};")
    cells = [f"Interval{{{pairs[2 * i].hex()}, {pairs[2 * i + 1].hex()}}}" for i in range(INTERVALS)]
    print(f"inline constexpr std::array<Interval, {INTERVALS}> intervals{{\n    " + in_lines(cells, 2) + "};")
    print("// clang-format on\n\n} // namespace attn::math::log_table")


main()
