#include "attn/text/tokenizer.hpp"

#include "attn/tensor/utf8.hpp"
#include "unit/error_of.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace {

using attn::text::casefold;
using attn::text::require_utf8;

std::string refusal(std::string_view bytes)
{
    return error_of([&] { require_utf8(bytes, "SENTENCE"); });
}

std::string refused_at(const char* hex, int offset)
{
    std::ostringstream message;
    message << "SENTENCE: got byte " << hex << " at offset " << offset << "; allowed: well-formed UTF-8 without NUL bytes";
    return message.str();
}

TEST(RequireUtf8, AcceptsTheFirstAndLastOfEveryLength)
{
    for (const char* text : {"", "\x01", "\x7f", "\u0080", "\u07ff", "\u0800", "\ue000", "\uffff", "\U00010000", "\U0010ffff",
                             "na\u00efve \u4eba \U0001f600"}) {
        EXPECT_EQ(refusal(text), "no error") << text;
    }
}

TEST(RequireUtf8, NamesTheByteAndItsOffset)
{
    EXPECT_EQ(refusal("abc\xff"), refused_at("0xff", 3));
    EXPECT_EQ(refusal("\u4eba\x80"), refused_at("0x80", 3)); // continuation without a lead
    EXPECT_EQ(refusal("a\xc3"), refused_at("0xc3", 1));      // cut short
    EXPECT_EQ(refusal("a\xe4\xba"), refused_at("0xe4", 1));
    EXPECT_EQ(refusal("\xf0\x9f\x98z"), refused_at("0xf0", 0));
    EXPECT_EQ(refusal("\xc1\xbf"), refused_at("0xc1", 0));         // overlong, also the next two
    EXPECT_EQ(refusal("\xe0\x9f\xbf"), refused_at("0xe0", 0));     //
    EXPECT_EQ(refusal("\xf0\x8f\xbf\xbf"), refused_at("0xf0", 0)); //
    EXPECT_EQ(refusal("\xed\xa0\x80"), refused_at("0xed", 0));     // surrogate
    EXPECT_EQ(refusal("\xf4\x90\x80\x80"), refused_at("0xf4", 0)); // beyond U+10FFFF
    EXPECT_EQ(refusal("\xf5\x80\x80\x80"), refused_at("0xf5", 0));
}

TEST(RequireUtf8, RefusesNul)
{
    EXPECT_EQ(refusal(std::string_view("a\0b", 3)), refused_at("0x00", 1));
}

TEST(RequireUtf8, FindsTheBadByteWhereverItStands) // eight bytes are looked at together
{
    for (int offset = 0; offset < 40; ++offset) {
        for (const char beside : {'\x01', '\x7f'}) {
            std::string text(40, beside);
            EXPECT_EQ(refusal(text), "no error");
            text[static_cast<std::size_t>(offset)] = '\0';
            EXPECT_EQ(refusal(text), refused_at("0x00", offset));
            text[static_cast<std::size_t>(offset)] = '\xff';
            EXPECT_EQ(refusal(text), refused_at("0xff", offset));
        }
    }
}

// Expected values: Python's str.casefold.
TEST(Casefold, FoldsFully)
{
    EXPECT_EQ(casefold("Life IS Short"), "life is short");
    EXPECT_EQ(casefold("Stra\u00dfe"), "strasse");
    EXPECT_EQ(casefold("\u1e9e"), "ss");                 // capital sharp s
    EXPECT_EQ(casefold("\u0130"), "i\u0307");            // dotted capital I
    EXPECT_EQ(casefold("\u03a3\u03c2"), "\u03c3\u03c3"); // both sigmas
    EXPECT_EQ(casefold("\ufb03"), "ffi");                // ligature, three letters
    EXPECT_EQ(casefold("\u1fb7"), "\u03b1\u0342\u03b9");
    EXPECT_EQ(casefold("\U00010400"), "\U00010428"); // Deseret
    EXPECT_EQ(casefold("\uab70"), "\u13a0");         // Cherokee folds to capitals
}

TEST(Casefold, DoesNotNormalise)
{
    EXPECT_EQ(casefold("e\u0301 \u00e9 \u212b \uac00"), "e\u0301 \u00e9 \u00e5 \uac00");
    EXPECT_EQ(casefold("\u4eba \U0001f600 \u00b2"), "\u4eba \U0001f600 \u00b2");
}

/// UTF-8 as RFC 3629, section 3 draws it.
std::string encoded(unsigned c)
{
    const int continuations = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static constexpr unsigned leads[] = {0x00, 0xC0, 0xE0, 0xF0};
    std::string text(1, static_cast<char>(leads[continuations] | c >> (6 * continuations)));
    for (int i = continuations - 1; i >= 0; --i) {
        text.push_back(static_cast<char>(0x80 | (c >> (6 * i) & 0x3F)));
    }
    return text;
}

TEST(Casefold, IsStableOnEveryCodePoint)
{
    for (unsigned c = 1; c < 0x110000; ++c) {
        if (c >= 0xD800 && c < 0xE000) {
            continue;
        }
        const std::string text = encoded(c);
        ASSERT_EQ(attn::front(text).value, static_cast<std::int32_t>(c));
        const std::string folded = casefold(text);
        ASSERT_NO_THROW(require_utf8(folded, "folded")) << c;
        ASSERT_EQ(casefold(folded), folded) << c;
    }
}

} // namespace
