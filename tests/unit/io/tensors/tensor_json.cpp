#include "attn/io/tensors/tensor_json.hpp"

#include "unit/error_of.hpp"
#include "unit/infinity.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace {

using attn::ElementType;
using attn::Index;
using attn::Shape;
using attn::StoredTensor;
using attn::io::parse_tensor_json;

std::string object(const std::string& members)
{
    return R"({"schema":"attn-cli/tensor/1",)" + members + "}";
}

std::string message_of(const std::string& json)
{
    SCOPED_TRACE(json);
    return error_of([&] { (void)parse_tensor_json(json); });
}

std::vector<double> values_of(const std::string& members)
{
    return attn::load<double>(parse_tensor_json(object(members)).view()).values;
}

TEST(ReadTensorJson, GivesNameTypeShapeAndNumbers)
{
    const StoredTensor tensor =
        parse_tensor_json(object(R"("name":"weights","dtype":"float32","shape":[2,1,2],"data":[[[1,-0.0]],[[0.1,3e2]]])"));
    EXPECT_EQ(tensor.name, "weights");
    EXPECT_EQ(tensor.type, ElementType::float32);
    EXPECT_EQ(tensor.shape, (Shape{2, 1, 2}));
    const auto values = attn::load<float>(tensor.view()).values;
    EXPECT_EQ(std::vector<float>(values.begin(), values.end()), (std::vector<float>{1, -0.0F, 0.1F, 300}));
    EXPECT_TRUE(std::signbit(values[1]));
    EXPECT_EQ(parse_tensor_json(object(R"("dtype":"float32","shape":[],"data":7)")).shape, Shape{});
    EXPECT_EQ(parse_tensor_json(object(R"("dtype":"float32","shape":[],"data":7)")).name, "");
}

TEST(ReadTensorJson, RoundsToTheTypeThatItStates)
{
    EXPECT_EQ(values_of(R"("dtype":"float64","shape":[1],"data":[0.1])"), std::vector{0.1});
    EXPECT_EQ(values_of(R"("dtype":"float32","shape":[1],"data":[0.1])"), std::vector{static_cast<double>(0.1F)});
    EXPECT_EQ(values_of(R"("dtype":"float16","shape":[1],"data":[0.099975586])"), std::vector{0.0999755859375});
    EXPECT_EQ(values_of(R"("dtype":"bfloat16","shape":[1],"data":[1.0078125])"), std::vector{1.0078125});
}

TEST(ReadTensorJson, TakesNullForMaskedAndWordsForWhatIsNotFinite)
{
    const auto values = values_of(R"("dtype":"float32","shape":[4],"data":["inf","-inf",null,"nan"])");
    EXPECT_EQ(values[0], infinity);
    EXPECT_EQ(values[1], -infinity);
    EXPECT_EQ(values[2], -infinity);
    EXPECT_TRUE(std::isnan(values[3]));
}

TEST(ReadTensorJson, RefusesNumbersBeyondTheType)
{
    const auto refusal = [](const std::string& type, const std::string& number) {
        return message_of(object(R"("dtype":")" + type + R"(","shape":[2,1],"data":[[1.0],[)" + number + "]]"));
    };
    const std::string allowed = R"(; allowed: numbers that the type holds, or "inf")";
    EXPECT_EQ(refusal("float32", "1e39"), "data at (1, 0): got 1e39, which is beyond float32" + allowed);
    EXPECT_EQ(refusal("float16", "-65520.0"), "data at (1, 0): got -65520.0, which is beyond float16" + allowed);
    EXPECT_NE(refusal("float64", "1e309").find("a number beyond the range of float64"), std::string::npos);
}

TEST(ReadTensorJson, TakesNumbersTooSmallForTheTypeAsZero)
{
    EXPECT_EQ(values_of(R"("dtype":"float64","shape":[3],"data":[1e-310,1e-400,1e-99999999999999999999])"),
              (std::vector<double>{1e-310, 0, 0}));
    const auto tiny = values_of(R"("dtype":"float32","shape":[2],"data":[1e-310,-1e-310])");
    EXPECT_EQ(tiny, (std::vector<double>{0, 0}));
    EXPECT_TRUE(std::signbit(tiny[1]));
}

TEST(ReadTensorJson, TakesShapesWithoutElementsAsTheyAreStated)
{
    EXPECT_EQ(parse_tensor_json(object(R"("dtype":"float32","shape":[0],"data":[])")).shape, Shape{0});
    EXPECT_EQ(parse_tensor_json(object(R"("dtype":"float32","shape":[2,0,3],"data":[[],[]])")).shape, (Shape{2, 0, 3}));
    EXPECT_EQ(parse_tensor_json(object(R"("dtype":"float32","shape":[0,2,3],"data":[])")).shape, (Shape{0, 2, 3}));
    const Shape huge{Index{1} << 62, 0, Index{1} << 62};
    EXPECT_EQ(
        parse_tensor_json(object(R"("dtype":"float32","shape":[4611686018427387904,0,4611686018427387904],"data":[])")).shape,
        huge);
}

TEST(ReadTensorJson, RefusesWhatIsNone)
{
    const std::string number = R"(; allowed: a number, "inf", "-inf", "nan" or null)";
    const std::vector<std::pair<std::string, std::string>> cases{
        {R"("dtype":"float32","shape":[3],"data":[1,2])",
         "data: got arrays of the shape (2,); allowed: (3,), the shape stated"},
        {R"("dtype":"float32","shape":[2,1],"data":[1,2])",
         "data: got arrays of the shape (2,); allowed: (2, 1), the shape stated"},
        {R"("dtype":"float32","shape":[],"data":[1])", "data: got arrays of the shape (1,); allowed: (), the shape stated"},
        {R"("dtype":"float32","shape":[1],"data":[])", "data: got arrays of the shape (0,); allowed: (1,), the shape stated"},
        {R"("dtype":"float32","shape":[0],"data":[1])", "data: got arrays of the shape (1,); allowed: (0,), the shape stated"},
        {R"("dtype":"float32","shape":[4611686018427387904,4],"data":[])",
         "data: got arrays of the shape (0,); allowed: (4611686018427387904, 4), the shape stated"},
        {R"("dtype":"float32","shape":[2,2],"data":[[1,2],[3]])",
         "data[1]: got an array of 1 element; allowed: an array of 2 elements, as before it"},
        {R"("dtype":"float32","shape":[2],"data":[1,"Infinity"])", "data[1]: got 'Infinity'" + number},
        {R"("dtype":"float32","shape":[2],"data":[1,true])", "data[1]: got true" + number},
        {R"("dtype":"float32","shape":[2],"data":[1,{}])", "data[1]: got an object of 0 members" + number},
        {R"("dtype":"float32","shape":[1],"data":["1.0"])", "data[0]: got '1.0'" + number},
        {R"("dtype":"float32","shape":[-1],"data":[])", "shape[0]: got -1; allowed: an integer from 0 to 9223372036854775807"},
        {R"("dtype":"float32","shape":[1.0],"data":[1])",
         "shape[0]: got 1.0; allowed: an integer from 0 to 9223372036854775807"},
        {R"("dtype":"float32","shape":[9223372036854775808],"data":[])",
         "shape[0]: got 9223372036854775808; allowed: an integer from 0 to 9223372036854775807"},
        {R"("dtype":"float32","shape":1,"data":[1])", "shape: got 1; allowed: an array"},
        {R"("dtype":"int64","shape":[1],"data":[1])", "dtype: got 'int64'; allowed: float16, bfloat16, float32, float64"},
        {R"("dtype":32,"shape":[1],"data":[1])", "dtype: got 32; allowed: "},
        {R"("name":1,"dtype":"float32","shape":[1],"data":[1])", "name: got 1; allowed: a string"},
        {R"("more":1,"dtype":"float32","shape":[1],"data":[1])", "key: got 'more'; allowed: schema, name, dtype, shape, data"},
        {R"("shape":[1],"data":[1])", "JSON: key 'dtype' is missing"},
        {R"("dtype":"float32","data":[1])", "JSON: key 'shape' is missing"},
        {R"("dtype":"float32","shape":[1])", "JSON: key 'data' is missing"},
        {R"("dtype":"float32","shape":[1],"shape":[1],"data":[1])", "malformed JSON at line 1, column 83: key 'shape' given"},
        {R"("dtype":"float64","shape":[1],"data":[1e999])", "malformed JSON at line 1, column 73: a number beyond"},
        {R"("dtype":"float32","shape":[1],"data":[1)", "malformed JSON at line 1"},
    };
    for (const auto& [members, message] : cases) {
        EXPECT_EQ(message_of(object(members)).substr(0, message.size()), message) << members;
    }
}

TEST(ReadTensorJson, RefusesOtherDocuments)
{
    EXPECT_EQ(message_of(R"({"dtype":"float32","shape":[1],"data":[1]})"), "JSON: key 'schema' is missing");
    EXPECT_EQ(message_of(R"({"schema":"attn-cli/tensor/2","dtype":"float32","shape":[1],"data":[1]})"),
              "schema: got 'attn-cli/tensor/2'; allowed: attn-cli/tensor/1");
    EXPECT_EQ(message_of("[1,2]").substr(0, 5), "JSON:");
    EXPECT_EQ(message_of("").substr(0, 14), "malformed JSON");
    EXPECT_EQ(message_of(object(R"("dtype":"float32","shape":[1],"data":[1])") + "{}").substr(0, 14), "malformed JSON");
    EXPECT_NE(message_of(object(R"("dtype":"float32","shape":[1],"data":)" + std::string(1000, '['))).find("nested deeper"),
              std::string::npos);
}

TEST(ReadTensorJson, RefusesMoreDimensionsThanATensorHas)
{
    std::string lengths = "0";
    for (int i = 1; i < 64; ++i) {
        lengths += ",0";
    }
    EXPECT_EQ(parse_tensor_json(object(R"("dtype":"float32","shape":[)" + lengths + R"(],"data":[])")).shape.size(), 64U);
    EXPECT_EQ(message_of(object(R"("dtype":"float32","shape":[0,)" + lengths + R"(],"data":[])")),
              "shape: got an array of 65 elements; allowed: up to 64 dimensions");
}

} // namespace
