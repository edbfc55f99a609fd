#include "cli/output/notes.hpp"

#include "attn/math/decimal.hpp"

#include <fmt/format.h>

namespace attn::cli {

std::vector<Note> notes_of(const model::Result& result, bool json, bool quiet, const std::string& prefix)
{
    std::vector<Note> notes;
    if (!json) {
        for (const std::string& warning : result.warnings) {
            notes.push_back({Note::Severity::warning, prefix + warning});
        }
    }
    if (!quiet) {
        for (const model::Difference& difference : result.verify) {
            notes.push_back(
                {Note::Severity::remark,
                 fmt::format("{}verify: {}: largest difference from float64 {}, relative {}", prefix, difference.array,
                             math::scientific(difference.absolute, 2), math::scientific(difference.relative, 2))});
        }
    }
    return notes;
}

void say(Log& log, const Note& note)
{
    switch (note.severity) {
    case Note::Severity::warning: log.warning(note.text); break;
    case Note::Severity::remark: log.note(note.text); break;
    case Note::Severity::error: log.error(note.text); break;
    }
}

std::optional<std::string> IsaNote::about(std::string_view because)
{
    if (!asked_ || because.empty() || said_.exchange(true)) {
        return std::nullopt;
    }
    return fmt::format("--isa {} does not compute {}; the portable path ran", name_of(*asked_), because);
}

} // namespace attn::cli
