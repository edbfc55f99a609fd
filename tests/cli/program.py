"""Running attn-cli from a test: arguments in; standard output, standard error and exit code out."""

import fcntl
import json
import os
import pty
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import threading
from dataclasses import dataclass
from pathlib import Path

import pytest

PROGRAM = os.path.abspath(os.environ.get("ATTN_CLI", ""))
BUILT = Path(PROGRAM).read_bytes()
SANITIZED = b"__asan_init" in BUILT or b"__tsan_init" in BUILT
starves = pytest.mark.skipif(b"libgcov" in BUILT, reason="at its end gcov opens and writes files, and complains where it cannot")
counts_memory = pytest.mark.skipif(SANITIZED or b"libgcov" in BUILT, reason="what a build adds takes memory of its own")
limits_memory = pytest.mark.skipif(SANITIZED, reason="a sanitizer reserves terabytes of address space")
HANGS = 600 if SANITIZED else 300  # seconds, beside other work
SENTENCE = "Life is short, eat dessert first"


@dataclass
class Done:
    code: int
    out: bytes
    err: bytes

    @property
    def text(self):
        return self.out.decode()

    @property
    def message(self):
        return self.err.decode()

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def json_lines(self):
        return [json.loads(line) for line in self.out.splitlines()]


def run(*arguments, stdin=None, env=None, program=PROGRAM, **options):
    """The program with standard input `stdin`: bytes, text, a descriptor, or nothing. `env` is added to a plain environment."""
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", **(env or {})}
    for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LLVM_PROFILE_FILE"):
        if name in os.environ:
            environment.setdefault(name, os.environ[name])
    if stdin is None or isinstance(stdin, int):
        options["stdin"] = subprocess.DEVNULL if stdin is None else stdin
    else:
        options["input"] = stdin.encode() if isinstance(stdin, str) else stdin
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("stderr", subprocess.PIPE)
    command = [program, *map(lambda a: a if isinstance(a, bytes) else str(a), arguments)]
    done = subprocess.run(command, env=environment, timeout=HANGS, check=False, **options)
    return Done(done.returncode, done.stdout, done.stderr)


def run_unread(*arguments, **options):
    """The program with a standard output whose reader has left."""
    read, write = os.pipe()
    os.close(read)
    try:
        return run(*arguments, stdout=write, **options)
    finally:
        os.close(write)


# A process begins with the memory of the one that started it, so a small one starts the program, and ends it when time is up.
MEASURING = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[3:], timeout=int(sys.argv[2])).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
open(int(sys.argv[1]), "w").write(f"{code} {used.ru_utime + used.ru_stime} {used.ru_maxrss / 1024}")
"""


def measured(*arguments, stdin=subprocess.DEVNULL, **options):
    """What the program did, the processor seconds it took and the most MiB it held. `stdin` is a file or descriptor."""
    with tempfile.TemporaryFile("r+") as usage:
        command = [sys.executable, "-S", "-c", MEASURING, str(usage.fileno()), str(HANGS), PROGRAM, *map(str, arguments)]
        done = subprocess.run(command, stdin=stdin, capture_output=True, pass_fds=[usage.fileno()], check=True, **options)
        usage.seek(0)
        code, seconds, megabytes = usage.read().split()
    return Done(int(code), done.stdout, done.stderr), float(seconds), float(megabytes)


def without_root(tmp_path):
    """Options of `run` that make root nobody, for whom permissions count, with a copy of the program where nobody can reach it."""
    if os.geteuid() != 0:
        return {}
    for folder in (tmp_path, tmp_path.parent):  # pytest closes its folders to others
        folder.chmod(0o755)
    copy = shutil.copy(PROGRAM, tmp_path / "attn-cli")
    counts = tmp_path / "counts"  # of a coverage build, which nobody may not write where root does
    counts.mkdir(exist_ok=True)
    counts.chmod(0o777)
    environment = {"GCOV_PREFIX": str(counts), "ASAN_OPTIONS": "detect_leaks=0"}  # a search for leaks is a process more
    return {"program": copy, "user": 65534, "group": 65534, "env": environment}


def shell(script, **options):
    """A bash script in which $A is the program."""
    environment = {**os.environ, "A": PROGRAM}
    done = subprocess.run(
        ["bash", "-c", script], env=environment, capture_output=True, stdin=subprocess.DEVNULL, timeout=HANGS, check=False, **options
    )
    return Done(done.returncode, done.stdout, done.stderr)


def within(megabytes):
    """For preexec_fn: the program gets so much address space (`ulimit -v`) and leaves no core."""

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    return limit


def assert_fails(done, code, *parts):
    """The exit code, nothing on standard output, and one line on standard error that holds each of `parts`."""
    assert (done.code, done.out) == (code, b""), done
    lines = done.message.split("\n")
    assert len(lines) == 2 and lines[1] == "", done.message
    assert lines[0].startswith("attn-cli: error: "), done.message
    for part in parts:
        assert part in lines[0], done.message


def all_of_terminal(leader, follower, process):
    """What a process writes to the terminal before it ends; closes both sides. Who reads until the terminal is closed may miss the
    end, once in some thousand times (Linux 6.18), so it stays open until a mark behind the last byte has come."""
    mark = b"\0end\0"

    def write_mark():
        process.wait(120)
        os.write(follower, mark)

    writer = threading.Thread(target=write_mark)
    writer.start()
    got = b""
    while not got.endswith(mark):
        got += os.read(leader, 65536)
    writer.join()
    os.close(leader)
    os.close(follower)
    return got.removesuffix(mark).replace(b"\r\n", b"\n")


def succeeds(*arguments, **options):
    """Runs what must exit with 0 and say nothing on standard error."""
    done = run(*arguments, **options)
    assert (done.code, done.err) == (0, b""), done
    return done


def on_terminal(*arguments, columns=80, env=None, stderr_too=True, stdin=subprocess.DEVNULL):
    """Exit code and what the terminal got; standard error goes to it too unless told otherwise."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {"PATH": os.environ["PATH"], "TERM": "xterm", **(env or {})}
    stderr = follower if stderr_too else subprocess.DEVNULL
    with subprocess.Popen([PROGRAM, *arguments], stdin=stdin, stdout=follower, stderr=stderr, env=environment) as process:
        got = all_of_terminal(leader, follower, process)
    return process.returncode, got
