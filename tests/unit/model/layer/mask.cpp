#include "attn/model/layer/mask.hpp"

#include "attn/tensor/error.hpp"
#include "attn/tensor/view.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace {

using attn::ElementType;
using attn::Index;
using attn::Shape;
using attn::StoredTensor;
using attn::model::broadcast_mask;
using attn::model::ShortMask;

/// 0, 1, 2, …
StoredTensor counting_mask(const Shape& shape)
{
    StoredTensor tensor("mask", ElementType::float32, shape);
    std::vector<float> values(static_cast<std::size_t>(attn::element_count(shape)));
    std::iota(values.begin(), values.end(), 0.0F);
    attn::store(tensor, 0, std::span<const float>(values));
    return tensor;
}

std::vector<float> values_of(const attn::TensorView& view)
{
    return attn::load<float>(view).values;
}

TEST(Mask, RepeatsWhatIsMissingInFrontAndWhatIsOne)
{
    const StoredTensor row = counting_mask({3});
    EXPECT_EQ(broadcast_mask(row.view(), {2, 2, 3}, ShortMask::hides).shape, (Shape{2, 2, 3}));
    EXPECT_EQ(values_of(broadcast_mask(row.view(), {2, 2, 3}, ShortMask::hides)),
              (std::vector<float>{0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2}));
    const StoredTensor heads = counting_mask({2, 1, 2});
    EXPECT_EQ(values_of(broadcast_mask(heads.view(), {2, 2, 2}, ShortMask::hides)),
              (std::vector<float>{0, 1, 0, 1, 2, 3, 2, 3}));
    const StoredTensor whole = counting_mask({1, 2, 2, 1});
    EXPECT_EQ(values_of(broadcast_mask(whole.view(), {1, 2, 2, 1}, ShortMask::hides)), (std::vector<float>{0, 1, 2, 3}));
}

TEST(Mask, StaysShortInItsLastDimension)
{
    const StoredTensor mask = counting_mask({2, 2});
    EXPECT_EQ(broadcast_mask(mask.view(), {3, 2, 5}, ShortMask::hides).shape, (Shape{3, 2, 2}));
    const StoredTensor none = counting_mask({2, 0});
    EXPECT_EQ(broadcast_mask(none.view(), {3, 2, 5}, ShortMask::hides).shape, (Shape{3, 2, 0}));
}

TEST(Mask, IsRepeatedInItsLastDimensionAsNumPyDoes)
{
    const StoredTensor mask = counting_mask({2, 1});
    EXPECT_EQ(values_of(broadcast_mask(mask.view(), {1, 2, 3}, ShortMask::repeats)), (std::vector<float>{0, 0, 0, 1, 1, 1}));
    const StoredTensor whole = counting_mask({2, 3});
    EXPECT_EQ(values_of(broadcast_mask(whole.view(), {1, 2, 3}, ShortMask::repeats)), (std::vector<float>{0, 1, 2, 3, 4, 5}));
    for (const Shape& shape : {Shape{2, 2}, Shape{2, 0}, Shape{0}, Shape{3, 1}, Shape{2, 4}}) {
        const StoredTensor other = counting_mask(shape);
        EXPECT_THROW((void)broadcast_mask(other.view(), {1, 2, 3}, ShortMask::repeats), attn::Error) << attn::to_string(shape);
    }
}

TEST(Mask, RefusesShapesThatDoNotBroadcast)
{
    for (const Shape& shape : {Shape{}, Shape{4}, Shape{3, 3}, Shape{3, 2, 3}, Shape{1, 2, 2, 3}, Shape{0, 3}}) {
        const StoredTensor mask = counting_mask(shape);
        EXPECT_THROW((void)broadcast_mask(mask.view(), {2, 2, 3}, ShortMask::hides), attn::Error) << attn::to_string(shape);
    }
}

TEST(Mask, TakesIntegersAsNumbers)
{
    StoredTensor mask("mask", ElementType::int64, {3});
    mask.bytes = attn::to_bytes<double>(mask.type, std::vector<double>{0, -3, 1});
    EXPECT_EQ(values_of(broadcast_mask(mask.view(), {1, 2, 3}, ShortMask::hides)), (std::vector<float>{0, -3, 1, 0, -3, 1}));
    EXPECT_FALSE(attn::model::doubt_about(mask.view()));
    mask.bytes = attn::to_bytes<double>(mask.type, std::vector<double>{0, 1, 1});
    EXPECT_TRUE(attn::model::doubt_about(mask.view()));
}

} // namespace
