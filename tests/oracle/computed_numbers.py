"""The numbers of the recipes whose articles print none, computed by running what the articles say in PyTorch and NumPy.

    computed_numbers.py            compares them with what the recipes state; exit code 1 when they differ
    computed_numbers.py --write    puts them into the recipes

PyTorch's products differ from processor to processor by some units in the last place of what they sum, hence the tolerance and
UNITS; what comes straight from the random stream does not differ. Written on x86-64 with PyTorch 1.13 and NumPy 1.24 (Debian 12).
"""

import sys

import numpy as np
import torch
import torch.nn.functional as F

import recipe_file

# In the last place of an array's largest number: how far a sum may move when a BLAS takes its terms in another order. A sum
# that cancels to nearly 0 moves as far as the others, which no relative tolerance allows.
UNITS = 4

SENTENCE = "Life is short, eat dessert first"


def plain(tensor):
    """Nested lists; float32 as the shortest decimals that read back to the same float32."""
    array = np.asarray(tensor)
    if array.ndim == 0:
        return float(str(array[()])) if array.dtype == np.float32 else array.item()
    return [plain(row) for row in array]


def raschka_multihead(dtype):
    words = SENTENCE.replace(",", "").split()
    ids = {word: i for i, word in enumerate(sorted(words))}
    torch.manual_seed(123)
    x = torch.nn.Embedding(6, 16)(torch.tensor([ids[word] for word in words])).detach()
    for rows in (24, 24, 28):
        torch.rand(rows, 16)  # the single head's matrices
    W_q, W_k, W_v = torch.rand(3, 24, 16), torch.rand(3, 24, 16), torch.rand(3, 28, 16)
    x, W_q, W_k, W_v = (tensor.to(dtype) for tensor in (x, W_q, W_k, W_v))
    Q, K, V = (x @ W.transpose(1, 2) for W in (W_q, W_k, W_v))
    weights = F.softmax(Q @ K.transpose(1, 2) / 24**0.5, dim=-1)
    context = (weights @ V).permute(1, 0, 2).reshape(6, -1)
    return {"queries": Q, "weights": weights, "context": context}


def politi(dtype):
    ids = torch.tensor([2, 6, 8, 3, 1])
    torch.manual_seed(0)
    x = torch.nn.Embedding(10, 16)(ids).detach()
    w_key, w_query, w_value = torch.rand(16, 16), torch.rand(16, 16), torch.rand(16, 16)
    x, w_key, w_query, w_value = (tensor.to(dtype) for tensor in (x, w_key, w_query, w_value))
    keys, values, query = x.matmul(w_key.T), x.matmul(w_value.T), w_query.matmul(x[0])
    scores = query.matmul(keys.T)
    weights = F.softmax(scores / 16**0.5, dim=0)
    # One head and one row, the first token's.
    return {
        "token_ids": ids,
        "embeddings": x,
        "keys": [keys],
        "queries": [[query]],
        "values": [values],
        "scores": [[scores]],
        "weights": [[weights]],
        "context": [weights.matmul(values)],
    }


def politi_multihead(dtype):
    ids = torch.tensor([2, 6, 8, 3, 1])
    torch.manual_seed(0)
    x = torch.nn.Embedding(10, 16)(ids).detach()
    w_query, w_key, w_value = torch.rand(4, 16, 4), torch.rand(4, 16, 4), torch.rand(4, 16, 4)
    w_output = torch.rand(16, 16)
    x, w_query, w_key, w_value, w_output = (tensor.to(dtype) for tensor in (x, w_query, w_key, w_value, w_output))
    Q, K, V = (torch.einsum("sd,hde->hse", x, w) for w in (w_query, w_key, w_value))
    weights = F.softmax(torch.einsum("hse,hek->hsk", Q, K.transpose(-2, -1)) / 4**0.5, dim=-1)
    heads = torch.einsum("hij,hjk->hik", weights, V)
    context = heads.permute(1, 0, 2).reshape(5, -1)
    return {
        "token_ids": ids,
        "embeddings": x,
        "weights": weights,
        "head_context": heads,
        "context": context,
        "output": context.matmul(w_output),
    }


def transformer_core(dtype):
    assert dtype == torch.float64, "the article computes in NumPy's own type"
    np.random.seed(0)
    x = np.random.rand(1, 5, 8)
    W_q, W_k, W_v = np.random.rand(8, 8), np.random.rand(8, 8), np.random.rand(8, 8)
    Q, K, V = x @ W_q, x @ W_k, x @ W_v
    scores = Q @ K.transpose(0, 2, 1)
    scaled = scores / np.sqrt(8)
    e = np.exp(scaled - np.max(scaled, axis=-1, keepdims=True))
    weights = e / e.sum(axis=-1, keepdims=True)
    return {
        "embeddings": x[0],
        "scores": scores,
        "scaled_scores": scaled,
        "weights": weights,
        "context": (weights @ V)[0],
    }


RECIPES = {
    "raschka-2023-multihead": raschka_multihead,
    "politi-2025": politi,
    "politi-2025-multihead": politi_multihead,
    "transformer-core-2024": transformer_core,
}


def lists(values):
    return [lists(row) for row in values] if isinstance(values, list) else plain(values)


class Arrays:
    """The arrays of one recipe in the type that an entry asks for; parameters and embeddings are the same draws in both."""

    def __init__(self, recipe, compute):
        self.default, self.compute, self.known = recipe.get("dtype", "float32"), compute, {}

    def part(self, entry):
        dtype = entry.get("dtype", self.default)
        if dtype not in self.known:
            computed = self.compute(getattr(torch, dtype))
            self.known[dtype] = {array: lists(values) for array, values in computed.items()}
        return recipe_file.part(self.known[dtype][entry["array"]], entry.get("at", []))


def absolute_tolerance(entry, recipe, computed):
    """What the entry states, or UNITS where it states a relative one."""
    unit = np.finfo(entry.get("dtype", recipe.get("dtype", "float32"))).eps
    return max(entry.get("atol", 0), UNITS * unit * np.abs(computed).max() if "rtol" in entry else 0)


def differences(recipe, arrays):
    """The entries of a recipe that do not hold for `arrays`, each as a line."""
    for entry in recipe["published"]:
        if "values" not in entry:
            continue
        stated = np.array(entry["values"], dtype=np.float64)
        computed = np.array(arrays.part(entry), dtype=np.float64)
        if stated.shape != computed.shape:
            yield f"{recipe['name']}: {entry['array']}: shape {stated.shape}, computed {computed.shape}"
        elif not np.allclose(computed, stated, entry.get("rtol", 0), absolute_tolerance(entry, recipe, computed)):
            yield f"{recipe['name']}: {entry['array']}: differs by {np.abs(computed - stated).max()}"


def main(write):
    wrong = []
    for name, compute in RECIPES.items():
        recipe = recipe_file.read(name)
        arrays = Arrays(recipe, compute)
        if write:
            recipe_file.fill(recipe, arrays.part)
            recipe_file.write(name, recipe)
        wrong += differences(recipe, arrays)
    print("\n".join(wrong) if wrong else "every computed number agrees")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] == ["--write"]))
