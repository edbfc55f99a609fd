// Arbitrary bytes as a tensor in JSON: read, or refused with Error(data) in one line. What was read is written and read again.
#include "attn/io/tensors/tensor_json.hpp"
#include "attn/report/json/json.hpp"
#include "tensors.hpp"

namespace {

std::string written(const attn::StoredTensor& tensor)
{
    attn::Buffer text;
    attn::report::write_tensor_json(tensor.view(), {.name = tensor.name, .masked = false}, text);
    return text.text();
}

/// Writing takes a step for every list, also for those without a number, which a few bytes can ask for without end.
bool is_writable(const attn::Shape& shape)
{
    attn::Index lists = 1;
    for (std::size_t d = 0; d + 1 < shape.size(); ++d) {
        if (__builtin_mul_overflow(lists, shape[d], &lists) || lists > 10'000) {
            return false;
        }
    }
    return true;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    attn::StoredTensor tensor;
    if (fuzz::refused([&] { tensor = attn::io::parse_tensor_json(text); })) {
        return 0;
    }
    const auto elements = static_cast<attn::Index>(tensor.bytes.size()) / attn::size_of(tensor.type);
    if (attn::element_count(tensor.shape) != elements) {
        std::abort();
    }
    if (!is_writable(tensor.shape)) {
        return 0;
    }
    const attn::StoredTensor again = attn::io::parse_tensor_json(written(tensor));
    if (again.name != tensor.name || again.type != tensor.type || again.shape != tensor.shape || again.bytes != tensor.bytes) {
        std::abort();
    }
    return 0;
}
