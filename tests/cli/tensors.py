"""Tensors for the tests of `attend`: files, and attention the plain way in NumPy's float64."""

import json
import struct

import pytest

numpy = pytest.importorskip("numpy")

CODES = {"F16": "<f2", "BF16": "<u2", "F32": "<f4", "F64": "<f8", "BOOL": "|b1", "U8": "|u1", "I64": "<i8", "I32": "<i4"}


def save_safetensors(path, tensors, bfloat16=()):
    """`bfloat16` names the tensors to store as such; they are given as float32 and cut."""
    header, data = {}, b""
    for name, array in tensors.items():
        if name in bfloat16:
            code, stored = "BF16", to_bfloat16(array).tobytes()
        else:
            code = next(code for code, text in CODES.items() if numpy.dtype(text) == array.dtype)
            stored = array.tobytes()
        header[name] = {"dtype": code, "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(stored)]}
        data += stored
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    return path


def load_safetensors(path):
    """Name → array (bfloat16 as float32), and the metadata."""
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    metadata = header.pop("__metadata__", {})
    arrays = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        array = numpy.frombuffer(content[8 + length + begin : 8 + length + end], CODES[entry["dtype"]]).reshape(entry["shape"])
        arrays[name] = from_bfloat16(array) if entry["dtype"] == "BF16" else array
    return arrays, metadata


def to_bfloat16(array):
    """The upper halves of float32 numbers, cut."""
    return (array.astype("<f4").view("<u4") >> 16).astype("<u2")


def from_bfloat16(array):
    return (array.astype("<u4") << 16).view("<f4")


def normal(seed, *shape, dtype="float32"):
    return numpy.random.default_rng(seed).standard_normal(shape).astype(dtype)


def attention(q, k, v, seen=None, bias=None, scale=None, cap=None):
    """(B, H, T, d), (B, H_kv, S, d), (B, H_kv, S, d_v) → weights, context; `seen` is boolean (…, T, S), `bias` is added."""
    q, k, v = (x.astype("float64") for x in (q, k, v))
    k, v = (numpy.repeat(x, q.shape[1] // x.shape[1], axis=1) for x in (k, v))
    scores = q @ k.swapaxes(-1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if cap is not None:
        scores = cap * numpy.tanh(scores / cap)
    if bias is not None:
        scores = scores + bias
    if seen is not None:
        scores = numpy.where(seen, scores, -numpy.inf)
    top = scores.max(-1, keepdims=True, initial=-numpy.inf)
    powers = numpy.exp(scores - numpy.where(numpy.isfinite(top), top, 0))
    total = powers.sum(-1, keepdims=True)
    weights = numpy.divide(powers, total, out=numpy.zeros_like(powers), where=total != 0)
    return weights, weights @ v


def band(T, S, offset=0, left=-1, right=-1):
    """Which keys the queries see in a window; causal is right=0."""
    i, j = numpy.arange(T)[:, None] + offset, numpy.arange(S)[None, :]
    return ((left < 0) | (j >= i - left)) & ((right < 0) | (j <= i + right))


def close(computed, expected, rtol=2e-5, atol=2e-6):
    numpy.testing.assert_allclose(computed, expected, rtol, atol)
