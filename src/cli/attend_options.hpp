// The options of `attend`: what they are called, and what the typed text means.
#pragma once

#include "attn/model/attend.hpp"
#include "cli/command.hpp"
#include "cli/format.hpp"

#include <optional>
#include <string>

namespace attn::cli {

/// Tensors are named as typed: FILE or FILE:NAME.
struct AttendOptions {
    std::string queries, keys, values;
    std::optional<std::string> past_key, past_value, mask, lengths;
    model::Attend attend;
    bool stages_named = false; ///< --show was given: each object of JSON says which stage it is
    Format format = Format::json;
    std::optional<std::string> output;
};

[[nodiscard]] std::span<const OptionGroup> attend_option_groups();

/// Throws Error(usage) for what is missing, malformed, out of range or contradictory. Touches no file.
[[nodiscard]] AttendOptions read_attend_options(const Arguments& arguments);

} // namespace attn::cli
