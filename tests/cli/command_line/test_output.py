"""Where output goes: whole files or none, full disks, closed descriptors, readers that leave, signals."""

import fcntl
import json
import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
import termios
import time

import pytest
from program import PROGRAM, SENTENCE, assert_fails, run, shell, starves, succeeds, without_root
from tensors import numpy

LARGE = " ".join(f"word{i}" for i in range(1500))  # its weights are some 20 MB of JSON


def test_a_file_holds_what_stdout_would(tmp_path):
    for name, format in (("x.json", "json"), ("x.csv", "csv"), ("x.txt", "table"), ("x", "table")):
        done = succeeds("run", SENTENCE, "-o", tmp_path / name)
        assert done.out == b""
        assert (tmp_path / name).read_bytes() == succeeds("run", SENTENCE, "--format", format).out
    assert sorted(os.listdir(tmp_path)) == ["x", "x.csv", "x.json", "x.txt"]


def test_a_dash_is_stdout(tmp_path):
    assert succeeds("run", SENTENCE, "-o", "-", cwd=tmp_path).out == succeeds("run", SENTENCE).out
    assert succeeds("run", SENTENCE, "-o", "/dev/stdout").out == succeeds("run", SENTENCE).out
    assert os.listdir(tmp_path) == []


def test_dev_stdout_goes_on_where_stdout_stands(tmp_path):
    log = tmp_path / "log"
    log.write_text("first\n")
    assert shell(f'"$A" run "a b" --json -o /dev/stdout >> {log}').code == 0
    assert log.read_bytes() == b"first\n" + succeeds("run", "a b", "--json").out


def test_an_old_file_stays_when_the_run_fails(tmp_path):
    file = tmp_path / "out.json"
    file.write_text("old")
    assert_fails(run("run", ",", "-o", file), 65)
    assert_fails(run("run", SENTENCE, "--query", "dog", "-o", file), 2)
    assert (file.read_text(), os.listdir(tmp_path)) == ("old", ["out.json"])


def test_a_file_that_is_read_is_not_replaced(tmp_path):
    succeeds("run", "a b", "--show", "all", "-o", "p.json", cwd=tmp_path)
    succeeds("run", "a b", "-o", "mine.recipe.json", cwd=tmp_path)
    numpy.savez(tmp_path / "mask.npz", m=numpy.ones((2, 2), bool))
    numpy.savez(tmp_path / "rows.npz", r=numpy.ones((2, 16)))
    (tmp_path / "words.txt").write_text("a\nb\n")
    (tmp_path / "v.txt").write_text("a 1 2\nb 3 4\n")
    (tmp_path / "link.json").symlink_to("p.json")
    os.link(tmp_path / "p.json", tmp_path / "same.json")
    os.link(tmp_path / "words.txt", tmp_path / "hard.txt")
    before = {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)}
    table = ["--embeddings", "rows.npz", "--set", "embeddings.words.file=words.txt"]
    for output, *options in (
        ["p.json", "--params", "p.json"],
        ["link.json", "--params", "p.json"],
        ["p.json", "--params", "link.json"],
        ["same.json", "--params", "./p.json"],
        ["mask.npz", "--mask", "mask.npz"],
        ["v.txt", "--embeddings", "v.txt"],
        ["rows.npz", *table],
        ["words.txt", *table],
    ):
        refused = f"-o: got '{output}', which is also read; allowed: another file"
        assert_fails(run("run", "a b", *options, "-o", output, cwd=tmp_path), 2, refused)
    for recipe in ("mine.recipe.json", "./mine.recipe.json", "p.json"):
        for command in (["run"], ["explain", "--query", "a", "--format", "json"]):
            assert_fails(run(*command, "--recipe", recipe, "-o", recipe, cwd=tmp_path), 2, "which is also read")
    for model in ([], ["--model", "induction"]):
        for output in ("words.txt", "./words.txt", "hard.txt"):
            assert_fails(run("run", "--lines", "words.txt", *model, "-o", output, cwd=tmp_path), 2, "which is also read")
    for opened in ("-o /dev/fd/3 3<> words.txt", "-o /dev/stdin 0<> words.txt"):
        assert shell(f'cd {tmp_path} && "$A" run --json < words.txt {opened}').code == 2
    assert_fails(shell(f'cd {tmp_path} && "$A" run --recipe - -o mine.recipe.json < mine.recipe.json'), 2, "which is also read")
    assert {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)} == before
    succeeds("run", "--recipe", "mine.recipe.json", "-o", "other.recipe.json", cwd=tmp_path)
    succeeds("run", "--recipe", "owen-2025", "-o", "owen-2025.json", cwd=tmp_path)


def test_an_old_file_keeps_its_permissions_and_links_stay_links(tmp_path):
    file, link = tmp_path / "out.json", tmp_path / "link.json"
    file.write_text("old")
    file.chmod(0o640)
    link.symlink_to("out.json")
    succeeds("run", SENTENCE, "-o", link)
    assert link.is_symlink() and stat.S_IMODE(file.stat().st_mode) == 0o640
    assert file.read_bytes() == succeeds("run", SENTENCE, "--json").out


def test_a_fifo_is_written_directly(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with subprocess.Popen(["cat", fifo], stdout=subprocess.PIPE) as reader:
        succeeds("run", SENTENCE, "--json", "-o", fifo)
        assert reader.stdout.read() == succeeds("run", SENTENCE, "--json").out
    assert stat.S_ISFIFO(fifo.stat().st_mode)


def test_a_missing_or_read_only_directory_is_noticed_before_the_work(tmp_path):
    assert_fails(run("run", LARGE, "-o", tmp_path / "none/out.json"), 73)
    assert_fails(run("run", LARGE, "-o", tmp_path), 73)
    assert_fails(run("run", LARGE, "-o", "/proc/out.json"), 73)
    assert_fails(run("run", LARGE, "-o", ""), 73)
    # Standard input would wait for ever: it is not even read.
    with subprocess.Popen(
        [PROGRAM, "run", "-", "-o", tmp_path / "none/out.json"], stdin=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.wait(30) == 73


def test_a_directory_that_is_not_writable_is_noticed(tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir()
    (closed / "old.json").write_text("old")
    nobody = without_root(tmp_path)
    for name in ("new.json", "old.json"):
        (closed / "old.json").chmod(0o444)
        closed.chmod(0o555)
        assert_fails(run("run", SENTENCE, "-o", closed / name, **nobody), 73)
    assert os.listdir(closed) == ["old.json"]


def test_a_write_protected_file_is_not_replaced(tmp_path):
    folder = tmp_path / "open"
    folder.mkdir()
    file = folder / "old.json"
    file.write_text("old")
    file.chmod(0o444)
    nobody = without_root(tmp_path)
    folder.chmod(0o777)
    assert_fails(run("run", SENTENCE, "-o", file, **nobody), 73)
    assert (file.read_text(), os.listdir(folder)) == ("old", ["old.json"])


def assert_refused_before_the_work(file, *parts, program=PROGRAM, env=None, **options):
    """Standard input stays open: nobody waits for its end."""
    with subprocess.Popen(
        [program, "run", "-", "-o", file], stdin=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **(env or {})}, **options
    ) as process:
        assert process.wait(30) == 73
        message = process.stderr.read().decode()
    assert message.count("\n") == 1 and all(part in message for part in parts), message
    assert file.read_text() == "old" and not list(file.parent.glob(".attn-cli-*"))


def test_a_mount_point_is_not_replaced_and_that_is_noticed_before_the_work(tmp_path):
    file, other = tmp_path / "out.json", tmp_path / "other"
    for each in (file, other):
        each.write_text("old")
    if subprocess.run(["mount", "--bind", other, file], check=False, capture_output=True).returncode != 0:
        pytest.skip("this user may mount nothing")
    try:
        assert_refused_before_the_work(file, "out.json", "Device or resource busy")
    finally:
        subprocess.run(["umount", file], check=True)


def test_a_file_of_somebody_else_in_a_folder_for_all_is_noticed_before_the_work(tmp_path):
    nobody = without_root(tmp_path)
    if not nobody:
        pytest.skip("only root has a file of somebody else")
    folder = tmp_path / "all"
    folder.mkdir()
    folder.chmod(0o1777)
    file = folder / "out.json"
    file.write_text("old")
    file.chmod(0o666)
    assert_refused_before_the_work(file, "out.json", "Operation not permitted", **nobody)


@pytest.mark.parametrize("name", ["out.json", ""])
def test_what_only_grows_is_noticed_before_the_work(name, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    file = folder / "out.json"
    file.write_text("old")
    if shutil.which("chattr") is None or subprocess.run(["chattr", "+a", folder / name], check=False, capture_output=True).returncode != 0:
        pytest.skip("no append-only files here")
    try:
        assert_refused_before_the_work(file, "out.json", "Operation not permitted")
    finally:
        subprocess.run(["chattr", "-a", folder / name], check=True)


def test_a_full_disk_is_an_io_error():
    assert_fails(run("run", SENTENCE, "-o", "/dev/full"), 74)
    for arguments in (["run", SENTENCE], ["run", LARGE, "--json"], ["--help"], ["--version"], ["recipe", "list"], ["schema"], ["check", "--all"]):
        with open("/dev/full", "wb") as full:
            done = run(*arguments, stdout=full)
        assert done.code == 74, arguments
        assert done.message == "attn-cli: error: cannot write standard output: No space left on device\n"


@starves
def test_a_file_that_outgrows_its_limit_leaves_the_old_one(tmp_path):
    file = tmp_path / "out.json"
    file.write_text("old")

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))

    assert_fails(run("run", LARGE, "-o", file, preexec_fn=limit), 74)
    assert (file.read_text(), os.listdir(tmp_path)) == ("old", ["out.json"])


@pytest.fixture
def small_disk(tmp_path):
    """A file system of one megabyte; where this user may mount none, a plain folder, which the test above makes fail instead."""
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", tmp_path], check=False, capture_output=True)
    yield tmp_path, mounted.returncode == 0
    if mounted.returncode == 0:
        subprocess.run(["umount", tmp_path], check=True)


def test_a_disk_that_fills_up_leaves_the_old_file(small_disk):
    folder, is_small = small_disk
    file = folder / "out.json"
    file.write_text("old")
    done = run("run", LARGE, "-o", file)
    if is_small:
        assert_fails(done, 74)
        assert file.read_text() == "old"
    assert os.listdir(folder) == ["out.json"]


@pytest.mark.parametrize("arguments", ['run "a b"', 'run "a b" --json', "--help", "-V", "recipe list", "schema", "check --all"])
def test_a_closed_stdout_is_an_io_error(arguments):
    done = shell(f'"$A" {arguments} >&-')
    assert (done.code, done.message) == (74, "attn-cli: error: cannot write standard output: Bad file descriptor\n")


@pytest.mark.parametrize("closed", [">&-", "<&- >&-", "<&- >&- 2>&-"])
def test_no_file_becomes_a_closed_stdout(closed, tmp_path):
    recipe = tmp_path / "recipe.json"
    recipe.write_bytes(succeeds("recipe", "show", "owen-2025").out)
    before = recipe.read_bytes()
    assert shell(f'"$A" run --recipe {recipe} {closed}').code == 74
    out = tmp_path / "out.json"
    assert shell(f'"$A" run --recipe {recipe} -o {out} {closed}').code == 0
    assert out.read_bytes() == succeeds("run", "--recipe", recipe, "--json").out
    assert recipe.read_bytes() == before


def test_a_closed_stdin_is_no_sentence():
    assert_fails(shell('"$A" run <&-'), 2)


def test_a_closed_stderr_changes_no_exit_code():
    assert shell('"$A" run "a b" 2>&-').code == 0
    assert shell('"$A" run "a b" --verbose 2>&-').code == 0
    assert shell('"$A" run , 2>&-').code == 65
    assert shell('"$A" 2>&-').code == 2


@pytest.mark.parametrize("arguments", [["run", LARGE, "--json"], ["run", LARGE], ["--help"]])
def test_a_reader_that_goes_away_is_no_error(arguments):
    with subprocess.Popen([PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(30) == 0


def test_head_gets_its_line():
    done = shell('set -o pipefail; "$A" run --lines <(yes a b) --json | head -n 2 | wc -l')
    assert (done.code, done.text.strip(), done.err) == (0, "2", b"")


# ---- signals ---------------------------------------------------------------------------------------------------------


def wait_until(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.002)


@pytest.mark.parametrize(("number", "code", "word"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")])
def test_a_signal_while_writing_leaves_the_old_file_and_no_other(number, code, word, tmp_path):
    file = tmp_path / "out.json"
    file.write_text("old")
    with subprocess.Popen(
        [PROGRAM, "run", "--lines", "/dev/stdin", "-o", file], stdin=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdin.write((LARGE + "\n").encode())
        process.stdin.flush()
        wait_until(lambda: any(entry.stat().st_size > 100000 for entry in os.scandir(tmp_path)))  # it writes
        process.send_signal(number)
        assert process.stderr.read().decode() == f"attn-cli: error: {word}\n"
        assert process.wait(30) == code
    assert (file.read_text(), os.listdir(tmp_path)) == ("old", ["out.json"])


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_while_waiting_for_input_ends_at_once(number, code, tmp_path):
    with subprocess.Popen(
        [PROGRAM, "run", "-", "-o", tmp_path / "out.json"], stdin=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        wait_until(lambda: os.listdir(tmp_path))
        process.send_signal(number)
        assert process.wait(30) == code
    assert os.listdir(tmp_path) == []


def test_a_signal_while_computing_ends_at_once(tmp_path):
    sentence = " ".join(f"w{i}" for i in range(20000))
    with subprocess.Popen(
        [PROGRAM, "run", "-", "--show", "context", "--d-k", "512", "-o", tmp_path / "out.json"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        process.stdin.write(sentence.encode())
        process.stdin.close()
        time.sleep(0.5)
        assert process.poll() is None, "too quick for this test"
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        assert process.wait(30) == 130
        assert time.monotonic() - began < 5
    assert os.listdir(tmp_path) == []


# Those that end a program which does not handle them, but for what only the system or a bug of the program sends.
ENDING = [*"INT TERM HUP QUIT ALRM VTALRM PROF XCPU USR1 USR2 IO PWR STKFLT SYS".split(), *range(signal.SIGRTMIN, signal.SIGRTMAX + 1, 10)]


@pytest.mark.parametrize("number", [name if isinstance(name, int) else getattr(signal, f"SIG{name}") for name in ENDING], ids=int)
def test_no_signal_leaves_a_temporary_file(number, tmp_path):
    with subprocess.Popen(
        [PROGRAM, "run", "-", "-o", tmp_path / "out.json"], stdin=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        wait_until(lambda: os.listdir(tmp_path))
        process.send_signal(number)
        assert process.wait(30) == 128 + number
        assert process.stderr.read().count(b"\n") == 1
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize("errors", [subprocess.PIPE, subprocess.STDOUT])
def test_a_reader_that_stands_still_holds_no_signal(threads, errors, tmp_path):
    lines = tmp_path / "lines.txt"
    lines.write_text("a b c a\n" * 20000)
    command = [PROGRAM, "run", "--lines", lines, "--json", "--threads", threads]
    at_once = {**os.environ, "TSAN_OPTIONS": "atexit_sleep_ms=0"}  # the thread sanitizer waits for a second otherwise
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, env=at_once) as process:
        before, held = None, 0
        while held == 0 or held != before:
            time.sleep(0.1)
            before, held = held, int.from_bytes(fcntl.ioctl(process.stdout, termios.FIONREAD, bytes(4)), sys.byteorder)
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGTERM)  # as timeout(1) does: to its child, and to the group
        assert process.wait(30) == 143
        assert time.monotonic() - began < 0.9
        assert errors == subprocess.STDOUT or process.stderr.read() == b"attn-cli: error: terminated\n"


def ignoring(*numbers):
    """For preexec_fn: what `trap "" INT` does to a child."""
    return lambda: [signal.signal(number, signal.SIG_IGN) for number in numbers]


IGNORABLE = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1]


@pytest.mark.parametrize("number", IGNORABLE, ids=lambda number: number.name)
def test_a_signal_that_is_ignored_from_the_start_stays_ignored(number, tmp_path):
    command = [PROGRAM, "run", "-", "-o", tmp_path / "out.json"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=ignoring(number)
    ) as process:
        wait_until(lambda: os.listdir(tmp_path))
        process.send_signal(number)
        process.stdin.write(b"a b")
        process.stdin.close()
        assert (process.wait(30), process.stderr.read()) == (0, b"")
    assert os.listdir(tmp_path) == ["out.json"]


def test_the_other_signals_still_end_it(tmp_path):
    command = [PROGRAM, "run", "-", "-o", tmp_path / "out.json"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=ignoring(signal.SIGINT, signal.SIGHUP)
    ) as process:
        wait_until(lambda: os.listdir(tmp_path))
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 143
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("start", ["nohup", "in the background"])
def test_nohup_and_background_shells_are_respected(start, tmp_path):
    run_it = '"$A" run - -o out.json < fifo 2> err'
    script, number = {"nohup": (f"nohup {run_it} &", signal.SIGHUP), "in the background": (f"{run_it} &", signal.SIGINT)}[start]
    os.mkfifo(tmp_path / "fifo")
    with subprocess.Popen(
        ["sh", "-c", f'{script} echo $!; wait $!; echo "code $?"'], cwd=tmp_path, env={**os.environ, "A": PROGRAM}, stdout=subprocess.PIPE
    ) as shell:
        process = int(shell.stdout.readline())
        with open(tmp_path / "fifo", "w") as fifo:
            wait_until(lambda: list(tmp_path.glob(".attn-cli-*")))
            os.kill(process, number)
            fifo.write("a b")
        assert shell.stdout.read() == b"code 0\n"
    assert (tmp_path / "out.json").exists() and not list(tmp_path.glob(".attn-cli-*"))


@pytest.mark.parametrize("bits", [0o4755, 0o2755, 0o6750])
def test_a_replaced_file_loses_its_set_user_and_set_group_bits(bits, tmp_path):
    file = tmp_path / "out.json"
    file.write_text("old")
    file.chmod(bits)
    assert stat.S_IMODE(file.stat().st_mode) == bits
    succeeds("run", SENTENCE, "-o", file)
    assert stat.S_IMODE(file.stat().st_mode) == bits & 0o777


def test_a_recipe_has_a_line_for_each_key_step_and_published_array(tmp_path):
    sentence = r'to "be], \ {or" not, \"'
    succeeds("run", sentence, "--heads", "2", "--embed-dim", "4", "-o", "mine.recipe.json", cwd=tmp_path)
    text = (tmp_path / "mine.recipe.json").read_text()
    recipe = json.loads(text)
    assert recipe["input"]["sentence"] == sentence
    lines = text.splitlines()
    assert lines[0] == "{" and lines[-1] == "}" and lines[1] == '  "schema": "attn-cli/recipe/1",'
    assert [line[3:].split('"')[0] for line in lines if line.startswith('  "')] == list(recipe)
    for name in ("draws", "published"):
        first = lines.index(f'  "{name}": [') + 1
        steps = lines[first : first + len(recipe[name])]
        assert [json.loads(step.strip().rstrip(",")) for step in steps] == recipe[name]
        assert all(step.startswith("    {") for step in steps) and lines[first + len(steps)].startswith("  ]")
