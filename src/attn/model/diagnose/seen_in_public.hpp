// How often a mistake was what made numbers wrong in public: counts of threads, which order the blind spots of a test.
//
// They follow from tests/oracle/seen_in_public.tsv, which names each thread, and says what was wrong in it. A thread, an issue
// or a pull request, counts where its text says that this mistake made the numbers wrong, of kernels as of models and
// tutorials: not a wish, a guess or a crash; a wrong gradient counts for a mistake of the backward alone. It counts once for
// each mistake; an issue and what fixes it are one thread. The threads are those that some 200 searches showed, each by an
// excerpt: a count is a lower bound, and 0 says little.
#pragma once

#include "attn/tensor/shape.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace attn::model::diagnose {

struct SeenInPublic {
    std::string_view mistake; ///< of those with a size, without it: "tile-diagonal-cut"
    Index threads = 0;
};

/// By name. Mistakes that are not here were seen in none.
inline constexpr std::array seen_in_public{
    SeenInPublic{"accumulator-float16", 1},
    SeenInPublic{"alibi-missing", 1},
    SeenInPublic{"alibi-negated", 1},
    SeenInPublic{"alibi-slopes-late", 1},
    SeenInPublic{"alibi-slopes-plain", 1},
    SeenInPublic{"backward-causal-top-left", 1},
    SeenInPublic{"backward-lse-no-sink", 1},
    SeenInPublic{"batch-as-positions", 3},
    SeenInPublic{"causal-added", 3},
    SeenInPublic{"causal-bottom-right", 2},
    SeenInPublic{"causal-inverted", 1},
    SeenInPublic{"causal-missing", 16},
    SeenInPublic{"causal-strict", 1},
    SeenInPublic{"causal-top-left", 12},
    SeenInPublic{"context-bfloat16", 1},
    SeenInPublic{"dlse-ignored", 1},
    SeenInPublic{"dmask-last", 1},
    SeenInPublic{"dsinks-missing", 2},
    SeenInPublic{"dweights-d-k", 1},
    SeenInPublic{"empty-rows-nan", 6},
    SeenInPublic{"empty-rows-nan-weights", 1},
    SeenInPublic{"empty-rows-uniform", 2},
    SeenInPublic{"heads-as-positions", 4},
    SeenInPublic{"heads-first", 1},
    SeenInPublic{"heads-interleaved", 3},
    SeenInPublic{"heads-viewed-in", 1},
    SeenInPublic{"heads-viewed-out", 5},
    SeenInPublic{"hidden-added-minus-1", 1},
    SeenInPublic{"hidden-added-minus-10000", 2},
    SeenInPublic{"hidden-added-minus-50000", 1},
    SeenInPublic{"hidden-set-0", 5},
    SeenInPublic{"lengths-missing", 11},
    SeenInPublic{"lengths-page", 1},
    SeenInPublic{"lse-base-2", 6},
    SeenInPublic{"mask-after-softmax", 3},
    SeenInPublic{"mask-before-scale", 1},
    SeenInPublic{"mask-inverted", 4},
    SeenInPublic{"mask-missing", 3},
    SeenInPublic{"mask-transposed", 2},
    SeenInPublic{"maximum-clamped", 1},
    SeenInPublic{"no-maximum", 4},
    SeenInPublic{"no-scale", 6},
    SeenInPublic{"one-head", 1},
    SeenInPublic{"products-tf32", 2},
    SeenInPublic{"scale-inverse", 3},
    SeenInPublic{"scale-model", 12},
    SeenInPublic{"scale-twice", 1},
    SeenInPublic{"scale-usual", 4},
    SeenInPublic{"scores-float16", 6},
    SeenInPublic{"scores-lanes", 1},
    SeenInPublic{"segments-missing", 3},
    SeenInPublic{"sequences-missing", 1},
    SeenInPublic{"sink-missing", 9},
    SeenInPublic{"sink-of-row", 1},
    SeenInPublic{"sink-per-part", 1},
    SeenInPublic{"sink-scaled", 1},
    SeenInPublic{"softcap-after-mask", 2},
    SeenInPublic{"softcap-missing", 5},
    SeenInPublic{"softmax-bfloat16", 2},
    SeenInPublic{"softmax-missing", 1},
    SeenInPublic{"softmax-over-heads", 1},
    SeenInPublic{"softmax-over-queries", 4},
    SeenInPublic{"softmax-steps-float16", 3},
    SeenInPublic{"softmax-uniform", 1},
    SeenInPublic{"tile-diagonal-cut", 2},
    SeenInPublic{"tile-diagonal-once", 1},
    SeenInPublic{"tile-diagonal-seen", 1},
    SeenInPublic{"tile-padding-counted", 7},
    SeenInPublic{"values-lanes", 1},
    SeenInPublic{"window-left-less", 3},
    SeenInPublic{"window-left-more", 8},
    SeenInPublic{"window-missing", 10},
    SeenInPublic{"window-right-open", 1},
};
static_assert(std::ranges::is_sorted(seen_in_public, {}, &SeenInPublic::mistake));

/// The number of public threads of a mistake, by its name without a size.
[[nodiscard]] constexpr Index threads_of(std::string_view mistake)
{
    const auto* const found = std::ranges::lower_bound(seen_in_public, mistake, {}, &SeenInPublic::mistake);
    return found != seen_in_public.end() && found->mistake == mistake ? found->threads : 0;
}

} // namespace attn::model::diagnose
