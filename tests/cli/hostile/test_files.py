"""Inputs made to be costly. Headers of .safetensors take a few times their own bytes at most, whatever they hold; what cannot be
right is refused before all of it is read, kept or inflated."""

import io
import json
import os
import struct
import zipfile

import pytest
from memory_group import memory_group
from program import assert_fails, limits_memory, measured, run, succeeds, within
from tensors import numpy

SIZE = 40_000_000
ROOM = 400  # megabytes of address space, of which the file itself takes 40


def repeated(front, element, back):
    """`front`, then as many of `element(0)`, `element(1)`, … as there is room for, then `back`."""
    parts, size, number = [front], len(front), 0
    while size < SIZE:
        parts.append(element(number))
        size += len(parts[-1])
        number += 1
    return b"".join(parts).rstrip(b",") + back


HEADERS = {
    "a list of numbers": (lambda: repeated(b'{"a":[', lambda i: b"0," * 1000, b"]}"), "header.a: got an array"),
    "a shape without end": (lambda: repeated(b'{"a":{"shape":[', lambda i: b"0," * 1000, b"]}}"), "up to 64 dimensions"),
    "offsets without end": (lambda: repeated(b'{"a":{"data_offsets":[', lambda i: b"0," * 1000, b"]}}"), "two offsets"),
    "empty objects": (lambda: repeated(b"{", lambda i: b'"%x":{},' % i, b"}"), "header.0: key 'dtype' is missing"),
    "metadata": (lambda: repeated(b'{"__metadata__":{', lambda i: b'"%x":"",' % i, b"}}"), "holds no tensor"),
    "metadata with a key twice": (
        lambda: repeated(b'{"__metadata__":{', lambda i: b'"%x":"",' % (i % 1_000_000), b"}}"), "given twice"
    ),
    "tensors without elements": (
        lambda: repeated(b"{", lambda i: b'"t%x":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},' % i, b"}"), "number of tensors: got more; allowed: up to 100000"
    ),
    "one name": (lambda: b'{"' + b"a" * SIZE + b'":1}', "allowed: an object"),
    "one name without an end": (lambda: b'{"' + b"a" * SIZE, "malformed JSON"),
    "one number": (lambda: b'{"a":' + b"1" * SIZE + b"}", "malformed JSON"),
    "one string": (lambda: b'{"a":{"dtype":"' + b"F" * SIZE + b'"}}', "header.a.dtype: got 'FFF"),
    "spaces": (lambda: b"{" + b" " * SIZE + b"}", "holds no tensor"),
    "brackets": (lambda: b'{"a":' + b"[" * SIZE, "got an array"),
}


@limits_memory
@pytest.mark.parametrize("kind", HEADERS)
def test_a_costly_header_takes_little_memory(kind, tmp_path):
    make, message = HEADERS[kind]
    header = make()
    with open(tmp_path / "h.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(header)))
        file.write(header)
    numpy.save(tmp_path / "one.npy", numpy.zeros(1, "float32"))
    done = run("compare", "h.safetensors:a", "one.npy", "--threads", "1", cwd=tmp_path, preexec_fn=within(ROOM))
    (tmp_path / "h.safetensors").unlink()  # pytest keeps its folders
    assert_fails(done, 65, "'h.safetensors'", message)


@limits_memory
@pytest.mark.parametrize("options", [(), ("--tokenizer", "document"), ("--lines", "-", "--json")], ids=" ".join)
def test_more_words_than_fit_are_counted_and_not_kept(tmp_path, options):
    (tmp_path / "words").write_bytes(b"w " * 30_000_000)
    with (tmp_path / "words").open() as words:
        done, seconds, megabytes = measured("run", *options, stdin=words)
    if "--json" in options:
        assert (done.code, done.err) == (65, b"") and done.json["error"]["code"] == 71
    else:
        assert_fails(done, 71, "the arrays asked for need 3,600", " GiB)", "--query")
    assert seconds < 20 and megabytes < 300  # 41 and 1600 when all became words first


@limits_memory
@pytest.mark.parametrize("command", [("check", "-"), ("check", "zeros"), ("run", "--recipe", "-", "--max-input-bytes", "4000000000"),
                                     ("compare", "-", "zeros"), ("plot", "-")], ids=" ".join)
def test_zeros_without_end_are_refused_at_the_first(tmp_path, command):
    (tmp_path / "zeros").touch()
    os.truncate(tmp_path / "zeros", 3 << 30)
    with (tmp_path / "zeros").open() as zeros:
        done, seconds, megabytes = measured(*command, stdin=zeros, cwd=tmp_path)
    assert_fails(done, 65, "standard input" if "-" in command else "'zeros'")
    assert seconds < 2 and megabytes < 200


@limits_memory
@pytest.mark.parametrize("command", [("check", "text"), ("run", "--recipe", "text"), ("explain", "--recipe", "-")], ids=" ".join)
def test_a_file_that_says_it_is_too_large_is_refused_unread(tmp_path, command):
    (tmp_path / "text").write_text('{"schema":')
    os.truncate(tmp_path / "text", 3 << 30)
    with (tmp_path / "text").open() as text:
        done, _, megabytes = measured(*command, stdin=text, cwd=tmp_path)
    assert_fails(done, 65, "is larger than ", "; --max-input-bytes allows more")
    assert megabytes < 32, megabytes  # 128 where 64 MiB are allowed, 2,048 where 1 GiB is


def many_tensors(count):
    header = json.dumps({f"t{i}": {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]} for i in range(count)}).encode()
    return struct.pack("<Q", len(header)) + header


def many_members(count):
    """An archive whose directory has room for them, and holds none."""
    size = 46 * count
    end = struct.pack("<IQHHIIQQQQ", 0x06064B50, 44, 45, 45, 0, 0, count, count, size, 4)
    locator = struct.pack("<IIQI", 0x07064B50, 0, 4 + size, 1)
    return b"PK\3\4" + bytes(size) + end + locator + struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)


@limits_memory
@pytest.mark.parametrize("other, code, line", [("two.npz", 1, b"only in A"), ("many.safetensors", 0, b"0 compared, all equal")])
def test_a_hundred_thousand_tensors_are_compared_in_little_memory(tmp_path, other, code, line):
    (tmp_path / "many.safetensors").write_bytes(many_tensors(100_000))
    numpy.savez(tmp_path / "two.npz", a=numpy.zeros(1, "float32"), b=numpy.zeros(1, "float32"))
    done, _, megabytes = measured("compare", "many.safetensors", other, cwd=tmp_path)
    assert (done.code, done.err, done.out.count(line)) == (code, b"", 100_000)
    assert megabytes < 112, megabytes  # 143 with room for the places of all differences, 114 with two functions for each tensor


@limits_memory
@pytest.mark.parametrize("make, count, message", [
    (many_tensors, 300_000, "header: number of tensors: got more; allowed: up to 100000"),
    (many_members, 100_001, "number of members: got 100001; allowed: up to 100000"),
    (many_members, 100_000, "damaged zip archive: no directory entry where one should be")])
def test_more_tensors_than_any_model_has_are_refused(tmp_path, make, count, message):
    (tmp_path / "many").write_bytes(make(count))
    done, _, megabytes = measured("compare", "many", "many", cwd=tmp_path)
    assert_fails(done, 65, message)
    assert megabytes < 80, megabytes  # 230


@limits_memory
def test_a_word_as_long_as_the_file_is_not_copied(tmp_path):
    text = "the" + " 1" * 3000
    (tmp_path / "long.txt").write_text(text)
    os.truncate(tmp_path / "long.txt", 200 << 20)  # so the last word has two hundred million zero bytes behind its 1
    done, _, megabytes = measured("plot", "long.txt", "-o", "x.svg", cwd=tmp_path)
    assert_fails(done, 65, f"'long.txt', line 1, column {len(text)}: got '1" + r"\x00\x00")
    assert megabytes < 200 + 64, megabytes  # 420, and in a small memory group it read the file's pages again for minutes


@limits_memory
@pytest.mark.parametrize("lie, message", [("size", "fewer bytes than the archive says"), ("crc", "damaged, its CRC-32 is wrong")])
@pytest.mark.parametrize("command", [("attend", "-q", "q.npy", "-k", "bad.npz:x", "-v", "bad.npz:x"), ("compare", "bad.npz:x", "bad.npz:x")],
                         ids=["attend", "compare"])
def test_a_small_archive_that_lies_of_a_large_array_costs_no_memory(tmp_path, lie, message, command):
    array = io.BytesIO()
    numpy.save(array, numpy.zeros((3_000_000, 8), "float32"))
    size = len(array.getvalue())
    with zipfile.ZipFile(tmp_path / "bad.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", array.getvalue()[: size - 4 if lie == "size" else size])
        crc = archive.infolist()[0].CRC
    true, said = (size - 4, size) if lie == "size" else (crc, crc ^ 1)
    told = (tmp_path / "bad.npz").read_bytes()
    assert told.count(struct.pack("<I", true)) == 2  # in front of the data, and in the directory
    (tmp_path / "bad.npz").write_bytes(told.replace(struct.pack("<I", true), struct.pack("<I", said)))
    numpy.save(tmp_path / "q.npy", numpy.ones((3, 8), "float32"))
    done, _, megabytes = measured(*command, cwd=tmp_path)
    assert_fails(done, 65, message)
    assert megabytes < 64 + 16, megabytes  # 96


WORDS = " ".join(f"w{i}" for i in range(3000))
WIDE = "wide.npz:x"  # 96 MB of zeros in 93 kB, but for the last number


@limits_memory
@pytest.mark.parametrize("type, last, command, message", [
    ("float32", "nan", ("plot", WIDE, "--query", "0"), "at (0, 2999, 7999): got nan"),
    ("float32", "nan", ("attend", "-q", WIDE, "-k", WIDE, "-v", WIDE), "queries at (2999, 7999): got nan"),
    ("float32", "nan", ("attend", "-q", "q.npy", "-k", "good.npz:x", "-v", WIDE), "values at (2999, 7999): got nan"),
    ("float32", "inf", ("attend", "-q", "q.npy", "-k", "k.npy", "-v", "k.npy", "--mask", WIDE), "mask at (2999, 7999): got inf"),
    ("int64", 2**60 + 1, ("attend", "-q", "q.npy", "-k", WIDE, "-v", WIDE), "got 1152921504606846977, an integer"),
    ("bool", 2, ("compare", WIDE, WIDE), "'x' in 'wide.npz' at (2999, 7999): got 2"),
    ("bool", 2, ("compare", "pair.npz", "pair.npz"), "'y' in 'pair.npz' at (2999, 7999): got 2"),
    ("int32", 2**24 + 1, ("run", "--ids", "0,1", "--embeddings", WIDE), "at (2999, 7999): got 16777217, an integer"),
    ("float32", "nan", ("run", WORDS, "--embeddings", WIDE), "at (2999, 7999): got nan"),
    ("float64", 1e300, ("run", WORDS, "--params", "layer.npz"), "'W_q' of 'layer.npz' at (2999, 7999): got 1e+300"),
])
def test_a_wrong_number_is_refused_before_a_large_array_takes_memory(tmp_path, type, last, command, message):
    array = numpy.zeros((3000, 8000), "uint8" if type == "bool" else type)
    array[-1, -1] = last
    array = array.view("bool") if type == "bool" else array
    zeros = numpy.zeros((3000, 8000), "float32")
    for name, arrays in {"wide": {"x": array}, "pair": {"x": zeros, "y": array}, "good": {"x": zeros},
                         "layer": {"W_k": zeros, "W_q": array, "W_v": zeros[:, :8]}}.items():
        if any(word.startswith(f"{name}.npz") for word in command):
            numpy.savez_compressed(tmp_path / f"{name}.npz", **arrays)
    mask = command[-2] == "--mask"
    numpy.save(tmp_path / "q.npy", numpy.ones((3000, 1) if mask else (3, 8000), "float32"))
    numpy.save(tmp_path / "k.npy", numpy.ones((8000, 1), "float32"))
    done, _, megabytes = measured(*command, cwd=tmp_path)
    assert_fails(done, 65, message)
    assert megabytes < 64 + 16, megabytes


LARGE = "-k", "large.npz", "-v", "large.npz"  # 96 MB of zeros, too
PACKED = "-q", "packed.npy", "-k", "packed.npz", "-v", "packed.npz"
BATCH = "-q", "batch.npy", "-k", "batch.npz", "-v", "batch.npz"


@pytest.fixture(scope="module")
def small_and_large(tmp_path_factory):
    path = tmp_path_factory.mktemp("small_and_large")
    q = numpy.ones((3, 8), "float32")
    nan = q.copy()
    nan[2, 7] = numpy.nan
    for name, array in {"q": q, "nan": nan, "inf": [numpy.inf], "packed": q[:, None], "ends": [0, 3], "falls": [0, 3_000_001],
                        "batch": numpy.ones((2, 1, 1, 100_000), "float32"), "long": [120, 121], "kept": [2]}.items():
        numpy.save(path / f"{name}.npy", array)
    for name, shape in {"large": (3_000_000, 8), "packed": (3_000_000, 1, 8), "batch": (2, 1, 120, 100_000), "damaged": (3, 8)}.items():
        numpy.savez_compressed(path / f"{name}.npz", x=numpy.zeros(shape, "float32"))
    damaged = bytearray((path / "damaged.npz").read_bytes())
    for at in (14, damaged.rindex(b"PK\1\2") + 16):
        damaged[at] ^= 1
    (path / "damaged.npz").write_bytes(damaged)
    return path


@limits_memory
@pytest.mark.parametrize("command, message", [
    (("-q", "nan.npy", *LARGE), "queries at (2, 7): got nan"),
    (("-q", "large.npz", "-k", "nan.npy", "-v", "q.npy"), "keys at (2, 7): got nan"),
    (("-q", "q.npy", *LARGE, "--sinks", "inf.npy"), "sinks at (0,): got inf"),
    (("-q", "q.npy", *LARGE, "--against", "damaged.npz"), "damaged, its CRC-32 is wrong"),
    ((*PACKED, "--cu-seqlens", "ends.npy", "--cu-seqlens-k", "falls.npy"), "cu_seqlens_k[1]: got 3000001"),
    ((*BATCH, "--lengths", "long.npy"), "lengths[1]: got 121; allowed: 0 to 120"),
    ((*BATCH, "--kept", "kept.npy", "--dropout", "0.5"), "kept: got 2"),
])
def test_what_is_wrong_in_a_small_file_is_said_before_a_large_array_takes_memory(small_and_large, command, message):
    done, _, megabytes = measured("attend", *command, cwd=small_and_large)
    assert_fails(done, 65, message)
    assert megabytes < 64 + 16, megabytes


GRADIENT = "--grad", "grad.npy", "--show", "dq,dk,dv"
THOUSAND = "--lines", "lines", "--vocab-size", "1000000", "--embed-dim", "16", "--threads", "8"


@limits_memory
@pytest.mark.parametrize("command, code, most", [
    (("run", "--ids", "0,1", "--embeddings", "table.npz"), 0, 64),
    (("run", *THOUSAND, "--embeddings", "table.npz"), 0, 64),
    (("attend", "-q", "rows.npy", "-k", "few.npy", "-v", "few.npy", "--against", "mine.npy"), 1, 190),
    (("attend", "-q", "four.npy", "-k", "long.npy", "-v", "nan.npy", "--allow-nonfinite"), 0, 190),
    (("attend", "-q", "grad.npy", "-k", "half.npy", "-v", "half.npy", *GRADIENT, "-o", "o.npz"), 0, 320),
], ids=["a table of bytes", "a table for lines", "against", "nan", "gradients"])
def test_what_is_accepted_takes_a_few_times_its_files(tmp_path, command, code, most):
    random = numpy.random.default_rng(3)
    nan = numpy.ones((100_000, 64), "float32")
    nan[-1, -1] = numpy.nan
    for name, array in {"rows": random.normal(size=(200_000, 16)).astype("float32"), "mine": numpy.ones((200_000, 16), "float32"),
                        "few": random.normal(size=(8, 16)).astype("float32"), "long": numpy.ones((100_000, 64), "float32"), "nan": nan,
                        "half": numpy.ones((97_656, 64), "float16"), "four": numpy.ones((4, 64), "float32"), "grad": numpy.ones((4, 64), "float16")}.items():
        numpy.save(tmp_path / f"{name}.npy", array)
    numpy.savez_compressed(tmp_path / "table.npz", x=numpy.zeros((1_000_000, 16), "uint8"))
    (tmp_path / "lines").write_text("a b c\n" * 1000)
    done, _, megabytes = measured(*command, cwd=tmp_path)
    assert done.code == code, done
    assert megabytes < most, megabytes


@limits_memory
@pytest.mark.parametrize("threads", [1, 8])
def test_long_lines_share_the_memory_of_a_group(tmp_path, threads):
    (tmp_path / "lines").write_text(("life is short eat " * 200 + "\n") * 40)
    with memory_group(80 << 20) as group:
        if group is None:
            pytest.skip("this user may make no memory group")
        options = ["--lines", "lines", "--threads", threads, "--show", "weights", "-o", "out.jsonl"]
        succeeds("run", *options, cwd=tmp_path, preexec_fn=lambda: (group / "cgroup.procs").write_text("0"))
    assert sum(1 for _ in open(tmp_path / "out.jsonl", "rb")) == 40


@pytest.fixture(scope="module")
def bomb(tmp_path_factory):
    """Half a megabyte that inflates to half a gigabyte: an .npz of zeros beside a layer."""
    path = tmp_path_factory.mktemp("bomb") / "bomb.npz"
    layer = {f"attn.{name}": numpy.eye(4, dtype="float32") for name in ("W_q", "W_k", "W_v")}
    numpy.savez_compressed(path, zeros=numpy.zeros((1 << 14, 1 << 13), "float32"), **layer)
    numpy.save(path.with_name("q.npy"), numpy.ones((3, 4), "float32"))
    numpy.savez(path.with_name("small.npz"), zeros=numpy.ones((3, 4), "float32"))
    path.with_name("words").write_text("a\nb\n")
    return path


@limits_memory
@pytest.mark.parametrize("a, b, lines", [
    ("bomb.npz:zeros", "q.npy", "MISMATCH  zeros  the shapes differ: (16384, 8192), (3, 4)\n"),
    ("small.npz", "bomb.npz", "MISMATCH  zeros     the shapes differ: (3, 4), (16384, 8192)\nMISMATCH  attn.W_q  only in B\n"),
], ids=["one", "all"])
def test_a_bomb_of_another_shape_is_not_inflated_to_be_compared(bomb, a, b, lines):
    done, _, megabytes = measured("compare", a, b, cwd=bomb.parent)
    assert (done.code, done.err) == (1, b"") and done.text.startswith(lines), done
    assert megabytes < 100  # 515


@limits_memory
@pytest.mark.parametrize("command, message", [
    (("attend", "-q", "q.npy", "-k", "q.npy", "-v", "q.npy", "--against", "bomb.npz:zeros"), "the shape (16384, 8192)"),
    (("run", "a b c", "--against", "bomb.npz:zeros"), "the shape (16384, 8192)"),
    (("run", "--ids", "0,1", "--embeddings", "bomb.npz:zeros", "--against", "q.npy"), "the shape (3, 4)"),
    (("run", "a b c", "--embeddings", "bomb.npz:zeros"), "16384 rows without a list of words"),
    (("attend", "-q", "q.npy", "-k", "q.npy", "-v", "q.npy", "--mask", "bomb.npz:zeros"), "the mask: got the shape (16384, 8192)"),
    (("attend", "-q", "q.npy", "-k", "bomb.npz:zeros", "-v", "q.npy"), "keys: got the shape (1, 1, 16384, 8192)"),
    (("attend", "-q", "q.npy", "-k", "q.npy", "-v", "q.npy", "--lengths", "bomb.npz:zeros"), "the lengths: got float32"),
    (("run", "a b c", "--mask", "bomb.npz:zeros"), "the mask: got the shape (16384, 8192)"),
    (("run", "a b c", "--params", "bomb.npz", "--embeddings", "bomb.npz:zeros", "--set", "parameters.layout=run"), "vectors of 8192 numbers"),
    (("plot", "bomb.npz:zeros", "--tokens", "words"), "--tokens"),
    (("run", "a b c", "--params", "bomb.npz", "--set", "parameters.layout=run", "--show", "weights"), ""),
], ids=["against", "against a run", "beside a table", "table", "mask", "keys", "lengths", "mask of a run", "vectors", "weights", "beside a layer"])
def test_a_bomb_is_refused_by_its_shape_before_it_is_inflated(bomb, command, message):
    done, _, megabytes = measured(*command, cwd=bomb.parent)
    if message:
        assert_fails(done, 65, message)
    else:
        assert (done.code, done.err) == (0, b""), done
    assert megabytes < 300


@pytest.mark.parametrize("place", ["mask", "parameters", "embeddings"])
@pytest.mark.parametrize("file", ["fifo", "/proc/kmsg", "/dev/zero"])
@pytest.mark.parametrize("command", ["check", "run --recipe", "explain --query 0 --recipe"])
def test_what_a_recipe_names_has_an_end(place, file, command, tmp_path):
    os.mkfifo(tmp_path / "fifo")
    if not os.access(tmp_path / file, os.R_OK):
        pytest.skip("not here")
    recipe = succeeds("recipe", "show", "raschka-2023").json
    recipe.pop("published")
    if place == "mask":
        recipe["attention"] = {"mask": {"file": file}}
    else:
        recipe[place] = {"file": file}
    if place == "parameters":
        recipe.update(draws=[], dims={"heads": 1})
    (tmp_path / "r.recipe.json").write_text(json.dumps(recipe))
    done = run(*command.split(), tmp_path / "r.recipe.json", stdin="")
    assert_fails(done, 65, "an empty file" if file == "/proc/kmsg" else "a FIFO or a device; allowed: a regular file")
