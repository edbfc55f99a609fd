#include "attn/tensor/error.hpp"

#include "attn/tensor/utf8.hpp"

#include <fmt/format.h>

namespace attn {
Error::Error(ErrorKind kind, std::string_view thing, std::string_view value, std::string_view allowed)
    : Error(kind, fmt::format("{}: got {}; allowed: {}", thing, value, allowed))
{
}

std::string in_quotes(std::string_view bytes, std::size_t most)
{
    std::string text = "'";
    while (!bytes.empty()) {
        const CodePoint point = front(bytes);
        const std::string_view character = bytes.substr(0, point.bytes);
        std::string piece;
        if (point.well_formed && !steers(point.value)) {
            piece = character;
        } else {
            for (const char byte : character) {
                append_escape(piece, static_cast<unsigned char>(byte), "\\x", 2);
            }
        }
        if (text.size() + piece.size() > most) {
            text += "…";
            break;
        }
        text += piece;
        bytes.remove_prefix(character.size());
    }
    return text + "'";
}

std::string counted(std::int64_t count, std::string_view thing)
{
    return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

} // namespace attn
