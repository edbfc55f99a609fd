"""A document of ours in the place of a sentence is refused with the commands that read it."""

import json
import re
import subprocess
import time

import pytest
from program import PROGRAM, SENTENCE, assert_fails, run, succeeds
from tensors import numpy

MODEL = ("--model", "induction")


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    """By name, on one line each."""
    numpy.save(folder := tmp_path_factory.mktemp("documents") / "q.npy", numpy.eye(3, dtype="float32"))
    return {
        "result/1": succeeds("run", SENTENCE, "--json").text,
        "result/2": succeeds("run", SENTENCE, *MODEL, "--layer", "0", "--json").text,
        "recipe/1": json.dumps(succeeds("recipe", "show", "owen-2025").json) + "\n",
        "tensor/1": succeeds("attend", "-q", folder, "-k", folder, "-v", folder, "--show", "weights").text.splitlines()[0] + "\n",
        "explanation/1": succeeds("explain", SENTENCE, "--query", "is", "--json").text,
    }


NAMES = ["result/1", "result/2", "recipe/1", "tensor/1", "explanation/1"]
LAYOUTS = [
    str,
    lambda text: json.dumps(json.loads(text), indent=2),
    lambda text: "\ufeff \n" + json.dumps(json.loads(text), indent="\t"),
    lambda text: json.dumps(json.loads(text), sort_keys=True),
    lambda text: json.dumps(json.loads(text), sort_keys=True, indent=2),
]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("command", [("run",), ("run", "-"), ("run", *MODEL), ("explain",), ("explain", *MODEL), ("run", "--against", "x.npy")])
def test_standard_input(documents, name, layout, command):
    done = run(*command, stdin=layout(documents[name]))
    assert_fails(done, 65, f"standard input: got a document, 'attn-cli/{name}'; allowed: a sentence; ")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", NAMES[:-1])
def test_every_command_that_is_named_reads_the_document(documents, name, layout, tmp_path):
    text = layout(documents[name])
    (tmp_path / "other.json").write_text(documents[name])
    commands = re.split(", | or ", run("run", stdin=text).message.rstrip().split("such a document is read by attn-cli ")[1])
    assert len(commands) >= 2 and ("run --recipe -" in commands) == (name in ("result/1", "recipe/1"))
    for command in commands:
        words = command.replace("OTHER", str(tmp_path / "other.json")).split()
        assert run(*words, stdin=text).code == 0, command


@pytest.mark.parametrize("command", ["run", "explain"])
def test_a_sentence(documents, command):
    for name, text in documents.items():
        assert_fails(run(command, text), 65, f"SENTENCE: got a document, 'attn-cli/{name}'; allowed: a sentence")
    assert_fails(run(command, "a", "--cross", documents["result/1"]), 65, "--cross: got a document", "attn-cli check FILE")
    assert_fails(run(command, "a", *MODEL, "--set", f"input.pair={documents['result/2']}"), 65, "--set input.pair: got a document")


@pytest.mark.parametrize("model", [(), MODEL])
def test_each_line_is_judged_alone(documents, model):
    text = "a b\n" + "".join(documents.values()) + "c d\n"
    done = run("run", "--lines", "-", "--json", *model, stdin=text)
    first, *wrong, last = done.json_lines
    assert (done.code, first["tokens"], last["tokens"], last["index"]) == (65, ["a", "b"], ["c", "d"], 6)
    for index, (name, line) in enumerate(zip(documents, wrong), 1):
        assert (line["index"], line["error"]["code"]) == (index, 65)
        assert line["error"]["message"].startswith(f"the line: got a document, 'attn-cli/{name}'; allowed: a sentence; ")
    assert run("run", "--lines", "-", "--json", *model, "--threads", "3", stdin=text).out == done.out


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("layout", [LAYOUTS[1], LAYOUTS[4], lambda text: json.dumps([json.loads(text)], indent=1)])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("form", ["json", "csv", "table"])
def test_a_document_over_several_lines_is_refused_as_a_whole(documents, name, layout, threads, form, tmp_path):
    (path := tmp_path / "pretty.json").write_text(layout(documents[name]))
    for lines in (path, "-"):
        done = run("run", "--lines", lines, "--format", form, "--threads", threads, stdin=path.read_text())
        what = "standard input" if lines == "-" else "pretty.json"
        assert_fails(done, 65, what, f"got a document, 'attn-cli/{name}'; allowed: one sentence per line; ")


@pytest.mark.parametrize("at", [1, 15])
@pytest.mark.parametrize("layout", [LAYOUTS[1], LAYOUTS[4]])
def test_a_document_that_comes_in_two_pieces_is_refused_as_a_whole(documents, layout, at):
    text = layout(documents["result/1"])
    with subprocess.Popen([PROGRAM, "run", "--lines", "-", "--json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
        program.stdin.write(text[:at])
        program.stdin.flush()
        time.sleep(0.5)
        out, err = program.communicate(text[at:])
    assert (program.returncode, out) == (65, "")
    assert "standard input: got a document, 'attn-cli/result/1'; allowed: one sentence per line; " in err


def test_what_run_lines_or_jq_makes_of_several_is_refused(documents):
    lines = succeeds("run", "--lines", "-", "--json", stdin="a b\n").text
    failed = run("run", "--lines", "-", "--json", stdin=",\na b\n").text
    assert failed.startswith('{"index":0,"error"')
    for text in (lines, failed, f"[{documents['result/1']}]"):
        assert_fails(run("run", stdin=text), 65, "standard input: got a document, 'attn-cli/result/1'; allowed: a sentence; ")
    done = run("run", "--lines", "-", "--json", "--show", "tokens", stdin=failed)
    assert [line.get("error", {}).get("code") for line in done.json_lines] == [None, 65]


@pytest.mark.parametrize("text", ['{"a": 1}', "{", "{\n", '{"schema": "json-schema"}', '{"schema": "attn-cli', '{"schema', "{\n\n", '{\n"schema": 3}\n', '["schema"]'])
def test_other_text_with_braces_is_text(text):
    assert succeeds("run", stdin=text).text.startswith(f"{len(text.split())} word")
    lines = text.rstrip("\n").split("\n")
    assert len(run("run", "--lines", "-", "--json", stdin=text).json_lines) == len(lines) + text.endswith("\n\n")
