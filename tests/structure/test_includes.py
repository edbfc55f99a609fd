"""Fails when an include breaks the rules of the house, and when the rules fail to notice one that does."""

import shutil
from pathlib import Path

from include_rules import SEES, violations

SRC = Path(__file__).parents[2] / "src"


def test_every_include_keeps_the_rules():
    assert violations(SRC) == []


def test_a_violation_planted_in_the_real_sources_is_seen(tmp_path):
    src = Path(shutil.copytree(SRC, tmp_path / "src"))
    with (src / "attn/core/stages.cpp").open("a", encoding="utf-8") as file:
        file.write('#include "attn/io/recipe.hpp"\n')
    assert [line.split(": ")[1] for line in violations(src)] == ['core may not include io ("attn/io/recipe.hpp")']


def test_the_rules_see_the_sources():
    """An empty folder keeps every rule; this one is not empty."""
    assert len(list(SRC.rglob("*.hpp"))) > 20


def test_the_arrows_are_those_of_the_house():
    """The sentences of the house, spelled out once more beside the table that the rules follow."""
    assert SEES["cli"] >= {"report", "io", "model"} and SEES["cli"].isdisjoint({"text", "random", "core"})
    assert SEES["model"] >= {"text", "random", "core"} and SEES["model"].isdisjoint({"io", "report", "cli"})
    for room in ("io", "report"):
        assert SEES[room] == {"model", "tensor", "math"}
    for room in ("text", "random", "core"):
        assert SEES[room] == {"tensor", "math"}
    assert SEES["tensor"] == set() and SEES["math"] == {"tensor"}
