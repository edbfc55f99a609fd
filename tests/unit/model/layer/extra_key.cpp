#include "attn/model/layer/extra_key.hpp"

#include <gtest/gtest.h>

namespace {

using attn::Tensor;

TEST(ExtraKey, StandsBehindTheRowsOfEachHead)
{
    const Tensor<float> rows({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
    const Tensor<float> joined = attn::model::with_row(rows, Tensor<float>({4}, {10, 20, 30, 40}));
    EXPECT_EQ(joined.shape, (attn::Shape{2, 3, 2}));
    EXPECT_EQ(joined.values, (std::vector<float>{1, 2, 3, 4, 10, 20, 5, 6, 7, 8, 30, 40}));
}

} // namespace
