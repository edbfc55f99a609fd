// A word becomes pieces: the models of tokenizer.json, run.
#pragma once

#include "attn/text/pieces/aligned.hpp"
#include "attn/text/pieces/piece_index.hpp"
#include "attn/text/pieces/tokenizer_spec.hpp"

#include <array>
#include <optional>
#include <string_view>
#include <vector>

namespace attn::text {

/// An entry of the vocabulary that stands for bytes of a word.
struct Token {
    std::uint32_t entry;
    Span span;
    bool unknown = false; ///< Unigram: the word's bytes themselves are its text
};

/// The entry of `piece`. Throws Error(data) where it is not in the vocabulary.
[[nodiscard]] std::uint32_t require_piece(const PieceIndex& vocabulary, std::string_view piece, std::string_view what);

/// <0x00> … <0xFF>, where the vocabulary has them all: the entries that stand for bytes of what it does not know.
class ByteFallback {
public:
    ByteFallback(const PieceIndex& vocabulary, bool wanted);

    /// One token a byte, or nothing when one of the bytes has none.
    [[nodiscard]] std::optional<std::vector<Token>> tokens(std::string_view word, Span span) const;

private:
    std::array<std::optional<std::uint32_t>, 256> entries_{};
};

class WordPiece {
public:
    WordPiece(const PieceIndex& vocabulary, WordPieceModel model);
    [[nodiscard]] std::vector<Token> tokens(const PieceIndex& vocabulary, std::string_view word, Budget& budget) const;

private:
    WordPieceModel model_;
    std::uint32_t unknown_;
};

class WordLevel {
public:
    WordLevel(const PieceIndex& vocabulary, const WordLevelModel& model);
    [[nodiscard]] std::vector<Token> tokens(const PieceIndex& vocabulary, std::string_view word, Budget& budget) const;

private:
    std::uint32_t unknown_;
};

/// Merges by a heap of the pairs that may be joined, so that a word may be a whole text: n·log n.
class BytePair {
public:
    /// Throws Error(data) for a merge whose parts or whole are not in the vocabulary.
    BytePair(const PieceIndex& vocabulary, BytePairModel model);
    [[nodiscard]] std::vector<Token> tokens(const PieceIndex& vocabulary, std::string_view word, Budget& budget) const;

private:
    static constexpr std::uint32_t unused = 0xFFFFFFFF;
    struct Merge {
        std::uint64_t pair = 0;
        std::uint32_t rank = unused;
        std::uint32_t merged = 0;
    };
    class Joining;

    [[nodiscard]] std::size_t slot_of(std::uint64_t pair) const;
    [[nodiscard]] const Merge* find(std::uint32_t left, std::uint32_t right) const;
    /// What it makes is likely to be `near`.
    [[nodiscard]] Merge found_merge(const PieceIndex& vocabulary, std::size_t rank, std::uint32_t near) const;
    void add(const Merge& merge);
    [[nodiscard]] std::vector<Token> symbols(const PieceIndex& vocabulary, std::string_view word) const;

    BytePairModel model_; ///< without its merges
    std::optional<std::uint32_t> unknown_;
    ByteFallback bytes_;
    int shift_ = 0;
    std::vector<Merge> merges_; ///< hashed by pair: a power of two of them, at most half in use
};

/// Viterbi's search for the best path, over the pieces that begin at each character: linear in the length of the word.
class Unigram {
public:
    Unigram(const PieceIndex& vocabulary, UnigramModel model);
    [[nodiscard]] std::vector<Token> tokens(const PieceIndex& vocabulary, std::string_view word, Budget& budget) const;

private:
    [[nodiscard]] std::vector<Token> best_path(const PieceIndex& vocabulary, std::string_view word, Budget& budget) const;

    UnigramModel model_;
    ByteFallback bytes_;
    double unknown_score_ = 0;
};

} // namespace attn::text
