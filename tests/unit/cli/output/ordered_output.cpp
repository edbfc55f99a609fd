#include "cli/output/ordered_output.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <new>
#include <numeric>
#include <random>
#include <sstream>
#include <stdexcept>
#include <thread>

#include <unistd.h>

namespace {

using namespace attn::cli;

/// A place for an output file, which goes with the test.
class OrderedOutputTest : public testing::Test {
protected:
    OrderedOutputTest() : path_(testing::TempDir() + "attn-ordered-" + std::to_string(::getpid())) {}
    ~OrderedOutputTest() override { std::filesystem::remove(path_); }
    OrderedOutputTest(const OrderedOutputTest&) = delete;
    OrderedOutputTest(OrderedOutputTest&&) = delete;
    OrderedOutputTest& operator=(const OrderedOutputTest&) = delete;
    OrderedOutputTest& operator=(OrderedOutputTest&&) = delete;

    [[nodiscard]] std::string written() const
    {
        std::ifstream file(path_);
        std::ostringstream text;
        text << file.rdbuf();
        return text.str();
    }

    std::string path_;
    Log log_;
    StageReporter progress_{log_};
};

void finish(OrderedOutput& output, attn::Index batch, std::string bytes, std::exception_ptr failure = {})
{
    output.finish(batch, bytes, {}, {.lines = batch + 1, .share = {}}, std::move(failure));
}

TEST_F(OrderedOutputTest, WritesInOrderWhatIsFinishedInAnyOrder)
{
    Output file(path_);
    OrderedOutput output(file, log_, progress_, {}, 10);
    for (const attn::Index batch : {2, 1, 4, 0, 3}) {
        finish(output, batch, std::to_string(batch) + "\n");
    }
    file.finish();
    EXPECT_EQ(written(), "0\n1\n2\n3\n4\n");
}

TEST_F(OrderedOutputTest, BeginsOnceBeforeTheFirstBytes)
{
    Output file(path_);
    OrderedOutput output(file, log_, progress_, {.text = "header\n", .dropped = 1}, 10);
    finish(output, 0, "");
    finish(output, 1, "\none");
    finish(output, 2, "\ntwo");
    file.finish();
    EXPECT_EQ(written(), "header\none\ntwo");
}

TEST_F(OrderedOutputTest, LeavesOutWhatComesAfterAFailure)
{
    Output file(path_);
    OrderedOutput output(file, log_, progress_, {}, 10);
    finish(output, 2, "two");
    finish(output, 1, "one", std::make_exception_ptr(std::runtime_error("the second")));
    EXPECT_FALSE(output.stopped());
    finish(output, 0, "zero ");
    EXPECT_TRUE(output.stopped());
    EXPECT_THROW(output.rethrow(), std::runtime_error);
    EXPECT_FALSE(output.wait_for_turn(3));
    file.finish();
    EXPECT_EQ(written(), "zero one");
}

TEST_F(OrderedOutputTest, KeepsNobodyWaitingAfterAFailureOfNoBatch)
{
    Output file(path_);
    OrderedOutput output(file, log_, progress_, {}, 0);
    {
        const std::jthread waiting([&] { finish(output, 1, "one"); });
        const std::jthread streaming([&] { EXPECT_FALSE(output.wait_for_turn(2)); });
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        output.fail(std::make_exception_ptr(std::bad_alloc()));
        output.fail(std::make_exception_ptr(std::runtime_error("the second")));
    }
    finish(output, 0, "zero");
    EXPECT_TRUE(output.stopped());
    EXPECT_THROW(output.rethrow(), std::bad_alloc);
    file.finish();
    EXPECT_EQ(written(), "");
}

// More batches than may wait, each from one of many threads, some of them in several parts.
TEST_F(OrderedOutputTest, KeepsTheOrderOfManyThreads)
{
    constexpr attn::Index batches = 2000;
    Output file(path_);
    OrderedOutput output(file, log_, progress_, {}, 3);
    std::atomic<attn::Index> next = 0;
    {
        std::vector<std::jthread> threads;
        for (unsigned seed = 0; seed < 6; ++seed) {
            threads.emplace_back([&, seed] {
                std::mt19937 random(seed);
                for (attn::Index batch = next++; batch < batches; batch = next++) {
                    if (random() % 4 == 0) {
                        ASSERT_TRUE(output.wait_for_turn(batch));
                        output.write(std::to_string(batch), {});
                        finish(output, batch, " ");
                    } else {
                        finish(output, batch, std::to_string(batch) + " ");
                    }
                }
            });
        }
    }
    output.rethrow();
    file.finish();
    std::istringstream numbers(written());
    attn::Index expected = 0;
    for (attn::Index number = 0; numbers >> number; ++expected) {
        ASSERT_EQ(number, expected);
    }
    EXPECT_EQ(expected, batches);
}

} // namespace
