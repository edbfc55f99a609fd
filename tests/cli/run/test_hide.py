"""--hide: words that no query sees, by place or by name; and --no-causal, which takes the mask of a recipe off."""

import json

import pytest
from program import SENTENCE, assert_fails, run, succeeds
from tensors import numpy

REPEATED = "the cat sat on the mat"


def weights(*arguments):
    return numpy.array(succeeds("run", *arguments, "--json", "--show", "weights").json["weights"])


def masked(tmp_path, seen, *arguments):
    """The same by a mask from a file."""
    numpy.save(tmp_path / "mask.npy", numpy.array(seen))
    return weights(*arguments, "--mask", tmp_path / "mask.npy", "--quiet")


@pytest.mark.parametrize(
    ("sentence", "hide", "places"),
    [(SENTENCE, "short", [2]), (SENTENCE, "2", [2]), (REPEATED, "the", [0, 4]), (REPEATED, "0", [0]), (REPEATED, "sat,the,2", [0, 2, 4])],
)
@pytest.mark.parametrize("options", [[], ["--heads", "2", "--causal"], ["--positions", "alibi"], ["--set", "attention.mask_at=scores", "--window", "2,2"], ["--set", "rounding=step"]])
def test_what_is_hidden_is_what_a_mask_hides(tmp_path, sentence, hide, places, options):
    seen = [place not in places for place in range(6)]
    hidden = weights(sentence, "--hide", hide, *options)
    assert numpy.array_equal(hidden, masked(tmp_path, seen, sentence, *options))
    assert not hidden[:, :, places].any()


def test_a_row_that_sees_nothing_has_no_weights():
    assert not weights("Life is", "--hide", "0,1").any()
    assert weights("Life is", "--hide", "Life", "--causal").tolist() == [[[0, 0], [0, 1]]]


@pytest.mark.parametrize("mask", [[[True], [False], [True]], [True, True, False], [[[0.5], [1], [-2]]], [[0, 1, -numpy.inf]]])
def test_it_goes_with_a_mask_from_a_file(tmp_path, mask):
    given = numpy.broadcast_to(numpy.array(mask), (1, 3, 3)).copy()
    given[..., 1] = False if given.dtype == bool else -numpy.inf
    numpy.save(tmp_path / "short.npy", numpy.array(mask))
    hidden = weights("Life is short", "--mask", tmp_path / "short.npy", "--hide", "is", "--quiet")
    assert numpy.array_equal(hidden, masked(tmp_path, given, "Life is short"))


def test_of_two_sentences_it_is_a_word_of_the_second():
    assert weights("Life is", "--cross", "short eat", "--hide", "eat").tolist() == [[[1, 0], [1, 0]]]
    assert_fails(run("run", "Life is", "--cross", "short eat", "--hide", "is"), 2, "--hide: got the word 'is'", "('short', 'eat')")


def test_a_word_or_place_that_is_not_there_is_refused():
    assert_fails(run("run", "Life is", "--hide", "shot"), 2, "--hide: got the word 'shot'; allowed: a word of the input ('Life', 'is') or a position, 0 to 1")
    assert_fails(run("run", "Life is", "--hide", "2"), 2, "--hide: got position '2'; allowed: 0 to 1")
    assert_fails(run("run", "Life is", "--hide", ""), 2, "--hide")
    assert_fails(run("run", "Life is", "--model", "induction", "--hide", "is"), 2, "--hide cannot be used with --model")


@pytest.mark.parametrize("mask", [True, numpy.zeros((3, 3), "float32"), numpy.ones((3, 3), bool), numpy.zeros((0, 5)), numpy.ones((5, 0))])
def test_a_mask_of_another_shape_is_refused_before_words_are_hidden_in_it(tmp_path, mask):
    numpy.save(tmp_path / "mask.npy", mask)
    for command in ("run", "explain"):
        assert_fails(run(command, "a b c d e", "--mask", tmp_path / "mask.npy", "--hide", "0,4"), 65, "that broadcasts to (1, 5, 5)")


def test_a_recipe_and_a_saved_result_say_it_too(tmp_path):
    saved = tmp_path / "saved.json"
    saved.write_bytes(succeeds("run", REPEATED, "--hide", "the,5", "--casefold", "--json", "--show", "tokens,weights,masked_scores").out)
    assert json.loads(saved.read_text())["config"]["attention"] == {"hide": ["the", "5"]}
    assert "passed" in succeeds("check", saved).text
    again = succeeds("run", "--recipe", saved, "--json", "--show", "tokens,weights,masked_scores")
    assert again.json["weights"] == json.loads(saved.read_text())["weights"]
    wrong = json.loads(saved.read_text())
    wrong["config"]["attention"]["hide"] = ["them"]
    saved.write_text(json.dumps(wrong))
    assert_fails(run("run", "--recipe", saved), 65, "attention.hide: got the word 'them'")


def test_lines_without_the_word_are_errors_of_their_own_as_with_query():
    for option in ("--query", "--hide"):
        done = run("run", "--lines", "-", option, "is", "--json", stdin="Life is short\neat now\n")
        first, second = done.json_lines
        assert done.code == 65 and "weights" in first
        assert second["error"]["code"] == 2 and second["error"]["message"].startswith(f"{option}: got the word 'is'")


def test_explain_says_what_is_hidden():
    explained = succeeds("explain", SENTENCE, "--query", "is", "--hide", "short,0", "--json").json
    assert [key.get("hidden_by") for key in explained["keys"]] == ["mask", None, "mask", None, None, None]
    text = succeeds("explain", SENTENCE, "--query", "is", "--hide", "short,0").text
    assert "hide: no query sees \"short\", \"0\"" in " ".join(text.split()) and "mask: what" not in text


def test_no_causal_takes_the_mask_of_a_recipe_off(tmp_path):
    saved = tmp_path / "saved.json"
    saved.write_bytes(succeeds("run", SENTENCE, "--causal", "--json", "--show", "weights").out)
    assert numpy.array_equal(weights("--recipe", saved, "--no-causal"), weights(SENTENCE))
    assert_fails(run("run", SENTENCE, "--causal", "--no-causal"), 2, "--causal and --no-causal cannot be used together")


@pytest.mark.parametrize("save", [numpy.savez, numpy.savez_compressed])
def test_hiding_beside_a_mask_of_a_file_leaves_what_the_file_masks(save, tmp_path):
    mask = numpy.zeros((6, 6), "float32")
    mask[0, 3] = mask[4, 0] = -numpy.inf
    save(tmp_path / "mask.npz", m=mask)
    masked = numpy.array(succeeds("run", REPEATED, "--mask", tmp_path / "mask.npz", "--hide", "1", "--json", "--show", "weights").json["weights"][0])
    assert (masked == 0)[[0, 4], [3, 0]].all() and (masked[:, 1] == 0).all() and (masked != 0).sum() == 28
    text = succeeds("explain", REPEATED, "--query", "0", "--mask", tmp_path / "mask.npz", "--hide", "1", "--json").json
    assert [key.get("hidden_by") for key in text["keys"]] == [None, "mask", None, "mask", None, None]
