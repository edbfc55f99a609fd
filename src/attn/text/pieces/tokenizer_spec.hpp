// What a tokenizer.json says, as plain data: how text becomes pieces.
//
//   sentence → cut at added tokens → normalizer → cut at normalized added tokens → pre-tokenizer → model → template
//
// The steps are the smallest ones: what the file calls BertNormalizer, ByteLevel or Punctuation is several of them, or one of
// them with an argument. io reads the file into this; PieceTokenizer follows it.
#pragma once

#include "attn/tensor/shape.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace attn::text {

/// Pieces with their ids, side by side, because there are hundreds of thousands. Less than 4 GiB in all.
struct PieceList {
    struct PieceEntry {
        std::uint32_t begin;
        std::uint32_t size;
        std::int32_t id;
    };
    std::string letters;
    std::vector<PieceEntry> entries;

    void add(std::string_view piece, std::int32_t id);
    [[nodiscard]] std::string_view text(std::size_t entry) const
    {
        return std::string_view(letters).substr(entries[entry].begin, entries[entry].size);
    }
};

/// The pairs that byte-pair encoding joins, most wanted first, side by side as well.
struct MergeList {
    struct MergeEntry {
        std::uint32_t begin;
        std::uint32_t left;  ///< bytes of the left part; the right one follows it
        std::uint32_t right; ///< bytes
    };
    std::string letters;
    std::vector<MergeEntry> entries;

    void add(std::string_view left, std::string_view right);
    [[nodiscard]] std::string_view left(std::size_t entry) const
    {
        return std::string_view(letters).substr(entries[entry].begin, entries[entry].left);
    }
    [[nodiscard]] std::string_view right(std::size_t entry) const
    {
        return std::string_view(letters).substr(entries[entry].begin + entries[entry].left, entries[entry].right);
    }
};

/// What a step looks for: a string, a regular expression in Oniguruma's dialect, or one character of a class.
struct Pattern {
    enum class Kind { literal, regex, white_space, punctuation, numeric };
    Kind kind = Kind::literal;
    std::string text = {}; ///< of a literal or a regular expression
};

/// GPT-2's pattern, which ByteLevel means unless told otherwise.
inline constexpr std::string_view gpt2_pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

// Steps of a normalizer.

/// Unicode's normalization forms.
enum class Form { nfc, nfd, nfkc, nfkd };
/// BERT: white space becomes a space; controls, formats, private characters, U+FFFD and U+0000 go.
struct CleanText {};
/// BERT: a space on both sides of every Chinese character.
struct SpaceChinese {};
/// Marks go: all of category M, or those of Mn alone.
struct DropMarks {
    bool nonspacing_alone = false;
};
/// One character at a time: no final sigma.
struct Lowercase {};
struct Strip {
    bool left = true;
    bool right = true;
};
/// In front of text that is not empty.
struct Prepend {
    std::string text;
};
/// Every match.
struct Replace {
    Pattern pattern;
    std::string content;
};
/// SentencePiece's compiled map: u32 size, so many bytes of a double array, then replacements that end in NUL.
struct CharacterMap {
    std::string bytes;
};
/// SentencePiece's own normalizer, one pass: at each place the longest string that `map` knows is replaced, and spaces are
/// written as the flags say.
struct SentencePieceRules {
    std::string map = {};               ///< as a CharacterMap's; empty: every character stays
    std::vector<std::string> kept = {}; ///< strings that stay as they are
    bool prefix = true;                 ///< a space before a text that is not empty,
    bool suffix = false;                ///< or behind it
    bool few_spaces = true;             ///< one at most between words, none at the ends but these
    bool escape = true;                 ///< spaces become ▁
};
using NormalizerStep = std::variant<Form, CleanText, SpaceChinese, DropMarks, Lowercase, Strip, Prepend, Replace, CharacterMap,
                                    SentencePieceRules>;

// Steps of a pre-tokenizer.

/// What becomes of the matches at which text is split.
enum class Behavior { removed, isolated, contiguous, merged_with_previous, merged_with_next };
struct Split {
    Pattern pattern;
    Behavior behavior = Behavior::isolated;
    bool invert = false; ///< matches and what lies between them swap their roles
};
/// In front of what does not begin with one.
struct PrefixSpace {};
/// Every byte becomes the character that stands for it (characters.hpp).
struct ByteAlphabet {};
/// Spaces become `replacement`, one character, which is also put in front of what does not begin with it.
struct Metaspace {
    enum class Scheme { always, first, never };
    std::string replacement = "\u2581";
    Scheme scheme = Scheme::always; ///< first: only where the sentence begins
};
using SplitterStep = std::variant<Split, PrefixSpace, ByteAlphabet, Metaspace>;

// Models: a word becomes pieces of the vocabulary.

/// The longest piece that the rest of the word begins with, again and again; `unknown` for the whole word when none does.
struct WordPieceModel {
    std::string unknown = "[UNK]";
    std::string prefix = "##"; ///< of every piece but a word's first
    Index longest_word = 100;  ///< in characters
};
/// Characters, of which the pair of the lowest rank is joined, the leftmost first, until none is left.
struct BytePairModel {
    MergeList merges = {};
    std::vector<std::uint32_t> ranks = {}; ///< of the merges, where several are wanted alike; empty: their places
    std::optional<std::string> unknown = {};
    std::string prefix = {}; ///< of every character but a word's first
    std::string suffix = {}; ///< of a word's last character
    bool fuse_unknown = false;
    bool show_unknown = false;                     ///< its text is the sentence's
    std::vector<std::uint32_t> never_in_text = {}; ///< entries, in order, that no character is
    bool byte_fallback = false;                    ///< <0xE2> for each byte of an unknown character
    bool ignore_merges = false;                    ///< for a word of the vocabulary
};
/// The pieces with the largest sum of scores.
struct UnigramModel {
    std::vector<double> scores;              ///< of each entry of the vocabulary; no_score: no text becomes it
    std::optional<std::size_t> unknown = {}; ///< an entry
    bool byte_fallback = false;
    /// As SentencePiece itself: the score of an unknown character, which no entry of several can replace; sums are float32.
    /// Otherwise 10 less than the lowest score, and sums are float64.
    std::optional<float> unknown_score = {};
};
inline constexpr double no_score = -std::numeric_limits<double>::infinity();
/// A word is a piece, or `unknown`.
struct WordLevelModel {
    std::string unknown = "[UNK]";
};
using PieceModel = std::variant<WordPieceModel, BytePairModel, UnigramModel, WordLevelModel>;

/// Stands for itself wherever a sentence holds it.
struct AddedToken {
    std::int32_t id = 0;
    std::string content;
    bool single_word = false; ///< only between what belongs to no word
    bool lstrip = false;      ///< takes the white space before it,
    bool rstrip = false;      ///< and after it
    bool normalized = false;  ///< is looked for in normalized text, itself normalized,
    bool as_written = false;  ///< or not
    bool special = false;
};

/// A place of the template: one of the sentences, or a piece.
struct TemplateItem {
    int sentence = 0;    ///< 0, 1; -1: the piece `id`
    std::int32_t id = 0; ///< of a piece
    Index type = 0;      ///< token type id
};

/// The bounds of a piece leave out the spaces at its ends; one in front is kept at the beginning of a sentence if it may have
/// been put there.
struct TrimmedBounds {
    bool prefix_space = true;
};

struct TokenizerSpec {
    std::vector<NormalizerStep> normalizer;
    std::vector<SplitterStep> splitter;
    PieceList vocabulary; ///< the model's, without added tokens
    PieceModel model;
    std::optional<PieceList> names = {}; ///< ids go by these alone; what is not among them has that of <unk>
    std::vector<AddedToken> added;
    std::array<std::vector<TemplateItem>, 2> templates{
        std::vector<TemplateItem>{{0, 0, 0}}, std::vector<TemplateItem>{{0, 0, 0}, {1, 0, 1}}}; ///< of one sentence, of two
    std::optional<TrimmedBounds> trimmed = {};
};

} // namespace attn::text
