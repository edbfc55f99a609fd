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

// ---- printed -----------------------------------------------------------------------------------------------------------

namespace {

/// 1e-3 of -3, as the nearest double; 0 where it is smaller than the smallest.
double power_of_ten(std::int64_t exponent)
{
    const std::string text = "1e" + std::to_string(exponent);
    double power = 0;
    std::from_chars(text.data(), text.data() + text.size(), power); // which leaves it when out of range
    return power;
}

/// From the first that is not 0 on; 0 of zero.
int significant_digits(const Parts& parts)
{
    const std::string digits = parts.digits();
    return static_cast<int>(digits.size() - std::min(digits.find_first_not_of('0'), digits.size()));
}

/// Sets how far a number reaches that is rounded to these digits.
void set_reach(Printed& printed, const Parts& parts)
{
    if (printed.digits.fixed) {
        printed.unit = power_of_ten(-*printed.digits.fixed);
        printed.below = printed.unit / 2;
    }
    const std::string digits = parts.digits();
    const std::size_t first = digits.find_first_not_of('0');
    if (!printed.digits.scientific || first == std::string::npos) {
        return;
    }
    const auto leading = static_cast<std::int64_t>(parts.whole.size()) - 1 - static_cast<std::int64_t>(first);
    const double unit = power_of_ten(saturated_exponent(parts) + leading - *printed.digits.scientific);
    const bool power = digits[first] == '1' && digits.find_first_not_of('0', first + 1) == std::string::npos;
    printed.unit = std::max(printed.unit, unit);
    printed.below = std::max(printed.below, power ? unit / 20 : unit / 2);
}

/// Of a text that is this as a double; infinity beyond its range.
float nearest_float32(std::string_view text, double value)
{
    float single = 0;
    const bool out_of_range = std::from_chars(text.data(), text.data() + text.size(), single).ec != std::errc{};
    const float beyond = std::abs(value) < 1 ? 0 : std::numeric_limits<float>::infinity();
    return out_of_range ? std::copysign(beyond, value < 0 ? -1.0F : 1.0F) : single;
}

struct NumberRead {
    Parts parts;
    double value;
};
/// A finite number in fixed notation, or in scientific, which has one digit before the point, and 0 there for zero alone.
/// Nothing for another text, for more digits than anybody prints, and for what is beyond a double.
std::optional<NumberRead> read_number(std::string_view text)
{
    constexpr std::size_t most_decimals = 1000;
    const std::optional<Parts> parts = split(text);
    if (!parts || parts->fraction.size() > most_decimals) {
        return std::nullopt;
    }
    if (parts->exponent && (parts->whole.size() != 1 || (parts->whole == "0" && significant_digits(*parts) > 0))) {
        return std::nullopt;
    }
    double value = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    return result.ec == std::errc{} ? std::optional(NumberRead{*parts, value}) : std::nullopt;
}

/// With these digits, or its own.
std::optional<Printed> read_printed(std::string_view text, const std::optional<PrintedDigits>& given)
{
    Printed printed;
    if (is_nonfinite_name(text)) {
        const double infinity = std::numeric_limits<double>::infinity();
        printed.value = text == "nan" ? std::numeric_limits<double>::quiet_NaN() : text == "inf" ? infinity : -infinity;
        return printed;
    }
    const std::optional<NumberRead> read = read_number(text);
    if (!read) {
        return std::nullopt;
    }
    const Parts& parts = read->parts;
    const auto own = static_cast<int>(parts.fraction.size());
    const bool zero = significant_digits(parts) == 0;
    printed.value = read->value;
    printed.single = nearest_float32(text, printed.value);
    printed.digits = given            ? *given
                     : parts.exponent ? PrintedDigits{.fixed = {}, .scientific = own}
                                      : PrintedDigits{.fixed = own, .scientific = {}};
    if (zero && parts.exponent) { // a list prints one that was rounded as 0.0
        printed.digits.fixed.reset();
    }
    set_reach(printed, parts);
    return printed;
}

Printed required(const std::optional<Printed>& printed, std::string_view text)
{
    if (!printed) {
        refuse(text, "a printed number that a double can hold, such as 0.0185, 1. or 1.4928e-02, inf, -inf or nan");
    }
    return *printed;
}

/// The number of that type which the text reads as.
double read_as(const Printed& printed, ElementType type)
{
    switch (type) {
    case ElementType::float16: return from_float16(to_float16(printed.value));
    case ElementType::bfloat16: return from_bfloat16(to_bfloat16(printed.value));
    case ElementType::float32: return printed.single;
    default: return printed.value;
    }
}

/// Whether no other decimal is shorter and reads back to the same float32.
bool is_shortest_float32(const Printed& printed)
{
    return std::isfinite(printed.single) &&
           canonical_decimal(shortest(printed.single)) == canonical_decimal(shortest(printed.value));
}

} // namespace

std::optional<Printed> find_printed(std::string_view text)
{
    return read_printed(text, std::nullopt);
}

Printed parse_printed(std::string_view text)
{
    return required(read_printed(text, std::nullopt), text);
}

Printed parse_printed(std::string_view text, const PrintedDigits& digits)
{
    return required(read_printed(text, digits), text);
}

bool DigitsSeen::add(std::string_view number)
{
    if (is_nonfinite_name(number)) {
        return true;
    }
    const std::optional<NumberRead> read = read_number(number);
    if (!read) {
        return false;
    }
    const Parts& parts = read->parts;
    const auto own = static_cast<int>(parts.fraction.size());
    std::optional<int>& most = parts.exponent ? most_.scientific : most_.fixed;
    list_ |= parts.exponent ? most_.fixed || (most_.scientific && most_.scientific != own) : most_.scientific.has_value();
    most = std::max(most, std::optional(own)); // nothing is less than any number
    const int significant = significant_digits(parts);
    const std::int64_t fraction = own - (significant == 0 ? 0 : saturated_exponent(parts));
    decimals_ = std::max(decimals_, static_cast<int>(fraction));
    fewest_ = significant == 0 ? fewest_ : std::optional(std::min(fewest_.value_or(own), own));
    significant_ = std::max(significant_, significant);
    return true;
}

PrintedDigits DigitsSeen::digits() const
{
    constexpr int most_of_numpy = 8;
    if (list_) {
        return {.fixed = decimals_, .scientific = significant_ - 1};
    }
    if (most_.fixed == 0) {
        return {.fixed = most_of_numpy, .scientific = {}};
    }
    return most_;
}

PrintedDigits DigitsSeen::digits_unpadded() const
{
    const bool differ = !list_ && most_.fixed && fewest_ && *fewest_ < *most_.fixed;
    return differ ? PrintedDigits{.fixed = most_.fixed, .scientific = significant_ - 1} : digits();
}

PrintedDigits digits_of(const TextList& numbers)
{
    DigitsSeen seen;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        if (!seen.add(numbers[i])) {
            (void)parse_printed(numbers[i]); // which says why
        }
    }
    return seen.digits();
}

bool agrees(const Printed& printed, double value, ElementType type)
{
    const auto& [as_fixed, as_scientific] = printed.digits;
    if (!std::isfinite(printed.value) || !std::isfinite(value)) {
        return printed.value == value || (std::isnan(printed.value) && std::isnan(value));
    }
    if (std::signbit(printed.value) != std::signbit(value)) {
        return false;
    }
    return value == printed.value || value == read_as(printed, type) ||
           (as_fixed && fixed(value, *as_fixed) == fixed(printed.value, *as_fixed)) ||
           (as_scientific && scientific(value, *as_scientific) == scientific(printed.value, *as_scientific));
}

bool agrees_within(const Printed& printed, double value, double units, ElementType type)
{
    if (agrees(printed, value, type)) {
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

double nearest_printed(const Printed& printed, double value, ElementType type)
{
    if (agrees(printed, value, type)) {
        return value;
    }
    if (!std::isfinite(printed.value) || !std::isfinite(value)) {
        return printed.value;
    }
    const bool same_sign = std::signbit(printed.value) == std::signbit(value);
    const bool further = same_sign && std::abs(value) > std::abs(printed.value);
    const double reach = further     ? printed.unit / 2
                         : same_sign ? printed.below
                                     : std::min(printed.below, std::abs(printed.value));
    const double end = printed.value + std::copysign(reach, value - printed.value);
    const bool on_the_border = value < printed.value ? end <= value : end >= value; // from where it is rounded away
    return on_the_border ? std::nextafter(value, printed.value) : end;
}

bool agree(const Printed& a, const Printed& b)
{
    if (!std::isfinite(a.value) || !std::isfinite(b.value)) {
        return agrees(a, b.value);
    }
    const auto shortest_that_prints = [](const Printed& x, const Printed& y) {
        return is_shortest_float32(x) && (agrees(y, x.single) || (is_shortest_float32(y) && x.single == y.single));
    };
    constexpr double short_of_the_border = 1 - 1e-6; // which is a tie, and rounded to one of the two
    const double reach = (a.value < b.value) == std::signbit(a.value) ? a.below + b.unit / 2 : a.unit / 2 + b.below;
    const bool overlap = std::abs(a.value - b.value) < short_of_the_border * reach;
    return a.value == b.value || (overlap && std::signbit(a.value) == std::signbit(b.value)) || shortest_that_prints(a, b) ||
           shortest_that_prints(b, a);
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
