// The HTML page of a result: what it holds, and the file.
#pragma once

#include "attn/model/trained/run_trained.hpp"
#include "attn/report/html/html.hpp"
#include "cli/output/output.hpp"

namespace attn::cli {

/// What a page shows of a run unless --show says otherwise: all but parameters and embeddings.
[[nodiscard]] model::Show page_items(const model::Recipe& recipe);

/// `otherwise`, if there is one, that also ends a run, with Error(too_large), which is about to compute more than a page can
/// hold.
[[nodiscard]] model::Observer page_observer(model::Observer otherwise);

/// Shows less where there are many weights: the stages that the page computes from queries and keys by itself.
void leave_out_stages(model::Result& result);

/// Throws Error(usage) for a scale that the numbers do not have.
void write_page(const model::Result& result, const report::PageOptions& options, Output& output);

// ---- of whole trained models -----------------------------------------------------------------------------------------

/// What a page shows of them unless --show says otherwise: weights, and what the page computes their steps from.
[[nodiscard]] model::Show page_items(const model::TrainedConfig& config, const model::Trained& trained);
/// Shows the weights alone where queries, keys and values are many numbers.
void leave_out_vectors(model::LayeredResult& result);
void write_page(const model::LayeredResult& result, const report::PageOptions& options, Output& output);

} // namespace attn::cli
