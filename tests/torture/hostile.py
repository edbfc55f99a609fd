"""Commands over inputs that nobody's program wrote: huge, squeezed, cut short, lying about their sizes; with little stack, and in
containers.

Whatever it is, the command computes, or says in one line why it does not, in little memory: see `hostile_faults`, `memory_faults`.
"""

import random
import signal
import sys
from pathlib import Path

import folders
import inputs
import limits
from ground import PATIENCE, sizes
from verdict import AS_GOOD, differences, faults, group_faults, hostile_faults, memory_faults

sys.path.append(str(Path(__file__).parents[1] / "cli"))
from memory_group import memory_group

BYTES_A_SECOND = 10 << 20  # that a command goes through at least, on a busy machine
SHOWN = 500  # characters of a command
ENTER = ["sh", "-c", 'echo 0 > "$0" && exec "$@"']  # a group; then what runs in it


def seeds(draw):
    while True:
        yield str(draw.randrange(1 << 32))


def any_command(ground, folder, draw):
    """One of all kinds: the name of one that is known, or one with its inputs in the new folder."""
    if draw.random() < 0.3:
        return draw.choice(list(ground.commands))
    makers = [inputs.array_command, inputs.large_command, *([] if folders.missing() else [folders.model_command])]
    return draw.choice(makers)(folder, draw)


def patience(command, place):
    """Seconds."""
    _, size = sizes(place / "in")
    return 3 * PATIENCE + (size + (0 if isinstance(command, str) else command.array_bytes)) // BYTES_A_SECOND


def with_command(found, command):
    """What is wrong, and with what."""
    found = list(found)
    return [*found, f"by {str(command)[:SHOWN]}"] if found else []


def run_measured(ground, make, seed):
    with ground.place() as place:
        command = make(place / "in", random.Random(seed))
        done, taken = ground.measured(command, place, patience(command, place))
        return with_command([*hostile_faults(done, command), *memory_faults(done, taken, command)], command)


class Arrays:
    """Sparse, squeezed and lying files of arrays. A case is: seed of the command and its inputs."""

    missing = staticmethod(lambda: None)

    @staticmethod
    def cases(ground, draw):
        return ((seed,) for seed in seeds(draw))

    @staticmethod
    def run(ground, seed):
        return run_measured(ground, inputs.array_command, seed)


class Folders:
    """Folders of trained models in which something is damaged. A case is: seed of the command and its folder."""

    missing = staticmethod(folders.missing)
    cases = Arrays.cases

    @staticmethod
    def run(ground, seed):
        return run_measured(ground, folders.model_command, seed)


class Stacks:
    """A case is: seed of the command, KiB of stack. Threads have as much by default."""

    missing = staticmethod(limits.missing)

    @staticmethod
    def cases(ground, draw):
        for seed in seeds(draw):
            yield seed, str(draw.choice((128, draw.randrange(128, 257), draw.randrange(128, 1025))))

    @staticmethod
    def run(ground, seed, kib):
        with ground.place() as place:
            command = any_command(ground, place / "in", random.Random(seed))
            process = ground.start(command, place, ["prlimit", f"--stack={int(kib) << 10}"])
            done = ground.finish(command, place, process, patience=patience(command, place))
            known = isinstance(command, str)
            return with_command(faults(done, ground.good[command], {AS_GOOD}) if known else hostile_faults(done, command), command)


class Groups:
    """In a control group with a limit on memory, as in a container. A case is: seed of the command, MiB that the group may have.

    What does not fit is refused; what is computed is what is computed without the group; and a group that has room for what a command
    may take kills nobody. Pages of files count as the group's, too, but the system gives them away.
    """

    LEAST, MOST = 40, 1024  # MiB

    @staticmethod
    def missing():
        with memory_group(Groups.MOST << 20) as group:
            return None if group else "this user may make no memory group"

    @staticmethod
    def cases(ground, draw):
        for seed in seeds(draw):
            yield seed, str(int(Groups.LEAST * (Groups.MOST / Groups.LEAST) ** draw.random()))

    @staticmethod
    def run(ground, seed, mib):
        with ground.place() as place, memory_group(int(mib) << 20) as group:
            command = any_command(ground, place / "in", random.Random(seed))
            most = patience(command, place)
            done = ground.finish(command, place, ground.start(command, place, [*ENTER, group / "cgroup.procs"]), patience=most)
            if done.code == -signal.SIGKILL:
                size = sizes(place / "in")[0] + ground.command(command).array_bytes
                if list(group_faults(done, int(mib), size)):  # what it would have given counts, too
                    free = ground.finish(command, place, ground.start(command, place), patience=most)
                    size += len(free.out) + len(free.file or b"")
                return with_command(group_faults(done, int(mib), size), command)
            if isinstance(command, str):
                by_line = ground.commands[command].by_line
                return with_command(faults(done, ground.good[command], {AS_GOOD, 71} | ({65} if by_line else set()), by_line), command)
            found = list(hostile_faults(done, command))
            if not found and done.code in (0, 1):
                found = differences(done, ground.finish(command, place, ground.start(command, place), patience=most))
            return with_command(found, command)
