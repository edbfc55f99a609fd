// Arbitrary bytes as a config.json: refused with Error(data) in one line, or read; and described, if it is one that is known.
// What the description asks for has shapes that can be written down.
#include "attn/io/json/model_config.hpp"
#include "attn/transformer/architectures/describe.hpp"
#include "tensors.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    attn::transformer::ConfigValues values;
    if (fuzz::refused([&] { values = attn::io::read_model_config(text); })) {
        return 0;
    }
    (void)fuzz::refused([&] {
        const attn::transformer::Architecture architecture = attn::transformer::describe(attn::transformer::Config(values));
        for (const attn::transformer::NeededTensor& needed : attn::transformer::needed_tensors(architecture)) {
            for (const attn::Index length : needed.shape) {
                if (length < 1) {
                    std::abort();
                }
            }
        }
    });
    return 0;
}
