// Arbitrary bytes as a text with arrays: read, or refused with Error(data) in one line. Of what was read each number stands
// where it is said to, and what it is worth is what a file of tensors gives.
#include "attn/io/arrays/array_file.hpp"
#include "attn/io/texts/array_text.hpp"
#include "tensors.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    std::vector<attn::io::ArrayText> arrays;
    if (fuzz::refused([&] { arrays = attn::io::read_text_arrays(text, "text"); })) {
        return 0;
    }
    attn::io::ArrayFile file;
    const auto open = [&] { file = attn::io::open_arrays(attn::io::as_bytes(text), "text"); };
    if (fuzz::refused(open) || file.texts.size() != file.file.entries.size()) { // JSON and binary files are read as such
        return 0;
    }
    for (std::size_t at = 0; at < file.texts.size(); ++at) {
        const attn::TensorView& view = file.file.entries[at].view;
        const attn::math::PrintedNumbers& printed = file.texts[at].printed;
        if (static_cast<attn::Index>(printed.size()) != view.count()) {
            std::abort();
        }
        const std::vector<double> values = attn::load<double>(view).values;
        for (std::size_t i = 0; i < values.size(); ++i) {
            const double value = printed[i].value;
            if (value != values[i] && (value == value || values[i] == values[i])) {
                std::abort();
            }
        }
    }
    return 0;
}
