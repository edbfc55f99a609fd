"""Folders of small trained models, in which something is damaged."""

import importlib.util
import json
import os
import shutil
import sys
from pathlib import Path

import arrays
from arrays import Array
from commands import Command

sys.path.append(str(Path(__file__).parents[1] / "cli"))
FAMILIES = ("bert", "llama", "qwen3", "mpnet")
TEXTS = ("config.json", "tokenizer.json")
WEIGHTS = "model.safetensors"
RAW = "@raw@"  # stands in JSON until its text takes its place


def missing():
    """What makes the good ones needs both."""
    absent = [name for name in ("numpy", "pytest") if importlib.util.find_spec(name) is None]
    return f"{' and '.join(absent)} is not installed" if absent else None


def good_folder(folder, draw):
    import tiny_models  # which not every machine can

    family = draw.choice(FAMILIES)
    getattr(tiny_models, family)(folder / "made", seed=draw.randrange(1000))
    return (folder / "made").rename(folder / "model")


# ---- JSON ------------------------------------------------------------------------------------------------------------


def containers(value):
    """All objects and arrays in it that are not empty, itself among them."""
    if isinstance(value, (dict, list)) and value:
        yield value
        for inner in value.values() if isinstance(value, dict) else value:
            yield from containers(inner)


def some_place(value, draw, wanted=lambda leaf: True):
    """A container and a key or index in it, whose value is wanted; nothing where none is."""
    places = [(holder, key) for holder in containers(value) for key in (holder if isinstance(holder, dict) else range(len(holder)))
              if wanted(holder[key])]
    return draw.choice(places) if places else (None, None)


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def damaged_json(text, draw):
    """Text in which one thing is another."""
    value = json.loads(text)
    raw = ""
    match draw.choice(("number", "number", "number", "value", "deep", "long", "many", "twice", "gone", "moved")):
        case "number":
            holder, key = some_place(value, draw, is_number)
            raw = draw.choice(("0", "-1", "1.5", "1e9", "1e400", "-0.0", "1e-400", "NaN", "9" * 5000, *map(str, arrays.HUGE), "100000",
                               "65536", "255", "7"))
        case "value":
            holder, key = some_place(value, draw)
            raw = draw.choice(("null", "[]", "{}", "true", '""', '"' + "x" * 1_000_000 + '"', "[[]]", '"\\ud800"', '"\\u0000"',
                               "[" + "0," * 300_000 + "0]"))
        case "deep":
            holder, key = some_place(value, draw)
            depth = draw.choice((50, 1000, 100_000, 1_000_000))
            front, back = draw.choice((("[", "]"), ('{"a":', "}"), ('{"type":"Sequence","normalizers":[', "]}"),
                                       ('{"type":"Sequence","pretokenizers":[', "]}")))
            raw = front * depth + ("null" if front.endswith(":") else "") + back * depth
        case "long":
            holder, key = draw.choice([holder for holder in containers(value) if isinstance(holder, dict)]), "k" * 1_000_000
            raw = draw.choice(("1", "{}", '{"a":1}', "{" + ",".join(f'"{i}":{i}' for i in range(2000)) + "}"))
        case "many":
            holder = draw.choice([holder for holder in containers(value) if isinstance(holder, dict)])
            key = "many"
            raw = '0,' + ",".join(f'"w{i}":{i}' for i in range(draw.choice((1000, 300_000))))
        case "twice":
            holder = draw.choice([holder for holder in containers(value) if isinstance(holder, dict)])
            key = "more"
            again = draw.choice(list(holder))
            raw = f"0,{json.dumps(again)}:{json.dumps(holder[again])}"
        case "gone":
            holder, key = some_place(value, draw)
            del holder[key]
            return json.dumps(value)
        case "moved":
            holder, key = some_place(value, draw)
            other, at = some_place(value, draw)
            raw = json.dumps(other[at])
    if holder is None:
        return text[: len(text) // 2]
    holder[key] = RAW
    return json.dumps(value).replace(json.dumps(RAW), raw, 1)


# Parts of a tokenizer that cost more than they look like.
COSTLY = (
    ("normalizer", {"type": "Replace", "pattern": {"Regex": "(a*)*b"}, "content": "x"}),
    ("normalizer", {"type": "Replace", "pattern": {"String": ""}, "content": "x" * 1000}),
    ("normalizer", {"type": "Replace", "pattern": {"String": "a"}, "content": "a" * 100_000}),
    ("normalizer", {"type": "Sequence", "normalizers": [{"type": "Replace", "pattern": {"String": "a"}, "content": "aa"}] * 40}),
    ("normalizer", {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "xy"}] * 3000}),
    ("normalizer", {"type": "Sequence", "normalizers": [{"type": "NFKD"}] * 1000}),
    ("pre_tokenizer", {"type": "Split", "pattern": {"Regex": "(?:a|aa)+$"}, "behavior": "Isolated", "invert": False}),
    ("pre_tokenizer", {"type": "Split", "pattern": {"Regex": "\\p{L}{1,1000000}"}, "behavior": "Removed", "invert": True}),
    ("pre_tokenizer", {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}] * 2000}),
    ("added_tokens", [{"id": i, "content": "a" * i, "single_word": False, "lstrip": True, "rstrip": True, "normalized": True,
                       "special": False} for i in range(2000)]),
)


def costly_tokenizer(text, draw):
    value = json.loads(text)
    key, part = draw.choice(COSTLY)
    value[key] = part
    return json.dumps(value)


# ---- weights ---------------------------------------------------------------------------------------------------------


def layout(path):
    """Name → Array, without its numbers."""
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(min(length, 1 << 27)))
    codes = {code: type for type, code in arrays.SAFETENSORS.items()}
    return {name: Array(tuple(entry["shape"]), codes[entry["dtype"]]) for name, entry in header.items() if name != "__metadata__"}


def huge_weights(model, draw):
    """The same model with zeros for weights and another size of something: of one tensor, or of all that have it."""
    named = layout(model / WEIGHTS)
    config = json.loads((model / "config.json").read_text())
    size = int(2 ** draw.uniform(4, 26))
    key, old = draw.choice((("vocab_size", 14), ("intermediate_size", 12), ("max_position_embeddings", 32)))
    for name, array in named.items():
        array.shape = tuple(size if part == old else part for part in array.shape)
    if sum(array.size for array in named.values()) > 1 << 30:
        return
    if draw.random() < 0.7:
        config[key] = size
    (model / "config.json").write_text(json.dumps(config))
    arrays.write_safetensors(model / WEIGHTS, named, arrays.lying_safetensors_header(draw) if draw.random() < 0.3 else None)


def listed_weights(model, draw):
    """Several files, which an index lists, or files that are none of the model's."""
    (model / WEIGHTS).rename(model / "one.safetensors")
    names = list(layout(model / "one.safetensors"))
    file = draw.choice(("one.safetensors", "one.safetensors", "two.safetensors", "../model/one.safetensors", "/dev/zero", "", ".",
                        "x" * 5000, "one.safetensors\0", "config.json"))
    index = {"metadata": {"total_size": draw.choice((0, *arrays.HUGE))}, "weight_map": {name: "one.safetensors" for name in names}}
    index["weight_map"][draw.choice(names)] = file
    if draw.random() < 0.3:
        index["weight_map"] |= {f"t{i}": f"{i}.safetensors" for i in range(100_000)}
    text = json.dumps(index)
    (model / "model.safetensors.index.json").write_text(damaged_json(text, draw) if draw.random() < 0.5 else text)


# ---- whole files -----------------------------------------------------------------------------------------------------


def no_file(path, draw):
    """Something else in the place of a file."""
    path.unlink()
    match draw.choice(("gone", "fifo", "folder", "dangling", "loop", "zero", "empty", "hole", "kernel's")):
        case "fifo":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "dangling":
            path.symlink_to("nowhere")
        case "loop":
            path.symlink_to(path.name)
        case "zero":
            path.symlink_to("/dev/zero")
        case "empty":
            path.write_bytes(b"")
        case "hole":
            arrays.write_front(path, draw.choice((b"", b"{", b" " * 1000)), 1 << 30)
        case "kernel's":
            path.symlink_to("/proc/self/mem")


def damage(model, draw):
    texts = [name for name in TEXTS if (model / name).is_file()]
    match draw.choice(("json", "json", "json", "spoil", "costly", "huge", "listed", "no file", "good")):
        case "json":
            path = model / draw.choice(texts)
            path.write_text(damaged_json(path.read_text(), draw))
        case "spoil":
            arrays.spoil(model / draw.choice((*texts, WEIGHTS)), draw, reach=1 << 20)
        case "costly":
            path = model / "tokenizer.json"
            path.write_text(costly_tokenizer(path.read_text(), draw))
        case "huge":
            huge_weights(model, draw)
        case "listed":
            listed_weights(model, draw)
        case "no file":
            no_file(model / draw.choice((*TEXTS, WEIGHTS)), draw)


def array_bytes(model):
    """Of all weights; the file has room for no more."""
    path = model / WEIGHTS
    return path.stat().st_size if path.is_file() else 0


def model_command(folder, draw):
    """A command over a model that is written into the new folder."""
    folder.mkdir()
    model = good_folder(folder, draw)
    for other in folder.iterdir():  # what it was made of
        if other != model:
            shutil.rmtree(other)
    damage(model, draw)
    text = draw.choice(("the cat sat", "the cat sat on the mat", "a" * 2000, "the " * 200, "[MASK] dog", "naïve 人 \u0301\u200d"))
    words = draw.choice((["run", text], ["run", text, "--layer", "0"], ["run", text, "--layer", "all", "--show", "all"],
                         ["run", text, "--layer", "1", "--show", "weights,logits"], ["explain", text, "--layer", "1"]))
    more = draw.choice(([], [], ["--json"], ["--threads", "3"]))
    return Command([*words, "--model", "in/model", *more], array_bytes=array_bytes(model))
