#!/usr/bin/env python3
"""Compares models with draws.json with the PyTorch modules that a tutorial writes: `--model two-blocks`, and folders with other
choices, whose layers are made head by head, with norms behind the sums, or by other initialisers.

    tests/oracle/live_drawn_models.py path/to/attn-cli

Exit 0: all agree; 1: what does not is on stderr; 77: PyTorch is not installed, which is a failure instead when the environment
has ATTN_REQUIRE_LIVE=1.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from live import skip

try:
    import torch
    from torch import nn
except ImportError as missing:
    skip(missing)

SENTENCE = "the cat sat on the mat and the dog lay by the door"
TOLERANCE = 2e-6  # of weights; of other numbers a share of the largest
ACTIVATIONS = {"gelu": nn.GELU(), "gelu_new": nn.GELU(approximate="tanh"), "relu": nn.ReLU()}


class Attention(nn.Module):
    def __init__(self, c):
        super().__init__()
        D, self.H = c["hidden_size"], c["num_attention_heads"]
        bias = c.get("attention_bias", True)
        if c.get("by_head"):  # as Karpathy's lecture has it: a head has three layers of its own
            heads = [[nn.Linear(D, D // self.H, bias=bias) for _ in "kqv"] for _ in range(self.H)]
            self.key, self.query, self.value = (
                (torch.cat([head[n].weight for head in heads]), torch.cat([head[n].bias for head in heads]) if bias else None)
                for n in range(3))
        else:
            self.query, self.key, self.value = (
                (layer.weight, layer.bias) for layer in [nn.Linear(D, D, bias=bias) for _ in "qkv"])
        self.output = nn.Linear(D, D)
        self.causal = c.get("causal", True)

    def forward(self, X, seen):
        T, D = X.shape
        q, k, v = (nn.functional.linear(X, *layer).view(T, self.H, -1).transpose(0, 1)
                   for layer in (self.query, self.key, self.value))
        scores = q @ k.transpose(1, 2) / (D // self.H) ** 0.5
        if self.causal:
            scores = scores.masked_fill(torch.ones(T, T, dtype=torch.bool).triu(1), -torch.inf)
        weights = scores.softmax(-1)
        seen.append(weights)
        return self.output((weights @ v).transpose(0, 1).reshape(T, D))


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        D, inner = c["hidden_size"], c["intermediate_size"]
        self.attention = Attention(c)
        self.mlp = nn.Sequential(nn.Linear(D, inner), ACTIVATIONS[c["hidden_act"]], nn.Linear(inner, D))
        self.norms = nn.ModuleList([nn.LayerNorm(D), nn.LayerNorm(D)])
        self.first = c.get("norm_first", True)

    def forward(self, X, seen):
        a, b = self.norms
        if self.first:
            X = X + self.attention(a(X), seen)
            return X + self.mlp(b(X))
        X = a(X + self.attention(X, seen))
        return b(X + self.mlp(X))


class Model(nn.Module):
    def __init__(self, c):
        super().__init__()
        D = c["hidden_size"]
        self.words = nn.Embedding(c["vocab_size"], D)
        self.positions = nn.Embedding(c["max_position_embeddings"], D)
        self.blocks = nn.ModuleList([Block(c) for _ in range(c["num_hidden_layers"])])
        self.norm = nn.LayerNorm(D) if c.get("norm_first", True) else nn.Identity()
        self.head = nn.Linear(D, c["vocab_size"], bias=False)

    def forward(self, ids):
        weights, hidden = [], []
        X = self.words(ids) + self.positions(torch.arange(len(ids)))
        for block in self.blocks:
            hidden.append(X)
            X = block(X, weights)
        X = self.norm(X)
        return weights, [*hidden, X], self.head(X)


LAYERS = ["layers.*.output.weight", "layers.*.output.bias", "layers.*.up.weight", "layers.*.up.bias", "layers.*.down.weight",
          "layers.*.down.bias"]


def draws(c, seed):
    """As PyTorch makes the modules above."""
    if c.get("by_head"):
        projections = [{"tensor": f"layers.*.{part}.{what}", "head": head} for head in range(c["num_attention_heads"])
                       for part in ("key", "query", "value") for what in ("weight", "bias")]
    else:
        projections = [{"tensor": f"layers.*.{part}.{what}"} for part in ("query", "key", "value")
                       for what in ("weight", "bias")]
    projections = [draw for draw in projections if c.get("attention_bias", True) or draw["tensor"].endswith("weight")]
    return {"draws": [
        {"seed": seed},
        {"tensor": "words.weight", "init": "normal"},
        {"tensor": "positions.weight", "init": "normal"},
        *({**draw, "init": "linear"} for draw in projections),
        *({"tensor": name, "init": "linear"} for name in LAYERS),
        {"tensor": "head.weight", "init": "linear"},
    ]}


def worst(program, model, c, seed):
    """The largest difference, in tolerances."""
    torch.manual_seed(seed)
    words = SENTENCE.split()
    vocabulary = sorted(set(words))
    ids = torch.tensor([vocabulary.index(word) for word in words])
    with torch.no_grad():
        weights, hidden, logits = Model(c)(ids)
    done = subprocess.run(
        [program, "run", SENTENCE, "--model", model, "--layer", "all", "--show", "weights,hidden_states,logits", "--json"],
        check=True, capture_output=True, text=True)
    result = json.loads(done.stdout)
    pairs = [(layer["weights"], weights[layer["layer"]]) for layer in result["layers"]]
    stated = [layer["hidden_states"] for layer in result["layers"]]
    pairs += [(torch.tensor(ours) / theirs.abs().max(), theirs / theirs.abs().max())
              for ours, theirs in [(stated[-1], hidden[-1]), (result["logits"], logits)]]
    return max(float((torch.as_tensor(ours) - theirs).abs().max()) for ours, theirs in pairs) / TOLERANCE


def main():
    program, failed = sys.argv[1], 0
    inside = {**json.loads((Path(__file__).parents[2] / "data/models/two-blocks/config.json").read_text())}
    cases = [("two-blocks", inside, 123)]
    small = {"model_type": "tutorial", "hidden_size": 24, "intermediate_size": 40, "num_attention_heads": 3, "vocab_size": 20,
             "max_position_embeddings": 16, "num_hidden_layers": 3, "hidden_act": "gelu"}
    with tempfile.TemporaryDirectory() as folder:
        for seed, choice in enumerate([{}, {"norm_first": False, "hidden_act": "relu", "causal": False},
                                       {"by_head": True, "attention_bias": False}, {"by_head": True}]):
            c = {**small, **choice}
            at = Path(folder) / str(seed)
            at.mkdir()
            (at / "config.json").write_text(json.dumps({key: value for key, value in c.items() if key != "by_head"}))
            (at / "draws.json").write_text(json.dumps(draws(c, seed)))
            cases.append((f"{at}/", c, seed))
        for model, c, seed in cases:
            far = worst(program, model, c, seed)
            print(f"{Path(model).name} {c}: {far:.3f} of the tolerance", file=sys.stderr)
            failed += not far <= 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
