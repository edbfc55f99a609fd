"""What a terminal shows: attn-cli under tmux, and the captures that are stored in captures/.

Run as a program, it stores what the terminal shows now, to be looked at (`cat tests/cli/captures/24-bit-80.txt`) before it replaces the old one:

    ATTN_CLI=build/release/attn-cli python3 tests/cli/captures.py
"""

import os
import re
import shlex
import subprocess
import tempfile
from pathlib import Path

FOLDER = Path(__file__).parent / "captures"
COMMAND = ["run", "Life is short, eat dessert first", "--heads", "2", "--causal", "--show", "weights", "--top", "4"]
FIRST = COMMAND[:2]
WIDTHS = (80, 200)
TERMINALS = {
    "24-bit": {"TERM": "xterm-256color", "COLORTERM": "truecolor"},
    "256": {"TERM": "xterm-256color"},
    "16": {"TERM": "xterm"},
    "blocks": {"TERM": "vt220"},
    "plain": {"TERM": "xterm-256color", "COLORTERM": "truecolor", "NO_COLOR": "1"},
}
FIRST_TERMINALS = ("24-bit", "plain")
ROWS = 40
# 60 words: numbers do not fit, so that there are half blocks where there are colours.
MANY = ["run", " ".join(["the cat sat on a mat and then one dog ran to my old red house with big blue eyes"] * 3), "--model", "induction",
        "--layer", "0", "--show", "weights"]
MANY_WIDTHS = (80, 120, 200)
MANY_TERMINALS = ("24-bit", "16", "plain")


def capture(columns, environment, arguments=None, rows=ROWS):
    """The screen of a terminal after the command, with its colours as escape sequences, line by line."""
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "tmux.conf"
        config.write_text('set -g status off\nset -g default-terminal "tmux-256color"\nset -g default-shell /bin/sh\n')
        variables = [f"{name}={value}" for name, value in {"PATH": os.environ["PATH"], **environment}.items()]
        program = [os.path.abspath(os.environ["ATTN_CLI"]), *(COMMAND if arguments is None else arguments)]
        command = f"{shlex.join(['env', '-i', *variables, *program])}; tmux wait-for -S done; sleep 60"

        def tmux(*words):
            base = ["tmux", "-u", "-S", f"{folder}/socket", "-f", str(config)]
            environment = {**os.environ, "LC_ALL": "C.UTF-8"}
            return subprocess.run([*base, *words], check=True, capture_output=True, env=environment, timeout=60).stdout.decode()

        try:
            tmux("new-session", "-d", "-x", str(columns), "-y", str(rows), command)
            tmux("wait-for", "done")
            return tmux("capture-pane", "-e", "-p").rstrip("\n") + "\n"
        finally:
            tmux("kill-server")


def cells(text):
    """Rows of (character, set of its attributes): the same for every way to write the same screen."""
    rows = []
    for line in text.split("\n"):
        row, attributes = [], {}
        for part in re.split("(\x1b\\[[0-9;]*m)", line):
            if not part.startswith("\x1b"):
                row += [(character, frozenset(attributes.items())) for character in part]
                continue
            codes = re.findall(r"[34]8;2;\d+;\d+;\d+|[34]8;5;\d+|\d+", part) or ["0"]
            for code in codes:
                if code == "0":
                    attributes.clear()
                elif code in ("39", "49"):
                    attributes.pop(code[0], None)
                else:
                    attributes[code[0] if code[0] in "34" and len(code) > 1 else code] = code
        rows.append(row)
    return rows


def first(terminal):
    """What a sentence without options shows on a terminal of the usual size."""
    return capture(80, TERMINALS[terminal], FIRST, rows=24)


def first_path(terminal):
    return FOLDER / f"first-{terminal}.txt"


def many(terminal, columns):
    """What two heads of 60 words show."""
    return capture(columns, TERMINALS[terminal], MANY, rows=80)


def many_path(terminal, columns):
    return FOLDER / f"many-{terminal}-{columns}.txt"


def path_of(terminal, columns):
    return FOLDER / f"{terminal}-{columns}.txt"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for terminal, environment in TERMINALS.items():
        for columns in WIDTHS:
            path_of(terminal, columns).write_text(capture(columns, environment), encoding="utf-8")
    for terminal in MANY_TERMINALS:
        for columns in MANY_WIDTHS:
            many_path(terminal, columns).write_text(many(terminal, columns), encoding="utf-8")
    for terminal in FIRST_TERMINALS:
        first_path(terminal).write_text(first(terminal), encoding="utf-8")
