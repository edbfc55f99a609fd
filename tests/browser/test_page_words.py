"""Words that would be markup, script or layout elsewhere are text on the page, and the page asks nobody for anything."""

import pytest
from keys import Keys
from program import succeeds

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
WORDS = [
    "<script>alert(1)</script>",
    "\"&'",
    "</script><img/src=x/onerror=alert(1)>",
    "<!--<script>",
    "]]>&lt;{{style}}",
    FAMILY,
    "مرحبا",
    "汉字",
    "e\u0301\u0323o\u0308",
    "\\u003c\\",
    "javascript:alert(1)",
    "\x1b[31mred\x07",
    "\u202eturned",
    "${alert(1)}`",
]
SHOWN = [*WORDS[:11], "\\x1b[31mred\\x07", "\\u202eturned", WORDS[13]]


@pytest.fixture
def hostile(page):
    return page(" ".join(WORDS), "--heads", 2, "--query", ",".join(str(i) for i in range(len(WORDS))))


def test_they_are_text_in_every_part_of_the_page(hostile):
    browser = hostile
    texts = lambda selector: [box[4] for box in browser.boxes(selector)]
    assert texts(".sentence:last-child .token") == SHOWN
    assert set(texts(".row-labels .label")) <= set(SHOWN) and len(texts(".row-labels .label")) == len(SHOWN)
    assert sorted(texts(".column-labels .label")) == sorted(SHOWN)
    for row in range(len(WORDS)):
        browser.run("update({row: arguments[0], column: arguments[0]})", row)
        assert browser.text("#row h2") == f"{SHOWN[row]} attends to"
        assert browser.text("#steps-title").startswith(f"How {SHOWN[row]} comes to give {SHOWN[row]} ")
        for step in range(4):
            browser.run("update({step: arguments[0]})", step)
            assert step == 0 or SHOWN[row] in browser.text("#step table")
    browser.press("v")
    assert texts("#lines .asking button") == SHOWN


def test_nothing_of_them_runs_or_becomes_an_element(hostile):
    browser = hostile
    assert browser.run("return document.querySelectorAll('script').length") == 4
    assert browser.all("img, iframe, object, link, [onerror]") == []
    assert browser.run("return document.title").startswith("Attention: <script>alert(1)</script>")
    browser.press(Keys.ESCAPE, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    from selenium.common.exceptions import NoAlertPresentException

    with pytest.raises(NoAlertPresentException):
        _ = browser.driver.switch_to.alert


def test_a_word_keeps_its_direction_to_itself(hostile):
    assert all(hostile.run("return [...document.querySelectorAll('.word')].map((each) => each.localName === 'bdi')"))
    assert hostile.run("return [...document.querySelectorAll('.label')].every((each) => each.dir === 'auto')")


def test_letters_are_not_cut_in_half(page):
    browser = page(FAMILY * 60 + " " + "e\u0301" * 100)
    assert browser.all(".token")[0].text == FAMILY * 39 + "…"
    assert browser.all(".token")[1].text == "e\u0301" * 39 + "…"


def test_long_words_and_words_that_javascript_knows_are_words(page):
    browser = page("constructor __proto__ toString " + "x" * 100000)
    assert [token.text for token in browser.all(".token")] == ["constructor", "__proto__", "toString", "x" * 39 + "…"]


@pytest.mark.parametrize(
    "directive, attempt",
    [
        ("connect-src", "fetch('https://example.org/').catch(() => 0)"),
        ("connect-src", "new WebSocket('wss://example.org/')"),
        ("img-src", "new Image().src = 'https://example.org/x.png'"),
        ("img-src", "new Image().src = 'data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7'"),
        ("script-src-elem", "add('script', (made) => { made.textContent = 'window.ran = 1'; })"),
        ("script-src-elem", "add('script', (made) => { made.src = 'https://example.org/x.js'; })"),
        ("script-src-attr", "add('div', (made) => { made.innerHTML = '<b onclick=\"window.ran = 1\">x</b>'; made.firstChild.click(); })"),
        ("style-src-elem", "add('style', (made) => { made.textContent = 'body { color: red }'; })"),
        ("style-src-elem", "add('link', (made) => { made.rel = 'stylesheet'; made.href = 'https://example.org/x.css'; })"),
        ("font-src", "new FontFace('x', 'url(https://example.org/x.woff)').load().catch(() => 0)"),
        ("frame-src", "add('iframe', (made) => { made.src = 'https://example.org/'; })"),
        ("form-action", "add('form', (made) => { made.action = 'https://example.org/'; })"),
        ("base-uri", "add('base', (made) => { made.href = 'https://example.org/'; })"),
    ],
)
def test_the_policy_refuses_requests_and_foreign_scripts(browser, tmp_path, directive, attempt):
    path = tmp_path / "page.html"
    succeeds("run", "Life is short", "-o", path)
    browser.open(path)
    refused = browser.driver.execute_async_script(
        f"""const done = arguments[0];
        document.addEventListener("securitypolicyviolation", (event) => done(event.effectiveDirective));
        const add = (name, change) => {{ const made = document.createElement(name); change(made); document.body.append(made);
                                         if (name === "form") made.submit(); }};
        setTimeout(() => done("nothing"), 2000);
        {attempt};"""
    )
    assert refused == directive
    assert browser.run("return window.ran") is None
