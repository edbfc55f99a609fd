"""`run --model` of a model with an encoder and a decoder: its three attentions, and what there is only of such a model."""

import json
import shutil

import jsonschema
import pytest
import sentencepiece_files
import tiny_encoder_decoders
import tiny_models
from model_results import near
from pictures import parse, texts
from program import assert_fails, run, succeeds
from tensors import load_safetensors, numpy

SOURCE, TARGET = "the cat sat on the mat", "it sat a dog"
MAKERS = [getattr(tiny_encoder_decoders, name) for name in ("marian", "bart", "t5", "flan_t5")]
PARTS = ("encoder", "decoder", "cross")


@pytest.fixture(scope="module", params=MAKERS, ids=lambda make: make.__name__)
def model(request, tmp_path_factory):
    return request.param(tmp_path_factory.mktemp("models") / request.param.__name__, seed=1)


@pytest.fixture(scope="module")
def marian(tmp_path_factory):
    return tiny_encoder_decoders.marian(tmp_path_factory.mktemp("models") / "marian", seed=2)


def arguments(folder, *options, source=SOURCE, target=TARGET):
    return ("run", source, "--model", f"{folder}/", *(("--target", target) if target else ()), *options)


def result(folder, *options, **texts_of):
    return succeeds(*arguments(folder, "--json", *options, **texts_of)).json


# ---- numbers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_every_attention_and_the_logits_are_those_of_the_plain_way(tmp_path, make, seed):
    folder, forward = make(tmp_path / "model", seed)
    source = "the cat sat on the mat it sat on a dog the cat sat on the mat and a dog sat on it the cat sat"
    target = "it sat a dog on the mat the cat sat on a mat on the mat"
    cross = result(folder, "--layer", "all", source=source, target=target)
    wanted = forward(cross["key_token_ids"], cross["token_ids"])
    for part in PARTS:
        states = ["--show", "all"] if part != "cross" else []
        done = result(folder, "--part", part, "--layer", "all", *states, source=source, target=target if part != "encoder" else None)
        assert [(layer["layer"], layer["part"]) for layer in done["layers"]] == [(n, part) for n in range(len(wanted[part]))]
        for n, layer in enumerate(done["layers"]):
            near(layer["weights"], wanted[part][n])
            if states:
                near(layer["embeddings"], wanted[part + "_states"][n])
                near(layer["hidden_states"], wanted[part + "_states"][n + 1])
    near(result(folder, "--show", "logits", source=source, target=target)["logits"], wanted["logits"])


@pytest.mark.parametrize("changed", [{"scale_embedding": False}, {"activation_function": "gelu"}])
def test_a_config_that_says_something_else_changes_the_numbers(tmp_path, changed):
    folder, _ = tiny_encoder_decoders.marian(tmp_path / "other", 1, **changed)
    _, forward = tiny_encoder_decoders.marian(tmp_path / "usual", 1)
    done = result(folder, "--layer", "2")
    wanted = forward(done["key_token_ids"], done["token_ids"])["cross"][2]
    assert numpy.abs(numpy.asarray(done["layers"][0]["weights"]) - wanted).max() > 2e-3


def test_each_side_may_have_words_of_its_own(tmp_path):
    folder, forward = tiny_encoder_decoders.marian(tmp_path / "model", 3, share_encoder_decoder_embeddings=False, decoder_vocab_size=len(tiny_models.WORDS))
    done = result(folder, "--layer", "all", "--show", "all")
    wanted = forward(done["key_token_ids"], done["token_ids"])
    for n, layer in enumerate(done["layers"]):
        near(layer["weights"], wanted["cross"][n])


def test_what_the_decoder_is_given_begins_with_its_start_and_ends_before_the_end(model):
    folder = model[0]
    done = result(folder, "--layer", "0", source="the cat", target="a dog")
    bart = folder.name == "bart"
    assert done["key_tokens"] == ([*["[CLS]"] * bart, "the", "cat", "[SEP]"])
    assert done["tokens"] == (["[SEP]", "[CLS]", "a", "dog"] if bart else ["[PAD]", "a", "dog"])
    assert done["config"]["input"]["sentence"] == "the cat" and done["config"]["target"] == "a dog"
    assert numpy.shape(done["layers"][0]["weights"])[1:] == (len(done["tokens"]), len(done["key_tokens"]))


def test_the_encoder_alone_needs_no_target(model):
    done = result(model[0], "--part", "encoder", "--layer", "1", target=None)
    assert "key_tokens" not in done and done["tokens"][-1] == "[SEP]"
    assert {"target", "target_greedy"}.isdisjoint(done["config"])


def test_ids_are_the_source(marian):
    by_ids = succeeds("run", "--ids", "5,6,2", "--model", f"{marian[0]}/", "--target", TARGET, "--layer", "1", "--json").json
    assert by_ids["layers"] == result(marian[0], "--layer", "1", source="the cat")["layers"]


# ---- several parts ---------------------------------------------------------------------------------------------------


def test_several_parts_are_what_each_is_alone(model):
    folder = model[0]
    items = ["tokens", "weights", "hidden_states", "queries", "summary", "masked_scores", "alignment"]
    done = result(folder, "--part", "cross,encoder,decoder", "--layer", "all", "--show", ",".join(items))
    assert [(layer["part"], layer["layer"]) for layer in done["layers"]] == [(part, n) for part in PARTS for n in range(2 if part == "encoder" else 3)]
    assert (done["tokens"], done["key_tokens"]) == tuple(result(folder, "--layer", "0")[name] for name in ("tokens", "key_tokens"))
    has_bias = "t5" in folder.name  # and so masked_scores of its encoder, too
    for part in PARTS:
        lost = {"encoder": ["alignment"] + [] if has_bias else ["alignment", "masked_scores"], "decoder": ["alignment"], "cross": ["hidden_states", "masked_scores"]}[part]
        alone = result(folder, "--part", part, "--layer", "all", "--show", ",".join(name for name in items if name not in lost), target=None if part == "encoder" else TARGET)
        assert [layer for layer in done["layers"] if layer["part"] == part] == alone["layers"]
    jsonschema.validate(done, succeeds("schema", "result").json)
    assert result(folder, "--part", "encoder", "--part", "cross,decoder", "--layer", "all", "--show", ",".join(items)) == done


def test_several_parts_in_every_format(marian, tmp_path):
    parts = ("--part", "encoder,decoder,cross", "--layer", "0")
    rows = succeeds(*arguments(marian[0], *parts, "--show", "weights", "--format", "csv")).text.splitlines()
    for start in ("weights,encoder.0,0,0,0,the,the,", "weights,encoder.0,1,6,5,[SEP],mat,", "weights,decoder.0,0,1,0,it,[PAD],", "weights,cross.0,3,4,6,dog,[SEP],"):
        assert sum(row.startswith(start) for row in rows) == 1
    table = succeeds(*arguments(marian[0], *parts)).text
    assert [line for line in table.splitlines() if line.endswith("layer 0")] == ["encoder layer 0", "decoder layer 0", "cross layer 0"]
    means = [line for line in succeeds(*arguments(marian[0], "--part", "encoder,decoder,cross")).text.splitlines() if line.startswith("summary")]
    assert [line.split(" (")[0] for line in means] == ["summary of encoder", "summary of decoder", "summary of cross"]
    assert ["7 rows" in line for line in means] == [True, False, False]
    path = tmp_path / "out.npz"
    succeeds(*arguments(marian[0], *parts, "-o", path))
    shapes = {name: array.shape for name, array in numpy.load(path).items()}
    assert shapes == {"token_ids": (5,), "key_token_ids": (7,), "encoder.layers.0.weights": (2, 7, 7), "decoder.layers.0.weights": (4, 5, 5),
                      "cross.layers.0.weights": (4, 5, 7)}


def test_a_saved_result_of_several_parts_is_checked_and_compared(model, tmp_path):
    path, other = tmp_path / "saved.json", tmp_path / "other.json"
    saved = result(model[0], "--part", "encoder,decoder,cross", "--layer", "0,1", "--show", "weights,hidden_states,summary,alignment")
    path.write_text(json.dumps(saved))
    assert succeeds("check", path).text.endswith("passed\n")
    assert_fails(run("plot", path, "--layer", "0", "--format", "svg"), 65, "parts", "a result of one part")
    saved["layers"][5]["weights"][0][0][0] += 0.01
    other.write_text(json.dumps(saved))
    assert "cross layer 1: weights" in run("check", other).text
    assert "cross.layers.1.weights" in run("compare", path, other).text
    saved["layers"].reverse()
    other.write_text(json.dumps(saved))
    assert_fails(run("check", other), 65, "ascending layers")


# ---- what the decoder itself writes ----------------------------------------------------------------------------------


def written(forward, source, start, most, forced=None, never=(), end=2):
    target = [start]
    while len(target) <= most:
        scores = forward(source, target)["logits"][-1].copy()
        scores[list(never)] = -numpy.inf
        best = forced if forced is not None and len(target) == 1 else int(scores.argmax())
        if best == end:
            break
        target.append(best)
    return target


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_greedy_decoding_takes_the_likeliest_token_each_time(tmp_path, make, seed):
    folder, forward = make(tmp_path / "model", seed)
    done = result(folder, "--target-greedy", "20", "--part", "decoder", "--layer", "0", "--show", "logits,token_ids,weights", target=None)
    source = result(folder, "--part", "encoder", "--layer", "0", target=None)["token_ids"]
    bart, marian = folder.name == "model" and make is tiny_encoder_decoders.bart, make is tiny_encoder_decoders.marian
    wanted = written(forward, source, 2 if bart else 0, 20, forced=1 if bart else None, never=[0] if marian else [])
    assert done["token_ids"] == wanted
    assert done["config"]["target_greedy"] == 20 and "target" not in done["config"]
    near(done["logits"], forward(source, wanted)["logits"])
    assert [place["position"] for place in done["likeliest"]] == [len(wanted) - 1]


def test_rules_of_generation_config_come_before_those_of_config(tmp_path):
    folder, forward = tiny_encoder_decoders.bart(tmp_path / "bart", 1)
    source = result(folder, "--part", "encoder", "--layer", "0", target=None)["token_ids"]
    (folder / "generation_config.json").write_text(json.dumps({"forced_bos_token_id": 9, "bad_words_ids": [[5], [6], [7, 8]], "eos_token_id": 13, "num_beams": 4}))
    done = result(folder, "--target-greedy", "6", "--part", "decoder", "--layer", "0", target=None)
    assert done["token_ids"] == written(forward, source, 2, 6, forced=9, never=[5, 6], end=13)
    (folder / "generation_config.json").write_text(json.dumps({"forced_bos_token_id": 99}))
    assert_fails(run(*arguments(folder, "--target-greedy", "6", target=None)), 65, "forced_bos_token_id", "99", "0 to 13")
    (folder / "generation_config.json").write_text("[]")
    assert_fails(run(*arguments(folder, "--target-greedy", "6", target=None)), 65, "generation_config.json")


def test_a_token_that_is_forbidden_is_not_written_unless_it_is_the_end(tmp_path):
    folder, forward = tiny_encoder_decoders.marian(tmp_path / "marian", 2)
    options = ("--target-greedy", "6", "--part", "decoder", "--layer", "0")
    usual = result(folder, *options, target=None)["token_ids"]
    source = result(folder, "--part", "encoder", "--layer", "0", target=None)["token_ids"]
    for bad in ([usual[1]], [usual[1], 7]):
        rules = {"bad_words_ids": [[each] for each in [*bad, 2]] + [[9, 10]], "eos_token_id": 2}
        (folder / "generation_config.json").write_text(json.dumps(rules))
        done = result(folder, *options, target=None)["token_ids"]
        assert done == written(forward, source, 0, 6, never=bad) != usual


def test_a_target_that_positions_end_says_so(tmp_path):
    folder, _ = tiny_encoder_decoders.marian(tmp_path / "marian", 2)
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": 99}))  # which it never writes
    says = "--target-greedy 32: the decoder wrote 31 tokens and has positions for no more, 32 with its start"
    done = run(*arguments(folder, "--target-greedy", "32", target=None))
    assert (done.code, done.message) == (0, f"attn-cli: warning: {says}\n")
    whole = result(folder, "--target-greedy", "32", target=None)
    assert len(whole["tokens"]) == 32 and whole["warnings"] == [says]
    asked = result(folder, "--target-greedy", "31", target=None)
    assert asked["tokens"] == whole["tokens"] and asked["warnings"] == []
    saved = tmp_path / "saved.json"
    saved.write_text(json.dumps(whole))
    assert succeeds("check", saved).text.endswith("passed\n")
    (folder / "generation_config.json").write_text(json.dumps({"forced_bos_token_id": 2}))  # which is its end
    assert succeeds(*arguments(folder, "--target-greedy", "32", target=None)).text


# ---- alignment -------------------------------------------------------------------------------------------------------


def test_alignment_is_the_strongest_source_piece_of_each_target_piece(model):
    folder, forward = model
    done = result(folder, "--show", "alignment")
    whole = result(folder, "--layer", "2")
    weights = forward(whole["key_token_ids"], whole["token_ids"])["cross"][2]
    assert [layer["layer"] for layer in done["layers"]] == [2]
    assert done["layers"][0]["alignment"] == list(weights.mean(0).argmax(-1))
    one = result(folder, "--show", "alignment", "--layer", "0,1", "--head", "1")
    assert one["layers"][1]["alignment"] == list(forward(whole["key_token_ids"], whole["token_ids"])["cross"][1][1].argmax(-1))
    assert "weights" not in done["layers"][0]


def test_alignment_in_every_format(marian, tmp_path):
    done = result(marian[0], "--show", "tokens,alignment")
    words, keys, places = done["tokens"], done["key_tokens"], done["layers"][0]["alignment"]
    named = [key + (f"[{place}]" if keys.count(key) > 1 else "") for place in places for key in [keys[place]]]
    table = succeeds(*arguments(marian[0], "--show", "alignment")).text
    assert [line.split(" → ") for line in table.splitlines()[-len(words):]] == [[word.ljust(max(map(len, words))), key] for word, key in zip(words, named)]
    rows = succeeds(*arguments(marian[0], "--show", "alignment", "--format", "csv")).text.splitlines()
    assert rows[1:] == [f"alignment,cross.2,,{i},,{word},{keys[place]},{place}" for i, (word, place) in enumerate(zip(words, places))]
    path = tmp_path / "out.safetensors"
    succeeds(*arguments(marian[0], "--show", "alignment", "-o", path))
    assert list(load_safetensors(path)[0]["cross.layers.2.alignment"]) == places


def test_alignment_of_words(marian):
    options = ("--layer", "1", "--set", "join=words")
    done = result(marian[0], *options, source="the cats sat", target="a dog")
    assert (done["tokens"], done["key_tokens"]) == (["[PAD]", "a", "dog"], ["the", "cats", "sat", "[SEP]"])
    near(numpy.sum(done["layers"][0]["weights"], -1), numpy.ones((4, 3)), 1e-6)
    aligned = result(marian[0], *options, "--show", "alignment", source="the cats sat", target="a dog")["layers"][0]["alignment"]
    assert aligned == list(numpy.mean(done["layers"][0]["weights"], 0).argmax(-1))


# ---- reports ---------------------------------------------------------------------------------------------------------


def test_results_are_what_the_schema_says(model):
    schema = succeeds("schema", "result").json
    for options in [(), ("--layer", "all", "--show", "all"), ("--show", "summary,alignment,logits", "--head", "1", "--query", "1"),
                    ("--part", "decoder", "--layer", "all", "--show", "lens")]:
        jsonschema.validate(result(model[0], *options), schema)
    jsonschema.validate(result(model[0], "--part", "encoder", "--layer", "all", "--show", "all", target=None), schema)
    jsonschema.validate(result(model[0], "--target-greedy", "3", target=None), schema)


def test_without_a_layer_it_sums_up_all_heads_of_the_part(marian):
    summary = result(marian[0])["layers"]
    assert [(layer["layer"], layer["part"], len(layer["summary"]["heads"])) for layer in summary] == [(n, "cross", 4) for n in range(3)]
    assert set(summary[0]["summary"]["heads"][0]) == {"entropy", "first", "pairs"}  # no neighbours among the words of another sentence
    own = result(marian[0], "--part", "decoder")["layers"][0]["summary"]["heads"][0]
    assert "previous" in own
    table = succeeds(*arguments(marian[0])).text.splitlines()
    assert table[0].startswith("ids      [PAD] 0, it 11") and table[1].startswith("key ids  the 5, cat 6")


def test_tables_csv_and_tensors_have_both_sentences(marian, tmp_path):
    table = succeeds(*arguments(marian[0], "--layer", "2", "--head", "0", "--show", "weights")).text.splitlines()
    assert table[0] == "cross layer 2"
    assert table[3].split() == [*SOURCE.split(), "[SEP]"] and [line.split()[0] for line in table[4:]] == ["[PAD]", *TARGET.split()]
    rows = succeeds(*arguments(marian[0], "--layer", "2", "--head", "0", "--query", "dog", "--format", "csv")).text.splitlines()
    assert rows[-1].startswith("weights,cross.2,0,4,6,dog,[SEP],")
    path = tmp_path / "out.safetensors"
    succeeds(*arguments(marian[0], "--layer", "0,2", "-o", path))
    arrays, metadata = load_safetensors(path)
    assert sorted(arrays) == ["cross.layers.0.weights", "cross.layers.2.weights", "key_token_ids", "token_ids"]
    assert arrays["cross.layers.2.weights"].shape == (4, 5, 7) and json.loads(metadata["config"])["parts"] == ["cross"]


def test_pictures_have_targets_as_rows_and_sources_as_columns(marian):
    one = texts(parse(succeeds(*arguments(marian[0], "--layer", "1", "--head", "0", "--format", "svg")).out))
    assert {"weights of cross layer 1", *TARGET.split(), *SOURCE.split()} <= {text.split(",")[0] for text in one} | set(one)
    grid = texts(parse(succeeds(*arguments(marian[0], "--format", "svg")).out))
    assert [text for text in grid if text.startswith("cross layer")] == ["cross layer 0", "cross layer 1", "cross layer 2"]
    arcs = succeeds(*arguments(marian[0], "--layer", "1", "--head", "0", "--format", "svg", "--plot", "arcs"))
    assert set(TARGET.split()) <= set(texts(parse(arcs.out)))


@pytest.mark.parametrize("words, options, message", [
    (9000, ("--target", "it", "--layer", "0"), "2 × 9001 cells; allowed: up to 8192 rows and as many columns; the strongest lines"),
    (3000, ("--part", "encoder"), "18012002 cells (2, 3001, 3001); allowed: up to 16777216"),
])
def test_a_picture_that_is_too_large_is_refused_before_a_layer_is_computed(tmp_path, words, options, message):
    folder, _ = tiny_encoder_decoders.marian(tmp_path / "marian", 1, max_position_embeddings=10000)
    done = run("run", "-", "--model", f"{folder}/", *options, "--verbose", "-o", tmp_path / "a.svg", stdin="the " * words)
    assert_fails(done, 71, f"picture: got {message}")  # and no stage


def test_a_page_has_both_sentences(marian, tmp_path):
    path = tmp_path / "page.html"
    succeeds(*arguments(marian[0], "-o", path))
    inside = json.loads(path.read_text().split('id="result">')[1].split("</script>")[0])
    assert inside["tokens"] == ["[PAD]", *TARGET.split()] and inside["key_tokens"] == [*SOURCE.split(), "[SEP]"]
    assert [layer["part"] for layer in inside["layers"]] == ["cross"] * 3
    assert numpy.shape(inside["layers"][0]["keys"]) == (4, 7, 2) and numpy.shape(inside["layers"][0]["queries"]) == (4, 5, 2)


# ---- saved results ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [("--layer", "all", "--show", "all"), ("--show", "alignment,summary"), ("--show", "logits"),
                                     ("--part", "decoder", "--layer", "1", "--show", "all", "--query", "sat"), ("--part", "decoder", "--layer", "2", "--show", "lens")])
def test_check_computes_a_saved_result_again(model, tmp_path, options):
    path = tmp_path / "saved.json"
    saved = result(model[0], *options)
    path.write_text(json.dumps(saved))
    assert succeeds("check", path).text.endswith("passed\n")
    path.write_text(json.dumps(saved | {"config": saved["config"] | {"target": "it sat a cat"}}))
    assert run("check", path).code == 1


def test_check_sees_a_part_a_greedy_target_and_a_number_that_are_others(marian, tmp_path):
    path = tmp_path / "saved.json"
    path.write_text(json.dumps(result(marian[0], "--target-greedy", "4", "--layer", "1", target=None)))
    assert succeeds("check", path).text.endswith("passed\n")
    saved = result(marian[0], "--layer", "1")
    path.write_text(json.dumps(saved | {"layers": [saved["layers"][0] | {"part": "decoder"}]}))
    assert "decoder layer 1: this run does not have it" in run("check", path).text
    saved["layers"][0]["weights"][0][0][0] += 0.001
    path.write_text(json.dumps(saved))
    assert "weights" in run("check", path).text
    encoder = result(marian[0], "--part", "encoder", "--layer", "1", target=None)
    path.write_text(json.dumps(encoder))
    assert succeeds("check", path).text.endswith("passed\n")


def test_plot_draws_a_saved_result(marian, tmp_path):
    path = tmp_path / "saved.json"
    path.write_text(json.dumps(result(marian[0], "--layer", "0,2")))
    drawn = succeeds("plot", path, "--layer", "2", "--head", "1", "--format", "svg").out
    assert drawn == succeeds(*arguments(marian[0], "--layer", "2", "--head", "1", "--format", "svg")).out


def test_attentions_of_another_program_are_judged(model, tmp_path):
    folder, forward = model
    cross = result(folder, "--layer", "0")
    wanted = forward(cross["key_token_ids"], cross["token_ids"])
    for part in PARTS:
        numpy.save(tmp_path / "theirs.npy", numpy.stack(wanted[part])[:, None].astype("float32"))
        options = ("--part", part, "--layer", "all", "--atol", "5e-5", "--against", tmp_path / "theirs.npy")
        target = None if part == "encoder" else TARGET
        assert run(*arguments(folder, *options, target=target)).code == 0
    numpy.save(tmp_path / "theirs.npy", numpy.stack(wanted["cross"])[:, :, ::-1].astype("float32"))
    assert run(*arguments(folder, "--layer", "all", "--against", tmp_path / "theirs.npy")).code == 1


# ---- a tokenizer for each side ----------------------------------------------------------------------------------------


def test_marians_two_models_of_sentencepiece_have_the_ids_of_one_vocabulary(tmp_path):
    folder, forward = tiny_encoder_decoders.marian(tmp_path / "marian", 3)
    (folder / "tokenizer.json").unlink()
    unknown = [("<unk>", 0, sentencepiece_files.UNKNOWN)]
    sides = {"source": [("▁the", -1), ("▁cat", -1)], "target": [("▁it", -1), ("▁", -2), ("sat", -1)]}
    for side, pieces in sides.items():
        (folder / f"{side}.spm").write_bytes(sentencepiece_files.model(unknown + pieces, sentencepiece_files.UNIGRAM))
    known = {"▁the": 5, "▁cat": 6, "▁it": 9, "sat": 7, "</s>": 2, "<unk>": 1}
    (folder / "vocab.json").write_text(json.dumps(known))
    done = result(folder, "--layer", "all", source="the cat dog", target="it sat cat")
    assert done["key_token_ids"] == [5, 6, 1, 2] and done["key_tokens"][:2] == [" the", " cat"]
    start = done["token_ids"][0]
    assert done["token_ids"][1:3] == [9, 1] and 6 not in done["token_ids"]  # the target's model has no cat, and "▁" no id
    wanted = forward(done["key_token_ids"], [start, *done["token_ids"][1:]])
    for layer in done["layers"]:
        near(layer["weights"], wanted["cross"][layer["layer"]])
    (folder / "target.spm").unlink()
    assert_fails(run(*arguments(folder)), 66, "no 'target.spm'")


# ---- lines -----------------------------------------------------------------------------------------------------------


def test_a_line_is_a_source_and_its_target(marian):
    done = run("run", "--lines", "-", "--model", f"{marian[0]}/", "--layer", "1", "--json", stdin="the cat\ta dog\nthe cat\nit\tsat\ta\nit\tsat\n")
    assert done.code == 65
    first, without, several, last = done.json_lines
    assert first["layers"] == result(marian[0], "--layer", "1", source="the cat", target="a dog")["layers"]
    assert "no tab in it" in without["error"]["message"] and "several tabs" in several["error"]["message"]
    assert last["config"]["target"] == "sat"
    greedy = run("run", "--lines", "-", "--model", f"{marian[0]}/", "--target-greedy", "3", "--layer", "1", "--json", stdin="the cat\n")
    assert greedy.json["layers"] == result(marian[0], "--target-greedy", "3", "--layer", "1", source="the cat", target=None)["layers"]


def test_lines_without_targets_are_one_error(marian):
    model = ("--model", f"{marian[0]}/")
    for options in ((), ("--json",), ("--part", "decoder")):
        done = run("run", "--lines", "-", *model, *options, stdin="\nthe cat\nit sat\n")
        assert_fails(done, 65, "--lines: got no tab in the first line", "in each line a sentence, one tab and its target", "--target-greedy N or --part encoder")
    for options in (("--target-greedy", "2"), ("--part", "encoder")):
        assert len(succeeds("run", "--lines", "-", *model, "--json", *options, stdin="the cat\nit sat\n").json_lines) == 2
    assert_fails(run("run", "--lines", "-", *model, stdin="the cat"), 65, "line 1: line: got no tab in it")


def test_a_vector_for_each_line_is_the_encoders(marian, tmp_path):
    path = tmp_path / "vectors.npy"
    succeeds("run", "--lines", "-", "--model", f"{marian[0]}/", "--part", "encoder", "--layer", "last", "--pool", "mean", "-o", path, stdin="the cat\nit sat on a mat\n")
    states = marian[1]([5, 6, 2], [0])["encoder_states"][-1]
    near(numpy.load(path)[0], states.mean(0))


# ---- errors ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options, code, words", [
    ((), 2, ["marian: no target for its decoder", "--target TEXT", "--target-greedy N", "--part encoder"]),
    (("--part", "decoder"), 2, ["no target for its decoder"]),
    (("--part", "encoder", "--target", "it"), 2, ["--target: the encoder does not see the target", "--part decoder or cross"]),
    (("--part", "encoder", "--target-greedy", "3"), 2, ["--target-greedy: the encoder does not see the target"]),
    (("--part", "encoders"), 2, ["--part", "encoders", "encoder, decoder, cross"]),
    (("--target", "it", "--target-greedy", "3"), 2, ["--target", "--target-greedy"]),
    (("--target-greedy", "0"), 2, ["--target-greedy", "1 to 100000"]),
    (("--target", " "), 65, ["no words in the target"]),
    (("--target", "it", "--layer", "3"), 2, ["--layer", "0 to 2 with --part cross"]),
    (("--part", "encoder", "--layer", "2"), 2, ["--layer", "0 to 1 with --part encoder"]),
    (("--target", "it", "--layer", "0", "--head", "4"), 2, ["--head", "0 to 3 with --part cross"]),
    (("--part", "encoder", "--layer", "0", "--head", "2"), 2, ["--head", "0 to 1 with --part encoder"]),
    (("--target", "it", "--pool", "mean"), 2, ["--pool: cross-attention has no hidden states", "--part encoder or decoder"]),
    (("--target", "it", "--show", "hidden_states", "--layer", "0"), 2, ["hidden_states", "what --part cross gives: tokens"]),
    (("--target", "it", "--show", "lens", "--layer", "0"), 2, ["lens", "what --part cross gives: tokens"]),
    (("--part", "encoder", "--show", "logits"), 2, ["logits", "what --part encoder gives: tokens"]),
    (("--part", "encoder", "--show", "alignment"), 2, ["alignment", "what --part encoder gives: tokens"]),
    (("--part", "decoder", "--target", "it", "--show", "alignment"), 2, ["alignment", "what --part decoder gives: tokens"]),
    (("--target", "it", "--set", "input.pair=a dog"), 2, ["--set input.pair", "reads one sentence"]),
    (("--target-greedy", "3", "--set", "join=words", "--layer", "0"), 2, ["--target-greedy", "join=words"]),
    (("--target", "it", "--show", "offsets", "--target-greedy", "3"), 2, ["--target"]),
    (("--target-greedy", "3", "--show", "offsets", "--layer", "0"), 2, ["offsets", "what --part cross gives: tokens"]),
    (("--target", "it", "--part", "encoder,cross", "--show", "lens", "--layer", "0"), 2, ["lens", "what --part encoder,cross gives: tokens"]),
    (("--target", "it " * 40), 65, ["tokens of the target: got 41", "1 to 32"]),
    (("--target", b"it \xff"), 65, ["the target: got byte 0xff at offset 3"]),
    (("--target", "it", "--query", "the"), 2, ["--query", "the", "a word of the target ('[PAD]', 'it')"]),
    (("--part", "encoder", "--query", "it"), 2, ["--query", "it", "a word of the sentence ('the', 'cat', '[SEP]')"]),
    (("--target", "it", "--part", "encoder,cross", "--query", "it"), 2, ["--query", "other words", "--part without encoder"]),
    (("--target", "it", "--part", "encoder,cross", "--format", "svg"), 2, ["--part", "several", "one in a picture or a page"]),
    (("--target", "it", "--part", "encoder,cross", "--format", "html"), 2, ["--part", "several", "one in a picture or a page"]),
    (("--target", "it", "--part", "encoder,cross", "--against", "none.npy"), 2, ["--part", "several", "one with --against"]),
    (("--target", "it", "--part", "encoder,cross", "--layer", "last"), 2, ["--layer", "the encoder has 2 layers and the decoder 3"]),
    (("--target", "it", "--part", "encoder,cross", "--layer", "2"), 2, ["--layer", "0 to 1 with --part encoder"]),
    (("--target", "it", "--part", "encoder,cross", "--layer", "0", "--head", "3"), 2, ["--head", "0 to 1 with --part encoder"]),
])
def test_what_makes_no_sense_is_refused(marian, options, code, words):
    assert_fails(run("run", "the cat", "--model", f"{marian[0]}/", *options), code, *words)


@pytest.mark.parametrize("options", [("--target", "it"), ("--target-greedy", "3"), ("--part", "encoder")])
def test_what_is_wrong_with_the_sentence_is_not_taken_for_the_targets(marian, options):
    model = ("--model", f"{marian[0]}/", *options)
    assert_fails(run("run", "the " * 40, *model), 65, "tokens of the sentence: got 41; allowed: 1 to 32, for which this model has positions")
    assert_fails(run("run", "--ids", "5,99", *model), 65, "token id of the sentence: got 99; allowed: 0 to 13, the rows of the encoder's embedding")
    assert_fails(run("run", " ", *model), 65, "no words in the sentence; allowed: at least one")
    assert_fails(run("run", b"the \xff", *model), 65, "the sentence: got byte 0xff at offset 4")


def test_a_target_needs_a_model_with_a_decoder(tmp_path):
    folder, _ = tiny_models.bert(tmp_path / "bert")
    for options, name in ((("--target", "it"), "--target"), (("--target-greedy", "3"), "--target-greedy"), (("--part", "encoder"), "--part")):
        assert_fails(run("run", "the cat", "--model", f"{folder}/", *options), 2, f"{name}: bert is a model of one stack")
        assert_fails(run("run", "the cat", *options), 2, f"{name} requires --model")


def test_lines_have_their_own_targets(marian):
    assert_fails(run("run", "--lines", "-", "--model", f"{marian[0]}/", "--target", "it", stdin="the cat\tit\n"), 2, "--target", "--lines")


def test_explain_says_that_it_takes_one_stack(marian):
    assert_fails(run("explain", "the cat", "--model", f"{marian[0]}/"), 2, "explain: marian has an encoder and a decoder")


@pytest.mark.parametrize("edit, words", [
    (lambda config: config | {"model_type": "mbart"}, ["model_type", "'mbart'", "marian", "t5"]),
    (lambda config: config | {"normalize_before": True}, ["normalize_before", "true", "false, the one that is computed here"]),
    (lambda config: config | {"static_position_embeddings": False}, ["static_position_embeddings"]),
    (lambda config: config | {"decoder_layers": 4}, ["decoder.layers.3", "missing"]),
    (lambda config: config | {"encoder_ffn_dim": 13}, ["encoder.layers.0.fc1.weight", "(13, 8)"]),
    (lambda config: config | {"decoder_start_token_id": 99}, ["decoder_start_token_id", "99", "0 to 13"]),
    (lambda config: config | {"cross_attention_gate": True}, ["cross_attention_gate", "not known here"]),
])
def test_a_config_that_is_not_understood_is_refused(marian, tmp_path, edit, words):
    folder = tmp_path / "edited"
    shutil.copytree(marian[0], folder)
    config = folder / "config.json"
    config.write_text(json.dumps(edit(json.loads(config.read_text()))))
    assert_fails(run("run", "the cat", "--model", f"{folder}/", "--target", "it"), 65, *words)


def test_buckets_of_distances_have_to_be_some(tmp_path):
    folder, _ = tiny_encoder_decoders.t5(tmp_path / "t5", 1, relative_attention_max_distance=2)
    assert_fails(run("run", "the cat", "--model", f"{folder}/", "--target", "it"), 65, "relative_attention_max_distance", "8 and 2")
    gated, _ = tiny_encoder_decoders.flan_t5(tmp_path / "flan", 1, feed_forward_proj="gated-tanh")
    assert_fails(run("run", "the cat", "--model", f"{gated}/", "--target", "it"), 65, "feed_forward_proj", "gated-tanh", "gated-gelu")


@pytest.mark.parametrize("options", [("--part", "encoder", "--show", "tokens"), ("--target-greedy", "3")])
def test_a_source_whose_bias_by_distance_does_not_fit_is_refused_before_it_is_made(tmp_path, options):
    folder, _ = tiny_encoder_decoders.t5(tmp_path / "t5", 1)
    assert_fails(run("run", "-", "--model", f"{folder}/", *options, stdin="the " * 300_000), 71, "the arrays asked for need 720,")
