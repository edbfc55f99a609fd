"""plot FILE -o FILE.html: the page of what a file holds."""

import struct

import pytest
from program import succeeds


def npy(path, shape, values):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(values)}f", *values))


def test_weights_of_another_program_make_a_page(browser, tmp_path):
    npy(tmp_path / "w.npy", (2, 2, 3), [0.5, 0.25, 0.25, 0, 0, 1, 1, 0, 0, 0, 0.5, 0.5])
    (tmp_path / "words").write_text("one\ntwo\n")
    (tmp_path / "keys").write_text("<b>\nfish\nblue\n")
    succeeds("plot", tmp_path / "w.npy", "--tokens", tmp_path / "words", "--key-tokens", tmp_path / "keys", "-o", tmp_path / "w.html")
    browser.open(tmp_path / "w.html")
    assert browser.run("return [result.rows, result.columns, result.H]") == [["one", "two"], ["<b>", "fish", "blue"], 2]
    browser.run("update({head: 1, row: 1, column: 2})")
    assert browser.text("#row .weights li") == "fish0.5000"
    assert browser.text("#legend") == "weight00.51"
    assert browser.text("#legend-text") == "One scale for all numbers. Rows attend to columns; each row adds up to 1."
    assert "of at most 1.0986 nats" in browser.text("#row .entropy")
    browser.expect_quiet(tmp_path / "w.html")


def test_weights_without_words_have_positions(browser, tmp_path):
    npy(tmp_path / "w.npy", (2, 2), [0.5, 0.5, 0, 1])
    succeeds("plot", tmp_path / "w.npy", "-o", tmp_path / "w.html")
    browser.open(tmp_path / "w.html")
    assert [token.text for token in browser.all(".token")] == ["0", "1"]
    browser.expect_quiet(tmp_path / "w.html")


def test_weights_of_another_program_have_no_steps_and_no_advice_on_options_of_run(browser, tmp_path):
    npy(tmp_path / "w.npy", (2, 2), [0.5, 0.5, 0, 1])
    succeeds("plot", tmp_path / "w.npy", "-o", tmp_path / "w.html")
    browser.open(tmp_path / "w.html")
    assert not browser.one("#steps").is_displayed()
    shown = browser.one("body").text
    assert "Esc" in shown and "--show" not in shown and "step" not in shown
    browser.expect_quiet(tmp_path / "w.html")


def test_heads_are_named_by_what_they_do(browser, tmp_path):
    before = [float(j == max(i - 1, 0)) for i in range(6) for j in range(6)]
    first = [float(j == 0) for _ in range(6) for j in range(6)]
    even = [(j <= i) / (i + 1) for i in range(6) for j in range(6)]  # a causal mask alone makes no first-word head
    npy(tmp_path / "w.npy", (3, 6, 6), before + first + even)
    succeeds("plot", tmp_path / "w.npy", "-o", tmp_path / "w.html")
    browser.open(tmp_path / "w.html")
    assert [each.text for each in browser.all(".head-role")] == ["previous", "first word", ""]
    assert browser.run("return heads.buttons.map((button) => button.ariaLabel)")[0] == "Head 0: previous 1.00, mean entropy 0"
    browser.expect_quiet(tmp_path / "w.html")


# ---- numbers that are no weights -------------------------------------------------------------------------------------

SCORES = [-1.5, 2, 0.25, 0, 3.5, -2, 1, 1, -0.5]


def open_numbers(browser, folder, shape, values):
    npy(folder / "s.npy", shape, values)
    succeeds("plot", folder / "s.npy", "--quiet", "-o", folder / "s.html")
    browser.open(folder / "s.html")


def test_numbers_that_are_no_weights_are_not_called_so(browser, tmp_path):
    open_numbers(browser, tmp_path, (2, 3, 3), SCORES + SCORES[::-1])
    for view in ("map", "lines"):
        browser.run("update({view: arguments[0]})", view)
        shown = browser.one("body").text
        assert "no weights" in shown or view == "lines"
        for word in ("weight ", "Weights", "attend", "adds up", "together", "ntropy", "NaN"):
            assert word not in shown, word
    assert browser.text("#picture-title") == "Numbers"
    assert browser.driver.title == "Numbers: 0 1 2"
    browser.press("]")
    assert browser.text("#live") == "Head 1"
    labels = browser.run("return [...document.querySelectorAll('[aria-label]')].map((each) => each.getAttribute('aria-label'))")
    assert "Numbers of head 1" in labels and not [label for label in labels if "eight" in label or "attend" in label or "ntropy" in label]
    browser.expect_quiet(tmp_path / "s.html")


def test_they_are_coloured_from_the_least_to_the_largest(browser, tmp_path):
    open_numbers(browser, tmp_path, (3, 3), SCORES)
    assert browser.chosen() == [0, 1, 1]  # the largest
    assert browser.text("#legend") == "number−20.753.5"
    pixels = browser.run("return [...heatMap.image.getContext('2d').getImageData(0, 0, 3, 3).data]")
    colours = [tuple(pixels[4 * place : 4 * place + 4]) for place in range(9)]
    assert colours[SCORES.index(-2)] == (247, 250, 253, 255) and colours[SCORES.index(3.5)] == (8, 26, 63, 255)
    assert len(set(colours)) == len(set(SCORES))
    rows = [token.value_of_css_property("background-color") for token in browser.all(".token")]
    assert rows[1:] == ["rgba(8, 26, 63, 1)", "rgba(247, 250, 253, 1)"]
    assert [item.text.split() for item in browser.all("#row .weights li")] == [["1", "3.5000"], ["0", "0"], ["2", "−2.0000"]]
    bars = browser.run("return [...document.querySelectorAll('#row .bar-fill')].map((bar) => bar.style.width)")
    assert bars[0] == "100%" and 36 < float(bars[1][:-1]) < 37 and bars[2] == "0%"
    browser.press("v")
    assert len(browser.all("#lines .all path")) == 8  # the least has none
    browser.expect_quiet(tmp_path / "s.html")


@pytest.mark.parametrize(
    "values, weights",
    [
        ([0.5, 0.5, 0, 1], True),
        ([0.5, 0.49, 0, 0], True),  # rounded to bfloat16, and all masked
        ([0.5, 0.5, 0.5, 0.25], False),
        ([-0.5, 1.5, 0.5, 0.5], False),
    ],
)
def test_the_numbers_decide(browser, tmp_path, values, weights):
    open_numbers(browser, tmp_path, (2, 2), values)
    assert browser.run("return areWeights") == weights
    assert ("Entropy" in browser.text("#row")) == weights
    assert browser.run("const { least, largest } = wholeScale(); return [least, largest]") == ([0, 1 if max(values) > 0.5 else 0.5] if weights else [min(values), max(values)])
    browser.expect_quiet(tmp_path / "s.html")


@pytest.mark.parametrize("value, ends", [(3, "01.53"), (-3, "−3−1.50"), (3e38, "01.5e+383e+38")])
def test_one_number_alone_has_a_range(browser, tmp_path, value, ends):
    open_numbers(browser, tmp_path, (2, 2), [value] * 4)
    assert browser.text("#legend") == "number" + ends
    browser.expect_quiet(tmp_path / "s.html")
