"""run --top and --show summary: what the weights of each head say."""

import json
import math
import re

import pytest
from program import SENTENCE, assert_fails, run, succeeds


def summary(*arguments, **options):
    return succeeds("run", *arguments, "--json", **options).json["summary"]


def mean(numbers):
    numbers = list(numbers)
    return sum(numbers) / len(numbers) if numbers else None


def expected(result, top):
    """The summary from the weights and entropy of a result with one sentence, as the manual defines it."""
    tokens, words = result["tokens"], len(result["tokens"])
    rows = result.get("query_positions", list(range(words)))
    heads = []
    for weights, entropy in zip(result["weights"], result["entropy"]):
        at = dict(zip(rows, weights))
        pairs = sorted(((-w, i, j) for i in rows for j, w in enumerate(at[i]) if w > 0))[:top]
        heads.append({
            "entropy": mean(entropy),
            "itself": mean(at[i][i] for i in rows),
            "first": mean(at[i][0] for i in rows),
            "previous": mean(at[i][i - 1] for i in rows if i > 0),
            "next": mean(at[i][i + 1] for i in rows if i + 1 < words),
            "pairs": [{"query": i, "query_token": tokens[i], "key": j, "key_token": tokens[j], "weight": -w} for w, i, j in pairs],
        })
    return {"largest_entropy": math.log(len(result["weights"][0][0])), "heads": heads}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "options", [[], ["--heads", "4", "--causal"], ["--query", "eat,0"], ["--window", "1"], ["--heads", "2", "--kv-heads", "1"]]
)
def test_it_is_what_weights_and_entropy_say(options, dtype):
    result = succeeds("run", SENTENCE, *options, "--dtype", dtype, "--json", "--show", "tokens,weights,entropy", "--top", "5").json
    wanted = expected(result, 5)
    got = result["summary"]
    printed = 1e-6 if dtype == "float32" else 1e-12  # the shortest decimal of a float32 is not quite that float32
    assert got["largest_entropy"] == pytest.approx(wanted["largest_entropy"], rel=1e-15)
    assert len(got["heads"]) == len(wanted["heads"])
    for head, other in zip(got["heads"], wanted["heads"]):
        assert head["pairs"] == other["pairs"]  # to the digit
        for name in ("entropy", "itself", "first", "previous", "next"):
            assert head[name] == pytest.approx(other[name], rel=printed)


def test_it_fits_its_schema():
    jsonschema = pytest.importorskip("jsonschema")
    schema = succeeds("schema", "result").json
    assert "summary" in schema["$defs"]["result"]["properties"]
    validator = jsonschema.Draft202012Validator({**schema["$defs"]["head_summary"], "$defs": schema["$defs"]})
    for options in ([], ["--heads", "4", "--causal"], ["--cross", "a b"], ["--query", "0"]):
        for head in summary(SENTENCE, "--top", "9", *options)["heads"]:
            validator.validate(head)


def test_top_adds_it_and_show_names_it():
    assert succeeds("run", SENTENCE, "--top", "2").text.startswith(succeeds("run", SENTENCE).text + "\nsummary (")
    assert succeeds("run", SENTENCE, "--show", "summary").text == succeeds("run", SENTENCE, "--show", "summary", "--top", "3").text
    assert list(succeeds("run", SENTENCE, "--show", "summary", "--json").json) == ["schema", "config", "summary", "warnings"]
    assert "summary" not in succeeds("run", SENTENCE, "--show", "all", "--json").json


def test_pairs_are_as_many_as_there_are():
    assert len(summary("a b", "--top", "1000")["heads"][0]["pairs"]) == 4
    assert len(summary("a b", "--top", "1000", "--causal")["heads"][0]["pairs"]) == 3  # a masked weight is none
    assert len(summary("a b", "--top", "1")["heads"][0]["pairs"]) == 1


def test_what_no_row_has_is_left_out():
    assert set(summary("one", "--top", "1")["heads"][0]) == {"entropy", "itself", "first", "pairs"}
    assert set(summary("a b c", "--cross", "d e", "--top", "1")["heads"][0]) == {"entropy", "first", "pairs"}
    assert set(summary("a b c", "--query", "0", "--top", "1")["heads"][0]) == {"entropy", "itself", "first", "next", "pairs"}
    assert "previous" not in succeeds("run", "a b c", "--cross", "d e", "--show", "summary").text


def test_the_key_behind_the_words_has_a_name(tmp_path):
    numpy = pytest.importorskip("numpy")
    names = {"W_q": (2, 2), "W_k": (2, 2), "W_v": (2, 2), "bias_k": (2,), "bias_v": (2,)}
    numpy.savez(tmp_path / "p.npz", **{name: numpy.ones(shape, numpy.float32) * 5 for name, shape in names.items()})
    got = summary("a b", "--params", tmp_path / "p.npz", "--set", "parameters.layout=run", "--embed-dim", "2", "--top", "9")
    assert got["largest_entropy"] == pytest.approx(math.log(3))
    assert {"(bias)"} <= {pair["key_token"] for pair in got["heads"][0]["pairs"]}


@pytest.mark.parametrize("format", ["csv", "npz", "safetensors"])
def test_it_is_for_tables_and_json(format, tmp_path):
    file = tmp_path / f"x.{format}"
    assert_fails(run("run", SENTENCE, "--top", "3", "-o", file), 2)
    assert_fails(run("run", SENTENCE, "--show", "weights,summary", "-o", file), 2)
    assert not file.exists()


def test_every_line_has_its_own():
    lines = ["to be or not to be", "a", SENTENCE]
    got = succeeds("run", "--lines", "-", "--top", "2", "--json", "--threads", "3", stdin="\n".join(lines)).json_lines
    assert [line["summary"] for line in got] == [summary(line, "--top", "2") for line in lines]
    table = succeeds("run", "--lines", "-", "--show", "summary", stdin="a b\nc\n").text
    assert table.count("strongest pairs") == 2


# ---- check -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def golden(tmp_path):
    file = tmp_path / "golden.json"
    succeeds("run", SENTENCE, "--heads", "2", "--causal", "--show", "tokens", "--top", "3", "-o", file)
    return file


def places(value, place="summary"):
    """Every number and word below a JSON value, with its place."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield from places(member, f"{place}.{key}")
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from places(member, f"{place}[{index}]")
    else:
        yield place, value


def test_a_saved_summary_passes(golden):
    assert re.search(r"ok +summary +41 compared, all equal\n", succeeds("check", golden).text)
    assert len(list(places(json.loads(golden.read_text())["summary"]))) == 41


def test_every_changed_digit_and_word_of_it_is_found_and_named(golden):
    text = golden.read_text()
    start = text.index('"summary":')
    end = text.index(',"warnings"')
    names = [name for name, _ in places(json.loads(text)["summary"])]
    leaves = list(re.finditer(r':("[^"\\]*"|-?[0-9][0-9.e+-]*)', text[start:end]))
    assert len(leaves) == len(names)
    for leaf, name in zip(leaves, names):
        begin, stop = start + leaf.start(1), start + leaf.end(1)
        stated = text[begin:stop]
        place = (stated.find("e") if "e" in stated and stated[0] != '"' else len(stated)) - (2 if stated[0] == '"' else 1)
        other = "x" if stated[0] == '"' else str((int(stated[place]) + 1) % 10)
        changed = stated[:place] + other + stated[place + 1 :]
        golden.write_text(text[:begin] + changed + text[stop:])
        done = run("check", golden)
        assert done.code == 1, (name, changed)
        assert f"{name}: stated " in done.text and "computed" in done.text, done.text


def test_what_is_missing_from_it_or_too_much_is_found(golden):
    whole = json.loads(golden.read_text())

    def check(change):
        other = json.loads(golden.read_text())
        change(other["summary"])
        file = golden.with_name("other.json")
        file.write_text(json.dumps(other))
        return run("check", file)

    assert "computed, but not stated" in check(lambda s: s["heads"].pop()).text
    assert check(lambda s: s["heads"][0]["pairs"].pop()).code == 1
    assert check(lambda s: s["heads"][0].pop("itself")).code == 1
    assert "this run has none" in check(lambda s: s["heads"].append(s["heads"][0])).text
    assert check(lambda s: s["heads"][0]["pairs"].append(s["heads"][0]["pairs"][0])).code == 1
    assert check(lambda s: None).code == 0
    for change in (
        lambda s: s.pop("heads"),
        lambda s: s.update(more=1),
        lambda s: s["heads"][0].update(next=[1]),
        lambda s: s["heads"][0]["pairs"][0].update(query=-1),
        lambda s: s["heads"][0]["pairs"][0].pop("key"),
        lambda s: s["heads"][0].update(pairs=s["heads"][0]["pairs"] * 400),
    ):
        assert_fails(check(change), 65)
    assert json.loads(golden.read_text()) == whole


def test_one_saved_before_there_were_means_of_repeated_words_agrees(tmp_path):
    result = succeeds("run", "a b a", "--heads", 2, "--top", 1, "--json").json
    file = tmp_path / "old.json"
    for mean in ("same", "induction"):
        del result["summary"]["heads"][0][mean]
    file.write_text(json.dumps(result))
    assert "summary.heads[0].same: computed, but not stated" in run("check", file).text
    for mean in ("same", "induction"):
        del result["summary"]["heads"][1][mean]
    file.write_text(json.dumps(result))
    succeeds("check", file)


def test_its_numbers_may_be_forgiven(golden):
    result = json.loads(golden.read_text())
    result["summary"]["heads"][1]["entropy"] += 1e-9
    golden.write_text(json.dumps(result))
    assert run("check", golden).code == 1
    assert run("check", golden, "--atol", "2e-9").code == 0
