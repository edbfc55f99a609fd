"""Signals, at random times and at each system call, and input files that shrink while they are read."""

import ctypes
import os
import re
import shutil
import signal
import time
from pathlib import Path

import errors
from verdict import AS_GOOD, faults

SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGPROF")
CALLS = ("read", "write", "openat", "fsync", "rename", "clone3", "poll", "munmap", "close")


def wait(microseconds):
    time.sleep(int(microseconds) / 1e6)


def usual_seconds(ground, name):
    began = time.monotonic()
    ground.run(name)
    return time.monotonic() - began


def random_delays(ground, draw):
    """Command and microseconds, in which it may be anywhere between its start and a little after its end."""
    usual = {name: int(usual_seconds(ground, name) * 1e6) for name in ground.commands}
    while True:
        name = draw.choice(list(ground.commands))
        yield name, str(draw.randrange(usual[name] + 1000))


def faults_after(ground, name, done, number):
    """Of a run that a signal may have ended before its handler stood (-number), or in the middle, or not at all."""
    if done.code == -number and not done.err and not done.out:
        done.err = b"attn-cli: error: ended by the system\n"
    return faults(done, ground.good[name], {AS_GOOD, 128 + number, -number})


class AnyTime:
    """A case is: command, microseconds, signal."""

    missing = staticmethod(lambda: None)

    @staticmethod
    def cases(ground, draw):
        for name, microseconds in random_delays(ground, draw):
            yield name, microseconds, draw.choice(SIGNALS)

    @staticmethod
    def run(ground, name, microseconds, sent):
        with ground.place() as place:
            process = ground.start(name, place)
            wait(microseconds)
            process.send_signal(signal.Signals[sent])
            return faults_after(ground, name, ground.finish(name, place, process), signal.Signals[sent])


class AtCall:
    """A case is: command, call, n, signal: it comes when the n-th such call begins; strace sends it."""

    missing = staticmethod(errors.missing)

    @staticmethod
    def cases(ground, draw):
        every = []
        for name in ground.commands:
            _, threads = errors.traced(ground, name, "-e", f"trace=fcntl,{','.join(CALLS)}")
            for call, numbers in errors.occurring(threads).items():
                every += [(name, call, str(n), sent) for n in numbers for sent in SIGNALS]
        draw.shuffle(every)
        yield from every

    @staticmethod
    def run(ground, name, call, n, sent):
        done, _ = errors.traced(ground, name, "-e", f"trace={call}", "-e", f"inject={call}:signal={sent}:when={n}")
        return faults_after(ground, name, done, signal.Signals[sent])


class Elsewhere:
    """A case is: command, call, signal: the signal reaches another thread while the main one is at this call, for long, and the
    handler takes long, too."""

    missing = staticmethod(errors.missing)
    HELD = 300_000  # microseconds

    @staticmethod
    def cases(ground, draw):
        with_threads = [name for name, command in ground.commands.items() if command.output and "--threads" in command.arguments]
        while True:
            yield draw.choice(with_threads), draw.choice(("fsync", "close", "rename")), draw.choice(SIGNALS)

    @staticmethod
    def run(ground, name, call, sent):
        held = ["-e", f"inject={call}:delay_enter={Elsewhere.HELD}", "-e", f"inject=poll:delay_enter={2 * Elsewhere.HELD}"]
        with ground.place() as place:
            tracer = ground.start(name, place, [*errors.STRACE, "-o", "/dev/null", "-e", f"trace={call},poll", *held])
            wait(Elsewhere.HELD / 2)
            for child in Path(f"/proc/{tracer.pid}/task/{tracer.pid}/children").read_text().split():
                others = sorted(map(int, os.listdir(f"/proc/{child}/task")))[1:]
                if others:
                    ctypes.CDLL(None).tgkill(int(child), others[0], signal.Signals[sent])
            done = ground.finish(name, place, tracer)
            done.err = re.sub(rb"strace: [^\n]*\n", b"", done.err)  # which does not like to be held up itself
            return faults_after(ground, name, done, signal.Signals[sent])


class Shrinking:
    """A case is: command, microseconds, file, bytes that are left of it."""

    missing = staticmethod(lambda: None)

    # Text may shrink between two reads, which nobody can tell from a shorter text.
    FILES = {
        "attend": ("q.npy", "k.npy", "v.npy"),
        "stages": ("qkv.npz",),
        "gradients": ("q.npy", "k.npy", "v.npy"),
        "check": ("golden.json",),
        "compare": ("golden.json", "golden.npz"),
        "piped-attend": ("k.npy", "v.npy"),
        "plot": ("golden.json",),
        "params": ("layer.safetensors",),
    }

    @staticmethod
    def cases(ground, draw):
        for name, microseconds in random_delays(ground, draw):
            if name in Shrinking.FILES:
                file = draw.choice(Shrinking.FILES[name])
                yield name, microseconds, file, str(draw.randrange((ground.inputs / file).stat().st_size))

    @staticmethod
    def run(ground, name, microseconds, file, size):
        with ground.place() as place:
            shutil.copytree(ground.inputs, place / "in")
            process = ground.start(name, place)
            wait(microseconds)
            os.truncate(place / "in" / file, int(size))
            return faults(ground.finish(name, place, process), ground.good[name], {AS_GOOD, 65, 74})
