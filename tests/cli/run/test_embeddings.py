"""`run --embeddings`: word vectors as text, tensors with and without words, what is refused, and what `check` needs."""

import hashlib
import json
import random
import subprocess
import sys
from pathlib import Path

import pytest
from program import PROGRAM, assert_fails, counts_memory, run, shell, succeeds
from tensors import close, numpy, save_safetensors

ROOT = Path(__file__).parents[3]
SAMPLE = ROOT / "data" / "made-up-vectors.txt"
WORDS = ["Life", "is", "short", "eat", "dessert", "first"]
SENTENCE = "Life is short, eat dessert first"


def text_of(vectors, header=False, end="\n"):
    lines = [f"{len(vectors)} {len(next(iter(vectors.values())))}"] if header else []
    lines += [word + "".join(f" {value:.6g}" for value in vector) for word, vector in vectors.items()]
    return "\n".join(lines) + end


def made(words=WORDS, size=5, seed=1):
    draw = random.Random(seed)
    return {word: [float(f"{draw.gauss(0, 1):.6g}") for _ in range(size)] for word in words}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "v.txt").write_text(text_of({**made(["the", "of"], seed=2), **made(), "<unk>": [0.5] * 5}))
    return tmp_path


def result(folder, *options, sentence=SENTENCE, **more):
    return succeeds("run", sentence, "--json", *options, cwd=folder, **more).json


def embeddings(folder, file, *options, **more):
    return numpy.array(result(folder, "--embeddings", file, "--show", "embeddings", *options, **more)["embeddings"])


# ---- what is computed ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("header", [False, True])
@pytest.mark.parametrize("end", ["\n", ""])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_words_have_the_vectors_of_the_file(folder, header, end, dtype):
    (folder / "w.vec").write_text(text_of({**made(["x"]), **made()}, header, end))
    wanted = numpy.array([made()[word] for word in WORDS]).astype(dtype)
    assert numpy.array_equal(embeddings(folder, "w.vec", "--dtype", dtype).astype(dtype), wanted)


def test_with_the_identity_the_weights_are_a_softmax_of_dot_products(folder):
    X = numpy.array([made()[word] for word in WORDS])
    done = result(folder, "--embeddings", "v.txt", "--init", "identity", "--dtype", "float64")
    powers = numpy.exp(X @ X.T / 5**0.5)
    weights = powers / powers.sum(1, keepdims=True)
    close(numpy.array(done["weights"][0]), weights)
    close(numpy.array(done["context"]), weights @ X)
    assert done["config"]["dims"] == {"embed_dim": 5}


def test_the_projections_are_drawn_from_the_start_of_the_stream(folder):
    done = result(folder, "--embeddings", "v.txt", "--show", "parameters")["parameters"]
    assert list(done) == ["embedding", "W_q", "W_k", "W_v"]
    assert done["W_q"][0][0] == pytest.approx(0.2961119, abs=1e-6)  # torch.manual_seed(123); torch.rand(24, 5)[0, 0]


def test_of_the_sample_related_words_look_at_each_other(folder):
    sentence = "life is short , eat dessert first"
    done = result(folder, "--embeddings", str(SAMPLE), "--init", "identity", "--tokenizer", "words", sentence=sentence)
    words, weights = done["tokens"], numpy.array(done["weights"][0])
    for word, friend in [("eat", "dessert"), ("dessert", "eat"), ("short", "first"), ("first", "short"), ("is", "life")]:
        row = weights[words.index(word)].copy()
        row[words.index(word)] = 0
        assert words[row.argmax()] == friend


def test_the_script_of_the_sample_writes_it():
    sys.path.insert(0, str(ROOT / "tests" / "oracle"))
    import sample_vectors

    assert "\n".join(sample_vectors.lines()) + "\n" == SAMPLE.read_text(encoding="utf-8")


def test_two_sentences_share_one_table(folder):
    done = result(folder, "--embeddings", "v.txt", "--cross", "the first of", "--show", "embeddings,vocabulary")
    assert len(done["vocabulary"]) == 8
    vectors = {**made(["the", "of"], seed=2), **made()}
    close(numpy.array(done["key_embeddings"]), numpy.array([vectors[word] for word in ["the", "first", "of"]]), rtol=1e-6)


def test_casefold_looks_up_the_folded_words(folder):
    (folder / "low.txt").write_text(text_of(made([word.lower() for word in WORDS] + ["Life"])))
    exact = embeddings(folder, "low.txt")
    folded = embeddings(folder, "low.txt", "--casefold")
    vectors = made([word.lower() for word in WORDS] + ["Life"])
    close(exact[0], numpy.array(vectors["Life"]), rtol=1e-6)
    close(folded[0], numpy.array(vectors["life"]), rtol=1e-6)
    assert numpy.array_equal(exact[1:], folded[1:])


def test_unknown_words_take_the_vector_of_one_and_a_warning_says_so(folder):
    done = result(folder, "--embeddings", "v.txt", "--unknown", "<unk>", "--show", "embeddings", sentence="Life is zzz")
    assert done["embeddings"][2] == [0.5] * 5
    assert done["warnings"] == ["embeddings: no vector for 'zzz'; that of '<unk>' is used"]
    assert done["config"]["embeddings"]["unknown"] == "<unk>"


def test_punctuation_that_hides_a_word_is_hinted_at(folder):
    hint = "--tokenizer words"
    for sentence in ("Life is.", "Life – is", "(Life is"):
        assert_fails(run("run", sentence, "--embeddings", "v.txt", cwd=folder), 65, hint)
        succeeds("run", sentence, "--embeddings", "v.txt", "--tokenizer", "words", cwd=folder)
    for arguments in (["Life zzz"], ["Life zzz.", "--tokenizer", "words"]):
        assert hint not in run("run", *arguments, "--embeddings", "v.txt", cwd=folder).message


def test_the_usual_name_of_unknown_words_is_suggested(folder):
    done = run("run", "Life zzz", "--embeddings", "v.txt", "--unknown", "UNK", cwd=folder)
    assert_fails(done, 2, "did you mean '<unk>'?")
    (folder / "plain.txt").write_text(text_of(made()))
    assert "did you mean" not in run("run", "Life zzz", "--embeddings", "plain.txt", "--unknown", "UNK", cwd=folder).message


@pytest.mark.parametrize("rest", ["UNK nan 1\n", "unk 1 2\nunk 3 4\n", "unk 1 2\n"])
@pytest.mark.parametrize("given", [["a q"], ["--lines", "-"]])
def test_what_is_wrong_with_a_suggestion_hides_no_wrong_word(folder, rest, given):
    (folder / "w.txt").write_text("a 1 2\n" + rest)
    done = run("run", *given, "--embeddings", "w.txt", "--unknown", "z", stdin="a q\n", cwd=folder)
    assert_fails(done, 2, f"did you mean '{rest.split()[0]}'?")


def test_a_line_gives_what_run_gives_and_missing_words_spoil_one_line(folder):
    sentences = ["Life is short", "the of Life", "first zzz"]
    done = run("run", "--lines", "-", "--embeddings", "v.txt", "--json", stdin="\n".join(sentences), cwd=folder)
    assert (done.code, done.err) == (65, b"")
    for index, (sentence, line) in enumerate(zip(sentences[:2], done.out.splitlines())):
        alone = json.dumps(result(folder, "--embeddings", "v.txt", sentence=sentence))
        assert json.loads(line)["index"] == index
        assert json.dumps({key: value for key, value in json.loads(line).items() if key != "index"}) == alone
    assert "'zzz'" in done.json_lines[2]["error"]["message"]


def test_a_broken_file_ends_lines_before_the_first(folder):
    (folder / "bad.txt").write_text("a 1 2\nb 1\n")
    done = run("run", "--lines", "-", "--embeddings", "bad.txt", "--json", stdin="a\nb\n", cwd=folder)
    assert_fails(done, 65)


def test_of_infinite_vectors_nothing_is_said_to_overflow(folder):
    (folder / "w.txt").write_text("a nan 1\nb 1 2\nc 3e38 3e38\n")
    given = ["--embeddings", "w.txt", "--set", "embeddings.allow_nonfinite=true", "--init", "normal"]
    assert result(folder, *given, sentence="a b").get("warnings", []) == []
    said = result(folder, *given, sentence="a b c")["warnings"]
    assert said[0] == "queries: a dot product overflowed float32; --dtype float64 has more room" and not [line for line in said if "context" in line]
    lines = succeeds("run", "--lines", "-", "--json", *given, stdin="a b\na b c\n", cwd=folder).json_lines
    assert [line.get("warnings", []) for line in lines] == [[], said]


def test_of_a_layer_too_only_finite_rows_overflow_and_lines_say_what_run_says(folder):
    table = numpy.ones((3, 4), "float32")
    table[1], table[2] = numpy.nan, 3e38
    numpy.savez(folder / "layer.npz", embedding=table, **{name: numpy.eye(4, dtype="float32") * 2 for name in ("W_q", "W_k", "W_v")})
    given = ["--params", "layer.npz", "--set", "parameters.layout=run", "--set", "parameters.allow_nonfinite=true", "--quiet"]
    sentences = ["a b", "a b c", "a"]
    said = [result(folder, *given, sentence=sentence).get("warnings", []) for sentence in sentences]
    advice = "a dot product overflowed float32; --dtype float64 has more room"
    assert said == [[], [f"{name}: {advice}" for name in ("queries", "keys", "values")], []]
    lines = succeeds("run", "--lines", "-", "--json", *given, stdin="\n".join(sentences), cwd=folder).json_lines
    assert [line.get("warnings", []) for line in lines] == said


def test_a_byte_order_mark_is_no_part_of_the_first_word(folder):
    vectors = text_of(made())
    (folder / "w.txt").write_text("\ufeff" + vectors)
    assert numpy.array_equal(embeddings(folder, "w.txt"), embeddings(folder, "v.txt"))
    numpy.save(folder / "e.npy", numpy.array([made()[word] for word in WORDS]))
    (folder / "words.txt").write_text("\ufeff" + "\n".join(WORDS))
    assert numpy.array_equal(embeddings(folder, "e.npy", "--set", "embeddings.words.file=words.txt"), embeddings(folder, "v.txt"))


# ---- tensors ---------------------------------------------------------------------------------------------------------


def test_a_tensor_gets_its_words_from_a_list(folder):
    table = numpy.random.default_rng(1).normal(size=(50, 7)).astype("float32")
    numpy.save(folder / "e.npy", table)
    numpy.savez(folder / "e.npz", other=table[:1], table=table)
    save_safetensors(folder / "e.safetensors", {"wte.weight": table, "x": table[:2]})
    words = [f"w{i}" for i in range(44)] + WORDS
    (folder / "words.txt").write_text("\n".join(words) + "\n")
    for file in ["e.npy", "e.npz:table", "e.safetensors:wte.weight"]:
        found = embeddings(folder, file, "--set", "embeddings.words.file=words.txt")
        assert numpy.array_equal(found.astype("float32"), table[44:])
    done = result(folder, "--embeddings", "e.npz:table", "--set", "embeddings.words.file=words.txt")["config"]
    digest = lambda name: hashlib.sha256((folder / name).read_bytes()).hexdigest()
    assert done["embeddings"] == {
        "file": "e.npz", "name": "table", "words": {"file": "words.txt", "sha256": digest("words.txt")}, "sha256": digest("e.npz"),
    }
    (folder / "golden.json").write_text(json.dumps(result(folder, "--embeddings", "e.npz:table", "--set", "embeddings.words.file=words.txt")))
    assert succeeds("check", "golden.json", cwd=folder).text.endswith("golden.json: passed\n")
    (folder / "words.txt").write_text("\n".join(words[::-1]) + "\n")
    assert_fails(run("check", "golden.json", cwd=folder), 65)


def test_without_a_list_rows_are_the_vocabulary_in_its_order(folder):
    succeeds("run", SENTENCE, "--show", "all", "-o", "drawn.npz", cwd=folder)
    drawn = result(folder, "--show", "embeddings")
    again = result(folder, "--embeddings", "drawn.npz:embedding", "--show", "embeddings")
    assert again["embeddings"] == drawn["embeddings"]
    assert_fails(run("run", "Life is", "--embeddings", "drawn.npz:embedding", cwd=folder), 65)


def test_ids_are_rows_and_need_no_vocab_size(folder):
    table = numpy.random.default_rng(1).normal(size=(9, 4))
    numpy.save(folder / "e.npy", table)
    done = succeeds("run", "--ids", "8,0,3", "--embeddings", "e.npy", "--json", "--show", "embeddings", "--dtype", "float64", cwd=folder)
    assert numpy.array_equal(numpy.array(done.json["embeddings"]), table[[8, 0, 3]])
    assert done.json["config"]["dims"] == {"embed_dim": 4, "vocab_size": 9}
    assert_fails(run("run", "--ids", "9", "--embeddings", "e.npy", cwd=folder), 65, "0 to 8 (the embedding table of 'e.npy' has 9 rows)")
    table[7, 2] = -1e300
    numpy.save(folder / "large.npy", table)
    assert_fails(run("run", "--ids", "1", "--embeddings", "large.npy", cwd=folder), 65)
    assert_fails(run("run", "--ids", "1", "--vocab-size", "8", "--embeddings", "e.npy", cwd=folder), 2)
    assert_fails(run("run", "--ids", "1", "--embeddings", "v.txt", cwd=folder), 2)


def test_only_rows_that_are_used_must_be_finite(folder):
    table = numpy.ones((6, 4))
    table[2, 1] = numpy.nan
    numpy.save(folder / "e.npy", table)
    (folder / "words.txt").write_text("\n".join(WORDS))
    with_words = ("--embeddings", "e.npy", "--set", "embeddings.words.file=words.txt")
    succeeds("run", "Life is", *with_words, cwd=folder)
    assert_fails(run("run", "is short", *with_words, cwd=folder), 65)
    done = run("run", "is short", *with_words, "--set", "embeddings.allow_nonfinite=true", "--json", cwd=folder)
    assert (done.code, done.json["config"]["embeddings"]["allow_nonfinite"]) == (0, True)
    assert_fails(run("run", SENTENCE, "--embeddings", "e.npy", cwd=folder), 65)


# ---- what is refused -------------------------------------------------------------------------------------------------


def test_text_may_come_through_a_pipe(folder):
    script = f'$A run "{SENTENCE}" --embeddings <(cat v.txt) --show embeddings --json'
    assert shell(script, cwd=folder).json["embeddings"] == result(folder, "--embeddings", "v.txt", "--show", "embeddings")["embeddings"]
    assert_fails(run("run", "a", "--embeddings", "/dev/zero"), 65)


def test_an_embed_dim_that_fits_is_no_contradiction(folder):
    assert result(folder, "--embeddings", "v.txt", "--embed-dim", "5") == result(folder, "--embeddings", "v.txt")


# ---- check and recipes -----------------------------------------------------------------------------------------------


def test_the_config_names_the_file_and_check_needs_the_same(folder):
    succeeds("run", SENTENCE, "--embeddings", "v.txt", "--show", "all", "-o", "golden.json", cwd=folder)
    config = json.loads((folder / "golden.json").read_text())["config"]
    assert config["embeddings"] == {"file": "v.txt", "sha256": hashlib.sha256((folder / "v.txt").read_bytes()).hexdigest()}
    assert succeeds("check", "golden.json", cwd=folder).text.endswith("golden.json: passed\n")
    (folder / "v.txt").write_text((folder / "v.txt").read_text() + "new 1 2 3 4 5\n")
    assert_fails(run("check", "golden.json", cwd=folder), 65)


def test_a_large_file_is_known_by_pieces_of_it(folder):
    words = [f"w{i}" for i in range(60000)]
    draw = random.Random(3)
    lines = [f"{word} " + " ".join(f"{draw.random():.15f}" for _ in range(4)) for word in words]
    content = ("\n".join(lines) + "\n").encode()
    (folder / "large.txt").write_bytes(content)
    assert len(content) > 4 << 20
    done = succeeds("run", "w0 w59999 w30000", "--embeddings", "large.txt", "--json", cwd=folder)
    pieces = b"".join(content[i * (len(content) - 65536) // 63 :][:65536] for i in range(64))
    digest = hashlib.sha256(pieces).hexdigest()
    assert done.json["config"]["embeddings"] == {"file": "large.txt", "bytes": len(content), "sha256_sample": digest}
    (folder / "golden.json").write_bytes(done.out)
    assert succeeds("check", "golden.json", cwd=folder).text.endswith("golden.json: passed\n")
    (folder / "large.txt").write_bytes(content + b"more 1 2 3 4\n")
    assert_fails(run("check", "golden.json", cwd=folder), 65)


def test_a_result_with_vectors_fits_the_schema_and_is_a_recipe(folder):
    jsonschema = pytest.importorskip("jsonschema")
    done = result(folder, "--embeddings", "v.txt", "--unknown", "<unk>", "--show", "all")
    jsonschema.Draft202012Validator(succeeds("schema", "result").json).validate(done)
    recipe = {**done["config"], "embeddings": {"file": "v.txt", "unknown": "<unk>"}}
    jsonschema.Draft202012Validator(succeeds("schema", "recipe").json).validate(recipe)
    (folder / "r.json").write_text(json.dumps(recipe))
    assert succeeds("run", "--recipe", "r.json", "--json", "--show", "all", cwd=folder).json == done
    (folder / "r.json").write_text(json.dumps({**recipe, "embeddings": {"file": "v.txt", "unknown": "zz"}}))
    assert_fails(run("run", "--recipe", "r.json", cwd=folder), 65)
    (folder / "r.json").write_text(json.dumps({**recipe, "dims": {"embed_dim": 4}}))
    assert_fails(run("run", "--recipe", "r.json", cwd=folder), 65)


def test_vectors_take_the_place_of_what_a_recipe_draws(folder):
    done = result(folder, "--recipe", "raschka-2023", "--embeddings", "v.txt", "--show", "embeddings")
    assert done["config"]["dims"]["embed_dim"] == 5
    assert not [draw for draw in done["config"]["draws"] if draw.get("tensor") == "embedding"]
    assert_fails(run("run", "--recipe", "politi-2025", "--embeddings", "v.txt", cwd=folder), 65)
    recipe = {**done["config"], "input": {"positions": 3}}
    (folder / "r.json").write_text(json.dumps(recipe))
    assert_fails(run("run", "--recipe", "r.json", "--embeddings", "v.txt", cwd=folder), 2)
    assert_fails(run("run", "--recipe", "r.json", cwd=folder), 65)


def test_a_trained_layer_reads_the_vectors_instead_of_a_table_of_its_own(folder):
    succeeds("run", SENTENCE, "--embed-dim", "5", "--show", "parameters", "-o", "layer.safetensors", cwd=folder)
    beside = ("--params", "layer.safetensors", "--embeddings", "v.txt", "--show", "embeddings,parameters")
    done = result(folder, *beside)
    layer = result(folder, "--embed-dim", "5", "--show", "parameters")["parameters"]
    close(numpy.array(done["embeddings"]), numpy.array([made()[word] for word in WORDS]), rtol=1e-6)
    assert done["parameters"]["W_q"] == layer["W_q"]
    assert done["parameters"]["embedding"] != layer["embedding"]
    (folder / "golden.json").write_text(json.dumps(done))
    assert succeeds("check", "golden.json", cwd=folder).text.endswith("golden.json: passed\n")
    lines = succeeds("run", "--lines", "-", "--json", *beside, stdin=SENTENCE + "\nthe of is\n", cwd=folder).json_lines
    assert lines[0] == {"schema": done["schema"], "index": 0, **{key: done[key] for key in done if key != "schema"}}
    succeeds("run", SENTENCE, "--show", "parameters", "-o", "layer.safetensors", cwd=folder)
    assert_fails(run("run", SENTENCE, *beside, cwd=folder), 65)


def test_positions_are_added_to_the_vectors(folder):
    plain, placed = (embeddings(folder, "v.txt", *options) for options in [(), ("--positions", "sinusoidal")])
    p, i = numpy.arange(6)[:, None], numpy.arange(5)[None] // 2
    angles = p / 10000 ** (2 * i / 5)
    close(placed, plain + numpy.where(numpy.arange(5) % 2 == 0, numpy.sin(angles), numpy.cos(angles)), rtol=1e-5, atol=1e-6)


# ---- a large file ----------------------------------------------------------------------------------------------------


@counts_memory
@pytest.mark.parametrize("lines", [False, True])
def test_a_file_larger_than_the_memory_is_searched(folder, lines):
    """160 MB of words, of which no more than 100 may be resident."""
    line = b" " + b" ".join(b"0.%06d" % i for i in range(200)) + b"\n"
    with open(folder / "large.txt", "wb") as file:
        for i in range(0, 90000, 1000):
            file.write(b"".join(b"w%d" % (i + j) + line for j in range(1000)))
    assert (folder / "large.txt").stat().st_size > 160e6
    given = ["--lines", "-"] if lines else ["w5 w89999 w44444"]
    # A child's peak counts that of its parent before exec, and pytest is large; so a small process comes between.
    between = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True)\n"
    between += "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)"
    command = [PROGRAM, "run", *given, "--embeddings", "large.txt", "--json", "--show", "weights"]
    done = subprocess.run(
        [sys.executable, "-S", "-c", between, *command], cwd=folder, input=b"w5 w89999 w44444\n" * 3, capture_output=True, check=True
    )
    assert int(done.stderr) < 100_000  # kilobytes
    assert len(done.stdout.splitlines()) == (3 if lines else 1)
