#!/usr/bin/env python3
"""Judges `attn-cli attend --grad … --against`: plants mistakes of a backward in random cases and counts what it says.

The backward is NumPy's, step by step over the forward of mistaken_attention.py; a mistake replaces a step. What mistakes.py makes
of the forward is planted on both sides, and in the weights that the backward makes again. A file holds dq, dk and dv and what else
there is, or one of them. A case counts where the mistake can be told apart (planted_mistakes.py says when): then it must be named,
or stand in the tie that is stated. Fails below 99 % named, at a wrong name, and where an honest backward is accused of more than its
roundings: one in float32 that rounds what kernels round.

usage: mistaken_gradients.py ATTN_CLI [--shapes N] [--seed S] [--honest N] [--only NAME] [--each N] [--blind]
Exits 77 (skipped) without NumPy, or 1 when ATTN_REQUIRE_LIVE=1 says that it must be there.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from live import skip

try:
    import numpy as np
except ImportError as missing:
    skip(missing)

import mistakes as forwards
from attend_options import save
from mistaken_attention import INF, Attention, rounded
from mistaken_attention import Case as ForwardCase
from planted_mistakes import ANSWERS, FEW, TOLERANCE, UNIT, asked, counted, distances, passes, quiet, report

LN2 = np.log(2)
HALVES = ("bfloat16", "float16")


class Case(ForwardCase):
    """With a gradient of the context, in some cases one of lse, and dropout."""

    def __init__(self, seed, long=False):
        super().__init__(seed, long)
        draw = np.random.default_rng(seed + 6 * 10**9)
        self.grad = rounded(draw.normal(size=(self.B, self.H, self.T, self.dv)), self.type)
        self.grad_lse = rounded(draw.normal(size=(self.B, self.H, self.T)), "float32") if draw.random() < 0.3 else None
        self.p = float(draw.choice([0.25, 0.5])) if draw.random() < 0.3 else 0.0
        self.kept = draw.random((self.B, self.H, self.T, self.S)) >= self.p if self.p else None
        self.alone = draw.choice(["dq", "dk", "dv"]) if draw.random() < 0.2 else None

    def rows(self, x):
        """(B, H, T) in the dimensions that the queries have."""
        return x.reshape(x.shape[4 - len(self.layout):]) if self.layout in ("HTd", "Td") else x

    def files(self):
        """What the options name, each with its type."""
        types = {"--mask": "float32", "--sinks": "float32", "--alibi-slopes": "float32", "--lengths": "int64", "--segments": "int64"}
        given = {name: (x, "bool" if x.dtype == bool else types.get(name, self.type)) for name, x in self.tensors().items()}
        given["--grad"] = (self.stored(self.grad), self.type)
        if self.grad_lse is not None:
            given["--grad-lse"] = (self.rows(self.grad_lse), "float32")
        if self.p:
            given["--kept"] = (self.kept, "bool")
        return given

    def arguments(self, folder):
        given = self.files()
        save(folder / "in.safetensors", given)
        options = [part for name in given for part in (name, f"in.safetensors:{name}")]
        return self.options() + options + (["--dropout", str(self.p)] if self.p else [])


class Backward:
    """Right at first. Each method is a step, which a mistake may replace."""

    def __init__(self, case, mistake=None, forward=None, again=None):
        self.case, self.forward = case, Attention(case, forward or {})
        self.again = Attention(case, again) if again is not None else None
        self.caps = case.softcap and "cap" not in {**(forward or {}), **(again or {})}
        for step, function in (mistake or {}).items():
            setattr(self, step, function.__get__(self))

    # ---- the weights

    def scores(self, of):
        q, k, v = of.inputs()
        K, V = of.share(k), of.share(v, of.value_head)
        products = q @ K.swapaxes(2, 3)
        x = of.scores(products)
        return q, K, V, products * of.scale(), x, np.broadcast_to(of.seen(), x.shape)

    def log_sum(self, of, x, seen, sunk=True):
        if sunk and self.case.sinks is not None and "sink" not in of.__dict__:
            sink = np.broadcast_to(self.case.sinks[:, None, None], x.shape[:3] + (1,))
            x, seen = np.concatenate([x, sink], -1), np.concatenate([seen, sink > -INF], -1)
        largest = of.largest(x, seen, -1)
        return (largest + np.log(np.where(seen, np.exp(x - largest), 0).sum(-1, keepdims=True)))[..., 0]

    def read(self, lse, x, seen):
        return lse

    def weights(self, W, empty):
        return W

    def drop(self, x):
        return x * self.case.kept / (1 - self.case.p) if self.case.p else x

    dropped_weights = dropped_dweights = drop

    # ---- the softmax

    def dweights(self, dO, V):
        return dO @ V.swapaxes(2, 3)

    def context(self, O):
        return O

    def dots(self, dO, O):
        return (dO * O).sum(-1)

    def dlse(self):
        return 0 if self.case.grad_lse is None else self.case.grad_lse

    def delta(self, delta, empty):
        return delta

    def softmax_gradient(self, W, dW, delta):
        return W * (dW - delta[..., None])

    def slope(self, s):
        return 1 - np.tanh(s / self.case.softcap) ** 2

    def dscores(self, ds):
        return ds

    # ---- the sums

    def over_keys(self, ds):
        return ds

    def over_queries(self, x):
        return x

    def into(self, head):
        return (self.again or self.forward).key_head(head)

    def counts(self, head):
        return 1.0

    def product(self, A, B):
        return A @ B

    def heads(self, x):
        summed = np.zeros((x.shape[0], self.case.Hk, *x.shape[2:]))
        for head in range(self.case.H):
            summed[:, self.into(head)] += self.counts(head) * x[:, head] if self.counts(head) else 0
        return summed

    def factors(self, scale):
        """Of dq, dk, dv and dsinks."""
        return scale, scale, 1.0, 1.0

    def dmask(self, dx, ds, scale):
        return dx

    def onto_mask(self, x):
        mask = self.case.mask
        repeated = tuple(axis for axis, size in enumerate((1,) * (4 - mask.ndim) + mask.shape) if size == 1 and axis < 3)
        return self.sum_of(x[..., :self.case.inside], repeated).reshape(mask.shape)

    def sum_of(self, x, axes):
        return x.sum(axes, keepdims=True)

    def written(self, arrays):
        return arrays

    def gradients(self):
        c, of = self.case, self.forward
        q, K, V, scaled, x, seen = self.scores(of)
        W = of.sunk(*of.hidden(x, seen))
        lse = self.log_sum(of, x, seen)
        empty = ~seen.any(-1) & (c.sinks is None)
        own = self.context_of(W, V)
        if self.again or "read" in self.__dict__:
            of = self.again or of
            q, K, V, scaled, x, seen = self.scores(of)
            lse = self.read(lse, x, seen)
            W = np.where(seen & np.isfinite(lse)[..., None], np.exp(x - np.where(np.isfinite(lse), lse, 0)[..., None]), 0)
        W = self.weights(W, empty)
        dW = self.dropped_dweights(self.dweights(c.grad, V))
        delta = self.delta(self.dots(c.grad, self.context(own)) - self.dlse(), empty)
        dx = self.softmax_gradient(W, dW, delta)
        ds = self.dscores(dx * self.slope(scaled) if self.caps else dx)
        scale = of.scale()
        for_q, for_k, for_v, for_sinks = self.factors(scale)
        dk = for_k * self.heads(self.product(self.over_queries(ds).swapaxes(2, 3), q))
        dv = for_v * self.heads(self.product(self.over_queries(self.dropped_weights(W)).swapaxes(2, 3), c.grad))
        made = {"dq": for_q * self.product(self.over_keys(ds), K), "dk": dk[:, :, c.P:], "dv": dv[:, :, c.P:]}
        made = {name: c.stored(array) for name, array in self.written(made).items()}
        if c.P:
            for name, array in (("dpast_key", dk), ("dpast_value", dv)):
                made[name] = array[:, :, :c.P].transpose(0, 2, 1, 3) if c.four else array[:, :, :c.P]
        if c.sinks is not None:
            share = np.exp(c.sinks[:, None] - np.where(np.isfinite(lse), lse, INF)) * ("sink" not in of.__dict__)
            made["dsinks"] = -for_sinks * (share * delta).sum((0, 2))
        if c.mask is not None and c.mask.dtype != bool:
            made["dmask"] = self.onto_mask(self.dmask(dx, ds, scale))
        return {c.alone: made[c.alone]} if c.alone else made

    def context_of(self, W, V):
        return self.drop(W) @ V


# ---- mistakes --------------------------------------------------------------------------------------------------------------

def times(dq=None, dk=None, dv=None, dsinks=None):
    """Factors in place of the right ones; each of the scale."""
    given = (dq, dk, dv, dsinks)
    return {"factors": lambda self, scale: tuple(right if other is None else other(scale)
                                                 for right, other in zip((scale, scale, 1.0, 1.0), given))}


def delta_with(change):
    return {"delta": lambda self, delta, empty: change(self, delta, empty)}


def narrow(self):
    return min(self.case.d, self.case.dv)


def summed_by(**steps):
    return steps


def group(self):
    return self.case.H // self.case.Hk


def rounded_step(step, type):
    right = {"context": lambda self, x: x, "dweights": Backward.dweights, "dscores": Backward.dscores,
             "dropped_weights": Backward.drop, "dropped_dweights": Backward.drop}[step]
    return {step: lambda self, *x: rounded(right(self, *x), type)}


def swapped(self, arrays):
    return {name: forwards.swapped_back(self.case, array) for name, array in arrays.items()}


def exchanged(a, b):
    return {"written": lambda self, arrays: {**arrays, a: arrays[b], b: arrays[a]}}


def last_of(self, x, axes):
    for axis in axes:
        x = x[tuple(slice(-1, None) if other == axis else slice(None) for other in range(x.ndim))]
    return x


one, negated = (lambda scale: 1.0), (lambda scale: -scale)
twice, log2e, ln2 = (lambda scale: scale**2), (lambda scale: scale / LN2), (lambda scale: scale * LN2)
undivided = lambda self, x: x * self.case.kept
undropped = lambda self, x: x
always = lambda case: True
grouped = lambda case: case.H > case.Hk
in_sinks = lambda case: case.sinks is not None
in_numbers = lambda case: case.mask is not None and case.mask.dtype != bool
dropping = lambda case: case.p > 0
scales = lambda case: case.factor != 1
wide = lambda case: case.dv > case.d
masked = lambda case: forwards.kinds_of_masks(case) > 0
capping = lambda case: case.softcap


def maximum(self, lse, x, seen):
    """Of what each row sees, the sink among it."""
    largest = np.where(seen, x, -INF).max(-1)
    return largest if self.case.sinks is None else np.maximum(largest, self.case.sinks[:, None])



LIST = {  # what it replaces, and where it can be made
    "dq-scale-missing": (times(dq=one), scales), "dk-scale-missing": (times(dk=one), scales),
    "dq-dk-scale-missing": (times(dq=one, dk=one), scales), "dq-scale-twice": (times(dq=twice), scales),
    "dk-scale-twice": (times(dk=twice), scales), "dq-dk-scale-twice": (times(dq=twice, dk=twice), scales),
    "dv-scaled": (times(dv=lambda scale: scale), scales),
    "dq-dk-scale-of-values": ({"factors": lambda self, scale: (self.case.dv**-0.5, self.case.dv**-0.5, 1.0, 1.0)},
                              lambda case: case.d != case.dv and not case.factor),
    "dq-log2e": (times(dq=log2e), always), "dk-log2e": (times(dk=log2e), always), "dq-dk-log2e": (times(dq=log2e, dk=log2e), always),
    "dq-ln2": (times(dq=ln2), always), "dk-ln2": (times(dk=ln2), always),
    "gradients-negated": (times(negated, negated, lambda scale: -1.0, lambda scale: -1.0), always),
    "dq-dk-negated": (times(negated, negated), always),
    "dq-negated": (times(dq=negated), always), "dk-negated": (times(dk=negated), always),
    "dv-negated": (times(dv=lambda scale: -1.0), always),
    "delta-missing": (delta_with(lambda self, delta, empty: 0 * delta), always),
    "delta-added": (delta_with(lambda self, delta, empty: -delta), always),
    "delta-first-head": (delta_with(lambda self, delta, empty: delta[:, :1].repeat(self.case.H, 1)), lambda case: case.H > 1),
    "delta-d-k": ({"dots": lambda self, dO, O: (dO * O)[..., :narrow(self)].sum(-1)}, wide),
    "delta-undropped": ({"context_of": lambda self, W, V: W @ V}, dropping),
    "dlse-ignored": ({"dlse": lambda self: 0}, lambda case: case.grad_lse is not None),
    "dlse-added": ({"dlse": lambda self: -self.case.grad_lse}, lambda case: case.grad_lse is not None),
    "softmax-diagonal": ({"softmax_gradient": lambda self, W, dW, delta: W * (1 - W) * dW}, always),
    "softmax-unweighted": ({"softmax_gradient": lambda self, W, dW, delta: np.where(W != 0, dW - delta[..., None], 0)}, always),
    "dweights-d-k": ({"dweights": lambda self, dO, V: dO[..., :narrow(self)] @ V[..., :narrow(self)].swapaxes(2, 3)}, wide),
    "lse-as-base-2": ({"read": lambda self, lse, x, seen: lse * LN2}, always),
    "weights-undivided": ({"read": maximum}, always),
    "empty-rows-nan-weights": ({"weights": lambda self, W, empty: np.where(empty[..., None], np.nan, W)}, masked),
    "empty-rows-nan-delta": (delta_with(lambda self, delta, empty: np.where(empty, np.nan, delta)), masked),
    "softcap-slope-missing": ({"slope": lambda self, s: 1.0}, capping),
    "softcap-slope-uncapped": ({"slope": lambda self, s: 1 - (s / self.case.softcap) ** 2}, capping),
    "softcap-slope-undivided": ({"slope": lambda self, s: 1 - (self.case.softcap * np.tanh(s / self.case.softcap)) ** 2},
                                lambda case: case.softcap and case.softcap != 1),
    "softcap-slope-unsquared": ({"slope": lambda self, s: 1 - np.tanh(s / self.case.softcap)}, capping),
    "group-mean": ({"counts": lambda self, head: 1 / group(self)}, grouped),
    "group-last": ({"counts": lambda self, head: float(head % group(self) == group(self) - 1)}, grouped),
    "group-first": ({"counts": lambda self, head: float(head % group(self) == 0)}, grouped),
    "group-interleaved": ({"into": lambda self, head: head % self.case.Hk}, lambda case: case.H > case.Hk > 1),
    "gradients-viewed": ({"written": swapped}, lambda case: case.H > 1 and not case.P),
    "dk-dv-exchanged": (exchanged("dk", "dv"), lambda case: case.d == case.dv and not case.P),
    "dq-dk-exchanged": (exchanged("dq", "dk"), lambda case: case.T == case.S and not case.P and not grouped(case)),
    "dropout-dweights-undivided": ({"dropped_dweights": undivided}, dropping),
    "dropout-dweights-missing": ({"dropped_dweights": undropped}, dropping),
    "dropout-dv-undivided": ({"dropped_weights": undivided}, dropping),
    "dropout-dv-missing": ({"dropped_weights": undropped}, dropping),
    "dropout-undivided": ({"dropped_weights": undivided, "dropped_dweights": undivided}, dropping),
    "dropout-missing": ({"dropped_weights": undropped, "dropped_dweights": undropped}, dropping),
    "dsinks-missing": (times(dsinks=lambda scale: 0.0), in_sinks), "dsinks-negated": (times(dsinks=lambda scale: -1.0), in_sinks),
    "dsinks-scaled": (times(dsinks=lambda scale: scale), lambda case: in_sinks(case) and scales(case)),
    "dmask-last": ({"sum_of": last_of}, in_numbers),
    "dmask-mean": ({"sum_of": lambda self, x, axes: x.mean(axes, keepdims=True)}, in_numbers),
    "dmask-scaled": ({"dmask": lambda self, dx, ds, scale: ds * scale}, in_numbers),
}
LIST["dweights-delta-d-k"] = ({**LIST["dweights-d-k"][0], **LIST["delta-d-k"][0]}, wide)
for half in HALVES:
    LIST |= {f"{name}-{half}": (rounded_step(step, half), always) for name, step in
             {"context": "context", "dv-weights": "dropped_weights", "dweights": "dropped_dweights", "dscores": "dscores"}.items()}


def tiles_of_keys(tile, last):
    """The last or first tile of keys that a tile of queries comes to."""
    def over_keys(self, ds):
        right = Attention(self.case)
        p, j = right.places()
        seen = np.broadcast_to(right.near(p, j) & (j < right.ends()), (self.case.B, 1, self.case.T, self.case.S))
        kept = np.zeros(seen.shape, bool)
        for first in range(0, self.case.T, tile):
            for b in range(self.case.B):
                some = np.flatnonzero(seen[b, 0, first:first + tile].any(0))
                if some.size:
                    kept[b, 0, first:first + tile] = j // tile == some[-1 if last else 0] // tile
        return np.where(kept, ds, 0)
    return {"over_keys": over_keys}


def queries_of(tile, kept):
    """Sums over some queries; kept(case, i, p, j)."""
    def over_queries(self, x):
        p, j = Attention(self.case).places()
        return np.where(kept(self.case, np.arange(self.case.T)[:, None], p, j), x, 0)
    return {"over_queries": over_queries}


def before(delta, tile):
    return np.concatenate([np.zeros(delta.shape[:2] + (tile,)), delta], -1)[..., :delta.shape[-1]]


TILED = {
    "delta-stale": lambda tile: delta_with(lambda self, delta, empty: delta[..., np.arange(self.case.T) % tile]),
    "delta-tile-before": lambda tile: delta_with(lambda self, delta, empty: before(delta, tile)),
    "dq-tile-last": lambda tile: tiles_of_keys(tile, last=True),
    "dq-tile-first": lambda tile: tiles_of_keys(tile, last=False),
    "dq-tile-dropped": lambda tile: {"over_keys": lambda self, ds: np.where(
        np.arange(self.case.S) < (Attention(self.case).ends() - 1) // tile * tile, ds, 0)},
    "dk-dv-tile-last": lambda tile: queries_of(tile, lambda case, i, p, j: i >= (case.T - 1) // tile * tile),
    "dk-dv-tile-dropped": lambda tile: queries_of(tile, lambda case, i, p, j: i < (case.T - 1) // tile * tile),
    "dk-dv-diagonal-dropped": lambda tile: queries_of(tile, lambda case, i, p, j: p // tile != j // tile),
    "dk-dv-begun-late": lambda tile: queries_of(tile, lambda case, i, p, j: i >= -(-np.maximum(j // (tile // 2) * (tile // 2) - (p - i), 0) // tile) * tile),
}
for name, made in TILED.items():
    for tile in (16, 32, 64, 128, 256):
        several = (lambda case, tile=tile: case.S > tile) if name.startswith("dq") else (lambda case, tile=tile: case.T > tile)
        need = (lambda case, several=several: several(case) and case.causal) if name.endswith(("diagonal-dropped", "begun-late")) else several
        LIST[f"{name}-{tile}"] = (made(tile), need)

# Of the forward: what only changes the scale, who sees whom, and which heads meet.
TAKEN = [name for name in forwards.MISTAKES
         if name in ("no-scale", "softcap-missing", "mask-missing", "mask-inverted", "mask-transposed", "heads-interleaved", "heads-first",
                     "sink-missing") or name.startswith(("scale-", "causal-", "window-", "lengths-", "segments-", "tile-last-dropped",
                                                         "tile-diagonal", "tile-causal"))]
TAKEN = [name for name in TAKEN if name not in ("causal-as-packed", "lengths-zeros")]
LSE = {
    "backward-lse-base-2": ({"read": lambda self, lse, x, seen: lse / LN2}, always),
    "backward-lse-no-maximum": ({"read": lambda self, lse, x, seen: np.where(np.isfinite(lse), lse - maximum(self, lse, x, seen), lse)}, always),
    "backward-lse-no-sink": ({"read": lambda self, lse, x, seen: self.log_sum(self.forward, x, seen, sunk=False)}, in_sinks),
}


def possible(case):
    """Each mistake that can be made, as arguments of Backward."""
    made = {name: (mistake,) for name, (mistake, need) in {**LIST, **LSE}.items() if need(case)}
    for name in forwards.possible_somehow(case):
        if name in TAKEN and forwards.whole_tile(case, name):
            made[name] = (None, forwards.MISTAKES[name])
            if name != "sink-missing":
                made["backward-" + name] = (None, None, forwards.MISTAKES[name])
    return made


def rounds(name):
    return name.endswith(HALVES)


# ---- judging ---------------------------------------------------------------------------------------------------------------

def type_of(case, name):
    return "float32" if name in ("dsinks", "dmask") else case.type


def gaps(case, file, made):
    """As planted_mistakes.gaps() of all arrays together."""
    worst, squares, beyond, count, gross = 0.0, 0.0, 0, 0, False
    for name, x in file.items():
        if not x.size:
            continue
        gap, off = distances(type_of(case, name), x, made[name])
        worst, squares, count = max(worst, gap.max()), squares + (gap**2).sum(), count + x.size
        beyond, gross = beyond + (gap > 1).sum(), gross or off
    return worst, np.sqrt(squares / max(count, 1)), 1.0 if gross else beyond / max(count, 1)


class Question:
    """A case in a folder, with what every mistake makes of it."""

    def __init__(self, seed, folder, honest=False):
        self.case, self.folder, self.draw = Case(seed), folder, np.random.default_rng(seed + 10**9)
        self.arguments = self.case.arguments(folder)
        self.right = Backward(self.case).gradients()
        self.results = {} if honest else {name: Backward(self.case, *how).gradients() for name, how in possible(self.case).items()}

    def file(self, made):
        """What a kernel stores that sums in float32."""
        noise = lambda x: x * (1 + UNIT * self.draw.normal(size=x.shape))
        return {name: rounded(noise(x), type_of(self.case, name)) for name, x in made.items()}

    def twins(self, file, planted):
        mine, near = np.maximum(gaps(self.case, file, self.results[planted]), 0.01), set()
        for name, made in {**self.results, "": self.right}.items():
            worst, usual, share = gaps(self.case, file, made)
            close = worst < max(1, 10 * mine[0]) or ((rounds(name) or rounds(planted)) and usual < max(1, 10 * mine[1]))
            if mine[1] > 1:
                close = share < max(FEW, 10 * mine[2])
            if name != planted and close:
                near.add(name)
        return near

    def ask(self, program, files):
        """Of each file the names that the program gives, and whether it lets it pass. All in one call."""
        paths = {f"mine{at}.safetensors": name for at, name in enumerate(files)}
        for path, name in paths.items():
            save(self.folder / path, {array: (x, type_of(self.case, array)) for array, x in files[name].items()})
        command = [program, "attend", *self.arguments, "--show", ",".join(self.right), "--json", "--threads", "1", "--against", *paths]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1):
            raise RuntimeError(f"seed {self.case.seed}: exit code {done.returncode}: {done.stderr}")
        reports = {name: [] for name in files}
        for line in map(json.loads, done.stdout.splitlines()):
            reports[paths[line["file"]]].append(line)
        return {name: self.heard(of_file) for name, of_file in reports.items()}

    def heard(self, reports):
        named = reports[0]["together"]["named"] if len(reports) > 1 else [each["mistakes"] for each in reports[0].get("named", [])]
        names, through = [name for (name,) in named], all(report["agrees"] for report in reports)
        notes = through and (any(rounds(name) and name.endswith(self.case.type) for name in names)
                             or any(report.get("verdict") == "likely" for report in reports))
        return [] if notes else names, through


def verdict(question, planted, file, twins, names, through):
    if through and not names:
        return "passes"
    if planted in names:
        heard = "named" if len(names) == 1 else "tie"
    else:
        heard = "nothing" if not names else "unstated tie" if set(names) & twins else "wrong"
    if heard in ("wrong", "unstated tie") or (heard != "named" and not twins):
        print(f"seed {question.case.seed} ({question.case.type}): {planted}: {heard}: {names[:6]}; as near: {sorted(twins)[:6]}", file=sys.stderr)
    return f"twin: {heard}" if twins else f"passes: {heard}" if through else heard


def judge(seed, wanted, program):
    """What is heard of each of the wanted in one case."""
    heard, files = [], {}
    with tempfile.TemporaryDirectory() as folder:
        question = Question(seed, Path(folder))
        for planted in filter(wanted, question.results):
            file = question.file(question.results[planted])
            worst, usual, share = gaps(question.case, file, question.results[planted])
            if gaps(question.case, file, question.right)[0] <= 1:
                heard.append(((planted,), "agrees"))
            elif worst > 1 and not (rounds(planted) and (usual <= 1 or share <= FEW)):
                heard.append(((planted,), "noise"))
            else:
                files[planted] = file
        answers = question.ask(program, files) if files else {}
        heard += [((planted,), verdict(question, planted, file, question.twins(file, planted), *answers[planted]))
                  for planted, file in files.items()]
    return heard


def blind(seed, program):
    """What --blind-spots says wrongly of the tolerance: each mistake is made, rounded to the types and held against the right
    gradients. Numbers within a hundredth of a limit decide nothing."""
    with tempfile.TemporaryDirectory() as folder:
        question = Question(seed, Path(folder))
        command = [program, "attend", *question.arguments, "--show", ",".join(question.right), "--blind-spots", "--strict", "--json"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    unseen, wrong, made, case = {spot["mistake"] for spot in json.loads(done.stdout)["unseen"]}, [], 0, question.case
    for name, arrays in question.results.items():
        if all(np.allclose(x, question.right[array], 1e-9, 1e-12, equal_nan=True) for array, x in arrays.items()):
            continue  # it may be of an option that is not there
        share = 0.0
        for array, x in arrays.items():
            type = type_of(case, array)
            rtol, atol = TOLERANCE[type]
            x, right = rounded(x, type), rounded(question.right[array], type)
            off = np.where((x == right) | (np.isnan(x) & np.isnan(right)), 0, abs(x - right) / (atol + rtol * abs(right)))
            share = max(share, np.nan_to_num(off, nan=INF).max(initial=0))
        made += 1
        if abs(share - 1) > 0.01 and (share <= 1) != (name in unseen):
            wrong.append(name)
            print(f"seed {seed} ({case.type}): {name} {'passes, and is not listed' if share <= 1 else 'does not pass, and is listed'}: {share:.3g}", file=sys.stderr)
    return made, wrong


class Honest(Backward):
    """Numbers in float32, summed tile by tile or in splits; what kernels round is rounded to the type, or is not."""

    def __init__(self, case, draw):
        super().__init__(case)
        self.tile = int(draw.choice([16, 32, 64, 128])) if draw.random() < 0.7 else None
        self.splits = int(draw.choice([1, 2, 4]))
        self.rounding = {step: draw.random() < share for step, share in
                         {"context": 0.8, "dscores": 0.8, "weights": 0.8, "dweights": 0.2}.items()}

    def makes(self, name):
        """Whether it is a rounding of this kernel, which may be farther off than the plain computation: of one key, dq is 0."""
        step, _, type = name.rpartition("-")
        return type == self.case.type and self.rounding.get(step.removeprefix("dv-"), False)

    def rounds(self, step, x):
        return rounded(x, self.case.type) if self.rounding[step] else x.astype("f4").astype(float)

    def context(self, O):
        return self.rounds("context", O)

    def dropped_weights(self, W):
        return self.rounds("weights", self.drop(W))

    def dropped_dweights(self, dW):
        return self.rounds("dweights", self.drop(dW))

    def dscores(self, ds):
        return self.rounds("dscores", ds)

    def product(self, A, B):
        """Each tile is added in float32; or splits, each summed by itself, at the end."""
        size = A.shape[-1]
        step = self.tile or max(-(-size // self.splits), 1)
        total = np.zeros(A.shape[:-1] + B.shape[-1:], "f4")
        for at in range(0, size, step):
            total += A[..., at:at + step].astype("f4") @ B[..., at:at + step, :].astype("f4")
        return total.astype(float)

    def heads(self, x):
        return super().heads(x.astype("f4").astype(float))


def accused(seed, program):
    """Whether an honest backward is called wrong, or a mistake's."""
    with tempfile.TemporaryDirectory() as folder:
        question = Question(seed, Path(folder), honest=True)
        kernel = Honest(question.case, np.random.default_rng(seed + 5 * 10**9))
        names, through = question.ask(program, {"mine": question.file(kernel.gradients())})["mine"]
        names = [] if any(map(kernel.makes, names)) else names
        if names or not through:
            print(f"seed {seed} ({question.case.type}): an honest backward {'is accused: ' + str(names[:6]) if names else 'differs'}", file=sys.stderr)
        return bool(names) or not through


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--shapes", type=int, default=100, help="every mistake in each of so many shapes")
    parser.add_argument("--each", type=int, help="at most so many cases of each mistake in which it can be told apart")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--honest", type=int, default=1000)
    parser.add_argument("--only", action="append", help="the mistakes whose names begin so")
    parser.add_argument("--blind", action="store_true", help="what passes a test, against what --blind-spots says")
    given = parser.parse_args()
    program, heard = str(Path(given.program).resolve()), {}
    prefixes = tuple(given.only or [""])
    wanted = lambda name: name.startswith(prefixes) and not (given.each and counted(heard.get((name,), Counter())) >= given.each)
    with ThreadPoolExecutor(2, initializer=quiet) as pool:
        if given.blind:
            answers = list(pool.map(lambda seed: blind(seed, program), range(given.seed, given.seed + given.shapes)))
            wrong = sum(len(names) for _, names in answers)
            print(f"{sum(made for made, _ in answers)} mistakes made in {given.shapes} cases; {wrong} wrong")
            return 1 if wrong else 0
        wrong = sum(pool.map(lambda seed: accused(seed, program), range(given.seed, given.seed + given.honest)))
        for answers in pool.map(lambda seed: judge(seed, wanted, program), range(given.seed, given.seed + given.shapes)):
            for planted, answer in answers:
                heard.setdefault(planted, Counter())[answer] += 1
    report(heard, 0.99)
    total = sum(heard.values(), Counter())
    tied = sum(count for answer, count in total.items() if answer.startswith("twin: ") and ("tie" in answer or "named" in answer))
    print(f"told apart {counted(total)}, named {total['named']}; {asked(total) - counted(total)} have twins, {tied} of them named or tied; "
          f"{wrong} of {given.honest} honest backwards accused")
    return 0 if passes(total, 0.99) and wrong == 0 else 1


if __name__ == "__main__":
    quiet()
    sys.exit(main())
