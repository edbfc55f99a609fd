#include "attn/text/pieces/aligned.hpp"

#include "attn/tensor/error.hpp"
#include "attn/text/pieces/characters.hpp"

#include <fmt/format.h>

namespace attn::text {

void Budget::spend(std::size_t steps)
{
    if (steps > left_) {
        throw Error(ErrorKind::data, "the tokenizer's steps and expressions", "more work than any model's tokenizer makes",
                    "1024 steps for each byte of the text, and 1048576");
    }
    left_ -= steps;
}

AlignedText::AlignedText(std::string_view sentence, Span span, Budget& budget)
    : AlignedText(std::size_t{32} * span.size() + 4096, budget)
{
    text_ = part(sentence, span);
    from_.reserve(text_.size());
    each_character(sentence, span,
                   [&](std::int32_t, Span character) { from_.insert(from_.end(), character.size(), character); });
}

void AlignedText::append(std::string_view bytes, Span from)
{
    if (bytes.size() > most_ - text_.size()) {
        throw Error(ErrorKind::data, "the normalizer", fmt::format("more than {} bytes of text", most_),
                    "up to 32 for each byte of the sentence, and 4096");
    }
    budget_->spend(Budget::steps_per_byte * bytes.size());
    text_ += bytes;
    from_.insert(from_.end(), bytes.size(), from);
}

void AlignedText::append(std::int32_t character, Span from)
{
    std::string bytes;
    append_character(bytes, character);
    append(bytes, from);
}

void AlignedText::append(const AlignedText& other, Span span)
{
    append(part(other.text_, span), {});
    std::copy(other.from_.begin() + span.begin, other.from_.begin() + span.end, from_.end() - span.size());
}

AlignedText AlignedText::fresh() const
{
    AlignedText empty(most_, *budget_);
    empty.text_.reserve(text_.size() + 16);
    empty.from_.reserve(text_.size() + 16);
    return empty;
}

} // namespace attn::text
