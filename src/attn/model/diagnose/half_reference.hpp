// What float16 and bfloat16 can do. A kernel that keeps its products in such a type is right when it is about as near to
// float64 as the plain computation in that type is: softmax(Q·Kᵀ · scale)·V with sums in float32 and every stage rounded (but
// to no infinity: a kernel that overflows is not right because the plain computation would overflow, too).
//
// Likewise float32 and gradients, whose sums over thousands of queries are worth more than a usual tolerance. There the plain
// computation keeps every sum in float32, term by term.
//
// Of few numbers one computation may round luckily. There it is made nine times, with queries that are a little larger each
// time, and the median of their largest differences counts if it is larger than the first. Of a single number the largest of
// the nine counts.
//
// (The criterion of FlashAttention's own tests: Dao et al. 2022, "FlashAttention: Fast and Memory-Efficient Exact Attention
// with IO-Awareness".)
#pragma once

#include "attn/model/attend/resolved_attend.hpp"
#include "attn/model/check/compare.hpp"

#include <functional>
#include <map>

namespace attn::model::diagnose {

/// How near to float64 a file in such a type is, and how near the plain computation.
struct HalfAccuracy {
    ElementType type;   ///< float16, bfloat16 or float32
    double largest = 0; ///< |file - float64|; infinite where one of the two is NaN or infinite, and not as rounding makes it
    double unfused = 0; ///< the same of the plain computation
    int times = 2;      ///< as large the file's may be; of gradients 3
    double allowed = 0; ///< times · unfused + atol
    [[nodiscard]] double rounding() const { return times * unfused; }
    [[nodiscard]] bool suffices() const { return largest <= allowed; }
};

/// Computes the stages of a call of attend in float64 and, when a file of that type comes, in its type.
class HalfReference {
public:
    explicit HalfReference(const ResolvedAttend& call);

    /// Of a file with the shape of `right`, a stage that attend() gave; nothing where type_of() is nothing. `counts`:
    /// whether the number at a flat place counts; empty: all do. Throws Error(too_large) as attend().
    [[nodiscard]] std::optional<HalfAccuracy> accuracy(const ComparedTensor& file, const StoredTensor& right, double atol,
                                                       const std::function<bool(Index)>& counts = {});
    /// That type of a file, and of `right`: the narrower half type of the two; of gradients that have none, that of the
    /// queries, or else float32, if that is the type of `right`.
    [[nodiscard]] std::optional<ElementType> type_of(ElementType file, ElementType right) const;
    /// A stage in float64, after accuracy() of something in such a type.
    [[nodiscard]] const std::vector<double>& exact(std::string_view stage) const { return exact_.at(place_of(stage)); }
    /// Whether that takes no longer than a moment, and little memory.
    [[nodiscard]] bool is_cheap() const;

private:
    using Stages = std::vector<std::vector<double>>; ///< in the order of those asked for

    [[nodiscard]] std::size_t place_of(std::string_view stage) const;
    [[nodiscard]] std::vector<double> unfused(ElementType type) const;

    AttendInputs inputs_;
    Attend options_;
    RunSettings settings_;
    core::AttentionDims sizes_;
    Stages exact_;                                       ///< in float64; empty: not computed yet
    std::map<ElementType, std::vector<double>> unfused_; ///< of each type, by stages
};

} // namespace attn::model::diagnose
