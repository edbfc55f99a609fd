// The engine that PyTorch and NumPy's legacy stream share.
#pragma once

#include <cstdint>
#include <random>

namespace attn::random {

/// std::mt19937 except for the type that holds a word: the standard library of GCC takes 64 bits for it, and four times as
/// long.
using Mersenne = std::mersenne_twister_engine<std::uint32_t, 32, 624, 397, 31, 0x9908b0df, 11, 0xffffffff, 7, 0x9d2c5680, 15,
                                              0xefc60000, 18, 1812433253>;

} // namespace attn::random
