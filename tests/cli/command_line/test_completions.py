"""What the shells offer while a command is typed: the words of the program, and each shell with the script that it prints."""

import os
import pty
import re
import select
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from program import PROGRAM, assert_fails, run, succeeds

SHELLS = ["bash", "zsh", "fish"]


def offered(*words):
    return succeeds("completions", "bash", "--", *words).text.splitlines()


def commands():
    return offered("")


def test_the_commands_are_those_of_help():
    listed = re.search(r"Commands:\n(.*?)\n\n", succeeds("--help").text, re.DOTALL)[1]
    named = re.findall(r"^  ([a-z][a-z-]*)(?: .*)?", listed, re.MULTILINE)
    assert commands() == named + listed.splitlines()[-1].split(maxsplit=1)[1].split(", ")


@pytest.mark.parametrize("command", commands())
def test_every_option_of_help_is_offered(command):
    texts = succeeds(command, "--help").text + succeeds("--help").text
    named = [name for line in re.findall(r"^  (-.*?)(?:  |$)", texts, re.MULTILINE) for name in line.split(", ")]
    names = [name.split()[0] for name in named]
    assert sorted(offered(command, "-")) == sorted(names)


@pytest.mark.parametrize(
    "words, expected",
    [
        (["--color", ""], ["auto", "always", "never"]),
        (["--color", "a"], ["auto", "always"]),
        (["--color", "never", "sch"], ["schema"]),
        (["run", "--format", "s"], ["safetensors", "svg"]),
        (["run", "--format=s"], ["--format=safetensors", "--format=svg"]),
        (["run", "--dtype", "float6"], ["float64"]),
        (["run", "--show", "tokens,value"], ["tokens,values"]),
        (["run", "--positions", "ro"], ["rope"]),
        (["run", "--recipe", "owen"], ["owen-2025", "*.json"]),
        (["run", "--params", ""], ["*.npz", "*.safetensors"]),
        (["run", "--params=", ], ["*.npz", "*.safetensors"]),
        (["run", "--lines", ""], ["*"]),
        (["run", "--seed", ""], []),
        (["run", "--", "-"], []),
        (["attend", "--mask", ""], ["*.npy", "*.npz", "*.safetensors"]),
        (["plot", ""], ["*"]),
        (["compare", "a", ""], ["*"]),
        (["check", "one.json", "owe"], ["*", "owen-2025"]),
        (["recipe", "l"], ["list", "lippe-2024"]),
        (["recipe", "owen"], ["owen-2025"]),
        (["recipe", "show", "owen"], []),
        (["help", "tut"], ["tutorial"]),
        (["schema", "re"], ["result", "recipe"]),
        (["completions", ""], SHELLS),
        (["manual-page", "com"], ["compare", "completions"]),
        (["nothing", "--col"], ["--color"]),
        (["run", "--set", "dims."], ["dims.key_dim=", "dims.value_dim=", "dims.output_dim=", "dims.d_a="]),
        (["run", "--set", "attention.mask_at="], ["attention.mask_at=scaled", "attention.mask_at=scores"]),
        (["run", "--set=round"], ["--set=rounding="]),
        (["run", "--set=rounding=st"], ["--set=rounding=stage", "--set=rounding=step"]),
        (["run", "--set", "rounding", "sta"], ["stage"]),  # as bash parts it
        (["run", "--set", "picture.caption="], ["picture.caption=false", "picture.caption=true"]),
        (["run", "--set", "draws[3].mo"], ["draws[3].mode="]),
        (["run", "--set", "draws[3].mode="], ["draws[3].mode=fan_in", "draws[3].mode=fan_out"]),
        (["run", "--set", "draws"], [f"draws[0].{key}=" for key in "seed tensor init low high mean std gain a mode padding_idx bias add_bias_kv head side shape take values".split()]),
        (["run", "--set", "dims.heads"], []),
        (["run", "--set", "rounding=step", "--set", "embeddings.words.file="], ["*"]),
        (["explain", "--set", "picture."], []),
    ],
)  # fmt: skip
def test_values_and_operands(words, expected):
    assert offered(*words) == expected


def test_where_nothing_is_named_the_options_are_offered():
    assert offered("run", "") == offered("run", "-")


def test_the_shells_get_meanings_in_their_own_form():
    assert succeeds("completions", "fish", "--", "run", "--causa").text == "--causal\ta query sees no later key\n"
    assert succeeds("completions", "zsh", "--", "run", "--causa").text == "--causal:a query sees no later key\n"


def test_misuse():
    assert_fails(run("completions"), 2, "completions: a shell is missing: bash, zsh or fish")
    assert_fails(run("completions", "--", "run"), 2, "a shell is missing")
    assert_fails(run("completions", "fishy"), 2, "completions: got 'fishy'; allowed: bash, zsh, fish; did you mean 'fish'?")
    assert_fails(run("completions", "bash", "zsh"), 2, "unexpected argument 'zsh'; completions takes one shell")


# ---- the shells themselves -------------------------------------------------------------------------------------------

CASES = [
    ("run --fo", "run --format"),
    ("run --format saf", "run --format safetensors"),
    ("run --format=saf", "run --format=safetensors"),
    ("run --show tokens,voc", "run --show tokens,vocabulary"),
    ("check owe", "check owen-2025"),
    ("attend --mask que", "attend --mask queries.npy"),
    ("attend --mask=que", "attend --mask=queries.npy"),
    ("attend -k folder/k", "attend -k folder/keys.npz"),
    ("run --set rou", "run --set rounding="),
    ("run --set attention.mask_at=sco", "run --set attention.mask_at=scores"),
    ("run --set rounding=step --fo", "run --set rounding=step --format"),
]


def needed(shell):
    found = shutil.which(shell)
    if found is None and os.environ.get("ATTN_REQUIRE_LIVE") != "1":
        pytest.skip(f"{shell} is not installed")
    assert found, f"{shell} is not installed"
    return found


@pytest.fixture
def place(tmp_path):
    """A folder of files, and the environment in which the program is attn-cli."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/attn-cli").symlink_to(Path(PROGRAM).absolute())
    for name in ("queries.npy", "queries.txt", "folder/keys.npz", "folder/keys.md"):
        (tmp_path / "files" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "files" / name).touch()
    environment = {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}", "HOME": str(tmp_path), "TERM": "dumb", "LC_ALL": "C.UTF-8"}
    return {"cwd": tmp_path / "files", "env": environment}


def typed(command, setup, line, place):
    """What stands on the command line of a shell once `line` and a tabulator are typed."""
    master, slave = pty.openpty()
    shell = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, start_new_session=True, **place)
    os.close(slave)

    def read_until(pattern):
        seen, end = "", time.monotonic() + 60
        while not re.search(pattern, seen):
            assert time.monotonic() < end, seen
            if select.select([master], [], [], 1)[0]:
                seen += os.read(master, 65536).decode()
        return seen

    try:
        os.write(master, (setup + "; echo rea''dy\n").encode())
        read_until(r"ready\r\n")
        # To the start of the line: what stands there becomes an argument.
        os.write(master, f"attn-cli {line}\t\x01echo 'ty''ped' \n".encode())
        return re.search(r"typed attn-cli (.*?) *\r", read_until(r"typed attn-cli .*\n"))[1]
    finally:
        shell.kill()
        shell.wait()
        os.close(master)


@pytest.mark.parametrize("line, expected", CASES)
def test_bash_completes(line, expected, place):
    command = [needed("bash"), "--norc", "--noprofile", "-i"]
    assert typed(command, "PS1=; source <(attn-cli completions bash)", line, place) == expected


@pytest.mark.parametrize("line, expected", CASES)
def test_zsh_completes(line, expected, place):
    command = [needed("zsh"), "-f", "-i"]
    setup = "PS1=; bindkey -e; autoload -U compinit; compinit -D -u; source <(attn-cli completions zsh)"
    assert typed(command, setup, line, place) == expected


def test_zsh_completes_at_once_where_the_script_is_installed(place):
    command = [needed("zsh"), "-f", "-i"]
    (place["cwd"] / "_attn-cli").write_bytes(succeeds("completions", "zsh").out)
    setup = "PS1=; bindkey -e; fpath=($PWD $fpath); autoload -U compinit; compinit -D -u"
    assert typed(command, setup, CASES[0][0], place) == CASES[0][1]


@pytest.mark.parametrize("line, expected", CASES)
def test_fish_completes(line, expected, place):
    command = [needed("fish"), "--no-config", "-c", f"attn-cli completions fish | source; complete -C 'attn-cli {line}'"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True, **place)
    assert [candidate.split("\t")[0] for candidate in done.stdout.splitlines()] == [expected.split()[-1]], done
