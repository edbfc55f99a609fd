"""The include rules of the house: which room sees which, and who may use which library.

`violations(src)` reads every source below src/ and returns one line for each rule that is broken:

    src/attn/core/stages.cpp:7: core may not include io ("attn/io/json/recipe.hpp")

The data flows one way: cli → report, io → model → text, random, transformer → core → math → tensor.
"""

import re
from pathlib import Path

BASE = {"tensor", "math"}
SEES = {
    "tensor": set(),
    "math": {"tensor"},
    "text": BASE,
    "random": BASE,
    "core": BASE,
    "transformer": BASE | {"core"},
    "model": BASE | {"text", "random", "core", "transformer"},
    "io": BASE | {"model", "text", "transformer"},
    "report": BASE | {"model"},
    "cli": BASE | {"model", "io", "report"},
}

# The folders of a room, each with those of the same room that it may include. "" is what lies at the top of the room: elsewhere
# than in cli, all may include it, and it includes none of them; of cli it includes all, and the commands alone include it.
FOLDERS = {
    "transformer": {"architectures": set(), "layers": set(), "run": {"layers"}},
    "model": {
        "recipe": set(),
        "layer": {"recipe"},
        "run": {"recipe", "layer"},
        "attend": {"recipe", "layer", "run"},
        "check": {"recipe", "layer", "run"},
        "explain": {"recipe", "layer", "run", "check"},
        "diagnose": {"recipe", "layer", "run", "attend", "check"},
        "trained": {"recipe", "layer", "run", "check", "explain"},
    },
    "io": {
        "texts": set(),
        "json": {"texts"},
        "tensors": {"json"},
        "words": {"tensors"},
        "models": {"json", "tensors"},
        "arrays": {"json", "tensors", "texts"},
    },
    "text": {"pieces": set()},
    "report": {"text": set(), "json": {"text"}, "svg": {"text"}, "html": {"json", "svg"}},
    "cli": {
        "system": set(),
        "options": {"system"},
        "input": {"system", "options"},
        "output": {"system", "options"},
        "commands": {"", "system", "options", "input", "output"},
    },
}

# Folder of the include → rooms that may use the library. Who is not named here is not used at all.
LIBRARIES = {
    "CLI": {"cli"},
    "spdlog": {"cli"},
    "nlohmann": {"io"},
    "openssl": {"io"},
    "sha2.h": {"io"},
    "zlib.h": {"io"},
    "Eigen": {"tensor", "core", "model"},
    "pcre2.h": {"text"},
    "utf8proc.h": {"tensor", "text", "report"},
    "fmt": set(SEES),
    "arm_neon.h": {"core"},  # the instruction sets of the tiled path
    "cpuid.h": {"core"},
    "immintrin.h": {"core"},
}

# The library never prints, exits, logs, opens a file, or reads argv, the environment or the clock.
CLI_HEADERS = {
    "chrono", "csignal", "cstdio", "ctime", "filesystem", "fstream", "iostream", "print", "syncstream",
}
CLI_CALLS = re.compile(
    r"(?<![\w.>])(?:std::|::)?(?P<name>"
    r"_?exit|_Exit|quick_exit|abort|system"
    r"|getenv|secure_getenv|setenv|putenv|environ"
    r"|time|clock|clock_gettime|gettimeofday|localtime|gmtime"
    r"|printf|fprintf|vprintf|vfprintf|puts|fputs|putchar|fputc|fwrite|fflush|perror|fopen|freopen"
    r"|setlocale)\s*\("
    r"|\b(?P<stream>std::(?:cout|cerr|clog|cin|random_device|locale::global)|fmt::print|fmt::output_file)\b"
)

INCLUDE = re.compile(r'^\s*#\s*include\s*(?P<quote>["<])(?P<path>[^">]+)[">]')
COMMENT_OR_TEXT = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<tag>[^(\s]*)\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL
)
SOURCES = {".hpp", ".cpp", ".h", ".inc"}


def room_of(path):
    """'core' for attn/core/stages.cpp, 'cli' for cli/main.cpp, None for what lies in no room."""
    parts = Path(path).parts
    if parts[0] == "cli":
        return "cli"
    return parts[1] if parts[0] == "attn" and len(parts) > 2 and parts[1] in SEES else None


def folder_of(path):
    """'run' for attn/model/run/run.cpp, '' for what lies in no folder of its room."""
    parts = Path(path).parts[1 if Path(path).parts[0] == "cli" else 2 :]
    return parts[0] if len(parts) > 1 else ""


def without_comments_and_texts(code):
    """The code with comments and string contents blanked out, line numbers unchanged."""
    return COMMENT_OR_TEXT.sub(lambda match: "\n" * match[0].count("\n") or " ", code)


def folder_violation(room, folder, path):
    other = folder_of(path)
    if room not in FOLDERS or other == folder:
        return None
    if room != "cli":
        allowed = folder != "" and (other == "" or other in FOLDERS[room][folder])
    else:
        allowed = folder == "" or other in FOLDERS[room][folder]
    here, there = (f"{room}/{name}".rstrip("/") for name in (folder, other))
    return None if allowed else f'{here} may not include {there} ("{path}")'


def include_violation(room, folder, quote, path):
    if quote == '"':
        other = room_of(path)
        if other is None:
            return f'"{path}" names no room (write the path from src/)'
        if other != room and other not in SEES[room]:
            return f'{room} may not include {other} ("{path}")'
        return folder_violation(room, folder, path) if other == room else None
    first = path.split("/")[0]
    if first in LIBRARIES:
        return None if room in LIBRARIES[first] else f"{room} may not use {first} (<{path}>)"
    if room == "cli":
        return None
    if path in CLI_HEADERS:
        return f"{room} may not include <{path}>: the library does not print, exit, open files or read the clock"
    if "/" in path or "." in path:
        return f"{room} may not include <{path}>: neither C++'s own nor a library we use"
    return None


def violations_of_file(src, file):
    name = file.relative_to(src)
    room = room_of(name)
    if room is None:
        return [f"src/{name}:1: lies in no room"]
    found = []
    code = file.read_text(encoding="utf-8")
    for number, line in enumerate(code.splitlines(), 1):
        match = INCLUDE.match(line)
        problem = match and include_violation(room, folder_of(name), match["quote"], match["path"])
        if problem:
            found.append(f"src/{name}:{number}: {problem}")
    if room != "cli":
        for number, line in enumerate(without_comments_and_texts(code).splitlines(), 1):
            for match in CLI_CALLS.finditer(line):
                found.append(f"src/{name}:{number}: {room} may not call {match['name'] or match['stream']}")
    return found


def circles(src, files):
    """Headers that include themselves through others."""
    includes = {
        str(file.relative_to(src)): [
            match["path"] for match in map(INCLUDE.match, file.read_text(encoding="utf-8").splitlines()) if match
        ]
        for file in files
    }

    def reaches(start, here, seen):
        for there in includes.get(here, []):
            if there == start:
                return True
            if there not in seen:
                seen.add(there)
                if reaches(start, there, seen):
                    return True
        return False

    return [f"src/{name}:1: includes itself in a circle" for name in includes if reaches(name, name, set())]


def violations(src):
    src = Path(src)
    files = sorted(file for file in src.rglob("*") if file.suffix in SOURCES)
    return [line for file in files for line in violations_of_file(src, file)] + circles(src, files)
