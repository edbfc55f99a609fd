// The shortest decimal of a float32 that reads back, several times faster than the C++ library of GCC 12 finds it.
//
// Raffaello Giulietti, "The Schubfach way to render doubles" (2020), for the 24 bits of a float32. The text is that of
// std::to_chars(first, last, value): the fewest digits that read back, of those the nearest to the value, in fixed notation
// unless scientific is shorter. A test compares both.
#pragma once

#include <span>

namespace attn::math {

/// The longest text, "-2.2250738585072014e-308", has 24 characters; more are written and written over.
inline constexpr int longest_shortest = 24;
inline constexpr int shortest_room = 40;

/// Writes the decimal of a finite `value` to `out`, which has room for `shortest_room` characters, and gives its end. With a
/// point or an exponent always: "1.0". Of a double, as std::to_chars finds it.
[[nodiscard]] char* write_shortest(char* out, float value);
[[nodiscard]] char* write_shortest(char* out, double value);
/// All of them, with commas between them; room for `longest_shortest` + 1 each, and `shortest_room` more.
[[nodiscard]] char* write_shortest(char* out, std::span<const float> values);
[[nodiscard]] char* write_shortest(char* out, std::span<const double> values);

} // namespace attn::math
