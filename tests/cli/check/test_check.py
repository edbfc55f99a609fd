"""check: saved results and recipes against what is computed again."""

import json
import re

import pytest
from program import SENTENCE, assert_fails, run, run_unread, succeeds


@pytest.fixture
def golden(tmp_path):
    file = tmp_path / "golden.json"
    succeeds("run", SENTENCE, "--json", "-o", file)
    return file


def test_every_built_in_recipe_agrees_with_its_article():
    done = succeeds("check", "--all")
    for line in succeeds("recipe", "list").text.splitlines():
        assert f"{line.split()[0]}: passed" in done.text


def test_a_saved_result_passes(golden):
    assert f"{golden}: passed" in succeeds("check", golden).text
    assert "-: passed" in succeeds("check", "-", stdin=golden.read_bytes()).text


def test_a_changed_digit_fails_and_is_named(golden):
    text = golden.read_text()
    number = re.search(r'"weights":\[\[\[([0-9.e-]+)', text)
    golden.write_text(text[: number.end(1) - 1] + str((int(text[number.end(1) - 1]) + 1) % 10) + text[number.end(1) :])
    done = run("check", golden)
    assert (done.code, done.err) == (1, b"")
    assert "weights[0][0][0]: stated " in done.text and "computed " + number[1] in done.text


def test_tolerances_forgive(golden):
    result = json.loads(golden.read_text())
    result["weights"][0][1][2] += 1e-5
    golden.write_text(json.dumps(result))
    assert run("check", golden).code == 1
    assert run("check", golden, "--atol", "2e-5").code == 0
    assert run("check", golden, "--rtol", "1e-6").code == 1
    assert run("check", golden, "--rtol", "1e-3").code == 0


def test_results_of_lines_are_checked_line_by_line(tmp_path):
    file = tmp_path / "lines.json"
    file.write_bytes(succeeds("run", "--lines", "-", "--json", stdin="a b\nc d e\n").out)
    done = succeeds("check", file)
    assert f"{file} line 1: passed" in done.text and f"{file} line 2: passed" in done.text
    file.write_text(file.read_text().replace('"c":0', '"c":9'))
    done = run("check", file)
    assert done.code == 1
    assert f"{file} line 1: passed" in done.text and f"{file} line 2: failed" in done.text


def test_the_error_of_a_line_is_nothing_to_compare(tmp_path):
    file = tmp_path / "lines.json"
    file.write_bytes(run("run", "--lines", "-", "--json", stdin="a b\n\nc\n").out)
    done = run("check", file)
    assert (done.code, done.err) == (65, b"")
    assert f"{file} line 2: not checked, the line could not be computed: 'no words in the input" in done.text
    assert f"{file} line 3: passed" in done.text
    file.write_text(json.dumps(json.loads(file.read_text().splitlines()[1]), indent=2))
    assert run("check", file).text.startswith(f"{file}: not checked")
    file.write_text('{"index":0,"error":{"code":65,"message":"x","more":1}}')
    assert_fails(run("check", file), 65)


def test_tolerances_are_for_saved_results(golden, tmp_path):
    recipe = tmp_path / "recipe.json"
    recipe.write_bytes(succeeds("recipe", "show", "owen-2025").out)
    assert_fails(run("check", "owen-2025", "--atol", "1e-6"), 2)
    assert_fails(run("check", "--all", "--rtol", "1e-6"), 2)
    done = run("check", recipe, recipe, "--atol", "1e-6")
    assert (done.code, done.message.count("warning: ")) == (0, 1)
    assert succeeds("check", golden, "--atol", "1e-6").code == 0


def published(statement, tmp_path):
    recipe = succeeds("recipe", "show", "raschka-2023").json
    recipe["published"] = [statement]
    file = tmp_path / "published.json"
    file.write_text(json.dumps(recipe))
    return file


def test_a_mismatch_tells_the_largest_difference_and_what_would_help(tmp_path):
    row = ["0.0185", "0.0312", "0.1778", "0.6368", "0.1265", "0.0092"]
    statement = {"array": "weights", "at": [0, 1], "values": row}
    assert succeeds("check", published(statement, tmp_path)).code == 0
    statement["values"] = [float(number) for number in row]
    done = run("check", published(statement, tmp_path))
    assert done.code == 1
    assert "; largest difference 5.0e-05; to compare printed digits, write them as strings, or give atol\n" in done.text
    statement["values"][5] = 0.0093
    done = run("check", published(statement, tmp_path))
    assert "; largest difference 1.4e-04\n" in done.text
    statement["values"][5] = 0.0092
    statement["atol"] = 1e-6
    assert "as strings" not in run("check", published(statement, tmp_path)).text


def test_null_is_a_masked_score_beside_printed_digits_too(tmp_path):
    recipe = succeeds("recipe", "show", "raschka-2023").json
    recipe["attention"] = {"causal": True}
    recipe["published"] = []
    file = tmp_path / "recipe.json"
    file.write_text(json.dumps(recipe))
    scores = succeeds("run", "--recipe", file, "--show", "masked_scores", "--json").json["masked_scores"][0]
    for masked in (None, "-inf"):
        values = [[masked if x is None else f"{x:.2f}" for x in row] for row in scores]
        recipe["published"] = [{"array": "masked_scores", "at": [0], "values": values}]
        file.write_text(json.dumps(recipe))
        assert "36 compared" in succeeds("check", file).text
    values[0][0] = None
    file.write_text(json.dumps(recipe))
    done = run("check", file)
    assert done.code == 1 and "masked_scores[0][0][0]: stated null, computed " in done.text
    values[0][0] = "null"
    file.write_text(json.dumps(recipe))
    assert_fails(run("check", file), 65)


@pytest.mark.parametrize("ending", ["npz", "safetensors"])
def test_tensors_are_no_statement(tmp_path, ending):
    file = tmp_path / f"weights.{ending}"
    succeeds("run", SENTENCE, "-o", file)
    assert_fails(run("check", file), 65, "got tensors; allowed: a recipe or a saved result, as JSON; compare is for tensors")


@pytest.mark.parametrize("shown", [["--format", "csv"], []])
def test_text_is_no_statement(tmp_path, shown):
    file = tmp_path / "weights.txt"
    file.write_bytes(succeeds("run", SENTENCE, "--show", "weights", *shown).out)
    assert_fails(run("check", file), 65, "got text that is not a JSON object; allowed: a recipe or a saved result, as JSON; compare is for tensors")


def test_a_result_that_was_laid_out_by_jq_passes(golden):
    golden.write_text(json.dumps(json.loads(golden.read_text()), indent=2))
    assert "passed" in succeeds("check", golden).text


def test_all_are_checked_and_the_largest_code_wins(golden, tmp_path):
    different = tmp_path / "different.json"
    different.write_text(golden.read_text().replace('"Life":0', '"Life":7'))
    malformed = tmp_path / "malformed.json"
    malformed.write_text("{")
    missing = tmp_path / "missing.json"
    assert run("check", different, golden).code == 1
    assert run("check", malformed, different, golden).code == 65
    done = run("check", missing, malformed, different, golden, "raschka-2023")
    assert done.code == 66
    assert [line.split(": ")[2] for line in done.message.splitlines()] == [f"'{missing}'", f"'{malformed}'"]
    for name, verdict in ((different, "failed"), (golden, "passed"), ("raschka-2023", "passed")):
        assert f"{name}: {verdict}" in done.text


def test_a_truncated_result_is_bad_data(golden):
    whole = golden.read_bytes().rstrip()
    for length in range(1, len(whole), 97):
        golden.write_bytes(whole[:length])
        assert_fails(run("check", golden), 65)


def test_a_hostile_file_name_stays_on_one_line(tmp_path):
    missing = str(tmp_path / "a\nb\x1b[31m").encode() + b"\xff"
    assert_fails(run("check", missing), 66)
    file = tmp_path / "a\nb"
    succeeds("run", SENTENCE, "--json", "-o", file)
    assert succeeds("check", file).text.endswith("a\\nb: passed\n")


# ---- readers that leave ----------------------------------------------------------------------------------------------


def test_a_reader_that_leaves_hides_no_difference(golden, tmp_path):
    wrong, many = tmp_path / "wrong.json", tmp_path / "many.json"
    saved = json.loads(golden.read_bytes())
    saved["weights"][0][0][0] = 0.125
    wrong.write_text(json.dumps(saved))
    many.write_bytes(succeeds("run", "--lines", "-", "--json", stdin="a b\n" * 700).out)
    assert len(succeeds("check", many).out) > 65536  # so that the loss of the reader is noticed on the way

    for files, code, said in (
        ([golden], 0, ""),
        ([wrong], 1, ""),
        ([golden, wrong], 1, ""),
        ([many, wrong], 1, ""),
        ([golden, tmp_path / "none"], 66, "none"),
        ([many, tmp_path / "none", golden], 66, "none"),
        ([tmp_path / "none", many, wrong], 66, "none"),
        ([many, wrong, tmp_path / "none"], 1, ""),  # the difference is known, nobody reads: it ends
    ):
        done = run_unread("check", *files)
        assert done.code == code and (said in done.message if said else done.err == b""), files


def test_a_result_with_marks_of_direction_checks(tmp_path):
    text = "a\u061cb \u200ec\u200f \u202ad\u202e \u2066e\u2069 f\u200cg\u200dh"
    saved = succeeds("run", text, "--json", "--show", "all").out
    assert [c for c in saved.decode() if not c.isascii()] == ["\u200c", "\u200d"] * saved.decode().count("f\u200cg")
    assert json.loads(saved)["tokens"] == text.split()
    (tmp_path / "saved.json").write_bytes(saved)
    succeeds("check", tmp_path / "saved.json")
    assert succeeds("run", "--recipe", tmp_path / "saved.json", "--json", "--show", "all").out == saved
    raw = json.dumps(json.loads(saved), ensure_ascii=False)
    (tmp_path / "raw.json").write_text(raw, encoding="utf-8")  # as programs before this one wrote it
    succeeds("check", tmp_path / "raw.json")


def test_advice_of_a_warning_is_not_compared(tmp_path):
    saved = succeeds("run", "a b", "--scale", "1e38", "--json").json
    assert saved["warnings"] == ["scores: a dot product, or its scaling, overflowed float32; --dtype float64 has more room"]
    for warnings, code in ((["scores: a dot product, or its scaling, overflowed float32"], 0), (["scores: nothing"], 1), ([], 1)):
        (tmp_path / "saved.json").write_text(json.dumps({**saved, "warnings": warnings}))
        assert run("check", tmp_path / "saved.json").code == code
