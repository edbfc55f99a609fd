"""Writes models of SentencePiece (sentencepiece_model.proto) without any package.

    path.write_bytes(model([("<unk>", 0, UNKNOWN), ("▁the", -1.5), ("e", -3)], BPE, add_dummy_prefix=False))
"""

import struct

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
UNIGRAM, BPE, WORD, CHAR = range(1, 5)
TRAINER = {"model_type": 3, "treat_whitespace_as_suffix": 24, "byte_fallback": 35}
NORMALIZER = {"precompiled_charsmap": 2, "add_dummy_prefix": 3, "remove_extra_whitespaces": 4, "escape_whitespaces": 5}


def varint(value):
    data = b""
    while value > 0x7F:
        data += bytes([value & 0x7F | 0x80])
        value >>= 7
    return data + bytes([value])


def field(number, value):
    """A text or message, a float32, or a varint."""
    if isinstance(value, str | bytes):
        data = value.encode() if isinstance(value, str) else value
        return varint(number << 3 | 2) + varint(len(data)) + data
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    return varint(number << 3) + varint(int(value))


def piece(text, score=0, kind=None):
    return field(1, field(1, text) + field(2, float(score)) + (b"" if kind is None else field(3, kind)))


def model(pieces, model_type=UNIGRAM, **settings):
    """`pieces`: (text, score) or (text, score, type)."""
    settings["model_type"] = model_type
    specs = [b"".join(field(numbers[name], value) for name, value in settings.items() if name in numbers) for numbers in (TRAINER, NORMALIZER)]
    return b"".join(piece(*each) for each in pieces) + field(2, specs[0]) + field(3, specs[1])


def bytes_pieces():
    return [(f"<0x{byte:02X}>", 0, BYTE) for byte in range(256)]
