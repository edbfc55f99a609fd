#!/usr/bin/env python3
"""Models of SentencePiece as attn-cli reads them, against the package `sentencepiece`: ids and pieces.

    tests/oracle/live_sentencepiece.py path/to/piece_ids [first_seed]

Each model is trained here on a text made here, of words drawn once: Unigram and byte-pair encoding with each normalizer of the package, with
byte fallback and without; characters alone; pieces that a user defines, no space in front, all spaces kept, spaces behind words or not
escaped, a map of one's own. Each reads 5,000 sentences: prose, code, Chinese, Japanese and Korean, emoji, combining marks, control characters,
odd spaces, text of special tokens, random code points. Marian's way is compared too: pieces whose ids a vocab.json has, which lacks some.
300 more models have a few random pieces of few letters, with scores that are often equal and types of every kind; each reads 100 strings.

Exit 0: all equal; 1: the first differences are on stderr; 77: the package is not installed (also looked for in build/sentencepiece beside
piece_ids), which is a failure instead when the environment has ATTN_REQUIRE_LIVE=1.
"""

import io
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from live import skip
from odd_sentences import EAST, EMOJI, FIXED, MARKS, PROSE, some_sentence

PROGRAM = Path(sys.argv[1]).resolve()
for folder in PROGRAM.parents[:3]:
    if (folder / "sentencepiece").is_dir():
        sys.path.insert(0, str(folder / "sentencepiece"))
try:
    import sentencepiece
except ImportError as missing:
    skip(missing)

sys.path.insert(0, str(Path(__file__).parents[1] / "cli"))
import sentencepiece_files  # noqa: E402
from sentencepiece_files import BPE, CHAR, CONTROL, NORMAL, UNIGRAM, UNKNOWN, UNUSED, USER_DEFINED  # noqa: E402

SENTENCES, RANDOM_MODELS = 5000, 300
RULES = ["nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf", "identity"]
USER = ["<user>", "the", "ing", "中文", "e\u0301", "(x", "ß", "▁on"]
SPECIAL = ["<unk>", "<s>", "</s>", "<pad>", "<0x41>", "<0xE2>", "<0xe2>", "<user>", "<ctrl>", "|", *USER]
OWN_MAP = {"①": "(1)", "ab": "ba", "abc": "c", "é": " e ", "\u0301": "", "  ": "_", "中": "\u3000", "▁": "-"}
MODELS = {
    f"{kind}, {rule}{', bytes' if fallback else ''}": {"model_type": kind, "normalization_rule_name": rule, "byte_fallback": fallback}
    for kind in ("unigram", "bpe") for rule in RULES for fallback in (False, True)
} | {
    f"{kind}, {name}": {"model_type": kind} | more
    for kind in ("unigram", "bpe")
    for name, more in {
        "pieces of a user": {"user_defined_symbols": USER, "control_symbols": ["<ctrl>", "|"]},
        "pieces of a user, as they are": {"user_defined_symbols": USER, "normalization_rule_name": "identity", "byte_fallback": True},
        "no space in front": {"add_dummy_prefix": False},
        "all spaces": {"remove_extra_whitespaces": False},
        "all spaces, none in front": {"remove_extra_whitespaces": False, "add_dummy_prefix": False, "split_by_whitespace": False},
        "spaces behind": {"treat_whitespace_as_suffix": True},
        "own map": {"normalization_rule_tsv": OWN_MAP},
        "own map, all spaces": {"normalization_rule_tsv": OWN_MAP, "remove_extra_whitespaces": False},
        "2000 pieces": {"vocab_size": 2000, "max_sentencepiece_length": 30, "split_by_unicode_script": False, "split_by_number": False},
        "few characters": {"vocab_size": 300, "character_coverage": 0.98},
    }.items()
} | {"char": {"model_type": "char"}, "char, pieces of a user": {"model_type": "char", "user_defined_symbols": USER}}


def training_text(chance):
    """Lines of words; some are rare, so that there is something to learn."""
    parts = [consonant + vowel for consonant in ["b", "d", "gr", "k", "l", "m", "n", "pl", "r", "s", "st", "t", "v"] for vowel in "aeiou"]
    words = ["".join(chance.choice(parts) for _ in range(chance.randint(1, 4))) + chance.choice(["", "", "n", "s", "ing", "ed"]) for _ in range(900)]
    words += PROSE * 3 + [word.capitalize() for word in PROSE] + [str(chance.randrange(3000)) for _ in range(60)]
    others = EAST + EMOJI + MARKS
    for _ in range(3000):
        line = [words[min(int(chance.expovariate(1 / 200)), len(words) - 1)] for _ in range(chance.randint(3, 14))]
        if chance.random() < 0.3:
            line.insert(chance.randrange(len(line)), "".join(chance.choice(others) for _ in range(chance.randint(1, 6))))
        yield " ".join(line) + chance.choice([".", "!", "?", ", aha", "", "  (x, y)"])


def trained(lines, settings, folder):
    model = io.BytesIO()
    if "normalization_rule_tsv" in settings:
        rules = folder / "rules.tsv"
        codes = [" ".join(f"{ord(c):X}" for c in text) for pair in settings["normalization_rule_tsv"].items() for text in pair]
        rules.write_text("".join(f"{a}\t{b}\n" for a, b in zip(codes[::2], codes[1::2], strict=True)))
        settings = settings | {"normalization_rule_tsv": str(rules)}
    common = {"vocab_size": 800, "hard_vocab_limit": False, "num_threads": 1, "minloglevel": 2, "character_coverage": 0.999}
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(lines), model_writer=model, **common | settings)
    return model.getvalue()


def answers(file, sentences, *more):
    lines = "".join(json.dumps(sentence) + "\n" for sentence in sentences)
    done = subprocess.run([PROGRAM, file, *more], input=lines.encode(), capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{file}: exit code {done.returncode}: {done.stderr.decode(errors='replace')}")
    found = [json.loads(line)[:2] for line in done.stdout.splitlines()]
    if len(found) != len(sentences):
        sys.exit(f"{file}: {len(found)} answers to {len(sentences)} sentences")
    return found


def wanted(processor, sentences):
    return [list(each) for each in zip(processor.encode(sentences, out_type=int), processor.encode(sentences, out_type=str), strict=True)]


def report(name, sentences, ours, theirs):
    wrong = [(sentence, a, b) for sentence, a, b in zip(sentences, ours, theirs, strict=True) if a != b]
    print(f"{name}: {len(sentences) - len(wrong)} of {len(sentences)} equal", file=sys.stderr)
    for sentence, a, b in wrong[:3]:
        print(f"  {sentence!a}\n    ours   {a!a}\n    theirs {b!a}", file=sys.stderr)
    return len(wrong)


def marian(chance, processor):
    """A vocab.json with ids of its own, without every twentieth piece, and with characters that the model does not know."""
    pieces = [processor.id_to_piece(i) for i in range(len(processor))] + ["☃", "ß", "ab☃", ">>fra<<"]
    kept = [piece for i, piece in enumerate(pieces) if i % 20 != 7 or piece in ("<unk>", "</s>")]
    chance.shuffle(kept)
    return {piece: i for i, piece in enumerate(kept)}


def random_model(chance):
    """And its letters, all of which are pieces of a pair encoding."""
    letters, kind = chance.choice(["ab▁", "abc▁é", "aab▁中", "xyab▁"]), chance.choice([UNIGRAM, BPE, CHAR])
    texts = {"".join(chance.choices(letters, k=chance.randint(1, 5))) for _ in range(chance.randint(3, 40))}
    single = list(dict.fromkeys(letters)) if kind == BPE or chance.random() < 0.5 else []
    types = [NORMAL] * 20 + [USER_DEFINED] * 3 + [CONTROL] + ([] if kind == BPE else [UNUSED])
    pieces = [("<unk>", 0, UNKNOWN)] + [(text, -chance.choice([1, 2, 3, 10]), NORMAL) for text in single]
    pieces += [(text, -chance.choice([0.5, 1, 1.25, 2, 7, 20, 10 * chance.random()]), chance.choice(types)) for text in sorted(texts - set(single))]
    fallback = chance.random() < 0.2
    flags = {name: chance.random() < often for name, often in
             {"add_dummy_prefix": 0.7, "remove_extra_whitespaces": 0.6, "escape_whitespaces": 0.85, "treat_whitespace_as_suffix": 0.2}.items()}
    pieces += sentencepiece_files.bytes_pieces() if fallback else []
    return sentencepiece_files.model(pieces, kind, byte_fallback=fallback, **flags), letters


def main():
    first_seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    characters = [chr(c) for c in [*range(1, 0xD800), *range(0xE000, 0x20000), *range(0xE0000, 0xE0200), 0x10FFFF]]
    failed = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        path = folder / "m.model"
        for number, (name, settings) in enumerate(MODELS.items()):
            chance = random.Random(first_seed + number)
            path.write_bytes(trained(list(training_text(chance)), settings, folder))
            processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
            sentences = FIXED + [some_sentence(chance, SPECIAL, characters) for _ in range(SENTENCES - len(FIXED))]
            theirs = wanted(processor, sentences)
            failed += report(f"{name}, {len(processor)} pieces", sentences, answers(path, sentences), theirs)
            if number % 7 == 0 and "bytes" not in name:
                ids = marian(chance, processor)
                vocabulary = folder / "vocab.json"
                vocabulary.write_text(json.dumps(ids))
                theirs = [[[ids.get(piece, ids["<unk>"]) for piece in pieces] + [ids["</s>"]], [*pieces, "</s>"]] for _, pieces in theirs]
                failed += report(f"{name}, as Marian", sentences, answers(path, sentences, vocabulary), theirs)
        sentences, ours, theirs = [], [], []
        for seed in range(first_seed, first_seed + RANDOM_MODELS):
            chance = random.Random(seed)
            model, letters = random_model(chance)
            path.write_bytes(model)
            some = ["".join(chance.choices(letters.replace("▁", " ") + " ▁q", k=chance.randint(0, 25))) for _ in range(100)]
            sentences += some
            ours += answers(path, some)
            theirs += wanted(sentencepiece.SentencePieceProcessor(model_proto=model), some)
        failed += report(f"{RANDOM_MODELS} random models", sentences, ours, theirs)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
