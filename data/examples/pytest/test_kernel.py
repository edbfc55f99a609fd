"""Tests of an attention kernel for which attn-cli says what is right, which mistake was made, and what the tests cannot see.

usage: pytest test_kernel.py        Needs NumPy, and attn-cli on the PATH.
"""

import subprocess

import numpy as np
import pytest


def kernel(q, k, v, causal=False, window=None, sinks=None, tile=16):
    """Put your own here: queries (B, H, T, d) over keys and values (B, H_kv, S, …), tile by tile, as flash kernels do."""
    k, v = (np.repeat(x, q.shape[1] // x.shape[1], axis=1) for x in (k, v))
    S, d = k.shape[2:]
    position = np.arange(q.shape[2])[:, None] + S - q.shape[2]  # of each query among the keys
    largest = np.full((*q.shape[:3], 1), -1e30, np.float32)  # finite, since −∞ − −∞ is NaN
    total = np.zeros_like(largest)
    context = np.zeros((*q.shape[:3], v.shape[3]), np.float32)
    for begin in range(0, S, tile):
        keys = np.arange(begin, min(begin + tile, S))
        scores = q @ k[:, :, keys].swapaxes(2, 3) / np.float32(d**0.5)
        if causal:
            scores = np.where(keys <= position, scores, -np.inf)
        if window is not None:
            scores = np.where(keys >= position - window, scores, -np.inf)
        before, largest = largest, np.maximum(largest, scores.max(-1, keepdims=True))
        rescale, weights = np.exp(before - largest), np.exp(scores - largest)
        total = total * rescale + weights.sum(-1, keepdims=True)
        context = context * rescale + weights @ v[:, :, keys]
    if sinks is not None:
        total = total + np.exp(sinks[:, None, None] - largest)
    return context / total


SINKS = np.array([0.5, 2.0, -1.0, 1.0], np.float32)
CORNER = "--causal --causal-align bottom-right"
CASES = {  # queries; what the kernel is given, and the same for attn-cli; how many mistakes these inputs must be able to show
    "all keys": (9, {}, "", 115),
    "prefill": (300, {"causal": True}, "--causal", 135),
    "a chunk after a cache": (70, {"causal": True}, CORNER, 140),
    "a window": (70, {"causal": True, "window": 100}, f"{CORNER} --window 100,0", 135),
    "sinks": (70, {"causal": True, "sinks": SINKS}, f"{CORNER} --sinks sinks.npy", 145),
}


class Case:
    def __init__(self, folder, queries, arguments, options, seen):
        random = np.random.default_rng(0)
        # No number of keys is a multiple of a tile or a vector, and heads of values are narrower than those of keys.
        shapes = {"q": (2, 4, queries, 27), "k": (2, 2, 300, 27), "v": (2, 2, 300, 21)}
        self.inputs = {name: random.standard_normal(shape, np.float32) for name, shape in shapes.items()}
        self.folder, self.arguments, self.options, self.seen = folder, arguments, options.split(), seen
        for name, array in {**self.inputs, "sinks": SINKS}.items():
            np.save(folder / f"{name}.npy", array)

    def attend(self, *options):
        """attn-cli over the inputs. Where its exit code is not 0, all that it says becomes the message of the test."""
        command = ["attn-cli", "attend", "-q", "q.npy", "-k", "k.npy", "-v", "v.npy", *self.options, *options]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            pytest.fail(f"{' '.join(command)}\n{done.stdout}{done.stderr}", pytrace=False)


@pytest.fixture(params=CASES.values(), ids=CASES)
def case(request, tmp_path):
    return Case(tmp_path, *request.param)


def test_the_kernel_is_right(case):
    np.save(case.folder / "kernel.npy", kernel(**case.inputs, **case.arguments))
    case.attend("--against", "kernel.npy")


def test_the_inputs_would_show_a_mistake(case):
    """Most of those that attn-cli knows, that is. It lists the others: as many queries as keys, say, hide how a mask is aligned."""
    case.attend("--blind-spots", "--require", str(case.seen))
