"""A batch: several inputs of one recipe, one result for each, as an article prints arrays of shape (B, T, …)."""

import csv
import io
import json

import pytest
from program import assert_fails, run, succeeds
from tensors import normal, numpy

INPUTS = [[0.43, 0.15, 0.89], [0.55, 0.87, 0.66], [0.57, 0.85, 0.64], [0.22, 0.58, 0.33], [0.77, 0.25, 0.10], [0.05, 0.80, 0.55]]
MATRICES = ("W_q", "W_k", "W_v")


def draws(init, **more):
    return [{"tensor": name, "init": init, **more} for name in MATRICES]


# "Build a Large Language Model", chapter 3: batch = torch.stack((inputs, inputs), dim=0), causal attention of seed 123.
STACKED = {
    "input": {"positions": 6, "batch": 2},
    "dims": {"d_k": 2, "d_v": 2},
    "draws": [{"tensor": "embeddings", "values": INPUTS}, {"seed": 123}, *draws("linear")],
    "attention": {"causal": True},
    "published": [
        {"array": "context", "shape": [2, 6, 2]},
        {
            "array": "context",
            "at": [None],
            "values": [[["-0.4519", "0.2216"], ["-0.5874", "0.0058"], ["-0.6300", "-0.0632"], ["-0.5675", "-0.0843"], ["-0.5526", "-0.0981"], ["-0.5299", "-0.1081"]]] * 2,
        },
        {"array": "context", "at": [1, 0], "values": ["-0.4519", "0.2216"]},
    ],
}
# torch.manual_seed(123); x = torch.randn(2, 4, 3); three of torch.rand(3, 2); printed by PyTorch 1.13.
DRAWN = {
    "input": {"positions": 4, "batch": 2},
    "dims": {"embed_dim": 3, "d_k": 2, "d_v": 2},
    "draws": [{"seed": 123}, {"tensor": "embeddings", "init": "normal"}, *draws("uniform", side="right")],
    "published": [
        {
            "array": "context",
            "values": "tensor([[[-0.1694, -0.5892],\n         [-0.1342, -0.3622],\n         [-0.1855, -0.6916],\n         [-0.1908, -0.7269]],\n\n"
            "        [[ 0.9711,  1.2526],\n         [-1.6007, -2.4446],\n         [ 0.9668,  1.2804],\n         [ 1.0136,  1.3811]]])",
        },
    ],
}
WORDS = {
    "input": {"sentence": ["to be or not", "be that is"]},
    "dims": {"embed_dim": 4, "d_k": 3, "d_v": 3},
    "draws": [{"seed": 1}, {"tensor": "embedding", "init": "normal"}, *draws("uniform")],
}
RAGGED = "input.sentence: got sentences of different lengths; allowed: one length, which dropout and embeddings by position need"


@pytest.fixture
def write(tmp_path):
    def write(recipe, **more):
        path = tmp_path / "batch.json"
        path.write_text(json.dumps({"schema": "attn-cli/recipe/1", **recipe, **more}))
        return path

    return write


def results(path, *options):
    return succeeds("run", "--recipe", path, "--json", *options).json_lines


def without_config(result):
    return {key: value for key, value in result.items() if key not in ("config", "index")}


# ---- results ---------------------------------------------------------------------------------------------------------


def test_two_equal_entries_give_equal_results(write):
    first, second = results(write(STACKED), "--show", "all")
    assert without_config(first) == without_config(second)
    assert [first["index"], second["index"]] == [0, 1]


def test_the_numbers_of_a_stacked_batch_are_the_ones_that_the_book_prints(write):
    for recipe in (STACKED, DRAWN):
        done = succeeds("check", write(recipe))
        assert done.text.endswith("batch.json: passed\n")


def test_a_batch_is_drawn_whole_and_each_entry_has_its_part(write):
    first, second = results(write(DRAWN), "--show", "all")
    alone = {**DRAWN, "input": {"positions": 4}}
    for b, entry in enumerate((first, second)):
        drawn = {"tensor": "embeddings", "init": "normal", "shape": [2, "T", "D"], "take": [b]}
        expected = results(write({**alone, "draws": [DRAWN["draws"][0], drawn, *DRAWN["draws"][2:]]}), "--show", "all")[0]
        assert without_config(entry) == without_config(expected)
    assert first["parameters"] == second["parameters"] and first["embeddings"] != second["embeddings"]


def test_stated_numbers_may_have_an_entry_each_and_a_shape_may_have_the_batch_in_it(write):
    X = normal(0, 2, 3, 3, dtype="float64").round(3).tolist()
    stated = {"input": {"positions": 3, "batch": 2}, "dims": {"d_k": 2, "d_v": 2}, "draws": [{"tensor": "embeddings", "values": X}, {"seed": 123}, *draws("linear")]}
    assert [entry["embeddings"] for entry in results(write(stated, dtype="float64"), "--show", "embeddings")] == X
    whole = [entry["embeddings"] for entry in results(write(DRAWN), "--show", "embeddings")]
    for shape, take in (([2, "T", "D"], []), ([3, 2, 4, 3], [0])):
        drawn = {"tensor": "embeddings", "init": "normal", "shape": shape, **({"take": take} if take else {})}
        recipe = {**DRAWN, "dims": {"embed_dim": 3}, "draws": [{"seed": 123}, drawn, *draws("uniform")]}
        found = [entry["embeddings"] for entry in results(write(recipe), "--show", "embeddings")]
        assert len(found) == 2 and found[0] != found[1] and (take or found == whole)


def test_sentences_have_one_vocabulary(write):
    first, second = results(write(WORDS), "--show", "all")
    assert first["vocabulary"] == second["vocabulary"] == {"be": 0, "is": 1, "not": 2, "or": 3, "that": 4, "to": 5}
    assert [first["tokens"], second["tokens"]] == [["to", "be", "or", "not"], ["be", "that", "is"]]
    assert first["parameters"] == second["parameters"] and numpy.shape(first["parameters"]["embedding"]) == (6, 4)
    assert first["embeddings"][1] == second["embeddings"][0]


def test_ids_of_a_batch_follow_one_another(write):
    recipe = {**WORDS, "input": {"ids": [5, 0, 3, 0, 4, 1], "batch": 2}, "dims": {**WORDS["dims"], "vocab_size": 6}}
    assert [entry["token_ids"] for entry in results(write(recipe), "--show", "token_ids")] == [[5, 0, 3], [0, 4, 1]]


def test_dropout_draws_for_the_whole_batch(write):
    dropout = {"causal": True, "dropout": {"p": 0.5}}
    kept = [numpy.array(entry["dropped_weights"])[0] != 0 for entry in results(write(STACKED, attention=dropout), "--show", "dropped_weights")]
    # nn.Dropout(0.5) after the three layers of STACKED, PyTorch 1.13 without MKL
    assert kept[0].tolist() == [[1, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0], [1, 0, 1, 0, 0, 0], [1, 1, 0, 1, 0, 0], [0, 0, 0, 0, 0, 1]]
    assert kept[1].tolist() == [[0, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0], [1, 0, 1, 0, 0, 0], [0, 1, 1, 1, 0, 0], [1, 1, 1, 0, 0, 0], [1, 1, 0, 1, 1, 0]]


def test_a_mask_may_hide_the_padding_of_each_entry(write):
    padded = {**WORDS, "input": {"sentence": ["to be or", "be <pad> <pad>"]}}
    seen = [[[[True, True, True]]], [[[True, False, False]]]]
    first, second = results(write(padded, attention={"mask": {"values": seen}}), "--show", "weights")
    assert numpy.all(numpy.array(first["weights"]) > 0)
    assert second["weights"] == [[[1, 0, 0]] * 3]
    explained = succeeds("explain", "--recipe", write(padded, attention={"mask": {"values": seen}}), "--set", "entry=1", "--query", "0", "--json").json
    assert [key["weight"] for key in explained["keys"]] == [1, 0, 0]


# ---- forms -----------------------------------------------------------------------------------------------------------


def test_tables_name_their_entry(write):
    done = succeeds("run", "--recipe", write(DRAWN), "--show", "context")
    tables = [succeeds("run", "--recipe", write(DRAWN), "--show", "context", "--set", f"entry={b}").text for b in (0, 1)]
    assert done.text == f"entry 0\n{tables[0]}\nentry 1\n{tables[1]}"


def test_csv_has_one_header_and_an_index(write):
    rows = list(csv.DictReader(io.StringIO(succeeds("run", "--recipe", write(DRAWN), "--show", "context", "--format", "csv").text)))
    assert [row["index"] for row in rows] == ["0"] * 8 + ["1"] * 8
    assert "index" not in succeeds("run", "--recipe", write(DRAWN), "--set", "csv.header=false", "--format", "csv").text


def test_an_entry_alone_goes_wherever_one_result_goes(write, tmp_path):
    path = write(DRAWN)
    for name in ("one.svg", "one.npz", "one.html", "one.recipe.json"):
        succeeds("run", "--recipe", path, "--set", "entry=1", "-o", tmp_path / name)
    assert succeeds("check", tmp_path / "one.recipe.json").text.endswith("passed\n")
    weights = results(path, "--set", "entry=1")[0]["weights"]
    explained = succeeds("explain", "--recipe", path, "--set", "entry=1", "--query", "2", "--json").json
    assert [key["weight"] for key in explained["keys"]] == weights[0][2]


def test_a_saved_line_is_computed_again_from_what_it_says(write, tmp_path):
    for recipe in (STACKED, DRAWN, WORDS):
        saved = tmp_path / "saved.json"
        succeeds("run", "--recipe", write(recipe), "--show", "all", "--json", "-o", saved)
        assert succeeds("check", saved).text.count("passed") == 2
        line = tmp_path / "line.json"
        line.write_text(saved.read_text().splitlines()[1])
        assert succeeds("check", line).text.endswith("line.json: passed\n")
        assert results(write(recipe), "--set", "entry=1", "--show", "all")[0] == {key: value for key, value in json.loads(line.read_text()).items() if key != "index"}


def test_a_sentence_of_ones_own_takes_the_place_of_the_batch(write):
    for recipe in (DRAWN, WORDS, {**WORDS, "entry": 1}):
        assert [result["tokens"] for result in results(write(recipe), "mine alone")] == [["mine", "alone"]]
    done = run("run", "--lines", "-", "--recipe", write({**WORDS, "entry": 1}), "--json", stdin="a b\nc\n")
    assert done.code == 0 and len(done.text.splitlines()) == 2


# ---- published numbers -----------------------------------------------------------------------------------------------


def test_a_wrong_number_is_named_by_its_entry(write):
    published = [{"array": "context", "at": [1, 2], "values": ["0.9668", "1.2805"]}]
    done = run("check", write(DRAWN, published=published))
    assert done.code == 1
    assert "context[1][2][1]: stated 1.2805, computed 1.280" in done.text


def test_entries_of_several_lengths_are_stated_one_by_one(write):
    first, second = results(write(WORDS), "--show", "weights")
    one_by_one = [{"array": "weights", "at": [b], "values": entry["weights"]} for b, entry in enumerate((first, second))]
    words = [{"array": "tokens", "at": [1], "values": ["be", "that", "is"]}, {"array": "vocabulary", "values": {"be": 0, "is": 1, "not": 2, "or": 3, "that": 4, "to": 5}}]
    done = succeeds("check", write(WORDS, published=one_by_one + words, precision=[{"array": "context", "atol": 1e-6}]))
    assert done.text.count("all equal") == 4 and done.text.endswith("passed\n")
    done = run("check", write(WORDS, published=[{"array": "weights", "shape": [2, 1, 4, 4]}]))
    assert_fails(done, 65, "published: weights: got all entries of a batch, whose shapes differ; allowed: a statement for each entry")


def test_a_recipe_of_one_entry_states_arrays_without_the_batch(write):
    published = [{"array": "context", "values": [["0.9711", "1.2526"], ["-1.6007", "-2.4446"], ["0.9668", "1.2804"], ["1.0136", "1.3811"]]}]
    assert succeeds("check", write(DRAWN, entry=1, published=published)).text.endswith("passed\n")


# ---- errors ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [("run", "-o", "x.svg"), ("run", "-o", "x.npz"), ("run", "-o", "x.recipe.json"), ("explain",)])
def test_where_one_result_is_wanted_an_entry_must_be_chosen(write, arguments, tmp_path):
    command, *output = arguments
    assert_fails(run(command, "--recipe", write(DRAWN), *output, cwd=tmp_path), 2, "the recipe is a batch of 2, and one entry is wanted; --set entry=N chooses it, 0 to 1")
    assert not list(tmp_path.glob("x.*"))


def test_entries_that_are_not_there(write):
    assert_fails(run("run", "--recipe", write(DRAWN), "--set", "entry=2"), 2, "--set entry: got 2; allowed: 0 to 1, the entries of the batch")
    assert_fails(run("run", "--recipe", write(DRAWN, entry=2)), 65, "entry: got 2; allowed: 0 to 1, the entries of the batch")
    assert_fails(run("run", "a b", "--set", "entry=0"), 2, "--set entry: got 0; allowed: only with an input that is a batch")
    assert_fails(run("run", "--lines", "-", "--set", "entry=0", stdin="a b\n"), 2, "--set entry: got 0; allowed: only with an input that is a batch")


@pytest.mark.parametrize(
    "message, recipe",
    [
        ("input.batch: got 0; allowed: an integer from 1 to 1024", {**DRAWN, "input": {"positions": 4, "batch": 0}}),
        ("input.sentence: got an array of 0 elements; allowed: a sentence, or a batch of 1 to 1024", {**WORDS, "input": {"sentence": []}}),
        ("input.ids: got 3 ids; allowed: a multiple of 2, the entries of the batch", {**WORDS, "input": {"ids": [0, 1, 2], "batch": 2}, "dims": {"vocab_size": 6}}),
        ("draws: embeddings: got 3 entries; allowed: 2, as many as the batch has", {**DRAWN, "draws": [{"seed": 1}, {"tensor": "embeddings", "init": "normal", "shape": [3, 4, 3]}, *draws("uniform")]}),
        ("draws: embeddings: got 1 entries; allowed: 2, as many as the batch has", {**DRAWN, "draws": [{"tensor": "embeddings", "values": [[[1, 2, 3]] * 4]}, {"seed": 1}, *draws("uniform")]}),
        (RAGGED, {**WORDS, "attention": {"dropout": {"p": 0.5}}}),
        (RAGGED, {**WORDS, "draws": [{"seed": 1}, {"tensor": "embeddings", "init": "normal"}, *draws("uniform")]}),
        ("no words in the input: a sentence of the batch is ','; allowed: at least one word", {**WORDS, "input": {"sentence": ["a", ","]}}),
    ],
)  # fmt: skip
def test_what_no_batch_can_be_is_refused(write, message, recipe):
    assert_fails(run("run", "--recipe", write(recipe)), 65, message)


def test_a_word_that_one_entry_lacks_fails_before_anything_is_printed(write):
    assert_fails(run("run", "--recipe", write(WORDS), "--query", "to"), 2, "--query: got the word 'to'")
