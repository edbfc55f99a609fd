#include "cli/output/tensor_output.hpp"

#include "attn/io/tensors/npy.hpp"
#include "attn/tensor/error.hpp"

#include <algorithm>
#include <iterator>

namespace attn::cli {

void refuse_terminal(const Output& output, Format format)
{
    if (info_of(format).is_binary && output.columns()) {
        throw Error(ErrorKind::usage, "standard output is a terminal; write a binary format to a file with -o, or into a pipe");
    }
}

void require_storable(ElementType type, Format format)
{
    if (format == Format::npy || format == Format::npz) {
        [[maybe_unused]] const std::string header = io::npy_header(type, {}); // which refuses what the formats cannot hold
    }
}

std::vector<NamedTensor> views_of(const std::vector<StoredTensor>& tensors)
{
    std::vector<NamedTensor> all;
    std::ranges::transform(tensors, std::back_inserter(all), [](const StoredTensor& tensor) {
        return NamedTensor{tensor.name, tensor.view()};
    });
    return all;
}

void write_tensors(const std::vector<NamedTensor>& tensors, Format format, const io::Metadata& metadata, Buffer& out)
{
    switch (format) {
    case Format::npy: return io::write_npy(tensors.at(0), out);
    case Format::npz: return io::write_npz(tensors, out, metadata);
    case Format::safetensors: return io::write_safetensors(tensors, out, metadata);
    default: throw Error(ErrorKind::internal, "write_tensors: no format of tensors");
    }
}

} // namespace attn::cli
