"""In a control group with a limit on memory."""

import pytest
from memory_group import memory_group
from program import limits_memory, succeeds

MEGABYTE = 1 << 20


@limits_memory
def test_what_the_system_keeps_of_files_that_were_read_is_free(tmp_path):
    file = tmp_path / "large"
    with open(file, "wb") as large:
        large.truncate(300 * MEGABYTE)

    with memory_group(400 * MEGABYTE) as group:
        if group is None:
            pytest.skip("this user may make no memory group")

        def enter_and_read():
            (group / "cgroup.procs").write_text("0")
            with open(file, "rb") as large:
                while large.read(MEGABYTE):
                    pass

        succeeds("run", "a b", "--vocab-size", "1000000", "--show", "tokens", preexec_fn=enter_and_read)
