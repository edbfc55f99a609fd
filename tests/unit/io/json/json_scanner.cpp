#include "attn/io/json/json_scanner.hpp"

#include "attn/io/json/json_reader.hpp"
#include "unit/error_of.hpp"

#include <gtest/gtest.h>

#include <random>

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
        const std::size_t begin = scanner.member();
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
}

TEST(JsonScanner, IsAsStrictAsTheReader)
{
    for (const std::string text : {"",
                                   " ",
                                   "{",
                                   "[1,]",
                                   "{\"a\":1,}",
                                   "01",
                                   "-01",
                                   "+1",
                                   "1.",
                                   ".5",
                                   "1e",
                                   "1e+",
                                   "-",
                                   "NaN",
                                   "nul",
                                   "0x10",
                                   "'a'",
                                   "\"a",
                                   "// c\n1",
                                   "1 2",
                                   "{} []",
                                   "\"\xff\"",
                                   "\"\xed\xa0\x80\"",
                                   "\"\\ud800\"",
                                   "\"\\ud800\\u0041\"",
                                   "\"\\udc00\"",
                                   "\"\\u12g4\"",
                                   "\"\\x\"",
                                   "\"\t\"",
                                   "1-",
                                   "[1-",
                                   "{1:2}",
                                   "{\"a\"}",
                                   "{\"a\":}",
                                   "[,1]",
                                   "[1,,2]",
                                   "]",
                                   "tru",
                                   "truex",
                                   "\"\\"}) {
        EXPECT_EQ(skipping(text).substr(0, 14), "malformed JSON") << text;
    }
    for (const std::string text :
         {"0", "-0", "-0.0e-1", "1E+2", "[]", "{}", "[[],{}]", "\"\"", "null", " true ", "\"\\u0000\"", "\"\x7f\""}) {
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
        if (theirs.find("given twice") == std::string::npos && theirs.find("beyond the range") == std::string::npos &&
            theirs.find("NUL") == std::string::npos) {
            EXPECT_EQ(skipping(damaged), theirs) << damaged;
        }
    }
}

TEST(JsonScanner, RefusesAValueOfAnotherKind)
{
    EXPECT_NE(error_of([] { (void)JsonScanner("1").string(); }).find("byte 0"), std::string::npos);
    EXPECT_NE(error_of([] { (void)JsonScanner("\"a\"").number(); }), "no error");
    EXPECT_NE(error_of([] { JsonScanner("[]").object([](std::string_view) {}); }), "no error");
}

} // namespace
