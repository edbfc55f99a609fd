"""run --lines: one sentence a line, one result a line."""

import json
import os
import re
import resource
import select
import signal
import subprocess
import threading
from contextlib import ExitStack
from itertools import product

import pytest
from program import PROGRAM, SENTENCE, assert_fails, limits_memory, run, shell, starves, succeeds, within, without_root

LINES = [SENTENCE, "eat dessert", "naïve café 人 👍", "a b a c a", "x"]


def as_single(line, *options):
    return succeeds("run", line, "--json", *options).out


def without_index(line, index):
    start = b'{"schema":"attn-cli/result/1",'
    assert line.startswith(start)
    key = b'"index":%d,' % index
    assert line.count(key) == 1
    return line.replace(key, b"")


@pytest.mark.parametrize("options", [[], ["--heads", "2", "--causal"], ["--show", "all", "--dtype", "float64"], ["--cross", "one two"]])
def test_a_line_gives_what_a_single_run_gives(options, tmp_path):
    file = tmp_path / "lines.txt"
    file.write_text("\n".join(LINES) + "\n")
    results = succeeds("run", "--lines", file, "--json", *options).out.splitlines(keepends=True)
    assert len(results) == len(LINES)
    for index, (got, line) in enumerate(zip(results, LINES)):
        assert without_index(got, index) == as_single(line, *options)


def test_a_recipe_holds_for_every_line():
    got = succeeds("run", "--lines", "-", "--json", "--recipe", "raschka-2023", stdin="one two\nthree\n").json_lines
    assert [result["tokens"] for result in got] == [["one", "two"], ["three"]]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("a\nb\n", [["a"], ["b"]]),
        ("a\nb", [["a"], ["b"]]),
        ("a\r\nb\r\n", [["a"], ["b"]]),
        ("", []),
    ],
)
def test_a_line_ends_at_the_newline_which_the_last_may_lack(text, tokens):
    assert [result["tokens"] for result in succeeds("run", "--lines", "-", "--json", stdin=text).json_lines] == tokens


def test_a_byte_order_mark_is_no_part_of_the_first_word():
    got = succeeds("run", "--lines", "-", "--json", stdin="\ufeffa b\n\ufeffa b\n").json_lines
    assert [result["tokens"] for result in got] == [["a", "b"], ["\ufeffa", "b"]]  # it stands before a text, not within it
    assert succeeds("run", "-", "--json", stdin="\ufeffa b").out == as_single("a b")


def test_the_carriage_return_is_no_part_of_the_sentence():
    got = succeeds("run", "--lines", "-", "--json", stdin="a b\r\n").out
    assert without_index(got, 0) == as_single("a b")


def test_a_bad_line_is_reported_in_its_place_and_the_rest_goes_on():
    done = run("run", "--lines", "-", "--json", stdin=b"a b\n\nx\xffy\n , \na\0b\nc d\n")
    assert (done.code, done.err) == (65, b"")
    first, blank, broken, commas, nul, last = done.json_lines
    assert (first["index"], first["tokens"]) == (0, ["a", "b"])
    assert (last["index"], last["tokens"]) == (5, ["c", "d"])
    for index, line in enumerate((blank, broken, commas, nul), 1):
        assert list(line) == ["index", "error"] and list(line["error"]) == ["code", "message"]
        assert (line["index"], line["error"]["code"]) == (index, 65)
    assert "no words in the input" in blank["error"]["message"]
    assert "no words in the input" in commas["error"]["message"]
    assert "ff" in broken["error"]["message"].lower() and "1" in broken["error"]["message"]


@pytest.mark.parametrize("show", ["tokens", "tokens,values", "weights"])
def test_verbose_tells_every_stage_under_the_line_that_it_is_of(show):
    single = re.findall(r"debug: (\w+) \(", run("run", "a b", "--verbose", "--show", show).message)
    message = run("run", "--lines", "-", "--verbose", "--show", show, stdin="a b\nc d\n").message
    stages = {line: re.findall(rf"debug: line {line}: (\w+) \(", message) for line in (1, 2)}
    assert stages[1] == stages[2] and stages[1] and set(stages[1]) <= set(single)
    assert stages[1][-1] == single[-1]


def test_a_bad_line_is_an_error_line_with_its_number_beside_tables():
    done = run("run", "--lines", "-", stdin="a\n\nb\n")
    assert done.code == 65
    assert done.message.startswith("attn-cli: error: line 2: no words in the input")
    assert done.message.count("\n") == 1
    assert b"line 1\n" in done.out and b"line 3\n" in done.out and b"line 2\n" not in done.out


def test_tables_have_a_heading_each_in_place_of_an_introduction_and_a_blank_line_between():
    def table(sentence):
        return succeeds("run", sentence).text.split("\n", 1)[1]

    tables = succeeds("run", "--lines", "-", stdin="a b\nc\n").text
    assert tables == "line 1\n" + table("a b") + "\nline 2\n" + table("c")


def test_csv_has_one_header_and_an_index():
    done = run("run", "--lines", "-", "--format", "csv", "--show", "weights", stdin="\na b\nc\n")
    rows = done.text.splitlines()
    assert done.code == 65
    assert rows[0] == "index,array,head,row,column,query_token,key_token,value"
    assert [row.split(",")[0] for row in rows[1:]] == ["1"] * 4 + ["2"]


def test_the_first_index_counts_a_part_on_in_results_messages_and_headings():
    def part(*options):
        return run("run", "--lines", "-", "--show", "token_ids", *options, "--set", "lines.first_index=1000", stdin="a\n\nb\n")

    assert [line["index"] for line in part("--json").json_lines] == [1000, 1001, 1002]
    assert part("--format", "csv").text.splitlines()[1:] == ["1000,token_ids,,0,,a,,0", "1002,token_ids,,0,,b,,0"]
    tables = part()
    assert tables.code == 65
    assert tables.text.startswith("line 1001\n") and "\n\nline 1003\n" in tables.text
    assert tables.message.startswith("attn-cli: error: line 1002: no words in the input")


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("options", [["--json"], ["--format", "csv"]])
def test_parts_with_their_first_index_give_the_bytes_of_the_whole(options, threads):
    lines = many_lines(300).splitlines(keepends=True)
    whole = run("run", "--lines", "-", *options, stdin="".join(lines))
    out, err = b"", b""
    for first in range(0, 300, 80):
        more = ["--set", "csv.header=false"] if "csv" in options and first > 0 else []
        part = run("run", "--lines", "-", *options, *more, "--set", f"lines.first_index={first}", "--threads", threads, stdin="".join(lines[first : first + 80]))
        out, err = out + part.out, err + part.err
    assert (out, err) == (whole.out, whole.err)


def test_the_first_index_may_be_large_and_stays_whole(tmp_path):
    largest = 2**62
    done = succeeds("run", "--lines", "-", "--json", "--set", f"lines.first_index={largest}", "-o", tmp_path / "a.json", stdin="a b\nc\n")
    assert (done.out, [json.loads(line)["index"] for line in open(tmp_path / "a.json")]) == (b"", [largest, largest + 1])
    assert run("check", tmp_path / "a.json").code == 0
    for bad in (largest + 1, -1, "x"):
        assert_fails(run("run", "--lines", "-", "--set", f"lines.first_index={bad}", stdin="a\n"), 2)


def test_a_line_that_is_too_long_is_bad_data_and_the_rest_goes_on():
    done = run("run", "--lines", "-", "--json", "--max-input-bytes", "5", stdin="a b c\na b cd\na b c\r\nx")
    assert done.code == 65
    assert [line.get("tokens") for line in done.json_lines] == [["a", "b", "c"], None, ["a", "b", "c"], ["x"]]
    assert "longer than 5 bytes" in done.json_lines[1]["error"]["message"]


def test_a_line_without_an_end_is_told_at_once():
    command = [PROGRAM, "run", "--lines", "-", "--max-input-bytes", "100"]
    with open("/dev/zero", "rb") as endless, subprocess.Popen(command, stdin=endless, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        assert b"longer than 100 bytes" in process.stderr.readline()
        process.kill()


def test_a_query_word_that_a_line_lacks_is_that_lines_error():
    done = run("run", "--lines", "-", "--json", "--query", "b", stdin="a b\na\nb\n")
    assert done.code == 65
    assert [line.get("query_positions") for line in done.json_lines] == [[1], None, [0]]
    assert done.json_lines[1]["error"]["code"] == 2


def test_a_result_is_out_before_the_next_line_comes():
    with subprocess.Popen([PROGRAM, "run", "--lines", "-", "--json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        for line in (b"a b\n", b"c d\n"):
            process.stdin.write(line)
            process.stdin.flush()
            assert select.select([process.stdout], [], [], 30)[0], "no result"
            assert os.read(process.stdout.fileno(), 1 << 20).endswith(b"}\n")
        process.stdin.close()
        assert process.wait(30) == 0


@limits_memory
def test_ten_thousand_lines_take_no_memory_of_ten_thousand_results():
    script = '(for i in $(seq 10000); do echo "w$i x y z"; done) | (ulimit -v 400000; "$A" run --lines - --json --threads 1) | wc -l'
    done = shell(script)
    assert (done.text.strip(), done.err) == ("10000", b"")


def many_lines(count):
    """Short lines, one of them long, some of them bad."""
    lines = [f"w{i} x w{i % 7} y{i % 5}" for i in range(count)]
    lines[count // 2] = " ".join(f"v{i % 300}" for i in range(600))
    lines[3] = lines[count // 3] = ""
    lines[count - 2] = " , "
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    "options",
    [["--json"], ["--format", "csv"], [], ["--json", "--heads", "2", "--verify"], ["--json", "--query", "x"], ["--init", "normal", "--scale", "1e38"]],
)
def test_threads_change_no_byte(options):
    text = many_lines(400)
    one = run("run", "--lines", "-", *options, "--threads", "1", stdin=text)
    assert one.code == 65
    for threads in (2, 3, 7, 16):
        more = run("run", "--lines", "-", *options, "--threads", threads, stdin=text)
        assert (more.code, more.out, more.err) == (one.code, one.out, one.err)


def test_a_line_that_needs_much_memory_changes_no_byte_either():
    words = " ".join(f"w{i}" for i in range(1500))
    text = "a b\n" * 100 + words + "\n" + "a b\n" * 100 + words + "\nc\n"
    one, two = (succeeds("run", "--lines", "-", "--json", "--show", "weights", "--threads", n, stdin=text).out for n in (1, 2))
    assert one == two


def test_what_would_not_fit_is_that_lines_error():
    done = run("run", "--lines", "-", "--json", "--vocab-size", "2147483647", "--embed-dim", "1048576", "--threads", "2", stdin="a\n" * 200)
    assert done.code == 65
    assert [(line["index"], line["error"]["code"]) for line in done.json_lines] == [(i, 71) for i in range(200)]


class Coprocess:
    """The program with a pipe on both sides."""

    def __init__(self, *options, **with_options):
        command = [PROGRAM, "run", "--lines", "-", "--json", *options]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **with_options)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def send(self, text):
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def receive(self):
        """One line, which must come without more input."""
        assert select.select([self.process.stdout.fileno()], [], [], 30)[0], "no result"
        line = b""
        while not line.endswith(b"\n"):
            line += os.read(self.process.stdout.fileno(), 1)
        return json.loads(line)


@pytest.mark.parametrize("threads", ["1", "2"])
def test_a_result_does_not_wait_for_the_rest_of_the_next_line(threads):
    with Coprocess("--threads", threads) as coprocess:
        coprocess.send(b"a b\nc ")
        assert coprocess.receive()["tokens"] == ["a", "b"]
        coprocess.send(b"d\n")
        assert coprocess.receive()["tokens"] == ["c", "d"]


def test_a_first_line_that_a_document_may_begin_with_is_answered_while_the_input_pauses():
    with ExitStack() as stack:
        coprocesses = []
        for first, threads in product(["", "  ", "{", '{"schema":'], ["1", "2"]):
            coprocesses.append(stack.enter_context(Coprocess("--threads", threads, "--show", "tokens")))
            coprocesses[-1].send(f"{first}\n".encode())
        for coprocess in coprocesses:  # all of them have waited at the same time
            assert coprocess.receive()["index"] == 0
            coprocess.send(b'"schema": "attn-cli/result/1"}\n')
            assert coprocess.receive()["index"] == 1


def test_a_result_does_not_wait_when_several_threads_are_at_work():
    with Coprocess("--threads", "3", "--show", "tokens") as coprocess:
        writer = threading.Thread(target=coprocess.send, args=(b"a\n" * 2000,))
        writer.start()
        assert [coprocess.receive()["index"] for _ in range(2000)] == list(range(2000))
        writer.join()
        for index in range(2000, 2010):
            coprocess.send(b"b c\n")
            assert coprocess.receive()["index"] == index


@pytest.mark.parametrize("threads", ["1", "3"])
def test_two_thousand_replies_come_each_before_the_next_line_is_sent(threads):
    with Coprocess("--threads", threads, "--show", "tokens") as coprocess:
        for index in range(2000):
            coprocess.send(f"a w{index}\n".encode())
            reply = coprocess.receive()
            assert (reply["index"], reply["tokens"]) == (index, ["a", f"w{index}"])
        coprocess.process.stdin.close()
        assert coprocess.process.wait(30) == 0


@starves
@pytest.mark.parametrize("threads", ["1", "2"])
def test_a_wait_for_input_that_always_fails_is_an_io_error(threads):
    environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}  # a search for leaks opens files
    with Coprocess("--threads", threads, stderr=subprocess.PIPE, env=environment) as coprocess:
        coprocess.send(b"a\n")
        coprocess.receive()
        resource.prlimit(coprocess.process.pid, resource.RLIMIT_NOFILE, (0, 0))  # poll refuses more descriptors than this
        coprocess.send(b"b\n")
        assert coprocess.process.wait(30) == 74
        assert coprocess.process.stderr.read() == b"attn-cli: error: cannot wait for standard input: Invalid argument\n"


@pytest.mark.parametrize("processes", [1, 3])
def test_it_goes_on_with_the_threads_that_the_system_gives(processes, tmp_path):
    text = many_lines(400)

    def limit():
        resource.setrlimit(resource.RLIMIT_NPROC, (processes, processes))

    one = run("run", "--lines", "-", "--json", "--threads", "1", stdin=text)
    few = run("run", "--lines", "-", "--json", "--threads", "6", stdin=text, preexec_fn=limit, **without_root(tmp_path))
    assert (few.code, few.out, few.err) == (65, one.out, one.err)


@starves
@limits_memory
@pytest.mark.parametrize(("threads", "megabytes"), [(3, 20), (8, 64), (16, 100), (16, 200), (16, 400)])
def test_memory_that_ends_in_one_of_the_threads_is_the_one_error(threads, megabytes, tmp_path):
    file, out = tmp_path / "lines.txt", tmp_path / "out.jsonl"
    file.write_text("a b c a\n" * 4000)
    for _ in range(3):
        done = run("run", "--lines", file, "--json", "--threads", threads, "-o", out, preexec_fn=within(megabytes))
        if done.code == 0:
            assert (done.err, out.read_bytes().count(b"\n")) == (b"", 4000)
            out.unlink()
        else:
            assert_fails(done, 71)
        assert os.listdir(tmp_path) == ["lines.txt"]


@pytest.mark.parametrize("threads", ["1", "2"])
def test_an_interrupt_ends_it_while_it_waits_and_while_it_works(threads):
    with Coprocess("--threads", threads) as coprocess:
        coprocess.send(b"a\n")
        coprocess.receive()
        coprocess.process.send_signal(signal.SIGINT)
        assert coprocess.process.wait(30) == 130
    with Coprocess("--threads", threads) as coprocess:
        coprocess.send(b"a b c\n" * 5000)
        coprocess.receive()  # and nothing more, so that it comes to stand in the middle of writing
        coprocess.process.send_signal(signal.SIGINT)
        assert coprocess.process.wait(30) == 130


def test_a_reader_that_goes_away_ends_it_although_the_input_stays_open():
    with Coprocess("--threads", "2") as coprocess:
        coprocess.send(b"a b c\n" * 3000)  # fits into the pipe; the results do not fit into theirs
        coprocess.receive()
        coprocess.process.stdout.close()
        assert coprocess.process.wait(30) == 0


def test_chunks_of_a_stream_give_the_bytes_of_the_whole_but_for_the_index(tmp_path):
    """As GNU parallel's --pipe and Spark's pipe do it: every chunk of whole lines to a process of its own."""
    file = tmp_path / "lines.txt"
    file.write_text(many_lines(500))
    script = f'split --number=l/7 --filter=\'"$A" run --lines - --json || test $? -eq 65\' {file}'
    chunks = shell(script)
    assert (chunks.code, chunks.err) == (0, b"")
    whole = run("run", "--lines", file, "--json")
    without = [re.sub(rb'"index":\d+', b"", out) for out in (chunks.out, whole.out)]
    assert without[0] == without[1]
    assert chunks.out.count(b'"index":0,') > 3  # the long line takes more than a chunk


@limits_memory
@pytest.mark.parametrize("threads", ["1", "2"])
def test_the_memory_does_not_grow_with_the_number_of_lines(threads, tmp_path):
    def peak(count):
        file = tmp_path / "lines.txt"
        file.write_text("".join(f"w{i} x{i % 7} y z\n" for i in range(count)))
        with open(os.devnull, "wb") as null:
            process = subprocess.Popen([PROGRAM, "run", "--lines", file, "--json", "--threads", threads], stdout=null)
            _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        return usage.ru_maxrss  # KiB

    assert peak(50000) < peak(2000) + 4096
