"""data/examples/torch: its tests pass, and a mistake in its backward pass fails them, with the gradients that it makes wrong."""

import sys

import pytest
from examples import ROOT, copied, plant, run

pytest.importorskip("torch")
PYTEST = [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider"]


@pytest.fixture(autouse=True)
def package(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src/python"))


def test_the_example_passes(tmp_path):
    code, said = run(*PYTEST, cwd=copied("torch", tmp_path))
    assert code == 0 and "6 passed" in said, said


@pytest.mark.parametrize(("right", "wrong", "differ"), [
    (" - delta[:, :, rows]", "", {"dq", "dk"}),
    ("unflatten(1, (-1, group)).sum(2)", "unflatten(1, (-1, group)).mean(2)", {"dk", "dv"}),
    ("dq[:, :, rows] = d_scores @ k_ * scale", "dq[:, :, rows] = d_scores @ k_", {"dq"}),
], ids=["delta", "group", "scale"])
def test_a_mistake_in_the_backward_pass_is_seen(tmp_path, right, wrong, differ):
    folder = copied("torch", tmp_path)
    plant(folder / "test_backward.py", right, wrong)
    code, said = run(*PYTEST, "-k", "backward and float32", cwd=folder)
    assert code == 1 and "1 failed" in said, said
    assert {name for name in ("dq", "dk", "dv") if f"differs from the {name}" in said} == differ, said


def test_a_mistake_in_the_forward_pass_is_named(tmp_path):
    folder = copied("torch", tmp_path)
    plant(folder / "test_backward.py", "> places", ">= places + 2")
    code, said = run(*PYTEST, "-k", "forward and float32", cwd=folder)
    assert code == 1 and 'mine is what "a causal mask that is off by one: a query sees the next key" gives' in said, said
