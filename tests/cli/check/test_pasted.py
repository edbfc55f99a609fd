"""Published numbers pasted as an article prints them: one string for a whole array."""

import json

import pytest
from program import assert_fails, run, succeeds

EYE = [[1, 0], [0, 1]]
ROWS = [[0.25, -1.5], [2, 1e-05]]
RECIPE = {
    "schema": "attn-cli/recipe/1",
    "input": {"positions": 2},
    "draws": [{"tensor": "embeddings", "values": ROWS}, *({"tensor": name, "values": EYE} for name in ("W_q", "W_k", "W_v"))],
}


@pytest.fixture
def check(tmp_path):
    def check(values, array="embeddings", **more):
        path = tmp_path / "recipe.json"
        path.write_text(json.dumps({**RECIPE, "published": [{"array": array, "values": values, **more}]}))
        return run("check", path)

    return check


PASTED = {
    "torch": "tensor([[ 2.5000e-01, -1.5000e+00],\n        [ 2.0000e+00,  1.0000e-05]])",
    "grad_fn": "tensor([[0.2500, -1.5000],\n        [2.0000, 0.0000]], grad_fn=<MmBackward0>)",
    "parameter": "Parameter containing:\ntensor([[0.2500, -1.5000],\n        [2.0000, 0.0000]], requires_grad=True)\n",
    "arguments": "tensor([[0.2500, -1.5000], [2.0000, 0.0000]], device='cuda:0', dtype=torch.float64,\n       grad_fn=<SoftmaxBackward0>)",
    "numpy": "[[ 2.5e-01 -1.5e+00]\n [ 2.0e+00  1.0e-05]]",
    "numpy of fewer digits": "[[ 0.25 -1.5 ]\n [ 2.    0.  ]]",
    "numpy with a name": "array([[ 0.25, -1.5 ],\n       [ 2.  ,  0.  ]], dtype=float32)",
    "a list": "[[0.25, -1.5], [2.0, 0.0000],]",
}


@pytest.mark.parametrize("name", PASTED)
def test_an_array_is_read_as_it_was_printed(check, name):
    done = check(PASTED[name])
    assert done.code == 0 and done.text.startswith("ok        embeddings  4 compared"), done


def test_rows_numbers_and_ids_are_arrays_too(check, tmp_path):
    assert check("tensor([0.2500, -1.5000])", at=[0]).code == 0
    assert check("tensor(-1.5000, grad_fn=<SelectBackward0>)", at=[0, 1]).code == 0
    assert check("-1.5000", at=[0, 1]).code == 0
    assert check("[[[1.00 0.00]\n  [0.00 1.00]]]", "weights").code == 1
    path = tmp_path / "ids.json"
    ids = {"input": {"sentence": "b a b"}, "draws": [{"tensor": "embedding", "values": ROWS}, *RECIPE["draws"][1:]]}
    path.write_text(json.dumps({**RECIPE, **ids, "published": [{"array": "token_ids", "values": "tensor([1, 0, 1])"}]}))
    assert "token_ids  3 compared, all equal" in succeeds("check", path).text


def test_the_printed_digits_count(check):
    done = check("tensor([[0.2500, -1.5000],\n        [2.0000, 0.0001]])")
    assert done.code == 1 and "embeddings[1][1]: stated 0.0001, computed 1e-05" in done.text + done.message
    assert check("tensor([[0.2500, -1.5000],\n        [2.0000, 0.0001]])", units=1).code == 0
    assert check("[[0.25, -1.5], [2.0, 0.0]]", shape=[2, 2]).code == 0
    assert_fails(check("[[0.25, -1.5], [2.0, 0.0]]", shape=[4]), 65, "the shape of values, (2, 2)")


def test_masked_scores_are_printed_as_minus_infinity(tmp_path):
    path = tmp_path / "recipe.json"
    masked = {"array": "masked_scores", "values": "tensor([[[1.6352,   -inf],\n         [0.3535, 2.8284]]])"}
    path.write_text(json.dumps({**RECIPE, "attention": {"causal": True}, "published": [masked]}))
    assert succeeds("check", path).code == 0


@pytest.mark.parametrize(
    "text, rows, passes",
    [
        ("[[1.         0.5       ]\n [2.         0.12345678]]", [[1, 0.5], [2, 0.12345678]], True),
        ("[[1.         0.5       ]\n [2.         0.12345678]]", [[1.4, 0.5], [2, 0.12345678]], False),
        ("[[1.         0.5       ]\n [2.         0.12345678]]", [[1, 0.5004], [2, 0.12345678]], False),
        ("tensor([[1., 2.],\n        [3., 4.]])", [[1, 2], [3, 4]], True),
        ("tensor([[1., 2.],\n        [3., 4.]])", [[1.4, 2], [3, 4]], False),
        ("tensor([[1, 2],\n        [3, 4]])", [[1, 2], [3, 4]], True),
        ("tensor([[1, 2],\n        [3, 4]])", [[1, 2], [3, 4.25]], False),
        ("[[1.e+00 2.e+00]\n [3.e+00 1.e-10]]", [[1.4, 2], [3, 1e-10]], True),
        ("[[1.0e+00 2.e+00]\n [3.e+00 1.5e-10]]", [[1.0, 2], [3.2, 1.5e-10]], False),
        ("tensor([[1., inf],\n        [3., -0.]])", [[1, 2], [3, 0]], False),
    ],
)
def test_zeros_that_are_left_out_are_zeros(tmp_path, text, rows, passes):
    path = tmp_path / "recipe.json"
    draws = [{"tensor": "embeddings", "values": rows}, *RECIPE["draws"][1:]]
    path.write_text(json.dumps({**RECIPE, "dtype": "float64", "draws": draws, "published": [{"array": "embeddings", "values": text}]}))
    assert run("check", path).code == (0 if passes else 1)


@pytest.mark.parametrize(
    "text, rows, wrong",
    [
        ("[[0.1        0.2       ]\n [0.70000005 0.8000001 ]]", [[0.1, 0.2], [0.70000005, 0.8000001]], None),
        ("[[0.10000000 0.20000000]\n [0.70000005 0.80000010]]", [[0.1, 0.2], [0.70000005, 0.8000001]], None),
        ("[[0.1        0.2       ]\n [0.70000005 0.8000002 ]]", [[0.1, 0.2], [0.70000005, 0.8000001]], "0.8000002"),
        ("[[1.2345679e-09 7.0000000e-01]\n [1.0000000e-01 2.0000000e-01]]", [[1.2345679e-09, 0.7], [0.1, 0.2]], None),
        ("[[1.2345679e-09 7.0000000e-01]\n [1.0000000e-01 2.0000002e-01]]", [[1.2345679e-09, 0.7], [0.1, 0.2]], "2.0000002e-01"),
        ("[[0.123457, 3e-06], [1.2e-05, 0.5]]", [[0.1234567, 3.4e-06], [1.2e-05, 0.5]], None),  # round(x, 6)
        ("[[0.123457, 3e-06], [1.2e-05, 0.5]]", [[0.1234567, 3.6e-06], [1.2e-05, 0.5]], "3e-06"),
    ],
)
def test_padding_is_no_digit(tmp_path, text, rows, wrong):
    path = tmp_path / "recipe.json"
    draws = [{"tensor": "embeddings", "values": rows}, *RECIPE["draws"][1:]]
    path.write_text(json.dumps({**RECIPE, "draws": draws, "published": [{"array": "embeddings", "values": text}]}))
    done = run("check", path)
    assert done.code == (1 if wrong else 0), done
    assert wrong is None or f"1 of 4: embeddings[{'0' if wrong == '3e-06' else '1'}][1]: stated {wrong}, computed" in done.text


@pytest.mark.parametrize(("text", "why"), [
    ("tensor([[0.2500, x]])", "published[0].values at character 17: got 'x'; allowed: numbers as PyTorch or NumPy prints them"),
    ("tensor([[0.25, -1.5], [2.0]])", "published[0].values up to character 27: got 1 element in a row; allowed: 2, as before"),
    ("[[0.25, -1.5], 2.0]", "at character 15: got '2.0'; allowed: a row of numbers, as before"),
    ("[0.25, [1.5]]", "at character 7: got '['; allowed: a number, as before"),
    ("[[0.25 ... 2.0]\n [1.0 ... 3.0]]", "at character 7: got '...'; allowed: all numbers; paste the whole array"),
    ("tensor([[0.25, 1.5],\n        ...,\n        [1, 2]])", "got '...'; allowed: all numbers; paste the whole array"),
    ("tensor([[0.25, 1.5]]", "at character 20: got the end of the text; allowed: ')' behind the array"),
    ("[[0.25, 1.5]] and more", "at character 14: got 'and'; allowed: nothing behind the array"),
    ("tensor([])", "got 0 elements in a row; allowed: at least one"),
    ("tensor(1e-02 * [[1.0]])", "at character 13: got '*'; allowed: numbers as they are, multiplied out"),
    ("[" * 9 + "1" + "]" * 9, "allowed: at most 8 brackets in each other"),
    ("[1,,2]", "at character 3: got ','; allowed: numbers"),
    ("[True, False]", "got 'True'; allowed: numbers"),
    ("", "at character 0: got the end of the text; allowed: numbers"),
])  # fmt: skip
def test_what_cannot_be_read_is_refused(check, text, why):
    assert_fails(check(text), 65, why)
