"""The Python side of bit_hash.hpp."""

import struct

MASK = 2**64 - 1


def bit_hash(values):
    result = 0
    values = [float(value) for value in values]
    for pattern in struct.unpack(f"<{len(values)}Q", struct.pack(f"<{len(values)}d", *values)):
        result = ((result << 23 | result >> 41) & MASK ^ pattern) * 0x9E3779B97F4A7C15 & MASK
    return result


def inputs(count, low, high):
    state = 0
    for _ in range(count):
        state = state + 0x9E3779B97F4A7C15 & MASK
        z = state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
        z ^= z >> 31
        yield low + (high - low) * ((z >> 11) * 2.0**-53)
