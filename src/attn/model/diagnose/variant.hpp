// Attention with knobs: what one wrong turn, or two, makes of `attend`. Every knob at its default is the right computation,
// that of core/attention.hpp in float64.
//
// The notation below. B batch, H query heads, H_kv key/value heads, T queries, S keys of all (the cache's P, then the new
// ones), d_k, d_v. q_i, k_j, v_j are rows of a query head h and of its key/value head; offset is the place of query 0 among the
// keys, p = i + offset the place of query i; `scale` is the right factor of the scores (--scale, or 1/√d_k); c is the softcap.
//
// The right order:
//
//   s  = q_i · k_j                      raw score
//   s  = s · scale
//   s  = c·tanh(s/c)                    only with a softcap
//   s  = s + mask(i, j)                 only with a mask of numbers
//   s  = s - slope_h · |p - j|          only with ALiBi
//   hidden(i, j): by a boolean mask that says false, by a number of the mask that is -inf, beyond the end of a short mask, by
//                 the causal rule (j > p), by the window (j < p - left or j > p + right), by the length (j ≥ length), by
//                 segments (j's is not that of key p)
//   e  = exp(s - m), m the largest s of what row i sees; 0 where hidden
//   w  = e / Σ_j e                      a row that sees nothing: all 0; a sink is one more e in the sum
//   context_i = Σ_j w_j · v_j
#pragma once

#include "attn/core/attention.hpp"

#include <array>
#include <compare>
#include <utility>

namespace attn::model::diagnose {

// ---- which numbers meet --------------------------------------------------------------------------------------------------

/// How the memory of queries, keys, values and of the result is taken apart into heads.
enum class Reading {
    right,
    /// Heads and positions swapped, by a view where a transposition is due. The memory of one batch entry of n rows, heads H
    /// and size d, read as if it lay in the other order of the two: what is stored as (H, n, d) is read as (n, H, d), so that
    /// element (h, i, x) is flat[(i·H + h)·d + x]; what is stored side by side, (n, H·d), is read as (H, n, d), so that it is
    /// flat[(h·n + i)·d + x]. Queries with H and T, keys and values with H_kv and S. A result is written likewise.
    swapped,
    /// Of heads side by side alone: (n, H·d) is read as (n, d, H): element (h, i, x) is flat[(i·d + x)·H + h].
    strided,
};

/// What is read so; the rest is read as it should be.
enum class ReadOf { all, queries_and_keys, keys, values };

/// The key/value head that query head h reads.
enum class KeyHead {
    repeated,    ///< h / (H / H_kv), rounded down: the right one
    interleaved, ///< h mod H_kv
    first,       ///< 0
};

/// What attention runs along. Except for positions, T = S and there is no cache.
enum class Along {
    positions, ///< right
    heads,     ///< the H heads of each position: (B, H, T, d) is read as (B, T, H, d), with H positions and T heads; H = H_kv
    batch,     ///< the B entries at each position: (B, H, T, d) is read as (T, H, B, d), with B positions in each of T entries
};

/// The batch entry that is read.
enum class EntryUse {
    right,
    first,      ///< 0, of queries, keys and values
    first_keys, ///< 0, of keys and values
};

/// What the weights sum up.
enum class Summed { values, keys, queries };

// ---- scores --------------------------------------------------------------------------------------------------------------

enum class Scale {
    right,
    none,       ///< 1
    size,       ///< 1/d_k
    model,      ///< 1/√(H·d_k)
    embedding,  ///< 1/√(size of the embeddings), of a run
    value_size, ///< 1/√d_v
    keys,       ///< 1/√S
    twice,      ///< scale²
    inverse,    ///< 1/scale
    usual,      ///< 1/√d_k, where --scale says another
    other,      ///< Variant::other_scale
};

enum class Cap {
    right,
    missing,
    before_scale, ///< (c·tanh(s/c))·scale, s the raw score
    after_mask,   ///< numbers of the mask are added first, hidden scores are -c
    /// Numbers of the mask are added first. What mask and length hide is -c and takes part, unless the causal rule, the window
    /// or a segment hides it, too.
    after_padding,
    undivided,    ///< c·tanh(s)
    unmultiplied, ///< tanh(s/c)
    by_score,     ///< s·tanh(s)
};

// ---- masks ---------------------------------------------------------------------------------------------------------------

enum class MaskUse {
    right,
    missing,
    inverted,     ///< boolean: true hides. The end of a short mask still hides
    negated,      ///< numbers: subtracted; what was -inf is seen, with nothing added
    transposed,   ///< mask(j, i) in place of mask(i, j); T = S, and the mask not short
    twice,        ///< numbers: added twice
    before_scale, ///< numbers: (s + mask)·scale
};

/// The logit of head h that has no key.
enum class SinkUse {
    right,
    missing,
    unshifted,     ///< exp(sink) is added to Σ exp(s - m), in place of exp(sink - m)
    after_softmax, ///< weights without it are divided by 1 + exp(sink)
    scaled,        ///< sink·scale
    first,         ///< that of head 0 for all
    reversed,      ///< that of head H - 1 - h
    of_row,        ///< that of head ((b·H + h)·T + i) mod H: of the row of all scores in place of its head
    of_key_head,   ///< that of head h / (H / H_kv), as keys and values are repeated
};

/// Where the rows of a group stand for the causal rule and the window. Packed, the queries of the g = H / H_kv heads that read
/// one key/value head are T·g rows: row n = i·g + h mod g is query i, and stands at ⌊n/g⌋ + offset.
enum class GroupPacking {
    right,
    /// Of a tile of rows that begins with row f, maybe within a group, row n stands at ⌊f/g⌋ + ⌊(n - f)/g⌋ + offset.
    from_tile,
    divided, ///< rows that are not packed are taken for packed ones: query i stands at ⌊i/g⌋ + offset
};

enum class CausalUse {
    right,
    missing,
    inverted,              ///< sees j > p alone
    backwards,             ///< sees j ≥ p alone
    added,                 ///< hides j > p where nothing causal is right
    added_backwards,       ///< hides j < p there
    diagonal_tile_seen,    ///< sees j < (p/tile + 1)·tile: the tile of the diagonal is not masked (p/tile rounded down)
    diagonal_tile_dropped, ///< sees j < (p/tile)·tile: the tile of the diagonal is left out
    /// Tiles of queries, as large, begin with query f = (i/tile)·tile, which stands at key g = f + offset. Sees j ≤ p of
    /// j < (g/tile + 1)·tile: the tiles up to the one that the first query of its tile needs.
    end_of_first_row,
    /// With the same f and g: asks j ≤ p in tile g/tile of keys alone; sees later tiles whole, up to the one that the last
    /// query of its tile needs.
    diagonal_once,
    restarted, ///< sees j ≤ i mod tile + offset: each tile of queries counts from 0
};

/// What becomes of the score of a hidden key.
enum class HiddenUse {
    right,            ///< it has none
    added,            ///< Variant::hidden_number is added to the score; the key takes part as any other
    added_in_float32, ///< likewise, and the sum is rounded to float32: of -5e4 it keeps eight bits behind the point
    set,              ///< the score is Variant::hidden_number; the key takes part as any other
    after_softmax,    ///< it takes part in maximum and sum, and its weight is set to 0 afterwards
};

/// A row that sees nothing.
enum class EmptyRow {
    right,    ///< zeros, or NaN with --empty-rows nan
    nan,      ///< NaN
    uniform,  ///< every one of the S keys has the weight 1/S
    unmasked, ///< as if nothing were hidden in that row
};

// ---- softmax -------------------------------------------------------------------------------------------------------------

/// Over what the exponentials are summed (and their maximum is taken).
enum class Over {
    keys,    ///< j: right
    queries, ///< i, for each b, h and j
    heads,   ///< h, for each b, i and j
    matrix,  ///< i and j, for each b and h
    all,     ///< b, h, i and j
    // NumPy's (T, S) divided by (T) without keepdims: key j meets what belongs to query j; a sum of 0
    // counts as 1. T = S
    key_rows, ///< exp(s) / Σ_k exp(s_jk)
    key_sums, ///< exp(s - m) / Σ_k exp(s_jk - m_j)
};

/// What else the exponentials are divided by.
enum class More {
    none,
    one,      ///< 1 + Σ e
    zero_key, ///< exp(-m) + Σ e: as if one more key had the score 0
};

/// What makes weights of the scores.
enum class Weighting {
    softmax,
    none,         ///< w = s; 0 where hidden
    undivided,    ///< w = exp(s - m)
    unshifted,    ///< w = exp(s)
    proportional, ///< w = s / Σ_j s over what is seen
    twice,        ///< a second softmax over all S weights of the row, the zeros of hidden keys among them
    largest,      ///< 1 for the largest score (the first of equal ones), otherwise 0
    uniform,      ///< 1/n over the n keys that are seen
    own,          ///< 1 for key i, otherwise 0. T = S, no cache
};

/// The maximum that an exponential has subtracted; tile t holds keys t·tile to (t + 1)·tile - 1, m_t is the largest of the
/// tiles up to t.
enum class Maximum {
    row,     ///< of the whole row: right
    running, ///< m_t of the key's own tile t
    tile,    ///< of the key's own tile
    swapped, ///< 2·m_t - m: what was summed is corrected by exp(new - old) in place of exp(old - new)
};

/// What exponentials have subtracted. But for the maximum, exp(s - m) overflows to infinity and underflows to 0 as float32 does
/// (float64 for float64 inputs), and so does the sum: ∞/∞ and 0/0 are NaN, and so is a context with a NaN among its weights.
/// `exponentials` rounds each exp(s - m), and those rounded are summed.
enum class Subtracted {
    maximum,    ///< m, the largest s: right
    nothing,    ///< 0
    or_nothing, ///< the larger of m and 0
};

/// Of the n keys that a batch entry has by its length; without lengths n = S.
enum class LastTile {
    right,
    dropped, ///< the keys of the last tile, whether it is full or not, are left out
    padded,  ///< n is rounded up to whole tiles by keys and values of zeros, which count: their score is 0 (nothing is added
             ///< to it), lengths and masks do not hide them, the causal rule and the window do, and then they are as other
             ///< hidden keys
    capped,  ///< likewise, and their score is -c
    /// A last tile that is not full begins at n - tile, so that the keys that it shares with the tile before count twice: to
    /// tiles of queries, as large, whose last query comes to a key behind those by causal and window.
    slid,
};

/// What is stored as the log of the sum, lse. Nothing else depends on it.
enum class LseUse {
    right,           ///< m + ln Σ exp(s - m), sink and all; -inf of a row that sees nothing
    base_2,          ///< log2 Σ exp(s)
    without_maximum, ///< ln Σ exp(s - m)
    without_sink,    ///< of the keys alone
};

// ---- packed sequences ----------------------------------------------------------------------------------------------------

/// Where sequences that lie one after another begin and end.
enum class Packing {
    right,
    missing,    ///< nowhere: all is one sequence
    late,       ///< all but the first one position later
    early,      ///< all but the first one position earlier
    of_queries, ///< those of keys and values where those of the queries do
    first_keys, ///< each takes its number of keys and values, from the first one on
};

// ---- precision -----------------------------------------------------------------------------------------------------------

/// Rounded to nearest, ties to even; overflow gives infinity. tf32 has the exponents of float32 and 10 bits of fraction.
enum class Precision { exact, float32, tf32, bfloat16, float16 };

// ---- backward ------------------------------------------------------------------------------------------------------------
//
// The steps of core/gradients.hpp. An edit changes what one of them has made (backward/steps.hpp), and what follows is made of
// that. dO is the gradient of the context, x a masked score, -inf where hidden; lse and O are what the forward has stored:
//
//   W   = exp(x - lse)                     D = W · kept/(1 - p), without dropout W
//   dW  = dO·Vᵀ · kept/(1 - p)
//   δ_i = Σ dO_i·O_i - dlse_i
//   dx  = W ∘ (dW - δ)                     dmask = dx, summed over what the mask is repeated along
//   ds  = dx ∘ (1 - (c/cap)²)              c the capped score
//   dq  = scale · Σ ds·K                   summed over tiles of keys
//   dk  = scale · Σ dsᵀ·Q, dv = Σ Dᵀ·dO    summed over the heads of a group and tiles of queries
//   dsink = -Σ exp(sink - lse) · δ

struct HeadForward;
struct HeadSteps;

using StepEdit = void (*)(HeadSteps&);
/// What is read as lse of what is stored (T).
using ReadLse = RowVector<double> (*)(const HeadForward& stored);
/// What dx is multiplied by for s, the scaled score; `ratio` is s/cap.
using CapSlope = double (*)(double ratio, double tanh, double cap);
/// Takes terms of a query out of a sum: (P+S), one for each key.
using TermsEdit = void (*)(Eigen::Ref<RowVector<double>>& terms, const HeadSteps&, Index query);
/// What a gradient is multiplied by beside what is right.
using GradientFactor = double (*)(double scale, const core::AttentionDims&);
/// What of query head n of a group of `count` is in the sum.
using HeadShare = double (*)(Index n, Index count);

enum class MaskSum {
    right,
    last,   ///< of what the mask is repeated along
    mean,   ///< over that
    scaled, ///< of ds · scale in place of dx
};

enum class Exchange { none, dk_dv, dq_dk };

/// All that comes after the products. nullptr: nothing is changed.
struct StoredKnobs {
    GradientFactor dq = nullptr, dk = nullptr, dv = nullptr, dsinks = nullptr;
    HeadShare heads = nullptr;
    bool heads_interleaved = false; ///< query head h is added to key/value head h mod H_kv
    MaskSum mask = MaskSum::right;
    Exchange exchanged = Exchange::none;
    bool heads_swapped = false; ///< dq, dk and dv are written as Reading::swapped

    bool operator==(const StoredKnobs&) const = default;
};

struct Backward : StoredKnobs {
    bool alone = false; ///< what the rest of a variant changes, it changes in W alone: lse and O are right
    ReadLse lse = nullptr;
    StepEdit weights = nullptr, dropped_weights = nullptr;                  ///< W and D
    StepEdit dweights = nullptr, delta = nullptr, dmasked_scores = nullptr; ///< dW, δ and dx
    CapSlope slope = nullptr;
    TermsEdit over_keys = nullptr, over_queries = nullptr; ///< of dq; of dk and dv. Tiles are those of Variant
    Precision rounded_context = Precision::exact;          ///< O in δ
    Precision rounded_weights = Precision::exact;          ///< D in dv
    Precision rounded_dweights = Precision::exact;         ///< dW
    Precision rounded_dscores = Precision::exact;          ///< ds in dq and dk

    bool operator==(const Backward&) const = default;
};

// --------------------------------------------------------------------------------------------------------------------------

struct AskedOfCore;
struct Call;

/// What core is asked is edited here, in this order; of one slot a variant has one edit.
enum class Slot { length_shift, lengths, segments, distances, offsets, left, right, left_open, right_open, symmetric, window };
inline constexpr std::size_t edit_slots = static_cast<std::size_t>(Slot::window) + 1;
using Edit = void (*)(AskedOfCore&, const Call&);

/// All that decides how queries, keys and values are read. Operands keeps them by it.
struct ReadKnobs {
    Reading read = Reading::right; ///< of queries, keys and values (not the cache: it goes without one)
    ReadOf read_of = ReadOf::all;
    Along along = Along::positions; ///< mask and lengths do not go with others; causal and window count from offset 0
    EntryUse entry = EntryUse::right;
    bool cache_missing = false;          ///< keys are the new ones alone, numbered from 0, for the mask too; offset stays
    bool padding_zeros = false;          ///< keys and values from the length on are zeros, and the length hides none
    bool cache_last = false;             ///< the new keys come first, then the cache, and are numbered so
    Precision inputs = Precision::exact; ///< queries, keys and values
    bool denormals_flushed = false;      ///< numbers of queries, keys, values, weights and context below the smallest normal
                                         ///< number of the queries' type (float16 2^-14, bfloat16 and float32 2^-126, float64
                                         ///< 2^-1022) are 0

    auto operator<=>(const ReadKnobs&) const = default; // NOLINT(modernize-use-nullptr): in code that the compiler writes
};

/// All that decides q·k. SharedProducts keeps them by it.
struct ProductKnobs : ReadKnobs {
    bool one_head = false; ///< q_i·k_j is summed over all heads, and each head has the same weights; the scale is
                           ///< 1/√(H·d_k) where it is 1/√d_k otherwise. H = H_kv
    KeyHead key_head = KeyHead::repeated;
    bool scores_transposed = false; ///< s = q_j · k_i. T = S, no cache
    bool scores_of_values = false;  ///< s = q_i · v_j. d_k = d_v
    Index lanes = 0;                ///< q·k is summed over the first d_k/lanes·lanes numbers; 0: over all

    auto operator<=>(const ProductKnobs&) const = default; // NOLINT(modernize-use-nullptr): in code that the compiler writes
};

struct Variant : ProductKnobs {
    Packing packing = Packing::right;
    Reading written = Reading::right; ///< of the result
    KeyHead value_head = KeyHead::repeated;
    bool mean_of_heads = false;     ///< every head of the result is the mean of all heads
    bool heads_reversed = false;    ///< head h of the result is head H - 1 - h
    Summed summed = Summed::values; ///< keys: d_k = d_v; queries: T = S, d_k = d_v, no cache; those of the same head h
    bool residual = false;          ///< Call::residual is added to what is compared
    Index value_lanes = 0;          ///< numbers of a context from d_v/lanes·lanes on are 0; 0: none

    Scale scale = Scale::right;
    double other_scale = 0;
    double exponent = 1; ///< exp(exponent·(s - m)) in place of exp(s - m); below 0, m is the smallest s
    Cap cap = Cap::right;

    MaskUse mask = MaskUse::right;
    CausalUse causal = CausalUse::right;
    Index shift = 0; ///< of the causal rule alone: j > p + shift is hidden
    GroupPacking group_packing = GroupPacking::right;
    Index page = 0;                       ///< lengths are rounded up to whole pages of so many keys, up to S; 0: they are not
    std::array<Edit, edit_slots> edits{}; ///< nullptr: the call's own
    HiddenUse hidden = HiddenUse::right;
    double hidden_number = 0;
    EmptyRow empty = EmptyRow::right;

    SinkUse sink = SinkUse::right;
    Index sink_parts = 0; ///< exp(sink) is in the sum of each of so many parts of the keys, also of one without keys; 0: once
    Over over = Over::keys;
    Weighting weighting = Weighting::softmax;
    More more = More::none;
    Index parts = 0; ///< the keys are cut into so many parts of S/parts keys, rounded up; each has a softmax of its own, and
                     ///< the contexts of the parts are averaged (0 of a part that sees nothing); 0: not cut
    bool merged_by_maximum = false;  ///< the contexts of the parts, or of tiles if it is not cut, are weighed by exp(m), m the
                                     ///< largest s of the part, in place of exp(m)·Σ exp(s - m)
    bool weights_transposed = false; ///< context_i = Σ_j w(j, i)·v_j, w(j, i) the weight that query j has for key i. T = S
    Subtracted subtracted = Subtracted::maximum;

    Index tile = 0;                     ///< keys of a tile, and queries of one; 0: none
    bool first_values = false;          ///< key j meets the value of key j mod tile: every tile those of the first
    Index row_tile = 0;                 ///< the queries of the last tile of so many give zeros if it is not full; 0: none
    Maximum numerator = Maximum::row;   ///< in e of w = e / Σ e: the accumulator
    Maximum denominator = Maximum::row; ///< in the e that are summed
    LastTile last_tile = LastTile::right;
    LseUse lse = LseUse::right;

    Precision scores = Precision::exact;       ///< q·k, before the scale
    Precision softmax = Precision::exact;      ///< the masked scores before, the weights after the softmax
    Precision steps = Precision::exact;        ///< s, s - m, exp(s - m), their sum, and the weights, one after the other
    Precision exponentials = Precision::exact; ///< exp(s - m) that multiply the values; the sum is of those not rounded
    Precision weights = Precision::exact;      ///< e / Σ e
    Precision accumulator = Precision::exact;  ///< Σ_j w_j·v_j, rounded after each j in order
    Precision result = Precision::exact;       ///< the context

    Backward backward = {}; ///< of gradients alone

    bool operator==(const Variant&) const = default;
};

/// Whether a row of the result depends on scores of other queries.
[[nodiscard]] inline bool mixes_rows(const Variant& v)
{
    return (v.over != Over::keys && v.over != Over::heads) || v.weights_transposed;
}

/// Whether it divides by a sum that may nearly cancel.
[[nodiscard]] inline bool cancels(const Variant& v)
{
    return v.weighting == Weighting::proportional;
}

/// Whether rounding alone sets it apart, which another order of sums may tip over here and there.
[[nodiscard]] inline bool rounds(const Variant& v)
{
    return v.inputs != Precision::exact || v.scores != Precision::exact || v.softmax != Precision::exact ||
           v.steps != Precision::exact || v.exponentials != Precision::exact || v.weights != Precision::exact ||
           v.accumulator != Precision::exact || v.result != Precision::exact || v.denormals_flushed ||
           v.hidden == HiddenUse::added_in_float32 || v.backward.rounded_context != Precision::exact ||
           v.backward.rounded_weights != Precision::exact || v.backward.rounded_dweights != Precision::exact ||
           v.backward.rounded_dscores != Precision::exact;
}

/// Whether it does nothing but round to `type` what the plain computation in that type rounds, too: inputs, scores, weights
/// (also before they are divided), the steps of the backward and the result.
[[nodiscard]] inline bool rounds_as(Variant v, Precision type)
{
    constexpr std::array<Precision Variant::*, 6> stages{&Variant::inputs,       &Variant::scores,  &Variant::softmax,
                                                         &Variant::exponentials, &Variant::weights, &Variant::result};
    constexpr std::array<Precision Backward::*, 4> steps{&Backward::rounded_context, &Backward::rounded_weights,
                                                         &Backward::rounded_dweights, &Backward::rounded_dscores};
    const auto is_own = [type](Precision& rounding) {
        const Precision to = std::exchange(rounding, Precision::exact);
        return to == Precision::exact || to == type;
    };
    bool all = true;
    for (Precision Variant::*const stage : stages) {
        all = is_own(v.*stage) && all;
    }
    for (Precision Backward::*const step : steps) {
        all = is_own(v.backward.*step) && all;
    }
    return all && v == Variant{};
}

} // namespace attn::model::diagnose
