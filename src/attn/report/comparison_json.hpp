// What the JSON of all comparisons calls alike: of `check`, of `compare` and of --against.
#pragma once

#include "attn/report/json_writer.hpp"

#include <string_view>

namespace attn::report {

inline constexpr std::string_view first_difference = "first", largest_absolute = "largest_absolute",
                                  largest_relative = "largest_relative";

template <typename Compared>
void write_counts(JsonWriter& json, const Compared& what)
{
    json.member("compared", what.compared);
    json.member("mismatched", what.mismatched);
}

} // namespace attn::report
