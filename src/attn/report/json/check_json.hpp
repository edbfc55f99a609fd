// A report of `check` as JSON: one object on one line, "schema": "attn-cli/check/1".
#pragma once

#include "attn/model/check/check.hpp"
#include "attn/tensor/buffer.hpp"

#include <string_view>

namespace attn::report {

void write_check_json(const model::CheckReport& report, std::string_view name, Buffer& buffer);

/// What could not be checked, and the exit code that says why.
void write_check_error_json(std::string_view name, int code, std::string_view message, Buffer& buffer);

} // namespace attn::report
