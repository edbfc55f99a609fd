#include "attn/model/trained/resolved_trained.hpp"

#include "attn/model/layer/words.hpp"
#include "attn/model/recipe/option_names.hpp"
#include "attn/model/run/compute.hpp"
#include "attn/model/run/heads.hpp"
#include "attn/model/run/memory.hpp"
#include "attn/tensor/error.hpp"
#include "attn/tensor/shape.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace attn::model {
namespace {

// ---- what is asked for -----------------------------------------------------------------------------------------------

Show what_to_show(const TrainedConfig& config, const Trained& trained, const RunSettings& settings)
{
    const bool words = config.join == Join::words;
    const Show usual = words                   ? Show{Item::tokens, Item::weights}
                       : config.layers.empty() ? Show{Item::tokens, Item::summary}
                                               : Show{Item::tokens, Item::token_ids, Item::weights};
    Show asked = settings.show.empty() ? usual : settings.show;
    if (settings.top) {
        asked.insert(Item::summary);
    }
    Show existing = everything(config, trained);
    existing.insert({Item::query_positions, Item::heads});
    if (!words) {
        existing.insert({Item::summary, Item::logits});
    }
    for (const Item item : asked.without(existing)) {
        std::string names;
        for (const Item each : existing) {
            names += is_choice(each) ? "" : (names.empty() ? "" : ", ") + std::string(name_of(each));
        }
        throw Error(ErrorKind::usage, option::show, name_of(item),
                    (words ? "with --set join=words: " : "what this model gives: ") + names);
    }
    if (asked.contains(Item::logits) && !trained.model.architecture().head) {
        throw Error(ErrorKind::data, "--show logits", "a model without a head that scores words",
                    "a model for causal or masked language modelling");
    }
    if (is_mean(config.head) && asked.contains(Item::summary)) {
        throw Error(settings.origin.fault({&trained_field::head}), settings.origin.name_of(trained_field::head),
                    field::head.allowed.instead, "the mean of heads with --layer; a summary has a line per head");
    }
    return asked;
}

/// The layers that the config names, ascending and each once.
std::vector<Index> layers_of(const std::vector<Index>& named, Index count, const Origin& origin)
{
    if (named.empty() || named == std::vector<Index>{-1}) {
        return indices(count);
    }
    std::vector<Index> layers = named;
    std::ranges::sort(layers);
    layers.erase(std::unique(layers.begin(), layers.end()), layers.end());
    if (layers.back() >= count) {
        throw Error(origin.fault({&trained_field::layers}), origin.name_of(trained_field::layers),
                    std::to_string(layers.back()), fmt::format("a layer from 0 to {}", count - 1));
    }
    return layers;
}

transformer::Asked asked_of(const Show& show, const std::vector<Index>& layers, const std::vector<Index>& heads)
{
    transformer::Asked asked;
    asked.heads = is_mean(heads) ? std::vector<Index>() : heads;
    if (std::ranges::any_of(show, [](Item item) { return standing_of(item) == Standing::in_layer; })) {
        asked.layers = layers;
    }
    asked.stages = stages_of(what_to_compute(show));
    asked.queries_keys_values = show.contains(Item::queries) || show.contains(Item::keys) || show.contains(Item::values);
    asked.hidden_states = show.contains(Item::hidden_states) || show.contains(Item::embeddings);
    asked.logits = show.contains(Item::logits) ? transformer::Logits::all : transformer::Logits::none;
    return asked;
}

// ---- words -----------------------------------------------------------------------------------------------------------

/// The pieces or words of the sentence.
Tokens tokens_of(const TrainedConfig& config, const Trained& trained)
{
    const transformer::Architecture& architecture = trained.model.architecture();
    Tokens tokens =
        trained.tokenizer ? pieces_of(config, *trained.tokenizer) : words_of(config, architecture.embedding.V, trained.drawn);
    if (tokens.ids.empty() || config.sentence.find_first_not_of(" \t\r\n") == std::string::npos) {
        throw Error(ErrorKind::data, "no words in the sentence; allowed: at least one");
    }
    transformer::require_tokens(architecture, {tokens.ids, tokens.piece_types}, ErrorKind::data);
    return tokens;
}

/// The rows that --query names.
std::vector<Index> rows_of(const TrainedConfig& config, const std::vector<std::string>& tokens, const Origin& origin)
{
    Recipe recipe;
    recipe.query = config.query;
    Words words;
    words.tokens = tokens;
    return query_positions(recipe, words, origin);
}

// ---- memory ----------------------------------------------------------------------------------------------------------

/// Throws Error(too_large) for what does not fit.
void require_room(const ResolvedTrained& run)
{
    constexpr Index at_once = 8; // hidden states, projections, the hidden layer of the MLP
    const transformer::Architecture& architecture = run.trained.model.architecture();
    const transformer::Asked& asked = run.asked;
    const Index T = std::ssize(run.tokens.ids);
    const Index rows = run.query_positions.empty() ? T : std::ssize(run.query_positions);
    const auto kept_of = [&](const transformer::AttentionPart& attention) {
        const Index heads = run.heads.empty() ? attention.H : std::ssize(run.heads);
        Index count = 0;
        for (const Item item : run.show) {
            const bool numbers = info_of(item).kind == ItemKind::numbers;
            count += info_of(item).axes == per_pair ? heads * rows * T : numbers ? heads * attention.d * T : 0;
        }
        return count;
    };
    Index kept = asked.hidden_states ? (std::ssize(architecture.layers) + 1) * T * architecture.D : 0;
    kept += asked.logits == transformer::Logits::none ? 0 : T * architecture.embedding.V;
    Index largest = 0;
    for (const Index layer : asked.layers) {
        const transformer::AttentionPart& attention = architecture.layers[static_cast<std::size_t>(layer)].attention;
        kept += kept_of(attention);
        largest = std::max(largest, (asked.heads.empty() ? attention.H : std::ssize(asked.heads)) * T * T);
    }
    const Index total = static_cast<Index>(sizeof(float)) * (kept + largest + at_once * T * architecture.D);
    require_memory({.total = total, .draws = 0, .arrays = total, .largest_draw = {}, .from_files = false},
                   run.settings.memory_limit);
}

} // namespace

Show everything(const TrainedConfig& config, const Trained& trained)
{
    const transformer::Architecture& architecture = trained.model.architecture();
    const auto any_layer = [&](auto has) { return std::ranges::any_of(architecture.layers, has); };
    return existing_items(
        {.command = ShownBy::run,
         .needs = {{Needs::ids, true},
                   {Needs::embeddings, true},
                   {Needs::softcap, any_layer([](const auto& layer) { return layer.attention.softcap.has_value(); })},
                   {Needs::mask, architecture.causal || architecture.relative_bias ||
                                     any_layer([](const auto& layer) { return layer.attention.window.has_value(); })},
                   {Needs::output_projection, true},
                   {Needs::model, true},
                   {Needs::tokenizer, trained.tokenizer.has_value()}},
         .mean = is_mean(config.head),
         .joined = config.join == Join::words});
}

ResolvedTrained::ResolvedTrained(const TrainedConfig& its_config, const Trained& its_model, const RunSettings& its_settings)
    : config(its_config), trained(its_model), settings(its_settings), show(what_to_show(config, trained, settings)),
      layers(layers_of(config.layers, std::ssize(trained.model.architecture().layers), settings.origin)),
      tokens(tokens_of(config, trained)),
      heads(heads_of(config.head, trained.model.architecture().layers.front().attention.H, settings.origin)),
      asked(asked_of(show, layers, heads)), query_positions(rows_of(config, tokens.words, settings.origin))
{
    require_room(*this);
    const transformer::Architecture& architecture = trained.model.architecture();
    input = {tokens.ids, architecture.embedding.types.empty() ? std::vector<Index>() : tokens.piece_types};
    transformer::require_rows(architecture, input, asked, ErrorKind::data);
}

} // namespace attn::model
