#include "attn/math/printed_numbers.hpp"

#include <algorithm>
#include <array>

namespace attn::math {
namespace {

/// A number as a program or a person spells it, and as this library does.
struct Spelling {
    std::string_view found, usual;
};
constexpr std::array<Spelling, 18> spellings{{{"", "-inf"},
                                              {"null", "-inf"},
                                              {"masked", "-inf"},
                                              {"-Infinity", "-inf"},
                                              {"-Inf", "-inf"},
                                              {"-INF", "-inf"},
                                              {"Infinity", "inf"},
                                              {"+Infinity", "inf"},
                                              {"Inf", "inf"},
                                              {"+inf", "inf"},
                                              {"INF", "inf"},
                                              {"NaN", "nan"},
                                              {"NAN", "nan"},
                                              {"-nan", "nan"},
                                              {"True", "1"},
                                              {"true", "1"},
                                              {"False", "0"},
                                              {"false", "0"}}};

} // namespace

std::string_view word_at(std::string_view text, std::size_t begin)
{
    constexpr std::string_view ends = " \t\r\n,;|()[]{}<>\"'";
    const std::size_t end = text.find_first_of(ends, begin);
    return text.substr(begin, end == std::string_view::npos ? end : end - begin);
}

std::string_view usual_spelling(std::string_view word)
{
    const bool is_number = !word.empty() && word.front() >= '0' && word.front() <= '9';
    const auto* const found = is_number ? spellings.end() : std::ranges::find(spellings, word, &Spelling::found);
    if (found != spellings.end()) {
        return found->usual;
    }
    return word.starts_with("+") && !word.starts_with("+-") ? word.substr(1) : word;
}

PackedDigits::PackedDigits(const PrintedDigits& digits)
    : fixed(static_cast<std::int16_t>(digits.fixed.value_or(-1))),
      scientific(static_cast<std::int16_t>(digits.scientific.value_or(-1)))
{
}

PrintedDigits PackedDigits::unpacked() const
{
    const auto known = [](std::int16_t digits) { return digits < 0 ? std::nullopt : std::optional<int>(digits); };
    return {.fixed = known(fixed), .scientific = known(scientific)};
}

Printed PrintedNumbers::operator[](std::size_t at) const
{
    const std::size_t alike = size() / places_->digits.size();
    return parse_printed(usual_spelling(word_at(text_, places_->begins[at])), places_->digits[at / alike].unpacked());
}

} // namespace attn::math
