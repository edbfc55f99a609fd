"""`attend`: the attention operator over tensors from files, against attention the plain way in NumPy."""

import json

import pytest
from program import assert_fails, run, succeeds
from tensors import attention, band, close, from_bfloat16, load_safetensors, normal, numpy, save_safetensors, to_bfloat16

B, H, T, S, D, D_V = 2, 4, 5, 7, 8, 6


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("attend")
    numpy.save(path / "q.npy", normal(1, B, H, T, D))
    numpy.save(path / "k.npy", normal(2, B, H, S, D))
    numpy.save(path / "v.npy", normal(3, B, H, S, D_V))
    numpy.save(path / "k2.npy", normal(4, B, 2, S, D))
    numpy.save(path / "v2.npy", normal(5, B, 2, S, D_V))
    return path


def arrays(folder, k="k.npy", v="v.npy"):
    return tuple(numpy.load(folder / name) for name in ("q.npy", k, v))


def attend(folder, *options, q="q.npy", k="k.npy", v="v.npy"):
    """The result as an array."""
    succeeds("attend", "-q", q, "-k", k, "-v", v, "-o", "y.npy", *options, cwd=folder)
    return numpy.load(folder / "y.npy")


def fails(folder, code, options=(), q="q.npy", k="k.npy", v="v.npy"):
    assert_fails(run("attend", "-q", q, "-k", k, "-v", v, *options, cwd=folder), code)


# ---- what a message allows works ------------------------------------------------------------------------------------


def test_an_integer_that_float32_rounds_may_come_in_a_float64_tensor(tmp_path):
    numpy.save(tmp_path / "k.npy", numpy.array([[2**24 + 1, 0]]))
    numpy.save(tmp_path / "q.npy", normal(1, 1, 2))
    call = ("attend", "-q", "q.npy", "-k", "k.npy", "-v", "k.npy")
    for options in ((), ("--out-dtype", "float64")):
        assert_fails(run(*call, *options, cwd=tmp_path), 65, "allowed: one that it holds, such as 16777216, or a float64 tensor")
    numpy.save(tmp_path / "k.npy", numpy.array([[2**24 + 1.0, 0]]))
    assert succeeds(*call, "--out-dtype", "float64", cwd=tmp_path).json["data"] == [[2**24 + 1, 0]]


def test_a_mask_beyond_float32_names_the_option_of_attend(tmp_path):
    numpy.save(tmp_path / "q.npy", normal(1, 1, 2))
    numpy.save(tmp_path / "m.npy", numpy.array([[-1e39]]))
    call = ("attend", *"-q q.npy -k q.npy -v q.npy --mask m.npy".split())
    assert_fails(run(*call, cwd=tmp_path), 65, "which is beyond float32; allowed: up to 3.4e38, or --out-dtype float64")
    succeeds(*call, "--out-dtype", "float64", cwd=tmp_path)


def test_a_mask_of_the_least_float32_is_read_as_numpy_prints_it(tmp_path):
    numpy.save(tmp_path / "q.npy", normal(1, 2, 2))
    mask = numpy.array([[0, numpy.finfo("f4").min], [0, 0]], "f4")
    numpy.save(tmp_path / "m.npy", mask)
    (tmp_path / "m.txt").write_text(str(mask))
    call = ("attend", *"-q q.npy -k q.npy -v q.npy --mask".split())
    assert succeeds(*call, "m.txt", cwd=tmp_path).out == succeeds(*call, "m.npy", cwd=tmp_path).out
    for beyond, code in ((3.4028235677973362e38, 0), (3.4028235677973366e38, 65)):  # the largest double that rounds to a float32; the next
        numpy.save(tmp_path / "m.npy", numpy.array([[0, -beyond], [0, 0]]))
        assert run(*call, "m.npy", cwd=tmp_path).code == code


def test_integers_are_allowed_where_bools_are_not(tmp_path):
    for name, dtype in (("b.npy", bool), ("i32.npy", numpy.int32), ("i64.npy", numpy.int64)):
        numpy.save(tmp_path / name, numpy.ones((2, 3), dtype))
    refused = run("attend", "-q", "b.npy", "-k", "i32.npy", "-v", "i64.npy", cwd=tmp_path)
    assert_fails(refused, 65, "'b.npy': got bool; allowed: float16, bfloat16, float32, float64, uint8, int32, int64")
    succeeds("attend", "-q", "i64.npy", "-k", "i32.npy", "-v", "i64.npy", cwd=tmp_path)


def test_a_product_beyond_float32_takes_the_whole_weight_and_float64_has_room(tmp_path):
    numpy.save(tmp_path / "q.npy", numpy.float32([[1e30, 1e30], [-1e30, 1e30]]))
    call = ("attend", *"-q q.npy -k q.npy -v q.npy --show weights".split())
    done = run(*call, cwd=tmp_path)
    assert done.json["data"] == [[1, 0], [0, 1]]
    warning = "scores: a dot product overflowed float32; +∞ takes the whole weight of its row; --out-dtype float64 avoids it\n"
    assert done.err.decode() == f"attn-cli: warning: {warning}"
    assert run(*call, "--out-dtype", "float64", cwd=tmp_path).err == b""
    numpy.save(tmp_path / "q.npy", numpy.array([[1e200, 1e200], [-1e200, 1e200]]))
    done = run(*call, cwd=tmp_path)
    assert "overflowed float64; the weights of its row may be nan\n" in done.err.decode() and done.json["data"][1] == ["nan", "nan"]


def test_boundaries_of_sequences_are_two_or_more_that_never_fall(tmp_path):
    numpy.save(tmp_path / "q.npy", normal(1, 10, 1, 4))
    call = ("attend", *"-q q.npy -k q.npy -v q.npy --cu-seqlens cu.npy".split())
    for places, message in (
        ([0], "cu_seqlens: got 1 number; allowed: two or more, from 0 to 10"),
        ([0, 4, 3, 10], "cu_seqlens[2]: got 3; allowed: numbers from 0 to 10 that never fall"),
    ):
        numpy.save(tmp_path / "cu.npy", numpy.array(places))
        assert_fails(run(*call, cwd=tmp_path), 65, message)
    numpy.save(tmp_path / "cu.npy", numpy.array([0, 4, 4, 10]))
    succeeds(*call, cwd=tmp_path)


# ---- the operator ----------------------------------------------------------------------------------------------------


def test_the_result_is_softmax_of_the_scaled_scores_times_the_values(folder):
    y = attend(folder)
    assert (y.shape, y.dtype) == ((B, H, T, D_V), numpy.float32)
    close(y, attention(*arrays(folder))[1])


def test_json_goes_to_stdout_and_holds_the_same(folder):
    done = succeeds("attend", "-q", "q.npy", "-k", "k.npy", "-v", "v.npy", cwd=folder).json
    assert list(done) == ["schema", "dtype", "shape", "data"]
    assert (done["schema"], done["dtype"], done["shape"]) == ("attn-cli/tensor/1", "float32", [B, H, T, D_V])
    assert numpy.array_equal(numpy.float32(done["data"]), attend(folder))


def test_json_holds_many_of_the_longest_decimals(folder):
    longest = -1234567890123456774144.0
    numpy.save(folder / "long.npy", numpy.full((1, 4096), longest))
    numpy.save(folder / "one.npy", numpy.zeros((1, 2)))
    done = succeeds("attend", "-q", "one.npy", "-k", "one.npy", "-v", "long.npy", cwd=folder)
    assert done.json["data"] == [[longest] * 4096]
    assert done.out.count(b"-1234567890123456774144.0") == 4096


@pytest.mark.parametrize("kv_heads", [1, 2, 4])
def test_query_heads_share_key_and_value_heads_in_order(folder, kv_heads):
    numpy.save(folder / "kg.npy", normal(6, B, kv_heads, S, D))
    numpy.save(folder / "vg.npy", normal(7, B, kv_heads, S, D_V))
    close(attend(folder, k="kg.npy", v="vg.npy"), attention(*arrays(folder, "kg.npy", "vg.npy"))[1])


@pytest.mark.parametrize("leading", [(), (H,), (B, H)])
def test_batch_and_heads_may_be_absent(folder, leading):
    q, k, v = normal(8, *leading, T, D), normal(9, *leading, S, D), normal(10, *leading, S, D_V)
    for name, array in (("a.npy", q), ("b.npy", k), ("c.npy", v)):
        numpy.save(folder / name, array)
    y = attend(folder, q="a.npy", k="b.npy", v="c.npy")
    assert y.shape == (*leading, T, D_V)
    four = [x.reshape((1,) * (4 - x.ndim) + x.shape) for x in (q, k, v)]
    close(y.reshape(four[0].shape[:3] + (D_V,)), attention(*four)[1])


@pytest.mark.parametrize("batch", [(), (B,)])
def test_heads_may_lie_side_by_side(folder, batch):
    q, k, v = normal(11, *batch, T, H * D), normal(12, *batch, S, 2 * D), normal(13, *batch, S, 2 * D_V)
    for name, array in (("a.npy", q), ("b.npy", k), ("c.npy", v)):
        numpy.save(folder / name, array)

    def split(x, heads):
        return x.reshape(-1, x.shape[-2], heads, x.shape[-1] // heads).swapaxes(1, 2)

    expected = attention(split(q, H), split(k, 2), split(v, 2))[1].swapaxes(1, 2).reshape(*batch, T, H * D_V)
    options = ("--heads", H, "--kv-heads", 2)
    close(attend(folder, *options, q="a.npy", k="b.npy", v="c.npy"), expected)


@pytest.mark.parametrize(
    ("options", "offset"),
    [
        ((), 0),
        (("--causal-align", "offset"), 0),
        (("--causal-align", "top-left"), 0),
        (("--causal-align", "bottom-right"), S - T),
    ],
)
def test_causal_alignment_is_a_choice(folder, options, offset):
    close(attend(folder, "--causal", *options), attention(*arrays(folder), seen=band(T, S, offset, right=0))[1])


def test_an_input_is_not_replaced(tmp_path):
    numpy.save(tmp_path / "x.npy", normal(1, 2, 3, 4))
    (tmp_path / "link.npy").symlink_to("x.npy")
    before = (tmp_path / "x.npy").read_bytes()
    for output in ("x.npy", "link.npy", "./x.npy"):
        done = run("attend", "-q", "x.npy", "-k", "x.npy", "-v", "x.npy", "-o", output, cwd=tmp_path)
        assert_fails(done, 2, f"-o: got '{output}', which is also read; allowed: another file")
    assert (tmp_path / "x.npy").read_bytes() == before


@pytest.mark.parametrize(("text", "left", "right"), [("1", 1, 1), ("2,0", 2, 0), ("-1,1", -1, 1), ("0,-1", 0, -1)])
def test_a_window_looks_back_and_ahead(folder, text, left, right):
    close(attend(folder, "--window", text), attention(*arrays(folder), seen=band(T, S, 0, left, right))[1])


@pytest.mark.parametrize("shape", [(S,), (T, S), (1, S), (T, 1, S)[1:], (H, T, S), (H, 1, S), (B, 1, T, S), (B, H, T, S)])
def test_masks_broadcast_from_the_right(folder, shape):
    seen = numpy.random.default_rng(20).random(shape) < 0.6
    numpy.save(folder / "mask.npy", seen)
    close(attend(folder, "--mask", "mask.npy"), attention(*arrays(folder), seen=seen)[1])
    bias = normal(21, *shape)
    numpy.save(folder / "mask.npy", bias)
    close(attend(folder, "--mask", "mask.npy"), attention(*arrays(folder), bias=bias)[1])


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("isa", ["auto", "portable"])
def test_a_mask_of_integers_is_added(folder, dtype, isa):
    """As the operator of ONNX adds it, whose schema allows every numeric type."""
    for shape in ((T, S), (S,), (B, 1, T, S - 2)):
        bias = numpy.random.default_rng(22).integers(-3, 4, shape).astype(dtype)
        for numbers in (bias, bias.astype(bias.dtype.newbyteorder(">")), numpy.asfortranarray(bias)):
            numpy.save(folder / "mask.npy", numbers)
            seen, added = numpy.arange(S) < shape[-1], numpy.zeros((B, H, T, S))
            added[..., : shape[-1]] += bias
            done = attend(folder, "--mask", "mask.npy", "--causal", "--isa", isa)
            close(done, attention(*arrays(folder), bias=added, seen=seen & band(T, S, right=0))[1])
    hidden = numpy.where(numpy.tri(T, S) > 0, 0, -(10**9)).astype(dtype)  # what 32 bits have in place of -inf
    numpy.save(folder / "mask.npy", hidden)
    close(attend(folder, "--mask", "mask.npy", "--isa", isa), attention(*arrays(folder), seen=band(T, S, right=0))[1])


@pytest.mark.parametrize("zero", ["0", "0.0", "-0", "0e5"])
def test_a_softcap_of_0_is_none(folder, zero):
    assert attend(folder, "--softcap", zero).tobytes() == attend(folder).tobytes() != attend(folder, "--softcap", "1").tobytes()
    done = run("attend", "-q", "q.npy", "-k", "k.npy", "-v", "v.npy", "--softcap", zero, "--show", "capped_scores", cwd=folder)
    assert_fails(done, 2, "--show capped_scores requires --softcap")


def test_a_mask_of_integers_in_float64_and_held_against_a_file(folder):
    bias = numpy.random.default_rng(23).integers(-3, 4, (H, T, S))
    numpy.save(folder / "mask.npy", bias)
    exact = attend(folder, "--mask", "mask.npy", "--out-dtype", "float64")
    close(exact, attention(*arrays(folder), bias=bias)[1], 1e-12, 1e-13)
    numpy.save(folder / "twice.npy", attention(*arrays(folder), bias=2 * bias)[1].astype("float32"))
    done = run("attend", "-q", "q.npy", "-k", "k.npy", "-v", "v.npy", "--mask", "mask.npy", "--against", "twice.npy", "--json", cwd=folder)
    assert done.code == 1 and [["mask-twice"]] == [named["mistakes"] for named in done.json["named"]]


def test_a_short_mask_hides_the_keys_beyond_it(folder):
    numpy.save(folder / "mask.npy", numpy.ones((T, 3), bool))
    close(attend(folder, "--mask", "mask.npy"), attention(*arrays(folder), seen=numpy.arange(S) < 3)[1])


def test_masks_windows_and_causal_combine(folder):
    seen = numpy.random.default_rng(22).random((T, S)) < 0.8
    numpy.save(folder / "mask.npy", seen)
    y = attend(folder, "--mask", "mask.npy", "--causal", "--window", "2,5")
    close(y, attention(*arrays(folder), seen=seen & band(T, S, 0, 2, 0))[1])


def test_masked_keys_contribute_nothing_even_when_they_are_not_finite(folder):
    q, k, v = arrays(folder)
    expected = attend(folder, "--causal", "--isa", "portable")  # which computes whatever is not finite
    k[..., T:, :], v[..., T:, :] = numpy.nan, numpy.inf
    numpy.save(folder / "b.npy", k)
    numpy.save(folder / "c.npy", v)
    done = run("attend", "-q", "q.npy", "-k", "b.npy", "-v", "c.npy", "--causal", "--allow-nonfinite", "-o", "y.npy", cwd=folder)
    assert done.code == 0
    assert numpy.array_equal(numpy.load(folder / "y.npy"), expected)


@pytest.mark.parametrize("isa", [(), ("--isa", "portable")])
@pytest.mark.parametrize("softmax", [(), ("--softmax-dtype", "float16")])
def test_a_masked_weight_is_exactly_zero_also_of_a_query_that_is_nan(folder, isa, softmax):
    q = arrays(folder)[0]
    q[0, 1, 2, 0] = numpy.nan
    numpy.save(folder / "nan.npy", q)
    options = ("--causal", "--allow-nonfinite", "--show", "weights,context", "-o", "nan.npz", *isa, *softmax)
    succeeds("attend", "-q", "nan.npy", "-k", "k.npy", "-v", "v.npy", *options, cwd=folder)
    with numpy.load(folder / "nan.npz") as stages:
        weights, context = stages["weights"], stages["context"]
    assert numpy.isnan(weights[0, 1, 2, :3]).all() and (weights[0, 1, 2, 3:] == 0).all()
    others = numpy.ones((B, H, T), bool)
    others[0, 1, 2] = False
    assert numpy.isnan(context[0, 1, 2]).all() and numpy.isfinite(context[others]).all() and numpy.isfinite(weights[others]).all()


def test_lengths_hide_keys_and_move_the_diagonal(folder):
    lengths = numpy.array([6, 3])
    numpy.save(folder / "lengths.npy", lengths)
    valid = numpy.arange(S) < lengths[:, None, None, None]
    close(attend(folder, "--lengths", "lengths.npy"), attention(*arrays(folder), seen=valid)[1])
    causal = numpy.stack([band(T, S, length - T, right=0) for length in lengths])[:, None]
    close(attend(folder, "--lengths", "lengths.npy", "--causal"), attention(*arrays(folder), seen=valid & causal)[1])


def test_a_cache_comes_before_the_new_keys(folder):
    q, k, v = arrays(folder)
    past = {"key": normal(30, B, H, 3, D), "value": normal(31, B, H, 3, D_V)}
    numpy.savez(folder / "past.npz", **past)
    joined = [numpy.concatenate(pair, axis=2) for pair in ((past["key"], k), (past["value"], v))]
    options = ("--past-key", "past.npz:key", "--past-value", "past.npz:value", "--causal")
    close(attend(folder, *options), attention(q, *joined, seen=band(T, S + 3, 3, right=0))[1])
    succeeds("attend", "-q", "q.npy", "-k", "k.npy", "-v", "v.npy", *options, "--show", "present_key,present_value", "-o", "p.npz",
             cwd=folder)
    with numpy.load(folder / "p.npz") as present:
        assert numpy.array_equal(present["present_key"], joined[0])
        assert numpy.array_equal(present["present_value"], joined[1])


@pytest.mark.parametrize(("option", "scale"), [("0.3", 0.3), ("none", 1), ("-1", -1), ("0", 0)])
def test_the_scale_is_an_option(folder, option, scale):
    close(attend(folder, "--scale", option), attention(*arrays(folder), scale=scale)[1])


def test_the_softcap_comes_after_the_scale_and_before_the_mask(folder):
    seen = numpy.random.default_rng(23).random((T, S)) < 0.7
    numpy.save(folder / "mask.npy", seen)
    y = attend(folder, "--softcap", "1.5", "--mask", "mask.npy", "--scale", "2")
    close(y, attention(*arrays(folder), seen=seen, scale=2, cap=1.5)[1])


def test_an_empty_row_gives_zeros_or_nan(folder):
    seen = numpy.ones((T, S), bool)
    seen[2] = False
    numpy.save(folder / "mask.npy", seen)
    zeros = attend(folder, "--mask", "mask.npy")
    assert not zeros[:, :, 2].any() and zeros[:, :, 1].any()
    nans = attend(folder, "--mask", "mask.npy", "--empty-rows", "nan")
    assert numpy.isnan(nans[:, :, 2]).all()
    assert numpy.array_equal(numpy.delete(nans, 2, 2), numpy.delete(zeros, 2, 2))


def test_the_softmax_can_be_rounded_to_another_type(folder):
    exact, coarse = attend(folder), attend(folder, "--softmax-dtype", "bfloat16")
    assert 1e-4 < abs(exact - coarse).max() < 3e-2
    assert numpy.array_equal(attend(folder, "--softmax-dtype", "float32"), exact)


@pytest.mark.parametrize(("dtype", "rtol", "atol"), [("float16", 1e-3, 1e-3), ("float32", 2e-5, 2e-6), ("float64", 1e-12, 1e-13)])
def test_the_result_has_the_type_of_the_queries(folder, dtype, rtol, atol):
    for name in ("q", "k", "v"):
        numpy.save(folder / f"{name}-{dtype}.npy", numpy.load(folder / f"{name}.npy").astype(dtype))
    names = {name: f"{name}-{dtype}.npy" for name in ("q", "k", "v")}
    y = attend(folder, **names)
    assert y.dtype == dtype
    close(y, attention(*(numpy.load(folder / name) for name in names.values()))[1], rtol, atol)


def test_float16_is_computed_in_float32_and_rounded_once(folder):
    half = {name: numpy.load(folder / f"{name}.npy").astype("float16") for name in ("q", "k", "v")}
    for name, array in half.items():
        numpy.save(folder / f"h{name}.npy", array)
        numpy.save(folder / f"s{name}.npy", array.astype("float32"))
    single = attend(folder, q="sq.npy", k="sk.npy", v="sv.npy")
    assert numpy.array_equal(attend(folder, q="hq.npy", k="hk.npy", v="hv.npy"), single.astype("float16"))


def test_bfloat16_comes_from_and_goes_to_safetensors(folder):
    q, k, v = arrays(folder)
    save_safetensors(folder / "b.safetensors", {"q": q, "k": k, "v": v}, bfloat16="qkv")
    names = ("-q", "b.safetensors:q", "-k", "b.safetensors:k", "-v", "b.safetensors:v")
    succeeds("attend", *names, "-o", "y.safetensors", cwd=folder)
    result, _ = load_safetensors(folder / "y.safetensors")
    cut = [x for x in load_safetensors(folder / "b.safetensors")[0].values()]
    close(result["context"], attention(*cut)[1], 1e-2, 1e-2)
    assert succeeds("attend", *names, cwd=folder).json["dtype"] == "bfloat16"


@pytest.fixture(scope="module")
def halves(tmp_path_factory):
    """q, k, v of bfloat16 in one .safetensors, in one .npz and in .npy, as ml_dtypes stores it: two bytes that NumPy calls V2."""
    path = tmp_path_factory.mktemp("halves")
    exact = dict(zip("qkv", (normal(1, B, H, T, D), normal(2, B, H, S, D), normal(3, B, H, S, D))))
    save_safetensors(path / "t.safetensors", exact, bfloat16="qkv")
    voids = {name: to_bfloat16(array).view("V2") for name, array in exact.items()}
    for name, array in voids.items():
        numpy.save(path / f"{name}.npy", array)
    numpy.savez(path / "t.npz", **voids, ids=numpy.int64([1]))
    numpy.savez(path / "one.npz", q=voids["q"])
    return path


FROM_SAFETENSORS = ("-q", "t.safetensors:q", "-k", "t.safetensors:k", "-v", "t.safetensors:v")
SAID = [
    ("-q", "q.npy:bfloat16", "-k", "k.npy:bfloat16", "-v", "v.npy:bfloat16"),
    ("-q", "t.npz:q:bfloat16", "-k", "t.npz:k:bfloat16", "-v", "t.npz:v:bfloat16"),
    ("-q", "one.npz:bfloat16", "-k", "t.safetensors:k", "-v", "v.npy:bfloat16"),
]


@pytest.mark.parametrize("files", SAID)
def test_bfloat16_of_npy_and_npz_is_what_is_said_to_be(halves, files):
    expected = succeeds("attend", *FROM_SAFETENSORS, "--causal", "--json", cwd=halves)
    assert succeeds("attend", *files, "--causal", "--json", cwd=halves).out == expected.out
    assert expected.json["dtype"] == "bfloat16"


def test_two_bytes_of_no_type_are_refused_with_what_to_type(halves):
    for q, name in (("q.npy", "'q.npy'"), ("t.npz:q", "'q' in 't.npz'")):
        error = f"{name}: element type: got '|V2', two bytes without a type; allowed: FILE:bfloat16 or FILE:NAME:bfloat16, if they are bfloat16"
        assert_fails(run("attend", "-q", q, *FROM_SAFETENSORS[2:], cwd=halves), 65, error)
    for q, error in (("t.npz:bfloat16", "tensor of 't.npz': got no name"), ("t.npz:ids:bfloat16", "bfloat16 for a tensor of type '<i8'"),
                     ("t.npz:x:bfloat16", "tensor of 't.npz': got 'x'"), ("t.safetensors:q:bfloat16", "got 'q:bfloat16'"),
                     ("q.npy:float16", "got the name 'float16'")):
        assert_fails(run("attend", "-q", q, *FROM_SAFETENSORS[2:], cwd=halves), 65, error)


def test_bfloat16_goes_to_npy_and_npz_as_ml_dtypes_stores_it(halves):
    shown = ("--show", "scores,weights,context")
    succeeds("attend", *FROM_SAFETENSORS, *shown, "-o", "y.safetensors", cwd=halves)
    succeeds("attend", *FROM_SAFETENSORS, *shown, "-o", "y.npz", cwd=halves)
    succeeds("attend", *FROM_SAFETENSORS, "-o", "y.npy", cwd=halves)
    assert b"'descr': '<V2'" in (halves / "y.npy").read_bytes()
    expected, _ = load_safetensors(halves / "y.safetensors")
    with numpy.load(halves / "y.npz") as stages:
        for name, array in {**stages, "context": numpy.load(halves / "y.npy")}.items():
            assert array.dtype == "V2" and numpy.array_equal(from_bfloat16(array.view("<u2")), expected[name])
    for one, other in (("y.npy:bfloat16", "y.safetensors:context"), ("y.npz:bfloat16", "y.safetensors"), ("y.npz:weights:bfloat16", "y.safetensors:weights")):
        assert succeeds("compare", one, other, cwd=halves).code == 0
    assert_fails(run("compare", "y.npz", "y.safetensors", cwd=halves), 65, "'<V2', two bytes without a type")
    assert succeeds("attend", *FROM_SAFETENSORS, "--against", "y.npy:bfloat16", cwd=halves).text.startswith("y.npy:bfloat16 agrees: ")
    drawn = ("--batch", "1", "--format", "table")
    assert succeeds("plot", "y.npz:weights:bfloat16", *drawn, cwd=halves).out == succeeds("plot", "y.safetensors:weights", *drawn, cwd=halves).out


def test_an_input_that_is_suggested_says_that_it_is_bfloat16(halves):
    succeeds("attend", *FROM_SAFETENSORS, "-o", "mine.npy", cwd=halves)
    tied = ("--window", "3,6", "--against", "mine.npy:bfloat16", "--suggest-input", "tie.npz")  # which hides one key
    done = run("attend", *FROM_SAFETENSORS, *tied, cwd=halves)
    command = next(line.split() for line in done.text.splitlines() if "tie.npz:queries:bfloat16" in line)
    assert succeeds(*command[1:-2], "--json", cwd=halves).json["dtype"] == "bfloat16"


def test_any_number_of_threads_gives_the_same_bytes(folder):
    assert attend(folder, "--causal", "--threads", 1).tobytes() == attend(folder, "--causal", "--threads", 3).tobytes()


# ---- stages ----------------------------------------------------------------------------------------------------------


def test_every_stage_can_be_shown(folder):
    numpy.save(folder / "mask.npy", normal(24, T, S))
    options = ("--softcap", "2", "--mask", "mask.npy", "--show", "all", "-o", "stages.npz")
    succeeds("attend", "-q", "q.npy", "-k", "k.npy", "-v", "v.npy", *options, cwd=folder)
    with numpy.load(folder / "stages.npz") as stages:
        names = ["scores", "scaled_scores", "capped_scores", "masked_scores", "weights", "context", "entropy", "lse"]
        assert stages.files == names
        q, k, v = arrays(folder)
        close(stages["scores"], q.astype("float64") @ k.swapaxes(-1, -2), atol=1e-5)
        close(stages["scaled_scores"], stages["scores"] / D**0.5)
        close(stages["capped_scores"], 2 * numpy.tanh(stages["scaled_scores"] / 2))
        close(stages["masked_scores"], stages["capped_scores"] + normal(24, T, S))
        weights, context = attention(q, k, v, bias=normal(24, T, S), cap=2)
        close(stages["weights"], weights)
        close(stages["context"], context)
        close(stages["entropy"], -(weights * numpy.log(weights)).sum(-1))


def test_stages_of_json_are_objects_with_names_one_a_line(folder):
    show = ("--causal", "--show", "masked_scores,weights")
    first, second = succeeds("attend", "-q", "q.npy", "-k", "k.npy", "-v", "v.npy", *show, cwd=folder).json_lines
    assert (first["name"], second["name"]) == ("masked_scores", "weights")
    assert first["data"][0][0][0][1:] == [None] * (S - 1) and second["data"][0][0][0] == [1.0] + [0.0] * (S - 1)


def test_json_fits_its_schema(folder):
    jsonschema = pytest.importorskip("jsonschema")
    schema = succeeds("schema", "tensor").json
    done = succeeds("attend", "-q", "q.npy", "-k", "k.npy", "-v", "v.npy", "--causal", "--show", "all", cwd=folder)
    for line in done.json_lines:
        jsonschema.Draft202012Validator(schema).validate(line)


def test_an_npy_holds_one_stage(folder):
    fails(folder, 2, options=["--show", "scores,weights", "-o", "y3.npy"])
    assert attend(folder, "--show", "weights").shape == (B, H, T, S)


# ---- what cannot be --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("value", "text"), [(numpy.nan, "nan"), (numpy.inf, "inf"), (-numpy.inf, "-inf")])
def test_what_is_not_finite_is_bad_data_with_tensor_and_index(folder, value, text):
    for name in ("q", "k", "v"):
        array = numpy.load(folder / f"{name}.npy")
        array[1, 2, 3, 4] = value
        numpy.save(folder / "bad.npy", array)
        fails(folder, 65, **{name: "bad.npy"})


def test_a_mask_holds_numbers_or_minus_infinity(folder):
    for value in (numpy.nan, numpy.inf):
        mask = numpy.full((T, S), -numpy.inf)
        mask[:, 0] = 0
        numpy.save(folder / "mask.npy", mask)
        attend(folder, "--mask", "mask.npy")
        mask[4, 1] = value
        numpy.save(folder / "mask.npy", mask)
        fails(folder, 65, options=["--mask", "mask.npy"])


def test_an_overflow_is_a_warning(folder):
    numpy.save(folder / "large.npy", numpy.full((T, D), 3e38, "float32"))
    done = run("attend", "-q", "large.npy", "-k", "large.npy", "-v", "large.npy", cwd=folder)
    assert done.code == 0 and done.message.count("warning: ") == 1
    json.loads(done.out)


def test_scores_that_overflow_share_the_row_and_float64_tells_them_apart(folder):
    for name, rows in (("one", [[1e20]]), ("two", [[1e20], [2e20], [1]]), ("values", [[1], [2], [3]])):
        numpy.save(folder / f"{name}.npy", numpy.float32(rows))
        numpy.save(folder / f"{name}64.npy", numpy.float64(rows))
    options = ("--show", "weights,context", "-o", "shared.npz")
    for size, weights, context in (("", [0.5, 0.5, 0], 1.5), ("64", [0, 1, 0], 2)):
        done = run("attend", "-q", f"one{size}.npy", "-k", f"two{size}.npy", "-v", f"values{size}.npy", *options, cwd=folder)
        assert done.code == 0 and (done.err != b"") == (size == "")
        with numpy.load(folder / "shared.npz") as stages:
            assert stages["weights"].tolist() == [weights] and stages["context"].tolist() == [[context]]


def test_what_does_not_fit_in_memory_is_refused_before_it_begins(tmp_path):
    numpy.save(tmp_path / "x.npy", numpy.zeros((3_000_000, 1), "float16"))
    assert_fails(run("attend", "-q", "x.npy", "-k", "x.npy", "-v", "x.npy", "--show", "weights", cwd=tmp_path), 71, "bytes")


def test_verbose_tells_shapes_and_times(folder):
    done = run("attend", "-q", "q.npy", "-k", "k.npy", "-v", "v.npy", "--verbose", cwd=folder)
    lines = done.message.splitlines()
    assert lines[0] == "attn-cli: debug: queries float32 (2, 4, 5, 8)"
    assert any(line.startswith("attn-cli: debug: attention (2, 4, 5, 7) ") and line.endswith(" ms") for line in lines)
    assert done.out == succeeds("attend", "-q", "q.npy", "-k", "k.npy", "-v", "v.npy", cwd=folder).out
