// A file of numbers held against what `attend` gives: where they differ, and the mistake that explains it.
#pragma once

#include "attn/model/check/check.hpp"
#include "attn/model/check/compare.hpp"
#include "attn/model/diagnose/diagnose.hpp"
#include "attn/model/diagnose/evaluate.hpp"
#include "attn/model/diagnose/half_reference.hpp"

namespace attn::model::diagnose {

/// The largest difference within each cell of a head, a few neighbouring rows and columns, so that a head has 64 × 64 at most.
struct ErrorMap {
    Index B = 1, H = 1, rows = 0, columns = 0; ///< cells of each head
    Index tall = 1, wide = 1;                  ///< rows and columns of a cell
    std::vector<double> largest;               ///< (B, H, rows, columns)
};

/// The largest difference from the right result within each head, row and so on; infinite where one of the two is NaN, 0 where
/// all numbers agree.
struct Where {
    std::vector<double> batches;   ///< (B), or layers
    std::vector<double> heads;     ///< (H)
    std::vector<double> rows;      ///< (T)
    std::vector<double> columns;   ///< (d_v), or (S) of weights
    std::vector<double> tiles;     ///< of `tile` queries
    std::vector<double> key_tiles; ///< of `tile` keys; of weights alone
    Index tile = 16;
    ErrorMap map;
};

/// Both of these dimensions; `of_weights`: the last one is keys.
[[nodiscard]] Where where(const ComparedDims& dims, bool of_weights, const std::vector<double>& numbers,
                          const std::vector<double>& right, const Tolerance& tolerance);

/// What counts as agreeing.
struct Criterion {
    std::optional<Tolerance> tolerance = {}; ///< absent: tolerance_of(); never of what names a mistake
    bool strict = false;                     ///< nothing but the tolerance
};

enum class Agreement {
    within_tolerance, ///< every number is
    as_type_allows,   ///< float16 or bfloat16 cannot do better: HalfAccuracy
    differs,
};
inline constexpr std::array<std::string_view, 3> agreement_names{"within-tolerance", "as-type-allows", "differs"};

/// What the diagnosis has to tell.
enum class Told {
    nothing,
    note,    ///< of a file that agrees: what it rounds, as the plain computation in its type does, too
    mistake, ///< also of a file that agrees, if the mistake explains it far better than the right result does
};

struct Against {
    std::string array = {};           ///< of a run: which one the file was held against
    TensorComparison comparison;      ///< A: the file, B: the result
    std::optional<HalfAccuracy> half; ///< of `attend`, in such a type; of a large file only where the tolerance does not do
    Agreement agreement = Agreement::differs;
    std::optional<Diagnosis> diagnosis; ///< where some number is beyond the tolerance
    std::optional<Where> where;         ///< how much, of context, weights and output
    bool of_weights = false;            ///< whose columns are keys
    bool of_layers = false;             ///< of a whole trained model, whose batch is its layers; no mistake is named
    bool of_keys = false;               ///< whose rows are: gradients of keys and values
    bool beyond_lengths = false;        ///< they differ in queries at or beyond the lengths alone, which are often padding
    std::optional<TensorLayout> agrees_in = {}; ///< the other layout, in which all arrays of the file agree
    bool too_large = false;                     ///< a gradient of more scores than mistakes are made in
    bool whole = false;                         ///< the file holds printed numbers without decimals

    [[nodiscard]] bool agrees() const { return agreement != Agreement::differs; }
    [[nodiscard]] Told told() const;
    /// What it names that only rounds as the plain computation in its type does.
    [[nodiscard]] std::vector<Candidate> roundings() const;
};

/// Heads side by side, (B, T, H, width), as these dimensions, (B, H, T, width). No values stay none.
[[nodiscard]] std::vector<double> split_into_heads(const std::vector<double>& values, const ComparedDims& dims);
/// What attend() gave of this, as ComparedDims say: only a context may have its heads side by side.
[[nodiscard]] std::vector<double> by_heads(const Call& call, Compared compared, std::vector<double> values);

/// Whether a file was printed without decimals: its numbers may have lost them.
[[nodiscard]] bool is_whole(const ComparedTensor& file);
/// Half a unit of each number that was printed, 0 of any other; nothing where none was.
[[nodiscard]] std::vector<double> reach_of(const ComparedTensor& file);
/// For the numbers of a file and their reach, both in the same order, beside a result of type `right`. Whole numbers may be off
/// by a half, and any number by what is `allowed`.
[[nodiscard]] Yardstick yardstick(std::vector<double> numbers, std::vector<double> reach, const ComparedTensor& file,
                                  ElementType right, double allowed = 0);

/// The same of a file that holds a stage of a call, (B, H, T, width).
[[nodiscard]] Yardstick yardstick(const Call& call, Compared compared, const ComparedTensor& file, const StoredTensor& right,
                                  double allowed = 0);

/// Throws Error(data) for a file, called `what`, of another shape than that of the array `name`.
void require_shape(const ComparedTensor& file, const Shape& shape, std::string_view name, const std::string& what);

/// `right`: the stage that attend() gave, in the call that `half` knows, too. Throws Error(data) for another shape, and as
/// attend().
[[nodiscard]] Against against(const Call& call, const StoredTensor& right, const ComparedTensor& file, const std::string& what,
                              const Criterion& criterion, HalfReference& half, const core::Work& work);

} // namespace attn::model::diagnose
