"""`attend --grad … --against`: the mistake of a backward is named by all gradients of a file together. Each is planted by hand in
NumPy; tests/oracle/mistaken_gradients.py plants the whole list."""

import json

import pytest
from program import assert_fails, run, succeeds
from tensors import normal, numpy

B, H, H_KV, T, S, D, D_V = 2, 4, 2, 20, 20, 8, 8
QKV = ["-q", "q.npy", "-k", "k.npy", "-v", "v.npy", "--grad", "g.npy"]
SCALE = D**-0.5


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("backward")
    files = {"q": normal(1, B, H, T, D), "k": normal(2, B, H_KV, S, D), "v": normal(3, B, H_KV, S, D_V), "g": normal(4, B, H, T, D_V)}
    files |= {"sinks": normal(6, H), "bias": normal(7, 1, H, 1, S), "g_lse": normal(5, B, H, T), "kept": normal(8, B, H, T, S) > -1}
    files |= {"lengths": numpy.array([S, 0])}
    for name, array in files.items():
        numpy.save(path / f"{name}.npy", array)
    return path


def load(folder, *names):
    return (numpy.load(folder / f"{name}.npy").astype(float) for name in names)


def gradients(folder, *options):
    succeeds("attend", *QKV, *options, "-o", "out.npz", cwd=folder)
    with numpy.load(folder / "out.npz") as out:
        return {name: out[name] for name in out.files}


def found(folder, mine, *options):
    """The pattern, and what is named for all arrays together."""
    numpy.savez(folder / "mine.npz", **{name: numpy.asarray(array, "f4") for name, array in mine.items()})
    done = run("attend", *QKV, *options, "--against", "mine.npz", "--json", cwd=folder)
    assert done.code == 1 and done.err == b"", done
    lines = [json.loads(line) for line in done.out.splitlines()]
    assert all(line["together"] == lines[0]["together"] for line in lines)
    for line in lines:
        assert line["agrees"] or [each["mistakes"] for each in line["named"]] == line["together"]["named"]
    return lines[0]["together"]["pattern"], [name for (name,) in lines[0]["together"]["named"]]


def weights_and_steps(folder, causal):
    """W, dW and delta of (B, H, T, S), as a backward makes them."""
    q, k, v, g = load(folder, "q", "k", "v", "g")
    K, V = (x.repeat(H // H_KV, 1) for x in (k, v))
    s = q @ K.swapaxes(2, 3) * SCALE
    s = numpy.where(numpy.tri(T, S, dtype=bool), s, -numpy.inf) if causal else s
    W = numpy.exp(s - s.max(-1, keepdims=True))
    W /= W.sum(-1, keepdims=True)
    dW = g @ V.swapaxes(2, 3)
    return q, K, g, W, dW, (W * dW).sum(-1, keepdims=True)


def fold(x):
    return x.reshape(B, H_KV, H // H_KV, S, -1).sum(2)


def test_gradients_in_the_other_layout_and_sums_that_are_not_made_say_what_they_are(folder):
    for name in "qkvg":
        numpy.save(folder / f"{name}_bshd.npy", numpy.load(folder / f"{name}.npy")[:, :, :12].swapaxes(1, 2))
    inputs = ["-q", "q_bshd.npy", "-k", "k_bshd.npy", "-v", "v_bshd.npy", "--grad", "g_bshd.npy"]
    succeeds("attend", *inputs, "--layout", "bshd", "-o", "bshd.npz", cwd=folder)
    done = run("attend", *inputs, "--against", "bshd.npz", cwd=folder)
    assert done.code == 1 and [line for line in done.text.splitlines() if not line.startswith("differs from the d")] == [
        f"bshd.npz:{name} agrees with --layout bshd: heads and positions lie in the other order" for name in ("dq", "dk", "dv")]
    numpy.save(folder / "dk.npy", gradients(folder)["dk"].repeat(2, 1))
    done = run("attend", *QKV, "--show", "dk", "--against", "dk.npy", cwd=folder)
    assert_fails(done, 65, "got the shape (2, 4, 20, 8); allowed: (2, 2, 20, 8), that of the dk, summed over the query heads of each key/value head")
    numpy.save(folder / "dk.npy", gradients(folder)["dk"] * SCALE)
    assert run("attend", *QKV, "--show", "dk", "--against", "dk.npy", cwd=folder).text.startswith("differs from the dk: ")


def test_a_factor_of_one_gradient_is_named_and_the_pattern_says_which_differs(folder):
    right = gradients(folder)
    assert found(folder, {**right, "dq": right["dq"] / SCALE}) == ("dq-alone", ["dq-scale-missing"])
    assert found(folder, {**right, "dk": right["dk"] / numpy.log(2)}) == ("dk-alone", ["dk-log2e"])
    assert found(folder, {**right, "dv": right["dv"] * SCALE}) == ("dv-alone", ["dv-scaled"])
    assert found(folder, {**right, "dq": right["dq"] * SCALE, "dk": right["dk"] * SCALE}) == ("dv-agrees", ["dq-dk-scale-twice"])
    assert found(folder, {**right, "dk": right["dk"] / 2, "dv": right["dv"] / 2}) == ("dq-agrees", ["group-mean"])
    assert found(folder, {name: -array for name, array in right.items()}) == ("all-gradients", ["gradients-negated"])
    for name in ("dq", "dk", "dv"):
        assert found(folder, {**right, name: -right[name]}) == (f"{name}-alone", [f"{name}-negated"])


def test_what_is_missing_for_a_file_of_gradients_is_said(folder):
    right = gradients(folder)
    assert_fails(run("attend", *QKV[:-2], "--against", "out.npz", cwd=folder), 2, "out.npz", "holds gradients", "--grad")
    numpy.save(folder / "dq.npy", right["dq"])
    assert_fails(run("attend", *QKV, "--against", "dq.npy", cwd=folder), 65, "dq.npy", "one named 'dq', or --show dq")
    succeeds("attend", *QKV, "--show", "dq", "--against", "dq.npy", cwd=folder)


def test_delta_that_is_missing_shows_in_dq_and_dk_alone(folder):
    q, K, _, W, dW, _ = weights_and_steps(folder, causal=True)
    ds = W * dW * SCALE
    mine = {**gradients(folder, "--causal"), "dq": ds @ K, "dk": fold(ds.swapaxes(2, 3) @ q)}
    assert found(folder, mine, "--causal") == ("dv-agrees", ["delta-missing"])


def test_a_mask_that_is_forgotten_in_the_backward_alone_is_told_from_one_that_is_forgotten_on_both_sides(folder):
    assert found(folder, gradients(folder), "--causal") == ("all-gradients", ["causal-missing"])
    q, K, g, W, dW, delta = weights_and_steps(folder, causal=True)
    raw = q @ K.swapaxes(2, 3) * SCALE
    own = numpy.where(numpy.tri(T, S, dtype=bool), raw, -numpy.inf)
    lse = numpy.log(numpy.exp(own).sum(-1, keepdims=True))
    W = numpy.exp(raw - lse)
    ds = W * (dW - delta) * SCALE
    mine = {"dq": ds @ K, "dk": fold(ds.swapaxes(2, 3) @ q), "dv": fold(W.swapaxes(2, 3) @ g)}
    assert found(folder, mine, "--causal") == ("all-gradients", ["backward-causal-missing"])


def test_dq_that_each_tile_of_keys_overwrites(folder):
    q, K, _, W, dW, delta = weights_and_steps(folder, causal=False)
    ds = W * (dW - delta) * SCALE
    ds[..., :16] = 0
    assert found(folder, {**gradients(folder), "dq": ds @ K}) == ("dq-alone", ["dq-tile-last-16"])


def test_sinks_masks_of_numbers_dropout_and_the_gradient_of_lse(folder):
    options = ("--sinks", "sinks.npy", "--mask", "bias.npy", "--show", "dq,dk,dv,dsinks,dmask")
    right = gradients(folder, *options)
    assert found(folder, {**right, "dsinks": -right["dsinks"]}, *options) == ("other-gradients", ["dsinks-negated"])
    assert found(folder, {**right, "dmask": right["dmask"] / (B * T)}, *options) == ("other-gradients", ["dmask-mean"])
    assert found(folder, gradients(folder, *options[:4]), *options[:4], "--grad-lse", "g_lse.npy") == ("dv-agrees", ["dlse-ignored"])
    dropping = ("--kept", "kept.npy", "--dropout", "0.25")
    right = gradients(folder, *dropping)
    assert found(folder, {**right, "dv": right["dv"] * 0.75}, *dropping) == ("dv-alone", ["dropout-dv-undivided"])


def test_nan_of_queries_without_keys(folder):
    right = gradients(folder, "--lengths", "lengths.npy")
    mine = {name: array.copy() for name, array in right.items()}
    for array in mine.values():
        array[1] = numpy.nan
    assert found(folder, mine, "--lengths", "lengths.npy") == ("all-gradients", ["empty-rows-nan-weights"])


def test_a_single_gradient_is_named_too_and_the_text_says_what_to_do(folder):
    succeeds("attend", *QKV, "--show", "dk", "-o", "dk.npy", cwd=folder)
    numpy.save(folder / "wrong.npy", numpy.load(folder / "dk.npy") * numpy.float32(SCALE))
    done = run("attend", *QKV, "--show", "dk", "--against", "wrong.npy", cwd=folder)
    assert done.code == 1
    text = done.out.decode()
    assert '"dk times the scale twice (of queries that were scaled before)"' in text and "try: multiply once by the scale" in text


def test_where_no_mistake_fits_the_pattern_still_says_where_to_look(folder):
    right = gradients(folder)
    mine = {**right, "dk": right["dk"] + normal(9, *right["dk"].shape)}
    assert found(folder, mine) == ("dk-alone", [])
    text = run("attend", *QKV, "--against", "mine.npz", cwd=folder).out.decode()
    assert text.endswith("mine.npz: dq and dv agree, dk does not: the factor of dk, its sum, or how it is stored; "
                         "none of the mistakes that are named gives all arrays\n")
    assert "mistakes and pairs" not in text
    rows = [line.split()[1].rstrip(":") for line in text.splitlines() if line.startswith("  keys ")]
    assert len(rows) == 1 and rows[0] in ("0-15", "16-19") and "  queries " not in text  # rows of dk are keys, of which there are 20


def test_two_of_the_three_say_less(folder):
    right = gradients(folder)
    mine = {"dq": right["dq"], "dk": right["dk"] / SCALE}
    assert found(folder, mine, "--show", "dq,dk") == ("some-gradients", ["dk-scale-missing"])


def test_packed_sequences(folder):
    for seed, (name, heads) in enumerate((("q", H), ("k", H_KV), ("v", H_KV), ("g", H))):
        numpy.save(folder / f"p{name}.npy", normal(20 + seed, 30, heads, D))
    numpy.save(folder / "cu.npy", numpy.array([0, 12, 30]))
    given = ["-q", "pq.npy", "-k", "pk.npy", "-v", "pv.npy", "--grad", "pg.npy", "--cu-seqlens", "cu.npy", "--causal"]
    succeeds("attend", *given, "-o", "packed.npz", cwd=folder)
    with numpy.load(folder / "packed.npz") as out:
        right = {name: out[name] for name in out.files}
    numpy.savez(folder / "mine.npz", **{**right, "dq": -right["dq"], "dk": -right["dk"]})
    done = run("attend", *given, "--against", "mine.npz", "--json", cwd=folder)
    assert json.loads(done.out.splitlines()[0])["together"] == {"pattern": "dv-agrees", "named": [["dq-dk-negated"]]}


def test_a_sum_over_thousands_of_queries_is_judged_by_what_float32_allows(tmp_path):
    """Of one key all weights are 1: dv is the sum of the context's gradient."""
    T = 5000
    g = normal(1, T, 3).astype("f4")
    for name, array in {"q": numpy.zeros((T, 1)), "k": numpy.zeros((1, 1)), "v": numpy.zeros((1, 3))}.items():
        numpy.save(tmp_path / f"{name}.npy", array.astype("f4"))
    numpy.save(tmp_path / "g.npy", g)
    exact, sums = g.sum(0, dtype=float), numpy.add.accumulate(g, 0)  # each a float32
    assert numpy.abs(sums[-1] - exact).max() > 2e-5
    for dv, agreement in ((sums[-1], "as-type-allows"), (sums[-2], "differs"), (exact, "within-tolerance")):
        numpy.save(tmp_path / "dv.npy", dv[None].astype("f4"))
        options = ["--show", "dv", "--against", "dv.npy", "--json"]
        report = json.loads(run("attend", *QKV, *options, cwd=tmp_path).out)
        assert report["agreement"] == agreement and (agreement == "within-tolerance") == ("half" not in report)
        assert run("attend", *QKV, *options, "--strict", cwd=tmp_path).code == (0 if agreement == "within-tolerance" else 1)


def test_half_precision_is_judged_by_what_the_type_allows(folder):
    for name in "qkvg":
        numpy.save(folder / f"{name}16.npy", numpy.load(folder / f"{name}.npy").astype("f2"))
    given = [part for name in "qkv" for part in (f"-{name}", f"{name}16.npy")] + ["--grad", "g16.npy"]
    succeeds("attend", *given, "-o", "right16.npz", cwd=folder)
    with numpy.load(folder / "right16.npz") as out:
        right = {name: out[name] for name in out.files}
    rounded = {name: (array.astype(float) * (1 + 3e-4 * normal(30, *array.shape))).astype("f2") for name, array in right.items()}
    numpy.savez(folder / "rounded.npz", **rounded)
    done = run("attend", *given, "--against", "rounded.npz", "--json", cwd=folder)
    assert done.code in (0, 1) and all(not line.get("named") for line in map(json.loads, done.out.splitlines()))
    numpy.savez(folder / "twice.npz", **{**rounded, "dk": (rounded["dk"] * SCALE).astype("f2")})
    done = run("attend", *given, "--against", "twice.npz", "--json", cwd=folder)
    lines = {line["array"]: line for line in map(json.loads, done.out.splitlines())}
    assert lines["dq"]["together"]["named"] == [["dk-scale-twice"]]
    assert {name: bool(line.get("named")) for name, line in lines.items()} == {"dq": False, "dk": True, "dv": False}


def test_a_sum_in_float32_of_what_is_rounded_is_judged_by_the_type_of_the_queries(folder):
    for name in "qkvg":
        numpy.save(folder / f"{name}16.npy", numpy.load(folder / f"{name}.npy").astype("f2"))
    given = [part for name in "qkv" for part in (f"-{name}", f"{name}16.npy")]
    given += ["--grad", "g16.npy", "--sinks", "sinks.npy", "--show", "dsinks"]
    succeeds("attend", *given, "-o", "dsinks.npy", cwd=folder)
    numpy.save(folder / "mine.npy", numpy.load(folder / "dsinks.npy") * numpy.float32(1 + 5e-5))
    report = json.loads(succeeds("attend", *given, "--against", "mine.npy", "--json", cwd=folder).out)
    assert report["agreement"] == "as-type-allows" and report["half"]["type"] == "float16" and report["mismatched"] > 0


def test_the_gradients_that_a_file_holds_are_judged_all_and_alone(folder):
    options = ("--sinks", "sinks.npy")
    right = gradients(folder, *options, "--show", "dq,dk,dv,dsinks,delta")
    assert found(folder, {**right, "dsinks": -right["dsinks"]}, *options) == ("other-gradients", ["dsinks-negated"])
    numpy.savez(folder / "mine.npz", dq=right["dq"], dv=right["dv"], q=right["dq"])
    lines = [json.loads(line) for line in succeeds("attend", *QKV, *options, "--against", "mine.npz", "--json", cwd=folder).out.splitlines()]
    assert [line["array"] for line in lines] == ["dq", "dv"]
    numpy.savez(folder / "mine.npz", **right)
    assert_fails(run("attend", *QKV, "--against", "mine.npz", cwd=folder), 2, "dsinks", "--sinks")


def test_what_is_named_is_measured_in_each_gradient(folder):
    right = gradients(folder)
    mine = {**right, "dq": right["dq"] / SCALE}
    mine["dv"] = mine["dv"] * numpy.float32(1 + 1e-5)
    numpy.savez(folder / "mine.npz", **mine)
    lines = map(json.loads, run("attend", *QKV, "--against", "mine.npz", "--json", cwd=folder).out.splitlines())
    (dq,) = (line for line in lines if line["array"] == "dq")
    assert dq["candidates"][0]["largest_difference"] < 1e-6 < 5e-6 < abs(mine["dv"] - right["dv"]).max()


def test_two_mistakes_in_two_gradients_are_each_named(folder):
    right = gradients(folder)
    mine = {"dq": right["dq"] / SCALE, "dk": right["dk"] / numpy.log(2), "dv": right["dv"]}
    assert found_each(folder, mine) == {"dq": ["dq-scale-missing"], "dk": ["dk-log2e"]}
    assert found_each(folder, {**mine, "dk": right["dk"] * 3}) == {"dq": ["dq-scale-missing"], "dk": []}


def found_each(folder, mine):
    """What is named for each gradient that differs."""
    numpy.savez(folder / "mine.npz", **mine)
    lines = map(json.loads, run("attend", *QKV, "--against", "mine.npz", "--json", cwd=folder).out.splitlines())
    return {line["array"]: [name for each in line["named"] for name in each["mistakes"]] for line in lines if not line["agrees"]}


def test_an_input_tells_tied_mistakes_of_gradients_apart(tmp_path):
    shapes = {"q": (4, 6), "k": (2, 6), "v": (2, 6), "g": (4, 6)}
    for seed, (name, (heads, rows)) in enumerate(shapes.items()):
        numpy.save(tmp_path / f"{name}.npy", normal(seed, heads, rows, 4))
    numpy.savez(tmp_path / "mine.npz", dk=gradients(tmp_path)["dk"] / 2)  # 1/√4, and the mean of two heads
    done = run("attend", *QKV, "--against", "mine.npz", "--suggest-input", "more.npz", "--json", cwd=tmp_path)
    line = json.loads(done.out)
    of_scale = [["dk-scale-twice"], ["dq-dk-scale-twice"]]
    assert [each["mistakes"] for each in line["named"]] == [*of_scale, ["group-mean"]]
    assert line["suggested_input"]["alike"] == [of_scale] and not line["suggested_input"]["same_shapes"]
    with numpy.load(tmp_path / "more.npz") as more:
        assert more["grad"].shape == more["queries"].shape
        (tmp_path / "more").mkdir()
        for name, array in zip("qkvg", ("queries", "keys", "values", "grad")):
            numpy.save(tmp_path / "more" / f"{name}.npy", more[array])
    heads = numpy.load(tmp_path / "more" / "q.npy").shape[-3] / numpy.load(tmp_path / "more" / "k.npy").shape[-3]
    numpy.savez(tmp_path / "more" / "mine.npz", dk=gradients(tmp_path / "more")["dk"] / numpy.float32(heads))
    done = run("attend", *QKV, "--against", "mine.npz", "--json", cwd=tmp_path / "more")
    assert [each["mistakes"] for each in json.loads(done.out)["named"]] == [["group-mean"]]


def unseen(folder, *options, given=QKV):
    report = json.loads(succeeds("attend", *given, *options, "--blind-spots", "--json", cwd=folder).out)
    return report["possible"], {spot["mistake"]: spot["why"] for spot in report["unseen"]}


def test_blind_spots_of_gradients_are_the_mistakes_that_all_of_them_let_pass(folder):
    possible, through = unseen(folder)
    through = {mistake for mistake, why in through.items() if why != "no-room"}
    assert possible > 60 and len(through) < 10 and "dq-scale-missing" not in through
    numpy.save(folder / "even.npy", numpy.ones((B, H_KV, S, D_V), "f4"))  # whose mean is the same by any weights
    _, through = unseen(folder, given=["-q", "q.npy", "-k", "k.npy", "-v", "even.npy", "--grad", "g.npy"])
    assert through["dq-scale-missing"] == "same" and through["dk-log2e"] == "same"
    assert "dv-scaled" not in through and "delta-missing" not in through
    of_dv, through = unseen(folder, "--show", "dv")
    assert of_dv < possible and "dq-scale-missing" not in through


def test_a_test_of_gradients_fails_where_it_sees_too_little(folder):
    assert run("attend", *QKV, "--blind-spots", "--require", "1000", cwd=folder).code == 1
    text = succeeds("attend", *QKV, "--blind-spots", "--require", "10", cwd=folder).out.decode()
    assert text.startswith("this test sees ")


def test_blind_spots_of_gradients_say_what_would_show_them(folder):
    report = json.loads(succeeds("attend", *QKV, "--causal", "--blind-spots", "--json", cwd=folder).out)
    spots = {spot["mistake"]: spot for spot in report["unseen"]}
    assert spots["delta-stale-64"]["why"] == "no-room" and spots["delta-stale-64"]["change"] == "more queries and keys"
    assert spots["delta-d-k"]["change"] == "values of another width"
    assert spots["causal-bottom-right"]["why"] == "same" and spots["causal-bottom-right"]["change"] == "fewer queries than keys"


@pytest.mark.parametrize("options", [
    (), ("--grad-lse", "g_lse.npy"), ("--kept", "kept.npy", "--dropout", "0.25"), ("--lengths", "lengths.npy", "--causal"),
    ("--mask", "bias.npy", "--show", "dq,dmask"), ("--layout", "bshd"),
])  # fmt: skip
def test_an_input_of_the_same_shapes_shows_more_mistakes_of_gradients(folder, options):
    for name in ("q", "k", "v", "g"):  # of which the gradients stay within any tolerance
        small = numpy.load(folder / f"{name}.npy") * numpy.float32(1e-3)
        numpy.save(folder / f"small_{name}.npy", small.swapaxes(1, 2) if "bshd" in options else small)
    given = ["-q", "small_q.npy", "-k", "small_k.npy", "-v", "small_v.npy", "--grad", "small_g.npy"]
    report = json.loads(succeeds("attend", *given, *options, "--blind-spots", "--suggest-input", "more.npz", "--json", cwd=folder).out)
    suggested = report["suggested_input"]
    assert suggested["seen"] > report["seen"] and suggested["possible"] == report["possible"]
    with numpy.load(folder / "more.npz") as more:
        for name, array in zip(("q", "k", "v", "g"), ("queries", "keys", "values", "grad")):
            assert more[array].shape == numpy.load(folder / f"small_{name}.npy").shape
    command = suggested["command"].split()[1:]
    again = json.loads(succeeds(*command[:-2], "--blind-spots", "--json", cwd=folder).out)
    assert (again["seen"], again["possible"]) == (suggested["seen"], suggested["possible"])
