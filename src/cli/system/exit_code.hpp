// The exit codes that scripts rely on (sysexits.h where it has one).
#pragma once

#include "attn/tensor/error.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace attn::cli {

struct ExitCode {
    int code;
    std::string_view meaning;
    std::optional<ErrorKind> of = {}; ///< the errors that end so
};
inline constexpr std::array exit_codes{
    ExitCode{0, "done"},
    ExitCode{1, "a difference, or fewer than --require"},
    ExitCode{2, "usage", ErrorKind::usage},
    ExitCode{65, "bad data", ErrorKind::data}, // also the end of `run --lines` when a line could not be computed
    ExitCode{66, "no such input", ErrorKind::no_input},
    ExitCode{70, "internal error", ErrorKind::internal},
    ExitCode{71, "too large", ErrorKind::too_large},
    ExitCode{73, "cannot create the output", ErrorKind::cannot_create},
    ExitCode{74, "I/O error", ErrorKind::io},
    ExitCode{130, "interrupted (143 terminated)", ErrorKind::interrupted},
};

[[nodiscard]] constexpr int exit_code(ErrorKind kind)
{
    return std::ranges::find(exit_codes, std::optional(kind), &ExitCode::of)->code;
}

inline constexpr int success = exit_codes[0].code;
inline constexpr int difference_found = exit_codes[1].code;
inline constexpr int bad_data = exit_code(ErrorKind::data);

} // namespace attn::cli
