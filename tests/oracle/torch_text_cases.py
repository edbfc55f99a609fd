#!/usr/bin/env python3
"""Writes tests/unit/report/text/torch_text_cases.hpp: tensors, and what print(tensor) of PyTorch writes for them.

    tests/oracle/torch_text_cases.py [--compare FILE]

Exits 77 (skipped) without PyTorch 1.13, or 1 when ATTN_REQUIRE_LIVE=1 says that it must be there.
"""

import math

from live import print_or_compare, skip

try:
    import torch
except ImportError as missing:
    skip(missing)

INF, NAN = math.inf, math.nan
WEIGHTS = [0.0185, 0.0312, 0.1778, 0.6368, 0.1265, 0.0092]

# shape, numbers (from the first again where the shape has more), and what differs from float32 with 4 digits
CASES = [
    ((), [0.6368]),
    ((), [-3.0]),
    ((), [1e-5]),
    ((), [NAN]),
    ((3,), [0.5146, 0.9938, -0.2587]),
    ((3,), [1.0, -2.0, 30.0]),
    ((4,), [1.0, INF, -INF, NAN]),
    ((4,), [0.5, INF, -INF, NAN]),
    ((4,), [1e-5, INF, 0.0, -0.0]),
    ((3,), [0.0, -0.0, 0.0]),
    ((3,), [-0.0, 12.0, 5.0]),
    ((2,), [INF, NAN]),
    ((2,), [0.001, 1.0]),
    ((2,), [0.000999, 1.0]),
    ((2,), [9.999e-5, 0.05]),
    ((2,), [1.0, 1000.0]),
    ((2,), [1.0, 1001.0]),
    ((2,), [1e8, 1e8]),
    ((2,), [100000008.0, 1e8]),
    ((3,), [1e30, 1.0, -1e-30]),
    ((2, 3), WEIGHTS),
    ((2, 2, 3), WEIGHTS),
    ((2, 1, 2, 2), WEIGHTS),
    ((6, 6), WEIGHTS),
    ((2, 13), [0.0, 1.0]),
    ((1, 30), WEIGHTS),
    ((30,), [-INF, 0.25]),
    ((27,), [0.0]),
    ((0,), []),
    ((2, 0), []),
    ((0, 3, 2), []),
    ((2, 3), WEIGHTS, {"dtype": torch.float64}),
    ((8,), [0.125], {"dtype": torch.float64}),
    ((6,), [12345.678901], {"dtype": torch.float64}),
    ((5,), [12345.678901], {"dtype": torch.float64}),
    ((0,), [], {"dtype": torch.float64}),
    ((2, 0), [], {"dtype": torch.float64}),
    ((), [0.1], {"dtype": torch.float64, "digits": 17}),
    ((2, 2), WEIGHTS, {"digits": 0}),
    ((2, 2), WEIGHTS, {"digits": 2}),
    ((2, 2), WEIGHTS, {"digits": 8}),
    ((2,), [1e-5, 3.0], {"digits": 0}),
    ((1000,), [0.0]),
    ((1001,), [1.0, 2.5]),
    ((7, 143), [1.0, 2.0, 3.0]),
    ((6, 200), [0.25, 0.5, -0.75]),
    ((40, 40), [0.25, 0.5, -0.75, 8.0, 1.0, -1.0, 0.0]),
    ((2, 7, 80), [1e-9, 0.5, -0.75, 8.0, 1.0, -1.0, 0.0]),
    ((7, 1, 7, 21), [0.25, INF, -0.75, 8.0, 1.0]),
]


def number(value):
    return "nan" if math.isnan(value) else ("-" if value < 0 else "") + "inf" if math.isinf(value) else repr(value)


def case(shape, numbers, options=None):
    dtype, digits = (options or {}).get("dtype", torch.float32), (options or {}).get("digits", 4)
    count = math.prod(shape)
    tensor = torch.tensor([numbers[i % len(numbers)] for i in range(count)], dtype=dtype).reshape(shape)
    torch.set_printoptions(precision=digits)
    return (f"    {{{'true' if dtype is torch.float64 else 'false'}, {digits}, {{{', '.join(map(str, shape))}}}, "
            f"{{{', '.join(map(number, numbers))}}},\n     R\"({str(tensor)})\"}},\n")


def header():
    return (
        f"// What print(tensor) of PyTorch 1.13 writes, by tests/oracle/torch_text_cases.py. Generated: do not edit.\n"
        '#pragma once\n\n#include "attn/tensor/shape.hpp"\n\n#include <limits>\n#include <string_view>\n#include <vector>\n\n'
        "namespace attn::report {\n\n// clang-format off\n"
        "struct TorchTextCase {\n    bool float64;\n    int digits;\n    Shape shape;\n"
        "    std::vector<double> numbers; ///< from the first again where the shape has more\n    std::string_view text;\n};\n\n"
        "inline std::vector<TorchTextCase> torch_text_cases()\n{\n"
        "    constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();\n"
        "    return {\n" + "".join(case(*entry) for entry in CASES) + "    };\n}\n// clang-format on\n\n} // namespace attn::report\n"
    )


if not torch.__version__.startswith("1.13."):
    skip(f"PyTorch 1.13; this is {torch.__version__}")
print_or_compare(header(), f"PyTorch {torch.__version__} prints")
