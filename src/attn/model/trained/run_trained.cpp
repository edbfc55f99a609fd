#include "attn/model/trained/run_trained.hpp"

#include "attn/math/elementary.hpp"
#include "attn/model/recipe/option_names.hpp"
#include "attn/model/run/compute.hpp"
#include "attn/model/run/heads.hpp"
#include "attn/model/run/taken.hpp"
#include "attn/model/trained/resolved_trained.hpp"
#include "attn/tensor/error.hpp"
#include "attn/tensor/shape.hpp"
#include "attn/transformer/run/forward.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <utility>

namespace attn::model {
namespace {

constexpr std::size_t guesses_per_place = 5;

// ---- the likeliest words ---------------------------------------------------------------------------------------------

/// The word of an id, as people read it; of a row that no word has, the id.
std::string word_of(Index id, const Result& result, const Trained& trained)
{
    if (trained.target_tokenizer()) {
        return shown(id, *trained.target_tokenizer());
    }
    if (!result.model->ids.empty()) {
        return std::to_string(id);
    }
    const auto place = std::ranges::find(result.token_ids, id);
    return place == result.token_ids.end() ? fmt::format("symbol {}", id)
                                           : result.tokens[static_cast<std::size_t>(place - result.token_ids.begin())];
}

Guesses guesses_at(Index position, const Tensor<float>& logits, const Result& result, const Trained& trained)
{
    const auto row = logits.matrix().row(position);
    const auto largest = static_cast<double>(row.maxCoeff());
    double sum = 0;
    for (Index id = 0; id < row.size(); ++id) {
        sum += math::exp(static_cast<double>(row[id]) - largest);
    }
    std::vector<Index> ids = indices(row.size());
    const std::size_t count = std::min(guesses_per_place, ids.size());
    std::partial_sort(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(count), ids.end(),
                      [&](Index a, Index b) { return row[a] != row[b] ? row[a] > row[b] : a < b; });
    Guesses guesses{.position = position, .words = {}};
    for (std::size_t i = 0; i < count; ++i) {
        guesses.words.push_back(
            {ids[i], word_of(ids[i], result, trained), math::exp(static_cast<double>(row[ids[i]]) - largest) / sum});
    }
    return guesses;
}

// ---- one layer -------------------------------------------------------------------------------------------------------

/// The rows at `positions` of an array with one per query.
Tensor<float> with_rows(const Tensor<float>& whole, const ItemInfo& info, const std::vector<Index>& positions)
{
    return taken(whole, whole.shape.size() - (info.axes.column == Axis::none ? 1 : 2), positions);
}

/// Of a layer, as far as reports read it.
Attention read_attention(const ResolvedTrained& run, std::optional<Part> which, Index layer)
{
    const transformer::AttentionPart& part = run.attention(which, layer);
    Attention attention;
    attention.causal = run.part_of(which).stack->causal && which != Part::cross;
    if (part.scale != 1 / std::sqrt(static_cast<double>(part.d))) { // which holds without a scale
        attention.scale = part.scale;
    }
    attention.softcap = part.softcap;
    if (part.window) {
        attention.window = core::Window{part.window->left, part.window->right};
    }
    if (part.rope) {
        attention.positions = Positions{.kind = PositionKind::rope, .rope = {.base = part.rope->base, .dim = part.rope->dim}};
    }
    return attention;
}

/// (H, T, S) → of each row the key whose mean over the heads is largest, of equal ones the first.
std::vector<Index> aligned(const Tensor<float>& weights)
{
    std::vector<Index> keys;
    for (Index row = 0; row < weights.rows(); ++row) {
        RowVector<double> sum = RowVector<double>::Zero(weights.columns());
        for (Index head = 0; head < weights.shape.front(); ++head) {
            sum += weights.matrix(head).row(row).cast<double>();
        }
        Index key = 0;
        sum.maxCoeff(&key);
        keys.push_back(key);
    }
    return keys;
}

/// Makes the layers of a result, one after the other.
class LayerMaker {
public:
    /// The result has its words and rows, and says what it shows.
    LayerMaker(const Result& result, const ResolvedTrained& run) : result_(result), run_(run) {}

    [[nodiscard]] Layer of(transformer::LayerStages&& stages) const
    {
        const transformer::AttentionPart& part = run_.attention(stages.part, stages.layer);
        Layer layer;
        layer.number = stages.layer;
        layer.part = stages.part;
        std::get<SentenceInput>(layer.config.input).sentence = result_.model->sentence;
        layer.config.dims.heads = part.H;
        layer.config.dims.kv_heads = part.H_kv;
        layer.config.attention = read_attention(run_, stages.part, stages.layer);
        layer.heads = run_.heads.at(stages.layer);
        layer.key_heads = key_heads_of(layer.heads, part.H, part.H_kv);
        const std::vector<Index>& rows = result_.query_positions;
        const Show& there = run_.part_of(stages.part).there;
        const Show wanted = what_to_compute(result_.show);
        const Show keep = wanted.without(wanted.without(there));
        const auto add = [&](Item item, Tensor<float>& tensor) {
            if (keep.contains(item) && !tensor.shape.empty()) {
                const bool cut = info_of(item).axes.row == Axis::queries && !rows.empty();
                layer.arrays.push_back(
                    {std::string(name_of(item)), cut ? with_rows(tensor, info_of(item), rows) : std::move(tensor)});
            }
        };
        using core::Stage;
        core::Stages<float>& each = stages.stages;
        add(Item::queries, stages.queries);
        add(Item::keys, stages.keys);
        add(Item::values, stages.values);
        add(Item::head_context, each[Stage::head_context]);
        add(Item::context, stages.context);
        add(Item::output, stages.output);
        if (!stages.lens.shape.empty()) {
            layer.guesses = guesses_of(stages.lens);
        }
        add(Item::lens, stages.lens);
        const bool chosen = !layer.heads.empty() && !is_mean(layer.heads); // the other stages are of these heads already
        if (chosen) {
            keep_heads(layer.arrays, {layer.heads, layer.key_heads});
        }
        const std::vector<Index>& words_of_rows = run_.rows_of(stages.part).word_of; // none: they are words
        if (!words_of_rows.empty() && !each[Stage::weights].shape.empty()) {
            each[Stage::weights] = joined(each[Stage::weights], words_of_rows, run_.columns_of(stages.part).word_of);
        }
        for (const Stage stage : core::every_stage) {
            if (stage != Stage::head_context) {
                add(item_of(stage), each[stage]);
            }
        }
        if (!chosen) {
            keep_heads(layer.arrays, {layer.heads, layer.key_heads});
        }
        sort_arrays(layer.arrays);
        if (result_.show.contains(Item::summary)) {
            layer.summary = summarize(result_, layer, run_.settings.top.value_or(usual_top));
        }
        if (result_.show.contains(Item::alignment) && there.contains(Item::alignment)) {
            layer.alignment = aligned(std::get<Tensor<float>>(*layer.find(Item::weights)));
        }
        std::erase_if(layer.arrays, [&](const Array& array) { return !result_.show.contains(*item_called(array.name)); });
        return layer;
    }

private:
    /// At each query.
    [[nodiscard]] std::vector<Guesses> guesses_of(const Tensor<float>& logits) const
    {
        std::vector<Guesses> guesses;
        for (const Index position : result_.query_positions.empty() ? indices(logits.rows()) : result_.query_positions) {
            guesses.push_back(guesses_at(position, logits, result_, run_.trained));
        }
        return guesses;
    }

    const Result& result_;
    const ResolvedTrained& run_;
};

/// (T, D) → (D); the mean is added up in double, token by token, and rounded once.
Tensor<float> pooled(const Tensor<float>& states, Pool pool)
{
    const auto X = states.matrix();
    Tensor<float> whole(Shape{X.cols()});
    if (pool != Pool::mean) {
        whole.matrix() = X.row(pool == Pool::first ? 0 : X.rows() - 1);
        return whole;
    }
    RowVector<double> sum = RowVector<double>::Zero(X.cols());
    for (Index token = 0; token < X.rows(); ++token) {
        sum += X.row(token).cast<double>();
    }
    whole.matrix() = (sum / static_cast<double>(X.rows())).cast<float>();
    return whole;
}

/// To the layers of one stack: of two stacks the encoder's, or the decoder's.
void add_hidden_states(Result& result, const std::vector<Tensor<float>>& states, bool of_encoder)
{
    for (Layer& layer : result.layers) {
        if (layer.part == Part::cross || (layer.part == Part::encoder) != of_encoder) {
            continue;
        }
        const auto number = static_cast<std::size_t>(*layer.number);
        const auto add = [&](Item item, Tensor<float> array) {
            layer.arrays.push_back({std::string(name_of(item)), std::move(array)});
        };
        for (const auto& [item, state] : {std::pair(Item::embeddings, number), {Item::hidden_states, number + 1}}) {
            if (result.show.contains(item)) {
                add(item, states.at(state));
            }
        }
        if (result.show.contains(Item::pooled)) {
            add(Item::pooled, pooled(states.at(number + 1), result.model->pool.value()));
        }
        sort_arrays(layer.arrays);
    }
}

// ---- the whole model -------------------------------------------------------------------------------------------------

/// The places where a word is missing: every mask, or of a causal model the end.
std::vector<Index> open_places(const Result& result, const Trained& trained)
{
    if (trained.model.architecture().causal) {
        return {std::ssize(result.tokens) - 1};
    }
    std::vector<Index> places;
    for (const char* mask : {"[MASK]", "<mask>"}) {
        const std::optional<Index> id = trained.tokenizer ? trained.tokenizer->id_of(mask) : std::nullopt;
        for (Index i = 0; id && i < std::ssize(result.token_ids); ++i) {
            if (result.token_ids[static_cast<std::size_t>(i)] == *id) {
                places.push_back(i);
            }
        }
    }
    return places;
}

/// And the likeliest words where the sentence leaves one open.
void add_logits(Result& result, const Trained& trained, Tensor<float> logits)
{
    for (const Index place : open_places(result, trained)) {
        result.guesses.push_back(guesses_at(place, logits, result, trained));
    }
    if (const Index last = std::ssize(trained.model.architecture().layers) - 1; result.layers.back().number != last) {
        result.warnings.push_back(fmt::format("logits are those behind the last layer, {}, which is not shown", last));
    }
    const std::vector<Index>& rows = result.query_positions;
    result.logits = rows.empty() ? std::move(logits) : with_rows(logits, info_of(Item::logits), rows);
    if (result.guesses.empty()) {
        result.warnings.emplace_back(
            "no likeliest word: the sentence has no [MASK]; the logits themselves are in JSON, CSV and "
            "tensor files");
    }
}

/// A run beside others: its result grows layer by layer.
class Running {
public:
    explicit Running(const ResolvedTrained& run) : run_(run), result_(words_and_rows(run)), maker_(result_, run)
    {
        if (run.input.types.size() < run.tokens.piece_types.size()) {
            result_.warnings.emplace_back("the template of the tokenizer gives token types, which this model has no table for; "
                                          "they change nothing");
        }
        const std::optional<Index>& most = run.config.target_greedy;
        const Index positions = run.trained.model.architecture().most_tokens, T = std::ssize(run.tokens.ids);
        if (most && T == positions && T <= *most) {
            result_.warnings.push_back(
                fmt::format("{} {}: the decoder wrote {} and has positions for no more, {} with its start",
                            option::target_greedy, *most, counted(T - 1, "token"), positions));
        }
    }

    void take(transformer::LayerStages&& stages)
    {
        if (result_.layers.empty()) {
            result_.portable_because = stages.stages.portable_because;
        }
        result_.layers.push_back(maker_.of(std::move(stages)));
    }

    [[nodiscard]] Result finished(const transformer::Outputs& encoder, transformer::Outputs&& outputs)
    {
        const transformer::Asked& asked = run_.asked;
        for (const ResolvedPart& each : asked.layers.empty() ? run_.parts : std::vector<ResolvedPart>()) { // nothing is shown
            for (const Index layer : each.layers) {
                transformer::LayerStages nothing;
                nothing.layer = layer;
                nothing.part = each.part;
                result_.layers.push_back(maker_.of(std::move(nothing)));
            }
        }
        std::ranges::stable_sort(result_.layers, {}, &Layer::part);
        if (asked.hidden_states) {
            if (run_.asked_of_encoder.hidden_states) {
                add_hidden_states(result_, encoder.hidden_states, true);
            }
            add_hidden_states(result_, outputs.hidden_states, asked.parts == std::vector<Part>{Part::encoder});
        }
        if (asked.logits != transformer::Logits::none) {
            add_logits(result_, run_.trained, std::move(outputs.logits));
        }
        return std::move(result_);
    }

private:
    static Result words_and_rows(const ResolvedTrained& run)
    {
        Result result;
        result.model = run.config;
        result.untrained = run.trained.drawn;
        result.layers.clear();
        result.show = run.show;
        result.tokens = run.tokens.words;
        result.token_ids = run.config.join == Join::words ? std::vector<Index>() : run.tokens.ids;
        result.token_types = run.tokens.types;
        result.offsets = run.tokens.offsets;
        result.cross = run.source && (run.config.has(Part::cross) || run.config.has(Part::encoder));
        if (result.cross) {
            result.key_tokens = run.source->words;
            result.key_token_ids = run.config.join == Join::words ? std::vector<Index>() : run.source->ids;
        }
        result.query_positions = run.query_positions;
        return result;
    }

    const ResolvedTrained& run_;
    Result result_;
    LayerMaker maker_;
};

core::Work work_of(const ResolvedTrained& run)
{
    const RunSettings& settings = run.settings;
    core::Work work{.threads = settings.threads, .isa = settings.isa};
    if (settings.observer) {
        work.progress = [&run, told = -1.0](double share) mutable {
            if (share > told) { // each part of a layer begins where it does
                const transformer::Architecture& stack = *run.parts.back().stack;
                run.settings.observer({"layers", {std::ssize(stack.layers), std::ssize(run.tokens.ids), stack.D}, share});
            }
            told = std::max(told, share);
        };
    }
    return work;
}

} // namespace

Result run_trained(const TrainedConfig& config, const Trained& trained, const RunSettings& settings)
{
    return run_trained(ResolvedTrained(config, trained, settings));
}

Result run_trained(const ResolvedTrained& run)
{
    return std::move(run_trained(std::span(&run, 1)).front());
}

std::vector<Result> run_trained(std::span<const ResolvedTrained> runs)
{
    const ResolvedTrained& first = runs.front();
    const transformer::Model& model = first.trained.model;
    std::deque<Running> running(runs.begin(), runs.end());
    const auto take = [&](transformer::LayerStages&& stages) { running[stages.sentence].take(std::move(stages)); };
    std::vector<transformer::Outputs> encoders(runs.size());
    if (first.source) {
        std::vector<transformer::TokenInput> sources;
        for (const ResolvedTrained& run : runs) {
            sources.push_back({.ids = run.source->ids});
            transformer::require_rows(*model.architecture().encoder, sources.back(), run.asked_of_encoder, ErrorKind::data);
        }
        const core::Work work{.threads = first.settings.threads, .isa = first.settings.isa};
        encoders = transformer::forward(model, sources, first.asked_of_encoder, work, take);
    }
    std::vector<transformer::TokenInput> inputs;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        inputs.push_back(runs[i].input);
        inputs.back().encoded = first.source ? &encoders[i].last : nullptr;
    }
    std::vector<transformer::Outputs> outputs = transformer::forward(model, inputs, first.asked, work_of(first), take);
    std::vector<Result> results;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        results.push_back(running[i].finished(encoders[i], std::move(outputs[i])));
    }
    return results;
}

} // namespace attn::model
