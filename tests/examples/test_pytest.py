"""data/examples/pytest: its tests pass, and where its kernel makes a mistake, the message of the test names it."""

import sys

import pytest
from examples import copied, plant, run

pytest.importorskip("numpy")
PYTEST = [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider"]


def test_the_example_passes(tmp_path):
    code, said = run(*PYTEST, cwd=copied("pytest", tmp_path))
    assert code == 0 and "10 passed" in said, said


def test_a_mistake_in_the_kernel_is_named(tmp_path):
    folder = copied("pytest", tmp_path)
    plant(folder / "test_kernel.py", "context = context * rescale", "context = context")
    code, said = run(*PYTEST, "-k", "right and prefill", cwd=folder)
    assert code == 1 and "1 failed" in said, said
    assert 'kernel.npy is what "an accumulator that is not rescaled when the maximum grows (tiles of 16)" gives' in said


def test_inputs_that_show_too_little_fail(tmp_path):
    folder = copied("pytest", tmp_path)
    plant(folder / "test_kernel.py", "random.standard_normal(shape, np.float32)", "np.ones(shape, np.float32)")
    code, said = run(*PYTEST, "-k", "inputs and keys", cwd=folder)
    assert code == 1 and "1 failed" in said, said
    assert "this test sees" in said and "no scale of the scores" in said
