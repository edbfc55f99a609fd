"""attn.html: a page that attn-cli wrote, with the form of data/web and the program as WebAssembly in it.

    attn-cli run "Life is short, eat dessert first" --heads 4 --show all -o page.html
    python3 src/web/attn_html.py page.html attn-cli.wasm attn.html

The page shows that result until the program is unpacked. Its scripts and styles are those of the page and of the form, each with its
hash; nothing else runs, and nothing is asked of any network. Needs zopfli.
"""

import base64
import hashlib
import re
import subprocess
import sys
from pathlib import Path

PARTS = Path(__file__).resolve().parents[2] / "data" / "web"


def hash_of(text):
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def replaced(text, old, new):
    """`new` for `old`, which stands in the page once."""
    if text.count(old) != 1:
        raise SystemExit(f"the page has {old!r} {text.count(old)} times; once is needed")
    return text.replace(old, new)


def text_of(data):
    """13 bits in two letters of 91, from the lowest on; "<", which could end a script, is "~". bytesOf of form.js reads it."""
    letters = [chr(35 + digit).replace("<", "~") for digit in range(91)]
    pairs = [letters[value % 91] + letters[value // 91] for value in range(1 << 13)]
    text = []
    for start in range(0, len(data), 13):  # 8 pairs
        part = data[start : start + 13]
        bits = int.from_bytes(part, "little")
        text += [pairs[bits >> shift & 0x1FFF] for shift in range(0, 8 * len(part), 13)]
    return "".join(text)


def gzip_of(file):
    """In gzip's format, by zopfli, a twentieth smaller than by gzip."""
    return subprocess.run(["zopfli", "-c", file], capture_output=True, check=True).stdout


def assembled(page, wasm):
    form, style, script, program = (PARTS.joinpath(name).read_text() for name in ("form.html", "form.css", "form.js", "program.js"))
    style = re.search("<style>(.*)</style>", page, re.DOTALL)[1] + style
    own = re.search("<script>(.*)</script>", page, re.DOTALL)[1]
    script = f"{own}const loadProgram = (() => {{\n{program}\nreturn loadProgram;\n}})();\n{script}"
    packed = gzip_of(wasm)
    head, rest = page.split("<style>")
    rest = rest.split("</style>")[1].rsplit("<script>", 1)[0]
    policy = f"style-src {hash_of(style)}; script-src {hash_of(script)} 'wasm-unsafe-eval'"
    head = re.sub("style-src '[^']*'; script-src '[^']*'", lambda _: policy, head)
    rest = replaced(rest, "<main>", form + "<main>")
    return f'{head}<style>{style}</style>{rest}<script type="text/plain" id="program" data-size="{len(packed)}">{text_of(packed)}</script>\n<script>{script}</script>\n</body>\n</html>\n'


if __name__ == "__main__":
    page, wasm, attn_html = map(Path, sys.argv[1:])
    attn_html.write_text(assembled(page.read_text(), wasm))
