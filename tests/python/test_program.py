"""How the program is found and called, and what becomes of its exit code; what importing the package brings along."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import attn_cli
import pytest
from program import PROGRAM

SOURCES = Path(attn_cli.__file__).parents[1]


def script(path, text):
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def python(text, **environment):
    done = subprocess.run([sys.executable, "-B", "-c", text], env={**os.environ, "PYTHONPATH": str(SOURCES), **environment}, capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_variable_comes_first_then_what_is_installed_then_the_path(monkeypatch, tmp_path):
    assert attn_cli.program_path() == PROGRAM
    installed, by_target, on_path = (script(tmp_path / name / "attn-cli", "") for name in ("scripts", "bin", "path"))
    monkeypatch.setattr(sysconfig, "get_path", lambda *_: str(tmp_path / "scripts"))
    monkeypatch.setattr(attn_cli.program, "__file__", str(tmp_path / "attn_cli/program.py"))
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    assert attn_cli.program_path() == PROGRAM
    monkeypatch.delenv("ATTN_CLI")
    assert attn_cli.program_path() == installed
    os.unlink(installed)
    assert attn_cli.program_path() == by_target
    os.unlink(by_target)
    assert attn_cli.program_path() == on_path
    os.unlink(on_path)
    with pytest.raises(attn_cli.NoInput, match="attn-cli was not found"):
        attn_cli.program_path()


def test_call_runs_any_command():
    assert '"name": "raschka-2023"' in attn_cli.call("recipe", "raschka-2023")
    assert attn_cli.call("check", "raschka-2023").splitlines()[-1] == "raschka-2023: passed"
    with pytest.raises(attn_cli.UsageError) as raised:
        attn_cli.call("rnu")
    assert raised.value.code == 2 and str(raised.value).startswith("unknown command 'rnu'")


def test_a_difference_is_what_was_printed(tmp_path):
    (tmp_path / "a.txt").write_text("1.5 2.5\n")
    (tmp_path / "b.txt").write_text("1.5 2.75\n")
    with pytest.raises(AssertionError, match="MISMATCH .* 1 of 2") as raised:
        attn_cli.call("compare", tmp_path / "a.txt", tmp_path / "b.txt")
    assert isinstance(raised.value, attn_cli.Difference)


@pytest.mark.parametrize(("code", "kind", "also"), [
    (1, attn_cli.Difference, AssertionError), (2, attn_cli.UsageError, ValueError), (65, attn_cli.BadData, ValueError),
    (66, attn_cli.NoInput, FileNotFoundError), (70, attn_cli.Failure, Exception), (71, attn_cli.TooLarge, MemoryError),
    (73, attn_cli.Failure, Exception), (74, attn_cli.Failure, Exception), (130, attn_cli.Failure, Exception),
])
def test_each_exit_code_has_its_exception(monkeypatch, tmp_path, code, kind, also):
    monkeypatch.setenv("ATTN_CLI", script(tmp_path / "it" / "attn-cli", f"echo 'attn-cli: error: all: wrong' >&2; exit {code}"))
    with pytest.raises(kind) as raised:
        attn_cli.call("run")
    assert (raised.type, raised.value.code, str(raised.value)) == (kind, code, "all: wrong") and isinstance(raised.value, also)


def test_a_signal_is_a_failure_and_what_is_no_message_goes_through(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("ATTN_CLI", script(tmp_path / "it" / "attn-cli", "echo 'attn-cli: debug: a line' >&2; kill -9 $$"))
    with pytest.raises(attn_cli.Failure, match="attn-cli ended with -9"):
        attn_cli.call("run")
    assert capsys.readouterr().err == "attn-cli: debug: a line\n"


def test_numpy_and_torch_are_imported_by_who_needs_them():
    text = "import attn_cli, sys; tokens = attn_cli.run('a b', show='tokens').tokens; print(tokens, {'numpy', 'torch'} & set(sys.modules))"
    assert python(text) == "['a', 'b'] set()\n"
    pytest.importorskip("numpy")
    assert python("import attn_cli, sys; print(attn_cli.attention([[1.0]], [[1.0]], [[2.0]]).context, 'torch' in sys.modules)") == "[[2.]] False\n"


def test_the_package_is_small_and_says_that_it_is_typed():
    files = [path for path in (SOURCES / "attn_cli").iterdir() if path.suffix == ".py"]
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files) <= 400
    assert (SOURCES / "attn_cli/py.typed").is_file()
