#include "attn/math/decimal.hpp"

#include "attn/tensor/error.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

namespace attn::math {
namespace {

/// "inf", "-inf" or "nan" (of either sign); empty for a finite number.
std::string_view nonfinite_name(double value)
{
    if (std::isnan(value)) {
        return "nan";
    }
    return std::isinf(value) ? (value < 0 ? "-inf" : "inf") : "";
}

std::string with_precision(double value, std::chars_format format, int digits)
{
    if (!std::isfinite(value)) {
        return std::string(nonfinite_name(value));
    }
    // Up to 309 digits stand before the point.
    std::array<char, 1400> text; // NOLINT(*-member-init): a table asks for thousands
    return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value, format, std::min(digits, 1074)).ptr};
}

/// The parts of a decimal, as written.
struct Parts {
    bool negative = false;
    std::string_view whole, fraction;         ///< digits before and after the point
    bool point = false;                       ///< "1." has a point and no fraction
    std::optional<std::string_view> exponent; ///< digits with their sign; absent: no exponent

    [[nodiscard]] std::string digits() const { return std::string(whole).append(fraction); }
};

std::string_view take_digits(std::string_view& text)
{
    const std::size_t count = std::min(text.find_first_not_of("0123456789"), text.size());
    const std::string_view digits = text.substr(0, count);
    text.remove_prefix(count);
    return digits;
}

bool take(std::string_view& text, std::string_view any_of)
{
    if (text.empty() || any_of.find(text.front()) == std::string_view::npos) {
        return false;
    }
    text.remove_prefix(1);
    return true;
}

/// Nothing when `text` is no decimal: [-] digits [. [digits]] [e [+-] digits], without superfluous leading zeros.
std::optional<Parts> split(std::string_view text)
{
    Parts parts;
    parts.negative = take(text, "-");
    parts.whole = take_digits(text);
    if (parts.whole.empty() || (parts.whole.size() > 1 && parts.whole[0] == '0')) {
        return std::nullopt;
    }
    if (take(text, ".")) {
        parts.point = true;
        parts.fraction = take_digits(text);
    }
    if (take(text, "eE")) {
        const std::string_view start = text;
        take(text, "+-");
        if (take_digits(text).empty()) {
            return std::nullopt;
        }
        parts.exponent = start.substr(0, start.size() - text.size());
    }
    return text.empty() ? std::optional(parts) : std::nullopt;
}

[[noreturn]] void refuse(std::string_view text, std::string_view allowed)
{
    throw Error(ErrorKind::data, "number", in_quotes(text), allowed);
}

Parts split_json(std::string_view text)
{
    const std::optional<Parts> parts = split(text);
    if (!parts || (parts->point && parts->fraction.empty())) {
        refuse(text, "a JSON number, inf, -inf or nan");
    }
    return *parts;
}

constexpr std::int64_t largest_exponent = 1'000'000'000; ///< beyond it lies no number that any of our types holds

/// The exponent, or the largest there is when it is larger still.
std::int64_t saturated_exponent(const Parts& parts)
{
    std::string_view digits = parts.exponent.value_or("0");
    const bool negative = take(digits, "+-") && parts.exponent->front() == '-';
    std::int64_t exponent = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    if (error != std::errc{} || exponent > 2 * largest_exponent) {
        exponent = 2 * largest_exponent;
    }
    return negative ? -exponent : exponent;
}

std::int64_t exponent_of(const Parts& parts, std::string_view text)
{
    const std::int64_t exponent = saturated_exponent(parts);
    if (exponent > largest_exponent || exponent < -largest_exponent) {
        refuse(text, "an exponent from -1000000000 to 1000000000");
    }
    return exponent;
}

/// One step of float32 at the magnitude of `value`.
double float32_step(double value)
{
    constexpr int smallest = -149; // the denormals' step
    const int exponent = value == 0 ? smallest : std::max(std::ilogb(value) - 23, smallest);
    return std::ldexp(1.0, exponent);
}

} // namespace

bool is_nonfinite_name(std::string_view text)
{
    return text == "inf" || text == "-inf" || text == "nan";
}

std::string canonical_decimal(std::string_view text)
{
    if (is_nonfinite_name(text)) {
        return std::string(text);
    }
    const Parts parts = split_json(text);
    const std::string digits = parts.digits();
    const std::string sign = parts.negative ? "-" : "";
    const std::size_t first = digits.find_first_not_of('0');
    if (first == std::string::npos) {
        return sign + "0";
    }
    const std::size_t last = digits.find_last_not_of('0');
    const auto moved = static_cast<std::int64_t>(digits.size() - 1 - last) - static_cast<std::int64_t>(parts.fraction.size());
    return sign + digits.substr(first, last - first + 1) + "e" + std::to_string(exponent_of(parts, text) + moved);
}

template <typename Scalar>
Scalar nearest(std::string_view text)
{
    Scalar value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc{} && stop == end) {
        return value;
    }
    const Parts parts = split_json(text);
    const std::size_t first = parts.digits().find_first_not_of('0');
    const bool tiny = first == std::string::npos || saturated_exponent(parts) + static_cast<std::int64_t>(parts.whole.size()) <=
                                                        static_cast<std::int64_t>(first); // nothing before the point
    value = tiny ? 0 : std::numeric_limits<Scalar>::infinity();
    return parts.negative ? -value : value;
}

template float nearest(std::string_view);
template double nearest(std::string_view);

std::optional<Printed> find_printed(std::string_view text)
{
    Printed printed;
    if (is_nonfinite_name(text)) {
        const double infinity = std::numeric_limits<double>::infinity();
        printed.value = text == "nan" ? std::numeric_limits<double>::quiet_NaN() : text == "inf" ? infinity : -infinity;
        return printed;
    }
    const std::optional<Parts> parts = split(text);
    if (!parts || parts->fraction.size() > 1000) {
        return std::nullopt;
    }
    printed.digits = static_cast<int>(parts->fraction.size());
    printed.scientific = parts->exponent.has_value();
    const bool zero = parts->digits().find_first_not_of('0') == std::string::npos;
    // Scientific notation has one digit before the point, and 0 there for zero alone.
    if (printed.scientific && (parts->whole.size() != 1 || (parts->whole == "0" && !zero))) {
        return std::nullopt;
    }
    const auto result = std::from_chars(text.data(), text.data() + text.size(), printed.value);
    if (result.ec != std::errc{}) { // more than a double can hold
        return std::nullopt;
    }
    if (!(printed.scientific && zero)) {
        const std::string unit = "1e" + std::to_string((printed.scientific ? saturated_exponent(*parts) : 0) - printed.digits);
        // Out of range means smaller than the smallest double: a unit of 0.
        std::from_chars(unit.data(), unit.data() + unit.size(), printed.unit);
    }
    return printed;
}

Printed parse_printed(std::string_view text)
{
    const std::optional<Printed> printed = find_printed(text);
    if (!printed) {
        refuse(text, "a printed number that a double can hold, such as 0.0185, 1. or 1.4928e-02, inf, -inf or nan");
    }
    return *printed;
}

bool agrees(const Printed& printed, double value)
{
    const auto text = [&](double x) { return printed.scientific ? scientific(x, printed.digits) : fixed(x, printed.digits); };
    return text(value) == text(printed.value);
}

bool agrees_within(const Printed& printed, double value, double units)
{
    if (agrees(printed, value)) {
        return true;
    }
    if (!std::isfinite(printed.value) || !std::isfinite(value)) {
        return false;
    }
    // The distance of two doubles that stand for decimals is off by a few roundings; they must not decide at the border.
    const auto is_within = [&](double center, double distance) {
        const double roundings = 4 * std::numeric_limits<double>::epsilon() * std::max(std::abs(center), std::abs(value));
        return std::abs(value - center) <= distance + roundings;
    };
    if (is_within(printed.value, units * printed.unit)) {
        return true;
    }
    // The float32 that was printed, give or take its neighbours.
    if (std::abs(printed.value) > static_cast<double>(std::numeric_limits<float>::max())) {
        return false;
    }
    const auto stated = static_cast<double>(static_cast<float>(printed.value));
    return is_within(stated, float32_step(std::max(std::abs(stated), std::abs(value))));
}

std::string fixed(double value, int digits)
{
    return with_precision(value, std::chars_format::fixed, digits);
}

std::string scientific(double value, int digits)
{
    return with_precision(value, std::chars_format::scientific, digits);
}

} // namespace attn::math
