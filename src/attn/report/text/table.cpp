#include "attn/report/text/table.hpp"

#include "attn/math/decimal.hpp"
#include "attn/report/axes.hpp"
#include "attn/report/text/display.hpp"
#include "attn/report/text/grid.hpp"
#include "attn/report/text/introduction.hpp"
#include "attn/report/text/summary.hpp"
#include "attn/report/text/torch_text.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace attn::report {
namespace {

using model::Item;
using model::Layer;
using model::Result;

// ---- one line each: tokens, vocabulary, ids ---------------------------------------------------------------------------

struct Line {
    std::string_view name;
    std::vector<std::string> items;
    std::string_view separator;
};

/// Each fit for one line; on a terminal it takes half of it at most.
std::vector<std::string> shown_words(const std::vector<std::string>& words, const TableOptions& options)
{
    std::vector<std::string> shown;
    for (const std::string& word : words) {
        const std::string safe = visible(word);
        shown.push_back(options.width ? shortened(safe, std::max<Index>(*options.width / 2, 6)) : safe);
    }
    return shown;
}

/// A text in pieces between which a line may break.
std::vector<std::string> words_in(const std::string& text, const TableOptions& options)
{
    std::vector<std::string> words;
    std::istringstream stream(text);
    for (std::string word; stream >> word;) {
        words.push_back(options.width ? shortened(word, *options.width) : word);
    }
    return words;
}

/// "0-3", "4-7", …
std::vector<std::string> ranges(const std::vector<Index>& values)
{
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < values.size(); i += 2) {
        texts.push_back(std::to_string(values[i]) + '-' + std::to_string(values[i + 1]));
    }
    return texts;
}

/// "Life 0", "dessert 1", …
std::vector<std::string> words_with_ids(const std::vector<std::string>& vocabulary, const TableOptions& options)
{
    std::vector<std::string> texts = shown_words(vocabulary, options);
    for (std::size_t id = 0; id < texts.size(); ++id) {
        texts[id] += ' ' + std::to_string(id);
    }
    return texts;
}

/// "Life 0", "is 4", …; a word that is nothing but its id, once.
std::vector<std::string> words_and_ids(const std::vector<std::string>& words, const std::vector<Index>& ids,
                                       const TableOptions& options)
{
    std::vector<std::string> texts = shown_words(words, options);
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const std::string id = std::to_string(ids[i]);
        texts[i] += texts[i] == id ? "" : ' ' + id;
    }
    return texts;
}

std::vector<Line> lines_of(const Result& result, const TableOptions& options)
{
    std::vector<Line> lines;
    if (options.ids_in_words && !result.token_ids.empty()) {
        lines.push_back({"ids", words_and_ids(result.tokens, result.token_ids, options), ", "});
        if (result.cross) {
            lines.push_back({"key ids", words_and_ids(result.key_tokens, result.key_token_ids, options), ", "});
        }
        return lines;
    }
    for (const Item item : result.show) {
        if (const std::vector<std::string>* words = result.words(item)) {
            const bool with_ids = item == Item::vocabulary;
            lines.push_back({name_of(item), with_ids ? words_with_ids(*words, options) : shown_words(*words, options),
                             with_ids ? ", " : " "});
        } else if (const std::vector<Index>* list = result.integers(item, result.front());
                   list != nullptr && !is_choice(item) && standing_of(item) != model::Standing::in_layer) {
            lines.push_back({name_of(item), is_paired(item) ? ranges(*list) : texts_of(*list), " "});
        }
    }
    return lines;
}

/// The items that fit, whole ones only; "…" stands for the rest. On a narrow terminal the name has a line of its own.
void write_line(Buffer& buffer, const Line& line, Index name_width, std::optional<Index> width)
{
    constexpr Index narrow = 24;
    const bool own_line = width && *width - name_width < narrow;
    buffer.append(line.name);
    buffer.append(own_line ? "\n" : blanks(name_width - std::ssize(line.name)));
    Index used = own_line ? 0 : name_width;
    for (std::size_t i = 0; i < line.items.size(); ++i) {
        const std::string piece = (i == 0 ? "" : std::string(line.separator)) + line.items[i];
        const Index rest = i + 1 < line.items.size() ? std::ssize(line.separator) + 1 : 0;
        if (width) {
            used += display_width(piece);
            if (used + rest > *width) {
                buffer.append(i == 0 ? "" : line.separator);
                buffer.append("…");
                break;
            }
        }
        buffer.append(piece);
    }
    buffer.append("\n");
}

// ---- tables -----------------------------------------------------------------------------------------------------------

std::vector<std::string> visible_texts(const AxisLabels& labels)
{
    return texts_of(labels, [](std::string_view word) { return visible(word); });
}

GridStyle style_of(const TableOptions& options)
{
    GridStyle style;
    style.digits = options.digits;
    style.width = options.width;
    style.notation = options.notation;
    return style;
}

/// Heads as rows, query words as columns.
template <typename Scalar>
void write_per_query(Buffer& buffer, const Result& result, const Layer& layer, const std::string& name,
                     const Tensor<Scalar>& tensor, const TableOptions& options)
{
    GridStyle style = style_of(options);
    style.column_labels = visible_texts(labels_of(result, layer, Axis::queries, tensor.columns()));
    style.row_labels = head_names(layer, tensor.rows(), name);
    const Shape shape = style.row_labels.empty() ? Shape{tensor.columns()} : tensor.shape;
    write_title(buffer, {name, to_string(shape)}, options.width);
    write_grid(buffer, std::span<const Scalar>(tensor.values), style);
}

/// Whether the numbers of all heads fit, or must be left out where they do not.
template <typename Scalar>
bool shows_numbers(const Tensor<Scalar>& tensor, const TableOptions& options, const GridStyle& style)
{
    if (!is_coloured(style.shading) || !options.width || options.all_digits) {
        return true;
    }
    const auto size = static_cast<std::size_t>(tensor.rows() * tensor.columns());
    for (std::size_t start = 0; start < tensor.values.size(); start += size) {
        if (!fits(std::span<const Scalar>(tensor.values).subspan(start, size), style)) {
            return false;
        }
    }
    return true;
}

/// Weights in colours alone.
template <typename Scalar>
void write_map(Buffer& buffer, const Layer& layer, const std::string& name, const Tensor<Scalar>& tensor,
               const GridStyle& style)
{
    const Index heads = tensor.shape.front();
    const std::string count = heads == 1 ? "" : "of " + counted(heads, "head");
    std::vector<std::string> title{name, count, to_string(Shape{tensor.rows(), tensor.columns()})};
    std::erase(title, "");
    write_title(buffer, title, style.width, {.shading = style.shading, .scale = style.scale, .marked = false});
    write_half_blocks(buffer, std::span<const Scalar>(tensor.values), head_names(layer, heads, name), style);
}

template <typename Scalar>
void write_matrices(Buffer& buffer, const Result& result, const Layer& layer, const std::string& name,
                    const Tensor<Scalar>& tensor, const TableOptions& options)
{
    const Axes axes = axes_of(name);
    const bool vector = tensor.shape.size() < 2;
    GridStyle style = style_of(options);
    style.column_labels = visible_texts(labels_of(result, layer, axes.column, tensor.columns()));
    if (!vector) {
        const AxisLabels rows = labels_of(result, layer, axes.row, tensor.rows());
        style.row_labels = visible_texts(rows);
        style.numbered_rows = rows.words.empty();
    }
    const bool weights = model::item_called(name) == Item::weights;
    style.sums = weights;
    style.shading = weights ? options.shading : Shading::none;
    style.scale = {.low = 0, .high = options.shade.most.value_or(1), .shade = shade_of(options.shade, tensor.columns())};
    style.masked = model::is_masked(model::item_called(name));
    if (!shows_numbers(tensor, options, style)) {
        return write_map(buffer, layer, name, tensor, style);
    }
    const Index heads = tensor.shape.size() < 3 ? 1 : tensor.shape[tensor.shape.size() - 3];
    const Shape shape = vector ? Shape{tensor.columns()} : Shape{tensor.rows(), tensor.columns()};
    const auto size = static_cast<std::size_t>(tensor.rows() * tensor.columns());
    for (Index head = 0; head < heads; ++head) {
        const Legend legend{.shading = head == 0 ? style.shading : Shading::none, .scale = style.scale};
        if (heads == 1 && (tensor.shape.size() < 3 || layer.heads.empty())) {
            write_title(buffer, {name, to_string(shape)}, options.width, legend);
        } else {
            buffer.append(head == 0 ? "" : "\n");
            write_title(buffer, {name + ',', layer.name_of_head(head, name), to_string(shape)}, options.width, legend);
        }
        write_grid(buffer, std::span<const Scalar>(tensor.values).subspan(static_cast<std::size_t>(head) * size, size), style);
    }
}

/// All heads together; one alone is no dimension. The text begins on a line of its own, so that it can be copied and compared.
template <typename Scalar>
void write_torch(Buffer& buffer, const Layer& layer, const std::string& name, const Tensor<Scalar>& tensor,
                 const TableOptions& options)
{
    const std::optional<Item> item = model::item_called(name);
    const bool by_head = item && model::info_of(*item).heads != model::Heads::none;
    const bool one_head = by_head && tensor.shape.front() == 1;
    const Shape shape(tensor.shape.begin() + (one_head ? 1 : 0), tensor.shape.end());
    std::vector<std::string> title{name, to_string(shape)};
    for (Index head = 0; by_head && !layer.heads.empty() && head < tensor.shape.front(); ++head) {
        title.back() = layer.name_of_head(head, name);
        title[title.size() - 2] += ',';
        title.push_back(to_string(shape));
    }
    write_title(buffer, title, options.width);
    buffer.append(torch_text(std::span<const Scalar>(tensor.values), shape, options.digits));
    buffer.append("\n");
}

void write_array(Buffer& buffer, const Result& result, const Layer& layer, const model::Array& array,
                 const TableOptions& options)
{
    std::visit(
        [&](const auto& tensor) {
            if (options.notation == NotationRule::torch) {
                write_torch(buffer, layer, array.name, tensor, options);
            } else if (axes_of(array.name).column == Axis::none) {
                write_per_query(buffer, result, layer, array.name, tensor, options);
            } else {
                write_matrices(buffer, result, layer, array.name, tensor, options);
            }
        },
        array.tensor);
}

// ---- whole results ----------------------------------------------------------------------------------------------------

/// "cat → chat", "sat → assis[2]", …: of a repeated word which it is.
void write_alignment(Buffer& buffer, const Result& result, const Layer& layer, const TableOptions& options)
{
    const AxisLabels rows = labels_of(result, layer, Axis::queries, std::ssize(layer.alignment));
    const std::vector<std::string>& keys = result.words_of_keys(layer);
    std::vector<std::string> pairs;
    for (std::size_t i = 0; i < layer.alignment.size(); ++i) {
        const Index key = layer.alignment[i];
        const std::string& word = keys[static_cast<std::size_t>(key)];
        const std::string which = std::ranges::count(keys, word) > 1 ? fmt::format("[{}]", key) : "";
        pairs.push_back(fmt::format("{} → {}{}", visible(rows.words[i]), visible(word), which));
    }
    const Index width = widest(pairs, [](const std::string& pair) { return display_width(pair.substr(0, pair.find(" → "))); });
    write_title(buffer, {std::string(name_of(Item::alignment)), "(of", "each", "row", "the", "strongest", "column)"},
                options.width);
    for (const std::string& pair : pairs) {
        const std::size_t arrow = pair.find(" → ");
        buffer.append(aligned_left(pair.substr(0, arrow), width) + pair.substr(arrow) + "\n");
    }
}

/// "likeliest after mat (position 5): …", or "likeliest in place of [MASK] (position 5): …"
void write_guesses(Buffer& buffer, const Result& result, const std::vector<model::Guesses>& guesses,
                   const TableOptions& options)
{
    const bool causal = result.front().config.attention.causal || result.cross; // whose rows are a decoder's
    for (const model::Guesses& place : guesses) {
        const std::string& token = result.tokens[static_cast<std::size_t>(place.position)];
        std::vector<std::string> parts{fmt::format("likeliest {}", causal ? "after" : "in place of"),
                                       fmt::format("{} (position {}):", visible(token), place.position)};
        for (const model::Guess& word : place.words) {
            parts.push_back('"' + visible(word.token) + '"');
            parts.push_back(math::fixed(word.probability, options.digits) + (&word == &place.words.back() ? "" : ","));
        }
        write_title(buffer, parts, options.width);
    }
}

/// Parts of a report, an empty line between each two.
class Parts {
public:
    Parts(Buffer& buffer, bool first) : buffer_(buffer), first_(first) {}

    void next()
    {
        buffer_.append(first_ ? "" : "\n");
        first_ = false;
    }

private:
    Buffer& buffer_;
    bool first_;
};

/// Whether it is a table that each layer has.
bool is_of_a_layer(Item item)
{
    return standing_of(item) == model::Standing::in_layer && item != Item::summary;
}

} // namespace

void write_table(const Result& result, const TableOptions& options, Buffer& buffer)
{
    if (options.introduced) {
        write_title(buffer, words_in(introduction(result, options.width), options), options.width);
    }
    const std::vector<Line> lines = lines_of(result, options);
    const Index name_width = widest(lines, [](const Line& line) { return std::ssize(line.name) + 2; });
    for (const Line& line : lines) {
        write_line(buffer, line, name_width, options.width);
    }
    Parts parts(buffer, lines.empty() && !options.introduced);
    const bool summary = result.show.contains(Item::summary) && result.front().summary;
    if (summary && result.model) { // of all layers
        parts.next();
        write_summary(buffer, result, options);
    }
    const bool layer_by_layer = result.model && std::ranges::any_of(result.show, is_of_a_layer);
    for (const Layer& layer : result.layers) {
        if (layer_by_layer) {
            parts.next();
            buffer.append(name_of(layer.place()) + "\n\n");
        }
        Parts tables(buffer, true);
        if (!layer.alignment.empty()) {
            tables.next();
            write_alignment(buffer, result, layer, options);
        }
        for (const model::Array* array : shown_arrays(result, layer)) {
            const std::optional<Item> item = model::item_called(array->name);
            (layer_by_layer ? tables : parts).next();
            if (item && scores_words(*item)) { // the likeliest stand for all
                write_title(buffer, {array->name + ":", "as", "if", "this", "layer", "were", "the", "last"}, options.width);
                write_guesses(buffer, result, layer.guesses, options);
            } else {
                write_array(buffer, result, layer, *array, options);
            }
        }
    }
    if (summary && !result.model) {
        parts.next();
        write_summary(buffer, result, options);
    }
    if (!result.guesses.empty()) {
        parts.next();
        write_guesses(buffer, result, result.guesses, options);
    }
}

} // namespace attn::report
