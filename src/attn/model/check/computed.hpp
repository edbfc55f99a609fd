// What `check` compares with: the arrays of a result, element by element. How two numbers agree is in agreement.hpp.
#pragma once

#include "attn/model/check/check.hpp"

#include <map>

namespace attn::model {

/// One array of a result in row-major order, numbers and words alike. Refers to the result.
struct Computed {
    Shape shape;
    std::function<std::string(std::size_t)> text; ///< a number's shortest decimal, or the word
    std::function<double(std::size_t)> value;     ///< empty for words and ids, which are compared as text
    Dtype dtype = Dtype::float64;
};

[[nodiscard]] Computed computed_words(const std::vector<std::string>& list);
[[nodiscard]] Computed computed_number(double number);
/// By its name in JSON, or a parameter by its own; the vocabulary as rows of a word and its id. Nothing when the run has none.
[[nodiscard]] std::optional<Computed> find_computed(const Result& result, const std::string& name);

/// Of all entries of a batch, (B, …); but a parameter or the vocabulary, which they share, as each of them has it. Where `at`
/// begins with an entry, the others may have other shapes; otherwise throws Error(data) where they do.
[[nodiscard]] std::optional<Computed> find_computed(const std::vector<Result>& entries, const std::string& name,
                                                    const std::vector<std::optional<Index>>& at);

/// Every number and word of the summary by its place, as StatedSummary has them; empty when the run has none.
[[nodiscard]] std::map<std::string, Computed> computed_summary(const Result& result);

/// The items whose parts these arrays are, as far as they exist in a run of this recipe.
[[nodiscard]] Show items_of(const Recipe& recipe, const std::vector<std::string>& arrays);

using At = std::vector<std::optional<Index>>;

/// The elements that leading indices leave of an array; an absent index stands for all.
struct Part {
    Shape shape;
    std::vector<std::size_t> places; ///< of its elements, counted in the whole array
};
/// Nothing when the indices do not fit.
[[nodiscard]] std::optional<Part> part_of(const Shape& whole, const At& at);
/// "weights[0][:]"
[[nodiscard]] std::string name_of(std::string array, const At& at);

/// A stated decimal as the double that is nearest, or as the float32 that is. "null" is a masked score, -inf.
[[nodiscard]] double number_of(std::string_view text, Dtype dtype);

/// What a tally of elements of an array found; `place(i)` is that of its i-th element in the array, `stated(i)` its text.
[[nodiscard]] Finding finding_of(std::string what, const Tally& tally, const std::string& array, const Computed& computed,
                                 const std::function<std::size_t(std::size_t)>& place,
                                 const std::function<std::string(std::size_t)>& stated);
/// A finding that is one mismatch, told in `why`.
[[nodiscard]] Finding mismatch(std::string what, std::string why);

} // namespace attn::model
