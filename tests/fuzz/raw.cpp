// Arbitrary bytes as raw numbers, the first line as their header: read, or refused with Error(data) in one line. What was read
// is loaded, written and read again.
#include "attn/io/tensors/raw.hpp"
#include "tensors.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    fuzz::must_read_or_refuse(
        data, size,
        [](fuzz::Bytes file) {
            const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
            const std::size_t end = std::min(text.find('\n'), text.size());
            return attn::io::read_raw(text.substr(0, end), file.subspan(std::min(end + 1, file.size())));
        },
        [](const std::vector<attn::NamedTensor>& tensors, attn::Buffer& buffer) {
            buffer.append(attn::io::raw_header(tensors));
            attn::io::write_raw(tensors, buffer);
        });
    return 0;
}
