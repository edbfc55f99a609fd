"""data/examples/cases.sh: a verdict on each case of a folder, and the worst exit code."""

import pytest
from examples import copied, run

numpy = pytest.importorskip("numpy")
OPTIONS = {"full": "", "causal": "--causal --causal-align bottom-right", "window": "--window 3,0 --causal-align bottom-right"}


@pytest.fixture
def folder(tmp_path):
    script = copied("cases.sh", tmp_path)
    random = numpy.random.default_rng(0)
    for case, options in OPTIONS.items():
        (tmp_path / "cases" / case).mkdir(parents=True)
        for name, count in (("q", 5), ("k", 9), ("v", 9)):
            numpy.save(tmp_path / f"cases/{case}/{name}.npy", random.standard_normal((2, count, 8), numpy.float32))
        (tmp_path / f"cases/{case}/options").write_text(f"-q q.npy -k k.npy -v v.npy {options}\n")
        kernel(tmp_path, case, options)
    assert script.stat().st_mode & 0o100
    return tmp_path


def kernel(folder, case, options):
    code, said = run("attn-cli", "attend", "-q", "q.npy", "-k", "k.npy", "-v", "v.npy", *options.split(), "-o", "kernel.npy",
                     cwd=folder / "cases" / case)
    assert code == 0, said


def judged(folder):
    code, said = run("./cases.sh", "cases", cwd=folder)
    return code, dict(part.split("\n", 1) for part in said.split("== ")[1:])


def test_all_agree(folder):
    code, said = judged(folder)
    assert (code, list(said)) == (0, ["cases/causal/", "cases/full/", "cases/window/"])
    assert all("kernel.npy agrees" in verdict for verdict in said.values())


def test_one_differs_and_the_others_are_judged_all_the_same(folder):
    kernel(folder, "causal", "--causal --causal-align top-left")
    code, said = judged(folder)
    assert code == 1 and 'is what "causal mask aligned top-left" gives' in said["cases/causal/"]
    assert "agrees" in said["cases/full/"] and "agrees" in said["cases/window/"]


def test_a_result_that_is_not_there_is_no_agreement(folder):
    (folder / "cases/full/kernel.npy").unlink()
    (folder / "cases/window/options").unlink()
    code, said = judged(folder)
    assert code == 66 and "kernel.npy" in said["cases/full/"] and "agrees" not in said["cases/window/"]
    assert "agrees" in said["cases/causal/"]


def test_a_folder_without_cases_is_no_agreement(folder):
    assert run("./cases.sh", "empty", cwd=folder)[0] != 0
