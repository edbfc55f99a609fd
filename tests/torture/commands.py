"""The commands that are put under pressure, and the files that they read.

Each runs in an empty folder of its own, in which `in` holds the inputs. None says anything on standard error when all is well.
"""

import random
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

DATA = Path(__file__).parents[2] / "data"
SENTENCE = "Life is short, eat dessert first"
OLD = b"what the output file held before\n"

COMMANDS = {
    "table": f"run '{SENTENCE}' --heads 4 --show all",
    "json": f"run '{SENTENCE}' --heads 2 --show all -o out.json",
    "lines": "run --lines in/lines.txt --threads 3 --show weights -o out.jsonl",
    "crowd": "run --lines in/many.txt --json --threads 16 --show weights -o out.jsonl",
    "stream": "run --lines - --json --threads 2 < in/lines.txt",
    "lines-table": "run --lines - --threads 3 < in/lines.txt",
    "csv": "run --lines in/lines.txt --threads 2 --show weights --format csv",
    "page": f"run '{SENTENCE}' --heads 2 -o out.html",
    "explain": f"explain '{SENTENCE}' --query eat",
    "attend": "attend -q in/q.npy -k in/k.npy -v in/v.npy --causal --threads 2 -o out.npy",
    "stages": "attend -q in/qkv.npz:queries -k in/qkv.npz:keys -v in/qkv.npz:values --show weights,context -o out.npz",
    "gradients": "attend -q in/q.npy -k in/k.npy -v in/v.npy --grad in/q.npy --threads 2 -o out.npz",
    "check": "check in/golden.json",
    "piped-attend": "attend -q - -k in/k.npy -v in/v.npy -o out.npy < in/q.npy",
    "piped-check": "check - < in/golden.json",
    "compare": "compare in/golden.json in/golden.npz",
    "difference": "compare in/golden.json in/other.json",
    "plot": "plot in/golden.json -o out.svg",
    "params": f"run '{SENTENCE}' --params in/layer.safetensors --heads 1 --positions sinusoidal --causal -o out.json",
    "embeddings": "run 'the king and the queen eat cake' --embeddings in/vectors.txt --init identity",
}


@dataclass
class Command:
    """One of COMMANDS, taken apart, or one that brings its own inputs."""

    arguments: list
    stdin: str = ""  # a file
    array_bytes: int = 0  # of the arrays that it is to read, however small their files are

    @staticmethod
    def of(text):
        words, _, stdin = text.partition(" < ")
        return Command(shlex.split(words), stdin)

    @property
    def output(self):
        return self.arguments[-1] if "-o" in self.arguments else ""

    @property
    def by_line(self):
        return "--lines" in self.arguments

    def __str__(self):
        return shlex.join(["attn-cli", *self.arguments]) + (f" < {self.stdin}" if self.stdin else "")


def write_lines(path, count):
    """Short lines, and a few long ones."""
    words = "life is short eat dessert first the king and queen cake naïve café 人".split()
    draw = random.Random(1)
    lines = (" ".join(draw.choices(words, k=40 if i % 97 == 0 else draw.randint(1, 3))) for i in range(count))
    path.write_text("\n".join(lines) + "\n")


def write_npy(path, shape):
    """float32 numbers between 0 and 1 as .npy, without NumPy: it is not everywhere where the program must hold."""
    count = 1
    for size in shape:
        count *= size
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (117 - len(header)) + b"\n"
    # The upper byte 0x3f and any below it make numbers from 0.5 to 2.
    numbers = b"".join(value.to_bytes(3, "little") + b"\x3f" for value in random.Random(1).choices(range(1 << 23), k=count))
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + numbers)


def write_inputs(folder, program):
    # More than may wait for one that is late: 64 a batch, 4 batches a thread.
    write_lines(folder / "lines.txt", 64 * (3 * 4 + 8))
    write_lines(folder / "many.txt", 64 * (16 * 4 + 20))
    for name in ("q", "k", "v"):
        write_npy(folder / f"{name}.npy", (4, 768, 32))
    shutil.copy(DATA / "tensors/previous_word.safetensors", folder / "layer.safetensors")
    shutil.copy(DATA / "made-up-vectors.txt", folder / "vectors.txt")
    for options in ("--show all -o golden.json", "--show all -o golden.npz", "--seed 7 --show all -o other.json",
                    "--d-v 24 --show queries,keys,values -o qkv.npz"):
        subprocess.run([program, "run", SENTENCE, *options.split()], cwd=folder, check=True)
