"""`run --model FILE.gguf`: the same results as of the folder that has the same weights and tokens."""

import json
import shutil
import struct

import gguf_files
import gguf_models
import pytest
import tiny_models
from gguf_files import Blocks
from model_results import near
from program import assert_fails, run, succeeds
from tensors import load_safetensors, numpy

SENTENCE = gguf_models.SENTENCE
ARCHITECTURES = sorted(gguf_models.TOKENIZERS)


def result(model, *options, sentence=SENTENCE):
    return succeeds("run", sentence, "--model", model if str(model).endswith(".gguf") else f"{model}/", "--json", *options).json


# ---- numbers and tokens ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_layer_and_the_logits_are_those_of_the_folder(tmp_path, architecture):
    folder, file = gguf_models.write(tmp_path, architecture, seed=3)
    wanted, done = (result(model, "--layer", "all", "--show", "all") for model in (folder, file))
    assert (done["tokens"], done["token_ids"]) == (wanted["tokens"], wanted["token_ids"])
    assert [sorted(layer) for layer in done["layers"]] == [sorted(layer) for layer in wanted["layers"]]
    for a, b in zip(done["layers"], wanted["layers"], strict=True):
        assert (a["dims"], a.get("attention")) == (b["dims"], b.get("attention"))
        for name in ("queries", "keys", "values", "scores", "weights", "output", "hidden_states"):
            near(a[name], b[name])
    if architecture == "bert":  # whose head a .gguf leaves out
        assert_fails(run("run", SENTENCE, "--model", file, "--show", "logits"), 65, "without a head")
    else:
        near(result(file, "--show", "logits")["logits"], result(folder, "--show", "logits")["logits"])


@pytest.mark.parametrize("architecture", ["llama", "gpt2", "gptneox"])
def test_an_explanation_has_the_same_arithmetic(tmp_path, architecture):
    folder, file = gguf_models.write(tmp_path, architecture, seed=4)
    of_folder, of_file = (succeeds("explain", SENTENCE, "--model", model, "--head", "1.1", "--query", "2").text for model in (f"{folder}/", file))
    assert of_file == of_folder


def test_the_rows_of_queries_and_keys_of_llama_are_put_in_order(tmp_path):
    """Without that the test above would not see it where queries and keys are in the same wrong order."""
    folder, file = gguf_models.write(tmp_path, "llama")
    as_qwen = tmp_path / "unturned.gguf"
    arrays, _ = load_safetensors(folder / "model.safetensors")
    family = gguf_models.FAMILIES["llama"]
    tokens = gguf_models.scored_pairs()[1]
    gguf_files.save(as_qwen, gguf_models.metadata_of("llama", len(tokens["tokenizer.ggml.tokens"]), tokens),
                    {gguf_models.gguf_name(family, name): array for name, array in arrays.items()})
    assert result(file, "--layer", "0")["layers"] != result(as_qwen, "--layer", "0")["layers"]


@pytest.mark.parametrize(
    ("pre", "pattern", "model", "begins"),
    [("gpt-2", gguf_models.GPT2, {}, False), ("llama-bpe", gguf_models.LLAMA3, {"ignore_merges": True}, True)],
)
def test_words_become_the_pieces_that_the_named_pattern_makes(tmp_path, pre, pattern, model, begins):
    folder, file = gguf_models.write(tmp_path, "gpt2", tokenizer=gguf_models.byte_pairs(pre, pattern, begins=begins, **model))
    for sentence in ("the cat, the mat 1212 12", "o'the  that<|end|>at"):
        assert result(file, "--layer", "0", sentence=sentence)["token_ids"] == result(folder, "--layer", "0", sentence=sentence)["token_ids"]


@pytest.mark.parametrize("prefix", [True, False])
def test_scores_join_pieces_as_merges_do(tmp_path, prefix):
    folder, file = gguf_models.write(tmp_path, "llama", tokenizer=gguf_models.scored_pairs(prefix))
    for sentence in ("the that  cat", "é the</s>the"):
        wanted, done = (result(model, "--layer", "0", sentence=sentence) for model in (folder, file))
        assert (done["token_ids"], done["tokens"]) == (wanted["token_ids"], wanted["tokens"])


def test_words_without_capitals_in_the_vocabulary_are_made_small(tmp_path):
    _, file = gguf_models.write(tmp_path, "bert")
    assert result(file, "--layer", "0", sentence="The Cats sät")["tokens"] == ["[CLS]", "the", "cat", "##s", "sat", "[SEP]"]
    pair = result(file, "--layer", "0", "--set", "input.pair=it sat", sentence="the cat")
    assert pair["tokens"] == ["[CLS]", "the", "cat", "[SEP]", "it", "sat", "[SEP]"]


def test_numbers_that_divide_the_frequencies_are_the_scaling_of_llama_3(tmp_path):
    """As llama.cpp writes it: rope_type llama3 as a list of divisors."""
    folder, file = gguf_models.write(tmp_path, "llama")
    config = json.loads((folder / "config.json").read_text())
    config |= {"rope_scaling": {"rope_type": "linear", "factor": 4.0}}
    (folder / "config.json").write_text(json.dumps(config))
    arrays, metadata = llama_arrays(folder)
    gguf_files.save(file, metadata, arrays | {"rope_freqs.weight": numpy.full(2, 4, "float32")})
    near(result(file, "--layer", "1")["layers"][0]["weights"], result(folder, "--layer", "1")["layers"][0]["weights"])
    for divisors, says in ((numpy.full(3, 4, "float32"), "(2,)"), (numpy.zeros(2, "float32"), "above 0")):
        gguf_files.save(file, metadata, arrays | {"rope_freqs.weight": divisors})
        assert_fails(run("run", SENTENCE, "--model", file), 65, "rope_freqs.weight", says)


def llama_arrays(folder):
    arrays, _ = load_safetensors(folder / "model.safetensors")
    family, tokens = gguf_models.FAMILIES["llama"], gguf_models.scored_pairs()[1]
    metadata = gguf_models.metadata_of("llama", len(tokens["tokenizer.ggml.tokens"]), tokens)
    return {gguf_models.gguf_name(family, name): gguf_models.stored("llama", name, array) for name, array in arrays.items()}, metadata


# ---- quantised rows --------------------------------------------------------------------------------------------------

WIDE, FEW = 256, 128  # a row of the large blocks; rows of keys and values
EPSILON = 2.0**-17  # the same as float32, which a .gguf has, and as float64 of a config
MATRICES = {"embed_tokens": ("token_embd", None), "lm_head": ("output", None)} | {
    f"layers.0.{name}": (f"blk.0.{gguf}", rows)
    for name, gguf, rows in [("self_attn.q_proj", "attn_q", WIDE), ("self_attn.k_proj", "attn_k", FEW), ("self_attn.v_proj", "attn_v", FEW),
                             ("self_attn.o_proj", "attn_output", WIDE), ("mlp.gate_proj", "ffn_gate", WIDE), ("mlp.up_proj", "ffn_up", WIDE),
                             ("mlp.down_proj", "ffn_down", WIDE)]}


def by_halves(array, heads):
    """The inverse of gguf_models.neighbours."""
    return numpy.ascontiguousarray(array.reshape(heads, -1, 2, array.shape[-1]).swapaxes(1, 2)).reshape(array.shape)


def wide_llama(tmp_path, make):
    """One layer of 256 numbers with two heads of 128: `make(rows, columns, seed)` gives each matrix, and its numbers."""
    tokenizer, tokens = gguf_models.byte_pairs()
    V = len(tokens["tokenizer.ggml.tokens"])
    arrays, weights = {}, {}
    for seed, (hub, (gguf, rows)) in enumerate(MATRICES.items()):
        arrays[gguf + ".weight"], numbers = make(rows or V, WIDE, seed)
        heads = {"blk.0.attn_q": 2, "blk.0.attn_k": 1}.get(gguf)
        weights[hub + ".weight"] = by_halves(numbers, heads) if heads else numbers
    for hub, gguf in {"norm": "output_norm", "layers.0.input_layernorm": "blk.0.attn_norm", "layers.0.post_attention_layernorm": "blk.0.ffn_norm"}.items():
        arrays[gguf + ".weight"] = weights[hub + ".weight"] = numpy.linspace(0.5, 1.5, WIDE, dtype="float32")
    config = {"model_type": "llama", "vocab_size": V, "hidden_size": WIDE, "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 1,
              "intermediate_size": WIDE, "max_position_embeddings": 32, "rms_norm_eps": EPSILON, "rope_theta": 10000.0, "tie_word_embeddings": False}
    keys = {"context_length": 32, "embedding_length": WIDE, "block_count": 1, "feed_forward_length": WIDE, "attention.head_count": 2,
            "attention.head_count_kv": 1, "attention.layer_norm_rms_epsilon": EPSILON, "rope.freq_base": 10000.0}
    tiny_models.write(tmp_path / "hub", config, tokenizer, weights)
    metadata = {"general.architecture": "llama"} | {f"llama.{key}": value for key, value in keys.items()} | tokens
    return tmp_path / "hub", gguf_files.save(tmp_path / "model.gguf", metadata, arrays)


@pytest.mark.parametrize("name", sorted(gguf_files.FORMATS))
def test_quantised_rows_give_the_bits_of_the_numbers_they_stand_for(tmp_path, name):
    scale = 5e-5 if name.endswith("K") else 1e-3  # so that no score is so large that one weight is 1
    folder, file = wide_llama(tmp_path, lambda rows, columns, seed: gguf_files.random_blocks(name, rows, columns, seed, scale))
    show = ["--layer", "0", "--show", "embeddings,weights,hidden_states,logits"]
    wanted, done = (result(model, *show) for model in (folder, file))
    assert (done["layers"], done["logits"]) == (wanted["layers"], wanted["logits"])
    of_file, of_folder = (succeeds("explain", "the cat", "--model", model, "--query", "1", "--json").json for model in (file, f"{folder}/"))
    assert of_file["projections"] == of_folder["projections"]


@pytest.mark.parametrize("half", ["float16", "bfloat16"])
def test_halves_are_read_as_they_are(tmp_path, half):
    def make(rows, columns, seed):
        drawn = (numpy.random.default_rng(seed).standard_normal((rows, columns)) / 16).astype("float32")
        if half == "float16":
            return drawn.astype("float16"), drawn.astype("float16").astype("float32")
        numbers, blocks = gguf_files.bfloat16(drawn)
        return blocks, numbers

    folder, file = wide_llama(tmp_path, make)
    assert result(file, "--layer", "0")["layers"] == result(folder, "--layer", "0")["layers"]


# ---- the file --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    return gguf_models.write(tmp_path_factory.mktemp("gguf"), "llama", seed=1)


def test_a_file_is_named_as_others_are(tmp_path, llama):
    file = shutil.copy(llama[1], tmp_path / "m.gguf")
    wanted = result(file, "--layer", "0")
    for name in ("m.gguf", "./m.gguf"):
        done = succeeds("run", SENTENCE, "--model", name, "--layer", "0", "--json", cwd=tmp_path).json
        assert done["layers"] == wanted["layers"]
        assert done["config"]["model"]["sha256"] == wanted["config"]["model"]["sha256"]
    saved = tmp_path / "saved.json"
    saved.write_bytes(succeeds("run", SENTENCE, "--model", "m.gguf", "--layer", "0", "--json", cwd=tmp_path).out)
    assert succeeds("check", saved).text


def test_a_folder_with_a_file_says_what_to_name(tmp_path, llama):
    folder = tmp_path / "hub"
    shutil.copytree(llama[0], folder)
    (folder / "model.safetensors").unlink()
    shutil.copy(llama[1], folder / "q.gguf")
    assert_fails(run("run", SENTENCE, "--model", f"{folder}/"), 65, "'q.gguf'", "--model and the path of that file")


def test_a_file_that_is_not_there_is_no_input(tmp_path):
    (tmp_path / "folder.gguf").mkdir()
    assert_fails(run("run", SENTENCE, "--model", tmp_path / "none.gguf"), 66, "none.gguf", "help models")
    assert_fails(run("run", SENTENCE, "--model", tmp_path / "folder.gguf"), 66, "folder.gguf", "a file, and this is none")


def test_output_over_the_model_is_refused(tmp_path, llama):
    file = shutil.copy(llama[1], tmp_path / "m.gguf")
    assert_fails(run("run", SENTENCE, "--model", file, "--json", "-o", file), 2)
    assert file.read_bytes() == llama[1].read_bytes()


def changed(path, llama, metadata=None, arrays=None, **options):
    all_arrays, all_metadata = llama_arrays(llama[0])
    for whole, change in ((all_metadata, metadata), (all_arrays, arrays)):
        whole |= change or {}
        for key in [key for key, value in whole.items() if value is None]:
            del whole[key]
    return run("run", SENTENCE, "--model", gguf_files.save(path / "changed.gguf", all_metadata, all_arrays, **options))


@pytest.mark.parametrize(
    ("metadata", "says"),
    [
        ({"general.architecture": "mamba"}, ["general.architecture", "'mamba'", "llama"]),
        ({"general.architecture": None}, ["general.architecture", "nothing"]),
        ({"general.architecture": 3}, ["general.architecture", "got 3"]),
        ({"general.type": "adapter"}, ["general.type", "'adapter'"]),
        ({"split.count": 3}, ["split.count", "got 3", "llama-gguf-split --merge"]),
        ({"llama.expert_count": 8}, ["'llama.expert_count' = 8", "--set model.ignore_config='llama.expert_count'"]),
        ({"llama.expert.count": 8, "llama.expert.used": 2}, ["'llama.expert.count' = 8, 'llama.expert.used' = 2"]),
        ({"llama.rope.scaling.type": "yarn"}, ["yarn", "linear"]),
        ({"llama.use_parallel_residual": True}, ["'llama.use_parallel_residual' = true", "ignore_config='llama.use_parallel_residual'"]),
        ({"llama.embedding_length": None}, ["it has no llama.embedding_length, which"]),
        ({"llama.block_count": 2.5}, ["llama.block_count: got 2.5; allowed: a whole number"]),
        ({"llama.attention.head_count": [4, 4]}, ["llama.attention.head_count", "a list of 2", "a number"]),
        ({"llama.block_count": 3}, ["layers.2"]),
        ({"llama.attention.value_length": 8}, ["value_length", "got 8", "4"]),
        ({"llama.rope.dimension_count": 2}, ["numbers of a head that turn", "got 2", "all 4"]),
        ({"llama.attention.causal": False}, ["llama.attention.causal", "got false"]),
        ({"general.alignment": 24}, ["general.alignment", "got 24", "a power of two"]),
        ({"general.alignment": "wide"}, ["general.alignment", "'wide'"]),
        ({"tokenizer.ggml.model": "rwkv"}, ["tokenizer.ggml.model", "'rwkv'", "gpt2, llama, bert"]),
        ({"tokenizer.ggml.model": None}, ["tokenizer.ggml.model", "nothing"]),
        ({"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "viking"}, ["tokenizer.ggml.pre", "'viking'", "llama-bpe"]),
        ({"tokenizer.ggml.tokens": None}, ["tokenizer.ggml.tokens"]),
        ({"tokenizer.ggml.tokens": [1, 2]}, ["tokenizer.ggml.tokens", "a list of u32", "a list of texts"]),
        ({"tokenizer.ggml.scores": [1.0]}, ["tokenizer.ggml.scores", "1 numbers", "one for each token"]),
        ({"tokenizer.ggml.scores": [float("nan")] * len(gguf_models.scored_pairs()[1]["tokenizer.ggml.tokens"])}, ["scores[0]", "nan"]),
        ({"tokenizer.ggml.token_type": [9] * len(gguf_models.scored_pairs()[1]["tokenizer.ggml.tokens"])}, ["token_type[0]", "got 9", "1 to 6"]),
        ({"tokenizer.ggml.bos_token_id": 5000}, ["bos_token_id", "got 5000"]),
        ({"tokenizer.ggml.bos_token_id": None}, ["bos_token_id", "nothing", "add_bos_token"]),
    ],
)
def test_metadata_that_is_not_understood_is_refused_by_its_key(tmp_path, llama, metadata, says):
    assert_fails(changed(tmp_path, llama, metadata), 65, "changed.gguf", *says)


QUERY = "blk.0.attn_q.weight"


@pytest.mark.parametrize(
    ("arrays", "says"),
    [
        ({QUERY: None}, ["layers.0.self_attn.q_proj.weight", "missing; the metadata asks for it"]),
        ({QUERY: numpy.zeros((16, 8), "float32")}, ["q_proj.weight", "(16, 8)", "(16, 16), which the metadata asks for"]),
        ({"blk.0.adapter.weight": numpy.zeros(4, "float32")}, ["blk.0.adapter.weight", "not known"]),
        ({QUERY: Blocks("Q2_K", (1, 256), bytes(84))}, [QUERY, "got Q2_K", "Q4_K", "llama-quantize --allow-requantize"]),
        ({QUERY: Blocks("I32", (16, 16), bytes(1024))}, [QUERY, "got I32"]),
        ({QUERY: Blocks("Q8_0", (16, 16), bytes(272))}, [QUERY, "(16, 16)", "whole blocks"]),
        ({QUERY: Blocks("F32", (16, 1 << 60), bytes(4))}, [QUERY, "can be addressed"]),
        ({"blk.0.attn_norm.weight": Blocks("Q8_0", (32,), bytes(34))}, ["input_layernorm.weight", "Q8_0", "float32"]),
    ],
)
def test_tensors_that_are_not_understood_are_refused_by_name(tmp_path, llama, arrays, says):
    assert_fails(changed(tmp_path, llama, arrays=arrays), 65, "changed.gguf", *says)


def test_a_key_that_we_do_not_know_can_be_ignored(tmp_path, llama):
    arrays, metadata = llama_arrays(llama[0])
    odd = gguf_files.save(tmp_path / "odd.gguf", metadata | {"llama.adapter.rank": 4, "llama.use_parallel_residual": True}, arrays)
    keys = "llama.adapter.rank,llama.use_parallel_residual"
    assert result(odd, "--layer", "0", "--set", f"model.ignore_config={keys}")["layers"] == result(llama[1], "--layer", "0")["layers"]


def test_a_file_of_version_2_is_the_same(tmp_path, llama):
    arrays, metadata = llama_arrays(llama[0])
    old = gguf_files.save(tmp_path / "old.gguf", metadata, arrays, version=2)
    assert result(old, "--layer", "0")["layers"] == result(llama[1], "--layer", "0")["layers"]


# ---- hostile headers -------------------------------------------------------------------------------------------------

HEAD = b"GGUF" + struct.pack("<I", 3)
TEN_TO_12 = 10**12


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", ["ends too early for the first bytes", "got 0 bytes"]),
        (b"XX", ["the first bytes", "'XX'", "'GGUF'"]),
        (b"GGU", ["the first bytes"]),
        (b"PK\3\4" + bytes(64), ["the first bytes"]),
        (b"GGUF" + struct.pack("<I", 1) + bytes(64), ["the version", "got 1", "2 or 3"]),
        (b"GGUF" + struct.pack(">I", 3) + bytes(64), ["the version", "big-endian"]),
        (HEAD, ["the number of tensors"]),
        (HEAD + struct.pack("<QQ", TEN_TO_12, 0) + bytes(1 << 20), ["the number of tensors", "got 1000000000000"]),
        (HEAD + struct.pack("<QQ", 0, TEN_TO_12) + bytes(1 << 20), ["the number of keys", "got 1000000000000"]),
        (HEAD + struct.pack("<QQQ", 0, 1, 1 << 63) + bytes(1 << 20), ["the name of a key", "got 1048608 bytes", "9223372036854775840 or more; is it cut short?"]),
        (HEAD + struct.pack("<QQ", 0, 1) + gguf_files.text("a") + struct.pack("<IQ", 8, (1 << 64) - 1), ["the value of 'a'", "got 45 bytes", "is it cut short?"]),
        (HEAD + struct.pack("<QQ", 0, 1) + gguf_files.text("a") + struct.pack("<I", 77), ["the value of 'a': kind", "got 77"]),
        (HEAD + struct.pack("<QQ", 0, 1) + gguf_files.text("a") + struct.pack("<IIQ", 9, 9, 1) + bytes(64), ["'a'", "a list of lists"]),
        (HEAD + struct.pack("<QQ", 0, 1) + gguf_files.text("a") + struct.pack("<IIQ", 9, 4, 1 << 62) + bytes(64), ["ends too early for the value of 'a', 4611686018427387904"]),
        (HEAD + struct.pack("<QQ", 0, 1) + gguf_files.text("a") + struct.pack("<IIQ", 9, 8, TEN_TO_12) + bytes(1 << 20), ["ends too early for the value of 'a', 1000000000000"]),
        (HEAD + struct.pack("<QQ", 0, 1) + gguf_files.text("a") + struct.pack("<IB", 7, 2), ["'a'", "0 or 1"]),
        (HEAD + struct.pack("<QQ", 0, 2) + gguf_files.entry("a", 1) * 2, ["key 'a'", "two of them"]),
        (HEAD + struct.pack("<QQ", 1, 0) + gguf_files.text("t") + struct.pack("<I", 5) + bytes(64), ["tensor 't': dimensions", "got 5", "1 to 4"]),
        (HEAD + struct.pack("<QQ", 1, 0) + gguf_files.text("t") + struct.pack("<IQIQ", 1, 0, 0, 0), ["tensor 't': length", "got 0"]),
        (HEAD + struct.pack("<QQ", 1, 0) + gguf_files.text("t") + struct.pack("<IQIQ", 1, 4, 5, 0), ["tensor 't': type", "got 5"]),
        (HEAD + struct.pack("<QQ", 1, 0) + gguf_files.text("t") + struct.pack("<IQIQ", 1, 4, 0, 8) + bytes(64), ["tensor 't': offset", "got 8", "32"]),
        (HEAD + struct.pack("<QQ", 1, 0) + gguf_files.text("t") + struct.pack("<IQIQ", 1, 400, 0, 0) + bytes(64), ["tensor 't'", "1600 bytes", "cut short"]),
        (HEAD + struct.pack("<QQ", 1, 0) + gguf_files.text("t") + struct.pack("<IQIQ", 1, 4, 0, 1 << 63) + bytes(64), ["tensor 't'", "cut short"]),
        (HEAD + struct.pack("<QQ", 2, 0) + (gguf_files.text("t") + struct.pack("<IQIQ", 1, 4, 0, 0)) * 2 + bytes(128), ["tensor 't': offset", "where 't' ends"]),
        (HEAD + struct.pack("<QQ", 2, 0) + gguf_files.text("t") + struct.pack("<IQIQ", 1, 4, 0, 0) + gguf_files.text("t") + struct.pack("<IQIQ", 1, 4, 0, 32)
         + bytes(128), ["tensor 't'", "two of them"]),
    ],
)
def test_a_header_that_promises_what_the_file_has_not_is_refused_at_once(tmp_path, data, says):
    (tmp_path / "hostile.gguf").write_bytes(data)
    assert_fails(run("run", SENTENCE, "--model", tmp_path / "hostile.gguf"), 65, "hostile.gguf", *says)


def test_a_file_that_is_cut_anywhere_is_refused(tmp_path, llama):
    whole = llama[1].read_bytes()
    for size in [*range(0, 400, 7), len(whole) // 2, len(whole) - 1]:
        (tmp_path / "cut.gguf").write_bytes(whole[:size])
        assert_fails(run("run", SENTENCE, "--model", tmp_path / "cut.gguf"), 65, "cut.gguf", "cut short?")
