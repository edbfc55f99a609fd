#!/usr/bin/env python3
"""Time from fork to exit of `run "Life is short, eat dessert first" --json`, beside an empty dynamic process, in turns.

usage: startup.py ATTN_CLI [RUNS [COMMAND …]]

RUNS (300) is how often each of the two is run. COMMAND (/bin/true) is what the program is compared with. Prints medians and
their ratio, and what the program is linked with.
"""

import os
import statistics
import subprocess
import sys
import time

SENTENCE = "Life is short, eat dessert first"


def seconds_of(command, null):
    """posix_spawn to waitpid; this process is small, so that copying it costs little."""
    actions = [(os.POSIX_SPAWN_DUP2, null, 0), (os.POSIX_SPAWN_DUP2, null, 1)]
    before = time.perf_counter()
    child = os.posix_spawn(command[0], command, os.environ, file_actions=actions)
    _, status = os.waitpid(child, 0)
    elapsed = time.perf_counter() - before
    if status != 0:
        sys.exit(f"{command}: status {status}")
    return elapsed


def linked(program):
    """What the dynamic loader has to find, or that there is nothing for it to do."""
    done = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
    return [line.split()[0] for line in done.stdout.splitlines() if ".so" in line] or ["nothing: a static executable"]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    program = os.path.abspath(sys.argv[1])
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 300
    commands = {"program": [program, "run", SENTENCE, "--json"], "empty": sys.argv[3:] or ["/bin/true"]}
    times = {name: [] for name in commands}
    null = os.open(os.devnull, os.O_RDWR)
    for command in commands.values():
        seconds_of(command, null)  # from here on both are in the page cache
    for _ in range(runs):
        for name, command in commands.items():
            times[name].append(seconds_of(command, null))
    median = {name: statistics.median(values) for name, values in times.items()}
    print(f"{runs} runs each in turns, medians:")
    print(f"  run … --json       {median['program'] * 1e3:.3f} ms (least {min(times['program']) * 1e3:.3f})")
    print(f"  {commands['empty'][0]:<18} {median['empty'] * 1e3:.3f} ms (least {min(times['empty']) * 1e3:.3f})")
    print(f"  ratio              {median['program'] / median['empty']:.2f}")
    print(f"linked with: {', '.join(linked(program))}")


if __name__ == "__main__":
    main()
