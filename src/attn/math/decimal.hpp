// Decimal text of numbers: the shortest that reads back, and what "these two decimals are equal" means.
#pragma once

#include "attn/tensor/element.hpp"
#include "attn/tensor/text_list.hpp"

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

/// How the numbers of an array are rounded when it is printed: to so many digits after the point, in fixed or in scientific
/// notation; each number of a list of Python in either.
struct PrintedDigits {
    std::optional<int> fixed, scientific;
};

/// A number as an article prints it, such as "0.0185" or "1.4928e-02": it stands for every number that prints so.
struct Printed {
    double value = 0;
    float single = 0;     ///< the nearest float32
    PrintedDigits digits; ///< nothing for inf, -inf and nan
    double unit = 0;      ///< one unit of the last digit; 0 for a zero in scientific notation
    double below = 0;     ///< how far towards zero it reaches: half a unit, or a tenth of that for a power of ten in scientific
};
/// A number by itself, with its own digits. Nothing when `text` is not such a number (inf, -inf and nan are) or is more than a
/// double can hold.
[[nodiscard]] std::optional<Printed> find_printed(std::string_view text);
/// Throws Error(data) in that case.
[[nodiscard]] Printed parse_printed(std::string_view text);
/// A number of an array with these digits.
[[nodiscard]] Printed parse_printed(std::string_view text, const PrintedDigits& digits);
/// The digits of an array, number by number: the most that one of them has, because zeros at the end may be left out or filled
/// in. Where all look whole, so they are, to the 8 decimals that NumPy prints unless told otherwise.
class DigitsSeen {
public:
    /// Whether it is a number as find_printed() has them; others count for nothing.
    bool add(std::string_view number);
    [[nodiscard]] PrintedDigits digits() const;
    /// The same where nothing pads them: of numbers that have more and fewer decimals each has so many digits, as "%g" gives
    /// them, or so many decimals.
    [[nodiscard]] PrintedDigits digits_unpadded() const;

private:
    PrintedDigits most_;
    std::optional<int> fewest_; ///< decimals of a number that is not 0
    bool list_ = false;         ///< of Python, which prints each number by itself
    int decimals_ = 0;          ///< after the point, if all were fixed
    int significant_ = 1;
};
/// Of an array that holds these. Throws as parse_printed.
[[nodiscard]] PrintedDigits digits_of(const TextList& numbers);

/// Whether `value`, a number of that type, prints so: rounded to the digits, or because it is what the text reads as, since the
/// shortest decimal of a float32 may have fewer digits than the array, and zeros behind them.
[[nodiscard]] bool agrees(const Printed& printed, double value, ElementType type = ElementType::float64);
/// Whether it agrees, or is at most `units` units of the last printed digit away, or at most one float32 step away from the
/// float32 nearest to what was printed.
[[nodiscard]] bool agrees_within(const Printed& printed, double value, double units, ElementType type = ElementType::float64);
/// Of the numbers that print so one that is nearest to `value`: `value` itself where it agrees, and never where it does not.
[[nodiscard]] double nearest_printed(const Printed& printed, double value, ElementType type = ElementType::float64);
/// Whether a float32 or float64 prints as both.
[[nodiscard]] bool agree(const Printed& a, const Printed& b);

/// `value` with `digits` (up to 1074) after the point, fixed ("0.0185") or scientific ("1.8550e-02"); inf, -inf, nan as such.
[[nodiscard]] std::string fixed(double value, int digits);
[[nodiscard]] std::string scientific(double value, int digits);

} // namespace attn::math
