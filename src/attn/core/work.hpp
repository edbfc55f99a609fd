// How work is done: what changes numbers (rounding, instruction set), and what does not (threads, who hears of it).
#pragma once

#include "attn/core/isa.hpp"

#include <array>
#include <functional>
#include <string_view>

namespace attn::core {

/// When numbers are rounded to their type.
enum class Rounding {
    stage, ///< after every stage, which is computed in double
    step,  ///< after every step of every stage, too: each product, sum, quotient and exponential, as a loop over floats does.
           ///< float64 needs no rounding then
};
inline constexpr std::array<std::string_view, 2> rounding_names{"stage", "step"};

struct Work {
    int threads = 1;
    /// Called now and then, always on the calling thread, with the share done in [0, 1]. What it throws ends the work.
    std::function<void(double share)> progress = {};
    Isa isa = Isa::portable;             ///< of attention in float32, where it has a path for it
    Rounding rounding = Rounding::stage; ///< `step` is portable

    /// The same for one of `parts` pieces that are done one after the other.
    [[nodiscard]] Work piece(Index part, Index parts) const
    {
        Work same = *this;
        if (progress) {
            same.progress = [whole = progress, part, parts](double share) {
                whole((static_cast<double>(part) + share) / static_cast<double>(parts));
            };
        }
        return same;
    }
};

} // namespace attn::core
