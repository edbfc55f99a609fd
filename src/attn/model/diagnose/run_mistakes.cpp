#include "attn/model/diagnose/run_mistakes.hpp"

#include "attn/core/positions.hpp"
#include "attn/model/diagnose/call.hpp"
#include "attn/model/layer/literal.hpp"
#include "attn/model/run/heads.hpp"
#include "attn/model/run/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace attn::model::diagnose {
namespace {

using std::bind_front;

using Changed = std::optional<Recipe>;
using Order = std::array<std::size_t, 3>;

constexpr std::array projections{Target::W_q, Target::W_k, Target::W_v};
constexpr std::array biases{Target::b_q, Target::b_k, Target::b_v};
constexpr std::array output{Target::W_o};
constexpr std::array tables{Target::embedding, Target::embeddings};
constexpr std::array by_word{Target::embeddings, Target::key_embeddings};

// ---- the steps of a recipe -------------------------------------------------------------------------------------------------

/// The place of the one draw of a target, whole.
std::optional<std::size_t> place_of(const Recipe& recipe, Target target)
{
    std::optional<std::size_t> place;
    for (std::size_t at = 0; at < recipe.draws.size(); ++at) {
        const auto* draw = std::get_if<Draw>(&recipe.draws[at]);
        if (draw != nullptr && draw->target == target) {
            if (place || draw->head) {
                return std::nullopt;
            }
            place = at;
        }
    }
    return place;
}

/// Of the table of embeddings, or of embeddings by position.
std::optional<std::size_t> place_of_embeddings(const Recipe& recipe)
{
    const std::optional<std::size_t> table = place_of(recipe, Target::embedding);
    return table ? table : place_of(recipe, Target::embeddings);
}

/// Of some W_q, W_k or W_v, as numbers of the stream.
bool is_drawn_projection(const Step& step)
{
    const auto* draw = std::get_if<Draw>(&step);
    return draw != nullptr && !draw->values && std::ranges::find(projections, draw->target) != projections.end();
}

/// Changes every draw of these targets.
template <typename Change>
Recipe with_draws(Recipe recipe, std::span<const Target> targets, Change change)
{
    for (Step& step : recipe.draws) {
        auto* draw = std::get_if<Draw>(&step);
        if (draw != nullptr && !draw->values && std::ranges::find(targets, draw->target) != targets.end()) {
            change(*draw);
        }
    }
    return recipe;
}

Array& array_of(Result& result, Item item)
{
    return *std::ranges::find(result.front().arrays, name_of(item), &Array::name);
}

/// (T, H·d) as (H, T, d).
template <typename Scalar>
Tensor<Scalar> in_heads(const Tensor<Scalar>& rows, Index H)
{
    const Index d = rows.columns() / H;
    Tensor<Scalar> heads({H, rows.rows(), d});
    for (Index h = 0; h < H; ++h) {
        heads.matrix(h) = rows.matrix().middleCols(h * d, d);
    }
    return heads;
}

Target target_called(std::string_view name)
{
    return static_cast<Target>(std::ranges::find(target_names, name) - target_names.begin());
}

Draw literal(Target target, const AnyTensor& tensor, std::optional<Side> side = {})
{
    Draw draw{.target = target};
    draw.side = side;
    draw.values = Literal{shape_of(tensor), numbers_of(tensor)};
    return draw;
}

/// The same run with its embeddings, which have their positions, and its parameters as numbers, so that one of them can change
/// alone.
Changed stated(Recipe recipe, const Result& right)
{
    if (recipe.attention.dropout && !recipe.attention.dropout->seed) { // which goes on with the stream of the draws
        return std::nullopt;
    }
    recipe.draws.clear();
    recipe.parameters.reset();
    recipe.embeddings.reset();
    if (recipe.attention.placed_by(PositionKind::sinusoidal)) {
        recipe.attention.positions.reset();
    }
    const bool given = right.find(Item::embeddings) == nullptr;
    const auto add = [&](Target target) {
        if (const AnyTensor* rows = right.find(name_of(target))) {
            recipe.draws.emplace_back(literal(target, *rows));
        }
    };
    if (given && recipe.attention.placed_by(PositionKind::rope)) { // the result has them turned
        return std::nullopt;
    }
    std::ranges::for_each(given ? std::span<const Target>(given_targets) : std::span<const Target>(by_word), add);
    for (const Array& parameter : right.parameters) {
        const Target target = target_called(parameter.name);
        const bool matrix = has_side(target);
        if (target != Target::embedding && target != Target::position_embedding) { // the embeddings have them
            recipe.draws.emplace_back(literal(target, parameter.tensor, matrix ? std::optional(parameter.side) : std::nullopt));
        }
    }
    return recipe;
}

/// `stated`, with these draws in place of what there is of their targets.
Changed stated_with(Recipe recipe, const Result& right, std::span<const Draw> draws)
{
    Changed changed = stated(std::move(recipe), right);
    for (const Draw& draw : draws) {
        const std::optional<std::size_t> place = changed ? place_of(*changed, draw.target) : std::nullopt;
        if (!place || changed->draws[*place] == Step(draw)) {
            return std::nullopt;
        }
        changed->draws[*place] = draw;
    }
    return changed;
}

// ---- words -----------------------------------------------------------------------------------------------------------------

/// Other ids for the same words, of one sentence or list.
Changed with_ids(Recipe recipe, const Result& right, std::vector<Index> ids)
{
    const auto* sentence = std::get_if<SentenceInput>(&recipe.input);
    const auto* list = std::get_if<IdsInput>(&recipe.input);
    const bool one = sentence != nullptr ? !sentence->cross && sentence->batch.empty() : list != nullptr && !list->batch;
    if (!one || recipe.embeddings || ids == right.token_ids) {
        return std::nullopt;
    }
    const auto words = static_cast<Index>(right.vocabulary ? right.vocabulary->size() : 0);
    const Index largest = *std::ranges::max_element(ids);
    recipe.dims.vocab_size = std::max(recipe.dims.vocab_size.value_or(words), largest + 1);
    recipe.input = IdsInput{std::move(ids), right.tokens};
    return recipe;
}

Changed in_order_of_appearance(Recipe recipe, const Result& right)
{
    std::vector<Index> seen;
    std::vector<Index> ids;
    for (const Index id : right.token_ids) {
        const auto found = std::ranges::find(seen, id);
        ids.push_back(found - seen.begin());
        if (found == seen.end()) {
            seen.push_back(id);
        }
    }
    return with_ids(std::move(recipe), right, std::move(ids));
}

Changed one_id_more(Recipe recipe, const Result& right)
{
    std::vector<Index> ids = right.token_ids;
    std::ranges::for_each(ids, [](Index& id) { ++id; });
    return with_ids(std::move(recipe), right, std::move(ids));
}

Changed other_case(Recipe recipe, const Result& /*right*/)
{
    if (auto* sentence = std::get_if<SentenceInput>(&recipe.input)) {
        sentence->casefold = !sentence->casefold;
    }
    return recipe;
}

// ---- draws -----------------------------------------------------------------------------------------------------------------

Changed other_seed(std::uint64_t number, Recipe recipe, const Result& /*right*/)
{
    for (Step& step : recipe.draws) {
        if (auto* seed = std::get_if<Seed>(&step)) {
            seed->value = number;
        }
    }
    return recipe;
}

Changed seeded_once(Recipe recipe, const Result& /*right*/)
{
    const auto is_seed = [](const Step& step) { return std::holds_alternative<Seed>(step); };
    const auto first = std::ranges::find_if(recipe.draws, is_seed);
    if (first != recipe.draws.end()) {
        recipe.draws.erase(std::remove_if(first + 1, recipe.draws.end(), is_seed), recipe.draws.end());
    }
    return recipe;
}

/// Behind the embeddings, before everything else.
Changed seeded_again(Recipe recipe, const Result& /*right*/)
{
    std::vector<Step>& steps = recipe.draws;
    const std::optional<std::size_t> place = place_of_embeddings(recipe);
    const auto* seed = steps.empty() ? nullptr : std::get_if<Seed>(&steps.front());
    if (!place || seed == nullptr || *place + 1 == steps.size() || std::holds_alternative<Seed>(steps[*place + 1])) {
        return std::nullopt;
    }
    steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(*place) + 1, Step(*seed));
    return recipe;
}

/// Before every draw.
Changed seeded_each_time(Recipe recipe, const Result& /*right*/)
{
    std::optional<Seed> seed;
    for (const Step& step : std::exchange(recipe.draws, {})) {
        if (const auto* given = std::get_if<Seed>(&step)) {
            seed = *given;
        } else if (seed) {
            recipe.draws.insert(recipe.draws.end(), {*seed, step});
        } else {
            recipe.draws.push_back(step);
        }
    }
    return recipe;
}

/// W_q, W_k and W_v in this order, each with the bias that is drawn right behind it.
Changed in_other_order(Order wanted, Recipe recipe, const Result& /*right*/)
{
    const std::vector<Step> steps = recipe.draws;
    Order begin{};
    Order end{};
    for (std::size_t m = 0; m < projections.size(); ++m) {
        const std::optional<std::size_t> place = place_of(recipe, projections[m]);
        if (!place) {
            return std::nullopt;
        }
        begin[m] = *place;
        const auto* next = *place + 1 < steps.size() ? std::get_if<Draw>(&steps[*place + 1]) : nullptr;
        end[m] = *place + (next != nullptr && next->target == biases[m] ? 2 : 1);
    }
    recipe.draws.clear();
    for (std::size_t at = 0, next = 0; at < steps.size();) {
        const auto here = std::ranges::find(begin, at);
        if (here == begin.end()) {
            recipe.draws.push_back(steps[at++]);
            continue;
        }
        const std::size_t m = wanted.at(next++);
        for (std::size_t from = begin.at(m); from < end.at(m); ++from) {
            recipe.draws.push_back(steps[from]);
        }
        at = end.at(static_cast<std::size_t>(here - begin.begin()));
    }
    return recipe;
}

/// The embedding behind everything else, or before it where it is last.
Changed embedding_elsewhere(Recipe recipe, const Result& /*right*/)
{
    const auto is_draw = [](const Step& step) { return std::holds_alternative<Draw>(step); };
    if (const std::optional<std::size_t> place = place_of_embeddings(recipe)) {
        const Step embedding = recipe.draws[*place];
        recipe.draws.erase(recipe.draws.begin() + static_cast<std::ptrdiff_t>(*place));
        const bool last = *place == recipe.draws.size();
        recipe.draws.insert(last ? std::ranges::find_if(recipe.draws, is_draw) : recipe.draws.end(), embedding);
    }
    return recipe;
}

Changed drawn_as(Initialisation init, std::span<const Target> targets, Recipe recipe, const Result& /*right*/)
{
    return with_draws(std::move(recipe), targets, [&](Draw& draw) {
        if (draw.init != init) {
            draw = {.target = draw.target,
                    .init = init,
                    .side = draw.side,
                    .shape = draw.shape,
                    .take = draw.take,
                    .head = draw.head};
        }
    });
}

/// nn.Linear draws a bias behind each matrix, unless it has bias=False.
Changed with_biases(Recipe recipe, const Result& /*right*/)
{
    const Recipe right = recipe;
    recipe.draws.clear();
    for (const Step& step : right.draws) {
        recipe.draws.push_back(step);
        const auto* draw = std::get_if<Draw>(&step);
        const auto found = draw == nullptr ? projections.end() : std::ranges::find(projections, draw->target);
        if (found != projections.end() && draw->init == Initialisation::linear) {
            const Target bias = biases.at(static_cast<std::size_t>(found - projections.begin()));
            if (find_draw(right, bias)) {
                return std::nullopt;
            }
            recipe.draws.emplace_back(Draw{.target = bias, .init = Initialisation::linear, .head = draw->head});
        }
    }
    return recipe;
}

/// Neither drawn nor added.
Changed without_biases(Recipe recipe, const Result& /*right*/)
{
    std::erase_if(recipe.draws, [](const Step& step) {
        const auto* draw = std::get_if<Draw>(&step);
        return draw != nullptr && draw->target >= Target::b_q && draw->target <= Target::b_o;
    });
    return recipe;
}

Changed other_generator(Generator generator, Recipe recipe, const Result& /*right*/)
{
    recipe.generator = generator;
    return recipe;
}

// ---- projections -----------------------------------------------------------------------------------------------------------

/// x·W where W·x is right, drawn in the shape that this has; and the other way round.
Changed other_sides(Recipe recipe, const Result& /*right*/)
{
    recipe.dims = find_draw(recipe, Target::W_q) ? model::dims_of(recipe) : recipe.dims; // those that the shapes say, too
    return with_draws(std::move(recipe), projections, [](Draw& draw) {
        draw.side = draw.side.value_or(Side::left) == Side::left ? Side::right : Side::left;
        draw.shape.reset();
        draw.take.clear();
    });
}

/// The numbers of these matrices, as they lie in memory, on their other side: the transposed of a matrix that is square, of any
/// other what a reshape makes of it. Not of a stack that heads multiply from the right.
Changed transposed(std::span<const Target> targets, Recipe recipe, const Result& right)
{
    recipe.dims = model::dims_of(recipe); // of heads, too, whose stack becomes one matrix
    Changed changed = stated(std::move(recipe), right);
    for (const Target target : targets) {
        const std::optional<std::size_t> place = changed ? place_of(*changed, target) : std::nullopt;
        auto* draw = place ? std::get_if<Draw>(&changed->draws[*place]) : nullptr;
        if (draw == nullptr || (draw->values->shape.size() > 2 && draw->side == Side::right)) {
            return std::nullopt;
        }
        Shape& shape = draw->values->shape;
        shape = {shape.back(), element_count(shape) / shape.back()};
        draw->side = draw->side == Side::left ? Side::right : Side::left;
    }
    return changed;
}

/// Of drawn ones `other_sides` says so.
Changed projections_transposed(Recipe recipe, const Result& right)
{
    const bool drawn = std::ranges::any_of(recipe.draws, is_drawn_projection);
    return recipe.parameters || !drawn ? transposed(projections, std::move(recipe), right) : std::nullopt;
}

/// What the matrices read in place of what they make of it, where the sizes allow it.
Changed without(std::span<const Target> targets, Recipe recipe, const Result& right)
{
    std::vector<Draw> identities;
    for (const Target target : targets) {
        identities.push_back({.target = target, .init = Initialisation::identity});
    }
    return stated_with(std::move(recipe), right, identities);
}

/// The heads side by side as they are.
Changed output_missing(Recipe recipe, const Result& right)
{
    Changed changed = without(output, std::move(recipe), right);
    if (changed) {
        std::erase_if(changed->draws, [](const Step& step) { return std::get<Draw>(step).target == Target::b_o; });
    }
    return changed;
}

/// One matrix has the numbers of another.
Changed made_with(Target other, Target target, Recipe recipe, const Result& right)
{
    const auto theirs = std::ranges::find(right.parameters, name_of(other), &Array::name);
    if (theirs == right.parameters.end()) {
        return std::nullopt;
    }
    const std::array draws{literal(target, theirs->tensor, theirs->side)};
    return stated_with(std::move(recipe), right, draws);
}

/// nn.MultiheadAttention in the place of the first projection; `heads`: the recipe's when absent, and others in place of one.
Changed by_module(std::optional<Index> heads, bool bias, Recipe recipe, const Result& /*right*/)
{
    const Dims dims = model::dims_of(recipe);
    const Index own = dims.heads.value_or(1);
    const auto first = std::ranges::find_if(recipe.draws, is_drawn_projection);
    if (first == recipe.draws.end() || recipe.generator != Generator::torch || (heads && own != 1)) {
        return std::nullopt;
    }
    *first = Draw{.init = Initialisation::multihead_attention, .bias = bias};
    std::erase_if(recipe.draws, [](const Step& step) {
        const auto* draw = std::get_if<Draw>(&step);
        return draw != nullptr && ((draw->target >= Target::W_q && draw->target <= Target::W_o) ||
                                   (draw->target >= Target::b_q && draw->target <= Target::b_o));
    });
    recipe.dims = {.embed_dim = dims.embed_dim, .heads = heads.value_or(own), .vocab_size = recipe.dims.vocab_size};
    recipe.attention.scale.reset();
    recipe.attention.score = core::Score::scaled_dot;
    return recipe;
}

/// Where the recipe knows no output, the module's stands for the context, and the mean of its heads' weights for those of one.
void as_of_single_layers(Result& result, const Recipe& right)
{
    if (everything(right).contains(Item::output)) {
        return;
    }
    const Index H = model::dims_of(right).heads.value_or(1);
    const auto split = [&](const auto& output) { return AnyTensor(in_heads(output, H)); };
    array_of(result, Item::head_context).tensor = std::visit(split, *result.find(Item::output));
    Array& weights = array_of(result, Item::weights);
    if (shape_of(weights.tensor).front() != H) {
        std::vector<Array> kept{weights};
        keep_heads(kept, {.queries = {mean_of_heads}});
        weights = kept.front();
    }
}

// ---- dropout ----------------------------------------------------------------------------------------------------------------

Changed with_dropout(core::Dropout dropout, Recipe recipe, const Result& /*right*/)
{
    const bool streams = recipe.generator == Generator::torch &&
                         std::ranges::any_of(recipe.draws, [](const Step& step) { return std::holds_alternative<Seed>(step); });
    if (recipe.attention.dropout || !(dropout.seed || streams)) {
        return std::nullopt;
    }
    recipe.attention.dropout = dropout;
    return recipe;
}

/// They are what a script calls its weights then.
void dropped_as_weights(Result& result, const Recipe& /*right*/)
{
    array_of(result, Item::weights).tensor = array_of(result, Item::dropped_weights).tensor;
}

Changed without_dropout(Recipe recipe, const Result& /*right*/)
{
    recipe.attention.dropout.reset();
    return recipe;
}

// ---- positions -------------------------------------------------------------------------------------------------------------

/// Of ALiBi, which is added to the scores, the mistakes of attention say so.
Changed positions_missing(Recipe recipe, const Result& /*right*/)
{
    if (!recipe.attention.placed_by(PositionKind::alibi)) {
        recipe.attention.positions.reset();
    }
    return recipe;
}

Changed sinusoids_added(Recipe recipe, const Result& right)
{
    if (right.find(Item::embeddings) == nullptr) {
        return std::nullopt;
    }
    std::optional<Positions>& positions = recipe.attention.positions;
    positions = positions ? positions : Positions{};
    return recipe;
}

/// With `change` made to its rotary positions.
template <typename Change>
Changed with_rope(Recipe recipe, Change change)
{
    if (recipe.attention.placed_by(PositionKind::rope)) {
        change(recipe.attention.positions->rope);
    }
    return recipe;
}

Changed other_rope_style(Recipe recipe, const Result& /*right*/)
{
    return with_rope(std::move(recipe), [](core::Rope& rope) {
        rope.style = rope.style == core::RopeStyle::half ? core::RopeStyle::interleaved : core::RopeStyle::half;
    });
}

Changed other_rope_base(double base, Recipe recipe, const Result& /*right*/)
{
    return with_rope(std::move(recipe), [&](core::Rope& rope) { rope.base = base; });
}

/// All of d_k where a part is right.
Changed whole_rope(Recipe recipe, const Result& /*right*/)
{
    return with_rope(std::move(recipe), [](core::Rope& rope) { rope.dim.reset(); });
}

Changed rope_as_it_is(Recipe recipe, const Result& /*right*/)
{
    return recipe.attention.placed_by(PositionKind::rope) ? Changed(std::move(recipe)) : std::nullopt;
}

Changed rope_left_out(Recipe recipe, const Result& right)
{
    return recipe.attention.placed_by(PositionKind::rope) ? positions_missing(std::move(recipe), right) : std::nullopt;
}

/// Turns one array of a result by its positions.
void turn(Result& result, Item item, const core::Rope& rope)
{
    std::visit([&](auto& tensor) { tensor = core::apply_rope(std::move(tensor), rope); }, array_of(result, item).tensor);
}

void turn_values(Result& result, const Recipe& right)
{
    turn(result, Item::values, right.attention.positions->rope);
}

void turn_queries(Result& result, const Recipe& right)
{
    turn(result, Item::queries, right.attention.positions->rope);
}

/// (H, T, d) as (1, T, H·d), turned, and back.
template <typename Scalar>
Tensor<Scalar> turned_whole(const Tensor<Scalar>& heads, core::Rope rope)
{
    const Index H = heads.shape[0];
    const Index d = heads.columns();
    Tensor<Scalar> whole({1, heads.rows(), H * d});
    for (Index h = 0; h < H; ++h) {
        whole.matrix().middleCols(h * d, d) = heads.matrix(h);
    }
    rope.dim.reset();
    return in_heads(core::apply_rope(std::move(whole), rope), H);
}

void turn_before_the_split(Result& result, const Recipe& right)
{
    for (Array& array : result.front().arrays) {
        if (array.name == name_of(Item::queries) || array.name == name_of(Item::keys)) {
            std::visit([&](auto& tensor) { tensor = turned_whole(tensor, right.attention.positions->rope); }, array.tensor);
        }
    }
}

/// With `change` made to the embeddings of the words.
template <typename Change>
Changed with_embeddings(Recipe recipe, const Result& right, Change change)
{
    const bool sinusoids = recipe.attention.placed_by(PositionKind::sinusoidal);
    Changed changed = stated(std::move(recipe), right);
    if (!changed || right.cross || right.find(Item::embeddings) == nullptr) {
        return std::nullopt;
    }
    Literal& stated_rows = *std::get<Draw>(changed->draws.front()).values;
    Tensor<double> rows(stated_rows.shape, stated_rows.values);
    const Tensor<double> zeros(rows.shape);
    change(rows, sinusoids ? core::add_sinusoids(zeros) : zeros);
    stated_rows.values = std::move(rows.values);
    return changed;
}

Changed sinusoids_in_halves(Recipe recipe, const Result& right)
{
    if (!recipe.attention.placed_by(PositionKind::sinusoidal)) {
        return std::nullopt;
    }
    return with_embeddings(std::move(recipe), right, [](Tensor<double>& rows, const Tensor<double>& sinusoids) {
        rows.matrix() -= sinusoids.matrix();
        const Index half = (rows.columns() + 1) / 2;
        for (Index x = 0; x < rows.columns(); ++x) {
            rows.matrix().col(x % 2 == 0 ? x / 2 : half + x / 2) += sinusoids.matrix().col(x);
        }
    });
}

Changed sinusoids_swapped(Recipe recipe, const Result& right)
{
    if (!recipe.attention.placed_by(PositionKind::sinusoidal)) {
        return std::nullopt;
    }
    return with_embeddings(std::move(recipe), right, [](Tensor<double>& rows, const Tensor<double>& sinusoids) {
        rows.matrix() -= sinusoids.matrix();
        for (Index x = 0; x + 1 < rows.columns(); x += 2) {
            rows.matrix().col(x) += sinusoids.matrix().col(x + 1);
            rows.matrix().col(x + 1) += sinusoids.matrix().col(x);
        }
    });
}

/// As "Attention Is All You Need" has it (section 3.4), before positions are added.
Changed embeddings_scaled(Recipe recipe, const Result& right)
{
    return with_embeddings(std::move(recipe), right, [](Tensor<double>& rows, const Tensor<double>& sinusoids) {
        const double root = std::sqrt(static_cast<double>(rows.columns()));
        rows.matrix() = (rows.matrix() - sinusoids.matrix()) * root + sinusoids.matrix();
    });
}

// ---- the list --------------------------------------------------------------------------------------------------------------

constexpr std::string_view in_order = "draw in the order of the recipe: every draw moves the stream on";
constexpr std::string_view as_drawn = "draw as the recipe does; attn-cli run --show parameters prints what it draws";
constexpr std::string_view in_out =
    "multiply x·W if W is (in, out), x·Wᵀ if it is (out, in), as nn.Linear keeps it; a reshape does not transpose";
constexpr std::string_view evaluating = "leave dropout out: eval() turns that of a module off";
constexpr std::string_view each_its_own = "queries, keys and values have a matrix each: W_q, W_k, W_v";

std::vector<RunMistake> all_seeds()
{
    std::vector<std::uint64_t> seeds{42, 0, 1, 123, 1234, 1337, 2, 10, 100, 12345, 2023, 2024};
    constexpr std::uint64_t below = 1000;
    for (std::uint64_t seed = 0; seed < below; ++seed) {
        if (std::ranges::find(seeds, seed) == seeds.end()) {
            seeds.push_back(seed);
        }
    }
    std::vector<RunMistake> all;
    all.reserve(seeds.size());
    for (const std::uint64_t seed : seeds) {
        all.emplace_back(fmt::format("seed-{}", seed), Group::seeds, fmt::format("the seed {}", seed),
                         "seed with the number that --seed or the recipe says", bind_front(other_seed, seed));
    }
    return all;
}

/// nn.MultiheadAttention and dropout, in the ways in which they are usually called.
std::vector<RunMistake> all_modules()
{
    std::vector<RunMistake> all;
    for (const std::optional<Index> heads : {std::optional<Index>(), std::optional<Index>(2), std::optional<Index>(4)}) {
        for (const bool bias : {true, false}) {
            all.emplace_back("multihead-attention", Group::draws,
                             "nn.MultiheadAttention in place of a linear layer for each matrix",
                             "make W_q, W_k and W_v with nn.Linear: the module draws others, and projects its result once more",
                             bind_front(by_module, heads, bias));
            all.back().finish = as_of_single_layers;
        }
    }
    constexpr std::array<std::optional<std::uint64_t>, 5> usual{std::nullopt, 42, 0, 1, 123};
    for (const double p : {0.1, 0.2, 0.5}) {
        for (const bool mkl : {true, false}) {
            for (const std::optional<std::uint64_t> seed : usual) {
                all.emplace_back(std::string(dropout_on), Group::seeds, "dropout left on", evaluating,
                                 bind_front(with_dropout, core::Dropout{p, seed, mkl}));
                all.back().finish = dropped_as_weights;
            }
        }
    }
    return all;
}

/// Whether they make the same run.
bool same(const Recipe& a, const Recipe& b)
{
    const auto parts = [](const Recipe& recipe) {
        return std::tie(recipe.input, recipe.dims, recipe.generator, recipe.draws, recipe.attention);
    };
    return parts(a) == parts(b);
}

} // namespace

std::optional<Recipe> RunMistake::in(const Recipe& recipe, const Result& right) const
{
    Changed changed = change(recipe, right);
    return changed && alter == nullptr && same(*changed, recipe) ? std::nullopt : changed;
}

std::span<const RunMistake> run_mistakes() // NOLINT(readability-function-size): one table
{
    static const std::vector<RunMistake> all{
        // ---- words
        {"ids-by-appearance", Group::words, "ids in the order in which the words appear",
         "sort the words before they are numbered", in_order_of_appearance},
        {"ids-one-more", Group::words, "ids that count from 1", "count ids from 0", one_id_more},
        {"case", Group::words, "upper and lower case treated the other way",
         "sort words as they are written, unless --casefold is given", other_case},

        // ---- draws
        {"seed-once", Group::draws, "the generator seeded once", "seed again where the recipe does", seeded_once},
        {"seed-again", Group::draws, "the generator seeded again before the matrices",
         "seed once: the draws that follow go on with the stream", seeded_again},
        {"seed-each", Group::draws, "the generator seeded before every draw",
         "seed once: the draws that follow go on with the stream", seeded_each_time},
        {"draws-q-k-v", Group::draws, "W_q, W_k, W_v drawn in this order", in_order,
         bind_front(in_other_order, Order{0, 1, 2})},
        {"draws-q-v-k", Group::draws, "W_q, W_v, W_k drawn in this order", in_order,
         bind_front(in_other_order, Order{0, 2, 1})},
        {"draws-k-q-v", Group::draws, "W_k, W_q, W_v drawn in this order", in_order,
         bind_front(in_other_order, Order{1, 0, 2})},
        {"draws-k-v-q", Group::draws, "W_k, W_v, W_q drawn in this order", in_order,
         bind_front(in_other_order, Order{1, 2, 0})},
        {"draws-v-q-k", Group::draws, "W_v, W_q, W_k drawn in this order", in_order,
         bind_front(in_other_order, Order{2, 0, 1})},
        {"draws-v-k-q", Group::draws, "W_v, W_k, W_q drawn in this order", in_order,
         bind_front(in_other_order, Order{2, 1, 0})},
        {"draws-embedding", Group::draws, "the embedding drawn at the other end, last or first", in_order, embedding_elsewhere},
        {"init-uniform", Group::draws, "matrices of rand", as_drawn,
         bind_front(drawn_as, Initialisation::uniform, projections)},
        {"init-normal", Group::draws, "matrices of randn", as_drawn, bind_front(drawn_as, Initialisation::normal, projections)},
        {"init-linear", Group::draws, "matrices of nn.Linear", as_drawn,
         bind_front(drawn_as, Initialisation::linear, projections)},
        {"init-xavier", Group::draws, "matrices of xavier_uniform_", as_drawn,
         bind_front(drawn_as, Initialisation::xavier, projections)},
        {"embedding-uniform", Group::draws, "an embedding of rand", as_drawn,
         bind_front(drawn_as, Initialisation::uniform, tables)},
        {"embedding-normal", Group::draws, "an embedding of randn", as_drawn,
         bind_front(drawn_as, Initialisation::normal, tables)},
        {"biases", Group::draws, "nn.Linear with its biases", "pass bias=False: a bias is drawn behind each matrix",
         with_biases},
        {"biases-missing", Group::draws, "no biases", "draw and add the biases, too", without_biases},
        {"generator-torch", Group::draws, "the generator of PyTorch", "draw with the generator of the recipe",
         bind_front(other_generator, Generator::torch)},
        {"generator-numpy", Group::draws, "numpy.random.seed", "draw with the generator of the recipe",
         bind_front(other_generator, Generator::numpy)},
        {"generator-pcg64", Group::draws, "numpy.random.default_rng", "draw with the generator of the recipe",
         bind_front(other_generator, Generator::numpy_pcg64)},

        // ---- projections
        {"side", Group::projections, "matrices on the other side: x·W in place of W·x, or the reverse",
         "a matrix (out, in) goes left, W·x; one of (in, out) right, x·W", other_sides},
        {"projections-transposed", Group::projections, "W_q, W_k and W_v transposed", in_out, projections_transposed},
        {"W_q-transposed", Group::projections, "W_q transposed", in_out,
         bind_front(transposed, std::span(projections).subspan(0, 1))},
        {"W_k-transposed", Group::projections, "W_k transposed", in_out,
         bind_front(transposed, std::span(projections).subspan(1, 1))},
        {"W_v-transposed", Group::projections, "W_v transposed", in_out,
         bind_front(transposed, std::span(projections).subspan(2, 1))},
        {"output-missing", Group::projections, "no output projection", "multiply the heads, side by side, by W_o",
         output_missing},
        {"output-transposed", Group::projections, "W_o transposed", in_out, bind_front(transposed, output)},
        {"queries-unprojected", Group::projections, "queries without projection", each_its_own,
         bind_front(without, std::span(projections).subspan(0, 1))},
        {"keys-unprojected", Group::projections, "keys without projection", each_its_own,
         bind_front(without, std::span(projections).subspan(1, 1))},
        {"values-unprojected", Group::projections, "values without projection", each_its_own,
         bind_front(without, std::span(projections).subspan(2, 1))},
        {"unprojected", Group::projections, "queries, keys and values without projection", each_its_own,
         bind_front(without, projections)},
        {"queries-of-W_k", Group::projections, "queries made with W_k", each_its_own,
         bind_front(made_with, Target::W_k, Target::W_q)},
        {"keys-of-W_q", Group::projections, "keys made with W_q", each_its_own,
         bind_front(made_with, Target::W_q, Target::W_k)},
        {"values-of-W_q", Group::projections, "values made with W_q", each_its_own,
         bind_front(made_with, Target::W_q, Target::W_v)},
        {"values-of-W_k", Group::projections, "values made with W_k", each_its_own,
         bind_front(made_with, Target::W_k, Target::W_v)},
        {"embeddings-scaled", Group::projections, "embeddings multiplied by √(embedding size)",
         "look the embeddings up, and leave them as they are", embeddings_scaled},

        // ---- dropout
        {"dropout-missing", Group::softmax, "no dropout", "leave the module in its training mode: eval() turns dropout off",
         without_dropout},

        // ---- positions
        {"positions-missing", Group::positions, "no positions", "add what --positions says", positions_missing},
        {"sinusoids-added", Group::positions, "sinusoids added where no positions are right",
         "leave them out, or pass --positions sinusoidal", sinusoids_added},
        {"sinusoids-halves", Group::positions, "all sines first, then all cosines", "sines and cosines take turns",
         sinusoids_in_halves},
        {"sinusoids-swapped", Group::positions, "cosines where sines are right, and the reverse",
         "sines come at even places, cosines at odd ones", sinusoids_swapped},
        {"rope-style", Group::positions, "rotary positions with the other pairs: interleaved, or by halves",
         "take the pairs that --positions rope:style says", other_rope_style},
        {"rope-base-10000", Group::positions, "rotary positions with base 10000", "take the base that --positions says",
         bind_front(other_rope_base, 1e4)},
        {"rope-base-100000", Group::positions, "rotary positions with base 100000", "take the base that --positions says",
         bind_front(other_rope_base, 1e5)},
        {"rope-base-500000", Group::positions, "rotary positions with base 500000", "take the base that --positions says",
         bind_front(other_rope_base, 5e5)},
        {"rope-base-1000000", Group::positions, "rotary positions with base 1000000", "take the base that --positions says",
         bind_front(other_rope_base, 1e6)},
        {"rope-whole", Group::positions, "rotary positions on every number", "turn the first numbers alone, as rope:dim says",
         whole_rope},
        {"rope-values", Group::positions, "rotary positions on the values, too", "turn queries and keys alone", rope_as_it_is,
         turn_values},
        {"rope-queries", Group::positions, "rotary positions on the queries alone", "turn the keys, too", rope_left_out,
         turn_queries},
        {"rope-before-split", Group::positions, "rotary positions before the split into heads",
         "split into heads first: each has all the angles", rope_left_out, turn_before_the_split},
    };
    return all;
}

std::span<const RunMistake> modules()
{
    static const std::vector<RunMistake> all = all_modules();
    return all;
}

std::span<const RunMistake> seeds()
{
    static const std::vector<RunMistake> all = all_seeds();
    return all;
}

} // namespace attn::model::diagnose
