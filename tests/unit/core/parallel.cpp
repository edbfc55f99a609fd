#include "attn/core/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace {

using attn::Index;
using attn::core::for_each_block;
using attn::core::Work;

TEST(ForEachBlock, CallsEachBlockOnce)
{
    for (const int threads : {1, 2, 7}) {
        std::vector<std::atomic<int>> calls(100);
        for_each_block(100, Work{threads, {}}, [&](Index block) { ++calls[static_cast<std::size_t>(block)]; });
        for (const auto& count : calls) {
            EXPECT_EQ(count, 1);
        }
    }
}

TEST(ForEachBlock, OfNothingDoesNothing)
{
    for_each_block(0, Work{4, {}}, [](Index) { FAIL(); });
}

TEST(ForEachBlock, ReportsProgressOnTheCallingThreadUpToTheWhole)
{
    const auto caller = std::this_thread::get_id();
    double last = 0;
    for_each_block(10,
                   Work{1,
                        [&](double share) {
                            EXPECT_EQ(std::this_thread::get_id(), caller);
                            EXPECT_GT(share, last);
                            last = share;
                        }},
                   [](Index) {});
    EXPECT_EQ(last, 1);
}

TEST(ForEachBlock, StopsAndThrowsWhatABlockThrew)
{
    for (const int threads : {1, 3}) {
        std::atomic<int> calls = 0;
        EXPECT_THROW(for_each_block(1000, Work{threads, {}},
                                    [&](Index block) {
                                        ++calls;
                                        if (block == 5) {
                                            throw std::runtime_error("five");
                                        }
                                        std::this_thread::sleep_for(std::chrono::microseconds(100));
                                    }),
                     std::runtime_error);
        EXPECT_LT(calls, 1000);
    }
}

TEST(ForEachBlock, IsCancelledByAThrowingObserver)
{
    EXPECT_THROW(for_each_block(1000, Work{2, [](double) { throw std::runtime_error("stop"); }},
                                [](Index) { std::this_thread::sleep_for(std::chrono::microseconds(100)); }),
                 std::runtime_error);
}

constexpr int most_threads = 7; ///< that any test here asks for

/// Adds those that `count` blocks ran on, each of which takes long enough for all to have one.
void note_threads(Index count, int threads, std::set<pid_t>& ids)
{
    std::mutex mutex;
    for_each_block(count, Work{threads, {}}, [&](Index) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        const std::scoped_lock lock(mutex);
        ids.insert(::gettid());
    });
}

TEST(ForEachBlock, HasTheSameThreadsCallAfterCall)
{
    std::set<pid_t> ids;
    for (int call = 0; call < 20; ++call) {
        note_threads(20, most_threads, ids);
    }
    EXPECT_GT(ids.size(), 1U);
    EXPECT_LE(ids.size(), std::size_t{most_threads});
    std::set<pid_t> few;
    note_threads(20, 2, few);
    EXPECT_LE(few.size(), 2U);
    std::set<pid_t> alone;
    note_threads(1, most_threads, alone);
    EXPECT_EQ(alone, std::set{::gettid()});
}

TEST(ForEachBlock, TellsEachBlockAWorkerThatIsBusyWithNothingElse)
{
    for (int call = 0; call < 200; ++call) {
        const int threads = 1 + call % 5;
        std::vector<std::atomic<int>> busy(static_cast<std::size_t>(threads));
        std::atomic<int> calls = 0;
        for_each_block(50, Work{threads, {}}, [&](Index, int worker) {
            EXPECT_EQ(++busy.at(static_cast<std::size_t>(worker)), 1);
            ++calls;
            --busy[static_cast<std::size_t>(worker)];
        });
        EXPECT_EQ(calls, 50);
    }
}

TEST(ForEachBlock, GoesOnAfterACallThatThrew)
{
    for (int call = 0; call < 50; ++call) {
        EXPECT_THROW(for_each_block(20, Work{3, {}}, [](Index) { throw std::runtime_error("every block"); }),
                     std::runtime_error);
        std::atomic<int> calls = 0;
        for_each_block(20, Work{3, {}}, [&](Index) { ++calls; });
        EXPECT_EQ(calls, 20);
    }
}

TEST(ForEachBlock, WorksWithinABlock)
{
    std::atomic<int> calls = 0;
    for_each_block(20, Work{3, {}}, [&](Index) { for_each_block(20, Work{3, {}}, [&](Index) { ++calls; }); });
    EXPECT_EQ(calls, 400);
}

TEST(ForEachBlock, ServesCallersOnSeveralThreadsAtOnce)
{
    std::atomic<int> calls = 0;
    {
        std::vector<std::jthread> callers;
        for (int caller = 0; caller < 4; ++caller) {
            callers.emplace_back([&] {
                for (int call = 0; call < 100; ++call) {
                    for_each_block(10, Work{3, {}}, [&](Index) { ++calls; });
                }
            });
        }
    }
    EXPECT_EQ(calls, 4000);
}

TEST(ForEachBlock, WorksInTheChildOfAForkWhichHasNoneOfTheThreads)
{
    std::set<pid_t> ids;
    note_threads(20, 3, ids); // there are some, which the child does not have
    const pid_t child = ::fork();
    if (child == 0) {
        std::atomic<int> calls = 0;
        for_each_block(20, Work{3, {}}, [&](Index) { ++calls; });
        ::_exit(calls == 20 ? 0 : 1);
    }
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

} // namespace
