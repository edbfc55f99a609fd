// Instruction sets that the tiled path is built for, chosen when the program runs.
#pragma once

#include "attn/tensor/shape.hpp"

#include <array>
#include <string_view>
#include <vector>

namespace attn::core {

enum class Isa {
    portable, ///< the stages of attention.hpp: the same numbers everywhere
    avx2,     ///< x86-64 with AVX2, FMA and F16C
    avx512,   ///< x86-64 with AVX-512 F and DQ, and BF16 where it is there
    neon,     ///< 64-bit Arm
};
inline constexpr std::array<std::string_view, 4> isa_names{"portable", "avx2", "avx512", "neon"};

[[nodiscard]] std::string_view name_of(Isa isa);

/// Whether this program was built for it, and the processor and the operating system have it.
[[nodiscard]] bool is_available(Isa isa);
/// All that are available, `portable` first, the fastest last.
[[nodiscard]] std::vector<Isa> available_isas();
[[nodiscard]] Isa best_isa();

/// Does nothing but fused multiply-adds of float32 in registers, at least `rounds` times 1024 of one vector, and returns the
/// number of floating-point operations done (two per element). Timed by the caller it gives the peak of one core.
/// `portable` multiplies and adds in two steps, in vectors of four. Throws Error(internal) for what is not available.
[[nodiscard]] Index multiply_add(Isa isa, Index rounds);

} // namespace attn::core
