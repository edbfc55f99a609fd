// A sentence through a whole trained model: pieces → ids → layers → the attention of those that were asked for.
#pragma once

#include "attn/model/run/run.hpp"
#include "attn/model/trained/drawn_model.hpp"
#include "attn/text/pieces/pieces.hpp"
#include "attn/transformer/run/model.hpp"

#include <span>
#include <vector>

namespace attn::model {

/// A model, and its own tokenizer; the tensors stay in the files that the caller has mapped, or are drawn. Without a tokenizer
/// document_words() of the sentence get ids, as many as there are rows: of a drawn model as a run's vocabulary has them,
/// sorted; of a trained one, which knows symbols and no words, in the order of their first appearance.
struct Trained {
    transformer::Model model;
    std::optional<text::PieceTokenizer> tokenizer;
    bool drawn = false;
    std::optional<text::PieceTokenizer> of_target; ///< where the target has its own

    /// Throws Error(data) where a tokenizer gives ids that its embedding has no row for.
    Trained(transformer::Model its_model, std::optional<text::PieceTokenizer> its_tokenizer, bool is_drawn = false,
            std::optional<text::PieceTokenizer> its_target = {});

    /// That of a decoder's target.
    [[nodiscard]] const std::optional<text::PieceTokenizer>& target_tokenizer() const
    {
        return of_target ? of_target : tokenizer;
    }
};

/// What `all` means: every item that the model can give, except logits and the summary.
[[nodiscard]] Show everything(const TrainedConfig& config, const Trained& trained);

struct ResolvedTrained;

/// The config is complete(). With nothing to show: tokens and weights, or where no layer is named a summary of all. Of the
/// settings show, top, threads, isa, memory_limit, observer and origin count. Throws Error: data (text that is not UTF-8, too
/// many tokens), usage or data (a layer, head or word that is not there, an item that the model does not give), too_large.
[[nodiscard]] Result run_trained(const TrainedConfig& config, const Trained& trained, const RunSettings& settings = {});
/// Computes what has been resolved and judged (resolved_trained.hpp). Throws Error(data) for damaged weights.
[[nodiscard]] Result run_trained(const ResolvedTrained& run);
/// Several at once, at least one, whose configs differ in the text alone: the model's weights are read once for all. Each
/// result is that of its run alone.
[[nodiscard]] std::vector<Result> run_trained(std::span<const ResolvedTrained> runs);

} // namespace attn::model
