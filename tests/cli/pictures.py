"""SVG as a test sees it: well-formed, plain SVG 1.1, and what it says."""

import shutil
import subprocess
import xml.etree.ElementTree as ElementTree

NAMESPACE = "{http://www.w3.org/2000/svg}"
# What pictures need of SVG 1.1 (Second Edition), and no more: nothing that runs, and nothing from elsewhere.
ATTRIBUTES = {
    "svg": {"version", "width", "height", "viewBox", "font-family", "fill"},
    "title": set(),
    "desc": set(),
    "defs": set(),
    "linearGradient": {"id", "x1", "y1", "x2", "y2"},
    "stop": {"offset", "stop-color"},
    "g": {"text-anchor", "direction", "fill", "stroke", "pointer-events", "shape-rendering", "transform"},
    "pattern": {"id", "width", "height", "patternUnits", "patternTransform"},
    "rect": {"x", "y", "width", "height", "fill", "stroke", "stroke-width"},
    "path": {"d", "stroke", "stroke-width", "stroke-opacity"},
    "text": {"x", "y", "font-size", "font-weight", "fill", "transform"},
}
PARENTS_OF_TITLE = {"svg", "g", "rect", "path"}


def parse(svg):
    """The root element, after a look at everything below it."""
    root = ElementTree.fromstring(svg)
    assert (root.tag, root.get("version")) == (NAMESPACE + "svg", "1.1")
    assert root.get("viewBox") == f"0 0 {root.get('width')} {root.get('height')}"
    for parent in root.iter():
        name = parent.tag.removeprefix(NAMESPACE)
        assert set(parent.attrib) <= ATTRIBUTES[name], parent.attrib
        for place, child in enumerate(parent):
            if child.tag == NAMESPACE + "title":
                assert name in PARENTS_OF_TITLE and place == 0
    if shutil.which("xmllint"):
        linted = subprocess.run(["xmllint", "--noout", "--nonet", "-"], input=svg, capture_output=True, check=False)
        assert (linted.returncode, linted.stderr) == (0, b"")
    return root


def texts(root):
    return [element.text or "" for element in root.iter(NAMESPACE + "text")]


def tooltips(root):
    """Of cells and lines."""
    return [element.text for parent in root.iter() if parent is not root for element in parent.findall(NAMESPACE + "title")]


def empty_cells(root):
    """The tooltips of those without a colour."""
    rects = [rect for rect in root.iter(NAMESPACE + "rect") if rect.get("fill") == "url(#blank)"]
    return [title.text for rect in rects for title in rect.findall(NAMESPACE + "title")]
