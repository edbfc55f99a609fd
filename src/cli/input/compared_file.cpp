#include "cli/input/compared_file.hpp"

#include "attn/io/json/printed_array.hpp"
#include "attn/io/json/saved_result.hpp"
#include "attn/io/tensors/tensor_file.hpp"
#include "attn/io/tensors/tensor_json.hpp"
#include "attn/math/decimal.hpp"
#include "attn/tensor/error.hpp"
#include "cli/input/documents.hpp"
#include "cli/options/input_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace attn::cli {

namespace {

std::string_view as_text(std::span<const std::byte> bytes)
{
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// A binary format has other bytes among its first.
bool is_printed(std::span<const std::byte> bytes)
{
    return as_text(bytes.first(std::min<std::size_t>(bytes.size(), 8))).find('\0') == std::string_view::npos &&
           io::is_printed_array(as_text(bytes));
}

void refuse_others(std::span<const std::byte> bytes, const std::string& name)
{
    (void)io::format_of(bytes, name, "a result or tensor as JSON, an array as PyTorch or NumPy prints it, or ");
}

/// Of a file's first bytes, enough to tell what is none of the formats from what may be one.
void require_beginning(std::span<const std::byte> front, const std::string& name)
{
    if (!begins_json(front) && !io::may_begin_printed_array(as_text(front))) {
        refuse_others(front, name);
    }
}

} // namespace

ComparedFile::ComparedFile(const std::string& text, std::size_t most_bytes)
    : argument_(split_tensor_argument(text)), file_(argument_.path, [this](std::span<const std::byte> front) {
          require_beginning(front, name_of_input(argument_.path));
      })
{
    require_size(file_.name(), file_.bytes().size(), most_bytes);
    if (begins_json(file_.bytes())) {
        read_json(argument_.name);
    } else if (is_printed(file_.bytes())) {
        read_printed(argument_.name);
    } else {
        refuse_others(file_.bytes(), file_.name());
        read_tensors(argument_.name);
    }
}

const model::ComparedTensor& ComparedFile::only(std::initializer_list<std::string_view> wanted) const
{
    const std::vector<model::ComparedTensor>& tensors = contents_.tensors;
    if (tensors.size() == 1) {
        return tensors.front();
    }
    std::string names;
    for (const std::string_view name : wanted) {
        const auto found = std::ranges::find(tensors, name, &model::ComparedTensor::name);
        if (found != tensors.end()) {
            return *found;
        }
        names += (names.empty() ? "" : " or ") + in_quotes(name);
    }
    throw Error(ErrorKind::data, "tensor of " + file_.name(), counted(static_cast<std::int64_t>(tensors.size()), "tensor"),
                fmt::format("one, one named {}, or FILE:NAME", names));
}

/// As the nearest float64, beside what was printed.
void ComparedFile::read_printed(const std::string& wanted)
{
    if (!wanted.empty()) {
        throw Error(ErrorKind::data, file_.name(), "the name " + in_quotes(wanted), "none, a printed array has no name");
    }
    const io::PrintedArray array = io::parse_printed_array(as_text(file_.bytes()), file_.name());
    std::vector<double> values;
    for (std::size_t i = 0; i < array.texts.size(); ++i) {
        printed_.push_back(math::parse_printed(array.texts[i], array.digits));
        values.push_back(printed_.back().value);
    }
    StoredTensor tensor("", ElementType::float64, array.shape);
    store<double>(tensor, 0, values);
    contents_.tensors.push_back({owned(std::move(tensor)), printed_});
}

void ComparedFile::read_tensors(const std::string& wanted)
{
    if (!wanted.empty()) {
        (void)name_in(file_, wanted);
    }
    io::TensorFile tensors = io::open_tensors(file_.bytes(), file_.name(), wanted);
    if (!tensors.unsupported.empty()) {
        (void)tensors.at(tensors.unsupported.front().name, file_.name()); // which says what type it is
    }
    contents_.tensors.reserve(tensors.entries.size());
    for (NamedTensor& entry : tensors.entries) {
        contents_.tensors.push_back({std::move(entry)});
    }
}

void ComparedFile::add_document(std::string_view json, const std::string& prefix)
{
    const auto keep = [&](StoredTensor tensor) {
        tensor.name = prefix + tensor.name;
        contents_.tensors.push_back({owned(std::move(tensor))});
    };
    switch (io::kind_of(json)) {
    case io::Document::tensor: return keep(io::parse_tensor_json(json));
    case io::Document::result:
    case io::Document::layers: {
        model::ResultTensors result = model::tensors_of(io::parse_saved_result(json));
        for (StoredTensor& tensor : result.tensors) {
            keep(std::move(tensor));
        }
        for (model::NamedWords& words : result.words) {
            contents_.words.push_back({prefix + words.name, std::move(words.words)});
        }
        return;
    }
    case io::Document::failed_line:
        throw Error(ErrorKind::data, "holds an error in place of a result: " + io::parse_failed_line(json));
    default: io::refuse_schema(json, {model::Document::result, model::Document::layers, model::Document::tensor});
    }
}

/// Several results, as `run --lines` writes them, are told apart by their lines; the tensors of `attend --show` by their names.
void ComparedFile::read_json(const std::string& wanted)
{
    const std::vector<JsonText> documents = split_documents(as_text(file_.bytes()));
    for (const JsonText& document : documents) {
        const std::string line = documents.size() > 1 ? fmt::format("line {}", document.line) : "";
        try {
            const bool result = !line.empty() && io::kind_of(document.text) != io::Document::tensor;
            add_document(document.text, result ? line + " " : "");
        } catch (const Error& error) {
            throw Error(error.kind(), file_.name() + ": " + (line.empty() ? "" : line + ": ") + error.what());
        }
    }
    if (wanted.empty()) {
        return;
    }
    contents_.words.clear();
    std::erase_if(contents_.tensors, [&](const model::ComparedTensor& tensor) { return tensor.name != wanted; });
    if (contents_.tensors.empty()) {
        throw Error(ErrorKind::data, "tensor of " + file_.name(), in_quotes(wanted), "the name of an array of numbers in it");
    }
}

} // namespace attn::cli
