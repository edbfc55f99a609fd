"""--set KEY=VALUE: the settings without an option, by the names that JSON has for them."""

import json
import re
from pathlib import Path

import pytest
from program import SENTENCE, assert_fails, run, succeeds

MANUAL = Path(__file__).parents[3] / "data" / "manual"


def result(*words):
    return succeeds("run", *words, "--json").json


def at(config, key):
    for part in key.split("."):
        config = config[part]
    return config


def keys_of(command):
    return [key.removesuffix("=").replace("draws[0]", "draws[N]") for key in succeeds("completions", "bash", "--", command, "--set", "").text.split()]


# ---- what a key does -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "key", "typed", "value"),
    [
        ([], "rounding", "step", "step"),
        ([], "title", "Two words", "Two words"),
        ([], "name", '"in quotes"', "in quotes"),
        (["--output-projection"], "dims.output_dim", "5", 5),
        (["--score", "additive"], "dims.d_a", "3", 3),
        (["--causal"], "attention.mask_at", "scores", "scores"),
        ([], "attention.scores", "KQ", "KQ"),
        (["--dropout", "0.5"], "attention.dropout.seed", "18446744073709551615", 18446744073709551615),
        (["--dropout", "0.5"], "attention.dropout.mkl", "true", True),
        ([], "attention.mask.values", "[[true,true,false]]", [[True, True, False]]),
        ([], "attention.mask.values", "[[0, -1.5, null]]", [[0.0, -1.5, None]]),
    ],
)
def test_a_key_says_what_the_file_says(words, key, typed, value, tmp_path):
    done = result("Life is short", *words, "--set", f"{key}={typed}", "--show", "weights")
    assert at(done["config"], key) == value
    (tmp_path / "r.json").write_text(json.dumps(done["config"]))
    assert result("--recipe", tmp_path / "r.json", "--show", "weights") == done
    assert result("Life is short", *words, "--show", "weights") != done


@pytest.mark.parametrize(("key", "usual"), [("rounding", "stage"), ("attention.mask_at", "scaled"), ("attention.scores", "QK")])
def test_the_usual_value_changes_nothing(key, usual):
    assert succeeds("run", SENTENCE, "--causal", "--set", f"{key}={usual}", "--json").out == succeeds("run", SENTENCE, "--causal", "--json").out


def test_several_keys_and_the_equals_sign_in_one_word():
    done = result(SENTENCE, "--causal", "--set=rounding=step", "--set", "attention.mask_at=scores")
    assert (done["config"]["rounding"], done["config"]["attention"]["mask_at"]) == ("step", "scores")


def test_what_a_recipe_says_gives_way():
    done = result("--recipe", "raschka-2024-causal", "--set", "attention.dropout.seed=7", "--show", "weights")
    assert done["config"]["attention"]["dropout"]["seed"] == 7


def test_positions_and_batches(tmp_path):
    recipe = {"schema": "attn-cli/recipe/1", "input": {"positions": 2}, "dims": {"embed_dim": 3, "d_k": 2, "d_v": 2},
              "draws": [{"seed": 1}, *({"tensor": name, "init": "normal"} for name in ("embeddings", "W_q", "W_k", "W_v"))]}
    (tmp_path / "r.json").write_text(json.dumps(recipe))
    done = succeeds("run", "--recipe", tmp_path / "r.json", "--set", "input.batch=2", "--set", "input.positions=4", "--json").text.splitlines()
    assert [len(json.loads(line)["tokens"]) for line in done] == [4, 4]
    assert json.loads(done[0])["config"]["input"] == {"positions": 4, "batch": 2}
    ids = result("--ids", "1,0,1,1", "--vocab-size", "2", "--set", "input.batch=2", "--set", "entry=1")
    assert ids["tokens"] == ["1", "1"]
    assert_fails(run("run", "a b", "--set", "input.batch=2"), 2, "--set input.batch: got a sentence; allowed: an input of ids or positions")
    assert_fails(run("run", "a b", "--set", "input.positions=2"), 2, "SENTENCE and --set input.positions cannot be used together")


def test_hints_repeat_the_keys_of_the_computation_alone():
    said = succeeds("run", "Life is short", "--set", "rounding=step", "-o", "-", "--format", "html", "--set", "picture.shade=row").text
    assert '"command":"attn-cli run \\"Life is short\\" --set rounding=step"' in said


def test_explain_has_the_keys_of_the_computation():
    masked = ("explain", SENTENCE, "--query", "is", "--causal")
    assert succeeds(*masked, "--set", "attention.mask_at=scores").text != succeeds(*masked).text
    assert set(keys_of("explain")) < set(keys_of("run"))
    assert_fails(run("explain", SENTENCE, "--set", "picture.shade=row"), 2, "--set: this command has no key 'picture.shade'")


# ---- steps of the draws ----------------------------------------------------------------------------------------------


def test_a_step_changes_as_pytorch_draws_it():
    torch = pytest.importorskip("torch")
    torch.manual_seed(5)
    torch.randn(6, 16)
    expected = torch.randn(24, 16) * 0.5 + 1
    done = result(SENTENCE, "--set", "draws[0].seed=5", "--set", "draws[2].init=normal", "--set", "draws[2].std=0.5", "--set", "draws[2].mean=1",
                  "--show", "parameters")
    assert torch.allclose(torch.tensor(done["parameters"]["W_q"]), expected)


@pytest.mark.parametrize(
    ("changes", "step"),
    [
        (["init=linear"], {"tensor": "W_q", "init": "linear"}),
        (["init=integers", "high=3"], {"tensor": "W_q", "init": "integers", "high": 3.0}),
        (["init=kaiming_normal", "mode=fan_out", "a=0.1"], {"tensor": "W_q", "init": "kaiming_normal", "a": 0.1, "mode": "fan_out"}),
        (["side=right", "shape=D,d_k"], {"tensor": "W_q", "init": "uniform", "side": "right", "shape": ["D", "d_k"]}),
        (["shape=[2,24,16]", "take=1"], {"tensor": "W_q", "init": "uniform", "shape": [2, 24, 16], "take": [1]}),
        (["values=[[1,2],[3,4]]"], {"tensor": "W_q", "values": [[1.0, 2.0], [3.0, 4.0]]}),
        (["values=tensor([[1., 2.], [3., 4.]])"], {"tensor": "W_q", "values": [[1.0, 2.0], [3.0, 4.0]]}),
    ],
)
def test_a_step_is_then_one_of_a_file(changes, step, tmp_path):
    sizes = ["--embed-dim", "2", "--d-k", "2"] if "values" in changes[0] else []
    words = [word for change in changes for word in ("--set", f"draws[2].{change}")]
    done = result(SENTENCE, *sizes, *words)
    assert done["config"]["draws"][2] == step
    (tmp_path / "r.json").write_text(json.dumps(result(SENTENCE, *sizes)["config"] | {"draws": [*done["config"]["draws"][:2], step, *done["config"]["draws"][3:]]}))
    assert result("--recipe", tmp_path / "r.json") == done


def test_a_stated_step_can_be_drawn_again():
    assert result("--recipe", "raschka-2024-simplified", "--set", "draws[0].init=zeros")["config"]["draws"][0] == {"tensor": "embeddings", "init": "zeros"}


# ---- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("dims.heads=2", "--set dims.heads: use --heads"),
        ("input.sentence=a b", "--set input.sentence: use SENTENCE"),
        ("attention.positions.base=5", "--set attention.positions.base: use --positions rope:base"),
        ("attention.mask.name=a", "--set attention.mask.name: use --mask FILE:NAME"),
        ("model.name=induction", "--set model.name: use --model"),
        ("parameters.sha256=0", "--set parameters.sha256: only a recipe file can set it"),
        ("published=[]", "--set published: only a recipe file can set it"),
        ("draws=[]", "--set draws: a key of one of its steps is missing, such as draws[2].init=normal"),
        ("attention.mask-at=scores", "--set: this command has no key 'attention.mask-at'; did you mean 'attention.mask_at'?"),
        ("mask_at=scores", "--set: this command has no key 'mask_at'; did you mean 'attention.mask_at'?"),
        ("draws[2].int=normal", "--set: this command has no key 'draws[2].int'; did you mean 'draws[N].init'?"),
        ("zzzzzzzz=1", "--set: this command has no key 'zzzzzzzz'; `attn-cli help recipes` lists the keys"),
        ("rounding", "--set: got 'rounding'; allowed: KEY=VALUE, such as rounding=step"),
        ("=step", "--set: got '=step'; allowed: KEY=VALUE, such as rounding=step"),
        ("", "--set: got ''; allowed: KEY=VALUE, such as rounding=step"),
        ("rounding=", "--set rounding: got ''; allowed: stage, step"),
        ("rounding=stpe", "--set rounding: got 'stpe'; allowed: stage, step; did you mean 'step'?"),
        ("dims.d_a=0", "--set dims.d_a: got '0'; allowed: an integer from 1 to 1048576"),
        ("dims.d_a=1e3", "--set dims.d_a: got '1e3'; allowed: an integer from 1 to 1048576"),
        ("attention.dropout.mkl=yes", "--set attention.dropout.mkl: got 'yes'; allowed: false, true"),
        ("attention.dropout.mkl=true", "--set attention.dropout.mkl requires --dropout"),
        ("parameters.layout=run", "--set parameters.layout requires --params"),
        ("embeddings.words.file=x", "--set embeddings.words.file requires --embeddings"),
        ("attention.mask.values=[[true,2]]", "--set attention.mask.values[0][1]: got 2; allowed: true and false alone, or numbers, and null where a key is hidden"),
        ("attention.mask.values=[[true", "--set attention.mask.values: malformed JSON"),
        ("draws[9].init=normal", "--set: got draws[9]; allowed: draws[0] to draws[4]"),
        ("draws[x].init=normal", "--set: got 'x'; allowed: a step, from 0"),
        ("draws[0].init=normal", "--set draws[0].init: this step is a seed and has no init"),
        ("draws[1].seed=1", "--set draws[1].seed: this step is a draw and has no seed"),
        ("draws[2].std=2", '--set draws[2].std: got 2.0; allowed: only with "init": "normal"'),
        ("draws[2].low=5", "--set draws[2]: low and high: got 5.0 and 1; allowed: low ≤ high"),
        ("draws[2].shape=T,X", "--set draws[2].shape[1]: got 'X'; allowed: 1 to 1048576, or a product of"),
        ("draws[2].shape=T,4", "--set draws[2]: W_q: got the shape (2, 4); allowed: with these dimensions (24, 4)"),
        ("input.pair=b", "--set input.pair requires --model"),
        ("lines.first_index=3", "--set lines.first_index requires --lines"),
        ("csv.header=false", "--set csv.header is for CSV"),
        ("picture.title=a", "--set picture.title is for pictures; give --format svg or -o FILE.svg"),
    ],
)
def test_a_wrong_key_or_value(key, message):
    assert_fails(run("run", "a b", "--set", key), 2, message)


def test_a_key_is_given_once():
    assert_fails(run("run", "a", "--set", "rounding=step", "--set", "rounding=stage"), 2, "--set rounding: given more than once")
    assert_fails(run("run", "a", "--set"), 2, "--set: a value is missing")
    assert_fails(run("attend", "--set", "rounding=step"), 2, "attend has no option '--set'; run, explain and recipe have it")


@pytest.mark.parametrize("key", ["rounding=step", "dims.d_a=3", "draws[2].init=normal", "entry=0"])
def test_a_whole_model_has_a_computation_of_its_own(key):
    name = key.partition("=")[0]
    assert_fails(run("run", "a b", "--model", "induction", "--set", key), 2, f"--set {name} cannot be used with --model")


# ---- names -----------------------------------------------------------------------------------------------------------

OLD_NAMES = re.findall(r"^\| `(--[\w-]+)[^|`]*` \| `--set ([\w.]+)=", (MANUAL / "changelog.md").read_text(), re.MULTILINE)


def test_the_changelog_has_the_old_names():
    assert len(OLD_NAMES) >= 20 and {key for _, key in OLD_NAMES} <= set(keys_of("run"))


@pytest.mark.parametrize(("option", "key"), OLD_NAMES)
def test_an_old_option_says_its_key(option, key):
    assert_fails(run("run", SENTENCE, option, "1"), 2, f"error: {option} is now --set {key}=")
    of_explain = key.startswith(("picture.", "csv.", "lines.", "join"))
    if not of_explain:
        assert_fails(run("explain", SENTENCE, option), 2, f"error: {option} is now --set {key}=")


def test_an_old_option_keeps_its_value():
    assert_fails(run("run", SENTENCE, "--rounding=stage"), 2, "error: --rounding is now --set rounding=stage")
    assert_fails(run("run", SENTENCE, "--no-header"), 2, "error: --no-header is now --set csv.header=false")


def section(page):
    return page.partition("### What has no option")[2].partition("\n## ")[0]


def test_the_manual_lists_every_key_of_run():
    listed = re.findall(r"^\| `([\w.\[\]]+)` \|", section(succeeds("help", "recipes").text), re.MULTILINE)
    assert listed == keys_of("run")


def test_run_has_at_most_52_options_and_explain_no_more():
    def options(command):
        own = succeeds(command, "--help").text.partition("\nGlobal options")[0]
        return re.findall(r"^  (-[\w-]+)", own, re.MULTILINE)

    assert len(options("run")) <= 52 and len(options("explain")) <= len(options("run"))
    assert set(options("explain")) - {"--key", "--component"} <= set(options("run"))
