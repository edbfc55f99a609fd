"""Where Chromium puts the text of a picture: no label on another one, none outside, none beyond its cell."""

import random
from pathlib import Path

import pytest
from program import SENTENCE, succeeds

# The corners of every text as the page shows it, turned labels too.
CORNERS = """
return [...document.querySelectorAll('text')].map((text) => {
    const box = text.getBBox(), to = text.getCTM();
    const at = (x, y) => [to.a * x + to.c * y + to.e, to.b * x + to.d * y + to.f];
    const [x, y, w, h] = [box.x, box.y, box.width, box.height];
    const ends = [at(x, y), at(x + w, y + h)];
    return {
        text: text.textContent,
        left: Math.min(ends[0][0], ends[1][0]), right: Math.max(ends[0][0], ends[1][0]),
        top: Math.min(ends[0][1], ends[1][1]), bottom: Math.max(ends[0][1], ends[1][1]),
    };
}).filter((box) => box.right > box.left);
"""
# A line box is higher than its letters: what reaches into the next one by this much is the space between lines.
LEADING = 3


def words(count, seed=1, alphabet="abcdefghijklmnopqrstuvwxyz", longest=9):
    chance = random.Random(seed)
    return " ".join("".join(chance.choices(alphabet, k=chance.randint(1, longest))) for _ in range(count))


CHINESE = "".join(chr(code) for code in range(0x4E00, 0x4F00))
MIXED = "Donaudampfschifffahrtsgesellschaft \U0001f468\u200d\U0001f469\u200d\U0001f467 \u0645\u0631\u062d\u0628\u0627 \u4f60\u597d\u4e16\u754c e\u0301te\u0301 WWWWWWWWWWWWWWWWWWWWWWWW iiiiiiiiiiiiiiiii \u0416\u0428\u0429\u042e <script>alert(1)</script> \"&'"
CASES = {
    "six words": [SENTENCE],
    "four heads": [SENTENCE, "--heads", "4", "--causal"],
    "one word": ["Life"],
    "scores": [SENTENCE, "--show", "scores"],
    "64 words, 8 heads": [words(64), "--heads", "8"],
    "64 words": [words(64), "--init", "linear"],
    "300 words": [words(300)],
    "one row of 500": [words(500), "--query", "7", "--init", "linear"],
    "long words": [words(12, longest=60), "--init", "xavier"],
    "capitals": [words(30, alphabet="WMQ@%"), "--heads", "2"],
    "Chinese": [words(20, alphabet=CHINESE, longest=6), "--heads", "2"],
    "mixed": [MIXED, "--init", "xavier"],
    "many digits": [SENTENCE, "--digits", "9"],
    "a long title": ["Life is", "--set", "picture.title=" + "W" * 300],
}


@pytest.fixture
def picture(browser, tmp_path):
    def make(*arguments):
        path = tmp_path / "picture.svg"
        succeeds("run", *arguments, "-o", path)
        browser.open(path)
        return browser

    return make


def overlapping(boxes):
    """Pairs of texts that lie on each other by more than the space around their letters."""
    ordered = sorted(boxes, key=lambda box: box["left"])
    for i, a in enumerate(ordered):
        for b in ordered[i + 1 :]:
            if b["left"] >= a["right"]:
                break
            across = min(a["right"], b["right"]) - max(a["left"], b["left"])
            along = min(a["bottom"], b["bottom"]) - max(a["top"], b["top"])
            if across > LEADING and along > LEADING:
                yield a["text"], b["text"], across, along


def expect_room_for_all(browser):
    boxes = browser.run(CORNERS)
    assert boxes
    assert list(overlapping(boxes)) == []
    left, top, width, height = map(float, browser.run("return document.documentElement.getAttribute('viewBox')").split())
    outside = [
        box for box in boxes
        if box["left"] < left or box["top"] < top or box["right"] > left + width or box["bottom"] > top + height
    ]
    assert outside == []


DRAWN = [(case, "heatmap") for case in CASES] + [(case, "arcs") for case in CASES if "--show" not in CASES[case]]


@pytest.mark.parametrize(("case", "plot"), DRAWN)
def test_no_label_lies_on_another_or_outside(picture, case, plot):
    options = ["--top", "30"] if plot == "arcs" and "500" in case else []
    expect_room_for_all(picture(*CASES[case], "--plot", plot, *options))


def test_random_words_leave_each_other_room(picture):
    chance = random.Random(3)
    for seed in range(25):
        alphabet = chance.choice(["abcdefghijklmnop", "WMm@", "il.,'", CHINESE, "абвжшщю", "\u0645\u0631\u062d\u0628\u0634"])
        text = words(chance.randint(1, 70), seed, alphabet, chance.choice([3, 9, 40]))
        expect_room_for_all(picture(text, "--heads", str(chance.choice([1, 2, 4])), "--plot", chance.choice(["heatmap", "arcs"])))


def test_numbers_stay_inside_their_cells(picture):
    browser = picture(SENTENCE, "--heads", "4", "--digits", "4")
    outside = browser.run(
        """
        const cells = [...document.querySelectorAll('rect')].slice(1).map((rect) => rect.getBBox());
        const inside = (a, b) => a.x >= b.x && a.y >= b.y && a.x + a.width <= b.x + b.width && a.y + a.height <= b.y + b.height;
        return [...document.querySelectorAll('g[pointer-events] text')].filter((text) => !cells.some((cell) => inside(text.getBBox(), cell)))
            .map((text) => text.textContent);
        """
    )
    assert outside == []
    assert len(browser.all("g[pointer-events] text")) == 4 * 36


def test_a_picture_runs_nothing_and_asks_for_nothing(picture, tmp_path):
    browser = picture(MIXED, "--set", "picture.title=<script>alert(1)</script>")
    assert browser.run("return document.querySelectorAll('script, a, image, foreignObject').length") == 0
    assert browser.complaints() == []
    assert browser.requests() == [(tmp_path / "picture.svg").as_uri()]


def test_the_pictures_of_the_readme(browser):
    for picture in sorted((Path(__file__).parents[2] / "data" / "pictures").glob("*.svg")):
        browser.open(picture)
        expect_room_for_all(browser)
