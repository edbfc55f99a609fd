#!/usr/bin/env python3
"""Prints src/attn/report/svg/letter_widths.hpp: how wide the printable ASCII characters are.

    tests/oracle/letter_widths.py > src/attn/report/svg/letter_widths.hpp
    tests/oracle/letter_widths.py --compare src/attn/report/svg/letter_widths.hpp     exit 0: the same; 1: not; 77: no matplotlib

A picture does not know the font that will show it. DejaVu Sans, which matplotlib brings, is (with Verdana, after whose proportions it was
drawn) the widest of the usual fonts without serifs; the few letters that others draw wider are thin, so none counts under a third of an em.
"""

from math import ceil
from pathlib import Path

from live import print_or_compare, skip

try:
    import matplotlib
    from matplotlib.ft2font import LOAD_NO_SCALE, FT2Font
except ImportError as missing:
    skip(missing)

LEAST = 1 / 3
ROW = 12


def header():
    font = FT2Font(str(Path(matplotlib.get_data_path()) / "fonts/ttf/DejaVuSans.ttf"))
    advance = lambda code: font.load_char(code, flags=LOAD_NO_SCALE).horiAdvance / font.units_per_EM
    widths = [ceil(1000 * max(advance(code), LEAST)) for code in range(0x20, 0x7F)]
    rows = [widths[i : i + ROW] for i in range(0, len(widths), ROW)]
    return "\n".join(
        [
            "// How wide letters are, from DejaVu Sans by tests/oracle/letter_widths.py. Generated: do not edit.",
            "#pragma once",
            "",
            "#include <array>",
            "#include <cstdint>",
            "",
            "namespace attn::report {",
            "",
            "// clang-format off",
            "/// Of the characters from U+0020 to U+007E, in thousandths of the font's size.",
            f"inline constexpr std::array<std::uint16_t, {len(widths)}> letter_widths{{",
            *("    " + ", ".join(map(str, row)) + "," for row in rows),
            "};",
            "// clang-format on",
            "",
            "} // namespace attn::report",
            "",
        ]
    )


if __name__ == "__main__":
    print_or_compare(header(), "the font says")
