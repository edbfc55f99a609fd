// What `check` finds of one statement, and the report of all of them.
#pragma once

#include "attn/model/check/agreement.hpp"
#include "attn/model/check/saved_result.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace attn::model {

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

/// What a tally found of elements of an array that was computed; `place(i)` is that of its i-th element in the array,
/// `stated(i)` its text.
[[nodiscard]] Finding finding_of(std::string what, const Tally& tally, const Leaf& computed,
                                 const std::function<std::size_t(std::size_t)>& place,
                                 const std::function<std::string_view(std::size_t)>& stated);
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

} // namespace attn::model
