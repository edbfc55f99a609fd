"""attend --against: mistakes of kernels, each as somebody made it, written out with NumPy. tests/oracle/mistakes.py has them all."""

import numpy
import pytest
from program import run
from tensors import normal

H, GROUP, N, D, C = 6, 3, 21, 4, 2.0  # N queries and N keys; three query heads read a key/value head
SEEN = numpy.tril(numpy.ones((N, N), bool))
SINKS = numpy.array([0.5, -1.0, 2.0, 0.0, -0.5, 1.5])
SLOPES = 2.0 ** -numpy.array([2, 4, 6, 8, 1, 3])  # of ALiBi with six heads
HEADS = numpy.arange(H)


def softmax(scores, more=0.0):
    """Over the last axis; `more` stands in the sum beside the exponentials."""
    return numpy.exp(scores) / (numpy.exp(scores).sum(-1, keepdims=True) + more)


def causal(scores, seen=SEEN):
    return numpy.where(seen, scores, -numpy.inf)


def sunk(sinks):
    return lambda s, v: softmax(causal(s), numpy.exp(sinks)) @ v


def packed_from_tile(s, v):
    """Rows of 16 from (query, head of the group); a tile adds whole positions to that of its first row."""
    seen = numpy.empty((GROUP, N, N), bool)
    for row in range(N * GROUP):
        first = row // 16 * 16
        seen[row % GROUP, row // GROUP] = numpy.arange(N) <= first // GROUP + (row - first) // GROUP
    return softmax(causal(s, numpy.concatenate([seen, seen]))) @ v


def clamped(s, v):
    e = numpy.where(SEEN, numpy.exp(s - numpy.maximum(causal(s).max(-1, keepdims=True), 0)), 0).astype("float32")
    return e / e.sum(-1, keepdims=True) @ v


def five_digits_off(s, v):
    """-5e4 added in float32 to what row 0, which sees nothing, and the others do not see."""
    seen = SEEN & (numpy.arange(N) > 0)
    s = s.astype("float32") + numpy.where(seen, 0, -5e4).astype("float32")
    return softmax((s - s.max(-1, keepdims=True)).astype("float64")) @ v


def by_view(x):
    """(H, N, d) read as (N, H, d), of key/value heads."""
    kept = x[::GROUP]
    return kept.reshape(N, -1, D).transpose(1, 0, 2).repeat(GROUP, 0)


cap = lambda s: C * numpy.tanh(s / C)
without_key_0 = lambda s: numpy.where(numpy.arange(N) > 0, cap(s), -C)
row = numpy.arange(H * N).reshape(H, N, 1)
KERNELS = {
    "softcap-by-score": (("--softcap", C), lambda s, v: softmax(s * numpy.tanh(s)) @ v),
    "softcap-after-padding": (("--softcap", C, "--causal", "--mask", "mask.npy"), lambda s, v: softmax(causal(without_key_0(s))) @ v),
    "tile-padding-capped-64": (("--softcap", C), lambda s, v: softmax(cap(s), 43 * numpy.exp(-C)) @ v),
    "tile-values-first-16": ((), lambda s, v: softmax(s) @ v[:, numpy.arange(N) % 16]),
    "causal-as-packed": (("--causal",), lambda s, v: softmax(causal(s, SEEN[numpy.arange(N) // GROUP])) @ v),
    "tile-group-crossed-16": (("--causal",), packed_from_tile),
    "sink-of-row": (("--causal", "--sinks", "sinks.npy"), sunk(SINKS[row % H])),
    "sink-of-key-head": (("--causal", "--sinks", "sinks.npy"), sunk(SINKS[HEADS // GROUP, None, None])),
    "sink-per-part-4": (("--causal", "--sinks", "sinks.npy"), sunk(SINKS[:, None, None] + numpy.log(4))),
    "alibi-descending": (("--alibi",), lambda s, v: softmax(s - distances(numpy.sort(SLOPES)[::-1])) @ v),
    "alibi-ascending": (("--alibi",), lambda s, v: softmax(s - distances(numpy.sort(SLOPES))) @ v),
    "hidden-added-minus-50000": (("--causal", "--mask", "mask.npy"), five_digits_off),
    "heads-viewed-values": ((), lambda s, v: softmax(s) @ by_view(v)),
}


def distances(slopes):
    positions = numpy.arange(N)
    return slopes[:, None, None] * abs(positions[:, None] - positions)


def save(folder, **arrays):
    for name, array in arrays.items():
        numpy.save(folder / f"{name}.npy", array)


def named(folder, context, *options):
    save(folder, mine=context.astype("float32"))
    done = run("attend", "-q", "q.npy", "-k", "k.npy", "-v", "v.npy", *options, "--against", "mine.npy", "--json", cwd=folder)
    return [candidate["mistakes"] for candidate in done.json["named"]]


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_s_mistake_is_named(name, tmp_path):
    q, k, v = normal(1, H, N, D), normal(2, H // GROUP, N, D), normal(3, H // GROUP, N, D)
    save(tmp_path, q=q, k=k, v=v, sinks=SINKS, mask=numpy.broadcast_to(numpy.arange(N) > 0, (N, N)))
    options, kernel = KERNELS[name]
    q, k, v = (x.astype("float64").repeat(H // len(x), 0) for x in (q, k, v))
    assert named(tmp_path, kernel(q @ k.transpose(0, 2, 1) / 2, v), *options) == [[name]]


def test_keys_alone_are_read_by_a_view(tmp_path):
    q, k, v = normal(1, H, N, D), normal(2, H // GROUP, N, D), normal(3, H // GROUP, N, D)
    save(tmp_path, q=q, k=k, v=v)
    scores = q @ by_view(k.repeat(GROUP, 0)).transpose(0, 2, 1) / 2
    assert named(tmp_path, softmax(scores.astype("float64")) @ v.repeat(GROUP, 0)) == [["heads-viewed-keys"]]


def test_a_maximum_that_begins_with_0_shows_where_all_scores_are_far_below(tmp_path):
    q, k, v = normal(1, 2, N, D) + 14, normal(2, 2, N, D), normal(3, 2, N, D)
    k += numpy.float32([-3.5, 3.5])[:, None, None]  # the scores of the other head are so large that exp overflows
    save(tmp_path, q=q, k=k, v=v)
    scores = q.astype("float64") @ k.astype("float64").transpose(0, 2, 1) / 2
    assert (scores[0] < -40).all() and (scores[0] < -90).any() and (scores[1] > 90).any()
    with numpy.errstate(invalid="ignore"):
        assert named(tmp_path, clamped(scores, v), "--causal") == [["maximum-clamped"]]


@pytest.mark.parametrize(("name", "end", "zeros"), [("lengths-page-16", [32, 48], False), ("lengths-page-32", [32, 64], False),
                                                    ("lengths-zeros", [70, 70], True)])
def test_keys_behind_the_length_are_counted(name, end, zeros, tmp_path):
    q, k, v, lengths = normal(1, 2, 1, 7, D), normal(2, 2, 1, 70, D), normal(3, 2, 1, 70, D), numpy.array([20, 37])
    save(tmp_path, q=q, k=k, v=v, lengths=lengths)
    context = []
    for b in range(2):
        kept = numpy.arange(70)[:, None] < (lengths[b] if zeros else 70)
        keys, values = (numpy.where(kept, x[b, 0].astype("float64"), 0)[:end[b]] for x in (k, v))
        context.append(softmax(q[b] @ keys.T / 2) @ values)
    assert named(tmp_path, numpy.stack(context), "--lengths", "lengths.npy") == [[name]]
