#!/usr/bin/env python3
"""Prints src/attn/math/sine_table.hpp: sine and cosine of k/128, each as a double and what that leaves, as a double.

    tests/oracle/sine_table.py > src/attn/math/sine_table.hpp

They are computed here, in 60 decimal digits. glibc's double-precision sine and cosine (2.28 and later) step from such points.
"""

from decimal import Decimal, getcontext

STEPS, ENTRIES = 128, 110  # the last one is the nearest to what is below 0x1.b6p-1

getcontext().prec = 60


def series(x, first):
    """x^first/first! - x^(first+2)/(first+2)! + …"""
    term = Decimal(1)
    for factor in range(1, first + 1):
        term *= x / factor
    total, power = Decimal(0), first
    while total + term != total:
        total += term
        term *= -x * x / ((power + 1) * (power + 2))
        power += 2
    return total


def two_doubles(exact):
    high = float(exact)
    return f"{high.hex()}, {float(exact - Decimal(high)).hex()}"


def main():
    print("// Sine and cosine of k/128, computed by tests/oracle/sine_table.py. Generated: do not edit.")
    print("#pragma once\n\n#include <array>\n\nnamespace attn::math::sine_table {\n\n// clang-format off")
    print("/// The nearest double, and what is left.")
    print("struct Point {\n    double sine, sine_rest;\n    double cosine, cosine_rest;\n};")
    points = [Decimal(k) / STEPS for k in range(ENTRIES)]
    cells = [f"    Point{{{two_doubles(series(x, 1))}, {two_doubles(series(x, 0))}}}" for x in points]
    print(f"inline constexpr std::array<Point, {ENTRIES}> points{{\n" + ",\n".join(cells) + "};")
    print("// clang-format on\n\n} // namespace attn::math::sine_table")


main()
