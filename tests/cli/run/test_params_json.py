"""`--params` of results as JSON, and integers in files of tensors."""

import json
import zipfile

import pytest
from program import SENTENCE, assert_fails, run, succeeds
from tensors import normal, numpy, save_safetensors

DRAWN = [
    (),
    ("--heads", "4", "--kv-heads", "2", "--causal", "--init", "linear"),
    ("--output-projection",),
    ("--embed-dim", "9", "--d-k", "9", "--d-v", "9"),
    ("--heads", "3", "--embed-dim", "7", "--d-k", "2", "--d-v", "5", "--dtype", "float64"),
]


def result(folder, *options, sentence=SENTENCE):
    return succeeds("run", sentence, "--json", *options, cwd=folder).json


def without_config(done):
    return {key: value for key, value in done.items() if key != "config"}


@pytest.mark.parametrize("show", ["parameters", "all"])
@pytest.mark.parametrize("options", DRAWN, ids=" ".join)
def test_what_was_saved_as_json_gives_the_same_result(tmp_path, options, show):
    again = [option for option in ("--causal", "--dtype", "float64") if option in options]
    (tmp_path / "p.json").write_bytes(succeeds("run", SENTENCE, *options, "--show", show, "--json").out)
    drawn = result(tmp_path, *options, "--show", "all")
    loaded = result(tmp_path, "--params", "p.json", *again, "--show", "all")
    assert without_config(loaded) == without_config(drawn)
    (tmp_path / "saved.json").write_text(json.dumps(loaded))
    assert succeeds("check", "saved.json", cwd=tmp_path).text.endswith("saved.json: passed\n")


SIDES = [("left", "left", "left", "left"), ("right", "right", "right", "right"), ("right", "left", "right", "left"), ("left", "right", "left", "right")]


def saved_with_sides(folder, sides, name):
    """What a recipe with such square matrices computes, and its parameters in a file."""
    draws = [{"tensor": "embedding", "values": normal(1, 6, 4).tolist()}]
    for seed, (matrix, side) in enumerate(zip(("W_q", "W_k", "W_v", "W_o"), sides)):
        draws.append({"tensor": matrix, "values": normal(seed, 4, 4).tolist(), "side": side})
    recipe = {"schema": "attn-cli/recipe/1", "input": {"sentence": SENTENCE}, "draws": draws}
    (folder / "r.json").write_text(json.dumps(recipe))
    stated = succeeds("run", "--recipe", "r.json", "--json", "--show", "all", cwd=folder).json
    succeeds("run", "--recipe", "r.json", "--show", "parameters", "-o", name, cwd=folder)
    return stated


@pytest.mark.parametrize("kind", ["json", "safetensors"])
@pytest.mark.parametrize("sides", SIDES, ids=" ".join)
def test_each_matrix_lies_as_the_config_says(tmp_path, sides, kind):
    stated = saved_with_sides(tmp_path, sides, f"p.{kind}")
    loaded = result(tmp_path, "--params", f"p.{kind}", "--show", "weights,context,output")
    assert all(loaded[name] == stated[name] for name in ("weights", "context", "output"))
    (tmp_path / "saved.json").write_text(json.dumps(loaded))
    assert succeeds("check", "saved.json", cwd=tmp_path).code == 0


@pytest.mark.parametrize("kind", ["json", "safetensors", "npz"])
@pytest.mark.parametrize("sides", [("left", "left", "left", "right"), *SIDES], ids=" ".join)
def test_layout_run_is_the_order_in_which_run_saved(tmp_path, sides, kind):
    stated = saved_with_sides(tmp_path, sides, f"p.{kind}")
    usual = sides == ("left", "left", "left", "right")
    for layout in ((), ("--set", "parameters.layout=run")):
        if kind == "npz" and usual and not layout:
            assert_fails(run("run", SENTENCE, "--params", "p.npz", cwd=tmp_path), 65, "fits both layouts")
            continue
        loaded = result(tmp_path, "--params", f"p.{kind}", *layout, "--show", "all")
        assert all(loaded[name] == stated[name] for name in ("weights", "context", "output"))
        succeeds("run", SENTENCE, "--params", f"p.{kind}", *layout, "--show", "parameters", "-o", "again.npz", cwd=tmp_path)
        again = result(tmp_path, "--params", "again.npz", "--set", "parameters.layout=run", "--show", "all")
        assert again["output"] == stated["output"]
    if kind == "npz":
        assert (zipfile.ZipFile(tmp_path / "p.npz").comment == b"") == usual
        assert sorted(numpy.load(tmp_path / "p.npz").files) == ["W_k", "W_o", "W_q", "W_v", "embedding"]


@pytest.mark.parametrize("kind", ["json", "safetensors"])
@pytest.mark.parametrize("score", ["general", "additive"])
def test_the_matrices_of_scores_lie_as_the_config_says(tmp_path, score, kind):
    names = [("W_a", (4, 4))] if score == "general" else [("W_a", (4, 3)), ("U_a", (4, 3))]
    draws = [{"seed": 1}, {"tensor": "embedding", "init": "normal"}, *({"tensor": name, "init": "normal"} for name in ("W_q", "W_k", "W_v"))]
    draws += [{"tensor": name, "values": normal(seed, *shape).tolist(), "side": "right"} for seed, (name, shape) in enumerate(names)]
    draws += [{"tensor": "v_a", "values": [1, -2, 3]}] if score == "additive" else []
    recipe = {"schema": "attn-cli/recipe/1", "input": {"sentence": SENTENCE}, "dims": {"embed_dim": 5, "d_k": 4, "d_v": 2},
              "draws": draws, "attention": {"score": score}}
    if score == "additive":
        recipe["dims"]["d_a"] = 3
    (tmp_path / "r.json").write_text(json.dumps(recipe))
    stated = succeeds("run", "--recipe", "r.json", "--show", "all", "--json", cwd=tmp_path).json
    succeeds("run", "--recipe", "r.json", "--show", "all", "-o", f"p.{kind}", cwd=tmp_path)
    loaded = result(tmp_path, "--score", score, "--params", f"p.{kind}", "--show", "scores,weights,context")
    assert all(loaded[name] == stated[name] for name in ("scores", "weights", "context"))


def test_json_that_is_no_result_with_parameters_is_refused(tmp_path):
    def write(text):
        (tmp_path / "p.json").write_text(text)
        return run("run", SENTENCE, "--params", "p.json", cwd=tmp_path)

    weights = succeeds("run", "a b", "--json", "--show", "weights").text
    assert_fails(write(weights), 65, "'p.json': no tensor 'W_q'", "the file holds 'weights'")
    assert_fails(write(weights + weights), 65, "'p.json': JSON: got several texts; allowed: one result, as run --show parameters --json writes it")
    assert_fails(write('{"schema": "attn-cli/tensor/1"}'), 65, "'p.json': JSON: got no result")
    assert_fails(write("{"), 65, "'p.json': malformed JSON")
    assert_fails(write("W_q = 1"), 65, "'p.json': got a file that begins with 'W_q = 1'; allowed: a result or tensor as JSON, an array as text")
    drawn = succeeds("run", "a b", "--json", "--show", "parameters").json
    drawn["parameters"]["W_q"][0][0] = "inf"
    assert_fails(write(json.dumps(drawn)), 65, "'W_q' of 'p.json' at (0, 0): got inf; allowed: finite numbers, or any with --set parameters.allow_nonfinite=true")


LAYER = {"W_q": [[1, 0], [0, 1]], "W_k": [[2, 1], [0, 1]], "W_v": [[1, 3], [5, 1]]}
TABLE = [[1, 0], [0, 1], [1, 1]]


def saved(path, tensors, dtype):
    arrays = {name: numpy.array(rows, dtype) for name, rows in tensors.items()}
    numpy.savez(path, **arrays) if path.suffix == ".npz" else save_safetensors(path, arrays)
    return path.name


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("kind", ["npz", "safetensors"])
def test_integers_are_numbers_too(tmp_path, kind, dtype):
    layer = saved(tmp_path / f"p.{kind}", LAYER, dtype)
    table = saved(tmp_path / f"e.{kind}", {"E": TABLE}, dtype)
    plain = saved(tmp_path / f"f.{kind}", {**LAYER, "embedding": TABLE}, "float64")
    integers = succeeds("run", "--ids", "0,2,1", "--vocab-size", "3", "--params", layer, "--set", "parameters.layout=out-in", "--embeddings", table, "--show", "weights,context", "--json", cwd=tmp_path).json
    floats = succeeds("run", "--ids", "0,2,1", "--vocab-size", "3", "--params", plain, "--set", "parameters.layout=out-in", "--show", "weights,context", "--json", cwd=tmp_path).json
    assert without_config(integers) == without_config(floats)
    numpy.save(tmp_path / "e.npy", numpy.array(TABLE, dtype))
    alone = succeeds("run", "--ids", "0,2,1", "--embeddings", "e.npy", "--show", "embeddings", "--json", cwd=tmp_path).json
    assert alone["embeddings"] == [[1, 0], [1, 1], [0, 1]]


@pytest.mark.parametrize(("number", "dtype"), [(16777217, "float32"), (-16777217, "float32"), (2**53 + 1, "float64"), (2**63 - 1, "float64")])
def test_an_integer_that_the_type_does_not_hold_is_refused(tmp_path, number, dtype):
    why = f"got {number}, an integer that {dtype} does not hold"
    options = ("--set", "parameters.layout=out-in", "--dtype", dtype)
    layer = saved(tmp_path / "p.npz", {**LAYER, "W_k": [[2, 1], [0, number]]}, "int64")
    assert_fails(run("run", "a b", "--params", layer, *options, cwd=tmp_path), 65, f"'W_k' of 'p.npz' at (1, 1): {why}")
    numpy.save(tmp_path / "e.npy", numpy.array([[1, number]]))
    assert_fails(run("run", "--ids", "0", "--embeddings", "e.npy", "--dtype", dtype, cwd=tmp_path), 65, f"'e.npy' at (0, 1): {why}")
    (tmp_path / "words.txt").write_text("b\na\n")
    numpy.save(tmp_path / "w.npy", numpy.array([[1, 1], [1, number]]))
    words = ("--embeddings", "w.npy", "--set", "embeddings.words.file=words.txt", "--dtype", dtype)
    assert_fails(run("run", "a", *words, cwd=tmp_path), 65, why)
    succeeds("run", "b", *words, cwd=tmp_path)


def test_truths_are_no_numbers(tmp_path):
    layer = saved(tmp_path / "p.npz", {**LAYER, "W_k": [[True, True], [True, False]]}, "bool")
    assert_fails(run("run", "a b", "--params", layer, "--set", "parameters.layout=run", cwd=tmp_path), 65, "got bool; allowed: float16, bfloat16, float32, float64, uint8, int32, int64")


def test_a_number_of_a_result_beyond_float32_is_named_as_it_stands(tmp_path):
    saved = succeeds("run", "a b", "--show", "parameters", "--json").json
    saved["parameters"]["W_q"][1][2] = 1e39
    (tmp_path / "p.json").write_text(json.dumps(saved))
    assert_fails(run("run", "a b", "--params", "p.json", cwd=tmp_path), 65, "W_q at (1, 2): got 1e+39, which is beyond float32; allowed: up to 3.4e38")
