"""What the manual's page of recipes says of every key is what the schema and the program know."""

import json
import re
from pathlib import Path

import pytest
from program import succeeds

PAGE = (Path(__file__).parents[3] / "data" / "manual" / "recipes.md").read_text(encoding="utf-8")
SECTION = PAGE.split("\n## Every key\n")[1]
SCHEMA = succeeds("schema", "recipe").json


def below(node):
    """A node of the schema, and all inside it."""
    yield node
    for inner in node.values() if isinstance(node, dict) else node if isinstance(node, list) else []:
        yield from below(inner)


KEYS = {key for node in below(SCHEMA) if isinstance(node, dict) for key in node.get("properties", {}) if isinstance(node["properties"], dict)}
TENSORS = next(names for node in below(SCHEMA) if isinstance(node, dict) for names in [node.get("enum", [])] if "W_q" in names and "published" not in node)


@pytest.mark.parametrize("key", sorted(KEYS))
def test_every_key_of_the_schema_stands_there(key):
    assert re.search(rf"[`\"]{re.escape(key)}[`\"]", SECTION)


@pytest.mark.parametrize("tensor", sorted(TENSORS))
def test_every_tensor_stands_among_the_draws_and_in_the_table_of_shapes(tensor):
    draws = SECTION.split("\n### Draws\n")[1].split("\n### ")[0]
    bullets, _, table = draws.partition("| tensor | shape")
    assert f"`{tensor}`" in bullets
    assert f"`{tensor}`" in table


@pytest.mark.parametrize("code", re.findall(r"`(\{[^`]*\})`", PAGE))
def test_every_object_in_passing_is_json(code):
    if not re.search(r"…|: (N|NAME)\b|\b[A-Z]\b[,\]]", code):
        json.loads(code)
