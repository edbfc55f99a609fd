"""The Python package, run from its sources or from the folder ATTN_PACKAGE, over the program that ATTN_CLI names."""

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path[:0] = [os.path.abspath(os.environ.get("ATTN_PACKAGE", ROOT / "src/python")), str(ROOT / "tests/cli")]

from program import PROGRAM  # noqa: E402

os.environ["ATTN_CLI"] = PROGRAM  # its absolute path


@pytest.fixture
def folders(monkeypatch):
    """The folders that calls of a test made."""
    import tempfile

    made = []
    make = tempfile.mkdtemp
    monkeypatch.setattr(tempfile, "mkdtemp", lambda *args, **named: made.append(make(*args, **named)) or made[-1])
    return made
