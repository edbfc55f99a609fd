// Scaled dot-product attention over the heads of one sequence, every stage of it on request.
//
//   scores        = Q·Kᵀ                                  (T, S)
//   scaled_scores = scores · scale                        scale = 1/√d_k unless given
//   capped_scores = c · tanh(scaled_scores / c)           only with a softcap c
//   masked_scores = capped_scores + mask, -inf where      only with a mask or a bias by distance
//                   a key is masked
//   weights       = softmax over the keys of each row     (T, S); a masked weight is exactly 0, a row without keys all 0
//   head_context  = weights · V                           (T, d_v)
//
// (Vaswani et al. 2017, "Attention Is All You Need", equation 1; the order of cap and mask is the ONNX Attention operator's.)
//
// This is the portable path: every number is the same on every machine and for any number of threads. Each element of a
// product is summed in index order; Rounding says in which type. stages.hpp holds the stages one by one.
// Query rows are worked off in blocks, so memory stays linear in T and S for what is not kept.
#pragma once

#include "attn/core/progress.hpp"
#include "attn/tensor/view.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace attn::core {

/// Keys a query may look back and ahead; -1 leaves a side open.
struct Window {
    Index left = -1;
    Index right = -1;

    bool operator==(const Window&) const = default;
};

/// When numbers are rounded to Scalar.
enum class Rounding {
    stage, ///< after every stage, which is computed in double
    step,  ///< after every step of every stage, too: each product, sum, quotient and exponential, as a loop over floats does.
           ///< float64 needs no rounding then
};

struct AttentionOptions {
    std::optional<double> scale = {};             ///< factor of the scores; 1/√d_k when absent
    std::optional<double> softcap = {};           ///< > 0
    bool causal = false;                          ///< the query at position p sees keys 0 … p
    std::optional<Window> window = {};            ///< the query at position p sees keys p-left … p+right
    std::optional<Index> valid_keys = {};         ///< no query sees this key or a later one
    std::optional<ElementType> softmax_type = {}; ///< rounds the masked scores and the weights to this type
    bool nan_for_empty_rows = false;              ///< what a row without any key gives; zeros otherwise
    Rounding rounding = Rounding::stage;          ///< the distances of slopes are taken off in one step
    std::vector<double> slopes = {}; ///< (H): minus slope · distance is added to the scores (positions.hpp); empty: none

    bool operator==(const AttentionOptions&) const = default;
};

/// Which stages to keep. The head contexts are always kept.
struct Keep {
    bool scores = false;
    bool scaled_scores = false;
    bool capped_scores = false;
    bool masked_scores = false;
    bool weights = false;
    bool entropy = false;
};

/// The inputs of attention. H is a multiple of H_kv; query head h reads key/value head h / (H / H_kv).
template <typename Scalar>
struct Heads {
    Tensor<Scalar> queries; ///< (H, T, d_k)
    Tensor<Scalar> keys;    ///< (H_kv, S, d_k)
    Tensor<Scalar> values;  ///< (H_kv, S, d_v)
    std::vector<Index>
        query_positions; ///< (T), for causal, window and slopes: the place of each query among the keys; may be negative
    std::optional<TensorView> mask = {}; ///< (H, T, ≤ S): boolean, true = seen, or added to the scores; missing keys are masked

    [[nodiscard]] bool masked(const AttentionOptions& options) const
    {
        return mask || options.causal || options.window || options.valid_keys || !options.slopes.empty();
    }
};

/// The stages that were kept; the others are empty.
template <typename Scalar>
struct Stages {
    Tensor<Scalar> scores, scaled_scores, capped_scores, masked_scores, weights; ///< (H, T, S) each
    Tensor<Scalar> head_context;                                                 ///< (H, T, d_v)
    Tensor<Scalar> entropy;                                                      ///< (H, T), in nats
    bool overflowed = false;                ///< a score, or a score times the scale, left the range of Scalar
    std::string_view portable_because = {}; ///< what the tiles of an isa that was asked for do not compute: "ALiBi"
};

/// Zeros for the stages that are kept and exist with these options. Throws as attention().
template <typename Scalar>
[[nodiscard]] Stages<Scalar> make_stages(const Heads<Scalar>& heads, const AttentionOptions& options, const Keep& keep);

/// Throws Error(internal), with both shapes, when the shapes do not belong together.
template <typename Scalar>
[[nodiscard]] Stages<Scalar> attention(const Heads<Scalar>& heads, const AttentionOptions& options, const Keep& keep,
                                       const Work& work);

extern template Stages<float> make_stages(const Heads<float>&, const AttentionOptions&, const Keep&);
extern template Stages<double> make_stages(const Heads<double>&, const AttentionOptions&, const Keep&);
extern template Stages<float> attention(const Heads<float>&, const AttentionOptions&, const Keep&, const Work&);
extern template Stages<double> attention(const Heads<double>&, const AttentionOptions&, const Keep&, const Work&);

} // namespace attn::core
