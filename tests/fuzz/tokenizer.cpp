// Arbitrary bytes as a tokenizer.json: refused with Error(data) in one line, or read; and what was read makes pieces of
// sentences, whose bounds lie within them, or refuses with Error(data).
#include "attn/io/json/tokenizer_file.hpp"
#include "attn/text/pieces/pieces.hpp"
#include "refusal.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

void require(bool holds)
{
    if (!holds) {
        std::abort();
    }
}

void encode(const attn::text::PieceTokenizer& tokenizer, std::string_view sentence, std::string_view pair)
{
    const std::array<std::string_view, 2> sentences{sentence, pair};
    for (const attn::text::Piece& piece : tokenizer.encode(sentence, pair)) {
        const std::size_t size = piece.sentence < 0 ? 0 : sentences.at(static_cast<std::size_t>(piece.sentence)).size();
        require(piece.begin <= piece.end && piece.end <= size);
        require(piece.id >= 0 && piece.id < tokenizer.size());
        (void)tokenizer.shown(piece.id);
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    must_work_or_refuse([&] {
        const attn::text::PieceTokenizer tokenizer(attn::io::read_tokenizer(text));
        must_work_or_refuse([&] { encode(tokenizer, "The cat's  naïve é中🙂 12 <s>ab</s>[MASK]", "\u0130\u200bﬁ\t"); });
    });
    return 0;
}
