#!/usr/bin/env python3
"""Compares the readers and writers of tensor files with live NumPy and PyTorch.

    tests/oracle/live_tensor_files.py path/to/tensor_files [first_seed]

What NumPy writes must read equal: .npy of all header versions, byte orders and element orders, .npz of every kind. What the library
writes must read equal with NumPy and, for .safetensors, with the independent reader below, and with the package `safetensors` where
it is installed. float16 must round as NumPy does and bfloat16 as PyTorch, for every pattern and every tie.

Exit 0: all equal; 1: the first difference is on stderr; 77: NumPy or PyTorch is not installed, which is a failure instead when the
environment has ATTN_REQUIRE_LIVE=1.
"""

import io
import json
import random
import struct
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from live import skip

try:
    import numpy as np
    import torch
except ImportError as missing:
    skip(missing)

try:
    import safetensors
except ImportError:
    safetensors = None

TYPES = {"float16": "f2", "float32": "f4", "float64": "f8", "bool": "b1", "int32": "i4", "int64": "i8"}
CODES = {"float16": "F16", "bfloat16": "BF16", "float32": "F32", "float64": "F64", "bool": "BOOL", "int32": "I32", "int64": "I64"}


def run(program, *arguments, given=b""):
    done = subprocess.run([program, *map(str, arguments)], input=given, capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, arguments))}: exit code {done.returncode}: {done.stderr.decode(errors='replace')}")
    return done.stdout


def read(program, path, *name):
    """What the library reads, as {name: (type, array of float64 or int64)}."""
    output, tensors = run(program, "read", path, *name), {}
    while output:
        line, output = output.split(b"\n", 1)
        kind, shape, tensor = line.decode().split(" ", 2)
        shape = tuple(int(length) for length in shape.strip("()").split(",") if length)
        size = 8 * int(np.prod(shape, dtype=object))
        tensors[tensor] = kind, np.frombuffer(output[:size], "<i8" if kind.startswith("int") else "<f8").reshape(shape)
        output = output[size:]
    return tensors


def require_equal(what, ours, theirs, kind=None):
    """Values, shape and type; NaN equals NaN, and 0.0 is not -0.0."""
    wide = theirs.astype(np.int64 if theirs.dtype.kind == "i" else np.float64)
    same = ours.shape == wide.shape and np.array_equal(ours, wide, equal_nan=wide.dtype.kind == "f")
    same = same and np.array_equal(np.signbit(ours), np.signbit(wide)) | np.isnan(wide).any()
    if not same or (kind is not None and kind != theirs.dtype.name):
        sys.exit(f"{what}: read {ours!r} ({kind}), expected {theirs!r}")


def some_array(chance, kind=None):
    kind = kind or chance.choice(list(TYPES))
    shape = tuple(chance.choice([0, 1, 1, 2, 3, 5, 17]) for _ in range(chance.choice([0, 1, 2, 2, 3, 4])))
    generator = np.random.default_rng(chance.getrandbits(32))
    count = int(np.prod(shape))
    if kind == "bool":
        array = generator.integers(0, 2, count).astype(bool)
    elif kind.startswith("int"):
        array = generator.integers(np.iinfo(kind).min, np.iinfo(kind).max, count, kind)
    else:
        array = (generator.standard_normal(count) * 10.0 ** chance.randint(-6, 4)).astype(kind)
        for special in (np.nan, np.inf, -np.inf, -0.0, 1e-7):
            if count and chance.random() < 0.2:
                array[chance.randrange(count)] = special
    array = array.reshape(shape)
    if chance.random() < 0.4:
        array = np.asfortranarray(array)
    if chance.random() < 0.4:
        array = array.astype(array.dtype.newbyteorder(">"))
    return array


def check_npy(program, folder, chance):
    array, version = some_array(chance), chance.choice([(1, 0), (2, 0), (3, 0)])
    path = folder / "array.npy"
    with path.open("wb") as file:
        np.lib.format.write_array(file, array, version=version)
    ((_, (kind, ours)),) = read(program, path).items()
    require_equal(f"{version} {array.dtype.str} {array.flags.f_contiguous}", ours, array, kind)


class Pipe(io.RawIOBase):
    """A file that cannot seek: zipfile then writes sizes behind the data."""

    def __init__(self, path):
        super().__init__()
        self.file = open(path, "wb")

    def writable(self):
        return True

    def write(self, part):
        return self.file.write(part)

    def close(self):
        self.file.close()
        super().close()


def check_npz(program, folder, chance):
    arrays = {name: some_array(chance) for name in chance.sample(["a", "b", "W_q", "ünï", "x/y", "z z"], chance.randint(0, 6))}
    path, how = folder / "arrays.npz", chance.choice(["savez", "savez_compressed", "pipe", "zipfile"])
    if how == "pipe":
        with Pipe(path) as pipe:
            np.savez_compressed(pipe, **arrays)
    elif how == "zipfile":
        with zipfile.ZipFile(path, "w") as file:
            for name, array in arrays.items():
                member = io.BytesIO()
                np.save(member, array)
                file.writestr(name + ".npy", member.getvalue(), chance.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]))
            file.comment = bytes(chance.randrange(256) for _ in range(chance.choice([0, 30])))
    else:
        getattr(np, how)(path, **arrays)
    ours = read(program, path)
    if list(ours) != list(arrays):
        sys.exit(f"{how}: names {list(ours)}, expected {list(arrays)}")
    for name, array in arrays.items():
        require_equal(f"{how} {name}", ours[name][1], array, ours[name][0])
        require_equal(f"{how} {name} alone", read(program, path, name)[name][1], array)


def read_safetensors(path):
    """An independent reader: {name: (dtype, shape, bytes)}, with the rules of the format asserted."""
    contents = path.read_bytes()
    (length,) = struct.unpack("<Q", contents[:8])
    header, data = json.loads(contents[8 : 8 + length]), contents[8 + length :]
    assert contents[8:9] == b"{" and (8 + length) % 8 == 0, "the data is aligned"
    header.pop("__metadata__", None)
    assert sorted(t["data_offsets"] for t in header.values()) == [t["data_offsets"] for t in header.values()], "sorted"
    end = 0
    for tensor in header.values():
        assert tensor["data_offsets"][0] == end, "no gaps"
        end = tensor["data_offsets"][1]
    assert end == len(data), "all of the file"
    return {name: (t["dtype"], tuple(t["shape"]), data[slice(*t["data_offsets"])]) for name, t in header.items()}


def check_writers(program, folder, chance):
    arrays = {name: some_array(chance) for name in chance.sample(["a", "b", "W_q", "ünï", 'qu"o\\te'], chance.randint(1, 5))}
    for array in arrays.values():
        if array.dtype.kind == "i":
            array[...] = array >> 12  # the converter goes through float64
    source, target = folder / "source.npz", folder / "target"
    np.savez(source, **arrays)
    run(program, "convert", source, target, "npz")
    with np.load(target) as theirs:
        for name, array in arrays.items():
            require_equal(f"np.load of {name}", array.astype("i8" if array.dtype.kind == "i" else "f8"), theirs[name], array.dtype.name)
    run(program, "convert", source, target, "npy")
    first = next(iter(arrays.values()))
    require_equal("np.load", first.astype("i8" if first.dtype.kind == "i" else "f8"), np.load(target), first.dtype.name)
    run(program, "convert", source, target, "safetensors")
    theirs = read_safetensors(target)
    package = dict(safetensors.deserialize(target.read_bytes())) if safetensors else None
    for name, array in arrays.items():
        little = array.astype(array.dtype.newbyteorder("<"), order="C")
        expected = CODES[array.dtype.name], array.shape, little.tobytes()
        if package is not None:
            found = package[name]
            if (found["dtype"], tuple(found["shape"]), bytes(found["data"])) != expected:
                sys.exit(f"safetensors: {name}: {found}, expected {expected}")
        dtype, shape, data = theirs[name]
        got = np.frombuffer(data, little.dtype).reshape(shape)
        if dtype != expected[0]:
            sys.exit(f"{name}: {dtype}, expected {expected[0]}")
        require_equal(name, got.astype("i8" if little.dtype.kind == "i" else "f8"), little)


def check_bfloat16(program, folder):
    """bfloat16 goes through .safetensors in both directions, patterns unchanged."""
    patterns = np.array([0, 0x8000, 0x3F80, 0x7F80, 0xFF80, 0x7F7F, 1, 0x4049], "<u2")
    header = json.dumps({"a": {"dtype": "BF16", "shape": [2, 4], "data_offsets": [0, 16]}}).encode()
    source, target = folder / "source.safetensors", folder / "target.safetensors"
    source.write_bytes(struct.pack("<Q", len(header)) + header + patterns.tobytes())
    run(program, "convert", source, target, "safetensors")
    if read_safetensors(target)["a"] != ("BF16", (2, 4), patterns.tobytes()):
        sys.exit("bfloat16 does not survive")
    if safetensors:
        ((_, found),) = safetensors.deserialize(target.read_bytes())
        assert (found["dtype"], found["shape"], bytes(found["data"])) == ("BF16", [2, 4], patterns.tobytes())


def require_same_patterns(what, ours, theirs, nan):
    different = np.flatnonzero((ours != theirs) & ~(nan(ours) & nan(theirs)))
    if len(different):
        at = different[0]
        sys.exit(f"{what}: {len(different)} differ, first at {at}: {ours[at]:#06x}, expected {theirs[at]:#06x}")


def check_rounding(program, chance):
    everything = np.arange(65536, dtype="<u2")
    doubles = np.random.default_rng(chance.getrandbits(32)).integers(0, 2**64, 200000, dtype=np.uint64).view("<f8")

    halves = everything.view("<f2").astype("<f8")
    ours = np.frombuffer(run(program, "widen", "float16", given=everything.tobytes()), "<f8")
    require_equal("float16", ours, halves)
    finite = np.sort(halves[np.isfinite(halves)])
    ties = (finite[:-1] + finite[1:]) / 2
    edges = np.array([65519.999999999, 65520, 65520.000000001, 65536, 1e300, 2.0**-25, 2.0**-26, 5e-324, np.inf, np.nan])
    values = np.concatenate([ties, np.nextafter(ties, np.inf), np.nextafter(ties, -np.inf), halves, edges, -edges, doubles])
    with np.errstate(over="ignore", under="ignore"):
        theirs = values.astype("<f2").view("<u2")
    ours = np.frombuffer(run(program, "round", "float16", given=values.astype("<f8").tobytes()), "<u2")
    require_same_patterns("float16", ours, theirs, lambda bits: (bits & 0x7FFF) > 0x7C00)

    wide = torch.from_numpy(everything.view("<i2").copy()).view(torch.bfloat16).to(torch.float64).numpy()
    ours = np.frombuffer(run(program, "widen", "bfloat16", given=everything.tobytes()), "<f8")
    require_equal("bfloat16", ours, wide)
    # PyTorch rounds from float32, which holds every tie and its neighbours.
    ties = ((everything.astype("<u4") << 16) + 0x8000).view("<f4")
    with np.errstate(over="ignore", invalid="ignore"):
        singles = [ties, (ties.view("<u4") + 1).view("<f4"), (ties.view("<u4") - 1).view("<f4"), doubles.astype("<f4"),
                   doubles.view("<u8").astype("<u4").view("<f4")]
    singles = np.concatenate(singles)
    theirs = torch.from_numpy(singles).to(torch.bfloat16).view(torch.int16).numpy().view("<u2")
    with np.errstate(invalid="ignore"):
        ours = np.frombuffer(run(program, "round", "bfloat16", given=singles.astype("<f8").tobytes()), "<u2")
    require_same_patterns("bfloat16", ours, theirs, lambda bits: (bits & 0x7FFF) > 0x7F80)


def main():
    program, first = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for seed in range(first, first + 200):
            chance = random.Random(seed)
            check_npy(program, folder, chance)
            check_npz(program, folder, chance)
            check_writers(program, folder, chance)
        check_bfloat16(program, folder)
        check_rounding(program, random.Random(first))
    package = f", safetensors {safetensors.__version__}" if safetensors else " (the package safetensors is not installed)"
    print(f"equal with NumPy {np.__version__}, PyTorch {torch.__version__}{package}")


if __name__ == "__main__":
    main()
