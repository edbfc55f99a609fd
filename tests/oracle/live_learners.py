#!/usr/bin/env python3
"""What learners get wrong in the built-in articles: each mistake as a script of their own, with live PyTorch or NumPy, whose
numbers `run --recipe … --against` must name. The program's list is read by name alone.

live_learners.py PROGRAM. Exits 77 (skipped) without PyTorch, or 1 when ATTN_REQUIRE_LIVE=1 says that it must be there.
"""

import json
import math
import pathlib
import subprocess
import sys
import tempfile

from live import skip

try:
    import numpy as np
    import torch
except ImportError as missing:
    skip(missing)

SENTENCE = "Life is short, eat dessert first"


class Learner:
    """A script in PyTorch about words, with knobs; the defaults are the article of Raschka (2023)."""

    sentence = SENTENCE
    ids = None  # in place of the words' places in the sorted vocabulary
    rows = None  # of the embedding
    seed, seed_again = 123, False
    order = "qkv"
    sizes = {"q": 24, "k": 24, "v": 28}
    draw = staticmethod(torch.rand)
    embed = staticmethod(torch.randn)
    embedding_last = False
    left = True  # W·x, W (out, in)
    key_query = False
    scale = 0.5  # the exponent of 1/d_k
    causal = 0  # 1: later keys are hidden before the softmax, 2: weights of them are zeroed after it
    axis = -1
    softmax = True
    of_values = staticmethod(lambda values, x: values)
    of_keys = staticmethod(lambda keys, queries: keys)
    weights_of = staticmethod(lambda weights: weights)

    def __init__(self, **knobs):
        for name, value in knobs.items():
            assert hasattr(self, name), name
            setattr(self, name, value)

    def words(self):
        if self.ids is not None:
            return self.ids
        words = self.sentence.replace(",", "").split()
        return [sorted(words).index(word) for word in words]

    def project(self, x, W):
        return x @ (W.T if self.left else W)

    def inputs(self):
        torch.manual_seed(self.seed)
        ids = self.words()
        table = None if self.embedding_last else self.embed(self.rows or len(set(ids)), 16)
        if self.seed_again:
            torch.manual_seed(self.seed)
        W = {}
        for name in self.order:
            W[name] = self.draw(self.sizes[name], 16) if self.left else self.draw(16, self.sizes[name])
        if self.embedding_last:
            table = self.embed(self.rows or len(set(ids)), 16)
        return table[ids], W

    def results(self):
        x, W = self.inputs()
        q, k, v = (self.project(x, W[name]) for name in "qkv")
        v, k = self.of_values(v, x), self.of_keys(k, q)
        scores = k @ q.T if self.key_query else q @ k.T
        scores = scores / self.sizes["k"] ** self.scale
        hidden = torch.ones(scores.shape).triu(1).bool()
        if self.causal == 1:
            scores = scores.masked_fill(hidden, -math.inf)
        weights = torch.softmax(scores, dim=self.axis) if self.softmax else scores
        weights = self.weights_of(weights.masked_fill(hidden, 0) if self.causal == 2 else weights)
        return {"weights": weights, "context": weights @ v}


def linear(out, size):
    return torch.nn.Linear(size, out, bias=False).weight.detach()


RASCHKA = {
    "seed-42": {"seed": 42},
    "seed-each": {"draw": lambda *shape: (torch.manual_seed(123), torch.rand(*shape))[1],
                  "embed": lambda *shape: (torch.manual_seed(123), torch.randn(*shape))[1]},
    "draws-k-q-v": {"order": "kqv"},
    "draws-v-q-k": {"order": "vqk"},
    "draws-embedding": {"embedding_last": True},
    "init-normal": {"draw": torch.randn},
    "init-linear": {"draw": linear},
    "embedding-uniform": {"embed": torch.rand},
    "side": {"left": False},
    "ids-by-appearance": {"ids": [0, 1, 2, 3, 4, 5]},
    "ids-one-more": {"ids": [1, 5, 6, 3, 2, 4], "rows": 7},
    "case": {"sentence": SENTENCE.lower()},
    "no-scale": {"scale": 0},
    "scale-1/d": {"scale": 1},
    "causal-added": {"causal": 1},
    "softmax-over-queries": {"axis": 0},
    "softmax-missing": {"softmax": False},
    "softmax-twice": {"weights_of": lambda weights: torch.softmax(weights, dim=-1)},
    "scores-transposed": {"key_query": True},
}
ONE_HEAD_WITH_VALUES = {"weights-transposed": {"weights_of": lambda weights: weights.T}}


class Owen(Learner):
    """Seeded twice, keys first, K·Qᵀ, x·W."""

    seed, seed_again = 42, True
    order = "kqv"
    left = False
    key_query = True


OWEN = {
    "seed-123": {"seed": 123},
    "seed-once": {"seed_again": False},
    "draws-q-k-v": {"order": "qkv"},
    "side": {"left": True},
    "scores-transposed": {"key_query": False},
    "no-scale": {"scale": 0},
    "softmax-over-queries": {"axis": 0},
    "causal-added": {"causal": 1},
    "ids-by-appearance": {"ids": [0, 1, 2, 3, 4, 5]},
    "embedding-uniform": {"embed": torch.rand},
    "init-normal": {"draw": torch.randn},
}


class Politi(Learner):
    """Ids, ten rows, seed 0, keys first; square matrices."""

    ids, rows = [2, 6, 8, 3, 1], 10
    seed = 0
    order = "kqv"
    sizes = {"q": 16, "k": 16, "v": 16}


POLITI = {
    "seed-42": {"seed": 42},
    "draws-q-k-v": {"order": "qkv"},
    "ids-one-more": {"ids": [3, 7, 9, 4, 2]},
    "no-scale": {"scale": 0},
    "side": {"left": False},
    "init-normal": {"draw": torch.randn},
    "softmax-over-queries": {"axis": 0},
    "values-unprojected": {"of_values": lambda values, x: x},
    "weights-times-keys": {"of_values": None},
}


class Heads:
    """Raschka's three heads, (3, d, D) at once, behind the draws of one head."""

    order = "qkv"
    discarded = True
    view = False
    mean = False
    reverse = False
    scale = 0.5

    def __init__(self, **knobs):
        for name, value in knobs.items():
            setattr(self, name, value)

    def results(self):
        words = SENTENCE.replace(",", "").split()
        torch.manual_seed(123)
        x = torch.randn(6, 16)[[sorted(words).index(word) for word in words]]
        for size in (24, 24, 28) if self.discarded else ():
            torch.rand(size, 16)
        W = {name: torch.rand(3, 28 if name == "v" else 24, 16) for name in self.order}
        q, k, v = (x @ W[name].transpose(1, 2) for name in "qkv")
        weights = torch.softmax(q @ k.transpose(1, 2) / 24**self.scale, dim=-1)
        heads = weights @ v
        if self.reverse:
            heads = heads.flip(0)
        if self.mean:
            heads = heads.mean(0, keepdim=True).expand(3, 6, 28)
        context = heads.reshape(6, 84) if self.view else heads.transpose(0, 1).reshape(6, 84)
        return {"weights": weights, "context": context}


HEADS = {
    "draws-k-q-v": {"order": "kqv"},
    "no-scale": {"scale": 0},
    "heads-viewed-out": {"view": True},
    "heads-mean": {"mean": True},
    "heads-reversed": {"reverse": True},
}


class PolitiHeads:
    """Four heads of one matrix each, x·W, and an output projection."""

    seed = 0
    order = "qkvo"
    transposed_output = False
    view = False
    scale = 4

    def __init__(self, **knobs):
        for name, value in knobs.items():
            setattr(self, name, value)

    def results(self):
        torch.manual_seed(self.seed)
        x = torch.randn(10, 16)[[2, 6, 8, 3, 1]]
        W = {name: torch.rand(16, 16) if name == "o" else torch.rand(4, 16, 4) for name in self.order}
        q, k, v = (x @ W[name] for name in "qkv")
        weights = torch.softmax(q @ k.transpose(1, 2) / self.scale**0.5, dim=-1)
        heads = weights @ v
        context = heads.reshape(5, 16) if self.view else heads.transpose(0, 1).reshape(5, 16)
        return {"weights": weights, "output": context @ (W["o"].T if self.transposed_output else W["o"])}


POLITI_HEADS = {
    "seed-1": {"seed": 1},
    "draws-v-q-k": {"order": "vqko"},
    "output-transposed": {"transposed_output": True},
    "heads-viewed-out": {"view": True},
    "scale-model": {"scale": 16},
    "no-scale": {"scale": 1},
}


class Core:
    """NumPy, float64, five words by position."""

    seed = 0
    generator = staticmethod(np.random.seed)
    rand = staticmethod(np.random.rand)
    scale = 8
    causal = False
    axis = -1

    def __init__(self, **knobs):
        for name, value in knobs.items():
            setattr(self, name, value)

    def results(self):
        self.generator(self.seed)
        x = self.rand(1, 5, 8)[0]
        q, k, v = (x @ self.rand(8, 8) for _ in range(3))
        scores = q @ k.T / math.sqrt(self.scale)
        if self.causal:
            scores = np.where(np.triu(np.ones((5, 5)), 1), -np.inf, scores)
        weights = np.exp(scores - scores.max(axis=self.axis, keepdims=True))
        weights /= weights.sum(axis=self.axis, keepdims=True)
        return {"weights": weights, "context": weights @ v}


CORE = {
    "seed-42": {"seed": 42},
    "no-scale": {"scale": 1},
    "scale-1/d": {"scale": 64},
    "causal-added": {"causal": True},
    "softmax-over-queries": {"axis": 0},
}


def politi(**knobs):
    if knobs.get("of_values", ...) is None:
        made = Politi()
        x, W = made.inputs()
        knobs["of_values"] = lambda values, x: x @ W["k"].T
    return Politi(**knobs)


ARTICLES = {
    "raschka-2023": (Learner, {**RASCHKA, **ONE_HEAD_WITH_VALUES}),
    "raschka-2023-multihead": (Heads, HEADS),
    "owen-2025": (Owen, OWEN),
    "politi-2025": (politi, POLITI),
    "politi-2025-multihead": (PolitiHeads, POLITI_HEADS),
    "transformer-core-2024": (Core, CORE),
}


def asked(program, folder, article, array, values, printed):
    """The names that the program gives, or "agrees", or "unknown"."""
    file = folder / ("mine.txt" if printed else "mine.npy")
    if printed:
        file.write_text(repr(torch.as_tensor(values)))
    else:
        np.save(file, np.asarray(values))
    command = [program, "run", "--recipe", article, "--show", array, "--json", "--against", file]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1) and not done.stderr, (article, done)
    report = json.loads(done.stdout)
    if report["agrees"]:
        return ["agrees"]
    return [" and ".join(each["mistakes"]) for each in report["named"]] or ["unknown"]


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    torch.set_printoptions(linewidth=200)
    counted = failed = tied = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for article, (learner, mistakes) in ARTICLES.items():
            right = learner().results()
            for mistake, knobs in {"agrees": {}, **mistakes}.items():
                results = learner(**knobs).results()
                for array, values in results.items():
                    same = np.allclose(values, right[array], rtol=1e-4, atol=1e-4)
                    answer = asked(program, folder, article, array, values, printed=array == "weights")
                    counted += 1
                    tied += len(answer) > 1
                    if mistake not in answer and not (same and answer == ["agrees"]):
                        failed += 1
                        print(f"{article}, {array}: {mistake} is called {answer[:5]}")
                    elif len(answer) > 1:
                        print(f"{article}, {array}: {mistake} is a tie of {answer[:5]}")
    print(f"{counted} files, {failed} not named, {tied} of them with a tie")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
