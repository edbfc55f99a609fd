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


JOURNEY = torch.tensor([[0.43, 0.15, 0.89], [0.55, 0.87, 0.66], [0.57, 0.85, 0.64], [0.22, 0.58, 0.33], [0.77, 0.25, 0.10], [0.05, 0.80, 0.55]])


def raschka_simplified():
    return single(JOURNEY, JOURNEY, JOURNEY, 1)


def raschka_uniform():
    torch.manual_seed(123)
    return single(*(JOURNEY @ torch.rand(3, 2) for _ in range(3)), 1 / math.sqrt(2))


def raschka_linear(hidden=None):
    torch.manual_seed(789)
    return single(*(Linear(3, 2, bias=False)(JOURNEY) for _ in range(3)), 1 / math.sqrt(2), hidden)


def raschka_causal():
    stages = raschka_linear(later(6))
    torch.manual_seed(123)
    dropped = torch.nn.functional.dropout(stages["weights"][0], 0.5)
    return {**stages, "masked_scores": [stages["scores"][0].masked_fill(later(6), -math.inf)], "dropped_weights": [dropped]}


def raschka_wrapper():
    torch.manual_seed(123)
    heads = [single(*(Linear(3, 2, bias=False)(JOURNEY) for _ in range(3)), 1 / math.sqrt(2), later(6)) for _ in range(2)]
    return {"context": torch.cat([head["context"] for head in heads], dim=-1)}


def raschka_multihead():
    torch.manual_seed(123)
    Q, K, V = (split(Linear(3, 2, bias=False)(JOURNEY), 2) for _ in range(3))
    weights = torch.softmax((Q @ K.transpose(1, 2)).masked_fill(later(6), -math.inf), dim=-1)
    return {"output": Linear(2, 2)((weights @ V).transpose(0, 1).reshape(6, 2))}


def cristina():
    words = np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1]])
    np.random.seed(42)
    Q, K, V = (torch.from_numpy((words @ np.random.randint(3, size=(3, 3))).astype(float)) for _ in range(3))
    return single(Q, K, V, 1 / math.sqrt(3))


def karim():
    x = torch.tensor([[1.0, 0, 1, 0], [0, 2, 0, 2], [1, 1, 1, 1]])
    W_k = torch.tensor([[0.0, 0, 1], [1, 1, 0], [0, 1, 0], [1, 1, 0]])
    W_q = torch.tensor([[1.0, 0, 1], [1, 0, 0], [0, 0, 1], [0, 1, 1]])
    W_v = torch.tensor([[0.0, 2, 0], [0, 3, 0], [1, 0, 3], [1, 1, 0]])
    return single(x @ W_q, x @ W_k, x @ W_v, 1)


def toumbourou():
    x = torch.tensor([[-1.4381, 0.1232], [-0.1080, 0.3458]])
    torch.manual_seed(0)
    K, Q, V = (Linear(2, 3, bias=False)(x) for _ in range(3))
    return single(Q, K, V, 1 / math.sqrt(3), later(2))


def godoy():
    keys = torch.tensor([[0.65, 0.2], [0.85, -0.4], [-0.95, -0.75]])
    return single(torch.tensor([[0.55, 0.95]]), keys, keys, 1)


def godoy_heads():
    corners = torch.tensor([[-1.0, 1], [1, 1]])
    torch.manual_seed(13)
    Linear(6, 2)  # the output layer, drawn before the heads
    heads = [single(*(Linear(2, 2)(corners) for _ in range(3)), 1 / math.sqrt(2), later(2)) for _ in range(3)]
    return {"weights": [head["weights"][0] for head in heads]}


def udacity():
    states = torch.tensor([[3, 12, 45], [59, 2, 5], [1, 43, 5], [4, 3, 45.3]], dtype=torch.float64)
    return single(torch.tensor([[5, 1, 20]], dtype=torch.float64), states, states, 1)


def rao_torch(seed, mask=None):
    torch.manual_seed(seed)
    layer = torch.nn.MultiheadAttention(8, 2, batch_first=True)
    x = torch.rand(1, 4, 8)
    output, weights = layer(x, x, x, attn_mask=mask)
    return {"embeddings": x[0], "weights": weights, "output": output[0]}


def coursera():
    np.random.seed(42)
    keys, query, layer_1, layer_2 = (torch.from_numpy(np.random.randn(*shape)) for shape in ((5, 16), (1, 16), (32, 10), (10, 1)))
    activations = torch.tanh(torch.cat([keys, query.expand(5, 16)], dim=1) @ layer_1)
    scores = (activations @ layer_2).T
    return {"scores": [scores], "context": torch.softmax(scores, dim=-1) @ keys}


def allennlp_cosine():
    unit = lambda rows: rows / rows.norm(dim=-1, keepdim=True)
    return {"scores": [unit(torch.tensor([[1.0, 1, 1]])) @ unit(torch.tensor([[7.0, 8, 9], [10, 11, 12]])).T]}


def allennlp_bilinear():
    return {"scores": [torch.tensor([[1.0, 1]]) @ torch.tensor([[-0.3, 0.5], [2.0, -1.0]]) @ torch.eye(2) + 0.1]}


ARTICLES = {
    "allennlp-2020-bilinear": allennlp_bilinear,
    "allennlp-2020-cosine": allennlp_cosine,
    "coursera-2021": coursera,
    "cristina-2022": cristina,
    "godoy-2021": godoy,
    "godoy-2021-heads": godoy_heads,
    "karim-2019": karim,
    "karpathy-2023": karpathy,
    "lippe-2024": lippe,
    "rao-2024-masked": rao_masked,
    "rao-2024-multihead": rao_multihead,
    "rao-2024-torch": lambda: rao_torch(0),
    "rao-2024-torch-masked": lambda: rao_torch(42, later(4)),
    "raschka-2024-causal": raschka_causal,
    "raschka-2024-linear": raschka_linear,
    "raschka-2024-multihead": raschka_multihead,
    "raschka-2024-simplified": raschka_simplified,
    "raschka-2024-uniform": raschka_uniform,
    "raschka-2024-wrapper": raschka_wrapper,
    "toumbourou-2024": toumbourou,
    "udacity-2018": udacity,
}
