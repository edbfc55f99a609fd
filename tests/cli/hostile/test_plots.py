"""Weights and words made to be costly for `plot`: refused before they are read, and of rows that are chosen no others are kept.
What is refused takes no more memory than three times the file, or 64 MB; what is drawn three times the file and its numbers, and
64 MB."""

import os

import pytest
from program import assert_fails, limits_memory, measured
from tensors import numpy

SIDE = 10_000
FILE = SIDE * SIDE >> 20  # MiB, of booleans
BASE = 16  # MiB of the program itself


@pytest.fixture(scope="module")
def zeros(tmp_path_factory):
    """A hundred megabytes of booleans, which take no room on the disk, and which float32 makes four hundred."""
    path = tmp_path_factory.mktemp("plots") / "zeros.npy"
    with open(path, "wb") as file:
        numpy.lib.format.write_array_header_1_0(file, {"descr": "|b1", "fortran_order": False, "shape": (SIDE, SIDE)})
        size = file.tell() + SIDE * SIDE
    os.truncate(path, size)
    return path


@limits_memory
@pytest.mark.parametrize("output, message", [("x.svg", "got 100000000 cells (1, 10000, 10000)"), ("x.html", "got 10000 query words")])
def test_more_than_a_picture_holds_is_refused_before_it_is_read(zeros, output, message):
    done, _, megabytes = measured("plot", zeros, "-o", output, cwd=zeros.parent)
    assert_fails(done, 71, message)
    assert megabytes < 64 + BASE, megabytes  # 1,000


@limits_memory
def test_more_columns_than_a_picture_has_are_refused_before_they_are_read(tmp_path):
    numpy.save(tmp_path / "wide.npy", numpy.zeros((8, 750_000), "float32"))
    done, _, megabytes = measured("plot", "wide.npy", "-o", "x.svg", cwd=tmp_path)
    assert_fails(done, 71, "got 8 × 750000 cells; allowed: up to 8192 rows and as many columns; the strongest lines with --plot arcs")
    assert megabytes < 64 + BASE, megabytes  # 200


@limits_memory
@pytest.mark.parametrize("options", [("--query", "3"), ("--query", "3", "--head", "0")], ids=" ".join)
def test_one_row_of_many_is_read_alone(zeros, options):
    done, _, megabytes = measured("plot", zeros, *options, "--format", "table", cwd=zeros.parent)
    assert done.code == 0, done
    assert megabytes < FILE + 64 + BASE, megabytes  # 900


@limits_memory
def test_a_matrix_of_millions_of_rows_is_no_attention(tmp_path):
    numpy.save(tmp_path / "tall.npy", numpy.zeros((5_000_000, 2), "bool"))
    done, _, megabytes = measured("plot", "tall.npy", "-o", "x.svg", cwd=tmp_path)
    assert_fails(done, 65, "'tall.npy': got the shape (5000000, 2); allowed: up to 1048576 rows and as many columns")
    assert megabytes < 64 + BASE, megabytes  # 800


@limits_memory
@pytest.mark.parametrize("heads, options, message", [
    (52_000, ("--query", "1"), "got 52000 heads (52000, 1, 8)"),  # 96
    (57_363, (), "got 57363 heads (57363, 8, 8)"),  # 104
    (45_000, (), "got 45000 × 8 × 8 cells"),  # known when it is drawn
    (45_000, ("--plot", "arcs"), "got 45000 heads (45000, 8, 8)")], ids=str)
def test_a_picture_of_more_heads_than_fit_is_not_there_twice(tmp_path, heads, options, message):
    numpy.savez_compressed(tmp_path / "heads.npz", x=numpy.zeros((heads, 8, 8), "float32"))
    done, _, megabytes = measured("plot", "heads.npz:x", *options, "-o", "x.svg", cwd=tmp_path)
    assert_fails(done, 71, f"picture: {message}; allowed: what fits into 30 MB")
    assert megabytes < 64 + BASE, megabytes


@limits_memory
def test_one_head_that_does_not_fit_is_not_drawn_to_its_end(tmp_path):
    numpy.save(tmp_path / "large.npy", numpy.random.default_rng(0).random((2000, 2000), dtype="float32"))
    done, _, megabytes = measured("plot", "large.npy", "-o", "x.svg", cwd=tmp_path)
    assert_fails(done, 71, "picture: got 2000 × 2000 cells; allowed: what fits into 30 MB")
    assert megabytes < 64 + BASE, megabytes  # 96


@limits_memory
def test_words_beyond_the_rows_are_counted_and_not_kept(tmp_path):
    numpy.save(tmp_path / "w.npy", numpy.eye(2, dtype="float32"))
    (tmp_path / "words").write_bytes(b"w\n" * 10_000_000)
    done, _, megabytes = measured("plot", "w.npy", "--tokens", "words", "-o", "x.svg", cwd=tmp_path)
    assert_fails(done, 65, "'words': got 10000000 words; allowed: up to 1048576")
    assert megabytes < 64 + BASE, megabytes  # 500
