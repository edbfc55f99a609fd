// The numbers of a run in one type, from parameters to output.
#pragma once

#include "attn/model/parameters.hpp"
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
    const Tensor<double>* embedding = nullptr; ///< (V, D), where it is not drawn
};

struct ComputedArrays {
    std::vector<Array> parameters; ///< as drawn
    std::vector<Array> arrays;     ///< those of `show`, in order
    std::vector<std::string> warnings;
};

template <typename Scalar>
[[nodiscard]] ComputedArrays compute(const Plan& plan);

extern template ComputedArrays compute<float>(const Plan&);
extern template ComputedArrays compute<double>(const Plan&);

} // namespace attn::model
