#include "cli/run_options.hpp"

#include "attn/tensor/error.hpp"
#include "cli/embeddings.hpp"
#include "cli/option_values.hpp"
#include "cli/picture_options.hpp"

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
        "values, scores, scaled_scores, capped_scores, masked_scores, weights, head_context, context, output, entropy, summary "
        "(not among all)",
        {}},
    OptionSpec{"--top",
               "K",
               "print a summary too: for each head its entropy, how much goes to the word itself, the first word and the "
               "neighbours, and the K strongest pairs, 1 to 1000 (default with --show summary 3); of --plot arcs only the K "
               "strongest lines of each head",
               {}},
    OptionSpec{
        "--format",
        "NAME",
        "table (default), json, csv, npz, safetensors, svg, html (a page to explore); or by the ending of -o: .txt, .json "
        "(.jsonl, .ndjson), .csv, …",
        {}},
    OptionSpec{"--json", "", "the same as --format json", {}},
    OptionSpec{"--no-header", "", "CSV without its first line, the names of the columns", {}},
    OptionSpec{"--digits", "N", "after the point, 0 to 17 (default 4, in pictures 2); tables and pictures only", {}},
    OptionSpec{
        "--notation",
        "NAME",
        "fixed (default): one notation for each matrix, scientific only where fixed would show nothing but zeros, or 100,000 "
        "and more; row: one for each row, as PyTorch prints that row; tables only",
        {}},
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

/// A summary is no array of numbers; --top is of a summary or of a picture.
void read_top(const Arguments& arguments, RunOptions& options)
{
    const bool report = options.format == Format::table || options.format == Format::json;
    const bool named = std::ranges::find(options.show, model::Item::summary) != options.show.end();
    if (!report && named) {
        throw Error(ErrorKind::usage, "--show summary is for tables and JSON");
    }
    if (!report && options.format != Format::svg && arguments.value("--top")) {
        throw Error(ErrorKind::usage, "--top is for tables, JSON and --plot arcs");
    }
    if (report) {
        options.top = integer_option(arguments, "--top", 1, model::largest_top);
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

/// A page is a picture of weights.
void require_weights_for_html(const RunOptions& options)
{
    if (options.format == Format::html && !options.show_all && !options.show.empty() &&
        std::ranges::find(options.show, model::Item::weights) == options.show.end()) {
        throw Error(ErrorKind::usage, "--show", "no weights", "with HTML a list with weights in it, or no --show");
    }
}

} // namespace

std::span<const OptionGroup> run_option_groups()
{
    static const std::array<OptionGroup, 6> groups{{{"Input", input_specs(true)},
                                                    {"Parameters", parameter_specs()},
                                                    {"Word vectors", embedding_specs()},
                                                    {"Attention", attention_specs()},
                                                    {"Output", output_specs},
                                                    {"Pictures", picture_specs()}}};
    return groups;
}

RunOptions read_run_options(const Arguments& arguments)
{
    constexpr std::array formats{Format::table,       Format::json, Format::csv, Format::npz,
                                 Format::safetensors, Format::svg,  Format::html};
    RunOptions options;
    static_cast<InputOptions&>(options) = read_input_options(arguments);
    options.output = arguments.value("-o");
    options.format = decide_format(arguments.value("--format"), arguments.flag("--json"), options.output, formats);
    options.digits = digits_option(arguments, options.format);
    options.header = !arguments.flag("--no-header");
    if (!options.header && options.format != Format::csv) {
        throw Error(ErrorKind::usage, "--no-header is for CSV");
    }
    options.notation = notation_option(arguments, options.format);
    read_show(arguments, options);
    read_top(arguments, options);
    require_numbers_for_csv(options);
    options.picture = read_picture_options(arguments, options.format);
    if (options.format == Format::svg) {
        options.show = drawn_item(options.show, options.show_all, options.picture.plot);
    }
    require_weights_for_html(options);
    read_source(arguments, options);
    const bool one_result = is_binary(options.format) || options.format == Format::svg || options.format == Format::html;
    exclude(options.source == Source::lines, one_result,
            "--lines and a format that holds one result (npz, safetensors, svg, html)");
    return options;
}

} // namespace attn::cli
