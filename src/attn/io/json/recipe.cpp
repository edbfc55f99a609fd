#include "attn/io/json/recipe.hpp"

#include "attn/io/json/json_reader.hpp"
#include "attn/model/recipe/recipe_fields.hpp"
#include "attn/tensor/error.hpp"

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
        value.refuse("1 to " + std::to_string(allowed.most) +
                     R"(, or a product of V, T, S, D, H, H_kv, d_k, d_v such as "H*d_k")");
    }
    return value.string();
}

std::string row_of(const JsonValue& value, const Allowed& allowed)
{
    return value.kind() == JsonKind::number ? std::to_string(integer_of(value, allowed)) : value.string();
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

FieldValue value_of(const JsonValue& value, const Allowed& allowed)
{
    switch (allowed.type) {
    case FieldType::flag: return value.boolean();
    case FieldType::integer: return integer_of(value, allowed);
    case FieldType::natural: return value.unsigned_integer();
    case FieldType::real: return real_of(value, allowed);
    case FieldType::choice: {
        const auto first = static_cast<std::size_t>(allowed.least);
        return static_cast<Index>(first + value.one_of(allowed.names.subspan(first)));
    }
    case FieldType::text: return value.string();
    case FieldType::texts: return value.strings();
    case FieldType::digest: return digest_of(value);
    case FieldType::integers: return several(value, allowed, integer_of);
    case FieldType::rows: return several(value, allowed, row_of);
    case FieldType::lengths: return several(value, allowed, length_of);
    case FieldType::choices:
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

/// A sentence, ids or positions: the field that is required of each says which it is.
void read_input(const JsonValue& value, std::string_view section, Recipe& recipe)
{
    const std::array<std::pair<const field::Recipes*, model::Input>, 3> kinds{
        {{&field::sentence, model::SentenceInput{}},
         {&field::ids, model::IdsInput{}},
         {&field::positions_count, model::PositionsInput{}}}};
    const JsonObject input(value, keys_within(section, field::all));
    int found = 0;
    for (const auto& [key, kind] : kinds) {
        if (input.has(key->name())) {
            recipe.input = kind;
            ++found;
        }
    }
    if (found != 1) {
        value.refuse("exactly one of sentence, ids, positions");
    }
    std::vector<const field::Recipes*> fields;
    std::ranges::copy_if(field::all, std::back_inserter(fields),
                         [&](const auto* f) { return f->section() == section && f->member.exists(recipe); });
    const JsonObject chosen(value, keys_within(section, fields));
    read_fields(chosen, fields, section, recipe);
    const auto require_count = [&](std::size_t labels, Index count) {
        if (labels != 0 && static_cast<Index>(labels) != count) {
            chosen.at(field::labels_of_ids.name()).refuse("a label for each of " + std::to_string(count));
        }
    };
    if (const auto* ids = std::get_if<model::IdsInput>(&recipe.input)) {
        require_count(ids->labels.size(), std::ssize(ids->ids));
    } else if (const auto* positions = std::get_if<model::PositionsInput>(&recipe.input)) {
        require_count(positions->labels.size(), positions->count);
    }
}

// ---- draws -----------------------------------------------------------------------------------------------------------

/// The limits of integers are whole numbers that a double holds, and the upper one is there.
void require_whole_limits(const JsonObject& object)
{
    (void)object.at(draw_field::high.name());
    for (const draw_field::Draws* limit : {&draw_field::low, &draw_field::high}) {
        const JsonValue* given = object.find(limit->name());
        const double number = given == nullptr ? 0 : given->number(limit->allowed.in_words);
        if (number != std::trunc(number) || std::fabs(number) > static_cast<double>(draw_field::largest_integer)) {
            const std::string most = std::to_string(draw_field::largest_integer);
            given->refuse("a whole number, -" + most + " to " + most);
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
                    shown(draw_field::low) + " and " + shown(draw_field::high),
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
        take->refuse("at most one index for each of the " + std::to_string(shape.size()) + " dimensions of shape");
    }
    for (std::size_t i = 0; i < draw.take.size(); ++i) {
        if (const Index* length = std::get_if<Index>(&shape[i])) {
            (void)take->elements()[i].integer(0, *length - 1);
        }
    }
}

Draw draw_of(const JsonObject& object)
{
    const JsonValue* discard = object.find(draw_field::discard.name());
    if ((discard != nullptr) == object.has(draw_field::tensor.name())) {
        object.value().refuse("exactly one of seed, tensor, discard");
    }
    if (discard != nullptr && !discard->boolean()) {
        discard->refuse("true");
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

model::Step step_of(const JsonValue& value)
{
    constexpr const draw_field::Seeds& seed = draw_field::seed;
    std::vector<std::string_view> keys = keys_within("", draw_field::all);
    keys.insert(keys.begin(), seed.name());
    keys.insert(keys.begin() + 2, draw_field::discard.name());
    const JsonObject object(value, keys);
    if (!object.has(seed.name())) {
        return draw_of(object);
    }
    model::Seed read;
    read_fields(JsonObject(value, {seed.name()}), std::array{&seed}, "", read);
    return read;
}

// ---- the whole -------------------------------------------------------------------------------------------------------

void read_section(const JsonValue& value, std::string_view section, Recipe& recipe)
{
    const std::vector<std::string_view> keys = keys_within(section, field::all);
    const JsonObject object(value, keys);
    read_fields(object, field::all, section, recipe);
    for (const std::string_view key : keys) {
        const std::string inner = std::string(section) + (section.empty() ? "" : ".") + std::string(key);
        const bool is_section = std::ranges::any_of(field::all, [&](const auto* f) { return f->section() == inner; });
        if (is_section && inner == field::sentence.section()) {
            read_input(object.at(key), inner, recipe);
        } else if (const JsonValue* given = object.find(key); is_section && given != nullptr) {
            read_section(*given, inner, recipe);
        }
    }
}

} // namespace

Dtype dtype_of_numbers(const JsonValue& value)
{
    return static_cast<Dtype>(value.one_of(dtype_names));
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

Recipe parse_recipe(std::string_view json)
{
    const JsonDocument document(json);
    return recipe_of(document.root());
}

} // namespace attn::io
