#include "attn/io/json/json_reader.hpp"

#include "unit/error_of.hpp"

#include <gtest/gtest.h>

namespace {

using attn::io::JsonDocument;
using attn::io::JsonKind;
using attn::io::JsonObject;
using attn::io::JsonValue;

std::string reading(std::string_view text)
{
    return error_of([&] { (void)JsonDocument(text); });
}

TEST(JsonReader, KeepsEveryNumberAsItStands)
{
    const std::string_view text = "[-0, 1.50, 1E+2,18446744073709551616 ,-0.0,0.1e-3]";
    const JsonDocument document(text);
    std::vector<std::string> seen;
    for (const JsonValue& value : document.root().elements()) {
        ASSERT_EQ(value.kind(), JsonKind::number);
        seen.emplace_back(value.text());
    }
    EXPECT_EQ(seen, (std::vector<std::string>{"-0", "1.50", "1E+2", "18446744073709551616", "-0.0", "0.1e-3"}));
    const JsonDocument alone("-12");
    EXPECT_EQ(alone.root().text(), "-12");
    const JsonDocument spaced("7 \n");
    EXPECT_EQ(spaced.root().text(), "7");
}

TEST(JsonReader, CountsElementsAndMembersWithoutWhatIsInside)
{
    EXPECT_EQ(JsonDocument("[[1, 2], {\"a\": 3}, 4]").root().size(), 3);
    EXPECT_EQ(JsonDocument("{\"a\": [1, 2, 3], \"b\": {}}").root().size(), 2);
    EXPECT_EQ(JsonDocument("\"abc\"").root().size(), 0);
}

TEST(JsonReader, KeepsStringsAndTheirPlaces)
{
    const JsonDocument document(R"({"a":[{"b c":"x\u00e9\n"}],"":true})");
    const JsonObject object(document.root(), {"a", ""});
    EXPECT_TRUE(object.at("").boolean());
    EXPECT_EQ(object.at("").place(), "['']");
    const JsonValue inner = object.at("a").elements().at(0).members().at(0).second;
    EXPECT_EQ(inner.string(), "xé\n");
    EXPECT_EQ(inner.place(), "a[0]['b c']");
}

TEST(JsonReader, NamesLineAndColumnOfWhatIsMalformed)
{
    EXPECT_EQ(reading("{\n  \"a\": x}"), "malformed JSON at line 2, column 8: invalid literal");
    EXPECT_EQ(reading("[1,\n\n"),
              "malformed JSON at line 3, column 1: unexpected end of input; expected '[', '{', or a literal");
    EXPECT_EQ(reading("{\"é\" 1}"), "malformed JSON at line 1, column 6: unexpected number literal; expected ':'");
    EXPECT_EQ(reading("[1-2]"), "malformed JSON at line 1, column 4: unexpected number literal; expected ']'");
}

TEST(JsonReader, RefusesWhatIsNoJson)
{
    for (const std::string text : {"",
                                   " ",
                                   "{",
                                   "[1,]",
                                   "{\"a\":1,}",
                                   "01",
                                   "+1",
                                   "1.",
                                   ".5",
                                   "NaN",
                                   "nan",
                                   "Infinity",
                                   "0x10",
                                   "'a'",
                                   "\"a",
                                   "// c\n1",
                                   "1 2",
                                   "{} []",
                                   "\"\xff\"",
                                   "\"\xed\xa0\x80\"",
                                   "\"\\ud800\"",
                                   "\"\t\"",
                                   "1-",
                                   "[1-"}) {
        EXPECT_EQ(reading(text).substr(0, 14), "malformed JSON") << text;
    }
}

TEST(JsonReader, RefusesNumbersBeyondFloat64)
{
    EXPECT_EQ(reading("[1e999]"), "malformed JSON at line 1, column 6: a number beyond the range of float64");
    EXPECT_EQ(reading("[1e-999]"), "no error"); // it is 0
}

TEST(JsonReader, RefusesNulBytesAndNulCharacters)
{
    EXPECT_EQ(reading(std::string("{}\0{", 4)), "malformed JSON at line 1, column 3: NUL byte");
    EXPECT_EQ(reading(R"(["a\u0000b"])"), "malformed JSON at line 1, column 11: NUL character in a string");
}

TEST(JsonReader, RefusesRepeatedKeysAtAnyLevel)
{
    EXPECT_EQ(reading(R"({"seed":1,"other":[],"seed":1})"),
              "malformed JSON at line 1, column 30: key 'seed' given twice in the object that ends here");
    EXPECT_EQ(reading(R"([{"a":{"b":1,"c":{"b":2},"\u0062":3}}])").find("key 'b' given twice"), 37U);
    EXPECT_EQ(reading(R"({"a":{"b":1},"b":{"a":[{"a":1}]}})"), "no error");
}

TEST(JsonReader, RefusesDeepNestingWithoutRecursion)
{
    EXPECT_EQ(reading(std::string(32, '[') + std::string(32, ']')), "no error");
    const std::string deep(1000000, '[');
    EXPECT_EQ(reading(deep), "malformed JSON at line 1, column 33: nested deeper than 32 levels");
}

TEST(JsonReader, RefusesNumbersOfTheWrongKindBeforeConverting)
{
    const auto integer = [](std::string_view text) {
        const JsonDocument document(text);
        return error_of([&] { (void)document.root().integer(-1, 10); });
    };
    EXPECT_EQ(integer("10"), "no error");
    EXPECT_EQ(integer("-1"), "no error");
    for (const char* text : {"11", "-2", "3.0", "3e0", "18446744073709551617", "\"3\"", "true", "null"}) {
        const std::string shown = text == std::string("\"3\"") ? "the string '3'" : text;
        EXPECT_EQ(integer(text), "JSON: got " + shown + "; allowed: an integer from -1 to 10");
    }
    const JsonDocument seed("18446744073709551615");
    EXPECT_EQ(seed.root().unsigned_integer(), 18446744073709551615U);
    for (const char* text : {"18446744073709551616", "-1", "1.0", "1e3"}) {
        const JsonDocument document(text);
        EXPECT_NE(error_of([&] { (void)document.root().unsigned_integer(); }), "no error") << text;
    }
}

TEST(JsonReader, RefusesUnknownKeysAndNamesTheKnown)
{
    const JsonDocument document(R"({"dims":{"head":3}})");
    const JsonValue dims = document.root().members().at(0).second;
    EXPECT_EQ(error_of([&] {
                  (void)JsonObject(dims, {"heads", "d_k"});
              }),
              "dims: key: got 'head'; allowed: heads, d_k; did you mean 'heads'?");
    const JsonObject object(document.root(), {"dims", "seed"});
    EXPECT_EQ(error_of([&] { (void)object.at("seed"); }), "JSON: key 'seed' is missing");
}

TEST(JsonReader, FlattensNestedArraysAndRefusesRaggedOnes)
{
    const auto flatten = [](std::string_view text) {
        const JsonDocument document(text);
        return document.root().nested(
            [](JsonKind kind, std::string_view leaf) { return kind == JsonKind::number ? std::optional(leaf) : std::nullopt; },
            "a number");
    };
    const attn::TextArray nested = flatten("[[1,2,3],[4,5.0,6]]");
    EXPECT_EQ(nested.shape, (attn::Shape{2, 3}));
    EXPECT_EQ(nested.texts, (attn::TextList{"1", "2", "3", "4", "5.0", "6"}));
    EXPECT_EQ(flatten("7").shape, attn::Shape{});
    EXPECT_EQ(flatten("[]").shape, attn::Shape{0});
    EXPECT_EQ(flatten("[[],[]]").shape, (attn::Shape{2, 0}));

    EXPECT_EQ(error_of([&] { (void)flatten("[[1,2],[3]]"); }),
              "[1]: got an array of 1 element; allowed: an array of 2 elements, as before it");
    EXPECT_EQ(error_of([&] { (void)flatten("[[1],2]"); }), "[1]: got 2; allowed: an array of 1 element, as before it");
    EXPECT_EQ(error_of([&] { (void)flatten("[1,[2]]"); }), "[1]: got an array of 1 element; allowed: a number");
    EXPECT_EQ(error_of([&] { (void)flatten("[[],[1]]"); }),
              "[1]: got an array of 1 element; allowed: an array of 0 elements, as before it");
    EXPECT_EQ(error_of([&] { (void)flatten("[[1,\"x\"]]"); }), "[0][1]: got 'x'; allowed: a number");
}

TEST(JsonReader, FindsTheSchemaAndReadsNoFurther)
{
    using attn::io::schema_of;
    EXPECT_EQ(schema_of(R"({"schema":"a/1", this is not read)"), "a/1");
    EXPECT_EQ(schema_of(R"({"x":{"schema":"inner"},"y":["schema"],"schema":"outer"})"), "outer");
    EXPECT_EQ(schema_of(R"({"x":1})"), std::nullopt);
    EXPECT_EQ(schema_of(R"({"schema":1})"), std::nullopt);
    EXPECT_EQ(schema_of(R"({"schema":["a"]})"), std::nullopt);
    for (const char* text : {"[]", "1", "\"schema\"", "", "{"}) {
        EXPECT_NE(error_of([&] { (void)schema_of(text); }), "no error") << text;
    }
}

} // namespace
