"""What a newcomer mistypes or asks: the message says what to do."""

import json

import pytest
from program import SENTENCE, assert_fails, run, succeeds


def test_a_word_that_names_something_else_is_computed_with_a_hint(tmp_path):
    (tmp_path / "l.txt").write_text("a b\n")
    (tmp_path / "l.json").write_text("{}")
    for arguments, hint in (
        (["l.txt"], "'l.txt' is taken as a sentence; --lines reads a file"),
        (["l.json"], "--recipe a recipe"),
        (["owen-2025"], "'owen-2025' is taken as a sentence; --recipe owen-2025 runs the built-in recipe"),
        (["--show", "tokens", "weights"], "'weights' is taken as a sentence; commas separate"),
        (["—heads"], "'—heads' is taken as a sentence; options begin with the ASCII '-'"),
    ):
        done = run("run", *arguments, cwd=tmp_path)
        assert (done.code, done.message.count("\n")) == (0, 1), done
        assert "warning: " in done.message and hint in done.message
        assert done.out == succeeds("run", *arguments, "--quiet", cwd=tmp_path).out
    for sentence in ("l.txt is a file", "none.txt", "weights", "."):
        succeeds("run", sentence, cwd=tmp_path)


@pytest.mark.parametrize(("text", "what"), [("", "is empty"), (" \n\t\n", "holds only white space")])
def test_standard_input_without_words_is_named(text, what):
    assert_fails(run("run", stdin=text), 65, f"no words in the input: standard input {what}")
    assert_fails(run("run", "-", stdin=text), 65, f"standard input {what}")


def test_an_unknown_ending_needs_a_format(tmp_path):
    assert_fails(run("run", SENTENCE, "-o", tmp_path / "x.jsn"), 2, "json (.json)", "did you mean '.json'?")
    assert not (tmp_path / "x.jsn").exists()
    succeeds("run", SENTENCE, "--json", "-o", tmp_path / "x.jsn")
    succeeds("run", SENTENCE, "-o", tmp_path / "table")
    assert (tmp_path / "table").read_bytes() == succeeds("run", SENTENCE).out


def test_csv_holds_numbers():
    for names in ("tokens", "vocabulary", "tokens,vocabulary"):
        assert_fails(run("run", SENTENCE, "--format", "csv", "--show", names), 2, "--show", "array of numbers")
    assert succeeds("run", SENTENCE, "--format", "csv", "--show", "tokens,token_ids").text.count("\n") == 7


def test_a_saved_result_serves_as_a_recipe(tmp_path):
    golden = tmp_path / "golden.json"
    succeeds("run", SENTENCE, "--heads", "2", "--seed", "7", "--show", "weights", "-o", golden)
    assert succeeds("run", "--recipe", golden, "--show", "weights", "--json").out == golden.read_bytes()


def test_quiet_silences_the_verify_note():
    assert succeeds("run", SENTENCE, "--verify", "--quiet").out == run("run", SENTENCE, "--verify").out


def test_verbose_tells_the_shape_of_every_stage():
    done = run("run", SENTENCE, "--heads", "2", "--kv-heads", "1", "--d-k", "3", "--d-v", "5", "--verify", "--verbose")
    for stage in ("tokens (6,)", "embeddings (6, 16)", "queries (2, 6, 3)", "keys (1, 6, 3)", "values (1, 6, 5)", "attention (2, 6, 6)", "output (6, 16)"):
        assert f" {stage} " in done.message, done.message
    assert "()" not in done.message


def test_output_without_a_projection_tells_the_option():
    assert_fails(run("run", SENTENCE, "--show", "output"), 2, "requires --output-projection")


def test_a_recipe_error_names_its_draw(tmp_path):
    file = tmp_path / "recipe.json"
    recipe = succeeds("recipe", "show", "raschka-2023").json
    for change, parts in (
        (lambda d: d.append(d[1]), ["draws[5]: embedding is drawn twice, first by draws[1]"]),
        (lambda d: d.pop(1), ["neither embedding nor embeddings is drawn"]),
        (lambda d: d.append({"tensor": "embeddings", "init": "normal"}), ["both embedding and embeddings are drawn"]),
        (lambda d: d.append({"discard": True, "init": "xavier", "shape": [3]}), ["draws[5]: a draw initialised as linear or xavier"]),
        (lambda d: d[0].update(seed="1337"), ["draws[0].seed: got the string '1337'"]),
        (lambda d: d[2].update(int="linear"), ["draws[2]: key", "'int'", "did you mean 'init'?"]),
        (lambda d: d[2].update(init="unifrom"), ["draws[2].init: got 'unifrom'", "uniform, normal"]),
    ):
        changed = {**recipe, "draws": [dict(draw) for draw in recipe["draws"][:5]]}
        change(changed["draws"])
        file.write_text(json.dumps(changed))
        for command in (["run", "--recipe"], ["check"]):
            assert_fails(run(*command, file), 65, f"error: '{file}': " if command[0] == "check" else "draws", *parts)
