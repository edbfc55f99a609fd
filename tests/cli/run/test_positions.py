"""`run --positions`; the formulas are compared with NumPy's in oracle/live_params.py."""

import json

import pytest
from program import SENTENCE, assert_fails, run, succeeds
from tensors import close, numpy

WORDS = 6


def result(*options):
    return succeeds("run", SENTENCE, "--json", "--show", "all", *options).json


def test_none_is_what_was_before():
    assert result("--positions", "none") == result()


def test_sinusoids_are_added_to_the_embeddings_of_both_sides():
    plain, placed = (result("--cross", "one two three four", *options) for options in ((), ("--positions", "sinusoidal")))
    for name in ("embeddings", "key_embeddings"):
        p, i = numpy.indices(numpy.shape(plain[name]))
        angle = p / 10000.0 ** (2 * (i // 2) / 16)
        close(placed[name], numpy.array(plain[name]) + numpy.where(i % 2, numpy.cos(angle), numpy.sin(angle)))
    assert placed["config"]["attention"] == {"positions": {"kind": "sinusoidal"}}


def test_scores_after_rope_depend_on_the_distance_alone():
    done = succeeds("run", "a a a a a", "--json", "--show", "queries,scores", "--positions", "rope", "--dtype", "float64").json
    scores = numpy.array(done["scores"][0])
    for i in range(1, 5):
        close(numpy.diag(scores, i), scores[0, i], rtol=1e-12)
        close(numpy.diag(scores, -i), scores[i, 0], rtol=1e-12)
    norms = numpy.linalg.norm(done["queries"][0], axis=1)
    close(norms, norms[0], rtol=1e-12)


def test_rope_turns_as_many_numbers_as_it_is_told():
    plain = result()
    for style, turned in (("half", [*range(8)]), ("interleaved", [*range(8)])):
        done = result("--positions", f"rope:dim=8,style={style},base=500")
        same = numpy.array(done["keys"][0]) == numpy.array(plain["keys"][0])
        assert same[0].all() and same[:, 8:].all() and not same[1:, turned].any()
        assert done["values"] == plain["values"]
        expected = {"kind": "rope", "base": 500.0, "dim": 8} | ({"style": style} if style != "half" else {})
        assert done["config"]["attention"]["positions"] == expected


@pytest.mark.parametrize(("heads", "slopes"), [(1, [2**-8]), (2, [2**-4, 2**-8]), (3, [2**-4, 2**-8, 2**-2]),
                                               (6, [2**-2, 2**-4, 2**-6, 2**-8, 2**-1, 2**-3])])
def test_alibi_takes_slope_times_distance_off(heads, slopes):
    done = result("--positions", "alibi", "--heads", str(heads), "--d-k", "2", "--d-v", "2")
    i, j = numpy.indices((WORDS, WORDS))
    for head, slope in enumerate(slopes):
        close(done["masked_scores"][head], numpy.array(done["scaled_scores"][head]) - slope * abs(i - j))


def test_alibi_meets_masks_windows_and_rows(tmp_path):
    numpy.save(tmp_path / "m.npy", numpy.array([0, 1.5, -numpy.inf, 0, 0, -numpy.inf]))
    options = ("--positions", "alibi", "--heads", "2", "--mask", tmp_path / "m.npy", "--causal")
    full, rows = result(*options), result(*options, "--query", "5,1")
    assert rows["masked_scores"] == [[head[1], head[5]] for head in full["masked_scores"]]
    i, j = numpy.indices((WORDS, WORDS))
    seen = (j <= i) & (j != 2) & (j != 5)
    mask = numpy.array([0, 1.5, 0, 0, 0, 0])
    expected = numpy.array(full["scaled_scores"][1]) + mask - 2**-8 * abs(i - j)
    got = numpy.array(full["masked_scores"][1], dtype=float)
    assert (numpy.isfinite(got) == seen).all()
    close(got[seen], expected[seen])


def test_lines_and_single_runs_agree():
    for kind in ("sinusoidal", "rope", "alibi"):
        options = ("--json", "--positions", kind, "--show", "all")
        lines = ["a b c", "b a", "a a a a"]
        done = succeeds("run", "--lines", "-", *options, stdin="\n".join(lines)).json_lines
        for i, line in enumerate(lines):
            assert done[i] == {**succeeds("run", line, *options).json, "index": i}


def test_a_recipe_may_say_positions_and_an_option_takes_them_away(tmp_path):
    jsonschema = pytest.importorskip("jsonschema")
    schema = jsonschema.Draft202012Validator(succeeds("schema", "recipe").json)
    placed = result("--positions", "rope:style=interleaved")
    (tmp_path / "golden.json").write_text(json.dumps(placed))
    schema.validate(placed["config"])
    assert succeeds("check", "golden.json", cwd=tmp_path).text.endswith("passed\n")
    assert succeeds("run", "--recipe", "golden.json", "--positions", "none", "--json", "--show", "all", cwd=tmp_path).json == result()
    for wrong in ({"kind": "alibi", "base": 3}, {"kind": "rope", "dim": 3}, {"kind": "rope", "base": 0.5}, {"kind": "none"}, {},
                  {"kind": "rope", "theta": 1}):
        recipe = {**placed["config"], "attention": {"positions": wrong}}
        (tmp_path / "w.json").write_text(json.dumps(recipe))
        assert_fails(run("run", "--recipe", "w.json", cwd=tmp_path), 65)
        assert not schema.is_valid(recipe)


def test_a_rope_that_a_recipe_cannot_turn_is_the_fault_of_who_gave_it(tmp_path):
    config = result("--positions", "rope")["config"]
    (tmp_path / "odd.json").write_text(json.dumps({**config, "dims": {"d_k": 7}}))
    (tmp_path / "even.json").write_text(json.dumps(config))
    (tmp_path / "wide.json").write_text(json.dumps({**config, "attention": {"positions": {"kind": "rope", "dim": 30}}}))
    assert_fails(run("run", "--recipe", "odd.json", cwd=tmp_path), 65)
    assert_fails(run("run", "--recipe", "wide.json", cwd=tmp_path), 65)
    assert_fails(run("run", "--recipe", "even.json", "--d-k", "7", cwd=tmp_path), 2)
    assert_fails(run("run", "--recipe", "odd.json", "--positions", "rope", cwd=tmp_path), 2)
    for options in (("--d-k", "6"), ("--positions", "rope:dim=6"), ("--positions", "none")):
        succeeds("run", "--recipe", "odd.json", *options, cwd=tmp_path)
