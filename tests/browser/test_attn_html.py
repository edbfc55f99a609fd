"""attn.html: the form, and the program as WebAssembly behind it. Without the module that .ci/across wasm32-wasi builds: skipped."""

import json
import os
import shlex
import sys
from pathlib import Path

import pytest
from keys import Keys
from program import SENTENCE, run, succeeds
from test_page_layout import CONTRAST, overlapping

ROOT = Path(__file__).parents[2]
WASM = Path(os.environ.get("ATTN_WASM", ROOT / "build/web/attn-cli.wasm"))
FORM = "return [find('form-command').textContent, find('form-error').textContent, savedJson()]"
SAY = """const field = document.querySelector(arguments[0]);
field.type === "checkbox" ? (field.checked = arguments[1]) : (field.value = arguments[1]);
["input", "change"].forEach((type) => field.dispatchEvent(new Event(type, { bubbles: true })));"""
SENTENCE_BOX, SOURCE = "#form-sentence", "#form-source"


def option(name):
    return f'[name="--{name}"]'


@pytest.fixture(scope="module")
def attn_html(tmp_path_factory):
    program = ROOT / "data/web/program.js"
    if not WASM.exists() or not program.exists():
        pytest.skip("attn-cli.wasm is not built: .ci/across wasm32-wasi")
    sys.path.insert(0, str(ROOT / "src/web"))
    import attn_html

    folder = tmp_path_factory.mktemp("attn")
    succeeds("run", SENTENCE, "--heads", 4, "--show", "all", "-o", folder / "page.html")
    path = folder / "attn.html"
    path.write_text(attn_html.assembled((folder / "page.html").read_text(), WASM))
    return path


@pytest.fixture
def opened(browser, attn_html):
    """opened(size=(360, 740)): the page when the program is there; expects at the end that it was quiet."""

    def open(**how):
        browser.open(attn_html, **how)
        waits(browser, "form.program")
        return browser

    yield open
    browser.expect_quiet(attn_html)


def waits(browser, condition):
    browser.driver.execute_async_script(f"const done = arguments[0]; const wait = () => (({condition}) ? done() : setTimeout(wait, 5)); wait()")
    browser.settle()


def says(browser, *fields):
    """Sets fields, one after the other, and waits for what is computed of the last."""
    for selector, value in fields:
        browser.run("window.computed = false; form.compute = function () { Form.prototype.compute.call(form); window.computed = true; }")
        browser.run(SAY, selector, value)
        waits(browser, "window.computed")


def computed(command, folder):
    """The command line that the page shows, run here: the JSON of the page that it writes."""
    words = shlex.split(command)
    assert words[0] == "attn-cli"
    words[words.index("-o") + 1] = str(folder / "page.html")
    succeeds("run", "--isa", "portable", *words[2:])
    text = (folder / "page.html").read_text()
    return text.split('id="result">')[1].split("</script>")[0].replace("\\u003c", "<")


CASES = {
    "sentence": [(SENTENCE_BOX, "it's <b>short</b> & \"sweet\"")],
    "blanks": [(SENTENCE_BOX, "  the cat\n sat  ")],
    "dash": [(SENTENCE_BOX, "--not an option")],
    "options": [(option("heads"), "2"), (option("causal"), True), (option("positions"), "rope"), (option("seed"), "7"), (option("scale"), "0.5"), (option("softcap"), "3"), (option("dtype"), "float64")],
    "few items": [(option("show all"), False)],
    "model": [(SOURCE, "--model induction"), (SENTENCE_BOX, "the cat sat and the cat sat")],
    "recipe": [(SOURCE, "--recipe raschka-2024-causal"), (option("causal"), False)],
    "back": [(SOURCE, "--model two-blocks"), (SOURCE, "--recipe karim-2019"), (SOURCE, "")],
    "long": [(SENTENCE_BOX, " ".join(f"word{i % 60}" for i in range(100)))],
}


@pytest.mark.parametrize("name", CASES)
def test_the_command_that_is_shown_gives_what_is_shown(opened, tmp_path, name):
    browser = opened()
    says(browser, *CASES[name])
    command, error, shown = browser.run(FORM)
    assert error == ""
    assert shown == computed(command, tmp_path)


def test_typing_computes_after_a_pause_and_keys_of_the_page_are_letters_there(opened):
    browser = opened()
    browser.click(SENTENCE_BOX)
    browser.press(Keys.END, " n", "p", "v", "m", "]")
    waits(browser, "find('form-command').textContent.includes('npvm]')")
    assert browser.run("return [state.view, state.step, state.head, result.columns.at(-1)]") == ["map", 0, 0, "npvm]"]
    assert browser.run("return document.activeElement.id") == "form-sentence"


def test_an_error_is_said_and_the_last_result_stays(opened):
    browser = opened()
    before = browser.run(FORM)
    says(browser, (option("heads"), "3"))
    command, error, shown = browser.run(FORM)
    assert error == run("run", SENTENCE, "--heads", 3).err.decode().removeprefix("attn-cli: error: ").split("\n")[0] != ""
    assert [command, shown] == [before[0], before[2]]
    says(browser, (option("heads"), "2"))
    assert browser.run("return [find('form-error').textContent, result.H]") == ["", 2]
    says(browser, (SENTENCE_BOX, ""))
    assert "no words" in browser.text("#form-error") and browser.run("return result.H") == 2
    browser.run("find('form-sentence').focus()")
    says(browser, (SENTENCE_BOX, SENTENCE))
    assert browser.text("#form-error") == ""


def test_every_recipe_and_model_inside_is_there(opened):
    browser = opened()
    offered = browser.run("return [...form.source.options].map((each) => each.value)")
    recipes = [line.split()[0] for line in succeeds("recipe", "list").text.splitlines()]
    assert [value.removeprefix("--recipe ") for value in offered if value.startswith("--recipe")] == recipes
    assert [value.removeprefix("--model ") for value in offered if value.startswith("--model")] == ["induction", "two-blocks"]
    for value in offered[:-1]:
        says(browser, (SOURCE, value))
        assert browser.text("#form-error") == "", value


def test_a_recipe_that_is_causal_says_so_and_can_be_otherwise(opened):
    browser = opened()
    says(browser, (SOURCE, "--recipe raschka-2024-causal"))
    assert browser.run("return document.querySelector(arguments[0]).checked", option("causal"))
    says(browser, (option("causal"), False))
    assert browser.text("#form-command") == "attn-cli run --recipe raschka-2024-causal --no-causal --show all -o page.html"
    assert browser.run("return Boolean(result.attention.causal)") is False


def test_a_recipe_of_ones_own_is_opened(opened, tmp_path):
    recipe = json.loads(succeeds("recipe", "show", "karim-2019").text)
    (tmp_path / "my own.json").write_text(json.dumps(recipe | {"title": "Of my own"}))
    browser = opened()
    says(browser, (SOURCE, "file"))
    assert browser.text("#form-error") == "Choose the file of the recipe."
    browser.one("#form-file").send_keys(str(tmp_path / "my own.json"))
    waits(browser, "find('name').textContent === 'Of my own'")
    assert browser.text("#form-command") == "attn-cli run --recipe 'my own.json' --show all -o page.html"
    (tmp_path / "wrong.json").write_text("{")
    browser.run("find('form-file').value = ''")
    browser.one("#form-file").send_keys(str(tmp_path / "wrong.json"))
    waits(browser, "find('form-error').textContent")
    assert browser.text("#name") == "Of my own"


def test_it_is_one_file_that_asks_for_nothing(attn_html, opened):
    browser = opened()
    says(browser, (option("causal"), True), (SOURCE, "--model induction"))
    text = attn_html.read_text()
    assert len(text) <= 2_500_000
    policy = text.split('Content-Security-Policy" content="')[1].split('"')[0]
    assert policy.startswith("default-src 'none'; style-src 'sha256-") and "'wasm-unsafe-eval'" in policy and "unsafe-inline" not in policy
    assert browser.run("return fetch('data:,x').then(() => 'asked', () => 'refused')") == "refused"
    browser.complaints()  # of that


@pytest.mark.parametrize("size", [(1280, 900), (768, 1024), (360, 740)])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_form_fits_and_can_be_read(opened, size, dark):
    browser = opened(size=size, dark=dark)
    says(browser, (SENTENCE_BOX, "the cat sat on the mat " * 12), (option("heads"), "3"))
    assert browser.run("return document.documentElement.scrollWidth <= innerWidth")
    boxes = browser.boxes("#form label, #form button, #form code, #form-error")
    assert overlapping(boxes) == [] and all(0 <= left and right <= size[0] for left, _, right, _, _ in boxes)
    assert browser.run("return [...document.querySelectorAll('#form :is(input, select, textarea, button)')].every((each) => each.labels?.length > 0 || each.textContent)")
    ratios = browser.run(CONTRAST + """const ground = getComputedStyle(document.body).backgroundColor;
        return [...document.querySelectorAll("#form label, #form :is(input, select, textarea, button), #form-error")].filter((each) => each.offsetWidth > 0)
            .map((each) => [contrast(getComputedStyle(each).color, ground), each.outerHTML.slice(0, 60)]);""")
    assert len(ratios) > 15 and min(ratios)[0] >= 4.5, min(ratios)
