// The instruction set that --isa names.
#pragma once

#include "attn/model/run/run.hpp"

#include <optional>
#include <string>

namespace attn::cli {

/// None for auto. Throws Error(usage) for what this machine does not have, naming what it has.
[[nodiscard]] std::optional<core::Isa> isa_named(const std::string& name);

} // namespace attn::cli
