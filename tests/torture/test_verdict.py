"""The verdict sees what is wrong with a run, and nothing wrong where nothing is."""

from dataclasses import replace

import pytest

from commands import OLD
from ground import Done
from verdict import AS_GOOD, faults

ERROR = b"attn-cli: error: out of memory\n"
GOOD = Done(0, b"", b"", b"one\ntwo\n", [])
GOOD_OUT = Done(1, b"one\ntwo\n", b"", None, [])
LINES = Done(0, b'{"index":0}\n{"index":1}\n', b"", None, [])
TOLD = b'{"index":0,"error":{"code":71,"message":"does not fit"}}\n{"index":1}\n'


@pytest.mark.parametrize(
    ("good", "done", "allowed"),
    [
        (GOOD, GOOD, {AS_GOOD}),
        (GOOD, replace(GOOD, code=71, err=ERROR, file=OLD), {71}),
        (GOOD, replace(GOOD, code=130, err=ERROR), {130}),  # after the renaming
        (GOOD_OUT, GOOD_OUT, {AS_GOOD}),
        (GOOD_OUT, replace(GOOD_OUT, code=74, err=ERROR, out=b"one\nt"), {74}),
        (LINES, replace(LINES, code=65, out=TOLD), {65}),
    ],
)
def test_what_is_right(good, done, allowed):
    assert faults(done, good, allowed, by_line=good is LINES) == []


@pytest.mark.parametrize(
    ("good", "change", "fault"),
    [
        (GOOD, {"code": None}, "it did not end"),
        (GOOD, {"code": -6, "err": ERROR}, "it ends with -6"),
        (GOOD, {"code": 70, "err": ERROR}, "it ends with 70"),
        (GOOD_OUT, {"code": 0, "err": ERROR}, "it ends with 0"),
        (GOOD, {"file": b"one\n"}, "the output file is not what it is"),
        (GOOD, {"file": OLD}, "the output file is not what it is"),
        (GOOD, {"err": ERROR}, "it says something although"),
        (GOOD_OUT, {"out": b"one\n"}, "standard output is not what it is"),
        (GOOD, {"code": 71, "err": b"", "file": OLD}, "0 lines"),
        (GOOD, {"code": 71, "err": ERROR * 2, "file": OLD}, "2 lines"),
        (GOOD, {"code": 71, "err": ERROR, "file": b"one\n"}, "neither the old one nor the whole new one"),
        (GOOD, {"code": 71, "err": ERROR, "file": None}, "neither the old one nor the whole new one"),
        (GOOD_OUT, {"code": 71, "err": ERROR, "out": b"two\n"}, "no beginning"),
        (GOOD_OUT, {"code": 66, "err": ERROR}, "output before the failure"),
        (GOOD, {"code": 71, "err": ERROR, "left": [".attn-cli-1-0.tmp"]}, "it leaves .attn-cli-1-0.tmp"),
        (LINES, {"code": 65, "out": TOLD.replace(b"71", b"70")}, "neither right nor an error"),
        (LINES, {"code": 65, "out": TOLD.splitlines(keepends=True)[0]}, "neither right nor an error"),
    ],
)
def test_what_is_wrong(good, change, fault):
    found = faults(replace(good, **change), good, {AS_GOOD, 65, 66, 71}, by_line=good is LINES)
    assert any(fault in line for line in found), found
