// The reports of `check` and `compare`.
#pragma once

#include "attn/model/check/check.hpp"
#include "attn/model/check/compare.hpp"
#include "attn/tensor/buffer.hpp"

#include <string_view>

namespace attn::report {

/// One line per finding, then the verdict; with `failures_alone` nothing of what agrees.
void write_check(const model::CheckReport& report, std::string_view name, bool failures_alone, Buffer& buffer);

/// The same of a tensor each, with the verdict on A and B, which are what the files are called.
void write_comparison(const model::Comparison& comparison, std::string_view a, std::string_view b, bool failures_alone,
                      Buffer& buffer);

} // namespace attn::report
