"""Reading and writing data/recipes/*.json in one layout, so that a script changes nothing but the numbers.

A list of numbers or strings stands on one line, a longer structure opens up level by level.
"""

import json
from pathlib import Path

RECIPES = Path(__file__).resolve().parents[2] / "data" / "recipes"


def read(name):
    return json.loads((RECIPES / f"{name}.json").read_text(encoding="utf-8"))


def write(name, recipe):
    (RECIPES / f"{name}.json").write_text(layout(recipe) + "\n", encoding="utf-8")


def flat(value):
    return json.dumps(value, ensure_ascii=False)


def layout(value, indent=0):
    line = flat(value)
    nested = isinstance(value, list) and any(isinstance(item, (list, dict)) for item in value)
    if len(line) + indent <= 110 or (isinstance(value, list) and not nested):
        return line
    pad = " " * (indent + 2)
    if isinstance(value, list):
        return "[\n" + ",\n".join(pad + layout(item, indent + 2) for item in value) + "\n" + " " * indent + "]"
    if isinstance(value, dict):
        rows = (f"{pad}{flat(key)}: {layout(item, indent + 2)}" for key, item in value.items())
        return "{\n" + ",\n".join(rows) + "\n" + " " * indent + "}"
    return line


def part(values, at):
    """values[at[0]][at[1]]…, where None stands for all."""
    if not at:
        return values
    if at[0] is None:
        return [part(row, at[1:]) for row in values]
    return part(values[at[0]], at[1:])


def fill(recipe, part_for):
    """Gives each published entry part_for(entry) as its "values", but for those that state a shape alone."""
    for entry in recipe["published"]:
        if "shape" in entry:
            continue
        tolerances = {key: entry.pop(key) for key in ("units", "rtol", "atol", "dtype") if key in entry}
        entry["values"] = part_for({**entry, **tolerances})
        entry.update(tolerances)
