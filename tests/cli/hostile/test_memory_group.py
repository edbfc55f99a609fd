"""In a control group with a limit on memory."""

import os
from pathlib import Path

import pytest
from program import limits_memory, succeeds

MEGABYTE = 1 << 20


def group_above():
    """The folder of this process's own group, and the name of the file with its limit."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers in ("", "memory"):
            mount = Path("/sys/fs/cgroup") / controllers
            folder = mount / path.lstrip("/")
            limit = "memory.limit_in_bytes" if controllers else "memory.max"
            if (folder / "cgroup.procs").exists() and (controllers or "memory" in (folder / "cgroup.subtree_control").read_text()):
                yield folder, limit


@pytest.fixture
def memory_group():
    """Makes a group with so many bytes; gives what a process calls to enter it."""
    made = []

    def make(most):
        for parent, limit in group_above():
            group = parent / f"attn-cli-test-{os.getpid()}"
            try:
                group.mkdir()
                made.append(group)
                (group / limit).write_text(str(most))
                return lambda: (group / "cgroup.procs").write_text(str(os.getpid()))
            except OSError:
                continue
        return pytest.skip("this user may make no memory group")

    yield make
    for group in made:
        group.rmdir()


@limits_memory
def test_what_the_system_keeps_of_files_that_were_read_is_free(memory_group, tmp_path):
    enter = memory_group(400 * MEGABYTE)
    file = tmp_path / "large"
    with open(file, "wb") as large:
        large.truncate(300 * MEGABYTE)

    def enter_and_read():
        enter()
        with open(file, "rb") as large:
            while large.read(MEGABYTE):
                pass

    succeeds("run", "a b", "--vocab-size", "1000000", "--show", "tokens", preexec_fn=enter_and_read)
