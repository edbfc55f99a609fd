#!/usr/bin/env python3
"""The pictures of README and manual: data/pictures, and beside them in pictures.json the command that made each one and the SHA-256 of
what that command wrote.

Run as a program, it makes them again, to be looked at before they are committed:

    ATTN_CLI=build/release/attn-cli tests/cli/manual_pictures.py

What a command writes is the picture itself ("file"), what a terminal shows ("terminal"), or a page, of which Chromium makes the picture
("page"; only when the page is another one now; CHROMIUM names another program than the PATH has).
"""

import hashlib
import json
import os
import pty
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.sax.saxutils import escape

import captures
from program import all_of_terminal

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "data" / "pictures"
LIST = FOLDER / "pictures.json"
COLUMN, LINE, MARGIN, SIZE = 8, 18, 14, 13  # of the picture of a terminal, in pixels
GROUND, TEXT = "#1b1f24", "#d8dee4"
WINDOW = (1280, 900)


def output_of(picture):
    """What the command of a picture writes; that of a terminal to one of 80 columns and 24-bit colours."""
    program = os.path.dirname(os.path.abspath(os.environ["ATTN_CLI"]))
    environment = {"PATH": f"{program}:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TERM": "xterm-256color", "COLORTERM": "truecolor"}
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "data").symlink_to(ROOT / "data")
        command = ["bash", "-c", picture["command"]]
        options = {"cwd": folder, "env": environment, "stdin": subprocess.DEVNULL}
        if picture["made"] != "terminal":
            return subprocess.run(command, stdout=subprocess.PIPE, timeout=120, check=True, **options).stdout
        leader, follower = pty.openpty()
        with subprocess.Popen(command, stdout=follower, stderr=subprocess.STDOUT, **options) as process:
            got = all_of_terminal(leader, follower, process)
        assert process.returncode == 0, got
        return got


def digest_of(output):
    return hashlib.sha256(output).hexdigest()


def colour(code, otherwise):
    return "#" + "".join(f"{int(part):02x}" for part in code.split(";")[2:]) if code else otherwise


def runs(row):
    """(column, text, attributes) of neighbours that look alike."""
    found = []
    for column, (character, attributes) in enumerate(row):
        if found and found[-1][2] == attributes:
            found[-1][1] += character
        else:
            found.append([column, character, attributes])
    return found


def terminal_picture(picture, output):
    """An SVG of the command and what the terminal shows of it. Each word is as wide as its columns, in any font."""
    prompt = "\x1b[1m$ " + picture["command"].replace("\n", "\x1b[m\n\x1b[1m") + "\x1b[m\n"
    rows = captures.cells(prompt + output.decode().rstrip("\n"))
    width, height = 2 * MARGIN + COLUMN * max(map(len, rows)), 2 * MARGIN + LINE * len(rows)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" version="1.1" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
             f'font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="{SIZE}">',
             f"<title>{escape(picture['title'])}</title>", f'<rect width="{width}" height="{height}" fill="{GROUND}"/>']
    for line, row in enumerate(rows):
        top = MARGIN + LINE * line
        for column, text, attributes in runs(row):
            codes, left, wide = dict(attributes), MARGIN + COLUMN * column, COLUMN * len(text)
            if "4" in codes:
                parts.append(f'<rect x="{left}" y="{top}" width="{wide}" height="{LINE}" fill="{colour(codes["4"], GROUND)}"/>')
            bold = ' font-weight="bold"' if "1" in codes else ""
            for half in re.finditer("▀+|▄+", text):  # fonts leave gaps between them
                parts.append(f'<rect x="{left + COLUMN * half.start()}" y="{top + (LINE // 2 if half[0][0] == "▄" else 0)}" '
                             f'width="{COLUMN * len(half[0])}" height="{LINE // 2}" fill="{colour(codes.get("3"), TEXT)}"/>')
            for word in re.finditer(r"[^\s▀▄]+", text):
                parts.append(f'<text x="{left + COLUMN * word.start()}" y="{top + SIZE}" textLength="{COLUMN * len(word[0])}" '
                             f'lengthAdjust="spacingAndGlyphs"{bold} fill="{colour(codes.get("3"), TEXT)}">{escape(word[0])}</text>')
    return "\n".join([*parts, "</svg>", ""]).encode()


def page_picture(output):
    with tempfile.TemporaryDirectory() as folder:
        page, shot = Path(folder) / "page.html", Path(folder) / "page.png"
        page.write_bytes(output)
        width, height = WINDOW
        subprocess.run([os.environ.get("CHROMIUM", "chromium"), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={folder}",
                        f"--window-size={width},{height}", f"--screenshot={shot}", page.as_uri()], check=True, capture_output=True, timeout=120)
        return shot.read_bytes()


def bytes_of(picture, output):
    made = picture["made"]
    return output if made == "file" else terminal_picture(picture, output) if made == "terminal" else page_picture(output)


def stored():
    return json.loads(LIST.read_text(encoding="utf-8"))


def main():
    pictures = stored()
    for name, picture in pictures.items():
        output = output_of(picture)
        if picture["made"] != "page" or picture.get("sha256") != digest_of(output):  # no two Chromiums draw the same bytes
            (FOLDER / name).write_bytes(bytes_of(picture, output))
            picture["sha256"] = digest_of(output)
    LIST.write_text(json.dumps(pictures, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
