// The kernels one by one, for every instruction set of this machine: exact where they copy, within a few units in the last
// place where they compute.
#include "attn/core/tiles/kernels.hpp"

#include "attn/core/tiles/plan.hpp"
#include "unit/infinity.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace {

using attn::ElementType;
using attn::Index;
using attn::core::Isa;
using attn::core::Tile;
using attn::core::TileKernels;

std::vector<Isa> tiled_isas()
{
    std::vector<Isa> isas = attn::core::available_isas();
    isas.erase(isas.begin());
    return isas;
}

class TileKernel : public testing::TestWithParam<Isa> {
protected:
    [[nodiscard]] const TileKernels& kernels() const { return *attn::core::kernels_of(GetParam()); }
    [[nodiscard]] Index width() const { return kernels().query_tile; }

    /// All columns and rows in use, everything zero.
    Tile make_tile(Index features = 0)
    {
        const auto cells = static_cast<std::size_t>((kernels().key_tile + kernels().lanes) * width());
        const auto columns = static_cast<std::size_t>(width());
        S_.assign(cells, 0);
        tile_maximum_ = maximum_ = sum_ = rescale_ = std::vector<float>(columns);
        O_.assign(columns * static_cast<std::size_t>(features), 0);
        return {.queries = width(),
                .keys = kernels().key_tile,
                .first = true,
                .far = false,
                .features = features,
                .S = S_.data(),
                .tile_maximum = tile_maximum_.data(),
                .maximum = maximum_.data(),
                .sum = sum_.data(),
                .rescale = rescale_.data(),
                .O = O_.data()};
    }

    std::vector<float> S_, tile_maximum_, maximum_, sum_, rescale_, O_;
};
INSTANTIATE_TEST_SUITE_P(Available, TileKernel, testing::ValuesIn(tiled_isas()),
                         [](const auto& isa) { return std::string(name_of(isa.param)); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TileKernel);

/// Of those that multiply pairs of bfloat16.
class PairKernel : public TileKernel {
public:
    static std::vector<Isa> isas()
    {
        std::vector<Isa> isas = tiled_isas();
        std::erase_if(isas, [](Isa isa) { return attn::core::kernels_of(isa)->pair_values == nullptr; });
        return isas;
    }
};
INSTANTIATE_TEST_SUITE_P(Available, PairKernel, testing::ValuesIn(PairKernel::isas()),
                         [](const auto& isa) { return std::string(name_of(isa.param)); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PairKernel);

/// How many units in the last place of the float next to `exact` lie between.
double ulps(float computed, double exact)
{
    const float nearest = std::abs(static_cast<float>(exact));
    const double unit = static_cast<double>(std::nextafter(nearest, infinity)) - static_cast<double>(nearest);
    return std::abs(static_cast<double>(computed) - exact) / unit;
}

/// S, filled by `fill(t)` from t = low to high; after `work` each cell is checked.
template <typename Fill, typename Work, typename Check>
void for_each_value(Tile& tile, Index cells, double low, double high, Fill fill, Work work, Check check)
{
    constexpr int batches = 40;
    for (int batch = 0; batch < batches; ++batch) {
        std::vector<float> from(static_cast<std::size_t>(cells));
        for (Index i = 0; i < cells; ++i) {
            const double share = static_cast<double>(i * batches + batch) / static_cast<double>(cells * batches);
            from[static_cast<std::size_t>(i)] = tile.S[i] = static_cast<float>(fill(low + (high - low) * share));
        }
        work();
        for (Index i = 0; i < cells; ++i) {
            check(from[static_cast<std::size_t>(i)], tile.S[i]);
        }
    }
}

TEST_P(TileKernel, PowersOfTwoAreGoodToTheLastPlaceAndKeepDenormals)
{
    Tile tile = make_tile();
    double worst = 0;
    for_each_value(
        tile, tile.keys * width(), -150, 0, [](double t) { return t; }, [&] { kernels().powers(tile, 1); },
        [&](float t, float power) { worst = std::max(worst, ulps(power, std::exp2(double(t)))); });
    const bool rounds_fractions = kernels().lanes == 16; // those of AVX-512, next to 0, toward smaller ones
    EXPECT_LT(worst, rounds_fractions ? 1.6 : 1.0);
    EXPECT_GT(worst, 0.5); // or this looked at nothing
}

TEST_P(TileKernel, PowersAreRoundedAsTheirTypeHasThem)
{
    Tile tile = make_tile();
    for (const ElementType type : {ElementType::float16, ElementType::bfloat16, ElementType::float32}) {
        for_each_value(
            tile, tile.keys * width(), -45, 0, [](double t) { return std::exp2(t); },
            [&] { kernels().round_powers(tile, type); },
            [&](float power, float to) {
                const auto exact = static_cast<double>(power);
                ASSERT_EQ(to, type == ElementType::float16    ? attn::from_float16(attn::to_float16(exact))
                              : type == ElementType::bfloat16 ? attn::from_bfloat16(attn::to_bfloat16(exact))
                                                              : power);
            });
    }
}

TEST_P(TileKernel, PowersOfWholeNumbersAreExactDownToTheSmallestDenormal)
{
    Tile tile = make_tile();
    for_each_value(
        tile, 150, 0, 150, [](double t) { return -std::floor(t); }, [&] { kernels().powers(tile, 1); },
        [](float t, float power) { EXPECT_EQ(power, std::exp2(t)) << t; });
}

TEST_P(TileKernel, PowersOfWhatIsMaskedOrFarBelowAreExactlyZero)
{
    for (const float t : {-infinity, -std::numeric_limits<float>::max(), -1e30F, -1e6F, -191.0F, -151.0F}) {
        for (const bool far : {false, true}) {
            Tile tile = make_tile();
            tile.far = far;
            std::fill_n(tile.S, tile.keys * width(), t);
            kernels().powers(tile, 1);
            for (Index i = 0; i < tile.keys * width(); ++i) {
                ASSERT_EQ(tile.S[i], 0) << t;
            }
            EXPECT_EQ(tile.sum[0], 0);
        }
    }
}

TEST_P(TileKernel, PowersTakeTheMaximumOfAllTilesAndRescaleWhatWasBefore)
{
    Tile tile = make_tile();
    std::fill_n(tile.maximum, width(), -infinity);
    std::fill_n(tile.S, tile.keys * width(), 3.0F);
    std::fill_n(tile.tile_maximum, width(), 3.0F);
    kernels().powers(tile, 2); // 2^((3 - 3)·2) each
    EXPECT_EQ(tile.maximum[1], 3);
    EXPECT_EQ(tile.rescale[1], 0);
    EXPECT_EQ(tile.sum[1], static_cast<float>(tile.keys));

    std::fill_n(tile.S, tile.keys * width(), 4.0F);
    std::fill_n(tile.tile_maximum, width(), 4.0F);
    kernels().powers(tile, 2); // what was before counts 2^((3 - 4)·2) = 1/4
    EXPECT_EQ(tile.maximum[1], 4);
    EXPECT_EQ(tile.rescale[1], 0.25F);
    EXPECT_EQ(tile.sum[1], static_cast<float>(tile.keys) * 1.25F);

    std::fill_n(tile.S, tile.keys * width(), 2.0F);
    std::fill_n(tile.tile_maximum, width(), 2.0F);
    kernels().powers(tile, 2); // below the maximum: it stays, and these count 1/16
    EXPECT_EQ(tile.maximum[1], 4);
    EXPECT_EQ(tile.rescale[1], 1);
    EXPECT_EQ(tile.sum[1], static_cast<float>(tile.keys) * 1.3125F);
}

TEST_P(TileKernel, CapIsGoodToAFewUnitsInTheLastPlace)
{
    Tile tile = make_tile();
    double worst = 0;
    for (const double high : {0.01, 1.0, 12.0}) {
        for_each_value(
            tile, tile.keys * width(), -high, high, [](double x) { return x; }, [&] { kernels().cap(tile, 1, 1); },
            [&](float x, float capped) { worst = std::max(worst, ulps(capped, std::tanh(double(x)))); });
    }
    EXPECT_LT(worst, 3);
    EXPECT_GT(worst, 0.5);
}

TEST_P(TileKernel, CapIsTheScaleAloneWithoutACap)
{
    Tile tile = make_tile();
    for_each_value(
        tile, tile.keys * width(), -9, 9, [](double x) { return x; }, [&] { kernels().cap(tile, -3, 0); },
        [](float x, float scaled) { ASSERT_EQ(scaled, -3 * x); });
}

TEST_P(TileKernel, TakesOffDistancesRoundedOnce)
{
    Tile tile = make_tile();
    std::vector<float> position(static_cast<std::size_t>(width()));
    for (Index q = 0; q < width(); ++q) {
        position[static_cast<std::size_t>(q)] = static_cast<float>(7 * q - 100);
    }
    std::vector<float> before(static_cast<std::size_t>(tile.keys * width()));
    for (std::size_t i = 0; i < before.size(); ++i) {
        before[i] = static_cast<float>(i) * 0.01F - 20;
    }
    std::copy(before.begin(), before.end(), tile.S);
    kernels().take_off_distances(tile, 0.125F, 0.3F, position.data());
    for (Index j = 0; j < tile.keys; ++j) {
        for (Index q = 0; q < width(); ++q) {
            const float scaled = before[static_cast<std::size_t>(j * width() + q)] * 0.125F;
            const float distance = std::abs(position[static_cast<std::size_t>(q)] - static_cast<float>(j));
            ASSERT_EQ(tile.S[j * width() + q], std::fma(-0.3F, distance, scaled)) << j << ", " << q;
        }
    }
}

/// With weights from 1 down to denormal ones, of which large values make something, and an odd number of keys.
TEST_P(PairKernel, PairsOfValuesGiveWhatRoundedWeightsGive)
{
    for (const auto& [keys, d] : {std::pair<Index, Index>{64, 64}, {63, 64}, {1, 5}, {17, 80}, {2, 130}}) {
        const Index features = (d + kernels().lanes - 1) / kernels().lanes * kernels().lanes;
        std::mt19937 engine(static_cast<unsigned>(keys));
        std::uniform_real_distribution<float> uniform(-1, 1);
        std::vector<std::uint16_t> bits(static_cast<std::size_t>(keys * d));
        std::vector<float> V(static_cast<std::size_t>(keys * features)), pairs(V.size() + static_cast<std::size_t>(features));
        for (Index j = 0; j < keys; ++j) {
            for (Index e = 0; e < d; ++e) {
                const std::uint16_t half = attn::to_bfloat16(uniform(engine) * (j % 5 == 0 ? 1e38F : 1));
                bits[static_cast<std::size_t>(j * d + e)] = half;
                V[static_cast<std::size_t>(j * features + e)] = attn::from_bfloat16(half);
            }
        }
        Tile tile = make_tile(features);
        tile.keys = keys;
        const attn::core::TileRows rows{reinterpret_cast<const std::byte*>(bits.data()), d, ElementType::bfloat16};
        ASSERT_FALSE(kernels().pair_values(rows, keys, d, pairs.data(), features));
        std::vector<float> weights(static_cast<std::size_t>(keys * width()));
        for (std::size_t i = 0; i < weights.size(); ++i) {
            const bool large = static_cast<Index>(i) / width() % 5 == 0;
            weights[i] =
                large ? std::ldexp(1 + uniform(engine) / 2, -126 - static_cast<int>(i % 9)) : (uniform(engine) + 1) / 2;
        }
        std::copy(weights.begin(), weights.end(), tile.S);
        kernels().round_powers(tile, ElementType::bfloat16);
        kernels().add_values(tile, {V.data(), features});
        const std::vector<float> expected = O_;
        std::copy(weights.begin(), weights.end(), tile.S);
        kernels().add_value_pairs(tile, {pairs.data(), features});
        for (Index q = 0; q < width(); ++q) {
            for (Index e = 0; e < d; ++e) {
                const auto at = static_cast<std::size_t>(q * features + e);
                ASSERT_NEAR(O_[at], expected[at], 1e-5) << keys << " keys, " << q << ", " << e;
            }
        }
    }
}

TEST_P(PairKernel, PairsOfValuesSayWhichAreDenormal)
{
    std::vector<float> pairs(64);
    for (std::uint32_t number = 0; number <= 0xffff; ++number) {
        for (const std::size_t place : {0, 3, 17, 20}) {
            std::vector<std::uint16_t> bits(21, 0x3f80);
            bits[place] = static_cast<std::uint16_t>(number);
            const attn::core::TileRows rows{reinterpret_cast<const std::byte*>(bits.data()), 7, ElementType::bfloat16};
            const bool denormal = (number & 0x7f80) == 0 && (number & 0x7f) != 0;
            ASSERT_EQ(kernels().pair_values(rows, 3, 7, pairs.data(), 16), denormal) << number;
        }
    }
}

/// Bits of every float16 or bfloat16 that is a number, in rows of `d`.
std::vector<std::uint16_t> every_half(ElementType type, Index d)
{
    std::vector<std::uint16_t> halves;
    for (std::uint32_t bits = 0; bits <= 0xffffU; ++bits) {
        const auto half = static_cast<std::uint16_t>(bits);
        if (!std::isnan(type == ElementType::float16 ? attn::from_float16(half) : attn::from_bfloat16(half))) {
            halves.push_back(half);
        }
    }
    halves.resize(halves.size() / static_cast<std::size_t>(d) * static_cast<std::size_t>(d));
    return halves;
}

TEST_P(TileKernel, CopyRowsConvertsEveryHalfExactlyAndFillsUpWithZeros)
{
    constexpr Index d = 19;
    const Index stride = (d + kernels().lanes - 1) / kernels().lanes * kernels().lanes;
    for (const ElementType type : {ElementType::float16, ElementType::bfloat16}) {
        const std::vector<std::uint16_t> halves = every_half(type, d);
        const auto rows = static_cast<Index>(halves.size()) / d;
        std::vector<float> to(static_cast<std::size_t>(rows * stride), 5);
        kernels().copy_rows({reinterpret_cast<const std::byte*>(halves.data()), d, type}, rows, d, to.data(), stride);
        for (Index i = 0; i < rows * stride; ++i) {
            const Index column = i % stride;
            const std::uint16_t half = halves[static_cast<std::size_t>(i / stride * d + std::min(column, d - 1))];
            const float exact = type == ElementType::float16 ? attn::from_float16(half) : attn::from_bfloat16(half);
            ASSERT_EQ(to[static_cast<std::size_t>(i)], column < d ? exact : 0);
        }
    }
}

TEST_P(TileKernel, PackQueriesTransposesAndFillsUpWithZeros)
{
    for (const Index d : {Index{1}, kernels().lanes - 1, kernels().lanes, 2 * kernels().lanes + 3}) {
        for (const Index queries : {Index{1}, kernels().lanes + 1, width()}) {
            std::vector<float> Q(static_cast<std::size_t>(queries * d));
            for (std::size_t i = 0; i < Q.size(); ++i) {
                Q[i] = static_cast<float>(i + 1);
            }
            std::vector<float> packed(static_cast<std::size_t>(d * width()));
            kernels().pack_queries({reinterpret_cast<const std::byte*>(Q.data()), d, ElementType::float32}, queries, d,
                                   packed.data());
            for (Index e = 0; e < d; ++e) {
                for (Index q = 0; q < width(); ++q) {
                    ASSERT_EQ(packed[static_cast<std::size_t>(e * width() + q)],
                              q < queries ? Q[static_cast<std::size_t>(q * d + e)] : 0);
                }
            }
        }
    }
}

TEST_P(TileKernel, LargestFindsEveryElementAndNan)
{
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    for (const ElementType type : {ElementType::float32, ElementType::float16, ElementType::bfloat16}) {
        for (const Index d : {Index{1}, kernels().lanes, 4 * kernels().lanes, 4 * kernels().lanes + 3}) {
            constexpr Index rows = 3;
            for (const Index stride : {d, d + 2}) {
                const auto largest = [&](const std::vector<float>& values, bool above_zero) {
                    const auto bytes = attn::to_bytes<float>(type, values);
                    return kernels().largest({bytes.data(), stride, type}, rows, d, above_zero);
                };
                for (Index at = 0; at < rows * stride; ++at) {
                    const bool inside = at % stride < d;
                    std::vector<float> values(static_cast<std::size_t>(rows * stride), -1);
                    float& one = values[static_cast<std::size_t>(at)];
                    one = -8;
                    EXPECT_EQ(largest(values, false), inside ? 8 : 1);
                    EXPECT_EQ(largest(values, true), 0);
                    one = 8;
                    EXPECT_EQ(largest(values, true), inside ? 8 : 0);
                    one = -infinity;
                    EXPECT_EQ(largest(values, false), inside ? infinity : 1);
                    EXPECT_EQ(largest(values, true), 0);
                    for (const float sign : {1.0F, -1.0F}) {
                        one = std::copysign(nan, sign);
                        EXPECT_EQ(std::isnan(largest(values, false)), inside);
                        EXPECT_EQ(std::isnan(largest(values, true)), inside);
                    }
                }
            }
        }
    }
}

/// Random bits of float32, all sizes and signs.
float any_float(std::mt19937& engine)
{
    return std::bit_cast<float>(static_cast<std::uint32_t>(engine()));
}

TEST_P(TileKernel, FinishRoundsOnceToEveryType)
{
    constexpr Index d = 21;
    std::mt19937 engine(1);
    Tile tile = make_tile((d + kernels().lanes - 1) / kernels().lanes * kernels().lanes);
    for (int round = 0; round < 200; ++round) {
        std::generate(O_.begin(), O_.end(), [&] { return any_float(engine); });
        std::fill_n(tile.sum, width(), 1.0F);
        for (const ElementType type : {ElementType::float32, ElementType::float16, ElementType::bfloat16}) {
            const Index rows = width() - 3;
            const Index size = attn::size_of(type);
            std::vector<std::byte> to(static_cast<std::size_t>(rows * d * size));
            kernels().finish(tile, rows, d, 0, {to.data(), d, type});
            for (Index i = 0; i < rows * d; ++i) {
                const std::array value{tile.O[i / d * tile.features + i % d]};
                if (!std::isnan(value[0])) { // which stays one, with whatever bits
                    const std::vector<std::byte> exact = attn::to_bytes<float>(type, value);
                    ASSERT_EQ(std::memcmp(exact.data(), to.data() + i * size, static_cast<std::size_t>(size)), 0) << value[0];
                }
            }
        }
    }
}

TEST_P(TileKernel, FinishKeepsNanAndFillsEmptyRows)
{
    Tile tile = make_tile(kernels().lanes);
    std::fill_n(tile.sum, 2, 1.0F); // the others are empty
    tile.O[0] = std::numeric_limits<float>::quiet_NaN();
    for (const ElementType type : {ElementType::float16, ElementType::bfloat16}) {
        std::vector<std::uint16_t> to(3);
        kernels().finish(tile, 3, 1, std::numeric_limits<float>::quiet_NaN(),
                         {reinterpret_cast<std::byte*>(to.data()), 1, type});
        const auto value = [&](std::size_t i) {
            return type == ElementType::float16 ? attn::from_float16(to[i]) : attn::from_bfloat16(to[i]);
        };
        EXPECT_TRUE(std::isnan(value(0)));
        EXPECT_EQ(value(1), 0);
        EXPECT_TRUE(std::isnan(value(2)));
    }
}

TEST_P(TileKernel, MaskKeepsTheKeysFromBeginToEnd)
{
    Tile tile = make_tile();
    std::vector<float> begin(static_cast<std::size_t>(width())), end(begin);
    for (Index q = 0; q < width(); ++q) {
        begin[static_cast<std::size_t>(q)] = static_cast<float>(q % 5);
        end[static_cast<std::size_t>(q)] = static_cast<float>(q);
    }
    kernels().mask(tile, begin.data(), end.data());
    kernels().find_maximum(tile);
    for (Index q = 0; q < width(); ++q) {
        for (Index j = 0; j < tile.keys; ++j) {
            ASSERT_EQ(tile.S[j * width() + q], j >= q % 5 && j < q ? 0 : -infinity);
        }
        EXPECT_EQ(tile.tile_maximum[q], q > q % 5 ? 0 : -infinity);
    }
}

} // namespace
