"""Files that hold tensors: how they are named, read and written, and what happens when they are not what they should be."""

import os
import signal
import subprocess
import time
import zipfile
from contextlib import suppress

import pytest
from program import PROGRAM, SANITIZED, assert_fails, limits_memory, run, shell, within
from tensors import attention, close, load_safetensors, normal, numpy, save_safetensors

T, S, D = 4, 6, 8


@pytest.fixture
def folder(tmp_path):
    for name, length, seed in (("q", T, 1), ("k", S, 2), ("v", S, 3)):
        numpy.save(tmp_path / f"{name}.npy", normal(seed, length, D))
    return tmp_path


def tensors(folder):
    return {name: numpy.load(folder / f"{name}.npy") for name in "qkv"}


def expected(folder):
    return attention(*(x[None, None] for x in tensors(folder).values()))[1][0, 0]


def attend(folder, q="q.npy", k="k.npy", v="v.npy", *options, **settings):
    return run("attend", "-q", q, "-k", k, "-v", v, *options, cwd=folder, **settings)


def context(done):
    assert (done.code, done.err) == (0, b""), done
    return numpy.array(done.json["data"])


# ---- names -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("save", [numpy.savez, numpy.savez_compressed])
def test_tensors_of_an_archive_are_named_after_a_colon(folder, save):
    save(folder / "t.npz", **tensors(folder))
    close(context(attend(folder, "t.npz:q", "t.npz:k", "t.npz:v")), expected(folder))


def test_tensors_of_safetensors_are_named_after_a_colon(folder):
    save_safetensors(folder / "t.safetensors", tensors(folder))
    close(context(attend(folder, *(f"t.safetensors:{name}" for name in "qkv"))), expected(folder))


def test_a_file_with_one_tensor_needs_no_name(folder):
    numpy.savez(folder / "q.npz", only=tensors(folder)["q"])
    save_safetensors(folder / "k.safetensors", {"only": tensors(folder)["k"]})
    close(context(attend(folder, "q.npz", "k.safetensors")), expected(folder))


def test_paths_and_names_may_hold_colons(folder):
    numpy.save(folder / "q:1.npy", tensors(folder)["q"])
    numpy.savez(folder / "k:1.npz", **{"scope/keys:0": tensors(folder)["k"], "other": tensors(folder)["v"]})
    close(context(attend(folder, "q:1.npy", "k:1.npz:scope/keys:0", "k:1.npz:other")), expected(folder))


def test_a_tensor_of_another_type_harms_only_those_who_ask_for_it(folder):
    mixed = {**tensors(folder), "ids": numpy.ones(3, "int32")}
    numpy.savez(folder / "t.npz", **mixed)
    save_safetensors(folder / "t.safetensors", mixed)
    for name, code in (("t.npz", "<i4"), ("t.safetensors", "I32")):
        close(context(attend(folder, f"{name}:q", f"{name}:k", f"{name}:v")), expected(folder))
        assert_fails(attend(folder, f"{name}:ids"), 65)


# ---- where bytes come from -------------------------------------------------------------------------------------------


def test_standard_input_is_read_once_for_all_tensors(folder):
    numpy.savez_compressed(folder / "t.npz", **tensors(folder))
    with open(folder / "t.npz", "rb") as file:
        close(context(attend(folder, "-:q", "-:k", "-:v", stdin=file.fileno())), expected(folder))
    close(context(shell(f'cd {folder}; cat t.npz | "$A" attend -q -:q -k -:k -v -:v')), expected(folder))


def test_pipes_and_fifos_are_read_to_their_end(folder):
    done = shell(f'cd {folder}; "$A" attend -q <(cat q.npy) -k <(cat k.npy; sleep 0.1) -v v.npy')
    close(context(done), expected(folder))
    numpy.save(folder / "large.npy", normal(5, 100_000, D))
    done = shell(f'cd {folder}; "$A" attend -q large.npy -k k.npy -v v.npy --format npy > a; "$A" attend -q <(cat large.npy) -k k.npy -v v.npy --format npy > b; cmp a b')
    assert (done.code, done.err) == (0, b"")


def test_standard_input_in_the_middle_of_a_file_is_read_from_there(folder):
    (folder / "shifted").write_bytes(b"header\n" + (folder / "q.npy").read_bytes())
    close(context(shell(f'cd {folder}; {{ read -r line; "$A" attend -q - -k k.npy -v v.npy; }} < shifted')), expected(folder))


@limits_memory
def test_an_endless_input_is_noticed_at_its_front(folder):
    assert_fails(attend(folder, "/dev/zero", preexec_fn=within(1000)), 65)


@limits_memory
def test_a_pipe_that_does_not_fit_in_memory_is_refused_in_one_line(folder):
    done = shell(f"cd {folder}; ulimit -v 400000; {{ cat q.npy; head -c 2000000000 /dev/zero; }} | \"$A\" attend -q - -k k.npy -v v.npy --threads 1")
    assert_fails(done, 71, "standard input", "memory")


@pytest.mark.parametrize("name", ["empty", "empty.npy", "empty.npz", "empty.safetensors"])
def test_an_empty_file_is_bad_data(folder, name):
    (folder / name).write_bytes(b"")
    assert_fails(attend(folder, name), 65)


@pytest.mark.parametrize("bytes_kept", [1, 5, 9, 60, 127, 130, -1])
def test_a_cut_file_is_bad_data(folder, bytes_kept):
    numpy.savez(folder / "t.npz", a=tensors(folder)["q"])
    save_safetensors(folder / "t.safetensors", {"a": tensors(folder)["q"]})
    for name in ("q.npy", "t.npz", "t.safetensors"):
        content = (folder / name).read_bytes()
        (folder / f"cut-{name}").write_bytes(content[:bytes_kept])
        assert_fails(attend(folder, f"cut-{name}"), 65)


@limits_memory
def test_a_small_file_that_asks_for_much_is_refused_before_it_gets_any(folder):
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1073741824,), }".ljust(117) + "\n"
    (folder / "bomb.npy").write_bytes(b"\x93NUMPY\x01\0" + len(header).to_bytes(2, "little") + header.encode())
    assert_fails(attend(folder, "bomb.npy", preexec_fn=within(300)), 65)
    with zipfile.ZipFile(folder / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open("a.npy", "w", force_zip64=True) as member:
            member.write((folder / "q.npy").read_bytes()[:128])
            for _ in range(400):
                member.write(bytes(1 << 20))
    assert_fails(attend(folder, "bomb.npz", preexec_fn=within(300)), 65)


def large_case(folder):
    """Work of some seconds, by the portable path."""
    tokens = 1024 if SANITIZED else 2048
    for seed, name in enumerate("qkv"):
        numpy.save(folder / f"{name}.npy", normal(seed, 8, tokens, 64))


def test_a_file_that_shrinks_while_it_is_read_is_an_io_error(folder):
    large_case(folder)
    command = [PROGRAM, "attend", "-q", "q.npy", "-k", "k.npy", "-v", "v.npy", "--threads", "1", "--isa", "portable", "-o", "y.npy"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while not list(folder.glob(".attn-cli-*")):
            time.sleep(0.001)
        time.sleep(0.1)
        os.truncate(folder / "v.npy", 4096)
        out, err = process.communicate(timeout=100)
    assert (process.returncode, out) == (74, b""), err
    assert err.decode() in (
        "attn-cli: error: an input file became shorter while it was read, or cannot be read\n",
        "attn-cli: error: 'v.npy' changed while it was read\n",
    )
    assert not (folder / "y.npy").exists() and not list(folder.glob(".attn-cli-*"))


def test_a_file_that_shrinks_under_several_threads_is_one_error(folder):
    large_case(folder)
    whole = (folder / "v.npy").read_bytes()
    command = [PROGRAM, "attend", "-q", "q.npy", "-k", "k.npy", "-v", "v.npy", "--threads", "4", "--isa", "portable", "-o", "y.npy"]
    for _ in range(6):
        (folder / "v.npy").write_bytes(whole)
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        with suppress(BlockingIOError):
            while True:
                os.write(writer, bytes(4096))  # a full pipe keeps the first thread in its handler until the others come to theirs
        os.set_blocking(writer, True)
        with subprocess.Popen(command, cwd=folder, stderr=writer) as process:
            os.close(writer)
            while not list(folder.glob(".attn-cli-*")):
                time.sleep(0.001)
            time.sleep(0.02)
            os.truncate(folder / "v.npy", 4096)
            time.sleep(0.1)
            with open(reader, "rb") as errors:
                lines = errors.read().replace(b"\0", b"").splitlines()
            assert (process.wait(100), len(lines)) == (74, 1), lines
    assert not list(folder.glob(".attn-cli-*"))


def test_a_file_that_is_written_to_while_it_is_read_is_an_io_error(folder):
    large_case(folder)
    command = [PROGRAM, "attend", "-q", "q.npy", "-k", "k.npy", "-v", "v.npy", "--threads", "1", "--isa", "portable", "-o", "y.npy"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while not list(folder.glob(".attn-cli-*")):
            time.sleep(0.001)
        time.sleep(0.1)
        with open(folder / "v.npy", "r+b") as file:
            file.seek(200)
            file.write(bytes(8))
        out, err = process.communicate(timeout=100)
    assert (process.returncode, out, err) == (74, b"", b"attn-cli: error: 'v.npy' changed while it was read\n")
    assert not (folder / "y.npy").exists()


# ---- where bytes go --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["npy", "npz", "safetensors", "json"])
def test_a_file_holds_what_stdout_would(folder, format):
    to_file = attend(folder, "q.npy", "k.npy", "v.npy", "-o", f"y.{format}")
    assert (to_file.code, to_file.out, to_file.err) == (0, b"", b"")
    to_stdout = attend(folder, "q.npy", "k.npy", "v.npy", "--format", format)
    assert (folder / f"y.{format}").read_bytes() == to_stdout.out


def test_numpy_reads_what_was_written(folder):
    for ending in ("npy", "npz", "safetensors"):
        assert attend(folder, "q.npy", "k.npy", "v.npy", "-o", f"y.{ending}").code == 0
    y = numpy.load(folder / "y.npy", allow_pickle=False)
    close(y, expected(folder))
    with numpy.load(folder / "y.npz", allow_pickle=False) as archive:
        assert archive.files == ["context"] and numpy.array_equal(archive["context"], y)
    arrays, _ = load_safetensors(folder / "y.safetensors")
    assert list(arrays) == ["context"] and numpy.array_equal(arrays["context"], y)


def test_a_terminal_gets_no_binary(folder):
    done = shell(f"cd {folder}; script -qec '\"$A\" attend -q q.npy -k k.npy -v v.npy --format npy' /dev/null < /dev/null; echo $?")
    assert "standard output is a terminal" in done.text
    done = shell(f"cd {folder}; script -qec '\"$A\" attend -q q.npy -k k.npy -v v.npy' /dev/null < /dev/null")
    assert done.text.startswith("context (4, 8)")


def test_outputs_that_cannot_be_made_are_noticed_before_the_inputs_are_read(folder):
    assert_fails(attend(folder, "none.npy", "k.npy", "v.npy", "-o", "none/y.npy"), 73)
    assert_fails(attend(folder, "none.npy", "k.npy", "v.npy", "-o", "."), 73)


@pytest.mark.parametrize("format", ["npy", "npz", "safetensors", "json"])
def test_a_full_disk_is_an_io_error(folder, format):
    with open("/dev/full", "wb") as full:
        done = attend(folder, "q.npy", "k.npy", "v.npy", "--format", format, stdout=full)
    assert (done.code, done.message.count("\n")) == (74, 1)
    assert_fails(attend(folder, "q.npy", "k.npy", "v.npy", "--format", format, "-o", "/dev/full"), 74)


def test_a_reader_that_leaves_is_no_error(folder):
    large = normal(9, 300_000, D)
    numpy.save(folder / "large.npy", large)
    for format in ("npy", "json"):
        done = shell(f'cd {folder}; set -o pipefail; "$A" attend -q large.npy -k k.npy -v v.npy --format {format} | head -c 5 | wc -c')
        assert (done.code, done.text.strip(), done.err) == (0, "5", b"")


def test_an_interrupt_leaves_no_file(folder):
    large_case(folder)
    command = [PROGRAM, "attend", "-q", "q.npy", "-k", "k.npy", "-v", "v.npy", "--threads", "1", "--isa", "portable", "-o", "y.npy"]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE) as process:
        while not list(folder.glob(".attn-cli-*")):
            time.sleep(0.001)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
    assert not (folder / "y.npy").exists() and not list(folder.glob(".attn-cli-*"))


@limits_memory
def test_little_memory_is_said_in_one_line(folder):
    large_case(folder)
    done = attend(folder, "q.npy", "k.npy", "v.npy", "--show", "weights", "--threads", "1", "-o", "w.npy", preexec_fn=within(120))
    assert_fails(done, 71, "bytes")
