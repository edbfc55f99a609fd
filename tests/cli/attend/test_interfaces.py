"""What data/manual/tensors.md says of other interfaces of the operator: each rule of theirs as they state it, in NumPy, and the
options that say the same here. Where an option merely has another name, no test is needed."""

import re
from pathlib import Path

import pytest
from program import succeeds
from tensors import attention, band, close, normal, numpy

B, H, H_KV, T, S, D, D_V = 2, 4, 2, 5, 9, 8, 6
Q, K, V = normal(1, B, H, T, D), normal(2, B, H_KV, S, D), normal(3, B, H_KV, S, D_V)
ROWS, KEYS = numpy.arange(T)[:, None], numpy.arange(S)
TOP_LEFT, BOTTOM_RIGHT = ("--causal-align", "top-left"), ("--causal-align", "bottom-right")
SLOPES = numpy.array([2.0 ** (-8 * (h + 1) / H) for h in range(H)])[:, None, None]  # H is a power of two


def attend(folder, *options, show="context", q=Q, k=K, v=V, **files):
    """An option that is the name of one of `files` is followed by it."""
    for name, array in {"q": q, "k": k, "v": v, **files}.items():
        numpy.save(folder / f"{name}.npy", array)
    succeeds("attend", "-q", "q.npy", "-k", "k.npy", "-v", "v.npy", "--show", show, "-o", "out.npy", *options, cwd=folder)
    return numpy.load(folder / "out.npy")


def agree(computed, **rule):
    close(computed, attention(Q, K, V, **rule)[1])


def test_the_tables_name_options_and_stages_that_are_there():
    page = (Path(__file__).parents[3] / "data/manual/tensors.md").read_text(encoding="utf-8")
    section = page.split("## Names in other interfaces")[1]
    names = {*re.findall(r"--[a-z][a-z-]+", section), *re.findall(r"^\| (?:… )?`([a-z_]+)`", section, re.MULTILINE)} - {"attend"}
    said = succeeds("attend", "--help").text
    assert len(names) > 12 and [name for name in sorted(names) if name not in said] == []


# ---- ONNX Runtime's GroupQueryAttention --------------------------------------------------------------------------------------


def test_a_local_window_of_group_query_attention_counts_the_querys_own_key(tmp_path):
    window = 3
    seen = (KEYS <= ROWS + S - T) & (KEYS > ROWS + S - T - window)
    agree(attend(tmp_path, "--causal", *BOTTOM_RIGHT, "--window", f"{window - 1},0"), seen=seen)


def test_seqlens_k_of_group_query_attention_are_one_less_than_lengths(tmp_path):
    seqlens_k = numpy.int32([S - 1, 5])
    total = (seqlens_k + 1)[:, None, None, None]
    decoding = attend(tmp_path, "--causal", "--lengths", "n.npy", n=seqlens_k + 1)
    agree(decoding, seen=(KEYS < total) & (KEYS <= ROWS + total - T))
    prompt = attend(tmp_path, "--causal", *TOP_LEFT, "--lengths", "n.npy", n=seqlens_k + 1)
    agree(prompt, seen=(KEYS < total) & (KEYS <= ROWS))


def test_a_smooth_softmax_has_sinks_of_zero(tmp_path):
    scores = Q.astype(float) @ numpy.repeat(K, H // H_KV, 1).swapaxes(2, 3) / D**0.5
    weights = numpy.exp(scores) / (1 + numpy.exp(scores).sum(-1, keepdims=True))
    close(attend(tmp_path, "--sinks", "sinks.npy", sinks=numpy.zeros(H, "f4")), weights @ numpy.repeat(V, H // H_KV, 1))


# ---- cuDNN, JAX, MLX ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("align", "offset"), [(TOP_LEFT, 0), (BOTTOM_RIGHT, S - T)])
def test_the_left_bound_of_cudnn_is_the_first_key_that_is_hidden(tmp_path, align, offset):
    left, right = 3, 1
    seen = (KEYS > ROWS + offset - left) & (KEYS <= ROWS + offset + right)
    agree(attend(tmp_path, *align, "--window", f"{left - 1},{right}"), seen=seen)


def test_attn_scale_of_cudnn_is_1_unless_it_is_given(tmp_path):
    agree(attend(tmp_path, "--scale", "none"), scale=1)


def test_alibi_of_cudnn_is_slope_times_column_minus_row_and_causal(tmp_path):
    agree(attend(tmp_path, "--alibi", "--causal", *TOP_LEFT), seen=KEYS <= ROWS, bias=SLOPES * (KEYS - ROWS))


def test_masks_and_lengths_of_jax_count_queries_from_key_0(tmp_path):
    lengths = numpy.int32([S, 6])
    options = ("--causal", "--window", "2,2", *TOP_LEFT, "--lengths", "n.npy")
    agree(attend(tmp_path, *options, n=lengths), seen=band(T, S, 0, 2, 0) & (KEYS < lengths[:, None, None, None]))


def test_a_causal_mask_of_mlx_ends_in_the_lower_right_corner(tmp_path):
    agree(attend(tmp_path, "--causal", *BOTTOM_RIGHT), seen=numpy.arange(S - T, S)[:, None] >= KEYS)


# ---- FlashAttention, FlashInfer ----------------------------------------------------------------------------------------------


def test_a_cache_with_lengths_of_flash_attention_is_keys_with_the_new_ones_written_into_them(tmp_path):
    cache_seqlens, new = numpy.int32([4, 2]), 3
    k_cache, v_cache, k_new, v_new = normal(4, B, S, H_KV, D), normal(5, B, S, H_KV, D_V), normal(6, B, new, H_KV, D), normal(7, B, new, H_KV, D_V)
    k, v = k_cache.copy(), v_cache.copy()
    for b, length in enumerate(cache_seqlens):
        k[b, length : length + new], v[b, length : length + new] = k_new[b], v_new[b]
    q = Q.swapaxes(1, 2)[:, :new]
    computed = attend(tmp_path, "--layout", "bshd", "--causal", "--lengths", "n.npy", q=q, k=k, v=v, n=cache_seqlens + new)
    for b, length in enumerate(cache_seqlens):  # alone, with a cache that is as long as it is
        past, now = k_cache[b : b + 1, :length].swapaxes(1, 2), k_new[b : b + 1].swapaxes(1, 2)
        past_v, now_v = v_cache[b : b + 1, :length].swapaxes(1, 2), v_new[b : b + 1].swapaxes(1, 2)
        keys, values = numpy.concatenate([past, now], 2), numpy.concatenate([past_v, now_v], 2)
        _, expected = attention(Q[b : b + 1, :, :new], keys, values, seen=band(new, length + new, length, -1, 0))
        close(computed[b], expected[0].swapaxes(0, 1))


def test_pages_are_gathered_into_keys_and_values(tmp_path):
    size, page_table = 4, numpy.array([[5, 0, 3], [1, 4, 2]])
    k_pages, v_pages = normal(8, 6, size, H_KV, D), normal(9, 6, size, H_KV, D_V)
    lengths = numpy.int32([11, 6])
    k, v = (pages[page_table].reshape(B, -1, *pages.shape[2:]) for pages in (k_pages, v_pages))
    computed = attend(tmp_path, "--layout", "bshd", "--lengths", "n.npy", q=Q.swapaxes(1, 2), k=k, v=v, n=lengths)
    for b, length in enumerate(lengths):
        tokens = [(page_table[b, j // size], j % size) for j in range(length)]
        keys, values = (numpy.stack([pages[at] for at in tokens], 1)[None] for pages in (k_pages, v_pages))
        close(computed[b], attention(Q[b : b + 1], keys, values)[1][0].swapaxes(0, 1))


def test_qv_is_joined_to_the_queries_and_the_values_to_the_keys(tmp_path):
    qv, groups = normal(10, B, H, T, D_V), H // H_KV
    k, v = (numpy.repeat(x, groups, 1).astype(float) for x in (K, V))
    scores = (Q @ k.swapaxes(2, 3) + qv @ v.swapaxes(2, 3)) / (D + D_V) ** 0.5
    weights = numpy.exp(scores) / numpy.exp(scores).sum(-1, keepdims=True)
    close(attend(tmp_path, q=numpy.concatenate([Q, qv], 3), k=numpy.concatenate([K, V], 3)), weights @ v)


def test_alibi_of_flash_infer_counts_queries_from_0_and_gives_the_same_context_where_it_is_causal(tmp_path):
    agree(attend(tmp_path, "--alibi", "--causal", *BOTTOM_RIGHT), seen=KEYS <= ROWS + S - T, bias=SLOPES * (KEYS - ROWS))


def test_lse_of_flash_infer_is_to_base_2(tmp_path):
    scores = Q.astype(float) @ numpy.repeat(K, H // H_KV, 1).swapaxes(2, 3) / D**0.5
    base_2 = numpy.log2(numpy.exp2(scores * numpy.log2(numpy.e)).sum(-1))
    close(attend(tmp_path, show="lse"), base_2 * numpy.log(2))
