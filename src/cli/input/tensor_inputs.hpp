// Tensors that options name: FILE, or FILE:NAME.
#pragma once

#include "attn/io/tensors/tensor_file.hpp"
#include "attn/model/recipe/overrides.hpp"
#include "cli/system/mapped_file.hpp"

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace attn::cli {

struct TensorArgument {
    std::string path; ///< "-": standard input
    std::string name; ///< empty: the only tensor of the file
};

/// The longest front of `text` that ends before a colon, or at its end, and is an existing file; the rest is the name. Both may
/// hold colons. Where no such file exists it is split behind .npy, .npz or .safetensors, or not at all.
[[nodiscard]] TensorArgument split_tensor_argument(const std::string& text);

/// `wanted`, or without one the name of the only tensor there is. Throws Error(data) with the names that there are.
[[nodiscard]] std::string name_in(const MappedFile& file, const std::string& wanted);

/// Throws Error for "-", usage or data, as `origin` says who gave it: what a result is computed of must have a name there.
void refuse_standard_input(const std::string& path, const model::FieldInfo& field, const model::Origin& origin);

/// Files that tensors were taken from. They stay mapped, each once, and their tensors stay as long as this object lives.
class TensorInputs {
public:
    /// Throws Error(no_input), Error(io), Error(too_large), and Error(data) for a broken file and a name that it does not have.
    [[nodiscard]] const NamedTensor& open(const TensorArgument& argument);
    [[nodiscard]] const NamedTensor& open(const std::string& text) { return open(split_tensor_argument(text)); }

    /// Reads the numbers of all that was opened. May be called from several threads. Throws Error(data) for a broken file.
    void read_numbers() const;

    /// Every tensor of a file, or of a result as JSON. Throws as open().
    [[nodiscard]] io::TensorFile& all(const std::string& path);

    /// The file that a tensor was taken from.
    [[nodiscard]] const MappedFile& file(const std::string& path) { return map(path); }

    /// A file of tensors or of text, in the same keeping. Throws Error(data) for what can be told to be neither before all is
    /// read.
    [[nodiscard]] const MappedFile& any_file(const std::string& path);

    /// A file of tensors or of JSON, likewise. Throws Error(data) for what is neither, with what JSON is allowed.
    [[nodiscard]] const MappedFile& json_or_tensors(const std::string& path, const char* of_json);

    /// Throws Error(usage) when -o names one of the files.
    void require_apart_from(const std::optional<std::string>& output) const;

    /// Throws Error(io) when a file was written to in the meantime.
    void require_unchanged() const;

private:
    const MappedFile& map(const std::string& path);

    std::map<std::string, MappedFile> files_;
    std::deque<NamedTensor> opened_;
    std::deque<io::TensorFile> whole_; ///< what all() gave
};

/// The arrays of a result as JSON, in the form of a file of tensors, with the metadata that `run` writes into a .safetensors.
/// Throws Error(data), naming the file, for what is no result, and for several.
[[nodiscard]] io::TensorFile tensors_of_result(const MappedFile& file);

} // namespace attn::cli
