// One side of `compare`: the tensors of a file of any kind.
#pragma once

#include "attn/model/check/compare.hpp"
#include "cli/input/tensor_inputs.hpp"
#include "cli/system/mapped_file.hpp"

#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace attn::cli {

/// All arrays of any file that io/arrays/array_file.hpp reads, or of a .bin with its header.
class ComparedFile {
public:
    /// FILE, or FILE:NAME for one tensor of it. Throws as MappedFile, Error(data) for what is none of the formats, or longer
    /// than --max-input-bytes.
    explicit ComparedFile(const std::string& text, std::size_t most_bytes = std::numeric_limits<std::size_t>::max());
    ComparedFile(const ComparedFile&) = delete; ///< its contents read from it
    ComparedFile& operator=(const ComparedFile&) = delete;
    ComparedFile(ComparedFile&&) = delete;
    ComparedFile& operator=(ComparedFile&&) = delete;
    ~ComparedFile() = default;

    [[nodiscard]] const model::Contents& contents() const { return contents_; }
    [[nodiscard]] const std::string& name() const { return file_.name(); } ///< for messages
    /// Its only tensor, or of several the first of these names that it has. Throws Error(data).
    [[nodiscard]] const model::ComparedTensor& only(std::initializer_list<std::string_view> wanted) const;
    /// Its tensor of that name. Throws Error(data).
    [[nodiscard]] const model::ComparedTensor& called(std::string_view name) const;
    void require_unchanged() const { file_.require_unchanged(); }
    /// Throws Error(usage) when an output names it.
    void require_apart_from(const std::optional<std::string>& output) const { require_apart(output, argument_.path); }

private:
    TensorArgument argument_;
    std::optional<std::string> header_; ///< of a .bin
    MappedFile file_;
    model::Contents contents_;
};

} // namespace attn::cli
