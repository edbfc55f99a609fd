// The numbers of a run in one type, from parameters to output.
#pragma once

#include "attn/model/run/resolved_run.hpp"

namespace attn::model {

struct ComputedArrays {
    std::vector<Array> parameters; ///< as drawn; with ResolvedRun::preparations only when they are shown
    std::vector<Array> arrays;     ///< those of ResolvedRun::wanted, in order
    std::vector<std::string> warnings;
    std::string_view portable_because = {}; ///< as core::AttentionNotes has it
    bool extra_key = false;                 ///< after those of the words (extra_key.hpp)
};

template <typename Scalar>
[[nodiscard]] ComputedArrays compute(const ResolvedRun& run);

extern template ComputedArrays compute<float>(const ResolvedRun&);
extern template ComputedArrays compute<double>(const ResolvedRun&);

} // namespace attn::model
