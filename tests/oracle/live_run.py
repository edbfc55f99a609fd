#!/usr/bin/env python3
"""attn-cli run against live PyTorch: random sentences, seeds, shapes, initialisations and masks.

Embeddings must be equal bit for bit. Weights, context and output may be no further from PyTorch's float64 result than three times
PyTorch's own float32 error plus 1e-6 relative, both taken as the largest over the array. With --set rounding=step the products of
small matrices, which PyTorch multiplies in a plain loop, and the mean of heads must be equal bit for bit; its exponential may
differ in the last bit.

usage: live_run.py ATTN_CLI [CASES] [FIRST_SEED]
Exits 77 (skipped) without PyTorch, or 1 when ATTN_REQUIRE_LIVE=1 says that it must be there.
"""
import json
import math
import random
import subprocess
import sys
import unicodedata

from live import skip

try:
    import torch
except ImportError as missing:
    skip(missing)

INITIALISATIONS = ["uniform", "normal", "linear", "xavier", "xavier_normal", "kaiming_uniform", "kaiming_normal", "identity"]


def random_word(rng: random.Random) -> str:
    """Any characters but white space, commas, surrogates and NUL."""
    word = ""
    while len(word) < rng.choice([1, 2, 5, 12]):
        top = rng.choice([0x7F, 0x17F, 0x3000, 0xFFFF, 0x10FFFF])
        character = chr(rng.randint(1, top))
        if not character.isspace() and character != "," and unicodedata.category(character) != "Cs":
            word += character
    return word


class Case:
    """The options of one run, drawn from a seed."""

    def __init__(self, seed: int):
        rng = random.Random(seed)
        pool = [random_word(rng) for _ in range(rng.randint(1, 40))]
        self.words = [rng.choice(pool) for _ in range(rng.choice([1, 2, 6, 15, 16, 17, 60]))]
        self.seed = rng.choice([0, 1, 123, rng.randint(0, 2**32 - 1), rng.randint(0, 2**64 - 1)])
        self.heads = rng.choice([1, 1, 2, 3, 4, 8])
        self.kv_heads = rng.choice([n for n in range(1, self.heads + 1) if self.heads % n == 0])
        self.d = rng.choice([1, 2, 7, 16, 33, 64, 100, 128])
        self.d_k = rng.randint(1, 64)
        self.d_v = rng.randint(1, 64)
        self.init = rng.choice(INITIALISATIONS)
        self.causal = rng.random() < 0.5
        self.projection = rng.random() < 0.5

    def arguments(self) -> list[str]:
        return ["run", "-", "--json", "--show", "all", "--seed", str(self.seed), "--heads", str(self.heads),
                "--kv-heads", str(self.kv_heads), "--embed-dim", str(self.d), "--d-k", str(self.d_k), "--d-v", str(self.d_v),
                "--init", self.init, "--output-projection" if self.projection else "--no-output-projection",
                *(["--causal"] if self.causal else [])]

    def draw(self, fan_in: int, fan_out: int, *shape: int) -> torch.Tensor:
        if self.init == "uniform":
            return torch.rand(*shape)
        if self.init == "normal":
            return torch.randn(*shape)
        if self.init == "linear":
            bound = math.sqrt(3.0) * (math.sqrt(2.0 / 6) / math.sqrt(fan_in))
            return torch.empty(*shape).uniform_(-bound, bound)
        if self.init == "xavier":
            return torch.nn.init.xavier_uniform_(torch.empty(fan_out, fan_in)).reshape(*shape)
        if self.init != "identity":
            tensor = torch.empty(fan_out, fan_in) if len(shape) == 3 else torch.empty(*shape)
            return getattr(torch.nn.init, self.init + "_")(tensor).reshape(*shape)
        return torch.eye(fan_out, fan_in).reshape(*shape)

    def compute(self) -> dict:
        vocabulary = {word: i for i, word in enumerate(sorted(set(self.words)))}
        ids = torch.tensor([vocabulary[word] for word in self.words])
        torch.manual_seed(self.seed)
        x = torch.nn.Embedding(len(vocabulary), self.d)(ids).detach()
        h, g, d = self.heads, self.kv_heads, self.d
        w_q = self.draw(d, h * self.d_k, h, self.d_k, d)
        w_k = self.draw(d, g * self.d_k, g, self.d_k, d)
        w_v = self.draw(d, g * self.d_v, g, self.d_v, d)
        w_o = None
        if self.projection:
            w_o = self.draw(h * self.d_v, d, h * self.d_v, d) if self.init != "identity" else torch.eye(h * self.d_v, d)
            if self.init == "xavier":  # drawn (H·d_v, D), a matrix whose bound is the same either way round
                w_o = w_o.reshape(h * self.d_v, d)
        return {"vocabulary": vocabulary, "ids": ids, "embeddings": x,
                torch.float32: self.attend(x, w_q, w_k, w_v, w_o, torch.float32),
                torch.float64: self.attend(x, w_q, w_k, w_v, w_o, torch.float64)}

    def attend(self, x, w_q, w_k, w_v, w_o, dtype) -> dict:
        x, w_q, w_k, w_v = (t.to(dtype) for t in (x, w_q, w_k, w_v))
        group = self.heads // self.kv_heads
        q = torch.einsum("td,hed->hte", x, w_q)
        k = torch.einsum("td,hed->hte", x, w_k).repeat_interleave(group, 0)
        v = torch.einsum("td,hed->hte", x, w_v).repeat_interleave(group, 0)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_k)
        if self.causal:
            scores = scores.masked_fill(torch.ones(x.shape[0], x.shape[0]).triu(1).bool(), -math.inf)
        weights = torch.softmax(scores, -1)
        context = (weights @ v).permute(1, 0, 2).reshape(x.shape[0], -1)
        arrays = {"weights": weights, "context": context}
        if w_o is not None:
            arrays["output"] = context @ w_o.to(dtype)
        return arrays


def check(binary: str, seed: int) -> list[str]:
    case = Case(seed)
    done = subprocess.run([binary, *case.arguments()], input=" ".join(case.words).encode(), capture_output=True, check=False)
    if done.returncode != 0:
        return [f"exit code {done.returncode}: {done.stderr.decode(errors='replace')}"]
    ours = json.loads(done.stdout)
    expected = case.compute()
    failures = []
    if ours["vocabulary"] != expected["vocabulary"] or ours["token_ids"] != expected["ids"].tolist():
        failures.append("vocabulary or ids differ")
    if not torch.equal(torch.tensor(ours["embeddings"], dtype=torch.float32), expected["embeddings"]):
        failures.append("embeddings are not equal bit for bit")
    for name, exact in expected[torch.float64].items():
        got = torch.tensor(ours[name], dtype=torch.float64)
        theirs = (expected[torch.float32][name].double() - exact).abs().max().item()
        error = (got - exact).abs().max().item() if got.shape == exact.shape else math.inf
        allowed = 3 * theirs + 1e-6 * exact.abs().max().item()
        if not error <= allowed:
            failures.append(f"{name}: error {error:.3g}, PyTorch's own {theirs:.3g}, allowed {allowed:.3g}")
    return [f"{failure} (seed {seed}: {' '.join(case.arguments())})" for failure in failures]


def check_small(binary: str, seed: int) -> list[str]:
    """Queries, keys, values, scores and context step by step, of matrices small enough for PyTorch's loop."""
    rng = random.Random(seed)
    heads, d, d_k, d_v, count = rng.randint(1, 4), *(rng.randint(1, 8) for _ in range(3)), rng.randint(1, 6)
    words = [f"w{i}" for i in range(count)]
    arguments = ["run", " ".join(words), "--json", "--show", "all", "--set", "rounding=step", "--seed", str(seed), "--heads", str(heads),
                 "--embed-dim", str(d), "--d-k", str(d_k), "--d-v", str(d_v), "--init", rng.choice(["uniform", "normal"])]
    ours = json.loads(subprocess.run([binary, *arguments], capture_output=True, check=True).stdout)
    held = {name: torch.tensor(ours[name], dtype=torch.float32) for name in ("embeddings", "queries", "keys", "values", "scores",
                                                                              "scaled_scores", "weights", "head_context")}
    x = held["embeddings"].expand(heads, count, d)
    w_q, w_k, w_v = (torch.tensor(ours["parameters"][name], dtype=torch.float32).view(heads, -1, d) for name in ("W_q", "W_k", "W_v"))
    expected = {
        "queries": torch.bmm(x, w_q.transpose(1, 2)),
        "keys": torch.bmm(x, w_k.transpose(1, 2)),
        "values": torch.bmm(x, w_v.transpose(1, 2)),
        "scores": torch.bmm(held["queries"], held["keys"].transpose(1, 2)),
        "scaled_scores": held["scores"] / d_k**0.5,
        "head_context": torch.bmm(held["weights"], held["values"]),
    }
    failures = [f"{name}: not equal bit for bit" for name, array in expected.items() if not torch.equal(array, held[name].view(array.shape))]
    averaged = [binary, *(option if option != "all" else "weights" for option in arguments), "--head", "mean"]
    mean = json.loads(subprocess.run(averaged, capture_output=True, check=True).stdout)["weights"]
    if not torch.equal(torch.tensor(mean, dtype=torch.float32), held["weights"].sum(0, keepdim=True) / heads):
        failures.append("the mean of heads: not equal bit for bit to that of nn.MultiheadAttention")
    if not torch.allclose(held["weights"], torch.softmax(held["scaled_scores"], -1), rtol=5e-7, atol=0):
        failures.append("weights: further from PyTorch's than 5e-7")
    return [f"{failure} (seed {seed}: {' '.join(arguments)})" for failure in failures]


def main() -> int:
    binary = sys.argv[1]
    cases = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    failures = [failure for one in (check, check_small) for seed in range(first, first + cases) for failure in one(binary, seed)]
    print("\n".join(failures) if failures else f"{2 * cases} runs agree with PyTorch {torch.__version__}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
