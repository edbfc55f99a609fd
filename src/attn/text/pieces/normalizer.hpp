// The steps of a normalizer, run over text that remembers where it comes from.
#pragma once

#include "attn/text/pieces/aligned.hpp"
#include "attn/text/pieces/matcher.hpp"
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

private:
    [[nodiscard]] std::optional<std::string_view> replacement(std::string_view key) const;
    [[nodiscard]] std::uint32_t unit(std::size_t place) const;

    std::vector<std::uint32_t> units_;
    std::string replacements_;
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
    using Step = std::variant<Form, CleanText, SpaceChinese, DropMarks, Lowercase, Strip, Prepend, Replacer, CharacterMapper>;

    [[nodiscard]] static Step prepared(const NormalizerStep& step);
    [[nodiscard]] static AlignedText replaced(const AlignedText& text, const Replacer& replacer);

    std::vector<Step> steps_;
};

} // namespace attn::text
