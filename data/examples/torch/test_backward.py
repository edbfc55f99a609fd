"""Tests of attention with a backward pass of its own, as an autograd.Function: attn-cli says what is right, of outputs and gradients.

usage: pytest test_backward.py        Needs PyTorch, and the Python package of attn-cli.
"""

import attn_cli
import pytest
import torch


class Attention(torch.autograd.Function):
    """Put your own here: causal, queries (B, H, T, d) over keys and values (B, H_kv, T, d). It keeps lse, not the weights."""

    @staticmethod
    def scores(q, k, first=0):
        """Of the queries from the place `first` on; float32, as sums of a kernel are."""
        places = torch.arange(first, first + q.shape[2])[:, None]
        hidden = torch.arange(k.shape[2]) > places
        return (q @ k.mT / q.shape[3] ** 0.5).masked_fill(hidden, -torch.inf)

    @staticmethod
    def forward(ctx, q, k, v):
        group = q.shape[1] // k.shape[1]
        q_, k_, v_ = q.float(), k.float().repeat_interleave(group, 1), v.float().repeat_interleave(group, 1)
        scores = Attention.scores(q_, k_)
        lse = scores.logsumexp(-1, keepdim=True)
        context = (scores - lse).exp() @ v_
        ctx.save_for_backward(q, k, v, context, lse)
        return context.to(q.dtype)

    @staticmethod
    def backward(ctx, grad):
        q, k, v, context, lse = ctx.saved_tensors
        group, scale = q.shape[1] // k.shape[1], q.shape[3] ** -0.5
        q_, k_, v_ = q.float(), k.float().repeat_interleave(group, 1), v.float().repeat_interleave(group, 1)
        grad = grad.float()
        delta = (grad * context).sum(-1, keepdim=True)
        dq, dk, dv = torch.empty_like(q_), torch.zeros_like(k_), torch.zeros_like(v_)
        for first in range(0, q.shape[2], 16):
            rows = slice(first, first + 16)
            weights = (Attention.scores(q_[:, :, rows], k_, first) - lse[:, :, rows]).exp()
            d_scores = weights * (grad[:, :, rows] @ v_.mT - delta[:, :, rows])
            dq[:, :, rows] = d_scores @ k_ * scale
            dk += d_scores.mT @ q_[:, :, rows] * scale
            dv += weights.mT @ grad[:, :, rows]
        dk, dv = (x.unflatten(1, (-1, group)).sum(2) for x in (dk, dv))
        return dq.to(q.dtype), dk.to(k.dtype), dv.to(v.dtype)


@pytest.fixture(params=[torch.float32, torch.bfloat16], ids=["float32", "bfloat16"])
def inputs(request):
    """Fewer heads of keys, and no multiple of a tile."""
    torch.manual_seed(0)
    return [torch.randn(2, heads, 70, 27).to(request.param).requires_grad_() for heads in (4, 2, 2)]


def test_forward(inputs):
    attn_cli.assert_close(Attention.apply(*inputs), *inputs, is_causal=True)


def test_backward(inputs):
    context = Attention.apply(*inputs)
    grad = torch.randn_like(context)
    context.backward(grad)
    mine = {name: x.grad for name, x in zip(("dq", "dk", "dv"), inputs)}
    attn_cli.assert_close(mine, *inputs, is_causal=True, grad=grad)


def test_the_inputs_would_show_a_mistake(inputs):
    """Most of those that attn-cli knows of a forward pass; otherwise it lists the others."""
    attn_cli.blind_spots(*inputs, is_causal=True, require=100)
