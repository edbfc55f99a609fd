"""The verdict sees what is wrong with a run, and nothing wrong where nothing is."""

import random
import sys
from dataclasses import replace

import pytest

import folders
import hostile
import inputs
from commands import OLD, Command
from ground import Done, Ground, Taken
from verdict import AS_GOOD, differences, faults, group_faults, hostile_faults, memory_faults

ERROR = b"attn-cli: error: out of memory\n"
GOOD = Done(0, b"", b"", b"one\ntwo\n", [])
GOOD_OUT = Done(1, b"one\ntwo\n", b"", None, [])
LINES = Done(0, b'{"index":0}\n{"index":1}\n', b"", None, [])
TABLES = Done(0, b"line 1\na\n\nline 2\nb\n\nline 3\nc\n", b"", None, [])
ROWS = Done(0, b"index,value\n0,a\n0,b\n1,c\n", b"", None, [])
NO_ROOM = b"attn-cli: error: line 2: the arrays asked for need 9 bytes and 8 are free\n"
BY_LINE = (LINES, TABLES, ROWS)
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
        (LINES, replace(LINES, code=71, out=TOLD[:-5], err=ERROR), {71}),
        (TABLES, replace(TABLES, code=65, out=b"line 1\na\n\nline 3\nc\n", err=NO_ROOM), {65}),
        (TABLES, replace(TABLES, code=71, out=b"line 1\na\n\nli", err=NO_ROOM + ERROR), {71}),
        (ROWS, replace(ROWS, code=65, out=b"index,value\n0,a\n0,b\n", err=NO_ROOM), {65}),
        (ROWS, replace(ROWS, code=65, out=b"index,value\n0,a\n0,b\n", err=NO_ROOM.replace(b"arrays asked for", b"draws")), {65}),
    ],
)
def test_what_is_right(good, done, allowed):
    assert faults(done, good, allowed, by_line=good in BY_LINE) == []


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
        (LINES, {"code": 65, "out": TOLD, "err": NO_ROOM}, "although each line says it"),
        (TABLES, {"code": 65, "out": b"line 3\nc\n", "err": NO_ROOM}, "neither right nor an error"),
        (TABLES, {"code": 65, "err": NO_ROOM}, "neither right nor an error"),
        (TABLES, {"code": 71, "err": NO_ROOM}, "0 lines"),
        (TABLES, {"code": 71, "out": b"line 1\na\n\nline 2\n", "err": NO_ROOM + ERROR}, "no beginning"),
        (ROWS, {"code": 65, "out": b"index,value\n1,c\n", "err": NO_ROOM}, "neither right nor an error"),
    ],
)
def test_what_is_wrong(good, change, fault):
    found = faults(replace(good, **change), good, {AS_GOOD, 65, 66, 71}, by_line=good in BY_LINE)
    assert any(fault in line for line in found), found


# ---- inputs that may be anything ---------------------------------------------------------------------------------------

WRITES = Command(["attend", "-q", "in/q.npy", "-o", "out.npy"])
PRINTS = Command(["run", "a b"])
REFUSED = Done(65, b"", ERROR, OLD, [])


@pytest.mark.parametrize(
    ("command", "done"),
    [
        (WRITES, REFUSED),
        (WRITES, Done(0, b"", b"attn-cli: warning: a score overflowed\n", b"new", [])),
        (PRINTS, Done(0, b"table\n", b"", None, [])),
        (PRINTS, Done(1, b"MISMATCH\n", b"", None, [])),
        (PRINTS, replace(REFUSED, err=b"attn-cli: warning: odd\n" + ERROR)),
        (PRINTS, replace(REFUSED, err="attn-cli: error: got '\u0379'\n".encode())),
        (Command(["check", "in/a.json"]), Done(65, b'{"passed":false}\n', b"", None, [])),
    ],
)
def test_what_is_right_whatever_the_input(command, done):
    assert list(hostile_faults(done, command)) == []


@pytest.mark.parametrize(
    ("command", "done", "fault"),
    [
        (PRINTS, Done(None, b"", b"", None, []), "it did not end"),
        (PRINTS, replace(REFUSED, code=-11, err=b""), "it ends with -11"),
        (PRINTS, replace(REFUSED, code=70), "it ends with 70"),
        (PRINTS, replace(REFUSED, err=b""), "0 lines"),
        (PRINTS, replace(REFUSED, err=ERROR * 2), "2 lines"),
        (PRINTS, replace(REFUSED, err=ERROR[:-1] + b"x" * 5000 + b"\n"), "a line of 5"),
        (PRINTS, replace(REFUSED, err=ERROR[:-1] + b"\x1b[1m\n"), "control characters"),
        (PRINTS, replace(REFUSED, out=b"half a ta"), "output before the failure"),
        (WRITES, replace(REFUSED, file=b"ha"), "is not the old one"),
        (WRITES, replace(REFUSED, code=0, err=b""), "no new output file"),
        (WRITES, replace(REFUSED, code=0, file=b"new"), "although it succeeds"),
        (WRITES, replace(REFUSED, left=[".attn-cli-1-0.tmp"]), "it leaves .attn-cli-1-0.tmp"),
    ],
)
def test_what_is_wrong_whatever_the_input(command, done, fault):
    found = list(hostile_faults(done, command))
    assert any(fault in line for line in found), found


@pytest.mark.parametrize(
    ("code", "own", "peak", "on_disk", "array_bytes", "right"),
    [
        (65, 79, 79, 0, 0, True),
        (65, 81, 81, 0, 1000, False),  # refused: its arrays are no reason
        (65, 300, 300, 100, 0, True),
        (71, 320, 320, 100, 0, False),
        (0, 300, 300, 0, 80, True),
        (0, 330, 330, 0, 80, False),
        (65, 20, 3000, 0, 0, True),  # pages of a sparse file of 3,000
        (65, 20, 3100, 0, 0, False),  # more than that file has, though nobody saw when
    ],
)
def test_how_much_memory_is_right(code, own, peak, on_disk, array_bytes, right):
    mappable = 3000 if peak >= 3000 else on_disk
    taken = Taken(*(mebibytes << 20 for mebibytes in (peak, own, on_disk, mappable)))
    command = Command(["compare", "a", "b"], array_bytes=array_bytes << 20)
    assert (list(memory_faults(Done(code, b"", b"", None, []), taken, command)) == []) is right


@pytest.mark.parametrize(("code", "mib", "size", "right"), [(65, 40, 0, True), (-9, 79, 0, True), (-9, 80, 0, False), (-9, 300, 80, True),
                                                            (-9, 320, 80, False)])
def test_whom_a_group_may_kill(code, mib, size, right):
    assert (list(group_faults(Done(code, b"", b"", None, []), mib, size << 20)) == []) is right


def test_a_limit_changes_nothing():
    assert list(differences(GOOD, GOOD)) == []
    for change in ({"code": 1}, {"out": b"x"}, {"file": b"one\n"}):
        assert len(list(differences(replace(GOOD, **change), GOOD))) == 1


# ---- planted programs --------------------------------------------------------------------------------------------------

TELLS = "echo 'attn-cli: error: this is refused' >&2; exit 65"
PLANTED = {
    "good": f"#!/bin/sh\n{TELLS}\n",
    "greedy": f"#!{sys.executable}\nimport sys\nx = b'x' * (300 << 20)\nsys.exit(not sys.stderr.write('attn-cli: error: no\\n') or 65)\n",
    "dying": "#!/bin/sh\nkill -SEGV $$\n",
    "dying where stacks are small": f"#!/bin/sh\ntest $(ulimit -s) -lt 8000 && kill -SEGV $$\n{TELLS}\n",
    "leaving": f"#!/bin/sh\n: > .attn-cli-1-0.tmp\n{TELLS}\n",
    "silent": "#!/bin/sh\nexit 65\n",
}


def found_in(kind, program, case, tmp_path, monkeypatch):
    if reason := kind.missing():
        pytest.skip(reason)
    monkeypatch.setattr(hostile, "any_command", lambda ground, folder, draw: inputs.array_command(folder, draw))
    (tmp_path / "planted").write_text(PLANTED[program])
    (tmp_path / "planted").chmod(0o755)
    (tmp_path / "ground").mkdir()
    return " ".join(kind.run(Ground(tmp_path / "planted", tmp_path / "ground"), *case))


@pytest.mark.parametrize(
    ("kind", "program", "fault"),
    [
        (hostile.Arrays, "good", ""),
        (hostile.Arrays, "greedy", "MiB and ends with 65; allowed: 80"),
        (hostile.Arrays, "dying", "it ends with -11"),
        (hostile.Arrays, "leaving", "it leaves .attn-cli-1-0.tmp"),
        (hostile.Folders, "good", ""),
        (hostile.Folders, "greedy", "MiB and ends with 65; allowed: 80"),
        (hostile.Folders, "dying", "it ends with -11"),
        (hostile.Folders, "leaving", "it leaves .attn-cli-1-0.tmp"),
        (hostile.Stacks, "good", ""),
        (hostile.Stacks, "dying where stacks are small", "it ends with -11"),
        (hostile.Stacks, "leaving", "it leaves .attn-cli-1-0.tmp"),
        (hostile.Groups, "good", ""),
        (hostile.Groups, "greedy", "a group of 100 MiB killed it"),
        (hostile.Groups, "dying", "it ends with -11"),
        (hostile.Groups, "leaving", "it leaves .attn-cli-1-0.tmp"),
        (hostile.Groups, "silent", "0 lines"),
    ],
)
def test_a_planted_fault_is_found(kind, program, fault, tmp_path, monkeypatch):
    more = {hostile.Stacks: ["128"], hostile.Groups: ["100"]}.get(kind, [])
    for seed in ("1", "4"):
        folder = tmp_path / seed
        folder.mkdir()
        found = found_in(kind, program, [seed, *more], folder, monkeypatch)
        assert fault in found if fault else found == "", found


@pytest.mark.parametrize("make", [inputs.array_command, inputs.large_command, folders.model_command])
def test_a_seed_gives_the_same_command_and_files_again(make, tmp_path):
    if make is folders.model_command and (reason := folders.missing()):
        pytest.skip(reason)
    for seed in range(10):
        made = []
        for place in ("a", "b"):
            folder = tmp_path / f"{seed}{place}"
            command = make(folder, random.Random(seed))
            sizes = sorted((path.relative_to(folder), path.stat().st_size) for path in folder.rglob("*") if path.is_file())
            made.append((str(command), sizes))
        assert made[0] == made[1]
