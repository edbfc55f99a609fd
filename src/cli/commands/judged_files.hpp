// Files of numbers held against a result: `--against` of attend and run.
#pragma once

#include "attn/report/text/diagnosis.hpp"
#include "cli/input/compared_file.hpp"
#include "cli/options/against_options.hpp"
#include "cli/system/log.hpp"

#include <functional>
#include <limits>
#include <optional>

namespace attn::cli {

struct Judge {
    /// What is found of a file.
    std::function<model::diagnose::Against(const ComparedFile&)> against = {};
    /// Writes the input of --suggest-input, for one file whose mistakes are tied.
    std::function<report::SuggestedFile(const model::diagnose::Diagnosis&)> suggest = {};
    bool json = false;
    std::size_t most_bytes = std::numeric_limits<std::size_t>::max(); ///< of a file
};

/// Writes what is found of each file, as text or JSON; one file gets a whole answer, and the picture of -o, each of several a
/// line. Of several, an error of one is reported and the rest goes on. Gives the exit code.
int judge_files(const AgainstOptions& options, const Judge& judge, Log& log);

} // namespace attn::cli
