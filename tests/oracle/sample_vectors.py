"""Writes data/made-up-vectors.txt: 60 words × 16 numbers in GloVe's format, made up so that related words are near each other.

No text was read for them. Every theme is a direction of its own, of length 4; a word lies between its themes, with
some noise. The same seed gives the same file: python3 tests/oracle/sample_vectors.py
"""

import math
import random
from pathlib import Path

FILE = Path(__file__).resolve().parents[2] / "data" / "made-up-vectors.txt"
SIZE = 16
LENGTH = 4.0
NOISE = 0.25
THEMES = {
    "food": "dessert cake bread apple soup dinner sweet hungry",
    "deed": "run walk sing write read make",
    "food deed": "eat cook drink bake",
    "time": "short long day year first last now soon",
    "being": "is are was be",
    "being time": "life death young old",
    "crown": "king queen prince castle",
    "animal": "cat dog horse bird fish",
    "water": "river sea rain ship",
    "animal water": "duck whale",
    "number": "one two three",
    "small": "the a and of , .",
    "place": "Paris London",
}


def directions(names, draw):
    """Random directions, each at a right angle to those before."""
    found = {}
    for name in names:
        vector = [draw.gauss(0, 1) for _ in range(SIZE)]
        for other in found.values():
            along = sum(a * b for a, b in zip(vector, other))
            vector = [a - along * b for a, b in zip(vector, other)]
        length = math.sqrt(sum(a * a for a in vector))
        found[name] = [a / length for a in vector]
    return found


def lines():
    draw = random.Random(2024)
    themes = directions(sorted({theme for key in THEMES for theme in key.split()}), draw)
    for key, words in THEMES.items():
        own = [themes[theme] for theme in key.split()]
        center = [LENGTH * sum(column) / math.sqrt(len(own)) for column in zip(*own)]
        for word in words.split():
            yield word + "".join(f" {value + draw.gauss(0, NOISE):.4f}" for value in center)
    yield "<unk>" + "".join(f" {draw.gauss(0, NOISE):.4f}" for _ in range(SIZE))


if __name__ == "__main__":
    FILE.write_text("\n".join(lines()) + "\n", encoding="utf-8")
