#!/usr/bin/env python3
"""The coefficients of math::erf, and how good they are.

    erf x = x·(p0 + p1·x² + … + p10·x^20) / (1 + q1·x² + … + q11·x^22)   for |x| ≤ 6

By least squares of the relative error, made linear in the coefficients and weighted with the denominator of the round before, in 120
decimal digits; the coefficients are then rounded to float64. (Sanathanan and Koerner 1963, "Transfer function synthesis as a ratio
of two complex polynomials".)
"""

from decimal import Decimal, getcontext

getcontext().prec = 120
LAST = 6
OVER, UNDER = 10, 11  # the degrees
POINTS = 6 * (OVER + UNDER + 1)
# Machin's formula: π = 16·atan(1/5) - 4·atan(1/239)
ATAN = {n: sum(Decimal((-1) ** k) / ((2 * k + 1) * Decimal(n) ** (2 * k + 1)) for k in range(90)) for n in (5, 239)}
PI = 16 * ATAN[5] - 4 * ATAN[239]


def erf_over_x(z):
    """erf(√z)/√z by its series, 2/√π·Σ (-z)^n / (n!·(2n + 1))."""
    total, term, n = Decimal(0), Decimal(1), 0
    while n < 10 or abs(term) > Decimal(10) ** -100:
        total += term / (2 * n + 1)
        n += 1
        term *= -z / n
    return 2 / PI.sqrt() * total


def solve(matrix, right):
    """Gauss with pivots."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    size = len(rows)
    for i in range(size):
        pivot = max(range(i, size), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for r in range(i + 1, size):
            factor = rows[r][i] / rows[i][i]
            rows[r] = [a - factor * b for a, b in zip(rows[r], rows[i], strict=True)]
    found = [Decimal(0)] * size
    for i in reversed(range(size)):
        found[i] = (rows[i][size] - sum(rows[i][j] * found[j] for j in range(i + 1, size))) / rows[i][i]
    return found


def polynomial(coefficients, z):
    return sum(c * z**i for i, c in enumerate(coefficients)) if z else coefficients[0]


def points(count):
    """Squares of numbers up to LAST that lie closer together at both ends."""
    places = [Decimal(2 * i + 1) / (2 * count) for i in range(count)]
    return [(LAST * t * t * (3 - 2 * t)) ** 2 for t in places]


def fitted():
    """p and q, as Decimal."""
    places = points(POINTS)
    values = [erf_over_x(z) for z in places]
    weights = [Decimal(1)] * POINTS
    for _ in range(4):
        # over - value·(under - 1) = value, each equation divided by its value and by the denominator of before
        rows = [
            [w * z**j / v for j in range(OVER + 1)] + [-w * z**j for j in range(1, UNDER + 1)]
            for z, v, w in zip(places, values, weights, strict=True)
        ]
        columns = list(zip(*rows, strict=True))
        normal = [[sum(a * b for a, b in zip(left, right, strict=True)) for right in columns] for left in columns]
        found = solve(normal, [sum(a * w for a, w in zip(column, weights, strict=True)) for column in columns])
        over, under = found[: OVER + 1], [Decimal(1), *found[OVER + 1 :]]
        weights = [1 / polynomial(under, z) for z in places]
    return over, under


def coefficients():
    """p and q, as float64."""
    return tuple([float(c) for c in found] for found in fitted())


def main():
    over, under = coefficients()
    print("p", *(c.hex() for c in over), sep="\n  ")
    print("q", *(c.hex() for c in under), sep="\n  ")
    worst = max(
        abs(polynomial(list(map(Decimal, over)), z) / polynomial(list(map(Decimal, under)), z) / erf_over_x(z) - 1) for z in points(2000)
    )
    print(f"largest relative error of the rounded coefficients, computed exactly: {worst:.3e}")


if __name__ == "__main__":
    main()
