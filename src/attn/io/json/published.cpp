// The numbers that a recipe states.
#include "attn/io/json/json_reader.hpp"
#include "attn/io/json/recipe.hpp"
#include "attn/io/texts/printed_array.hpp"
#include "attn/math/decimal.hpp"
#include "attn/model/recipe/documents.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace attn::io {
namespace {

using model::ItemKind;
using model::Published;
namespace key = model::key;

constexpr Index largest_index = 2147483648; // 2^31
constexpr int most_units = 1000000;         ///< more would forgive anything

std::string array_of(const JsonValue& value)
{
    const std::vector<std::string_view> names = stated_names();
    if (value.kind() != JsonKind::string || std::ranges::find(names, value.text()) == names.end()) {
        value.refuse("an array of the result, such as weights, or a parameter, such as W_q");
    }
    return value.string();
}

std::vector<std::optional<Index>> at_of(const JsonValue& value)
{
    std::vector<std::optional<Index>> at;
    for (const JsonValue& index : value.elements()) {
        at.push_back(index.kind() == JsonKind::null ? std::optional<Index>() : index.integer(0, largest_index, ", or null"));
    }
    if (at.size() > 8) {
        value.refuse("at most 8 indices");
    }
    return at;
}

Shape shape_of(const JsonValue& value)
{
    Shape shape;
    for (const JsonValue& length : value.elements()) {
        shape.push_back(length.integer(0, largest_index));
    }
    if (shape.size() > 8) {
        value.refuse("at most 8 lengths");
    }
    return shape;
}

/// {"Life": 0, …} as rows of a word and its id, in the order of the ids.
void read_vocabulary(const JsonValue& values, Published& published)
{
    std::vector<std::pair<Index, std::string>> rows;
    for (const auto& [word, id] : values.members()) {
        rows.emplace_back(id.integer(0, largest_index), word);
    }
    std::ranges::stable_sort(rows, {}, &std::pair<Index, std::string>::first); // the keys of an object have no order
    for (const auto& [id, word] : rows) {
        published.values.push_back(word);
        published.values.push_back(std::to_string(id));
    }
    published.shape = {static_cast<Index>(published.values.size() / 2), 2};
}

void read_words(const JsonValue& values, Published& published)
{
    published.values = TextList(values.strings());
    published.shape = {static_cast<Index>(published.values.size())};
}

/// One text, as the article prints the array.
void read_text(const JsonValue& text, Published& published)
{
    PrintedArray array = parse_printed_array(text.text(), text.place());
    published.printed = true;
    published.digits = array.digits;
    published.shape = std::move(array.shape);
    published.values = std::move(array.texts);
}

/// Printed decimals (strings) or computed numbers, but not both; the first one decides. null stands beside either.
void read_numbers(const JsonValue& values, Published& published)
{
    if (values.kind() == JsonKind::string && !math::find_printed(values.text())) {
        return read_text(values, published);
    }
    std::optional<bool> printed;
    const auto leaf = [&](JsonKind kind, std::string_view text) -> std::optional<std::string_view> {
        if (kind == JsonKind::null) {
            return "null";
        }
        const bool is_printed = kind == JsonKind::string;
        const bool fits = is_printed ? math::find_printed(text).has_value() : kind == JsonKind::number;
        if (!fits || is_printed != printed.value_or(is_printed)) {
            return std::nullopt;
        }
        printed = is_printed;
        return text;
    };
    TextArray nested = values.nested(
        leaf,
        R"(all strings, each a float64 as printed ("0.0185", "1.4928e-02"), or all numbers; null where a score is masked)");
    published.printed = printed.value_or(false);
    published.shape = std::move(nested.shape);
    published.values = std::move(nested.texts);
}

void read_values(const JsonValue& values, Published& published)
{
    switch (model::kind_of(published.array)) {
    case ItemKind::vocabulary: read_vocabulary(values, published); break;
    case ItemKind::words: read_words(values, published); break;
    default: read_numbers(values, published);
    }
    if (published.values.empty()) {
        values.refuse("at least one value");
    }
}

constexpr std::string_view from_0 = "a finite number, 0 or more";

double tolerance_of(const JsonValue& value, std::string_view allowed = from_0)
{
    const double tolerance = value.number(allowed);
    if (tolerance < 0) {
        value.refuse(allowed);
    }
    return tolerance;
}

void read_tolerances(const JsonObject& object, Published& published)
{
    const ItemKind kind = model::kind_of(published.array);
    const bool words = kind == ItemKind::vocabulary || kind == ItemKind::words;
    const bool computed = !published.printed && !published.values.empty() && !words;
    const auto tolerance = [&](std::string_view key, bool fits, const char* allowed, std::string_view range = from_0) {
        const JsonValue* given = object.find(key);
        const double tolerance = given == nullptr ? 0 : tolerance_of(*given, range);
        if (given != nullptr && tolerance > 0 && !fits) {
            given->refuse(allowed);
        }
        return tolerance;
    };
    const std::string of_units = fmt::format("0 to {}", most_units);
    published.units = tolerance(key::units, published.printed, "only with printed values (strings)", of_units);
    if (published.units > most_units) {
        object.at(key::units).refuse(of_units);
    }
    published.rtol = tolerance(key::rtol, computed, "only with computed values (numbers)");
    published.atol = tolerance(key::atol, computed, "only with computed values (numbers)");
}

Published statement_of(const JsonValue& value)
{
    const JsonObject object(value, key::of_published);
    Published published;
    published.array = array_of(object.at(key::array));
    if (const JsonValue* at = object.find(key::at)) {
        published.at = at_of(*at);
    }
    if (const JsonValue* values = object.find(key::values)) {
        read_values(*values, published);
    }
    if (const JsonValue* shape = object.find(key::shape)) {
        Shape stated = shape_of(*shape);
        if (!published.values.empty() && stated != published.shape) {
            shape->refuse("the shape of values, " + to_string(published.shape));
        }
        published.shape = std::move(stated);
    } else if (published.values.empty()) {
        value.refuse("values, shape, or both");
    }
    read_tolerances(object, published);
    if (const JsonValue* dtype = object.find(key::dtype)) {
        published.dtype = static_cast<Dtype>(dtype->one_of(dtype_names));
    }
    return published;
}

model::PrecisionClaim claim_of(const JsonValue& value)
{
    const JsonObject object(value, key::of_precision);
    const auto tolerance = [&](std::string_view key) { return object.has(key) ? tolerance_of(object.at(key)) : 0; };
    return {.array = array_of(object.at(key::array)), .rtol = tolerance(key::rtol), .atol = tolerance(key::atol)};
}

template <typename Read>
auto each_of(const JsonValue& list, Read read)
{
    std::vector<decltype(read(list))> all;
    for (const JsonValue& element : list.elements()) {
        all.push_back(read(element));
    }
    return all;
}

} // namespace

std::vector<std::string_view> parameter_names()
{
    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < model::target_names.size(); ++i) {
        if (model::is_parameter(static_cast<model::Target>(i))) {
            names.push_back(model::target_names[i]);
        }
    }
    return names;
}

std::vector<std::string_view> stated_names()
{
    std::vector<std::string_view> names = parameter_names();
    for (const model::ItemInfo& item : model::items) {
        if (is_shown_by(item, model::ShownBy::run) && item.kind != ItemKind::parameters && item.kind != ItemKind::summary) {
            names.push_back(item.name);
        }
    }
    return names;
}

std::vector<Published> published_of(const JsonValue& value)
{
    return each_of(value, statement_of);
}

std::vector<model::PrecisionClaim> precision_of(const JsonValue& value)
{
    return each_of(value, claim_of);
}

} // namespace attn::io
