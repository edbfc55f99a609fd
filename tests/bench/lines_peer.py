#!/usr/bin/env python3
"""Short sentences a second: `run --lines FILE --json` on one thread and on two, beside the same loop in PyTorch and NumPy.

usage: lines_peer.py ATTN_CLI [--sentences N] [--turns N]

All take turns; the time of the tool is that of the whole process, the time of a loop begins after the import. The loops do what
the tool does by default: split, number the sorted vocabulary, seed 123, draw the embedding table and W_q, W_k, W_v, compute
weights and context, and make one JSON text a sentence. PyTorch and NumPy use one thread. A loop takes a tenth of the sentences.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

WORDS = "life is short eat dessert first to be or not the question whether nobler in mind suffer slings arrows of outrageous fortune".split()


def write_sentences(path, count):
    """5 to 8 words each."""
    rng = random.Random(1)
    with open(path, "w") as file:
        for _ in range(count):
            file.write(" ".join(rng.choices(WORDS, k=rng.randint(5, 8))) + "\n")


def prepare(sentence):
    words = sentence.replace(",", "").split()
    vocabulary = {word: i for i, word in enumerate(sorted(set(words)))}
    return words, vocabulary, [vocabulary[word] for word in words]


def result_text(sentence, words, vocabulary, weights, context):
    return json.dumps(
        {"sentence": sentence, "tokens": words, "vocabulary": vocabulary, "weights": [weights.tolist()], "context": context.tolist()}
    )


def torch_loop():
    try:
        import torch
    except ImportError:
        return None
    torch.set_num_threads(1)

    def one(sentence):
        words, vocabulary, ids = prepare(sentence)
        torch.manual_seed(123)
        X = torch.randn(len(vocabulary), 16)[ids]
        W_q, W_k, W_v = torch.rand(24, 16), torch.rand(24, 16), torch.rand(28, 16)
        q, k, v = X @ W_q.T, X @ W_k.T, X @ W_v.T
        weights = torch.softmax(q @ k.T / 24**0.5, dim=-1)
        return result_text(sentence, words, vocabulary, weights, weights @ v)

    return one


def numpy_loop():
    try:
        import numpy
    except ImportError:
        return None

    def one(sentence):
        words, vocabulary, ids = prepare(sentence)
        numpy.random.seed(123)
        X = numpy.random.randn(len(vocabulary), 16)[ids].astype("float32")
        W_q, W_k, W_v = (numpy.random.rand(rows, 16).astype("float32") for rows in (24, 24, 28))
        q, k, v = X @ W_q.T, X @ W_k.T, X @ W_v.T
        scores = q @ k.T / numpy.float32(24**0.5)
        powers = numpy.exp(scores - scores.max(axis=1, keepdims=True))
        weights = powers / powers.sum(axis=1, keepdims=True)
        return result_text(sentence, words, vocabulary, weights, weights @ v)

    return one


def rate_of_tool(program, file, count, threads):
    before = time.perf_counter()
    with open(os.devnull, "wb") as null:
        subprocess.run([program, "run", "--lines", file, "--json", "--threads", str(threads)], stdout=null, check=True)
    return count / (time.perf_counter() - before)


def rate_of_loop(one, sentences):
    before = time.perf_counter()
    with open(os.devnull, "w") as null:
        for sentence in sentences:
            null.write(one(sentence) + "\n")
    return len(sentences) / (time.perf_counter() - before)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("program")
    parser.add_argument("--sentences", type=int, default=100000)
    parser.add_argument("--turns", type=int, default=5)
    arguments = parser.parse_args()
    program = os.path.abspath(arguments.program)
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "sentences.txt")
        write_sentences(file, arguments.sentences)
        with open(file) as lines:
            some = [line.rstrip("\n") for line in lines][: max(arguments.sentences // 10, 1)]
        contestants = {
            "attn-cli, 1 thread": lambda: rate_of_tool(program, file, arguments.sentences, 1),
            "attn-cli, 2 threads": lambda: rate_of_tool(program, file, arguments.sentences, 2),
        }
        for name, loop in (("PyTorch", torch_loop()), ("NumPy", numpy_loop())):
            if loop is None:
                print(f"{name} is missing: apt-get install python3-{'torch' if name == 'PyTorch' else 'numpy'}", file=sys.stderr)
            else:
                loop(some[0])
                contestants[name] = lambda loop=loop: rate_of_loop(loop, some)
        rates = {name: [] for name in contestants}
        for _ in range(arguments.turns):
            for name, contestant in contestants.items():
                rates[name].append(contestant())
    medians = {name: statistics.median(values) for name, values in rates.items()}
    one_thread = medians["attn-cli, 1 thread"]
    print(f"{arguments.sentences:,} sentences of 5 to 8 words, {arguments.turns} turns, medians:")
    for name, rate in medians.items():
        compared = rate / one_thread if name.startswith("attn-cli") else one_thread / rate
        what = "of one thread" if name.startswith("attn-cli") else "times slower than one thread of attn-cli"
        print(f"  {name:<20} {rate:>9,.0f} a second   {compared:5.2f} {what}")


if __name__ == "__main__":
    main()
