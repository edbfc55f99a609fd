// Arbitrary bytes as a tokenizer.json, and as a vocab.json: refused with Error(data) in one line, or read; and what was read
// makes pieces of sentences, whose bounds lie within them, or refuses with Error(data).
#include "attn/io/json/tokenizer_file.hpp"
#include "pieces.hpp"

#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    must_make_pieces([&] { return attn::io::read_tokenizer(text); });
    must_work_or_refuse([&] { (void)attn::io::read_vocabulary(text); });
    return 0;
}
