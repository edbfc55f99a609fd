"""Arrays as text, which every command that takes numbers from a file reads: printed, np.savetxt, CSV, lists, our own tables."""

import json

import pytest
from program import assert_fails, counts_memory, measured, on_terminal, run, shell, succeeds
from tensors import attention, numpy

WEIGHTS = numpy.random.default_rng(0).dirichlet([1, 1, 1, 1], 4).astype("float32")
LINES = [" ".join(map(str, row)) for row in WEIGHTS.tolist()]
BY_COMMA = [line.replace(" ", ",") for line in LINES]


def savetxt(path, *more, **options):
    numpy.savetxt(path, WEIGHTS, *more, **options)
    return path.read_text()


def torch():
    return pytest.importorskip("torch")


# What students have in a file, and how.
TEXTS = {
    "np.savetxt": lambda path: savetxt(path),
    "np.savetxt with a header": lambda path: savetxt(path, header="weights of\nmy model"),
    "np.savetxt of few digits": lambda path: savetxt(path, fmt="%.3f"),
    "np.savetxt with %g": lambda path: savetxt(path, fmt="%g", delimiter="\t"),
    "np.savetxt with commas": lambda path: savetxt(path, fmt="%.6e", delimiter=", "),
    "CSV with words": lambda path: "Life,is,short,eat\n" + "\n".join(BY_COMMA) + "\n",
    "CSV of pandas": lambda path: ",a,b,c,d\n" + "\n".join(f"{i},{line}" for i, line in enumerate(BY_COMMA)),
    "CSV of pandas with a name": lambda path: "word,a,b,c,d\n" + "\n".join(f'"x,{i}",{line}' for i, line in enumerate(BY_COMMA)),
    "CSV with semicolons": lambda path: ";\r\n".join(line.replace(",", ";") for line in BY_COMMA) + ";\r\n",
    "CSV of pandas with counted columns": lambda path: ",0,1,2,3\n" + "\n".join(f"{i},{line}" for i, line in enumerate(BY_COMMA)),
    "CSV of R": lambda path: '"","V1","V2","V3","V4"\n' + "\n".join(f'"{i + 1}",{line}' for i, line in enumerate(BY_COMMA)),
    "a table of R": lambda path: '"V1" "V2" "V3" "V4"\n' + "\n".join(f'"{i + 1}" {line}' for i, line in enumerate(LINES)),
    "a table of R without words": lambda path: "\n".join(f'"{i + 1}" {line}' for i, line in enumerate(LINES)),
    "CSV of an old Mac": lambda path: "Life,is,short,eat\r" + "\r".join(BY_COMMA) + "\r",
    "a text of Windows, written as text": lambda path: "\r\r\n".join(LINES),
    "CSV with quotes": lambda path: "\n".join(",".join(f'"{number}"' for number in line.split(",")) for line in BY_COMMA),
    "words before rows": lambda path: "\n".join(f"word{i} {line}" for i, line in enumerate(LINES)),
    "a list of Python": lambda path: str(WEIGHTS.tolist()),
    "tuples": lambda path: str(tuple(map(tuple, WEIGHTS.tolist()))).replace("((", "[(").replace("))", ")]"),
    "rows printed one by one": lambda path: "\n".join(str(row) for row in WEIGHTS.tolist()),
    "JSON": lambda path: json.dumps(WEIGHTS.tolist(), indent=1),
    "JSON with a name": lambda path: json.dumps({"note": 'it\'s "mine"', "heads": 1, "weights": WEIGHTS.tolist(), "more": {"a": None}}),
    "a dict of Python": lambda path: repr({"weights": WEIGHTS.tolist()}),
    "a dict of arrays": lambda path: repr({"weights": WEIGHTS}),
    "NumPy": lambda path: str(WEIGHTS),
    "NumPy's repr": lambda path: repr(WEIGHTS),
    "numbers of NumPy 2": lambda path: "[" + ",\n".join("[" + ", ".join(f"np.float32({x})" for x in line.split()) + "]" for line in LINES) + "]",
    "PyTorch": lambda path: str(torch().from_numpy(WEIGHTS)),
    "a parameter of PyTorch": lambda path: "W:\n" + str(torch().nn.Parameter(torch().from_numpy(WEIGHTS))),
    "source of PyTorch": lambda path: f"w = torch.tensor({WEIGHTS.tolist()})\n",
    "TensorFlow": lambda path: f"tf.Tensor(\n{WEIGHTS}, shape=(4, 4), dtype=float32)\n",
    "rows of TensorFlow": lambda path: "[" + ", ".join(f"tf.Tensor({row}, shape=(4,), dtype=float32)" for row in WEIGHTS.tolist()) + "]",
    "TensorFlow's repr": lambda path: f"<tf.Tensor: shape=(4, 4), dtype=float32, numpy=\n{WEIGHTS!r}>",
    "JAX": lambda path: repr(WEIGHTS).replace("array(", "Array("),
    "a byte order mark": lambda path: "\ufeff" + "\n".join(BY_COMMA),
}


@pytest.fixture
def folder(tmp_path):
    numpy.save(tmp_path / "w.npy", WEIGHTS)
    return tmp_path


@pytest.mark.parametrize("form", TEXTS)
def test_every_form_is_the_array_that_was_written(form, folder):
    (folder / "mine").write_text(TEXTS[form](folder / "mine"))
    exactly = ("--rtol", 0, "--atol", 1e-9)  # a printed number stands for what prints so; of NumPy's pasted float32 the nearest
    succeeds("compare", "mine", "w.npy", *exactly, cwd=folder)
    succeeds("compare", "-", "w.npy", *exactly, cwd=folder, stdin=(folder / "mine").read_bytes())
    other = WEIGHTS.copy()
    other[2, 1] += 0.002
    numpy.save(folder / "other.npy", other)
    done = run("compare", "mine", "other.npy", cwd=folder)
    assert (done.code, "1 of 16" in done.text, "first at [2][1]" in done.text) == (1, True, True), done
    assert succeeds("plot", "mine", "--format", "table", cwd=folder).text.startswith("weights (4, 4)\n")


def test_what_is_no_number_has_the_name_that_each_program_gives_it(tmp_path):
    numpy.save(tmp_path / "a.npy", numpy.array([[1, -numpy.inf], [numpy.nan, numpy.inf]]))
    for text in ('{"scores": [[1, -Infinity], [NaN, Infinity]]}', "[[1, null], [NaN, inf]]", "[[1. -inf]\n [nan inf]]", "1,-Inf\nNaN,+Infinity\n",
                 '{"a": [["1", "-inf"], ["nan", "inf"]]}'):  # fmt: skip
        (tmp_path / "a.txt").write_text(text)
        succeeds("compare", "a.txt", "a.npy", cwd=tmp_path)


@pytest.mark.parametrize("title", ["context ", "context:", "my context, of 2 ", "weights [0] ", "layer 1 - ", "W* ", "**W** ", "W / 2 = "])
@pytest.mark.parametrize("array", ["tensor([[1.0, 2.0],\n        [3.0, 4.0]])", "[[1. 2.]\n [3. 4.]]", "array([[1., 2.],\n       [3., 4.]])"])
def test_what_print_puts_before_an_array_is_its_title(title, array, tmp_path):
    numpy.save(tmp_path / "a.npy", numpy.array([[1.0, 2.0], [3.0, 4.0]]))
    (tmp_path / "a.txt").write_text(f"{title}{array}\n")
    succeeds("compare", "a.txt", "a.npy", cwd=tmp_path)


def test_numbers_of_full_precision_are_exact(folder):
    for text in (savetxt(folder / "a"), str(WEIGHTS.tolist()), str(WEIGHTS.astype("float64").tolist())):
        (folder / "a").write_text(text)
        succeeds("compare", "a", "w.npy", "--rtol", 0, "--atol", 0, cwd=folder)
        up = WEIGHTS.copy()
        up[3, 3] = numpy.nextafter(up[3, 3], numpy.float32(2))
        numpy.save(folder / "up.npy", up)
        assert "1 of 16" in run("compare", "a", "up.npy", "--rtol", 0, "--atol", 0, cwd=folder).text


OPTIONS = [
    ["--show", "all"],
    ["--heads", "4", "--show", "all", "--causal"],
    ["--heads", "2", "--kv-heads", "1", "--softcap", "2", "--show", "queries,keys,capped_scores,weights,lse"],
    ["--heads", "2", "--head", "1", "--show", "weights,queries,entropy"],
    ["--query", "is", "--show", "weights,context"],
    ["--cross", "my sum", "--show", "weights,scores,keys"],
    ["--scale", "none", "--init", "xavier", "--dtype", "float64", "--show", "weights"],
    [],
]
COUNTS = {"token_ids", "key_token_ids", "heads", "query_positions"}  # are no tables


@pytest.mark.parametrize("options", OPTIONS, ids=" ".join)
def test_our_own_tables_and_csv_read_back(options, tmp_path):
    (tmp_path / "r.json").write_text(succeeds("run", "Life is short", *options, "--json").text)
    (tmp_path / "r.csv").write_text(succeeds("run", "Life is short", *options, "--format", "csv").text)
    tables = [[], ["--digits", "2"], ["--notation", "row"], ["--notation", "torch"]]
    for table in tables:
        (tmp_path / "r.txt").write_text(succeeds("run", "Life is short", *options, *table).text)
        report = run("compare", "r.txt", "r.json", "--rtol", 1e-6, "--atol", 1e-7, "--json", cwd=tmp_path).json
        differing = {tensor["name"] for tensor in report["tensors"] if tensor.get("mismatched", 1) or tensor.get("why")}
        assert differing <= COUNTS and len(report["tensors"]) > len(COUNTS & differing), (table, report)
    done = run("compare", "r.csv", "r.json", "--rtol", 0, "--atol", 0, "--json", cwd=tmp_path).json
    assert {tensor["name"] for tensor in done["tensors"] if tensor.get("mismatched") or tensor.get("why")} <= {"heads", "query_positions"}, done


def test_of_layers_and_lines_the_names_say_which(tmp_path):
    model = ("run", "the cat sat", "--model", "induction", "--show", "weights,entropy")
    for kind in ("json", "csv", "table"):
        (tmp_path / kind).write_text(succeeds(*model, "--format", kind).text)
    for kind in ("csv", "table"):
        assert "layers.1.weights" in succeeds("compare", kind, "json", cwd=tmp_path).text
    lines = ("run", "--lines", "-", "--show", "weights")
    for kind in ("json", "csv"):
        (tmp_path / f"l.{kind}").write_bytes(succeeds(*lines, "--format", kind, stdin=b"a b\nc d e\n").out)
    assert "line 2 weights" in succeeds("compare", "l.csv", "l.json", cwd=tmp_path).text
    assert succeeds("plot", "l.csv:line 2 weights", "--format", "table", cwd=tmp_path).text.startswith("weights (3, 3)\n")


def test_a_row_that_does_not_sum_to_1_has_its_sum_behind_it(tmp_path):
    numpy.save(tmp_path / "s.npy", WEIGHTS / 2)
    table = run("plot", "s.npy", "--format", "table", cwd=tmp_path).text  # with a warning
    assert table.splitlines()[1].split() == ["0", "1", "2", "3", "sum"]
    (tmp_path / "s.txt").write_text(table)
    shown = run("compare", "s.txt", "s.npy", cwd=tmp_path).text
    assert "the shapes differ: (1, 4, 4), (4, 4)" in shown  # a table of weights is that of a head
    numpy.save(tmp_path / "s.npy", WEIGHTS[None] / 2)
    succeeds("compare", "s.txt", "s.npy", cwd=tmp_path)


def test_a_picture_has_the_words_of_the_text(tmp_path):
    table = succeeds("run", "Life is short", "--show", "weights").text
    for text in (table, succeeds("run", "Life is short", "--show", "weights", "--format", "csv").text):
        (tmp_path / "t").write_text(text)
        assert succeeds("plot", "t", "--format", "table", cwd=tmp_path).text == table
    (tmp_path / "p.csv").write_text(",Life,is\nLife,0.5,0.5\nis,0.25,0.75\n")
    assert succeeds("plot", "p.csv", "--format", "table", cwd=tmp_path).text == (
        "weights (2, 2)\n        Life      is\nLife  0.5000  0.5000\nis    0.2500  0.7500\n"
    )


def test_heads_may_stand_below_each_other(tmp_path):
    heads = numpy.stack([WEIGHTS, WEIGHTS[::-1]])
    numpy.save(tmp_path / "h.npy", heads)
    blocks = ["\n".join(" ".join(map(str, row)) for row in head.tolist()) for head in heads]
    (tmp_path / "h.txt").write_text("\n\n".join(blocks))
    succeeds("compare", "h.txt", "h.npy", cwd=tmp_path)
    numpy.save(tmp_path / "w.npy", WEIGHTS)
    (tmp_path / "double.txt").write_text("\n\n".join(LINES))
    succeeds("compare", "double.txt", "w.npy", cwd=tmp_path)
    numpy.save(tmp_path / "column.npy", WEIGHTS[0])
    numpy.savetxt(tmp_path / "column.txt", WEIGHTS[0])
    succeeds("compare", "column.txt", "column.npy", cwd=tmp_path)


@pytest.mark.parametrize("form", ["titles", "dict", "csv", "table"])
def test_parameters_may_come_from_any_text(form, tmp_path):
    drawn = succeeds("run", "a b c", "--d-k", "4", "--d-v", "4", "--embed-dim", "4", "--show", "parameters,weights", "--json").json
    parameters = {name: numpy.array(rows, "float32") for name, rows in drawn["parameters"].items()}
    same = ("run", "a b c", "--d-k", "4", "--d-v", "4", "--embed-dim", "4", "--show", "parameters")
    text = {
        "titles": lambda: "\n".join(f"{name} =\n{rows!r}" for name, rows in parameters.items()),
        "dict": lambda: json.dumps({name: rows.tolist() for name, rows in parameters.items()}),
        "csv": lambda: succeeds(*same, "--format", "csv").text,
        "table": lambda: succeeds(*same, "--digits", "8").text,
    }[form]()
    (tmp_path / "p.txt").write_text(text)
    done = succeeds("run", "a b c", "--params", "p.txt", "--heads", "1", "--set", "parameters.layout=run", "--show", "weights", "--json", cwd=tmp_path).json
    numpy.testing.assert_allclose(done["weights"], drawn["weights"], rtol=2e-6)
    assert done["config"]["parameters"]["file"] == "p.txt"


def test_a_text_is_held_against_a_run(tmp_path):
    right = succeeds("run", "Life is short", "--show", "weights", "--json").json["weights"][0]
    numpy.savetxt(tmp_path / "mine.txt", right)
    assert "agree" in succeeds("run", "Life is short", "--against", "mine.txt", cwd=tmp_path).text
    (tmp_path / "table").write_text(succeeds("run", "Life is short").text)
    succeeds("run", "Life is short", "--against", "table", cwd=tmp_path)
    wrong = succeeds("run", "Life is short", "--scale", "none", "--show", "weights", "--json").json["weights"][0]
    numpy.savetxt(tmp_path / "mine.csv", wrong, fmt="%.5f", delimiter=",")
    done = run("run", "Life is short", "--against", "mine.csv", cwd=tmp_path)
    assert done.code == 1 and "scale" in done.text, done


def operands():
    rng = numpy.random.default_rng(1)
    return {name: rng.integers(-3, 4, shape) for name, shape in (("q", (3, 2)), ("k", (5, 2)), ("v", (5, 4)))}


def test_attend_takes_integers_and_texts(tmp_path):
    q, k, v = arrays = list(operands().values())
    _, expected = attention(*(x[None, None].astype("float64") for x in arrays))
    for dtype in ("int64", "int32", "float32"):
        for name, array in zip("qkv", arrays):
            numpy.save(tmp_path / f"{name}.npy", array.astype(dtype))
        done = succeeds("attend", "-q", "q.npy", "-k", "k.npy", "-v", "v.npy", cwd=tmp_path)
        assert (done.json["dtype"], done.json["shape"]) == ("float32", [3, 4])
        numpy.testing.assert_allclose(done.json["data"], expected[0, 0], rtol=2e-5, atol=1e-6)
        written = done.out if dtype == "int64" else written
        assert done.out == written
    (tmp_path / "q.txt").write_text(str(q.tolist()))
    numpy.savetxt(tmp_path / "k.csv", k, fmt="%d", delimiter=",")
    (tmp_path / "v.txt").write_text(f"tensor({v.tolist()})")
    assert succeeds("attend", "-q", "q.txt", "-k", "k.csv", "-v", "v.txt", cwd=tmp_path).out == written
    (tmp_path / "all.txt").write_text(f"Q = {q.tolist()}\nK = {k.tolist()}\nV = {v.tolist()}\n")
    assert succeeds("attend", "-q", "all.txt:Q", "-k", "all.txt:K", "-v", "all.txt:V", cwd=tmp_path).out == written
    numpy.savetxt(tmp_path / "q.txt", q / 2)
    assert succeeds("attend", "-q", "q.txt", "-k", "k.npy", "-v", "v.npy", cwd=tmp_path).json["dtype"] == "float64"
    (tmp_path / "lengths.txt").write_text("[2]")
    numpy.save(tmp_path / "q4.npy", q[None, None].astype("float32"))
    for name, array in (("k", k), ("v", v)):
        numpy.save(tmp_path / f"{name}4.npy", array[None, None].astype("float32"))
    four = ("attend", "-q", "q4.npy", "-k", "k4.npy", "-v", "v4.npy")
    shorter = succeeds(*four, "--lengths", "lengths.txt", cwd=tmp_path).json["data"]
    _, expected = attention(*(x[None, None].astype("float64") for x in (q, k[:2], v[:2])))
    numpy.testing.assert_allclose(shorter, expected, rtol=2e-5, atol=1e-6)
    (tmp_path / "mask.txt").write_text(str([[j < 2 for j in range(5)]] * 3))
    assert succeeds(*four, "--mask", "mask.txt", cwd=tmp_path).json["data"] == shorter


def test_an_integer_that_float32_rounds_is_refused(tmp_path):
    for name in "qkv":
        numpy.save(tmp_path / f"{name}.npy", numpy.array([[2**24 + (name == "k")]]))
    done = run("attend", "-q", "q.npy", "-k", "k.npy", "-v", "v.npy", cwd=tmp_path)
    assert_fails(done, 65, "'k.npy' at (0, 0): got 16777217")


def shown(*arguments, **options):
    code, text = on_terminal(*arguments, **options)
    assert code == 0, text
    return text.decode().replace("\r", "")


def test_a_terminal_gets_a_table_of_what_attend_gives(tmp_path):
    for name, array in zip("qkv", ([[1, 0], [0, 1]], [[1, 0], [0, 1]], [[1, 2], [3, 4]])):
        numpy.save(tmp_path / f"{name}.npy", numpy.array(array))
    attend = ("attend", *(part for name in "qkv" for part in (f"-{name}", tmp_path / f"{name}.npy")))
    assert shown(*attend) == ("context (2, 2)\n        0       1\n0  1.6605  2.6605\n1  2.3395  3.3395\n")
    assert shown(*attend, "--show", "weights,context", "--causal").startswith("weights (2, 2)\n        0       1\n0  1.0000  0.0000\n1  0.3302  0.6698\n\ncontext (2, 2)\n")
    piped = succeeds(*attend).out
    for option in ("--json", "--format=json"):
        assert shown(*attend, option, columns=500).encode() == piped
    for name in "qkv":
        numpy.save(tmp_path / f"{name}.npy", numpy.ones((2, 3, 1, 1), "float32"))
    assert "context, batch 1, head 2 (1, 1)\n" in shown(*attend)


BROKEN = {
    "1 2 3\n4 5\n": "'x', line 2: got 2 numbers; allowed: 3, as in line 1",
    "1 2 3\n4 five 6\n": "'x', line 2, column 3: got 'five'; allowed: a number",
    "1,2\n3,\n5,6\n": "'x', line 2: got 1 number; allowed: 2, as in line 1",
    "1,2\n,3\n": "'x', line 2, column 1: got an empty field",
    "0,5;0,25\n1;2\n": "'x', line 1, column 1: got '0,5'; allowed: a number, with a decimal point",
    "[[1, 2],\n [3]]": "'x', line 2, column 5: got 1 element in a row; allowed: 2, as before",
    "[[1, 2],\n [3, y]]": "'x', line 2, column 6: got 'y'; allowed: numbers as PyTorch or NumPy prints them",
    "[[1, 2]]\n[[3, 4]]\n": "'x', line 2, column 1: got another array without a name; allowed: one array, or a title before each, such as W_q =",
    "a = [1]\na = [2]\n": "'x': got two arrays with the name 'a'; allowed: one of a name",
    "1 2\n3 4\n\n5 6\n": "'x': got arrays of 2 rows and 1 row after a blank line; allowed: one array, or heads of the same shape",
    "weights (1, 3, 2)\n   a b\n  a 1 2\n": "'x': 'weights': got a table of the shape (1, 3, 2); allowed: one or two dimensions, or brackets below the title",
    "": "'x': got an empty file; allowed: a result or tensor as JSON, an array as text (printed, np.savetxt, CSV, a list), or the formats .npy",
    " \n\n": "'x': got a file that begins with ' \\n\\n'",
    "some prose\nand more of it\n": "'x': got a file that begins with 'some pros'",
    "1e400,1\n2,3\n": "'x', line 1, column 1: got '1e400'; allowed: a number that float64 can hold",
    "1e400\n2\n": "'x', line 1, column 1: got '1e400'; allowed: a number that float64 can hold",
    "1,,2\n3,4,5\n": "'x', line 1, column 3: got an empty field; allowed: a number",
    '1,""\n3,4\n': "'x', line 1, column 3: got an empty field; allowed: a number",
    ";;\n1;2;3\n": "'x', line 1, column 1: got an empty field; allowed: a number",
    ",0.5\n0.25,0.5\n": "'x', line 1, column 1: got an empty field; allowed: a number",
    ",1\n,2\n": "'x', line 1, column 1: got an empty field; allowed: a number",
    "a,b\n,1\n2,3\n": "'x', line 2, column 1: got an empty field; allowed: a number",
    "0x10,1\n2,3\n": "'x', line 1, column 1: got '0x10'; allowed: a number, such as 0.5 or 1.5e-3",
    "1_0,2\n3,4\n": "'x', line 1, column 1: got '1_0'; allowed: a number, such as 0.5 or 1.5e-3",
    "50%,1\n2,3\n": "'x', line 1, column 1: got '50%'; allowed: a number, such as 0.5 or 1.5e-3",
    ".5,1\n.25,2\n": "'x', line 1, column 1: got '.5'; allowed: a number, such as 0.5 or 1.5e-3",
    "\u22120.5 1\n0.25 2\n": "'x', line 1, column 1: got '\u22120.5'; allowed: a number, such as 0.5 or 1.5e-3",
    "-infinity 1\n-infinity 2\n": "'x', line 1, column 1: got '-infinity'; allowed: a number, such as 0.5 or 1.5e-3",
    "1st,2nd\n1,2\n": "'x', line 1, column 1: got '1st'; allowed: a number, such as 0.5 or 1.5e-3",
    "1,2 # x\n3,4\n": "'x', line 1, column 3: got '2 # x'; allowed: a number, such as 0.5 or 1.5e-3",
    "1 2 # x\n3 4\n": "'x', line 1, column 5: got '#'; allowed: a number, or words alone in the first line",
    "Life,is,2\n1,2,3\n": "'x', line 1, column 1: got 'Life'; allowed: a number, or words alone in the first line",
    "x,1,2\n3,4,5\n": "'x', line 1, column 1: got 'x'; allowed: a number, or words alone in the first line",
    "1,NA\n3,4\n": "'x', line 1, column 3: got 'NA'; allowed: a number, or words alone in the first line",
    "a,1\n##b,2\n": "'x', line 2, column 1: got '##b'; allowed: a blank behind the # of a comment, or quotes around a word before a row",
    "1+2j,3\n4+1j,5\n": "'x', line 1, column 1: got '1+2j'; allowed: a real number; give real and imaginary parts as an array each",
    "a,b\n1+2j,3\n": "'x', line 2, column 1: got '1+2j'; allowed: a real number; give real and imaginary parts as an array each",
    " (1.0e+00+2.0e+00j)\n (3.0e+00+4.0e+00j)\n": "'x', line 1, column 2: got '(1.0e+00+2.0e+00j)'; allowed: a real number",
    "1 2\r3 x\r": "'x', line 2, column 3: got 'x'; allowed: a number",
    "x = 1.0e-01 *\n\n  1.0  2.0\n": "'x', line 1, column 13: got '*'; allowed: numbers as they are, multiplied out; torch.set_printoptions(",
    "x =\n\n  1.0e+03 *\n\n  1.0  2.0\n": "'x', line 3, column 11: got '*'; allowed: numbers as they are, multiplied out",
    "1.00000e-02 *\n 1.0 2.0\n": "'x', line 1, column 13: got '*'; allowed: numbers as they are, multiplied out",
    "1e3 * tensor([[1., 2.]])": "'x', line 1, column 5: got '*'; allowed: numbers as they are, multiplied out",
    "W = 2*tensor([[1., 2.]])": "'x', line 1, column 6: got '*tensor'; allowed: numbers as they are, multiplied out",
    "W = - [[1., 2.]]": "'x', line 1, column 5: got '-'; allowed: numbers as they are, multiplied out",
    "1e-2 *\n[[1., 2.]]": "'x', line 1, column 6: got '*'; allowed: numbers as they are, multiplied out",
    "tensor(1.00000e-02 *\n [[1., 2.]])": "'x', line 1, column 20: got '*'; allowed: numbers as they are, multiplied out",
    "tensor([1.]) / 2\ntensor([2.])\n": "'x', line 1, column 14: got '/'; allowed: nothing behind the array",
    "weights (1, 2)\ntensor([[1., 2.]]) * 2\n": "'x', line 2, column 20: got '*'; allowed: nothing behind the array",
    "tf.Tensor([[1. 2.]], shape=(2, 3), dtype=float32)": "'x', line 1, column 28: got the shape (2, 3); allowed: (1, 2), which the numbers have",
    "<tf.Tensor: shape=(0, 2), dtype=float32, numpy=array([[1., 2.]])>": "'x', line 1, column 19: got the shape (0, 2); allowed: (1, 2), which the numbers have",
    "tensor([1, 0, 1], size=(4,))": "'x', line 1, column 24: got the shape (4,); allowed: (3,), which the numbers have",
    "[tf.Tensor([1 2], shape=(2,)), tf.Tensor([3 4], shape=(1, 2))]": "got the shape (1, 2); allowed: (2,), which the numbers have",
    "weights (2, 3)\ntensor([[1., 2.]])\n": "'x', line 2, column 1: got the shape (1, 2); allowed: (2, 3), as the title of 'weights' says",
    "1 2\n3 \0\n": "'x': got a file that begins with '1 2\\n3 \\x00\\n'",
    '{"a": [1], "b": }': "malformed JSON at line 1",
    "{'a': [1], 'b': }": "'x', line 1, column 17: got '}'; allowed: a list, or an object with lists",
    "weights (2, 2)\n     a    b\na  0.5  0.5\n": "'x': 'weights': got 1 row; allowed: 2, as its title says",
    "weights (2, 2)\n     a    b\na  0.5  0.5\nb  0.5\n": "'x', line 4: got 1 number; allowed: 2, as the title of 'weights' says",
    "weights (1, 3)\n     a  …\na  0.5  …\n": "'x', line 3: got columns left out, as a terminal shows; allowed: all of them, which a pipe or a file gets",
    "array,head,row,column,query_token,key_token,value\nw,,0,0,,,1\nw,,0,1,,,2\nw,,1,0,,,3\n": "got a row of another length",
    "array,head,row,column,query_token,key_token,value\nw,,0,0,1\n": "'x', line 2: got 5 fields; allowed: 7, as in line 1",
    "[" * 9 + "1" + "]" * 9: "allowed: at most 8 brackets in each other",
    '{"note": "none"}': "'x': got no array of numbers; allowed: at least one",
    "tensor(" * 9 + "1" + ")" * 9: "allowed: at most 8 calls in each other",
}


@pytest.mark.parametrize("text", BROKEN)
def test_what_is_broken_is_named_with_its_place(text, folder):
    (folder / "x").write_text(text)
    assert_fails(run("compare", "x", "w.npy", cwd=folder), 65, BROKEN[text])
    assert_fails(run("attend", "-q", "x", "-k", "w.npy", "-v", "w.npy", cwd=folder), 65, BROKEN[text])


def test_an_endless_text_without_numbers_is_refused_at_once(folder):
    done = shell(f"cd {folder}; yes | \"$A\" compare - w.npy")
    assert done.code == 65 and "a file that begins with 'y\\ny\\n" in done.err.decode(), done


LARGE = {
    "one line": "1 " * 10**6,
    "one column": "1\n" * 2 * 10**6,
    "a list": "[" + "1," * 2 * 10**6 + "]",
    "CSV with words": "a,b\n" + "1,2\n" * 10**6,
}


@counts_memory
@pytest.mark.parametrize("text", LARGE)
def test_memory_is_bounded_by_the_file_and_its_arrays(text, folder):
    (folder / "x").write_text(LARGE[text])
    numbers = LARGE[text].count("1") + LARGE[text].count("2")
    done, _, megabytes = measured("compare", "x", "x", cwd=folder)
    assert done.code == 0, done
    assert megabytes < 64 + 2 * 3 * (len(LARGE[text]) + 8 * numbers) / 2**20, megabytes


@counts_memory
@pytest.mark.parametrize("text", ["1 " * 9 * 2**20 + "x", "1,2\n" * 4 * 2**20 + "x,1\n", "[" + "1," * 9 * 2**20 + "x]"], ids=["one line", "rows", "a list"])
def test_a_refused_text_takes_three_times_its_file_and_no_more(text, folder):
    (folder / "x").write_text(text)
    done, _, megabytes = measured("compare", "x", "w.npy", cwd=folder)
    assert done.code == 65 and b"got 'x'" in done.err, done
    assert megabytes < max(64, 3 * len(text) / 2**20), megabytes
