"""What terminals of different abilities and widths show, compared with what is stored (captures.py makes it)."""

import shutil

import captures
import pytest
from program import succeeds

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


@pytest.mark.parametrize("columns", captures.WIDTHS)
@pytest.mark.parametrize("terminal", captures.TERMINALS)
def test_a_terminal_shows_what_is_stored(terminal, columns):
    shown = captures.cells(captures.capture(columns, captures.TERMINALS[terminal]))
    assert shown == captures.cells(captures.path_of(terminal, columns).read_text(encoding="utf-8"))


@pytest.mark.parametrize("columns", captures.MANY_WIDTHS)
@pytest.mark.parametrize("terminal", captures.MANY_TERMINALS)
def test_a_terminal_shows_60_words_as_stored(terminal, columns):
    shown = captures.cells(captures.many(terminal, columns))
    assert shown == captures.cells(captures.many_path(terminal, columns).read_text(encoding="utf-8"))


@pytest.mark.parametrize("terminal", captures.FIRST_TERMINALS)
def test_a_terminal_of_the_usual_size_shows_the_whole_first_output(terminal):
    shown = captures.first(terminal)
    assert captures.cells(shown) == captures.cells(captures.first_path(terminal).read_text(encoding="utf-8"))
    assert shown.startswith("6 words, 1 head, random matrices")


@pytest.mark.parametrize("environment", [{"TERM": "xterm", "NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_without_colours_a_wide_terminal_shows_what_a_pipe_gets(environment):
    shown = captures.capture(200, environment)
    assert "\x1b" not in shown
    piped = succeeds(*captures.COMMAND).text
    assert shown == piped


def test_no_colour_outlives_the_program():
    shown = captures.capture(80, captures.TERMINALS["24-bit"])
    last = captures.cells(shown)[-2]
    assert last and all(not attributes for _, attributes in last)


def test_the_colours_of_the_screen_are_read():
    text = "\x1b[1m\x1b[38;5;16m\x1b[48;2;1;2;3ma\x1b[0;37;44mb\x1b[39m\x1b[49mc"
    assert captures.cells(text) == [[
        ("a", frozenset({("1", "1"), ("3", "38;5;16"), ("4", "48;2;1;2;3")})),
        ("b", frozenset({("3", "37"), ("4", "44")})),
        ("c", frozenset()),
    ]]
