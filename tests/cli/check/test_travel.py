"""Recipes that travel: files beside a recipe, runs written as recipes, reports of check for programs."""

import hashlib
import json
import shutil

import pytest
from program import SENTENCE, assert_fails, run, succeeds
from tensors import normal, numpy

LAYER = {"W_q": normal(1, 24, 16), "W_k": normal(2, 24, 16), "W_v": normal(3, 28, 16)}
WORDS = ["Life", "is", "short", "eat", "dessert", "first"]


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def triangle(number=0.0):
    mask = numpy.zeros((6, 6), "float32")
    mask[numpy.triu_indices(6, 1)] = -numpy.inf
    mask[0, 0] = number
    return mask


@pytest.fixture
def folder(tmp_path):
    """A teacher's folder: a recipe of every kind of file, and what it names."""
    folder = tmp_path / "lesson"
    (folder / "data").mkdir(parents=True)
    numpy.savez(folder / "data" / "layer.npz", **LAYER)
    numpy.save(folder / "mask.npy", triangle())
    numpy.save(folder / "rows.npy", normal(4, 6, 16))
    (folder / "words.txt").write_text("\n".join(sorted(WORDS)), encoding="utf-8")
    recipe = {
        "schema": "attn-cli/recipe/1",
        "input": {"sentence": SENTENCE},
        "parameters": {"file": "data/layer.npz", "sha256": sha256(folder / "data" / "layer.npz")},
        "embeddings": {"file": "rows.npy", "words": {"file": "words.txt"}},
        "draws": [],
        "attention": {"mask": {"file": "mask.npy", "sha256": sha256(folder / "mask.npy")}},
    }
    (folder / "own.json").write_text(json.dumps(recipe), encoding="utf-8")
    return folder


# ---- files beside a recipe -------------------------------------------------------------------------------------------


def test_files_are_found_beside_the_recipe(folder, tmp_path):
    at_home = succeeds("run", "--recipe", "own.json", "--json", cwd=folder)
    abroad = succeeds("run", "--recipe", "lesson/own.json", "--json", cwd=tmp_path)
    assert abroad.out == at_home.out  # the names stay as they are given
    assert abroad.json["config"]["parameters"]["file"] == "data/layer.npz"
    (folder / "saved.json").write_bytes(at_home.out)
    succeeds("check", "lesson/saved.json", cwd=tmp_path)
    succeeds("explain", "--recipe", "lesson/own.json", "--query", "is", cwd=tmp_path)


@pytest.mark.parametrize("name", ["mask.npy", "rows.npy", "words.txt", "data/layer.npz"])
def test_what_is_not_beside_it_is_where_the_program_runs(name, folder, tmp_path):
    expected = succeeds("run", "--recipe", "own.json", "--json", cwd=folder).out
    (tmp_path / "data").mkdir()
    shutil.move(folder / name, tmp_path / name)
    assert succeeds("run", "--recipe", "lesson/own.json", "--json", cwd=tmp_path).out == expected
    (tmp_path / name).unlink()
    assert_fails(run("run", "--recipe", "lesson/own.json", cwd=tmp_path), 66, name)


def test_of_two_files_the_stated_digest_decides(folder, tmp_path):
    expected = succeeds("run", "--recipe", "own.json", "--json", cwd=folder).out
    arguments = ["run", "--recipe", "lesson/own.json", "--json"]
    numpy.save(tmp_path / "mask.npy", triangle(1))  # another one
    assert succeeds(*arguments, cwd=tmp_path).out == expected
    shutil.move(folder / "mask.npy", tmp_path / "right.npy")
    shutil.move(tmp_path / "mask.npy", folder / "mask.npy")
    assert_fails(run(*arguments, cwd=tmp_path), 65, "sha256 of 'lesson/mask.npy'")
    shutil.move(tmp_path / "right.npy", tmp_path / "mask.npy")
    assert succeeds(*arguments, cwd=tmp_path).out == expected
    numpy.save(tmp_path / "mask.npy", triangle(2))
    assert_fails(run(*arguments, cwd=tmp_path), 65, "sha256 of 'lesson/mask.npy'")


def test_without_a_digest_the_one_beside_the_recipe_counts(folder, tmp_path):
    expected = succeeds("run", "--recipe", "own.json", "--json", "--show", "embeddings", cwd=folder).json["embeddings"]
    numpy.save(tmp_path / "rows.npy", normal(5, 6, 16))
    (tmp_path / "words.txt").write_text("\n".join(WORDS), encoding="utf-8")
    assert succeeds("run", "--recipe", "lesson/own.json", "--json", "--show", "embeddings", cwd=tmp_path).json["embeddings"] == expected


def test_what_the_command_line_names_is_where_the_program_runs(folder, tmp_path):
    options = ["run", "--recipe", "lesson/own.json", "--mask", "mask.npy", "--json"]
    assert_fails(run(*options, cwd=tmp_path), 66, "mask.npy")
    numpy.save(tmp_path / "mask.npy", triangle(1))
    assert succeeds(*options, cwd=tmp_path).json["config"]["attention"]["mask"]["sha256"] == sha256(tmp_path / "mask.npy")


# ---- a run as a recipe -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [
    [SENTENCE],
    [SENTENCE, "--heads", "4", "--head", "1,3", "--causal", "--digits", "8", "--show", "all"],
    [SENTENCE, "--heads", "2", "--head", "mean", "--digits", "0"],
    [SENTENCE, "--scale", "1e38", "--show", "all", "--quiet"],
    [SENTENCE, "--query", "is", "--cross", "a b", "--show", "all", "--softcap", "3", "--verify", "--quiet"],
    ["--ids", "3,1,2", "--vocab-size", "5", "--dtype", "float64", "--digits", "17", "--generator", "numpy", "--seed", "9"],
    ["--recipe", "raschka-2023-multihead", "--show", "all"],
    ["null, -inf and nan", "--window", "0", "--show", "tokens,vocabulary,masked_scores,entropy"],
])
def test_a_run_written_as_a_recipe_checks(options, tmp_path):
    succeeds("run", *options, "-o", "my.recipe.json", cwd=tmp_path)
    report = succeeds("check", "my.recipe.json", cwd=tmp_path).text
    assert report.endswith("my.recipe.json: passed\n") and "MISMATCH" not in report
    printed = (tmp_path / "my.recipe.json").read_bytes()
    assert printed == succeeds("run", *options, "--format", "recipe").out and printed.endswith(b"}\n")
    digits = options.index("--digits") + 1 if "--digits" in options else None
    again = ["--digits", options[digits]] if digits else []
    shown = options[options.index("--show"):][:2] if "--show" in options else []
    assert succeeds("run", "--recipe", "my.recipe.json", *again, *shown, "--format", "recipe", "--quiet", cwd=tmp_path).out == printed
    computation = [option for option, before in zip(options, ["", *options]) if "--digits" not in (option, before) and option != "--quiet"]
    again = succeeds("run", "--recipe", "my.recipe.json", "--json", "--quiet", cwd=tmp_path)
    assert again.json["config"] == succeeds("run", *computation, "--json", "--quiet").json["config"]


def test_what_it_states_is_what_the_table_prints(tmp_path):
    for options in ([], ["--digits", "2"], ["--init", "normal", "--scale", "none"]):
        command = ["run", SENTENCE, *options]
        recipe = succeeds(*command, "--format", "recipe").json
        assert [statement["array"] for statement in recipe["published"]] == ["tokens", "vocabulary", "weights", "context"]
        for statement in recipe["published"][2:]:
            table = succeeds(*command, "--show", statement["array"]).text.splitlines()[2:]
            assert statement.get("at") == ([0] if statement["array"] == "weights" else None)
            assert [line.split()[1 : 1 + len(row)] for line, row in zip(table, statement["values"], strict=True)] == statement["values"]
    masked = succeeds("run", "a b", "--causal", "--show", "masked_scores", "--format", "recipe").json["published"][0]
    assert masked["values"][0][1] is None


def test_a_changed_digit_is_found(tmp_path):
    text = succeeds("run", SENTENCE, "--format", "recipe").text
    (tmp_path / "r.json").write_text(text.replace('"0.6368"', '"0.6369"'))
    done = run("check", tmp_path / "r.json")
    assert done.code == 1 and "weights[0][1][3]: stated 0.6369, computed 0.63677466" in done.text


def test_a_folder_copied_elsewhere_still_checks(folder, tmp_path):
    succeeds("run", "--recipe", "own.json", "--show", "all", "-o", "my.recipe.json", cwd=folder)
    abroad = tmp_path / "elsewhere" / "copy"
    shutil.copytree(folder, abroad)
    shutil.rmtree(folder)
    for directory, name in ((tmp_path, "elsewhere/copy/my.recipe.json"), (abroad, "my.recipe.json"), (abroad / "data", "../my.recipe.json"), ("/", abroad / "my.recipe.json")):
        assert succeeds("check", name, cwd=directory).text.endswith("my.recipe.json: passed\n")
    numpy.save(abroad / "mask.npy", triangle(1))
    assert_fails(run("check", "my.recipe.json", cwd=abroad), 65, "sha256 of 'mask.npy'")


def test_a_recipe_names_files_as_they_stand_beside_it(folder, tmp_path):
    def files(recipe):
        return recipe["parameters"]["file"], recipe["embeddings"]["file"], recipe["embeddings"]["words"]["file"], recipe["attention"]["mask"]["file"]

    as_given = ("data/layer.npz", "rows.npy", "words.txt", "mask.npy")
    absolute = ["run", SENTENCE, "--params", folder / "data" / "layer.npz", "--embeddings", folder / "rows.npy", "--set",
                f"embeddings.words.file={folder / 'words.txt'}", "--mask", folder / "mask.npy"]
    for directory, name, options in (
        (folder, "my.recipe.json", ["run", "--recipe", "own.json"]),
        (tmp_path, "lesson/my.recipe.json", ["run", "--recipe", "lesson/own.json"]),
        (tmp_path, "lesson/my.recipe.json", absolute),
        ("/", folder / "my.recipe.json", absolute),
        (folder / "data", "../my.recipe.json", ["run", "--recipe", "../own.json"]),
    ):
        done = run(*options, "-o", name, cwd=directory)
        assert done.code == 0 and "written as" not in done.message, done.message
        text = (folder / "my.recipe.json").read_text()
        assert files(json.loads(text)) == as_given and str(tmp_path) not in text
        succeeds("check", folder / "my.recipe.json", cwd="/")

    (tmp_path / "other").mkdir()
    done = run(*absolute, "-o", tmp_path / "other" / "my.recipe.json")
    assert done.code == 0 and done.message.count("is written as") == 4
    assert f"'{folder}/mask.npy' is written as 'mask.npy'; keep a copy beside the recipe" in done.message
    text = (tmp_path / "other" / "my.recipe.json").read_text()
    assert files(json.loads(text)) == ("layer.npz", *as_given[1:]) and str(tmp_path) not in text
    for name in as_given:
        shutil.copy(folder / name, tmp_path / "other")
    succeeds("check", tmp_path / "other" / "my.recipe.json")
    succeeds("run", SENTENCE, "--mask", "../mask.npy", "-o", "my.recipe.json", cwd=folder / "data")
    succeeds("check", "lesson/data/my.recipe.json", cwd=tmp_path)


def test_the_ending_says_that_it_is_a_recipe(tmp_path):
    succeeds("run", "a b", "-o", "X.Recipe.JSON", cwd=tmp_path)
    assert json.loads((tmp_path / "X.Recipe.JSON").read_text())["schema"] == "attn-cli/recipe/1"
    succeeds("run", "a b", "-o", ".recipe.json", cwd=tmp_path)  # a name without an ending but .json
    assert json.loads((tmp_path / ".recipe.json").read_text())["schema"] == "attn-cli/result/1"
    succeeds("explain", "a b", "--query", "a", "-o", "explained.recipe.json", cwd=tmp_path)
    assert json.loads((tmp_path / "explained.recipe.json").read_text())["schema"] == "attn-cli/explanation/1"
    assert_fails(run("run", "a b", "--json", "-o", tmp_path / "x.recipe.json"), 2, "the format json contradicts the ending")
    assert_fails(run("run", "--lines", "-", "--format", "recipe", stdin="a\n"), 2, "--lines")
    assert_fails(run("run", "a b", "--format", "recipe", "--top", 2), 2, "--top")
    assert_fails(run("run", "a b", "--format", "recipe", "--notation", "row"), 2, "--notation")


# ---- reports for programs --------------------------------------------------------------------------------------------


@pytest.fixture
def reports(tmp_path):
    """A result that agrees, one that does not, a line that failed, and a file that is no JSON."""
    (tmp_path / "good.json").write_bytes(succeeds("run", "a b", "--json").out)
    (tmp_path / "wrong.json").write_text((tmp_path / "good.json").read_text().replace('"a":0', '"a":7'))
    (tmp_path / "lines.json").write_bytes(run("run", "--lines", "-", "--json", stdin="a b\n\n").out)
    (tmp_path / "bad.json").write_text("{")
    return tmp_path


FILES = ("good.json", "wrong.json", "lines.json", "bad.json", "raschka-2023")


def test_check_prints_a_document_for_each(reports):
    jsonschema = pytest.importorskip("jsonschema")
    done = run("check", *FILES, "--json", cwd=reports)
    assert done.code == 65 and done.message == run("check", *FILES, cwd=reports).message
    documents = done.json_lines
    for document in documents:
        jsonschema.Draft202012Validator(succeeds("schema", "check").json).validate(document)
    assert [(document["name"], document["passed"]) for document in documents] == [
        ("good.json", True), ("wrong.json", False), ("lines.json line 1", True), ("lines.json line 2", False), ("bad.json", False), ("raschka-2023", True)]
    statement = {s["what"]: s for s in documents[1]["statements"]}["vocabulary"]
    assert statement == {"what": "vocabulary", "compared": 4, "mismatched": 1, "largest_absolute": 0.0, "largest_relative": 0.0,
                         "first": "vocabulary[0][1]: stated 7, computed 0"}
    assert documents[3]["error"]["code"] == 65 and documents[3]["error"]["message"].startswith("not checked, the line could not be computed: ")
    assert documents[4]["error"] == {"code": 65, "message": done.message.split(": ", 3)[3].strip()}
    assert documents[5]["statements"][-1]["compared"] == 28
    missing = run("check", "missing.json", "--json", cwd=reports)
    assert (missing.code, missing.json["error"]["code"], missing.json["passed"]) == (66, 66, False)


def test_quiet_prints_failures_only(reports):
    for code, files in ((0, ["good.json", "raschka-2023"]), (1, ["good.json", "wrong.json"]), (65, FILES)):
        loud, quiet = run("check", *files, cwd=reports), run("check", *files, "--quiet", cwd=reports)
        assert loud.code == quiet.code == code and loud.message == quiet.message
        failures = [line for line in loud.text.splitlines() if not line.startswith("ok ") and not line.endswith(": passed")]
        assert quiet.text.splitlines() == failures
        loud, quiet = run("check", *files, "--json", cwd=reports), run("check", *files, "--json", "--quiet", cwd=reports)
        assert (quiet.code, quiet.json_lines) == (code, [document for document in loud.json_lines if not document["passed"]])


def test_a_reader_of_documents_that_leaves_hides_no_difference(reports):
    from program import run_unread

    assert run_unread("check", "good.json", "wrong.json", "--json", cwd=reports).code == 1
