"""Runs every command that README.md shows and compares what it prints with what stands below it."""

import re

import pytest

import readme

TEXT = readme.README.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One folder for all sessions, since a later one may use a file that an earlier one wrote."""
    path = tmp_path_factory.mktemp("readme")
    readme.write_files(TEXT, path)
    return path


@pytest.mark.parametrize("steps", readme.sessions(TEXT), ids=lambda steps: f"line-{steps[0].line}")
def test_commands_print_what_stands_below_them(steps, folder):
    outputs = readme.run_session(steps, folder)
    assert len(outputs) == len(steps)
    for step, output in zip(steps, outputs):
        assert output == step.output, f"README.md:{step.line}: $ {step.command}"


PICTURES = sorted((readme.README.parent / "data" / "pictures").glob("*.svg"))


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.name)
def test_pictures_come_out_as_the_page_shows_them(picture, folder):
    assert f"](data/pictures/{picture.name})" in TEXT
    made = [steps for steps in readme.sessions(TEXT) if any(step.command.endswith(f" -o {picture.name}") for step in steps)]
    assert len(made) == 1
    readme.run_session(made[0], folder)
    assert (folder / picture.name).read_bytes() == picture.read_bytes()


def test_every_picture_of_the_page_is_stored():
    assert {name for name in re.findall(r"\]\(data/pictures/([^)]*)\)", TEXT)} == {picture.name for picture in PICTURES}


def test_every_image_of_the_page_is_there():
    images = re.findall(r"!\[[^]]*\]\(([^)]*)\)", TEXT)
    assert len(images) > len(PICTURES)
    assert [image for image in images if not (readme.README.parent / image).is_file()] == []


def test_a_wrong_output_would_be_noticed(folder):
    steps = [readme.Step(1, "echo one; false", "one\n"), readme.Step(2, "echo $?", "1\n")]
    assert readme.run_session(steps, folder) == ["one\n", "1\n"]


def test_the_readme_shows_sessions_and_files():
    assert len(readme.sessions(TEXT)) >= 5
    assert readme.files(TEXT)


def test_the_first_screen_shows_the_command():
    assert readme.sessions(TEXT)[0][0].command == 'attn-cli run "Life is short, eat dessert first"'


def test_two_lines_to_paste_build_and_test():
    build, test = readme.paste_commands(TEXT)
    assert build.endswith('cmake --workflow --preset release && build/release/attn-cli run "Life is short, eat dessert first"')
    assert test.endswith("cmake --workflow --preset check")
    packages = lambda line: set(line.split(" install ")[1].split(" && ")[0].split())
    assert packages(build) < packages(test)
