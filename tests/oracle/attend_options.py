#!/usr/bin/env python3
"""The options of attn-cli attend against loops over rows in float64 NumPy, over random tensors.

For each option so many cases that have it, and of the others what chance gives: grouped heads, other value sizes, T and S of their
own, every alignment, masks, windows, softcaps, caches, all types. Every number of context, lse, entropy and weights has to agree.
Of --weights-dtype the result may be as far from the exact one as the rounding allows; on the portable path it has to be the one
that is computed with rounded weights, but for some that were halfway, and not the exact one. Some cases run again with two
threads, and have to give the same bytes.

usage: attend_options.py ATTN_CLI [CASES_PER_OPTION] [FIRST_SEED]
Exits 77 (skipped) without NumPy.
"""
import json
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import numpy
except ImportError as missing:
    print(missing)
    sys.exit(77)

OPTIONS = ["layout", "alibi", "segments", "cu_seqlens", "lengths", "sinks", "lse", "weights_dtype", "out_dtype", "alibi_slopes"]
CODES = {"float16": "F16", "bfloat16": "BF16", "float32": "F32", "float64": "F64", "int32": "I32", "int64": "I64", "bool": "BOOL"}
STORED = {"F16": "<f2", "BF16": "<u2", "F32": "<f4", "F64": "<f8", "I32": "<i4", "I64": "<i8", "BOOL": "|b1"}
HALF_A_PLACE = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 2.0**-24, "float64": 2.0**-53}
ISAS = ["portable"]  # and, in main, what this machine has besides
ARITHMETIC = {"float32": (2e-5, 4e-6), "float64": (1e-11, 1e-12)}  # rtol, atol


# ---- types and files -------------------------------------------------------------------------------------------------------


def bfloat16_bits(array):
    bits = numpy.asarray(array, "<f4").view("<u4").astype(numpy.uint64)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("<u2")


def from_bits(bits):
    return (bits.astype("<u4") << 16).view("<f4").astype(float)


def rounded(array, dtype):
    """In float64. A double reaches bfloat16 by way of float32, which is once too often for one in 2^29 numbers."""
    return from_bits(bfloat16_bits(array)) if dtype == "bfloat16" else numpy.asarray(array).astype(dtype).astype(float)


def save(path, tensors):
    """name → (array, type)"""
    header, data = {}, b""
    for name, (array, dtype) in tensors.items():
        code = CODES[dtype]
        stored = (bfloat16_bits(array) if dtype == "bfloat16" else numpy.asarray(array).astype(STORED[code])).tobytes()
        header[name] = {"dtype": code, "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(stored)]}
        data += stored
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def read(path):
    """name → (array in float64, type)"""
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    types = {code: dtype for dtype, code in CODES.items()}
    tensors = {}
    for name, entry in json.loads(content[8 : 8 + length]).items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            stored = numpy.frombuffer(content[8 + length + begin : 8 + length + end], STORED[entry["dtype"]]).reshape(entry["shape"])
            tensors[name] = (from_bits(stored) if entry["dtype"] == "BF16" else stored.astype(float), types[entry["dtype"]])
    return tensors


# ---- attention, a row at a time --------------------------------------------------------------------------------------------


def slopes_of(heads):
    """As the program of the ALiBi paper finds them: 2^(-8i/n) for n = 2^k heads; otherwise those of the next lower n, and then
    every other one of 2n."""
    if heads & (heads - 1) == 0:
        return [2.0 ** (-8.0 * (i + 1) / heads) for i in range(heads)]
    lower = 1 << (heads.bit_length() - 1)
    return slopes_of(lower) + slopes_of(2 * lower)[0::2][: heads - lower]


def attend_row(q, k, v, scores_added, seen, how, sink):
    """q (d), k (S, d), v (S, d_v), what is added to the scores and whether a key is seen (S) → the row's stages."""
    s = k @ q * how["scale"] if len(k) else numpy.zeros(0)
    if how["softcap"]:
        s = how["softcap"] * numpy.tanh(s / how["softcap"])
    s = numpy.where(seen, s + scores_added, -numpy.inf)
    largest = max(sink, s.max(initial=-numpy.inf))
    if largest == -numpy.inf:
        empty = how["empty"]
        return {"weights": numpy.full(len(s), empty), "context": numpy.full(v.shape[1], empty), "lse": -numpy.inf, "entropy": empty,
                "rounded": numpy.full(v.shape[1], empty), "reach": numpy.zeros(v.shape[1])}
    p = numpy.exp(s - largest)
    total = p.sum() + numpy.exp(sink - largest)
    w = p / total
    row = {"weights": w, "context": w @ v, "lse": largest + numpy.log(total), "entropy": -(w[w > 0] * numpy.log(w[w > 0])).sum()}
    row.update(rounded=row["context"], reach=numpy.zeros(v.shape[1]))
    if how["weights_dtype"]:
        row["rounded"] = rounded(p, how["weights_dtype"]) @ v / total
        row["reach"] = w @ abs(v) * HALF_A_PLACE[how["weights_dtype"]]
        row["reach"] += (p > 0) @ abs(v) / total * (2.0**-25 if how["weights_dtype"] == "float16" else 0)  # denormal powers
    return row


class Case:
    """Tensors and options, drawn from a seed."""

    def __init__(self, option, seed):
        self.option, self.seed = option, seed
        self.draw = numpy.random.default_rng([OPTIONS.index(option), seed])
        self.packed = option == "cu_seqlens"
        self.type = self.pick("float16", "bfloat16", "float32", "float32", "float64")
        self.batched = not self.packed and self.chance(0.6)
        self.headed = self.packed or self.batched or self.chance(0.7)
        self.B = self.number(1, 3) if self.batched else 1
        self.H_kv = self.number(1, 4) if self.headed else 1
        self.H = self.H_kv * self.number(1, 3) if self.headed else 1
        self.d, self.d_v = self.number(1, 40), self.number(1, 40)
        self.bshd = self.packed or self.has("layout", 0.2)
        self.alibi = self.has("alibi", 0.15)
        self.how = {
            "scale": self.d**-0.5,
            "softcap": self.number(1, 20) / 2 if self.chance(0.25) else None,
            "weights_dtype": self.pick("float16", "bfloat16") if self.has("weights_dtype", 0) else None,
            "empty": numpy.nan if self.chance(0.2) else 0.0,
        }
        self.given_scale = self.chance(0.25)
        if self.given_scale:
            self.how["scale"] = self.number(-8, 8) / 8
        self.causal, self.align = self.chance(0.4), self.pick("offset", "offset", "top-left", "bottom-right")
        self.window = (self.number(-1, 9), self.number(-1, 9)) if self.chance(0.25) else None
        self.out_type = self.pick(*HALF_A_PLACE) if self.has("out_dtype", 0.1) else self.type
        self.isa = ISAS[self.number(0, 2 * len(ISAS) - 1) // 2 if self.chance(0.7) else 0]
        self.sizes()
        self.fill()

    def number(self, low, high):
        return int(self.draw.integers(low, high + 1))

    def chance(self, share):
        return bool(self.draw.random() < share)

    def pick(self, *choices):
        return choices[self.number(0, len(choices) - 1)]

    def has(self, option, share):
        """Always draws, so that a case does not change with the options of others."""
        return self.chance(share) or self.option == option

    def length(self):
        return self.number(1, 20) if self.chance(0.75) else self.number(60, 150)

    def sizes(self):
        self.lengths = self.sequences = self.segments = None
        self.P = 0
        if self.packed:
            count = self.number(0, 5)
            queries = [self.number(0, 30) if self.chance(0.8) else self.number(60, 90) for _ in range(count)]
            keys = [self.number(0, 30) for _ in range(count)] if self.chance(0.5) else queries
            self.own_keys = keys is not queries
            self.sequences = [numpy.concatenate([[0], numpy.cumsum(each)]).astype(int) for each in (queries, keys)]
            self.T, self.S = sum(queries), sum(keys)
            return
        self.T, self.S = self.length(), self.length()
        self.P = self.length() if self.chance(0.7 if self.option == "lengths" else 0.25) else 0
        if self.has("lengths", 0.15):
            self.lengths = self.draw.integers(0, self.P + self.S + 1, self.B)

    def fill(self):
        normal = lambda *shape: rounded(self.draw.standard_normal(shape), self.type)
        self.q = normal(self.B, self.H, self.T, self.d)
        self.k, self.v = normal(self.B, self.H_kv, self.P + self.S, self.d), normal(self.B, self.H_kv, self.P + self.S, self.d_v)
        self.sinks = None
        if self.has("sinks", 0.2):
            self.sinks = rounded(self.draw.standard_normal(self.H) * self.number(0, 4), "float32")
            self.sinks[self.draw.random(self.H) < 0.1] = -numpy.inf
        self.mask = None
        keys = self.P + self.S
        if not self.packed and self.chance(0.3):
            shape = self.pick((self.T, keys), (1, keys), (self.B, 1, self.T, keys), (self.H, 1, keys))
            hidden = self.draw.random(shape) < 0.3
            self.mask = ~hidden if self.chance(0.5) else numpy.where(hidden, -numpy.inf, self.draw.standard_normal(shape).astype("<f4"))
        if not self.packed and self.has("segments", 0.15):
            labels = self.draw.integers(-3, 4, (self.B, keys))
            if self.chance(0.6):
                labels.sort(axis=1)
            self.segments = labels[0] if self.chance(0.4) else labels
        self.slopes = None
        if self.has("alibi_slopes", 0.05):
            self.alibi = False
            rows = len(self.sequences[0]) - 1 if self.packed else self.B
            self.slopes = rounded(self.draw.standard_normal((rows, self.H) if self.chance(0.6) else self.H), "float32")

    def offset(self, b):
        if self.lengths is not None and self.align != "top-left":
            return int(self.lengths[b]) - self.T
        return {"offset": self.P, "top-left": 0, "bottom-right": self.P + self.S - self.T}[self.align]

    def added(self, b, h, count, i, offset, sequence):
        """To the scores of query i of a sequence by itself, and whether it sees a key, of so many keys; and its sink."""
        keys, p = numpy.arange(count), i + offset
        seen = numpy.ones(count, bool)
        if self.causal:
            seen &= keys <= p
        if self.window:
            left, right = self.window
            seen &= ((left < 0) | (keys >= p - left)) & ((right < 0) | (keys <= p + right))
        added = numpy.zeros(count)
        if self.lengths is not None:
            seen &= keys < self.lengths[b]
        if self.segments is not None:
            labels = self.segments if self.segments.ndim == 1 else self.segments[b]
            seen &= labels == labels[p] if 0 <= p < count else False
        if self.mask is not None:
            row = numpy.broadcast_to(self.mask, (self.B, self.H, self.T, count))[b, h, i]
            seen &= row if row.dtype == bool else row != -numpy.inf
            added = added if row.dtype == bool else numpy.where(row == -numpy.inf, 0, row)
        if self.alibi:
            added = added - slopes_of(self.H)[h] * abs(p - keys)
        if self.slopes is not None:
            own = self.slopes if self.slopes.ndim == 1 else self.slopes[sequence if self.packed else b]
            added = added - own[h] * abs(p - keys)
        return added, seen, -numpy.inf if self.sinks is None else self.sinks[h]

    def rows(self):
        """Of each query its place, the places of its keys, and what is added to its scores."""
        for b in range(self.B):
            for h in range(self.H):
                for sequence, (begin, end, first, last) in enumerate(self.parts()):
                    own = self.offset(b) if not self.packed else last - first - end + begin if self.align == "bottom-right" else 0
                    for i in range(begin, end):
                        yield (b, h, i), slice(first, last), self.added(b, h, last - first, i - begin, own, sequence)

    def compute(self):
        """stage → (B, H, T, …) in float64; with packed sequences without weights."""
        rows = {}
        for (b, h, i), keys, (added, seen, sink) in self.rows():
            k, v = (x[b, h // (self.H // self.H_kv), keys] for x in (self.k, self.v))
            for stage, numbers in attend_row(self.q[b, h, i], k, v, added, seen, self.how, sink).items():
                rows.setdefault(stage, []).append(numbers)
        if self.packed:
            rows.pop("weights", None)
        return {stage: numpy.array(each).reshape(self.B, self.H, self.T, *numpy.shape(each[0])) for stage, each in rows.items()}

    def parts(self):
        """Of each sequence its queries' begin and end, and its keys'."""
        if not self.packed:
            return [(0, self.T, 0, self.P + self.S)]
        queries, keys = self.sequences
        return list(zip(queries[:-1], queries[1:], keys[:-1], keys[1:]))

    # ---- as the program is called ----------------------------------------------------------------------------------------------

    def laid_out(self, array):
        """(B, H, T, …) without what the case does not have, positions before heads where the layout says so."""
        array = array.swapaxes(1, 2) if self.bshd and self.headed else array
        return array if self.batched else array[0] if self.headed else array[0, 0]

    def arguments(self, folder):
        integers = self.pick("int32", "int64")
        files = {"--queries": (self.laid_out(self.q), self.type)}
        for name, array in (("key", self.k), ("value", self.v)):
            files[f"--{name}s"] = (self.laid_out(array[:, :, self.P :]), self.type)
            if self.P:
                files[f"--past-{name}"] = (self.laid_out(array[:, :, : self.P]), self.type)
        for name, array, dtype in (("--lengths", self.lengths, integers), ("--segments", self.segments, integers), ("--sinks", self.sinks, "float32"),
                                   ("--alibi-slopes", self.slopes, "float32")):
            if array is not None:
                files[name] = (array, dtype)
        if self.mask is not None:
            files["--mask"] = (self.mask, "bool" if self.mask.dtype == bool else "float32")
        if self.packed:
            files["--cu-seqlens"] = (self.sequences[0], integers)
            if self.own_keys:
                files["--cu-seqlens-k"] = (self.sequences[1], integers)
        save(folder / "in.safetensors", files)
        given = [part for name in files for part in (name, f"{folder}/in.safetensors:{name}")]
        given += ["--show", "lse,entropy,context" + ("" if self.packed else ",weights"), "-o", str(folder / "out.safetensors")]
        given += ["--layout", "bshd"] if self.bshd and (not self.packed or self.chance(0.5)) else []
        given += ["--scale", repr(self.how["scale"])] if self.given_scale else []
        given += ["--softcap", repr(self.how["softcap"])] if self.how["softcap"] else []
        given += ["--weights-dtype", self.how["weights_dtype"]] if self.how["weights_dtype"] else []
        given += ["--empty-rows", "nan"] if numpy.isnan(self.how["empty"]) else []
        given += ["--causal"] if self.causal else []
        given += ["--window", "%d,%d" % self.window] if self.window else []
        given += ["--alibi"] if self.alibi else []
        given += ["--out-dtype", self.out_type] if self.out_type != self.type or self.option == "out_dtype" else []
        placed = self.causal or self.window or self.alibi or self.slopes is not None or self.segments is not None
        given += ["--causal-align", self.align] if placed else []
        return given + ["--isa", self.isa]

    def arithmetic(self):
        return "float64" if "float64" in (self.type, self.out_type) else "float32"

    def close(self, computed, expected, more=0.0):
        rtol, atol = ARITHMETIC[self.arithmetic()]
        atol *= 4 if self.alibi else 12 if self.slopes is not None else 1  # a score of 100 is rounded by as much
        reach = (rtol + HALF_A_PLACE[self.out_type]) * abs(expected) + atol + more
        if self.out_type == "float16":
            reach = reach + 2.0**-25
        with numpy.errstate(invalid="ignore"):
            return (abs(computed - expected) <= reach) | (computed == expected) | (numpy.isnan(computed) & numpy.isnan(expected))


def check(binary, option, seed):
    """What is wrong; and of --weights-dtype on the portable path how many numbers are those of rounded weights, and of exact ones."""
    case = Case(option, seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = [binary, "attend", *case.arguments(folder)]
        done = subprocess.run([*command, "--threads", "1"], capture_output=True, check=False)
        if done.returncode != 0:
            return [f"exit code {done.returncode}: {done.stderr.decode(errors='replace')}"], (0, 0, 0)
        first = (folder / "out.safetensors").read_bytes()
        results = read(folder / "out.safetensors")
        failures = []
        if seed % 10 == 0:
            subprocess.run([*command, "--threads", "2"], capture_output=True, check=True)
            if (folder / "out.safetensors").read_bytes() != first:
                failures.append("two threads give other bytes")
    expected = case.compute()
    counts = (0, 0, 0)
    if case.T == 0:
        return failures, counts
    for stage, (computed, dtype) in results.items():
        exact = expected[stage]
        shown = case.laid_out(exact) if stage == "context" else exact if case.batched else exact[0] if case.headed else exact[0, 0]
        type = "float32" if stage == "lse" and case.out_type in ("float16", "bfloat16") else case.out_type
        if dtype != type or computed.shape != shown.shape:
            failures.append(f"{stage}: {dtype} {computed.shape}, expected {type} {shown.shape}")
            continue
        rounds = stage == "context" and case.how["weights_dtype"]
        good = case.close(computed, shown, case.laid_out(expected["reach"]) if rounds else 0.0)
        if not good.all():
            worst = numpy.unravel_index(numpy.argmin(good), good.shape)
            failures.append(f"{stage}{list(map(int, worst))}: {computed[worst]!r}, expected {shown[worst]!r}; {(~good).sum()} of {good.size}")
        if rounds and case.isa == "portable" and case.out_type in ("float32", "float64"):
            of_rounded = case.close(computed, case.laid_out(expected["rounded"]))
            counts = (int(of_rounded.sum()), int(case.close(computed, shown).sum()), computed.size)
    return failures, counts


def main():
    binary = sys.argv[1]
    cases = int(sys.argv[2]) if len(sys.argv) > 2 else 300
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    for isa in ("avx2", "avx512", "neon"):
        if subprocess.run([binary, "run", "a", "--isa", isa], capture_output=True, check=False).returncode == 0:
            ISAS.append(isa)
    failures, found = [], numpy.zeros(3, int)
    runs = [(option, seed) for option in OPTIONS for seed in range(first, first + cases)]
    for option, seed in runs:
        wrong, counts = check(binary, option, seed)
        failures += [f"{option}, seed {seed}: {each}" for each in wrong]
        found += counts
    of_rounded, of_exact, size = found
    if of_rounded < 0.97 * size or of_exact > 0.6 * size or (cases >= 50 and size == 0):
        failures.append(f"--weights-dtype: of {size} numbers {of_rounded} are those of rounded weights, {of_exact} of exact ones")
    print("\n".join(failures) if failures else f"{len(runs)} runs of attend agree with NumPy")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
