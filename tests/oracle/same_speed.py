#!/usr/bin/env python3
"""Two programs on the same work, in turns: the median of NEW's processor time over OLD's.

usage: same_speed.py OLD NEW [--rounds N] [--allowed SHARE]
Exit 1 where NEW takes more than 1 + SHARE of OLD (0.03; lines and --against 0.10).
"""
import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

SENTENCE = "Life is short, eat dessert first"
SIDES = "-q in.npz:queries -k in.npz:keys -v in.npz:values"
WORK = {  # name: (command, how often in a row, share that is allowed, or --allowed)
    "start": (f"run|{SENTENCE}|--quiet", 100, None),
    "lines": ("run|--lines|lines.txt|--json|-o|/dev/null|--threads|1", 1, 0.10),
    "JSON writer": ("run|--recipe|long.recipe.json|--show|all|--json|-o|/dev/null", 1, None),
    "attend, n = 128": ("attend|" + SIDES.replace("in.npz", "128.npz").replace(" ", "|") + "|-o|y.npy|--threads|1", 40, None),
    "attend, n = 2048": ("attend|" + SIDES.replace("in.npz", "2048.npz").replace(" ", "|") + "|-o|y.npy|--threads|1", 2, None),
    "a model's sentence": (f"run|{SENTENCE}|--model|induction|--show|all|-o|/dev/null|--json", 30, None),
    "against": ("attend|" + SIDES.replace("in.npz", "128.npz").replace(" ", "|") + "|--against|wrong.npy|--threads|1", 1, 0.10),
}


def seconds(program, command, times, folder):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for _ in range(times):
        done = subprocess.run([program, *command.split("|")], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        if done.returncode not in (0, 1):
            sys.exit(f"{command}: {done.stderr.decode()}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def inputs(program, folder):
    def made(*arguments):
        subprocess.run([program, *arguments, "--quiet"], cwd=folder, check=True, stdout=subprocess.DEVNULL)

    words = [f"w{i % 200}" for i in range(2048)]
    for n in (128, 2048):
        made("run", " ".join(words[:n]), "--heads", "8", "--embed-dim", "512", "--show", "queries,keys,values", "-o", f"{n}.npz")
    made("run", " ".join(words[:400]), "--heads", "4", "-o", "long.recipe.json")
    made("attend", *SIDES.replace("in.npz", "128.npz").split(), "--scale", "none", "-o", "wrong.npy")
    (folder / "lines.txt").write_text(f"{SENTENCE}\nthe cat sat on the mat and the dog lay by the door\n" * 5000)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1])
    parser.add_argument("old", type=os.path.abspath)
    parser.add_argument("new", type=os.path.abspath)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--allowed", type=float, default=0.03)
    given = parser.parse_args()
    slow = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        inputs(given.old, folder)
        for work, (command, times, share) in WORK.items():
            ratios = []
            for i in range(given.rounds):
                order = (given.old, given.new) if i % 2 else (given.new, given.old)
                took = {program: seconds(program, command, times, folder) for program in order}
                ratios.append(took[given.new] / took[given.old])
            middle = statistics.median(ratios)
            print(f"{work:20} {middle:.3f}  ({min(ratios):.3f} to {max(ratios):.3f}; old {took[given.old] / times * 1000:.1f} ms)", flush=True)
            slow += [work] if middle > 1 + (given.allowed if share is None else share) else []
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
