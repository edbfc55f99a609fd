// What becomes of the results of `run`, whatever made them: what they have to say is said, and they are written.
#pragma once

#include "cli/options/run_options.hpp"
#include "cli/output/notes.hpp"
#include "cli/output/output.hpp"
#include "cli/output/result_output.hpp"
#include "cli/system/log.hpp"
#include "cli/system/progress.hpp"

#include <optional>
#include <string>
#include <vector>

namespace attn::cli {

class RunReport {
public:
    /// Throws Error: cannot_create, and usage for a terminal that gets a binary format. The options and the log outlive it.
    RunReport(const RunOptions& options, const Globals& globals, Log& log);

    [[nodiscard]] Output& output() { return output_; }
    [[nodiscard]] StageReporter& stages() { return stages_; }
    [[nodiscard]] Log& log() const { return log_; }
    /// May be changed before anything is written.
    [[nodiscard]] ResultFormat& format() { return format_; }

    [[nodiscard]] IsaNote& isa_note() { return isa_note_; }

    /// What results have to say. `entries`: they are those of a batch.
    void say(const std::vector<model::Result>& results, bool entries);
    void write(const std::vector<model::Result>& results, bool entries);
    /// To a person who looks at the table, of what has been typed: what to type next.
    void hint(const TypedArguments& typed, const model::Result& result) const;

private:
    const RunOptions& options_;
    Log& log_;
    Output output_;
    ResultFormat format_;
    StageReporter stages_;
    IsaNote isa_note_;
};

} // namespace attn::cli
