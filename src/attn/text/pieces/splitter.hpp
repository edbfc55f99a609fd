// The steps of a pre-tokenizer, run: text becomes words.
#pragma once

#include "attn/text/pieces/aligned.hpp"
#include "attn/text/pieces/matcher.hpp"
#include "attn/text/pieces/tokenizer_spec.hpp"

#include <variant>
#include <vector>

namespace attn::text {

/// Words, none of them empty, as parts of one text.
struct SplitWords {
    AlignedText text;
    std::vector<Span> spans;
};

/// The parts of `text` that `behavior` makes of the matches in it, none of them empty.
[[nodiscard]] std::vector<Span> split_at(std::string_view text, const std::vector<Span>& matches, const Split& split);

class Splitter {
public:
    /// Throws Error(data) for an expression that cannot be run.
    explicit Splitter(const std::vector<SplitterStep>& steps);

    [[nodiscard]] SplitWords words(AlignedText text) const;
    /// Whether words are in the byte alphabet; whether spaces in them are written as another character, and which.
    [[nodiscard]] bool byte_level() const;
    [[nodiscard]] std::string_view space() const;

private:
    struct Cutter {
        Matcher matcher;
        Split split;
    };
    using Step = std::variant<Cutter, PrefixSpace, ByteAlphabet, Metaspace>;

    std::vector<Step> steps_;
};

} // namespace attn::text
