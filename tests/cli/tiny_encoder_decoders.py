"""Small models with an encoder and a decoder as folders, with random weights, and what they compute the plain way in NumPy's float64.

    folder, forward = tiny_encoder_decoders.marian(tmp_path / "marian", seed=1)
    done = forward([5, 6, 2], [0, 7, 8])
    done["encoder"], done["decoder"], done["cross"]               # per layer (H, S, S), (H, T, T), (H, T, S)
    done["encoder_states"], done["decoder_states"]                # L + 1 of (S, D) and of (T, D)
    done["logits"]                                                # (T, V)
"""

import math

import tensors
from tiny_models import WORDS, gelu, heads, layer_norm, random_tensors, softmax, words_alone, write

numpy = tensors.numpy

D, HIDDEN = 8, 12
LAYERS = {"encoder": 2, "decoder": 3}
PAD, START, END = WORDS.index("[PAD]"), WORDS.index("[CLS]"), WORDS.index("[SEP]")
MARIAN_HEADS = {"encoder": 2, "decoder": 4}
T5_HEADS, T5_SIZE = 2, 3  # of a head, so that all of them are not D


def tokenizer(*template):
    """Split at white space, in a template of words and None, the sentence."""
    pieces = [{"Sequence": {"id": "A", "type_id": 0}} if word is None else {"SpecialToken": {"id": word, "type_id": 0}} for word in template]
    named = {word: {"id": word, "ids": [WORDS.index(word)], "tokens": [word]} for word in template if word}
    post = {"type": "TemplateProcessing", "single": pieces, "pair": [*pieces, {"Sequence": {"id": "B", "type_id": 0}}], "special_tokens": named}
    special = [{"id": i, "content": word, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
               for i, word in enumerate(WORDS[:5])]
    return words_alone() | {"post_processor": post, "added_tokens": special}


def side_by_side(x):
    """(H, T, d) → (T, H·d)"""
    return x.swapaxes(0, 1).reshape(x.shape[1], -1)


def hide_later(scores):
    return numpy.where(numpy.tril(numpy.ones(scores.shape[-2:], bool)), scores, -numpy.inf)


# ---- BART and Marian -------------------------------------------------------------------------------------------------


def linear_layers(stack, n):
    """Of layer n the names of its linear layers with their shapes, and those of its norms."""
    at = f"model.{stack}.layers.{n}."
    attentions = ["self_attn"] + (["encoder_attn"] if stack == "decoder" else [])
    linear = {f"{at}{name}.{part}_proj": (D, D) for name in attentions for part in ("q", "k", "v", "out")}
    return linear | {f"{at}fc1": (HIDDEN, D), f"{at}fc2": (D, HIDDEN)}, [f"{at}{name}_layer_norm" for name in (*attentions, "final")]


def bart_like(folder, seed, config, tables, position_of, embedding_norm, activation):
    shapes = dict(tables)
    for stack, count in LAYERS.items():
        for n in range(count):
            linear, norms = linear_layers(stack, n)
            for name, (out, into) in linear.items():
                shapes |= {name + ".weight": (out, into), name + ".bias": (out,)}
            for name in norms:
                shapes |= {name + ".weight": (D,), name + ".bias": (D,)}
        if embedding_norm:
            shapes |= {f"model.{stack}.layernorm_embedding.{part}": (D,) for part in ("weight", "bias")}
    shapes["final_logits_bias"] = (1, config.get("decoder_vocab_size") or len(WORDS))
    weights = random_tensors(shapes, seed)
    w = {name: array.astype("float64") for name, array in weights.items()}
    words = {stack: w.get(f"model.{stack}.embed_tokens.weight", w.get("model.shared.weight")) for stack in LAYERS}
    scale = math.sqrt(D) if config["scale_embedding"] else 1

    def linear(x, name):
        return x @ w[name + ".weight"].T + w[name + ".bias"]

    def norm(x, name):
        return layer_norm(x, w[name + ".weight"], w[name + ".bias"], 1e-5)

    def attend(x, keys, name, count, hide=lambda scores: scores):
        q, k, v = (heads(linear(of, f"{name}.{part}_proj"), count) for part, of in (("q", x), ("k", keys), ("v", keys)))
        attention = softmax(hide(q @ k.swapaxes(-1, -2) / math.sqrt(D // count)))
        return attention, linear(side_by_side(attention @ v), f"{name}.out_proj")

    def run(stack, ids, encoded=None):
        x = words[stack][ids] * scale + position_of(w, stack, len(ids))
        if embedding_norm:
            x = norm(x, f"model.{stack}.layernorm_embedding")
        own, cross, states = [], [], [x]
        for n in range(LAYERS[stack]):
            at, count = f"model.{stack}.layers.{n}.", config[f"{stack}_attention_heads"]
            attention, y = attend(x, x, at + "self_attn", count, hide_later if stack == "decoder" else lambda scores: scores)
            own.append(attention)
            x = norm(x + y, at + "self_attn_layer_norm")
            if stack == "decoder":
                attention, y = attend(x, encoded, at + "encoder_attn", count)
                cross.append(attention)
                x = norm(x + y, at + "encoder_attn_layer_norm")
            x = norm(x + linear(activation(linear(x, at + "fc1")), at + "fc2"), at + "final_layer_norm")
            states.append(x)
        return own, cross, states

    def forward(source, target):
        encoder, _, encoder_states = run("encoder", source)
        decoder, cross, decoder_states = run("decoder", target, encoder_states[-1])
        logits = decoder_states[-1] @ words["decoder"].T + w["final_logits_bias"]
        return {"encoder": encoder, "decoder": decoder, "cross": cross, "encoder_states": encoder_states,
                "decoder_states": decoder_states, "logits": logits}

    return weights, forward


def config_of(model_type, **values):
    sizes = {f"{stack}_{name}": value for stack in LAYERS
             for name, value in (("layers", LAYERS[stack]), ("ffn_dim", HIDDEN), ("attention_heads", MARIAN_HEADS[stack]))}
    return {"model_type": model_type, "is_encoder_decoder": True, "vocab_size": len(WORDS), "d_model": D, "max_position_embeddings": 32,
            "pad_token_id": PAD, "eos_token_id": END, **sizes, **values}


def sines(_, stack, count):
    """Sines in the first half, cosines in the second."""
    angles = numpy.arange(count)[:, None] / 10000 ** (2 * numpy.arange(D // 2) / D)
    return numpy.concatenate([numpy.sin(angles), numpy.cos(angles)], -1)


def marian(folder, seed=0, **changed):
    config = config_of("marian", architectures=["MarianMTModel"], activation_function="swish", scale_embedding=True,
                       decoder_start_token_id=PAD, share_encoder_decoder_embeddings=True, bad_words_ids=[[PAD]]) | changed
    tables = {"model.shared.weight": (len(WORDS), D)}
    if not config["share_encoder_decoder_embeddings"]:
        tables = {f"model.{stack}.embed_tokens.weight": (len(WORDS), D) for stack in LAYERS}
    weights, forward = bart_like(folder, seed, config, tables, sines, False, lambda x: x / (1 + numpy.exp(-x)))
    return write(folder, config, tokenizer(None, "[SEP]"), weights), forward


def bart(folder, seed=0, **changed):
    config = config_of("bart", architectures=["BartForConditionalGeneration"], activation_function="gelu", scale_embedding=False,
                       decoder_start_token_id=END, bos_token_id=START, forced_bos_token_id=START) | changed
    offset = 2
    tables = {"model.shared.weight": (len(WORDS), D)} | {f"model.{stack}.embed_positions.weight": (32 + offset, D) for stack in LAYERS}
    weights, forward = bart_like(folder, seed, config, tables,
                                 lambda w, stack, count: w[f"model.{stack}.embed_positions.weight"][offset : offset + count], True, gelu)
    return write(folder, config, tokenizer("[CLS]", None, "[SEP]"), weights), forward


# ---- T5 --------------------------------------------------------------------------------------------------------------


def bucket(distance, both_ways, buckets=8, most=20):
    """Of a key that lies `distance` behind its query (< 0: before)."""
    first = 0
    if both_ways:
        buckets //= 2
        first = buckets if distance > 0 else 0
        distance = abs(distance)
    else:
        distance = max(-distance, 0)
    exact = buckets // 2
    if distance < exact:
        return first + distance
    return first + min(exact + int(math.log(distance / exact) / math.log(most / exact) * (buckets - exact)), buckets - 1)


def gelu_tanh(x):
    return 0.5 * x * (1 + numpy.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def t5(folder, seed=0, gated=False, **changed):
    config = {"model_type": "t5", "architectures": ["T5ForConditionalGeneration"], "is_encoder_decoder": True, "vocab_size": len(WORDS),
              "d_model": D, "d_kv": T5_SIZE, "d_ff": HIDDEN, "num_layers": LAYERS["encoder"], "num_decoder_layers": LAYERS["decoder"],
              "num_heads": T5_HEADS, "relative_attention_num_buckets": 8, "relative_attention_max_distance": 20, "pad_token_id": PAD,
              "eos_token_id": END, "decoder_start_token_id": PAD, "layer_norm_epsilon": 1e-6, "tie_word_embeddings": not gated,
              "feed_forward_proj": "gated-gelu" if gated else "relu"} | changed
    inner = T5_HEADS * T5_SIZE
    shapes = {"shared.weight": (len(WORDS), D)} | ({"lm_head.weight": (len(WORDS), D)} if gated else {})
    for stack, count in LAYERS.items():
        attentions = ["SelfAttention"] + (["EncDecAttention"] if stack == "decoder" else [])
        for n in range(count):
            at = f"{stack}.block.{n}.layer."
            for i, name in enumerate(attentions):
                shapes |= {f"{at}{i}.{name}.{part}.weight": (inner, D) for part in "qkv"} | {f"{at}{i}.{name}.o.weight": (D, inner)}
            mlp = f"{at}{len(attentions)}.DenseReluDense."
            shapes |= {f"{mlp}{name}.weight": (HIDDEN, D) for name in (("wi_0", "wi_1") if gated else ("wi",))} | {f"{mlp}wo.weight": (D, HIDDEN)}
            shapes |= {f"{at}{i}.layer_norm.weight": (D,) for i in range(len(attentions) + 1)}
        shapes |= {f"{stack}.block.0.layer.0.SelfAttention.relative_attention_bias.weight": (8, T5_HEADS), f"{stack}.final_layer_norm.weight": (D,)}
    weights = random_tensors(shapes, seed)
    weights |= {name: array / numpy.float32(2) for name, array in weights.items() if name.endswith("Attention.q.weight")}  # no scale comes
    w = {name: array.astype("float64") for name, array in weights.items()}

    def norm(x, name):
        return x / numpy.sqrt((x**2).mean(-1, keepdims=True) + 1e-6) * w[name + ".weight"]

    def attend(x, keys, name, changes):
        q, k, v = (heads(of @ w[f"{name}.{part}.weight"].T, T5_HEADS) for part, of in (("q", x), ("k", keys), ("v", keys)))
        attention = softmax(changes(q @ k.swapaxes(-1, -2)))
        return attention, side_by_side(attention @ v) @ w[f"{name}.o.weight"].T

    def run(stack, ids, encoded=None):
        decodes = stack == "decoder"
        table = w[f"{stack}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"]
        bias = numpy.array([[table[bucket(j - i, not decodes)] for j in range(len(ids))] for i in range(len(ids))]).transpose(2, 0, 1)
        x = w["shared.weight"][ids]
        own, cross, states = [], [], [x]
        for n in range(LAYERS[stack]):
            at = f"{stack}.block.{n}.layer."
            y = norm(x, at + "0.layer_norm")
            attention, y = attend(y, y, at + "0.SelfAttention", lambda scores: hide_later(scores + bias) if decodes else scores + bias)
            own.append(attention)
            x = x + y
            if decodes:
                attention, y = attend(norm(x, at + "1.layer_norm"), encoded, at + "1.EncDecAttention", lambda scores: scores)
                cross.append(attention)
                x = x + y
            last = f"{at}{2 if decodes else 1}."
            y = norm(x, last + "layer_norm")
            mlp = last + "DenseReluDense."
            inner = gelu_tanh(y @ w[mlp + "wi_0.weight"].T) * (y @ w[mlp + "wi_1.weight"].T) if gated else numpy.maximum(y @ w[mlp + "wi.weight"].T, 0)
            x = x + inner @ w[mlp + "wo.weight"].T
            states.append(x)
        states[-1] = norm(x, f"{stack}.final_layer_norm")
        return own, cross, states

    def forward(source, target):
        encoder, _, encoder_states = run("encoder", source)
        decoder, cross, decoder_states = run("decoder", target, encoder_states[-1])
        last = decoder_states[-1] * (D**-0.5 if config["tie_word_embeddings"] else 1)
        return {"encoder": encoder, "decoder": decoder, "cross": cross, "encoder_states": encoder_states, "decoder_states": decoder_states,
                "logits": last @ w.get("lm_head.weight", w["shared.weight"]).T}

    return write(folder, config, tokenizer(None, "[SEP]"), weights), forward


def flan_t5(folder, seed=0, **changed):
    return t5(folder, seed, True, **changed)
