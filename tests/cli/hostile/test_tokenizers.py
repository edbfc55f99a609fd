"""A tokenizer made to be costly: a short sentence is refused in one line, with little time and memory."""

import json
import struct

import pytest
import sentencepiece_files
import tiny_models
from program import SANITIZED, assert_fails, measured
from sentencepiece_files import BPE, CONTROL, UNIGRAM, UNKNOWN, USER_DEFINED
from tensors import load_safetensors, numpy, save_safetensors

SECONDS, MEGABYTES = 2, 200
SENTENCE = "the cat sat on the mat"
BUDGET = "more work than any model's tokenizer makes"


def split(pattern, kind="Regex"):
    return {"type": "Split", "pattern": {kind: pattern}, "behavior": "Isolated", "invert": False}


def replace(pattern, content, kind="String"):
    return {"type": "Replace", "pattern": {kind: pattern}, "content": content}


def steps(key, kind, list_of_steps):
    return lambda tokenizer: tokenizer | {key: {"type": "Sequence", kind: list_of_steps}}


def normalizer(*list_of_steps):
    return steps("normalizer", "normalizers", list(list_of_steps))


def splitter(*list_of_steps):
    return steps("pre_tokenizer", "pretokenizers", list(list_of_steps))


def repeated_template(tokenizer):
    place = {"Sequence": {"id": "A", "type_id": 0}}
    template = {"type": "TemplateProcessing", "single": [place] * 1000, "pair": [place], "special_tokens": {}}
    return tokenizer | {"post_processor": template}


def many_names(tokenizer):
    names = {f"s{i}": {"id": f"s{i}", "ids": [0], "tokens": ["[PAD]"]} for i in range(100_000)}
    template = {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "s99999", "type_id": 0}}] * 1000, "pair": []}
    return tokenizer | {"post_processor": template | {"special_tokens": names}}


def growing_tokens(tokenizer):
    added = [{"id": 100 + i, "content": f"{i:06}aaaa", "normalized": True} for i in range(100_000)]
    return tokenizer | {"added_tokens": added, "normalizer": replace("a", "a" * 1000)}


def nested_pieces(kind):
    """Every beginning of a run of letters is a piece."""

    def make(tokenizer):
        pieces = ["?", *("a" * n for n in range(1, 2049))]
        model = {"type": "WordPiece", "unk_token": "?", "continuing_subword_prefix": "", "max_input_chars_per_word": 1 << 30,
                 "vocab": {piece: i for i, piece in enumerate(pieces)}}
        if kind == "Unigram":
            model = {"type": "Unigram", "unk_id": 0, "vocab": [[piece, -1.0] for piece in pieces]}
        return tokenizer | {"added_tokens": [], "post_processor": None, "pre_tokenizer": None, "model": model}

    return make


def only_beginnings(tokenizer):
    """At every letter a piece of 2,000 begins, and none ends but the first."""
    made = nested_pieces("WordPiece")(tokenizer)
    return made | {"model": made["model"] | {"vocab": {"?": 0, "a": 1, "a" * 2000 + "b": 2}}}


def beginnings_of_added(tokenizer):
    return tokenizer | {"added_tokens": [{"id": 90, "content": "a" * 2000 + "b"}]}


def long_prefix(tokenizer):
    model = {"type": "BPE", "merges": [], "continuing_subword_prefix": "x" * 5_000_000, "vocab": tokenizer["model"]["vocab"]}
    return tokenizer | {"model": model}


RUNS = ("x" * 180 + " ") * 30
IN_VAIN = "(?:x+x+x+#)?."  # tries a million ways at every place, and takes one character

HOSTILE = {
    # matching
    "backtracking without a match": (splitter(split("(a+)+b|.")), BUDGET, "a" * 5000),
    "backtracking at every place": (splitter(split(IN_VAIN)), BUDGET, RUNS),
    "backtracking in a replacement": (normalizer(replace(IN_VAIN, "y", "Regex")), BUDGET, RUNS),
    "backtracking a little, many times": (splitter(*[split("(?:x+x+#)?.")] * 64), BUDGET, RUNS),
    "runs without brackets": (splitter(split("x*x*x*x*x*x*#|.")), "within 1048576 steps", RUNS),
    "looking ahead": (splitter(split("".join(f"(?=[^{chr(97 + i % 23)}]*+)" for i in range(200)) + ".")), BUDGET, "中 " * 2000),
    "looking behind": (splitter(split("".join(f"(?<!{chr(97 + i % 23)}{{200}})" for i in range(200)) + ".")), None, "a" * 4000),
    "thousands of splits": (splitter(*[split("x+")] * 5000), "up to 64 steps", RUNS),
    "large expressions": (splitter(*[split("(?:(?:(?:a{1,30}b){1,30}c){1,30})")] * 60), "when compiled", SENTENCE),
    "many expressions": (splitter(*[split("(?:(?:(?:a{1,30}b){1,30}c){1,15})")] * 64), None, SENTENCE),
    # growing
    "steps that double": (normalizer(*[replace("a", "aa")] * 60), "up to 32 for each byte", SENTENCE),
    "steps that grow and shrink": (normalizer(*[replace("a", "a" * 30), replace("a" * 30, "a")] * 32), None, "banana " * 2000),
    "thousands of steps": (normalizer(*[{"type": "Lowercase"}] * 200_000), "up to 64 steps", RUNS),
    "a prefix of megabytes": (normalizer({"type": "Prepend", "prepend": "x" * 10_000_000}), "up to 32 for each byte", SENTENCE),
    "spaces of megabytes": (splitter({"type": "Metaspace", "replacement": "x" * 10_000_000}), "up to 32 for each byte", SENTENCE),
    # pieces
    "a template that repeats": (repeated_template, BUDGET, "the " * 5000),
    "a template of many names": (many_names, "up to 1000 tokens", SENTENCE),
    "added tokens that grow": (growing_tokens, BUDGET, SENTENCE),
    "nested pieces of a Unigram": (nested_pieces("Unigram"), BUDGET, "a" * 100_000),
    "nested pieces of a WordPiece": (nested_pieces("WordPiece"), None, "a" * 5000),
    "beginnings of a WordPiece": (only_beginnings, BUDGET, "a" * 100_000),
    "beginnings of an added token": (beginnings_of_added, BUDGET, "a" * 100_000),
    "a prefix of pieces of megabytes": (long_prefix, "up to 256 bytes", "the cat " * 100),
}


def bert_of_many_words(folder):
    folder, _ = tiny_models.bert(folder, vocab_size=3000)
    tensors, _ = load_safetensors(folder / "model.safetensors")
    for name in ("bert.embeddings.word_embeddings.weight", "cls.predictions.bias"):
        tensors[name] = numpy.resize(tensors[name], (3000, *tensors[name].shape[1:]))
    save_safetensors(folder / "model.safetensors", tensors)
    return folder


@pytest.mark.skipif(SANITIZED, reason="a sanitizer takes time and memory of its own")
@pytest.mark.parametrize("kind", HOSTILE)
def test_a_costly_tokenizer_takes_little_time_and_memory(kind, tmp_path):
    make, says, sentence = HOSTILE[kind]
    folder = bert_of_many_words(tmp_path / "model")
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(make(json.loads(path.read_text()))))
    done, seconds, megabytes = measured("run", sentence, "--model", f"{folder}/", "--layer", "0")
    assert seconds < SECONDS and megabytes < MEGABYTES, (seconds, megabytes, done.message)
    if says:
        assert_fails(done, 65, says)
    else:  # that many steps are allowed, but maybe not so many tokens
        assert done.code in (0, 65)


# ---- models of SentencePiece -----------------------------------------------------------------------------------------

RUN_OF_LETTERS = [("<unk>", 0, UNKNOWN), ("</s>", 0, CONTROL), *(("a" * n, -1) for n in range(1, 2049))]


def map_that_never_ends():
    """Of "a", and behind it of "a" again, without a string that ends: unit 256 ^ 97 leads to itself."""
    units = [0] * 512
    units[0], units[256 ^ 97] = 256 << 10, 97 | 97 << 10
    return struct.pack("<513I", 4 * 512, *units) + b"x\0"


MODELS = {
    "pieces made of each other": (RUN_OF_LETTERS, BPE, {}, "too many ways", SENTENCE),
    "nested pieces": (RUN_OF_LETTERS, UNIGRAM, {}, BUDGET, "a" * 100_000),
    "a map that never ends": (RUN_OF_LETTERS[:3], UNIGRAM, {"precompiled_charsmap": map_that_never_ends()}, BUDGET, "a" * 100_000),
    "a user's nested pieces": ([*RUN_OF_LETTERS[:3], *((text, 0, USER_DEFINED) for text, _ in RUN_OF_LETTERS[3:])], BPE, {}, None, ("a" * 2000 + "b") * 50),
}


@pytest.mark.skipif(SANITIZED, reason="a sanitizer takes time and memory of its own")
@pytest.mark.parametrize("kind", MODELS)
def test_a_costly_model_of_sentencepiece_takes_little_time_and_memory(kind, tmp_path):
    pieces, model_type, settings, says, sentence = MODELS[kind]
    folder = bert_of_many_words(tmp_path / "model")
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "T5Tokenizer"}))
    (folder / "tokenizer.model").write_bytes(sentencepiece_files.model(pieces, model_type, **settings))
    done, seconds, megabytes = measured("run", sentence, "--model", f"{folder}/", "--layer", "0")
    assert seconds < SECONDS and megabytes < MEGABYTES, (seconds, megabytes, done.message)
    if says:
        assert_fails(done, 65, says)
    else:  # so much is allowed, but not so many tokens
        assert_fails(done, 65, "tokens")
