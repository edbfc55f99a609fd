"""The page of --format html: what clicks and keys do."""

import pytest
from program import SENTENCE, succeeds
from keys import Keys

WORDS = ["Life", "is", "short", "eat", "dessert", "first"]


def live(page):
    return page.text("#live")


def test_it_opens_with_the_words_their_weights_and_the_first_step(page):
    browser = page(SENTENCE)
    assert [token.text for token in browser.all(".token")] == WORDS
    assert browser.text("#row h2") == "is attends to"
    assert browser.text("#row .weights li:first-child") == "eat0.6368"
    assert browser.text("#steps-title") == "How is comes to give eat 0.6368"
    assert browser.text("#facts") == "self-attention · 6 words · 1 head · d_k 24 · d_v 28 · float32 · random weights, seed 123"
    assert "= 10.2379" in browser.text("#step .formula")
    assert browser.text("#pairs li") == "short → short1.0000"
    assert browser.driver.title == "Attention: Life is short eat dessert first"


def test_under_a_causal_mask_it_opens_at_a_row_that_sees_much(page):
    assert page("a b", "--causal").chosen()[1] == 1
    assert page(" ".join(f"w{i}" for i in range(40)), "--causal", "--init", "xavier").chosen()[1] >= 19


def test_a_click_on_a_word_a_cell_or_a_pair_chooses_it(page):
    browser = page(SENTENCE)
    browser.all(".token")[4].click()
    assert browser.chosen() == [0, 4, 2]
    assert browser.text("#row h2") == "dessert attends to"
    browser.all("#pairs button")[1].click()
    assert browser.chosen() == [0, 5, 5]
    x, y = browser.run("scrollTo(0, 0); const box = heatMap.canvas.getBoundingClientRect(); return [box.left + 3.5 * heatMap.width, box.top + 0.5 * heatMap.height]")
    for kind in ("mousePressed", "mouseReleased"):
        browser.command("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
    browser.settle()
    assert browser.chosen() == [0, 0, 3]
    assert browser.text("#steps-title").startswith("How Life comes to give eat")


def test_the_pointer_shows_a_row_and_leaves_the_choice(page):
    browser = page(SENTENCE)
    x, y = browser.run("const box = heatMap.canvas.getBoundingClientRect(); return [box.left + 2.5 * heatMap.width, box.top + 5.5 * heatMap.height]")
    browser.command("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    browser.settle()
    assert browser.text("#row h2") == "first attends to"
    assert [label.text for label in browser.all(".label.current")] == ["first", "short"]
    assert browser.chosen() == [0, 1, 3]
    browser.command("Input.dispatchMouseEvent", type="mouseMoved", x=1, y=1)
    browser.settle()
    assert browser.text("#row h2") == "is attends to"
    browser.command("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    browser.run("update({view: 'lines'}); update({view: 'map'})")
    assert browser.text("#row h2") == "is attends to"


def test_arrow_keys_walk_over_the_cells(page):
    browser = page(SENTENCE)
    browser.press(Keys.ESCAPE)  # to the cell
    assert browser.run("return document.activeElement === heatMap.cell")
    browser.press(Keys.ARROW_DOWN, Keys.ARROW_LEFT)
    assert browser.chosen() == [0, 2, 2]
    assert browser.one(".cell").get_attribute("aria-label") == "short to short: 1.0000"
    assert live(browser) == "short to short: 1.0000"
    browser.press(Keys.HOME)
    assert browser.chosen() == [0, 2, 0]
    browser.press(Keys.ARROW_LEFT, Keys.END)
    assert browser.chosen() == [0, 2, 5]
    browser.press(Keys.PAGE_DOWN)
    assert browser.chosen() == [0, 5, 5]
    browser.press(Keys.ENTER)
    assert browser.run("return document.activeElement.id") == "step"
    browser.press(Keys.ESCAPE)
    assert browser.run("return document.activeElement === heatMap.cell")


def test_steps_go_on_and_back_by_buttons_and_keys(page):
    browser = page(SENTENCE, "--causal", "--softcap", 5, "--query", "eat")
    steps = ["Q·Kᵀ", "scale", "softcap", "mask", "softmax", "weights·V"]
    selected = lambda: browser.text('#step-list [aria-selected="true"] span:last-child')
    assert [tab.text.split()[-1] for tab in browser.all("#step-list button")] == steps
    for name in steps:
        assert selected() == name
        browser.press("n")
    assert selected() == "weights·V" and not browser.one("#next").is_enabled()
    browser.press("p")
    browser.click("#previous")
    assert selected() == "mask" and live(browser) == "Step 4 of 6: mask"
    browser.all("#step-list button")[0].click()
    browser.press(Keys.ARROW_RIGHT)
    assert selected() == "scale"


def test_heads_change_by_clicks_and_keys(page):
    browser = page(SENTENCE, "--heads", 4)
    marked = lambda: [head.get_attribute("aria-checked") for head in browser.all(".head")].index("true")
    first = browser.text("#row")
    browser.all(".head")[2].click()
    assert (browser.chosen()[0], marked(), browser.text("#pairs h2")) == (2, 2, "Strongest in head 2")
    assert browser.text("#row") != first
    browser.press(Keys.ARROW_RIGHT)
    assert (browser.chosen()[0], marked()) == (3, 3)
    browser.press("]")
    assert browser.chosen()[0] == 3
    browser.press("[", "[", "[")
    assert browser.chosen()[0] == 0
    browser.press("]")
    assert (browser.chosen()[0], marked()) == (1, 1)
    assert live(browser).startswith("Head 1, mean entropy ")


def test_more_heads_than_pictures_are_a_list(page):
    browser = page("a b", "--embed-dim", 130, "--heads", 65)
    assert len(browser.all("#heads option")) == 65
    browser.run("const list = document.querySelector('#heads select'); list.value = 64; list.dispatchEvent(new Event('change'))")
    assert browser.chosen()[0] == 64


def test_lines_are_the_other_picture(page):
    browser = page(SENTENCE)
    browser.press("v")
    assert browser.one("#lines").is_displayed() and not browser.one("#heat-map").is_displayed()
    expected = browser.run("return [...result.weights.values].filter((w) => shareOf(w, wholeScale()) >= leastShare).length")
    assert len(browser.all("#lines .all path")) == expected
    assert len(browser.all("#lines .own path")) == 4  # of "is": two are too thin
    browser.all(".asking button")[2].click()
    assert browser.chosen()[1] == 2
    browser.press(Keys.ARROW_DOWN)
    assert browser.chosen()[1] == 3
    browser.press(Keys.ARROW_RIGHT, Keys.ARROW_UP)
    assert browser.chosen() == [0, 3, 2]
    browser.click("#view button")
    assert browser.one("#heat-map").is_displayed()


def test_the_theme_follows_the_system_until_it_is_chosen(page):
    browser = page(SENTENCE, dark=True)
    paper = lambda: browser.run("return getComputedStyle(document.body).backgroundColor")
    dark = paper()
    assert browser.one("#theme").get_attribute("aria-pressed") == "true"
    browser.click("#theme")
    light = paper()
    assert light != dark and browser.one("#theme").get_attribute("aria-pressed") == "false"
    corner = "return [...heatMap.pencil.getImageData(0, 0, 1, 1).data].slice(0, 3).join(', ')"
    assert f"rgb({browser.run(corner)})" == light  # between the cells
    browser.click("#theme")
    assert paper() == dark


def test_cells_grow_and_shrink(page):
    browser = page(SENTENCE)
    width = browser.run("return heatMap.width")
    browser.click("#larger")
    assert browser.run("return heatMap.width") == pytest.approx(width * 1.5)
    browser.click("#smaller")
    browser.click("#smaller")
    assert browser.run("return heatMap.width") == pytest.approx(width / 1.5)


def test_every_control_is_reached_with_tab(page):
    browser = page(SENTENCE, "--heads", 2)
    reached = []
    for _ in range(60):
        browser.press(Keys.TAB)
        if browser.run("return document.activeElement === document.body"):
            break
        reached.append(browser.run("const e = document.activeElement; return e.id || e.className || e.textContent"))
        outline = browser.run("const s = getComputedStyle(document.activeElement); return s.outlineStyle + s.boxShadow")
        assert outline != "nonenone", reached
    for name in ("save-json", "theme", "token current", "head", "smaller", "cell", "step-0", "next", "step", "table"):
        assert any(name in each for each in reached), (name, reached)


def test_a_tap_chooses_a_cell(page):
    browser = page(SENTENCE, size=(360, 740), touch=True)
    browser.command("Emulation.setTouchEmulationEnabled", enabled=True)
    try:
        browser.run("find('heat-map').scrollIntoView()")
        x, y = browser.run("const box = heatMap.canvas.getBoundingClientRect(); return [box.left + 4.5 * heatMap.width, box.top + 2.5 * heatMap.height]")
        browser.command("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        browser.command("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        browser.settle()
        assert browser.chosen() == [0, 2, 4]
    finally:
        browser.command("Emulation.setTouchEmulationEnabled", enabled=False)


# ---- unusual results -------------------------------------------------------------------------------------------------


def test_cross_attention_has_two_sentences(page):
    browser = page("Life is short", "--cross", "eat dessert first now")
    assert [name.text for name in browser.all(".sentence .name")] == ["These words attend", "to these"]
    assert "cross-attention · 3 query words, 4 key words" in browser.text("#facts")
    browser.all(".sentence:last-child .token")[3].click()
    assert browser.chosen()[2] == 3
    assert browser.run("return [result.T, result.S]") == [3, 4]


def test_masked_cells_are_shown_as_such(page):
    browser = page(SENTENCE, "--causal")
    browser.all(".token")[0].click()
    assert browser.text("#row .rest") == "5 more words masked"
    assert [token.text for token in browser.all(".token.masked")] == WORDS[1:]
    assert browser.text(".hidden-key") == "masked"
    browser.run("update({row: 0, column: 3, step: 2})")
    assert "masked, so its weight is exactly 0" in browser.text("#step")
    assert browser.run("return heatMap.image.getContext('2d').getImageData(3, 0, 1, 1).data[3]") == 0


def test_the_key_of_masked_cells_is_there_where_some_are(page):
    assert not page("Life is short", "--heads", 2, "--positions", "alibi").all(".hidden-key")
    assert not page("alone", "--causal").all(".hidden-key")
    assert not page("Life is short", "--causal", "--query", "short").all(".hidden-key")
    assert page("Life is short", "--heads", 2, "--positions", "alibi", "--causal").text(".hidden-key") == "masked"
    assert page("Life is short", "--causal", "--show", "weights").text(".hidden-key") == "masked"


def test_the_step_of_the_masks_says_what_is_there(page):
    def step(*arguments):
        browser = page("Life is short", "--show", "tokens,weights,scaled_scores,masked_scores", *arguments)
        browser.run("update({head: result.H - 1, row: 1, column: 0, step: kinds.findIndex((kind) => kind.name === 'mask')})")
        return browser.text("#step p"), browser.text("#step .formula")

    def shown(score):
        return f"{score:.4f}".replace("-", "−")

    hidden = " What must not be seen gets the score −∞, whose exponential is 0; the other words share its weight, each in proportion to its own."
    assert step("--causal")[0] == "Here no word sees a later one." + hidden
    alibi = ["--heads", 3, "--embed-dim", 12, "--positions", "alibi"]
    result = succeeds("run", "Life is short", *alibi, "--json", "--show", "scaled_scores,masked_scores").json
    before, after = (shown(result[name][2][1][0]) for name in ("scaled_scores", "masked_scores"))
    slope = "each score loses the distance of its two words times the slope of this head, 0.2500 (ALiBi)."
    assert step(*alibi) == ("Here " + slope, f"Life: {before} − 0.2500 × 1 = {after}")
    assert step(*alibi, "--causal")[0] == "Here no word sees a later one; " + slope + hidden


def test_ids_and_positions_need_no_words(page):
    browser = page("--ids", "2,1,2", "--vocab-size", 4)
    assert [token.text for token in browser.all(".token")] == ["20", "1", "22"]  # and where they stand
    browser.all(".token")[2].click()
    assert browser.text("#row h2") == "22 attends to"  # the word 2 at position 2
    assert browser.one("#row h2 sub").text == "2"


def test_rows_of_a_query_keep_their_positions(page):
    browser = page(SENTENCE, "--query", "short,first")
    assert browser.run("return [result.rows, result.positions]") == [["short", "first"], [2, 5]]
    assert len(browser.all(".sentence:last-child .token")) == 6


def test_a_result_of_weights_alone_says_what_is_missing(page):
    browser = page(SENTENCE, "--show", "weights")
    assert "positions stand for them" in browser.text("#notes")
    assert "queries, keys and values among --show" in browser.text("#notes")
    assert [token.text for token in browser.all(".token")] == list("012345")


def test_without_anything_to_take_steps_with_there_are_none(page):
    browser = page(SENTENCE, "--show", "tokens,weights")
    assert not browser.one("#steps").is_displayed()
    hints = browser.one(".keys").text
    assert "another word" in hints and "step" not in hints
    browser.press(Keys.ESCAPE, "n", "p", Keys.ENTER)
    assert browser.run("return document.activeElement === heatMap.cell")
    assert browser.run("return state.step") == 0


def test_a_step_whose_numbers_are_not_there_says_so(page):
    browser = page(SENTENCE, "--show", "weights,values")
    assert "to the steps" in browser.one(".keys").text and "also shows" not in browser.text("#notes")
    for step, missing in (("Q·Kᵀ", "no queries and keys. A page made with queries,keys among --show"), ("scale", "no scores"), ("softmax", "weight of"), ("weights·V", "context")):
        assert missing in browser.text("#step"), step
        browser.press("n")
    browser = page(SENTENCE, "--show", "weights,scores")
    browser.run("update({step: 3})")
    assert browser.text("#step") == "This page holds no values. A page made with values among --show shows this step's numbers."


def test_a_key_of_the_layers_own_is_a_column(page, tmp_path):
    recipe = tmp_path / "bias.json"
    recipe.write_text(
        '{"schema":"attn-cli/recipe/1","input":{"sentence":"to be"},"dims":{"embed_dim":4,"d_k":2,"d_v":2},"draws":[{"seed":1},'
        '{"tensor":"embedding","init":"normal"},{"tensor":"W_q","init":"normal"},{"tensor":"W_k","init":"normal"},'
        '{"tensor":"W_v","init":"normal"},{"tensor":"bias_k","init":"normal"},{"tensor":"bias_v","init":"normal"}],'
        '"attention":{"causal":true}}'
    )
    browser = page("--recipe", recipe)
    assert browser.run("return result.columns") == ["to", "be", "(bias)"]
    assert "(bias)" in browser.text("#row")


def test_one_word_is_a_page(page):
    browser = page("alone")
    assert browser.text("#row .weights") == "alone1.0000"
    for step in range(4):
        assert browser.text("#step .formula")
        browser.press("n")


def test_infinite_scores_are_shown(page):
    browser = page(SENTENCE, "--init", "normal", "--scale", "1e38", "--quiet")
    browser.run("update({step: 1})")
    assert "∞" in browser.text("#step table")
    assert "overflowed" in browser.text("#notes")
    browser.press("n")
    assert browser.text("#step table") and "nan" not in browser.text("#step table")


def test_the_article_that_multiplies_keys_by_queries_reads_so(page):
    browser = page("--recipe", "owen-2025")
    assert browser.text("#step-list button") == "1K·Qᵀ"
    assert browser.text("#step p").startswith(f"The key of {browser.text('.token.current')} and the query of ")


def test_many_rows_beside_few_columns_stay_low(page):
    browser = page(" ".join(f"w{i}" for i in range(200)), "--cross", "a b c")
    assert browser.run("return [heatMap.width, heatMap.height]") == [64, 20]
    assert browser.run("return heatMap.scroller.scrollWidth <= heatMap.scroller.clientWidth")
