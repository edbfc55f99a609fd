#include "cli/input/tensor_inputs.hpp"

#include "attn/io/json/saved_result.hpp"
#include "attn/io/tensors/npy.hpp"
#include "attn/model/layer/float32_range.hpp"
#include "attn/tensor/error.hpp"
#include "cli/input/documents.hpp"
#include "cli/input/named.hpp"
#include "cli/input/raw_input.hpp"
#include "cli/options/suggest.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace attn::cli {
namespace {

bool is_input(const std::string& path)
{
    return path == "-" || ::access(path.c_str(), F_OK) == 0;
}

TensorArgument split_at(const std::string& text, std::size_t colon)
{
    return {text.substr(0, colon), colon == std::string::npos ? "" : text.substr(colon + 1)};
}

/// "'W_q', 'W_k', …; did you mean 'W_k'?"; the first few are enough.
std::string list_of(const std::vector<std::string>& names, const std::string& wanted)
{
    const std::vector<std::string_view> all(names.begin(), names.end());
    return quoted_list(names) + did_you_mean(wanted, all);
}

void require_one_result(std::string_view text)
{
    const std::vector<JsonText> documents = split_documents(text);
    const bool alone = documents.size() == 1;
    if (!alone || io::kind_of(documents.front().text) != io::Document::result) {
        throw Error(ErrorKind::data, "JSON", alone ? "no result" : "several texts",
                    "one result, as run --show parameters --json writes it");
    }
}

io::ArrayFile arrays_of(const MappedFile& file, const std::string& path)
{
    const std::optional<std::string> header = header_beside(path);
    return header ? io::ArrayFile{.file = open_raw(file, *header)} : io::open_arrays(file.bytes(), file.name());
}

} // namespace

std::string name_in(const MappedFile& file, const std::string& wanted)
{
    const std::vector<std::string> names = io::tensor_names(file.bytes(), file.name());
    if (io::format_of(file.bytes(), file.name()) == io::TensorFormat::safetensors) {
        return name_among(names, wanted, file.name());
    }
    const auto [name, untyped] = io::wanted_tensor(wanted, names);
    std::string found = name_among(names, std::string(name), file.name());
    return untyped == io::Untyped::refused ? found : found.append(io::bfloat16_said);
}

std::string name_among(const std::vector<std::string>& names, const std::string& wanted, const std::string& file)
{
    if (names.empty()) {
        throw Error(ErrorKind::data, file + " holds no tensor");
    }
    if (wanted.empty()) {
        if (names.size() == 1) {
            return names.front();
        }
        throw Error(ErrorKind::data, "tensor of " + file, "no name",
                    "FILE:NAME, where NAME is one of " + list_of(names, wanted));
    }
    const bool nameless = names.size() == 1 && names.front().empty(); // an .npy, for which read_tensors has an answer
    if (!nameless && std::ranges::find(names, wanted) == names.end()) {
        throw Error(ErrorKind::data, "tensor of " + file, in_quotes(wanted), list_of(names, wanted));
    }
    return wanted;
}

TensorArgument split_tensor_argument(const std::string& text)
{
    std::size_t end = std::string::npos; // of the path
    do {
        if (is_input(text.substr(0, end))) {
            return split_at(text, end);
        }
        end = end == 0 ? std::string::npos : text.rfind(':', end - 1);
    } while (end != std::string::npos);
    for (const std::string_view ending : std::array<std::string_view, 4>{".npy:", ".npz:", ".safetensors:", ".bin:"}) {
        if (const std::size_t found = text.find(ending); found != std::string::npos) {
            return split_at(text, found + ending.size() - 1);
        }
    }
    return split_at(text, std::string::npos);
}

void refuse_standard_input(const std::string& path, const model::FieldInfo& field, const model::Origin& origin)
{
    if (path == "-") {
        throw Error(origin.fault({&field}), origin.name_of(field), "standard input", "a file, whose name the result records");
    }
}

const MappedFile& TensorInputs::map(const std::string& path)
{
    const bool raw = header_beside(path).has_value();
    const auto check = [&](std::span<const std::byte> front) {
        if (!raw) {
            (void)io::may_begin_arrays(front, name_of_input(path));
        }
    };
    const auto [file, added] = files_.try_emplace(path, path, check);
    if (added) {
        require_header(file->second, path);
    }
    return file->second;
}

const MappedFile& TensorInputs::any_file(const std::string& path)
{
    const auto check = [&](std::span<const std::byte> front) {
        if (std::ranges::find(front, std::byte{0}) != front.end()) {
            (void)io::format_of(front, name_of_input(path), "text, or ");
        }
    };
    return files_.try_emplace(path, path, check).first->second;
}

const io::ArrayFile& TensorInputs::whole(const std::string& path)
{
    const auto known = whole_.find(path);
    if (known != whole_.end()) {
        return known->second;
    }
    const MappedFile& file = map(path);
    return whole_.emplace(path, arrays_of(file, path)).first->second;
}

TensorInputs::Opened TensorInputs::open_text(const TensorArgument& argument, std::string_view usual)
{
    const MappedFile& file = map(argument.path);
    if (!header_beside(argument.path) && io::array_format(file.bytes(), file.name()) == io::ArrayFormat::tensors) {
        static const io::OfText none;
        const std::string name = name_in(file, argument.name);
        const io::TensorFile read = io::open_tensors(file.bytes(), file.name(), name);
        return {opened_.emplace_back(read.entries.size() == 1 ? read.entries.front() : read.at(name, file.name())), none};
    }
    const io::ArrayFile& arrays = whole(argument.path);
    std::vector<std::string> names;
    for (const NamedTensor& entry : arrays.file.entries) {
        names.push_back(entry.name);
    }
    const bool by_use = argument.name.empty() && std::ranges::find(names, usual) != names.end();
    const NamedTensor& tensor =
        arrays.file.at(name_among(names, by_use ? std::string(usual) : argument.name, file.name()), file.name());
    return {opened_.emplace_back(tensor), arrays.of_text(tensor)};
}

const NamedTensor& TensorInputs::open(const TensorArgument& argument)
{
    return open_text(argument).tensor;
}

const NamedTensor& TensorInputs::open_numbers(const std::string& text)
{
    const NamedTensor& tensor = open(text);
    model::require_numbers(tensor.view, in_quotes(text));
    if (!is_integer(tensor.view.type)) {
        return tensor;
    }
    const auto require_exact = [&](const Arriving* arriving) {
        model::require_exact_integers(tensor.view, Dtype::float32, in_quotes(text), "a float64 tensor", arriving);
    };
    tensor.read_numbers([&](const Arriving& arriving) { require_exact(&arriving); });
    require_exact(nullptr);
    return opened_.emplace_back(owned(tensor.name, load<float>(tensor.view)));
}

void TensorInputs::read_numbers(const NumberJudge& judge) const
{
    std::vector<const NamedTensor*> all;
    for (const NamedTensor& tensor : opened_) {
        all.push_back(&tensor);
    }
    attn::read_numbers(all, judge);
}

io::TensorFile& TensorInputs::all(const std::string& path)
{
    const MappedFile& file = map(path);
    if (!header_beside(path) && io::array_format(file.bytes(), file.name()) == io::ArrayFormat::json) {
        named(file.name(), [&] {
            require_one_result({reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()});
        });
    }
    return all_.emplace_back(arrays_of(file, path)).file;
}

void TensorInputs::require_apart_from(const std::optional<std::string>& output) const
{
    for (const auto& [path, file] : files_) {
        require_apart(output, path);
        if (const std::optional<std::string> header = header_beside(path)) {
            require_apart(output, *header);
        }
    }
}

void TensorInputs::require_unchanged() const
{
    for (const auto& [path, file] : files_) {
        file.require_unchanged();
    }
}

} // namespace attn::cli
