#!/usr/bin/env python3
"""attn-cli attend --grad against PyTorch's autograd, over random tensors.

In float32 and float64 against autograd of softmax(Q·Kᵀ·scale + mask)·V in float64: grouped heads, causal masks, a mask of numbers
that is repeated over heads, a softcap, sinks, dropout and a gradient of lse. In float16 and bfloat16 no gradient may be farther
from that than PyTorch's own in the type, which are computed step by step. --against accuses none of PyTorch's own of a mistake: nor
those of scaled_dot_product_attention where a case is one of its, by its math and by its fused kernel.

usage: live_gradients.py ATTN_CLI [CASES] [FIRST_SEED]
ATTN_TRANSFORMERS names a folder of packages that are taken instead of Debian's, whose PyTorch cannot be told which kernel to take.
Exits 77 (skipped) without PyTorch and NumPy, or 1 when ATTN_REQUIRE_LIVE=1 says that they must be there.
"""
import json
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

from live import prefer_newer_packages, skip

prefer_newer_packages()
try:
    import numpy
    import torch
except ImportError as missing:
    skip(missing)

from attend_options import read, save

REACH = {torch.float32: 1e-5, torch.float64: 1e-11}  # of the largest number
JUDGED = Counter()  # of PyTorch's own operator
NAMES = {torch.float16: "float16", torch.bfloat16: "bfloat16", torch.float32: "float32", torch.float64: "float64"}


class Case:
    def __init__(self, seed):
        draw = torch.Generator().manual_seed(seed)
        number = lambda low, high: int(torch.randint(low, high + 1, (1,), generator=draw))
        chance = lambda: number(0, 2) == 0
        self.type = list(NAMES)[seed % 4]
        normal = lambda *shape: torch.randn(*shape, generator=draw, dtype=torch.float64).to(self.type)
        self.batch, kv_heads, self.group = number(1, 2), number(1, 3), number(1, 3)
        self.heads, self.rows, self.keys = kv_heads * self.group, number(1, 90), number(1, 90)
        d = number(1, 40)
        d_v = d if seed // 4 % 2 else number(1, 40)  # the fused kernel wants equal ones
        self.inputs = {"q": normal(self.batch, self.heads, self.rows, d), "k": normal(self.batch, kv_heads, self.keys, d),
                       "v": normal(self.batch, kv_heads, self.keys, d_v)}
        self.grad = normal(self.batch, self.heads, self.rows, d_v)
        plain = self.type in (torch.float16, torch.bfloat16)  # what rounds at every step is compared on its own terms
        self.causal, self.softcap = chance(), None if plain or not chance() else number(1, 20) / 2
        self.grad_lse = None if plain or not chance() else normal(self.batch, self.heads, self.rows)
        self.p = 0.25 if chance() else 0.0
        self.kept = torch.rand(self.batch, self.heads, self.rows, self.keys, generator=draw) >= self.p
        if not plain and chance():
            self.inputs["mask"] = normal(self.batch, 1, self.rows, self.keys)
        if not plain and chance():
            self.inputs["sinks"] = normal(self.heads)

    def by_autograd(self, type):
        """name → gradient in float64, computed in `type`."""
        leaves = {name: x.to(type).requires_grad_() for name, x in self.inputs.items()}
        k, v = (leaves[name].repeat_interleave(self.group, 1) for name in "kv")
        scores = leaves["q"] @ k.transpose(-2, -1) * leaves["q"].shape[-1] ** -0.5
        if self.softcap:
            scores = self.softcap * torch.tanh(scores / self.softcap)
        if "mask" in leaves:
            scores = scores + leaves["mask"]
        if self.causal:
            scores = scores.masked_fill(torch.ones(self.rows, self.keys).tril().logical_not(), -torch.inf)
        if "sinks" in leaves:
            scores = torch.cat([scores, leaves["sinks"][:, None, None].expand(*scores.shape[:-1], 1)], -1)
        weights = torch.softmax(scores, -1)[..., : self.keys]
        if self.p:
            weights = weights * self.kept.to(type) / (1 - self.p)
        context = weights @ v
        loss = (context * self.grad.to(type)).sum()
        if self.grad_lse is not None:
            loss = loss + (torch.logsumexp(scores, -1) * self.grad_lse.to(type)).sum()
        loss.backward()
        return {f"d{name}": leaf.grad.double() for name, leaf in leaves.items()}

    def by_operator(self, backend):
        """Those of PyTorch's own operator; None where a case, or this PyTorch, has no such thing."""
        if self.softcap or self.grad_lse is not None or "sinks" in self.inputs or self.p or not hasattr(torch.nn, "attention"):
            return None
        leaves = {name: x.clone().requires_grad_() for name, x in self.inputs.items()}
        k, v = (leaves[name].repeat_interleave(self.group, 1) for name in "kv")
        mask = leaves.get("mask")
        if self.causal:
            seen = torch.ones(self.rows, self.keys).tril().bool()
            hidden = torch.zeros(self.rows, self.keys, dtype=self.type).masked_fill(~seen, -torch.inf)
            mask = hidden if mask is None else mask + hidden
        try:
            with torch.nn.attention.sdpa_kernel(backend):
                context = torch.nn.functional.scaled_dot_product_attention(leaves["q"], k, v, attn_mask=mask)
                context.backward(self.grad)
        except RuntimeError:  # values of another width, or a mask with a gradient
            return None
        return {f"d{name}": leaf.grad for name, leaf in leaves.items()}

    def arguments(self, folder):
        files = {**self.inputs, "grad": self.grad, "grad-lse": self.grad_lse}
        files = {name: (x.double().numpy(), NAMES[self.type]) for name, x in files.items() if x is not None}
        if self.p:
            files["kept"] = (self.kept.numpy(), "bool")
        save(folder / "in.safetensors", files)
        options = {"q": "-q", "k": "-k", "v": "-v"}
        given = [part for name in files for part in (options.get(name, f"--{name}"), f"{folder}/in.safetensors:{name}")]
        given += ["--causal"] * self.causal + ["--softcap", str(self.softcap)] * bool(self.softcap) + ["--dropout", str(self.p)] * bool(self.p)
        return [*given, "--show", ",".join(f"d{name}" for name in self.inputs), "-o", str(folder / "out.safetensors")]


def judged(binary, case, folder):
    """What --against says wrongly of PyTorch's own gradients."""
    warnings.simplefilter("ignore")  # of a backend that does not take a case
    backends = {"math": "MATH", "fused": "FLASH_ATTENTION"} if hasattr(torch.nn, "attention") else {}
    theirs = {name: case.by_operator(getattr(torch.nn.attention.SDPBackend, backend)) for name, backend in backends.items()}
    for name, gradients in theirs.items():
        if gradients is None:
            continue
        JUDGED[name] += 1
        save(folder / "theirs.safetensors", {each: (x.double().numpy(), NAMES[case.type]) for each, x in gradients.items()})
        arguments = case.arguments(folder)[:-4]  # without --show and -o
        done = subprocess.run([binary, "attend", *arguments, "--against", str(folder / "theirs.safetensors"), "--json"], capture_output=True, text=True, check=False)
        reports = [json.loads(line) for line in done.stdout.splitlines()]
        names = [each["mistakes"] for report in reports for each in report.get("named", []) if not report["agrees"]]
        if done.returncode != 0 or names:
            yield f"{name} of PyTorch ({NAMES[case.type]}) is called wrong: exit code {done.returncode}, {names} {done.stderr}"


def check(binary, seed):
    case = Case(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        done = subprocess.run([binary, "attend", *case.arguments(folder)], capture_output=True, check=False)
        if done.returncode != 0:
            return [f"exit code {done.returncode}: {done.stderr.decode(errors='replace')}"]
        ours = {name: torch.from_numpy(array) for name, (array, _) in read(folder / "out.safetensors").items()}
        accused = list(judged(binary, case, folder))
    exact = case.by_autograd(torch.float64)
    theirs = None
    if case.type not in REACH:
        try:
            theirs = case.by_autograd(case.type)
        except RuntimeError:  # an old PyTorch has no float16 for processors
            return accused
    failures = accused
    for name, expected in exact.items():
        largest = expected.abs().max()
        reach = (theirs[name] - expected).abs().max() if theirs else REACH[case.type] * max(largest, 1)
        step = 0 if not theirs else torch.finfo(case.type).eps / 2 * largest  # what the result's own rounding may cost
        off = (ours[name] - expected).abs().max()
        if not off <= max(reach, step):
            failures.append(f"{name}: off by {off:.3g}, allowed {max(reach, step):.3g} ({NAMES[case.type]})")
    return failures


def main():
    binary = sys.argv[1]
    cases = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    failures = [f"seed {seed}: {each}" for seed in range(first, first + cases) for each in check(binary, seed)]
    print("\n".join(failures) if failures else f"{cases} runs of attend --grad agree with PyTorch {torch.__version__}; judged of its operator: {dict(JUDGED)}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
