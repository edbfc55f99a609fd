"""Messages, help and examples name options by hand, for a reader; each of them is an option of the program."""

import re
from pathlib import Path

from program import succeeds

ROOT = Path(__file__).parents[3]
COMMENT_OR_LITERAL = re.compile(r'//[^\n]*|"((?:[^"\\\n]|\\.)*)"')
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
OF_HABIT = set(
    "--output --out --save --svg --rope-base --rope-dim --rope-style --csv --precision --temperature --d-model --dim --embedding-dim"
    " --embedding-size --hidden-size --stdin".split()
)  # answered with what is meant
OLD = set(re.findall(r"^\| `(--[\w-]+)[^|]*\| `--set ", (ROOT / "data/manual/changelog.md").read_text(encoding="utf-8"), re.MULTILINE))  # likewise
NO_OPTIONS = OF_HABIT | OLD | {"--install", "--no"}  # of cmake; the beginning of --no-…
NO_OPTIONS |= {"--allow-requantize", "--merge"}  # of llama.cpp's programs


def options_of_the_program():
    commands = succeeds("completions", "bash", "--", "").text.split()
    typed = [[], *([command] for command in commands)]
    return {option for words in typed for option in succeeds("completions", "bash", "--", *words, "-").text.split()}


def named_in_literals(source):
    return {option for literal in COMMENT_OR_LITERAL.findall(source) for option in OPTION.findall(literal)}


def test_every_option_that_the_sources_name_exists():
    known = options_of_the_program() | NO_OPTIONS
    files = list((ROOT / "src").rglob("*.[ch]pp"))
    named = {(str(file.relative_to(ROOT)), option) for file in files for option in named_in_literals(file.read_text(encoding="utf-8"))}
    assert {option for _, option in named} >= {"--query", "--model", "--install"}
    assert {(file, option) for file, option in named if option not in known} == set()


def test_comments_do_not_count_and_words_of_a_sentence_do():
    assert named_in_literals('// "--gone"\nf("choose rows with --query, or --d-k=2"); // --gone') == {"--query", "--d-k"}
