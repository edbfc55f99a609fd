#include "cli/run_options.hpp"

#include "attn/tensor/error.hpp"
#include "cli/embeddings.hpp"
#include "cli/option_values.hpp"

#include <algorithm>
#include <array>

namespace attn::cli {
namespace {

constexpr std::array output_specs{
    OptionSpec{"--query",
               "LIST",
               "only these rows, in the order of the sentence: words (every position of a repeated word) or positions from 0 "
               "(digits are always a position)",
               {}},
    OptionSpec{
        "--show",
        "LIST",
        "what to print (default tokens, vocabulary, weights, context and, with a projection, output), or all; names: "
        "tokens, key_tokens, vocabulary, token_ids, key_token_ids, parameters, embeddings, key_embeddings, queries, keys, "
        "values, scores, scaled_scores, capped_scores, masked_scores, weights, head_context, context, output, entropy",
        {}},
    OptionSpec{"--format",
               "NAME",
               "table (default), json, csv, npz, safetensors; or by the ending of -o: .txt, .json (.jsonl, .ndjson), .csv, …",
               {}},
    OptionSpec{"--json", "", "the same as --format json", {}},
    OptionSpec{"--digits", "N", "after the point, 0 to 17 (default 4); tables only", {}},
    OptionSpec{"-o", "FILE", "the next word: a file, written whole or not at all; - is standard output", {}},
    OptionSpec{"--verify", "", "also compute in float64 and report the largest differences", {}},
};

void read_show(const Arguments& arguments, RunOptions& options)
{
    const ShownNames shown = show_option(arguments, model::item_names);
    options.show_all = shown.all;
    for (const std::size_t place : shown.places) {
        options.show.push_back(static_cast<model::Item>(place));
    }
}

/// A record of CSV is a number.
void require_numbers_for_csv(const RunOptions& options)
{
    const auto words_alone = [](model::Item item) {
        return item == model::Item::tokens || item == model::Item::key_tokens || item == model::Item::vocabulary;
    };
    if (options.format == Format::csv && !options.show_all && !options.show.empty() &&
        std::ranges::all_of(options.show, words_alone)) {
        throw Error(ErrorKind::usage, "--show", "nothing but words", "with CSV at least one array of numbers, such as weights");
    }
}

} // namespace

std::span<const OptionGroup> run_option_groups()
{
    static const std::array<OptionGroup, 5> groups{{{"Input", input_specs(true)},
                                                    {"Parameters", parameter_specs()},
                                                    {"Word vectors", embedding_specs()},
                                                    {"Attention", attention_specs()},
                                                    {"Output", output_specs}}};
    return groups;
}

RunOptions read_run_options(const Arguments& arguments)
{
    constexpr std::array formats{Format::table, Format::json, Format::csv, Format::npz, Format::safetensors};
    RunOptions options;
    static_cast<InputOptions&>(options) = read_input_options(arguments);
    options.output = arguments.value("-o");
    options.format = decide_format(arguments.value("--format"), arguments.flag("--json"), options.output, formats);
    options.digits = digits_option(arguments, options.format);
    read_show(arguments, options);
    require_numbers_for_csv(options);
    read_source(arguments, options);
    exclude(options.source == Source::lines, is_binary(options.format),
            "--lines and a format that holds one result (npz, safetensors)");
    return options;
}

} // namespace attn::cli
