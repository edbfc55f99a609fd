"""Less memory, fewer threads, smaller files than a command would take; prlimit sets them."""

import os
import shutil
import subprocess

from verdict import AS_GOOD, faults

MOST_MEMORY = 640  # MiB; beyond, every command has what it wants, and 16 threads have an arena each for some of their time
ORDINARY_USERS = 60000  # the first of some numbers that nobody has


def missing():
    return None if shutil.which("prlimit") else "prlimit is not installed"


class Memory:
    """A case is: command, KiB of address space."""

    missing = staticmethod(missing)

    @staticmethod
    def cases(ground, draw):
        least = least_memory(ground)
        steps = [(mib << 10) for mib in [*range(least, 64), *range(64, 256, 4), *range(256, MOST_MEMORY, 16)]]
        while True:
            every = [(name, str(kib + draw.randrange(1024))) for name in ground.commands for kib in steps]
            draw.shuffle(every)
            yield from every

    @staticmethod
    def run(ground, name, kib):
        by_line = ground.commands[name].by_line
        done = ground.run(name, ["prlimit", f"--as={int(kib) << 10}"])
        return faults(done, ground.good[name], {AS_GOOD, 71} | ({65} if by_line else set()), by_line)


def least_memory(ground):
    """MiB in which the system can start the program at all."""
    for mib in range(1, MOST_MEMORY):
        done = subprocess.run(["prlimit", f"--as={mib << 20}", ground.program, "--version"], capture_output=True)
        if done.returncode == 0:
            return mib
    raise RuntimeError(f"the program does not start in {MOST_MEMORY} MiB")


class Processes:
    """A case is: command, number of processes and threads that an ordinary user may have."""

    @staticmethod
    def missing():
        if os.geteuid() != 0:
            return "only root can become a user who has no other process"
        return missing() or (None if shutil.which("setpriv") else "setpriv is not installed")

    @staticmethod
    def cases(ground, draw):
        while True:
            every = [(name, str(count)) for name in ground.commands for count in (1, 2, 3, 4, 9, 17)]
            draw.shuffle(every)
            yield from every

    @staticmethod
    def run(ground, name, count):
        user = ORDINARY_USERS + os.getpid() % 5000  # cases that run at once must not count each other's threads
        wrapper = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "prlimit", f"--nproc={count}"]
        return faults(ground.run(name, wrapper), ground.good[name], {AS_GOOD})


class FileSize:
    """A case is: command, bytes that a file may have; a write is cut there, and the next one fails."""

    missing = staticmethod(missing)

    @staticmethod
    def cases(ground, draw):
        while True:
            name = draw.choice(list(ground.commands))
            good = ground.good[name]
            yield name, str(draw.randrange(len(good.file or good.out) + 1))

    @staticmethod
    def run(ground, name, size):
        with ground.place() as place, ground.place() as other:
            with open(other / "stdout", "wb") as file:
                process = ground.start(name, place, ["prlimit", f"--fsize={size}"], stdout=file)
            done = ground.finish(name, place, process)
            done.out = (other / "stdout").read_bytes()
            good = ground.good[name]
            enough = len(good.file or good.out) <= int(size)
            return faults(done, good, {AS_GOOD} if enough else {74})
