#include "attn/tensor/shape.hpp"

#include "attn/tensor/error.hpp"
#include "attn/tensor/tensor.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace {

using attn::Shape;

constexpr attn::Index largest_index = std::numeric_limits<attn::Index>::max();

TEST(Shape, IsWrittenAsPythonWritesIt)
{
    EXPECT_EQ(attn::to_string({}), "()");
    EXPECT_EQ(attn::to_string({5}), "(5,)");
    EXPECT_EQ(attn::to_string({2, 0, 3}), "(2, 0, 3)");
}

TEST(Shape, CountsElements)
{
    EXPECT_EQ(attn::element_count({}), 1);
    EXPECT_EQ(attn::element_count({2, 3, 4}), 24);
    EXPECT_EQ(attn::element_count({largest_index, largest_index, 0}), 0);
}

TEST(Shape, HasAnIndexForEachPlace)
{
    EXPECT_EQ(attn::index_of({}, 0), Shape{});
    EXPECT_EQ(attn::index_of({5}, 3), Shape{3});
    EXPECT_EQ(attn::index_of({2, 3, 4}, 23), (Shape{1, 2, 3}));
    EXPECT_EQ(attn::index_of({2, 3, 4}, 5), (Shape{0, 1, 1}));
}

TEST(Shape, RefusesWhatCannotBeAddressed)
{
    EXPECT_THROW((void)attn::element_count({largest_index, 2}), attn::Error);
    EXPECT_THROW((void)attn::element_count({-1}), attn::Error);
    EXPECT_THROW((void)attn::checked_sum(largest_index, 1, "bytes"), attn::Error);
    EXPECT_EQ(attn::checked_sum(largest_index - 1, 1, "bytes"), largest_index);
}

TEST(Tensor, GivesItsMatricesInOrder)
{
    attn::Tensor<float> tensor({2, 2, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
    EXPECT_EQ(tensor.matrix(1)(0, 2), 8);
    tensor.matrix(0)(1, 0) = 42;
    EXPECT_EQ(tensor.values[3], 42);
}

} // namespace
