// A file of numbers held against what `attend` gives, and where they differ, the mistake that explains it.
#pragma once

#include "attn/model/check/compare.hpp"
#include "attn/model/diagnose/diagnose.hpp"
#include "attn/model/diagnose/where.hpp"

namespace attn::model::diagnose {

struct Against {
    std::string array = {};             ///< of a run: which one the file was held against
    TensorComparison comparison;        ///< A: the file, B: the result
    std::optional<Diagnosis> diagnosis; ///< where they differ
    std::optional<Where> where;         ///< how much, of context, weights and output
    bool of_weights = false;            ///< whose columns are keys
    bool beyond_lengths = false;        ///< they differ in queries at or beyond the lengths alone, which are often padding
};

/// Heads side by side, (B, T, H, width), as these dimensions, (B, H, T, width).
[[nodiscard]] std::vector<double> split_into_heads(const std::vector<double>& values, const ComparedDims& dims);

/// For the numbers of a file, in any order. Printed ones that are all whole may have lost their decimals.
[[nodiscard]] Yardstick yardstick(std::vector<double> numbers, const NamedTensor& file, const TensorComparison& comparison);

/// Throws Error(data), with `what` for the file's name, for a number that is not finite where the right one is, unless a
/// mistake explains it.
void require_explained(const std::optional<Diagnosis>& diagnosis, const NamedTensor& file, const std::vector<double>& right,
                       const std::string& what);

/// `right`: the stage that attend() gave. Throws Error(data) for another shape, and as require_explained.
[[nodiscard]] Against against(const Call& call, const StoredTensor& right, const NamedTensor& file, const std::string& what,
                              const core::Work& work);

} // namespace attn::model::diagnose
