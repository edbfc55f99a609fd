"""The page's numbers are the program's: the JSON that it saves, and the scores that it computes itself."""

import math

import pytest
import tensors
from program import SENTENCE, assert_fails, run, succeeds

LONG = " ".join(f"w{i}" for i in range(80))
BIG = [LONG, "--heads", 16, "--embed-dim", 64]  # 102,400 weights: more than the page holds all stages of
SHOWN = "tokens,vocabulary,token_ids,queries,keys,values,weights,head_context,context,output,entropy"


@pytest.mark.parametrize(
    "arguments, show",
    [
        ([SENTENCE], SHOWN.replace("output", "scores,scaled_scores")),
        ([r'a<b \u003c \\u003c </script><!-- "x"', "--tokenizer", "document"], SHOWN.replace("output", "scores,scaled_scores")),
        ([SENTENCE, "--causal", "--softcap", 3, "--query", "eat", "--heads", 2], SHOWN + ",scores,scaled_scores,capped_scores,masked_scores"),
        (["Life is", "--cross", "short eat dessert"], SHOWN.replace("output", "key_tokens,key_token_ids,scores,scaled_scores")),
        (BIG, SHOWN),
        ([*BIG, "--causal"], SHOWN),
        ([*BIG, "--positions", "alibi"], SHOWN + ",masked_scores"),
    ],
)
def test_the_saved_json_is_that_of_the_program(page, arguments, show):
    saved = page(*arguments).saved("#save-json")
    assert saved == succeeds("run", *arguments, "--json", "--show", show).out


def test_what_show_names_is_what_the_page_holds(page):
    assert page(SENTENCE, "--show", "weights,tokens").saved("#save-json") == succeeds("run", SENTENCE, "--json", "--show", "weights,tokens").out
    assert page(SENTENCE, "--show", "all").saved("#save-json") == succeeds("run", SENTENCE, "--json", "--show", "all").out


STAGES = """
const held = [result.scores, result.scaled, result.capped, result.masked].map((stage) => stage && rowOf(stage, arguments[0], arguments[1]));
const own = ["scores", "scaled", "capped", "masked"].map((name) => result[name]);
Object.assign(result, {scores: null, scaled: null, capped: null, masked: arguments[2] ? result.masked : null});
const made = stagesOfRow(arguments[0], arguments[1]);
Object.assign(result, {scores: own[0], scaled: own[1], capped: own[2], masked: own[3]});
const plain = (row) => row && [...row].map(String);
return [held.map(plain), [made.scores, made.scaled, made.capped, made.masked].map(plain)];
"""


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "options",
    [[], ["--causal"], ["--window", "1,2", "--query", "eat,first"], ["--heads", 4, "--kv-heads", 2, "--causal"], ["--scale", 0.3],
     ["--heads", 8, "--kv-heads", 4, "--head", "2,5,7", "--causal"], ["--scale", "none"],
     ["--set", "rounding=step", "--heads", 2, "--causal"], ["--set", "rounding=step", "--softcap", 3, "--scale", 0.3], ["--recipe", "politi-2025-multihead"],
     ["--softcap", 5], ["--softcap", 0.3, "--causal"], ["--softcap", 400, "--scale", "none"], ["--softcap", 1e-300],
     ["--score", "dot", "--set", "rounding=step"], ["--score", "dot", "--scale", 0.3], ["--causal", "--set", "attention.mask_at=scores"],
     ["--window", "1,0", "--set", "attention.mask_at=scores", "--set", "rounding=step"], ["--set", "attention.mask_at=scores"],
     ["--recipe", "owen-2025"], ["--cross", "dessert first now"], ["--positions", "rope:dim=6", "--init", "normal", "--d-k", 33]],
)
def test_scores_that_the_page_computes_equal_those_of_the_program(page, options, dtype):
    browser = page(SENTENCE, *options, "--dtype", dtype)
    for head in range(browser.run("return result.H")):
        for row in range(browser.run("return result.T")):
            held, made = browser.run(STAGES, head, row, False)
            assert len(held[0]) == browser.run("return result.S")
            for stage, computed in zip(held, made):
                assert stage is None or computed == stage


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_large_page_computes_what_it_does_not_hold(page, dtype):
    options = [*BIG, "--causal", "--softcap", 5, "--dtype", dtype]
    browser = page(*options)
    assert browser.run("return [result.scores, result.scaled, result.capped, result.masked]") == [None] * 4
    names = ["scores", "scaled_scores", "capped_scores", "masked_scores"]
    want = succeeds("run", *options, "--json", "--show", ",".join(names), "--query", 7).json
    got = browser.run("const s = stagesOfRow(5, 7); return [s.scores, s.scaled, s.capped, s.masked].map((row) => [...row].map((x) => x === -Infinity ? null : x))")
    rounded = "return arguments[0].map((x) => x === null ? null : result.round(x))"
    assert got == [browser.run(rounded, want[name][5][0]) for name in names]


@pytest.mark.parametrize("cap", [0.5, 3, 40])
def test_soft_caps_are_those_of_the_program(page, cap):
    browser = page(LONG, "--heads", 8, "--embed-dim", 64, "--dtype", "float64", "--softcap", cap)
    differ = "return result.capped.values.filter((capped, i) => capped !== arguments[0] * tanh(result.scaled.values[i] / arguments[0])).length"
    assert browser.run("return result.capped.values.length") == 51200
    assert browser.run(differ, cap) == 0
    assert browser.run("return String([0, -1, 1].map((x) => tanh(x / 0)))") == "NaN,-1,1"


def test_the_steps_lead_to_the_weight_and_the_context(page):
    browser = page(SENTENCE)
    formulas = lambda: [each.text for each in browser.all("#step .formula")]
    browser.press("n")
    assert formulas() == ["10.2379 × 1/√24 = 10.2379 × 0.2041 = 2.0898"]
    browser.press("n")
    assert formulas() == ["exp(2.0898 − 2.0898) / 1.5704 = 1.0000 / 1.5704 = 0.6368"]
    assert browser.text("#step tfoot") == "sum1.57041.0000"
    browser.press("n")
    context = succeeds("run", SENTENCE, "--json", "--show", "context").json["context"][1]
    cells = [cell.text.replace("−", "-") for cell in browser.all("#step tfoot td")][1:]
    assert cells == [f"{x:.4f}" for x in context]


@pytest.mark.parametrize(
    "function, formula",
    [("cosine", "qis · keat / (|qis| |keat|) = {}"), ("general", "qis · Wa keat = {}"), ("additive", "va · tanh(Wa qis + Ua keat) = {}")],
)
def test_the_steps_of_other_scores_say_what_was_computed(page, function, formula):
    browser = page(SENTENCE, "--score", function, "--causal", "--scale", 2)
    browser.run("update({row: 3, column: 3})")
    score = succeeds("run", SENTENCE, "--score", function, "--json", "--show", "scores").json["scores"][0][3][3]
    number = browser.run("return number(arguments[0])", score)
    browser.run("update({step: 0})")
    made = browser.text("#step .formula")
    assert made == formula.format(number).replace("qis", "qeat"), made
    assert [tab.text.split("\n")[-1] for tab in browser.all("#step-list button")] == [f"{function} score", "scale", "mask", "softmax", "weights·V"]
    assert "√" not in browser.text("#step-list") and "Kᵀ" not in browser.text("#steps")
    tabs = page(SENTENCE, "--score", function).all("#step-list button")
    assert len(tabs) == 3  # without a scale there is nothing to scale


def test_a_large_page_holds_the_scores_that_do_not_follow_from_queries_and_keys(page):
    browser = page(*BIG, "--score", "cosine")
    assert browser.run("return [Boolean(result.scores), result.scaled]") == [True, None]
    assert browser.run("return [...stagesOfRow(1, 2).scaled]") == browser.run("return [...stagesOfRow(1, 2).scores]")


def test_the_step_of_the_dropout_gives_what_the_context_is_made_of(page):
    options = [SENTENCE, "--dropout", 0.5, "--set", "attention.dropout.seed=123"]
    browser = page(*options)
    done = succeeds("run", *options, "--json", "--show", "weights,dropped_weights,context").json
    assert [tab.text.split("\n")[-1] for tab in browser.all("#step-list button")] == ["Q·Kᵀ", "scale", "softmax", "dropout", "weights·V"]
    said = []
    for column in (0, 2):
        browser.run("update({row: 0, column: arguments[0], step: 3})", column)
        said.append(browser.text("#step .formula"))
    weight, left = done["weights"][0][0][0], done["dropped_weights"][0][0][0]
    assert said == [browser.run("return `${number(arguments[0])} / ${number(0.5)} = ${number(arguments[1])}`", weight, left),
                    "short is left out: " + browser.run("return number(0)")]
    browser.press("n")
    cells = [cell.text.replace("−", "-") for cell in browser.all("#step tfoot td")][1:]
    assert cells == [f"{x:.4f}" for x in done["context"][0]]


def test_entropies_are_those_of_the_program(page):
    browser = page(SENTENCE, "--heads", 2)
    rows = succeeds("run", SENTENCE, "--heads", 2, "--json", "--show", "entropy").json["entropy"]
    assert browser.run("return heads.buttons.map((button) => button.ariaLabel)") == [f"Head {head}, mean entropy {sum(row) / 6:.4f}" for head, row in enumerate(rows)]
    browser.all(".token")[3].click()
    said = browser.text("#row .entropy")
    assert said.startswith(f"Entropy {rows[0][3]:.4f} of at most 1.7918 nats") and said.endswith(f" The mean of the head’s rows is {sum(rows[0]) / 6:.4f}.")


def test_entropy_stands_in_the_details_of_the_row_alone(page):
    browser = page(SENTENCE, "--heads", 4)
    lines = [line for line in browser.one("body").text.split("\n") if "ntropy" in line]
    assert lines == browser.one("#row .entropy").text.split("\n") and len(lines) == 1


def test_the_most_that_an_entropy_can_be_counts_the_keys_that_a_row_sees(page, tmp_path):
    def bound(row):
        browser.run("update({row: arguments[0]})", row)
        return browser.text("#row .entropy").partition(" of at most ")[2].partition(" nats")[0]

    browser = page(SENTENCE, "--causal")
    assert [bound(row) for row in range(6)] == ["0" if row == 0 else f"{math.log(row + 1):.4f}" for row in range(6)]
    browser = page(SENTENCE, "--causal", "--show", "weights", "--query", "2,5")  # the config says what is masked
    assert [bound(row) for row in range(2)] == ["1.0986", "1.7918"]
    browser = page(SENTENCE, "--window", "1,1")
    assert [bound(row) for row in range(3)] == ["0.6931", "1.0986", "1.0986"]
    tensors.numpy.save(tmp_path / "mask.npy", tensors.numpy.arange(36).reshape(6, 6) >= 9)
    browser = page(SENTENCE, "--mask", tmp_path / "mask.npy", "--quiet")
    assert [bound(row) for row in range(3)] == ["", "1.0986", "1.7918"]
    browser.run("update({row: 0})")
    assert browser.text("#row .entropy") == "Entropy 0 nats: it sees no word."


def test_numbers_of_a_mask_are_added_and_hide_where_they_are_infinite(page, tmp_path):
    def said(numbers):
        tensors.numpy.save(tmp_path / "mask.npy", tensors.numpy.array(numbers))
        browser = page("Life is short", "--mask", tmp_path / "mask.npy")
        browser.run("update({step: 2})")
        return browser.text("#step p")

    hidden = " What must not be seen gets the score −∞, whose exponential is 0; the other words share its weight, each in proportion to its own."
    assert said([0.0, 1, -2.5]) == "Here the numbers of a mask from a file are added to the scores."
    assert said([0.0, 1, -math.inf]) == "Here the numbers of a mask from a file are added to the scores." + hidden
    assert said([True, True, False]) == "Here a mask from a file is applied." + hidden


def test_the_strongest_pairs_are_those_of_the_summary(page, tmp_path):
    def pairs(*arguments):
        browser = page(*arguments)
        return [pair.text.split("\n")[0] for pair in browser.all("#pairs button")]

    def summary(*arguments):
        heads = succeeds("run", *arguments, "--json", "--show", "summary", "--top", 8).json["summary"]["heads"]
        return [f"{pair['query_token']} → {pair['key_token']}" for pair in heads[0]["pairs"]]

    causal = ["Life is short", "--causal"]
    assert len(summary(*causal)) == 6
    assert pairs(*causal) == [pair for pair in summary(*causal) if pair != "Life → Life"]  # which the mask says
    assert pairs("Life is", "--init", "identity", "--scale", 1e6) == summary("Life is", "--init", "identity", "--scale", 1e6) == ["Life → Life", "is → is"]
    tensors.numpy.save(tmp_path / "mask.npy", tensors.numpy.zeros((3, 3), dtype=bool))
    nothing = ["Life is short", "--mask", tmp_path / "mask.npy", "--quiet"]
    assert pairs(*nothing) == summary(*nothing) == []
    assert page(*nothing).text("#pairs").startswith("Strongest pairsnone")


# ---- what the program refuses ----------------------------------------------------------------------------------------


def test_more_than_a_page_can_hold_is_refused_before_anything_is_written(tmp_path):
    words = " ".join(["word"] * 2000)
    page = tmp_path / "page.html"
    assert_fails(run("run", words, "-o", page), 71, "HTML: got 2000 query words; allowed: up to 1024 query words in a page", "--query")
    assert_fails(run("run", " ".join(["w"] * 600), "--heads", 16, "-o", page), 71, "5760000 weights", "5000000", "--query")
    assert_fails(run("run", "a b", "--embed-dim", 2048, "--heads", 2048, "-o", page), 71, "2048 heads", "1024")
    assert_fails(run("run", "a b c d e", "--d-k", 1000001, "--embed-dim", 1, "-o", page), 71, "queries of 5000005 numbers", "--d-k")
    assert not page.exists()


def test_a_few_rows_of_two_thousand_words_are_a_page(page):
    browser = page(" ".join(f"w{i}" for i in range(2000)), "--query", "w5,w1999")
    assert browser.run("return [result.T, result.S]") == [2, 2000]


def test_what_makes_no_page_is_a_usage_error():
    assert_fails(run("run", "--lines", "-", "--format", "html", stdin="a\n"), 2)
    assert_fails(run("run", SENTENCE, "--format", "html", "--show", "tokens,scores"), 2, "--show: got no weights", "weights")
    assert_fails(run("run", SENTENCE, "--json", "-o", "x.html"), 2, "contradicts the ending")
    assert_fails(run("bench", "--format", "html"), 2)
