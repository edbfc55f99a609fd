#!/usr/bin/env python3
"""Random arrays as NumPy, PyTorch and Python print them, pasted into a recipe, given to `compare` and to `attend --against`: each
agrees with the array that it shows. With a digit changed, so that another float is read, each differs.

    live_printed.py PROGRAM [--arrays N] [--seed N]

Exits 77 (skipped) without PyTorch, or 1 when ATTN_REQUIRE_LIVE=1 says that it must be there.
"""

import argparse
import json
import math
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from live import skip

try:
    import numpy
    import torch
except ImportError as missing:
    skip(missing)

NUMBER = re.compile(r"-?\d+\.?\d*(?:e[+-]\d+)?")
TOLERANCE = {"float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7)}  # of `attend --against`


# ---- arrays ----------------------------------------------------------------------------------------------------------------


def an_array(rng):
    """Of one to three dimensions; of one magnitude or of many, with zeros and whole numbers among them."""
    shape = tuple(rng.randint(1, 5) for _ in range(rng.randint(1, 3)))
    numbers = numpy.random.default_rng(rng.randrange(2**32))
    x = numbers.standard_normal(shape) * 10.0 ** rng.uniform(-9, 9)
    kind = rng.randrange(6)
    if kind == 0:
        x = numbers.standard_normal(shape) * 10.0 ** numbers.uniform(-9, 9, shape)
    elif kind == 1:
        x = numbers.random(shape)  # as weights are
    elif kind == 2:
        x = numbers.integers(-9, 9, shape) / rng.choice([1, 8, 10, 1000])
    elif kind == 3:
        x[numbers.random(shape) < 0.3] = 0
    return x.astype(rng.choice(["float32", "float64"]))


# ---- printers --------------------------------------------------------------------------------------------------------------


def nested(x, text_of):
    return text_of(x) if x.ndim == 0 else "[" + ", ".join(nested(row, text_of) for row in x) + "]"


def by_numpy(x, rng):
    options = {
        "precision": rng.choice([8, 8, *range(3, 18)]),
        "suppress": rng.random() < 0.5,
        "floatmode": rng.choice(["maxprec", "maxprec", "fixed", "unique", "maxprec_equal"]),
        "sign": rng.choice("- "),
        "linewidth": rng.choice([40, 75, 200]),
        "threshold": sys.maxsize,
    }
    text_of = rng.choice([str, repr, lambda x: numpy.array2string(x, separator=", ")])
    with numpy.printoptions(**options):
        return text_of(x)


def by_torch(x, rng):
    torch.set_printoptions(precision=rng.choice([4, 4, *range(3, 18)]), sci_mode=rng.choice([None, True, False]),
                           linewidth=rng.choice([40, 80, 200]), threshold=sys.maxsize)  # fmt: skip
    tensor = torch.from_numpy(x.copy()).requires_grad_()
    return repr(rng.choice([tensor.detach(), tensor, tensor * 1, torch.nn.Parameter(tensor)]))


def by_python(x, rng):
    digits = rng.randint(3, 12)
    if numpy.isfinite(x).all() and rng.random() < 0.2:
        return json.dumps(x.tolist())
    return rng.choice([
        lambda: str(x.tolist()),
        lambda: nested(x, lambda number: str(number[()])),  # a float32 as its own shortest decimal
        lambda: nested(x, lambda number: str(round(float(number), digits))),
        lambda: nested(x, lambda number: f"{float(number):.{digits}f}"),
        lambda: nested(x, lambda number: f"{float(number):.{digits}e}"),
    ])()  # fmt: skip


PRINTERS = {"NumPy": by_numpy, "PyTorch": by_torch, "Python": by_python}


def looks_whole(text):
    return all(re.fullmatch(r"-?\d+\.?", number) for number in NUMBER.findall(text[: text.rindex("]")]))


def a_print(rng):
    """An array, who printed it, and how that looks. Numbers that lost all their decimals are those of the defaults alone."""
    while True:
        x = an_array(rng)
        printer = rng.choice(list(PRINTERS))
        text = PRINTERS[printer](x, rng)
        if not looks_whole(text) or (x == numpy.trunc(x)).all():
            return x, printer, text


def changed(x, text, rng, beyond):
    """The text with one digit changed, so that it shows another number than x has there, by more than `beyond` of that number;
    nothing where no digit does."""
    places = list(NUMBER.finditer(text[: text.rindex("]")]))
    assert len(places) == x.size, text
    order = [(place, digit) for place in range(len(places)) for digit in range(len(places[place][0]))]
    rng.shuffle(order)
    for place, digit in order:
        number, value = places[place][0], x.flat[place]
        if not number[digit].isdigit() or (value == 0 and "e" in number):  # nobody prints 0.0400e+00
            continue
        first = digit == 0 or (digit == 1 and number[0] == "-")
        new = rng.choice([other for other in ("123456789" if first else "0123456789") if other != number[digit]])
        other = number[:digit] + new + number[digit + 1 :]
        read = float(other)
        another = math.isfinite(read) and read != value and numpy.float64(other).astype(x.dtype) != value
        if another and abs(read - float(value)) > beyond(number, float(value)):
            return text[: places[place].start()] + other + text[places[place].end() :]
    return None


# ---- readers ---------------------------------------------------------------------------------------------------------------


class Readers:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def run(self, *arguments):
        done = subprocess.run([self.program, *map(str, arguments)], capture_output=True, cwd=self.folder, check=False)
        assert done.returncode in (0, 1), (arguments, done)
        return done.returncode

    def compare(self, x, text):
        (self.folder / "printed.txt").write_text(text)
        numpy.save(self.folder / "x.npy", x)
        files = ["printed.txt", "x.npy"]
        codes = {self.run("compare", *pair, "--rtol", 0, "--atol", 0) for pair in (files, reversed(files))}
        assert len(codes) == 1, text
        return codes.pop()

    def published(self, x, text):
        """As the embeddings of a recipe, of which a row or a batch of one may be stated."""
        rows = x.reshape(-1, x.shape[-1])
        size = rows.shape[1]
        statement = {"array": "embeddings", "values": text, **({"at": [0]} if x.ndim == 1 else {})}
        matrices = [{"tensor": name, "values": numpy.eye(size).tolist()} for name in ("W_q", "W_k", "W_v")]
        recipe = {
            "schema": "attn-cli/recipe/1",
            "input": {"positions": len(rows)},
            "dtype": str(x.dtype),
            "draws": [{"tensor": "embeddings", "values": rows.tolist()}, *matrices],
            "attention": {"scale": 1e-30},
            "published": [statement],
        }
        (self.folder / "recipe.json").write_text(json.dumps(recipe))
        return self.run("check", "recipe.json")

    def against(self, x, text):
        """As the context of queries of which each sees its own value alone."""
        (self.folder / "printed.txt").write_text(text)
        numpy.save(self.folder / "v.npy", x)
        numpy.save(self.folder / "q.npy", numpy.zeros((*x.shape[:-1], 1), x.dtype))
        return self.run("attend", "-q", "q.npy", "-k", "q.npy", "-v", "v.npy", "--window", 0, "--against", "printed.txt")


def unit(number):
    mantissa, _, exponent = number.partition("e")
    return 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))


def checked(name, read, x, printer, text, rng):
    """Whether a digit was changed, too. Ends the script where the reader is wrong."""
    if read(x, text) != 0:
        sys.exit(f"{name}: {printer}'s own print of {x.dtype} {x.tolist()} differs:\n{text}")
    if not numpy.isfinite(x).all():
        return False
    rtol, atol = TOLERANCE[str(x.dtype)] if name == "against" else (0, 0)
    other = changed(x, text, rng, lambda number, value: 2 * (atol + rtol * abs(value)) + (unit(number) / 2 if atol else 0))
    if other is not None and read(x, other) != 1:
        sys.exit(f"{name}: {printer}'s print of {x.dtype} {x.tolist()},\n{text}\nstill agrees with a digit changed:\n{other}")
    return other is not None


def with_holes(x, rng):
    holes = x.copy()
    for value in (numpy.nan, numpy.inf, -numpy.inf):
        holes.flat[rng.randrange(x.size)] = value
    return holes


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--arrays", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    counts = {}
    with tempfile.TemporaryDirectory() as folder:
        readers = Readers(Path(options.program).resolve(), Path(folder))
        for _ in range(options.arrays):
            x, printer, text = a_print(rng)
            taken = [("compare", x, text)]
            if x.ndim < 3 or len(x) == 1:
                taken.append(("published", x, text))
            if x.ndim > 1:
                taken.append(("against", x, text))
            if x.size > 4 and not looks_whole(text):  # a recipe takes neither NaN nor infinities
                holes = with_holes(x, rng)
                taken.append(("compare", holes, PRINTERS[printer](holes, rng)))
            for name, array, shown in taken:
                if looks_whole(shown) and (array != numpy.trunc(array)).any():
                    continue
                total = counts.setdefault((name, printer), [0, 0])
                total[0] += 1
                total[1] += checked(name, getattr(readers, name), array, printer, shown, rng)
    for (name, printer), (same, differs) in sorted(counts.items()):
        print(f"{name}: {same} prints of {printer} agree, {differs} with a digit changed differ")


if __name__ == "__main__":
    main()
