// One recipe over many sentences, one after the other.
#pragma once

#include "attn/model/layer/parameter_cache.hpp"
#include "attn/model/run/run.hpp"

#include <functional>

namespace attn::model {

/// Gives what `run` gives, faster: what the sentences have in common is computed once. A value; not for two threads at a time.
class BatchRunner {
public:
    /// `recipe` has a sentence as its input, which is replaced.
    BatchRunner(Recipe recipe, RunSettings settings);

    /// As run() with this sentence, except for the parameters, which the result has only when they are shown.
    [[nodiscard]] Result run(std::string sentence);

    void set_memory_limit(Index bytes) { settings_.memory_limit = bytes; }
    void set_threads(int threads) { settings_.threads = threads; }

    /// What runs of one recipe share.
    struct Shared {
        ParameterCache preparations;
        std::optional<ModelDims> least; ///< least_dims() of some words
        ModelDims largest;              ///< whose memory was computed,
        Index largest_rows = 0;         ///< for so many query rows,
        Index memory = 0;               ///< and is so many bytes
    };

private:
    Recipe recipe_;
    RunSettings settings_;
    Show show_;
    Shared shared_;
};

/// Calls `sentence(i, worker)` for each i below `count` on the threads that attention has: core::for_each_block.
void for_each_sentence(Index count, int threads, const std::function<void(Index i, int worker)>& sentence);

} // namespace attn::model
