// JSON texts one after the other, as `run --lines --json` writes them.
#pragma once

#include "attn/tensor/shape.hpp"

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace attn::cli {

/// Whether a file begins as a JSON object does: a brace after white space, with or without a byte order mark before it.
[[nodiscard]] bool begins_json(std::span<const std::byte> front);

struct JsonText {
    std::string_view text;
    Index line = 1; ///< of the file, where it begins
};

/// The objects of `file`, each on lines of its own, one or several (as `jq .` lays them out). What else stands on these lines
/// is part of the text, and what is no object ends the list as one more text, for the parser to refuse. Each text begins where
/// its line does, the only one of a file where the file does. An empty file has none.
[[nodiscard]] std::vector<JsonText> split_documents(std::string_view file);

} // namespace attn::cli
