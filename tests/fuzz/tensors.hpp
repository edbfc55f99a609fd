// What the fuzz targets of tensor files have in common.
#pragma once

#include "attn/io/tensors/tensor_file.hpp"
#include "attn/tensor/error.hpp"

#include <algorithm>
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
inline attn::StoredTensor stored(const attn::NamedTensor& tensor)
{
    const attn::TensorView& view = tensor.view;
    attn::StoredTensor made;
    made.name = tensor.name;
    made.type = view.type;
    made.shape = view.shape;
    if (view.type == attn::ElementType::int64) {
        const auto values = attn::load<std::int64_t>(view).values;
        const auto bytes = std::as_bytes(std::span(values));
        made.bytes.assign(bytes.begin(), bytes.end());
    } else {
        const auto values = attn::load<double>(view).values;
        made.bytes = attn::to_bytes(view.type, std::span<const double>(values));
    }
    return made;
}

/// `read(bytes)` gives tensors or refuses; `write(tensors, buffer)` writes what `read` must then find again.
template <typename Read, typename Write>
void must_read_or_refuse(const std::uint8_t* data, std::size_t size, Read read, Write write)
{
    std::vector<attn::NamedTensor> tensors;
    const auto load_all = [&] {
        const attn::io::TensorFile file = read(Bytes(reinterpret_cast<const std::byte*>(data), size));
        for (const attn::NamedTensor& tensor : file.entries) {
            (void)refused([&] { attn::require_finite(tensor.view, "tensor"); });
            tensors.push_back(attn::owned(stored(tensor)));
        }
    };
    if (refused(load_all)) {
        return;
    }
    attn::Buffer written;
    write(tensors, written);
    const attn::io::TensorFile again = read(std::as_bytes(std::span(written.text())));
    for (const attn::NamedTensor& tensor : tensors) {
        const attn::StoredTensor found = stored(again.at(tensor.name, "what was written"));
        if (found.type != tensor.view.type || found.shape != tensor.view.shape ||
            !std::ranges::equal(found.bytes, tensor.view.bytes)) {
            std::abort();
        }
    }
    if (again.entries.size() != tensors.size()) {
        std::abort();
    }
}

} // namespace fuzz
