#include "attn/io/json/saved_result.hpp"

#include "attn/io/json/json_reader.hpp"
#include "attn/io/json/recipe.hpp"
#include "attn/model/check/summary_members.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>

namespace attn::io {
namespace {

using model::Item;
using model::ItemKind;
using model::SavedResult;
using model::StatedArray;
namespace key = model::key;

constexpr Index largest = std::numeric_limits<Index>::max();

std::optional<std::string_view> decimal_or_null(JsonKind kind, std::string_view text)
{
    return kind == JsonKind::null ? std::optional<std::string_view>("null") : decimal(kind, text);
}

std::optional<std::string_view> natural(JsonKind kind, std::string_view text)
{
    const bool digits = std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
    return kind == JsonKind::number && digits ? std::optional(text) : std::nullopt;
}

StatedArray numbers_of(std::string name, const JsonValue& value)
{
    const bool masked = model::is_masked(model::item_called(name));
    auto [shape, decimals] = masked ? value.nested(decimal_or_null, R"(a number, "inf", "-inf", "nan", or null where masked)")
                                    : value.nested(decimal, R"(a number, "inf", "-inf" or "nan")");
    return {std::move(name), std::move(shape), std::move(decimals)};
}

StatedArray integers_of(std::string name, const JsonValue& value)
{
    const bool mean = name == name_of(Item::heads) && value.kind() == JsonKind::string;
    if (mean && value.text() == model::field::head.allowed.instead) {
        return {std::move(name), {1}, {std::to_string(model::mean_of_heads)}};
    }
    auto [shape, decimals] = value.nested(natural, "integers of 0 and more");
    return {std::move(name), std::move(shape), std::move(decimals)};
}

/// What was read of `value`, if it is no list.
StatedArray one(StatedArray stated, const JsonValue& value)
{
    if (!stated.shape.empty()) {
        value.refuse("one number");
    }
    return stated;
}

void read_vocabulary(const JsonValue& value, SavedResult& saved)
{
    saved.vocabulary.emplace();
    for (const auto& [word, id] : value.members()) {
        saved.vocabulary->emplace_back(word, std::to_string(id.integer(0, largest)));
    }
}

void read_parameters(const JsonValue& value, SavedResult& saved)
{
    const JsonObject object(value, parameter_names());
    for (const auto& [name, parameter] : value.members()) {
        saved.arrays.push_back(numbers_of(name, parameter));
    }
}

model::StatedSummary stated_summary(const JsonValue& value)
{
    model::StatedSummary stated;
    const std::size_t before = value.place().rfind(name_of(Item::summary)); // "layers[0]."
    const auto name = [&](const JsonValue& leaf) { return leaf.place().substr(before); };
    const auto add_number = [&](const JsonValue* leaf) {
        if (leaf != nullptr) {
            stated.values.push_back(one(numbers_of(name(*leaf), *leaf), *leaf));
        }
    };
    const JsonObject summary(value, {key::largest_entropy, key::heads});
    add_number(summary.find(key::largest_entropy));
    std::vector<std::string_view> of_head{key::pairs};
    std::ranges::transform(model::head_mean::all, std::inserter(of_head, of_head.begin()), &model::HeadMean::name);
    for (const JsonValue& member : summary.at(key::heads).elements()) {
        const JsonObject head(member, of_head);
        for (const model::HeadMean& mean : model::head_mean::all) {
            add_number(head.find(mean.name));
        }
        const std::vector<JsonValue> pairs = head.at(key::pairs).elements();
        if (std::ssize(pairs) > model::largest_top) {
            head.at(key::pairs).refuse(fmt::format("up to {} pairs", model::largest_top));
        }
        stated.top = std::max(stated.top, std::ssize(pairs));
        for (const JsonValue& element : pairs) {
            constexpr auto& ends = model::pair_ends;
            const JsonObject pair(element, {ends[0].position, ends[0].token, ends[1].position, ends[1].token, key::weight});
            for (const model::PairEnd& end : ends) {
                const JsonValue& position = pair.at(end.position);
                stated.values.push_back(one(integers_of(name(position), position), position));
            }
            for (const model::PairEnd& end : ends) {
                stated.values.push_back({name(pair.at(end.token)), {}, {pair.at(end.token).string()}});
            }
            add_number(&pair.at(key::weight));
        }
    }
    return stated;
}

void read_verify(const JsonValue& value, SavedResult& saved)
{
    for (const auto& [array, difference] : value.members()) {
        const JsonObject object(difference, key::of_difference);
        const auto decimal = [&](std::string_view key) {
            return one(numbers_of("", object.at(key)), object.at(key)).decimals.front();
        };
        saved.verify.push_back({array, decimal(key::absolute), decimal(key::relative)});
    }
}

void read_item(const JsonValue& value, const model::ItemInfo& info, SavedResult& saved)
{
    switch (info.kind) {
    case ItemKind::words: (info.item == Item::tokens ? saved.tokens : saved.key_tokens) = value.strings(); return;
    case ItemKind::vocabulary: return read_vocabulary(value, saved);
    case ItemKind::integers: saved.arrays.push_back(integers_of(std::string(info.name), value)); return;
    case ItemKind::parameters: return read_parameters(value, saved);
    case ItemKind::numbers: saved.arrays.push_back(numbers_of(std::string(info.name), value)); return;
    case ItemKind::summary: saved.summary = stated_summary(value); return;
    }
}

void read_items(const JsonObject& object, SavedResult& saved)
{
    for (const model::ItemInfo& info : model::items) {
        if (const JsonValue* item = object.find(info.name)) {
            read_item(*item, info, saved);
        }
    }
}

/// These keys, and the items that are there.
template <typename IsThere>
std::vector<std::string_view> keys_with(std::span<const std::string_view> keys, IsThere is_there)
{
    std::vector<std::string_view> all(keys.begin(), keys.end());
    for (const model::ItemInfo& info : model::items) {
        if (is_there(info)) {
            all.push_back(info.name);
        }
    }
    return all;
}

std::optional<Index> index_of(const JsonObject& object)
{
    const JsonValue* index = object.find(key::index);
    return index == nullptr ? std::nullopt : std::optional(index->integer(0, largest));
}

void read_warnings(const JsonObject& object, SavedResult& saved)
{
    if (const JsonValue* warnings = object.find(key::warnings)) {
        saved.warnings = warnings->strings();
    }
}

SavedResult saved_result_of(const JsonValue& value)
{
    const JsonObject object(value, keys_with(key::of_result, [](const model::ItemInfo& info) {
                                return info.shown_by != model::ShownBy::attend && info.needs != model::Needs::model;
                            }));
    (void)object.at(key::schema).one_of({name_of(Document::result)});
    SavedResult saved;
    saved.config = recipe_of(object.at(key::config));
    saved.index = index_of(object);
    read_items(object, saved);
    if (const JsonValue* verify = object.find(key::verify)) {
        read_verify(*verify, saved);
    }
    read_warnings(object, saved);
    return saved;
}

// ---- whole trained models --------------------------------------------------------------------------------------------

std::vector<StatedArray> stated_guesses(const JsonValue& value)
{
    std::vector<StatedArray> stated;
    const auto integer = [&](const JsonValue& given) { stated.push_back(one(integers_of(given.place(), given), given)); };
    for (const JsonValue& member : value.elements()) {
        const JsonObject place(member, key::of_place);
        integer(place.at(key::position));
        for (const JsonValue& element : place.at(key::words).elements()) {
            const JsonObject word(element, key::of_word);
            const JsonValue& probability = word.at(key::probability);
            stated.push_back({word.at(key::token).place(), {}, {word.at(key::token).string()}});
            integer(word.at(key::id));
            stated.push_back(one(numbers_of(probability.place(), probability), probability));
        }
    }
    return stated;
}

model::SavedLayers saved_layers_of(const JsonValue& value)
{
    const auto stands = [](model::Standing standing) {
        return [standing](const model::ItemInfo& info) { return model::standing_of(info.item) == standing; };
    };
    const JsonObject object(value, keys_with(key::of_layers, stands(model::Standing::before_layers)));
    (void)object.at(key::schema).one_of({name_of(Document::layers)});
    model::SavedLayers saved;
    saved.config = trained_config_of(object.at(key::config));
    saved.index = index_of(object);
    for (const JsonValue& element : object.at(key::layers).elements()) {
        const JsonObject layer(element, keys_with(key::of_layer, stands(model::Standing::in_layer)));
        SavedResult& one = saved.layers.emplace_back();
        one.layer = layer.at(key::layer).integer(0, model::trained_field::most_layers - 1);
        if (saved.layers.size() > 1 && saved.layers[saved.layers.size() - 2].layer >= one.layer) {
            layer.at(key::layer).refuse("ascending layers");
        }
        for (const std::string_view section : key::sections_of_layer) {
            if (const JsonValue* stated = layer.find(section)) {
                read_section(*stated, section, one.config);
            }
        }
        read_items(layer, one);
    }
    if (saved.layers.empty()) {
        object.at(key::layers).refuse("at least one layer");
    }
    SavedResult& first = saved.layers.front();
    for (const model::ItemInfo& info : model::items) {
        const bool common = model::standing_of(info.item) == model::Standing::before_layers;
        if (const JsonValue* item = common ? object.find(info.name) : nullptr) {
            read_item(*item, info, first);
        }
    }
    if (const JsonValue* logits = object.find(name_of(Item::logits))) {
        saved.logits = numbers_of(std::string(name_of(Item::logits)), *logits);
    }
    if (const JsonValue* guesses = object.find(key::likeliest)) {
        saved.guesses = stated_guesses(*guesses);
    }
    read_warnings(object, first);
    return saved;
}

/// Whether these are the two members of what --lines writes in the place of a line that failed.
bool is_failed_line(std::string_view json)
{
    const JsonDocument document(json);
    const std::vector<JsonValue::Member> members = document.root().members();
    return members.size() == 2 && members[0].first == key::index && members[1].first == key::error;
}

} // namespace

SavedResult parse_saved_result(std::string_view json)
{
    const JsonDocument document(json);
    return saved_result_of(document.root());
}

model::SavedLayers parse_saved_layers(std::string_view json)
{
    const JsonDocument document(json);
    return saved_layers_of(document.root());
}

Document kind_of(std::string_view json)
{
    const std::optional<std::string> schema = schema_of(json);
    if (!schema) {
        return is_failed_line(json) ? Document::failed_line : Document::unknown;
    }
    const auto* const known = std::ranges::find(model::document_names, *schema);
    return known == model::document_names.end() ? Document::unknown
                                                : static_cast<Document>(known - model::document_names.begin());
}

void refuse_schema(std::string_view json, std::initializer_list<Document> allowed)
{
    const std::optional<std::string> schema = schema_of(json);
    std::vector<std::string_view> names;
    std::ranges::transform(allowed, std::back_inserter(names), [](Document document) { return name_of(document); });
    throw Error(ErrorKind::data, fmt::format(R"("{}")", key::schema), schema ? in_quotes(*schema) : "none", joined(names));
}

std::string parse_failed_line(std::string_view json)
{
    const JsonDocument document(json);
    const JsonObject object(document.root(), key::of_failed_line);
    [[maybe_unused]] const Index index = object.at(key::index).integer(0, largest);
    const JsonObject error(object.at(key::error), key::of_error);
    [[maybe_unused]] const Index code = error.at(key::code).integer(0, 255);
    return error.at(key::message).string();
}

} // namespace attn::io
