"""Control groups with a limit on memory, of version 1 or 2, below the group of this process."""

import contextlib
import os
from pathlib import Path


def groups_above():
    """The folders of this process's own groups, and the name of the file with the limit on memory in each."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers in ("", "memory"):
            mount = Path("/sys/fs/cgroup") / controllers
            folder = mount / path.lstrip("/")
            limit = "memory.limit_in_bytes" if controllers else "memory.max"
            if (folder / "cgroup.procs").exists() and (controllers or "memory" in (folder / "cgroup.subtree_control").read_text()):
                yield folder, limit


@contextlib.contextmanager
def memory_group(most):
    """A group with so many bytes, as its folder; nothing where this user may make none. Whoever writes 0 into its cgroup.procs is in."""
    for parent, limit in groups_above():
        group = parent / f"attn-cli-test-{os.getpid()}"
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            (group / limit).write_text(str(most))
        except OSError:
            group.rmdir()
            continue
        try:
            yield group
        finally:
            group.rmdir()
        return
    yield None
