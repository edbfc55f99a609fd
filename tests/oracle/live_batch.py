#!/usr/bin/env python3
"""Batches against live PyTorch: tensors (B, T, D) of torch.randn, stacked inputs, ids of nn.Embedding, dropout of the batch.

Embeddings, and which weights dropout leaves, must be equal bit for bit; weights and context may differ from PyTorch's by 1e-5.
Each printed line, saved alone, must be computed again from its config.

usage: live_batch.py ATTN_CLI [CASES] [FIRST_SEED]
Exits 77 (skipped) without PyTorch, or 1 when ATTN_REQUIRE_LIVE=1 says that it must be there.
"""

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from live import skip

try:
    import torch
except ImportError as missing:
    skip(missing)

MATRICES = ("W_q", "W_k", "W_v")


class Case:
    """A recipe, and what the live library makes of it."""

    def __init__(self, seed):
        rng = random.Random(seed)
        self.B, self.T, self.D = rng.choice([1, 2, 3, 5, 8]), rng.choice([1, 2, 4, 6, 16]), rng.choice([1, 3, 4, 16])
        self.d = rng.choice([1, 2, 5, 16])
        self.causal, self.p = rng.random() < 0.5, rng.choice([None, None, 0.1, 0.5])
        torch.manual_seed(seed)
        self.steps = [{"seed": seed}]
        self.input = {"positions": self.T, "batch": self.B}
        self.dims = {"embed_dim": self.D, "d_k": self.d, "d_v": self.d}
        self.X = getattr(self, rng.choice(["drawn", "stacked", "ids"]))(rng)
        layers = [torch.nn.Linear(self.D, self.d, bias=False) for _ in MATRICES]
        self.steps += [{"tensor": name, "init": "linear"} for name in MATRICES]
        q, k, v = (layer(self.X) for layer in layers)
        scores = q @ k.transpose(-2, -1) / self.d**0.5
        if self.causal:
            scores = scores.masked_fill(torch.ones(self.T, self.T).triu(1).bool(), -torch.inf)
        self.expected = {"weights": torch.softmax(scores, -1)}
        used = self.expected["weights"]
        if self.p is not None:
            used = self.expected["dropped_weights"] = torch.nn.functional.dropout(used, self.p)
        self.expected["context"] = used @ v

    def drawn(self, rng):
        shape = rng.choice([None, [self.B, "T", "D"]])
        self.steps.append({"tensor": "embeddings", "init": "normal", **({"shape": shape} if shape else {})})
        return torch.randn(self.B, self.T, self.D)

    def stacked(self, _):
        self.steps.append({"tensor": "embeddings", "init": "uniform", "shape": ["T", "D"]})
        return torch.stack([torch.rand(self.T, self.D)] * self.B)

    def ids(self, rng):
        self.dims["vocab_size"] = 7
        ids = [rng.randrange(7) for _ in range(self.B * self.T)]
        self.input = {"ids": ids, "batch": self.B}
        self.steps.append({"tensor": "embedding", "init": "normal"})
        return torch.nn.Embedding(7, self.D)(torch.tensor(ids).view(self.B, self.T))

    def recipe(self):
        dropout = {} if self.p is None else {"dropout": {"p": self.p, "mkl": torch.backends.mkl.is_available()}}
        return {"schema": "attn-cli/recipe/1", "input": self.input, "dims": self.dims, "draws": self.steps, "attention": {"causal": self.causal, **dropout}}


def different(case, results):
    def stacked(name):
        return torch.tensor([result[name] for result in results], dtype=torch.float32)

    if not torch.equal(stacked("embeddings"), case.X):
        return "embeddings"
    for name, array in case.expected.items():
        got = stacked(name).view(array.shape)  # without the one head
        if not torch.allclose(got, array, rtol=1e-5, atol=1e-5):
            return name
        if name == "dropped_weights" and not torch.equal(got != 0, array != 0):
            return "what dropout leaves"
    return None


def check(binary, seed, folder):
    case = Case(seed)
    recipe, saved = folder / "batch.json", folder / "saved.json"
    recipe.write_text(json.dumps(case.recipe()))
    subprocess.run([binary, "run", "--recipe", recipe, "--show", "all", "--json", "-o", saved], check=True)
    wrong = different(case, [json.loads(line) for line in saved.read_text().splitlines()])
    again = subprocess.run([binary, "check", "--quiet", saved], capture_output=True, check=False)
    reasons = [f"{wrong} differ"] * bool(wrong) + ["the saved results are computed otherwise"] * bool(again.returncode)
    return [f"{reason} (seed {seed}: {recipe.read_text()})" for reason in reasons]


def main():
    binary = sys.argv[1]
    cases = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        failures = [failure for seed in range(first, first + cases) for failure in check(binary, seed, Path(folder))]
    print("\n".join(failures) if failures else f"{cases} batches agree with PyTorch {torch.__version__}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
