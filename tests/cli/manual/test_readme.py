"""Runs every command that README.md and the manual show and compares what it prints with what stands below it."""

import re

import pytest

import readme

TEXTS = {path: path.read_text(encoding="utf-8") for path in readme.DOCUMENTS}
TEXT = TEXTS[readme.README]
SESSIONS = [(path, steps) for path, text in TEXTS.items() for steps in readme.sessions(text)]
# What GitHub shows and a terminal can do without; an image or a mark of a script is no sentence.
NO_SENTENCE = re.compile(r"^(#|\||!\[|<|- ?\[|$)")


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """One folder for all sessions of a document, since a later one may use a file that an earlier one wrote."""
    paths = {document: tmp_path_factory.mktemp(document.stem) for document in TEXTS}
    for document, path in paths.items():
        readme.write_files(TEXTS[document], path)
    return paths


def same_numbers(output):
    """jq 1.6 prints the number 1e-05 as 1e-05, jq 1.7 as 1E-5 or 0.00001, and one that it read as 1.0 so."""
    return re.sub(r"(?<![\w.])-?\d+(\.\d+)?([eE][-+]?\d+)?(?![\w.])", lambda number: repr(float(number[0])), output)


@pytest.mark.parametrize(("document", "steps"), SESSIONS, ids=lambda value: value.stem if not isinstance(value, list) else f"line-{value[0].line}")
def test_commands_print_what_stands_below_them(document, steps, folders):
    outputs = readme.run_session(steps, folders[document])
    assert len(outputs) == len(steps)
    for step, output in zip(steps, outputs):
        printed = same_numbers if re.search(r"\bjq\b", step.command) else str
        assert printed(output) == printed(step.output), f"{document.name}:{step.line}: $ {step.command}"


def commands_in_passing(text):
    """Those in the middle of a text, in tables and in ```sh blocks, but for what stands for something else, and measurements."""
    spans = re.findall(r"`(attn-cli [^`]*)`", readme.without_code(text).replace("\\|", "|"))
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = [line.split("  #")[0] for block in blocks for line in block.splitlines() if line.startswith("attn-cli ")]
    return [command for command in spans + lines if not re.search(r"…|\b[A-Z]{3,}\b|attn-cli bench|less", command)]


@pytest.mark.parametrize(("document", "command"), [(path, command) for path, text in TEXTS.items() for command in commands_in_passing(text)],
                         ids=lambda value: value.stem if not isinstance(value, str) else value)
def test_commands_in_passing_are_right_but_may_name_a_file_that_is_not_there(document, command, folders):
    (output,) = readme.run_session([readme.Step(0, f"set -o pipefail; ({command}) > passing.txt 2>&1; echo $?; head -c 300 passing.txt", "")], folders[document])
    code, _, said = output.partition("\n")
    assert code in ("0", "66"), f"{document.name}: {command}: {said}"


@pytest.mark.parametrize("document", TEXTS, ids=lambda path: path.stem)
def test_every_link_leads_somewhere(document):
    for link in readme.links(TEXTS[document]):
        name, _, anchor = link.partition("#")
        path = (document.parent / name).resolve() if name else document
        assert path.is_file(), link
        assert not anchor or anchor in readme.anchors(TEXTS[path]), link


def test_what_the_manual_includes_and_runs_is_there():
    names = {name for text in TEXTS.values() for name in re.findall(r'#include "(attn/[^"]*)"', text)}
    assert names and [name for name in names if not (readme.ROOT / "src" / name).is_file()] == []
    scripts = {name for text in TEXTS.values() for name in re.findall(r"(?:tests|data|\.ci)/[\w/.-]*\w", text)}
    assert len(scripts) > 20 and [name for name in scripts if not (readme.ROOT / name).exists()] == []


def test_no_sentence_stands_in_two_places():
    places = {}
    for path, text in TEXTS.items():
        paragraphs = readme.without_code(text).split("\n\n")
        plain = " ".join(line for text in paragraphs for line in [" ".join(text.split())] if not NO_SENTENCE.match(line))
        for sentence in re.split(r"(?<=[.:!?]) ", plain):
            if len(sentence.split()) >= 6:
                places.setdefault(sentence, []).append(path.stem)
    assert {sentence: names for sentence, names in places.items() if len(names) > 1} == {}


def test_a_wrong_output_would_be_noticed(folders):
    steps = [readme.Step(1, "echo one; false", "one\n"), readme.Step(2, "echo $?", "1\n")]
    assert readme.run_session(steps, folders[readme.README]) == ["one\n", "1\n"]


def test_the_documents_show_sessions_and_files():
    assert len(readme.sessions(TEXT)) >= 1
    assert len(SESSIONS) >= 30
    assert readme.files(TEXTS[readme.MANUAL / "recipes.md"])


def test_the_readme_is_short():
    assert len(TEXT.splitlines()) <= 200
    assert len(TEXT.encode()) <= 14 * 1024


def test_the_figures_of_the_readme_are_those_of_the_manual():
    speed = TEXT.split("## How fast it is")[1].split("\n## ")[0]
    measured = TEXTS[readme.MANUAL / "performance.md"]
    figures = re.findall(r"\d[\d,.]*\d(?: %)?", speed)
    assert len(figures) > 5 and [figure for figure in figures if figure not in measured] == []


def test_the_readme_begins_with_a_picture_and_the_command():
    assert any("data/pictures/" in line for line in TEXT.splitlines()[:10])
    assert readme.sessions(TEXT)[0][0].command == 'attn-cli run "Life is short, eat dessert first" --show weights'


def test_two_lines_to_paste_build_and_test():
    build, test = readme.paste_commands(TEXT)
    assert build.endswith('cmake --workflow --preset release && build/release/attn-cli run "Life is short, eat dessert first"')
    assert test.endswith("cmake --workflow --preset check")
    packages = lambda line: set(line.split(" install ")[1].split(" && ")[0].split())
    assert packages(build) < packages(test)
