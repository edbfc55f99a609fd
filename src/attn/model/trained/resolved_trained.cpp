#include "attn/model/trained/resolved_trained.hpp"

#include "attn/model/layer/model_dims.hpp"
#include "attn/model/layer/words.hpp"
#include "attn/model/recipe/option_names.hpp"
#include "attn/model/run/compute.hpp"
#include "attn/model/run/heads.hpp"
#include "attn/model/run/memory.hpp"
#include "attn/model/trained/decode.hpp"
#include "attn/tensor/error.hpp"
#include "attn/tensor/shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace attn::model {

namespace {

// ---- what is asked for -----------------------------------------------------------------------------------------------

/// Throws Error of this kind for a part or a target that the model does not have, and for one that it lacks.
void require_part(const TrainedConfig& config, const transformer::Architecture& architecture, ErrorKind fault)
{
    const auto refuse = [&](const std::string& what, const std::string& allowed) {
        throw Error(fault, what + "; allowed: " + allowed);
    };
    const bool has_target = config.target || config.target_greedy;
    if (!architecture.encoder) {
        if (!config.parts.empty() || has_target) {
            refuse(fmt::format("{}: {} is a model of one stack",
                               !config.parts.empty() ? option::part
                               : config.target       ? option::target
                                                     : option::target_greedy,
                               architecture.type),
                   "a model with an encoder and a decoder, such as Marian, BART or T5");
        }
        return;
    }
    if (config.pair) {
        refuse("--set input.pair: an encoder that has a decoder reads one sentence",
               fmt::format("{} for the other", option::target));
    }
    if (config.target && config.target_greedy) {
        refuse(fmt::format("{} and {} cannot be used together", option::target, option::target_greedy), "one of them");
    }
    const bool encodes = config.has(Part::encoder);
    if (!config.decodes() && has_target) {
        refuse(fmt::format("{}: the encoder does not see the target", config.target ? option::target : option::target_greedy),
               fmt::format("{} decoder or cross", option::part));
    }
    if (config.decodes() && !has_target) {
        refuse(fmt::format("{}: no target for its decoder", architecture.type),
               fmt::format("{} TEXT, or {} N; or {} encoder, which needs none", option::target, option::target_greedy,
                           option::part));
    }
    if (encodes && config.decodes() && !config.query.empty()) {
        refuse(fmt::format("{}: rows of the encoder are other words than those of the decoder", option::query),
               fmt::format("{} without encoder, or encoder alone", option::part));
    }
    if (config.pool && config.has(Part::cross)) {
        refuse(fmt::format("{}: cross-attention has no hidden states of its own", option::pool),
               fmt::format("{} encoder or decoder", option::part));
    }
    if (config.target_greedy && !architecture.head) {
        refuse(fmt::format("{}: a model without a head that scores words", option::target_greedy),
               fmt::format("{} TEXT", option::target));
    }
    if (config.target_greedy && config.join == Join::words) {
        refuse(fmt::format("{}: its tokens are of no text whose words could be joined", option::target_greedy),
               fmt::format("{} TEXT with --set join=words", option::target));
    }
}

/// Those of the config; of a model of one stack none, which stands for its one attention.
std::vector<std::optional<Part>> parts_of(const TrainedConfig& config)
{
    std::vector<std::optional<Part>> parts;
    std::ranges::transform(config.parts, std::back_inserter(parts),
                           [](Index place) { return std::optional(static_cast<Part>(place)); });
    return parts.empty() ? std::vector<std::optional<Part>>(1) : parts;
}

/// " with --part encoder", behind what is allowed of one attention; nothing of a model that has only one.
std::string with_part(std::optional<Part> part)
{
    return part ? fmt::format(" with {} {}", option::part, part_names.at(static_cast<std::size_t>(*part))) : "";
}

/// What a layer of one attention has, what --show has to name included.
Show there_of(const TrainedConfig& config, const Trained& trained, std::optional<Part> part)
{
    const transformer::Architecture& stack = stack_of(trained.model.architecture(), part);
    const bool cross = part == Part::cross;
    const bool words = config.join == Join::words;
    const bool of_text = config.decodes() ? config.target.has_value() : config.ids.empty();
    const auto any_layer = [&](auto has) {
        return std::ranges::any_of(stack.layers, [&](const auto& layer) { return has(attention_of(layer, part)); });
    };
    Show there = existing_items(
        {.command = ShownBy::run,
         .needs = {{Needs::ids, true},
                   {Needs::cross, config.decodes() && (cross || config.has(Part::cross) || config.has(Part::encoder))},
                   {Needs::key_ids, config.decodes() && (cross || config.has(Part::cross) || config.has(Part::encoder))},
                   {Needs::embeddings, !cross},
                   {Needs::softcap, any_layer([](const auto& attention) { return attention.softcap.has_value(); })},
                   {Needs::mask, (!cross && (stack.causal || stack.relative_bias)) ||
                                     any_layer([](const auto& attention) { return attention.window.has_value(); })},
                   {Needs::output_projection, true},
                   {Needs::model, true},
                   {Needs::states, !cross},
                   {Needs::cross_part, cross},
                   {Needs::pool, config.pool.has_value() && !cross},
                   {Needs::tokenizer, trained.tokenizer.has_value() && of_text}},
         .mean = is_mean(config.head),
         .joined = words});
    there.insert({Item::query_positions, Item::heads});
    if (!words) {
        there.insert(Item::summary);
    }
    if (!words && part != Part::encoder) {
        there.insert(Item::logits);
    }
    if (!words && part != Part::encoder && !cross) {
        there.insert(Item::lens);
    }
    if (cross) {
        there.insert(Item::alignment);
    }
    return there;
}

/// Of all attentions of the config.
Show existing_of(const TrainedConfig& config, const Trained& trained)
{
    Show existing;
    for (const std::optional<Part> part : parts_of(config)) {
        const Show there = there_of(config, trained, part);
        existing.insert(there.begin(), Show::end());
    }
    return existing;
}

/// With the layers that are named; of an alignment the last one where none is.
std::vector<ResolvedPart> resolved_parts(const TrainedConfig& config, const Trained& trained, const Show& show,
                                         const Origin& origin)
{
    std::vector<ResolvedPart> parts;
    for (const std::optional<Part> part : parts_of(config)) {
        const transformer::Architecture& stack = stack_of(trained.model.architecture(), part);
        const Index count = std::ssize(stack.layers);
        const bool last = config.layers.empty() && show.contains(Item::alignment);
        parts.push_back({part, &stack, last ? std::vector<Index>{count - 1} : layers_of(config, part, count, origin),
                         there_of(config, trained, part)});
    }
    return parts;
}

/// "--part encoder,cross", or "this model" of one that has only one attention.
std::string name_of_parts(const TrainedConfig& config)
{
    std::string names;
    for (const Index part : config.parts) {
        names.append(names.empty() ? "" : ",").append(part_names.at(static_cast<std::size_t>(part)));
    }
    return names.empty() ? "this model" : fmt::format("{} {}", option::part, names);
}

Show what_to_show(const TrainedConfig& config, const Trained& trained, const RunSettings& settings)
{
    require_part(config, trained.model.architecture(), settings.origin.fault({&trained_field::parts}));
    const bool words = config.join == Join::words;
    const Show usual = config.pool             ? Show{Item::tokens, Item::pooled}
                       : words                 ? Show{Item::tokens, Item::weights}
                       : config.layers.empty() ? Show{Item::tokens, Item::summary}
                                               : Show{Item::tokens, Item::token_ids, Item::weights};
    Show asked = settings.show.empty() ? usual : settings.show;
    if (settings.top) {
        asked.insert(Item::summary);
    }
    if (config.pool) {
        asked.insert(Item::pooled);
    } else if (asked.contains(Item::pooled)) {
        throw Error(ErrorKind::usage, fmt::format("{} {} requires {}", option::show, name_of(Item::pooled), option::pool));
    }
    const Show existing = existing_of(config, trained);
    for (const Item item : asked.without(existing)) {
        std::string names;
        for (const Item each : existing) {
            names += is_choice(each) ? "" : (names.empty() ? "" : ", ") + std::string(name_of(each));
        }
        throw Error(ErrorKind::usage, option::show, name_of(item),
                    (words ? "with --set join=words: " : fmt::format("what {} gives: ", name_of_parts(config))) + names);
    }
    for (const auto& [item, partner] : {std::pair(Item::tokens, Item::key_tokens), {Item::token_ids, Item::key_token_ids}}) {
        if (asked.contains(item) && existing.contains(partner)) { // the words of one are of little use without the other's
            asked.insert(partner);
        }
    }
    const auto scores = std::ranges::find_if(asked, scores_words);
    if (scores != Show::end() && !trained.model.architecture().head) {
        throw Error(ErrorKind::data, fmt::format("{} {}", option::show, name_of(*scores)),
                    "a model without a head that scores words", "a model for causal or masked language modelling");
    }
    if (is_mean(config.head) && asked.contains(Item::summary)) {
        throw Error(settings.origin.fault({&trained_field::head}), settings.origin.name_of(trained_field::head),
                    field::head.allowed.instead, "heads; mean requires --layer, and a summary has a line per head");
    }
    return asked;
}

/// Of each layer that is shown the heads, which every part has.
std::map<Index, std::vector<Index>> heads_of_layers(const TrainedConfig& config, const std::vector<ResolvedPart>& parts,
                                                    const Origin& origin)
{
    const std::map<Index, std::vector<Index>> named = heads_by_layer(config);
    std::map<Index, std::vector<Index>> all;
    for (const ResolvedPart& each : parts) {
        for (const auto& [layer, heads] : named) {
            if (!std::ranges::binary_search(each.layers, layer)) {
                throw Error(ErrorKind::data, trained_field::layer_heads.key, std::to_string(layer),
                            "one of the layers that are shown, " + to_string(each.layers));
            }
        }
        for (const Index layer : each.layers) {
            const auto own = named.find(layer);
            const Index H = attention_of(each.stack->layers[static_cast<std::size_t>(layer)], each.part).H;
            all.insert_or_assign(
                layer, heads_of(own == named.end() ? config.head : own->second, H, origin, nullptr, with_part(each.part)));
        }
    }
    return all;
}

/// Of the parts of one stack; without any nothing but what leaves its last layer.
transformer::Asked asked_of(const std::vector<ResolvedPart>& parts, const Show& show,
                            const std::map<Index, std::vector<Index>>& heads)
{
    transformer::Asked asked;
    for (const ResolvedPart& each : parts) {
        if (each.part) {
            asked.parts.push_back(*each.part);
        }
    }
    for (const Index layer : parts.front().layers) {
        const std::vector<Index>& own = heads.at(layer);
        asked.heads_of_layers.emplace(layer, is_mean(own) ? std::vector<Index>() : own);
    }
    if (std::ranges::any_of(show, [](Item item) { return standing_of(item) == Standing::in_layer; })) {
        asked.layers = parts.front().layers;
    }
    asked.stages = stages_of(what_to_compute(show));
    asked.queries_keys_values = show.contains(Item::queries) || show.contains(Item::keys) || show.contains(Item::values);
    asked.hidden_states = show.contains(Item::hidden_states) || show.contains(Item::embeddings) || show.contains(Item::pooled);
    return asked;
}

/// The parts whose rows are the tokens: all but the encoder's where a decoder runs.
std::vector<ResolvedPart> with_tokens(const std::vector<ResolvedPart>& parts, bool decodes)
{
    std::vector<ResolvedPart> kept;
    std::ranges::copy_if(parts, std::back_inserter(kept),
                         [&](const ResolvedPart& each) { return !decodes || each.part != Part::encoder; });
    return kept;
}

transformer::Asked asked_of_tokens(const ResolvedTrained& run)
{
    transformer::Asked asked = asked_of(with_tokens(run.parts, run.source.has_value()), run.show, run.heads);
    asked.lens = run.show.contains(Item::lens);
    asked.logits = run.show.contains(Item::logits) ? transformer::Logits::all : transformer::Logits::none;
    return asked;
}

transformer::Asked asked_of_source(const ResolvedTrained& run)
{
    transformer::Asked asked{.parts = {Part::encoder}};
    if (run.source && run.parts.front().part == Part::encoder) {
        asked = asked_of({run.parts.front()}, run.show, run.heads);
    }
    asked.last = true;
    return asked;
}

// ---- words -----------------------------------------------------------------------------------------------------------

/// The pieces or words of the sentence, which this stack reads.
Tokens tokens_of_sentence(const TrainedConfig& config, const Trained& trained, const transformer::Architecture& architecture)
{
    if (!config.parts.empty() && config.ids.empty() && !trained.tokenizer) {
        throw Error(ErrorKind::data, "no tokenizer beside the model; allowed: --ids, which needs none");
    }
    Tokens tokens = !config.ids.empty() ? ids_of(config, trained)
                    : trained.tokenizer ? pieces_of(config, *trained.tokenizer)
                                        : words_of(config, architecture.embedding.V, trained.drawn);
    const bool blank = config.ids.empty() && config.sentence.find_first_not_of(" \t\r\n") == std::string::npos;
    if (tokens.ids.empty() || blank) {
        throw Error(ErrorKind::data, "no words in the sentence; allowed: at least one");
    }
    transformer::require_tokens(architecture, {tokens.ids, tokens.piece_types}, ErrorKind::data,
                                config.parts.empty() ? "tokens" : "tokens of the sentence"); // or else the target's
    return tokens;
}

/// What the encoder reads where the rows are a decoder's.
std::optional<Tokens> source_of(const TrainedConfig& config, const Trained& trained)
{
    const transformer::Architecture& architecture = trained.model.architecture();
    return config.decodes() ? std::optional(tokens_of_sentence(config, trained, *architecture.encoder)) : std::nullopt;
}

/// How many numbers a stack holds at once.
Index held_by(const transformer::Architecture& stack, const Tokens& tokens)
{
    constexpr Index at_once = 8; // hidden states, projections, the hidden layer of the MLP
    const Index T = std::ssize(tokens.ids);
    return at_once * T * stack.D + (stack.relative_bias ? stack.layers.front().attention.H * T * T : 0);
}

/// How many numbers a decoder keeps of a sentence while it writes: keys and values in each layer.
Index kept_by(const transformer::Architecture& decoder, const Tokens& source)
{
    const transformer::AttentionPart& part = decoder.layers.front().attention;
    return 2 * std::ssize(decoder.layers) * std::ssize(source.ids) * part.H_kv * part.d;
}

/// Throws Error(too_large) for numbers that do not fit.
void require_numbers(Index numbers, const RunSettings& settings)
{
    const Index total = static_cast<Index>(sizeof(float)) * numbers;
    require_memory({.total = total, .draws = 0, .arrays = total, .largest_draw = {}, .from_files = false},
                   settings.memory_limit);
}

/// The rows: the sentence, or of a decoder the target.
Tokens tokens_of_run(const ResolvedTrained& run)
{
    const TrainedConfig& config = run.config;
    const transformer::Architecture& stack = stack_of(run.trained.model.architecture(), run.parts.back().part);
    if (!run.source) {
        return tokens_of_sentence(config, run.trained, stack);
    }
    const std::optional<text::PieceTokenizer>& tokenizer = run.trained.target_tokenizer();
    Tokens tokens;
    if (config.target_greedy) {
        const transformer::Architecture& encoder = *run.trained.model.architecture().encoder;
        require_numbers(held_by(encoder, *run.source) + kept_by(stack, *run.source), run.settings);
        tokens.ids = decoded(run.trained, *run.source, *config.target_greedy, run.settings);
        for (const Index id : tokens.ids) {
            tokens.words.push_back(tokenizer ? shown(id, *tokenizer) : std::to_string(id));
        }
    } else if (!tokenizer) {
        throw Error(ErrorKind::data, fmt::format("{}: no tokenizer beside the model; allowed: {} N, which needs none",
                                                 option::target, option::target_greedy));
    } else if (config.target->find_first_not_of(" \t\r\n") == std::string::npos) {
        throw Error(ErrorKind::data, fmt::format("no words in the target ({}); allowed: at least one", option::target));
    } else {
        tokens = target_of(config, *tokenizer, stack.target);
    }
    transformer::require_tokens(stack, {tokens.ids, {}}, ErrorKind::data, "tokens of the target");
    return tokens;
}

/// The rows that --query names.
std::vector<Index> named_rows(const TrainedConfig& config, const std::vector<std::string>& tokens, const Origin& origin)
{
    Lookup lookup = lookup_of(field::query, {}, origin);
    if (!config.parts.empty()) {
        lookup.of = config.decodes() ? "the target" : "the sentence";
    }
    return places_of(config.query, tokens, lookup);
}

// ---- memory ----------------------------------------------------------------------------------------------------------

/// How many numbers one part keeps, and how many there are at once for the largest of its layers.
struct Kept {
    Index numbers = 0, largest = 0;
};
Kept kept_of(const ResolvedTrained& run, const ResolvedPart& each)
{
    const Index T = std::ssize(run.rows_of(each.part).ids);
    const Index S = std::ssize(run.columns_of(each.part).ids);
    const Index rows = run.query_positions.empty() ? T : std::ssize(run.query_positions);
    const bool has_states = each.part != Part::cross;
    const bool shown = !run.asked.layers.empty();
    Kept kept{.numbers = run.asked.hidden_states && has_states ? (std::ssize(each.stack->layers) + 1) * T * each.stack->D : 0};
    for (const Index layer : shown ? each.layers : std::vector<Index>()) {
        const transformer::AttentionPart& attention = run.attention(each.part, layer);
        const std::vector<Index>& own = run.heads.at(layer);
        const Index heads = own.empty() ? attention.H : std::ssize(own);
        kept.numbers += run.asked.lens && has_states ? T * each.stack->embedding.V : 0;
        for (const Item item : run.show) {
            const bool numbers = info_of(item).kind == ItemKind::numbers;
            const Index vectors = info_of(item).axes.row == Axis::keys ? S : T;
            kept.numbers += info_of(item).axes == per_pair ? heads * rows * S : numbers ? heads * attention.d * vectors : 0;
        }
        kept.largest = std::max(kept.largest, (own.empty() || is_mean(own) ? attention.H : std::ssize(own)) * T * S);
    }
    return kept;
}

/// Throws Error(too_large) for what does not fit.
void require_room(const ResolvedTrained& run)
{
    const transformer::Architecture& architecture = run.trained.model.architecture();
    Kept all{.numbers =
                 run.asked.logits == transformer::Logits::none ? 0 : std::ssize(run.tokens.ids) * architecture.embedding.V};
    for (const ResolvedPart& each : run.parts) {
        const Kept kept = kept_of(run, each);
        all = {all.numbers + kept.numbers, std::max(all.largest, kept.largest)};
    }
    const Index of_source = run.source ? held_by(*architecture.encoder, *run.source) : 0;
    require_numbers(all.numbers + all.largest + of_source + held_by(*run.parts.back().stack, run.tokens), run.settings);
}

} // namespace

Shape shape_of(Item item, const ResolvedTrained& run, const ResolvedPart& part, Index layer)
{
    const transformer::AttentionPart& attention = run.attention(part.part, layer);
    const ItemInfo& info = info_of(item);
    const bool cut = info.axes.row == Axis::queries && !run.query_positions.empty();
    Shape shape = shape_of(item, {.V = part.stack->embedding.V,
                                  .T = cut ? std::ssize(run.query_positions) : std::ssize(run.rows_of(part.part).words),
                                  .S = std::ssize(run.columns_of(part.part).words),
                                  .D = part.stack->D,
                                  .H = attention.H,
                                  .H_kv = attention.H_kv,
                                  .d_k = attention.d,
                                  .d_v = attention.d});
    if (const std::vector<Index>& heads = run.heads.at(layer); info.heads != Heads::none && !heads.empty()) {
        shape[0] = std::ssize(info.heads == Heads::queries ? heads : key_heads_of(heads, attention.H, attention.H_kv));
    }
    return shape;
}

std::vector<Index> layers_of(const TrainedConfig& config, std::optional<Part> part, Index count, const Origin& origin)
{
    if (config.layers.empty() || config.layers == std::vector<Index>{-1}) {
        return indices(count);
    }
    std::vector<Index> layers = config.layers;
    std::ranges::sort(layers);
    layers.erase(std::unique(layers.begin(), layers.end()), layers.end());
    if (layers.back() >= count) {
        throw Error(origin.fault({&trained_field::layers}), origin.name_of(trained_field::layers),
                    std::to_string(layers.back()), fmt::format("a layer from 0 to {}{}", count - 1, with_part(part)));
    }
    return layers;
}

std::map<Index, std::vector<Index>> heads_by_layer(const TrainedConfig& config)
{
    std::map<Index, std::vector<Index>> heads;
    for (const std::string& text : config.layer_heads) {
        const std::optional<LayerHead> named = layer_head_called(text);
        if (!named) {
            throw Error(ErrorKind::data, trained_field::layer_heads.key, in_quotes(text), "LAYER.HEAD, such as 16.0");
        }
        heads[named->layer].push_back(named->head);
    }
    return heads;
}

Show everything(const TrainedConfig& config, const Trained& trained)
{
    require_part(config, trained.model.architecture(), ErrorKind::usage);
    Show all;
    for (const Item item : existing_of(config, trained)) {
        if (!is_named_alone(item) && !is_choice(item)) {
            all.insert(item);
        }
    }
    return all;
}

const ResolvedPart& ResolvedTrained::part_of(std::optional<Part> part) const
{
    return *std::ranges::find(parts, part, &ResolvedPart::part);
}

const transformer::AttentionPart& ResolvedTrained::attention(std::optional<Part> part, Index layer) const
{
    return attention_of(part_of(part).stack->layers[static_cast<std::size_t>(layer)], part);
}

// Judged as it is made, in the order of the members: each function that takes *this reads only members before its own.
ResolvedTrained::ResolvedTrained(const TrainedConfig& its_config, const Trained& its_model, const RunSettings& its_settings)
    : config(its_config), trained(its_model), settings(its_settings), show(what_to_show(config, trained, settings)),
      parts(resolved_parts(config, trained, show, settings.origin)), source(source_of(config, trained)),
      tokens(tokens_of_run(*this)), heads(heads_of_layers(config, parts, settings.origin)), asked(asked_of_tokens(*this)),
      asked_of_encoder(asked_of_source(*this)), query_positions(named_rows(config, tokens.words, settings.origin))
{
    require_room(*this);
    const transformer::Architecture& stack = *parts.back().stack;
    input = {tokens.ids, stack.embedding.types.empty() ? std::vector<Index>() : tokens.piece_types};
    transformer::require_rows(stack, input, asked, ErrorKind::data);
}

} // namespace attn::model
