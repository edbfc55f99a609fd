#include "cli/input/tensor_inputs.hpp"

#include "attn/io/json/saved_result.hpp"
#include "attn/report/json/json.hpp"
#include "attn/tensor/error.hpp"
#include "cli/input/documents.hpp"
#include "cli/input/named.hpp"
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

} // namespace

std::string name_in(const MappedFile& file, const std::string& wanted)
{
    const std::vector<std::string> names = io::tensor_names(file.bytes(), file.name());
    if (names.empty()) {
        throw Error(ErrorKind::data, file.name() + " holds no tensor");
    }
    if (wanted.empty()) {
        if (names.size() == 1) {
            return names.front();
        }
        throw Error(ErrorKind::data, "tensor of " + file.name(), "no name",
                    "FILE:NAME, where NAME is one of " + list_of(names, wanted));
    }
    const bool nameless = names.size() == 1 && names.front().empty(); // an .npy, for which read_tensors has an answer
    if (!nameless && std::ranges::find(names, wanted) == names.end()) {
        throw Error(ErrorKind::data, "tensor of " + file.name(), in_quotes(wanted), list_of(names, wanted));
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
    for (const std::string_view ending : std::array<std::string_view, 3>{".npy:", ".npz:", ".safetensors:"}) {
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
    const auto check = [&](std::span<const std::byte> front) { (void)io::format_of(front, name_of_input(path)); };
    return files_.try_emplace(path, path, check).first->second;
}

const MappedFile& TensorInputs::any_file(const std::string& path)
{
    const auto check = [&](std::span<const std::byte> front) {
        if (std::ranges::find(front, std::byte{0}) != front.end()) {
            (void)io::format_of(front, name_of_input(path));
        }
    };
    return files_.try_emplace(path, path, check).first->second;
}

const MappedFile& TensorInputs::json_or_tensors(const std::string& path, const char* of_json)
{
    const auto check = [&](std::span<const std::byte> front) {
        if (!begins_json(front)) {
            (void)io::format_of(front, name_of_input(path), of_json);
        }
    };
    const MappedFile& file = files_.try_emplace(path, path, check).first->second;
    check(file.bytes());
    return file;
}

const NamedTensor& TensorInputs::open(const TensorArgument& argument)
{
    const MappedFile& file = map(argument.path);
    const std::string name = name_in(file, argument.name);
    return opened_.emplace_back(io::open_tensors(file.bytes(), file.name(), name).at(name, file.name()));
}

void TensorInputs::read_numbers() const
{
    for (const NamedTensor& tensor : opened_) {
        tensor.read_numbers();
    }
}

io::TensorFile& TensorInputs::all(const std::string& path)
{
    const MappedFile& file = json_or_tensors(path, "a result as JSON, or ");
    return whole_.emplace_back(begins_json(file.bytes()) ? tensors_of_result(file)
                                                         : io::open_tensors(file.bytes(), file.name()));
}

void TensorInputs::require_apart_from(const std::optional<std::string>& output) const
{
    for (const auto& [path, file] : files_) {
        require_apart(output, path);
    }
}

void TensorInputs::require_unchanged() const
{
    for (const auto& [path, file] : files_) {
        file.require_unchanged();
    }
}

namespace {

io::TensorFile read(std::string_view text)
{
    const std::vector<JsonText> documents = split_documents(text);
    const bool alone = documents.size() == 1;
    if (!alone || io::kind_of(documents.front().text) != io::Document::result) {
        throw Error(ErrorKind::data, "JSON", alone ? "no result" : "several texts",
                    "one result, as run --show parameters --json writes it");
    }
    const model::SavedResult saved = io::parse_saved_result(documents.front().text);
    io::TensorFile file;
    for (StoredTensor& tensor : model::tensors_of(saved).tensors) {
        file.entries.push_back(owned(std::move(tensor)));
    }
    file.metadata = report::metadata_of(std::get<model::Recipe>(saved.config));
    return file;
}

} // namespace

io::TensorFile tensors_of_result(const MappedFile& file)
{
    return named(file.name(), [&] { return read({reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()}); });
}

} // namespace attn::cli
