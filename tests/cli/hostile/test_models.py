"""Folders of models made to be costly: refused in one line, with no more memory than three times the file, or 64 MB, and at
once."""

import json
import pathlib

import pytest
import tiny_models
from program import assert_fails, limits_memory, measured, run, within
from tensors import load_safetensors, numpy

BASE = 16  # MiB of the program itself


@limits_memory
def test_keys_inside_of_a_long_key_are_not_kept_with_all_of_its_bytes(tmp_path):
    folder, _ = tiny_models.bert(tmp_path / "model")
    config = json.loads((folder / "config.json").read_text())
    config["task_specific_params"] = {"k" * 1_000_000: {str(i): i for i in range(2000)}}
    (folder / "config.json").write_text(json.dumps(config))
    done, _, megabytes = measured("run", "the cat", "--model", f"{folder}/")
    assert_fails(done, 65, "config.json", "more keys, or longer ones, than 16000000 bytes hold")
    assert megabytes < 64 + BASE, megabytes  # 2,000


@limits_memory
def test_what_a_weight_map_says_about_itself_is_passed_over(tmp_path):
    folder, _ = tiny_models.bert(tmp_path / "model")
    (folder / "model.safetensors").rename(folder / "one.safetensors")
    names = load_safetensors(folder / "one.safetensors")[0]
    metadata = {"k" * 1_000_000: {str(i): {} for i in range(100_000)}}
    index = {"metadata": metadata, "weight_map": {name: "one.safetensors" for name in names}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    done, seconds, megabytes = measured("run", "the cat", "--model", f"{folder}/")
    assert (done.code, done.err) == (0, b""), done
    assert seconds < 8 and megabytes < 64 + BASE, (seconds, megabytes)  # 15 seconds where every key is copied


@limits_memory
def test_a_file_of_another_shape_is_refused_before_the_model_computes(tmp_path):
    folder, _ = tiny_models.llama(tmp_path / "model", max_position_embeddings=8192)
    numpy.save(tmp_path / "few.npy", numpy.ones((3, 4), "float32"))
    done, _, megabytes = measured("run", "the cat " * 1000, "--model", f"{folder}/", "--against", "few.npy", cwd=tmp_path)
    assert_fails(done, 65, "'few.npy': got the shape (3, 4); allowed: (3, 2, 2000, 2000), the weights of 3 layers")
    assert megabytes < 64 + BASE, megabytes


@pytest.mark.parametrize("keys", [["k" * 1_000_000], [f"w{i}" for i in range(1000)]], ids=["a long one", "many"])
def test_keys_that_are_not_known_are_told_in_a_short_line(tmp_path, keys):
    folder, _ = tiny_models.bert(tmp_path / "model")
    config = json.loads((folder / "config.json").read_text()) | dict.fromkeys(keys, 1)
    (folder / "config.json").write_text(json.dumps(config))
    done = run("run", "the cat", "--model", f"{folder}/")
    assert_fails(done, 65, "not known here", "--set model.ignore_config=", "…'" if len(keys) == 1 else " more are not known")
    assert len(done.err) < 10_000, len(done.err)  # 1,000,000 and 19,000


@limits_memory
def test_weights_to_be_drawn_are_counted_before_they_are(tmp_path):
    models = pathlib.Path(__file__).parents[3] / "data" / "models" / "two-blocks"
    config = json.loads((models / "config.json").read_text()) | {"vocab_size": 10_000_000}
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "draws.json").write_text((models / "draws.json").read_text())
    done = run("run", "a b", "--model", f"{tmp_path}/", "--threads", "1", preexec_fn=within(1000))
    assert_fails(done, 71, "the weights drawn need ", " bytes (", " are free; smaller sizes in config.json take less")
