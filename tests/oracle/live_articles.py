#!/usr/bin/env python3
"""The numbers that tutorials print, computed anew by live PyTorch and NumPy (articles.py) and compared with the recipes.

Printed digits must be the very digits; a number stated as a number must lie within its tolerance.
Exits 77 (skipped) without PyTorch, or 1 when ATTN_REQUIRE_LIVE=1 says that it must be there.
"""

import math
import sys

from live import skip

try:
    import numpy as np
    import torch
except ImportError as missing:
    skip(missing)

import articles
import recipe_file


def lists(value):
    if isinstance(value, torch.Tensor):
        return value.tolist()
    return [lists(item) for item in value] if isinstance(value, list) else value


def shape(value):
    return [len(value), *shape(value[0])] if isinstance(value, list) else []


def flat(value):
    return [number for item in value for number in flat(item)] if isinstance(value, list) else [value]


def digits(number, printed):
    """`number` with as many digits as `printed` has."""
    mantissa, _, exponent = printed.partition("e")
    decimals = len(mantissa.partition(".")[2])
    text = f"{number:.{decimals}e}" if exponent else f"{number:.{decimals}f}"
    return text if float(text) else text.lstrip("-")


def holds(number, stated, statement):
    if stated is None:
        return number == -math.inf
    if isinstance(stated, str):
        return digits(number, stated) == (stated if float(stated) else stated.lstrip("-"))
    return abs(number - stated) <= statement.get("atol", 0) + statement.get("rtol", 0) * abs(stated)


def differences(recipe, arrays):
    """The statements of a recipe that do not hold for `arrays`, each as a line; and how many numbers were compared."""
    lines, compared = [], 0
    for statement in recipe["published"]:
        where = f"{recipe['name']}: {statement['array']}{statement.get('at', '')}"
        computed = recipe_file.part(lists(arrays[statement["array"]]), statement.get("at", []))
        expected = statement.get("shape", shape(statement.get("values")))
        if shape(computed) != expected:
            lines.append(f"{where}: shape {shape(computed)}, stated {expected}")
            continue
        pairs = list(zip(flat(computed), flat(statement.get("values", [])))) if "values" in statement else []
        compared += len(pairs)
        lines += [f"{where}: computed {a!r}, stated {b!r}" for a, b in pairs if not holds(a, b, statement)]
    return lines, compared


def main():
    wrong, total = [], 0
    with torch.no_grad():
        for name, compute in articles.ARTICLES.items():
            lines, compared = differences(recipe_file.read(name), compute())
            wrong += lines
            total += compared
    print("\n".join(wrong) if wrong else f"{total} numbers of {len(articles.ARTICLES)} recipes agree with PyTorch {torch.__version__} and NumPy {np.__version__}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
