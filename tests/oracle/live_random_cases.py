#!/usr/bin/env python3
"""attn-cli attend --random against live PyTorch and NumPy: what is drawn, and the context, over random shapes, types and options.

The file that -o makes, .npz, .safetensors or .bin, holds queries, keys and values, bit for bit those of torch.randn, or of NumPy's
two generators. The context is within the tolerance of its type of attention by hand in PyTorch's float64, and the program itself says that the file
agrees.

usage: live_random_cases.py ATTN_CLI [CASES] [FIRST_SEED]
Exits 77 (skipped) without PyTorch and NumPy, or 1 when ATTN_REQUIRE_LIVE=1 says that they must be there.
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
    from live_attend import TOLERANCE, load_safetensors
except ImportError as missing:
    skip(missing)

TYPES = {str(dtype).removeprefix("torch."): dtype for dtype in TOLERANCE}
NAMES = ("queries", "keys", "values")


def load_bin(path: Path) -> dict:
    header, content = json.loads(Path(f"{path}.json").read_text()), path.read_bytes()
    assert header["bytes"] == len(content) and all(array["offset"] % 64 == 0 for array in header["arrays"])
    loaded = {}
    for array in header["arrays"]:
        dtype = TYPES[array["dtype"]]
        size = math.prod(array["shape"]) * torch.empty(0, dtype=dtype).element_size()
        part = bytearray(content[array["offset"]:array["offset"] + size])
        loaded[array["name"]] = torch.frombuffer(part, dtype=dtype).reshape(array["shape"])
    return loaded


def load_npz(path: Path) -> dict:
    with numpy.load(path) as file:
        return {name: torch.from_numpy(file[name]) for name in file.files}


LOAD = {".npz": load_npz, ".safetensors": load_safetensors, ".bin": load_bin}


def rounded(array, dtype):
    """Once: PyTorch goes from float64 to half precision by way of float32."""
    exact = torch.from_numpy(array)
    if dtype != torch.bfloat16:
        return torch.from_numpy(array.astype(str(dtype).removeprefix("torch.")))
    near = exact.to(dtype).view(torch.int16)
    candidates = torch.stack([near + step for step in (0, -1, 1)]).view(dtype)
    best = (candidates.double() - exact).abs().argmin(0, keepdim=True)
    return candidates.view(torch.int16).gather(0, best)[0].view(dtype)


class Case:
    def __init__(self, seed: int):
        draw = random.Random(seed)
        self.B, self.H_kv = draw.randint(1, 3), draw.randint(1, 3)
        self.H, self.T, self.S = self.H_kv * draw.randint(1, 3), draw.randint(1, 40), draw.randint(1, 40)
        self.d, self.d_v = (draw.choice([1, 2, 3, 8, 16, 33, 64, 128]) for _ in range(2))
        if draw.random() < 0.3:
            self.S, self.d_v = self.T, self.d
        self.type = draw.choice(list(TYPES))
        self.generator = draw.choice(["torch", "torch", "numpy", "numpy-pcg64"])
        self.seed = draw.choice([None, 0, draw.randrange(2**32), draw.randrange(2**32)])
        if self.generator == "torch" and draw.random() < 0.2:
            self.seed = draw.randrange(2**32, 2**63)
        self.bshd, self.causal = draw.random() < 0.3, draw.random() < 0.5
        self.window = (draw.randint(0, 20), draw.randint(0, 20)) if draw.random() < 0.2 else None
        self.scale = draw.choice([None, 0.25 / math.sqrt(self.d), 1.5 / math.sqrt(self.d)])
        self.softcap = draw.choice([None, None, 3.0])
        self.mask = draw.random() < 0.3
        self.lengths = [draw.randint(1, self.S) for _ in range(self.B)] if draw.random() < 0.2 else None
        self.sinks = draw.random() < 0.2
        self.ending = draw.choice([ending for ending in LOAD if ending != ".npz" or self.type != "bfloat16"])
        self.number = seed

    @property
    def sizes(self) -> str:
        pair = lambda a, b: f"{a}" if a == b else f"{a}/{b}"
        return f"{self.B},{pair(self.H, self.H_kv)},{pair(self.T, self.S)},{pair(self.d, self.d_v)}"

    def inputs(self) -> list:
        shapes = [(self.B, self.H, self.T, self.d), (self.B, self.H_kv, self.S, self.d), (self.B, self.H_kv, self.S, self.d_v)]
        if self.bshd:
            shapes = [(b, n, h, d) for b, h, n, d in shapes]
        dtype, seed = TYPES[self.type], 123 if self.seed is None else self.seed
        if self.generator == "torch":
            torch.manual_seed(seed)
            return [torch.randn(*shape, dtype=dtype if dtype == torch.float64 else torch.float32).to(dtype) for shape in shapes]
        if self.generator == "numpy":
            numpy.random.seed(seed)
            return [rounded(numpy.random.randn(*shape), dtype) for shape in shapes]
        stream = numpy.random.default_rng(seed)
        return [rounded(stream.standard_normal(shape), dtype) for shape in shapes]

    def arguments(self, folder: Path) -> list[str]:
        given = ["--random", self.sizes, "--dtype", self.type, "--generator", self.generator]
        given += [] if self.seed is None else ["--seed", str(self.seed)]
        given += ["--layout", "bshd"] if self.bshd else []
        return given + self.options(folder)

    def options(self, folder: Path) -> list[str]:
        given = ["--causal"] if self.causal else []
        given += ["--window", "{},{}".format(*self.window)] if self.window else []
        given += [] if self.scale is None else ["--scale", repr(self.scale)]
        given += [] if self.softcap is None else ["--softcap", str(self.softcap)]
        for name, array in self.tensors().items():
            numpy.save(folder / f"{name}.npy", array)
            given += [f"--{name}", str(folder / f"{name}.npy")]
        return given

    def tensors(self) -> dict:
        stream, made = numpy.random.default_rng(self.number), {}
        if self.mask:
            made["mask"] = stream.random((self.T, self.S)) < 0.75
        if self.lengths:
            made["lengths"] = numpy.array(self.lengths)
        if self.sinks:
            made["sinks"] = stream.standard_normal(self.H).astype("float32")
        return made

    def context(self, q, k, v):
        """In float64, in the layout of the inputs."""
        q, k, v = (x.double().transpose(1, 2) if self.bshd else x.double() for x in (q, k, v))
        k, v = (x.repeat_interleave(self.H // self.H_kv, 1) for x in (k, v))
        scores = q @ k.transpose(-2, -1) * (self.d**-0.5 if self.scale is None else self.scale)
        if self.softcap is not None:
            scores = self.softcap * torch.tanh(scores / self.softcap)
        tensors = {name: torch.from_numpy(array) for name, array in self.tensors().items()}
        lengths = torch.tensor(self.lengths) if self.lengths else torch.full((self.B,), self.S)
        offset = lengths - self.T if self.lengths else torch.zeros(self.B)
        key, place = torch.arange(self.S), torch.arange(self.T)[:, None] + offset[:, None, None, None]
        hidden = key >= lengths[:, None, None, None]
        if self.causal:
            hidden = hidden | (key > place)
        if self.window:
            hidden = hidden | (key < place - self.window[0]) | (key > place + self.window[1])
        if self.mask:
            hidden = hidden | ~tensors["mask"]
        scores = scores.masked_fill(hidden, -math.inf)
        if self.sinks:
            sink = tensors["sinks"].double()[:, None, None].expand(self.B, -1, self.T, 1)
            weights = torch.softmax(torch.cat([scores, sink], -1), -1)[..., :-1]
        else:
            weights = torch.softmax(scores, -1).nan_to_num(0)  # an empty row is all NaN
        context = weights @ v
        return context.transpose(1, 2) if self.bshd else context


def is_drawn_as(case: Case, ours, theirs) -> bool:
    """Bit for bit; but PyTorch 1 draws fewer than 16 numbers of float64 by log(1 - u), where later ones have log1p(-u)."""
    old = case.generator == "torch" and case.type == "float64" and theirs.numel() < 16 and torch.__version__.startswith("1.")
    return ours.dtype == theirs.dtype and (torch.allclose(ours, theirs, 0, 1e-12) if old else torch.equal(ours, theirs))


def check(binary: str, seed: int) -> list[str]:
    case = Case(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path, command = folder / f"case{case.ending}", [binary, "attend"]
        done = subprocess.run([*command, *case.arguments(folder), "-o", str(path)], capture_output=True, check=False)
        if done.returncode != 0 or done.stderr:
            return [f"exit code {done.returncode}: {done.stderr.decode(errors='replace')} (seed {seed})"]
        ours, files = LOAD[case.ending](path), [f"{path}:{array}" for array in (*NAMES, "context")]
        again = [*command, "-q", files[0], "-k", files[1], "-v", files[2], *(["--layout", "bshd"] if case.bshd else [])]
        judged = subprocess.run([*again, *case.options(folder), "--against", files[3], "--strict"], capture_output=True, check=False)
    failures = [f"--against: {judged.stdout.decode()} {judged.stderr.decode()}"] if judged.returncode != 0 else []
    inputs = case.inputs()
    for array, theirs in zip(NAMES, inputs):
        if not is_drawn_as(case, ours[array], theirs):
            failures.append(f"{array} {tuple(ours[array].shape)} {case.type} are not those of {case.generator}")
    exact = case.context(*(ours[array] for array in NAMES))
    rtol, atol = TOLERANCE[TYPES[case.type]]
    if ours["context"].dtype != TYPES[case.type] or ours["context"].shape != exact.shape:
        failures.append(f"context {ours['context'].dtype} {tuple(ours['context'].shape)}, expected {tuple(exact.shape)}")
    elif not torch.allclose(ours["context"].double(), exact, rtol, atol):
        failures.append(f"context: off by {(ours['context'].double() - exact).abs().max():.3g} in {case.type}")
    return [f"{failure} (seed {seed}: {case.sizes} {case.ending})" for failure in failures]


def main() -> int:
    binary = sys.argv[1]
    cases = int(sys.argv[2]) if len(sys.argv) > 2 else 300
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    seeds = range(first, first + cases)
    failures = [failure for seed in seeds for failure in check(binary, seed)]
    if cases >= 100:
        kinds = {(case.type, case.generator) for case in map(Case, seeds)}
        failures += [f"no case of {kind}" for kind in {(t, g) for t in TYPES for g in ("torch", "numpy", "numpy-pcg64")} - kinds]
    print("\n".join(failures) if failures else f"{cases} drawn cases agree with PyTorch {torch.__version__} and NumPy {numpy.__version__}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
