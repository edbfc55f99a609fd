// Comparing what was computed with what a file states: how two numbers agree, what comparing many of them finds, and the
// check of a recipe or of a result saved earlier.
#pragma once

#include "attn/model/check/saved_result.hpp"
#include "attn/model/run/run.hpp"
#include "attn/tensor/element.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace attn::model {

struct Tolerance {
    double rtol = 0;
    double atol = 0;
    [[nodiscard]] bool exact() const { return rtol == 0 && atol == 0; }
};

/// What torch.testing.assert_close allows for a type; for two types that which allows more. Integers and booleans: nothing.
[[nodiscard]] Tolerance usual_tolerance(ElementType type);
[[nodiscard]] Tolerance usual_tolerance(ElementType a, ElementType b);

/// |computed - stated| ≤ atol + rtol·|stated|; an infinity agrees with itself alone, NaN with NaN when `equal_nan`.
[[nodiscard]] bool within(double computed, double stated, const Tolerance& tolerance, bool equal_nan = true);

/// |computed - stated|; 0 for equal infinities.
[[nodiscard]] double absolute_difference(double computed, double stated);

/// How many steps lead from x to y in a floating-point `type`, both rounded to it; -0 is 0. NaN is 0 from NaN; a NaN or an
/// infinity is as far as can be from what it does not equal.
[[nodiscard]] std::uint64_t ulps_between(double x, double y, ElementType type);

/// What comparing an array finds. Elements are counted in the order in which they come, places from 0.
struct Tally {
    Index compared = 0, mismatched = 0;
    Index first = 0; ///< place of the first mismatch
    double largest_absolute = 0;
    double largest_relative = 0; ///< difference / |stated|, over stated ≠ 0
    Index absolute_at = 0, relative_at = 0;
    Index unmeasured = 0;       ///< mismatches whose difference is infinite or NaN
    Index first_unmeasured = 0; ///< place of the first of those

    void count(bool agrees);
    /// Of numbers. A difference that is not finite is not measured.
    void count(bool agrees, double difference, double stated);
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

/// What a message calls the two texts of an element.
struct Sides {
    std::string_view stated = "stated", computed = "computed";
};
/// What a tally found of elements of an array that was computed; `place(i)` is that of its i-th element in the array,
/// `stated(i)` its text.
[[nodiscard]] Finding finding_of(std::string what, const Tally& tally, const Leaf& computed,
                                 const std::function<std::size_t(std::size_t)>& place,
                                 const std::function<std::string_view(std::size_t)>& stated, const Sides& sides = {});
/// A finding that is one mismatch, told in `why`.
[[nodiscard]] Finding mismatch(std::string what, std::string why);
/// One that tells of both.
void add(Finding& all, const Finding& one);

/// Whether its elements are compared as numbers. Words and ids are compared as text.
[[nodiscard]] bool is_measured(const Leaf& leaf);
/// Counts an element, as a number when it is one; `stated` gives that.
void count(Tally& tally, bool agrees, const Leaf& computed, std::size_t place, const std::function<double()>& stated);

using At = std::vector<std::optional<Index>>;
/// "weights[0][:]"
[[nodiscard]] std::string name_of(std::string array, const At& at);

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
