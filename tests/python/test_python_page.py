"""The Python of the manual's page: what it shows is what happens."""

import doctest
import re
from pathlib import Path

import pytest

pytest.importorskip("numpy")
PAGE = (Path(__file__).parents[2] / "data/manual/python.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(>>>.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_each_block_prints_what_stands_below_it():
    assert len(BLOCKS) >= 4
    names = {}
    for number, block in enumerate(BLOCKS):
        test = doctest.DocTestParser().get_doctest(block, names, f"block {number}", None, None)
        said = []
        failed, tried = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=said.append, clear_globs=False)
        assert tried and not failed, "".join(said)
        names = test.globs
