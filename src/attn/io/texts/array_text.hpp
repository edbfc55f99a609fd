// Arrays as they stand in a text, whatever its form: what the readers of this room give, and what they have in common.
#pragma once

#include "attn/math/printed_numbers.hpp"
#include "attn/tensor/shape.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attn::io {

inline constexpr std::size_t most_text_dimensions = 8;
inline constexpr std::size_t most_arrays = 1 << 16;      ///< in a text
inline constexpr std::size_t most_text_labels = 1 << 18; ///< of rows and of columns; more are not kept

struct ArrayText {
    std::string name; ///< empty: the text has none for it
    Shape shape;
    math::NumberPlaces numbers = {};                  ///< row-major
    bool whole = false;                               ///< integers that 64 bits hold, without a point
    bool truths = false;                              ///< True and False
    std::vector<std::string> rows = {}, columns = {}; ///< words of the last two dimensions; empty: it has none
};

/// The numbers of one array, while they are found.
class NumbersInText {
public:
    /// Both outlive it. Throws Error(too_large) for a text of 4 GiB and more.
    NumbersInText(std::string_view text, const std::string& what);

    /// The word that begins there. Throws Error(data) for what is not a number.
    void add(std::size_t begin);
    /// Whether it is one, and added.
    [[nodiscard]] bool try_add(std::size_t begin);
    /// Those since the last call were rounded alike, and to other digits than those behind. Each call ends as many.
    void end_row();

    [[nodiscard]] Index count() const { return std::ssize(places_.begins); }
    /// Of an array, which ends here; the next one begins.
    [[nodiscard]] ArrayText take(std::string name, Shape shape);
    /// The same where nothing pads the numbers (math::DigitsSeen).
    [[nodiscard]] ArrayText take_unpadded(std::string name, Shape shape);

private:
    std::string_view text_;
    const std::string& what_;
    math::NumberPlaces places_;
    math::DigitsSeen seen_;
    bool all_whole_ = true, all_truths_ = true;
};

/// "'a.txt', line 3, column 7"
[[nodiscard]] std::string place_in(std::string_view text, const std::string& what, std::size_t offset);
/// Throws Error(data) at a place of the text, with the word there.
[[noreturn]] void refuse_word(std::string_view text, const std::string& what, std::size_t offset, std::string_view allowed);

// ---- lines -----------------------------------------------------------------------------------------------------------------

struct TextLine {
    std::size_t begin = 0; ///< of its first byte
    std::string_view text; ///< without its end
    Index number = 0;      ///< from 1
};

/// Walks through the lines of a text, without a byte order mark; they end in "\n" or "\r\n".
class TextLines {
public:
    explicit TextLines(std::string_view text);
    /// Whether there is one more, which `line` then is.
    [[nodiscard]] bool next(TextLine& line);
    /// To a place further on, in whose line it goes on.
    void skip_to(std::size_t place);

private:
    std::string_view text_;
    std::size_t at_;
    Index number_ = 0;
};

/// A word, and where it begins in the text.
struct Field {
    std::size_t begin = 0;
    std::string_view word;
};
/// Whether it is a number, as any program writes it.
[[nodiscard]] bool is_number(std::string_view word);
/// The next one of a line from `at` on, which moves behind it; with `separator` between them, where an empty one is one, too,
/// and quotes go around one as RFC 4180 has it, or with white space between them. Nothing: there is none.
[[nodiscard]] std::optional<Field> next_field(const TextLine& line, std::optional<char> separator, std::size_t& at);
/// The word that a field stands for: without its quotes.
[[nodiscard]] std::string unquoted(std::string_view field);
[[nodiscard]] std::string_view trimmed(std::string_view text);

} // namespace attn::io
