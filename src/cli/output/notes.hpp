// What a result has to say on standard error, as values, so that whoever computes need not be who says it.
#pragma once

#include "attn/model/run/result.hpp"
#include "attn/model/run/run.hpp"
#include "cli/system/log.hpp"

#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attn::cli {

struct Note {
    enum class Severity { warning, remark, error } severity;
    std::string text;
};

/// Its warnings, unless the output is JSON, which holds them itself; what --verify found, unless --quiet. `prefix` goes first.
[[nodiscard]] std::vector<Note> notes_of(const model::Result& result, bool json, bool quiet, const std::string& prefix);

void say(Log& log, const Note& note);

/// What an --isa has to say that did not compute. May be asked by several threads at once.
class IsaNote {
public:
    /// What --isa says; nothing is said of what the program chose by itself.
    explicit IsaNote(std::optional<core::Isa> asked) : asked_(asked) {}

    /// `because` is what its tiles do not compute. Once: nothing the second time, and for an empty one.
    [[nodiscard]] std::optional<std::string> about(std::string_view because);

private:
    std::optional<core::Isa> asked_;
    std::atomic<bool> said_ = false;
};

} // namespace attn::cli
