"""Each mistake by its name: the steps of Attention that it replaces, from the words of src/attn/model/diagnose, not its code.

`self.case` is the case, `right.step(self, …)` the right step. NEEDS says where a mistake can be made at all; whether it then
changes anything is for the judge to see.
"""
import itertools
from copy import copy

import numpy as np

from mistaken_attention import INF, Attention, rounded

right = Attention
LN2 = np.log(2)


def right_scores(self, products, scale=None):
    """Scaled and capped, but without the mask of numbers."""
    return self.cap(products * (self.scale() if scale is None else scale))


def shifted(by):
    return {"causal": lambda self, p, j: j <= p + by}


def placed(keys):
    """Query 0 at another key."""
    return {"offset": lambda self: np.broadcast_to(keys(self.case), self.case.B)}


def sided(change):
    return {"sides": lambda self: change(*right.sides(self))}


def given_lengths(change):
    return {"valid": lambda self, j: j < change(self.case.lengths)[:, None, None, None]}


def hidden(score):
    """Hidden keys take part, with another score."""
    return {"hidden": lambda self, s, seen: (np.where(seen, s, score(s)), np.ones(s.shape, bool))}


# ---- softmax

def over(*axes):
    return {"softmax": lambda self, s, seen: right.softmax(self, s, seen, axes)}


def weights(formula):
    """Other weights: formula(scores with 0 where hidden, seen)."""
    return {"softmax": lambda self, s, seen: np.where(seen, formula(np.where(seen, s, 0), seen), 0)}


def undivided(self, s, seen):
    return np.where(seen, self.exponential(s - self.largest(s, seen, -1)), 0)


def softmax_twice(self, s, seen):
    e = np.exp(right.softmax(self, s, seen))
    return e / e.sum(-1, keepdims=True) * seen.any(-1, keepdims=True)


def first_largest(self, s, seen):
    s = np.where(seen, s, -INF)
    return (np.arange(s.shape[-1]) == s.argmax(-1)[..., None]) & seen


def no_maximum(type):
    def softmax(self, s, seen):
        e = np.where(seen, self.exponential(s), 0).astype(type)
        return np.where(seen.any(-1, keepdims=True), e / e.sum(-1, keepdims=True, dtype="f4"), 0).astype(float)
    return {"softmax": softmax}


def maximum_clamped(self, s, seen):
    """The running maximum begins with 0; exponentials and their sum are float32, as in a kernel."""
    m, seen_some = np.maximum(np.where(seen, s, -INF).max(-1, keepdims=True), 0), seen.any(-1, keepdims=True)
    e = np.where(seen, self.exponential(s - m), 0).astype("f4")
    return np.where(seen_some, e / e.sum(-1, keepdims=True, dtype="f4"), 0).astype(float)


def empty(weight):
    """Weights of queries that see nothing."""
    def softmax(self, s, seen):
        return np.where(seen.any(-1, keepdims=True), right.softmax(self, s, seen), weight(self, s, seen))
    return {"softmax": softmax}


def no_keepdims(maximum):
    """exp(s - maximum) over its sums, which NumPy lays along the keys."""
    def softmax(self, s, seen):
        e = np.where(seen, self.exponential(s - maximum(self, s, seen, -1)), 0)
        total = e.sum(-1)[..., None, :]
        return e / np.where(total == 0, 1, total)
    return {"softmax": softmax}


def softmax_with(more):
    """Something else in the sum; more(largest of the row)."""
    def softmax(self, s, seen):
        largest = self.largest(s, seen, -1)
        e = np.where(seen, self.exponential(s - largest), 0)
        return np.where(seen.any(-1, keepdims=True), e / (e.sum(-1, keepdims=True) + more(self, largest)), 0)
    return {"softmax": softmax}


def parts_averaged(parts):
    """Split-K: each part of the keys is attended alone, then the parts are averaged."""
    def softmax(self, s, seen):
        keys = np.arange(s.shape[-1])
        size = -(-s.shape[-1] // parts)
        return sum(right.softmax(self, s, seen & (keys // size == part)) for part in range(parts)) / parts
    return {"softmax": softmax}


def merged_by_maximum(size):
    """Split-K: each split of the keys is attended alone; exp of their largest scores weighs them, not of their log-sum-exp."""
    def softmax(self, s, seen):
        s = np.where(seen, s, -INF)
        largest, weights, total = self.largest(s, seen, -1), [], 0
        for first in range(0, s.shape[-1], size(s.shape[-1])):
            part = s[..., first:first + size(s.shape[-1])]
            e = np.where(part > -INF, self.exponential(part - self.largest(part, part > -INF, -1)), 0)
            share = np.where((part > -INF).any(-1, keepdims=True), self.exponential(self.largest(part, part > -INF, -1) - largest), 0)
            weights.append(e / np.maximum(e.sum(-1, keepdims=True), 1e-300) * share)
            total = total + share
        return np.concatenate(weights, -1) / np.where(total == 0, 1, total)
    return {"softmax": softmax}


# ---- heads: memory read in another shape

def swapped(case, x):
    B, H, n, d = x.shape
    return x.transpose(0, 2, 1, 3).reshape(B, H, n, d) if case.layout == "BTHd" else x.reshape(B, n, H, d).transpose(0, 2, 1, 3)


def swapped_back(case, x):
    """Written in the wrong order, then read in the right one."""
    B, H, n, d = x.shape
    return x.reshape(B, n, H, d).transpose(0, 2, 1, 3) if case.layout == "BTHd" else x.transpose(0, 2, 1, 3).reshape(B, H, n, d)


def strided(case, x):
    B, H, n, d = x.shape
    return x.transpose(0, 2, 1, 3).reshape(B, n, d, H).transpose(0, 3, 1, 2)


def strided_back(case, x):
    B, H, n, d = x.shape
    return x.transpose(0, 2, 3, 1).reshape(B, n, H, d).transpose(0, 2, 1, 3)


def reading(view, which="qkv"):
    return {"inputs": lambda self: [view(self.case, x) if name in which else x for name, x in zip("qkv", right.inputs(self))]}


def writing(view):
    return {"output": lambda self, context: view(self.case, context)}


def heads_as_positions(self):
    """The same attention, of T heads over H positions."""
    c = copy(self.case)
    c.T, c.S, c.H, c.Hk, c.mask, c.lengths, c.align, c.inside = c.H, c.Hk, c.T, c.S, None, None, "top-left", c.Hk
    c.q, c.k, c.v = (x.transpose(0, 2, 1, 3) for x in (c.q, c.k, c.v))
    return Attention(c).result().transpose(0, 2, 1, 3)


def one_head(self, q, k):
    products = right.products(self, q, k)
    return np.broadcast_to(products.sum(1, keepdims=True), products.shape)


def batch_as_positions(self):
    """The same attention, at each position over the batch."""
    c = copy(self.case)
    c.B, c.T, c.S, c.mask, c.lengths, c.align, c.inside = c.T, c.B, c.B, None, None, "top-left", c.B
    c.q, c.k, c.v = (x.transpose(2, 1, 0, 3) for x in (c.q, c.k, c.v))
    return Attention(c).result().transpose(2, 1, 0, 3)


def of_entry_0(*which):
    """Batch entry 0 of some of q, k and v for all."""
    first = lambda x: np.broadcast_to(x[:1], x.shape)
    return {"inputs": lambda self: [first(x) if name in which else x for name, x in zip("qkv", right.inputs(self))]}


def without_past(self):
    """The new keys alone, and queries where they were."""
    c, offset = copy(self.case), self.offset()
    c.k, c.v, c.S, c.inside = c.k[:, :, c.P:], c.v[:, :, c.P:], c.S - c.P, c.S - c.P
    return Attention(c, {"offset": lambda self: offset}).result()


def past_last(self):
    """The new keys first, then the cache."""
    roll = lambda x: np.roll(x, -self.case.P, 2)
    return self.case.q, roll(self.case.k), roll(self.case.v)


# ---- precision

def inputs(type):
    return {"inputs": lambda self: [rounded(x, type) for x in right.inputs(self)]}


def products(type):
    return {"products": lambda self, q, k: rounded(right.products(self, q, k), type)}


def softmax_in(type):
    return {"softmax": lambda self, s, seen: rounded(right.softmax(self, rounded(s, type), seen), type)}


def softmax_steps(type):
    """Nothing wider than the type is kept."""
    def softmax(self, s, seen):
        s = rounded(s, type)
        e = np.where(seen, rounded(self.exponential(rounded(s - self.largest(s, seen, -1), type)), type), 0)
        total = rounded(e.sum(-1, keepdims=True), type)
        return rounded(e / np.where(total == 0, 1, total), type)
    return {"softmax": softmax}


def exponentials(type):
    def softmax(self, s, seen):
        e = undivided(self, s, seen)
        total = e.sum(-1, keepdims=True)
        return rounded(e, type) / np.where(total == 0, 1, total)
    return {"softmax": softmax}


def rounded_weights(type):
    return {"weigh": lambda self, w, v: right.weigh(self, rounded(w, type), v)}


def accumulated(type):
    def weigh(self, w, v):
        context = np.zeros((*w.shape[:3], v.shape[-1]))
        for j in range(w.shape[-1]):
            context = rounded(context + w[..., j, None] * v[:, :, None, j], type)
        return context
    return {"weigh": weigh}


def products_in(type):
    return {**inputs(type), **rounded_weights(type)}


def flushed(self, x):
    return np.where(abs(x) < (2.0**-14 if self.case.type == "float16" else 2.0**-126), 0, x)


FLUSHED = {
    "inputs": lambda self: [flushed(self, x) for x in right.inputs(self)],
    "weigh": lambda self, w, v: right.weigh(self, flushed(self, w), v),
    "output": flushed,
}


# ---- tiles

def running(keep_sum, keep_context, own_maximum=False):
    """FlashAttention's loop over the tiles of keys, which forgets to rescale."""
    def softmax(self, s, seen, tile):
        s, largest, total, weights = np.where(seen, s, -INF), -INF, 0.0, []
        for first in range(0, s.shape[-1], tile):
            part = s[..., first:first + tile]
            old = largest
            largest = np.maximum(part.max(-1, keepdims=True), -INF if own_maximum else old)
            safe = np.where(largest > -INF, largest, 0)
            e = np.where(part > -INF, self.exponential(part - safe), 0)
            rescale = np.where(old > -INF, self.exponential(old - safe), 0)
            weights = [w if keep_context else w * rescale for w in weights] + [e]
            total = (total if keep_sum else total * rescale) + e.sum(-1, keepdims=True)
        return np.concatenate(weights, -1) / np.where(total == 0, 1, total)
    return lambda tile: {"softmax": lambda self, s, seen: softmax(self, s, seen, tile)}


def correction_swapped(tile):
    """What was summed is multiplied by exp(new - old); the first tile has nothing behind it."""
    def softmax(self, s, seen):
        s, largest, total, weights = np.where(seen, s, -INF), np.full((*s.shape[:-1], 1), -INF), 0.0, []
        for first in range(0, s.shape[-1], tile):
            part = s[..., first:first + tile]
            new = np.maximum(largest, part.max(-1, keepdims=True))
            factor = np.where(largest > -INF, self.exponential(new - largest), 1)
            e = np.where(part > -INF, self.exponential(part - new), 0)
            weights = [w * factor for w in weights] + [e]
            total, largest = total * factor + e.sum(-1, keepdims=True), new
        return np.concatenate(weights, -1) / np.where(total == 0, 1, total)
    return {"softmax": softmax}


def last_dropped(tile):
    return {"seen": lambda self: right.seen(self) & (np.arange(self.case.S) < (self.ends() - 1) // tile * tile)}


def padding_counted(tile, score=lambda case: 0):
    """Keys and values of zeros behind the last that a batch entry has, which lengths and masks do not hide."""
    def mix(self, s, seen, v):
        end = -(-self.ends() // tile) * tile
        more = max(end.max() - self.case.S, 0)
        longer = lambda x, axis: np.concatenate([x, np.zeros((*x.shape[:axis], more, *x.shape[axis + 1:]), x.dtype)], axis)
        j = np.arange(self.case.S + more)
        padding = (self.ends() <= j) & (j < end)
        seen = np.where(padding, self.near(self.places()[0], j), longer(np.broadcast_to(seen, s.shape), 3))
        return right.mix(self, np.where(padding, score(self.case), longer(s, 3)), seen, np.where(padding.swapaxes(2, 3), 0, longer(v, 2)))
    return {"mix": mix}


def last_slid(tile):
    """The last tile of keys ends with the keys, and takes some of the tile before once more; a block of queries whose last one
    sees no key from there on, were there enough, does not come to it."""
    def mix(self, s, seen, v):
        c, end = self.case, self.ends()
        first = end // tile * tile
        near = self.near(self.places()[0], first + np.arange(999)).any(-1, keepdims=True)
        comes = near[:, :, np.minimum(np.arange(c.T) // tile * tile + tile, c.T) - 1]
        again = end - tile + np.arange(tile)
        comes = comes & (again < first) & (tile < end) & (end != first)
        take = lambda x, axis: np.concatenate([x, np.take_along_axis(x, np.moveaxis(again.clip(0, c.S - 1), 3, axis), axis)], axis)
        seen = np.broadcast_to(seen, s.shape)
        more = np.take_along_axis(seen, again.clip(0, c.S - 1), 3) & comes
        return right.mix(self, take(s, 3), np.concatenate([seen, more], -1), take(v, 2))
    return {"mix": mix}


def values_first(tile):
    return {"summed": lambda self, q, k, v: right.summed(self, q, k, v)[:, :, np.arange(self.case.S) % tile]}


def rows_dropped(tile):
    return {"output": lambda self, context: context * (np.arange(self.case.T) < self.case.T // tile * tile)[:, None]}


def diagonal_seen(tile):
    return {"causal": lambda self, p, j: j < (p // tile + 1) * tile}


def diagonal_dropped(tile):
    return {"causal": lambda self, p, j: j < p // tile * tile}


def diagonal_cut(tile):
    """Whole tiles of keys, rounded down, up to the last query of a tile, on top of the causal rule."""
    def causal(self, p, j):
        behind = p - np.arange(self.case.T)[:, None] % tile + tile
        return (j <= p) & (j < behind // tile * tile)
    return {"causal": causal}


def diagonal_once(tile):
    """Blocks of queries, as large, mask that tile of keys alone in which the diagonal of the first query lies; they go on up to
    the tile of their last query's."""
    def causal(self, p, j):
        row = np.arange(self.case.T)[:, None]
        first = p - row % tile
        last = p - row + np.minimum(row // tile * tile + tile, self.case.T) - 1
        return np.where(j // tile == first // tile, j <= p, j // tile <= last // tile)
    return {"causal": causal}


def causal_restarted(tile):
    return {"causal": lambda self, p, j: j <= p - np.arange(self.case.T)[:, None] // tile * tile}


# ---- vectors

def score_lanes(width):
    return {"products": lambda self, q, k: right.products(self, *(x[..., :self.case.d // width * width] for x in (q, k)))}


def value_lanes(width):
    return {"output": lambda self, context: context * (np.arange(self.case.dv) < self.case.dv // width * width)}


MISTAKES = {
    "no-scale": {"scale": lambda self: 1},
    "scale-1/d": {"scale": lambda self: 1 / self.case.d},
    "scale-model": {"scale": lambda self: 1 / np.sqrt(self.case.H * self.case.d)},
    "scale-value": {"scale": lambda self: 1 / np.sqrt(self.case.dv)},
    "scale-keys": {"scale": lambda self: 1 / np.sqrt(self.case.S)},
    "scale-twice": {"scale": lambda self: right.scale(self) ** 2},
    "scale-inverse": {"scale": lambda self: 1 / right.scale(self)},
    "scale-usual": {"scale": lambda self: 1 / np.sqrt(self.case.d)},
    "scores-transposed": {"products": lambda self, q, k: right.products(self, k, q)},
    "scores-negated": {
        "exponential": lambda self, s: np.exp(-s),
        "largest": lambda self, s, seen, axis: -right.largest(self, -s, seen, axis),
    },
    "exp-base-2": {"exponential": lambda self, s: np.exp(s * LN2)},
    "log2e-twice": {"exponential": lambda self, s: np.exp(s / LN2)},
    "softcap-missing": {"cap": lambda self, s: s},
    "softcap-before-scale": {"scores": lambda self, products: self.cap(products) * self.scale() + self.added()},
    "softcap-after-mask": {
        "scores": lambda self, products: self.cap(products * self.scale() + self.added()),
        "hidden": lambda self, s, seen: (np.where(seen, s, -self.case.softcap), np.ones(s.shape, bool)),
    },
    "softcap-undivided": {"cap": lambda self, s: self.case.softcap * np.tanh(s)},
    "softcap-unmultiplied": {"cap": lambda self, s: np.tanh(s / self.case.softcap)},
    "softcap-by-score": {"cap": lambda self, s: s * np.tanh(s)},
    "no-maximum": no_maximum("f4"),
    "no-maximum-float16": no_maximum("f2"),
    "mask-missing": {"whole_mask": lambda self: np.ones((1, 1, self.case.T, self.case.S), bool), "mask_end": lambda self: INF},
    "mask-inverted": {"allowed": lambda self: ~self.whole_mask()},
    "mask-negated": {
        "allowed": lambda self: np.ones((self.case.T, self.case.S), bool),
        "scores": lambda self, products: right_scores(self, products) - right.added(self),
    },
    "mask-twice": {"scores": lambda self, products: right_scores(self, products) + 2 * self.added()},
    "mask-before-scale": {"scores": lambda self, products: self.cap((products + self.added()) * self.scale())},
    "mask-transposed": {"whole_mask": lambda self: right.whole_mask(self).swapaxes(2, 3)},
    "causal-added": {"near": lambda self, p, j: right.near(self, p, j) & (j <= p)},
    "causal-added-backwards": {"near": lambda self, p, j: right.near(self, p, j) & (j >= p)},
    "causal-missing": {"causal": lambda self, p, j: j < INF},
    "causal-inverted": {"causal": lambda self, p, j: j > p},
    "causal-backwards": {"causal": lambda self, p, j: j >= p},
    "causal-strict": shifted(-1),
    "causal-one-more": shifted(1),
    "causal-top-left": placed(lambda case: 0),
    "causal-bottom-right": placed(lambda case: (case.S if case.lengths is None else case.lengths) - case.T),
    "causal-all-keys": placed(lambda case: case.S - case.T),
    "causal-at-cache": placed(lambda case: case.P),
    "window-missing": {"window": lambda self, p, j: j < INF},
    "window-left-less": sided(lambda left, right: (left - 1, right)),
    "window-left-more": sided(lambda left, right: (left + 1, right)),
    "window-right-less": sided(lambda left, right: (left, right - 1)),
    "window-right-more": sided(lambda left, right: (left, right + 1)),
    "window-left-open": sided(lambda left, right: (INF, right)),
    "window-right-open": sided(lambda left, right: (left, INF)),
    "window-symmetric": sided(lambda left, right: (left, left)),
    "lengths-missing": {"valid": lambda self, j: j < INF},
    "lengths-other-end": {"valid": lambda self, j: j >= self.case.S - self.case.lengths[:, None, None, None]},
    "lengths-less": {"valid": lambda self, j: right.valid(self, j + 1)},
    "lengths-more": {"valid": lambda self, j: right.valid(self, j - 1)},
    "lengths-zeros": {
        "inputs": lambda self: [self.case.q, *(x * right.valid(self, np.arange(self.case.S)).swapaxes(2, 3) for x in (self.case.k, self.case.v))],
        "valid": lambda self, j: j < INF,
    },
    "lengths-first": given_lengths(lambda lengths: lengths[:1]),
    "lengths-reversed": given_lengths(lambda lengths: lengths[::-1]),
    "lengths-ascending": given_lengths(np.sort),
    "lengths-descending": given_lengths(lambda lengths: np.sort(lengths)[::-1]),
    "hidden-added-1": hidden(lambda s: s + 1),
    "hidden-added-minus-1": hidden(lambda s: s - 1),
    "hidden-added-minus-10": hidden(lambda s: s - 10),
    "hidden-added-minus-10000": hidden(lambda s: s.astype("f4") - np.float32(1e4)),
    "hidden-added-minus-50000": hidden(lambda s: s.astype("f4") - np.float32(5e4)),
    "hidden-added-0": hidden(lambda s: s),
    "hidden-set-0": hidden(lambda s: 0),
    "hidden-set-minus-1": hidden(lambda s: -1),
    "hidden-set-minus-10": hidden(lambda s: -10),
    "mask-after-softmax": {"softmax": lambda self, s, seen: right.softmax(self, s, np.ones(s.shape, bool)) * seen},
    "empty-rows-nan": empty(lambda self, s, seen: np.nan),
    "empty-rows-uniform": empty(lambda self, s, seen: 1 / self.case.S),
    "empty-rows-unmasked": empty(lambda self, s, seen: right.softmax(self, s, np.ones(s.shape, bool))),
    "heads-interleaved": {name: lambda self, head: head % self.case.Hk for name in ("key_head", "value_head")},
    "heads-interleaved-keys": {"key_head": lambda self, head: head % self.case.Hk},
    "heads-interleaved-values": {"value_head": lambda self, head: head % self.case.Hk},
    "heads-first": {name: lambda self, head: 0 for name in ("key_head", "value_head")},
    "heads-as-positions": {"result": heads_as_positions},
    "batch-as-positions": {"result": batch_as_positions},
    "batch-first-entry": of_entry_0("q", "k", "v"),
    "batch-first-keys": of_entry_0("k", "v"),
    "heads-viewed-in": reading(swapped),
    "heads-viewed-out": writing(swapped_back),
    "heads-viewed": {**reading(swapped), **writing(swapped_back)},
    "heads-viewed-keys": reading(swapped, "k"),
    "heads-viewed-values": reading(swapped, "v"),
    "heads-strided-in": reading(strided),
    "heads-strided-scores": reading(strided, "qk"),
    "heads-strided-values": reading(strided, "v"),
    "heads-strided-out": writing(strided_back),
    "heads-strided": {**reading(strided), **writing(strided_back)},
    "heads-reversed": {"output": lambda self, context: context[:, ::-1]},
    "heads-mean": {"output": lambda self, context: np.broadcast_to(context.mean(1, keepdims=True), context.shape)},
    "one-head": {"products": one_head, "scale": lambda self: self.case.factor or 1 / np.sqrt(self.case.H * self.case.d)},
    "softmax-over-queries": over(2),
    "softmax-over-heads": over(1),
    "softmax-over-matrix": over(2, 3),
    "softmax-over-all": over(0, 1, 2, 3),
    "softmax-no-keepdims": no_keepdims(lambda *row: 0),
    "softmax-sum-no-keepdims": no_keepdims(right.largest),
    "softmax-one-more": softmax_with(lambda self, largest: 1),
    "softmax-zero-key": softmax_with(lambda self, largest: self.exponential(-largest)),
    "softmax-missing": weights(lambda s, seen: s),
    "softmax-undivided": {"softmax": undivided},
    "softmax-unshifted": {"softmax": lambda self, s, seen: np.where(seen, self.exponential(s), 0)},
    "softmax-proportional": weights(lambda s, seen: s / s.sum(-1, keepdims=True)),
    "softmax-twice": {"softmax": softmax_twice},
    "softmax-largest": {"softmax": first_largest},
    "softmax-uniform": weights(lambda s, seen: 1 / seen.sum(-1, keepdims=True)),
    "own-value": {"softmax": lambda self, s, seen: np.eye(*s.shape[2:]) * seen.any(-1, keepdims=True)},
    "weights-transposed": {"weigh": lambda self, w, v: right.weigh(self, w.swapaxes(2, 3), v)},
    "weights-times-keys": {"summed": lambda self, q, k, v: self.share(k, self.value_head)},
    "weights-times-queries": {"summed": lambda self, q, k, v: q},
    "scores-of-values": {"products": lambda self, q, k: right.products(self, q, self.share(self.inputs()[2]))},
    "keys-values-swapped": {"inputs": lambda self: (self.case.q, self.case.v, self.case.k)},
    "cache-missing": {"result": without_past},
    "cache-last": {"inputs": past_last},
    "inputs-bfloat16": inputs("bfloat16"),
    "inputs-float16": inputs("float16"),
    "inputs-tf32": inputs("tf32"),
    "scores-bfloat16": products("bfloat16"),
    "scores-float16": products("float16"),
    "softmax-bfloat16": softmax_in("bfloat16"),
    "softmax-float16": softmax_in("float16"),
    "softmax-steps-bfloat16": softmax_steps("bfloat16"),
    "softmax-steps-float16": softmax_steps("float16"),
    "exponentials-bfloat16": exponentials("bfloat16"),
    "exponentials-float16": exponentials("float16"),
    "weights-bfloat16": rounded_weights("bfloat16"),
    "weights-float16": rounded_weights("float16"),
    "products-tf32": products_in("tf32"),
    "accumulator-bfloat16": accumulated("bfloat16"),
    "accumulator-float16": accumulated("float16"),
    "result-bfloat16": {"output": lambda self, context: rounded(context, "bfloat16")},
    "result-float16": {"output": lambda self, context: rounded(context, "float16")},
    "denormals-flushed": FLUSHED,
}

TILES = {
    "tile-accumulator": running(keep_sum=False, keep_context=True),
    "tile-sum": running(keep_sum=True, keep_context=False),
    "tile-no-rescale": running(keep_sum=True, keep_context=True),
    "tile-own-maximum": running(keep_sum=True, keep_context=True, own_maximum=True),
    "tile-correction-swapped": correction_swapped,
    "tile-last-dropped": last_dropped,
    "tile-padding-counted": padding_counted,
    "tile-rows-dropped": rows_dropped,
    "tile-diagonal-seen": diagonal_seen,
    "tile-diagonal-dropped": diagonal_dropped,
    "tile-diagonal-cut": diagonal_cut,
    "tile-diagonal-once": diagonal_once,
    "tile-causal-restarted": causal_restarted,
    "tile-last-slid": last_slid,
    "tile-values-first": values_first,
    "tile-padding-capped": lambda tile: padding_counted(tile, lambda case: -case.softcap),
    "tile-merged-by-maximum": lambda tile: merged_by_maximum(lambda keys: tile),
}
MISTAKES |= {f"{name}-{size}": mistake(size) for name, mistake in TILES.items() for size in (16, 32, 64, 128, 256)}
MISTAKES |= {f"{name}-{size}": mistake(size)
             for name, mistake in {"scores-lanes": score_lanes, "values-lanes": value_lanes}.items() for size in (4, 8)}
MISTAKES |= {f"lengths-page-{page}": given_lengths(lambda lengths, page=page: -(-lengths // page) * page) for page in (16, 32, 64, 128, 256)}
MISTAKES |= {f"parts-averaged-{parts}": parts_averaged(parts) for parts in (2, 4, 8)}
MISTAKES |= {f"parts-merged-by-maximum-{parts}": merged_by_maximum(lambda keys, parts=parts: -(-keys // parts)) for parts in (2, 4, 8)}


def other_slopes(slopes):
    return {"slopes": lambda self: slopes(self.case.H, right.slopes(self))}


def other_sink(sink):
    """sink(largest and log-sum-exp of what a row sees, 0 where it sees nothing; the sinks; the scale)"""
    def of(self, s, seen):
        largest = self.largest(s, seen, -1)
        some = seen.any(-1, keepdims=True)
        total = np.where(seen, np.exp(s - largest), 0).sum(-1, keepdims=True)
        lse = largest + np.log(np.where(some, total, 1))
        return sink(np.where(some, largest, 0), np.where(some, lse, 0), right.sink(self, s, seen), self.scale())
    return {"sink": of}


def places_of(place):
    """Another place for the query of each head; place(i, head within its group, heads of a group)."""
    def places(self):
        group = self.case.H // self.case.Hk
        own = [[place(i, head % group, group) for i in range(self.case.T)] for head in range(self.case.H)]
        return self.offset()[:, None, None, None] + np.array(own)[..., None], np.arange(self.case.S)
    return {"places": places}


def group_crossed(tile):
    """Queries of a group are packed into rows, position by position; a tile of rows knows the position that it begins with, and
    counts on from there as if it began with the first head."""
    def place(i, head, group):
        begin, within = divmod(i * group + head, tile)
        return begin * tile // group + within // group
    return places_of(place)


def sink_repeated(parts):
    """One for each part of the keys."""
    def sunk(self, s, seen):
        sinks = right.sink(self, s, seen).repeat(parts, -1)
        return self.softmax(np.concatenate([s, sinks], -1), np.concatenate([seen, sinks > -INF], -1))[..., :-parts]
    return {"sunk": sunk}


def moved_segments(by):
    def segment(self):
        of = right.segment(self)
        return of[:, (np.arange(of.shape[1]) + by).clip(0, of.shape[1] - 1)]
    return {"segment": segment}


MORE = {
    "alibi-missing": {"by_distance": lambda self: np.zeros(1)},
    "alibi-negated": {"by_distance": lambda self: -right.by_distance(self)},
    "alibi-before-scale": {
        "by_distance": lambda self: np.zeros(1),
        "products": lambda self, q, k: right.products(self, q, k) + right.by_distance(self),
    },
    "alibi-top-left": {"distance": lambda self, p, j: abs(np.arange(self.case.T)[:, None] - j)},
    "alibi-one-sided": {"distance": lambda self, p, j: p - j},
    "alibi-first-slope": other_slopes(lambda heads, slopes: slopes[..., :1].repeat(heads, -1)),
    "alibi-first-entry": other_slopes(lambda heads, slopes: slopes[:1]),
    "alibi-reversed": other_slopes(lambda heads, slopes: slopes[..., ::-1]),
    "alibi-slopes-late": other_slopes(lambda heads, slopes: 2 ** (-8 * np.arange(heads) / heads)),
    "alibi-slopes-plain": other_slopes(lambda heads, slopes: 2 ** (-8 * np.arange(1, heads + 1) / heads)),
    "sink-missing": {"sink": lambda self, s, seen: np.full(s.shape[:3] + (1,), -INF)},
    "sink-unshifted": other_sink(lambda largest, lse, sink, scale: sink + largest),
    "sink-after-softmax": other_sink(lambda largest, lse, sink, scale: sink + lse),
    "sink-scaled": other_sink(lambda largest, lse, sink, scale: sink * scale),
    "sink-first": {"sink": lambda self, s, seen: right.sink(self, s, seen)[:, :1].repeat(self.case.H, 1)},
    "sink-reversed": {"sink": lambda self, s, seen: right.sink(self, s, seen)[:, ::-1]},
    "sink-of-row": {"sink": lambda self, s, seen: self.case.sinks[np.arange(s[..., :1].size).reshape(*s.shape[:3], 1) % self.case.H]},
    "sink-of-key-head": {"sink": lambda self, s, seen: right.sink(self, s, seen)[:, np.arange(self.case.H) // (self.case.H // self.case.Hk)]},
    "maximum-clamped": {"softmax": maximum_clamped},
    "causal-as-packed": places_of(lambda i, head, group: i // group),
    "softcap-after-padding": {
        "scores": lambda self, products: self.cap(products * self.scale() + self.added()) + self.by_distance(),
        "hidden": lambda self, s, seen: (np.where(seen, s, self.by_distance() - self.case.softcap),
                                         np.broadcast_to(self.near(*self.places()) & self.same_segment(), s.shape)),
    },
    "alibi-descending": other_slopes(lambda heads, slopes: np.sort(slopes)[..., ::-1]),
    "alibi-ascending": other_slopes(lambda heads, slopes: np.sort(slopes)),
    "segments-missing": {"same_segment": lambda self: np.ones(1, bool)},
    "segments-late": moved_segments(-1),
    "segments-early": moved_segments(1),
    "segments-top-left": {"segment_place": lambda self: np.zeros((self.case.B, 1), int) + np.arange(self.case.T)},
    "segments-first": {"segment": lambda self: right.segment(self)[:1].repeat(self.case.B, 0)},
}
MORE |= {f"tile-group-crossed-{size}": group_crossed(size) for size in (16, 32, 64, 128, 256)}
MORE |= {f"sink-per-part-{parts}": sink_repeated(parts) for parts in (2, 4, 8)}
MISTAKES |= MORE
# Steps that go with ALiBi, sinks and segments whatever these do.
APART = {"scale", "cap", "offset", "places", "causal", "sides", "valid", "key_head", "value_head"}


def kinds_of_masks(case):
    return (case.segments is not None) + case.causal + (case.window is not None) + (case.mask is not None) + (case.lengths is not None)


def placed_by_rule(case):
    return case.causal or case.window is not None


NEEDS = {
    "scale-model": lambda case: case.H > 1,
    "scale-value": lambda case: case.d != case.dv,
    "softcap": lambda case: case.softcap,
    "softcap-after-padding": lambda case: (case.mask is not None or case.lengths is not None)
        and (placed_by_rule(case) or case.segments is not None or case.alibi),
    "tile-padding-capped": lambda case: case.softcap,
    "tile-group-crossed": lambda case: placed_by_rule(case) and case.H // case.Hk & case.H // case.Hk - 1,
    "causal-as-packed": lambda case: placed_by_rule(case) and case.H != case.Hk,
    "lengths-zeros": lambda case: case.lengths is not None,
    "lengths-page": lambda case: case.lengths is not None,
    "heads-viewed-keys": lambda case: case.Hk > 1,
    "heads-viewed-values": lambda case: case.Hk > 1,
    "no-maximum-float16": lambda case: case.type == "float16",
    "mask-inverted": lambda case: case.mask is not None and case.mask.dtype == bool,
    "mask-negated": lambda case: case.mask is not None and case.mask.dtype != bool,
    "mask-transposed": lambda case: case.mask is not None and case.T == case.S == case.inside and case.P == 0,
    "causal-all-keys": lambda case: case.lengths is not None,
    "causal-at-cache": lambda case: case.P,
    "causal-added": lambda case: not case.causal,
    "lengths-first": lambda case: case.B > 1,
    "lengths-reversed": lambda case: case.B > 1,
    "lengths-ascending": lambda case: case.B > 2,
    "lengths-descending": lambda case: case.B > 2,
    "hidden-added-0": lambda case: kinds_of_masks(case) > 1,
    "softmax-over-all": lambda case: case.B * case.H > 1,
    "scores-transposed": lambda case: case.T == case.S and case.P == 0,
    "scores-of-values": lambda case: case.d == case.dv,
    "keys-values-swapped": lambda case: case.d == case.dv,
    "own-value": lambda case: case.T == case.S and case.P == 0,
    "weights-transposed": lambda case: case.T == case.S and case.P == 0,
    "weights-times-keys": lambda case: case.d == case.dv,
    "weights-times-queries": lambda case: case.T == case.S and case.d == case.dv and case.P == 0,
    "heads-as-positions": lambda case: case.H == case.Hk > 1 and case.T == case.S and case.P == 0,
    "batch-as-positions": lambda case: case.T == case.S and case.P == 0,
    "batch-first": lambda case: case.B > 1,
    "softmax-no-keepdims": lambda case: case.T == case.S and case.P == 0 and case.B == case.H == 1,
    "softmax-sum-no-keepdims": lambda case: case.T == case.S and case.P == 0 and case.B == case.H == 1,
    "scores-lanes-4": lambda case: case.d > 4 and case.d % 4,
    "scores-lanes-8": lambda case: case.d > 8 and case.d % 8,
    "values-lanes-4": lambda case: case.dv > 4 and case.dv % 4,
    "values-lanes-8": lambda case: case.dv > 8 and case.dv % 8,
    "parts-averaged-2": lambda case: case.S >= 2,
    "parts-merged-by-maximum-2": lambda case: case.S >= 2,
    "parts-averaged-4": lambda case: case.S >= 4,
    "parts-merged-by-maximum-4": lambda case: case.S >= 4,
    "parts-averaged-8": lambda case: case.S >= 8,
    "parts-merged-by-maximum-8": lambda case: case.S >= 8,
    "heads-viewed": lambda case: case.P == 0,
    "heads-strided": lambda case: case.P == 0 and case.layout == "BTHd",
    "one-head": lambda case: case.H == case.Hk,
    "cache-": lambda case: case.P and case.mask is None,
    "result-": lambda case: case.type == "float32",
}


NEEDS |= {
    "alibi-": lambda case: case.alibi,
    "alibi-descending": lambda case: (np.diff(Attention(case).slopes()) > 0).any(),
    "alibi-ascending": lambda case: (np.diff(Attention(case).slopes()) > 0).any(),
    "alibi-top-left": lambda case: Attention(case).offset().any(),
    "alibi-one-sided": lambda case: not case.causal,
    "alibi-first-slope": lambda case: case.H > 1,
    "alibi-reversed": lambda case: case.H > 1,
    "alibi-first-entry": lambda case: np.ndim(case.slopes) == 2 and case.B > 1,
    "alibi-slopes-late": lambda case: case.slopes is None,
    "alibi-slopes-plain": lambda case: case.slopes is None and case.H & case.H - 1,
    "sink-": lambda case: case.sinks is not None,
    "sink-first": lambda case: case.H > 1,
    "sink-reversed": lambda case: case.H > 1,
    "sink-of-row": lambda case: case.H > 1,
    "sink-of-key-head": lambda case: case.H != case.Hk > 1,
    "segments-": lambda case: case.segments is not None,
    "segments-top-left": lambda case: Attention(case).offset().any(),
    "segments-first": lambda case: case.B > 1,
}
NEEDS_OF = {name: [need for prefix, need in NEEDS.items() if name.startswith(prefix)] for name in MISTAKES}


def possible(case):
    """The names of those that can be made in this case, and of which it is clear what they are in it."""
    return [name for name in possible_somehow(case) if case.plain() or name in MORE or MISTAKES[name].keys() <= APART]


def possible_somehow(case):
    return [name for name, needs in NEEDS_OF.items() if all(need(case) for need in needs)]


def rounds(name):
    """Whether another order of sums may tip its roundings over."""
    return name.endswith(("float16", "tf32", "flushed", "0000"))


def page_counts(case, page):
    """Whether it neither leaves the lengths as they are, nor is all keys, nor what a smaller page is."""
    rounded = lambda page: tuple(np.minimum(-(-case.lengths // page) * page, case.S))
    others = [tuple(case.lengths), (case.S,) * case.B, *(rounded(smaller) for smaller in (16, 32, 64, 128) if smaller < page)]
    return rounded(page) not in others


def whole_tile(case, name):
    """Whether a mistake of tiles has more than one of them to make it in."""
    if name.startswith("lengths-page"):
        return page_counts(case, int(name.split("-")[-1]))
    group = case.H // case.Hk
    rows = case.T if "rows" in name else case.T * group if "group" in name else Attention(case).ends().max()
    return not name.startswith("tile-") or "padding" in name or int(name.split("-")[-1]) < rows


def sums_tiles(name):
    return name.startswith("tile-") and "softmax" in MISTAKES[name]


def key_tile(name):
    """The size of the tiles of keys, if there are such; those of queries may have another."""
    return name.split("-")[-1] if name.startswith("tile-") and "rows" not in name else None


def pairs(names):
    """Those that do not contradict each other by replacing the same step, by another number of keys, or by tiles of two sizes,
    or leave open whose maximum is meant. What lays keys along queries goes with no more keys."""
    return [(a, b) for a, b in itertools.combinations(names, 2)
            if not MISTAKES[a].keys() & MISTAKES[b].keys() and "result" not in {*MISTAKES[a], *MISTAKES[b]}
            and len({key_tile(a), key_tile(b)} - {None}) < 2
            and not ((a == "weights-transposed" or "keepdims" in a) and ("padding" in b or "slid" in b))
            and not (a == "scores-negated" and sums_tiles(b))]
