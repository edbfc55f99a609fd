#include "attn/model/overrides.hpp"

#include "attn/tensor/error.hpp"

#include <algorithm>
#include <limits>

namespace attn::model {
namespace {

template <typename Value>
void lay(const std::optional<Value>& over, std::optional<Value>& under)
{
    if (over) {
        under = over;
    }
}

template <typename Value>
void lay(const std::optional<Value>& over, Value& under)
{
    if (over) {
        under = *over;
    }
}

bool is_W_o(const Step& step)
{
    const auto* draw = std::get_if<Draw>(&step);
    return draw != nullptr && draw->target == Target::W_o;
}

bool is_projection(Target target)
{
    return target == Target::W_q || target == Target::W_k || target == Target::W_v || target == Target::W_o;
}

void lay_input(const Overrides& over, Recipe& recipe)
{
    auto* sentence = std::get_if<SentenceInput>(&recipe.input);
    if (over.input) {
        const auto* text = std::get_if<SentenceInput>(&*over.input);
        if (sentence != nullptr && text != nullptr) {
            sentence->sentence = text->sentence;
            sentence->cross.reset(); // the recipe's second sentence belonged to its first
        } else {
            recipe.input = *over.input;
            sentence = std::get_if<SentenceInput>(&recipe.input);
        }
    }
    if (sentence != nullptr) {
        lay(over.cross, sentence->cross);
        lay(over.tokenizer, sentence->tokenizer);
        lay(over.casefold, sentence->casefold);
    } else if (over.cross || over.tokenizer || over.casefold) {
        throw Error(ErrorKind::usage,
                    over.cross       ? "--cross"
                    : over.tokenizer ? "--tokenizer"
                                     : "--casefold",
                    "an input of ids or positions", "beside a sentence");
    }
}

/// The file's vectors take the place of those that are drawn, and have their own dimension and number.
void lay_embeddings(const Overrides& over, Recipe& recipe)
{
    if (!over.embeddings) {
        return;
    }
    recipe.embeddings = over.embeddings;
    recipe.dims.embed_dim = over.dims.embed_dim;
    recipe.dims.vocab_size = over.dims.vocab_size;
    std::erase_if(recipe.draws, [](const Step& step) {
        const auto* draw = std::get_if<Draw>(&step);
        return draw != nullptr && (draw->target == Target::embedding || draw->target == Target::embeddings ||
                                   draw->target == Target::key_embeddings);
    });
    if (std::holds_alternative<PositionsInput>(recipe.input)) {
        throw Error(ErrorKind::usage, "--embeddings", "an input of bare positions", "beside a sentence or --ids");
    }
}

/// What the file of a recipe holds decides over all dims but the heads; what it does not hold is as the recipe draws it.
void lay_parameters(const Overrides& over, Recipe& recipe)
{
    if (over.parameters) {
        const bool rows_of_other_file = recipe.parameters.has_value();
        recipe.dims = {.heads = recipe.dims.heads, .vocab_size = rows_of_other_file ? std::nullopt : recipe.dims.vocab_size};
        recipe.parameters = over.parameters;
        std::erase_if(recipe.draws, [](const Step& step) {
            const auto* draw = std::get_if<Draw>(&step);
            return draw != nullptr && (draw->target >= Target::W_q || draw->target == Target::key_embedding ||
                                       draw->target == Target::value_embedding);
        });
    } else if (recipe.parameters && over.dims.heads) {
        recipe.dims.kv_heads.reset();
        recipe.dims.d_k.reset();
        recipe.dims.d_v.reset();
    }
    if (recipe.parameters) {
        lay(over.output_projection, recipe.parameters->output_projection);
    }
}

void lay_draws(const Overrides& over, Recipe& recipe)
{
    for (Step& step : recipe.draws) {
        if (auto* seed = std::get_if<Seed>(&step)) {
            lay(over.seed, seed->value);
            continue;
        }
        auto& draw = std::get<Draw>(step);
        if (over.init && is_projection(draw.target)) {
            draw.init = *over.init;
            draw.first = 0;
            draw.second = 1;
        }
    }
    if (recipe.parameters) {
        return;
    }
    const bool wanted = over.output_projection.value_or(over.dims.heads ? *over.dims.heads > 1 : has_output_projection(recipe));
    if (!wanted) {
        std::erase_if(recipe.draws, is_W_o);
    } else if (!has_output_projection(recipe)) {
        recipe.draws.emplace_back(Draw{.target = Target::W_o, .init = over.init.value_or(Initialisation::uniform)});
    }
}

} // namespace

bool has_output_projection(const Recipe& recipe)
{
    return std::any_of(recipe.draws.begin(), recipe.draws.end(), is_W_o) ||
           (recipe.parameters && recipe.parameters->output_projection.value_or(false));
}

Recipe apply(Recipe recipe, const Overrides& over)
{
    recipe.published.clear();
    recipe.precision.clear();
    lay_input(over, recipe);
    lay_parameters(over, recipe);
    lay(over.dims.embed_dim, recipe.dims.embed_dim);
    lay(over.dims.heads, recipe.dims.heads);
    lay(over.dims.kv_heads, recipe.dims.kv_heads);
    lay(over.dims.d_k, recipe.dims.d_k);
    lay(over.dims.d_v, recipe.dims.d_v);
    lay(over.dims.vocab_size, recipe.dims.vocab_size);
    lay(over.generator, recipe.generator);
    lay(over.dtype, recipe.dtype);
    lay(over.rounding, recipe.rounding);
    lay(over.causal, recipe.attention.causal);
    lay(over.window, recipe.attention.window);
    lay(over.scale, recipe.attention.scale);
    lay(over.softcap, recipe.attention.softcap);
    lay(over.mask, recipe.attention.mask);
    lay(over.positions, recipe.attention.positions);
    lay(over.verify, recipe.verify);
    lay_embeddings(over, recipe);
    if (!over.query.empty()) {
        recipe.query = over.query;
    }
    if (over.seed && recipe.generator == Generator::numpy && *over.seed > std::numeric_limits<std::uint32_t>::max()) {
        throw Error(ErrorKind::usage, "--seed", std::to_string(*over.seed), "0 to 4294967295 with --generator numpy");
    }
    lay_draws(over, recipe);
    return recipe;
}

} // namespace attn::model
