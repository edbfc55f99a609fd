#!/usr/bin/env python3
"""attn-cli run --params against live PyTorch, and --positions against their formulas in NumPy's float64.

Checkpoints are written as .safetensors or .npz with the names of nn.MultiheadAttention (biased or not, fused or separate with
kdim ≠ vdim, with bias_k and bias_v, causal, with padded keys), BERT, GPT-2 and Llama. The program may be no further from PyTorch's
float64 result than three times PyTorch's own float32 error plus 1e-6 relative, both taken as the largest over the array.

usage: live_params.py ATTN_CLI [CASES] [FIRST_SEED]
Exits 77 (skipped) without PyTorch, or 1 when ATTN_REQUIRE_LIVE=1 says that it must be there.
"""
import json
import math
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from live import skip

try:
    import numpy
    import torch
except ImportError as missing:
    skip(missing)

CODES = {"float32": "F32", "float64": "F64", "float16": "F16", "bool": "BOOL"}


def save_safetensors(path, tensors):
    header, data = {}, b""
    for name, array in tensors.items():
        stored = array.tobytes()
        header[name] = {"dtype": CODES[str(array.dtype)], "shape": list(array.shape),
                        "data_offsets": [len(data), len(data) + len(stored)]}
        data += stored
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def save(path, tensors):
    arrays = {name: numpy.ascontiguousarray(t.detach().numpy()) for name, t in tensors.items()}
    if path.suffix == ".npz":
        numpy.savez(path, **arrays)
    else:
        save_safetensors(path, arrays)


def attend(q, k, v, heads, causal=False, padding=None):
    """(T, H·d), (S, H_kv·d), (S, H_kv·d_v) → weights (H, T, S), context (T, H·d_v)."""
    split = lambda x, n: x.reshape(x.shape[0], n, -1).transpose(0, 1)
    d = q.shape[1] // heads
    q, k = split(q, heads), split(k, k.shape[1] // d)
    v = split(v, k.shape[0])
    k, v = (x.repeat_interleave(heads // x.shape[0], 0) for x in (k, v))
    scores = q @ k.transpose(1, 2) / math.sqrt(d)
    hidden = torch.zeros(scores.shape[1:], dtype=torch.bool)
    if causal:
        hidden |= torch.ones(scores.shape[1:], dtype=torch.bool).triu(1)
    if padding is not None:
        hidden = hidden | padding[None, :]
    weights = torch.softmax(scores.masked_fill(hidden, -math.inf), -1)
    return weights, (weights @ v).transpose(0, 1).reshape(q.shape[1], -1)


class Case:
    """A layer, its file and its options, drawn from a seed. `compute(dtype)` gives what PyTorch gives."""

    def __init__(self, seed, folder):
        self.rng = random.Random(seed)
        torch.manual_seed(seed)
        rng = self.rng
        self.heads = rng.choice([1, 2, 3, 4, 8])
        self.d = self.heads * rng.choice([2, 4, 8, 10])
        self.words = rng.choice([1, 2, 6, 17])
        self.table = torch.randn(self.words + 2, self.d)
        self.ids = [rng.randrange(self.words + 2) for _ in range(self.words)]
        self.causal = rng.random() < 0.4
        self.padding = None
        if not self.causal and self.words > 2 and rng.random() < 0.4:
            self.padding = torch.zeros(self.words, dtype=torch.bool)
            self.padding[-rng.randrange(1, self.words - 1):] = True
        self.prefix = rng.choice(["", "encoder.layer.3.attention", "h.0/attn"])
        self.file = folder / f"params{seed}{rng.choice(['.npz', '.safetensors'])}"
        self.mask = folder / f"mask{seed}.npy"
        self.tensors = {"embedding": self.table}
        kind = rng.choice(["multihead", "multihead", "bert", "gpt2", "llama", "plain"])
        self.kind = kind
        getattr(self, kind)()
        if self.prefix and rng.random() < 0.5:  # of another layer, which is not meant
            self.add({name: t + 1 for name, t in self.layer.items()}, self.prefix.replace("3", "13").replace("h.0", "h.01"))
        self.add(self.layer, self.prefix)
        save(self.file, self.tensors)
        if self.padding is not None:
            numpy.save(self.mask, ~self.padding.numpy())

    def add(self, layer, prefix):
        separator = "/" if "/" in prefix else "."
        self.tensors.update({(prefix + separator if prefix else "") + name: t for name, t in layer.items()})

    def x(self, dtype):
        return self.table[self.ids].to(dtype)

    def multihead(self):
        rng = self.rng
        separate, self.extra = rng.random() < 0.5, rng.random() < 0.3
        kdim, vdim = (rng.randint(1, 20), rng.randint(1, 20)) if separate else (self.d, self.d)
        self.module = torch.nn.MultiheadAttention(self.d, self.heads, bias=rng.random() < 0.5, add_bias_kv=self.extra,
                                                  kdim=kdim, vdim=vdim, batch_first=True)
        with torch.no_grad():
            for parameter in self.module.parameters():  # biases are zero at first
                parameter.copy_(torch.randn_like(parameter) * 0.3)
        self.layer = dict(self.module.state_dict())
        rows = len(self.table)
        self.key_table, self.value_table = self.table, self.table
        if kdim != self.d:
            self.key_table = self.tensors["key_embedding"] = torch.randn(rows, kdim)
        if vdim != kdim:
            self.value_table = self.tensors["value_embedding"] = torch.randn(rows, vdim)
        elif kdim != self.d:
            self.value_table = self.key_table

    def compute_multihead(self, dtype):
        module = self.module.to(dtype)
        ids = torch.tensor(self.ids)
        key, value = self.key_table[ids].to(dtype)[None], self.value_table[ids].to(dtype)[None]
        mask = torch.ones(self.words, self.words, dtype=torch.bool).triu(1) if self.causal else None
        padding = None if self.padding is None else self.padding[None]
        with torch.no_grad():
            output, weights = module(self.x(dtype)[None], key, value, attn_mask=mask, key_padding_mask=padding,
                                     average_attn_weights=False)
        return {"weights": weights[0], "output": output[0]}

    def linear(self, names, bias, out=None):
        """nn.Linear's state by names such as "self.query"; `out` widths."""
        out = out or {}
        for name in names:
            size = out.get(name, self.d)
            self.layer[f"{name}.weight"] = torch.randn(size, self.d) / math.sqrt(self.d)
            if bias:
                self.layer[f"{name}.bias"] = torch.randn(size)

    def apply(self, name, x):
        y = x @ self.layer[f"{name}.weight"].to(x.dtype).T
        return y + self.layer[f"{name}.bias"].to(x.dtype) if f"{name}.bias" in self.layer else y

    def compute_linear(self, names, dtype):
        q, k, v = (self.apply(name, self.x(dtype)) for name in names[:3])
        weights, context = attend(q, k, v, self.heads, self.causal, self.padding)
        return {"weights": weights, "context": context, "output": self.apply(names[3], context)}

    BERT = ["self.query", "self.key", "self.value", "output.dense"]
    LLAMA = ["q_proj", "k_proj", "v_proj", "o_proj"]

    def bert(self):
        self.layer = {}
        self.linear(self.BERT, True)

    def compute_bert(self, dtype):
        return self.compute_linear(self.BERT, dtype)

    def llama(self):
        self.layer = {}
        kv_heads = self.rng.choice([n for n in range(1, self.heads + 1) if self.heads % n == 0])
        width = kv_heads * (self.d // self.heads)
        self.linear(self.LLAMA, self.rng.random() < 0.3, {"k_proj": width, "v_proj": width})

    def compute_llama(self, dtype):
        return self.compute_linear(self.LLAMA, dtype)

    def gpt2(self):
        self.layer = {"c_attn.weight": torch.randn(self.d, 3 * self.d) / math.sqrt(self.d), "c_attn.bias": torch.randn(3 * self.d),
                      "c_proj.weight": torch.randn(self.d, self.d), "c_proj.bias": torch.randn(self.d),
                      "bias": torch.ones(1, 1, 4, 4)}

    def compute_gpt2(self, dtype):
        layer = {name: t.to(dtype) for name, t in self.layer.items()}
        q, k, v = (self.x(dtype) @ layer["c_attn.weight"] + layer["c_attn.bias"]).split(self.d, 1)
        weights, context = attend(q, k, v, self.heads, self.causal, self.padding)
        return {"weights": weights, "context": context, "output": context @ layer["c_proj.weight"] + layer["c_proj.bias"]}

    def plain(self):
        self.wide = self.heads * (self.d // self.heads + 1)  # no square
        self.layer = {name: torch.randn(self.d, self.wide).double() for name in ("W_q", "W_k", "W_v")}
        self.layer |= {"W_o": torch.randn(self.d, self.wide).half(), "b_v": torch.randn(1, self.wide)}  # of several types

    def compute_plain(self, dtype):
        layer = {name: t.to(dtype) for name, t in self.layer.items()}
        q, k, v = (self.x(dtype) @ layer[name] for name in ("W_q", "W_k", "W_v"))
        weights, context = attend(q, k, v + layer["b_v"], self.heads, self.causal, self.padding)
        return {"weights": weights, "context": context, "output": context @ layer["W_o"].T}

    def compute(self, dtype):
        return getattr(self, f"compute_{self.kind}")(dtype)

    def arguments(self):
        return ["run", "--ids", ",".join(map(str, self.ids)), "--vocab-size", str(len(self.table)), "--params", str(self.file),
                "--heads", str(self.heads), "--json", "--show", "all", *(["--prefix", self.prefix] if self.prefix else []),
                *(["--causal"] if self.causal else []), *(["--mask", str(self.mask)] if self.padding is not None else [])]


# ---- positions -------------------------------------------------------------------------------------------------------


def sinusoids(T, D):
    p, i = numpy.arange(T)[:, None], numpy.arange(D)[None, :]
    angle = p / 10000.0 ** (2 * (i // 2) / D)
    return numpy.where(i % 2 == 0, numpy.sin(angle), numpy.cos(angle))


def rope(x, base, r, style):
    """(H, T, d)"""
    turned = x.copy()
    for i in range(r // 2):
        a, b = (i, i + r // 2) if style == "half" else (2 * i, 2 * i + 1)
        angle = numpy.arange(x.shape[1]) * base ** (-2 * i / r)
        turned[:, :, a] = x[:, :, a] * numpy.cos(angle) - x[:, :, b] * numpy.sin(angle)
        turned[:, :, b] = x[:, :, a] * numpy.sin(angle) + x[:, :, b] * numpy.cos(angle)
    return turned


def slopes(n):
    """As the authors' program computes them."""
    if math.log2(n).is_integer():
        start = 2 ** (-(2 ** -(math.log2(n) - 3)))
        return [start * start**i for i in range(n)]
    lower = 2 ** math.floor(math.log2(n))
    return slopes(lower) + slopes(2 * lower)[0::2][: n - lower]


def check_positions(binary, seed):
    """Rows of arrays with and without positions: (name, error, allowed)."""
    rng = random.Random(seed)
    heads, T = rng.choice([1, 2, 3, 4, 6, 8, 12, 16]), rng.choice([1, 3, 20, 150])
    d_k = 2 * rng.randint(1, 16)
    kind = rng.choice(["sinusoidal", "rope", "alibi"])
    base, r, style = rng.choice([10000, 500000.0, 1]), 2 * rng.randint(1, d_k // 2), rng.choice(["half", "interleaved"])
    dtype, eps = rng.choice([("float32", 6e-8), ("float64", 2e-15)])
    common = ["run", " ".join(f"w{rng.randrange(9)}" for _ in range(T)), "--heads", str(heads), "--embed-dim", str(rng.randint(1, 33)),
              "--d-k", str(d_k), "--d-v", "3", "--json", "--show", "all", "--dtype", dtype, *(["--causal"] if rng.random() < 0.5 else [])]
    chosen = ["--positions", f"rope:base={base},dim={r},style={style}" if kind == "rope" else kind]
    runs = []
    for arguments in (common, common + chosen):
        done = subprocess.run([binary, *arguments], capture_output=True, check=False)
        if done.returncode != 0:
            return [f"{' '.join(arguments)}: {done.stderr.decode(errors='replace')}"]
        runs.append(json.loads(done.stdout))
    before, after = runs
    array = lambda result, name: numpy.array(result[name], dtype="float64")
    expected = {}
    if kind == "sinusoidal":
        expected["embeddings"] = array(before, "embeddings") + sinusoids(T, len(before["embeddings"][0]))
    elif kind == "rope":
        expected = {name: rope(array(before, name), base, r, style) for name in ("queries", "keys")}
        expected["values"] = array(before, "values")
    else:
        distance = numpy.abs(numpy.arange(T)[:, None] - numpy.arange(T)[None, :])
        expected["masked_scores"] = array(after, "scaled_scores") - numpy.array(slopes(heads))[:, None, None] * distance
        if "--causal" in common:
            expected["masked_scores"][:, numpy.triu(numpy.ones((T, T), bool), 1)] = numpy.nan
    failures = []
    for name, wanted in expected.items():
        got = array(after, name)
        size = 1e-30 + numpy.nanmax(numpy.abs(wanted), initial=0)
        if not numpy.allclose(got, wanted, rtol=0, atol=size * eps * 4 + (T * 1e-15), equal_nan=True):
            failures.append(f"{name}: {numpy.nanmax(numpy.abs(got - wanted))} of {size} ({kind}, seed {seed}: {' '.join(common[2:] + chosen)})")
    return failures


def check(binary, seed, folder):
    case = Case(seed, folder)
    done = subprocess.run([binary, *case.arguments()], capture_output=True, check=False)
    label = f"({case.kind}, seed {seed}: {' '.join(case.arguments())})"
    if done.returncode != 0:
        return [f"exit code {done.returncode}: {done.stderr.decode(errors='replace')} {label}"]
    ours = json.loads(done.stdout)
    rough, exact = case.compute(torch.float32), case.compute(torch.float64)
    failures = []
    for name in exact:
        got = torch.tensor(ours[name], dtype=torch.float64)
        theirs = (rough[name].double() - exact[name]).abs().max().item()
        error = (got - exact[name]).abs().max().item() if got.shape == exact[name].shape else math.inf
        allowed = 3 * theirs + 1e-6 * exact[name].abs().max().item()
        if not error <= allowed:
            failures.append(f"{name}: error {error:.3g}, PyTorch's own {theirs:.3g}, allowed {allowed:.3g} {label}")
    return failures


def main():
    binary = sys.argv[1]
    cases = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + cases):
            failures += check(binary, seed, Path(folder)) + check_positions(binary, seed)
    print("\n".join(failures) if failures else f"{cases} layers agree with PyTorch {torch.__version__}, and as many positions with NumPy")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
