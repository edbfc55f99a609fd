// The tiled path against the portable one and against float64, for every instruction set of this machine.
#include "attn/core/tiled.hpp"

#include "attn/core/tiles/plan.hpp"
#include "attn/tensor/error.hpp"
#include "oracle/expect_close.hpp"
#include "oracle/heads.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace {

namespace core = attn::core;
using attn::ElementType;
using attn::Index;
using attn::Tensor;
using core::Isa;

constexpr core::StageSelection everything{true, true, true, true, true, true};

std::vector<Isa> tiled_isas()
{
    std::vector<Isa> isas = core::available_isas();
    isas.erase(isas.begin());
    return isas;
}

Tensor<float> uniform(std::mt19937& engine, attn::Shape shape, float size = 0.5F)
{
    Tensor<float> tensor(std::move(shape));
    std::uniform_real_distribution<float> distribution(-size, size);
    std::generate(tensor.values.begin(), tensor.values.end(), [&] { return distribution(engine); });
    return tensor;
}

struct Sizes {
    Index H = 1, H_kv = 1, T = 1, S = 1, d_k = 1, d_v = 1;
};

oracle::Heads<float> heads(const Sizes& sizes, unsigned seed)
{
    std::mt19937 engine(seed);
    oracle::Heads<float> drawn{uniform(engine, {sizes.H, sizes.T, sizes.d_k}, 1.5F),
                               uniform(engine, {sizes.H_kv, sizes.S, sizes.d_k}, 1.5F),
                               uniform(engine, {sizes.H_kv, sizes.S, sizes.d_v}, 1.5F),
                               {}};
    drawn.query_positions.resize(static_cast<std::size_t>(sizes.T));
    std::iota(drawn.query_positions.begin(), drawn.query_positions.end(), Index{0});
    return drawn;
}

/// Both paths' stages are close; those that were not kept are empty in both.
void expect_close(const core::Stages<float>& tiled, const core::Stages<float>& portable, const std::string& what)
{
    const auto close = [&](const Tensor<float>& one, const Tensor<float>& other, double atol, const char* stage) {
        EXPECT_EQ(one.shape, other.shape) << stage << ", " << what;
        EXPECT_TRUE(oracle::close(one.values, other.values, 2e-5, atol)) << stage << ", " << what;
    };
    close(tiled.scores, portable.scores, 2e-5, "scores"); // sums of products that may come to nothing
    close(tiled.scaled_scores, portable.scaled_scores, 4e-6, "scaled_scores");
    close(tiled.capped_scores, portable.capped_scores, 4e-6, "capped_scores");
    close(tiled.masked_scores, portable.masked_scores, 4e-6, "masked_scores");
    close(tiled.weights, portable.weights, 2e-6, "weights");
    close(tiled.entropy, portable.entropy, 4e-6, "entropy");
    close(tiled.head_context, portable.head_context, 2e-6, "context");
}

bool same_bits(const Tensor<float>& one, const Tensor<float>& other)
{
    return std::equal(one.values.begin(), one.values.end(), other.values.begin(), other.values.end(),
                      [](float a, float b) { return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b); });
}

class Tiled : public testing::TestWithParam<Isa> {
protected:
    [[nodiscard]] const core::TileKernels& kernels() const { return *core::kernels_of(GetParam()); }

    core::Stages<float> tiled(const oracle::Heads<float>& h, const core::AttentionOptions& options,
                              const core::StageSelection& keep = everything, int threads = 1) const
    {
        return oracle::stages_of(h, options, keep, {.threads = threads, .isa = GetParam()});
    }
    void expect_portable(const Sizes& sizes, const core::AttentionOptions& options, unsigned seed) const
    {
        const oracle::Heads<float> h = heads(sizes, seed);
        const std::string what = "T " + std::to_string(sizes.T) + ", S " + std::to_string(sizes.S) + ", d " +
                                 std::to_string(sizes.d_k) + " and " + std::to_string(sizes.d_v);
        expect_close(tiled(h, options), oracle::stages_of(h, options, everything, {}), what);
    }
};
INSTANTIATE_TEST_SUITE_P(Available, Tiled, testing::ValuesIn(tiled_isas()),
                         [](const auto& isa) { return std::string(name_of(isa.param)); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Tiled);

TEST_P(Tiled, IsThePortablePathAtEveryEdgeOfATile)
{
    const Index q = kernels().query_tile, k = kernels().key_tile, lanes = kernels().lanes;
    for (const Index T : {Index{1}, Index{2}, lanes - 1, lanes, lanes + 1, q - 1, q, q + 1, 2 * q + 3}) {
        for (const Index S : {Index{1}, Index{2}, Index{5}, k - 1, k, k + 1, 2 * k + 7}) {
            expect_portable({.T = T, .S = S, .d_k = 5, .d_v = 9}, {}, static_cast<unsigned>(T * 1000 + S));
            expect_portable({.T = T, .S = S, .d_k = 5, .d_v = 9}, {.causal = true}, static_cast<unsigned>(T * 1000 + S));
        }
    }
}

TEST_P(Tiled, IsThePortablePathForEverySizeOfAHead)
{
    for (Index d = 1; d <= 140; d += d < 40 ? 1 : 11) {
        expect_portable({.T = 3, .S = 70, .d_k = d, .d_v = d}, {}, static_cast<unsigned>(d));
        expect_portable({.T = 20, .S = 7, .d_k = 141 - d, .d_v = d}, {}, static_cast<unsigned>(d));
    }
    for (const Index d : {32, 64, 80, 96, 128, 160, 256, 512}) {
        expect_portable({.H = 2, .T = 65, .S = 100, .d_k = d, .d_v = d}, {}, static_cast<unsigned>(d));
    }
}

TEST_P(Tiled, IsThePortablePathForWindowsThatLeaveOutWholeTiles)
{
    for (const auto& [left, right] : {std::pair<Index, Index>{3, 0}, {0, 0}, {70, 5}, {-1, 2}, {200, -1}, {-1, -1}}) {
        for (const Index offset : {-200, -70, 0, 130, 500}) {
            oracle::Heads<float> h = heads({.H = 4, .H_kv = 2, .T = 150, .S = 333, .d_k = 8, .d_v = 8}, 5);
            std::iota(h.query_positions.begin(), h.query_positions.end(), offset);
            const core::AttentionOptions options{.window = core::Window{left, right}};
            expect_close(tiled(h, options), oracle::stages_of(h, options, everything, {}),
                         std::to_string(left) + "," + std::to_string(right) + " at " + std::to_string(offset));
        }
    }
}

TEST_P(Tiled, TakesTheLargestNegativeNumberInAMaskForWhatItIs)
{
    // What frameworks write for "masked": it hides a key beside others, and is the same for all in a row of it alone.
    oracle::Heads<float> h = heads({.T = 3, .S = 100, .d_k = 8, .d_v = 4}, 3);
    Tensor<float> mask({1, 3, 100});
    std::fill_n(mask.values.begin(), 50, std::numeric_limits<float>::lowest());        // half of the first row
    std::fill_n(mask.values.begin() + 100, 100, std::numeric_limits<float>::lowest()); // all of the second
    h.mask = attn::row_major_view(ElementType::float32, mask.shape, std::as_bytes(std::span(mask.values)));
    const core::Stages<float> stages = tiled(h, {});
    expect_close(stages, oracle::stages_of(h, {}, everything, {}), "lowest");
    EXPECT_EQ(stages.weights.values[7], 0);
    EXPECT_FLOAT_EQ(stages.weights.values[107], 0.01F);
}

TEST_P(Tiled, GivesEmptyRowsZerosOrNan)
{
    for (const bool nan : {false, true}) {
        oracle::Heads<float> h = heads({.T = 100, .S = 100, .d_k = 8, .d_v = 4}, 3);
        std::iota(h.query_positions.begin(), h.query_positions.end(), -70); // the first 70 see no key
        const core::AttentionOptions options{.causal = true, .nan_for_empty_rows = nan};
        const core::Stages<float> stages = tiled(h, options);
        expect_close(stages, oracle::stages_of(h, options, everything, {}), "empty rows");
        EXPECT_EQ(std::isnan(stages.head_context.values[69 * 4]), nan);
        EXPECT_EQ(std::isnan(stages.weights.values[69 * 100]), nan);
        EXPECT_FALSE(std::isnan(stages.head_context.values[70 * 4]));
    }
}

TEST_P(Tiled, GivesARowTheSameBitsWhateverRowsAreWithIt)
{
    oracle::Heads<float> all = heads({.H = 2, .T = 200, .S = 300, .d_k = 24, .d_v = 40}, 11);
    for (const core::AttentionOptions& options :
         {core::AttentionOptions{}, {.causal = true}, {.softcap = 3, .window = core::Window{70, 20}}}) {
        const core::Stages<float> full = tiled(all, options);
        oracle::Heads<float> some = all;
        some.query_positions = {3, 64, 65, 130, 199};
        some.queries = Tensor<float>({2, 5, 24});
        for (Index h = 0; h < 2; ++h) {
            for (Index i = 0; i < 5; ++i) {
                some.queries.matrix(h).row(i) = all.queries.matrix(h).row(some.query_positions[static_cast<std::size_t>(i)]);
            }
        }
        const core::Stages<float> few = tiled(some, options);
        for (Index h = 0; h < 2; ++h) {
            for (Index i = 0; i < 5; ++i) {
                const Index row = some.query_positions[static_cast<std::size_t>(i)];
                EXPECT_EQ(few.head_context.matrix(h).row(i), full.head_context.matrix(h).row(row)) << row;
                EXPECT_EQ(few.weights.matrix(h).row(i), full.weights.matrix(h).row(row)) << row;
                EXPECT_EQ(few.entropy.values[static_cast<std::size_t>(h * 5 + i)],
                          full.entropy.values[static_cast<std::size_t>(h * 200 + row)]);
            }
        }
    }
}

TEST_P(Tiled, GivesTheSameContextWhateverIsKept)
{
    const oracle::Heads<float> h = heads({.H = 2, .T = 130, .S = 200, .d_k = 24, .d_v = 40}, 12);
    for (const core::AttentionOptions& options : {core::AttentionOptions{}, {.softcap = 3, .causal = true}}) {
        EXPECT_TRUE(same_bits(tiled(h, options).head_context, tiled(h, options, {}).head_context));
        EXPECT_TRUE(same_bits(tiled(h, options).weights, tiled(h, options, {.weights = true}).weights));
    }
}

TEST_P(Tiled, GivesTheSameBitsForAnyNumberOfThreads)
{
    const oracle::Heads<float> h = heads({.H = 4, .H_kv = 2, .T = 700, .S = 700, .d_k = 32, .d_v = 48}, 13);
    for (const bool causal : {false, true}) {
        const core::Stages<float> one = tiled(h, {.causal = causal});
        for (const int threads : {2, 3, 8}) {
            const core::Stages<float> several = tiled(h, {.causal = causal}, everything, threads);
            EXPECT_TRUE(same_bits(one.head_context, several.head_context));
            EXPECT_TRUE(same_bits(one.weights, several.weights));
            EXPECT_TRUE(same_bits(one.entropy, several.entropy));
        }
    }
}

TEST_P(Tiled, LeavesWhatMayOverflowToThePortablePath)
{
    for (const float size : {1e19F, 3e38F}) {
        oracle::Heads<float> h = heads({.T = 5, .S = 9, .d_k = 3, .d_v = 2}, 14);
        h.queries.values[4] = h.keys.values[7] = size;
        const core::Stages<float> stages = tiled(h, {}), portable = oracle::stages_of(h, {}, everything, {});
        EXPECT_TRUE(same_bits(stages.weights, portable.weights));
        EXPECT_EQ(stages.overflowed, portable.overflowed);
    }
    oracle::Heads<float> h = heads({.T = 5, .S = 9, .d_k = 3, .d_v = 2}, 14);
    h.values.values[3] = std::numeric_limits<float>::infinity();
    EXPECT_TRUE(same_bits(tiled(h, {}).weights, oracle::stages_of(h, {}, everything, {}).weights));
    EXPECT_EQ(tiled(h, {}).portable_because, "numbers that are not finite or may overflow on the way");
    h.queries.values[0] = std::numeric_limits<float>::quiet_NaN();
    const core::Stages<float> of_nan = tiled(h, {.causal = true});
    EXPECT_TRUE(std::isnan(of_nan.weights.values[0]) && of_nan.weights.values[1] == 0);
    h.queries.values[0] = 0;
    const core::AttentionOptions half{.softmax_type = ElementType::float16};
    h.values.values[3] = 0;
    EXPECT_TRUE(same_bits(tiled(h, half).weights, oracle::stages_of(h, half, everything, {}).weights));
    EXPECT_EQ(tiled(h, half).portable_because, "a softmax in another type than float32");
    EXPECT_EQ(tiled(h, {}).portable_because, "");
    EXPECT_EQ(oracle::stages_of(h, {}, {}, {.isa = GetParam(), .rounding = core::Rounding::step}).portable_because,
              "--rounding step");
    h.slopes = {0.5};
    EXPECT_EQ(tiled(h, {}).portable_because, "ALiBi");
    EXPECT_EQ(oracle::stages_of(h, half, {}, {}).portable_because, ""); // portable was asked for
    oracle::Heads<double> wide{Tensor<double>({1, 1, 1}), Tensor<double>({1, 1, 1}), Tensor<double>({1, 1, 1}), {0}};
    EXPECT_EQ(oracle::stages_of(wide, {}, {}, {.isa = GetParam()}).portable_because, "float64");
}

/// The largest error of the context from float64, in units of the largest value; of attention with these inputs scaled up.
struct Errors {
    double tiled, scores_alone;
};
Errors errors(Isa isa, float q, float k, float v)
{
    constexpr Index T = 64, S = 512, d = 64;
    std::mt19937 engine(21);
    oracle::Heads<float> h{uniform(engine, {1, T, d}, 0.5F * q), uniform(engine, {1, S, d}, 0.5F * k),
                           uniform(engine, {1, S, d}, 0.5F * v), std::vector<Index>(T)};
    oracle::Heads<double> exact{Tensor<double>({1, T, d}), Tensor<double>({1, S, d}), Tensor<double>({1, S, d}),
                                std::vector<Index>(T)};
    const auto widen = [](const Tensor<float>& from, Tensor<double>& to) {
        std::copy(from.values.begin(), from.values.end(), to.values.begin());
    };
    widen(h.queries, exact.queries);
    widen(h.keys, exact.keys);
    widen(h.values, exact.values);
    const core::Stages<double> stated = oracle::stages_of(exact, {}, {.scores = true}, {});
    const core::Stages<float> stages = oracle::stages_of(h, {}, {}, {.isa = isa});

    // Everything exact but the scores, which are summed in float32.
    const attn::Matrix<float> S32 = (h.queries.matrix() * h.keys.matrix().transpose()).eval();
    attn::Matrix<double> W = (S32.cast<double>() / 8).eval();
    for (Index i = 0; i < T; ++i) {
        W.row(i) = (W.row(i).array() - W.row(i).maxCoeff()).exp();
        W.row(i) /= W.row(i).sum();
    }
    const double unit = exact.values.matrix().cwiseAbs().maxCoeff();
    const auto exact_context = stated.head_context.matrix();
    return {(stages.head_context.matrix().cast<double>() - exact_context).cwiseAbs().maxCoeff() / unit,
            ((W * exact.values.matrix()) - exact_context).cwiseAbs().maxCoeff() / unit};
}

TEST_P(Tiled, IsAsAccurateAsFloat32Allows)
{
    EXPECT_LE(errors(GetParam(), 1, 1, 1).tiled, 2e-6);
    EXPECT_LE(errors(GetParam(), 30, 1, 1).tiled, 2e-6);
    EXPECT_LE(errors(GetParam(), 1, 1, 30).tiled, 2e-6);
    for (const float v : {1.0F, 30.0F}) {
        const Errors sharp = errors(GetParam(), 30, 30, v);
        EXPECT_LE(sharp.tiled, 3 * sharp.scores_alone);
    }
}

TEST_P(Tiled, GivesTheValueOfTheOnlyKeyHoweverLargeItsScore)
{
    for (float q = 1; q < 1e17F; q *= 3.7F) {
        for (const float sign : {1.0F, -1.0F}) {
            oracle::Heads<float> h = heads({}, 1);
            h.queries.values = {sign * q};
            h.keys.values = {q};
            h.values.values = {7};
            const core::Stages<float> stages = tiled(h, {});
            EXPECT_FLOAT_EQ(stages.weights.values[0], 1) << sign * q;
            EXPECT_FLOAT_EQ(stages.head_context.values[0], 7) << sign * q;
        }
    }
}

TEST_P(Tiled, WeighsEveryRowByOneInAllHoweverLargeTheScores)
{
    for (const bool causal : {false, true}) {
        for (float size = 1; size < 1e34F; size *= 10) {
            oracle::Heads<float> h = heads({.H = 2, .H_kv = 1, .T = 70, .S = 200, .d_k = 24, .d_v = 3}, 77);
            for (float& q : h.queries.values) {
                q *= size;
            }
            std::fill(h.values.values.begin(), h.values.values.end(), 1.0F);
            const core::Stages<float> stages = tiled(h, {.causal = causal});
            for (Index head = 0; head < 2; ++head) {
                EXPECT_TRUE((stages.weights.matrix(head).rowwise().sum().array() - 1).abs().maxCoeff() < 1e-5F) << size;
                EXPECT_TRUE((stages.head_context.matrix(head).array() - 1).abs().maxCoeff() < 1e-5F) << size;
            }
        }
    }
}

TEST_P(Tiled, TakesTheRangeFromTheLargestScoreThatThereMayBe)
{
    oracle::Heads<float> h = heads({.d_k = 4}, 1);
    std::fill(h.keys.values.begin(), h.keys.values.end(), 1.0F);
    const auto range = [&](float q) {
        std::fill(h.queries.values.begin(), h.queries.values.end(), q);
        return core::score_range(h.inputs(), {}, {.isa = GetParam()});
    };
    EXPECT_EQ(range(1), core::ScoreRange::near);
    EXPECT_EQ(range(3e5F), core::ScoreRange::near); // 4 · q · 1 / √4 · log2 e = 865,617 of 1,048,576
    EXPECT_EQ(range(4e5F), core::ScoreRange::far);
    EXPECT_EQ(range(1e36F), core::ScoreRange::far);
    EXPECT_EQ(range(2e37F), core::ScoreRange::beyond);
    EXPECT_EQ(range(std::numeric_limits<float>::quiet_NaN()), core::ScoreRange::beyond);
}

TEST_P(Tiled, RefusesShapesThatDoNotBelongTogether)
{
    const Tensor<float> q({1, 2, 3, 4}), k({1, 1, 5, 4}), v({1, 1, 5, 2}), wrong({1, 1, 5, 3});
    const auto view = [](const Tensor<float>& t) {
        return attn::row_major_view(ElementType::float32, t.shape, std::as_bytes(std::span(t.values)));
    };
    const auto attend = [&](const core::AttentionInputs& inputs) {
        core::attention(inputs, {}, core::AttentionOutputs{}, {.isa = GetParam()});
    };
    EXPECT_NO_THROW(attend({view(q), view(k), view(v)}));
    EXPECT_THROW(attend({view(q), view(wrong), view(v)}), attn::Error);
    EXPECT_THROW(attend({view(q), view(k), view(v), view(wrong), view(v)}), attn::Error);
    EXPECT_THROW(tiled_attention({view(q), view(k), view(v)}, {}, {}, core::ScoreRange::near, {}), attn::Error);
}

TEST_P(Tiled, ConvertsWhatItCannotReadInPlace)
{
    const oracle::Heads<float> h = heads({.H = 4, .H_kv = 2, .T = 70, .S = 90, .d_k = 8, .d_v = 8}, 5);
    core::AttentionInputs inputs = h.inputs();
    Tensor<float> turned = h.keys;
    for (float& key : turned.values) {
        key = std::bit_cast<float>(__builtin_bswap32(std::bit_cast<std::uint32_t>(key)));
    }
    inputs.keys.bytes = std::as_bytes(std::span(turned.values));
    inputs.keys.swapped = true;
    EXPECT_FALSE(core::readable_in_tiles(inputs));
    const auto stages = core::attention<float>(inputs, {}, everything, {.isa = GetParam()});
    EXPECT_TRUE(same_bits(stages.weights, tiled(h, {}).weights));
    EXPECT_TRUE(same_bits(stages.head_context, tiled(h, {}).head_context));
}

} // namespace
