#include "attn/io/tensors/safetensors.hpp"

#include "attn/io/tensors/npy.hpp"
#include "attn/io/tensors/safetensors_header.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <limits>

namespace attn::io {
namespace {

constexpr std::uint64_t most_header = 100'000'000;
constexpr std::size_t alignment = 8;

[[noreturn]] void refuse(const std::string& thing, const std::string& value, const std::string& allowed)
{
    throw Error(ErrorKind::data, thing, value, allowed);
}

/// The header's JSON.
std::string_view header_of(Bytes file, std::string_view what)
{
    const std::string thing = std::string(what) + ": length of the header";
    if (file.size() < 8) {
        refuse(std::string(what), fmt::format("{} bytes", file.size()), "a .safetensors file, which has a header");
    }
    const auto length = little<std::uint64_t>(file, 0);
    const std::uint64_t most = std::min<std::uint64_t>(most_header, file.size() - 8);
    if (length > most) {
        refuse(thing, std::to_string(length),
               fmt::format("up to {}{}", most, most == most_header ? "" : ", the rest of the file"));
    }
    const std::string_view text = as_text(file).substr(8, length);
    if (!text.starts_with('{')) {
        refuse(std::string(what) + ": first byte of the header", in_quotes(text.substr(0, 1)), "'{'");
    }
    return text;
}

/// One behind the other, over all of the `size` bytes.
void require_gapless(const std::deque<HeaderTensor>& sorted, Index size, std::string_view what)
{
    Index end = 0;
    for (const HeaderTensor& tensor : sorted) {
        if (tensor.begin != end) {
            refuse(fmt::format("{}: offset of {}", what, in_quotes(tensor.name)), std::to_string(tensor.begin),
                   fmt::format("{}, where the one before ends", end));
        }
        end = tensor.end;
    }
    if (end != size) {
        refuse(std::string(what) + ": bytes of the tensors", std::to_string(end),
               fmt::format("{}, the rest of the file", size));
    }
}

} // namespace

TensorFile read_safetensors(Bytes file, std::string_view what, std::string_view only)
{
    const std::string_view json = header_of(file, what);
    const Bytes data = file.subspan(8 + json.size());
    auto [tensors, metadata] = read_safetensors_header(json, std::string(what) + ": header");
    const auto earlier = [](const HeaderTensor& a, const HeaderTensor& b) {
        return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); // those without bytes before the one that begins there
    };
    if (!std::is_sorted(tensors.begin(), tensors.end(), earlier)) {
        std::stable_sort(tensors.begin(), tensors.end(), earlier);
    }
    require_gapless(tensors, static_cast<Index>(data.size()), what);

    // A missing one is refused with the names that there are.
    const bool all = only.empty() || std::ranges::find(tensors, only, &HeaderTensor::name) == tensors.end();
    TensorFile read;
    read.metadata = std::move(metadata);
    read.entries.reserve(all ? tensors.size() : 1);
    for (; !tensors.empty(); tensors.pop_front()) { // what is read takes the place of what was
        HeaderTensor& tensor = tensors.front();
        if (!all && tensor.name != only) {
            continue;
        }
        if (tensor.type->type) {
            const Bytes bytes =
                data.subspan(static_cast<std::size_t>(tensor.begin), static_cast<std::size_t>(tensor.end - tensor.begin));
            read.entries.push_back(
                {std::move(tensor.name), row_major_view(*tensor.type->type, std::move(tensor.shape), bytes)});
        } else {
            read.unsupported.push_back({std::move(tensor.name), std::string(tensor.type->name)});
        }
    }
    if (!only.empty()) {
        (void)read.at(only, what);
    }
    return read;
}

void write_safetensors(const std::vector<NamedTensor>& tensors, Buffer& buffer, const Metadata& metadata)
{
    std::vector<const NamedTensor*> sorted;
    sorted.reserve(tensors.size());
    for (const NamedTensor& tensor : tensors) {
        sorted.push_back(&tensor);
    }
    std::sort(sorted.begin(), sorted.end(), [](const NamedTensor* a, const NamedTensor* b) {
        return std::pair(-size_of(a->view.type), std::string_view(a->name)) <
               std::pair(-size_of(b->view.type), std::string_view(b->name));
    });
    std::string json = "{";
    const auto add = [&](std::string_view name, const nlohmann::ordered_json& described) {
        json += json.size() == 1 ? "" : ",";
        json += nlohmann::json(name).dump() + ":" + described.dump();
    };
    if (!metadata.empty()) {
        nlohmann::ordered_json described = nlohmann::ordered_json::object();
        for (const auto& [key, text] : metadata) {
            described[key] = text;
        }
        add(safetensors_key::metadata, described);
    }
    std::size_t offset = 0;
    for (const NamedTensor* tensor : sorted) {
        add(tensor->name, {{safetensors_key::dtype, safetensors_name(tensor->view.type)},
                           {safetensors_key::shape, tensor->view.shape},
                           {safetensors_key::data_offsets, {offset, offset + tensor->view.bytes.size()}}});
        offset += tensor->view.bytes.size();
    }
    json += '}';
    json.append((alignment - json.size() % alignment) % alignment, ' ');
    std::string length;
    append_little<std::uint64_t>(length, json.size());
    buffer.append(length + json);
    for (const NamedTensor* tensor : sorted) {
        buffer.append(as_text(tensor->view.bytes));
    }
}

} // namespace attn::io
