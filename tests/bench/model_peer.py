#!/usr/bin/env python3
"""Whole models beside PyTorch, in turns, on one thread and two: a long text through a Llama of the size of SmolLM2-135M with random
bfloat16 weights, whole process beside the forward pass alone (sdpa, float32); and sentences through a BERT to JSON and CSV, beside
batches of 32 that write the same numbers.

usage: model_peer.py ATTN_CLI BERT_FOLDER [ROUNDS]

Needs torch, transformers, numpy. Prints the fastest of ROUNDS (3) in seconds, and how many times longer each takes than PyTorch.
"""

import json
import random
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy
import torch
import transformers

D, LAYERS, HEADS, KV_HEADS, HIDDEN, ROWS = 576, 30, 9, 3, 1536, 49152
SENTENCES, BATCH = 1000, 32
ISAS = ("portable", "auto")
TOKENS = (512, 2048)


def write_llama(folder):
    """Tokens are the words w0, w1, …"""
    folder.mkdir()
    config = {"model_type": "llama", "hidden_size": D, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
              "num_key_value_heads": KV_HEADS, "intermediate_size": HIDDEN, "vocab_size": ROWS, "max_position_embeddings": 8192,
              "rms_norm_eps": 1e-5, "rope_theta": 100000, "tie_word_embeddings": True, "hidden_act": "silu"}
    (folder / "config.json").write_text(json.dumps(config))
    vocabulary = {"<unk>": 0} | {f"w{i}": i + 1 for i in range(ROWS - 1)}
    model = {"type": "WordPiece", "vocab": vocabulary, "unk_token": "<unk>", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100}
    (folder / "tokenizer.json").write_text(json.dumps({"version": "1.0", "truncation": None, "padding": None, "added_tokens": [],
        "normalizer": None, "pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": None, "decoder": None, "model": model}))
    generator = numpy.random.default_rng(1)
    shapes = {"model.embed_tokens.weight": (ROWS, D), "model.norm.weight": (D,)}
    for n in range(LAYERS):
        at = f"model.layers.{n}."
        width = D * KV_HEADS // HEADS
        shapes |= {f"{at}self_attn.{name}_proj.weight": (rows, D) for name, rows in zip("qkvo", (D, width, width, D))}
        shapes |= {f"{at}mlp.{name}_proj.weight": shape for name, shape in (("gate", (HIDDEN, D)), ("up", (HIDDEN, D)), ("down", (D, HIDDEN)))}
        shapes |= {f"{at}{name}_layernorm.weight": (D,) for name in ("input", "post_attention")}
    header, blocks, end = {}, [], 0
    for name, shape in shapes.items():
        values = numpy.ones(shape) if len(shape) == 1 else generator.standard_normal(shape) / shape[-1] ** 0.5
        block = (values.astype("float32").view("uint32") >> 16).astype("uint16").tobytes()
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [end, end + len(block)]}
        blocks.append(block)
        end += len(block)
    text = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + b"".join(blocks))


def seconds(work):
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def fastest(works, rounds):
    """Of each the fewest seconds, in turns."""
    taken = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            taken[name].append(seconds(work))
    return {name: min(each) for name, each in taken.items()}


def tell(what, threads, taken):
    theirs = taken["PyTorch"]
    ours = ", ".join(f"{name} {each:.2f} s ({each / theirs:.2f})" for name, each in taken.items() if name != "PyTorch")
    print(f"{what}, threads {threads}: PyTorch {theirs:.2f} s, {ours}", flush=True)


def long_texts(program, folder, rounds):
    write_llama(folder)
    model = transformers.AutoModel.from_pretrained(folder, attn_implementation="sdpa", dtype=torch.float32).eval()
    for threads in (1, 2):
        torch.set_num_threads(threads)
        for count in TOKENS:
            numbers = [i * 37 % 4000 for i in range(count)]
            command = [program, "run", " ".join(f"w{i}" for i in numbers), "--model", f"{folder}/", "--layer", "last", "--show", "hidden_states",
                       "--threads", str(threads), "-o", folder / "out.npy", "--isa"]
            works = {isa: lambda isa=isa: subprocess.run([*command, isa], check=True) for isa in ISAS}
            ids = torch.tensor([[i + 1 for i in numbers]])
            with torch.no_grad():
                theirs = model(ids).last_hidden_state[0].numpy()
                taken = fastest({"PyTorch": lambda: model(ids)} | works, rounds)
            apart = numpy.abs(numpy.load(folder / "out.npy") - theirs).max() / numpy.abs(theirs).max()
            tell(f"{count} tokens ({apart:.1e} apart)", threads, taken)


def json_of(index, tokens, array):
    return json.dumps({"index": index, "tokens": tokens, "array": array.tolist()}) + "\n"


def csv_of(index, tokens, array):
    rows = []
    for h, head in enumerate(array.tolist()):
        for i, row in enumerate(head):
            rows += [f"{index},weights,5,{h},{i},{j},{tokens[i]},{tokens[j]},{weight}\n" for j, weight in enumerate(row)]
    return "".join(rows)


def sentences(program, bert, folder, rounds):
    """Of the last layer: its attention as JSON and as CSV, and the hidden states behind it."""
    generator = random.Random(3)
    words = "the of and a to in is you that it he was for on are as with his they at be this have from or one had by word but not".split()
    lines = [" ".join(generator.choices(words, k=generator.randint(6, 24))) for _ in range(SENTENCES)]
    (folder / "lines.txt").write_text("".join(line + "\n" for line in lines))
    tokenizer = transformers.AutoTokenizer.from_pretrained(bert)
    model = transformers.AutoModel.from_pretrained(bert, attn_implementation="eager").eval()

    def theirs(show, text_of):
        with open(folder / "theirs", "w", encoding="utf-8") as out, torch.no_grad():
            for begin in range(0, SENTENCES, BATCH):
                batch = tokenizer(lines[begin : begin + BATCH], return_tensors="pt", padding=True)
                made = model(**batch, output_attentions=show == "weights")
                for i, mask in enumerate(batch["attention_mask"]):
                    count = int(mask.sum())
                    tokens = tokenizer.convert_ids_to_tokens(batch["input_ids"][i][:count])
                    array = made.attentions[-1][i, :, :count, :count] if show == "weights" else made.last_hidden_state[i, :count]
                    out.write(text_of(begin + i, tokens, array))

    for show, form, text_of in (("weights", "json", json_of), ("weights", "csv", csv_of), ("hidden_states", "json", json_of)):
        for threads in (1, 2):
            torch.set_num_threads(threads)
            command = [program, "run", "--lines", folder / "lines.txt", "--model", f"{bert}/", "--layer", "last", "--show", f"tokens,{show}",
                       "--format", form, "--threads", str(threads), "-o", folder / "ours", "--isa"]
            works = {isa: lambda isa=isa: subprocess.run([*command, isa], check=True) for isa in ISAS}
            tell(f"{SENTENCES} sentences, {show} as {form}", threads,
                 fastest({"PyTorch": lambda: theirs(show, text_of)} | works, rounds))


def main():
    program, bert = Path(sys.argv[1]).absolute(), Path(sys.argv[2])
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    with tempfile.TemporaryDirectory() as name:
        sentences(program, bert, Path(name), rounds)
        long_texts(program, Path(name) / "llama", rounds)


if __name__ == "__main__":
    main()
