// Decimal text of numbers: the shortest that reads back, and what "these two decimals are equal" means.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace attn::math {

/// The shortest decimal that reads back to the same value, always with a point or an exponent ("1.0", "-0.0", "1e+20"); in
/// fixed notation unless scientific is shorter, an integer then with all its digits; "inf", "-inf" and "nan" without quotes.
/// The same bytes in every locale. Scalar is float or double.
template <typename Scalar>
[[nodiscard]] std::string shortest(Scalar value);
/// Appends the same; no allocation beyond the string's own growth.
template <typename Scalar>
void append_shortest(std::string& out, Scalar value);
/// Appends all of them, with commas between. They must be finite.
template <typename Scalar>
void append_shortest(std::string& out, std::span<const Scalar> values);

/// Whether it is what stands for an infinity or a NaN.
[[nodiscard]] bool is_nonfinite_name(std::string_view text);

/// Sign, digits without leading or trailing zeros, exponent: "-0.0100" and "-1e-2" have one canonical form ("-1e-2"), zeros
/// are "0" and "-0". `text` is a JSON number or one of inf, -inf, nan. Throws Error(data) for anything else, and for an
/// exponent beyond a billion.
[[nodiscard]] std::string canonical_decimal(std::string_view text);

/// The nearest float or double; beyond its range infinity or 0, with the sign of `text`, which is as above, whatever
/// its exponent. Throws Error(data).
template <typename Scalar>
[[nodiscard]] Scalar nearest(std::string_view text);

/// A number as an article prints it, such as "0.0185" or "1.4928e-02".
struct Printed {
    double value = 0;
    int digits = 0; ///< after the point
    bool scientific = false;
    double unit = 0; ///< one unit of the last printed digit; 0 for a zero in scientific notation
};
/// Nothing when `text` is not such a number (inf, -inf and nan are) or is more than a double can hold.
[[nodiscard]] std::optional<Printed> find_printed(std::string_view text);
/// Throws Error(data) in that case.
[[nodiscard]] Printed parse_printed(std::string_view text);

/// Whether `value`, rounded to the notation and digits of `printed`, gives the same text.
[[nodiscard]] bool agrees(const Printed& printed, double value);
/// Whether it agrees, or is at most `units` units of the last printed digit away, or at most one float32 step away from the
/// float32 nearest to what was printed.
[[nodiscard]] bool agrees_within(const Printed& printed, double value, double units);

/// `value` with `digits` (up to 1074) after the point, fixed ("0.0185") or scientific ("1.8550e-02"); inf, -inf, nan as such.
[[nodiscard]] std::string fixed(double value, int digits);
[[nodiscard]] std::string scientific(double value, int digits);

} // namespace attn::math
