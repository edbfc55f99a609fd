// Whatever the table of fields allows is written as JSON and read back as itself.
#include "attn/io/json/recipe.hpp"
#include "attn/model/recipe/recipe_fields.hpp"
#include "attn/report/json/json.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <set>

namespace {

using namespace attn::model;
using attn::Index;

class FieldChoices {
public:
    explicit FieldChoices(unsigned seed) : engine_(seed) {}
    Index number(Index low, Index high) { return std::uniform_int_distribution<Index>(low, high)(engine_); }
    bool chance() { return number(0, 1) == 1; }
    std::uint64_t bits() { return std::uniform_int_distribution<std::uint64_t>()(engine_); }
    double real() { return std::normal_distribution<double>()(engine_); }
    std::string text()
    {
        static const std::array<std::string, 7> texts{
            "", "a b", "a \"name\"", "\u00c0 title\n", "https://example.org/\\", "to be,\tor \u2028 not", "what \x7f"};
        return texts.at(static_cast<std::size_t>(number(0, std::ssize(texts) - 1)));
    }

private:
    std::mt19937_64 engine_;
};

Index integer_of(const Allowed& allowed, FieldChoices& choose)
{
    return allowed.least + allowed.multiple_of * choose.number(0, (allowed.most - allowed.least) / allowed.multiple_of);
}

double real_of(const Allowed& allowed, FieldChoices& choose)
{
    if (allowed.none && choose.chance()) {
        return *allowed.none;
    }
    if (std::isinf(allowed.above)) {
        return choose.real() * 1e6;
    }
    if (std::isfinite(allowed.below)) {
        return allowed.above + std::fmod(std::abs(choose.real()), 1) * (allowed.below - allowed.above);
    }
    return allowed.above_itself && choose.chance() ? allowed.above : allowed.above + std::abs(choose.real()) + 1e-9;
}

Length length_of(const Allowed& allowed, FieldChoices& choose)
{
    if (choose.chance()) {
        return integer_of(allowed, choose);
    }
    const auto letter = [&] {
        return std::string(length_letters.at(static_cast<std::size_t>(choose.number(0, std::ssize(length_letters) - 1))));
    };
    return choose.chance() ? letter() : letter() + "*" + letter();
}

template <typename Make>
FieldValue several(const Allowed& allowed, FieldChoices& choose, Make make)
{
    const auto fewest = static_cast<Index>(allowed.fewest);
    const Index count = choose.number(fewest, allowed.longest == 0 ? fewest + 4 : static_cast<Index>(allowed.longest));
    std::vector<decltype(make())> items;
    for (Index i = 0; i < count; ++i) {
        items.push_back(make());
    }
    return items;
}

Literal literal_of(FieldChoices& choose, bool truths)
{
    Literal literal{.shape = {choose.number(1, 3), choose.number(1, 3)}, .values = {}, .truths = truths};
    for (Index i = 0; i < literal.shape[0] * literal.shape[1]; ++i) {
        literal.values.push_back(truths ? static_cast<double>(choose.number(0, 1)) : choose.real());
    }
    if (!truths && choose.chance()) {
        literal.values[0] = 16777217;
        literal.integers = {0};
    }
    return literal;
}

FieldValue value_of(const Allowed& allowed, FieldChoices& choose)
{
    const auto text = [&] { return choose.text(); };
    const auto integer = [&] { return integer_of(allowed, choose); };
    switch (allowed.type) {
    case FieldType::flag: return choose.chance();
    case FieldType::integer: return integer();
    case FieldType::natural: return choose.bits();
    case FieldType::real: return attn::model::real_value(real_of(allowed, choose), allowed);
    case FieldType::choice: return choose.number(allowed.least, std::ssize(allowed.names) - 1);
    case FieldType::text: return text();
    case FieldType::digest: return std::string(64, choose.chance() ? 'a' : '0');
    case FieldType::texts: return several(allowed, choose, text);
    case FieldType::text_or_texts: return choose.chance() ? FieldValue(text()) : several(allowed, choose, text);
    case FieldType::integers: return several(allowed, choose, integer);
    case FieldType::rows: return several(allowed, choose, [&] { return choose.chance() ? text() : std::to_string(integer()); });
    case FieldType::lengths: return several(allowed, choose, [&] { return length_of(allowed, choose); });
    case FieldType::numbers: return literal_of(choose, false);
    case FieldType::mask: return literal_of(choose, choose.chance());
    case FieldType::choices:
    case FieldType::objects: break;
    }
    return {};
}

/// Gives fields of one struct any value, those of a section all or none.
template <typename Fields, typename Struct>
void fill(const Fields& fields, const std::set<std::string_view>& without, FieldChoices& choose, Struct& object)
{
    for (const auto* f : fields) {
        const auto other = std::ranges::find_if(fields, [&](const FieldInfo* o) { return o == f->only.other; });
        const bool fits = other == std::ranges::end(fields) || goes_with(f->only, (*other)->member.get(object));
        if (f->allowed.type != FieldType::objects && !without.contains(f->section()) && fits &&
            (f->required || choose.chance())) {
            f->member.set(object, value_of(f->allowed, choose));
        }
    }
}

/// What the table alone does not say: an order of low and high, and indices within a shape.
void make_consistent(Draw& draw)
{
    if (draw.init == Initialisation::multihead_attention) {
        draw = Draw{.init = draw.init, .bias = draw.bias, .add_bias_kv = draw.add_bias_kv};
    }
    if (draw.init == Initialisation::uniform && draw.first > draw.second) {
        std::swap(draw.first, draw.second);
    }
    if (draw.init == Initialisation::integers) {
        const auto whole = [](double x) { return std::trunc(std::clamp(x, -0x1p52, 0x1p52)); };
        draw.first = whole(draw.first);
        draw.second = std::max(whole(draw.second), draw.first + 1);
    }
    const std::size_t dimensions = draw.shape && draw.target != Target::none ? draw.shape->size() : 0;
    draw.take.resize(std::min(draw.take.size(), dimensions));
    for (std::size_t i = 0; i < draw.take.size(); ++i) {
        if (const Index* length = std::get_if<Index>(&draw.shape->at(i))) {
            draw.take[i] %= *length;
        }
    }
}

Draw random_draw(FieldChoices& choose)
{
    Draw draw;
    if (choose.number(0, 3) == 0) {
        fill(draw_field::literal, {}, choose, draw);
        return draw;
    }
    fill(draw_field::all, {}, choose, draw);
    if (choose.number(0, 3) == 0) {
        draw.target = Target::none;
        draw.side.reset();
        draw.head.reset();
        draw.padding_idx.reset();
        draw.shape = draw.shape.value_or(std::vector<Length>{"T"});
    }
    make_consistent(draw);
    return draw;
}

Recipe random_recipe(FieldChoices& choose)
{
    Recipe recipe;
    const std::array<Input, 3> inputs{SentenceInput{}, IdsInput{}, PositionsInput{}};
    recipe.input = inputs.at(static_cast<std::size_t>(choose.number(0, 2)));
    std::vector<const field::Recipes*> fields;
    std::ranges::copy_if(field::all, std::back_inserter(fields),
                         [&](const auto* f) { return f->section() != field::sentence.section() || f->member.exists(recipe); });
    std::set<std::string_view> without; // sections
    for (const FieldInfo* f : fields) {
        const bool within = std::ranges::any_of(without, [&](std::string_view s) { return !key_within(f->key, s).empty(); });
        const bool optional = f->required && !f->section().empty() && f->section() != field::sentence.section();
        if (within || (optional && choose.chance())) {
            without.insert(f->section());
        }
    }
    fill(fields, without, choose, recipe);
    (choose.chance() ? recipe.attention.mask.reset() : recipe.attention.mask_values.reset());
    if (auto* ids = std::get_if<IdsInput>(&recipe.input); ids != nullptr && !ids->labels.empty()) {
        ids->labels.resize(ids->ids.size(), "more");
    }
    if (auto* positions = std::get_if<PositionsInput>(&recipe.input)) {
        positions->count = positions->labels.empty() ? positions->count : std::ssize(positions->labels);
        positions->keys = positions->key_labels.empty() ? positions->keys : std::ssize(positions->key_labels);
    }
    recipe.draws.emplace_back(Seed{choose.bits()});
    for (Index n = choose.number(0, 7); n > 0; --n) {
        recipe.draws.emplace_back(random_draw(choose));
    }
    return recipe;
}

std::string text_of(const Recipe& recipe)
{
    attn::Buffer text;
    attn::report::write_recipe(recipe, text);
    return text.text();
}

/// An empty text that need not be there says as much as none.
FieldValue said(const field::Recipes& f, const Recipe& recipe)
{
    const FieldValue value = f.member.get(recipe);
    return !f.required && value == FieldValue(std::string()) ? FieldValue() : value;
}

TEST(EveryField, IsReadBackAsItWasWritten)
{
    std::set<const FieldInfo*> seen;
    for (unsigned seed = 0; seed < 300; ++seed) {
        FieldChoices choose(seed);
        const Recipe recipe = random_recipe(choose);
        const std::string text = text_of(recipe);
        const Recipe back = attn::io::parse_config(text);
        EXPECT_EQ(text_of(back), text) << seed;
        EXPECT_EQ(back.draws, recipe.draws) << seed;
        for (const field::Recipes* f : field::all) {
            if (f->allowed.type == FieldType::objects) {
                continue;
            }
            const FieldValue value = said(*f, recipe);
            EXPECT_TRUE(said(*f, back) == value) << f->key << " of " << seed << ": " << text;
            if (value != FieldValue() && text.find("\"" + std::string(f->name()) + "\":") != std::string::npos) {
                seen.insert(f);
            }
        }
    }
    for (const FieldInfo* f : field::all) {
        EXPECT_TRUE(f == &field::note || f->allowed.type == FieldType::objects || seen.contains(f)) << f->key;
    }
}

} // namespace
