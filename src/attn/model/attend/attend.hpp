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
#include "attn/model/recipe/option_names.hpp"
#include "attn/model/run/run.hpp"
#include "attn/tensor/view.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

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
    std::optional<TensorView> mask = {};         ///< bool (true = seen) or numbers (added); broadcasts from the right to (B, H,
                                                 ///< T, P+S); a short last dimension is masked beyond
    std::optional<TensorView> lengths = {};      ///< (B) integers: of the P+S keys those from there on are masked
    std::optional<TensorView> sinks = {};        ///< (H): finite or -inf
    std::optional<TensorView> alibi_slopes = {}; ///< (H) or (B, H), with cu_seqlens (N, H): finite
    /// (P+S) or (B, P+S) integers: a query sees the keys of the segment that the key at its place is of
    std::optional<TensorView> segments = {};
    std::optional<TensorView> kept = {}; ///< bool or 0 and 1, with dropout: the weights that stay; broadcasts as a mask does
    std::optional<TensorView> grad = {}; ///< of the context, in its layout; and of lse, in the shape that it has
    std::optional<TensorView> grad_lse = {};
    /// (N+1) integers from 0 to the number of queries: where each of N sequences begins, and the last one ends. Not with a
    /// cache, mask, lengths or segments. Those of the keys are the same where they are not given.
    std::optional<TensorView> cu_seqlens = {}, cu_seqlens_k = {};
};

struct Attend : core::AttentionOptions {
    std::optional<Index> heads, kv_heads; ///< say that heads are side by side; kv_heads defaults to heads
    TensorLayout layout = TensorLayout::bhsd;
    CausalAlign align = CausalAlign::offset;
    bool alibi = false;                       ///< core/positions.hpp, distances from where `align` puts the queries; with the
                                              ///< slopes of the paper, so not with alibi_slopes
    std::optional<ElementType> out_type = {}; ///< but where type_of() says another; float64 is computed in float64
    bool allow_nonfinite = false;
    bool grad_ones = false; ///< the gradient of the context is 1 everywhere, so that the loss is its sum; not with grad
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

/// The type that a stage is given in: that of the queries unless another is asked for; of the cache that of the keys; of lse,
/// and of sums over many rows or keys among the gradients, float32 at least, because they may leave float16.
[[nodiscard]] ElementType type_of(Item stage, const AttendInputs& inputs, const Attend& options);

/// float16 and bfloat16 are computed in float32, anything with float64 among queries, keys and values in float64; each number
/// is rounded once to its type. Throws Error(data) for shapes that do not belong together (naming them), types that are none of
/// these, lengths out of range, values that are not finite unless allowed; Error(usage) for options that exclude each other;
/// Error(too_large) before allocating what does not fit. Of the settings, threads, isa, memory_limit and observer count; an isa
/// other than portable serves what core::attention() computes on its fast path, unless numbers are not finite or so large that
/// they may overflow on the way.
[[nodiscard]] AttendResult attend(const AttendInputs& inputs, const Attend& options, const RunSettings& settings);

// The tensors of a call of attend, each declared once: what it and its option are called, what it is, and its member. Options,
// loading, messages, and the files and commands that are suggested follow from these rows.

struct AttendOperand {
    std::string_view name;
    std::string_view option;                                  ///< with its short form: "-q,--queries"
    std::string_view meaning;                                 ///< a phrase for help
    TensorView AttendInputs::*needed = nullptr;               ///< of queries, keys and values
    std::optional<TensorView> AttendInputs::*other = nullptr; ///< of one that attention can do without

    [[nodiscard]] constexpr std::string_view short_option() const { return option.substr(0, option.find(',')); }
    /// nullptr: it is not given.
    [[nodiscard]] const TensorView* in(const AttendInputs& inputs) const
    {
        return needed != nullptr ? &(inputs.*needed) : (inputs.*other) ? &*(inputs.*other) : nullptr;
    }
    void put(AttendInputs& inputs, TensorView view) const
    {
        if (needed != nullptr) {
            inputs.*needed = std::move(view);
        } else {
            inputs.*other = std::move(view);
        }
    }
};

namespace operand {

inline constexpr AttendOperand queries{name_of(Item::queries), "-q,--queries",
                                       "shape (T, d), (H, T, d) or (B, H, T, d); with --heads (T, H·d) or (B, T, H·d)",
                                       &AttendInputs::queries};
inline constexpr AttendOperand keys{name_of(Item::keys), "-k,--keys", "as queries, but S keys and H_kv heads (H_kv divides H)",
                                    &AttendInputs::keys};
inline constexpr AttendOperand values{name_of(Item::values), "-v,--values", "as the keys; the last dimension may differ",
                                      &AttendInputs::values};
inline constexpr AttendOperand past_key{"past_key", "--past-key", "cached keys (B, H_kv, P, d), before the new ones", nullptr,
                                        &AttendInputs::past_key};
inline constexpr AttendOperand past_value{"past_value", "--past-value", "cached values", nullptr, &AttendInputs::past_value};
inline constexpr AttendOperand cu_seqlens{
    "cu_seqlens", "--cu-seqlens",
    "(N+1) integers, where each of N packed sequences begins and the last one ends; queries, keys, values and result are "
    "(total, H, d); not with --heads, --past-key, --mask, --lengths, --segments",
    nullptr, &AttendInputs::cu_seqlens};
inline constexpr AttendOperand cu_seqlens_k{"cu_seqlens_k", "--cu-seqlens-k", "the same of keys and values, where they differ",
                                            nullptr, &AttendInputs::cu_seqlens_k};
inline constexpr AttendOperand mask{
    "mask", option::mask,
    "bool, true = seen, or numbers that are added; broadcast from the right to (B, H, T, P+S); if the last dimension is too "
    "short, the remaining keys are masked",
    nullptr, &AttendInputs::mask};
inline constexpr AttendOperand lengths{"lengths", "--lengths",
                                       "(B) integers: how many of the P+S keys of each batch entry are valid", nullptr,
                                       &AttendInputs::lengths};
inline constexpr AttendOperand segments{
    "segments", "--segments", "(P+S) or (B, P+S) integers: the document of each key; a query sees only its own document's keys",
    nullptr, &AttendInputs::segments};
inline constexpr AttendOperand alibi_slopes{
    "alibi_slopes", "--alibi-slopes",
    "(H) or (B, H) numbers, finite: ALiBi with slopes of your own; with --cu-seqlens a row for each sequence; not with --alibi",
    nullptr, &AttendInputs::alibi_slopes};
inline constexpr AttendOperand kept{"kept", "--kept", "bool, or 0 and 1, broadcast to (B, H, T, P+S): what dropout keeps",
                                    nullptr, &AttendInputs::kept};
inline constexpr AttendOperand grad{"grad", "--grad", "gradient of the context, in its shape", nullptr, &AttendInputs::grad};
inline constexpr AttendOperand grad_lse{"grad_lse", "--grad-lse", "gradient of lse, in its shape, if the loss reads lse",
                                        nullptr, &AttendInputs::grad_lse};
inline constexpr AttendOperand sinks{"sinks", "--sinks",
                                     "(H) numbers, finite or -inf: one more score per row, whose weight is dropped", nullptr,
                                     &AttendInputs::sinks};

inline constexpr std::array all{&queries, &keys,     &values,       &past_key, &past_value, &cu_seqlens, &cu_seqlens_k, &mask,
                                &lengths, &segments, &alibi_slopes, &sinks,    &kept,       &grad,       &grad_lse};
/// For these, integers count as numbers with a point; for others they mean something else, or nothing.
inline constexpr std::array numbers{&queries, &keys, &values, &past_key, &past_value, &alibi_slopes, &sinks, &grad, &grad_lse};
/// What goes with sequences that lie one after another is not among these.
inline constexpr std::array not_packed{&past_key, &mask, &lengths, &segments, &kept};

/// nullptr: none is called so.
[[nodiscard]] constexpr const AttendOperand* called(std::string_view name)
{
    const auto found = std::ranges::find(all, name, &AttendOperand::name);
    return found == all.end() ? nullptr : *found;
}

} // namespace operand

/// Whether a call has a gradient of its results, given by these operands.
[[nodiscard]] bool differentiates(const Attend& options, const std::function<bool(const AttendOperand&)>& given);

/// What they are called says which they are; they must outlive it.
[[nodiscard]] AttendInputs inputs_of(const std::vector<StoredTensor>& tensors);

/// The stages of a call with these operands; `given`: which those are.
[[nodiscard]] Show attend_items(const Attend& options, const std::function<bool(const AttendOperand&)>& given);

} // namespace attn::model
