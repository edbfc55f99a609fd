#!/usr/bin/env python3
"""Models with an encoder and a decoder, run by the program, against PyTorch and the package `transformers`.

    tests/oracle/live_encoder_decoders.py path/to/attn-cli [first_seed]

One small model of each kind and seed, every tensor drawn anew (see live_models.py). transformers runs two sources at once, the shorter
one padded; ours runs the shorter one alone. Attention of all three parts, hidden states of both stacks and the logits must agree within
2e-5 of the largest; transformers' own cross_attentions pass --against; greedy decoding gives the tokens of generate(). Mistakes that a
config can make must be seen. Last, the plain NumPy ways that the program's tests compare with must be those of transformers.

Exit 0: all agree; 1: what does not is on stderr; 77: a package is not installed, which is a failure instead when the environment has
ATTN_REQUIRE_LIVE=1.
"""

import importlib
import json
import os
import subprocess
import sys
import tempfile
import types
from pathlib import Path

from live import prefer_newer_packages, skip

prefer_newer_packages()
os.environ["HF_HUB_OFFLINE"] = os.environ["TQDM_DISABLE"] = "1"
try:
    import numpy as np
    import torch
    import transformers
except ImportError as missing:
    skip(missing)
sys.path.insert(0, str(Path(__file__).parents[1] / "cli"))
sys.modules.setdefault("pytest", types.SimpleNamespace(importorskip=importlib.import_module))  # which newer packages do not have beside them
import tiny_encoder_decoders

PROGRAM = Path(sys.argv[1]).resolve()
FIRST = int(sys.argv[2]) if len(sys.argv) > 2 else 0
TOLERANCE = 2e-5
V = 97
PAD, END = 0, 2

sizes = {"vocab_size": V, "d_model": 48, "encoder_layers": 2, "decoder_layers": 3, "encoder_attention_heads": 4, "decoder_attention_heads": 6,
         "encoder_ffn_dim": 80, "decoder_ffn_dim": 64, "max_position_embeddings": 96, "pad_token_id": PAD, "eos_token_id": END, "bos_token_id": 1,
         "forced_eos_token_id": None}
marian = {**sizes, "activation_function": "swish", "scale_embedding": True, "decoder_start_token_id": PAD}
bart = {**sizes, "decoder_start_token_id": END}
t5 = {"vocab_size": V, "d_model": 48, "d_kv": 10, "d_ff": 80, "num_layers": 2, "num_decoder_layers": 3, "num_heads": 4, "pad_token_id": PAD,
      "eos_token_id": END, "decoder_start_token_id": PAD}

# name → the class, its config, the config's values
MODELS = {
    "marian": ("MarianMTModel", "MarianConfig", marian),
    "marian, each its own words": ("MarianMTModel", "MarianConfig", {**marian, "share_encoder_decoder_embeddings": False, "tie_word_embeddings": True}),
    "bart": ("BartForConditionalGeneration", "BartConfig", bart),
    "bart, scaled": ("BartForConditionalGeneration", "BartConfig", {**bart, "scale_embedding": True, "activation_function": "relu"}),
    "t5": ("T5ForConditionalGeneration", "T5Config", t5),
    "t5 1.1": ("T5ForConditionalGeneration", "T5Config", {**t5, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}),
}

# A model and a value of its config.json with which the program must disagree.
MISTAKES = [
    ("marian", {"scale_embedding": False}),
    ("marian", {"activation_function": "gelu"}),
    ("bart", {"scale_embedding": True}),
    ("t5", {"relative_attention_max_distance": 64}),
    ("t5", {"relative_attention_num_buckets": 16}),
    ("t5", {"layer_norm_epsilon": 1e-3}),
    ("t5 1.1", {"feed_forward_proj": "gated-silu"}),
]


def tokenizer():
    """Words w0, w1, … and behind each sentence the token that ends it."""
    vocabulary = {f"w{i}": i for i in range(V)}
    end = {"SpecialToken": {"id": f"w{END}", "type_id": 0}}
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None,
            "pre_tokenizer": {"type": "WhitespaceSplit"}, "decoder": None,
            "post_processor": {"type": "TemplateProcessing", "single": [{"Sequence": {"id": "A", "type_id": 0}}, end],
                               "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}, end],
                               "special_tokens": {f"w{END}": {"id": f"w{END}", "ids": [END], "tokens": [f"w{END}"]}}},
            "model": {"type": "WordLevel", "unk_token": "w3", "vocab": vocabulary}}


def drawn(name, seed):
    of, config_of, values = MODELS[name]
    torch.manual_seed(1000 * seed + sum(map(ord, name)))
    config = getattr(transformers, config_of)(**values)
    config._attn_implementation = "eager"  # no other one hands out its weights
    model = getattr(transformers, of)(config).eval()
    with torch.no_grad():
        for tensor, parameter in model.named_parameters():
            if not parameter.requires_grad:
                continue  # sines
            if tensor.endswith("Attention.q.weight"):  # T5's, whose scores are not scaled: or float32 itself is farther off
                parameter.normal_(0, 1.6 / (parameter.shape[-1] * t5["d_kv"]) ** 0.5)
            elif parameter.ndim >= 2:
                parameter.normal_(0, 0.5 if any(part in tensor for part in ("embed", "shared", "attention_bias")) else 1.6 / parameter.shape[-1] ** 0.5)
            elif tensor.endswith("weight"):  # of a norm
                parameter.add_(0.2 * torch.randn_like(parameter))
            else:
                parameter.normal_(0, 0.2)
        if "T5" not in of:
            model.final_logits_bias.normal_(0, 0.5)
        if name == "t5 1.1":  # words of its own
            model.lm_head.weight = torch.nn.Parameter(torch.randn_like(model.lm_head.weight) * 0.5)
    return model


def run_of_program(folder, source, target, *options):
    sentence = " ".join(f"w{i}" for i in source)
    text = ["--target", " ".join(f"w{i}" for i in target)] if target is not None else []
    return subprocess.run([PROGRAM, "run", sentence, "--model", f"{folder}/", *text, *options], capture_output=True, check=False)


def arrays_of_program(folder, source, target, part, show):
    out = Path(folder) / "out.npz"
    done = run_of_program(folder, source, None if part == "encoder" else target, "--part", part, "--layer", "all", "--show", show, "-o", str(out))
    if done.returncode != 0:
        raise RuntimeError(done.stderr.decode())
    return dict(np.load(out))


def difference(ours, theirs):
    """The largest, as a part of the largest number."""
    return float(np.abs(np.asarray(ours) - theirs).max() / np.abs(theirs).max()) if np.shape(ours) == theirs.shape else float("inf")


def theirs(model, source, target, longer):
    """Of `source`, padded beside a longer one: arrays by the names that --part and the program's layers have."""
    ids = torch.tensor([source + [PAD] * (len(longer) - len(source)), longer])
    mask = torch.tensor([[1] * len(source) + [0] * (len(longer) - len(source)), [1] * len(longer)])
    with torch.no_grad():
        done = model(input_ids=ids, attention_mask=mask, decoder_input_ids=torch.tensor([target, target]), output_attentions=True,
                     output_hidden_states=True, use_cache=False)
    S, arrays = len(source), {"logits": done.logits[0].numpy()}
    for part, attentions in (("encoder", done.encoder_attentions), ("decoder", done.decoder_attentions), ("cross", done.cross_attentions)):
        for n, attention in enumerate(attentions):
            rows = attention[0, :, :S] if part == "encoder" else attention[0]
            arrays[part, n] = (rows if part == "decoder" else rows[..., :S]).numpy()
    for part, states in (("encoder", done.encoder_hidden_states), ("decoder", done.decoder_hidden_states)):
        for n, state in enumerate(states):
            arrays[part, "state", n] = (state[0, :S] if part == "encoder" else state[0]).numpy()
    return arrays


def ours(folder, source, target):
    """source and target as they are typed: the program adds what begins and ends them."""
    arrays = {}
    for part in ("encoder", "decoder", "cross"):
        states = ",embeddings,hidden_states" if part != "cross" else ""
        done = arrays_of_program(folder, source, target, part, "weights" + states + (",logits" if part == "decoder" else ""))
        for name, array in done.items():
            if name == "logits":
                arrays["logits"] = array
                continue
            _, _, n, item = name.split(".")
            arrays[(part, int(n)) if item == "weights" else (part, "state", int(n) + (item == "hidden_states"))] = array
    return arrays


def compared(name, seed):
    model = drawn(name, seed)
    random = np.random.default_rng(seed)
    source, target = (random.integers(5, V, count).tolist() for count in (70 if name.startswith("t5") else 13, 40 if name.startswith("t5") else 9))
    longer = random.integers(5, V, len(source) + 6).tolist()
    start = MODELS[name][2]["decoder_start_token_id"]
    worst, problems = {"attention": 0.0, "states": 0.0, "logits": 0.0}, []
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        Path(folder, "tokenizer.json").write_text(json.dumps(tokenizer()))
        right = theirs(model, [*source, END], [start, *target], longer)
        mine = ours(folder, source, target)
        for what, array in right.items():
            kind = "logits" if what == "logits" else "states" if "state" in what else "attention"
            worst[kind] = max(worst[kind], difference(mine[what], array))
        if max(worst.values()) > TOLERANCE:
            problems.append(f"{name}, seed {seed}: differ by {worst}")
        saved = Path(folder) / "cross_attentions.npy"
        np.save(saved, np.stack([right["cross", n] for n in range(3)])[:, None])
        against = run_of_program(folder, source, target, "--part", "cross", "--layer", "all", "--rtol", "0", "--atol", "2e-5", "--against", str(saved))
        if against.returncode != 0:
            problems.append(f"{name}, seed {seed}: --against: {against.stderr.decode()}{against.stdout.decode()}")
        with torch.no_grad():
            generated = model.generate(torch.tensor([[*source, END]]), max_new_tokens=8, do_sample=False, num_beams=1, use_cache=False)[0].tolist()
        greedy = run_of_program(folder, source, None, "--target-greedy", "8", "--part", "decoder", "--layer", "0", "--show", "token_ids", "--json")
        wanted = generated[: generated.index(END, 1)] if END in generated[1:] else generated
        if greedy.returncode != 0 or json.loads(greedy.stdout)["token_ids"] != wanted:
            problems.append(f"{name}, seed {seed}: generate() gives {wanted}, --target-greedy {greedy.stdout.decode()[-300:]}{greedy.stderr.decode()}")
        for of, change in MISTAKES if seed == FIRST else []:
            if of == name:
                config = Path(folder, "config.json")
                before = config.read_text()
                config.write_text(json.dumps(json.loads(before) | change))
                try:
                    wrong = ours(folder, source, target)
                    seen = max(difference(wrong[what], array) for what, array in right.items()) > TOLERANCE
                except RuntimeError:
                    seen = True  # a table of another size
                problems += [] if seen else [f"{name}: {change} is not seen"]
                config.write_text(before)
    return worst, problems


def compared_plain_way(make, of):
    """Of tests/cli/tiny_encoder_decoders.py with transformers, which reads the same folder."""
    with tempfile.TemporaryDirectory() as parent:
        folder, forward = make(Path(parent) / "model", FIRST)
        model = getattr(transformers, of).from_pretrained(folder, attn_implementation="eager").eval()
        source, target = [5, 6, 7, 8, 9, 10, 11, 12, 13, 5, 2], [model.config.decoder_start_token_id, 9, 9, 6, 11, 5, 7, 8, 13]
        right = theirs(model, source, target, [*source, 5, 6])
        plain = forward(source, target)
        mine = {"logits": plain["logits"]}
        mine |= {(part, n): array for part in ("encoder", "decoder", "cross") for n, array in enumerate(plain[part])}
        mine |= {(part, "state", n): array for part in ("encoder", "decoder") for n, array in enumerate(plain[part + "_states"])}
        worst = max(difference(mine[what], array) for what, array in right.items())
        return [] if worst <= TOLERANCE else [f"the plain way of {make.__name__} differs from transformers by {worst}"]


def main():
    transformers.logging.set_verbosity_error()
    problems = []
    for make, of in ((tiny_encoder_decoders.marian, "MarianMTModel"), (tiny_encoder_decoders.bart, "BartForConditionalGeneration"),
                     (tiny_encoder_decoders.t5, "T5ForConditionalGeneration"), (tiny_encoder_decoders.flan_t5, "T5ForConditionalGeneration")):
        problems += compared_plain_way(make, of)
    for name in MODELS:
        worst = {}
        for seed in range(FIRST, FIRST + 3):
            each, found = compared(name, seed)
            worst = {kind: max(worst.get(kind, 0), value) for kind, value in each.items()}
            problems += found
        print(name + ": " + ", ".join(f"{kind} {value:.1e}" for kind, value in worst.items()))
    print("\n".join(problems), file=sys.stderr)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
