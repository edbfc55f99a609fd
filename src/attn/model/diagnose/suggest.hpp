// An input that tells apart mistakes which another one ties.
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

/// `call`: the one of attend that ties them, by what of it is compared. `tied`: mistakes of attention, of which the first few
/// count. Inputs of the same shapes are tried first, with numbers from small to large, then other sizes. An input is taken
/// where a file that any of them gives is explained by that one alone, by the rules of a diagnosis; or else the one on which
/// that is true of most of them.
[[nodiscard]] Suggestion suggest_input(const ResolvedAttend& call, Compared compared, std::span<const Candidate> tied,
                                       const core::Work& work);

/// What is different in other sizes.
enum class Resized { value_width, wider_heads, more_heads, few_keys, more_keys, all, grouped_heads };
inline constexpr std::array<std::string_view, 7> change_names{"values of another width than keys",
                                                              "wider heads",
                                                              "more batch entries and heads",
                                                              "five keys",
                                                              "more keys",
                                                              "more keys in more and wider heads",
                                                              "more query heads than key/value heads"};

/// Inputs with the options of a call in other sizes, in which tiles, vectors and parts of every size have a rest. Drawn, as
/// those of suggest_input.
struct ChangedInput {
    Resized change;
    Attend options; ///< the same, but for the number of heads
    std::vector<StoredTensor> tensors;
};
[[nodiscard]] std::vector<ChangedInput> inputs_of_other_sizes(const ResolvedAttend& call);

} // namespace attn::model::diagnose
