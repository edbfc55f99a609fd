#!/usr/bin/env python3
"""Gradients on one thread: the whole process of `attend --grad`, files and all, beside the backward pass of PyTorch alone.

usage: gradients.py ATTN_CLI [--seq 128 256 …] [--rounds 5] [--memory N]

For every length and type they take turns, and the fastest round of each counts. The peer in float32 is PyTorch's flash attention,
in float64 its unfused math; its time is that of torch.autograd.grad, without the forward pass. Heads of 64, eight of them, two
from 4,096 tokens on. Prints a table of milliseconds, ratios, and the largest difference from the peer by its largest gradient;
--memory N adds the peak memory at N tokens and at twice as many, one head, over what the seven tensors take.

PyTorch 2 is needed: pip install torch numpy
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

os.environ["OMP_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"

import numpy  # noqa: E402
import torch  # noqa: E402
from torch.nn.attention import SDPBackend, sdpa_kernel  # noqa: E402

PEERS = {"float32": SDPBackend.FLASH_ATTENTION, "float64": SDPBackend.MATH}
NAMES = ("q", "k", "v", "g")
HEAD_DIM = 64
# In a process of its own, since a child counts what its parent had when it was made.
PEAK_KIB = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True); " \
    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"


def command(program, folder):
    files = [word for name in NAMES[:3] for word in (f"-{name}", f"{folder}/{name}.npy")]
    return [program, "attend", *files, "--grad", f"{folder}/g.npy", "--threads", "1", "-o", f"{folder}/out.npz"]


def write_inputs(folder, heads, length, dtype):
    draw = torch.Generator().manual_seed(1)
    tensors = [torch.randn(1, heads, length, HEAD_DIM, generator=draw).to(getattr(torch, dtype)) for _ in NAMES]
    for name, tensor in zip(NAMES, tensors):
        numpy.save(f"{folder}/{name}.npy", tensor.numpy())
    return tensors


def timed(work):
    begin = time.perf_counter()
    result = work()
    return time.perf_counter() - begin, result


def measure(program, folder, length, dtype, rounds):
    """Seconds of both, and the largest difference over the largest gradient."""
    *inputs, grad = write_inputs(folder, 8 if length < 4096 else 2, length, dtype)
    leaves = [tensor.requires_grad_() for tensor in inputs]
    with sdpa_kernel(PEERS[dtype]):
        context = torch.nn.functional.scaled_dot_product_attention(*leaves)
    ours, theirs = [], []
    for _ in range(rounds):
        seconds, _ = timed(lambda: subprocess.run(command(program, folder), check=True))
        ours.append(seconds)
        seconds, gradients = timed(lambda: torch.autograd.grad(context, leaves, grad, retain_graph=True))
        theirs.append(seconds)
    with numpy.load(f"{folder}/out.npz") as out:
        pairs = [(torch.from_numpy(out[name]), right) for name, right in zip(("dq", "dk", "dv"), gradients)]
    between = max(((mine - right).abs().max() / right.abs().max()).item() for mine, right in pairs)
    return min(ours), min(theirs), between


def memory_over_tensors(program, folder, length):
    """Bytes of the peak beyond the seven tensors."""
    write_inputs(folder, 1, length, "float32")
    peak = subprocess.run([sys.executable, "-c", PEAK_KIB, *command(program, folder)], check=True, stdout=subprocess.PIPE).stdout
    return int(peak) * 1024 - 7 * 4 * length * HEAD_DIM


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--seq", type=int, nargs="+", default=[128, 256, 512, 1024, 2048])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--memory", type=int, metavar="N")
    options = parser.parse_args()
    program = str(options.program.resolve())
    torch.set_num_threads(1)
    print(f"| n | type | attn-cli, ms | PyTorch {torch.__version__.split('+')[0]}, ms | ratio | difference |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        for dtype in PEERS:
            for length in options.seq:
                ours, theirs, between = measure(program, folder, length, dtype, options.rounds)
                print(f"| {length} | {dtype} | {ours * 1e3:.1f} | {theirs * 1e3:.1f} | {ours / theirs:.1f} | {between:.0e} |", flush=True)
        if options.memory:
            for length in (options.memory, 2 * options.memory):
                print(f"memory beyond the tensors at {length} tokens: {memory_over_tensors(program, folder, length) / 2**20:.0f} MiB")


if __name__ == "__main__":
    main()
