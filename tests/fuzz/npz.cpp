// Arbitrary bytes as an .npz: listed and read, or refused with Error(data) in one line, also where two bytes of no type are
// said to be bfloat16. What was read is loaded, written and read again.
#include "attn/io/tensors/npy.hpp"
#include "tensors.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    for (const std::string_view said : {"", "bfloat16"}) {
        fuzz::must_read_or_refuse(
            data, size,
            [said](fuzz::Bytes file) {
                const std::vector<std::string> names = attn::io::npz_names(file, "file");
                attn::io::TensorFile read = attn::io::open_npz(file, "file", said, attn::Index{1} << 20);
                read.read_numbers();
                const bool one = !said.empty() && std::ranges::find(names, said) != names.end();
                if ((one ? 1 : names.size()) != read.entries.size() + read.unsupported.size()) {
                    std::abort();
                }
                return read;
            },
            [](const std::vector<attn::NamedTensor>& tensors, attn::Buffer& buffer) { attn::io::write_npz(tensors, buffer); });
    }
    return 0;
}
