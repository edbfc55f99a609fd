// Attention over given tensors: the operator of ONNX (Attention, opset 23 to 25), without words or parameters.
//
// Layouts, B batch, T queries, S new keys, P cached keys:
//
//   (B, H, T, d)   (H, T, d)   (T, d)             heads as a dimension of their own, or none
//   (B, T, H·d)    (T, H·d)                       with Attend::heads: heads side by side
//   (B, T, H, d)   (T, H, d)      (T, d)          with TensorLayout::bshd, the cache too
//   (total, H, d)                                 with cu_seqlens: sequences one after another
//
// Keys and values have the same layout with H_kv heads and S keys; the values' size d_v may differ. The cache, past_key
// (B, H_kv, P, d_k) and past_value (B, H_kv, P, d_v), or without B, comes before the new keys.
#pragma once

#include "attn/core/attention.hpp"
#include "attn/model/run/run.hpp"
#include "attn/tensor/view.hpp"

namespace attn::model {

/// Where the diagonal of causal masks and windows lies: query i stands at key i + offset.
enum class CausalAlign {
    offset,       ///< ONNX: the past length, or the batch's valid length - T, or 0
    top_left,     ///< 0
    bottom_right, ///< all keys - T, or the batch's valid length - T
};
inline constexpr std::array<std::string_view, 3> align_names{"offset", "top-left", "bottom-right"};

/// The order of batch, heads, positions (s) and components (d).
enum class TensorLayout { bhsd, bshd };
inline constexpr std::array<std::string_view, 2> tensor_layout_names{"bhsd", "bshd"};

/// What types to round to may be, in the order of ElementType.
inline constexpr std::array<std::string_view, 4> float_type_names{"float16", "bfloat16", "float32", "float64"};
/// AttentionOptions::nan_for_empty_rows, false and true.
inline constexpr std::array<std::string_view, 2> empty_row_names{"zero", "nan"};

struct AttendInputs {
    TensorView queries, keys, values;
    std::optional<TensorView> past_key = {}, past_value = {}; ///< both or none
    std::optional<TensorView> mask = {}; ///< bool (true = seen) or floating point (added); broadcasts from the right to (B, H,
                                         ///< T, P+S); a short last dimension is masked beyond
    std::optional<TensorView> lengths = {}; ///< (B) integers: of the P+S keys those from there on are masked
    std::optional<TensorView> sinks = {};   ///< (H): finite or -inf
    /// (P+S) or (B, P+S) integers: a query sees the keys of the segment that the key at its place is of
    std::optional<TensorView> segments = {};
    /// (N+1) integers from 0 to the number of queries: where each of N sequences begins, and the last one ends. Not with a
    /// cache, mask, lengths or segments. Those of the keys are the same where they are not given.
    std::optional<TensorView> cu_seqlens = {}, cu_seqlens_k = {};
};

struct Attend : core::AttentionOptions {
    std::optional<Index> heads, kv_heads; ///< say that heads are side by side; kv_heads defaults to heads
    TensorLayout layout = TensorLayout::bhsd;
    CausalAlign align = CausalAlign::offset;
    bool alibi = false;                       ///< core/positions.hpp, distances from where `align` puts the queries
    std::optional<ElementType> out_type = {}; ///< of all stages but the cache and lse; float64 is computed in float64
    bool allow_nonfinite = false;
    Show show{Item::context};
};

struct AttendResult {
    /// The stages asked for, in the order of Item, each in its type_of. The context has the queries' layout (last dimension
    /// d_v, or H·d_v); scores and weights are (B, H, T, P+S), entropy and lse (B, H, T), the cache (B, H_kv, P+S, d) or as the
    /// layout has it, each without B or H where the queries have none.
    std::vector<StoredTensor> tensors;
    std::vector<std::string> warnings;
    std::string_view portable_because = {}; ///< what an isa that was asked for does not compute; empty: it did
};

/// The type that a stage is given in: that of the queries unless another is asked for; of the cache that of the keys; of lse
/// float32 at least, because scores of float16 queries may leave float16.
[[nodiscard]] ElementType type_of(Item stage, const AttendInputs& inputs, const Attend& options);

/// float16 and bfloat16 are computed in float32, anything with float64 among queries, keys and values in float64; each number
/// is rounded once to its type. Throws Error(data) for shapes that do not belong together (naming them), types that are none of
/// these, lengths out of range, values that are not finite unless allowed; Error(usage) for options that exclude each other;
/// Error(too_large) before allocating what does not fit. Of the settings, threads, isa, memory_limit and observer count; an isa
/// other than portable serves what is computed in float32, unless a softmax type is given or numbers are not finite or so large
/// that they may overflow on the way.
[[nodiscard]] AttendResult attend(const AttendInputs& inputs, const Attend& options, const RunSettings& settings);

} // namespace attn::model
