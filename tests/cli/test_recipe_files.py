"""What is wrong inside a recipe file is bad data (65) and named by its key; the same from an option is usage (2)."""

import json

import pytest
from program import SENTENCE, assert_fails, run, succeeds

RECIPE = {
    "schema": "attn-cli/recipe/1",
    "input": {"sentence": SENTENCE},
    "dims": {"embed_dim": 16, "heads": 4},
    "draws": [{"seed": 1}, {"tensor": "embedding", "init": "normal"}]
    + [{"tensor": name, "init": "uniform"} for name in ("W_q", "W_k", "W_v")],
    "published": [{"array": "tokens", "values": ["Life", "is", "short", "eat", "dessert", "first"]}],
}


@pytest.fixture
def write(tmp_path):
    def write(recipe=RECIPE, after="", **changes):
        path = tmp_path / "recipe.json"
        path.write_text(json.dumps({**recipe, **changes}, ensure_ascii=False) + after)
        return path

    return write


def refused(path, *parts):
    """By `run` and by `check`, in the same words, and without the name of an option."""
    for command in (["run", "--recipe", path], ["check", path]):
        done = run(*command)
        assert_fails(done, 65, *parts)
        assert "--" not in done.message, done.message


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"query": ["life"]}, "query: got the word 'life'; allowed: a word of the input ('Life', 'is', "),
        ({"query": [6]}, "query: got position '6'; allowed: 0 to 5"),
        ({"dims": {"heads": 4, "kv_heads": 3}}, "dims.kv_heads: got 3; allowed: a divisor of the 4 heads (1, 2, 4)"),
        ({"dims": {"heads": 3}}, "dims.heads: got 3; allowed: a divisor of the embedding dimension 16 (1, 2, 4, 8, 16), or give dims.d_k"),
        ({"dims": {"heads": 65536, "d_k": 65536, "d_v": 1}}, "dims.heads times dims.d_k: got 65536 times 65536; allowed: a product up"),
        ({"dims": {"vocab_size": 5}}, "dims.vocab_size: got 5; allowed: 6 and more, the distinct words"),
        ({"input": {"ids": [2, 6]}, "published": [{"array": "token_ids", "values": [2, 6]}]}, "input.ids needs dims.vocab_size; allowed: 7"),
        (
            {"input": {"ids": [2, 6]}, "dims": {"vocab_size": 6}, "published": [{"array": "token_ids", "values": [2, 6]}]},
            "id at position 1: got 6; allowed: 0 to 5 (dims.vocab_size is 6)",
        ),
        ({"input": {"sentence": "a", "cross": " , "}}, "no words in the input: the second sentence is"),
    ],
)
def test_a_wrong_value_in_a_file_is_bad_data(write, changes, message):
    refused(write(**changes), message)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--query", "life"], "--query: got the word 'life'"),
        (["--query", "6"], "--query: got position '6'"),
        (["--kv-heads", "3"], "--kv-heads: got 3; allowed: a divisor of the 4 heads"),
        (["--heads", "3"], "--heads: got 3; allowed: a divisor of the embedding dimension 16"),
        (["--embed-dim", "18"], "--embed-dim: got 18; allowed: a multiple of the 4 heads, or give --d-k"),
        (["--heads", "65536", "--d-k", "65536", "--d-v", "1"], "--heads times --d-k: got 65536 times 65536"),
        (["--ids", "2,6"], "--ids needs --vocab-size"),
    ],
)
def test_a_wrong_option_beside_a_recipe_is_usage(write, options, message):
    assert_fails(run("run", "--recipe", write(), *options), 2, message)


def test_an_option_sets_right_what_the_file_says(write):
    succeeds("run", "--recipe", write(dims={"heads": 4, "kv_heads": 3}), "--kv-heads", "2")
    succeeds("run", "--recipe", write(query=["life"]), "--query", "Life")


def test_the_config_of_a_saved_result_is_a_file_too(tmp_path):
    saved = succeeds("run", SENTENCE, "--query", "is", "--json").text
    path = tmp_path / "result.json"
    path.write_text(saved.replace('"query":["is"]', '"query":["was"]'))
    refused(path, "query: got the word 'was'")


@pytest.mark.parametrize(
    ("draw", "shown"), [({"low": 2, "high": 1}, "2 and 1"), ({"low": 2}, "2 and 1"), ({"high": -1.5}, "0 and -1.5")]
)
def test_limits_of_a_draw_that_exclude_each_other_are_both_shown(write, draw, shown):
    draws = [*RECIPE["draws"][:1], {"tensor": "embedding", "init": "uniform", **draw}, *RECIPE["draws"][2:]]
    refused(write(draws=draws), f"draws[1]: low and high: got {shown}; allowed: low ≤ high")


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ({"array": "weights", "values": ["abc"]}, "published[0].values[0]: got 'abc'; allowed: only strings (printed digits"),
        ({"array": "weights", "values": [["0.1", "12.5e-3"]]}, "published[0].values[0][1]: got '12.5e-3'"),
        ({"array": "weights", "values": ["1e999"]}, "published[0].values[0]: got '1e999'"),
        ({"array": "weights", "values": ["0.1"], "units": 2**63}, "published[0].units: got 9223372036854775808; allowed: 0 to 1000000"),
        ({"array": "weights", "values": ["0.1"], "units": -1}, "published[0].units: got -1"),
        ({"array": "weights", "values": ["0.1"], "rtol": 1e-3}, "published[0].rtol: got 0.001"),
        ({"array": "wieghts", "values": ["0.1"]}, "published[0].array: got 'wieghts'"),
        ({"array": "weights"}, "published[0]: got an object of 1 member"),
    ],
)
def test_run_refuses_what_check_refuses_of_the_published_numbers(write, statement, message):
    refused(write(published=[statement]), message)


@pytest.mark.parametrize("after", ["x", " }", "{}", " {", ",", " []", "\nx", "\n\n{", "\n{}\n", "\n  1"])
def test_garbage_behind_a_recipe_is_bad_data_at_its_place_and_nothing_passes(write, after):
    path = write(after=after)
    text = path.read_text()
    end = len(text) - len(after)  # of the object
    place = len(text) - len(text[end:].lstrip())
    line, column = text.count("\n", 0, place) + 1, place - text.rfind("\n", 0, place)
    refused(path, f"malformed JSON at line {line}, column {column}: ")


def test_blank_lines_around_a_recipe_are_not_garbage(write):
    path = write(after="\n \n\t\n")
    path.write_text("\n\n " + path.read_text())
    assert succeeds("check", path).text.endswith(": passed\n")


def test_garbage_behind_a_result_fails_its_line_alone(tmp_path):
    lines = run("run", "--lines", "-", "--json", stdin="a b\nc d\ne f\n").text.splitlines()
    lines[1] += " {}"
    path = tmp_path / "lines.json"
    path.write_text("\n".join(lines) + "\n")
    done = run("check", path)
    assert done.code == 65
    assert done.message == f"attn-cli: error: '{path}' line 2: malformed JSON at line 1, column {len(lines[1]) - 1}: " + done.message.split(": ")[-1]
    assert [line for line in done.text.splitlines() if "passed" in line] == [f"{path} line 1: passed", f"{path} line 3: passed"]
