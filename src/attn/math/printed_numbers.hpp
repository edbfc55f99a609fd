// The numbers of a text, where they stand in it.
//
// A text of a hundred million numbers is larger than what they are worth: four bytes are kept of each, where it begins, and
// what it says is read when it is asked for.
#pragma once

#include "attn/math/decimal.hpp"

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace attn::math {

/// The word of a text that begins at `begin`: up to white space, a comma, a semicolon, a bar, a bracket, a quote, or the end.
[[nodiscard]] std::string_view word_at(std::string_view text, std::size_t begin);

/// What programs write for a number, as find_printed() has it: "NaN" is "nan", "Infinity" and "Inf" are "inf", "+0.5" is
/// "0.5", true is "1" and false "0". No word at all, "null" and "masked" stand for a masked score, "-inf".
[[nodiscard]] std::string_view usual_spelling(std::string_view word);

/// PrintedDigits, where there may be one per line; -1: none.
struct PackedDigits {
    std::int16_t fixed = -1, scientific = -1;

    PackedDigits() = default;
    explicit PackedDigits(const PrintedDigits& digits);
    [[nodiscard]] PrintedDigits unpacked() const;
};

/// Where numbers begin in a text, in an order of their own, and how they were rounded when they were printed.
struct NumberPlaces {
    std::vector<std::uint32_t> begins;
    std::vector<PackedDigits> digits; ///< each of as many numbers
};

/// Numbers that were printed. Copies share what they know.
class PrintedNumbers {
public:
    PrintedNumbers() = default;
    /// `text` outlives them; each place holds a number.
    PrintedNumbers(std::string_view text, NumberPlaces places)
        : text_(text), places_(std::make_shared<const NumberPlaces>(std::move(places)))
    {
    }

    [[nodiscard]] bool empty() const { return size() == 0; } ///< nothing was printed
    [[nodiscard]] std::size_t size() const { return places_ ? places_->begins.size() : 0; }
    [[nodiscard]] Printed operator[](std::size_t at) const;

private:
    std::string_view text_;
    std::shared_ptr<const NumberPlaces> places_;
};

} // namespace attn::math
