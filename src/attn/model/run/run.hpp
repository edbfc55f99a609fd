// The one place that composes a run: recipe → words → ids → parameters → embeddings → heads → attention → Result.
#pragma once

#include "attn/core/isa.hpp"
#include "attn/model/layer/parameters.hpp"
#include "attn/model/layer/word_vectors.hpp"
#include "attn/model/recipe/overrides.hpp"
#include "attn/model/run/result.hpp"

#include <functional>
#include <limits>

namespace attn::model {

struct ModelDims;

/// One stage about to start or under way, for logs, timing, progress and cancelling. What the observer throws ends the run.
struct Progress {
    std::string_view
        stage;        ///< "tokens", "parameters", "embeddings", "queries", "keys", "values", "attention", "output", "verify"
    Shape shape;      ///< of what it makes
    double share = 0; ///< done of this stage: 0 at its start, 1 at its end
};
using Observer = std::function<void(const Progress&)>;

struct RunSettings {
    Show show; ///< what is wanted; empty: tokens, vocabulary, weights, context and, with a projection, output
    std::optional<Index> top = {}; ///< pairs of each head in the summary, which is then wanted too
    int threads = 1;               ///< never changes a number
    /// Of attention in float32, which leaves the promise of the same numbers on every machine unless it is portable.
    core::Isa isa = core::Isa::portable;
    Index memory_limit =
        std::numeric_limits<Index>::max(); ///< bytes; a run that needs more throws Error(too_large) before it allocates
    Observer observer;
    /// Called before anybody looks at the numbers of tensors that are given, once their shapes are known to be right; empty:
    /// they are there. `run` calls it for the mask, of each run, `attend` for all that it is given, with what judges them.
    std::function<void(const NumberJudge&)> read_numbers = {};
    /// Called once the sizes and the places of Recipe::query are known (empty: all), before the first number of a file is read.
    /// What it throws ends the run.
    std::function<void(const ModelDims& dims, const std::vector<Index>& query_positions)> sized = {};
    /// What Attention::mask names: boolean, true = seen, or added to the scores; broadcasts from the right to (H, T, S).
    std::optional<TensorView> mask = {};
    /// What Recipe::parameters names, as model/layer/checkpoint.hpp finds it.
    std::vector<StoredParameter> parameters = {};
    /// What Recipe::embeddings names.
    std::optional<WordVectors> word_vectors = {};
    /// What of the recipe the command line gave, for errors.
    Origin origin = {};
};

/// Of a batch the entry that the recipe says. Throws Error: data (no words, an id out of range, …), usage (an unknown query
/// word, a stage that does not exist in this run), too_large. What a file said and not the command line is no matter of usage
/// but of data.
[[nodiscard]] Result run(const Recipe& recipe, const RunSettings& settings = {});

/// Computes what has been resolved and judged (resolved_run.hpp). Throws Error(data) for drawn numbers that are not finite.
struct ResolvedRun;
[[nodiscard]] Result run_resolved(ResolvedRun&& resolved);

/// Of a batch the results of all its entries, unless it says which one; otherwise the one result.
[[nodiscard]] std::vector<Result> run_entries(const Recipe& recipe, const RunSettings& settings = {});

/// What `all` means for this recipe: every item that it can give, except the summary, which says the same in other words.
[[nodiscard]] Show everything(const Recipe& recipe);

} // namespace attn::model
