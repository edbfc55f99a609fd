"""data/examples/cpp: configured, built and tested as its CMakeLists.txt says, and once more with a mistake in its kernel."""

import re
import shutil

import pytest
from examples import copied, plant, run

pytestmark = pytest.mark.skipif(shutil.which("cmake") is None or shutil.which("ninja") is None, reason="cmake or ninja is not installed")
CASES = ["prefill", "chunk", "token"]
GOLDEN = [f'Cases/Golden.TheKernelGivesTheSame/"{case}.bin"' for case in CASES]
BACKWARD = ["GoldenGradients.TheBackwardKernelGivesTheSame", "backward/verdict"]


def built(folder):
    for command in (["cmake", "-B", "build"], ["cmake", "--build", "build"]):
        code, said = run(*command, cwd=folder)
        assert code == 0, said


def ctest(folder):
    """What became of each test, by ctest's words; and what was printed."""
    code, said = run("ctest", "--test-dir", "build", "--output-on-failure", "--no-tests=error", cwd=folder)
    results = dict(re.findall(r"^ *\d+/\d+ Test +#\d+: (\S+) [.* ]*(Passed|Failed|Not Run)", said, re.MULTILINE))
    assert (code == 0) == (set(results.values()) == {"Passed"}), said
    return results, said


def test_the_example_passes_and_a_mistake_in_its_kernel_is_named(tmp_path):
    folder = copied("cpp", tmp_path)
    built(folder)
    results, said = ctest(folder)
    of_cases = [f"{case}/{test}" for case in CASES for test in ("kernel", "verdict", "inputs")]
    assert results == dict.fromkeys([*GOLDEN, *of_cases, *BACKWARD, "backward/kernel", "backward/inputs"], "Passed"), said

    plant(folder / "kernel.cpp", "return S - T + row % T + 1;", "return row % T + 1;")
    built(folder)
    results, said = ctest(folder)
    failed = {name for name, result in results.items() if result == "Failed"}
    # As many queries as keys, and a mask is the same whichever corner it begins in.
    assert failed == {*GOLDEN[1:], *(f"{case}/verdict" for case in CASES[1:]), *BACKWARD}, said
    assert said.count('is what "causal mask aligned top-left" gives') == 2 + 3, said  # of dq, dk and dv, too
