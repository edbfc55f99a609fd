#include "attn/report/csv.hpp"

#include "attn/math/decimal.hpp"
#include "attn/model/run/heads.hpp"
#include "attn/report/axes.hpp"
#include "attn/tensor/buffer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>

namespace attn::report {
namespace {

using model::Item;
using model::Layer;
using model::Result;

/// A field as RFC 4180 wants it: quoted when it holds a comma, a quote or a control character such as a line break. Nothing is
/// escaped: a reader of CSV gets the very word.
std::string quoted_field(std::string_view text)
{
    const auto needs_quotes = [](char c) { return c == ',' || c == '"' || static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
    if (std::ranges::none_of(text, needs_quotes)) {
        return std::string(text);
    }
    std::string quoted = "\"";
    for (const char c : text) {
        quoted += c == '"' ? "\"\"" : std::string(1, c);
    }
    return quoted + '"';
}

/// One axis as CSV fields, each with the comma after it: numbers and words of its places.
struct Fields {
    std::vector<std::string> numbers, words;

    Fields(const Result& result, const Layer& layer, Axis axis, Index count)
    {
        const AxisLabels labels = labels_of(result, layer, axis, count);
        for (const Index number : labels.numbers) {
            numbers.push_back(std::to_string(number) + ',');
        }
        for (const std::string& word : labels.words) {
            words.push_back(quoted_field(word) + ',');
        }
        words.resize(numbers.size(), ",");
    }

    static Fields absent() { return {}; }

private:
    Fields() : numbers(1, ","), words(1, ",") {}
};

/// How an array's values lie in heads, rows and columns.
struct Layout {
    Index heads = 1, rows = 1, columns = 1;
    bool has_heads = false, has_rows = false, has_columns = true;
};

Layout layout_of(std::string_view name, const Shape& shape)
{
    if (axes_of(name).column == Axis::none) { // (H, T)
        return {.heads = shape.at(0), .rows = shape.at(1), .has_heads = true, .has_rows = true, .has_columns = false};
    }
    Layout layout;
    const std::size_t rank = shape.size();
    layout.has_columns = rank >= 1;
    layout.has_rows = rank >= 2;
    layout.has_heads = rank >= 3;
    layout.columns = rank >= 1 ? shape[rank - 1] : 1;
    layout.rows = rank >= 2 ? shape[rank - 2] : 1;
    layout.heads = rank >= 3 ? shape[rank - 3] : 1;
    return layout;
}

/// What stands before the value in every record of one row but for the column and the key's word.
struct Row {
    std::string start;       ///< "weights,0,1,"
    std::string query_token; ///< "Life,", or a comma where the row is no query
    std::string key_token;   ///< the same of a key
};

/// How the words of rows and columns become those of queries and keys.
struct Meaning {
    bool rows_are_queries, rows_are_keys;
    bool columns_are_keys; ///< scores … weights
    bool swapped;          ///< rows are the keys of scores that are computed as K·Qᵀ
    bool masked;           ///< -inf is written as nothing

    Meaning(const Layer& layer, std::string_view name, const Axes& axes)
        : rows_are_queries(axes.row == Axis::queries || axes.row == Axis::tokens),
          rows_are_keys(axes.row == Axis::keys || axes.row == Axis::key_tokens), columns_are_keys(axes.column == Axis::keys),
          swapped(columns_are_keys && layer.config.attention.order == model::ScoreOrder::key_query),
          masked(model::is_masked(model::item_called(name)))
    {
    }
};

template <typename Scalar>
void write_row(Buffer& buffer, const Row& row, const Fields& columns, const Meaning& meaning, const Scalar* values)
{
    for (std::size_t j = 0; j < columns.numbers.size(); ++j) {
        std::string& out = buffer.text();
        const std::string& query = row.query_token;
        const std::string& key = meaning.columns_are_keys ? columns.words[j] : row.key_token;
        out.append(row.start).append(columns.numbers[j]);
        out.append(meaning.swapped ? key : query).append(meaning.swapped ? query : key);
        if (!(meaning.masked && values[j] == -std::numeric_limits<Scalar>::infinity())) {
            math::append_shortest(out, values[j]);
        }
        out += '\n';
        buffer.settle();
    }
}

/// What stands before the head in every record.
struct Beginning {
    std::string index;                     ///< "7,", or nothing
    std::optional<std::string> layer = {}; ///< "3", "cross.3", or empty where an array is of no layer; none: no such column

    [[nodiscard]] std::string of(std::string_view array) const
    {
        return index + std::string(array) + ',' + (layer ? *layer + ',' : "");
    }
};

template <typename Scalar>
void write_array(Buffer& buffer, const Beginning& beginning, const Result& result, const Layer& layer, const std::string& name,
                 const Tensor<Scalar>& tensor)
{
    const Layout layout = layout_of(name, tensor.shape);
    const Axes axes = axes_of(name);
    const Meaning meaning(layer, name, axes);
    const Fields rows = layout.has_rows ? Fields(result, layer, axes.row, layout.rows) : Fields::absent();
    const Fields columns = layout.has_columns ? Fields(result, layer, axes.column, layout.columns) : Fields::absent();
    const Scalar* values = tensor.values.data();
    for (Index head = 0; head < layout.heads; ++head) {
        const std::string start =
            beginning.of(name) + (layout.has_heads ? model::number_of_head(layer.head_at(head, name)) : "") + ',';
        for (std::size_t i = 0; i < rows.numbers.size(); ++i, values += layout.columns) {
            const std::string& word = rows.words[i];
            const Row row{start + rows.numbers[i], meaning.rows_are_queries ? word : ",", meaning.rows_are_keys ? word : ","};
            write_row(buffer, row, columns, meaning, values);
        }
    }
}

void write_ids(Buffer& buffer, const Beginning& beginning, Item item, const std::vector<Index>& ids,
               const std::vector<std::string>& words)
{
    const bool of_keys = item == Item::key_token_ids;
    const std::size_t columns = is_paired(item) ? 2 : 1;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        buffer.append(fmt::format("{},{},{},{}{}{},{}\n", beginning.of(model::name_of(item)), i / columns,
                                  columns > 1 ? std::to_string(i % columns) : "", of_keys ? "," : "",
                                  quoted_field(words.at(i / columns)), of_keys ? "" : ",", ids[i]));
    }
}

void write_array(Buffer& buffer, const Beginning& beginning, const Result& result, const Layer& layer, const std::string& name,
                 const AnyTensor& any)
{
    std::visit([&](const auto& tensor) { write_array(buffer, beginning, result, layer, name, tensor); }, any);
}

/// Of each row its number and word, and the word of the column that it looks at most.
void write_alignment(Buffer& buffer, const Beginning& beginning, const Result& result, const Layer& layer)
{
    const Fields rows(result, layer, Axis::queries, std::ssize(layer.alignment));
    for (std::size_t i = 0; i < layer.alignment.size(); ++i) {
        const auto key = static_cast<std::size_t>(layer.alignment[i]);
        buffer.append(fmt::format("{},{},{}{},{}\n", beginning.of(model::name_of(Item::alignment)), rows.numbers[i],
                                  rows.words[i], quoted_field(result.words_of_keys(layer)[key]), layer.alignment[i]));
    }
}

void write_ids(Buffer& buffer, const Beginning& beginning, const Result& result)
{
    for (const auto& [item, words] : {std::pair(Item::token_ids, Item::tokens),
                                      {Item::key_token_ids, Item::key_tokens},
                                      {Item::token_types, Item::tokens},
                                      {Item::offsets, Item::tokens}}) {
        if (result.show.contains(item) && result.integers(item, result.front()) != nullptr) {
            write_ids(buffer, beginning, item, *result.integers(item, result.front()), *result.words(words));
        }
    }
}

} // namespace

std::string csv_header(bool with_index, bool with_layer)
{
    return fmt::format("{}array,{}head,row,column,query_token,key_token,value\n", with_index ? "index," : "",
                       with_layer ? "layer," : "");
}

void write_csv(const Result& result, const CsvOptions& options, Buffer& buffer)
{
    const bool of_model = result.model.has_value();
    if (options.header) {
        buffer.append(csv_header(options.index.has_value(), of_model));
    }
    Beginning beginning{.index = options.index ? std::to_string(*options.index) + ',' : "",
                        .layer = of_model ? std::optional<std::string>("") : std::nullopt};
    write_ids(buffer, beginning, result);
    Beginning in_layer = beginning;
    for (const Layer& layer : result.layers) {
        if (of_model) {
            const std::string of(layer.part ? model::part_names.at(static_cast<std::size_t>(*layer.part)) : "");
            in_layer.layer = of + (of.empty() ? "" : ".") + std::to_string(layer.number.value_or(0));
        }
        write_alignment(buffer, in_layer, result, layer);
        for (const model::Array* array : shown_arrays(result, layer)) {
            write_array(buffer, in_layer, result, layer, array->name, array->tensor);
        }
    }
    if (result.logits) {
        write_array(buffer, beginning, result, result.layers.back(), std::string(name_of(Item::logits)), *result.logits);
    }
}

} // namespace attn::report
