"""The same small random model twice: as a folder, the way model hubs have it, and as a .gguf.

    folder, file = gguf_models.write(tmp_path, "qwen3", seed=1)
"""

import json

import gguf_files
import tensors
import tiny_models

numpy = tensors.numpy

D, H, K, d, L, INNER, PLACES = 16, 4, 2, 4, 2, 24, 32
SENTENCE = "the cat sat on the mat"

# ---- tokenizers, each as tokenizer.json and as metadata --------------------------------------------------------------

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
QWEN2 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
LLAMA3 = QWEN2.replace(r"\p{N}|", r"\p{N}{1,3}|", 1)
MERGES = ["t h", "th e", "Ġ c", "a t", "Ġc at", "Ġ th", "Ġth e", "1 2"]
BYTES = sorted(set("thecasonmd12,Ġ'"))


def added(tokens):
    return [{"id": i, "content": content, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
            for content, i in tokens.items()]


def template(begin, i):
    """One token in front."""
    name = {"SpecialToken": {"id": begin, "type_id": 0}}
    return {"type": "TemplateProcessing", "single": [name, {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [name, {"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {begin: {"id": begin, "ids": [i], "tokens": [begin]}}}


def byte_pairs(pre="gpt-2", pattern=GPT2, normalizer=None, begins=False, **model):
    pieces = [*BYTES, *(merge.replace(" ", "") for merge in MERGES)]
    end = len(pieces)
    json_form = {
        "version": "1.0", "added_tokens": added({"<|end|>": end}), "normalizer": normalizer,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False},
            {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}]},
        "post_processor": template("<|end|>", end) if begins else None,
        "model": {"type": "BPE", "vocab": {piece: i for i, piece in enumerate(pieces)}, "merges": MERGES, **model},
    }
    metadata = {"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": pre, "tokenizer.ggml.tokens": [*pieces, "<|end|>"],
                "tokenizer.ggml.token_type": [1] * end + [3], "tokenizer.ggml.merges": MERGES, "tokenizer.ggml.bos_token_id": end}
    return json_form, metadata


def scored_pairs(prefix=True):
    """SentencePiece's: pieces with scores, of which the merges of a tokenizer.json are made."""
    pieces = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁the", "the", "at", "th", "▁c", "▁", *"thecasonmd"]
    pieces = list(dict.fromkeys(pieces))
    types = [2, 3, 3] + [6] * 256 + [1] * (len(pieces) - 259)
    scores = [0.0] * 259 + [-float(i) for i in range(len(pieces) - 259)]
    ids = {piece: i for i, piece in enumerate(pieces)}
    merges = [[piece[:i], piece[i:]] for piece in pieces[259:] for i in range(1, len(piece)) if piece[:i] in ids and piece[i:] in ids]
    steps = [{"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]
    json_form = {
        "version": "1.0", "added_tokens": added({"<unk>": 0, "<s>": 1, "</s>": 2}),
        "normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"}, *steps] if prefix else steps},
        "pre_tokenizer": None, "post_processor": template("<s>", 1),
        "model": {"type": "BPE", "vocab": ids, "merges": merges, "unk_token": "<unk>", "fuse_unk": True, "byte_fallback": True},
    }
    metadata = {"tokenizer.ggml.model": "llama", "tokenizer.ggml.tokens": pieces, "tokenizer.ggml.token_type": types,
                "tokenizer.ggml.scores": scores, "tokenizer.ggml.bos_token_id": 1, "tokenizer.ggml.add_space_prefix": prefix}
    return json_form, metadata


def word_pieces():
    def phantom(word):
        return word if word.startswith("[") else word[2:] if word.startswith("##") else "▁" + word

    types = [3 if word.startswith("[") else 1 for word in tiny_models.WORDS]
    return tiny_models.word_pieces(), {
        "tokenizer.ggml.model": "bert", "tokenizer.ggml.tokens": [phantom(word) for word in tiny_models.WORDS],
        "tokenizer.ggml.token_type": types, "tokenizer.ggml.token_type_count": 2, "tokenizer.ggml.cls_token_id": 1,
        "tokenizer.ggml.seperator_token_id": 2, "tokenizer.ggml.unknown_token_id": 3}


TOKENIZERS = {
    "gpt2": byte_pairs, "gptneox": byte_pairs, "phi2": lambda: byte_pairs("phi-2"), "olmo2": lambda: byte_pairs("dbrx", LLAMA3),
    "qwen2": lambda: byte_pairs("qwen2", QWEN2, {"type": "NFC"}), "qwen3": lambda: byte_pairs("qwen2", QWEN2, {"type": "NFC"}),
    "llama": scored_pairs, "gemma": lambda: scored_pairs(prefix=False), "gemma2": lambda: scored_pairs(prefix=False),
    "gemma3": lambda: scored_pairs(prefix=False), "bert": word_pieces,
}

# ---- architectures ---------------------------------------------------------------------------------------------------

# Of each tensor of a layer: what a folder calls it and what a .gguf calls it, and its shape.
ATTENTION = {"self_attn.q_proj": ("attn_q", (H * d, D)), "self_attn.k_proj": ("attn_k", (K * d, D)), "self_attn.v_proj": ("attn_v", (K * d, D)),
             "self_attn.o_proj": ("attn_output", (D, H * d))}
GATED = {"mlp.gate_proj": ("ffn_gate", (INNER, D)), "mlp.up_proj": ("ffn_up", (INNER, D)), "mlp.down_proj": ("ffn_down", (D, INNER))}
HEAD_NORMS = {"self_attn.q_norm": ("attn_q_norm", (d,)), "self_attn.k_norm": ("attn_k_norm", (d,))}
IN_FRONT = {"input_layernorm": ("attn_norm", (D,)), "post_attention_layernorm": ("ffn_norm", (D,))}
BOTH_SIDES = {"input_layernorm": ("attn_norm", (D,)), "post_attention_layernorm": ("post_attention_norm", (D,)),
              "pre_feedforward_layernorm": ("ffn_norm", (D,)), "post_feedforward_layernorm": ("post_ffw_norm", (D,))}
BEHIND = {"post_attention_layernorm": ("post_attention_norm", (D,)), "post_feedforward_layernorm": ("post_ffw_norm", (D,))}
LLAMA = ATTENTION | GATED | IN_FRONT
FULL = {name: (gguf, (D, D) if shape != (D, H * d) else shape) for name, (gguf, shape) in ATTENTION.items()}  # as many keys as queries
OUTSIDE = {"embed_tokens": "token_embd", "norm": "output_norm", "lm_head": "output"}

# layers: before the number of a layer; biases: the names whose tensors have one, besides layer norms.
FAMILIES = {
    "llama": {"type": "llama", "layers": "layers.", "inside": LLAMA, "outside": OUTSIDE},
    "qwen2": {"type": "qwen2", "layers": "layers.", "inside": LLAMA, "outside": OUTSIDE, "biases": ["q_proj", "k_proj", "v_proj"]},
    "qwen3": {"type": "qwen3", "layers": "layers.", "inside": LLAMA | HEAD_NORMS, "outside": OUTSIDE},
    "gemma": {"type": "gemma", "layers": "layers.", "inside": LLAMA, "outside": OUTSIDE, "tied": True},
    "gemma2": {"type": "gemma2", "layers": "layers.", "inside": ATTENTION | GATED | BOTH_SIDES, "outside": OUTSIDE, "tied": True},
    "gemma3": {"type": "gemma3_text", "layers": "layers.", "inside": ATTENTION | GATED | BOTH_SIDES | HEAD_NORMS, "outside": OUTSIDE, "tied": True},
    "olmo2": {"type": "olmo2", "layers": "layers.", "outside": OUTSIDE,
              "inside": ATTENTION | GATED | BEHIND | {"self_attn.q_norm": ("attn_q_norm", (H * d,)), "self_attn.k_norm": ("attn_k_norm", (K * d,))}},
    "phi2": {"type": "phi", "layers": "layers.", "biases": ["proj", "dense", "fc1", "fc2", "lm_head", "norm"],
             "outside": OUTSIDE | {"final_layernorm": "output_norm"}, "norm": "final_layernorm",
             "inside": {**{name: FULL[name] for name in list(FULL)[:3]}, "self_attn.dense": ("attn_output", (D, D)), "input_layernorm": ("attn_norm", (D,)),
                        "mlp.fc1": ("ffn_up", (INNER, D)), "mlp.fc2": ("ffn_down", (D, INNER))}},
    "gpt2": {"type": "gpt2", "layers": "h.", "biases": ["attn", "proj", "fc", "ln_"], "norm": "ln_f", "words": "wte", "tied": True,
             "outside": {"wte": "token_embd", "wpe": "position_embd", "ln_f": "output_norm"},
             "inside": {"ln_1": ("attn_norm", (D,)), "attn.c_attn": ("attn_qkv", (D, 3 * D)), "attn.c_proj": ("attn_output", (D, D)),
                        "ln_2": ("ffn_norm", (D,)), "mlp.c_fc": ("ffn_up", (D, INNER)), "mlp.c_proj": ("ffn_down", (INNER, D))}},
    "gptneox": {"type": "gpt_neox", "layers": "layers.", "biases": ["attention", "mlp", "norm"], "norm": "final_layer_norm", "words": "embed_in",
                "head": "embed_out", "outside": {"embed_in": "token_embd", "embed_out": "output", "final_layer_norm": "output_norm"},
                "inside": {"input_layernorm": ("attn_norm", (D,)), "attention.query_key_value": ("attn_qkv", (3 * D, D)),
                           "attention.dense": ("attn_output", (D, D)), "post_attention_layernorm": ("ffn_norm", (D,)),
                           "mlp.dense_h_to_4h": ("ffn_up", (INNER, D)), "mlp.dense_4h_to_h": ("ffn_down", (D, INNER))}},
}

USUAL = {"vocab_size": None, "hidden_size": D, "num_hidden_layers": L, "num_attention_heads": H, "intermediate_size": INNER,
         "max_position_embeddings": PLACES}
GROUPED = USUAL | {"num_key_value_heads": K, "rms_norm_eps": 1e-5, "rope_theta": 5000.0}
CONFIGS = {
    "llama": GROUPED, "qwen2": GROUPED, "qwen3": GROUPED | {"head_dim": d}, "olmo2": GROUPED, "gemma": GROUPED | {"head_dim": d},
    "gemma2": GROUPED | {"head_dim": d, "query_pre_attn_scalar": d, "sliding_window": 3, "attn_logit_softcapping": 40.0, "final_logit_softcapping": 20.0},
    "gemma3": GROUPED | {"head_dim": d, "query_pre_attn_scalar": d, "sliding_window": 3, "rope_local_base_freq": 100.0, "sliding_window_pattern": 2,
                         "rope_scaling": {"rope_type": "linear", "factor": 4.0}},
    "phi2": USUAL | {"layer_norm_eps": 1e-4, "partial_rotary_factor": 0.5},
    "gpt2": {"vocab_size": None, "n_embd": D, "n_layer": L, "n_head": H, "n_inner": INNER, "n_positions": PLACES, "layer_norm_epsilon": 1e-4},
    "gptneox": USUAL | {"layer_norm_eps": 1e-4, "rotary_pct": 0.5, "use_parallel_residual": False},
}
STATED = {"context_length": PLACES, "embedding_length": D, "block_count": L, "feed_forward_length": INNER, "attention.head_count": H}
RMS = {"attention.head_count_kv": K, "attention.layer_norm_rms_epsilon": 1e-5, "rope.freq_base": 5000.0}
LENGTHS = {"attention.key_length": d, "attention.value_length": d}
KEYS = {
    "llama": RMS | {"rope.dimension_count": d, "vocab_size": None}, "qwen2": RMS, "qwen3": RMS | LENGTHS, "olmo2": RMS, "gemma": RMS | LENGTHS,
    "gemma2": RMS | LENGTHS | {"attention.sliding_window": 3, "attn_logit_softcapping": 40.0, "final_logit_softcapping": 20.0},
    "gemma3": RMS | LENGTHS | {"attention.sliding_window": 3, "rope.freq_base_swa": 100.0, "attention.sliding_window_pattern": 2,
                               "rope.scaling.type": "linear", "rope.scaling.factor": 4.0},
    "phi2": {"attention.head_count_kv": H, "attention.layer_norm_epsilon": 1e-4, "rope.dimension_count": 2},
    "gpt2": {"attention.layer_norm_epsilon": 1e-4},
    "gptneox": {"attention.layer_norm_epsilon": 1e-4, "rope.dimension_count": 2, "use_parallel_residual": False},
}


def shapes_of(family, V):
    words, norm, head = family.get("words", "embed_tokens"), family.get("norm", "norm"), family.get("head", "lm_head")
    shapes = {words: (V, D), norm: (D,)} | ({} if family.get("tied") else {head: (V, D)}) | ({"wpe": (PLACES, D)} if words == "wte" else {})
    for layer in range(L):
        shapes |= {f"{family['layers']}{layer}.{name}": shape for name, (_, shape) in family["inside"].items()}
    named = {}
    for name, shape in shapes.items():
        named[name + ".weight"] = shape
        if any(part in name for part in family.get("biases", [])):
            named[name + ".bias"] = (shape[-1] if family["type"] == "gpt2" and len(shape) == 2 else shape[0],)
    return named


def gguf_name(family, name):
    stem, suffix = name.rsplit(".", 1)
    if stem in family["outside"]:
        return f"{family['outside'][stem]}.{suffix}"
    layer, inner = stem.removeprefix(family["layers"]).split(".", 1)
    return f"blk.{layer}.{family['inside'][inner][0]}.{suffix}"


def neighbours(array, heads):
    """Rows n and n + half of each head side by side."""
    return numpy.ascontiguousarray(array.reshape(heads, 2, -1, *array.shape[1:]).swapaxes(1, 2)).reshape(array.shape)


def apart(array):
    """Query, key and value of each head in turn become all queries, all keys, all values."""
    return numpy.ascontiguousarray(array.reshape(H, 3, d, *array.shape[1:]).swapaxes(0, 1)).reshape(array.shape)


def stored(architecture, name, array):
    """As a .gguf stores the tensor."""
    if architecture == "llama" and ("q_proj" in name or "k_proj" in name):
        return neighbours(array, H if "q_proj" in name else K)
    if architecture.startswith("gemma") and "norm" in name:
        return array + numpy.float32(1)
    if architecture == "gpt2" and array.ndim == 2 and name.startswith("h."):
        return numpy.ascontiguousarray(array.T)
    return apart(array) if "query_key_value" in name else array


def metadata_of(architecture, V, more=None):
    keys = STATED | KEYS[architecture]
    return {"general.architecture": architecture} | {f"{architecture}.{key}": V if value is None else value for key, value in keys.items()} | (more or {})


def write(folder, architecture, seed=0, tokenizer=None):
    """The two forms, without the model's parts that a .gguf leaves out."""
    tokenizer_json, tokens = tokenizer or TOKENIZERS[architecture]()
    if architecture == "bert":
        return write_bert(folder, seed, tokens)
    family, V = FAMILIES[architecture], len(tokens["tokenizer.ggml.tokens"])
    weights = tiny_models.random_tensors(shapes_of(family, V), seed)
    config = {"model_type": family["type"]} | CONFIGS[architecture] | {"vocab_size": V}
    if family.get("tied") is None and architecture != "phi2":
        config["tie_word_embeddings"] = False
    tiny_models.write(folder / "hub", config, tokenizer_json, weights)
    arrays = {gguf_name(family, name): stored(architecture, name, array) for name, array in weights.items()}
    return folder / "hub", gguf_files.save(folder / "model.gguf", metadata_of(architecture, V, tokens), arrays)


BERT = {"attention.self.query": "attn_q", "attention.self.key": "attn_k", "attention.self.value": "attn_v", "attention.output.dense": "attn_output",
        "attention.output.LayerNorm": "attn_output_norm", "intermediate.dense": "ffn_up", "output.dense": "ffn_down", "output.LayerNorm": "layer_output_norm",
        "embeddings.word_embeddings": "token_embd", "embeddings.position_embeddings": "position_embd",
        "embeddings.token_type_embeddings": "token_types", "embeddings.LayerNorm": "token_embd_norm"}


def write_bert(folder, seed, tokens):
    tiny_models.bert(folder / "hub", seed)
    weights, _ = tensors.load_safetensors(folder / "hub" / "model.safetensors")
    arrays = {}
    for name, array in weights.items():
        stem, suffix = name.removeprefix("bert.").rsplit(".", 1)
        before, _, inner = stem.partition("encoder.layer.")
        if before == "" and inner:
            layer, inner = inner.split(".", 1)
            arrays[f"blk.{layer}.{BERT[inner]}.{suffix}"] = array
        elif stem in BERT:
            arrays[f"{BERT[stem]}.{suffix}"] = array
    config = json.loads((folder / "hub" / "config.json").read_text())
    metadata = {"general.architecture": "bert", "bert.context_length": 32, "bert.embedding_length": config["hidden_size"],
                "bert.block_count": config["num_hidden_layers"], "bert.feed_forward_length": config["intermediate_size"],
                "bert.attention.head_count": config["num_attention_heads"], "bert.attention.layer_norm_epsilon": 1e-12,
                "bert.attention.causal": False, "bert.pooling_type": 1} | tokens
    return folder / "hub", gguf_files.save(folder / "model.gguf", metadata, arrays)
