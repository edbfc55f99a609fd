// The terms of an explanation add up to what the result holds, whatever is computed.
#include "attn/model/explain/explanation.hpp"

#include "attn/math/elementary.hpp"
#include "attn/model/recipe/overrides.hpp"
#include "attn/tensor/view.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace {

namespace model = attn::model;
namespace field = attn::model::field;
using attn::Index;
using model::ExplainedKey;

/// A run of anything that a run may be.
struct Case {
    model::Recipe recipe;
    attn::StoredTensor mask{"mask", attn::ElementType::float32, {}};
    model::RunSettings settings;
    model::Question question;
};

class Choices {
public:
    explicit Choices(unsigned seed) : engine_(seed) {}
    Index number(Index low, Index high) { return std::uniform_int_distribution<Index>(low, high)(engine_); }
    bool chance() { return number(0, 1) == 1; }

private:
    std::mt19937 engine_;
};

std::string sentence(Choices& choose, Index words)
{
    std::string text;
    for (Index i = 0; i < words; ++i) {
        text += "w" + std::to_string(choose.number(0, 6)) + " ";
    }
    return text;
}

model::Overrides overrides(Choices& choose, Index T, Index S)
{
    model::Overrides o;
    o.set(field::sentence, sentence(choose, T));
    if (S != T) {
        o.set(field::cross, sentence(choose, S));
    }
    const Index kv_heads = choose.number(1, 2);
    o.set(field::embed_dim, 8);
    o.set(field::kv_heads, kv_heads);
    o.set(field::heads, kv_heads * choose.number(1, 3));
    o.set(field::d_k, 2 * choose.number(1, 9));
    o.set(field::d_v, choose.number(1, 9));
    o.set(model::draw_field::seed, static_cast<std::uint64_t>(choose.number(0, 1000)));
    o.set(model::draw_field::init, static_cast<Index>(model::Initialisation::uniform) + choose.number(0, 1)); // or normal
    for (const model::FieldInfo* two : std::initializer_list<const model::FieldInfo*>{&field::dtype, &field::rounding}) {
        o.set(*two, choose.number(0, 1)); // the first of its choices or the second
    }
    o.set(field::causal, choose.chance());
    if (choose.chance()) {
        o.set(field::window, std::vector<Index>{choose.number(-1, 3), choose.number(-1, 3)});
    }
    if (choose.chance()) {
        o.set(field::softcap, static_cast<double>(choose.number(1, 9)));
    }
    if (choose.chance()) {
        o.set(field::scale, static_cast<double>(choose.number(-9, 9)) / 8);
    }
    const Index kind = choose.number(0, 3);
    if (kind > 0) {
        o.set(field::positions, kind - 1);
    }
    if (choose.chance()) {
        o.set(field::score, choose.number(0, std::ssize(attn::core::score_names) - 1));
    }
    if (choose.number(0, 3) == 0) {
        o.set(field::dropout, 0.25);
    }
    if (choose.number(0, 3) == 0 && !o.contains(field::softcap) && o.find<double>(field::scale).value_or(1) > 0) {
        o.set(field::mask_at, Index{1});
    }
    return o;
}

Case make_case(unsigned seed)
{
    Choices choose(seed);
    const Index T = choose.number(1, 9);
    const Index S = choose.chance() ? T : choose.number(1, 9);
    Case c;
    model::Overrides o = overrides(choose, T, S);
    if (choose.chance()) {
        o.set(field::mask_file, "mask.npy");
        const bool boolean = choose.chance();
        c.mask = attn::StoredTensor("mask", boolean ? attn::ElementType::boolean : attn::ElementType::float32, {T, S});
        for (Index i = 0; i < T * S; ++i) {
            if (boolean) {
                c.mask.bytes[static_cast<std::size_t>(i)] = static_cast<std::byte>(choose.chance());
            } else {
                const double number = static_cast<double>(choose.number(-20, 20)) / 8;
                attn::store(c.mask, i, std::span<const double>(&number, 1));
            }
        }
    }
    c.question.position = choose.number(0, T - 1);
    c.question.head = choose.number(0, *o.find<Index>(field::heads) - 1);
    o.set(field::output_projection, choose.chance());
    c.recipe = model::apply(model::default_recipe(), o);
    if (choose.chance()) {
        c.question.key = std::to_string(choose.number(0, S - 1));
    }
    const Index d_k = *c.recipe.dims.d_k;
    c.question.component = choose.number(0, std::max(d_k, *c.recipe.dims.d_v) - 1);
    return c;
}

/// The number that a projection is said to make, as the result has it.
double number_in_result(const model::Projected& made, const model::Explanation& e)
{
    const auto i = static_cast<std::size_t>(e.component);
    const auto key = [&] { return e.keys[static_cast<std::size_t>(made.position)]; };
    switch (made.W) {
    case model::Target::W_q: return e.query[i];
    case model::Target::W_k: return key().key[i];
    case model::Target::W_v: return key().value[i];
    default: return e.output[i];
    }
}

template <typename Scalar>
void expect_terms_add_up(const Case& c, const model::Explanation& e)
{
    const auto rounded = [](double x) { return static_cast<double>(static_cast<Scalar>(x)); };
    const bool by_step = sizeof(Scalar) == 4 && c.recipe.rounding == attn::core::Rounding::step;
    const auto step = [&](double x) { return by_step ? rounded(x) : x; };
    const auto total = [&](const std::vector<double>& terms) {
        double sum = 0;
        for (const double term : terms) {
            sum = step(sum + term);
        }
        return sum;
    };
    const double root = rounded(std::sqrt(static_cast<double>(e.query.size())));
    for (std::size_t i = 0; i < e.added.size(); ++i) {
        EXPECT_EQ(rounded(e.embedding[i] + e.added[i]), e.x[i]);
    }
    for (const model::Projected& made : e.projections) {
        EXPECT_EQ(rounded(total(made.products)), made.value);
        EXPECT_EQ(made.turn ? made.turn->value : made.value, number_in_result(made, e));
        EXPECT_EQ(made.turn ? rounded(made.value * made.turn->own + made.turn->other * made.turn->others) : made.value,
                  number_in_result(made, e));
    }
    const auto length = [](const std::vector<double>& numbers, Index i) { return static_cast<int>(i < std::ssize(numbers)); };
    EXPECT_EQ(std::ssize(e.projections),
              2 * length(e.query, e.component) + length(e.context, e.component) + length(e.output, e.component));
    double sum = 0;
    std::vector<double> context(e.context.size());
    for (const ExplainedKey& key : e.keys) {
        const bool mask_first = c.recipe.attention.mask_at == attn::core::MaskAt::scores;
        const double lengths = step(e.length * key.length);
        const double sum_of_products = total(key.products);
        EXPECT_EQ(rounded(c.recipe.attention.score == attn::core::Score::cosine ? (lengths == 0 ? 0 : sum_of_products / lengths)
                                                                                : sum_of_products + e.b_va),
                  key.score);
        const bool divided = by_step && !c.recipe.attention.factor();
        const double unscaled = mask_first ? key.masked.value_or(key.score) : key.score;
        EXPECT_EQ(rounded(divided ? unscaled / root : unscaled * e.scale), key.scaled);
        const double before = mask_first ? key.score : key.capped.value_or(key.scaled);
        if (key.capped) {
            const double cap = *c.recipe.attention.softcap;
            EXPECT_EQ(rounded(cap * step(attn::math::tanh(step(key.scaled / cap)))), *key.capped);
        }
        if (key.masked) {
            const bool hidden = key.hidden != model::Hidden::no;
            EXPECT_EQ(*key.masked, hidden ? -INFINITY : rounded(before + (key.mask + key.distance)));
            EXPECT_TRUE(!hidden || key.weight == 0);
        }
        sum = step(sum + key.exponential);
        EXPECT_LE(key.last_score(c.recipe.attention.mask_at), e.maximum);
    }
    EXPECT_EQ(sum, e.sum);
    for (const ExplainedKey& key : e.keys) {
        const double share = by_step ? key.exponential * step(1 / sum) : key.exponential / sum;
        EXPECT_EQ(sum == 0 ? 0 : rounded(share), key.weight);
        EXPECT_EQ(key.dropped.has_value(), c.recipe.attention.dropout.has_value());
        if (key.dropped && *key.dropped != 0) {
            EXPECT_EQ(rounded(key.weight * step(1 / step(1 - 0.25))), *key.dropped);
        }
        for (std::size_t i = 0; i < context.size(); ++i) {
            context[i] = step(context[i] + key.weighted_value[i]);
        }
    }
    for (std::size_t i = 0; i < context.size(); ++i) {
        EXPECT_EQ(rounded(context[i]), e.context[i]);
        EXPECT_EQ(e.context[i], e.joined[static_cast<std::size_t>(e.head) * context.size() + i]);
    }
}

TEST(ExplanationProperty, TermsAddUpToTheResultInRandomRuns)
{
    int hidden = 0;
    int empty = 0;
    for (unsigned seed = 0; seed < 600; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Case c = make_case(seed);
        if (c.recipe.attention.mask) {
            c.settings.mask = c.mask.view();
        }
        const model::Result result = model::run_for({c.question}, c.recipe, c.settings);
        const model::Explanation e = model::explain(result, c.question, c.settings);
        if (c.recipe.dtype == attn::Dtype::float32) {
            expect_terms_add_up<float>(c, e);
        } else {
            expect_terms_add_up<double>(c, e);
        }
        for (const ExplainedKey& key : e.keys) {
            hidden += static_cast<int>(key.hidden != model::Hidden::no);
        }
        empty += static_cast<int>(e.sum == 0);
        if (testing::Test::HasFailure()) {
            return;
        }
    }
    EXPECT_GT(hidden, 100); // the cases that are hard are among them
    EXPECT_GT(empty, 10);
}

} // namespace
