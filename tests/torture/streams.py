"""Slow pipes, and readers that leave."""

import fcntl
import os
import random
import signal
import subprocess
import threading
import time

from ground import PATIENCE
from verdict import AS_GOOD, faults

SMALLEST_PIPE = 4096  # bytes; what the kernel gives when asked for less
PIECES = (1, 7, 100, 4096)


def missing():
    return None


def pause_sometimes(draw):
    if draw.random() < 0.02:
        time.sleep(0.001)


def feed(pipe, data, draw):
    """Writes in pieces that end anywhere, some of them a moment late."""
    try:
        while data:
            count = draw.choice(PIECES)
            os.write(pipe.fileno(), data[:count])
            data = data[count:]
            pause_sometimes(draw)
    except BrokenPipeError:
        pass
    pipe.close()


def take(pipe, most, draw):
    """Up to `most` bytes, read in pieces."""
    taken = b""
    while len(taken) < most and (piece := os.read(pipe, min(draw.choice(PIECES), most - len(taken)))):
        taken += piece
        pause_sometimes(draw)
    return taken


def small_pipe():
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, SMALLEST_PIPE)
    return reader, writer


def run_through_pipes(ground, name, seed, most):
    """How the command ends whose reader takes up to `most` bytes and leaves."""
    draw = random.Random(seed)
    stdin = ground.commands[name].stdin
    with ground.place() as place:
        reader, output = small_pipe()
        if most == 0:
            os.close(reader)
        process = ground.start(name, place, stdout=output, **({"stdin": subprocess.PIPE} if stdin else {}))
        os.close(output)
        watch = threading.Timer(PATIENCE, os.killpg, (process.pid, signal.SIGKILL))
        watch.start()
        feeder = None
        if stdin:
            pipe, process.stdin = process.stdin, None  # nobody else writes to it or closes it
            feeder = threading.Thread(target=feed, args=(pipe, (place / stdin).read_bytes(), random.Random(seed)))
            feeder.start()
        out = b""
        if most > 0:
            out = take(reader, most, draw)
            os.close(reader)
        done = ground.finish(name, place, process, out)
        watch.cancel()
        if feeder:
            feeder.join()
        return done


class Slow:
    """A case is: command, seed of the pieces in which its input comes and its output is taken."""

    missing = staticmethod(missing)

    @staticmethod
    def cases(ground, draw):
        names = [name for name, command in ground.commands.items() if command.stdin or not command.output]
        while True:
            yield draw.choice(names), str(draw.randrange(1 << 32))

    @staticmethod
    def run(ground, name, seed):
        good = ground.good[name]
        return faults(run_through_pipes(ground, name, seed, len(good.out) + 1), good, {AS_GOOD})


class Leaving:
    """A case is: command, bytes that the reader of its output takes before it leaves; with 0 it is gone from the start."""

    missing = staticmethod(missing)

    @staticmethod
    def cases(ground, draw):
        names = [name for name, command in ground.commands.items() if not command.output]
        while True:
            name = draw.choice(names)
            yield name, str(draw.choice((0, draw.randrange(len(ground.good[name].out)))))

    @staticmethod
    def run(ground, name, most):
        good = ground.good[name]
        done = run_through_pipes(ground, name, most, int(most))
        if done.out == good.out[: int(most)]:
            done.out = good.out  # all that was asked for
        return faults(done, good, {AS_GOOD})
