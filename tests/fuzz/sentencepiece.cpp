// Arbitrary bytes as a model of SentencePiece: refused with Error(data) in one line, or read; and so is Marian's tokenizer with
// it. What was read makes pieces of sentences, whose bounds lie within them, or refuses with Error(data).
#include "attn/io/models/sentencepiece.hpp"
#include "pieces.hpp"

#include <cstdint>
#include <span>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const attn::io::Bytes bytes = std::as_bytes(std::span(data, size));
    must_make_pieces([&] { return attn::io::sentencepiece_tokenizer(bytes); });
    must_make_pieces([&] {
        attn::text::PieceList vocabulary;
        for (const std::string_view piece : {"</s>", "<unk>", ">>fra<<", "a", "\u2581The"}) {
            vocabulary.add(piece, static_cast<std::int32_t>(vocabulary.entries.size()));
        }
        return attn::io::marian_tokenizer(bytes, std::move(vocabulary));
    });
    return 0;
}
