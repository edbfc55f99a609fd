"""All heads of a whole model at once: what the grid shows, says and opens."""

import json
import time

import pytest
from keys import Keys
from program import succeeds
from tensors import numpy
from test_page_layout import outside

SENTENCE = "the cat sat on the mat and the cat sat"
SIZES = [(1280, 900), (768, 900), (360, 740)]


def planted(folder, layers, heads, words=64):
    """Heads that look at the word before, at the first word and behind earlier places of their word, and one that looks at all alike."""
    sentence = [f"w{i % 27}" for i in range(words)]
    seen = numpy.tri(words)
    before = numpy.eye(words, k=-1) + numpy.diag([1.0] + [0] * (words - 1))
    first = numpy.zeros((words, words))
    first[:, 0] = 1
    again = numpy.array([[float(j > 0 and j - 1 < i and sentence[j - 1] == sentence[i] and j <= i) for j in range(words)] for i in range(words)])
    again[again.sum(1) == 0, 0] = 1
    kinds = [matrix / matrix.sum(1, keepdims=True) for matrix in (before, first, again, seen)]
    weights = numpy.array([[kinds[(layer + head) % 4] for head in range(heads)] for layer in range(layers)], dtype="float32")
    numpy.save(folder / "model.npy", weights)
    (folder / "words.txt").write_text("\n".join(sentence) + "\n")
    succeeds("plot", folder / "model.npy", "--axes", "lhts", "--tokens", folder / "words.txt", "-o", folder / "page.html")
    return folder / "page.html"


def gathered(browser):
    for _ in range(200):
        if browser.run("return modelView.places.every((place) => place.image)"):
            browser.settle()
            return
        time.sleep(0.05)
    raise AssertionError("the pictures are not drawn")


READ = """const read = (x, y, width) => {
    const copy = element("canvas"), pencil = (copy.width = width, copy.height = 1, copy.getContext("2d", { willReadFrequently: true }));
    pencil.drawImage(modelView.canvas, -Math.round(x * devicePixelRatio), -Math.round(y * devicePixelRatio));
    return [...pencil.getImageData(0, 0, width, 1).data] };"""


def pixel(browser, layer, head, right, down):
    """The colour at a place of a head's picture, by shares of its size."""
    return browser.run(
        READ + """const place = modelView.shown.find((each) => each.layer === arguments[0] && each.head === arguments[1]);
        const [x, y] = modelView.corner(place);
        return read(x + arguments[2] * modelView.size, y + arguments[3] * modelView.size, 1)""",
        layer, head, right, down)


def test_the_means_are_those_of_the_summary(page):
    browser = page(SENTENCE, "--model", "induction")
    gathered(browser)
    shown = browser.run("return modelView.places.map(({ means }) => means)")
    wanted = sum((layer["summary"]["heads"] for layer in succeeds("run", SENTENCE, "--model", "induction", "--show", "summary", "--json").json["layers"]), [])
    assert len(shown) == len(wanted) == 4
    for ours, theirs in zip(shown, wanted):
        assert set(theirs) - {"pairs"} == set(ours) - {"role"}
        for name, mean in ours.items() - {("role", ours.get("role"))}:
            assert mean == pytest.approx(theirs[name], abs=1e-6), name
    assert browser.run("return modelView.places.map(({ role }) => role?.name ?? null)") == ["previous", "previous", "induction", "induction"]
    assert "previous" in browser.text(".model-key") and "induction" in browser.text(".model-key")


@pytest.mark.parametrize("model", ["induction", "two-blocks"])
def test_the_heads_of_a_small_model_are_one_row_above_a_map_in_the_first_screen(page, model):
    browser = page(SENTENCE, "--model", model)
    gathered(browser)
    assert browser.one("#model-body").is_displayed() and not browser.one("#heads").is_displayed()
    assert browser.run("return new Set(modelView.shown.map(({ y }) => y)).size") == 1
    assert outside(browser.boxes("#heat-map .stage"), (0, 0, 1280, 900)) == []
    browser.press("m")
    assert not browser.one("#model-body").is_displayed() and browser.one("#heads").is_displayed()
    browser.run("heads.buttons[0].focus()")
    browser.press("m")
    assert browser.run("return document.activeElement === modelView.cell")


def test_each_planted_pattern_is_drawn_named_and_framed(browser, tmp_path):
    path = planted(tmp_path, 12, 12)
    browser.open(path)
    gathered(browser)
    assert browser.run("return modelView.places.slice(0, 4).map(({ role }) => role?.name ?? null)") == ["previous", "first", "induction", None]
    assert browser.run("return [isMasked(0, 3, 4), isMasked(0, 3, 3)]") == [True, False]  # the zeros above the diagonal of every head
    ink, paper = [8, 26, 63, 255], [247, 250, 253, 255]
    assert ink in [pixel(browser, 0, 0, 0.5 + right / 100, 0.5) for right in range(-6, 3)] and pixel(browser, 0, 0, 0.2, 0.8) == paper
    assert pixel(browser, 0, 1, 0.005, 0.8) == ink and pixel(browser, 0, 1, 0.5, 0.8) == paper
    frames = [pixel(browser, 0, head, -0.02, 0.5) for head in range(4)]
    assert len(set(map(tuple, frames))) == 4
    browser.expect_quiet(path)


def test_pointing_at_a_word_shows_its_row_in_every_head(browser, tmp_path):
    path = planted(tmp_path, 2, 4)
    browser.open(path)
    gathered(browser)
    strips = lambda: browser.run(
        READ + """return modelView.shown.map((place) => { const [x, y] = modelView.corner(place);
        return read(x, y + modelView.under + 2, modelView.size) })""")
    strongest = lambda: [min(range(0, len(strip), 4), key=lambda at: sum(strip[at:at + 3])) for strip in strips()]
    chosen = strips()
    browser.run("update({pointed: {row: 33}})")
    before = strongest()
    browser.run("update({pointed: {row: 40}})")
    same = [at for at, (a, b) in enumerate(zip(before, strongest())) if a == b]
    assert same == [1, 3, 4, 6]  # the heads that look at the first word, and those that look at all alike
    assert "what “w13” attends to" in browser.text(".model-status")
    browser.run("update({pointed: null})")
    assert strips() == chosen


def test_a_click_and_keys_open_a_head(browser, tmp_path):
    path = planted(tmp_path, 3, 4)
    browser.open(path)
    gathered(browser)
    chosen = lambda: browser.run("return [state.layer, state.head, modelView.body.hidden]")
    browser.run("modelView.cell.focus()")
    browser.press(Keys.ARROW_DOWN, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert browser.text("#live").startswith("Layer 1, head 2") and chosen() == [0, 0, False]
    assert browser.run("return [modelView.cell.getAttribute('aria-colindex'), modelView.cell.parentElement.getAttribute('aria-rowindex')]") == ["3", "2"]
    browser.press(Keys.ENTER)
    assert chosen() == [1, 2, True] and browser.run("return document.activeElement === heatMap.cell")
    browser.press("m")
    assert chosen() == [1, 2, False] and browser.run("return modelView.shown[modelView.at].layer") == 1
    browser.run("""const [x, y] = modelView.corner(modelView.shown.find(({ layer, head }) => layer === 2 && head === 3));
        const box = modelView.stage.getBoundingClientRect();
        modelView.stage.dispatchEvent(new MouseEvent("click", { clientX: box.left + x + 5, clientY: box.top + y + 5, bubbles: true }))""")
    assert chosen() == [2, 3, True]
    browser.driver.get("about:blank")
    browser.driver.get(path.as_uri() + "#l=1&h=3&q=7")
    browser.settle()
    assert chosen() == [1, 3, True] and browser.run("return state.row") == 7
    assert browser.complaints() == []


def test_heads_are_sorted_by_what_they_do(browser, tmp_path):
    path = planted(tmp_path, 4, 4)
    browser.open(path)
    gathered(browser)
    for name in ("previous", "first", "induction", "entropy"):
        browser.run("modelView.sorting.value = arguments[0]; modelView.sorting.dispatchEvent(new Event('change'))", name)
        means = browser.run("return modelView.shown.map(({ means }) => means[arguments[0]])", name)
        assert means == sorted(means, reverse=True) and means[0] > means[-1]
        labels = [box[4] for box in browser.boxes(".of-place")]
        assert len(labels) == 16 and labels[0].endswith(f"{means[0]:.2f}")


@pytest.mark.parametrize("size", SIZES, ids=lambda size: str(size[0]))
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_large_model_opens_fits_and_can_be_read(browser, tmp_path, size, dark):
    path = planted(tmp_path, 12, 12) if size[0] < 1280 else planted(tmp_path, 36, 20)
    browser.open(path, size=size, dark=dark)
    gathered(browser)
    assert browser.run("return document.documentElement.scrollWidth <= innerWidth")
    contrasts = browser.run("""const light = (css) => css.match(/[\\d.]+/g).slice(0, 3).map((part) => part / 255)
            .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)).reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
        const ratio = (a, b) => { const [low, high] = [light(a), light(b)].sort((x, y) => x - y); return (high + 0.05) / (low + 0.05) };
        const paper = getComputedStyle(document.body).backgroundColor;
        const of = (selector, what) => [...document.querySelectorAll(selector)].map((each) => ratio(getComputedStyle(each)[what], paper));
        return [of(".model-label, .model-status, .model-key span, .model-bar *", "color"), of(".model-swatch", "borderTopColor")]""")
    assert contrasts[0] and min(contrasts[0]) >= 4.5 and contrasts[1] and min(contrasts[1]) >= 3
    browser.run("for (let row = 0; row < 60; ++row) { modelView.show(row) }")
    browser.expect_quiet(path)


def test_pages_without_layers_have_no_grid(page):
    browser = page("Life is short", "--heads", 2)
    assert not browser.one("#model-section").is_displayed()
    browser.press("m")
    assert browser.complaints() == []


def test_numbers_that_are_no_weights_have_pictures_and_no_roles(browser, tmp_path):
    saved = json.loads(succeeds("run", SENTENCE, "--model", "induction", "--layer", "all", "--show", "tokens,weights", "--json").out)
    for layer in saved["layers"]:
        layer["weights"] = [[[x - 0.5 for x in row] for row in head] for head in layer["weights"]]
    (tmp_path / "saved.json").write_text(json.dumps(saved))
    succeeds("plot", tmp_path / "saved.json", "--quiet", "-o", tmp_path / "page.html")
    browser.open(tmp_path / "page.html")
    gathered(browser)
    assert browser.run("return modelView.places.map(({ role }) => role?.name ?? null)") == [None] * 4
    assert browser.run("return modelView.sorting.options.length") == 1
    browser.expect_quiet(tmp_path / "page.html")
