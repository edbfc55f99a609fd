"""What if: the page computes other masks and scales itself, and gives the numbers of the command that it shows."""

import json
import math
import random
import subprocess

import pytest
import tensors
from cases import CASES, settings, single
from program import PROGRAM, SENTENCE, succeeds

SET = """
const [causal, scale, temperature, hide] = arguments;
const send = (id, type) => find(id).dispatchEvent(new Event(type));
find("what-causal").checked = causal;
send("what-causal", "change");
find("what-scale").checked = scale;
send("what-scale", "change");
find("what-temperature").value = temperature;
send("what-temperature", "input");
find("what-hide").value = hide;
send("what-hide", "change");"""
NUMBERS = """
const rows = (head) => Array.from({ length: result.T }, (_, row) => row).map((row) => [[...rowOf(result.weights, head, row)], [...contextOfRow(head, row)],
    [...stagesOfRow(head, row).last].map((x) => (x === -Infinity ? null : x)), number(entropy(head, row))]);
return Array.from({ length: result.H }, (_, head) => rows(head));"""


def changed(browser, causal=False, scale=True, temperature=0, hide=0):
    browser.run(SET, causal, scale, temperature, str(hide))
    browser.settle()
    return browser.text("#what-command")


def result_of(command, show="weights,head_context,scaled_scores,entropy"):
    """What the command prints, typed into a shell."""
    script = 'attn-cli() { "$PROGRAM" "$@"; }\n' + command + f" --isa portable --quiet --json --show {show}"
    done = subprocess.run(["bash", "-c", script], env={"PROGRAM": PROGRAM, "LC_ALL": "C.UTF-8"}, capture_output=True, check=False)
    assert done.returncode == 0, (command, done.stderr)
    return json.loads(done.stdout)


@pytest.mark.parametrize("number", range(CASES))
def test_every_number_is_that_of_the_command(page, number):
    sentence, options = settings(number + 100_000)
    browser = page(sentence, *options, "--isa", "portable", "--quiet")
    held = (lambda x: x) if "float64" in options else single
    draw = random.Random(number)
    assert browser.one("#what-controls").is_displayed(), options
    for _ in range(2):
        hide = draw.randrange(len(browser.all("#what-hide option")))
        command = changed(browser, draw.random() < 0.5, draw.random() < 0.6, draw.choice([0, round(draw.uniform(-1, 1), 2)]), hide)
        if not command:  # drawn as it was
            continue
        computed = result_of(command)
        for rows, weights, contexts, entropies in zip(browser.run(NUMBERS), computed["weights"], computed["head_context"], computed["entropy"]):
            for (w, context, _, nats), weight, head_context, entropy in zip(rows, weights, contexts, entropies):
                assert w == [held(x) for x in weight], command
                assert context == [held(x) for x in head_context], command
                assert nats == browser.run("return number(arguments[0])", held(entropy)), command
    if browser.one("#what-reset").is_enabled():
        browser.click("#what-reset")
    saved = succeeds("run", sentence, *options, "--isa", "portable", "--quiet", "--json", "--show", "weights").json["weights"]
    assert [[row[0] for row in head] for head in browser.run(NUMBERS)] == [[[held(x) for x in row] for row in head] for head in saved]


def test_the_command_says_what_is_changed_and_reset_takes_it_back(page):
    browser = page(SENTENCE, "--heads", 2)
    assert not browser.one("#what-command-row").is_displayed() and not browser.one("#what-reset").is_enabled()
    start = 'attn-cli run "Life is short, eat dessert first" --heads 2'
    assert changed(browser, causal=True) == start + " --causal"
    assert changed(browser, scale=False) == start + " --scale none"
    assert changed(browser, temperature=1) == start + " --scale " + browser.run("return String(1 / Math.sqrt(8) / 10)")
    assert changed(browser, hide=3) == start + " --hide short"
    assert changed(browser, True, False, -1, 6) == start + " --causal --scale 10 --hide first"
    assert browser.text("#facts").startswith("self-attention · causal · 1 word hidden")
    assert browser.text("#live") == browser.text("#what-count") != ""
    assert browser.all("#bench-rows td.changed") and browser.all(".token.changed")
    assert browser.one(".swatch.of-change").is_displayed()
    browser.click("#what-reset")
    assert not browser.all(".changed") and browser.text("#what-command") == "" and not browser.one("#what-reset").is_enabled()
    assert browser.run("return result === resultOf(0)")


def test_what_is_typed_is_not_said_twice(page):
    browser = page("the cat the hat", "--causal", "--scale", "0.5", "--hide", "cat")
    assert browser.run("return ['what-causal', 'what-scale'].map((id) => find(id).checked)") == [True, True]
    assert changed(browser, causal=False, hide=0) == 'attn-cli run "the cat the hat" --scale 0.5'
    assert changed(browser, causal=True, hide=0) == 'attn-cli run "the cat the hat" --causal --scale 0.5'
    options = [each.text for each in browser.all("#what-hide option")]
    assert options == ["no word", "the (0)", "cat", "the (2)", "hat", "every the"]
    assert changed(browser, causal=True, hide=5) == 'attn-cli run "the cat the hat" --causal --scale 0.5 --hide the'
    assert changed(browser, causal=True, hide=1) == 'attn-cli run "the cat the hat" --causal --scale 0.5 --hide 0'


def test_a_changed_cell_is_outlined_on_the_map(page):
    browser = page(SENTENCE, "--causal")
    copy = "const copy = new OffscreenCanvas(64, 8).getContext('2d', { willReadFrequently: true }); copy.drawImage(heatMap.canvas, -Math.round(3 * heatMap.width), 0);"
    dashes = copy + "return new Set(new Uint32Array(copy.getImageData(6, 2, 40, 2).data.buffer)).size"
    before = browser.run(dashes)
    changed(browser, causal=False)
    assert browser.run("return [isChanged(0, 0, 3), isChanged(0, 5, 3)]") == [True, False]
    assert browser.run(dashes) > before


WEIGHTS = """return Object.fromEntries([...document.querySelectorAll("#bench-rows [data-name=weight]")].map((each) =>
    [each.closest("tr").dataset.key, each.querySelector(".number").textContent]))"""
OUTLINED = """const cells = [], { pencil, width, height } = heatMap;
pencil.strokeRect = (x, y) => cells.push([Math.floor(y / height), Math.floor(x / width)]);
heatMap.draw();
delete pencil.strokeRect;
return cells"""
CELLS = """return Array.from({ length: result.T }, (_, row) => Array.from({ length: result.S }, (_, column) =>
    isMasked(state.head, row, column) ? "" : shortNumber(weight(state.head, row, column))))"""


def test_what_changed_in_the_digits_shown_is_marked_and_nothing_else(page):
    browser = page(SENTENCE, "--heads", 4)
    all_weights = "return [...result.weights.values].map(number)"
    before, cells, weights = [], browser.run(CELLS), browser.run(all_weights)
    for row in range(6):
        browser.run("update({row: arguments[0]})", row)
        before.append(browser.run(WEIGHTS))
    changed(browser, causal=True)
    for row in range(6):
        browser.run("update({row: arguments[0]})", row)
        after = browser.run(WEIGHTS)
        marked = browser.run("return [...document.querySelectorAll('#bench-rows td.changed')].map((each) => each.parentElement.dataset.key)")
        assert marked == [key for key in after if after[key] != before[row][key]], row
    new = browser.run(CELLS)
    assert browser.run(OUTLINED) == [[i, j] for i in range(6) for j in range(6) if new[i][j] != cells[i][j]]
    count = sum(one != other for one, other in zip(weights, browser.run(all_weights)))
    assert browser.text("#what-count") == f"{count} of 144 weights have changed; marked is what shows other digits"
    browser = page("alone")
    changed(browser, hide=1)
    assert browser.text("#what-count") == "1 of 1 weight has changed; marked is what shows other digits"


LINES = """const part = find(arguments[0]), range = document.createRange();
part.style.flex = "none";
part.style.width = `${arguments[1]}px`;
const nodes = document.createTreeWalker(part, NodeFilter.SHOW_TEXT), texts = [];
while (nodes.nextNode()) { texts.push(nodes.currentNode) }
const place = (at) => { for (const text of texts) { if (at <= text.length) { return [text, at] } at -= text.length } };
return [...part.textContent.matchAll(/--[a-z-]+(?: [^-]\\S*)?/g)].map(({ 0: option, index }) => {
  range.setStart(...place(index + 1));
  range.setEnd(...place(index + option.length));
  return [option, new Set([...range.getClientRects()].map(({ top }) => top)).size] })"""


def test_an_option_and_its_value_stand_on_one_line(page):
    browser = page(SENTENCE, "--heads", 4, "--init", "xavier", "--positions", "rope", size=(360, 740))
    command = changed(browser, True, True, 0.35, 5)
    assert command.startswith(f'attn-cli run "{SENTENCE}" --heads 4 --init xavier ') and command.endswith(" --hide dessert")
    for width in range(230, 420, 10):
        options = browser.run(LINES, "what-command", width)
        assert [option for option, _ in options] == ["--heads 4", "--init xavier", "--positions rope", "--causal", f"--scale {command.split()[-3]}", "--hide dessert"]
        assert {lines for _, lines in options} == {1}, (width, options)
    browser = page("it's --heads 9", "--init", "xavier")
    assert changed(browser, causal=True) == """attn-cli run "it's --heads 9" --init xavier --causal"""
    assert [each.text for each in browser.all("#what-command .option")] == ["--init xavier", "--causal"]
    browser = page(SENTENCE, "--show", "weights")
    assert {tuple(browser.run(LINES, "notes", width)[0]) for width in range(200, 420, 5)} == {("--show of", 1)}


def test_a_saved_result_is_computed_again_from_its_recipe(browser, tmp_path):
    saved = tmp_path / "it's.json"
    saved.write_bytes(succeeds("run", SENTENCE, "--causal", "--json", "--show", "all").out)
    succeeds("plot", saved, "-o", tmp_path / "page.html")
    browser.open(tmp_path / "page.html")
    command = changed(browser, causal=False, temperature=0.5, hide=2)
    assert command.startswith("attn-cli run --recipe ") and " --no-causal --scale " in command
    computed = result_of(command)
    assert [row[0] for row in browser.run(NUMBERS)[0]] == [[single(x) for x in row] for row in computed["weights"][0]]
    browser.expect_quiet(tmp_path / "page.html")


def test_masks_from_files(page, tmp_path):
    tensors.numpy.save(tmp_path / "mask.npy", tensors.numpy.arange(36).reshape(6, 6) % 4 != 1)
    browser = page(SENTENCE, "--mask", tmp_path / "mask.npy")
    command = changed(browser, causal=True, hide=4, temperature=-0.3)
    assert [row[0] for row in browser.run(NUMBERS)[0]] == [[single(x) for x in row] for row in result_of(command)["weights"][0]]
    tensors.numpy.save(tmp_path / "mask.npy", tensors.numpy.arange(36).reshape(6, 6) / 36)
    browser = page(SENTENCE, "--mask", tmp_path / "mask.npy")
    assert not browser.one("#what-controls").is_displayed()
    assert "A mask from a file is part of these weights" in browser.text("#what-note")


@pytest.mark.parametrize("arguments", [[SENTENCE, "--dropout", 0.5], [SENTENCE, "--show", "tokens,weights"], [SENTENCE, "--heads", 2, "--head", "mean"]])
def test_there_is_none_where_no_command_would_agree(page, arguments):
    browser = page(*arguments)
    assert not browser.all("#what-if") or not browser.one("#what-if").is_displayed()


def test_why_a_model_has_none(page):
    browser = page(SENTENCE, "--model", "induction")
    assert not browser.one("#what-controls").is_displayed()
    assert browser.text("#what-note") == "There is no what-if of a whole model: the layers before would change, too."


ADD = "const slider = find('what-score'); slider.value = arguments[0]; slider.dispatchEvent(new Event('input'))"


def test_a_score_grows(page):
    browser = page(SENTENCE, "--heads", 2, "--causal")
    browser.run("update({head: 1, row: 4, column: 2, step: stepOf(compareStep)})")
    score, weights = browser.run("return [result.scores.values[6 * 6 + 4 * 6 + 2], [...rowOf(result.weights, 1, 4)]]")
    browser.run(ADD, 1.5)
    browser.settle()
    after = browser.run("return [...rowOf(result.weights, 1, 4)]")
    factor = math.exp(1.5 / math.sqrt(browser.run("return result.keys.shape[2]")))
    grown = [w * (factor if place == 2 else 1) for place, w in enumerate(weights)]
    assert after == pytest.approx([w / sum(grown) for w in grown], rel=1e-5)
    assert browser.run("return result.scores.values[6 * 6 + 4 * 6 + 2]") == pytest.approx(score + 1.5, rel=1e-6)
    assert "+ 1.5 = " in browser.text("#step .formula") and "+ 1.5 = " in browser.text("#bench-rows .sum")
    assert browser.text("#what-score-text") == "{} → {}: +1.5".format(*browser.run("return [result.rows[4], result.columns[2]]"))
    assert browser.text("#what-command") == "No option changes one score."
    browser.run("update({row: 0, column: 0})")
    assert "+ 1.5" not in browser.text("#bench-rows .sum")
    browser.click("#what-reset")
    assert browser.run("return [...rowOf(result.weights, 1, 4)]") == weights and browser.text("#what-score-text") == ""


def test_a_temperature_is_told_beside_the_root(page):
    browser = page(SENTENCE)
    browser.run("update({step: stepOf(scaleStep)})")
    steps = browser.text("#step-list")
    changed(browser, temperature=math.log10(0.5))
    assert browser.text("#step-list") == steps
    assert "/ 0.5 = " in browser.text("#step .formula") and "A temperature below 1" in browser.text("#step")
    assert browser.text("#formula-line").endswith("/ √dk · 0.5 ) · V")
    changed(browser, scale=False)
    assert "The scores are not scaled" in browser.text("#step")


def test_it_is_copied(page):
    browser = page(SENTENCE)
    changed(browser, causal=True)
    browser.command("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    browser.click("#what-copy")
    assert browser.text("#live") == "Copied"
    pasted = browser.driver.execute_async_script("navigator.clipboard.readText().then(arguments[0], (error) => arguments[0](String(error)))")
    assert pasted == browser.text("#what-command")
