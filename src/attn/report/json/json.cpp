#include "attn/report/json/json.hpp"

#include "attn/model/recipe/recipe_fields.hpp"
#include "attn/model/run/heads.hpp"
#include "attn/report/json/recipe_json.hpp"
#include "attn/report/json_writer.hpp"
#include "attn/report/text/summary.hpp"

namespace attn::report {
namespace {

using model::ItemKind;
using model::Result;

/// {"Life":0,"dessert":1,…}
void write_vocabulary(JsonWriter& json, const std::vector<std::string>& words)
{
    json.begin_object();
    Index id = 0;
    for (const std::string& word : words) {
        json.member(word, id++);
    }
    json.end_object();
}

/// [[0,3],[4,7],…]
void write_pairs(JsonWriter& json, std::string_view name, const std::vector<Index>& list)
{
    json.begin_array(name);
    for (std::size_t i = 0; i < list.size(); i += 2) {
        json.integers({list[i], list[i + 1]});
    }
    json.end_array();
}

void write_named_arrays(JsonWriter& json, const std::vector<model::Array>& arrays)
{
    json.begin_object();
    for (const model::Array& array : arrays) {
        json.key(array.name);
        json.tensor(array.tensor);
    }
    json.end_object();
}

/// What the result shows of one item.
void write_item(JsonWriter& json, const Result& result, const model::ItemInfo& info)
{
    const auto member = [&](const auto* list) {
        if (list != nullptr) {
            json.member(info.name, *list);
        }
    };
    switch (info.kind) {
    case ItemKind::words: return member(result.words(info.item));
    case ItemKind::integers:
        if (info.item == model::Item::heads && model::is_mean(result.heads)) {
            return json.member(info.name, model::field::head.allowed.instead);
        }
        if (const auto* list = result.integers(info.item); list != nullptr && is_paired(info.item)) {
            return write_pairs(json, info.name, *list);
        }
        return member(result.integers(info.item));
    case ItemKind::vocabulary:
        if (const auto* words = result.words(info.item)) {
            json.key(info.name);
            write_vocabulary(json, *words);
        }
        return;
    case ItemKind::parameters: json.key(info.name); return write_named_arrays(json, result.parameters);
    case ItemKind::numbers:
        if (const AnyTensor* tensor = result.find(info.item)) {
            json.key(info.name);
            json.tensor(*tensor, is_masked(info.item));
        }
        return;
    case ItemKind::summary:
        if (result.summary) {
            json.key(info.name);
            write_summary(json, result);
        }
    }
}

/// {"weights":{"absolute":1e-08,"relative":2e-07},…}
void write_verify(JsonWriter& json, const std::vector<model::Difference>& differences)
{
    json.begin_object();
    for (const model::Difference& difference : differences) {
        json.begin_object(difference.array);
        json.member("absolute", difference.absolute);
        json.member("relative", difference.relative);
        json.end_object();
    }
    json.end_object();
}

void begin_result(JsonWriter& json, std::string_view schema, std::optional<Index> index)
{
    json.begin_object();
    json.member("schema", schema);
    json.member("index", index);
    json.key("config");
}

void write_after_config(JsonWriter& json, const Result& result)
{
    for (const model::ItemInfo& info : model::items) {
        if (result.shows(info.item)) {
            write_item(json, result, info);
        }
    }
    if (result.config.verify) {
        json.key("verify");
        write_verify(json, result.verify);
    }
    json.member("warnings", result.warnings);
    json.end_object();
    json.newline();
}

/// The items that stand there.
void write_items(JsonWriter& json, const Result& result, model::Standing standing)
{
    for (const model::ItemInfo& info : model::items) {
        if (standing_of(info.item) == standing && result.shows(info.item)) {
            write_item(json, result, info);
        }
    }
}

void write_guesses(JsonWriter& json, const std::vector<model::Guesses>& guesses)
{
    json.begin_array("likeliest");
    for (const model::Guesses& place : guesses) {
        json.begin_object();
        json.member("position", place.position);
        json.begin_array("words");
        for (const model::Guess& word : place.words) {
            json.begin_object();
            json.member("token", word.token);
            json.member("id", word.id);
            json.member("probability", word.probability);
            json.end_object();
        }
        json.end_array();
        json.end_object();
    }
    json.end_array();
}

} // namespace

void write_json(const model::LayeredResult& result, std::optional<Index> index, const Sink& sink)
{
    Buffer buffer(sink);
    write_json(result, index, buffer);
    buffer.flush();
}

void write_json(const model::LayeredResult& result, std::optional<Index> index, Buffer& buffer)
{
    JsonWriter json(buffer);
    begin_result(json, "attn-cli/result/2", index);
    write_config_object(json, result.config);
    write_items(json, result.layers.front(), model::Standing::before_layers);
    json.begin_array("layers");
    for (const Result& layer : result.layers) {
        json.begin_object();
        json.member("layer", layer.layer);
        write_dims_and_attention(json, layer.config);
        write_items(json, layer, model::Standing::in_layer);
        json.end_object();
    }
    json.end_array();
    if (result.logits) {
        json.key(name_of(model::Item::logits));
        json.tensor(*result.logits);
        write_guesses(json, result.guesses);
    }
    json.member("warnings", result.warnings);
    json.end_object();
    json.newline();
}

void write_json(const Result& result, std::optional<Index> index, const Sink& sink)
{
    Buffer buffer(sink);
    JsonWriter json(buffer);
    begin_result(json, "attn-cli/result/1", index);
    write_recipe_object(json, result.config, WithPublished::no);
    write_after_config(json, result);
    buffer.flush();
}

ConfigText config_text(const model::Recipe& recipe)
{
    model::Recipe without = recipe;
    std::get<model::SentenceInput>(without.input).sentence.clear();
    std::string text;
    const Sink sink = [&](std::string_view bytes) { text += bytes; };
    Buffer buffer(sink);
    JsonWriter json(buffer);
    write_recipe_object(json, without, WithPublished::no);
    buffer.flush();
    // Inside a text the quotes of this key would be escaped.
    constexpr std::string_view key = R"("sentence":)";
    const std::size_t end = text.find(std::string(key) + R"("")") + key.size();
    return {text.substr(0, end), text.substr(end + 2)};
}

void write_json(const Result& result, Index index, const ConfigText& config, Buffer& buffer)
{
    JsonWriter json(buffer);
    begin_result(json, "attn-cli/result/1", index);
    json.raw(config.before);
    json.string_more(std::get<model::SentenceInput>(result.config.input).sentence);
    json.more(config.after);
    write_after_config(json, result);
}

void write_json_error(Index index, int code, std::string_view message, Buffer& buffer)
{
    JsonWriter json(buffer);
    json.begin_object();
    json.member("index", index);
    json.error(code, message);
    json.end_object();
    json.newline();
}

void write_recipe(const model::Recipe& recipe, const Sink& sink)
{
    Buffer buffer(sink);
    JsonWriter json(buffer);
    write_recipe_object(json, recipe, WithPublished::yes);
    buffer.flush();
}

void write_config(const model::TrainedConfig& config, const Sink& sink)
{
    Buffer buffer(sink);
    JsonWriter json(buffer);
    write_config_object(json, config);
    buffer.flush();
}

} // namespace attn::report
