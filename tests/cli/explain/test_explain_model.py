"""explain --model: the arithmetic of a head of a whole trained model."""

import json
import re

import jsonschema
import pytest
import tiny_models
from program import assert_fails, run, succeeds
from tensors import numpy

SENTENCE = "the cat sat on the mat"
float32 = numpy.float32


def windowed(folder, seed):
    """Llama's, whose queries see three keys."""
    llama, _ = tiny_models.llama(folder.with_name(folder.name + "-llama"), seed)
    return tiny_models.changed(llama, folder, str, {}, model_type="mistral", sliding_window=3)


MODELS = {
    "bert": lambda folder, seed: tiny_models.bert(folder, seed)[0],
    "llama": lambda folder, seed: tiny_models.llama(folder, seed)[0],
    "mistral": windowed,
    "mpnet": tiny_models.mpnet,
    "qwen3": tiny_models.qwen3,
}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A folder by the name of its architecture, made once."""
    made = {}
    return lambda name: made.get(name) or made.setdefault(name, f"{MODELS[name](tmp_path_factory.mktemp('models') / name, 3)}/")


def explained(folder, *options, sentence=SENTENCE):
    return succeeds("explain", sentence, "--model", folder, "--json", *options).json


def follow(projection):
    """The number of the vector that the terms lead to, each step of it checked."""
    value = projection["value"]
    assert sum(projection["products"]) + projection.get("bias", 0) == pytest.approx(value, rel=1e-4, abs=1e-5)
    if norm := projection.get("norm"):
        made = (value - norm["mean"]) * norm["factor"] * norm["weight"] + norm.get("bias", 0)
        assert made == pytest.approx(norm["value"], rel=1e-6)
        value = norm["value"]
    if turn := projection.get("turn"):
        made = float(float32(value)) * turn["own_factor"] + float(float32(turn["other"])) * turn["other_factor"]
        assert float32(made) == float32(turn["value"])
        value = turn["value"]
    return value


@pytest.mark.parametrize("name", MODELS)
def test_the_terms_lead_to_the_numbers_of_run(model, name):
    folder = model(name)
    layers = succeeds("run", SENTENCE, "--model", folder, "--layer", "all", "--show", "all", "--json").json["layers"]
    key = 1
    for layer in layers:
        for head, query, component in [(0, 0, 0), (1, 2, 1), (1, 5, 3), (0, 4, 2)]:
            place = f"{layer['layer']}.{head}"
            done = explained(folder, "--head", place, "--query", str(query), "--key", str(key), "--component", str(component))
            assert (done["layer"], done["head"]) == (layer["layer"], head)
            kv_head = done["kv_head"]
            assert kv_head == head * len(layer["keys"]) // len(layer["queries"])
            wanted = {"W_q": layer["queries"][head][query], "W_k": layer["keys"][kv_head][key],
                      "W_v": layer["values"][kv_head][key], "W_o": layer["output"][query]}
            assert {p["matrix"]: follow(p) for p in done["projections"]} == {W: vector[component] for W, vector in wanted.items()}
            assert done["query"]["vector"] == layer["queries"][head][query]
            assert done["head_context"] == layer["head_context"][head][query]
            for j, one in enumerate(done["keys"]):
                assert float32(sum(one["products"])) == pytest.approx(one["score"], rel=1e-6, abs=1e-6)
                assert one["score"] == layer["scores"][head][query][j]
                assert float32(float(float32(one["score"])) * done["scale"]) == float32(one["scaled_score"])
                assert one["exponential"] / done["sum"] == pytest.approx(one["weight"], rel=1e-6)
                assert one["weight"] == layer["weights"][head][query][j]
                if one.get("masked_score") is not None:
                    assert float32(float32(one["scaled_score"]) + float32(one["mask"])) == float32(one["masked_score"])
                hidden = "causal" if j > query else "window" if name == "mistral" and j < query - 2 else None
                assert one.get("hidden_by") == (hidden if name in ("llama", "mistral", "qwen3") else None)
    biased = any(one["mask"] != 0 for one in done["keys"] if "mask" in one)
    assert biased == (name == "mpnet")
    assert ("norm" in done["projections"][0]) == (name == "qwen3")


def test_it_is_what_the_schema_says_and_can_be_computed_again(model):
    schema = succeeds("schema", "explanation").json
    for name in MODELS:
        done = explained(model(name), "--head", "1.1", "--query", "mat")
        jsonschema.validate(done, schema)
    config = done["config"]
    assert config["model"]["layers"] == [1] and config["head"] == [1] and len(config["model"]["sha256"]) == 64


def test_layer_and_head_are_named_together_or_apart(model):
    folder = model("llama")
    both = explained(folder, "--head", "2.1", "--query", "mat")
    assert explained(folder, "--layer", "2", "--head", "1", "--query", "mat") == both
    assert explained(folder, "--layer", "2", "--head", "2.1", "--query", "mat") == both
    for command in ("run", "explain"):
        assert_fails(run(command, SENTENCE, "--model", folder, "--layer", "1", "--head", "2.1"), 2, "--head", "layer 2", "--layer 1")
        assert_fails(run(command, SENTENCE, "--model", folder, "--head", "2.x"), 2, "--head", "x")
        assert_fails(run(command, SENTENCE, "--head", "2.1"), 2, "--head", "--model")
        assert_fails(run(command, SENTENCE, "--model", folder, "--head", "3.0"), 2, "--layer", "3", "0 to 2")
        assert_fails(run(command, SENTENCE, "--model", folder, "--head", "2.2"), 2, "--head", "2", "0 to 1")
    whole = succeeds("run", SENTENCE, "--model", folder, "--head", "2.1", "--json").json
    assert whole["layers"][0]["layer"] == 2 and whole["layers"][0]["heads"] == [1]


def test_several_heads_and_layers_come_one_after_the_other(model):
    done = succeeds("explain", SENTENCE, "--model", model("bert"), "--layer", "0,2", "--head", "0,1", "--query", "mat", "--json").out
    assert [(one["layer"], one["head"]) for one in map(json.loads, done.splitlines())] == [(0, 0), (0, 1), (2, 0), (2, 1)]


def test_without_a_choice_it_is_the_first_head_of_the_first_layer_and_the_first_word(model):
    done = run("explain", SENTENCE, "--model", model("bert"))
    assert done.code == 0
    assert 'How "[CLS]" (position 0) attends to each word of' in done.text
    assert "layer 0, head 0 of 2; --layer N and --head N show others" in done.text
    assert b"the first word is explained; --query WORD or POSITION chooses another" in done.err


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("bert", ["what enters the attention of layer 1", "W_q·x(sat) + b_q"]),
        ("llama", ["what enters layer 1, after the norm before its attention", "rotated by RoPE", "causal: hides the keys after"]),
        ("mistral", ["window: hides all but 2 keys back"]),
        ("mpnet", ["Bias: masked = scaled + bias", "by how far the key is from position", "(bias)"]),
        ("qwen3", ["normalised, as keys are", "normalised: times", "before it is normalised,", "turned with its partner"]),
    ],
)
def test_what_a_model_adds_is_a_step_of_its_own(model, name, says):
    text = " ".join(succeeds("explain", SENTENCE, "--model", model(name), "--head", "1.1", "--query", "sat", "--key", "0").text.split())
    for part in says:
        assert part in text


def test_a_word_in_pieces_is_chosen_by_the_position_of_one(model):
    sentence = "the Cats sat"
    for command in ("run", "explain"):
        assert_fails(run(command, sentence, "--model", model("bert"), "--layer", "0", "--query", "cats"), 2, "--query", "'cats'",
                     "cuts into pieces", "2 'cat', 3 '##s'")
    assert_fails(run("explain", sentence, "--model", model("bert"), "--key", "Cats"), 2, "--key", "2 'cat', 3 '##s'")
    assert_fails(run("run", "can not", "--query", "cannot"), 2, "the word 'cannot'; allowed")  # these are two words


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--query", "the"], ["2 positions", "1 'the', 5 'the'"]),
        (["--query", "zebra"], ["--query", "zebra"]),
        (["--key", "zebra"], ["--key", "zebra"]),
        (["--head", "mean"], ["--head", "mean"]),
        (["--layer", "9"], ["--layer", "9", "0 to 2"]),
        (["--component", "8"], ["--component", "0 to 7"]),
        (["--heads", "2"], ["--heads", "--model"]),
        (["--recipe", "owen-2025"], ["--recipe", "--model"]),
    ],
)
def test_what_is_not_there_or_does_not_go_with_a_model(model, options, says):
    assert_fails(run("explain", SENTENCE, "--model", model("bert"), *options), 2, *says)


def test_the_sentence_may_come_from_standard_input(model):
    wanted = explained(model("bert"), "--query", "mat")
    assert succeeds("explain", "--model", model("bert"), "--query", "mat", "--json", stdin=SENTENCE).json == wanted


def test_of_long_vectors_the_text_has_a_part_and_the_json_all(tmp_path, monkeypatch):
    monkeypatch.setattr(tiny_models, "D", 96)
    tiny_models.bert(tmp_path / "wide", 1)
    asked = ("--head", "1.1", "--query", "sat", "--key", "cat")
    text = succeeds("explain", SENTENCE, "--model", f"{tmp_path / 'wide'}/", *asked).text
    assert text.count("… and 32 more numbers, which --json has") == 3  # x, the heads side by side, the output
    assert text.count("… 80 smaller products") == 4
    assert len(re.findall(r"^ +\d+ .*q\[i\]·k\[i\]$|^ +i +q\[i\]", text, re.MULTILINE)) == 1  # the score is of 48 products
    done = explained(f"{tmp_path / 'wide'}/", *asked)
    assert [len(vector) for vector in (done["query"]["x"], done["context"], done["output"])] == [96] * 3
