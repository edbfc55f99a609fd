"""--dropout: the weights that PyTorch's nn.Dropout would leave out, from its own stream or the one of the draws."""

import json
import random

import pytest
from program import SENTENCE, assert_fails, run, succeeds

POSITIONS = {
    "schema": "attn-cli/recipe/1",
    "input": {"positions": 5},
    "dims": {"embed_dim": 4, "heads": 2, "d_k": 3, "d_v": 3},
    "draws": [{"seed": 3}, *({"tensor": name, "init": "uniform"} for name in ("embeddings", "W_q", "W_k", "W_v"))],
}


def torch_words(seed):
    """The 32-bit words of torch.manual_seed(seed)."""
    state = [seed & 0xFFFFFFFF]
    for i in range(1, 624):
        state.append((1812433253 * (state[-1] ^ (state[-1] >> 30)) + i) & 0xFFFFFFFF)
    generator = random.Random()
    generator.setstate((3, (*state, 624), None))
    while True:
        yield generator.getrandbits(32)


def kept(words, count, p):
    """PyTorch without MKL: two words make a double of [0, 1), which is below 1 - p where a weight stays."""
    draws = ((next(words) << 32 | next(words)) & (2**53 - 1) for _ in range(count))
    return [draw * 2.0**-53 < 1 - p for draw in draws]


def flat(nested):
    return [number for part in nested for number in flat(part)] if isinstance(nested, list) else [nested]


def result(*arguments, **options):
    return succeeds("run", *arguments, "--show", "all", "--json", **options).json


@pytest.mark.parametrize("options", [[], ["--heads", "4", "--causal"], ["--dtype", "float64"], ["--cross", "one two"]])
def test_a_seed_of_its_own_drops_what_torch_drops(options):
    got = result(SENTENCE, "--dropout", "0.25", "--set", "attention.dropout.seed=123", *options)
    weights, dropped = flat(got["weights"]), flat(got["dropped_weights"])
    mask = kept(torch_words(123), len(weights), 0.25)
    assert len(dropped) == len(weights) and 0 < sum(mask) < len(mask)
    for weight, stays, left in zip(weights, mask, dropped):
        assert left == pytest.approx(weight / 0.75 if stays else 0, rel=1e-6, abs=0), (weight, stays)
    assert got["config"]["attention"]["dropout"] == {"p": 0.25, "seed": 123}


def test_the_masks_of_a_published_chapter_both_with_and_without_mkl():
    """torch.manual_seed(123); torch.nn.Dropout(0.5)(torch.ones(6, 6)), as printed on macOS and on Linux (pytorch issue 121595)."""
    masks = {"": "110110000101111101011001010101011110", "--set attention.dropout.mkl=true": "111111010000001010110001100001010000"}
    for option, mask in masks.items():
        got = result(SENTENCE, "--dropout", "0.5", "--set", "attention.dropout.seed=123", *option.split())
        assert "".join(str(int(number != 0)) for number in flat(got["dropped_weights"])) == mask
        assert ("mkl" in got["config"]["attention"]["dropout"]) == bool(option)


def test_without_a_seed_the_stream_of_the_draws_goes_on(tmp_path):
    (tmp_path / "r.json").write_text(json.dumps({**POSITIONS, "attention": {"dropout": {"p": 0.5}}}))
    got = result("--recipe", tmp_path / "r.json")
    words = torch_words(3)
    for _ in range(5 * 4 + 3 * 2 * 3 * 4):  # a word for each uniform number
        next(words)
    assert [number != 0 for number in flat(got["dropped_weights"])] == kept(words, 2 * 5 * 5, 0.5)


def test_the_context_comes_from_what_is_left_and_weights_and_entropy_stay():
    plain, got = result(SENTENCE), result(SENTENCE, "--dropout", "0.4")
    for name in ("weights", "entropy", "scaled_scores", "values"):
        assert got[name] == plain[name]
    for row, shares in zip(got["head_context"][0], got["dropped_weights"][0]):
        expected = [sum(share * value[i] for share, value in zip(shares, got["values"][0])) for i in range(len(row))]
        assert row == pytest.approx(expected, rel=1e-5, abs=1e-6)


def test_a_row_of_a_query_and_a_line_are_those_of_a_whole_run(tmp_path):
    options = ["--dropout", "0.3", "--heads", "2", "--show", "all", "--json"]
    whole = succeeds("run", SENTENCE, *options).json
    row = succeeds("run", SENTENCE, "--query", "3", *options).json
    assert [head[0] for head in row["dropped_weights"]] == [head[3] for head in whole["dropped_weights"]]
    (tmp_path / "lines").write_text(f"one two\n{SENTENCE}\nb a b\n{SENTENCE}\n")
    lines = succeeds("run", "--lines", tmp_path / "lines", *options).json_lines
    assert all(lines[i]["dropped_weights"] == whole["dropped_weights"] for i in (1, 3))
    verified = run("run", SENTENCE, *options, "--verify").json
    assert verified["dropped_weights"] == whole["dropped_weights"] and verified["verify"]["dropped_weights"]["absolute"] < 1e-6


def test_dropping_nothing_changes_nothing():
    got = result(SENTENCE, "--dropout", "0")
    assert got["dropped_weights"] == got["weights"]


def test_explain_takes_the_context_from_what_is_left():
    done = succeeds("explain", SENTENCE, "--query", "is", "--dropout", "0.5", "--json").json
    for i, number in enumerate(done["head_context"]):
        assert sum(key["weighted_value"][i] for key in done["keys"]) == pytest.approx(number, rel=1e-6, abs=1e-7)
    for key in done["keys"]:
        assert key["dropped_weight"] in (0, pytest.approx(2 * key["weight"], rel=1e-6))
    text = succeeds("explain", SENTENCE, "--query", "is", "--dropout", "0.5").text
    assert "Dropout: dropped = weight / 0.5, or 0 with probability 0.5" in text and "sum of dropped·v(word)" in text.replace("\n   ", " ")


def test_a_page_holds_what_is_left():
    page = succeeds("run", SENTENCE, "--dropout", "0.5", "--format", "html").text
    assert '"dropped_weights":' in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--generator", "numpy", "--dropout", "0.5"],
         "--dropout: NumPy has no dropout; give a seed for it: --set attention.dropout.seed=N"),
        (["--dropout", "1"], "--dropout: got '1'; allowed: a finite number from 0 to below 1, such as 0.5"),
        (["--dropout", "-0.1"], "--dropout: got '-0.1'; allowed: a finite number from 0 to below 1, such as 0.5"),
        (["--set", "attention.dropout.seed=1"], "--set attention.dropout.seed requires --dropout"),
        (["--show", "dropped_weights"], "--show dropped_weights requires --dropout"),
    ],
)
def test_what_cannot_be_dropped_is_refused_in_one_line(arguments, message):
    assert_fails(run("run", SENTENCE, *arguments), 2, message)


def test_a_recipe_without_a_stream_is_refused_as_data(tmp_path):
    (tmp_path / "r.json").write_text(json.dumps({**POSITIONS, "generator": "numpy", "attention": {"dropout": {"p": 0.5}}}))
    assert_fails(run("run", "--recipe", tmp_path / "r.json"), 65, "attention.dropout.p: NumPy has no dropout; give a seed for it: attention.dropout.seed")
    succeeds("run", "--recipe", tmp_path / "r.json", "--dropout", "0.5", "--set", "attention.dropout.seed=1")
    (tmp_path / "r.json").write_text(json.dumps({**POSITIONS, "attention": {"dropout": {"p": 1}}}))
    assert_fails(run("run", "--recipe", tmp_path / "r.json"), 65, "below 1")
