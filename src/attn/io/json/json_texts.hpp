// JSON texts one after the other, as `run --lines --json` writes them: where each begins and ends. Nothing is parsed.
#pragma once

#include "attn/tensor/shape.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace attn::io {

/// Whether a file begins as a JSON object does: a brace after white space, with or without a byte order mark before it.
[[nodiscard]] bool begins_json(std::span<const std::byte> front);

struct JsonText {
    std::string_view text;
    Index line = 1; ///< of the file, where it begins
};

/// The objects of `file`, each on lines of its own, one or several (as `jq .` lays them out). What else stands on these lines
/// is part of the text, and what is not an object ends the list as one more text, for the parser to refuse. Each text begins
/// where its line does, the only one of a file where the file does. An empty file has none.
[[nodiscard]] std::vector<JsonText> split_documents(std::string_view file);

/// From the first brace or bracket of a text on; nothing of one that begins otherwise.
[[nodiscard]] std::string_view json_of(std::string_view text);
/// The length of the object at the front of `text`, or of everything when it does not end.
[[nodiscard]] std::size_t object_length(std::string_view text);

/// Follows the object, or the array of objects, at the front of a text that comes in pieces.
class OpenObject {
public:
    /// The length of what belongs to it in the next piece, which ends it; nothing: it is still open.
    [[nodiscard]] std::optional<std::size_t> end_in(std::string_view piece);
    /// Whether it is open behind the next piece of the text, and may be JSON as far as it came. Spaces may stand before it.
    [[nodiscard]] bool goes_on(std::string_view piece);

private:
    Index depth_ = 0;
    bool in_string_ = false, escaped_ = false;
    bool is_json_ = true; ///< prose may begin with a brace, too
};

} // namespace attn::io
