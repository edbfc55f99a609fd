#!/usr/bin/env python3
"""Writes tests/fuzz/corpus/tokenizer: a small tokenizer.json of each kind, and some damaged ones.

usage: make_tokenizer_corpus.py [FOLDER]
"""

import base64
import json
import struct
import sys
from pathlib import Path

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"


KEPT = [*range(33, 127), *range(161, 173), *range(174, 256)]
ALPHABET = [character for character in map(chr, [*KEPT, *range(256, 324)]) if character != "t"]


def vocabulary(*pieces):
    return {piece: i for i, piece in enumerate(pieces)}


def template(*single):
    items = [{"Sequence": {"id": item, "type_id": 0}} if item in "AB" else {"SpecialToken": {"id": item, "type_id": 0}} for item in single]
    tokens = {item: {"id": item, "ids": [1], "tokens": [item]} for item in single if item not in "AB"}
    return {"type": "TemplateProcessing", "single": items, "pair": [*items, {"Sequence": {"id": "B", "type_id": 1}}], "special_tokens": tokens}


def added(*tokens, **flags):
    return [{"id": i, "content": content, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True, **flags} for i, content in tokens]


def character_map():
    """A double array that maps 'T' to "t": the root's children lie at 1 ^ byte."""
    units = [0x80000000] * 512
    units[0] = 1 << 10
    units[1 ^ ord("T")] = ord("T") | 256 | 256 << 10
    units[1 ^ ord("T") ^ 256] = 0
    return base64.b64encode(struct.pack("<I", 4 * len(units)) + struct.pack(f"<{len(units)}I", *units) + b"t\0").decode()


def file(model, **members):
    return json.dumps({"version": "1.0", "added_tokens": [], "normalizer": None, "pre_tokenizer": None, "post_processor": None, **members, "model": model}, ensure_ascii=False)


def whole_files():
    bert = {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
            "vocab": vocabulary("[UNK]", "[CLS]", "[MASK]", "the", "cat", "na", "##ive", "'", "s", "中")}
    yield "bert", file(bert, normalizer={"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True},
                       pre_tokenizer={"type": "BertPreTokenizer"}, post_processor=template("[CLS]", "A"), added_tokens=added((2, "[MASK]"), lstrip=True))
    byte_level = {"type": "BPE", "unk_token": None, "ignore_merges": True, "vocab": vocabulary("t", "<s>", *ALPHABET, "th", "Ġc", "the"),
                  "merges": ["t h", "Ġ c", "th e"]}
    yield "byte-level", file(byte_level, pre_tokenizer={"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
                             post_processor={"type": "RobertaProcessing", "sep": ["<s>", 1], "cls": ["<s>", 1], "trim_offsets": True, "add_prefix_space": True})
    yield "llama", file(byte_level, normalizer={"type": "NFC"}, added_tokens=added((len(byte_level["vocab"]), "</s>"), rstrip=True), post_processor={"type": "Sequence", "processors": [
        {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}, template("<s>", "A")]}, pre_tokenizer={"type": "Sequence", "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": LLAMA}, "behavior": "Isolated", "invert": False}, {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}]})
    clip = {"type": "BPE", "unk_token": "?", "end_of_word_suffix": "</w>", "vocab": vocabulary("?", "<s>", "t", "h", "e", "t</w>", "h</w>", "e</w>", "th", "the</w>", "he</w>"),
            "merges": ["h e</w>", "t h", "th e</w>"]}
    yield "clip", file(clip, pre_tokenizer={"type": "BertPreTokenizer"}, normalizer={"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "Lowercase"}]}, post_processor=template("<s>", "A", "<s>"))
    gemma = {"type": "BPE", "unk_token": "<unk>", "fuse_unk": True, "byte_fallback": True, "vocab": vocabulary("<unk>", "▁", "c", "a", "t", "ca", "cat", "▁cat", *(f"<0x{byte:02X}>" for byte in range(256))),
             "merges": [["c", "a"], ["ca", "t"], ["▁", "cat"]]}
    yield "sentencepiece", file(gemma, normalizer={"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"}, {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]})
    yield "metaspace", file(gemma, pre_tokenizer={"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": False})
    unigram = {"type": "Unigram", "unk_id": 0, "byte_fallback": False, "vocab": [["<unk>", 0.0], ["<s>", 0.0], ["▁", -2.5], ["▁t", -3.5], ["he", -4.0], ["h", -5.0], ["▁the", -3.0]]}
    yield "unigram", file(unigram, pre_tokenizer={"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, {"type": "Metaspace", "replacement": "▁", "add_prefix_space": True}]},
                          normalizer={"type": "Sequence", "normalizers": [{"type": "Precompiled", "precompiled_charsmap": character_map()},
                                                                           {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}]}, post_processor=template("<s>", "A", "<s>"))
    prefixed = {"type": "BPE", "unk_token": "?", "continuing_subword_prefix": "##", "vocab": vocabulary("?", "t", "##h", "##e", "th", "the"), "merges": ["t ##h", "th ##e"]}
    yield "prefixed", file(prefixed, pre_tokenizer={"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithNext", "invert": False})
    level = {"type": "WordLevel", "unk_token": "?", "vocab": vocabulary("?", "[CLS]", "the", "1")}
    yield "word-level", file(level, normalizer={"type": "Sequence", "normalizers": [{"type": "NFKD"}, {"type": "StripAccents"}, {"type": "Lowercase"},
                                                                                        {"type": "Strip", "strip_left": True, "strip_right": True}]},
                             pre_tokenizer={"type": "Sequence", "pretokenizers": [{"type": "Whitespace"}, {"type": "Digits", "individual_digits": True}, {"type": "Punctuation", "behavior": "Contiguous"},
                                                                                    {"type": "CharDelimiterSplit", "delimiter": "x"}]},
                             post_processor={"type": "BertProcessing", "sep": ["[CLS]", 1], "cls": ["[CLS]", 1]}, added_tokens=added((4, "AB"), normalized=True, single_word=True))
    split = {"type": "Split", "pattern": {"Regex": r"\w+| ?[^\w\s]+|[\w-]+|\s+"}, "behavior": "Isolated", "invert": False}
    yield "split-words", file(level, pre_tokenizer=split)


def damaged_files():
    word = '{"model": {"type": "WordLevel", "unk_token": "a", "vocab": {"a": %s}}}'
    for name, identity in (("negative-id", "-1"), ("huge-id", "9223372036854775808"), ("highest-id", "2147483646"), ("fraction-id", "0.5")):
        yield name, word % identity
    yield "two-of-an-id", word % '0, "b": 0'
    yield "two-of-a-piece", word % '0, "a": 1'
    yield "missing-merge", '{"model": {"vocab": {"a": 0}, "merges": ["a b"]}}'
    yield "deep", '{"model": ' + "[" * 100
    yield "empty", ""
    normalizer = '{"normalizer": %s, "model": {"type": "WordLevel", "unk_token": "a", "vocab": {"a": 0}}}'
    grown = {"type": "Replace", "pattern": {"Regex": "."}, "content": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}
    yield "bomb", normalizer % json.dumps({"type": "Sequence", "normalizers": [grown] * 10})
    yield "slow-expression", normalizer % json.dumps({"type": "Replace", "pattern": {"Regex": "(?:.+)+[^\\x{0}-\\x{10FFFF}]"}, "content": ""})
    yield "map-astray", normalizer % json.dumps({"type": "Precompiled", "precompiled_charsmap": base64.b64encode(struct.pack("<II", 4, 0xFFFFFC00)).decode()})


def vocabulary_alone():
    """A vocab.json, as Marian's."""
    yield "vocabulary", json.dumps({"</s>": 0, "<unk>": 1, "▁the": 58100, "": 2}) + "\n"


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "corpus/tokenizer"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in [*whole_files(), *damaged_files(), *vocabulary_alone()]:
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
