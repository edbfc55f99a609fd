// What `attend --against` says of a file.
#pragma once

#include "attn/model/diagnose/against.hpp"
#include "attn/report/sink.hpp"

namespace attn::report {

/// How many differ; which mistake gives them; what to do. `name`: what the file is called.
void write_diagnosis(const model::diagnose::Against& against, std::string_view name, const Sink& sink);

/// The same in one line, for many files: "mine.npy: no scale of the scores".
void write_diagnosis_line(const model::diagnose::Against& against, std::string_view name, const Sink& sink);

/// "no scale of the scores", "A" and "B" of two; of no mistake "the right result".
[[nodiscard]] std::string what_of(const model::diagnose::Candidate& candidate);

} // namespace attn::report
