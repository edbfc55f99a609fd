"""Attention in plain NumPy float64, step by step, for random cases. mistakes.py replaces its steps, one mistake at a time.

B batch, T queries, S keys of all, P of them cached, H heads, Hk key/value heads, d and dv sizes of a head.
"""
import numpy as np

INF = np.inf


def rounded(x: np.ndarray, type: str) -> np.ndarray:
    """To the nearest of that type, ties to even, back in float64."""
    if type == "float16":
        return x.astype("f2").astype(float)
    fraction, exponent = np.frexp(x)
    bits = {"bfloat16": 8, "tf32": 11, "float32": 24}[type]
    return np.ldexp(np.rint(np.ldexp(fraction, bits)), exponent - bits).astype("f4").astype(float)  # infinite beyond its range


class Case:
    """Shapes, options and tensors, drawn from a seed; long ones have what tiles and pages of every size need."""

    def __init__(self, seed: int, long=False):
        draw = np.random.default_rng(seed)
        pick = lambda *choices: choices[draw.integers(len(choices))]
        chance = lambda share: draw.random() < share
        number = lambda low, high: int(draw.integers(low, high + 1))
        self.seed, self.type = seed, ("float32", "float16", "bfloat16")[seed % 3]
        self.B, self.Hk, group = pick(1, 1, 2, 3), pick(1, 2, 2, 3), pick(1, 1, 2, 3)
        if chance(0.15):
            self.B, self.Hk, group = 1, 1, 1
        self.H = self.Hk * group
        self.T, self.S = (1 if chance(0.05) else number(41, 150) if chance(0.1) else number(2, 40) for _ in "TS")
        self.S = self.T if chance(0.4) else self.S
        if long:
            self.B, self.T, self.S = min(self.B, 2), number(90, 130), number(257, 600)
        self.d = pick(2, 3, 4, 8, 10, 14, 16)
        self.dv = pick(self.d, self.d, 1, 5, 8, 14)
        self.layout = pick("BHTd", "BHTd", "BTHd", *["HTd"] * (self.B == 1), *["Td"] * (self.B == self.H == 1))
        self.causal = chance(0.6)
        self.window = (number(0, 8), pick(-1, number(0, 8))) if chance(0.35) else None
        self.align = pick("offset", "offset", "top-left", "bottom-right") if self.causal or self.window else "offset"
        self.softcap = float(pick(1, 2, 5)) if chance(0.3) else None
        self.factor = float(pick(0.25, 0.6)) if chance(0.2) else None
        self.P, self.lengths, self.mask, self.inside = 0, None, None, self.S
        kind = pick("none", "none", "bool", "numbers", "lengths", "lengths")
        if kind in ("bool", "numbers"):
            self.inside = number(1, self.S) if chance(0.2) else self.S  # where a short mask ends
            shape = pick((self.T, self.inside), (self.B, 1, self.T, self.inside), (1, self.inside))
            self.mask = draw.random(shape) < 0.75
            if kind == "numbers":
                self.mask = np.where(self.mask, rounded(draw.normal(size=shape), "float16"), -INF)
        if kind == "lengths":
            self.lengths = draw.integers(1, self.S + 1, self.B)
        elif self.S > 1 and chance(0.3):
            self.P = number(1, self.S - 1)
        self.draw_more(np.random.default_rng(seed + 2 * 10**9))
        size, small = pick(*[1.5] * 8, 8), pick(*[1] * 9, 1e-5)
        normal = lambda factor, *shape: rounded(draw.normal(size=shape) * factor, self.type)
        self.q = normal(size, self.B, self.H, self.T, self.d)
        self.k, self.v = normal(size, self.B, self.Hk, self.S, self.d), normal(small, self.B, self.Hk, self.S, self.dv)

    def draw_more(self, draw):
        """What attend has beside the operator: from a stream of its own, so that the rest of a case stays what it was."""
        chance = lambda share: draw.random() < share
        kind = draw.choice(["none"] * 5 + ["alibi", "sinks", "segments", "all"])
        self.alibi = kind in ("alibi", "all")
        self.sinks = np.round(draw.normal(size=self.H) * 1.5, 2) if kind in ("sinks", "all") else None
        self.segments, self.four = None, self.layout == "BTHd" and chance(0.4)  # (B, T, H, d), of four dimensions
        if kind in ("segments", "all"):
            shape = (self.B, self.S) if chance(0.5) else (self.S,)
            self.segments = draw.integers(0, 3, shape)
            self.segments = self.segments if chance(0.3) else np.sort(self.segments, -1)
        self.slopes = None  # other than the paper's
        if self.alibi and chance(0.4):
            self.slopes = draw.integers(20, 600, (self.B, self.H) if chance(0.6) else self.H) / 1024

    def plain(self):
        return not self.alibi and self.sinks is None and self.segments is None

    def stored(self, x: np.ndarray) -> np.ndarray:
        """(B, H, n, d) in the layout of the files."""
        if self.four:
            return x.transpose(0, 2, 1, 3)
        if self.layout == "BTHd":
            return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)
        return x.reshape(x.shape[4 - len(self.layout):])

    def loaded(self, stored: np.ndarray, heads: int) -> np.ndarray:
        """The way back."""
        if self.four:
            return stored.transpose(0, 2, 1, 3)
        if self.layout == "BTHd":
            return stored.reshape(*stored.shape[:2], heads, -1).transpose(0, 2, 1, 3)
        return stored.reshape(self.B, heads, *stored.shape[-2:])

    def tensors(self) -> dict:
        """What the options of files name, beside the results."""
        new = {"-q": self.q, "-k": self.k[:, :, self.P:], "-v": self.v[:, :, self.P:]}
        old = {"--past-key": self.k[:, :, :self.P], "--past-value": self.v[:, :, :self.P]}
        old = {option: x.transpose(0, 2, 1, 3) if self.four else x for option, x in old.items()}
        given = {"--mask": self.mask, "--lengths": self.lengths, "--sinks": self.sinks, "--segments": self.segments,
                 "--alibi-slopes": self.slopes}
        return {**{option: self.stored(x) for option, x in new.items()}, **(old if self.P else {}),
                **{option: x for option, x in given.items() if x is not None}}

    def options(self) -> list[str]:
        given = ["--heads", str(self.H), "--kv-heads", str(self.Hk)] if self.layout == "BTHd" else []
        given = ["--layout", "bshd"] if self.four else given
        given += ["--alibi"] if self.alibi and self.slopes is None else []
        given += ["--causal"] if self.causal else []
        given += ["--window", "{},{}".format(*self.window)] if self.window else []
        given += ["--causal-align", self.align] if self.align != "offset" else []
        given += ["--softcap", str(self.softcap)] if self.softcap else []
        return given + (["--scale", str(self.factor)] if self.factor else [])


class Attention:
    """Right at first. Each method is a step, which a mistake may replace."""

    def __init__(self, case: Case, *mistakes: dict):
        self.case = case
        for mistake in mistakes:
            for step, function in mistake.items():
                setattr(self, step, function.__get__(self))

    def inputs(self):
        return self.case.q, self.case.k, self.case.v

    def key_head(self, head):
        return head // (self.case.H // self.case.Hk)

    def value_head(self, head):
        return self.case.Hk * head // self.case.H

    def share(self, x, of=None):
        """A key/value head for each query head."""
        return np.stack([x[:, (of or self.key_head)(head)] for head in range(self.case.H)], 1)

    # ---- scores

    def products(self, q, k):
        return q @ k.swapaxes(2, 3)

    def scale(self):
        return self.case.factor or 1 / np.sqrt(self.case.d)

    def cap(self, s):
        return s if self.case.softcap is None else self.case.softcap * np.tanh(s / self.case.softcap)

    def scores(self, products):
        return self.cap(products * self.scale()) + self.added() + self.by_distance()

    def slopes(self):
        """Of ALiBi (H) or (B, H), as its paper has them: those of a power of two of heads, then every other one of the next power."""
        if self.case.slopes is not None:
            return self.case.slopes
        heads = self.case.H
        powers = lambda count: 2 ** (-8 * np.arange(1, count + 1) / count)
        power = 1 << heads.bit_length() - 1
        return np.concatenate([powers(power), powers(2 * power)[::2][:heads - power]])

    def distance(self, p, j):
        return abs(p - j)

    def by_distance(self):
        if not self.case.alibi:
            return np.zeros(1)
        p = Attention.offset(self)[:, None, None, None] + np.arange(self.case.T)[:, None]
        return -self.slopes()[..., None, None] * self.distance(p, np.arange(self.case.S))

    # ---- masks

    def offset(self):
        """The key at which query 0 stands, of each batch entry."""
        c = self.case
        if c.align == "top-left":
            return np.zeros(c.B, int)
        if c.align == "bottom-right" or c.lengths is not None:
            return (np.full(c.B, c.S) if c.lengths is None else c.lengths) - c.T
        return np.full(c.B, c.P)

    def places(self):
        """p of the queries (B, 1, T, 1), j of the keys (S)."""
        return self.offset()[:, None, None, None] + np.arange(self.case.T)[:, None], np.arange(self.case.S)

    def causal(self, p, j):
        return j <= p

    def sides(self):
        return [side if side >= 0 else INF for side in self.case.window]

    def window(self, p, j):
        left, right = self.sides()
        return (p - left <= j) & (j <= p + right)

    def ends(self):
        """Of the keys that each batch entry has, (B, 1, 1, 1)."""
        c = self.case
        return (np.full(c.B, c.S) if c.lengths is None else c.lengths)[:, None, None, None]

    def valid(self, j):
        return j < self.case.lengths[:, None, None, None]

    def whole_mask(self):
        """(B, 1, T, S) of bools or numbers; keys beyond a short one are hidden by `seen`."""
        c = self.case
        shape = (c.B, 1, c.T, c.S)
        if c.mask is None:
            return np.ones(shape, bool)
        beyond = [(0, 0)] * (c.mask.ndim - 1) + [(0, c.S - c.inside)]
        return np.broadcast_to(np.pad(c.mask, beyond), shape)

    def allowed(self):
        mask = self.whole_mask()
        return mask if mask.dtype == bool else mask > -INF

    def added(self):
        mask = self.whole_mask()
        return np.zeros(1) if mask.dtype == bool else np.where(mask > -INF, mask, 0)

    def near(self, p, j):
        """What causality and window leave."""
        near = np.ones(np.broadcast_shapes(p.shape, j.shape), bool)
        near = near & self.causal(p, j) if self.case.causal else near
        return near & self.window(p, j) if self.case.window else near

    def mask_end(self):
        return self.case.inside

    def seen(self):
        p, j = self.places()
        seen = self.near(p, j) & self.allowed() & (j < self.mask_end()) & self.same_segment()
        return seen & self.valid(j) if self.case.lengths is not None else seen

    def segment(self):
        """Of each key, (B, S)."""
        return np.broadcast_to(self.case.segments, (self.case.B, self.case.S))

    def segment_place(self):
        """The key whose segment a query is of, (B, T)."""
        return Attention.offset(self)[:, None] + np.arange(self.case.T)

    def same_segment(self):
        if self.case.segments is None:
            return np.ones(1, bool)
        of, p = self.segment(), self.segment_place()
        own = np.where((p >= 0) & (p < self.case.S), np.take_along_axis(of, p.clip(0, self.case.S - 1), 1), -1)
        return own[:, None, :, None] == of[:, None, None, :]

    # ---- weights and context

    def sink(self, s, seen):
        """One more score for each row, which has no value."""
        return np.broadcast_to(self.case.sinks[:, None, None], s.shape[:3] + (1,))

    def sunk(self, s, seen):
        if self.case.sinks is None:
            return self.softmax(s, seen)
        sink = self.sink(s, seen)
        return self.softmax(np.concatenate([s, sink], -1), np.concatenate([seen, sink > -INF], -1))[..., :-1]

    def hidden(self, s, seen):
        """Scores, and which of them take part in the softmax."""
        return s, np.broadcast_to(seen, s.shape)

    def largest(self, s, seen, axis):
        largest = np.where(seen, s, -INF).max(axis, keepdims=True)
        return np.where(largest > -INF, largest, 0)

    def exponential(self, s):
        return np.exp(s)

    def softmax(self, s, seen, axis=-1):
        e = np.where(seen, self.exponential(s - self.largest(s, seen, axis)), 0)
        total = e.sum(axis, keepdims=True)
        return e / np.where(total == 0, 1, total)

    def summed(self, q, k, v):
        return self.share(v, self.value_head)

    def weigh(self, w, v):
        return w @ v

    def mix(self, s, seen, v):
        return self.weigh(self.sunk(*self.hidden(s, seen)), v)

    def output(self, context):
        return context

    def result(self) -> np.ndarray:
        q, k, v = self.inputs()
        return self.output(self.mix(self.scores(self.products(q, self.share(k))), self.seen(), self.summed(q, k, v)))
