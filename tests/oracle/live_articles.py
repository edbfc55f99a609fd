#!/usr/bin/env python3
"""The numbers that tutorials print, computed anew by live PyTorch and NumPy and compared with the recipes that state them.

Each function says in its own words what one tutorial runs, and returns the arrays that its recipe in data/recipes states.
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

import recipe_file

Linear = torch.nn.Linear


def single(Q, K, V, scale, hidden=None):
    """Every stage of one head, with the head in front as results have it. True in `hidden` is what a query must not see."""
    scores = Q @ K.T
    scaled = scores * scale
    masked = scaled if hidden is None else scaled.masked_fill(hidden, -math.inf)
    weights = torch.softmax(masked, dim=-1)
    stages = {"queries": Q, "keys": K, "values": V, "scores": scores, "scaled_scores": scaled, "masked_scores": masked, "weights": weights}
    return {**{name: [stage] for name, stage in stages.items()}, "context": weights @ V}


def later(count):
    return torch.ones(count, count).triu(1).bool()


def split(x, heads):
    """(T, H·d) → (H, T, d)"""
    return x.reshape(x.shape[0], heads, -1).transpose(0, 1)


def numpy_draws(*shapes):
    return (torch.from_numpy(np.random.rand(*shape)) for shape in shapes)


def karpathy():
    torch.manual_seed(1337)
    x = torch.randn(4, 8, 32)[0]
    key, query, value = (Linear(32, 16, bias=False) for _ in range(3))
    return single(query(x), key(x), value(x), 1, later(8))


def lippe():
    torch.manual_seed(42)
    return single(*(torch.randn(3, 2) for _ in range(3)), 1 / math.sqrt(2))


def rao_multihead():
    np.random.seed(0)
    x, W_q, W_k, W_v, W_o = numpy_draws((4, 8), *[(8, 8)] * 4)
    Q, K, V = (split(x @ W, 2) for W in (W_q, W_k, W_v))
    context = torch.softmax(Q @ K.transpose(1, 2) / math.sqrt(4), dim=-1) @ V
    return {"embeddings": x, "output": context.transpose(0, 1).reshape(4, 8) @ W_o}


def rao_masked():
    np.random.seed(42)
    x, W_q, W_k, W_v, W_o = numpy_draws((4, 8), *[(8, 8)] * 4)
    stages = single(x @ W_q, x @ W_k, x @ W_v, 1 / math.sqrt(8), later(4))
    return {"embeddings": x, **stages, "output": stages["context"] @ W_o}


ARTICLES = {
    "karpathy-2023": karpathy,
    "lippe-2024": lippe,
    "rao-2024-masked": rao_masked,
    "rao-2024-multihead": rao_multihead,
}


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
        for name, compute in ARTICLES.items():
            lines, compared = differences(recipe_file.read(name), compute())
            wrong += lines
            total += compared
    print("\n".join(wrong) if wrong else f"{total} numbers of {len(ARTICLES)} recipes agree with PyTorch {torch.__version__} and NumPy {np.__version__}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
