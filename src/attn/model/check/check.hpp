// Comparing what was computed with what a file states: the numbers an article printed, or a result saved earlier.
#pragma once

#include "attn/model/check/finding.hpp"
#include "attn/model/run/run.hpp"

#include <functional>

namespace attn::model {

/// The document that a result is written as, read again.
using Written = std::function<SavedResult(const Result&)>;

/// Computes the recipe and compares with its published numbers and precision claims. A recipe that states nothing throws
/// Error(data).
[[nodiscard]] CheckReport check(const Recipe& recipe, const RunSettings& settings, const Written& written);

/// The items whose parts these arrays are, as far as they exist in a run of this recipe.
[[nodiscard]] Show items_of(const Recipe& recipe, const std::vector<std::string>& arrays);
/// With what a run has to show, so that its document states all that this one does. Throws Error(data) for one that states
/// nothing but its config.
[[nodiscard]] RunSettings settings_for(const SavedResult& saved, RunSettings settings);

/// Everything that a document states apart from its config, compared with the one that a run of its config writes: decimals
/// exactly (as numbers: 1.50 equals 1.5), or within the tolerance.
[[nodiscard]] std::vector<Finding> findings_of(const SavedResult& stated, const SavedResult& computed,
                                               const Tolerance& tolerance);

} // namespace attn::model
