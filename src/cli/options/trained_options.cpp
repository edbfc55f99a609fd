#include "cli/options/trained_options.hpp"

#include "attn/tensor/error.hpp"
#include "cli/options/against_options.hpp"
#include "cli/options/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace attn::cli {
namespace {

namespace trained_field = model::trained_field;

/// A trained model brings its own parameters, tokenizer and attention; what else there is of the computation is the text.
void refuse_other_options(const TypedArguments& given, const std::string& model)
{
    const std::array<std::string, 2> of_text{std::string(option::lines.name), name_of_key(option::first_index_key)};
    for (const TypedOption& option : given.options) {
        const bool other = is_of_computation(option.group) && std::ranges::find(of_text, option.said()) == of_text.end();
        if (other || option.name == option_name(model::field::verify) || option.name == option::against.name) {
            throw Error(ErrorKind::usage, fmt::format("{} cannot be used with {}", option.said(), model));
        }
    }
}

} // namespace

void declare_trained(Options& options, InputOptions& input, std::string_view usual_layer)
{
    model::TrainedConfig& trained = input.trained;
    const std::string name = option_name(trained_field::layers);
    OptionInfo layers = option_of(trained_field::layers, name);
    layers.meaning = "the layers to show, from 0; --head LAYER.HEAD gives both at once";
    layers.usual = usual_layer;
    options.group(trained_group);
    options.add(trained_field::name, trained.name);
    options.add(layers, trained.layers);
    options.add_key(trained_field::pair, trained.pair);
    options.add_key(trained_field::ignored_keys, trained.ignored_keys);
    options.need({layers.name}, option_name(trained_field::name));
}

void declare_head(Options& options, OptionInfo head, std::optional<Index>& layer, const Options::Set& set)
{
    const model::Allowed allowed = std::exchange(head.allowed, model::allow::text);
    options.add(head, [name = std::string(head.name), allowed, set, &layer](const model::FieldValue& value) {
        const auto& text = std::get<std::string>(value);
        if (text.find('.') == std::string::npos) {
            set(value_of(name, text, allowed));
            return;
        }
        const std::string_view form = "LAYER.HEAD, such as 1.0, or several of one layer, such as 1.0,1.2";
        const auto number = [&](std::string_view digits, Index most) {
            try {
                return integer(name, digits, 0, most);
            } catch (const Error&) { // what was typed is all of it
                throw Error(ErrorKind::usage, name, in_quotes(text), form);
            }
        };
        std::string heads;
        for (const std::string_view item : list_of_words(name, text)) {
            const std::size_t dot = std::min(item.find('.'), item.size());
            const Index named = number(item.substr(0, dot), trained_field::most_layers - 1);
            const Index head = number(item.substr(std::min(dot + 1, item.size())), model::field::most_heads - 1);
            if (layer.value_or(named) != named) {
                throw Error(ErrorKind::usage, name, in_quotes(text), form);
            }
            layer = named;
            heads += (heads.empty() ? "" : ",") + std::to_string(head);
        }
        set(value_of(name, heads, allowed));
    });
}

std::optional<Index> one_layer(std::optional<Index> of_head, std::optional<Index> of_layer)
{
    if (of_head && of_layer && of_head != of_layer) {
        const std::string layer = option_name(trained_field::layers);
        throw Error(ErrorKind::usage, option_name(model::field::head),
                    fmt::format("layer {}, {} {}", *of_head, layer, *of_layer), fmt::format("the same layer, or no {}", layer));
    }
    return of_head ? of_head : of_layer;
}

bool finish_trained(const TypedArguments& given, InputOptions& input)
{
    const std::string model = option_name(trained_field::name);
    if (std::ranges::find(given.options, model, &TypedOption::name) == given.options.end()) {
        if (input.layer_of_head) {
            throw Error(ErrorKind::usage, "--head LAYER.HEAD requires " + model);
        }
        const auto of_model = std::ranges::find(given.options, trained_group, &TypedOption::group);
        if (of_model != given.options.end()) {
            throw Error(ErrorKind::usage, fmt::format("{} requires {}", of_model->said(), model));
        }
        return false;
    }
    refuse_other_options(given, model);
    model::TrainedConfig& trained = input.trained;
    trained.sentence = input.overrides.find<std::string>(model::field::sentence).value_or("");
    trained.query = input.overrides.find<std::vector<std::string>>(model::field::query).value_or(std::vector<std::string>());
    trained.head = input.overrides.find<std::vector<Index>>(model::field::head).value_or(std::vector<Index>());
    if (input.layer_of_head) {
        for (const Index layer : trained.layers) {
            (void)one_layer(input.layer_of_head, layer);
        }
        trained.layers = {*input.layer_of_head};
    }
    return true;
}

} // namespace attn::cli
