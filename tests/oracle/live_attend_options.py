#!/usr/bin/env python3
"""The options of attn-cli attend against live PyTorch and what else is there, over random tensors in float32 and float64.

  always               softmax with the sink as one more column, torch.logsumexp, ALiBi's bias and a mask of documents
  with PyTorch 2.5     flex_attention, with ALiBi as a score_mod, documents as a block mask, grouped heads, and its log-sum-exp
  with PyTorch 2.1     its flash attention for processors: the log-sum-exp
  with transformers    GPT-OSS's attention with sinks

usage: live_attend_options.py ATTN_CLI [CASES] [FIRST_SEED]
Exits 77 (skipped) without PyTorch and NumPy, or 1 when ATTN_REQUIRE_LIVE=1 says that they must be there.
"""
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from types import SimpleNamespace

from live import skip

try:
    import numpy
    import torch
except ImportError as missing:
    skip(missing)
try:
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention
except ImportError:
    flex_attention = None
try:
    from transformers.models.gpt_oss.modeling_gpt_oss import eager_attention_forward as gpt_oss
except ImportError:
    gpt_oss = None
flash = getattr(torch.ops.aten, "_scaled_dot_product_flash_attention_for_cpu", None)

TOLERANCE = {torch.float32: (3e-5, 5e-6), torch.float64: (1e-11, 1e-12)}


class Case:
    def __init__(self, seed):
        draw = torch.Generator().manual_seed(seed)
        number = lambda low, high: int(torch.randint(low, high + 1, (1,), generator=draw))
        self.type = [torch.float32, torch.float64][number(0, 1)]
        normal = lambda *shape: torch.randn(*shape, generator=draw, dtype=torch.float64).to(self.type)
        self.batch, kv_heads, self.group = number(1, 2), number(1, 3), number(1, 3)
        self.heads, self.rows, d = kv_heads * self.group, number(2, 90), 8 * number(1, 8)
        self.q = normal(self.batch, self.heads, self.rows, d)
        self.k, self.v = normal(self.batch, kv_heads, self.rows, d), normal(self.batch, kv_heads, self.rows, d)
        self.alibi, self.causal = number(0, 1) == 1, number(0, 1) == 1
        self.segments = torch.randint(0, 3, (self.rows,), generator=draw).sort().values if number(0, 1) else None
        self.sinks = normal(self.heads) if number(0, 1) else None

    def arguments(self, folder):
        files = {"--queries": self.q, "--keys": self.k, "--values": self.v, "--segments": self.segments, "--sinks": self.sinks}
        given = ["--show", "context,lse", "-o", str(folder / "out.npz")]
        for option, tensor in files.items():
            if tensor is not None:
                numpy.save(folder / f"{option}.npy", tensor.numpy())
                given += [option, str(folder / f"{option}.npy")]
        return given + ["--alibi"] * self.alibi + ["--causal"] * self.causal

    def slopes(self):
        """(H, 1, 1)"""
        nearest = 1 << (self.heads.bit_length() - 1)
        powers = [8 * (h + 1) / nearest for h in range(nearest)] + [4 * (2 * h + 1) / nearest for h in range(self.heads - nearest)]
        return 2.0 ** -torch.tensor(powers, dtype=torch.float64)[:, None, None]

    def bias(self):
        """What is added to the scores, (H, T, S)."""
        place = torch.arange(self.rows)
        added = -self.slopes() * (place[:, None] - place).abs() * self.alibi
        if self.causal:
            added = added.masked_fill(place > place[:, None], -torch.inf)
        if self.segments is not None:
            added = added.masked_fill(self.segments != self.segments[:, None], -torch.inf)
        return added

    def plain(self):
        q, k, v = self.q.double(), *(x.double().repeat_interleave(self.group, 1) for x in (self.k, self.v))
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5 + self.bias()
        if self.sinks is not None:
            scores = torch.cat([scores, self.sinks.double()[:, None, None].expand(*scores.shape[:-1], 1)], -1)
        return torch.softmax(scores, -1)[..., : self.rows] @ v, torch.logsumexp(scores, -1)

    def flexible(self):
        slopes = self.slopes().flatten()
        bias = lambda s, b, h, i, j: s - slopes[h] * (i - j).abs()
        labels = torch.zeros(self.rows) if self.segments is None else self.segments
        seen = lambda b, h, i, j: (labels[i] == labels[j]) & ((i >= j) | (not self.causal))
        mask = create_block_mask(seen, None, None, self.rows, self.rows, device="cpu")
        q, k, v = self.q.double(), self.k.double(), self.v.double()
        return flex_attention(q, k, v, score_mod=bias if self.alibi else None, block_mask=mask, enable_gqa=True, return_lse=True)

    def peers(self):
        yield "softmax", *self.plain()
        if flex_attention and self.sinks is None:
            yield "flex_attention", *self.flexible()
        if flash and self.sinks is None and self.segments is None and not self.alibi:
            k, v = (x.repeat_interleave(self.group, 1) for x in (self.k, self.v))
            context, lse = flash(self.q, k, v, 0.0, self.causal)
            yield "flash attention", context.double(), lse.double().reshape(self.batch, self.heads, self.rows)
        if gpt_oss and self.sinks is not None:
            module = SimpleNamespace(sinks=self.sinks.double(), num_key_value_groups=self.group, training=False)
            bias = self.bias()[None].expand(self.batch, -1, -1, -1)
            context, _ = gpt_oss(module, self.q.double(), self.k.double(), self.v.double(), bias, self.q.shape[-1] ** -0.5)
            yield "gpt_oss", context.transpose(1, 2), None


def check(binary, seed, used):
    case = Case(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        done = subprocess.run([binary, "attend", *case.arguments(folder)], capture_output=True, check=False)
        if done.returncode != 0:
            return [f"exit code {done.returncode}: {done.stderr.decode(errors='replace')} (seed {seed})"]
        with numpy.load(folder / "out.npz") as file:
            ours = {stage: torch.from_numpy(file[stage]).double() for stage in file.files}
    failures = []
    for peer, context, lse in case.peers():
        used.add(peer)
        for stage, theirs in (("context", context), ("lse", lse)):
            if theirs is not None and not torch.allclose(ours[stage], theirs, *TOLERANCE[case.type]):
                failures.append(f"{stage}: off by {(ours[stage] - theirs).abs().max():.3g} from {peer} (seed {seed})")
    return failures


def main():
    warnings.simplefilter("ignore")
    binary = sys.argv[1]
    cases = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    used = set()
    failures = [failure for seed in range(first, first + cases) for failure in check(binary, seed, used)]
    peers = ", ".join(sorted(used))
    print("\n".join(failures) if failures else f"{cases} runs of attend agree with PyTorch {torch.__version__}: {peers}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
