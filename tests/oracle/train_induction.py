#!/usr/bin/env python3
"""Trains the model in data/models/induction: two layers of attention that continue what repeats.

26 symbols, D 32, two heads, rotary positions with base 100, norms as Llama has them, and an MLP that is all zeros, so that
config.json and model.safetensors are those of a small Llama. Sequences of 32 repeat a random period of 6 to 14 distinct symbols;
the next symbol is to be named. Half a minute with Debian's PyTorch; another build may give other last digits.

usage: train_induction.py FOLDER
"""
import json
import sys
from pathlib import Path

import torch

SYMBOLS, D, H, LAYERS, T, STEPS, BASE, EPSILON = 26, 32, 2, 2, 32, 2500, 100.0, 1e-6


def rope(x):
    half = x.shape[-1] // 2
    angles = torch.arange(x.shape[-2])[:, None] * BASE ** (-torch.arange(half) / half)
    first, second = x[..., :half], x[..., half:]
    return torch.cat([first * angles.cos() - second * angles.sin(), second * angles.cos() + first * angles.sin()], -1)


class Norm(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(D))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + EPSILON) * self.weight


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = Norm()
        self.q, self.k, self.v, self.o = (torch.nn.Linear(D, D, bias=False) for _ in range(4))

    def forward(self, x):
        y = self.norm(x)
        q, k, v = (f(y).unflatten(-1, (H, D // H)).transpose(-2, -3) for f in (self.q, self.k, self.v))
        scores = rope(q) @ rope(k).transpose(-1, -2) / (D // H) ** 0.5
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        context = scores.masked_fill(hidden, -torch.inf).softmax(-1) @ v
        return x + self.o(context.transpose(-2, -3).flatten(-2))


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(SYMBOLS, D)
        self.layers = torch.nn.ModuleList(Layer() for _ in range(LAYERS))
        self.norm = Norm()
        self.head = torch.nn.Linear(D, SYMBOLS, bias=False)

    def forward(self, ids):
        x = self.embedding(ids)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


def sequences(count):
    rows = []
    for period in torch.randint(6, 15, (count,)).tolist():
        rows.append(torch.randperm(SYMBOLS)[:period].repeat(T // period + 1)[:T])
    return torch.stack(rows)


def train():
    torch.manual_seed(1)
    torch.set_num_threads(1)
    model = Model()
    optimiser = torch.optim.Adam(model.parameters(), lr=0.005)
    rate = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, STEPS)
    for step in range(STEPS):
        ids = sequences(64)
        logits = model(ids)[:, :-1]
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        rate.step()
        if step % 500 == 499:
            right = (logits.argmax(-1) == ids[:, 1:])[:, 14:].float().mean().item()
            print(f"step {step + 1}: loss {loss.item():.4f}, {100 * right:.1f} % of what repeats", file=sys.stderr)
    return model


def tensors_of(model):
    named = {"model.embed_tokens.weight": model.embedding.weight, "model.norm.weight": model.norm.weight,
             "lm_head.weight": model.head.weight}
    for n, layer in enumerate(model.layers):
        prefix = f"model.layers.{n}."
        for name in "qkvo":
            named[f"{prefix}self_attn.{name}_proj.weight"] = getattr(layer, name).weight
        named[prefix + "input_layernorm.weight"] = layer.norm.weight
        named[prefix + "post_attention_layernorm.weight"] = torch.ones(D)
        for name, shape in [("gate", (1, D)), ("up", (1, D)), ("down", (D, 1))]:
            named[f"{prefix}mlp.{name}_proj.weight"] = torch.zeros(shape)
    return named


def main():
    folder = Path(sys.argv[1])
    config = {"model_type": "llama", "vocab_size": SYMBOLS, "hidden_size": D, "num_hidden_layers": LAYERS, "num_attention_heads": H,
              "intermediate_size": 1, "hidden_act": "silu", "max_position_embeddings": 1024, "rms_norm_eps": EPSILON,
              "rope_theta": BASE, "tie_word_embeddings": False}
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    header, data = {}, b""
    for name, tensor in tensors_of(train()).items():
        stored = tensor.detach().numpy().astype("<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(stored)]}
        data += stored
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    (folder / "model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + data)


if __name__ == "__main__":
    main()
