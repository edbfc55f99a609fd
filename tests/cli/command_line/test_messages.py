"""Every refusal and warning as it is typed and answered: the commands of approved/messages.txt, run again.

Run as a program, it stores what the commands of that file say now; to add a message, write its `$ ` line there first:

    ATTN_CLI=build/release/attn-cli PYTHONPATH=tests/cli python3 tests/cli/command_line/test_messages.py
"""

import json
import os
import tempfile
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from program import PROGRAM, SENTENCE, run, succeeds
from tensors import normal, numpy, save_safetensors

APPROVED = Path(__file__).parent / "approved" / "messages.txt"
WORDS = ["Life", "is", "short", "eat", "dessert", "first"]
LAYER = {"in_proj_weight": normal(0, 24, 8), "in_proj_bias": normal(1, 24), "out_proj.weight": normal(2, 8, 8), "out_proj.bias": normal(3, 8)}
EXTRA_KEY = {"bias_k": normal(8, 1, 1, 8), "bias_v": normal(9, 1, 1, 8)}
PLAIN = {"embedding": normal(0, 6, 16), "W_q": normal(1, 24, 16), "W_k": normal(2, 24, 16), "W_v": normal(3, 28, 16)}
SQUARE = {name: normal(1, 4, 4) for name in ("W_q", "W_k", "W_v")}
NAN, LARGE = numpy.full((6, 4), numpy.nan), numpy.full((6, 4), -1e300)


def softmax(*shape):
    powers = numpy.exp(normal(1, *shape, dtype="float64"))
    return powers / powers.sum(-1, keepdims=True)


def layer(prefix, shape, *names):
    return {f"{prefix}.{name}": normal(1, *shape) for name in names}


TEXTS = {
    "v.txt": "".join(f"{word} {i} 1 2 3 4\n" for i, word in enumerate(["the", "of", *WORDS, "<unk>"])),
    "plain.txt": "a 1 2\n",
    "uneven.txt": "Life 1 2\nx 1\nis 1 2\n",
    "longer.txt": "x 1 2\ny 1 2\nLife 1 2 3\nis 1 2\n",
    "twice.txt": "Life 1 2\nis 1 2\nLife 3 4\n",
    "nan.txt": "Life 1 2\nis 1 nan\n",
    "beyond64.txt": "Life 1 2\nis 1e400 2\n",
    "beyond32.txt": "Life 1 2\nis 1e99 2\n",
    "bytes.txt": b"Life 1 2\nis 1 2\n\xff\xfe 1 2\n",
    "cut.txt": "3 2\nLife 1 2\nis 1 2\n",
    "wide.txt": "2 1048577\nLife 1\n",
    "commas.txt": "Life,1,2\nis,1,2\n",
    "tabs.txt": "Life\t1\t2\nis\t1\t2\n",
    "comma.txt": "Life, 1, 2\nis, 1, 2\n",
    "spaces.txt": "Life  1 2\nis  1 2\n",
    "binary.txt": bytes(range(256)),
    "zipped.txt": b"\x1f\x8b\x08\x00" + b"x" * 40,
    "zeros.txt": b"3 2\nLife \x00\x00\x80\x3f\n",
    "words.txt": "\n".join(WORDS),
    "repeated.txt": "\n".join([*WORDS[:5], "is"]),
    "three.txt": "to\nbe\nto\n",
    "four.txt": "α\n<b>\n&\n\x1b[1m\n",
    "not-utf8.txt": b"to\nb\xffe\nto\n",
    "blank.txt": "to\n\nto\n",
    "empty": "",
    "l.json": "{}",
    "zeros-and-ones.npy": b"\x93NUMPY\x01\0v\0" + b"{'descr': '|b1', 'fortran_order': False, 'shape': (1,), }".ljust(117) + b"\n\x02",
    "end.npz": b"PK\3\4",
    "metadata.safetensors": b'\x44\0\0\0\0\0\0\0{"__metadata__": {"schema": "attn-cli/result/1", "config": "{"}}    ',
    "recipe.json": json.dumps({
        "schema": "attn-cli/recipe/1", "input": {"sentence": SENTENCE}, "dims": {"embed_dim": 16, "heads": 4},
        "draws": [{"seed": 1}, {"tensor": "embedding", "init": "uniform"}, *({"tensor": name, "init": "uniform"} for name in ("W_q", "W_k", "W_v"))],
        "published": [{"array": "tokens", "values": WORDS}],
    }),
    "batch.json": json.dumps({
        "schema": "attn-cli/recipe/1", "input": {"sentence": ["a b", "c"]},
        "draws": [{"seed": 1}, *({"tensor": name, "init": "uniform"} for name in ("embedding", "W_q", "W_k", "W_v"))],
    }),
}  # fmt: skip
ARRAYS = {
    "q": normal(1, 2, 4, 5, 8), "k": normal(2, 2, 4, 7, 8), "v": normal(3, 2, 4, 7, 6),
    "q2": normal(1, 5, 8), "k2": normal(2, 7, 8), "k9": normal(2, 7, 9), "v8": normal(3, 8, 8),
    "q3": normal(1, 3, 5, 8), "k3": normal(2, 2, 7, 8), "b3": normal(2, 3, 4, 7, 8), "k4": normal(2, 1, 7, 8),
    "row": normal(1, 8), "five": normal(1, 1, 1, 1, 5, 8), "none": numpy.zeros((5, 0)),
    "int64": numpy.ones((5, 8), "int64"), "int32": numpy.ones((5, 8), "int32"), "objects": numpy.array([{}, {}]),
    "text": numpy.array(["a"] * 6), "bool": numpy.zeros((6, 2), bool),
    "nans": numpy.where(normal(1, 5, 8) > 2, numpy.nan, 1), "large": numpy.full((5, 8), 3e38, "float32"),
    "mask8": numpy.ones((5, 8), bool), "mask67": numpy.ones((6, 7), bool), "mask01": numpy.tri(5, 7), "maskint": numpy.ones((5, 7), "int64"),
    "masknan": numpy.array([0, 0, numpy.nan]), "maskinf": numpy.array([0, numpy.inf, 0]),
    "k5": normal(2, 2, 5, 8), "k45": normal(2, 2, 7, 5, 8), "sinks3": normal(1, 3), "sinksnan": numpy.array([0, 1, numpy.nan, 3]), "labelsf": numpy.zeros((2, 7)),
    "cu": numpy.array([0, 2, 3]), "cu0": numpy.array([]).astype("int32"), "cu21": numpy.array([0, 2, 1, 3]), "cu2": numpy.array([0, 2]),
    "cu13": numpy.array([1, 3]), "cu4": numpy.array([0, 4, 3]), "cu2d": numpy.array([[0, 3]]), "cuf": numpy.array([0.0, 3.0]),
    "lengths": numpy.array([1, 1]), "lengths8": numpy.array([8, 1]), "lengths9": numpy.array([15, 1]), "lengthsf": numpy.array([1.0, 1.0]),
    "e": normal(1, 9, 4), "enan": NAN, "elarge": LARGE, "e1": numpy.zeros(6), "e3": numpy.zeros((1, 6, 2)), "e0": numpy.zeros((6, 0)),
    "e5": numpy.zeros((5, 2)), "e6": numpy.zeros((6, 2)),
    "weights": softmax(2, 3, 4), "square": softmax(3, 3), "batches": softmax(3, 2, 3, 3), "wnan": numpy.full((2, 2), numpy.nan),
    "scores": numpy.array([[-1.5, 2.0], [0.0, 4.25]]), "half": numpy.array([[0.5, 0.25], [0.5, 0.5]]), "w0": numpy.zeros((0, 3)),
    "halves": numpy.zeros((5, 8), "V2"),
}  # fmt: skip
LAYERS = {
    "layer": LAYER, "plain": PLAIN, "square": SQUARE, "extra": {**LAYER, **EXTRA_KEY}, "empty": {}, "x": {"x": normal(1, 2)},
    "Wv": {**{name: PLAIN[name] for name in ("embedding", "W_q", "W_k")}, "Wv": PLAIN["W_v"]},
    "bert": layer("layer.0.attention.self", (4, 4), "query.weight", "key.weight"),
    "sinks": layer("layers.0.self_attn", (4, 4), "q_proj.weight", "k_proj.weight", "v_proj.weight", "o_proj.weight", "sinks"),
    "distance": layer("layer.0.attention.self", (4, 4), "query.weight", "key.weight", "value.weight", "distance_embedding.weight"),
    "q_ln": {**layer("h.0.attn", (4, 12), "c_attn.weight"), **layer("h.0.attn", (4, 4), "c_proj.weight", "q_ln.weight")},
    "q_norm": {**LAYER, "q_norm.weight": normal(1, 4)}, "plain_norm": {**PLAIN, "q_norm": normal(1, 4)},
    "two": {f"a.{i}.{name}": array for i in (0, 1) for name, array in LAYER.items()},
    "llama9": {f"{name}_proj.weight": normal(1, 8, 9 if name == "k" else 8) for name in "qkvo"},
    "llama24": {"q_proj.weight": normal(1, 24, 5), "k_proj.weight": normal(2, 8, 5), "v_proj.weight": normal(3, 8, 5)},
    "in25": {**LAYER, "in_proj_weight": normal(1, 25, 8)}, "in24x6": {**LAYER, "in_proj_weight": normal(1, 24, 6)},
    "in24": {**LAYER, "in_proj_weight": normal(1, 24)}, "in0": {**LAYER, "in_proj_weight": normal(1, 0, 0)},
    "bias4": {**LAYER, "out_proj.bias": normal(1, 4)}, "out9": {**LAYER, "out_proj.weight": normal(1, 8, 9)},
    "bias23": {**LAYER, "in_proj_bias": normal(1, 23)}, "bias_k": {**LAYER, "bias_k": normal(1, 1, 1, 8)},
    "table7": {**LAYER, "embedding": normal(1, 6, 7)}, "table5": {**LAYER, "embedding": normal(1, 5, 8)},
    "rows5": {**LAYER, "embeddings": normal(1, 5, 8)}, "rows6": {**LAYER, "embeddings": normal(1, 6, 8)},
    "int64": {**LAYER, "out_proj.weight": numpy.ones((8, 8), "int64")}, "int32": {**LAYER, "out_proj.weight": numpy.ones((8, 8), "int32")},
    "nan": {**SQUARE, "W_q": NAN[:4]}, "tablenan": {**SQUARE, "embedding": NAN}, "large": {**SQUARE, "W_q": LARGE[:4]},
    "qkv": {"q": ARRAYS["q2"], "k": ARRAYS["k2"], "W_query": ARRAYS["q2"]}, "line": {"a\nb\x1b[31m": normal(1, 2), "c": normal(1, 2)},
}  # fmt: skip


def make_files(folder):
    for name, text in TEXTS.items():
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    for name, array in ARRAYS.items():
        numpy.save(folder / f"{name}.npy", array, allow_pickle=True)
    for name, tensors in LAYERS.items():
        save_safetensors(folder / f"{name}.safetensors", tensors)
    numpy.savez(folder / "qkv.npz", **LAYERS["qkv"])
    numpy.savez(folder / "many.npz", **{f"tensor{i}": ARRAYS["q2"] for i in range(20)})
    numpy.savez(folder / "none.npz")
    numpy.savez(folder / "halves.npz", q=ARRAYS["halves"])
    numpy.savez(folder / "mixed.npz", x=ARRAYS["q2"], ids=ARRAYS["int32"].astype("int16"))
    save_safetensors(folder / "bfloat16.safetensors", {name: ARRAYS[f"{name}2"] for name in "qk"}, bfloat16="qk")
    for name in ("q2.npy", "x.safetensors", "qkv.npz"):
        (folder / f"cut-{name}").write_bytes((folder / name).read_bytes()[:-1])
    (folder / "flipped.npz").write_bytes(b"".join([(content := (folder / "qkv.npz").read_bytes())[:250], b"?", content[251:]]))
    with zipfile.ZipFile(folder / "m.pt", "w") as archive:  # as torch.save lays it out
        archive.writestr("m/version", "3\n")
        archive.writestr("m/data.pkl", b"\x80\x02}.")
        archive.writestr("m/data/0", bytes(16))
    succeeds("run", SENTENCE, "--heads", "4", "--json", "-o", "golden.json", cwd=folder)
    succeeds("run", SENTENCE, "--query", "is,eat", "--json", "-o", "rows.json", cwd=folder)
    succeeds("run", "a b", "--show", "scores", "--json", "-o", "scores.json", cwd=folder)
    run("run", "--lines", "-", "--json", "-o", "lines.json", stdin="a b\n\nc\n", cwd=folder)


def answered(command, folder):
    """The block of a command: as typed, its exit code, whether it printed something, and all of its standard error."""
    done = run("-c", command, program="bash", cwd=folder, env={"PATH": f"{folder}/bin:{os.environ['PATH']}"})
    code = f"{done.code}{' with output' if done.out else ''}"
    return f"$ {command}\n{code}: {done.err.decode(errors='backslashreplace').rstrip()}\n"


def answers():
    """approved/messages.txt as the program makes it now."""
    lines = APPROVED.read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if line.startswith(("$ ", "# "))]
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(8) as pool:
        folder = Path(name)
        (folder / "bin").mkdir()
        (folder / "bin" / "attn-cli").symlink_to(PROGRAM)
        make_files(folder)
        blocks = pool.map(lambda line: answered(line[2:], folder) if line[0] == "$" else f"\n{line}\n", kept)
        return "".join(blocks).lstrip("\n")


def test_every_message_is_the_approved_one():
    now = answers().splitlines()
    assert now == APPROVED.read_text(encoding="utf-8").splitlines()
    refusals = [line for line in now if line[:1].isdigit() and not line.startswith("0 with output: ")]
    assert all(": attn-cli: error: " in line for line in refusals)


if __name__ == "__main__":
    APPROVED.write_text(answers(), encoding="utf-8")
