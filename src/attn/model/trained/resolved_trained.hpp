// What a run of a trained model is asked for, judged once, before anything is computed: in the order of the fields here. What
// computes takes this value; only weights that are damaged show themselves on the way.
#pragma once

#include "attn/model/recipe/trained_config.hpp"
#include "attn/model/trained/run_trained.hpp"
#include "attn/model/trained/tokens.hpp"
#include "attn/transformer/run/forward.hpp"

#include <map>
#include <string>
#include <vector>

namespace attn::model {

/// The layers that the config names, of the so many with this attention: ascending and each once. Throws Error for one that is
/// not there.
[[nodiscard]] std::vector<Index> layers_of(const TrainedConfig& config, std::optional<Part> part, Index count,
                                           const Origin& origin);

/// The heads that the config names layer by layer, in its order. Throws Error(data) for what is no LAYER.HEAD.
[[nodiscard]] std::map<Index, std::vector<Index>> heads_by_layer(const TrainedConfig& config);

/// One attention of the model, of which layers are shown.
struct ResolvedPart {
    std::optional<Part> part;               ///< none: the one of a model of one stack
    const transformer::Architecture* stack; ///< which has these layers
    std::vector<Index> layers;              ///< ascending, at least one
    Show there;                             ///< what such a layer has of all that can be shown
};

/// Refers to what it is made of.
struct ResolvedTrained {
    /// Throws as run_trained().
    ResolvedTrained(const TrainedConfig& its_config, const Trained& its_model, const RunSettings& its_settings);

    const TrainedConfig& config;
    const Trained& trained;
    const RunSettings& settings;
    Show show;                                 ///< what the settings name, or the usual
    std::vector<ResolvedPart> parts;           ///< in the order of Part, at least one
    std::optional<Tokens> source;              ///< where a decoder runs: what its encoder reads
    Tokens tokens;                             ///< the target of a decoder, otherwise the sentence; no more than the model has
                                               ///< positions for
    std::map<Index, std::vector<Index>> heads; ///< as heads_of() says, of each layer that is shown, of every part
    transformer::Asked asked;                  ///< what the whole of that takes to be computed of the stack that has the tokens
    transformer::Asked asked_of_encoder;       ///< and of the encoder where a decoder runs
    std::vector<Index> query_positions;        ///< the rows that --query chose; empty: all. There is memory for all of this
    transformer::TokenInput input;             ///< which the model has rows for; types where it has a table of them

    /// The one with this attention.
    [[nodiscard]] const ResolvedPart& part_of(std::optional<Part> part) const;
    [[nodiscard]] const transformer::AttentionPart& attention(std::optional<Part> part, Index layer) const;
    /// What the rows of a part stand for, and its columns.
    [[nodiscard]] const Tokens& rows_of(std::optional<Part> part) const
    {
        return part == Part::encoder && source ? *source : tokens;
    }
    [[nodiscard]] const Tokens& columns_of(std::optional<Part> part) const
    {
        return part == Part::cross ? *source : rows_of(part);
    }
};

/// That of an array of numbers in a layer of this part, of the rows and heads that are chosen.
[[nodiscard]] Shape shape_of(Item item, const ResolvedTrained& run, const ResolvedPart& part, Index layer);

} // namespace attn::model
