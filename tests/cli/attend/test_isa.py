"""`--isa`: which instructions compute float32 attention, on this machine and on others that qemu-user plays."""

import json
import resource
import subprocess

import pytest
import tiny_models
from program import PROGRAM, SANITIZED, SENTENCE, assert_fails, run, succeeds, without_root

OLD = ("qemu-x86_64", "-cpu", "Nehalem")  # of 2008: neither AVX nor FMA
WITH_AVX2 = ("qemu-x86_64", "-cpu", "max")  # qemu 7.2 has no AVX-512
played = pytest.mark.skipif(SANITIZED, reason="qemu cannot run a sanitizer's address space")

HEADS = ["--ids", ",".join(map(str, range(150))), "--vocab-size", "150", "--heads", "4", "--kv-heads", "2", "--init", "linear"]


def available():
    """What the program itself names when it is asked for nonsense."""
    names = run("run", SENTENCE, "--isa", "nonsense").message.split("allowed: ")[1].split(";")[0].strip()
    return [name for name in names.split(", ") if name != "auto"]


TILED = [name for name in available() if name != "portable"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("isa")
    succeeds("run", *HEADS, "--d-k", "40", "--d-v", "24", "--show", "queries,keys,values", "-o", path / "t.safetensors")
    return path


def attend(folder, *options, on=()):
    """Bytes of the result; `on` is the processor to play."""
    inputs = [word for name in ("queries", "keys", "values") for word in (f"--{name}", f"t.safetensors:{name}")]
    command = [*on, PROGRAM, "attend", *inputs, "--causal", *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, stdin=subprocess.DEVNULL, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, b""), done
    return done.stdout


def numbers(json_bytes):
    def flat(value):
        return [x for part in value for x in flat(part)] if isinstance(value, list) else [value]

    return flat(json.loads(json_bytes)["data"])


def test_version_names_the_one_in_use():
    assert succeeds("--version").text.splitlines()[-1].startswith(f"instruction set: {available()[-1]}")
    for name in available():
        assert succeeds("--version", "--isa", name).text.splitlines()[-1] == f"instruction set: {name}"


def test_one_that_the_machine_lacks_is_an_error_that_names_what_it_has():
    for name in {"avx2", "avx512", "neon"} - set(available()):
        assert_fails(run("run", SENTENCE, "--isa", name), 2, f"--isa: this machine has no {name}; allowed: portable, ")


@pytest.mark.parametrize("name", TILED)
def test_explain_refuses_what_adds_in_another_order(name):
    assert_fails(run("explain", SENTENCE, "--isa", name), 2, "allowed: portable or auto")


@pytest.mark.parametrize("name", TILED)
def test_attend_gives_the_same_numbers_with_each(folder, name):
    tiled, portable = numbers(attend(folder, "--isa", name)), numbers(attend(folder, "--isa", "portable"))
    assert len(tiled) == len(portable) == 4 * 150 * 24
    assert max(abs(a - b) for a, b in zip(tiled, portable)) <= 2e-6
    assert tiled != portable  # another order of summation: this was not the portable path


def test_attend_takes_the_fastest_unless_told(folder):
    assert attend(folder) == attend(folder, "--isa", "auto") == attend(folder, "--isa", available()[-1])


@pytest.mark.parametrize("name", available())
def test_threads_change_no_byte(folder, name):
    one = attend(folder, "--isa", name, "--threads", "1", "--show", "weights,context,entropy")
    assert one == attend(folder, "--isa", name, "--threads", "3", "--show", "weights,context,entropy")


@pytest.mark.parametrize("processes", [1, 2])
def test_attend_goes_on_with_the_threads_that_the_system_gives(folder, processes, tmp_path):
    inputs = [f"{folder}/t.safetensors:{name}" for name in ("queries", "keys", "values")]
    command = ["attend", "-q", inputs[0], "-k", inputs[1], "-v", inputs[2]]
    for path in (folder, *folder.parents[:1]):
        path.chmod(0o755)

    def limit():
        resource.setrlimit(resource.RLIMIT_NPROC, (processes, processes))

    few = run(*command, "--threads", "6", preexec_fn=limit, **without_root(tmp_path))
    assert (few.code, few.err) == (0, b"")
    assert few.out == succeeds(*command, "--threads", "1").out


def test_run_is_portable_unless_told():
    plain = succeeds("run", *HEADS, "--json").out
    assert plain == succeeds("run", *HEADS, "--json", "--isa", "portable").out
    fastest = succeeds("run", *HEADS, "--json", "--isa", available()[-1]).out
    assert fastest == succeeds("run", *HEADS, "--json", "--isa", "auto").out


@pytest.mark.parametrize("name", TILED)
def test_run_can_be_told(name):
    told, plain = (succeeds("run", *HEADS, "--json", *isa).json for isa in (("--isa", name), ()))
    assert list(told) == list(plain) and told["config"] == plain["config"]
    difference = max(abs(a - b) for one, other in zip(told["context"], plain["context"]) for a, b in zip(one, other))
    assert 0 < difference <= 2e-6


@pytest.mark.parametrize("name", TILED)
def test_check_computes_as_run_did(name, tmp_path):
    saved = tmp_path / "saved.json"
    saved.write_bytes(succeeds("run", *HEADS, "--json", "--isa", name).out)
    succeeds("check", saved, "--isa", name)
    assert run("check", saved).code == 1


@pytest.mark.parametrize("name", TILED)
def test_run_gives_a_chosen_row_as_in_the_whole(name):
    options = ("--causal", "--window", "9", "--isa", name, "--show", "weights,context", "--json")
    whole, some = succeeds("run", *HEADS, *options).json, succeeds("run", *HEADS, *options, "--query", "5,70,149").json
    assert some["context"] == [whole["context"][i] for i in (5, 70, 149)]
    assert some["weights"] == [[head[i] for i in (5, 70, 149)] for head in whole["weights"]]


@played
def test_an_old_processor_attends_by_the_portable_path(folder):
    assert attend(folder, on=OLD) == attend(folder, "--isa", "portable")
    done = subprocess.run([*OLD, PROGRAM, "run", SENTENCE, "--isa", "avx2"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "attn-cli: error: --isa: this machine has no avx2; allowed: portable, auto\n"


@played
@pytest.mark.skipif("avx2" not in TILED, reason="this machine has no AVX2 to compare with")
def test_a_processor_with_avx2_gives_the_bytes_that_this_one_gives_with_it(folder):
    assert attend(folder, on=WITH_AVX2) == attend(folder, "--isa", "avx2")


# ---- gradients: the same bytes everywhere ----------------------------------------------------------------------------

GRADIENTS = ["--grad-ones", "--show", "dq,dk,dv,delta,dscale"]


def test_gradients_have_the_same_bytes_for_any_threads(folder):
    one = attend(folder, *GRADIENTS, "--threads", "1")
    assert all(attend(folder, *GRADIENTS, "--threads", threads) == one for threads in ("2", "3", "7"))


@played
@pytest.mark.parametrize("processor", [OLD, WITH_AVX2])
def test_gradients_have_the_same_bytes_on_other_processors(folder, processor):
    assert attend(folder, *GRADIENTS, on=processor) == attend(folder, *GRADIENTS)


# ---- whole models: the same bytes everywhere -------------------------------------------------------------------------


@pytest.fixture(scope="module", params=[tiny_models.bert, tiny_models.llama, None])
def model(request, tmp_path_factory):
    name = f"{request.param(tmp_path_factory.mktemp('model') / 'model')[0]}/" if request.param else "induction"
    return ["run", "the cat sat on the mat " * 3, "--model", name, "--layer", "all", "--show", "all", "--json"]


def test_a_model_gives_the_same_bytes_for_any_threads(model):
    plain = succeeds(*model).out
    for name in ["auto", *available()]:
        told = [succeeds(*model, "--isa", name, "--threads", threads).out for threads in ("1", "2", "3")]
        assert told[0] == told[1] == told[2]
        used = available()[-1] if name == "auto" else name
        assert (told[0] == plain) == (used not in TILED)  # attention and linear layers add in another way there


@pytest.mark.parametrize("name", TILED)
def test_a_model_gives_the_same_numbers_with_each(model, name):
    told, plain = ([layer["weights"] for layer in succeeds(*model, "--isa", isa).json["layers"]] for isa in (name, "portable"))
    numpy = pytest.importorskip("numpy")
    assert numpy.abs(numpy.subtract(told, plain)).max() <= 2e-5


@played
@pytest.mark.parametrize("processor", [OLD, WITH_AVX2])
def test_a_model_gives_the_same_bytes_on_another_processor(model, processor):
    done = subprocess.run([*processor, PROGRAM, *model], capture_output=True, stdin=subprocess.DEVNULL, timeout=300, check=False)
    assert (done.returncode, done.stderr, done.stdout) == (0, b"", succeeds(*model).out)


# ---- what no tiles compute -------------------------------------------------------------------------------------------

UNUSED = [
    (("--set", "rounding=step"), "rounding after every operation"),
    (("--dtype", "float64"), "float64"),
    (("--scale", "1e38"), "numbers that are not finite or may overflow on the way"),
]


def note(name, what):
    return f"attn-cli: warning: --isa {name} does not compute {what}; the portable path ran\n"


@pytest.mark.parametrize("name", TILED)
@pytest.mark.parametrize(("options", "what"), UNUSED)
def test_run_lines_and_check_say_once_that_the_isa_was_not_used(name, options, what, tmp_path):
    plain = run("run", SENTENCE, "--json", *options)
    told = run("run", SENTENCE, "--json", *options, "--isa", name)
    assert (told.code, told.message, told.out) == (0, plain.message + note(name, what), plain.out)
    assert run("run", SENTENCE, "--json", *options, "--isa", name, "--quiet").err == b""
    for isa in ("auto", "portable"):
        assert succeeds("run", SENTENCE, "--json", *options, "--isa", isa).out == plain.out
    lines = run("run", "--lines", "-", "--json", *options, "--isa", name, stdin="a b\n" * 50)
    assert (lines.code, lines.message) == (0, note(name, what))
    (tmp_path / "saved.json").write_bytes(plain.out * 2)
    checked = run("check", "saved.json", "--isa", name, cwd=tmp_path)
    assert (checked.code, checked.message) == (0, note(name, what))


@pytest.mark.parametrize("name", TILED)
def test_attend_says_that_the_isa_was_not_used_when_it_was_asked_for(name, tmp_path):
    numpy = pytest.importorskip("numpy")
    x = numpy.ones((3, 4))
    numpy.save(tmp_path / "f64.npy", x)
    numpy.save(tmp_path / "f32.npy", numpy.float32(x))
    numpy.save(tmp_path / "nan.npy", numpy.float32(x * numpy.nan))
    for file, options, what in (
        ("f64.npy", (), "float64"),
        ("f32.npy", ("--softmax-dtype", "float16"), "a softmax in another type than float32"),
        ("nan.npy", ("--allow-nonfinite",), "numbers that are not finite or may overflow on the way"),
    ):
        command = ("attend", "-q", file, "-k", file, "-v", file, *options)
        assert run(*command, "--isa", name, cwd=tmp_path).message == note(name, what)
        for isa in ((), ("--isa", "auto"), ("--isa", "portable")):
            succeeds(*command, *isa, cwd=tmp_path)
    succeeds("attend", "-q", "f32.npy", "-k", "f32.npy", "-v", "f32.npy", "--isa", name, "--softcap", "3", "--causal", cwd=tmp_path)


@pytest.mark.parametrize("name", TILED)
def test_verifying_in_float64_says_nothing_of_the_isa(name):
    assert "does not compute" not in run("run", SENTENCE, "--verify", "--isa", name).message
    succeeds("run", SENTENCE, "--show", "queries", "--dtype", "float64", "--isa", name)  # no attention at all
