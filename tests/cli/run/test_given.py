"""Recipes that give queries, keys and values themselves, and recipes whose keys have positions of their own."""

import json
import re

import pytest
from program import assert_fails, run, succeeds
from tensors import attention, close, normal, numpy

QUERIES = [[0, 100, 0]]
KEYS = [[100, 0, 0], [0, 100, 0], [0, 0, 100], [0, 0, 100]]
VALUES = [[1, 0], [10, 0], [100, 5], [1000, 7]]


def given(queries=QUERIES, keys=KEYS, values=VALUES):
    return [{"tensor": name, "values": numpy.asarray(numbers).tolist()}
            for name, numbers in (("queries", queries), ("keys", keys), ("values", values))]


SIDES = {"input": {"positions": 1, "key_positions": 4}}


def result(path, *options):
    return succeeds("run", "--recipe", path, "--json", *options).json


# ---- queries, keys and values ------------------------------------------------------------------------------------------


def test_a_query_that_is_one_key_takes_its_value(write):
    done = result(write(given(), **SIDES), "--show", "weights,context")
    assert done["weights"] == [[[0, 1, 0, 0]]] and done["context"] == [[10, 0]]


def test_a_query_between_two_keys_takes_their_mean(write):
    done = result(write(given(queries=[[0, 0, 100]]), **SIDES), "--show", "weights,context")
    assert done["weights"] == [[[0, 0, 0.5, 0.5]]] and done["context"] == [[550, 6]]


def test_there_are_no_embeddings_and_no_parameters(write):
    done = result(write(given(), **SIDES), "--show", "all")
    assert list(done)[:2] == ["schema", "config"] and [*done][2:] == [
        "tokens", "key_tokens", "queries", "keys", "values", "scores", "scaled_scores", "weights", "head_context", "context", "entropy",
        "lse", "warnings"]
    assert done["queries"] == [QUERIES] and done["keys"] == [KEYS] and done["values"] == [VALUES]
    assert "dims" not in done["config"]


@pytest.mark.parametrize(("heads", "kv_heads"), [(1, 1), (2, 2), (4, 2)])
@pytest.mark.parametrize("causal", [False, True])
def test_the_numbers_are_those_of_attention(write, heads, kv_heads, causal):
    Q, K, V = normal(1, heads, 3, 4), normal(2, kv_heads, 5, 4), normal(3, kv_heads, 5, 6)
    path = write(given(Q, K, V), input={"positions": 3, "key_positions": 5}, dtype="float64", attention={"causal": causal})
    done = result(path, "--show", "weights,head_context,context")
    seen = numpy.tri(3, 5, dtype=bool) if causal else numpy.ones((3, 5), bool)
    K, V = (numpy.repeat(array, heads // kv_heads, 0) for array in (K, V))
    weights, context = attention(Q[None], K[None], V[None], seen=seen)
    close(done["weights"], weights[0], 1e-12)
    close(done["head_context"], context[0], 1e-12)
    close(done["context"], numpy.concatenate(context[0], -1), 1e-12)


def test_sizes_that_nobody_states_come_from_the_shapes_of_draws(write):
    draws = [{"seed": 3}, *({"tensor": name, "init": "normal", "shape": [rows, columns]}
                            for name, rows, columns in (("queries", 2, 5), ("keys", 3, 5), ("values", 3, 7)))]
    done = result(write(draws, input={"positions": 2, "key_positions": 3}), "--show", "queries,keys,values,context")
    assert [numpy.shape(done[name]) for name in ("queries", "keys", "values", "context")] == [(1, 2, 5), (1, 3, 5), (1, 3, 7), (2, 7)]


def test_without_key_positions_every_position_is_a_key(write):
    done = result(write(given(KEYS, KEYS, VALUES), input={"positions": 4, "labels": [*"abcd"]}), "--show", "tokens,weights")
    assert done["tokens"] == [*"abcd"] and numpy.shape(done["weights"]) == (1, 4, 4) and "key_tokens" not in done


def test_sentences_may_label_both_sides(write):
    done = result(write(given(), input={"sentence": "what", "cross": "is this or that"}), "--show", "tokens,key_tokens,weights")
    assert done["tokens"] == ["what"] and done["key_tokens"] == ["is", "this", "or", "that"]
    assert done["weights"] == [[[0, 1, 0, 0]]]


def test_a_batch_has_queries_keys_and_values_for_each_entry(write):
    path = write(given([QUERIES, [[100, 0, 0]]], [KEYS, KEYS], [VALUES, VALUES]), input={"positions": 1, "key_positions": 4, "batch": 2})
    lines = succeeds("run", "--recipe", path, "--json", "--show", "context").out.splitlines()
    assert [json.loads(line)["context"] for line in lines] == [[[10, 0]], [[1, 0]]]


def test_a_batch_of_several_heads_says_how_many_by_its_shape(write):
    Q, K, V = normal(1, 2, 3, 4, 5), normal(2, 2, 3, 4, 5), normal(3, 2, 3, 4, 6)
    path = write(given(Q, K, V), input={"positions": 4, "batch": 2}, dtype="float64")
    entries = [json.loads(line) for line in succeeds("run", "--recipe", path, "--json", "--show", "weights,head_context").out.splitlines()]
    weights, context = attention(Q, K, V)
    close([entry["weights"] for entry in entries], weights, 1e-12)
    close([entry["head_context"] for entry in entries], context, 1e-12)
    draws = [{"seed": 3}, *({"tensor": name, "init": "normal", "shape": [2, 3, 4, 5]} for name in ("queries", "keys", "values"))]
    assert numpy.shape(result(write(draws, input={"positions": 4, "batch": 2}), "--set", "entry=1", "--show", "queries")["queries"]) == (3, 4, 5)


@pytest.mark.parametrize("heads", [1, 2])
def test_additive_scores_compare_queries_and_keys_of_two_widths(write, heads, tmp_path):
    Q, K, V = normal(1, heads, 3, 5), normal(2, heads, 4, 2), normal(3, heads, 4, 6)
    W_a, U_a, v_a = normal(4, heads, 7, 5), normal(5, heads, 7, 2), normal(6, heads * 7)
    parameters = [{"tensor": name, "values": numbers.tolist()} for name, numbers in (("W_a", W_a), ("U_a", U_a), ("v_a", v_a))]
    path = write([*given(Q, K, V), *parameters], input={"positions": 3, "key_positions": 4}, dtype="float64", attention={"score": "additive"})
    done = result(path, "--show", "all")
    hidden = numpy.tanh((Q @ W_a.transpose(0, 2, 1))[:, :, None] + (K @ U_a.transpose(0, 2, 1))[:, None])
    scores = (hidden * v_a.reshape(heads, 1, 1, 7)).sum(-1)
    weights = numpy.exp(scores) / numpy.exp(scores).sum(-1, keepdims=True)
    close(done["scores"], scores, 1e-12)
    close(done["weights"], weights, 1e-12)
    close(done["head_context"], weights @ V, 1e-12)
    (tmp_path / "saved.json").write_text(json.dumps(done))
    assert run("check", tmp_path / "saved.json").code == 0
    words = succeeds("explain", "--recipe", path, "--head", heads - 1, "--query", "0", "--key", "1").text
    assert re.search(r"Query q\(0\)[^\n]*: \(5,\)", words) and re.search(r"Key k\(1\)[^\n]*: \(2,\)", words), words
    succeeds("run", "--recipe", path, "-o", tmp_path / "page.html")


def test_an_output_projection_reads_the_context(write):
    W_o = [[2, 0, 0], [0, 3, 0]]
    done = result(write([*given(), {"tensor": "W_o", "values": W_o}], **SIDES), "--show", "output,parameters")
    assert done["output"] == [[20, 0, 0]] and done["parameters"] == {"W_o": W_o}


def test_positions_of_keys_are_checked_and_explained_as_any_run_is(write, tmp_path):
    path = write(given(), input={"positions": 1, "key_positions": 4, "labels": ["q"], "key_labels": [*"abcd"]})
    saved = tmp_path / "saved.json"
    succeeds("run", "--recipe", path, "--show", "all", "-o", saved)
    assert run("check", saved).code == 0
    words = succeeds("explain", "--recipe", path, "--key", "b").out.decode()
    assert "Query q(q): (3,), as the recipe gives it" in words and "Key k(b): (3,), as the recipe gives it" in words
    assert "mbedding" not in words and "W_" not in words
    asked = succeeds("explain", "--recipe", path, "--json").json
    assert "x" not in asked["query"] and asked["projections"] == [] and asked["query"]["vector"] == QUERIES[0]


def test_a_mistake_is_named(write, tmp_path):
    Q, K, V = normal(1, 3, 4), normal(2, 5, 4), normal(3, 5, 6)
    path = write(given(Q, K, V), input={"positions": 3, "key_positions": 5})
    weights, context = attention(Q[None, None], K[None, None], V[None, None], scale=1)
    numpy.save(tmp_path / "mine.npy", context[0, 0].astype("float32"))
    found = run("run", "--recipe", path, "--against", tmp_path / "mine.npy")
    assert found.code == 1 and b"no scale" in found.out


W = {"tensor": "W_q", "init": "identity"}


@pytest.mark.parametrize(("draws", "more", "error"), [
    (given()[:2], {}, "values are not drawn, and others of queries, keys and values are; allowed: all three, or none of them"),
    ([*given(), W], {}, "W_q is drawn, and so are queries, keys and values, which need none; allowed: one or the other"),
    ([*given(), {"tensor": "embeddings", "values": QUERIES}], {}, "embeddings is drawn, and so are queries"),
    (given(), {"dims": {"embed_dim": 3}}, "dims.embed_dim: got 3; allowed: only with embeddings"),
    (given(), {"attention": {"positions": {"kind": "sinusoidal"}}}, "attention.positions.kind: got sinusoidal; allowed: only with embeddings"),
    (given(keys=KEYS[:3]), {}, "keys: got the shape (3, 3); allowed: with these dimensions (4, 3) or (1, 4, 3)"),
    (given(), {"input": {"positions": 1}}, "; input.key_positions says how many keys there are"),
    (given(keys=[[1, 2]] * 4), {}, "; only additive scores compare queries and keys of two widths"),
    ([{"seed": 1}, *({"tensor": name, "init": "normal"} for name in ("queries", "keys", "values"))], {},
     'queries: got no shape; allowed: "shape": [1, d_k], a row for each position'),
    ([*given()[:2], {"seed": 1}, {"tensor": "values", "init": "normal"}], {}, 'values: got no shape; allowed: "shape": [4, d_v]'),
    ([{"seed": 1}, {"tensor": "Q", "init": "normal"}], {}, "did you mean 'queries'?"),
    (given(), {"input": {"positions": 1, "key_positions": 4, "key_labels": ["a"]}}, "input.key_labels"),
    (given(), {"input": {"positions": 1, "key_labels": ["a"]}}, "input.key_labels"),
])
def test_what_does_not_go_together_is_refused_by_name(write, draws, more, error):
    assert_fails(run("run", "--recipe", write(draws, **(SIDES | more))), 65, error)


@pytest.mark.parametrize(("options", "error"), [
    (["--init", "normal"], "--init: got normal; allowed: only with projections"),
    (["--embed-dim", "8"], "--embed-dim: got 8; allowed: only with embeddings"),
    (["--positions", "sinusoidal"], "--positions: got sinusoidal; allowed: only with embeddings"),
    (["--show", "embeddings"], "--show embeddings requires a recipe with embeddings"),
    (["--show", "parameters"], "--show parameters requires a recipe that draws or states some"),
])
def test_options_that_do_not_go_with_it_are_refused_by_name(write, options, error):
    assert_fails(run("run", "--recipe", write(given(), **SIDES), *options), 2, error)


# ---- positions ---------------------------------------------------------------------------------------------------------


def test_key_positions_have_embeddings_of_their_own(write):
    draws = [{"tensor": name, "values": numpy.asarray(numbers).tolist()} for name, numbers in
             (("embeddings", QUERIES), ("key_embeddings", KEYS), ("W_q", numpy.eye(3)), ("W_k", numpy.eye(3)), ("W_v", numpy.eye(3)))]
    done = result(write(draws, **SIDES), "--show", "key_embeddings,weights,context")
    assert done["key_embeddings"] == KEYS and done["weights"] == [[[0, 1, 0, 0]]] and done["context"] == [KEYS[1]]


def test_bare_positions_look_up_no_rows_of_a_table_and_what_they_may_have_runs(write):
    table = [{"tensor": "embedding", "values": KEYS}, {"seed": 1}, {"init": "multihead_attention"}]
    allowed = "allowed: embeddings, with key_embeddings for key_positions, or queries, keys and values"
    assert_fails(run("run", "--recipe", write(table, **SIDES)), 65, "no ids to look up in an embedding table; " + allowed)
    rows = [{"tensor": "embeddings", "values": QUERIES}, {"tensor": "key_embeddings", "values": KEYS}]
    for draws in (rows + table[1:], given()):
        succeeds("run", "--recipe", write(draws, **SIDES))


def test_keys_may_have_another_width_than_queries(write):
    X, Y = normal(1, 2, 5), normal(2, 3, 2)
    W_q, W_k, W_v = normal(3, 4, 5), normal(4, 4, 2), normal(5, 6, 2)
    draws = [{"tensor": name, "values": numbers.tolist()} for name, numbers in
             (("embeddings", X), ("key_embeddings", Y), ("W_q", W_q), ("W_k", W_k), ("W_v", W_v))]
    done = result(write(draws, input={"positions": 2, "key_positions": 3}, dtype="float64"), "--show", "context")
    _, context = attention((X @ W_q.T)[None, None], (Y @ W_k.T)[None, None], (Y @ W_v.T)[None, None])
    close(done["context"], context[0, 0], 1e-12)


def test_the_width_of_the_keys_follows_from_the_matrix_that_reads_them(write):
    draws = [{"seed": 1}, {"tensor": "embeddings", "init": "normal"}, {"tensor": "key_embeddings", "init": "normal"},
             *({"tensor": W, "init": "linear", "shape": shape} for W, shape in (("W_q", [5, 6]), ("W_k", [5, 9]), ("W_v", [7, 9])))]
    done = result(write(draws, input={"positions": 2, "key_positions": 3}), "--show", "embeddings,key_embeddings")
    assert numpy.shape(done["embeddings"]) == (2, 6) and numpy.shape(done["key_embeddings"]) == (3, 9)


def test_the_weight_of_a_layer_is_not_taken_the_other_way_round(write):
    draws = [{"seed": 1}, {"tensor": "embeddings", "init": "normal", "shape": [3, 6]},
             *({"tensor": W, "init": "linear", "shape": [6, 4]} for W in ("W_q", "W_k", "W_v"))]
    done = run("run", "--recipe", write(draws, input={"positions": 3}))
    assert_fails(done, 65, "or (4, 6), the weight of nn.Linear(6, 4)")
    assert "right" not in done.message


def test_learned_positions_are_added_row_by_row(write):
    table, learned = normal(1, 4, 3), normal(2, 9, 3)
    eye = numpy.eye(3)
    draws = [{"tensor": name, "values": numbers.tolist()} for name, numbers in
             (("position_embedding", learned), ("embedding", table), ("W_q", eye), ("W_k", eye), ("W_v", eye))]
    path = write(draws, input={"ids": [2, 0, 2]}, dtype="float64")
    done = result(path, "--show", "embeddings,parameters")
    close(done["embeddings"], table[[2, 0, 2]] + learned[:3], 1e-15)
    close(done["parameters"]["position_embedding"], learned, 0)
    assert "and row 1 of position_embedding," in succeeds("explain", "--recipe", path, "--query", "1").out.decode()
    asked = succeeds("explain", "--recipe", path, "--query", "1", "--json").json["query"]
    close(asked["position_embedding"], learned[1], 0)
    close(numpy.add(asked["embedding"], asked["position_embedding"]), asked["x"], 1e-15)


def test_lines_of_other_lengths_read_the_same_learned_positions(write, tmp_path):
    draws = [{"seed": 1}, {"tensor": "embedding", "init": "normal"}, {"tensor": "position_embedding", "init": "normal", "shape": [6, 16]},
             *({"tensor": name, "init": "uniform"} for name in ("W_q", "W_k", "W_v"))]
    path = write(draws, input={"sentence": "a b"}, dims={"vocab_size": 5})
    lines = tmp_path / "lines.txt"
    lines.write_text("b a\na b c d\nc\n")
    together = succeeds("run", "--recipe", path, "--lines", lines, "--json").out.splitlines()
    for line, sentence in zip(together, lines.read_text().splitlines(), strict=True):
        alone = result(path, "--", sentence)
        assert {**json.loads(line), "index": None} == {**alone, "index": None}


@pytest.mark.parametrize(("draw", "more", "error"), [
    ({"shape": [2, 16]}, {}, "position_embedding: got the shape (2, 16); allowed: with these dimensions (3, 16), or more rows"),
    ({}, {"attention": {"positions": {"kind": "sinusoidal"}}}, "position_embedding is drawn, and positions are sinusoidal"),
])
def test_learned_positions_that_cannot_be_added_are_refused(write, draw, more, error):
    draws = [{"seed": 1}, {"tensor": "embedding", "init": "normal"}, {"tensor": "position_embedding", "init": "normal"} | draw,
             *({"tensor": name, "init": "uniform"} for name in ("W_q", "W_k", "W_v"))]
    assert_fails(run("run", "--recipe", write(draws, input={"sentence": "a b c"}, **more)), 65, error)


# ---- an identity W_v ---------------------------------------------------------------------------------------------------


def identities(**dims):
    return {"draws": [{"seed": 1}, {"tensor": "embeddings", "init": "normal"}, *({"tensor": W, "init": "identity"} for W in ("W_q", "W_k", "W_v"))],
            "input": {"positions": 3}, "dims": dims}


def test_an_identity_of_the_values_keeps_their_width(write):
    draws = [{"seed": 1}, *({"tensor": name, "init": "normal"} for name in ("embedding", "value_embedding", "W_q", "W_k")),
             {"tensor": "W_v", "init": "identity"}]
    done = result(write(draws, input={"sentence": "a b"}, dims={"embed_dim": 4, "value_dim": 7}), "--show", "values,parameters")
    assert done["values"] == [done["parameters"]["value_embedding"]]


@pytest.mark.parametrize("command", [["check"], ["run", "--recipe"]])
def test_a_new_recipe_whose_identity_would_cut_or_pad_the_values_is_refused(write, command):
    for d_v, made in ((3, "3 numbers of 4"), (5, "5 numbers of 4")):
        path = write(**identities(embed_dim=4, d_v=d_v))
        assert_fails(run(*command, path), 65, f"draws: W_v: got an identity that makes {made}; allowed: as many, with dims.d_v 4")


def test_a_saved_result_with_such_an_identity_still_checks(write, tmp_path):
    saved = tmp_path / "saved.json"
    succeeds("run", "--recipe", write(**identities(embed_dim=4)), "--d-v", "3", "-o", saved)
    assert run("check", saved).code == 0 and run("run", "--recipe", saved).code == 0
