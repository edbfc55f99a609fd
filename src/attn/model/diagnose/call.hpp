// A call of `attend`, as a diagnosis reads it.
#pragma once

#include "attn/model/attend/resolved_attend.hpp"
#include "attn/model/run/result.hpp"

#include <optional>

namespace attn::model::diagnose {

/// What makes one output of the heads: heads side by side, (T, H·d_v), times W, plus b.
struct OutputProjection {
    Matrix<double> W;    ///< (H·d_v, output_dim)
    RowVector<double> b; ///< (output_dim), or empty
};

struct Call {
    AttendViews views; ///< with lengths and offsets
    Attend options;
    std::optional<OutputProjection> projection = {}; ///< of a run
    std::optional<Index> embedding_size = {};        ///< of a run
    std::optional<Matrix<double>> residual = {};     ///< (T, D) of a run: the embeddings, where what is compared is as wide

    std::optional<Boundaries> sequences = {}; ///< that lie one after another; then `views` has an offset for each of them

    /// As many queries as keys, in each sequence if there are several, and no cache.
    [[nodiscard]] bool is_square() const
    {
        const bool each = !sequences || sequences->queries == sequences->keys;
        return each && views.sizes.T == views.sizes.S && views.sizes.P == 0;
    }
    /// Whether variants know all that this call is asked for.
    [[nodiscard]] bool is_plain() const { return !options.weights_type && !options.dropout; }
};

[[nodiscard]] Call call_of(const ResolvedAttend& resolved);

// The attention of a run as a call of attend, so that its mistakes can be made in it.

[[nodiscard]] ElementType type_of(const AnyTensor& tensor);
[[nodiscard]] std::vector<double> numbers_of(const AnyTensor& tensor);

struct RunCall {
    StoredTensor queries, keys, values; ///< what the call looks at
    Call call;
};

/// `result`: of the recipe, with queries, keys, values and parameters; `mask`: that of the run, if it has one, which outlives
/// the call. Nothing for attention that attend does not have up to `item`: other functions of scores, dropout, one more key,
/// some of the queries or heads.
[[nodiscard]] std::optional<RunCall> run_call(const Recipe& recipe, const Result& result, Item item,
                                              const std::optional<TensorView>& mask);

} // namespace attn::model::diagnose
