// How work is done: what changes numbers (rounding, instruction set), and what does not (threads, who hears of it); and blocks
// of independent work on a few threads.
#pragma once

#include "attn/core/isa.hpp"
#include "attn/tensor/shape.hpp"

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
    Isa isa = Isa::portable;             ///< of attention and of linear layers in float32, where it has a path for them
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

/// Multiplications that are done before a second thread has started.
inline constexpr double worth_a_thread = 1e6;

/// Calls `block(0)` … `block(count - 1)`, each once, in any order and on up to `work.threads` threads, one of which is the
/// caller's; on fewer where the system does not give as many. The others are started when they are first wanted and wait for
/// more as long as the program lives; a call while another one has them works alone. `work.progress` hears of the share
/// done after each block of the calling thread. The first exception, from a block or from `progress`, stops the handing out of
/// blocks and is thrown again here once every thread has ended.
void for_each_block(Index count, const Work& work, const std::function<void(Index)>& block);
/// The same, and tells each block which worker it is on, from 0 up to but not including `work.threads`: of two blocks on one
/// worker the first has ended before the second begins.
void for_each_block(Index count, const Work& work, const std::function<void(Index block, int worker)>& block);

} // namespace attn::core
