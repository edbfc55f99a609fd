// The numbers of a run in one type, from parameters to output.
#pragma once

#include "attn/model/prepared.hpp"
#include "attn/model/run.hpp"

namespace attn::model {

/// What a computation reads.
struct Plan {
    const Recipe& recipe;
    const Words& words;
    const Lengths& lengths;
    const std::vector<Index>& rows; ///< the positions of the query rows, ascending
    const Show& show;               ///< the arrays to keep
    const RunSettings& settings;
    Preparations* preparations = nullptr;      ///< of other runs of the recipe; nullptr: this run is the only one
    const Tensor<double>* embedding = nullptr; ///< (V, D), where it is not drawn
};

struct ComputedArrays {
    std::vector<Array> parameters; ///< as drawn; with Plan::preparations only when they are shown
    std::vector<Array> arrays;     ///< those of `show`, in order
    std::vector<std::string> warnings;
    std::string_view portable_because = {}; ///< as core::AttentionNotes has it
    bool extra_key = false;                 ///< behind those of the words (extra_key.hpp)
};

template <typename Scalar>
[[nodiscard]] ComputedArrays compute(const Plan& plan);

extern template ComputedArrays compute<float>(const Plan&);
extern template ComputedArrays compute<double>(const Plan&);

} // namespace attn::model
