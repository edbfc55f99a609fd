#!/usr/bin/env python3
"""Prints the weights in tests/unit/model/run/heads.cpp: what nn.MultiheadAttention returns, the mean of its two heads.

    tests/oracle/averaged_weights.py

PyTorch 1.13.1. live_run.py compares means of other runs, bit for bit.
"""

import torch

torch.manual_seed(0)
layer = torch.nn.MultiheadAttention(8, 2, batch_first=True)
x = torch.randn(1, 5, 8)
_, weights = layer(x, x, x)  # average_attn_weights=True
for row in weights[0].tolist():
    print(", ".join(f"{number:.9g}F" for number in row) + ",")
