"""What the tests of data/examples share: the commands of the manual, an input that tries them, and programs that fail."""

import itertools
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests/cli"))

from program import PROGRAM, run  # noqa: E402

def documented(word):
    """The lines of the manual's ```sh blocks that begin with this word."""
    text = (ROOT / "data/manual/scale.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.startswith(word + " ")]


def sentences(count):
    """Lines of which some are empty, long, or hold what other readers of lines trip over; the last one lacks its end."""
    lines = [f"w{i} naïve 人 x{i % 7} y{i % 5}" for i in range(count)]
    lines[0] = lines[1000] = lines[count // 2] = ""  # also where a part of 1000 lines begins
    lines[1] = "a lone\rcarriage return"
    lines[2] = 'Windows\r\t"quotes\'  and \\backslash\r'
    lines[3] = " , "
    lines[count // 3] = "v" * 70000  # more than a pipe holds
    lines[count - 2] = "a\0b"
    return "\n".join(lines)


def one_process(folder, *options):
    done = run("run", "--lines", folder / "sentences.txt", "--threads", 2, *options)
    assert done.code == 65
    return done.out


def assert_same(got, expected):
    """pytest itself would take minutes to compare megabytes."""
    same = got == expected
    assert same, [(a[:200], b[:200]) for a, b in itertools.zip_longest(got.split(b"\n"), expected.split(b"\n"), fillvalue=b"") if a != b][:2]


def with_input(folder, text):
    (folder / "home").mkdir()
    (folder / "sentences.txt").write_bytes(text.encode())
    (folder / "data").symlink_to(ROOT / "data")
    return folder


def program_that(script, folder):
    """A folder for the PATH with an attn-cli that runs `script` first, in which $real is the program and $first the
    lines.first_index of the part. None: with no attn-cli."""
    folder = folder / "bin"
    folder.mkdir()
    if script is not None:
        first = '[[ "$*" =~ lines\\.first_index=([0-9]+) ]]; first=${BASH_REMATCH[1]}'
        (folder / "attn-cli").write_text(f'#!/bin/bash\nreal={PROGRAM}\n{first}\n{script}\nexec "$real" "$@"\n')
        (folder / "attn-cli").chmod(0o755)
    return folder


def attempts(folder):
    """How many of them left "$0.…"."""
    return len(list((folder / "bin").glob("attn-cli.*")))


def bash(command, folder, path, **environment):
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=300, check=False,
        env={**os.environ, "HOME": f"{folder}/home", "PATH": ":".join(map(str, [*path, "/usr/bin", "/bin"])), **environment},
    )
    return done.returncode, done.stderr.decode()
