"""The page of a whole trained model: layers to choose from, and links to what is chosen."""

import json
import time
from pathlib import Path

import pytest
import tiny_models
from keys import Keys
from program import succeeds

SENTENCE = "the cat sat on the mat"


def marked(browser):
    return [button.text for button in browser.all("#layers button") if button.get_attribute("aria-checked") == "true"]


def place(browser):
    """As a link names it."""
    return browser.run("return [result.layer, result.heads[state.head], result.positions[state.row], state.column]")


def address(browser):
    time.sleep(0.3)
    return browser.driver.current_url.partition("#")[2]


def test_layers_are_chosen_by_clicks_and_keys(page):
    browser = page(SENTENCE, "--model", "induction")
    assert [button.text for button in browser.all("#layers button")] == ["0", "1"]
    assert marked(browser) == ["0"] and "layer 0" in browser.text("#facts")
    first = (browser.text("#row"), browser.text("#heads"))
    browser.all("#layers button")[1].click()
    assert marked(browser) == ["1"] and place(browser)[0] == 1 and "layer 1" in browser.text("#facts")
    assert browser.text("#live").startswith("Layer 1, head 0: induction ")
    assert browser.text("#row") != first[0] and browser.text("#heads") != first[1]
    browser.press(Keys.ARROW_LEFT)
    assert marked(browser) == ["0"] and (browser.text("#row"), browser.text("#heads")) == first
    assert browser.run("return document.activeElement.textContent") == "0"
    browser.press("}", "}")
    assert marked(browser) == ["1"]
    browser.press("{", "{")
    assert marked(browser) == ["0"]


def test_other_pages_have_no_layers(page):
    browser = page(SENTENCE)
    assert not browser.one("#layers-section").is_displayed() and not browser.one(".of-layers").is_displayed()
    browser.press("}")
    assert browser.complaints() == []


@pytest.mark.parametrize("made", ["run", "plot"])
@pytest.mark.parametrize("model", [tiny_models.bert, tiny_models.llama, tiny_models.qwen3, tiny_models.mpnet])
def test_every_step_of_every_layer_is_that_of_the_result(browser, tmp_path, model, made):
    model(tmp_path / "model", 5)
    asked = [SENTENCE, "--model", f"{tmp_path / 'model'}/"]
    saved, path = tmp_path / "saved.json", tmp_path / "page.html"
    succeeds("run", *asked, "--layer", "all", "--show", "all", "--json", "-o", saved)
    succeeds("run", *asked, "-o", path) if made == "run" else succeeds("plot", saved, "-o", path)
    browser.open(path)
    for n, layer in enumerate(json.loads(saved.read_text())["layers"]):
        for head in range(2):
            computed = browser.run("""update({layer: arguments[0], head: arguments[1]});
                const rows = result.positions.map((_, row) => [row, stagesOfRow(state.head, row)]);
                return {scores: rows.map(([_, stages]) => [...stages.scores]),
                    last: rows.map(([_, stages]) => [...stages.last].map((x) => (x === -Infinity ? null : x))),
                    head_context: rows.map(([row]) => [...contextOfRow(state.head, row)].map(Math.fround))}""", n, head)
            rounded = lambda nested: browser.run("return arguments[0].map((row) => row.map((x) => x === null ? null : Math.fround(x)))", nested)
            wanted = {"scores": layer["scores"], "last": layer.get("masked_scores", layer["scaled_scores"]), "head_context": layer["head_context"]}
            assert computed == {name: rounded(array[head]) for name, array in wanted.items()}
        for step in range(len(browser.all("#step-list button"))):
            browser.run("update({step: arguments[0]})", step)
            assert "This page holds no" not in browser.text("#step")
    names = browser.run("return kinds.map((kind) => kind.name)")
    assert names == ["Q·Kᵀ", "scale", *{"llama": ["mask"], "qwen3": ["mask"], "mpnet": ["bias"]}.get(model.__name__, []), "softmax", "weights·V"]
    browser.expect_quiet(path)


def test_the_steps_are_those_of_the_layer(browser, tmp_path):
    """Some layers of a model see all words, others those nearby."""
    saved = json.loads(succeeds("run", SENTENCE, "--model", "induction", "--layer", "all", "--show", "tokens,weights,scores,scaled_scores,masked_scores", "--json").out)
    del saved["layers"][1]["attention"]["causal"], saved["layers"][1]["masked_scores"]
    (tmp_path / "saved.json").write_text(json.dumps(saved))
    succeeds("plot", tmp_path / "saved.json", "-o", tmp_path / "page.html")
    browser.open(tmp_path / "page.html")
    names = lambda: [tab.text.split()[-1] for tab in browser.all("#step-list button")]
    assert names() == ["Q·Kᵀ", "scale", "mask", "softmax", "weights·V"]
    browser.run("update({step: 4})")
    browser.press("}")
    assert names() == ["Q·Kᵀ", "scale", "softmax", "weights·V"]
    assert browser.run("return kinds[state.step].name") == "weights·V"
    browser.press("{")
    assert names() == ["Q·Kᵀ", "scale", "mask", "softmax", "weights·V"]
    browser.expect_quiet(tmp_path / "page.html")


def test_a_link_names_what_is_chosen_and_restores_it(browser, tmp_path):
    path = tmp_path / "page.html"
    succeeds("run", SENTENCE, "--model", "induction", "--layer", "all", "--query", "0,3,5", "-o", path)
    browser.open(path)
    assert address(browser) == ""
    browser.run("update({layer: 1, head: 1, row: 2, column: 4})")
    assert address(browser) == "l=1&h=1&q=5&k=4"
    for link, wanted in [("#l=1&h=1&q=3", [1, 1, 3]), ("#l=0&h=0&q=5&k=2", [0, 0, 5, 2]), ("#q=3", [0, 0, 3])]:
        browser.driver.get("about:blank")
        browser.driver.get(Path(path).as_uri() + link)
        browser.settle()
        assert place(browser)[: len(wanted)] == wanted
    browser.run("location.hash = '#l=1&h=0&q=0&k=0'")
    browser.settle()
    assert place(browser) == [1, 0, 0, 0] and marked(browser) == ["1"]
    browser.driver.get("about:blank")
    browser.driver.get(Path(path).as_uri() + "#l=7&h=x&q=1&k=99&z=<b>")  # none of these is there
    browser.settle()
    assert place(browser)[:2] == [0, 0]
    assert browser.complaints() == []


def test_a_link_to_a_single_layer(page):
    browser = page("Life is short", "--heads", 2)
    browser.run("update({head: 1, row: 2, column: 0})")
    assert address(browser) == "h=1&q=2&k=0"


def test_many_places_in_a_short_time_are_no_complaint(page):
    browser = page("Life is short, eat dessert first", "--heads", 2)
    browser.run("for (let i = 0; i < 500; ++i) { update({row: i % 6, column: i % 5}); }")
    assert address(browser) == "h=0&q=1&k=4"
    assert browser.complaints() == []


@pytest.mark.parametrize("size", [(1280, 900), (360, 740)])
def test_many_layers_fit(browser, tmp_path, size):
    saved = json.loads(succeeds("run", SENTENCE, "--model", "induction", "--layer", "all", "--json").out)
    saved["layers"] = [saved["layers"][n % 2] | {"layer": n} for n in range(40)]
    (tmp_path / "saved.json").write_text(json.dumps(saved))
    succeeds("plot", tmp_path / "saved.json", "-o", tmp_path / "page.html")
    browser.open(tmp_path / "page.html", size=size)
    assert browser.run("return document.documentElement.scrollWidth <= innerWidth")
    boxes = browser.boxes("#layers button")
    assert len(boxes) == 40 and all(box[0] >= 0 and box[2] <= size[0] for box in boxes)
    assert "--show of attn-cli run also shows" in browser.text("#notes")
    browser.expect_quiet(tmp_path / "page.html")
