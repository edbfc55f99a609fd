// The kernel under test: put yours here.
#pragma once

#include "raw.hpp"

/// Causal attention whose last query sees all keys: queries (B, H, T, d), keys (B, H_kv, S, d), values (B, H_kv, S, d_v) →
/// (B, H, T, d_v).
Array attention(const Array& queries, const Array& keys, const Array& values);
