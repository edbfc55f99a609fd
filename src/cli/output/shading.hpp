// How weights in tables are shaded: what --color says, and what the terminal can.
#pragma once

#include "attn/report/text/shading.hpp"
#include "cli/output/output.hpp"
#include "cli/system/log.hpp"

#include <string_view>

namespace attn::cli {

/// Environment variables; empty when they are not set.
struct TerminalVariables {
    std::string_view term, colorterm, no_color;
};

/// 24-bit colours where COLORTERM says truecolor or 24bit, 256 where TERM does. Otherwise 16, or blocks where TERM names a
/// terminal without colours; Colour::always asks for colours also there. Plain text, unless Colour::always, where the output is
/// no terminal, with NO_COLOR, and where TERM is empty or dumb.
[[nodiscard]] report::Shading choose_shading(Colour colour, bool terminal, const TerminalVariables& variables);

/// The same for this process; reads the environment only where that matters.
[[nodiscard]] report::Shading shading_of(const Output& output, Colour colour);

} // namespace attn::cli
