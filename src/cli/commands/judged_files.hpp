// Files of numbers held against a result: `--against` of attend and run.
#pragma once

#include "attn/model/diagnose/against.hpp"
#include "cli/input/compared_file.hpp"
#include "cli/system/log.hpp"

#include <functional>
#include <string>
#include <vector>

namespace attn::cli {

/// Writes what `against` finds of each file, as text or JSON; one file gets a whole answer, each of several a line. Of several,
/// an error of one is reported and the rest goes on. Gives the exit code.
int judge_files(const std::vector<std::string>& files, bool json, Log& log,
                const std::function<model::diagnose::Against(const ComparedFile&)>& against);

} // namespace attn::cli
