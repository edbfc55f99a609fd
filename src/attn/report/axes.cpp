#include "attn/report/axes.hpp"

#include "attn/tensor/indices.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace attn::report {
namespace {

constexpr std::array<std::pair<std::string_view, Axes>, 17> known{{
    {"embedding", {Axis::vocabulary, Axis::number}},
    {"key_embedding", {Axis::vocabulary, Axis::number}},
    {"value_embedding", {Axis::vocabulary, Axis::number}},
    {"embeddings", {Axis::tokens, Axis::number}},
    {"key_embeddings", {Axis::keys, Axis::number}},
    {"queries", {Axis::queries, Axis::number}},
    {"keys", {Axis::keys, Axis::number}},
    {"values", {Axis::keys, Axis::number}},
    {"scores", {Axis::queries, Axis::keys}},
    {"scaled_scores", {Axis::queries, Axis::keys}},
    {"capped_scores", {Axis::queries, Axis::keys}},
    {"masked_scores", {Axis::queries, Axis::keys}},
    {"weights", {Axis::queries, Axis::keys}},
    {"head_context", {Axis::queries, Axis::number}},
    {"context", {Axis::queries, Axis::number}},
    {"output", {Axis::queries, Axis::number}},
    {"entropy", {Axis::queries, Axis::number}},
}};

} // namespace

Axes axes_of(std::string_view array)
{
    const auto* const found = std::find_if(known.begin(), known.end(), [&](const auto& entry) { return entry.first == array; });
    return found == known.end() ? Axes{} : found->second;
}

AxisLabels labels_of(const model::Result& result, Axis axis, Index count)
{
    AxisLabels labels;
    labels.numbers = indices(count);
    switch (axis) {
    case Axis::number: break;
    case Axis::vocabulary: labels.words = result.vocabulary.value_or(std::vector<std::string>{}); break;
    case Axis::tokens: labels.words = result.tokens; break;
    case Axis::queries:
        labels.words = result.words_of_queries();
        if (!result.query_positions.empty()) {
            labels.numbers = result.query_positions;
        }
        break;
    case Axis::keys: labels.words = result.words_of_keys(); break;
    }
    // An embedding table may have more rows than the vocabulary has words.
    for (std::size_t i = labels.words.size(); !labels.words.empty() && i < labels.numbers.size(); ++i) {
        labels.words.push_back(std::to_string(labels.numbers[i]));
    }
    labels.words.resize(labels.words.empty() ? 0 : labels.numbers.size());
    return labels;
}

std::vector<const model::Array*> shown_arrays(const model::Result& result)
{
    std::vector<const model::Array*> arrays;
    for (const model::Item item : result.show) { // a set: in the order of the enum
        for (const model::Array& array : result.arrays) {
            if (array.name == model::name_of(item)) {
                arrays.push_back(&array);
            }
        }
    }
    return arrays;
}

} // namespace attn::report
