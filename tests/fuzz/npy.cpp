// Arbitrary bytes as an .npy: read, or refused with Error(data) in one line, also where two bytes of no type are said to be
// bfloat16. What was read is loaded, written and read again.
#include "attn/io/tensors/npy.hpp"
#include "tensors.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    for (const attn::io::Untyped untyped : {attn::io::Untyped::refused, attn::io::Untyped::bfloat16}) {
        fuzz::must_read_or_refuse(
            data, size, [untyped](fuzz::Bytes file) { return attn::io::read_npy(file, "file", untyped); },
            [](const std::vector<attn::NamedTensor>& tensors, attn::Buffer& buffer) {
                attn::io::write_npy(tensors.front(), buffer);
            });
    }
    return 0;
}
