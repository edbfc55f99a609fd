#include "attn/io/json/printed_array.hpp"

#include "attn/io/bytes.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

namespace attn::io {
namespace {

constexpr std::string_view white_space = " \t\r\n";
constexpr std::size_t most_dimensions = 8;

constexpr std::array<std::string_view, 4> beginnings{"[", "tensor(", "array(", "Parameter containing:"};

/// Where an array may begin: at the front, and behind what may be a title.
std::vector<std::size_t> possible_begins(std::string_view text)
{
    constexpr std::size_t longest_title = 200;
    const std::size_t mark = text.size() - without_byte_order_mark(text).size();
    const auto behind_space = [&](std::size_t at) { return std::min(text.find_first_not_of(white_space, at), text.size()); };
    std::vector<std::size_t> begins{behind_space(mark)};
    const std::size_t line = std::min({text.find('\n', begins.front()), text.size(), begins.front() + longest_title});
    for (std::size_t at = begins.front(); at < std::min(line + 1, text.size()); ++at) {
        if (text[at] == ':' || text[at] == '=' || text[at] == '\n') {
            begins.push_back(behind_space(at + 1));
        }
    }
    return begins;
}

/// Where the array begins, or at the front.
std::size_t begin_of(std::string_view text)
{
    const std::vector<std::size_t> begins = possible_begins(text);
    for (const std::size_t begin : begins) {
        const auto here = [&](std::string_view word) { return text.substr(begin).starts_with(word); };
        if (std::ranges::any_of(beginnings, here)) {
            return begin;
        }
    }
    return begins.front();
}

class Reader {
public:
    Reader(std::string_view text, const std::string& what) : text_(text), what_(what), at_(begin_of(text)) {}

    PrintedArray read() &&
    {
        take("Parameter containing:");
        const bool called = take("tensor(") || take("array(");
        read_value(0);
        if (called) {
            skip_arguments();
        }
        if (skip_space(); at_ != text_.size()) {
            refuse("nothing behind the array");
        }
        array_.digits = math::digits_of(array_.texts);
        return std::move(array_);
    }

private:
    [[noreturn]] void refuse(const std::string& allowed) const
    {
        const std::string_view rest = text_.substr(at_);
        const std::string got =
            rest.empty() ? "the end of the text" : in_quotes(rest.substr(0, std::max<std::size_t>(1, token().size())), 30);
        throw Error(ErrorKind::data, fmt::format("{} at character {}", what_, at_), got, allowed);
    }

    void skip_space() { at_ = std::min(text_.find_first_not_of(white_space, at_), text_.size()); }

    /// Whether this comes next, behind white space; then it is read.
    bool take(std::string_view wanted)
    {
        skip_space();
        const bool there = text_.substr(at_).starts_with(wanted);
        at_ += there ? wanted.size() : 0;
        return there;
    }

    [[nodiscard]] std::string_view token() const
    {
        return text_.substr(at_, std::min(text_.find_first_of(" \t\r\n,[]()", at_), text_.size()) - at_);
    }

    /// A number, or a list of values of the same shape.
    void read_value(std::size_t depth)
    {
        if (!take("[")) {
            return read_number(depth);
        }
        if (depth == most_dimensions) {
            --at_;
            refuse(fmt::format("at most {} brackets in each other", most_dimensions));
        }
        const bool first = !closed_ && array_.shape.size() == depth;
        if (first) {
            array_.shape.push_back(0);
        } else if (depth >= array_.shape.size()) {
            --at_;
            refuse("a number, as before");
        }
        Index length = 0;
        while (!take("]")) {
            read_value(depth + 1);
            take(",");
            ++length;
        }
        closed_ = true; // the first row is, which gives the shape
        Index& expected = array_.shape[depth];
        expected = first ? length : expected;
        if (length == 0 || length != expected) {
            throw Error(ErrorKind::data, fmt::format("{} up to character {}", what_, at_),
                        counted(length, "element") + " in a row",
                        length == 0 ? "at least one" : fmt::format("{}, as before", expected));
        }
    }

    void read_number(std::size_t depth)
    {
        const std::string_view number = token();
        if (number.find("...") != std::string_view::npos || number.find("…") != std::string_view::npos) {
            throw Error(ErrorKind::data, fmt::format("{} at character {}", what_, at_), in_quotes(number),
                        "all numbers; paste the whole array, printed with threshold=10**9 in set_printoptions");
        }
        if (depth > 0 && number.find('=') != std::string_view::npos) {
            throw Error(ErrorKind::data, fmt::format("{} at character {}", what_, at_), in_quotes(number, 30),
                        fmt::format("a ']' before it for each '[' that is open, of which there {} {}",
                                    depth == 1 ? "is" : "are", depth));
        }
        if (!math::find_printed(number)) {
            refuse("numbers as PyTorch or NumPy prints them, such as tensor([[0.2961, 0.5166]]) or [[0.2961 0.5166]]");
        }
        if (depth != array_.shape.size()) {
            refuse("a row of numbers, as before");
        }
        closed_ = true;
        array_.texts.push_back(number);
        at_ += number.size();
    }

    /// ", grad_fn=<MmBackward0>, dtype=torch.float64)"
    void skip_arguments()
    {
        while (take(",")) {
            skip_space();
            const std::size_t equals = text_.find_first_of("=,)", at_);
            if (equals == std::string_view::npos || text_[equals] != '=') {
                refuse("a name and a value, such as grad_fn=<MmBackward0>");
            }
            at_ = equals + 1;
            constexpr std::array<std::pair<char, char>, 4> pairs{{{'<', '>'}, {'(', ')'}, {'\'', '\''}, {'"', '"'}}};
            const char first = at_ < text_.size() ? text_[at_] : '\0';
            const auto pair = std::ranges::find(pairs, first, &std::pair<char, char>::first);
            at_ = std::min(pair == pairs.end() ? at_ : text_.find(pair->second, at_ + 1), text_.size());
            at_ = std::min(text_.find_first_of(",)", at_ + (pair == pairs.end() ? 0 : 1)), text_.size());
        }
        if (!take(")")) {
            refuse("')' behind the array");
        }
    }

    std::string_view text_;
    const std::string& what_;
    std::size_t at_;
    bool closed_ = false; ///< the number of dimensions is known
    PrintedArray array_;
};

} // namespace

bool is_printed_array(std::string_view text)
{
    const std::string_view rest = text.substr(begin_of(text));
    return std::ranges::any_of(beginnings, [&](std::string_view word) { return rest.starts_with(word); });
}

bool may_begin_printed_array(std::string_view front)
{
    if (front.find('\0') != std::string_view::npos) {
        return false;
    }
    const auto may_begin = [&](std::size_t begin) {
        const std::string_view rest = front.substr(begin);
        return std::ranges::any_of(beginnings,
                                   [&](std::string_view word) { return rest.starts_with(word) || word.starts_with(rest); });
    };
    return front.find('\n') == std::string_view::npos || std::ranges::any_of(possible_begins(front), may_begin);
}

PrintedArray parse_printed_array(std::string_view text, const std::string& what)
{
    if (text.size() > std::numeric_limits<std::uint32_t>::max()) { // what a TextList can hold
        throw Error(ErrorKind::too_large, what, fmt::format("{} bytes", text.size()), "up to 4294967295");
    }
    return Reader(text, what).read();
}

} // namespace attn::io
