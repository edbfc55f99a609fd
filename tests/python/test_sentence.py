"""attn_cli.run: the numbers of `attn-cli run` as arrays, and its page."""

import html
import re

import attn_cli
import pytest
from program import run, succeeds
from tensors import close, normal, numpy

SENTENCE = "Life is short, eat dessert first"


def test_words_and_arrays_are_those_of_the_program():
    found = attn_cli.run(SENTENCE, heads=4)
    stated = succeeds("run", SENTENCE, "--heads", 4, "--json").json
    assert found.tokens == ["Life", "is", "short", "eat", "dessert", "first"] and found.vocabulary == stated["vocabulary"]
    assert (found.weights.shape, found.weights.dtype) == ((4, 6, 6), numpy.float32)
    assert found.weights.tolist() == numpy.array(stated["weights"], "f4").tolist()
    assert found.output.shape == (6, 16)
    with pytest.raises(AttributeError, match="scores was not computed, only schema, config, tokens, vocabulary, weights"):
        found.scores
    assert "_asked" not in repr(sorted(set(vars(found)) - {"_asked"}))


def test_options_by_their_names():
    found = attn_cli.run(SENTENCE, causal=True, dtype="float64", show=["masked_scores", "token_ids", "parameters"], seed=7, output_projection=False)
    stated = succeeds("run", SENTENCE, "--causal", "--dtype", "float64", "--show", "masked_scores,parameters", "--seed", 7, "--no-output-projection", "--json").json
    assert numpy.isneginf(found.masked_scores[0, 0, 1:]).all() and found.masked_scores.dtype == numpy.float64
    assert found.masked_scores[0, 5].tolist() == stated["masked_scores"][0][5]
    assert found.token_ids.tolist() == [0, 4, 5, 2, 1, 3] and found.token_ids.dtype == numpy.int64
    assert found.parameters["W_q"].tolist() == stated["parameters"]["W_q"]
    assert attn_cli.run(recipe="owen-2025", show="weights").weights.shape == (1, 6, 6)
    assert attn_cli.run(ids=[2, 0, 1], vocab_size=9, labels=["my", "name", "is"]).tokens == ["my", "name", "is"]
    assert attn_cli.run("- a", hide=[0]).tokens == ["-", "a"]
    assert attn_cli.run("a b", heads=2, set={"dims.output_dim": 5}).output.shape == (2, 5)
    assert not numpy.isneginf(attn_cli.run("a b", recipe=None, causal=False, show="scores").scores).any()


def test_an_array_stands_for_a_file():
    parameters = {name: normal(seed, 6, 8) for seed, name in enumerate(("W_q", "W_k", "W_v"))}
    embeddings, seen = normal(4, 3, 8), numpy.tri(3, dtype=bool)
    found = attn_cli.run(ids=[0, 1, 2], embeddings=embeddings, params=parameters, mask=seen, set={"parameters.layout": "out-in", "parameters.allow_nonfinite": True}, show=["queries", "weights", "embeddings"])
    close(found.embeddings, embeddings)
    close(found.queries[0], embeddings @ parameters["W_q"].T, 1e-4, 1e-5)
    assert (found.weights[0][~seen] == 0).all()


def test_a_model_has_layers():
    found = attn_cli.run("the cat sat on the mat and the cat sat", model="induction", show=["weights", "summary"])
    assert [layer.weights.shape for layer in found.layers] == [(2, 10, 10)] * 2
    assert found.layers[1].weights[0, 9].argmax() == 3
    assert "induction" in found.layers[1].summary["heads"][0]


@pytest.mark.parametrize(("arguments", "options", "error", "says"), [
    ((" , ",), {}, attn_cli.BadData, "no words in the input"),
    ((), {"recipe": "oven-2025"}, attn_cli.NoInput, "owen-2025"),
    (("a b",), {"head": 3}, attn_cli.UsageError, "--head"),
    (("a b",), {"mask": numpy.ones((3, 3), bool)}, attn_cli.BadData, "(3, 3)"),
    (("a b",), {"lines": "sentences.txt"}, attn_cli.UsageError, "lines: not an option here; attn_cli.call takes any"),
], ids=str)
def test_errors(arguments, options, error, says):
    with pytest.raises(error) as raised:
        attn_cli.run(*arguments, **options)
    assert says in str(raised.value)


def test_in_a_notebook_it_is_the_page():
    found = attn_cli.run('"quoted" & <b>', heads=2, show="tokens", tokenizer="words")
    page = run("run", "--heads", 2, "--tokenizer", "words", "--format", "html", "--", '"quoted" & <b>').text
    assert found.page() == page and page.startswith("<!doctype html>")
    frame = re.fullmatch(r'<iframe srcdoc="([^"]*)" title="attn-cli" style="[^"]*"></iframe>', found._repr_html_())
    assert html.unescape(frame[1]) == page
