"""Fails when an include breaks the rules of the house, and when the rules fail to notice one that does."""

import shutil
from pathlib import Path

import pytest

from include_rules import SEES, violations

SRC = Path(__file__).parents[2] / "src"


def test_every_include_keeps_the_rules():
    assert violations(SRC) == []


def test_a_violation_planted_in_the_real_sources_is_seen(tmp_path):
    src = Path(shutil.copytree(SRC, tmp_path / "src"))
    with (src / "attn/core/stages.cpp").open("a", encoding="utf-8") as file:
        file.write('#include "attn/io/recipe.hpp"\n')
    assert [line.split(": ")[1] for line in violations(src)] == ['core may not include io ("attn/io/recipe.hpp")']


def test_the_rules_see_the_sources():
    """An empty folder keeps every rule; this one is not empty."""
    assert len(list(SRC.rglob("*.hpp"))) > 20


@pytest.fixture
def src(tmp_path):
    """A small house: every room with one header."""
    for room in SEES:
        folder = tmp_path / ("cli" if room == "cli" else f"attn/{room}")
        folder.mkdir(parents=True)
        (folder / "any.hpp").write_text("#include <vector>\n", encoding="utf-8")
    assert violations(tmp_path) == []
    return tmp_path


def plant(src, room, code):
    """Adds a file with `code` to a room; returns what the rules say about it."""
    folder = src / ("cli" if room == "cli" else f"attn/{room}")
    planted = folder / "planted.cpp"
    planted.write_text(code + "\n", encoding="utf-8")
    found = [line for line in violations(src) if "/planted.cpp:" in line]
    planted.unlink()
    return found


FORBIDDEN_ROOMS = [(room, other) for room in SEES for other in SEES if other != room and other not in SEES[room]]


@pytest.mark.parametrize("room, other", FORBIDDEN_ROOMS)
def test_a_room_that_may_not_be_seen(src, room, other):
    path = "cli/any.hpp" if other == "cli" else f"attn/{other}/any.hpp"
    assert plant(src, room, f'#include "{path}"') == [
        f"src/{'cli' if room == 'cli' else 'attn/' + room}/planted.cpp:1: {room} may not include {other} (\"{path}\")"
    ]


@pytest.mark.parametrize("room, other", [(room, other) for room in SEES for other in SEES[room]])
def test_a_room_that_may_be_seen(src, room, other):
    assert plant(src, room, f'#include "attn/{other}/any.hpp"') == []


def test_the_arrows_are_those_of_the_house():
    """The two tests above follow SEES, so the sentences of the house are spelled out here once more."""
    assert SEES["cli"] >= {"report", "io", "model"} and SEES["cli"].isdisjoint({"text", "random", "core"})
    assert SEES["model"] >= {"text", "random", "core"} and SEES["model"].isdisjoint({"io", "report", "cli"})
    for room in ("io", "report"):
        assert SEES[room] == {"model", "tensor", "math"}
    for room in ("text", "random", "core"):
        assert SEES[room] == {"tensor", "math"}
    assert SEES["tensor"] == set() and SEES["math"] == {"tensor"}


LIBRARY_USE = [
    ("CLI/CLI.hpp", {"cli"}),
    ("spdlog/spdlog.h", {"cli"}),
    ("nlohmann/json.hpp", {"io"}),
    ("openssl/sha.h", {"io"}),
    ("Eigen/Core", {"tensor", "core", "model"}),
    ("utf8proc.h", {"text", "report"}),
    ("arm_neon.h", {"core"}),
    ("cpuid.h", {"core"}),
    ("immintrin.h", {"core"}),
]


@pytest.mark.parametrize("header, users", LIBRARY_USE)
@pytest.mark.parametrize("room", SEES)
def test_a_library_stays_in_its_rooms(src, room, header, users):
    assert bool(plant(src, room, f"#include <{header}>")) == (room not in users)


LIBRARY_ROOMS = [room for room in SEES if room != "cli"]


@pytest.mark.parametrize("header", ["iostream", "cstdio", "fstream", "filesystem", "chrono", "ctime", "stdio.h", "unistd.h",
                                    "sys/mman.h", "boost/any.hpp"])
@pytest.mark.parametrize("room", LIBRARY_ROOMS)
def test_a_header_that_the_library_may_not_use(src, room, header):
    assert len(plant(src, room, f"#  include  <{header}>")) == 1


@pytest.mark.parametrize(
    "call",
    ["std::exit(1);", "exit (1);", "std::abort();", 'std::getenv("HOME");', 'getenv("HOME");', "std::time(nullptr);",
     "::time(nullptr);", 'printf("x");', 'std::fputs("x", f);', 'std::cout << "x";', 'std::cerr << "x";', 'fmt::print("x");',
     "std::random_device device;", 'std::setlocale(0, "");'],
)
def test_a_call_that_the_library_may_not_make(src, call):
    assert len(plant(src, "core", f"void f() {{ {call} }}")) == 1
    assert plant(src, "cli", f"void f() {{ {call} }}") == []


@pytest.mark.parametrize(
    "line",
    ["// exit(1) would end it", "/* std::cout\n exit(1) */", 'auto s = "exit(1)";', "auto e = math::exp(x);",
     "auto t = clock.time();", "auto t = run_time(3);", "auto r = uptime (3);"],
)
def test_what_only_looks_like_a_call(src, line):
    assert plant(src, "core", line) == []


def test_a_path_that_is_not_written_from_src(src):
    assert len(plant(src, "core", '#include "stages.hpp"')) == 1
    assert len(plant(src, "core", '#include "../io/recipe.hpp"')) == 1


def test_a_file_outside_every_room(src):
    (src / "attn" / "helper.cpp").write_text("", encoding="utf-8")
    (src / "attn" / "misc").mkdir()
    (src / "attn" / "misc" / "helper.cpp").write_text("", encoding="utf-8")
    assert violations(src) == ["src/attn/helper.cpp:1: lies in no room", "src/attn/misc/helper.cpp:1: lies in no room"]


def test_headers_in_a_circle(src):
    (src / "attn/core/one.hpp").write_text('#include "attn/core/two.hpp"\n', encoding="utf-8")
    (src / "attn/core/two.hpp").write_text('#include "attn/core/one.hpp"\n', encoding="utf-8")
    assert violations(src) == [
        "src/attn/core/one.hpp:1: includes itself in a circle",
        "src/attn/core/two.hpp:1: includes itself in a circle",
    ]
