"""Files of arrays: .npy, .npz and .safetensors, with holes for zeros, and with headers that lie.

Nothing here needs NumPy, or the bytes of an array at once: gigabytes of zeros are a hole in a file, or a megabyte of deflate.
"""

import json
import math
import struct
import zlib
from dataclasses import dataclass, field, replace

BLOCK = 1 << 24
SIZES = {"f2": 2, "f4": 4, "f8": 8, "b1": 1, "i4": 4, "i8": 8}
SAFETENSORS = {"f2": "F16", "f4": "F32", "f8": "F64", "b1": "BOOL", "i4": "I32", "i8": "I64"}
HUGE = (2**31, 2**32, 2**33 + 1, 2**61, 2**62, 2**63 - 1, 2**63, 2**64, 10**30)


@dataclass
class Array:
    """`front` is its first bytes, `back` its last ones; all others are 0."""

    shape: tuple
    type: str = "f4"
    front: bytes = b""
    back: bytes = b""

    @property
    def zeros(self):
        return self.size - len(self.front) - len(self.back)

    @property
    def size(self):
        return math.prod(self.shape) * SIZES[self.type]


def ending_badly(array):
    """Its last number is NaN, an integer that few types hold, or no boolean."""
    size = SIZES[array.type]
    return array if array.zeros < size else replace(array, back=b"\xff" * size if array.type[0] != "i" else b"\xff" * (size - 1) + b"\x7f")


def numbers(draw, *shape):
    """A small array of numbers from 0.5 to 2: their upper byte is 0x3f."""
    count = math.prod(shape)
    return Array(shape, "f4", b"".join(draw.randrange(1 << 23).to_bytes(3, "little") + b"\x3f" for _ in range(count)))


# ---- .npy ------------------------------------------------------------------------------------------------------------


def literal(shape):
    return "(" + "".join(f"{size}, " for size in shape) + ")"


def npy_header(array, **changed):
    """`changed`: the text of descr, fortran_order or shape; `length` of the header, `version`, `padding`."""
    given = {"descr": f"'<{array.type}'", "fortran_order": "False", "shape": literal(array.shape)} | changed
    text = "{" + "".join(f"'{key}': {given[key]}, " for key in ("descr", "fortran_order", "shape")) + "}"
    version = given.get("version", 1 if len(text) < 65000 else 2)
    text = text.encode() + b" " * (given.get("padding", -(len(text) + 11) % 64)) + b"\n"
    length = given.get("length", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + (struct.pack("<H", length & 0xFFFF) if version == 1 else struct.pack("<I", length)) + text


def lying_shape(draw, shape):
    """The text of another one: sizes near to it, or such as no memory holds."""
    other = list(shape)
    if other:
        at = draw.randrange(len(other))
        other[at] = draw.choice((other[at] + 1, max(other[at] - 1, 0), 0, -1, *HUGE))
    return draw.choice((
        literal(other),
        literal([*shape, draw.choice((0, 1, 2, *HUGE))]),
        literal([1] * draw.choice((33, 64, 65, 1000)) + list(shape)),
        literal([2**32] * draw.choice((2, 3, 4))),
        literal([0, *HUGE[:2]]),
        "(" * draw.choice((2, 100, 5000)) + "3" + ")" * 100,
        "(1" + "0" * 300 + ",)",
        "()",
        "(,)",
        "None",
    ))


def lying_npy_header(draw, array):
    return npy_header(array, **draw.choice((
        {"shape": lying_shape(draw, array.shape)},
        {"shape": lying_shape(draw, array.shape)},
        {"descr": draw.choice(("'>f4'", "'|O'", "'<c8'", "'<U4000000000'", "'<f16'", "'f4'", "'<f4\\0'", "[('a', '<f4')]",
                               "'" + "f" * 70000 + "'"))},
        {"fortran_order": draw.choice(("True", "1", "None", "[" * 3000))},
        {"version": 2, "length": draw.choice((0, 1, 2**24, 2**31, 2**32 - 1))},
        {"version": draw.choice((0, 3, 4, 255))},
        {"version": 2, "padding": draw.choice((10_000, 1_000_000))},
    )))


def write_front(path, front, zeros, back=b""):
    with open(path, "wb") as file:
        file.write(front)
        file.truncate(len(front) + zeros)
        file.seek(0, 2)
        file.write(back)


def write_npy(path, array, header=None):
    write_front(path, (header or npy_header(array)) + array.front, array.zeros, array.back)


# ---- .npz ------------------------------------------------------------------------------------------------------------

STORED, DEFLATED = 0, 8


@dataclass
class Member:
    """`front`, zeros, `back`. What the archive says of it is true, but for `lies`: of both headers, or of the directory alone."""

    name: bytes
    front: bytes
    zeros: int = 0
    back: bytes = b""
    method: int = DEFLATED
    lies: dict = field(default_factory=dict)
    directory_lies: dict = field(default_factory=dict)

    @property
    def size(self):
        return len(self.front) + self.zeros + len(self.back)


def npz_member(name, array, method=DEFLATED, header=None):
    return Member(name.encode() + b".npy", (header or npy_header(array)) + array.front, array.zeros, array.back, method)


def deflated(front, zeros, back):
    """Every full block deflates to the same bytes."""
    squeeze = zlib.compressobj(9, zlib.DEFLATED, -15)
    parts = [squeeze.compress(front), squeeze.flush(zlib.Z_FULL_FLUSH)]
    if zeros >= BLOCK:
        parts.append((squeeze.compress(bytes(BLOCK)) + squeeze.flush(zlib.Z_FULL_FLUSH)) * (zeros // BLOCK))
    return b"".join([*parts, squeeze.compress(bytes(zeros % BLOCK) + back), squeeze.flush()])


def crc(front, zeros, back):
    value, block = zlib.crc32(front), bytes(BLOCK)
    for _ in range(zeros // BLOCK):
        value = zlib.crc32(block, value)
    return zlib.crc32(bytes(zeros % BLOCK) + back, value)


def common_header(said):
    """What a local header and a directory entry both have."""
    return struct.pack("<HHHHHIIIHH", said["version"], said["flags"], said["method"], 0, 0, said["crc"], said["deflated"], said["size"],
                       said["name_length"], len(said["extra"]))


def write_npz(path, members, comment=b"", end_lies=None):
    with open(path, "wb") as file:
        entries = []
        for member in members:
            parts = member.front, member.zeros, member.back
            data = deflated(*parts) if member.method == DEFLATED else member.front
            said = {"version": 20, "flags": 0, "method": member.method, "crc": crc(*parts), "size": member.size,
                    "deflated": len(data) if member.method == DEFLATED else member.size, "name_length": len(member.name), "extra": b"",
                    "offset": file.tell()} | member.lies
            file.write(b"PK\3\4" + common_header(said) + member.name + said["extra"] + data)
            if member.method == STORED:
                file.seek(member.zeros, 1)
                file.write(member.back)
            said |= member.directory_lies
            entries.append(b"PK\1\2\x14\0" + common_header(said) + struct.pack("<HHHII", 0, 0, 0, 0, said["offset"]) + member.name +
                           said["extra"])
        directory = b"".join(entries)
        end = {"count": len(entries) & 0xFFFF, "size": len(directory), "offset": file.tell()} | (end_lies or {})
        numbers = 0, 0, end["count"], end["count"], end["size"], end["offset"], len(comment)
        file.write(directory + b"PK\5\6" + struct.pack("<HHHHIIH", *numbers))
        file.write(comment)


def lie_in_archive(draw, members):
    """Changes what the archive says of one member, or adds members. Returns lies of the end record."""
    member = draw.choice(members)
    size = member.size
    number = draw.choice((0, 1, size - 1, size + 1, 2 * size & 0xFFFFFFFF, 2**31, 2**32 - 2, 2**32 - 1))
    wide = struct.pack("<HHQQQ", 1, 24, draw.choice(HUGE[:6]), draw.choice(HUGE[:6]), 0)
    lies = draw.choice(({"size": number}, {"size": number}, {"deflated": number}, {"crc": 0},
                        {"method": draw.choice((0, 8, 9, 12, 14, 99))},
                        {"flags": draw.choice((1, 8, 0x20, 0x40, 0x800, 0x2000))}, {"name_length": draw.choice((0, 65535))},
                        {"offset": draw.choice((0, 1, 2**31, 2**32 - 1))}, {"size": 2**32 - 1, "deflated": 2**32 - 1, "extra": wide},
                        {"extra": b"\1\0\xff\xff"}, {}))
    if draw.random() < 0.5:
        member.lies = lies
    else:
        member.directory_lies = lies
    if not lies:
        more = draw.choice((
            [Member(member.name, b"twice")],
            [Member(b"a" * 65000 + b".npy", member.front)],
            [Member(b"%d.npy" % i, member.front[:200]) for i in range(draw.choice((1000, 20000)))],
            [Member(b"inner.npz", b"PK\3\4" + member.front)],
            [Member(b"../up.npy", member.front), Member(b"\xff\n\x1b[1m.npy", member.front)],
        ))
        members += more
        return {}
    return draw.choice(({}, {}, {"count": draw.choice((0, 1, 65535))}, {"size": 2**32 - 1}, {"offset": draw.choice((0, 2**32 - 1))}))


# ---- .safetensors ----------------------------------------------------------------------------------------------------


def write_safetensors(path, arrays, change=None, length=None):
    """`change` takes the header as an object and gives it back, or its text."""
    header, at = {}, 0
    for name, array in arrays.items():
        header[name] = {"dtype": SAFETENSORS[array.type], "shape": list(array.shape), "data_offsets": [at, at + array.size]}
        at += array.size
    header = change(header) if change else header
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text) if length is None else length) + text)
        for array in arrays.values():
            file.write(array.front)
            file.seek(array.size - len(array.front), 1)
        file.truncate(file.tell())


def lying_safetensors_header(draw):
    """A change for `write_safetensors`."""
    number = draw.choice((-1, 0, 1, 0.5, *HUGE, 1e300))

    def change(header):
        entry = header[draw.choice(list(header))]
        key = draw.choice(("dtype", "shape", "data_offsets", "more", "deep", "twice", "long", "many", "metadata"))
        if key == "dtype":
            entry[key] = draw.choice(("F8_E4M3", "F4", "U64", "C64", "BF16", "F64", "", 4, None, "F" * 100_000))
        elif key in ("shape", "data_offsets"):
            entry[key][draw.randrange(len(entry[key]))] = number
        elif key == "more":
            entry["shape"] = draw.choice(([1] * 65, [2**32] * 2, [2**21] * 3, [0, number], [], number, [[]]))
        elif key == "deep":
            depth = draw.choice((100, 1000, 100_000, 1_000_000))
            return json.dumps(header).encode()[:-1] + b', "x": ' + b"[" * depth + b"]" * depth + b"}"
        elif key == "twice":
            return json.dumps(header).encode()[:-1] + b", " + json.dumps(header).encode()[1:]
        elif key == "long":
            header["k" * draw.choice((1000, 1_000_000))] = dict(entry)
        elif key == "many":
            header |= {f"t{i}": {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]} for i in range(draw.choice((1000, 100_000)))}
        else:
            header["__metadata__"] = draw.choice(({"a": 1}, {"a" * 1_000_000: "b"}, [], None, {str(i): "" for i in range(50_000)}))
        return header

    return change


# ---- any file --------------------------------------------------------------------------------------------------------


def spoil(path, draw, reach=4096):
    """Cuts the file, or changes, adds or takes a few of its first or last bytes."""
    size = path.stat().st_size
    near = draw.choice((draw.randrange(min(size, reach) + 1), size - draw.randrange(min(size, reach) + 1), draw.randrange(size + 1)))
    with open(path, "r+b") as file:
        match draw.choice(("cut", "flip", "flip", "noise", "add", "grow")):
            case "cut":
                file.truncate(near)
            case "flip":
                file.seek(near)
                old = file.read(1)
                file.seek(near)
                file.write(bytes([old[0] ^ 1 << draw.randrange(8)]) if old else b"x")
            case "noise":
                file.seek(near)
                file.write(draw.randbytes(draw.choice((2, 8, 100))))
            case "add":
                file.seek(0, 2)
                file.write(draw.choice((b"\0", b"PK\5\6" + bytes(18), b"x" * 1000)))
            case "grow":
                file.truncate(size + draw.choice((1, 4096, 1 << 30)))
