"""What stands around a recipe in its file, and options that set right what it says."""

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



def test_an_option_sets_right_what_the_file_says(write):
    succeeds("run", "--recipe", write(dims={"heads": 4, "kv_heads": 3}), "--kv-heads", "2")
    succeeds("run", "--recipe", write(query=["life"]), "--query", "Life")


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
    assert done.message == f"attn-cli: error: '{path}' line 2: malformed JSON at line 2, column {len(lines[1]) - 1}: " + done.message.split(": ")[-1]
    assert [line for line in done.text.splitlines() if "passed" in line] == [f"{path} line 1: passed", f"{path} line 3: passed"]


@pytest.mark.parametrize(
    "options, name",
    [
        (["--output-projection"], "--output-projection"),
        (["--set", "dims.output_dim=2"], "--set dims.output_dim"),
        (["--score", "general"], "--score"),
        (["--score", "additive"], "--score"),
        (["--init", "normal"], "--init"),
    ],
)
def test_an_option_that_draws_over_stated_tensors_asks_for_a_seed_or_takes_one(options, name):
    stated = ["run", "--recipe", "karim-2019", *options, "--show", "all", "--json"]
    assert_fails(run(*stated), 2, f"{name}: the recipe has no seed; give --seed")
    done = succeeds(*stated, "--seed", "3").json
    assert {"seed": 3} in done["config"]["draws"] and done != succeeds(*stated, "--seed", "4").json


def test_zeros_and_identities_need_no_seed_over_stated_tensors():
    assert {"seed": 3} not in succeeds("run", "--recipe", "karim-2019", "--score", "general", "--init", "identity", "--seed", "3", "--json").json["config"]["draws"]


def test_without_the_output_projection_its_bias_is_left_out_too():
    done = succeeds("run", "--recipe", "raschka-2024-multihead", "--no-output-projection", "--show", "all", "--json").json
    assert not {"W_o", "b_o"} & {draw.get("tensor") for draw in done["config"]["draws"]} and "output" not in done


@pytest.mark.parametrize(
    "draw",
    [
        {"init": "uniform", "high": 1e39},
        {"init": "uniform", "low": -3e38, "high": 3e38},
        {"init": "normal", "mean": 1e39},
        {"init": "normal", "std": 1e39},
        {"init": "xavier", "gain": 1e39},
        {"init": "xavier_normal", "gain": 1e39},
    ],
    ids=str,
)
@pytest.mark.parametrize("generator", ["torch", "numpy"])
def test_a_draw_beyond_float32_is_refused(write, draw, generator):
    draws = [*RECIPE["draws"][:2], {"tensor": "W_q", **draw}, *RECIPE["draws"][3:]]
    path = write(draws=draws, generator=generator, published=[])
    if draw.get("low") and generator == "numpy":
        return  # which draws in float64
    assert_fails(run("run", "--recipe", path), 65, "draws[2]: W_q: got numbers that are not finite; allowed: limits, ")
    assert run("run", "--recipe", path, "--dtype", "float64").code == (65 if generator == "torch" else 0)


@pytest.mark.parametrize("limit", ["low", "high"])
def test_limits_of_integers_that_a_double_would_round_are_refused(write, limit):
    far = -9007199254740993 if limit == "low" else 9007199254740993
    draws = [RECIPE["draws"][0], {"tensor": "embedding", "init": "integers", "low": -5, "high": 5, limit: far}, *RECIPE["draws"][2:]]
    done = run("run", "--recipe", write(draws=draws, dtype="float64"))
    assert_fails(done, 65, f"draws[1].{limit}: got {far}; allowed: a whole number, -9007199254740992 to 9007199254740992")


@pytest.mark.parametrize(
    "part, name",
    [
        ({"attention": {"mask": {"file": "-"}}}, "attention.mask.file"),
        ({"parameters": {"file": "-"}, "draws": []}, "parameters.file"),
        ({"embeddings": {"file": "-"}, "draws": RECIPE["draws"][2:]}, "embeddings.file"),
    ],
)
def test_a_recipe_names_no_standard_input(write, part, name):
    assert_fails(run("run", "--recipe", write(**part)), 65, f"{name}: got standard input; allowed: a file")


def test_the_keys_of_a_published_vocabulary_have_no_order(write):
    ids = {"short": 5, "dessert": 1, "first": 3, "is": 4, "eat": 2, "Life": 0}
    assert succeeds("check", write(published=[{"array": "vocabulary", "values": ids}])).text.endswith(": passed\n")
    assert run("check", write(published=[{"array": "vocabulary", "values": {**ids, "short": 4, "is": 5}}])).code == 1
