#include "cli/options/run_options.hpp"

#include "attn/model/recipe/option_names.hpp"
#include "attn/tensor/error.hpp"
#include "cli/options/trained_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace attn::cli {
namespace option {
namespace {

constexpr std::string_view range_of_top = "an integer from 1 to 1000, with --plot arcs to 1000000";
constexpr OptionInfo top_of_run =
    top("add a summary of each head, with its K strongest pairs; with --plot arcs, draw the K strongest lines of each head",
        "3 with --show summary", {.type = model::FieldType::integer, .least = 1, .most = most_lines, .in_words = range_of_top});
constexpr std::string_view header_key = "csv.header";
constexpr OptionInfo header{.name = "--no-header",
                            .symbol = "true|false",
                            .meaning = "whether CSV begins with a line of column names",
                            .usual = "true",
                            .allowed = model::allow::flag};

} // namespace
} // namespace option

namespace {

constexpr auto model_formats = formats_with<&FormatInfo::of_models>;
constexpr auto run_formats = formats_with<&FormatInfo::of_run>;

/// A summary is no array of numbers; --top is of a summary or of a picture.
void require_top(const RunOptions& run)
{
    const bool report = run.format == Format::table || run.format == Format::json;
    if (!report && run.show.items.contains(model::Item::summary)) {
        throw Error(ErrorKind::usage, "--show summary is for tables and JSON");
    }
    if (!report && run.format != Format::svg && run.top) {
        throw Error(ErrorKind::usage, "--top is for tables, JSON and --plot arcs");
    }
    if (report && run.top.value_or(1) > model::largest_top) {
        throw Error(ErrorKind::usage, option::top_of_run.name, std::to_string(*run.top), option::range_of_top);
    }
}

/// A record is a number.
void require_numbers_for_records(const RunOptions& options)
{
    const auto is_words = [](model::Item item) {
        const model::ItemKind kind = model::info_of(item).kind;
        return kind == model::ItemKind::words || kind == model::ItemKind::vocabulary;
    };
    const ShowOption& show = options.show;
    if (info_of(options.format).has_header && !show.all && show.given() && std::ranges::all_of(show.items, is_words)) {
        throw Error(ErrorKind::usage, model::option::show, "only words",
                    "in CSV at least one array of numbers, such as weights");
    }
}

/// A page is a picture of weights.
void require_weights_for_html(const RunOptions& options)
{
    const ShowOption& show = options.show;
    if (options.format == Format::html && show.given() && !show.all && !show.items.contains(model::Item::weights)) {
        throw Error(ErrorKind::usage, model::option::show, "no weights", "in HTML a list with weights in it, or no --show");
    }
}

/// An .npy is one array, whatever words there are.
void require_one_array_of_npy(const RunOptions& run)
{
    model::Show arrays;
    for (const model::Item item : run.show.items) {
        const model::ItemKind kind = model::info_of(item).kind;
        if (kind != model::ItemKind::words && kind != model::ItemKind::vocabulary) {
            arrays.insert(item);
        }
    }
    if (run.trained.pool) {
        arrays.insert(model::Item::pooled);
    }
    const bool one = !run.show.all && arrays.size() == 1 && !arrays.contains(model::Item::parameters);
    if (info_of(run.format).one_array && !one) {
        throw Error(ErrorKind::usage, model::option::show, run.show.given() ? "several arrays" : "none",
                    fmt::format("in an .npy one array, such as {}", name_of(model::Item::weights)));
    }
}

/// "--show tokens weights": one name alone may be a sentence.
void refuse_items_without_commas(const TypedArguments& typed, const RunOptions& run)
{
    const auto stray = std::ranges::find_if(typed.words, is_shown_name);
    if (!run.show.given() || typed.words.size() < 2 || stray == typed.words.end()) {
        return;
    }
    std::string list;
    for (const model::Item item : run.show.items) {
        list += std::string(model::name_of(item)) + ",";
    }
    refuse_second_item(std::string(model::option::show), list + *stray, *stray);
}

void require_one_array(const ShowOption& show)
{
    const bool one = !show.all && show.items.size() == 1;
    if (!one || model::info_of(*show.items.begin()).kind != model::ItemKind::numbers) {
        throw Error(ErrorKind::usage, model::option::show, one ? name_of(*show.items.begin()) : "several items",
                    "one array of numbers with --against, such as weights");
    }
}

/// Takes what comes behind --against, behind other options too: a list of CLI11 would end there.
TypedArguments without_files(const TypedArguments& typed, RunOptions& run)
{
    const auto against = std::ranges::find(typed.options, option::against.name, &TypedOption::name);
    const auto begin = typed.words.begin() + static_cast<std::ptrdiff_t>(against->operands_before);
    const bool sentence_is_read = begin != typed.words.begin() && typed.words.front() == "-";
    const std::array read{run.recipe.value_or(""), std::string(sentence_is_read ? "-" : "")};
    finish_against(run.against, {begin, typed.words.end()}, run.output, read);
    TypedArguments rest = typed;
    rest.words.assign(typed.words.begin(), begin);
    rest.after_dashes = 0;
    return rest;
}

/// Of several layers a picture has the weights as heat maps, and a summary is of pieces.
void require_layers(const RunOptions& run)
{
    const std::vector<Index>& layers = run.trained.layers;
    if (run.trained.join != model::Join::pieces && run.top) {
        throw Error(ErrorKind::usage, fmt::format("{} and {} cannot be used together", option_name(model::trained_field::join),
                                                  option::top_of_run.name));
    }
    if (run.trained.join != model::Join::pieces && layers.empty()) {
        throw Error(ErrorKind::usage, option_name(model::trained_field::join) + " requires --layer N or --head LAYER.HEAD");
    }
    const bool weights = run.show.items == model::Show{model::Item::weights};
    if (run.format == Format::svg && run.draws_layers() && (!weights || run.picture.plot == report::Plot::arcs)) {
        throw Error(ErrorKind::usage, (weights ? "--plot arcs" : "--show " + std::string(name_of(*run.show.items.begin()))) +
                                          " draws one layer, such as that of --layer 1 or --head 1.0");
    }
    if (run.trained.pool && (run.format == Format::svg || run.format == Format::html)) {
        throw Error(ErrorKind::usage, fmt::format("{} cannot be used with the format {}, a picture of weights",
                                                  model::option::pool, name_of(run.format)));
    }
    const bool drawn = run.format == Format::svg || run.format == Format::html;
    if (run.trained.parts.size() > 1 && (drawn || run.against.given())) {
        throw Error(ErrorKind::usage, model::option::part, "several",
                    fmt::format("one {}", run.against.given() ? "with --against" : "in a picture or a page"));
    }
    if (!info_of(run.format).of_models) {
        throw Error(ErrorKind::usage, format_name, name_of(run.format),
                    fmt::format("with {} {}", option_name(model::trained_field::name), names_of(model_formats)));
    }
}

/// Which part of a result is asked for. LAYER.HEAD is for a command that runs models.
void declare_selection(Options& options, RunOptions& run, bool with_layers)
{
    options.group("Output");
    options.add(model::field::query, run.overrides);
    if (with_layers) {
        declare_head(
            options, option_of(model::field::head, option_name(model::field::head)), run.layer_of_head,
            [&run](const model::FieldValue& heads) { run.overrides.set(model::field::head, heads); }, &run.layer_heads);
    } else {
        options.add(model::field::head, run.overrides);
    }
    declare_show(
        options, model::ShownBy::run,
        {"what to print, such as weights,scaled_scores; all leaves out alignment, lens, logits and summary; may be repeated",
         "tokens, vocabulary, weights, context, output"},
        run.show);
}

} // namespace

void declare_new_recipe(Options& options, RunOptions& run)
{
    declare_input(options, run);
    declare_selection(options, run, false);
    declare_file(options, run.output, "as a recipe");
    declare_digits(options, run.output, std::array{Format::recipe});
    run.output.format = name_of(Format::recipe);
    run.spelled_out = true;
}

void declare_run(Options& options, RunOptions& run)
{
    options.group("Input");
    options.add(option::lines, run.lines);
    options.add_key(option::first_index_key, option::first_index, run.first_index);
    declare_input(options, run);
    declare_trained(options, run, model::trained_field::layers.usual);
    options.add_key(model::trained_field::join, run.trained.join);
    options.add(model::trained_field::pool, run.trained.pool);
    options.add(model::trained_field::target, run.trained.target);
    options.add(model::trained_field::target_greedy, run.trained.target_greedy);
    options.add(option_of(model::trained_field::parts, model::option::part), [&run](const model::FieldValue& value) {
        const auto& parts = std::get<std::vector<Index>>(value);
        run.trained.parts.insert(run.trained.parts.end(), parts.begin(), parts.end());
    });
    options.need({model::option::pool, model::option::target, model::option::target_greedy, model::option::part},
                 option_name(model::trained_field::name));
    options.exclude({model::option::target, model::option::target_greedy});
    options.exclude({model::option::target, option::lines.name});
    declare_selection(options, run, true);
    options.add(option::top_of_run, run.top);
    declare_output(options, run.output, run_formats);
    options.add_key(option::header_key, option::header, run.header);
    declare_digits(options, run.output, run_formats);
    declare_notation(options, run.output);
    options.add(model::field::verify, run.overrides);
    declare_against(options, run.against);
    options.need({option::against_rtol.name, option::against_atol.name}, option::against.name);
    const std::string head = option_name(model::field::head), verify = option_name(model::field::verify);
    for (const std::string_view other :
         {option::lines.name, std::string_view(head), option::top_of_run.name, std::string_view(verify)}) {
        options.exclude({option::against.name, other});
    }
    declare_pictures(options, run.picture_options, PictureSpelling::keys);
}

void finish_run_options(const TypedArguments& typed, RunOptions& run)
{
    const TypedArguments without_against = run.against.given() ? without_files(typed, run) : typed;
    if (run.against.given() && run.show.given()) {
        require_one_array(run.show);
    }
    run.format = decide_format(run.output, run_formats);
    run.digits = decide_digits(run.output, run.format, run_formats);
    if (run.header && !info_of(run.format).has_header) {
        throw Error(ErrorKind::usage, name_of_key(option::header_key) + " is for CSV");
    }
    if (run.first_index && !run.lines) {
        throw Error(ErrorKind::usage, fmt::format("{} requires {}", name_of_key(option::first_index_key), option::lines.name));
    }
    run.notation = decide_notation(run.output, run.format);
    require_top(run);
    require_numbers_for_records(run);
    run.picture = picture_of(run.picture_options, run.top, run.output, run.format);
    if (run.format == Format::svg) {
        run.show = {.items = {drawn_item(run.show, run.picture.plot)}};
        run.top.reset();
    }
    require_weights_for_html(run);
    require_one_array_of_npy(run);
    refuse_items_without_commas(without_against, run);
    read_source(without_against, run);
    if (run.against.files.size() > 1 && run.source == SentenceSource::pipe) {
        throw Error(ErrorKind::usage, "--against takes every word after it as a FILE; SENTENCE goes before it, or - for "
                                      "standard input");
    }
    run.runs_model = finish_trained(typed, run);
    if (run.runs_model) {
        require_layers(run);
    }
    if (run.lines && info_of(run.format).one_result && !run.stacks_lines()) {
        throw Error(
            ErrorKind::usage,
            fmt::format("{} cannot be used with the format {}, which holds one result{}", option::lines.name,
                        name_of(run.format),
                        run.runs_model ? fmt::format("; with {} alone, a vector for each line", model::option::pool) : ""));
    }
}

} // namespace attn::cli
