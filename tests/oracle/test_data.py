"""The recipes of data/: they are laid out as the scripts write them, and their stored numbers are PyTorch's."""

import json

import pytest

import recipe_file

NAMES = sorted(file.stem for file in recipe_file.RECIPES.glob("*.json"))


@pytest.mark.parametrize("name", NAMES)
def test_a_recipe_is_laid_out_as_the_scripts_write_it(name):
    text = (recipe_file.RECIPES / f"{name}.json").read_text(encoding="utf-8")
    assert text == recipe_file.layout(json.loads(text)) + "\n"


def test_the_stored_numbers_are_those_of_live_pytorch_and_numpy():
    pytest.importorskip("torch")
    import computed_numbers

    wrong = []
    for name, compute in computed_numbers.RECIPES.items():
        recipe = recipe_file.read(name)
        wrong += computed_numbers.differences(recipe, computed_numbers.Arrays(recipe, compute))
    assert wrong == []
