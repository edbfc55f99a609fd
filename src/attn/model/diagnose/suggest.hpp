// Inputs beside those of a call: one that tells apart mistakes which it ties, and those that show mistakes which it hides.
#pragma once

#include "attn/model/diagnose/diagnose.hpp"
#include "attn/tensor/view.hpp"

namespace attn::model::diagnose {

struct Suggestion {
    /// Of a call of attend, called as the members of AttendInputs are: "queries", "past_key". Empty: no input tells any two
    /// mistakes apart.
    std::vector<StoredTensor> tensors;
    bool same_shapes = true; ///< as those of the input that ties them
    /// By their places in the list, groups that the tensors do not tell apart, or not from the right result.
    std::vector<std::vector<std::size_t>> alike;
    std::size_t tried = 0; ///< inputs
};

/// `call`: the one of attend that ties them, by the stage or the gradients that it is asked for. `tied`: mistakes of attention,
/// of which the first few count. Inputs of the same shapes are tried first, with numbers from small to large, then other sizes.
/// An input is taken where a file that any of them gives is explained by that one alone, by the rules of a diagnosis; or else
/// the one on which that is true of most of them.
[[nodiscard]] Suggestion suggest_input(const ResolvedAttend& call, std::span<const Candidate> tied, const core::Work& work);

/// What is different in another input: the numbers alone, or sizes, too.
enum class InputChange {
    numbers,
    larger_scores,
    empty_rows,
    value_width,
    wider_heads,
    more_heads,
    more_keys,
    few_keys,
    all,
    grouped_heads,
    fewer_queries,
    more_queries,
    cached
};
inline constexpr std::array<std::string_view, 13> change_names{"other numbers",
                                                               "larger scores",
                                                               "queries that see no key",
                                                               "values of another width",
                                                               "heads of another width",
                                                               "more batch entries and heads",
                                                               "more queries and keys",
                                                               "five keys",
                                                               "more of everything",
                                                               "three query heads for each key/value head",
                                                               "fewer queries than keys",
                                                               "more queries than keys",
                                                               "a cache"};

/// Inputs with the options of a call in other sizes, in which tiles, vectors and parts of every size have a rest. Drawn, as
/// those of suggest_input; small, however large the call is.
struct ChangedInput {
    InputChange change;
    core::AttentionDims sizes;
    Attend options; ///< the same, but for the number of heads
    std::vector<StoredTensor> tensors;
};
/// One for each change, in the order of InputChange; other numbers in the same sizes only where the call is small. None of
/// packed sequences.
[[nodiscard]] std::vector<ChangedInput> changed_inputs(const ResolvedAttend& call);

/// The ways to draw inputs of the same shapes, and one of them: the first has queries from small to large, so that weights are
/// nearly equal in some rows and a single one in others.
[[nodiscard]] std::size_t ways_to_draw(const ResolvedAttend& call);
[[nodiscard]] std::vector<StoredTensor> drawn_anew(const ResolvedAttend& call, std::size_t way);

} // namespace attn::model::diagnose
