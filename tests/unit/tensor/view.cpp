#include "attn/tensor/view.hpp"

#include "attn/tensor/error.hpp"
#include "unit/error_of.hpp"
#include "unit/infinity.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

namespace {

using attn::ElementType;
using attn::Index;
using attn::Shape;
using attn::TensorView;

/// 0, 1, 2, … as float32 of that shape.
class Counting {
public:
    explicit Counting(const Shape& shape) : values(static_cast<std::size_t>(attn::element_count(shape)))
    {
        std::iota(values.begin(), values.end(), 0.0F);
        view = attn::row_major_view(ElementType::float32, shape, std::as_bytes(std::span(values)));
    }
    std::vector<float> values;
    TensorView view;
};

double at(const TensorView& view, std::initializer_list<Index> index)
{
    return view.at(std::span(index.begin(), index.size()));
}

const std::vector<Index> none;

TEST(TensorView, FindsAnElement)
{
    const Counting tensor({2, 3, 4});
    EXPECT_EQ(at(tensor.view, {0, 0, 0}), 0);
    EXPECT_EQ(at(tensor.view, {1, 2, 3}), 23);
    EXPECT_EQ(at(tensor.view, {1, 0, 2}), 14);
    EXPECT_EQ(at(Counting({}).view, {}), 0);
}

TEST(TensorView, RefusesIndicesOutOfRange)
{
    const Counting tensor({2, 3});
    EXPECT_THROW((void)at(tensor.view, {2, 0}), attn::Error);
    EXPECT_THROW((void)at(tensor.view, {0, -1}), attn::Error);
    EXPECT_THROW((void)at(tensor.view, {0}), attn::Error);
    EXPECT_THROW((void)at(tensor.view, {0, 0, 0}), attn::Error);
}

TEST(TensorView, NeedsExactlyItsBytes)
{
    const std::vector<float> values(5);
    EXPECT_THROW((void)attn::row_major_view(ElementType::float32, {2, 3}, std::as_bytes(std::span(values))), attn::Error);
    EXPECT_THROW((void)attn::row_major_view(ElementType::float32, {2, 2}, std::as_bytes(std::span(values))), attn::Error);
}

TEST(Strides, CountElementsFromEitherSide)
{
    EXPECT_EQ(attn::row_major_strides({2, 3, 4}), (Shape{12, 4, 1}));
    EXPECT_EQ(attn::column_major_strides({2, 3, 4}), (Shape{1, 2, 6}));
    EXPECT_EQ(attn::row_major_strides({}), Shape{});
    const Index huge = Index{1} << 62; // no element: nothing to step over, and nothing that overflows
    EXPECT_EQ(attn::row_major_strides({0, huge, huge}), (Shape{0, 0, 0}));
    EXPECT_EQ(attn::column_major_strides({huge, huge, 0}), (Shape{0, 0, 0}));
}

TEST(Slice, IsThePartAtTheLeadingIndices)
{
    const Counting tensor({2, 3, 4});
    const std::vector<Index> leading{1, 2};
    const TensorView row = attn::slice(tensor.view, leading);
    EXPECT_EQ(row.shape, (Shape{4}));
    EXPECT_EQ(attn::load<double>(row).values, (std::vector<double>{20, 21, 22, 23}));
    EXPECT_EQ(attn::slice(tensor.view, none).shape, (Shape{2, 3, 4}));
    const std::vector<Index> outside{2};
    EXPECT_THROW((void)attn::slice(tensor.view, outside), attn::Error);
}

TEST(Load, FollowsStridesOfAnyOrder)
{
    const Counting tensor({2, 3});
    TensorView transposed = tensor.view;
    transposed.shape = {3, 2};
    transposed.strides = {1, 3};
    EXPECT_EQ(attn::load<float>(transposed).values, (std::vector<float>{0, 3, 1, 4, 2, 5}));
    EXPECT_EQ(attn::load<double>(transposed).values, (std::vector<double>{0, 3, 1, 4, 2, 5}));
    TensorView repeated = tensor.view;
    repeated.strides = {0, 1}; // broadcast
    EXPECT_EQ(attn::load<float>(repeated).values, (std::vector<float>{0, 1, 2, 0, 1, 2}));
}

/// Every order of the dimensions, both byte orders, an odd address: the same as one element at a time.
TEST(Load, AgreesWithOneElementAtATime)
{
    for (const bool swapped : {false, true}) {
        std::vector<Index> order{0, 1, 2, 3};
        do {
            const Shape sides{2, 3, 1, 4};
            std::vector<std::byte> bytes(1 + 24 * 8);
            for (std::size_t i = 1; i < bytes.size(); ++i) {
                bytes[i] = static_cast<std::byte>(i * 37 % 127); // no infinity, no NaN in either order
            }
            const TensorView stored = attn::row_major_view(ElementType::float64, sides, std::span(bytes).subspan(1));
            TensorView view = stored;
            view.swapped = swapped;
            for (std::size_t d = 0; d < 4; ++d) {
                view.shape[d] = stored.shape[static_cast<std::size_t>(order[d])];
                view.strides[d] = stored.strides[static_cast<std::size_t>(order[d])];
            }
            std::vector<double> expected;
            for (Index i = 0; i < 24; ++i) {
                const std::vector<Index> index{i / (view.shape[1] * view.shape[2] * view.shape[3]),
                                               i / (view.shape[2] * view.shape[3]) % view.shape[1],
                                               i / view.shape[3] % view.shape[2], i % view.shape[3]};
                expected.push_back(view.at(index));
            }
            ASSERT_EQ(attn::load<double>(view).values, expected);
        } while (std::next_permutation(order.begin(), order.end()));
    }
}

TEST(Load, ConvertsEveryTypeToIntegersOrRefuses)
{
    const std::vector<std::int64_t> integers{std::numeric_limits<std::int64_t>::max(), -1};
    const auto view = attn::row_major_view(ElementType::int64, {2}, std::as_bytes(std::span(integers)));
    EXPECT_EQ(attn::load<std::int64_t>(view).values, integers);
    EXPECT_EQ(attn::load<double>(view).values, (std::vector<double>{0x1p63, -1}));
    const std::vector<std::int32_t> small{std::numeric_limits<std::int32_t>::min(), 7};
    const auto narrow = attn::row_major_view(ElementType::int32, {2}, std::as_bytes(std::span(small)));
    EXPECT_EQ(attn::load<std::int64_t>(narrow).values, (std::vector<std::int64_t>{-0x80000000LL, 7}));
    EXPECT_EQ(attn::load<double>(narrow).values, (std::vector<double>{-0x1p31, 7}));
    const std::vector<std::uint8_t> flags{0, 1};
    const auto booleans = attn::row_major_view(ElementType::boolean, {2}, std::as_bytes(std::span(flags)));
    EXPECT_EQ(attn::load<std::int64_t>(booleans).values, (std::vector<std::int64_t>{0, 1}));
    EXPECT_THROW((void)attn::load<std::int64_t>(Counting({2}).view), attn::Error);
}

TEST(Load, RefusesBooleansOtherThanZeroAndOne)
{
    const std::vector<std::uint8_t> flags{0, 1, 255};
    const auto view = attn::row_major_view(ElementType::boolean, {3}, std::as_bytes(std::span(flags)));
    EXPECT_EQ(at(view, {1}), 1);
    EXPECT_THROW((void)at(view, {2}), attn::Error);
    EXPECT_THROW((void)attn::load<float>(view), attn::Error);
    EXPECT_THROW((void)attn::load<std::int64_t>(view), attn::Error);
}

TEST(Load, GivesNothingForNoElements)
{
    const Index huge = Index{1} << 60;
    EXPECT_TRUE(attn::load<float>(attn::row_major_view(ElementType::float16, {huge, 0}, {})).values.empty());
}

TEST(LoadMatrix, TakesTheLastTwoDimensions)
{
    const Counting tensor({2, 3, 4});
    const std::vector<Index> second{1};
    const auto matrix = attn::load_matrix<double>(tensor.view, second);
    ASSERT_EQ(matrix.rows(), 3);
    ASSERT_EQ(matrix.cols(), 4);
    EXPECT_EQ(matrix(0, 0), 12);
    EXPECT_EQ(matrix(2, 1), 21);
    EXPECT_EQ(attn::load_matrix<float>(Counting({3}).view, none).rows(), 1);
    EXPECT_EQ(attn::load_matrix<float>(Counting({}).view, none).size(), 1);
    EXPECT_THROW((void)attn::load_matrix<float>(tensor.view, none), attn::Error);
}

TEST(MatrixInPlace, IsTheBytesThemselves)
{
    const Counting tensor({2, 3, 4});
    const std::vector<Index> second{1};
    const auto matrix = attn::matrix_in_place<float>(tensor.view, second);
    ASSERT_TRUE(matrix.has_value());
    EXPECT_EQ(matrix->data(), tensor.values.data() + 12);
    EXPECT_EQ((*matrix)(2, 3), 23);
    const attn::MatrixView<float> passed_on = *matrix;
    EXPECT_EQ(passed_on.data(), matrix->data());
}

TEST(MatrixInPlace, StepsOverWhatLiesBetweenRows)
{
    const Counting tensor({3, 2, 4}); // (T, H, d): head 1 is every other row of four
    TensorView heads = tensor.view;
    heads.shape = {2, 3, 4};
    heads.strides = {4, 8, 1};
    const std::vector<Index> head{1};
    const auto matrix = attn::matrix_in_place<float>(heads, head);
    ASSERT_TRUE(matrix.has_value());
    EXPECT_EQ(attn::Matrix<float>(*matrix), attn::load_matrix<float>(heads, head));
    EXPECT_EQ((*matrix)(1, 0), 12);
}

TEST(MatrixInPlace, IsNotThereWhenTheBytesWouldNotDo)
{
    const Counting tensor({2, 3});
    EXPECT_FALSE(attn::matrix_in_place<double>(tensor.view, none).has_value()) << "another type";
    TensorView view = tensor.view;
    view.swapped = true;
    EXPECT_FALSE(attn::matrix_in_place<float>(view, none).has_value()) << "another byte order";
    view = tensor.view;
    view.shape = {3, 2};
    view.strides = {1, 3};
    EXPECT_FALSE(attn::matrix_in_place<float>(view, none).has_value()) << "columns";
    view = tensor.view;
    view.strides = {0, 1};
    EXPECT_FALSE(attn::matrix_in_place<float>(view, none).has_value()) << "rows over one another";
    view = attn::row_major_view(ElementType::float32, {1, 5}, std::as_bytes(std::span(tensor.values)).subspan(2, 20));
    EXPECT_FALSE(attn::matrix_in_place<float>(view, none).has_value()) << "an odd address";
    EXPECT_EQ(attn::load_matrix<float>(view, none).cols(), 5);
}

std::string complaint(const TensorView& view)
{
    return error_of([&] { attn::require_finite(view, "queries"); });
}

TEST(RequireFinite, TakesMinusInfinityForMaskedWhenAsked)
{
    constexpr float infinite = std::numeric_limits<float>::infinity();
    Counting tensor({2, 3});
    tensor.values[1] = -infinite;
    EXPECT_NO_THROW(attn::require_finite(tensor.view, "mask", true));
    for (const auto& [value, text] : {std::pair(infinite, "inf"), {std::nanf(""), "nan"}}) {
        tensor.values[4] = value;
        EXPECT_EQ(error_of([&] { attn::require_finite(tensor.view, "mask", true); }),
                  "mask at (1, 1): got " + std::string(text) + "; allowed: finite numbers, or -inf");
    }
}

/// What `require_finite` says of a view when the numbers from place `first` of `tensor` on arrive, which are nowhere yet.
std::string complaint_on_the_way(const TensorView& view, const Counting& tensor, Index first, const std::vector<float>& numbers)
{
    const attn::Arriving arriving{tensor.view.bytes.data() + first * 4, std::as_bytes(std::span(numbers))};
    return error_of([&] { attn::require_finite(view, "x", false, {}, &arriving); });
}

TEST(RequireFinite, JudgesNumbersOnTheirWay)
{
    const float nan = std::nanf("");
    const Counting tensor({2, 3, 4});
    EXPECT_EQ(complaint_on_the_way(tensor.view, tensor, 0, {1, 2, 3}), "no error");
    EXPECT_EQ(complaint_on_the_way(tensor.view, tensor, 0, {1, nan, nan}), "x at (0, 0, 1): got nan; allowed: finite numbers");
    EXPECT_EQ(complaint_on_the_way(tensor.view, tensor, 17, {1, nan}), "x at (1, 1, 2): got nan; allowed: finite numbers");
    EXPECT_EQ(complaint_on_the_way(tensor.view, tensor, 24, {nan}), "no error") << "behind it: of another tensor";
    EXPECT_EQ(complaint_on_the_way(tensor.view, tensor, -1, {nan}), "no error") << "before it";
    EXPECT_EQ(complaint_on_the_way(tensor.view, tensor, -1, {nan, nan}), "x at (0, 0, 0): got nan; allowed: finite numbers");
}

TEST(RequireFinite, JudgesOfNumbersOnTheirWayThoseOfTheView)
{
    const float nan = std::nanf("");
    const Counting tensor({2, 3, 4});
    const std::vector<Index> second{1};
    const TensorView half = attn::slice(tensor.view, second);
    EXPECT_EQ(complaint_on_the_way(half, tensor, 10, {nan, nan}), "no error") << "of the first half";
    EXPECT_EQ(complaint_on_the_way(half, tensor, 10, {nan, nan, nan}), "x at (0, 0): got nan; allowed: finite numbers");
    TensorView turned = half; // its third column, then its first
    turned.shape = {2, 3};
    turned.strides = {2, 4};
    EXPECT_EQ(complaint_on_the_way(turned, tensor, 12, {1, nan, 3, nan, 5}), "no error") << "between its columns";
    EXPECT_EQ(complaint_on_the_way(turned, tensor, 12, {1, nan, 3, nan, 5, 6, nan}),
              "x at (1, 1): got nan; allowed: finite numbers");
}

using attn::NumberRule;

/// Of a vector; -1 where nothing is wrong.
template <typename Number>
Index place_of_breach(ElementType type, const std::vector<Number>& numbers, NumberRule rule)
{
    const TensorView view = attn::row_major_view(type, {std::ssize(numbers)}, std::as_bytes(std::span(numbers)));
    const std::optional<attn::Breach> breach = attn::first_breach(view, rule);
    return breach ? breach->index[0] : -1;
}

TEST(FirstBreach, LooksForWhatEachRuleForbidsToNumbers)
{
    const auto place = [numbers = std::vector<double>{0, 1, 1e300, -std::numeric_limits<double>::infinity()}](NumberRule rule) {
        return place_of_breach(ElementType::float64, numbers, rule);
    };
    EXPECT_EQ(place(NumberRule::finite), 3);
    EXPECT_EQ(place(NumberRule::finite_or_masked), -1);
    EXPECT_EQ(place(NumberRule::within_float32), 2);
    EXPECT_EQ(place(NumberRule::zero_or_one), 2);
    EXPECT_EQ(place(NumberRule::exact_in_float32), -1) << "no integers";
}

TEST(FirstBreach, LooksForWhatEachRuleForbidsToIntegers)
{
    constexpr std::int64_t beyond_float32 = (1 << 24) + 1, beyond_float64 = (std::int64_t{1} << 53) + 1;
    const auto place = [numbers = std::vector<std::int64_t>{1, 1 << 24, beyond_float32, beyond_float64}](NumberRule rule) {
        return place_of_breach(ElementType::int64, numbers, rule);
    };
    EXPECT_EQ(place(NumberRule::finite), -1);
    EXPECT_EQ(place(NumberRule::exact_in_float32), 2);
    EXPECT_EQ(place(NumberRule::exact_in_float64), 3);
    EXPECT_EQ(place(NumberRule::zero_or_one), 1);
}

TEST(RequireFinite, TellsTheWayOut)
{
    Counting tensor({2, 3});
    tensor.values[4] = std::nanf("");
    EXPECT_EQ(error_of([&] { attn::require_finite(tensor.view, "mask", true, "--any"); }),
              "mask at (1, 1): got nan; allowed: finite numbers, or -inf, or any with --any");
}

TEST(RequireFinite, NamesTheFirstIndexInRowMajorOrder)
{
    constexpr float infinite = std::numeric_limits<float>::infinity();
    Counting tensor({2, 3});
    EXPECT_EQ(complaint(tensor.view), "no error");
    tensor.values[5] = std::nanf("");
    EXPECT_EQ(complaint(tensor.view), "queries at (1, 2): got nan; allowed: finite numbers");
    tensor.values[3] = -infinite;
    EXPECT_EQ(complaint(tensor.view), "queries at (1, 0): got -inf; allowed: finite numbers");
    tensor.values[1] = infinite;
    EXPECT_EQ(complaint(tensor.view), "queries at (0, 1): got inf; allowed: finite numbers");
    const std::uint16_t half = 0x7c00;
    EXPECT_EQ(complaint(attn::row_major_view(ElementType::float16, {}, std::as_bytes(std::span(&half, 1)))),
              "queries at (): got inf; allowed: finite numbers");
    const std::int64_t whole = -1;
    EXPECT_EQ(complaint(attn::row_major_view(ElementType::int64, {}, std::as_bytes(std::span(&whole, 1)))), "no error");
}

/// Of these numbers in every floating-point type, in both byte orders.
template <typename Check>
void for_each_floating_type(const std::vector<double>& numbers, Check check)
{
    for (const ElementType type : {ElementType::float16, ElementType::bfloat16, ElementType::float32, ElementType::float64}) {
        std::vector<std::byte> bytes = attn::to_bytes<double>(type, numbers);
        TensorView view = attn::row_major_view(type, {static_cast<Index>(numbers.size())}, bytes);
        check(view);
        const auto size = static_cast<std::size_t>(attn::size_of(type));
        for (std::size_t i = 0; i < bytes.size(); i += size) {
            std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(i), bytes.begin() + static_cast<std::ptrdiff_t>(i + size));
        }
        view.swapped = true;
        check(view);
    }
}

TEST(LargestMagnitude, IsThatOfEitherSign)
{
    for_each_floating_type({0.5, -2.5, 2, -0.0}, [](const TensorView& view) { EXPECT_EQ(largest_magnitude(view), 2.5); });
    for_each_floating_type({-0.0}, [](const TensorView& view) { EXPECT_EQ(largest_magnitude(view), 0); });
    for_each_floating_type({}, [](const TensorView& view) { EXPECT_EQ(largest_magnitude(view), 0); });
}

TEST(LargestMagnitude, IsInfiniteOrNanWhenAnElementIs)
{
    for_each_floating_type({1, -infinity, 2}, [](const TensorView& view) { EXPECT_EQ(largest_magnitude(view), infinity); });
    for_each_floating_type({1, std::nan(""), 2},
                           [](const TensorView& view) { EXPECT_TRUE(std::isnan(largest_magnitude(view))); });
    for_each_floating_type({-infinity, std::nan(""), infinity},
                           [](const TensorView& view) { EXPECT_TRUE(std::isnan(largest_magnitude(view))); });
}

TEST(LargestMagnitude, LooksAtEveryElementOfAnyStrides)
{
    Counting tensor({3, 4});
    std::swap(tensor.view.shape[0], tensor.view.shape[1]);
    std::swap(tensor.view.strides[0], tensor.view.strides[1]);
    EXPECT_EQ(largest_magnitude(tensor.view), 11);
    EXPECT_EQ(largest_magnitude(attn::row_block(tensor.view, 0, 2)), 9);
}

TEST(Largest, IgnoresWhatIsMaskedButNotNan)
{
    for_each_floating_type({-infinity, -3, -2.5}, [](const TensorView& view) { EXPECT_EQ(largest(view), -2.5); });
    for_each_floating_type({-infinity}, [](const TensorView& view) { EXPECT_EQ(largest(view), -infinity); });
    for_each_floating_type({1, infinity}, [](const TensorView& view) { EXPECT_EQ(largest(view), infinity); });
    for_each_floating_type({std::nan(""), 7}, [](const TensorView& view) { EXPECT_TRUE(std::isnan(largest(view))); });
}

} // namespace
