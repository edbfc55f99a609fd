// Files of numbers held against a result: `--against` of attend and run.
#pragma once

#include "attn/report/text/diagnosis.hpp"
#include "cli/input/compared_file.hpp"
#include "cli/options/against_options.hpp"
#include "cli/system/log.hpp"

#include <functional>
#include <limits>
#include <memory>
#include <optional>

namespace attn::cli {

/// What is found of the arrays of a file, one or more.
struct JudgedArrays {
    std::vector<model::diagnose::Against> found = {};
    std::optional<model::diagnose::Together> together = {}; ///< of more than one
};

struct Judge {
    std::function<JudgedArrays(const ComparedFile&)> against = {};
    /// Writes the input of --suggest-input, for one file whose mistakes are tied.
    std::function<report::SuggestedFile(const model::diagnose::Diagnosis&)> suggest = {};
    bool json = false;
    std::size_t most_bytes = std::numeric_limits<std::size_t>::max(); ///< of a file
    std::shared_ptr<const ComparedFile> only = {};                    ///< what open_only() gave
};

/// The file of --against where it is one alone, so that what is wrong with it is said before the result is computed; of several
/// each is opened in its turn. Throws as ComparedFile, and Error(usage) for one that is also written.
[[nodiscard]] std::shared_ptr<const ComparedFile> open_only(const AgainstOptions& options, std::size_t most_bytes);

/// Writes what is found of each file, as text or JSON; one file gets a whole answer, and the picture of -o, each of several a
/// line. Of several, an error of one is reported and the rest goes on. Gives the exit code.
int judge_files(const AgainstOptions& options, const Judge& judge, Log& log);

} // namespace attn::cli
