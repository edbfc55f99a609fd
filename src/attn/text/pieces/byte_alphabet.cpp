#include "attn/text/pieces/byte_alphabet.hpp"

#include "attn/tensor/utf8.hpp"

#include <array>

namespace attn::text {
namespace {

constexpr std::int32_t first_stranger = 0x100;
constexpr std::size_t strangers = 68;

constexpr bool stands_for_itself(std::int32_t byte)
{
    return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || (byte >= 174 && byte <= 255);
}

struct Alphabet {
    std::array<std::array<char, 2>, 256> characters{}; ///< UTF-8; none is longer
    std::array<unsigned char, strangers> bytes{};      ///< of U+0100 and on
};

constexpr Alphabet made()
{
    Alphabet alphabet;
    std::int32_t next = first_stranger;
    for (std::int32_t byte = 0; byte < 256; ++byte) {
        std::int32_t c = byte;
        if (!stands_for_itself(byte)) {
            alphabet.bytes.at(static_cast<std::size_t>(next - first_stranger)) = static_cast<unsigned char>(byte);
            c = next++;
        }
        auto& utf8 = alphabet.characters.at(static_cast<std::size_t>(byte));
        utf8[0] = static_cast<char>(c < 0x80 ? c : 0xC0 | c >> 6);
        utf8[1] = static_cast<char>(c < 0x80 ? 0 : 0x80 | (c & 0x3F));
    }
    return alphabet;
}

constexpr Alphabet alphabet = made();

} // namespace

std::string_view character_of_byte(unsigned char byte)
{
    const auto& utf8 = alphabet.characters.at(byte);
    return {utf8.data(), utf8[1] == 0 ? 1U : 2U};
}

std::optional<unsigned char> byte_of_character(std::int32_t character)
{
    if (character >= 0 && character < first_stranger && stands_for_itself(character)) {
        return static_cast<unsigned char>(character);
    }
    const std::int32_t place = character - first_stranger;
    if (place >= 0 && place < static_cast<std::int32_t>(strangers)) {
        return alphabet.bytes.at(static_cast<std::size_t>(place));
    }
    return std::nullopt;
}

std::optional<std::string> bytes_of_piece(std::string_view piece)
{
    std::string bytes;
    while (!piece.empty()) {
        const CodePoint point = front(piece);
        const std::optional<unsigned char> byte = byte_of_character(point.value);
        if (!byte) {
            return std::nullopt;
        }
        bytes += static_cast<char>(*byte);
        piece.remove_prefix(point.bytes);
    }
    return bytes;
}

} // namespace attn::text
