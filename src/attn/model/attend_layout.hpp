// The layouts of attend's tensors, all brought to (B, H, T, d).
#pragma once

#include "attn/model/attend.hpp"

namespace attn::model {

/// The lengths of one attend run; P is 0 without a cache, S counts new keys, total = P + S.
struct AttendLengths {
    Index B = 1, H = 1, H_kv = 1, T = 0, S = 0, P = 0, d_k = 0, d_v = 0;

    [[nodiscard]] Index total() const { return P + S; }
};

/// Every input as a view of four dimensions, split and broadcast where needed; nothing is copied.
struct AttendViews {
    TensorView queries;                             ///< (B, H, T, d_k)
    TensorView keys, values;                        ///< (B, H_kv, S, d_k), (B, H_kv, S, d_v)
    std::optional<TensorView> past_key, past_value; ///< (B, H_kv, P, d_k), (B, H_kv, P, d_v)
    std::optional<TensorView> mask;                 ///< (B, H, T, ≤ P+S)
    std::vector<Index> lengths;                     ///< (B), or none
    AttendLengths sizes;
    std::size_t rank = 4;      ///< of the queries, as given
    bool side_by_side = false; ///< heads lie beside each other in the last dimension
};

/// Throws Error(data) for tensors that do not belong together, naming the shapes; Error(usage) for head counts that do not fit.
/// The views' lengths are still to be read.
[[nodiscard]] AttendViews lay_out(const AttendInputs& inputs, const Attend& options);
/// Throws Error(data) for a length that is out of range.
[[nodiscard]] std::vector<Index> read_lengths(const TensorView& lengths, const AttendLengths& sizes);

/// The shape of the context in the queries' layout.
[[nodiscard]] Shape context_shape(const AttendViews& views);
/// (B, H, rows, columns), without the dimensions that the queries do not have.
[[nodiscard]] Shape stage_shape(const AttendViews& views, Index heads, Index rows, Index columns);

/// The place of query 0 among the keys of batch entry b.
[[nodiscard]] Index offset_of(const AttendViews& views, CausalAlign align, std::size_t b);

/// Cached rows, then new ones, of key/value head g in batch entry b → (1, P+S, d). Scalar is float or double.
template <typename Scalar>
[[nodiscard]] Tensor<Scalar> joined(const std::optional<TensorView>& past, const TensorView& now, Index b, Index g);

/// Where the numbers of one stage go; nullptr when it was not asked for.
[[nodiscard]] StoredTensor* find(std::vector<StoredTensor>& tensors, Stage stage);

} // namespace attn::model
