#include "attn/report/text/summary.hpp"

#include "attn/math/decimal.hpp"
#include "attn/report/axes.hpp"
#include "attn/report/head_means.hpp"
#include "attn/report/text/display.hpp"
#include "attn/report/text/grid.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace attn::report {
namespace {

using model::HeadSummary;
using model::Layer;
using model::Result;

/// A row a head, each with its label unless there is but one. `layer` is one of those that they are of, which have the same
/// words.
void write_means(Buffer& buffer, const Result& result, const Layer& layer, const std::vector<HeadSummary>& heads,
                 std::vector<std::string> labels, const TableOptions& options)
{
    const double largest_entropy = layer.summary->largest_entropy;         // depends on the words alone
    const double most_entropy = largest_entropy > 0 ? largest_entropy : 1; // 0 of one word
    GridStyle style;
    style.row_labels = std::move(labels);
    style.digits = options.digits;
    style.width = options.width;
    style.shading = is_coloured(options.shading) ? options.shading : Shading::none;
    std::vector<double> means;
    for (const HeadSummary& head : heads) {
        for (const ShownMean& column : head_means) {
            if (const std::optional<double> mean = column.value(head)) {
                means.push_back(*mean);
                if (&head == &heads.front()) {
                    style.column_labels.emplace_back(column.header);
                    style.column_scales.push_back({.low = 0, .high = column.is_share ? 1 : most_entropy});
                }
            }
        }
    }
    write_title(
        buffer,
        {layer.part ? fmt::format("summary of {}", model::part_names.at(static_cast<std::size_t>(*layer.part))) : "summary",
         fmt::format("(means of {};", counted(std::ssize(result.words_of_queries(layer)), "row")), "entropy in nats,",
         fmt::format("at most {})", math::fixed(largest_entropy, options.digits))},
        options.width);
    write_grid(buffer, std::span<const double>(means), style);
}

/// A word for a pair, in `room` columns but at least two; of a repeated one it says which it is.
std::string word_at(const std::vector<std::string>& words, Index position, Index room)
{
    const std::string& word = words[static_cast<std::size_t>(position)];
    const std::string which = std::count(words.begin(), words.end(), word) > 1 ? fmt::format("[{}]", position) : "";
    return shortened(visible(word), std::max<Index>(room - std::ssize(which), 2)) + which;
}

/// "short → short 1.0000", within `width` columns as long as its number leaves room for two of each word.
std::string text_of(const Result& result, const Layer& layer, const model::Pair& pair, int digits, Index width)
{
    constexpr std::string_view arrow = " → ";
    const std::string number = ' ' + math::fixed(pair.weight, digits);
    const Index room = (width - display_width(arrow) - std::ssize(number) - 1) / 2; // a comma follows
    return word_at(result.row_words(layer), pair.query, room) + std::string(arrow) +
           word_at(result.words_of_keys(layer), pair.key, room) + number;
}

void write_pairs(Buffer& buffer, const Result& result, const Layer& layer, const TableOptions& options)
{
    constexpr Index narrow = 24;
    const Index line = options.width.value_or(std::numeric_limits<Index>::max());
    const std::vector<std::string> labels = head_names(layer, std::ssize(layer.summary->heads));
    Index indent = labels.empty() ? 0 : std::ssize(labels.back()) + 2;
    const bool own_line = !labels.empty() && line - indent < narrow;
    indent = own_line ? 0 : indent;
    write_title(buffer, {"strongest", "pairs"}, options.width);
    for (std::size_t h = 0; h < layer.summary->heads.size(); ++h) {
        const std::string label = labels.empty() ? "" : labels[h];
        buffer.append(own_line ? label + "\n" : aligned_left(label, indent));
        std::vector<std::string> pairs;
        for (const model::Pair& pair : layer.summary->heads[h].pairs) {
            pairs.push_back(text_of(result, layer, pair, options.digits, line - indent) + ',');
        }
        pairs.empty() ? pairs.emplace_back("none") : pairs.back().erase(pairs.back().size() - 1);
        write_parts(buffer, pairs, options.width, indent);
        buffer.append("\n");
    }
}

void write_pair(JsonWriter& json, const Result& result, const Layer& layer, const model::Pair& pair)
{
    for (const model::PairEnd& end : model::pair_ends) {
        json.member(end.position, pair.*end.place);
        json.member(end.token, end.word(result, layer, pair));
    }
    json.key(model::key::weight);
    const bool single = layer.summary->dtype == Dtype::float32; // the decimal that stands in the weights
    json.raw(single ? math::shortest(static_cast<float>(pair.weight)) : math::shortest(pair.weight));
}

} // namespace

void write_summary(Buffer& buffer, const Result& result, const TableOptions& options)
{
    std::vector<HeadSummary> heads;
    std::vector<std::string> labels =
        result.model ? std::vector<std::string>() : head_names(result.front(), std::ssize(result.front().summary->heads));
    const Layer* before = &result.front();
    for (const Layer& layer : result.layers) {
        if (layer.part != before->part) { // its rows are other words
            write_means(buffer, result, *before, std::exchange(heads, {}), std::exchange(labels, {}), options);
            buffer.append("\n");
        }
        before = &layer;
        for (std::size_t h = 0; h < layer.summary->heads.size(); ++h) {
            heads.push_back(layer.summary->heads[h]);
            if (result.model) {
                labels.push_back(fmt::format("{}.{}", layer.number.value_or(0), layer.head_at(static_cast<Index>(h))));
            }
        }
    }
    write_means(buffer, result, *before, heads, std::move(labels), options);
    for (const Layer& layer : result.layers) {
        if (!result.model || options.layer_pairs) {
            buffer.append(result.model ? fmt::format("\n{}, ", name_of(layer.place())) : "\n");
            write_pairs(buffer, result, layer, options);
        }
    }
}

void write_summary(JsonWriter& json, const Result& result, const Layer& layer)
{
    const model::Summary& summary = *layer.summary;
    json.begin_object();
    json.member(model::key::largest_entropy, summary.largest_entropy);
    json.objects(model::key::heads, summary.heads, [&](const HeadSummary& head) {
        for (const ShownMean& column : head_means) {
            json.member(column.name, column.value(head));
        }
        json.objects(model::key::pairs, head.pairs, [&](const model::Pair& pair) { write_pair(json, result, layer, pair); });
    });
    json.end_object();
}

} // namespace attn::report
