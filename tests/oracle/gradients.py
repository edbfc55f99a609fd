#!/usr/bin/env python3
"""attn-cli attend --grad against loops over rows in float64 NumPy, over random tensors and options.

The cases are those of attend_options.py, with dropout in some and a gradient of lse in others. The formulas are derived from one
row: x_j = cap·tanh(scale·q·k_j / cap) + what is added, w = softmax(x) with the sink as one more score, D = w·kept/(1 - p),
context = Σ D_j·v_j. They are held to central differences of that row in --differences.

usage: gradients.py ATTN_CLI [CASES] [FIRST_SEED] [--differences]
Exits 77 (skipped) without NumPy.
"""
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

try:
    import numpy
except ImportError as missing:
    print(missing)
    sys.exit(77)

import attend_options
from attend_options import HALF_A_PLACE, OPTIONS, read, rounded, save

FLOAT32_AT_LEAST = ("delta", "dmask", "dsinks", "dscale")
PAIRS = ("dweights", "dmasked_scores", "dscores")
REACH = {"float32": 1e-5, "float64": 1e-11}  # of the largest number of an array


class Case(attend_options.Case):
    def __init__(self, seed):
        super().__init__(OPTIONS[seed % len(OPTIONS)], seed)
        self.how["weights_dtype"] = None
        normal = lambda *shape: rounded(self.draw.standard_normal(shape), self.type)
        self.grad = normal(self.B, self.H, self.T, self.d_v)
        self.ones = self.chance(0.1)
        if self.ones:
            self.grad = numpy.ones_like(self.grad)
        self.grad_lse = rounded(self.draw.standard_normal((self.B, self.H, self.T)), "float32") if self.chance(0.3) else None
        self.p, self.kept = 0.0, None
        if not self.packed and self.chance(0.3):
            self.p = self.number(0, 7) / 8
            self.kept = self.draw.random((self.pick(1, self.B), self.H, self.T, self.P + self.S)) >= self.p

    def row(self, place, keys, added, seen, sink):
        """x, w, D, context and lse of a query."""
        b, h, i = place
        k, v = (x[b, h // (self.H // self.H_kv), keys] for x in (self.k, self.v))
        products = k @ self.q[b, h, i] if len(k) else numpy.zeros(0)
        capped = self.how["scale"] * products
        cap = self.how["softcap"]
        if cap:
            capped = cap * numpy.tanh(capped / cap)
        x = numpy.where(seen, capped + added, -numpy.inf)
        largest = max([sink, *x])
        if largest == -numpy.inf:
            return products, capped, numpy.zeros(len(k)), numpy.zeros(len(k)), -numpy.inf
        e = numpy.exp(x - largest)
        total = e.sum() + numpy.exp(sink - largest)
        factor = 1.0 if self.kept is None else self.factor(place, keys)
        return products, capped, e / total, e / total * factor, largest + numpy.log(total)

    def factor(self, place, keys):
        b, h, i = place
        return self.kept[min(b, len(self.kept) - 1), h, i, keys] / (1 - self.p)

    def gradients(self):
        """Each gradient in float64, (B, H, T, …) or (B, H_kv, P+S, d)."""
        full = (self.B, self.H, self.T, self.P + self.S)
        of = {"dq": numpy.zeros_like(self.q), "dk": numpy.zeros_like(self.k), "dv": numpy.zeros_like(self.v)}
        of.update({name: numpy.zeros(full) for name in PAIRS}, delta=numpy.zeros(full[:3]), dsinks=numpy.zeros(self.H), dscale=0.0)
        self.terms_of_scale = 0.0
        for place, keys, (added, seen, sink) in self.rows():
            b, h, i = place
            g = h // (self.H // self.H_kv)
            products, capped, w, dropped, lse = self.row(place, keys, added, seen, sink)
            k, v, grad = self.k[b, g, keys], self.v[b, g, keys], self.grad[place]
            dw = v @ grad * (1.0 if self.kept is None else self.factor(place, keys))
            delta = dropped @ (v @ grad) - (0 if self.grad_lse is None else self.grad_lse[place])
            dx = w * (dw - delta)
            ds = dx if not self.how["softcap"] else dx * (1 - (capped / self.how["softcap"]) ** 2)
            of["delta"][place] = delta
            if not self.packed:
                of["dweights"][place], of["dmasked_scores"][place], of["dscores"][place] = dw, dx, ds * self.how["scale"]
            of["dq"][place] = self.how["scale"] * ds @ k
            of["dk"][b, g, keys] += self.how["scale"] * numpy.outer(ds, self.q[place])
            of["dv"][b, g, keys] += numpy.outer(dropped, grad)
            of["dscale"] += ds @ products
            self.terms_of_scale += abs(ds) @ abs(products)
            of["dsinks"][h] -= 0 if sink == -numpy.inf else numpy.exp(sink - lse) * delta
        return of

    def loss(self):
        """Σ grad·context + Σ grad_lse·lse"""
        total = 0.0
        for place, keys, (added, seen, sink) in self.rows():
            _, _, _, dropped, lse = self.row(place, keys, added, seen, sink)
            total += dropped @ self.v[place[0], place[1] // (self.H // self.H_kv), keys] @ self.grad[place]
            total += 0 if self.grad_lse is None or lse == -numpy.inf else lse * self.grad_lse[place]
        return total

    def shown(self, name, array):
        """As the program lays it out."""
        if name in ("dq", "dk", "dv", "dpast_key", "dpast_value"):
            return self.laid_out(array)
        if name in ("dsinks", "dscale"):
            return numpy.asarray(array)
        return array if self.batched else array[0] if self.headed else array[0, 0]

    def expected(self):
        of = self.gradients()
        if self.P:
            of["dpast_key"], of["dpast_value"] = of["dk"][:, :, : self.P], of["dv"][:, :, : self.P]
            of["dk"], of["dv"] = of["dk"][:, :, self.P :], of["dv"][:, :, self.P :]
        shown = {name: self.shown(name, array) for name, array in of.items()}
        if self.sinks is None:
            del shown["dsinks"]
        if self.packed:
            for name in PAIRS:
                del shown[name]
        if self.mask is not None and self.mask.dtype != bool:
            shape = (1,) * (4 - self.mask.ndim) + self.mask.shape
            repeated = tuple(axis for axis in range(4) if shape[axis] == 1)
            shown["dmask"] = of["dmasked_scores"].sum(repeated, keepdims=True).reshape(self.mask.shape)
        return shown

    def arguments(self, folder):
        given = super().arguments(folder)
        given[given.index("--show") + 1] = "all"
        files = {} if self.ones else {"--grad": (self.laid_out(self.grad), self.type)}
        if self.grad_lse is not None:
            files["--grad-lse"] = (self.shown("delta", self.grad_lse), "float32")
        if self.kept is not None:
            files["--kept"] = (self.kept, "bool")
            given += ["--dropout", repr(self.p)]
        if files:
            save(folder / "grad.safetensors", files)
        given += [part for name in files for part in (name, f"{folder}/grad.safetensors:{name}")]
        return given + (["--grad-ones"] if self.ones else [])

    def type_of(self, name):
        own = {"dk": self.type, "dmask": "float32", "dsinks": "float32"}.get(name, self.type)
        type = self.out_type if self.out_type != self.type or self.option == "out_dtype" else own
        return "float32" if name in FLOAT32_AT_LEAST and type in ("float16", "bfloat16") else type


def check(binary, seed):
    case = Case(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = [binary, "attend", *case.arguments(folder)]
        done = subprocess.run([*command, "--threads", "1"], capture_output=True, check=False)
        if done.returncode != 0:
            return [f"exit code {done.returncode}: {done.stderr.decode(errors='replace')}"]
        first = (folder / "out.safetensors").read_bytes()
        results = read(folder / "out.safetensors")
        if seed % 5 == 0:
            subprocess.run([*command, "--threads", "2"], capture_output=True, check=True)
            if (folder / "out.safetensors").read_bytes() != first:
                return ["two threads give other bytes"]
    expected, failures = case.expected(), []
    missing = set(expected) ^ {name for name in results if name.startswith("d") and name != "dropped_weights"}
    if missing:
        failures.append(f"missing or unexpected: {sorted(missing)}")
    for name, exact in expected.items():
        computed, type = results.get(name, (numpy.zeros(0), ""))
        if computed.shape != exact.shape or type != case.type_of(name):
            failures.append(f"{name}: {type} {computed.shape}, expected {case.type_of(name)} {exact.shape}")
        elif exact.size:
            largest = case.terms_of_scale if name == "dscale" else abs(exact).max()  # a sum of terms that cancel
            scores = 12 if case.slopes is not None else 4 if case.alibi else 1  # of a hundred are rounded by as much
            reach = scores * REACH[case.arithmetic()] * max(largest, 1) + HALF_A_PLACE[type] * abs(exact) + (2.0**-24 if type == "float16" else 0)
            far = ~(abs(computed - exact) <= reach)
            if type == "float16":
                far &= abs(exact) < 65504
            if far.any():
                worst = numpy.unravel_index(numpy.argmax(abs(computed - exact)), exact.shape)
                failures.append(f"{name}{list(map(int, worst))}: {computed[worst]!r}, expected {exact[worst]!r}; {far.sum()} of {far.size}")
    return failures


def differences(seed):
    """How far the formulas are from central differences of the loss, at a few numbers of each input."""
    case = Case(seed)
    exact, failures = case.gradients(), []
    for name, array in (("dq", case.q), ("dk", case.k), ("dv", case.v), ("dsinks", case.sinks)):
        for _ in range(3 if array is not None and array.size else 0):
            at = tuple(case.number(0, size - 1) for size in array.shape)
            if array[at] == -numpy.inf:
                continue
            step, own, sides = 1e-5, array[at], []
            for sign in (1, -1):
                array[at] = own + sign * step
                sides.append(case.loss())
            array[at] = own
            slope = (sides[0] - sides[1]) / (2 * step)
            if abs(slope - exact[name][at]) > 1e-6 * max(1, abs(slope)):
                failures.append(f"{name}{at}: {exact[name][at]}, by differences {slope}")
    return failures


def main():
    by_differences = "--differences" in sys.argv
    binary, *numbers = [word for word in sys.argv[1:] if word != "--differences"]
    cases, first = [int(word) for word in numbers] + [200, 0][len(numbers) :]
    seeds = range(first, first + cases)
    judge = differences if by_differences else lambda seed: check(binary, seed)
    with ThreadPoolExecutor(1 if by_differences else 2) as pool:
        failures = [f"seed {seed}: {each}" for seed, found in zip(seeds, pool.map(judge, seeds)) for each in found]
    print("\n".join(failures) if failures else f"{cases} runs of attend --grad agree with NumPy")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
