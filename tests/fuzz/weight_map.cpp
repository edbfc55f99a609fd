// Arbitrary bytes as a model.safetensors.index.json: refused with Error(data) in one line, or read; and then no file of another
// folder is named.
#include "attn/io/json/model_config.hpp"
#include "tensors.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    (void)fuzz::refused([&] {
        for (const std::string& file : attn::io::files_of(attn::io::read_weight_map(text))) {
            if (file.empty() || file.find('/') != std::string::npos || file.front() == '.') {
                std::abort();
            }
        }
    });
    return 0;
}
