#include "attn/core/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

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

} // namespace
