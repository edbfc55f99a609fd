"""Random sentences and settings for pages, and numbers as the page has them."""

import os
import random
import struct

WORDS = "the cat sat on a mat and it was the best of times Straße naïve don't x2 été القط שלום 汉字 now then who what".split()
CASES = int(os.environ.get("ATTN_PAGE_CASES", "8"))  # of each test; 300 for a thorough run


def settings(number, attention=True):
    """A sentence of repeated and foreign words, and options that go together."""
    draw = random.Random(number)
    options = ["--seed", draw.randrange(10**6)]
    heads = draw.choice([1, 1, 2, 4])
    options += ["--heads", heads, "--embed-dim", 8 * heads, *draw.choice([[], ["--kv-heads", 1]]), *draw.choice([[], ["--d-k", 2 * draw.randrange(1, 20)]])]
    options += draw.choice([[], [], ["--init", draw.choice(["normal", "xavier", "linear"])]])
    options += draw.choice([[], [], ["--dtype", "float64"], ["--set", "rounding=step"]])
    options += draw.choice([[], [], ["--positions", draw.choice(["rope", "alibi", "sinusoidal"])]])
    if attention:
        options += draw.choice([[], ["--causal"]]) + draw.choice([[], [], ["--window", f"{draw.randrange(3)},{draw.randrange(3)}"]])
        options += draw.choice([[], [], ["--scale", draw.choice(["0.3", "none", "2"])]])
        options += draw.choice([[], [], [], ["--softcap", draw.choice(["3", "20"])]])
        options += draw.choice([[], [], [], [], ["--score", draw.choice(["dot", "cosine", "general"])]])
        options += draw.choice([[], [], [], [], ["--hide", "0"]])
    words = [draw.choice(WORDS) for _ in range(draw.randrange(1, 12))]
    if draw.random() < 0.2:
        options += ["--cross", " ".join(draw.choice(WORDS) for _ in range(draw.randrange(1, 9)))]
    return " ".join(words), [str(option) for option in options]


def single(number):
    """The nearest float32."""
    return None if number is None else struct.unpack("f", struct.pack("f", number))[0]
