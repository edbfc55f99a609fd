#include "attn/model/layer/float32_range.hpp"

#include "unit/error_of.hpp"
#include "unit/infinity.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace {

using attn::ElementType;
using attn::Shape;

std::string range_error(const std::vector<double>& values, const Shape& shape)
{
    return error_of([&] {
        attn::model::require_float32_range(attn::row_major_view(ElementType::float64, shape, std::as_bytes(std::span(values))),
                                           "'x'");
    });
}

TEST(Float32Range, NamesTheFirstNumberBeyondIt)
{
    EXPECT_EQ(range_error({1, 2, 3, 4, -1e39, 1e300}, {3, 2}),
              "'x' at (2, 0): got -1e+39, which is beyond float32; allowed: up to 3.4e38, or --dtype float64");
    EXPECT_EQ(range_error({infinity, std::nan(""), 1e39}, {3}),
              "'x' at (2,): got 1e+39, which is beyond float32; allowed: up to 3.4e38, or --dtype float64");
}

TEST(Float32Range, IsNoQuestionOfInfinitiesAndNaN)
{
    EXPECT_EQ(range_error({3.4e38, -3.4e38, 1e-300, infinity, -infinity, std::nan("")}, {2, 3}), "no error");
    EXPECT_EQ(range_error({}, {0, 2}), "no error");
}

TEST(Float32Range, IsNoQuestionOfOtherTypes)
{
    const std::vector<float> values{std::numeric_limits<float>::max(), std::numeric_limits<float>::infinity()};
    EXPECT_NO_THROW(attn::model::require_float32_range(
        attn::row_major_view(ElementType::float32, {2}, std::as_bytes(std::span(values))), "'x'"));
}

} // namespace
