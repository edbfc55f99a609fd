"""attn-cli recipe new: a recipe with every size, side and shape, to be edited, that does as it is what `run` does."""

import json

import pytest
from program import assert_fails, run, succeeds
from tensors import numpy

SCHEMA = "attn-cli/recipe/1"
MATRICES = ("W_q", "W_k", "W_v", "W_o", "W_a", "U_a")
BUILT_IN = [line.split()[0] for line in succeeds("recipe", "list").text.splitlines()]
INITS = ["zeros", "uniform", "normal", "linear", "xavier", "xavier_normal", "kaiming_uniform", "kaiming_normal", "identity"]
CHOICES = {
    "nothing": [],
    "sizes": ["--embed-dim", "6", "--d-k", "3", "--d-v", "5"],
    "a large vocabulary": ["--vocab-size", "20"],
    "heads": ["--heads", "2", "--embed-dim", "4"],
    "heads with sizes": ["--heads", "3", "--embed-dim", "4", "--d-k", "2", "--d-v", "5"],
    "an output of its own": ["--heads", "2", "--embed-dim", "4", "--set", "dims.output_dim=3"],
    "heads without an output": ["--heads", "2", "--no-output-projection"],
    "one head with an output": ["--output-projection"],
    "key/value heads": ["--heads", "4", "--kv-heads", "2"],
    "one key/value head": ["--heads", "4", "--kv-heads", "1", "--init", "xavier"],
    "nn.MultiheadAttention": ["--heads", "4", "--init", "multihead_attention"],
    "general": ["--score", "general", "--init", "linear"],
    "general with heads": ["--score", "general", "--heads", "2", "--init", "normal"],
    "additive": ["--score", "additive", "--init", "linear"],
    "additive, xavier": ["--score", "additive", "--init", "xavier"],
    "additive with heads, kaiming": ["--score", "additive", "--heads", "2", "--init", "kaiming_normal"],
    "additive with heads": ["--score", "additive", "--heads", "2", "--set", "dims.d_a=3", "--init", "linear"],
    "cosine": ["--score", "cosine"],
    "dot, no scale": ["--score", "dot"],
    "a scale": ["--scale", "0.25"],
    "causal": ["--causal", "--set", "attention.mask_at=scores"],
    "window": ["--window", "1,0"],
    "hide": ["--hide", "cat"],
    "softcap": ["--softcap", "3"],
    "rope": ["--positions", "rope:base=500,dim=4,style=interleaved", "--d-k", "6"],
    "sinusoidal": ["--positions", "sinusoidal"],
    "alibi": ["--positions", "alibi", "--heads", "2"],
    "dropout": ["--dropout", "0.5"],
    "dropout with a seed": ["--dropout", "0.5", "--set", "attention.dropout.seed=7"],
    "float64": ["--dtype", "float64"],
    "numpy": ["--generator", "numpy", "--dtype", "float64", "--seed", "5"],
    "numpy-pcg64": ["--generator", "numpy-pcg64"],
    "rounding": ["--set", "rounding=step"],
    "rows": ["--query", "cat"],
    "mean": ["--heads", "2", "--head", "mean"],
    "one head of two": ["--heads", "2", "--head", "1"],
    "cross": ["--cross", "a dog ran"],
    "cross with key_dim": ["--cross", "a dog ran", "--heads", "2", "--kv-heads", "1"],
    "from the right, xavier": ["--heads", "2", "--init", "xavier", "--set", "draws[2].side=right"],
    "one draw changed": ["--set", "draws[2].init=normal", "--set", "draws[2].side=right", "--set", "draws[2].std=0.1"],
    "casefold": ["--casefold", "--tokenizer", "words"],
} | {f"{init}, {heads} heads": ["--init", init, "--heads", heads, "--embed-dim", "8"]
     for init in INITS[1:] for heads in ("1", "2")}


def numbers(*arguments, **options):
    """All arrays that `run` computes, without what asked for them."""
    done = succeeds("run", *arguments, "--show", "all", "--json", **options).json
    flat = {name: numpy.ravel(parameter).tolist() for name, parameter in done.pop("parameters", {}).items()}  # heads stacked or not
    return {key: value for key, value in done.items() if key not in ("config", "schema")} | flat


def assert_whole(recipe):
    """Nothing is left to a default: every size, every side, every shape."""
    assert recipe["schema"] == SCHEMA
    given = any(step.get("tensor") == "queries" for step in recipe["draws"])
    if not given:
        assert {"embed_dim", "heads", "d_k", "d_v"} <= set(recipe["dims"]), recipe
    for step in recipe["draws"]:
        tensor = step.get("tensor")
        if tensor in MATRICES:
            assert step["side"] in ("left", "right"), step
        by_entry = "batch" in recipe["input"] and tensor in ("embeddings", "key_embeddings", "queries", "keys", "values")
        if tensor and not by_entry and not counts_all_heads(step, recipe.get("dims", {})):
            assert "shape" in step or "values" in step, step


def counts_all_heads(step, dims):
    """A draw whose spread goes by all heads together, which is that of no shape that it may have."""
    stacked = step["tensor"] == "v_a" or step.get("side") == "right"
    return dims.get("heads", 1) > 1 and stacked and step.get("init", "").startswith(("xavier", "kaiming")) and step["tensor"] != "W_o"


def assert_same(tmp_path, *options):
    text = succeeds("recipe", "new", *options).out
    path = tmp_path / "mine.json"
    path.write_bytes(text)
    assert_whole(json.loads(text))
    assert numbers("--recipe", path) == numbers(*options)
    assert succeeds("check", path).text.splitlines()[-1] == f"{path}: passed"
    return json.loads(text)


@pytest.mark.parametrize("options", CHOICES.values(), ids=CHOICES)
def test_it_does_what_run_does(options, tmp_path):
    assert_same(tmp_path, "the cat sat the mat", *options)


@pytest.mark.parametrize("name", BUILT_IN)
def test_of_every_built_in_recipe_it_makes_one_that_does_the_same(name, tmp_path):
    assert_same(tmp_path, "--recipe", name)


def test_ids_have_no_sentence(tmp_path):
    recipe = assert_same(tmp_path, "--ids", "2,0,3", "--vocab-size", "5", "--labels", "my,name,is")
    assert recipe["input"] == {"ids": [2, 0, 3], "labels": ["my", "name", "is"]}
    assert recipe["dims"]["vocab_size"] == 5 and recipe["draws"][1]["shape"] == ["V", 16]


def test_sizes_sides_and_shapes_are_those_of_the_options():
    recipe = succeeds("recipe", "new", "to be", "--heads", "2", "--kv-heads", "1", "--embed-dim", "4", "--d-v", "3").json
    assert recipe["dims"] == {"embed_dim": 4, "heads": 2, "kv_heads": 1, "d_k": 2, "d_v": 3}
    assert [(step["tensor"], step.get("side"), step["shape"]) for step in recipe["draws"][1:]] == [
        ("embedding", None, ["V", 4]),
        ("W_q", "left", [2, 2, 4]),
        ("W_k", "left", [1, 2, 4]),
        ("W_v", "left", [1, 3, 4]),
        ("W_o", "right", [6, 4]),
    ]


def test_what_follows_from_the_sentence_is_a_letter_so_that_another_sentence_may_take_its_place(tmp_path):
    path = tmp_path / "mine.json"
    for options in ([], ["--cross", "a dog"], ["--heads", "2", "--init", "xavier"]):
        recipe = succeeds("recipe", "new", "the cat sat", *options).json
        recipe["input"]["sentence"] = "the cat sat on the very large mat"
        path.write_text(json.dumps(recipe))
        assert numbers("--recipe", path) == numbers("the cat sat on the very large mat", *options)


def test_published_numbers_that_an_edited_recipe_does_not_fit_are_said_to_be_older(tmp_path):
    recipe = succeeds("recipe", "new", "to be", "--show", "weights").json
    recipe["input"]["sentence"] = "to be or not"
    (tmp_path / "mine.json").write_text(json.dumps(recipe))
    done = run("check", "mine.json", cwd=tmp_path)
    assert done.code == 1
    assert ("weights[0]: stated shape (2, 2), computed (4,), or (4, 4) with the head; if the recipe has changed since, leave this statement out of "
            '"published"; run --recipe FILE -o NEW.recipe.json writes a recipe with the numbers of now\n') in done.text
    succeeds("run", "--recipe", "mine.json", "--show", "weights", "-o", "new.recipe.json", cwd=tmp_path)
    succeeds("check", "new.recipe.json", cwd=tmp_path)


def test_the_published_numbers_are_those_that_are_shown():
    recipe = succeeds("recipe", "new", "to be", "--heads", "2", "--show", "weights,context", "--digits", "2").json
    weights = numbers("to be", "--heads", "2")["weights"]
    stated = [statement for statement in recipe["published"] if statement["array"] == "weights"]
    assert [statement["at"] for statement in stated] == [[0], [1]]
    assert [statement["values"] for statement in stated] == [[[f"{x:.2f}" for x in row] for row in head] for head in weights]
    assert {statement["array"] for statement in recipe["published"]} == {"weights", "context"}


def test_one_entry_of_a_batch(tmp_path):
    batch = {
        "schema": SCHEMA,
        "input": {"positions": 3, "batch": 2},
        "draws": [{"seed": 1}, {"tensor": "embeddings", "init": "normal"}, *({"tensor": name, "init": "linear"} for name in MATRICES[:3])],
    }
    path = tmp_path / "batch.json"
    path.write_text(json.dumps(batch))
    recipe = assert_same(tmp_path, "--recipe", path, "--set", "entry=1")
    assert recipe["entry"] == 1 and recipe["input"] == batch["input"]
    assert_fails(run("recipe", "new", "--recipe", path), 2, "entry")


def test_queries_keys_and_values_that_are_given(tmp_path):
    path = tmp_path / "given.json"
    draws = [{"tensor": name, "init": "normal", "shape": shape} for name, shape in (("queries", [2, 3]), ("keys", [4, 3]), ("values", [4, 2]))]
    path.write_text(json.dumps({"schema": SCHEMA, "input": {"positions": 2, "key_positions": 4}, "draws": [{"seed": 1}, *draws]}))
    assert assert_same(tmp_path, "--recipe", path)["draws"][1:] == draws


def test_additive_scores_of_two_widths(tmp_path):
    path = tmp_path / "widths.json"
    shapes = {"queries": [2, 3], "keys": [4, 5], "values": [4, 2]}
    draws = [{"tensor": name, "init": "normal", "shape": shape} for name, shape in shapes.items()]
    draws += [{"tensor": name, "init": "linear"} for name in ("W_a", "U_a", "v_a")]
    path.write_text(json.dumps({
        "schema": SCHEMA, "input": {"positions": 2, "key_positions": 4}, "dims": {"d_a": 6}, "draws": [{"seed": 1}, *draws],
        "attention": {"score": "additive"}}))
    made = assert_same(tmp_path, "--recipe", path)["draws"]
    assert [(step["side"], step["shape"]) for step in made[4:6]] == [("left", [6, 3]), ("left", [6, 5])]


def test_the_sentence_may_come_from_standard_input():
    assert succeeds("recipe", "new", stdin="to be").out == succeeds("recipe", "new", "to be").out
    assert succeeds("recipe", "new", "-", stdin="to be").out == succeeds("recipe", "new", "to be").out


def test_a_file_has_what_standard_output_has(tmp_path):
    succeeds("recipe", "new", "to be", "--causal", "-o", "mine.json", cwd=tmp_path)
    assert (tmp_path / "mine.json").read_bytes() == succeeds("recipe", "new", "to be", "--causal").out
    succeeds("check", "mine.json", cwd=tmp_path)


@pytest.mark.parametrize("option", ["--json", "--model", "--lines", "--against", "--format", "--plot", "--top", "--verify"])
def test_options_that_make_no_recipe_are_refused(option):
    assert_fails(run("recipe", "new", "to be", option, "x"), 2, f"recipe has no option '{option}'")


@pytest.mark.parametrize("word", ["list", "owen-2025"])
@pytest.mark.parametrize("options", [["--heads", "2"], ["--causal"], ["--no-causal"], ["-o", "mine.json"], ["--set", "rounding=step"], ["--digits", "3"]],
                         ids=lambda options: options[0])
def test_a_list_and_a_recipe_as_it_is_take_no_options(word, options, tmp_path):
    assert_fails(run("recipe", word, *options, cwd=tmp_path), 2, " is for recipe new")
    assert list(tmp_path.iterdir()) == []
