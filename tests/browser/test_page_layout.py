"""Labels can be read: none touches another, none leaves its place. With ATTN_SHOTS=FOLDER every page is photographed, too."""

import os
from itertools import combinations
from pathlib import Path

import pytest
from program import SENTENCE

WIDE, NARROW = (1280, 900), (360, 740)

TEXT = """It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness, it was the
epoch of belief, it was the epoch of incredulity, it was the season of Light, it was the season of Darkness, it was the spring of
hope, it was the winter of despair, we had everything"""
LONG = " ".join((TEXT + ", we had nothing before us, we were all").split()[:64])
SCRIPTS = "مرحبا 汉字 e\u0301\u0323o\u0308 \U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466 a-word-that-is-longer-than-any-column-can-be שלום 한국어 ไทย"
PAGES = {
    "six": [SENTENCE],
    "64x8": [LONG, "--heads", 8, "--embed-dim", 128],
    "masked": [SENTENCE, "--heads", 4, "--causal"],
    "cross": [SENTENCE, "--cross", "The quick brown fox jumps"],
    "scripts": [SCRIPTS],
    "query": [" ".join(f"word{i}" for i in range(300)), "--query", "word3,word200"],
}


def overlapping(boxes):
    """Pairs that share more than a pixel's edge."""
    return [
        (one[4], other[4])
        for one, other in combinations(boxes, 2)
        if min(one[2], other[2]) - max(one[0], other[0]) > 0.5 and min(one[3], other[3]) - max(one[1], other[1]) > 0.5
    ]


def outside(boxes, place):
    return [box for box in boxes if box[0] < place[0] - 0.5 or box[1] < place[1] - 0.5 or box[2] > place[2] + 0.5 or box[3] > place[3] + 0.5]


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("name", PAGES)
def test_labels_neither_touch_nor_leave_their_place(page, name, size):
    browser = page(*PAGES[name], size=size, touch=size == NARROW)
    rows, columns = browser.boxes(".row-labels .label"), browser.boxes(".column-labels .label")
    assert rows and columns
    assert overlapping(rows + columns) == []
    stage = browser.boxes(".stage")[0]
    assert outside(rows + columns, stage) == []
    grid = browser.boxes(".stage canvas")[0]
    assert all(box[2] <= grid[0] for box in rows) and all(box[3] <= grid[1] for box in columns)
    for selector in (".token", "#step-list button", ".head", "header > *, .bar > *", ".weights li > *:not(.bar-track)", ".pairs button > *", "#step th", "#step .formula"):
        assert overlapping(browser.boxes(selector)) == [], selector
    if os.environ.get("ATTN_SHOTS"):
        browser.screenshot(Path(os.environ["ATTN_SHOTS"]) / f"page-{name}-{size[0]}.png")


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_long_words_are_broken_and_their_positions_are_not(page, size):
    browser = page("incomprehensibilities and incomprehensibilities", size=size)
    names, positions = browser.boxes(".weights .what"), browser.boxes(".weights .position")
    assert (len(names), len(positions)) == (3, 2)
    for position in positions:
        assert any(outside([position], name) == [] for name in names), position


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("view", ["map", "lines"])
def test_a_phone_scrolls_in_one_direction_alone(page, name, view):
    browser = page(*PAGES[name], size=NARROW, touch=True)
    browser.run("update({view: arguments[0]})", view)
    for step in range(4):
        browser.run("update({step: arguments[0]})", step)
        browser.settle()
        assert browser.run("return document.documentElement.scrollWidth") == NARROW[0]


CUT = """
const found = [], range = document.createRange(), nodes = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
const scrolls = ".table, .bench-rows, .scroller, .model-grid, .line-scroller"; // boxes of tables and pictures
while (nodes.nextNode()) {
  const text = nodes.currentNode, own = text.parentElement;
  if (!text.data.trim() || own.closest("script, style, noscript, .unseen, .skip, option")) { continue }
  range.selectNodeContents(text);
  for (const box of range.getClientRects()) {
    for (let each = own; each; each = each.parentElement) {
      const { overflowX } = getComputedStyle(each), { left, right, top, bottom } = each.getBoundingClientRect();
      const across = box.left < left - 1.5 || box.right > right + 1.5, down = box.top < top - 4 || box.bottom > bottom + 4;
      const cuts = overflowX !== "visible" && !each.matches(scrolls) && (across || down);
      if (cuts || (each === document.documentElement && across)) { found.push(text.data) }
      if (overflowX === "auto" || overflowX === "scroll") { break }
    }
  }
}
for (const list of [...document.querySelectorAll("select")].filter((each) => each.offsetWidth > 0)) {
  const only = list.cloneNode(), { text } = list.selectedOptions[0];
  only.append(element("option", { text }));
  list.after(only);
  if (only.offsetWidth > list.offsetWidth) { found.push(text) }
  only.remove();
}
return found;"""
UNCUT = {
    "four": [SENTENCE, "--heads", 4],
    "causal": [SENTENCE, "--heads", 8, "--embed-dim", 32, "--causal", "--init", "xavier"],
    "long": [f"incomprehensibilities and {LONG.split()[0]} Donaudampfschifffahrtselektrizitaetenhauptbetriebswerk are counterrevolutionaries", "--heads", 2],
    "scripts": [SCRIPTS],
    "induction": ["the cat sat on the mat and the cat sat", "--model", "induction"],
    "two-blocks": ["incomprehensibilities are words", "--model", "two-blocks"],
}


@pytest.mark.parametrize("name", UNCUT)
def test_a_phone_cuts_nothing(page, name):
    browser = page(*UNCUT[name], size=NARROW, touch=True)
    for step in range(browser.run("return kinds.length")):
        browser.run("update({step: arguments[0], row: arguments[0] % result.T, column: 0})", step)
        browser.settle()
        assert browser.run(CUT) == [], step
    if browser.one("#what-controls").is_displayed():
        browser.run("find('what-causal').click(); find('what-hide').selectedIndex = 3; find('what-hide').dispatchEvent(new Event('change'))")
        browser.settle()
        assert browser.text("#what-command") and browser.run(CUT) == []
    browser.run("update({view: 'lines'})")
    browser.settle()
    assert browser.run(CUT) == [] and browser.run("return document.documentElement.scrollWidth") == NARROW[0]


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_words_beside_the_lines_do_not_touch(page, size):
    browser = page(*PAGES["64x8"], size=size)
    browser.press("v")
    for side in (".asking button", ".asked button"):
        assert len(browser.boxes(side)) == 64
        assert overlapping(browser.boxes(side)) == []
    browser.run("update({row: 60})")
    assert outside(browser.boxes(".asking button.current"), browser.boxes(".line-scroller")[0]) == []
    assert 64 < len(browser.all("#lines .all path")) <= 6 * 64


def test_the_chosen_cell_comes_into_sight(page):
    browser = page(*PAGES["64x8"], size=NARROW)
    for row, column in ((63, 63), (0, 0), (30, 50)):
        browser.run("update({row: arguments[0], column: arguments[1]})", row, column)
        browser.settle()
        assert outside(browser.boxes(".cell"), browser.boxes(".stage canvas")[0]) == []
        words = LONG.replace(",", "").split()
        named = [words[i] + (str(i) if words.count(words[i]) > 1 else "") for i in (row, column)]
        assert [label.text for label in browser.all(".label.current")] == named


CONTRAST = """
const luminance = (text) => text.match(/[\\d.]+/g).slice(0, 3).map(Number).map((c) => c / 255)
    .map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4).reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
const contrast = (one, other) => {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
};
"""


def test_dark_text_and_paper_differ_enough(page):
    browser = page(SENTENCE)
    ratio = """
    const paper = getComputedStyle(document.body).backgroundColor;
    return [...document.querySelectorAll(".facts, h2, .hint, .rest, .entropy, .label, .number, .formula strong, .shapes, caption, footer p")]
        .map((each) => contrast(getComputedStyle(each).color, paper));"""
    for _ in range(2):
        assert min(browser.run(CONTRAST + ratio)) >= 4.5
        browser.click("#theme")


def test_text_and_every_colour_below_it_differ_enough(page):
    browser = page(SENTENCE)
    ratios = browser.run(CONTRAST + """
    const probe = document.body.appendChild(document.createElement("p"));
    return Array.from({ length: 256 }, (_, i) => {
      probe.style.color = inkOn(i / 255);
      probe.style.backgroundColor = css(i / 255);
      const { color, backgroundColor } = getComputedStyle(probe);
      return contrast(color, backgroundColor);
    });""")
    assert len(ratios) == 256 and min(ratios) >= 4.5
