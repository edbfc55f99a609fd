#!/usr/bin/env python3
"""Attention without weights, side by side: attn-cli, ONNX Runtime, PyTorch and NumPy, in turns within one run.

Every round times each of them once, for every length; the table shows medians over the rounds, so that what disturbs the
machine disturbs all. GFLOP/s count 4·n·n·d·H; "of peak" is attn-cli's share of the fused multiply-adds that `attn-cli bench`
measures in the same rounds. The inputs of all are float32 and in memory, as each likes them best: (B, n, H·d) for ONNX Runtime's
MultiHeadAttention, (H, n, d) for the others.

usage: peers.py ATTN_CLI [--seq 128 512 …] [--heads 8] [--head-dim 64] [--threads 1] [--rounds 7] [--causal] [--isa SET]
                [--json FILE] [--plot FILE.svg]

Peers that are not installed are named and left out. Debian has python3-torch, python3-numpy, libopenblas0-pthread (without which
both are tens of times slower) and python3-matplotlib for the plot. ONNX Runtime is a Python package: with Debian's NumPy,
pip install --no-deps --target DIR onnxruntime onnx==1.17.0 'protobuf<6' flatbuffers typing_extensions, then PYTHONPATH=DIR.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

import numpy

import svg_plot


def generate(length, heads, head_dim):
    rng = numpy.random.default_rng(1)
    return [rng.random((heads, length, head_dim), "float32") - numpy.float32(0.5) for _ in "qkv"]


def onnxruntime_peer(options):
    import onnx
    import onnxruntime
    from onnx import TensorProto, helper

    names = ["query", "key", "value"]
    attributes = {"num_heads": options.heads, "unidirectional": int(options.causal)}
    node = helper.make_node("MultiHeadAttention", names, ["output"], domain="com.microsoft", **attributes)
    tensor = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, "n", options.heads * options.head_dim])
    graph = helper.make_graph([node], "attention", [tensor(name) for name in names], [tensor("output")])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = options.threads
    session = onnxruntime.InferenceSession(model.SerializeToString(), settings, providers=["CPUExecutionProvider"])

    def prepare(tensors):
        side_by_side = [t.transpose(1, 0, 2).reshape(1, t.shape[1], -1).copy() for t in tensors]
        feed = dict(zip(names, side_by_side))
        return lambda: session.run(None, feed)[0].reshape(-1, options.heads, options.head_dim).transpose(1, 0, 2)

    return f"ONNX Runtime {onnxruntime.__version__}", prepare


def torch_peer(options):
    import torch

    torch.set_num_threads(options.threads)

    def prepare(tensors):
        q, k, v = (torch.from_numpy(t) for t in tensors)
        if hasattr(torch.nn.functional, "scaled_dot_product_attention"):
            attention = torch.nn.functional.scaled_dot_product_attention
            return lambda: attention(q[None], k[None], v[None], is_causal=options.causal)[0].numpy()
        hidden = torch.ones(q.shape[1], q.shape[1]).triu(1).bool() if options.causal else None

        def by_hand():
            scores = q @ k.transpose(1, 2) / options.head_dim**0.5
            if hidden is not None:
                scores.masked_fill_(hidden, float("-inf"))
            return (torch.softmax(scores, -1) @ v).numpy()

        return by_hand

    return f"PyTorch {torch.__version__}", prepare


def numpy_peer(options):
    def prepare(tensors):
        q, k, v = tensors
        hidden = numpy.triu(numpy.ones((q.shape[1],) * 2, bool), 1) if options.causal else None

        def by_hand():
            scores = q @ k.transpose(0, 2, 1) / numpy.float32(options.head_dim**0.5)
            if hidden is not None:
                scores[:, hidden] = -numpy.inf
            scores -= scores.max(-1, keepdims=True)
            numpy.exp(scores, scores)
            scores /= scores.sum(-1, keepdims=True)
            return scores @ v

        return by_hand

    return f"NumPy {numpy.__version__}", prepare


def installed_peers(options):
    found = []
    for name, make in (("onnxruntime and onnx", onnxruntime_peer), ("torch", torch_peer), ("numpy", numpy_peer)):
        try:
            found.append(make(options))
        except ImportError as missing:
            print(f"left out: {name} ({missing}); see --help for how to install it", file=sys.stderr)
    return found


def median_seconds(compute, enough=0.3, at_least=3):
    compute()
    seconds = []
    while len(seconds) < at_least or sum(seconds) < enough:
        begin = time.perf_counter()
        compute()
        seconds.append(time.perf_counter() - begin)
    return statistics.median(seconds)


def timing_of_tool(options, length):
    command = [options.program, "bench", "--seq", length, "--heads", options.heads, "--head-dim", options.head_dim]
    command += ["--threads", options.threads, "--isa", options.isa, "--json"] + ["--causal"] * options.causal
    return json.loads(subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, check=True).stdout)


def measure(options, peers, length):
    """GFLOP/s of the tool and of each peer, and the tool's share of the peak: medians over the rounds."""
    tensors = generate(length, options.heads, options.head_dim)
    pairs = length * (length + 1) / 2 if options.causal else length * length
    gflop = 4 * pairs * options.head_dim * options.heads * 1e-9
    computations = {name: prepare(tensors) for name, prepare in peers}
    outputs = [compute() for compute in computations.values()]
    for output in outputs:  # who computes something else is not worth timing
        numpy.testing.assert_allclose(output, outputs[0], rtol=1e-3, atol=1e-5)
    tool, shares, others = [], [], {name: [] for name in computations}
    for _ in range(options.rounds):
        timing = timing_of_tool(options, length)
        tool.append(gflop / timing["seconds"]["median"])
        shares.append(timing["gflops"] / timing["peak_gflops"])
        for name, compute in computations.items():
            others[name].append(gflop / median_seconds(compute))
    medians = {name: statistics.median(values) for name, values in others.items()}
    return {"seq": length, "isa": timing["isa"], "tool": statistics.median(tool), "of_peak": statistics.median(shares), **medians}


def print_table(rows, names, options):
    print(f"GFLOP/s, {options.heads} heads of {options.head_dim}, {options.threads} thread(s){', causal' * options.causal}")
    print("| n | attn-cli | of peak |" + "".join(f" {name} | ratio |" for name in names))
    print("|" + "---|" * (3 + 2 * len(names)))
    for row in rows:
        cells = [f"{row[name]:.0f} | {row['tool'] / row[name]:.2f}" for name in names]
        print(f"| {row['seq']} | {row['tool']:.0f} | {100 * row['of_peak']:.0f} % | " + " | ".join(cells) + " |")


def plot(rows, names, options):
    figure, axes = svg_plot.pyplot().subplots(figsize=(6, 3.5))
    for name in ["tool", *names]:
        axes.plot([row["seq"] for row in rows], [row[name] for row in rows], marker="o", label="attn-cli" if name == "tool" else name)
    axes.set_xscale("log", base=2)
    axes.set_ylim(bottom=0)
    axes.set_xticks([row["seq"] for row in rows], [str(row["seq"]) for row in rows])
    axes.set(xlabel="tokens", ylabel="GFLOP/s", title=f"{options.heads} heads of {options.head_dim}, {options.threads} thread(s)")
    axes.legend()
    svg_plot.save(figure, options.plot)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--seq", type=int, nargs="+", default=[128, 512, 2048, 4096, 8192])
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--head-dim", type=int, default=64)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--causal", action="store_true")
    parser.add_argument("--isa", default="auto")
    parser.add_argument("--json")
    parser.add_argument("--plot")
    options = parser.parse_args()
    threads = str(options.threads)
    if os.environ.get("OPENBLAS_NUM_THREADS") != threads:  # which OpenBLAS reads when NumPy loads it: too late here
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "OPENBLAS_NUM_THREADS": threads})
    peers = installed_peers(options)
    names = [name for name, _ in peers]
    rows = [measure(options, peers, length) for length in options.seq]
    print_table(rows, names, options)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
    if options.plot:
        plot(rows, names, options)


if __name__ == "__main__":
    main()
