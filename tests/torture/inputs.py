"""Random commands over files of arrays that they write themselves."""

import math

import arrays
from arrays import Array
from commands import SENTENCE, Command

MOST_SPARSE = 1 << 30  # bytes; of zeros that no disk holds
MOST_DEFLATED = 1 << 29  # bytes; their checksum takes time
LARGEST_OUTPUT = 64 << 20  # bytes of what is to be written


class Files:
    """Writes files of arrays into a folder. How many bytes of arrays it wrote is in `array_bytes`."""

    def __init__(self, folder, draw):
        folder.mkdir()
        self.folder = folder
        self.draw = draw
        self.array_bytes = 0
        self.count = 0

    def new(self, suffix):
        self.count += 1
        return self.folder / f"f{self.count}{suffix}"

    def rows(self, width, most, type="f4"):
        """A shape (n, width): a few rows, or up to `most` bytes."""
        draw, unit = self.draw, width * arrays.SIZES[type]
        return max(1, int(2 ** draw.uniform(0, math.log2(most / unit)))) if draw.random() < 0.6 else draw.randrange(1, 6)

    def good(self, *shape):
        """A small file."""
        return self.npy(arrays.numbers(self.draw, *shape))

    def zeros(self, *shape):
        return self.npy(Array(shape))

    def npy(self, array):
        path = self.new(".npy")
        arrays.write_npy(path, array)
        self.array_bytes += array.size
        return f"in/{path.name}"

    def bad(self, array, name="x", whole=False):
        """A file in any form with `array` in it, with or without damage. Returns how a command names it."""
        return self.bad_set({name: array}, None if whole else name)

    def bad_set(self, named, name=None):
        """A file of several arrays, of which one is asked for, or all."""
        draw = self.draw
        suffix = draw.choice((".npy", ".npz", ".npz", ".safetensors") if len(named) == 1 else (".npz", ".npz", ".safetensors"))
        path = self.new(suffix)
        self.array_bytes += sum(array.size for key, array in named.items() if name in (None, key))
        damage = draw.choice(("none", "none", "header", "header", "archive", "spoil", "numbers"))
        victim = draw.choice(list(named))
        if damage == "numbers":
            named = named | {victim: arrays.ending_badly(named[victim])}
        if suffix == ".npy":
            array = named[victim]
            arrays.write_npy(path, array, arrays.lying_npy_header(draw, array) if damage in ("header", "archive") else None)
        elif suffix == ".npz":
            members = [self.member(key, array, damage == "header" and key == victim) for key, array in named.items()]
            end_lies = arrays.lie_in_archive(draw, members) if damage == "archive" else None
            arrays.write_npz(path, members, b"c" * draw.choice((0, 0, 0, 65000)), end_lies)
        else:
            change = arrays.lying_safetensors_header(draw) if damage in ("header", "archive") else None
            length = draw.choice((0, 1, 10**8, 10**8 + 1, *arrays.HUGE[:7])) if change and draw.random() < 0.1 else None
            arrays.write_safetensors(path, named, change, length)
        if damage == "spoil":
            for _ in range(draw.randrange(1, 4)):
                arrays.spoil(path, draw)
        return f"in/{path.name}" + (f":{name}" if name and (suffix != ".npy" or draw.random() < 0.1) else "")

    def member(self, name, array, lying):
        method = self.draw.choice((arrays.STORED, arrays.DEFLATED)) if array.size <= MOST_DEFLATED else arrays.STORED
        return arrays.npz_member(name, array, method, arrays.lying_npy_header(self.draw, array) if lying else None)

    def text(self):
        """What should be text, and is mostly a hole, or has no end of a line."""
        draw = self.draw
        path = self.new(draw.choice((".json", ".txt", ".recipe.json")))
        front = draw.choice((b"", b"{", b"[" * 100_000, b'{"schema":"attn-cli/result/1",', b'{"a":' * 50_000, b"the 1 2 3\n",
                             b"1000000000 300\n", b"the" + b" 1" * 2_000_000, b"x" * 3_000_000, b"1\n" * 1_000_000,
                             b"[" + b"1," * 1_000_000, b'"' + b"\\u0000" * 500_000))
        arrays.write_front(path, front, draw.choice((0, 1, 1 << 20, 1 << 29, 1 << 29)))
        return f"in/{path.name}"


def any_size(files, type="f4"):
    return files.rows(8, MOST_SPARSE if files.draw.random() < 0.7 else MOST_DEFLATED, type)


def attend(files):
    """One of the tensors is bad, sometimes keys and values together; those that are written out are not large."""
    draw, d, T, S = files.draw, 8, 3, 5
    victim = draw.choice(("-q", "-k", "-v", "-k -v", "--mask", "--lengths", "--segments", "--cu-seqlens", "--sinks", "--past-key",
                          "--against", "--grad", "--grad-lse", "--kept"))
    words = []
    if victim == "-q":
        words += ["-q", files.bad(Array((files.rows(d, LARGEST_OUTPUT), d))), "-k", files.good(S, d), "-v", files.good(S, d)]
    elif victim == "-k -v":
        rows = any_size(files) // 2 + 1
        words += ["-q", files.good(T, d), "-k", files.bad(Array((rows, d))), "-v", files.bad(Array((rows, d)))]
    elif victim in ("-k", "-v"):
        other = {"-k": "-v", "-v": "-k"}[victim]
        shape = draw.choice(((any_size(files), d), (S, d), (S, any_size(files)))) if victim == "-v" else (any_size(files), d)
        words += ["-q", files.good(T, d), victim, files.bad(Array(shape)), other, files.good(S, d)]
    else:
        type = "f4" if victim in ("--mask", "--sinks", "--past-key", "--against", "--grad", "--grad-lse") else draw.choice(("i4", "i8", "f4"))
        shape = draw.choice(((any_size(files), d), (T, S), (1,), (1, 2, S, d), (2,), (any_size(files),)))
        words += ["-q", files.good(T, d), "-k", files.good(S, d), "-v", files.good(S, d), victim, files.bad(Array(shape, type))]
        if victim == "--past-key":
            words += ["--past-value", files.good(1, 2, S, d)]
        elif victim == "--kept":
            words += ["--dropout", "0.5"]
    words = ["attend", *words]
    words += draw.choice(([], [], ["--causal"], ["--window", "2,0"], ["--alibi"], ["--threads", str(draw.choice((1, 3, 16)))]))
    if victim == "--against":
        return words
    return [*words, "-o", f"out.{draw.choice(('npy', 'npz', 'safetensors'))}"]


def compare(files):
    draw = files.draw
    shape = draw.choice(((any_size(files), 8), (3, 4)))
    other = shape if draw.random() < 0.5 else (3, 8)
    names = draw.choice((["a"], ["a", "b"], ["a", "b", "c"]))
    whole = draw.random() < 0.5
    first = files.bad_set({name: Array(shape if name == "a" else (2, 2)) for name in names}, None if whole else "a")
    second = first
    if draw.random() < 0.7:
        second = files.bad_set({name: Array(other if name == "a" else (2, 2)) for name in names}, None if whole else "a")
    elif math.prod(other) < 1000:
        second = files.good(*other)
    return ["compare", *((first, second) if draw.random() < 0.5 else (second, first))]


def plot(files):
    draw = files.draw
    shape = draw.choice(((any_size(files), 8), (8, any_size(files)), (5, 5), (2, 5, 5), (any_size(files) // 8 + 1, 8, 8)))
    more = draw.choice(([], ["--query", "1"], ["--head", "0"], ["--plot", "arcs"], ["--shade", "log"]))
    return ["plot", files.bad(Array(shape)), *more, "-o", f"out.{draw.choice(('svg', 'html', 'svg'))}"]


def parameters(files):
    """A layer with a width of its own, and what else may be in its file."""
    draw = files.draw
    width = draw.choice((4, 16, 64, int(2 ** draw.uniform(2, 12))))
    layer = {name: Array((width, width)) for name in ("W_q", "W_k", "W_v")}
    if draw.random() < 0.4:
        layer |= {"zeros": Array((any_size(files), 8))}
    if draw.random() < 0.3:
        layer |= {"b_q": Array((draw.choice((width, any_size(files))),))}
    return ["run", draw.choice((SENTENCE, "a b")), "--params", files.bad_set(layer), "--set", "parameters.layout=" + draw.choice(("run", "in-out", "out-in"))]


def embeddings(files):
    draw = files.draw
    width = draw.choice((8, 50, any_size(files) // 100 + 1))
    rows = draw.choice((2, 3, any_size(files) * 8 // width + 1))
    table = files.bad(Array((rows, width))) if draw.random() < 0.8 else files.text()
    words = ["run", draw.choice(("a b a", "the the", "a")), "--embeddings", table]
    if draw.random() < 0.6:
        (files.folder / "words").write_text("a\nb\nthe\n"[: draw.choice((4, 8))])
        words += ["--set", "embeddings.words.file=" + ("in/words" if draw.random() < 0.8 else files.text())]
    more = draw.choice(([], ["--init", "identity"], ["--unknown", "a"]))
    files.array_bytes += 4 * width * (3 * width if "identity" in more else 24 + 24 + 28)  # W_q, W_k and W_v
    return words + more


def mask(files):
    draw = files.draw
    shape = draw.choice(((3, 3), (1, 3, 3), (any_size(files), 3), (any_size(files),)))
    return [*draw.choice((["run"], ["explain"])), "a b c", "--mask", files.bad(Array(shape, draw.choice(("f4", "b1", "f8", "i8"))))]


def against(files):
    draw = files.draw
    shape = draw.choice(((6, 28), (1, 6, 28), (any_size(files), 28)))
    return ["run", SENTENCE, "--against", files.bad(Array(shape), draw.choice(("context", "weights", "x")))]


def saved(files):
    """Where a result or a recipe is asked for."""
    draw = files.draw
    file = files.text() if draw.random() < 0.7 else files.bad(Array((any_size(files), 8)), whole=True)
    return draw.choice((["check", file], ["run", "--recipe", file], ["compare", file, file], ["plot", file, "-o", "out.svg"],
                        ["run", "a b", "--params", file], ["explain", "--recipe", file], ["run", "a b c", "--embeddings", file]))


def array_command(folder, draw):
    """A command, whose inputs are written into the new folder."""
    files = Files(folder, draw)
    make = draw.choice((attend, attend, compare, plot, parameters, embeddings, mask, against, saved))
    words = make(files)
    if words[0] == "run" and make in (parameters, embeddings, mask):
        words += draw.choice(([], ["--json"], ["--show", "weights"], ["--show", "context,weights"]))
    return Command(words, array_bytes=files.array_bytes)


def large_command(folder, draw):
    """An honest one that takes memory: what it takes, or refuses to take, can be foreseen."""
    files = Files(folder, draw)
    words = draw.choice((vocabulary, sentence, every_stage, comparison, lines))(files)
    return Command(words, array_bytes=files.array_bytes)


def vocabulary(files):
    width = files.draw.choice((2, 16, 64))
    size = int(2 ** files.draw.uniform(16, 26)) // width
    files.array_bytes += 8 * size * width
    return ["run", "a b", "--vocab-size", str(size), "--embed-dim", str(width), "--show", "tokens"]


def sentence(files):
    draw = files.draw
    (files.folder / "text").write_text(" ".join(draw.choices("life is short eat dessert first".split(), k=int(2 ** draw.uniform(4, 10.5)))))
    show = draw.choice(("all", "weights", "context", "scores,weights"))
    return ["run", "--lines", "in/text", "--heads", str(draw.choice((1, 2, 4))), "--show", show, "-o", "out.jsonl"]


def every_stage(files):
    T, S = (int(2 ** files.draw.uniform(4, 11)) for _ in range(2))
    q, k, v = (files.zeros(rows, 32) for rows in (T, S, S))
    show = files.draw.choice(("all", "weights", "context", "scores,weights,lse"))
    files.array_bytes += 24 * T * S  # of the stages
    return ["attend", "-q", q, "-k", k, "-v", v, "--show", show, "-o", f"out.{files.draw.choice(('npz', 'safetensors', 'json'))}"]


def comparison(files):
    array = Array((files.rows(8, 1 << 29), 8))
    files.array_bytes += 2 * array.size
    paths = []
    for method in files.draw.choices((arrays.STORED, arrays.DEFLATED), k=2):
        paths.append(files.new(".npz"))
        arrays.write_npz(paths[-1], [arrays.npz_member("x", array, method)])
    return ["compare", *(f"in/{path.name}" for path in paths)]


def lines(files):
    draw = files.draw
    with open(files.folder / "lines", "w") as file:
        for _ in range(draw.randrange(1, 200)):
            file.write(" ".join(draw.choices("life is short eat dessert first".split(), k=int(2 ** draw.uniform(0, 10)))) + "\n")
    return ["run", "--lines", "in/lines", "--threads", str(draw.choice((1, 2, 8))), "--show", "weights", "-o", "out.jsonl"]
