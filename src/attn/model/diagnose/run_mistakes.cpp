#include "attn/model/diagnose/run_mistakes.hpp"

#include "attn/core/positions.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace attn::model::diagnose {
namespace {

using Changed = std::optional<Recipe>;

constexpr std::array projections{Target::W_q, Target::W_k, Target::W_v};
constexpr std::array biases{Target::b_q, Target::b_k, Target::b_v};

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

/// Changes every draw of these targets; nothing where none changed.
template <typename Change>
Changed with_draws(const Recipe& right, std::span<const Target> targets, Change change)
{
    Recipe recipe = right;
    bool changed = false;
    for (Step& step : recipe.draws) {
        auto* draw = std::get_if<Draw>(&step);
        if (draw != nullptr && !draw->values && std::ranges::find(targets, draw->target) != targets.end()) {
            const Draw before = *draw;
            change(*draw);
            changed = changed || *draw != before;
        }
    }
    return changed ? Changed(std::move(recipe)) : std::nullopt;
}

Target target_called(std::string_view name)
{
    return static_cast<Target>(std::ranges::find(target_names, name) - target_names.begin());
}

Draw literal(Target target, const AnyTensor& tensor, std::optional<Side> side = {})
{
    const auto doubles = [](const auto& numbers) {
        return Literal{numbers.shape, std::vector<double>(numbers.values.begin(), numbers.values.end())};
    };
    Draw draw{.target = target};
    draw.side = side;
    draw.values = std::visit(doubles, tensor);
    return draw;
}

bool has_sinusoids(const Recipe& recipe)
{
    return recipe.attention.positions && recipe.attention.positions->kind == PositionKind::sinusoidal;
}

/// The same run with its embeddings, which have their positions, and its parameters as numbers, so that one of them can change
/// alone.
Changed stated(const Made& right)
{
    Recipe recipe = right.recipe;
    if (recipe.attention.dropout && !recipe.attention.dropout->seed) { // which goes on with the stream of the draws
        return std::nullopt;
    }
    recipe.draws.clear();
    recipe.parameters.reset();
    recipe.embeddings.reset();
    if (has_sinusoids(recipe)) {
        recipe.attention.positions.reset();
    }
    recipe.draws.emplace_back(literal(Target::embeddings, *right.result.find(Item::embeddings)));
    if (const AnyTensor* keys = right.result.find(Item::key_embeddings)) {
        recipe.draws.emplace_back(literal(Target::key_embeddings, *keys));
    }
    for (const Array& parameter : right.result.parameters) {
        const Target target = target_called(parameter.name);
        const bool matrix = target >= Target::W_q && target <= Target::U_a;
        if (target != Target::embedding) {
            recipe.draws.emplace_back(literal(target, parameter.tensor, matrix ? std::optional(parameter.side) : std::nullopt));
        }
    }
    return recipe;
}

/// `stated`, with the draw of one target replaced.
Changed stated_with(const Made& right, Target target, const Draw& draw)
{
    Changed recipe = stated(right);
    const std::optional<std::size_t> place = recipe ? place_of(*recipe, target) : std::nullopt;
    if (!place || recipe->draws[*place] == Step(draw)) {
        return std::nullopt;
    }
    recipe->draws[*place] = draw;
    return recipe;
}

// ---- words -----------------------------------------------------------------------------------------------------------------

/// Other ids for the same words, of one sentence or list.
Changed with_ids(const Made& right, std::vector<Index> ids)
{
    const auto* sentence = std::get_if<SentenceInput>(&right.recipe.input);
    const auto* list = std::get_if<IdsInput>(&right.recipe.input);
    const bool one = sentence != nullptr ? !sentence->cross && sentence->batch.empty() : list != nullptr && !list->batch;
    if (!one || right.recipe.embeddings || ids == right.result.token_ids) {
        return std::nullopt;
    }
    Recipe recipe = right.recipe;
    const auto words = static_cast<Index>(right.result.vocabulary ? right.result.vocabulary->size() : 0);
    const Index largest = *std::ranges::max_element(ids);
    recipe.dims.vocab_size = std::max(recipe.dims.vocab_size.value_or(words), largest + 1);
    recipe.input = IdsInput{std::move(ids), right.result.tokens};
    return recipe;
}

Changed in_order_of_appearance(const Made& right, Index /*number*/)
{
    std::vector<Index> seen;
    std::vector<Index> ids;
    for (const Index id : right.result.token_ids) {
        const auto found = std::ranges::find(seen, id);
        ids.push_back(found - seen.begin());
        if (found == seen.end()) {
            seen.push_back(id);
        }
    }
    return with_ids(right, std::move(ids));
}

Changed one_id_more(const Made& right, Index /*number*/)
{
    std::vector<Index> ids = right.result.token_ids;
    std::ranges::for_each(ids, [](Index& id) { ++id; });
    return with_ids(right, std::move(ids));
}

Changed other_case(const Made& right, Index /*number*/)
{
    Recipe recipe = right.recipe;
    auto* sentence = std::get_if<SentenceInput>(&recipe.input);
    if (sentence == nullptr) {
        return std::nullopt;
    }
    sentence->casefold = !sentence->casefold;
    return recipe;
}

// ---- draws -----------------------------------------------------------------------------------------------------------------

Changed other_seed(const Made& right, Index number)
{
    Recipe recipe = right.recipe;
    bool changed = false;
    for (Step& step : recipe.draws) {
        if (auto* seed = std::get_if<Seed>(&step)) {
            changed = changed || seed->value != static_cast<std::uint64_t>(number);
            seed->value = static_cast<std::uint64_t>(number);
        }
    }
    return changed ? Changed(std::move(recipe)) : std::nullopt;
}

Changed seeded_once(const Made& right, Index /*number*/)
{
    Recipe recipe = right.recipe;
    const auto is_seed = [](const Step& step) { return std::holds_alternative<Seed>(step); };
    const auto first = std::ranges::find_if(recipe.draws, is_seed);
    const auto removed = first == recipe.draws.end() ? first : std::remove_if(first + 1, recipe.draws.end(), is_seed);
    if (removed == recipe.draws.end()) {
        return std::nullopt;
    }
    recipe.draws.erase(removed, recipe.draws.end());
    return recipe;
}

/// Behind the embeddings, before everything else.
Changed seeded_again(const Made& right, Index /*number*/)
{
    const std::vector<Step>& steps = right.recipe.draws;
    const std::optional<std::size_t> place = place_of_embeddings(right.recipe);
    const auto* seed = steps.empty() ? nullptr : std::get_if<Seed>(&steps.front());
    if (!place || seed == nullptr || *place + 1 == steps.size() || std::holds_alternative<Seed>(steps[*place + 1])) {
        return std::nullopt;
    }
    Recipe recipe = right.recipe;
    recipe.draws.insert(recipe.draws.begin() + static_cast<std::ptrdiff_t>(*place) + 1, *seed);
    return recipe;
}

/// Before every draw.
Changed seeded_each_time(const Made& right, Index /*number*/)
{
    Recipe recipe = right.recipe;
    std::optional<Seed> seed;
    recipe.draws.clear();
    for (const Step& step : right.recipe.draws) {
        if (const auto* given = std::get_if<Seed>(&step)) {
            seed = *given;
        } else if (seed) {
            recipe.draws.insert(recipe.draws.end(), {*seed, step});
        } else {
            recipe.draws.push_back(step);
        }
    }
    return recipe.draws == right.recipe.draws ? std::nullopt : Changed(std::move(recipe));
}

constexpr std::array<std::array<std::size_t, 3>, 6> orders{{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}};

/// W_q, W_k and W_v in order `number`, each with the bias that is drawn right behind it.
Changed in_other_order(const Made& right, Index number)
{
    const std::vector<Step>& steps = right.recipe.draws;
    std::array<std::size_t, 3> begin{};
    std::array<std::size_t, 3> end{};
    for (std::size_t m = 0; m < projections.size(); ++m) {
        const std::optional<std::size_t> place = place_of(right.recipe, projections[m]);
        if (!place) {
            return std::nullopt;
        }
        begin[m] = *place;
        const auto* next = *place + 1 < steps.size() ? std::get_if<Draw>(&steps[*place + 1]) : nullptr;
        end[m] = *place + (next != nullptr && next->target == biases[m] ? 2 : 1);
    }
    std::array<std::size_t, 3> now{0, 1, 2};
    std::ranges::sort(now, {}, [&](std::size_t m) { return begin[m]; });
    const std::array<std::size_t, 3>& wanted = orders[static_cast<std::size_t>(number)];
    if (now == wanted) {
        return std::nullopt;
    }
    Recipe recipe = right.recipe;
    recipe.draws.clear();
    for (std::size_t at = 0, next = 0; at < steps.size();) {
        const auto here = std::ranges::find(begin, at);
        if (here == begin.end()) {
            recipe.draws.push_back(steps[at++]);
            continue;
        }
        const std::size_t m = wanted[next++];
        for (std::size_t from = begin[m]; from < end[m]; ++from) {
            recipe.draws.push_back(steps[from]);
        }
        at = end[static_cast<std::size_t>(here - begin.begin())];
    }
    return recipe;
}

/// The embedding behind everything else, or before it where it is last.
Changed embedding_elsewhere(const Made& right, Index /*number*/)
{
    const auto is_draw = [](const Step& step) { return std::holds_alternative<Draw>(step); };
    const std::optional<std::size_t> place = place_of_embeddings(right.recipe);
    if (!place) {
        return std::nullopt;
    }
    Recipe recipe = right.recipe;
    const Step embedding = recipe.draws[*place];
    recipe.draws.erase(recipe.draws.begin() + static_cast<std::ptrdiff_t>(*place));
    const bool last = *place == recipe.draws.size();
    recipe.draws.insert(last ? std::ranges::find_if(recipe.draws, is_draw) : recipe.draws.end(), embedding);
    return recipe.draws == right.recipe.draws ? std::nullopt : Changed(std::move(recipe));
}

void draw_otherwise(Draw& draw, Initialisation init)
{
    if (draw.init != init) {
        draw = {
            .target = draw.target, .init = init, .side = draw.side, .shape = draw.shape, .take = draw.take, .head = draw.head};
    }
}

Changed projections_otherwise(const Made& right, Index number)
{
    return with_draws(right.recipe, projections,
                      [&](Draw& draw) { draw_otherwise(draw, static_cast<Initialisation>(number)); });
}

Changed embedding_otherwise(const Made& right, Index number)
{
    constexpr std::array tables{Target::embedding, Target::embeddings};
    return with_draws(right.recipe, tables, [&](Draw& draw) { draw_otherwise(draw, static_cast<Initialisation>(number)); });
}

/// nn.Linear draws a bias behind each matrix, unless it has bias=False.
Changed with_biases(const Made& right, Index /*number*/)
{
    Recipe recipe = right.recipe;
    recipe.draws.clear();
    for (const Step& step : right.recipe.draws) {
        recipe.draws.push_back(step);
        const auto* draw = std::get_if<Draw>(&step);
        const auto found = draw == nullptr ? projections.end() : std::ranges::find(projections, draw->target);
        if (found != projections.end() && draw->init == Initialisation::linear) {
            const auto m = static_cast<std::size_t>(found - projections.begin());
            if (find_draw(right.recipe, biases.at(m))) {
                return std::nullopt;
            }
            recipe.draws.emplace_back(Draw{.target = biases.at(m), .init = Initialisation::linear, .head = draw->head});
        }
    }
    return recipe.draws == right.recipe.draws ? std::nullopt : Changed(std::move(recipe));
}

/// Neither drawn nor added.
Changed without_biases(const Made& right, Index /*number*/)
{
    Recipe recipe = right.recipe;
    std::erase_if(recipe.draws, [](const Step& step) {
        const auto* draw = std::get_if<Draw>(&step);
        return draw != nullptr && draw->target >= Target::b_q && draw->target <= Target::b_o;
    });
    return recipe.draws == right.recipe.draws ? std::nullopt : Changed(std::move(recipe));
}

Changed other_generator(const Made& right, Index number)
{
    Recipe recipe = right.recipe;
    recipe.generator = static_cast<Generator>(number);
    return recipe.generator == right.recipe.generator ? std::nullopt : Changed(std::move(recipe));
}

// ---- projections -----------------------------------------------------------------------------------------------------------

/// x·W where W·x is right, drawn in the shape that this has; and the other way round.
Changed other_sides(const Made& right, Index /*number*/)
{
    return with_draws(right.recipe, projections, [](Draw& draw) {
        draw.side = draw.side.value_or(Side::left) == Side::left ? Side::right : Side::left;
        draw.shape.reset();
        draw.take.clear();
    });
}

/// The numbers of these matrices on their other side, where all are square.
Changed transposed(const Made& right, std::span<const Target> targets)
{
    Changed recipe = stated(right);
    for (const Target target : targets) {
        const std::optional<std::size_t> place = recipe ? place_of(*recipe, target) : std::nullopt;
        auto* draw = place ? std::get_if<Draw>(&recipe->draws[*place]) : nullptr;
        if (draw == nullptr || draw->values->shape.size() != 2 || draw->values->shape[0] != draw->values->shape[1]) {
            return std::nullopt;
        }
        draw->side = draw->side == Side::left ? Side::right : Side::left;
    }
    return recipe;
}

Changed output_transposed(const Made& right, Index /*number*/)
{
    constexpr std::array output{Target::W_o};
    return transposed(right, output);
}

/// The heads side by side as they are, where the sizes allow it.
Changed output_missing(const Made& right, Index /*number*/)
{
    Changed recipe = stated_with(right, Target::W_o, {.target = Target::W_o, .init = Initialisation::identity});
    if (recipe) {
        std::erase_if(recipe->draws, [](const Step& step) { return std::get<Draw>(step).target == Target::b_o; });
    }
    return recipe;
}

/// Of drawn ones `other_sides` says so.
Changed projections_transposed(const Made& right, Index /*number*/)
{
    return right.recipe.parameters ? transposed(right, projections) : std::nullopt;
}

/// The words themselves in place of what one matrix makes of them.
Changed projection_missing(const Made& right, Index number)
{
    const Target target = projections.at(static_cast<std::size_t>(number));
    return stated_with(right, target, {.target = target, .init = Initialisation::identity});
}

Changed all_projections_missing(const Made& right, Index /*number*/)
{
    Changed recipe = stated(right);
    for (const Target target : projections) {
        const std::optional<std::size_t> place = recipe ? place_of(*recipe, target) : std::nullopt;
        if (!place) {
            return std::nullopt;
        }
        recipe->draws[*place] = Draw{.target = target, .init = Initialisation::identity};
    }
    return recipe;
}

/// Matrix `number` / 3 of the three has the numbers of matrix `number` % 3.
Changed projection_of_another(const Made& right, Index number)
{
    const Target target = projections.at(static_cast<std::size_t>(number) / 3);
    const Target other = projections.at(static_cast<std::size_t>(number) % 3);
    const auto theirs = std::ranges::find(right.result.parameters, name_of(other), &Array::name);
    return theirs == right.result.parameters.end() ? std::nullopt
                                                   : stated_with(right, target, literal(target, theirs->tensor, theirs->side));
}

// ---- dropout ----------------------------------------------------------------------------------------------------------------

Changed without_dropout(const Made& right, Index /*number*/)
{
    Recipe recipe = right.recipe;
    recipe.attention.dropout.reset();
    return right.recipe.attention.dropout ? Changed(std::move(recipe)) : std::nullopt;
}

// ---- positions -------------------------------------------------------------------------------------------------------------

/// Of ALiBi, which is added to the scores, the mistakes of attention say so.
Changed positions_missing(const Made& right, Index /*number*/)
{
    Recipe recipe = right.recipe;
    const std::optional<Positions>& positions = right.recipe.attention.positions;
    recipe.attention.positions.reset();
    return positions && positions->kind != PositionKind::alibi ? Changed(std::move(recipe)) : std::nullopt;
}

Changed sinusoids_added(const Made& right, Index /*number*/)
{
    Recipe recipe = right.recipe;
    recipe.attention.positions = Positions{};
    return right.recipe.attention.positions ? std::nullopt : Changed(std::move(recipe));
}

Positions* as_rope(Recipe& recipe)
{
    std::optional<Positions>& positions = recipe.attention.positions;
    return positions && positions->kind == PositionKind::rope ? &*positions : nullptr;
}

Changed other_rope_style(const Made& right, Index /*number*/)
{
    Recipe recipe = right.recipe;
    Positions* positions = as_rope(recipe);
    if (positions == nullptr) {
        return std::nullopt;
    }
    core::RopeStyle& style = positions->rope.style;
    style = style == core::RopeStyle::half ? core::RopeStyle::interleaved : core::RopeStyle::half;
    return recipe;
}

Changed other_rope_base(const Made& right, Index number)
{
    Recipe recipe = right.recipe;
    Positions* positions = as_rope(recipe);
    if (positions == nullptr || positions->rope.base == static_cast<double>(number)) {
        return std::nullopt;
    }
    positions->rope.base = static_cast<double>(number);
    return recipe;
}

/// All of d_k where a part is right.
Changed whole_rope(const Made& right, Index /*number*/)
{
    Recipe recipe = right.recipe;
    Positions* positions = as_rope(recipe);
    if (positions == nullptr || !positions->rope.dim) {
        return std::nullopt;
    }
    positions->rope.dim.reset();
    return recipe;
}

Changed rope_as_it_is(const Made& right, Index /*number*/)
{
    Recipe recipe = right.recipe;
    return as_rope(recipe) != nullptr ? Changed(std::move(recipe)) : std::nullopt;
}

Changed rope_left_out(const Made& right, Index number)
{
    return rope_as_it_is(right, number) ? positions_missing(right, number) : std::nullopt;
}

/// Turns one array of a result by its positions.
void turn(Result& result, Item item, const core::Rope& rope)
{
    const auto found = std::ranges::find(result.arrays, name_of(item), &Array::name);
    std::visit([&](auto& tensor) { tensor = core::apply_rope(std::move(tensor), rope); }, found->tensor);
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
    whole = core::apply_rope(std::move(whole), rope);
    Tensor<Scalar> split(heads.shape);
    for (Index h = 0; h < H; ++h) {
        split.matrix(h) = whole.matrix().middleCols(h * d, d);
    }
    return split;
}

void turn_before_the_split(Result& result, const Recipe& right)
{
    for (Array& array : result.arrays) {
        if (array.name == name_of(Item::queries) || array.name == name_of(Item::keys)) {
            std::visit([&](auto& tensor) { tensor = turned_whole(tensor, right.attention.positions->rope); }, array.tensor);
        }
    }
}

/// With `change` made to the embeddings of the words.
template <typename Change>
Changed with_embeddings(const Made& right, Change change)
{
    Changed recipe = stated(right);
    if (!recipe || right.result.cross) {
        return std::nullopt;
    }
    Literal& stated_rows = *std::get<Draw>(recipe->draws.front()).values;
    Tensor<double> rows(stated_rows.shape, stated_rows.values);
    const Tensor<double> zeros(rows.shape);
    change(rows, has_sinusoids(right.recipe) ? core::add_sinusoids(zeros) : zeros);
    stated_rows.values = std::move(rows.values);
    return recipe;
}

Changed sinusoids_in_halves(const Made& right, Index /*number*/)
{
    if (!has_sinusoids(right.recipe)) {
        return std::nullopt;
    }
    return with_embeddings(right, [](Tensor<double>& rows, const Tensor<double>& sinusoids) {
        rows.matrix() -= sinusoids.matrix();
        const Index half = (rows.columns() + 1) / 2;
        for (Index x = 0; x < rows.columns(); ++x) {
            rows.matrix().col(x % 2 == 0 ? x / 2 : half + x / 2) += sinusoids.matrix().col(x);
        }
    });
}

Changed sinusoids_swapped(const Made& right, Index /*number*/)
{
    if (!has_sinusoids(right.recipe)) {
        return std::nullopt;
    }
    return with_embeddings(right, [](Tensor<double>& rows, const Tensor<double>& sinusoids) {
        rows.matrix() -= sinusoids.matrix();
        for (Index x = 0; x + 1 < rows.columns(); x += 2) {
            rows.matrix().col(x) += sinusoids.matrix().col(x + 1);
            rows.matrix().col(x + 1) += sinusoids.matrix().col(x);
        }
    });
}

/// As "Attention Is All You Need" has it (section 3.4), before positions are added.
Changed embeddings_scaled(const Made& right, Index /*number*/)
{
    return with_embeddings(right, [](Tensor<double>& rows, const Tensor<double>& sinusoids) {
        const double root = std::sqrt(static_cast<double>(rows.columns()));
        rows.matrix() = (rows.matrix() - sinusoids.matrix()) * root + sinusoids.matrix();
    });
}

// ---- the list --------------------------------------------------------------------------------------------------------------

/// A mistake of the table.
struct Row {
    std::string_view name;
    Group group;
    std::string_view what, advice;
    Changed (*made)(const Made&, Index);
    Index number = 0;
    void (*alter)(Result&, const Recipe&) = nullptr;
};

constexpr Index number_of(Initialisation init)
{
    return static_cast<Index>(init);
}

constexpr std::string_view in_order = "draw in the order of the recipe: every draw moves the stream on";
constexpr std::string_view as_drawn = "draw as the recipe does; attn-cli run --show parameters prints what it draws";
constexpr std::string_view each_its_own = "queries, keys and values have a matrix each: W_q, W_k, W_v";

constexpr std::array list{
    // ---- words
    Row{"ids-by-appearance", Group::words, "ids in the order in which the words appear",
        "sort the words before they are numbered", in_order_of_appearance},
    Row{"ids-one-more", Group::words, "ids that count from 1", "count ids from 0", one_id_more},
    Row{"case", Group::words, "upper and lower case told apart, or not, the other way",
        "sort words as they are written, unless --casefold is given", other_case},

    // ---- draws
    Row{"seed-once", Group::draws, "the generator seeded once", "seed again where the recipe does", seeded_once},
    Row{"seed-again", Group::draws, "the generator seeded again before the matrices",
        "seed once: the draws that follow go on with the stream", seeded_again},
    Row{"seed-each", Group::draws, "the generator seeded before every draw",
        "seed once: the draws that follow go on with the stream", seeded_each_time},
    Row{"draws-q-k-v", Group::draws, "W_q, W_k, W_v drawn in this order", in_order, in_other_order, 0},
    Row{"draws-q-v-k", Group::draws, "W_q, W_v, W_k drawn in this order", in_order, in_other_order, 1},
    Row{"draws-k-q-v", Group::draws, "W_k, W_q, W_v drawn in this order", in_order, in_other_order, 2},
    Row{"draws-k-v-q", Group::draws, "W_k, W_v, W_q drawn in this order", in_order, in_other_order, 3},
    Row{"draws-v-q-k", Group::draws, "W_v, W_q, W_k drawn in this order", in_order, in_other_order, 4},
    Row{"draws-v-k-q", Group::draws, "W_v, W_k, W_q drawn in this order", in_order, in_other_order, 5},
    Row{"draws-embedding", Group::draws, "the embedding drawn at the other end, last or first", in_order, embedding_elsewhere},
    Row{"init-uniform", Group::draws, "matrices of rand", as_drawn, projections_otherwise, number_of(Initialisation::uniform)},
    Row{"init-normal", Group::draws, "matrices of randn", as_drawn, projections_otherwise, number_of(Initialisation::normal)},
    Row{"init-linear", Group::draws, "matrices of nn.Linear", as_drawn, projections_otherwise,
        number_of(Initialisation::linear)},
    Row{"init-xavier", Group::draws, "matrices of xavier_uniform_", as_drawn, projections_otherwise,
        number_of(Initialisation::xavier)},
    Row{"embedding-uniform", Group::draws, "an embedding of rand", as_drawn, embedding_otherwise,
        number_of(Initialisation::uniform)},
    Row{"embedding-normal", Group::draws, "an embedding of randn", as_drawn, embedding_otherwise,
        number_of(Initialisation::normal)},
    Row{"biases", Group::draws, "nn.Linear with its biases", "pass bias=False: a bias is drawn behind each matrix",
        with_biases},
    Row{"biases-missing", Group::draws, "no biases", "draw and add the biases, too", without_biases},
    Row{"generator-torch", Group::draws, "the generator of PyTorch", "draw with the generator of the recipe", other_generator,
        static_cast<Index>(Generator::torch)},
    Row{"generator-numpy", Group::draws, "numpy.random.seed", "draw with the generator of the recipe", other_generator,
        static_cast<Index>(Generator::numpy)},
    Row{"generator-pcg64", Group::draws, "numpy.random.default_rng", "draw with the generator of the recipe", other_generator,
        static_cast<Index>(Generator::numpy_pcg64)},

    // ---- projections
    Row{"side", Group::projections, "matrices on the other side: x·W in place of W·x, or the reverse",
        "a matrix (out, in) goes left, W·x; one of (in, out) right, x·W", other_sides},
    Row{"projections-transposed", Group::projections, "W_q, W_k and W_v transposed",
        "nn.Linear keeps (out, in) and multiplies x·Wᵀ", projections_transposed},
    Row{"output-missing", Group::projections, "no output projection", "multiply the heads, side by side, by W_o",
        output_missing},
    Row{"output-transposed", Group::projections, "W_o transposed", "nn.Linear keeps (out, in) and multiplies x·Wᵀ",
        output_transposed},
    Row{"queries-unprojected", Group::projections, "queries without projection", each_its_own, projection_missing, 0},
    Row{"keys-unprojected", Group::projections, "keys without projection", each_its_own, projection_missing, 1},
    Row{"values-unprojected", Group::projections, "values without projection", each_its_own, projection_missing, 2},
    Row{"unprojected", Group::projections, "queries, keys and values without projection", each_its_own,
        all_projections_missing},
    Row{"queries-of-W_k", Group::projections, "queries made with W_k", each_its_own, projection_of_another, 1},
    Row{"keys-of-W_q", Group::projections, "keys made with W_q", each_its_own, projection_of_another, 3},
    Row{"values-of-W_q", Group::projections, "values made with W_q", each_its_own, projection_of_another, 6},
    Row{"values-of-W_k", Group::projections, "values made with W_k", each_its_own, projection_of_another, 7},
    Row{"embeddings-scaled", Group::projections, "embeddings multiplied by √(embedding size)",
        "look the embeddings up, and leave them as they are", embeddings_scaled},

    // ---- dropout
    Row{"dropout-missing", Group::softmax, "no dropout", "leave the module in its training mode: eval() turns dropout off",
        without_dropout},

    // ---- positions
    Row{"positions-missing", Group::positions, "no positions", "add what --positions says", positions_missing},
    Row{"sinusoids-added", Group::positions, "sinusoids added where no positions are right",
        "leave them out, or pass --positions sinusoidal", sinusoids_added},
    Row{"sinusoids-halves", Group::positions, "all sines first, then all cosines", "sines and cosines take turns",
        sinusoids_in_halves},
    Row{"sinusoids-swapped", Group::positions, "cosines where sines are right, and the reverse",
        "sines come at even places, cosines at odd ones", sinusoids_swapped},
    Row{"rope-style", Group::positions, "rotary positions with the other pairs: interleaved, or by halves",
        "take the pairs that --positions rope:style says", other_rope_style},
    Row{"rope-base-10000", Group::positions, "rotary positions with base 10000", "take the base that --positions says",
        other_rope_base, 10000},
    Row{"rope-base-100000", Group::positions, "rotary positions with base 100000", "take the base that --positions says",
        other_rope_base, 100000},
    Row{"rope-base-500000", Group::positions, "rotary positions with base 500000", "take the base that --positions says",
        other_rope_base, 500000},
    Row{"rope-base-1000000", Group::positions, "rotary positions with base 1000000", "take the base that --positions says",
        other_rope_base, 1000000},
    Row{"rope-whole", Group::positions, "rotary positions on every number", "turn the first numbers alone, as rope:dim says",
        whole_rope},
    Row{"rope-values", Group::positions, "rotary positions on the values, too", "turn queries and keys alone", rope_as_it_is, 0,
        turn_values},
    Row{"rope-queries", Group::positions, "rotary positions on the queries alone", "turn the keys, too", rope_left_out, 0,
        turn_queries},
    Row{"rope-before-split", Group::positions, "rotary positions before the split into heads",
        "split into heads first: each has all the angles", rope_left_out, 0, turn_before_the_split},
};

std::vector<RunMistake> all_seeds()
{
    std::vector<Index> seeds{42, 0, 1, 123, 1234, 1337, 2, 10, 100, 12345, 2023, 2024};
    constexpr Index below = 1000;
    for (Index seed = 0; seed < below; ++seed) {
        if (std::ranges::find(seeds, seed) == seeds.end()) {
            seeds.push_back(seed);
        }
    }
    std::vector<RunMistake> all;
    all.reserve(seeds.size());
    for (const Index seed : seeds) {
        all.push_back({{fmt::format("seed-{}", seed), Group::draws, fmt::format("the seed {}", seed),
                        "seed with the number that --seed or the recipe says"},
                       other_seed,
                       seed});
    }
    return all;
}

std::vector<RunMistake> all_others()
{
    std::vector<RunMistake> all;
    all.reserve(list.size());
    for (const Row& row : list) {
        all.push_back({{std::string(row.name), row.group, std::string(row.what), row.advice}, row.made, row.number, row.alter});
    }
    return all;
}

} // namespace

std::span<const RunMistake> run_mistakes()
{
    static const std::vector<RunMistake> all = all_others();
    return all;
}

std::span<const RunMistake> seeds()
{
    static const std::vector<RunMistake> all = all_seeds();
    return all;
}

} // namespace attn::model::diagnose
