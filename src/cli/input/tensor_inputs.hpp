// Tensors that options name: FILE, or FILE:NAME.
#pragma once

#include "attn/io/arrays/array_file.hpp"
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

/// `wanted`, or without one the name of the only tensor there is, with what `wanted` says of its type (io::wanted_tensor).
/// Throws Error(data) with the names that there are.
[[nodiscard]] std::string name_in(const MappedFile& file, const std::string& wanted);
/// The same where the names are known.
[[nodiscard]] std::string name_among(const std::vector<std::string>& names, const std::string& wanted, const std::string& file);

/// Throws Error for "-", usage or data, as `origin` says who gave it: what a result is computed of must have a name there.
void refuse_standard_input(const std::string& path, const model::FieldInfo& field, const model::Origin& origin);

/// Files that tensors were taken from. They stay mapped, each once, and their tensors stay as long as this object lives.
class TensorInputs {
public:
    /// Of a file of any kind that io/arrays/array_file.hpp reads, or a .bin with its header. Throws Error(no_input), Error(io),
    /// Error(too_large), and Error(data) for a broken file and a name that it does not have.
    [[nodiscard]] const NamedTensor& open(const TensorArgument& argument);
    [[nodiscard]] const NamedTensor& open(const std::string& text) { return open(split_tensor_argument(text)); }

    /// Reads the numbers of all that was opened. May be called from several threads. Throws Error(data) for a broken file, and
    /// what `judge` throws.
    void read_numbers(const NumberJudge& judge = {}) const;

    /// The same, but integers become float32. Throws Error(data) for one that it cannot hold.
    [[nodiscard]] const NamedTensor& open_numbers(const std::string& text);

    /// The same as open(), with what a text says beside the numbers; without a name, of several arrays the one that is called
    /// `usual`.
    struct Opened {
        const NamedTensor& tensor;
        const io::OfText& text;
    };
    [[nodiscard]] Opened open_text(const TensorArgument& argument, std::string_view usual = {});

    /// Every array of a file: of JSON those of one result. Throws as open().
    [[nodiscard]] io::TensorFile& all(const std::string& path);

    /// The file that a tensor was taken from.
    [[nodiscard]] const MappedFile& file(const std::string& path) { return map(path); }

    /// A file of tensors or of text, in the same keeping. Throws Error(data) for what can be told to be neither before all is
    /// read.
    [[nodiscard]] const MappedFile& any_file(const std::string& path);

    /// Throws Error(usage) when -o names one of the files.
    void require_apart_from(const std::optional<std::string>& output) const;

    /// Throws Error(io) when a file was written to in the meantime.
    void require_unchanged() const;

private:
    const MappedFile& map(const std::string& path);
    const io::ArrayFile& whole(const std::string& path);

    std::map<std::string, MappedFile> files_;
    std::deque<NamedTensor> opened_;
    std::map<std::string, io::ArrayFile> whole_; ///< by path: what was read as a whole, for open()
    std::deque<io::ArrayFile> all_;              ///< what all() gave
};

} // namespace attn::cli
