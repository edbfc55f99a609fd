"""Terminals, colours, locales, logs and progress."""

import os
import pty
import re
import shlex
import subprocess
import time
from pathlib import Path

import pytest
from program import PROGRAM, SANITIZED, SENTENCE, assert_fails, on_terminal, run, succeeds
from tensors import numpy

ESCAPE = b"\x1b"


def test_a_terminal_as_standard_input_is_no_sentence():
    leader, follower = pty.openpty()
    try:
        assert_fails(run("run", stdin=follower), 2, "a sentence is missing")
    finally:
        os.close(leader)
        os.close(follower)


def test_a_dash_reads_a_sentence_that_is_typed():
    leader, follower = pty.openpty()
    try:
        os.write(leader, b"a b\n\x04")  # a line, and the end of the input
        assert succeeds("run", "-", "--json", stdin=follower).json["tokens"] == ["a", "b"]
    finally:
        os.close(leader)
        os.close(follower)


@pytest.mark.parametrize("columns", [1, 5, 10, 20, 40, 80, 200])
def test_columns_that_do_not_fit_are_left_out_and_numbers_are_never_broken(columns):
    code, got = on_terminal("run", SENTENCE, "--color", "never", columns=columns)
    assert code == 0
    wide = succeeds("run", SENTENCE).text
    numbers = set(re.findall(r"-?\d\.\d+(?:e[+-]\d+)?", wide))
    lines = got.decode().splitlines()
    for line in lines:
        for number in re.findall(r"-?\d+\.\d+(?:e[+-]\d+)?", line):
            assert number in numbers, line
    if columns >= 20:
        rows = [line for line in lines if re.search(r"\d\.\d{4}", line)]
        assert rows and max(map(len, rows)) <= columns
    if columns <= 80:
        assert "…" in got.decode()


def test_a_pipe_gets_everything():
    assert "…" not in succeeds("run", SENTENCE).text


WITH_COLOURS = [{"TERM": "xterm"}, {"TERM": "xterm-256color"}, {"TERM": "xterm", "COLORTERM": "truecolor"}]


@pytest.mark.parametrize("env", WITH_COLOURS, ids=lambda env: "-".join(env.values()))
@pytest.mark.parametrize("columns", [80, 200])
def test_weights_on_a_terminal_are_a_heat_map_and_otherwise_the_same_text(env, columns):
    code, got = on_terminal("run", SENTENCE, "--heads", "2", columns=columns, env=env)
    plain = on_terminal("run", SENTENCE, "--heads", "2", "--color", "never", columns=columns, env=env)[1].decode()
    assert code == 0 and ESCAPE in got and ESCAPE.decode() not in plain
    text = re.sub("\x1b\\[[0-9;]*m", "", got.decode())
    without_legend, legends = re.subn(r"(  |\n)0  +1(  ▸ largest( of its row)?)?(?=\n)", "", text)
    assert legends == 1
    assert without_legend.replace("▸", " ") == plain
    for line in got.decode().splitlines():
        assert "\x1b" not in line or line.rindex("\x1b[m") == line.rindex("\x1b")  # nothing outlives a line


MANY = " ".join(["the cat sat on a mat and then one dog ran to my old red house with big blue eyes"] * 3)  # 60 words


def without_escapes(text):
    return re.sub("\x1b\\[[0-9;]*m", "", text)


@pytest.mark.parametrize("env", WITH_COLOURS, ids=lambda env: "-".join(env.values()))
@pytest.mark.parametrize(("columns", "abreast"), [(80, 1), (120, 1), (160, 2), (200, 2)])
def test_weights_of_60_words_are_drawn_in_half_blocks_heads_side_by_side_where_they_fit(env, columns, abreast):
    code, got = on_terminal("run", MANY, "--heads", "2", "--causal", "--show", "weights", columns=columns, env=env)
    lines = without_escapes(got.decode()).splitlines()
    assert code == 0 and max(map(len, lines)) <= columns
    rows = [line for line in lines if "▀" in line]
    assert len(rows) == 30 * 2 / abreast and all(row.startswith(("the", "sat", "a", "and", "one", "ran", "my", "red", "with", "blue")) for row in rows)
    assert rows[-1].count("▀") + rows[-1].count("▄") == 60 * abreast
    assert lines[0].startswith("weights of 2 heads (60, 60)  0 ") and lines[0].endswith("largest of its row")
    assert "…" not in got.decode() and not re.search(r"\d\.\d", got.decode())


def test_half_blocks_have_the_colours_of_the_weights():
    """Of 24 bits: the same share has the same colour as in a table of numbers."""
    arguments = ["run", "a b c a b c a b c a b c", "--causal", "--show", "weights"]
    env = {"TERM": "xterm", "COLORTERM": "truecolor"}
    wide, narrow = (on_terminal(*arguments, columns=columns, env=env)[1].decode().splitlines() for columns in (200, 80))
    numbers = [re.findall(r"48;2;(\d+;\d+;\d+)m", line) for line in wide[2:]]
    drawn = []
    for line in narrow[2:]:  # below the title and the words
        upper, lower, colours = [], [], ("", "")
        for sequence, character in re.findall("(?:\x1b\\[([0-9;]*)m)?(.)", line):
            if sequence:
                fore, back = (re.search(rf"{layer}8;2;(\d+;\d+;\d+)", sequence) for layer in "34")
                colours = (fore and fore[1], back and back[1])
            if character == "▀":
                upper.append(colours[0])
                lower += [colours[1]] if colours[1] else []
            elif character == "▄":
                lower.append(colours[0])
        drawn += [upper, lower]
    assert len(numbers) == 12 and drawn == numbers


def test_digits_ask_for_numbers_and_half_blocks_need_colours():
    many = ["run", MANY, "--show", "weights", "--causal"]
    for arguments, env in [(["--digits", "3"], {}), (["--color", "never"], {}), ([], {"NO_COLOR": "1"}), ([], {"TERM": "vt220"})]:
        got = on_terminal(*many, *arguments, env=env)[1].decode()
        assert "▀" not in got and re.search(r"0\.\d{3}", got) and "…" in got
    assert "▀" not in succeeds(*many).text
    assert "▀" not in succeeds(*many, "--color", "always").text  # no width to keep to


def test_words_that_no_column_holds_have_positions_above_them():
    got = without_escapes(on_terminal("run", "子 曰 學 而 時 習 之 不 亦 說 乎 有 朋", "--show", "weights", columns=80)[1].decode())
    assert got.splitlines()[1] == "      0    5    10" and got.splitlines()[2].startswith("子 曰 ▀")


def test_a_summary_and_an_explanation_are_coloured_and_otherwise_the_same_text():
    for arguments in (["run", SENTENCE, "--heads", "2", "--show", "summary"], ["run", "a b a b", "--model", "induction"], ["explain", SENTENCE, "--query", "is"]):
        plain, coloured = (on_terminal(*arguments, "--color", colour)[1].decode() for colour in ("never", "always"))
        assert ESCAPE.decode() not in plain and "\x1b[m" in coloured and without_escapes(coloured) == plain
        assert ESCAPE not in succeeds(*arguments[:2], "--quiet", *arguments[2:]).out
        for line in coloured.splitlines():
            assert "\x1b" not in line or line.rindex("\x1b[m") == line.rindex("\x1b")
    assert "\x1b[1m6. Softmax" in coloured


def test_bench_fits_a_terminal():
    lines = on_terminal("bench", "--seq", "8,16", "--repeat", "1")[1].decode().splitlines()
    assert re.fullmatch(r"heads 8, kv_heads 8, head_dim 64, value_dim 64, threads \d+, isa \w+", lines[0])
    assert lines[1].split()[:3] == ["seq", "median", "ms"] and len(lines) == 4 and max(map(len, lines)) <= 80
    assert succeeds("bench", "--seq", "8", "--repeat", "1").text.split()[:7] == ["seq", "heads", "kv_heads", "head_dim", "value_dim", "threads", "isa"]


def first_output(*arguments, **options):
    """Lines of the table, and the commands below it."""
    code, got = on_terminal("run", *arguments, **options)
    assert code == 0, got
    lines = re.sub("\x1b\\[[0-9;]*m", "", got.decode()).splitlines()
    return [line for line in lines if not line.startswith("→ ")], [line[2:] for line in lines if line.startswith("→ ")]


def test_the_first_output_fits_24_lines_with_the_command_above_it_and_the_prompt_below():
    table, commands = first_output(SENTENCE, env={"TERM": "xterm-256color"})
    assert len(table) + len(commands) <= 22
    assert max(len(line) for line in table + ["→ " + command for command in commands]) <= 80
    assert table[0] == "6 words, 1 head, random matrices (seed 123), which mean nothing"
    assert table[1] == "ids  Life 0, is 4, short 5, eat 2, dessert 1, first 3"
    assert table[3].startswith("weights (6, 6)  0 ") and table[12] == "context (6, 28)"
    assert "▸0.9997" in table[10] and "sum" not in table[4] and not any("e-" in line for line in table[4:])
    assert commands == [
        'attn-cli explain "Life is short, eat dessert first" --query short --key short',
        'attn-cli run "Life is short, eat dessert first" -o page.html',
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        ["to be or not to be", "--causal", "--seed", "7"],
        ["a b", "--heads", "4", "--query", "b", "--init", "xavier"],
        ["Das Leben ist kurz", "--cross", "Life's short", "--casefold"],
        ["--ids", "2,6,8", "--vocab-size", "10"],
        ["--recipe", "politi-2025-multihead"],
        ["it's $5, \"ok\"?"],
    ],
    ids=" ".join,
)
def test_the_next_commands_can_be_typed(arguments, tmp_path):
    _, commands = first_output(*arguments, columns=200)
    explain, page = [shlex.split(command) for command in commands]
    assert (explain[:2], page[:2], page[-2:]) == (["attn-cli", "explain"], ["attn-cli", "run"], ["-o", "page.html"])
    config = succeeds("run", *arguments, "--json").json["config"]
    explained = succeeds(*explain[1:], "--json").json["config"]
    assert {**explained, "query": None} == {**config, "query": None}
    assert run(*page[1:], cwd=tmp_path).code == 0 and (tmp_path / "page.html").exists()


def test_a_repeated_word_is_proposed_by_its_position():
    assert first_output("to be or not to be", "--causal")[1][0].endswith(" --query 0 --key 0")


def test_the_strongest_cell_is_the_one_to_explain():
    weights = succeeds("run", SENTENCE, "--heads", "4", "--causal", "--init", "xavier", "--query", "3,4,5", "--json").json["weights"]
    _, key, row, head = max((weight, j, i, h) for h, rows in enumerate(weights) for i, r in enumerate(rows) for j, weight in enumerate(r))
    words = SENTENCE.replace(",", "").split()
    _, (explain, _) = first_output(SENTENCE, "--heads", "4", "--causal", "--init", "xavier", "--query", "3,4,5", columns=200)
    assert explain.endswith(f" --head {head} --query {words[3 + row]} --key {words[key]}")


@pytest.mark.parametrize(
    "arguments",
    [
        [SENTENCE, "--quiet"],
        [SENTENCE, "--show", "weights"],
        [SENTENCE, "--show", "all"],
        [SENTENCE, "--json"],
        [SENTENCE, "-o", "/dev/null"],
        ["--lines", "data/sentences.txt"],
        ["-"],
        [SENTENCE * 10],
        ["a\nb"],
        ["--", "-a b"],
    ],
    ids=lambda arguments: " ".join(arguments)[-24:],
)
def test_commands_are_proposed_only_below_the_first_output_of_what_was_typed(arguments, tmp_path):
    (tmp_path / "text").write_text("a b")
    with open(tmp_path / "text", "rb") as stdin:
        arguments = [str(Path(__file__).parents[3] / a) if a.startswith("data/") else a for a in arguments]
        assert first_output(*arguments, stdin=stdin)[1] == []


def test_a_pipe_gets_no_commands():
    assert run("run", SENTENCE).err == b""
    assert "→" not in on_terminal("run", SENTENCE, stderr_too=False)[1].decode()


def test_a_fully_masked_row_shows_its_sum(tmp_path):
    numpy.save(tmp_path / "mask.npy", numpy.array([[True, True], [False, False]]))
    assert "sum" not in succeeds("run", "a b", "--show", "weights").text
    masked = succeeds("run", "a b", "--show", "weights", "--mask", tmp_path / "mask.npy").text.splitlines()
    assert masked[1].endswith("  sum") and masked[2].endswith("  1.0000") and masked[3] == "b  0.0000  0.0000  0.0000"


def test_only_weights_are_shaded():
    assert ESCAPE not in on_terminal("run", SENTENCE, "--show", "tokens,scores,context,entropy")[1]
    assert ESCAPE not in on_terminal("run", SENTENCE, "--json")[1]
    assert ESCAPE not in on_terminal("run", SENTENCE, "--format", "csv")[1]


@pytest.mark.parametrize(
    ("arguments", "env"), [(["--color", "never"], {}), ([], {"NO_COLOR": "1"}), ([], {"TERM": "dumb"}), ([], {"TERM": ""})]
)
def test_without_colours_a_terminal_gets_what_a_pipe_gets(arguments, env):
    got = on_terminal("run", SENTENCE, *arguments, columns=400, env={"COLORTERM": "truecolor", **env}, stderr_too=False)[1]
    assert got == succeeds("run", SENTENCE).out


def test_a_terminal_without_colours_gets_blocks():
    got = on_terminal("run", SENTENCE, columns=200, env={"TERM": "vt220"})[1]
    assert ESCAPE not in got and "█▸0.9997" in got.decode()


def test_a_pipe_and_a_file_get_a_heat_map_when_told(tmp_path):
    file = tmp_path / "x.txt"
    plain = succeeds("run", SENTENCE).out
    assert ESCAPE not in plain
    assert succeeds("run", SENTENCE, env={"TERM": "xterm", "COLORTERM": "truecolor"}).out == plain
    for env, start in (({}, "\x1b[30;43m"), ({"TERM": "xterm-256color"}, "\x1b[1;38;5;"), ({"COLORTERM": "24bit"}, "\x1b[1;38;2;")):
        got = succeeds("run", SENTENCE, "--color", "always", env={"NO_COLOR": "1", **env})
        assert start in got.text
        succeeds("run", SENTENCE, "--color", "always", "-o", file, env=env)
        assert file.read_bytes() == got.out
    succeeds("run", SENTENCE, "-o", file)
    assert file.read_bytes() == plain
    assert ESCAPE not in succeeds("run", SENTENCE, "--color", "always", "--json").out


def test_every_line_has_its_heat_map():
    lines = succeeds("run", "--lines", "-", "--show", "weights", "--color", "always", stdin="a b\nc d\n").text
    assert lines.count("largest of its row") == 2


def test_a_word_cannot_end_a_colour():
    got = on_terminal("run", "\x1b[0m \x1b[m", "--show", "weights")[1].decode()
    assert "\\x1b[0m" in got and "\x1b[0m" not in got


@pytest.mark.parametrize(
    ("arguments", "env", "coloured"),
    [
        ([], {}, True),
        (["--color", "auto"], {}, True),
        (["--color", "never"], {}, False),
        ([], {"NO_COLOR": "1"}, False),
        ([], {"NO_COLOR": ""}, True),
        ([], {"TERM": "dumb"}, False),
        (["--color", "always"], {"TERM": "dumb", "NO_COLOR": "1"}, True),
    ],
)
def test_errors_are_coloured_on_a_terminal_only_unless_said(arguments, env, coloured):
    code, got = on_terminal("run", ",", *arguments, env=env)
    assert code == 65
    assert (ESCAPE in got) == coloured, got
    assert b"error" in got


def test_a_pipe_gets_no_colour_unless_said():
    assert ESCAPE not in run("run", ",").err
    assert ESCAPE in run("run", ",", "--color", "always").err


@pytest.mark.parametrize("locale", ["de_DE.UTF-8", "de_DE.utf8", "C", "C.UTF-8", "nonsense"])
def test_the_locale_changes_no_byte(locale):
    for arguments in (["--json"], [], ["--format", "csv"], ["--scale", "0.5", "--softcap", "2.5"]):
        expected = succeeds("run", SENTENCE, *arguments, env={"LC_ALL": "C"})
        assert succeeds("run", SENTENCE, *arguments, env={"LC_ALL": locale, "LANG": locale}).out == expected.out


def test_a_decimal_comma_locale_changes_no_byte(tmp_path):
    """In a German locale made for this test; where its sources are missing, the program at least does not ask for any locale."""
    subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", tmp_path / "de_DE.UTF-8"], check=False, capture_output=True)
    if not (tmp_path / "de_DE.UTF-8").exists():
        imported = subprocess.run(["nm", "-D", "--undefined-only", PROGRAM], check=True, capture_output=True).stdout
        assert b"setlocale" not in imported
        return
    env = {"LOCPATH": str(tmp_path), "LC_ALL": "de_DE.UTF-8"}
    for arguments in (["--json"], [], ["--scale", "0.5"], ["--verify"]):
        done, expected = run("run", SENTENCE, *arguments, env=env), run("run", SENTENCE, *arguments)
        assert (done.code, done.out, done.err) == (0, expected.out, expected.err)


def test_verbose_logs_each_stage_with_shape_and_time():
    done = run("run", SENTENCE, "--verbose", "--heads", "2")
    assert done.code == 0 and done.out == succeeds("run", SENTENCE, "--heads", "2").out
    lines = done.message.splitlines()
    assert all(re.fullmatch(r"attn-cli: debug: \w+ \(.*\) \d+\.\d{3} ms", line) for line in lines), done.message
    stages = [line.split()[2] for line in lines]
    assert stages[0] == "tokens" and "attention" in stages and "output" in stages
    assert "(6,)" in lines[0]


OVERFLOWING = ["--embed-dim", "4", "--scale", "1e38", "--init", "normal"]


def test_warnings_of_a_result_go_to_stderr_unless_quiet():
    done = run("run", SENTENCE, *OVERFLOWING)
    assert done.code == 0
    assert done.message.startswith("attn-cli: warning: ")
    assert run("run", SENTENCE, *OVERFLOWING, "--quiet").err == b""
    json = run("run", SENTENCE, *OVERFLOWING, "--json")
    assert json.err == b"" and json.json["warnings"]


def test_long_work_shows_its_progress_on_a_terminal_and_erases_it(tmp_path):
    text = tmp_path / "text"
    arguments = ["run", "-", "--show", "context", "--d-k", "256", "--threads", "1", "--json", "-o", "/dev/null"]

    def captured(*more, env=None):
        with open(text, "rb") as stdin:
            code, got = on_terminal(*arguments, *more, stdin=stdin, env=env or {})
        assert code == 0
        return got

    # How many words are long work depends on the machine.
    for words in (1000, 3000, 6000, 12000, 24000):
        text.write_text(" ".join(f"w{i}" for i in range(words)))
        got = captured()
        if re.search(rb"attention \d+ %", got):  # the first that is told may be a later, shorter stage
            break
    else:
        raise AssertionError(got)
    assert got.endswith(b"\r\x1b[K")
    assert captured("--quiet") == b""
    assert captured(env={"TERM": "dumb"}) == b""


def assert_stays(got):
    """That the line of progress is there from its first text to the end: it is erased once."""
    *updates, last = got.split(b"\r\x1b[K")
    assert updates[0] == b"" and len(updates) > 1 and all(updates[1:]) and last == b"", got


def long_enough(work):
    """What the terminal got of the first of ever longer works that shows progress; how long that is depends on the machine."""
    for size in (1, 2, 4, 8, 16, 32, 64):
        code, got = work(size)
        assert code == 0
        if b"\r" in got:
            return got
    raise AssertionError("no work is long")


@pytest.mark.parametrize("source", ["file", "redirected"])
def test_lines_of_a_file_show_their_share_and_the_time_left_and_writing_them_erases_nothing(source, tmp_path):
    def work(size):
        (tmp_path / "lines").write_text(f"{SENTENCE}\n" * 20000 * size)
        with open(tmp_path / "lines", "rb") as stdin:
            name = tmp_path / "lines" if source == "file" else "-"
            return on_terminal("run", "--lines", name, "--show", "weights", "--json", "-o", tmp_path / "out", stdin=stdin)

    got = long_enough(work)
    assert_stays(got)
    told = re.findall(rb"\[K(\d+) lines, (\d+) %, (\d+ s|\d+ min \d+ s) left", got)
    assert len(told) == got.count(b"lines")
    shares = [int(share) for _, share, _ in told]
    assert shares == sorted(shares) and shares[-1] <= 100


def test_lines_of_a_pipe_show_how_many_are_done():
    def work(size):
        with subprocess.Popen(["yes", SENTENCE], stdout=subprocess.PIPE) as yes:
            with subprocess.Popen(["head", "-n", str(20000 * size)], stdin=yes.stdout, stdout=subprocess.PIPE) as head:
                yes.stdout.close()
                return on_terminal("run", "--lines", "-", "--show", "weights", "--json", "-o", "/dev/null", stdin=head.stdout)

    got = long_enough(work)
    assert_stays(got)
    assert re.search(rb"\[K\d+ lines\r", got) and b"%" not in got


def test_a_large_output_shows_how_much_is_written(tmp_path):
    words = tmp_path / "words"

    def work(size):
        words.write_text(" ".join(f"w{i}" for i in range(1000)))
        with open(words, "rb") as stdin:
            small = ["--heads", str(size), "--d-k", "1", "--d-v", "1", "--embed-dim", "4"]
            return on_terminal("run", "-", *small, "--show", "weights", "--json", "-o", tmp_path / "out.json", stdin=stdin)

    for size in (2, 4, 8, 16, 32, 64):
        code, got = work(size)
        assert code == 0
        if b"writing" in got:
            break
    amounts = [int(amount) for amount in re.findall(rb"writing (\d+) MB", got)]
    assert amounts and amounts == sorted(amounts) and amounts[-1] <= (tmp_path / "out.json").stat().st_size / 1e6
    assert got.endswith(b"\r\x1b[K")


def test_a_measurement_shows_its_progress():
    got = on_terminal("bench", "--seq", "256,512")[1]
    assert re.search(rb"\[Kseq 512 \d+ %", got) and b"\r\x1b[Kheads 8, " in got


def test_short_work_shows_nothing():
    assert b"%" not in on_terminal("run", SENTENCE)[1]


def test_it_starts_fast():
    def seconds():
        began = time.perf_counter()
        subprocess.run([PROGRAM, "run", SENTENCE], stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, check=True)
        return time.perf_counter() - began

    assert min(seconds() for _ in range(20)) < (1 if SANITIZED else 0.05)
