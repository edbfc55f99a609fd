"""attn_cli with tensors of PyTorch: kinds and types, the numbers of its own attention, gradients by autograd."""

import attn_cli
import pytest

torch = pytest.importorskip("torch")

SHAPES = (2, 4, 5, 8), (2, 2, 7, 8), (2, 2, 7, 6)
TYPES = {"float64": 1e-12, "float32": 2e-6, "float16": 2e-3, "bfloat16": 2e-2}


def drawn(seed=0, dtype=torch.float32, shapes=SHAPES):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(*shape, generator=generator).to(dtype) for shape in shapes]


def attention(q, k, v, bias=None, kept=None):
    k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], 1) for x in (k, v))
    scores = q @ k.mT / q.shape[-1] ** 0.5
    weights = (scores if bias is None else scores + bias).softmax(-1)
    return (weights if kept is None else weights * kept) @ v


@pytest.mark.parametrize("dtype", TYPES)
def test_tensors_in_and_tensors_of_the_same_type_out(dtype):
    inputs = drawn(1, getattr(torch, dtype))
    found = attn_cli.attention(*inputs, stages=["weights", "lse"])
    assert isinstance(found.context, torch.Tensor) and found.context.dtype == found.weights.dtype == getattr(torch, dtype)
    assert found.lse.dtype == (torch.float64 if dtype == "float64" else torch.float32)
    torch.testing.assert_close(found.context.double(), attention(*(x.double() for x in inputs)), rtol=TYPES[dtype], atol=TYPES[dtype])
    attn_cli.assert_close(found.context, *inputs)


def test_what_needs_a_gradient_is_not_contiguous_or_a_parameter_is_its_numbers():
    q, k, v = drawn(2)
    expected = attn_cli.attention(q, k, v).context
    swapped = q.transpose(1, 2).contiguous().transpose(1, 2)
    assert not swapped.is_contiguous()
    found = attn_cli.attention(swapped.requires_grad_(), torch.nn.Parameter(k), v.numpy()).context
    assert isinstance(found, torch.Tensor) and torch.equal(found, expected) and not found.requires_grad
    assert (attn_cli.attention(q.detach().numpy(), k, v).context == expected.numpy()).all()
    assert attn_cli.attention(*drawn(2), out_dtype="bfloat16").context.dtype == torch.bfloat16


def test_masks_and_dropout_as_pytorch_names_them():
    q, k, v = drawn(3)
    seen, bias = torch.ones(5, 7).tril(2).bool(), torch.randn(4, 1, 7)
    added = torch.zeros(5, 7).masked_fill(~seen, -torch.inf)
    torch.testing.assert_close(attn_cli.attention(q, k, v, attn_mask=seen).context, attention(q, k, v, added))
    torch.testing.assert_close(attn_cli.attention(q, k, v, attn_mask=bias).context, attention(q, k, v, bias))
    kept = torch.rand(2, 4, 5, 7) < 0.75
    torch.testing.assert_close(attn_cli.attention(q, k, v, dropout_p=0.25, kept=kept).context, attention(q, k, v, kept=kept / 0.75))


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
def test_gradients_are_those_of_autograd(dtype):
    (grad,) = drawn(5, getattr(torch, dtype), [(2, 4, 5, 6)])
    inputs = drawn(4, getattr(torch, dtype))
    bias = torch.randn(1, 4, 1, 7, dtype=torch.float64).to(grad.dtype)
    exact = [x.double().requires_grad_() for x in (*inputs, bias)]
    attention(*exact).backward(grad.double())
    found = attn_cli.attention(*inputs, attn_mask=bias, grad=grad, stages=["dmask"])
    for name, x, given in zip(("dq", "dk", "dv", "dmask"), exact, (*inputs, bias)):
        mine = getattr(found, name)
        assert mine.shape == given.shape and (mine.dtype == given.dtype or name == "dmask")
        torch.testing.assert_close(mine.double(), x.grad, rtol=TYPES[dtype], atol=TYPES[dtype])
    mine = {f"d{name}": x.grad.to(grad.dtype) for name, x in zip("qkv", exact)}
    attn_cli.assert_close(mine, *inputs, attn_mask=bias, grad=grad)
    with pytest.raises(AssertionError, match="differs from the dv"):
        attn_cli.assert_close({**mine, "dv": -mine["dv"]}, *inputs, attn_mask=bias, grad=grad)


def test_a_mistake_in_bfloat16_is_named():
    q, k, v = drawn(6, torch.bfloat16, [(1, 4, 50, 32), (1, 2, 50, 32), (1, 2, 50, 32)])
    repeated = [x.float().repeat(1, 2, 1, 1) for x in (k, v)]  # k0 k1 k0 k1, where k0 k0 k1 k1 is right
    mine = attention(q.float(), *repeated).bfloat16()
    with pytest.raises(AssertionError, match='"heads of keys and values interleaved"|interleaved'):
        attn_cli.assert_close(mine, q, k, v)
    blind = attn_cli.blind_spots(q, k, v)
    assert 0 < blind["seen"] < blind["possible"]
