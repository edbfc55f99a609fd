// What a result has to say on standard error, as values, so that whoever computes need not be who says it.
#pragma once

#include "attn/model/run/result.hpp"
#include "cli/system/log.hpp"

#include <string>
#include <vector>

namespace attn::cli {

struct Note {
    enum class Kind { warning, remark, error } kind;
    std::string text;
};

/// Its warnings, unless the output is JSON, which holds them itself; what --verify found, unless --quiet. `prefix` goes first.
[[nodiscard]] std::vector<Note> notes_of(const model::Result& result, bool json, bool quiet, const std::string& prefix);

void say(Log& log, const Note& note);

} // namespace attn::cli
