#include "attn/report/json/json.hpp"

#include "attn/model/recipe/documents.hpp"
#include "attn/model/run/heads.hpp"
#include "attn/report/json/recipe_json.hpp"
#include "attn/report/json_writer.hpp"
#include "attn/report/text/summary.hpp"

#include <fmt/format.h>

namespace attn::report {
namespace {

using model::ItemKind;
using model::Result;
namespace key = model::key;

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
    case ItemKind::parameters:
        json.begin_object(info.name);
        for (const model::Array& array : result.parameters) {
            json.key(array.name);
            json.tensor(array.tensor);
        }
        return json.end_object();
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

void begin_result(JsonWriter& json, model::Document document, std::optional<Index> index)
{
    json.member(key::schema, name_of(document));
    json.member(key::index, index);
    json.key(key::config);
}

void write_after_config(JsonWriter& json, const Result& result)
{
    for (const model::ItemInfo& info : model::items) {
        if (result.shows(info.item)) {
            write_item(json, result, info);
        }
    }
    if (result.config.verify) { // {"weights":{"absolute":1e-08,"relative":2e-07},…}
        json.begin_object(key::verify);
        for (const model::Difference& difference : result.verify) {
            json.begin_object(difference.array);
            json.member(key::absolute, difference.absolute);
            json.member(key::relative, difference.relative);
            json.end_object();
        }
        json.end_object();
    }
    json.member(key::warnings, result.warnings);
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
    json.objects(key::likeliest, guesses, [&](const model::Guesses& place) {
        json.member(key::position, place.position);
        json.objects(key::words, place.words, [&](const model::Guess& word) {
            json.member(key::token, word.token);
            json.member(key::id, word.id);
            json.member(key::probability, word.probability);
        });
    });
}

template <typename Write>
std::string text_of(Write write)
{
    std::string text;
    const Sink sink = [&](std::string_view bytes) { text += bytes; };
    Buffer buffer(sink);
    JsonWriter json(buffer);
    write(json);
    buffer.flush();
    return text;
}

Texts metadata(model::Document document, std::string config)
{
    return {{std::string(key::schema), std::string(name_of(document))}, {std::string(key::config), std::move(config)}};
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
    write_json_line(buffer, [&](JsonWriter& json) {
        begin_result(json, model::Document::layers, index);
        write_config_object(json, result.config);
        write_items(json, result.layers.front(), model::Standing::before_layers);
        json.objects(key::layers, result.layers, [&](const Result& layer) {
            json.member(key::layer, layer.layer);
            write_dims_and_attention(json, layer.config);
            write_items(json, layer, model::Standing::in_layer);
        });
        if (result.logits) {
            json.key(name_of(model::Item::logits));
            json.tensor(*result.logits);
            write_guesses(json, result.guesses);
        }
        json.member(key::warnings, result.warnings);
    });
}

void write_json(const Result& result, std::optional<Index> index, const Sink& sink)
{
    write_json_line(sink, [&](JsonWriter& json) {
        begin_result(json, model::Document::result, index);
        write_recipe_object(json, result.config, WithPublished::no);
        write_after_config(json, result);
    });
}

ConfigText config_text(const model::Recipe& recipe)
{
    model::Recipe without = recipe;
    std::get<model::SentenceInput>(without.input).sentence.clear();
    const std::string text = text_of([&](JsonWriter& json) { write_recipe_object(json, without, WithPublished::no); });
    // Inside a text the quotes of this key would be escaped.
    const std::string key = fmt::format(R"("{}":)", model::field::sentence.name());
    const std::size_t end = text.find(key + R"("")") + key.size();
    return {text.substr(0, end), text.substr(end + 2)};
}

void write_json(const Result& result, Index index, const ConfigText& config, Buffer& buffer)
{
    write_json_line(buffer, [&](JsonWriter& json) {
        begin_result(json, model::Document::result, index);
        json.raw(config.before);
        json.string_more(std::get<model::SentenceInput>(result.config.input).sentence);
        json.more(config.after);
        write_after_config(json, result);
    });
}

void write_json_error(Index index, int code, std::string_view message, Buffer& buffer)
{
    write_json_line(buffer, [&](JsonWriter& json) {
        json.member(key::index, index);
        json.error(code, message);
    });
}

void write_recipe(const model::Recipe& recipe, const Sink& sink)
{
    Buffer buffer(sink);
    JsonWriter json(buffer);
    write_recipe_object(json, recipe, WithPublished::yes);
    buffer.flush();
}

Texts metadata_of(const model::Recipe& config)
{
    return metadata(model::Document::result,
                    text_of([&](JsonWriter& json) { write_recipe_object(json, config, WithPublished::yes); }));
}

Texts metadata_of(const model::TrainedConfig& config)
{
    return metadata(model::Document::layers, text_of([&](JsonWriter& json) { write_config_object(json, config); }));
}

} // namespace attn::report
