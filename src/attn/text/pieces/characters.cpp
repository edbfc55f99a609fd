#include "attn/text/pieces/characters.hpp"

#include "attn/tensor/utf8.hpp"
#include "attn/text/tokenizer.hpp"

#include <utf8proc.h>

#include <array>

namespace attn::text {

// ---- classes ---------------------------------------------------------------------------------------------------------------

namespace {

bool between(std::int32_t c, std::int32_t first, std::int32_t last)
{
    return c >= first && c <= last;
}

} // namespace

bool is_white_space(std::int32_t c)
{
    if (c < 0x80) {
        return between(c, 0x09, 0x0D) || c == 0x20;
    }
    return c == 0x85 || c == 0xA0 || c == 0x1680 || between(c, 0x2000, 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
           c == 0x205F || c == 0x3000;
}

bool is_punctuation(std::int32_t c)
{
    if (c < 0x80) {
        return between(c, 33, 47) || between(c, 58, 64) || between(c, 91, 96) || between(c, 123, 126);
    }
    const utf8proc_category_t category = utf8proc_category(c);
    return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO;
}

bool is_numeric(std::int32_t c)
{
    const utf8proc_category_t category = utf8proc_category(c);
    return category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO;
}

bool is_mark(std::int32_t c)
{
    if (c < 0x300) {
        return false;
    }
    const utf8proc_category_t category = utf8proc_category(c);
    return category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ME;
}

bool is_nonspacing_mark(std::int32_t c)
{
    return c >= 0x300 && utf8proc_category(c) == UTF8PROC_CATEGORY_MN;
}

bool is_bert_control(std::int32_t c)
{
    if (c == '\t' || c == '\n' || c == '\r') {
        return false;
    }
    const utf8proc_category_t category = utf8proc_category(c);
    return category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF || category == UTF8PROC_CATEGORY_CO;
}

bool is_bert_chinese(std::int32_t c)
{
    return between(c, 0x3400, 0x4DBF) || between(c, 0x4E00, 0x9FFF) || between(c, 0xF900, 0xFAFF) ||
           between(c, 0x20000, 0x2A6DF) || between(c, 0x2A700, 0x2B81F) || between(c, 0x2B920, 0x2CEAF) ||
           between(c, 0x2F800, 0x2FA1F);
}

bool is_word_character(std::int32_t c)
{
    const utf8proc_category_t category = utf8proc_category(c);
    if (is_letter_mark_or_digit(c) || category == UTF8PROC_CATEGORY_NL || category == UTF8PROC_CATEGORY_PC) {
        return true;
    }
    // Other_Alphabetic among the symbols (PropList.txt), and Join_Control.
    return between(c, 0x24B6, 0x24E9) || between(c, 0x1F130, 0x1F149) || between(c, 0x1F150, 0x1F169) ||
           between(c, 0x1F170, 0x1F189) || c == 0x200C || c == 0x200D;
}

void append_character(std::string& out, std::int32_t c)
{
    std::array<utf8proc_uint8_t, 4> bytes{};
    const utf8proc_ssize_t count = utf8proc_encode_char(c, bytes.data());
    out.append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(count));
}

// ---- characters that stand for bytes ---------------------------------------------------------------------------------------

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
