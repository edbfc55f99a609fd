// What the fuzz targets of tensor files have in common.
#pragma once

#include "attn/io/tensors/tensor_file.hpp"
#include "attn/tensor/error.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace fuzz {

using Bytes = std::span<const std::byte>;

/// Refusals may come from the reader, and for booleans and what is not finite from those who load; anything else aborts.
template <typename Use>
bool refused(Use use)
{
    try {
        use();
        return false;
    } catch (const attn::Error& error) {
        const std::string_view message = error.what();
        if (error.kind() != attn::ErrorKind::data || message.empty() || message.find('\n') != std::string_view::npos) {
            std::abort();
        }
        return true;
    }
}

/// The tensor as it is written: row-major and little-endian.
inline std::vector<std::byte> stored(const attn::TensorView& view)
{
    if (view.type == attn::ElementType::int64) {
        const auto values = attn::load<std::int64_t>(view).values;
        const auto bytes = std::as_bytes(std::span(values));
        return {bytes.begin(), bytes.end()};
    }
    const auto values = attn::load<double>(view).values;
    return attn::to_bytes(view.type, std::span<const double>(values));
}

/// `read(bytes)` gives tensors or refuses; `write(tensors, buffer)` writes what `read` must then find again.
template <typename Read, typename Write>
void must_read_or_refuse(const std::uint8_t* data, std::size_t size, Read read, Write write)
{
    std::vector<std::vector<std::byte>> elements;
    std::vector<attn::io::TensorBytes> tensors;
    const auto load_all = [&] {
        const attn::io::TensorFile file = read(Bytes(reinterpret_cast<const std::byte*>(data), size));
        for (const auto& [name, view] : file.entries) {
            (void)refused([&, &tensor = view] { attn::require_finite(tensor, "tensor"); });
            elements.push_back(stored(view));
            tensors.push_back({name, view.type, view.shape, {}});
        }
    };
    if (refused(load_all)) {
        return;
    }
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        tensors[i].bytes = elements[i];
    }
    attn::Buffer written;
    write(tensors, written);
    const attn::io::TensorFile again = read(std::as_bytes(std::span(written.text())));
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        const attn::TensorView& view = again.at(tensors[i].name, "what was written");
        if (view.type != tensors[i].type || view.shape != tensors[i].shape || stored(view) != elements[i]) {
            std::abort();
        }
    }
    if (again.entries.size() != tensors.size()) {
        std::abort();
    }
}

} // namespace fuzz
