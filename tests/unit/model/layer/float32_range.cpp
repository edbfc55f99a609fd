#include "attn/model/layer/float32_range.hpp"

#include "attn/tensor/error.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace {

using attn::ElementType;
using attn::Shape;

constexpr double infinity = std::numeric_limits<double>::infinity();

std::string message_of(const std::vector<double>& values, const Shape& shape)
{
    try {
        attn::model::require_float32_range(attn::row_major_view(ElementType::float64, shape, std::as_bytes(std::span(values))),
                                           "'x'");
    } catch (const attn::Error& error) {
        return error.what();
    }
    return "no error";
}

TEST(Float32Range, NamesTheFirstNumberBeyondIt)
{
    EXPECT_EQ(message_of({1, 2, 3, 4, -1e39, 1e300}, {3, 2}),
              "'x' at (2, 0): got -1e+39, which is beyond float32; allowed: up to 3.4e38, or --dtype float64");
    EXPECT_EQ(message_of({infinity, std::nan(""), 1e39}, {3}),
              "'x' at (2,): got 1e+39, which is beyond float32; allowed: up to 3.4e38, or --dtype float64");
}

TEST(Float32Range, IsNoQuestionOfInfinitiesAndNaN)
{
    EXPECT_EQ(message_of({3.4e38, -3.4e38, 1e-300, infinity, -infinity, std::nan("")}, {2, 3}), "no error");
    EXPECT_EQ(message_of({}, {0, 2}), "no error");
}

TEST(Float32Range, IsNoQuestionOfOtherTypes)
{
    const std::vector<float> values{std::numeric_limits<float>::max(), std::numeric_limits<float>::infinity()};
    EXPECT_NO_THROW(attn::model::require_float32_range(
        attn::row_major_view(ElementType::float32, {2}, std::as_bytes(std::span(values))), "'x'"));
}

} // namespace
