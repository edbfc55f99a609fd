#!/usr/bin/env python3
"""The parameters that recipes draw against live PyTorch and NumPy, bit for bit.

    tests/oracle/live_inits.py ATTN_CLI [CASES] [FIRST_SEED]

Random recipes: initialisations of torch.nn.init, integers, layers head by head, tables with a padding row, draws that are thrown
away, nn.MultiheadAttention whole; sizes around PyTorch's block of 16; then a million numbers of each. The weights of whole layers
agree with PyTorch's within 1e-6, too. Exit 0: all equal; 1: the first difference is on stderr; 77: PyTorch or NumPy is not
installed, which is a failure instead when the environment has ATTN_REQUIRE_LIVE=1.
"""

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from live import skip

try:
    import numpy as np
    import torch
    from torch import nn
except ImportError as missing:
    skip(missing)

INITS = ["xavier", "xavier_normal", "kaiming_uniform", "kaiming_normal"]
SIZES = [1, 2, 3, 5, 8, 11, 15, 16, 17, 31, 32, 33]


class Torch:
    name, integers_of = "torch", "torch"

    def __init__(self, seed):
        torch.manual_seed(seed)

    def integers(self, low, high, shape):
        return torch.randint(low, high, shape).double().numpy()

    def uniform(self, low, high, shape):
        return torch.empty(shape).uniform_(low, high).double().numpy()

    def normal(self, mean, deviation, shape):
        return torch.empty(shape).normal_(mean, deviation).double().numpy()


class Numpy:
    name = "numpy"

    def __init__(self, seed):
        self.stream = np.random.RandomState(seed)
        self.integers = self.stream.randint
        self.uniform = self.stream.uniform
        self.normal = self.stream.normal


class Pcg64(Numpy):
    name = "numpy-pcg64"

    def __init__(self, seed):
        self.stream = np.random.default_rng(seed)
        self.integers = self.stream.integers
        self.uniform = self.stream.uniform
        self.normal = self.stream.normal


class Case:
    """The steps of a recipe, and what the live library makes of them."""

    def __init__(self, chance, library=Torch, **dims):
        self.chance, self.seed, self.dims = chance, chance.randrange(2**32), dims
        self.live, self.library = library(self.seed), library
        self.steps, self.expected = [{"seed": self.seed}], {}

    def put(self, tensor, array, **step):
        """A tensor that the next step of the recipe draws, as it must come out."""
        self.steps.append({"tensor": tensor, **step})
        array = array.detach().double().numpy() if isinstance(array, torch.Tensor) else np.asarray(array, dtype=np.float64)
        self.expected[tensor] = array

    def draw(self, shape):
        """Plain numbers: what the recipe says, and the array."""
        kind = self.chance.choice(["integers", "uniform", "normal"])
        if kind == "integers":
            size = self.chance.choice([1, 2, 3, 10, 2**16, 2**24, 2**24 - 1, 1000])
            low = self.chance.choice([0, -size // 2, 1 - size])
            step = {"init": kind, "high": low + size, **({"low": low} if low else {})}
            return step, np.asarray(self.live.integers(low, low + size, shape), dtype=np.float64)
        first, second = self.chance.choice([(0, 1), (-0.5, 0.25), (-2, 3)])
        names = ("low", "high") if kind == "uniform" else ("mean", "std")
        second = second if kind == "uniform" else abs(second)
        return {"init": kind, names[0]: first, names[1]: second}, getattr(self.live, kind)(first, second, shape)

    def plain(self):
        """Numbers without a layer: something thrown away, embeddings, three matrices, of any generator."""
        T, D, d_k, d_v = (self.dims[name] for name in ("T", "embed_dim", "d_k", "d_v"))
        shapes = [("discard", (self.chance.choice(SIZES),)), ("embeddings", (T, D)), ("W_q", (d_k, D)), ("W_k", (d_k, D)), ("W_v", (d_v, D))]
        for tensor, shape in shapes:
            right = tensor[0] == "W" and self.chance.random() < 0.5
            step, array = self.draw(shape[::-1] if right else shape)
            if tensor == "discard":
                self.steps.append({"discard": True, "shape": list(shape), **step})
            else:
                self.put(tensor, array, **step, **({"side": "right"} if right else {}))
        return self

    def tables(self, *names):
        width = {"embedding": "embed_dim", "key_embedding": "key_dim", "value_embedding": "value_dim"}
        for name in names:
            padding = self.chance.choice([None, self.chance.randrange(self.dims["vocab_size"])])
            table = nn.Embedding(self.dims["vocab_size"], self.dims[width[name]], padding_idx=padding).weight
            self.put(name, table, init="normal", **({} if padding is None else {"padding_idx": padding}))
        return self

    def inits(self, init):
        """torch.nn.init of matrices from either side, of all heads at once or a stack with a shape of its own."""
        D, H = self.dims["embed_dim"], self.dims["heads"]
        for tensor, size in (("W_q", self.dims["d_k"]), ("W_k", self.dims["d_k"]), ("W_v", self.dims["d_v"])):
            right, stack = self.chance.random() < 0.5, self.chance.random() < 0.3
            step, options = {"init": init}, {}
            if init.startswith("kaiming"):
                options = self.chance.choice([{}, {"a": 5**0.5}, {"mode": "fan_out"}, {"a": -0.5, "mode": "fan_out"}])
                step |= options
            elif self.chance.random() < 0.5:
                options = {"gain": self.chance.choice([2**0.5, 5 / 3, 0.25])}
                step |= options
            shape = (H, D, size) if right else (H, size, D)
            if not stack:
                shape = (D, H * size) if right else (H * size, D)
            function = getattr(nn.init, init + ("_uniform_" if init == "xavier" else "_"))
            array = function(torch.empty(shape), **options)
            if right and not stack:  # the columns of a head lie side by side, or the recipe has a shape
                step["shape"] = ["D", f"H*{'d_v' if tensor == 'W_v' else 'd_k'}"]
            elif stack:
                step["shape"] = list(shape)
            self.put(tensor, array, **step, **({"side": "right"} if right else {}))
        return self

    def single_heads(self):
        """A wrapper of single heads, each with three nn.Linear."""
        H, D, bias = self.dims["heads"], self.dims["embed_dim"], self.chance.random() < 0.5
        parts = {name: [] for name in ("W_q", "W_k", "W_v", "b_q", "b_k", "b_v")}
        order = self.chance.sample("qkv", 3)
        for head in self.chance.sample(range(H), H):
            for name in order:
                layer = nn.Linear(D, self.dims["d_v" if name == "v" else "d_k"], bias=bias)
                for tensor, array in ((f"W_{name}", layer.weight), (f"b_{name}", layer.bias)):
                    if array is not None:
                        self.steps.append({"tensor": tensor, "init": "linear", "head": head})
                        parts[tensor].append((head, array.detach().double().numpy()))
        for tensor, arrays in parts.items():
            if arrays:
                arrays = [array for _, array in sorted(arrays, key=lambda pair: pair[0])]
                self.expected[tensor] = np.concatenate(arrays) if tensor[0] == "b" else np.stack(arrays)
        return self

    def layer(self):
        E, H, bias, extra = self.dims["embed_dim"], self.dims["heads"], self.chance.random() < 0.7, self.chance.random() < 0.3
        kdim, vdim = self.dims.get("key_dim"), self.dims.get("value_dim")
        self.torch_layer = mha = nn.MultiheadAttention(E, H, bias=bias, add_bias_kv=extra, kdim=kdim, vdim=vdim)
        self.steps.append({"init": "multihead_attention", **({} if bias else {"bias": False}), **({"add_bias_kv": True} if extra else {})})
        separate = (mha.q_proj_weight, mha.k_proj_weight, mha.v_proj_weight)
        weights = separate if mha.in_proj_weight is None else mha.in_proj_weight.chunk(3)
        tensors = dict(zip(("W_q", "W_k", "W_v"), weights)) | {"W_o": mha.out_proj.weight}
        if bias:
            tensors |= dict(zip(("b_q", "b_k", "b_v"), mha.in_proj_bias.chunk(3))) | {"b_o": mha.out_proj.bias}
        if extra:
            tensors |= {"bias_k": mha.bias_k.flatten(), "bias_v": mha.bias_v.flatten()}
        self.expected |= {name: tensor.detach().double().numpy() for name, tensor in tensors.items()}
        return self

    def recipe(self):
        dims = {key: value for key, value in self.dims.items() if key != "T"}
        tables = "embedding" in self.expected
        return {
            "schema": "attn-cli/recipe/1",
            "input": {"ids": [i % dims["vocab_size"] for i in range(self.dims["T"])]} if tables else {"positions": self.dims["T"]},
            "generator": self.library.name,
            "dtype": "float32" if self.library is Torch else "float64",
            "dims": dims,
            "draws": self.steps,
        }


def some_sizes(chance, **more):
    return {"T": chance.choice(SIZES), "embed_dim": chance.choice(SIZES), "d_k": chance.choice(SIZES), "d_v": chance.choice(SIZES), **more}


def some_case(chance, number):
    kind = number % 5
    if kind == 0:
        return Case(chance, chance.choice([Torch, Numpy, Pcg64]), **some_sizes(chance)).plain()
    if kind == 1:
        sizes = some_sizes(chance, heads=chance.choice([1, 1, 2, 3]), vocab_size=chance.choice(SIZES))
        return Case(chance, **sizes).tables("embedding").inits(chance.choice(INITS))
    if kind == 2:
        sizes = some_sizes(chance, heads=chance.choice([1, 2, 3, 7]), vocab_size=chance.choice(SIZES))
        return Case(chance, **sizes).tables("embedding").single_heads()
    heads = chance.choice([1, 2, 3, 8])
    sizes = {"T": chance.choice(SIZES), "embed_dim": heads * chance.choice([1, 2, 4, 5, 8]), "heads": heads, "vocab_size": chance.choice(SIZES)}
    if kind == 3:
        return Case(chance, **sizes).tables("embedding").layer()
    sizes |= {"key_dim": chance.choice([sizes["embed_dim"], *SIZES]), "value_dim": chance.choice([sizes["embed_dim"], *SIZES])}
    return Case(chance, **sizes).tables("embedding", "key_embedding", "value_embedding").layer()


def large_cases():
    chance = random.Random(0)
    wide = {"T": 2, "embed_dim": 1009, "heads": 1, "d_k": 997, "d_v": 31, "vocab_size": 1000}
    for library in (Torch, Numpy, Pcg64):
        yield Case(chance, library, T=2, embed_dim=1009, d_k=997, d_v=997).plain()
    for init in INITS:
        yield Case(chance, **wide).tables("embedding").inits(init)
    yield Case(chance, **{**wide, "heads": 3, "d_k": 333}).tables("embedding").single_heads()
    yield Case(chance, T=2, embed_dim=1008, heads=12, vocab_size=1000).tables("embedding").layer()
    yield Case(chance, T=2, embed_dim=1008, heads=12, key_dim=1001, value_dim=1009, vocab_size=9).tables("embedding", "key_embedding", "value_embedding").layer()


def weights_of(case):
    """What the layer of PyTorch computes from the tables."""
    ids = torch.arange(case.dims["T"]) % case.dims["vocab_size"]
    of = lambda name: torch.tensor(case.expected.get(name, case.expected.get("key_embedding", case.expected["embedding"])))[ids].unsqueeze(1)
    query = torch.tensor(case.expected["embedding"])[ids].unsqueeze(1)
    with torch.no_grad():
        _, weights = case.torch_layer.double()(query, of("key_embedding"), of("value_embedding"), average_attn_weights=False)
    return weights[0].numpy()


def check(program, case, folder):
    file = folder / "run.npz"
    recipe = case.recipe()
    arguments = [program, "run", "--recipe", "-", "--show", "parameters,embeddings,weights", "-o", file, "--quiet"]
    done = subprocess.run(arguments, input=json.dumps(recipe).encode(), capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit(f"exit code {done.returncode}: {done.stderr.decode()}\n{json.dumps(recipe)}")
    arrays = np.load(file)
    count = 0
    for name, wanted in case.expected.items():
        got = arrays[name].astype(np.float64)
        if not np.array_equal(got.reshape(-1).view("<u8"), np.ascontiguousarray(wanted).reshape(-1).view("<u8")):
            sys.exit(f"{name} differs: {got.reshape(-1)[:3]}, expected {wanted.reshape(-1)[:3]}\n{json.dumps(recipe)}")
        count += got.size
    if hasattr(case, "torch_layer"):
        error = np.abs(arrays["weights"] - weights_of(case)).max()
        if not error <= 1e-6:
            sys.exit(f"weights differ by {error}\n{json.dumps(recipe)}")
    return count


def main():
    cases = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    with tempfile.TemporaryDirectory() as folder:
        total = sum(check(sys.argv[1], some_case(random.Random(number), number), Path(folder)) for number in range(first, first + cases))
        large = sum(check(sys.argv[1], case, Path(folder)) for case in large_cases())
    print(f"equal: {total} numbers of {cases} recipes, {large} of large ones (PyTorch {torch.__version__}, NumPy {np.__version__})")


main()
