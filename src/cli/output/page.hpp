// The HTML page of a result: what it holds, and the file. And what a page or a picture has room for.
#pragma once

#include "attn/model/trained/run_trained.hpp"
#include "attn/report/html/html.hpp"
#include "attn/report/svg/svg.hpp"

namespace attn::cli {

/// What a page shows of a run unless --show says otherwise: all but parameters and embeddings.
[[nodiscard]] model::Show page_items(const model::Recipe& recipe);

/// The same of a whole trained model: weights, and what the page computes their steps from.
[[nodiscard]] model::Show page_items(const model::TrainedConfig& config, const model::Trained& trained);

/// Throws Error(too_large) for more than a page can hold.
void require_page(const model::ResolvedRun& run);
void require_page(const model::ResolvedTrained& run);
/// Throws Error(too_large) for more than a picture can hold, as far as that is known before anything is computed.
void require_picture(const model::ResolvedRun& run, const report::PlannedPicture& planned);
void require_picture(const model::ResolvedTrained& run, report::PlannedPicture planned);

/// Leaves out, where there are many weights, the stages that the page computes from queries and keys by itself.
void leave_out_stages(model::Result& result);
/// Leaves the weights alone where queries, keys and values of all layers are many numbers.
void leave_out_vectors(model::Result& result);

/// Throws Error(usage) for a scale that the numbers do not have.
void write_page(const model::Result& result, const report::PageOptions& options, Buffer& out);

} // namespace attn::cli
