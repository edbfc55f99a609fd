#include "attn/report/json/json.hpp"

#include "attn/tensor/view.hpp"
#include "unit/infinity.hpp"
#include "unit/report/sample.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace {

using attn::ElementType;
using attn::Shape;

std::string tensor_json(ElementType type, const Shape& shape, const std::vector<double>& values,
                        const attn::report::TensorJson& options = {})
{
    attn::StoredTensor tensor("x", type, shape);
    attn::store(tensor, 0, std::span<const double>(values));
    return sample::text_of([&](auto& buffer) { attn::report::write_tensor_json(tensor.view(), options, buffer); });
}

TEST(TensorJson, NestsOneLevelADimension)
{
    EXPECT_EQ(tensor_json(ElementType::float32, {2, 1, 2}, {1, -0.0, 0.1, 1e30}),
              R"({"schema":"attn-cli/tensor/1","dtype":"float32","shape":[2,1,2],"data":[[[1.0,-0.0]],[[0.1,1e+30]]]})"
              "\n");
    EXPECT_EQ(tensor_json(ElementType::float64, {2}, {1.0 / 3, 2}),
              R"({"schema":"attn-cli/tensor/1","dtype":"float64","shape":[2],"data":[0.3333333333333333,2.0]})"
              "\n");
    EXPECT_EQ(tensor_json(ElementType::float32, {}, {0.5}),
              R"({"schema":"attn-cli/tensor/1","dtype":"float32","shape":[],"data":0.5})"
              "\n");
}

TEST(TensorJson, SaysNamesWhenAsked)
{
    EXPECT_EQ(tensor_json(ElementType::float16, {1}, {0.1}, {.name = "weights"}),
              R"({"schema":"attn-cli/tensor/1","name":"weights","dtype":"float16","shape":[1],"data":[0.099975586]})"
              "\n");
}

TEST(TensorJson, WritesInfinitiesAsStringsAndMaskedScoresAsNull)
{
    const std::vector<double> values{-infinity, infinity, std::numeric_limits<double>::quiet_NaN(), 1};
    for (const ElementType type : {ElementType::float16, ElementType::bfloat16, ElementType::float32, ElementType::float64}) {
        EXPECT_TRUE(tensor_json(type, {2, 2}, values)
                        .ends_with(R"("data":[["-inf","inf"],["nan",1.0]]})"
                                   "\n"));
        EXPECT_TRUE(tensor_json(type, {2, 2}, values, {.masked = true})
                        .ends_with(R"("data":[[null,"inf"],["nan",1.0]]})"
                                   "\n"));
        EXPECT_TRUE(tensor_json(type, {4}, values, {.masked = true})
                        .ends_with(R"("data":[null,"inf","nan",1.0]})"
                                   "\n"));
    }
}

TEST(TensorJson, WritesLongRowsWhereverTheirInfinitiesStand)
{
    std::vector<double> values(2000, 0.5);
    std::string expected;
    for (const std::size_t infinite : {0U, 1U, 63U, 64U, 511U, 512U, 513U, 1024U, 1999U}) {
        values[infinite] = -infinity;
    }
    for (const double value : values) {
        expected += (expected.empty() ? "" : ",") + std::string(value == 0.5 ? "0.5" : "null");
    }
    for (const ElementType type : {ElementType::float32, ElementType::float64}) {
        EXPECT_TRUE(tensor_json(type, {2000}, values, {.masked = true}).ends_with("[" + expected + "]}\n"));
    }
}

TEST(TensorJson, WritesEmptyDimensionsAsEmptyLists)
{
    EXPECT_TRUE(tensor_json(ElementType::float32, {0}, {}).ends_with("\"data\":[]}\n"));
    EXPECT_TRUE(tensor_json(ElementType::float32, {2, 0}, {}).ends_with("\"data\":[[],[]]}\n"));
    EXPECT_TRUE(tensor_json(ElementType::float32, {2, 0, 3}, {}).ends_with("\"data\":[[],[]]}\n"));
    EXPECT_TRUE(tensor_json(ElementType::float32, {0, 2, 3}, {}).ends_with("\"data\":[]}\n"));
}

} // namespace
