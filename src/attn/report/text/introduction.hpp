// What a result is, in a line that stands above its tables.
#pragma once

#include "attn/model/run/result.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace attn::report {

/// "6 words, 1 head, random matrices (seed 7), which mean nothing": how much there is, and where the parameters come from: a
/// recipe, files, chance. On a narrow terminal shorter, if it can be; it may still be wider than that.
[[nodiscard]] std::string introduction(const model::Result& result, std::optional<Index> width);

/// "Random weights: they mean nothing", for a picture, which is read as language otherwise; empty where nothing is drawn.
[[nodiscard]] std::string_view remark_on_chance(const model::Result& result);

/// "6 words, 4 heads, causal, positions sinusoidal, random weights (seed 7)", for below a picture. Of a whole trained model
/// with the count of layers, and its name in place of where the parameters come from.
[[nodiscard]] std::string caption(const model::Result& result);

} // namespace attn::report
