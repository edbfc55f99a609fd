"""Texts that are no sentence, and work that does not fit."""

import csv
import io

import pytest
from program import SENTENCE, assert_fails, limits_memory, run, shell, succeeds, within


@pytest.mark.parametrize("option", [["--ids", "1", "--vocab-size", "2", "--labels"], [SENTENCE, "--query"]])
def test_invalid_utf8_in_an_option_never_reaches_the_output(option):
    done = run("run", "--json", *option, b"\xff")
    assert done.code in (2, 65) and done.out == b""
    assert done.message.isprintable() or done.message.count("\n") == 1


@pytest.mark.parametrize("control", ["\x01", "\x1b[31m", "\x7f", "\u0085x", "\u202e"])
def test_control_characters_are_escaped_in_tables(control):
    word = f"a{control}b"
    table = succeeds("run", f"{word} c").text
    assert control[0] not in table.replace("\n", "")


def test_control_characters_survive_json():
    assert succeeds("run", "a\x01b \x1b[31mred", "--json").json["tokens"] == ["a\x01b", "\x1b[31mred"]


def test_words_come_back_from_csv_to_the_byte():
    words = ["a\x01b", "\x1b[31mred", 'say"so"', "tab\there", "\x7f", "é\u202e", "two words", " line\nbreak"]
    labels = ",".join(words)
    ids = ",".join(str(i) for i in range(len(words)))
    done = succeeds("run", "--ids", ids, "--vocab-size", 9, "--labels", labels, "--show", "token_ids", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(done.text, newline="")))
    assert [row["query_token"] for row in rows] == words
    assert [row["value"] for row in rows] == [f"{i}" for i in range(len(words))]


def test_a_text_beyond_the_limit_is_bad_data():
    assert succeeds("run", "--json", "--max-input-bytes", "5", stdin="a b c").json["tokens"] == ["a", "b", "c"]
    assert_fails(run("run", "--max-input-bytes", "5", stdin="a b c "), 65)


@limits_memory
def test_the_limit_is_noticed_while_reading():
    endless = open("/dev/zero", "rb")
    with endless:
        assert_fails(run("run", "--threads", "1", stdin=endless.fileno(), preexec_fn=within(300)), 65)
    done = shell("head -c 400000000 /dev/zero | tr '\\0' a | (ulimit -v 300000; \"$A\" run --lines - --json --max-input-bytes 1000000)")
    assert (done.code, done.err) == (65, b"")
    assert done.json["error"]["message"].startswith("the line is longer than 1000000 bytes")


def test_work_that_does_not_fit_is_refused_before_it_begins():
    sentence = " ".join(f"w{i}" for i in range(200000))
    done = run("run", "--json", stdin=sentence)
    assert_fails(done, 71, "bytes", "--query")
    done = run("run", SENTENCE, "--vocab-size", "2147483647", "--embed-dim", "1048576")
    assert_fails(done, 71, "the draws need ", " GiB)", "draws[1], embedding (2147483647, 1048576)", "--vocab-size")


@limits_memory
@pytest.mark.parametrize("megabytes", [60, 100, 200])
def test_little_memory_is_said_in_one_line(megabytes):
    sentence = " ".join(f"w{i}" for i in range(6000))
    assert_fails(run("run", "--json", "--show", "all", stdin=sentence, preexec_fn=within(megabytes)), 71, "bytes", "--query")
    assert succeeds("run", SENTENCE, preexec_fn=within(megabytes)).out == succeeds("run", SENTENCE).out


@limits_memory
def test_memory_that_runs_out_midway_is_said_in_one_line(tmp_path):
    """Reading a large file needs memory that no estimate foresees."""
    file = tmp_path / "large.json"
    with open(file, "w", encoding="utf-8") as out:
        out.write('{"schema":"attn-cli/result/1","x":[' + "1.5," * 30_000_000 + "1.5]}")
    done = run("check", file, preexec_fn=within(150))
    assert (done.code, done.out, done.message) == (71, b"", "attn-cli: error: out of memory\n")


@pytest.mark.parametrize("scale", ["1e30", "-1e30", "1e36"])
def test_large_finite_scores_give_no_nan(scale):
    done = run("run", SENTENCE, "--scale", scale, "--json")
    assert done.code == 0 and b"nan" not in done.out
    for row in done.json["weights"][0]:
        assert abs(sum(row) - 1) < 1e-6
