// Arrays of numbers in a text of any form: which forms there are, which one a text has, and what they have in common.
#pragma once

#include "attn/math/printed_numbers.hpp"
#include "attn/tensor/shape.hpp"

#include <optional>
#include <span>
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

    /// The word that begins there; no word at all is an empty one, which is -inf. Throws Error(data) for what is not a number.
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
    /// For as many more as the rest of the text may hold, if it is like what was read.
    void make_room(std::size_t begin);

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

/// Walks through the lines of a text, without a byte order mark; they end as line_end_size() has it.
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
    std::size_t newline_ = 0; ///< at or behind at_, if it was looked for since
    Index number_ = 0;
};

/// A word, and where it begins in the text.
struct TextField {
    std::size_t begin = 0;
    std::string_view word;
};
/// Whether it is a number, as any program writes it.
[[nodiscard]] bool is_number(std::string_view word);
/// Whether it is one, or nearly: a digit comes before any letter, as in "1e400", ".5", "0x10", "50%" and "(1+2j)", or it is
/// "infinity" in other letters.
[[nodiscard]] bool begins_as_number(std::string_view word);
/// What is allowed in place of a word that is none, for messages.
[[nodiscard]] std::string_view number_in_place_of(std::string_view word);
/// The next one of a line from `at` on, which moves behind it; with `separator` between them, where an empty one is one, too,
/// and quotes go around one as RFC 4180 has it, or with white space between them. Nothing: there is none.
[[nodiscard]] std::optional<TextField> next_field(const TextLine& line, std::optional<char> separator, std::size_t& at);
/// The word that a field stands for: without its quotes.
[[nodiscard]] std::string unquoted(std::string_view field);
[[nodiscard]] std::string_view trimmed(std::string_view text);

/// "(3, 3)", "(3,)", "[3, 3]" or "()"; nothing for anything else.
[[nodiscard]] std::optional<Shape> shape_in(std::string_view text);

/// What is allowed where something is to be done with the numbers, for messages.
inline constexpr std::string_view without_factor =
    "numbers as they are, multiplied out; torch.set_printoptions(sci_mode=False) and MATLAB's format long g print no factor";

// ---- any form --------------------------------------------------------------------------------------------------------------

/// What is allowed where a text may be, for messages.
inline constexpr std::string_view text_forms = "an array as text (printed, np.savetxt, CSV, a list)";

/// Of the first bytes, which may be all or not: whether they may be such a text, and not something else.
[[nodiscard]] bool may_begin_text(std::string_view front);
/// Whether a whole text is.
[[nodiscard]] bool is_text_of_arrays(std::string_view text);

/// By what the text is, whatever its file is called. Throws Error(data), naming `what`, for what is broken in it, for two
/// arrays of one name, and where it is none of the forms; Error(too_large) for 4 GiB and more.
[[nodiscard]] std::vector<ArrayText> read_text_arrays(std::string_view text, const std::string& what);

// ---- each form; printed_array.hpp has one more -----------------------------------------------------------------------------

// CSV as `run` writes it (report/csv.hpp): one record per number, with its place in the array.
//
//   array,head,row,column,query_token,key_token,value      in front "index", of several results; behind "array" "layer"
//   weights,0,0,0,Life,Life,0.9988521                      a masked score has no value

[[nodiscard]] bool begins_long_csv(std::string_view text);

/// Arrays as JSON calls them, "line 2 weights" of one of several results, "layers.3.weights" of a layer. Throws Error(data):
/// records that do not make a whole array.
[[nodiscard]] std::vector<ArrayText> read_long_csv(std::string_view text, const std::string& what);

// A matrix as rows of numbers: what np.savetxt writes, and CSV of other programs.
//
//   # by np.savetxt             Life,is,short           ,0,1
//   1.0e+00 2.5e-01             0.5,0.25,0.25           Life,0.5,0.5        words of columns and of rows, or none

/// Whether the first lines are such rows.
[[nodiscard]] bool begins_rows(std::string_view text);

/// White space, commas, semicolons or tabs stand between the numbers, which of them the first line decides; lines that begin
/// with "#" say nothing. Everything is a number but a first line of words, of which none begins as a number, or whose first
/// cell is empty before words or whole numbers; and a word before each row. One column is a vector, (n,). Blank lines stand
/// between matrices of the same shape, which are heads, (H, T, S), or between all rows. Throws Error(data): rows of different
/// lengths, words among the numbers, a line below words that may be a comment or a row.
[[nodiscard]] ArrayText read_rows(std::string_view text, const std::string& what);

// The tables that `run` prints (report/text/table.hpp):
//
//   weights, head 0 (2, 3)            its name, which head where there are several, and the shape
//          Life      is   short       words of the columns, or numbers
//   Life  0.9989  0.0010  0.0001      a word or number, the numbers, and of weights perhaps their sum
//   is    0.0001  0.2071  masked

/// Whether a title of such a table is among the first lines.
[[nodiscard]] bool begins_tables(std::string_view text);

/// Every table of one run, as JSON calls its array and with the dimensions that it has there: heads are one array, also one
/// alone; "layers.3.weights" of a layer. Also arrays as PyTorch prints them below such titles. What stands between them says
/// nothing. Throws Error(data): a table that lacks rows or, as on a terminal, columns.
[[nodiscard]] std::vector<ArrayText> read_tables(std::string_view text, const std::string& what);

} // namespace attn::io
