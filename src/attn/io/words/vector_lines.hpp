// The lines of word vectors: where they end, how many fields they have, and the numbers in them.
#pragma once

#include "attn/io/words/word_vectors.hpp"
#include "attn/tensor/error.hpp"

namespace attn::io {

struct VectorLine {
    Index number = 0;       ///< from 1
    std::size_t offset = 0; ///< of its first byte
    std::string_view text;  ///< without its end
    Index spaces = 0;
};

/// "'glove.txt', line 12"
[[nodiscard]] std::string place_of(const std::string& name, Index line);

/// Walks from `offset`, where line `number` begins, to the end of the text.
class VectorLines {
public:
    VectorLines(const TextFile& file, std::size_t offset, Index number, std::function<void(std::size_t)> passed = {});

    /// Throws Error(data) for a line of many megabytes.
    [[nodiscard]] std::optional<VectorLine> next();

private:
    const TextFile& file_;
    std::function<void(std::size_t)> passed_;
    std::size_t offset_;
    std::size_t told_;
    Index number_;
};

/// Throws Error(data) for what is not UTF-8, by line and byte.
void require_word(const std::string& name, const VectorLine& line, std::string_view word);

/// A line, taken apart.
struct VectorEntry {
    std::string_view word;
    std::string_view numbers;
};
/// Of a line with another count of numbers than `dim`.
[[nodiscard]] Error other_count(const VectorText& text, const VectorLine& line);

/// The first field of a line that has more numbers than `dim` and nothing but numbers behind it, such as "Life"; otherwise
/// nothing: the word of several parts is "Life 1" here.
[[nodiscard]] std::string_view lone_word(const VectorText& text, const VectorLine& line);

/// Throws Error(data) for fewer numbers than `dim` and for a word that is not UTF-8.
[[nodiscard]] VectorEntry entry_of(const VectorText& text, const VectorLine& line);

/// Into `row`, as many as it has room for: the nearest float64, 0 for what is nearer to 0 than to any other. Throws Error(data)
/// for what is not a number, not finite, or beyond float64.
void read_numbers(const std::string& name, const VectorLine& line, std::string_view numbers, bool allow_nonfinite,
                  std::span<double> row);

/// Whether all fields of `fields` are numbers.
[[nodiscard]] bool are_numbers(std::string_view fields);

} // namespace attn::io
