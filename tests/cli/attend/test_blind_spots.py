"""attend --blind-spots: which mistakes a test on these inputs would not see. tests/oracle/blind_spots.py plants them all."""

import shlex

import jsonschema
import pytest
from program import assert_fails, run, run_unread, succeeds
from tensors import normal, numpy

QKV = ("-q", "q.npy", "-k", "k.npy", "-v", "v.npy")
SCHEMA = succeeds("schema", "blind-spots").json


@pytest.fixture
def save(tmp_path):
    """Queries (B, H, T, d), and keys and values of these lengths."""

    def save(B=1, H=2, T=5, S=5, d=4, dv=None, type="float32", scores=1.0):
        shapes = {"q": (B, H, T, d), "k": (B, H, S, d), "v": (B, H, S, dv or d)}
        for seed, (name, shape) in enumerate(shapes.items()):
            numpy.save(tmp_path / f"{name}.npy", (normal(seed, *shape) * (1 if name == "v" else scores)).astype(type))
        return tmp_path

    return save


def spots(folder, *options):
    report = succeeds("attend", *QKV, *options, "--blind-spots", "--json", cwd=folder).json
    jsonschema.Draft202012Validator(SCHEMA).validate(report)
    assert report["seen"] + len(report["unseen"]) == report["possible"]
    return report


def unseen(folder, *options):
    return {spot["mistake"]: spot for spot in spots(folder, *options)["unseen"]}


def test_the_alignment_of_a_causal_mask_shows_only_where_queries_and_keys_differ_in_number(save):
    assert unseen(save(T=5, S=5), "--causal")["causal-top-left"]["why"] == "same"
    found = unseen(save(T=5, S=7), "--causal", "--causal-align", "bottom-right")
    assert "causal-top-left" not in found
    assert "causal-bottom-right" not in found  # it is asked for


def test_other_numbers_or_sizes_that_would_show_a_mistake_are_told(save):
    assert unseen(save(), "--causal", "--causal-align", "bottom-right")["causal-top-left"]["change"] == "fewer queries than keys"
    assert unseen(save(), "--causal")["causal-top-left"]["change"] == "a cache"  # without one ONNX's rule is top-left
    assert unseen(save(scores=0))["no-scale"]["change"] == "other numbers"
    assert "change" not in unseen(save(), "--scale", "1")["no-scale"]  # it is right
    assert unseen(save())["no-maximum"]["change"] == "larger scores"
    numpy.save((folder := save(B=2)) / "n.npy", numpy.array([3, 4]))
    assert unseen(folder, "--lengths", "n.npy")["empty-rows-nan"]["change"] == "queries that see no key"
    assert unseen(folder, "--causal", "--causal-align", "bottom-right")["empty-rows-nan"]["change"] == "more queries than keys"


def test_in_each_group_those_come_first_that_public_issues_report_most_often(save):
    text = succeeds("attend", *QKV, "--causal", "--causal-align", "bottom-right", "--blind-spots", cwd=save(scores=0)).text
    for group in text.split("\n\n")[1:]:
        counts = [int(line.split("; seen in ")[1].split()[0]) if "; seen in " in line else 0 for line in group.splitlines()[1:]]
        assert counts == sorted(counts, reverse=True), group
    assert "  scores divided by √(heads·d_k); seen in 12 public issues\n" in text
    assert unseen(save(scores=0))["scale-model"]["threads"] == 12


def test_scores_of_zero_hide_what_the_scores_are_multiplied_by(save):
    found = unseen(save(scores=0))
    assert {"no-scale", "scale-1/d", "exp-base-2", "softmax-uniform", "scores-transposed"} <= found.keys()
    assert all(found[name] | {"why": "same", "largest_difference": 0} == found[name] for name in ("no-scale", "exp-base-2"))
    assert "no-scale" not in unseen(save())


def test_a_sink_that_weighs_nothing_may_be_left_out(save):
    folder = save()
    for sinks, missed in (([-16.0, -16.0], True), ([1.0, -16.0], False)):
        numpy.save(folder / "sinks.npy", numpy.array(sinks))
        found = unseen(folder, "--sinks", "sinks.npy")
        assert ("sink-missing" in found) == missed
        assert not missed or found["sink-missing"]["why"] == "within-tolerance" and found["sink-missing"]["largest_difference"] > 0


def test_slopes_of_a_file_show_what_those_of_the_paper_may_hide_and_have_none_of_their_mistakes(save):
    folder = save(B=2)
    of_paper = {"alibi-slopes-late", "alibi-slopes-plain"}
    numpy.save(folder / "flat.npy", numpy.full((2, 2), 0.3))
    numpy.save(folder / "own.npy", numpy.array([[0.3, 0.1], [0.4, 0.2]]))
    flat, own = (unseen(folder, "--alibi-slopes", f"{name}.npy").keys() for name in ("flat", "own"))
    assert {"alibi-first-slope", "alibi-first-entry", "alibi-reversed"} <= flat - own and not (flat | own) & of_paper
    numpy.save(folder / "one.npy", numpy.array([0.3, 0.1]))
    assert spots(folder, "--alibi-slopes", "own.npy")["possible"] == spots(folder, "--alibi-slopes", "one.npy")["possible"] + 1
    assert spots(folder, "--alibi")["possible"] == spots(folder, "--alibi-slopes", "one.npy")["possible"] + len(of_paper)


def test_a_tolerance_lets_through_what_it_is_as_wide_as(save):
    folder = save()
    few, many = (unseen(folder, "--rtol", "0", "--atol", atol).keys() for atol in ("1e-7", "100"))
    assert few < many and "no-scale" in many and "softmax-missing" not in few


def test_lengths_that_fill_a_tile_hide_what_happens_in_its_rest(save):
    assert unseen(save(S=32))["tile-padding-counted-16"]["why"] == "no-room"
    assert "tile-padding-counted-16" not in unseen(save(S=33))


def test_one_head_has_no_order_and_the_change_is_told(save):
    found = unseen(save(H=1))
    assert found["heads-reversed"]["why"] == "no-room" and "heads" in found["heads-reversed"]["change"]
    assert "heads-reversed" not in unseen(save(H=2))
    assert found["scale-value"]["change"] == "values of another width"
    assert "scale-value" not in unseen(save(H=1, dv=7))


@pytest.mark.parametrize("sizes, options", [
    ("1,4/2,9,16", ["--causal"]),
    ("1,3,6,6", ["--alibi", "--show", "weights"]),
    ("1,2,6,6/3", ["--alibi", "--causal", "--causal-align", "bottom-right"]),
], ids=["grouped", "weights", "alibi"])
def test_the_sizes_in_which_a_change_shows_a_mistake_do_show_it(tmp_path, sizes, options):
    def spots_of(sizes):
        return succeeds("attend", "--random", sizes, *options, "--blind-spots", "--json", cwd=tmp_path).json["unseen"]

    told = {spot["mistake"]: spot["sizes"] for spot in spots_of(sizes) if spot["why"] == "no-room" and "cache" not in spot["sizes"]}
    assert len(told) > 10
    for other in set(told.values()):
        still = {spot["mistake"] for spot in spots_of(other) if spot["why"] in ("no-room", "same")}
        assert not still & {mistake for mistake, its_sizes in told.items() if its_sizes == other}


def test_what_no_option_asks_for_is_no_mistake(save):
    names = {spot["mistake"] for spot in spots(save())["unseen"]}
    assert not any(name.startswith(("softcap", "window", "lengths", "alibi", "sink", "mask-", "segments", "cache")) for name in names)


def test_half_precision_passes_what_its_type_allows_unless_it_is_strict(save):
    folder = save(T=40, S=40, d=16, type="float16")
    report = spots(folder)
    loose, strict = {spot["mistake"]: spot["why"] for spot in report["unseen"]}, unseen(folder, "--strict")
    assert 0 < report["half_allowed"] < 0.1 and "half_allowed" not in spots(folder, "--strict")
    assert strict.keys() - loose.keys() <= {"inputs-float16", "scores-float16", "softmax-float16", "exponentials-float16", "weights-float16",
                                            "result-float16"}
    assert "as-type-allows" in loose.values() and "no-scale" not in loose


def test_weights_do_not_show_what_is_done_with_the_values(save):
    folder = save()
    in_weights, in_context = unseen(folder, "--show", "weights"), unseen(folder)
    assert in_weights["accumulator-bfloat16"]["why"] == "same" and "accumulator-bfloat16" not in in_context
    assert "no-scale" not in in_weights


def test_the_text_says_as_much_as_the_json(save):
    folder = save(S=7)
    report, text = spots(folder, "--causal"), succeeds("attend", *QKV, "--causal", "--blind-spots", cwd=folder).text
    assert text.startswith(f"this test sees {report['seen']} of {report['possible']} mistakes\n")
    assert "\nthese give the right numbers:\n" in text and "\nthese need more queries and keys (sizes 1," in text
    assert all(spot["what"].partition(" (")[0] in text for spot in report["unseen"])


@pytest.mark.parametrize(("options", "name"), [((), "q.npz"), (("--causal", "--lengths", "n.npy"), "q.safetensors"), (("--sinks", "sinks.npy"), "q.npz")])
@pytest.mark.parametrize("type", ["float32", "float16"])
def test_suggested_inputs_of_the_same_shapes_show_more_and_all_but_what_is_listed(save, options, name, type):
    folder = save(B=2, T=18, S=18, type=type, scores=0)
    numpy.save(folder / "n.npy", numpy.array([16, 16]))
    numpy.save(folder / "sinks.npy", numpy.array([-50.0, -50.0]))
    suggested = spots(folder, *options, "--suggest-input", name)["suggested_input"]
    assert suggested["file"] == name and suggested["seen"] > spots(folder, *options)["seen"] + 15
    again = succeeds(*shlex.split(suggested["command"])[1:-2], "--blind-spots", "--json", cwd=folder).json
    assert {key: suggested[key] for key in ("seen", "possible", "unseen")} == {key: again[key] for key in ("seen", "possible", "unseen")}
    if name == "q.npz":
        written = numpy.load(folder / name)
        assert all((written[array].shape, written[array].dtype) == ((2, 2, 18, 4), type) for array in ("queries", "keys", "values"))


def test_the_text_says_what_a_suggested_input_shows_and_does_not(save):
    folder = save(scores=0)
    own = {spot["mistake"] for spot in spots(folder)["unseen"]}
    report = spots(folder, "--suggest-input", "s.npz")["suggested_input"]
    new = len(own - {spot["mistake"] for spot in report["unseen"]})
    text = succeeds("attend", *QKV, "--blind-spots", "--suggest-input", "s.npz", cwd=folder).text
    head = f"\ns.npz, of the same shapes, shows {report['seen']} mistakes, {new} of them new; run your attention on it, too, and then, with its result:\n"
    assert head + f"  {report['command']}\nwhat neither shows:\n\nthese " in text and report["not_shown"] == []


def test_what_the_own_inputs_alone_show_is_kept(save):
    folder = save(scores=30)
    coarse = ("--rtol", "0", "--atol", "1e9")  # NaN alone shows
    own = set(unseen(folder, *coarse))
    report = spots(folder, *coarse, "--suggest-input", "s.npz")["suggested_input"]
    there = {spot["mistake"] for spot in report["unseen"]}
    assert set(report["not_shown"]) == there - own and there - own and own - there
    text = succeeds("attend", *QKV, *coarse, "--blind-spots", "--suggest-input", "s.npz", cwd=folder).text
    kept, neither = text.split("keep your own inputs: s.npz does not show\n")[1].split("what neither shows:\n")
    assert kept.count("\n") == len(there - own) and all(line not in neither for line in kept.splitlines())


def test_where_no_input_of_these_shapes_shows_anything_new_none_is_written(save):
    folder = save(scores=30)
    given = (*QKV, "--softcap", "20", "--blind-spots", "--suggest-input", "more.npz")
    assert succeeds("attend", *given, cwd=folder).text.endswith("\nno input is written: none that was drawn in these shapes shows anything new\n")
    assert not (folder / "more.npz").exists()
    assert succeeds("attend", *given, "--json", cwd=folder).json["suggested_input"] == {}


@pytest.mark.parametrize(("more", "code"), [(0, 0), (1, 1)])
def test_the_exit_code_says_whether_enough_are_seen(save, more, code):
    folder = save()
    seen = spots(folder)["seen"]
    done = run("attend", *QKV, "--blind-spots", "--require", seen + more, cwd=folder)
    assert (done.code, done.err) == (code, b"") and done.out


@pytest.mark.parametrize("form", [(), ("--json",), ("--suggest-input", "s.npz")])
def test_the_exit_code_says_it_also_when_nobody_reads_the_list(save, form):
    done = run_unread("attend", *QKV, "--blind-spots", "--require", "100000", *form, cwd=save(scores=0))
    assert (done.code, done.err) == (1, b"")


@pytest.mark.parametrize("tolerance", [("--rtol", "0.25", "--atol", "0.5"), ("--strict",)])
def test_the_command_for_a_suggested_input_judges_as_this_one(save, tolerance):
    folder = save(scores=0, type="float16")
    report = spots(folder, "--causal", *tolerance, "--suggest-input", "s.npz")["suggested_input"]
    assert report["command"].endswith(" --causal " + " ".join(tolerance) + " --against FILE")
    words = shlex.split(report["command"])[1:-2]
    assert succeeds(*words, "--blind-spots", "--json", cwd=folder).json["seen"] == report["seen"]


def test_threads_change_nothing(save):
    folder = save(B=2, H=2, T=33, S=33, d=8)
    assert spots(folder, "--causal", "--threads", "1") == spots(folder, "--causal", "--threads", "4")


@pytest.mark.parametrize(("options", "code", "error"), [
    (["--against", "v.npy"], 2, "--against"),
    (["-o", "y.npy"], 2, "-o"),
    (["--format", "npy"], 2, "--format"),
    (["--show", "scores"], 2, "context, weights or gradients with --blind-spots"),
    (["--show", "weights,context"], 2, "context, weights or gradients with --blind-spots"),
    (["--require", "-1"], 2, "--require"),
    (["--weights-dtype", "float16"], 2, "--blind-spots"),
    (["--cu-seqlens", "absent.npy"], 2, "--blind-spots"),
    (["--allow-nonfinite"], 2, "--blind-spots"),
    (["--suggest-input", "s.npy"], 2, "a name that ends with .npz or .safetensors"),
])
def test_what_does_not_go_with_it_is_refused(save, options, code, error):
    assert_fails(run("attend", *QKV, "--blind-spots", *options, cwd=save()), code, error)


@pytest.mark.parametrize("option", [["--require", "3"], ["--strict"], ["--rtol", "0.1"], ["--atol", "0.1"], ["--suggest-input", "s.npz"]])
def test_what_judges_needs_something_to_judge(save, option):
    assert_fails(run("attend", *QKV, *option, cwd=save()), 2, option[0])
