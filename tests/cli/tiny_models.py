"""Small whole models as folders, with random weights, and what they compute the plain way in NumPy's float64.

    folder, forward = tiny_models.bert(tmp_path / "bert", seed=1)
    weights, states, logits = forward([1, 5, 6, 2], [0, 0, 0, 0])     # per layer (H, T, T); L + 1 of (T, D); (T, V)
    logits = forward.head(states[1])                                  # what leaves a layer, as if that were the last
"""

import json
import math

import tensors

numpy = tensors.numpy

WORDS = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]", "the", "cat", "sat", "on", "mat", "dog", "it", "##s", "a"]
D, H, L, HIDDEN = 8, 2, 3, 12


def random_tensors(shapes, seed):
    """Matrices large enough to make attention uneven; norms near 1."""
    draw = numpy.random.default_rng(seed)
    return {
        name: (1 + 0.2 * draw.standard_normal(shape) if "norm" in name.lower() and name.endswith("weight") else draw.standard_normal(shape))
        .astype("float32") * numpy.float32(1 if len(shape) == 1 else 0.7)
        for name, shape in shapes.items()
    }


def word_pieces():
    special = [{"id": i, "content": word, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
               for i, word in enumerate(WORDS[:5])]
    piece = {name: {"SpecialToken": {"id": name, "type_id": 0}} for name in ("[CLS]", "[SEP]")}
    pair_end = {"SpecialToken": {"id": "[SEP]", "type_id": 1}}
    sentence = {"Sequence": {"id": "A", "type_id": 0}}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": special,
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None,
                       "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [piece["[CLS]"], sentence, piece["[SEP]"]],
            "pair": [piece["[CLS]"], sentence, piece["[SEP]"], {"Sequence": {"id": "B", "type_id": 1}}, pair_end],
            "special_tokens": {name: {"id": name, "ids": [WORDS.index(name)], "tokens": [name]} for name in ("[CLS]", "[SEP]")},
        },
        "decoder": None,
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
                  "vocab": {word: i for i, word in enumerate(WORDS)}},
    }


def words_alone():
    """Split at white space, no template."""
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None,
        "pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": None, "decoder": None,
        "model": {"type": "WordLevel", "unk_token": "[UNK]", "vocab": {word: i for i, word in enumerate(WORDS)}},
    }


def write(folder, config, tokenizer, weights):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    tensors.save_safetensors(folder / "model.safetensors", weights)
    return folder


def softmax(scores):
    shifted = numpy.exp(scores - scores.max(-1, keepdims=True))
    return shifted / shifted.sum(-1, keepdims=True)


def heads(x, count):
    return x.reshape(len(x), count, -1).swapaxes(0, 1)


def layer_norm(x, w, b, epsilon=1e-12):
    return (x - x.mean(-1, keepdims=True)) / numpy.sqrt(x.var(-1, keepdims=True) + epsilon) * w + b


def gelu(x):
    return x * 0.5 * (1 + numpy.vectorize(math.erf)(x / math.sqrt(2)))


# ---- BERT, with its head for masked words ----------------------------------------------------------------------------


def bert(folder, seed=0, **changed):
    shapes = {"bert.embeddings.word_embeddings.weight": (len(WORDS), D), "bert.embeddings.position_embeddings.weight": (32, D),
              "bert.embeddings.token_type_embeddings.weight": (2, D), "bert.embeddings.LayerNorm.weight": (D,),
              "bert.embeddings.LayerNorm.bias": (D,)}
    for n in range(L):
        layer = f"bert.encoder.layer.{n}."
        for name, out, into in [("attention.self.query", D, D), ("attention.self.key", D, D), ("attention.self.value", D, D),
                                ("attention.output.dense", D, D), ("intermediate.dense", HIDDEN, D), ("output.dense", D, HIDDEN)]:
            shapes |= {layer + name + ".weight": (out, into), layer + name + ".bias": (out,)}
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes |= {layer + name + ".weight": (D,), layer + name + ".bias": (D,)}
    head = "cls.predictions."
    shapes |= {head + "transform.dense.weight": (D, D), head + "transform.dense.bias": (D,), head + "transform.LayerNorm.weight": (D,),
               head + "transform.LayerNorm.bias": (D,), head + "bias": (len(WORDS),)}
    weights = random_tensors(shapes, seed)
    config = {"model_type": "bert", "architectures": ["BertForMaskedLM"], "vocab_size": len(WORDS), "hidden_size": D,
              "num_hidden_layers": L, "num_attention_heads": H, "intermediate_size": HIDDEN, "hidden_act": "gelu",
              "max_position_embeddings": 32, "type_vocab_size": 2, "layer_norm_eps": 1e-12, "pad_token_id": 0} | changed
    w = {name: array.astype("float64") for name, array in weights.items()}

    def linear(x, name):
        return x @ w[name + ".weight"].T + w[name + ".bias"]

    def norm(x, name):
        return layer_norm(x, w[name + ".weight"], w[name + ".bias"])

    def forward(ids, types):
        table = "bert.embeddings."
        x = w[table + "word_embeddings.weight"][ids] + w[table + "position_embeddings.weight"][: len(ids)]
        x = norm(x + w[table + "token_type_embeddings.weight"][types], table + "LayerNorm")
        attentions, states = [], [x]
        for n in range(L):
            layer = f"bert.encoder.layer.{n}."
            q, k, v = (heads(linear(x, layer + "attention.self." + name), H) for name in ("query", "key", "value"))
            attentions.append(softmax(q @ k.swapaxes(-1, -2) / math.sqrt(D // H)))
            context = (attentions[-1] @ v).swapaxes(0, 1).reshape(len(ids), D)
            x = norm(x + linear(context, layer + "attention.output.dense"), layer + "attention.output.LayerNorm")
            hidden = linear(gelu(linear(x, layer + "intermediate.dense")), layer + "output.dense")
            x = norm(x + hidden, layer + "output.LayerNorm")
            states.append(x)
        return attentions, states, forward.head(x)

    def scores(x):
        transformed = norm(gelu(linear(x, head + "transform.dense")), head + "transform.LayerNorm")
        return transformed @ w["bert.embeddings.word_embeddings.weight"].T + w[head + "bias"]

    forward.head = scores
    return write(folder, config, word_pieces(), weights), forward


# ---- Llama, with two query heads on one key/value head ---------------------------------------------------------------


def llama(folder, seed=0, **changed):
    d = D // H
    shapes = {"model.embed_tokens.weight": (len(WORDS), D), "model.norm.weight": (D,), "lm_head.weight": (len(WORDS), D)}
    for n in range(L):
        layer = f"model.layers.{n}."
        for name, out, into in [("self_attn.q_proj", D, D), ("self_attn.k_proj", d, D), ("self_attn.v_proj", d, D),
                                ("self_attn.o_proj", D, D), ("mlp.gate_proj", HIDDEN, D), ("mlp.up_proj", HIDDEN, D),
                                ("mlp.down_proj", D, HIDDEN)]:
            shapes[layer + name + ".weight"] = (out, into)
        shapes |= {layer + "input_layernorm.weight": (D,), layer + "post_attention_layernorm.weight": (D,)}
    weights = random_tensors(shapes, seed)
    config = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": len(WORDS), "hidden_size": D,
              "num_hidden_layers": L, "num_attention_heads": H, "num_key_value_heads": 1, "intermediate_size": HIDDEN,
              "hidden_act": "silu", "max_position_embeddings": 64, "rms_norm_eps": 1e-6, "rope_theta": 10000.0,
              "tie_word_embeddings": False} | changed
    w = {name: array.astype("float64") for name, array in weights.items()}

    def norm(x, name):
        return x / numpy.sqrt((x**2).mean(-1, keepdims=True) + 1e-6) * w[name + ".weight"]

    def rope(x):
        half = x.shape[-1] // 2
        angles = numpy.arange(x.shape[1])[:, None] * 10000.0 ** (-numpy.arange(half) / half)
        first, second = x[..., :half], x[..., half:]
        return numpy.concatenate([first * numpy.cos(angles) - second * numpy.sin(angles),
                                  second * numpy.cos(angles) + first * numpy.sin(angles)], -1)

    def forward(ids, types=None):
        x = w["model.embed_tokens.weight"][ids]
        seen = numpy.tril(numpy.ones((len(ids), len(ids)), bool))
        attentions, states = [], [x]
        for n in range(L):
            layer = f"model.layers.{n}."
            y = norm(x, layer + "input_layernorm")
            q = rope(heads(y @ w[layer + "self_attn.q_proj.weight"].T, H))
            k = rope(heads(y @ w[layer + "self_attn.k_proj.weight"].T, 1))
            v = heads(y @ w[layer + "self_attn.v_proj.weight"].T, 1)
            attentions.append(softmax(numpy.where(seen, q @ k.swapaxes(-1, -2) / math.sqrt(d), -numpy.inf)))
            x = x + (attentions[-1] @ v).swapaxes(0, 1).reshape(len(ids), D) @ w[layer + "self_attn.o_proj.weight"].T
            y = norm(x, layer + "post_attention_layernorm")
            gate = y @ w[layer + "mlp.gate_proj.weight"].T
            x = x + (gate / (1 + numpy.exp(-gate)) * (y @ w[layer + "mlp.up_proj.weight"].T)) @ w[layer + "mlp.down_proj.weight"].T
            states.append(x)
        states[-1] = norm(x, "model.norm")
        return attentions, states, forward.head(x)

    forward.head = lambda x: norm(x, "model.norm") @ w["lm_head.weight"].T
    return write(folder, config, words_alone(), weights), forward


# ---- the same weights in other architectures, without a plain way ----------------------------------------------------


def changed(folder, into, rename, more, **config):
    """A copy of a folder with tensors by other names, some more, and another config, without its keys that become None."""
    weights, _ = tensors.load_safetensors(folder / "model.safetensors")
    renamed = {new: array for name, array in weights.items() if (new := rename(name))}
    given = {key: value for key, value in (json.loads((folder / "config.json").read_text()) | config).items() if value is not None}
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    return write(into, given, tokenizer, renamed | random_tensors(more, 7))


def qwen3(folder, seed=0):
    """Llama's with norms of queries and keys."""
    llama_folder, _ = llama(folder.with_name(folder.name + "-llama"), seed)
    norms = {f"model.layers.{n}.self_attn.{name}_norm.weight": (D // H,) for n in range(L) for name in "qk"}
    return changed(llama_folder, folder, str, norms, model_type="qwen3", head_dim=D // H)


def mpnet(folder, seed=0):
    """BERT's without types and with a bias for the distance of two words."""
    bert_folder, _ = bert(folder.with_name(folder.name + "-bert"), seed)
    names = {"attention.self.query": "attention.attn.q", "attention.self.key": "attention.attn.k", "attention.self.value": "attention.attn.v",
             "attention.output.dense": "attention.attn.o", "attention.output.LayerNorm": "attention.LayerNorm", "bert.": ""}

    def rename(name):
        for old, new in names.items():
            name = name.replace(old, new)
        return None if name.startswith("cls.") or "token_type" in name else name

    return changed(bert_folder, folder, rename, {"encoder.relative_attention_bias.weight": (32, H)}, model_type="mpnet",
                   architectures=["MPNetModel"], relative_attention_num_buckets=32, pad_token_id=1, type_vocab_size=None)
