#include "attn/report/axes.hpp"

#include "attn/tensor/shape.hpp"

#include <algorithm>
#include <iterator>

namespace attn::report {

Axes axes_of(std::string_view array)
{
    if (const std::optional<model::Item> item = model::item_called(array)) {
        return model::info_of(*item).axes;
    }
    const bool is_table = array == name_of(model::Target::embedding) || array == name_of(model::Target::key_embedding) ||
                          array == name_of(model::Target::value_embedding);
    return is_table ? Axes{Axis::vocabulary, Axis::number} : Axes{};
}

AxisLabels labels_of(const model::Result& result, const model::Layer& layer, Axis axis, Index count)
{
    AxisLabels labels;
    labels.numbers = indices(count);
    switch (axis) {
    case Axis::none:
    case Axis::number: break;
    case Axis::vocabulary: labels.words = result.vocabulary.value_or(std::vector<std::string>{}); break;
    case Axis::tokens: labels.words = result.row_words(layer); break;
    case Axis::key_tokens: labels.words = result.key_words(layer); break;
    case Axis::queries:
        labels.words = result.words_of_queries(layer);
        if (!result.query_positions.empty()) {
            labels.numbers = result.query_positions;
        }
        break;
    case Axis::keys: labels.words = result.words_of_keys(layer); break;
    }
    // An embedding table may have more rows than the vocabulary has words.
    for (std::size_t i = labels.words.size(); !labels.words.empty() && i < labels.numbers.size(); ++i) {
        labels.words.push_back(std::to_string(labels.numbers[i]));
    }
    labels.words.resize(labels.words.empty() ? 0 : labels.numbers.size());
    return labels;
}

std::vector<std::string> texts_of(const AxisLabels& labels, std::string (*safe)(std::string_view))
{
    std::vector<std::string> texts;
    std::ranges::transform(labels.words, std::back_inserter(texts), safe);
    return labels.words.empty() ? texts_of(labels.numbers) : texts;
}

std::vector<std::string> texts_of(const std::vector<Index>& numbers)
{
    std::vector<std::string> texts;
    std::ranges::transform(numbers, std::back_inserter(texts), [](Index number) { return std::to_string(number); });
    return texts;
}

std::vector<std::string> head_names(const model::Layer& layer, Index count, std::string_view array)
{
    std::vector<std::string> names;
    for (Index head = 0; head < count && (count > 1 || !layer.heads.empty()); ++head) {
        names.push_back(layer.name_of_head(head, array));
    }
    return names;
}

std::vector<const model::Array*> shown_arrays(const model::Result& result, const model::Layer& layer)
{
    std::vector<const model::Array*> arrays;
    for (const model::Item item : result.show) { // a set: in the order of the enum
        const bool parameters = item == model::Item::parameters;
        for (const model::Array& array : parameters ? result.parameters : layer.arrays) {
            if (parameters || array.name == name_of(item)) {
                arrays.push_back(&array);
            }
        }
    }
    const auto place_of = [&](model::Item item) { return std::ranges::find(arrays, name_of(item), &model::Array::name); };
    const auto scaled = place_of(model::Item::scaled_scores);
    const auto masked = place_of(model::Item::masked_scores);
    if (layer.config.attention.mask_at == core::MaskAt::scores && scaled != arrays.end() && masked != arrays.end()) {
        std::rotate(scaled, masked, masked + 1); // in the order of the computation
    }
    return arrays;
}

} // namespace attn::report
