#include "attn/model/diagnose/mistakes.hpp"

#include "attn/model/diagnose/diagnose.hpp"
#include "attn/tensor/view.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include <cmath>
#include <memory>
#include <random>
#include <set>

namespace attn::model::diagnose {
namespace {

/// Tensors of random numbers that live as long as the test.
class Inputs {
public:
    attn::TensorView tensor(const Shape& shape, ElementType type = ElementType::float32)
    {
        std::vector<double> values(static_cast<std::size_t>(attn::element_count(shape)));
        std::ranges::generate(values, [&] { return normal_(random_); });
        return keep(shape, type, values);
    }
    attn::TensorView keep(const Shape& shape, ElementType type, const std::vector<double>& values)
    {
        kept_.push_back(std::make_unique<std::vector<std::byte>>(attn::to_bytes<double>(type, values)));
        return attn::row_major_view(type, shape, *kept_.back());
    }

private:
    std::mt19937 random_{1};
    std::normal_distribution<double> normal_;
    std::vector<std::unique_ptr<std::vector<std::byte>>> kept_;
};

Call call_of(const AttendInputs& inputs, const Attend& options)
{
    return attn::model::diagnose::call_of({inputs, options, attn::model::RunSettings()});
}

/// Calls that between them let every mistake of the list be made, and matter.
std::vector<Call> calls(Inputs& inputs)
{
    std::vector<Call> all;
    Attend square;
    square.causal = true;
    square.softcap = 3;
    const auto of = [&](Index T, Index S, Index d_v, ElementType type = ElementType::float32) {
        return AttendInputs{.queries = inputs.tensor({2, 4, T, 8}, type),
                            .keys = inputs.tensor({2, 2, S, 8}, type),
                            .values = inputs.tensor({2, 2, S, d_v}, type),
                            .past_key = {},
                            .past_value = {},
                            .mask = {},
                            .lengths = {}};
    };
    all.push_back(call_of(of(21, 21, 8), square));

    AttendInputs equal = of(21, 21, 8); // as many key/value heads as query heads
    equal.keys = inputs.tensor({2, 4, 21, 8});
    equal.values = inputs.tensor({2, 4, 21, 8});
    all.push_back(call_of(equal, {}));

    Attend windowed;
    windowed.window = attn::core::Window{5, 3};
    windowed.scale = 0.7;
    windowed.causal = true;
    windowed.align = attn::model::CausalAlign::bottom_right;
    AttendInputs padded = of(19, 300, 6, ElementType::float64);
    padded.lengths = inputs.keep({2}, ElementType::int64, {280, 12}); // of which a few queries see no key
    all.push_back(call_of(padded, windowed));
    windowed.causal = false;
    all.push_back(call_of(padded, windowed));
    windowed.causal = true;
    windowed.align = attn::model::CausalAlign::top_left;
    all.push_back(call_of(padded, windowed));

    AttendInputs masked = of(21, 21, 8, ElementType::float16);
    masked.mask = inputs.tensor({21, 21});
    all.push_back(call_of(masked, {}));

    AttendInputs sunk = of(21, 21, 8); // three heads, sinks, segments, and ALiBi from key 7 on
    sunk.queries = inputs.tensor({1, 3, 14, 8});
    sunk.keys = inputs.tensor({1, 3, 21, 8});
    sunk.values = inputs.tensor({1, 3, 21, 8});
    sunk.sinks = inputs.keep({3}, ElementType::float64, {0.5, -1, 2});
    Attend far;
    far.alibi = true;
    far.align = attn::model::CausalAlign::bottom_right;
    all.push_back(call_of(sunk, far));
    std::vector<double> segments(21, 1);
    std::fill(segments.begin() + 9, segments.end(), 5);
    sunk.segments = inputs.keep({21}, ElementType::int64, segments);
    all.push_back(call_of(sunk, far));
    AttendInputs cut = of(5, 8, 6); // two batch entries with segments of their own, the first query at key 3
    std::vector<double> of_entries(16, 1);
    std::fill(of_entries.begin() + 5, of_entries.begin() + 11, 2);
    cut.segments = inputs.keep({2, 8}, ElementType::int64, of_entries);
    far.alibi = false;
    all.push_back(call_of(cut, far));
    AttendInputs packed = cut; // three sequences
    packed.queries = inputs.tensor({12, 4, 8});
    packed.keys = inputs.tensor({20, 2, 8});
    packed.values = inputs.tensor({20, 2, 8});
    packed.segments.reset();
    packed.cu_seqlens = inputs.keep({4}, ElementType::int64, {0, 3, 9, 12});
    packed.cu_seqlens_k = inputs.keep({4}, ElementType::int64, {0, 6, 13, 20});
    all.push_back(call_of(packed, far));
    std::vector<double> seen;
    for (Index i = 0; i < 21 * 21; ++i) {
        seen.push_back(i % 3 == 0 || i % 7 == 0 ? 1 : 0);
    }
    masked.mask = inputs.keep({21, 21}, ElementType::boolean, seen);
    all.push_back(call_of(masked, {}));

    AttendInputs cached = of(5, 5, 8);
    cached.past_key = inputs.tensor({2, 2, 7, 8});
    cached.past_value = inputs.tensor({2, 2, 7, 8});
    Attend causal;
    causal.causal = true;
    all.push_back(call_of(cached, causal));
    causal.align = attn::model::CausalAlign::top_left;
    all.push_back(call_of(cached, causal));

    Attend by_width; // heads side by side
    by_width.heads = 4;
    AttendInputs wide = of(300, 300, 8);
    wide.queries = inputs.tensor({300, 32});
    wide.keys = inputs.tensor({300, 32});
    wide.values = inputs.tensor({300, 32});
    by_width.causal = true;
    all.push_back(call_of(wide, by_width));

    AttendInputs large = of(3, 4, 2, ElementType::float16); // scores that overflow, and numbers that are denormal
    std::vector<double> tall(2 * 4 * 3 * 8, 9);
    tall[0] = 3e-5;
    large.queries = inputs.keep({2, 4, 3, 8}, ElementType::float16, tall);
    large.keys = inputs.keep({2, 2, 4, 8}, ElementType::float16, std::vector<double>(2 * 2 * 4 * 8, 9));
    all.push_back(call_of(large, {}));

    AttendInputs grouped = cached; // three heads of a group, whose rows are more than the largest tile, and sinks
    grouped.past_key.reset();
    grouped.past_value.reset();
    grouped.queries = inputs.tensor({1, 6, 90, 2});
    grouped.keys = inputs.tensor({1, 2, 90, 2});
    grouped.values = inputs.tensor({1, 2, 90, 2});
    grouped.sinks = inputs.tensor({6});
    all.push_back(call_of(grouped, causal));

    AttendInputs blind = of(5, 5, 8); // query 0 sees nothing
    blind.mask = inputs.keep({1, 5}, ElementType::boolean, {0, 1, 1, 1, 1});
    causal.softcap = 3;
    all.push_back(call_of(blind, causal));

    AttendInputs one = of(21, 21, 8); // NumPy divides (T, S) by (T)
    for (attn::TensorView* tensor : {&one.queries, &one.keys, &one.values}) {
        *tensor = inputs.tensor({21, 8});
    }
    all.push_back(call_of(one, {}));
    all.back().embedding_size = 12;
    all.back().residual = attn::Matrix<double>::Ones(21, 8);

    Attend bottom; // whose diagonal crosses tiles of every size
    bottom.causal = true;
    bottom.align = attn::model::CausalAlign::bottom_right;
    AttendInputs askew = one;
    askew.queries = inputs.tensor({300, 2});
    askew.keys = inputs.tensor({400, 2});
    askew.values = inputs.tensor({400, 2});
    all.push_back(call_of(askew, bottom));

    AttendInputs sorted = one; // lengths in no order
    sorted.queries = inputs.tensor({3, 1, 4, 2});
    sorted.keys = inputs.tensor({3, 1, 9, 2});
    sorted.values = inputs.tensor({3, 1, 9, 2});
    sorted.lengths = inputs.keep({3}, ElementType::int64, {5, 9, 2});
    all.push_back(call_of(sorted, {}));

    AttendInputs steep = of(5, 9, 8); // slopes of each batch entry
    steep.alibi_slopes = inputs.keep({2, 4}, ElementType::float32, {0.5, 0.25, 0.125, 0, 1, 0.75, 0.375, 2});
    all.push_back(call_of(steep, {}));

    AttendInputs odd = one; // sizes of which vectors of every width leave something else
    odd.queries = inputs.tensor({3, 125});
    odd.keys = inputs.tensor({4, 125});
    odd.values = inputs.tensor({4, 125});
    Attend capped;
    capped.softcap = 3;
    all.push_back(call_of(odd, capped));
    return all;
}

bool differ(const std::vector<double>& a, const std::vector<double>& b)
{
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (std::isnan(a[i]) != std::isnan(b[i]) || std::abs(a[i] - b[i]) > 1e-12) {
            return true;
        }
    }
    return false;
}

TEST(Mistakes, HaveNamesOfTheirOwnInSmallLettersWithASentenceAndAdvice)
{
    std::set<std::string> names;
    for (const Mistake& mistake : mistakes()) {
        EXPECT_TRUE(names.insert(mistake.name).second) << mistake.name;
        EXPECT_EQ(mistake.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-/"), std::string::npos) << mistake.name;
        EXPECT_FALSE(mistake.what.empty() || mistake.advice.empty()) << mistake.name;
        EXPECT_NE(mistake.on({}), Variant{}) << mistake.name;
    }
}

TEST(Mistakes, NoTwoOfOneCallTurnTheSameKnobs)
{
    Inputs inputs;
    for (const Call& call : calls(inputs)) {
        const std::vector<const Mistake*> list = mistakes_in(call);
        for (const Mistake* a : list) {
            for (const Mistake* b : list) {
                EXPECT_TRUE(a == b || a->on({}) != b->on({})) << a->name << " and " << b->name;
            }
        }
    }
}

TEST(Mistakes, EachChangesTheContextOrTheSumsOfACallInWhichItCanBeMade)
{
    Inputs inputs;
    std::set<std::string> without_effect;
    for (const Mistake& mistake : mistakes()) {
        without_effect.insert(mistake.name);
    }
    for (const Call& call : calls(inputs)) {
        for (const Compared compared : {Compared::context, Compared::lse}) {
            const std::vector<double> right = evaluate(call, {}, compared, {});
            for (const Mistake* mistake : mistakes_in(call)) {
                const Variant variant = as_compared(mistake->on({}), compared);
                if (can_compare(variant, compared) && without_effect.contains(mistake->name) &&
                    differ(right, evaluate(call, variant, compared, {}))) {
                    without_effect.erase(mistake->name);
                }
            }
        }
    }
    EXPECT_EQ(without_effect, std::set<std::string>{});
}

TEST(Mistakes, WithoutOneTheResultIsThatOfAttend)
{
    Inputs inputs;
    for (const Call& call : calls(inputs)) {
        if (call.sequences) { // PackedSequencesAreEachACall
            continue;
        }
        const attn::core::AttentionDims& l = call.views.sizes;
        attn::StoredTensor expected("context", ElementType::float64, {l.B, l.H, l.T, l.d_v});
        attn::core::AttentionOutputs outputs{};
        outputs[attn::core::Stage::head_context] = {ElementType::float64, expected.bytes.data(), l.H * l.T * l.d_v, l.T * l.d_v,
                                                    l.d_v};
        (void)attn::core::attention(call.views, call.options, outputs, {});
        const std::vector<double> wanted = attn::load<double>(expected.view()).values;
        const std::vector<double> got = evaluate(call, {}, Compared::context, {.threads = 2});
        ASSERT_EQ(got.size(), wanted.size());
        for (std::size_t i = 0; i < got.size(); ++i) {
            ASSERT_NEAR(got[i], wanted[i], 2e-6) << i;
        }
    }
}

TEST(Mistakes, PackedSequencesAreEachACall)
{
    Inputs inputs;
    Attend options;
    options.causal = true;
    options.align = attn::model::CausalAlign::bottom_right;
    const std::vector<Index> queries{0, 4, 4, 9}, keys{0, 3, 5, 14};
    AttendInputs packed{
        .queries = inputs.tensor({9, 2, 3}), .keys = inputs.tensor({14, 1, 3}), .values = inputs.tensor({14, 1, 5})};
    packed.cu_seqlens = inputs.keep({4}, ElementType::int64, {queries.begin(), queries.end()});
    packed.cu_seqlens_k = inputs.keep({4}, ElementType::int64, {keys.begin(), keys.end()});
    const Variant strict = std::ranges::find(mistakes(), "causal-strict", &Mistake::name)->on({});
    const std::vector<double> together = evaluate(call_of(packed, options), strict, Compared::context, {.threads = 2});
    for (const std::size_t n : {0, 2}) { // the other one has no queries
        const Index T = queries[n + 1] - queries[n], S = keys[n + 1] - keys[n];
        const auto rows = [](const attn::TensorView& view, Index first, Index count) { // of (total, H, d)
            attn::TensorView part = view;
            part.bytes = part.bytes.subspan(static_cast<std::size_t>(first * view.strides[0] * size_of(view.type)));
            part.shape[0] = count;
            return part;
        };
        Attend alone = options;
        alone.layout = attn::model::TensorLayout::bshd;
        const AttendInputs one{.queries = rows(packed.queries, queries[n], T),
                               .keys = rows(packed.keys, keys[n], S),
                               .values = rows(packed.values, keys[n], S)};
        const std::vector<double> own = evaluate(call_of(one, alone), strict, Compared::context, {});
        for (Index at = 0; at < 2 * T * 5; ++at) { // (H, T, d_v) in (H, total, d_v)
            const Index h = at / 5 / T, row = queries[n] + at / 5 % T;
            EXPECT_EQ(own[static_cast<std::size_t>(at)], together[static_cast<std::size_t>((h * 9 + row) * 5 + at % 5)]);
        }
    }
}

} // namespace
} // namespace attn::model::diagnose
