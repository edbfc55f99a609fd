// Blocks of independent work on a few threads.
#pragma once

#include "attn/core/work.hpp"
#include "attn/tensor/shape.hpp"

#include <functional>

namespace attn::core {

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
