"""bench: its report and its refusals. How fast it is, is nothing to pass or fail."""

import pytest
from program import assert_fails, limits_memory, run, succeeds, within

KEYS = [
    "seq", "heads", "head_dim", "threads", "isa", "seconds", "gflops", "peak_gflops", "peak_rss_bytes",
    "kv_heads", "value_dim", "keys", "dtype", "causal", "alibi", "mask", "repeats",
]  # fmt: skip
SMALL = ["bench", "--heads", 2, "--head-dim", 8, "--repeat", 3]


def test_one_size_gives_an_object():
    timing = succeeds(*SMALL, "--seq", 20, "--threads", 1, "--json").json
    assert list(timing) == KEYS
    assert [timing[key] for key in ("seq", "heads", "head_dim", "threads", "repeats")] == [20, 2, 8, 1, 3]
    assert 0 < timing["seconds"]["min"] <= timing["seconds"]["median"]
    assert timing["gflops"] == pytest.approx(4 * 20 * 20 * 8 * 2 / timing["seconds"]["median"] * 1e-9)
    assert timing["peak_gflops"] > 0
    assert timing["peak_rss_bytes"] > 1 << 20


def test_several_sizes_give_an_array():
    timings = succeeds(*SMALL, "--seq", "5,6", "--json").json
    assert [timing["seq"] for timing in timings] == [5, 6]


def test_the_table_has_a_line_a_size():
    lines = succeeds(*SMALL, "--seq", "5,16", "--value-dim", 4).text.splitlines()
    assert lines[0].split()[:7] == ["seq", "heads", "kv_heads", "head_dim", "value_dim", "threads", "isa"]
    assert [line.split()[:5] for line in lines[1:]] == [["5", "2", "2", "8", "4"], ["16", "2", "2", "8", "4"]]
    assert len({len(line) for line in lines}) == 1


@pytest.mark.parametrize("options, pairs", [(["--causal"], 10 * 11 / 2), (["--window", "2,0"], 8 * 3 + 2 + 1), ([], 100)])
def test_only_what_is_seen_counts_as_work(options, pairs):
    timing = succeeds(*SMALL, "--seq", 10, *options, "--json").json
    assert timing["gflops"] * timing["seconds"]["median"] == pytest.approx(pairs * 4 * 8 * 2 * 1e-9)


@pytest.mark.parametrize("options, pairs", [(["--keys", 30], 300), (["--keys", 30, "--causal"], sum(range(21, 31)))])
def test_queries_stand_at_the_last_keys(options, pairs):
    timing = succeeds(*SMALL, "--seq", 10, *options, "--json").json
    assert timing["keys"] == 30
    assert timing["gflops"] * timing["seconds"]["median"] == pytest.approx(pairs * 4 * 8 * 2 * 1e-9)


def test_what_attend_has_can_be_timed(tmp_path):
    numpy = pytest.importorskip("numpy")
    numpy.save(tmp_path / "mask.npy", numpy.tri(10, dtype=bool))
    options = ["--dtype", "bfloat16", "--weights-dtype", "bfloat16", "--alibi", "--softcap", 3, "--mask", tmp_path / "mask.npy"]
    timing = succeeds(*SMALL, "--seq", 10, *options, "--json").json
    assert "softcap" not in succeeds("bench", "--seq", "8", "--repeat", "1", "--softcap", "0", "--json").json
    assert [timing[key] for key in ("dtype", "weights_dtype", "alibi", "softcap", "mask")] == ["bfloat16", "bfloat16", True, 3, True]
    assert succeeds(*SMALL, "--seq", 10, "--keys", 12, "--dtype", "float16").text.split()[5:7] == ["keys", "dtype"]


def test_a_mask_of_other_sizes_is_refused(tmp_path):
    numpy = pytest.importorskip("numpy")
    numpy.save(tmp_path / "mask.npy", numpy.tri(10, dtype=bool))
    assert_fails(run(*SMALL, "--seq", 11, "--mask", tmp_path / "mask.npy"), 65, "mask", "(10, 10)")


def test_the_portable_path_can_be_timed():
    assert succeeds(*SMALL, "--seq", 10, "--isa", "portable", "--json").json["isa"] == "portable"


@limits_memory
def test_what_does_not_fit_is_refused_before_it_is_allocated():
    done = run("bench", "--seq", 16777216, "--heads", 64, preexec_fn=within(2000))
    assert_fails(done, 71, "--seq 16777216", "bytes")
