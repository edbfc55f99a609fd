// model::attend against a naive float64 oracle, and what must hold of it whatever the numbers.
#include "attn/model/attend/attend.hpp"

#include "attn/tensor/error.hpp"
#include "oracle/expect_close.hpp"
#include "oracle/operator_case.hpp"

#include <gtest/gtest.h>

#include <map>
#include <stdexcept>

namespace {

using attn::ElementType;
using attn::Index;
using attn::StoredTensor;
using attn::core::Isa;
using attn::model::AttendResult;
using attn::model::Item;
using oracle::CaseDraw;
using oracle::OperatorCase;

struct Precision {
    double rtol, atol;
};

AttendResult attend(const OperatorCase& c, Isa isa, int threads = 1)
{
    const oracle::Tensors tensors = oracle::tensors_of(c);
    return attn::model::attend(tensors.views, c.options, {.show = {}, .threads = threads, .isa = isa, .observer = {}});
}

const StoredTensor& at(const AttendResult& result, Item stage)
{
    for (const StoredTensor& tensor : result.tensors) {
        if (tensor.name == name_of(stage)) {
            return tensor;
        }
    }
    throw std::out_of_range("stage");
}

/// What the oracle says of a stage, in the layout of the result.
struct Expected {
    attn::Shape shape;
    std::vector<double> values;
};

Expected expected(const OperatorCase& c, const oracle::OperatorStages& s, Item stage)
{
    const oracle::Operator& o = c.numbers;
    const long keys = o.P + o.S;
    const attn::Shape square = oracle::stage_shape_in(c.layout, o.B, o.H, o.T, keys);
    switch (stage) {
    case Item::scores: return {square, s.scores};
    case Item::scaled_scores: return {square, s.scaled};
    case Item::capped_scores: return {square, s.capped};
    case Item::masked_scores: return {square, s.masked};
    case Item::weights: return {square, s.weights};
    case Item::entropy: return {attn::Shape(square.begin(), square.end() - 1), s.entropy};
    case Item::present_key: return {oracle::stage_shape_in(c.layout, o.B, o.H_kv, keys, o.d_k), s.present_key};
    case Item::present_value: return {oracle::stage_shape_in(c.layout, o.B, o.H_kv, keys, o.d_v), s.present_value};
    default: break; // the context
    }
    return {oracle::shape_in(c.layout, o.B, o.H, o.T, o.d_v),
            oracle::packs(c.layout) ? oracle::side_by_side(s.context, o.B, o.H, o.T, o.d_v) : s.context};
}

void expect_oracle(const OperatorCase& c, Isa isa, const Precision& precision, unsigned seed)
{
    const AttendResult result = attend(c, isa);
    const oracle::OperatorStages stages = oracle::attend(c.numbers);
    ASSERT_EQ(result.tensors.size(), c.options.show.size());
    auto tensor = result.tensors.begin();
    for (const Item stage : c.options.show) {
        const std::string_view name = name_of(stage);
        const Expected stated = expected(c, stages, stage);
        ASSERT_EQ(tensor->name, name);
        ASSERT_EQ(tensor->type, c.type) << name << ", seed " << seed;
        ASSERT_EQ(tensor->shape, stated.shape) << name << ", seed " << seed;
        const bool cache = stage == Item::present_key || stage == Item::present_value;
        // A sum of d_k products in float32 that comes to nothing keeps their rounding errors; the scale is what makes it small.
        const double unit = stage == Item::scores ? std::sqrt(static_cast<double>(c.numbers.d_k)) : 1;
        ASSERT_TRUE(oracle::close(attn::load<double>(tensor->view()).values, stated.values, cache ? 0 : precision.rtol,
                                  cache ? 0 : precision.atol * unit))
            << name << ", seed " << seed;
        ++tensor;
    }
}

class AttendWithEachIsa : public testing::TestWithParam<Isa> {};
INSTANTIATE_TEST_SUITE_P(Available, AttendWithEachIsa, testing::ValuesIn(attn::core::available_isas()),
                         [](const auto& isa) { return std::string(name_of(isa.param)); });

TEST_P(AttendWithEachIsa, AgreesWithTheNaiveOracleInEveryStageIn500RandomCases)
{
    for (unsigned seed = 0; seed < 500 && !HasFatalFailure(); ++seed) {
        expect_oracle(CaseDraw(seed, 14).draw(ElementType::float32), GetParam(), {2e-5, 2e-6}, seed);
    }
}

TEST_P(AttendWithEachIsa, AgreesWithTheNaiveOracleAcrossBlocksOfRows)
{
    for (unsigned seed = 0; seed < 8 && !HasFatalFailure(); ++seed) {
        expect_oracle(CaseDraw(seed, 300).draw(ElementType::float32), GetParam(), {2e-5, 2e-6}, seed);
    }
}

TEST(Attend, AgreesWithTheNaiveOracleTightlyInFloat64)
{
    for (unsigned seed = 0; seed < 100 && !HasFatalFailure(); ++seed) {
        expect_oracle(CaseDraw(seed, 14).draw(ElementType::float64), Isa::portable, {1e-12, 1e-13}, seed);
    }
}

// One rounding of the result: 2^-11 relative in float16, 2^-9 in bfloat16.
TEST_P(AttendWithEachIsa, RoundsFloat16AndBfloat16OnceFromFloat32)
{
    for (unsigned seed = 0; seed < 100 && !HasFatalFailure(); ++seed) {
        expect_oracle(CaseDraw(seed, 14).draw(ElementType::float16), GetParam(), {1e-3, 1e-6}, seed);
        expect_oracle(CaseDraw(seed, 14).draw(ElementType::bfloat16), GetParam(), {8e-3, 1e-6}, seed);
    }
}

// So that the tests above cannot become hollow unnoticed.
TEST(Attend, IsDrawnWithEveryRuleAndWithEmptyRowsAndNegativeOffsets)
{
    std::map<std::string, int> seen;
    for (unsigned seed = 0; seed < 500; ++seed) {
        const OperatorCase c = CaseDraw(seed, 14).draw(ElementType::float32);
        const oracle::Operator& o = c.numbers;
        ++seen["layout " + std::to_string(static_cast<int>(c.layout))];
        ++seen["memory " + std::to_string(static_cast<int>(c.memory))];
        ++seen["alignment " + std::to_string(static_cast<int>(o.alignment))];
        seen["cache"] += o.P > 0;
        seen["grouped heads"] += o.H != o.H_kv;
        seen["other value size"] += o.d_v != o.d_k;
        seen["causal with lengths"] += o.causal && !o.lengths.empty();
        seen["causal with a cache"] += o.causal && o.P > 0;
        seen["window"] += o.window.has_value();
        seen["softcap"] += o.softcap.has_value();
        seen["scale"] += o.scale.has_value();
        seen["negative offset"] += (o.causal || o.window) && oracle::offset_of(o, 0) < 0;
        if (o.mask) {
            const std::string kind = o.mask->boolean ? "bool mask of rank " : "additive mask of rank ";
            ++seen[kind + std::to_string(o.mask->shape.size())];
            seen["short mask"] += o.mask->shape.back() < o.P + o.S;
        }
        const std::vector<double> largest = oracle::attend(o).entropy;
        for (const bool nan : {false, true}) {
            const bool empty = std::any_of(largest.begin(), largest.end(), [&](double e) { return std::isnan(e); });
            seen[nan ? "empty rows nan" : "no empty row nan"] += empty == nan;
        }
    }
    EXPECT_EQ(seen.size(), 5U + 3 + 3 + 9 + 8 + 1 + 2);
    for (const auto& [what, count] : seen) {
        EXPECT_GE(count, 15) << what;
    }
}

/// Whether no query sees key j of key/value head g in batch entry b.
bool unseen(const oracle::Operator& o, long b, long g, long j)
{
    const long group = o.H / o.H_kv;
    for (long h = g * group; h < (g + 1) * group; ++h) {
        for (long i = 0; i < o.T; ++i) {
            if (!oracle::is_hidden(oracle::bias(o, b, h, i, j))) {
                return false;
            }
        }
    }
    return true;
}

/// NaN and infinities in keys and values that no query sees; says how many.
int poison(OperatorCase& c, CaseDraw& draw)
{
    oracle::Operator& o = c.numbers;
    const double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    int poisoned = 0;
    for (long b = 0; b < o.B; ++b) {
        for (long g = 0; g < o.H_kv; ++g) {
            for (long j = 0; j < o.P + o.S; ++j) {
                if (!unseen(o, b, g, j)) {
                    continue;
                }
                const bool cached = j < o.P;
                const long row = (b * o.H_kv + g) * (cached ? o.P : o.S) + (cached ? j : j - o.P);
                auto& key = cached ? o.past_key : o.K;
                auto& value = cached ? o.past_value : o.V;
                std::fill_n(key.begin() + row * o.d_k, o.d_k, draw.pick({nan, infinity, -infinity}));
                std::fill_n(value.begin() + row * o.d_v, o.d_v, draw.pick({nan, infinity, -infinity}));
                ++poisoned;
            }
        }
    }
    return poisoned;
}

TEST_P(AttendWithEachIsa, TakesNothingFromNanAndInfinityInKeysAndValuesThatNobodySees)
{
    int cases = 0;
    for (unsigned seed = 0; seed < 300 && !HasFatalFailure(); ++seed) {
        CaseDraw draw(seed, 14);
        OperatorCase c = draw.draw(draw.pick({ElementType::float32, ElementType::float64, ElementType::float16}));
        const AttendResult clean = attend(c, Isa::portable);
        if (poison(c, draw) == 0) {
            continue;
        }
        ++cases;
        EXPECT_THROW((void)attend(c, GetParam()), attn::Error);
        c.options.allow_nonfinite = true;
        const AttendResult poisoned = attend(c, GetParam()); // by the portable path, whatever the instruction set
        for (const Item stage : {Item::masked_scores, Item::weights, Item::context, Item::entropy}) {
            ASSERT_EQ(at(poisoned, stage).bytes, at(clean, stage).bytes) << name_of(stage) << ", seed " << seed;
        }
        expect_oracle(c, GetParam(), {1e-3, 1e-6}, seed);
    }
    EXPECT_GE(cases, 100);
}

TEST_P(AttendWithEachIsa, GivesTheSameBitsForAnyNumberOfThreads)
{
    for (unsigned seed = 0; seed < 12; ++seed) {
        const OperatorCase c = CaseDraw(seed, 300).draw(seed % 2 == 0 ? ElementType::float32 : ElementType::bfloat16);
        const AttendResult one = attend(c, GetParam()), three = attend(c, GetParam(), 3);
        for (std::size_t i = 0; i < one.tensors.size(); ++i) {
            EXPECT_EQ(one.tensors[i].bytes, three.tensors[i].bytes) << one.tensors[i].name << ", seed " << seed;
        }
    }
}

TEST_P(AttendWithEachIsa, GivesTheSameBitsForEveryOrderOfElementsAndBytes)
{
    for (unsigned seed = 0; seed < 60; ++seed) {
        CaseDraw draw(seed, 14);
        OperatorCase c = draw.draw(draw.pick({ElementType::float16, ElementType::float32, ElementType::float64}));
        c.memory = oracle::Memory::row_major;
        const AttendResult plain = attend(c, GetParam());
        for (const oracle::Memory memory : {oracle::Memory::fortran, oracle::Memory::swapped}) {
            c.memory = memory;
            const AttendResult other = attend(c, GetParam());
            for (std::size_t i = 0; i < plain.tensors.size(); ++i) {
                EXPECT_EQ(plain.tensors[i].bytes, other.tensors[i].bytes) << plain.tensors[i].name << ", seed " << seed;
            }
        }
    }
}

TEST(Attend, RoundsScoresAndWeightsToTheSoftmaxType)
{
    for (unsigned seed = 0; seed < 60 && !HasFatalFailure(); ++seed) {
        OperatorCase c = CaseDraw(seed, 14).draw(ElementType::float32);
        for (const ElementType type :
             {ElementType::float16, ElementType::bfloat16, ElementType::float32, ElementType::float64}) {
            c.options.softmax_type = type;
            c.options.show = {Item::weights};
            const std::vector<double> weights = attn::load<double>(attend(c, Isa::portable).tensors.at(0).view()).values;
            if (type != ElementType::float64) {
                ASSERT_TRUE(oracle::close(weights, oracle::rounded(type, weights), 0, 0)) << "seed " << seed;
            }
            // A score below 8 is off by 2^-9 in float16, by 2^-6 in bfloat16, which its weight takes on.
            const double rtol = type == ElementType::float16 ? 1e-2 : type == ElementType::bfloat16 ? 8e-2 : 2e-5;
            ASSERT_TRUE(oracle::close(weights, oracle::attend(c.numbers).weights, rtol, 2e-6)) << "seed " << seed;
        }
    }
}

} // namespace
