#!/usr/bin/env python3
"""Prints src/attn/random/ziggurat_tables.hpp: the tables of NumPy's ziggurat for standard normals in double precision.

    tests/oracle/ziggurat_tables.py [numpy/random/_generator….so] > src/attn/random/ziggurat_tables.hpp

The tables follow from one number, where the tail begins, and this script computes them to 50 digits (Marsaglia and Tsang, "The
ziggurat method for generating random variables", 2000, with 256 layers). NumPy's own were made with fewer digits and differ from the
exact ones in the last places, so the bits are read out of the installed NumPy: the script takes the tables that agree with the
computed ones to 1e-13, and says so if there is not exactly one of each.
"""

import struct
import sys
from decimal import Decimal, getcontext

getcontext().prec = 50
LAYERS = 256
TAIL = Decimal("3.6541528853610087963519472518")
MANTISSA = Decimal(2) ** 52


def density(x):
    return (-x * x / 2).exp()


def area_beyond(x):
    """The integral of the density from x to infinity, by its continued fraction."""
    fraction = x
    for n in range(2000, 0, -1):
        fraction = x + Decimal(n) / fraction
    return density(x) / fraction


def computed():
    """(widths, heights, limits): layer i reaches to x = widths[i]·2^52, has its density in heights[i], and a 52-bit draw below
    limits[i] is certainly under the curve. Layer 0 is the base with the tail."""
    area = TAIL * density(TAIL) + area_beyond(TAIL)
    x = LAYERS * [Decimal(0)]
    x[255] = TAIL
    for i in range(254, 0, -1):
        x[i] = (-2 * (density(x[i + 1]) + area / x[i + 1]).ln()).sqrt()
    widths = [area / density(TAIL) / MANTISSA] + [x[i] / MANTISSA for i in range(1, LAYERS)]
    heights = [Decimal(1)] + [density(x[i]) for i in range(1, LAYERS)]
    limits = [TAIL * density(TAIL) / area * MANTISSA, Decimal(0)]
    limits += [x[i - 1] / x[i] * MANTISSA for i in range(2, LAYERS)]
    return widths, heights, limits


def find(image, expected, code, what):
    wanted = [float(value) for value in expected]
    found = set()
    for at in range(0, len(image) - 8 * LAYERS, 8):
        values = struct.unpack_from(f"<{LAYERS}{code}", image, at) if near(image, at, code, wanted) else None
        if values and all(close(a, b) for a, b in zip(values, wanted)):
            found.add(values)
    if len(found) != 1:
        sys.exit(f"expected one table of {what}, found {len(found)}")
    return found.pop()


def close(value, wanted):
    return abs(value - wanted) <= 1e-13 * abs(wanted)


def near(image, at, code, wanted):
    return close(struct.unpack_from(f"<{code}", image, at)[0], wanted[0])


def table(kind, name, comment, cells, a_line):
    lines = [", ".join(cells[i : i + a_line]) for i in range(0, LAYERS, a_line)]
    print(f"/// {comment}\ninline constexpr std::array<{kind}, {LAYERS}> {name}{{\n    " + ",\n    ".join(lines) + "};\n")


def main():
    if len(sys.argv) > 1:
        library = sys.argv[1]
    else:
        import numpy.random._generator

        library = numpy.random._generator.__file__
    with open(library, "rb") as file:
        image = file.read()
    widths, heights, limits = computed()
    print("// NumPy's ziggurat for standard normals, read out of NumPy 1.24.2 (Debian 12) and checked against the computed tables by")
    print("// tests/oracle/ziggurat_tables.py. Generated: do not edit.")
    print("#pragma once\n\n#include <array>\n#include <cstdint>\n\nnamespace attn::random::ziggurat {\n\n// clang-format off")
    table("double", "widths", "x where each layer ends, over 2^52.", [v.hex() for v in find(image, widths, "d", "widths")], 5)
    table("double", "heights", "e^(-x²/2) there.", [v.hex() for v in find(image, heights, "d", "heights")], 5)
    table("std::uint64_t", "limits", "52-bit draws below it lie under the curve for sure.", [hex(v) for v in find(image, limits, "Q", "limits")], 7)
    print("// clang-format on\n\n} // namespace attn::random::ziggurat")


main()
