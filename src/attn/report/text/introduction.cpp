#include "attn/report/text/introduction.hpp"

#include "attn/report/text/display.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace attn::report {
namespace {

using model::Initialisation;
using model::Layer;
using model::Recipe;
using model::Result;
using model::Target;

/// "8 heads", "head 2", "heads 2, 5" or "mean of heads"
std::string heads_of(const Layer& layer, Index count)
{
    if (layer.heads.size() < 2) {
        return layer.heads.empty() ? counted(count, "head") : layer.name_of_head(0);
    }
    std::string text = "heads";
    for (const Index head : layer.heads) {
        text += fmt::format("{} {}", text.ends_with('s') ? "" : ",", head);
    }
    return text;
}

std::string extent_of(const Result& result)
{
    const std::string things = std::holds_alternative<model::SentenceInput>(result.config().input) ? "word"
                               : std::holds_alternative<model::IdsInput>(result.config().input)    ? "id"
                                                                                                   : "position";
    std::string text = counted(std::ssize(result.tokens), things);
    text += result.cross ? " attending to " + counted(std::ssize(result.key_tokens), things) : "";
    const AnyTensor* weights = result.find(model::Item::weights);
    return weights == nullptr ? text : text + ", " + heads_of(result.front(), shape_of(*weights).front());
}

/// Whether this is what Raschka's 2023 article computes, which the recipe raschka-2023 states.
bool is_the_article(const Result& result)
{
    constexpr std::array words{"Life", "is", "short", "eat", "dessert", "first"};
    const Recipe usual = model::default_recipe();
    const Recipe& config = result.config();
    return std::ranges::equal(result.tokens, words) && !result.cross && config.draws == usual.draws &&
           config.dims == usual.dims && config.generator == usual.generator && config.dtype == usual.dtype &&
           config.rounding == usual.rounding && config.attention == usual.attention && !config.parameters && !config.embeddings;
}

/// What the recipe's draws make.
struct Drawn {
    std::string seeds; ///< "seed 1, 2"
    bool embeddings = false, projections = false, identity = false, stated = false;
    bool given = false; ///< queries, keys and values
};

Drawn drawn_by(const Recipe& recipe)
{
    Drawn drawn;
    for (const model::Step& step : recipe.draws) {
        if (const auto* seed = std::get_if<model::Seed>(&step)) {
            drawn.seeds += fmt::format("{} {}", drawn.seeds.empty() ? "seed" : ",", seed->value);
            continue;
        }
        for (const model::Draw& draw : parts_of(std::get<model::Draw>(step))) {
            if (draw.values) {
                drawn.stated = true;
            } else if (draw.init == Initialisation::zeros) {
                continue;
            } else if (is_given(draw.target)) {
                drawn.given = true;
            } else if (draw.target >= Target::W_q) {
                (draw.init == Initialisation::identity ? drawn.identity : drawn.projections) = true;
            } else if (draw.target != Target::none) {
                drawn.embeddings = true;
            }
        }
    }
    drawn.seeds += drawn.seeds.empty() || recipe.generator == model::Generator::torch ? "" : " of NumPy";
    return drawn;
}

bool is_random(const Drawn& drawn)
{
    return drawn.embeddings || drawn.projections || drawn.given;
}

/// "random matrices of Raschka's 2023 article (seed 123)", or nothing.
std::string chance(const Drawn& drawn, const std::string& whose)
{
    if (!is_random(drawn)) {
        return "";
    }
    const std::string what = drawn.given          ? "queries, keys and values"
                             : !drawn.projections ? "embeddings"
                             : !drawn.embeddings  ? "projections"
                                                  : "matrices";
    return fmt::format("random {}{}{}", what, whose, drawn.seeds.empty() ? "" : " (" + drawn.seeds + ")");
}

std::string origin_of(const Result& result, bool brief)
{
    const Recipe& recipe = result.config();
    if (!recipe.name.empty()) {
        return "recipe " + visible(recipe.name) + (brief || recipe.title.empty() ? "" : ": " + visible(recipe.title));
    }
    const Drawn drawn = drawn_by(recipe);
    std::string text;
    const auto add = [&](const std::string& part) { text += (text.empty() || part.empty() ? "" : ", ") + part; };
    add(recipe.embeddings ? "word vectors from " + visible(recipe.embeddings->file) : "");
    add(recipe.parameters ? "weights from " + visible(recipe.parameters->file) : "");
    add(recipe.parameters && !recipe.parameters->prefix.empty() ? "layer " + visible(recipe.parameters->prefix) : "");
    add(drawn.stated ? "numbers that the recipe states" : "");
    add(drawn.identity ? "identity projections" : "");
    add(chance(drawn, !brief && is_the_article(result) ? " of Raschka's 2023 article" : ""));
    return text + (is_random(drawn) && !recipe.parameters && !recipe.embeddings ? ", which mean nothing" : "");
}

/// ", causal, window 2 back and 0 ahead, a mask, positions rope"
std::string hidden_and_placed(const model::Attention& attention)
{
    const auto side = [](Index count) { return count < 0 ? std::string("all") : std::to_string(count); };
    std::string text = attention.causal ? ", causal" : "";
    text += attention.window
                ? fmt::format(", window {} back and {} ahead", side(attention.window->left), side(attention.window->right))
                : "";
    text += attention.has_mask() ? ", a mask" : "";
    text += attention.positions
                ? fmt::format(", positions {}", model::position_names.at(static_cast<std::size_t>(attention.positions->kind)))
                : "";
    return text;
}

} // namespace

std::string_view remark_on_chance(const Result& result)
{
    const bool random = result.model ? result.untrained : !result.foreign && is_random(drawn_by(result.config()));
    return random ? "Random weights: they mean nothing" : "";
}

std::string caption(const Result& result)
{
    const Layer& first = result.front();
    const std::string placed = hidden_and_placed(first.config.attention);
    const std::string foreign = "weights of another program";
    if (!result.model) {
        const std::string origin = result.foreign ? foreign : origin_of(result, true);
        return extent_of(result) + placed + (origin.empty() ? "" : ", " + origin);
    }
    const Index layers = std::ssize(result.layers);
    const std::string& name = result.model->name;
    const std::string keys = result.cross ? " attending to " + std::to_string(std::ssize(result.key_tokens)) : "";
    return fmt::format("{}{}, {}, {}{}, {}", counted(std::ssize(result.tokens), "token"), keys,
                       layers > 1 ? counted(layers, "layer") : name_of(first.place()),
                       heads_of(first, shape_of(*first.find(model::Item::weights)).front()), placed,
                       name.empty() ? foreign : "model " + visible(name));
}

std::string introduction(const Result& result, std::optional<Index> width)
{
    const std::string extent = extent_of(result) + ", ";
    const std::string whole = extent + origin_of(result, false);
    return !width || display_width(whole) <= *width ? whole : extent + origin_of(result, true);
}

} // namespace attn::report
