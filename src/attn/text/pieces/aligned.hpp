// Text on its way through a tokenizer: how much work it may be, and where each of its bytes comes from.
#pragma once

#include "attn/tensor/utf8.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attn::text {

// How much work one text may be, so that no tokenizer.json makes a short sentence take minutes or gigabytes.

/// Steps: of matching, and some for each byte and piece that is written. 25 tokenizers of real models needed up to 120 for each
/// byte of any text.
class Budget {
public:
    /// 1024 steps for each byte of the text, and a million.
    explicit Budget(std::size_t bytes) : left_(1024 * bytes + (std::size_t{1} << 20U)) {}

    /// Throws Error(data) when it is used up.
    void spend(std::size_t steps);

    static constexpr std::size_t steps_per_byte = 4; ///< that is looked up, one after another, or written

private:
    std::size_t left_;
};

// Text that was rewritten, and where each of its bytes comes from.

/// Bytes [begin, end). A trivial type, because many of them in a vector are then moved as one piece of memory.
struct Span {
    std::uint32_t begin;
    std::uint32_t end;

    [[nodiscard]] std::uint32_t size() const { return end - begin; }
    [[nodiscard]] bool operator==(const Span&) const = default;
};

[[nodiscard]] inline std::string_view part(std::string_view text, Span span)
{
    return text.substr(span.begin, span.size());
}

/// The smallest one that holds both.
[[nodiscard]] inline Span joined(Span a, Span b)
{
    return {a.begin < b.begin ? a.begin : b.begin, a.end > b.end ? a.end : b.end};
}

/// What normalizers and splitters work on. All bytes of a character that was not touched stand for that character.
class AlignedText {
public:
    /// The bytes of `sentence`, which is well-formed UTF-8 of less than 4 GiB, that `span` names. What is made of them may be
    /// 32 times as long, and 4096 bytes, and is paid from the budget, which outlives it.
    AlignedText(std::string_view sentence, Span span, Budget& budget);

    /// Throws Error(data) where a tokenizer makes text out of nothing.
    void append(std::string_view bytes, Span from);
    void append(std::int32_t character, Span from);
    void append(const AlignedText& other, Span span);

    /// Nothing yet, and may grow as much as this.
    [[nodiscard]] AlignedText fresh() const;
    [[nodiscard]] Budget& budget() const { return *budget_; }

    [[nodiscard]] const std::string& text() const { return text_; }
    /// Where the bytes of `part`, which is not empty, come from: the first byte's beginning to the last one's end.
    [[nodiscard]] Span source(Span part) const { return {from_[part.begin].begin, from_[part.end - 1].end}; }
    [[nodiscard]] Span source(std::size_t byte) const { return from_[byte]; }
    [[nodiscard]] Span all() const { return {0, static_cast<std::uint32_t>(text_.size())}; }

private:
    AlignedText(std::size_t most, Budget& budget) : most_(most), budget_(&budget) {}

    std::string text_;
    std::vector<Span> from_; ///< of each byte
    std::size_t most_;       ///< bytes
    Budget* budget_;
};

/// take(code point, its bytes as a Span) for each character of `part`.
template <typename Take>
void each_character(std::string_view text, Span part, Take take)
{
    for (std::uint32_t at = part.begin; at < part.end;) {
        const CodePoint point = front(text.substr(at));
        const Span span{at, at + static_cast<std::uint32_t>(point.bytes)};
        take(point.value, span);
        at = span.end;
    }
}

} // namespace attn::text
