#!/usr/bin/env python3
"""Forms in which tutorials write attention, each with live PyTorch or NumPy and as a recipe: `run --recipe` gives the same numbers.

live_tutorials.py PROGRAM [--seeds N]. Exits 77 (skipped) without PyTorch, or 1 when ATTN_REQUIRE_LIVE=1 says that it must be there.
"""

import argparse
import json
import math
import pathlib
import subprocess
import tempfile

from live import skip

try:
    import numpy as np
    import torch
    from torch import nn
except ImportError as missing:
    skip(missing)

INF = float("inf")


def attention(q, k, v, hidden=None, scale=None):
    scores = q @ k.transpose(-2, -1) * (1 / math.sqrt(q.shape[-1]) if scale is None else scale)
    weights = torch.softmax(scores if hidden is None else scores.masked_fill(hidden, -INF), -1)
    return weights, weights @ v


def draw(tensor, init="normal", **more):
    return {"tensor": tensor, "init": init, **more}


def stated(tensor, values, **more):
    return {"tensor": tensor, "values": np.asarray(values, dtype=float).tolist(), **more}


def later(T):
    return torch.triu(torch.ones(T, T), 1).bool()


# Each form gives a recipe, and the arrays that its tutorial prints.


def given_in_numbers(seed):
    numbers = np.random.RandomState(seed)
    q, k, v = (numbers.randint(-3, 4, shape) / 2 for shape in ((2, 4), (5, 4), (5, 3)))
    weights, context = attention(*map(torch.tensor, (q, k, v)))
    return {"input": {"positions": 2, "key_positions": 5}, "dtype": "float64",
            "draws": [stated("queries", q), stated("keys", k), stated("values", v)]}, {"weights": weights[None], "context": context}


def given_as_drawn(seed):
    torch.manual_seed(seed)
    q, k, v = torch.randn(3, 4), torch.randn(6, 4), torch.randn(6, 2)
    weights, context = attention(q, k, v)
    return {"input": {"positions": 3, "key_positions": 6},
            "draws": [{"seed": seed}, draw("queries", shape=[3, 4]), draw("keys", shape=[6, 4]), draw("values", shape=[6, 2])],
            }, {"weights": weights[None], "context": context}


def given_by_heads(seed):
    torch.manual_seed(seed)
    q, k, v = torch.rand(2, 3, 4), torch.rand(2, 3, 4), torch.rand(2, 3, 4)
    weights, context = attention(q, k, v, later(3))
    return {"input": {"positions": 3}, "attention": {"causal": True},
            "draws": [{"seed": seed}, *(draw(name, "uniform", shape=[2, 3, 4]) for name in ("queries", "keys", "values"))],
            }, {"weights": weights, "head_context": context}


def cross_attention(seed):
    torch.manual_seed(seed)
    x, y = torch.randn(3, 5), torch.randn(7, 6)
    q, k, v = nn.Linear(5, 4), nn.Linear(6, 4), nn.Linear(6, 8)
    weights, context = attention(q(x), k(y), v(y))
    layers = [draw(f"{kind}_{name}", "linear") for name in "qkv" for kind in "Wb"]
    return {"input": {"positions": 3, "key_positions": 7}, "dims": {"embed_dim": 5, "key_dim": 6, "d_k": 4, "d_v": 8},
            "draws": [{"seed": seed}, draw("embeddings"), draw("key_embeddings"), *layers]}, {"weights": weights[None], "context": context}


def written_out(seed, left):
    numbers = np.random.RandomState(seed)
    x, *W = (torch.tensor(numbers.randint(-2, 3, (4, 4)) / 4) for _ in range(4))
    weights, context = attention(*(x @ (w.T if left else w) for w in W))
    matrices = [stated(name, w, **({} if left else {"side": "right"})) for name, w in zip(("W_q", "W_k", "W_v"), W, strict=True)]
    return {"input": {"positions": 4}, "dtype": "float64", "draws": [stated("embeddings", x), *matrices]}, {"weights": weights[None], "context": context}


def numpy_seeded_once(seed):
    np.random.seed(seed)
    x = np.random.randn(4, 6)
    q, k, v = (torch.tensor(x @ np.random.rand(6, 3)) for _ in range(3))
    weights, context = attention(q, k, v)
    return {"input": {"positions": 4}, "dtype": "float64", "generator": "numpy",
            "draws": [{"seed": seed}, draw("embeddings", shape=[4, 6]),
                      *(draw(W, "uniform", shape=[6, 3], side="right") for W in ("W_q", "W_k", "W_v"))],
            }, {"weights": weights[None], "context": context}


def linear_layers(seed):
    torch.manual_seed(seed)
    x = torch.rand(5, 6)
    q, k, v = (nn.Linear(6, 6, bias=False) for _ in range(3))
    weights, context = attention(q(x), k(x), v(x))
    return {"input": {"positions": 5},
            "draws": [{"seed": seed}, draw("embeddings", "uniform", shape=[5, 6]), *(draw(W, "linear", shape=[6, 6]) for W in ("W_q", "W_k", "W_v"))],
            }, {"weights": weights[None], "context": context}


def gpt_with_learned_positions(seed):
    torch.manual_seed(seed)
    words, positions = nn.Embedding(11, 8), nn.Embedding(16, 8)
    c_attn, c_proj = nn.Linear(8, 24), nn.Linear(8, 8)
    ids = torch.tensor([3, 0, 10, 3, 7])
    x = words(ids) + positions(torch.arange(5))
    q, k, v = (part.view(5, 2, 4).transpose(0, 1) for part in c_attn(x).split(8, -1))
    weights, heads = attention(q, k, v, later(5))
    output = c_proj(heads.transpose(0, 1).reshape(5, 8))
    whole = [draw(name, "linear") for name in ("W_q", "W_k", "W_v", "b_q", "b_k", "b_v")]
    return {"input": {"ids": ids.tolist()}, "dims": {"heads": 2, "vocab_size": 11, "embed_dim": 8}, "attention": {"causal": True},
            "draws": [{"seed": seed}, draw("embedding"), draw("position_embedding", shape=[16, 8]), *whole,
                      draw("W_o", "linear", side="left"), draw("b_o", "linear")]}, {"embeddings": x, "weights": weights, "output": output}


def multihead_attention_with_padding(seed):
    torch.manual_seed(seed)
    layer = nn.MultiheadAttention(8, 2, batch_first=True)
    x = torch.randn(1, 5, 8)
    output, weights = layer(x, x, x, key_padding_mask=torch.tensor([[False, False, False, True, True]]), average_attn_weights=False)
    return {"input": {"positions": 5}, "dims": {"heads": 2, "embed_dim": 8}, "attention": {"hide": ["3", "4"]},
            "draws": [{"seed": seed}, {"init": "multihead_attention"}, draw("embeddings")]}, {"weights": weights[0], "output": output[0]}


def additive_of_two_widths(seed):
    torch.manual_seed(seed)
    queries, keys = torch.randn(2, 7), torch.randn(5, 3)
    W_q, W_k, w_v = nn.Linear(7, 4, bias=False), nn.Linear(3, 4, bias=False), nn.Linear(4, 1, bias=False)
    scores = w_v(torch.tanh(W_q(queries)[:, None] + W_k(keys)[None])).squeeze(-1)
    weights = torch.softmax(scores, -1)
    eye = np.eye(4)
    return {"input": {"positions": 2, "key_positions": 5}, "dims": {"embed_dim": 7, "key_dim": 3, "d_k": 4}, "attention": {"score": "additive"},
            "draws": [{"seed": seed}, draw("embeddings"), draw("key_embeddings"), draw("W_q", "linear"), draw("W_k", "linear"),
                      draw("v_a", "linear"), stated("W_v", np.eye(3)), stated("W_a", eye), stated("U_a", eye)],
            }, {"weights": weights[None], "context": weights @ keys}


def additive_of_two_widths_given(seed):
    torch.manual_seed(seed)
    queries, keys, values = torch.randn(2, 7), torch.randn(5, 3), torch.randn(5, 4)
    W_q, W_k, w_v = nn.Linear(7, 4, bias=False), nn.Linear(3, 4, bias=False), nn.Linear(4, 1, bias=False)
    weights = torch.softmax(w_v(torch.tanh(W_q(queries)[:, None] + W_k(keys)[None])).squeeze(-1), -1)
    return {"input": {"positions": 2, "key_positions": 5}, "attention": {"score": "additive"},
            "draws": [{"seed": seed}, draw("queries", shape=[2, 7]), draw("keys", shape=[5, 3]), draw("values", shape=[5, 4]),
                      draw("W_a", "linear", shape=[4, 7]), draw("U_a", "linear", shape=[4, 3]), draw("v_a", "linear")],
            }, {"weights": weights[None], "context": weights @ values}


def masked_before_the_scale(seed):
    torch.manual_seed(seed)
    x = torch.randn(4, 3)
    q, k, v = (x @ torch.rand(3, 2) for _ in range(3))
    weights = torch.softmax((q @ k.T).masked_fill(later(4), -INF) / 2**0.5, -1)
    return {"input": {"positions": 4}, "dims": {"embed_dim": 3, "d_k": 2, "d_v": 2}, "attention": {"causal": True, "mask_at": "scores"},
            "draws": [{"seed": seed}, draw("embeddings"), *(draw(W, "uniform", side="right") for W in ("W_q", "W_k", "W_v"))],
            }, {"weights": weights[None], "context": weights @ v}


def dropout_of_the_weights(seed):
    torch.manual_seed(seed)
    x = torch.rand(6, 3)
    q, k, v = (layer(x) for layer in [nn.Linear(3, 2, bias=False) for _ in range(3)])
    weights, _ = attention(q, k, v, later(6))
    dropped = nn.Dropout(0.5)(weights)
    return {"input": {"positions": 6}, "dims": {"embed_dim": 3, "d_k": 2, "d_v": 2}, "attention": {"causal": True, "dropout": {"p": 0.5}},
            "draws": [{"seed": seed}, draw("embeddings", "uniform"), *(draw(W, "linear") for W in ("W_q", "W_k", "W_v"))],
            }, {"dropped_weights": dropped[None], "context": dropped @ v}


def second_of_a_batch(seed):
    torch.manual_seed(seed)
    q, k, v = torch.randn(3, 2, 4), torch.randn(3, 5, 4), torch.randn(3, 5, 6)
    weights, context = attention(q, k, v)
    return {"input": {"positions": 2, "key_positions": 5, "batch": 3}, "entry": 1,
            "draws": [{"seed": seed}, draw("queries", shape=[3, 2, 4]), draw("keys", shape=[3, 5, 4]), draw("values", shape=[3, 5, 6])],
            }, {"weights": weights[1:2], "context": context[1]}


def parts_of_one_draw(seed):
    torch.manual_seed(seed)
    q, k, v = torch.randn(3, 5, 4)
    weights, context = attention(q, k, v)
    parts = [step for i, name in enumerate(("queries", "keys", "values"))
             for step in ({"seed": seed}, draw(name, shape=[3, 5, 4], take=[i]))]
    return {"input": {"positions": 5}, "draws": parts}, {"weights": weights[None], "context": context}


def fused_normal(seed):
    torch.manual_seed(seed)
    x, W = torch.rand(4, 6), torch.randn(18, 6)
    q, k, v = (x @ W.T).split(6, -1)
    weights, context = attention(q, k, v)
    rows = {"init": "uniform", "shape": [4, 6]}
    parts = [step for i, name in enumerate(("W_q", "W_k", "W_v"))
             for step in ({"seed": seed}, rows | ({"discard": True} if i else {"tensor": "embeddings"}), draw(name, shape=[3, "D", "D"], take=[i]))]
    return {"input": {"positions": 4}, "dims": {"embed_dim": 6, "d_k": 6, "d_v": 6}, "draws": parts}, {"weights": weights[None], "context": context}


def fused_xavier(seed):
    torch.manual_seed(seed)
    x, W = torch.randn(4, 6), nn.init.xavier_uniform_(torch.empty(18, 6))
    q, k, v = (x @ W.T).split(6, -1)
    weights, context = attention(q, k, v)
    return {"input": {"positions": 4}, "dims": {"embed_dim": 6, "d_k": 6, "d_v": 6},
            "draws": [{"seed": seed}, draw("embeddings"), *(draw(W, "xavier", gain=0.7071067811865476) for W in ("W_q", "W_k", "W_v"))],
            }, {"weights": weights[None], "context": context}


def time_before_the_batch(seed):
    torch.manual_seed(seed)
    x = torch.randn(3, 2, 8)
    layer = nn.MultiheadAttention(8, 2)
    output, weights = layer(x, x, x, average_attn_weights=False)
    return {"input": {"ids": [0, 2, 4, 1, 3, 5], "batch": 2}, "entry": 1, "dims": {"embed_dim": 8, "heads": 2},
            "draws": [{"seed": seed}, draw("embedding", shape=[6, 8]), {"init": "multihead_attention"}],
            }, {"weights": weights[1], "output": output[:, 1]}


def heads_behind_the_time(seed):
    torch.manual_seed(seed)
    q, k, v = (torch.randn(1, 3, 2, 4).transpose(1, 2) for _ in range(3))
    weights, context = attention(q, k, v)
    tables = [draw(name, shape=[3, 8]) for name in ("embedding", "key_embedding", "value_embedding")]
    return {"input": {"ids": [0, 1, 2]}, "dims": {"heads": 2},
            "draws": [{"seed": seed}, *tables, *(draw(W, "identity") for W in ("W_q", "W_k", "W_v"))],
            }, {"weights": weights[0], "head_context": context[0]}


def dropout_before_all(seed):
    torch.manual_seed(seed)
    nn.Dropout(0.5)(torch.ones(4, 4))
    q, k, v = torch.randn(3, 4), torch.randn(3, 4), torch.randn(3, 4)
    weights, context = attention(q, k, v)
    before = {"discard": True, "init": "uniform", "shape": [1] if torch.backends.mkl.is_available() else [2, 4, 4]}
    return {"input": {"positions": 3}, "draws": [{"seed": seed}, before, *(draw(name, shape=[3, 4]) for name in ("queries", "keys", "values"))],
            }, {"weights": weights[None], "context": context}


FORMS = {
    "queries, keys and values in numbers": given_in_numbers,
    "queries, keys and values drawn": given_as_drawn,
    "queries, keys and values of heads": given_by_heads,
    "cross-attention with sizes of its own": cross_attention,
    "x and W in numbers, x·W": lambda seed: written_out(seed, False),
    "x and W in numbers, W·x": lambda seed: written_out(seed, True),
    "NumPy, seeded once": numpy_seeded_once,
    "nn.Linear, without dims": linear_layers,
    "a fused c_attn with learned positions": gpt_with_learned_positions,
    "nn.MultiheadAttention with padding": multihead_attention_with_padding,
    "additive scores of two widths": additive_of_two_widths,
    "additive scores of given queries and keys": additive_of_two_widths_given,
    "causal, before the scale": masked_before_the_scale,
    "dropout of the weights": dropout_of_the_weights,
    "one entry of a batch": second_of_a_batch,
    "queries, keys and values as parts of one draw": parts_of_one_draw,
    "a fused normal matrix": fused_normal,
    "a fused xavier matrix": fused_xavier,
    "nn.MultiheadAttention, the time before the batch": time_before_the_batch,
    "heads behind the time": heads_behind_the_time,
    "a dropout before all": dropout_before_all,
}


def faults(program, form, seed, folder):
    recipe, arrays = form(seed)
    path = folder / "recipe.json"
    path.write_text(json.dumps({"schema": "attn-cli/recipe/1", **recipe}))
    done = subprocess.run([program, "run", "--recipe", path, "--json", "--show", ",".join(arrays)], capture_output=True, text=True)
    if done.returncode:
        yield done.stderr.strip()
        return
    result = json.loads(done.stdout)
    for name, wanted in arrays.items():
        ours, theirs = np.array(result[name]), wanted.detach().numpy()
        if ours.shape != theirs.shape:
            yield f"{name}: shape {ours.shape}, expected {theirs.shape}"
        elif not np.allclose(ours, theirs, rtol=2e-5, atol=2e-6):
            yield f"{name}: the largest difference is {abs(ours - theirs).max():.3g}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--seeds", type=int, default=5)
    given = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, form in FORMS.items():
            found = [f"seed {seed}: {fault}" for seed in range(given.seeds) for fault in faults(given.program, form, seed, pathlib.Path(folder))]
            print(f"{'FAILED' if found else 'same':6}  {name}", *found, sep="\n        ")
            failed += bool(found)
    print(f"{len(FORMS) - failed} of {len(FORMS)} forms give the numbers of PyTorch and NumPy")
    raise SystemExit(failed > 0)


main()
