"""The layout of the house, as far as it can be counted."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
AT_THE_TOP = {"CMakeLists.txt", "CMakePresets.json", "README.md", "data", "src", "tests"}


def test_nothing_else_lies_at_the_top():
    names = {path.name for path in ROOT.iterdir() if not path.name.startswith(".") and path.name != "build"}
    assert names - AT_THE_TOP == set()


def test_main_is_shorter_than_40_lines():
    main = ROOT / "src/cli/main.cpp"
    assert len(main.read_text(encoding="utf-8").splitlines()) < 40


def test_every_shell_script_can_be_run():
    for script in (ROOT / ".ci").iterdir():
        assert script.stat().st_mode & 0o100, script
        assert subprocess.run(["bash", "-n", script], check=False).returncode == 0, script
