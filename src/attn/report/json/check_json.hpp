// A report of `check` as JSON: one object on one line, "schema": "attn-cli/check/1".
#pragma once

#include "attn/model/check/check.hpp"
#include "attn/report/json_writer.hpp"

#include <string_view>

namespace attn::report {

// What the documents of all comparisons call alike.
inline constexpr std::string_view first_difference = "first", largest_absolute = "largest_absolute",
                                  largest_relative = "largest_relative";
template <typename Compared>
void write_counts(JsonWriter& json, const Compared& what)
{
    json.member("compared", what.compared);
    json.member("mismatched", what.mismatched);
}

void write_check_json(const model::CheckReport& report, std::string_view name, const Sink& sink);

/// What could not be checked, and the exit code that says why.
void write_check_error_json(std::string_view name, int code, std::string_view message, const Sink& sink);

} // namespace attn::report
