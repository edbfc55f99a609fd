#!/usr/bin/env python3
"""The program of attn.html, in Chromium and from file://, as if it ran here: standard input, the files of this folder, and what it
writes among them. src/web/attn.mjs does so in node.

usage: in_page.py attn.html ARGUMENTS
"""
import base64
import os
import sys
import tempfile
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

RUN = """const [args, given] = arguments;
const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
const text = (bytes) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
const files = Object.fromEntries(Object.entries(given).map(([name, content]) => [name, bytes(content)]));
const done = form.program.run(args, files);
const isNew = ([name, content]) => !(name in files) || text(content) !== given[name];
return [done.exit, text(done.stdout), done.stderr, Object.entries(done.files).filter(isNew).map(([name, content]) => [name, text(content)])];"""
PROGRAM_IS_THERE = "const done = arguments[0]; const wait = () => (form.program ? done() : setTimeout(wait, 5)); wait()"


def files_below(folder):
    """Name → bytes, those of folders that links lead to, too."""
    paths = (Path(place, name) for place, _, names in os.walk(folder, followlinks=True) for name in names)
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths if path.is_file()}


def main(page, *arguments):
    with tempfile.TemporaryDirectory() as home:
        os.environ["HOME"] = home  # where Chromium writes, whatever the caller's is
        return run(page, arguments)


def run(page, arguments):
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--no-sandbox"):
        options.add_argument(argument)
    files = {name: base64.b64encode(content).decode() for name, content in files_below(Path()).items()}
    stdin = base64.b64encode(sys.stdin.buffer.read()).decode()
    driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    try:
        driver.get(Path(page).resolve().as_uri())
        driver.execute_async_script(PROGRAM_IS_THERE)
        code, stdout, stderr, written = driver.execute_script(RUN, arguments, files | {"/dev/stdin": stdin})
    finally:
        driver.quit()
    for name, content in written:
        Path(name).write_bytes(base64.b64decode(content))
    sys.stdout.buffer.write(base64.b64decode(stdout))
    sys.stderr.write(stderr)
    return code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
