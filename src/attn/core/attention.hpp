// Scaled dot-product attention and its relatives, every stage of it on request.
//
//   scores        = Q·Kᵀ                                  (T, S), or another function of score.hpp
//   scaled_scores = scores · scale                        scale = 1/√d_k unless given; of other functions 1
//   capped_scores = c · tanh(scaled_scores / c)           only with a softcap c
//   masked_scores = capped_scores + bias, -inf where      only with a mask or a bias by distance
//                   a key is masked
//   weights       = softmax over the keys of each row     (T, S); a masked weight is exactly 0, a row without keys all 0; with
//                   a sink, a logit of the head that has no key and no value, they sum to less than 1
//   entropy       = -Σ weights · ln weights               (T), in nats
//   lse           = ln Σ exp(masked_scores), sink and all (T); -inf for an empty row
//   dropped_weights = weights · kept / (1 - p)            only with dropout: kept is 0 or 1, drawn by the caller
//   head_context  = weights · V                           (T, d_v); dropped_weights · V with dropout
//
// With MaskAt::scores the mask comes before the scale: masked_scores = scores + bias, scaled_scores = masked_scores · scale,
// which go into the softmax. That gives the same weights for what is hidden, and others for numbers that are added.
//
// (Vaswani et al. 2017, "Attention Is All You Need", equation 1; the order of cap and mask is the ONNX Attention operator's;
// dropout: Srivastava et al. 2014, "Dropout: A Simple Way to Prevent Neural Networks from Overfitting", scaled as in PyTorch.)
//
// Two paths compute it. On the portable one every number is the same on every machine and for any number of threads: each
// element of a product is summed in index order; Rounding says in which type. stages.hpp holds its stages one by one. Query
// rows are worked off in blocks, so memory stays linear in T and S for what is not kept. The fast path, of tiled.hpp, is for
// float32 with AVX2, AVX-512 or NEON.
#pragma once

#include "attn/core/parallel.hpp"
#include "attn/core/score.hpp"
#include "attn/tensor/view.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace attn::core {

/// Keys a query may look back and ahead; -1 leaves a side open.
struct Window {
    Index left = -1;
    Index right = -1;

    bool operator==(const Window&) const = default;
};

/// What masks and biases are added to: the scaled (and capped) scores, or the scores before they are scaled.
enum class MaskAt { scaled, scores };
inline constexpr std::array<std::string_view, 2> mask_at_names{"scaled", "scores"};

/// Weights that a network in training leaves out at random. The numbers are drawn outside of core; p alone counts here.
struct Dropout {
    double p = 0;                           ///< the share that is left out, from 0 and below 1
    std::optional<std::uint64_t> seed = {}; ///< of a stream of its own; absent: the stream of the parameters goes on
    bool mkl = false;                       ///< as PyTorch's builds with Intel MKL draw it (random/torch.hpp)

    bool operator==(const Dropout&) const = default;
};

struct AttentionOptions {
    Score score = Score::scaled_dot;
    std::optional<double> scale = {};             ///< factor of the scores; when absent 1/√d_k for scaled_dot, otherwise 1
    std::optional<double> softcap = {};           ///< > 0
    bool causal = false;                          ///< the query at position p sees keys 0 … p
    std::optional<Window> window = {};            ///< the query at position p sees keys p-left … p+right
    std::optional<ElementType> stage_type = {};   ///< rounds scores, scaled, capped and masked scores to as many digits as this
                                                  ///< type has, whatever its range, and the weights to this type.
                                                  ///< float32: of gradients alone, see gradients.hpp
    std::optional<ElementType> softmax_type = {}; ///< rounds the masked scores and the weights to this type
    std::optional<ElementType> weights_type = {}; ///< rounds exp(score - maximum), for the product with V alone, to this type:
                                                  ///< sums and shown weights are not rounded. In tiles the maximum is that
                                                  ///< of the keys so far
    bool nan_for_empty_rows = false;              ///< what a row without any key gives; zeros otherwise
    std::optional<Dropout> dropout = {};          ///< of the weights; AttentionInputs::kept says which stay
    MaskAt mask_at = MaskAt::scaled;              ///< `scores` goes without a softcap, and with a scale above 0

    /// The factor of the scores; nothing: 1/√d_k.
    [[nodiscard]] std::optional<double> factor() const
    {
        return scale || score == Score::scaled_dot ? scale : std::optional(1.0);
    }
    [[nodiscard]] bool multiplies() const { return function_of(score).multiplies(); }

    bool operator==(const AttentionOptions&) const = default;
};

/// How large the numbers on the way to the context may become.
enum class ScoreRange {
    near,   ///< of ordinary size: the exponent of a weight takes one fused operation, and denormal queries and keys may count
            ///< as 0
    far,    ///< finite in float32, but scores so large that their maximum has to be subtracted before anything is rounded
    beyond, ///< an input is infinite or NaN, or a score, its scaling, its bias or a sum of values may become so. The
            ///< portable path takes it
};

/// The keys [begin, end).
struct KeyRange {
    Index begin;
    Index end;
};

/// Documents in one sequence: a query sees the keys of its own, which is that of the key at its place.
struct Segments {
    std::vector<std::int32_t> of_key; ///< (B, P+S): which one, counted from 0 through the whole batch
    std::vector<KeyRange> reach;      ///< the first key of each, and the end after its last
    bool interleaved = false;         ///< in some reach lies a key of another
};

/// B batch, T queries, S keys and P keys of a cache before them. H is a multiple of H_kv; query head h reads key/value head
/// h / (H / H_kv).
struct AttentionDims {
    Index B = 1, H = 1, H_kv = 1, T = 0, S = 0, P = 0, d_k = 0, d_v = 0;

    [[nodiscard]] constexpr Index total() const { return P + S; }
};

class SeenTiles;

/// What a look at all inputs finds out.
struct Look {
    ScoreRange range = ScoreRange::beyond;
    std::shared_ptr<const SeenTiles> seen = {}; ///< what a mask of numbers, which is large, leaves of each tile; or nothing
};

/// Views of four dimensions, read in place where they can be.
struct AttentionInputs {
    TensorView queries;                                       ///< (B, H, T, d_k)
    TensorView keys, values;                                  ///< (B, H_kv, S, d_k), (B, H_kv, S, d_v); keys of additive
                                                              ///< scores may have a width of their own
    std::optional<TensorView> past_key = {}, past_value = {}; ///< (B, H_kv, P, d_k), (B, H_kv, P, d_v): before keys and values

    // What is added to the scores, and hides keys beside causal and window: see visibility.hpp.
    std::optional<TensorView> mask = {}; ///< (B, H, T, ≤ P+S) of any type: boolean, true = seen, or added; missing keys are
                                         ///< masked. With query_positions it has a row for each position
    std::vector<double> slopes = {};     ///< (H), (B, H) or none: slope · distance is subtracted (positions.hpp)
    bool extra_key = false;              ///< every query sees the last key, whatever mask, causal and window say

    std::optional<Segments> segments = {}; ///< not with an extra key
    std::vector<double> sinks = {};        ///< (H) or none: finite or -inf

    std::vector<ScoreParameters> score_parameters = {}; ///< (H) with general and additive scores, otherwise none

    std::optional<TensorView> kept = {}; ///< (B, H, T, P+S) of booleans: the weights that dropout leaves; only with it. With
                                         ///< query_positions it has a row for each position

    std::vector<Index> offsets = {};         ///< (B) or none: the place of query 0 among the keys; may be negative
    std::vector<Index> query_positions = {}; ///< (T) or none: the queries' places after `offsets`; else 0, 1, 2, …
    std::vector<Index> lengths = {};         ///< (B) or none: valid keys of P+S; no query sees those from there on
    bool wide = false;                       ///< computed in float64, whatever the types
    std::optional<Look> look = {};           ///< where it is known; otherwise attention() looks

    /// Whether anything hides keys or adds to the scores.
    [[nodiscard]] bool masked(const AttentionOptions& options) const
    {
        return mask || options.causal || options.window || !lengths.empty() || !slopes.empty() || segments;
    }
    [[nodiscard]] AttentionDims dims() const;
};

/// A stage in the caller's memory; without data it is not kept. The last dimension has no gaps.
struct StageSpan {
    ElementType type = ElementType::float32; ///< a floating-point one: rounded once
    std::byte* data = nullptr;
    Index batch = 0, head = 0, row = 0; ///< strides, in elements

    [[nodiscard]] std::byte* at(Index b, Index h, Index i, Index j = 0) const
    {
        return data + (b * batch + h * head + i * row + j) * size_of(type);
    }
};

/// What attention computes, in the order of its steps; each may be kept. The entropy of a row of weights is in nats.
enum class Stage { scores, scaled_scores, capped_scores, masked_scores, weights, entropy, lse, dropped_weights, head_context };
inline constexpr std::size_t stage_count = static_cast<std::size_t>(Stage::head_context) + 1; // the last; items.hpp asserts it
inline constexpr auto every_stage = [] {
    std::array<Stage, stage_count> stages{};
    for (std::size_t i = 0; i < stage_count; ++i) {
        stages[i] = static_cast<Stage>(i);
    }
    return stages;
}();

/// Whether a stage has one number for each query of a head.
[[nodiscard]] constexpr bool is_single(Stage stage)
{
    return stage == Stage::entropy || stage == Stage::lse;
}
/// The numbers that a stage has for each query of a head: one, one for each component of a value, or one for each key.
[[nodiscard]] constexpr Index columns_of(Stage stage, const AttentionDims& dims)
{
    return is_single(stage) ? 1 : stage == Stage::head_context ? dims.d_v : dims.total();
}
/// (H, T, columns), or (H, T) of a single number.
[[nodiscard]] Shape shape_of(Stage stage, const AttentionDims& dims);

/// One of each enumerator.
template <typename Enum, std::size_t count, typename T>
struct PerEach {
    std::array<T, count> of{};

    [[nodiscard]] constexpr T& operator[](Enum each) { return of[static_cast<std::size_t>(each)]; }
    [[nodiscard]] constexpr const T& operator[](Enum each) const { return of[static_cast<std::size_t>(each)]; }
};
template <typename T>
using PerStage = PerEach<Stage, stage_count, T>;

/// Where the stages go, each (B, …) of its shape; of single numbers `row` is the step between queries. Weights must be zero
/// before.
using AttentionOutputs = PerStage<StageSpan>;

/// What there is to say of the way to the stages.
struct AttentionNotes {
    bool overflowed = false; ///< a score, or it times the scale, left the range of its type; of keys that a range hides
                             ///< (visible_keys) none counts
    std::string_view portable_because = {}; ///< what the tiles of the isa asked for do not compute: "dropout"; empty: they did
};

/// Throws Error(internal), with the shapes, when they do not belong together.
void require_shapes(const AttentionInputs& inputs, const AttentionOptions& options);

/// On the fast path of work.isa; on the portable one for float64, a softmax type that is not float32, scores that are not
/// products of queries and keys, masks before the scale, dropout, rounding by step, and a range that is beyond.
/// Throws Error(internal), with the shapes, when they do not belong together, or for an isa that is not available.
AttentionNotes attention(const AttentionInputs& inputs, const AttentionOptions& options, const AttentionOutputs& outputs,
                         const Work& work);

/// Whether all is computed in float64: as asked for, or since queries, keys or values are; otherwise it is float32.
[[nodiscard]] bool is_wide(const AttentionInputs& inputs);
/// Reads queries, keys, values, cache and mask once, on work.threads, for a bound from the largest of each.
[[nodiscard]] Look look_at(const AttentionInputs& inputs, const AttentionOptions& options, const Work& work);
/// Whether attention() takes the path of tiled.hpp, unless the range is beyond.
[[nodiscard]] bool tiles_serve(const AttentionInputs& inputs, const AttentionOptions& options, const Work& work);

/// (…) as a batch of one, (1, …).
[[nodiscard]] TensorView as_batch(TensorView view);
template <typename Scalar>
[[nodiscard]] TensorView as_batch(const Tensor<Scalar>& tensor)
{
    Shape shape(tensor.shape.size() + 1, 1);
    std::ranges::copy(tensor.shape, shape.begin() + 1);
    return row_major_view(element_type_of<Scalar>, std::move(shape), std::as_bytes(std::span(tensor.values)));
}

// ---- stages as tensors -----------------------------------------------------------------------------------------------

/// Where a stage, or a gradient, of a batch of one goes: (H, T, columns), or (H, T) of single numbers.
template <typename Scalar>
[[nodiscard]] StageSpan span_of(Tensor<Scalar>& stage)
{
    const Index row = stage.shape.size() < 3 ? 1 : stage.shape[2];
    return {.type = element_type_of<Scalar>,
            .data = reinterpret_cast<std::byte*>(stage.values.data()),
            .head = stage.shape[1] * row,
            .row = row};
}

/// Which stages to keep. The head contexts are always kept.
struct StageSelection : PerStage<bool> {
    constexpr StageSelection(std::initializer_list<Stage> stages = {})
    {
        (*this)[Stage::head_context] = true;
        for (const Stage stage : stages) {
            (*this)[stage] = true;
        }
    }
};

/// The stages of a batch of one that were kept; the others are empty.
template <typename Scalar>
struct Stages : AttentionNotes, PerStage<Tensor<Scalar>> {
};

/// The stages that are selected and exist with these inputs, of four dimensions each, and options.
template <typename Scalar>
[[nodiscard]] Stages<Scalar> attention(const AttentionInputs& inputs, const AttentionOptions& options,
                                       const StageSelection& selection, const Work& work);

extern template Stages<float> attention(const AttentionInputs&, const AttentionOptions&, const StageSelection&, const Work&);
extern template Stages<double> attention(const AttentionInputs&, const AttentionOptions&, const StageSelection&, const Work&);

} // namespace attn::core
