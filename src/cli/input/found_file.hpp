// Where a file is that a recipe names: beside the recipe, or where the program runs.
#pragma once

#include "attn/model/recipe/overrides.hpp"
#include "attn/model/recipe/recipe_fields.hpp"
#include "cli/system/digest.hpp"
#include "cli/system/log.hpp"

#include <optional>
#include <string>

namespace attn::cli {

struct FileSearch {
    std::string folder;          ///< of the recipe, with its slash; empty: none, or where the program runs
    const model::Origin& origin; ///< what the command line names is not looked for there
};

/// What to open for `file`, which the recipe gives for `field`. Of two files the one whose digest is stated, if either is;
/// otherwise the one beside the recipe. Where there is none, `file` itself. Throws Error(data) for a FIFO or a device.
template <typename Digest>
[[nodiscard]] std::string found_file(const FileSearch& search, const model::FieldInfo& field, const std::string& file,
                                     const Digest& stated);

extern template std::string found_file(const FileSearch&, const model::FieldInfo&, const std::string&, const std::string&);
extern template std::string found_file(const FileSearch&, const model::FieldInfo&, const std::string&,
                                       const model::FileDigest&);

/// The recipe for a place of its own, `path`, or where the program runs: its files are named as they stand beside it. Of one
/// that is elsewhere the bare name is left, with a warning.
[[nodiscard]] model::Recipe named_beside(const std::optional<std::string>& path, model::Recipe recipe, const FileSearch& search,
                                         Log& log);

} // namespace attn::cli
