// The steps of a normalizer, run over text that remembers where it comes from.
#pragma once

#include "attn/text/pieces/aligned.hpp"
#include "attn/text/pieces/matcher.hpp"
#include "attn/text/pieces/piece_index.hpp"
#include "attn/text/pieces/tokenizer_spec.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace attn::text {

// SentencePiece's compiled map of characters ("Precompiled"): a double array of the strings it replaces, and what replaces
// them.
//
//   u32 size | size bytes of u32 units | replacements, each UTF-8 and a NUL
//
// little-endian. Unit: bits 0–7 the byte that leads here, bit 8 whether a string ends here, bits 10–31 how far its children are
// (times 256 when bit 9 is set); of an end bits 0–30 are the place of the replacement (Darts-clone, darts.h).

class CharacterMapper {
public:
    /// Throws Error(data) for bytes that are no such map.
    explicit CharacterMapper(std::string_view bytes);

    /// A grapheme cluster of less than six bytes is looked up whole, otherwise, or when it is not there, each of its
    /// characters: replaced by what stands for the shortest string it begins with. Throws Error(data) for a map that leads out
    /// of itself.
    [[nodiscard]] AlignedText mapped(const AlignedText& text) const;

    /// What replaces the first bytes of a text, and how many they are.
    struct Replacement {
        std::string_view text;
        std::size_t size;
    };
    /// Of the strings that `text` begins with, the longest one's, or the shortest one's.
    [[nodiscard]] std::optional<Replacement> replacement(std::string_view text, bool longest, Budget& budget) const;

private:
    [[nodiscard]] std::uint32_t unit(std::size_t place) const;
    [[nodiscard]] std::string_view replacement_at(std::size_t begin) const;

    std::vector<std::uint32_t> units_;
    std::string replacements_;
};

/// SentencePieceRules, run (normalizer.cc of google/sentencepiece).
class SentencePieceNormalizer {
public:
    /// Throws Error(data) for a map that is none, and for a kept string that is there twice.
    explicit SentencePieceNormalizer(const SentencePieceRules& rules);

    [[nodiscard]] AlignedText normalized(const AlignedText& text) const;

private:
    [[nodiscard]] CharacterMapper::Replacement first(std::string_view text, Budget& budget) const;

    SentencePieceRules rules_; ///< without what the other members are made of
    PieceIndex kept_;
    std::optional<CharacterMapper> mapper_;
};

/// Unicode's normalization form of it. What a character decomposes into stands for that character; a composed one for all that
/// it was composed of (Unicode 15, UAX #15).
[[nodiscard]] AlignedText in_form(const AlignedText& text, Form form);

class Normalizer {
public:
    /// Throws Error(data) for an expression or a map that cannot be run.
    explicit Normalizer(const std::vector<NormalizerStep>& steps);

    [[nodiscard]] AlignedText normalized(AlignedText text) const;
    [[nodiscard]] std::string normalized(std::string_view text, Budget& budget) const;

private:
    struct Replacer {
        Matcher matcher;
        std::string content;
    };
    using Step = std::variant<Form, CleanText, SpaceChinese, DropMarks, Lowercase, Strip, Prepend, Replacer, CharacterMapper,
                              SentencePieceNormalizer>;

    [[nodiscard]] static Step prepared(const NormalizerStep& step);
    [[nodiscard]] static AlignedText replaced(const AlignedText& text, const Replacer& replacer);

    std::vector<Step> steps_;
};

} // namespace attn::text
