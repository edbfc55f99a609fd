"""The JSON Schemas that `schema` prints: what they accept the program reads, what they refuse it refuses."""

import copy
import functools
import json
import re
from pathlib import Path

import pytest
from program import SENTENCE, run, succeeds

jsonschema = pytest.importorskip("jsonschema")

RECIPES = Path(__file__).resolve().parents[3] / "data" / "recipes"
SCHEMAS = {name: succeeds("schema", name).json for name in ("recipe", "result", "tensor", "explanation", "check", "diagnosis", "blind-spots", "raw")}
RECIPE, RESULT = (jsonschema.Draft202012Validator(SCHEMAS[name]) for name in ("recipe", "result"))
DIGEST = "0123456789abcdef" * 4
# Of a file that is not there: a recipe that can be read ends with 66, before anything is computed.
MISSING = {"file": "p.npz"}
WORDS = {
    "schema": "attn-cli/recipe/1",
    "name": "n",
    "title": "t",
    "source": "s",
    "note": "free",
    "input": {"sentence": SENTENCE, "cross": "a b", "tokenizer": "words", "casefold": True},
    "generator": "numpy",
    "dtype": "float64",
    "rounding": "step",
    "dims": {"embed_dim": 8, "heads": 1, "kv_heads": 1, "d_k": 4, "d_v": 5, "vocab_size": 20, "key_dim": 8, "value_dim": 8},
    "parameters": MISSING,
    "draws": [
        {"seed": 1},
        {"discard": True, "init": "normal", "shape": [3, "H_kv*d_v*T"], "mean": 0, "std": 1},
        {"tensor": "embedding", "init": "normal", "mean": 0.5, "std": 2},
        {"tensor": "W_q", "init": "uniform", "low": -4, "high": 2e19, "side": "right", "shape": [2, "D", "d_k"], "take": [0]},
        {"tensor": "W_k", "init": "xavier"},
        {"tensor": "W_v", "init": "identity"},
    ],
    "attention": {
        "causal": True,
        "window": [2, -1],
        "scale": "none",
        "softcap": 30.5,
        "scores": "QK",
        "positions": {"kind": "rope", "base": 500.5, "dim": 2, "style": "interleaved"},
    },
    "query": ["is", 3],
    "head": [0],
    "verify": True,
    "published": [
        {"array": "weights", "at": [0, None], "values": ["0.0185", "-1.4928e-02"], "units": 1},
        {"array": "W_q", "values": [[1.5, -0.0], [None, 1e-30]], "rtol": 2e-5, "atol": 1, "dtype": "float64"},
        {"array": "vocabulary", "values": {"b": 0, "a": 1}},
        {"array": "keys", "shape": [6, 24]},
    ],
    "precision": [{"array": "context", "rtol": 0.0, "atol": 1e-6}],
}
PLAIN = {"schema": "attn-cli/recipe/1", "input": {"sentence": "a b"}, "parameters": MISSING, "draws": [{"seed": 1}]}
FILES = {
    **PLAIN,
    "parameters": {**MISSING, "prefix": "h.0", "layout": "run", "output_projection": True, "allow_nonfinite": True, "sha256": DIGEST},
    "embeddings": {
        "file": "e.npz",
        "name": "E",
        "words": {"file": "w.txt", "bytes": 9, "sha256": DIGEST, "sha256_sample": DIGEST},
        "unknown": "<unk>",
        "allow_nonfinite": True,
        "bytes": 9,
        "sha256": DIGEST,
        "sha256_sample": DIGEST,
    },
    "attention": {"mask": {"file": "m.npz", "name": "m", "sha256": DIGEST}},
}
IDS = {**PLAIN, "input": {"ids": [1, 0], "labels": ["a", "b"]}, "dims": {"vocab_size": 3}}
POSITIONS = {**PLAIN, "input": {"positions": 2, "labels": ["a", "b"]}}
BATCHES = (
    {**PLAIN, "input": {"sentence": ["a b", "c"], "casefold": True}, "entry": 1},
    {**IDS, "input": {"ids": [1, 0], "batch": 2, "labels": ["a", "b"]}},
    {**POSITIONS, "input": {"positions": 2, "batch": 2, "labels": ["a", "b"]}},
)

STATED = {
    **PLAIN,
    "draws": [{"tensor": "W_q", "values": [[1, -0.5], [2e3, 0]], "side": "right"}, {"tensor": "b_q", "values": [1]}],
    "attention": {"mask": {"values": [[True, False]]}},
}


def places(value, path=()):
    """The path of every value inside."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (*path, key)
        yield from places(inner, (*path, key))


def at(recipe, path):
    return functools.reduce(lambda value, key: value[key], path, recipe)


def edited(recipe, path, value=None, edit=lambda parent, key, value: parent.__setitem__(key, value)):
    """A copy with the value at a path replaced, or with another edit of what holds it."""
    recipe = copy.deepcopy(recipe)
    edit(at(recipe, path[:-1]), path[-1], value)
    return recipe


def misspell(parent, key, _):
    parent[key + "_"] = parent.pop(key)


def with_draw(**draw):
    return edited(FILES, ["draws"], [{"seed": 1}, draw])


def mutants():
    """Every value of another type or out of any range, every key misspelt, every limit passed by one, every condition broken."""
    for recipe in (WORDS, FILES, IDS, POSITIONS, STATED, *BATCHES):
        yield recipe
        for path in places(recipe):
            if "values" in path:  # what may stand there depends on the array, which no schema says
                continue
            is_number = type(at(recipe, path)) in (int, float)
            for value in ("?", -3, 0.5, 2**64) if is_number else (None, "?", -3):
                yield edited(recipe, path, value)
            if isinstance(path[-1], str):
                yield edited(recipe, path, edit=misspell)
    for recipe in (WORDS, FILES):
        for key in ("schema", "input", "draws"):
            yield edited(recipe, [key], edit=lambda parent, key, _: parent.pop(key))
    for path, value in (
        (["colour"], "red"),
        (["input"], {}),
        (["published", 3, "values"], ["1", 2]),
        (["dims", "embed_dim"], 1048577),
        (["dims", "heads"], 65537),
        (["dims", "kv_heads"], 65537),
        (["dims", "d_k"], 0),
        (["dims", "d_v"], 1048577),
        (["dims", "vocab_size"], 2147483648),
        (["draws", 1, "shape"], []),
        (["draws", 1, "shape"], [1] * 9),
        (["draws", 1, "shape", 0], 0),
        (["draws", 1, "shape", 0], 1048577),
        (["draws", 1, "shape", 1], "H*"),
        (["draws", 1, "shape", 1], "d_v*H_kv*D"),
        (["draws", 3, "take", 0], 1048576),
        (["attention", "window"], [1]),
        (["attention", "window"], [1, 2, 3]),
        (["attention", "window", 0], -2),
        (["attention", "window", 0], 2147483648),
        (["attention", "softcap"], 0),
        (["attention", "softcap"], -1e-300),
        (["attention", "positions", "base"], 0.999),
        (["attention", "positions", "base"], 1),
        (["attention", "positions", "dim"], 3),
        (["attention", "positions", "dim"], 1048578),
        (["query", 1], 2147483648),
        (["head"], "mean"),
        (["head"], []),
        (["head"], 0),
        (["head", 0], 65536),
        (["published", 0, "units"], 1000001),
        (["published", 0, "at"], [None] * 9),
        (["published", 0, "at", 0], 2147483649),
        (["published", 3, "shape"], [0] * 9),
        (["published", 0], {"array": "tokens"}),
        *((["published", 3, "array"], name) for name in ("parameters", "summary", "query_positions", "heads", "present_key", "discard")),
        *((["published", 3, "array"], name) for name in ("output", "key_token_ids", "key_embeddings", "embedding", "bias_v")),
    ):
        yield edited(WORDS, path, value)
    yield edited(FILES, ["parameters", "sha256"], DIGEST[1:])
    yield edited(FILES, ["embeddings", "bytes"], 2**63)
    yield edited(IDS, ["input", "ids", 0], 2147483647)
    yield edited(IDS, ["input"], {"ids": []})
    yield edited(POSITIONS, ["input", "positions"], 1048577)
    for texts in ([], ["a"] * 1024, ["a"] * 1025):
        yield edited(BATCHES[0], ["input", "sentence"], texts)
    for batch in BATCHES[1:]:
        yield edited(batch, ["input", "batch"], 1025)
    yield edited(BATCHES[0], ["entry"], 1024)
    yield edited(BATCHES[0], ["input", "batch"], 2)
    for section in ("parameters", "embeddings"):
        yield edited(FILES, [section], {})
    yield edited(FILES, ["embeddings", "words"], {"bytes": 1})
    yield edited(FILES, ["attention"], {"mask": {"name": "m"}})
    for values in ([], 3, "x", ["x"], [[None]], [[True, False]], {}, None, [1, 2.5]):
        yield edited(STATED, ["draws", 1, "values"], values)
        yield edited(STATED, ["attention", "mask", "values"], values)
    for values in ([True, 1], [[0, None, "-inf"]], ["inf"]):
        yield edited(STATED, ["attention", "mask", "values"], values)
    for key in ("init", "shape", "take", "low", "discard"):
        yield edited(STATED, ["draws", 1, key], WORDS["draws"][3].get(key, True))
    yield edited(STATED, ["draws", 0], {"discard": True, "values": [1]})
    yield edited(STATED, ["draws", 0], {"values": [1]})
    yield edited(STATED, ["draws", 1, "side"], "left")
    for more in ({"file": "m.npy"}, {"name": "m"}, {"sha256": DIGEST}):
        yield edited(STATED, ["attention", "mask"], {"values": [1], **more})
    yield edited(STATED, ["attention"], {"mask": {}})
    kinds = {"sentence": "a", "ids": [1], "positions": 1, "labels": ["a"], "casefold": True}
    for first in kinds:
        for second in kinds:
            yield edited(FILES, ["input"], {first: kinds[first], second: kinds[second]})
    for kind in ({}, {"kind": "rope"}, {"kind": "alibi"}, {"kind": "sinusoidal"}):
        for more in ({}, {"base": 2}, {"dim": 2}, {"style": "half"}):
            yield edited(FILES, ["attention"], {"positions": {**kind, **more}})
    more = {"low": 0, "high": 1, "mean": 0, "std": 1, "side": "left", "shape": [1], "take": [0], "seed": 1}
    more |= {"gain": 2, "a": -0.5, "mode": "fan_out", "padding_idx": 3, "head": 0}
    for init in ("uniform", "normal", "linear", "xavier", "kaiming_normal", "zeros"):
        for key, value in more.items():
            yield with_draw(discard=True, init=init, **{"shape": [1], key: value})
            for tensor in ("embedding", "W_q", "W_o", "b_q"):
                yield with_draw(tensor=tensor, init=init, **{key: value})
    for limits in ({}, {"high": 1}, {"low": -3, "high": 2.0}, {"high": 2.5}, {"low": -0.5, "high": 3}, {"low": 0}, {"low": -(2**53), "high": 2**53}):
        yield with_draw(tensor="W_q", init="integers", **limits)
        yield with_draw(discard=True, init="integers", shape=[1], **limits)
    layer = {"init": "multihead_attention"}
    for draw in (layer, {**layer, "bias": False, "add_bias_kv": True}, {**layer, "bias": 0}, {**layer, "tensor": "W_q"}):
        yield with_draw(**draw)
    for more in ({"discard": True, "shape": [1]}, {"shape": [1]}, {"head": 0}, {"seed": 1}, {"side": "left"}):
        yield with_draw(**layer, **more)
    yield with_draw(tensor="W_q", init="linear", bias=True)
    yield with_draw(tensor="W_q", init="integers", high=2**53 + 2)
    yield with_draw(tensor="W_q", init="integers", low=-(2**53) - 2, high=1)
    for draw in (
        {},
        {"tensor": "W_q"},
        {"init": "normal"},
        {"discard": True, "init": "normal"},
        {"discard": True, "shape": [1]},
        {"discard": False, "init": "normal", "shape": [1]},
        {"discard": True, "tensor": "W_q", "init": "normal", "shape": [1]},
        {"tensor": "W_q", "init": "normal", "shape": [1], "take": [0]},
        {"seed": 2**64 - 1},
        {"seed": 1, "init": "normal"},
    ):
        yield with_draw(**draw)


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS.keys())
def test_a_schema_is_one_and_refers_to_no_other_file(schema):
    jsonschema.Draft202012Validator.check_schema(schema)
    references = re.findall(r'"\$ref": "([^"]*)"', json.dumps(schema))
    assert all(reference.startswith("#") for reference in references)


@pytest.mark.parametrize("file", sorted(RECIPES.glob("*.json")), ids=lambda file: file.stem)
def test_a_recipe_keeps_its_schema(file):
    RECIPE.validate(json.loads(file.read_text(encoding="utf-8")))


def test_the_schema_of_recipes_judges_as_the_program_does(tmp_path):
    file, wrong, counts = tmp_path / "x.json", [], {65: 0, 66: 0}
    for recipe in mutants():
        file.write_text(json.dumps(recipe))
        expected = 66 if RECIPE.is_valid(recipe) else 65
        done = run("run", "--recipe", file, cwd=tmp_path)
        counts[expected] += 1
        if done.code != expected:
            wrong.append(f"{expected}, {done.code}: {done.message}")
    assert wrong == []
    assert counts[66] > 100 and counts[65] > 500


RESULT_OF_ALL = {
    "schema": "attn-cli/result/1",
    "config": PLAIN,
    "tokens": ["a"],
    "weights": [[[1.0, "nan"]]],
    "masked_scores": [[[None, -0.5]]],
    "parameters": {"W_q": [[0.5]], "W_k": [[[0.5]]]},
    "verify": {"weights": {"absolute": 0.0, "relative": "inf"}},
    "warnings": [],
}
LINE_ERROR = {"index": 0, "error": {"code": 65, "message": "no words"}}


@pytest.mark.parametrize("result", [RESULT_OF_ALL, {**RESULT_OF_ALL, "index": 3}, {**RESULT_OF_ALL, "heads": [2]}, {**RESULT_OF_ALL, "heads": "mean"}, LINE_ERROR])
def test_a_result_keeps_its_schema(result):
    RESULT.validate(result)


@pytest.mark.parametrize(
    "result",
    [
        {**RESULT_OF_ALL, "weight": []},
        {**RESULT_OF_ALL, "present_key": []},
        {**RESULT_OF_ALL, "weights": [[[None]]]},
        {**RESULT_OF_ALL, "weights": [[["Infinity"]]]},
        {**RESULT_OF_ALL, "weights": [[1.0]]},
        {**RESULT_OF_ALL, "entropy": [[[1.0]]]},
        {**RESULT_OF_ALL, "parameters": {"b_q": [[0.5]]}},
        {**RESULT_OF_ALL, "config": {**PLAIN, "published": [{"array": "tokens"}]}},
        {**RESULT_OF_ALL, "config": {**PLAIN, "published": [{"array": "weights", "values": ["1", 2]}]}},
        {**RESULT_OF_ALL, "token_ids": [0.5]},
        {**RESULT_OF_ALL, "heads": "median"},
        {**RESULT_OF_ALL, "heads": [-1]},
        {key: value for key, value in RESULT_OF_ALL.items() if key != "warnings"},
        {**LINE_ERROR, "schema": "attn-cli/result/1"},
        {"index": 0, "error": {"code": 65}},
    ],
)
def test_the_schema_of_results_refuses(result):
    assert not RESULT.is_valid(result)


@pytest.mark.parametrize(
    "options",
    [
        ["--heads", "4", "--causal", "--softcap", "30", "--positions", "rope", "--query", "is", "--verify", "--top", "2"],
        ["--cross", "eat the cat", "--output-projection", "--window", "1", "--init", "xavier", "--set", "rounding=step"],
        ["--recipe", "raschka-2023-multihead"],
        ["--recipe", "raschka-2023-multihead", "--head", "2,0"],
        ["--recipe", "raschka-2023-multihead", "--head", "mean"],
    ],
)
def test_what_run_writes_keeps_both_schemas(options):
    words = [] if "--recipe" in options else [SENTENCE]
    result = succeeds("run", *words, *options, "--show", "all", "--json", "--quiet").json
    RESULT.validate(result)
    RECIPE.validate(result["config"])
