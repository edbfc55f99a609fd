// Attention against the naive oracle, and what must hold of it whatever the numbers, over many seeds and shapes.
#include "attn/core/attention.hpp"

#include "attn/math/elementary.hpp"
#include "attn/tensor/error.hpp"
#include "oracle/expect_close.hpp"
#include "oracle/naive_attention.hpp"
#include "property/every_stage.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <random>

namespace {

namespace core = attn::core;
using attn::Index;
using attn::Tensor;

struct AttentionDraw {
    std::mt19937 engine;

    explicit AttentionDraw(unsigned seed) : engine(seed) {}
    Index number(Index low, Index high) { return std::uniform_int_distribution<Index>(low, high)(engine); }
    bool chance() { return number(0, 1) == 1; }

    template <typename Scalar>
    Tensor<Scalar> normal(attn::Shape shape, double deviation = 1)
    {
        Tensor<Scalar> tensor(std::move(shape));
        std::normal_distribution<double> distribution(0, deviation);
        for (Scalar& value : tensor.values) {
            value = static_cast<Scalar>(distribution(engine));
        }
        return tensor;
    }

    template <typename Scalar>
    oracle::Heads<Scalar> heads(Index largest = 40)
    {
        const Index H_kv = number(1, 3), H = H_kv * number(1, 3);
        const Index T = number(1, largest), S = number(1, largest), d_k = number(1, 70), d_v = number(1, 70);
        oracle::Heads<Scalar> heads{
            normal<Scalar>({H, T, d_k}), normal<Scalar>({H_kv, S, d_k}), normal<Scalar>({H_kv, S, d_v}), {}};
        heads.query_positions.resize(static_cast<std::size_t>(T));
        std::iota(heads.query_positions.begin(), heads.query_positions.end(), Index{0});
        return heads;
    }

    core::AttentionOptions options()
    {
        core::AttentionOptions options;
        options.causal = chance();
        if (chance()) {
            options.window = core::Window{number(-1, 6), number(-1, 6)};
        }
        if (chance()) {
            options.softcap = static_cast<double>(number(1, 50));
        }
        if (chance()) {
            options.scale = static_cast<double>(number(-20, 20)) / 16;
        }
        return options;
    }
};

template <typename Scalar>
class Attention : public testing::Test {
};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(Attention, Scalars);

TYPED_TEST(Attention, AgreesWithTheNaiveOracleInEveryStage)
{
    const bool single = sizeof(TypeParam) == 4;
    const double rtol = single ? 1e-5 : 1e-13;
    const double atol = single ? 1e-6 : 1e-14;
    for (unsigned seed = 0; seed < 200; ++seed) {
        AttentionDraw draw(seed);
        const oracle::Heads<TypeParam> heads = draw.template heads<TypeParam>();
        const core::AttentionOptions options = draw.options();
        const auto stages = oracle::stages_of(heads, options, oracle::every_stage, {});
        const oracle::Stages expected = oracle::attention(heads, options);
        ASSERT_TRUE(oracle::close(stages[core::Stage::scores].values, expected.scores, rtol, atol)) << "scores, seed " << seed;
        ASSERT_TRUE(oracle::close(stages[core::Stage::scaled_scores].values, expected.scaled, rtol, atol))
            << "scaled, seed " << seed;
        if (options.softcap) {
            ASSERT_TRUE(oracle::close(stages[core::Stage::capped_scores].values, expected.capped, rtol, atol))
                << "capped, seed " << seed;
        }
        if (heads.masked(options)) {
            ASSERT_TRUE(oracle::close(stages[core::Stage::masked_scores].values, expected.masked, rtol, atol))
                << "masked, seed " << seed;
        }
        ASSERT_TRUE(oracle::close(stages[core::Stage::weights].values, expected.weights, rtol, atol))
            << "weights, seed " << seed;
        // A score of 20, rounded to Scalar, shifts its weight by 16 times the relative precision; values reach 4 in magnitude.
        ASSERT_TRUE(oracle::close(stages[core::Stage::head_context].values, expected.context, rtol, 8 * atol))
            << "context, seed " << seed;
        ASSERT_TRUE(oracle::close(stages[core::Stage::entropy].values, expected.entropy, rtol, 4 * atol))
            << "entropy, seed " << seed;
        EXPECT_EQ(stages[core::Stage::capped_scores].values.empty(), !options.softcap.has_value());
        EXPECT_EQ(stages[core::Stage::masked_scores].values.empty(), !heads.masked(options));
        EXPECT_FALSE(stages.overflowed);
    }
}

/// What scores of these options are made with; every other time with biases.
template <typename Scalar>
void draw_score_parameters(AttentionDraw& draw, oracle::Heads<Scalar>& heads, core::Score score)
{
    if (score != core::Score::general && score != core::Score::additive) {
        return;
    }
    const Index d_k = heads.queries.columns();
    const Index d_a = score == core::Score::general ? d_k : draw.number(1, 20);
    const bool biased = draw.chance();
    const auto matrix = [&]() -> attn::Matrix<double> {
        return draw.normal<Scalar>({d_k, d_a}, 0.3).matrix().template cast<double>();
    };
    const auto vector = [&]() -> attn::RowVector<double> {
        return draw.normal<Scalar>({1, d_a}).matrix().row(0).template cast<double>();
    };
    for (Index h = 0; h < heads.queries.shape[0]; ++h) {
        core::ScoreParameters& own = heads.score_parameters.emplace_back();
        own.W_a = matrix();
        if (score == core::Score::additive) {
            own.U_a = matrix();
            own.v_a = vector();
        }
        if (biased) {
            own.b_Wa = vector();
            own.b_Ua = score == core::Score::additive ? vector() : attn::RowVector<double>();
            own.b_va = score == core::Score::additive ? 0.5 : 0;
        }
    }
}

TYPED_TEST(Attention, AgreesWithTheNaiveOracleForEveryFunctionOfScore)
{
    const bool single = sizeof(TypeParam) == 4;
    const double rtol = single ? 2e-5 : 1e-12;
    const double atol = single ? 2e-5 : 1e-13;
    for (unsigned seed = 0; seed < 200; ++seed) {
        AttentionDraw draw(seed);
        oracle::Heads<TypeParam> heads = draw.template heads<TypeParam>(12);
        core::AttentionOptions options = draw.options();
        options.score = static_cast<core::Score>(seed % core::score_names.size());
        if (draw.chance()) {
            options.mask_at = core::MaskAt::scores;
            options.softcap.reset();
            options.scale = options.scale ? std::optional(std::abs(*options.scale) + 0.125) : std::nullopt;
        }
        draw_score_parameters(draw, heads, options.score);
        const core::Work work{.threads = 2, .rounding = draw.chance() ? core::Rounding::step : core::Rounding::stage};
        const auto stages = oracle::stages_of(heads, options, oracle::every_stage, work);
        const oracle::Stages expected = oracle::attention(heads, options);
        SCOPED_TRACE("seed " + std::to_string(seed) + ", " + std::string(name_of(options.score)));
        ASSERT_TRUE(oracle::close(stages[core::Stage::scores].values, expected.scores, rtol, atol));
        ASSERT_TRUE(oracle::close(stages[core::Stage::scaled_scores].values, expected.scaled, rtol, atol));
        if (heads.masked(options)) {
            ASSERT_TRUE(oracle::close(stages[core::Stage::masked_scores].values, expected.masked, rtol, atol));
        }
        ASSERT_TRUE(oracle::close(stages[core::Stage::weights].values, expected.weights, 50 * rtol, atol));
        ASSERT_TRUE(oracle::close(stages[core::Stage::head_context].values, expected.context, 50 * rtol, 50 * atol));
    }
}

TYPED_TEST(Attention, OfAVectorOfZerosHasACosineOfZero)
{
    oracle::Heads<TypeParam> heads = AttentionDraw(1).template heads<TypeParam>();
    heads.keys.matrix().row(0).setZero();
    const auto stages = oracle::stages_of(heads, {.score = core::Score::cosine}, oracle::every_stage, {});
    EXPECT_TRUE((stages[core::Stage::scores].matrix().col(0).array() == 0).all());
    EXPECT_LE(stages[core::Stage::scores].matrix().array().abs().maxCoeff(), TypeParam(1.000001));
}

TYPED_TEST(Attention, TakesTheContextFromTheWeightsThatDropoutLeaves)
{
    for (unsigned seed = 0; seed < 40; ++seed) {
        AttentionDraw draw(seed);
        oracle::Heads<TypeParam> heads = draw.template heads<TypeParam>();
        core::AttentionOptions options = draw.options();
        options.dropout = core::Dropout{.p = 0.25};
        const attn::Shape shape{heads.queries.shape[0], heads.queries.rows(), heads.keys.rows()};
        std::vector<std::byte> kept(static_cast<std::size_t>(attn::element_count(shape)));
        for (std::byte& one : kept) {
            one = static_cast<std::byte>(draw.number(0, 3) != 0);
        }
        heads.kept = attn::row_major_view(attn::ElementType::boolean, shape, kept);
        core::StageSelection selection = oracle::every_stage;
        selection[core::Stage::dropped_weights] = true;
        const auto stages = oracle::stages_of(heads, options, selection, {.threads = 2});
        for (std::size_t i = 0; i < kept.size(); ++i) {
            const auto w = static_cast<double>(stages[core::Stage::weights].values[i]);
            const double left = kept[i] == std::byte{0} ? 0 : w / 0.75;
            ASSERT_NEAR(stages[core::Stage::dropped_weights].values[i], left, 1e-6 * std::abs(left)) << "seed " << seed;
        }
        for (Index h = 0; h < shape[0]; ++h) {
            const attn::Matrix<TypeParam> V = heads.values.matrix(h / (shape[0] / heads.keys.shape[0]));
            const attn::Matrix<TypeParam> context = stages[core::Stage::dropped_weights].matrix(h) * V;
            ASSERT_TRUE(stages[core::Stage::head_context].matrix(h).isApprox(context, TypeParam(1e-4)) ||
                        context.isZero(TypeParam(1e-5)));
        }
    }
}

/// Attention as anybody would write it for floats, rounded as the machine rounds them.
std::vector<float> loops_over_floats(const oracle::Heads<float>& heads, const core::AttentionOptions& options,
                                     std::vector<float>& weights)
{
    const Index H = heads.queries.shape[0], T = heads.queries.rows(), S = heads.keys.rows();
    const Index d_k = heads.queries.columns(), d_v = heads.values.columns();
    std::vector<float> context;
    for (Index h = 0; h < H; ++h) {
        const Index g = h / (H / heads.keys.shape[0]);
        const attn::Matrix<float> Q = heads.queries.matrix(h), K = heads.keys.matrix(g), V = heads.values.matrix(g);
        for (Index i = 0; i < T; ++i) {
            std::vector<float> s;
            for (Index j = 0; j < S; ++j) {
                float score = 0;
                for (Index d = 0; d < d_k; ++d) {
                    score += Q(i, d) * K(j, d);
                }
                score = options.scale ? static_cast<float>(score * *options.scale) : score / std::sqrt(static_cast<float>(d_k));
                if (options.softcap) {
                    const auto share = static_cast<float>(score / *options.softcap);
                    const auto tanh = static_cast<float>(attn::math::tanh(share));
                    score = static_cast<float>(*options.softcap * tanh);
                }
                s.push_back(oracle::visible(options, i, j) ? score : -INFINITY);
            }
            const float largest = *std::max_element(s.begin(), s.end());
            float sum = 0;
            for (float& score : s) {
                score = largest == -INFINITY ? 0 : static_cast<float>(std::exp(static_cast<double>(score - largest)));
                sum += score;
            }
            const float inverse = sum == 0 ? 0 : 1 / sum;
            for (float& power : s) {
                weights.push_back(power *= inverse);
            }
            for (Index d = 0; d < d_v; ++d) {
                float number = 0;
                for (Index j = 0; j < S; ++j) {
                    number += s[static_cast<std::size_t>(j)] * V(j, d);
                }
                context.push_back(number);
            }
        }
    }
    return context;
}

TEST(AttentionByStep, IsBitForBitWhatLoopsOverFloatsGive)
{
    int different = 0;
    for (unsigned seed = 0; seed < 200; ++seed) {
        AttentionDraw draw(seed);
        const oracle::Heads<float> heads = draw.heads<float>();
        const core::AttentionOptions options = draw.options();
        const auto by_stage = oracle::stages_of(heads, options, oracle::every_stage, {});
        const auto stages =
            oracle::stages_of(heads, options, oracle::every_stage, {.threads = 2, .rounding = core::Rounding::step});
        std::vector<float> weights;
        const std::vector<float> context = loops_over_floats(heads, options, weights);
        ASSERT_EQ(stages[core::Stage::weights].values, weights) << "seed " << seed;
        ASSERT_EQ(stages[core::Stage::head_context].values, context) << "seed " << seed;
        different += static_cast<int>(by_stage[core::Stage::head_context].values != context);
    }
    EXPECT_GT(different, 150); // rounding decides
}

TEST(AttentionByStep, ChangesNothingInFloat64)
{
    for (unsigned seed = 0; seed < 50; ++seed) {
        AttentionDraw draw(seed);
        const auto heads = draw.heads<double>();
        const core::AttentionOptions options = draw.options();
        const auto by_stage = oracle::stages_of(heads, options, oracle::every_stage, {});
        const auto by_step = oracle::stages_of(heads, options, oracle::every_stage, {.rounding = core::Rounding::step});
        ASSERT_EQ(by_step[core::Stage::weights].values, by_stage[core::Stage::weights].values) << "seed " << seed;
        ASSERT_EQ(by_step[core::Stage::head_context].values, by_stage[core::Stage::head_context].values) << "seed " << seed;
    }
}

TYPED_TEST(Attention, GivesRowsThatSumToOneAndMaskedWeightsThatAreExactlyZero)
{
    for (unsigned seed = 0; seed < 100; ++seed) {
        AttentionDraw draw(seed);
        const auto heads = draw.template heads<TypeParam>();
        const auto options = draw.options();
        const auto weights = oracle::stages_of(heads, options, {core::Stage::weights}, {})[core::Stage::weights];
        const Index S = weights.columns();
        for (std::size_t row = 0; row < weights.values.size() / static_cast<std::size_t>(S); ++row) {
            const Index p = heads.query_positions[row % heads.query_positions.size()];
            double sum = 0;
            bool any = false;
            for (Index j = 0; j < S; ++j) {
                const double w = weights.values[row * static_cast<std::size_t>(S) + static_cast<std::size_t>(j)];
                const bool seen = oracle::visible(options, p, j);
                any = any || seen;
                EXPECT_GE(w, 0);
                EXPECT_TRUE(seen || (w == 0 && !std::signbit(w)));
                sum += w;
            }
            EXPECT_NEAR(sum, any ? 1 : 0, 1e-6) << "seed " << seed << ", row " << row;
        }
    }
}

TYPED_TEST(Attention, OfANanQueryHasExactlyZeroForMaskedKeysAndNanForTheOthers)
{
    constexpr TypeParam nan = std::numeric_limits<TypeParam>::quiet_NaN();
    for (unsigned seed = 0; seed < 60; ++seed) {
        AttentionDraw draw(seed);
        auto heads = draw.template heads<TypeParam>();
        const auto options = draw.options();
        const core::Work work{.rounding = draw.chance() ? core::Rounding::step : core::Rounding::stage};
        const Index T = heads.queries.rows();
        const Index row = draw.number(0, T - 1);
        const auto before = oracle::stages_of(heads, options, oracle::every_stage, work);
        for (Index h = 0; h < heads.queries.shape[0]; ++h) {
            heads.queries.matrix(h)(row, 0) = nan;
        }
        const auto stages = oracle::stages_of(heads, options, oracle::every_stage, work);
        for (Index h = 0; h < heads.queries.shape[0]; ++h) {
            bool any = false;
            for (Index i = 0; i < T; ++i) {
                for (Index j = 0; j < heads.keys.rows(); ++j) {
                    const TypeParam w = stages[core::Stage::weights].matrix(h)(i, j);
                    const bool seen = oracle::visible(options, i, j);
                    any = any || (seen && i == row);
                    EXPECT_TRUE(i != row ? w == before[core::Stage::weights].matrix(h)(i, j)
                                : seen   ? std::isnan(w)
                                         : w == 0 && !std::signbit(w))
                        << "seed " << seed << ", row " << i << ", key " << j;
                }
            }
            EXPECT_EQ(stages[core::Stage::head_context].matrix(h).row(row).array().isNaN().all(), any) << "seed " << seed;
            EXPECT_EQ(std::isnan(stages[core::Stage::entropy].matrix()(h, row)), any) << "seed " << seed;
        }
    }
}

TYPED_TEST(Attention, GivesTheSameBitsForAnyNumberOfThreadsAndAnyChoiceOfRows)
{
    for (unsigned seed = 0; seed < 20; ++seed) {
        AttentionDraw draw(seed);
        oracle::Heads<TypeParam> heads = draw.template heads<TypeParam>(300);
        const auto options = draw.options();
        const auto whole = oracle::stages_of(heads, options, oracle::every_stage, {});
        const auto threaded = oracle::stages_of(heads, options, oracle::every_stage, {.threads = 3, .progress = {}});
        EXPECT_EQ(whole[core::Stage::weights].values, threaded[core::Stage::weights].values);
        EXPECT_EQ(whole[core::Stage::head_context].values, threaded[core::Stage::head_context].values);

        const Index row = draw.number(0, heads.queries.shape[1] - 1);
        oracle::Heads<TypeParam> one = heads;
        one.queries = Tensor<TypeParam>({heads.queries.shape[0], 1, heads.queries.shape[2]});
        for (Index h = 0; h < heads.queries.shape[0]; ++h) {
            one.queries.matrix(h) = heads.queries.matrix(h).row(row);
        }
        one.query_positions = {row};
        const auto single = oracle::stages_of(one, options, oracle::every_stage, {});
        for (Index h = 0; h < heads.queries.shape[0]; ++h) {
            EXPECT_EQ(single[core::Stage::weights].matrix(h), whole[core::Stage::weights].matrix(h).row(row));
            EXPECT_EQ(single[core::Stage::head_context].matrix(h), whole[core::Stage::head_context].matrix(h).row(row));
        }
    }
}

TYPED_TEST(Attention, FollowsAPermutationOfTheKeys)
{
    AttentionDraw draw(7);
    auto heads = draw.template heads<TypeParam>();
    const auto before = oracle::stages_of(heads, {}, {core::Stage::weights}, {});
    for (Index h = 0; h < heads.keys.shape[0]; ++h) {
        heads.keys.matrix(h) = heads.keys.matrix(h).colwise().reverse().eval();
        heads.values.matrix(h) = heads.values.matrix(h).colwise().reverse().eval();
    }
    const auto after = oracle::stages_of(heads, {}, {core::Stage::weights}, {});
    for (Index h = 0; h < heads.queries.shape[0]; ++h) {
        EXPECT_TRUE(after[core::Stage::weights].matrix(h).rowwise().reverse().isApprox(before[core::Stage::weights].matrix(h),
                                                                                       TypeParam(1e-6)));
        EXPECT_TRUE(
            after[core::Stage::head_context].matrix(h).isApprox(before[core::Stage::head_context].matrix(h), TypeParam(1e-5)));
    }
}

TYPED_TEST(Attention, KeepsOnlyWhatIsAskedFor)
{
    const auto stages = oracle::stages_of(AttentionDraw(1).template heads<TypeParam>(), {}, {}, {});
    EXPECT_TRUE(stages[core::Stage::scores].values.empty());
    EXPECT_TRUE(stages[core::Stage::weights].values.empty());
    EXPECT_FALSE(stages[core::Stage::head_context].values.empty());
}

/// Without their scores, keys that no query of a block sees are left out.
TYPED_TEST(Attention, IsTheSameBitForBitWithoutTheScoresOfKeysThatNobodySees)
{
    const core::StageSelection without_scores{core::Stage::masked_scores, core::Stage::weights, core::Stage::entropy,
                                              core::Stage::lse};
    for (unsigned seed = 0; seed < 40; ++seed) {
        AttentionDraw draw(seed);
        const Index T = draw.number(1, 60), S = draw.number(1500, 2500); // several blocks, of some of the queries
        oracle::Heads<TypeParam> heads{draw.template normal<TypeParam>({2, T, 3}),
                                       draw.template normal<TypeParam>({1, S, 3}),
                                       draw.template normal<TypeParam>({1, S, 2}),
                                       {}};
        for (Index i = 0; i < T; ++i) {
            heads.query_positions.push_back(draw.number(0, S + 20));
        }
        core::AttentionOptions options = draw.options();
        options.causal = options.causal || !options.window;
        const core::Work work{.threads = 2, .rounding = draw.chance() ? core::Rounding::step : core::Rounding::stage};
        const auto all = oracle::stages_of(heads, options, oracle::every_stage, work);
        const auto some = oracle::stages_of(heads, options, without_scores, work);
        for (const core::Stage stage : core::every_stage) {
            if (!some[stage].values.empty()) {
                ASSERT_EQ(some[stage].values, all[stage].values) << "stage " << static_cast<int>(stage) << ", seed " << seed;
            }
        }
    }
}

TYPED_TEST(Attention, DoesNotCountOverflowsOfKeysThatNobodySees)
{
    const TypeParam huge = std::numeric_limits<TypeParam>::max();
    const oracle::Heads<TypeParam> heads{Tensor<TypeParam>({1, 1, 1}, {huge}),
                                         Tensor<TypeParam>({1, 2, 1}, {0, huge}),
                                         Tensor<TypeParam>({1, 2, 1}, {7, 9}),
                                         {0}};
    for (const core::StageSelection& selection : {core::StageSelection{}, oracle::every_stage}) {
        const auto stages = oracle::stages_of(heads, {.causal = true}, selection, {});
        EXPECT_FALSE(stages.overflowed);
        EXPECT_EQ(stages[core::Stage::head_context].values.front(), 7);
    }
}

TYPED_TEST(Attention, SaysWhenAScoreOverflows)
{
    const TypeParam huge = std::numeric_limits<TypeParam>::max();
    const oracle::Heads<TypeParam> heads{Tensor<TypeParam>({1, 1, 2}, {huge, huge}),
                                         Tensor<TypeParam>({1, 1, 2}, {huge, huge}),
                                         Tensor<TypeParam>({1, 1, 1}, {1}),
                                         {0}};
    EXPECT_TRUE(oracle::stages_of(heads, {}, {}, {}).overflowed);
}

TYPED_TEST(Attention, RefusesShapesThatDoNotBelongTogether)
{
    oracle::Heads<TypeParam> heads = AttentionDraw(3).template heads<TypeParam>();
    heads.keys = Tensor<TypeParam>({heads.keys.shape[0], heads.keys.shape[1], heads.keys.shape[2] + 1});
    EXPECT_THROW((void)oracle::stages_of(heads, {}, {}, {}), attn::Error);
}

} // namespace
