"""`run --model`: one vector for a sentence, the words that each layer would say, ids in place of a sentence, layers and heads in lists."""

import json
import re

import jsonschema
import pytest
import tiny_models
from model_results import SENTENCE, layer_of, near, result
from pictures import parse, texts, tooltips
from program import assert_fails, run, succeeds
from tensors import load_safetensors, numpy

LINES = ["the cat", "it sat on a mat", "the dog"] * 30


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return tiny_models.bert(tmp_path_factory.mktemp("models") / "bert", seed=1)


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    return tiny_models.llama(tmp_path_factory.mktemp("models") / "llama", seed=2)


# ---- one vector for a sentence ---------------------------------------------------------------------------------------

POOLS = {"mean": lambda states: states.mean(0), "first": lambda states: states[0], "last": lambda states: states[-1]}


@pytest.mark.parametrize("how", POOLS)
@pytest.mark.parametrize("make", [tiny_models.bert, tiny_models.llama])
def test_pooled_states_are_those_of_the_plain_way(tmp_path, make, how):
    folder, forward = make(tmp_path / "model", 5)
    done = result(folder, "--layer", "all", "--show", "token_ids", "--pool", how)
    states = forward(done["token_ids"], [0] * len(done["token_ids"]))[1]
    for n in range(tiny_models.L):
        near(layer_of(done, n)["pooled"], POOLS[how](states[n + 1]))
    assert done["config"]["pool"] == how


def test_a_mean_is_added_up_in_double_and_rounded_once(bert):
    done = result(bert[0], "--layer", "1", "--show", "hidden_states", "--pool", "mean")["layers"][0]
    assert (numpy.float32(done["pooled"]) == numpy.float32(numpy.float32(done["hidden_states"]).astype("float64").mean(0))).all()
    first, last = (result(bert[0], "--layer", "1", "--pool", how)["layers"][0]["pooled"] for how in ("first", "last"))
    assert (first, last) == (done["hidden_states"][0], done["hidden_states"][-1])


def test_a_vector_stands_in_every_format(tmp_path, bert):
    options = ("run", "the cat", "--model", f"{bert[0]}/", "--layer", "1", "--pool", "mean")
    wanted = succeeds(*options, "--json").json
    vector = wanted["layers"][0]["pooled"]
    assert list(wanted["layers"][0]) == ["layer", "dims", "pooled"]
    jsonschema.validate(wanted, succeeds("schema", "result").json)
    table = succeeds(*options).text
    assert "\nlayer 1\n\npooled (8,)\n" in table
    rows = succeeds(*options, "--format", "csv").text.splitlines()
    assert [row.rsplit(",", 1)[0] for row in rows[1:]] == [f"pooled,1,,,{i},," for i in range(8)]
    near([float(row.rsplit(",", 1)[1]) for row in rows[1:]], vector, 0)
    for ending in ("npy", "npz", "safetensors"):
        succeeds(*options, "-o", tmp_path / f"v.{ending}")
    numpy.testing.assert_array_equal(numpy.load(tmp_path / "v.npy"), numpy.float32(vector))
    numpy.testing.assert_array_equal(numpy.load(tmp_path / "v.npz")["layers.1.pooled"], numpy.float32(vector))
    numpy.testing.assert_array_equal(load_safetensors(tmp_path / "v.safetensors")[0]["layers.1.pooled"], numpy.float32(vector))


@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize("ending", ["npy", "npz", "safetensors"])
def test_lines_are_rows_of_one_array(tmp_path, bert, ending, threads):
    path = tmp_path / f"all.{ending}"
    model = ("--model", f"{bert[0]}/", "--pool", "mean")
    succeeds("run", "--lines", "-", *model, "--layer", "last", "-o", path, "--threads", threads, stdin="\n".join(LINES) + "\n")
    loaded = load_safetensors(path)[0] if ending == "safetensors" else numpy.load(path)
    array = loaded if ending == "npy" else loaded["layers.2.pooled"]
    alone = {line: succeeds("run", line, *model, "--layer", "2", "--json").json["layers"][0]["pooled"] for line in set(LINES)}
    numpy.testing.assert_array_equal(array, numpy.float32([alone[line] for line in LINES]))
    assert array.dtype == numpy.float32 and array.shape == (90, 8)


def test_lines_have_a_row_in_the_array_of_each_layer(tmp_path, llama):
    path = tmp_path / "all.npz"
    succeeds("run", "--lines", "-", "--model", f"{llama[0]}/", "--layer", "0,2", "--pool", "last", "-o", path, stdin="the cat\na dog sat\n")
    arrays = numpy.load(path)
    assert sorted(arrays) == ["layers.0.pooled", "layers.2.pooled"]
    for row, sentence in enumerate(["the cat", "a dog sat"]):
        for layer in result(llama[0], "--layer", "0,2", "--pool", "last", sentence=sentence)["layers"]:
            numpy.testing.assert_array_equal(arrays[f"layers.{layer['layer']}.pooled"][row], numpy.float32(layer["pooled"]))


def test_without_a_line_there_is_no_row(tmp_path, bert):
    succeeds("run", "--lines", "-", "--model", f"{bert[0]}/", "--layer", "0", "--pool", "mean", "-o", tmp_path / "none.npy", stdin="")
    assert numpy.load(tmp_path / "none.npy").shape == (0, 8)


def test_a_bad_line_would_shift_the_rows_of_others(tmp_path, bert):
    path = tmp_path / "all.npy"
    options = ("--model", f"{bert[0]}/", "--layer", "last", "--pool", "mean")
    for threads in ("1", "3"):
        done = run("run", "--lines", "-", *options, "-o", path, "--threads", threads, stdin="the cat\n\nthe dog\n")
        assert_fails(done, 65, "line 2: no words in the sentence")
        assert not path.exists()
    assert run("run", "--lines", "-", *options, "--json", stdin="the cat\n\nthe dog\n").code == 65


def test_a_line_has_its_vector_in_every_format_of_text(llama):
    options = ("--model", f"{llama[0]}/", "--layer", "1", "--pool", "mean")
    for name in ("json", "csv", "table"):
        done = succeeds("run", "--lines", "-", *options, "--format", name, stdin="the cat\nthe dog\n").text
        assert done.count("pooled") == {"json": 2, "csv": 16, "table": 2}[name]


def test_where_a_vector_has_no_place(tmp_path, bert):
    model = ("run", SENTENCE, "--model", f"{bert[0]}/")
    assert_fails(run(*model, "--show", "pooled"), 2, "--show pooled requires --pool")
    assert_fails(run("run", SENTENCE, "--show", "pooled"), 2, "--show pooled requires --model and --pool")
    assert_fails(run("run", SENTENCE, "--pool", "mean"), 2, "--pool requires --model")
    assert_fails(run(*model, "--pool", "middle"), 2, "--pool: got 'middle'; allowed: mean, first, last")
    assert_fails(run(*model, "--pool", "mean", "--format", "svg"), 2, "--pool", "svg")
    assert_fails(run(*model, "--pool", "mean", "--layer", "0", "--set", "join=words"), 2, "pooled", "join=words")
    assert_fails(run(*model, "--pool", "mean", "-o", tmp_path / "x.npy"), 2, "3 arrays", "--layer last")
    lines = ("run", "--lines", "-", *model[2:], "--pool", "mean", "-o", tmp_path / "x.npy")
    assert_fails(run(*lines, stdin="the cat\n"), 2, "3 arrays", "--layer last")
    assert_fails(run(*lines, "--layer", "0", "--show", "hidden_states", stdin="the cat\n"), 2, "npy")
    assert_fails(run("run", "--lines", "-", *model[2:], "--layer", "0", "--format", "npz", stdin="the cat\n"), 2, "one result", "--pool")


def test_check_recomputes_vectors_and_what_each_layer_would_say(tmp_path, llama):
    path = tmp_path / "saved.json"
    saved = result(llama[0], "--layer", "0,2", "--show", "pooled,lens,weights", "--pool", "last")
    path.write_text(json.dumps(saved))
    assert succeeds("check", path).text.endswith("passed\n")
    saved["layers"][1]["pooled"][3] += 0.5
    path.write_text(json.dumps(saved))
    done = run("check", path)
    assert done.code == 1 and "layer 2: pooled" in done.text
    saved = result(llama[0], "--layer", "0,2", "--show", "lens")
    saved["layers"][0]["likeliest"][1]["words"][0]["probability"] = 0.5
    path.write_text(json.dumps(saved))
    done = run("check", path)
    assert done.code == 1 and "layer 0: likeliest" in done.text


# ---- a plain run as .npy ---------------------------------------------------------------------------------------------


def test_one_array_of_a_plain_run_is_an_npy(tmp_path):
    path = tmp_path / "w.npy"
    succeeds("run", "Life is short", "--heads", "2", "--show", "tokens,weights", "--query", "is", "-o", path)
    wanted = succeeds("run", "Life is short", "--heads", "2", "--show", "weights", "--query", "is", "--json").json["weights"]
    numpy.testing.assert_array_equal(numpy.load(path), numpy.float32(wanted))
    assert_fails(run("run", "Life is short", "-o", path), 2, "--show: got none; allowed: in an .npy one array, such as weights")
    for several in ("weights,context", "all", "parameters"):
        assert_fails(run("run", "Life is short", "--show", several, "-o", path), 2, "--show: got several arrays", ".npy")


# ---- what each layer would say ---------------------------------------------------------------------------------------


def softmax(scores):
    return numpy.exp(scores - scores.max()) / numpy.exp(scores - scores.max()).sum()


@pytest.mark.parametrize("make", [tiny_models.bert, tiny_models.llama])
def test_the_lens_is_the_final_norm_and_the_head_behind_each_layer(tmp_path, make):
    folder, forward = make(tmp_path / "model", 4)
    done, whole = result(folder, "--show", "token_ids,lens"), result(folder, "--show", "logits")
    ids = done["token_ids"]
    states = forward(ids, [0] * len(ids))[1]
    for n in range(tiny_models.L - 1):
        scores = forward.head(states[n + 1])
        near(layer_of(done, n)["lens"], scores)
        guesses = layer_of(done, n)["likeliest"]
        assert [place["position"] for place in guesses] == list(range(len(ids)))
        for place, row in zip(guesses, scores):
            assert [word["id"] for word in place["words"]] == list(numpy.argsort(-row)[:5])
            near([word["probability"] for word in place["words"]], numpy.sort(softmax(row))[::-1][:5])
    assert layer_of(done, tiny_models.L - 1)["lens"] == whole["logits"]
    jsonschema.validate(done, succeeds("schema", "result").json)


def test_the_lens_has_the_rows_of_the_query_and_the_layers_that_are_shown(tmp_path, bert):
    whole = layer_of(result(bert[0], "--show", "lens"), 1)
    done = result(bert[0], "--layer", "1", "--show", "lens", "--query", "cat,5")
    assert [layer["layer"] for layer in done["layers"]] == [1]
    assert done["layers"][0]["lens"] == [whole["lens"][2], whole["lens"][5]]
    assert done["layers"][0]["likeliest"] == [whole["likeliest"][2], whole["likeliest"][5]]
    succeeds("run", SENTENCE, "--model", f"{bert[0]}/", "--layer", "1", "--show", "lens", "-o", tmp_path / "lens.npz")
    numpy.testing.assert_array_equal(numpy.load(tmp_path / "lens.npz")["layers.1.lens"], numpy.float32(whole["lens"]))
    rows = succeeds("run", SENTENCE, "--model", f"{bert[0]}/", "--layer", "1", "--show", "lens", "--format", "csv").text.splitlines()
    assert rows[1].startswith("lens,1,,0,0,[CLS],,") and len(rows) == 1 + 8 * len(tiny_models.WORDS)


def test_a_table_names_the_likeliest_words_of_each_layer(llama):
    options = ("--layer", "0,2", "--show", "lens", "--query", "0,3")
    table = succeeds("run", SENTENCE, "--model", f"{llama[0]}/", *options).text
    wanted = ""
    for layer in result(llama[0], *options)["layers"]:
        wanted += f"{'' if not wanted else chr(10)}layer {layer['layer']}\n\nlens: as if this layer were the last\n"
        for place in layer["likeliest"]:
            words = ", ".join(f'"{word["token"]}" {word["probability"]:.4f}' for word in place["words"])
            wanted += f"likeliest after {SENTENCE.split()[place['position']]} (position {place['position']}): {words}\n"
    assert table == wanted


def test_all_leaves_the_lens_out_and_a_model_without_a_head_has_none(tmp_path, bert):
    assert "lens" not in result(bert[0], "--layer", "0", "--show", "all")["layers"][0]
    without = tiny_models.changed(bert[0], tmp_path / "without", lambda name: None if name.startswith("cls.") else name.removeprefix("bert."), {})
    assert_fails(run("run", SENTENCE, "--model", f"{without}/", "--show", "lens"), 65, "--show lens: got a model without a head")
    assert_fails(run("run", SENTENCE, "--show", "lens"), 2, "--show lens requires --model")
    assert_fails(run("run", SENTENCE, "--model", f"{bert[0]}/", "--layer", "0", "--set", "join=words", "--show", "lens"), 2, "lens")


# ---- ids in place of a sentence --------------------------------------------------------------------------------------


def test_ids_stand_for_a_sentence(bert):
    folder, forward = bert
    sentence = result(folder, "--layer", "1", "--show", "tokens,token_ids,weights,hidden_states")
    done = succeeds("run", "--ids", "1,5,6,7,8,5,9,2", "--model", f"{folder}/", "--layer", "1", "--json",
                    "--show", "tokens,token_ids,weights,hidden_states").json
    assert done["config"]["input"] == {"ids": [1, 5, 6, 7, 8, 5, 9, 2]}
    assert done == sentence | {"config": done["config"]}
    near(done["layers"][0]["weights"], forward([1, 5, 6, 7, 8, 5, 9, 2], [0] * 8)[0][1])
    jsonschema.validate(done, succeeds("schema", "result").json)


def test_no_tokenizer_puts_anything_around_ids(bert):
    done = succeeds("run", "--ids", "6,12", "--model", f"{bert[0]}/", "--layer", "0", "--json").json
    assert (done["tokens"], done["token_ids"]) == (["cat", "##s"], [6, 12])
    every = succeeds("run", "--ids", "6,12", "--model", f"{bert[0]}/", "--layer", "0", "--json", "--show", "all").json
    assert "offsets" not in every and "token_types" not in every


def test_ids_of_a_model_without_a_tokenizer_are_their_own_words():
    words = succeeds("run", "b a b c a", "--model", "induction", "--layer", "1", "--show", "weights,logits", "--json").json
    done = succeeds("run", "--ids", "0,1,0,2,1", "--model", "induction", "--layer", "1", "--show", "tokens,weights,logits", "--json").json
    assert done["tokens"] == ["0", "1", "0", "2", "1"]
    assert (done["layers"], done["logits"]) == (words["layers"], words["logits"])
    assert all(re.fullmatch("[0-9]+", word["token"]) for word in done["likeliest"][0]["words"])


def test_a_result_of_ids_is_checked_and_explained(tmp_path, bert):
    path = tmp_path / "saved.json"
    options = ("--ids", "1,5,6,2", "--model", f"{bert[0]}/")
    path.write_bytes(succeeds("run", *options, "--layer", "all", "--json").out)
    assert succeeds("check", path).text.endswith("passed\n")
    assert succeeds("explain", *options, "--query", "2", "--head", "1.1").text.startswith('How "cat" (position 2)')


def test_ids_that_are_refused(tmp_path, bert):
    model = ("--model", f"{bert[0]}/")
    assert_fails(run("run", "--ids", "1,14", *model), 65, "token id: got 14; allowed: 0 to 13, the rows of the model's embedding")
    assert_fails(run("run", "--ids", "1,-2", *model), 2, "--ids")
    assert_fails(run("run", SENTENCE, "--ids", "1,2", *model), 2, "SENTENCE and --ids")
    assert_fails(run("run", "--ids", "1,2", "--labels", "a,b", *model), 2, "--labels cannot be used with --model")
    assert_fails(run("run", "--ids", "1,2", "--set", "join=words", "--layer", "0", *model), 2, "join=words", "ids")
    assert_fails(run("run", "--ids", ",".join(["5"] * 40), *model), 65, "32")
    path = tmp_path / "both.json"
    saved = succeeds("run", "--ids", "1,2", *model, "--layer", "0", "--json").json
    saved["config"]["input"] |= {"sentence": "the cat"}
    path.write_text(json.dumps(saved))
    assert_fails(run("check", path), 65, "exactly one of sentence, ids")


# ---- layers and heads ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("typed", "numbers"), [("0-2", [0, 1, 2]), ("last", [2]), ("0,last", [0, 2]), ("last,1-2,2", [1, 2]), ("1-1", [1])])
def test_layers_are_ranges_and_the_last(bert, typed, numbers):
    done = result(bert[0], "--layer", typed)
    assert [layer["layer"] for layer in done["layers"]] == numbers
    assert done["layers"] == result(bert[0], "--layer", ",".join(map(str, numbers)))["layers"]
    assert all(0 <= number <= 2 for number in done["config"]["model"]["layers"])


@pytest.mark.parametrize("typed", ["2-1", "-1", "1-", "0--1", "0-x", "first", "0-last", "1.5"])
def test_layers_that_are_none(bert, typed):
    assert_fails(run("run", SENTENCE, "--model", f"{bert[0]}/", "--layer", typed), 2, "--layer", "all, last, or layers from 0, such as 0,2-5")


@pytest.mark.parametrize("typed", ["3", "5000", "0-9", "0-2000000000", "1,99999"])
def test_layers_that_the_model_does_not_have_are_told_with_its_own(bert, typed):
    assert_fails(run("run", SENTENCE, "--model", f"{bert[0]}/", "--layer", typed), 2, "--layer: got", "allowed: a layer from 0 to 2")


def test_explain_takes_the_last_layer_and_heads_of_several(bert):
    model = ("explain", SENTENCE, "--model", f"{bert[0]}/", "--query", "2", "--json")
    assert [row["layer"] for row in succeeds(*model, "--layer", "last").json_lines] == [2]
    rows = succeeds(*model, "--head", "2.0,0.1").json_lines
    assert [(row["layer"], row["head"]) for row in rows] == [(0, 1), (2, 0)]


def test_heads_of_several_layers(tmp_path, bert):
    whole = result(bert[0], "--layer", "all")
    done = result(bert[0], "--head", "2.0,0.1,2.1")
    assert [(layer["layer"], layer["heads"]) for layer in done["layers"]] == [(0, [1]), (2, [0, 1])]
    assert layer_of(done, 0)["weights"] == [layer_of(whole, 0)["weights"][1]]
    assert layer_of(done, 2)["weights"] == layer_of(whole, 2)["weights"]
    assert (done["config"]["model"]["layers"], done["config"]["layer_heads"]) == ([0, 2], ["2.0", "0.1", "2.1"])
    jsonschema.validate(done, succeeds("schema", "result").json)
    path = tmp_path / "saved.json"
    path.write_text(json.dumps(done))
    assert succeeds("check", path).text.endswith("passed\n")
    rows = succeeds("run", "the cat", "--model", f"{bert[0]}/", "--head", "0.1,2.0", "--show", "weights", "--format", "csv").text.splitlines()
    assert {tuple(row.split(",")[1:3]) for row in rows[1:]} == {("0", "1"), ("2", "0")}
    table = succeeds("run", SENTENCE, "--model", f"{bert[0]}/", "--head", "0.1,2.0").text
    assert ["weights, head 1 (8, 8)" in part for part in table.split("layer ")[1:]] == [True, False]


def test_words_of_a_model_without_a_tokenizer_are_joined_already():
    of_words, of_pieces = (succeeds("run", "b a b c", "--model", "induction", "--layer", "all", "--json", *join).json
                           for join in (["--set", "join=words"], ["--show", "tokens,weights"]))
    assert of_words["layers"] == of_pieces["layers"]


def test_heads_of_one_layer_are_said_as_before(bert):
    done = result(bert[0], "--head", "1.1,1.0")
    assert done == result(bert[0], "--layer", "1", "--head", "1,0")
    assert "layer_heads" not in done["config"]


def test_a_picture_names_heads_that_are_not_the_same_in_every_layer(tmp_path):
    path = tmp_path / "grid.svg"
    succeeds("run", "the cat sat on the mat and the cat sat", "--model", "induction", "--head", "0.1,1.0", "-o", path)
    shown = texts(parse(path.read_bytes()))
    assert [text for text in shown if text.startswith(("layer", "head"))] == ["layer 0", "head 1: previous 0.75", "layer 1", "head 0: induction 0.82"]
    assert [tip.split(":")[0] for tip in tooltips(parse(path.read_bytes()))] == ["layer 0, head 1", "layer 1, head 0"]


def test_heads_that_are_refused(tmp_path, bert):
    model = ("run", SENTENCE, "--model", f"{bert[0]}/")
    for typed in ("1.0,2", "1.0,2.", "1.0,.2", "1.00,2.0", "1.0,mean"):
        assert_fails(run(*model, "--head", typed), 2, "--head: got", "LAYER.HEAD, such as 1.0, or several, such as 1.0,3.2")
    assert_fails(run(*model, "--head", "0.0,2.2"), 2, "--head: got 2; allowed: 0 to 1")
    assert_fails(run(*model, "--head", "0.0,7.0"), 2, "--layer: got 7; allowed: a layer from 0 to 2")
    assert_fails(run(*model, "--head", "0.0,2.0", "--layer", "1"), 2, "--head: got layers (0, 2); allowed: the layers of --layer, or no --layer")
    assert_fails(run("run", SENTENCE, "--head", "0.0,2.0"), 2, "--head LAYER.HEAD requires --model")
    (tmp_path / "m.json").write_text(json.dumps(result(bert[0], "--layer", "all")))
    assert_fails(run("plot", tmp_path / "m.json", "--head", "0.0,2.0"), 2, "several of one layer, such as 1.0,1.2")
    saved = result(bert[0], "--head", "0.0,2.0")
    for wrong in ("1.0", "0", "a.b"):
        (tmp_path / "m.json").write_text(json.dumps(saved | {"config": saved["config"] | {"layer_heads": [wrong]}}))
        assert_fails(run("check", tmp_path / "m.json"), 65, "layer_heads")


# ---- against another program -----------------------------------------------------------------------------------------

IDS = [1, 5, 6, 7, 8, 5, 9, 2]  # of SENTENCE


def saved(path, array):
    numpy.save(path, numpy.float32(array))
    return path.name


def test_attentions_of_another_program_are_held_against_all_layers(tmp_path, bert):
    folder, forward = bert
    attentions = numpy.array(forward(IDS, [0] * 8)[0])
    model = ("run", SENTENCE, "--model", f"{folder}/", "--atol", "2e-5", "--against")
    for name, array in (("plain.npy", attentions), ("batch.npy", attentions[:, None])):  # the second as transformers has them
        done = succeeds(*model, saved(tmp_path / name, array), cwd=tmp_path).text
        assert done.startswith(f"{name} agrees with the weights: 384 numbers, largest difference ")
    attentions[2, 1, 3, 4] += 0.25
    name = saved(tmp_path / "wrong.npy", attentions[:, None])
    done = run(*model, name, cwd=tmp_path)
    assert done.code == 1 and done.text.startswith("differs from the weights: 1 of 384, largest difference 0.25\n")
    places = [line.split() for line in done.text.splitlines()[2:]]
    assert [(words[0], words[1], words[2]) for words in places if words[0] in ("layer", "head", "row", "key")] == [
        ("layer", "2:", "0.25;"), ("head", "1:", "0.25;"), ("row", "3:", "0.25;"), ("key", "4:", "0.25;")]
    told = run(*model[:-1], "--json", "--against", name, cwd=tmp_path).json
    jsonschema.validate(told, succeeds("schema", "diagnosis").json)
    assert (told["array"], told["agrees"], told["mismatched"]) == ("weights", False, 1)
    near(told["where"]["batches"], [0, 0, 0.25], 1e-4)
    assert run(*model, "plain.npy", "wrong.npy", cwd=tmp_path).code == 1


def test_an_array_of_one_layer_is_held_against_that_layer(tmp_path, llama):
    folder, forward = llama
    attentions, states, _ = forward([5, 6, 7, 8, 5, 9])
    model = ("run", SENTENCE, "--model", f"{folder}/", "--atol", "5e-5")
    name = saved(tmp_path / "one.npy", attentions[1][None])
    assert succeeds(*model, "--layer", "1", "--against", name, cwd=tmp_path).text.startswith("one.npy agrees with the weights of layer 1: 72 numbers")
    assert run(*model, "--layer", "0", "--against", name, cwd=tmp_path).code == 1
    hidden = saved(tmp_path / "hidden.npy", numpy.array(states[1:])[:, None])
    assert succeeds(*model, "--show", "hidden_states", "--against", hidden, cwd=tmp_path).text.startswith("hidden.npy agrees with the hidden_states: 144")
    means = saved(tmp_path / "mean.npy", states[3].mean(0))
    assert succeeds(*model, "--pool", "mean", "--layer", "last", "--against", means, cwd=tmp_path).text.startswith("mean.npy agrees with the pooled of layer 2: 8")


def test_what_cannot_be_held_against_a_model(tmp_path, bert):
    model = ("run", SENTENCE, "--model", f"{bert[0]}/")
    name = saved(tmp_path / "one.npy", numpy.zeros((1, 2, 8, 8)))
    assert_fails(run(*model, "--against", name, cwd=tmp_path), 65, "one.npy", "the shape (1, 2, 8, 8); allowed: (3, 2, 8, 8), the weights of 3 layers; --layer")
    assert_fails(run(*model, "--layer", "1", "--against", saved(tmp_path / "x.npy", numpy.zeros((3, 8, 8))), cwd=tmp_path), 65,
                 "allowed: (2, 8, 8), the weights of layer 1")
    assert_fails(run(*model, "--show", "logits", "--against", name, cwd=tmp_path), 2, "--show: got logits; allowed: with --model and --against")
    assert_fails(run(*model, "--against", "nowhere.npy", cwd=tmp_path), 66, "nowhere.npy")
