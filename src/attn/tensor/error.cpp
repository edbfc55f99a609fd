#include "attn/tensor/error.hpp"

#include "attn/tensor/steering.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace attn {
namespace {

std::string escaped(unsigned char byte)
{
    switch (byte) {
    case '\n': return "\\n";
    case '\r': return "\\r";
    case '\t': return "\\t";
    default: break;
    }
    static constexpr std::array<char, 17> digits{"0123456789abcdef"};
    return {'\\', 'x', digits[byte >> 4U], digits[byte & 15U]};
}

} // namespace

std::size_t utf8_length(std::string_view bytes)
{
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
    const unsigned char lead = byte(0);
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
    if (length == 0 || length > bytes.size()) {
        return 0;
    }
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0U) != 0x80U) {
            return 0;
        }
    }
    const bool overlong = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xF0 && byte(1) < 0x90);
    const bool surrogate = lead == 0xED && byte(1) > 0x9F;
    const bool beyond = lead == 0xF4 && byte(1) > 0x8F;
    return overlong || surrogate || beyond ? 0 : length;
}

Error::Error(ErrorKind kind, std::string_view thing, std::string_view value, std::string_view allowed)
    : Error(kind, std::string(thing) + ": got " + std::string(value) + "; allowed: " + std::string(allowed))
{
}

std::string quoted(std::string_view bytes, std::size_t most)
{
    std::string text = "'";
    while (!bytes.empty()) {
        const std::size_t length = utf8_length(bytes);
        const std::string_view character = bytes.substr(0, std::max<std::size_t>(length, 1));
        std::string piece;
        if (length == 0 || steers(code_point(character))) {
            for (const char byte : character) {
                piece += escaped(static_cast<unsigned char>(byte));
            }
        } else {
            piece = character;
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
    return std::to_string(count) + " " + std::string(thing) + (count == 1 ? "" : "s");
}

} // namespace attn
