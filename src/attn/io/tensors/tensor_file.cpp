#include "attn/io/tensors/tensor_file.hpp"

#include "attn/io/tensors/npy.hpp"
#include "attn/io/tensors/safetensors.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace attn::io {
namespace {

std::vector<std::string> names_in(const TensorFile& file)
{
    std::vector<std::string> names;
    for (const NamedTensor& entry : file.entries) {
        names.push_back(entry.name);
    }
    return names;
}

/// A byte of bool that is neither 0 nor 1 is told with its place, when the numbers are read.
TensorFile with_truths_checked(TensorFile file, std::string_view what)
{
    for (NamedTensor& entry : file.entries) {
        if (entry.view.type == ElementType::boolean) {
            std::string place = entry.name.empty() ? std::string(what) : fmt::format("{} in {}", in_quotes(entry.name), what);
            Unread checked;
            if (entry.is_squeezed()) {
                checked.show = [unread = entry.unread, view = entry.view, place](const NumberJudge& judge) {
                    unread->show([&](const Arriving& arriving) {
                        require_truths(view, place, &arriving);
                        if (judge) {
                            judge(arriving);
                        }
                    });
                };
            }
            checked.read = [unread = entry.unread, view = entry.view, place = std::move(place)] {
                if (unread) {
                    unread->read();
                }
                require_truths(view, place);
            };
            entry.unread = std::make_shared<const Unread>(std::move(checked));
        }
    }
    return file;
}

} // namespace

const NamedTensor& TensorFile::at(std::string_view name, std::string_view what) const
{
    const auto entry = std::ranges::find(entries, name, &NamedTensor::name);
    if (entry != entries.end()) {
        return *entry;
    }
    for (const Unsupported& each : unsupported) {
        if (each.name == name) {
            refuse_type(fmt::format("{} in {}", in_quotes(name), what), each.type);
        }
    }
    if (entries.size() == 1 && entries.front().name.empty()) {
        throw Error(ErrorKind::data, std::string(what), "the name " + in_quotes(name), "none, its only array has no name");
    }
    throw Error(ErrorKind::data, std::string(what), "no tensor " + in_quotes(name),
                entries.empty() ? "the name of a tensor in it" : quoted_list(names_in(*this)));
}

void TensorFile::read_numbers() const
{
    std::vector<const NamedTensor*> all;
    for (const NamedTensor& entry : entries) {
        all.push_back(&entry);
    }
    attn::read_numbers(all);
}

TensorFormat format_of(std::span<const std::byte> bytes, std::string_view what, std::string_view beside)
{
    const std::string_view text = as_text(bytes);
    if (text.starts_with(npy_magic)) {
        return TensorFormat::npy;
    }
    if (text.size() > 8 && text[8] == '{') {
        return TensorFormat::safetensors;
    }
    if (text.starts_with("PK\x03\x04") || text.starts_with("PK\x05\x06")) {
        return TensorFormat::npz;
    }
    throw Error(ErrorKind::data, std::string(what),
                text.empty() ? "an empty file" : "a file that begins with " + in_quotes(text.substr(0, 9)),
                std::string(beside) + "the formats .npy, .npz and .safetensors");
}

bool is_tensor_file(std::span<const std::byte> bytes)
{
    const std::string_view text = as_text(bytes);
    const bool safetensors = text.size() > 8 && text[8] == '{' && text[7] == '\0'; // its length is a small one
    return safetensors || text.starts_with(npy_magic) || text.starts_with("PK\x03\x04") || text.starts_with("PK\x05\x06");
}

std::vector<std::string> tensor_names(std::span<const std::byte> bytes, std::string_view what)
{
    switch (format_of(bytes, what)) {
    case TensorFormat::npz: return npz_names(bytes, what);
    case TensorFormat::npy: return {""};
    case TensorFormat::safetensors: break;
    }
    const TensorFile file = read_safetensors(bytes, what, {});
    std::vector<std::string> names = names_in(file);
    for (const TensorFile::Unsupported& each : file.unsupported) {
        names.push_back(each.name);
    }
    return names;
}

TensorFile read_tensors(std::span<const std::byte> bytes, std::string_view what, std::string_view only, Index inflate_limit)
{
    TensorFile read = open_tensors(bytes, what, only, inflate_limit);
    read.read_numbers();
    return read;
}

TensorFile open_tensors(std::span<const std::byte> bytes, std::string_view what, std::string_view only, Index inflate_limit)
{
    switch (format_of(bytes, what)) {
    case TensorFormat::npz: return with_truths_checked(open_npz(bytes, what, only, inflate_limit), what);
    case TensorFormat::safetensors: return with_truths_checked(read_safetensors(bytes, what, only), what);
    case TensorFormat::npy: break;
    }
    const WantedTensor wanted = wanted_tensor(only, {});
    if (!wanted.name.empty()) {
        throw Error(ErrorKind::data, std::string(what), "the name " + in_quotes(wanted.name),
                    "none, an .npy holds one tensor without a name");
    }
    return with_truths_checked(read_npy(bytes, what, wanted.untyped), what);
}

WantedTensor wanted_tensor(std::string_view said, std::span<const std::string> names)
{
    if (std::ranges::find(names, said) != names.end()) {
        return {said};
    }
    if (said == bfloat16_said.substr(1)) {
        return {{}, Untyped::bfloat16};
    }
    if (said.ends_with(bfloat16_said)) {
        return {said.substr(0, said.size() - bfloat16_said.size()), Untyped::bfloat16};
    }
    return {said};
}

} // namespace attn::io
