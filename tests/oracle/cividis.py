#!/usr/bin/env python3
"""Prints src/attn/report/cividis.hpp: the colours of cividis, and for each the one of a terminal's 256 that stands for it.

    tests/oracle/cividis.py > src/attn/report/cividis.hpp
    tests/oracle/cividis.py --compare src/attn/report/cividis.hpp     exit 0: the same; 1: not; 77: no matplotlib

The map of Nuñez, Anderton and Renslow (2018) comes from matplotlib, rounded to 8 bits. Of xterm's colours, the cube (16 to 231) and the
greys (232 to 255), whose values no theme changes, those are taken that are nearest in Oklab over the whole map while the
luminance never falls: a heavier weight is never darker.
"""

from live import print_or_compare, skip

try:
    from matplotlib import colormaps
except ImportError as missing:
    skip(missing)

LEVELS = [0, 95, 135, 175, 215, 255]
CUBE = [(r, g, b) for r in LEVELS for g in LEVELS for b in LEVELS]
XTERM = CUBE + [(level,) * 3 for level in range(8, 248, 10)]
FIRST = 16  # xterm's number of XTERM[0]


def linear(level):
    share = level / 255
    return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4


def luminance(rgb):
    r, g, b = map(linear, rgb)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def oklab(rgb):
    r, g, b = map(linear, rgb)
    l = (0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b) ** (1 / 3)
    m = (0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b) ** (1 / 3)
    s = (0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b) ** (1 / 3)
    return (
        0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
        1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
        0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s,
    )


def distance(a, b):
    return sum((x - y) ** 2 for x, y in zip(a, b))


def terminal_colours(colours):
    """The cheapest path through XTERM in the order of luminance that never steps back."""
    order = sorted(range(len(XTERM)), key=lambda i: luminance(XTERM[i]))
    palette = [oklab(XTERM[i]) for i in order]
    cost, steps = [0.0] * len(order), []
    for colour in map(oklab, colours):
        best, came_from = 0, []
        for k in range(len(order)):
            best = k if cost[k] < cost[best] else best
            came_from.append(best)
        cost = [cost[came_from[k]] + distance(colour, palette[k]) for k in range(len(order))]
        steps.append(came_from)
    k, path = min(range(len(order)), key=cost.__getitem__), []
    for came_from in reversed(steps):
        path.append(FIRST + order[k])
        k = came_from[k]
    return path[::-1]


def header():
    colours = [tuple(round(255 * part) for part in colour) for colour in colormaps["cividis"].colors]
    stops = [f"Stop{{{{{r}, {g}, {b}}}, {x}}}," for (r, g, b), x in zip(colours, terminal_colours(colours))]
    rows = ["    " + " ".join(stops[i : i + 4]) for i in range(0, len(stops), 4)]
    return "\n".join(
        [
            "// The colours of cividis, from matplotlib by tests/oracle/cividis.py. Generated: do not edit.",
            "#pragma once",
            "",
            '#include "attn/report/colour_map.hpp"',
            "",
            "#include <array>",
            "",
            "namespace attn::report::cividis {",
            "",
            "struct Stop {",
            "    Rgb colour;",
            "    std::uint8_t xterm; ///< the colour of a terminal's 256 that stands for it",
            "};",
            "",
            "// clang-format off",
            f"inline constexpr std::array<Stop, {len(stops)}> stops{{",
            *rows,
            "};",
            "// clang-format on",
            "",
            "} // namespace attn::report::cividis",
            "",
        ]
    )


if __name__ == "__main__":
    print_or_compare(header(), "matplotlib gives")
