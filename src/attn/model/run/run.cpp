#include "attn/model/run/run.hpp"

#include "attn/math/decimal.hpp"
#include "attn/model/layer/batch.hpp"
#include "attn/model/layer/extra_key.hpp"
#include "attn/model/layer/float32_range.hpp"
#include "attn/model/layer/hidden_words.hpp"
#include "attn/model/recipe/overrides.hpp"
#include "attn/model/run/batch_runner.hpp"
#include "attn/model/run/compute.hpp"
#include "attn/model/run/heads.hpp"
#include "attn/model/run/memory.hpp"
#include "attn/tensor/error.hpp"
#include "attn/tensor/indices.hpp"
#include "attn/text/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace attn::model {
namespace {

bool is_cross(const Recipe& recipe)
{
    const auto* sentence = std::get_if<SentenceInput>(&recipe.input);
    return sentence != nullptr && sentence->cross.has_value();
}

/// Whether a run has what an item needs.
bool has(Needs needs, const Recipe& recipe)
{
    const Attention& attention = recipe.attention;
    switch (needs) {
    case Needs::nothing: return true;
    case Needs::sentence: return std::holds_alternative<SentenceInput>(recipe.input);
    case Needs::ids: return !std::holds_alternative<PositionsInput>(recipe.input);
    case Needs::cross: return is_cross(recipe);
    case Needs::query: return !recipe.query.empty();
    case Needs::head: return !recipe.head.empty();
    case Needs::softcap: return attention.softcap.has_value();
    case Needs::mask:
        return attention.causal || attention.window || attention.has_mask() || attention.placed_by(PositionKind::alibi);
    case Needs::dropout: return attention.dropout.has_value();
    case Needs::output_projection: return has_output_projection(recipe);
    case Needs::cache:
    case Needs::model: return false;
    }
    return false;
}

/// Whether the mean of all heads leaves no such item.
bool is_lost_in_mean(const ItemInfo& info)
{
    return (info.heads != Heads::none && !has_mean(info.item)) || info.kind == ItemKind::summary;
}

/// Throws Error(usage) for items by head beside the mean of them.
void require_no_mean(const Show& asked, const Recipe& recipe, const Origin& origin)
{
    const auto lost = std::ranges::find_if(asked, [](Item item) { return is_lost_in_mean(info_of(item)); });
    if (is_mean(recipe.head) && lost != Show::end()) {
        throw Error(ErrorKind::usage, origin.name_of(field::head), field::head.allowed.instead,
                    fmt::format("heads by number with --show {}; the mean is of weights alone", name_of(*lost)));
    }
}

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

void require_order(const Recipe& recipe, const ModelDims& dims)
{
    if (recipe.attention.order == ScoreOrder::key_query && (is_cross(recipe) || dims.H != dims.H_kv)) {
        throw Error(ErrorKind::data, name_of(Item::scores), "KQ with cross-attention or grouped heads",
                    "one sentence and as many key/value heads as heads");
    }
}

/// What does not go together with the function of the scores, or with masks before the scale.
void require_score(const Recipe& recipe, const Origin& origin)
{
    const Attention& attention = recipe.attention;
    if (attention.order == ScoreOrder::key_query &&
        (attention.score == core::Score::general || attention.score == core::Score::additive)) {
        throw Error(origin.fault({&field::score}), origin.name_of(field::score), name_of(attention.score),
                    "scaled_dot, dot or cosine with KQ scores");
    }
    if (attention.mask_at == core::MaskAt::scaled) {
        return;
    }
    const std::string before = origin.name_of(field::mask_at) + " scores";
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
        throw Error(origin.fault({&field::dropout, &field::generator}), origin.name_of(field::dropout),
                    torch ? "no stream of random numbers to go on with, since nothing is seeded"
                          : "the stream of NumPy, which has no dropout",
                    "with a seed of its own, " +
                        (option ? origin.option_of(field::dropout_seed) : std::string(field::dropout_seed.key)));
    }
}

/// The config of the result names the mask's file, and the result needs what that file holds.
void require_mask(const Recipe& recipe, const RunSettings& settings)
{
    if (!recipe.attention.mask) {
        return;
    }
    text::require_utf8(recipe.attention.mask->file, "the name of the mask's file");
    text::require_utf8(recipe.attention.mask->name, "the name of the mask");
    if (!settings.mask) {
        throw Error(ErrorKind::internal, "mask", "nothing", "what " + in_quotes(recipe.attention.mask->file) + " holds");
    }
}

void read_mask(const TensorView& mask, const Recipe& recipe, const RunSettings& settings)
{
    if (settings.read_numbers) {
        settings.read_numbers();
    }
    require_finite(mask, "mask", true);
    if (recipe.dtype == Dtype::float32) {
        require_float32_range(mask, "mask");
    }
}

void require_parameters(const Recipe& recipe, const RunSettings& settings)
{
    if (!recipe.parameters) {
        return;
    }
    text::require_utf8(recipe.parameters->file, "the name of the parameters' file");
    text::require_utf8(recipe.parameters->prefix, "the prefix of the parameters");
    if (settings.parameters.empty()) {
        throw Error(ErrorKind::internal, name_of(Item::parameters), "nothing",
                    "what " + in_quotes(recipe.parameters->file) + " holds");
    }
    const bool extra_key =
        std::ranges::find(settings.parameters, Target::bias_k, &StoredParameter::target) != settings.parameters.end();
    if (extra_key && recipe.attention.placed_by(PositionKind::alibi)) {
        throw Error(settings.origin.fault({&field::positions}), settings.origin.name_of(field::positions), "alibi",
                    fmt::format("none, sinusoidal or rope with bias_k of {}, whose key has no position",
                                in_quotes(recipe.parameters->file)));
    }
}

/// The table that the config's file gives, if it names one; with a warning where words had to share a vector.
std::optional<EmbeddingTable> load_table(const Recipe& recipe, const Words& words, const RunSettings& settings)
{
    if (!recipe.embeddings) {
        return std::nullopt;
    }
    text::require_utf8(recipe.embeddings->file, "the name of the embeddings' file");
    text::require_utf8(recipe.embeddings->name, "the name of the embeddings");
    text::require_utf8(recipe.embeddings->words ? recipe.embeddings->words->file : "", "the name of the file of words");
    text::require_utf8(recipe.embeddings->unknown.value_or(""), settings.origin.name_of(field::unknown));
    if (!settings.word_vectors) {
        throw Error(ErrorKind::internal, name_of(Item::embeddings), "nothing",
                    "what " + in_quotes(recipe.embeddings->file) + " holds");
    }
    return embedding_table(recipe, words, *settings.word_vectors, settings.origin);
}

Difference difference(const std::string& name, const AnyTensor& tensor, const Tensor<double>& exact)
{
    constexpr double beyond = std::numeric_limits<double>::infinity();
    Difference worst{name, 0, 0};
    std::visit(
        [&](const auto& computed) {
            for (std::size_t i = 0; i < exact.values.size(); ++i) {
                const auto x = static_cast<double>(computed.values[i]);
                const double y = exact.values[i];
                const bool same = x == y || (std::isnan(x) && std::isnan(y)); // also infinities
                // No number says how far NaN and infinity are off.
                if (!same && !std::isfinite(x - y)) {
                    worst = {name, beyond, beyond};
                    return;
                }
                const double absolute = same ? 0 : std::abs(x - y);
                worst.absolute = std::max(worst.absolute, absolute);
                worst.relative = std::max(worst.relative, same || y == 0 ? 0 : absolute / std::abs(y));
            }
        },
        tensor);
    return worst;
}

std::vector<Difference> verify(const RunContext& plan, const ComputedArrays& computed)
{
    if (plan.settings.observer) {
        plan.settings.observer({field::verify.name(), {static_cast<Index>(computed.arrays.size())}, 0});
    }
    const ComputedArrays exact = compute<double>(plan);
    std::vector<Difference> differences;
    for (std::size_t i = 0; i < computed.arrays.size(); ++i) {
        differences.push_back(
            difference(computed.arrays[i].name, computed.arrays[i].tensor, std::get<Tensor<double>>(exact.arrays[i].tensor)));
    }
    return differences;
}

/// Only the words change from run to run.
ModelDims dims_of(const Recipe& recipe, const Words& words, const Origin& origin, BatchRunner::Shared* shared)
{
    if (shared == nullptr) {
        return resolve(recipe, words, origin);
    }
    if (!shared->least) {
        shared->least = least_dims(recipe, {words.T(), words.S()}, origin);
    }
    return with_words(*shared->least, words, origin);
}

/// The memory that a run of these lengths needs at most. A smaller run than the largest so far needs no more than that one.
Memory memory_of(const Recipe& recipe, const ModelDims& l, Index rows, const Show& show, BatchRunner::Shared* shared)
{
    if (shared != nullptr && shared->memory > 0 && l.V <= shared->largest.V && l.T <= shared->largest.T &&
        l.S <= shared->largest.S && rows <= shared->largest_rows) {
        return {.total = shared->memory, .draws = 0, .arrays = 0, .largest_draw = {}, .from_files = false};
    }
    Memory memory = required_memory(recipe, l, rows, show);
    if (shared != nullptr) {
        shared->largest = l;
        shared->largest_rows = rows;
        shared->memory = memory.total;
    }
    return memory;
}

/// Throws Error(too_large) when the run does not fit.
void require_room(const Recipe& recipe, const ModelDims& l, Index rows, const Show& show, Index limit,
                  BatchRunner::Shared* shared)
{
    if (memory_of(recipe, l, rows, show, shared).total > limit) {
        require_memory(required_memory(recipe, l, rows, show), limit);
    }
}

/// Throws Error(too_large) for a long text of which the number of words alone tells that the run does not fit.
void require_room_for_words(const Recipe& recipe, const RunSettings& settings, const Show& show)
{
    const std::optional<WordCounts> words = count_words_of_long_text(recipe, settings.origin);
    if (words && words->T > 0 && words->S > 0) {
        const Index rows = recipe.query.empty() ? words->T : 1;
        ModelDims least = least_dims(recipe, *words, settings.origin);
        least.V = std::max<Index>(least.V, 1);
        require_memory(required_memory(recipe, least, rows, show), settings.memory_limit);
    }
}

/// What libraries draw for a whole batch has one length for all its entries.
void require_one_length(const Recipe& recipe, const Words& words)
{
    if (words.ragged && (recipe.attention.dropout || find_draw(recipe, Target::embeddings))) {
        throw Error(ErrorKind::data, field::sentence.key, "a batch of sentences that have not all as many words",
                    "sentences of one length with dropout, and with embeddings by position");
    }
}

void require_settings(const Recipe& recipe, const RunSettings& settings)
{
    require_mask(recipe, settings);
    require_score(recipe, settings.origin);
    require_stream(recipe, settings.origin);
    require_parameters(recipe, settings);
}

void take_words(Result& result, Words words)
{
    result.cross = words.cross;
    result.tokens = std::move(words.tokens);
    result.key_tokens = std::move(words.key_tokens);
    result.vocabulary = std::move(words.vocabulary);
    result.token_ids = std::move(words.ids);
    result.key_token_ids = std::move(words.key_ids);
}

/// After the words.
void take_computed(Result& result, ComputedArrays computed)
{
    result.parameters = std::move(computed.parameters);
    result.front().arrays = std::move(computed.arrays);
    result.warnings = std::move(computed.warnings);
    result.portable_because = computed.portable_because;
    if (computed.extra_key) {
        result.key_labels = result.words_of_keys();
        result.key_labels.emplace_back(extra_key_label);
    }
}

/// A run without a look at RunSettings::show.
Result run_showing(const Show& show, const Recipe& config, const RunSettings& settings, BatchRunner::Shared* shared)
{
    Result result;
    result.show = show;
    const Index entry = entry_of(config, settings.origin);
    const std::optional<Recipe> of_entry = batch_size(config) ? std::optional(with_draws_of(entry, config)) : std::nullopt;
    const Recipe& recipe = of_entry ? *of_entry : config;
    require_settings(recipe, settings);
    const Show computed_items = what_to_compute(show);
    require_room_for_words(recipe, settings, computed_items);
    Words words = read_words(recipe, settings.origin);
    require_one_length(recipe, words);
    if (settings.observer) {
        settings.observer({name_of(Item::tokens), {words.T()}, 0});
    }
    result.query_positions = query_positions(recipe, words, settings.origin);
    const std::vector<Index> rows = result.query_positions.empty() ? indices(words.T()) : result.query_positions;
    const ModelDims dims = dims_of(recipe, words, settings.origin, shared);
    require_order(recipe, dims);
    Layer& layer = result.front();
    layer.heads = heads_of(recipe.head, dims.H, settings.origin);
    layer.key_heads = key_heads_of(layer.heads, dims.H, dims.H_kv);
    require_room(recipe, dims, static_cast<Index>(rows.size()), computed_items, settings.memory_limit, shared);
    const WholeMask mask(recipe, recipe.attention.mask ? settings.mask : std::nullopt, {dims.H, dims.T, dims.S},
                         words.cross ? words.key_tokens : words.tokens, settings.origin);
    if (mask.given()) {
        read_mask(*mask.given(), recipe, settings);
    }

    const std::optional<EmbeddingTable> table = load_table(recipe, words, settings);
    const KeptHeads heads{layer.heads, layer.key_heads, recipe.rounding};
    const RunContext plan{recipe,
                          words,
                          dims,
                          rows,
                          heads,
                          computed_items,
                          settings,
                          mask.view(),
                          shared == nullptr ? nullptr : &shared->preparations,
                          table ? &table->rows : nullptr};
    ComputedArrays computed = recipe.dtype == Dtype::float32 ? compute<float>(plan) : compute<double>(plan);
    if (recipe.verify) {
        result.verify = verify(plan, computed);
    }
    take_words(result, std::move(words));
    take_computed(result, std::move(computed));
    if (table && !table->warning.empty()) {
        result.warnings.insert(result.warnings.begin(), table->warning);
    }
    layer.config = config;
    layer.config.published.clear();
    layer.config.precision.clear();
    if (show.contains(Item::summary)) {
        layer.summary = summarize(result, layer, settings.top.value_or(usual_top));
    }
    return result;
}

} // namespace

Show everything(const Recipe& recipe)
{
    Show show;
    for (const ItemInfo& info : items) {
        const bool lost = is_mean(recipe.head) && is_lost_in_mean(info);
        if (is_shown_by(info, ShownBy::run) && info.kind != ItemKind::summary && has(info.needs, recipe) && !lost) {
            show.insert(info.item);
        }
    }
    return show;
}

Result run(const Recipe& recipe, const RunSettings& settings)
{
    return run_showing(what_to_show(recipe, settings), recipe, settings, nullptr);
}

std::vector<Result> run_entries(const Recipe& recipe, const RunSettings& settings)
{
    std::vector<Result> results;
    if (!is_whole_batch(recipe)) {
        results.push_back(run(recipe, settings));
        return results;
    }
    const Index entries = *batch_size(recipe);
    RunSettings each = settings;
    each.memory_limit /= entries; // all results are kept
    Recipe one = recipe;
    for (one.entry = 0; one.entry < entries; ++*one.entry) {
        results.push_back(run(one, each));
    }
    return results;
}

BatchRunner::BatchRunner(Recipe recipe, RunSettings settings)
    : recipe_(std::move(recipe)), settings_(std::move(settings)),
      show_(what_to_show(recipe_, settings_)), shared_{.preparations = ParameterCache(recipe_), .least = {}, .largest = {}}
{
}

Result BatchRunner::run(std::string sentence)
{
    std::get<SentenceInput>(recipe_.input).sentence = std::move(sentence);
    return run_showing(show_, recipe_, settings_, &shared_);
}

} // namespace attn::model
