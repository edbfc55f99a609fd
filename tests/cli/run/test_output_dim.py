"""W_o of any output size: nn.Linear(2, 2) behind embeddings of three numbers."""

import json

import pytest
from program import SENTENCE, assert_fails, run, succeeds
from tensors import close, normal, numpy, save_safetensors


def result(*options, **more):
    return succeeds("run", SENTENCE, "--json", "--show", "all", *options, **more).json


@pytest.mark.parametrize("heads", ["1", "4"])
def test_the_output_is_as_wide_as_it_is_asked_to_be(heads):
    usual = result("--output-projection", "--heads", heads)
    other = result("--set", "dims.output_dim=5", "--heads", heads)
    assert numpy.shape(usual["output"]) == (6, 16) and numpy.shape(other["output"]) == (6, 5)
    assert other["context"] == usual["context"]
    W_o = numpy.array(other["parameters"]["W_o"])
    assert W_o.shape == (len(other["context"][0]), 5)
    close(other["output"], numpy.array(other["context"]) @ W_o)
    assert other["config"]["dims"]["output_dim"] == 5


def test_a_saved_result_checks_and_its_parameters_are_read_again(tmp_path):
    options = ("--set", "dims.output_dim=5", "--heads", "2")
    (tmp_path / "saved.json").write_text(json.dumps(result(*options)))
    assert succeeds("check", "saved.json", cwd=tmp_path).text.endswith("saved.json: passed\n")
    saved = json.loads((tmp_path / "saved.json").read_text())
    for kind in ("npz", "safetensors"):
        succeeds("run", SENTENCE, *options, "--show", "parameters", "-o", f"p.{kind}", cwd=tmp_path)
    for params in (("p.safetensors",), ("p.npz", "--heads", "2", "--set", "parameters.layout=run"), ("saved.json",)):
        loaded = result("--params", *params, cwd=tmp_path)
        assert loaded["output"] == saved["output"] and loaded["config"]["dims"]["output_dim"] == 5


def test_linear_layers_draw_as_many_numbers_and_biases_as_outputs(tmp_path):
    draws = [{"seed": 1}, {"tensor": "embeddings", "init": "uniform"}]
    draws += [{"tensor": name, "init": "linear", "side": "left"} for name in ("W_q", "W_k", "W_v", "W_o")]
    recipe = {"schema": "attn-cli/recipe/1", "input": {"positions": 6}, "dims": {"embed_dim": 3, "d_k": 2, "d_v": 2, "output_dim": 2},
              "draws": [*draws, {"tensor": "b_o", "init": "linear"}]}
    (tmp_path / "r.json").write_text(json.dumps(recipe))
    done = succeeds("run", "--recipe", "r.json", "--show", "all", "--json", cwd=tmp_path).json
    W_o, b_o = (numpy.array(done["parameters"][name]) for name in ("W_o", "b_o"))
    assert W_o.shape == (2, 2) and b_o.shape == (2,) and abs(W_o).max() <= 2**-0.5 >= abs(b_o).max()
    close(done["output"], numpy.array(done["context"]) @ W_o.T + b_o)
    assert "W_o" in succeeds("explain", "--recipe", "r.json", "--query", "1", cwd=tmp_path).text


LAYER = {"W_q": normal(1, 4, 3), "W_k": normal(2, 4, 3), "W_v": normal(3, 6, 3)}


@pytest.mark.parametrize("shape", [(5, 6), (6, 5)])
def test_a_file_or_stated_numbers_say_it_by_themselves(tmp_path, shape):
    W_o = normal(4, *shape)
    side = "left" if shape[1] == 6 else "right"
    save_safetensors(tmp_path / "p.safetensors", {**LAYER, "W_o": W_o, "b_o": normal(5, 5)})
    loaded = result("--params", "p.safetensors", "--heads", "2", cwd=tmp_path)
    assert loaded["config"]["dims"]["output_dim"] == 5
    expected = numpy.array(loaded["context"]) @ (W_o.T if side == "left" else W_o) + normal(5, 5)
    close(loaded["output"], expected, 1e-4, 1e-5)
    draws = [{"seed": 123}, {"tensor": "embedding", "init": "normal"}, *({"tensor": name, "values": values.tolist()} for name, values in LAYER.items())]
    draws += [{"tensor": "W_o", "values": W_o.tolist(), "side": side}, {"tensor": "b_o", "values": normal(5, 5).tolist()}]
    recipe = {"schema": "attn-cli/recipe/1", "input": {"sentence": SENTENCE}, "dims": {"heads": 2}, "draws": draws}
    (tmp_path / "r.json").write_text(json.dumps(recipe))
    stated = succeeds("run", "--recipe", "r.json", "--show", "all", "--json", cwd=tmp_path).json
    assert stated["output"] == loaded["output"]


def test_what_contradicts_it_is_refused(tmp_path):
    save_safetensors(tmp_path / "p.safetensors", {**LAYER, "W_o": normal(4, 6, 5)})
    assert_fails(run("run", SENTENCE, "--params", "p.safetensors", "--set", "dims.output_dim=4", cwd=tmp_path), 2,
                 "--set dims.output_dim: got 4; allowed: 5, which follows from 'W_o' of 'p.safetensors'")
    save_safetensors(tmp_path / "p.safetensors", {**LAYER, "W_o": normal(4, 5, 7)})
    assert_fails(run("run", SENTENCE, "--params", "p.safetensors", cwd=tmp_path), 65, "'W_o' of 'p.safetensors': got the shape (5, 7); allowed: ")
    save_safetensors(tmp_path / "p.safetensors", {**LAYER, "W_o": normal(4, 6, 5), "b_o": normal(4, 3)})
    assert_fails(run("run", SENTENCE, "--params", "p.safetensors", cwd=tmp_path), 65, "'b_o' of 'p.safetensors': got the shape (3,); allowed: (5,)")
    assert_fails(run("run", SENTENCE, "--set", "dims.output_dim=0"), 2, "--set dims.output_dim: got '0'; allowed: an integer from 1 to 1048576")
