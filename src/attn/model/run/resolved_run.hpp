// What a run is asked for, judged once, before anything is computed: in the order of the fields here. What computes takes this
// value and refuses nothing more of it; only drawn numbers that are not finite show themselves on the way.
#pragma once

#include "attn/model/layer/hidden_words.hpp"
#include "attn/model/layer/model_dims.hpp"
#include "attn/model/run/batch_runner.hpp"
#include "attn/model/run/heads.hpp"
#include "attn/model/run/run.hpp"

#include <optional>
#include <vector>

namespace attn::model {

/// What a report will print of a run: what the settings name, or the usual, and what belongs to it. Throws Error(usage) for
/// what the recipe does not give.
[[nodiscard]] Show what_to_show(const Recipe& recipe, const RunSettings& settings);

/// With the arrays that a summary is made of.
[[nodiscard]] Show what_to_compute(Show show);

/// Refers to the recipe and the settings that it is made of.
struct ResolvedRun {
    /// Throws as run(). `shared`: of other runs of the recipe; nullptr: this run is the only one.
    ResolvedRun(const Recipe& its_config, const Show& its_show, const RunSettings& settings, BatchRunner::Shared* shared);

    /// They are about to be judged and drawn, or drawn once more.
    void tell_of_parameters() const;
    /// After those of the words (extra_key.hpp). Of a run that is the only one of its recipe.
    [[nodiscard]] bool has_extra_key() const;
    [[nodiscard]] ParameterInputs parameter_inputs() const
    {
        return {dims, words.cross, settings.parameters, &settings.origin};
    }

    const Recipe& config; ///< as it was given
    const RunSettings& settings;
    ParameterCache* preparations;          ///< of other runs of the recipe, or nullptr
    std::optional<Recipe> of_entry;        ///< of a batch: the recipe with the draws of one entry
    const Recipe& recipe;                  ///< that, or as it was given
    Show show;                             ///< what a report will print
    Show wanted;                           ///< the arrays to compute and keep
    Words words;                           ///< T, S of them
    std::vector<Index> query_positions;    ///< the rows that --query chose; empty: all
    std::vector<Index> rows;               ///< the positions of the query rows, ascending
    ModelDims dims;                        ///< every size
    KeptHeads heads;                       ///< nothing: all
    Index bytes = 0;                       ///< of memory that it takes at most
    WholeMask mask;                        ///< of a file, or stated, and what is hidden
    std::optional<EmbeddingTable> table{}; ///< (V, D), where it is not drawn
    std::optional<DrawPlan> draws{};       ///< of the parameters; nothing: `preparations` remembers them
};

} // namespace attn::model
