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
using model::Layer;
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

/// What there is of one item in a layer, or in all of them.
void write_item(JsonWriter& json, const Result& result, const Layer& layer, const model::ItemInfo& info)
{
    const auto member = [&](const auto* list) {
        if (list != nullptr) {
            json.member(info.name, *list);
        }
    };
    switch (info.kind) {
    case ItemKind::words: return member(result.words(info.item));
    case ItemKind::integers:
        if (info.item == model::Item::heads && model::is_mean(layer.heads)) {
            return json.member(info.name, model::field::head.allowed.instead);
        }
        if (const auto* list = result.integers(info.item, layer); list != nullptr && is_paired(info.item)) {
            return write_pairs(json, info.name, *list);
        }
        return member(result.integers(info.item, layer));
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
        if (const AnyTensor* tensor = layer.find(info.item)) {
            json.key(info.name);
            json.tensor(*tensor, is_masked(info.item));
        }
        return;
    case ItemKind::summary:
        if (layer.summary) {
            json.key(info.name);
            write_summary(json, result, layer);
        }
    }
}

/// Those that are shown and that `stands` says.
template <typename Stands>
void write_items(JsonWriter& json, const Result& result, const Layer& layer, Stands stands)
{
    for (const model::ItemInfo& info : model::items) {
        if (result.shows(info.item) && stands(info.item)) {
            write_item(json, result, layer, info);
        }
    }
}

/// {"weights":{"absolute":1e-08,"relative":2e-07},…}
void write_verify(JsonWriter& json, const std::vector<model::Difference>& differences)
{
    json.begin_object(key::verify);
    for (const model::Difference& difference : differences) {
        json.begin_object(difference.array);
        json.member(key::absolute, difference.absolute);
        json.member(key::relative, difference.relative);
        json.end_object();
    }
    json.end_object();
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

void write_layers(JsonWriter& json, const Result& result)
{
    const auto standing = [](model::Standing where) {
        return [where](model::Item item) { return standing_of(item) == where; };
    };
    write_items(json, result, result.front(), standing(model::Standing::before_layers));
    json.objects(key::layers, result.layers, [&](const Layer& layer) {
        json.member(key::layer, layer.number);
        if (layer.part) {
            json.member(key::part, model::part_names.at(static_cast<std::size_t>(*layer.part)));
        }
        write_dims_and_attention(json, layer.config);
        write_items(json, result, layer, standing(model::Standing::in_layer));
        if (!layer.guesses.empty()) {
            write_guesses(json, layer.guesses);
        }
    });
    if (result.logits) {
        json.key(name_of(model::Item::logits));
        json.tensor(*result.logits);
        write_guesses(json, result.guesses);
    }
}

void write_config(JsonWriter& json, const Result& result, const ConfigText* ready)
{
    if (result.model) {
        write_config_object(json, *result.model);
    } else if (ready != nullptr) {
        json.raw(ready->before);
        json.string_more(std::get<model::SentenceInput>(result.config().input).sentence);
        json.more(ready->after);
    } else {
        write_recipe_object(json, result.config(), WithPublished::no);
    }
}

template <typename Write>
std::string text_of(Write write)
{
    Buffer text;
    JsonWriter json(text);
    write(json);
    return std::move(text.text());
}

Texts metadata(model::Document document, std::string config)
{
    return {{std::string(key::schema), std::string(name_of(document))}, {std::string(key::config), std::move(config)}};
}

/// Behind the quote that ends the text which begins there.
std::size_t end_of_text(std::string_view json, std::size_t begin)
{
    std::size_t at = begin + 1;
    while (json[at] != '"') {
        at += json[at] == '\\' ? 2 : 1;
    }
    return at + 1;
}

/// An object of which each key begins a line, and in a list of objects each of these.
std::string on_lines(std::string_view object)
{
    std::string lines;
    std::size_t depth = 0;
    bool in_list = false; // of objects
    const auto begin_line_if = [&](bool breaks) {
        if (breaks) {
            lines.append("\n").append(2 * depth, ' ');
        }
        return breaks;
    };
    const auto stands_on_lines = [&] { return depth == 1 || (depth == 2 && in_list); };
    for (std::size_t i = 0; i < object.size(); ++i) {
        const char c = object[i];
        if (c == '"') {
            const std::size_t end = end_of_text(object, i);
            lines.append(object.substr(i, end - i));
            i = end - 1;
        } else if (c == '{' || c == '[') {
            lines += c;
            ++depth;
            in_list = depth == 2 ? c == '[' && object[i + 1] == '{' : in_list;
            begin_line_if(stands_on_lines());
        } else if (c == '}' || c == ']') {
            const bool broken = stands_on_lines();
            --depth;
            begin_line_if(broken);
            lines += c;
        } else {
            lines += c;
            const bool separates = c == ',' || c == ':';
            lines.append(separates && !begin_line_if(c == ',' && stands_on_lines()) ? " " : "");
        }
    }
    return lines;
}

} // namespace

void write_json(const Result& result, const JsonOptions& options, Buffer& buffer)
{
    write_json_line(buffer, [&](JsonWriter& json) {
        json.member(key::schema, name_of(result.model ? model::Document::layers : model::Document::result));
        json.member(key::index, options.index);
        json.key(key::config);
        write_config(json, result, options.config);
        if (result.model) {
            write_layers(json, result);
        } else {
            write_items(json, result, result.front(), [](model::Item) { return true; });
        }
        if (result.config().verify) {
            write_verify(json, result.verify);
        }
        json.member(key::warnings, result.warnings);
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

void write_json_error(Index index, int code, std::string_view message, Buffer& buffer)
{
    write_json_line(buffer, [&](JsonWriter& json) {
        json.member(key::index, index);
        json.error(code, message);
    });
}

void write_recipe(const model::Recipe& recipe, Buffer& buffer)
{
    buffer.append(on_lines(text_of([&](JsonWriter& json) { write_recipe_object(json, recipe, WithPublished::yes); })));
    buffer.append("\n");
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

// ---- tensors ---------------------------------------------------------------------------------------------------------------

namespace {

/// The part of `tensor` at `leading`, all but whose last two dimensions are nested here.
template <typename Scalar>
void write_part(JsonWriter& json, const TensorView& tensor, Shape& leading, bool masked)
{
    const std::size_t rank = tensor.shape.size();
    if (rank < 2) {
        json.tensor(load<Scalar>(tensor), masked);
        return;
    }
    json.begin_array();
    if (leading.size() + 2 < rank) {
        const Index length = tensor.shape[leading.size()];
        for (Index i = 0; i < length; ++i) {
            leading.push_back(i);
            write_part<Scalar>(json, tensor, leading, masked);
            leading.pop_back();
        }
    } else {
        const Matrix<Scalar> matrix = load_matrix<Scalar>(tensor, leading);
        for (Index row = 0; row < matrix.rows(); ++row) {
            const auto columns = static_cast<std::size_t>(matrix.cols());
            json.numbers(std::span<const Scalar>(matrix.data() + row * matrix.cols(), columns), masked);
        }
    }
    json.end_array();
}

} // namespace

void write_tensor_json(const TensorView& tensor, const TensorJson& options, Buffer& buffer)
{
    write_json_line(buffer, [&](JsonWriter& json) {
        json.member(key::schema, name_of(model::Document::tensor));
        json.member(key::name, options.name);
        json.member(key::dtype, name_of(tensor.type));
        json.member(key::shape, tensor.shape);
        json.key(key::data);
        Shape leading;
        if (tensor.type == ElementType::float64) {
            write_part<double>(json, tensor, leading, options.masked);
        } else {
            write_part<float>(json, tensor, leading, options.masked);
        }
    });
}

} // namespace attn::report
