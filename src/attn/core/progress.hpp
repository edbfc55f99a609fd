// How many threads may work, and whom to tell how far the work is.
#pragma once

#include <functional>

namespace attn::core {

struct Work {
    int threads = 1;
    /// Called now and then, always on the calling thread, with the share done in [0, 1]. What it throws ends the work.
    std::function<void(double share)> progress;
};

} // namespace attn::core
