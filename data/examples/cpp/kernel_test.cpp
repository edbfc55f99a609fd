// The kernel against golden vectors: raw files that attn-cli wrote, inputs and context in one. They may be committed; whoever
// runs this test needs no attn-cli.
#include "kernel.hpp"

#include <gtest/gtest.h>

#include <cmath>

class Golden : public testing::TestWithParam<const char*> {};

TEST_P(Golden, TheKernelGivesTheSame)
{
    const auto golden = read_raw(GetParam());
    const Array context = attention(golden.at("queries"), golden.at("keys"), golden.at("values"));
    const Array& right = golden.at("context");
    ASSERT_EQ(context.shape, right.shape);
    for (std::size_t i = 0; i < right.numbers.size(); ++i) {
        ASSERT_NEAR(context.numbers[i], right.numbers[i], 1e-5 + 1.3e-6 * std::abs(right.numbers[i])) << "number " << i;
    }
}

INSTANTIATE_TEST_SUITE_P(Cases, Golden, testing::Values("prefill.bin", "chunk.bin", "token.bin"));
