#include "cli/input/documents.hpp"

#include "attn/tensor/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

namespace {

using attn::cli::split_documents;

std::vector<std::pair<std::string, attn::Index>> documents(std::string_view file)
{
    std::vector<std::pair<std::string, attn::Index>> found;
    for (const auto& [text, line] : split_documents(file)) {
        found.emplace_back(text, line);
    }
    return found;
}

using Documents = std::vector<std::pair<std::string, attn::Index>>;

TEST(Documents, AreSplitWhereAnObjectEnds)
{
    EXPECT_EQ(documents(R"({"a": 1})"), (Documents{{R"({"a": 1})", 1}}));
    EXPECT_EQ(documents("{\"a\": {}}\n{\"b\": [{}]}\n"), (Documents{{R"({"a": {}})", 1}, {R"({"b": [{}]})", 2}}));
}

TEST(Documents, TakeAllOfTheLineOnWhichTheyEnd)
{
    EXPECT_EQ(documents("{}{}"), (Documents{{"{}{}", 1}}));
    EXPECT_EQ(documents("{} x"), (Documents{{"{} x", 1}}));
    EXPECT_EQ(documents("{\n} x\n{}\r\n"), (Documents{{"{\n} x", 1}, {"{}\r", 3}}));
    EXPECT_EQ(documents("{} [\n] {}"), (Documents{{"{} [", 1}, {"] {}", 2}}));
}

TEST(Documents, MayFollowAByteOrderMark)
{
    const std::string_view file = "\xEF\xBB\xBF{}\n[]";
    EXPECT_TRUE(attn::cli::begins_json(std::as_bytes(std::span(file))));
    EXPECT_EQ(documents(file), (Documents{{"{}", 1}, {"[]", 2}}));
}

TEST(Documents, BeginWithTheirLineOrTheFileSoThatColumnsAndLinesAreRight)
{
    EXPECT_EQ(documents("\n  {}\n"), (Documents{{"\n  {}\n", 2}}));
    EXPECT_EQ(documents("\n  {}\n\n {}"), (Documents{{"  {}", 2}, {" {}", 4}}));
}

TEST(Documents, MaySpanLines)
{
    EXPECT_EQ(documents("\n{\n\"a\": 1\n}\n\n{}"), (Documents{{"{\n\"a\": 1\n}", 2}, {"{}", 6}}));
}

TEST(Documents, KeepBracesOfStrings)
{
    EXPECT_EQ(documents("{\"}\\\"}\\\\\": \"{\"}\n{}"), (Documents{{R"({"}\"}\\": "{"})", 1}, {"{}", 2}}));
}

TEST(Documents, LeaveWhatIsNoObjectToTheParser)
{
    EXPECT_EQ(documents(""), Documents{});
    EXPECT_EQ(documents(" \n"), Documents{});
    EXPECT_EQ(documents("{}\nx"), (Documents{{"{}", 1}, {"x", 2}}));
    EXPECT_EQ(documents("[1]\n2"), (Documents{{"[1]\n2", 1}}));
    EXPECT_EQ(documents(R"({"a": ")"), (Documents{{R"({"a": ")", 1}}));
    EXPECT_EQ(documents("{\"\\"), (Documents{{"{\"\\", 1}}));
}

std::string schema(std::string_view text)
{
    return std::string(attn::cli::schema_of_document(text).value_or("none"));
}

TEST(SchemaOfDocument, IsFoundAnywhereAndWithAnyWhiteSpaceBetweenTokens)
{
    EXPECT_EQ(schema(R"({"schema":"attn-cli/result/1","config")"), "attn-cli/result/1");
    EXPECT_EQ(schema("\xEF\xBB\xBF \n {\t\"schema\"  :\r\n \"attn-cli/recipe/1\""), "attn-cli/recipe/1");
    EXPECT_EQ(schema(R"([{"a":"schema", "b":{"schema":{"schema":3}}}, {"schema":"attn-cli/result/2"}])"), "attn-cli/result/2");
    EXPECT_EQ(schema(R"({"index":3,"schema":"attn-cli/resu)"), "attn-cli/resu");
}

TEST(SchemaOfDocument, IsThatOfTheWholeAndNotOfItsConfig)
{
    EXPECT_EQ(schema(R"({"config":{"schema":"attn-cli/recipe/1"},"schema":"attn-cli/result/1"})"), "attn-cli/result/1");
    EXPECT_EQ(schema(R"({"schema":"attn-cli/result/1","config":{"schema":"attn-cli/recipe/1"}})"), "attn-cli/result/1");
}

TEST(SchemaOfDocument, IsNoneOfOtherText)
{
    for (const std::string_view text : {"", " ", "a", "[", "{a", "{}", R"({"schemas":"attn-cli/")", R"({"schema","attn-cli/")",
                                        R"({"schema":"attn/result/1")", R"({"schema":"attn-cli)", R"({"schema":)",
                                        R"({"a":"\"schema\":\"attn-cli/\""})", R"(say {"schema":"attn-cli/result/1"})"}) {
        EXPECT_EQ(schema(text), "none") << text;
    }
}

bool refused_of_lines(std::string_view front)
{
    try {
        attn::cli::refuse_document_of_lines(front, "F", "FILE");
    } catch (const attn::Error&) {
        return true;
    }
    return false;
}

TEST(DocumentsOfLines, AreRefusedAtOnceWhereOneSpansLines)
{
    EXPECT_TRUE(refused_of_lines("{\n\"schema\": \"attn-cli/result/1\"}"));
    EXPECT_TRUE(refused_of_lines("\n[{\"a\": \"}\"},\n{\"schema\": \"attn-cli/result/1\"}]\na"));
    EXPECT_FALSE(refused_of_lines("{\"schema\": \"attn-cli/result/1\"}\n{\"schema\": \"attn-cli/result/1\"}\n"));
    EXPECT_FALSE(refused_of_lines("{\"index\": 0}\n{\"schema\": \"attn-cli/result/1\"}\n"));
    EXPECT_FALSE(refused_of_lines("a\n{\n\"schema\": \"attn-cli/result/1\"}\n"));
}

bool goes_on(const std::vector<std::string_view>& pieces)
{
    attn::cli::OpenObject object;
    return std::ranges::all_of(pieces, [&](std::string_view piece) { return object.goes_on(piece); });
}

TEST(OpenObjects, GoOnUntilTheyEndOrAreNoJson)
{
    for (const auto& open : std::vector<std::vector<std::string_view>>{
             {"{"}, {" \n[", "{\"a"}, {"{\"a", "}\\", "\"}", "\": [1.5e-3, true, false, nul", "l]\n"}}) {
        EXPECT_TRUE(goes_on(open)) << open.front();
    }
    for (const auto& other : std::vector<std::vector<std::string_view>>{
             {""}, {" "}, {"a {"}, {"{}"}, {"{", "}"}, {"[{\"]\"", "}", "] ["}, {"{ so"}, {"{\"a\n"}, {"[", "some of it"}}) {
        EXPECT_FALSE(goes_on(other)) << other.front();
    }
}

} // namespace
