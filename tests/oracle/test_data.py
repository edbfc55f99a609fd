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
