#!/usr/bin/env python3
"""Two builds of the program on the same random option sets: what they write, say and return must be the same bytes.

For another system, compiler or C library, and for a restructuring that promises to change nothing. All commands, sources and
formats; the files that are read come from tests/cli, tests/fuzz/corpus, data/ and ONE itself, some of them damaged. What names the
machine is left out.

usage: same_bytes.py ONE OTHER [--sets N] [--seed S] [--only COMMAND] [--one N] [--portable]
OTHER may be a command: "qemu-aarch64 attn-cli". --one runs a single set and shows it. --portable for another kind of processor:
attend, which usually takes the instructions that round least, has `--isa portable`.
Exit 0: all the same, and at least SUCCEED of the sets succeed; 1: not.
"""
import argparse
import json
import os
import random
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path

import numpy

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT / "tests/fuzz/corpus"
sys.path.insert(0, str(ROOT / "tests/cli"))
import tensors  # noqa: E402
import tiny_models  # noqa: E402

SUCCEED = 0.6
SENTENCE = "Life is short, eat dessert first"
SENTENCES = [SENTENCE, "the cat sat on the mat", "a", "the king and the queen eat cake", "Ein Café für Élodie, l'été 2024 — naïve 人 🙂",
             "the cat sat and the cat sat", "a b c d e f g h i j k l m n o p q r s t u v w x y z " * 2, "well-known O'Neill's e\u0301t\u00e9"]
STAGES = ("tokens token_ids vocabulary parameters embeddings queries keys values scores scaled_scores capped_scores masked_scores weights "
          "head_context context output entropy lse summary").split()
TYPES = ["float16", "bfloat16", "float32", "float64"]

# ---- the files that are read -----------------------------------------------------------------------------------------------


def save_npz(path, arrays, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, array in arrays.items():
            stored = BytesIO()
            numpy.save(stored, array)
            archive.writestr(zipfile.ZipInfo(name + ".npy"), stored.getvalue(), compression)


def write_tensors(folder):
    """q, k, v in every type, rank and format, and what masks and packs them."""
    d, d_v = 8, 6
    normal = tensors.normal
    for rank, (q, k) in {2: ((5,), (7,)), 3: ((4, 5), (2, 7)), 4: ((2, 4, 5), (2, 2, 7))}.items():
        arrays = {"q": normal(rank, *q, d), "k": normal(rank + 9, *k, d), "v": normal(rank + 19, *k, d_v)}
        save_npz(folder / f"r{rank}.npz", arrays)
        save_npz(folder / f"r{rank}z.npz", {name: x.astype("float64") for name, x in arrays.items()}, zipfile.ZIP_DEFLATED)
        tensors.save_safetensors(folder / f"r{rank}h.safetensors", {name: x.astype("float16") for name, x in arrays.items()})
        tensors.save_safetensors(folder / f"r{rank}b.safetensors", arrays, bfloat16=("q", "k", "v"))
        for name, x in arrays.items():
            numpy.save(folder / f"r{rank}-{name}.npy", x)
            numpy.save(folder / f"r{rank}-{name}-f.npy", numpy.asfortranarray(x))
    save_npz(folder / "past.npz", {"k": normal(31, 2, 2, 3, d), "v": normal(32, 2, 2, 3, d_v)})
    save_npz(folder / "side.npz", {"q": normal(33, 2, 5, 4 * d), "k": normal(34, 2, 7, 2 * d), "v": normal(35, 2, 7, 2 * d_v)})
    save_npz(folder / "bshd.npz", {"q": normal(36, 2, 5, 4, d), "k": normal(37, 2, 7, 2, d), "v": normal(38, 2, 7, 2, d_v)})
    save_npz(folder / "packed.npz", {"q": normal(39, 9, 4, d), "k": normal(40, 9, 2, d), "v": normal(41, 9, 2, d_v),
                                     "cu": numpy.array([0, 4, 4, 9]), "cu_k": numpy.array([0, 3, 5, 9], "int32")})
    large = {"q": normal(42, 1, 2, 150, 16), "k": normal(43, 1, 2, 200, 16), "v": normal(44, 1, 2, 200, 16)}
    save_npz(folder / "large.npz", large)
    hidden = numpy.random.default_rng(3).random((5, 7)) < 0.3
    save_npz(folder / "masks.npz", {"bool": ~hidden, "added": numpy.where(hidden, -numpy.inf, normal(45, 5, 7)).astype("float32"),
                                    "wide": normal(46, 2, 1, 5, 10), "short": numpy.ones((5, 4), bool), "none": numpy.zeros((5, 7), bool),
                                    "lengths": numpy.array([7, 3]), "segments": numpy.array([0, 0, 1, 1, 1, 2, 2]), "sinks": normal(47, 4),
                                    "heads": numpy.where(numpy.random.default_rng(4).random((6, 6)) < 0.2, -numpy.inf, 0).astype("float32")}, zipfile.ZIP_DEFLATED)
    odd = {"nan": numpy.array([[1, numpy.nan], [numpy.inf, 2]], "float32"), "empty": numpy.zeros((0, 3), "float32"), "int": numpy.arange(6).reshape(2, 3)}
    save_npz(folder / "odd.npz", odd)
    broken = normal(48, 2, 4, 5, d)
    broken[1, 2, 3, 4] = numpy.nan
    save_npz(folder / "wrong.npz", {"q": broken, "far": numpy.array([9, -1]), "fall": numpy.array([0, 5, 4, 9]), "sink": numpy.array([1, numpy.nan, 2, numpy.inf]),
                                    "huge": numpy.full((5, 7), 1e39)})
    numpy.save(folder / "weights3.npy", tensors.attention(*(normal(i, 1, 3, 6, 4) for i in range(3)))[0][0])
    numpy.save(folder / "weights5.npy", numpy.ones((2, 1, 3, 4, 4), "float32") / 4)


def write_layers(folder):
    """Projections by the names of several programs, and word vectors."""
    for made in sorted((CORPUS / "parameters").iterdir()):
        shutil.copy(made, folder / f"parameters-{made.name}.safetensors")
    n, D = tensors.normal, 8
    gpt2 = {"wte.weight": n(1, 9, D)} | {f"h.{i}.attn.{name}": n(10 * i + j, *shape) for i in range(2) for j, (name, shape) in enumerate(
        {"c_attn.weight": (D, 3 * D), "c_attn.bias": (3 * D,), "c_proj.weight": (D, D), "c_proj.bias": (D,)}.items())}
    tensors.save_safetensors(folder / "gpt2.safetensors", gpt2)
    multihead = {"in_proj_weight": n(3, 3 * D, D), "in_proj_bias": n(4, 3 * D), "out_proj.weight": n(5, D, D), "out_proj.bias": n(6, D)}
    save_npz(folder / "multihead.npz", multihead)
    save_npz(folder / "multiheadz.npz", multihead, zipfile.ZIP_DEFLATED)
    words = sorted({*SENTENCE.replace(",", "").split(), "the", "cat", "sat", "on", "mat"})
    lines = [" ".join([word, *(f"{x:.5f}" for x in n(i, 6))]) for i, word in enumerate([*words, "<unk>"])]
    (folder / "glove.txt").write_text("\n".join(lines) + "\n")
    (folder / "word2vec.vec").write_text(f"{len(lines)} 6\n" + "\n".join(lines) + "\n")
    (folder / "words.txt").write_text("\n".join(words) + "\n")
    numpy.save(folder / "table.npy", n(7, len(words), 6))
    save_npz(folder / "table.npz", {"rows": n(7, len(words), 6)}, zipfile.ZIP_DEFLATED)
    for made in sorted((CORPUS / "word_vectors").iterdir()):
        shutil.copy(made, folder / f"vectors-{made.name}.txt")


def gpt2_model(folder):
    D, V, L = 8, 14, 2
    shapes = {"wte.weight": (V, D), "wpe.weight": (64, D), "ln_f.weight": (D,), "ln_f.bias": (D,)}
    for i in range(L):
        for name, shape in {"ln_1": (D,), "ln_2": (D,)}.items():
            shapes |= {f"h.{i}.{name}.weight": shape, f"h.{i}.{name}.bias": shape}
        for name, shape in {"attn.c_attn": (D, 3 * D), "attn.c_proj": (D, D), "mlp.c_fc": (D, 4 * D), "mlp.c_proj": (4 * D, D)}.items():
            shapes |= {f"h.{i}.{name}.weight": shape, f"h.{i}.{name}.bias": shape[-1:]}
    config = {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "vocab_size": V, "n_embd": D, "n_layer": L, "n_head": 2, "n_positions": 64,
              "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5}
    return tiny_models.write(folder, config, tiny_models.words_alone(), tiny_models.random_tensors(shapes, 5))


def write_models(folder):
    for make in (tiny_models.bert, tiny_models.llama, tiny_models.qwen3, tiny_models.mpnet, gpt2_model):
        make(folder / make.__name__)
    for kind in ("bert", "byte-level", "clip", "llama", "metaspace", "sentencepiece", "prefixed", "unigram", "word-level", "split-words"):
        tokenizer = (CORPUS / "tokenizer" / kind).read_text()
        tiny_models.llama(folder / f"pieces-{kind}", vocab_size=len(tiny_models.WORDS))
        place = folder / f"pieces-{kind}"
        weights, _ = tensors.load_safetensors(place / "model.safetensors")
        for name in ("model.embed_tokens.weight", "lm_head.weight"):
            weights[name] = tensors.normal(1, 280, weights[name].shape[1])
        config = json.loads((place / "config.json").read_text()) | {"vocab_size": 280}
        tiny_models.write(place, config, json.loads(tokenizer), weights)
    for config in sorted((CORPUS / "model_config").iterdir()):
        place = folder / f"config-{config.stem}"
        shutil.copytree(folder / "llama", place)
        shutil.copy(config, place / "config.json")
    for tokenizer in sorted((CORPUS / "tokenizer").iterdir()):
        if not (folder / f"pieces-{tokenizer.name}").exists():
            place = folder / f"damaged-{tokenizer.name}"
            shutil.copytree(folder / "llama", place)
            shutil.copy(tokenizer, place / "tokenizer.json")
    shutil.copytree(folder / "llama", folder / "parts")
    weights, _ = tensors.load_safetensors(folder / "parts/model.safetensors")
    (folder / "parts/model.safetensors").unlink()
    names = sorted(weights)
    files = {f"model-0000{i + 1}-of-00002.safetensors": names[i::2] for i in range(2)}
    for file, own in files.items():
        tensors.save_safetensors(folder / "parts" / file, {name: weights[name] for name in own})
    index = {"metadata": {"total_size": 1}, "weight_map": {name: file for file, own in files.items() for name in own}}
    (folder / "parts/model.safetensors.index.json").write_text(json.dumps(index))


RESULTS = {  # what OLD saves: stem → (options, endings)
    "plain": ("--show all", "json npz safetensors recipe.json csv txt"),
    "heads": ("--heads 4 --causal --show all", "json npz safetensors recipe.json"),
    "seven": ("--show all --seed 7", "json npz"),
    "double": ("--dtype float64 --generator numpy --heads 2 --show all", "json recipe.json"),
    "cross": ("--cross 'the cat sat' --show all", "json npz"),
    "few": ("--query eat --show weights,context", "json recipe.json"),
    "summary": ("--heads 2 --show summary", "json"),
    "layer": ("--params in/multihead.npz --heads 2 --show all --positions alibi", "json"),
    "vectors": ("--embeddings in/glove.txt --init identity --show all", "json"),
    "model": ("--model induction --show all", "json npz"),
    "two": ("--model two-blocks --layer all --show weights", "json"),
    "states": ("--model in/bert/ --layer 1 --show weights,logits,hidden_states", "json"),
    "last": ("--model in/llama/ --layer all --show weights,entropy --head 1", "json safetensors"),
}


def write_results(folder, old):
    where = folder.parent

    def made(*arguments, codes=(0,)):
        done = subprocess.run([*old, *arguments], cwd=where, capture_output=True, check=False)
        if done.returncode not in codes:
            sys.exit(f"{shlex.join(arguments)}: {done.stderr.decode()}")

    for stem, (options, endings) in RESULTS.items():
        sentence = "the cat sat on the mat" if "/" in options.split("--model ")[-1].split(" ")[0] else SENTENCE
        for ending in endings.split():
            made("run", sentence, *shlex.split(options), "-o", f"in/{stem}.{ending}")
    lines = [*SENTENCES[:4], SENTENCES[5], "", "one two"]
    (folder / "lines.txt").write_text("\n".join(lines) + "\n")
    (folder / "many.txt").write_text("".join(f"{' '.join(random.Random(i).choices(SENTENCES[1].split(), k=1 + i % 9))}\n" for i in range(300)))
    (folder / "cats.txt").write_text("the cat sat on the mat\na dog\nthe cats sat\n")
    (folder / "bad-lines.txt").write_bytes(b"good line\n\xff\xfe\n\nlast, line")
    (folder / "tokens.txt").write_text("\n".join(SENTENCE.replace(",", "").split()) + "\n")
    (folder / "pasted.txt").write_text(f"tensor({tensors.normal(1, 3, 4).round(4).tolist()})\n")
    made("run", "--lines", "in/lines.txt", "--json", "-o", "in/lines.json", codes=(0, 65))  # a line of it is empty
    for rank in (2, 3, 4):
        part = f"in/r{rank}.npz"
        for name, options in {"right": [], "scaled": ["--scale", "none"], "causal": ["--causal"], "stages": ["--show", "all"], "capped": ["--softcap", "2"]}.items():
            given = [x for side in "qkv" for x in (f"-{side}", f"{part}:{side}")]
            for ending in ("npz", "json", "safetensors") if name == "stages" else ("npy", "json"):
                made("attend", *given, *options, "-o", f"in/{name}{rank}.{ending}")
    for made_by_fuzzing, stem in (("recipe", "recipe"), ("saved_result", "saved"), ("tensor_json", "tensor"), ("npy", "array"), ("npz", "archive"),
                                  ("safetensors", "safe")):
        ending = {"npy": ".npy", "npz": ".npz", "safetensors": ".safetensors"}.get(made_by_fuzzing, ".json")
        for file in sorted((CORPUS / made_by_fuzzing).iterdir()):
            shutil.copy(file, folder / f"{stem}-{file.name.removesuffix('.json')}{ending}")


def ground(where, old):
    folder = where / "in"
    folder.mkdir()
    write_tensors(folder)
    write_layers(folder)
    write_models(folder)
    write_results(folder, old)
    return folder


# ---- option sets -----------------------------------------------------------------------------------------------------------


class Draw(random.Random):
    """One option set. Lists of words, each piece by chance."""

    def some(self, items, most=4):
        return self.sample(items, self.randint(1, min(most, len(items))))

    def maybe(self, share, *words):
        return list(words) if self.random() < share else []

    def number(self, *usual):
        return str(self.choice(usual))

    def options(self, table, least, most):
        """Some rows of `table`: option, or "key=" of --set → a function of the draw that gives its words, None for none."""
        words = []
        for name in self.sample(sorted(table), min(len(table), self.randint(least, most))):
            value = table[name](self)
            words += ["--set", f"{name}{value}"] if name.endswith("=") else [name] if value is None else [name, str(value)]
        return words

    def file(self, *patterns):
        """A file of the ground, now and then one that cannot be read."""
        if self.random() < 0.02:
            return self.choice(["in/missing.npz", "in", "/dev/null", "in/tokens.txt", "in/odd.npz"])
        return self.choice([f"in/{path.relative_to(self.folder)}" for pattern in patterns for path in sorted(self.folder.glob(pattern))])


def shows(d, stages=STAGES):
    return "all" if d.random() < 0.3 else ",".join(d.some(stages, 5))


def window(d):
    return d.choice(["2", "1,1", "-1,0", "0,2", "3,-1", "0", "1,"])


INPUT = {
    "--tokenizer": lambda d: d.choice(["document", "words"]),
    "--casefold": lambda d: None,
    "--cross": lambda d: d.choice(SENTENCES[:4]),
}
NUMBERS = {
    "--generator": lambda d: d.choice(["torch", "numpy", "numpy-pcg64"]),
    "--dtype": lambda d: d.choice(["float32", "float64"]),
    "rounding=": lambda d: d.choice(["stage", "step"]),
    "--embed-dim": lambda d: d.number(1, 4, 8, 12, 16, 33),
    "--heads": lambda d: d.number(1, 2, 2, 4, 4, 8, 3),
    "--kv-heads": lambda d: d.number(1, 2, 1),
    "--d-k": lambda d: d.number(1, 5, 24, 64),
    "--d-v": lambda d: d.number(1, 7, 28),
    "--vocab-size": lambda d: d.number(30, 64, 3),
    "dims.output_dim=": lambda d: d.number(1, 5, 16),
    "--output-projection": lambda d: None,
    "--no-output-projection": lambda d: None,
    "--seed": lambda d: d.number(0, 7, 42, 2**32 - 1, 2**40, -1),
    "--init": lambda d: d.choice("uniform normal linear xavier xavier_normal kaiming_uniform kaiming_normal identity multihead_attention".split()),
}
ATTENTION = {
    "--causal": lambda d: None,
    "--no-causal": lambda d: None,
    "--window": window,
    "attention.mask_at=": lambda d: d.choice(["scaled", "scores"]),
    "--score": lambda d: d.choice("scaled_dot dot cosine general additive".split()),
    "--scale": lambda d: d.choice(["none", "0.25", "-1", "1e-3", "1e5", "x"]),
    "--softcap": lambda d: d.number(1, 2.5, 30, 0),
    "--dropout": lambda d: d.number(0, 0.1, 0.5, 0.9, 1),
    "attention.dropout.seed=": lambda d: d.number(1, 9),
    "--mask": lambda d: d.choice(["in/masks.npz:heads", "in/masks.npz:bool"]),
    "--hide": lambda d: d.choice(["eat", "0", "1,2", "cat", "the,0", "nowhere"]),
    "--positions": lambda d: d.choice(["none", "sinusoidal", "rope", "rope:base=500,style=interleaved", "rope:dim=4", "alibi", "rope:dim=5", "spiral"]),
}
SHOWN = {
    "--query": lambda d: d.choice(["eat", "0", "1,2", "is,0", "cat", "the", "2", "-1", "nowhere"]),
    "--head": lambda d: d.choice(["0", "mean", "0,1", "1", "7"]),
    "--show": shows,
    "--top": lambda d: d.number(1, 3, 5, 1000),
    "--verify": lambda d: None,
}
TABLE = {
    "--digits": lambda d: d.number(0, 2, 6, 8, 17, 18),
    "--notation": lambda d: d.choice(["fixed", "row", "torch"]),
}
PICTURE = {
    "--plot": lambda d: d.choice(["heatmap", "arcs"]),
    "--title": lambda d: d.choice(["A title", "<&> \"quoted\"", "人", ""]),
    "--shade": lambda d: d.choice(["absolute", "row", "log"]),
    "--shade-max": lambda d: d.number(1, 0.3, 2, 0),
    "--ground": lambda d: d.choice(["light", "dark"]),
    "--caption": lambda d: None,
}
PICTURE_OF_RUN = {  # all but the kind are keys there
    name if name == "--plot" else f"picture.{name[2:].replace('-', '_')}=": value for name, value in PICTURE.items()
} | {"picture.caption=": lambda d: "true"}
GLOBAL = {
    "--threads": lambda d: d.number(1, 2, 3, 0),
    "--isa": lambda d: d.choice(["portable", "portable", "avx2", "avx2", "auto", "neon"]),
    "--quiet": lambda d: None,
    "--color": lambda d: d.choice(["auto", "always", "never"]),
    "--verbose": lambda d: None,
}
RUN_ENDINGS = "json json npz safetensors csv txt svg html recipe.json json".split()


def output(d, endings, formats, share=0.6):
    """Where the result goes, and as what; or the tables of `run`."""
    if d.random() < 0.25 and "csv" in formats:
        return d.options(TABLE, 0, 2)
    if d.random() < share:
        return ["-o", "out." + d.choice(endings)]
    kind = d.choice(formats)
    return ["--json"] if kind == "json" and d.random() < 0.7 else ["--format", kind]


def a_sentence(d):
    return d.choice(SENTENCES if d.random() < 0.5 else SENTENCES[:1])


def run(d):
    words = d.options(INPUT, 0, 1) if d.random() < 0.25 else []
    kind = d.random()
    if kind < 0.55:
        words += d.choice([[a_sentence(d)]] * 12 + [["--ids", "2,6,0,3,1", "--vocab-size", "10"], ["--ids", "1,0,1", "--vocab-size", "2", "--labels", "a,b,a"],
                                                   ["--ids", "1,9"], [""], ["-"], ["two", "sentences"], []])
        words += d.options(NUMBERS, 0, 3)
    elif kind < 0.75:
        words += ["--recipe", d.choice(d.recipes) if d.random() < 0.6 else d.file("*.recipe.json", "recipe-*.json")]
        words += d.maybe(0.1, "--set", f"entry={d.number(0, 1, 2)}") + (d.options(NUMBERS, 0, 1) if d.random() < 0.3 else [])
    elif kind < 0.9:
        words += [SENTENCE, "--params", d.file("gpt2.safetensors", "multihead*.npz", "plain.npz", "heads.safetensors", "plain.json", "parameters-*")]
        words += d.maybe(0.4, "--heads", d.number(1, 2, 4)) + d.maybe(0.3, "--prefix", d.choice(["h.0", "h.1.attn", "encoder", "h.7"]))
        words += d.maybe(0.2, "--set", "parameters.layout=" + d.choice(["in-out", "out-in", "run"])) + d.maybe(0.2, "--set", "parameters.allow_nonfinite=true")
    else:
        words += [a_sentence(d), "--embeddings", d.file("glove.txt", "word2vec.vec", "table.np?", "glove.txt", "word2vec.vec", "vectors-*")]
        words += d.maybe(0.6, "--unknown", "<unk>") + d.maybe(0.4, "--init", "identity") + d.maybe(0.2, "--set", "embeddings.words.file=in/words.txt")
    words += d.options(ATTENTION, 0, 2) if d.random() < 0.5 else []
    words += d.options(SHOWN, 0, 3)
    if d.random() < 0.2:
        words += d.options(PICTURE_OF_RUN, 1, 3) + ["-o", "out." + d.choice(["svg", "svg", "html", "txt"])]
    elif d.random() < 0.08:
        words += ["--against", d.file("plain.json", "seven.json", "*.npy", "plain.npz", "pasted.txt")] + d.maybe(0.3, "-o", "error.svg")
    else:
        words += output(d, RUN_ENDINGS, "json csv svg html recipe npz yaml".split())
    return ["run", *words], None


def run_lines(d):
    file = d.choice(["in/lines.txt", "in/many.txt", "in/cats.txt", "in/bad-lines.txt", "-", "in/lines.json", "in/missing"])
    words = ["--lines", file] + (d.options(NUMBERS, 0, 2) if d.random() < 0.4 else []) + (d.options(ATTENTION, 0, 1) if d.random() < 0.3 else [])
    if d.random() < 0.35:
        words = ["--lines", d.choice(["in/cats.txt", "-"]), "--model", a_model(d)] + d.maybe(0.4, "--layer", d.choice(["0", "all", "0,1"]))
    words += d.options({key: SHOWN[key] for key in ("--show", "--head", "--top", "--query")}, 0, 2)
    words += d.maybe(0.2, "--set", f"lines.first_index={d.number(5, 1000)}") + d.maybe(0.05, "--set", "csv.header=false") + d.maybe(0.1, "--max-input-bytes", d.number(5, 40))
    words += d.choice([["--json"], ["--json"], ["-o", "out.jsonl", "--json"], ["--format", "csv"], [], ["-o", "out.csv", "--set", "csv.header=false"], ["-o", "out.npz"], ["-o", "out.txt"]])
    return ["run", *words], d.choice(["the cat sat\na dog\n", "", "one line without an end", "\n\nthe mat\n", "x" * 3000 + "\n"])


def a_model(d):
    if d.random() < 0.4:
        return d.choice(["induction", "two-blocks", "induction"])
    if d.random() < 0.8:
        return f"in/{d.choice(['bert', 'llama', 'qwen3', 'mpnet', 'parts', 'gpt2_model'] + sorted(p.name for p in d.folder.glob('pieces-*')))}/"
    return f"in/{d.choice(sorted(p.name for p in d.folder.glob('config-*')) + sorted(p.name for p in d.folder.glob('damaged-*')) + ['nowhere'])}/"


LAYERS = {
    "--layer": lambda d: d.choice(["0", "all", "1", "0,1", "2", "9"]),
    "--show": lambda d: shows(d, "tokens token_ids token_types offsets weights scores queries keys values hidden_states output entropy lse logits summary context".split()),
    "--head": lambda d: d.choice(["0", "1", "mean", "0.1", "1.0", "0,1"]),
    "--query": lambda d: d.choice(["cat", "0", "1,2", "the", "-1"]),
    "join=": lambda d: d.choice(["pieces", "words"]),
    "input.pair=": lambda d: "a dog sat",
    "--top": lambda d: d.number(1, 5),
    "model.ignore_config=": lambda d: "rope_scaling,foo",
    "--heads": lambda d: 2,
    "--verify": lambda d: None,
}


def run_model(d):
    words = [d.choice(["the cat sat on the mat", "the cats sat", "a dog, the cat", SENTENCE, "the cat sat and the cat sat"]), "--model", a_model(d)]
    words += d.options(LAYERS, 0, 3)
    if d.random() < 0.2:
        words += d.options(PICTURE_OF_RUN, 1, 3) + ["-o", "out." + d.choice(["svg", "svg", "html"])]
    elif d.random() < 0.07:
        words += ["--against", d.file("model.json", "states.json", "model.npz")]
    else:
        words += output(d, [ending for ending in RUN_ENDINGS if ending != "recipe.json"], "json csv svg html npz".split())
    return ["run", *words], None


def explain(d):
    words = [SENTENCE]
    if d.random() < 0.2:
        words = ["the cat sat on the mat", "--model", a_model(d)] + d.maybe(0.8, "--layer", d.number(0, 1))
    elif d.random() < 0.3:
        words = ["--recipe", d.choice(d.recipes)]
    else:
        words += d.options(NUMBERS, 0, 2) + d.options(ATTENTION, 0, 2)
    words += d.maybe(0.9, "--query", d.choice(["eat", "0", "cat", "is", "2"])) + d.maybe(0.4, "--key", d.choice(["0", "1", "is", "mat"]))
    words += d.maybe(0.3, "--head", d.choice(["0", "1", "0,1"])) + d.maybe(0.2, "--component", d.number(0, 1, 99)) + d.maybe(0.2, "--digits", d.number(2, 9))
    return ["explain", *words, *d.choice([[], ["--json"], ["--format", "markdown"], ["-o", "out.md"], ["-o", "out.json"], ["-o", "out.txt"]])], None


def plot(d):
    if d.random() < 0.65:
        words = [d.file(*(f"{stem}.json" for stem in RESULTS), "plain.npz", "lines.json", "saved-*")]
    else:
        words = [d.choice(["in/weights3.npy", "in/weights5.npy", "in/plain.npz:weights", "in/r2-q.npy", "in/stages4.npz:weights", "in/odd.npz:nan"])]
        words += d.maybe(0.4, "--tokens", "in/tokens.txt") + d.maybe(0.1, "--key-tokens", "in/words.txt") + d.maybe(0.2, "--axes", d.choice(["hts", "ts", "lbhts", "bhts"]))
    words += d.maybe(0.2, "--layer", d.number(0, 1)) + d.maybe(0.1, "--batch", d.number(0, 1))
    words += d.options({key: SHOWN[key] for key in ("--head", "--query", "--top")}, 0, 2)
    if d.random() < 0.3:
        return ["plot", *words, *d.options(TABLE, 0, 1), *d.choice([["--format", "table"], ["-o", "out.txt"], ["-o", "out.html"]])], None
    return ["plot", *words, *d.options(PICTURE, 0, 3), *d.choice([[], ["-o", "out.svg"], ["--digits", "1"]])], None


def check(d):
    words = [d.choice(d.recipes) if d.random() < 0.3 else d.file(*(f"{stem}.json" for stem in RESULTS), "*.recipe.json", "lines.json", "recipe-*", "saved-*")
             for _ in range(d.choice([1, 1, 1, 2]))]
    words = ["--all"] if d.random() < 0.01 else words
    words += d.maybe(0.2, "--rtol", d.number("1e-3", 0, 1)) + d.maybe(0.2, "--atol", d.number("1e-6", 0, -1)) + d.maybe(0.4, "--json")
    if d.random() < 0.3:  # a number, a word or a key of it is another one
        text = (d.folder / d.choice([f"{stem}.json" for stem in RESULTS])).read_bytes().decode()
        places = [match.start() for match in re.finditer(r"\d", text)] if d.random() < 0.6 else range(len(text))
        at = d.choice(list(places))
        text = text[:at] + d.choice("0123456789" if text[at].isdigit() else '[]{},:"x 1') + text[at + 1:]
        return ["check", "-", *d.maybe(0.3, "--json")], text
    return ["check", *words], None


def compare(d):
    tensor = ("plain.json", "plain.npz", "seven.json", "heads.*", "right*", "scaled*", "stages*", "r?.npz", "r?z.npz", "r2h*", "odd.npz", "pasted.txt", "model.json", "two.json",
              "tensor-*", "array-*", "archive-*", "safe-*")
    a = d.file(*tensor)
    b = d.choice([a, d.file(*tensor)])
    kind = d.random()
    if kind < 0.35:
        a = b = d.file("tensor-*", "array-*", "archive-*", "safe-*")
    elif kind < 0.4:
        a, b = d.choice([("in/odd.npz:nan", "in/odd.npz:nan"), ("in/odd.npz", "in/odd.npz")])
    elif kind < 0.7:
        a, b = d.choice([("in/plain.json", "in/plain.npz"), ("in/plain.json", "in/seven.json"), ("in/plain.npz", "in/seven.npz"), ("in/right3.npy", "in/scaled3.npy"),
                         ("in/right2.json", "in/right2.npy"), ("in/stages4.npz", "in/stages4.safetensors"), ("in/r2.npz", "in/r2b.safetensors"),
                         ("in/heads.json", "in/heads.safetensors"), ("in/plain.npz:weights", "in/seven.json:weights"), ("in/model.json", "in/model.npz")])
    words = d.maybe(0.3, "--rtol", d.number("1e-3", 0, 1)) + d.maybe(0.2, "--atol", d.number("1e-6", 0)) + d.maybe(0.1, "--ulps", d.number(0, 2, 100))
    return ["compare", a, b, *words, *d.maybe(0.3, "--equal-nan", d.choice(["yes", "no"])), *d.maybe(0.4, "--json")], None


def sides(d):
    """Queries, keys and values that go together, with the options that they need."""
    kind = d.random()
    if kind < 0.7:
        rank = d.choice([2, 3, 4, 4])
        stem = f"in/r{rank}" + d.choice([".npz", ".npz", "z.npz", "h.safetensors", "b.safetensors"])
        if d.random() < 0.2:
            return [x for side in "qkv" for x in (f"-{side}", f"in/r{rank}-{side}{d.choice(['', '-f'])}.npy")], rank
        return [x for side in "qkv" for x in (f"-{side}", f"{stem}:{side}")], rank
    stem, rank, more = d.choice([("side", 4, ["--heads", "4", "--kv-heads", "2"]), ("bshd", 4, ["--layout", "bshd"]), ("packed", 0, ["--cu-seqlens", "in/packed.npz:cu"]),
                                 ("packed", 0, ["--cu-seqlens", "in/packed.npz:cu", "--cu-seqlens-k", "in/packed.npz:cu_k"]), ("large", 5, []),
                                 ("r4", 4, ["--past-key", "in/past.npz:k", "--past-value", "in/past.npz:v"])])
    return [x for side in "qkv" for x in (f"-{side}", f"in/{stem}.npz:{side}")] + more, rank


OPERATOR = {
    "--causal": lambda d: None,
    "--window": window,
    "--causal-align": lambda d: d.choice(["offset", "top-left", "bottom-right"]),
    "--mask": lambda d: "in/masks.npz:" + d.choice(["bool", "added", "wide", "short", "none"]),
    "--lengths": lambda d: "in/masks.npz:lengths",
    "--segments": lambda d: "in/masks.npz:segments",
    "--alibi": lambda d: None,
    "--scale": lambda d: d.choice(["none", "0.5", "-2"]),
    "--softcap": lambda d: d.number(1, 5, 50),
    "--sinks": lambda d: "in/masks.npz:sinks",
    "--softmax-dtype": lambda d: d.choice(TYPES),
    "--weights-dtype": lambda d: d.choice(TYPES),
    "--empty-rows": lambda d: d.choice(["zero", "nan"]),
    "--out-dtype": lambda d: d.choice(TYPES),
    "--show": lambda d: d.choice(["all", "weights", "context", "scores,weights", "lse", "entropy,context", "present_key,present_value", "masked_scores,capped_scores,scaled_scores"]),
    "--allow-nonfinite": lambda d: None,
}


def attend(d):
    words, rank = sides(d)
    words += d.options(OPERATOR, 0, 3)
    if d.random() < 0.02:
        words[1] = d.file("array-*", "archive-*", "safe-*", "tensor-*")
    if rank in (2, 3, 4) and d.random() < 0.35:
        words += ["--against", d.file(f"right{rank}.*", f"scaled{rank}.*", f"causal{rank}.*", f"capped{rank}.*", f"stages{rank}.npz")]
        words += d.maybe(0.2, "--strict") + d.maybe(0.2, "--rtol", "1e-3") + d.maybe(0.2, "--atol", "1e-2") + d.maybe(0.2, "-o", "error.svg")
        return ["attend", *words, *d.maybe(0.4, "--json"), *d.maybe(0.1, "--suggest-input", "more.npz")], None
    return ["attend", *words, *output(d, ["json", "npy", "npz", "safetensors"], ["json", "npy", "npz", "safetensors"], 0.8)], None


def mistaken(d):
    """A call of attend of which one thing does not go with another, or several; or some numbers are none that it takes."""
    if d.random() < 0.3:
        words = [x for side in "qkv" for x in (f"-{side}", f"in/r4.npz:{side}")]
        words[1] = d.choice(["in/wrong.npz:q", words[1], words[1]])
        wrong = {"--lengths": lambda d: "in/wrong.npz:far", "--sinks": lambda d: "in/wrong.npz:sink", "--mask": lambda d: "in/wrong.npz:huge"}
        if d.random() < 0.2:
            words = [x for side in "qkv" for x in (f"-{side}", f"in/packed.npz:{side}")] + ["--cu-seqlens", "in/wrong.npz:fall"]
            wrong = {"--sinks": wrong["--sinks"]}
        return ["attend", *words, *d.options(wrong, 0, 2), *d.options({"--allow-nonfinite": OPERATOR["--allow-nonfinite"], "--show": OPERATOR["--show"]}, 0, 2)], None
    rank = d.choice([2, 3, 4])
    usual = [f"in/r{rank}.npz:{side}" for side in "qkv"] if d.random() < 0.6 else [f"in/{stem}.npz:{side}" for stem in [d.choice(["side", "bshd", "packed"])] for side in "qkv"]
    others = [f"in/{stem}.npz:{name}" for stem, names in {"r2": "qkv", "r3": "qkv", "r4": "qkv", "side": "qkv", "bshd": "qkv", "large": "qkv", "past": "kv",
                                                          "odd": ["nan", "empty", "int"], "wrong": ["q"], "packed": ["q", "cu"]}.items() for name in names]
    masks = [f"in/masks.npz:{name}" for name in ["bool", "added", "wide", "short", "lengths", "segments", "sinks", "heads"]] + ["in/odd.npz:nan", "in/odd.npz:empty", "in/packed.npz:cu"]
    masks += [f"in/wrong.npz:{name}" for name in ["far", "fall", "sink", "huge"]]
    words = [x for side, file in zip("qkv", usual) for x in (f"-{side}", d.choice(others) if d.random() < 0.2 else file)]
    table = OPERATOR | {option: lambda d: d.choice(masks) for option in ["--mask", "--lengths", "--segments", "--sinks", "--cu-seqlens", "--cu-seqlens-k"]}
    table |= {"--heads": lambda d: d.number(0, 1, 2, 3, 4, 5, 8, 64), "--kv-heads": lambda d: d.number(0, 1, 2, 3, 4), "--layout": lambda d: d.choice(["bhsd", "bshd"]),
              "--show": lambda d: d.choice(["all", "weights", "capped_scores,bias", "lse,entropy", "present_key", "masked_scores", "dropped_weights", "output"])}
    words += d.maybe(0.15, "--past-key", d.choice(["in/past.npz:k", *others]), "--past-value", d.choice(["in/past.npz:v", *others]))
    return ["attend", *words, *d.options(table, 0, 4), *d.maybe(0.3, "-o", d.choice(["out.npy", "out.npz", "out.json"]))], None


def rest(d):
    return d.choice([
        ["recipe", "list"], ["recipe", "show", d.choice([*d.recipes, "nothing"])], ["schema", d.choice("result recipe tensor explanation check diagnosis other".split())],
        ["manual-page", *d.maybe(0.7, d.choice(d.commands))], ["completions", d.choice(["bash", "zsh", "fish", "csh"])],
        ["help", *d.maybe(0.8, d.choice([*d.commands, "tutorial", "output", "tensors", "models", "checking", "nothing"]))],
        [d.choice(d.commands), d.choice(["-h", "--help"])], ["--version"], ["-h"], [], ["rnu", "x"], ["run", SENTENCE, d.choice(["--heds", "--sed=4", "--head=", "-x", "--", "-q"])],
        ["run", "a dog, the cat", "--model", f"in/pieces-{d.choice(['byte-level', 'llama'])}/", "--layer", "all", "-o", "out.csv"],
        ["run", SENTENCE, "--scale", d.choice(["3e3", "1e4", "-1e5"]), "--show", "scaled_scores,weights", *d.options(TABLE, 0, 1)],
        ["run", SENTENCE, d.choice(["--heads=2", "--seed=9", "-o=x", "--show=weights", "--d-k", "--heads"])],
    ]), None


MISTYPED = ("--heds --sed=4 --head= --heads= -x -heads -h=3 -o=x -oout.json -j4 -j -v -q -t --output --out --save --svg --rope-base ++ -- - -1 -0.5 --quiet=yes --causal=1 "
            "--no-causal --causal --no-causl --verbose --quiet --verbos --version -V -h --help --json=1 --json --format --show= --query= --query --seq 8 --axes --rtol run check "
            "attend atend help --isa --isa=avx --threads=0 --threads --color=auto --color=x \u2013heads \u2014output \u2212v {} [a] [a,b] =x --=3 -=3 --no- ---x").split() + ["", " ", "-a b", "--a b", "a\nb"]


def wrong(d):
    """A right command line with a word or two that are out of place, twice there, missing, or mistyped."""
    made = COMMANDS[d.choice(["run", "run", "lines", "model", "explain", "plot", "check", "compare", "attend", "rest"])][0](d)
    words, stdin = [str(word) for word in made[0]], made[1]
    for _ in range(d.choice([1, 1, 2])):
        at, other = d.randrange(len(words) + 1), d.randrange(len(words) + 1)
        options = [word for word in words if word.startswith("-")]
        kind = d.random()
        if kind < 0.5:
            words.insert(at, d.choice(MISTYPED))
        elif kind < 0.6 and words:
            words.pop(min(at, len(words) - 1))
        elif kind < 0.7 and words:
            words.insert(other, words.pop(min(at, len(words) - 1)))
        elif kind < 0.8 and options:
            words.insert(at, d.choice(options))
        elif kind < 0.9 and options:  # --name value becomes --name=value
            at = words.index(d.choice(options))
            words[at:at + 2] = ["=".join(words[at:at + 2])]
        elif words:  # a letter less
            at = min(at, len(words) - 1)
            cut = d.randrange(len(words[at]) + 1)
            words[at] = words[at][:cut] + words[at][cut + 1:]
    return words, stdin


COMMANDS = {"run": (run, 34), "lines": (run_lines, 7), "model": (run_model, 14), "explain": (explain, 6), "plot": (plot, 8), "check": (check, 9), "compare": (compare, 9),
            "attend": (attend, 13), "mistaken": (mistaken, 4), "rest": (rest, 5), "wrong": (wrong, 9)}


def portable(arguments):
    """With `--isa portable` where another instruction set is named or is usual."""
    named = {"avx2", "avx512", "neon", "auto"}
    words = ["portable" if before == "--isa" and word in named else word for before, word in zip(["", *arguments], arguments)]
    return [*words, "--isa", "portable"] if words[:1] == ["attend"] and "--isa" not in words else words


def option_set(number, only, where):
    """Arguments, standard input and what OLD does of set `number`: a few draws, the first that succeeds; one in four, whatever
    comes."""
    for attempt in range(6):
        d = Draw(f"{where.seed}/{number}/{attempt}")
        d.folder, d.recipes, d.commands = where.folder, where.recipes, where.commands
        kinds = [only] if only else list(COMMANDS)
        make = COMMANDS[d.choices(kinds, [COMMANDS[kind][1] for kind in kinds])[0]][0]
        arguments, stdin = make(d)
        arguments += d.options(GLOBAL, 1, 2) if d.random() < 0.15 else []
        if where.portable:
            arguments = portable([str(word) for word in arguments])
        done = done_by(where.old, arguments, stdin, where.folder)
        if done[0] in (0, 1) or d.random() < 0.25:
            break
    return arguments, stdin, done


# ---- what they do ----------------------------------------------------------------------------------------------------------

MACHINE = re.compile(rb"(?m)^(compiler|instruction set): .*$")
SECONDS = re.compile(r"\d+(\.\d+)? (s|ms|µs|us|min|GB|MB|kB)\b".encode())


class Where:
    def __init__(self, folder, given):
        self.folder, self.old, self.seed, self.portable = folder, given.old, given.seed, given.portable
        self.recipes = sorted(path.stem for path in (ROOT / "data/recipes").iterdir())
        self.commands = "run attend explain plot check compare recipe bench schema manual-page completions help".split()


def done_by(program, arguments, stdin, folder):
    """(exit code, standard output, standard error, name → bytes of what it wrote)"""
    with tempfile.TemporaryDirectory(dir=folder.parent) as name:
        place = Path(name)
        (place / "in").symlink_to(folder)
        environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
        environment |= {key: value for key, value in os.environ.items() if key.startswith("GCOV")}
        try:
            done = subprocess.run([*program, *arguments], cwd=place, env=environment, input=(stdin or "").encode(), capture_output=True, timeout=120, check=False)
        except subprocess.TimeoutExpired:
            return (-1, b"", b"more than 120 s", {})
        written = {path.name: path.read_bytes() for path in sorted(place.iterdir()) if path.name != "in"}
        said = SECONDS.sub(b"N", done.stderr) if "--verbose" in arguments else done.stderr
        return done.returncode, MACHINE.sub(b"", done.stdout), said, written


def difference(old, new):
    """What is not the same, in a line; nothing when all is."""
    if old == new:
        return ""
    for name, a, b in zip(("exit code", "standard output", "standard error"), old, new):
        if a != b:
            at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b))) if isinstance(a, bytes) else 0
            return f"{name}: {a if isinstance(a, int) else a[max(0, at - 60):at + 60]!r} became {b if isinstance(b, int) else b[max(0, at - 60):at + 60]!r} (at {at})"
    return "files: " + ", ".join(sorted(name for name in {*old[3], *new[3]} if old[3].get(name) != new[3].get(name)))


def command(text):
    """The words of it, whose last is a path here."""
    *words, program = shlex.split(text)
    return [*words, os.path.abspath(program)]


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[2])
    parser.add_argument("old", type=lambda text: [os.path.abspath(text)])
    parser.add_argument("new", type=command)
    parser.add_argument("--sets", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=COMMANDS)
    parser.add_argument("--one", type=int)
    parser.add_argument("--portable", action="store_true")
    parser.add_argument("--failed", action="store_true", help="say which sets did not succeed")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        where = Where(ground(Path(name), given.old), given)

        def both(number):
            arguments, stdin, old = option_set(number, given.only, where)
            new = done_by(given.new, arguments, stdin, where.folder)
            return number, arguments, old, new, difference(old, new)

        if given.one is not None:
            _, arguments, old, new, gap = both(given.one)
            print(shlex.join(["attn-cli", *arguments]), *(f"\n{'-' * 60}\n{code}\n{out.decode(errors='replace')[:2000]}\n{err.decode(errors='replace')}{[*files]}"
                                                            for code, out, err, files in (old, new)), "\n" + (gap or "the same"))
            return 1 if gap else 0
        with ThreadPoolExecutor(2) as pool:
            return compare_all(pool.map(both, range(given.sets)), given)


def compare_all(runs, given):
    codes, gaps = {kind: Counter() for kind in (*COMMANDS, "all")}, 0
    for number, arguments, old, _, gap in runs:
        codes["all"][old[0]] += 1
        codes.setdefault(arguments[0] if arguments else "", Counter())[old[0]] += 1
        if gap:
            gaps += 1
            print(f"set {number}: {shlex.join(['attn-cli', *arguments])}\n  {gap}")
        if given.failed and old[0] not in (0, 1):
            print(f"{number} {old[0]}: {shlex.join(arguments)}\n  {old[2].decode(errors='replace').strip()[-300:]}")
    good = codes["all"][0] + codes["all"][1]
    for kind, counts in codes.items():
        if counts:
            print(f"{kind or 'nothing':12} " + " ".join(f"{code}: {count}" for code, count in sorted(counts.items())))
    print(f"{given.sets - gaps} of {given.sets} sets are the same; {good / given.sets:.0%} succeed")
    return 1 if gaps or good < SUCCEED * given.sets and not given.only else 0


if __name__ == "__main__":
    sys.exit(main())
