#!/usr/bin/env python3
"""The polynomials of the tiled path: prints the coefficients of src/attn/core/tiles/functions.hpp and vector_avx512.hpp, and how
good they are.

    2^r = c0 + c1·r + … + c6·r^6             for |r| ≤ 1/2, and for 0 ≤ r < 1; least relative error
    tanh(x) = x·(1 + x²·(t0 + … + t5·x^10))  for |x| ≤ 5/8, least absolute error of the sum in brackets

By Remez's exchange in 60 decimal digits; the coefficients are then rounded to float32. (Remez 1934; Muller, "Elementary
Functions", chapter 3.)
"""

import struct
from decimal import Decimal, getcontext

getcontext().prec = 60
LN2 = Decimal(2).ln()


def exp2(x):
    return (x * LN2).exp()


def tanh_rest(y):
    """(tanh(x)/x - 1)/x² at y = x²."""
    if y < Decimal("1e-12"):
        return Decimal(-1) / 3 + y * 2 / 15
    x = y.sqrt()
    e = (2 * x).exp()
    return ((e - 1) / (e + 1) / x - 1) / y


def power(x, k):
    return x**k if k else Decimal(1)  # Decimal refuses 0**0


def solve(matrix, right):
    """Gauss with pivots."""
    n = len(right)
    rows = [row[:] + [value] for row, value in zip(matrix, right)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for r in range(i + 1, n):
            factor = rows[r][i] / rows[i][i]
            rows[r] = [a - factor * b for a, b in zip(rows[r], rows[i])]
    solution = [Decimal(0)] * n
    for i in reversed(range(n)):
        solution[i] = (rows[i][n] - sum(rows[i][k] * solution[k] for k in range(i + 1, n))) / rows[i][i]
    return solution


def value_at(coefficients, x):
    total = Decimal(0)
    for c in reversed(coefficients):
        total = total * x + c
    return total


def remez(function, weight, low, high, degree, grid=2000, rounds=12):
    """Coefficients, and the largest weighted error."""
    low, high = Decimal(low), Decimal(high)
    # The extrema of the Chebyshev polynomial, by a rational cosine good enough to start from.
    points = [low + (high - low) * (1 - (Decimal(1) - 2 * Decimal(i) / (degree + 1))) / 2 for i in range(degree + 2)]
    xs = [low + (high - low) * Decimal(i) / grid for i in range(grid + 1)]
    values = [(x, function(x), weight(x)) for x in xs]
    for _ in range(rounds):
        matrix = [[power(x, k) for k in range(degree + 1)] + [(-1) ** i / weight(x)]
                  for i, x in enumerate(points)]
        coefficients = solve(matrix, [function(x) for x in points])[:-1]
        errors = [(w * (value_at(coefficients, x) - f), x) for x, f, w in values]
        extrema = []
        for i, (error, x) in enumerate(errors):
            if extrema and (extrema[-1][0] > 0) == (error > 0):
                extrema[-1] = max(extrema[-1], (error, x), key=lambda e: abs(e[0]))
            else:
                extrema.append((error, x))
        while len(extrema) > degree + 2:
            extrema.pop(0 if abs(extrema[0][0]) < abs(extrema[-1][0]) else -1)
        if len(extrema) < degree + 2:
            break
        points = [x for _, x in extrema]
    return coefficients, max(abs(error) for error, _ in errors)


def show(name, coefficients, error):
    print(f"{name}: largest error {error:.1e} before rounding to float32")
    for c in coefficients:
        rounded = struct.unpack("f", struct.pack("f", float(c)))[0]
        print(f"    {rounded:.9g}F")


def main():
    show("exp2, |r| ≤ 1/2", *remez(exp2, lambda x: 1 / exp2(x), "-0.5", "0.5", 6))
    show("exp2, 0 ≤ r < 1", *remez(exp2, lambda x: 1 / exp2(x), "0", "1", 6))
    show("tanh", *remez(tanh_rest, lambda x: Decimal(1), "0", "0.390625", 5))


if __name__ == "__main__":
    main()
