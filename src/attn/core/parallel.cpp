#include "attn/core/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

namespace attn::core {
namespace {

/// Hands out block numbers and keeps the first exception.
class Blocks {
public:
    Blocks(Index count, const std::function<void(Index, int)>& block) : count_(count), block_(block) {}

    /// Works blocks off until none is left; `done` is called after each.
    void work_off(int worker, const std::function<void()>& done)
    {
        try {
            for (Index index = next_++; index < count_ && !stopped_; index = next_++) {
                block_(index, worker);
                ++finished_;
                done();
            }
        } catch (...) {
            const std::scoped_lock lock(mutex_);
            if (!failure_) {
                failure_ = std::current_exception();
            }
            stopped_ = true;
        }
    }

    [[nodiscard]] double share() const { return static_cast<double>(finished_) / static_cast<double>(count_); }

    void rethrow() const
    {
        if (failure_) {
            std::rethrow_exception(failure_);
        }
    }

private:
    Index count_;
    const std::function<void(Index, int)>& block_;
    std::atomic<Index> next_{0};
    std::atomic<Index> finished_{0};
    std::atomic<bool> stopped_{false};
    std::mutex mutex_;
    std::exception_ptr failure_;
};

/// Waits until `value` is no longer `old`; awake at first, since more work often follows at once and to wake up takes long.
void wait_while(const std::atomic<int>& value, int old)
{
    constexpr int looks = 100; // some tens of microseconds
    for (int i = 0; i < looks && value == old; ++i) {
        std::this_thread::yield();
    }
    value.wait(old);
}

/// Threads that wait for work as long as the program lives. One caller at a time has them; meanwhile another one, or a block
/// that asks for threads itself, works alone. A caller waits only for those who have begun: in the child of a fork nobody has.
class Helpers {
public:
    /// Calls `own` here and meanwhile works off blocks as workers 1 … most, or as many as there are. `own` throws nothing.
    template <typename Own>
    void work_off(Blocks& blocks, int most, const Own& own)
    {
        if (most < 1 || taken_.test_and_set()) {
            return own();
        }
        start(most);
        const int places = std::min(most, started_);
        blocks_ = &blocks;
        left_ = 0;
        places_ = places;
        places_.notify_all();
        own();
        const int entered = places - places_.exchange(0);
        for (int left = left_; left < entered; left = left_) {
            wait_while(left_, left);
        }
        taken_.clear();
    }

private:
    void start(int count)
    {
        try {
            for (; started_ < count; ++started_) {
                std::thread([this] { help(); }).detach();
            }
        } catch (const std::exception&) { // the system gives no more threads: those that there are do all of it
        }
    }

    [[noreturn]] void help()
    {
        for (;;) {
            int place = places_;
            if (place == 0) {
                wait_while(places_, 0);
            } else if (places_.compare_exchange_strong(place, place - 1)) {
                blocks_->work_off(place, [] {});
                ++left_;
                left_.notify_one();
            }
        }
    }

    std::atomic_flag taken_;
    int started_ = 0;
    Blocks* blocks_ = nullptr;
    std::atomic<int> places_{0}; ///< for helpers who have not begun
    std::atomic<int> left_{0};   ///< helpers who have ended
};

} // namespace

void for_each_block(Index count, const Work& work, const std::function<void(Index)>& block)
{
    for_each_block(count, work, [&block](Index index, int) { block(index); });
}

void for_each_block(Index count, const Work& work, const std::function<void(Index, int)>& block)
{
    static auto& helpers = *new Helpers; // NOLINT(cppcoreguidelines-owning-memory): they may outlive whatever is destroyed
    Blocks blocks(count, block);
    helpers.work_off(blocks, static_cast<int>(std::min<Index>(work.threads, count)) - 1, [&] {
        blocks.work_off(0, [&] {
            if (work.progress) {
                work.progress(blocks.share());
            }
        });
    });
    blocks.rethrow();
}

} // namespace attn::core
