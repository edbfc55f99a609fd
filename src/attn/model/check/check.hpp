// Comparing what was computed with what a file states: the numbers an article printed, or a result saved earlier.
#pragma once

#include "attn/model/check/agreement.hpp"
#include "attn/model/run/run.hpp"

namespace attn::model {

/// An array as a saved result states it, decimal by decimal. null (a masked score) is kept as "null".
struct StatedArray {
    std::string name;
    Shape shape;
    std::vector<std::string> decimals; ///< flat
};

/// The largest differences of an array from the same in float64, as decimals.
struct StatedDifference {
    std::string array;
    std::string absolute;
    std::string relative;
};

/// Every number and word of a summary, each as an array of one that is called by its place: "summary.heads[0].pairs[1].weight".
struct StatedSummary {
    std::vector<StatedArray> values;
    Index top = 1; ///< pairs of the head that has most
};

/// A saved result, as read.
struct SavedResult {
    Recipe config;
    std::optional<Index> index; ///< from --lines
    std::optional<std::vector<std::string>> tokens, key_tokens;
    std::optional<std::vector<std::pair<std::string, std::string>>> vocabulary; ///< word, decimal of its id, in file order
    std::vector<StatedArray> arrays;      ///< ids, query positions, parameters and arrays, all that hold numbers
    std::vector<StatedDifference> verify; ///< empty when the file states none
    std::optional<StatedSummary> summary;
    std::optional<std::vector<std::string>> warnings;
    std::optional<Index> layer = {}; ///< of a whole trained model
};

/// One statement that was compared.
struct Finding {
    std::string what;   ///< "weights", "weights[0][1]", "vocabulary"
    Index compared = 0; ///< numbers or words
    Index mismatched = 0;
    std::string first; ///< of the first mismatch: "weights[0][2][3]: stated 0.0185, computed 0.0186"; empty: all agree
    double largest_absolute = 0;
    double largest_relative = 0;
    std::string hint = {};   ///< what would make it agree; empty: nothing known
    bool unmeasured = false; ///< another difference is infinite or NaN
};

struct CheckReport {
    std::vector<Finding> findings;
    std::string_view portable_because = {}; ///< of the run in the recipe's own type, as Result has it
    [[nodiscard]] bool passed() const;
};

/// Computes the recipe and compares with its published numbers and precision claims. A recipe that states nothing throws
/// Error(data).
[[nodiscard]] CheckReport check(const Recipe& recipe, const RunSettings& settings);

/// The arrays, words and summary that `saved` states.
[[nodiscard]] std::vector<std::string> names_in(const SavedResult& saved);
/// All that `saved` states beside its config, compared with a result that was computed to show it.
[[nodiscard]] std::vector<Finding> findings_of(const SavedResult& saved, const Result& result, const Tolerance& tolerance);

/// Computes the result's config and compares everything the file states: decimals exactly (as numbers: 1.50 equals 1.5), or
/// within the tolerance.
[[nodiscard]] CheckReport check(const SavedResult& saved, const Tolerance& tolerance, const RunSettings& settings);

} // namespace attn::model
