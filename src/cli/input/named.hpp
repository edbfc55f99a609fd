// Errors of an input, with its name.
#pragma once

#include "attn/tensor/error.hpp"

#include <string>

namespace attn::cli {

/// What read() gives. An error of it begins with the name, which the library does not know.
template <typename Read>
auto named(const std::string& name, Read read)
{
    try {
        return read();
    } catch (const Error& error) {
        throw Error(error.kind(), name + ": " + error.what());
    }
}

} // namespace attn::cli
