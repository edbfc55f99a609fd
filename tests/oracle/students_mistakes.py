#!/usr/bin/env python3
"""Judges `attn-cli run --against`: forty mistakes of students, each planted by a computation of its own in PyTorch or NumPy, as
a tutorial would write it. The lessons are recipes whose matrices are literal, or drawn by a seed. Every mistake is planted in
several shapes and seeds, and handed over as .npy or as PyTorch prints it. It counts as named where every one of its files is
called by its name, alone or in a stated tie. Fails below 34 of 40 named, at a name that is wrong, and where a correct file gets
a name.

usage: students_mistakes.py ATTN_CLI [--cases N] [--seed S] [--only NAME] [--verbose]
Exits 77 (skipped) without PyTorch, or 1 when ATTN_REQUIRE_LIVE=1 says that it must be there.
"""
import argparse
import json
import math
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

from live import skip

try:
    import numpy as np
    import torch
    from torch import nn
    from torch.nn import functional as F
except ImportError as missing:
    skip(missing)

ENOUGH = 34 / 40
ANSWERS = ("named", "tie", "not named", "false", "agrees")


# ---- lessons ----------------------------------------------------------------------------------------------------------------


class Lesson:
    """What a tutorial computes: x @ W (or x @ W.T with `left`), a softmax of q @ k.T / sqrt(d_k), times the values."""

    heads, left, causal, dtype, literal = 1, False, False, torch.float64, True
    seed = None

    def __init__(self, draw):
        self.draw = draw  # of the lesson's sizes, and of its numbers where they are literal
        self.T = int(draw.integers(3, 7))
        self.D = self.d_k = self.d_v = int(draw.integers(3, 6))
        self.sizes()
        self.x, self.W, self.b = None, {}, {}
        self.make()

    def sizes(self):
        """Others than a square matrix has."""

    def numbers(self, *shape):
        """As a tutorial writes them out."""
        return torch.as_tensor(np.round(self.draw.normal(size=shape), 1), dtype=self.dtype)

    def shape(self, name):
        out, into = {"q": (self.d_k * self.heads, self.D), "k": (self.d_k * self.heads, self.D),
                     "v": (self.d_v * self.heads, self.D), "o": (self.D, self.d_v * self.heads)}[name]
        return (out, into) if self.left else (into, out)

    def make(self):
        self.x = self.numbers(self.T, self.D)
        self.W = {name: self.numbers(*self.shape(name)) for name in "qkv" + "o" * (self.heads > 1)}

    def again(self, **wrong):
        """Draws its numbers anew: the same ones, or others by a mistake."""
        if not self.literal:
            self.make(**wrong)

    def project(self, name, x, transposed=False):
        W = self.W[name]
        if transposed:
            # NumPy's and PyTorch's T of what is square; what is not lies on the other side by a reshape alone
            W = W.T if W.shape[0] == W.shape[1] else W.reshape(*W.shape[::-1]).T
        made = x @ (W.T if self.left else W)
        return made + self.b[name] if name in self.b else made

    def recipe(self):
        side = "left" if self.left else "right"
        draws = [{"tensor": "embeddings", "values": self.x.tolist()}]
        draws += [{"tensor": "W_" + name, "values": W.tolist(), "side": side} for name, W in self.W.items()]
        return self.written(draws)

    def written(self, draws, **more):
        dims = {"embed_dim": self.D, "heads": self.heads, "d_k": self.d_k, "d_v": self.d_v}
        dtype = "float64" if self.dtype == torch.float64 else "float32"
        return {"schema": "attn-cli/recipe/1", "name": "lesson", "input": {"positions": self.T}, "dims": dims, "dtype": dtype,
                "draws": draws, "attention": {"causal": self.causal}, **more}


class Left(Lesson):
    left, dtype = True, torch.float32


class Oblong(Lesson):
    def sizes(self):
        self.D, self.d_k, self.d_v = (int(n) for n in self.draw.permutation([2, 3, 4, 5])[:3])


class Causal(Lesson):
    causal = True


class Heads(Lesson):
    heads = 2

    def sizes(self):
        self.d_k = self.d_v = int(self.draw.integers(2, 4))
        self.D = self.heads * self.d_k


class Linears(Lesson):
    """x drawn, then nn.Linear three times."""

    left, dtype, literal = True, torch.float32, False

    def sizes(self):
        self.seed = int(self.draw.integers(0, 1000))

    def words(self):
        return torch.randn(self.T, self.D)

    def make(self, seed=None, order="qkv", bias=False):
        torch.manual_seed(self.seed if seed is None else seed)
        self.x, self.b = self.words(), {}
        for name in order:
            layer = nn.Linear(self.D, self.d_v if name == "v" else self.d_k, bias=bias)
            self.W[name] = layer.weight.detach()
            if bias:
                self.b[name] = layer.bias.detach()

    def recipe(self):
        draws = [{"seed": self.seed}, {"tensor": "embeddings", "init": "normal"}]
        return self.written(draws + [{"tensor": "W_" + name, "init": "linear"} for name in "qkv"])


class CausalLinears(Linears):
    causal = True


class LiteralWordsAndLinears(Linears):
    """x written out, as tutorials with nn.Linear have it."""

    kept = None

    def words(self):
        self.kept = self.numbers(self.T, self.D) if self.kept is None else self.kept
        return self.kept

    def recipe(self):
        draws = [{"tensor": "embeddings", "values": self.x.tolist()}, {"seed": self.seed}]
        return self.written(draws + [{"tensor": "W_" + name, "init": "linear"} for name in "qkv"])


class NumPys(Lesson):
    """np.random.seed once, x and the matrices by rand."""

    literal = False

    def sizes(self):
        self.seed = int(self.draw.integers(0, 1000))

    def make(self, generator="seed", init="rand"):
        np.random.seed(self.seed)
        rng = np.random.default_rng(self.seed)
        drawn = {"rand": np.random.rand, "randn": np.random.randn} if generator == "seed" else {
            "rand": lambda *shape: rng.random(shape), "randn": lambda *shape: rng.standard_normal(shape)}
        self.x = torch.as_tensor(drawn["rand"](self.T, self.D))
        self.W = {name: torch.as_tensor(drawn[init](*self.shape(name))) for name in "qkv"}

    def recipe(self):
        draws = [{"seed": self.seed}, {"tensor": "embeddings", "init": "uniform"}]
        draws += [{"tensor": "W_" + name, "init": "uniform", "side": "right"} for name in "qkv"]
        return self.written(draws, generator="numpy")


# ---- a student's script -----------------------------------------------------------------------------------------------------


def right_softmax(scores):
    return torch.softmax(scores, dim=-1)


def no_keepdims(scores):
    e = np.exp(scores.numpy())[0]
    return torch.as_tensor(e / e.sum(axis=1))[None]


RIGHT = {
    "transposed": "",  # whose matrix is multiplied from the wrong side
    "matrix": {},  # which matrix makes what, where it is another one
    "unprojected": "",
    "scale": lambda lesson: math.sqrt(lesson.d_k),
    "hidden": lambda ones: ones.triu(1),  # of a causal lesson
    "filled": -math.inf,
    "late": False,  # weights are zeroed after the softmax
    "softmax": right_softmax,
    "dropout": None,  # (p, seed or None: where the stream stands)
    "view_in": False,
    "weights": lambda weights: weights,
    "residual": 0,  # how many times the words are added
    "transposed_output": False,
}


def student(lesson, **wrong):
    """Weights (H, T, T), context (T, H·d_v), and with more heads than one the output (T, D)."""
    assert wrong.keys() <= RIGHT.keys(), wrong
    m = SimpleNamespace(**RIGHT | wrong)
    x, T, H = lesson.x, lesson.T, lesson.heads

    def vectors(name, d):
        made = x if name in m.unprojected else lesson.project(m.matrix.get(name, name), x, name in m.transposed)
        return made.reshape(H, T, d) if m.view_in else made.reshape(T, H, d).transpose(0, 1)

    q, k, v = vectors("q", lesson.d_k), vectors("k", lesson.d_k), vectors("v", lesson.d_v)
    scores = q @ k.transpose(1, 2) / m.scale(lesson)
    hidden = m.hidden(torch.ones(T, T)).bool() if lesson.causal or "hidden" in wrong else torch.zeros(T, T).bool()
    weights = m.softmax(scores if m.late else scores.masked_fill(hidden, m.filled))
    weights = m.weights(weights.masked_fill(hidden, 0) if m.late else weights)
    if m.dropout is not None:
        p, seed = m.dropout
        if seed is not None:
            torch.manual_seed(seed)
        weights = F.dropout(weights, p)
    context = (weights @ v).transpose(0, 1).reshape(T, -1)
    arrays = {"weights": weights, "context": context}
    last = "context"
    if "o" in lesson.W:
        arrays["output"] = lesson.project("o", context, m.transposed_output)
        last = "output"
    if m.residual:
        arrays[last] = arrays[last] + m.residual * x
    return arrays


def multihead_attention(lesson):
    """The module, seeded as the lesson is, in place of three linear layers."""
    torch.manual_seed(lesson.seed)
    x = lesson.words()[None]
    module = nn.MultiheadAttention(lesson.D, 1, batch_first=True)
    context, weights = module(x, x, x)
    return {"weights": weights.detach(), "context": context[0].detach()}


# ---- the mistakes -----------------------------------------------------------------------------------------------------------


class Planted:
    def __init__(self, name, lessons, arrays="weights context", draws=None, script=student, **knobs):
        self.name, self.lessons, self.arrays = name, lessons, arrays.split()
        self.script, self.draws, self.knobs = script, draws or {}, knobs

    def files(self, lesson):
        lesson.again(**self.draws)
        made = self.script(lesson, **self.knobs)
        lesson.again()
        return {array: made[array] for array in self.arrays}


SQUARE = (Lesson, Left)
LITERAL = (Lesson, Left, Oblong)
DRAWN = (Linears, NumPys)


MISTAKES = [
    # matrices that are written out
    Planted("W_q-transposed", SQUARE, transposed="q"),
    Planted("W_k-transposed", SQUARE, transposed="k"),
    Planted("W_v-transposed", SQUARE, "context", transposed="v"),
    Planted("projections-transposed", SQUARE, transposed="qkv"),
    Planted("projections-transposed", (Oblong,), transposed="qkv"),
    Planted("output-transposed", (Heads,), "output", transposed_output=True),
    Planted("queries-of-W_k", SQUARE, matrix={"q": "k"}),
    Planted("values-unprojected", SQUARE, "context", unprojected="v"),
    Planted("unprojected", SQUARE, unprojected="qkv"),
    Planted("scores-transposed", LITERAL, matrix={"q": "k", "k": "q"}),
    Planted("residual", SQUARE, "context", residual=1),
    Planted("residual", (Heads,), "output", residual=1),
    Planted("causal-added", LITERAL, hidden=lambda ones: ones.triu(1)),
    Planted("causal-added-backwards", LITERAL, hidden=lambda ones: ones.tril(-1)),
    Planted("causal-missing", (Causal,), hidden=lambda ones: 0 * ones),
    Planted("causal-backwards", (Causal,), hidden=lambda ones: ones.tril(-1)),
    Planted("hidden-set-0", (Causal,), filled=0),
    Planted("mask-after-softmax", (Causal,), late=True),
    Planted("softmax-proportional", LITERAL, softmax=lambda scores: scores / scores.sum(dim=-1, keepdim=True)),
    Planted("no-scale", LITERAL, scale=lambda lesson: 1),
    Planted("scale-embedding", (Oblong,), scale=lambda lesson: math.sqrt(lesson.D)),
    Planted("softmax-over-queries", LITERAL, softmax=lambda scores: torch.softmax(scores, dim=-2)),
    Planted("softmax-over-matrix", LITERAL, softmax=lambda scores: scores.exp() / scores.exp().sum()),
    Planted("softmax-no-keepdims", LITERAL, softmax=no_keepdims),
    Planted("softmax-unshifted", LITERAL, softmax=torch.exp),
    Planted("softmax-twice", LITERAL, weights=right_softmax),
    Planted("heads-viewed-in", (Heads,), "weights context output", view_in=True),
    Planted("dropout-on", LITERAL, dropout=(0.5, 123)),
    # matrices that are drawn
    Planted("W_k-transposed", DRAWN, transposed="k"),
    Planted("side", DRAWN, transposed="qkv"),
    Planted("residual", DRAWN, "context", residual=1),
    Planted("dropout-on", (Linears,), dropout=(0.1, None)),
    Planted("multihead-attention", (Linears, LiteralWordsAndLinears), script=multihead_attention),
    Planted("causal-added-backwards", DRAWN, hidden=lambda ones: ones.tril(-1)),
    Planted("softmax-proportional", DRAWN, softmax=lambda scores: scores / scores.sum(dim=-1, keepdim=True)),
    Planted("biases", (Linears,), draws={"bias": True}),
    Planted("seed-42", (Linears,), draws={"seed": 42}),
    Planted("draws-k-q-v", (Linears,), draws={"order": "kqv"}),
    Planted("generator-pcg64", (NumPys,), draws={"generator": "default_rng"}),
    Planted("init-normal", (NumPys,), draws={"init": "randn"}),
    Planted("scale-other", (Lesson, NumPys), scale=lambda lesson: lesson.d_k**0.3),
]
# What the program's list has not, and no name of the list may be given for.
UNLISTED = [
    Planted(None, (Lesson, Heads, Linears), softmax=torch.sigmoid),
    Planted(None, (Left, Oblong, NumPys), softmax=lambda scores: torch.relu(scores) + 0.1),
    Planted(None, (Lesson, Linears), softmax=lambda scores: torch.softmax(scores, dim=-1) / 2**0.5),
    Planted(None, (Causal, CausalLinears), filled=-2),
    Planted(None, (Left, Linears), "context", weights=torch.sqrt),
    Planted(None, (Lesson, Linears), residual=2),
    Planted(None, (Heads, Linears), softmax=lambda scores: torch.softmax(scores.abs(), dim=-1)),
]
for number, planted in enumerate([*MISTAKES, *UNLISTED]):
    planted.number = number  # from which its lessons are drawn
assert len(MISTAKES) >= 40 and sum(any(lesson.literal for lesson in each.lessons) for each in MISTAKES) >= 20


# ---- asking -----------------------------------------------------------------------------------------------------------------


def ask(program, folder, lesson, array, values, printed):
    """The names that the program gives, of two mistakes "a and b"; and whether the file agrees."""
    recipe, file = folder / "lesson.json", folder / ("mine.txt" if printed else "mine.npy")
    recipe.write_text(json.dumps(lesson.recipe()))
    if printed:
        file.write_text(repr(values.detach()))
    else:
        np.save(file, values.detach().numpy())
    command = [program, "run", "--recipe", recipe, "--show", array, "--json", "--against", file]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"exit code {done.returncode}: {done.stderr}\n{recipe.read_text()}")
    report = json.loads(done.stdout)
    return [" and ".join(each["mistakes"]) for each in report.get("named", [])], report["agrees"]


def same(a, b):
    return a.shape == b.shape and torch.allclose(a, b, rtol=1e-4, atol=1e-4)


def judge(program, planted, case, seed, verbose):
    """What is heard of each file of one case."""
    heard = Counter()
    turn, kind = divmod(case, len(planted.lessons))
    lesson = planted.lessons[kind](np.random.default_rng([seed, case, planted.number]))
    right = student(lesson)
    with tempfile.TemporaryDirectory() as name:
        for array, values in planted.files(lesson).items():
            if not values.isfinite().all() or same(values, right[array]):
                continue  # it cannot be seen here
            names, agrees = ask(program, Path(name), lesson, array, values, printed=(turn + seed) % 2 == 1)
            answer = ("agrees" if agrees else "not named" if not names else
                      "false" if planted.name not in names else "tie" if len(names) > 1 else "named")
            heard[answer] += 1
            if answer == "false" or (verbose and planted.name and answer != "named"):
                print(f"{type(lesson).__name__}, case {case}, {array} {tuple(values.shape)}: {planted.name}: {answer} {names[:6]}")
    return heard


def accused(program, kind, case, seed):
    """Whether a correct file gets a name: in whatever order a student sums, masks or scales."""
    lesson = kind(np.random.default_rng([seed, case, 10**6]))
    blamed = 0
    with tempfile.TemporaryDirectory() as name:
        for knobs in ({}, {"softmax": lambda scores: torch.log_softmax(scores, dim=-1).exp()},
                      {"softmax": lambda scores: scores.exp() / scores.exp().sum(dim=-1, keepdim=True)}):
            for array, values in student(lesson, **knobs).items():
                names, agrees = ask(program, Path(name), lesson, array, values, printed=(case + seed) % 2 == 1)
                if names or not agrees:
                    blamed += 1
                    print(f"{kind.__name__}, case {case}, {array}: a correct file is accused: {names[:6]}")
    return blamed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--cases", type=int, default=8, help="of each mistake, and of correct files of each lesson")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="the mistakes whose names begin so")
    parser.add_argument("--verbose", action="store_true", help="list all files that are not named alone")
    given = parser.parse_args()
    program = str(Path(given.program).resolve())
    torch.set_printoptions(linewidth=200)
    wanted = [planted for planted in MISTAKES if planted.name.startswith(given.only or "")]
    kinds = (Lesson, Left, Oblong, Causal, Heads, Linears, CausalLinears, LiteralWordsAndLinears, NumPys)
    named, total, unlisted = 0, Counter(), Counter()
    print(f"{'mistake':26}{'lesson':26}" + "".join(f"{answer:>11}" for answer in ANSWERS))
    for planted in wanted:
        heard = sum((judge(program, planted, case, given.seed, given.verbose) for case in range(given.cases)), Counter())
        good = heard["named"] + heard["tie"] == heard.total() > 0
        named += good
        total += heard
        kinds_of = " ".join(lesson.__name__ for lesson in planted.lessons)
        print(f"{planted.name:26}{kinds_of:26}" + "".join(f"{heard[answer]:11}" for answer in ANSWERS) + " <-" * (not good))
    for planted in UNLISTED:
        unlisted += sum((judge(program, planted, case, given.seed, given.verbose) for case in range(given.cases)), Counter())
    blamed = sum(accused(program, kind, case, given.seed) for kind in kinds for case in range(given.cases))
    print(f"{named} of {len(wanted)} mistakes named in all of their files; of {total.total()} files {total['named']} alone, "
          f"{total['tie']} in a tie, {total['false']} falsely; of {unlisted.total()} with other mistakes {unlisted['false']} named; "
          f"{blamed} correct files accused")
    return 0 if named >= ENOUGH * len(wanted) and not total["false"] + unlisted["false"] + blamed else 1


if __name__ == "__main__":
    sys.exit(main())
