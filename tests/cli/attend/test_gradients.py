"""`attend --grad`: what is given, in which shape and type, and what is refused. The numbers are held against loops in
tests/oracle/gradients.py."""

import json

import pytest
from program import assert_fails, run, succeeds
from tensors import close, normal, numpy

B, H, H_KV, T, S, D, D_V = 2, 4, 2, 5, 7, 8, 6
QKV = ["-q", "q.npy", "-k", "k.npy", "-v", "v.npy"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("gradients")
    files = {"q": normal(1, B, H, T, D), "k": normal(2, B, H_KV, S, D), "v": normal(3, B, H_KV, S, D_V), "g": normal(4, B, H, T, D_V)}
    files |= {"ones": numpy.ones((B, H, T, D_V), "f4"), "g_lse": normal(5, B, H, T), "sinks": normal(6, H)}
    files |= {"bias": normal(7, 1, H, 1, S), "seen": numpy.tri(T, S, 2, dtype=bool), "kept": numpy.tri(T, S, 3, dtype=bool)}
    files |= {"past_k": normal(8, B, H_KV, 3, D), "past_v": normal(9, B, H_KV, 3, D_V)}
    for name, array in files.items():
        numpy.save(path / f"{name}.npy", array)
    return path


def stages(folder, *options, given=QKV):
    succeeds("attend", *given, "-o", "out.npz", *options, cwd=folder)
    with numpy.load(folder / "out.npz") as out:
        return {name: out[name] for name in out.files}


def test_the_gradients_of_queries_keys_and_values_are_what_is_given_without_show(folder):
    found = stages(folder, "--grad", "g.npy")
    assert {name: array.shape for name, array in found.items()} == {"dq": (B, H, T, D), "dk": (B, H_KV, S, D), "dv": (B, H_KV, S, D_V)}


def test_each_object_of_json_says_which_gradient_it_is(folder):
    lines = succeeds("attend", *QKV, "--grad", "g.npy", cwd=folder).out.splitlines()
    assert [json.loads(line)["name"] for line in lines] == ["dq", "dk", "dv"]


def test_ones_are_the_gradient_of_the_sum_of_the_context(folder):
    by_file, by_name = (stages(folder, *options) for options in (("--grad", "ones.npy"), ("--grad-ones",)))
    assert all((by_file[name] == by_name[name]).all() for name in ("dq", "dk", "dv"))
    weights = stages(folder, "--show", "weights")["weights"]
    close(by_name["dv"][..., 0], weights.sum(2).reshape(B, H_KV, 2, S).sum(2))


@pytest.mark.parametrize("options", [[], ["--layout", "bshd"], ["--dtype", "float16"]])
def test_a_drawn_gradient_is_saved_with_the_case_and_gives_its_gradients(tmp_path, options):
    succeeds("attend", "--random", "1,4/2,5/7,8/6", "--causal", "--grad-random", *options, "-o", "case.npz", cwd=tmp_path)
    with numpy.load(tmp_path / "case.npz") as case:
        assert case.files == ["queries", "keys", "values", "grad", "dq", "dk", "dv"]
        given = [part for name, array in (("-q", "queries"), ("-k", "keys"), ("-v", "values")) for part in (name, f"case.npz:{array}")]
        again = stages(tmp_path, "--causal", "--grad", "case.npz:grad", *(options if "--layout" in options else []), given=given)
        assert all((again[name] == case[name]).all() for name in ("dq", "dk", "dv"))
        assert abs(case["grad"]).max() > 1


def test_all_is_every_gradient_that_the_inputs_have(folder):
    plain = {"dweights", "delta", "dmasked_scores", "dscores", "dq", "dk", "dv", "dscale"}
    gradients = lambda *options: {name for name in stages(folder, *options, "--show", "all") if name.startswith("d") and name != "dropped_weights"}
    assert gradients("--grad", "g.npy") == plain
    assert gradients("--grad", "g.npy", "--sinks", "sinks.npy", "--mask", "bias.npy") == plain | {"dsinks", "dmask"}
    assert gradients("--grad", "g.npy", "--mask", "seen.npy") == plain  # of booleans there is none
    cache = ["--past-key", "past_k.npy", "--past-value", "past_v.npy"]
    assert gradients("--grad-lse", "g_lse.npy", *cache) == plain | {"dpast_key", "dpast_value"}
    assert gradients() == set()


def test_every_gradient_has_the_shape_and_the_type_of_its_input(folder):
    halves = [part for name in "qkv" for part in (f"-{name}", f"{name}16.npy")]
    for name in "qkvg":
        numpy.save(folder / f"{name}16.npy", numpy.load(folder / f"{name}.npy").astype("f2"))
    found = stages(folder, "--grad", "g16.npy", "--show", "all", "--mask", "bias.npy", "--sinks", "sinks.npy", given=halves)
    assert found["dmask"].shape == (1, H, 1, S) and found["dsinks"].shape == (H,) and found["dscale"].shape == ()
    types = {name: array.dtype for name, array in found.items()}
    assert [types[name] for name in ("dq", "dk", "dv", "dweights", "dscores")] == ["f2"] * 5
    assert [types[name] for name in ("delta", "lse", "dmask", "dsinks", "dscale")] == ["f4"] * 5
    wide = stages(folder, "--grad", "g16.npy", "--show", "all", "--out-dtype", "float64", given=halves)
    assert {array.dtype for array in wide.values()} == {numpy.dtype("f8")}


def test_gradients_of_scores_sum_to_0_over_the_keys_of_a_query(folder):
    found = stages(folder, "--grad", "g.npy", "--causal", "--show", "dmasked_scores,dweights")
    assert abs(found["dmasked_scores"].sum(-1)).max() < 1e-6
    assert (found["dmasked_scores"][~numpy.broadcast_to(numpy.tri(T, S, dtype=bool), (B, H, T, S))] == 0).all()
    close(found["dweights"], numpy.load(folder / "g.npy") @ numpy.repeat(numpy.load(folder / "v.npy"), 2, 1).swapaxes(-1, -2))


def test_what_dropout_takes_has_no_part_in_either_direction(folder):
    options = ["--dropout", "0.25", "--kept", "kept.npy", "--grad", "g.npy"]
    found = stages(folder, *options, "--show", "weights,dropped_weights,context,dv,dweights")
    kept = numpy.tri(T, S, 3, dtype=bool)
    close(found["dropped_weights"], found["weights"] * kept / 0.75)
    close(found["context"], found["dropped_weights"] @ numpy.repeat(numpy.load(folder / "v.npy"), 2, 1))
    assert (found["dweights"][:, :, ~kept] == 0).all()


def test_a_mask_without_elements_has_a_gradient_without_elements(folder):
    for name, shape in {"q": (1, 1, 0, 2), "k": (1, 1, 3, 2), "v": (1, 1, 3, 2), "mask": (0, 3)}.items():
        numpy.save(folder / f"none_{name}.npy", numpy.zeros(shape))
    given = [part for name in "qkv" for part in (f"-{name}", f"none_{name}.npy")]
    assert stages(folder, "--mask", "none_mask.npy", "--grad-ones", "--show", "dmask", given=given)["dmask"].shape == (0, 3)


def test_json_names_each_gradient(folder):
    out = succeeds("attend", *QKV, "--grad", "g.npy", "--show", "dscale,delta", cwd=folder).out.splitlines()
    delta, dscale = (json.loads(line) for line in out)
    assert delta["name"] == "delta" and delta["shape"] == [B, H, T]
    assert dscale["name"] == "dscale" and dscale["shape"] == [] and isinstance(dscale["data"], float)


def test_a_sum_over_float16_does_not_leave_its_range(folder):
    big = {"q": numpy.zeros((1, 4096, 8)), "k": numpy.zeros((1, 2, 8)), "v": numpy.full((1, 2, 8), 100.0), "g": numpy.full((1, 4096, 8), 100.0)}
    for name, array in big.items():
        numpy.save(folder / f"big_{name}.npy", array.astype("f2"))
    given = [part for name in "qkv" for part in (f"-{name}", f"big_{name}.npy")]
    assert stages(folder, "--grad", "big_g.npy", "--show", "delta", given=given)["delta"].max() == 80000


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--show", "dq"], 2, "--show dq requires a gradient, such as --grad or --grad-ones"),
        (["--grad", "g.npy", "--show", "dsinks"], 2, "--show dsinks requires a gradient (--grad) and --sinks"),
        (["--grad", "g.npy", "--show", "dmask"], 2, "--show dmask requires a gradient (--grad) and a --mask of numbers"),
        (["--grad", "g.npy", "--show", "dpast_key"], 2, "--show dpast_key requires a gradient (--grad), --past-key and --past-value"),
        (["--grad", "g.npy", "--grad-ones"], 2, "--grad-ones"),
        (["--grad-random"], 2, "--grad-random requires --random"),
        (["--kept", "kept.npy"], 2, "--dropout"),
        (["--dropout", "0.5"], 2, "--kept"),
        (["--dropout", "1", "--kept", "kept.npy"], 2, "--dropout: got '1'; allowed: a finite number from 0"),
        (["--dropout", "0.5", "--kept", "kept.npy", "--blind-spots"], 2, "gradients with --blind-spots and --kept"),
        (["--dropout", "0.5", "--kept", "kept.npy", "--against", "q.npy", "--suggest-input", "more.npz"], 2, "for gradients alone"),
        (["--grad", "q.npy"], 65, "grad: got the shape (2, 4, 5, 8); allowed: (2, 4, 5, 6), that of the context"),
        (["--grad-lse", "g.npy"], 65, "grad_lse: got the shape (2, 4, 5, 6); allowed: (2, 4, 5), that of lse"),
        (["--grad", "g.npy", "--mask", "seen.npy", "--show", "dmask"], 65, "got bool"),
        (["--dropout", "0.5", "--kept", "g.npy"], 65, "kept: got the shape"),
        (["--dropout", "0.5", "--kept", "bias.npy"], 65, "kept: got"),
    ],
)
def test_what_does_not_go_together_is_refused_in_one_line(folder, options, code, message):
    assert_fails(run("attend", *QKV, *options, cwd=folder), code, message)


def test_numbers_that_are_not_finite_are_refused_unless_allowed(folder):
    bad = numpy.load(folder / "g.npy")
    bad[1, 2, 3, 4] = numpy.nan
    numpy.save(folder / "bad.npy", bad)
    assert_fails(run("attend", *QKV, "--grad", "bad.npy", cwd=folder), 65, "grad", "nan")
    assert numpy.isnan(stages(folder, "--grad", "bad.npy", "--allow-nonfinite")["dq"][1, 2, 3]).any()


def test_packed_sequences_have_the_gradients_that_each_has_alone(folder):
    cu = numpy.int32([0, 2, 2, 5])
    files = {name: normal(20 + at, 5, H if name in "qg" else H_KV, D) for at, name in enumerate("qkvg")}
    for name, array in files.items():
        numpy.save(folder / f"p{name}.npy", array)
    numpy.save(folder / "cu.npy", cu)
    given = [part for name in "qkv" for part in (f"-{name}", f"p{name}.npy")]
    together = stages(folder, "--cu-seqlens", "cu.npy", "--grad", "pg.npy", "--causal", given=given)
    for first, last in ((0, 2), (2, 5)):
        for name, array in files.items():
            numpy.save(folder / f"s{name}.npy", array[first:last])
        alone = stages(folder, "--layout", "bshd", "--grad", "sg.npy", "--causal", given=[part.replace("p", "s", 1) if part.endswith("npy") else part for part in given])
        for name, array in alone.items():
            assert (together[name][first:last] == array).all()


def test_gradients_in_one_file_are_judged_one_by_one(folder):
    mine = stages(folder, "--grad", "g.npy")
    mine["dk"] = mine["dk"] / 2
    numpy.savez(folder / "mine.npz", **mine)
    done = run("attend", *QKV, "--grad", "g.npy", "--against", "mine.npz", "--json", cwd=folder)
    assert done.code == 1 and done.err == b""
    assert {line["array"]: line["agrees"] for line in map(json.loads, done.out.splitlines())} == {"dq": True, "dk": False, "dv": True}


def test_a_result_file_of_one_gradient_is_compared_with_it(folder):
    succeeds("attend", *QKV, "--grad", "g.npy", "--show", "dk", "-o", "dk.npy", cwd=folder)
    assert b"agrees" in succeeds("attend", *QKV, "--grad", "g.npy", "--show", "dk", "--against", "dk.npy", cwd=folder).out
    numpy.save(folder / "wrong.npy", 2 * numpy.load(folder / "dk.npy"))
    assert run("attend", *QKV, "--grad", "g.npy", "--show", "dk", "--against", "wrong.npy", cwd=folder).code == 1


def test_what_is_too_large_for_half_precision_is_told(folder):
    for name, array in {"q": numpy.full((2, 4), 3), "k": numpy.eye(4)[:2], "v": numpy.eye(4)[:2] * 300, "g": numpy.full((2, 4), 600)}.items():
        numpy.save(folder / f"huge_{name}.npy", array.astype("f2"))
    given = [part for name in "qkv" for part in (f"-{name}", f"huge_{name}.npy")]
    call = ("attend", *given, "--grad", "huge_g.npy", "-o", "out.npz", "--show")
    done = run(*call, "dweights,dv", cwd=folder)
    assert (done.code, done.out) == (0, b"")
    assert done.message == "attn-cli: warning: dweights: a number is beyond float16, and became infinite; --out-dtype float32 avoids it\n"
    assert numpy.isinf(numpy.load(folder / "out.npz")["dweights"]).any()
    succeeds(*call, "dv", cwd=folder)
    succeeds(*call, "dweights", "--out-dtype", "float32", cwd=folder)
    succeeds(*call, "dweights", "--allow-nonfinite", cwd=folder)


def test_so_it_is_of_the_way_forward_but_masked_scores_are_infinite_anyhow(folder):
    for name, array in {"q": [[300.0, 0], [0, 1]], "k": [[300.0, 0], [0, 1]], "v": [[1.0, 2], [3, 4]]}.items():
        numpy.save(folder / f"far_{name}.npy", numpy.array(array, "f2"))
    given = [part for name in "qkv" for part in (f"-{name}", f"far_{name}.npy")]
    done = run("attend", *given, "--causal", "--show", "scores", "-o", "out.npz", cwd=folder)
    assert done.message == "attn-cli: warning: scores: a number is beyond float16, and became infinite; --out-dtype float32 avoids it\n"
    succeeds("attend", *given, "--causal", "--show", "masked_scores,context", "-o", "out.npz", cwd=folder)
    numpy.save(folder / "far_v.npy", numpy.array([[1e5, 2], [3, 4]], "f4"))
    assert "context: a number is beyond float16" in run("attend", *given, "-o", "out.npz", cwd=folder).message


@pytest.mark.parametrize("cap, scale", [("1e-45", "1"), ("0.1", "1e5")])
def test_a_score_that_reaches_its_softcap_has_no_gradient(tmp_path, cap, scale):
    for name, array in {"q": [[1, 2]], "k": [[1, 0.5], [0.5, -1.5]], "v": [[1], [2.5]]}.items():
        numpy.save(tmp_path / f"{name}.npy", numpy.float32(array))
    assert (stages(tmp_path, "--grad-ones", "--softcap", cap, "--scale", scale, "--show", "dq")["dq"] == 0).all()


def test_what_leaves_float32_and_float64_on_its_way_is_told(tmp_path):
    for name, array in {"q": [[1, 0]], "k": numpy.eye(2), "v": [[1, 1], [1, -1]], "g": [[3e38, 3e38]]}.items():
        numpy.save(tmp_path / f"{name}.npy", numpy.float32(array))
    done = run("attend", *QKV, "--grad", "g.npy", "--show", "dq", cwd=tmp_path)
    assert (done.code, done.message) == (0, "attn-cli: warning: dq: a number on its way is beyond float32; --out-dtype float64 avoids it\n")
    assert run("attend", *QKV, "--grad", "g.npy", "--show", "dq", "--out-dtype", "float64", cwd=tmp_path).message == ""
    assert run("attend", *QKV, "--grad", "g.npy", "--show", "dq", "--allow-nonfinite", cwd=tmp_path).message == ""
    numpy.save(tmp_path / "v.npy", numpy.full((2, 1), numpy.finfo(float).max))
    for name, array in {"q": [[1]], "k": [[0], [0.7]]}.items():
        numpy.save(tmp_path / f"{name}.npy", numpy.float64(array))
    assert run("attend", *QKV, cwd=tmp_path).message == "attn-cli: warning: context: a number on its way is beyond float64\n"
