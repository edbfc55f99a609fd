#include "attn/io/json/recipe.hpp"

#include "attn/io/json/json_reader.hpp"
#include "attn/io/texts/printed_array.hpp"
#include "attn/math/decimal.hpp"
#include "attn/model/recipe/recipe_fields.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

namespace attn::io {
namespace {

using model::Allowed;
using model::Draw;
using model::FieldInfo;
using model::FieldType;
using model::FieldValue;
using model::Recipe;
using model::Target;
namespace field = model::field;
namespace draw_field = model::draw_field;

// ---- values ----------------------------------------------------------------------------------------------------------

double real_of(const JsonValue& value, const Allowed& allowed)
{
    if (allowed.none && value.kind() == JsonKind::string && value.text() == "none") {
        return *allowed.none;
    }
    const double number = value.number(allowed.in_words);
    if (number < allowed.above || (number == allowed.above && !allowed.above_itself) || number >= allowed.below) {
        value.refuse(allowed.in_words);
    }
    return number;
}

Index integer_of(const JsonValue& value, const Allowed& allowed)
{
    const Index number = value.integer(allowed.least, allowed.most);
    if (number % allowed.multiple_of != 0) {
        value.refuse("an even number");
    }
    return number;
}

std::string digest_of(const JsonValue& value)
{
    std::string text = value.string();
    if (text.size() != 64 || text.find_first_not_of("0123456789abcdef") != std::string::npos) {
        value.refuse("64 hexadecimal digits in lower case");
    }
    return text;
}

/// "H*d_k": letters of the glossary with * between them.
bool is_product(std::string_view text)
{
    for (;;) {
        const std::size_t star = text.find('*');
        if (std::ranges::find(model::length_letters, text.substr(0, star)) == model::length_letters.end()) {
            return false;
        }
        if (star == std::string_view::npos) {
            return true;
        }
        text.remove_prefix(star + 1);
    }
}

model::Length length_of(const JsonValue& value, const Allowed& allowed)
{
    if (value.kind() == JsonKind::number) {
        return integer_of(value, allowed);
    }
    if (value.kind() != JsonKind::string || !is_product(value.text())) {
        value.refuse(fmt::format(R"(1 to {}, or a product of V, T, S, D, H, H_kv, d_k, d_v such as "H*d_k")", allowed.most));
    }
    return value.string();
}

std::string row_of(const JsonValue& value, const Allowed& allowed)
{
    return value.kind() == JsonKind::number ? std::to_string(integer_of(value, allowed)) : value.string();
}

/// The integers that a type may not hold, of which float64 must hold each.
std::vector<Index> large_integers(const TextArray& given, const std::vector<double>& values, const JsonValue& value)
{
    constexpr double largest_of_every_type = 16777216; // 2^24
    std::vector<Index> places;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::string_view text = given.texts[i];
        if (std::abs(values[i]) < largest_of_every_type || text.find_first_of(".eEn") != std::string::npos) {
            continue;
        }
        places.push_back(static_cast<Index>(i));
        if (math::fixed(values[i], 0) != text) {
            throw Error(
                ErrorKind::data, fmt::format("{} at {}", value.place(), to_string(index_of(given.shape, places.back()))),
                std::string(text.substr(0, 40)), "an integer that float64 holds exactly, such as " + math::fixed(values[i], 0));
        }
    }
    return places;
}

/// One text, as an article prints the array.
TextArray printed_numbers(const JsonValue& text)
{
    PrintedArray array = parse_printed_array(text.text(), text.place());
    for (std::size_t i = 0; i < array.texts.size(); ++i) {
        if (!std::isfinite(math::parse_printed(array.texts[i]).value)) {
            throw Error(ErrorKind::data, text.place(), in_quotes(array.texts[i]), "finite numbers");
        }
    }
    return {std::move(array.shape), std::move(array.texts)};
}

model::Literal literal_of(const JsonValue& value, const Allowed& allowed)
{
    const bool mask = allowed.type == FieldType::mask;
    std::optional<bool> truths; // the first value decides
    const auto leaf = [&](JsonKind kind, std::string_view text) -> std::optional<std::string_view> {
        const bool hidden = mask && (kind == JsonKind::null || (kind == JsonKind::string && text == "-inf"));
        const bool truth = mask && kind == JsonKind::boolean;
        if ((!hidden && !truth && kind != JsonKind::number) || truth != truths.value_or(truth)) {
            return std::nullopt;
        }
        truths = truth;
        return hidden ? "-inf" : truth ? (text == "true" ? "1" : "0") : text;
    };
    const bool printout = !mask && value.kind() == JsonKind::string;
    if (!printout && value.kind() != JsonKind::array) {
        value.refuse("nested arrays of " + std::string(allowed.in_words));
    }
    const TextArray given = printout ? printed_numbers(value) : value.nested(leaf, allowed.in_words);
    if (given.texts.size() < allowed.fewest) {
        if (given.shape.size() > 1) {
            throw Error(ErrorKind::data, value.place(), "arrays without a value", "at least one value");
        }
        value.refuse("at least one value");
    }
    model::Literal literal{.shape = given.shape, .values = {}, .truths = truths.value_or(false)};
    for (std::size_t i = 0; i < given.texts.size(); ++i) {
        literal.values.push_back(math::nearest<double>(given.texts[i]));
    }
    literal.integers = large_integers(given, literal.values, value);
    return literal;
}

template <typename Read>
FieldValue several(const JsonValue& value, const Allowed& allowed, Read read)
{
    std::vector<decltype(read(value, allowed))> items;
    for (const JsonValue& element : value.elements()) {
        items.push_back(read(element, allowed));
    }
    if (items.size() < allowed.fewest || (allowed.longest != 0 && items.size() > allowed.longest)) {
        value.refuse(allowed.in_words);
    }
    return items;
}

/// The word in place of a list.
FieldValue value_of_word(const JsonValue& value, const Allowed& allowed)
{
    if (value.kind() != JsonKind::string || value.text() != allowed.instead) {
        value.refuse(allowed.in_words);
    }
    return std::vector<Index>{-1};
}

FieldValue value_of(const JsonValue& value, const Allowed& allowed)
{
    switch (allowed.type) {
    case FieldType::flag: return value.boolean();
    case FieldType::integer: return integer_of(value, allowed);
    case FieldType::natural: return value.unsigned_integer();
    case FieldType::real: return model::real_value(real_of(value, allowed), allowed);
    case FieldType::choice: {
        const auto first = static_cast<std::size_t>(allowed.least);
        return static_cast<Index>(first + value.one_of(allowed.names.subspan(first), allowed.aliases));
    }
    case FieldType::text: return value.string();
    case FieldType::texts: return value.strings();
    case FieldType::text_or_texts:
        if (value.kind() == JsonKind::array) {
            return several(value, allowed, [](const JsonValue& text, const Allowed&) { return text.string(); });
        }
        return value.string();
    case FieldType::digest: return digest_of(value);
    case FieldType::integers:
        if (!allowed.instead.empty() && value.kind() != JsonKind::array) {
            return value_of_word(value, allowed);
        }
        return several(value, allowed, integer_of);
    case FieldType::rows: return several(value, allowed, row_of);
    case FieldType::lengths: return several(value, allowed, length_of);
    case FieldType::numbers:
    case FieldType::mask: return literal_of(value, allowed);
    case FieldType::choices:
        return several(value, allowed,
                       [](const JsonValue& name, const Allowed& of) { return static_cast<Index>(name.one_of(of.names)); });
    case FieldType::objects: break;
    }
    return {};
}

// ---- objects ---------------------------------------------------------------------------------------------------------

template <typename Fields, typename Struct>
bool allowed_beside(const FieldInfo& field, const Fields& fields, const Struct& target)
{
    const auto other = std::ranges::find_if(fields, [&](const FieldInfo* f) { return f == field.only.other; });
    return field.only.other == nullptr || (other != fields.end() && goes_with(field.only, (*other)->member.get(target)));
}

/// The fields of one object, which are those of `section` in the table, into their struct.
template <typename Fields, typename Struct>
void read_fields(const JsonObject& object, const Fields& fields, std::string_view section, Struct& target)
{
    for (const auto* field : fields) {
        const bool here = field->section() == section && field->allowed.type != FieldType::objects;
        const JsonValue* given = !here ? nullptr : field->required ? &object.at(field->name()) : object.find(field->name());
        if (given == nullptr) {
            continue;
        }
        if (!allowed_beside(*field, fields, target)) {
            given->refuse(in_words(field->only));
        }
        field->member.set(target, value_of(*given, field->allowed));
    }
}

/// The first parts of the keys within `section`, each once, in order.
template <typename Fields>
std::vector<std::string_view> keys_within(std::string_view section, const Fields& fields)
{
    std::vector<std::string_view> keys;
    for (const FieldInfo* field : fields) {
        const std::string_view key = model::key_within(field->key, section);
        if (!key.empty() && std::ranges::find(keys, key) == keys.end()) {
            keys.push_back(key);
        }
    }
    return keys;
}

// ---- input -----------------------------------------------------------------------------------------------------------

void require_labels(const JsonObject& input, const Recipe& recipe)
{
    const auto require_count = [&](const FieldInfo& field, const std::vector<std::string>& labels, Index count) {
        if (!labels.empty() && std::ssize(labels) != count) {
            input.at(field.name()).refuse(fmt::format("a label for each of {}", count));
        }
    };
    if (const auto* ids = std::get_if<model::IdsInput>(&recipe.input)) {
        require_count(field::labels_of_ids, ids->labels, std::ssize(ids->ids));
    } else if (const auto* positions = std::get_if<model::PositionsInput>(&recipe.input)) {
        require_count(field::labels_of_positions, positions->labels, positions->count);
        if (!positions->keys && !positions->key_labels.empty()) {
            input.at(field::key_labels.name()).refuse(fmt::format("only with {}", field::key_positions.name()));
        }
        require_count(field::key_labels, positions->key_labels, positions->keys.value_or(0));
    }
}

// ---- draws -----------------------------------------------------------------------------------------------------------

/// The limits of integers are whole numbers that a double holds, and the upper one is there.
void require_whole_limits(const JsonObject& object)
{
    (void)object.at(draw_field::high.name());
    const std::string allowed = fmt::format("a whole number, -{0} to {0}", draw_field::largest_integer);
    for (const draw_field::Draws* limit : {&draw_field::low, &draw_field::high}) {
        const JsonValue* given = object.find(limit->name());
        const double number = given == nullptr ? 0 : given->number(limit->allowed.in_words);
        const bool digits = given != nullptr && given->text().find_first_of(".eE") == std::string_view::npos;
        const bool rounded = digits && math::fixed(number, 0) != given->text();
        if (rounded || number != std::trunc(number) || std::fabs(number) > static_cast<double>(draw_field::largest_integer)) {
            given->refuse(allowed);
        }
    }
}

void require_range(const JsonObject& object, const Draw& draw)
{
    const bool integers = draw.init == model::Initialisation::integers;
    if (integers) {
        require_whole_limits(object);
    }
    const bool uniform = draw.init == model::Initialisation::uniform;
    // high - low is computed in the tensor's type and must stay finite there.
    if ((integers && draw.first >= draw.second) ||
        (uniform && (draw.first > draw.second || !std::isfinite(draw.second - draw.first)))) {
        const auto shown = [&](const draw_field::Draws& of) {
            return std::string(object.has(of.name()) ? object.at(of.name()).text().substr(0, 40) : of.usual);
        };
        throw Error(ErrorKind::data, object.value().place() + ": low and high",
                    fmt::format("{} and {}", shown(draw_field::low), shown(draw_field::high)),
                    integers ? "low < high, since high itself is not drawn" : "low ≤ high, and high - low finite");
    }
}

void require_take(const JsonObject& object, const Draw& draw)
{
    const JsonValue* take = object.find(draw_field::take.name());
    if (take == nullptr) {
        return;
    }
    if (draw.target == Target::none) {
        take->refuse("only with tensor");
    }
    const std::vector<model::Length>& shape = *draw.shape;
    if (draw.take.size() > shape.size()) {
        take->refuse(fmt::format("at most one index for each of the {} dimensions of shape", shape.size()));
    }
    for (std::size_t i = 0; i < draw.take.size(); ++i) {
        if (const Index* length = std::get_if<Index>(&shape[i])) {
            (void)take->elements()[i].integer(0, *length - 1);
        }
    }
}

/// A tensor that is stated has nothing of one that is drawn.
Draw literal_draw(const JsonObject& object)
{
    for (const draw_field::Draws* field : draw_field::all) {
        const JsonValue* given = object.find(field->name());
        if (given != nullptr && std::ranges::find(draw_field::literal, field) == draw_field::literal.end()) {
            given->refuse(fmt::format("only without \"{}\"", draw_field::values.name()));
        }
    }
    Draw draw;
    read_fields(object, draw_field::literal, "", draw);
    return draw;
}

Draw draw_of(const JsonObject& object)
{
    const JsonValue* discard = object.find(draw_field::discard.name());
    if ((discard != nullptr) == object.has(draw_field::tensor.name())) {
        object.value().refuse(R"(one of seed, tensor, discard; or "init": "multihead_attention" without them)");
    }
    if (discard != nullptr && !discard->boolean()) {
        discard->refuse("true");
    }
    if (const JsonValue* values = object.find(draw_field::values.name())) {
        if (discard != nullptr) {
            values->refuse("only with " + std::string(draw_field::tensor.name()));
        }
        return literal_draw(object);
    }
    Draw draw;
    std::vector<const draw_field::Draws*> fields(draw_field::all.begin() + (discard == nullptr ? 0 : 1), draw_field::all.end());
    read_fields(object, fields, "", draw);
    if (discard != nullptr || object.has(draw_field::take.name())) {
        (void)object.at(draw_field::shape.name());
    }
    require_range(object, draw);
    require_take(object, draw);
    return draw;
}

/// {"init": "multihead_attention"}, which names no tensor.
bool is_layer(const JsonObject& object)
{
    const JsonValue* init = object.find(draw_field::init.name());
    constexpr auto layer = static_cast<std::size_t>(model::Initialisation::multihead_attention);
    return init != nullptr && init->kind() == JsonKind::string && init->text() == model::init_names.at(layer);
}

model::Step step_of(const JsonValue& value)
{
    constexpr const draw_field::Seeds& seed = draw_field::seed;
    std::vector<std::string_view> keys = keys_within("", draw_field::all);
    keys.insert(keys.begin(), seed.name());
    keys.insert(keys.begin() + 2, draw_field::discard.name());
    keys.push_back(draw_field::values.name());
    const JsonObject object(value, keys);
    if (!object.has(seed.name()) && is_layer(object)) {
        Draw layer;
        read_fields(JsonObject(value, keys_within("", draw_field::of_layer)), draw_field::of_layer, "", layer);
        return layer;
    }
    if (!object.has(seed.name())) {
        return draw_of(object);
    }
    model::Seed read;
    read_fields(JsonObject(value, {seed.name()}), std::array{&seed}, "", read);
    return read;
}

std::variant<model::Seed, model::TensorDraw> model_step_of(const JsonValue& value)
{
    std::vector<std::string_view> keys = keys_within("", draw_field::of_model);
    keys.insert(keys.begin(), {draw_field::seed.name(), draw_field::tensor.name(), draw_field::head.name()});
    const JsonObject object(value, keys);
    if (object.has(draw_field::seed.name())) {
        return std::get<model::Seed>(step_of(value));
    }
    model::TensorDraw step{.tensor = object.at(draw_field::tensor.name()).string(), .numbers = {}};
    read_fields(object, draw_field::of_model, "", step.numbers);
    require_range(object, step.numbers);
    if (step.numbers.init == model::Initialisation::identity) {
        object.at(draw_field::init.name()).refuse("one that draws, or zeros");
    }
    if (const JsonValue* head = object.find(draw_field::head.name())) {
        step.numbers.head = head->integer(0, field::most_heads - 1);
    }
    return step;
}

// ---- the whole -------------------------------------------------------------------------------------------------------

/// Whether a value of a field can be of this kind.
bool takes(const FieldInfo& field, JsonKind kind)
{
    switch (field.allowed.type) {
    case FieldType::text:
    case FieldType::choice: return kind == JsonKind::string;
    case FieldType::integer:
    case FieldType::real: return kind == JsonKind::number;
    case FieldType::text_or_texts: return kind == JsonKind::string || kind == JsonKind::array;
    case FieldType::mask:
    case FieldType::integers: return kind == JsonKind::array;
    default: return false;
    }
}

/// An object is wanted: the forms that begin with a required field, where there are, of those that could have this value.
[[noreturn]] void refuse_form(const JsonValue& value, std::string_view section)
{
    std::string all, fitting;
    for (const auto& kind : model::kinds_of(section, field::all)) {
        const FieldInfo& first = *kind.front();
        if (!section.empty() && first.required && first.section() == section) {
            const bool fits = takes(first, value.kind());
            const bool number = fits && value.kind() == JsonKind::number && value.text().size() <= 40;
            const std::string form =
                "{\"" + std::string(first.name()) + "\": " + (number ? std::string(value.text()) : "…") + "}";
            all += (all.empty() ? "" : " or ") + form;
            fitting += !fits ? "" : (fitting.empty() ? "" : " or ") + form;
        }
    }
    const std::string& forms = fitting.empty() ? all : fitting;
    value.refuse(forms.empty() ? "an object" : "an object, such as " + forms);
}

/// The fields of the kind of section that is there.
template <typename Fields>
auto fields_given(const JsonValue& value, std::string_view section, const Fields& all)
{
    const auto kinds = model::kinds_of(section, all);
    if (kinds.size() == 1) {
        return kinds.front();
    }
    const JsonObject object(value, keys_within(section, all));
    const auto is_there = [&](const auto& kind) { return object.has(kind.front()->name()); };
    if (std::ranges::count_if(kinds, is_there) != 1) {
        std::vector<std::string_view> names;
        std::ranges::transform(kinds, std::back_inserter(names), [](const auto& kind) { return kind.front()->name(); });
        value.refuse("exactly one of " + joined(names));
    }
    return *std::ranges::find_if(kinds, is_there);
}

} // namespace

void read_section(const JsonValue& value, std::string_view section, Recipe& recipe)
{
    static constexpr std::array<Alias, 4> of_torch{
        {{"key_padding_mask", "hide"}, {"attn_mask", "mask"}, {"is_causal", "causal"}, {"dropout_p", "dropout"}}};
    if (value.kind() != JsonKind::object) {
        refuse_form(value, section);
    }
    const std::vector<const field::Recipes*> fields = fields_given(value, section, field::all);
    const std::vector<std::string_view> keys = keys_within(section, fields);
    const bool attention = section == field::causal.section();
    const JsonObject object(value, keys, attention ? std::span<const Alias>(of_torch) : std::span<const Alias>());
    read_fields(object, fields, section, recipe);
    for (const std::string_view key : keys) {
        const std::string inner = std::string(section) + (section.empty() ? "" : ".") + std::string(key);
        const bool is_section = std::ranges::any_of(fields, [&](const auto* f) { return f->section() == inner; });
        const bool required = inner == field::sentence.section();
        if (const JsonValue* given = is_section && required ? &object.at(key) : object.find(key); is_section && given) {
            read_section(*given, inner, recipe);
        }
    }
    if (section == field::sentence.section()) {
        require_labels(object, recipe);
    }
}

FieldValue parse_value(std::string_view json, const Allowed& allowed, const std::string& place)
{
    const JsonDocument document(json, place);
    return value_of({document, 0, place}, allowed);
}

model::Step parse_step(std::string_view json, const std::string& place)
{
    const JsonDocument document(json, place);
    return step_of({document, 0, place});
}

model::ModelDraws parse_model_draws(std::string_view json)
{
    const JsonDocument document(json);
    const JsonObject object(document.root(), {field::title.name(), field::source.name(), field::note.name(),
                                              field::generator.name(), field::draws.name()});
    model::ModelDraws draws;
    if (const JsonValue* generator = object.find(field::generator.name())) {
        draws.generator = static_cast<model::Generator>(generator->one_of(model::generator_names));
    }
    for (const JsonValue& step : object.at(field::draws.name()).elements()) {
        draws.steps.push_back(model_step_of(step));
    }
    return draws;
}

Recipe recipe_of(const JsonValue& value)
{
    Recipe recipe;
    read_section(value, "", recipe);
    const JsonObject object(value, keys_within("", field::all));
    for (const JsonValue& step : object.at(field::draws.name()).elements()) {
        recipe.draws.push_back(step_of(step));
    }
    if (const JsonValue* published = object.find(field::published.name())) {
        recipe.published = published_of(*published);
    }
    if (const JsonValue* precision = object.find(field::precision.name())) {
        recipe.precision = precision_of(*precision);
    }
    return recipe;
}

model::TrainedConfig trained_config_of(const JsonValue& value)
{
    namespace trained = model::trained_field;
    model::TrainedConfig config;
    const JsonObject object(value, keys_within("", trained::all));
    read_fields(object, trained::all, "", config);
    for (const std::string_view section : {trained::sentence.section(), trained::name.section()}) {
        const JsonValue& given = object.at(section);
        const auto fields = fields_given(given, section, trained::all);
        read_fields(JsonObject(given, keys_within(section, fields)), fields, section, config);
    }
    return config;
}

Recipe parse_config(std::string_view json)
{
    const JsonDocument document(json);
    return recipe_of(document.root());
}

Recipe parse_recipe(std::string_view json)
{
    Recipe recipe = parse_config(json);
    for (std::size_t step = 0; step < recipe.draws.size(); ++step) {
        const auto* draw = std::get_if<Draw>(&recipe.draws[step]);
        if (draw != nullptr && draw->target == Target::W_o && draw->init == model::Initialisation::linear && !draw->side) {
            throw Error(ErrorKind::data, model::place_of_step(step) + ": side of W_o", "none",
                        R"("left", as nn.Linear draws it, or "right", its transpose)");
        }
    }
    return recipe;
}

} // namespace attn::io
