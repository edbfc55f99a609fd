"""attend --against: which mistake gives the numbers of a file. The mistakes here are made with NumPy."""

import json
import os
import re
from xml.etree import ElementTree

import pytest
from program import SENTENCE, assert_fails, counts_memory, measured, run, run_unread, succeeds
from tensors import from_bfloat16, normal, numpy

H, H_KV, T, S, D = 4, 2, 11, 19, 8
QKV = ("-q", "q.npy", "-k", "k.npy", "-v", "v.npy")
CAUSAL = ("--causal", "--causal-align", "bottom-right")


def attention(q, k, v, scale=D**-0.5, offset=S - T, head=lambda h: h * H_KV // H):
    q, k, v = (array.astype("float64") for array in (q, k, v))
    k, v = (numpy.stack([array[head(h)] for h in range(H)]) for array in (k, v))
    seen = numpy.arange(S) <= numpy.arange(T)[:, None] + offset
    scores = numpy.where(seen, q @ k.transpose(0, 2, 1) * scale, -numpy.inf)
    weights = numpy.exp(scores - scores.max(-1, keepdims=True))
    return (weights / weights.sum(-1, keepdims=True) @ v).astype("float32")


@pytest.fixture
def qkv(tmp_path):
    arrays = normal(1, H, T, D), normal(2, H_KV, S, D), normal(3, H_KV, S, D)
    for name, array in zip("qkv", arrays):
        numpy.save(tmp_path / f"{name}.npy", array)
    return arrays


def against(folder, *files, options=CAUSAL):
    return run("attend", *QKV, *options, "--against", *files, cwd=folder)


def save(folder, array, name="mine.npy"):
    numpy.save(folder / name, array)
    return name


def test_a_right_result_agrees(qkv, tmp_path):
    done = against(tmp_path, save(tmp_path, attention(*qkv)))
    assert (done.code, done.err) == (0, b"")
    assert done.text.startswith(f"mine.npy agrees: {H * T * D} numbers, largest difference ")


def test_a_mistake_is_named_with_what_to_do(qkv, tmp_path):
    done = against(tmp_path, save(tmp_path, attention(*qkv, offset=0)))
    assert (done.code, done.err) == (1, b"")
    differs, verdict, advice = done.text.splitlines()
    assert differs.startswith(f"differs: {H * T * D} of {H * T * D}, largest difference ")
    assert verdict.startswith('mine.npy is what "causal mask aligned top-left" gives: largest difference ')
    assert verdict.endswith(",000 times farther")
    assert advice == "try: --causal-align top-left, or align your mask at keys - queries"


@pytest.mark.parametrize(
    "name, options",
    [("no-scale", {"scale": 1}), ("causal-strict", {"offset": S - T - 1}), ("heads-interleaved", {"head": lambda h: h % H_KV})],
)
def test_the_report_for_programs_has_every_candidate(name, options, qkv, tmp_path):
    done = against(tmp_path, save(tmp_path, attention(*qkv, **options)), "--json")
    assert done.code == 1
    report = done.json
    named = report["named"][0]
    assert (report["verdict"], named["mistakes"], report["all_pairs"]) == ("named", [name], True)
    assert all(len(named[key]) == 1 and '"' not in named[key][0] for key in ("what", "advice"))
    assert report["candidates"][0]["mistakes"] == [name] and report["candidates"][0]["complete"]
    assert [] in [candidate["mistakes"] for candidate in report["candidates"]]  # the right result
    assert report["tried"] > 80 and len(report["candidates"]) == report["tried"] + 1
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator(succeeds("schema", "diagnosis").json).validate(report)


def softmaxed(scores):
    e = numpy.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def split_in_two(scores, v):
    halves = ((0, 10), (10, S))
    return sum(softmaxed(scores[..., a:b]) @ v[:, a:b] for a, b in halves) / 2


def merged_by_maximum(scores, v):
    halves = [scores[..., :10], scores[..., 10:]]
    shares = numpy.exp(numpy.stack([half.max(-1, keepdims=True) for half in halves]))
    return sum(share * (softmaxed(half) @ part) for share, half, part in zip(shares / shares.sum(0), halves, (v[:, :10], v[:, 10:])))


def last_tile_moved_back(scores, v):
    last = slice(S - 16, 16)  # keys of the first tile that the second has, too
    return softmaxed(numpy.concatenate([scores, scores[..., last]], -1)) @ numpy.concatenate([v, v[:, last]], 1)


def one_too_many(scores, v):
    e = numpy.exp(scores - scores.max(-1, keepdims=True))
    return e / (1 + e.sum(-1, keepdims=True)) @ v


def corrected_the_wrong_way(scores, v):
    first, largest = scores[..., :16].max(-1, keepdims=True), scores.max(-1, keepdims=True)
    e = numpy.concatenate([numpy.exp(scores[..., :16] - first) * numpy.exp(largest - first), numpy.exp(scores[..., 16:] - largest)], -1)
    return e / e.sum(-1, keepdims=True) @ v


@pytest.mark.parametrize(
    ("name", "kernel"),
    [
        ("parts-averaged-2", split_in_two),
        ("parts-merged-by-maximum-2", merged_by_maximum),
        ("tile-last-slid-16", last_tile_moved_back),
        ("softmax-one-more", one_too_many),
        ("tile-correction-swapped-16", corrected_the_wrong_way),
        ("heads-interleaved-keys", lambda scores, v: softmaxed(scores) @ v),
    ],
)
def test_a_kernel_s_mistake_is_named(name, kernel, qkv, tmp_path):
    q, k, v = (array.astype("float64") for array in qkv)
    k = numpy.stack([k[h % H_KV if "keys" in name else h * H_KV // H] for h in range(H)])
    scores = q @ k.transpose(0, 2, 1) / numpy.sqrt(D)
    save(tmp_path, kernel(scores, numpy.repeat(v, H // H_KV, axis=0)).astype("float32"))
    assert names(against(tmp_path, "mine.npy", "--json", options=()).json) == [[name]]


def without_last_tile(scores, v):
    kept = (len(v) - 1) // 16 * 16
    return softmaxed(scores[:, :kept]) @ v[:kept]


def with_padding(scores, v):
    more = -len(v) % 16
    return softmaxed(numpy.pad(scores, ((0, 0), (0, more)))) @ numpy.pad(v, ((0, more), (0, 0)))


def with_last_tile_moved_back(scores, v):
    again = slice(len(v) - 16, len(v) // 16 * 16)
    return softmaxed(numpy.concatenate([scores, scores[:, again]], -1)) @ numpy.concatenate([v, v[again]])


@pytest.mark.parametrize(
    ("name", "kernel"),
    [
        ("tile-last-dropped-16", without_last_tile),
        ("tile-padding-counted-16", with_padding),
        ("tile-last-slid-16", with_last_tile_moved_back),
    ],
)
def test_the_last_tile_is_that_of_the_valid_keys(name, kernel, tmp_path):
    lengths = numpy.array([20, 37])  # of 60 keys that there is room for
    q, k, v = normal(1, 2, 1, 7, 4), normal(2, 2, 1, 60, 4), normal(3, 2, 1, 60, 4)
    for file, array in (("q", q), ("k", k), ("v", v), ("lengths", lengths)):
        numpy.save(tmp_path / f"{file}.npy", array)
    q, k, v = (array[:, 0].astype("float64") for array in (q, k, v))
    mine = [kernel(q[b] @ k[b, :n].T / 2, v[b, :n]) for b, n in enumerate(lengths)]
    save(tmp_path, numpy.stack(mine)[:, None].astype("float32"))
    done = against(tmp_path, "mine.npy", "--json", options=["--lengths", "lengths.npy"])
    assert names(done.json) == [[name]]


def test_vectors_whose_rest_is_lost_are_named(tmp_path):
    q, k, v = normal(1, 7, 10), normal(2, 9, 10), normal(3, 9, 10)
    for name, array in zip("qkv", (q, k, v)):
        numpy.save(tmp_path / f"{name}.npy", array)
    save(tmp_path, softmaxed(q[:, :8] @ k[:, :8].T / numpy.sqrt(10)) @ v)
    assert names(against(tmp_path, "mine.npy", "--json", options=()).json) == [["scores-lanes-4"], ["scores-lanes-8"]]
    mine = softmaxed(q @ k.T / numpy.sqrt(10)) @ v
    mine[:, 8:] = 0
    save(tmp_path, mine.astype("float32"))
    assert names(against(tmp_path, "mine.npy", "--json", options=()).json) == [["values-lanes-4"], ["values-lanes-8"]]


def test_batch_entry_0_for_all_is_named(tmp_path):
    q, k, v = (normal(seed, 3, 2, 6, 4) for seed in (1, 2, 3))
    for name, array in zip("qkv", (q, k, v)):
        numpy.save(tmp_path / f"{name}.npy", array)
    for name, array in {"batch-first-entry": q[:1], "batch-first-keys": q}.items():
        mine = softmaxed(array @ k[:1].swapaxes(2, 3) / 2) @ v[:1]
        save(tmp_path, numpy.broadcast_to(mine, q.shape).astype("float32"))
        assert names(against(tmp_path, "mine.npy", "--json", options=()).json) == [[name]]
    mine = numpy.einsum("bcht,chtd->bhtd", softmaxed_over_entries(q, k), v)
    save(tmp_path, mine.astype("float32"))
    assert names(against(tmp_path, "mine.npy", "--json", options=()).json) == [["batch-as-positions"]]


def softmaxed_over_entries(q, k):
    scores = numpy.einsum("bhtd,chtd->bcht", q, k) / 2
    e = numpy.exp(scores)
    return e / e.sum(1, keepdims=True)


def test_sums_without_keepdims_are_named(tmp_path):
    q, k, v = (normal(seed, 5, 4) for seed in (1, 2, 3))
    for name, array in zip("qkv", (q, k, v)):
        numpy.save(tmp_path / f"{name}.npy", array)
    scores = q @ k.T / 2
    e, shifted = numpy.exp(scores), numpy.exp(scores - scores.max(-1, keepdims=True))
    for name, weights in {"softmax-no-keepdims": e / e.sum(-1), "softmax-sum-no-keepdims": shifted / shifted.sum(-1)}.items():
        save(tmp_path, weights @ v)
        assert names(against(tmp_path, "mine.npy", "--json", options=()).json) == [[name]]


def test_one_rounding_that_tipped_over_hides_no_mistake(tmp_path):
    """A score of bfloat16 that another order of sums rounds the other way."""
    q, k, v = normal(1, 40, 8), normal(2, 30, 8), normal(3, 30, 8)
    for name, array in zip("qkv", (q, k, v)):
        numpy.save(tmp_path / f"{name}.npy", array)
    bits = (q.astype("float64") @ k.T.astype("float64")).astype("float32").view("uint32")
    scores = from_bfloat16((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype("float64")
    scores[3, scores[3].argmax()] *= 1 + 2**-7
    save(tmp_path, (softmaxed(scores / numpy.sqrt(8)) @ v).astype("float32"))
    report = against(tmp_path, "mine.npy", "--json", options=()).json
    assert (report["verdict"], names(report)) == ("named", [["scores-bfloat16"]])
    assert report["candidates"][0]["typical_in_tolerances"] > 1


def test_two_mistakes_are_both_named(qkv, tmp_path):
    done = against(tmp_path, save(tmp_path, attention(*qkv, scale=1, offset=0)))
    assert done.code == 1
    assert 'is what "no scale of the scores" and "causal mask aligned top-left" give: ' in done.text
    assert done.text.count("try: ") == 2


def test_what_no_mistake_gives_is_not_named(qkv, tmp_path):
    noise = 0.01 * normal(9, H, T, D)
    done = against(tmp_path, save(tmp_path, attention(*qkv) + noise))
    assert done.code == 1
    assert " gives: " not in done.text and "\nnone of " in done.text
    assert "; none is at least twice as near as the right result\n" in done.text
    assert "nearest" not in against(tmp_path, "mine.npy", "--json").json
    done = against(tmp_path, save(tmp_path, attention(*qkv, scale=1) + noise))
    assert '; the nearest is "no scale of the scores": largest difference 0.0' in done.text
    report = against(tmp_path, "mine.npy", "--json").json
    assert (report["verdict"], report["nearest"]) == ("unknown", ["no-scale"])


def test_what_was_measured_on_some_rows_is_never_the_nearest(tmp_path):
    q, k, v = (normal(seed, 8, 200, 16) for seed in (1, 2, 3))
    for name, array in zip("qkv", (q, k, v)):
        numpy.save(tmp_path / f"{name}.npy", array)
    mine = softmaxed(q @ k.swapaxes(1, 2)) @ v
    mine[5, 150:] = 0
    save(tmp_path, mine)
    candidates = against(tmp_path, "mine.npy", "--json", options=()).json["candidates"]
    complete = [candidate["complete"] for candidate in candidates]
    assert complete[0] and not all(complete) and complete == sorted(complete, reverse=True)
    assert candidates[0]["largest_difference"] > 0.1


def test_a_candidate_that_was_broken_off_has_no_figure(tmp_path):
    for name, array in zip("qkv", (normal(1, 2, 20, 4), normal(2, 2, 20, 4), normal(3, 2, 20, 4))):
        numpy.save(tmp_path / f"{name}.npy", array)
    q, k, v = (numpy.load(tmp_path / f"{name}.npy").astype("float64") for name in "qkv")
    mine = softmaxed(q @ k.swapaxes(1, 2) / 2) @ v
    mine[:, :, 0] += 1.5e-3
    save(tmp_path, mine.astype("float32"))
    candidates = against(tmp_path, "mine.npy", "--json", options=()).json["candidates"]
    broken = [each for each in candidates if "largest_difference" not in each]
    assert all(list(each) == ["mistakes", "complete"] and not each["complete"] for each in broken)
    assert all(len(each["mistakes"]) == 2 for each in broken) and len(candidates) > len(broken) > 0


def test_a_seed_is_never_the_nearest(tmp_path):
    succeeds("run", SENTENCE, "--seed", "42", "--show", "context", "-o", "mine.npz", cwd=tmp_path)
    with numpy.load(tmp_path / "mine.npz") as file:
        save(tmp_path, file["context"] + 0.02 * normal(1, *file["context"].shape))
    report = held(SENTENCE, "--against", "mine.npy", cwd=tmp_path)
    assert report["verdict"] == "unknown"
    assert report["candidates"][0]["mistakes"] == ["seed-42"] and not any("seed" in name for name in report.get("nearest", []))
    assert "the seed" not in run("run", SENTENCE, "--against", "mine.npy", cwd=tmp_path).text


@pytest.mark.parametrize("padding", [0, numpy.nan])
def test_queries_beyond_the_lengths_may_hold_anything(padding, tmp_path):
    q, k, v = (normal(seed, 2, 9, 4) for seed in (1, 2, 3))
    for name, array in zip("qkv", (q[:, None], k[:, None], v[:, None])):
        numpy.save(tmp_path / f"{name}.npy", array)
    numpy.save(tmp_path / "lengths.npy", numpy.array([6, 8]))
    scores = q @ k.swapaxes(1, 2) / 2
    mine = numpy.stack([softmaxed(scores[b, :, :n]) @ v[b, :n] for b, n in enumerate((6, 8))])[:, None]
    mine[0, :, 6:] = mine[1, :, 8:] = padding
    done = against(tmp_path, save(tmp_path, mine), options=("--lengths", "lengths.npy"))
    assert (done.code, done.err) == (1, b"")
    assert done.text.splitlines()[1:] == ["mine.npy differs only in queries at or beyond the lengths"]
    line = against(tmp_path, "mine.npy", "mine.npy", options=("--lengths", "lengths.npy")).text.splitlines()[0]
    assert line == "mine.npy: differs only in queries at or beyond the lengths"
    report = against(tmp_path, "mine.npy", "--json", options=("--lengths", "lengths.npy")).json
    assert (report["verdict"], report["beyond_lengths"]) == ("unknown", True)
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator(succeeds("schema", "diagnosis").json).validate(report)
    mine[0, 0, 5, 0] += 1
    done = against(tmp_path, save(tmp_path, mine), options=("--lengths", "lengths.npy"))
    assert done.code == 1 and "only in queries" not in done.text


def test_a_result_that_agrees_in_the_other_layout_says_so(tmp_path):
    """Tensors (B, T, H, d) are taken for (B, H, T, d). With grouped heads no mistake of the list gives that."""
    for name, heads, seed in (("q", 4, 1), ("k", 2, 2), ("v", 2, 3)):
        numpy.save(tmp_path / f"{name}.npy", normal(seed, 2, 6, heads, D))
    succeeds("attend", *QKV, "--layout", "bshd", "-o", "mine.npy", cwd=tmp_path)
    done = against(tmp_path, "mine.npy", options=())
    assert (done.code, done.err) == (1, b"")
    assert done.text.splitlines()[1:] == ["mine.npy agrees with --layout bshd: heads and positions lie in the other order"]
    assert against(tmp_path, "mine.npy", "mine.npy", options=()).text.splitlines() == ["mine.npy: differs, but agrees with --layout bshd"] * 2
    report = against(tmp_path, "mine.npy", "--json", options=()).json
    assert (report["agrees"], report["verdict"], report["agrees_in_layout"]) == (False, "unknown", "bshd")
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator(succeeds("schema", "diagnosis").json).validate(report)
    mine = numpy.load(tmp_path / "mine.npy")
    mine[0, 0, 0, 0] += 1
    done = against(tmp_path, save(tmp_path, mine), options=())
    assert done.code == 1 and "--layout" not in done.text


def test_one_head_that_reads_the_first_keys_for_all_is_both_mistakes(tmp_path):
    q, k, v = (normal(seed, H, rows, D) for seed, rows in enumerate((T, S, S), 1))
    for name, array in zip("qkv", (q, k, v)):
        numpy.save(tmp_path / f"{name}.npy", array)
    weights = softmaxed(sum(q.astype("float64")) @ k[0].astype("float64").T / (H * D) ** 0.5)
    mine = numpy.stack([weights @ v[0]] * H).astype("float32")
    assert names(against(tmp_path, save(tmp_path, mine), "--json", options=()).json) == [["heads-first", "one-head"]]


def test_each_query_s_own_value_is_no_batch_unless_there_is_one_entry(tmp_path):
    for batch, expected in ((2, [["own-value"]]), (1, [["batch-as-positions"], ["own-value"]])):
        for seed, name in enumerate("qkv"):
            numpy.save(tmp_path / f"{name}.npy", normal(seed, batch, 3, 7, 4))
        assert names(against(tmp_path, "v.npy", "--json", options=()).json) == expected


def half(folder, T=35, S=35, d=32):
    """q, k, v in float16, of four heads, in files and in float64."""
    arrays = [normal(seed, 4, rows, d, dtype="float16") for seed, rows in enumerate((T, S, S), 1)]
    for name, array in zip("qkv", arrays):
        numpy.save(folder / f"{name}.npy", array)
    return [array.astype("float64") for array in arrays]


def in_float16(array):
    return array.astype("float32").astype("float16").astype("float64")


def test_a_kernel_that_rounds_what_its_type_must_agrees_as_well_as_that_can(tmp_path):
    q, k, v = half(tmp_path)
    weights = in_float16(softmaxed(q @ k.swapaxes(1, 2) / numpy.sqrt(32)))
    save(tmp_path, (weights @ v).astype("float16"))
    done = against(tmp_path, "mine.npy", options=())
    assert (done.code, done.err) == (0, b"")
    assert done.text.startswith("mine.npy agrees as well as float16 can: ")
    assert re.search(r"; \S+ from float64; allowed \S+: 2 times that of unfused float16, plus atol\n$", done.text), done.text
    assert done.text.count("\n") == 1
    assert against(tmp_path, "mine.npy", "mine.npy", options=()).text == 2 * "mine.npy: agrees as well as float16 can\n"
    report = against(tmp_path, "mine.npy", "--json", options=()).json
    assert (report["agrees"], report["agreement"]) == (True, "as-type-allows") and report["mismatched"] > 0
    assert report["half"]["largest_difference"] <= report["half"]["allowed"]
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator(succeeds("schema", "diagnosis").json).validate(report)
    strict = against(tmp_path, "mine.npy", "--strict", options=())
    assert strict.code == 1 and strict.text.startswith("differs: ")
    assert "\nwithout --strict it agrees as well as float16 can\n" in strict.text
    assert against(tmp_path, "mine.npy", "--strict", "--rtol", "0", "--atol", "0.01", options=()).code == 0
    exact = (softmaxed(q @ k.swapaxes(1, 2) / numpy.sqrt(32)) @ v).astype("float16")
    done = against(tmp_path, save(tmp_path, exact), "--strict", options=())
    assert done.code == 0 and done.text.startswith("mine.npy agrees: 4480 numbers, largest difference ")
    assert " from float64; allowed " in done.text


def test_the_unfused_computation_rounds_each_stage(tmp_path):
    q, k, v = half(tmp_path, T=64, S=40, d=24)
    seen = numpy.arange(40) <= numpy.arange(64)[:, None]
    exact = softmaxed(numpy.where(seen, q @ k.swapaxes(1, 2) / numpy.sqrt(24), -numpy.inf)) @ v
    scaled = in_float16(in_float16(q @ k.swapaxes(1, 2)) / numpy.sqrt(24))
    unfused = in_float16(in_float16(softmaxed(numpy.where(seen, scaled, -numpy.inf))) @ v)
    report = against(tmp_path, save(tmp_path, exact.astype("float16")), "--json", options=("--causal",)).json
    assert report["half"]["unfused"] == pytest.approx(abs(unfused - exact).max(), rel=0.02)
    assert report["half"]["largest_difference"] == pytest.approx(abs(in_float16(exact) - exact).max(), rel=1e-6)
    assert report["half"]["allowed"] == pytest.approx(2 * report["half"]["unfused"] + 1e-5)


@pytest.mark.parametrize("shift, name", [(1, "causal-one-more"), (-1, "causal-strict")])
def test_a_mistake_of_a_kernel_that_rounds_is_named(shift, name, tmp_path):
    q, k, v = half(tmp_path, T=100, S=100, d=64)
    seen = numpy.arange(100) <= numpy.arange(100)[:, None] + shift
    scores = numpy.where(seen, q @ k.swapaxes(1, 2) / 8, -numpy.inf)
    scores[:, 0, 0] = 0 if shift < 0 else scores[:, 0, 0]
    e = numpy.exp(scores - scores.max(-1, keepdims=True))
    mine = in_float16(e) @ v / e.sum(-1, keepdims=True)
    mine[:, 0] *= shift > 0  # nothing is seen there
    done = against(tmp_path, save(tmp_path, mine.astype("float16")), "--json", options=("--causal",))
    assert done.code == 1 and [name] in names(done.json)


def test_zeros_do_not_pass_where_the_unfused_computation_overflows(tmp_path):
    q, k, v = normal(1, 4, 8, 16), normal(2, 4, 8, 16), normal(3, 4, 8, 16)
    for name, array in zip("qkv", (100 * q, 100 * k, v)):  # scores beyond 65504
        numpy.save(tmp_path / f"{name}.npy", array.astype("float16"))
    q, k, v = (numpy.load(tmp_path / f"{name}.npy").astype("float64") for name in "qkv")
    assert abs(q @ k.swapaxes(1, 2)).max() > 70000
    right = softmaxed(q @ k.swapaxes(1, 2) / 4) @ v
    assert against(tmp_path, save(tmp_path, right.astype("float16")), options=()).code == 0
    assert against(tmp_path, save(tmp_path, numpy.zeros_like(right, "float16")), options=()).code == 1
    half(tmp_path, T=6, S=6)
    mask = numpy.zeros((6, 6), "float32")
    mask[2] = numpy.finfo("float32").min  # -∞ in float16: a row of zeros there
    numpy.save(tmp_path / "mask.npy", mask)
    zeros = save(tmp_path, numpy.zeros((4, 6, 32), "float16"))
    assert against(tmp_path, zeros, options=("--mask", "mask.npy")).code == 1


def test_queries_beyond_the_lengths_may_hold_anything_in_half_precision(tmp_path):
    q, k, v = half(tmp_path, T=20, S=20)
    numpy.save(tmp_path / "lengths.npy", numpy.array([15]))
    weights = in_float16(softmaxed(q @ k[:, :15].swapaxes(1, 2) / numpy.sqrt(32)))
    mine = (weights @ v[:, :15]).astype("float16")
    options = ("--lengths", "lengths.npy")
    assert "agrees as well as float16 can" in against(tmp_path, save(tmp_path, mine), options=options).text
    mine[:, 15:] = numpy.nan
    done = against(tmp_path, save(tmp_path, mine), options=options)
    assert done.code == 1 and done.text.splitlines()[1:] == ["mine.npy differs only in queries at or beyond the lengths"]


def test_float32_inputs_may_leave_the_range_of_a_float16_file(tmp_path):
    q, k, v = normal(1, 2, 6, 8), normal(2, 2, 6, 8), normal(3, 2, 6, 8)
    for name, array in zip("qkv", (3e5 * q, 1e-5 * k, v)):
        numpy.save(tmp_path / f"{name}.npy", array)
    right = softmaxed((3e5 * q).astype("float64") @ (1e-5 * k).astype("float64").swapaxes(1, 2) / numpy.sqrt(8)) @ v
    done = against(tmp_path, save(tmp_path, right.astype("float16")), options=())
    assert (done.code, done.err) == (0, b"")


def test_nan_alone_names_no_two_mistakes(tmp_path):
    half(tmp_path, T=4, S=4)
    done = against(tmp_path, save(tmp_path, numpy.full((4, 4, 32), numpy.nan, "float16")), options=())
    assert done.code == 1 and " gives: " not in done.text


def test_sums_in_half_precision_are_a_mistake(tmp_path):
    q, k, v = half(tmp_path, T=32, S=256)
    weights, mine = softmaxed(q @ k.swapaxes(1, 2) / numpy.sqrt(32)), 0
    for j in range(256):
        mine = in_float16(mine + weights[:, :, j, None] * v[:, j, None])
    done = against(tmp_path, save(tmp_path, mine.astype("float16")), options=())
    assert done.code == 1 and 'is what "weights·V summed in float16" gives' in done.text


def test_a_mistake_that_explains_a_file_far_better_is_told_though_it_passes(tmp_path):
    q, k, v = half(tmp_path, T=4, S=4)
    v[:, 0] *= 2.0**14
    numpy.save(tmp_path / "v.npy", v.astype("float16"))
    numpy.save(tmp_path / "sinks.npy", numpy.full(4, -6.5, "float32"))  # beside float16's error of the first value's weight little
    mine = softmaxed(q @ k.swapaxes(1, 2) / numpy.sqrt(32)) @ v
    mine = save(tmp_path, mine.astype("float32"))
    options = ("--sinks", "sinks.npy")
    done = against(tmp_path, mine, options=options)
    assert done.code == 0 and done.text.startswith("mine.npy agrees as well as float16 can: ")
    assert 'mine.npy is what "no sink: weights that sum to 1" gives' in done.text and "\ntry: " in done.text
    line = against(tmp_path, mine, mine, options=options).text.splitlines()[0]
    assert line.startswith('mine.npy: agrees as well as float16 can, but is also what this gives: "no sink')


def test_the_tolerance_is_what_is_asked_for(qkv, tmp_path):
    save(tmp_path, attention(*qkv) + numpy.float32(0.01))
    assert against(tmp_path, "mine.npy").code == 1
    assert against(tmp_path, "mine.npy", "--atol", "0.011").text.startswith("mine.npy agrees: 352 numbers, largest difference 0.0100")
    assert against(tmp_path, "mine.npy", "--rtol", "0.011").code == 1
    save(tmp_path, attention(*qkv, scale=1))
    assert 'is what "no scale of the scores" gives' in against(tmp_path, "mine.npy", "--atol", "0.001").text
    succeeds("run", SENTENCE, "--show", "weights", "-o", "w.npz", cwd=tmp_path)
    with numpy.load(tmp_path / "w.npz") as file:
        save(tmp_path, file["weights"] + numpy.float32(0.001))
    assert run("run", SENTENCE, "--against", "mine.npy", cwd=tmp_path).code == 1
    assert run("run", SENTENCE, "--against", "mine.npy", "--atol", "0.002", cwd=tmp_path).code == 0
    assert_fails(run("attend", *QKV, "--atol", "1", cwd=tmp_path), 2, "--atol requires --against")
    assert_fails(run("attend", *QKV, "--strict", cwd=tmp_path), 2, "--strict requires --against")


def test_where_the_error_lies_is_said_when_nothing_is_named(qkv, tmp_path):
    mine = attention(*qkv)
    mine[2, 7] += 0.25
    mine[1, 3, 5] += 0.5
    done = against(tmp_path, save(tmp_path, mine))
    title, head, row, column = done.text.splitlines()[2:]
    assert title == "the largest differences beyond the tolerance, by place:"
    assert head == "  head      1: 0.50, 2: 0.25; 0, 3 agree"
    assert row == "  row       3: 0.50, 7: 0.25; 0-2, 4-6, 8-10 agree"
    assert column.startswith("  column    5: 0.50, ") and column.endswith(": 0.25, …")
    where = against(tmp_path, "mine.npy", "--json").json["where"]
    assert where["heads"][1] == pytest.approx(0.5) and where["rows"][7] == pytest.approx(0.25)
    assert [len(where[name]) for name in ("batches", "heads", "rows", "columns")] == [1, H, T, D]


def test_mistakes_that_this_input_does_not_tell_apart_are_all_named(tmp_path):
    for name, array in zip("qkv", (normal(1, 1, 5, 4), normal(2, 1, 5, 4), normal(3, 1, 5, 4))):
        numpy.save(tmp_path / f"{name}.npy", array)
    q, k, v = (numpy.load(tmp_path / f"{name}.npy").astype("float64") for name in "qkv")
    scores = q @ k.transpose(0, 2, 1) / 4  # 1/d, and 1/√d twice
    weights = numpy.exp(scores)
    save(tmp_path, (weights / weights.sum(-1, keepdims=True) @ v).astype("float32"))
    done = against(tmp_path, "mine.npy", options=())
    assert done.code == 1
    assert "does not decide on this input" in done.text
    assert '"scores divided by d_k"' in done.text and '"scores scaled twice"' in done.text


def test_weights_are_compared_where_they_are_shown(qkv, tmp_path):
    q, k = qkv[0].astype("float64"), numpy.repeat(qkv[1], H // H_KV, axis=0).astype("float64")
    weights = numpy.exp(q @ k.transpose(0, 2, 1) / numpy.sqrt(D))
    weights /= weights.sum(1, keepdims=True)
    done = against(tmp_path, save(tmp_path, weights.astype("float32")), options=("--show", "weights"))
    assert done.code == 1 and 'is what "softmax over the queries" gives' in done.text


def test_any_file_that_compare_reads_will_do(qkv, tmp_path):
    mine = attention(*qkv, scale=1)
    numpy.savez(tmp_path / "mine.npz", other=mine[0], context=mine)
    tensor = {"schema": "attn-cli/tensor/1", "name": "y", "dtype": "float32", "shape": list(mine.shape), "data": mine.tolist()}
    (tmp_path / "mine.json").write_text(json.dumps(tensor))
    with numpy.printoptions(precision=4, threshold=10**9, suppress=True):
        (tmp_path / "pasted.txt").write_text(str(mine))
        (tmp_path / "torch.txt").write_text(f"tensor({numpy.array2string(mine, separator=', ')})\n")
    for file in ("mine.npz", "mine.npz:context", "mine.json", "pasted.txt", "torch.txt"):
        done = against(tmp_path, file)
        assert done.code == 1 and 'is what "no scale of the scores" gives' in done.text, (file, done)


def test_of_three_numbers_nan_is_named_and_a_rounding_is_not(tmp_path):
    q, k = numpy.full((1, 3, 1), 10, "float16"), numpy.full((1, 3, 1), 2, "float16")  # exp(20) is beyond float16
    v = numpy.array([[[1.0], [2.0], [4.1015625]]], "float16")
    for name, array in zip("qkv", (q, k, v)):
        numpy.save(tmp_path / f"{name}.npy", array)
    options = ["--scale", "1"]
    broken = against(tmp_path, save(tmp_path, numpy.full((1, 3, 1), numpy.nan, "float16")), options=options)
    assert broken.code == 1 and "exponentials in float16 of scores whose maximum was not subtracted" in broken.text
    rounded = against(tmp_path, save(tmp_path, numpy.full((1, 3, 1), 2.359375, "float16")), options=options)  # 2.367 in bfloat16
    assert rounded.code == 1 and " mistakes and pairs gives mine.npy; " in rounded.text


def test_an_overflow_is_named_by_its_nan(tmp_path):
    q, k, v = 40 * normal(1, 3, 4), 40 * normal(2, 3, 4), normal(3, 3, 4)
    for name, array in zip("qkv", (q, k, v)):
        numpy.save(tmp_path / f"{name}.npy", array)
    with numpy.errstate(all="ignore"):
        e = numpy.exp(q @ k.T / numpy.float32(2))
        mine = e / e.sum(-1, keepdims=True) @ v
    assert numpy.isnan(mine).any()
    done = against(tmp_path, save(tmp_path, mine), options=())
    assert done.code == 1 and "whose maximum was not subtracted" in done.text


def test_many_files_get_a_line_each(qkv, tmp_path):
    save(tmp_path, attention(*qkv), "right.npy")
    save(tmp_path, attention(*qkv, scale=1), "scale.npy")
    save(tmp_path, attention(*qkv, scale=1, offset=0), "both.npy")
    save(tmp_path, attention(*qkv) + 0.5, "other.npy")
    done = against(tmp_path, "right.npy", "scale.npy", "both.npy", "other.npy")
    assert (done.code, done.err) == (1, b"")
    lines = done.text.splitlines()
    assert lines[:3] == [
        "right.npy: agrees",
        'scale.npy: "no scale of the scores"',
        'both.npy: "no scale of the scores" and "causal mask aligned top-left"',
    ]
    assert lines[3].startswith(f"other.npy: differs in {H * T * D} of {H * T * D}, by up to 0.50; no listed mistake gives it")
    assert against(tmp_path, "right.npy", "right.npy").code == 0
    reports = against(tmp_path, "right.npy", "scale.npy", "--json").json_lines
    assert [report["agrees"] for report in reports] == [True, False]


def test_a_file_that_cannot_be_read_does_not_stop_the_others(qkv, tmp_path):
    save(tmp_path, attention(*qkv), "right.npy")
    (tmp_path / "text.txt").write_text("hello, world\n")
    done = against(tmp_path, "text.txt", "right.npy")
    assert (done.code, done.text) == (65, "right.npy: agrees\n")
    assert done.message.startswith("attn-cli: error: 'text.txt': got a file that begins with 'hello, wo'")


def test_what_is_no_such_array_is_one_line(qkv, tmp_path):
    right = attention(*qkv)
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "text.txt").write_text("hello, world\n")
    (tmp_path / "ragged.txt").write_text("[[1.0, 2.0], [3.0]]\n")
    numpy.savez(tmp_path / "two.npz", a=right, b=right)
    for file, message in {
        save(tmp_path, normal(1, 3, 4), "shape.npy"): "'shape.npy': got the shape (3, 4); allowed: (4, 11, 8), that of the context",
        "empty": "'empty': got an empty file; allowed: a result or tensor as JSON, an array as text (printed, np.savetxt, CSV, a list)",
        "text.txt": "'text.txt': got a file that begins with 'hello, wo'; allowed: ",
        "ragged.txt": "'ragged.txt', line 1, column 19: got 1 element in a row; allowed: 2, as before",
        "two.npz": "tensor of 'two.npz': got 2 tensors; allowed: one tensor, or one named 'context', or FILE:NAME",
    }.items():
        assert_fails(against(tmp_path, file), 65, message)
    assert_fails(against(tmp_path, "missing.npy"), 66, "missing.npy")


def test_options_that_do_not_go_with_it_are_refused(qkv, tmp_path):
    save(tmp_path, attention(*qkv))
    for shown, count in (("scores,context", 2), ("entropy,lse", 2), ("all", 7)):
        message = f"--show: got {count} stages; allowed: one, several gradients, or several of context, weights and lse with --against"
        assert_fails(against(tmp_path, "mine.npy", options=(*CAUSAL, "--show", shown)), 2, message)
    for option, file in (("-o", "y.svg"), ("--suggest-input", "y.npz")):
        done = against(tmp_path, "mine.npy", options=("--show", "weights,context", option, file))
        assert_fails(done, 2, f"--show: got 2 stages; allowed: one with {option}")
    for options, message in {
        ("-o", "y.npy"): "-o: got 'y.npy'; allowed: with --against a picture of the differences (.svg); without it the result",
        ("-o", "-"): "-o: got '-'; allowed: a file for the picture",
        ("--suggest-input", "y.npy"): "--suggest-input: got 'y.npy'; allowed: a name that ends with .npz or .safetensors",
        ("--suggest-input", "--json"): "--suggest-input: got '--json'; allowed: a name that ends with .npz or .safetensors",
        ("--suggest-input", "q.npy"): "'q.npy'",
    }.items():
        assert_fails(against(tmp_path, "mine.npy", options=options), 2, message)
    for option in ("-o", "--suggest-input"):
        two = against(tmp_path, "mine.npy", "mine.npy", options=(option, "y.svg" if option == "-o" else "y.npz"))
        assert_fails(two, 2, f"{option}: got 2 files after --against; allowed: one")
    assert_fails(run("attend", *QKV, "--suggest-input", "y.npz", cwd=tmp_path), 2, "--suggest-input requires --against or --blind-spots")


def test_the_file_is_not_forgotten(qkv, tmp_path):
    save(tmp_path, attention(*qkv))
    message = "--against: got '--json'; allowed: a FILE; one of that name is ./--json"
    assert_fails(against(tmp_path, "--json"), 2, message)
    assert_fails(run("run", SENTENCE, "--against", "--json", cwd=tmp_path), 2, message)


def test_standard_input_is_read_once(qkv, tmp_path):
    message = "standard input can be read once"
    assert_fails(against(tmp_path, "-", "-"), 2, message)
    assert_fails(run("attend", "-q", "-", "-k", "k.npy", "-v", "v.npy", "--against", "-", cwd=tmp_path), 2, message)
    assert_fails(run("run", "-", "--against", "-"), 2, message)
    assert_fails(run("run", "--recipe", "-", "--against", "-"), 2, message)
    save(tmp_path, attention(*qkv))
    assert run("attend", *QKV, *CAUSAL, "--against", "-", cwd=tmp_path, stdin=(tmp_path / "mine.npy").read_bytes()).code == 0


def test_a_name_that_is_no_utf_8_leaves_json_readable(qkv, tmp_path):
    name = os.fsdecode(b"mine\xff.npy")
    try:
        save(tmp_path, attention(*qkv), name)
    except OSError as refused:
        pytest.skip(f"no such names here: {refused}")
    done = against(tmp_path, name, "--json")
    assert (done.code, done.json["file"]) == (0, "mine\ufffd.npy")


def test_nan_is_a_finding(qkv, tmp_path):
    mine = attention(*qkv)
    mine[1, 2, 3] = numpy.nan
    mine[2, 0] = numpy.inf
    mine[0, 0, 0] += 0.125
    done = against(tmp_path, save(tmp_path, mine))
    assert (done.code, done.err) == (1, b"")
    lines = done.text.splitlines()
    assert lines[0] == f"differs: 10 of {H * T * D}, largest difference inf"
    assert lines[1].startswith("9 of them are NaN or infinite; the first, [1][2][3], is nan in place of ")
    assert " mistakes and pairs gives mine.npy; " in lines[2]
    report = against(tmp_path, "mine.npy", "--json").json
    assert (report["mismatched"], report["not_finite"], report["largest_difference"]) == (10, 9, "inf")
    line = against(tmp_path, "mine.npy", "mine.npy").text.splitlines()[0]
    assert line == f"mine.npy: differs in 10 of {H * T * D}, by up to inf; no listed mistake gives it"
    assert run("attend", *QKV, *CAUSAL, "-o", "right.npy", cwd=tmp_path).code == 0
    text = run("compare", "mine.npy", "right.npy", cwd=tmp_path).text
    assert "; 9 of these differ by NaN or infinity, first at [1][2][3] nan, " in text
    assert "; largest finite difference 1.25e-01 at [0][0][0]" in text and "; largest finite relative " in text


def test_a_large_number_is_not_near_infinity(qkv, tmp_path):
    shown = ["--show", "masked_scores"]
    assert run("attend", *QKV, *CAUSAL, *shown, "-o", "right.npy", cwd=tmp_path).code == 0
    mine = numpy.load(tmp_path / "right.npy")
    mine[numpy.isinf(mine)] = -5e4
    done = against(tmp_path, save(tmp_path, mine), options=[*CAUSAL, *shown])
    assert done.code == 1 and done.text.splitlines()[0].endswith(", largest difference inf")
    assert done.text.splitlines()[1].endswith(" is -50000.0 in place of -inf")


def test_an_infinity_is_the_largest_difference_where_none_is_finite(qkv, tmp_path):
    for name, rows in {"q": 5, "k": 3, "v": 3}.items():
        numpy.save(tmp_path / f"{name}.npy", normal(ord(name), rows, 4))
    done = run("attend", *QKV, *CAUSAL, "-o", "right.npy", cwd=tmp_path)  # two queries see no key
    mine = numpy.load(tmp_path / "right.npy")
    mine[:2] = numpy.nan
    done = against(tmp_path, save(tmp_path, mine))
    assert done.text.startswith("differs: 8 of 20, largest difference inf\n8 of them are NaN or infinite;") and "NaN for queries that see no key" in done.text
    assert against(tmp_path, "mine.npy", "--json").json["largest_difference"] == "inf"


def test_whole_numbers_of_a_print_may_have_lost_their_decimals(tmp_path):
    for name, array in zip("qkv", (3 * normal(1, 4, 4), 3 * normal(2, 4, 4), normal(3, 4, 4))):
        numpy.save(tmp_path / f"{name}.npy", array)
    weights = run("attend", *QKV, "--show", "weights", "-o", "w.npz", cwd=tmp_path)
    assert weights.code == 0
    with numpy.load(tmp_path / "w.npz") as file, numpy.printoptions(precision=0, suppress=True):
        (tmp_path / "mine.txt").write_text(str(file["weights"].round()))
        numpy.save(tmp_path / "mine.npy", file["weights"].round())
    done = against(tmp_path, "mine.txt", options=["--show", "weights"])
    assert done.code == 1 and "rounding" not in done.text
    assert "mine.txt holds only whole numbers, which say too little to name a mistake: print its decimals\n" in done.text
    assert '"the value of the largest score alone"' in against(tmp_path, "mine.npy", options=["--show", "weights"]).text


def test_each_number_in_scientific_notation_has_a_last_digit_of_its_own(tmp_path):
    v = numpy.array([[1234.46, 0.01], [3, 0.001]], "float32")
    for name, array in zip("qkv", (v[:, :1], v[:, :1], v)):
        numpy.save(tmp_path / f"{name}.npy", array)
    for second, code in (("1.0000e-02", 0), ("3.0000e-02", 1)):
        (tmp_path / "mine.txt").write_text(f"tensor([[1.2345e+03, {second}],\n        [3.0000e+00, 1.0000e-03]])")
        done = against(tmp_path, "mine.txt", options=["--window", "0"])  # each query sees its own value
        assert done.code == code, done
    assert "differs: 1 of 4" in done.text and "column    1: 0.0200" in done.text


def test_a_byte_order_mark_and_a_title_are_passed_over(qkv, tmp_path):
    mine = attention(*qkv, scale=1)
    with numpy.printoptions(precision=4, threshold=10**9, suppress=True):
        printed, torch = str(mine), f"tensor({numpy.array2string(mine, separator=', ')})\n"
    for text in ("\ufeff" + printed, f"context:\n{printed}\n", f"The context of mine: {torch}", f"context (4, 11, 8)\n{torch}",
                 f"\ufeff\ncontext = {torch}"):
        (tmp_path / "mine.txt").write_text(text)
        done = against(tmp_path, "mine.txt")
        assert done.code == 1 and 'is what "no scale of the scores" gives' in done.text, (text[:30], done)
        piped = run("attend", *QKV, *CAUSAL, "--against", "-", cwd=tmp_path, stdin=text)
        assert piped.text.replace("- is what", "mine.txt is what") == done.text
    (tmp_path / "mine.txt").write_text("No title:\nhere\n")
    assert_fails(against(tmp_path, "mine.txt"), 65, "got a file that begins with 'No title:'")


def test_a_picture_shows_where_the_error_lies(qkv, tmp_path):
    mine = attention(*qkv)
    mine[2, 7] += 0.25
    mine[1, 3, 5] = numpy.inf
    assert against(tmp_path, save(tmp_path, mine), options=(*CAUSAL, "-o", "error.svg")).code == 1
    mine[1, 3, 5] = 5
    done = against(tmp_path, save(tmp_path, mine), options=(*CAUSAL, "-o", "error.svg"))
    assert done.code == 1 and " mistakes and pairs gives mine.npy; " in done.text
    picture = (tmp_path / "error.svg").read_text()
    root = ElementTree.fromstring(picture)
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "where mine.npy differs" in texts and [f"head {h}" for h in range(H)] == [text for text in texts if text.startswith("head ")]
    cells = [element.text for element in root.iter("{http://www.w3.org/2000/svg}title")][1:]
    assert len(cells) == H * T * D
    at = {(h, i, x): float(cells[(h * T + i) * D + x].split(": ")[1]) for h in range(H) for i in range(T) for x in range(D)}
    assert max(at, key=at.get) == (1, 3, 5) and at[2, 7, 0] == pytest.approx(0.25, 1e-3) and at[0, 0, 0] < 1e-5
    assert "differences of 4 heads (11, 8); rows are queries, columns numbers of the result" in texts


def test_a_picture_of_much_has_cells_of_several_places(tmp_path):
    for name, seed in zip("qkv", (1, 2, 3)):
        numpy.save(tmp_path / f"{name}.npy", normal(seed, 2, 2, 130, 8))
    options = ["--causal", "--show", "weights"]
    assert run("attend", *QKV, "--show", "weights", "-o", "w.npz", cwd=tmp_path).code == 0
    done = run("attend", *QKV, *options, "--against", "w.npz", "-o", "error.svg", "--json", cwd=tmp_path)
    assert done.code == 1 and done.json["named"][0]["mistakes"] == ["causal-missing"]
    picture = (tmp_path / "error.svg").read_text()
    assert "a cell is the largest of 3 × 3" in picture and "batch 1, head 1" in picture


def test_a_picture_is_drawn_of_a_run_and_of_what_agrees(tmp_path):
    succeeds("run", SENTENCE, "--show", "weights", "-o", "mine.npz", cwd=tmp_path)
    assert run("run", SENTENCE, "--against", "mine.npz", "-o", "error.svg", cwd=tmp_path).code == 0
    assert "where mine.npz differs" in (tmp_path / "error.svg").read_text()
    assert run("run", SENTENCE, "--causal", "--against", "mine.npz", "-o", "error.svg", cwd=tmp_path).code == 1
    assert_fails(run("run", SENTENCE, "--against", "mine.npz", "-o", "mine.npz", cwd=tmp_path), 2, "-o")


def tied(folder, *options, offset=0):
    """A file that top-left and bottom-right explain alike: as many queries as keys."""
    arrays = normal(1, 2, 5, 4), normal(2, 2, 5, 4), normal(3, 2, 5, 4)
    for name, array in zip("qkv", arrays):
        numpy.save(folder / f"{name}.npy", array)
    return run("attend", *QKV, *options, cwd=folder)


def test_an_input_is_suggested_that_tells_ties_apart(tmp_path):
    """Of five keys and a window of three to the left no window, one key more and an open side are one."""
    window = ["--window", "3,5"]
    assert tied(tmp_path, "-o", "mine.npy").code == 0
    for file in ("tie.npz", "tie.safetensors"):
        done = run("attend", *QKV, *window, "--against", "mine.npy", "--suggest-input", file, cwd=tmp_path)
        assert done.code == 1 and "does not decide on this input" in done.text
        lines = done.text.splitlines()
        assert f"{file}, of other shapes, is an input that tells them apart; run your attention on it, and then, with its result:" in lines
        command = lines[-1].split()
        assert command[:4] == ["attn-cli", "attend", "-q", f"{file}:queries"] and command[-2:] == ["--against", "FILE"]
        # A program with one of these mistakes, on that input.
        inputs = command[2:8]
        mistakes = (([], "missing"), (["--window", "4,5"], "left-more"), (["--window", "-1,5"], "left-open"))
        for wrong, name in mistakes:
            succeeds("attend", *inputs, *wrong, "-o", "new.npy", cwd=tmp_path)
            found = run(*command[1:-1], "new.npy", "--json", cwd=tmp_path).json
            assert (found["verdict"], names(found)) == ("named", [[f"window-{name}"]])


def test_a_suggested_input_has_masks_lengths_and_types_as_the_input_has(tmp_path):
    for name, seed in zip("qkv", (1, 2, 3)):
        numpy.save(tmp_path / f"{name}.npy", normal(seed, 2, 2, 5, 4, dtype="float16"))
    numpy.save(tmp_path / "m.npy", numpy.ones((5, 5), bool))
    numpy.save(tmp_path / "l.npy", numpy.array([5, 5]))
    given = ["--mask", "m.npy", "--lengths", "l.npy", "--causal", "--window", "3,0"]
    assert run("attend", *QKV, "--causal", "-o", "mine.npy", cwd=tmp_path).code == 0
    done = run("attend", *QKV, *given, "--against", "mine.npy", "--suggest-input", "tie.npz", cwd=tmp_path)
    assert done.code == 1 and "tie.npz, of other shapes, is an input that tells some of them apart" in done.text
    command, alike = done.text.splitlines()[-2:]
    assert alike == '  still alike: "no window", "a window without its left side"'  # behind a query the causal mask hides all
    with numpy.load(tmp_path / "tie.npz") as file:
        types = {"queries": "float16", "keys": "float16", "values": "float16", "mask": "bool", "lengths": "int64"}
        assert {name: str(file[name].dtype) for name in file} == types
    assert command.split()[8:-2] == "--mask tie.npz:mask --lengths tie.npz:lengths --causal --window 3,0".split()
    succeeds(*command.split()[1:-2], "-o", "right.npy", cwd=tmp_path)
    assert run(*command.split()[1:-1], "right.npy", cwd=tmp_path).code == 0


def test_mistakes_that_are_one_by_definition_get_no_input(tmp_path):
    assert tied(tmp_path, "--scale", "0.25", "-o", "mine.npy").code == 0  # 1/d, and 1/√d twice
    done = run("attend", *QKV, "--against", "mine.npy", "--suggest-input", "tie.npz", cwd=tmp_path)
    assert done.code == 1 and '"scores divided by d_k"' in done.text and '"scores scaled twice"' in done.text
    assert "no input is written: they agree on all " in done.text
    assert not (tmp_path / "tie.npz").exists()
    report = run("attend", *QKV, "--against", "mine.npy", "--suggest-input", "tie.npz", "--json", cwd=tmp_path).json
    assert list(report["suggested_input"]) == ["tried"] and report["suggested_input"]["tried"] > 5
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator(succeeds("schema", "diagnosis").json).validate(report)


def test_what_is_not_tied_needs_no_input(qkv, tmp_path):
    done = against(tmp_path, save(tmp_path, attention(*qkv, scale=1)), options=(*CAUSAL, "--suggest-input", "tie.npz"))
    assert done.code == 1 and "no mistakes are tied, and no input is written" in done.message
    assert not (tmp_path / "tie.npz").exists()


QUERIES, KEYS = (0, 3, 3, 10, 14), (0, 5, 7, 16, 20)  # boundaries of four sequences, one of which has no queries


def packed(folder, queries=QUERIES, keys=KEYS, seen=lambda p, j: j <= p, scale=4**-0.5, align=lambda T, S: S - T):
    """Attention of each sequence by itself, with two heads; files of the right boundaries."""
    q, k, v = normal(1, 14, 2, 4), normal(2, 20, 2, 4), normal(3, 20, 2, 4)
    for name, array in {"q": q, "k": k, "v": v, "cu": numpy.array(QUERIES, "int32"), "cu_k": numpy.array(KEYS, "int32")}.items():
        numpy.save(folder / f"{name}.npy", array)
    result = numpy.zeros((14, 2, 4))
    for n in range(len(queries) - 1):
        rows, of = slice(*queries[n : n + 2]), slice(*keys[n : n + 2])
        T, S = rows.stop - rows.start, of.stop - of.start
        scores = numpy.einsum("ihx,jhx->hij", q[rows].astype("float64"), k[of]) * scale
        scores = numpy.where(seen(numpy.arange(T)[:, None] + align(T, S), numpy.arange(S)), scores, -numpy.inf)
        e = numpy.exp(scores - scores.max(-1, keepdims=True, initial=-1e9))
        result[rows] = numpy.einsum("hij,jhx->ihx", e / numpy.maximum(e.sum(-1, keepdims=True), 1e-300), v[of])
    return result.astype("float32")


SEQUENCES = ("--cu-seqlens", "cu.npy", "--cu-seqlens-k", "cu_k.npy", "--causal", "--causal-align", "bottom-right")


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("no-scale", {"scale": 1}),
        ("causal-missing", {"seen": lambda p, j: j < 99}),
        ("causal-top-left", {"align": lambda T, S: 0}),
        ("sequences-missing", {"queries": (0, 14), "keys": (0, 20)}),
        ("sequences-late", {"queries": (0, 4, 4, 11, 14), "keys": (0, 6, 8, 17, 20)}),
        ("sequences-early", {"queries": (0, 2, 2, 9, 14), "keys": (0, 4, 6, 15, 20)}),
        ("sequences-of-queries", {"keys": QUERIES}),
    ],
)
def test_mistakes_in_packed_sequences_are_named(name, wrong, tmp_path):
    assert against(tmp_path, save(tmp_path, packed(tmp_path)), options=SEQUENCES).text.startswith("mine.npy agrees: 112 numbers")
    report = against(tmp_path, save(tmp_path, packed(tmp_path, **wrong)), "--json", options=SEQUENCES).json
    assert (report["verdict"], names(report)) == ("named", [[name]])
    assert [len(report["where"][key]) for key in ("batches", "heads", "rows", "columns")] == [1, 2, 14, 4]


def test_sequences_that_all_read_the_first_keys_are_named(tmp_path):
    first = [(begin - begin, end - begin) for begin, end in zip(KEYS, KEYS[1:])]
    right = packed(tmp_path)
    mine = numpy.concatenate([packed(tmp_path, queries=QUERIES[n : n + 2], keys=keys)[slice(*QUERIES[n : n + 2])] for n, keys in enumerate(first)])
    assert (mine != right).any()
    report = against(tmp_path, save(tmp_path, mine), "--json", options=SEQUENCES).json
    assert (report["verdict"], names(report)) == ("named", [["sequences-first-keys"]])


def test_two_mistakes_in_packed_sequences_are_both_named(tmp_path):
    mine = packed(tmp_path, scale=1, queries=(0, 14), keys=(0, 20))
    report = against(tmp_path, save(tmp_path, mine), "--json", options=SEQUENCES).json
    assert [sorted(each) for each in names(report)] == [["no-scale", "sequences-missing"]]
    assert_fails(against(tmp_path, "mine.npy", options=(*SEQUENCES, "--suggest-input", "tie.npz")), 2,
                 "--cu-seqlens and --suggest-input cannot be used together")


@pytest.mark.parametrize(("name", "place", "of"), [("segments-top-left", 0, (0, 1)), ("segments-first", 2, (0, 0)), (None, 2, (0, 1))])
def test_the_segment_of_another_place_or_batch_entry_is_named(name, place, of, tmp_path):
    q, k, v = normal(1, 2, 1, 5, 4), normal(2, 2, 1, 7, 4), normal(3, 2, 1, 7, 4)
    segments = numpy.array([[0, 0, 0, 1, 1, 1, 1], [0, 1, 1, 1, 1, 2, 2]])
    for file, array in {"q": q, "k": k, "v": v, "segments": segments}.items():
        numpy.save(tmp_path / f"{file}.npy", array)
    own = segments[list(of)]
    seen = own[:, None, place : place + 5, None] == own[:, None, None, :]
    save(tmp_path, softmaxed(numpy.where(seen, q.astype("float64") @ k.swapaxes(2, 3) / 2, -numpy.inf)) @ v)
    done = against(tmp_path, "mine.npy", "--json", options=("--segments", "segments.npy", "--causal-align", "bottom-right"))
    assert done.json.get("named", []) == [] if name is None else names(done.json) == [[name]]


def log_sums(q, k, scale=D**-0.5, offset=S - T, sinks=None, maximum=1, base=numpy.e):
    q, k = q.astype("float64"), k.astype("float64")
    scores = numpy.where(numpy.arange(S) <= numpy.arange(T)[:, None] + offset, q @ numpy.repeat(k, H // H_KV, 0).swapaxes(1, 2) * scale, -numpy.inf)
    if sinks is not None:
        scores = numpy.concatenate([scores, numpy.broadcast_to(sinks[:, None, None], (H, T, 1))], -1)
    largest = scores.max(-1)
    return ((maximum * largest + numpy.log(numpy.exp(scores - largest[..., None]).sum(-1))) / numpy.log(base)).astype("float32")


LSE = (*CAUSAL, "--show", "lse")


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"base": 2}, ["lse-base-2"]),
        ({"maximum": 0}, ["lse-no-maximum"]),
        ({"scale": 1}, ["no-scale"]),
        ({"offset": S - T - 1}, ["causal-strict"]),
        ({"scale": 1, "base": 2}, ["no-scale", "lse-base-2"]),
    ],
)
def test_what_is_wrong_with_lse_is_named(wrong, named, qkv, tmp_path):
    q, k, _ = qkv
    right = against(tmp_path, save(tmp_path, log_sums(q, k)), options=LSE)
    assert right.text.startswith(f"mine.npy agrees: {H * T} numbers")
    save(tmp_path, log_sums(q, k, **wrong))
    report = against(tmp_path, "mine.npy", "--json", "-o", "error.svg", options=LSE).json
    assert (report["verdict"], [sorted(each) for each in names(report)]) == ("named", [sorted(named)])
    assert [len(report["where"][key]) for key in ("batches", "heads", "rows", "columns")] == [1, H, T, 1]
    assert "where mine.npy differs" in (tmp_path / "error.svg").read_text()


def test_an_lse_without_the_sink_is_that_of_a_softmax_without_it(qkv, tmp_path):
    sinks = numpy.array([0.5, -1, 2, 1])
    numpy.save(tmp_path / "sinks.npy", sinks)
    options = (*LSE, "--sinks", "sinks.npy")
    assert against(tmp_path, save(tmp_path, log_sums(*qkv[:2], sinks=sinks)), options=options).code == 0
    done = against(tmp_path, save(tmp_path, log_sums(*qkv[:2])), options=options)
    assert done.code == 1 and '"lse without the sink"' in done.text and '"no sink: weights that sum to 1"' in done.text
    report = against(tmp_path, "mine.npy", "--json", options=options).json
    assert (report["verdict"], sorted(names(report))) == ("tied", [["lse-no-sink"], ["sink-missing"]])


def test_an_lse_of_a_row_that_sees_nothing_is_minus_infinity(tmp_path):
    for name, rows in {"q": 5, "k": 3, "v": 3}.items():
        numpy.save(tmp_path / f"{name}.npy", normal(ord(name), rows, 4))
    assert run("attend", *QKV, *LSE, "-o", "right.npy", cwd=tmp_path).code == 0  # two queries see no key
    mine = numpy.load(tmp_path / "right.npy")
    assert numpy.isneginf(mine[:2]).all() and against(tmp_path, "right.npy", options=LSE).code == 0
    mine[:2] = numpy.nan
    report = against(tmp_path, save(tmp_path, mine), "--json", options=LSE).json
    assert names(report) == [["empty-rows-nan"]]


def test_what_lse_does_not_show_is_not_tried_in_it(qkv, tmp_path):
    report = against(tmp_path, save(tmp_path, log_sums(*qkv[:2]) + 1), "--json", options=LSE).json
    tried = {name for candidate in report["candidates"] for name in candidate["mistakes"]}
    assert report["verdict"] == "unknown" and {"no-scale", "lse-base-2", "tile-sum-16"} <= tried
    assert not tried & {"weights-transposed", "softmax-over-queries", "values-lanes-4", "tile-accumulator-16", "softmax-twice"}
    context = against(tmp_path, save(tmp_path, attention(*qkv) + 1), "--json").json
    assert not any("lse" in name for candidate in context["candidates"] for name in candidate["mistakes"])


@pytest.mark.parametrize(
    ("scale", "story"),
    [
        (16**-0.5, "which is 1/√16 = 1/4; d_k is 10: a padded head?"),
        (128**-0.5, "which is 1/√128; d_k is 10: a padded head?"),
        (6**-0.5, "which is 1/√6; there are 6 heads"),
        (48**-0.5, "which is 1/√48; the right scale is 0.316"),
        (0.5, "which is 1/2; the right scale is 0.316"),
        (0.2346, "; the right scale is 0.316"),
    ],
)
@pytest.mark.parametrize("shown", ["context", "weights", "lse"])
def test_a_scale_of_no_list_is_fitted_and_told(scale, story, shown, tmp_path):
    q, k, v = (normal(seed, 6, 13, 10, dtype="float64") for seed in (1, 2, 3))
    for name, array in zip("qkv", (q, k, v)):
        numpy.save(tmp_path / f"{name}.npy", array)
    scores = q @ k.swapaxes(1, 2) * scale
    weights = softmaxed(scores)
    save(tmp_path, {"context": weights @ v, "weights": weights, "lse": numpy.log(numpy.exp(scores).sum(-1))}[shown].astype("float32"))
    done = against(tmp_path, "mine.npy", options=("--show", shown))
    told = f"scores times {scale:.3g}" + ("" if story[0] == ";" else ", ") + story
    assert f'mine.npy is what "{told}" gives: largest difference ' in done.text, done.text
    assert done.text.endswith("try: multiply Q·Kᵀ by the scale, 1/√d_k unless another is given\n")
    report = against(tmp_path, "mine.npy", "--json", options=("--show", shown)).json
    assert (report["verdict"], names(report)) == ("named", [["scale-other"]])
    assert report["named"][0]["scale"] == pytest.approx(scale, 1e-5)
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator(succeeds("schema", "diagnosis").json).validate(report)


def test_a_scale_that_has_a_name_of_its_own_keeps_it(tmp_path):
    q, k, v = (normal(seed, 2, 13, 10, dtype="float64") for seed in (1, 2, 3))
    for name, array in zip("qkv", (q, k, v)):
        numpy.save(tmp_path / f"{name}.npy", array)
    for scale, name in ((20**-0.5, ["scale-model"]), (numpy.log(2), ["no-scale", "exp-base-2"])):
        save(tmp_path, (softmaxed(q @ k.swapaxes(1, 2) * scale) @ v).astype("float32"))
        assert names(against(tmp_path, "mine.npy", "--json", options=()).json) == [name]


def test_one_row_of_two_keys_is_no_proof_of_a_scale(tmp_path):
    """Any weights of two keys are those of some scale."""
    for name, rows in {"q": 1, "k": 2, "v": 2}.items():
        numpy.save(tmp_path / f"{name}.npy", normal(ord(name), rows, 8))
    v = numpy.load(tmp_path / "v.npy")
    report = against(tmp_path, save(tmp_path, (0.45 * v[:1] + 0.55 * v[1:]).astype("float32")), "--json", options=()).json
    assert report["verdict"] == "unknown" and ["scale-other"] not in [each["mistakes"] for each in report["candidates"]]


def test_the_scale_of_a_learner_s_script_is_fitted_too(tmp_path):
    succeeds("run", SENTENCE, "--scale", "0.125", "--show", "weights", "-o", "mine.npz", cwd=tmp_path)
    report = held(SENTENCE, "--against", "mine.npz", cwd=tmp_path)
    assert names(report) == [["scale-other"]] and report["named"][0]["what"][0].startswith("scores times 0.125, which is 1/√64 = 1/8; d_k is 24: a padded head?")


def test_every_story_of_a_tie_is_told(tmp_path):
    """One query that sees one key, and zeros."""
    for name, rows in {"q": 1, "k": 33, "v": 33, "mine": 1}.items():
        numpy.save(tmp_path / f"{name}.npy", normal(ord(name[0]), rows, 4) if name != "mine" else numpy.zeros((1, 4), "float32"))
    report = against(tmp_path, "mine.npy", "--json", options=["--causal"]).json
    expected = ["causal-strict", "tile-diagonal-dropped-16", "tile-diagonal-dropped-32", *(f"tile-rows-dropped-{size}" for size in (16, 32, 64, 128, 256))]
    assert (report["verdict"], names(report)) == ("tied", [[name] for name in expected])
    text = against(tmp_path, "mine.npy", options=["--causal"]).text
    line = against(tmp_path, "mine.npy", "mine.npy", options=["--causal"]).text.splitlines()[0]
    for (what,) in (candidate["what"] for candidate in report["named"]):
        assert f'  "{what}": largest difference 0\n' in text and f'"{what}"' in line
    assert text.count("\ntry: ") == 3 and "others" not in line


ALL = (*CAUSAL, "--show", "context,lse,weights")


def stored(folder, file="mine.npz", **wrong):
    """Context, lse and weights of the program, some of them of a call with other options."""
    arrays = {}
    for array in ("context", "lse", "weights"):
        assert run("attend", *QKV, *wrong.get(array, CAUSAL), "--show", array, "-o", "one.npz", cwd=folder).code == 0
        with numpy.load(folder / "one.npz") as one:
            arrays[array] = one[array]
    return arrays


STRICT = ("--causal", "--causal-align", "top-left")


def base_2(arrays):
    arrays["lse"] = arrays["lse"] / numpy.log(2).astype("float32")


def other_values(arrays):
    arrays["context"] = arrays["context"][::-1]


@pytest.mark.parametrize(
    ("wrong", "change", "differ", "pattern", "named"),
    [
        ({}, None, [], "all-agree", []),
        ({}, base_2, ["lse"], "lse-alone", [["lse-base-2"]]),
        ({}, other_values, ["context"], "behind-weights", [["heads-reversed"]]),
        ({name: STRICT for name in ("context", "lse", "weights")}, None, ["context", "lse", "weights"], "all-differ", [["causal-top-left"]]),
        ({"context": STRICT, "weights": STRICT}, None, ["context", "weights"], "behind-lse", []),
        ({"weights": STRICT}, None, ["weights"], "mixed", []),
    ],
)
def test_the_arrays_of_one_file_are_judged_together(wrong, change, differ, pattern, named, qkv, tmp_path):
    arrays = stored(tmp_path, **wrong)
    if change:
        change(arrays)
    numpy.savez(tmp_path / "mine.npz", **arrays)
    done = against(tmp_path, "mine.npz", "--json", options=ALL)
    reports = [json.loads(line) for line in done.text.splitlines()]
    assert done.code == (1 if differ else 0)
    assert {report["array"]: report["agrees"] for report in reports} == {name: name not in differ for name in ("context", "lse", "weights")}
    assert all(report["together"] == {"pattern": pattern, "named": named} and report["file"] == "mine.npz" for report in reports)
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft202012Validator(succeeds("schema", "diagnosis").json)
    for report in reports:
        validator.validate(report)
    text = against(tmp_path, "mine.npz", options=ALL).text
    for name in differ:
        assert f"differs from the {name}: " in text
    assert ("all arrays are given by " in text) == bool(named) and ("mine.npz: " in text) == bool(differ)
    lines = against(tmp_path, "mine.npz", "mine.npz", options=ALL).text.splitlines()
    assert len(lines) == 2 * (3 + bool(differ)) and {line.split(": ")[0] for line in lines} >= {"mine.npz:context", "mine.npz:lse"}


def test_a_sink_that_lse_alone_forgot_is_told_from_one_that_the_softmax_forgot(qkv, tmp_path):
    """Each of the two is a tie in lse alone."""
    sinks = numpy.array([0.5, -1, 2, 1])
    numpy.save(tmp_path / "sinks.npy", sinks)
    right, wrong = (*CAUSAL, "--sinks", "sinks.npy"), CAUSAL
    for context, pattern, named in ((right, "lse-alone", "lse-no-sink"), (wrong, "all-differ", "sink-missing")):
        numpy.savez(tmp_path / "mine.npz", **{name: array for name, array in stored(tmp_path, context=context, lse=wrong).items() if name != "weights"})
        done = against(tmp_path, "mine.npz", "--json", options=(*right, "--show", "context,lse"))
        assert json.loads(done.text.splitlines()[0])["together"] == {"pattern": pattern, "named": [[named]]}


def test_a_file_that_lacks_an_array_is_one_line(qkv, tmp_path):
    numpy.savez(tmp_path / "mine.npz", context=attention(*qkv))
    assert_fails(against(tmp_path, "mine.npz", options=ALL), 65, "tensor of 'mine.npz': got 1 tensor; allowed: one named 'weights'")


def test_each_tied_mistake_has_its_advice(tmp_path):
    assert tied(tmp_path, "--scale", "0.25", "-o", "mine.npy").code == 0
    done = run("attend", *QKV, "--against", "mine.npy", cwd=tmp_path)
    assert done.text.endswith("try: divide Q·Kᵀ by √d_k\ntry: scale the queries or the scores, not both\n")


def held(*arguments, cwd, **options):
    """What `run --against` says of one file, as its report."""
    done = run("run", *arguments, "--json", cwd=cwd, **options)
    assert done.code in (0, 1) and done.err == b"", done
    return done.json


def names(report):
    return [each["mistakes"] for each in report["named"]]


@pytest.mark.parametrize(
    ("options", "name"),
    [
        (["--seed", "42"], "seed-42"),
        (["--seed", "987"], "seed-987"),
        (["--casefold"], "case"),
        (["--causal"], "causal-added"),
        (["--scale", "none"], "no-scale"),
        (["--init", "linear"], "init-linear"),
        (["--generator", "numpy"], "generator-numpy"),
    ],
)
@pytest.mark.parametrize("array", ["weights", "context"])
def test_a_mistake_around_the_attention_is_named(options, name, array, tmp_path):
    succeeds("run", SENTENCE, *options, "--show", array, "-o", "mine.npz", cwd=tmp_path)
    report = held(SENTENCE, "--against", "mine.npz", cwd=tmp_path)
    assert names(report) == [[name]]
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator(succeeds("schema", "diagnosis").json).validate(report)


def test_positions_and_output_projections_are_compared_too(tmp_path):
    rotary = ["--heads", "2", "--d-k", "8", "--d-v", "8", "--positions"]
    for wrong, name in (("none", "positions-missing"), ("rope:style=interleaved", "rope-style"), ("rope:base=500000", "rope-base-500000")):
        succeeds("run", SENTENCE, *rotary, wrong, "--show", "weights", "-o", "mine.npz", cwd=tmp_path)
        assert names(held(SENTENCE, *rotary, "rope", "--against", "mine.npz", cwd=tmp_path)) == [[name]]
    succeeds("run", SENTENCE, "--heads", "2", "--show", "weights", "-o", "mine.npz", cwd=tmp_path)
    assert names(held(SENTENCE, "--heads", "2", "--positions", "alibi", "--against", "mine.npz", cwd=tmp_path)) == [["alibi-missing"]]
    succeeds("run", SENTENCE, "--heads", "2", "--output-projection", "--scale", "none", "--show", "output", "-o", "mine.npz", cwd=tmp_path)
    assert names(held(SENTENCE, "--heads", "2", "--output-projection", "--against", "mine.npz", cwd=tmp_path)) == [["no-scale"]]


def test_arrays_of_one_shape_are_told_apart_by_name_or_by_what_explains_them(tmp_path):
    heads = ["--heads", "4", "--output-projection"]  # context and output are (6, 16)
    for array in ("context", "output"):
        for options, name in (([], []), (["--causal"], [["causal-added"]])):
            succeeds("run", SENTENCE, *heads, *options, "--show", array, "-o", "mine.npz", cwd=tmp_path)
            with numpy.load(tmp_path / "mine.npz") as file:
                numpy.save(tmp_path / "mine.npy", file[array])
            for file in ("mine.npz", "mine.npy"):
                report = held(SENTENCE, *heads, "--against", file, cwd=tmp_path)
                assert (report["agrees"], names(report) if name else []) == (not name, name)


def test_a_mistake_around_the_attention_and_one_of_it_are_both_named(tmp_path):
    succeeds("run", SENTENCE, "--casefold", "--causal", "--show", "weights", "-o", "mine.npz", cwd=tmp_path)
    assert names(held(SENTENCE, "--against", "mine.npz", cwd=tmp_path)) == [["case", "causal-added"]]


def test_the_embedding_s_size_a_forgotten_batch_first_and_dropout_are_named(tmp_path):
    succeeds("run", SENTENCE, "--scale", "0.25", "--show", "weights", "-o", "mine.npz", cwd=tmp_path)  # 1/√16
    assert names(held(SENTENCE, "--against", "mine.npz", cwd=tmp_path)) == [["scale-embedding"]]
    succeeds("run", SENTENCE, "--show", "values", "-o", "values.npz", cwd=tmp_path)
    with numpy.load(tmp_path / "values.npz") as file:
        numpy.save(tmp_path / "mine.npy", file["values"])  # each word sees itself alone
    expected = [["batch-as-positions"], ["own-value"]]
    assert names(held(SENTENCE, "--show", "context", "--against", "mine.npy", cwd=tmp_path)) == expected
    succeeds("run", SENTENCE, "--show", "context", "-o", "mine.npz", cwd=tmp_path)
    assert names(held(SENTENCE, "--dropout", "0.5", "--against", "mine.npz", cwd=tmp_path)) == [["dropout-missing"]]


X, W_Q, W_K, W_V = ([[1, 0, 2], [0, 3, 1], [2, 1, 0], [1, 1, 1]], [[1, 2, 0], [0, 1, 0], [3, 0, 1]], [[0, 1, 1], [2, 0, 0], [0, 0, 1]],
                    [[1, 0, 0], [0, 2, 1], [1, 0, 1]])


def lesson(folder, **more):
    """A recipe in which everything is written out, x @ W."""
    matrices = [{"tensor": f"W_{name}", "values": W, "side": "right"} for name, W in zip("qkv", (W_Q, W_K, W_V))]
    recipe = {"schema": "attn-cli/recipe/1", "name": "lesson", "input": {"positions": 4},
              "draws": [{"tensor": "embeddings", "values": X}, *matrices], **more}
    (folder / "lesson.json").write_text(json.dumps(recipe))


def student(hidden=None, weights_of=softmaxed, residual=0, **transposed):
    """Weights and context of a script of that lesson."""
    x = numpy.array(X, "float64")
    q, k, v = (x @ (numpy.array(W).T if transposed.get(name) else numpy.array(W)) for name, W in zip("qkv", (W_Q, W_K, W_V)))
    scores = q @ k.T / 3**0.5
    weights = weights_of(scores if hidden is None else numpy.where(hidden, -numpy.inf, scores))
    return weights, weights @ v + residual * x


@pytest.mark.parametrize(
    ("name", "knobs"),
    [
        ("W_q-transposed", {"q": True}),
        ("W_k-transposed", {"k": True}),
        ("W_v-transposed", {"v": True}),
        ("projections-transposed", {"q": True, "k": True, "v": True}),
        ("residual", {"residual": 1}),
        ("causal-added-backwards", {"hidden": numpy.tri(4, k=-1)}),
        ("softmax-proportional", {"weights_of": lambda scores: scores / scores.sum(1, keepdims=True)}),
    ],
)
def test_a_mistake_with_numbers_that_are_written_out_is_named(name, knobs, tmp_path):
    lesson(tmp_path)
    for array, right, wrong in zip(("weights", "context"), student(), student(**knobs)):
        report = held("--recipe", "lesson.json", "--show", array, "--against", save(tmp_path, wrong), cwd=tmp_path)
        assert report["agrees"] if (right == wrong).all() else names(report) == [[name]], array


def test_mistakes_that_no_input_tells_apart_are_not_said_to_be_alike_on_this_one(tmp_path):
    """Where W_k and W_v are symmetric, W_q transposed is all three transposed."""
    diagonal = [[2, 0, 0], [0, 3, 0], [0, 0, 4]]
    draws = [{"tensor": name, "values": values, "side": "right"} for name, values in (("W_q", W_Q), ("W_k", diagonal), ("W_v", diagonal))]
    lesson(tmp_path, draws=[{"tensor": "embeddings", "values": X}, *draws])
    x = numpy.array(X, "float64")
    weights = softmaxed(x @ numpy.transpose(W_Q) @ numpy.transpose(x @ diagonal) / 3**0.5)
    done = run("run", "--recipe", "lesson.json", "--show", "weights", "--against", save(tmp_path, weights), cwd=tmp_path)
    assert done.code == 1 and "mine.npy does not decide: it is as near to each of\n" in done.text
    assert '"W_q transposed"' in done.text and '"W_q, W_k and W_v transposed"' in done.text


def test_a_side_is_named_where_the_shapes_of_draws_say_the_sizes(tmp_path):
    def drawn(side, *shape):
        draws = [{"tensor": f"W_{name}", "init": "uniform", "side": side, "shape": shape} for name in "qkv"]
        lesson(tmp_path, draws=[{"tensor": "embeddings", "values": X}, {"seed": 1}, *draws])

    drawn("right", 3, 2)
    mine = succeeds("run", "--recipe", "lesson.json", "--show", "context", "--json", cwd=tmp_path).json["context"]
    drawn("left", 2, 3)
    report = held("--recipe", "lesson.json", "--show", "context", "--against", save(tmp_path, numpy.array(mine)), cwd=tmp_path)
    assert names(report) == [["side"]]


def test_a_residual_and_a_mistake_of_attention_are_both_named(tmp_path):
    lesson(tmp_path)
    _, context = student(residual=1, hidden=numpy.triu(numpy.ones((4, 4)), 1))
    report = held("--recipe", "lesson.json", "--against", save(tmp_path, context), cwd=tmp_path)
    assert names(report) == [["causal-added", "residual"]]


def test_dropout_that_is_left_on_is_named_whatever_its_seed(tmp_path):
    lesson(tmp_path)
    kept = numpy.array([[1, 0, 1, 1], [1, 1, 1, 0], [0, 1, 1, 1], [1, 1, 0, 1]])
    weights = student(weights_of=lambda scores: softmaxed(scores) * kept / 0.75)[0]
    report = held("--recipe", "lesson.json", "--against", save(tmp_path, weights), cwd=tmp_path)
    assert names(report) == [["dropout-on"]]
    weights *= 0.75  # which no dropout leaves
    assert names(held("--recipe", "lesson.json", "--against", save(tmp_path, weights), cwd=tmp_path)) == []
    lesson(tmp_path, attention={"dropout": {"p": 0.5, "seed": 123}})
    dropped = succeeds("run", "--recipe", "lesson.json", "--show", "context", "--json", cwd=tmp_path).json["context"]
    lesson(tmp_path)
    report = held("--recipe", "lesson.json", "--against", save(tmp_path, numpy.array(dropped)), cwd=tmp_path)
    assert names(report) == [["dropout-on"]]


def test_a_module_in_place_of_single_layers_is_named(tmp_path):
    module = [{"seed": 7}, {"init": "multihead_attention"}]
    layers = [{"seed": 7}, *({"tensor": f"W_{name}", "init": "linear"} for name in "qkv")]
    words = {"tensor": "embeddings", "values": [row + [number] for row, number in zip(X, (1, 0, 2, 5))]}
    for heads in (1, 2):
        lesson(tmp_path, draws=[words, *module], dims={"heads": heads}, head="mean")
        weights = succeeds("run", "--recipe", "lesson.json", "--show", "weights", "--json", cwd=tmp_path).json["weights"]
        lesson(tmp_path, draws=[words, *module], dims={"heads": heads})
        output = succeeds("run", "--recipe", "lesson.json", "--show", "output", "--json", cwd=tmp_path).json["output"]
        lesson(tmp_path, draws=[words, *layers], dims={"d_k": 4, "d_v": 4})
        for mine in (weights, output):
            report = held("--recipe", "lesson.json", "--against", save(tmp_path, numpy.array(mine)), cwd=tmp_path)
            assert names(report) == [["multihead-attention"]]


def test_any_array_of_a_run_is_compared_by_its_name_or_shape(tmp_path):
    succeeds("run", SENTENCE, "--seed", "5", "--show", "queries,context", "-o", "mine.npz", cwd=tmp_path)
    assert names(held(SENTENCE, "--against", "mine.npz", cwd=tmp_path)) == [["seed-5"]]  # the context
    assert names(held(SENTENCE, "--show", "queries", "--against", "mine.npz", cwd=tmp_path)) == [["seed-5"]]
    printed = succeeds("run", SENTENCE, "--seed", "5", "--show", "weights", "--notation", "torch").text
    (tmp_path / "printed.txt").write_text(printed.partition("\n")[2])
    assert names(held(SENTENCE, "--against", "printed.txt", cwd=tmp_path)) == [["seed-5"]]


def test_files_hold_the_rows_that_a_recipe_asks_for_or_all(tmp_path):
    for rows in (["--query", "is"], []):
        succeeds("run", SENTENCE, *rows, "--scale", "none", "--show", "weights", "-o", "mine.npz", cwd=tmp_path)
        assert names(held(SENTENCE, "--query", "is", "--against", "mine.npz:weights", cwd=tmp_path)) == [["no-scale"]]


def test_files_of_a_class_get_a_line_each(tmp_path):
    for name, seed in (("ann", "123"), ("ben", "42")):
        succeeds("run", SENTENCE, "--seed", seed, "--show", "context", "-o", f"{name}.npz", cwd=tmp_path)
    done = run("run", SENTENCE, "--against", "ann.npz", "ben.npz", "none.npz", cwd=tmp_path)
    assert (done.code, done.text) == (66, 'ann.npz: agrees with the context\nben.npz: "the seed 42"\n')
    assert run("run", "--against", "ann.npz", cwd=tmp_path, stdin=SENTENCE).code == 0


def test_what_run_cannot_compare_is_one_line(tmp_path):
    succeeds("run", SENTENCE, "--show", "weights", "-o", "mine.npz", cwd=tmp_path)
    for arguments, code, message in (
        (["Life is", "--against", "mine.npz"], 65, "'mine.npz': got the shape (1, 6, 6); allowed: (2, 2) of weights"),
        (["--against", "mine.npz", SENTENCE], 2, "SENTENCE goes before it"),
        ([SENTENCE, "--show", "tokens", "--against", "mine.npz"], 2, "--show: got tokens"),
        ([SENTENCE, "--show", "all", "--against", "mine.npz"], 2, "--show: got several items"),
        ([SENTENCE, "--against", "mine.npz", "-o", "x.json"], 2, "-o: got 'x.json'; allowed: with --against a picture of the differences (.svg)"),
        ([SENTENCE, "--max-input-bytes", "100", "--against", "mine.npz"], 65, "'mine.npz': got 392 bytes; allowed: up to 100; --max-input-bytes"),
        (["--lines", "x", "--against", "mine.npz"], 2, "--lines and --against cannot be used together"),
    ):
        assert_fails(run("run", *arguments, cwd=tmp_path), code, message)


@counts_memory
def test_one_query_and_many_keys_take_little_more_memory_than_the_files(tmp_path):
    """Twice the files and 100 MB: a new token that meets a long cache is where keys and values are large and the result is not."""
    q, k, v = normal(1, 8, 1, 64), normal(2, 2, 32768, 64), normal(3, 2, 32768, 64)
    for name, array in (("q", q), ("k", k), ("v", v)):
        numpy.save(tmp_path / f"{name}.npy", array)
    k, v = (numpy.repeat(array.astype("float64"), 4, 0) for array in (k, v))
    weights = numpy.exp(q.astype("float64") @ k.transpose(0, 2, 1))
    save(tmp_path, (weights / weights.sum(-1, keepdims=True) @ v).astype("float32"))
    done, _, megabytes = measured("attend", *QKV, "--against", "mine.npy", cwd=tmp_path)
    assert (done.code, done.err) == (1, b"")
    assert 'is what "no scale of the scores" gives' in done.text
    files = sum((tmp_path / f"{name}.npy").stat().st_size for name in (*"qkv", "mine"))
    assert megabytes < 2 * files / 2**20 + 100


# ---- before anything is computed, and after all is said ------------------------------------------------------------------


def test_the_exit_code_says_it_also_when_nobody_reads_the_verdict(qkv, tmp_path):
    wrong = save(tmp_path, attention(*qkv, offset=0))
    for form in ((), ("--json",), ("-o", "error.svg"), ("--suggest-input", "s.npz")):
        done = run_unread("attend", *QKV, *CAUSAL, "--against", wrong, *form, cwd=tmp_path)
        assert (done.code, done.err.replace(b"attn-cli: warning: --suggest-input: no mistakes are tied, and no input is written\n", b"")) == (1, b"")
    assert run_unread("attend", *QKV, *CAUSAL, "--against", wrong, wrong, cwd=tmp_path).code == 1


def test_a_picture_that_nobody_reads_keeps_neither_the_verdict_nor_its_text(qkv, tmp_path):
    wrong = save(tmp_path, attention(*qkv, offset=0))
    read, write = os.pipe()
    os.close(read)
    done = run("attend", *QKV, *CAUSAL, "--against", wrong, "-o", f"/dev/fd/{write}", cwd=tmp_path, pass_fds=[write])
    os.close(write)
    assert (done.code, done.err) == (1, b"") and 'what "causal mask aligned top-left" gives' in done.text


@pytest.mark.parametrize(("file", "code", "says"), [
    ("none.npy", 66, "none.npy"), ("broken.npy", 65, "broken.npy"), ("flat.npy", 65, f"the shape ({D},); allowed: ({H}, {T}, {D}), that of the context"),
    ("qkv.npz", 65, "one named 'context'"),
])
def test_a_file_that_cannot_be_judged_is_refused_before_anything_is_computed(qkv, tmp_path, file, code, says):
    (tmp_path / "broken.npy").write_bytes(b"\x93NUMPY\x01")
    save(tmp_path, normal(1, D), "flat.npy")
    numpy.savez(tmp_path / "qkv.npz", q=qkv[0], k=qkv[1])
    done = run("attend", *QKV, "--against", file, "--verbose", cwd=tmp_path)
    assert (done.code, done.out) == (code, b"") and says in done.message, done
    assert "debug: attention" not in done.message


def test_a_run_opens_its_file_before_it_computes(tmp_path):
    done = run("run", SENTENCE, "--against", "none.npy", "--verbose", cwd=tmp_path)
    assert (done.code, done.out) == (66, b"") and "debug: attention" not in done.message


@pytest.mark.parametrize("header", [True, False])
def test_raw_numbers_are_no_fifo_and_no_device(qkv, tmp_path, header):
    os.mkfifo(tmp_path / "fifo.bin")
    os.symlink("/dev/zero", tmp_path / "zero.bin")
    for name in ("fifo.bin", "zero.bin"):
        if header:
            told = {"schema": "attn-cli/raw/1", "bytes": 4 * D, "arrays": [{"name": "y", "dtype": "float32", "shape": [D], "offset": 0}]}
            (tmp_path / f"{name}.json").write_text(json.dumps(told))
        for call in (("attend", *QKV, "--against", name), ("attend", "-q", name, "-k", "k.npy", "-v", "v.npy"), ("compare", name, "q.npy")):
            assert_fails(run(*call, cwd=tmp_path), 65, name, "a FIFO or a device")


@pytest.mark.parametrize("tolerance", [("--rtol", "1e-06", "--atol", "1e-06"), ("--strict",)])
def test_the_command_for_an_input_that_tells_mistakes_apart_judges_as_this_one(tmp_path, tolerance):
    for name in "qkv":
        numpy.save(tmp_path / f"{name}.npy", normal(ord(name), 2, 5, D))
    succeeds("attend", *QKV, "-o", "tied.npy", cwd=tmp_path)
    done = run("attend", *QKV, "--window", "3,5", *tolerance, "--against", "tied.npy", "--suggest-input", "tie.npz", cwd=tmp_path)
    assert done.code == 1 and " --window 3,5 " + " ".join(tolerance) + " --against FILE\n" in done.text
