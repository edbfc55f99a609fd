// The kernels under test: put yours here.
#pragma once

#include "raw.hpp"

/// Causal attention whose last query sees all keys: queries (B, H, T, d), keys (B, H_kv, S, d), values (B, H_kv, S, d_v) →
/// (B, H, T, d_v); S ≥ T.
Array attention(const Array& queries, const Array& keys, const Array& values);

struct Gradients {
    Array queries, keys, values; ///< each in the shape of what it belongs to
};

/// From the gradient of the context, in its shape, those of what the context was made from.
Gradients attention_backward(const Array& queries, const Array& keys, const Array& values, const Array& gradient);
