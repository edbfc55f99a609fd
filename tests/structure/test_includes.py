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
        file.write('#include "attn/io/json/recipe.hpp"\n')
    assert [line.split(": ")[1] for line in violations(src)] == ['core may not include io ("attn/io/json/recipe.hpp")']


def test_the_rules_see_the_sources():
    """An empty folder keeps every rule; this one is not empty."""
    assert len(list(SRC.rglob("*.hpp"))) > 20


def test_the_arrows_are_those_of_the_house():
    """The sentences of the house, spelled out once more beside the table that the rules follow."""
    assert SEES["cli"] >= {"report", "io", "model"} and SEES["cli"].isdisjoint({"text", "random", "core", "transformer"})
    assert SEES["model"] >= {"text", "random", "core", "transformer"} and SEES["model"].isdisjoint({"io", "report", "cli"})
    assert SEES["report"] == {"model", "tensor", "math"}
    assert SEES["io"] == {"model", "text", "transformer", "tensor", "math"}
    assert SEES["transformer"] == {"core", "tensor", "math"}
    for room in ("text", "random", "core"):
        assert SEES[room] == {"tensor", "math"}
    assert SEES["tensor"] == set() and SEES["math"] == {"tensor"}


def test_a_violation_between_folders_of_a_room_is_seen(tmp_path):
    src = Path(shutil.copytree(SRC, tmp_path / "src"))
    planted = {
        "attn/model/recipe/field.cpp": "attn/model/run/run.hpp",
        "attn/report/axes.cpp": "attn/report/svg/svg.hpp",
        "attn/transformer/layers/layers.cpp": "attn/transformer/run/model.hpp",
        "cli/system/log.cpp": "cli/command_line.hpp",
    }
    for file, header in planted.items():
        with (src / file).open("a", encoding="utf-8") as stream:
            stream.write(f'#include "{header}"\n')
    assert sorted(line.split(": ")[1] for line in violations(src)) == [
        'cli/system may not include cli ("cli/command_line.hpp")',
        'model/recipe may not include model/run ("attn/model/run/run.hpp")',
        'report may not include report/svg ("attn/report/svg/svg.hpp")',
        'transformer/layers may not include transformer/run ("attn/transformer/run/model.hpp")',
    ]
