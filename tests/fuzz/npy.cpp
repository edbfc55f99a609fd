// Arbitrary bytes as an .npy: read, or refused with Error(data) in one line. What was read is loaded, written and read again.
#include "attn/io/tensors/npy.hpp"
#include "tensors.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    fuzz::must_read_or_refuse(
        data, size, [](fuzz::Bytes file) { return attn::io::read_npy(file, "file"); },
        [](const std::vector<attn::NamedTensor>& tensors, attn::Buffer& buffer) {
            attn::io::write_npy(tensors.front(), buffer);
        });
    return 0;
}
