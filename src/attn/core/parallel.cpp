#include "attn/core/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

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

} // namespace

void for_each_block(Index count, const Work& work, const std::function<void(Index)>& block)
{
    for_each_block(count, work, [&block](Index index, int) { block(index); });
}

void for_each_block(Index count, const Work& work, const std::function<void(Index, int)>& block)
{
    Blocks blocks(count, block);
    const Index helpers = std::min<Index>(work.threads, count) - 1;
    {
        std::vector<std::jthread> threads;
        for (Index i = 0; i < helpers; ++i) {
            try {
                threads.emplace_back([&blocks, i] { blocks.work_off(static_cast<int>(i) + 1, [] {}); });
            } catch (const std::system_error&) {
                break; // the system gives no more threads: those that there are do all of it
            }
        }
        blocks.work_off(0, [&] {
            if (work.progress) {
                work.progress(blocks.share());
            }
        });
    }
    blocks.rethrow();
}

} // namespace attn::core
