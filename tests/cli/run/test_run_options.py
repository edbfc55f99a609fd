"""Every option of `run`: what it does, and what it refuses."""

import json
import math
import os

import pytest
from program import SENTENCE, assert_fails, run, succeeds

WORDS = ["Life", "is", "short", "eat", "dessert", "first"]


def result(*arguments, **options):
    return succeeds("run", *arguments, "--json", **options).json


def shape(array):
    return [len(array), *shape(array[0])] if isinstance(array, list) else []


# ---- what is shown ---------------------------------------------------------------------------------------------------


def test_what_is_shown_adds_up():
    once = succeeds("run", SENTENCE, "--show", "tokens,weights,scores", "--json").out
    assert succeeds("run", SENTENCE, "--show", "weights", "--show", "tokens,scores", "--json", "--show=weights").out == once
    assert succeeds("run", SENTENCE, "--show", "weights", "--show", "all", "--json").out == succeeds("run", SENTENCE, "--show", "all", "--json").out
    assert_fails(run("run", SENTENCE, "--show", "weights", "--show", "wieghts"), 2,
                 "--show: got 'wieghts'; allowed: a name that --help lists; did you mean 'weights'?")
    assert_fails(run("run", SENTENCE, "--show", "zzzzzz"), 2, "--show: got 'zzzzzz'; allowed: tokens, key_tokens, vocabulary, ")
    assert_fails(run("run", SENTENCE, "--heads", "2", "--heads", "2"), 2, "--heads: given more than once")


# ---- input -----------------------------------------------------------------------------------------------------------


def test_the_row_of_is_reads_as_in_the_tutorial():
    row = result(SENTENCE)["weights"][0][1]
    assert [f"{weight:.4f}" for weight in row] == ["0.0185", "0.0312", "0.1778", "0.6368", "0.1265", "0.0092"]
    table = succeeds("run", SENTENCE).text
    assert "ids  Life 0, is 4, short 5, eat 2, dessert 1, first 3\n" in table
    assert any(line.split()[:7] == ["is", "0.0185", "0.0312", "0.1778", "0.6368", "0.1265", "0.0092"] for line in table.splitlines())


@pytest.mark.parametrize("arguments", [["-"], []])
def test_standard_input_is_one_text(arguments):
    assert result(*arguments, stdin="Life is\nshort,\teat dessert first\n")["tokens"] == WORDS


def test_standard_input_is_left_alone_when_the_input_is_elsewhere():
    for arguments in ([SENTENCE], ["--ids", "1", "--vocab-size", "2"], ["--recipe", "owen-2025"]):
        reading, writing = os.pipe()
        os.write(writing, b"untouched")
        os.close(writing)
        assert run("run", *arguments, stdin=reading).code == 0
        assert os.read(reading, 100) == b"untouched"
        os.close(reading)


def test_ids_stand_for_words():
    got = result("--ids", "2,6,8,3,1", "--vocab-size", "10", "--show", "all")
    assert (got["tokens"], got["token_ids"]) == (["2", "6", "8", "3", "1"], [2, 6, 8, 3, 1])
    assert "vocabulary" not in got
    assert shape(got["parameters"]["embedding"]) == [10, 16]
    assert got["embeddings"] == [got["parameters"]["embedding"][i] for i in got["token_ids"]]


def test_labels_name_the_ids():
    assert result("--ids", "2,6,8", "--vocab-size", "10", "--labels", "my,name,is")["tokens"] == ["my", "name", "is"]
    assert_fails(run("run", "--ids", "1,2", "--vocab-size", "3", "--labels", "a"), 2)
    assert_fails(run("run", SENTENCE, "--labels", "a"), 2)
    assert_fails(run("run", "--recipe", "raschka-2023", "--labels", "a"), 2)


def test_blanks_around_the_items_of_ids_and_show_do_not_count():
    expected = result("--ids", "2,6,8", "--vocab-size", "9", "--show", "tokens,weights")
    assert result("--ids", " 2, 6 ,8 ", "--vocab-size", "9", "--show", "tokens, weights") == expected
    assert_fails(run("run", "--ids", "2 6 8", "--vocab-size", "9"), 2)
    assert_fails(run("run", SENTENCE, "--show", "tokens weights"), 2)
    assert result("--ids", "1,2", "--vocab-size", "9", "--labels", "a, b")["tokens"] == ["a", " b"]


def test_a_second_sentence_brings_keys_and_values():
    got = result("Life is short", "--cross", "eat dessert", "--show", "all")
    assert (got["tokens"], got["key_tokens"]) == (["Life", "is", "short"], ["eat", "dessert"])
    assert got["vocabulary"] == {"Life": 0, "dessert": 1, "eat": 2, "is": 3, "short": 4}
    assert (shape(got["weights"]), shape(got["values"]), shape(got["context"])) == ([1, 3, 2], [1, 2, 28], [3, 28])


def test_the_tokenizers_differ_in_what_a_word_is():
    assert result("a-b, c's x!")["tokens"] == ["a-b", "c's", "x!"]
    assert result("a-b, c's x!", "--tokenizer", "words")["tokens"] == ["a-b", "c's", "x"]
    assert_fails(run("run", "a", "--tokenizer", "word"), 2, "did you mean 'words'?")


def test_case_folding_joins_words():
    assert result("Life life LIFE")["vocabulary"] == {"LIFE": 0, "Life": 1, "life": 2}
    assert result("Life life LIFE", "--casefold")["vocabulary"] == {"life": 0}


def test_a_repeated_word_has_one_id_and_several_positions():
    got = result("a b a", "--show", "token_ids,embeddings", "--query", "a")
    assert (got["token_ids"], got["query_positions"]) == ([0, 1, 0], [0, 2])
    assert got["embeddings"][0] == got["embeddings"][2]


# ---- parameters ------------------------------------------------------------------------------------------------------


def test_sizes_follow_their_options():
    got = result(SENTENCE, "--embed-dim", "8", "--heads", "4", "--kv-heads", "2", "--d-k", "3", "--d-v", "5", "--vocab-size", "9", "--show", "all")
    shapes = {name: shape(value) for name, value in got["parameters"].items()}
    assert shapes == {"embedding": [9, 8], "W_q": [4, 3, 8], "W_k": [2, 3, 8], "W_v": [2, 5, 8], "W_o": [20, 8]}
    assert (shape(got["queries"]), shape(got["keys"]), shape(got["values"])) == ([4, 6, 3], [2, 6, 3], [2, 6, 5])
    assert (shape(got["weights"]), shape(got["context"]), shape(got["output"])) == ([4, 6, 6], [6, 20], [6, 8])


def test_the_output_projection_comes_with_several_heads_unless_said():
    assert "output" not in result(SENTENCE)
    assert "output" in result(SENTENCE, "--heads", "2")
    assert "output" in result(SENTENCE, "--output-projection")
    assert "output" not in result(SENTENCE, "--heads", "2", "--no-output-projection")
    assert_fails(run("run", SENTENCE, "--output-projection", "--no-output-projection"), 2)


def test_heads_that_do_not_divide_list_those_that_do():
    assert_fails(run("run", SENTENCE, "--heads", "3"), 2)
    assert result(SENTENCE, "--heads", "3", "--d-k", "5", "--d-v", "5")["context"]


def test_seeds_have_the_range_of_their_generator():
    low = result(SENTENCE, "--seed", "0")["weights"]
    assert result(SENTENCE, "--seed", str(2**32))["weights"] == low  # torch: the low 32 bits count
    assert result(SENTENCE, "--seed", str(2**64 - 1))["config"]["draws"][0]["seed"] == 2**64 - 1
    assert result(SENTENCE, "--seed", str(2**32 - 1), "--generator", "numpy")["weights"] != low
    assert_fails(run("run", SENTENCE, "--seed", str(2**64)), 2)
    assert_fails(run("run", SENTENCE, "--seed", str(2**32), "--generator", "numpy"), 2)
    assert_fails(run("run", "--recipe", "transformer-core-2024", "--seed", str(2**64)), 2)


@pytest.mark.parametrize(
    ("option", "values"),
    [
        ("--generator", ["torch", "numpy", "numpy-pcg64"]),
        ("--init", ["uniform", "normal", "linear", "xavier", "xavier_normal", "kaiming_uniform", "kaiming_normal", "identity", "multihead_attention"]),
        ("--dtype", ["float32", "float64"]),
    ],
)
def test_each_choice_gives_numbers_of_its_own(option, values):
    results = [str(result(SENTENCE, option, value)["weights"]) for value in values]
    assert len(set(results)) == len(values)
    assert_fails(run("run", SENTENCE, option, "tensorflow"), 2)


def test_multihead_attention_is_one_draw_and_fits_its_heads_only():
    options = ["--init", "multihead_attention", "--show", "parameters,output"]
    for heads in ("1", "4"):
        whole = result(SENTENCE, *options, "--heads", heads)
        assert whole["config"]["draws"] == [{"seed": 123}, {"tensor": "embedding", "init": "normal"}, {"init": "multihead_attention"}]
        assert list(whole["parameters"]) == ["embedding", "W_q", "W_k", "W_v", "W_o", "b_q", "b_k", "b_v", "b_o"]
        assert len(whole["output"][0]) == 16
    assert_fails(run("run", SENTENCE, *options, "--heads", "4", "--kv-heads", "2"), 2, "--kv-heads: got 2; allowed: 4")
    assert_fails(run("run", SENTENCE, *options, "--d-k", "24"), 2, "--d-k: got 24; allowed: 16")
    assert_fails(run("run", SENTENCE, *options, "--no-output-projection"), 2, "--output-projection: got false")


# ---- attention -------------------------------------------------------------------------------------------------------


def test_a_causal_mask_hides_later_words():
    weights = result(SENTENCE, "--causal")["weights"][0]
    assert all(weights[i][j] == 0.0 for i in range(6) for j in range(i + 1, 6))
    assert all(abs(sum(row) - 1) < 1e-6 for row in weights)


@pytest.mark.parametrize(("window", "left", "right"), [("1", 1, 1), ("2,0", 2, 0), ("-1,1", 9, 1), ("0,-1", 0, 9), ("-1", 9, 9)])
def test_a_window_hides_what_is_far(window, left, right):
    weights = result(SENTENCE, "--window", window)["weights"][0]
    for i in range(6):
        for j in range(6):
            assert (weights[i][j] == 0.0) == (j < i - left or j > i + right), (i, j)


def test_the_scale_multiplies_the_scores():
    got = result(SENTENCE, "--show", "scores,scaled_scores", "--scale", "0.5", "--dtype", "float64")
    assert got["scaled_scores"][0][1][2] == got["scores"][0][1][2] * 0.5
    got = result(SENTENCE, "--show", "scores,scaled_scores", "--scale", "none")
    assert got["scaled_scores"] == got["scores"]
    got = result(SENTENCE, "--show", "scores,scaled_scores", "--dtype", "float64")
    assert math.isclose(got["scaled_scores"][0][1][2], got["scores"][0][1][2] / math.sqrt(24), rel_tol=1e-15)


def test_rounding_decides_the_last_digits():
    """queries[0][1][4] of the recipe nearly cancels: PyTorch computes -0.0069049597, a sum of floats; the exact one is another."""
    recipe = ["--recipe", "raschka-2023-multihead", "--show", "queries"]
    by_step, by_stage = result(*recipe, "--set", "rounding=step"), result(*recipe, "--set", "rounding=stage")
    assert (by_step["queries"][0][1][4], by_stage["queries"][0][1][4]) == (-0.0069049597, -0.006904713)
    assert by_step["config"]["rounding"] == "step" and "rounding" not in by_stage["config"]
    assert result(*recipe) == by_step


def test_rounding_step_is_on_the_portable_path_and_checked_like_any_result(tmp_path):
    arguments = ["run", SENTENCE, "--heads", "2", "--set", "rounding=step", "--json", "--show", "all"]
    saved = succeeds(*arguments, "-o", str(tmp_path / "saved.json"))
    assert saved.out == b""
    text = (tmp_path / "saved.json").read_bytes()
    assert text == succeeds(*arguments, "--isa", "auto", "--threads", "2").out
    assert text != succeeds("run", SENTENCE, "--heads", "2", "--json", "--show", "all").out
    succeeds("check", str(tmp_path / "saved.json"))


def test_a_softcap_bounds_the_scores():
    got = result(SENTENCE, "--softcap", "2", "--show", "capped_scores")
    assert all(abs(score) <= 2 for row in got["capped_scores"][0] for score in row)


def test_a_softcap_of_0_is_none_and_takes_off_that_of_a_recipe(tmp_path):
    shown = (SENTENCE, "--show", "weights", "--json")
    plain, capped = succeeds("run", *shown).out, succeeds("run", *shown, "--softcap", "2").out
    assert succeeds("run", *shown, "--softcap", "0").out == plain != capped
    succeeds("run", SENTENCE, "-o", "r.recipe.json", cwd=tmp_path)
    recipe = json.loads((tmp_path / "r.recipe.json").read_text())
    recipe.pop("published", None)
    for softcap, options, same in ((2, (), capped), (2, ("--softcap", "0"), plain), (0, (), plain), (0, ("--softcap", "2"), capped)):
        (tmp_path / "r.json").write_text(json.dumps({**recipe, "attention": {"softcap": softcap}}))
        got = succeeds("run", "--recipe", "r.json", *options, "--show", "weights", "--json", cwd=tmp_path)
        assert got.json["weights"] == json.loads(same)["weights"]
        assert got.json["config"].get("attention", {}).get("softcap") == (2 if same == capped else None)


# ---- output ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("query", "rows"), [("is", [1]), ("1", [1]), ("0,first", [0, 5]), ("5,0,5", [0, 5])])
def test_a_query_gives_the_rows_of_the_full_run(query, rows):
    full = result(SENTENCE, "--show", "all")
    part = result(SENTENCE, "--show", "all", "--query", query)
    assert part["query_positions"] == rows
    for name in ("queries", "scores", "scaled_scores", "weights", "head_context", "entropy", "lse"):
        assert part[name] == [[head[row] for row in rows] for head in full[name]], name
    assert part["context"] == [full["context"][row] for row in rows]
    for name in ("tokens", "vocabulary", "token_ids", "embeddings", "keys", "values", "parameters"):
        assert part[name] == full[name], name


def test_show_names_what_is_printed():
    got = result(SENTENCE, "--show", "entropy,tokens,entropy")
    assert list(got) == ["schema", "config", "tokens", "entropy", "warnings"]
    assert list(result(SENTENCE)) == ["schema", "config", "tokens", "vocabulary", "weights", "context", "warnings"]
    everything = result(SENTENCE, "--causal", "--softcap", "30", "--heads", "2", "--show", "all")
    assert list(everything) == (
        "schema config tokens vocabulary token_ids parameters embeddings queries keys values scores scaled_scores capped_scores "
        "masked_scores weights head_context context output entropy lse warnings"
    ).split()


def test_json_and_format_json_are_the_same():
    assert succeeds("run", SENTENCE, "--json").out == succeeds("run", SENTENCE, "--format", "json").out
    assert succeeds("run", SENTENCE, "--format", "table").out == succeeds("run", SENTENCE).out


def test_csv_has_one_record_a_number():
    lines = succeeds("run", SENTENCE, "--format", "csv", "--show", "weights").text.splitlines()
    assert lines[0] == "array,head,row,column,query_token,key_token,value"
    assert len(lines) == 1 + 36
    weights = result(SENTENCE)["weights"][0]
    assert [float(line.split(",")[-1]) for line in lines[1:]] == [weight for row in weights for weight in row]


def test_no_header_leaves_the_first_line_of_csv_out():
    for options in ([], ["--show", "token_ids,weights"], ["--lines", "-"]):
        words = [] if options[:1] == ["--lines"] else [SENTENCE]
        header, rest = succeeds("run", *words, *options, "--format", "csv", stdin=SENTENCE).out.split(b"\n", 1)
        assert b"array,head,row" in header
        assert succeeds("run", *words, *options, "--format", "csv", "--set", "csv.header=false", stdin=SENTENCE).out == rest


def test_formats_must_not_contradict_each_other(tmp_path):
    assert_fails(run("run", SENTENCE, "--json", "--format", "csv"), 2)
    assert_fails(run("run", SENTENCE, "--json", "-o", tmp_path / "x.csv"), 2)
    assert_fails(run("run", SENTENCE, "-o", tmp_path / "x.npy"), 2)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("digits", [0, 1, 8, 17])
def test_digits_are_those_of_the_table(digits):
    table = succeeds("run", SENTENCE, "--show", "weights", "--query", "is", "--digits", digits).text
    row = next(line for line in table.splitlines() if line.startswith("is "))
    numbers = row.split()[1:]
    assert all(len(number.partition(".")[2]) == digits for number in numbers), row


def test_a_row_has_a_notation_of_its_own_when_told():
    table = succeeds("run", SENTENCE, "--show", "weights", "--notation", "row").text
    assert "Life     5.0813e-01  1.0101e-02  1.4297e-06" in table and "is           0.0185      0.0312" in table
    assert succeeds("run", SENTENCE, "--notation", "fixed").text == succeeds("run", SENTENCE).text
    assert_fails(run("run", SENTENCE, "--notation", "torsh"), 2)
    assert_fails(run("run", SENTENCE, "--notation", "row", "--json"), 2)


WEIGHTS_AS_PYTORCH_PRINTS_THEM = """\
weights (6, 6)
tensor([[5.0813e-01, 1.0101e-02, 1.4297e-06, 2.0985e-05, 3.1079e-04, 4.8144e-01],
        [1.8550e-02, 3.1185e-02, 1.7783e-01, 6.3677e-01, 1.2651e-01, 9.1564e-03],
        [5.6690e-17, 7.6441e-15, 1.0000e+00, 5.6427e-08, 3.5104e-07, 3.6588e-24],
        [2.4504e-08, 1.3053e-08, 9.9955e-01, 1.2635e-04, 3.2204e-04, 7.5107e-13],
        [3.1008e-05, 2.1586e-04, 9.6752e-01, 1.5038e-02, 1.7196e-02, 1.2133e-08],
        [3.1780e-04, 7.8767e-09, 1.2507e-21, 2.9541e-15, 5.0766e-14, 9.9968e-01]])
"""


def test_an_array_is_printed_as_pytorch_prints_the_whole_tensor():
    """One notation for the matrix, from its first column on; what is no array of numbers stays as it is."""
    done = succeeds("run", SENTENCE, "--show", "tokens,weights", "--notation", "torch").text
    assert done == "tokens  Life is short eat dessert first\n\n" + WEIGHTS_AS_PYTORCH_PRINTS_THEM
    weights = succeeds("run", SENTENCE, "--show", "weights", "--query", "is", "--notation", "torch", "--digits", "6").text
    assert weights == "weights (1, 6)\ntensor([[0.018550, 0.031185, 0.177827, 0.636775, 0.126507, 0.009156]])\n"


def test_the_heads_are_one_tensor_and_a_mask_is_minus_infinity():
    done = succeeds("run", "to be", "--show", "masked_scores,entropy", "--heads", "2", "--causal", "--notation", "torch", "--digits", "2").text
    assert done == """\
masked_scores (2, 2, 2)
tensor([[[ 2.62,  -inf],
         [-1.57,  0.47]],

        [[ 0.64,  -inf],
         [-4.53,  2.49]]])

entropy (2, 2)
tensor([[0.00, 0.36],
        [0.00, 0.01]])
"""
    one = succeeds("run", "to be", "--show", "entropy,context", "--d-v", "3", "--dtype", "float64", "--notation", "torch").text
    assert one == """\
context (2, 3)
tensor([[ 1.3965, -0.7092, -0.8951],
        [ 2.7920,  1.4590, -0.8727]], dtype=torch.float64)

entropy (2,)
tensor([0.0046, 0.0092], dtype=torch.float64)
"""


def test_verify_tells_a_nan_from_a_number(tmp_path):
    (tmp_path / "g.txt").write_text("a 1e30 2\nb 3 4e30\n")
    vectors = ("--embeddings", "g.txt", "--init", "identity", "--score", "cosine", "--verify", "--show", "weights")
    for options in (("--set", "rounding=step"), ("--set", "rounding=step", "--scale", "0")):
        done = run("run", "a b", *vectors, *options, cwd=tmp_path)
        assert done.code == 0 and "nan" in done.text and "verify: weights: largest difference from float64 inf, relative inf" in done.message
        (tmp_path / "saved.json").write_bytes(run("run", "a b", *vectors, *options, "--json", cwd=tmp_path).out)
        saved = json.loads((tmp_path / "saved.json").read_text())
        assert saved["verify"]["weights"] == {"absolute": "inf", "relative": "inf"}
        assert run("check", "saved.json", cwd=tmp_path).code == 0


def test_verify_reports_on_stderr_and_in_json():
    done = run("run", SENTENCE, "--verify")
    assert done.code == 0 and done.out == succeeds("run", SENTENCE).out
    assert "verify: weights: largest difference from float64 " in done.message
    done = run("run", SENTENCE, "--verify", "--json")
    assert set(done.json["verify"]) >= {"weights", "context"}
    assert 0 < done.json["verify"]["context"]["absolute"] < 1e-4


def test_the_number_of_threads_changes_no_byte():
    sentence = " ".join(f"w{i % 37}" for i in range(300))
    for extra in ([], ["--dtype", "float64"], ["--heads", "4", "--causal"]):
        one = succeeds("run", sentence, *extra, "--show", "all", "--json", "--threads", "1").out
        assert succeeds("run", sentence, *extra, "--show", "all", "--json", "--threads", "2").out == one
        assert succeeds("run", sentence, *extra, "--show", "all", "--json", "--threads", "7").out == one


# ---- recipes ---------------------------------------------------------------------------------------------------------


def test_a_recipe_is_a_name_or_a_file(tmp_path):
    by_name = succeeds("run", "--recipe", "owen-2025", "--json").out
    file = tmp_path / "mine"
    file.write_bytes(succeeds("recipe", "show", "owen-2025").out)
    assert succeeds("run", "--recipe", file, "--json").out == by_name
    assert succeeds("run", "--recipe", "-", "--json", stdin=file.read_bytes()).out == by_name


def test_options_override_a_recipe():
    got = result("--recipe", "raschka-2023", "--causal", "--seed", "7", "--dtype", "float64")
    assert got["weights"][0][0][1:] == [0.0] * 5
    assert {"seed": 7} in got["config"]["draws"] and got["config"]["dtype"] == "float64"


def test_a_sentence_overrides_that_of_a_recipe():
    assert result("one two", "--recipe", "raschka-2023")["tokens"] == ["one", "two"]
    assert result("-", "--recipe", "raschka-2023", stdin="one two")["tokens"] == ["one", "two"]
    assert result("--recipe", "raschka-2023", "--cross", "one two")["key_tokens"] == ["one", "two"]


def test_a_sentence_on_the_command_line_has_the_same_limit_as_a_file():
    assert_fails(run("run", SENTENCE, "--max-input-bytes", "3"), 65)


def test_words_alone_cost_no_attention():
    words = " ".join(["word"] * 100_000)
    result = run("run", "-", "--show", "token_ids", "--json", stdin=words.encode())
    assert result.code == 0
    assert len(json.loads(result.out)["token_ids"]) == 100_000
