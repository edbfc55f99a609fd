"""What the tests of data/examples share: a copy of one, and its commands run with attn-cli on the PATH."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests/cli"))

from program import PROGRAM  # noqa: E402


def copied(name, folder):
    """The example, a file or a folder, below `folder`, where it may be changed."""
    source = ROOT / "data/examples" / name
    copy = shutil.copytree if source.is_dir() else shutil.copy
    return Path(copy(source, folder / name))


def plant(file, right, wrong):
    """A mistake in place of the only `right` of a file."""
    text = file.read_text(encoding="utf-8")
    assert text.count(right) == 1, (file, right)
    file.write_text(text.replace(right, wrong), encoding="utf-8")


def run(*command, cwd):
    """Exit code, and all that was printed."""
    environment = {**os.environ, "PATH": f"{Path(PROGRAM).parent}:{os.environ['PATH']}", "CMAKE_GENERATOR": "Ninja"}
    done = subprocess.run([str(word) for word in command], cwd=cwd, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=600, check=False)
    return done.returncode, done.stdout.decode()
