#include "attn/model/diagnose/mistakes.hpp"

#include "attn/model/diagnose/masking.hpp"
#include "attn/model/diagnose/pieces.hpp"
#include "attn/model/diagnose/seen_in_public.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace attn::model::diagnose {
namespace {

using V = Variant;
using C = Call;
using A = AskedOfCore;

// ---- where a mistake can be made -----------------------------------------------------------------------------------------

constexpr auto always = [](const C&) { return true; };
constexpr auto in_causal = [](const C& c) { return c.options.causal; };
constexpr auto in_window = [](const C& c) { return c.options.window.has_value(); };
constexpr auto in_window_left = [](const C& c) { return c.options.window && c.options.window->left >= 0; };
constexpr auto in_window_right = [](const C& c) { return c.options.window && c.options.window->right >= 0; };
constexpr auto in_softcap = [](const C& c) { return c.options.softcap.has_value(); };
constexpr auto in_mask = [](const C& c) { return c.views.mask.has_value(); };
constexpr auto in_boolean_mask = [](const C& c) { return in_mask(c) && c.views.mask->type == ElementType::boolean; };
constexpr auto in_number_mask = [](const C& c) { return in_mask(c) && !in_boolean_mask(c); };
constexpr auto in_lengths = [](const C& c) { return !c.views.lengths.empty(); };
constexpr auto in_segments = [](const C& c) { return c.views.segments.has_value(); };
constexpr auto in_packed = [](const C& c) { return c.sequences.has_value(); };
constexpr auto in_alibi = [](const C& c) { return !c.views.slopes.empty(); };
constexpr auto in_sinks = [](const C& c) { return !c.views.sinks.empty(); };
constexpr auto in_unsorted_alibi = [](const C& c) { // as those of heads that are no power of two are
    const auto H = static_cast<std::size_t>(c.views.sizes.H);
    std::span<const double> slopes = c.views.slopes;
    while (!slopes.empty() && std::ranges::is_sorted(slopes.first(H), std::greater())) {
        slopes = slopes.subspan(H);
    }
    return !slopes.empty();
};
constexpr auto in_cache = [](const C& c) { return c.views.sizes.P > 0; };
constexpr auto in_batch = [](const C& c) { return c.views.sizes.B > 1; };
constexpr auto in_heads = [](const C& c) { return c.views.sizes.H > 1; };
constexpr auto in_grouped = [](const C& c) { return c.views.sizes.H != c.views.sizes.H_kv; };
constexpr auto in_uneven_groups = [](const C& c) { // of which no power of two holds whole ones
    const Index group = c.views.sizes.H / c.views.sizes.H_kv;
    return (group & (group - 1)) != 0;
};
constexpr auto in_equal_sizes = [](const C& c) { return c.views.sizes.d_k == c.views.sizes.d_v; };
constexpr auto in_square = [](const C& c) { return c.is_square(); };

constexpr auto in_key_heads = [](const C& c) { return in_grouped(c) && c.views.sizes.H_kv > 1; };
constexpr auto in_paper_alibi = [](const C& c) { return c.options.alibi; }; // whose slopes follow from the number of heads
constexpr auto in_batch_alibi = [](const C& c) { return std::ssize(c.views.slopes) > c.views.sizes.H; };
constexpr auto in_alibi_heads = [](const C& c) { return in_alibi(c) && in_heads(c); };
constexpr auto in_moved_alibi = [](const C& c) { // where query 0 of some batch entry does not stand at key 0
    return in_alibi(c) && std::ranges::any_of(c.views.offsets, [](Index offset) { return offset != 0; });
};
constexpr auto in_moved_segments = [](const C& c) { // likewise
    return in_segments(c) && std::ranges::any_of(c.views.offsets, [](Index offset) { return offset != 0; });
};
constexpr auto in_batch_segments = [](const C& c) { return in_segments(c) && in_batch(c); };
constexpr auto in_sink_heads = [](const C& c) { return in_sinks(c) && in_heads(c); };
constexpr auto in_batch_lengths = [](const C& c) { return in_lengths(c) && in_batch(c); };
constexpr auto hiding = [](const C& c) { return in_causal(c) + in_window(c) + in_lengths(c) + in_mask(c) + in_segments(c); };
constexpr auto in_masked = [](const C& c) { return hiding(c) > 0; };
constexpr auto in_narrow_mask = [](const C& c) { // where float32 rounds
    return in_masked(c) && c.views.queries.type != ElementType::float64;
};
constexpr auto in_masks = [](const C& c) { return hiding(c) > 1; };                 // one alone has an entry of its own
constexpr auto in_placed = [](const C& c) { return in_causal(c) || in_window(c); }; // where the place of the queries counts
constexpr auto in_memory = [](const C& c) { return in_heads(c) && !in_cache(c); };  // that can be read in another order
constexpr auto in_key_memory = [](const C& c) { return c.views.sizes.H_kv > 1 && !in_cache(c); };
// With neither of the others everything hidden is padding.
constexpr auto in_padding_alone = [](const C& c) {
    return (in_lengths(c) || in_mask(c)) && (in_causal(c) || in_window(c) || in_segments(c) || in_alibi(c));
};
constexpr auto in_unsorted = [](const C& c) { return in_lengths(c) && c.views.sizes.B > 2; }; // two sorted ones may be reversed
constexpr auto in_one_head = [](const C& c) { // where NumPy divides (T, S) by (T)
    return in_square(c) && c.views.sizes.B * c.views.sizes.H == 1;
};
constexpr auto in_width = [](const C& c) { return c.views.side_by_side && in_memory(c); }; // whose last dimension is heads

/// A mistake of the table; with a knob, one of each size.
struct Row {
    std::string_view name;
    Group group;
    std::string_view what, advice;
    Change change;
    bool (*applies)(const C&);
    Index V::*sized = nullptr;
};

/// The places of query 0 where the last query stands at the last valid key.
std::vector<Index> bottom_right(const C& c)
{
    const core::AttentionDims& l = c.views.sizes;
    std::vector<Index> offsets(c.views.lengths.begin(), c.views.lengths.end());
    offsets.resize(static_cast<std::size_t>(l.B), l.total()); // where there are no lengths
    std::ranges::for_each(offsets, [&](Index& end) { end -= l.T; });
    return offsets;
}

/// 2^(-8·(h + first)/H)
std::vector<double> plain_slopes(const C& c, std::size_t first)
{
    std::vector<double> slopes = c.views.slopes;
    for (std::size_t h = 0; h < slopes.size(); ++h) {
        slopes[h] = std::exp2(-8 * static_cast<double>(h + first) / static_cast<double>(slopes.size()));
    }
    return slopes;
}

/// Changes the slopes of each batch entry, or those of all.
void change_slopes(A& a, const C& c, void (*change)(std::span<double>))
{
    const auto H = static_cast<std::size_t>(c.views.sizes.H);
    for (std::span<double> slopes = a.distance->slopes; !slopes.empty(); slopes = slopes.subspan(H)) {
        change(slopes.first(H));
    }
}

constexpr std::string_view merge_advice = "weigh each split by exp(log-sum-exp): its maximum and the log of its sum";
constexpr std::string_view order_advice = "keep the slopes in their order: those of the power of two below come first";

constexpr std::array list{
    // ---- scores
    Row{"no-scale", Group::scores, "no scale of the scores", "multiply Q·Kᵀ by the scale, 1/√d_k unless another is given",
            [](V& v) { v.scale = Scale::none; }, always},
    Row{"scale-1/d", Group::scores, "scores divided by d_k", "divide Q·Kᵀ by √d_k", [](V& v) { v.scale = Scale::size; }, always},
    Row{"scale-model", Group::scores, "scores divided by √(heads·d_k)",
            "divide by the root of the size of one head, not of the model", [](V& v) { v.scale = Scale::model; }, in_heads},
    Row{"scale-embedding", Group::scores, "scores divided by √(embedding size)",
            "divide by the root of the size of one head, not of the embeddings", [](V& v) { v.scale = Scale::embedding; },
            [](const C& c) { return c.embedding_size && *c.embedding_size != c.views.sizes.H * c.views.sizes.d_k; }},
    Row{"scale-value", Group::scores, "scores divided by √d_v",
            "divide by the root of the size of the keys, not of the values", [](V& v) { v.scale = Scale::value_size; },
            [](const C& c) { return !in_equal_sizes(c); }},
    Row{"scale-keys", Group::scores, "scores divided by √(number of keys)",
            "divide by the root of the last dimension of K, not of its transpose", [](V& v) { v.scale = Scale::keys; }, always},
    Row{"scale-twice", Group::scores, "scores scaled twice", "scale the queries or the scores, not both",
            [](V& v) { v.scale = Scale::twice; }, always},
    Row{"scale-inverse", Group::scores, "scores divided by the scale", "multiply by the scale: 1/√d_k, not √d_k",
            [](V& v) { v.scale = Scale::inverse; }, always},
    Row{"scale-usual", Group::scores, "the scale 1/√d_k in place of the one given", "pass --scale on to your program",
            [](V& v) { v.scale = Scale::usual; }, [](const C& c) { return c.options.scale.has_value(); }},
    Row{"scores-transposed", Group::scores, "K·Qᵀ in place of Q·Kᵀ", "rows of the scores are queries, columns are keys",
            [](V& v) { v.scores_transposed = true; }, in_square},
    Row{"scores-negated", Group::scores, "the softmax of the negated scores", "the largest score gets the largest weight",
            [](V& v) { v.exponent = -1; }, always},
    Row{"exp-base-2", Group::scores, "2^score in place of e^score", "multiply the scores by log2(e) before exp2",
            [](V& v) { v.exponent = 0.6931471805599453; }, always},
    Row{"log2e-twice", Group::scores, "log2(e) multiplied in twice",
            "with exp2 multiply by log2(e) once, with exp not at all", [](V& v) { v.exponent = 1.4426950408889634; }, always},
    Row{"softcap-missing", Group::scores, "no softcap", "cap the scaled scores: c·tanh(s/c)", [](V& v) { v.cap = Cap::missing; },
            in_softcap},
    Row{"softcap-before-scale", Group::scores, "the softcap before the scale", "scale first, then cap",
            [](V& v) { v.cap = Cap::before_scale; }, in_softcap},
    Row{"softcap-after-mask", Group::scores, "the softcap after the mask", "cap first, then mask: tanh makes -c of -∞",
            [](V& v) { v.cap = Cap::after_mask; }, [](const C& c) { return in_softcap(c) && in_masked(c); }},
    Row{"softcap-undivided", Group::scores, "the softcap c·tanh(s), not divided by c", "cap with c·tanh(s/c)",
            [](V& v) { v.cap = Cap::undivided; }, in_softcap},
    Row{"softcap-unmultiplied", Group::scores, "the softcap tanh(s/c), not multiplied by c", "cap with c·tanh(s/c)",
            [](V& v) { v.cap = Cap::unmultiplied; }, in_softcap},
    Row{"softcap-by-score", Group::scores, "the softcap s·tanh(s), by the score in place of c", "cap with c·tanh(s/c)",
            [](V& v) { v.cap = Cap::by_score; }, in_softcap},
    Row{"softcap-after-padding", Group::scores, "the softcap after mask or lengths, but before what else hides keys",
            "cap first, then mask: tanh makes -c of -∞", [](V& v) { v.cap = Cap::after_padding; },
            [](const C& c) { return in_softcap(c) && in_padding_alone(c); }},
    Row{"no-maximum", Group::scores, "exponentials of scores whose maximum was not subtracted",
            "subtract each row's largest score before the exponential: it overflows", [](V& v) { v.subtracted = Subtracted::nothing; },
            always},
    Row{"maximum-clamped", Group::scores, "the maximum subtracted only where it is above 0",
            "begin the running maximum with -∞, not with 0: far below 0 every exponential underflows",
            [](V& v) { v.subtracted = Subtracted::or_nothing; }, always},
    Row{"no-maximum-float16", Group::scores, "exponentials in float16 of scores whose maximum was not subtracted",
            "subtract each row's largest score before the exponential: float16 ends at 65504",
            [](V& v) { v.subtracted = Subtracted::nothing; v.exponentials = Precision::float16; },
            [](const C& c) { return c.views.queries.type == ElementType::float16; }},

    // ---- masks
    Row{"mask-missing", Group::masks, "no mask", "hide what --mask hides", [](V& v) { v.mask = MaskUse::missing; },
            in_mask},
    Row{"mask-inverted", Group::masks, "the mask inverted: true hides",
            "true means seen here and in scaled_dot_product_attention; nn.MultiheadAttention means the opposite",
            [](V& v) { v.mask = MaskUse::inverted; }, in_boolean_mask},
    Row{"mask-negated", Group::masks, "the mask subtracted", "add the numbers of the mask",
            [](V& v) { v.mask = MaskUse::negated; }, in_number_mask},
    Row{"mask-twice", Group::masks, "the mask added twice", "add the mask once", [](V& v) { v.mask = MaskUse::twice; },
            in_number_mask},
    Row{"mask-before-scale", Group::masks, "the mask added before the scale", "scale first, then add the mask",
            [](V& v) { v.mask = MaskUse::before_scale; }, in_number_mask},
    Row{"mask-transposed", Group::masks, "the mask transposed", "rows of the mask are queries, columns are keys",
            [](V& v) { v.mask = MaskUse::transposed; },
            [](const C& c) { return in_square(c) && in_mask(c) && c.views.mask->shape.back() >= c.views.sizes.total(); }},
    Row{"causal-added", Group::masks, "a causal mask where none is right", "let every query see every key, or pass --causal",
        [](V& v) { v.causal = CausalUse::added; }, [](const C& c) { return !in_causal(c); }},
    Row{"causal-added-backwards", Group::masks,
        "a causal mask backwards where none is right: a query sees itself and later keys",
        "let every query see every key; --causal hides the keys after each query, not those before it",
        [](V& v) { v.causal = CausalUse::added_backwards; }, [](const C& c) { return !in_causal(c); }},
    Row{"causal-missing", Group::masks, "no causal mask", "hide the keys after each query, or leave out --causal",
            [](V& v) { v.causal = CausalUse::missing; }, in_causal},
    Row{"causal-inverted", Group::masks, "the causal mask inverted: only later keys are seen",
            "hide the keys after each query, not the others", [](V& v) { v.causal = CausalUse::inverted; }, in_causal},
    Row{"causal-backwards", Group::masks, "the causal mask backwards: a query sees itself and later keys",
            "take the lower triangle, not the upper", [](V& v) { v.causal = CausalUse::backwards; }, in_causal},
    Row{"causal-strict", Group::masks, "a strict causal mask: a query does not see its own key",
            "keep the diagonal: j <= i + offset is seen", [](V& v) { v.shift = -1; }, in_causal},
    Row{"causal-one-more", Group::masks, "a causal mask that is off by one: a query sees the next key",
            "hide from the first key after the query on: j <= i + offset is seen", [](V& v) { v.shift = 1; }, in_causal},
    Row{"causal-top-left", Group::masks, "causal mask aligned top-left",
            "--causal-align top-left, or align your mask at keys - queries",
            Change{Slot::offsets, [](A& a, const C&) { std::ranges::fill(a.offsets, Index{0}); }},
            [](const C& c) { return in_placed(c) && c.options.align != CausalAlign::top_left; }},
    Row{"causal-bottom-right", Group::masks, "causal mask aligned bottom-right",
            "--causal-align bottom-right, or count queries and keys from the same place",
            Change{Slot::offsets, [](A& a, const C& c) { a.offsets = bottom_right(c); }},
            [](const C& c) { return in_placed(c) && c.options.align != CausalAlign::bottom_right; }},
    Row{"causal-all-keys", Group::masks, "causal mask aligned at all keys, also those beyond the length",
            "align your mask at length - queries",
            Change{Slot::offsets, [](A& a, const C& c) {
                       std::ranges::fill(a.offsets, c.views.sizes.total() - c.views.sizes.T);
                   }}, [](const C& c) { return in_placed(c) && in_lengths(c); }},
    Row{"causal-as-packed", Group::masks, "query i placed at i / (H / H_kv), as if the rows of a group were packed",
            "divide the row by the heads of a group only where their rows are packed",
            [](V& v) { v.group_packing = GroupPacking::divided; }, [](const C& c) { return in_placed(c) && in_grouped(c); }},
    Row{"window-missing", Group::masks, "no window", "hide the keys outside of --window",
            Change{Slot::window, [](A& a, const C&) { a.left.window.reset(); a.right.window.reset(); }}, in_window},
    Row{"window-left-less", Group::masks, "a window that looks back one key less",
            "--window L,R sees L keys before the query besides its own: p - L <= j",
            Change{Slot::left, [](A& a, const C&) { a.back = -1; }}, in_window_left},
    Row{"window-left-more", Group::masks, "a window that looks back one key more",
            "--window L,R sees L keys before the query besides its own: p - L <= j",
            Change{Slot::left, [](A& a, const C&) { a.back = 1; }}, in_window_left},
    Row{"window-right-less", Group::masks, "a window that looks ahead one key less",
            "--window L,R sees R keys after the query: j <= p + R",
            Change{Slot::right, [](A& a, const C&) { a.ahead = -1; }}, in_window_right},
    Row{"window-right-more", Group::masks, "a window that looks ahead one key more",
            "--window L,R sees R keys after the query: j <= p + R",
            Change{Slot::right, [](A& a, const C&) { a.ahead = 1; }}, in_window_right},
    Row{"window-left-open", Group::masks, "a window without its left side", "hide what lies before p - L, too",
            Change{Slot::left_open, [](A& a, const C&) { a.left.window->left = -1; }}, in_window_left},
    Row{"window-right-open", Group::masks, "a window without its right side", "hide what lies after p + R, too",
            Change{Slot::right_open, [](A& a, const C&) { a.right.window->right = -1; }}, in_window_right},
    Row{"window-symmetric", Group::masks, "a window that looks ahead as far as back", "--window L,R has two sides",
            Change{Slot::symmetric, [](A& a, const C&) { a.right.window->right = a.left.window->left; a.ahead = a.back; }},
            in_window_left},
    Row{"lengths-missing", Group::masks, "padding that is not masked", "hide the keys from the length on",
            Change{Slot::lengths, [](A& a, const C&) { a.length.reset(); }}, in_lengths},
    Row{"lengths-other-end", Group::masks, "padding masked at the wrong end", "hide the last keys, not the first",
            Change{Slot::lengths, [](A& a, const C&) { a.from_end = true; }}, in_lengths},
    Row{"lengths-less", Group::masks, "lengths that are one too small", "key j is seen if j < length",
            Change{Slot::length_shift, [](A& a, const C&) {
                       for (Index& length : a.length->lengths) { length = std::max<Index>(length - 1, 0); }
                   }}, in_lengths},
    Row{"lengths-more", Group::masks, "lengths that are one too large", "key j is seen if j < length",
            Change{Slot::length_shift, [](A& a, const C&) { for (Index& length : a.length->lengths) { ++length; } }},
            in_lengths},
    Row{"lengths-first", Group::masks, "the length of batch entry 0 for all", "each batch entry has its own length",
            Change{Slot::lengths, [](A& a, const C&) {
                       std::ranges::fill(a.length->lengths, Index{a.length->lengths.front()});
                   }}, in_batch_lengths},
    Row{"lengths-reversed", Group::masks, "the lengths of the batch entries in reverse order",
            "each batch entry has its own length",
            Change{Slot::lengths, [](A& a, const C&) { std::ranges::reverse(a.length->lengths); }}, in_batch_lengths},
    Row{"lengths-ascending", Group::masks, "lengths sorted upwards, but not the batch entries",
            "sort the batch entries by length, too, or neither",
            Change{Slot::lengths, [](A& a, const C&) { std::ranges::sort(a.length->lengths); }}, in_unsorted},
    Row{"lengths-descending", Group::masks, "lengths sorted downwards, but not the batch entries",
            "sort the batch entries by length, too, or neither",
            Change{Slot::lengths, [](A& a, const C&) { std::ranges::sort(a.length->lengths, std::greater()); }}, in_unsorted},
    Row{"lengths-zeros", Group::masks, "padding of zeros that is counted: keys and values from the length on",
            "hide the keys from the length on: a score of 0 has a weight", [](V& v) { v.padding_zeros = true; }, in_lengths},
    Row{"lengths-page", Group::masks, "lengths rounded up to whole pages", "hide the keys of the last page from the length on",
            nullptr, in_lengths, &V::page},
    Row{"hidden-added-1", Group::masks, "hidden keys with 1 added to their score", "add -∞ to what is hidden, not 1",
            [](V& v) { v.hidden = HiddenUse::added; v.hidden_number = 1; }, in_masked},
    Row{"hidden-added-minus-1", Group::masks, "hidden keys with 1 taken off their score (a mask added as 0 and 1)",
            "add -∞ to what is hidden, 0 to what is seen", [](V& v) { v.hidden = HiddenUse::added; v.hidden_number = -1; }, in_masked},
    Row{"hidden-added-minus-10", Group::masks, "hidden keys with 10 taken off their score",
            "add -∞ to what is hidden: -10 leaves it a weight", [](V& v) { v.hidden = HiddenUse::added; v.hidden_number = -10; },
            in_masked},
    Row{"hidden-added-minus-10000", Group::masks,
            "hidden keys with 1e4 taken off their score, in float32: seen only where all keys are hidden",
            "where all keys are hidden, give zeros: a finite number is not -∞",
            [](V& v) { v.hidden = HiddenUse::added_in_float32; v.hidden_number = -1e4; }, in_narrow_mask},
    Row{"hidden-added-minus-50000", Group::masks,
            "hidden keys with 5e4 taken off their score, in float32: seen only where all keys are hidden",
            "where all keys are hidden, give zeros: a finite number is not -∞",
            [](V& v) { v.hidden = HiddenUse::added_in_float32; v.hidden_number = -5e4; }, in_narrow_mask},
    Row{"hidden-added-0", Group::masks, "no key hidden at all", "hide keys before the softmax",
            [](V& v) { v.hidden = HiddenUse::added; v.hidden_number = 0; }, in_masks},
    Row{"hidden-set-0", Group::masks, "hidden scores set to 0 (multiplied by the mask)",
            "set hidden scores to -∞: exp(0) is 1", [](V& v) { v.hidden = HiddenUse::set; v.hidden_number = 0; }, in_masked},
    Row{"hidden-set-minus-1", Group::masks, "hidden scores set to -1", "set hidden scores to -∞",
            [](V& v) { v.hidden = HiddenUse::set; v.hidden_number = -1; }, in_masked},
    Row{"hidden-set-minus-10", Group::masks, "hidden scores set to -10", "set hidden scores to -∞: -10 leaves a weight",
            [](V& v) { v.hidden = HiddenUse::set; v.hidden_number = -10; }, in_masked},
    Row{"mask-after-softmax", Group::masks, "the mask applied after the softmax, without renormalising",
            "mask before the softmax, or divide by the sum of what is seen", [](V& v) { v.hidden = HiddenUse::after_softmax; },
            in_masked},
    Row{"empty-rows-nan", Group::masks, "NaN for queries that see no key", "give zeros, or pass --empty-rows nan",
            [](V& v) { v.empty = EmptyRow::nan; }, in_masked},
    Row{"empty-rows-uniform", Group::masks, "the mean of all values for queries that see no key (a mask of -1e9, or"
            " their scores set to -5e4)",
            "where all keys are hidden, give zeros: a large finite number is not -∞", [](V& v) { v.empty = EmptyRow::uniform; },
            in_masked},
    Row{"empty-rows-unmasked", Group::masks, "no mask for queries that see no key (one finite number added to every score)",
            "where all keys are hidden, give zeros: a finite number is not -∞", [](V& v) { v.empty = EmptyRow::unmasked; }, in_masked},

    // ---- heads
    Row{"heads-interleaved", Group::heads, "key/value heads interleaved (h mod H_kv)",
            "repeat each in place: query head h reads key/value head h / (H / H_kv)", [](V& v) { v.key_head = v.value_head = KeyHead::interleaved; },
            in_key_heads},
    Row{"heads-interleaved-keys", Group::heads, "key heads interleaved (h mod H_kv), but not the value heads",
            "repeat each in place: query head h reads key/value head h / (H / H_kv)",
            [](V& v) { v.key_head = KeyHead::interleaved; }, in_key_heads},
    Row{"heads-interleaved-values", Group::heads, "value heads interleaved (h mod H_kv), but not the key heads",
            "repeat each in place: query head h reads key/value head h / (H / H_kv)",
            [](V& v) { v.value_head = KeyHead::interleaved; }, in_key_heads},
    Row{"heads-first", Group::heads, "the first key/value head for all", "query head h reads key/value head h / (H / H_kv)",
            [](V& v) { v.key_head = v.value_head = KeyHead::first; }, [](const C& c) { return c.views.sizes.H_kv > 1; }},
    Row{"heads-as-positions", Group::heads, "heads taken for positions: (B, H, T, d) read as (B, T, H, d)",
            "attention runs over positions, within each head", [](V& v) { v.along = Along::heads; },
            [](const C& c) { return in_square(c) && in_heads(c) && !in_grouped(c); }},
    Row{"batch-as-positions", Group::heads, "batch entries taken for positions (batch_first forgotten)",
            "pass batch_first=True, or (T, B, d): attention runs over positions, within each batch entry",
            [](V& v) { v.along = Along::batch; }, in_square},
    Row{"batch-first-entry", Group::heads, "queries, keys and values of batch entry 0 for all",
            "move on to each batch entry: add entry·stride to all three", [](V& v) { v.entry = EntryUse::first; }, in_batch},
    Row{"batch-first-keys", Group::heads, "keys and values of batch entry 0 for all",
            "move on to each batch entry: add entry·stride to keys and values, too", [](V& v) { v.entry = EntryUse::first_keys; },
            in_batch},
    Row{"heads-viewed-in", Group::heads, "heads and positions of the inputs swapped by a view", "transpose, do not reshape",
            [](V& v) { v.read = Reading::swapped; }, in_memory},
    Row{"heads-viewed-out", Group::heads, "heads and positions of the result swapped by a view",
            "transpose the result before it is reshaped", [](V& v) { v.written = Reading::swapped; }, in_heads},
    Row{"heads-viewed", Group::heads, "heads and positions swapped by a view, on the way in and out",
            "transpose, do not reshape", [](V& v) { v.read = Reading::swapped; v.written = Reading::swapped; }, in_memory},
    Row{"heads-viewed-keys", Group::heads, "heads and positions of the keys swapped by a view, but not of queries and values",
            "transpose, do not reshape", [](V& v) { v.read = Reading::swapped; v.read_of = ReadOf::keys; }, in_key_memory},
    Row{"heads-viewed-values", Group::heads, "heads and positions of the values swapped by a view, but not of queries and keys",
            "transpose, do not reshape", [](V& v) { v.read = Reading::swapped; v.read_of = ReadOf::values; }, in_key_memory},
    Row{"heads-strided-in", Group::heads, "the last dimension of the inputs split as (d, H)", "split it as (H, d)",
            [](V& v) { v.read = Reading::strided; }, in_width},
    Row{"heads-strided-scores", Group::heads, "the last dimension of queries and keys split as (d, H), but not of values",
            "split it as (H, d)", [](V& v) { v.read = Reading::strided; v.read_of = ReadOf::queries_and_keys; }, in_width},
    Row{"heads-strided-values", Group::heads, "the last dimension of values split as (d, H), but not of queries and keys",
            "split it as (H, d)", [](V& v) { v.read = Reading::strided; v.read_of = ReadOf::values; }, in_width},
    Row{"heads-strided-out", Group::heads, "the heads of the result interleaved in the last dimension",
            "put the heads side by side: (H, d)", [](V& v) { v.written = Reading::strided; },
            [](const C& c) { return c.views.side_by_side && in_heads(c); }},
    Row{"heads-strided", Group::heads, "the last dimension split as (d, H), on the way in and out", "split it as (H, d)",
            [](V& v) { v.read = Reading::strided; v.written = Reading::strided; }, in_width},
    Row{"heads-reversed", Group::heads, "the heads of the result in reverse order", "put the heads in their order",
            [](V& v) { v.heads_reversed = true; }, in_heads},
    Row{"heads-mean", Group::heads, "the mean of the heads", "keep every head's result", [](V& v) { v.mean_of_heads = true; },
            in_heads},
    Row{"one-head", Group::heads, "one head of the whole width", "split queries and keys into heads before Q·Kᵀ",
            [](V& v) { v.one_head = true; }, [](const C& c) { return in_heads(c) && !in_grouped(c); }},

    // ---- softmax
    Row{"softmax-over-queries", Group::softmax, "softmax over the queries", "softmax over the keys, the last dimension",
            [](V& v) { v.over = Over::queries; }, always},
    Row{"softmax-over-heads", Group::softmax, "softmax over the heads", "softmax over the keys, the last dimension",
            [](V& v) { v.over = Over::heads; }, always},
    Row{"softmax-over-matrix", Group::softmax, "softmax over all scores of a head at once",
            "softmax over the keys, row by row", [](V& v) { v.over = Over::matrix; }, always},
    Row{"softmax-over-all", Group::softmax, "softmax over all scores of all heads at once",
            "softmax over the keys, row by row", [](V& v) { v.over = Over::all; },
            [](const C& c) { return c.views.sizes.B * c.views.sizes.H > 1; }},
    Row{"softmax-no-keepdims", Group::softmax, "exponentials divided by the sums of other rows (no keepdims)",
            "sum with keepdims=True, so that each row is divided by its own sum", [](V& v) { v.over = Over::key_rows; }, in_one_head},
    Row{"softmax-sum-no-keepdims", Group::softmax,
            "exponentials, whose maximum was subtracted, divided by the sums of other rows (no keepdims)",
            "sum with keepdims=True, so that each row is divided by its own sum", [](V& v) { v.over = Over::key_sums; }, in_one_head},
    Row{"softmax-one-more", Group::softmax, "1 more in the sum of the exponentials", "start the sum from 0",
            [](V& v) { v.more = More::one; }, always},
    Row{"softmax-zero-key", Group::softmax, "one more key, of score 0, in the sum of the exponentials (softmax1)",
            "divide by the sum over the keys alone", [](V& v) { v.more = More::zero_key; }, always},
    Row{"softmax-missing", Group::softmax, "no softmax", "softmax over the keys makes weights of scores",
            [](V& v) { v.weighting = Weighting::none; }, always},
    Row{"softmax-undivided", Group::softmax, "exponentials that are not divided by their sum",
            "divide by the sum of the row", [](V& v) { v.weighting = Weighting::undivided; }, always},
    Row{"softmax-unshifted", Group::softmax, "plain exponentials, not divided by their sum", "divide by the sum of the row",
            [](V& v) { v.weighting = Weighting::unshifted; }, always},
    Row{"softmax-proportional", Group::softmax, "scores divided by their sum, without exponentials",
            "exponentiate first: exp(score), divided by the row's sum of them",
            [](V& v) { v.weighting = Weighting::proportional; }, always},
    Row{"softmax-twice", Group::softmax, "the softmax taken twice", "take the softmax once",
            [](V& v) { v.weighting = Weighting::twice; }, always},
    Row{"softmax-largest", Group::softmax, "the value of the largest score alone", "sum the values by their weights",
            [](V& v) { v.weighting = Weighting::largest; }, always},
    Row{"softmax-uniform", Group::softmax, "the plain mean of the values", "weigh the values by the softmax of the scores",
            [](V& v) { v.weighting = Weighting::uniform; }, always},
    Row{"own-value", Group::softmax, "each query's own value: the weights are the identity",
            "sum the values over the keys: weights and values share the index of the key",
            [](V& v) { v.weighting = Weighting::own; }, in_square},
    Row{"weights-transposed", Group::softmax, "transposed weights", "multiply weights·V, not weightsᵀ·V",
            [](V& v) { v.weights_transposed = true; }, in_square},
    Row{"weights-times-keys", Group::softmax, "weights·K in place of weights·V", "multiply the weights by the values",
            [](V& v) { v.summed = Summed::keys; }, in_equal_sizes},
    Row{"weights-times-queries", Group::softmax, "weights·Q in place of weights·V", "multiply the weights by the values",
            [](V& v) { v.summed = Summed::queries; }, [](const C& c) { return in_equal_sizes(c) && in_square(c); }},
    Row{"scores-of-values", Group::softmax, "Q·Vᵀ in place of Q·Kᵀ", "multiply the queries by the keys",
            [](V& v) { v.scores_of_values = true; }, in_equal_sizes},
    Row{"keys-values-swapped", Group::softmax, "keys and values swapped", "the order is queries, keys, values",
            [](V& v) { v.scores_of_values = true; v.summed = Summed::keys; }, in_equal_sizes},

    Row{"residual", Group::softmax, "the embeddings added to the result (a residual connection)",
            "leave the result of attention as it is: x + attention(x) is the next step of a block",
            [](V& v) { v.residual = true; }, [](const C& c) { return c.residual.has_value(); }},

    // ---- precision
    Row{"inputs-bfloat16", Group::precision, "inputs rounded to bfloat16", "keep queries, keys and values as they are",
            [](V& v) { v.inputs = Precision::bfloat16; }, always},
    Row{"inputs-float16", Group::precision, "inputs rounded to float16", "keep queries, keys and values as they are",
            [](V& v) { v.inputs = Precision::float16; }, always},
    Row{"inputs-tf32", Group::precision, "inputs rounded to tf32",
            "turn tf32 off: torch.backends.cuda.matmul.allow_tf32 = False", [](V& v) { v.inputs = Precision::tf32; }, always},
    Row{"inputs-float32", Group::precision, "inputs rounded to float32", "compute in float64",

            [](V& v) { v.inputs = Precision::float32; },
            [](const C& c) { return c.views.queries.type == ElementType::float64; }},
    Row{"scores-bfloat16", Group::precision, "scores rounded to bfloat16", "keep Q·Kᵀ in float32",
            [](V& v) { v.scores = Precision::bfloat16; }, always},
    Row{"scores-float16", Group::precision, "scores rounded to float16", "keep Q·Kᵀ in float32",
            [](V& v) { v.scores = Precision::float16; }, always},
    Row{"softmax-bfloat16", Group::precision, "the softmax in bfloat16",
            "compute the softmax in float32, or pass --softmax-dtype bfloat16", [](V& v) { v.softmax = Precision::bfloat16; },
            always},
    Row{"softmax-float16", Group::precision, "the softmax in float16",
            "compute the softmax in float32, or pass --softmax-dtype float16", [](V& v) { v.softmax = Precision::float16; }, always},
    Row{"softmax-steps-bfloat16", Group::precision, "each step of the softmax in bfloat16",
            "compute the softmax in float32, and round its result", [](V& v) { v.steps = Precision::bfloat16; }, always},
    Row{"softmax-steps-float16", Group::precision, "each step of the softmax in float16",
            "compute the softmax in float32, and round its result", [](V& v) { v.steps = Precision::float16; }, always},
    Row{"exponentials-bfloat16", Group::precision, "exponentials rounded to bfloat16 before they meet the values",
            "keep the exponentials in float32", [](V& v) { v.exponentials = Precision::bfloat16; }, always},
    Row{"exponentials-float16", Group::precision, "exponentials rounded to float16 before they meet the values",
            "keep the exponentials in float32", [](V& v) { v.exponentials = Precision::float16; }, always},
    Row{"weights-bfloat16", Group::precision, "weights rounded to bfloat16", "keep the weights in float32",
            [](V& v) { v.weights = Precision::bfloat16; }, always},
    Row{"weights-float16", Group::precision, "weights rounded to float16", "keep the weights in float32",
            [](V& v) { v.weights = Precision::float16; }, always},
    Row{"products-tf32", Group::precision, "both products in tf32",
            "turn tf32 off: torch.backends.cuda.matmul.allow_tf32 = False",
            [](V& v) { v.inputs = Precision::tf32; v.weights = Precision::tf32; }, always},
    Row{"accumulator-bfloat16", Group::precision, "weights·V summed in bfloat16", "sum in float32",
            [](V& v) { v.accumulator = Precision::bfloat16; }, always},
    Row{"accumulator-float16", Group::precision, "weights·V summed in float16", "sum in float32",
            [](V& v) { v.accumulator = Precision::float16; }, always},
    Row{"result-bfloat16", Group::precision, "the result rounded to bfloat16",
            "store the result in the type of the queries", [](V& v) { v.result = Precision::bfloat16; }, always},
    Row{"result-float16", Group::precision, "the result rounded to float16", "store the result in the type of the queries",
            [](V& v) { v.result = Precision::float16; }, always},
    Row{"denormals-flushed", Group::precision, "denormal numbers flushed to zero",
            "leave the modes that flush denormals (FTZ, DAZ) off", [](V& v) { v.denormals_flushed = true; }, always},

    // ---- sinks and segments
    Row{"sink-missing", Group::softmax, "no sink: weights that sum to 1", "add exp(sink - maximum) to each row's sum",
            [](V& v) { v.sink = SinkUse::missing; }, in_sinks},
    Row{"sink-unshifted", Group::softmax, "exp(sink) in the sum, without the maximum subtracted",
            "subtract the row's maximum from the sink, too", [](V& v) { v.sink = SinkUse::unshifted; }, in_sinks},
    Row{"sink-after-softmax", Group::softmax, "the sink added after the softmax",
            "add exp(sink - maximum) to the sum of the exponentials, before it divides",
            [](V& v) { v.sink = SinkUse::after_softmax; }, in_sinks},
    Row{"sink-scaled", Group::softmax, "the sink multiplied by the scale", "a sink is a final score: it is not scaled",
            [](V& v) { v.sink = SinkUse::scaled; }, in_sinks},
    Row{"sink-first", Group::softmax, "the sink of head 0 for all", "each query head has its own sink",
            [](V& v) { v.sink = SinkUse::first; }, in_sink_heads},
    Row{"lse-base-2", Group::softmax, "lse in base 2: log2 of the sum", "multiply it by ln 2: lse is ln Σ exp(score)",
            [](V& v) { v.lse = LseUse::base_2; }, always},
    Row{"lse-no-maximum", Group::softmax, "lse without its maximum: the log of the sum alone",
            "add the largest score of the row, which was subtracted before the exponentials",
            [](V& v) { v.lse = LseUse::without_maximum; }, always},
    Row{"lse-no-sink", Group::softmax, "lse without the sink", "the sink is one more exponential in the sum, also in that of lse",
            [](V& v) { v.lse = LseUse::without_sink; }, in_sinks},
    Row{"sink-reversed", Group::softmax, "the sinks of the heads in reverse order", "each query head has its own sink",
            [](V& v) { v.sink = SinkUse::reversed; }, in_sink_heads},
    Row{"sink-of-row", Group::softmax, "the sink of head (row of the scores) mod H",
            "each query head has its own sink: divide the row by the number of queries first",
            [](V& v) { v.sink = SinkUse::of_row; }, in_sink_heads},
    Row{"sink-of-key-head", Group::softmax, "the sink of head h / (H / H_kv): sinks repeated as keys and values are",
            "each query head has its own sink", [](V& v) { v.sink = SinkUse::of_key_head; },
            [](const C& c) { return in_sinks(c) && in_key_heads(c); }},
    Row{"sink-per-part", Group::softmax, "a sink in the sum of each part of the keys", "add exp(sink - maximum) once, to the sum of all parts",
            nullptr, in_sinks, &V::sink_parts},
    Row{"segments-missing", Group::masks, "segments that see each other", "hide the keys of other segments",
            Change{Slot::segments, [](A& a, const C&) { a.segment.reset(); }}, in_segments},
    Row{"segments-late", Group::masks, "segments that begin one position late", "a segment begins at its first position",
            Change{Slot::segments, [](A& a, const C& c) { a.segment->segments = moved(*c.views.segments, 1, c.views.sizes); }},
            in_segments},
    Row{"segments-early", Group::masks, "segments that begin one position early", "a segment begins at its first position",
            Change{Slot::segments, [](A& a, const C& c) { a.segment->segments = moved(*c.views.segments, -1, c.views.sizes); }},
            in_segments},
    Row{"segments-top-left", Group::masks, "the segment of key i for query i, not that of the key at its place",
            "a query is of the segment of key p = i + offset", Change{Slot::segments, [](A& a, const C&) { a.segment->offsets.clear(); }},
            in_moved_segments},
    Row{"segments-first", Group::masks, "the segments of batch entry 0 for all", "each batch entry has its own segments",
            Change{Slot::segments, [](A& a, const C& c) { a.segment->segments = of_first_entry(*c.views.segments, c.views.sizes); }},
            in_batch_segments},

    // ---- packed sequences
    Row{"sequences-missing", Group::masks, "sequences that see each other: no boundaries",
            "let a query see keys from cu_seqlens[n] up to cu_seqlens[n + 1], those of its own sequence",
            [](V& v) { v.packing = Packing::missing; }, in_packed},
    Row{"sequences-late", Group::masks, "sequences that begin one position late", "sequence n begins at cu_seqlens[n]",
            [](V& v) { v.packing = Packing::late; }, in_packed},
    Row{"sequences-early", Group::masks, "sequences that begin one position early", "sequence n begins at cu_seqlens[n]",
            [](V& v) { v.packing = Packing::early; }, in_packed},
    Row{"sequences-of-queries", Group::masks, "the boundaries of the queries for keys and values, too",
            "keys and values have boundaries of their own: --cu-seqlens-k", [](V& v) { v.packing = Packing::of_queries; },
            [](const C& c) { return in_packed(c) && c.sequences->queries != c.sequences->keys; }},
    Row{"sequences-first-keys", Group::masks, "every sequence with the first keys and values of all",
            "move on to each sequence: add cu_seqlens[n] rows to keys and values, too",
            [](V& v) { v.packing = Packing::first_keys; }, in_packed},

    // ---- positions
    Row{"alibi-missing", Group::positions, "no ALiBi", "subtract slope·distance from the scaled scores",
            Change{Slot::distances, [](A& a, const C&) { a.distance.reset(); }}, in_alibi},
    Row{"alibi-negated", Group::positions, "ALiBi added: far keys gain", "subtract slope·distance from the scaled scores",
            Change{Slot::distances, [](A& a, const C&) { for (double& slope : a.distance->slopes) { slope = -slope; } }},
            in_alibi},
    Row{"alibi-descending", Group::positions, "ALiBi with slopes sorted downwards", order_advice,
            Change{Slot::distances, [](A& a, const C& c) { change_slopes(a, c, [](std::span<double> own) { std::ranges::sort(own, std::greater()); }); }}, in_unsorted_alibi},
    Row{"alibi-ascending", Group::positions, "ALiBi with slopes sorted upwards", order_advice,
            Change{Slot::distances, [](A& a, const C& c) { change_slopes(a, c, [](std::span<double> own) { std::ranges::sort(own); }); }}, in_unsorted_alibi},
    Row{"alibi-before-scale", Group::positions, "ALiBi before the scale", "scale first, then subtract slope·distance",
            Change{Slot::distances, [](A& a, const C&) { a.before_scale = true; }}, in_alibi},
    Row{"alibi-top-left", Group::positions, "ALiBi counted from query 0, not from its key",
            "the distance is that of key p = i + offset from key j",
            Change{Slot::distances, [](A& a, const C&) { a.distance->offsets.clear(); }}, in_moved_alibi},
    Row{"alibi-one-sided", Group::positions, "ALiBi with a sign: later keys gain", "take the distance without its sign",
            Change{Slot::distances, [](A& a, const C&) { a.one_sided = true; }},
            [](const C& c) { return in_alibi(c) && !in_causal(c); }},
    Row{"alibi-first-slope", Group::positions, "ALiBi with the slope of head 0 for all", "each head has its own slope",
            Change{Slot::distances, [](A& a, const C& c) {
                       change_slopes(a, c, [](std::span<double> own) { std::ranges::fill(own, double{own.front()}); });
                   }}, in_alibi_heads},
    Row{"alibi-first-entry", Group::positions, "ALiBi with the slopes of batch entry 0 for all",
            "each batch entry has its own slopes",
            Change{Slot::distances, [](A& a, const C& c) {
                       a.distance->slopes.resize(static_cast<std::size_t>(c.views.sizes.H));
                   }}, in_batch_alibi},
    Row{"alibi-reversed", Group::positions, "ALiBi with the slopes of the heads in reverse order",
            "slope h is that of query head h",
            Change{Slot::distances, [](A& a, const C& c) {
                       change_slopes(a, c, [](std::span<double> own) { std::ranges::reverse(own); });
                   }}, in_alibi_heads},
    Row{"alibi-slopes-late", Group::positions, "ALiBi with slopes that begin with 1", "begin with 2^(-8/heads)",
            Change{Slot::distances, [](A& a, const C& c) { a.distance->slopes = plain_slopes(c, 0); }}, in_paper_alibi},
    Row{"alibi-slopes-plain", Group::positions, "ALiBi with the slopes 2^(-8·h/heads) for heads that are no power of two",
            "take the slopes of the power of two below, then every other one of the next",
            Change{Slot::distances, [](A& a, const C& c) { a.distance->slopes = plain_slopes(c, 1); }},
            [](const C& c) { return in_paper_alibi(c) && (c.views.sizes.H & (c.views.sizes.H - 1)) != 0; }},
    Row{"causal-at-cache", Group::positions, "queries placed behind the cache alone",
            "--causal-align offset, or align your mask at keys - queries",
            Change{Slot::offsets, [](A& a, const C& c) { std::ranges::fill(a.offsets, Index{c.views.sizes.P}); }},
            [](const C& c) { return in_placed(c) && in_cache(c); }},
    Row{"cache-missing", Group::positions, "no cache", "put the cached keys and values before the new ones",
            [](V& v) { v.cache_missing = true; }, in_cache},
    Row{"cache-last", Group::positions, "the cache after the new keys",
            "put the cached keys and values before the new ones", [](V& v) { v.cache_last = true; },
            [](const C& c) { return in_masked(c) && in_cache(c); }},

    // ---- tiles
    Row{"tile-accumulator", Group::tiles, "an accumulator that is not rescaled when the maximum grows",
        "multiply the accumulator by exp(old maximum - new maximum)",
        [](V& v) { v.numerator = Maximum::running; }, always, &V::tile},
    Row{"tile-sum", Group::tiles, "a sum that is not rescaled when the maximum grows",
        "multiply the sum by exp(old maximum - new maximum)", [](V& v) { v.denominator = Maximum::running; }, always, &V::tile},
    Row{"tile-no-rescale", Group::tiles, "neither accumulator nor sum rescaled when the maximum grows",
        "multiply both by exp(old maximum - new maximum)",
        [](V& v) {
            v.numerator = Maximum::running;
            v.denominator = Maximum::running;
        },
        always, &V::tile},
    Row{"tile-own-maximum", Group::tiles, "each tile's own maximum subtracted",
        "keep the largest score of all tiles so far, and rescale what was summed",
        [](V& v) {
            v.numerator = Maximum::tile;
            v.denominator = Maximum::tile;
        },
        always, &V::tile},
    Row{"tile-correction-swapped", Group::tiles, "accumulator and sum corrected by exp(new maximum - old maximum)",
        "multiply both by exp(old maximum - new maximum)",
        [](V& v) {
            v.numerator = Maximum::swapped;
            v.denominator = Maximum::swapped;
        },
        always, &V::tile},
    Row{"tile-last-dropped", Group::tiles, "the last tile of keys left out", "round the number of tiles up",
        [](V& v) { v.last_tile = LastTile::dropped; }, always, &V::tile},
    Row{"tile-padding-counted", Group::tiles, "padded keys of the last tile counted in the sum",
        "mask the keys from the number of keys on", [](V& v) { v.last_tile = LastTile::padded; }, always, &V::tile},
    Row{"tile-padding-capped", Group::tiles, "padded keys of the last tile counted with the score -c",
        "cap first, then mask from the number of keys on: tanh makes -c of -∞",
        [](V& v) { v.last_tile = LastTile::capped; }, in_softcap, &V::tile},
    Row{"tile-values-first", Group::tiles, "the values of the first tile of keys in every tile",
        "move the values on to the next tile with the keys", [](V& v) { v.first_values = true; }, always, &V::tile},
    Row{"tile-group-crossed", Group::tiles, "rows of packed groups placed from the start of their tile, which lies within a group",
        "divide each row by the heads of a group, not the first row of its tile and the rest",
        [](V& v) { v.group_packing = GroupPacking::from_tile; }, [](const C& c) { return in_placed(c) && in_uneven_groups(c); }, &V::tile},
    Row{"tile-last-slid", Group::tiles, "the last tile of keys moved back over the tile before, whose keys count twice",
        "mask the keys that the tile before has counted", [](V& v) { v.last_tile = LastTile::slid; }, always, &V::tile},
    Row{"tile-merged-by-maximum", Group::tiles, "splits of the keys merged by exp(maximum)", merge_advice,
        [](V& v) { v.merged_by_maximum = true; }, always, &V::tile},
    Row{"tile-diagonal-seen", Group::tiles, "no causal mask within the tile of the diagonal",
        "mask within the tiles that the diagonal crosses",
        [](V& v) { v.causal = CausalUse::diagonal_tile_seen; }, in_causal, &V::tile},
    Row{"tile-diagonal-dropped", Group::tiles, "the tile of the diagonal left out",
        "go on up to the tile that the diagonal crosses",
        [](V& v) { v.causal = CausalUse::diagonal_tile_dropped; }, in_causal, &V::tile},
    Row{"tile-diagonal-cut", Group::tiles, "only the tiles of keys that the first query of a tile needs",
        "go on up to the tile that the last query of the tile needs: round their number up",
        [](V& v) { v.causal = CausalUse::end_of_first_row; }, in_causal, &V::tile},
    Row{"tile-diagonal-once", Group::tiles, "the causal mask only on the last tile of keys that the first query of a tile needs",
        "mask each tile of keys that ends behind the first query of the tile",
        [](V& v) { v.causal = CausalUse::diagonal_once; }, in_causal, &V::tile},
    Row{"tile-causal-restarted", Group::tiles, "a causal mask that counts from 0 in each tile of queries",
        "add the tile's first query: j <= i + offset is seen",
        [](V& v) { v.causal = CausalUse::restarted; }, in_causal, &V::tile},
    Row{"tile-rows-dropped", Group::tiles, "the queries of the last partial tile left out", "round the number of tiles up",
        nullptr, always, &V::row_tile},
    Row{"scores-lanes", Group::tiles, "the rest of d_k left out of Q·Kᵀ", "sum what is behind the last whole vector, too",
        nullptr, always, &V::lanes},
    Row{"values-lanes", Group::tiles, "zeros in the rest of d_v", "compute what is behind the last whole vector, too",
        nullptr, always, &V::value_lanes},
    Row{"parts-averaged", Group::tiles, "the results of parts of the keys averaged",
        "weigh each part by the sum of its exponentials, rescaled to one maximum", nullptr, always, &V::parts},
    Row{"parts-merged-by-maximum", Group::tiles, "splits of the keys merged by exp(maximum)", merge_advice,
        [](V& v) { v.merged_by_maximum = true; }, always, &V::parts},
};

/// Whether vectors so wide leave out numbers.
bool lanes_count(Index lanes, Index numbers)
{
    return lanes < numbers && numbers % lanes != 0;
}

/// Whether pages of this size make lengths longer, not all of them as long as there are keys, and not as smaller pages do.
bool pages_count(Index page, const Call& call)
{
    const Index keys = call.views.sizes.total();
    const auto rounded = [&](Index to) {
        std::vector<Index> lengths = call.views.lengths;
        std::ranges::for_each(lengths, [&](Index& length) { length = std::min((length + to - 1) / to * to, keys); });
        return lengths;
    };
    const std::vector<Index> lengths = rounded(page);
    const auto same = [&](Index smaller) { return smaller < page && rounded(smaller) == lengths; };
    return lengths != call.views.lengths && std::ranges::any_of(lengths, [&](Index length) { return length < keys; }) &&
           std::ranges::none_of(tile_sizes, same);
}

/// Whether tiles of this size do anything here; keys in one tile alone have nothing to rescale.
bool tiles_count(const Mistake& mistake, const Call& call)
{
    const Variant v = mistake.on({});
    const core::AttentionDims& l = call.views.sizes;
    if (mistake.group == Group::gradients) {
        return (v.backward.over_keys != nullptr ? l.total() : l.T) > mistake.size;
    }
    const std::vector<Index> all{l.total()};
    const std::vector<Index>& lengths = call.views.lengths.empty() ? all : call.views.lengths;
    const auto count = [&](Index keys) {
        const bool several = keys > mistake.size;
        const bool full = keys % mistake.size == 0;
        const bool pads = v.last_tile == LastTile::padded || v.last_tile == LastTile::capped;
        return pads ? !full : several && !(v.last_tile == LastTile::slid && full);
    };
    return v.causal == CausalUse::restarted             ? l.T > mistake.size
           : v.group_packing == GroupPacking::from_tile ? l.T * (l.H / l.H_kv) > mistake.size
                                                        : std::ranges::any_of(lengths, count);
}

/// What is tried with a knob: "tiles of 16".
struct Sizes {
    Index V::*knob;
    std::string_view how;
    std::span<const Index> sizes;
};
constexpr std::array all_sizes{
    Sizes{&V::tile, "tiles of {}", tile_sizes},     Sizes{&V::row_tile, "tiles of {}", tile_sizes},
    Sizes{&V::lanes, "vectors of {}", lane_counts}, Sizes{&V::value_lanes, "vectors of {}", lane_counts},
    Sizes{&V::parts, "{} parts", part_counts},      Sizes{&V::sink_parts, "{} parts", part_counts},
    Sizes{&V::page, "pages of {}", tile_sizes},
};

std::vector<Mistake> all_mistakes()
{
    std::vector<Mistake> all;
    for (const Row& row : list) {
        const Index threads = threads_of(row.name);
        if (row.sized == nullptr) {
            all.push_back(
                {{std::string(row.name), row.group, std::string(row.what), row.advice, threads}, row.change, row.applies});
            continue;
        }
        const Sizes& of = *std::ranges::find(all_sizes, row.sized, &Sizes::knob);
        for (const Index size : of.sizes) {
            const std::string what = fmt::format("{} ({})", row.what, fmt::format(fmt::runtime(of.how), size));
            all.push_back({{fmt::format("{}-{}", row.name, size), row.group, what, row.advice, threads},
                           row.change,
                           row.applies,
                           row.sized,
                           size});
        }
    }
    std::ranges::stable_sort(all, {}, &Mistake::group);
    return all;
}

} // namespace

std::span<const Mistake> mistakes()
{
    static const std::vector<Mistake> all = all_mistakes();
    return all;
}

bool size_counts(const Mistake& mistake, const Call& call)
{
    if (call.sequences) {
        const Pieces pieces(call, Packing::right);
        return std::ranges::any_of(pieces.all(), [&](const CallPiece& piece) { return size_counts(mistake, piece.call); });
    }
    const core::AttentionDims& l = call.views.sizes;
    return mistake.sized == nullptr                 ? true
           : mistake.sized == &Variant::row_tile    ? l.T % mistake.size != 0
           : mistake.sized == &Variant::lanes       ? lanes_count(mistake.size, l.d_k)
           : mistake.sized == &Variant::value_lanes ? lanes_count(mistake.size, l.d_v)
           : mistake.sized == &Variant::parts       ? mistake.size <= l.total()
           : mistake.sized == &Variant::sink_parts  ? true
           : mistake.sized == &Variant::page        ? pages_count(mistake.size, call)
                                                    : tiles_count(mistake, call);
}

std::vector<const Mistake*> mistakes_in(const Call& call)
{
    std::vector<const Mistake*> found;
    for (const Mistake& mistake : mistakes()) {
        if (mistake.applies(call) && size_counts(mistake, call)) {
            found.push_back(&mistake);
        }
    }
    return found;
}

} // namespace attn::model::diagnose
