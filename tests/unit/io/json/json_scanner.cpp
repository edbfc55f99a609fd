#include "attn/io/json/json_scanner.hpp"

#include "attn/io/json/json_reader.hpp"
#include "unit/error_of.hpp"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

namespace {

using attn::io::JsonScanner;

std::string skipping(std::string_view text)
{
    return error_of([&] {
        JsonScanner scanner(text);
        (void)scanner.skip();
        scanner.end();
    });
}

TEST(JsonScanner, GivesMembersAndElementsAsTheyCome)
{
    JsonScanner scanner(R"( {"a": [1, -2.5e3], "b\n": "x\"\u00e9\ud83d\ude42", "": {}} )");
    std::string seen;
    scanner.object([&](std::string_view key) {
        seen += key;
        seen += '=';
        if (scanner.next() == '[') {
            scanner.array([&] { seen += scanner.number(); });
        } else if (scanner.next() == '"') {
            seen += scanner.string();
        } else {
            seen += scanner.skip();
        }
        seen += ';';
    });
    scanner.end();
    EXPECT_EQ(seen, "a=1-2.5e3;b\n=x\"é🙂;={};");
}

TEST(JsonScanner, TellsWhereMembersStand)
{
    const std::string_view text = R"({"a":1, "b": [2] })";
    JsonScanner scanner(text);
    std::vector<std::string> members;
    scanner.object([&](std::string_view) {
        const std::size_t begin = scanner.member().begin;
        (void)scanner.skip();
        members.emplace_back(text.substr(begin, scanner.here() - begin));
    });
    EXPECT_EQ(members, (std::vector<std::string>{R"("a":1)", R"("b": [2])"}));
}

TEST(JsonScanner, DecodesEveryEscape)
{
    JsonScanner scanner(R"("\"\\\/\b\f\n\r\t\u0041\u0000\u07ff\uFFFF\udbff\udfff")");
    EXPECT_EQ(scanner.string(), std::string("\"\\/\b\f\n\r\tA\0\u07ff\uffff\U0010ffff", 19));
}

TEST(JsonScanner, NamesLineAndColumnOfWhatIsMalformed)
{
    EXPECT_EQ(skipping("{\n  \"a\": x}"), "malformed JSON at line 2, column 8: invalid literal");
    EXPECT_EQ(skipping("[1 2]"), "malformed JSON at line 1, column 4: unexpected number literal; expected ']'");
    EXPECT_EQ(skipping(std::string(40, '[')), "malformed JSON at line 1, column 33: nested deeper than 32 levels");
    EXPECT_EQ(skipping(std::string(1000000, '[')), "malformed JSON at line 1, column 33: nested deeper than 32 levels");
    EXPECT_EQ(skipping(std::string("[1,\0]", 6)), "malformed JSON at line 1, column 4: NUL byte");
}

TEST(JsonScanner, SaysWhatIsMalformedInItsOwnWords)
{
    for (const auto& [text, words] : std::vector<std::pair<std::string, std::string>>{
             {"", "1: unexpected end of input; expected '[', '{', or a literal"},
             {" ", "2: unexpected end of input; expected '[', '{', or a literal"},
             {"{", "2: unexpected end of input; expected string literal"},
             {"[1,]", "4: unexpected ']'; expected '[', '{', or a literal"},
             {"{\"a\":1,}", "8: unexpected '}'; expected string literal"},
             {"01", "2: unexpected number literal; expected end of input"},
             {"+1", "1: invalid literal"},
             {"1.", "3: invalid number; expected digit after '.'"},
             {".5", "1: invalid literal"},
             {"1e", "3: invalid number; expected '+', '-', or digit after exponent"},
             {"1e+", "4: invalid number; expected digit after exponent sign"},
             {"-", "2: invalid number; expected digit after '-'"},
             {"nul", "4: invalid literal"},
             {"0x10", "2: invalid literal"},
             {"'a'", "1: invalid literal"},
             {"\"a", "3: invalid string: missing closing quote"},
             {"1 2", "3: unexpected number literal; expected end of input"},
             {"{} []", "4: unexpected '['; expected end of input"},
             {"\"\xff\"", "2: invalid string: ill-formed UTF-8 byte"},
             {"\"\xed\xa0\x80\"", "3: invalid string: ill-formed UTF-8 byte"},
             {"\"\xf0\x9f\"", "3: invalid string: ill-formed UTF-8 byte"},
             {"\"\\ud800\"", "8: invalid string: surrogate U+D800..U+DBFF must be followed by U+DC00..U+DFFF"},
             {"\"\\ud800\\n\"", "9: invalid string: surrogate U+D800..U+DBFF must be followed by U+DC00..U+DFFF"},
             {"\"\\ud800\\u0041\"", "13: invalid string: surrogate U+D800..U+DBFF must be followed by U+DC00..U+DFFF"},
             {"\"\\udc00\"", "7: invalid string: surrogate U+DC00..U+DFFF must follow U+D800..U+DBFF"},
             {"\"\\u12g4\"", "6: invalid string: '\\u' must be followed by 4 hex digits"},
             {"\"\\x\"", "3: invalid string: forbidden character after backslash"},
             {"\"\t\"", "2: invalid string: control character U+0009 (HT) must be escaped to \\u0009 or \\t"},
             {"\"\x1f\"", "2: invalid string: control character U+001F (US) must be escaped to \\u001F"},
             {"{1:2}", "2: unexpected number literal; expected string literal"},
             {"{\"a\"}", "5: unexpected '}'; expected ':'"},
             {"{\"a\":}", "6: unexpected '}'; expected '[', '{', or a literal"},
             {"[1 true]", "7: unexpected true literal; expected ']'"},
             {"{\"a\":1 null}", "11: unexpected null literal; expected '}'"},
             {"[,1]", "2: unexpected ','; expected '[', '{', or a literal"},
             {"]", "1: unexpected ']'; expected '[', '{', or a literal"},
             {"truex", "5: invalid literal"},
             {"\"\\", "3: invalid string: forbidden character after backslash"},
             {"\xef\xbb\xbf[,1]", "2: unexpected ','; expected '[', '{', or a literal"},
             {"\xef\xbb{}", "2: invalid BOM; must be 0xEF 0xBB 0xBF if given"},
             {"[1e999]", "6: a number beyond the range of float64"},
         }) {
        EXPECT_EQ(skipping(text), "malformed JSON at line 1, column " + words) << text;
        EXPECT_EQ(error_of([&, &json = text] { (void)attn::io::JsonDocument(json); }), skipping(text)) << text;
    }
    for (const std::string text : {"0", "-0", "-0.0e-1", "1E+2", "[]", "{}", "[[],{}]", "\"\"", "null", " true ", "\"\\u0000\"",
                                   "\"\x7f\"", "1e-999", "\xef\xbb\xbf{}"}) {
        EXPECT_EQ(skipping(text), "no error") << text;
    }
}

TEST(JsonScanner, AgreesWithTheReaderOnDamagedText)
{
    const std::string text = R"({"a": [1, -2.5e3, true, null], "b": "x\"\u00e9\ud83d\ude42é", "c": {"d": [[]]}})";
    const std::string letters = "{}[]\",:\\u0-eE.d tn\n";
    for (unsigned seed = 0; seed < 5000; ++seed) {
        std::mt19937 random(seed);
        std::string damaged = text;
        for (unsigned i = 1 + random() % 2; i > 0; --i) {
            const std::size_t at = random() % damaged.size();
            const char letter = letters[random() % letters.size()];
            random() % 2 == 0 ? damaged.erase(at, 1) : damaged.replace(at, 1, 1, letter);
        }
        const std::string theirs = error_of([&] { (void)attn::io::JsonDocument(damaged); });
        if (theirs.find("given twice") == std::string::npos && theirs.find("NUL character") == std::string::npos) {
            EXPECT_EQ(skipping(damaged), theirs) << damaged;
        }
    }
}

TEST(JsonScanner, RefusesAValueOfAnotherKind)
{
    EXPECT_EQ(error_of([] { (void)JsonScanner("1").string(); }),
              "malformed JSON at line 1, column 1: unexpected number literal; expected string literal");
    EXPECT_NE(error_of([] { (void)JsonScanner("\"a\"").number(); }), "no error");
    EXPECT_NE(error_of([] { JsonScanner("[]").object([](std::string_view) {}); }), "no error");
}

} // namespace
