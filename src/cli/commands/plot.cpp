// attn-cli plot: a picture of weights that a file holds.
#include "attn/io/json/saved_result.hpp"
#include "attn/io/tensors/tensor_json.hpp"
#include "attn/io/words/word_vectors.hpp"
#include "attn/model/explain/plotted.hpp"
#include "attn/model/recipe/option_names.hpp"
#include "attn/model/recipe/recipe_fields.hpp"
#include "attn/report/html/html.hpp"
#include "attn/report/svg/svg.hpp"
#include "attn/tensor/error.hpp"
#include "cli/input/documents.hpp"
#include "cli/input/raw_input.hpp"
#include "cli/input/tensor_inputs.hpp"
#include "cli/options/command.hpp"
#include "cli/options/picture_options.hpp"
#include "cli/options/trained_options.hpp"
#include "cli/output/hints.hpp"
#include "cli/output/output.hpp"
#include "cli/output/page.hpp"
#include "cli/output/result_output.hpp"
#include "cli/output/shading.hpp"
#include "cli/system/exit_code.hpp"
#include "cli/system/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include <unistd.h>

namespace attn::cli {
namespace option {
namespace {

constexpr OptionInfo tokens{model::option::tokens, "FILE",
                            "the words of the rows, one per line; also used for the columns if there are equally many"};
constexpr OptionInfo key_tokens{model::option::key_tokens, "FILE", "the words of the columns, one per line"};
constexpr OptionInfo axes{
    model::option::axes, "LETTERS",
    "what the dimensions of a tensor are, a letter each (l layers, b batch, h heads, t queries, s keys); t and s must be there",
    "the last ones of lbhts"};
constexpr OptionInfo batch{model::option::batch, "N", "which entry of a batch", "",
                           model::allow::integer(0, model::field::largest_int32)};

} // namespace
} // namespace option

namespace {

constexpr std::array plot_formats{Format::svg, Format::html, Format::table};

constexpr std::array plot_examples{
    Example{"attn-cli plot result.json -o weights.svg", "weights that `run --json` saved: one heat map per head"},
    Example{"attn-cli plot result.json --plot arcs --top 5 -o lines.svg", "lines between words, the five strongest per head"},
    Example{"attn-cli plot result.json -o attention.html", "a page; with steps if saved with --show all"},
    Example{"attn-cli plot layer3.npy --tokens words.txt -o layer3.svg", "weights (H, T, S) that another program made"},
    Example{"attn-cli plot all.npy --axes lhts -o model.svg", "a small map for each head of every layer"},
};
constexpr std::string_view plot_common = "--tokens --axes --layer --head --query -o --plot --top --ground --caption";
constexpr std::string_view plot_notes = "FILE is a result as JSON, or weights (T, S), (H, T, S), (B, H, T, S) or\n"
                                        "(L, B, H, T, S) as .npy, FILE.npz:NAME, FILE.safetensors:NAME or text (printed,\n"
                                        "np.savetxt, CSV, a list); --axes names dimensions in another order.\n"
                                        "Its numbers are drawn as they are; nothing is computed again. Numbers that are\n"
                                        "not weights are drawn from the smallest to the largest, with a warning.\n";

struct PlotOptions {
    TensorArgument file;
    std::optional<std::string> tokens, key_tokens;
    std::string axes; ///< of a tensor; empty: the usual ones
    std::optional<Index> batch, layer, top;
    std::optional<Index> layer_of_head; ///< of --head LAYER.HEAD
    std::vector<Index> head;
    std::vector<std::string> query;
    OutputOptions output;
    Format format = Format::svg;
    PictureOptions picture_options;
    report::SvgOptions picture;
    int digits = 4; ///< of tables
};

/// Where nothing asks for a file, a terminal gets shades: it would print an SVG as text.
bool draws_on_terminal(const PlotOptions& plot)
{
    const PictureOptions& picture = plot.picture_options;
    const bool of_file = picture.plot || picture.title || picture.ground || picture.caption || plot.top;
    const bool said = plot.output.format || plot.output.path || plot.output.json;
    return !of_file && !said && ::isatty(STDOUT_FILENO) != 0;
}

void finish_options(const TypedArguments& typed, PlotOptions& plot)
{
    expect_at_most(typed, 1, "plot takes one file");
    if (typed.words.empty()) {
        throw Error(ErrorKind::usage,
                    "plot: give a file: a saved result, or weights as .npy, .npz:NAME, .safetensors:NAME or text");
    }
    plot.file = split_tensor_argument(typed.words.front());
    plot.layer = one_layer(plot.layer_of_head, plot.layer);
    plot.format = draws_on_terminal(plot) ? Format::table : decide_format(plot.output, plot_formats);
    plot.picture = picture_of(plot.picture_options, plot.top, plot.output, plot.format);
    if (plot.format != Format::svg && plot.top) {
        throw Error(ErrorKind::usage, "--top is for --plot arcs");
    }
    plot.digits = decide_digits(plot.output, plot.format, plot_formats);
    (void)decide_notation(plot.output, plot.format);
}

/// Throws Error(usage) for what are not letters of dimensions.
std::string axes_called(const std::string& letters)
{
    const std::string_view all = model::plotted_axes;
    const bool known = letters.find_first_not_of(all) == std::string::npos;
    const auto count = [&](char letter) { return std::ranges::count(letters, letter); };
    const bool once = std::ranges::all_of(all, [&](char letter) { return count(letter) <= 1; });
    if (!known || !once || count('t') == 0 || count('s') == 0) {
        throw Error(ErrorKind::usage, option::axes.name, in_quotes(letters),
                    "t (queries), s (keys) and any of l (layers), b (batch), h (heads), each once, such as lhts");
    }
    return letters;
}

/// Which dimension a letter names; without --axes they are the last letters of plotted_axes.
std::optional<std::size_t> dimension_of(char letter, const std::string& axes, const Shape& shape)
{
    const std::string_view all = model::plotted_axes;
    const std::string_view letters = axes.empty() ? all.substr(all.size() - std::min(all.size(), shape.size())) : axes;
    const std::size_t at = letters.find(letter);
    return at < shape.size() ? std::optional(at) : std::nullopt;
}

std::optional<std::vector<std::string>> words_of(const std::optional<std::string>& path, TensorInputs& inputs)
{
    if (!path) {
        return std::nullopt;
    }
    const MappedFile& file = inputs.any_file(*path);
    const auto [words, count] = io::word_lines(file.bytes(), file.name(), model::most_plotted);
    if (count > model::most_plotted) {
        throw Error(ErrorKind::data, file.name(), counted(count, "word"), fmt::format("up to {}", model::most_plotted));
    }
    return std::vector<std::string>(words.begin(), words.end());
}

void refuse_layer(const PlotOptions& options)
{
    if (options.layer) {
        throw Error(ErrorKind::usage, fmt::format("{} is for results of whole trained models and tensors with layers",
                                                  options.layer_of_head ? "--head LAYER.HEAD" : "--layer"));
    }
}

/// The layer of --head LAYER.HEAD is none that there is.
[[noreturn]] void refuse_layer_of_head(const PlotOptions& options, const std::string& allowed)
{
    throw Error(ErrorKind::usage, option_name(model::field::head), fmt::format("layer {}", *options.layer_of_head), allowed);
}

void require_layer_of_head(const PlotOptions& options, const Shape& shape)
{
    if (!options.layer_of_head) {
        return;
    }
    const std::optional<std::size_t> dimension = dimension_of('l', options.axes, shape);
    if (!dimension) {
        refuse_layer_of_head(options, fmt::format("a head alone, the shape {} has no layers", to_string(shape)));
    }
    if (*options.layer_of_head >= shape[*dimension]) {
        refuse_layer_of_head(options, fmt::format("0 to {}", shape[*dimension] - 1));
    }
}

void require_layer_of_head(const PlotOptions& options, const std::vector<model::SavedLayer>& layers)
{
    std::string there;
    for (const model::SavedLayer& layer : layers) {
        there += (there.empty() ? "" : ", ") + std::to_string(layer.number);
    }
    const auto is_it = [&](const model::SavedLayer& layer) { return layer.number == options.layer_of_head; };
    if (options.layer_of_head && std::ranges::none_of(layers, is_it)) {
        refuse_layer_of_head(options, "one that the result has: " + there);
    }
}

/// A grid of heat maps and a page have all layers.
bool takes_layers(const PlotOptions& options)
{
    return options.format == Format::html || (options.format == Format::svg && options.picture.plot == report::Plot::heat_map);
}

/// What a text calls the places along a dimension: its columns stand in the last one, its rows in the one before.
const std::vector<std::string>& words_along(char letter, const std::string& axes, const Shape& shape, const io::OfText& text)
{
    static const std::vector<std::string> none;
    const std::optional<std::size_t> dimension = dimension_of(letter, axes, shape);
    return !dimension                       ? none
           : *dimension + 1 == shape.size() ? text.columns
           : *dimension + 2 == shape.size() ? text.rows
                                            : none;
}

/// The words of an option, or those that a text has.
std::optional<std::vector<std::string>> words_of(const std::optional<std::string>& path, TensorInputs& inputs,
                                                 const std::vector<std::string>& of_text)
{
    const bool known = !path && !of_text.empty() && std::ssize(of_text) <= model::most_plotted;
    return known ? std::optional(of_text) : words_of(path, inputs);
}

model::Result result_of_tensor(const TensorView& weights, const PlotOptions& options, TensorInputs& inputs,
                               std::string_view what, const io::OfText& text = {})
{
    require_layer_of_head(options, weights.shape);
    const bool is_one_layer = options.layer || !dimension_of('l', options.axes, weights.shape);
    const std::vector<std::string>& of_keys = words_along('s', options.axes, weights.shape, text);
    const std::vector<std::string>& named = words_along('t', options.axes, weights.shape, text);
    const std::optional<std::size_t> queries = dimension_of('t', options.axes, weights.shape);
    const bool named_before_rows = named.empty() && &of_keys == &text.rows; // which then stand for columns, too
    const bool square = queries && weights.shape[*queries] == std::ssize(of_keys);
    const std::vector<std::string>& of_queries = named_before_rows && square ? of_keys : named;
    const auto judge = [&](const Shape& shape) {
        if (options.format == Format::html) {
            report::require_page_size(shape);
        } else if (options.format == Format::svg) {
            report::require_picture_size(shape, {.plot = options.picture.plot, .layers = !is_one_layer});
        }
    };
    model::Result result = model::result_of({.weights = weights,
                                             .axes = options.axes,
                                             .layer = options.layer,
                                             .batch = options.batch,
                                             .tokens = words_of(options.tokens, inputs, of_queries),
                                             .key_tokens = words_of(options.key_tokens, inputs, of_keys),
                                             .heads = options.head,
                                             .query = options.query,
                                             .origin = model::Origin::options_alone(option_name),
                                             .judge = judge,
                                             .read_numbers = [&](const NumberJudge& judge) { inputs.read_numbers(judge); }},
                                            what);
    if (result.layers.size() > 1 && !takes_layers(options)) {
        throw Error(ErrorKind::usage, option_name(model::trained_field::layers), "none",
                    fmt::format("0 to {}", result.layers.size() - 1));
    }
    if (result.front().number) {
        result.model.emplace();
        for (const std::string& token : result.tokens) {
            result.model->sentence += (result.model->sentence.empty() ? "" : " ") + token;
        }
    }
    return result;
}

model::Result result_of_saved(const model::SavedResult& saved, const PlotOptions& options)
{
    const auto* config = std::get_if<model::TrainedConfig>(&saved.config);
    if (config == nullptr) {
        return model::result_of(saved);
    }
    require_layer_of_head(options, saved.layers);
    const bool one = options.layer || !takes_layers(options);
    model::Result result = model::result_of_layer(saved, one ? options.layer : saved.layers.front().number);
    result.model = *config;
    for (std::size_t i = 1; !one && i < saved.layers.size(); ++i) {
        model::Result next = model::result_of_layer(saved, saved.layers[i].number);
        result.layers.push_back(std::move(next.front()));
        result.show.insert(next.show.begin(), model::Show::end());
    }
    return result;
}

model::Result result_of_json(std::string_view json, const PlotOptions& options, TensorInputs& inputs)
{
    if (io::kind_of(json) == io::Document::tensor) {
        const StoredTensor tensor = io::parse_tensor_json(json);
        return result_of_tensor(tensor.view(), options, inputs, tensor.name.empty() ? "the tensor" : tensor.name);
    }
    const bool layers = io::kind_of(json) == io::Document::layers;
    if (!layers && io::kind_of(json) != io::Document::result) {
        io::refuse_schema(json, {model::Document::result, model::Document::layers, model::Document::tensor});
    }
    for (const auto& [given, name] : {std::pair(options.tokens.has_value(), option::tokens.name),
                                      {options.key_tokens.has_value(), option::key_tokens.name},
                                      {options.batch.has_value(), option::batch.name},
                                      {!options.axes.empty(), option::axes.name},
                                      {!options.file.name.empty(), "FILE:NAME"}}) {
        if (given) {
            throw Error(ErrorKind::usage,
                        std::string(name) + " is for tensors; a saved result has its words and one array of weights");
        }
    }
    if (!layers) {
        refuse_layer(options);
    }
    return result_of_saved(io::parse_saved_result(json), options);
}

model::Result read_file(const PlotOptions& options, TensorInputs& inputs, std::size_t most_bytes)
{
    const MappedFile& file = inputs.file(options.file.path);
    require_size(file.name(), file.bytes().size(), most_bytes);
    if (header_beside(options.file.path) || io::array_format(file.bytes(), file.name()) != io::ArrayFormat::json) {
        const auto [tensor, text] = inputs.open_text(options.file, name_of(model::Item::weights));
        return result_of_tensor(tensor.view, options, inputs, file.name(), text);
    }
    const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
    const std::vector<JsonText> documents = split_documents(text);
    if (documents.size() != 1) {
        throw Error(ErrorKind::data, file.name(), fmt::format("{} results", documents.size()),
                    "one, such as `sed -n 1p FILE | attn-cli plot -` draws");
    }
    try {
        return result_of_json(documents.front().text, options, inputs);
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::data) {
            throw;
        }
        throw Error(error.kind(), file.name() + ": " + error.what());
    }
}

/// What of it is written. A page has all that the file holds, since it has steps.
void select(model::Result& result, const PlotOptions& options)
{
    if (options.format == Format::html) {
        result.show.insert({model::Item::tokens, model::Item::key_tokens, model::Item::weights});
        return leave_out_stages(result);
    }
    result.show = {model::Item::weights};
    if (options.format == Format::table) {
        result.model.reset(); // the one layer is printed like that of a run
    }
}

/// With which the page says how to compute what the file holds; empty: it was not computed by `run`, or not all of it is left.
std::string command_of(const model::Result& result, const PlotOptions& options)
{
    const bool computed =
        !result.model && !result.foreign && options.file.path != "-" && options.head.empty() && options.query.empty();
    return computed ? "attn-cli run --recipe " + shell_word(options.file.path) : "";
}

int execute_plot(PlotOptions& options, const TypedArguments& typed, const Globals& globals, Log& log)
{
    finish_options(typed, options);
    Output output(options.output.path);
    StageReporter stages(log);
    output.show_progress(stages);
    TensorInputs inputs;
    model::Result result = read_file(options, inputs, globals.most_bytes());
    inputs.require_apart_from(options.output.path);
    if (!options.head.empty() && !result.foreign) { // of a tensor what was asked for was read alone
        model::keep_heads(result, options.head, model::Origin::options_alone(option_name));
    }
    if (!options.query.empty() && !result.foreign) {
        model::keep_rows(result, options.query);
    }
    std::vector<std::string> doubts;
    for (const model::Layer& layer : result.layers) {
        if (std::optional<std::string> doubt = model::doubt_about(result, layer)) {
            doubts.push_back(std::move(*doubt));
        }
    }
    inputs.require_unchanged();
    select(result, options);
    write_result(result,
                 {.format = options.format,
                  .table = {.digits = options.digits,
                            .width = output.columns(),
                            .shading = shading_of(output, log.colour()),
                            .all_digits = options.output.digits.has_value(),
                            .shade = options.picture_options.shade,
                            .notation = decide_notation(options.output, options.format)},
                  .picture = options.picture,
                  .captioned = options.picture_options.caption,
                  .page = {.shade = options.picture_options.shade, .command = command_of(result, options)}},
                 {}, output);
    output.finish();
    for (const std::string& doubt : doubts) { // an error stands alone
        log.warning(doubt);
    }
    return success;
}

void declare_plot(Options& options, PlotOptions& plot)
{
    const std::string head = option_name(model::field::head), layers = option_name(model::trained_field::layers);
    options.group("Input");
    options.add(option::tokens, plot.tokens);
    options.add(option::key_tokens, plot.key_tokens);
    options.add(option::axes,
                [&](const model::FieldValue& letters) { plot.axes = axes_called(std::get<std::string>(letters)); });
    options.add(option::batch, plot.batch);
    options.add({layers, "N", "which layer of a whole trained model, or of a tensor with layers",
                 "all in heat maps and in a page; elsewhere required",
                 model::allow::integer(0, model::trained_field::most_layers - 1)},
                plot.layer);
    options.group("Output");
    OptionInfo heads = option_of(model::field::head, head);
    heads.meaning = "only these heads, from 0; mean: the mean of all heads' weights";
    declare_head(options, heads, plot.layer_of_head, [&](const model::FieldValue& asked) { model::assign(plot.head, asked); });
    options.add(model::field::query, plot.query);
    declare_output(options, plot.output, plot_formats, "a table");
    options.add(
        option::top("with --plot arcs draw only the K strongest lines per head", "", model::allow::integer(1, most_lines)),
        plot.top);
    declare_digits(options, plot.output, plot_formats);
    declare_notation(options, plot.output);
    declare_pictures(options, plot.picture_options, PictureSpelling::options);
}

} // namespace

constinit const Command plot_command{
    .name = "plot",
    .operands = "FILE",
    .summary = "Draw the weights of a saved result, or weights that another program saved.",
    .examples = plot_examples,
    .common = plot_common,
    .notes = plot_notes,
    .page = "pictures",
    .declare = with_options<PlotOptions, declare_plot, execute_plot>,
};

} // namespace attn::cli
