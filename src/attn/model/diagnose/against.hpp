// A file of numbers held against what `attend` gives, and where they differ, the mistake that explains it.
#pragma once

#include "attn/model/check/compare.hpp"
#include "attn/model/diagnose/diagnose.hpp"
#include "attn/model/diagnose/where.hpp"

namespace attn::model::diagnose {

struct Against {
    TensorComparison comparison;        ///< A: the file, B: the result
    std::optional<Diagnosis> diagnosis; ///< where they differ, of the context and of weights
    std::optional<Where> where;         ///< likewise
};

/// `right`: the stage that attend() gave. Throws Error(data), with `what` for the file's name, for another shape, and for a
/// number that is not finite, unless the result or a mistake of the list explains it.
[[nodiscard]] Against against(const Call& call, const StoredTensor& right, const NamedTensor& file, const std::string& what,
                              const core::Work& work);

} // namespace attn::model::diagnose
