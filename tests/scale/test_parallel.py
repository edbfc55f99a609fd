"""data/examples/parallel.sh, as the manual calls it, under GNU parallel. Without Debian's parallel: skipped."""

import shlex
import shutil
from pathlib import Path

import pytest
from engines import PROGRAM, assert_same, attempts, bash, documented, one_process, program_that, sentences, with_input

pytestmark = pytest.mark.skipif(shutil.which("parallel") is None, reason="parallel is not installed")

COMMANDS = documented("data/examples/parallel.sh")
REAL = Path(PROGRAM).parent
KILLED = 'timeout -s KILL 0.02 "$real" "$@"; kill -9 $$'
KILLED_ONCE = f'if mkdir "$0.$first" 2>/dev/null; then {KILLED}; fi'
FAILS_AT_THE_END = '"$real" "$@"; exit 70'
STILL_WRITES = 'setsid bash -c \'for i in {1..30000}; do : >"$parts/late$i" || exit; done\' 2>/dev/null & exit 70'


@pytest.fixture
def folder(tmp_path):
    return with_input(tmp_path, sentences(3500))


def results_of(command):
    return shlex.split(command)[2]


def options_of(command):
    name = results_of(command)
    return [*shlex.split(command)[3:], "--format", name.rpartition(".")[2]]


def test_the_manual_shows_json_and_csv():
    assert sorted(results_of(command) for command in COMMANDS) == ["results.csv", "results.json"]


@pytest.mark.parametrize("command", COMMANDS)
def test_it_writes_the_bytes_of_one_process(command, folder):
    code, _ = bash(command, folder, [REAL])
    assert code == 0
    assert_same((folder / results_of(command)).read_bytes(), one_process(folder, *options_of(command)))
    assert {path.name for path in folder.iterdir()} == {"data", "home", "sentences.txt", results_of(command)}


@pytest.mark.parametrize("command", COMMANDS)
def test_parts_that_are_killed_midway_are_repeated(command, folder):
    code, _ = bash(command, folder, [program_that(KILLED_ONCE, folder)])
    assert (code, attempts(folder)) == (0, 4)
    assert_same((folder / results_of(command)).read_bytes(), one_process(folder, *options_of(command)))


@pytest.mark.parametrize(
    "script", [None, KILLED, FAILS_AT_THE_END, STILL_WRITES], ids=["missing", "killed", "failing", "still writing"]
)
@pytest.mark.parametrize("command", COMMANDS)
def test_no_part_is_lost_silently(script, command, folder):
    assert_fails(folder, bash(command, folder, [program_that(script, folder)]), "This job failed")


def test_an_option_that_is_bad_data_is_no_bad_line(folder):
    (folder / "bad.json").write_text("{}")
    done = bash("data/examples/parallel.sh sentences.txt results.json --recipe bad.json", folder, [REAL])
    assert_fails(folder, done, "bad.json")


def test_a_full_disk_is_noticed(folder):
    done = bash("ulimit -f 500; " + COMMANDS[0], folder, [REAL])
    assert_fails(folder, done, "File too large")


def assert_fails(folder, done, reason):
    code, err = done
    assert code != 0 and reason in err, err
    assert not list(folder.glob("results*"))


def test_no_lines_give_no_results(folder):
    (folder / "sentences.txt").write_bytes(b"")
    code, err = bash("data/examples/parallel.sh sentences.txt results.json", folder, [REAL])
    assert (code, err, (folder / "results.json").read_bytes()) == (0, "", b"")
