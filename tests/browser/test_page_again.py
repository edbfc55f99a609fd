"""Another result in the page that is open: every view shows it, as a page of its own does, and nothing of the one before."""

import json
import re

import pytest
from program import SENTENCE, succeeds

LONG = " ".join(f"word{i}" for i in range(40))
RESULTS = {
    "sentence": [SENTENCE, "--heads", 4, "--causal"],
    "one word": ["alone", "--no-causal", "--softcap", 5],
    "long": [LONG, "--heads", 2, "--embed-dim", 32, "--show", "all"],
    "cross": ["Life is", "--cross", "short eat dessert", "--positions", "rope"],
    "some rows": [SENTENCE, "--query", "eat,is", "--head", "1,3", "--heads", 4],
    "Arabic": ["الحياة قصيرة تناول الحلوى أولا", "--heads", 2],
    "article": ["--recipe", "owen-2025"],
    "weights alone": [SENTENCE, "--show", "tokens,weights", "--heads", 2],
    "many heads": ["Life is short", "--heads", 70, "--embed-dim", 70],
    "model": [SENTENCE, "--model", "induction"],
    "one layer": [SENTENCE, "--model", "two-blocks", "--layer", 1],
}
SHOW = "show(arguments[0], JSON.parse(arguments[1]))"
# All that can be read and looked at: texts and states of elements, and the pixels of every picture.
SEEN = """
const shown = (each) => each.getClientRects().length > 0;
const kept = ["class", "role", "aria-label", "aria-checked", "aria-selected", "aria-pressed", "aria-rowcount", "aria-colcount", "tabindex", "disabled", "hidden", "title", "dir", "value", "style"];
const pixels = (canvas) => (canvas.width * canvas.height ? canvas.toDataURL() : "");
return [document.title, ...[...document.querySelectorAll("body *:not(script, style, .label)")].filter(shown).map((each) => [each.tagName, each.id,
  ...kept.map((name) => each.getAttribute(name) || ""), each.value ?? "", each.checked ?? "", each.tagName === "CANVAS" ? pixels(each) : "",
  [...each.childNodes].filter((child) => child.nodeType === 3).map((child) => child.data).join("|"), each.scrollLeft, each.scrollTop].join(" ")),
  [...document.querySelectorAll(".label")].filter(shown).map((each) => [each.textContent, each.className, each.style.cssText].join(" ")).sort().join("\\n")];"""


def gathered(browser):
    browser.driver.execute_async_script("""const done = arguments[0];
        const wait = () => (modelView.places.every((place) => place.image) ? done() : requestAnimationFrame(wait)); wait()""")
    browser.settle()


def parts(path):
    """What a page holds: the JSON of its result, and what was asked for."""
    text = path.read_text()
    return [re.search(rf'id="{name}">(.*?)</script>', text, re.DOTALL)[1] for name in ("result", "asked")]


@pytest.fixture
def again(page, tmp_path):
    """again(*arguments): shows this result in the page that is open."""

    def show(browser, *arguments):
        succeeds("run", *arguments, "--quiet", "-o", tmp_path / "other.html")
        browser.run(SHOW, *parts(tmp_path / "other.html"))
        gathered(browser)

    return show


@pytest.mark.parametrize("name", RESULTS)
def test_another_result_is_seen_as_in_a_page_of_its_own(page, again, name):
    browser = page(*RESULTS[name], "--quiet")
    gathered(browser)
    alone = {view: browser.run(f"update({{view: '{view}'}})") or browser.settle() or browser.run(SEEN) for view in ("map", "lines")}
    names = list(RESULTS)
    for first in (names[names.index(name) - 1], names[(names.index(name) + 3) % len(names)]):
        browser = page(*RESULTS[first], "--quiet")
        gathered(browser)
        again(browser, *RESULTS[name])
        for view, wanted in alone.items():
            browser.run("update({view: arguments[0]})", view)
            browser.settle()
            seen = browser.run(SEEN)
            assert [pair for pair in zip(seen, wanted) if pair[0] != pair[1]] == [], view
            assert len(seen) == len(wanted)


def test_what_was_chosen_stays_where_it_is_there(page, again):
    browser = page(SENTENCE, "--heads", 4)
    browser.run("update({head: 2, row: 4, column: 5, step: 2}); chooseShade('log'); component = 3")
    again(browser, SENTENCE, "--heads", 4, "--softcap", 5)
    assert browser.chosen() == [2, 4, 5]
    assert browser.run("return [kinds[state.step].name, shade, component]") == ["softmax", "log", 0]
    again(browser, "Life is short", "--heads", 2)
    assert browser.run("return state.head < 2 && state.row < 3 && state.column < 3")
    browser.press("]", "n", "v")
    assert browser.run("return [state.head, kinds[state.step].name, state.view]") == [1, "weights·V", "lines"]


def test_keys_and_clicks_do_a_thing_once_after_many_results(page, again):
    browser = page(SENTENCE, "--heads", 4)
    for arguments in (RESULTS["model"], RESULTS["one word"], RESULTS["model"], RESULTS["sentence"]):
        again(browser, *arguments)
    browser.run("window.calls = 0; const own = bench.show; bench.show = function (...cell) { ++calls; return own.apply(this, cell); }; heads.buttons[1].click()")
    assert browser.run("return [state.head, calls]") == [1, 1]
    browser.press("]")
    assert browser.run("return [state.head, calls]") == [2, 2]
    browser.run("find('what-causal').click()")
    browser.settle()
    assert "have changed" in browser.text("#what-count")
    again(browser, *RESULTS["sentence"])
    assert browser.run("return [change, find('what-causal').checked, find('what-command-row').hidden]") == [None, True, True]
    assert browser.text("#what-count") == ""


def test_the_json_that_is_saved_is_that_of_the_last_result(page, again):
    browser = page(SENTENCE)
    again(browser, "<b> is & short", "--heads", 2)
    saved = browser.saved("#save-json")
    assert saved == succeeds("run", "<b> is & short", "--heads", 2, "--json", "--show", ",".join(key for key in json.loads(saved) if key not in ("schema", "config", "warnings"))).out
