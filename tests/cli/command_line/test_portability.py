"""The same bytes from every processor and for any number of threads.

Debian's qemu-user runs the program as an old processor would: a Nehalem of 2008 has neither AVX nor FMA, so the C library picks
other variants of its functions than on the machine itself.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

PROGRAM = os.environ["ATTN_CLI"]
OLD_PROCESSOR = ["qemu-x86_64", "-cpu", "Nehalem"]
DATA = Path(__file__).parents[3] / "data"
RECIPES = sorted(path.stem for path in (DATA / "recipes").glob("*.json"))
TOKENS = [5, 15, 17, 400]
EVERYTHING = ["--show", "all"]
TRAINED = DATA / "tensors" / "previous_word.safetensors"
LARGE = ["--show", "weights,context,entropy"]  # the other stages of 400 tokens would only add megabytes


def sentence(tokens):
    return " ".join(f"word{i % (tokens - 1)}" for i in range(tokens))  # one word repeats


def output(arguments, processor=()):
    result = subprocess.run(
        [*processor, PROGRAM, *arguments], capture_output=True, stdin=subprocess.DEVNULL, timeout=300, check=False
    )
    assert result.returncode == 0, result.stderr.decode()
    assert result.stdout
    return result.stdout


def assert_same(one, other):
    """A readable failure: the place, not a megabyte of JSON."""
    if one != other:
        place = next((i for i, (a, b) in enumerate(zip(one, other)) if a != b), min(len(one), len(other)))
        pytest.fail(f"differs at byte {place}: {one[max(0, place - 60):place + 30]!r} and {other[max(0, place - 60):place + 30]!r}")


def runs():
    for dtype in ("float32", "float64"):
        for tokens in TOKENS:
            for extra in ([], ["--softcap", "2.5"]):
                show = LARGE if tokens == 400 else EVERYTHING
                name = f"{dtype}-{tokens}{'-softcap' if extra else ''}"
                yield pytest.param(["run", sentence(tokens), "--json", "--dtype", dtype, *extra, *show], id=name)
    heads = ["run", sentence(17), "--heads", "4", "--kv-heads", "2", "--causal", "--verify", "--json", *EVERYTHING]
    for init in ("uniform", "normal", "linear", "xavier", "xavier_normal", "kaiming_uniform", "kaiming_normal", "identity"):
        for generator in ("torch", "numpy", "numpy-pcg64"):
            yield pytest.param([*heads, "--init", init, "--generator", generator], id=f"{init}-{generator}")
    for recipe in RECIPES:
        yield pytest.param(["run", "--recipe", recipe, "--json", *EVERYTHING], id=recipe)
        yield pytest.param(["run", "--recipe", recipe, "--dtype", "float64", "--json", *EVERYTHING], id=f"{recipe}-float64")
    for positions in (["sinusoidal"], ["rope"], ["rope:style=interleaved,dim=2"], ["alibi"]):
        for dtype in ("float32", "float64"):
            extra = ["--positions", *positions, "--dtype", dtype, "--heads", "6", "--embed-dim", "24"]
            yield pytest.param(["run", sentence(120), "--json", *extra, *EVERYTHING], id="-".join([*positions, dtype]))
    ids = ["--ids", ",".join(str(i * i % 6) for i in range(200)), "--params", TRAINED, "--heads", "4", "--causal", "--json"]
    for positions in ("none", "sinusoidal", "rope", "alibi"):
        yield pytest.param(["run", *ids, "--vocab-size", "6", "--positions", positions, "--verify", *EVERYTHING], id=f"trained-{positions}")
    for dtype in ("bfloat16", "float32", "float64"):
        gradients = ["attend", "--random", "2,4/2,90/131,27/21", "--dtype", dtype, "--causal", "--causal-align", "bottom-right", "--softcap", "2.5"]
        yield pytest.param([*gradients, "--grad-random", "--json", *EVERYTHING], id=f"gradients-{dtype}")
    yield pytest.param(["run", sentence(17), *EVERYTHING], id="table")
    yield pytest.param(["run", sentence(17), "--format", "csv", *EVERYTHING], id="csv")


def test_every_builtin_recipe_is_among_the_runs():
    names = {line.split()[0] for line in output(["recipe", "list"]).decode().splitlines()}
    assert set(RECIPES) == names


def test_the_old_processor_is_there_and_is_old():
    assert shutil.which(OLD_PROCESSOR[0]), "install qemu-user, as the test command of README.md does"
    result = subprocess.run(
        [*OLD_PROCESSOR, "/lib64/ld-linux-x86-64.so.2", "--help"], capture_output=True, text=True, check=True
    )
    assert "x86-64-v2 (supported" in result.stdout
    assert "x86-64-v3 (supported" not in result.stdout  # v3 is AVX2 and FMA


@pytest.mark.parametrize("arguments", runs())
def test_an_old_processor_gives_the_same_bytes(arguments):
    assert_same(output(arguments), output(arguments, OLD_PROCESSOR))


@pytest.mark.parametrize("arguments", runs())
def test_two_threads_give_the_same_bytes(arguments):
    assert_same(output([*arguments, "--threads", "1"]), output([*arguments, "--threads", "2"]))
