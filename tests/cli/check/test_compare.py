"""compare: two files of numbers, in any mix of formats."""

import json

import pytest
from program import SENTENCE, assert_fails, run, run_unread, succeeds
from tensors import normal, numpy, save_safetensors


@pytest.fixture
def folder(tmp_path):
    for name, seed in (("a", 1), ("b", 2)):
        numpy.save(tmp_path / f"{name}.npy", normal(seed, 3, 4))
    return tmp_path


def differs(*arguments, **options):
    done = run("compare", *arguments, **options)
    assert (done.code, done.err) == (1, b""), done
    return done


def save(path, array):
    numpy.save(path, array)
    return path


def test_one_of_a_million_values_is_named(tmp_path):
    a = normal(1, 1000, 10, 100)
    b = a.copy()
    b[617, 3, 41] += 0.5
    done = differs(save(tmp_path / "a.npy", a), save(tmp_path / "b.npy", b))
    assert "1 of 1000000 (0.0001%), first at [617][3][41] " in done.text
    largest = differs(tmp_path / "a.npy", tmp_path / "b.npy", "--json").json["tensors"][0]
    assert (largest["mismatched"], largest["percentage"]) == (1, 1e-4)
    assert largest["first"]["index"] == largest["largest_absolute"]["index"] == [617, 3, 41]
    assert numpy.float32(largest["first"]["a"]) == a[617, 3, 41] and numpy.float32(largest["first"]["b"]) == b[617, 3, 41]
    assert largest["largest_absolute"]["difference"] == float(b[617, 3, 41]) - float(a[617, 3, 41])


def test_quiet_prints_what_differs_alone(folder):
    numpy.savez(folder / "one.npz", same=normal(1, 3), other=normal(2, 3))
    numpy.savez(folder / "two.npz", same=normal(1, 3), other=normal(3, 3))
    loud, quiet = differs("one.npz", "two.npz", cwd=folder), differs("one.npz", "two.npz", "--quiet", cwd=folder)
    assert "ok        same" in loud.text
    assert quiet.text.splitlines() == [line for line in loud.text.splitlines() if not line.startswith("ok ")]
    assert differs("one.npz", "two.npz", "--quiet", "--json", cwd=folder).json == differs("one.npz", "two.npz", "--json", cwd=folder).json
    for options in ([], ["--json"]):
        assert succeeds("compare", "a.npy", "a.npy", *options, "--quiet", cwd=folder).out == b""


def test_the_options_of_the_tolerance_are_named_where_they_may_help(folder):
    advice = "the tolerance is --rtol 1.3e-06 --atol 1e-05; set others with --rtol and --atol, or use --ulps\n"
    done = differs("a.npy", "b.npy", cwd=folder)
    assert done.text.endswith(advice) and done.text.count(advice) == 1
    for options in (["--rtol", "1e-6"], ["--atol", "1e-6"], ["--ulps", "2"], ["--json"]):
        assert advice not in differs("a.npy", "b.npy", *options, cwd=folder).text
    save(folder / "c.npy", numpy.zeros(3))
    save(folder / "d.npy", numpy.array([0, numpy.nan, 0]))
    for other in ("a.npy", "d.npy"):  # another shape; no number beside NaN
        assert advice not in differs("c.npy", other, cwd=folder).text
    assert advice not in succeeds("compare", "a.npy", "a.npy", cwd=folder).text


@pytest.mark.parametrize("one, other", [([1, 2, 3], [1, 2, 4]), ([True, False], [True, True])])
def test_units_in_the_last_place_are_no_advice_for_integers(one, other, tmp_path):
    a, b = save(tmp_path / "a.npy", numpy.array(one)), save(tmp_path / "b.npy", numpy.array(other))
    assert differs(a, b).text.endswith("\nthe tolerance is --rtol 0 --atol 0; set others with --rtol and --atol\n")
    differs(a, b, "--ulps", "5")
    succeeds("compare", a, b, "--rtol", "0", "--atol", "1")


def test_whole_numbers_that_are_printed_are_whole(tmp_path):
    (tmp_path / "a.txt").write_text("[[1. 2.] [3. 4.]]")
    save(tmp_path / "b.npy", numpy.array([[1, 2], [3, 4.4]]))
    assert "1 of 4" in differs("a.txt", "b.npy", cwd=tmp_path).text
    save(tmp_path / "b.npy", numpy.array([[1, 2], [3, 4.0]]))
    succeeds("compare", "a.txt", "b.npy", cwd=tmp_path)


def test_a_number_beyond_its_type_is_no_infinity(tmp_path):
    tensor = '{"schema":"attn-cli/tensor/1","dtype":"float32","shape":[2],"data":[1.0,%s]}'
    for name, number in (("a", "1e39"), ("b", "2e39"), ("c", '"inf"')):
        (tmp_path / f"{name}.json").write_text(tensor % number)
    beyond = "data at (1,): got 1e39, which is beyond float32"
    assert_fails(run("compare", "a.json", "b.json", cwd=tmp_path), 65, beyond)
    assert_fails(run("compare", "c.json", "a.json", cwd=tmp_path), 65, beyond)
    succeeds("compare", "c.json", "c.json", cwd=tmp_path)
    result = succeeds("run", SENTENCE, "--json").text
    assert "0.50812906" in result
    (tmp_path / "r.json").write_text(result.replace("0.50812906", "1e308", 1))
    assert_fails(run("compare", "r.json", "r.json", cwd=tmp_path), 65, "weights at (0, 0, 0): got 1e308")


def test_nan_equals_nan_or_not_by_option(tmp_path):
    file = save(tmp_path / "a.npy", numpy.array([1, numpy.nan, numpy.inf]))
    assert "3 compared, all equal" in succeeds("compare", file, file).text
    succeeds("compare", file, file, "--equal-nan", "yes")
    done = differs(file, file, "--equal-nan=no")
    assert "1 of 3 (33.3%), first at [1] nan, nan; 1 of these differ by NaN or infinity, first at [1] nan, nan\n" in done.text
    assert differs(file, file, "--equal-nan=no", "--json").json["tensors"][0]["first"] == {"index": [1], "a": "nan", "b": "nan"}


TOLERANCES = {"float64": (1e-7, 1e-7), "float32": (1.3e-6, 1e-5), "float16": (1e-3, 1e-5)}


@pytest.mark.parametrize("other", TOLERANCES)
@pytest.mark.parametrize("dtype", TOLERANCES)
def test_the_usual_tolerance_is_that_of_torch_testing(dtype, other, tmp_path):
    rtol, atol = (max(pair) for pair in zip(TOLERANCES[dtype], TOLERANCES[other]))
    b = numpy.array([1, 8, 64], other)
    save(tmp_path / "b.npy", b)
    for share, code in ((0.4, 0), (3, 1)):  # the types' own steps are in between
        if (step := float(numpy.spacing(b[2].astype(dtype)))) < share * (atol + rtol * 64):
            save(tmp_path / "a.npy", (b + share * (atol + rtol * b.astype("float64"))).astype(dtype))
            assert run("compare", "a.npy", "b.npy", cwd=tmp_path).code == code, (share, step)


def test_one_of_the_tolerances_alone_leaves_the_other_at_nothing(tmp_path):
    save(tmp_path / "a.npy", numpy.array([0, 1 + 1e-6], "float32"))
    save(tmp_path / "b.npy", numpy.array([1e-6, 1], "float32"))
    succeeds("compare", "a.npy", "b.npy", cwd=tmp_path)
    assert "1 of 2" in differs("a.npy", "b.npy", "--rtol", "1e-5", cwd=tmp_path).text
    succeeds("compare", "a.npy", "b.npy", "--atol", "1e-5", cwd=tmp_path)


def test_a_printed_array_is_a_file_of_numbers(tmp_path):
    a = normal(1, 3, 4)
    save(tmp_path / "a.npy", a)
    with numpy.printoptions(precision=4, suppress=True):
        (tmp_path / "numpy.txt").write_text(f"{a}\n")
    (tmp_path / "torch.txt").write_text(f"tensor({numpy.round(a.astype('float64'), 4).tolist()}, grad_fn=<BmmBackward0>)")
    for file in ("numpy.txt", "torch.txt"):
        succeeds("compare", file, "a.npy", cwd=tmp_path)
    a[1, 2] += 1e-4
    save(tmp_path / "a.npy", a)
    assert "1 of 12" in differs("numpy.txt", "a.npy", cwd=tmp_path).text


def test_a_printed_number_is_every_number_that_prints_so(tmp_path):
    exactly = ("--rtol", 0, "--atol", 0)
    (tmp_path / "a.txt").write_text("[[0.1        0.2       ]\n [0.70000005 0.8000001 ]]")
    (tmp_path / "torch.txt").write_text("tensor([[0.1000, 0.2000],\n        [0.7000, 0.8000]])")
    b = numpy.array([[0.1, 0.2], [0.70000005, 0.8000001]], "float32")
    save(tmp_path / "b.npy", b)
    for pair in (["a.txt", "b.npy"], ["b.npy", "a.txt"], ["torch.txt", "b.npy"], ["a.txt", "torch.txt"]):
        succeeds("compare", *pair, *exactly, cwd=tmp_path)
        succeeds("compare", *pair, "--ulps", 0, cwd=tmp_path)
    b[1, 1] = numpy.nextafter(b[1, 1], numpy.float32(1))
    save(tmp_path / "b.npy", b)
    assert "1 of 4" in differs("a.txt", "b.npy", *exactly, cwd=tmp_path).text
    succeeds("compare", "a.txt", "b.npy", "--ulps", 1, cwd=tmp_path)


def test_each_number_in_scientific_notation_has_a_last_digit_of_its_own(tmp_path):
    (tmp_path / "a.txt").write_text("tensor([1.2345e+03, 1.0000e-02])")
    save(tmp_path / "b.npy", numpy.array([1234.46, 0.01]))
    succeeds("compare", "a.txt", "b.npy", cwd=tmp_path)
    save(tmp_path / "b.npy", numpy.array([1234.46, 0.03]))
    assert "1 of 2" in differs("a.txt", "b.npy", cwd=tmp_path).text


@pytest.mark.parametrize("rtol, atol", [(1e-7, 0), (1e-3, 0), (0, 1e-3), (1e-4, 1e-4), (0, 0)])
def test_tolerances_are_those_of_numpy(rtol, atol, tmp_path):
    for seed in range(20):
        b = normal(seed, 50, dtype="float64")
        a = b * (1 + normal(seed + 100, 50, dtype="float64") * 10.0 ** -(seed % 9)) + (seed % 3 == 0) * 1e-5
        files = save(tmp_path / "a.npy", a), save(tmp_path / "b.npy", b)
        good = numpy.isclose(a, b, rtol, atol)
        done = run("compare", *files, "--rtol", rtol, "--atol", atol, "--json")
        assert done.code == (0 if good.all() else 1)
        report = done.json["tensors"][0]
        assert report["mismatched"] == (~good).sum()
        difference = numpy.abs(a - b)
        assert report["largest_absolute"]["difference"] == difference.max()
        assert report["largest_absolute"]["index"] == [difference.argmax()]
        assert report["largest_relative"]["difference"] == pytest.approx((difference / numpy.abs(b)).max(), rel=1e-15)


def test_units_in_the_last_place_are_those_of_the_narrower_type(tmp_path):
    a = normal(1, 20)
    b = numpy.nextafter(numpy.nextafter(a, numpy.float32(9)), numpy.float32(9)).astype("float64")
    files = save(tmp_path / "a.npy", a), save(tmp_path / "b.npy", b)
    succeeds("compare", *files, "--ulps", "2")
    assert "20 of 20 (100%)" in differs(*files, "--ulps", "1").text


@pytest.mark.parametrize("order, dtype", [("F", "<f4"), ("C", ">f4"), ("F", ">f8"), ("C", "<f8")])
def test_orders_of_elements_and_bytes_do_not_matter(order, dtype, folder):
    a = numpy.load(folder / "a.npy")
    numpy.save(folder / "c.npy", numpy.asarray(a, dtype=dtype, order=order))
    succeeds("compare", folder / "a.npy", folder / "c.npy", "--rtol", "0")


def test_formats_mix(folder):
    tensors = {"x": normal(1, 3, 4), "y": normal(2, 5)}
    numpy.savez(folder / "t.npz", **tensors)
    numpy.savez_compressed(folder / "z.npz", **tensors)
    save_safetensors(folder / "t.safetensors", dict(reversed(tensors.items())))
    text = "".join(
        json.dumps({"schema": "attn-cli/tensor/1", "name": name, "dtype": "float32", "shape": list(a.shape), "data": a.tolist()}) + "\n"
        for name, a in tensors.items()
    )
    (folder / "t.json").write_text(text)
    files = ["t.npz", "z.npz", "t.safetensors", "t.json"]
    for a in files:
        for b in files:
            assert f"{a} and {b} agree" in succeeds("compare", a, b, "--rtol", "0", cwd=folder).text
        succeeds("compare", "a.npy", f"{a}:x", cwd=folder)
        assert "the shapes differ: (3, 4), (5,)" in differs("a.npy", f"{a}:y", cwd=folder).text


def test_names_on_one_side_only_are_a_difference(folder):
    numpy.savez(folder / "a.npz", x=normal(1, 2), y=normal(2, 2))
    numpy.savez(folder / "b.npz", x=normal(1, 2), z=normal(2, 2))
    done = differs("a.npz", "b.npz", cwd=folder)
    lines = done.text.splitlines()
    assert lines == [
        "ok        x  2 compared, all equal",
        "MISMATCH  y  only in A",
        "MISMATCH  z  only in B",
        "a.npz and b.npz differ (2 of 3)",
    ]


def test_two_single_tensors_are_a_pair_whatever_their_names(folder):
    numpy.savez(folder / "c.npz", one=normal(1, 3, 4))
    save_safetensors(folder / "d.safetensors", {"other": normal(1, 3, 4)})
    succeeds("compare", "a.npy", "c.npz", cwd=folder)
    assert "one and other  12 compared" in succeeds("compare", "c.npz", "d.safetensors", cwd=folder).text


def test_results_are_compared_array_by_array_and_word_by_word(tmp_path):
    options = ("--json", "--show", "all")
    one, two = tmp_path / "one.json", tmp_path / "two.json"
    one.write_bytes(succeeds("run", SENTENCE, *options, "--causal").out)
    two.write_bytes(one.read_bytes().replace(b'"Life"', b'"Live"', 1))
    report = succeeds("compare", one, one, "--json", "--rtol", "0").json
    names = [tensor["name"] for tensor in report["tensors"]]
    assert {"tokens", "vocabulary", "token_ids", "W_q", "masked_scores", "weights", "context"} <= set(names)
    result = json.loads(one.read_text())
    result["weights"][0][2][1] += 1e-3
    result["tokens"][5] = "last"
    two.write_text(json.dumps(result, indent=1))
    done = differs(one, two)
    assert "tokens          1 of 6" in done.text or "first at [5] 'first', 'last'" in done.text
    assert "first at [0][2][1] " in done.text
    numpy.save(tmp_path / "w.npy", numpy.array(json.loads(one.read_text())["weights"], dtype="float32"))
    succeeds("compare", f"{one}:weights", tmp_path / "w.npy", "--rtol", "0")


@pytest.mark.parametrize("sentence", ["We take the sum", "We … tensor([ sum", "tensor([ [[ … a b", "… sum", "tensor([ sum …"])
@pytest.mark.parametrize("options", [["--heads", 2], ["--causal"], ["--show", "entropy"], ["--show", "entropy,lse,weights", "--heads", 2]])
def test_our_tables_are_read_whatever_the_words_are(sentence, options, tmp_path):
    call = ("run", sentence, *(["--show", "weights,context,scores"] if "--show" not in options else []), *options)
    golden = tmp_path / "golden.json"
    golden.write_bytes(succeeds(*call, "--json").out)
    for more in ([], ["--notation", "torch"], ["--format", "csv"]):
        (tmp_path / "table").write_bytes(succeeds(*call, *more).out)
        succeeds("compare", tmp_path / "table", golden)


def test_a_byte_of_bool_that_is_no_truth_is_refused_with_its_place(tmp_path):
    truths = numpy.zeros((2, 3), "uint8")
    truths[1, 2] = 173
    save(tmp_path / "m.npy", truths.view(bool))
    save_safetensors(tmp_path / "m.safetensors", {"m": truths.view(bool)})
    numpy.savez(tmp_path / "m.npz", m=truths.view(bool))
    for file, place in (("m.npy", "'m.npy'"), ("m.safetensors", "'m' in 'm.safetensors'"), ("m.npz", "'m' in 'm.npz'")):
        done = run("compare", file, file, cwd=tmp_path)
        assert_fails(done, 65, f"{place} at (1, 2): got 173; allowed: 0 or 1 in a bool tensor")


@pytest.mark.parametrize(("wrong", "place"), [('{"schema": oops}', "line 2, column 12"), ('{"schema":\n oops}', "line 3, column 2")])
def test_malformed_json_of_one_line_of_several_is_told_by_its_place_in_the_file(tmp_path, wrong, place):
    (tmp_path / "two.json").write_text(succeeds("run", "a b", "--json").text + wrong + "\n")
    done = run("compare", "two.json", "two.json", cwd=tmp_path)
    assert_fails(done, 65, f"'two.json': malformed JSON at {place}: ")
    assert "line 2: " not in done.message
    checked = run("check", "two.json", cwd=tmp_path)
    assert checked.code == 65 and f"'two.json' line 2: malformed JSON at {place}: " in checked.message


def test_results_of_lines_are_told_apart_by_their_lines(tmp_path):
    one, two = tmp_path / "one.json", tmp_path / "two.json"
    one.write_bytes(succeeds("run", "--lines", "-", "--json", stdin="a b\nc d e\n").out)
    succeeds("compare", one, one)
    two.write_bytes(succeeds("run", "--lines", "-", "--json", stdin="a b\nc d f\n").out)
    assert "MISMATCH  line 2 tokens " in differs(one, two).text


def test_standard_input_can_be_one_side(folder):
    content = (folder / "a.npy").read_bytes()
    succeeds("compare", "-", folder / "a.npy", stdin=content)
    assert_fails(run("compare", "-", "-", stdin=content), 2)


def test_json_keeps_infinities_and_nan(folder):
    stated = {"schema": "attn-cli/tensor/1", "dtype": "float64", "shape": [4], "data": ["inf", "-inf", "nan", None]}
    (folder / "t.json").write_text(json.dumps(stated))
    numpy.save(folder / "t.npy", numpy.array([numpy.inf, -numpy.inf, numpy.nan, -numpy.inf]))
    succeeds("compare", "t.json", "t.npy", cwd=folder)


def test_a_tensor_of_a_type_that_is_not_read_is_named(folder):
    numpy.savez(folder / "c.npz", x=normal(1, 3, 4), n=numpy.arange(3, dtype="int16"))
    assert_fails(run("compare", "a.npy", "c.npz", cwd=folder), 65)
    succeeds("compare", "a.npy", "c.npz:x", cwd=folder)


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_reader_that_leaves_hides_no_difference(folder, options):
    for b, code in (("b.npy", 1), ("a.npy", 0)):
        done = run_unread("compare", "a.npy", b, *options, cwd=folder)
        assert (done.code, done.err) == (code, b"")
