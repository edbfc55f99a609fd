#include "cli/options/trained_options.hpp"

#include "attn/tensor/error.hpp"
#include "attn/tensor/shape.hpp"
#include "cli/options/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace attn::cli {
namespace {

namespace trained_field = model::trained_field;

constexpr std::string_view last_layer_name = "last";

/// A trained model brings its own parameters, tokenizer and attention; what else there is of the computation is the text.
void refuse_other_options(const TypedArguments& typed, const std::string& model)
{
    const std::array of_text{std::string(option::lines.name), name_of_key(option::first_index_key),
                             option_name(model::field::ids)};
    for (const TypedOption& option : typed.options) {
        const bool other = is_of_computation(option.group) && std::ranges::find(of_text, option.said()) == of_text.end();
        if (other || option.name == option_name(model::field::verify)) {
            throw Error(ErrorKind::usage, fmt::format("{} cannot be used with {}", option.said(), model));
        }
    }
}

/// As it is typed.
std::string text_of_layer(Index layer)
{
    const model::Allowed& allowed = trained_field::layers.allowed;
    return layer < 0                            ? std::string(allowed.instead)
           : layer == trained_field::last_layer ? std::string(last_layer_name)
                                                : std::to_string(layer);
}

/// Ascending, each once.
std::vector<Index> sorted(std::vector<Index> layers)
{
    std::ranges::sort(layers);
    layers.erase(std::unique(layers.begin(), layers.end()), layers.end()); // clang 14 has no ranges::unique
    return layers;
}

/// --head LAYER.HEAD with several layers, which are then those that are shown.
void read_layer_heads(InputOptions& input)
{
    model::TrainedConfig& trained = input.trained;
    const std::vector<Index> named = sorted(std::exchange(trained.layers, {}));
    for (const model::LayerHead& head : input.layer_heads) {
        trained.layer_heads.push_back(name_of(head));
        trained.layers.push_back(head.layer);
    }
    trained.layers = sorted(std::move(trained.layers));
    if (!named.empty() && named != trained.layers) {
        const std::string layer = option_name(trained_field::layers);
        throw Error(ErrorKind::usage, option_name(model::field::head), "layers " + to_string(trained.layers),
                    fmt::format("the layers of {0}, or no {0}", layer));
    }
}

} // namespace

void declare_trained(Options& options, InputOptions& input, std::string_view usual_layer)
{
    model::TrainedConfig& trained = input.trained;
    const std::string name = option_name(trained_field::layers);
    OptionInfo layers = option_of(trained_field::layers, name);
    layers.meaning = "the layers to show, from 0, such as 0,2-5 or last; --head LAYER.HEAD gives both at once";
    layers.allowed.most = trained_field::last_layer; // the model says how many it has
    layers.allowed.last = last_layer_name;
    layers.allowed.in_words = "all, last, or layers from 0, such as 0,2-5";
    layers.usual = usual_layer;
    options.group(trained_group);
    options.add(trained_field::name, trained.name);
    options.add(layers, trained.layers);
    options.add_key(trained_field::pair, trained.pair);
    options.add_key(trained_field::ignored_keys, trained.ignored_keys);
    options.need({layers.name}, option_name(trained_field::name));
}

void declare_head(Options& options, OptionInfo head, std::optional<Index>& layer, const Options::Set& set,
                  std::vector<model::LayerHead>* several)
{
    const model::Allowed allowed = std::exchange(head.allowed, model::allow::text);
    options.add(head, [name = std::string(head.name), allowed, set, several, &layer](const model::FieldValue& value) {
        const auto& text = std::get<std::string>(value);
        if (text.find('.') == std::string::npos) {
            set(value_of(name, text, allowed));
            return;
        }
        std::vector<model::LayerHead> named;
        bool same_layer = true;
        for (const std::string_view item : list_of_words(name, text)) {
            const std::optional<model::LayerHead> place = model::layer_head_called(item);
            same_layer = same_layer && (!place || named.empty() || named.front().layer == place->layer);
            if (!place || (!same_layer && several == nullptr)) {
                throw Error(ErrorKind::usage, name, in_quotes(text),
                            fmt::format("LAYER.HEAD, such as 1.0, or several{}, such as 1.0,{}",
                                        several == nullptr ? " of one layer" : "", several == nullptr ? "1.2" : "3.2"));
            }
            named.push_back(*place);
        }
        if (!same_layer) {
            *several = named;
            return;
        }
        std::string heads;
        for (const model::LayerHead& each : named) {
            heads += (heads.empty() ? "" : ",") + std::to_string(each.head);
        }
        layer = named.front().layer;
        set(value_of(name, heads, allowed));
    });
}

std::optional<Index> one_layer(std::optional<Index> of_head, std::optional<Index> of_layer)
{
    if (of_head && of_layer && of_head != of_layer) {
        const std::string layer = option_name(trained_field::layers);
        throw Error(ErrorKind::usage, option_name(model::field::head),
                    fmt::format("layer {}, {} {}", *of_head, layer, text_of_layer(*of_layer)),
                    fmt::format("the same layer, or no {}", layer));
    }
    return of_head ? of_head : of_layer;
}

bool finish_trained(const TypedArguments& typed, InputOptions& input)
{
    const std::string model = option_name(trained_field::name);
    if (std::ranges::find(typed.options, model, &TypedOption::name) == typed.options.end()) {
        if (input.layer_of_head || !input.layer_heads.empty()) {
            throw Error(ErrorKind::usage, "--head LAYER.HEAD requires " + model);
        }
        const auto of_model = std::ranges::find(typed.options, trained_group, &TypedOption::group);
        if (of_model != typed.options.end()) {
            throw Error(ErrorKind::usage, fmt::format("{} requires {}", of_model->said(), model));
        }
        return false;
    }
    refuse_other_options(typed, model);
    model::TrainedConfig& trained = input.trained;
    trained.sentence = input.overrides.find<std::string>(model::field::sentence).value_or("");
    trained.ids = input.overrides.find<std::vector<Index>>(model::field::ids).value_or(std::vector<Index>());
    trained.query = input.overrides.find<std::vector<std::string>>(model::field::query).value_or(std::vector<std::string>());
    trained.head = input.overrides.find<std::vector<Index>>(model::field::head).value_or(std::vector<Index>());
    if (input.layer_of_head) {
        for (const Index layer : trained.layers) {
            (void)one_layer(input.layer_of_head, layer);
        }
        trained.layers = {*input.layer_of_head};
    } else if (!input.layer_heads.empty()) {
        read_layer_heads(input);
    }
    return true;
}

} // namespace attn::cli
