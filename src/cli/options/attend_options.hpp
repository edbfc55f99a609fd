// The options of `attend`: what they are called, and what the typed text means.
#pragma once

#include "attn/model/attend/attend.hpp"
#include "cli/options/against_options.hpp"
#include "cli/options/command.hpp"
#include "cli/options/show_option.hpp"

#include <optional>
#include <string>

namespace attn::cli {

/// Tensors are named as typed: FILE or FILE:NAME.
struct AttendOptions {
    std::optional<std::string> queries, keys, values; ///< all three are needed
    std::optional<std::string> past_key, past_value, mask, lengths;
    model::Attend attend;
    ShowOption show; ///< where it is given, each object of JSON says which stage it is
    OutputOptions output;
    Format format = Format::json;
    AgainstOptions against;
};

void declare_attend(Options& options, AttendOptions& attend);

/// What follows from the options as typed. Throws Error(usage) for what is missing or contradictory. Touches no file.
void finish_attend_options(const Operands& operands, AttendOptions& attend);

} // namespace attn::cli
