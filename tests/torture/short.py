"""Reads and writes that take fewer bytes than were asked for.

A case is: command, seed of how many bytes each takes.
"""

import os
import random
import signal
import threading

import ptrace
from ground import PATIENCE
from verdict import AS_GOOD, faults

missing = ptrace.missing


def cases(ground, draw):
    while True:
        names = list(ground.commands)
        draw.shuffle(names)
        for name in names:
            yield name, str(draw.randrange(1 << 32))


def may_be_short(process, descriptor):
    """Files and pipes take and give what they like; what the kernel makes up comes whole."""
    try:
        target = os.readlink(f"/proc/{process}/fd/{descriptor}")
    except OSError:
        return False
    return target.startswith(("/", "pipe:")) and not target.startswith(("/proc/", "/sys/"))


def run(ground, name, seed):
    draw = random.Random(seed)
    with ground.place() as place, ground.place() as other:
        with open(other / "out", "wb") as out, open(other / "err", "wb") as err:
            process = ground.start(name, place, stdout=out, stderr=err, preexec_fn=ptrace.allow_tracing)
        watch = threading.Timer(PATIENCE, os.killpg, (process.pid, signal.SIGKILL))
        watch.start()

        def shorten(descriptor, count):
            if draw.random() < 0.2 or not may_be_short(process.pid, descriptor):
                return count
            return draw.randrange(1, min(count, draw.choice((2, 100, 5000, count))) + 1)

        process.returncode = ptrace.Tracer(process.pid, shorten).run_to_end()
        watch.cancel()
        done = ground.done(name, place, process.returncode, (other / "out").read_bytes(), (other / "err").read_bytes())
        return faults(done, ground.good[name], {AS_GOOD})
