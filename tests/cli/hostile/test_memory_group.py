"""In a control group with a limit on memory."""

import contextlib

import numpy as np
import pytest
from memory_group import memory_group
from program import assert_fails, limits_memory, run, succeeds

MEGABYTE = 1 << 20


@contextlib.contextmanager
def entering(megabytes):
    """What a new process calls to be in a group of so many."""
    with memory_group(megabytes * MEGABYTE) as group:
        if group is None:
            pytest.skip("this user may make no memory group")
        yield lambda: (group / "cgroup.procs").write_text("0")


@limits_memory
def test_numbers_that_fit_only_without_the_program_are_not_inflated(tmp_path):
    np.savez_compressed(tmp_path / "squeezed.npz", x=np.zeros(13 * MEGABYTE, np.float32))
    np.savez(tmp_path / "stored.npz", x=np.zeros(13 * MEGABYTE, np.float32))

    with entering(54) as enter:
        files = tmp_path / "squeezed.npz", tmp_path / "stored.npz"
        done = run("compare", *files, preexec_fn=enter)

    assert_fails(done, 71, f"the numbers of the two files, inflated, need {52 * MEGABYTE} bytes and ")


@limits_memory
def test_what_the_system_keeps_of_files_that_were_read_is_free(tmp_path):
    file = tmp_path / "large"
    with open(file, "wb") as large:
        large.truncate(300 * MEGABYTE)

    with entering(400) as enter:

        def enter_and_read():
            enter()
            with open(file, "rb") as large:
                while large.read(MEGABYTE):
                    pass

        succeeds("run", "a b", "--vocab-size", "1000000", "--show", "tokens", preexec_fn=enter_and_read)


@limits_memory
def test_a_text_larger_than_memory_is_refused_unread(tmp_path):
    file = tmp_path / "large.json"
    with open(file, "wb") as large:
        large.write(b"{}")
        large.truncate(512 * MEGABYTE)

    with entering(260) as enter:
        done = run("check", file, preexec_fn=enter)

    assert_fails(done, 71, f"does not fit in memory: {512 * MEGABYTE} bytes")
