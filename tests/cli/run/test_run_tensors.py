"""`run` with masks from files, and its results as tensors in files."""

import hashlib
import json

import pytest
from program import SENTENCE, assert_fails, run, succeeds
from tensors import close, load_safetensors, normal, numpy, save_safetensors

WORDS = 6


@pytest.fixture
def folder(tmp_path):
    seen = numpy.tril(numpy.ones((WORDS, WORDS), bool), 1)
    seen[3, 0] = False
    numpy.save(tmp_path / "mask.npy", seen)
    return tmp_path


def result(folder, *options):
    return succeeds("run", SENTENCE, "--json", *options, cwd=folder).json


def softmax(scores):
    powers = numpy.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


# ---- masks -----------------------------------------------------------------------------------------------------------


def test_a_boolean_mask_says_what_is_seen(folder):
    done = result(folder, "--mask", "mask.npy", "--show", "scaled_scores,masked_scores,weights")
    seen = numpy.load(folder / "mask.npy")
    scores = numpy.where(seen, numpy.array(done["scaled_scores"][0]), -numpy.inf)
    close(numpy.array(done["weights"][0]), softmax(scores))
    assert [[value is not None for value in row] for row in done["masked_scores"][0]] == seen.tolist()


def test_a_mask_of_numbers_is_added(folder):
    bias = normal(1, 2, WORDS, WORDS)
    bias[:, 2, 4] = -numpy.inf
    save_safetensors(folder / "m.safetensors", {"bias": bias, "other": bias})
    done = result(folder, "--mask", "m.safetensors:bias", "--heads", "2", "--show", "scaled_scores,masked_scores,weights")
    scores = numpy.array(done["scaled_scores"]) + bias
    close(numpy.array(done["weights"]), softmax(scores))
    assert [head[2][4] for head in done["masked_scores"]] == [None, None]


@pytest.mark.parametrize("shape", [(WORDS,), (1, WORDS), (WORDS, WORDS), (4, 1, WORDS), (1, WORDS, WORDS), (4, WORDS, WORDS), (WORDS, 1), (4, 1, 1), (1,)])
def test_masks_broadcast_from_the_right(folder, shape):
    bias = normal(2, *shape)
    numpy.save(folder / "m.npy", bias)
    done = result(folder, "--mask", "m.npy", "--heads", "4", "--show", "scaled_scores,weights")
    close(numpy.array(done["weights"]), softmax(numpy.array(done["scaled_scores"]) + bias))


def test_a_mask_of_one_column_hides_whole_rows(folder):
    rows = numpy.arange(WORDS)[:, None] % 2 == 0
    numpy.save(folder / "m.npy", rows)
    weights = numpy.array(result(folder, "--mask", "m.npy", "--show", "weights")["weights"][0])
    assert ((weights > 0) == rows.repeat(WORDS, 1)).all()
    recipe = succeeds("run", SENTENCE, "--mask", "m.npy", "--json", cwd=folder).json["config"]
    (folder / "r.json").write_text(json.dumps({**recipe, "attention": {"mask": {"values": rows.tolist()}}}))
    assert succeeds("run", "--recipe", "r.json", "--json", cwd=folder).json["weights"] == [weights.tolist()]
    assert "mask" in succeeds("explain", SENTENCE, "--query", "1", "--mask", "m.npy", cwd=folder).text


@pytest.mark.parametrize("shape", [(3,), (WORDS, 3), (WORDS, 0), (0,), (2, 1), (WORDS, WORDS + 1)])
def test_a_short_mask_is_refused(folder, shape):
    numpy.save(folder / "m.npy", numpy.ones(shape, bool))
    allowed = f"allowed: a shape that broadcasts to (1, {WORDS}, {WORDS})\n"
    assert_fails(run("run", SENTENCE, "--mask", "m.npy", cwd=folder), 65, "the mask: got the shape (", allowed.strip())


def test_a_mask_beyond_float32_is_refused(folder):
    bias = numpy.zeros((WORDS, WORDS))
    bias[1, 2] = 1e39
    numpy.save(folder / "m.npy", bias)
    why = "mask at (1, 2): got 1e+39, which is beyond float32; allowed: up to 3.4e38, or --dtype float64"
    assert_fails(run("run", SENTENCE, "--mask", "m.npy", cwd=folder), 65, why)
    succeeds("run", SENTENCE, "--mask", "m.npy", "--dtype", "float64", cwd=folder)
    recipe = succeeds("run", SENTENCE, "--json", cwd=folder).json["config"]
    (folder / "r.json").write_text(json.dumps({**recipe, "attention": {"mask": {"values": bias.tolist()}}}))
    assert_fails(run("run", "--recipe", "r.json", cwd=folder), 65, why)


def test_masks_combine_with_causal_and_windows(folder):
    done = result(folder, "--mask", "mask.npy", "--causal", "--window", "3,5", "--show", "weights")
    i, j = numpy.indices((WORDS, WORDS))
    seen = numpy.load(folder / "mask.npy") & (j <= i) & (j >= i - 3)
    assert ((numpy.array(done["weights"][0]) > 0) <= seen).all()
    close(numpy.array(done["weights"][0]).sum(-1), seen.any(-1))


def test_a_queried_row_is_that_of_the_full_run(folder):
    numpy.save(folder / "m.npy", normal(3, 2, WORDS, WORDS).astype(">f8"))
    options = ("--mask", "m.npy", "--heads", "2", "--show", "masked_scores,weights,context")
    full, rows = result(folder, *options), result(folder, *options, "--query", "short,5")
    assert rows["weights"] == [[head[2], head[5]] for head in full["weights"]]
    assert rows["masked_scores"] == [[head[2], head[5]] for head in full["masked_scores"]]
    assert rows["context"] == [full["context"][2], full["context"][5]]


def test_a_mask_counts_keys_of_the_second_sentence(folder):
    numpy.save(folder / "m.npy", numpy.arange(3) != 1)
    weights = numpy.array(result(folder, "--cross", "one two three", "--mask", "m.npy")["weights"][0])
    assert weights.shape == (WORDS, 3) and not weights[:, 1].any() and weights[:, [0, 2]].all(-1).any()


def test_the_config_names_the_mask_and_check_needs_the_same_file(folder):
    succeeds("run", SENTENCE, "--mask", "mask.npy", "--show", "all", "-o", "golden.json", cwd=folder)
    digest = hashlib.sha256((folder / "mask.npy").read_bytes()).hexdigest()
    config = json.loads((folder / "golden.json").read_text())["config"]
    assert config["attention"] == {"mask": {"file": "mask.npy", "sha256": digest}}
    assert succeeds("check", "golden.json", cwd=folder).text.endswith("golden.json: passed\n")
    numpy.save(folder / "mask.npy", ~numpy.load(folder / "mask.npy"))
    assert_fails(run("check", "golden.json", cwd=folder), 65)
    (folder / "mask.npy").unlink()
    assert_fails(run("check", "golden.json", cwd=folder), 66)


def test_a_result_with_a_mask_fits_the_schema(folder):
    jsonschema = pytest.importorskip("jsonschema")
    numpy.savez(folder / "m.npz", a=numpy.load(folder / "mask.npy"), b=numpy.zeros(3))
    done = result(folder, "--mask", "m.npz:a")
    assert done["config"]["attention"]["mask"]["name"] == "a"
    recipe = succeeds("schema", "recipe").json
    jsonschema.Draft202012Validator(recipe).validate(done["config"])


def test_a_recipe_may_name_a_mask_with_or_without_its_digest(folder):
    recipe = succeeds("run", SENTENCE, "--mask", "mask.npy", "--json", cwd=folder).json["config"]
    wanted = result(folder, "--mask", "mask.npy")
    for attention in (recipe["attention"], {"mask": {"file": "mask.npy"}}):
        (folder / "r.json").write_text(json.dumps({**recipe, "attention": attention}))
        assert succeeds("run", "--recipe", "r.json", "--json", cwd=folder).json == wanted
    wrong = {"mask": {"file": "mask.npy", "sha256": "0" * 64}}
    (folder / "r.json").write_text(json.dumps({**recipe, "attention": wrong}))
    assert_fails(run("run", "--recipe", "r.json", cwd=folder), 65)
    numpy.save(folder / "other.npy", numpy.zeros(WORDS))
    done = succeeds("run", "--recipe", "r.json", "--mask", "other.npy", "--json", cwd=folder).json
    assert done["config"]["attention"]["mask"]["file"] == "other.npy"
    for text in ("0" * 63, "G" * 64, "A" * 64, ""):
        (folder / "r.json").write_text(json.dumps({**recipe, "attention": {"mask": {"file": "mask.npy", "sha256": text}}}))
        assert_fails(run("run", "--recipe", "r.json", cwd=folder), 65)


def test_each_line_meets_the_mask_by_itself(folder):
    numpy.save(folder / "m.npy", numpy.ones((3, 3), bool))
    done = run("run", "--lines", "-", "--mask", "m.npy", "--json", stdin="a b c\na b\nc b a\n", cwd=folder)
    assert (done.code, done.err) == (65, b"")
    assert ["error" in line for line in done.json_lines] == [False, True, False]
    assert "the mask" in done.json_lines[1]["error"]["message"]


# ---- results as tensors ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [(), ("--heads", "4", "--kv-heads", "2", "--causal"), ("--cross", "and more words", "--softcap", "3"),
                                     ("--dtype", "float64", "--query", "is,0"), ("--mask", "mask.npy", "--init", "linear")])
@pytest.mark.parametrize("format", ["npz", "safetensors"])
def test_files_hold_the_arrays_of_the_json(folder, format, options):
    stated = result(folder, "--show", "all", *options)
    done = succeeds("run", SENTENCE, "--show", "all", *options, "-o", f"x.{format}", cwd=folder)
    assert done.out == b""
    if format == "npz":
        with numpy.load(folder / "x.npz", allow_pickle=False) as archive:
            arrays = dict(archive)
    else:
        arrays, metadata = load_safetensors(folder / "x.safetensors")
        assert metadata["schema"] == "attn-cli/result/1" and json.loads(metadata["config"]) == stated["config"]
    parameters = stated.pop("parameters")
    words = {"schema", "config", "tokens", "key_tokens", "vocabulary", "warnings"}
    expected = {name: value for name, value in (parameters | stated).items() if name not in words}
    assert set(arrays) == set(expected)
    dtype = "float64" if "float64" in options else "float32"
    for name, value in expected.items():
        kind = "int64" if name in ("token_ids", "key_token_ids", "query_positions") else dtype
        value = numpy.array(value, dtype="float64")
        value[numpy.isnan(value)] = -numpy.inf  # null: a masked score
        assert arrays[name].dtype == kind and numpy.array_equal(arrays[name], value.astype(kind)), name


def test_pytorch_loads_what_was_drawn(folder):
    torch = pytest.importorskip("torch")
    torch.manual_seed(123)
    embedding, W_q = torch.nn.Embedding(6, 16).weight, torch.rand(24, 16)
    succeeds("run", SENTENCE, "--show", "parameters,token_ids", "-o", "p.npz", cwd=folder)
    with numpy.load(folder / "p.npz") as archive:
        assert archive.files == ["token_ids", "embedding", "W_q", "W_k", "W_v"]
        assert torch.equal(torch.from_numpy(archive["embedding"]), embedding.detach())
        assert torch.equal(torch.from_numpy(archive["W_q"]), W_q)


def test_attend_continues_from_what_run_wrote(folder):
    succeeds("run", SENTENCE, "--heads", "2", "--causal", "--show", "all", "-o", "x.safetensors", cwd=folder)
    names = ("-q", "x.safetensors:queries", "-k", "x.safetensors:keys", "-v", "x.safetensors:values", "--causal")
    succeeds("attend", *names, "-o", "y.npy", cwd=folder)
    close(numpy.load(folder / "y.npy"), load_safetensors(folder / "x.safetensors")[0]["head_context"])


def test_words_alone_are_no_tensors(folder):
    assert_fails(run("run", SENTENCE, "--show", "tokens,vocabulary", "-o", "x.npz", cwd=folder), 2)
    assert not (folder / "x.npz").exists()


def test_a_file_of_tensors_holds_one_result(folder):
    assert_fails(run("run", "--lines", "-", "-o", "x.npz", cwd=folder, stdin="a b"), 2)


def test_the_same_result_gives_the_same_bytes(folder):
    for format in ("npz", "safetensors"):
        first = succeeds("run", SENTENCE, "--format", format, cwd=folder).out
        assert succeeds("run", SENTENCE, "--format", format, "--threads", "3", cwd=folder).out == first


def test_a_damaged_mask_fails_for_every_line(tmp_path):
    numpy.savez_compressed(tmp_path / "m.npz", numpy.zeros((3, 3), "float32"))
    content = bytearray((tmp_path / "m.npz").read_bytes())
    content[14] ^= 1  # the CRC-32, in the local header and in the directory
    content[content.find(b"PK\x01\x02") + 16] ^= 1
    (tmp_path / "m.npz").write_bytes(content)
    for threads in "1", "2":
        done = run("run", "--lines", "-", "--json", "--mask", "m.npz", "--threads", threads, stdin="a b c\n" * 200, cwd=tmp_path)
        assert done.code == 65 and len(done.json_lines) == 200
        assert all("CRC-32" in line["error"]["message"] for line in done.json_lines)
