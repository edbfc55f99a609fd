// Word vectors as text: GloVe, word2vec's text format, fastText's .vec. One word per line:
//
//   [count dim]                     word2vec and fastText; GloVe has no such line
//   word 0.25 -1.5 … 3e-2           the word, then dim decimal numbers, parted by one ASCII space each
//
// The last `dim` fields are the vector; whatever stands before them is the word, which may hold spaces. A first line of two
// whole numbers is a header; without one, dim is how many numbers most of the first lines have. Lines end in "\n" or "\r\n",
// with or without a space before it (word2vec writes one); the last line may lack its end. A byte order mark before the first
// line is skipped.
//
// A file of millions of words is walked through, never held: of every line the fields are counted and the word is checked, and
// of the wanted lines alone the numbers are read.
#pragma once

#include "attn/io/bytes.hpp"
#include "attn/model/layer/found_vectors.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attn::io {

inline constexpr std::string_view vectors_allowed = "word vectors as text, or an embedding tensor (.npy, .npz, .safetensors)";

/// What stands in a file, after a byte order mark. The bytes outlive it.
struct TextFile {
    std::string_view text;
    std::string name; ///< for messages
};

/// Word vectors, and what their first lines say.
struct VectorText {
    TextFile file;
    Index dim = 0;                   ///< numbers of a word
    std::optional<Index> count = {}; ///< of words, as the header states
    std::size_t first = 0;           ///< where the first word stands in the text
};

struct VectorSearch {
    bool allow_nonfinite = false; ///< infinities and NaN
    /// Told every few megabytes where the walk has come to, so that what lies behind can leave the memory.
    std::function<void(std::size_t offset)> passed = {};
};

/// Looks at the first lines. Throws Error(data) for bytes that are no text, for a text without words, for a dimension of 0 or
/// over model::largest_vector, for a first word without numbers.
[[nodiscard]] VectorText open_vector_text(Bytes bytes, std::string name);

/// Walks through the whole text. Throws Error(data), with the number of the line: too few
/// numbers, a word that is not UTF-8, a line of megabytes; of the wanted words also too many numbers, what is not a number, not
/// finite or beyond float64, a word that stands there twice; and for another number of words than the header states.
[[nodiscard]] model::FoundVectors find_vectors(const VectorText& text, const model::WantedWords& wanted,
                                               const VectorSearch& search = {});

/// Where each word stands, 24 bytes per word: for searching a text many times. Finds what find_vectors finds and throws
/// what it throws.
class VectorIndex {
public:
    VectorIndex(VectorText text, const VectorSearch& search);

    [[nodiscard]] model::FoundVectors find(const model::WantedWords& wanted, bool allow_nonfinite) const;

private:
    struct LinePlace {
        std::uint64_t hash;
        std::uint64_t offset; ///< of the line,
        Index line;           ///< and its number
    };

    VectorText text_;
    std::vector<LinePlace>
        places_; ///< sorted by hash; lines with more fields than a word and its numbers also by their first field
};

struct WordLines {
    std::vector<std::string_view> words; ///< the first ones
    Index count = 0;                     ///< of all
};
/// Words, one per line, of which `most` are kept; the text begins and its lines end as above. The same word may stand there
/// often. Throws Error(data) for a line that is empty or not UTF-8.
[[nodiscard]] WordLines word_lines(Bytes bytes, const std::string& name, Index most);

/// A list of words, one per line, for the rows of a tensor, as above.
class WordList {
public:
    /// For so many rows: of a list of more words none is kept. Throws Error(data): a line that is empty or not UTF-8, a word
    /// that stands there twice.
    WordList(Bytes bytes, const std::string& name, Index rows);

    [[nodiscard]] Index size() const { return size_; }
    [[nodiscard]] std::optional<Index> row_of(std::string_view word) const;

private:
    struct WordRow {
        std::string_view word;
        Index row;
    };
    std::vector<WordRow> rows_; ///< sorted by word
    Index size_ = 0;
};

} // namespace attn::io
