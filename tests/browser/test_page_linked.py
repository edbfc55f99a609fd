"""Linked views, keys that can be switched off, words from right to left, print, and where query and output come from."""

import struct

import pytest
from keys import Keys
from program import SENTENCE, succeeds

ARABIC = "الحياة قصيرة تناول الحلوى أولا"
MARKED = """return {
  map: heatMap.pointed && [heatMap.pointed.row, heatMap.pointed.column],
  chips: [...document.querySelectorAll(".token.marked")].map((each) => Number(each.dataset.key)),
  bench: [...document.querySelectorAll("#bench-rows tr.marked")].map((each) => Number(each.dataset.key)),
  bars: [...document.querySelectorAll("#row li.marked")].map((each) => Number(each.dataset.key)),
};"""


def point(browser, x, y):
    browser.command("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    browser.settle()


def point_at(browser, selector, place=0):
    left, top, right, bottom, _ = browser.boxes(selector)[place]
    point(browser, (left + right) / 2, (top + bottom) / 2)


def test_a_word_is_marked_everywhere_and_nothing_moves(page):
    browser = page(SENTENCE, "--heads", 2)
    places = lambda: [box[:4] for box in browser.boxes("#heat-map, #bench, #bench-rows tr, .token, #legend, #what-if")]
    before = places()
    for selector, place, wanted in ((".token", 3, [3, 3]), ('#bench-rows tr[data-key="3"] th', 0, [0, 3])):
        point_at(browser, selector, place)
        marked = browser.run(MARKED)
        assert (marked["map"], marked["chips"], marked["bench"]) == (wanted, [3], [3]), selector
        assert marked["bars"] in ([3], [])
        assert places() == before
        point(browser, 2, 2)
        assert browser.run(MARKED) == {"map": None, "chips": [], "bench": [], "bars": []}
    x, y = browser.run("const box = heatMap.canvas.getBoundingClientRect(); return [box.left + 4.5 * heatMap.width, box.top + 1.5 * heatMap.height]")
    point(browser, x, y)
    marked = browser.run(MARKED)
    assert (marked["map"], marked["chips"], marked["bench"]) == ([1, 4], [4], [4])
    assert browser.text("#readout").startswith("is → dessert ")
    assert places() == before


def test_words_are_whole_where_the_pointer_or_the_focus_is(page):
    long = "incomprehensibilities-and-many-more-incomprehensibilities"
    browser = page(f"{long} is")
    assert browser.run("return [...document.querySelectorAll('.row-labels .label')].map((each) => [each.textContent.endsWith('…'), each.title]).filter(([cut]) => cut)") == [[True, long]]
    browser.run("update({row: 0, column: 0})")
    assert browser.text("#readout").startswith(f"{long} → {long} ")
    assert browser.one(".token").get_attribute("title") == long


def test_zeros_above_the_diagonal_of_another_program_are_masked(browser, tmp_path):
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 3), }"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    start = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
    for values, blank in (([1, 0, 0, 0, 1, 0, 0.25, 0.25, 0.5], [1, 2, 5]), ([1, 0, 0, 0, 0.5, 0.5, 0, 0, 1], [])):
        (tmp_path / "w.npy").write_bytes(start + struct.pack("<9f", *values))
        succeeds("plot", tmp_path / "w.npy", "-o", tmp_path / "w.html")
        browser.open(tmp_path / "w.html")
        alpha = "const copy = new OffscreenCanvas(3, 3).getContext('2d', { willReadFrequently: true }); copy.drawImage(heatMap.image, 0, 0); return [...copy.getImageData(0, 0, 3, 3).data].filter((_, i) => i % 4 === 3)"
        assert [place for place, opaque in enumerate(browser.run(alpha)) if not opaque] == blank
        assert bool(browser.all(".hidden-key")) == bool(blank)
        assert ("0 → 0" in browser.text("#pairs")) == (not blank)  # forced where the row sees nothing else
        browser.expect_quiet(tmp_path / "w.html")


def test_keys_of_one_character_can_be_switched_off(page):
    browser = page(SENTENCE, "--heads", 2)
    browser.press("]")
    head, row, _ = browser.chosen()
    assert head == 1
    browser.click("#shortcuts")
    browser.press("[", "v", "n")
    assert browser.chosen()[0] == 1 and browser.run("return [state.view, state.step]") == ["map", 0]
    browser.press(Keys.ESCAPE, Keys.ARROW_DOWN)  # arrows and Escape are no characters
    assert browser.chosen()[1] == row + 1
    browser.click("#shortcuts")
    browser.press("[")
    assert browser.chosen()[0] == 0


def test_words_that_run_right_to_left_begin_on_the_right(page):
    browser = page(ARABIC, "--heads", 2, "--causal")
    chips = [box[0] for box in browser.boxes(".token")]
    assert chips == sorted(chips, reverse=True)
    labels = sorted((box[0], box[4]) for box in browser.boxes(".column-labels .label"))
    assert [text for _, text in labels] == ARABIC.split()[::-1]
    x, y = browser.run("const box = heatMap.canvas.getBoundingClientRect(); return [box.right - 0.5 * heatMap.width, box.top + 3.5 * heatMap.height]")
    for kind in ("mousePressed", "mouseReleased"):
        browser.command("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
    browser.settle()
    assert browser.chosen() == [0, 3, 0]
    browser.press(Keys.ARROW_LEFT)  # to the next word
    assert browser.chosen() == [0, 3, 1]
    cell, grid = browser.boxes(".cell")[0], browser.boxes(".stage canvas")[0]
    assert grid[2] - cell[2] == pytest.approx(browser.run("return heatMap.width"), abs=1)
    browser.one(".token.current").send_keys(Keys.ARROW_LEFT)
    assert browser.chosen()[1] == 4
    browser.run("update({view: 'lines'})")
    assert browser.boxes(".words.asking")[0][0] > browser.boxes(".words.asked")[0][0]
    assert browser.text("#legend-text").startswith("One scale for all numbers. Words on the right attend to words on the left")


def test_a_printed_page_is_light_and_keeps_its_colours(page):
    browser = page(SENTENCE, "--heads", 2, dark=True)
    ground = "return [isDark(), css(1), [...document.querySelectorAll('.token')].map((each) => getComputedStyle(each).printColorAdjust)[0]]"
    assert browser.run(ground)[:2] == [True, "rgb(254, 232, 56)"]
    corner = "const [red, green, blue] = heatMap.pencil.getImageData(8, 8, 1, 1).data; return [`rgb(${red}, ${green}, ${blue})`, css(shareOf(weight(0, 0, 0), scaleOf(0, 0)))]"
    drawn, expected = browser.run("dispatchEvent(new Event('beforeprint'));" + corner)
    assert drawn == expected  # at once: no frame comes before the paper
    browser.command("Emulation.setEmulatedMedia", media="print")
    assert browser.run(ground) == [False, "rgb(8, 26, 63)", "exact"]
    shown = "return ['#heat-map', '#bench', '#legend', '#what-controls', '#theme'].map((each) => document.querySelector(each).getClientRects().length > 0)"
    assert browser.run(shown) == [True, True, True, False, False]
    assert browser.run("return getComputedStyle(document.querySelector('.bench-bar')).printColorAdjust") == "exact"
    browser.command("Emulation.setEmulatedMedia", media="", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    browser.run("dispatchEvent(new Event('afterprint'))")
    assert browser.run(ground)[:2] == [True, "rgb(254, 232, 56)"]


def test_forced_colours_keep_bars_and_states(page):
    browser = page(SENTENCE, "--causal")
    browser.command("Emulation.setEmulatedMedia", features=[{"name": "forced-colors", "value": "active"}])
    style = "return getComputedStyle(document.querySelector(arguments[0])).forcedColorAdjust"
    for selector in (".token", ".bar-fill", ".bench-bar", ".bench-track", '.symbol[aria-pressed="true"]', '.choices [aria-checked="true"]'):
        assert browser.run(style, selector) == "none", selector
    ground = "return getComputedStyle(document.querySelector(arguments[0])).backgroundColor"
    assert browser.run(ground, '.symbol[aria-pressed="true"]') != browser.run(ground, '.symbol[aria-pressed="false"]')
    browser.command("Emulation.setEmulatedMedia", features=[])


def test_bars_do_not_move_where_motion_is_unwanted(page):
    browser = page(SENTENCE)
    duration = "return getComputedStyle(document.querySelector('.bench-bar')).transitionDuration"
    browser.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
    assert browser.run(duration) == "0s"
    browser.command("Emulation.setEmulatedMedia", features=[])


@pytest.mark.parametrize("options", [["--heads", 2], [], ["--recipe", "politi-2025-multihead"], ["--set", "rounding=step", "--heads", 2, "--query", "eat,is"], ["--dtype", "float64", "--heads", 2, "--kv-heads", 1]])
def test_query_and_output_have_steps_where_the_result_holds_them(page, options):
    sentence = [] if "--recipe" in options else [SENTENCE]
    browser = page(*sentence, *options, "--show", "all")
    names = browser.run("return kinds.map((kind) => kind.name)")
    assert names[:3] == ["x", "W_q·x", "Q·Kᵀ"]
    last_head = browser.run("update({head: result.H - 1, row: 1, step: 1}); return state.head")
    position = browser.run("return result.positions[1]")
    explain = [option for option in options if option not in ("--query", "eat,is")]
    for component in (0, 2):
        browser.run("component = arguments[0]; showStep()", component)
        explained = succeeds("explain", *sentence, *explain, "--query", position, "--head", last_head, "--component", component, "--json").json
        made = next(each for each in explained["projections"] if each["matrix"] == "W_q")
        rows = [[cell.text for cell in row.find_elements("css selector", "td")] for row in browser.all("#step tbody tr")]
        texts = browser.run("return arguments[0].map((row) => row.map(number))", [list(row) for row in zip(made["x"], made["weights"], made["products"])])
        assert [row[:3] for row in rows] == texts
        assert browser.text("#step .formula strong") == browser.run("return number(arguments[0])", made["value"])
        outputs = [each for each in explained["projections"] if each["matrix"] == "W_o"]
        assert ("W_o" in names) == bool(outputs)
        if outputs:
            browser.run("update({step: kinds.length - 1})")
            assert browser.text("#step .formula strong") == browser.run("return number(arguments[0])", outputs[0]["value"])
            browser.run("update({step: 1})")
    assert "x → W" in browser.text("#formula-line")


def test_rotated_queries_have_no_such_step(page):
    browser = page(SENTENCE, "--positions", "rope", "--show", "all")
    assert browser.run("return kinds[0].name") == "Q·Kᵀ"
