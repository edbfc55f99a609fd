#include "cli/output/notes.hpp"

#include "attn/math/decimal.hpp"

#include <fmt/format.h>

namespace attn::cli {

std::vector<Note> notes_of(const model::Result& result, bool json, bool quiet, const std::string& prefix)
{
    std::vector<Note> notes;
    if (!json) {
        for (const std::string& warning : result.warnings) {
            notes.push_back({Note::Kind::warning, prefix + warning});
        }
    }
    if (!quiet) {
        for (const model::Difference& difference : result.verify) {
            notes.push_back(
                {Note::Kind::remark, fmt::format("{}verify: {} differs from float64 by at most {}, relatively by at most {}",
                                                 prefix, difference.array, math::scientific(difference.absolute, 2),
                                                 math::scientific(difference.relative, 2))});
        }
    }
    return notes;
}

void say(Log& log, const Note& note)
{
    switch (note.kind) {
    case Note::Kind::warning: log.warning(note.text); break;
    case Note::Kind::remark: log.note(note.text); break;
    case Note::Kind::error: log.error(note.text); break;
    }
}

} // namespace attn::cli
