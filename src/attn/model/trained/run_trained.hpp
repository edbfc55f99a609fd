// A sentence through a whole trained model: pieces → ids → layers → the attention of those that were asked for.
#pragma once

#include "attn/model/run/run.hpp"
#include "attn/model/trained/trained.hpp"

#include <span>
#include <vector>

namespace attn::model {

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
