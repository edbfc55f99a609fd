"""explain: the arithmetic behind one query word, and what it refuses."""

import functools
import json
import math
import operator
import re
import struct
from pathlib import Path

import pytest
from program import SENTENCE, assert_fails, on_terminal, run, succeeds
from tensors import numpy

APPROVED = Path(__file__).parent / "approved"
IS = ["explain", SENTENCE, "--query", "is"]


def added(numbers):
    """One after the other, as the program adds; Python's sum does so only before 3.12."""
    return functools.reduce(operator.add, numbers)


def float32(number):
    return struct.unpack("f", struct.pack("f", number))[0]


def write_npy(path, rows, letter):
    """`letter` as of struct: f or ?."""
    header = f"{{'descr': '{'|b1' if letter == '?' else '<f4'}', 'fortran_order': False, 'shape': ({len(rows)}, {len(rows[0])}), }}"
    header = header.ljust(117) + "\n"
    numbers = [number for row in rows for number in row]
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(numbers)}{letter}", *numbers))


def explained(*arguments, **options):
    return succeeds("explain", *arguments, "--json", **options).json


# ---- text ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "options"), [("explain-is", []), ("explain-is-eat", ["--key", "eat"])])
def test_the_worked_example_is_the_approved_one(name, options):
    """Made by the command itself; whoever changes it looks at the new one."""
    assert succeeds(*IS, *options).text == (APPROVED / f"{name}.txt").read_text(encoding="utf-8")


def test_the_numbers_of_the_2023_tutorial_are_there():
    """Its omega for the second word, and the weights and the context that follow."""
    text = succeeds(*IS).text
    rows = text.split("weight\n")[1].split("   sum")[0].splitlines()
    words, scores, weights = zip(*((row.split()[0], row.split()[1], row.split()[-1]) for row in rows))
    assert words == ("Life", "is", "short", "eat", "dessert", "first")
    assert scores == ("-7.0847", "-4.5398", "3.9887", "10.2379", "2.3206", "-10.5434")
    assert weights == ("0.0185", "0.0312", "0.1778", "0.6368", "0.1265", "0.0092")
    assert "[0]  -0.9495  -1.4345  -2.0504  -0.3737" in text


@pytest.mark.parametrize("options", [[], ["--causal"], ["--heads", "4"], ["--init", "identity"], ["--softcap", "5", "--digits", "2"]])
def test_the_numbers_of_a_weight_divide_as_they_stand_and_none_looks_like_0(options):
    for query in range(6):
        for key in range(query + 1):
            text = succeeds("explain", SENTENCE, "--query", query, "--key", key, *options).text
            quotient = re.search(r"\s=\s+([\d.e+-]+)\s/\s([\d.e+-]+)\s+=\s+([\d.e+-]+)\n\n", text).groups()
            exponential, total, weight = map(float, quotient)
            assert exponential > 0 and total > 0 and weight > 0, quotient
            digits = len(quotient[2].split("e")[0].split(".")[1])
            last = 10.0 ** -digits * (10.0 ** int(quotient[2].split("e")[1]) if "e" in quotient[2] else 1)
            assert abs(exponential / total - weight) <= 0.5001 * last, quotient
            assert f"sum = {quotient[1]}," in text.replace("\n   ", " ")


@pytest.mark.parametrize(("options", "step"), [([], 6), (["--softcap", "5"], 7), (["--causal", "--softcap", "5"], 8)])
def test_the_step_of_the_scores_points_to_their_table(options, step):
    text = succeeds(*IS, *options).text
    assert f"The scores of all keys are in the table of step {step}.\n" in text and f"\n{step}. Softmax" in text
    assert "in the table" not in succeeds(*IS, *options, "--key", "is").text


def test_the_products_of_a_cell_add_up_to_its_score():
    text = succeeds(*IS, "--key", "eat", "--digits", "8").text.split("\n4. Score")[1].split("\n5. ")[0]
    rows = re.findall(r"^ +(\d+) +(-?[\d.e+-]+) +(-?[\d.e+-]+) +(-?[\d.e+-]+) +(-?[\d.e+-]+)$", text, re.MULTILINE)
    assert [int(row[0]) for row in rows] == list(range(24))
    assert rows[-1][4] == "10.23790836" or rows[-1][4].startswith("10.2379"), rows[-1]
    assert math.isclose(sum(float(row[3]) for row in rows), 10.2379, abs_tol=1e-4)


@pytest.mark.parametrize("options", [[], ["--key", "eat"], ["--causal", "--softcap", "5", "--positions", "alibi", "--heads", "4"]])
@pytest.mark.parametrize("columns", [20, 24, 32, 40, 80, 200])
def test_no_number_is_broken_on_a_narrow_terminal(columns, options):
    code, got = on_terminal(*IS, *options, columns=columns)
    assert code == 0
    text = re.sub("\x1b\\[[0-9;]*m", "", got.decode())
    numbers = set(re.findall(r"-?\d+\.\d+(?:e[+-]\d+)?", succeeds(*IS, *options).text))
    assert set(re.findall(r"-?\d+\.\d+(?:e[+-]\d+)?", text)) == numbers
    longest = max(len(line) for line in text.splitlines())
    assert longest <= min(columns, 80) or columns == 20, text


def test_words_of_any_script_are_aligned_and_harmless():
    text = succeeds("explain", "--query", "0", "--", "你好 é a\x1b[31m 👨‍👩‍👧 you").text
    assert "\x1b" not in text and r"a\x1b[31m" in text
    rows = text.split("weight\n")[1].split("   sum")[0].splitlines()
    assert len(rows) == 5 and all(re.search(r" \d[\d.e+-]+$", row) for row in rows)


def test_one_of_several_heads_is_said():
    text = succeeds("explain", SENTENCE, "--query", "is", "--heads", "4", "--kv-heads", "2", "--head", "3").text
    assert "head 3 of 4, which reads key/value head 1 of 2; --head N shows another" in text
    assert "of which this head's numbers are [12] to [15]" in text
    assert "head 0 of 4; --head N" in succeeds("explain", SENTENCE, "--query", "is", "--heads", "4").text
    assert "--head" not in succeeds(*IS).text


def test_a_fully_masked_row_and_an_overflow_are_explained(tmp_path):
    write_npy(tmp_path / "mask.npy", [[i != 1] * 6 for i in range(6)], "?")
    text = succeeds(*IS, "--mask", "mask.npy", cwd=tmp_path).text
    assert "Every key is hidden" in text and "context = 0\n" in text
    done = run(*IS, "--scale", "1e38")
    warning = "scores: a dot product, or its scaling, overflowed float32; --dtype float64 has more room"
    assert (done.code, done.message) == (0, f"attn-cli: warning: {warning}\n")
    assert "max = inf" in done.text and "inf counts 1" in done.text


def test_one_number_of_each_projection_is_shown_term_by_term():
    text = succeeds(*IS, "--output-projection", "--component", "2").text
    for line in ("q(is)[2] is row 2 of W_q times x(is):", "k(eat)[2] is row 2 of W_k times x(eat):",
                 "v(eat)[2] is row 2 of W_v times x(eat):", "output[2] is context times column 2 of W_o:",
                 "Its number [2], from that of each value:", 'look-up: "is" has id 4, its place in the vocabulary; id 4 is row 4'):
        assert f"   {line}\n" in text, line
    assert re.search(r"   q\(is\)\[2\] = .*\n( +[^[]*\n)* .* = -0\.9257\n", text)
    assert "Printed numbers are rounded" in text
    assert "output[2]" not in succeeds(*IS, "--output-projection").text
    longer = succeeds(*IS, "--component", "25").text  # values have 28 numbers, queries 24
    assert "v(eat)[25]" in longer and "q(is)[25]" not in longer
    assert_fails(run(*IS, "--component", "28"), 2, "allowed: 0 to 27")


def test_a_projection_stands_on_the_side_that_a_file_says(tmp_path):
    """In a file of (in, out) matrices, as GPT-2 has them, W reads x from the right."""
    rng = numpy.random.default_rng(0)
    shapes = {"embedding": (6, 8), "W_q": (8, 4), "W_k": (8, 4), "W_v": (8, 5)}
    numpy.savez(tmp_path / "p.npz", **{name: rng.standard_normal(shape).astype("f4") for name, shape in shapes.items()})
    text = succeeds(*IS, "--params", tmp_path / "p.npz").text
    assert "q(is) = x(is)·W_q: (4,) = (8,)·(8, 4)\n" in text and "v(word) = x(word)·W_v: (5,) = (8,)·(8, 5)\n" in text
    assert "q(is)[0] is x(is) times column 0 of W_q:\n" in text


def test_the_worked_example_is_markdown_when_asked(tmp_path):
    """The same numbers; GitHub's tables, and blocks of code for what is aligned."""
    for options in ([], ["--key", "eat", "--digits", "2"], ["--heads", "2", "--causal"]):
        done = succeeds(*IS, *options, "--format", "markdown").text
        assert succeeds(*IS, *options, "--format", "md").text == done
        succeeds(*IS, *options, "-o", tmp_path / "x.md")
        assert (tmp_path / "x.md").read_text(encoding="utf-8") == done
        plain = succeeds(*IS, *options).text
        assert sorted(re.findall(r"\d+\.\d+", done)) == sorted(re.findall(r"\d+\.\d+", plain))
        assert [line for line in done.splitlines() if line.startswith("# ")] == ['# How "is" (position 1) attends to each word of']
        assert re.findall(r"^## \d+", done, re.MULTILINE) == ["## " + line.split(".")[0] for line in plain.splitlines() if re.match(r"\d+\. ", line)]
        assert done.count("```") % 2 == 0 and "| ---: |" in done and "\x1f" not in done
    words = succeeds("explain", "--query", "0", "--format", "markdown", "--", "a|b *c* <d> # `e` [f](g)").text
    assert "\na\\|b \\*c\\* \\<d> # \\`e\\` [f\\](g)\n" in words and "\n| a\\|b | " in words


# ---- JSON ------------------------------------------------------------------------------------------------------------

OF_EXPLAIN = ("--head", "--key", "--component")
RUNS = [
    [],
    ["--key", "eat", "--component", "3"],
    ["--heads", "4", "--kv-heads", "2", "--head", "3", "--causal"],
    ["--softcap", "5", "--window", "2,1", "--positions", "alibi", "--heads", "2", "--head", "1"],
    ["--positions", "sinusoidal", "--dtype", "float64", "--scale", "-0.25"],
    ["--positions", "rope", "--init", "linear"],
    ["--cross", "eat dessert later"],
    ["--scale", "1e38"],
]


@pytest.mark.parametrize("options", RUNS, ids=" ".join)
def test_the_json_fits_its_schema_and_computes_itself_again(tmp_path, options):
    jsonschema = pytest.importorskip("jsonschema")
    done = explained(SENTENCE, "--query", "is", *options)
    jsonschema.Draft202012Validator(succeeds("schema", "explanation").json).validate(done)
    (tmp_path / "r.json").write_text(json.dumps({**done["config"], "schema": "attn-cli/recipe/1"}))
    again = [option for i, option in enumerate(options) if option in OF_EXPLAIN or options[i - 1] in OF_EXPLAIN]
    assert explained("--recipe", tmp_path / "r.json", *again) == done


@pytest.mark.parametrize("options", RUNS, ids=" ".join)
def test_the_values_are_those_of_run_and_the_terms_add_up_to_them(options):
    done = explained(SENTENCE, "--query", "is", *options)
    own = [option for i, option in enumerate(options) if option not in OF_EXPLAIN and options[i - 1] not in OF_EXPLAIN]
    result = json.loads(run("run", SENTENCE, "--query", "is", "--show", "all", "--json", *own).out)
    head, kv_head, keys = done["head"], done["kv_head"], done["keys"]
    assert done["config"] == {**result["config"], "query": ["1"]} or done["config"]["query"] == [1]
    assert done["query"]["x"] == result["embeddings"][1]
    assert done["query"]["vector"] == result["queries"][head][0]
    assert [key["vector"] for key in keys] == result["keys"][kv_head]
    assert [key["value"] for key in keys] == result["values"][kv_head]
    for name, array in (("score", "scores"), ("scaled_score", "scaled_scores"), ("capped_score", "capped_scores"),
                        ("masked_score", "masked_scores"), ("weight", "weights")):
        assert [key.get(name) for key in keys] == result.get(array, [[[None] * len(keys)]] * 9)[head][0]
    assert (done["head_context"], done["context"]) == (result["head_context"][head][0], result["context"][0])
    assert done.get("output") == result.get("output", [None])[0]
    made = {projection["matrix"]: projection for projection in done["projections"]}
    shown = made["W_k"]["position"]
    assert made["W_v"]["position"] == shown == done.get("key_position", shown) and ("W_o" in made) == ("output" in done)
    vectors = {"W_q": done["query"]["vector"], "W_k": keys[shown]["vector"], "W_v": keys[shown]["value"], "W_o": done.get("output")}
    for matrix, projection in made.items():
        vector = vectors[matrix]
        assert projection.get("turn", projection)["value"] == vector[done["component"]]
        assert [x * w for x, w in zip(projection["x"], projection["weights"])] == pytest.approx(projection["products"])
    assert made["W_q"]["x"] == done["query"]["x"]
    if "float64" in options:
        return
    for projection in done["projections"]:
        assert float32(added(projection["products"])) == float32(projection["value"])
    for key in keys:
        assert float32(added(key["products"])) == float32(key["score"])
        assert float32(key["exponential"] / done["sum"]) == float32(key["weight"])
    assert added(key["exponential"] for key in keys) == done["sum"]
    for i, number in enumerate(done["head_context"]):
        assert float32(added(key["weighted_value"][i] for key in keys)) == float32(number)


def test_a_hidden_key_is_null_with_its_reason(tmp_path):
    keys = explained(SENTENCE, "--query", "is", "--window", "0,1")["keys"]
    assert [key.get("hidden_by") for key in keys] == ["window", None, None, "window", "window", "window"]
    assert keys[0]["masked_score"] is None and keys[0]["weight"] == 0.0
    write_npy(tmp_path / "mask.npy", [[0.5, -1.0, -math.inf, 0.0, 0.0, 0.0]] * 6, "f")
    keys = explained(SENTENCE, "--query", "is", "--mask", "mask.npy", cwd=tmp_path)["keys"]
    assert [key["mask"] for key in keys] == [0.5, -1.0, "-inf", 0.0, 0.0, 0.0]
    assert keys[2]["hidden_by"] == "mask"


# ---- input and output ------------------------------------------------------------------------------------------------


def test_the_input_is_that_of_run(tmp_path):
    from_sentence = explained(SENTENCE, "--query", "is")
    assert explained("-", "--query", "is", stdin=SENTENCE) == from_sentence
    assert explained("--query", "1", stdin=SENTENCE)["keys"] == from_sentence["keys"]
    assert explained("--recipe", "raschka-2023", "--query", "is")["keys"] == from_sentence["keys"]
    by_id = explained("--ids", "2,6,8", "--vocab-size", "10", "--labels", "my,name,is", "--query", "name")
    assert by_id["query"]["token_id"] == 6
    swapped = explained("--recipe", "owen-2025", "--query", "0")
    assert [key["score"] for key in swapped["keys"]] == succeeds("run", "--recipe", "owen-2025", "--show", "scores", "--json").json["scores"][0][0]
    succeeds("run", SENTENCE, "--show", "parameters", "-o", tmp_path / "p.safetensors")
    loaded = explained(SENTENCE, "--query", "is", "--params", tmp_path / "p.safetensors")
    assert loaded["keys"] == from_sentence["keys"]


def test_the_output_goes_where_it_is_told(tmp_path):
    succeeds(*IS, "-o", tmp_path / "x.json")
    succeeds(*IS, "-o", tmp_path / "x.txt")
    assert (tmp_path / "x.json").read_bytes() == succeeds(*IS, "--json").out == succeeds(*IS, "--format", "json").out
    assert (tmp_path / "x.txt").read_bytes() == succeeds(*IS).out


def test_threads_change_nothing():
    assert succeeds(*IS, "--json", "--threads", "1").out == succeeds(*IS, "--json", "--threads", "3").out


# ---- bad input -------------------------------------------------------------------------------------------------------

WORDS = "0 'Life', 1 'is', 2 'short', 3 'eat', 4 'dessert', 5 'first'"
ALLOWED = "a word of the input ('Life', 'is', 'short', 'eat', 'dessert', 'first') or a position, 0 to 5"


def test_a_repeated_word_is_ambiguous():
    sentence = "to be or not to be"
    assert_fails(run("explain", sentence, "--query", "be"), 2)
    assert_fails(run("explain", sentence, "--query", "1", "--key", "to"), 2)
    text = succeeds("explain", sentence, "--query", "5", "--key", "4").text
    assert "q(be)·k(to[4])" in text and "v(to[0])" in text


def test_a_recipe_of_several_rows_needs_one_of_them(tmp_path):
    (tmp_path / "r.json").write_text(json.dumps({**explained(SENTENCE, "--query", "is")["config"], "query": [0, 3]}))
    assert_fails(run("explain", "--recipe", tmp_path / "r.json"), 65)
    assert explained("--recipe", tmp_path / "r.json", "--query", "3")["query"]["word"] == "eat"


def test_without_a_query_the_first_word_is_explained():
    done = run("explain", SENTENCE)
    assert done.code == 0 and done.out == succeeds("explain", SENTENCE, "--query", "0").out
