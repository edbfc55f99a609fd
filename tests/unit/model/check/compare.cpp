#include "attn/model/check/compare.hpp"

#include "attn/tensor/error.hpp"
#include "unit/error_of.hpp"
#include "unit/infinity.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <deque>
#include <limits>
#include <memory>
#include <random>

namespace {

using attn::ElementType;
using attn::Index;
using attn::Shape;
using attn::StoredTensor;
using attn::TensorView;
using attn::model::compare;
using attn::model::CompareOptions;
using attn::model::Comparison;
using attn::model::Contents;
using attn::model::TensorComparison;

const double not_a_number = std::nan("");

StoredTensor tensor(const std::string& name, const Shape& shape, const std::vector<double>& values,
                    ElementType type = ElementType::float64)
{
    StoredTensor made(name, type, shape);
    made.bytes = attn::to_bytes<double>(type, values);
    return made;
}

StoredTensor row(const std::vector<double>& values, ElementType type = ElementType::float64)
{
    return tensor("x", {static_cast<Index>(values.size())}, values, type);
}

StoredTensor integers(const std::vector<std::int64_t>& values)
{
    StoredTensor made("x", ElementType::int64, {static_cast<Index>(values.size())});
    std::memcpy(made.bytes.data(), values.data(), made.bytes.size());
    return made;
}

TensorComparison compared(const TensorView& a, const TensorView& b, const CompareOptions& options = {})
{
    return compare({{{"x", a}}, {}}, {{{"x", b}}, {}}, options).tensors.at(0);
}

bool agree(const StoredTensor& a, const StoredTensor& b, const CompareOptions& options = {})
{
    return compared(a.view(), b.view(), options).agrees();
}

bool agree(double a, double b, const CompareOptions& options = {})
{
    return agree(row({a}), row({b}), options);
}

CompareOptions tolerance(double rtol, double atol)
{
    return {attn::model::Tolerance{rtol, atol}, {}, true};
}

CompareOptions within_ulps(std::uint64_t count)
{
    return {{}, count, true};
}

TEST(Compare, AllowsTheToleranceRelativeToTheSecond)
{
    EXPECT_TRUE(agree(1, 1 + 0.9e-7, tolerance(1e-7, 0)));
    EXPECT_FALSE(agree(1, 1 + 1.1e-7, tolerance(1e-7, 0)));
    EXPECT_TRUE(agree(0.5, 0.75, tolerance(0, 0.25)));
    EXPECT_FALSE(agree(0.5, 0.75, tolerance(0, 0.24)));
    EXPECT_TRUE(agree(9, 10, tolerance(0.1, 0)));
    EXPECT_FALSE(agree(10, 9, tolerance(0.1, 0))); // 0.1 of 9 is less than 1
    EXPECT_TRUE(agree(0.0, -0.0, tolerance(0, 0)));
}

TEST(Compare, AllowsTheToleranceOfTheTypesAsPyTorchDoes)
{
    constexpr std::array types{ElementType::float64, ElementType::float32, ElementType::float16, ElementType::bfloat16};
    constexpr std::array rtol{1e-7, 1.3e-6, 1e-3, 1.6e-2};
    for (std::size_t a = 0; a < types.size(); ++a) {
        for (std::size_t b = 0; b < types.size(); ++b) {
            const attn::model::Tolerance tolerance = attn::model::usual_tolerance(types[a], types[b]);
            EXPECT_EQ(tolerance.rtol, rtol[std::max(a, b)]);
            EXPECT_EQ(tolerance.atol, std::max(a, b) == 0 ? 1e-7 : 1e-5);
        }
    }
    EXPECT_TRUE(agree(1, 1 + 1.9e-7));
    EXPECT_FALSE(agree(1, 1 + 2.1e-7));
}

TEST(Compare, AllowsHalfAUnitOfWhatWasPrinted)
{
    const StoredTensor stored = row({0.1234});
    const attn::math::PrintedNumbers printed("0.1234", {{0}, {attn::math::PackedDigits({.fixed = 4, .scientific = {}})}});
    const auto agrees = [&](double value, const CompareOptions& options = {}) {
        const StoredTensor whole = row({value});
        return compare({{{{"x", stored.view()}, printed}}, {}}, {{{"x", whole.view()}}, {}}, options).agrees();
    };
    EXPECT_TRUE(agrees(0.12345) && agrees(0.12335));
    EXPECT_FALSE(agrees(0.12347));
    EXPECT_TRUE(agrees(0.12344, tolerance(0, 0)) && agrees(0.12344, within_ulps(0)));
    EXPECT_FALSE(agrees(0.123451, tolerance(0, 0)) || agrees(0.123451, within_ulps(4)));
    EXPECT_TRUE(agrees(0.123451, tolerance(0, 2e-6)));
}

TEST(Compare, HoldsAnInfinityEqualToItselfAlone)
{
    EXPECT_TRUE(agree(infinity, infinity));
    EXPECT_FALSE(agree(infinity, -infinity));
    EXPECT_FALSE(agree(1e308, infinity, tolerance(1, 1)));
    EXPECT_FALSE(agree(infinity, 1e308, within_ulps(5)));
}

TEST(Compare, HoldsNanEqualToNanUnlessAskedNotTo)
{
    for (const bool by_ulps : {false, true}) {
        CompareOptions options = by_ulps ? within_ulps(4) : CompareOptions{};
        EXPECT_TRUE(agree(not_a_number, not_a_number, options));
        EXPECT_FALSE(agree(not_a_number, 1, options));
        EXPECT_FALSE(agree(1, not_a_number, options));
        options.equal_nan = false;
        EXPECT_FALSE(agree(not_a_number, not_a_number, options));
        EXPECT_TRUE(agree(1, 1, options));
    }
}

TEST(Compare, CountsUnitsInTheLastPlaceOfTheNarrowerType)
{
    const double next = std::nextafter(1.0, 2.0), next_but_one = std::nextafter(next, 2.0);
    EXPECT_TRUE(agree(1, next_but_one, within_ulps(2)));
    EXPECT_FALSE(agree(1, next_but_one, within_ulps(1)));
    EXPECT_TRUE(agree(row({1 + 0x1p-9}, ElementType::float16), row({1}), within_ulps(2)));
    EXPECT_FALSE(agree(row({1 + 0x1p-9}, ElementType::float16), row({1}), within_ulps(1)));
    EXPECT_TRUE(agree(row({1 + 0x1p-7}, ElementType::bfloat16), row({1}, ElementType::float16), within_ulps(1)));
    EXPECT_TRUE(agree(row({1 + 0x1p-23}, ElementType::float32), row({1}, ElementType::float64), within_ulps(1)));
    EXPECT_FALSE(agree(row({1 + 0x1p-23}, ElementType::float32), row({1}, ElementType::float64), within_ulps(0)));
    const double least = std::numeric_limits<double>::denorm_min();
    EXPECT_TRUE(agree(-least, least, within_ulps(2))); // over zero, which is one number
    EXPECT_FALSE(agree(-least, least, within_ulps(1)));
    EXPECT_TRUE(agree(0.0, -0.0, within_ulps(0)));
    EXPECT_FALSE(agree(-1e308, 1e308, within_ulps(1)));
}

TEST(Compare, TellsIntegersBeyondFloat64Apart)
{
    const std::int64_t large = (std::int64_t{1} << 60) + 1;
    EXPECT_TRUE(agree(integers({large}), integers({large})));
    const StoredTensor a = integers({large}), b = integers({large - 1});
    EXPECT_FALSE(agree(a, b, tolerance(0, 0)));
    EXPECT_FALSE(agree(a, b, within_ulps(9)));
    const TensorComparison result = compared(a.view(), b.view(), tolerance(0, 0));
    EXPECT_EQ(result.first->a, "1152921504606846977");
    EXPECT_EQ(result.absolute->value, 1);
    const StoredTensor ends = integers({std::numeric_limits<std::int64_t>::min()}),
                       other = integers({std::numeric_limits<std::int64_t>::max()});
    EXPECT_EQ(compared(ends.view(), other.view()).absolute->value, 0x1p64);
    EXPECT_TRUE(agree(integers({3}), row({3}, ElementType::float16)));
}

TEST(Compare, TellsWhatDiffersAndWhere)
{
    const StoredTensor a = tensor("x", {2, 3}, {1, 2, 3, 4, 5, 6}), b = tensor("x", {2, 3}, {1, 2, 4, 4, 8, 6});
    const TensorComparison result = compared(a.view(), b.view());
    EXPECT_EQ(result.compared, 6);
    EXPECT_EQ(result.mismatched, 2);
    EXPECT_NEAR(result.percentage(), 100.0 / 3, 1e-12);
    EXPECT_EQ(result.first->index, (Shape{0, 2}));
    EXPECT_EQ(result.first->a, "3.0");
    EXPECT_EQ(result.first->b, "4.0");
    EXPECT_EQ(result.absolute->value, 3);
    EXPECT_EQ(result.absolute->place.index, (Shape{1, 1}));
    EXPECT_EQ(result.relative->value, 0.375);
    EXPECT_EQ(result.relative->place.index, (Shape{1, 1}));
}

TEST(Compare, TakesTheLargestDifferencesFromWhatIsFiniteAndNoRelativeOneOfZero)
{
    const StoredTensor a = row({1, 2, 100, not_a_number, 1}), b = row({0, 1, 99, 1, infinity});
    const TensorComparison result = compared(a.view(), b.view());
    EXPECT_EQ(result.mismatched, 5);
    EXPECT_EQ(result.absolute->value, 1);
    EXPECT_EQ(result.absolute->place.index, Shape{0}); // the first of three
    EXPECT_EQ(result.relative->value, 1);
    EXPECT_EQ(result.relative->place.index, Shape{1});
    const StoredTensor same = row({1, not_a_number});
    EXPECT_FALSE(compared(same.view(), same.view()).absolute);
}

TEST(Compare, ShowsEachNumberInItsOwnType)
{
    const StoredTensor a = row({0.1F}, ElementType::float32), b = row({0.1}), c = row({1}, ElementType::boolean);
    EXPECT_EQ(compared(a.view(), b.view(), tolerance(0, 0)).first->a, "0.1");
    EXPECT_EQ(compared(c.view(), b.view()).first->a, "1");
}

TEST(Compare, PairsByNameAndMissesWhatOneSideAloneHas)
{
    const StoredTensor one = row({1}), two = row({2});
    const Contents a{{{"p", one.view()}, {"q", two.view()}, {"only a", one.view()}}, {}};
    const Contents b{{{"only b", one.view()}, {"q", one.view()}, {"p", one.view()}}, {}};
    const Comparison comparison = compare(a, b, {});
    ASSERT_EQ(comparison.tensors.size(), 4U);
    EXPECT_EQ(comparison.tensors[0].name, "p");
    EXPECT_TRUE(comparison.tensors[0].agrees());
    EXPECT_EQ(comparison.tensors[1].mismatched, 1);
    EXPECT_EQ(comparison.tensors[2].why, "only in A");
    EXPECT_EQ(comparison.tensors[3].why, "only in B");
    EXPECT_EQ(comparison.differing(), 3);
}

TEST(Compare, PairsTwoSingleTensorsWhateverTheirNames)
{
    const StoredTensor one = row({1});
    const auto name = [&](const char* a, const char* b) {
        const Comparison comparison = compare({{{a, one.view()}}, {}}, {{{b, one.view()}}, {}}, {});
        EXPECT_TRUE(comparison.agrees());
        return comparison.tensors.at(0).name;
    };
    EXPECT_EQ(name("p", "q"), "p and q");
    EXPECT_EQ(name("", "q"), "q");
    EXPECT_EQ(name("p", ""), "p");
    EXPECT_EQ(name("p", "p"), "p");
}

TEST(Compare, MissesOtherShapesEvenWithAsManyElements)
{
    const StoredTensor a = tensor("x", {2, 3}, std::vector<double>(6, 1)), b = tensor("x", {3, 2}, std::vector<double>(6, 1));
    const TensorComparison result = compared(a.view(), b.view());
    EXPECT_EQ(result.why, "the shapes differ: (2, 3), (3, 2)");
    EXPECT_FALSE(result.agrees());
}

TEST(Compare, AgreesOnNoElementsAndRefusesNoTensors)
{
    const StoredTensor none = tensor("x", {2, 0, 3}, {});
    EXPECT_TRUE(agree(none, none));
    EXPECT_THROW((void)compare({}, {}, {}), attn::Error);
}

TEST(Compare, ComparesWordsWhenBothSidesHaveThem)
{
    const Contents a{{}, {{"tokens", {"my", "cat"}}}}, b{{}, {{"tokens", {"my", "dog"}}}};
    const TensorComparison result = compare(a, b, {}).tensors.at(0);
    EXPECT_EQ(result.mismatched, 1);
    EXPECT_EQ(result.first->index, Shape{1});
    EXPECT_EQ(result.first->b, "'dog'");
    EXPECT_TRUE(compare(a, a, {}).agrees());
    const StoredTensor one = row({1});
    EXPECT_TRUE(compare({{{"x", one.view()}}, a.words}, {{{"x", one.view()}}, {}}, {}).agrees());
}

/// `values` in the order of memory that `order` gives: order[d] is the place of dimension d, the last varying fastest.
struct Laid {
    std::vector<std::byte> bytes;
    TensorView view;
};
void lay(Laid& laid, const Shape& shape, const std::vector<double>& values, const std::vector<std::size_t>& order, bool swapped)
{
    Shape strides(shape.size());
    Index stride = 1;
    for (std::size_t place = shape.size(); place-- > 0;) {
        const auto d = static_cast<std::size_t>(std::find(order.begin(), order.end(), place) - order.begin());
        strides[d] = stride;
        stride *= shape[d];
    }
    laid.bytes.resize(values.size() * 8);
    Shape index(shape.size(), 0);
    for (const double value : values) {
        Index offset = 0;
        for (std::size_t d = 0; d < shape.size(); ++d) {
            offset += index[d] * strides[d];
        }
        auto* at = laid.bytes.data() + offset * 8;
        std::memcpy(at, &value, 8);
        if (swapped) {
            std::reverse(at, at + 8);
        }
        for (std::size_t d = shape.size(); d-- > 0 && ++index[d] == shape[d];) {
            index[d] = 0;
        }
    }
    laid.view = {ElementType::float64, shape, strides, swapped, laid.bytes};
}

TEST(Compare, FindsTheOneDifferenceInAnyShapeAndOrder)
{
    std::mt19937 engine(1);
    const auto number = [&](Index low, Index high) { return std::uniform_int_distribution<Index>(low, high)(engine); };
    for (int round = 0; round < 150; ++round) {
        Shape shape(static_cast<std::size_t>(number(0, 4)));
        std::generate(shape.begin(), shape.end(), [&] { return number(1, number(0, 9) == 0 ? 200 : 6); });
        if (round % 10 == 0) {
            shape = {number(1, 3), number(1, 70000)};
        }
        const Index count = attn::element_count(shape);
        std::vector<double> values(static_cast<std::size_t>(count));
        std::generate(values.begin(), values.end(), [&] { return static_cast<double>(number(1, 1000)); });
        std::vector<std::size_t> order(shape.size());
        for (std::size_t d = 0; d < order.size(); ++d) {
            order[d] = d;
        }
        Laid a, b;
        lay(a, shape, values, order, number(0, 1) == 1);
        const Index place = number(0, count - 1);
        values[static_cast<std::size_t>(place)] += 1;
        std::shuffle(order.begin(), order.end(), engine);
        lay(b, shape, values, order, number(0, 1) == 1);
        Shape expected(shape.size());
        Index rest = place;
        for (std::size_t d = shape.size(); d-- > 0;) {
            expected[d] = rest % shape[d];
            rest /= shape[d];
        }
        const TensorComparison result = compared(a.view, b.view);
        ASSERT_EQ(result.compared, count);
        ASSERT_EQ(result.mismatched, 1) << attn::to_string(shape);
        ASSERT_EQ(result.first->index, expected) << attn::to_string(shape);
        ASSERT_EQ(result.absolute->place.index, expected);
    }
}

TEST(TensorsOf, GivesTheArraysOfAResultInTheirType)
{
    const attn::model::SavedResult saved{{},
                                         {},
                                         {{"tokens", {2}, {"my", "cat"}},
                                          {"vocabulary", {2, 2}, {"cat", "0", "my", "1"}},
                                          {"token_ids", {2}, {"1", "0"}, ElementType::int64},
                                          {"masked_scores", {1, 2}, {"0.1", "null"}, ElementType::float32}}};
    const attn::model::ResultTensors tensors = attn::model::tensors_of(saved);
    ASSERT_EQ(tensors.tensors.size(), 2U);
    EXPECT_EQ(tensors.tensors[0].type, ElementType::int64);
    EXPECT_EQ(attn::load<std::int64_t>(tensors.tensors[0].view()).values, (std::vector<std::int64_t>{1, 0}));
    EXPECT_EQ(tensors.tensors[1].type, ElementType::float32);
    EXPECT_EQ(attn::load<float>(tensors.tensors[1].view()).values,
              (std::vector<float>{0.1F, -std::numeric_limits<float>::infinity()}));
    ASSERT_EQ(tensors.words.size(), 2U);
    EXPECT_EQ(tensors.words[1].words, (std::vector<std::string>{"cat = 0", "my = 1"}));
}

TEST(TensorsOf, KeepsIdsThatNoFloat32Holds)
{
    const attn::model::SavedResult saved{{}, {}, {{"token_ids", {1}, {"16777217"}, ElementType::int64}}};
    EXPECT_EQ(attn::load<std::int64_t>(attn::model::tensors_of(saved).tensors.at(0).view()).values,
              std::vector<std::int64_t>{16777217});
}

TEST(Compare, InflatesOnlyWhatThereIsRoomFor)
{
    int reads = 0;
    attn::NamedTensor x = attn::owned(row({1, 2}));
    x.unread = std::make_shared<const attn::Unread>(attn::Unread{.read = [&] { ++reads; }});
    const Contents side{{{x}}, {}};
    const auto within = [&](Index limit) {
        CompareOptions options;
        options.memory_limit = limit;
        return compare(side, side, options).agrees();
    };
    EXPECT_NE(error_of(attn::ErrorKind::too_large, [&] { (void)within(31); }), "no error"); // 2 sides of 2 numbers of 8 bytes
    EXPECT_EQ(reads, 0);
    EXPECT_TRUE(within(32));
    EXPECT_GT(reads, 0);
}

TEST(Compare, WantsEqualIntegersWhenUnitsInTheLastPlaceAreForgiven)
{
    EXPECT_FALSE(agree(integers({1000000000}), integers({1000000001})));
    CompareOptions ulps = tolerance(1e-7, 0); // beside a tolerance that would forgive more
    EXPECT_TRUE(agree(integers({1000000000}), integers({1000000001}), ulps));
    ulps.ulps = 5;
    EXPECT_FALSE(agree(integers({1000000000}), integers({1000000001}), ulps));
    EXPECT_TRUE(agree(integers({-7}), integers({-7}), within_ulps(0)));
}

TEST(Compare, MeasuresIntegersAgainstTheMagnitudeOfWhatIsRight)
{
    EXPECT_TRUE(agree(integers({-1000001}), integers({-1000000}), tolerance(1e-5, 0)));
    EXPECT_FALSE(agree(integers({-1000001}), integers({-1000000}), tolerance(1e-7, 0)));
}

TEST(Compare, GivesNoRelativeDifferenceFromZeroAndNoShareOfNothing)
{
    const StoredTensor a = row({0, 2});
    const StoredTensor b = row({1, 0});
    const TensorComparison from_zero = compared(a.view(), row({0, 0}).view());
    EXPECT_EQ(from_zero.absolute->value, 2);
    EXPECT_FALSE(from_zero.relative);
    EXPECT_EQ(compared(a.view(), b.view()).relative->value, 1);
    const StoredTensor none = row({});
    EXPECT_EQ(compared(none.view(), none.view()).percentage(), 0);
}

} // namespace
