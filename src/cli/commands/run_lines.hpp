// run --lines: one sentence per line in, one result per line out, on several threads.
#pragma once

#include "cli/commands/run_report.hpp"
#include "cli/commands/run_source.hpp"

namespace attn::cli {

struct LinesRun {
    const RunOptions& options;
    RunSource& source; ///< each line is its sentence
    RunReport& report;
};

/// The exit code: bad_data when a line could not be computed. The bytes are the same for any number of threads.
[[nodiscard]] int run_lines(const LinesRun& run);

} // namespace attn::cli
