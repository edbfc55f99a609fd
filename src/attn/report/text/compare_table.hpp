// The reports of `check` and `compare`.
#pragma once

#include "attn/model/check/check.hpp"
#include "attn/model/check/compare.hpp"
#include "attn/tensor/buffer.hpp"

#include <string_view>

namespace attn::report {

/// One line a finding, then the verdict; with `failures_alone` nothing of what agrees.
void write_check(const model::CheckReport& report, std::string_view name, bool failures_alone, Buffer& buffer);

/// One line a tensor, then the verdict on A and B, which are what the files are called.
void write_comparison(const model::Comparison& comparison, std::string_view a, std::string_view b, Buffer& buffer);

/// {"equal":false,"tensors":[{"name":"weights","equal":false,"shape":[2,2],"compared":4,"mismatched":1,"percentage":25.0,
/// "first":{"index":[0,1],"a":0.5,"b":0.25},"largest_absolute":{"difference":0.25,"index":[0,1],"a":0.5,"b":0.25},
/// "largest_relative":{…}}]} and a newline. What was not compared has "reason" instead of all from "shape" on.
void write_comparison_json(const model::Comparison& comparison, Buffer& buffer);

} // namespace attn::report
