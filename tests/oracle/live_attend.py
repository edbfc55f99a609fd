#!/usr/bin/env python3
"""attn-cli attend against live PyTorch: softmax(q @ k^T * scale + mask) @ v by hand, over random tensors.

Batch entries, grouped heads, boolean and additive masks, causal or not, with and without a cache, other value sizes, scales. In
float32 no number may be further from PyTorch's float64 result than rtol 2e-5, atol 2e-6; in float64 rtol 1e-11, atol 1e-12;
float16 within 1e-3, bfloat16 within 4e-3: half a unit in the last place, and a little. Files are .npy and .npz, those of bfloat16
and some others .safetensors.

usage: live_attend.py ATTN_CLI [CASES] [FIRST_SEED]
Exits 77 (skipped) without PyTorch and NumPy, or 1 when ATTN_REQUIRE_LIVE=1 says that they must be there.
"""
import json
import math
import struct
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

TOLERANCE = {
    torch.float16: (1e-3, 1e-5), torch.float32: (2e-5, 2e-6), torch.float64: (1e-11, 1e-12), torch.bfloat16: (4e-3, 1e-5)
}
CODES = {torch.float16: "F16", torch.float32: "F32", torch.float64: "F64", torch.bfloat16: "BF16", torch.bool: "BOOL"}


def save_safetensors(path: Path, tensors: dict) -> None:
    header, data = {}, b""
    for name, tensor in tensors.items():
        stored = tensor.contiguous().view(torch.int16) if tensor.dtype == torch.bfloat16 else tensor
        end = len(data) + len(stored.numpy().tobytes())
        header[name] = {"dtype": CODES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [len(data), end]}
        data += stored.numpy().tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def load_safetensors(path: Path) -> dict:
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    types = {code: dtype for dtype, code in CODES.items()}
    return {
        name: torch.frombuffer(
            bytearray(content[8 + length:][slice(*entry["data_offsets"])]), dtype=types[entry["dtype"]]
        ).reshape(entry["shape"])
        for name, entry in json.loads(content[8:8 + length]).items()
        if name != "__metadata__"
    }


class Case:
    """Tensors and options, drawn from a seed."""

    def __init__(self, seed: int):
        draw = torch.Generator().manual_seed(seed)
        number = lambda low, high: int(torch.randint(low, high + 1, (1,), generator=draw))
        normal = lambda *shape: torch.randn(*shape, generator=draw, dtype=torch.float64).to(self.dtype)
        self.dtype = list(TOLERANCE)[number(0, 3)]
        self.safetensors = self.dtype == torch.bfloat16 or number(0, 3) == 0
        batch, kv_heads, self.group = number(1, 3), number(1, 3), number(1, 3)
        queries, keys, past, d, d_v = number(1, 40), number(1, 40), number(0, 1) * number(1, 20), number(1, 128), number(1, 128)
        self.q = normal(batch, kv_heads * self.group, queries, d)
        self.k, self.v = normal(batch, kv_heads, keys, d), normal(batch, kv_heads, keys, d_v)
        self.past = (normal(batch, kv_heads, past, d), normal(batch, kv_heads, past, d_v)) if past else None
        self.causal = number(0, 1) == 1
        self.scale = [None, 0.25 / math.sqrt(d), 1.5 / math.sqrt(d)][number(0, 2)]
        self.mask = None
        kind = number(0, 2)
        if kind > 0:
            shape = [(queries, past + keys), (batch, 1, queries, past + keys), (1, past + keys)][number(0, 2)]
            hidden = torch.rand(shape, generator=draw) < 0.25
            additive = torch.randn(shape, generator=draw).masked_fill(hidden, -math.inf)
            self.mask = ~hidden if kind == 1 else additive
        self.past_length = past

    def compute(self) -> dict:
        """Every stage, as the operator defines it, in float64."""
        q, k, v = (x.double() for x in (self.q, self.k, self.v))
        if self.past is not None:
            k, v = (torch.cat([old.double(), new], 2) for old, new in zip(self.past, (k, v)))
        k, v = (x.repeat_interleave(self.group, 1) for x in (k, v))
        scale = 1 / math.sqrt(q.shape[-1]) if self.scale is None else self.scale
        scores = q @ k.transpose(-2, -1) * scale
        if self.mask is not None:
            scores = scores.masked_fill(~self.mask, -math.inf) if self.mask.dtype == torch.bool else scores + self.mask.double()
        if self.causal:
            later = torch.ones(scores.shape[-2:]).triu(1 + self.past_length).bool()
            scores = scores.masked_fill(later, -math.inf)
        weights = torch.softmax(scores, -1).nan_to_num(0)  # an empty row is all NaN
        return {"weights": weights, "context": weights @ v}

    @property
    def output(self) -> str:
        return "out.safetensors" if self.safetensors else "out.npz"

    def result(self, folder: Path) -> dict:
        if self.safetensors:
            return load_safetensors(folder / self.output)
        with numpy.load(folder / self.output) as file:
            return {stage: torch.from_numpy(file[stage]) for stage in file.files}

    def arguments(self, folder: Path) -> list[str]:
        tensors = {"--queries": self.q, "--keys": self.k, "--values": self.v, "--mask": self.mask}
        if self.past is not None:
            tensors.update(zip(("--past-key", "--past-value"), self.past))
        tensors = {option: tensor for option, tensor in tensors.items() if tensor is not None}
        given = ["--show", "weights,context", "-o", str(folder / self.output)]
        if self.safetensors:
            save_safetensors(folder / "in.safetensors", tensors)
            for option in tensors:
                given += [option, f"{folder}/in.safetensors:{option}"]
        else:
            for option, tensor in tensors.items():
                numpy.save(folder / f"{option}.npy", tensor.numpy())
                given += [option, str(folder / f"{option}.npy")]
        given += ["--causal"] if self.causal else []
        return given + ([] if self.scale is None else ["--scale", repr(self.scale)])


def check(binary: str, seed: int) -> list[str]:
    case = Case(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        done = subprocess.run([binary, "attend", *case.arguments(folder)], capture_output=True, check=False)
        if done.returncode != 0:
            return [f"exit code {done.returncode}: {done.stderr.decode(errors='replace')} (seed {seed})"]
        ours = case.result(folder)
    rtol, atol = TOLERANCE[case.dtype]
    failures = []
    for stage, exact in case.compute().items():
        if ours[stage].dtype != case.dtype or ours[stage].shape != exact.shape:
            failures.append(f"{stage}: {ours[stage].dtype} {tuple(ours[stage].shape)}, expected {case.dtype} {tuple(exact.shape)}")
        elif not torch.allclose(ours[stage].double(), exact, rtol, atol):
            failures.append(f"{stage}: off by {(ours[stage].double() - exact).abs().max():.3g} in {case.dtype}")
    return [f"{failure} (seed {seed})" for failure in failures]


def main() -> int:
    binary = sys.argv[1]
    cases = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    failures = [failure for seed in range(first, first + cases) for failure in check(binary, seed)]
    missing = set(TOLERANCE) - {Case(seed).dtype for seed in range(first, first + cases)}
    if cases >= 100 and missing:
        failures.append(f"no case of {missing}")
    print("\n".join(failures) if failures else f"{cases} runs of attend agree with PyTorch {torch.__version__}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
