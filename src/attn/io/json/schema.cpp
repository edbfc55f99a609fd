#include "attn/io/json/schema.hpp"

#include "attn/io/builtin.hpp"
#include "attn/io/json/recipe.hpp"
#include "attn/model/recipe/documents.hpp"
#include "attn/model/run/result.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <iterator>

namespace attn::io {
namespace {

using model::Allowed;
using model::FieldInfo;
using model::FieldType;
using model::ItemInfo;
using model::ItemKind;
using model::Target;
namespace field = model::field;
namespace draw_field = model::draw_field;

using OrderedJson = nlohmann::ordered_json;
using Fields = std::vector<const FieldInfo*>;

// ---- values ----------------------------------------------------------------------------------------------------------

OrderedJson text_schema(const std::string& pattern = {})
{
    return pattern.empty() ? OrderedJson{{"type", "string"}} : OrderedJson{{"type", "string"}, {"pattern", pattern}};
}

OrderedJson integer_schema(const Allowed& allowed)
{
    OrderedJson schema{{"type", "integer"}, {"minimum", allowed.least}, {"maximum", allowed.most}};
    if (allowed.multiple_of != 1) {
        schema["multipleOf"] = allowed.multiple_of;
    }
    return schema;
}

OrderedJson real_schema(const Allowed& allowed)
{
    OrderedJson schema{{"type", "number"}};
    if (allowed.above != Allowed().above) {
        schema[allowed.above_itself ? "minimum" : "exclusiveMinimum"] = allowed.above;
    }
    if (allowed.below != Allowed().below) {
        schema["exclusiveMaximum"] = allowed.below;
    }
    return allowed.none ? OrderedJson{{"anyOf", {schema, {{"const", "none"}}}}} : schema;
}

/// Of a length: letters with * between them.
std::string product_pattern()
{
    std::string letters;
    for (const std::string_view letter : model::length_letters) {
        letters.append(letters.empty() ? "(" : "|").append(letter);
    }
    return "^" + letters + ")(\\*" + letters + "))*$";
}

OrderedJson several_schema(const Allowed& allowed, OrderedJson item)
{
    OrderedJson schema{{"type", "array"}};
    if (allowed.fewest != 0) {
        schema["minItems"] = allowed.fewest;
    }
    if (allowed.longest != 0) {
        schema["maxItems"] = allowed.longest;
    }
    schema["items"] = std::move(item);
    return schema;
}

OrderedJson value_schema(const FieldInfo& field)
{
    const Allowed& allowed = field.allowed;
    switch (allowed.type) {
    case FieldType::flag: return {{"type", "boolean"}};
    case FieldType::integer: return integer_schema(allowed);
    case FieldType::natural:
        return {{"type", "integer"}, {"minimum", 0}, {"maximum", std::numeric_limits<std::uint64_t>::max()}};
    case FieldType::real: return real_schema(allowed);
    case FieldType::choice: return {{"enum", allowed.names.subspan(static_cast<std::size_t>(allowed.least))}};
    case FieldType::text: return text_schema();
    case FieldType::digest: return text_schema("^[0-9a-f]{64}$");
    case FieldType::texts: return several_schema(allowed, text_schema());
    case FieldType::text_or_texts: return {{"anyOf", {text_schema(), several_schema(allowed, text_schema())}}};
    case FieldType::integers: {
        OrderedJson list = several_schema(allowed, integer_schema(allowed));
        return allowed.instead.empty() ? list : OrderedJson{{"anyOf", {list, {{"const", allowed.instead}}}}};
    }
    case FieldType::rows: return several_schema(allowed, {{"anyOf", {text_schema(), integer_schema(allowed)}}});
    case FieldType::lengths:
        return several_schema(allowed, {{"anyOf", {integer_schema(allowed), text_schema(product_pattern())}}});
    case FieldType::choices: return several_schema(allowed, {{"enum", allowed.names}});
    case FieldType::numbers:
    case FieldType::mask:
    case FieldType::objects: break;
    }
    return {{"$ref", "#" + std::string(field.key)}};
}

/// With a description such as "query heads (default 1)".
OrderedJson field_schema(const FieldInfo& field)
{
    OrderedJson schema = value_schema(field);
    const std::string usual = field.usual.empty() ? "" : fmt::format("(default {})", field.usual);
    if (!field.meaning.empty() || !usual.empty()) {
        schema["description"] = std::string(field.meaning) + (field.meaning.empty() || usual.empty() ? "" : " ") + usual;
    }
    return schema;
}

// ---- objects ---------------------------------------------------------------------------------------------------------

OrderedJson section_schema(const Fields& fields, std::string_view section);

/// What the choice of another field must be where this one is.
OrderedJson condition_of(const model::OnlyWith& only)
{
    OrderedJson choices = OrderedJson::array();
    for (Index place = only.first; place <= only.last; ++place) {
        if (only.allows(place)) {
            choices.push_back(only.other->allowed.names[static_cast<std::size_t>(place)]);
        }
    }
    return {{"properties", {{only.other->name(), {{"enum", choices}}}}}};
}

/// An object with these fields and with the sections that they make. One of several kinds must be there.
OrderedJson object_schema(const Fields& fields, std::string_view section)
{
    OrderedJson properties = OrderedJson::object(), required = OrderedJson::array(), conditions = OrderedJson::object();
    for (const FieldInfo* field : fields) {
        const std::string key(model::key_within(field->key, section));
        if (key.empty() || properties.contains(key)) {
            continue;
        }
        if (field->section() != section) {
            properties[key] =
                section_schema(fields, field->key.substr(0, (section.empty() ? 0 : section.size() + 1) + key.size()));
            if (section.empty() && properties[key].contains("oneOf")) { // the input
                required.push_back(key);
            }
            continue;
        }
        properties[key] = field_schema(*field);
        if (field->required) {
            required.push_back(key);
        }
        if (field->only.other != nullptr) {
            conditions[key] = condition_of(field->only);
        }
    }
    OrderedJson schema{{"type", "object"}, {"additionalProperties", false}};
    if (!required.empty()) {
        schema["required"] = required;
    }
    schema["properties"] = properties;
    if (!conditions.empty()) {
        schema["dependentSchemas"] = conditions;
    }
    return schema;
}

/// One object, or one of several where the section has several required fields, each of which then begins another.
OrderedJson section_schema(const Fields& fields, std::string_view section)
{
    OrderedJson schemas = OrderedJson::array();
    for (const Fields& kind : model::kinds_of(section, fields)) {
        schemas.push_back(object_schema(kind, section));
    }
    return schemas.size() == 1 ? schemas[0] : OrderedJson{{"oneOf", schemas}};
}

// ---- recipes ---------------------------------------------------------------------------------------------------------

OrderedJson skeleton(std::string_view name)
{
    return OrderedJson::parse(*find(builtin_schemas(), name));
}

/// Of one tensor. Integers have an upper limit, and whole numbers as limits.
OrderedJson draw_schema(const Fields& fields)
{
    OrderedJson draw = object_schema(fields, "");
    const std::string init(draw_field::init.name());
    draw["properties"][init]["enum"].erase(static_cast<std::size_t>(model::Initialisation::multihead_attention));
    const OrderedJson limit = integer_schema(model::allow::integer(-draw_field::largest_integer, draw_field::largest_integer));
    const std::string_view high = draw_field::high.name();
    constexpr auto integers = static_cast<std::size_t>(model::Initialisation::integers);
    draw["if"]["properties"][init]["const"] = model::init_names.at(integers);
    draw["then"] = {{"required", OrderedJson::array({high})}, {"properties", {{draw_field::low.name(), limit}, {high, limit}}}};
    return draw;
}

/// A whole layer, whose initialisation no tensor of its own can have.
OrderedJson layer_schema()
{
    OrderedJson layer = object_schema({draw_field::of_layer.begin(), draw_field::of_layer.end()}, "");
    OrderedJson& init = layer["properties"][std::string(draw_field::init.name())]["enum"];
    init = OrderedJson::array({init.back()});
    return layer;
}

/// A linear W_o that says no side.
OrderedJson side_unsaid()
{
    const auto name = [](const auto& names, auto value) { return names.at(static_cast<std::size_t>(value)); };
    const OrderedJson W_o{{"const", name(model::target_names, Target::W_o)}};
    const OrderedJson linear{{"const", name(model::init_names, model::Initialisation::linear)}};
    const OrderedJson side{{"required", OrderedJson::array({draw_field::side.name()})}};
    return {{"properties", {{draw_field::tensor.name(), W_o}, {draw_field::init.name(), linear}}}, {"not", side}};
}

enum class Form { recipe, config }; ///< a config need not say the side of a linear W_o

/// A seed, a tensor drawn or stated, a draw that is thrown away, or a layer. What is thrown away needs a shape, and has nothing
/// that speaks of its tensor.
OrderedJson step_schema(Form form)
{
    const std::string_view shape = draw_field::shape.name();
    const std::string_view take = draw_field::take.name();
    const std::string_view discard = draw_field::discard.name();
    Fields of_tensor;
    std::ranges::copy_if(draw_field::all, std::back_inserter(of_tensor), [](const FieldInfo* f) {
        return f == &draw_field::init || std::ranges::find(draw_field::of_layer, f) == draw_field::of_layer.end();
    });
    OrderedJson drawn = draw_schema(of_tensor);
    drawn["dependentRequired"] = {{take, OrderedJson::array({shape})}};
    if (form == Form::recipe) {
        drawn["not"] = side_unsaid();
    }
    Fields fields{&draw_field::discard};
    std::ranges::copy_if(of_tensor, std::back_inserter(fields), [](const FieldInfo* f) {
        return f != &draw_field::tensor && f->only.other != &draw_field::tensor && f != &draw_field::take;
    });
    OrderedJson discarded = draw_schema(fields);
    discarded["required"] = {discard, draw_field::init.name(), shape};
    discarded["properties"][std::string(discard)]["const"] = true;
    const OrderedJson stated = object_schema({draw_field::literal.begin(), draw_field::literal.end()}, "");
    return {{"oneOf", {object_schema({&draw_field::seed}, ""), drawn, stated, discarded, layer_schema()}}};
}

OrderedJson recipe_schema(Form form)
{
    OrderedJson schema = skeleton("recipe");
    schema.update(object_schema({field::all.begin(), field::all.end()}, ""));
    OrderedJson& parts = schema["$defs"];
    parts[std::string(field::draws.name())]["items"] = step_schema(form);
    parts["array_name"]["enum"] = stated_names();
    return schema;
}

// ---- results ---------------------------------------------------------------------------------------------------------

OrderedJson reference(const std::string& part)
{
    return {{"$ref", "#/$defs/" + part}};
}

OrderedJson parameters_schema()
{
    OrderedJson properties = OrderedJson::object();
    for (std::size_t i = 0; i < model::target_names.size(); ++i) {
        const auto target = static_cast<Target>(i);
        if (is_parameter(target)) {
            const bool per_head = target >= Target::W_q && target <= Target::U_a && target != Target::W_o;
            properties[std::string(name_of(target))] = reference(target >= Target::b_q ? "vector"
                                                                 : per_head            ? "projection"
                                                                                       : "matrix");
        }
    }
    return {{"type", "object"}, {"additionalProperties", false}, {"properties", properties}};
}

OrderedJson numbers_schema(const ItemInfo& item)
{
    constexpr std::array parts{"vector", "matrix", "stack"};
    const std::size_t heads = item.heads == model::Heads::none ? 0 : 1;
    const std::size_t rows = item.axes.row == model::Axis::none ? 0 : 1;
    const std::size_t columns = item.axes.column == model::Axis::none ? 0 : 1;
    OrderedJson schema = reference(is_masked(item.item) ? "masked_stack" : parts.at(heads + rows + columns - 1));
    schema["description"] = item.meaning;
    return schema;
}

OrderedJson item_schema(const ItemInfo& item)
{
    switch (item.kind) {
    case ItemKind::words: return reference("words");
    case ItemKind::vocabulary:
    case ItemKind::summary: return reference(std::string(item.name));
    case ItemKind::integers:
        if (is_paired(item.item)) {
            return reference("bounds");
        }
        return item.item == model::Item::heads ? value_schema(field::head) : reference("integers");
    case ItemKind::parameters: return parameters_schema();
    case ItemKind::numbers: break;
    }
    return numbers_schema(item);
}

OrderedJson result_schema()
{
    OrderedJson schema = skeleton("result");
    const auto properties = [&](std::string_view part) -> OrderedJson& {
        return schema["$defs"][std::string(part)]["properties"];
    };
    for (const ItemInfo& item : model::items) {
        const std::string name(item.name);
        const bool of_model = is_of_models(item);
        if (item.shown_by == model::ShownBy::attend) {
            continue;
        }
        if (!of_model) {
            properties("result")[name] = item_schema(item);
        }
        const model::Standing standing = model::standing_of(item.item);
        if (standing != model::Standing::nowhere) {
            properties(standing == model::Standing::in_layer ? model::key::layer : "layered_result")[name] = item_schema(item);
        }
    }
    return schema;
}

} // namespace

std::string json_schema(std::string_view name)
{
    OrderedJson schema = name == "recipe" ? recipe_schema(Form::recipe) : name == "result" ? result_schema() : skeleton(name);
    OrderedJson& parts = schema["$defs"];
    if (const auto config = parts.find(model::key::config); config != parts.end()) {
        *config = recipe_schema(Form::config);
        config->erase("$schema");
    }
    if (const auto config = parts.find("model_config"); config != parts.end()) {
        *config = object_schema({model::trained_field::all.begin(), model::trained_field::all.end()}, "");
    }
    return schema.dump(2) + "\n";
}

} // namespace attn::io
