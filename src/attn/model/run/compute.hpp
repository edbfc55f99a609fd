// The numbers of a run in one type, from parameters to output.
#pragma once

#include "attn/model/layer/parameter_cache.hpp"
#include "attn/model/run/heads.hpp"
#include "attn/model/run/run.hpp"

namespace attn::model {

/// What a computation reads.
struct RunContext {
    const Recipe& recipe;
    const Words& words;
    const ModelDims& dims;
    const std::vector<Index>& rows; ///< the positions of the query rows, ascending
    const KeptHeads& heads;         ///< nothing: all
    const Show& show;               ///< the arrays to keep
    const RunSettings& settings;
    std::optional<TensorView> mask = {};       ///< of a file, or stated
    ParameterCache* preparations = nullptr;    ///< of other runs of the recipe; nullptr: this run is the only one
    const Tensor<double>* embedding = nullptr; ///< (V, D), where it is not drawn
};

struct ComputedArrays {
    std::vector<Array> parameters; ///< as drawn; with RunContext::preparations only when they are shown
    std::vector<Array> arrays;     ///< those of `show`, in order
    std::vector<std::string> warnings;
    std::string_view portable_because = {}; ///< as core::AttentionNotes has it
    bool extra_key = false;                 ///< behind those of the words (extra_key.hpp)
};

/// With the arrays that a summary is made of.
[[nodiscard]] Show what_to_compute(Show show);

template <typename Scalar>
[[nodiscard]] ComputedArrays compute(const RunContext& plan);

extern template ComputedArrays compute<float>(const RunContext&);
extern template ComputedArrays compute<double>(const RunContext&);

} // namespace attn::model
