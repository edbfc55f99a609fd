// A run as a recipe that states what was printed.
#pragma once

#include "attn/model/run/result.hpp"

namespace attn::report {

/// The recipe that the result was computed by, with what it shows as published: numbers as a table prints them with so many
/// digits, words and ids as they are.
[[nodiscard]] model::Recipe printed_recipe(const model::Result& result, int digits);

} // namespace attn::report
