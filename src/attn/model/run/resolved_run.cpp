#include "attn/model/run/resolved_run.hpp"

#include "attn/math/decimal.hpp"
#include "attn/model/layer/batch.hpp"
#include "attn/model/layer/float32_range.hpp"
#include "attn/model/run/memory.hpp"
#include "attn/tensor/error.hpp"
#include "attn/tensor/shape.hpp"
#include "attn/text/tokenizer.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace attn::model {
namespace {

// ---- what is shown ---------------------------------------------------------------------------------------------------------

/// Throws Error(usage) for items by head beside the mean of them.
void require_no_mean(const Show& asked, const Recipe& recipe, const Origin& origin)
{
    const auto lost = std::ranges::find_if(asked, [](Item item) { return is_lost_in_mean(info_of(item)); });
    if (is_mean(recipe.head) && lost != Show::end()) {
        throw Error(ErrorKind::usage, origin.name_of(field::head), field::head.allowed.instead,
                    fmt::format("heads by number with --show {}; the mean is of weights alone", name_of(*lost)));
    }
}

// ---- what goes together ------------------------------------------------------------------------------------------------

void require_order(const Recipe& recipe, const ModelDims& dims)
{
    if (recipe.attention.order == ScoreOrder::key_query && (is_cross(recipe) || dims.H != dims.H_kv)) {
        throw Error(ErrorKind::data, name_of(Item::scores), "KQ with cross-attention or grouped heads",
                    "one sentence and as many key/value heads as heads");
    }
}

/// "scaled_dot, dot or cosine"
std::string scores_without_parameters()
{
    std::string names;
    for (const core::ScoreFunction& function : core::score_functions) {
        names += function.has_parameters ? "" : fmt::format("{}{}", names.empty() ? "" : ", ", function.name);
    }
    return names.replace(names.rfind(", "), 2, " or ");
}

/// What does not go together with the function of the scores, or with masks before the scale.
void require_score(const Recipe& recipe, const Origin& origin)
{
    const Attention& attention = recipe.attention;
    if (attention.order == ScoreOrder::key_query && core::function_of(attention.score).has_parameters) {
        throw Error(origin.fault({&field::score}), origin.name_of(field::score), name_of(attention.score),
                    "with KQ scores " + scores_without_parameters());
    }
    if (attention.mask_at == core::MaskAt::scaled) {
        return;
    }
    const std::string before = origin.said(field::mask_at, core::mask_at_names[static_cast<std::size_t>(core::MaskAt::scores)]);
    if (attention.softcap) { // it would turn what is hidden, -inf, into a number
        throw Error(origin.fault({&field::mask_at, &field::softcap}),
                    fmt::format("{} with {}: a cap comes after the scale and would show what is masked; allowed: one of them",
                                origin.name_of(field::softcap), before));
    }
    if (attention.scale && *attention.scale <= 0) {
        throw Error(origin.fault({&field::mask_at, &field::scale}), origin.name_of(field::scale),
                    math::shortest(*attention.scale), "a number above 0 with " + before);
    }
}

/// Without a seed of its own dropout goes on with the stream of the draws, which must then be PyTorch's.
void require_stream(const Recipe& recipe, const Origin& origin)
{
    const std::optional<core::Dropout>& dropout = recipe.attention.dropout;
    if (!dropout || dropout->seed) {
        return;
    }
    const auto is_seed = [](const Step& step) { return std::holds_alternative<Seed>(step); };
    const bool torch = recipe.generator == Generator::torch;
    if (!torch || std::ranges::none_of(recipe.draws, is_seed)) {
        const bool option = origin.from_option(field::dropout);
        throw Error(origin.fault({&field::dropout, &field::generator}),
                    fmt::format("{}: {}; give a seed for it: {}", origin.name_of(field::dropout),
                                torch ? "nothing is seeded" : "NumPy has no dropout",
                                option ? origin.option_of(field::dropout_seed) + "=N" : std::string(field::dropout_seed.key)));
    }
}

/// The config of the result names a file, and the result needs what that holds: our own fault where nobody has read it.
void require_read(bool read, std::string_view thing, const std::string& file)
{
    if (!read) {
        throw Error(ErrorKind::internal, thing, "nothing", "what " + in_quotes(file) + " holds");
    }
}

void require_mask(const Recipe& recipe, const RunSettings& settings)
{
    if (!recipe.attention.mask) {
        return;
    }
    text::require_utf8(recipe.attention.mask->file, "the name of the mask's file");
    text::require_utf8(recipe.attention.mask->name, "the name of the mask");
    require_read(settings.mask.has_value(), "mask", recipe.attention.mask->file);
}

void require_numbers(const TensorView& mask, const Recipe& recipe, const Arriving* arriving = nullptr)
{
    require_finite(mask, "mask", true, {}, arriving);
    if (recipe.dtype == Dtype::float32) {
        require_float32_range(mask, "mask", wider_run, arriving);
    }
}

/// How the numbers of a mask are read, once it is one; empty: they are there.
std::function<void()> reader_of_mask(const Recipe& recipe, const RunSettings& settings)
{
    if (!settings.read_numbers || !settings.mask) {
        return {};
    }
    return
        [&] { settings.read_numbers([&](const Arriving& arriving) { require_numbers(*settings.mask, recipe, &arriving); }); };
}

void require_parameters(const Recipe& recipe, const RunSettings& settings)
{
    if (!recipe.parameters) {
        return;
    }
    text::require_utf8(recipe.parameters->file, "the name of the parameters' file");
    text::require_utf8(recipe.parameters->prefix, "the prefix of the parameters");
    require_read(!settings.parameters.empty(), name_of(Item::parameters), recipe.parameters->file);
    const bool extra_key =
        std::ranges::find(settings.parameters, Target::bias_k, &StoredParameter::target) != settings.parameters.end();
    if (extra_key && recipe.attention.placed_by(PositionKind::alibi)) {
        throw Error(settings.origin.fault({&field::positions}), settings.origin.name_of(field::positions), "alibi",
                    fmt::format("none, sinusoidal or rope with bias_k of {}, whose key has no position",
                                in_quotes(recipe.parameters->file)));
    }
}

/// The table that the config's file gives, if it names one; with a warning where words had to share a vector.
std::optional<EmbeddingTable> resolved_table(const Recipe& recipe, const Words& words, const RunSettings& settings)
{
    if (!recipe.embeddings) {
        return std::nullopt;
    }
    text::require_utf8(recipe.embeddings->file, "the name of the embeddings' file");
    text::require_utf8(recipe.embeddings->name, "the name of the embeddings");
    text::require_utf8(recipe.embeddings->words ? recipe.embeddings->words->file : "", "the name of the file of words");
    text::require_utf8(recipe.embeddings->unknown.value_or(""), settings.origin.name_of(field::unknown));
    require_read(settings.word_vectors.has_value(), name_of(Item::embeddings), recipe.embeddings->file);
    return embedding_table(recipe, words, *settings.word_vectors, settings.origin);
}

/// Sinusoids and turns are exact for so many words only.
void require_positions(const Recipe& recipe, const ModelDims& dims)
{
    const std::optional<Positions>& positions = recipe.attention.positions;
    for (const Index tokens : {dims.T, dims.S}) {
        if (positions && positions->kind != PositionKind::alibi && tokens > core::most_positions) {
            throw Error(ErrorKind::data,
                        fmt::format("{} positions", position_names.at(static_cast<std::size_t>(positions->kind))),
                        fmt::format("{} tokens", tokens), fmt::format("up to {}", core::most_positions));
        }
    }
}

/// Sizes and positions of embeddings, where queries, keys and values are given without any.
void require_embeddings_for(const Recipe& recipe, const Origin& origin)
{
    if (!find_draw(recipe, Target::queries)) {
        return;
    }
    const auto refuse = [&](const FieldInfo& field, const std::string& value) {
        throw Error(origin.fault({&field}), origin.name_of(field), value,
                    "only with embeddings; this recipe gives queries, keys and values themselves");
    };
    for (const field::Recipes* size : {&field::embed_dim, &field::key_dim, &field::value_dim}) {
        if (const FieldValue value = size->member.get(recipe); const auto* number = std::get_if<Index>(&value)) {
            refuse(*size, std::to_string(*number));
        }
    }
    if (recipe.attention.placed_by(PositionKind::sinusoidal)) {
        refuse(field::positions, "sinusoidal");
    }
}

void require_settings(const Recipe& recipe, const RunSettings& settings)
{
    require_mask(recipe, settings);
    require_embeddings_for(recipe, settings.origin);
    require_score(recipe, settings.origin);
    require_stream(recipe, settings.origin);
    require_parameters(recipe, settings);
}

// ---- words, sizes, memory ----------------------------------------------------------------------------------------------

/// Only the words change from run to run.
ModelDims resolved_dims(const Recipe& recipe, const Words& words, const Origin& origin, BatchRunner::Shared* shared)
{
    if (shared == nullptr) {
        return resolve(recipe, words, origin);
    }
    if (!shared->least) {
        shared->least = least_dims(recipe, {words.T(), words.S()}, origin);
    }
    return with_words(*shared->least, words, recipe, origin);
}

/// required_memory() of what the settings give.
Memory memory_of(const Recipe& recipe, const ModelDims& dims, Index rows, const Show& show, const RunSettings& settings)
{
    std::optional<Index> table_takes;
    if (const auto* table = settings.word_vectors ? std::get_if<VectorsOfIds>(&*settings.word_vectors) : nullptr) {
        table_takes = table->takes ? table->takes() : 0;
    }
    return required_memory(recipe, dims, rows, show, table_takes);
}

/// The bytes that a run of these lengths needs at most. A smaller run than the largest so far needs no more than that one.
/// Throws Error(too_large) when it does not fit.
Index resolved_bytes(const Recipe& recipe, const ModelDims& dims, Index rows, const Show& show, const RunSettings& settings,
                     BatchRunner::Shared* shared)
{
    if (shared != nullptr && shared->memory > 0 && shared->memory <= settings.memory_limit && dims.V <= shared->largest.V &&
        dims.T <= shared->largest.T && dims.S <= shared->largest.S && rows <= shared->largest_rows) {
        return shared->memory;
    }
    const Memory memory = memory_of(recipe, dims, rows, show, settings);
    require_memory(memory, settings.memory_limit);
    if (shared != nullptr) {
        shared->largest = dims;
        shared->largest_rows = rows;
        shared->memory = memory.total;
    }
    return memory.total;
}

/// Throws Error(too_large) for a long text of which the number of words alone tells that the run does not fit.
void require_room_for_words(const Recipe& recipe, const RunSettings& settings, const Show& show)
{
    const std::optional<WordCounts> words = count_words_of_long_text(recipe, settings.origin);
    if (words && words->T > 0 && words->S > 0) {
        const Index rows = recipe.query.empty() ? words->T : 1;
        ModelDims least = least_dims(recipe, *words, settings.origin);
        least.V = std::max<Index>(least.V, 1);
        require_memory(memory_of(recipe, least, rows, show, settings), settings.memory_limit);
    }
}

/// What libraries draw for a whole batch has one length for all its entries.
void require_one_length(const Recipe& recipe, const Words& words)
{
    if (words.ragged && (recipe.attention.dropout || find_draw(recipe, Target::embeddings))) {
        throw Error(ErrorKind::data, field::sentence.key, "sentences of different lengths",
                    "one length, which dropout and embeddings by position need");
    }
}

/// The draws of one entry; nothing where there is no batch.
std::optional<Recipe> recipe_of_entry(const Recipe& config, const Origin& origin)
{
    const Index entry = entry_of(config, origin);
    return batch_size(config) ? std::optional(with_draws_of(entry, config)) : std::nullopt;
}

/// Once settings and options are found to go together, and there is room for so many words.
Words resolved_words(const Recipe& recipe, const Show& wanted, const RunSettings& settings)
{
    require_settings(recipe, settings);
    require_room_for_words(recipe, settings, wanted);
    Words words = read_words(recipe, settings.origin);
    require_one_length(recipe, words);
    if (settings.observer) {
        settings.observer({name_of(Item::tokens), {words.T()}, 0});
    }
    return words;
}

/// The numbers of its file are the first that are read: before them, the settings hear of the sizes.
WholeMask resolved_mask(const Recipe& recipe, const RunSettings& settings, const Words& words, const ModelDims& dims,
                        const std::vector<Index>& query_positions)
{
    if (settings.sized) {
        settings.sized(dims, query_positions);
    }
    return {recipe,
            recipe.attention.mask ? settings.mask : std::nullopt,
            {dims.H, dims.T, dims.S},
            words.cross ? words.key_tokens : words.tokens,
            settings.origin,
            reader_of_mask(recipe, settings)};
}

KeptHeads resolved_heads(const Recipe& recipe, const ModelDims& dims, const Origin& origin)
{
    require_order(recipe, dims);
    const std::vector<Index> heads = heads_of(recipe.head, dims.H, origin, &field::heads);
    return {heads, key_heads_of(heads, dims.H, dims.H_kv), recipe.rounding};
}

} // namespace

Show what_to_show(const Recipe& recipe, const RunSettings& settings)
{
    Show show = settings.show;
    Show existing = everything(recipe);
    existing.insert(Item::summary);
    if (show.empty()) {
        for (const Item item : {Item::tokens, Item::vocabulary, Item::weights, Item::context, Item::output}) {
            if (existing.contains(item)) {
                show.insert(item);
            }
        }
    }
    if (settings.top) {
        show.insert(Item::summary);
    }
    require_no_mean(show, recipe, settings.origin);
    require_items(show, existing);
    // With two sentences, the words of one are of little use without those of the other.
    for (const auto& [item, partner] : {std::pair{Item::tokens, Item::key_tokens},
                                        {Item::token_ids, Item::key_token_ids},
                                        {Item::embeddings, Item::key_embeddings}}) {
        if (show.contains(item) && existing.contains(partner)) {
            show.insert(partner);
        }
    }
    return show;
}

Show what_to_compute(Show show)
{
    if (show.contains(Item::summary)) {
        show.insert({Item::weights, Item::entropy});
    }
    if (show.contains(Item::alignment)) {
        show.insert(Item::weights);
    }
    return show;
}

Show everything(const Recipe& recipe)
{
    const Attention& attention = recipe.attention;
    const bool has_ids = !std::holds_alternative<PositionsInput>(recipe.input);
    const bool has_embeddings = !find_draw(recipe, Target::queries);
    const auto is_drawn_parameter = [](const Step& step) {
        const auto* draw = std::get_if<Draw>(&step);
        return draw != nullptr && is_parameter(draw->target);
    };
    return existing_items(
        {.command = ShownBy::run,
         .needs = {{Needs::parameters, has_embeddings || std::ranges::any_of(recipe.draws, is_drawn_parameter)},
                   {Needs::embeddings, has_embeddings},
                   {Needs::key_embeddings, has_embeddings && is_cross(recipe)},
                   {Needs::sentence, std::holds_alternative<SentenceInput>(recipe.input)},
                   {Needs::ids, has_ids},
                   {Needs::cross, is_cross(recipe)},
                   {Needs::key_ids, is_cross(recipe) && has_ids},
                   {Needs::softcap, attention.softcap.has_value()},
                   {Needs::mask,
                    attention.causal || attention.window || attention.has_mask() || attention.placed_by(PositionKind::alibi)},
                   {Needs::dropout, attention.dropout.has_value()},
                   {Needs::output_projection, has_output_projection(recipe)}},
         .mean = is_mean(recipe.head)});
}

// Judged as it is made, in the order of the members: resolved_words also finds whether settings and options go together.
ResolvedRun::ResolvedRun(const Recipe& its_config, const Show& its_show, const RunSettings& its_settings,
                         BatchRunner::Shared* shared)
    : config(its_config), settings(its_settings), preparations(shared == nullptr ? nullptr : &shared->preparations),
      of_entry(recipe_of_entry(config, settings.origin)), recipe(of_entry ? *of_entry : config), show(its_show),
      wanted(what_to_compute(show)), words(resolved_words(recipe, wanted, settings)),
      query_positions(model::query_positions(recipe, words, settings.origin)),
      rows(query_positions.empty() ? indices(words.T()) : query_positions),
      dims(resolved_dims(recipe, words, settings.origin, shared)), heads(resolved_heads(recipe, dims, settings.origin)),
      bytes(resolved_bytes(recipe, dims, std::ssize(rows), wanted, settings, shared)),
      mask(resolved_mask(recipe, settings, words, dims, query_positions))
{
    if (mask.given()) {
        require_numbers(*mask.given(), recipe);
    }
    table = resolved_table(recipe, words, settings);
    tell_of_parameters();
    if (preparations == nullptr || !preparations->remembers(recipe, parameter_inputs())) {
        draws = plan_draws(recipe, parameter_inputs());
    }
    require_positions(recipe, dims);
}

void ResolvedRun::tell_of_parameters() const
{
    if (settings.observer) {
        settings.observer({name_of(Item::parameters), {std::ssize(recipe.draws) + std::ssize(settings.parameters)}, 0});
    }
}

bool ResolvedRun::has_extra_key() const
{
    return std::ranges::any_of(draws->steps, [](const auto& step) {
        const auto* draw = std::get_if<PlannedDraw>(&step);
        return draw != nullptr && draw->target == Target::bias_k;
    });
}

} // namespace attn::model
