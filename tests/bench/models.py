#!/usr/bin/env python3
"""The attention of all heads of a trained model on one sentence, whole processes in turns, one thread each: attn-cli, the Python
package transformers, and ONNX Runtime on the same graph, exported from transformers with the attention weights as outputs.

usage: models.py ATTN_CLI MODEL_FOLDER [ROUNDS]

Needs torch, transformers, onnx, onnxscript, onnxruntime and tokenizers. Prints the fastest of ROUNDS (10) in seconds of the
clock and of the processor, the memory, and how many times longer each takes than attn-cli. Fails unless all agree within 2e-5.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SENTENCE = "The animal didn't cross the street because it was too tired"

EXPORT = """
import sys, torch, transformers
folder, sentence, graph = sys.argv[1:]
words = transformers.AutoTokenizer.from_pretrained(folder)(sentence, return_tensors="pt")

class Attentions(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.model = transformers.AutoModel.from_pretrained(folder, attn_implementation="eager").eval()

    def forward(self, ids):
        return self.model(ids, output_attentions=True).attentions

ids = words["input_ids"]
torch.onnx.export(Attentions().eval(), (ids,), graph, input_names=["ids"], opset_version=18, dynamo=True, external_data=False)
"""

TRANSFORMERS = """
import sys, numpy, torch, transformers
folder, sentence, to = sys.argv[1:]
torch.set_num_threads(1)
words = transformers.AutoTokenizer.from_pretrained(folder)(sentence, return_tensors="pt")
model = transformers.AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
with torch.no_grad():
    attentions = model(**words, output_attentions=True).attentions
numpy.save(to, torch.stack(attentions)[:, 0].numpy())
"""

ONNX = """
import sys, numpy, onnxruntime, tokenizers
folder, sentence, graph, to = sys.argv[1:]
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = options.inter_op_num_threads = 1
tokenizer = tokenizers.Tokenizer.from_file(folder + "/tokenizer.json")
tokenizer.no_padding()
ids = tokenizer.encode(sentence).ids
session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
numpy.save(to, numpy.stack(session.run(None, {"ids": numpy.array([ids])}))[:, 0])
"""


def timed(command):
    """Seconds of the clock and of the processor, and the largest memory in MiB."""
    before = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          env={**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}) as process:
        says = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{command[0]}: {says.decode()[-2000:]}")
    return time.perf_counter() - before, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    program, folder = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 10
    with tempfile.TemporaryDirectory() as at:
        graph, ours, torch_file, onnx_file = (str(Path(at) / name) for name in ("graph.onnx", "ours.npz", "torch.npy", "onnx.npy"))
        subprocess.run([sys.executable, "-c", EXPORT, folder, SENTENCE, graph], check=True, stdout=subprocess.DEVNULL)
        run = [program, "run", SENTENCE, "--model", folder + "/", "--threads", "1", "--layer", "all", "--show", "weights"]
        commands = {
            "attn-cli, a table of all layers": run,
            "attn-cli, the weights as .npz": [*run, "-o", ours],
            "ONNX Runtime": [sys.executable, "-c", ONNX, folder, SENTENCE, graph, onnx_file],
            "transformers": [sys.executable, "-c", TRANSFORMERS, folder, SENTENCE, torch_file],
        }
        best = dict.fromkeys(commands, (float("inf"),) * 3)
        for _ in range(rounds):
            for name, command in commands.items():
                best[name] = tuple(map(min, best[name], timed(command)))
        import numpy  # pylint: disable=import-outside-toplevel

        weights = numpy.load(ours)
        layers = sorted(weights.files, key=lambda name: int(re.search(r"\d+", name)[0]))
        stacked = numpy.stack([weights[name] for name in layers])
        for name, file in (("transformers", torch_file), ("ONNX Runtime", onnx_file)):
            far = abs(stacked - numpy.load(file)).max()
            print(f"{name}: weights within {far:.1e} of ours")
            if far > 2e-5:
                sys.exit(1)
    first = next(iter(best.values()))
    print(f"{'':34}{'seconds':>9}{'of CPU':>9}{'MiB':>7}{'times':>8}{'of CPU':>8}")
    for name, (clock, processor, memory) in best.items():
        print(f"{name:34}{clock:9.3f}{processor:9.3f}{memory:7.0f}{clock / first[0]:8.1f}{processor / first[1]:8.1f}")


if __name__ == "__main__":
    main()
