"""`run --params`: projections from files, by plain names and by those of checkpoints."""

import hashlib
import json
import os
import struct

import pytest
from program import SENTENCE, assert_fails, measured, run, succeeds
from tensors import attention, close, load_safetensors, normal, numpy, save_safetensors

V = 6


def plain(D=16, d_k=24, d_v=28, seed=0):
    return {"embedding": normal(seed, V, D), "W_q": normal(seed + 1, d_k, D), "W_k": normal(seed + 2, d_k, D), "W_v": normal(seed + 3, d_v, D)}


def multihead(E=8, seed=0):
    return {"in_proj_weight": normal(seed, 3 * E, E), "in_proj_bias": normal(seed + 1, 3 * E),
            "out_proj.weight": normal(seed + 2, E, E), "out_proj.bias": normal(seed + 3, E)}


def prefixed(prefix, layer):
    return {f"{prefix}.{name}": array for name, array in layer.items()}


def result(folder, *options, sentence=SENTENCE):
    return succeeds("run", sentence, "--json", *options, cwd=folder).json


def without_config(done):
    return {key: value for key, value in done.items() if key != "config"}


# ---- saved and loaded again ------------------------------------------------------------------------------------------

DRAWN = [
    (),
    ("--heads", "4"),
    ("--heads", "4", "--kv-heads", "2", "--causal", "--init", "linear"),
    ("--output-projection",),
    ("--embed-dim", "9", "--d-k", "9", "--d-v", "9"),
    ("--heads", "3", "--embed-dim", "7", "--d-k", "2", "--d-v", "5", "--dtype", "float64"),
    ("--generator", "numpy", "--seed", "5", "--vocab-size", "11"),
]


@pytest.mark.parametrize("options", DRAWN, ids=" ".join)
def test_what_was_drawn_and_saved_gives_the_same_result(tmp_path, options):
    again = [option for option in ("--causal", "--dtype", "float64") if option in options]
    succeeds("run", SENTENCE, *options, "--show", "parameters", "-o", "p.safetensors", cwd=tmp_path)
    drawn = result(tmp_path, *options, "--show", "all")
    quiet = ["--quiet"] if "--vocab-size" in options else []  # rows that no word of the sentence has
    loaded = result(tmp_path, "--params", "p.safetensors", *again, *quiet, "--show", "all")
    assert without_config(loaded) == without_config(drawn)


@pytest.mark.parametrize("options", DRAWN, ids=" ".join)
def test_what_was_loaded_and_saved_again_has_the_same_bytes(tmp_path, options):
    succeeds("run", SENTENCE, *options, "--show", "parameters", "-o", "p.npz", cwd=tmp_path)
    heads = ["--heads", options[1]] if "--heads" in options else []
    dtype = ["--dtype", "float64"] if "float64" in options else []
    quiet = ["--quiet"] if "--vocab-size" in options else []
    succeeds("run", SENTENCE, "--params", "p.npz", "--set", "parameters.layout=run", *heads, *dtype, *quiet, "--show", "parameters", "-o", "q.npz", cwd=tmp_path)
    assert (tmp_path / "q.npz").read_bytes() == (tmp_path / "p.npz").read_bytes()
    for name in ("q", "r"):  # the metadata of r names q, that of q names p
        source = "p.npz" if name == "q" else "q.safetensors"
        options = ["--set", "parameters.layout=run", *heads] if name == "q" else []
        succeeds("run", SENTENCE, "--params", source, *options, *dtype, *quiet, "--show", "parameters", "-o", f"{name}.safetensors", cwd=tmp_path)
    first, second = (load_safetensors(tmp_path / f"{name}.safetensors")[0] for name in "qr")
    assert first.keys() == second.keys()
    for name, array in first.items():
        assert array.tobytes() == second[name].tobytes() and array.dtype == second[name].dtype, name


def test_a_checkpoint_saved_by_plain_names_gives_the_same_result(tmp_path):
    D = 6
    save_safetensors(tmp_path / "gpt.safetensors", {"embedding": normal(9, V, D), "h.0.attn.c_attn.weight": normal(1, D, 3 * D),
                     "h.0.attn.c_attn.bias": normal(2, 3 * D), "h.0.attn.c_proj.weight": normal(3, D, D)})
    first = result(tmp_path, "--params", "gpt.safetensors", "--heads", "3", "--show", "weights,output")
    succeeds("run", SENTENCE, "--params", "gpt.safetensors", "--heads", "3", "--show", "parameters", "-o", "p.safetensors", cwd=tmp_path)
    assert without_config(result(tmp_path, "--params", "p.safetensors", "--show", "weights,output")) == without_config(first)


def test_the_config_names_the_file_and_check_needs_the_same_one(tmp_path):
    save_safetensors(tmp_path / "p.safetensors", prefixed("encoder.self_attn", multihead()))
    succeeds("run", SENTENCE, "--params", "p.safetensors", "--heads", "2", "--show", "all", "-o", "golden.json", cwd=tmp_path)
    config = json.loads((tmp_path / "golden.json").read_text())["config"]
    digest = hashlib.sha256((tmp_path / "p.safetensors").read_bytes()).hexdigest()
    assert config["parameters"] == {"file": "p.safetensors", "prefix": "encoder.self_attn", "layout": "out-in",
                                    "output_projection": True, "sha256": digest}
    assert config["dims"] == {"embed_dim": 8, "heads": 2, "kv_heads": 2, "d_k": 4, "d_v": 4}
    assert config["draws"] == [{"seed": 123}, {"tensor": "embedding", "init": "normal"}]
    assert succeeds("check", "golden.json", cwd=tmp_path).text.endswith("golden.json: passed\n")
    save_safetensors(tmp_path / "p.safetensors", prefixed("encoder.self_attn", multihead(seed=1)))
    assert_fails(run("check", "golden.json", cwd=tmp_path), 65)
    (tmp_path / "p.safetensors").unlink()
    assert_fails(run("check", "golden.json", cwd=tmp_path), 66)


def test_embeddings_that_the_file_lacks_are_the_first_draws_of_the_seed(tmp_path):
    save_safetensors(tmp_path / "p.safetensors", multihead(16))
    loaded = result(tmp_path, "--params", "p.safetensors", "--seed", "7", "--heads", "2", "--show", "embeddings")
    assert loaded["embeddings"] == result(tmp_path, "--seed", "7", "--show", "embeddings")["embeddings"]


SEPARATE = {"q_proj_weight": normal(1, 4, 4), "k_proj_weight": normal(2, 4, 3), "v_proj_weight": normal(3, 4, 5)}
SHARED = {
    "fused": multihead(16),
    "extra": {**multihead(8), "bias_k": normal(8, 1, 1, 8), "bias_v": normal(9, 1, 1, 8), "embedding": normal(7, 9, 8)},
    "separate": SEPARATE,
    "tables": {**SEPARATE, "embedding": normal(4, 9, 4), "key_embedding": normal(5, 9, 3), "value_embedding": normal(6, 9, 5)},
    "rows": {**multihead(8), "embeddings": normal(5, 4, 8)},
}


@pytest.mark.parametrize("positions", ["none", "sinusoidal", "rope"])
@pytest.mark.parametrize("show", ["all", "keys,values,weights"])
@pytest.mark.parametrize("name", SHARED)
def test_lines_share_the_parameters_of_a_file(tmp_path, name, show, positions):
    save_safetensors(tmp_path / "p.safetensors", SHARED[name])
    options = ("--params", "p.safetensors", "--heads", "2", "--json", "--show", show, "--positions", positions, "--quiet")
    lines = ["a b c d", "d c c d", "b b a c"] if name == "rows" else ["a a", "b", "a b a", "b c a b", "d b"]
    done = succeeds("run", "--lines", "-", *options, stdin="\n".join(lines), cwd=tmp_path).json_lines
    for i, line in enumerate(lines):
        assert done[i] == {**succeeds("run", line, *options, cwd=tmp_path).json, "index": i}


def test_rows_by_position_are_those_of_one_length(tmp_path):
    save_safetensors(tmp_path / "p.safetensors", SHARED["rows"])
    options = ("--params", "p.safetensors", "--heads", "2", "--json")
    done = run("run", "--lines", "-", *options, stdin="b b a c\na b c\nd d c b\n", cwd=tmp_path)  # of three words each
    assert done.code == 65 and ["error" in line for line in done.json_lines] == [False, True, False]
    assert "embeddings: got the shape (4, 8); allowed: with these dimensions (3, 8)" in done.json_lines[1]["error"]["message"]


# ---- what it computes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["f4", "f8", "f2", "bf16", ">f4"])
def test_every_floating_type_is_read(tmp_path, name):
    arrays = {key: array.astype("f2").astype("f4") for key, array in plain().items()}
    if name == "bf16":
        arrays = {key: (array.view("<u4") & 0xFFFF0000).view("<f4") for key, array in arrays.items()}
        save_safetensors(tmp_path / "p.safetensors", arrays, bfloat16=arrays)
        file = "p.safetensors"
    else:
        numpy.savez_compressed(tmp_path / "p.npz", **{key: array.astype(name) for key, array in arrays.items()})
        file = "p.npz"
    done = result(tmp_path, "--params", file, "--show", "parameters,weights,context")
    for key, array in arrays.items():
        assert numpy.array_equal(numpy.array(done["parameters"][key], "f4"), array), key
    ids = [done_id for done_id in result(tmp_path, "--params", file, "--show", "token_ids")["token_ids"]]
    x = arrays["embedding"][ids].astype("f8")
    weights, context = attention(*((x @ arrays[W].T.astype("f8"))[None, None] for W in ("W_q", "W_k", "W_v")))
    close(done["weights"], weights[0], atol=1e-4)
    close(done["context"], context[0, 0], atol=1e-3)


def test_one_more_key_is_seen_by_every_query(tmp_path):
    E, H = 8, 2
    layer = {**multihead(E), "bias_k": normal(8, 1, 1, E), "bias_v": normal(9, 1, 1, E)}
    save_safetensors(tmp_path / "p.safetensors", layer)
    numpy.save(tmp_path / "mask.npy", numpy.eye(V, dtype=bool) | (numpy.arange(V) == 0))
    options = ("--params", "p.safetensors", "--heads", "2", "--show", "all")
    done = result(tmp_path, *options, "--causal", "--mask", "mask.npy")
    weights = numpy.array(done["weights"])
    assert weights.shape == (H, V, V + 1) and (weights[..., V] > 0).all()
    assert (weights[..., :V] > 0).tolist() == [((numpy.load(tmp_path / "mask.npy") & numpy.tri(V, dtype=bool)).tolist())] * H
    assert numpy.array_equal(numpy.array(done["keys"], "f4")[:, V], layer["bias_k"].reshape(H, -1))
    assert numpy.array_equal(numpy.array(done["values"], "f4")[:, V], layer["bias_v"].reshape(H, -1))
    assert "(bias)" in succeeds("run", SENTENCE, *options[:-1], "weights", cwd=tmp_path).text.splitlines()[1]
    row = result(tmp_path, *options, "--causal", "--query", "3", "--window", "1,0")
    assert [w > 0 for w in row["weights"][0][0]] == [False, False, True, True, False, False, True]
    numpy.save(tmp_path / "column.npy", numpy.full((2, 1, 1), 2.5))
    column = result(tmp_path, *options, "--mask", "column.npy")
    added = numpy.array(column["masked_scores"]) - numpy.array(column["scaled_scores"])
    close(added[..., :V], numpy.full((H, V, V), 2.5))
    assert not added[..., V].any()


def test_keys_and_values_may_have_tables_of_their_own(tmp_path):
    E, kdim, vdim = 4, 3, 5
    layer = {"q_proj_weight": normal(1, E, E), "k_proj_weight": normal(2, E, kdim), "v_proj_weight": normal(3, E, vdim)}
    save_safetensors(tmp_path / "p.safetensors", layer)
    done = result(tmp_path, "--params", "p.safetensors", "--heads", "2", "--show", "parameters,token_ids,keys,values")
    assert done["config"]["dims"] == {"embed_dim": E, "heads": 2, "kv_heads": 2, "d_k": 2, "d_v": 2, "key_dim": kdim, "value_dim": vdim}
    assert [draw.get("tensor") for draw in done["config"]["draws"]] == [None, "embedding", "key_embedding", "value_embedding"]
    tables = {name: numpy.array(done["parameters"][name]) for name in ("key_embedding", "value_embedding")}
    for name, table, W in (("keys", "key_embedding", "k_proj_weight"), ("values", "value_embedding", "v_proj_weight")):
        expected = tables[table][done["token_ids"]] @ layer[W].T
        close(numpy.concatenate(numpy.array(done[name]), axis=-1), expected)
    (tmp_path / "golden.json").write_text(json.dumps(done))
    assert succeeds("check", "golden.json", cwd=tmp_path).text.endswith("passed\n")
    save_safetensors(tmp_path / "q.safetensors", {**layer, "value_embedding": normal(5, V, vdim), "key_embedding": normal(4, V, kdim)})
    given = result(tmp_path, "--params", "q.safetensors", "--heads", "2", "--show", "keys")
    assert [draw.get("tensor") for draw in given["config"]["draws"]] == [None, "embedding"]
    assert given["keys"] != done["keys"]


def test_the_output_projection_can_be_left_out(tmp_path):
    save_safetensors(tmp_path / "p.safetensors", multihead())
    options = ("--params", "p.safetensors", "--heads", "2", "--show", "all")
    done = result(tmp_path, *options, "--no-output-projection")
    assert "output" not in done and "W_o" not in done["parameters"] and "b_o" not in done["parameters"]
    assert done["config"]["parameters"]["output_projection"] is False
    (tmp_path / "golden.json").write_text(json.dumps(done))
    assert succeeds("check", "golden.json", cwd=tmp_path).text.endswith("passed\n")
    numpy.savez(tmp_path / "q.npz", **plain())
    assert_fails(run("run", SENTENCE, "--params", "q.npz", "--output-projection", cwd=tmp_path), 65)


@pytest.mark.parametrize("turned", [False, True])
def test_a_fused_matrix_is_read_the_same_with_and_without_an_output_projection(tmp_path, turned):
    D = 9
    W = normal(1, 3 * D, D)
    save_safetensors(tmp_path / "p.safetensors", {"c_attn.weight": W.T.copy() if turned else W, "c_proj.weight": normal(2, D, D)})
    save_safetensors(tmp_path / "q.safetensors", {"c_attn.weight": W.T.copy() if turned else W})
    options = ("--heads", "3", "--show", "embeddings,queries,keys,values,weights")
    whole = result(tmp_path, "--params", "p.safetensors", *options)
    close(numpy.concatenate(numpy.array(whole["queries"]), axis=-1), numpy.array(whole["embeddings"]) @ W[:D].T)
    for without in (["p.safetensors", "--no-output-projection"], ["q.safetensors"]):
        assert without_config(result(tmp_path, "--params", *without, *options)) == without_config(whole)


def test_a_recipe_may_name_parameters(tmp_path):
    jsonschema = pytest.importorskip("jsonschema")
    numpy.savez(tmp_path / "p.npz", embeddings=normal(1, 5, 4), W_q=normal(2, 4, 3), W_k=normal(3, 4, 3), W_v=normal(4, 4, 3))
    recipe = {"schema": "attn-cli/recipe/1", "input": {"positions": 5}, "parameters": {"file": "p.npz"}, "draws": []}
    (tmp_path / "r.json").write_text(json.dumps(recipe))
    done = succeeds("run", "--recipe", "r.json", "--json", "--show", "all", cwd=tmp_path).json
    close(done["embeddings"], normal(1, 5, 4))
    schema = succeeds("schema", "recipe").json
    for config in (recipe, done["config"]):
        jsonschema.Draft202012Validator(schema).validate(config)
    for wrong in ({"file": "p.npz", "bits": 3}, {}, {"file": "p.npz", "layout": "rows"}, {"file": "p.npz", "sha256": "0"}):
        (tmp_path / "w.json").write_text(json.dumps({**recipe, "parameters": wrong}))
        assert_fails(run("run", "--recipe", "w.json", cwd=tmp_path), 65)
        assert list(jsonschema.Draft202012Validator(schema).iter_errors({**recipe, "parameters": wrong}))
    numpy.savez(tmp_path / "e.npz", in_proj_weight=normal(1, 12, 4), bias_k=normal(2, 4), bias_v=normal(3, 4), embedding=normal(4, 5, 4))
    for wrong in ({"attention": {"positions": {"kind": "alibi"}}}, {"attention": {"scores": "KQ"}, "input": {"sentence": "a b"}}, {}):
        (tmp_path / "w.json").write_text(json.dumps({**recipe, "parameters": {"file": "e.npz"}, **wrong}))
        assert_fails(run("run", "--recipe", "w.json", cwd=tmp_path), 65)
    twice = {**recipe, "draws": [{"seed": 1}, {"tensor": "W_q", "init": "uniform"}]}
    (tmp_path / "w.json").write_text(json.dumps(twice))
    assert_fails(run("run", "--recipe", "w.json", cwd=tmp_path), 65)


def test_other_parameters_take_the_place_of_those_of_a_saved_result(tmp_path):
    save_safetensors(tmp_path / "p.safetensors", multihead(8))
    save_safetensors(tmp_path / "q.safetensors", multihead(12))
    succeeds("run", SENTENCE, "--params", "p.safetensors", "--heads", "2", "-o", "golden.json", cwd=tmp_path)
    done = succeeds("run", "--recipe", "golden.json", "--params", "q.safetensors", "--json", cwd=tmp_path).json
    assert without_config(done) == without_config(result(tmp_path, "--params", "q.safetensors", "--heads", "2"))
    four = succeeds("run", "--recipe", "golden.json", "--heads", "4", "--json", cwd=tmp_path).json
    assert without_config(four) == without_config(result(tmp_path, "--params", "p.safetensors", "--heads", "4"))


@pytest.mark.parametrize("options", [(), ("--positions", "rope"), ("--positions", "sinusoidal"), ("--positions", "alibi")])
def test_results_fit_the_schemas_and_their_configs_compute_them(tmp_path, options):
    jsonschema = pytest.importorskip("jsonschema")
    layer = {**multihead(), "bias_k": normal(8, 1, 1, 8), "bias_v": normal(9, 1, 1, 8)} if "alibi" not in options else multihead()
    save_safetensors(tmp_path / "p.safetensors", layer)
    succeeds("run", SENTENCE, "--params", "p.safetensors", "--heads", "2", *options, "--show", "all", "--verify", "--quiet", "-o", "golden.json", cwd=tmp_path)
    done = json.loads((tmp_path / "golden.json").read_text())
    recipe, schema = succeeds("schema", "recipe").json, succeeds("schema", "result").json
    jsonschema.Draft202012Validator(recipe).validate(done["config"])
    schema["$defs"]["config"] = {}
    jsonschema.Draft202012Validator(schema).validate(done)
    assert succeeds("check", "golden.json", cwd=tmp_path).text.endswith("golden.json: passed\n")


def test_the_layout_is_said_with_verbose(tmp_path):
    save_safetensors(tmp_path / "p.safetensors", multihead())
    message = run("run", SENTENCE, "--params", "p.safetensors", "--heads", "2", "--verbose", cwd=tmp_path).message
    assert "nn.MultiheadAttention, out-in, 2 heads; in_proj_weight → W_q, W_k, W_v; out_proj.weight → W_o" in message


def test_rows_beyond_the_words_are_a_warning(tmp_path):
    numpy.savez(tmp_path / "p.npz", **plain())
    options = ["--params", "p.npz", "--set", "parameters.layout=out-in", "--heads", "1"]
    succeeds("run", SENTENCE, *options, cwd=tmp_path)
    for command in (["run", "Life is short"], ["explain", "Life is short", "--query", "is"], ["run", "Life is short", "--json"]):
        done = run(*command, *options, cwd=tmp_path)
        assert (done.code, done.message.count("warning: ")) == (0, 1)
        assert done.out == succeeds(*command, *options, "--quiet", cwd=tmp_path).out
    drawn = {name: array for name, array in plain().items() if name != "embedding"}
    numpy.savez(tmp_path / "drawn.npz", **drawn)
    succeeds("run", "Life is", "--params", "drawn.npz", "--set", "parameters.layout=out-in", "--heads", "1", "--vocab-size", "9", cwd=tmp_path)


def test_ids_are_rows_of_the_table_of_the_file(tmp_path):
    numpy.savez(tmp_path / "p.npz", **plain())
    options = ["--params", "p.npz", "--set", "parameters.layout=out-in", "--heads", "1", "--json", "--show", "embeddings"]
    done = succeeds("run", "--ids", "0,5", *options, cwd=tmp_path)
    assert numpy.array_equal(numpy.array(done.json["embeddings"], "float32"), plain()["embedding"][[0, 5]])
    assert done.out == succeeds("run", "--ids", "0,5", "--vocab-size", "6", *options, cwd=tmp_path).out
    assert_fails(run("run", "--ids", "6", *options, cwd=tmp_path), 65, "got 6; allowed: 0 to 5 (the embedding table of 'p.npz' has 6 rows)")
    numpy.savez(tmp_path / "p.npz", **{name: array for name, array in plain().items() if name != "embedding"})
    assert_fails(run("run", "--ids", "6", *options, cwd=tmp_path), 2, "--ids requires --vocab-size; allowed: 7 or more for these ids")


def test_lines_are_warned_of_rows_once(tmp_path):
    numpy.savez(tmp_path / "p.npz", **plain())
    done = run("run", "--lines", "-", "--params", "p.npz", "--set", "parameters.layout=out-in", "--heads", "1", "--json", stdin="a b\nc\n", cwd=tmp_path)
    assert (done.code, done.message.count("warning: ")) == (0, 1)


# ---- bad files -------------------------------------------------------------------------------------------------------


def fails(folder, arrays, code, options=()):
    save_safetensors(folder / "p.safetensors", arrays)
    assert_fails(run("run", SENTENCE, "--params", "p.safetensors", *options, cwd=folder), code)


LLAMA = {f"{name}_proj.weight": normal(i, 4, 4) for i, name in enumerate("qkvo")}
BERT = {**{f"self.{name}.weight": normal(i, 4, 4) for i, name in enumerate(("query", "key", "value"))}, "output.dense.weight": normal(4, 4, 4)}
GPT2 = {"c_attn.weight": normal(1, 4, 12), "c_proj.weight": normal(2, 4, 4)}
LAYERS = {"Llama": prefixed("layers.0.self_attn", LLAMA), "BERT": prefixed("layer.0.attention", BERT), "GPT-2": prefixed("h.0.attn", GPT2),
          "nn.MultiheadAttention": prefixed("self_attn", multihead()), "plain names": plain(), "alone": LLAMA}


@pytest.mark.parametrize("layer, name", [
    ("Llama", "layers.0.self_attn.q_norm.weight"),  # Gemma 3, Qwen 3
    ("Llama", "layers.0.self_attn.sinks"),  # gpt-oss
    ("Llama", "layers.0.self_attn.q_proj.lora_A.weight"),
    ("alone", "k_norm.weight"),
    ("BERT", "layer.0.attention.self.distance_embedding.weight"),
    ("BERT", "layer.0.attention.output.dense.scale"),
    ("GPT-2", "h.0.attn.q_ln.weight"),
    ("nn.MultiheadAttention", "self_attn.q_norm.weight"),
    ("nn.MultiheadAttention", "self_attn.q_proj_weight"),
    ("plain names", "q_norm"),
    ("plain names", "out_proj.weight"),
])
def test_a_tensor_of_the_layer_that_is_not_applied_is_refused(tmp_path, layer, name):
    fails(tmp_path, {**LAYERS[layer], name: normal(9, 4)}, 65)


@pytest.mark.parametrize("layer, names", [
    ("Llama", ["layers.0.self_attn.rotary_emb.inv_freq", "layers.0.mlp.up_proj.weight", "layers.0.input_layernorm.weight", "layers.1.self_attn.q_norm.weight"]),
    ("BERT", ["layer.0.attention.output.LayerNorm.weight", "layer.0.output.dense.scale", "embeddings.position_ids"]),
    ("GPT-2", ["h.0.attn.bias", "h.0.attn.masked_bias", "h.0.mlp.c_proj.weight", "h.0.ln_1.weight"]),
    ("nn.MultiheadAttention", ["linear1.weight", "norm1.weight"]),
    ("plain names", ["scores", "weights", "query_positions"]),  # as `run --show all` saves them
])
def test_buffers_and_other_modules_change_no_number(tmp_path, layer, names):
    other = [] if layer != "plain names" else ["--set", "parameters.layout=run"]
    save_safetensors(tmp_path / "p.safetensors", LAYERS[layer])
    alone = result(tmp_path, "--params", "p.safetensors", "--heads", "1", *other)
    save_safetensors(tmp_path / "p.safetensors", {**LAYERS[layer], **{name: normal(9, 1, 1, 4, 4) for name in names}})
    assert without_config(result(tmp_path, "--params", "p.safetensors", "--heads", "1", *other)) == without_config(alone)


def test_several_layers_need_a_prefix(tmp_path):
    arrays = {**prefixed("a.0", multihead()), **prefixed("a.1", multihead(seed=3)), **prefixed("a.10", multihead(seed=5))}
    fails(tmp_path, arrays, 65)
    fails(tmp_path, arrays, 65, options=("--prefix", "a.2"))
    for prefix in ("a.1", "a.1."):
        done = result(tmp_path, "--params", "p.safetensors", "--prefix", prefix, "--heads", "2", "--show", "parameters")
        assert done["config"]["parameters"]["prefix"] == "a.1"
        assert numpy.array_equal(numpy.array(done["parameters"]["W_o"], "f4"), arrays["a.1.out_proj.weight"])
    fails(tmp_path, multihead(), 65, options=("--prefix", "x"))


def test_a_square_matrix_by_plain_names_asks_for_its_layout(tmp_path):
    arrays = {name: normal(i, 4, 4) for i, name in enumerate(("embedding", "W_q", "W_k", "W_v"))}
    arrays["embedding"] = normal(0, V, 4)
    fails(tmp_path, arrays, 65)
    both = [result(tmp_path, "--params", "p.safetensors", "--set", f"parameters.layout={layout}") for layout in ("in-out", "out-in")]
    turned = {name: array if name == "embedding" else array.T.copy() for name, array in arrays.items()}
    save_safetensors(tmp_path / "t.safetensors", turned)
    other = result(tmp_path, "--params", "t.safetensors", "--set", "parameters.layout=out-in")
    assert without_config(both[0]) == without_config(other) != without_config(both[1])
    fails(tmp_path, plain(), 65, options=("--set", "parameters.layout=in-out"))
    fails(tmp_path, multihead(), 65, options=("--set", "parameters.layout=in-out"))


@pytest.mark.parametrize("value", [numpy.nan, numpy.inf, -numpy.inf])
def test_numbers_that_are_none_are_named(tmp_path, value):
    arrays = multihead()
    arrays["in_proj_weight"][9, 3] = value
    fails(tmp_path, arrays, 65, options=("--heads", "2"))
    done = result(tmp_path, "--params", "p.safetensors", "--heads", "2", "--set", "parameters.allow_nonfinite=true", "--show", "parameters")
    assert done["config"]["parameters"]["allow_nonfinite"] is True
    arrays = plain()
    arrays["embedding"][5, 1] = value
    fails(tmp_path, arrays, 65)


@pytest.mark.parametrize(("name", "place"), [("W_q", "(23, 0)"), ("embedding", "(2, 5)")])
def test_numbers_beyond_float32_are_named(tmp_path, name, place):
    arrays = {key: array.astype("f8") for key, array in plain().items()}
    arrays[name][int(place[1:-4]), int(place[-2])] = -1e300
    fails(tmp_path, arrays, 65)
    fails(tmp_path, arrays, 65, options=("--set", "parameters.allow_nonfinite=true",))
    done = result(tmp_path, "--params", "p.safetensors", "--dtype", "float64", "--show", "parameters")
    assert numpy.array_equal(numpy.array(done["parameters"][name]), arrays[name])


def test_a_width_that_a_layer_cannot_have_draws_no_table(tmp_path):
    llama = {f"{name}_proj.weight": normal(1, 8, 9 if name == "k" else 8) for name in "qkvo"}
    fails(tmp_path, llama, 65)
    tables = {"key_embedding": normal(2, V, 9), "value_embedding": normal(3, V, 8)}
    save_safetensors(tmp_path / "p.safetensors", {**llama, **tables})
    assert "key_embedding" in result(tmp_path, "--params", "p.safetensors", "--heads", "2", "--show", "parameters")["parameters"]


def test_heads_of_llama_list_what_divides(tmp_path):
    arrays = {"q_proj.weight": normal(1, 24, 5), "k_proj.weight": normal(2, 8, 5), "v_proj.weight": normal(3, 8, 5)}
    fails(tmp_path, arrays, 2)
    done = result(tmp_path, "--params", "p.safetensors", "--heads", "6", "--show", "keys")
    assert done["config"]["dims"] == {"embed_dim": 5, "heads": 6, "kv_heads": 2, "d_k": 4, "d_v": 4}
    assert numpy.array(done["keys"]).shape == (2, V, 4)


# ---- large files -----------------------------------------------------------------------------------------------------


def sparse_layer(path, megabytes):
    """A layer, and beside it another module of zeros that take no room on the disk."""
    save_safetensors(path, LAYERS["Llama"])
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header, data = json.loads(content[8 : 8 + length]), content[8 + length :]
    header["mlp.weight"] = {"dtype": "F32", "shape": [megabytes << 18], "data_offsets": [len(data), len(data) + (megabytes << 20)]}
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    os.truncate(path, 8 + len(text) + len(data) + (megabytes << 20))


def test_a_file_is_read_whole_only_for_a_config_that_names_its_digest(tmp_path):
    sparse_layer(tmp_path / "p.safetensors", 512)
    options = ["run", SENTENCE, "--params", "p.safetensors", "--heads", "1"]
    done, _, megabytes = measured(*options, cwd=tmp_path)
    assert (done.code, done.err) == (0, b"") and megabytes < 300
    done, _, megabytes = measured(*options, "--json", cwd=tmp_path)
    with (tmp_path / "p.safetensors").open("rb") as file:
        assert done.json["config"]["parameters"]["sha256"] == hashlib.file_digest(file, "sha256").hexdigest()
    assert megabytes > 512  # so that the first figure tells something
