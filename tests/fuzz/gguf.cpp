// Arbitrary bytes as a .gguf: read, or refused with Error(data) in one line; and so are its config, its tokenizer and its
// model.
#include "attn/io/models/gguf.hpp"
#include "attn/io/models/gguf_model.hpp"
#include "attn/io/models/gguf_tokenizer.hpp"
#include "attn/io/models/model_files.hpp"
#include "attn/text/pieces/pieces.hpp"
#include "refusal.hpp"

#include <cstdint>
#include <span>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const attn::io::Bytes bytes = std::as_bytes(std::span(data, size));
    must_work_or_refuse([&] {
        const attn::io::GgufFile file = attn::io::read_gguf(bytes);
        must_work_or_refuse([&] { (void)attn::io::gguf_config(file); });
        must_work_or_refuse([&] {
            const attn::text::PieceTokenizer tokenizer(attn::io::gguf_tokenizer(file));
            (void)tokenizer.encode("The cat's  naïve é中🙂 12 <s>ab</s>[MASK]", "\u0130\u200b\t");
        });
        must_work_or_refuse([&] { (void)attn::io::read_gguf_model(bytes); });
    });
    return 0;
}
