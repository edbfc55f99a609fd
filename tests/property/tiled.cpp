// The tiled path against the portable one and against float64, for every instruction set of this machine.
#include "attn/core/tiled.hpp"

#include "attn/core/tiles/plan.hpp"
#include "attn/tensor/error.hpp"
#include "attn/tensor/view.hpp"
#include "oracle/expect_close.hpp"
#include "oracle/heads.hpp"
#include "property/every_stage.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace {

namespace core = attn::core;
using attn::ElementType;
using attn::Index;
using attn::Tensor;
using core::Isa;

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
    close(tiled[core::Stage::scores], portable[core::Stage::scores], 2e-5,
          "scores"); // sums of products that may come to nothing
    close(tiled[core::Stage::scaled_scores], portable[core::Stage::scaled_scores], 4e-6, "scaled_scores");
    close(tiled[core::Stage::capped_scores], portable[core::Stage::capped_scores], 4e-6, "capped_scores");
    close(tiled[core::Stage::masked_scores], portable[core::Stage::masked_scores], 4e-6, "masked_scores");
    close(tiled[core::Stage::weights], portable[core::Stage::weights], 2e-6, "weights");
    close(tiled[core::Stage::entropy], portable[core::Stage::entropy], 4e-6, "entropy");
    close(tiled[core::Stage::lse], portable[core::Stage::lse], 4e-6, "lse");
    close(tiled[core::Stage::head_context], portable[core::Stage::head_context], 2e-6, "context");
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
                              const core::StageSelection& keep = oracle::every_stage, int threads = 1) const
    {
        return oracle::stages_of(h, options, keep, {.threads = threads, .isa = GetParam()});
    }
    void expect_portable(const Sizes& sizes, const core::AttentionOptions& options, unsigned seed) const
    {
        const oracle::Heads<float> h = heads(sizes, seed);
        const std::string what = "T " + std::to_string(sizes.T) + ", S " + std::to_string(sizes.S) + ", d " +
                                 std::to_string(sizes.d_k) + " and " + std::to_string(sizes.d_v);
        expect_close(tiled(h, options), oracle::stages_of(h, options, oracle::every_stage, {}), what);
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
            expect_close(tiled(h, options), oracle::stages_of(h, options, oracle::every_stage, {}),
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
    expect_close(stages, oracle::stages_of(h, {}, oracle::every_stage, {}), "lowest");
    EXPECT_EQ(stages[core::Stage::weights].values[7], 0);
    EXPECT_FLOAT_EQ(stages[core::Stage::weights].values[107], 0.01F);
}

TEST_P(Tiled, GivesEmptyRowsZerosOrNan)
{
    for (const bool nan : {false, true}) {
        oracle::Heads<float> h = heads({.T = 100, .S = 100, .d_k = 8, .d_v = 4}, 3);
        std::iota(h.query_positions.begin(), h.query_positions.end(), -70); // the first 70 see no key
        const core::AttentionOptions options{.causal = true, .nan_for_empty_rows = nan};
        const core::Stages<float> stages = tiled(h, options);
        expect_close(stages, oracle::stages_of(h, options, oracle::every_stage, {}), "empty rows");
        EXPECT_EQ(std::isnan(stages[core::Stage::head_context].values[69 * 4]), nan);
        EXPECT_EQ(std::isnan(stages[core::Stage::weights].values[69 * 100]), nan);
        EXPECT_FALSE(std::isnan(stages[core::Stage::head_context].values[70 * 4]));
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
                EXPECT_EQ(few[core::Stage::head_context].matrix(h).row(i), full[core::Stage::head_context].matrix(h).row(row))
                    << row;
                EXPECT_EQ(few[core::Stage::weights].matrix(h).row(i), full[core::Stage::weights].matrix(h).row(row)) << row;
                EXPECT_EQ(few[core::Stage::entropy].values[static_cast<std::size_t>(h * 5 + i)],
                          full[core::Stage::entropy].values[static_cast<std::size_t>(h * 200 + row)]);
            }
        }
    }
}

TEST_P(Tiled, GivesTheSameContextWhateverIsKept)
{
    const oracle::Heads<float> h = heads({.H = 2, .T = 130, .S = 200, .d_k = 24, .d_v = 40}, 12);
    for (const core::AttentionOptions& options : {core::AttentionOptions{}, {.softcap = 3, .causal = true}}) {
        EXPECT_TRUE(same_bits(tiled(h, options)[core::Stage::head_context], tiled(h, options, {})[core::Stage::head_context]));
        EXPECT_TRUE(same_bits(tiled(h, options)[core::Stage::weights],
                              tiled(h, options, {core::Stage::weights})[core::Stage::weights]));
    }
}

TEST_P(Tiled, GivesTheSameBitsForAnyNumberOfThreads)
{
    const oracle::Heads<float> h = heads({.H = 4, .H_kv = 2, .T = 700, .S = 700, .d_k = 32, .d_v = 48}, 13);
    for (const bool causal : {false, true}) {
        const core::Stages<float> one = tiled(h, {.causal = causal});
        for (const int threads : {2, 3, 8}) {
            const core::Stages<float> several = tiled(h, {.causal = causal}, oracle::every_stage, threads);
            EXPECT_TRUE(same_bits(one[core::Stage::head_context], several[core::Stage::head_context]));
            EXPECT_TRUE(same_bits(one[core::Stage::weights], several[core::Stage::weights]));
            EXPECT_TRUE(same_bits(one[core::Stage::entropy], several[core::Stage::entropy]));
        }
    }
}

/// (heads, T, S): in blocks of any size all open, all shut or mixed.
attn::StoredTensor patchy_mask(std::mt19937& engine, ElementType type, const attn::Shape& shape)
{
    const auto draw = [&](Index least, Index most) { return std::uniform_int_distribution<Index>(least, most)(engine); };
    const bool boolean = type == ElementType::boolean;
    const double open = boolean ? 1 : 0, shut = boolean ? 0 : -std::numeric_limits<double>::infinity();
    std::vector<double> values(static_cast<std::size_t>(attn::element_count(shape)), draw(0, 1) != 0 ? open : shut);
    for (int patch = 0; patch < 12; ++patch) {
        const Index h = draw(0, shape[0] - 1), row = draw(0, shape[1] - 1), key = draw(0, shape[2] - 1), kind = draw(0, 2);
        for (Index i = row; i < std::min(row + draw(1, 150), shape[1]); ++i) {
            for (Index j = key; j < std::min(key + draw(1, 250), shape[2]); ++j) {
                double& value = values[static_cast<std::size_t>((h * shape[1] + i) * shape[2] + j)];
                value = kind == 0 ? open : kind == 1 ? shut : boolean ? static_cast<double>(draw(0, 1)) : -1.5;
            }
        }
    }
    attn::StoredTensor mask("mask", type, shape);
    mask.bytes = attn::to_bytes<double>(type, values);
    return mask;
}

TEST_P(Tiled, IsThePortablePathUnderMasksThatOpenOrShutWholeTiles)
{
    for (unsigned seed = 0; seed < 60; ++seed) {
        std::mt19937 engine(seed);
        const auto draw = [&](Index least, Index most) { return std::uniform_int_distribution<Index>(least, most)(engine); };
        oracle::Heads<float> h = heads({.H = 4, .H_kv = 2, .T = draw(1, 200), .S = draw(1, 400), .d_k = 8, .d_v = 5}, seed);
        const Index T = h.queries.shape[1], S = h.keys.shape[1];
        const bool shared = draw(0, 1) != 0;
        const attn::Shape shape{shared ? 1 : 4, T, draw(std::max<Index>(S - 70, 1), S)};
        const attn::StoredTensor mask = patchy_mask(engine, static_cast<ElementType>(draw(0, 4)), shape);
        h.mask = mask.view();
        h.mask->shape[0] = 4;
        h.mask->strides[0] = shared ? 0 : h.mask->strides[0];
        if (draw(0, 1) != 0) {
            std::shuffle(h.query_positions.begin(), h.query_positions.end(), engine);
        }
        const core::AttentionOptions options{.softcap = draw(0, 3) == 0 ? std::optional(2.0) : std::nullopt,
                                             .causal = draw(0, 3) == 0};
        const std::string what = "seed " + std::to_string(seed);
        const core::Stages<float> stages = tiled(h, options);
        expect_close(stages, oracle::stages_of(h, options, oracle::every_stage, {}), what);
        EXPECT_TRUE(same_bits(stages[core::Stage::head_context], tiled(h, options, {}, 3)[core::Stage::head_context])) << what;
    }
}

TEST_P(Tiled, GivesTheBitsOfEveryHeadAloneWhereHeadsOfAGroupAreTogether)
{
    for (const Index T : {1, 3, 20}) {
        for (const Index S : {70, 1024, 1025, 3333}) {
            const oracle::Heads<float> h = heads({.H = 6, .H_kv = 2, .T = T, .S = S, .d_k = 24, .d_v = 40}, 31);
            for (const core::AttentionOptions& options : {core::AttentionOptions{}, {.causal = true}}) {
                const core::Stages<float> together = tiled(h, options),
                                          portable = oracle::stages_of(h, options, oracle::every_stage, {});
                expect_close(together, portable, "T " + std::to_string(T) + ", S " + std::to_string(S));
                EXPECT_TRUE(same_bits(together[core::Stage::head_context], tiled(h, options, {})[core::Stage::head_context]));
                for (Index head = 0; head < 6; ++head) {
                    oracle::Heads<float> one = heads({.T = T, .S = S, .d_k = 24, .d_v = 40}, 31);
                    one.queries.matrix() = h.queries.matrix(head);
                    one.keys.matrix() = h.keys.matrix(head / 3);
                    one.values.matrix() = h.values.matrix(head / 3);
                    const core::Stages<float> alone = tiled(one, options);
                    EXPECT_EQ(together[core::Stage::head_context].matrix(head), alone[core::Stage::head_context].matrix());
                    EXPECT_EQ(together[core::Stage::weights].matrix(head), alone[core::Stage::weights].matrix());
                    EXPECT_EQ(together[core::Stage::entropy].matrix().row(head), alone[core::Stage::entropy].matrix().row(0));
                }
            }
        }
    }
}

TEST_P(Tiled, GivesTheSameBitsHoweverManyThreadsShareTheKeysOfARow)
{
    oracle::Heads<float> all = heads({.H = 2, .H_kv = 1, .T = 20, .S = 13000, .d_k = 128, .d_v = 128}, 32);
    std::iota(all.query_positions.begin(), all.query_positions.end(), 12000); // enough work in one row for three threads
    for (const core::AttentionOptions& options :
         {core::AttentionOptions{}, {.causal = true}, {.window = core::Window{10000, -1}}, {.softcap = 2, .causal = true}}) {
        const core::Stages<float> full = tiled(all, options, {});
        expect_close(full, oracle::stages_of(all, options, {}, {}), "all rows");
        for (const Index row : {0, 7, 19}) {
            oracle::Heads<float> one = all;
            one.query_positions = {12000 + row};
            one.queries = Tensor<float>({2, 1, 128});
            one.queries.matrix(0) = all.queries.matrix(0).row(row);
            one.queries.matrix(1) = all.queries.matrix(1).row(row);
            for (const int threads : {1, 2, 3, 8}) {
                const core::Stages<float> decoded = tiled(one, options, {}, threads);
                EXPECT_EQ(decoded[core::Stage::head_context].matrix(0), full[core::Stage::head_context].matrix(0).row(row))
                    << row << ", " << threads;
                EXPECT_EQ(decoded[core::Stage::head_context].matrix(1), full[core::Stage::head_context].matrix(1).row(row))
                    << row << ", " << threads;
            }
        }
    }
}

TEST_P(Tiled, LeavesWhatMayOverflowToThePortablePath)
{
    for (const float size : {1e19F, 3e38F}) {
        oracle::Heads<float> h = heads({.T = 5, .S = 9, .d_k = 3, .d_v = 2}, 14);
        h.queries.values[4] = h.keys.values[7] = size;
        const core::Stages<float> stages = tiled(h, {}), portable = oracle::stages_of(h, {}, oracle::every_stage, {});
        EXPECT_TRUE(same_bits(stages[core::Stage::weights], portable[core::Stage::weights]));
        EXPECT_EQ(stages.overflowed, portable.overflowed);
    }
    oracle::Heads<float> h = heads({.T = 5, .S = 9, .d_k = 3, .d_v = 2}, 14);
    h.values.values[3] = std::numeric_limits<float>::infinity();
    EXPECT_TRUE(
        same_bits(tiled(h, {})[core::Stage::weights], oracle::stages_of(h, {}, oracle::every_stage, {})[core::Stage::weights]));
    EXPECT_EQ(tiled(h, {}).portable_because, "numbers that are not finite or may overflow on the way");
    h.queries.values[0] = std::numeric_limits<float>::quiet_NaN();
    const core::Stages<float> of_nan = tiled(h, {.causal = true});
    EXPECT_TRUE(std::isnan(of_nan[core::Stage::weights].values[0]) && of_nan[core::Stage::weights].values[1] == 0);
    h.queries.values[0] = 0;
    const core::AttentionOptions half{.softmax_type = ElementType::float16};
    h.values.values[3] = 0;
    EXPECT_TRUE(same_bits(tiled(h, half)[core::Stage::weights],
                          oracle::stages_of(h, half, oracle::every_stage, {})[core::Stage::weights]));
    EXPECT_EQ(tiled(h, half).portable_because, "a softmax in another type than float32");
    EXPECT_EQ(tiled(h, {}).portable_because, "");
    EXPECT_EQ(oracle::stages_of(h, {}, {}, {.isa = GetParam(), .rounding = core::Rounding::step}).portable_because,
              "rounding after every operation");
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
    const core::Stages<double> stated = oracle::stages_of(exact, {}, {core::Stage::scores}, {});
    const core::Stages<float> stages = oracle::stages_of(h, {}, {}, {.isa = isa});

    // Everything exact but the scores, which are summed in float32.
    const attn::Matrix<float> S32 = (h.queries.matrix() * h.keys.matrix().transpose()).eval();
    attn::Matrix<double> W = (S32.cast<double>() / 8).eval();
    for (Index i = 0; i < T; ++i) {
        W.row(i) = (W.row(i).array() - W.row(i).maxCoeff()).exp();
        W.row(i) /= W.row(i).sum();
    }
    const double unit = exact.values.matrix().cwiseAbs().maxCoeff();
    const auto exact_context = stated[core::Stage::head_context].matrix();
    return {(stages[core::Stage::head_context].matrix().cast<double>() - exact_context).cwiseAbs().maxCoeff() / unit,
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

/// (1, heads, rows, columns) in bfloat16, or the same numbers in float64.
struct Rounded {
    attn::StoredTensor bfloat16, float64;

    Rounded(std::mt19937& engine, const attn::Shape& shape, float size)
        : bfloat16("", ElementType::bfloat16, shape), float64("", ElementType::float64, shape)
    {
        bfloat16.bytes = attn::to_bytes<float>(ElementType::bfloat16, uniform(engine, shape, size).values);
        float64.bytes = attn::to_bytes<double>(ElementType::float64, attn::load<double>(bfloat16.view()).values);
    }
};

/// The share of the context of bfloat16 that is what float64 gives, rounded.
double correctly_rounded(Isa isa, const attn::Shape& queries, Index S, float size_q, float size_k, double scale = 0.1)
{
    std::mt19937 engine(41);
    const attn::Shape shape{1, queries[1], S, queries[3]};
    const Rounded Q(engine, queries, size_q), K(engine, shape, size_k), V(engine, shape, 1);
    const auto exact = core::attention<double>({Q.float64.view(), K.float64.view(), V.float64.view()}, {.scale = scale},
                                               core::StageSelection{}, {});
    const auto tiled = core::attention<float>({Q.bfloat16.view(), K.bfloat16.view(), V.bfloat16.view()}, {.scale = scale},
                                              core::StageSelection{}, {.isa = isa});
    Index right = 0;
    for (std::size_t i = 0; i < exact[core::Stage::head_context].values.size(); ++i) {
        right += attn::to_bfloat16(static_cast<double>(tiled[core::Stage::head_context].values[i])) ==
                 attn::to_bfloat16(exact[core::Stage::head_context].values[i]);
    }
    return static_cast<double>(right) / static_cast<double>(exact[core::Stage::head_context].values.size());
}

TEST_P(Tiled, RoundsBfloat16AsFloat64Would)
{
    for (const Index d : {6, 7, 64, 80}) { // of odd sizes no pairs are made
        EXPECT_GE(correctly_rounded(GetParam(), {1, 3, 70, d}, 300, 3, 1), 0.995) << d;
        EXPECT_GE(correctly_rounded(GetParam(), {1, 3, 1, d}, 1500, 3, 1), 0.995) << d;
    }
}

/// However small the values: those of some tiles are denormal, others not.
TEST_P(Tiled, RoundsWeightsToBfloat16AlikeWithValuesOfAnySize)
{
    const core::AttentionOptions options{.weights_type = ElementType::bfloat16};
    for (const float size : {1.0F, 0x1p-124F, 0x1p-127F, 0x1p120F}) {
        std::mt19937 engine(43);
        const Rounded Q(engine, {1, 2, 70, 16}, 3), K(engine, {1, 2, 201, 16}, 3), V(engine, {1, 2, 201, 24}, size);
        const auto exact = core::attention<double>({Q.float64.view(), K.float64.view(), V.float64.view()}, options,
                                                   core::StageSelection{}, {});
        const core::AttentionInputs inputs{Q.bfloat16.view(), K.bfloat16.view(), V.bfloat16.view()};
        const auto one = core::attention<float>(inputs, options, core::StageSelection{}, {.threads = 1, .isa = GetParam()});
        const auto two = core::attention<float>(inputs, options, core::StageSelection{}, {.threads = 2, .isa = GetParam()});
        EXPECT_TRUE(same_bits(one[core::Stage::head_context], two[core::Stage::head_context]));
        for (std::size_t i = 0; i < exact[core::Stage::head_context].values.size(); ++i) {
            const double error =
                static_cast<double>(one[core::Stage::head_context].values[i]) - exact[core::Stage::head_context].values[i];
            ASSERT_LT(std::abs(error), 0x1p-9 * static_cast<double>(size)) << size;
        }
    }
}

TEST_P(Tiled, CountsDenormalBfloat16ForWhatTheyAre)
{
    EXPECT_GE(correctly_rounded(GetParam(), {1, 3, 70, 64}, 300, 0x1p118F, 0x1p-126F, 100), 0.995);
    EXPECT_GE(correctly_rounded(GetParam(), {1, 3, 70, 64}, 300, 0x1p-126F, 0x1p118F, 100), 0.995);
    EXPECT_GE(correctly_rounded(GetParam(), {1, 3, 70, 64}, 300, 0x1p-65F, 0x1p-65F, 0x1p120), 0.995); // products are
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
            EXPECT_FLOAT_EQ(stages[core::Stage::weights].values[0], 1) << sign * q;
            EXPECT_FLOAT_EQ(stages[core::Stage::head_context].values[0], 7) << sign * q;
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
                EXPECT_TRUE((stages[core::Stage::weights].matrix(head).rowwise().sum().array() - 1).abs().maxCoeff() < 1e-5F)
                    << size;
                EXPECT_TRUE((stages[core::Stage::head_context].matrix(head).array() - 1).abs().maxCoeff() < 1e-5F) << size;
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
        return core::look_at(h.inputs(), {}, {.isa = GetParam()}).range;
    };
    EXPECT_EQ(range(1), core::ScoreRange::near);
    EXPECT_EQ(range(3e5F), core::ScoreRange::near); // 4 · q · 1 / √4 · log2 e = 865,617 of 1,048,576
    EXPECT_EQ(range(4e5F), core::ScoreRange::far);
    EXPECT_EQ(range(1e36F), core::ScoreRange::far);
    EXPECT_EQ(range(2e37F), core::ScoreRange::beyond);
    EXPECT_EQ(range(std::numeric_limits<float>::quiet_NaN()), core::ScoreRange::beyond);
}

/// Masks of numbers, of several rows or one, for each head or all: what one look finds out of them changes no byte.
TEST_P(Tiled, GivesTheSameBytesWhetherItLookedAtAMaskBeforeOrTileByTile)
{
    std::mt19937 engine(11);
    const auto draw = [&](Index most) { return static_cast<Index>(engine() % static_cast<unsigned>(most + 1)); };
    constexpr float hidden = -std::numeric_limits<float>::infinity();
    int plain = 0;
    for (int round = 0; round < 60; ++round) {
        const Sizes sizes{.H = 4, .H_kv = 2, .T = 1 + draw(200), .S = 1 + draw(300), .d_k = 8, .d_v = 8};
        const oracle::Heads<float> h = heads(sizes, static_cast<unsigned>(round));
        const Index block = 16 << draw(4), end = draw(3) == 0 ? 1 + draw(sizes.S - 1) : sizes.S;
        const bool one_row = draw(4) == 0, each_head = draw(2) == 0;
        Tensor<float> mask({1, each_head ? 4 : 1, one_row ? 1 : sizes.T, end});
        for (std::size_t i = 0; i < mask.values.size(); ++i) {
            const auto at = static_cast<Index>(i);
            mask.values[i] = at / end % mask.shape[2] / block == at % end / block ? 0 : hidden;
        }
        for (Index others = draw(1) * draw(20); others > 0; --others) {
            mask.values[static_cast<std::size_t>(draw(std::ssize(mask.values) - 1))] = 0.5F;
        }
        core::AttentionInputs inputs = h.inputs();
        inputs.mask = attn::row_major_view(ElementType::float32, mask.shape, std::as_bytes(std::span(mask.values)));
        inputs.mask->shape = {1, 4, sizes.T, end};
        inputs.mask->strides[1] *= each_head ? 1 : 0;
        inputs.mask->strides[2] *= one_row ? 0 : 1;
        const core::AttentionOptions options{.causal = draw(2) == 0};
        const core::Work work{.threads = 2, .isa = GetParam()};
        const core::Look look = core::look_at(inputs, options, work);
        ASSERT_NE(look.range, core::ScoreRange::beyond);
        ASSERT_NE(look.seen, nullptr);
        inputs.look = look;
        const auto looked = core::attention<float>(inputs, options, oracle::every_stage, work);
        inputs.look = core::Look{look.range};
        const auto by_tile = core::attention<float>(inputs, options, oracle::every_stage, work);
        EXPECT_TRUE(same_bits(looked[core::Stage::head_context], by_tile[core::Stage::head_context])) << round;
        EXPECT_TRUE(same_bits(looked[core::Stage::weights], by_tile[core::Stage::weights])) << round;
        expect_close(looked, core::attention<float>(inputs, options, oracle::every_stage, {}), std::to_string(round));
        plain += std::ranges::any_of(looked[core::Stage::head_context].values, [](float value) { return value == 0; }) ? 1 : 0;
        mask.values[static_cast<std::size_t>(draw(std::ssize(mask.values) - 1))] = std::numeric_limits<float>::quiet_NaN();
        EXPECT_EQ(core::look_at(inputs, options, work).range, core::ScoreRange::beyond);
    }
    EXPECT_GT(plain, 10); // rows that see nothing
}

TEST_P(Tiled, TakesOffDistancesAsExactlyAsThePortablePath)
{
    for (unsigned round = 0; round < 24; ++round) {
        const Sizes sizes{.H = 4, .H_kv = 2, .T = Index{1} + round * 7, .S = 200, .d_k = 8, .d_v = 5};
        const oracle::Heads<float> h = heads(sizes, round);
        core::AttentionInputs inputs = h.inputs();
        inputs.slopes = {0.5, 0.3, 0.01, 1.0 / 256};
        inputs.offsets = {round % 3 == 0 ? 0 : sizes.S - sizes.T};
        core::AttentionOptions options{.causal = round % 2 == 0};
        options.softcap = round % 5 == 0 ? std::optional(3.0) : std::nullopt;
        const auto portable = core::attention<float>(inputs, options, oracle::every_stage, {});
        const auto one = core::attention<float>(inputs, options, oracle::every_stage, {.threads = 1, .isa = GetParam()});
        const auto two = core::attention<float>(inputs, options, oracle::every_stage, {.threads = 2, .isa = GetParam()});
        expect_close(one, portable, std::to_string(round));
        EXPECT_TRUE(same_bits(one[core::Stage::head_context], two[core::Stage::head_context])) << round;
        EXPECT_GT((portable[core::Stage::masked_scores].matrix(0) - portable[core::Stage::scaled_scores].matrix(0))
                      .cwiseAbs()
                      .maxCoeff(),
                  0);
    }
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
    EXPECT_THROW(core::tiled_attention({view(q), view(k), view(v)}, {}, {}, {core::ScoreRange::near}, {}), attn::Error);
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
    const auto stages = core::attention<float>(inputs, {}, oracle::every_stage, {.isa = GetParam()});
    EXPECT_TRUE(same_bits(stages[core::Stage::weights], tiled(h, {})[core::Stage::weights]));
    EXPECT_TRUE(same_bits(stages[core::Stage::head_context], tiled(h, {})[core::Stage::head_context]));
}

} // namespace
