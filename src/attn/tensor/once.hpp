// What many threads need and one does.
#pragma once

#include <mutex>

namespace attn {

/// What is done once, from whichever thread; what fails is tried again. No std::call_once, which may hang there.
class Once {
public:
    template <typename Do>
    void act(Do act)
    {
        before([&] {
            act();
            done_ = true;
        });
    }
    /// Does it as often as it is called before act() was.
    template <typename Do>
    void before(Do act)
    {
        const std::scoped_lock lock(mutex_);
        if (!done_) {
            act();
        }
    }

private:
    std::mutex mutex_;
    bool done_ = false;
};

} // namespace attn
