#!/usr/bin/env python3
"""`--model FILE.gguf` against the package `gguf`: files that its writer wrote, and its numbers of quantised rows, bit for bit.

    tests/oracle/live_gguf.py path/to/attn-cli [first_seed]

Of each type of tensor 20 tables of random bits are the embeddings of a Llama of one layer; `--show embeddings` of every token must be
the package's dequantize of its row. The tests of the program read files of a writer of their own; here the whole file is another's.

Exit 0: all equal; 1: the first differences are on stderr; 77: the package is not installed (also looked for in build/gguf beside the
program), which is a failure instead when the environment has ATTN_REQUIRE_LIVE=1.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from live import skip

PROGRAM = Path(sys.argv[1]).resolve()
for folder in PROGRAM.parents[:2]:
    if (folder / "gguf").is_dir():
        sys.path.insert(0, str(folder / "gguf"))
try:
    import gguf
    import numpy
except ImportError as missing:
    skip(missing)

TYPES = ["F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q4_K", "Q5_K", "Q6_K"]
HALVES = {"Q8_0": [0], "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208]}  # where float16 stand
D = 256
TOKENS = [*"abcdefghijklmxy", "xy"]
V = len(TOKENS)
SENTENCE = "abcdefghijklmyxxy"  # each token once
TABLES = 20


def random_rows(kind, draw):
    """Rows as the package takes them: (V, bytes), or numbers of 16 bits."""
    if kind == gguf.GGMLQuantizationType.F16:
        return draw.standard_normal((V, D)).astype("float16")
    if kind == gguf.GGMLQuantizationType.BF16:
        return gguf.quants.quantize(draw.standard_normal((V, D)).astype("float32"), kind)
    count, size = gguf.GGML_QUANT_SIZES[kind]
    blocks = draw.integers(0, 256, (V * D // count, size), "uint8")
    for at in HALVES[kind.name]:
        blocks[:, at : at + 2] = draw.standard_normal((len(blocks), 1)).astype("float16").view("uint8")
    return blocks.reshape(V, -1)


def write(path, rows, kind):
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(64)
    writer.add_embedding_length(D)
    writer.add_block_count(1)
    writer.add_feed_forward_length(32)
    writer.add_head_count(2)
    writer.add_head_count_kv(1)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(TOKENS)
    writer.add_token_types([1] * V)
    writer.add_token_merges(["x y"])  # the writer leaves an empty list out
    writer.add_tensor("token_embd.weight", rows, raw_dtype=kind)
    shapes = {"attn_q": (D, D), "attn_k": (D // 2, D), "attn_v": (D // 2, D), "attn_output": (D, D), "ffn_gate": (32, D), "ffn_up": (32, D), "ffn_down": (D, 32)}
    for name, shape in shapes.items():
        writer.add_tensor(f"blk.0.{name}.weight", numpy.zeros(shape, "float32"))
    for name in ("blk.0.attn_norm", "blk.0.ffn_norm", "output_norm"):
        writer.add_tensor(f"{name}.weight", numpy.ones(D, "float32"))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def embeddings(path):
    command = [PROGRAM, "run", SENTENCE, "--model", path, "--layer", "0", "--show", "token_ids,embeddings", "--json"]
    done = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    assert sorted(done["token_ids"]) == list(range(V)), done["token_ids"]
    return numpy.asarray(done["layers"][0]["embeddings"], "float32")[numpy.argsort(done["token_ids"])]


def main():
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in TYPES:
            kind = gguf.GGMLQuantizationType[name]
            differing = 0
            for seed in range(first, first + TABLES):
                rows = random_rows(kind, numpy.random.default_rng(seed))
                path = Path(folder) / "model.gguf"
                write(path, rows, kind)
                wanted = gguf.quants.dequantize(rows, kind).astype("float32")
                found = embeddings(path)
                differing += int((found.view("uint32") != wanted.view("uint32")).sum())
            numbers = TABLES * V * D
            print(f"{name}: {differing} of {numbers} numbers differ", file=sys.stderr)
            failed += differing
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
