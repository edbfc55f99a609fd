#include "cli/options/numbers.hpp"

#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <system_error>

namespace attn::cli {
namespace {

bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/// Whether a number may begin like this: digits or a minus and digits, and no zero before another digit.
bool begins_plainly(std::string_view text)
{
    if (text.starts_with('-')) {
        text.remove_prefix(1);
    }
    const bool digit_first = !text.empty() && is_digit(text[0]);
    const bool padded = text.size() > 1 && text[0] == '0' && is_digit(text[1]);
    return digit_first && !padded;
}

template <typename Number>
bool parse_whole(std::string_view text, Number& number)
{
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    return error == std::errc{} && stop == end;
}

template <typename Integer>
Integer ranged(std::string_view option, std::string_view text, Integer least, Integer most, std::string_view allowed = "")
{
    Integer number{};
    const bool plain = begins_plainly(text) && text != "-0";
    if (!plain || !parse_whole(text, number) || number < least || number > most) {
        const bool padded = !plain && text != "-0" && parse_whole(text, number);
        const std::string range =
            fmt::format("an integer from {} to {}{}", least, most, padded ? ", without leading zeros" : "");
        throw Error(ErrorKind::usage, option, in_quotes(text), allowed.empty() ? range : allowed);
    }
    return number;
}

[[noreturn]] void refuse_list(std::string_view option, std::string_view text, std::string_view items_are)
{
    throw Error(ErrorKind::usage, option, in_quotes(text), fmt::format("{} with single commas between them", items_are));
}

} // namespace

std::int64_t integer(std::string_view option, std::string_view text, std::int64_t least, std::int64_t most,
                     std::string_view allowed)
{
    return ranged(option, text, least, most, allowed);
}

std::uint64_t natural(std::string_view option, std::string_view text, std::uint64_t least, std::uint64_t most)
{
    return ranged(option, text, least, most);
}

double real(std::string_view option, std::string_view text, const RealRange& range)
{
    double number = 0;
    const std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
    const bool point_first = digits.size() > 1 && digits[0] == '.' && is_digit(digits[1]); // ".3"
    const bool read = (begins_plainly(text) || point_first) && parse_whole(text, number) && std::isfinite(number);
    if (!read || number < range.least || (number == range.least && !range.least_itself) || number >= range.below) {
        throw Error(ErrorKind::usage, option, in_quotes(text), range.allowed);
    }
    return number;
}

std::vector<std::string_view> list(std::string_view option, std::string_view text, std::string_view items_are)
{
    std::vector<std::string_view> items;
    for (std::string_view rest = text;;) {
        const std::size_t comma = rest.find(',');
        items.push_back(rest.substr(0, comma));
        if (items.back().empty()) {
            refuse_list(option, text, items_are);
        }
        if (comma == std::string_view::npos) {
            return items;
        }
        rest.remove_prefix(comma + 1);
    }
}

std::vector<std::string_view> list_of_words(std::string_view option, std::string_view text, std::string_view items_are)
{
    constexpr std::string_view blanks = " \t";
    std::vector<std::string_view> items = list(option, text, items_are);
    for (std::string_view& item : items) {
        item.remove_prefix(std::min(item.find_first_not_of(blanks), item.size()));
        item = item.substr(0, item.find_last_not_of(blanks) + 1);
        if (item.empty() || item.find_first_of(blanks) != std::string_view::npos) {
            refuse_list(option, text, items_are);
        }
    }
    return items;
}

} // namespace attn::cli
