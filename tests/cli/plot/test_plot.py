"""`plot FILE`: pictures of saved results and of other programs' weights."""

import json

import pytest
from pictures import NAMESPACE, empty_cells, parse, texts, tooltips
from program import SENTENCE, assert_fails, on_terminal, run, succeeds
from tensors import numpy, save_safetensors


def softmax(shape, seed=0):
    powers = numpy.exp(numpy.random.RandomState(seed).randn(*shape))
    return powers / powers.sum(-1, keepdims=True)


@pytest.fixture
def folder(tmp_path):
    numpy.save(tmp_path / "weights.npy", softmax((2, 3, 4)).astype("float32"))
    numpy.save(tmp_path / "square.npy", softmax((3, 3)))
    (tmp_path / "words.txt").write_text("to\nbe\nto\n", encoding="utf-8")
    (tmp_path / "keys.txt").write_text("α\n<b>\n&\n\x1b[1m\n", encoding="utf-8")
    return tmp_path


def plot(*arguments, **options):
    return parse(succeeds("plot", *arguments, **options).out)


def as_run_has_them(options):
    """`run` has the title among its keys of --set."""
    return ["--set" if word == "--title" else f"picture.title={word}" if before == "--title" else word
            for before, word in zip(["", *options], options, strict=False)]


# ---- saved results ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [[], ["--heads", "4", "--causal"], ["--query", "is,5"], ["--dtype", "float64"], ["--casefold"]])
@pytest.mark.parametrize("picture", [[], ["--plot", "arcs"], ["--digits", "5", "--title", "A & B"]])
def test_a_saved_result_gives_the_picture_of_the_run(options, picture, tmp_path):
    drawn = succeeds("run", SENTENCE, *options, "--format", "svg", *as_run_has_them(picture)).out
    saved = succeeds("run", SENTENCE, *options, "--json").out
    assert succeeds("plot", "-", *picture, stdin=saved).out == drawn
    (tmp_path / "r.json").write_bytes(saved)
    succeeds("plot", "r.json", *picture, "-o", "r.svg", cwd=tmp_path)
    assert (tmp_path / "r.svg").read_bytes() == drawn


def test_a_terminal_gets_shades_in_place_of_an_svg(tmp_path):
    succeeds("run", SENTENCE, "--heads", "2", "--json", "-o", tmp_path / "r.json")
    for words in (["--head", "1"], ["--digits", "3"], ["--shade", "row"], []):
        shown = on_terminal("plot", tmp_path / "r.json", *words, columns=100)
        assert shown == on_terminal("plot", tmp_path / "r.json", *words, "--format", "table", columns=100)
        assert shown[0] == 0 and b"<svg" not in shown[1] and b"\x1b[" in shown[1] and b"dessert" in shown[1]
    for words in (["--format", "svg"], ["--plot", "arcs"], ["--title", "T"], ["--caption"], ["--plot", "arcs", "--top", "2"], ["--ground", "dark"]):
        assert b"<svg" in on_terminal("plot", tmp_path / "r.json", *words)[1]
    assert "<svg" in succeeds("plot", tmp_path / "r.json").text


def test_a_saved_result_makes_the_page_that_run_makes(tmp_path):
    shown = "tokens,vocabulary,token_ids,queries,keys,values,scores,scaled_scores,masked_scores,weights,head_context,context,output,entropy,lse"
    succeeds("run", SENTENCE, "--heads", 2, "--causal", "--show", shown, "--json", "-o", tmp_path / "saved.json")
    succeeds("plot", tmp_path / "saved.json", "-o", tmp_path / "plotted.html")
    succeeds("run", SENTENCE, "--heads", 2, "--causal", "-o", tmp_path / "run.html")
    lines = [(tmp_path / name).read_text().splitlines() for name in ("plotted.html", "run.html")]
    differing = [(one, other) for one, other in zip(*lines, strict=True) if one != other]
    commands = [f"attn-cli run --recipe {tmp_path}/saved.json", 'attn-cli run \\"Life is short, eat dessert first\\" --heads 2']
    [(plotted, ran)] = [[line.replace(command, "COMMAND") for line, command in zip(pair, commands)] for pair in differing]
    assert plotted == ran and 'id="asked">{"remark":"Random weights: they mean nothing","command":"COMMAND","means":[[{' in ran


def test_a_mask_of_numbers_hides_where_it_is_infinite(tmp_path):
    numpy.save(tmp_path / "added.npy", numpy.array([[0.0, -500, -900], [-500, 0, -numpy.inf], [0, 0, 0]]))

    def drawn(*arguments):
        return parse(succeeds("run", "--format", "svg", *arguments, cwd=tmp_path).out)

    masked = ["Life is short", "--init", "identity", "--mask", "added.npy"]
    root = drawn(*masked)
    assert empty_cells(root) == ["is → short: 0.0"] and "masked" in texts(root)
    assert tooltips(root)[1:3] == ["Life → is: 0.0", "Life → short: 0.0"] and "weights (3, 3)" in texts(root)
    assert empty_cells(drawn(*masked, "--query", "is")) == ["is → short: 0.0"]
    assert empty_cells(drawn(*masked, "--show", "masked_scores")) == ["is → short: -inf"]

    saved = succeeds("run", *masked, "--json", "--show", "masked_scores,weights", cwd=tmp_path).out
    assert succeeds("plot", "-", stdin=saved).out == succeeds("run", *masked, "--format", "svg", cwd=tmp_path).out
    assert empty_cells(parse(succeeds("plot", "-", "--query", "is", stdin=saved).out)) == ["is → short: 0.0"]
    weights = parse(succeeds("plot", "-", stdin=succeeds("run", *masked, "--json", cwd=tmp_path).out).out)
    assert len(empty_cells(weights)) == 4 and "exactly 0" in texts(weights) and "masked" not in texts(weights)


def test_two_sentences_keep_their_words(tmp_path):
    arguments = ["run", "Das Leben ist kurz", "--cross", "Life is short"]
    saved = succeeds(*arguments, "--json", "--show", "weights").out
    assert succeeds("plot", "-", stdin=saved).out == succeeds(*arguments, "--format", "svg").out


@pytest.mark.parametrize("values", [[[-1.0]], [[-3.0, -3.0], [-3.0, -3.0]], [[1.797e308, -1.797e308], [5e-324, 0.0]]])
def test_arcs_of_odd_numbers_are_valid(values, tmp_path):
    numpy.save(tmp_path / "odd.npy", numpy.array(values))
    for path in plot(tmp_path / "odd.npy", "--plot", "arcs", "--quiet").iter(NAMESPACE + "path"):
        assert 0 <= float(path.get("stroke-width")) <= 6
        assert 0 <= float(path.get("stroke-opacity")) <= 1


@pytest.mark.parametrize("values, blue", [([[0.0, 5e-324], [5e-324, 0.0]], 2), ([[0.0, -5e-324], [0.0, 0.0]], 3), ([[1.797e308, -1.797e308]], 1),
                                          ([[0.0, -1.7976931348623157e308], [0.0, 0.0]], 3)])
def test_a_heat_map_of_the_least_and_the_largest_numbers_has_both_ends_of_its_colours(values, blue, tmp_path):
    numpy.save(tmp_path / "odd.npy", numpy.array(values))
    root = plot(tmp_path / "odd.npy", "--quiet")
    cells = [cell.get("fill") for cell in root.iter(NAMESPACE + "rect") if cell.find(NAMESPACE + "title") is not None]
    assert (cells.count("#081a3f"), len(set(cells)), len(cells)) == (blue, 2, len(values) * 2)


def test_other_arrays_must_go_with_the_weights():
    saved = json.loads(succeeds("run", SENTENCE, "--show", "all", "--json").out)
    saved["queries"] = 1.0
    assert_fails(run("plot", "-", "--format", "html", stdin=json.dumps(saved)), 65)


def test_nothing_is_computed_again():
    saved = json.loads(succeeds("run", "a b", "--json").out)
    saved["weights"] = [[[0.125, 0.875], [0.625, 0.375]]]
    shown = tooltips(plot("-", stdin=json.dumps(saved)))
    assert shown == ["a → a: 0.125", "a → b: 0.875", "b → a: 0.625", "b → b: 0.375"]


def test_rows_of_a_saved_result():
    saved = succeeds("run", SENTENCE, "--json").out
    rows = succeeds("run", SENTENCE, "--query", "eat,0", "--format", "svg").out
    assert succeeds("plot", "-", "--query", "eat,0", stdin=saved).out == rows
    assert_fails(run("plot", "-", "--query", "zebra", stdin=saved), 2)


def test_one_head_of_several():
    saved = succeeds("run", SENTENCE, "--heads", 4, "--causal", "--json").out
    root, whole = plot("-", "--head", 2, stdin=saved), plot("-", stdin=saved)
    assert tooltips(root) == tooltips(whole)[2 * 36 : 3 * 36] and len(empty_cells(root)) == 15
    assert [text for text in texts(root) if text.startswith("head ")] == ["head 2"] and texts(root)[0] == "weights (6, 6)"
    row = plot("-", "--head", 2, "--query", "eat", "--plot", "arcs", stdin=saved)
    assert "head 2" in texts(row) and all(tip.startswith("eat → ") for tip in tooltips(row))
    table = succeeds("plot", "-", "--head", 2, "--format", "table", stdin=saved).text
    assert table.startswith("weights, head 2 (6, 6)\n") and table in succeeds("plot", "-", "--format", "table", stdin=saved).text
    assert_fails(run("plot", "-", "--head", 4, stdin=saved), 2)
    one = succeeds("run", SENTENCE, "--json").out
    assert succeeds("plot", "-", "--head", 0, stdin=one).out == succeeds("plot", "-", stdin=one).out
    assert_fails(run("plot", "-", "--head", 1, stdin=one), 2)


def test_rows_that_a_saved_result_does_not_hold():
    saved = succeeds("run", SENTENCE, "--query", "1,3", "--json").out
    for query in ("0", "9", "short", "foo"):
        assert_fails(run("plot", "-", "--query", query, stdin=saved), 2)
    assert len(tooltips(plot("-", "--query", "eat", stdin=saved))) == 6


def test_a_table_of_a_saved_result():
    saved = succeeds("run", SENTENCE, "--json").out
    assert succeeds("plot", "-", "--format", "table", stdin=saved).out == succeeds("run", SENTENCE, "--show", "weights").out


def test_results_that_cannot_be_drawn():
    scores = succeeds("run", "a b", "--json", "--show", "scores").out
    assert_fails(run("plot", "-", stdin=scores), 65)
    lines = succeeds("run", "--lines", "-", "--json", stdin="a b\nc d\n").out
    assert_fails(run("plot", "-", stdin=lines), 65)
    saved = json.loads(succeeds("run", "a b", "--json").out)
    saved["weights"][0][1][0] = "nan"
    assert_fails(run("plot", "-", stdin=json.dumps(saved)), 65)
    saved["weights"] = [[[1.0]]]
    assert_fails(run("plot", "-", stdin=json.dumps(saved)), 65)
    recipe = succeeds("recipe", "show", "owen-2025").out
    assert_fails(run("plot", "-", stdin=recipe), 65)


# ---- tensors ---------------------------------------------------------------------------------------------------------


def test_a_tensor_with_words_for_rows_and_columns(folder):
    root = plot("weights.npy", "--tokens", "words.txt", "--key-tokens", "keys.txt", cwd=folder)
    shown = tooltips(root)
    assert len(shown) == 24
    assert [tip.rsplit(": ", 1)[0] for tip in shown[:8]] == [f"{q} → {k}" for q in ("to", "be") for k in ("α", "<b>", "&", "\\x1b[1m")]
    values = numpy.load(folder / "weights.npy").ravel()
    assert [numpy.float32(tip.rsplit(": ", 1)[1]) for tip in shown] == list(values)


def test_without_words_positions_are_the_labels(folder):
    assert tooltips(plot("square.npy", cwd=folder))[5].startswith("1 → 2: ")
    assert tooltips(plot("square.npy", "--tokens", "words.txt", cwd=folder))[5].startswith("be → to: ")
    assert tooltips(plot("weights.npy", "--tokens", "words.txt", cwd=folder))[5].startswith("be → 1: ")


def test_weights_of_another_program_may_look_causal(folder):
    numpy.save(folder / "causal.npy", numpy.array([[1.0, 0.0], [0.0, 1.0]]))
    (folder / "two.txt").write_text("a\nb\n", encoding="utf-8")
    root = plot("causal.npy", "--tokens", "two.txt", cwd=folder)
    assert len(empty_cells(root)) == 2 and "exactly 0" in texts(root) and "masked" not in texts(root)


@pytest.mark.parametrize("kind", ["float16", "bfloat16", "float32", "float64"])
def test_every_type_of_number(folder, kind):
    values = numpy.array([[[0.5, 0.25, 0.25], [0.125, 0.375, 0.5]]])
    stored = values.astype("float32" if kind == "bfloat16" else kind)
    save_safetensors(folder / "w.safetensors", {"a.b": stored, "other": stored}, ["a.b"] if kind == "bfloat16" else [])
    assert tooltips(plot("w.safetensors:a.b", cwd=folder))[3:] == ["1 → 0: 0.125", "1 → 1: 0.375", "1 → 2: 0.5"]


def test_the_tensor_json_of_attend(folder):
    text = json.dumps({"schema": "attn-cli/tensor/1", "dtype": "float32", "shape": [1, 2], "data": [[0.25, 0.75]]})
    assert tooltips(plot("-", stdin=text)) == ["0 → 0: 0.25", "0 → 1: 0.75"]


def test_batches(folder):
    numpy.save(folder / "batches.npy", numpy.stack([softmax((2, 3, 3), seed) for seed in range(3)]))
    numpy.save(folder / "one.npy", softmax((2, 3, 3), 1)[None])
    assert_fails(run("plot", "batches.npy", cwd=folder), 65)
    assert_fails(run("plot", "batches.npy", "--batch", "3", cwd=folder), 2)
    assert_fails(run("plot", "weights.npy", "--batch", "0", cwd=folder), 2)
    one = succeeds("plot", "one.npy", cwd=folder).out
    assert succeeds("plot", "batches.npy", "--batch", "1", cwd=folder).out == one


def test_words_that_do_not_fit(folder):
    assert_fails(run("plot", "square.npy", "--tokens", "keys.txt", cwd=folder), 65)
    assert_fails(run("plot", "weights.npy", "--key-tokens", "words.txt", cwd=folder), 65)
    (folder / "bad.txt").write_bytes(b"to\nb\xffe\nto\n")
    assert_fails(run("plot", "square.npy", "--tokens", "bad.txt", cwd=folder), 65)
    (folder / "blank.txt").write_bytes(b"to\n\nto\n")
    assert_fails(run("plot", "square.npy", "--tokens", "blank.txt", cwd=folder), 65)
    saved = succeeds("run", "a b", "--json").out
    assert_fails(run("plot", "-", "--tokens", "words.txt", stdin=saved, cwd=folder), 2)


@pytest.mark.parametrize(
    ("text", "rows", "columns"),
    [
        ("Life 0.5 0.25\nis 0.25 0.25\nshort 0.25 0.5\n", ["0", "1"], ["Life", "is", "short"]),
        ("key,a,b\nx,0.5,0.25\ny,0.5,0.75\n", ["a", "b"], ["x", "y"]),
        ("Life 0.5 0.25\nis 0.5 0.75\n", ["Life", "is"], ["Life", "is"]),
    ],
)
def test_the_words_of_a_text_go_with_its_dimensions(text, rows, columns, folder):
    (folder / "keys-by-queries.txt").write_text(text, encoding="utf-8")
    table = [line.split() for line in succeeds("plot", "keys-by-queries.txt", "--axes", "st", "--format", "table", cwd=folder).text.splitlines()]
    assert (table[1], [row[0] for row in table[2:]]) == (columns, rows)
    (folder / "words.txt").write_text("one\n", encoding="utf-8")
    assert_fails(run("plot", "keys-by-queries.txt", "--axes", "st", "--tokens", "words.txt", cwd=folder), 65, "--tokens: got 1 word; allowed: 2")


def test_the_only_array_of_a_text_has_no_name(folder):
    (folder / "vec.txt").write_text("0.5 0.5\n0.25 0.75\n", encoding="utf-8")
    answer = "'vec.txt': got the name 'foo'; allowed: none, its only array has no name"
    assert_fails(run("plot", "vec.txt:foo", cwd=folder), 65, answer)
    assert_fails(run("attend", "-q", "vec.txt:foo", "-k", "vec.txt", "-v", "vec.txt", cwd=folder), 65, answer)
    assert_fails(run("compare", "vec.txt:foo", "vec.txt", cwd=folder), 65, answer)


def test_numbers_that_are_no_weights_are_drawn_with_a_warning(folder):
    numpy.save(folder / "scores.npy", numpy.array([[-1.5, 2.0], [0.0, 4.25]]))
    done = run("plot", "scores.npy", cwd=folder)
    root = parse(done.out)
    assert done.code == 0 and "-1.50" in texts(root) and "4.25" in texts(root)
    assert texts(root)[0] == root.find(NAMESPACE + "title").text == "numbers (2, 2)"
    assert done.message.count("warning: ") == 1
    assert run("plot", "scores.npy", "--quiet", cwd=folder).err == b""
    numpy.save(folder / "half.npy", numpy.array([[0.5, 0.25], [0.5, 0.5]]))
    done = run("plot", "half.npy", cwd=folder)
    assert done.message.count("warning: ") == 1
    assert texts(parse(done.out))[0] == "numbers (2, 2)"
    done = run("plot", "half.npy", "--query", "1", cwd=folder)
    assert done.err == b"" and texts(parse(done.out))[0] == "weights (1, 2)"
    assert "row 0 of head 0" in run("plot", "half.npy", "--query", "0", cwd=folder).message
    (folder / "two.txt").write_text("to\nbe\n", encoding="utf-8")
    assert "row 0 'to' of head 0" in run("plot", "half.npy", "--tokens", "two.txt", cwd=folder).message
    assert parse(run("plot", "half.npy", "--title", "Half", cwd=folder).out).find(NAMESPACE + "title").text == "Half"


def test_weights_that_rounding_took_over_1_are_drawn_from_0_to_1(folder):
    numpy.save(folder / "rounded.npy", numpy.array([[1.01, 0.005], [0.4, 0.6]]))
    done = run("plot", "rounded.npy", cwd=folder)
    assert done.err == b"" and texts(parse(done.out))[0] == "weights (2, 2)"
    assert [text for text in texts(parse(done.out)) if text in ("0.0", "1.0", "1.01")] == ["1.01", "0.0", "1.0"]


def test_a_title(folder):
    root = plot("square.npy", "--title", "Layer 3 <of> 12", cwd=folder)
    assert root.find(NAMESPACE + "title").text == "Layer 3 <of> 12"
    assert "Layer 3 <of> 12" in texts(root)


def test_more_heads_than_a_picture_could_hold_are_refused_before_they_are_read(tmp_path):
    numpy.save(tmp_path / "w.npy", numpy.zeros((100001, 1, 1), "float32"))
    assert_fails(run("plot", tmp_path / "w.npy", "--format", "svg"), 71, "picture: got 100001 heads (100001, 1, 1); allowed: what fits into 30 MB; choose some with --head")


@pytest.mark.parametrize("output, arguments", [
    ("w.txt", ["w.txt"]), ("./w.txt", ["w.txt"]), ("link.svg", ["w.txt"]), ("hard.svg", ["w.txt"]), ("w.txt", ["link.svg"]),
    ("words.txt", ["w.txt", "--tokens", "words.txt"]), ("words.txt", ["w.txt", "--key-tokens", "words.txt"]), ("r.svg", ["r.svg"])])
def test_a_file_that_is_read_is_not_overwritten(tmp_path, output, arguments):
    (tmp_path / "w.txt").write_text("0.5 0.5\n0.1 0.9\n")
    (tmp_path / "words.txt").write_text("to\nbe\n")
    (tmp_path / "r.svg").write_bytes(succeeds("run", "to be", "--json").out)
    (tmp_path / "link.svg").symlink_to("w.txt")
    (tmp_path / "hard.svg").hardlink_to(tmp_path / "w.txt")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert_fails(run("plot", *arguments, "-o", output, cwd=tmp_path), 2, f"-o: got '{output}', which is also read; allowed: another file")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_integers_are_drawn_as_they_are(tmp_path):
    numpy.save(tmp_path / "i.npy", numpy.array([[2**24 + 1, 123456789]]))
    done = run("plot", "i.npy", cwd=tmp_path)
    assert [text.rsplit(" ", 1)[1] for text in tooltips(parse(done.out))] == ["16777217.0", "123456789.0"]


@pytest.mark.parametrize("row, total", [([1e-308, 3e-308], "4e-308"), ([5e-324, 1.79e308], "1.79e+308"), ([0.25, 0.5], "0.75")])
def test_a_sum_is_told_in_any_range(row, total, tmp_path):
    numpy.save(tmp_path / "w.npy", numpy.array([row]))
    assert f"row 0 of head 0 sums to {total}, not 1" in run("plot", "w.npy", cwd=tmp_path).message
