"""run --lines: one sentence a line, one result a line."""

import os
import select
import subprocess

import pytest
from program import PROGRAM, SENTENCE, assert_fails, limits_memory, run, shell, succeeds

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


def test_a_bad_line_is_an_error_line_with_its_number_beside_tables():
    done = run("run", "--lines", "-", stdin="a\n\nb\n")
    assert done.code == 65
    assert done.message.startswith("attn-cli: error: line 1: no words in the input")
    assert done.message.count("\n") == 1
    assert b"line 0\n" in done.out and b"line 2\n" in done.out


def test_tables_have_a_heading_each_and_a_blank_line_between():
    tables = succeeds("run", "--lines", "-", stdin="a b\nc\n").text
    assert tables == "line 0\n" + succeeds("run", "a b").text + "\nline 1\n" + succeeds("run", "c").text


def test_csv_has_one_header_and_an_index():
    done = run("run", "--lines", "-", "--format", "csv", "--show", "weights", stdin="\na b\nc\n")
    rows = done.text.splitlines()
    assert done.code == 65
    assert rows[0] == "index,array,head,row,column,query_token,key_token,value"
    assert [row.split(",")[0] for row in rows[1:]] == ["1"] * 4 + ["2"]


def test_a_line_that_is_too_long_is_bad_data_and_the_rest_goes_on():
    done = run("run", "--lines", "-", "--json", "--max-input-bytes", "5", stdin="a b c\na b cd\na b c\r\nx")
    assert done.code == 65
    assert [line.get("tokens") for line in done.json_lines] == [["a", "b", "c"], None, ["a", "b", "c"], ["x"]]
    assert "longer than 5 bytes" in done.json_lines[1]["error"]["message"]


def test_a_query_word_that_a_line_lacks_is_that_lines_error():
    done = run("run", "--lines", "-", "--json", "--query", "b", stdin="a b\na\nb\n")
    assert done.code == 65
    assert [line.get("query_positions") for line in done.json_lines] == [[1], None, [0]]
    assert done.json_lines[1]["error"]["code"] == 2


def test_a_wrong_option_is_one_error_not_one_a_line():
    assert_fails(run("run", "--lines", "-", "--json", "--heads", "3", stdin="a\nb\n"), 2, "--heads")


def test_a_missing_file_is_no_input():
    assert_fails(run("run", "--lines", "/nonexistent"), 66, "'/nonexistent'")


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
