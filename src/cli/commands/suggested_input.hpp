// `attend --against --suggest-input`: an input that tells tied mistakes apart, as a file, and the command that goes with it.
#pragma once

#include "attn/report/text/diagnosis.hpp"
#include "cli/options/attend_options.hpp"

namespace attn::cli {

/// The call that tied them, as typed.
struct TiedCall {
    const model::ResolvedAttend& resolved;
    const AttendOptions& options;
    const TypedArguments& typed;
    const Globals& globals;
};

/// Writes the file where there is such an input.
[[nodiscard]] report::SuggestedFile write_suggested_input(const TiedCall& call, const model::diagnose::Diagnosis& diagnosis);

} // namespace attn::cli
