"""Writes .gguf files with struct alone, and quantised blocks of random bits beside the numbers they stand for.

    save(path, {"general.architecture": "llama", "llama.block_count": 2}, {"output_norm.weight": array})
    blocks, numbers = random_blocks("Q4_K", rows=8, columns=256, seed=1)
    save(path, metadata, {"blk.0.attn_q.weight": Blocks("Q4_K", (8, 256), blocks)})
"""

import struct
from dataclasses import dataclass

import tensors

numpy = tensors.numpy

TYPES = {"F32": 0, "F16": 1, "Q4_0": 2, "Q4_1": 3, "Q5_0": 6, "Q5_1": 7, "Q8_0": 8, "Q2_K": 10, "Q4_K": 12, "Q5_K": 13, "Q6_K": 14, "I32": 26, "BF16": 30}
ELEMENTS = {"float32": "F32", "float16": "F16"}
U32, F32, BOOL, TEXT, LIST = 4, 6, 7, 8, 9


@dataclass
class Blocks:
    """A tensor of another type than the array's: its bytes."""

    type: str
    shape: tuple
    data: bytes


def text(value):
    data = value if isinstance(value, bytes) else value.encode()
    return struct.pack("<Q", len(data)) + data


def typed(value):
    """The kind of a value, and its bytes."""
    if isinstance(value, bool):
        return BOOL, struct.pack("<B", value)
    if isinstance(value, int):
        return U32, struct.pack("<I", value)
    if isinstance(value, float):
        return F32, struct.pack("<f", value)
    if isinstance(value, str | bytes):
        return TEXT, text(value)
    elements = [typed(each) for each in value]
    kind = elements[0][0] if elements else U32
    return LIST, struct.pack("<IQ", kind, len(elements)) + b"".join(data for _, data in elements)


def entry(key, value):
    kind, data = typed(value)
    return text(key) + struct.pack("<I", kind) + data


def as_blocks(array):
    return array if isinstance(array, Blocks) else Blocks(ELEMENTS[array.dtype.name], array.shape, array.tobytes())


def save(path, metadata, arrays, version=3):
    path.write_bytes(gguf_bytes(metadata, arrays, version))
    return path


def gguf_bytes(metadata, arrays, version=3):
    alignment = metadata.get("general.alignment", 32)
    alignment = alignment if isinstance(alignment, int) else 32
    table, data = b"", b""
    for name, array in arrays.items():
        blocks = as_blocks(array)
        data += bytes(-len(data) % alignment)
        table += text(name) + struct.pack("<I", len(blocks.shape)) + struct.pack(f"<{len(blocks.shape)}Q", *blocks.shape[::-1])
        table += struct.pack("<IQ", TYPES[blocks.type], len(data))
        data += blocks.data
    head = b"GGUF" + struct.pack("<IQQ", version, len(arrays), len(metadata)) + b"".join(entry(*each) for each in metadata.items()) + table
    return head + bytes(-len(head) % alignment) + data


def bfloat16(array):
    """The array rounded towards zero, and its upper halves as a tensor."""
    bits = array.astype("float32").view("uint32") & 0xFFFF0000
    return bits.view("float32"), Blocks("BF16", array.shape, (bits >> 16).astype("uint16").tobytes())


# ---- quantised blocks, the naive way ---------------------------------------------------------------------------------

# Bytes of a block, where its float16 numbers stand, and how many numbers it has.
FORMATS = {"Q8_0": (34, [0], 32), "Q4_0": (18, [0], 32), "Q4_1": (20, [0, 2], 32), "Q5_0": (22, [0], 32), "Q5_1": (24, [0, 2], 32),
           "Q4_K": (144, [0, 2], 256), "Q5_K": (176, [0, 2], 256), "Q6_K": (210, [208], 256)}


def half(block, at):
    return numpy.frombuffer(block[at : at + 2], "float16").astype("float32")[0]


def signed(byte):
    return byte - 256 if byte > 127 else byte


def small_numbers(name, block):
    """Blocks of 32."""
    f = numpy.float32
    d = half(block, 0)
    if name == "Q8_0":
        return [d * f(signed(byte)) for byte in block[2:]]
    m = half(block, 2) if name.endswith("_1") else None
    rest = block[2 if m is None else 4 :]
    high = 0
    if name.startswith("Q5"):
        high, rest = int.from_bytes(rest[:4], "little"), rest[4:]
    four = [byte & 15 for byte in rest] + [byte >> 4 for byte in rest]
    q = [low | (high >> i & 1) << 4 for i, low in enumerate(four)]
    return [d * f(each) + m for each in q] if m is not None else [d * f(each - (16 if name == "Q5_0" else 8)) for each in q]


def scale_and_offset(twelve, part):
    """Six bits each, of eight parts."""
    if part < 4:
        return twelve[part] & 63, twelve[part + 4] & 63
    return twelve[part + 4] & 15 | twelve[part - 4] >> 6 << 4, twelve[part + 4] >> 4 | twelve[part] >> 6 << 4


def large_numbers(name, block):
    """Blocks of 256."""
    f = numpy.float32
    numbers = []
    if name == "Q6_K":
        low, high, scales, d = block[:128], block[128:192], block[192:208], half(block, 208)
        for i in range(256):
            n, within = divmod(i, 128)
            byte = low[64 * n + within % 64]
            q = (byte & 15 if within < 64 else byte >> 4) | (high[32 * n + within % 32] >> 2 * (within // 32) & 3) << 4
            numbers.append(d * f(signed(scales[i // 16])) * f(q - 32))
        return numbers
    d, m, twelve = half(block, 0), half(block, 2), block[4:16]
    high, quarters = (block[16:48], block[48:]) if name == "Q5_K" else (bytes(32), block[16:])
    for i in range(256):
        part, within = divmod(i, 32)
        byte = quarters[32 * (part // 2) + within]
        q = (byte >> 4 if part % 2 else byte & 15) | (high[within] >> part & 1) << 4
        s, c = scale_and_offset(twelve, part)
        numbers.append(d * f(s) * f(q) - m * f(c))
    return numbers


def numbers_of(name, data):
    size, _, count = FORMATS[name]
    of_block = small_numbers if count == 32 else large_numbers
    return numpy.array([of_block(name, data[at : at + size]) for at in range(0, len(data), size)], "float32")


def random_blocks(name, rows, columns, seed, scale=0.01):
    """A tensor of random bits, whose float16 numbers are near `scale`, and its numbers."""
    size, halves, count = FORMATS[name]
    draw = numpy.random.default_rng(seed)
    blocks = draw.integers(0, 256, (rows * columns // count, size), "uint8")
    for at in halves:
        blocks[:, at : at + 2] = (scale * (1 + draw.random(len(blocks)))).astype("float16").view("uint8").reshape(-1, 2)
    data = blocks.tobytes()
    return Blocks(name, (rows, columns), data), numbers_of(name, data).reshape(rows, columns)
