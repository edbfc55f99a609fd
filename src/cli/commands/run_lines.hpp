// run --lines: one sentence a line in, one result a line out, on several threads.
#pragma once

#include "attn/model/run/run.hpp"
#include "attn/report/text/table.hpp"
#include "cli/input/model_folder.hpp"
#include "cli/input/tensor_inputs.hpp"
#include "cli/options/run_options.hpp"
#include "cli/output/isa_note.hpp"
#include "cli/output/output.hpp"
#include "cli/system/log.hpp"
#include "cli/system/progress.hpp"

namespace attn::cli {

/// What the lines have in common.
struct LinesRun {
    const RunOptions& options;
    const model::Recipe& recipe; ///< each line becomes its sentence
    const model::RunSettings& settings;
    const TensorInputs& files; ///< that the recipe names
    Output& output;
    const report::TableOptions& table;
    StageReporter& progress;
    IsaNote& isa_note;
    Log& log;
    const ModelFolder* model = nullptr; ///< computes them by the options' config, in place of the recipe
};

/// The exit code: bad_data when a line could not be computed. The bytes are the same for any number of threads.
[[nodiscard]] int run_lines(const LinesRun& run);

} // namespace attn::cli
