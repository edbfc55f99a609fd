#!/usr/bin/python3
"""Puts attn-cli under pressure: failing system calls, short reads and writes, limits, signals, hostile inputs.

Whatever happens, a run ends in time, with an allowed exit code and one line on standard error when it failed; its output file is
the old one or the whole new one; nothing is left behind; and what it gives with exit code 0 is right.
"""

import argparse
import os
import signal
import sys
import tempfile
import time
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from random import Random, SystemRandom

import errors
import hostile
import interruptions
import limits
import short
import streams
from ground import Ground

KINDS = {
    "errors": errors,
    "short": short,
    "slow": streams.Slow,
    "leaving": streams.Leaving,
    "memory": limits.Memory,
    "processes": limits.Processes,
    "filesize": limits.FileSize,
    "signals": interruptions.AnyTime,
    "signals-at-calls": interruptions.AtCall,
    "signals-elsewhere": interruptions.Elsewhere,
    "shrinking": interruptions.Shrinking,
    "arrays": hostile.Arrays,
    "folders": hostile.Folders,
    "stacks": hostile.Stacks,
    "groups": hostile.Groups,
}
SHARES = {"errors": 3, "signals-at-calls": 2}  # of the time: these have an end, the others go on as long as there is time
GROUND = None
NOTHING_RAN = 77  # what ctest takes for skipped


@dataclass
class Tally:
    cases: int = 0
    failures: int = 0
    seconds: float = 0.0
    complete: bool = False  # no case is left


def run_case(kind, case):
    """What is wrong, and how long it took."""
    began = time.monotonic()
    return KINDS[kind].run(GROUND, *case), time.monotonic() - began


def stand_on(ground):
    """The one ground of all cases that a process runs: it is large, so that it does not travel with each."""
    global GROUND
    GROUND = ground


def describe(options, kind, case, found):
    command = f"{sys.argv[0]} --program {options.program} --case '{' '.join((kind, *case))}'"
    print(f"FAILED: {'; '.join(found)}\n    {command}", flush=True)


def rounds(ground, kinds, options, tallies):
    """Cases of all kinds until time is up: next comes the kind that has had the least of its share."""
    waiting = {kind: KINDS[kind].cases(ground, Random(f"{options.seed} {kind}")) for kind in kinds}
    end = time.monotonic() + options.seconds
    while waiting and time.monotonic() < end:
        kind = min(waiting, key=lambda kind: tallies[kind].seconds / SHARES.get(kind, 1))
        began = time.monotonic()
        case = next(waiting[kind], None)
        tallies[kind].seconds += time.monotonic() - began
        if case is None:
            tallies[kind].complete = True
            del waiting[kind]
        else:
            yield kind, case


def torture(ground, kinds, options):
    """Runs cases side by side. Returns the tally of each kind."""
    tallies = {kind: Tally() for kind in kinds}
    running = {}
    told = set()  # some cases come again and again

    def collect(most):
        while len(running) > most:
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                kind, case = running.pop(future)
                found, seconds = future.result()
                tally = tallies[kind]
                tally.cases += 1
                tally.failures += bool(found)
                tally.seconds += seconds
                if found and (kind, case) not in told:
                    told.add((kind, case))
                    describe(options, kind, case, found)

    with ProcessPoolExecutor(options.jobs, initializer=stand_on, initargs=(ground,)) as pool:
        for kind, case in rounds(ground, kinds, options, tallies):
            running[pool.submit(run_case, kind, case)] = (kind, case)
            collect(options.jobs - 1)
        collect(0)
    return tallies


def show(tallies):
    print(f"{'kind':18}{'cases':>8}{'failures':>10}{'seconds':>9}")
    for kind, tally in tallies.items():
        print(f"{kind:18}{tally.cases:8}{tally.failures:10}{tally.seconds:9.0f}{'  every case' * tally.complete}")
    print(f"{'all':18}{sum(t.cases for t in tallies.values()):8}{sum(t.failures for t in tallies.values()):10}")


def usable(kinds):
    """Those that can run here; says which cannot, and why."""
    reasons = {kind: KINDS[kind].missing() for kind in kinds}
    for kind, reason in reasons.items():
        if reason:
            print(f"SKIPPED {kind}: {reason}")
    return [kind for kind in kinds if not reasons[kind]]


def parsed():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="build/check/attn-cli")
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(1 << 32))
    parser.add_argument("--seconds", type=float, default=60, help="in which cases are begun (default 60)")
    parser.add_argument("--kinds", default=",".join(KINDS), help="by commas; default all: %(default)s")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), help="cases at once (default %(default)s)")
    parser.add_argument("--case", help="one case, as a failure prints it")
    parser.add_argument("--keep", metavar="FOLDER", help="leave the files of --case there")
    parser.add_argument("--times", type=int, default=1, help="try --case so often, until it fails: some are races")
    options = parser.parse_args()
    options.kinds = options.kinds.split(",")
    for kind in set(options.kinds) - set(KINDS):
        parser.error(f"no such kind: {kind}; allowed: {', '.join(KINDS)}")
    return options


def stand_on_own_feet():
    """What was ignored or closed to others by whoever started this is not for the program."""
    os.umask(0o022)
    for name in interruptions.SIGNALS:
        if signal.getsignal(signal.Signals[name]) == signal.SIG_IGN:
            signal.signal(signal.Signals[name], signal.SIG_DFL)


def run_again(ground, options):
    """The one case that was asked for; whether something is wrong."""
    kind, *case = options.case.split()
    if options.keep:
        Path(options.keep).mkdir(parents=True, exist_ok=True)
        ground.keep_in(options.keep)
    stand_on(ground)
    found = next((found for _ in range(options.times) if (found := run_case(kind, case)[0])), [])
    print("\n".join(found) or "as it should be")
    return bool(found)


def main():
    options = parsed()
    stand_on_own_feet()
    with tempfile.TemporaryDirectory(prefix="attn-torture-") as folder:
        ground = Ground(options.program, folder)
        ground.prepare()
        if options.case:
            return run_again(ground, options)
        print(f"seed {options.seed}, {options.seconds:g} s, {options.program}", flush=True)
        kinds = usable(options.kinds)
        if not kinds:
            return NOTHING_RAN
        tallies = torture(ground, kinds, options)
        show(tallies)
        return any(tally.failures for tally in tallies.values())


if __name__ == "__main__":
    sys.exit(main())
