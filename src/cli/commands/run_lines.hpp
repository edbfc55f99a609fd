// run --lines: one sentence a line in, one result a line out, on several threads.
#pragma once

#include "attn/model/run/run.hpp"
#include "cli/commands/run_report.hpp"
#include "cli/input/model_folder.hpp"
#include "cli/input/tensor_inputs.hpp"

namespace attn::cli {

/// What the lines have in common.
struct LinesRun {
    const RunOptions& options;
    const model::Recipe& recipe; ///< each line becomes its sentence
    const model::RunSettings& settings;
    const TensorInputs& files; ///< that the recipe names
    RunReport& report;
    const ModelFolder* model = nullptr; ///< computes them by the options' config, in place of the recipe
};

/// The exit code: bad_data when a line could not be computed. The bytes are the same for any number of threads.
[[nodiscard]] int run_lines(const LinesRun& run);

} // namespace attn::cli
