"""`attend` where there is nothing to attend to, or nobody who does: no keys, no queries, no batch, an empty cache."""

import pytest
from program import assert_fails, run, succeeds
from tensors import attention, close, normal, numpy

H, T, S, D, D_V = 2, 5, 7, 8, 6


def attend(folder, q, k, v, *options, past=None, show="context"):
    """The stages by name, computed together and each alone: both must be the same bytes."""
    arrays = {"q": q, "k": k, "v": v, **({} if past is None else {"pk": past[0], "pv": past[1]})}
    for name, array in arrays.items():
        numpy.save(folder / f"{name}.npy", array)
    files = ["-q", "q.npy", "-k", "k.npy", "-v", "v.npy"]
    if past is not None:
        files += ["--past-key", "pk.npy", "--past-value", "pv.npy"]
    succeeds("attend", *files, *options, "--show", show, "-o", "y.npz", cwd=folder)
    with numpy.load(folder / "y.npz") as file:
        stages = dict(file)
    for threads in (1, 4):
        succeeds("attend", *files, *options, "--threads", threads, "-o", "y.npy", cwd=folder)
        numpy.testing.assert_array_equal(numpy.load(folder / "y.npy"), stages["context"], strict=True)
    return stages


@pytest.mark.parametrize("leading", [(), (H,), (3, H)])
@pytest.mark.parametrize("options", [(), ("--causal",), ("--window", "1"), ("--softcap", "2")])
def test_without_keys_every_row_is_empty(tmp_path, leading, options):
    tensors = normal(1, *leading, T, D), normal(2, *leading, 0, D), normal(3, *leading, 0, D_V)
    for rows, value in (("zero", 0), ("nan", numpy.nan)):
        stages = attend(tmp_path, *tensors, *options, "--empty-rows", rows, show="all")
        numpy.testing.assert_array_equal(stages["context"], numpy.full((*leading, T, D_V), value))
        numpy.testing.assert_array_equal(stages["entropy"], numpy.full((*leading, T), value))
        assert stages["weights"].shape == stages["scores"].shape == (*leading, T, 0)
    numpy.testing.assert_array_equal(attend(tmp_path, *tensors, *options)["context"], numpy.zeros((*leading, T, D_V)))


def test_without_keys_rows_are_empty_also_where_heads_lie_side_by_side(tmp_path):
    tensors = normal(1, T, H * D), normal(2, 0, H * D), normal(3, 0, H * D_V)
    for rows, value in (("zero", 0), ("nan", numpy.nan)):
        y = attend(tmp_path, *tensors, "--heads", H, "--empty-rows", rows)["context"]
        numpy.testing.assert_array_equal(y, numpy.full((T, H * D_V), value))


@pytest.mark.parametrize("rows, value", [("zero", 0), ("nan", numpy.nan)])
def test_a_batch_entry_without_valid_keys_is_empty_and_no_other(tmp_path, rows, value):
    q, k, v = normal(1, 2, H, T, D), normal(2, 2, H, S, D), normal(3, 2, H, S, D_V)
    numpy.save(tmp_path / "lengths.npy", numpy.array([0, S]))
    stages = attend(tmp_path, q, k, v, "--lengths", "lengths.npy", "--empty-rows", rows, show="all")
    assert (stages["masked_scores"][0] == -numpy.inf).all() and numpy.isfinite(stages["masked_scores"][1]).all()
    for name in ("weights", "context"):
        numpy.testing.assert_array_equal(stages[name][0], numpy.full(stages[name][0].shape, value))
    close(stages["context"][1:], attention(q[1:], k[1:], v[1:])[1])


@pytest.mark.parametrize("shape", [(0, D), (2, 0, D), (3, 2, 0, D), (0, 2, T, D), (0, 2, 0, D)])
@pytest.mark.parametrize("rows", ["zero", "nan"])
def test_no_queries_and_no_batch_give_an_empty_result(tmp_path, shape, rows):
    q, k, v = numpy.zeros(shape, "float32"), normal(1, *shape[:-2], S, D), normal(2, *shape[:-2], S, D_V)
    stages = attend(tmp_path, q, k, v, "--empty-rows", rows, show="all")
    assert stages["context"].shape == shape[:-1] + (D_V,)
    assert stages["weights"].shape == shape[:-1] + (S,)
    assert stages["entropy"].shape == shape[:-1]


def test_no_queries_and_no_batch_are_empty_lists_in_json(tmp_path):
    numpy.save(tmp_path / "k.npy", normal(1, 0, H, S, D))
    done = succeeds("attend", "-q", "k.npy", "-k", "k.npy", "-v", "k.npy", cwd=tmp_path).json
    assert (done["shape"], done["data"]) == ([0, H, S, D], [])


@pytest.mark.parametrize("type", ["float32", "bool"])
@pytest.mark.parametrize("batches, queries", [(0, T), (2, 0), (0, 0)])
def test_a_mask_over_no_scores_is_empty_too(tmp_path, type, batches, queries):
    numpy.save(tmp_path / "mask.npy", numpy.ones((batches, H, queries, S), type))
    tensors = normal(1, batches, H, queries, D), normal(2, batches, H, S, D), normal(3, batches, H, S, D_V)
    stages = attend(tmp_path, *tensors, "--mask", "mask.npy", show="all")
    assert stages["weights"].shape == (batches, H, queries, S)
    assert stages["context"].shape == (batches, H, queries, D_V)


@pytest.mark.parametrize("causal", [(), ("--causal",)])
def test_a_cache_alone_is_attended_to(tmp_path, causal):
    q, past = normal(1, 2, H, T, D), (normal(2, 2, H, S, D), normal(3, 2, H, S, D_V))
    none = normal(4, 2, H, 0, D), normal(5, 2, H, 0, D_V)
    stages = attend(tmp_path, q, *none, *causal, past=past, show="context,present_key,present_value")
    close(stages["context"], attention(q, *past)[1])  # the offset is the whole cache, so causal hides nothing
    numpy.testing.assert_array_equal(stages["present_key"], past[0])
    numpy.testing.assert_array_equal(stages["present_value"], past[1])


def test_an_empty_cache_is_none(tmp_path):
    tensors = normal(1, 2, H, T, D), normal(2, 2, H, S, D), normal(3, 2, H, S, D_V)
    empty = normal(4, 2, H, 0, D), normal(5, 2, H, 0, D_V)
    with_it = attend(tmp_path, *tensors, "--causal", past=empty, show="all")
    numpy.testing.assert_array_equal(with_it["context"], attend(tmp_path, *tensors, "--causal")["context"])
    numpy.testing.assert_array_equal(with_it["present_key"], tensors[1])
    numpy.testing.assert_array_equal(with_it["present_value"], tensors[2])


@pytest.mark.parametrize("rows, value", [("zero", 0), ("nan", numpy.nan)])
def test_neither_keys_nor_a_cache_leave_every_row_empty(tmp_path, rows, value):
    none = normal(2, 1, H, 0, D), normal(3, 1, H, 0, D_V)
    y = attend(tmp_path, normal(1, 1, H, T, D), *none, "--empty-rows", rows, past=none)["context"]
    numpy.testing.assert_array_equal(y, numpy.full((1, H, T, D_V), value))


def test_values_without_a_dimension_give_none_and_queries_need_one(tmp_path):
    q, k = normal(1, T, D), normal(2, S, D)
    assert attend(tmp_path, q, k, normal(3, S, 0))["context"].shape == (T, 0)
    for name in "qkv":
        numpy.save(tmp_path / f"{name}.npy", normal(1, T, 0))
    done = run("attend", "-q", "q.npy", "-k", "k.npy", "-v", "v.npy", cwd=tmp_path)
    assert_fails(done, 65)


def test_no_batch_shows_no_mistake(tmp_path):
    numpy.save(tmp_path / "none.npy", numpy.ones((0, 1, 1, 1), "float32"))
    for options in ((), ("--grad-ones",), ("--grad-ones", "--show", "dk", "--causal")):
        report = succeeds("attend", *"-q none.npy -k none.npy -v none.npy --blind-spots --json".split(), *options, cwd=tmp_path).json
        assert report["seen"] == 0
