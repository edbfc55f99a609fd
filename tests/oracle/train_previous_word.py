#!/usr/bin/env python3
"""Trains the layer in data/tensors/previous_word.safetensors: one head that finds the word before each word.

The words are those of "Life is short eat dessert first", ids by code point, in random order, 2 to 12 of them; embeddings and
sinusoids go into nn.MultiheadAttention with a causal mask, and a linear layer on its output must name the previous word (the
first word: itself). That layer is not kept. Half a minute with Debian's PyTorch; another build may give other last digits.

usage: train_previous_word.py OUTPUT
"""
import json
import sys
from pathlib import Path

import torch

WORDS, D = 6, 16


def sinusoids(T):
    p, i = torch.arange(T)[:, None], torch.arange(D)[None, :]
    angle = p / 10000.0 ** (2 * (i // 2) / D)
    return torch.where(i % 2 == 0, angle.sin(), angle.cos())


def main():
    torch.manual_seed(1)
    torch.set_num_threads(1)
    embedding = torch.nn.Embedding(WORDS, D)
    attention = torch.nn.MultiheadAttention(D, 1, batch_first=True)
    reader = torch.nn.Linear(D, WORDS)
    parameters = [*embedding.parameters(), *attention.parameters(), *reader.parameters()]
    optimiser = torch.optim.Adam(parameters, lr=0.005)
    for step in range(3000):
        T = int(torch.randint(2, 13, ()))
        ids = torch.randint(WORDS, (32, T))
        wanted = torch.cat([ids[:, :1], ids[:, :-1]], 1)
        x = embedding(ids) + sinusoids(T)
        hidden = torch.ones(T, T, dtype=torch.bool).triu(1)
        y = reader(attention(x, x, x, attn_mask=hidden, need_weights=False)[0])
        loss = torch.nn.functional.cross_entropy(y.reshape(-1, WORDS), wanted.reshape(-1))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if step % 500 == 499:
            right = (y.argmax(-1) == wanted).float().mean().item()
            print(f"step {step + 1}: loss {loss.item():.4f}, {100 * right:.1f} % right", file=sys.stderr)
    tensors = {"embedding": embedding.weight, **attention.state_dict()}
    header, data = {}, b""
    for name, tensor in tensors.items():
        stored = tensor.detach().numpy().astype("<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(stored)]}
        data += stored
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    Path(sys.argv[1]).write_bytes(len(text).to_bytes(8, "little") + text + data)


if __name__ == "__main__":
    main()
