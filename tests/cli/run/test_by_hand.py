"""Recipes as somebody writes them by hand from an article: what is taken as it is printed, and errors that say what to do."""

import json

import pytest
from program import SENTENCE, assert_fails, run, succeeds
from tensors import numpy

ROWS = [[0.5, -1.5], [2, 0.25], [1, 1]]
EYE = [[1, 0], [0, 1]]
PLAIN = [{"tensor": "embeddings", "values": ROWS}, *({"tensor": name, "values": EYE} for name in ("W_q", "W_k", "W_v"))]


@pytest.fixture
def write(tmp_path):
    def write(draws=PLAIN, **more):
        path = tmp_path / "by-hand.json"
        path.write_text(json.dumps({"schema": "attn-cli/recipe/1", "input": {"positions": 3}, "draws": draws, **more}))
        return path

    return write


def refused(path, *parts, command=("run", "--recipe")):
    """With these parts in the message; one that ends in a new line ends it."""
    done = run(*command, path)
    assert_fails(done, 65, *(part.rstrip("\n") for part in parts))
    assert all(done.message.endswith(part) for part in parts if part.endswith("\n")), done


def test_stated_tensors_of_additive_scores_say_how_many_numbers_are_hidden(write):
    W_a, U_a, v_a = [[0.5, 1], [-1, 2], [0, 0.25]], [[1, 0], [1, 1], [0.5, 2]], [1, -1, 2]
    scores = [{"tensor": name, "values": values} for name, values in (("W_a", W_a), ("U_a", U_a), ("v_a", v_a), ("b_Wa", [1, 2, 3]))]
    additive = {"dtype": "float64", "attention": {"score": "additive"}}
    done = succeeds("run", "--recipe", write([*PLAIN, *scores], **additive), "--show", "scores", "--json").json
    X = numpy.array(ROWS)
    hidden = (X @ numpy.array(W_a).T + [1, 2, 3])[:, None] + (X @ numpy.array(U_a).T)[None]
    numpy.testing.assert_allclose(done["scores"][0], numpy.tanh(hidden) @ v_a, rtol=1e-14)
    drawn = [{"seed": 1}, *PLAIN[:1], *({"tensor": name, "init": "uniform"} for name in ("W_q", "W_k", "W_v"))]
    more = [*({"tensor": name, "init": "linear"} for name in ("W_a", "U_a")), scores[2]]
    done = succeeds("run", "--recipe", write([*drawn, *more], **additive), "--show", "parameters", "--json").json
    assert numpy.shape(done["parameters"]["U_a"]) == (3, 24)
    general = write([*drawn, {"tensor": "W_a", "values": EYE}], attention={"score": "general"})
    refused(general, "W_a: got the shape (2, 2); allowed: with these dimensions (24, 24) or (1, 24, 24); d_k is 24 by default, dims.d_k sets it\n")
    two_heads = write([*PLAIN, {"tensor": "W_a", "values": [[1], [2], [3], [4]]}, {"tensor": "U_a", "values": [[1], [2], [3], [4]]},
                       {"tensor": "v_a", "values": [1, 2, 3, 4]}], dims={"heads": 2}, attention={"score": "additive"})  # fmt: skip
    succeeds("run", "--recipe", two_heads)


def test_a_linear_output_projection_of_a_recipe_says_its_side(write, tmp_path):
    def with_W_o(**side):
        return write([*PLAIN, {"seed": 1}, {"tensor": "W_o", "init": "linear", **side}])

    refused(with_W_o(), 'draws[5]: side of W_o: got none; allowed: "left", as nn.Linear draws it, or "right", its transpose')
    refused(with_W_o(), "draws[5]: side of W_o: got none", command=["check"])
    done = succeeds("run", "--recipe", with_W_o(side="left"), "--json", "--show", "all").json
    numpy.testing.assert_allclose(done["output"], numpy.array(done["context"]) @ numpy.array(done["parameters"]["W_o"]).T, rtol=1e-5)
    options = ("run", "a b c", "--heads", "4", "--init", "linear")
    succeeds(*options, "--show", "output", "-o", "my.recipe.json", cwd=tmp_path)
    assert json.loads((tmp_path / "my.recipe.json").read_text())["draws"][-1] == {"tensor": "W_o", "init": "linear", "side": "right"}
    succeeds("check", "my.recipe.json", cwd=tmp_path)
    for saved in ("saved.json", "saved.safetensors"):  # as those of 0.1.0, their config need not
        succeeds(*options, "--show", "all", "-o", saved, cwd=tmp_path)
    assert json.loads((tmp_path / "saved.json").read_text())["config"]["draws"][-1] == {"tensor": "W_o", "init": "linear"}
    succeeds("check", "saved.json", cwd=tmp_path)
    again = succeeds("run", "a b c", "--params", "saved.safetensors", "--show", "output", "--json", cwd=tmp_path).json
    assert again["output"] == json.loads((tmp_path / "saved.json").read_text())["output"]


TRIANGLE = numpy.tri(3)
DOUBT = "attn-cli: warning: the mask holds only the numbers 0 and 1, which are added to the scores; to hide keys it must hold booleans"


def test_a_mask_of_zeros_and_ones_that_are_numbers_is_warned_of_once(write, tmp_path):
    def warned(*arguments):
        done = run(*arguments, cwd=tmp_path)
        assert done.code in (0, 1) and done.message.count("\n") == 1, done
        return DOUBT.removeprefix("attn-cli: warning: ") in done.message

    numpy.save(tmp_path / "mask.npy", TRIANGLE.astype("float32"))
    numpy.save(tmp_path / "truths.npy", TRIANGLE.astype(bool))
    numpy.save(tmp_path / "q.npy", numpy.ones((2, 2, 3, 4), "float32"))
    numpy.save(tmp_path / "whole.npy", TRIANGLE.astype("int64"))
    numpy.save(tmp_path / "wide.npy", -TRIANGLE.astype("int32"))
    numpy.savetxt(tmp_path / "mask.txt", TRIANGLE, "%d")
    numpy.savez(tmp_path / "many.npz", mask=numpy.broadcast_to(TRIANGLE, (2, 2, 3, 3)).astype("float16"))
    attend = ("attend", "-q", "q.npy", "-k", "q.npy", "-v", "q.npy")
    values = write(attention={"mask": {"values": TRIANGLE.astype(int).tolist()}}, published=[{"array": "weights", "shape": [1, 3, 3]}])
    assert warned("run", "a b c", "--mask", "mask.npy") and warned("run", "a b c", "--mask", "mask.npy", "--json")
    assert warned("explain", "a b c", "--query", "0", "--mask", "mask.npy")
    assert warned("run", "a b c", "--mask", "whole.npy") and warned(*attend, "--mask", "whole.npy") and warned(*attend, "--mask", "mask.txt")
    assert "mask.astype(bool)" in run(*attend, "--mask", "whole.npy", cwd=tmp_path).message
    succeeds("run", "a b c", "--mask", "wide.npy", cwd=tmp_path)
    assert warned(*attend, "--mask", "mask.npy") and warned(*attend, "--mask", "many.npz:mask")
    assert warned("run", "--recipe", values) and warned("check", values)
    for mask in ([[0, 0, 0]] * 3, [[0, None, 1]] * 3, [[0, 1, 2]] * 3, TRIANGLE.astype(bool).tolist()):
        succeeds("run", "--recipe", write(attention={"mask": {"values": mask}}))
    succeeds("run", "a b c", "--mask", "truths.npy", cwd=tmp_path)
    succeeds(*attend, "--mask", "truths.npy", cwd=tmp_path)
    succeeds("run", "a b c", "--mask", "mask.npy", "--quiet", cwd=tmp_path)


def test_rows_of_a_file_in_the_order_of_a_sentence_go_with_ids(write, tmp_path):
    numpy.save(tmp_path / "rows.npy", numpy.array(ROWS))
    table = {"draws": PLAIN[1:], "embeddings": {"file": "rows.npy"}}
    way_out = 'embeddings: got an input of bare positions, which look up no rows; allowed: a sentence, or "input": {"ids": '
    refused(write(**table), way_out + "[0, 1, 2]}, which takes the rows in their order")
    refused(write(**table, input={"positions": 9}), way_out + "[0, 1, 2, …, 8]}")
    refused(write(**table, input={"positions": 4}), way_out + "[0, 1, 2, 3]}")
    refused(write(**table, input={"positions": 1}), way_out + "[0]}")
    path = write(**table, input={"ids": [0, 1, 2], "labels": ["my", "own", "words"]})  # and no vocab_size
    assert succeeds("run", "--recipe", path, "--show", "embeddings", "--json").json["embeddings"] == ROWS


def checked(path):
    done = run("check", path)
    return done.text.splitlines()[0]


def test_a_batch_of_one_may_be_stated_and_a_forgotten_head_is_named(write):
    context = succeeds("run", "--recipe", write(), "--show", "context,weights", "--json").json
    for values in (context["context"], [context["context"]], [[context["context"]]]):
        assert checked(write(published=[{"array": "context", "values": values}])) == "ok        context  6 compared, all equal"
    assert checked(write(published=[{"array": "context", "shape": [1, 3, 2]}])).startswith("ok ")
    wrong = checked(write(published=[{"array": "context", "shape": [2, 3, 2]}]))
    assert wrong == "MISMATCH  context  1 of 1: context: stated shape (2, 3, 2), computed (3, 2)"
    two = {"dims": {"heads": 2, "d_k": 1, "d_v": 1}}
    heads = succeeds("run", "--recipe", write(**two), "--show", "weights", "--json").json["weights"]
    assert checked(write(**two, published=[{"array": "weights", "values": heads[0]}])) == (
        'MISMATCH  weights  1 of 1: weights: stated shape (3, 3), computed (2, 3, 3); "at": [0] states the first head'
    )
    row = checked(write(published=[{"array": "context", "values": context["context"][0]}]))
    assert row.endswith('stated shape (2,), computed (3, 2); "at": [0] states the first row')
    changed = [[context["context"][0], context["context"][1], [0, context["context"][2][1]]]]
    assert "context[2][0]: stated 0, computed" in checked(write(published=[{"array": "context", "values": changed}]))


def test_one_head_may_be_stated_without_its_dimension(write):
    shown = succeeds("run", "--recipe", write(), "--show", "weights,queries,entropy", "--json").json
    for array in ("weights", "queries", "entropy"):
        rows = shown[array][0]
        for at, values in ([], rows), ([1], rows[1]), ([0], rows), ([0], rows[0]), ([0, 1], rows[1]), ([], [rows]):
            done = checked(write(published=[{"array": array, "at": at, "values": values}]))
            assert done.startswith(f"ok        {array}") and done.endswith("compared, all equal"), (array, at, done)
    other = checked(write(published=[{"array": "weights", "at": [1], "values": shown["weights"][0][2]}]))
    assert other.startswith("MISMATCH  weights[1]  3 of 3: weights[0][1][0]: stated"), other
    for at, shapes in ([0], "(3,), or (3, 3) with the head"), ([], "(3, 3), or (1, 3, 3) with the head"):
        short = checked(write(published=[{"array": "weights", "at": at, "values": [1, 0]}]))
        assert short.endswith(f"stated shape (2,), computed {shapes}"), short
    assert checked(write(published=[{"array": "weights", "at": [3], "values": [1, 0, 0]}])).endswith(
        "weights[3]: these indices do not fit the computed shape (1, 3, 3)"
    )
    batch = {"input": {"positions": 3, "batch": 2}, "published": [{"array": "weights", "values": [shown["weights"][0]] * 2}]}
    assert checked(write(**batch)) == "ok        weights  18 compared, all equal"
    batch["published"] = [{"array": "weights", "at": [1, 2], "values": shown["weights"][0][2]}]
    assert checked(write(**batch)) == "ok        weights[1][2]  3 compared, all equal"


def test_what_the_mean_of_heads_leaves_out_is_said(write):
    path = write(dims={"heads": 2}, head="mean", published=[{"array": "queries", "at": [0], "values": [[1, 1]]}])
    assert checked(path) == (
        'MISMATCH  queries[0]  1 of 1: queries[0]: this run has none; "head": "mean" leaves of the arrays by head only the '
        "mean of the weights"
    )
    assert checked(write(published=[{"array": "output", "shape": [3, 2]}])).endswith("output: this run has none")


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_matrix_of_all_heads_may_be_stated_as_it_is_printed(write, side):
    draws = [{"seed": 1}, PLAIN[0], *({"tensor": W, "init": "uniform", "side": side} for W in ("W_q", "W_k", "W_v"))]
    run_ = {"draws": draws, "dims": {"heads": 2, "d_k": 2, "d_v": 3}}
    stack = succeeds("run", "--recipe", write(**run_), "--show", "parameters", "--json").json["parameters"]
    for W, d in (("W_q", 2), ("W_v", 3)):
        heads = numpy.array(stack[W])
        assert heads.shape == ((2, d, 2) if side == "left" else (2, 2, d))
        one = heads.reshape(2 * d, 2) if side == "left" else numpy.concatenate(list(heads), axis=1)
        for values in (one, heads):
            assert checked(write(**run_, published=[{"array": W, "values": values.tolist()}])) == f"ok        {W}  {4 * d} compared, all equal"
        other = one.copy()
        other[1, 1] = 7
        found = checked(write(**run_, published=[{"array": W, "values": other.tolist()}]))
        assert f"{W}[0][1][1]: stated 7" in found
        printed = f"tensor({numpy.array2string(one, separator=', ', precision=4, floatmode='fixed')})"
        assert checked(write(**run_, published=[{"array": W, "values": printed}])).startswith("ok ")
        if d == 3:
            assert f"stated shape {one.T.shape}" in checked(write(**run_, published=[{"array": W, "values": one.T.tolist()}]))


def stated(write, W_q, **dims):
    return write([*PLAIN[:1], {"tensor": "W_q", "values": W_q}, *PLAIN[2:]], dims=dims)


def test_a_shape_that_does_not_fit_names_the_default_and_the_other_side(write):
    def with_W_q(**W_q):
        return write([{"seed": 1}, *PLAIN[:1], {"tensor": "W_q", "init": "uniform", **W_q}, *({"tensor": W, "init": "uniform"} for W in ("W_k", "W_v"))])

    drawn = [{"tensor": W, "init": "uniform"} for W in ("W_q", "W_k", "W_v")]
    refused(write([{"seed": 1}, *PLAIN[:1], *drawn, {"tensor": "b_q", "values": [1, 2]}]),
            "draws[5]: b_q: got the shape (2,); allowed: with these dimensions (24,) or (1, 24); d_k is 24 by default, dims.d_k sets it")
    refused(with_W_q(shape=[2, 24]), 'allowed: with these dimensions (2, 2) or (1, 2, 2) or (2, 24) with "side": "right"')
    tall = [[1, 2], [3, 4], [5, 6]]
    wide = [[1, 2, 3], [4, 5, 6]]
    refused(stated(write, tall, d_k=2), "W_q: got the shape (3, 2); allowed: with these dimensions (2, 2) or (1, 2, 2)\n")
    for dims in ({"d_k": 3}, {}):
        refused(stated(write, wide, **dims), '(2, 3) with "side": "right"\n')
    refused(write([{"seed": 1}, {"tensor": "embeddings", "init": "normal", "shape": [3, 5]}, *drawn], dims={"embed_dim": 4}),
            "embeddings: got the shape (3, 5); allowed: with these dimensions (3, 4)\n")


def test_sizes_follow_from_the_shapes_of_draws(write):
    draws = [{"seed": 1}, {"tensor": "embeddings", "init": "normal", "shape": [3, 5]}, {"tensor": "W_q", "init": "uniform", "shape": [4, 5]},
             {"tensor": "W_k", "init": "uniform"}, {"tensor": "W_v", "init": "uniform", "shape": [5, 6], "side": "right"}]
    done = succeeds("run", "--recipe", write(draws), "--json", "--show", "all").json
    sizes = {name: numpy.shape(done[name]) for name in ("embeddings", "queries", "keys", "values")}
    assert sizes == {"embeddings": (3, 5), "queries": (1, 3, 4), "keys": (1, 3, 4), "values": (1, 3, 6)}


def test_heads_drawn_one_by_one_without_their_number_are_told_of_it(write):
    draws = [{"seed": 1}, *PLAIN[:1], *({"tensor": W, "init": "linear"} for W in ("W_q", "W_k", "W_v", "W_q", "W_k", "W_v"))]
    twice = "draws[5]: W_q is drawn twice, first by draws[2]; allowed: once"
    refused(write(draws, dims={"heads": 2, "d_k": 1, "d_v": 1}), twice + ', or once for each head, with "head": 0, 1, …\n')
    refused(write(draws), twice + "\n")
    tables = [*PLAIN, PLAIN[0]]
    refused(write(tables, dims={"heads": 2}), "draws[4]: embeddings is drawn twice, first by draws[0]; allowed: once\n")


def test_a_vector_may_have_the_shape_of_a_layer_of_one_output(write):
    vectors = {"b_q": [1, -1], "b_Wa": [0.5, 2], "v_a": [3, -2]}
    matrices = [{"tensor": name, "values": EYE} for name in ("W_a", "U_a")]
    published = [{"array": name, "values": [values]} for name, values in vectors.items()]
    more = {"attention": {"score": "additive"}, "published": [*published, *({"array": a, "values": v} for a, v in vectors.items())]}
    results = []
    for rows in (vectors, {name: [values] for name, values in vectors.items()}):
        path = write([*PLAIN, *matrices, *({"tensor": name, "values": values} for name, values in rows.items())], **more)
        assert succeeds("check", path).text.endswith(": passed\n")
        results.append(succeeds("run", "--recipe", path, "--json", "--show", "all").json | {"config": None})
    assert results[0] == results[1] and results[0]["parameters"]["v_a"] == [3, -2]
    drawn = [*PLAIN, *matrices, {"seed": 1}, {"tensor": "v_a", "init": "linear", "shape": [1, 2]}]
    succeeds("run", "--recipe", write(drawn, attention={"score": "additive"}))


def test_a_value_in_the_place_of_an_object_is_told_its_form(write):
    refused(write(attention={"dropout": 0.5}), 'attention.dropout: got 0.5; allowed: an object, such as {"p": 0.5}\n')
    refused(write(attention={"mask": [[True]]}), 'attention.mask: got an array of 1 element; allowed: an object, such as {"values": …}\n')
    refused(write(attention={"mask": "m.npy"}), "attention.mask: got 'm.npy'; allowed: an object, such as {\"file\": …}\n")
    refused(write(attention={"mask": 1}), 'attention.mask: got 1; allowed: an object, such as {"file": …} or {"values": …}\n')
    refused(write(attention={"positions": "rope"}), "attention.positions: got 'rope'; allowed: an object, such as {\"kind\": …}\n")
    refused(write(embeddings="glove.txt"), "embeddings: got 'glove.txt'; allowed: an object, such as {\"file\": …}\n")
    refused(write(input="a b"), "input: got 'a b'; allowed: an object, such as {\"sentence\": …}\n")
    refused(write(input=3), 'input: got 3; allowed: an object, such as {"positions": 3}\n')
    refused(write(dims=3), "dims: got 3; allowed: an object\n")


def test_the_names_of_articles_lead_to_those_of_recipes(write):
    for called, init in (("randint", "integers"), ("rand", "uniform"), ("randn", "normal"), ("xavier_uniform", "xavier")):
        refused(write([{"tensor": "W_q", "init": called}]), f"draws[0].init: got '{called}'; allowed: ", f"; did you mean '{init}'?")
        assert_fails(run("run", SENTENCE, "--init", called), 2, f"--init: got '{called}'; allowed: ", f"; did you mean '{init}'?")
    for called, score in (("bahdanau", "additive"), ("luong", "general"), ("concat", "additive"), ("cosin", "cosine")):
        refused(write(attention={"score": called}), f"attention.score: got '{called}'; allowed: ", f"; did you mean '{score}'?")
        assert_fails(run("run", SENTENCE, "--score", called), 2, f"; did you mean '{score}'?")


def test_a_difference_that_is_no_number_is_not_called_small(write):
    digits = "tensor([[0.5000, inf],\n        [2.0001, 0.2500],\n        [1.0000, 1.0000]])"
    found = checked(write(published=[{"array": "embeddings", "values": digits}]))
    assert found == "MISMATCH  embeddings  2 of 6: embeddings[0][1]: stated inf, computed -1.5; largest finite difference 1.0e-04"
    finite = checked(write(published=[{"array": "embeddings", "values": digits.replace("inf", "1.5")}]))
    assert finite.endswith("largest difference 3.0e+00")


def test_numbers_of_a_draw_may_be_pasted_as_they_are_printed(write):
    pasted = "tensor([[ 0.5000, -1.5000],\n        [ 2.0000,  0.2500],\n        [ 1., 1.]], grad_fn=<AddBackward0>)"
    draws = [{"tensor": "embeddings", "values": pasted}, *({"tensor": W, "values": "[[1. 0.]\n [0. 1.]]"} for W in ("W_q", "W_k", "W_v"))]
    once = succeeds("run", "--recipe", write(draws), "--json", "--show", "all")
    assert once.out == succeeds("run", "--recipe", write(), "--json", "--show", "all").out
    refused(write([{"tensor": "W_q", "values": "tensor([[1., x]])"}]), "draws[0].values at character 13: got 'x'; allowed: numbers as PyTorch")
    refused(write([{"tensor": "W_q", "values": "[[1 nan]]"}]), "draws[0].values: got 'nan'; allowed: finite numbers\n")
    refused(write(attention={"mask": {"values": "[[1 0]]"}}), "attention.mask.values: got '[[1 0]]'; allowed: nested arrays of true and false")


def test_brackets_that_are_left_open_are_named(write):
    open_row = "tensor([[0.5000, -1.5000],\n        [2.0000, 0.2500], grad_fn=<SelectBackward0>)"
    path = write(published=[{"array": "embeddings", "values": open_row}])
    why = "published[0].values at character 53: got 'grad_fn=<SelectBackward0>'; allowed: a ']' before it for each '[' that is open, of which there is 1\n"
    refused(path, why, command=["check"])


@pytest.mark.parametrize(("topic", "page"), [("draws", "recipes"), ("numpy", "recipes"), ("torch", "recipes"), ("recipe", "recipe")])
def test_help_knows_what_the_pages_tell_of(topic, page):
    done = run("help", topic)
    assert f"; did you mean '{page}'?" in done.message if done.code else page == topic
