"""The pages for man(1), which are made from what --help says."""

import os
import re
import shutil
import subprocess

import pytest
from program import assert_fails, run, succeeds

COMMANDS = [word for word in succeeds("completions", "bash", "--", "").text.split()]
PAGES = [[], *([command] for command in COMMANDS)]


def page(words):
    return succeeds("manual-page", *words).text


def as_read(roff):
    """The text of roff without its requests, as one paragraph."""
    lines = [line for line in roff.splitlines() if not re.match(r"\.(TH|SH|SS|TP|PP|nh)", line)]
    text = " ".join(re.sub(r"^\.BR (\S+) ", r"\1", line) for line in lines)
    text = re.sub(r"\\f[BIR]|\\&", "", text).replace("\\-", "-").replace("\\e", "\\")
    return " ".join(text.split())


def entries(help_text):
    """What --help says of each option, as one line each: "--heads H query heads, 1 to …"."""
    blocks = re.findall(r"^  (-.*(?:\n {23}.*)*)", help_text, re.MULTILINE)
    return [" ".join(block.split()) for block in blocks]


@pytest.mark.parametrize("words", PAGES)
def test_every_option_of_help_stands_there_with_all_that_is_said_of_it(words):
    options = entries(succeeds(*words, "--help").text + succeeds("--help").text)
    assert len(options) >= 8
    text = as_read(page(words))
    for option in options:
        assert option in text


@pytest.mark.parametrize("words", PAGES)
def test_every_example_of_help_stands_there(words):
    help_text = succeeds(*words, "--help").text
    examples = re.findall(r"^  (attn-cli .*)\n {6}(\S.*)", help_text, re.MULTILINE)
    assert examples
    for command, meaning in examples:
        assert f"{command} {meaning}" in as_read(page(words))


@pytest.mark.parametrize("words", PAGES)
def test_its_sections_come_in_the_usual_order(words):
    roff = page(words)
    about = "DESCRIPTION" if words else "COMMANDS"
    sections = re.findall(r"^\.SH (.*)$", roff, re.MULTILINE)
    assert sections == ["NAME", "SYNOPSIS", about, "OPTIONS", "EXAMPLES", "EXIT STATUS", "SEE ALSO"]
    name = "-".join(["attn-cli", *words])
    assert f"{name} - " in as_read(roff)
    others = {name, *("-".join(["attn-cli", *other]) for other in PAGES)} - {name}
    assert set(re.findall(r"(attn-cli[a-z-]*)\(1\)", as_read(roff))) == others


def test_the_page_of_the_program_lists_the_commands_and_the_exit_codes():
    text = as_read(page([]))
    for command in COMMANDS:
        assert f" {command} " in text
    for code in "0 1 2 65 66 70 71 73 74 130".split():
        assert f" {code} " in text


@pytest.mark.parametrize("words", PAGES)
def test_mandoc_and_groff_find_nothing_to_say(words):
    checkers = [["mandoc", "-Tlint", "-Wall"], ["man", "--warnings", "-l", "-"]]
    for checker in checkers:
        if shutil.which(checker[0]) is None:
            assert os.environ.get("ATTN_REQUIRE_LIVE") != "1", f"{checker[0]} is not installed"
            pytest.skip(f"{checker[0]} is not installed")
        environment = {**os.environ, "LC_ALL": "C.UTF-8", "MANPAGER": "cat"}
        done = subprocess.run(checker, input=page(words).encode(), capture_output=True, env=environment, timeout=60, check=False)
        assert (done.returncode, done.stderr) == (0, b""), done
        assert checker[0] == "man" or done.stdout == b"", done.stdout.decode()


def test_misuse():
    assert_fails(run("manual-page", "rum"), 2, "manual-page: got 'rum'; allowed: run, ", "did you mean 'run'?")
    assert_fails(run("manual-page", "run", "plot"), 2, "unexpected argument 'plot'; manual-page takes one command")
