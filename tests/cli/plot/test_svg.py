"""`run --format svg`: pictures of weights and scores."""

import random
import re
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from pictures import NAMESPACE, empty_cells, parse, texts, tooltips
from program import SANITIZED, SENTENCE, assert_fails, measured, run, succeeds

HOSTILE = [
    "<script>alert(1)</script>", '"&\'', "]]>", "<!--", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\u0645\u0631\u062d\u0628\u0627",
    "\u4f60\u597d\u4e16\u754c", "e\u0301te\u0301", "\x1b[31mred", "a\ufffeb\uffff", "\u202egnirts", "\x01\x7f\u0080", "&#0;", "%s",
]


def picture(*arguments, **options):
    return parse(succeeds("run", "--format", "svg", *arguments, **options).out)


def test_a_picture_shows_the_words_and_the_numbers_of_the_json():
    weights = succeeds("run", SENTENCE, "--json").json["weights"][0]
    root = picture(SENTENCE)
    words = SENTENCE.replace(",", "").split()
    shown = tooltips(root)
    assert len(shown) == 36
    for i, query in enumerate(words):
        for j, key in enumerate(words):
            text, number = shown[6 * i + j].rsplit(": ", 1)
            assert (text, float(number)) == (f"{query} → {key}", weights[i][j])
            assert f"{weights[i][j]:.2f}" in texts(root)
    assert all(texts(root).count(word) == 2 for word in words)
    assert root.find(NAMESPACE + "title").text == "weights (6, 6)"


def test_a_panel_a_head():
    root = picture(SENTENCE, "--heads", "4")
    assert [f"head {i}" for i in range(4)] == [text for text in texts(root) if text.startswith("head ")]
    assert len(tooltips(root)) == 4 * 36


def luminance(colour):
    colour = colour.lstrip("#")
    levels = [int((2 * c if len(colour) == 3 else colour[2 * i : 2 * i + 2]), 16) / 255 for i, c in enumerate(colour[:3])]
    linear = [level / 12.92 if level <= 0.04045 else ((level + 0.055) / 1.055) ** 2.4 for level in levels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    darker, lighter = sorted((luminance(a), luminance(b)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("plot", ["heatmap", "arcs"])
@pytest.mark.parametrize("ground", ["light", "dark"])
def test_text_stands_out_from_either_ground(ground, plot):
    root = picture(SENTENCE, "--causal", "--plot", plot, "--set", f"picture.ground={ground}", "--set", "picture.caption=true")
    paper = root.find(NAMESPACE + "rect").get("fill")
    assert (luminance(paper) < 0.02) == (ground == "dark")
    inks = {root.get("fill"), *(text.get("fill") for text in root.iter(NAMESPACE + "text"))} - {None, "#000", "#fff"}  # those of numbers on their cells
    assert len(inks) == 2 and all(contrast(ink, paper) >= 4.5 for ink in inks)


def test_the_dark_ground_has_the_colours_of_a_terminal():
    exact = picture("a b", "--causal", "--set", "picture.ground=dark")
    cells = [rect.get("fill") for rect in exact.iter(NAMESPACE + "rect") if rect.find(NAMESPACE + "title") is not None]
    assert cells[0] == "#fee838" and cells[1] == "url(#blank)"  # 1 of cividis; masked
    assert luminance(cells[3]) > luminance(cells[2])


def test_a_caption_says_what_was_computed():
    def caption(*arguments):
        return texts(picture(*arguments, "--set", "picture.caption=true"))

    assert "6 words, 4 heads, causal, positions sinusoidal, random matrices (seed 7), which mean nothing" in caption(
        SENTENCE, "--heads", 4, "--causal", "--positions", "sinusoidal", "--seed", 7)
    assert "5 positions, 1 head, recipe rao-2024-masked" not in caption("a b") and "2 words, 1 head, window 1 back and 0 ahead, " in " ".join(
        caption("a b", "--window", "1,0"))
    assert "10 tokens, 2 layers, 2 heads, causal, positions rope, model induction" in caption(
        "the cat sat on the mat and the cat sat", "--model", "induction")
    assert "4 tokens, layer 1, head 0, causal, positions rope, model induction" in caption("a b a b", "--model", "induction", "--head", "1.0")
    assert texts(picture(SENTENCE))[-1] != caption(SENTENCE)[-1] or len(texts(picture(SENTENCE))) + 1 == len(caption(SENTENCE))
    for key, value in (("picture.caption", "true"), ("picture.ground", "dark")):
        assert_fails(run("run", SENTENCE, "--set", f"{key}={value}"), 2, f"--set {key} is for pictures")


def test_a_picture_of_random_weights_says_that_they_mean_nothing(tmp_path):
    remark = "Random weights: they mean nothing"
    for drawn in ([SENTENCE], [SENTENCE, "--plot", "arcs", "--heads", "2"], ["--recipe", "raschka-2023"], ["a b", "--model", "two-blocks"]):
        root = picture(*drawn)
        [said] = [text for text in root.iter(NAMESPACE + "text") if text.text == remark]
        assert said.get("fill") is None and float(said.get("y")) < float(root.get("height"))
        assert remark in root.find(NAMESPACE + "desc").text
    for meant in (["--recipe", "udacity-2018"], ["a b a b", "--model", "induction"]):
        assert remark not in texts(picture(*meant))


def places(root):
    """Of each word that stands above a map: its x; and of those at its side."""
    def place(text):
        turned = re.match(r"translate\((\S+) (\S+)\)", text.get("transform", ""))
        return tuple(map(float, turned.groups() if turned else (text.get("x"), text.get("y"))))

    words = [(text.text, *place(text)) for text in root.iter(NAMESPACE + "text")]
    return {word: [(x, y) for other, x, y in words if other == word] for word, _, _ in words}


@pytest.mark.parametrize("words", ["שלום עולם אני אוהב", "الحياة قصيرة كل الحلوى"])
def test_words_from_right_to_left_have_the_first_column_at_the_right(words):
    root = picture(words, "--causal", "--init", "xavier")
    first, *_, last = words.split()
    found = places(root)
    (first_column, first_row), (last_column, last_row) = (sorted(found[word], key=lambda place: place[1]) for word in (first, last))
    assert first_column[0] > last_column[0] and first_row[1] < last_row[1]
    assert first_row[0] == last_row[0] > first_column[0]
    cells = {rect.find(NAMESPACE + "title").text.rsplit(":", 1)[0]: float(rect.get("x")) for rect in root.iter(NAMESPACE + "rect") if len(rect)}
    assert cells[f"{last} → {first}"] > cells[f"{last} → {last}"]
    assert {group.get("direction") for group in root.iter(NAMESPACE + "g") if group.find(NAMESPACE + "text") is not None} == {"rtl", None}
    left_to_right = places(picture("Life is short, eat"))
    assert left_to_right["Life"][-1][0] < left_to_right["eat"][-1][0]


def test_lines_from_right_to_left_begin_at_the_right():
    found = texts(picture("שלום עולם", "--plot", "arcs")), places(picture("שלום עולם", "--plot", "arcs"))
    assert found[1]["query"][0][0] > found[1]["key"][0][0]


@pytest.mark.skipif(shutil.which("rsvg-convert") is None, reason="rsvg-convert is not installed")
def test_the_commands_of_the_manual_make_png_and_pdf(tmp_path):
    succeeds("run", SENTENCE, "-o", tmp_path / "weights.svg")
    manual = (Path(__file__).parents[3] / "data" / "manual" / "pictures.md").read_text(encoding="utf-8")
    commands = re.findall(r"^(rsvg-convert .*)$", manual, re.MULTILINE)
    assert len(commands) == 2
    for command in commands:
        subprocess.run(shlex.split(command), cwd=tmp_path, check=True)
    assert (tmp_path / "weights.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "weights.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize("plot", ["heatmap", "arcs"])
def test_words_are_text_whatever_they_hold(plot):
    root = picture(" ".join(HOSTILE), "--plot", plot, "--set", "picture.title=" + " ".join(HOSTILE), "--init", "xavier")
    hints = " ".join(tooltips(root))
    for word in ["<script>alert(1)</script>", '"&\'', "]]>", "<!--", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "&#0;", "%s"]:
        assert word in hints
    for escaped in ["\\x1b[31mred", "a\\ufffeb\\uffff", "\\u202egnirts", "\\x01\\x7f\\u0080"]:
        assert escaped in hints


def test_random_words_give_valid_pictures():
    chance = random.Random(7)
    alphabet = [chr(c) for c in [*range(0x21, 0x7F), 0xE9, 0x301, 0x200D, 0x4EBA, 0x1F600, 0x627, 0xFFFE, 0xFFFF, 0xFDFD, 0x202E, 7, 0x1B]]
    for _ in range(40):
        words = ["".join(chance.choices(alphabet, k=chance.randint(1, 12))) for _ in range(chance.randint(1, 12))]
        plot = chance.choice(["heatmap", "arcs"])
        picture("--heads", chance.choice([1, 2, 4]), "--plot", plot, "--", "x " + " ".join(words))


@pytest.mark.parametrize("name", ["scores", "scaled_scores", "capped_scores", "masked_scores"])
def test_scores_are_drawn_too(name):
    numbers = succeeds("run", SENTENCE, "--causal", "--softcap", 20, "--show", name, "--json").json[name][0]
    root = picture(SENTENCE, "--causal", "--softcap", 20, "--show", name)
    shown = tooltips(root)
    for i in range(6):
        for j in range(6):
            assert shown[6 * i + j].endswith(f": {'-inf' if numbers[i][j] is None else numbers[i][j]}")
    assert ("masked" in texts(root)) == (name == "masked_scores")


def test_weights_that_are_too_small_are_not_called_masked():
    steep = ["Life is short", "--init", "identity", "--scale", 1000]
    root = picture(*steep)
    assert empty_cells(root) == [] and "masked" not in texts(root)
    assert texts(root).count("0.00") == 6
    root = picture(*steep, "--causal")
    assert empty_cells(root) == ["Life → is: 0.0", "Life → short: 0.0", "is → short: 0.0"] and "masked" in texts(root)
    assert texts(root).count("0.00") == 3
    assert empty_cells(picture(*steep, "--window", "1,1")) == ["Life → short: 0.0", "short → Life: 0.0"]
    assert empty_cells(picture(*steep, "--causal", "--query", "is")) == ["is → short: 0.0"]
    assert empty_cells(picture(*steep, "--positions", "alibi")) == []


def test_query_chooses_rows_and_digits_the_length_of_numbers():
    root = picture(SENTENCE, "--query", "is,0", "--digits", 4)
    assert [tip.split(" ")[0] for tip in tooltips(root)] == ["Life"] * 6 + ["is"] * 6
    assert "0.6368" in texts(root) and "0.64" not in texts(root)


def test_two_sentences_name_rows_and_columns():
    root = picture("Das Leben ist kurz", "--cross", "Life is short")
    assert tooltips(root)[2].startswith("Das → short: ")
    assert len(tooltips(root)) == 12


def test_arcs_of_the_strongest_pairs():
    weights = succeeds("run", SENTENCE, "--heads", 2, "--json").json["weights"]
    root = picture(SENTENCE, "--heads", 2, "--plot", "arcs", "--top", 4)
    shown = [float(tip.rsplit(": ", 1)[1]) for tip in tooltips(root)]
    for head in range(2):
        strongest = sorted(value for row in weights[head] for value in row)[-4:]
        assert shown[4 * head : 4 * head + 4] == strongest
    assert "the thicker a line, the heavier the weight; only the 4 strongest lines of each head are drawn" in texts(root)


def test_the_ending_chooses_the_format(tmp_path):
    succeeds("run", SENTENCE, "-o", tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_bytes() == succeeds("run", SENTENCE, "--format", "svg").out


# ---- many words ------------------------------------------------------------------------------------------------------

MOST = 30_000_000
LONG = 60 if SANITIZED else 20  # processor seconds: a clock also counts what else the machine does


def many(count):
    return " ".join(f"w{i % 500}" for i in range(count))


def timed(*arguments, stdin):
    with tempfile.TemporaryFile("w+") as words:
        words.write(stdin)
        words.seek(0)
        return measured("run", "-", "--format", "svg", *arguments, stdin=words)[:2]


def test_512_words_stay_small():
    done, _ = timed("--init", "linear", stdin=many(512))
    assert done.code == 0 and len(done.out) < MOST // 4
    parse(done.out)


@pytest.mark.parametrize("init", ["uniform", "linear"])
def test_2000_words_come_in_time(init):
    done, seconds = timed("--init", init, stdin=many(2000))
    assert done.code == 0 and len(done.out) < MOST
    assert seconds < LONG  # two; a sanitizer takes twenty times that


def test_what_is_too_large_is_refused_with_what_to_do(tmp_path):
    options = ["--heads", "4", "--init", "linear"]
    done, seconds = timed(*options, stdin=many(1800))
    assert_fails(done, 71, "picture: got 4 × 1800 × 1800 cells; allowed: what fits into 30 MB", "--query", "--plot arcs --top 100")
    assert seconds < LONG
    assert run("run", "-", *options, "-o", tmp_path / "a.svg", stdin=many(1800)).code == 71
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("show, instead", [("weights", "; the strongest lines with --plot arcs --top 100\n"), ("scores", "as many columns\n")])
def test_more_words_than_places_are_refused_before_anything_is_computed(show, instead):
    done = run("run", "-", "--query", "0", "--show", show, "--format", "svg", "--verbose", stdin=many(9000))
    assert (done.code, done.out) == (71, b"")
    assert "picture: got 1 × 9000 cells; allowed: up to 8192 rows" in done.message and done.message.endswith(instead)
    assert "queries (" not in done.message  # the first stage that is computed


@pytest.mark.parametrize("options", [["--query", "w7,0"], ["--plot", "arcs", "--top", "20"]])
def test_a_part_of_2000_words_is_drawn(options):
    done, _ = timed("--init", "linear", *options, stdin=many(2000))
    assert done.code == 0 and len(done.out) < MOST // 10
    parse(done.out)


def test_the_description_names_the_array_once_beside_a_title():
    text = succeeds("run", SENTENCE, "--format", "svg", "--set", "picture.title=T").text
    assert text.partition("<desc>")[2].partition("</desc>")[0].count("weights (6, 6)") == 1


# ---- the scale -------------------------------------------------------------------------------------------------------


def fills(*options):
    """The colours of the cells of a causal head by the words of their tooltips."""
    rects = picture(SENTENCE, "--causal", "--init", "xavier", *options).iter(NAMESPACE + "rect")
    return {rect[0].text.rsplit(":")[0]: rect.get("fill") for rect in rects if len(rect)}


def ink(colour):
    """0 for white."""
    return 3 * 255 - sum(bytes.fromhex(colour[1:]))


def test_more_weight_is_more_ink_and_each_row_can_have_a_scale():
    weights = succeeds("run", SENTENCE, "--causal", "--init", "xavier", "--json").json["weights"][0]
    words = SENTENCE.replace(",", "").split()
    for shade in ("absolute", "row", "log"):
        colours = fills("--set", f"picture.shade={shade}")
        for i, query in enumerate(words):
            drawn = [ink(colours[f"{query} → {key}"]) for key in words[:i + 1]]
            order = sorted(range(i + 1), key=lambda j: weights[i][j])
            assert drawn == sorted(drawn) or [drawn[j] for j in order] == sorted(drawn)
            strongest = drawn[order[-1]] == ink("#081a3f")
            assert strongest if shade == "row" else strongest == (weights[i][order[-1]] > 0.99)


def test_two_pictures_share_a_scale():
    colours, others = fills("--set", "picture.shade_max=0.25"), fills("--set", "picture.shade_max=0.25", "--heads", "1", "--d-k", "5")
    assert {colours["Life → Life"], others["Life → Life"]} == {"#081a3f"}
    assert fills("--set", "picture.shade_max=1") == fills() != colours


def test_long_texts_are_shaded_by_row():
    words = " ".join(f"w{i}" for i in range(25))
    for options, says in [((), True), (("--set", "picture.shade=absolute"), False), (("--set", "picture.shade_max=1"), False)]:
        assert ("row’s largest" in texts(picture(words, *options))) == says
    assert "row’s largest" not in texts(picture(words.removesuffix(" w24")))
    assert {"1.0", "0.1", "0.01", "0.001"} <= set(texts(picture(words, "--set", "picture.shade=log")))


@pytest.mark.parametrize("options, says", [
    (("--format", "json", "--set", "picture.shade=row"), "--set picture.shade is for tables, SVG and pages"),
    (("--format", "svg", "--set", "picture.shade=row", "--set", "picture.shade_max=1"), "--set picture.shade_max is for the shades absolute and log"),
    (("--format", "svg", "--set", "picture.shade=log", "--show", "scores"), "shade log is for weights"),
    (("--format", "svg", "--set", "picture.shade=log", "--plot", "arcs"), "--set picture.shade is for heat maps"),
    (("--format", "svg", "--set", "picture.shade_max=0"), "--set picture.shade_max: got '0'; allowed: a finite number, 1e-30 or more, such as 0.1"),
    (("--format", "svg", "--set", "picture.shade=rows"), "--set picture.shade: got 'rows'; allowed: absolute, row, log"),
])
def test_scales_that_do_not_go_with_a_picture(options, says):
    assert_fails(run("run", SENTENCE, *options), 2, says)
