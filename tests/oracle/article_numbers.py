"""Puts the numbers that articles print into the recipes raschka-2023 and owen-2025.

    article_numbers.py FOLDER

FOLDER holds raschka-2023.json and owen-2025.json, transcribed from the articles: "tokens", "vocabulary", "token_ids" and
arrays of strings with the digits as printed. Where an article prints the row of one query alone, "query_position" says which.
"""

import json
import sys
from pathlib import Path

import recipe_file


def arrays_of(transcript):
    position = transcript.get("query_position")
    arrays = {name: transcript[name] for name in ("tokens", "vocabulary", "token_ids", "embeddings")}
    for name, heads in (("scores", True), ("weights", True), ("context", False)):
        if name not in transcript:
            continue
        values = transcript[name] if position is None else {position: transcript[name]}
        arrays[name] = [values] if heads else values
    return arrays


def main(folder):
    for name in ("raschka-2023", "owen-2025"):
        arrays = arrays_of(json.loads((Path(folder) / f"{name}.json").read_text(encoding="utf-8")))
        recipe = recipe_file.read(name)
        recipe_file.fill(recipe, lambda entry: recipe_file.part(arrays[entry["array"]], entry.get("at", [])))
        recipe_file.write(name, recipe)


if __name__ == "__main__":
    main(*sys.argv[1:])
