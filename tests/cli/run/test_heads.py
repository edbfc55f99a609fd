"""--head: one head of several, some of them, or the mean of all."""

import csv
import io
import json

import pytest
from pictures import NAMESPACE, parse, texts, tooltips
from program import SENTENCE, assert_fails, run, succeeds
from tensors import numpy

EIGHT = [SENTENCE, "--heads", "8", "--kv-heads", "4", "--causal", "--softcap", "9"]
BY_HEAD = ("queries", "scores", "scaled_scores", "capped_scores", "masked_scores", "weights", "head_context", "entropy")
BY_KEY_HEAD = ("keys", "values")


@pytest.fixture(scope="module")
def whole():
    return succeeds("run", *EIGHT, "--show", "all", "--json").json


@pytest.mark.parametrize(("typed", "heads", "key_heads"), [("2", [2], [1]), ("5,2,5", [2, 5], [1, 2]), ("6,7", [6, 7], [3])])
def test_chosen_heads_are_those_of_all(typed, heads, key_heads, whole):
    chosen = succeeds("run", *EIGHT, "--show", "all", "--json", "--head", typed).json
    assert chosen["heads"] == heads
    assert list(chosen) == [key for name in whole for key in (["heads", name] if name == "parameters" else [name])]
    for name in BY_HEAD:
        assert chosen[name] == [whole[name][head] for head in heads], name
    for name in BY_KEY_HEAD:
        assert chosen[name] == [whole[name][head] for head in key_heads], name
    for name in ("tokens", "parameters", "embeddings", "context", "output", "warnings"):
        assert chosen[name] == whole[name], name
    assert chosen["config"].pop("head") == [int(head) for head in typed.split(",")] and chosen["config"] == whole["config"]


@pytest.mark.parametrize("options", [[], ["--set", "rounding=step"], ["--dtype", "float64"], ["--query", "is,eat"]])
def test_the_mean_is_that_of_the_weights(options):
    weights = succeeds("run", *EIGHT, *options, "--json").json["weights"]
    mean = succeeds("run", *EIGHT, *options, "--json", "--head", "mean").json
    assert list(mean)[-5:] == ["heads", "weights", "context", "output", "warnings"]
    assert (mean["heads"], mean["config"]["head"]) == ("mean", "mean")
    exact = options[:1] == ["--dtype"]
    total = numpy.zeros(numpy.shape(weights)[1:], "float32" if "rounding=step" in options else "float64")
    for head in numpy.array(weights, "float64" if exact else "float32"):
        total += head
    expected = total / total.dtype.type(8)
    assert numpy.array_equal(numpy.array(mean["weights"]), [expected] if exact else [numpy.float64([[float(str(x)) for x in row] for row in expected.astype("float32")])])


@pytest.mark.parametrize("array", ["weights", "context", "output"])
def test_a_recipe_of_the_mean_is_held_against_files(array, tmp_path):
    succeeds("run", "--recipe", "rao-2024-torch", "--show", "all", "-o", "all.npz", cwd=tmp_path)
    options = ["--recipe", "rao-2024-torch", "--show", array, "--against"]
    assert "agrees with" in succeeds("run", *options, "all.npz", cwd=tmp_path).text
    numpy.save(tmp_path / "wrong.npy", numpy.load(tmp_path / "all.npz")[array] + 1)
    done = run("run", *options, "wrong.npy", cwd=tmp_path)
    assert done.code == 1 and done.text.startswith(f"differs from the {array}"), done


@pytest.mark.parametrize("against", [[], ["--against", "all.npz:weights"]], ids=["run", "against"])
def test_a_head_of_a_recipe_must_be_there(against, tmp_path):
    recipe = succeeds("run", SENTENCE, "--heads", "2", "--format", "recipe").json | {"head": [5]}
    (tmp_path / "recipe.json").write_text(json.dumps(recipe))
    succeeds("run", SENTENCE, "--heads", "2", "--show", "all", "-o", "all.npz", cwd=tmp_path)
    done = run("run", "--recipe", "recipe.json", "--show", "weights", *against, cwd=tmp_path)
    assert_fails(done, 65, "head: got 5; allowed: 0 to 1")


@pytest.mark.parametrize("array", ["weights", "entropy", "lse", "context", "scores", "queries"])
def test_rows_and_heads_of_a_recipe_are_held_against_the_arrays_that_it_gives(array, tmp_path):
    recipe = succeeds("run", SENTENCE, "--heads", "4", "--query", "is,eat", "--format", "recipe").json | {"head": [3, 1]}
    (tmp_path / "recipe.json").write_text(json.dumps(recipe))
    options = ["--recipe", "recipe.json", "--show", array]
    succeeds("run", *options, "-o", "own.npy", cwd=tmp_path)
    own = numpy.load(tmp_path / "own.npy")
    assert own.shape[:2] == (2, 2) or array == "context"
    assert "agrees with" in succeeds("run", *options, "--against", "own.npy", cwd=tmp_path).text
    own.flat[-1] += 1
    numpy.save(tmp_path / "wrong.npy", own)
    assert run("run", *options, "--against", "wrong.npy", cwd=tmp_path).code == 1


def test_the_mean_is_of_weights_alone():
    everything = succeeds("run", *EIGHT, "--head", "mean", "--show", "all", "--json").json
    assert not {*BY_HEAD, *BY_KEY_HEAD} - {"weights"} & set(everything)
    assert numpy.shape(everything["weights"]) == (1, 6, 6) and "embeddings" in everything
    for name in ("entropy", "scores", "keys", "summary"):
        assert_fails(run("run", *EIGHT, "--head", "mean", "--show", f"weights,{name}"), 2,
                     f"--head: got mean; allowed: heads by number with --show {name}; the mean is of weights alone")
    assert_fails(run("run", *EIGHT, "--head", "mean", "--top", 2), 2, "--show summary")
    assert_fails(run("run", *EIGHT, "--head", "mean", "--show", "scores", "--format", "svg"), 2, "--show scores")


def test_a_head_that_is_not_there_is_refused(tmp_path):
    assert_fails(run("run", *EIGHT, "--head", "0,8"), 2, "--head: got 8; allowed: 0 to 7")
    for command in ("run", "explain"):
        assert_fails(run(command, SENTENCE, "--head", "2"), 2, "--head: got 2; allowed: 0, there is one head; --heads computes more")
    assert_fails(run("explain", *EIGHT, "--head", "8"), 2, "--head: got 8; allowed: 0 to 7")
    for wrong in ("-1", "x", "1,,2", "means", ""):
        assert_fails(run("run", *EIGHT, "--head", wrong), 2, "--head")
    recipe = succeeds("recipe", "show", "raschka-2023-multihead").json
    for head, allowed in (([], "mean, or heads from 0 to 65535"), ("median", "mean, or heads from 0 to 65535"), (1, "mean, or heads from 0 to 65535"),
                          ([-1], "0 to 65535"), ([3], "0 to 2")):
        (tmp_path / "r.json").write_text(json.dumps({**recipe, "head": head}))
        assert_fails(run("run", "--recipe", tmp_path / "r.json"), 65, "head", allowed)
    succeeds("run", "--recipe", tmp_path / "r.json", "--head", "2")  # sets right what the file says


def test_tables_and_records_say_which_heads():
    whole = succeeds("run", *EIGHT, "--show", "weights,keys,entropy").text
    table = succeeds("run", *EIGHT, "--show", "weights,keys,entropy", "--head", "2,5").text
    titles = [line for line in table.splitlines() if line.startswith(("weights", "keys", "entropy"))]
    assert titles == ["keys, head 1 (6, 2)", "keys, head 2 (6, 2)", "weights, head 2 (6, 6)", "weights, head 5 (6, 6)", "entropy (2, 6)"]
    assert all(line in whole for line in table.splitlines() if line.startswith("head ") or " head " in line)
    assert "6 words, heads 2, 5, " in succeeds("run", *EIGHT, "--head", "2,5").text
    mean = succeeds("run", *EIGHT, "--head", "mean").text
    assert "6 words, mean of heads, " in mean and "\nweights, mean of heads (6, 6)\n" in mean
    one = succeeds("run", *EIGHT, "--head", "2", "--show", "entropy,summary").text
    assert "entropy (1, 6)" in one and one.count("\nhead 2 ") == 3
    records = list(csv.DictReader(io.StringIO(succeeds("run", *EIGHT, "--show", "weights,keys", "--head", "2,5", "--format", "csv").text)))
    assert {(record["array"], record["head"]) for record in records} == {("weights", "2"), ("weights", "5"), ("keys", "1"), ("keys", "2")}
    records = csv.DictReader(io.StringIO(succeeds("run", *EIGHT, "--show", "weights", "--head", "mean", "--format", "csv").text))
    assert {record["head"] for record in records} == {"mean"}


@pytest.mark.parametrize(("typed", "held"), [("5,2", [2, 5]), ("mean", [-1])])
def test_tensor_files_say_which_heads(typed, held, tmp_path):
    succeeds("run", *EIGHT, "--head", typed, "-o", tmp_path / "r.npz")
    held_arrays = numpy.load(tmp_path / "r.npz")
    assert held_arrays["heads"].tolist() == held and held_arrays["weights"].shape == (len(held), 6, 6)
    succeeds("run", *EIGHT, "--head", typed, "--json", "-o", tmp_path / "r.json")
    succeeds("compare", tmp_path / "r.npz", tmp_path / "r.json")


@pytest.mark.parametrize("typed", ["3", "1,6", "mean"])
@pytest.mark.parametrize("picture", [[], ["--plot", "arcs", "--top", "4"], ["--query", "is,eat"]])
def test_pictures_are_those_of_plot(typed, picture):
    drawn = succeeds("run", *EIGHT, "--head", typed, "--format", "svg", *picture).out
    names = {"3": ["head 3"], "1,6": ["head 1", "head 6"], "mean": ["mean of heads"]}[typed]
    assert [text for text in texts(parse(drawn)) if text.startswith(("head ", "mean "))] == names
    part, all_of_it = (succeeds("run", *EIGHT, "--json", *options, *picture[picture.index("--query"):] if "--query" in picture else []).out
                       for options in (["--head", typed], []))
    arcs = picture if "--query" not in picture else []
    assert succeeds("plot", "-", *arcs, stdin=part).out == drawn
    assert succeeds("plot", "-", "--head", typed, *arcs, stdin=part).out == drawn
    assert succeeds("plot", "-", "--head", typed, *arcs, stdin=all_of_it).out == drawn


def test_plot_has_the_heads_that_the_file_has():
    saved = succeeds("run", *EIGHT, "--head", "5,2", "--show", "all", "--json").out
    assert "head 5" in texts(parse(succeeds("plot", "-", "--head", "5", stdin=saved).out))
    assert_fails(run("plot", "-", "--head", "3", stdin=saved), 2, "--head: got 3; allowed: 2, 5, which is what the file holds")
    assert_fails(run("plot", "-", "--head", "mean", stdin=saved), 2, "--head: got mean; allowed: 2, 5, which is what the file holds")
    mean = succeeds("run", *EIGHT, "--head", "mean", "--json").out
    assert_fails(run("plot", "-", "--head", "0", stdin=mean), 2, "--head: got 0; allowed: mean, which is what the file holds")
    for heads in ([5], [5, 2], [2, 8], [0, 1, 2], "mean"):
        assert_fails(run("plot", "-", stdin=json.dumps({**json.loads(saved), "heads": heads})), 65, "heads")
    for wrong in ({"heads": 6, "kv_heads": 4}, {"heads": 2, "kv_heads": 4}):
        broken = json.loads(saved)
        broken["config"]["dims"] = wrong
        assert_fails(run("plot", "-", stdin=json.dumps(broken)), 65, "heads")


def test_tensors_of_other_programs_have_heads_too(tmp_path):
    weights = numpy.random.RandomState(0).rand(3, 2, 4)
    weights /= weights.sum(-1, keepdims=True)
    numpy.save(tmp_path / "w.npy", weights)
    one = parse(succeeds("plot", tmp_path / "w.npy", "--head", "0,2").out)
    assert [text for text in texts(one) if text.startswith("head ")] == ["head 0", "head 2"]
    mean = tooltips(parse(succeeds("plot", tmp_path / "w.npy", "--head", "mean").out))
    assert [float(tip.split(": ")[1]) for tip in mean] == list(((weights[0] + weights[1] + weights[2]) / 3).flatten())
    page = succeeds("plot", tmp_path / "w.npy", "--head", "mean", "--format", "html").text
    assert '"heads":"mean"' in page


def test_a_page_has_the_chosen_heads_and_their_steps(whole):
    page = succeeds("run", *EIGHT, "--head", "5,2", "--format", "html").text
    result = json.loads(page.split('id="result">')[1].split("</script>")[0])
    assert result["heads"] == [2, 5] and result["keys"] == whole["keys"][1:3] and result["scores"][0] == whole["scores"][2]
    saved = succeeds("run", *EIGHT, "--show", "all", "--json").out
    plotted = succeeds("plot", "-", "--head", "5,2", "--format", "html", stdin=saved).text
    result = json.loads(plotted.split('id="result">')[1].split("</script>")[0])
    assert result["heads"] == [2, 5] and result["keys"] == whole["keys"][1:3] and result["scores"][0] == whole["scores"][2]


@pytest.mark.parametrize("typed", ["3", "6,1", "mean"])
def test_a_saved_result_checks_and_computes_again(typed, tmp_path):
    saved = succeeds("run", *EIGHT, "--head", typed, "--show", "all", "--json").out
    (tmp_path / "saved.json").write_bytes(saved)
    assert succeeds("check", tmp_path / "saved.json").text.endswith("saved.json: passed\n")
    assert succeeds("run", "--recipe", tmp_path / "saved.json", "--show", "all", "--json").out == saved
    other = json.loads(saved)
    other["heads"] = [2] if typed == "mean" else "mean"
    (tmp_path / "saved.json").write_text(json.dumps(other))
    done = run("check", tmp_path / "saved.json")
    assert done.code == 1 and "MISMATCH  heads" in done.text and "the mean" in done.text + "the mean" * (typed == "6,1")


def test_a_recipe_states_what_is_left_of_the_heads(tmp_path):
    recipe = succeeds("recipe", "show", "raschka-2023-multihead").json
    options = ["--recipe", tmp_path / "r.json", "--json", "--show", "weights"]
    (tmp_path / "r.json").write_text(json.dumps({**recipe, "head": "mean", "published": []}))
    weights = succeeds("run", *options).json["weights"]
    statement = {"array": "weights", "values": [[[f"{x:.6f}" for x in row] for row in weights[0]]]}
    (tmp_path / "r.json").write_text(json.dumps({**recipe, "head": "mean", "published": [statement], "precision": []}))
    succeeds("check", tmp_path / "r.json")
    (tmp_path / "r.json").write_text(json.dumps({**recipe, "head": "mean", "published": [statement, {"array": "scores", "shape": [1]}]}))
    assert "scores: this run has none" in run("check", tmp_path / "r.json").text


def test_every_line_has_its_heads(whole):
    lines = run("run", *EIGHT[1:], "--head", "2", "--lines", "-", "--json", "--show", "weights,keys", stdin=f"{SENTENCE}\na b\n\n").json_lines
    assert (lines[0]["weights"], lines[0]["keys"]) == ([whole["weights"][2]], [whole["keys"][1]])
    assert [line.get("heads") for line in lines] == [[2], [2], None]
    tables = succeeds("run", *EIGHT[1:], "--head", "mean", "--lines", "-", "--show", "weights", stdin="a b\nc d\n").text
    assert tables.count("weights, mean of heads (2, 2)") == 2
    assert_fails(run("run", *EIGHT[1:], "--head", "8", "--lines", "-", stdin="a b\n"), 2, "--head: got 8")


def test_explain_takes_one_head_after_the_other():
    arguments = ["explain", *EIGHT, "--query", "eat"]
    one, other = (succeeds(*arguments, "--head", head).text for head in ("1", "6"))
    assert succeeds(*arguments, "--head", "6,1").text == other + "\n" + one
    lines = succeeds(*arguments, "--head", "6,1", "--json").json_lines
    assert [line["head"] for line in lines] == [6, 1] and "head" not in lines[0]["config"]
    assert_fails(run(*arguments, "--head", "mean"), 2, "--head: got 'mean'; allowed: an integer from 0")


def test_explain_takes_the_heads_of_a_recipe(tmp_path):
    recipe = succeeds("recipe", "show", "raschka-2023-multihead").json
    for head, explained in (([2], [2]), ([1, 2], [1, 2])):
        (tmp_path / "r.json").write_text(json.dumps({**recipe, "head": head}))
        lines = succeeds("explain", "--recipe", tmp_path / "r.json", "--query", "is", "--json").json_lines
        assert [line["head"] for line in lines] == explained
    (tmp_path / "r.json").write_text(json.dumps({**recipe, "head": "mean"}))
    assert_fails(run("explain", "--recipe", tmp_path / "r.json", "--query", "is"), 65, "head: got mean", "--head says which")


def test_a_mean_of_masked_heads_has_its_empty_cells(tmp_path):
    numpy.save(tmp_path / "m.npy", numpy.tril(numpy.ones((6, 6), bool)))
    root = parse(succeeds("run", SENTENCE, "--heads", "2", "--mask", "m.npy", "--head", "mean", "--format", "svg", cwd=tmp_path).out)
    assert len(list(root.iter(NAMESPACE + "rect"))) > 1
