#include "attn/model/attend/random_inputs.hpp"

#include "unit/error_of.hpp"

#include <gtest/gtest.h>

namespace {

using attn::ElementType;
using attn::Index;
using attn::Shape;
using attn::StoredTensor;
using attn::model::RandomInputs;
using attn::model::room_for_inputs;

constexpr Index enough = Index{1} << 40;

/// Two entries of four heads in groups of two: three queries of two numbers, five keys, values of one number.
RandomInputs small(ElementType type = ElementType::float32)
{
    RandomInputs how;
    how.sizes = {.B = 2, .H = 4, .H_kv = 2, .T = 3, .S = 5, .P = 0, .d_k = 2, .d_v = 1};
    how.type = type;
    return how;
}

std::vector<StoredTensor> drawn_from(const RandomInputs& how)
{
    std::vector<StoredTensor> room = room_for_inputs(how, enough);
    attn::model::draw_inputs(how, room);
    return room;
}

std::vector<Shape> shapes(const std::vector<StoredTensor>& tensors)
{
    std::vector<Shape> all;
    for (const StoredTensor& tensor : tensors) {
        all.push_back(tensor.shape);
    }
    return all;
}

TEST(RandomInputs, HaveTheNamesAndShapesOfTheOperands)
{
    const std::vector<StoredTensor> drawn = drawn_from(small());
    ASSERT_EQ(drawn.size(), 3U);
    EXPECT_EQ(drawn[0].name, "queries");
    EXPECT_EQ(drawn[1].name, "keys");
    EXPECT_EQ(drawn[2].name, "values");
    EXPECT_EQ(shapes(drawn), (std::vector<Shape>{{2, 4, 3, 2}, {2, 2, 5, 2}, {2, 2, 5, 1}}));
    const attn::model::AttendInputs inputs = attn::model::inputs_of(drawn);
    EXPECT_EQ(inputs.values.bytes.data(), drawn[2].bytes.data());
    EXPECT_FALSE(inputs.past_key);
}

TEST(RandomInputs, FillTheLayoutRowByRow)
{
    RandomInputs how = small();
    how.layout = attn::model::TensorLayout::bshd;
    const std::vector<StoredTensor> drawn = drawn_from(how);
    EXPECT_EQ(shapes(drawn), (std::vector<Shape>{{2, 3, 4, 2}, {2, 5, 2, 2}, {2, 5, 2, 1}}));
    EXPECT_EQ(drawn[0].bytes, drawn_from(small())[0].bytes);
    how.sizes.B = 1;
    how.packed = true;
    EXPECT_EQ(shapes(drawn_from(how)), (std::vector<Shape>{{3, 4, 2}, {5, 2, 2}, {5, 2, 1}}));
}

TEST(RandomInputs, ComeFromOneStream)
{
    // torch.manual_seed(123); torch.randn(2, 4, 3, 2), torch.randn(2, 2, 5, 2), torch.randn(2, 2, 5, 1)
    attn::random::TorchStream stream(123);
    for (const StoredTensor& tensor : drawn_from(small())) {
        EXPECT_EQ(attn::load<double>(tensor.view()).values, stream.normal(attn::element_count(tensor.shape), 0, 1))
            << tensor.name;
    }
    attn::random::TorchStream wide(123);
    for (const StoredTensor& tensor : drawn_from(small(ElementType::float64))) {
        EXPECT_EQ(attn::load<double>(tensor.view()).values, wide.normal_of_float64(attn::element_count(tensor.shape), 0, 1));
    }
}

TEST(RandomInputs, AreFollowedByTheGradientOfTheContext)
{
    RandomInputs with_gradient = small();
    with_gradient.gradient = true;
    const std::vector<StoredTensor> tensors = drawn_from(with_gradient), without = drawn_from(small());
    ASSERT_EQ(tensors.size(), 4U);
    EXPECT_EQ(tensors[3].name, "grad");
    EXPECT_EQ(tensors[3].shape, (Shape{2, 4, 3, 1})); // B, H, T, d_v
    attn::random::TorchStream stream(123);
    for (std::size_t at = 0; at < 4; ++at) {
        EXPECT_EQ(attn::load<double>(tensors[at].view()).values, stream.normal(attn::element_count(tensors[at].shape), 0, 1));
        EXPECT_TRUE(at == 3 || tensors[at].bytes == without[at].bytes);
    }
}

TEST(RandomInputs, AreRoundedOnceToTheirType)
{
    const std::vector<double> exact = attn::random::TorchStream(123).normal(48, 0, 1);
    for (const ElementType type : {ElementType::float16, ElementType::bfloat16}) {
        EXPECT_EQ(drawn_from(small(type))[0].bytes, attn::to_bytes<double>(type, exact));
    }
}

TEST(RandomInputs, AreNotDrawnWhereThereIsNoRoom)
{
    // 48 queries, 40 keys and 20 values of four bytes, and twelve more for each query
    EXPECT_EQ(room_for_inputs(small(), 108 * 4 + 48 * 12).size(), 3U);
    const std::string refusal =
        error_of(attn::ErrorKind::too_large, [] { (void)room_for_inputs(small(), 108 * 4 + 48 * 12 - 1); });
    EXPECT_EQ(refusal,
              "the draws of queries (2, 4, 3, 2), keys (2, 2, 5, 2), values (2, 2, 5, 1) need 1008 bytes and 1007 are free");
    RandomInputs huge = small();
    huge.sizes.T = huge.sizes.S = huge.sizes.d_k = Index{1} << 31;
    EXPECT_NE(error_of(attn::ErrorKind::too_large, [&] { (void)room_for_inputs(huge, enough); }), "no error");
}

} // namespace
