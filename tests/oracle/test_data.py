"""The files of data/: the recipes keep their schema, the schemas refuse what they should, the stored numbers are PyTorch's."""

import copy
import json
from pathlib import Path

import pytest

import recipe_file

jsonschema = pytest.importorskip("jsonschema")

SCHEMAS = Path(__file__).resolve().parents[2] / "data" / "schemas"
NAMES = sorted(file.stem for file in recipe_file.RECIPES.glob("*.json"))


def validator(name):
    return jsonschema.Draft202012Validator(json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", ["recipe", "result", "tensor"])
def test_a_schema_is_one(name):
    jsonschema.Draft202012Validator.check_schema(validator(name).schema)


@pytest.mark.parametrize("name", NAMES)
def test_a_recipe_keeps_its_schema(name):
    assert list(validator("recipe").iter_errors(recipe_file.read(name))) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_recipe_is_laid_out_as_the_scripts_write_it(name):
    text = (recipe_file.RECIPES / f"{name}.json").read_text(encoding="utf-8")
    assert text == recipe_file.layout(json.loads(text)) + "\n"


def edited(path, value):
    """owen-2025 with one member replaced, or added."""
    recipe = copy.deepcopy(recipe_file.read("owen-2025"))
    place = recipe
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return recipe


@pytest.mark.parametrize(
    "path, value",
    [
        (["schema"], "attn-cli/recipe/2"),
        (["colour"], "red"),
        (["input"], {}),
        (["input", "ids"], [1]),
        (["dims", "heads"], 0),
        (["dims", "head"], 1),
        (["draws", 0, "seed"], -1),
        (["draws", 0, "seed"], 0.5),
        (["draws", 0, "init"], "normal"),
        (["draws", 1, "side"], "left"),
        (["draws", 1, "low"], 0),
        (["draws", 1, "std"], -1),
        (["draws", 1, "take"], [0]),
        (["draws", 3, "mean"], 0),
        (["draws", 3, "shape"], ["H*"]),
        (["draws", 3, "shape"], []),
        (["draws", 3, "tensor"], "W"),
        (["attention", "softcap"], 0),
        (["attention", "window"], [1]),
        (["attention", "scores"], "QQ"),
        (["query"], [-1]),
        (["published", 0], {"array": "tokens"}),
        (["published", 3, "array"], "embeds"),
        (["published", 3, "values"], ["1", 2]),
        (["published", 3, "units"], -1),
        (["precision"], [{"array": "context", "tolerance": 1}]),
    ],
)
def test_the_schema_refuses_what_the_reader_refuses(path, value):
    assert list(validator("recipe").iter_errors(edited(path, value))) != []


def test_the_stored_numbers_are_those_of_live_pytorch_and_numpy():
    pytest.importorskip("torch")
    import computed_numbers

    wrong = []
    for name, compute in computed_numbers.RECIPES.items():
        recipe = recipe_file.read(name)
        wrong += computed_numbers.differences(recipe, computed_numbers.Arrays(recipe, compute))
    assert wrong == []


def whole_result_schema():
    """The schema of results with that of recipes in it, as `attn-cli schema result` prints it."""
    text = (SCHEMAS / "result.json").read_text(encoding="utf-8")
    recipe = dict(validator("recipe").schema)
    del recipe["$schema"]
    return jsonschema.Draft202012Validator(json.loads(text.replace('{"$ref": "recipe.json"}', json.dumps(recipe))))


RESULT = {
    "schema": "attn-cli/result/1",
    "config": {"schema": "attn-cli/recipe/1", "input": {"sentence": "a"}, "draws": [{"seed": 1}]},
    "tokens": ["a"],
    "weights": [[[1.0, "nan"]]],
    "masked_scores": [[[None, -0.5]]],
    "parameters": {"W_q": [[0.5]], "W_k": [[[0.5]]]},
    "verify": {"weights": {"absolute": 0.0, "relative": "inf"}},
    "warnings": [],
}
LINE_ERROR = {"index": 0, "error": {"code": 65, "message": "no words"}}


@pytest.mark.parametrize("result", [RESULT, {**RESULT, "index": 3}, LINE_ERROR])
def test_a_result_keeps_its_schema(result):
    assert list(whole_result_schema().iter_errors(result)) == []


@pytest.mark.parametrize(
    "result",
    [
        {**RESULT, "weight": []},
        {**RESULT, "weights": [[[None]]]},
        {**RESULT, "weights": [[["Infinity"]]]},
        {**RESULT, "weights": [[1.0]]},
        {**RESULT, "config": {**RESULT["config"], "published": [{"array": "tokens"}]}},
        {**RESULT, "config": {**RESULT["config"], "published": [{"array": "weights", "values": ["1", 2]}]}},
        {**RESULT, "token_ids": [0.5]},
        {key: value for key, value in RESULT.items() if key != "warnings"},
        {**LINE_ERROR, "schema": "attn-cli/result/1"},
        {"index": 0, "error": {"code": 65}},
    ],
)
def test_the_schema_of_results_refuses(result):
    assert list(whole_result_schema().iter_errors(result)) != []
