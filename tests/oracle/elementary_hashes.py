#!/usr/bin/env python3
"""Prints tests/unit/math/elementary_hashes.hpp: what math::log, log1p, exp, erf, tanh and sincos must give, to the bit.

    tests/oracle/elementary_hashes.py > tests/unit/math/elementary_hashes.hpp

log and log1p are those of the C library of a machine with FMA (glibc 2.36 here). The others have no model outside the project: they
are computed here once more in Python, whose floats are plain doubles that no compiler fuses or reorders.
"""

import ctypes
import math
import sys

from bits import bit_hash, inputs
from erf_coefficients import coefficients

COUNT = 200000


def factorials(first, last, step=1):
    return [1.0 / float(math.factorial(n)) for n in range(first, last + 1, step)]


def reduced(x):
    """x as k·ln 2 + rest + low."""
    to_integer = float.fromhex("0x1.8p52") + 2048.0
    k = (x * float.fromhex("0x1.71547652b82fep0") + to_integer) - to_integer
    high, low = x - k * float.fromhex("0x1.62e42feep-1"), k * float.fromhex("0x1.a39ef35793c76p-33")
    rest = high - low
    return int(k), rest, (high - rest) - low


def beyond_linear(r):
    c = factorials(2, 13)
    r2 = r * r
    r4 = r2 * r2
    first, second, third = ((c[i] + r * c[i + 1]) + r2 * (c[i + 2] + r * c[i + 3]) for i in (0, 4, 8))
    return (first + r4 * (second + r4 * third)) * r2


def power_of_two(n):
    return math.ldexp(1.0, n)


def exp(x):
    k, rest, low = reduced(x)
    total = 1.0 + rest
    power = total + (((1.0 - total) + rest) + (low + beyond_linear(rest)))
    half = (k + 2048 >> 1) - 1024
    return power * power_of_two(half) * power_of_two(k - half)


def exact_sum(a, b):
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def tanh(x):
    size = min(abs(x), 22.0)
    if size <= 0.35:
        z = size * size
        numerator = (27.0 * z + 2772.0) * z + 45045.0
        denominator = ((28.0 * z + 3150.0) * z + 62370.0) * z + 135135.0
        return math.copysign(size - size * (z * numerator / denominator), x)
    k, rest, rest_low = reduced(2.0 * size)
    scale = power_of_two(k)
    high, low = exact_sum(scale - 1.0, scale * rest)
    e = high + (low + scale * (rest_low + beyond_linear(rest)))
    return math.copysign(e / (e + 2.0), x)


def horner(coefficients, z):
    p = coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        p = p * z + coefficient
    return p


OVER, UNDER = coefficients()


def erf(x):
    r = min(abs(x), 6.0)
    z = r * r
    w = z * z
    over, under = (horner(c[0::2], w) + z * horner(c[1::2], w) for c in (OVER, UNDER))
    return math.copysign(1.0 if abs(x) > 6.0 else r * (over / under), x)


def alternating(values, first_sign):
    return [value * first_sign * (-1) ** i for i, value in enumerate(values)]


def sine_cosine(angle):
    parts = [float.fromhex(p) for p in ("0x1.921fb544p0", "0x1.0b4611a6p-34", "0x1.3198a2e0p-69", "0x1.b839a252049c1p-104")]
    k = float(round(angle * float.fromhex("0x1.45f306dc9c883p-1")))
    high, lost = exact_sum(angle - k * parts[0], -(k * parts[1]))
    high, lost_more = exact_sum(high, -(k * parts[2]))
    x, low = exact_sum(high, (lost + lost_more) - k * parts[3])
    z = x * x
    sine = x + (horner(alternating(factorials(3, 17, 2), -1), z) * (z * x) + low * (1.0 - 0.5 * z))
    half = 0.5 * z
    leading = 1.0 - half
    cosine = leading + (((1.0 - leading) - half) + (horner(alternating(factorials(4, 16, 2), 1), z) * (z * z) - x * low))
    return [(sine, cosine), (cosine, -sine), (-sine, -cosine), (-cosine, sine)][int(k) & 3]


def from_libm(name):
    function = getattr(ctypes.CDLL("libm.so.6"), name)
    function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double]
    return function


SMALLEST = 2.0**-1022
# Around √½ - 1 and √2 - 1, where log1p changes its way.
BELOW_ROOT = (float.fromhex("-0x1.2bec5p-2"), float.fromhex("-0x1.2bec2p-2"))
ROOT = (float.fromhex("0x1.a8278p-2"), float.fromhex("0x1.a827cp-2"))
ROWS = {
    "log": [(from_libm("log"), low, high) for low, high in ((0, 1), (0.92, 1.08), (0, SMALLEST), (1, 1e300))],
    "log1p": [(from_libm("log1p"), low, high) for low, high in ((-1, 0), (-0.3, 0.45), (-1e-8, 1e-8), (0, 1e18), BELOW_ROOT, ROOT)],
    "exp": [(exp, low, high) for low, high in ((-1, 1), (-40, 0), (-745, 709), (-745, -708))],
    "erf": [(erf, low, high) for low, high in ((-1, 1), (-7, 7), (-SMALLEST, SMALLEST))],
    "tanh": [(tanh, low, high) for low, high in ((-0.5, 0.5), (-25, 25))],
    "sine": [(lambda x: sine_cosine(x)[0], low, high) for low, high in ((-1, 7), (-1e5, 1e5))],
    "cosine": [(lambda x: sine_cosine(x)[1], low, high) for low, high in ((-1, 7), (-1e5, 1e5))],
}


def main():
    with open("/proc/cpuinfo", encoding="ascii") as cpu:
        if " fma " not in cpu.read():
            sys.exit("this processor has no FMA: its C library would give other logarithms")
    print("// Hashes of results, made by tests/oracle/elementary_hashes.py. Generated: do not edit.")
    print("#pragma once\n\n#include <cstddef>\n#include <cstdint>\n\n// clang-format off")
    print("struct ElementaryHash {\n    const char* function;\n    double low;\n    double high;\n    std::uint64_t hash;\n};\n")
    print(f"/// Of the results for oracle::inputs({COUNT}, low, high).")
    print(f"inline constexpr std::size_t elementary_hash_inputs = {COUNT};")
    print("inline constexpr ElementaryHash elementary_hashes[] = {")
    for name, rows in ROWS.items():
        for function, low, high in rows:
            result = bit_hash(function(x) for x in inputs(COUNT, float(low), float(high)))
            print(f'    {{"{name}", {float(low).hex()}, {float(high).hex()}, {result:#x}}},')
    print("};\n// clang-format on")


main()
