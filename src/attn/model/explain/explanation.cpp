#include "attn/model/explain/explanation.hpp"

#include "attn/core/positions.hpp"
#include "attn/core/stages.hpp"
#include "attn/core/visibility.hpp"
#include "attn/math/elementary.hpp"
#include "attn/model/layer/extra_key.hpp"
#include "attn/model/layer/hidden_words.hpp"
#include "attn/model/layer/mask.hpp"
#include "attn/model/layer/matrix_sides.hpp"
#include "attn/model/layer/parameter_cache.hpp"
#include "attn/model/recipe/option_names.hpp"
#include "attn/model/run/heads.hpp"
#include "attn/model/run/resolved_run.hpp"
#include "attn/tensor/error.hpp"
#include "attn/tensor/shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace attn::model {
namespace {

const AnyTensor& array(const Layer& layer, Item item)
{
    const AnyTensor* found = layer.find(item);
    if (found == nullptr) {
        throw Error(ErrorKind::internal, "explanation", fmt::format("a result without {}", name_of(item)), "one of run_for()");
    }
    return *found;
}

/// Row `row` of the `matrix`-th matrix of a tensor.
std::vector<double> row_of(const AnyTensor& tensor, Index matrix, Index row)
{
    return std::visit(
        [&](const auto& t) {
            const auto numbers = t.matrix(matrix).row(row);
            return std::vector<double>(numbers.begin(), numbers.end());
        },
        tensor);
}

std::vector<double> row_of(const Layer& layer, Item item, Index matrix, Index row)
{
    return row_of(array(layer, item), matrix, row);
}

std::optional<Index> key_position(const std::optional<std::string>& key, const std::vector<std::string>& words, bool casefold,
                                  const std::string& of)
{
    if (!key) {
        return std::nullopt;
    }
    const Lookup lookup{.name = std::string(option::key), .casefold = casefold, .of = of};
    return only_place(places_of(*key, words, lookup), *key, words, lookup);
}

/// Reads one row of attention out of a layer.
class QueryRow {
public:
    QueryRow(const Result& result, const Layer& layer, const Question& question, const RunSettings& settings)
        : result_(result), layer_(layer), attention_(layer.config.attention), position_(question.position),
          head_(question.head), kv_head_(head_ / (heads() / kv_heads())), swapped_(attention_.order == ScoreOrder::key_query),
          T_(std::ssize(result.tokens)), S_(std::ssize(result.key_words())),
          whole_mask_(layer.config, attention_.mask || layer.number ? settings.mask : std::nullopt, {heads(), T_, S_},
                      result.key_words())
    {
        const auto chosen = std::ranges::find(result.query_positions, position_);
        row_ = result.query_positions.empty() ? position_ : chosen - result.query_positions.begin();
    }

    [[nodiscard]] Index heads() const { return shape_of(array(layer_, Item::queries)).front(); }
    [[nodiscard]] Index kv_heads() const { return shape_of(array(layer_, Item::keys)).front(); }
    [[nodiscard]] Index kv_head() const { return kv_head_; }

    /// q, or the word's key where scores are K·Qᵀ.
    [[nodiscard]] std::vector<double> query() const
    {
        return swapped_ ? row_of(layer_, Item::keys, kv_head_, position_) : stage(Item::queries);
    }
    /// This word's row of an array (H, T, …).
    [[nodiscard]] std::vector<double> stage(Item item) const { return row_of(layer_, item, head_, row_); }
    /// This word's row of an array (T, …).
    [[nodiscard]] std::vector<double> joined(Item item) const { return row_of(layer_, item, 0, row_); }

    /// Of every key the values of the result and the terms of the products.
    [[nodiscard]] std::vector<ExplainedKey> keys() const
    {
        const std::vector<double> scores = stage(Item::scores);
        const std::vector<double> scaled = stage(Item::scaled_scores);
        const std::vector<double> capped = optional_stage(Item::capped_scores);
        const std::vector<double> masked = optional_stage(Item::masked_scores);
        const std::vector<double> weights = stage(Item::weights);
        const std::vector<double> dropped = optional_stage(Item::dropped_weights);
        const Seen seen = masked.empty() ? Seen{} : ask_core();
        std::vector<ExplainedKey> keys(scores.size());
        for (std::size_t j = 0; j < keys.size(); ++j) {
            ExplainedKey& key = keys[j];
            const auto place = static_cast<Index>(j);
            key.word = result_.words_of_keys()[j];
            key.key = row_of(layer_, swapped_ ? Item::queries : Item::keys, swapped_ ? head_ : kv_head_, place);
            key.value = row_of(layer_, Item::values, kv_head_, place);
            key.score = scores[j];
            key.scaled = scaled[j];
            key.weight = weights[j];
            if (!dropped.empty()) {
                key.dropped = dropped[j];
            }
            if (!capped.empty()) {
                key.capped = capped[j];
            }
            if (!masked.empty()) {
                key.masked = masked[j];
                key.mask = seen.by_mask.added(place);
                key.distance = seen.by_distance.added(place);
                key.hidden = seen.hidden(place);
            }
            for (const double v : key.value) { // a key without weight contributes nothing, whatever its value holds
                key.weighted_value.push_back(key.last_weight() == 0 ? 0 : after_step(layer_.config, key.last_weight() * v));
            }
        }
        return keys;
    }

private:
    [[nodiscard]] std::vector<double> optional_stage(Item item) const
    {
        return layer_.find(item) == nullptr ? std::vector<double>() : stage(item);
    }

    /// What core says of this word by each alone.
    struct Seen {
        core::Visible by_causal, by_window, by_mask, by_distance;

        [[nodiscard]] Hidden hidden(Index key) const
        {
            return !by_causal.sees(key)   ? Hidden::causal
                   : !by_window.sees(key) ? Hidden::window
                   : !by_mask.sees(key)   ? Hidden::mask
                                          : Hidden::no;
        }
    };
    [[nodiscard]] Seen ask_core() const
    {
        const Index keys = shape_of(array(layer_, Item::keys))[1];
        core::AttentionInputs sizes = core::without_numbers({.H = heads(), .H_kv = kv_heads(), .T = 1, .S = keys});
        sizes.query_positions = {position_};
        sizes.extra_key = keys > S_;
        core::AttentionInputs masked = sizes;
        if (whole_mask_.view()) {
            masked.mask = core::as_batch(broadcast_mask(*whole_mask_.view(), {heads(), T_, S_}, ShortMask::repeats));
        }
        core::AttentionInputs biased = sizes;
        if (attention_.placed_by(PositionKind::alibi)) {
            biased.slopes = core::alibi_slopes(heads());
        }
        const core::RowPlace place{0, head_, 0};
        return {core::visible(sizes, {.causal = attention_.causal}, place),
                core::visible(sizes, {.window = attention_.window}, place), core::visible(masked, {}, place),
                core::visible(biased, {}, place)};
    }

    const Result& result_;
    const Layer& layer_;
    const Attention& attention_;
    Index position_, head_, kv_head_, row_ = 0;
    bool swapped_;
    Index T_, S_; ///< words
    WholeMask whole_mask_;
};

/// x·W + b in the type of the arithmetic; nothing without W.
template <typename Scalar>
std::vector<double> aligned(const std::vector<double>& x, const Matrix<double>& W, const RowVector<double>& b,
                            core::Rounding rounding)
{
    if (W.size() == 0) {
        return {};
    }
    const Matrix<Scalar> X = Eigen::Map<const Matrix<double>>(x.data(), 1, std::ssize(x)).template cast<Scalar>();
    const Matrix<Scalar> Y = core::project<Scalar>(X, W, b, rounding);
    return {Y.data(), Y.data() + Y.size()};
}

template <typename Scalar>
double length_of(const std::vector<double>& vector, core::Rounding rounding)
{
    return core::length<Scalar>(Eigen::Map<const RowVector<double>>(vector.data(), std::ssize(vector)), rounding);
}

/// As the result holds them.
template <typename Scalar>
core::ScoreParameters score_parameters(const Result& result, Index head, Index heads)
{
    PreparedParameters<Scalar> prepared;
    for (const Target target : score_targets) {
        const AnyTensor* tensor = result.find(name_of(target));
        if (tensor != nullptr) {
            prepared.parameters.push_back({target, side_of(result.config(), target), std::get<Tensor<Scalar>>(*tensor)});
        }
    }
    return score_parameters_of(prepared, head, heads);
}

/// The terms of every score, and what they are made of.
template <typename Scalar>
void add_products(Explanation& e, const Result& result)
{
    const core::Score score = e.config.attention.score;
    const core::Rounding rounding = e.config.rounding;
    const bool additive = score == core::Score::additive;
    const core::ScoreParameters own = score_parameters<Scalar>(result, e.head, e.heads);
    e.v_a.assign(own.v_a.begin(), own.v_a.end());
    e.b_va = own.b_va;
    e.aligned = additive ? aligned<Scalar>(e.query, own.W_a, own.b_Wa, rounding) : std::vector<double>();
    const bool lengths = !core::function_of(score).of_product.empty();
    e.length = lengths ? length_of<Scalar>(e.query, rounding) : 0;
    for (ExplainedKey& key : e.keys) {
        key.aligned = additive ? aligned<Scalar>(key.key, own.U_a, own.b_Ua, rounding)
                               : aligned<Scalar>(key.key, own.W_a, own.b_Wa, rounding);
        key.length = lengths ? length_of<Scalar>(key.key, rounding) : 0;
        for (std::size_t i = 0; i < e.aligned.size(); ++i) {
            const double inner = after_step(e.config, e.aligned[i] + key.aligned[i]);
            key.hidden_layer.push_back(after_step(e.config, math::tanh(inner)));
        }
        for (std::size_t i = 0; i < e.factors().size(); ++i) {
            key.products.push_back(after_step(e.config, e.factors()[i] * key.factors()[i]));
        }
    }
}

/// The exponentials of the last scores, their maximum and sum, as core::softmax makes weights of them.
template <typename Scalar>
void add_exponentials(Explanation& explanation)
{
    RowVector<Scalar> scores(std::ssize(explanation.keys));
    std::ranges::transform(explanation.keys, scores.begin(), [&](const ExplainedKey& key) {
        return static_cast<Scalar>(key.last_score(explanation.config.attention.mask_at));
    });
    const auto made = core::exponentials<Scalar>(scores, {.rounding = explanation.config.rounding});
    explanation.maximum = made.maximum;
    explanation.sum = made.sum;
    for (std::size_t j = 0; j < explanation.keys.size(); ++j) {
        explanation.keys[j].exponential = after_step(explanation.config, made.powers(static_cast<Index>(j)));
    }
}

/// x, and what it is made of; nothing where queries, keys and values are given.
void add_embedding(Explanation& explanation, const Result& result, const Layer& layer)
{
    if (layer.find(Item::embeddings) == nullptr) {
        return;
    }
    const auto place = static_cast<std::size_t>(explanation.position);
    explanation.x = row_of(layer, Item::embeddings, 0, explanation.position);
    const AnyTensor* table = result.find(name_of(Target::embedding));
    if (table == nullptr || result.token_ids.empty()) {
        return;
    }
    explanation.id = result.token_ids[place];
    explanation.id_by_vocabulary = result.vocabulary.has_value();
    explanation.table_rows = shape_of(*table).front();
    const AnyTensor* learned = result.find(name_of(Target::position_embedding));
    explanation.learned = learned != nullptr;
    if (!explanation.learned && !layer.config.attention.placed_by(PositionKind::sinusoidal)) {
        return;
    }
    explanation.embedding = row_of(*table, 0, *explanation.id);
    const Tensor<double> zeros({explanation.position + 1, std::ssize(explanation.x)});
    explanation.added = row_of(explanation.learned ? *learned : core::add_sinusoids(zeros), 0, explanation.position);
}

/// Where the word with the largest weight stands; a key that is a parameter comes behind the words.
Index strongest_word(const Explanation& explanation)
{
    const std::vector<std::string>& words = explanation.cross ? explanation.key_tokens : explanation.tokens;
    const auto end = explanation.keys.begin() + std::ssize(words);
    return std::ranges::max_element(explanation.keys.begin(), end, {}, &ExplainedKey::weight) - explanation.keys.begin();
}

/// One number of each vector that is made of words, and of the output.
void add_projections(Explanation& explanation, const Result& result, Index component, const LayerTerms* terms)
{
    const Index S = std::ssize(explanation.cross ? explanation.key_tokens : explanation.tokens);
    const Index key = explanation.key.value_or(strongest_word(explanation));
    const Target own = explanation.swapped ? Target::W_k : Target::W_q;
    const Target other = explanation.swapped ? Target::W_q : Target::W_k;
    const auto add = [&](Target W, Index position) {
        const Index head = W == Target::W_q ? explanation.head : W == Target::W_o ? 0 : explanation.kv_head;
        const Component one{W, position, head, component};
        if (auto made =
                terms != nullptr ? terms->projected(one, explanation.joined) : projected(result, one, explanation.joined)) {
            explanation.projections.push_back(std::move(*made));
        }
    };
    explanation.component = component;
    if (!explanation.given()) {
        add(own, explanation.position);
    }
    if (!explanation.given() && key < S) {
        add(other, key);
        add(Target::W_v, key);
    }
    if (!explanation.output.empty()) {
        add(Target::W_o, explanation.position);
    }
}

void require_component(Index component, const Explainable& there)
{
    const Index longest = std::max({there.d_k, there.d_v, there.outputs});
    if (component < 0 || component >= longest) {
        throw Error(ErrorKind::usage, option::component, std::to_string(component),
                    fmt::format("0 to {}; the longest of query, value and output has {} numbers", longest - 1, longest));
    }
}

/// How many numbers of a word W_k or W_v reads.
Index width_read(const Result& result, const Layer& layer, Target W, Item made)
{
    if (layer.number) {
        return shape_of(array(layer, Item::embeddings)).back();
    }
    const Shape& shape = shape_of(array(layer, made));
    return element_count(shape_of(*result.find(name_of(W)))) / (shape.front() * shape.back());
}

void require_room(const std::string& word, const Explainable& there, Index limit)
{
    constexpr const char* what = "memory for the terms";
    const Index keys = std::ssize(there.keys);
    const Index numbers = checked_product(2, checked_sum(std::max(there.d_k, there.hidden), there.d_v, what), what);
    const Index bytes = checked_product(keys, numbers * static_cast<Index>(sizeof(double)), what);
    if (bytes > limit) {
        throw Error(ErrorKind::too_large, "the terms of " + in_quotes(word),
                    fmt::format("{} keys, which need {} bytes", keys, bytes), fmt::format("the {} bytes that are free", limit));
    }
}

Explainable explainable(const ResolvedRun& run)
{
    const ModelDims& dims = run.dims;
    Explainable there{.tokens = run.words.tokens,
                      .keys = run.words.cross ? run.words.key_tokens : run.words.tokens,
                      .heads = dims.H,
                      .d_k = std::max(dims.d_k, dims.of_a_key()),
                      .d_v = dims.d_v,
                      .heads_field = &field::heads,
                      .hidden = run.recipe.attention.score == core::Score::additive ? dims.H * dims.d_a : 0,
                      .outputs = has_output_projection(run.recipe) ? dims.outputs() : 0,
                      .casefold = folds_case(run.recipe),
                      .of_keys = name_of_words(run.recipe, true)};
    if (run.has_extra_key()) {
        there.keys.emplace_back(extra_key_label);
    }
    return there;
}

} // namespace

double after_step(const Recipe& recipe, double number)
{
    const bool rounds = recipe.rounding == core::Rounding::step && recipe.dtype == Dtype::float32;
    return rounds ? static_cast<double>(static_cast<float>(number)) : number;
}

Index one_position(const std::vector<Index>& places, const std::vector<std::string>& typed,
                   const std::vector<std::string>& words, const Origin& origin)
{
    std::string query;
    for (const std::string& part : typed) {
        query.append(query.empty() ? "" : ",").append(part);
    }
    return only_place(places, query, words, lookup_of(field::query, {}, origin));
}

Index query_position(const Recipe& recipe, const Origin& origin)
{
    const Words words = read_words(recipe, origin);
    if (recipe.query.empty()) {
        return 0;
    }
    return one_position(query_positions(recipe, words, origin), recipe.query, words.tokens, origin);
}

void require_explainable(const Question& question, const Explainable& there, const RunSettings& settings)
{
    require_room(there.tokens[static_cast<std::size_t>(question.position)], there, settings.memory_limit);
    static_cast<void>(heads_of({question.head}, there.heads, settings.origin, there.heads_field));
    static_cast<void>(key_position(question.key, there.keys, there.casefold, there.of_keys));
    require_component(question.component, there);
}

Result run_for(const std::vector<Question>& questions, Recipe recipe, RunSettings settings)
{
    recipe.query = {std::to_string(questions.front().position)};
    if (recipe.attention.order == ScoreOrder::key_query) {
        recipe.query.clear(); // the other words' queries are wanted too
    }
    recipe.head.clear(); // each is explained as one of all
    settings.show = everything(recipe);
    ResolvedRun resolved(recipe, settings.show, settings, nullptr);
    const Explainable there = explainable(resolved);
    std::ranges::for_each(questions, [&](const Question& each) { require_explainable(each, there, settings); });
    return run_resolved(std::move(resolved));
}

Explanation explain(const Result& result, const Question& question, const RunSettings& settings, const LayerTerms* terms)
{
    Explanation explanation;
    explanation.tokens = result.tokens;
    const Layer& layer = result.layers[question.layer];
    const Index heads = shape_of(array(layer, Item::queries)).front();
    if (question.head >= heads) {
        throw Error(ErrorKind::internal, "explanation", fmt::format("head {} of {}", question.head, heads),
                    "a judged question");
    }
    explanation.key =
        key_position(question.key, result.words_of_keys(), folds_case(layer.config), name_of_words(layer.config, true));
    explanation.config = layer.config;
    explanation.config.query = {std::to_string(question.position)};
    explanation.warnings = result.warnings;
    explanation.key_tokens = result.key_tokens;
    explanation.cross = result.cross;
    explanation.position = question.position;

    const QueryRow row(result, layer, question, settings);
    explanation.head = question.head;
    explanation.heads = heads;
    explanation.kv_head = row.kv_head();
    explanation.kv_heads = row.kv_heads();
    add_embedding(explanation, result, layer);
    explanation.query = row.query();
    explanation.swapped = layer.config.attention.order == ScoreOrder::key_query;
    if (!explanation.given()) {
        explanation.keys_read = width_read(result, layer, Target::W_k, Item::keys);
        explanation.values_read = width_read(result, layer, Target::W_v, Item::values);
    }
    if (terms != nullptr) {
        explanation.place = terms->place;
        explanation.biases = terms->biases;
    }
    for (const Target bias : {Target::b_q, Target::b_k, Target::b_v, Target::b_o, Target::b_Wa, Target::b_Ua, Target::b_va}) {
        if (result.find(name_of(bias)) != nullptr) {
            explanation.biases.push_back(bias);
        }
    }
    for (const Target W : matrices) {
        const auto found = std::ranges::find(result.parameters, name_of(W), &Array::name);
        if (found != result.parameters.end() && found->side == Side::right) {
            explanation.on_right.push_back(W);
        }
    }

    explanation.scale = layer.config.attention.factor().value_or(1 / std::sqrt(static_cast<double>(explanation.query.size())));
    explanation.keys = row.keys();
    const auto add_terms = [&]<typename Scalar>(Scalar) {
        add_products<Scalar>(explanation, result);
        add_exponentials<Scalar>(explanation);
    };
    explanation.config.dtype == Dtype::float32 ? add_terms(float{}) : add_terms(double{});
    explanation.context = row.stage(Item::head_context);
    explanation.joined = row.joined(Item::context);
    if (layer.find(Item::output) != nullptr) {
        explanation.output = row.joined(Item::output);
    }
    add_projections(explanation, result, question.component, terms);
    return explanation;
}

const Projected* Explanation::projection(Target W) const
{
    const auto found = std::ranges::find(projections, W, &Projected::W);
    return found == projections.end() ? nullptr : &*found;
}

} // namespace attn::model
