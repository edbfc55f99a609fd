#include "cli/input/documents.hpp"

#include <gtest/gtest.h>

#include <span>
#include <string>

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

/// The schema at the front, with "…" for a text that goes on over lines, or "not yet".
std::string front(std::string_view text)
{
    if (const auto found = attn::cli::document_front(text)) {
        return std::string(found->schema) + (found->spans_lines ? "…" : "");
    }
    return attn::cli::may_become_document(text) ? "not yet" : "none";
}

TEST(DocumentFront, IsFoundWithAnyWhiteSpaceBetweenTokens)
{
    EXPECT_EQ(front(R"({"schema":"attn-cli/result/1","config")"), "attn-cli/result/1");
    EXPECT_EQ(front("\xEF\xBB\xBF \n {\t\"schema\"  : \"attn-cli/recipe/1\""), "attn-cli/recipe/1");
    EXPECT_EQ(front("{\r\n  \"schema\": \"attn-cli/result/2\"\n}"), "attn-cli/result/2…");
}

TEST(DocumentFront, IsNoneWhereAnythingElseStands)
{
    for (const std::string_view text :
         {"a", "[", "{a", "{}", R"({"schemas")", R"({"schema","attn-cli/)", R"({"schema":"attn/result/1")", R"({"index":0)"}) {
        EXPECT_EQ(front(text), "none") << text;
    }
}

TEST(DocumentFront, IsOpenUntilItShows)
{
    const std::string_view whole = "{ \"schema\":\n\"attn-cli/tensor/1\"";
    for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
        EXPECT_EQ(front(whole.substr(0, bytes)), "not yet") << bytes;
    }
    EXPECT_EQ(front(whole), "attn-cli/tensor/1…");
}

} // namespace
