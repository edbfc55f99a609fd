#include "cli/output/hints.hpp"

#include "attn/model/recipe/recipe_fields.hpp"
#include "attn/model/run/heads.hpp"
#include "attn/model/run/summary.hpp"
#include "attn/report/text/display.hpp"
#include "cli/options/input_options.hpp"
#include "cli/options/trained_options.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace attn::cli {
namespace {

constexpr std::string_view digits = "0123456789";
constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

bool is_one_of(char c, std::string_view characters)
{
    return characters.find(c) != std::string_view::npos;
}

/// A word as --query and --key find it again, or its position.
std::string place_of(const std::vector<std::string>& words, Index position)
{
    const std::string& word = words[static_cast<std::size_t>(position)];
    const bool plain = std::ranges::all_of(
        word, [](char c) { return is_one_of(c, letters) || is_one_of(c, digits) || static_cast<unsigned char>(c) >= 0x80; });
    const bool a_number = word.find_first_not_of(digits) == std::string::npos;
    return plain && !a_number && std::ranges::count(words, word) == 1 ? word : std::to_string(position);
}

/// The input, and what leads from it to the weights, but for one option.
std::string computation(const TypedArguments& typed, std::string_view without = {})
{
    std::string text = typed.words.empty() ? "" : ' ' + shell_word(typed.words.front());
    for (const TypedOption& option : typed.options) {
        if ((is_of_computation(option.group) || option.group == trained_group) && option.name != without) {
            text += as_typed(option);
        }
    }
    return text;
}

/// " --head 3", of a whole trained model " --head 5.3".
std::string head_option(const model::Layer& layer, Index place)
{
    const std::string number = layer.number ? fmt::format("{}.", *layer.number) : "";
    return fmt::format(" --head {}{}", number, layer.head_at(place));
}

struct Cell {
    double weight = 0;
    std::string options; ///< " --query short --key short", with --head where there are several; empty: every weight is 0
};

Cell strongest_cell(const model::Result& result, const model::Layer& layer)
{
    const AnyTensor* weights = layer.find(model::Item::weights);
    if (weights == nullptr || model::is_mean(layer.heads)) { // explain is of one head
        return {};
    }
    return std::visit(
        [&]<typename Scalar>(const Tensor<Scalar>& tensor) -> Cell {
            const auto strongest = model::strongest_pairs(std::span<const Scalar>(tensor.values), tensor.columns(), 1);
            if (strongest.empty()) {
                return {};
            }
            const Index row = strongest.front().query % tensor.rows();
            const Index head = strongest.front().query / tensor.rows();
            const bool several = tensor.shape.front() > 1 || !layer.heads.empty() || layer.number;
            return {strongest.front().weight, fmt::format("{} --query {} --key {}", several ? head_option(layer, head) : "",
                                                          place_of(result.tokens, result.position_of_row(row)),
                                                          place_of(result.words_of_keys(), strongest.front().key))};
        },
        *weights);
}

/// Of the head that looks at the previous word most; empty where none does.
std::string previous_word_head(const std::vector<model::Layer>& layers)
{
    double most = 0;
    std::string option;
    for (const model::Layer& layer : layers) {
        for (std::size_t h = 0; layer.summary && h < layer.summary->heads.size(); ++h) {
            const double previous = layer.summary->heads[h].previous.value_or(0);
            if (previous > most) {
                most = previous;
                option = head_option(layer, static_cast<Index>(h));
            }
        }
    }
    return option;
}

/// Those that can be typed and are not too long.
std::vector<std::string> printable(std::vector<std::string> commands, Index most)
{
    std::erase_if(commands, [&](const std::string& command) {
        return report::visible(command) != command || report::display_width(command) > most;
    });
    return commands;
}

} // namespace

std::string shell_word(const std::string& text)
{
    const bool bare = !text.empty() && std::ranges::all_of(text, [](char c) {
        return is_one_of(c, digits) || is_one_of(c, letters) || is_one_of(c, "_./,:=+-");
    });
    if (bare) {
        return text;
    }
    if (text.find_first_of("\"$`\\!") == std::string::npos) {
        return '"' + text + '"';
    }
    std::string quoted = "'";
    for (const char c : text) {
        quoted += c == '\'' ? R"('\'')" : std::string(1, c);
    }
    return quoted + '\'';
}

std::string as_typed(const TypedOption& option)
{
    return " " + option.name + (option.value ? " " + shell_word(*option.value) : "");
}

std::string repeated_command(const TypedArguments& typed, std::initializer_list<std::string> without)
{
    constexpr Index most = 4000;
    const auto is_typed = [&](std::string_view name) {
        return std::ranges::find(typed.options, name, &TypedOption::name) != typed.options.end();
    };
    const bool read = typed.words.empty() ? !is_typed(option::recipe.name) && !is_typed(option_name(model::field::ids))
                                          : typed.words.front() == "-";
    if (typed.after_dashes > 0 || read) {
        return {};
    }
    std::string command = "attn-cli run" + (typed.words.empty() ? "" : ' ' + shell_word(typed.words.front()));
    for (const TypedOption& option : typed.options) {
        const bool chosen = option.name == option_name(model::field::query) || option.name == option_name(model::field::head);
        if ((is_of_computation(option.group) || chosen) && std::ranges::find(without, option.name) == without.end()) {
            command += as_typed(option);
        }
    }
    return printable({command}, most).empty() ? "" : command;
}

std::vector<std::string> next_commands(const TypedArguments& typed, const model::Result& result, Index most)
{
    if (typed.after_dashes > 0) {
        return {};
    }
    Cell strongest;
    for (const model::Layer& layer : result.layers) {
        Cell cell = strongest_cell(result, layer);
        strongest = cell.weight > strongest.weight ? std::move(cell) : strongest;
    }
    // Each with the same computation and options of its own, where it has any; the head says the layer.
    const std::string without = result.model ? option_name(model::trained_field::layers) : "";
    std::vector<std::string> commands;
    for (const auto& [command, options] :
         {std::pair("run", result.model ? previous_word_head(result.layers) : ""),
          {"explain", result.front().part ? "" : strongest.options}}) { // which is of models of one stack
        if (!options.empty()) {
            commands.push_back(fmt::format("attn-cli {}{}{}", command, computation(typed, without), options));
        }
    }
    commands.push_back("attn-cli run" + computation(typed) + " -o page.html");
    return printable(std::move(commands), most);
}

} // namespace attn::cli
