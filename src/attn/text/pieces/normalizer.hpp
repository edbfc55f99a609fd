// The steps of a normalizer, run over text that remembers where it comes from.
#pragma once

#include "attn/text/pieces/aligned.hpp"
#include "attn/text/pieces/character_map.hpp"
#include "attn/text/pieces/matcher.hpp"
#include "attn/text/pieces/tokenizer_spec.hpp"

#include <memory>
#include <variant>
#include <vector>

namespace attn::text {

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
