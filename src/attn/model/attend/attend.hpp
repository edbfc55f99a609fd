// Attention over given tensors: the operator of ONNX (Attention, opset 23 to 25), without words or parameters.
//
// Layouts, B batch, T queries, S new keys, P cached keys:
//
//   (B, H, T, d)   (H, T, d)   (T, d)             heads as a dimension of their own, or none
//   (B, T, H·d)    (T, H·d)                       with Attend::heads: heads side by side
//
// Keys and values have the same layout with H_kv heads and S keys; the values' size d_v may differ. The cache, past_key
// (B, H_kv, P, d_k) and past_value (B, H_kv, P, d_v), or without B, comes before the new keys.
#pragma once

#include "attn/core/attention.hpp"
#include "attn/model/run/run.hpp"
#include "attn/tensor/stored.hpp"

namespace attn::model {

/// Where the diagonal of causal masks and windows lies: query i stands at key i + offset.
enum class CausalAlign {
    offset,       ///< ONNX: the past length, or the batch's valid length - T, or 0
    top_left,     ///< 0
    bottom_right, ///< all keys - T, or the batch's valid length - T
};
inline constexpr std::array<std::string_view, 3> align_names{"offset", "top-left", "bottom-right"};

/// What AttentionOptions::softmax_type may be, in the order of ElementType.
inline constexpr std::array<std::string_view, 4> softmax_type_names{"float16", "bfloat16", "float32", "float64"};
/// AttentionOptions::nan_for_empty_rows, false and true.
inline constexpr std::array<std::string_view, 2> empty_row_names{"zero", "nan"};

struct AttendInputs {
    TensorView queries, keys, values;
    std::optional<TensorView> past_key, past_value; ///< both or none
    std::optional<TensorView> mask;    ///< bool (true = seen) or floating point (added); broadcasts from the right to (B, H, T,
                                       ///< P+S); a short last dimension is masked beyond
    std::optional<TensorView> lengths; ///< (B) int32 or int64: keys from there on are masked; not with a cache
};

struct Attend : core::AttentionOptions {
    std::optional<Index> heads, kv_heads; ///< say that heads are side by side; kv_heads defaults to heads
    CausalAlign align = CausalAlign::offset;
    bool allow_nonfinite = false;
    Show show{Item::context};
};

struct AttendResult {
    /// The stages asked for, in the order of Item, in the type of the queries (the cache in that of the keys). The context has
    /// the queries' layout (last dimension d_v, or H·d_v); scores and weights are (B, H, T, P+S), the entropy (B, H, T), the
    /// cache (B, H_kv, P+S, d), each without B or H where the queries have none.
    std::vector<StoredTensor> tensors;
    std::vector<std::string> warnings;
    std::string_view portable_because = {}; ///< what an isa that was asked for does not compute; empty: it did
};

/// What a call is asked for, on which the existence of some stages depends.
struct AttendHas {
    bool softcap = false, masked = false, cache = false;
};
[[nodiscard]] Show attend_items(const AttendHas& has);

/// float16 and bfloat16 are computed in float32, anything with float64 among queries, keys and values in float64; each number
/// is rounded once to its type. Throws Error(data) for shapes that do not belong together (naming them), types that are none of
/// these, lengths out of range, values that are not finite unless allowed; Error(usage) for options that exclude each other;
/// Error(too_large) before allocating what does not fit. Of the settings, threads, isa, memory_limit and observer count; an isa
/// other than portable serves what is computed in float32, unless a softmax type is given or numbers are not finite or so large
/// that they may overflow on the way.
[[nodiscard]] AttendResult attend(const AttendInputs& inputs, const Attend& options, const RunSettings& settings);

} // namespace attn::model
