#include "attn/model/recipe/overrides.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace attn::model {
namespace {

template <typename Wanted>
bool makes(const Step& step, Wanted wanted)
{
    const auto* draw = std::get_if<Draw>(&step);
    return draw != nullptr && std::ranges::any_of(parts_of(*draw), [&](const Draw& part) { return wanted(part.target); });
}

template <typename Wanted>
void drop_draws(Recipe& recipe, Wanted wanted)
{
    std::erase_if(recipe.draws, [&](const Step& step) { return makes(step, wanted); });
}

bool is_W_o(const Step& step)
{
    return makes(step, [](Target target) { return target == Target::W_o; });
}

bool is_layer(const Step& step)
{
    const auto* draw = std::get_if<Draw>(&step);
    return draw != nullptr && draw->target == Target::none && draw->init == Initialisation::multihead_attention;
}

/// What the new values of some fields make void in the recipe, before they are laid over it.
void make_room(const Overrides& over, Recipe& recipe)
{
    auto* sentence = std::get_if<SentenceInput>(&recipe.input);
    if (over.contains(field::sentence) && sentence != nullptr) {
        sentence->cross.reset(); // the recipe's second sentence belonged to its first
    }
    if (over.contains(field::sentence) || over.contains(field::ids)) {
        recipe.entry.reset(); // of the recipe's batch
    }
    if (over.contains(field::ids)) {
        recipe.input = IdsInput{}; // the recipe's labels belonged to its own ids
    }
    if (over.contains(field::parameters_file)) {
        // What the file holds decides over all dims but the heads; what it does not hold is as the recipe draws it.
        const bool rows_of_other_file = recipe.parameters.has_value();
        recipe.dims = {.heads = recipe.dims.heads,
                       .vocab_size = rows_of_other_file ? std::nullopt : recipe.dims.vocab_size,
                       .d_a = recipe.dims.d_a};
        recipe.parameters.reset();
        drop_draws(recipe, [](Target target) {
            return (target >= Target::W_q && !is_of_score(target)) || target == Target::key_embedding ||
                   target == Target::value_embedding;
        });
    } else if (recipe.parameters && over.contains(field::heads)) {
        recipe.dims.kv_heads.reset();
        recipe.dims.d_k.reset();
        recipe.dims.d_v.reset();
    }
    if (over.contains(field::embeddings_file)) {
        // The file's vectors have their own dimension and number.
        recipe.embeddings.reset();
        recipe.dims.embed_dim.reset();
        recipe.dims.vocab_size.reset();
        drop_draws(recipe, [](Target target) {
            return target == Target::embedding || target == Target::embeddings || target == Target::key_embeddings;
        });
    }
    if (over.contains(field::score)) {
        recipe.dims.d_a.reset();
    }
    if (over.contains(field::mask_file) || over.contains(field::mask_values)) {
        recipe.attention.mask.reset();
        recipe.attention.mask_values.reset();
    }
    if (over.contains(field::positions)) {
        recipe.attention.positions.reset();
    }
}

void require_fitting_input(const Overrides& over, const Recipe& recipe, const Origin& origin)
{
    const bool bare = over.contains(field::positions_count);
    const bool sentence = (std::holds_alternative<SentenceInput>(recipe.input) && !bare) || over.contains(field::sentence);
    for (const FieldInfo* of_sentence :
         std::initializer_list<const FieldInfo*>{&field::cross, &field::tokenizer, &field::casefold}) {
        if (over.contains(*of_sentence) && (!sentence || over.contains(field::ids))) {
            throw Error(ErrorKind::usage, origin.name_of(*of_sentence), "an input of ids or positions", "a sentence");
        }
    }
    const bool positions =
        (bare || std::holds_alternative<PositionsInput>(recipe.input)) && !sentence && !over.contains(field::ids);
    if (over.contains(field::embeddings_file) && positions) {
        throw Error(ErrorKind::usage, origin.name_of(field::embeddings_file), "an input of bare positions",
                    "a sentence or " + origin.name_of(field::ids));
    }
}

/// The seed of a dropout says nothing where there is no dropout.
void require_parts(const Overrides& over, const Recipe& recipe, const Origin& origin)
{
    const auto is_there = [&](std::string_view part) {
        return std::ranges::any_of(field::all, [&](const field::Recipes* f) {
            return f->required && f->section() == part && (over.contains(*f) || f->member.exists(recipe));
        });
    };
    for (const field::Recipes* f : field::all) {
        if (!over.contains(*f) || f == &field::output_projection) {
            continue;
        }
        for (const field::Recipes* first : field::all) {
            const std::string_view part = first->section();
            const bool within = first->required && !part.empty() && !key_within(f->key, part).empty();
            if (within && !is_there(part)) {
                throw Error(ErrorKind::usage, fmt::format("{} requires {}", origin.name_of(*f), origin.option_of(*first)));
            }
        }
    }
}

/// The field of the same key in the kind of input that the recipe has: a batch is of ids or of positions.
const field::Recipes& of_this_kind(const field::Recipes& field, const Recipe& recipe, const Origin& origin)
{
    if (field.section() != field::sentence.section() || field.required || field.member.exists(recipe)) {
        return field;
    }
    const auto same = [&](const field::Recipes* other) { return other->key == field.key && other->member.exists(recipe); };
    const auto found = std::ranges::find_if(field::all, same);
    if (found == field::all.end()) {
        throw Error(ErrorKind::usage, origin.name_of(field), "a sentence", "an input of ids or positions");
    }
    return **found;
}

/// A field that says what kind of object there is comes before those of that kind.
void lay_fields(const Overrides& over, Recipe& recipe, const Origin& origin)
{
    for (const bool required : {true, false}) {
        for (const field::Recipes* f : field::all) {
            if (f->required != required || !over.contains(*f)) {
                continue;
            }
            const bool of_draws = f == &field::output_projection && !recipe.parameters;
            const bool absent = std::holds_alternative<std::monostate>(over.at(*f)) && !f->allowed.absent;
            if (!of_draws && !absent) { // absent: made so in make_room
                of_this_kind(*f, recipe, origin).member.set(recipe, over.at(*f));
            }
        }
    }
}

bool takes_from_stream(const Step& step)
{
    const auto* draw = std::get_if<Draw>(&step);
    return draw != nullptr && !draw->values && draw->init != Initialisation::zeros && draw->init != Initialisation::identity;
}

/// The first draw, if no seed comes before it.
std::vector<Step>::iterator find_unseeded(Recipe& recipe)
{
    const auto first = std::ranges::find_if(
        recipe.draws, [](const Step& step) { return std::holds_alternative<Seed>(step) || takes_from_stream(step); });
    return first != recipe.draws.end() && takes_from_stream(*first) ? first : recipe.draws.end();
}

/// What options draw beside tensors that are stated needs a seed, and the option for it gives one.
void lay_seed(const Overrides& over, Recipe& recipe, const Origin& origin)
{
    const auto first = find_unseeded(recipe);
    if (first == recipe.draws.end()) {
        return;
    }
    if (const auto seed = over.find<std::uint64_t>(draw_field::seed)) {
        recipe.draws.insert(first, Seed{*seed});
        return;
    }
    const std::array<const FieldInfo*, 5> drawing{&draw_field::init, &field::score, &field::output_projection,
                                                  &field::output_dim, &field::heads};
    const auto asked = std::ranges::find_if(drawing, [&](const FieldInfo* one) { return over.contains(*one); });
    if (asked != drawing.end()) {
        throw Error(origin.fault({*asked}), fmt::format("{}: the recipe has no seed; give {}", origin.name_of(**asked),
                                                        origin.option_of(draw_field::seed)));
    }
}

/// nn.MultiheadAttention in the place of the first of its tensors, and of all others.
void draw_layer(Recipe& recipe)
{
    const auto of_layer = [](const Step& step) {
        return makes(step, [](Target target) { return target >= Target::W_q && !is_of_score(target); });
    };
    const auto first = std::ranges::find_if(recipe.draws, of_layer);
    if (first != recipe.draws.end() && std::ranges::none_of(recipe.draws, is_layer)) {
        recipe.draws.erase(std::remove_if(first + 1, recipe.draws.end(), of_layer), recipe.draws.end());
        *first = Draw{.init = Initialisation::multihead_attention};
    }
}

/// A layer that is drawn whole as draws of its tensors, without what it throws away.
void take_layer_apart(Recipe& recipe)
{
    std::vector<Step> steps;
    for (const Step& step : recipe.draws) {
        if (!is_layer(step)) {
            steps.push_back(step);
            continue;
        }
        for (const Draw& part : parts_of(std::get<Draw>(step))) {
            if (part.target != Target::none) {
                steps.emplace_back(part);
            }
        }
    }
    recipe.draws = std::move(steps);
}

void lay_init(Initialisation init, Recipe& recipe)
{
    if (init == Initialisation::multihead_attention) {
        return draw_layer(recipe);
    }
    take_layer_apart(recipe);
    for (Step& step : recipe.draws) {
        auto* draw = std::get_if<Draw>(&step);
        if (draw != nullptr && has_side(draw->target)) {
            draw->init = init;
            draw->first = 0;
            draw->second = 1;
            draw->mode = FanMode::in;
            draw->values.reset();
        }
    }
}

/// nn.MultiheadAttention has an output projection of its own.
bool has_layer(const Recipe& recipe, const std::optional<bool>& output_projection, const Origin& origin)
{
    const bool layer = std::ranges::any_of(recipe.draws, is_layer);
    if (layer && !output_projection.value_or(true)) {
        throw Error(ErrorKind::usage, origin.name_of(field::output_projection), "false",
                    fmt::format("true with {} multihead_attention, which draws W_o", draw_field::init.name()));
    }
    return layer;
}

/// What the scores read is drawn last where nothing draws it, and what they do not read is not drawn.
void lay_score(Recipe& recipe, Initialisation init)
{
    const core::Score score = recipe.attention.score;
    drop_draws(recipe, [&](Target target) { return is_of_score(target) && !reads(score, target); });
    for (const Target target : {Target::W_a, Target::U_a, Target::v_a}) {
        if (reads(score, target) && !find_draw(recipe, target)) {
            const bool vector = target == Target::v_a && init == Initialisation::identity;
            recipe.draws.emplace_back(Draw{.target = target, .init = vector ? Initialisation::uniform : init});
        }
    }
}

/// An initialisation without anything to initialise.
void require_projections(const Recipe& recipe, Index init, const Origin& origin)
{
    if (find_draw(recipe, Target::queries)) {
        throw Error(ErrorKind::usage, origin.name_of(draw_field::init), init_names.at(static_cast<std::size_t>(init)),
                    "only with projections; this recipe gives queries, keys and values themselves");
    }
}

/// The fields that are not of the recipe but of its draws.
void lay_draws(const Overrides& over, Recipe& recipe, const Origin& origin)
{
    for (Step& step : recipe.draws) {
        if (auto* seed = std::get_if<Seed>(&step)) {
            seed->value = over.find<std::uint64_t>(draw_field::seed).value_or(seed->value);
        }
    }
    const auto init = over.find<Index>(draw_field::init);
    if (init) {
        require_projections(recipe, *init, origin);
        lay_init(static_cast<Initialisation>(*init), recipe);
    }
    if (over.contains(field::score)) {
        const auto of_matrices = static_cast<Initialisation>(init.value_or(0));
        lay_score(recipe, init && of_matrices != Initialisation::multihead_attention ? of_matrices : Initialisation::uniform);
    }
    const auto output_projection = over.find<bool>(field::output_projection);
    if (recipe.parameters || has_layer(recipe, output_projection, origin)) {
        return;
    }
    const auto heads = over.find<Index>(field::heads);
    const bool has = has_output_projection(recipe) || over.contains(field::output_dim);
    const bool wanted = output_projection.value_or(heads ? *heads > 1 || over.contains(field::output_dim) : has);
    if (!wanted) {
        drop_draws(recipe, [](Target target) { return target == Target::W_o || target == Target::b_o; });
    } else if (!has_output_projection(recipe)) {
        Draw output{.target = Target::W_o};
        output.init = init ? static_cast<Initialisation>(*init) : output.init;
        recipe.draws.emplace_back(output);
    }
}

} // namespace

bool has_output_projection(const Recipe& recipe)
{
    return std::any_of(recipe.draws.begin(), recipe.draws.end(), is_W_o) ||
           (recipe.parameters && recipe.parameters->output_projection.value_or(false));
}

void require_seed(Generator generator, std::uint64_t seed, const Origin& origin)
{
    constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
    if (generator == Generator::numpy && seed > most) {
        throw Error(ErrorKind::usage, origin.name_of(draw_field::seed), std::to_string(seed),
                    fmt::format("0 to {} with {} {}", most, origin.name_of(field::generator),
                                generator_names[static_cast<std::size_t>(Generator::numpy)]));
    }
}

Recipe apply(Recipe recipe, const Overrides& over, const Origin& origin)
{
    recipe.published.clear();
    recipe.precision.clear();
    require_fitting_input(over, recipe, origin);
    const bool seeded = find_unseeded(recipe) == recipe.draws.end();
    make_room(over, recipe);
    require_parts(over, recipe, origin);
    lay_fields(over, recipe, origin);
    if (const auto seed = over.find<std::uint64_t>(draw_field::seed)) {
        require_seed(recipe.generator, *seed, origin);
    }
    lay_draws(over, recipe, origin);
    if (seeded) {
        lay_seed(over, recipe, origin);
    }
    return recipe;
}

// ---- whose fault -----------------------------------------------------------------------------------------------------

Origin Origin::options_alone(OptionName option)
{
    Origin origin({}, option);
    origin.all_ = true;
    return origin;
}

Origin Origin::with_table_of(const std::string& file) const
{
    Origin origin = *this;
    origin.table_ = file.empty() ? "" : "the embedding table of " + file;
    return origin;
}

Origin Origin::with_sizes_of(std::map<const FieldInfo*, std::string> draws) const
{
    Origin origin = *this;
    origin.sizes_ = std::move(draws);
    return origin;
}

Origin Origin::with_steps(std::set<std::size_t> steps) const
{
    Origin origin = *this;
    origin.steps_ = std::move(steps);
    return origin;
}

std::string Origin::name_of(const FieldInfo& field) const
{
    if (const auto size = sizes_.find(&field); size != sizes_.end()) {
        return fmt::format("{} of {}", field.name(), size->second);
    }
    return from_option(field) ? option_(field) : std::string(field.key);
}

std::string Origin::said(const FieldInfo& field, std::string_view value) const
{
    const bool key = from_option(field) && field.spelling == Spelling::key;
    return fmt::format("{}{}{}", name_of(field), key ? "=" : " ", value);
}

ErrorKind Origin::fault(std::initializer_list<const FieldInfo*> fields) const
{
    const bool usage = std::any_of(fields.begin(), fields.end(), [&](const FieldInfo* field) { return from_option(*field); });
    return usage ? ErrorKind::usage : ErrorKind::data;
}

} // namespace attn::model
