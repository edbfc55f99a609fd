"""The program: where it is, how it is called, and what becomes of its exit code."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import warnings
from types import SimpleNamespace
from typing import Any

__tracebackhide__ = True  # pytest shows the line that called, and what the program says

class Failure(Exception):
    """The program ended with another `code` than 0, one of those below, or as its manual has them; the message is what it says."""

    code = 70


class Difference(Failure, AssertionError): code = 1  # what was compared differs
class UsageError(Failure, ValueError): code = 2  # an option or its value
class BadData(Failure, ValueError): code = 65  # an array, a file or a text; shapes that do not fit
class NoInput(Failure, FileNotFoundError): code = 66  # a file that is not there
class TooLarge(Failure, MemoryError): code = 71  # it would not fit into memory, or into a picture


NOT_HERE = {"against", "blind_spots", "format", "json", "lines", "o"}  # what decides what the program writes


class Result(SimpleNamespace):
    """What was computed, each array and list by its name; vars() has them all."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{name} was not computed, only {', '.join(key for key in vars(self) if key[0] != '_')}")


def program_path() -> str:
    """The program: that of the environment variable ATTN_CLI, else what was installed with this package, else that of the PATH."""
    target = os.path.join(os.path.dirname(os.path.dirname(__file__)), "bin")  # of pip install --target
    scripts = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", f"{os.name}_user"), target]
    found = os.environ.get("ATTN_CLI") or shutil.which("attn-cli", path=os.pathsep.join(scripts)) or shutil.which("attn-cli")
    if found is None:
        raise NoInput("attn-cli was not found, neither beside this package nor on the PATH; the environment variable ATTN_CLI may name it")
    return found


def call(*arguments: Any, renamed: dict[str, str] | None = None) -> str:
    """What the program prints for these arguments, as typed in a shell: call("check", "--all").
    A warning becomes one of Python, an exit code other than 0 an exception. Of the names of files in what the program says, those in
    `renamed` are replaced by what the caller knows."""
    done = subprocess.run([program_path(), *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", check=False)
    out, said = done.stdout, done.stderr
    for name, known in (renamed or {}).items():
        out, said = out.replace(name, known), said.replace(name, known)
    message = out.strip() if done.returncode == 1 else f"attn-cli ended with {done.returncode}"
    for line in said.splitlines():
        kind, _, text = line.removeprefix("attn-cli: ").partition(": ")
        if kind == "warning":
            warnings.warn(text, stacklevel=4)  # of who called attention() or the like
        elif kind == "error":
            message = text
        else:
            print(line, file=sys.stderr)
    if done.returncode != 0:
        failure = next((each for each in Failure.__subclasses__() if each.code == done.returncode), Failure)(message)
        failure.code = done.returncode
        raise failure
    return out


def words(options: dict[str, Any]) -> list[str]:
    """{"heads": 4, "causal": True, "window": (16, 0)} as typed: --heads 4 --causal --window 16,0. None and False are not given, but
    for options that can be taken back."""
    given = []
    for name, value in options.items():
        if name in NOT_HERE:
            raise UsageError(f"{name}: not an option here; attn_cli.call takes any")
        option = name.replace("_", "-")
        if value is True or value is False and name in ("causal", "output_projection"):
            given.append(f"--{option}" if value else f"--no-{option}")
        elif isinstance(value, dict):  # --set KEY=VALUE, as often as there are keys
            given += [f"--{option}={key}={each if isinstance(each, str) else json.dumps(each)}" for key, each in value.items()]
        elif value is not None and value is not False:
            given += [f"--{option}", ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)]
    return given
