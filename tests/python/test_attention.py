"""attn_cli.attention with NumPy and what else speaks DLPack: its numbers, its options, what goes in and what comes out."""

import inspect
import os
import re
import shutil
import tempfile

import attn_cli
import pytest
from attn_cli.attend import FILES, KINDS, PYTORCH
from program import succeeds
from tensors import attention, band, close, normal, numpy

B, H, H_KV, T, S, D, D_V = 2, 4, 2, 5, 7, 8, 6
Q, K, V = normal(1, B, H, T, D), normal(2, B, H_KV, S, D), normal(3, B, H_KV, S, D_V)


def test_without_options_it_is_the_context_alone():
    found = attn_cli.attention(Q, K, V)
    assert list(vars(found)) == ["context"] and found.context.dtype == numpy.float32
    close(found.context, attention(Q, K, V)[1])


def test_stages_are_added_to_the_context():
    found = attn_cli.attention(Q, K, V, is_causal=True, stages=["weights", "lse"])
    weights, context = attention(Q, K, V, band(T, S, right=0))
    assert set(vars(found)) == {"context", "weights", "lse"}
    assert (found.weights.shape, found.lse.shape) == ((B, H, T, S), (B, H, T))
    close(found.context, context)
    close(found.weights, weights)
    assert set(vars(attn_cli.attention(Q, K, V, stages="weights"))) == {"context", "weights"}
    assert {"scores", "weights", "lse", "entropy"} < set(vars(attn_cli.attention(Q, K, V, stages="all")))


def test_a_stage_that_was_not_asked_for_is_named():
    with pytest.raises(AttributeError, match="weights was not computed, only context, lse"):
        attn_cli.attention(Q, K, V, stages=["lse"]).weights


@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-12), ("float32", 2e-6), ("float16", 2e-3)])
def test_the_type_is_that_of_the_queries(dtype, tolerance):
    q, k, v = (x.astype(dtype) for x in (Q, K, V))
    found = attn_cli.attention(q, k, v)
    assert found.context.dtype == numpy.dtype(dtype) and found.context.shape == (B, H, T, D_V)
    close(found.context, attention(q, k, v)[1], tolerance, tolerance)


SEEN = numpy.tri(T, S, 2, dtype=bool)
BIAS = normal(4, 1, H, T, S)


@pytest.mark.parametrize(("options", "expected"), [
    ({"attn_mask": SEEN}, {"seen": SEEN}),
    ({"mask": SEEN.tolist()}, {"seen": SEEN}),
    ({"attn_mask": BIAS}, {"bias": BIAS}),
    ({"attn_mask": BIAS, "causal": True}, {"bias": BIAS, "seen": band(T, S, right=0)}),
    ({"is_causal": True, "causal_align": "bottom-right"}, {"seen": band(T, S, S - T, right=0)}),
    ({"window": (2, 1)}, {"seen": band(T, S, 0, 2, 1)}),
    ({"window": 1}, {"seen": band(T, S, 0, 1, 1)}),
    ({"lengths": [3, 7]}, {"seen": numpy.arange(S) < numpy.array([3, 7])[:, None, None, None]}),
    ({"segments": numpy.array([0, 0, 0, 1, 1, 2, 2])}, {"seen": numpy.equal.outer([0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 2, 2])}),
    ({"scale": 0.5, "softcap": 2.0}, {"scale": 0.5, "cap": 2.0}),
    ({"scale": numpy.float32(0.25)}, {"scale": 0.25}),
    ({"scale": "none"}, {"scale": 1.0}),
    ({"attn_mask": None, "dropout_p": 0.0, "is_causal": False, "scale": None, "enable_gqa": True}, {}),
    ({"threads": 1, "isa": "portable", "allow_nonfinite": True, "strict": False}, {}),
], ids=str)
def test_options_by_their_names(options, expected):
    close(attn_cli.attention(Q, K, V, **options).context, attention(Q, K, V, **expected)[1])


def test_a_cache_sinks_and_layouts():
    joined = attn_cli.attention(Q, K[:, :, 3:], V[:, :, 3:], past_key=K[:, :, :3], past_value=V[:, :, :3], stages=["present_key"])
    close(joined.context, attention(Q, K, V)[1])
    assert (joined.present_key == K).all()
    sinks = numpy.full(H, -numpy.inf, "f4")
    close(attn_cli.attention(Q, K, V, sinks=sinks).context, attention(Q, K, V)[1])
    swapped = attn_cli.attention(*(x.swapaxes(1, 2) for x in (Q, K, V)), layout="bshd")
    close(swapped.context.swapaxes(1, 2), attention(Q, K, V)[1])
    packed = attn_cli.attention(Q[0].swapaxes(0, 1), K[0].swapaxes(0, 1), V[0].swapaxes(0, 1), cu_seqlens=[0, 5], cu_seqlens_k=[0, 7])
    close(packed.context.swapaxes(0, 1), attention(Q, K, V)[1][0])


def test_a_file_stands_for_an_array(tmp_path):
    numpy.savez(tmp_path / "masks.npz", seen=SEEN)
    close(attn_cli.attention(Q, K, V, attn_mask=f"{tmp_path}/masks.npz:seen").context, attention(Q, K, V, SEEN)[1])


def test_whatever_its_layout_in_memory_an_array_is_its_numbers():
    backwards = Q[:, :, ::-1].copy()[:, :, ::-1]
    read_only = K.copy()
    read_only.flags.writeable = False
    found = attn_cli.attention(backwards, read_only, numpy.asfortranarray(V).astype(">f4"))
    assert (found.context == attn_cli.attention(Q, K, V).context).all() and found.context.flags.writeable
    close(attn_cli.attention(Q.tolist(), K.tolist(), V.tolist()).context, attention(Q, K, V)[1], 1e-12)
    assert attn_cli.attention(Q[:, :, :0], K, V, stages=["weights"]).weights.shape == (B, H, 0, S)


class Foreign:
    """An array that speaks DLPack and nothing else."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **how):
        return self.array.__dlpack__(**how)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class Standard(Foreign):
    """One that also has a namespace, as the standard of arrays says."""

    def __array_namespace__(self):
        return Namespace


class Namespace:
    asarray = Standard


def test_arrays_by_dlpack():
    expected = attn_cli.attention(Q, K, V, attn_mask=SEEN).context
    found = attn_cli.attention(Foreign(Q), Foreign(K), V, attn_mask=SEEN).context
    assert isinstance(found, numpy.ndarray) and (found == expected).all()
    found = attn_cli.attention(Standard(Q), Foreign(K), V, attn_mask=SEEN).context
    assert isinstance(found, Standard) and (found.array == expected).all()


def test_gradients():
    q, k, v, grad, grad_lse = normal(5, 1, 2, 3, 4, dtype="f8"), *(normal(s, 1, 1, 5, 4, dtype="f8") for s in (6, 7)), normal(8, 1, 2, 3, 4), normal(9, 1, 2, 3)
    inputs = {"q": q, "k": k, "v": v}

    def loss(**changed):
        found = attn_cli.attention(**{**inputs, **changed}, softcap=1.5, stages=["lse"])
        return (found.context * grad).sum() + (found.lse * grad_lse).sum()

    found = attn_cli.attention(q, k, v, softcap=1.5, grad=grad, grad_lse=grad_lse, stages=["delta"])
    assert set(vars(found)) == {"context", "dq", "dk", "dv", "delta"}
    for name, array in inputs.items():
        direction = normal(10, *array.shape, dtype="f8") * 1e-5
        slope = loss(**{name: array + direction}) - loss(**{name: array - direction})
        numpy.testing.assert_allclose(2 * (getattr(found, f"d{name}") * direction).sum(), slope, 1e-6)
    ones = attn_cli.attention(q, k, v, grad_ones=True)
    assert (ones.dq == attn_cli.attention(q, k, v, grad=numpy.ones_like(q)).dq).all()
    assert set(vars(attn_cli.attention(q, k, v, grad=None, grad_ones=False))) == {"context"}


def test_every_option_of_the_program_has_its_name():
    """What the face itself says to the program is no option of it."""
    options = {}
    for text in (succeeds("attend", "--help").text, succeeds("--help").text):
        options |= {name.replace("-", "_"): value for name, value in re.findall(r"^  (?:-., )?--([a-z-]+)(?: ([A-Z][^ \n]*))?", text, re.MULTILINE)}
    for name in ("queries", "keys", "values", "random", "grad_random", "dtype", "seed", "generator", "show", "format", "json", "against", "blind_spots",
                 "help", "version", "color"):
        del options[name]
    assert set(KINDS) - set(PYTORCH) - {"enable_gqa"} == set(options)
    assert FILES - set(PYTORCH) == {name for name, value in options.items() if value == "FILE[:NAME]"}
    for function in (attn_cli.attention, attn_cli.assert_close, attn_cli.blind_spots):
        assert set(KINDS) < set(inspect.signature(function).parameters)


@pytest.mark.parametrize(("options", "error", "says"), [
    ({"windo": 3}, attn_cli.UsageError, "unknown option '--windo'; did you mean '--window'?"),
    ({"causal_align": "left"}, attn_cli.UsageError, "--causal-align: got 'left'; allowed: offset"),
    ({"attn_mask": SEEN, "mask": SEEN}, attn_cli.UsageError, "attn_mask: got mask, too"),
    ({"enable_gqa": False}, attn_cli.UsageError, "enable_gqa: got False; allowed: as many heads"),
    ({"dropout_p": 0.5}, attn_cli.UsageError, "--dropout requires --kept"),
    ({"against": "mine.npy"}, attn_cli.UsageError, "against: not an option here"),
    ({"stages": ["wieghts"]}, attn_cli.UsageError, "--show: got 'wieghts'"),
    ({"attn_mask": SEEN[:2]}, attn_cli.BadData, "the mask: got the shape (2, 7)"),
    ({"sinks": numpy.full(H, numpy.nan)}, attn_cli.BadData, "sinks at (0,): got nan"),
    ({"grad": Q}, attn_cli.BadData, f"({B}, {H}, {T}, {D})"),
    ({"mask": "nothing.npy"}, attn_cli.NoInput, "cannot open 'nothing.npy': No such file or directory"),
    ({"attn_mask": SEEN.astype(complex)}, TypeError, "mask: got an array of complex128; allowed: bool, "),
], ids=str)
def test_errors_are_exceptions_that_say_what_the_program_says(options, error, says, folders):
    with pytest.raises(error) as raised:
        attn_cli.attention(Q, K, V, **options)
    assert says in str(raised.value) and "/attn-cli-" not in str(raised.value)
    assert raised.type is error and getattr(error, "code", None) == getattr(raised.value, "code", None)
    assert not any(map(os.path.exists, folders))


def test_as_many_heads_of_keys_pass_where_they_may_not_be_fewer():
    close(attn_cli.attention(Q, Q, Q, enable_gqa=False).context, attention(Q, Q, Q)[1])
    with pytest.raises(attn_cli.UsageError):
        attn_cli.attention(*(x.swapaxes(1, 2) for x in (Q, K, V)), layout="bshd", enable_gqa=False)


def test_a_warning_names_the_line_of_who_called():
    with pytest.warns(UserWarning, match="the mask holds only the numbers 0 and 1") as caught:
        attn_cli.attention(Q, K, V, attn_mask=SEEN.astype("i4"))
    assert [warning.filename for warning in caught] == [__file__]


def test_nothing_is_left_behind(folders):
    attn_cli.attention(Q, K, V)
    assert len(folders) == 1 and not os.path.exists(folders[0])


def test_where_memory_for_files_is_short_they_lie_elsewhere(folders, monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    attn_cli.attention(Q, K, V)
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=64 << 20))
    close(attn_cli.attention(Q, K, V).context, attention(Q, K, V)[1])
    assert [path.startswith(str(tmp_path)) for path in folders][1]
