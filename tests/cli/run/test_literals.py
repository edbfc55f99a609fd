"""Recipes that state their numbers one by one: {"tensor": "W_q", "values": [[…]]}, and masks."""

import json

import pytest
from program import SENTENCE, assert_fails, run, succeeds
from tensors import attention, close, normal, numpy

EYE = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
INPUTS = [[0.43, 0.15, 0.89], [0.55, 0.87, 0.66], [0.57, 0.85, 0.64], [0.22, 0.58, 0.33], [0.77, 0.25, 0.10], [0.05, 0.80, 0.55]]
W = {name: normal(seed, 2, 3, dtype="float64").round(3).tolist() for seed, name in enumerate(("W_q", "W_k", "W_v"))}


def literals(**tensors):
    return [{"tensor": name, **(values if isinstance(values, dict) else {"values": values})} for name, values in tensors.items()]


def recipe(draws, **more):
    return {"schema": "attn-cli/recipe/1", "input": {"positions": 6}, "draws": draws, **more}


@pytest.fixture
def write(tmp_path):
    def write(draws, **more):
        path = tmp_path / "recipe.json"
        path.write_text(json.dumps(recipe(draws, **more)))
        return path

    return write


def plain(Q, K, V):
    """One head."""
    weights, context = attention(Q[None, None], K[None, None], V[None, None])
    return weights[0, 0], context[0, 0]


def result(path, *options):
    return succeeds("run", "--recipe", path, "--json", *options).json


# ---- numbers ---------------------------------------------------------------------------------------------------------


def test_one_hot_queries_choose_the_rows_of_the_values(write):
    rows = [[100, 0, 0], [0, 100, 0], [0, 0, 100]]
    path = write(literals(embeddings=rows, W_q=EYE, W_k=EYE, W_v=EYE), input={"positions": 3})
    done = result(path)
    assert done["weights"] == [EYE] and done["context"] == rows


def test_a_recipe_of_literal_numbers_alone_needs_no_seed_and_no_dims(write):
    done = result(write(literals(embeddings=INPUTS, **W), dtype="float64"), "--show", "all")
    X = numpy.array(INPUTS)
    Q, K, V = (X @ numpy.array(W[name]).T for name in ("W_q", "W_k", "W_v"))
    weights, context = plain(Q, K, V)
    close(done["weights"][0], weights, 1e-14)
    close(done["context"], context, 1e-14)
    assert done["embeddings"] == INPUTS
    assert {name: done["parameters"][name] for name in W} == W


def test_literals_are_rounded_to_the_type(write):
    path = write(literals(embeddings=[[0.1]], W_q=[[1]], W_k=[[1]], W_v=[[1]]), input={"positions": 1})
    assert result(path, "--show", "context")["context"] == [[0.1]]  # the shortest decimal of the float32
    exact = result(path, "--dtype", "float64", "--show", "context")
    assert exact["context"] == [[0.1]]


def test_heads_lie_as_a_stack_or_side_by_side(write):
    stack = {name: normal(seed, 2, 4, 3, dtype="float64").tolist() for seed, name in enumerate(W)}
    one = {name: numpy.reshape(values, (8, 3)).tolist() for name, values in stack.items()}
    right = {name: {"values": numpy.reshape(values, (8, 3)).T.tolist(), "side": "right"} for name, values in stack.items()}
    first = result(write(literals(embeddings=INPUTS, **stack)), "--show", "weights,context,queries")
    assert numpy.shape(first["queries"]) == (2, 6, 4)
    for other in (one, right):
        again = result(write(literals(embeddings=INPUTS, **other), dims={"heads": 2}), "--show", "weights,context,queries")
        assert {**again, "config": None} == {**first, "config": None}


def test_fewer_heads_of_keys_and_values_follow_from_their_stacks(write):
    path = write(literals(embeddings=INPUTS, W_q=normal(1, 4, 2, 3).tolist(), W_k=normal(2, 2, 2, 3).tolist(), W_v=normal(3, 2, 5, 3).tolist()))
    done = result(path, "--show", "keys,values,context")
    assert numpy.shape(done["keys"]) == (2, 6, 2) and numpy.shape(done["values"]) == (2, 6, 5) and numpy.shape(done["context"]) == (6, 20)


def test_a_table_is_looked_up_and_rows_are_as_many_as_words(write):
    table = [[5, 5, 5], *INPUTS]
    ids = write(literals(embedding=table, **W), input={"ids": [1, 2, 3, 4, 5, 6]})
    words = write(literals(embeddings=INPUTS, **W), input={"sentence": SENTENCE})
    by_position = result(words, "--show", "embeddings,weights,context")
    words.write_text(json.dumps(recipe(literals(embedding=table, **W), input={"ids": [1, 2, 3, 4, 5, 6]})))
    by_id = result(ids, "--show", "embeddings,weights,context")
    for name in ("embeddings", "weights", "context"):
        assert by_id[name] == by_position[name]
    sentence = write(literals(embedding=table, **W), input={"sentence": "b a b"})
    assert result(sentence, "--show", "embeddings")["embeddings"] == [table[1], table[0], table[1]]


def test_biases_output_projection_and_extra_keys_may_be_literal(write):
    more = {"b_q": [0.5, -1], "b_k": [1, 2], "b_v": [0, 0.25], "W_o": [[1, 0, 2], [0, 1, -1]], "b_o": [0.5, 0, 0]}
    done = result(write(literals(embeddings=INPUTS, **W, **more), dtype="float64"), "--show", "all")
    X = numpy.array(INPUTS)
    Q, K, V = (X @ numpy.array(W[f"W_{x}"]).T + numpy.array(more[f"b_{x}"]) for x in "qkv")
    _, context = plain(Q, K, V)
    close(done["output"], context @ numpy.array(more["W_o"]) + numpy.array(more["b_o"]), 1e-13)
    extra = literals(embeddings=INPUTS, **W, bias_k=[1, 2], bias_v=[3, 4])
    assert numpy.shape(result(write(extra))["weights"]) == (1, 6, 7)


def test_literals_and_draws_may_be_mixed_and_literals_move_no_stream(write):
    drawn = [{"seed": 5}, *({"tensor": name, "init": "linear"} for name in ("W_q", "W_k", "W_v"))]
    without = result(write([{"seed": 5}, {"tensor": "embeddings", "init": "uniform"}, *drawn], dims={"embed_dim": 3}), "--show", "parameters")
    among = [*drawn[:2], *literals(embeddings=INPUTS), *drawn[2:]]
    assert result(write(among), "--show", "parameters")["parameters"] == without["parameters"]


def test_identities_need_no_seed(write):
    path = write([*literals(embeddings=INPUTS), *({"tensor": name, "init": "identity"} for name in W)], dtype="float64")
    X = numpy.array(INPUTS)
    close(result(path)["weights"][0], plain(X, X, X)[0], 1e-14)


# ---- masks -----------------------------------------------------------------------------------------------------------

SEEN = [[True, False, True, True, False, True]]


def test_a_mask_may_be_literal_as_truths_and_as_numbers(write, tmp_path):
    draws = literals(embeddings=INPUTS, **W)
    numpy.save(tmp_path / "mask.npy", numpy.array(SEEN))
    from_file = result(write(draws, attention={"mask": {"file": str(tmp_path / "mask.npy")}}), "--show", "all")
    truths = write(draws, attention={"mask": {"values": SEEN}})
    stated = result(truths, "--show", "all")
    added = result(write(draws, attention={"mask": {"values": [[0, None, 0, 0.0, "-inf", 0]]}}), "--show", "all")
    assert {**stated, "config": None} == {**from_file, "config": None} == {**added, "config": None}
    assert stated["config"]["attention"] == {"mask": {"values": SEEN}}
    assert added["config"]["attention"] == {"mask": {"values": [[0, None, 0, 0, None, 0]]}}
    truths = write(draws, attention={"mask": {"values": SEEN}})
    assert "mask: what the recipe holds for this row" in succeeds("explain", "--recipe", truths, "--query", "1").text
    assert "-inf" in succeeds("explain", "--recipe", truths, "--query", "1", "--key", "1").text


def test_the_option_takes_the_place_of_a_literal_mask(write, tmp_path):
    numpy.save(tmp_path / "mask.npy", numpy.ones((1, 6), bool))
    path = write(literals(embeddings=INPUTS, **W), attention={"mask": {"values": SEEN}})
    assert result(path, "--mask", tmp_path / "mask.npy")["weights"] == result(write(literals(embeddings=INPUTS, **W)))["weights"]


@pytest.mark.parametrize(("mask", "why"), [
    ({"values": [[True, 1]]}, "attention.mask.values[0][1]: got 1; allowed: true and false alone, or numbers"),
    ({"values": [[True], [True, True]]}, "attention.mask.values[1]: got an array of 2 elements"),
    ({"values": SEEN, "file": "m.npy"}, "attention.mask: got an object of 2 members; allowed: exactly one of file, values"),
    ({}, "attention.mask: got an object of 0 members; allowed: exactly one of file, values"),
    ({"values": []}, "attention.mask.values: got an array of 0 elements; allowed: at least one value"),
    ({"values": True}, "attention.mask.values: got true"),
    ({"values": SEEN, "name": "m"}, "attention.mask: key: got 'name'; allowed: values"),
    ({"values": [[True] * 7]}, "the mask: got the shape (1, 7)"),
    ({"values": [[True] * 3]}, "the mask: got the shape (1, 3)"),
])  # fmt: skip
def test_a_mask_that_is_none_is_refused(write, mask, why):
    assert_fails(run("run", "--recipe", write(literals(embeddings=INPUTS, **W), attention={"mask": mask})), 65, why)


# ---- saved, checked, changed -----------------------------------------------------------------------------------------


def test_a_saved_result_is_its_own_recipe_and_checks(write, tmp_path):
    path = write(literals(embeddings=INPUTS, **W), dims={"embed_dim": 3})
    saved = tmp_path / "saved.json"
    succeeds("run", "--recipe", path, "--show", "all", "-o", saved)
    assert succeeds("check", saved).text.endswith(": passed\n")
    config = json.loads(saved.read_text())["config"]
    assert config["draws"] == recipe(literals(embeddings=INPUTS, **W))["draws"]
    again = succeeds("run", "--recipe", saved, "--json", "--show", "all").json
    assert again == json.loads(saved.read_text())
    for ending in ("npz", "safetensors", "csv", "html", "svg"):
        succeeds("run", "--recipe", path, "-o", tmp_path / f"r.{ending}")


def test_what_a_result_says_of_heads_is_read_with_its_literals(write, tmp_path):
    stack = {name: normal(seed, 2, 3, 3).tolist() for seed, name in enumerate(W)}
    path = write(literals(embeddings=INPUTS, **stack))
    succeeds("run", "--recipe", path, "--show", "parameters", "-o", tmp_path / "p.safetensors")
    loaded = succeeds("run", "--params", tmp_path / "p.safetensors", "--recipe", path, "--json").json
    assert loaded["weights"] == result(path)["weights"]


def test_options_change_a_recipe_of_literals(write):
    path = write(literals(embeddings=INPUTS, **W))
    assert result(path, "--causal")["weights"][0][0][1:] == [0] * 5
    assert result(path, "--seed", "9")["weights"] == result(path)["weights"]
    assert result(path, "--init", "identity", "--show", "weights")["config"]["draws"][1] == {"tensor": "W_q", "init": "identity"}
    assert_fails(run("run", "--recipe", path, "--embed-dim", "4"), 65, "embeddings: got the shape (6, 3); allowed: with these dimensions (6, 4)")
    assert_fails(run("run", "--recipe", path, "--d-k", "3"), 65, "W_q: got the shape (2, 3); allowed: with these dimensions (3, 3) or (1, 3, 3)")


def test_lines_look_words_up_in_a_literal_table(write):
    path = write(literals(embedding=INPUTS, **W), input={"sentence": "a"})
    done = succeeds("run", "--lines", "-", "--recipe", path, "--json", stdin="a b\nc b a\n").json_lines
    assert [len(line["context"]) for line in done] == [2, 3]
    assert done[1]["weights"] == result(write(literals(embedding=INPUTS, **W), input={"sentence": "c b a"}))["weights"]


# ---- what is refused -------------------------------------------------------------------------------------------------

LARGE = "an integer that float32 does not hold"


@pytest.mark.parametrize(("draw", "why"), [
    ({"values": W["W_q"], "init": "uniform"}, 'draws[1].init: got \'uniform\'; allowed: only without "values"'),
    ({"values": W["W_q"], "shape": [2, 3]}, 'draws[1].shape: got an array of 2 elements; allowed: only without "values"'),
    ({"values": W["W_q"], "take": [0]}, 'draws[1].take: got an array of 1 element; allowed: only without "values"'),
    ({"values": W["W_q"], "low": 0}, 'draws[1].low: got 0; allowed: only without "values"'),
    ({"values": [[1, 2, 3], [1, 2]]}, "draws[1].values[1]: got an array of 2 elements; allowed: an array of 3 elements, as before it"),
    ({"values": [[1, 2, "3"], [1, 2, 3]]}, "draws[1].values[0][2]: got '3'; allowed: numbers"),
    ({"values": [[1, 2, None], [1, 2, 3]]}, "draws[1].values[0][2]: got null; allowed: numbers"),
    ({"values": [[1, 2, True], [1, 2, 3]]}, "draws[1].values[0][2]: got true; allowed: numbers"),
    ({"values": []}, "draws[1].values: got an array of 0 elements; allowed: at least one value"),
    ({"values": 1}, "draws[1].values: got 1; allowed: nested arrays of numbers"),
    ({"values": [1, 2, 3]}, "draws[1]: W_q: got the shape (3,); allowed: with these dimensions (2, 3) or (1, 2, 3)"),
    ({"values": [[1, 2], [1, 2]]}, "draws[1]: W_q: got the shape (2, 2); allowed: with these dimensions (2, 3) or (1, 2, 3)"),
    ({"values": [[1, 2, 16777217], [1, 2, 3]]}, f"draws[1].values at (0, 2): got 16777217, {LARGE}; allowed: one that it holds, such as 16777216, or --dtype float64"),
    ({"values": [[1, 2, -16777217], [1, 2, 3]]}, f"got -16777217, {LARGE}"),
    ({"values": [[1, 2, 9007199254740993], [1, 2, 3]]}, "draws[1].values at (0, 2): got 9007199254740993; allowed: an integer that float64 holds exactly"),
    ({"values": [[1, 2, 1e39], [1, 2, 3]]}, "draws[1].values at (0, 2): got 1e+39, which is beyond float32; allowed: up to 3.4e38, or --dtype float64"),
])  # fmt: skip
def test_a_tensor_that_cannot_be_meant_is_refused(write, draw, why):
    tensors = {**W, "W_q": draw}
    assert_fails(run("run", "--recipe", write(literals(embeddings=INPUTS, **tensors))), 65, why)


def test_what_float64_holds_is_only_refused_in_float32(write, tmp_path):
    tensors = {**W, "W_q": [[1, 2, 16777217], [1, 2, 3]]}
    path = write(literals(embeddings=INPUTS, **tensors), dtype="float64")
    done = result(path, "--show", "parameters")
    assert done["parameters"]["W_q"][0] == [1, 2, 16777217]
    (tmp_path / "saved.json").write_text(json.dumps(done))
    assert_fails(run("run", "--recipe", tmp_path / "saved.json", "--dtype", "float32"), 65, f"16777217, {LARGE}")
    assert succeeds("check", tmp_path / "saved.json").code == 0


def test_a_tensor_comes_from_one_place(write, tmp_path):
    numpy.savez(tmp_path / "p.npz", embedding=normal(1, 6, 3), **{name: numpy.array(values) for name, values in W.items()})
    file = {"file": str(tmp_path / "p.npz")}
    both = write(literals(embeddings=INPUTS, W_q=W["W_q"]), parameters=file, input={"sentence": SENTENCE})
    assert_fails(run("run", "--recipe", both), 65, "draws[1]: W_q is drawn and also in", "; allowed: one of them")
    table = write(literals(embedding=INPUTS), parameters=file, input={"sentence": SENTENCE})
    assert_fails(run("run", "--recipe", table), 65, "draws[0]: embedding is drawn and also in")
    twice = write([*literals(embeddings=INPUTS, **W), *literals(W_q=W["W_q"])])
    assert_fails(run("run", "--recipe", twice), 65, "draws[4]: W_q is drawn twice, first by draws[1]")
    assert_fails(run("run", "--recipe", write([{"discard": True, "values": [1]}])), 65, "draws[0].values", "only with tensor")


def test_rows_that_are_not_as_many_as_words_are_refused(write):
    path = write(literals(embeddings=INPUTS[:5], **W), input={"sentence": SENTENCE})
    assert_fails(run("run", "--recipe", path), 65, "embeddings: got the shape (5, 3); allowed: with these dimensions (6, 3)")
    path = write(literals(embedding=INPUTS[:5], **W), input={"sentence": SENTENCE})
    assert_fails(run("run", "--recipe", path), 65, "got 5; allowed: 6 or more, the distinct words of the input")


def test_no_draws_at_all_are_fine_where_files_hold_everything(write, tmp_path):
    numpy.savez(tmp_path / "p.npz", embedding=normal(1, 6, 3), **{name: numpy.array(values, numpy.float32) for name, values in W.items()})
    path = write([], parameters={"file": str(tmp_path / "p.npz")}, input={"ids": [0, 5, 2]})
    assert numpy.shape(result(path)["weights"]) == (1, 3, 3)


def test_arrays_without_a_value_are_called_so(write):
    draws = [{"tensor": "embeddings", "values": [[]]}, *literals(**W)]
    assert_fails(run("run", "--recipe", write(draws)), 65, "draws[0].values: got arrays without a value; allowed: at least one value")
