#!/usr/bin/env python3
"""Judges `attn-cli attend --against` in its other forms, as planted_mistakes.py does where one context is held against the options of
the operator: mistakes are planted in random cases, with a kernel's noise, and what the program says is counted by the same rules.

packed  sequences that lie one after another (--cu-seqlens): the mistakes of mistakes.py in each of them, and boundaries that are
        taken wrongly
lse     --show lse: the mistakes that show in the log of the sum, and those of storing it
scale   one factor of the scores that no mistake of the list has: it must be told, too
both    --show context,lse: a file with both; what gives the two of them must be named

usage: planted_forms.py ATTN_CLI FORM [--cases N] [--shapes N] [--seed S] [--correct N] [--only NAME]
Exits 77 (skipped) without NumPy, or 1 when ATTN_REQUIRE_LIVE=1 says that it must be there.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from pathlib import Path

from live import skip

try:
    import numpy as np
except ImportError as missing:
    skip(missing)

from mistaken_attention import INF, Attention, Case, rounded
from mistakes import MISTAKES, possible, possible_somehow, whole_tile
from planted_mistakes import THREADS, UNIT, Question, accused, inexact, quiet, report, passes, save, verdict


# ---- packed sequences

def between(queries, keys):
    """Where each sequence begins and ends."""
    return [(*queries[n:n + 2], *keys[n:n + 2]) for n in range(len(queries) - 1)]


def moved(by):
    inner = lambda bounds: [bounds[0], *np.clip(bounds[1:-1] + by, 0, bounds[-1]), bounds[-1]]
    return lambda queries, keys: between(inner(queries), inner(keys))


BOUNDARIES = {
    "sequences-missing": lambda queries, keys: [(0, queries[-1], 0, keys[-1])],
    "sequences-late": moved(1),
    "sequences-early": moved(-1),
    "sequences-of-queries": lambda queries, keys: between(queries, np.minimum(queries, keys[-1])),
    "sequences-first-keys": lambda queries, keys: [(a, b, 0, d - c) for a, b, c, d in between(queries, keys)],
}


class Packed(Question):
    """Options and sizes of a case, in sequences of other lengths."""
    names = [*MISTAKES, *BOUNDARIES]

    def __init__(self, seed: int, folder: Path, mistakes=None):
        case = self.case = Case(seed)
        draw = self.draw = np.random.default_rng(seed + 6 * 10**9)
        self.folder, count = folder, int(draw.integers(2, 6))
        longest = 50 if draw.random() < 0.2 else 16
        queries = draw.integers(0 if draw.random() < 0.3 else 1, longest, count)
        queries[0] += queries.sum() == 0
        keys = queries.clip(1) if draw.random() < 0.5 else draw.integers(1, longest, count)
        case.B, case.P, case.layout, case.four, case.mask, case.lengths, case.segments = 1, 0, "HTd", False, None, None, None
        case.slopes = None  # the paper's
        self.arguments = case.options()
        case.layout = "BTHd"  # heads of a position lie side by side
        self.queries, self.keys = (np.concatenate([[0], np.cumsum(lengths)]) for lengths in (queries, keys))
        self.same = (self.queries == self.keys).all()
        normal = lambda *shape: rounded(draw.normal(size=shape) * 1.5, case.type)
        case.q = normal(1, case.H, self.queries[-1], case.d)
        case.k, case.v = normal(1, case.Hk, self.keys[-1], case.d), normal(1, case.Hk, self.keys[-1], case.dv)
        self.right = self.result()
        every = self.sequences(between(self.queries, self.keys))
        self.results, self.others = {}, {}
        for name in self.names if mistakes is None else mistakes:
            if name in BOUNDARIES:
                here, clear = name != "sequences-of-queries" or not self.same, True
            else:
                here = any(name in possible_somehow(c) for c in every)
                here = here and not (case.alibi and "scores" in MISTAKES[name])  # which would forget the distances
                clear = all(name in possible(c) for c in every) and any(whole_tile(c, name) for c in every)
            if here:
                try:
                    (self.results if clear else self.others)[name,] = self.result(name)
                except (ValueError, IndexError, ZeroDivisionError):  # no keys are left, or it is none of these shapes
                    continue
        for option, x in {"-q": case.q, "-k": case.k, "-v": case.v}.items():
            self.arguments += [option, save(folder / option.strip("-"), x[0].transpose(1, 0, 2), case.type)]
        for option, bounds in {"--cu-seqlens": self.queries, "--cu-seqlens-k": self.keys}.items():
            np.save(folder / f"{option}.npy", bounds.astype("i4"))
            self.arguments += [option, f"./{option}.npy"] if option == "--cu-seqlens" or not self.same else []
        if case.sinks is not None:
            np.save(folder / "sinks.npy", case.sinks.astype("f4"))
            self.arguments += ["--sinks", "sinks.npy"]

    def sequences(self, bounds):
        """Those with queries, each a case of its own."""
        found = []
        for a, b, c, d in bounds:
            if a < b:
                own = copy(self.case)
                own.q, own.k, own.v = self.case.q[:, :, a:b], self.case.k[:, :, c:d], self.case.v[:, :, c:d]
                own.T, own.S, own.inside = int(b - a), int(d - c), int(d - c)
                found.append(own)
        return found

    def result(self, *names: str, made=lambda attention: attention.result()) -> np.ndarray:
        cut = next((BOUNDARIES[name] for name in names if name in BOUNDARIES), between)
        steps = [MISTAKES[name] for name in names if name in MISTAKES]
        parts = [made(Attention(sequence, *steps)) for sequence in self.sequences(cut(self.queries, self.keys))]
        return np.concatenate(parts, 2)[0].transpose(1, 0, 2)

    def file(self, *names: str) -> np.ndarray:
        exact = self.result(*names, made=lambda attention: inexact(attention, self.draw).result())
        return rounded(exact * (1 + UNIT * self.draw.normal(size=exact.shape)), self.case.type)


# ---- log-sum-exp

def of_sum(change):
    """What is stored; change(largest of a row, sum of the exponentials of what it sees, scores, seen)."""
    def stored(self, s, seen):
        largest = np.where(seen, s, -INF).max(-1)
        safe = np.where(largest > -INF, largest, 0)
        total = np.where(seen, self.exponential(s - safe[..., None]), 0).sum(-1)
        return np.where(largest > -INF, change(self, safe, total, s, seen), -INF)
    return {"stored_lse": stored}


def of_tiles(wrong_tile):
    """ln of a sum over tiles whose exponentials have subtracted wrong_tile(largest of the tile, so far, of all)."""
    def of(tile):
        def change(self, largest, total, s, seen):
            s, summed, far, last = np.where(seen, s, -INF), 0, np.full(largest.shape, -INF), largest
            for first in range(0, s.shape[-1], tile):
                part = s[..., first:first + tile]
                own = part.max(-1)
                far = np.maximum(far, own)
                subtracted, last = wrong_tile(own, far, largest, last)
                subtracted = np.where(subtracted > -INF, subtracted, 0)[..., None]
                summed = summed + np.where(part > -INF, np.exp(part - subtracted), 0).sum(-1)
            return last + np.log(summed)
        return of_sum(change)
    return of


def own_maximum(own, far, largest, last):
    return own, np.where(own > -INF, own, last)


LSE = {
    "lse-base-2": of_sum(lambda self, largest, total, s, seen: (largest + np.log(total)) / np.log(2)),
    "lse-no-maximum": of_sum(lambda self, largest, total, s, seen: np.log(total)),
    "lse-no-sink": {"sink": lambda self, s, seen: np.full(s.shape[:3] + (1,), -INF)},
    "softmax-one-more": of_sum(lambda self, largest, total, s, seen: largest + np.log(total + 1)),
    "softmax-zero-key": of_sum(lambda self, largest, total, s, seen: largest + np.log(total + np.exp(-largest))),
}
LSE |= {f"{name}-{tile}": of(tile) for tile in (16, 32, 64, 128) for name, of in {
    "tile-sum": of_tiles(lambda own, far, largest, last: (far, largest)),
    "tile-no-rescale": of_tiles(lambda own, far, largest, last: (far, largest)),
    "tile-correction-swapped": of_tiles(lambda own, far, largest, last: (2 * far - largest, largest)),
    "tile-own-maximum": of_tiles(own_maximum),
}.items()}
LSE |= {
    "scores-negated": of_sum(lambda self, largest, total, s, seen: np.log(np.where(seen, np.exp(-s), 0).sum(-1))),
    "heads-reversed": of_sum(lambda self, largest, total, s, seen: (largest + np.log(total))[:, ::-1]),
}
LSE |= {"mask-after-softmax": {"hidden": lambda self, s, seen: (s, np.ones(s.shape, bool))}}
# What is made on the way to the sum shows in it as it is; what of these comes later is right there.
BEFORE_THE_SUM = {"inputs", "key_head", "products", "scale", "cap", "scores", "offset", "causal", "sides", "window", "valid", "hidden", "exponential", "largest", "allowed",
                  "whole_mask", "added", "mask_end", "slopes", "distance", "by_distance", "sink", "segment", "segment_place", "same_segment", "seen", "places", "mix"}
UNSEEN = ("heads-strided-values", "heads-strided-out", "sink-after-softmax")
LSE = {**{name: steps for name, steps in MISTAKES.items() if steps.keys() <= BEFORE_THE_SUM and name not in UNSEEN},
       **{name: MISTAKES[name] for name in ("heads-interleaved", "heads-first")}, **LSE}


class SumOfRows(Attention):
    """Whose result is the log of the sum in place of the context."""

    def stored_lse(self, s, seen):
        return of_sum(lambda self, largest, total, s, seen: largest + np.log(total))["stored_lse"](self, s, seen)

    def softmax(self, s, seen, axis=-1):
        self.lse = self.stored_lse(s, seen)
        return super().softmax(s, seen, axis)

    def output(self, context):
        return self.lse[..., None]


class Lse(Question):
    names = [*LSE]

    def __init__(self, seed: int, folder: Path, mistakes=None):
        super().__init__(seed, folder, mistakes=[])
        case = self.case
        self.type, case.type = case.type, "float32"  # lse has it at least
        self.arguments += ["--show", "lse"]
        self.right = self.result()
        self.results, self.others = {}, {}
        needs = {"lse-no-sink": lambda case: case.sinks is not None}
        for name in self.names if mistakes is None else mistakes:
            own = name in needs or name.startswith("lse-")
            here = needs.get(name, lambda case: True)(case) if own else name in possible_somehow(case)
            if here and not (case.alibi and "scores" in LSE[name]):
                clear = (own or name in possible(case)) and whole_tile(case, name)
                (self.results if clear else self.others)[name,] = self.result(name)

    def stored(self, lse):
        lse = lse[..., 0]
        return lse if self.case.layout in ("BHTd", "BTHd") else lse[0] if self.case.layout == "HTd" else lse[0, 0]

    def result(self, *names: str) -> np.ndarray:
        if not hasattr(self, "arguments"):
            return super().result(*names)  # of the context
        return self.stored(SumOfRows(self.case, *(LSE[name] for name in names)).result())

    def file(self, *names: str) -> np.ndarray:
        exact = self.stored(inexact(SumOfRows(self.case, *(LSE[name] for name in names)), self.draw).result())
        return rounded(exact * (1 + UNIT * self.draw.normal(size=exact.shape)), "float32")


# ---- a free scale

def padded(case, draw):
    return 1 / np.sqrt(draw.choice([-(-case.d // size) * size for size in (8, 16, 32, 64, 128)]))


SCALES = {
    "scale-other-padded": padded,
    "scale-other-heads": lambda case, draw: 1 / np.sqrt(draw.choice([case.H, case.Hk, case.Hk * case.d])),
    "scale-other-constant": lambda case, draw: draw.choice([0.125, 2**0.5, 2, 0.0625, 0.5]),
    "scale-other-any": lambda case, draw: np.exp(draw.uniform(-3, 1)),
}


class Scale(Question):
    names = [*SCALES]

    def __init__(self, seed: int, folder: Path, mistakes=None):
        super().__init__(seed, folder, mistakes=MISTAKES if mistakes is None else [])
        self.others |= self.results
        self.results, self.scales = {}, {}
        for name in self.names if mistakes is None and not self.case.softcap else []:  # a cap is another factor
            self.scales[name] = float(SCALES[name](self.case, self.draw))
            made = self.result(name)
            ours, theirs = Attention(self.case, *self.steps(name)).result(), Attention(self.case).result()
            changed = sum(self.gaps(ours[at], theirs[at])[0] > 1 for at in np.ndindex(ours.shape[:3]))
            # A few rows may be given by anything; and no mistake of the list is to come near.
            if changed >= 16 and all(self.gaps(made, other)[0] > 20 for other in self.others.values()):
                self.results[name,] = made

    def steps(self, *names):
        return [{"scale": lambda self, c=self.scales[name]: c} if name in SCALES else MISTAKES[name] for name in names]

    def result(self, *names: str) -> np.ndarray:
        return self.case.stored(Attention(self.case, *self.steps(*names)).result())

    def file(self, *names: str) -> np.ndarray:
        self.planted = names
        exact = self.case.stored(inexact(Attention(self.case, *self.steps(*names)), self.draw).result())
        return rounded(exact * (1 + UNIT * self.draw.normal(size=exact.shape)), self.case.type)

    def told(self, named):
        """The name that was planted, where it is told with its scale."""
        if named["mistakes"] != ["scale-other"] or not self.planted:
            return tuple(named["mistakes"])
        far = abs(named["scale"] / self.scales[self.planted[0]] - 1)
        return self.planted if far < {"float32": 0.001, "float16": 0.02, "bfloat16": 0.05}[self.case.type] else ("scale-other",)


# ---- context and lse of one file

BEHIND_THE_SUM = {name for name, steps in MISTAKES.items()
                  if steps.keys() <= {"softmax", "weigh", "output", "summed", "value_head"} and name not in LSE
                  and not name.startswith(("heads-viewed", "heads-strided", "tile-", "softmax-steps", "softmax-bfloat16", "softmax-float16", "no-maximum", "empty-"))}


class Both(Lse):
    """Numbers are those of the context, then those of lse."""
    names = [*LSE, *sorted(BEHIND_THE_SUM)]

    def __init__(self, seed: int, folder: Path, mistakes=None):
        super().__init__(3 * seed, folder, mistakes=[])  # of float32
        self.arguments[-1] = "context,lse"
        self.right, self.results, possible_here = self.result(), {}, possible(self.case)
        for name in self.names if mistakes is None else mistakes:
            own = name.startswith("lse-")
            here = (name != "lse-no-sink" or self.case.sinks is not None) if own else name in possible_here
            if here and not (self.case.alibi and "scores" in LSE.get(name, {})):
                (self.results if whole_tile(self.case, name) else self.others)[name,] = self.result(name)

    def result(self, *names: str, noise=lambda attention: attention) -> np.ndarray:
        if not hasattr(self, "type"):
            return super().result(*names)
        context = noise(Attention(self.case, *(MISTAKES.get(name, {}) for name in names))).result()
        lse = noise(SumOfRows(self.case, *(LSE.get(name, {}) for name in names))).result()
        self.count = context.size
        return np.concatenate([self.case.stored(context).ravel(), self.stored(lse).ravel()])

    def file(self, *names: str) -> np.ndarray:
        exact = self.result(*names, noise=lambda attention: inexact(attention, self.draw))
        return rounded(exact * (1 + UNIT * self.draw.normal(size=exact.shape)), "float32")

    def gaps(self, file, x):
        return tuple(map(max, zip(*(super(Both, self).gaps(file[part], x[part]) for part in (slice(self.count), slice(self.count, None))))))

    def ask(self, program: str, file: np.ndarray):
        context, lse = self.case.stored(Attention(self.case).result()), self.stored(SumOfRows(self.case).result())
        arrays = {"context": file[:self.count].reshape(context.shape), "lse": file[self.count:].reshape(lse.shape)}
        np.savez(self.folder / "mine.npz", **{name: array.astype("f4") for name, array in arrays.items()})
        command = [program, "attend", *self.arguments, "--against", "mine.npz", "--json"]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1):
            raise RuntimeError(f"exit code {done.returncode}: {done.stderr}")
        together = json.loads(done.stdout.splitlines()[0])["together"]
        return [tuple(names) for names in together["named"]], done.returncode == 0


# ----

FORMS = {"packed": Packed, "lse": Lse, "scale": Scale, "both": Both}


def judge(form, seed: int, wanted: list, program: str) -> list[tuple]:
    with tempfile.TemporaryDirectory() as folder:
        question = form(seed, Path(folder))
        return [(planted, verdict(question, planted, program)) for planted in wanted if planted in question.results]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("form", choices=FORMS)
    parser.add_argument("--cases", type=int, default=20, help="of each mistake, in random shapes; at most so many shapes times 10")
    parser.add_argument("--shapes", type=int, help="every mistake in each of so many shapes, in place of --cases")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--correct", type=int, default=50, help="correct results")
    parser.add_argument("--only", action="append", help="the mistakes whose names begin so")
    given = parser.parse_args()
    program, form = str(Path(given.program).resolve()), FORMS[given.form]
    heard = {(name,): Counter() for name in form.names if not given.only or name.startswith(tuple(given.only))}
    with ThreadPoolExecutor(THREADS, initializer=quiet) as pool:
        wrong = sum(pool.map(lambda seed: accused(seed, program, form), range(given.seed, given.seed + given.correct)))
        for first in range(given.seed, given.seed + (given.shapes or 10 * given.cases), THREADS):
            wanted = [planted for planted, answers in heard.items() if given.shapes or sum(answers.values()) < given.cases]
            for answers in pool.map(lambda seed: judge(form, seed, wanted, program), range(first, first + THREADS)):
                for planted, answer in answers:
                    heard[planted][answer] += 1
    report(heard, 0.99)
    total = sum(heard.values(), Counter())
    told = total["named"]
    print(f"{given.form}: named {told}, of {sum(total.values())} that were planted; {wrong} of {given.correct} correct results accused")
    return 0 if told and passes(total, 0.99) and wrong == 0 else 1


if __name__ == "__main__":
    quiet()
    sys.exit(main())
