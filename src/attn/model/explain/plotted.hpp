// A result that was not computed: what a file holds, ready for a report to draw.
#pragma once

#include "attn/model/check/saved_result.hpp"
#include "attn/model/run/run.hpp"
#include "attn/tensor/view.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attn::model {

/// What a saved result states, number by number; `show` has all of it. Words that it lacks are those of its config's input.
/// Throws Error(data) when it holds no weights, when these are not (H, T, S) as its words say, or one of them is no finite
/// number.
[[nodiscard]] Result result_of(const SavedResult& saved);
/// The same of a layer of a whole trained model: of that number, or where there is one alone, of that one. Throws Error(usage)
/// for one that is not there, and where one must be named.
[[nodiscard]] Result result_of_layer(const SavedResult& saved, std::optional<Index> layer);

/// Weights that another program made, and the words of their rows and columns.
struct PlottedWeights {
    TensorView weights;
    std::string axes = {};                              ///< a letter of plotted_axes a dimension; empty: the last ones
    std::optional<Index> layer = {};                    ///< this one alone; absent: all
    std::optional<Index> batch;                         ///< absent: there must be one alone
    std::optional<std::vector<std::string>> tokens;     ///< (T); absent: positions
    std::optional<std::vector<std::string>> key_tokens; ///< (S); absent: the tokens where S = T, otherwise positions
    std::vector<Index> heads = {};                      ///< as keep_heads(); empty: all
    std::vector<std::string> query = {};                ///< rows, as keep_rows(); empty: all
    Origin origin = {};                                 ///< of the heads
    /// Called with the (H, T, S) of a layer that were asked for, before anybody looks at the numbers.
    std::function<void(const Shape&)> judge = {};
    /// Called before anybody looks at the numbers, with what judges them; empty: they are there.
    std::function<void(const NumberJudge&)> read_numbers = {};
};
inline constexpr Index most_plotted = Index{1} << 20; ///< rows, and columns
/// Layers, batch, heads, queries, keys: the dimensions of weights, of which all but the last two may be missing.
inline constexpr std::string_view plotted_axes = "lbhts";

/// With a layer for each that the weights have, and its number. float64 stays as it is, other types become float32. Throws
/// Error(usage) for axes that do not fit, a layer, batch, head or row that is not there or not needed, Error(data) for another
/// shape, for as many words as do not fit and for a number that is not finite, naming `what`.
[[nodiscard]] Result result_of(const PlottedWeights& plotted, std::string_view what);

/// Leaves of each layer these heads alone, which keep their numbers, or the mean of the weights of all. Throws Error(usage) for
/// one that is not there, and for the mean of what are not all.
void keep_heads(Result& result, const std::vector<Index>& named, const Origin& origin);

/// Leaves the weights of these rows alone, chosen as `run --query` does. Throws Error(usage).
void keep_rows(Result& result, const std::vector<std::string>& query);

/// Why the weights of a layer are not weights: a negative one, or the first row whose sum is neither 0 nor, apart from
/// rounding, 1; with the range of the numbers. Without doubt no weight is over 1.02.
[[nodiscard]] std::optional<std::string> doubt_about(const Result& result, const Layer& layer);

} // namespace attn::model
