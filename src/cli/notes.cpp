#include "cli/notes.hpp"

#include <array>
#include <charconv>

namespace attn::cli {
namespace {

std::string short_number(double value)
{
    std::array<char, 32> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::scientific, 2).ptr;
    return {text.data(), end};
}

} // namespace

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
            notes.push_back({Note::Kind::remark, prefix + "verify: " + difference.array + " differs from float64 by at most " +
                                                     short_number(difference.absolute) + ", relatively by at most " +
                                                     short_number(difference.relative)});
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
