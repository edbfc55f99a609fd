"""The pictures of README and manual are those that their commands make now (manual_pictures.py makes them again)."""

import re

import manual_pictures
import pytest
import readme

STORED = manual_pictures.stored()
SHOWN = {path: re.findall(r'(?:!\[[^]]*\]\(|<img src=")((?:\.\./|data/)pictures/[^)"]*)', path.read_text(encoding="utf-8")) for path in readme.DOCUMENTS}


@pytest.mark.parametrize("name", STORED)
def test_a_picture_is_of_what_its_command_writes_now(name):
    output = manual_pictures.output_of(STORED[name])
    assert manual_pictures.digest_of(output) == STORED[name]["sha256"], f"{name} is stale: run tests/cli/manual_pictures.py"
    if STORED[name]["made"] != "page":  # for which it takes Chromium
        assert (manual_pictures.FOLDER / name).read_bytes() == manual_pictures.bytes_of(STORED[name], output)


def test_every_picture_is_listed_and_shown():
    shown = {path.rpartition("/")[2] for paths in SHOWN.values() for path in paths}
    lie_there = {path.name for path in manual_pictures.FOLDER.iterdir()} - {manual_pictures.LIST.name}
    assert set(STORED) == lie_there == shown


def test_the_page_shows_the_command_of_a_picture():
    """A picture that is a file stands below the command that writes it, and in a terminal below its own first line."""
    sessions = " ".join(step.command.replace('"', "'") for path in readme.DOCUMENTS for steps in readme.sessions(path.read_text(encoding="utf-8")) for step in steps)
    for name, picture in STORED.items():
        if picture["made"] == "file":
            assert f"{picture['command'].removesuffix(' --format svg')} -o {name}" in sessions


def test_a_picture_of_a_terminal_is_well_formed_and_says_what_it_shows():
    picture = {"title": "a < b", "command": "printf '\\033[1;38;2;1;2;3;48;2;4;5;6mx & y\\033[m z\\n'", "made": "terminal"}
    svg = manual_pictures.bytes_of(picture, manual_pictures.output_of(picture)).decode()
    assert "<title>a &lt; b</title>" in svg
    assert '<rect x="14" y="32" width="40" height="18" fill="#040506"/>' in svg
    assert 'font-weight="bold" fill="#010203">x</text>' in svg
    assert '<text x="62" y="45" textLength="8" lengthAdjust="spacingAndGlyphs" fill="#d8dee4">z</text>' in svg
