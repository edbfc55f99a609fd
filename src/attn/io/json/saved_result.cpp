#include "attn/io/json/saved_result.hpp"

#include "attn/io/json/json_reader.hpp"
#include "attn/io/json/recipe.hpp"
#include "attn/model/recipe/recipe_fields.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>

namespace attn::io {
namespace {

using model::Item;
using model::ItemKind;
using model::SavedResult;
using model::StatedArray;

constexpr Index largest = std::numeric_limits<Index>::max();

/// A number, or one of the strings that stand for what JSON cannot write.
std::optional<std::string_view> decimal(JsonKind kind, std::string_view text)
{
    const bool special = kind == JsonKind::string && (text == "inf" || text == "-inf" || text == "nan");
    return kind == JsonKind::number || special ? std::optional(text) : std::nullopt;
}

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
    const auto add = [&](const JsonValue* leaf, StatedArray one) {
        if (!one.shape.empty()) {
            leaf->refuse("one number");
        }
        stated.values.push_back(std::move(one));
    };
    const auto add_number = [&](const JsonValue* leaf) {
        if (leaf != nullptr) {
            add(leaf, numbers_of(name(*leaf), *leaf));
        }
    };
    const JsonObject summary(value, {"largest_entropy", "heads"});
    add_number(summary.find("largest_entropy"));
    for (const JsonValue& member : summary.at("heads").elements()) {
        const JsonObject head(member, {"entropy", "itself", "first", "previous", "next", "same", "induction", "pairs"});
        for (const char* mean : {"entropy", "itself", "first", "previous", "next", "same", "induction"}) {
            add_number(head.find(mean));
        }
        const std::vector<JsonValue> pairs = head.at("pairs").elements();
        if (std::ssize(pairs) > model::largest_top) {
            head.at("pairs").refuse(fmt::format("up to {} pairs", model::largest_top));
        }
        stated.top = std::max(stated.top, std::ssize(pairs));
        for (const JsonValue& element : pairs) {
            const JsonObject pair(element, {"query", "query_token", "key", "key_token", "weight"});
            for (const char* key : {"query", "key"}) {
                add(&pair.at(key), integers_of(name(pair.at(key)), pair.at(key)));
            }
            for (const char* key : {"query_token", "key_token"}) {
                stated.values.push_back({name(pair.at(key)), {}, {pair.at(key).string()}});
            }
            add_number(&pair.at("weight"));
        }
    }
    return stated;
}

void read_verify(const JsonValue& value, SavedResult& saved)
{
    const auto number = [](const JsonValue& given) { return given.nested(decimal, R"(a number, "inf", "-inf" or "nan")"); };
    for (const auto& [array, difference] : value.members()) {
        const JsonObject object(difference, {"absolute", "relative"});
        model::StatedDifference stated{array, "", ""};
        for (const auto& [key, decimals] : {std::pair("absolute", &stated.absolute), std::pair("relative", &stated.relative)}) {
            JsonValue::Nested scalar = number(object.at(key));
            if (!scalar.shape.empty()) {
                object.at(key).refuse("one number");
            }
            *decimals = std::move(scalar.leaves.front());
        }
        saved.verify.push_back(std::move(stated));
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

SavedResult saved_result_of(const JsonValue& value)
{
    std::vector<std::string_view> keys{"schema", "index", "config", "verify", "warnings"};
    for (const model::ItemInfo& info : model::items) {
        if (info.shown_by != model::ShownBy::attend && info.needs != model::Needs::model) {
            keys.push_back(info.name);
        }
    }
    const JsonObject object(value, keys);
    (void)object.at("schema").one_of({"attn-cli/result/1"});
    SavedResult saved;
    saved.config = recipe_of(object.at("config"));
    if (const JsonValue* index = object.find("index")) {
        saved.index = index->integer(0, largest);
    }
    for (const model::ItemInfo& info : model::items) {
        if (const JsonValue* item = object.find(info.name)) {
            read_item(*item, info, saved);
        }
    }
    if (const JsonValue* verify = object.find("verify")) {
        read_verify(*verify, saved);
    }
    if (const JsonValue* warnings = object.find("warnings")) {
        saved.warnings = warnings->strings();
    }
    return saved;
}

// ---- whole trained models --------------------------------------------------------------------------------------------

/// The items that stand there, behind other keys.
std::vector<std::string_view> keys_with(std::vector<std::string_view> keys, model::Standing standing)
{
    for (const model::ItemInfo& info : model::items) {
        if (model::standing_of(info.item) == standing) {
            keys.push_back(info.name);
        }
    }
    return keys;
}

void read_items(const JsonObject& object, SavedResult& saved)
{
    for (const model::ItemInfo& info : model::items) {
        if (const JsonValue* item = object.find(info.name)) {
            read_item(*item, info, saved);
        }
    }
}

std::vector<StatedArray> stated_guesses(const JsonValue& value)
{
    std::vector<StatedArray> stated;
    for (const JsonValue& member : value.elements()) {
        const JsonObject place(member, {"position", "words"});
        stated.push_back(integers_of(place.at("position").place(), place.at("position")));
        for (const JsonValue& element : place.at("words").elements()) {
            const JsonObject word(element, {"token", "id", "probability"});
            stated.push_back({word.at("token").place(), {}, {word.at("token").string()}});
            stated.push_back(integers_of(word.at("id").place(), word.at("id")));
            stated.push_back(numbers_of(word.at("probability").place(), word.at("probability")));
        }
    }
    return stated;
}

model::SavedLayers saved_layers_of(const JsonValue& value)
{
    const JsonObject object(value,
                            keys_with({"schema", "index", "config", "layers", name_of(Item::logits), "likeliest", "warnings"},
                                      model::Standing::before_layers));
    (void)object.at("schema").one_of({"attn-cli/result/2"});
    model::SavedLayers saved;
    saved.config = trained_config_of(object.at("config"));
    if (const JsonValue* index = object.find("index")) {
        saved.index = index->integer(0, largest);
    }
    constexpr std::array sections{model::field::heads.section(), model::field::causal.section()};
    for (const JsonValue& element : object.at("layers").elements()) {
        const JsonObject layer(element, keys_with({"layer", sections[0], sections[1]}, model::Standing::in_layer));
        SavedResult& one = saved.layers.emplace_back();
        one.layer = layer.at("layer").integer(0, model::trained_field::most_layers - 1);
        if (saved.layers.size() > 1 && saved.layers[saved.layers.size() - 2].layer >= one.layer) {
            layer.at("layer").refuse("ascending layers");
        }
        for (const std::string_view section : sections) {
            if (const JsonValue* stated = layer.find(section)) {
                read_section(*stated, section, one.config);
            }
        }
        read_items(layer, one);
    }
    if (saved.layers.empty()) {
        object.at("layers").refuse("at least one layer");
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
    if (const JsonValue* guesses = object.find("likeliest")) {
        saved.guesses = stated_guesses(*guesses);
    }
    if (const JsonValue* warnings = object.find("warnings")) {
        first.warnings = warnings->strings();
    }
    return saved;
}

/// Whether these are the two members of what --lines writes in the place of a line that failed.
bool is_failed_line(std::string_view json)
{
    const JsonDocument document(json);
    const std::vector<JsonValue::Member> members = document.root().members();
    return members.size() == 2 && members[0].first == "index" && members[1].first == "error";
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
    if (schema == "attn-cli/recipe/1") {
        return Document::recipe;
    }
    if (schema == "attn-cli/result/1") {
        return Document::result;
    }
    if (schema == "attn-cli/result/2") {
        return Document::layers;
    }
    if (schema == "attn-cli/tensor/1") {
        return Document::tensor;
    }
    return !schema && is_failed_line(json) ? Document::failed_line : Document::unknown;
}

void refuse_schema(std::string_view json, std::string_view allowed)
{
    const std::optional<std::string> schema = schema_of(json);
    throw Error(ErrorKind::data, R"("schema")", schema ? in_quotes(*schema) : "none", std::string(allowed));
}

std::string parse_failed_line(std::string_view json)
{
    const JsonDocument document(json);
    const JsonObject object(document.root(), {"index", "error"});
    [[maybe_unused]] const Index index = object.at("index").integer(0, largest);
    const JsonObject error(object.at("error"), {"code", "message"});
    [[maybe_unused]] const Index code = error.at("code").integer(0, 255);
    return error.at("message").string();
}

} // namespace attn::io
