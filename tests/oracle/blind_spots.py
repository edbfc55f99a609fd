#!/usr/bin/env python3
"""Judges `attn-cli attend --blind-spots`: what it says would pass a test must be what passes when mistakes.py plants it.

In random cases each mistake that can be made there is made in NumPy, rounded to the type of the case, and held against the
right result by the tolerances that the program states; in float16 and bfloat16 also against float64 with what it says is
allowed. Numbers within a hundredth of a limit decide nothing. The same on the inputs that --suggest-input writes. Fails where
one mistake passes that the program does not list, or does not pass and is listed.

usage: blind_spots.py ATTN_CLI [--cases N] [--seed S]
Exits 77 (skipped) without NumPy, or 1 when ATTN_REQUIRE_LIVE=1 says that it must be there.
"""
import argparse
import copy
import json
import struct
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from live import skip

try:
    import numpy as np
except ImportError as missing:
    skip(missing)

from mistaken_attention import rounded
from mistakes import kinds_of_masks
from planted_mistakes import Question, is_note, quiet

DOUBT = 0.01
placed = lambda case: case.causal or case.window
has_numbers = lambda case: case.mask is not None and case.mask.dtype != bool
# What an option must be there for: without it such a mistake changes nothing, and is none of this test's.
OPTIONS = {
    "causal-added": lambda case: True, "causal-top-left": lambda case: placed(case) and case.align != "top-left",
    "causal-bottom-right": lambda case: placed(case) and case.align != "bottom-right", "causal-all-keys": placed, "causal-as-packed": placed,
    "causal-": lambda case: case.causal,
    "window-left": lambda case: case.window and case.window[0] >= 0, "window-symmetric": lambda case: case.window and case.window[0] >= 0,
    "window-right": lambda case: case.window and case.window[1] >= 0, "window-": lambda case: case.window,
    "scale-usual": lambda case: case.factor, "lengths-": lambda case: case.lengths is not None, "mask-after-softmax": kinds_of_masks, "hidden-": kinds_of_masks,
    "cache-last": kinds_of_masks, "mask-twice": has_numbers, "mask-before-scale": has_numbers, "mask-negated": has_numbers,
    "empty-rows": kinds_of_masks, "mask-": lambda case: case.mask is not None, "softcap-after-mask": kinds_of_masks,
    "tile-diagonal": lambda case: case.causal, "tile-causal": lambda case: case.causal, "segments-": lambda case: case.segments is not None,
}


def is_asked(case, name):
    """Whether the options are there that a mistake is about."""
    return next((need(case) for prefix, need in OPTIONS.items() if name.startswith(prefix)), True)



def largest(made, stated, allowed):
    """How much of what is allowed the largest difference is; infinite where NaN or an infinity stands on one side alone."""
    same = (made == stated) | (np.isnan(made) & np.isnan(stated))
    with np.errstate(all="ignore"):
        share = np.where(same, 0, np.abs(made - stated) / allowed)
    return np.nan_to_num(share, nan=np.inf).max(initial=0)


def passes(question, report, name):
    """Whether a file of this mistake passes the test; None where that is a matter of rounding."""
    case = question.case
    made, right = rounded(question.results[name,], case.type), rounded(question.right, case.type)
    shares = [largest(made, right, report["atol"] + report["rtol"] * np.abs(right))]
    if "half_allowed" in report:
        shares.append(largest(made, question.right, report["half_allowed"]))
    if any(abs(share - 1) < DOUBT for share in shares):
        return None
    return min(shares) <= 1


def read(path):
    """The tensors of a .safetensors file; floating-point numbers in float64."""
    data = path.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    types = {"F16": "f2", "BF16": "u2", "F32": "f4", "F64": "f8", "BOOL": "?", "I32": "i4", "I64": "i8"}
    tensors = {}
    for name, entry in json.loads(data[8:8 + size]).items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            x = np.frombuffer(data[8 + size + begin:8 + size + end], types[entry["dtype"]]).reshape(entry["shape"])
            x = (x.astype("u4") << 16).view("f4") if entry["dtype"] == "BF16" else x
            tensors[name] = x.astype(float) if x.dtype.kind == "f" else x
    return tensors


def with_tensors(case, tensors):
    """The same case with the inputs of a file."""
    case = copy.copy(case)
    case.q = case.loaded(tensors["queries"], case.H)
    case.k, case.v = (case.loaded(tensors[name], case.Hk) for name in ("keys", "values"))
    if case.P:
        old = [tensors[name].transpose(0, 2, 1, 3) if case.four else tensors[name].reshape(case.B, case.Hk, case.P, -1)
               for name in ("past_key", "past_value")]
        case.k, case.v = (np.concatenate(both, 2) for both in zip(old, (case.k, case.v)))
    for name, tensor in {"mask": "mask", "lengths": "lengths", "sinks": "sinks", "segments": "segments", "slopes": "alibi_slopes"}.items():
        assert (getattr(case, name) is None) == (tensor not in tensors), name
        setattr(case, name, tensors.get(tensor))
    return case


def judge(seed, program):
    """What is wrong, how many mistakes were made, and how many of them pass; on the inputs of a case and on suggested ones."""
    with tempfile.TemporaryDirectory() as folder:
        question = Question(seed, Path(folder))
        command = [program, "attend", *question.arguments, "--blind-spots", "--suggest-input", "s.safetensors", "--json"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"seed {seed}: exit code {done.returncode}: {done.stderr}")
        report = json.loads(done.stdout)
        answers = [answer_to(question, report)]
        suggested = report["suggested_input"]
        if suggested:
            case = with_tensors(question.case, read(Path(folder) / "s.safetensors"))
            answers.append(answer_to(Question(seed, Path(folder), case=case), suggested))
    return [sum(part, type(part[0])()) for part in zip(*answers)]


def answer_to(question, report):
    seed, why = question.case.seed, {spot["mistake"]: spot["why"] for spot in report["unseen"]}
    wrong, made, through = [], 0, 0
    for (name,) in question.results:
        rounds = question.case.type != "float32" and is_note((name,), question.case.type)
        if rounds or not is_asked(question.case, name):
            continue
        passed = passes(question, report, name)
        if passed is None:
            continue
        made, through = made + 1, through + passed
        if passed != (name in why):
            wrong.append(f"seed {seed} ({question.case.type}): {name} {'passes, and is not listed' if passed else 'does not pass: ' + why[name]}")
    return wrong, made, int(through)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    program = str(Path(given.program).resolve())
    with ThreadPoolExecutor(2, initializer=quiet) as pool:
        answers = list(pool.map(lambda seed: judge(seed, program), range(given.seed, given.seed + given.cases)))
    for wrong, _, _ in answers:
        print("\n".join(wrong), end="\n" if wrong else "", file=sys.stderr)
    count = sum(len(wrong) for wrong, _, _ in answers)
    print(f"{sum(made for _, made, _ in answers)} mistakes made in {given.cases} cases and on suggested inputs, {sum(through for _, _, through in answers)} pass; {count} wrong")
    return 1 if count else 0


if __name__ == "__main__":
    quiet()
    sys.exit(main())
