"""What stands around a recipe in its file, and options that set right what it says."""

import json

import pytest
from program import SENTENCE, run, succeeds

RECIPE = {
    "schema": "attn-cli/recipe/1",
    "input": {"sentence": SENTENCE},
    "dims": {"embed_dim": 16, "heads": 4},
    "draws": [{"seed": 1}, {"tensor": "embedding", "init": "normal"}]
    + [{"tensor": name, "init": "uniform"} for name in ("W_q", "W_k", "W_v")],
    "published": [{"array": "tokens", "values": ["Life", "is", "short", "eat", "dessert", "first"]}],
}


@pytest.fixture
def write(tmp_path):
    def write(recipe=RECIPE, after="", **changes):
        path = tmp_path / "recipe.json"
        path.write_text(json.dumps({**recipe, **changes}, ensure_ascii=False) + after)
        return path

    return write



def test_an_option_sets_right_what_the_file_says(write):
    succeeds("run", "--recipe", write(dims={"heads": 4, "kv_heads": 3}), "--kv-heads", "2")
    succeeds("run", "--recipe", write(query=["life"]), "--query", "Life")


def test_blank_lines_around_a_recipe_are_not_garbage(write):
    path = write(after="\n \n\t\n")
    path.write_text("\n\n " + path.read_text())
    assert succeeds("check", path).text.endswith(": passed\n")


def test_garbage_behind_a_result_fails_its_line_alone(tmp_path):
    lines = run("run", "--lines", "-", "--json", stdin="a b\nc d\ne f\n").text.splitlines()
    lines[1] += " {}"
    path = tmp_path / "lines.json"
    path.write_text("\n".join(lines) + "\n")
    done = run("check", path)
    assert done.code == 65
    assert done.message == f"attn-cli: error: '{path}' line 2: malformed JSON at line 1, column {len(lines[1]) - 1}: " + done.message.split(": ")[-1]
    assert [line for line in done.text.splitlines() if "passed" in line] == [f"{path} line 1: passed", f"{path} line 3: passed"]
