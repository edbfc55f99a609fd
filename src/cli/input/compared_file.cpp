#include "cli/input/compared_file.hpp"

#include "attn/io/arrays/array_file.hpp"
#include "attn/io/tensors/npy.hpp"
#include "attn/tensor/error.hpp"
#include "cli/input/raw_input.hpp"
#include "cli/options/input_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

namespace attn::cli {

namespace {

/// Of the arrays of a .bin the one that is wanted, or all.
io::TensorFile raw_arrays(const MappedFile& file, const std::string& header, const std::string& wanted)
{
    io::TensorFile raw = open_raw(file, header);
    if (!wanted.empty()) {
        std::vector<std::string> names;
        std::ranges::transform(raw.entries, std::back_inserter(names), &NamedTensor::name);
        raw.entries = {raw.at(name_among(names, wanted, file.name()), file.name())};
    }
    return raw;
}

} // namespace

ComparedFile::ComparedFile(const std::string& text, std::size_t most_bytes)
    : argument_(split_tensor_argument(text)), header_(header_beside(argument_.path)),
      file_(argument_.path, [this](std::span<const std::byte> front) {
          if (!header_) {
              (void)io::may_begin_arrays(front, name_of_input(argument_.path));
          }
      })
{
    require_size(file_.name(), file_.bytes().size(), most_bytes);
    require_header(file_, argument_.path);
    const bool of_all = argument_.name.empty() || argument_.name == io::bfloat16_said.substr(1);
    if (!header_ && !of_all && io::is_tensor_file(file_.bytes())) {
        (void)name_in(file_, argument_.name); // which lists the names that there are
    }
    io::ArrayFile arrays = header_ ? io::ArrayFile{.file = raw_arrays(file_, *header_, argument_.name)}
                                   : io::open_arrays(file_.bytes(), file_.name(), argument_.name);
    if (!arrays.file.unsupported.empty()) {
        (void)arrays.file.at(arrays.file.unsupported.front().name, file_.name()); // which says what type it is
    }
    std::vector<NamedTensor>& entries = arrays.file.entries;
    contents_.tensors.reserve(entries.size());
    for (std::size_t at = 0; at < entries.size(); ++at) {
        contents_.tensors.push_back(
            {std::move(entries[at]), arrays.texts.empty() ? math::PrintedNumbers() : arrays.texts[at].printed});
    }
    contents_.words = std::move(arrays.words);
}

const model::ComparedTensor& ComparedFile::called(std::string_view name) const
{
    const std::vector<model::ComparedTensor>& tensors = contents_.tensors;
    const auto found = std::ranges::find(tensors, name, &model::ComparedTensor::name);
    if (found == tensors.end()) {
        throw Error(ErrorKind::data, "tensor of " + file_.name(), counted(std::ssize(tensors), "tensor"),
                    fmt::format("one named {0}{1}{2}", in_quotes(name), tensors.size() == 1 ? ", or --show " : "",
                                tensors.size() == 1 ? name : ""));
    }
    return *found;
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
        names += (names.empty() ? "" : name == *(wanted.end() - 1) ? " or " : ", ") + in_quotes(name);
    }
    throw Error(ErrorKind::data, "tensor of " + file_.name(), counted(static_cast<std::int64_t>(tensors.size()), "tensor"),
                fmt::format("one tensor, or one named {}, or FILE:NAME", names));
}

} // namespace attn::cli
