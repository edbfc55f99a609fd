#include "attn/model/extra_key.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace {

using attn::ElementType;
using attn::StoredTensor;
using attn::Tensor;
using attn::model::bias_with_extra_key;

constexpr double hidden = -std::numeric_limits<double>::infinity();

std::vector<double> values_of(const StoredTensor& tensor)
{
    return attn::load<double>(tensor.view()).values;
}

TEST(ExtraKey, StandsBehindTheRowsOfEachHead)
{
    const Tensor<float> rows({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
    const Tensor<float> joined = attn::model::with_row(rows, Tensor<float>({4}, {10, 20, 30, 40}));
    EXPECT_EQ(joined.shape, (attn::Shape{2, 3, 2}));
    EXPECT_EQ(joined.values, (std::vector<float>{1, 2, 3, 4, 10, 20, 5, 6, 7, 8, 30, 40}));
}

TEST(ExtraKey, IsSeenWhateverTheWordsAllow)
{
    const StoredTensor causal = bias_with_extra_key({}, {.causal = true}, {0, 2}, 3);
    EXPECT_EQ(causal.shape, (attn::Shape{1, 2, 4}));
    EXPECT_EQ(values_of(causal), (std::vector<double>{0, hidden, hidden, 0, 0, 0, 0, 0}));
    const StoredTensor window = bias_with_extra_key({}, {.window = attn::core::Window{0, 0}}, {1}, 3);
    EXPECT_EQ(values_of(window), (std::vector<double>{hidden, 0, hidden, 0}));
}

TEST(ExtraKey, JoinsMasksOfBothKinds)
{
    StoredTensor numbers("mask", ElementType::float32, {1, 2, 2}); // the third key is beyond the mask
    attn::store(numbers, 0, std::span<const float>(std::vector<float>{1.5F, -2, 3, 4}));
    EXPECT_EQ(values_of(bias_with_extra_key(numbers.view(), {.causal = true}, {0, 1}, 3)),
              (std::vector<double>{1.5, hidden, hidden, 0, 3, 4, hidden, 0}));
    StoredTensor seen("mask", ElementType::boolean, {2, 1, 2});
    seen.bytes = {std::byte{0}, std::byte{1}, std::byte{1}, std::byte{0}};
    EXPECT_EQ(values_of(bias_with_extra_key(seen.view(), {}, {0}, 2)), (std::vector<double>{hidden, 0, 0, 0, hidden, 0}));
}

} // namespace
