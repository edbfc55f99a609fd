"""`run --model`: the attention of any layer and head of a whole trained model."""

import hashlib
import json
import re
import shlex
import shutil
import struct

import jsonschema
import pytest
import tiny_models
from model_results import SENTENCE, layer_of, near, result
from pictures import parse, texts, tooltips
from program import assert_fails, on_terminal, run, run_unread, succeeds
from tensors import load_safetensors, numpy, save_safetensors


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return tiny_models.bert(tmp_path_factory.mktemp("models") / "bert", seed=1)


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    return tiny_models.llama(tmp_path_factory.mktemp("models") / "llama", seed=2)


# ---- numbers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("make", [tiny_models.bert, tiny_models.llama])
def test_every_layer_and_the_logits_are_those_of_the_plain_way(tmp_path, make, seed):
    folder, forward = make(tmp_path / "model", seed)
    done = result(folder, "--layer", "all", "--show", "all")
    logits = result(folder, "--show", "logits")
    ids = done["token_ids"]
    attentions, states, scores = forward(ids, [0] * len(ids))
    near(done["layers"][0]["embeddings"], states[0])
    for n, attention in enumerate(attentions):
        near(layer_of(done, n)["weights"], attention)
        near(layer_of(done, n)["hidden_states"], states[n + 1])
    near(logits["logits"], scores)


def test_words_become_the_pieces_and_ids_of_the_tokenizer(bert):
    done = result(bert[0], "--layer", "0", sentence="The cats sat")
    assert done["tokens"] == ["[CLS]", "the", "cat", "##s", "sat", "[SEP]"]
    assert done["token_ids"] == [1, 5, 6, 12, 7, 2]


def test_a_pair_takes_the_second_place_of_the_template(bert):
    folder, forward = bert
    done = result(folder, "--layer", "0", "--set", "input.pair=it sat", sentence="the cat")
    assert done["tokens"] == ["[CLS]", "the", "cat", "[SEP]", "it", "sat", "[SEP]"]
    near(done["layers"][0]["weights"], forward(done["token_ids"], [0, 0, 0, 0, 1, 1, 1])[0][0])


def test_the_likeliest_words_stand_in_place_of_a_mask(bert):
    folder, forward = bert
    done = result(folder, "--show", "logits", sentence="the cat [MASK] on")
    place = done["likeliest"][0]
    scores = forward([1, 5, 6, 4, 8, 2], [0] * 6)[2][3]
    wanted = numpy.exp(scores - scores.max()) / numpy.exp(scores - scores.max()).sum()
    assert place["position"] == 3
    assert [word["id"] for word in place["words"]] == list(numpy.argsort(-wanted)[:5])
    near([word["probability"] for word in place["words"]], numpy.sort(wanted)[::-1][:5])


def test_the_likeliest_words_come_behind_the_last_one_of_a_causal_model(llama):
    done = result(llama[0], "--show", "logits")
    assert [place["position"] for place in done["likeliest"]] == [5]
    assert [word["token"] for word in done["likeliest"][0]["words"]][0] in tiny_models.WORDS


@pytest.mark.parametrize("half", ["float16", "bfloat16"])
def test_halves_are_read_as_they_are(tmp_path, llama, half):
    folder, _ = llama
    tensors, _ = load_safetensors(folder / "model.safetensors")
    copy = tmp_path / "half"
    shutil.copytree(folder, copy)
    exact = {name: array.astype("float16") if half == "float16" else array for name, array in tensors.items()}
    save_safetensors(copy / "model.safetensors", exact, bfloat16=list(tensors) if half == "bfloat16" else ())
    rounded, _ = load_safetensors(copy / "model.safetensors")
    whole = tmp_path / "whole"
    shutil.copytree(folder, whole)
    save_safetensors(whole / "model.safetensors", {name: array.astype("float32") for name, array in rounded.items()})
    assert result(copy, "--layer", "2")["layers"] == result(whole, "--layer", "2")["layers"]


def test_a_model_may_lie_in_several_files(tmp_path, bert):
    folder, _ = bert
    tensors, _ = load_safetensors(folder / "model.safetensors")
    shards = tmp_path / "shards"
    shutil.copytree(folder, shards)
    (shards / "model.safetensors").unlink()
    names, where = list(tensors), {}
    for i in range(3):
        file = f"model-0000{i + 1}-of-00003.safetensors"
        save_safetensors(shards / file, {name: tensors[name] for name in names[i::3]})
        where |= dict.fromkeys(names[i::3], file)
    (shards / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": where}))
    assert result(shards, "--layer", "1")["layers"] == result(folder, "--layer", "1")["layers"]


@pytest.mark.parametrize("change", [{"hidden_act": "gelu_new"}, {"layer_norm_eps": 1e-1}])
def test_a_config_that_says_something_else_changes_the_numbers(tmp_path, change):
    folder, forward = tiny_models.bert(tmp_path / "other", 1, **change)
    ids = [1, 5, 6, 2]
    computed = result(folder, "--layer", "2", "--show", "hidden_states", sentence="the cat")["layers"][0]["hidden_states"]
    wanted = forward(ids, [0] * 4)[1][3]
    assert numpy.abs(numpy.asarray(computed) - wanted).max() > 2e-5 * numpy.abs(wanted).max()


# ---- what is shown ---------------------------------------------------------------------------------------------------


def test_without_a_layer_it_sums_up_all_heads(bert):
    done = result(bert[0])
    assert [layer["layer"] for layer in done["layers"]] == [0, 1, 2]
    assert [len(layer["summary"]["heads"]) for layer in done["layers"]] == [2, 2, 2]
    assert "weights" not in done["layers"][0]
    table = succeeds("run", SENTENCE, "--model", f"{bert[0]}/").text
    assert table.startswith("ids  [CLS] 1, the 5, cat 6, sat 7, on 8, the 5, mat 9, [SEP] 2\n")
    assert [line.split()[0] for line in table.splitlines()[4:]] == ["0.0", "0.1", "1.0", "1.1", "2.0", "2.1"]


def test_the_summary_is_the_means_of_the_weights(bert):
    folder, forward = bert
    done = result(folder)
    ids = result(folder, "--layer", "0")["token_ids"]
    weights = forward(ids, [0] * len(ids))[0][1][0]
    head = done["layers"][1]["summary"]["heads"][0]
    near(head["itself"], numpy.diag(weights).mean())
    near(head["previous"], numpy.diag(weights, -1).mean())
    near(head["same"], (weights[1, 5] + weights[5, 1]) / 2)  # "the" stands at 1 and at 5
    near(head["induction"], weights[5, 2])  # behind the first "the" stands "cat"


def test_heads_and_rows_are_chosen_as_elsewhere(bert):
    whole = layer_of(result(bert[0], "--layer", "2"), 2)["weights"]
    done = result(bert[0], "--layer", "2", "--head", "1", "--query", "cat,5")
    assert done["query_positions"] == [2, 5]
    layer = layer_of(done, 2)
    assert (layer["heads"], layer["weights"]) == ([1], [[whole[1][2], whole[1][5]]])
    mean = result(bert[0], "--layer", "2", "--head", "mean")["layers"][0]["weights"]
    near(mean[0], (numpy.asarray(whole[0]) + numpy.asarray(whole[1])) / 2, 1e-7)


def test_layers_above_the_asked_one_change_nothing_below(bert):
    both = result(bert[0], "--layer", "0,2")
    assert layer_of(both, 0) == result(bert[0], "--layer", "0")["layers"][0]
    assert both["layers"] == result(bert[0], "--layer", "2,0,2")["layers"]


def test_csv_has_a_column_of_layers(bert):
    rows = succeeds("run", "the cat", "--model", f"{bert[0]}/", "--layer", "0,1", "--head", "1", "--query", "cat", "--format", "csv").text
    lines = rows.splitlines()
    assert lines[0] == "array,layer,head,row,column,query_token,key_token,value"
    assert lines[1] == "token_ids,,,0,,[CLS],,1"
    assert [line.rsplit(",", 1)[0] for line in lines[5:7]] == ["weights,0,1,2,0,cat,[CLS]", "weights,0,1,2,1,cat,the"]
    assert lines[9].startswith("weights,1,1,2,0,cat,[CLS],")


def test_tensors_are_called_by_their_layer(tmp_path, bert):
    path = tmp_path / "out.safetensors"
    succeeds("run", SENTENCE, "--model", f"{bert[0]}/", "--layer", "0,2", "-o", path)
    arrays, metadata = load_safetensors(path)
    assert sorted(arrays) == ["layers.0.weights", "layers.2.weights", "token_ids"]
    assert metadata["schema"] == "attn-cli/result/2"
    numpy.testing.assert_array_equal(arrays["layers.2.weights"], numpy.float32(result(bert[0], "--layer", "2")["layers"][0]["weights"]))


def test_a_picture_of_a_layer(tmp_path, bert):
    path = tmp_path / "head.svg"
    succeeds("run", SENTENCE, "--model", f"{bert[0]}/", "--layer", "1", "--head", "0", "-o", path)
    assert path.read_text().count("[CLS]") >= 2
    for options in (["--plot", "arcs"], ["--show", "scores"]):
        assert_fails(run("run", SENTENCE, "--model", f"{bert[0]}/", *options, "-o", path), 2, *options, "draws one layer")


def test_a_picture_of_every_layer_names_what_its_heads_do(tmp_path):
    words = "the cat sat on the mat and the cat sat"
    path = tmp_path / "grid.svg"
    succeeds("run", words, "--model", "induction", "-o", path)
    root = parse(path.read_bytes())
    shown = texts(root)
    assert [text for text in shown if text.startswith(("layer", "head"))] == ["head 0", "head 1", "layer 0", "layer 1"]
    summaries = [layer["summary"]["heads"] for layer in succeeds("run", words, "--model", "induction", "--show", "summary", "--json").json["layers"]]
    roles = [text for text in shown if re.fullmatch(r"[a-z]+ \d\.\d\d", text)]
    names = ["itself", "first", "previous", "next", "same", "induction"]
    wanted = []
    for head in sum(summaries, []):
        role = max(names, key=lambda name: head[name])
        wanted.append(f"{role} {head[role]:.2f}")
    assert roles == wanted == ["previous 0.84", "previous 0.75", "induction 0.82", "induction 0.72"]
    assert tooltips(root)[2].startswith("layer 1, head 0: entropy ")
    assert succeeds("run", words, "--model", "induction", "--layer", "all", "--format", "svg").out == path.read_bytes()
    saved = succeeds("run", words, "--model", "induction", "--show", "tokens,token_ids,weights", "--json").out
    assert succeeds("plot", "-", stdin=saved).out == path.read_bytes()
    assert len(tooltips(parse(succeeds("run", words, "--model", "two-blocks", "--head", "0", "--format", "svg").out))) == 2


def test_each_line_is_a_sentence(bert):
    lines = "the cat\n\xff\nthe dog sat\n".encode("latin-1")
    done = run("run", "--lines", "-", "--model", f"{bert[0]}/", "--layer", "1", "--json", stdin=lines)
    assert done.code == 65
    first, wrong, third = done.json_lines
    assert (first["index"], wrong["index"], third["index"]) == (0, 1, 2)
    assert wrong["error"]["code"] == 65
    assert third["layers"] == result(bert[0], "--layer", "1", sentence="the dog sat")["layers"]
    threads = run("run", "--lines", "-", "--model", f"{bert[0]}/", "--layer", "1", "--json", "--threads", "3", stdin=lines)
    assert threads.out == done.out


@pytest.mark.parametrize("options", [("--layer", "1", "--show", item) for item in ("hidden_states", "token_types", "offsets", "all")]
                         + [("--show", "logits"), ("--layer", "2", "--show", "logits,queries"), ("--layer", "0", "--show", "logits,weights")])
def test_a_line_has_what_a_sentence_has_in_every_format(llama, options):
    sentences = ["the cat", "it sat on a mat", "the dog"] * 30
    model = ("--model", f"{llama[0]}/", *options)

    def lines(*more):
        done = run("run", "--lines", "-", *model, *more, stdin="\n".join(sentences) + "\n")
        assert done.code == 0
        assert run("run", "--lines", "-", *model, *more, "--threads", "3", stdin="\n".join(sentences) + "\n") == done
        return done.text

    singles = {sentence: [run("run", sentence, *model, "--format", name) for name in ("json", "csv", "table")] for sentence in set(sentences)}
    jsons, csvs, tables = (lines("--format", name) for name in ("json", "csv", "table"))
    csv_rows, table_parts = "", []
    for index, sentence in enumerate(sentences):
        json_alone, csv_alone, table_alone = (single.text for single in singles[sentence])
        line = jsons.split("\n")[index] + "\n"
        assert line.replace(f'"index":{index},', "", 1) == json_alone
        csv_rows += "".join(f"{index},{row}" for row in csv_alone.splitlines(keepends=True)[1:])
        table_parts.append(f"line {index + 1}\n{table_alone}")
    assert csvs.split("\n", 1)[1] == csv_rows
    assert tables == "\n".join(table_parts)


def test_a_line_has_the_warnings_of_its_sentence(bert):
    model = ("--model", f"{bert[0]}/", "--show", "logits", "--format", "csv")
    alone = run("run", "the cat", *model).message.removeprefix("attn-cli: warning: ")
    done = run("run", "--lines", "-", *model, stdin="a [MASK]\nthe cat\n")
    assert "[MASK]" in alone and done.message == "attn-cli: warning: line 2: " + alone


# ---- pieces and words ------------------------------------------------------------------------------------------------


def test_each_piece_says_which_characters_it_stands_for(bert):
    done = result(bert[0], "--layer", "0", "--show", "tokens,token_types,offsets", "--set", "input.pair=é it", sentence="The cats")
    assert done["tokens"] == ["[CLS]", "the", "cat", "##s", "[SEP]", "[UNK]", "it", "[SEP]"]
    assert done["token_types"] == [0, 0, 0, 0, 0, 1, 1, 1]
    assert done["offsets"] == [[0, 0], [0, 3], [4, 7], [7, 8], [0, 0], [0, 1], [2, 4], [0, 0]]
    rows = succeeds("run", "The cats", "--model", f"{bert[0]}/", "--layer", "0", "--show", "offsets", "--format", "csv").text
    assert rows.splitlines()[5:7] == ["offsets,,,2,0,cat,,4", "offsets,,,2,1,cat,,7"]
    table = succeeds("run", "The cats", "--model", f"{bert[0]}/", "--layer", "0", "--show", "tokens,offsets").text
    assert table.splitlines()[1] == "offsets  0-0 0-3 4-7 7-8 0-0"


WORDS = "The cats sat, the é-it's"
PIECES = [[0], [1], [2, 3], [4], [5], [6], [7, 8, 9, 10, 11], [12]]  # of its words, the second to last of them é - it ' s


def joined(weights):
    return [[[sum(numpy.float32(head)[i][key].sum() for i in query) / len(query) for key in PIECES] for query in PIECES] for head in weights]


def test_pieces_are_joined_to_words(bert):
    done = result(bert[0], "--layer", "0,2", "--set", "join=words", "--show", "all", sentence=WORDS)
    assert done["tokens"] == ["[CLS]", "The", "cats", "sat", ",", "the", "é-it's", "[SEP]"]
    assert done["offsets"] == [[0, 0], [0, 3], [4, 8], [9, 12], [12, 13], [14, 17], [18, 24], [0, 0]]
    assert done["config"]["join"] == "words"
    for layer in (0, 2):
        whole = layer_of(result(bert[0], "--layer", "2,0", sentence=WORDS), layer)["weights"]
        near(layer_of(done, layer)["weights"], joined(whole), 1e-6)
        near(numpy.sum(layer_of(done, layer)["weights"], -1), numpy.ones((2, 8)), 1e-6)
    one = result(bert[0], "--layer", "2", "--set", "join=words", "--query", "cats,é-it's", "--head", "1", sentence=WORDS)
    assert one["query_positions"] == [2, 6]
    assert one["layers"][0]["weights"] == [[layer_of(done, 2)["weights"][1][i] for i in (2, 6)]]
    jsonschema.validate(done, succeeds("schema", "result").json)


def test_joined_words_are_words_in_every_format(bert, tmp_path):
    options = ("--model", f"{bert[0]}/", "--layer", "1", "--set", "join=words")
    assert "cats" in succeeds("run", WORDS, *options).text.splitlines()[0]
    assert "weights,1,0,2,6,cats,é-it's," in succeeds("run", WORDS, *options, "--format", "csv").text
    assert succeeds("run", WORDS, *options, "--head", "0", "--format", "svg").text.count("cats") >= 2
    alone = succeeds("run", WORDS, *options, "--json").json
    assert run("run", "--lines", "-", *options, "--json", stdin=WORDS + "\n").json == {"schema": alone["schema"], "index": 0} | alone
    path = tmp_path / "saved.json"
    path.write_text(json.dumps(alone))
    assert succeeds("check", path).text.endswith("passed\n")
    assert "cats" in succeeds("plot", path, "--format", "table").text
    path.write_text(json.dumps(alone | {"config": {key: value for key, value in alone["config"].items() if key != "join"}}))
    assert run("check", path).code == 1


def test_joined_words_have_weights_alone(bert):
    options = ("run", WORDS, "--model", f"{bert[0]}/", "--set", "join=words")
    assert_fails(run(*options), 2, "--set join", "--layer")
    assert_fails(run(*options, "--layer", "0", "--top", "3"), 2, "--set join", "--top")
    for item in ("scores", "token_ids", "summary", "logits", "entropy"):
        assert_fails(run(*options, "--layer", "0", "--show", item), 2, item, "tokens, token_types, offsets, weights")
    assert_fails(run(*options[:-1], "join=sentences", "--layer", "0"), 2, "--set join", "pieces, words")


# ---- saved results ---------------------------------------------------------------------------------------------------


def test_results_are_what_the_schema_says(bert, llama):
    schema = succeeds("schema", "result").json
    for options in [(), ("--layer", "all", "--show", "all"), ("--layer", "1", "--show", "logits,summary", "--head", "1", "--query", "cat")]:
        jsonschema.validate(result(bert[0], *options, sentence="the cat [MASK]"), schema)
    jsonschema.validate(result(llama[0], "--layer", "all"), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(result(bert[0]) | {"layer": 3}, schema)


def test_check_recomputes_a_saved_result(tmp_path, bert):
    path = tmp_path / "saved.json"
    for options in [(), ("--layer", "all", "--show", "all"), ("--layer", "1", "--show", "logits,weights,summary", "--query", "cat")]:
        path.write_bytes(succeeds("run", "the cat [MASK]", "--model", f"{bert[0]}/", "--json", *options).out)
        assert succeeds("check", path).text.endswith("passed\n")
    saved = json.loads(path.read_text())
    saved["layers"][0]["weights"][0][0][0] += 0.001
    path.write_text(json.dumps(saved))
    done = run("check", path)
    assert done.code == 1
    assert "layer 1: weights" in done.text


def test_check_compares_warnings_but_asks_an_older_file_for_none(tmp_path, bert):
    path = tmp_path / "saved.json"
    path.write_bytes(succeeds("run", "the cat", "--model", f"{bert[0]}/", "--json", "--layer", "1", "--show", "tokens,weights,logits").out)
    saved = json.loads(path.read_text())
    assert len(saved["warnings"]) == 2
    assert succeeds("check", path).text.endswith("passed\n")
    path.write_text(json.dumps(saved | {"warnings": []}))
    assert succeeds("check", path).text.endswith("passed\n")
    path.write_text(json.dumps(saved | {"warnings": ["the sentence is cold"]}))
    done = run("check", path)
    assert done.code == 1 and "warnings" in done.text


def test_check_refuses_files_that_have_changed(tmp_path, bert):
    folder = tmp_path / "model"
    shutil.copytree(bert[0], folder)
    path = tmp_path / "saved.json"
    path.write_bytes(succeeds("run", SENTENCE, "--model", f"{folder}/", "--layer", "0", "--json").out)
    config = json.loads((folder / "config.json").read_text()) | {"transformers_version": "9"}
    (folder / "config.json").write_text(json.dumps(config))
    assert_fails(run("check", path), 65, "sha256")


def test_the_fastest_instruction_set_is_asked_for(tmp_path, llama):
    best = re.search(r"instruction set: (\w+)", succeeds("--version").text)[1]
    done, plain = (result(llama[0], "--layer", "all", *isa) for isa in (["--isa", "auto"], []))
    assert done == result(llama[0], "--layer", "all", "--isa", best)
    for layer, other in zip(done["layers"], plain["layers"]):
        near(layer["weights"], other["weights"])
    path = tmp_path / "saved.json"
    path.write_text(json.dumps(done))
    assert succeeds("check", path, "--isa", "auto").text.endswith("passed\n")


def test_a_long_file_is_known_by_pieces_of_it(tmp_path, bert):
    folder = tmp_path / "model"
    shutil.copytree(bert[0], folder)
    with open(folder / "tokenizer.json", "a") as file:
        file.write(" " * (5 << 20))
    path = tmp_path / "saved.json"
    saved = result(folder, "--layer", "0")
    stated = saved["config"]["model"]
    names = ("config.json", "tokenizer.json", "model.safetensors")
    contents = {name: (folder / name).read_bytes() for name in names}
    digest = lambda data: hashlib.sha256(data).hexdigest()
    length = len(contents["tokenizer.json"])
    pieces = b"".join(contents["tokenizer.json"][begin:begin + 65536] for begin in (i * (length - 65536) // 63 for i in range(64)))
    lines = {name: f"{digest(contents[name])}  {name}\n" for name in names}
    sampled = lines | {"tokenizer.json": f"{digest(pieces)}  {length}  tokenizer.json\n"}
    assert "sha256" not in stated and stated["sha256_sample"] == digest("".join(sampled.values()).encode())
    jsonschema.validate(saved, succeeds("schema", "result").json)
    path.write_text(json.dumps(saved))
    assert succeeds("check", path).text.endswith("passed\n")
    # Results of before state all bytes.
    before = {key: value for key, value in stated.items() if key != "sha256_sample"} | {"sha256": digest("".join(lines.values()).encode())}
    path.write_text(json.dumps(saved | {"config": saved["config"] | {"model": before}}))
    assert succeeds("check", path).text.endswith("passed\n")
    path.write_text(json.dumps(saved | {"config": saved["config"] | {"model": stated | {"sha256": "0" * 64}}}))
    assert_fails(run("check", path), 65, "sha256", "0" * 64)
    path.write_text(json.dumps(saved))
    with open(folder / "tokenizer.json", "a") as file:
        file.write(" ")
    assert_fails(run("check", path), 65, "sha256", stated["sha256_sample"])


def test_a_saved_layer_can_be_drawn_and_compared(tmp_path, bert):
    path = tmp_path / "saved.json"
    path.write_bytes(succeeds("run", SENTENCE, "--model", f"{bert[0]}/", "--layer", "0,2", "--json").out)
    assert succeeds("plot", path, "--layer", "2", "--format", "table").text.count("[SEP]") == 4
    assert_fails(run("plot", path, "--format", "table"), 2, "--layer", "0, 2")
    assert_fails(run("plot", path, "--plot", "arcs"), 2, "--layer", "0, 2")
    other = tmp_path / "other.npz"
    succeeds("run", SENTENCE, "--model", f"{bert[0]}/", "--layer", "0,2", "-o", other)
    assert succeeds("compare", path, other).code == 0


@pytest.mark.parametrize("ending", ["npz", "safetensors"])
def test_a_file_of_tensors_has_every_list_of_integers_once(tmp_path, bert, ending):
    path = tmp_path / f"all.{ending}"
    options = ("--layer", "0,2", "--show", "token_ids,token_types,offsets,weights", "--query", "1,2")
    done = result(bert[0], *options)
    succeeds("run", SENTENCE, "--model", f"{bert[0]}/", *options, "-o", path)
    tensors = load_safetensors(path)[0] if ending == "safetensors" else dict(numpy.load(path))
    for name in ("token_ids", "token_types", "offsets", "query_positions"):
        assert tensors[name].tolist() == done[name], name
    assert sorted(tensors) == ["layers.0.weights", "layers.2.weights", "offsets", "query_positions", "token_ids", "token_types"]


@pytest.mark.parametrize("changed", [None, ("entropy", 0.5), ("previous", 0.5), ("pairs", 0.5)])
def test_summaries_are_compared_number_by_number(tmp_path, bert, changed):
    done = result(bert[0])
    (tmp_path / "a.json").write_text(json.dumps(done))
    if changed:
        name, number = changed
        head = done["layers"][1]["summary"]["heads"][1]
        (head["pairs"][0] if name == "pairs" else head).update({"weight" if name == "pairs" else name: number})
    (tmp_path / "b.json").write_text(json.dumps(done))
    compared = run("compare", tmp_path / "a.json", tmp_path / "b.json")
    assert compared.code == (1 if changed else 0)
    assert not changed or f"layers.1.summary.heads.{changed[0]}" in compared.text


def test_each_layer_states_its_heads_and_its_attention(llama, tmp_path):
    done = result(llama[0], "--layer", "1")
    assert done["layers"][0]["dims"] == {"heads": 2, "kv_heads": 1}
    assert done["layers"][0]["attention"] == {"causal": True, "positions": {"kind": "rope", "dim": 4}}
    path = tmp_path / "saved.json"
    path.write_text(json.dumps(done))
    assert succeeds("check", path).code == 0
    done["layers"][0]["attention"]["causal"] = False
    path.write_text(json.dumps(done))
    checked = run("check", path)
    assert checked.code == 1 and "attention" in checked.text


def test_a_page_holds_the_result_and_every_layer(tmp_path, bert):
    page = tmp_path / "page.html"
    shown = "weights,queries,keys,values"
    succeeds("run", SENTENCE, "--model", f"{bert[0]}/", "-o", page)
    held = json.loads(page.read_text().split('id="result">')[1].split("</script>")[0])
    assert held == result(bert[0], "--layer", "all", "--show", "tokens,token_ids," + shown) | {"config": held["config"]}
    (tmp_path / "saved.json").write_text(json.dumps(held))
    again = tmp_path / "again.html"
    succeeds("plot", tmp_path / "saved.json", "-o", again)
    assert json.loads(again.read_text().split('id="result">')[1].split("</script>")[0]) == held
    succeeds("plot", tmp_path / "saved.json", "--head", "2.1", "-o", again)
    one = json.loads(again.read_text().split('id="result">')[1].split("</script>")[0])["layers"]
    assert [(layer["layer"], layer["heads"], len(layer["weights"])) for layer in one] == [(2, [1], 1)]


def test_layers_are_those_of_a_model(tmp_path, bert):
    succeeds("run", "a b c", "--show", "weights", "-o", tmp_path / "w.npz")
    (tmp_path / "r.json").write_bytes(succeeds("run", "a b c", "--json").out)
    for file, words in (("w.npz:weights", "no --layer, since the shape is (1, 3, 3)"), ("r.json", "whole trained models")):
        assert_fails(run("plot", tmp_path / file, "--layer", "0"), 2, "--layer", words)
    assert_fails(run("plot", tmp_path / "w.npz:weights", "--head", "0.0"), 2, "--head: got layer 0; allowed: a head alone, the shape (1, 3, 3) has no layers")
    assert_fails(run("plot", tmp_path / "r.json", "--head", "0.0"), 2, "--head LAYER.HEAD is for results of whole trained models")
    (tmp_path / "m.json").write_bytes(succeeds("run", "a b a", "--model", "induction", "--json", "--layer", "all").out)
    assert_fails(run("plot", tmp_path / "m.json", "--head", "7.0"), 2, "--head: got layer 7; allowed: one that the result has: 0, 1")
    numpy.save(tmp_path / "layers.npy", numpy.full((2, 1, 3, 3), 1 / 3))
    assert_fails(run("plot", tmp_path / "layers.npy", "--axes", "lhts", "--head", "2.0"), 2, "--head: got layer 2; allowed: 0 to 1")


# ---- what is refused -------------------------------------------------------------------------------------------------


def changed(tmp_path, model, edit):
    folder = tmp_path / "changed"
    shutil.copytree(model[0], folder)
    edit(folder)
    return run("run", SENTENCE, "--model", f"{folder}/", "--layer", "0")


def edit_config(**keys):
    def edit(folder):
        path = folder / "config.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | keys))

    return edit


def edit_tensors(change):
    def edit(folder):
        tensors, _ = load_safetensors(folder / "model.safetensors")
        save_safetensors(folder / "model.safetensors", change({name: array.copy() for name, array in tensors.items()}))

    return edit


QUERY = "bert.encoder.layer.1.attention.self.query.weight"


def without_query(tensors):
    del tensors[QUERY]
    return tensors


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (edit_tensors(without_query), ["encoder.layer.1.attention.self.query.weight"]),
        (edit_tensors(lambda tensors: tensors | {"bert.adapter.weight": tensors[QUERY]}), ["adapter.weight"]),
        (edit_tensors(lambda tensors: tensors | {QUERY: tensors[QUERY][:, :4].copy()}), ["query.weight", "(8, 4)", "(8, 8)"]),
        (edit_config(num_hidden_layers=4), ["encoder.layer.3"]),
        (edit_config(num_attention_heads=3), ["hidden size", "3 heads"]),
        (edit_config(adapter_size=64), ["adapter_size", "--set model.ignore_config="]),
        (edit_config(model_type="mamba"), ["mamba", "llama"]),
        (edit_config(hidden_act="softplus"), ["softplus", "gelu"]),
        (edit_config(vocab_size=13), ["word_embeddings", "13"]),
        (lambda folder: (folder / "config.json").write_text("{"), ["config.json"]),
        (edit_config(layer_norm_eps={}), ["layer_norm_eps", "an object", "a number above 0"]),
        (edit_config(hidden_act={"name": None}), ["hidden_act", "an object", "a text"]),
        (edit_config(hidden_size=[8]), ["hidden_size", "a list of 1", "a whole number"]),
        (edit_config(type_vocab_size=[]), ["type_vocab_size", "a list of 0"]),
        (lambda folder: (folder / "tokenizer.json").write_text('{"model": {"type": "Morse", "vocab": {"a": 0}}}'), ["Morse"]),
        (lambda folder: (folder / "model.safetensors").rename(folder / "pytorch_model.bin"), ["pickle", "safetensors"]),
        (lambda folder: (folder / "model.safetensors").rename(folder / "model.gguf"), ["'model.gguf'", "--model and the path of that file"]),
        (lambda folder: (folder / "model.safetensors").write_bytes(struct.pack("<Q", 1 << 40)), ["model.safetensors"]),
    ],
)
def test_a_folder_that_is_no_model_is_refused_in_one_line(tmp_path, bert, edit, says):
    done = changed(tmp_path, bert, edit)
    assert_fails(done, 65, *says)
    assert done.message.count("/changed/") == 1  # of the folder, or of the file in it


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_file_that_is_not_there_is_no_input(tmp_path, bert, name):
    assert_fails(changed(tmp_path, bert, lambda folder: (folder / name).unlink()), 66, name)


def test_a_part_that_is_not_there_is_no_input(tmp_path, bert):
    def edit(folder):
        (folder / "model.safetensors").unlink()
        (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {QUERY: "model-1.safetensors"}}))

    assert_fails(changed(tmp_path, bert, edit), 66, "model-1.safetensors")


def test_a_list_of_lists_is_no_list_of_texts(tmp_path):
    folder, _ = tiny_models.llama(tmp_path / "llama", model_type="qwen2", layer_types=[["full_attention"]] * 3)
    assert_fails(run("run", SENTENCE, "--model", f"{folder}/"), 65, "layer_types", "an object or a list")


def test_a_tensor_that_the_index_leaves_out_counts_as_the_others(tmp_path, bert):
    folder = tmp_path / "listed"
    shutil.copytree(bert[0], folder)
    (folder / "model.safetensors").rename(folder / "all.safetensors")
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {QUERY: "all.safetensors"}}))
    assert result(folder, "--layer", "0")["layers"] == result(bert[0], "--layer", "0")["layers"]


def test_a_tokenizer_of_another_vocabulary_is_refused(tmp_path, bert):
    def edit(folder):
        path = folder / "tokenizer.json"
        tokenizer = json.loads(path.read_text())
        tokenizer["model"]["vocab"]["zebra"] = 30000
        path.write_text(json.dumps(tokenizer))

    assert_fails(changed(tmp_path, bert, edit), 65, "tokenizer", "30000")


def test_a_key_that_we_do_not_know_can_be_ignored_and_is_recorded(tmp_path, bert):
    folder = tmp_path / "odd"
    shutil.copytree(bert[0], folder)
    edit_config(adapter_size=64)(folder)
    done = result(folder, "--layer", "0", "--set", "model.ignore_config=adapter_size")
    assert done["config"]["model"]["ignore_config"] == ["adapter_size"]
    assert done["layers"] == result(bert[0], "--layer", "0")["layers"]


def test_keys_that_transformers_writes_for_a_gguf_file_change_nothing(tmp_path, bert):
    folder = tmp_path / "unpacked"
    shutil.copytree(bert[0], folder)
    edit_config(_model_name_or_path="tiny", unk_token_id=3, quantization_config={"quant_method": "gguf", "gguf_file": "m.gguf", "dequantize": False})(folder)
    assert result(folder, "--layer", "0")["layers"] == result(bert[0], "--layer", "0")["layers"]


def test_all_keys_that_we_do_not_know_are_named_at_once_with_the_option_that_ignores_them(tmp_path, bert):
    folder = tmp_path / "odd"
    shutil.copytree(bert[0], folder)
    edit_config(adapter_size=64, quantization_config={"quant_method": "fp8", "bits": {"all": 8}}, gate="a")(folder)
    done = run("run", SENTENCE, "--model", f"{folder}/", "--layer", "0")
    assert_fails(done, 65, "'adapter_size' = 64, 'gate' = 'a', 'quantization_config' = an object are not known here")
    option = re.search(r"--set model\.ignore_config='.*'", done.message)[0]
    assert result(folder, "--layer", "0", *shlex.split(option))["layers"] == result(bert[0], "--layer", "0")["layers"]


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        (["--layer", "3"], 2, ["--layer", "3", "0 to 2"]),
        (["--layer", "-1"], 2, ["--layer"]),
        (["--layer", "0", "--head", "2"], 2, ["--head", "2"]),
        (["--layer", "0", "--query", "zebra"], 2, ["--query", "zebra"]),
        (["--heads", "2"], 2, ["--heads", "--model"]),
        (["--cross", "a b"], 2, ["--cross", "--model"]),
        (["--causal"], 2, ["--causal", "--model"]),
        (["--recipe", "owen-2025"], 2, ["--recipe", "--model"]),
        (["--verify"], 2, ["--verify", "--model"]),
        (["--show", "vocabulary"], 2, ["--show", "vocabulary"]),
        (["-o", "x.recipe.json"], 2, ["recipe", "--model"]),
        (["--set", "model.ignore_config=adapter_size"], 2, ["--set model.ignore_config", "adapter_size"]),
    ],
)
def test_options_that_do_not_go_with_a_model(bert, options, code, says):
    assert_fails(run("run", SENTENCE, "--model", f"{bert[0]}/", *options), code, *says)


def test_options_of_a_model_need_one():
    assert_fails(run("run", SENTENCE, "--layer", "1"), 2, "--layer", "--model")
    assert_fails(run("run", SENTENCE, "--set", "input.pair=x"), 2, "--set input.pair requires --model")
    assert_fails(run("run", SENTENCE, "--show", "hidden_states"), 2, "hidden_states", "--model")


def test_a_folder_that_is_not_there():
    assert_fails(run("run", SENTENCE, "--model", "nowhere/"), 66, "nowhere")
    assert_fails(run("run", SENTENCE, "--model", "nowhere"), 66, "nowhere", "slash")


def test_too_many_words(bert):
    assert_fails(run("run", "cat " * 40, "--model", f"{bert[0]}/", "--layer", "0"), 65, "32")


def test_output_over_a_file_of_the_model_is_refused(bert):
    before = (bert[0] / "config.json").read_bytes()
    assert_fails(run("run", SENTENCE, "--model", f"{bert[0]}/", "--json", "-o", bert[0] / "config.json"), 2)
    assert (bert[0] / "config.json").read_bytes() == before


def test_a_reader_that_has_left(bert):
    assert run_unread("run", SENTENCE, "--model", f"{bert[0]}/", "--layer", "all", "--json").code == run_unread("run", "a").code


# ---- the model inside ------------------------------------------------------------------------------------------------

REPEATS = "the cat sat on the mat while the dog sat on the rug and the cat sat"


def test_the_model_inside_looks_back_and_continues_what_repeats():
    done = succeeds("run", REPEATS, "--model", "induction", "--json").json
    first, second = (max(layer["summary"]["heads"], key=lambda head: head[what])[what]
                     for layer, what in zip(done["layers"], ["previous", "induction"]))
    assert first > 0.6 and second > 0.7
    said = succeeds("run", REPEATS, "--model", "induction", "--layer", "1", "--show", "logits", "--json").json
    assert said["likeliest"][0]["words"][0]["token"] == "on"
    assert said["likeliest"][0]["words"][0]["probability"] > 0.9


def test_words_of_the_model_inside_are_symbols_in_the_order_of_their_first_appearance():
    done = succeeds("run", "b a, b c a", "--model", "induction", "--layer", "0", "--json").json
    assert (done["tokens"], done["token_ids"]) == (["b", "a", "b", "c", "a"], [0, 1, 0, 2, 1])
    other = succeeds("run", "one two one three two", "--model", "induction", "--layer", "0", "--json").json
    assert other["layers"] == done["layers"]


def test_the_model_inside_knows_26_words():
    words = [f"w{i}" for i in range(26)]
    succeeds("run", " ".join([*words, *words]), "--model", "induction")
    assert_fails(run("run", " ".join([*words, "one"]), "--model", "induction"), 65, "26")
    assert_fails(run("run", "a b", "--model", "induction", "--set", "input.pair=c"), 2, "--set input.pair")


def test_a_saved_result_of_the_model_inside_is_checked(tmp_path):
    path = tmp_path / "saved.json"
    path.write_bytes(succeeds("run", REPEATS, "--model", "induction", "--layer", "all", "--show", "all", "--json").out)
    assert succeeds("check", path).text.endswith("passed\n")


# ---- found by a newcomer and by a breaker ----------------------------------------------------------------------------


def test_an_empty_name_is_no_model():
    assert_fails(run("run", SENTENCE, "--model", ""), 66, "--model", "induction")


def test_the_mean_of_heads_has_no_summary():
    for options in [(), ("--layer", "0", "--show", "summary"), ("--layer", "0", "--top", "1")]:
        assert_fails(run("run", SENTENCE, "--model", "induction", "--head", "mean", *options), 2, "--head", "mean")


def test_check_finds_a_changed_probability(tmp_path):
    path = tmp_path / "saved.json"
    saved = succeeds("run", REPEATS, "--model", "induction", "--layer", "1", "--show", "logits", "--json").json
    saved["likeliest"][0]["words"][0]["probability"] = 0.5
    path.write_text(json.dumps(saved))
    done = run("check", path)
    assert done.code == 1 and "likeliest[0].words[0].probability" in done.text


def test_a_line_may_need_more_memory_than_others(bert, tmp_path):
    folder, _ = tiny_models.bert(tmp_path / "long", 1, max_position_embeddings=1024)
    tensors, _ = load_safetensors(folder / "model.safetensors")
    name = "bert.embeddings.position_embeddings.weight"
    save_safetensors(folder / "model.safetensors", tensors | {name: numpy.resize(tensors[name], (1024, 8))})
    lines = "the cat\n" + "cat " * 1000 + "\n"
    done = run("run", "--lines", "-", "--model", f"{folder}/", "--layer", "all", "--query", "3", "--head", "0", "--json", stdin=lines)
    assert (done.code, len(done.json_lines), "layers" in done.json_lines[1]) == (0, 2, True)


def test_a_line_without_the_word_of_query_is_reported(bert):
    done = run("run", "--lines", "-", "--model", f"{bert[0]}/", "--layer", "0", "--query", "dog", "--json", stdin="the dog\nthe cat\na dog\n")
    assert done.code == 65
    assert ["layers" in line for line in done.json_lines] == [True, False, True]


def test_check_looks_for_the_model_beside_the_result(bert, tmp_path):
    shutil.copytree(bert[0], tmp_path / "place" / "model")
    path = tmp_path / "place" / "saved.json"
    path.write_bytes(succeeds("run", SENTENCE, "--model", "./model", "--layer", "0", "--json", cwd=tmp_path / "place").out)
    assert succeeds("check", path, cwd=tmp_path).text.endswith("passed\n")


def test_a_result_of_a_model_is_no_recipe(bert, tmp_path):
    path = tmp_path / "saved.json"
    path.write_bytes(succeeds("run", SENTENCE, "--model", f"{bert[0]}/", "--json").out)
    assert_fails(run("run", "--recipe", path), 65, "--model")


def test_top_adds_the_strongest_pairs_of_each_layer():
    table = succeeds("run", REPEATS, "--model", "induction", "--top", "1").text
    assert table.count("strongest pairs") == 2


def test_a_sentence_of_spaces_is_refused(bert):
    assert_fails(run("run", "  ", "--model", f"{bert[0]}/"), 65, "no words")


def test_logits_without_a_mask_say_that_nothing_is_guessed(bert):
    done = run("run", SENTENCE, "--model", f"{bert[0]}/", "--show", "logits")
    assert done.code == 0 and "[MASK]" in done.message


@pytest.mark.parametrize("layer", [("--layer", "0"), ("--layer", "0,1"), ("--head", "1.0")])
@pytest.mark.parametrize("lines", [False, True])
def test_logits_of_another_layer_than_the_last_are_refused(llama, layer, lines):
    text = ["--lines", "-"] if lines else [SENTENCE]
    done = run("run", *text, "--model", f"{llama[0]}/", *layer, "--show", "tokens,logits", stdin="the cat\n")
    assert_fails(done, 2, "--show logits: got layer", "the last layer, 2, or none", "--show weights,logits")


@pytest.mark.parametrize("layer", [("--layer", "2"), ("--layer", "0,2"), ("--layer", "all"), ("--head", "2.0"), ()])
def test_logits_of_the_last_layer_need_no_word(llama, layer):
    assert result(llama[0], *layer, "--show", "logits")["warnings"] == []


def test_logits_beside_another_layer_are_said_to_be_those_of_the_last(llama):
    whole = result(llama[0], "--show", "logits")
    done = result(llama[0], "--layer", "0", "--show", "weights,logits")
    assert (done["logits"], done["likeliest"]) == (whole["logits"], whole["likeliest"])
    assert done["warnings"] == ["logits are those behind the last layer, 2, which is not shown"]
    table = run("run", SENTENCE, "--model", f"{llama[0]}/", "--layer", "0", "--top", "1", "--show", "logits")
    assert (table.code, table.message) == (0, f"attn-cli: warning: {done['warnings'][0]}\n")


def test_token_types_that_a_model_has_no_table_for_are_left_out_and_said(tmp_path, llama):
    plain, typed = tmp_path / "plain", tmp_path / "typed"
    for folder, kind in ((plain, 0), (typed, 1)):
        shutil.copytree(llama[0], folder)
        tokenizer = tiny_models.word_pieces()
        for part in tokenizer["post_processor"]["pair"]:
            next(iter(part.values()))["type_id"] *= kind
        (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    pair = ("--layer", "0", "--set", "input.pair=it sat", "--show", "weights,token_types")
    done = result(typed, *pair, sentence="the cat")
    assert done["layers"] == result(plain, *pair, sentence="the cat")["layers"]
    assert done["token_types"] == [0, 0, 0, 0, 1, 1, 1]
    said = "the template of the tokenizer gives token types, which this model has no table for; they change nothing"
    assert done["warnings"] == [said]
    assert result(typed, sentence="the cat")["warnings"] == []
    for command in (["run", "the cat"], ["explain", "the cat", "--query", "0"]):
        assert run(*command, "--model", f"{typed}/", *pair[:4]).message == f"attn-cli: warning: {said}\n"


def test_formats_of_numbers_have_the_weights_of_all_layers(bert, tmp_path):
    rows = succeeds("run", "the cat", "--model", f"{bert[0]}/", "--format", "csv").text
    assert {row.split(",")[1] for row in rows.splitlines() if row.startswith("weights")} == {"0", "1", "2"}


def test_an_index_without_tensors_is_refused(tmp_path, bert):
    def edit(folder):
        (folder / "model.safetensors").unlink()
        (folder / "model.safetensors.index.json").write_text('{"weight_map": {}}')

    assert_fails(changed(tmp_path, bert, edit), 65)


def test_an_infinite_weight_is_refused(tmp_path, bert):
    def infinite(tensors):
        tensors[QUERY][0, 0] = numpy.inf
        return tensors

    folder = tmp_path / "changed"
    shutil.copytree(bert[0], folder)
    edit_tensors(infinite)(folder)
    assert_fails(run("run", SENTENCE, "--model", f"{folder}/", "--layer", "1"), 65, "not finite")


def test_layers_that_nothing_is_shown_of_are_not_computed(tmp_path, bert):
    def infinite(tensors):
        tensors[QUERY.replace("layer.1", "layer.2")][0, 0] = numpy.inf
        return tensors

    folder = tmp_path / "changed"
    shutil.copytree(bert[0], folder)
    edit_tensors(infinite)(folder)
    assert len(result(folder, "--show", "tokens")["layers"]) == 3
    shown = ("--show", "embeddings,hidden_states")
    assert result(folder, "--layer", "1", *shown)["layers"] == result(bert[0], "--layer", "1", *shown)["layers"]
    assert_fails(run("run", SENTENCE, "--model", f"{folder}/", "--layer", "2", *shown), 65, "not finite")


def test_rows_of_logits_are_those_of_the_query(bert):
    whole = result(bert[0], "--show", "logits", sentence="the [MASK] sat")
    rows = result(bert[0], "--show", "logits", "--query", "sat,1", sentence="the [MASK] sat")
    assert rows["logits"] == [whole["logits"][1], whole["logits"][3]]
    assert rows["likeliest"] == whole["likeliest"]
    table = succeeds("run", "the [MASK] sat", "--model", f"{bert[0]}/", "--query", "sat", "--show", "logits", "--format", "csv").text
    assert {line.split(",")[3] for line in table.splitlines()[1:]} == {"3"}


def test_a_terminal_gets_commands_for_what_is_next(bert):
    head = f"attn-cli run {json.dumps(SENTENCE)} --model {bert[0]}/"
    code, shown = on_terminal("run", SENTENCE, "--model", f"{bert[0]}/", columns=200)
    commands = [line[len("→ "):] for line in shown.decode().splitlines() if line.startswith("→ ")]
    means = {f"{layer['layer']}.{h}": one["previous"] for layer in result(bert[0])["layers"] for h, one in enumerate(layer["summary"]["heads"])}
    assert code == 0 and commands == [f"{head} --head {max(means, key=means.get)}", f"{head} -o page.html"]
    _, shown = on_terminal("run", SENTENCE, "--model", f"{bert[0]}/", "--layer", "1", columns=200)
    commands = [line[len("→ "):] for line in shown.decode().splitlines() if line.startswith("→ ")]
    weights = numpy.asarray(result(bert[0], "--layer", "1")["layers"][0]["weights"])
    h, query, key = numpy.unravel_index(weights.argmax(), weights.shape)
    done = run(*shlex.split(commands[0])[1:], "--json").json
    assert (done["layer"], done["head"], done["query"]["position"], done["key_position"]) == (1, h, query, key)
    assert commands[1:] == [f"{head} --layer 1 -o page.html"]


def test_a_layer_stands_once_in_a_result(bert, tmp_path):
    path = tmp_path / "saved.json"
    saved = result(bert[0], "--layer", "0")
    path.write_text(json.dumps(saved | {"layers": saved["layers"] * 2}))
    assert_fails(run("compare", path, path), 65, "ascending layers")


def test_keys_and_names_of_files_are_escaped(tmp_path, bert):
    assert_fails(changed(tmp_path, bert, edit_config(**{"\x1b[31m\nkey": 1})), 65, "\\x1b", "\\n")


# ---- draws.json ------------------------------------------------------------------------------------------------------


def test_the_blocks_of_the_tutorial_have_the_weights_of_pytorch():
    """tests/oracle/live_drawn_models.py compares all of them with PyTorch itself."""
    done = succeeds("run", "Life is short", "--model", "two-blocks", "--layer", "1", "--head", "0", "--json").json
    assert done["token_ids"] == [0, 1, 2]
    near(done["layers"][0]["weights"], [[[1, 0, 0], [0.645149, 0.354851, 0], [0.392412, 0.362474, 0.245113]]], 1e-6)


WORD_DRAW = {"tensor": "words.weight", "init": "normal"}
HEADS = [{"tensor": "layers.*.query.weight", "init": "linear", "head": head} for head in range(2)]
OTHERS = [{"tensor": f"layers.*.{name}.weight", "init": "linear"} for name in ("key", "value", "output", "up", "down")]


def drawn(folder, *draws):
    """A model without biases, positions and head."""
    folder.mkdir()
    config = {"model_type": "tutorial", "hidden_size": 4, "intermediate_size": 6, "num_attention_heads": 2, "vocab_size": 5,
              "num_hidden_layers": 2, "learned_positions": False, "attention_bias": False, "attention_output_bias": False,
              "mlp_bias": False}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "draws.json").write_text(json.dumps({"draws": draws}))
    return folder


def test_a_folder_with_draws_is_a_model(tmp_path):
    folder = drawn(tmp_path / "model", {"seed": 1}, WORD_DRAW, *HEADS, *OTHERS)
    saved = tmp_path / "result.json"
    saved.write_text(json.dumps(result(folder, "--layer", "all", sentence="b c a b")))
    assert json.loads(saved.read_text())["token_ids"] == [1, 2, 0, 1]
    succeeds("check", saved)


@pytest.mark.parametrize("draws, says", [
    ([WORD_DRAW], "draws[0] comes before any seed; allowed: a seed first"),
    ([{"seed": 1}, {**WORD_DRAW, "tensor": "word.weight"}], "draws[1]: tensor: got 'word.weight'; allowed: a tensor of this model; did you mean 'words.weight'?"),
    ([{"seed": 1}, {**WORD_DRAW, "tensor": "layers.*.keys.weight"}], "draws[1]: tensor: got 'layers.*.keys.weight'; allowed: a tensor of this model; did you mean 'layers.*.key.weight'?"),
    ([{"seed": 1}, WORD_DRAW, WORD_DRAW], "draws[2]: words.weight: got 5 of its 5 rows drawn before; allowed: each tensor once"),
    ([{"seed": 1}, WORD_DRAW, HEADS[1]], "draws[2]: layers.0.query.weight of head 1: got 0 of its 4 rows drawn before"),
    ([{"seed": 1}, WORD_DRAW, HEADS[0], *OTHERS], "draws: layers.0.query.weight: got 2 rows; allowed: 4, those of all heads"),
    ([{"seed": 1}, WORD_DRAW, *HEADS], "draws: no draw of 'layers.0.down.weight', of the shape (4, 6)"),
    ([{"seed": 1}, {"tensor": "norm.weight", "init": "linear"}], "draws[1]: norm.weight: got the shape (4,); allowed: a weight of two dimensions"),
    ([{"seed": 1}, {"tensor": "words.weight", "init": "identity"}], "draws[1].init: got 'identity'; allowed: one that draws, or zeros"),
    ([{"seed": 1}, {"tensor": "words.weight"}], "draws[1]"),
    ([{"seed": 1}, {**WORD_DRAW, "shape": [5, 4]}], "draws[1]"),
])
def test_draws_that_make_no_model_are_refused(tmp_path, draws, says):
    folder = drawn(tmp_path / "model", *draws)
    assert_fails(run("run", "a b", "--model", f"{folder}/"), 65, says)


def test_weights_come_from_one_place(tmp_path, bert):
    folder = tmp_path / "both"
    shutil.copytree(bert[0], folder)
    (folder / "draws.json").write_text('{"draws": []}')
    assert_fails(run("run", "a b", "--model", f"{folder}/"), 65, "model.safetensors and draws.json; allowed: one of them")


@pytest.mark.parametrize("shown", ["tokens", "tokens,offsets"])
def test_joined_words_without_weights(bert, tmp_path, shown):
    saved = tmp_path / "words.json"
    succeeds("run", "The cats", "--model", f"{bert[0]}/", "--layer", "0", "--set", "join=words", "--show", shown, "--json", "-o", saved)
    assert json.loads(saved.read_text())["tokens"] == ["[CLS]", "The", "cats", "[SEP]"]
    succeeds("check", saved)
