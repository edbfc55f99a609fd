"""What README.md promises, taken apart: console sessions, files, and the two commands to paste.

A session is a ```console block: a line `$ command` (continued by lines that begin with `> `), then exactly what the command
prints, standard output and standard error together. A file is a ```json block below a line `<!-- file: name.json -->`.
"""

import re
from dataclasses import dataclass
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"


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
                raise ValueError(f"README.md:{number}: output before the first command")
        found.append(steps)
    return found


def files(text):
    """Name → contents."""
    pattern = r"^<!-- file: (\S+) -->\n+```\w*\n(.*?)^```$"
    return {match[1]: match[2] for match in re.finditer(pattern, text, re.MULTILINE | re.DOTALL)}


def paste_commands(text):
    """The lines to paste on a bare machine."""
    return re.findall(r"^apt-get .*$", text, re.MULTILINE)
