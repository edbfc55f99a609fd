"""`run --model` of a folder whose tokenizer is a model of SentencePiece."""

import json

import pytest
import sentencepiece_files
import tiny_models
from program import assert_fails, run, succeeds
from sentencepiece_files import BPE, CHAR, CONTROL, UNIGRAM, UNKNOWN, USER_DEFINED, WORD

SENTENCE = "the cat  sat"
LETTERS = [(letter, -9) for letter in "thecas"]
PIECES = [("<unk>", 0, UNKNOWN), ("<s>", 0, CONTROL), ("</s>", 0, CONTROL), ("▁the", -1), ("▁cat", -2), ("at", -3), ("▁", -4), ("th", -5), *LETTERS]
BEYOND = len(tiny_models.WORDS)  # so many rows has the embedding
assert len(PIECES) == BEYOND


def folder_with(tmp_path, files, **config):
    """A Llama with these files in place of its tokenizer.json."""
    folder, _ = tiny_models.llama(tmp_path / "model", **config)
    (folder / "tokenizer.json").unlink()
    for name, content in files.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return folder


def result(folder, *options, sentence=SENTENCE):
    return succeeds("run", *([sentence] if sentence else []), "--model", f"{folder}/", "--layer", "all", "--json", *options).json


def tokens(folder, sentence=SENTENCE, *options):
    done = result(folder, *options, sentence=sentence)
    return list(zip(done["tokens"], done["token_ids"], strict=True))


@pytest.mark.parametrize("name", ["spiece.model", "tokenizer.model", "sentencepiece.bpe.model"])
def test_the_model_beside_the_weights_makes_pieces_and_ids(tmp_path, name):
    folder = folder_with(tmp_path, {name: sentencepiece_files.model(PIECES, UNIGRAM)})
    done = result(folder)
    assert (done["tokens"], done["token_ids"]) == (["<s>", " the", " cat", " ", "s", "at"], [1, 3, 4, 6, 13, 5])
    of_ids = result(folder, "--ids", ",".join(map(str, done["token_ids"])), sentence=None)
    assert [layer["weights"] for layer in of_ids["layers"]] == [layer["weights"] for layer in done["layers"]]


@pytest.mark.parametrize(
    ("kind", "pieces"),
    [
        (UNIGRAM, [" the", " ", "c", "at", "<unk>"]),
        (BPE, [" ", "th", "e", " ", "c", "at", "<unk>"]),  # nothing joins the space with a word
        (CHAR, [" ", "t", "h", "e", " ", "c", "a", "t", "<unk>"]),
    ],
)
def test_each_kind_of_model_makes_its_pieces(tmp_path, kind, pieces):
    model = sentencepiece_files.model([each for each in PIECES if each[0] != "▁cat"] + [("user", 0, USER_DEFINED)], kind)
    folder = folder_with(tmp_path, {"tokenizer.model": model})
    assert [token for token, _ in tokens(folder, "the catq")] == ["<s>", *pieces]
    assert [token for token, _ in tokens(folder, "user</s>")][1:] == [" ", "user", "<unk>", "s", "<unk>"]


def test_spaces_are_those_that_the_model_keeps(tmp_path):
    spaces = {"add_dummy_prefix": False, "remove_extra_whitespaces": False}
    folder = folder_with(tmp_path, {"tokenizer.model": sentencepiece_files.model(PIECES, UNIGRAM, **spaces)})
    assert [token for token, _ in tokens(folder, "  the")] == ["<s>", " ", " the"]
    assert [token for token, _ in tokens(folder, "the ")] == ["<s>", "th", "e", " "]


@pytest.mark.parametrize(
    ("settings", "around"),
    [
        ({}, ("<s>", None)),
        ({"tokenizer_class": "LlamaTokenizerFast", "add_bos_token": False, "add_eos_token": True}, (None, "</s>")),
        ({"tokenizer_class": "T5Tokenizer", "eos_token": {"content": "</s>", "lstrip": False}}, (None, "</s>")),
        ({"tokenizer_class": "GemmaTokenizer", "bos_token": "▁the", "add_eos_token": True, "eos_token": "</s>"}, ("▁the", "</s>")),
    ],
)
def test_the_tokenizers_class_puts_its_pieces_around_a_text(tmp_path, settings, around):
    files = {"tokenizer.model": sentencepiece_files.model(PIECES, UNIGRAM), "tokenizer_config.json": settings}
    begin, end = ([each] if each else [] for each in around)
    folder = folder_with(tmp_path, files)
    assert [token for token, _ in tokens(folder, "cat")] == [*begin, " cat", *end]
    pair = [token for token, _ in tokens(folder, "cat", "--set", "input.pair=the")]
    assert pair == [*begin, " cat", *end, *begin, " the", *end]


def test_a_tokenizer_json_comes_first(tmp_path):
    folder, _ = tiny_models.llama(tmp_path / "model")
    wanted = result(folder)
    (folder / "tokenizer.model").write_bytes(b"no model")
    assert result(folder)["token_ids"] == wanted["token_ids"]


def test_the_digest_of_a_model_counts_its_tokenizer(tmp_path):
    folder = folder_with(tmp_path, {"tokenizer.model": sentencepiece_files.model(PIECES, UNIGRAM)})
    saved = tmp_path / "saved.json"
    saved.write_text(json.dumps(result(folder)))
    assert run("check", saved).code == 0
    (folder / "tokenizer.model").write_bytes(sentencepiece_files.model(PIECES, BPE))
    assert_fails(run("check", saved), 65, "sha256")


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (b"", ["pieces of type unknown: got 0; allowed: 1; is it a model of SentencePiece?"]),
        (b"IQ== 0\nIg== 1\nIw== 2\n", ["protobuf"]),  # as Llama 3 has its tokenizer.model
        (sentencepiece_files.model(PIECES, WORD), ["trainer_spec.model_type: got 3, words; allowed: 1, 2 or 4: unigram, bpe, char"]),
        (sentencepiece_files.model(PIECES[1:], UNIGRAM), ["pieces of type unknown: got 0"]),
        (sentencepiece_files.model(PIECES, UNIGRAM)[:-20], ["which are left"]),
        (sentencepiece_files.model([*PIECES, ("the", -1)], BPE), [f"ids up to {BEYOND}", "embedding"]),
        (sentencepiece_files.model([*PIECES[:1], *PIECES[2:]], UNIGRAM), ["no '<s>'"]),
        (sentencepiece_files.model([*PIECES, ("the", -1), ("x", float("nan"))], UNIGRAM), [f"pieces[{BEYOND + 1}]", "a score of nan"]),
        (sentencepiece_files.model([*PIECES[:-1], ("▁xt", -1)], BPE), ["'▁xt', whose 'x' is no piece"]),
        (sentencepiece_files.model(PIECES, UNIGRAM, precompiled_charsmap=b"\x00" * 9), ["precompiled_charsmap", "9 bytes"]),
        (b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f" + bytes(1 << 20), ["byte 10 of the protobuf", "9223372036854775807 bytes"]),
    ],
)
def test_what_is_no_model_is_refused_in_one_line(tmp_path, model, says):
    folder = folder_with(tmp_path, {"tokenizer.model": model})
    assert_fails(run("run", SENTENCE, "--model", f"{folder}/"), 65, *says)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"tokenizer_class": "XLMRobertaTokenizer"}, ["'XLMRobertaTokenizer'", "LlamaTokenizer", "save_pretrained()"]),
        ({"add_bos_token": "yes"}, ["add_bos_token", "'yes'"]),
        ({"bos_token": "<b>"}, ["no '<b>'"]),
        ([], ["tokenizer_config.json"]),
    ],
)
def test_settings_that_are_not_understood_are_refused(tmp_path, settings, says):
    files = {"tokenizer.model": sentencepiece_files.model(PIECES, UNIGRAM), "tokenizer_config.json": settings}
    assert_fails(run("run", SENTENCE, "--model", f"{folder_with(tmp_path, files)}/"), 65, *says)


def test_a_folder_without_a_tokenizer_is_no_input(tmp_path):
    folder = folder_with(tmp_path, {})
    assert_fails(run("run", SENTENCE, "--model", f"{folder}/"), 66, "no 'tokenizer.json'")
    (folder / "spiece.model").mkdir()
    assert_fails(run("run", SENTENCE, "--model", f"{folder}/"), 66, "something that is not a file as 'spiece.model'")
