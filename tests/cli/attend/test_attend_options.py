"""`attend`: log-sum-exp, sinks, segments, packed sequences, ALiBi, layouts and types. What they compute is held against loops in
tests/oracle/attend_options.py; here, what they promise beside the numbers."""

import json

import pytest
from program import SENTENCE, assert_fails, run, succeeds
from tensors import attention, band, close, load_safetensors, normal, numpy, save_safetensors

B, H, H_KV, T, S, D, D_V = 2, 6, 2, 5, 7, 8, 6
CU, CU_K = [0, 3, 3, 70, 80], [0, 90, 95, 100, 101]  # beyond a tile, and without queries
TYPES = ["float16", "float32", "float64"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("attend")
    files = {"q": normal(1, B, H, T, D), "k": normal(2, B, H_KV, S, D), "v": normal(3, B, H_KV, S, D_V)}
    files |= {"pq": normal(4, CU[-1], H, D), "pk": normal(5, CU_K[-1], H_KV, D), "pv": normal(6, CU_K[-1], H_KV, D_V)}
    files |= {"past_k": normal(7, B, H_KV, 3, D), "past_v": normal(8, B, H_KV, 3, D_V), "sinks": normal(9, H)}
    files |= {"cu": numpy.int32(CU), "cu_k": numpy.int64(CU_K)}
    for name, array in files.items():
        numpy.save(path / f"{name}.npy", array)
    return path


def array(folder, name):
    return numpy.load(folder / f"{name}.npy")


def stages(folder, *options, names=("q", "k", "v"), show="context"):
    files = [part for option, name in zip("qkv", names) for part in (f"-{option}", f"{name}.npy")]
    succeeds("attend", *files, "--show", show, "-o", "out.npz", *options, cwd=folder)
    with numpy.load(folder / "out.npz") as out:
        return {name: out[name] for name in out.files}


def context(folder, *options, names=("q", "k", "v")):
    return stages(folder, *options, names=names)["context"]


def same(one, other):
    return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()


# ---- log-sum-exp -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [(), ("--causal",), ("--softcap", "2"), ("--sinks", "sinks.npy"), ("--out-dtype", "float64")])
def test_lse_makes_weights_of_the_scores_and_needs_no_other_stage(folder, options):
    scores = "masked_scores" if "--causal" in options else "capped_scores" if "--softcap" in options else "scaled_scores"
    all_of_it = stages(folder, *options, show=f"{scores},weights,lse")
    assert all_of_it["lse"].shape == (B, H, T)
    close(numpy.exp(all_of_it[scores] - all_of_it["lse"][..., None]), all_of_it["weights"])
    assert same(stages(folder, *options, show="lse")["lse"], all_of_it["lse"])
    assert same(stages(folder, *options, show="lse,context")["lse"], all_of_it["lse"])


def test_lse_of_a_row_without_keys_is_minus_infinity_in_files_and_json(folder):
    numpy.save(folder / "none.npy", numpy.arange(T)[:, None] != 2 + numpy.zeros((T, S)))
    for isa in ("auto", "portable"):
        lse = stages(folder, "--mask", "none.npy", "--isa", isa, "--empty-rows", "nan", show="lse")["lse"]
        assert (lse[:, :, 2] == -numpy.inf).all() and numpy.isfinite(numpy.delete(lse, 2, 2)).all()
    done = succeeds("attend", "-q", "q.npy", "-k", "k.npy", "-v", "v.npy", "--mask", "none.npy", "--show", "lse", cwd=folder)
    assert done.json["data"][0][0][2] == "-inf"


def test_lse_can_be_compared(folder):
    options = ("-q", "q.npy", "-k", "k.npy", "-v", "v.npy", "--show", "lse")
    for name in ("a.npy", "a.npz", "a.safetensors", "a.json"):
        succeeds("attend", *options, "-o", name, cwd=folder)
        assert succeeds("attend", *options, "--against", name, cwd=folder).code == 0
    succeeds("compare", "a.npz", "a.safetensors", cwd=folder)
    numpy.save(folder / "a.npy", array(folder, "a") + 1)
    done = run("attend", *options, "--against", "a.npy", cwd=folder)
    assert (done.code, done.text.splitlines()[0]) == (1, f"differs: {B * H * T} of {B * H * T}, largest difference 1.00")


def test_run_has_lse_too_and_check_recomputes_it(tmp_path):
    shown = ("--show", "masked_scores,weights,lse", "--json", "-o", "saved.json")
    succeeds("run", SENTENCE, "--causal", "--heads", "2", *shown, cwd=tmp_path)
    saved = json.loads((tmp_path / "saved.json").read_text())
    scores = numpy.array(saved["masked_scores"], float)  # null, where masked, is NaN
    close(numpy.nan_to_num(numpy.exp(scores - numpy.array(saved["lse"])[..., None])), numpy.array(saved["weights"]))
    assert run("check", "saved.json", cwd=tmp_path).code == 0
    saved["lse"][1][2] += 0.001
    (tmp_path / "saved.json").write_text(json.dumps(saved))
    done = run("check", "saved.json", cwd=tmp_path)
    assert done.code == 1 and "lse" in done.text


# ---- sinks -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("isa", ["auto", "portable"])
def test_a_sink_takes_its_share_also_of_a_row_without_keys(folder, isa):
    shown = "weights,context,entropy,lse"
    with_sinks = stages(folder, "--sinks", "sinks.npy", "--isa", isa, show=shown)
    without = stages(folder, "--isa", isa, show=shown)
    share = 1 / (1 + numpy.exp(array(folder, "sinks")[:, None] - without["lse"]))
    assert (with_sinks["weights"].sum(-1) < 0.999).all()
    close(with_sinks["weights"], without["weights"] * share[..., None])
    close(with_sinks["context"], without["context"] * share[..., None])
    close(with_sinks["entropy"], -(with_sinks["weights"] * numpy.log(with_sinks["weights"])).sum(-1))
    numpy.save(folder / "hidden.npy", numpy.zeros((1, S), bool))
    hidden = stages(folder, "--sinks", "sinks.npy", "--mask", "hidden.npy", "--isa", isa, "--empty-rows", "nan", show=shown)
    assert not hidden["weights"].any() and not hidden["context"].any()
    close(hidden["lse"], numpy.broadcast_to(array(folder, "sinks")[:, None], (B, H, T)))


@pytest.mark.parametrize("isa", ["auto", "portable"])
def test_a_sink_of_minus_infinity_is_none(folder, isa):
    numpy.save(folder / "no_sinks.npy", numpy.full(H, -numpy.inf, "float16"))
    close(context(folder, "--sinks", "no_sinks.npy", "--isa", isa), context(folder, "--isa", isa), 1e-6, 1e-7)
    numpy.save(folder / "hidden.npy", numpy.zeros((1, S), bool))
    given = ("--sinks", "no_sinks.npy", "--mask", "hidden.npy", "--isa", isa)
    assert not context(folder, *given).any() and numpy.isnan(context(folder, *given, "--empty-rows", "nan")).all()


# ---- packed sequences and segments -----------------------------------------------------------------------------------------

PACKED = ("pq", "pk", "pv")


@pytest.mark.parametrize("isa", ["auto", "portable"])
@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--causal",),
        ("--causal", "--causal-align", "bottom-right"),
        ("--window", "4,1", "--alibi", "--sinks", "sinks.npy"),
        ("--softcap", "3", "--out-dtype", "float64"),
    ],
)
def test_a_packed_sequence_gives_the_bytes_that_it_gives_alone(folder, options, isa):
    options = (*options, "--isa", isa)
    packed = stages(folder, "--cu-seqlens", "cu.npy", "--cu-seqlens-k", "cu_k.npy", *options, names=PACKED, show="context,entropy,lse")
    assert packed["context"].shape == (CU[-1], H, D_V) and packed["lse"].shape == packed["entropy"].shape == (H, CU[-1])
    for begin, end, first, last in zip(CU, CU[1:], CU_K, CU_K[1:]):
        if begin == end:
            continue
        for name, one, from_, to in (("aq", "pq", begin, end), ("ak", "pk", first, last), ("av", "pv", first, last)):
            numpy.save(folder / f"{name}.npy", array(folder, one)[from_:to])
        alone = stages(folder, "--layout", "bshd", *options, names=("aq", "ak", "av"), show="context,entropy,lse")
        assert same(packed["context"][begin:end], alone["context"])
        for stage in ("entropy", "lse"):
            assert same(numpy.ascontiguousarray(packed[stage][:, begin:end]), alone[stage])


def test_packed_sequences_of_one_length_need_one_file_and_are_those_of_segments(folder):
    packed = ("pq", "tk", "tv")
    numpy.save(folder / "tk.npy", array(folder, "pk")[: CU[-1]])
    numpy.save(folder / "tv.npy", array(folder, "pv")[: CU[-1]])
    numpy.save(folder / "segments.npy", numpy.repeat([7, 5, -1], [3, 67, 10]))
    whole = ("--layout", "bshd", "--segments", "segments.npy")
    for options in ((), ("--causal", "--alibi"), ("--window", "2,2")):
        of_segments = context(folder, *whole, *options, names=packed)
        close(context(folder, "--cu-seqlens", "cu.npy", *options, names=packed), of_segments)
    seen = numpy.subtract.outer(*[numpy.load(folder / "segments.npy")] * 2) == 0
    q, k, v = (array(folder, name).swapaxes(0, 1)[None] for name in packed)
    close(context(folder, *whole, names=packed), attention(q, k, v, seen=seen)[1][0].swapaxes(0, 1))


def test_no_packed_sequences_give_an_empty_result(folder):
    numpy.save(folder / "cu0.npy", numpy.int64([0]))
    for name, heads, size in (("eq", H, D), ("ek", H_KV, D), ("ev", H_KV, D_V)):
        numpy.save(folder / f"{name}.npy", numpy.zeros((0, heads, size), "float32"))
    assert context(folder, "--cu-seqlens", "cu0.npy", names=("eq", "ek", "ev")).shape == (0, H, D_V)


def test_all_shows_what_there_is_of_packed_sequences(folder):
    shown = stages(folder, "--cu-seqlens", "cu.npy", "--cu-seqlens-k", "cu_k.npy", "--causal", names=PACKED, show="all")
    assert list(shown) == ["context", "entropy", "lse"]


@pytest.mark.parametrize("labels", [[0, 0, 1, 1, 1, 1, 2], [3, 1, 3, 1, 3, 1, 1], [[5, 5, 5, 5, 5, 5, 5], [1, 2, 1, 2, 2, 2, 1]]])
@pytest.mark.parametrize("isa", ["auto", "portable"])
def test_a_query_sees_the_segment_of_the_key_at_its_place(folder, labels, isa):
    numpy.save(folder / "labels.npy", numpy.int32(labels))
    labels = numpy.broadcast_to(labels, (B, S))
    for align, offset in (("top-left", 0), ("bottom-right", S - T)):
        seen = labels[:, None, offset : offset + T, None] == labels[:, None, None, :]
        y = context(folder, "--segments", "labels.npy", "--causal-align", align, "--isa", isa)
        close(y, attention(array(folder, "q"), array(folder, "k"), array(folder, "v"), seen=seen)[1])


# ---- ALiBi, layouts, types -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("heads", [1, 2, 3, 6, 8, 12, 20])
def test_slopes_are_those_of_the_paper(folder, heads):
    slopes = {1: [1 / 256], 2: [1 / 16, 1 / 256], 3: [1 / 16, 1 / 256, 1 / 4], 8: [2.0**-i for i in range(1, 9)]}
    slopes[6] = [1 / 4, 1 / 16, 1 / 64, 1 / 256, 1 / 2, 1 / 8]
    slopes[12] = slopes[8] + [2.0 ** -(i / 2) for i in (1, 3, 5, 7)]
    slopes[20] = [2.0 ** -(i / 2) for i in range(1, 17)] + [2.0 ** -(i / 4) for i in (1, 3, 5, 7)]
    numpy.save(folder / "zero.npy", numpy.zeros((heads, T, 1), "float32"))
    numpy.save(folder / "zero_k.npy", numpy.zeros((heads, S, 1), "float32"))
    given = stages(folder, "--alibi", names=("zero", "zero_k", "zero_k"), show="masked_scores")["masked_scores"]
    distance = abs(numpy.subtract.outer(numpy.arange(T), numpy.arange(S)))
    close(given, -numpy.multiply.outer(slopes[heads], distance), 1e-7, 0)


SLOPES = {"(H)": [0.5, 0.25, 0.1, 0, -0.3, 2], "(B, H)": [[0.5, 0.25, 0.1, 0, -0.3, 2], [1, 0.2, 0.7, 0.03, 0.4, 0.9]]}


@pytest.mark.parametrize("isa", ["auto", "portable"])
@pytest.mark.parametrize("shape", SLOPES)
@pytest.mark.parametrize("options, offset, right", [((), 0, -1), (("--causal", "--causal-align", "bottom-right"), S - T, 0)])
def test_slopes_of_a_file_are_taken_times_the_distance(folder, shape, isa, options, offset, right):
    numpy.save(folder / "slopes.npy", numpy.float32(SLOPES[shape]))
    distance = abs(numpy.arange(T)[:, None] + offset - numpy.arange(S))
    bias = -numpy.broadcast_to(SLOPES[shape], (B, H))[..., None, None] * distance
    weights, expected = attention(*(array(folder, x) for x in "qkv"), bias=bias, seen=band(T, S, offset, right=right))
    given = stages(folder, *options, "--alibi-slopes", "slopes.npy", "--isa", isa, show="masked_scores,weights,context")
    close(given["weights"], weights)
    close(given["context"], expected)
    for name in ("q", "k", "v"):  # of the other byte order: one key/value head after the other is converted
        numpy.save(folder / f"other_{name}.npy", array(folder, name).astype(">f4"))
    assert same(context(folder, *options, "--alibi-slopes", "slopes.npy", "--isa", isa, names=("other_q", "other_k", "other_v")), given["context"])


@pytest.mark.parametrize("isa", ["auto", "portable"])
def test_the_paper_s_slopes_from_a_file_are_those_of_alibi(folder, isa):
    slopes = numpy.float64([2.0**-i for i in (2, 4, 6, 8, 1, 3)])
    shown = ("--causal", "--isa", isa)
    expected = context(folder, *shown, "--alibi")
    for shape in (slopes, numpy.tile(slopes, (B, 1))):
        numpy.save(folder / "slopes.npy", shape)
        assert same(context(folder, *shown, "--alibi-slopes", "slopes.npy"), expected)


@pytest.mark.parametrize("isa", ["auto", "portable"])
def test_each_packed_sequence_may_have_slopes_of_its_own(folder, isa):
    rows = numpy.random.default_rng(3).random((len(CU) - 1, H))
    numpy.save(folder / "rows.npy", rows)
    packed = ("--cu-seqlens", "cu.npy", "--cu-seqlens-k", "cu_k.npy", "--isa", isa)
    whole = context(folder, *packed, "--alibi-slopes", "rows.npy", names=PACKED)
    for row, begin, end in zip(rows, CU, CU[1:]):
        numpy.save(folder / "row.npy", row)
        assert same(context(folder, *packed, "--alibi-slopes", "row.npy", names=PACKED)[begin:end], whole[begin:end])


def test_slopes_may_be_integers_and_need_no_causal_mask_to_be_shown(folder):
    numpy.save(folder / "whole.npy", numpy.int64([1, 0, 2, 3, 0, 1]))
    shown = stages(folder, "--alibi-slopes", "whole.npy", show="scaled_scores,masked_scores")
    close(shown["masked_scores"][0, 3] - shown["scaled_scores"][0, 3], -3.0 * abs(numpy.subtract.outer(numpy.arange(T), numpy.arange(S))), 1e-5, 1e-5)


@pytest.mark.parametrize("isa", ["auto", "portable"])
def test_steep_slopes_leave_each_query_its_own_key(folder, isa):
    for slope in (1e5, 1e30, 1e37):
        numpy.save(folder / "steep.npy", numpy.full(H, slope))
        weights = stages(folder, "--alibi-slopes", "steep.npy", "--isa", isa, show="weights")["weights"]
        assert (weights == numpy.eye(T, S)).all()


@pytest.mark.parametrize(
    "slopes, error",
    [
        (numpy.ones(H - 1), f"alibi_slopes: got the shape ({H - 1},); allowed: ({H},) or ({B}, {H}), one per query head"),
        (numpy.ones((B, H_KV)), "allowed: (6,) or (2, 6)"),
        (numpy.ones((1, H)), "allowed: (6,) or (2, 6)"),
        (numpy.full(H, numpy.nan), "alibi_slopes at (0,): got nan"),
        (numpy.full(H, -numpy.inf), "alibi_slopes at (0,): got -inf"),
        (numpy.full(H, 1e300), "1e+300"),
        (numpy.ones(H, bool), "bool"),
    ],
)
def test_slopes_that_are_none_are_refused(folder, slopes, error):
    numpy.save(folder / "bad.npy", slopes)
    assert_fails(run("attend", "-q", "q.npy", "-k", "k.npy", "-v", "v.npy", "--alibi-slopes", "bad.npy", cwd=folder), 65, error)


def test_the_paper_s_slopes_and_one_s_own_exclude_each_other(folder):
    numpy.save(folder / "slopes.npy", numpy.ones(H))
    done = run("attend", "-q", "q.npy", "-k", "k.npy", "-v", "v.npy", "--alibi", "--alibi-slopes", "slopes.npy", cwd=folder)
    assert_fails(done, 2, "--alibi", "--alibi-slopes", "cannot be used together")


@pytest.mark.parametrize("isa", ["auto", "portable"])
def test_bshd_is_the_same_numbers_in_another_order(folder, isa):
    options = ("--causal", "--alibi", "--isa", isa)
    shown = "context,weights,lse,present_key,present_value"
    cache = ("--past-key", "past_k.npy", "--past-value", "past_v.npy")
    expected = stages(folder, *options, *cache, show=shown)
    for name in ("q", "k", "v", "past_k", "past_v"):
        numpy.save(folder / f"s{name}.npy", array(folder, name).swapaxes(1, 2))
    swapped = ("--past-key", "spast_k.npy", "--past-value", "spast_v.npy", "--layout", "bshd")
    given = stages(folder, *options, *swapped, names=("sq", "sk", "sv"), show=shown)
    for stage, numbers in expected.items():
        order = numbers if stage in ("weights", "lse") else numpy.ascontiguousarray(numbers.swapaxes(1, 2))
        assert same(given[stage], order), stage
    one = stages(folder, *options, show="context")["context"][0]
    for name in ("q", "k", "v"):
        numpy.save(folder / f"s{name}.npy", array(folder, name)[0].swapaxes(0, 1))
    assert same(context(folder, *options, "--layout", "bshd", names=("sq", "sk", "sv")), numpy.ascontiguousarray(one.swapaxes(0, 1)))


def test_bshd_can_be_held_against_a_file_with_a_mistake(folder):
    for name in ("q", "k", "v"):
        numpy.save(folder / f"s{name}.npy", array(folder, name).swapaxes(1, 2))
    files = ("-q", "sq.npy", "-k", "sk.npy", "-v", "sv.npy", "--layout", "bshd")
    wrong = attention(array(folder, "q"), array(folder, "k"), array(folder, "v"), scale=1)[1]
    numpy.save(folder / "wrong.npy", wrong.swapaxes(1, 2).astype("float32"))
    done = run("attend", *files, "--against", "wrong.npy", cwd=folder)
    assert done.code == 1 and "scale" in done.text


@pytest.mark.parametrize("options, mistake", [(("--sinks", "sinks.npy"), "sink-missing"), (("--alibi",), "alibi-missing")])
def test_what_is_left_out_is_named(folder, options, mistake):
    numpy.save(folder / "wrong.npy", context(folder))
    files = ("-q", "q.npy", "-k", "k.npy", "-v", "v.npy")
    done = run("attend", *files, *options, "--against", "wrong.npy", "--json", cwd=folder)
    assert done.code == 1 and [candidate["mistakes"] for candidate in done.json["named"]] == [[mistake]]


def test_a_file_is_compared_without_a_diagnosis_where_no_mistake_is_known(folder):
    numpy.save(folder / "wrong.npy", context(folder) * 1.01)
    options = ("--weights-dtype", "bfloat16", "--against", "wrong.npy")
    done = run("attend", "-q", "q.npy", "-k", "k.npy", "-v", "v.npy", *options, cwd=folder)
    assert done.code == 1 and done.text.startswith("differs: ") and done.text.count("\n") == 1


OWN = numpy.float32([[0.5, 0.25], [0.1, 0.7]])


@pytest.mark.parametrize(
    "mistake, made",
    [
        ("alibi-missing", 0 * OWN), ("alibi-negated", -OWN), ("alibi-first-slope", OWN[:, :1].repeat(2, 1)),
        ("alibi-first-entry", OWN[:1].repeat(2, 0)), ("alibi-reversed", OWN[:, ::-1]),
    ],
)
def test_what_is_done_to_slopes_of_one_s_own_is_named(tmp_path, mistake, made):
    for seed, name in enumerate("qkv"):
        numpy.save(tmp_path / f"{name}.npy", normal(seed, 2, 2, 9, 4))
    numpy.save(tmp_path / "own.npy", OWN)
    numpy.save(tmp_path / "made.npy", made)
    call = ("attend", "-q", "q.npy", "-k", "k.npy", "-v", "v.npy", "--causal", "--alibi-slopes")
    succeeds(*call, "made.npy", "-o", "wrong.npy", cwd=tmp_path)
    done = run(*call, "own.npy", "--against", "wrong.npy", "--json", cwd=tmp_path)
    assert done.code == 1 and [mistake] in [candidate["mistakes"] for candidate in done.json["named"]], done.text
    names = {name for candidate in done.json["candidates"] for name in candidate["mistakes"]}
    assert "alibi-first-slope" in names and not names & {"alibi-slopes-late", "alibi-slopes-plain"}


def test_a_suggested_input_has_slopes_of_the_same_shape(tmp_path):
    for seed, name in enumerate("qkv"):
        numpy.save(tmp_path / f"{name}.npy", normal(seed, 2, 2, 5, 4))
    numpy.save(tmp_path / "own.npy", numpy.zeros((2, 2)))  # which tie whatever is done to them
    call = ("-q", "q.npy", "-k", "k.npy", "-v", "v.npy", "--alibi-slopes", "own.npy")
    succeeds("attend", *call, "--window", "4,5", "-o", "mine.npy", cwd=tmp_path)
    done = run("attend", *call, "--window", "3,5", "--against", "mine.npy", "--suggest-input", "tie.npz", cwd=tmp_path)
    assert done.code == 1 and "--alibi-slopes tie.npz:alibi_slopes" in done.text, done.text
    with numpy.load(tmp_path / "tie.npz") as tie:
        slopes = tie["alibi_slopes"]
        assert slopes.shape == (tie["queries"].shape[0], tie["queries"].shape[1]) and len(set(slopes.flat)) == slopes.size and (slopes > 0).all()
    command = next(line.split() for line in done.text.splitlines() if "tie.npz:queries" in line)
    succeeds(*command[1:-2], "-o", "right.npy", cwd=tmp_path)
    assert run(*command[1:-1], "right.npy", cwd=tmp_path).code == 0


def test_a_suggested_input_has_sinks_and_segments(tmp_path):
    for seed, name in enumerate("qkv"):
        numpy.save(tmp_path / f"{name}.npy", normal(seed, 2, 5, 4))
    numpy.save(tmp_path / "sinks.npy", numpy.float32([0.5, -1]))
    numpy.save(tmp_path / "segments.npy", numpy.int64([7] * 5))
    files = ("-q", "q.npy", "-k", "k.npy", "-v", "v.npy")
    own = ("--sinks", "sinks.npy", "--segments", "segments.npy")
    succeeds("attend", *files, *own, "-o", "mine.npy", cwd=tmp_path)
    done = run("attend", *files, *own, "--window", "3,5", "--against", "mine.npy", "--suggest-input", "tie.npz", cwd=tmp_path)
    assert done.code == 1 and "--sinks tie.npz:sinks --segments tie.npz:segments" in done.text, done.text
    command = next(line.split() for line in done.text.splitlines() if "tie.npz:queries" in line)
    succeeds(*command[1:-2], "-o", "right.npy", cwd=tmp_path)
    assert run(*command[1:-1], "right.npy", cwd=tmp_path).code == 0


@pytest.mark.parametrize("isa", ["portable", "auto"])
def test_the_log_sum_exp_of_half_precision_is_float32(isa, tmp_path):
    for name, array in zip("qkv", (numpy.full((1, 64), 40), numpy.full((3, 64), 40), numpy.ones((3, 2)))):
        numpy.save(tmp_path / f"{name}.npy", array.astype("float16"))
    call = ("attend", "-q", "q.npy", "-k", "k.npy", "-v", "v.npy", "--scale", "1", "--isa", isa, "--show")
    done = succeeds(*call, "lse", cwd=tmp_path)
    assert done.json["dtype"] == "float32"
    assert numpy.float32(done.json["data"][0]) == numpy.float32(102401.0986)  # 40·40·64 + ln 3; float16 ends at 65504
    succeeds(*call, "context,lse", "-o", "y.npz", cwd=tmp_path)
    with numpy.load(tmp_path / "y.npz") as file:
        assert {name: str(file[name].dtype) for name in file} == {"context": "float16", "lse": "float32"}
    succeeds(*call, "context,lse", "-o", "y.safetensors", cwd=tmp_path)
    arrays, _ = load_safetensors(tmp_path / "y.safetensors")
    assert [str(arrays[name].dtype) for name in ("context", "lse")] == ["float16", "float32"]
    succeeds(*call, "lse", "--out-dtype", "bfloat16", "-o", "y.npy", cwd=tmp_path)
    assert numpy.load(tmp_path / "y.npy").dtype == "float32"


@pytest.mark.parametrize("of", TYPES)
@pytest.mark.parametrize("to", TYPES)
def test_the_result_has_the_type_asked_for_and_the_cache_its_own(folder, of, to):
    names = ("tq", "tk", "tv", "tpast_k", "tpast_v")
    for name in names:
        numpy.save(folder / f"{name}.npy", array(folder, name[1:]).astype(of))
    cache = ("--past-key", "tpast_k.npy", "--past-value", "tpast_v.npy")
    given = stages(folder, *cache, "--out-dtype", to, names=names[:3], show="all")
    for stage, numbers in given.items():
        lse = stage == "lse" and to == "float16"  # which scores may leave
        assert numbers.dtype == ("float32" if lse else of if stage.startswith("present") else to), stage
    joined = [numpy.concatenate([array(folder, past), array(folder, now)], 2) for past, now in (("tpast_k", "tk"), ("tpast_v", "tv"))]
    exact = attention(array(folder, "tq"), *joined)[1]
    close(given["context"], exact, *{"float16": (1e-3, 1e-3), "float32": (2e-5, 2e-6), "float64": (1e-12, 1e-13)}[to])


def test_bfloat16_can_be_asked_for(folder):
    q = ("-q", "q.npy", "-k", "k.npy", "-v", "v.npy", "--out-dtype", "bfloat16")
    assert succeeds("attend", *q, cwd=folder).json["dtype"] == "bfloat16"
    succeeds("attend", *q, "-o", "bfloat16.npy", cwd=folder)
    assert numpy.load(folder / "bfloat16.npy").dtype == "V2"


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_lengths_count_the_keys_of_the_cache(folder, dtype):
    lengths = numpy.array([2, 9], dtype)
    numpy.save(folder / "lengths.npy", lengths)
    joined = [numpy.concatenate([array(folder, f"past_{x}"), array(folder, x)], 2) for x in "kv"]
    options = ("--past-key", "past_k.npy", "--past-value", "past_v.npy", "--lengths", "lengths.npy")
    keys, i = numpy.arange(S + 3), numpy.arange(T)[:, None]
    valid = keys < lengths[:, None, None, None]
    close(context(folder, *options), attention(array(folder, "q"), *joined, seen=valid)[1])
    causal = valid & (keys <= i + (lengths - T)[:, None, None, None])
    close(context(folder, *options, "--causal"), attention(array(folder, "q"), *joined, seen=causal)[1])
    numpy.save(folder / "lengths.npy", numpy.array([11, 0], dtype))
    done = run("attend", "-q", "q.npy", "-k", "k.npy", "-v", "v.npy", *options, cwd=folder)
    assert_fails(done, 65, "lengths[0]: got 11; allowed: 0 to 10, the keys")


@pytest.mark.parametrize("isa", ["auto", "portable"])
@pytest.mark.parametrize(("dtype", "step"), [("bfloat16", 2.0**-8), ("float16", 2.0**-11)])
def test_rounded_weights_change_the_context_by_as_much_and_no_other_stage(folder, dtype, step, isa):
    shown = "weights,entropy,lse,context"
    exact, coarse = stages(folder, "--isa", isa, show=shown), stages(folder, "--isa", isa, "--weights-dtype", dtype, show=shown)
    for stage in ("weights", "entropy", "lse"):
        assert same(exact[stage], coarse[stage])
    v = numpy.repeat(array(folder, "v"), H // H_KV, axis=1)
    error = abs(exact["context"] - coarse["context"]) / (exact["weights"] @ abs(v))
    assert step / 20 < error.max() <= step
    close(context(folder, "--weights-dtype", "float32", "--isa", isa), exact["context"], 1e-6, 1e-7)


@pytest.mark.parametrize("isa", ["auto", "portable"])
@pytest.mark.parametrize(
    "options",
    [("--alibi", "--sinks", "sinks.npy"), ("--alibi-slopes", "sinks.npy"), ("--segments", "cut.npy", "--weights-dtype", "bfloat16"), ("--cu-seqlens", "cu_300.npy", "--causal")],
)
def test_any_number_of_threads_gives_the_same_bytes(folder, options, isa):
    rows = 300
    for seed, name, heads in ((1, "mq", H), (2, "mk", H_KV), (3, "mv", H_KV)):
        numpy.save(folder / f"{name}.npy", normal(seed, rows, heads, 64))
    numpy.save(folder / "cut.npy", numpy.arange(rows) // 90)
    numpy.save(folder / "cu_300.npy", numpy.int64([0, 10, 290, 300]))
    given = [
        stages(folder, *options, "--isa", isa, "--layout", "bshd", "--threads", threads, names=("mq", "mk", "mv"), show="context,lse")
        for threads in (1, 2)
    ]
    assert same(given[0]["context"], given[1]["context"]) and same(given[0]["lse"], given[1]["lse"])


def test_views_that_tiles_cannot_read_give_what_others_give(folder):
    """Of the other byte order: one key/value head after the other is converted."""
    options = ("--alibi", "--sinks", "sinks.npy", "--segments", "own.npy", "--causal-align", "top-left")
    numpy.save(folder / "own.npy", numpy.int64([[0, 1, 0, 1, 0, 1, 1], [2, 2, 2, 2, 2, 2, 2]]))
    expected = stages(folder, *options, show="context,lse,weights")
    for name in ("q", "k", "v"):
        numpy.save(folder / f"big_{name}.npy", array(folder, name).astype(">f4"))
    given = stages(folder, *options, names=("big_q", "big_k", "big_v"), show="context,lse,weights")
    for stage, numbers in expected.items():
        assert same(given[stage], numbers), stage


def test_a_suggested_input_has_the_layout(tmp_path):
    for seed, name in enumerate("qkv"):
        numpy.save(tmp_path / f"{name}.npy", normal(seed, 5, 2, 4))
    files = ("-q", "q.npy", "-k", "k.npy", "-v", "v.npy", "--layout", "bshd")
    succeeds("attend", *files, "-o", "mine.npy", cwd=tmp_path)
    done = run("attend", *files, "--window", "3,5", "--against", "mine.npy", "--suggest-input", "tie.npz", cwd=tmp_path)
    assert done.code == 1 and "--layout bshd" in done.text
    command = done.text.splitlines()[-1].split()
    succeeds(*command[1:8], *command[8:-2], "-o", "right.npy", cwd=tmp_path)
    assert run(*command[1:-1], "right.npy", cwd=tmp_path).code == 0
    succeeds(*command[1:8], "--layout", "bshd", "-o", "new.npy", cwd=tmp_path)  # without a window
    found = run(*command[1:-1], "new.npy", "--json", cwd=tmp_path).json
    assert found["verdict"] == "named" and "window-missing" in str(found)


@pytest.mark.parametrize("option, numbers", [("--sinks", [1e300]), ("--mask", [[-1e300, 0, 0]])])
def test_numbers_beyond_float32_are_refused_where_it_computes(tmp_path, option, numbers):
    numpy.save(tmp_path / "q.npy", normal(0, 1, 3, 4))
    numpy.save(tmp_path / "x.npy", numpy.float64(numbers))
    files = ("-q", "q.npy", "-k", "q.npy", "-v", "q.npy", option, "x.npy")
    assert_fails(run("attend", *files, cwd=tmp_path), 65, "1e+300", "float32")
    succeeds("attend", *files, "--out-dtype", "float64", cwd=tmp_path)


def test_an_alignment_that_places_nothing_is_refused(folder):
    for options in ((), ("--lengths", "lengths.npy"), ("--softcap", "3")):
        done = run("attend", "-q", "q.npy", "-k", "k.npy", "-v", "v.npy", "--causal-align", "top-left", *options, cwd=folder)
        assert_fails(done, 2, "--causal-align requires --causal, --window, --alibi, --alibi-slopes or --segments")


def test_numbers_of_one_byte_are_read_as_other_integers_are(tmp_path):
    q, seen = numpy.arange(10, dtype="f4").reshape(5, 2), numpy.tri(5, dtype="u1")
    numpy.save(tmp_path / "q.npy", q)
    numpy.save(tmp_path / "seen.npy", seen)
    numpy.save(tmp_path / "seen64.npy", seen.astype("i8"))
    save_safetensors(tmp_path / "seen.safetensors", {"u8": seen})
    call = ("attend", "-q", "q.npy", "-k", "q.npy", "-v", "q.npy")
    of_int64 = run(*call, "--mask", "seen64.npy", cwd=tmp_path)
    for name in ("seen.npy", "seen.safetensors"):
        done = run(*call, "--mask", name, cwd=tmp_path)
        assert (done.code, done.out, done.err) == (0, of_int64.out, of_int64.err) and b"only the numbers 0 and 1" in done.err
    dropout = (*call, "--dropout", "0.5", "--kept")
    numpy.save(tmp_path / "kept.npy", seen.astype(bool))
    assert succeeds(*dropout, "seen.npy", cwd=tmp_path).out == succeeds(*dropout, "kept.npy", cwd=tmp_path).out
    numpy.save(tmp_path / "two.npy", seen * 2)
    assert_fails(run(*dropout, "two.npy", cwd=tmp_path), 65, "kept: got 2; allowed: 0 and 1")
    numpy.save(tmp_path / "labels.npy", numpy.uint8([200, 200, 7, 7, 7]))
    numpy.save(tmp_path / "labels64.npy", numpy.int64([1, 1, 2, 2, 2]))
    assert succeeds(*call, "--segments", "labels.npy", cwd=tmp_path).out == succeeds(*call, "--segments", "labels64.npy", cwd=tmp_path).out


def test_an_input_is_suggested_for_a_mask_of_bytes(tmp_path):
    for name in "qkv":
        numpy.save(tmp_path / f"{name}.npy", numpy.zeros((5, 2), "f4"))
    numpy.save(tmp_path / "m.npy", numpy.tri(5, dtype="u1"))
    call = ("attend", "-q", "q.npy", "-k", "k.npy", "-v", "v.npy", "--mask", "m.npy", "--blind-spots", "--suggest-input", "s.npz")
    assert run(*call, cwd=tmp_path).code == 0
    with numpy.load(tmp_path / "s.npz") as written:
        assert (written["mask"].dtype, written["mask"].shape) == (numpy.dtype("u1"), (5, 5))


@pytest.mark.parametrize("option", [("--mask", "one.npy"), ("--dropout", "0.5", "--kept", "one.npy")])
def test_a_single_number_is_no_mask(folder, option):
    numpy.save(folder / "one.npy", numpy.array(True))
    done = run("attend", "-q", "q.npy", "-k", "k.npy", "-v", "v.npy", *option, cwd=folder)
    assert_fails(done, 65, "got the shape (); allowed: a shape of one dimension or more that broadcasts to")
