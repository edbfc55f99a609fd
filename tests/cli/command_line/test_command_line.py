"""The command line itself: commands, global options, help, and what is mistyped."""

import re
from pathlib import Path

import pytest
from program import SENTENCE, assert_fails, run, succeeds

RECIPES = Path(__file__).parents[3] / "data" / "recipes"
LISTED = ["run", "explain", "attend", "check", "compare", "plot", "recipe", "help"]
OTHERS = ["bench", "schema", "manual-page", "completions"]
COMMANDS = LISTED + OTHERS


def test_nothing_typed_gives_a_short_help_on_stderr_and_exit_2():
    done = run()
    assert (done.code, done.out) == (2, b"")
    assert done.message.startswith("Usage: attn-cli COMMAND")
    commands = re.search(r"Commands:\n(.*?)\n\n", done.message, re.DOTALL)[1]
    assert re.findall(r"^  ([a-z-]+)", commands, re.MULTILINE) == LISTED
    assert commands.splitlines()[-1].split(maxsplit=1) == ["Others:", ", ".join(OTHERS)]


def test_the_short_help_is_that_and_fits_a_screen():
    text = succeeds("-h").text
    assert text == run().message
    assert len(text.splitlines()) <= 40
    assert text.count("\n  attn-cli ") == 3


def test_help_shows_usage_first_on_stdout():
    text = succeeds("--help").text
    assert text.startswith("Usage: attn-cli COMMAND")
    assert text.index("Commands:") < text.index("Examples:") < text.index("Global options") < text.index("Exit codes:")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("place", ["before", "after"])
def test_help_of_a_command_shows_usage_first_and_few_examples(command, place):
    text = succeeds(*(["--help", command] if place == "before" else [command, "--help"])).text
    assert text.startswith(f"Usage: attn-cli {command} ")
    assert 1 <= len(re.findall("^  attn-cli ", text, re.MULTILINE)) <= 5
    assert len(text.splitlines()) <= 140


@pytest.mark.parametrize("command", COMMANDS)
def test_the_options_of_every_command_are_listed_once(command):
    of_all = set(re.findall(r"^  (--?[\w-]+)", succeeds("--help").text.partition("Global options")[2], re.MULTILINE))
    text = succeeds(command, "--help").text
    assert {"--quiet", "--threads", "--max-input-bytes"} <= of_all and not of_all & set(re.findall(r"^  (--?[\w-]+)", text, re.MULTILINE))
    assert "`attn-cli --help` shows the global options" in text


def test_help_of_an_option_names_its_values_before_it_explains_them():
    of_run = " ".join(succeeds("run", "--help").text.split())
    assert "how to find words: document, words; document: remove commas" in of_run
    assert "notation of numbers in tables: fixed, row, torch; fixed: the same in a matrix" in of_run
    assert "number of threads, 1 to 1024; results do not depend on it" in " ".join(succeeds("--help").text.split())
    of_plot = " ".join(succeeds("plot", "-h").text.split())
    assert "kind of SVG: heatmap, arcs" in of_plot and "what an SVG is drawn on: light, dark" in of_plot
    assert "(l layers, b batch, h heads, t queries, s keys)" in of_plot and "(default -, standard output)" in of_plot


@pytest.mark.parametrize(
    ("command", "rounds", "usual"),
    [("run", "tables, pictures and recipes", "4, in pictures 2"), ("explain", "tables and Markdown", "4"),
     ("plot", "pictures and tables", "4, in pictures 2"), ("recipe", "recipes", "4")],
)
def test_digits_are_those_of_what_the_command_writes(command, rounds, usual):
    text = " ".join(succeeds(command, "--help").text.split())
    assert f"digits after the point in {rounds}, 0 to 17 (default {usual})" in text


@pytest.mark.parametrize("arguments", [["-h"], ["--help"]] + [[command, flag] for command in COMMANDS for flag in ("-h", "--help")])
def test_help_fits_80_columns(arguments):
    lines = succeeds(*arguments).text.splitlines()
    assert not [line for line in lines if line.startswith(" ") and not line.startswith("  ")]  # neither prose nor an option
    assert max(len(line) for line in lines if not line.startswith("  attn-cli ")) <= 80  # an example is one line, to be copied


@pytest.mark.parametrize("command", COMMANDS)
def test_the_short_help_of_a_command_fits_a_screen(command):
    text = succeeds(command, "-h").text
    assert text.startswith(f"Usage: attn-cli {command} ")
    assert len(text.splitlines()) <= 40
    assert 1 <= text.count("\n  attn-cli ") <= 3
    has_options = command not in ("help", "schema", "manual-page", "completions")
    assert text.endswith(f"\n`attn-cli {command} --help` shows all its options.\n") == has_options
    assert succeeds("-h", command).text == text


@pytest.mark.parametrize(("command", "says"), [
    ("attend", "--causal-align RULE where query 0 stands: offset, top-left, bottom-right --mask"),
    ("attend", "--causal query i sees no key after key i (see --causal-align)"), ("attend", "--grad FILE[:NAME]"), ("attend", "--seed N"),
    ("attend", "--dtype TYPE type of the draws: float16, bfloat16, float32, float64"),
    ("explain", "-o FILE write to FILE in the format of its ending (.txt, .json, .md)"), ("run", "--query LIST only these rows"),
    ("recipe", "--d-k N components per query or key of one head (default 24, D with identity projections, D/H with more heads)"),
    ("recipe", "--d-v N components per value of one head (default 28, D with identity projections, D/H with more heads)"),
])  # fmt: skip
def test_the_short_help_has_what_people_look_for(command, says):
    assert says in " ".join(succeeds(command, "-h").text.split())


@pytest.mark.parametrize("command", COMMANDS)
def test_the_short_help_is_part_of_the_whole(command):
    def names(text):
        return set(re.findall(r"^  (-.*?)(?:  |$)", text, re.MULTILINE))

    whole, short = succeeds(command, "--help").text, succeeds(command, "-h").text
    assert names(short) <= names(whole)
    assert all(example in whole for example in re.findall(r"^  attn-cli .*$", short, re.MULTILINE))


DEFAULTS = "--tokenizer --max-input-bytes --generator --dtype --embed-dim --heads --d-k --d-v --seed --init --score --positions --format --digits --notation --color --isa"


@pytest.mark.parametrize("option", DEFAULTS.split())
def test_the_default_that_help_states_is_the_one_that_is_used(option):
    text = succeeds("run", "--help").text + succeeds("--help").text
    entry = re.search(rf"^  {option}\b.*?(?=^  ?-|\n\n)", text, re.MULTILINE | re.DOTALL)[0]
    default = re.search(r"\(default\s+([\w.]+)", entry)[1]
    assert succeeds("run", SENTENCE, option, default).text.splitlines()[1:] == succeeds("run", SENTENCE).text.splitlines()[1:]


@pytest.mark.parametrize("command", ["run", "attend", "check", "compare", "plot", "recipe"])
def test_what_stands_after_two_dashes_is_no_option_and_not_always_text(command):
    hint = f"unknown option '--foo'; `attn-cli {command} --help` lists the options; after -- nothing is an option"
    assert_fails(run(command, "--foo"), 2, hint)


def test_after_two_dashes_a_file_may_begin_with_a_dash(tmp_path):
    (tmp_path / "--foo").write_bytes(run("run", "Life is short", "--json").out)
    succeeds("check", "--", "--foo", cwd=tmp_path)
    assert_fails(run("compare", "--", "--foo", "--foo", "--json", cwd=tmp_path), 2,
                 "unexpected argument '--json'; after -- nothing is an option; options go before it")


def test_help_names_every_option_of_run():
    of_run, of_all = succeeds("run", "--help").text, succeeds("--help").text
    for text, options in (
        (of_run, "--lines --ids --labels --cross --tokenizer --casefold --recipe --set --vocab-size --embed-dim --heads --kv-heads "
                 "--d-k --d-v --params --prefix --embeddings --unknown --mask --positions --output-projection --no-output-projection --seed "
                 "--generator --init --dtype --causal --window --scale --softcap --query --show --top --plot --notation --format --json --digits -o --verify"),
        (of_all, "--verbose --quiet --color --threads --isa --max-input-bytes --help --version"),
    ):
        for option in options.split():
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


@pytest.mark.parametrize("dash", ["–", "—", "−"])
def test_a_typographic_dash_is_noticed(dash):
    assert_fails(run("run", f"{dash}heads", "2", SENTENCE), 2, "did you mean '--heads'?")
    assert succeeds("run", f"{dash} a dash", "--json").json["tokens"] == [dash, "a", "dash"]


def test_help_may_be_a_sentence_and_comes_after_a_command_too():
    assert succeeds("run", "help", "--json").json["tokens"] == ["help"]
    assert succeeds("recipe", "list", "--help").out == succeeds("recipe", "--help").out


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


def test_the_schema_is_that_of_results_unless_another_is_asked_for():
    for name in ("result", "recipe", "tensor", "explanation"):
        assert succeeds("schema", name).json["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert succeeds("schema").out == succeeds("schema", "result").out
    assert_fails(run("schema", "resutl"), 2, "did you mean 'result'?")
    assert_fails(run("schema", "result", "recipe"), 2)


def test_recipes_are_listed_with_their_titles():
    lines = succeeds("recipe", "list").text.splitlines()
    names = [line.split()[0] for line in lines]
    assert names == sorted(path.stem for path in RECIPES.glob("*.json"))
    assert all(len(line.split()) > 1 for line in lines)


def test_a_recipe_is_shown_as_it_is():
    recipe = succeeds("recipe", "show", "owen-2025").json
    assert (recipe["schema"], recipe["name"]) == ("attn-cli/recipe/1", "owen-2025")
    assert succeeds("recipe", "owen-2025").out == succeeds("recipe", "show", "owen-2025").out
    assert_fails(run("recipe", "owen-2024"), 66, "'owen-2024': no such recipe", "did you mean 'owen-2025'?")
    assert_fails(run("recipe", "owen-2025", "owen-2025"), 2, "unexpected argument 'owen-2025'; recipe shows one at a time")


@pytest.mark.parametrize("command", COMMANDS)
def test_short_help_closes_what_it_opens(command):
    text = succeeds(command, "-h").text
    assert text.count("(") == text.count(")")


@pytest.mark.parametrize(("arguments", "says"), [
    (["run", "a b", "--digits", "2", "--format", "csv"], "JSON and CSV have all digits; leave out --digits, or write a table"),
    (["attend", "--head", "0"], "attend has no option '--head'; it computes all heads; jq '.data[0][N]' takes one of (B, H, T, d)"),
    (["explain", "a b", "-o", "page.html"], "`run` writes the others, and its page (.html) has these steps, too"),
    (["explain", "a b", "--head", "-1"], "--head: got '-1'; allowed: an integer from 0 to 65535"),
    (["explain", "a b", "--head", "mean"], "--head: got 'mean'; allowed: an integer from 0 to 65535"),
])  # fmt: skip
def test_a_refusal_says_what_to_do_instead(arguments, says):
    assert_fails(run(*arguments), 2, says)
