"""What tests of recipes share; a file whose recipes begin otherwise has a `write` of its own."""

import json

import pytest


@pytest.fixture
def write(tmp_path):
    """A recipe of these draws, in a file."""
    def write(draws, **more):
        path = tmp_path / "recipe.json"
        path.write_text(json.dumps({"schema": "attn-cli/recipe/1", "draws": draws} | more))
        return path

    return write
