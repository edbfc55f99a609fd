// --suggest-input: an input that tells tied mistakes apart, or shows those that go unseen, as a file, and the command that goes
// with it.
#pragma once

#include "attn/report/text/blind_spots.hpp"
#include "attn/report/text/diagnosis.hpp"
#include "cli/options/attend_options.hpp"

namespace attn::cli {

/// The call that it is for, as typed.
struct TypedCall {
    const model::ResolvedAttend& resolved;
    const AttendOptions& options;
    const TypedArguments& typed;
    const Globals& globals;
};

/// Writes the file where there is such an input.
[[nodiscard]] report::SuggestedFile write_suggested_input(const TypedCall& call, const model::diagnose::Diagnosis& diagnosis);
/// The same for mistakes that a test does not see; `spots`: of the call.
[[nodiscard]] report::RevealingFile write_revealing_input(const TypedCall& call, const model::diagnose::BlindSpots& spots);

} // namespace attn::cli
