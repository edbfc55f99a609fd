#!/usr/bin/env python3
"""What README.md and the manual (data/manual/*.md) promise, taken apart: console sessions, files, links, and the two commands to paste.

A session is a ```console block: a line `$ command` (continued by lines that begin with `> `), then exactly what the command
prints, standard output and standard error together. A file is a ```json block below a line `<!-- file: name.json -->`.

Run as a program, it prints a document with what its commands print now, to be read before it replaces the old one:

    ATTN_CLI=build/release/attn-cli python3 tests/cli/readme.py data/manual/output.md > new.md
"""

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from program import HANGS, SANITIZED

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
MANUAL = ROOT / "data" / "manual"
DOCUMENTS = [README, *sorted(MANUAL.glob("*.md"))]
MARK = "\x1e"


@dataclass
class Step:
    line: int
    command: str
    output: str


def sessions(text):
    """Every console block as a list of steps."""
    found = []
    for block in re.finditer(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        first_line = text.count("\n", 0, block.start(1)) + 1
        steps = []
        for number, line in enumerate(block[1].splitlines(), first_line):
            if line.startswith("$ "):
                steps.append(Step(number, line[2:], ""))
            elif line.startswith("> ") and steps and not steps[-1].output:
                steps[-1].command += "\n" + line[2:]
            elif steps:
                steps[-1].output += line + "\n"
            else:
                raise ValueError(f"line {number}: output before the first command")
        found.append(steps)
    return found


def files(text):
    """Name → contents."""
    pattern = r"^<!-- file: (\S+) -->\n+```\w*\n(.*?)^```$"
    return {match[1]: match[2] for match in re.finditer(pattern, text, re.MULTILINE | re.DOTALL)}


def without_code(text):
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def links(text):
    """The targets of its links and images, but for those to the web."""
    targets = re.findall(r"\]\(([^)\s]*)\)", without_code(text)) + re.findall(r'<img src="([^"]*)"', text)
    return [target for target in targets if not target.startswith("https://")]


def anchors(text):
    """What a link may name after "#": the headings, as GitHub writes them."""
    headings = re.findall(r"^#+ (.*)$", without_code(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def paste_commands(text):
    """The lines to paste on a bare machine."""
    return re.findall(r"^apt-get .*$", text, re.MULTILINE)


def write_files(text, folder):
    """The files that the text shows, and data/ of the repository."""
    (Path(folder) / "data").symlink_to(ROOT / "data")
    for name, contents in files(text).items():
        (Path(folder) / name).write_text(contents, encoding="utf-8")


def run_session(steps, folder):
    """The outputs of a session's commands, run in one shell so that `$?` and variables last."""
    program = os.path.dirname(os.path.abspath(os.environ["ATTN_CLI"]))
    script = "\n".join(f"{step.command}\nattn_status=$?; printf '{MARK}'; (exit $attn_status)" for step in steps)
    environment = {"PATH": f"{program}:/usr/bin:/bin", "HOME": str(folder), "LC_ALL": "C.UTF-8", "TERM": "dumb"}
    result = subprocess.run(
        ["bash", "-c", script], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, timeout=HANGS if SANITIZED else 120, check=False,
    )
    return result.stdout.decode("utf-8").split(MARK)[:-1]


def with_new_outputs(text):
    with tempfile.TemporaryDirectory() as folder:
        write_files(text, folder)
        blocks = []
        for steps in sessions(text):
            lines = []
            for step, output in zip(steps, run_session(steps, folder)):
                lines.append("$ " + step.command.replace("\n", "\n> ") + "\n" + output)
            blocks.append("```console\n" + "".join(lines) + "```\n")
    parts = re.split(r"^```console\n.*?^```\n", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(part + block for part, block in zip(parts, blocks + [""]))


if __name__ == "__main__":
    sys.stdout.write(with_new_outputs(Path(sys.argv[1]).read_text(encoding="utf-8")))
