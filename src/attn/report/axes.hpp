// What the rows and columns of each array of a result stand for.
#pragma once

#include "attn/model/run/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace attn::report {

using model::Axes;
using model::Axis;

/// Of a name in Result::arrays or Result::parameters.
[[nodiscard]] Axes axes_of(std::string_view array);

/// The names of `count` places along an axis of an array of the layer.
struct AxisLabels {
    std::vector<Index> numbers;     ///< the position in the full run, or just 0 … count-1
    std::vector<std::string> words; ///< one per place; empty where places have no word
};
[[nodiscard]] AxisLabels labels_of(const model::Result& result, const model::Layer& layer, Axis axis, Index count);

/// Each word as `safe` writes it, or the numbers of places that have none.
[[nodiscard]] std::vector<std::string> texts_of(const AxisLabels& labels, std::string (*safe)(std::string_view));
[[nodiscard]] std::vector<std::string> texts_of(const std::vector<Index>& numbers);

/// Of so many heads in an array; none where there is only the one.
[[nodiscard]] std::vector<std::string> head_names(const model::Layer& layer, Index count,
                                                  std::string_view array = name_of(model::Item::weights));

/// The arrays of a layer that are shown, in the order of model::Item; the parameters among them, one by one.
[[nodiscard]] std::vector<const model::Array*> shown_arrays(const model::Result& result, const model::Layer& layer);

} // namespace attn::report
