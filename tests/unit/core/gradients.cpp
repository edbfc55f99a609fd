#include "attn/core/gradients.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <vector>

namespace {

namespace core = attn::core;
using attn::Index;
using attn::Tensor;
using core::Gradient;

/// One query head or several, of a batch of one; what is asked for, in float64.
struct Call {
    Tensor<double> Q, K, V, dO;
    core::AttentionOptions options = {.scale = 1};
    std::vector<double> sinks = {};
    std::optional<Tensor<double>> dlse = {}, mask = {};

    struct Answer {
        Tensor<double> dq, dk, dv, delta;
        core::GradientSums sums;
    };

    [[nodiscard]] Answer answer() const
    {
        core::AttentionInputs inputs{.queries = core::as_batch(Q), .keys = core::as_batch(K), .values = core::as_batch(V)};
        inputs.sinks = sinks;
        if (mask) {
            inputs.mask = core::as_batch(*mask);
        }
        core::LossGradients loss{.context = core::as_batch(dO)};
        if (dlse) {
            loss.lse = core::as_batch(*dlse);
        }
        Answer answer{Tensor<double>(Q.shape),
                      Tensor<double>(K.shape),
                      Tensor<double>(V.shape),
                      Tensor<double>({Q.shape[0], Q.shape[1]}),
                      {}};
        core::GradientOutputs outputs;
        outputs[Gradient::dq] = core::span_of(answer.dq);
        outputs[Gradient::dk] = core::span_of(answer.dk);
        outputs[Gradient::dv] = core::span_of(answer.dv);
        outputs[Gradient::delta] = core::span_of(answer.delta);
        outputs.mask = mask.has_value();
        answer.sums = core::attention_backward(inputs, options, loss, outputs, {});
        return answer;
    }
};

/// Scores 0 and 0, so both weights are ½; values 1 and 3, and a change of the context counts twice.
Call two_keys()
{
    return {.Q = {{1, 1, 1}, {0}}, .K = {{1, 2, 1}, {1, -1}}, .V = {{1, 2, 1}, {1, 3}}, .dO = {{1, 1, 1}, {2}}};
}

TEST(AttentionBackward, GivesWhatAHandComputes)
{
    const auto answer = two_keys().answer(); // dweights 2 and 6, delta 4, dscores ½·(2 - 4) and ½·(6 - 4)
    EXPECT_EQ(answer.delta.values, std::vector<double>{4});
    EXPECT_EQ(answer.dq.values, std::vector<double>{-2});
    EXPECT_EQ(answer.dk.values, (std::vector<double>{0, 0}));
    EXPECT_EQ(answer.dv.values, (std::vector<double>{1, 1}));
}

TEST(AttentionBackward, MultipliesByTheScaleOnceAndGivesItsOwnGradient)
{
    Call call = two_keys();
    call.Q.values = {std::log(3.0) / 2}; // with scale 1 scores ±½·ln 3: weights ¾ and ¼
    const auto answer = call.answer();   // dscores ¾·(2 - 3) and ¼·(6 - 3)
    EXPECT_NEAR(answer.dq.values[0], -1.5, 1e-15);
    EXPECT_NEAR(answer.sums.scale, -1.5 * std::log(3.0) / 2, 1e-15);
    call.Q.values = {std::log(3.0) / 4};
    call.options.scale = 2;
    EXPECT_NEAR(call.answer().dq.values[0], -3, 1e-15);
}

TEST(AttentionBackward, GivesExactZerosForWhatIsHidden)
{
    Call call = two_keys();
    call.options.causal = true; // the one query sees the first key alone: its weight is 1 whatever its score
    call.V.values[1] = std::numeric_limits<double>::infinity();
    const auto answer = call.answer();
    EXPECT_EQ(answer.dq.values, std::vector<double>{0});
    EXPECT_EQ(answer.dk.values, (std::vector<double>{0, 0}));
    EXPECT_EQ(answer.dv.values, (std::vector<double>{2, 0}));
}

TEST(AttentionBackward, GivesZerosForAQueryWithoutKeysWhateverItsContext)
{
    Call call = two_keys();
    call.options.nan_for_empty_rows = true;
    call.mask = Tensor<double>({1, 1, 2}, std::vector<double>(2, -std::numeric_limits<double>::infinity()));
    call.dlse = Tensor<double>({1, 1}, {5});
    const auto answer = call.answer();
    EXPECT_EQ(answer.dq.values, std::vector<double>{0});
    EXPECT_EQ(answer.dv.values, (std::vector<double>{0, 0}));
    EXPECT_EQ(answer.sums.mask, (std::vector<double>{0, 0}));
}

TEST(AttentionBackward, AddsUpTheQueryHeadsOfAGroup)
{
    Call call = two_keys();
    call.Q = {{3, 1, 1}, {0, 0, 0}};
    call.dO = {{3, 1, 1}, {2, 4, 10}};
    EXPECT_EQ(call.answer().dv.values, (std::vector<double>{8, 8}));
}

TEST(AttentionBackward, RoundsEachHeadOfAGroupWhereStagesAreRounded)
{
    Call call = two_keys();
    call.Q = {{2, 2, 1}, {0, 0, 0, 0}};
    call.K = {{1, 1, 1}, {1}};
    call.V = {{1, 1, 1}, {1}};
    call.dO = {{2, 2, 1}, {256, 1, -256, 0}}; // 257 is no bfloat16
    EXPECT_EQ(call.answer().dv.values, std::vector<double>{1});
    call.options.stage_type = attn::ElementType::bfloat16;
    EXPECT_EQ(call.answer().dv.values, std::vector<double>{0});
}

TEST(AttentionBackward, KeepsSumsInFloat32WhereStagesAreThatType)
{
    Call call = two_keys();
    call.Q = {{1, 3, 1}, {0, 0, 0}};
    call.K = {{1, 1, 1}, {1}};
    call.V = {{1, 1, 1}, {1}};
    call.dO = {{1, 3, 1}, {0x1p24, 1, 1}}; // 2²⁴ + 1 is no float32
    EXPECT_EQ(call.answer().dv.values, std::vector<double>{0x1p24 + 2});
    call.options.stage_type = attn::ElementType::float32;
    EXPECT_EQ(call.answer().dv.values, std::vector<double>{0x1p24});
}

TEST(AttentionBackward, TakesDeltaFromTheRoundedContextWhereStagesAreRounded)
{
    Call call = two_keys();
    call.K = {{1, 1, 1}, {1}};
    call.V = {{1, 1, 2}, {257, 1}}; // 257 is no bfloat16
    call.dO = {{1, 1, 2}, {1, -1}}; // dweights 256
    EXPECT_EQ(call.answer().dq.values, std::vector<double>{0});
    call.options.stage_type = attn::ElementType::bfloat16;
    EXPECT_EQ(call.answer().delta.values, std::vector<double>{255});
    EXPECT_EQ(call.answer().dq.values, std::vector<double>{1});
}

TEST(AttentionBackward, KnowsALossThatReadsLse)
{
    Call call = two_keys();
    call.dO.values = {0};
    call.dlse = Tensor<double>({1, 1}, {6}); // dlse/dscores are the weights
    const auto answer = call.answer();
    EXPECT_EQ(answer.delta.values, std::vector<double>{-6});
    EXPECT_EQ(answer.dq.values, std::vector<double>{0}); // 3·1 + 3·(-1)
    call.K.values = {1, 1};
    EXPECT_EQ(call.answer().dq.values, std::vector<double>{6});
}

TEST(AttentionBackward, TakesFromASinkWhatItTakesFromTheWeights)
{
    Call call = two_keys();
    call.sinks = {std::log(2.0)}; // weights ¼ and ¼, ½ of the sink
    const auto answer = call.answer();
    EXPECT_NEAR(answer.delta.values[0], 2, 1e-15);
    ASSERT_EQ(answer.sums.sinks.size(), 1U);
    EXPECT_NEAR(answer.sums.sinks[0], -1, 1e-15);
}

TEST(AttentionBackward, MultipliesByTheDerivativeOfTheSoftcap)
{
    Call call = two_keys();
    call.Q.values = {1};
    call.K.values = {std::atanh(0.5), std::atanh(-0.5)}; // capped at 1: scores ±½, derivative ¾ of both
    call.options.softcap = 1;
    const double w = 1 / (1 + std::exp(-1.0)), delta = 2 * w + 6 * (1 - w);
    const auto answer = call.answer();
    EXPECT_NEAR(answer.dk.values[0], 0.75 * w * (2 - delta), 1e-15);
    EXPECT_NEAR(answer.dk.values[1], 0.75 * (1 - w) * (6 - delta), 1e-15);
}

TEST(AttentionBackward, AddsUpTheMaskOverWhatItIsRepeatedAlong)
{
    Call call = two_keys();
    call.Q = {{2, 1, 1}, {0, 0}};
    call.dO = {{2, 1, 1}, {2, 4}};
    core::AttentionInputs inputs{
        .queries = core::as_batch(call.Q), .keys = core::as_batch(call.K), .values = core::as_batch(call.V)};
    const Tensor<double> mask({1, 1, 2}, {0, 0});
    inputs.mask = core::as_batch(mask);
    inputs.mask->shape = {1, 2, 1, 2};
    inputs.mask->strides[1] = 0;
    core::GradientOutputs outputs;
    outputs.mask = true;
    const core::LossGradients loss{.context = core::as_batch(call.dO)};
    EXPECT_EQ(core::attention_backward(inputs, call.options, loss, outputs, {}).mask, (std::vector<double>{-3, 3}));
}

} // namespace
