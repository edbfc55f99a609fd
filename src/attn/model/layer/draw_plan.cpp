#include "attn/model/layer/draw_plan.hpp"

#include "attn/model/layer/batch.hpp"
#include "attn/model/layer/literal.hpp"
#include "attn/model/recipe/option_names.hpp"
#include "attn/model/recipe/overrides.hpp"
#include "attn/model/recipe/recipe_fields.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <map>

namespace attn::model {
namespace {

/// "W_q", or "W_q of head 1"
std::string name_with_head(Target target, std::optional<Index> head)
{
    return head ? fmt::format("{} of head {}", name_of(target), *head) : std::string(name_of(target));
}

/// A draw of this run, and where it stands.
struct PlacedDraw {
    const Draw& draw;
    Shape shape; ///< before `take`
    std::string place;
    const Recipe* recipe = nullptr; ///< whose draw it is; none: it stands for a tensor of a file
    const Origin* typed = nullptr;  ///< with the names of options, where the command line has changed the draw
};

bool is_bias(Target target)
{
    return (target >= Target::b_q && target <= Target::b_o) || target > Target::v_a;
}

Fans fans_of(const PlacedDraw& placed, const ModelDims& dims)
{
    const Target target = placed.draw.target;
    if (target >= Target::W_q && target != Target::bias_k && target != Target::bias_v) {
        const auto [heads, size, reads] = heads_part(target, dims);
        const bool one = placed.draw.head && !is_of_score(target); // those of scores count all heads
        return {reads, is_bias(target) ? 0 : (one ? 1 : heads) * size};
    }
    const Shape& shape = placed.shape;
    if (shape.size() < 2) {
        throw Error(ErrorKind::data, placed.place + ": a draw initialised as linear", "the shape " + to_string(shape),
                    "two dimensions, outputs and inputs, unless it is of a layer, such as b_q");
    }
    return {shape.back(), shape[shape.size() - 2]};
}

/// Those of nn.init for the tensor that is drawn, whose second dimension counts what an output reads. A projection without a
/// shape of its own is one matrix of all heads.
Fans fans_of_tensor(const PlacedDraw& placed, const ModelDims& dims)
{
    const Draw& draw = placed.draw;
    const bool of_layer = has_side(draw.target) || draw.target == Target::v_a;
    if (!draw.shape && of_layer) {
        const Fans layer = fans_of(placed, dims);
        return side_of(draw) == Side::left ? layer : Fans{layer.out, layer.in};
    }
    const Shape& shape = placed.shape;
    if (shape.size() < 2) {
        const std::string_view init = init_names.at(static_cast<std::size_t>(draw.init));
        throw Error(ErrorKind::data, fmt::format("{}: a draw initialised as {}", placed.place, init),
                    "the shape " + to_string(shape), "two dimensions and more, outputs and inputs first");
    }
    const Index rest = element_count(Shape(shape.begin() + 2, shape.end()));
    return {shape[1] * rest, shape[0] * rest};
}

/// Where output i reads input i, the heads' stack taken as one matrix, of which a draw may make one head.
Ones identity(const PlacedDraw& placed)
{
    const Shape& shape = placed.shape;
    if (shape.size() < 2) {
        throw Error(ErrorKind::data, placed.place + ": a draw initialised as identity", "the shape " + to_string(shape),
                    "two dimensions and more");
    }
    const Index rows = shape[shape.size() - 2];
    const Index columns = shape.back();
    const Index heads = element_count(shape) / std::max<Index>(rows * columns, 1);
    const Index before = placed.draw.head.value_or(0);
    const bool right = placed.draw.side.value_or(Side::left) == Side::right;
    const bool apart = is_of_score(placed.draw.target); // each head reads all of its own numbers
    Ones ones;
    for (Index h = 0; h < heads; ++h) {
        for (Index i = 0; i < rows; ++i) {
            // From the left, row i of head h is output h·rows + i; from the right, columns are the outputs.
            const Index j = apart ? i : right ? i - (before + h) * columns : (before + h) * rows + i;
            if (j >= 0 && j < columns) {
                ones.places.push_back((h * rows + i) * columns + j);
            }
        }
    }
    return ones;
}

/// Matrices that read the same lie in one, whose outputs xavier_uniform_ counts.
Fans joint_fans(const PlacedDraw& placed, const ModelDims& dims)
{
    const Fans fans = fans_of(placed, dims);
    const bool one = dims.keys_read() == dims.D && dims.values_read() == dims.D;
    return {fans.in, one ? 3 * fans.out : fans.out};
}

/// Integers that the type rounds would be others than the library drew.
void require_exact(const PlacedDraw& placed, Dtype dtype)
{
    const int digits = dtype == Dtype::float32 ? std::numeric_limits<float>::digits : std::numeric_limits<double>::digits;
    const auto most = static_cast<double>(std::uint64_t{1} << static_cast<unsigned>(digits));
    const Draw& draw = placed.draw;
    if (draw.init == Initialisation::integers && (draw.first < -most || draw.second - 1 > most)) {
        const auto whole = [](double number) { return static_cast<std::int64_t>(number); };
        throw Error(ErrorKind::data, fmt::format("{}: integers of {}", placed.place, name_of(draw.target)),
                    fmt::format("{} to {}", whole(draw.first), whole(draw.second - 1)),
                    fmt::format("{} to {}, which {} holds exactly", whole(-most), whole(most), name_of(dtype)));
    }
}

/// What is left of a tensor.
struct TakenPart {
    Shape shape;
    Index first; ///< of its numbers among those of the whole
};

/// The one that `take` chooses by indices into the leading dimensions.
TakenPart part_taken(const PlacedDraw& placed)
{
    const Shape& shape = placed.shape;
    const std::vector<Index>& take = placed.draw.take;
    if (take.size() > shape.size()) {
        throw Error(ErrorKind::data, placed.place + ": take", fmt::format("{} indices", take.size()),
                    "at most one for each dimension of " + to_string(shape));
    }
    Index offset = 0;
    for (std::size_t i = 0; i < take.size(); ++i) {
        if (take[i] < 0 || take[i] >= shape[i]) {
            throw Error(ErrorKind::data, fmt::format("{}: take[{}]", placed.place, i), std::to_string(take[i]),
                        fmt::format("0 to {}", shape[i] - 1));
        }
        offset = offset * shape[i] + take[i];
    }
    Shape part(shape.begin() + static_cast<std::ptrdiff_t>(take.size()), shape.end());
    const Index count = element_count(part);
    return {std::move(part), offset * count};
}

/// nn.Embedding's row of the token that pads sentences is one of the table's.
void require_padding(const PlacedDraw& placed, const Shape& table)
{
    const Index rows = table.size() < 2 ? 1 : table[table.size() - 2];
    if (const std::optional<Index>& row = placed.draw.padding_idx; row && *row >= rows) {
        throw Error(ErrorKind::data, placed.place + ": padding_idx", std::to_string(*row),
                    fmt::format("0 to {}, the rows of {}", rows - 1, name_of(placed.draw.target)));
    }
}

bool fits(const Draw& draw, const Shape& shape, const ModelDims& dims)
{
    const std::vector<Shape> allowed = allowed_shapes(draw, dims);
    return std::ranges::find(allowed, without_batch_of_one(shape, draw.target)) != allowed.end();
}

/// For a matrix that stands the other way round. The sizes of heads follow from it where the recipe does not say them.
std::string other_side(const PlacedDraw& placed, const Shape& shape, ModelDims dims)
{
    Draw draw = placed.draw;
    if (!goes_with(draw_field::side.only, static_cast<Index>(draw.target))) {
        return {};
    }
    draw.side = side_of(draw) == Side::left ? Side::right : Side::left;
    const bool of_layer = draw.init == Initialisation::linear && !draw.values && draw.side == Side::right && shape.size() == 2;
    if (draw.target <= Target::W_v && shape.size() == 2) {
        const Index size = (draw.side == Side::left ? shape.front() : shape.back()) / heads_of(draw.target, dims);
        dims.d_k = placed.recipe->dims.d_k.value_or(size);
        dims.d_v = placed.recipe->dims.d_v.value_or(size);
    }
    if (of_layer && fits(draw, shape, dims)) { // which other numbers would not be
        return fmt::format(" or ({1}, {0}), the weight of nn.Linear({0}, {1})", shape.front(), shape.back());
    }
    return !fits(draw, shape, dims) ? ""
                                    : fmt::format(R"( or {} with "side": "{}")", to_string(shape),
                                                  side_names.at(static_cast<std::size_t>(*draw.side)));
}

/// A shape with one length more than an entry has.
std::string of_a_batch(const PlacedDraw& placed, const Shape& shape, const ModelDims& dims)
{
    const Draw& draw = placed.draw;
    const bool more = shape.size() == allowed_shapes(draw, dims).front().size() + 1;
    if (!more || !is_by_position(draw.target) || batch_size(*placed.recipe)) {
        return {};
    }
    const char* one = draw.values ? "" : R"(, or "take": [0] of the draw keeps the first)";
    return fmt::format(R"(; "batch": {} of input says that these are {} entries{})", shape.front(), shape.front(), one);
}

/// Where sizes come from, of those that the tensor has and the shape does not: their defaults, or other draws.
std::string sources_of_sizes(const PlacedDraw& placed, const Shape& shape, const ModelDims& dims)
{
    const StatedDims stated = stated_dims(*placed.recipe);
    const Dims& said = stated.dims;
    const Shape natural = allowed_shapes({.target = placed.draw.target, .side = placed.draw.side}, dims).front();
    std::string list;
    const auto called = [&](const FieldInfo& field) {
        return placed.typed != nullptr ? placed.typed->option_of(field) : std::string(field.key);
    };
    const auto add = [&](bool of_target, const FieldInfo& field, const std::optional<Index>& given, Index size) {
        const bool of_tensor = of_target && std::ranges::find(natural, size) != natural.end();
        if (!of_tensor || std::ranges::find(shape, size) != shape.end()) {
            return;
        }
        const auto place = stated.places.find(&field);
        if (place != stated.places.end() && !place->second.starts_with(placed.place + ".")) {
            list += fmt::format("; {} is {} in {}", field.name(), size, place->second);
        } else if (!given) {
            list += fmt::format("; {} is {} by default, {} sets it", field.name(), size, called(field));
        }
    };
    const Target target = placed.draw.target;
    const auto one_of = [&](std::initializer_list<Target> targets) {
        return std::ranges::find(targets, target) != targets.end();
    };
    const bool of_score = one_of({Target::W_a, Target::U_a});
    add(target <= Target::W_o && !is_given(target), field::embed_dim, said.embed_dim, dims.D);
    add(of_score || one_of({Target::W_q, Target::W_k, Target::queries, Target::keys, Target::b_q, Target::b_k}), field::d_k,
        said.d_k, dims.d_k);
    add(one_of({Target::W_v, Target::values, Target::b_v}), field::d_v, said.d_v, dims.d_v);
    add(of_score && placed.recipe->attention.score == core::Score::additive, field::d_a, said.d_a, dims.d_a);
    const bool of_keys = target == Target::keys || target == Target::values;
    if (target == Target::keys && shape.back() != natural.back()) {
        list += "; only additive scores compare queries and keys of two widths";
    } else if (of_keys && !is_cross(*placed.recipe)) {
        list += fmt::format("; {} says how many keys there are", called(field::key_positions));
    }
    return list;
}

/// Nothing makes queries, keys and values that are given, so their sizes have no defaults.
void require_stated_size(const PlacedDraw& placed, const ModelDims& dims)
{
    const Dims said = dims_of(*placed.recipe);
    const bool of_values = placed.draw.target == Target::values;
    if (is_given(placed.draw.target) && !(of_values ? said.d_v : said.d_k)) {
        const Index rows = placed.draw.target == Target::queries ? dims.T : dims.S;
        throw Error(ErrorKind::data, fmt::format("{}: {}", placed.place, name_of(placed.draw.target)), "no shape",
                    fmt::format(R"("shape": [{}, {}], a row for each position)", rows, of_values ? "d_v" : "d_k"));
    }
}

void require_shape(const PlacedDraw& placed, const Shape& shape, const ModelDims& dims)
{
    if (fits(placed.draw, shape, dims)) {
        return;
    }
    std::string list;
    for (const Shape& one : allowed_shapes(placed.draw, dims)) {
        list += (list.empty() ? "" : " or ") + to_string(one);
    }
    list += placed.recipe == nullptr ? "" : other_side(placed, shape, dims);
    throw Error(
        ErrorKind::data, fmt::format("{}: {}", placed.place, name_of(placed.draw.target)), "the shape " + to_string(shape),
        fmt::format("with these dimensions {}{}{}", list,
                    placed.draw.target == Target::position_embedding ? ", or more rows" : "",
                    placed.recipe == nullptr ? "" : of_a_batch(placed, shape, dims) + sources_of_sizes(placed, shape, dims)));
}

/// A vector has no dimensions of length 1 beside its own, and an entry none of its batch.
Shape flat(const Shape& shape, Target target)
{
    return target >= Target::b_q ? Shape{element_count(shape)} : without_batch_of_one(shape, target);
}

/// Where each parameter, or each head of it, comes from: "draws[2]", or a file.
using Places = std::map<Target, std::map<Index, std::string>>;
constexpr Index all_heads = -1;

void add_place(std::map<Index, std::string>& heads, const Draw& draw, const std::string& place, const ModelDims& dims)
{
    const bool whole = !draw.head || heads.contains(all_heads);
    const auto first = whole ? heads.begin() : heads.find(*draw.head);
    if (first != heads.end()) {
        const bool drawn = first->second.starts_with("draws[");
        const bool whole_twice = !draw.head && heads.contains(all_heads) && heads_of(draw.target, dims) > 1;
        const bool by_head = whole_twice && goes_with(draw_field::head.only, static_cast<Index>(draw.target));
        const char* once = by_head ? R"(once, or once for each head, with "head": 0, 1, …)" : "once";
        throw Error(ErrorKind::data, fmt::format("{}: {} is drawn {}", place, name_with_head(draw.target, draw.head),
                                                 drawn ? fmt::format("twice, first by {}; allowed: {}", first->second, once)
                                                       : fmt::format("and also in {}; allowed: one of them", first->second)));
    }
    heads.emplace(draw.head.value_or(all_heads), place);
}

Places places_of(const Recipe& recipe, const ParameterInputs& inputs)
{
    Places places;
    for (const StoredParameter& parameter : inputs.stored) {
        places[parameter.target].emplace(all_heads, in_quotes(recipe.parameters->file));
    }
    for (std::size_t step = 0; step < recipe.draws.size(); ++step) {
        const auto* drawn = std::get_if<Draw>(&recipe.draws[step]);
        for (const Draw& draw : drawn == nullptr ? std::vector<Draw>() : parts_of(*drawn)) {
            if (draw.target != Target::none) {
                add_place(places[draw.target], draw, place_of_step(step), inputs.dims);
            }
        }
    }
    return places;
}

/// Of a tensor that is drawn head by head, every head there is and no other.
void require_heads(const Places& places, const ModelDims& dims)
{
    for (const auto& [target, heads] : places) {
        const Index count = heads_of(target, dims);
        const auto& [last, place] = *heads.rbegin();
        if (last >= count) {
            throw Error(ErrorKind::data, place + ": head", std::to_string(last),
                        fmt::format("0 to {}, the heads of {}", count - 1, name_of(target)));
        }
        for (Index head = 0; head < count && last != all_heads; ++head) {
            if (!heads.contains(head)) {
                throw Error(ErrorKind::data,
                            fmt::format("draws: {} is not drawn; allowed: each of its {}, or all in one draw without head",
                                        name_with_head(target, head), counted(count, "head")));
            }
        }
    }
}

/// "[0, 1, 2, …, 7]"
std::string first_ids(Index count)
{
    std::string ids;
    for (Index id = 0; id < std::min<Index>(count, 3); ++id) {
        ids += (id == 0 ? "[" : ", ") + std::to_string(id);
    }
    return fmt::format("{}{}{}]", ids, count > 4 ? ", …" : "", count > 3 ? fmt::format(", {}", count - 1) : "");
}

/// Which tensors there are, and where each comes from.
class Sources {
public:
    /// The places must outlive it.
    explicit Sources(const Places& places) : places_(places) {}

    [[nodiscard]] bool have(Target target) const { return places_.contains(target); }
    [[nodiscard]] bool in_file(Target target) const { return have(target) && !place(target).starts_with("draws["); }
    /// Says which tensor is there, and why it must not be.
    void refuse_if(bool wrong, Target target, const std::string& why) const
    {
        if (wrong) {
            throw Error(ErrorKind::data, in_file(target) ? fmt::format("{} holds {}{}", place(target), name_of(target), why)
                                                         : fmt::format("draws: {} is drawn{}", name_of(target), why));
        }
    }

private:
    [[nodiscard]] const std::string& place(Target target) const { return places_.at(target).begin()->second; }

    const Places& places_;
};

void require(bool there, const std::string& what)
{
    if (!there) {
        throw Error(ErrorKind::data, "draws: " + what);
    }
}

/// Queries, keys and values themselves stand in place of what would make them.
void require_given(const Recipe& recipe, const Sources& sources)
{
    for (const Target target : given_targets) {
        require(sources.have(target),
                fmt::format("{} are not drawn, and others of queries, keys and values are; allowed: all three, or none of them",
                            name_of(target)));
    }
    constexpr std::array made_with{Target::embedding,
                                   Target::key_embedding,
                                   Target::value_embedding,
                                   Target::position_embedding,
                                   Target::embeddings,
                                   Target::key_embeddings,
                                   Target::W_q,
                                   Target::W_k,
                                   Target::W_v,
                                   Target::b_q,
                                   Target::b_k,
                                   Target::b_v};
    constexpr const char* and_given = ", and so are queries, keys and values, which need none; allowed: one or the other";
    for (const Target target : made_with) {
        sources.refuse_if(sources.have(target), target, and_given);
    }
    require(!recipe.embeddings, fmt::format("embeddings come from a file{}", and_given));
}

/// Rows for the words: one table, or drawn by position.
void require_embeddings(const Recipe& recipe, const ParameterInputs& inputs, const Sources& sources)
{
    require(!sources.have(Target::embedding) || !recipe.embeddings,
            "embedding is drawn, and embeddings come from a file; allowed: one of them");
    const ModelDims& dims = inputs.dims;
    const bool table = sources.have(Target::embedding) || recipe.embeddings;
    const bool rows = sources.have(Target::embeddings);
    const bool tables_of_sides = sources.have(Target::key_embedding) || sources.have(Target::value_embedding);
    require(table || rows, "neither embedding nor embeddings is drawn; allowed: one of them");
    require(!table || !rows, "both embedding and embeddings are drawn; allowed: one of them");
    sources.refuse_if(inputs.cross && sources.in_file(Target::embeddings) && !sources.have(Target::key_embeddings),
                      Target::embeddings,
                      " by position, but no key_embeddings for the words of the keys; allowed: both, or the table 'embedding'");
    require(!rows || inputs.cross == sources.have(Target::key_embeddings),
            inputs.cross
                ? "embeddings are drawn by position, and no key_embeddings are drawn for the second sentence; allowed: both"
                : "key_embeddings are drawn, and the keys have no words of their own; allowed: only with a second "
                  "sentence or key_positions");
    require(!table || !sources.have(Target::key_embeddings),
            "key_embeddings are drawn, and embedding is a table; allowed: key_embeddings with embeddings");
    require(!sources.have(Target::key_embedding) || !sources.have(Target::key_embeddings),
            "both key_embedding and key_embeddings are drawn; allowed: one of them");
    for (const Target target : {Target::embedding, Target::key_embedding, Target::value_embedding}) {
        sources.refuse_if(sources.in_file(target) && std::holds_alternative<PositionsInput>(recipe.input), target,
                          ", and bare positions have no ids to look up in a table; allowed: embeddings, with key_embeddings "
                          "for key_positions");
    }
    const auto* positions = std::get_if<PositionsInput>(&recipe.input);
    if (positions != nullptr && recipe.embeddings) {
        throw Error(ErrorKind::data, name_of(Item::embeddings), "an input of bare positions, which look up no rows",
                    fmt::format(R"(a sentence, or "input": {{"ids": {}}}, which takes the rows in their order)",
                                first_ids(positions->count)));
    }
    require(!(table || tables_of_sides) || positions == nullptr,
            "bare positions have no ids to look up in an embedding table; allowed: embeddings, with key_embeddings for "
            "key_positions, or queries, keys and values");
    require(!sources.have(Target::position_embedding) || !recipe.attention.placed_by(PositionKind::sinusoidal),
            "position_embedding is drawn, and positions are sinusoidal; allowed: one of them");
    require(!sources.have(Target::position_embedding) || (dims.keys_read() == dims.D && dims.values_read() == dims.D),
            "position_embedding is drawn, and key_dim or value_dim is not embed_dim; allowed: one width for all that it is "
            "added to");
    require(dims.keys_read() == dims.D || sources.have(Target::key_embedding) || sources.have(Target::key_embeddings),
            "key_dim is not embed_dim, and no key_embedding is drawn; allowed: a table of that width");
    require(dims.values_read() == dims.keys_read() || sources.have(Target::value_embedding),
            "value_dim is not key_dim, and no value_embedding is drawn; allowed: a table of that width");
}

/// What attention cannot do without.
void require_targets(const Recipe& recipe, const ParameterInputs& inputs)
{
    const Places places = places_of(recipe, inputs);
    require_heads(places, inputs.dims);
    const Sources sources(places);
    if (std::ranges::any_of(given_targets, [&](Target target) { return sources.have(target); })) {
        require_given(recipe, sources);
    } else {
        require_embeddings(recipe, inputs, sources);
        for (const Target target : {Target::W_q, Target::W_k, Target::W_v}) {
            require(sources.have(target),
                    fmt::format("{} is not drawn; allowed: W_q, W_k and W_v, once each", name_of(target)));
        }
    }
    const core::Score score = recipe.attention.score;
    const std::string_view scores = name_of(score);
    for (const Target target : score_targets) {
        sources.refuse_if(sources.have(target) && !reads(score, target), target,
                          fmt::format(", and {} scores do not read it; allowed: general for W_a, b_Wa; additive for all of "
                                      "W_a, U_a, v_a, b_Wa, b_Ua, b_va",
                                      scores));
        require(is_bias(target) || sources.have(target) || !reads(score, target),
                fmt::format("{} is not drawn, which {} scores need; allowed: {}", name_of(target), scores,
                            score == core::Score::general ? "W_a" : "W_a, U_a and v_a"));
    }
    require(!sources.have(Target::b_o) || sources.have(Target::W_o), "b_o is drawn without W_o; allowed: both");
    require(sources.have(Target::bias_k) == sources.have(Target::bias_v), "bias_k or bias_v is drawn alone; allowed: both");
    sources.refuse_if(sources.have(Target::bias_k) && recipe.attention.order != ScoreOrder::query_key, Target::bias_k,
                      ", and the scores are KQ; allowed: QK");
    sources.refuse_if(sources.have(Target::bias_k) && recipe.attention.placed_by(PositionKind::alibi), Target::bias_k,
                      ", whose key has no position for alibi; allowed: other positions");
}

/// Makes the plan, step by step.
class Planning {
public:
    Planning(const Recipe& recipe, const ParameterInputs& inputs)
        : recipe_(recipe), dims_(inputs.dims), origin_(inputs.origin), plan_{recipe.generator, {}}
    {
    }

    void add(const StoredParameter& stored)
    {
        const Draw draw{.target = stored.target, .side = stored.side};
        require_shape({draw, {}, in_quotes(recipe_.parameters->file)}, flat(stored.tensor.shape, stored.target), dims_);
        add_given(stored.target, stored.side, stored.tensor, 0);
    }

    void add(const Step& of, std::size_t step)
    {
        if (const auto* seed = std::get_if<Seed>(&of)) {
            return add_seed(*seed, step);
        }
        const auto& draw = std::get<Draw>(of);
        if (draw.values) {
            return add_stated(draw, step);
        }
        for (const Draw& part : parts_of(draw)) {
            add_draw(part, step);
        }
    }

    [[nodiscard]] DrawPlan plan() && { return std::move(plan_); }

private:
    [[nodiscard]] const Origin* typed(std::size_t step) const
    {
        return origin_ != nullptr && origin_->changes_step(step) ? origin_ : nullptr;
    }

    void add_seed(const Seed& seed, std::size_t step)
    {
        require_seed(recipe_.generator, seed.value, place_of_step(step));
        seeded_ = true;
        plan_.steps.emplace_back(seed);
    }

    /// Of the recipe itself: what is stated is read where it stands.
    void add_stated(const Draw& draw, std::size_t step)
    {
        const PlacedDraw placed{draw, draw.values->shape, place_of_step(step), &recipe_, typed(step)};
        require_shape(placed, placed.shape, dims_);
        add_given(draw.target, side_of(draw), checked_view(*draw.values, recipe_.dtype, placed.place + ".values"), step);
    }

    void add_draw(const Draw& draw, std::size_t step)
    {
        const PlacedDraw placed{draw, shape_of(draw, dims_), place_of_step(step), &recipe_, typed(step)};
        PlannedDraw made{.numbers = numbers_of(placed), .count = element_count(placed.shape), .step = step};
        if (draw.target != Target::none) {
            keep(made, placed);
        }
        plan_.steps.emplace_back(std::move(made));
    }

    void add_given(Target target, Side side, const TensorView& tensor, std::size_t step)
    {
        plan_.steps.emplace_back(PlannedDraw{.target = target,
                                             .side = side,
                                             .shape = flat(tensor.shape, target),
                                             .numbers = tensor,
                                             .count = tensor.count(),
                                             .step = step});
    }

    /// Zeros and identities take nothing from a stream and need none.
    [[nodiscard]] decltype(PlannedDraw::numbers) numbers_of(const PlacedDraw& placed) const
    {
        if (placed.draw.init == Initialisation::zeros) {
            return Ones{};
        }
        if (placed.draw.init == Initialisation::identity) {
            return identity(placed);
        }
        if (!seeded_) {
            throw Error(ErrorKind::data, placed.place + " comes before any seed; allowed: a seed first");
        }
        return distribution_of(placed.draw, is_bias(placed.draw.target), [&](FansOf of) {
            return of == FansOf::layer    ? fans_of(placed, dims_)
                   : of == FansOf::tensor ? fans_of_tensor(placed, dims_)
                                          : joint_fans(placed, dims_);
        });
    }

    /// What becomes of the numbers: all of a parameter, or one head.
    void keep(PlannedDraw& made, const PlacedDraw& placed)
    {
        const Draw& draw = placed.draw;
        require_exact(placed, recipe_.dtype);
        require_stated_size(placed, dims_);
        const TakenPart part = part_taken(placed);
        require_shape(placed, part.shape, dims_);
        require_padding(placed, flat(part.shape, draw.target));
        made.target = draw.target;
        made.side = side_of(draw);
        made.shape = flat(part.shape, draw.target);
        made.first = part.first;
        made.kept = element_count(part.shape);
        made.padding = draw.padding_idx;
        if (draw.head) {
            require_side_of_heads(placed, made.side);
            made.shape = shape_of({.target = draw.target, .side = made.side}, dims_);
            made.at = *draw.head * made.kept;
        }
    }

    /// The heads lie in one tensor.
    void require_side_of_heads(const PlacedDraw& placed, Side side)
    {
        const Side first = sides_.try_emplace(placed.draw.target, side).first->second;
        if (side != first) {
            const auto name = [](Side of) { return std::string(side_names.at(static_cast<std::size_t>(of))); };
            throw Error(ErrorKind::data,
                        fmt::format("{}: side of {}", placed.place, name_with_head(placed.draw.target, placed.draw.head)),
                        name(side), name(first) + ", as of the head before it");
        }
    }

    const Recipe& recipe_;
    const ModelDims& dims_;
    const Origin* origin_; ///< none: all comes from a file
    DrawPlan plan_;
    std::map<Target, Side> sides_; ///< of what is drawn head by head
    bool seeded_ = false;
};

} // namespace

DrawPlan plan_draws(const Recipe& recipe, const ParameterInputs& inputs)
{
    require_targets(recipe, inputs);
    Planning planning(recipe, inputs);
    for (const StoredParameter& stored : inputs.stored) {
        planning.add(stored);
    }
    for (std::size_t step = 0; step < recipe.draws.size(); ++step) {
        try {
            planning.add(recipe.draws[step], step);
        } catch (const Error& error) {
            if (error.kind() != ErrorKind::data || inputs.origin == nullptr || !inputs.origin->changes_step(step)) {
                throw;
            }
            throw Error(ErrorKind::usage, fmt::format("{} {}", option::set, error.what()));
        }
    }
    return std::move(planning).plan();
}

} // namespace attn::model
