// What a run of a trained model is asked for, judged once, before anything is computed: in the order of the fields here. What
// computes takes this value; only weights that are damaged show themselves on the way.
#pragma once

#include "attn/model/trained/run_trained.hpp"
#include "attn/model/trained/tokens.hpp"
#include "attn/transformer/run/forward.hpp"

#include <vector>

namespace attn::model {

/// Refers to what it is made of.
struct ResolvedTrained {
    /// Throws as run_trained().
    ResolvedTrained(const TrainedConfig& its_config, const Trained& its_model, const RunSettings& its_settings);

    const TrainedConfig& config;
    const Trained& trained;
    const RunSettings& settings;
    Show show;                          ///< what the settings name, or the usual
    std::vector<Index> layers;          ///< ascending, at least one
    Tokens tokens;                      ///< no more than the model has positions for
    std::vector<Index> heads;           ///< as heads_of() says, of every layer
    transformer::Asked asked;           ///< what the whole of that takes to be computed
    std::vector<Index> query_positions; ///< the rows that --query chose; empty: all. There is memory for all of this
    transformer::TokenInput input;      ///< which the model has rows for; types where it has a table of them
};

} // namespace attn::model
