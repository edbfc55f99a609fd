// The kernel against golden vectors: raw files that attn-cli wrote, inputs and results in one. They may be committed; whoever
// runs this test needs no attn-cli.
#include "kernel.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace {

void expect_close(const Array& mine, const Array& right)
{
    ASSERT_EQ(mine.shape, right.shape);
    for (std::size_t i = 0; i < right.numbers.size(); ++i) {
        ASSERT_NEAR(mine.numbers[i], right.numbers[i], 1e-5 + 1.3e-6 * std::abs(right.numbers[i])) << "number " << i;
    }
}

} // namespace

class Golden : public testing::TestWithParam<const char*> {};

TEST_P(Golden, TheKernelGivesTheSame)
{
    const auto golden = read_raw(GetParam());
    expect_close(attention(golden.at("queries"), golden.at("keys"), golden.at("values")), golden.at("context"));
}

TEST(GoldenGradients, TheBackwardKernelGivesTheSame)
{
    const auto golden = read_raw("backward.bin");
    const Gradients mine = attention_backward(golden.at("queries"), golden.at("keys"), golden.at("values"), golden.at("grad"));
    expect_close(mine.queries, golden.at("dq"));
    expect_close(mine.keys, golden.at("dk"));
    expect_close(mine.values, golden.at("dv"));
}

INSTANTIATE_TEST_SUITE_P(Cases, Golden, testing::Values("prefill.bin", "chunk.bin", "token.bin"));
