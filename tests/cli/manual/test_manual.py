"""attn-cli help: the pages of data/manual, as they are or through a pager, and what is no page."""

import os
import pty
import signal
import subprocess
import time
from pathlib import Path

import pytest
from program import PROGRAM, assert_fails, on_terminal, run, run_unread, succeeds

MANUAL = Path(__file__).parents[3] / "data" / "manual"
PAGES = {path.stem: path.read_bytes() for path in MANUAL.glob("*.md")}
COMMANDS = ["run", "explain", "attend", "check", "compare", "plot", "recipe", "help", "bench", "schema", "manual-page", "completions"]
SAYS = "printf 'the pager has: '; head -n 1"


def tool(folder, name, script):
    """A folder for the PATH with one program more."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


def test_help_lists_every_page_with_its_title():
    lines = succeeds("help").text.splitlines()
    listed = {line.split("  ", 1)[0]: line.split("  ", 1)[1].strip() for line in lines if "  " in line}
    assert listed == {name: page.decode().splitlines()[0].removeprefix("# ") for name, page in PAGES.items()}
    assert ", ".join(COMMANDS) in " ".join(lines)
    assert max(map(len, lines)) <= 80
    assert lines.index(next(line for line in lines if line.startswith("tutorial "))) < lines.index(
        next(line for line in lines if line.startswith("changelog ")))


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_printed_as_it_is_written(name):
    assert succeeds("help", name).out == PAGES[name]
    assert succeeds("help", "--", name, env={"PAGER": "false"}).out == PAGES[name]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command_is_what_its_option_help_shows(command):
    assert succeeds("help", command).out == succeeds(command, "--help").out


@pytest.mark.parametrize("command", COMMANDS[:7] + COMMANDS[8:10])
def test_help_of_a_command_ends_with_its_page(command):
    last = succeeds(command, "--help").text.splitlines()[-1]
    assert last.startswith("Manual: attn-cli help ") and last.rpartition(" ")[2] in PAGES


def test_no_page_has_the_name_of_a_command():
    assert set(PAGES) & set(COMMANDS) == set()


@pytest.mark.parametrize(("typed", "meant"), [("tutorail", "tutorial"), ("recipse", "recipes"), ("rnu", "run"), ("output.md", "output"), ("perf", "performance")])
def test_an_unknown_topic_is_an_error_with_a_guess(typed, meant):
    assert_fails(run("help", typed), 2, f"help: got '{typed}'; allowed: tutorial, ", f"did you mean '{meant}'?")


def test_what_is_no_topic_is_an_error():
    assert_fails(run("help", "zzzzzz"), 2, "help: got 'zzzzzz'; allowed: tutorial, ")
    assert_fails(run("help", "output", "run"), 2, "unexpected argument 'run'", "help takes one topic or command")
    assert_fails(run("help", "output", "--heads", "2"), 2, "help has no option '--heads'")
    assert_fails(run("help", "\x1b[31m"), 2, "\\x1b")


def test_a_terminal_gets_the_page_from_its_pager():
    code, got = on_terminal("help", "output", env={"PAGER": SAYS})
    assert (code, got) == (0, b"the pager has: " + PAGES["output"].splitlines()[0] + b"\n")


@pytest.mark.parametrize("pager", ["", "cat"])
def test_no_pager_is_no_pager(pager, tmp_path):
    path = tool(tmp_path, "cat", "echo not this one") + ":" + tool(tmp_path, "less", "echo nor this one")
    assert on_terminal("help", "output", env={"PAGER": pager, "PATH": path}) == (0, PAGES["output"])


def test_the_usual_pager_is_less(tmp_path):
    path = tool(tmp_path, "less", 'echo "less has: $*"; head -n 1')
    code, got = on_terminal("help", "output", env={"PATH": path})
    assert (code, got) == (0, b"less has: -FRX\n" + PAGES["output"].splitlines()[0] + b"\n")
    assert on_terminal("help", "output", env={"PATH": path, "TERM": "dumb"}) == (0, PAGES["output"])


def test_without_less_the_page_is_printed(tmp_path):
    assert on_terminal("help", "output", env={"PATH": str(tmp_path)}) == (0, PAGES["output"])


@pytest.mark.parametrize(("pager", "says"), [("no-such-pager-here", b"not found"), ("/", b"Permission denied"), ("exit 127", b"")])
def test_a_pager_that_cannot_be_run_leaves_the_page_as_it_is(pager, says):
    code, got = on_terminal("help", "output", env={"PAGER": pager})
    assert code == 0
    assert got.endswith(PAGES["output"]) and says in got[: -len(PAGES["output"])]


@pytest.mark.parametrize("pager", ["true", "false", "exit 3", "kill -9 $$", "exec <&-; true"])
def test_what_becomes_of_a_pager_is_no_error_of_ours(pager):
    assert on_terminal("help", "output", env={"PAGER": pager}) == (0, b"")


def test_a_pager_gets_the_signals_that_it_would_get_from_a_shell():
    code, got = on_terminal("help", "output", env={"PAGER": "grep -E '^SigIgn' /proc/self/status"})
    ignored = int(got.split()[1], 16)
    assert code == 0 and ignored & (1 << (signal.SIGPIPE - 1) | 1 << (signal.SIGXFSZ - 1)) == 0


def test_an_interrupt_is_the_pagers(tmp_path):
    leader, follower = pty.openpty()
    environment = {"PATH": os.environ["PATH"], "TERM": "xterm", "PAGER": f"trap 'echo kept; exit' INT; touch {tmp_path}/there; while :; do sleep 0.02; done"}
    with subprocess.Popen([PROGRAM, "help", "output"], stdin=follower, stdout=follower, stderr=follower, env=environment,
                          start_new_session=True) as process:
        os.close(follower)
        deadline = time.monotonic() + 20
        while not (tmp_path / "there").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.1)
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(20) == 0
    assert b"kept" in os.read(leader, 4096)
    os.close(leader)


def test_standard_output_that_is_closed_full_or_unread_is_treated_as_everywhere():
    assert (run_unread("help", "output").code, run_unread("help").code) == (0, 0)
    with open("/dev/full", "wb") as full:
        done = run("help", "output", stdout=full)
    assert (done.code, done.message) == (74, "attn-cli: error: cannot write standard output: No space left on device\n")
