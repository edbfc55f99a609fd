"""data/examples/spark.py, as the manual submits it, under Spark. Without Java or the Python package pyspark: skipped."""

import importlib.util
import itertools
import shutil
import sys
from pathlib import Path

import pytest
from engines import PROGRAM, ROOT, assert_same, attempts, bash, documented, one_process, program_that, sentences, with_input

pyspark = pytest.importorskip("pyspark")
pytestmark = pytest.mark.skipif(shutil.which("java") is None, reason="java is not installed")

[COMMAND] = documented("spark-submit")
REAL = Path(PROGRAM).parent
HOME = Path(pyspark.__file__).parent
KILLED = 'for i in 1 2 3; do IFS= read -r line; printf "%s\\n" "$line"; done | "$real" "$@"; kill -9 $$'


# ---- under Spark -----------------------------------------------------------------------------------------------------

# The first attempt at a partition loses the program, the second the worker that feeds it.
LOST_TWICE = 'if mkdir "$0.$first" 2>/dev/null; then kill -9 $$; fi; if mkdir "$0.$first.again" 2>/dev/null; then IFS= read -r line; kill -9 $PPID; fi'


@pytest.fixture
def folder(tmp_path):
    return with_input(tmp_path, sentences(2000))


def submit(folder, program, command=COMMAND):
    """On two threads, three attempts at a task."""
    conf = folder / "conf"
    conf.mkdir()
    (conf / "spark-defaults.conf").write_text(f"spark.master local[2,3]\nspark.ui.enabled false\nspark.local.dir {folder}/local\n")
    environment = {"SPARK_HOME": str(HOME), "SPARK_CONF_DIR": str(conf), "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    return bash(command, folder, [program, HOME / "bin"], **environment)


def joined(folder):
    assert (folder / "results/_SUCCESS").exists()
    parts = sorted((folder / "results").glob("part-*"))
    assert len(parts) > 4
    return b"".join(part.read_bytes() for part in parts)


def test_it_writes_the_bytes_of_one_process(folder):
    code, err = submit(folder, REAL)
    assert code == 0, err
    assert_same(joined(folder), one_process(folder, "--json"))


def test_tasks_that_lose_the_program_or_the_worker_are_repeated(folder):
    code, err = submit(folder, program_that(LOST_TWICE, folder), COMMAND + " --heads 2 --show weights,scores")
    assert code == 0, err
    assert_same(joined(folder), one_process(folder, "--json", "--heads", 2, "--show", "weights,scores"))
    assert attempts(folder) >= 2 * sum(part.stat().st_size > 0 for part in (folder / "results").glob("part-*")) >= 8
    assert "exit code -9" in err and "Python worker exited unexpectedly" in err


@pytest.mark.parametrize("script", [None, KILLED], ids=["missing", "killed"])
def test_no_partition_is_lost_silently(script, folder):
    code, err = submit(folder, program_that(script, folder))
    assert code != 0 and not (folder / "results/_SUCCESS").exists()
    assert ("No such file or directory: 'attn-cli'" if script is None else "exit code -9") in err


# ---- a partition without Spark ---------------------------------------------------------------------------------------


@pytest.fixture
def results(tmp_path, monkeypatch):
    """The results of ten lines that count from 40, by the program that runs `script` first."""
    spec = importlib.util.spec_from_file_location("spark_example", ROOT / "data/examples/spark.py")
    spark = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(spark)

    def results(script, lines, counted=10, options=()):
        monkeypatch.setenv("PATH", f"{program_that(script, tmp_path)}:/usr/bin:/bin")
        return spark.attention([0, 40, 40 + counted], options)(1, iter(lines))

    return results


LINES = [b"a b"] * 10


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (KILLED, "exit code -9, 3 results for 10 lines"),
        ('"$real" "$@"; exit 70', "exit code 70, 10 results"),
        ('"$real" "$@" | sed 3d; exit', "exit code 0, 9 results for 10 lines"),
        ('"$real" "$@" | sed 10p; exit', "exit code 0, 11 results for 10 lines"),
        ("exit 65", "exit code 65, 0 results"),
    ],
    ids=["killed", "failing", "a result less", "a result more", "no result"],
)
def test_a_partition_fails_unless_every_line_has_its_result(script, message, results):
    with pytest.raises(RuntimeError, match=message):
        list(results(script, LINES))


def test_a_partition_fails_when_an_option_is_bad_data(results, tmp_path):
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(RuntimeError, match="exit code 65, 0 results"):
        list(results("", LINES, options=["--recipe", str(tmp_path / "bad.json")]))


@pytest.mark.parametrize("counted", [9, 11])
def test_a_partition_fails_when_its_lines_are_others_than_were_counted(counted, results):
    with pytest.raises(RuntimeError, match=f"exit code 0, 10 results for {counted} lines"):
        list(results("", LINES, counted))


def test_a_partition_fails_when_its_lines_end_in_an_error(results):
    def broken():
        yield from LINES
        raise OSError("the disk is gone")

    with pytest.raises(RuntimeError, match="10 results") as raised:
        list(results("", broken()))
    assert "the disk is gone" in str(raised.value.__cause__)


def test_a_partition_is_a_stream(results):
    taken = itertools.count()
    stream = results("", (b"line %d" % number for number in taken))
    assert [next(stream).count(b'"index":%d,' % (40 + number)) for number in range(1000)] == [1] * 1000
    stream.close()
    assert next(taken) < 100000  # though there is no end to them
