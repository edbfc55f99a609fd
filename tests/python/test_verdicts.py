"""attn_cli.assert_close and attn_cli.blind_spots: what passes, and what the message of a failure says."""

import attn_cli
import pytest
from tensors import close, normal, numpy

Q, K, V = normal(1, 2, 4, 40, 27), normal(2, 2, 2, 60, 27), normal(3, 2, 2, 60, 21)
GRAD = normal(4, 2, 4, 40, 21)


def fails(mine, *inputs, **options):
    with pytest.raises(AssertionError) as raised:
        attn_cli.assert_close(mine, *inputs, **options)
    assert isinstance(raised.value, attn_cli.Difference) and raised.value.code == 1 and "/attn-cli-" not in str(raised.value)
    return str(raised.value)


def test_what_is_right_passes():
    right = attn_cli.attention(Q, K, V, is_causal=True, stages=["lse"])
    assert attn_cli.assert_close(right.context, Q, K, V, is_causal=True) is None
    attn_cli.assert_close(vars(right), Q, K, V, is_causal=True)
    attn_cli.assert_close({"lse": right.lse + 1e-3}, Q, K, V, is_causal=True, atol=2e-3)


def test_a_mistake_is_named():
    wrong = attn_cli.attention(Q, K, V, is_causal=True, scale=1, stages=["lse"])
    said = fails(wrong.context, Q, K, V, is_causal=True)
    assert said.splitlines()[0].startswith("differs: ") and said.splitlines()[1].startswith('mine is what "no scale of the scores" gives: ')
    assert "try: multiply Q·Kᵀ by the scale" in said
    said = fails(vars(wrong), Q, K, V, is_causal=True)
    assert 'mine:lse is what "no scale of the scores" gives' in said and 'all arrays are given by "no scale of the scores"' in said
    said = fails(wrong.context, Q, K, V, is_causal=True, rtol=0, atol=1e-3)
    assert "no scale of the scores" in said


def test_what_is_no_mistake_but_wrong_is_shown_by_place():
    wrong = attn_cli.attention(Q, K, V).context
    wrong[1, 2, 7] += 1
    said = fails(wrong, Q, K, V)
    assert "differs: 21 of 6720" in said


def test_gradients():
    right = attn_cli.attention(Q, K, V, is_causal=True, grad=GRAD)
    mine = {"dq": right.dq, "dk": right.dk, "dv": right.dv}
    attn_cli.assert_close(mine, Q, K, V, is_causal=True, grad=GRAD)
    attn_cli.assert_close({"dv": right.dv}, Q, K, V, is_causal=True, grad=GRAD)
    said = fails({**mine, "dk": mine["dk"] * 27**0.5}, Q, K, V, is_causal=True, grad=GRAD)
    assert "differs from the dk: " in said and "differs from the dq" not in said and "differs from the dv" not in said


def test_misuse_is_no_difference():
    context = attn_cli.attention(Q, K, V).context
    for mine, options, error, says in (
        (context, {"grad": GRAD}, attn_cli.BadData, "dq"),
        ({"dq": Q}, {}, attn_cli.UsageError, "--grad"),
        (context[:1], {}, attn_cli.BadData, "(1, 4, 40, 21)"),
        ({}, {}, attn_cli.UsageError, "--show"),
    ):
        with pytest.raises(error) as raised:
            attn_cli.assert_close(mine, Q, K, V, **options)
        assert says in str(raised.value)


def test_blind_spots_are_those_of_the_program():
    square = Q[:, :, :, :21], Q[:, :, :, :21], Q[:, :, :, :21]
    found = attn_cli.blind_spots(*square, is_causal=True)
    assert found["schema"] == "attn-cli/blind-spots/1" and 0 < found["seen"] < found["possible"]
    assert found["seen"] + len(found["unseen"]) == found["possible"]
    unseen = {each["mistake"]: each for each in found["unseen"]}
    assert unseen["causal-bottom-right"]["change"] == "fewer queries than keys"
    more = attn_cli.blind_spots(Q, K, V, is_causal=True, require=100)
    assert 100 <= more["seen"]
    assert "causal-bottom-right" not in {each["mistake"] for each in more["unseen"]}
    assert attn_cli.blind_spots(*square, is_causal=True, stages="weights")["possible"] != found["possible"]


def test_too_few_are_an_assertion_that_lists_the_others():
    with pytest.raises(AssertionError) as raised:
        attn_cli.blind_spots(Q, Q, Q, is_causal=True, require=10_000)
    lines = str(raised.value).splitlines()
    assert lines[0] == "10000 are required" and lines[1].startswith("this test sees ") and len(lines) > 5


def test_an_input_that_shows_more_is_written(tmp_path):
    attn_cli.blind_spots(Q[:1, :1, :4, :2] * 1e-3, K[:1, :1, :4, :2] * 1e-3, V[:1, :1, :4], suggest_input=f"{tmp_path}/more.npz")
    with numpy.load(tmp_path / "more.npz") as more:
        assert more["queries"].shape == (1, 1, 4, 2)
        close(attn_cli.attention(more["queries"], more["keys"], more["values"], scale=0).context,
              numpy.broadcast_to(more["values"].mean(2, keepdims=True), more["values"].shape))
