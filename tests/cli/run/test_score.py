"""--score: the functions that give a query and a key their score, against NumPy in float64; and masks before the scale."""

import json
import random

import pytest
from program import SENTENCE, assert_fails, run, succeeds

numpy = pytest.importorskip("numpy")

FUNCTIONS = ["dot", "cosine", "general", "additive"]
WORDS = ["one", "two", "three", "four", "five", "six"]


def arrays(done):
    return {name: numpy.array(value, dtype=numpy.float64) for name, value in {**done, **done["parameters"]}.items()
            if name not in ("schema", "config", "tokens", "key_tokens", "vocabulary", "parameters", "warnings", "verify")}


def heads_of(matrix, H, side):
    """(H, out, in) of a matrix of all heads, however it is stacked."""
    if side == "left":
        return matrix.reshape(H, -1, matrix.shape[-1])
    stacked = matrix.reshape(H, -1, matrix.shape[-1]) if matrix.ndim == 3 else matrix.reshape(matrix.shape[0], H, -1).swapaxes(0, 1)
    return stacked.swapaxes(1, 2)


def expected_scores(done):
    """The formulas, for every query head, in float64."""
    a, attention = arrays(done), done["config"]["attention"]
    sides = {draw.get("tensor"): draw.get("side", "left") for draw in done["config"]["draws"]}
    H = a["queries"].shape[0]
    Q, K = a["queries"], numpy.repeat(a["keys"], H // a["keys"].shape[0], axis=0)

    def bias(name):
        return a[name].reshape(H, 1, -1) if name in a else 0

    if attention["score"] == "cosine":
        return Q @ K.swapaxes(1, 2) / (numpy.linalg.norm(Q, axis=2)[:, :, None] * numpy.linalg.norm(K, axis=2)[:, None, :])
    if attention["score"] == "general":
        return Q @ (K @ heads_of(a["W_a"], H, sides["W_a"]).swapaxes(1, 2) + bias("b_Wa")).swapaxes(1, 2)
    if attention["score"] == "additive":
        left = Q @ heads_of(a["W_a"], H, sides["W_a"]).swapaxes(1, 2) + bias("b_Wa")
        right = K @ heads_of(a["U_a"], H, sides["U_a"]).swapaxes(1, 2) + bias("b_Ua")
        hidden = numpy.tanh(left[:, :, None, :] + right[:, None, :, :])
        return numpy.einsum("htsd,hd->hts", hidden, a["v_a"].reshape(H, -1)) + (a["b_va"].reshape(H, 1, 1) if "b_va" in a else 0)
    return Q @ K.swapaxes(1, 2)


def softmax(scores):
    with numpy.errstate(invalid="ignore"):
        powers = numpy.exp(scores - scores.max(axis=2, keepdims=True))
    powers = numpy.nan_to_num(powers)
    total = powers.sum(axis=2, keepdims=True)
    return powers / numpy.where(total == 0, 1, total)


def random_run(chance, function):
    H_kv, group, T, S = chance.randint(1, 2), chance.randint(1, 3), chance.randint(1, 7), chance.randint(1, 7)
    options = ["--score", function, "--heads", H_kv * group, "--kv-heads", H_kv, "--embed-dim", 8, "--d-k", 2 * chance.randint(1, 5),
               "--d-v", chance.randint(1, 4), "--init", chance.choice(["uniform", "normal", "xavier", "linear"]), "--seed", chance.randint(0, 99),
               "--dtype", chance.choice(["float32", "float64"]), "--set", f"rounding={chance.choice(['stage', 'step'])}"]
    if function == "additive" and chance.random() < 0.5:
        options += ["--set", f"dims.d_a={chance.randint(1, 9)}"]
    if chance.random() < 0.5:
        options += ["--scale", chance.choice(["0.25", "none", "2"])]
    if chance.random() < 0.3:
        options += ["--softcap", 3]
    if chance.random() < 0.3:
        options += ["--causal"]
    if chance.random() < 0.3:
        options += ["--window", "2,1"]
    options += chance.choice([[], [], ["--positions", "alibi"], ["--positions", "rope"]])
    if chance.random() < 0.3:
        options += ["--cross", " ".join(chance.choices(WORDS, k=S))]
    return [" ".join(chance.choices(WORDS, k=T)), *options]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_random_runs_agree_with_numpy_in_float64(function):
    chance = random.Random(FUNCTIONS.index(function))
    for _ in range(60):
        arguments = random_run(chance, function)
        done = succeeds("run", *arguments, "--show", "all", "--json").json
        a, attention = arrays(done), done["config"]["attention"]
        single = "float32" in arguments
        close = {"rtol": 2e-5 if single else 1e-12, "atol": 1e-5 if single else 1e-12}
        scores = expected_scores(done)
        numpy.testing.assert_allclose(a["scores"], scores, **close, err_msg=str(arguments))
        scale = attention.get("scale", 1)
        scaled = scores * (1 if scale == "none" else scale)
        numpy.testing.assert_allclose(a["scaled_scores"], scaled, **close, err_msg=str(arguments))
        last = 3 * numpy.tanh(scaled / 3) if "softcap" in attention else scaled
        if "masked_scores" in a:
            masked = numpy.array(done["masked_scores"], dtype=object)
            last = numpy.where(masked == None, -numpy.inf, numpy.where(masked == None, 0, masked)).astype(float)  # noqa: E711
        weights = softmax(last)
        numpy.testing.assert_allclose(a["weights"], weights, rtol=1e-4 if single else 1e-11, atol=1e-6, err_msg=str(arguments))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_what_goes_with_products_goes_with_every_function(function, tmp_path):
    numpy.save(tmp_path / "mask.npy", numpy.tril(numpy.ones((6, 6), dtype=bool)))
    for options in (["--mask", tmp_path / "mask.npy"], ["--query", "eat"], ["--verify"], ["--dropout", "0.2"], ["--output-projection"]):
        done = run("run", SENTENCE, "--score", function, "--show", "all", "--json", *options).json
        a = arrays(done)
        if "--query" not in options:
            numpy.testing.assert_allclose(a["scores"], expected_scores(done), rtol=2e-5, atol=1e-5)
        if "--verify" in options:
            assert done["verify"]["scores"]["absolute"] < 1e-4
    lines = succeeds("run", "--lines", "-", "--score", function, "--json", "--show", "weights", stdin=f"{SENTENCE}\na b\n").json_lines
    assert lines[0]["weights"] == succeeds("run", SENTENCE, "--score", function, "--json", "--show", "weights").json["weights"]


def test_dot_is_scaled_dot_without_its_scale():
    dot = succeeds("run", SENTENCE, "--score", "dot", "--show", "scores,scaled_scores,weights", "--json").json
    none = succeeds("run", SENTENCE, "--scale", "none", "--show", "scores,scaled_scores,weights", "--json").json
    assert {**dot, "config": None} == {**none, "config": None}


def test_attention_without_matrices_is_the_words_own_products():
    done = succeeds("run", SENTENCE, "--score", "dot", "--init", "identity", "--show", "all", "--json").json
    X = numpy.array(done["embeddings"])
    numpy.testing.assert_allclose(done["scores"][0], X @ X.T, rtol=1e-5, atol=1e-5)
    numpy.testing.assert_allclose(done["context"], numpy.array(done["weights"][0]) @ X, rtol=1e-5, atol=1e-5)


def recipe(score, *draws, **attention):
    names = ("embeddings", "W_q", "W_k", "W_v")
    return {"schema": "attn-cli/recipe/1", "input": {"positions": 4}, "dims": {"embed_dim": 4, "heads": 2, "d_k": 3, "d_v": 3},
            "draws": [{"seed": 3}, *({"tensor": name, "init": "normal"} for name in names), *draws], "attention": {"score": score, **attention}}


@pytest.mark.parametrize("side", ["left", "right"])
def test_drawn_biases_sides_and_stacks_count(side, tmp_path):
    file = tmp_path / "r.json"
    W_a = {"tensor": "W_a", "init": "linear", "side": side}
    b_Wa = {"tensor": "b_Wa", "init": "linear"}
    others = [{"tensor": "U_a", "init": "xavier", "side": side, "shape": [10, 3] if side == "left" else [3, 10]},
              {"tensor": "v_a", "init": "linear"}, {"tensor": "b_Ua", "init": "linear"}, {"tensor": "b_va", "init": "linear"}]
    cases = [recipe("general", W_a, b_Wa), {**recipe("additive", W_a, b_Wa, *others), "dims": {"embed_dim": 4, "heads": 2, "d_k": 3, "d_v": 3, "d_a": 5}}]
    for case in cases:
        file.write_text(json.dumps(case))
        done = succeeds("run", "--recipe", file, "--show", "all", "--json").json
        numpy.testing.assert_allclose(arrays(done)["scores"], expected_scores(done), rtol=1e-5, atol=1e-6)
        (tmp_path / "saved.json").write_text(json.dumps(done))
        succeeds("check", tmp_path / "saved.json")


@pytest.mark.parametrize("layout", ["out-in", "in-out"])
def test_saved_parameters_are_read_again(layout, tmp_path):
    options = ["--score", "additive", "--heads", "2", "--set", "dims.d_a=5", "--no-output-projection", "--seed", "4"]
    done = succeeds("run", SENTENCE, *options, "--show", "all", "--json").json
    parameters = {name: numpy.array(value, dtype=numpy.float32) for name, value in done["parameters"].items()}
    if layout == "in-out":
        parameters = {name: value.swapaxes(1, 2) if name[1] == "_" and value.ndim == 3 else value for name, value in parameters.items()}
    numpy.savez(tmp_path / "p.npz", **parameters)
    again = ["--score", "additive", "--heads", "2", "--params", tmp_path / "p.npz", "--set", f"parameters.layout={layout}"]
    loaded = succeeds("run", SENTENCE, *again, "--show", "all", "--json").json
    assert (loaded["scores"], loaded["context"]) == (done["scores"], done["context"])
    explained = succeeds("explain", SENTENCE, "--query", "is", *again, "--json").json
    for key in explained["keys"]:
        assert sum(key["products"]) + explained["b_va"] == pytest.approx(key["score"], rel=1e-6)
    assert_fails(run("run", SENTENCE, "--params", tmp_path / "p.npz", "--set", f"parameters.layout={layout}", "--heads", "2"), 65, "holds W_a, and scaled_dot scores do not")


def test_identity_matrices_of_every_head_read_its_own_numbers():
    general = succeeds("run", SENTENCE, "--heads", "2", "--score", "general", "--init", "identity", "--show", "scores", "--json").json
    dot = succeeds("run", SENTENCE, "--heads", "2", "--score", "dot", "--init", "identity", "--show", "scores", "--json").json
    assert general["scores"] == dot["scores"]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_explained_terms_add_up(function):
    for options in ([], ["--heads", "2", "--causal"], ["--scale", "0.5", "--softcap", "4"], ["--dtype", "float64"]):
        done = succeeds("explain", SENTENCE, "--query", "is", "--score", function, *options, "--json").json
        for key in done["keys"]:
            total = sum(key["products"]) + done.get("b_va", 0)
            total /= done["query"].get("length", 1) * key.get("length", 1)
            assert total == pytest.approx(key["score"], rel=1e-6, abs=1e-7)
            factors = key.get("hidden_layer", key.get("aligned", key["vector"]))
            own = done.get("v_a", done["query"]["vector"])
            assert key["products"] == pytest.approx([x * y for x, y in zip(own, factors)], rel=1e-6, abs=1e-12)
        text = succeeds("explain", SENTENCE, "--query", "is", "--key", "eat", "--score", function, *options).text.replace("\n   ", " ")
        formula = {"dot": "q(is)·k(eat),", "cosine": "q(is)·k(eat) / (|q(is)|·|k(eat)|)", "general": "q(is)·W_a·k(eat)",
                   "additive": "v_a·tanh(W_a·q(is) + U_a·k(eat))"}[function]
        assert formula in text, text
        assert ("have no scale of their own" in text) == ("--scale" not in options)


@pytest.mark.parametrize("function", ["cosine", "general", "additive"])
def test_a_page_says_what_was_computed(function):
    page = succeeds("run", SENTENCE, "--score", function, "--format", "html").text
    assert f'"score":"{function}"' in page and '"scores":' in page


# ---- masks before the scale ------------------------------------------------------------------------------------------


def test_masked_scores_are_then_scaled(tmp_path):
    done = succeeds("run", SENTENCE, "--causal", "--set", "attention.mask_at=scores", "--show", "all", "--json").json
    plain = succeeds("run", SENTENCE, "--causal", "--show", "all", "--json").json
    assert done["weights"] == plain["weights"]
    for scores, masked, scaled in zip(done["scores"][0], done["masked_scores"][0], done["scaled_scores"][0]):
        for s, m, c in zip(scores, masked, scaled):
            assert (m, c) == (None, "-inf") or (m == s and c == pytest.approx(s / 24**0.5, rel=1e-6))
    numpy.save(tmp_path / "mask.npy", numpy.linspace(-3, 3, 36).reshape(6, 6))
    done = succeeds("run", SENTENCE, "--mask", tmp_path / "mask.npy", "--set", "attention.mask_at=scores", "--show", "all", "--json").json
    a = arrays(done)
    numpy.testing.assert_allclose(a["masked_scores"][0], a["scores"][0] + numpy.load(tmp_path / "mask.npy"), rtol=1e-6)
    numpy.testing.assert_allclose(a["weights"], softmax(a["masked_scores"] / 24**0.5), rtol=1e-5)
    other = succeeds("run", SENTENCE, "--mask", tmp_path / "mask.npy", "--json").json
    assert other["weights"] != done["weights"]


def test_tables_and_explanations_keep_the_order():
    table = succeeds("run", SENTENCE, "--causal", "--set", "attention.mask_at=scores", "--show", "scores,scaled_scores,masked_scores").text
    assert table.index("masked_scores") < table.index("scaled_scores")
    text = succeeds("explain", SENTENCE, "--query", "is", "--key", "Life", "--causal", "--set", "attention.mask_at=scores").text
    assert text.index("Mask: masked = score") < text.index("Scaling: scaled = masked / √d_k")


# ---- refused ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--score", "cosin"], "--score: got 'cosin'; allowed: scaled_dot, dot, cosine, general, additive"),
        (["--set", "dims.d_a=3"], "--set dims.d_a: got 3; allowed: only with additive scores (score additive); these are scaled_dot"),
        (["--set", "attention.mask_at=scores", "--softcap", "3"], "--softcap with --set attention.mask_at=scores"),
        (["--set", "attention.mask_at=scores", "--scale", "-1"], "--scale: got -1.0; allowed: a number above 0 with --set attention.mask_at=scores"),
        (["--recipe", "owen-2025", "--score", "general"], "--score: got general; allowed: with KQ scores scaled_dot, dot or cosine"),
    ],
)
def test_what_does_not_go_together_is_refused_in_one_line(options, message):
    sentence = [] if "--recipe" in options else [SENTENCE]
    assert_fails(run("run", *sentence, *options), 2, message)


def test_a_recipe_draws_what_its_scores_read_and_nothing_else(tmp_path):
    file = tmp_path / "r.json"
    W_a = {"tensor": "W_a", "init": "linear"}
    for case, message in [
        (recipe("general"), "draws: W_a is not drawn, which general scores need; allowed: W_a"),
        (recipe("additive", W_a), "draws: U_a is not drawn, which additive scores need; allowed: W_a, U_a and v_a"),
        (recipe("cosine", W_a), "draws: W_a is drawn, and cosine scores do not read it"),
        (recipe("general", W_a, {"tensor": "v_a", "init": "linear"}), "draws: v_a is drawn, and general scores do not read it"),
    ]:
        file.write_text(json.dumps(case))
        assert_fails(run("run", "--recipe", file), 65, message)
    file.write_text(json.dumps(recipe("general", W_a)))
    succeeds("run", "--recipe", file, "--score", "cosine")
    succeeds("run", "--recipe", file, "--score", "additive")


@pytest.mark.parametrize(("options", "what"), [(["--score", "cosine"], "scores other than products of queries and keys"),
                                               (["--set", "attention.mask_at=scores"], "masks before the scale"), (["--dropout", "0.5"], "dropout")])
def test_the_tiled_path_says_what_it_does_not_compute(options, what):
    done = run("run", SENTENCE, "--isa", "auto", *options)
    assert done.code == 0 and (what in done.message or done.message == ""), done.message


@pytest.mark.parametrize("length", [1, 5e-324, 1e-170, 1e-160, 1e154, 1e200, 1.5e308])
def test_cosine_does_not_depend_on_lengths(length, tmp_path):
    for q, k in ((length, 1), (1, length), (length, length), (length, 1 / max(length, 1e-300))):
        draws = {"queries": [[0, q], [q, q]], "keys": [[k, 0], [k, k], [0, 0]], "values": [[1], [1], [1]]}
        recipe = {"schema": "attn-cli/recipe/1", "input": {"positions": 2, "key_positions": 3}, "dtype": "float64",
                  "draws": [{"tensor": name, "values": values} for name, values in draws.items()], "attention": {"score": "cosine"}}
        (tmp_path / "r.json").write_text(json.dumps(recipe))
        scores = numpy.array(succeeds("run", "--recipe", tmp_path / "r.json", "--show", "scores", "--json").json["scores"][0])
        assert numpy.abs(scores - [[0, 0.5**0.5, 0], [0.5**0.5, 1, 0]]).max() < 1e-15
