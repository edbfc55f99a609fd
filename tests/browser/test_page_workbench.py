"""The workbench: the computation of a row as a picture. Its numbers are those of explain."""

import random

import pytest
from cases import CASES, settings, single
from keys import Keys
from program import SENTENCE, succeeds
from test_page_layout import LONG, overlapping

ROW = """
const lines = [...document.querySelectorAll("#bench-rows tr[data-key]")];
const vectors = (lines, side) => lines.map((line) => [...(line.querySelector(`[data-side=${side}]`)?.vector ?? [])]);
const above = [...document.querySelectorAll("#bench-rows tr:is(.of-query, .of-products, .of-context)")];
return {
  places: lines.map((line) => Number(line.dataset.key)),
  numbers: lines.map((line) => Object.fromEntries([...line.querySelectorAll("button")].map((each) => [each.dataset.name, each.value]))),
  keys: vectors(lines, "k"), values: vectors(lines, "v"),
  around: above.map((line) => [line.className, [...line.querySelector(".strip-box").vector]]),
};"""
STAGES = {"score": "score", "scaled": "scaled_score", "capped": "capped_score", "masked": "masked_score", "exp": "exponential", "weight": "weight", "kept": "dropped_weight"}


@pytest.mark.parametrize("number", range(CASES))
def test_every_number_is_that_of_explain(page, number):
    sentence, options = settings(number)
    browser = page(sentence, *options, "--isa", "portable", "--quiet")
    H, T = browser.run("return [result.H, result.T]")
    draw = random.Random(number)
    head, row = draw.randrange(H), draw.randrange(T)
    browser.run("update({head: arguments[0], row: arguments[1], column: 0})", head, row)
    shown = browser.run(ROW)
    explained = succeeds("explain", sentence, *options, "--isa", "portable", "--head", head, "--query", row, "--json", "--quiet").json
    held = (lambda x: x) if "float64" in options else single
    assert shown["places"] == list(range(len(explained["keys"])))
    for key, numbers, vector, value in zip(explained["keys"], shown["numbers"], shown["keys"], shown["values"]):
        assert not numbers.keys() - STAGES.keys()
        assert {"score", "weight"} <= numbers.keys()
        for name, text in numbers.items():
            want = key.get(STAGES[name], "absent")
            exact = (lambda x: x) if name == "exp" and "rounding=step" not in options else held
            if name == "exp" and "rounding=step" in options:
                assert float(text) == single(want)
            else:
                assert float(text) == (float("-inf") if want is None else exact(want)), (name, options)
        if vector:
            assert vector == [held(x) for x in key["vector"]]
        assert value == [held(x) for x in key["value"]]
    around = dict(shown["around"])
    assert around["of-context"] == [held(x) for x in explained["head_context"]]
    if "of-query" in around:
        assert around["of-query"] == [held(x) for x in explained["query"]["vector"]]
        assert around["of-products"] == explained["keys"][0]["products"]


def test_bars_go_both_ways_from_zero(page):
    browser = page(SENTENCE, "--heads", 4)
    bars = browser.run("""return [...document.querySelectorAll("[data-name=score]")].map((button) => {
        const track = button.querySelector(".bench-track").getBoundingClientRect(), bar = button.querySelector(".bench-bar").getBoundingClientRect();
        return [Number(button.value), (bar.left - track.left) / track.width, (bar.right - track.left) / track.width]; })""")
    assert min(bars)[0] < 0 < max(bars)[0]
    most = max(abs(score) for score, _, _ in bars)
    for score, left, right in bars:
        ends = sorted((0.5, 0.5 + score / most / 2))
        assert (left, right) == pytest.approx(ends, abs=0.02), score


def test_it_stands_in_the_window_with_sentence_heads_and_map(page):
    browser = page(SENTENCE, "--heads", 4, "--causal")
    for selector in (".token", ".head", "#heat-map .stage", "#bench", "#what-if", "#legend", "#shade"):
        for left, top, right, bottom, _ in browser.boxes(selector):
            assert 0 <= left and right <= 1280 and 0 <= top and bottom <= 900, selector
    assert browser.run("return [heatMap.width, heatMap.height]") == [64, 64]
    assert overlapping(browser.boxes("#bench-rows th > *, #bench-rows .number")) == []


def test_the_formula_names_the_step(page):
    browser = page(SENTENCE, "--causal", "--softcap", 5)
    assert browser.text("#formula-line") == "softmax( cap( QKT / √dk ) + mask ) · V"
    for symbol, step in (("√dk", "scale"), ("cap", "softcap"), ("mask", "mask"), ("softmax", "softmax"), ("V", "weights·V"), ("QKT", "Q·Kᵀ")):
        next(each for each in browser.all(".symbol") if each.text.replace("\n", "") == symbol).click()
        assert browser.run("return kinds[state.step].name") == step
        lit = [each.text.replace("\n", "") for each in browser.all('.symbol[aria-pressed="true"]')]
        assert lit == [symbol]
        assert browser.all("#bench-rows thead .lit")


def test_a_click_on_a_number_opens_its_table(page):
    browser = page(SENTENCE)
    number = browser.one('#bench-rows tr[data-key="2"] button[data-name="exp"]')
    number.click()
    browser.settle()
    assert browser.chosen() == [0, 1, 2]
    assert browser.run("return [document.activeElement.id, kinds[state.step].name]") == ["step", "softmax"]
    assert browser.text("#step tr.current th") == "short"
    for selector, step, column in (('tr[data-key="4"] [data-side="k"]', "Q·Kᵀ", 4), ('tr[data-key="0"] [data-side="v"]', "weights·V", 0), (".of-products .strip-box", "Q·Kᵀ", 0)):
        browser.click(f"#bench-rows {selector}")
        assert browser.run("return [kinds[state.step].name, state.column]") == [step, column]
    browser = page(SENTENCE, "--show", "all")
    left, top, right, bottom, _ = browser.boxes(".of-query .strip-box")[0]
    for kind in ("mousePressed", "mouseReleased"):
        browser.command("Input.dispatchMouseEvent", type=kind, x=left + (right - left) * 5.5 / 24, y=(top + bottom) / 2, button="left", clickCount=1)
    browser.settle()
    assert browser.run("return [kinds[state.step].name, component]") == ["W_q·x", 5]


def test_pointing_at_a_component_lights_it_everywhere_and_says_it(page):
    browser = page(SENTENCE)
    left, top, right, bottom, _ = browser.boxes('tr[data-key="3"] [data-side="k"]')[0]
    browser.command("Input.dispatchMouseEvent", type="mouseMoved", x=left + (right - left) * 7.5 / 24, y=(top + bottom) / 2)
    browser.settle()
    product = succeeds("explain", SENTENCE, "--query", "is", "--json").json["keys"][3]["products"][7]
    assert browser.text("#component").startswith("q7 × k7 of eat: ") and browser.text("#component").endswith(browser.run("return number(arguments[0])", product))
    shown = "return [...document.querySelectorAll('.strip-box')].filter((each) => getComputedStyle(each, '::after').display === 'block').map((each) => each.dataset.side)"
    assert browser.run(shown) == ["k"] * 8  # q, the products, six keys
    assert browser.run("return [...document.querySelectorAll('#bench-rows tr.marked')].map((each) => each.dataset.key)") == ["3"]
    browser.command("Input.dispatchMouseEvent", type="mouseMoved", x=1, y=1)
    browser.settle()
    assert browser.run(shown) == []


def test_it_works_by_keyboard(page):
    browser = page(SENTENCE)
    browser.run("document.querySelector('.symbol').focus()")
    for _ in range(6):
        browser.press(Keys.TAB)
        if browser.run("return document.activeElement.getAttribute('role')") == "slider":
            break
    browser.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert browser.text("#component").startswith("q2 × k2 of eat")
    assert browser.run("return document.activeElement.getAttribute('aria-valuenow')") == "2"
    browser.press(Keys.TAB)
    place = "const { name } = document.activeElement.dataset; return [name, document.activeElement.closest('tr').dataset.key]"
    assert browser.run(place) == ["score", "3"]
    browser.press(Keys.ARROW_RIGHT, Keys.ARROW_DOWN)
    assert browser.run(place) == ["scaled", "4"]
    browser.press(Keys.ENTER)
    assert browser.run("return [document.activeElement.id, state.column, kinds[state.step].name]") == ["step", 4, "scale"]


@pytest.mark.parametrize("words", [64, 300])
def test_of_many_words_a_dozen_are_shown(page, words):
    text = " ".join((LONG.split() * 5)[:words])
    browser = page(text, "--heads", 2, "--embed-dim", 32, "--causal", "--init", "xavier")
    browser.run("update({row: 50, column: 3})")
    places = [int(line.get_attribute("data-key")) for line in browser.all("#bench-rows tr[data-key]")]
    assert len(places) == 12 and 3 in places and places == sorted(places) and max(places) <= 50
    strongest = browser.run("return strongest(rowOf(result.weights, state.head, 50), 8)")
    assert set(strongest) <= set(places)
    assert f"12 of {words} words" in browser.text("#bench-note")
    browser.run("update({row: 2, column: 60})")  # a row that sees three words
    assert len(browser.all("#bench-rows tr[data-key]")) == 4  # and the chosen one
    assert browser.text("#bench-note").endswith(f"; {words - 3} are masked.")


def test_weights_alone_have_none(page):
    browser = page(SENTENCE, "--show", "tokens,weights")
    assert not browser.one("#bench").is_displayed() if browser.all("#bench") else True
    assert browser.boxes("#reading")[0][1] < 300  # beside the map instead


def test_what_is_not_known_is_not_shown(page):
    browser = page(SENTENCE, "--show", "tokens,weights,scores")
    assert [each.text for each in browser.all("#bench-rows thead th")] == ["word", "score", "weight"]
    browser = page(SENTENCE, "--show", "tokens,weights,values")
    assert [each.text for each in browser.all("#bench-rows thead th")] == ["word", "weight", "weight × value"]
    assert "#what-if" and not browser.one("#what-if").is_displayed()


@pytest.mark.parametrize("size", [(1280, 900), (768, 1024), (360, 740)])
@pytest.mark.parametrize("name, arguments", [("six", [SENTENCE, "--heads", "4", "--causal", "--softcap", "5"]), ("cross", ["Life is", "--cross", "short eat dessert"]), ("rtl", ["الحياة قصيرة تناول الحلوى أولا"]), ("model", [SENTENCE, "--model", "induction"])])
def test_nothing_leaves_the_page(page, size, name, arguments):
    browser = page(*arguments, size=size, dark=name in ("six", "model"))
    for step in range(browser.run("return kinds.length")):
        browser.run("update({step: arguments[0]})", step)
        assert browser.run("return document.documentElement.scrollWidth <= innerWidth")
        assert browser.run("return find('bench-rows').scrollWidth <= find('bench-rows').clientWidth")
    assert overlapping(browser.boxes("#bench-rows thead th")) == []




@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_its_text_can_be_read(page, dark):
    from test_page_layout import CONTRAST as contrast

    browser = page(SENTENCE, "--causal", dark=dark)
    ratios = browser.run(contrast + """
    const ground = (each) => { while (/rgba\\(0, 0, 0, 0\\)|transparent/.test(getComputedStyle(each).backgroundColor)) { each = each.parentElement; } return getComputedStyle(each).backgroundColor; };
    return [...document.querySelectorAll("#bench-rows th, #bench-rows .number, .symbol, #component, #bench-note, .what-if label, .what-if h2, .readout, .scale-texts, #legend-text, .choices button")]
        .filter((each) => each.offsetWidth > 0).map((each) => [contrast(getComputedStyle(each).color, ground(each)), each.textContent]);""")
    assert len(ratios) > 40
    assert min(ratios)[0] >= 4.5, min(ratios)
