"""The scale of the page's colours: one for cells, chips, bars and small pictures, by a switch or an option."""

import math

import pytest
import tensors
from keys import Keys
from program import SENTENCE, assert_fails, run, succeeds
from test_page_layout import CONTRAST, LONG

STOPS = [(247, 250, 253), (185, 211, 238), (107, 163, 214), (38, 96, 164), (8, 26, 63)]
COPY = """const copyOf = (canvas) => {
  const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
  copy.drawImage(canvas, 0, 0);
  return copy.getImageData(0, 0, canvas.width, canvas.height).data;
};
"""
CELLS = COPY + "return [...copyOf(heatMap.image)]"
THUMBNAIL = COPY + """const data = copyOf(document.querySelector(".head canvas"));
return [0, 1, 2, 3, 4, 5].map((i) => 4 * (56 * 24 + 5 + Math.floor((i * 56) / 6))).map((at) => [...data.slice(at, at + 3)]);"""


def ink(share):
    """The ramp on paper, of 256 steps."""
    place = math.floor(min(max(share, 0), 1) * 255 + 0.5) / 255 * 4
    below = min(int(place), 3)
    return tuple(math.floor(a + (b - a) * (place - below) + 0.5) for a, b in zip(STOPS[below], STOPS[below + 1]))


def near(one, other):
    return all(abs(a - b) <= 1 for a, b in zip(one, other))


def cells(browser):
    data = browser.run(CELLS)
    return [tuple(data[4 * i : 4 * i + 3]) for i in range(len(data) // 4)]


def chosen(browser):
    return [each.text for each in browser.all('#shade [aria-checked="true"]')]


@pytest.mark.parametrize(
    "shade, share",
    [("absolute", lambda w, row: w), ("row", lambda w, row: w / max(row)), ("log", lambda w, row: 1 + math.log10(w) / 4 if w > 0 else 0)],
)
@pytest.mark.parametrize("by", ["switch", "option"])
def test_cells_chips_bars_and_thumbnails_have_one_scale(page, shade, share, by):
    browser = page(SENTENCE, "--heads", 2, "--init", "xavier", *(["--set", f"picture.shade={shade}"] if by == "option" else []))
    if by == "switch":
        next(each for each in browser.all("#shade button") if each.text == shade).click()
    assert chosen(browser) == [shade]
    weights = succeeds("run", SENTENCE, "--heads", 2, "--init", "xavier", "--json").json["weights"][0]
    for row, colours in zip(weights, [cells(browser)[6 * i : 6 * i + 6] for i in range(6)]):
        for w, colour in zip(row, colours):
            assert near(colour, ink(share(w, row))), (shade, w)
    browser.run("update({row: 2, column: 0})")
    colours = cells(browser)[12:18]
    chips = browser.run("return [...document.querySelectorAll('.token')].map((each) => getComputedStyle(each).backgroundColor.match(/\\d+/g).map(Number))")
    assert [tuple(chip) for chip in chips] == colours
    row = weights[2]
    bars = {each.text.split("\n")[0]: each for each in browser.all("#row .weights li")}
    for word, w in zip(SENTENCE.replace(",", "").split(), row):
        width = browser.run("return arguments[0].querySelector('.bar-fill').style.width", bars[word])
        assert float(width[:-1]) == pytest.approx(100 * min(max(share(w, row), 0), 1), abs=0.01)
    bench = browser.run("return [...document.querySelectorAll('[data-name=weight] .bench-bar')].map((each) => parseFloat(each.style.width))")
    assert bench == pytest.approx([100 * min(max(share(w, row), 0), 1) for w in row], abs=0.01)
    assert [tuple(pixel) for pixel in browser.run(THUMBNAIL)] == colours


def test_the_key_says_which(page):
    browser = page(SENTENCE, "--scale", 0.01)
    texts = lambda: [each.text for each in browser.all(".scale-texts span")]
    assert (chosen(browser), texts()) == (["absolute"], ["0", "0.25", "0.5"])  # no weight is over a half
    browser.one("#shade button").send_keys(Keys.ARROW_RIGHT)
    assert (chosen(browser), texts()) == (["row"], ["0", "row’s largest: 0.19 to 0.42"])
    assert browser.text("#legend-text").startswith("Each row to its own largest.")
    browser.press(Keys.ARROW_RIGHT)
    assert (chosen(browser), texts()) == (["log"], ["0.00005", "0.005", "0.5"])
    assert browser.run("return document.activeElement.textContent") == "log"


def test_many_keys_are_shaded_by_row_unless_asked_otherwise(page):
    assert chosen(page(" ".join(f"w{i}" for i in range(24)))) == ["absolute"]
    words = " ".join(f"w{i}" for i in range(25))
    assert chosen(page(words)) == ["row"]
    assert chosen(page(words, "--set", "picture.shade=absolute")) == ["absolute"]
    browser = page(words, "--set", "picture.shade_max=0.5")
    assert chosen(browser) == ["absolute"]
    assert [each.text for each in browser.all(".scale-texts span")] == ["0", "0.25", "≥ 0.5"]


def test_plot_takes_the_scale_too(browser, tmp_path):
    tensors.numpy.save(tmp_path / "w.npy", tensors.numpy.float32([[0.5, 0.5], [0.125, 0.875]]))
    succeeds("plot", tmp_path / "w.npy", "--shade", "log", "--shade-max", 0.25, "-o", tmp_path / "w.html")
    browser.open(tmp_path / "w.html")
    assert chosen(browser) == ["log"]
    colours = cells(browser)
    assert colours[0] == (8, 26, 63) and near(colours[2], ink(1 + math.log10(0.5) / 4))
    browser.expect_quiet(tmp_path / "w.html")
    tensors.numpy.save(tmp_path / "s.npy", tensors.numpy.float32([[-2, 3], [1, 2]]))
    succeeds("plot", tmp_path / "s.npy", "--quiet", "--shade-max", 4, "-o", tmp_path / "s.html")
    browser.open(tmp_path / "s.html")
    assert [each.text for each in browser.all(".scale-texts span")] == ["−2", "1", "4"]
    assert not browser.all("#shade button")[2].is_enabled()
    assert_fails(run("plot", tmp_path / "s.npy", "--quiet", "--shade", "log", "-o", tmp_path / "t.html"), 2, "shade log is for weights")
    assert_fails(run("plot", tmp_path / "s.npy", "--quiet", "--shade-max", 1e-3, "--shade", "row", "-o", tmp_path / "t.html"), 2, "--shade-max is for the shades absolute and log")
    tensors.numpy.save(tmp_path / "s.npy", tensors.numpy.float32([[2, 3], [1, 2]]))
    assert_fails(run("plot", tmp_path / "s.npy", "--quiet", "--shade-max", 0.5, "-o", tmp_path / "t.html"), 2, "the number of the strongest colour: got 0.5; allowed: a number above 1")
    assert not (tmp_path / "t.html").exists()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_more_weight_is_more_ink_or_more_light(page, dark):
    browser = page(SENTENCE, dark=dark)
    light = browser.run(CONTRAST + "return Array.from({ length: 256 }, (_, i) => luminance(css(i / 255)))")
    steps = [after - before for before, after in zip(light, light[1:])]
    assert max(steps) <= 0 if not dark else min(steps) > -1e-4  # cividis, of 8 bits
    assert len(set(light)) > 200
    ends = browser.run("return [css(0), css(1)]")
    assert ends == (["rgb(0, 34, 78)", "rgb(254, 232, 56)"] if dark else ["rgb(247, 250, 253)", "rgb(8, 26, 63)"])
    ratios = browser.run(CONTRAST + "return Array.from({ length: 256 }, (_, i) => contrast(inkOn(i / 255) === '#000' ? 'rgb(0, 0, 0)' : 'rgb(255, 255, 255)', css(i / 255)))")
    assert min(ratios) >= 4.5


def test_another_ground_draws_everything_anew(page):
    browser = page(SENTENCE, "--heads", 2)
    before = cells(browser), [each.value_of_css_property("background-color") for each in browser.all(".token")]
    browser.click("#theme")
    after = cells(browser), [each.value_of_css_property("background-color") for each in browser.all(".token")]
    assert all(a != b for one, other in zip(before, after) for a, b in zip(one, other))
    browser.click("#theme")
    assert cells(browser) == before[0]
