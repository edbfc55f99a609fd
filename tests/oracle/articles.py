"""What tutorials run, each in a function of its own words: the arrays that its recipe in data/recipes states."""

import math

import numpy as np
import torch

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
