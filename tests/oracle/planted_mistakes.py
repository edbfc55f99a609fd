#!/usr/bin/env python3
"""Judges `attn-cli attend --against`: plants mistakes.py in random cases, with a kernel's noise, and counts what it says.

A case counts where the mistake can be told apart: its result differs from the right one by more than the tolerance of the type,
and every other mistake is ten times farther from the file. Of a mistake of rounding one number in twenty may lie beyond the
tolerance, where another order of sums tips it over. Where another is as near, the program must state the tie. In float16 and
bfloat16 a case counts where the difference from float64 is more than such a type allows; where it is not, the program may name
the mistake, and no other. --pairs plants two at once; both must be named. Fails below 99 % named (of pairs 95 %), at a wrong
name, and where a correct result is accused.

usage: planted_mistakes.py ATTN_CLI [--cases N | --shapes N] [--seed S] [--long] [--pairs] [--correct N]
                           [--only NAME]
Exits 77 (skipped) without NumPy, or 1 when ATTN_REQUIRE_LIVE=1 says that it must be there.
"""
import argparse
import itertools
import json
import struct
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

from mistaken_attention import Attention, Case, rounded
from mistakes import MISTAKES, pairs, possible, possible_somehow, rounds, whole_tile

TOLERANCE = {"float32": (1.3e-6, 1e-5), "float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5)}  # of torch.testing.assert_close
ANSWERS = ("named", "tie", "unstated tie", "wrong", "nothing")
THREADS = 2
FEW = 0.05
UNIT = 6e-8  # of float32, in which kernels of all three types sum


def save(path: Path, x: np.ndarray, type: str) -> str:
    """The file's name: .npy, or for bfloat16, which NumPy does not know, .safetensors."""
    if type != "bfloat16":
        np.save(path.with_suffix(".npy"), x.astype(type))
        return path.name + ".npy"
    bits = (x.astype("f4").view("u4") >> 16).astype("u2")
    header = json.dumps({"x": {"dtype": "BF16", "shape": list(x.shape), "data_offsets": [0, bits.nbytes]}}).encode()
    path.with_suffix(".safetensors").write_bytes(struct.pack("<Q", len(header)) + header + bits.tobytes())
    return path.name + ".safetensors"


def inexact(kernel: Attention, draw) -> Attention:
    """The same with sums in float32."""
    def with_noise(step):
        def of(*operands):
            exact = step(*operands)
            return exact * (1 + UNIT * draw.normal(size=exact.shape))
        return of
    kernel.products = with_noise(kernel.products)
    kernel.cap = with_noise(kernel.cap)  # so that the order of scores that a cap makes equal is not told apart
    return kernel


def noisy(case: Case, mistakes: list[dict], draw) -> np.ndarray:
    """What a kernel stores that sums in float32 and rounds to the type of the case."""
    exact = case.stored(inexact(Attention(case, *mistakes), draw).result())
    return rounded(exact * (1 + UNIT * draw.normal(size=exact.shape)), case.type)


def distances(type: str, file: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, bool]:
    """Of each number the difference in tolerances, infinite where NaN or an infinity stands in one of them alone; small numbers
    have the tolerance of a usual one. And whether one of them differs by more than a quarter."""
    rtol, atol = TOLERANCE[type]
    finite = file[np.isfinite(file)]
    size = np.maximum(abs(file), np.sqrt(np.mean(finite**2)) if finite.size else 0)
    off = abs(file - x)
    gap = off / (atol + rtol * size)
    gap[(file == x) | (np.isnan(file) & np.isnan(x))] = 0
    gap[np.isnan(gap)] = np.inf
    return gap, np.isinf(gap).any() or (off > size / 4).any()


def gaps(type: str, file: np.ndarray, x: np.ndarray) -> tuple[float, float, float]:
    """The largest of the distances and the root of their mean square; last the share of numbers beyond the tolerance, or 1 where
    one of them differs by more than a quarter."""
    gap, gross = distances(type, file, x)
    return gap.max(), np.sqrt(np.mean(gap**2)), 1.0 if gross else np.mean(gap > 1)


class Question:
    """A case in a folder, with what every mistake makes of it. Candidates are tuples of names."""

    def __init__(self, seed: int, folder: Path, mistakes=MISTAKES, long=False, case: Case | None = None):
        self.case, self.folder, self.draw = case or Case(seed, long), folder, np.random.default_rng(seed + 10**9)
        self.right = self.result()
        self.results = {(name,): self.result(name) for name in possible(self.case) if name in mistakes}
        self.others = {}  # that are not planted here, but may give the same
        for name in possible_somehow(self.case):
            shown = not (self.case.alibi and "scores" in MISTAKES[name])  # which would forget the distances
            if shown and (name,) not in self.results and name in mistakes:
                try:
                    self.others[name,] = self.result(name)
                except (ValueError, IndexError):  # not with one more score
                    continue
        self.arguments = self.case.options()
        for option, x in self.case.tensors().items():
            name = option.strip("-")
            if option in ("--mask", "--lengths", "--sinks", "--segments", "--alibi-slopes"):
                np.save(folder / f"{name}.npy", x.astype("f4") if x.dtype == float else x)
                name += ".npy"
            else:
                name = save(folder / name, x, self.case.type)
            self.arguments += [option, name]

    def result(self, *names: str) -> np.ndarray:
        return self.case.stored(Attention(self.case, *(MISTAKES[name] for name in names)).result())

    def file(self, *names: str) -> np.ndarray:
        """What a kernel with these mistakes stores."""
        return noisy(self.case, [MISTAKES[name] for name in names], self.draw)

    def gaps(self, file: np.ndarray, x: np.ndarray) -> tuple[float, float, float]:
        return gaps(self.case.type, file, x)

    def twins(self, file: np.ndarray, planted: tuple) -> set:
        """What else gives this file: within the tolerance, or less than ten times farther than what was planted."""
        mine = np.maximum(self.gaps(file, self.results[planted]), 0.01)
        near = set()
        for names, x in {**self.others, **self.results, (): self.right}.items():
            rounding = any(map(rounds, names + planted))
            worst, usual, share = self.gaps(file, x)
            close = worst < max(1, 10 * mine[0]) or (rounding and usual < max(1, 10 * mine[1]))
            if mine[1] > 1:  # roundings that tipped over
                close = share < max(FEW, 10 * mine[2])
            if names != planted and close:
                near.add(names)
        return near

    def add_pairs(self) -> list[tuple]:
        """Those that can be made here, of mistakes that each change something, with their results."""
        names = [name for (name,), x in self.results.items() if self.gaps(x, self.right)[0] > 1]
        self.results |= {pair: self.result(*pair) for pair in pairs(names)}
        return [pair for pair in self.results if len(pair) == 2 and all(whole_tile(self.case, name) for name in pair)]

    def told(self, named: dict) -> tuple:
        """The names of a candidate of a report."""
        return tuple(named["mistakes"])

    def ask(self, program: str, file: np.ndarray) -> tuple[list[tuple], bool]:
        """The candidates that the program names, none where it does not know, several where it states a tie; and whether it
        lets the file pass, as its type allows no more: then roundings to that type are notes, and what is likely is not told."""
        command = [program, "attend", *self.arguments, "--against", save(self.folder / "mine", file, self.case.type), "--json"]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1):
            raise RuntimeError(f"exit code {done.returncode}: {done.stderr}")
        report = json.loads(done.stdout)
        names, passes = [self.told(candidate) for candidate in report.get("named", [])], done.returncode == 0
        if "half" in report:
            half, gap = report["half"], np.abs(file - self.right)[np.isfinite(self.right)].max(initial=0)
            if gap < half["allowed"] * 0.999 and not passes and np.isfinite(file).all() or gap > half["allowed"] * 1.001 and (
                    report["agreement"] == "as-type-allows"):
                raise RuntimeError(f"seed {self.case.seed}: {report['agreement']} at {gap}, allowed {half['allowed']}")
        quiet = passes and (report.get("verdict") == "likely" or any(is_note(each, self.case.type) for each in names))
        return [] if quiet else names, passes


def verdict(question: Question, planted: tuple, program: str) -> str:
    """What the program makes of a file with these mistakes; "twin: …" where it cannot be told from another candidate."""
    file = question.file(*planted)
    if question.gaps(file, question.right)[0] <= 1:
        return "agrees"
    worst, usual, share = question.gaps(file, question.results[planted])
    if worst > 1 and not (any(map(rounds, planted)) and (usual <= 1 or share <= FEW)):
        return "noise"
    twins = question.twins(file, planted)
    names, passes = question.ask(program, file)
    said = {tuple(sorted(each)) for each in names}
    if passes and not said:
        return "passes"
    if tuple(sorted(planted)) in said:
        heard = "named" if len(said) == 1 else "tie"
    elif said:  # of two one may be hidden behind the other: then one name is right
        heard = "wrong" if not said & twins else "unstated tie" if len(planted) == 1 else "one of them"
    else:
        heard = "nothing"
    if heard in ("wrong", "unstated tie") or (heard != "named" and not twins):
        where = f"seed {question.case.seed} ({question.case.type})"
        print(f"{where}: {' and '.join(planted)}: {heard}: {sorted(said)}; as near: {sorted(twins)[:9]}", file=sys.stderr)
    return f"twin: {heard}" if twins else f"passes: {heard}" if passes else heard


def is_note(names: tuple, type: str) -> bool:
    """Whether these are roundings that the plain computation in the type has, too."""
    return all(name.removesuffix("-" + type) in ("inputs", "scores", "softmax", "exponentials", "weights", "result") for name in names)


def judge(seed: int, wanted: list, program: str, long=False) -> list[tuple]:
    """What is heard of each of the wanted in one case."""
    with tempfile.TemporaryDirectory() as folder:
        question = Question(seed, Path(folder), long=long)
        return [(planted, verdict(question, planted, program)) for planted in wanted
                if planted in question.results and whole_tile(question.case, planted[0])]


def judge_pairs(seed: int, count: int, program: str) -> list[tuple]:
    """The same for some pairs; of each mistake what is heard of those that it is in."""
    with tempfile.TemporaryDirectory() as folder:
        question = Question(seed, Path(folder))
        all_pairs = question.add_pairs()
        heard = []
        for at in question.draw.permutation(len(all_pairs)):
            answer = verdict(question, all_pairs[at], program)
            heard += [((name,), answer) for name in all_pairs[at]]
            count -= answer in ANSWERS
            if count == 0:
                break
        return heard


def quiet():
    """Overflow and 0/0 are what some of the mistakes are about."""
    np.seterr(all="ignore")


def counted(heard: Counter) -> int:
    """The cases in which a mistake can be told apart."""
    return sum(count for answer, count in heard.items() if answer in ANSWERS)


def asked(heard: Counter) -> int:
    """Those in which it cannot, too."""
    return sum(count for answer, count in heard.items() if answer not in ("agrees", "noise", "passes"))


def passes(answers: Counter, share: float) -> bool:
    blamed = any("wrong" in answer or "unstated" in answer for answer in answers)
    return answers["named"] >= share * counted(answers) and not blamed


def report(heard: dict, share: float):
    """A row for each mistake."""
    print(f"{'mistake':28}{'cases':>6}" + "".join(f"{answer:>14}" for answer in ANSWERS) + "   where others give the same")
    for (name,), answers in heard.items():
        twins = ", ".join(f"{answer[6:]} {count}" for answer, count in sorted(answers.items()) if answer.startswith("twin: "))
        print(f"{name:28}{counted(answers):6}" + "".join(f"{answers[answer]:14}" for answer in ANSWERS) + f"   {twins}"
              + " <- failed" * (not passes(answers, share)))


def accused(seed: int, program: str, form=Question) -> bool:
    """Whether a correct result, with a kernel's noise, is called a mistake's."""
    with tempfile.TemporaryDirectory() as folder:
        question = form(seed, Path(folder), mistakes=[])
        said, _ = question.ask(program, question.file())
        if said:
            print(f"seed {seed}: a correct result is accused: {said}", file=sys.stderr)
        return bool(said)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--cases", type=int, default=200, help="of each mistake; with --pairs the pairs of each of ten shapes")
    parser.add_argument("--shapes", type=int, help="every mistake in each of so many shapes, in place of --cases")
    parser.add_argument("--long", action="store_true", help="cases of 90 to 130 queries and 257 to 600 keys")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--pairs", action="store_true", help="two mistakes at once")
    parser.add_argument("--correct", type=int, default=200, help="correct results")
    parser.add_argument("--only", action="append", help="the mistakes whose names begin so")
    given = parser.parse_args()
    program = str(Path(given.program).resolve())
    heard = {(name,): Counter() for name in MISTAKES if not given.only or name.startswith(tuple(given.only))}

    def hear(answers):
        for planted, answer in answers:
            heard[planted][answer] += 1

    with ThreadPoolExecutor(THREADS, initializer=quiet) as pool:
        wrong = sum(pool.map(lambda seed: accused(seed, program), range(given.seed, given.seed + given.correct)))
        if given.pairs:
            small = (seed for seed in itertools.count(given.seed) if 100 <= Attention(Case(seed)).result().size <= 2000)
            for answers in pool.map(lambda seed: judge_pairs(seed, given.cases, program), itertools.islice(small, 10)):
                hear(answers)
        else:
            for first in range(given.seed, given.seed + (given.shapes or 10 * given.cases), THREADS):
                wanted = [planted for planted, answers in heard.items()
                          if given.shapes or (counted(answers) < given.cases and asked(answers) < 3 * given.cases)]
                for answers in pool.map(lambda seed: judge(seed, wanted, program, given.long), range(first, first + THREADS)):
                    hear(answers)
    report(heard, 0.95 if given.pairs else 0.99)
    total = sum(heard.values(), Counter())
    print(f"told apart {counted(total)}, named {total['named']}; {wrong} of {given.correct} correct results accused")
    passed = passes(total, 0.95) if given.pairs else all(passes(answers, 0.99) for answers in heard.values())
    return 0 if passed and wrong == 0 else 1


if __name__ == "__main__":
    quiet()
    sys.exit(main())
