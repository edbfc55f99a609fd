"""attend --random: inputs that are drawn, and files that hold them with the result. tests/oracle/live_random_cases.py draws hundreds of
them in PyTorch and NumPy."""

import json
import os
import shutil
import subprocess
import time

import jsonschema
import pytest
from program import PROGRAM, SANITIZED, assert_fails, limits_memory, measured, run, succeeds, within
from tensors import attention, band, close, load_safetensors, numpy

# torch.manual_seed(0); torch.randn(1, 2, 2, 2), torch.randn(1, 1, 3, 2), torch.randn(1, 1, 3, 1)
SIZES = "1,2/1,2/3,2/1"
QUERIES = [1.5409960746765137, -0.293428897857666, -2.1787893772125244, 0.5684312582015991, -1.0845223665237427, -1.3985954523086548,
           0.40334683656692505, 0.8380263447761536]
KEYS = [-0.7192575931549072, -0.40334352850914, -0.5966353416442871, 0.18203648924827576, -0.8566746115684509, 1.1006041765213013]
VALUES = [-1.0711873769760132, 0.1227012425661087, -0.5663174986839294]
CONTEXT = [-0.4934378037407071, -0.5159963417380091, -0.6533742682118605, -0.4614090115507705]
NAMES = ("queries", "keys", "values")
ALL = (QUERIES, KEYS, VALUES)


def attend(folder, *options):
    return succeeds("attend", "--random", *options, cwd=folder)


def case(folder, *options, name="case.npz"):
    attend(folder, *options, "-o", name)
    with numpy.load(folder / name) as file:
        return dict(file)


def flat(array):
    return array.ravel().tolist()


def attend_again(folder, name, *options):
    files = (part for option, array in zip(("-q", "-k", "-v"), NAMES) for part in (option, f"{name}:{array}"))
    return run("attend", *files, *options, cwd=folder)


# ---- what is drawn ---------------------------------------------------------------------------------------------------


def test_a_seed_of_pytorch_gives_its_numbers(tmp_path):
    made = case(tmp_path, SIZES, "--seed", "0")
    assert [flat(made[name]) for name in NAMES] == list(ALL)
    assert [made[name].shape for name in (*NAMES, "context")] == [(1, 2, 2, 2), (1, 1, 3, 2), (1, 1, 3, 1), (1, 2, 2, 1)]
    assert {array.dtype for array in made.values()} == {numpy.dtype("float32")}
    close(made["context"].ravel(), CONTEXT)


def test_without_a_seed_it_is_that_of_run_and_the_bytes_are_the_same_each_time(tmp_path):
    first, second = (case(tmp_path, SIZES, *seed) for seed in ((), ("--seed", "123")))
    assert all(numpy.array_equal(first[name], second[name]) for name in first)
    assert (tmp_path / "case.npz").read_bytes() == (attend(tmp_path, SIZES, "-o", "b.npz"), (tmp_path / "b.npz").read_bytes())[1]


@pytest.mark.parametrize("generator", ["numpy", "numpy-pcg64"])
def test_the_generators_of_numpy_draw_in_float64(tmp_path, generator):
    shapes = [(2, 4, 3, 2), (2, 2, 5, 2), (2, 2, 5, 3)]
    for type in ("float64", "float32", "float16"):
        made = case(tmp_path, "2,4/2,3/5,2/3", "--generator", generator, "--seed", "7", "--dtype", type)
        if generator == "numpy":
            numpy.random.seed(7)
            drawn = [numpy.random.randn(*shape).astype(type) for shape in shapes]
        else:
            stream = numpy.random.default_rng(7)
            drawn = [stream.standard_normal(shape).astype(type) for shape in shapes]
        assert all(numpy.array_equal(made[name], array) and made[name].dtype == type for name, array in zip(NAMES, drawn))


def test_half_precision_rounds_the_draws_of_float32_once(tmp_path):
    half = case(tmp_path, SIZES, "--seed", "0", "--dtype", "float16")
    assert [flat(half[name]) for name in NAMES] == [flat(numpy.array(numbers, "float16")) for numbers in ALL]
    attend(tmp_path, SIZES, "--seed", "0", "--dtype", "bfloat16", "-o", "b.safetensors")
    stored, _ = load_safetensors(tmp_path / "b.safetensors")
    assert flat(stored["queries"])[:4] == [1.5390625, -0.29296875, -2.171875, 0.5703125]
    assert stored["context"].shape == (1, 2, 2, 1)


def test_float64_is_drawn_as_float64(tmp_path):
    made = case(tmp_path, "1,1,5,1", "--seed", "0", "--dtype", "float64")
    drawn = map(float.fromhex, ["0x1.8a7eb8902be3ap+0", "-0x1.2c78a087c6feap-2", "-0x1.16e2920a70ee5p+1", "0x1.23096ca3e350dp-1"])
    assert flat(made["queries"])[:4] == list(drawn)
    assert made["context"].dtype == "float64"


def test_one_size_stands_for_both_and_the_layout_is_that_of_the_draws(tmp_path):
    plain, swapped = case(tmp_path, "2,4,3,5"), case(tmp_path, "2,4,3,5", "--layout", "bshd")
    assert all(array.shape == (2, 4, 3, 5) for array in plain.values())
    assert all(array.shape == (2, 3, 4, 5) for array in swapped.values())
    assert flat(plain["queries"]) == flat(swapped["queries"])
    q, k, v = (swapped[name].swapaxes(1, 2) for name in NAMES)
    close(swapped["context"].swapaxes(1, 2), attention(q, k, v)[1])


def test_packed_sequences_are_drawn_one_after_another(tmp_path):
    numpy.save(tmp_path / "c.npy", numpy.array([0, 2, 5]))
    made = case(tmp_path, "1,4/2,5,3", "--cu-seqlens", "c.npy")
    assert [made[name].shape for name in (*NAMES, "context")] == [(5, 4, 3), (5, 2, 3), (5, 2, 3), (5, 4, 3)]
    q, k, v = (made[name][2:].swapaxes(0, 1)[None] for name in NAMES)
    close(made["context"][2:].swapaxes(0, 1)[None], attention(q, k, v)[1])
    assert_fails(run("attend", "--random", "2,4/2,5,3", "--cu-seqlens", "c.npy", cwd=tmp_path), 2, "B = 2", "--cu-seqlens")


# ---- options beside it -----------------------------------------------------------------------------------------------


def test_files_and_options_go_with_it(tmp_path):
    numpy.save(tmp_path / "m.npy", numpy.arange(35).reshape(5, 7) % 3 > 0)
    numpy.save(tmp_path / "l.npy", numpy.array([7, 4]))
    made = case(tmp_path, "2,2,5/7,4", "--mask", "m.npy", "--lengths", "l.npy", "--causal", "--causal-align", "top-left", "--scale", "0.3")
    seen = numpy.load(tmp_path / "m.npy") & (numpy.arange(7) < numpy.array([7, 4])[:, None, None, None]) & band(5, 7, right=0)
    close(made["context"], attention(*(made[name] for name in NAMES), seen=seen, scale=0.3)[1])


def test_a_cache_and_sinks_go_with_it(tmp_path):
    for name, shape in (("pk", (1, 1, 4, 2)), ("pv", (1, 1, 4, 1)), ("sinks", (2,))):
        numpy.save(tmp_path / f"{name}.npy", numpy.ones(shape, "float32"))
    made = case(tmp_path, SIZES, "--past-key", "pk.npy", "--past-value", "pv.npy", "--sinks", "sinks.npy", "--show", "present_key,weights,context")
    assert made["present_key"].shape == (1, 1, 7, 2) and made["weights"].shape == (1, 2, 2, 7)
    assert flat(made["present_key"])[8:] == flat(made["keys"])
    assert (made["weights"].sum(-1) < 0.999).all()


def test_a_mistake_is_named_and_blind_spots_are_listed(tmp_path):
    case(tmp_path, "2,4/2,20/24,8", "--causal", "--scale", "1", "--show", "context")
    done = run("attend", "--random", "2,4/2,20/24,8", "--causal", "--against", "case.npz:context", cwd=tmp_path)
    assert done.code == 1 and 'what "no scale of the scores" gives' in done.text
    listed = attend(tmp_path, "2,4/2,20/24,8", "--causal", "--blind-spots", "--json").json
    assert 0 < listed["seen"] <= listed["possible"]
    again = attend_again(tmp_path, "case.npz", "--causal", "--blind-spots", "--json").json
    assert listed == again


def test_the_input_that_is_suggested_comes_with_a_command_without_the_draw(tmp_path):
    case(tmp_path, "1,2,5,4", "--show", "context")
    done = run("attend", "--random", "1,2,5,4", "--window", "3,5", "--against", "case.npz:context", "--suggest-input", "tie.npz", cwd=tmp_path)
    assert done.code == 1 and "attn-cli attend -q tie.npz:queries" in done.text and "--random" not in done.text


# ---- where it goes ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["case.npz", "case.safetensors", "case.bin"])
def test_a_case_holds_the_inputs_and_every_stage_and_agrees_with_itself(tmp_path, name):
    attend(tmp_path, "2,4/2,5/7,8", "--causal", "--show", "scores,weights,context,lse", "-o", name)
    for stage in ("scores", "weights", "context", "lse"):
        again = run("compare", f"{name}:{stage}", f"{name}:{stage}", cwd=tmp_path)
        assert again.code == 0, again
    done = attend_again(tmp_path, name, "--causal", "--against", f"{name}:context")
    assert (done.code, done.err) == (0, b"") and "agrees" in done.text
    assert attend_again(tmp_path, name, "--against", f"{name}:context").code == 1


def test_a_file_of_one_array_and_text_have_the_stage_alone(tmp_path):
    attend(tmp_path, SIZES, "--seed", "0", "-o", "y.npy")
    close(numpy.load(tmp_path / "y.npy").ravel(), CONTEXT)
    told = attend(tmp_path, SIZES, "--seed", "0").json
    assert told["shape"] == [1, 2, 2, 1] and "name" not in told
    lines = attend(tmp_path, SIZES, "--show", "weights,context").json_lines
    assert [line["name"] for line in lines] == ["weights", "context"]


# ---- raw numbers -----------------------------------------------------------------------------------------------------


def header(folder, name="case.bin"):
    text = (folder / f"{name}.json").read_text()
    assert text.endswith("}\n") and text.count("\n") == 1
    read = json.loads(text)
    jsonschema.Draft202012Validator(succeeds("schema", "raw").json).validate(read)
    return read


def test_raw_numbers_come_with_a_header_of_one_line(tmp_path):
    attend(tmp_path, SIZES, "--seed", "0", "--out-dtype", "float64", "-o", "case.bin")
    told = header(tmp_path)
    described = [(a["name"], a["dtype"], a["shape"], a["offset"]) for a in told["arrays"]]
    assert described == [("queries", "float32", [1, 2, 2, 2], 0), ("keys", "float32", [1, 1, 3, 2], 64), ("values", "float32", [1, 1, 3, 1], 128),
                         ("context", "float64", [1, 2, 2, 1], 192)]
    content = (tmp_path / "case.bin").read_bytes()
    assert told["bytes"] == len(content) == 192 + 4 * 8
    for numbers, offset in zip(ALL, (0, 64, 128)):
        assert numpy.frombuffer(content, "<f4", len(numbers), offset).tolist() == numbers
    assert content[32:64] == bytes(32)
    close(numpy.frombuffer(content, "<f8", 4, 192), CONTEXT, 1e-12, 1e-12)


def test_raw_numbers_of_files_are_the_stages_alone(tmp_path):
    case(tmp_path, SIZES)
    assert attend_again(tmp_path, "case.npz", "--format", "bin", "-o", "y").code == 0
    assert [array["name"] for array in header(tmp_path, "y")["arrays"]] == ["context"]


@pytest.mark.parametrize("to", [(), ("-o", "-"), ("-o", "/dev/stdout"), ("-o", "/dev/null")])
def test_raw_numbers_need_a_file_beside_which_the_header_is(tmp_path, to):
    assert_fails(run("attend", "--random", SIZES, "--format", "bin", *to, cwd=tmp_path), 2, "-o", "beside")


def test_both_files_are_replaced_or_neither(tmp_path):
    attend(tmp_path, SIZES, "-o", "case.bin")
    before = {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)}
    assert sorted(before) == ["case.bin", "case.bin.json"]
    (tmp_path / "nan.npy").write_bytes(b"no array")
    assert run("attend", "--random", SIZES, "--mask", "nan.npy", "-o", "case.bin", cwd=tmp_path).code == 65
    (tmp_path / "nan.npy").unlink()
    assert before == {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)}
    attend(tmp_path, "1,1,1,1", "-o", "case.bin")
    assert sorted(os.listdir(tmp_path)) == ["case.bin", "case.bin.json"]
    assert header(tmp_path)["bytes"] == (tmp_path / "case.bin").stat().st_size == 192 + 4


def strace_works():
    return shutil.which("strace") is not None and subprocess.run(["strace", "-qq", "-e", "trace=chdir", "true"], capture_output=True).returncode == 0


@pytest.mark.skipif(SANITIZED or not strace_works(), reason="strace is not there, or may not trace")
@pytest.mark.parametrize(("old", "fault", "code"), [
    (True, "rename:error=EIO:when=1", 73), (False, "rename:error=EIO:when=1", 73), (False, "rename:error=EIO:when=2", 73),
    (True, "fsync:error=ENOSPC:when=2", 74), (False, "fsync:error=EIO:when=2", 74),
    (True, "renameat2:error=EINVAL", 0),
])
def test_a_call_of_the_system_that_fails_leaves_both_files_or_neither(tmp_path, old, fault, code):
    if old:
        attend(tmp_path, "1,1,1,1", "-o", "case.bin")
    before = {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)}
    trace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={fault.partition(':')[0]}", "-e", f"inject={fault}"]
    done = subprocess.run([*trace, PROGRAM, "attend", "--random", SIZES, "-o", "case.bin"], cwd=tmp_path, capture_output=True, timeout=60, check=False)
    assert done.returncode == code, done
    if code == 0:
        assert sorted(os.listdir(tmp_path)) == ["case.bin", "case.bin.json"]
        assert header(tmp_path)["bytes"] == (tmp_path / "case.bin").stat().st_size > 192 + 4
    else:
        assert before == {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)}


@pytest.mark.skipif(SANITIZED or not strace_works(), reason="strace is not there, or may not trace")
@pytest.mark.parametrize(("old", "call"), [(False, "rename"), (True, "renameat2")])
def test_two_programs_that_write_the_same_case_at_once_leave_both_files_of_one(tmp_path, old, call):
    if old:
        attend(tmp_path, "1,1,2,1", "-o", "case.bin")
    before = (tmp_path / "case.bin").stat().st_ino if old else None
    slow = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={call}:delay_exit=1500000:when=1"]
    with subprocess.Popen([*slow, PROGRAM, "attend", "--random", "1,1,1,1", "-o", "case.bin"], cwd=tmp_path) as first:
        deadline = time.monotonic() + 60
        while not ((tmp_path / "case.bin").exists() and (tmp_path / "case.bin").stat().st_ino != before):  # the first of its two files
            assert time.monotonic() < deadline
            time.sleep(0.001)
        attend(tmp_path, SIZES, "-o", "case.bin")
        assert first.wait(60) == 0
    assert header(tmp_path)["bytes"] == (tmp_path / "case.bin").stat().st_size
    assert sorted(os.listdir(tmp_path)) == ["case.bin", "case.bin.json"]


def test_a_lock_that_a_dead_program_left_holds_nobody_up(tmp_path):
    (tmp_path / ".attn-cli-case.bin.lock").touch()
    attend(tmp_path, SIZES, "-o", "case.bin")
    assert sorted(os.listdir(tmp_path)) == ["case.bin", "case.bin.json"]
    long = "x" * 240 + ".bin"
    attend(tmp_path, SIZES, "-o", long)
    assert sorted(os.listdir(tmp_path)) == ["case.bin", "case.bin.json", long, f"{long}.json"]


def test_a_header_that_cannot_be_written_is_noticed_before_the_work(tmp_path):
    (tmp_path / "case.bin.json").mkdir()
    assert_fails(run("attend", "--random", SIZES, "-o", "case.bin", cwd=tmp_path), 73, "case.bin.json")
    assert os.listdir(tmp_path) == ["case.bin.json"]


def test_a_header_of_more_than_a_mebibyte_is_refused(tmp_path):
    attend(tmp_path, SIZES, "-o", "case.bin")
    with open(tmp_path / "case.bin.json", "ab") as told:
        told.write(b" " * 2**20)
    assert_fails(attend_again(tmp_path, "case.bin"), 65, "case.bin.json")


def test_neither_file_is_one_that_is_read(tmp_path):
    attend(tmp_path, SIZES, "-o", "case.bin")
    os.link(tmp_path / "case.bin", tmp_path / "other.bin")
    os.link(tmp_path / "case.bin.json", tmp_path / "other.bin.json")
    assert_fails(attend_again(tmp_path, "case.bin", "-o", "other.bin"), 2, "-o")
    assert_fails(attend_again(tmp_path, "case.bin", "-o", "case.bin.json", "--json"), 2, "-o")
    (tmp_path / "same.bin").write_bytes(b"old")
    os.symlink("same.bin", tmp_path / "same.bin.json")
    assert_fails(attend_again(tmp_path, "case.bin", "-o", "same.bin"), 2, "same.bin")
    os.mkfifo(tmp_path / "fifo.bin.json")
    os.link(tmp_path / "case.bin", tmp_path / "fifo.bin")
    assert_fails(attend_again(tmp_path, "fifo.bin"), 65, "fifo.bin")  # at once: nothing waits for a writer
    numpy.save(tmp_path / "m.npy", numpy.ones((2, 3), bool))
    os.link(tmp_path / "m.npy", tmp_path / "y.bin.json")
    assert_fails(run("attend", "--random", SIZES, "--mask", "m.npy", "-o", "y.bin", cwd=tmp_path), 2, "y.bin.json")


@pytest.mark.parametrize(("change", "says"), [
    (lambda told: told | {"bytes": told["bytes"] + 1}, "bytes"),
    (lambda told: told | {"more": 1}, "more"),
    (lambda told: told | {"schema": "attn-cli/raw/2"}, "attn-cli/raw/1"),
    (lambda told: told | {"arrays": [told["arrays"][0] | {"shape": [2**40, 2**40]}]}, "arrays[0].shape"),
    (lambda told: told | {"arrays": [told["arrays"][0] | {"offset": told["bytes"]}]}, "arrays[0].shape"),
    (lambda told: told | {"arrays": [told["arrays"][0] | {"offset": -1}]}, "arrays[0].offset"),
    (lambda told: told | {"arrays": [told["arrays"][0] | {"dtype": "float8"}]}, "arrays[0].dtype"),
    (lambda told: told | {"arrays": told["arrays"][:1] * 2}, "arrays[1]"),
])
def test_a_header_of_other_numbers_is_bad_data(tmp_path, change, says):
    attend(tmp_path, SIZES, "-o", "case.bin")
    told = header(tmp_path)
    (tmp_path / "case.bin.json").write_text(json.dumps(change(told)))
    assert_fails(attend_again(tmp_path, "case.bin"), 65, "'case.bin.json': ", says)
    assert_fails(run("compare", "case.bin:queries", "case.bin:queries", cwd=tmp_path), 65, "'case.bin.json': ", says)


def test_a_name_that_is_not_there_is_told_with_those_that_are(tmp_path):
    attend(tmp_path, SIZES, "-o", "case.bin")
    assert_fails(run("attend", "-q", "case.bin:query", "-k", "case.bin:keys", "-v", "case.bin:values", cwd=tmp_path), 65, "'queries'")
    assert_fails(run("compare", "case.bin:query", "case.bin:keys", cwd=tmp_path), 65, "'queries'")


def test_a_kernel_may_write_a_bin_of_its_own(tmp_path):
    attend(tmp_path, SIZES, "--seed", "0", "-o", "case.bin")
    (tmp_path / "mine.bin").write_bytes(b"\1\2\3" + numpy.array(CONTEXT, "<f4").tobytes())  # arrays may begin anywhere
    told = {"schema": "attn-cli/raw/1", "bytes": 19, "arrays": [{"name": "y", "dtype": "float32", "shape": [1, 2, 2, 1], "offset": 3}]}
    (tmp_path / "mine.bin.json").write_text(json.dumps(told))
    done = attend_again(tmp_path, "case.bin", "--against", "mine.bin")
    assert (done.code, done.err) == (0, b""), done


def test_raw_numbers_without_a_header_say_what_is_missing(tmp_path):
    numpy.ones(8, "<f4").tofile(tmp_path / "alone.bin")
    numpy.save(tmp_path / "q.npy", numpy.ones((2, 4), "f4"))
    qkv = ("-q", "q.npy", "-k", "q.npy", "-v", "q.npy")
    for call in (("attend", *qkv[:-1], "alone.bin"), ("attend", *qkv, "--against", "alone.bin"), ("compare", "alone.bin", "q.npy"), ("plot", "alone.bin")):
        assert_fails(run(*call, cwd=tmp_path), 65, "'alone.bin': got no header; allowed: 'alone.bin.json' beside it", "dtype, shape and offset")
    shutil.copy(tmp_path / "q.npy", tmp_path / "tensor.bin")  # of another kind it needs none
    assert run("compare", "tensor.bin", "q.npy", cwd=tmp_path).code == 0


# ---- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", ["", "2", "1,2,3", "1,2,3,4,5", "1,2,3,x", "1,2,3,0", "1,2,3,-4", "1,2,3,4.5", "1,2,3,1e3", "01,2,3,4", "1/1,2,3,4",
                                   "1,2/,3,4", "1,/2,3,4", "1,2/2/2,3,4", "1, 2,3,4", "1,2,,4", "1,2,3,2147483648", "1x2x3x4"])
def test_a_bad_shape_is_refused_in_one_line(sizes):
    assert_fails(run("attend", "--random", sizes), 2, "--random", "B,H[/H_kv],T[/S],d[/d_v], integers from 1 to 2147483647")


def test_heads_that_are_no_groups_are_refused():
    assert_fails(run("attend", "--random", "1,4/3,5,8"), 2, "--random", "4 heads of queries and 3 of keys", "divisor")


@pytest.mark.parametrize(("options", "says"), [
    (["-q", "q.npy"], "-q"), (["-k", "k.npy"], "-k"), (["-v", "v.npy"], "-v"), (["--heads", "2"], "--heads"),
    (["--seed", "-1"], "--seed"), (["--seed", "4294967296", "--generator", "numpy"], "4294967295"), (["--generator", "mine"], "numpy-pcg64"),
    (["--dtype", "int32"], "float16"),
])
def test_what_does_not_go_with_it_is_refused(options, says):
    assert_fails(run("attend", "--random", SIZES, *options), 2, says)


@pytest.mark.parametrize("option", [["--seed", "1"], ["--dtype", "float16"], ["--generator", "numpy"]])
def test_what_says_how_to_draw_needs_something_to_draw(option):
    assert_fails(run("attend", "-q", "q.npy", "-k", "k.npy", "-v", "v.npy", *option), 2, option[0], "--random")


@limits_memory
def test_what_does_not_fit_is_refused_before_it_is_drawn():
    assert_fails(run("attend", "--random", "1,8,4000000,128", preexec_fn=within(2000)), 71, "the draws of queries (1, 8, 4000000, 128)", "free")
    assert_fails(run("attend", "--random", "2147483647,2147483647,2147483647,2147483647"), 71)


@limits_memory
def test_stages_that_do_not_fit_are_refused_before_the_draw(tmp_path):
    done, _, megabytes = measured("attend", "--random", "1,1,4000000,2", "--show", "weights", "-o", "w.npz", cwd=tmp_path)
    assert_fails(done, 71, "the stages asked for need")
    assert megabytes < 4 * 3 * 8 + 60  # a draw holds twelve bytes more for each of eight million numbers
