// The exit codes that scripts rely on (sysexits.h where it has one).
#pragma once

#include "attn/tensor/error.hpp"

namespace attn::cli {

inline constexpr int success = 0;
inline constexpr int difference_found = 1; ///< `check` or `compare` found a mismatch
inline constexpr int bad_data = 65;        ///< also the end of `run --lines` when a line could not be computed

[[nodiscard]] constexpr int exit_code(ErrorKind kind)
{
    switch (kind) {
    case ErrorKind::usage: return 2;
    case ErrorKind::data: return bad_data;
    case ErrorKind::no_input: return 66;
    case ErrorKind::internal: return 70;
    case ErrorKind::too_large: return 71;
    case ErrorKind::cannot_create: return 73;
    case ErrorKind::io: return 74;
    case ErrorKind::interrupted: return 130;
    }
    return 70;
}

} // namespace attn::cli
