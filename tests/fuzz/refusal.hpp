// What every target expects of a reader.
#pragma once

#include "attn/tensor/error.hpp"

#include <cstdlib>
#include <string_view>

/// Aborts unless `use` works or throws Error(data) with one line.
template <typename Use>
void must_work_or_refuse(Use use)
{
    try {
        use();
    } catch (const attn::Error& error) {
        const std::string_view message = error.what();
        if (error.kind() != attn::ErrorKind::data || message.empty() || message.find('\n') != message.npos) {
            std::abort();
        }
    }
}
