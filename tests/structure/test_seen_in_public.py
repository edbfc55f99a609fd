"""The counts of public threads are those of the threads that tests/oracle/seen_in_public.tsv names, of mistakes that there are.

A mistake that the program does not know stands there with a "?" before its name, which whoever adds it takes away.
"""

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
DIAGNOSE = ROOT / "src/attn/model/diagnose"
THREADS = [
    line.split("\t")
    for line in (ROOT / "tests/oracle/seen_in_public.tsv").read_text(encoding="utf-8").splitlines()
]


def written(pattern, file):
    return re.findall(pattern, (DIAGNOSE / file).read_text(encoding="utf-8"))


FORWARD = written(r'Row\{"([^"]+)"', "mistakes.cpp")
KNOWN = {*FORWARD, *written(r'Row\{"([^"]+)"', "backward/mistakes.cpp"), *(f"backward-{name}" for name in FORWARD)}
ROWS = THREADS[1:]


def test_each_row_is_a_mistake_a_thread_and_what_was_wrong():
    assert THREADS[0] == ["mistake", "thread", "what was wrong"]
    for row in ROWS:
        assert len(row) == 3 and all(field.strip() == field != "" for field in row), row
        assert re.fullmatch(r"[\w.-]+/[\w.-]+#\d+", row[1]), row


def test_a_thread_counts_once_for_each_mistake_and_the_rows_are_sorted():
    keys = [(mistake.lstrip("?"), thread) for mistake, thread, _ in ROWS]
    assert keys == sorted(set(keys))


def test_the_program_knows_each_mistake_but_those_with_a_question_mark():
    assert len(KNOWN) > 150
    for mistake in {row[0] for row in ROWS}:
        assert mistake.startswith("?") != (mistake.lstrip("?") in KNOWN), mistake


def test_the_counts_of_the_program_are_those_of_the_threads():
    counts = written(r'SeenInPublic\{"([^"]+)", (\d+)\}', "seen_in_public.hpp")
    expected = Counter(mistake for mistake, _, _ in ROWS if not mistake.startswith("?"))
    assert counts == [(mistake, str(expected[mistake])) for mistake in sorted(expected)]
