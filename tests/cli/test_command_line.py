"""The command line itself: commands, global options, help, and what is mistyped."""

import re

import pytest
from program import SENTENCE, assert_fails, run, succeeds

COMMANDS = ["run", "attend", "explain", "plot", "check", "compare", "recipe", "bench", "schema", "manual-page", "completions", "help"]


def test_nothing_typed_gives_a_short_help_on_stderr_and_exit_2():
    done = run()
    assert (done.code, done.out) == (2, b"")
    assert done.message.startswith("Usage: attn-cli COMMAND")
    for command in COMMANDS:
        assert f"\n  {command} " in done.message


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_shows_examples_first_on_stdout(flag):
    text = succeeds(flag).text
    assert text.index("Examples:") < text.index("Usage:") < text.index("Commands:") < text.index("Exit codes:")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("place", ["before", "after"])
def test_help_of_a_command_shows_examples_first(command, place):
    text = succeeds(*(["--help", command] if place == "before" else [command, "--help"])).text
    assert text.startswith("Examples:\n  attn-cli ")
    assert f"Usage: attn-cli {command} " in text
    assert text.index("Usage:") < text.index("Global options")


@pytest.mark.parametrize("arguments", [["--help"]] + [[command, flag] for command in COMMANDS for flag in ("-h", "--help")])
def test_help_fits_80_columns(arguments):
    lines = succeeds(*arguments).text.splitlines()
    assert max(len(line) for line in lines if not line.startswith("  attn-cli ")) <= 80  # an example is one line, to be copied


@pytest.mark.parametrize("command", COMMANDS)
def test_the_short_help_of_a_command_fits_a_screen(command):
    text = succeeds(command, "-h").text
    assert text.startswith(f"Usage: attn-cli {command} ")
    assert len(text.splitlines()) <= 40
    assert 1 <= text.count("\n  attn-cli ") <= 3
    assert text.endswith(f"\n`attn-cli {command} --help` shows every option.\n")
    assert succeeds("-h", command).text == text


@pytest.mark.parametrize("command", COMMANDS)
def test_the_short_help_is_part_of_the_whole(command):
    def names(text):
        return set(re.findall(r"^  (-.*?)(?:  |$)", text, re.MULTILINE))

    whole, short = succeeds(command, "--help").text, succeeds(command, "-h").text
    assert names(short) <= names(whole)
    assert all(example in whole for example in re.findall(r"^  attn-cli .*$", short, re.MULTILINE))


def test_help_names_every_option_of_run():
    text = succeeds("run", "--help").text
    for option in (
        "--lines --ids --labels --cross --tokenizer --casefold --recipe --max-input-bytes --vocab-size --embed-dim --heads --kv-heads "
        "--d-k --d-v --params --prefix --layout --allow-nonfinite --embeddings --embedding-words --unknown --mask --positions --output-projection --no-output-projection --seed --generator --init --dtype --rounding --causal --window --scale --softcap "
        "--query --show --top --first-index --plot --title --notation --no-header --format --json --digits -o --verify --verbose --quiet --color --threads --isa --help --version"
    ).split():
        assert re.search(rf"^  (.*, )?{option}[ ,\n]", text, re.MULTILINE), option


@pytest.mark.parametrize("flag", ["-V", "--version"])
def test_version_tells_what_was_built_how(flag):
    lines = succeeds(flag).text.splitlines()
    assert lines[0].startswith("attn-cli 0.")
    assert [line.split(":")[0] for line in lines[1:]] == ["compiler", "Eigen", "instruction set"]


@pytest.mark.parametrize("option", ["--quiet", "--threads=2", "--isa=auto", "--isa=portable", "--color=never"])
def test_global_options_work_before_and_after_the_command(option):
    expected = succeeds("run", SENTENCE).out
    assert succeeds(option, "run", SENTENCE).out == expected
    assert succeeds("run", option, SENTENCE).out == expected
    assert succeeds("run", SENTENCE, option).out == expected


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("--hedas", "--heads"),
        ("--jsno", "--json"),
        ("--embed", "--embed-dim"),
        ("--verbos", "--verbose"),
        ("--tokeniser", "--tokenizer"),
        ("-v", "--verbose"),
        ("-q", "--quiet"),
        ("--output", "-o"),
        ("--hedas=4", "--heads"),
    ],
)
def test_an_unknown_or_abbreviated_option_is_an_error_with_a_guess(typed, meant):
    assert_fails(run("run", SENTENCE, typed, "2"), 2, "unknown option", f"did you mean '{meant}'?")


def test_an_option_of_other_commands_names_them():
    assert_fails(run("run", SENTENCE, "--head", "2"), 2, "unknown option '--head' of run; these commands have it: explain, plot")


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        ("-heads", "did you mean '--heads'?"),
        ("-haeds", "did you mean '--heads'?"),
        ("-heads=2", "did you mean '--heads'?"),
        ("-help", "did you mean '--help'?"),
        ("-output", "did you mean '-o'?"),
        ("-oout.json", "the value of -o is the next word"),
        ("-Vx", "after one dash there is one letter"),
        ("-hV", "after one dash there is one letter"),
        ("-x is a letter", "goes after --"),
    ],
)
def test_one_dash_takes_one_letter(typed, hint):
    assert_fails(run("run", SENTENCE, typed, "2"), 2, f"unknown option '{typed}'", hint)
    assert_fails(run(typed, "run", SENTENCE), 2, f"unknown option '{typed}'", hint)


@pytest.mark.parametrize("dash", ["–", "—", "−"])
def test_a_typographic_dash_is_noticed(dash):
    assert_fails(run("run", f"{dash}heads", "2", SENTENCE), 2, f"'{dash}heads'", "the ASCII '-'; did you mean '--heads'?")
    assert succeeds("run", f"{dash} a dash", "--json").json["tokens"] == [dash, "a", "dash"]


def test_an_unexpected_argument_gets_the_hint_that_fits():
    hints = {"quotes", "after -- everything is text", "commas separate"}
    for arguments, hint in (
        (["Life", "is"], "quotes"),
        (["Life", "--", "--json"], "after -- everything is text"),
        (["--show", "tokens", "weights", "Life"], "commas separate the items of a list: --show tokens,weights"),
        (["--ids", "2", "6", "8", "--vocab-size", "9"], "commas separate the items of a list: --ids 2,6"),
    ):
        done = run("run", *arguments)
        assert_fails(done, 2, "unexpected argument", hint)
        assert sum(other in done.message for other in hints) == 1


def test_help_may_be_a_sentence_and_comes_after_a_command_too():
    assert succeeds("run", "help", "--json").json["tokens"] == ["help"]
    assert succeeds("recipe", "list", "--help").out == succeeds("recipe", "--help").out


def test_an_option_like_nothing_points_to_the_help():
    assert_fails(run("run", "--temperature", "1", SENTENCE), 2, "unknown option '--temperature'", "attn-cli run --help")


@pytest.mark.parametrize(("typed", "meant"), [("rnu", "run"), ("chekc", "check"), ("recipes", "recipe"), ("hlep", "help")])
def test_a_mistyped_command_is_an_error_with_a_guess(typed, meant):
    commands = "run, attend, explain, plot, check, compare, recipe, bench, schema, manual-page, completions, help"
    assert_fails(run(typed, SENTENCE), 2, f"unknown command '{typed}'", commands, f"did you mean '{meant}'?")


def test_what_stands_before_the_command_is_not_taken_for_its_sentence():
    assert_fails(run(SENTENCE, "run"), 2, "unknown command")
    assert_fails(run("--heads", "2", "run", SENTENCE), 2, "'--heads' before the command")


def test_an_option_given_twice_is_an_error():
    assert_fails(run("run", SENTENCE, "--seed", "1", "--seed=1"), 2, "--seed: given more than once")
    assert_fails(run("run", SENTENCE, "--causal", "--causal"), 2, "--causal: given more than once")
    assert_fails(run("--threads=1", "run", SENTENCE, "--threads=1"), 2, "--threads: given more than once")


def test_an_option_without_its_value_is_an_error():
    assert_fails(run("run", SENTENCE, "--seed"), 2, "--seed: a value is missing")
    assert_fails(run("run", SENTENCE, "-o"), 2, "-o: a value is missing")


def test_an_empty_value_is_a_value_and_takes_no_other_word():
    for arguments in (["--seed=", SENTENCE], ["--seed", "", SENTENCE], [SENTENCE, "--seed="]):
        assert_fails(run("run", *arguments), 2, "--seed: got ''", "0 to 18446744073709551615")


def test_a_switch_takes_no_value():
    assert_fails(run("run", SENTENCE, "--causal=true"), 2, "--causal: got 'true'")
    assert_fails(run("run", SENTENCE, "--causal="), 2, "--causal")


@pytest.mark.parametrize("sentence", ["--json", "--help", "-x", "--", "-o out", "--seed=5", "--verbose"])
def test_after_two_dashes_everything_is_text(sentence):
    assert succeeds("run", "--json", "--", sentence).json["tokens"] == sentence.split()


@pytest.mark.parametrize("sentence", ["++", "{}", "[a b]", "%%", "-5 degrees", "run", "check", "@x", "a=b", "/x", "!"])
def test_no_sentence_means_anything_to_the_parser(sentence):
    assert succeeds("run", sentence, "--json").json["tokens"] == sentence.split()
    assert succeeds("run", "--json", sentence).json["tokens"] == sentence.split()


@pytest.mark.parametrize("word", ["++", "{}", "[a]", "%%", "-x", "--json"])
def test_no_value_means_anything_to_the_parser(word):
    assert succeeds("run", "--json", "--query", word, "--", f"{word} a").json["query_positions"] == [0]


def test_a_second_sentence_is_an_error_that_speaks_of_quotes():
    assert_fails(run("run", "Life", "is"), 2, "unexpected argument 'is'", "quotes")


def test_verbose_and_quiet_exclude_each_other():
    assert_fails(run("run", SENTENCE, "--verbose", "--quiet"), 2, "exclude each other")


@pytest.mark.parametrize("value", ["0", "1025", "-1", "auto", "010", "1.0", ""])
def test_threads_have_a_range(value):
    assert_fails(run("run", SENTENCE, "--threads", value), 2, f"--threads: got '{value}'", "1 to 1024")


def test_choices_list_what_is_allowed():
    assert_fails(run("run", SENTENCE, "--isa", "avx9"), 2, "--isa: got 'avx9'", "allowed: portable, ", "auto")
    assert_fails(run("run", SENTENCE, "--color", "atuo"), 2, "auto, always, never; did you mean 'auto'?")


def test_an_error_shows_hostile_text_on_one_line():
    assert_fails(run("run", "--seed", "1\n2\x1b[31m", SENTENCE), 2, r"'1\n2\x1b[31m'")
    assert_fails(run("a\nb"), 2, r"'a\nb'")
    assert_fails(run("run", "--x\ny", SENTENCE), 2, r"'--x\ny'")
    assert_fails(run("run", b"--\xff", SENTENCE), 2, r"'--\xff'")


def test_the_schema_is_that_of_results_unless_another_is_asked_for():
    for name in ("result", "recipe", "tensor", "explanation"):
        assert succeeds("schema", name).json["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert succeeds("schema").out == succeeds("schema", "result").out
    assert_fails(run("schema", "resutl"), 2, "did you mean 'result'?")
    assert_fails(run("schema", "result", "recipe"), 2, "unexpected argument 'recipe'")


def test_recipes_are_listed_with_their_titles():
    lines = succeeds("recipe", "list").text.splitlines()
    names = [line.split()[0] for line in lines]
    assert names == sorted(names)
    assert {"raschka-2023", "raschka-2023-multihead", "owen-2025", "politi-2025", "politi-2025-multihead", "transformer-core-2024"} == set(
        names
    )
    assert all(len(line.split()) > 2 for line in lines)


def test_a_recipe_is_shown_as_it_is():
    recipe = succeeds("recipe", "show", "owen-2025").json
    assert (recipe["schema"], recipe["name"]) == ("attn-cli/recipe/1", "owen-2025")


def test_recipe_tells_what_it_needs():
    assert_fails(run("recipe"), 2, "list, or show NAME")
    assert_fails(run("recipe", "shwo", "owen-2025"), 2, "did you mean 'show'?")
    assert_fails(run("recipe", "show"), 2, "a name is missing")
    assert_fails(run("recipe", "list", "x"), 2, "unexpected argument 'x'")
    assert_fails(run("recipe", "show", "a", "b"), 2, "unexpected argument 'b'")
    assert_fails(run("recipe", "show", "owen"), 66, "did you mean 'owen-2025'?")
