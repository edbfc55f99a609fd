#include "attn/model/run/strongest.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <tuple>

namespace {

using attn::Index;
using attn::model::strongest_pairs;

using WeightedPlaces = std::vector<std::tuple<Index, Index, double>>;

template <typename Scalar>
WeightedPlaces weighted_places(const std::vector<Scalar>& values, Index columns, Index top)
{
    WeightedPlaces found;
    for (const auto& [row, column, weight] : strongest_pairs(std::span<const Scalar>(values), columns, top)) {
        found.emplace_back(row, column, weight);
    }
    return found;
}

TEST(Strongest, FirstAndOfEqualOnesThatWhichStandsFirst)
{
    const std::vector<double> values{0.5,  0.25, 0.75, //
                                     0.75, 0,    0.5};
    EXPECT_EQ(weighted_places(values, 3, 3), (WeightedPlaces{{0, 2, 0.75}, {1, 0, 0.75}, {0, 0, 0.5}}));
    EXPECT_EQ(weighted_places(values, 2, 1), (WeightedPlaces{{1, 0, 0.75}})); // three rows of two
}

TEST(Strongest, AreAllThatAreAboveZeroWhereThereAreFewer)
{
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    EXPECT_EQ(weighted_places<float>({0, -1, nan, 0.5F}, 2, 9), (WeightedPlaces{{1, 1, 0.5}}));
    EXPECT_EQ(weighted_places<float>({}, 2, 9), WeightedPlaces{});
}

} // namespace
