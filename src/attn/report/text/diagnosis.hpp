// What `attend --against` says of a file.
#pragma once

#include "attn/model/diagnose/against.hpp"
#include "attn/model/diagnose/suggest.hpp"
#include "attn/model/diagnose/together.hpp"
#include "attn/tensor/buffer.hpp"

#include <string>

namespace attn::report {

/// An input for mistakes that are tied, and the command that a result on it is held against.
struct SuggestedFile {
    model::diagnose::Suggestion suggestion;
    std::string path, command; ///< both empty: nothing was written
};

/// A file, what it is called, and what was found of it.
struct JudgedFile {
    const model::diagnose::Against& against;
    std::string_view name;
    const SuggestedFile* suggested = nullptr;            ///< nothing was asked for, or nothing is tied
    const model::diagnose::Together* together = nullptr; ///< it is one of several arrays of the file
};

/// How many differ; which mistake gives them; what to do.
void write_diagnosis(const JudgedFile& file, Buffer& buffer);

/// The same in one line, for many files: "mine.npy: no scale of the scores".
void write_diagnosis_line(const JudgedFile& file, Buffer& buffer);

/// What several arrays of a file, of which all that was written, say together.
void write_together(const model::diagnose::Together& together, std::string_view name, Buffer& buffer);

/// "no scale of the scores", "A" and "B" of two; of no mistake "the right result".
[[nodiscard]] std::string what_of(const model::diagnose::Candidate& candidate);

} // namespace attn::report
