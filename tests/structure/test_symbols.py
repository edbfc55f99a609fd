"""What comes out of the files that are compiled for one instruction set: their table of kernels and nothing else.

An inline function or a template instance is a weak symbol: the linker keeps one copy for the whole program, and if it were that of
kernels_avx512.cpp, the program would end on every older processor.
"""

import os
import re
import subprocess

import pytest

LIBRARY = os.environ["ATTN_LIBRARY"]
ARCHITECTURE = subprocess.run(["uname", "-m"], capture_output=True, text=True, check=True).stdout.strip()
# Of each file that is compiled for one instruction set, the table that comes out of it.
TILES = {"x86_64": ["avx2", "avx512", "avx512_bf16"], "aarch64": ["neon"]}[ARCHITECTURE]
FUSED = {"x86_64": ["avx2_fused", "avx512_fused"], "aarch64": []}[ARCHITECTURE]
UNFUSED = ["baseline", *{"x86_64": ["avx2", "avx512"], "aarch64": []}[ARCHITECTURE]]
TABLES = {
    **{f"kernels_{variant}.cpp.o": f"attn::core::{variant}_kernels" for variant in TILES},
    **{f"layer_kernels_{variant}.cpp.o": f"attn::transformer::{variant}_layer_kernels" for variant in [*UNFUSED, *FUSED]},
    **{f"portable_kernels_{variant}.cpp.o": f"attn::core::{variant}_portable_kernels" for variant in UNFUSED},
}


def symbols_for_others(file):
    """{member: {(type, name)}} of the defined symbols that the linker sees."""
    found = {}
    lines = subprocess.run(["nm", "-A", "-C", "--defined-only", "--extern-only", file], capture_output=True, text=True, check=True)
    for line in lines.stdout.splitlines():
        match = re.fullmatch(r"(?:.*:)?([^:]+\.o):\s*[0-9a-f]* (\S) (.*)", line)
        assert match, line
        found.setdefault(match[1], set()).add((match[2], match[3]))
    return found


def strangers(symbols, own):
    """Those that are neither the table nor the sanitizers' own."""
    return {name for _, name in symbols if name != own and not name.startswith(("__asan", "__odr_asan", "__ubsan", "__tsan"))}


@pytest.mark.parametrize("file", TABLES)
def test_a_variant_gives_its_table_and_nothing_else(file):
    symbols = symbols_for_others(LIBRARY)[file]
    assert any(name == TABLES[file] for _, name in symbols)
    assert strangers(symbols, TABLES[file]) == set()


def test_no_other_file_is_compiled_for_one_instruction_set():
    members = [name for name in symbols_for_others(LIBRARY) if re.match("((layer|portable)_)?kernels_", name)]
    assert sorted(members) == sorted(TABLES)


@pytest.mark.parametrize("planted", ["inline int twice(int x) { return 2 * x; }", "template <typename T> T twice(T x) { return 2 * x; }"])
def test_a_weak_symbol_would_be_seen(tmp_path, planted):
    source = tmp_path / "kernels_planted.cpp"
    source.write_text(f"{planted}\nint use(int x) {{ int (*f)(int) = twice; return f(x); }}\n", encoding="utf-8")
    subprocess.run(["c++", "-c", "-O0", source, "-o", tmp_path / "kernels_planted.cpp.o"], check=True)
    symbols = symbols_for_others(tmp_path / "kernels_planted.cpp.o")
    (found,) = symbols.values()
    assert {kind for kind, name in found if "twice" in name} == {"W"}
    assert strangers(found, "its table") >= {name for _, name in found if "twice" in name}
