#include "attn/text/pieces/added_tokens.hpp"

#include <gtest/gtest.h>

namespace {

using namespace attn::text;

/// "a|<s>|b": the sections, tokens between angles as they are looked for, with what they take in braces where it differs.
std::string cut(const std::vector<AddedToken>& tokens, std::string_view text)
{
    std::vector<AddedTokens::Wanted> wanted;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        wanted.push_back({tokens[i].content, static_cast<std::uint32_t>(i)});
    }
    std::string out;
    Budget budget(text.size());
    for (const Section& section : AddedTokens(tokens, wanted).sections(text, budget)) {
        out += out.empty() ? "" : "|";
        out += section.token ? "*" : "";
        out += part(text, section.span);
    }
    return out;
}

AddedToken token(std::string content)
{
    return {.content = std::move(content)};
}

TEST(AddedTokens, StandForThemselvesInsideText)
{
    EXPECT_EQ(cut({token("</s>")}, "a</s>b </s>"), "a|*</s>|b |*</s>");
    EXPECT_EQ(cut({token("</s>")}, "abc"), "abc");
    EXPECT_EQ(cut({}, "abc"), "abc");
    EXPECT_EQ(cut({token("</s>")}, ""), "");
    EXPECT_EQ(cut({token("")}, "abc"), "abc");
}

TEST(AddedTokens, AreTheLeftmostAndThenTheLongest)
{
    EXPECT_EQ(cut({token("ab"), token("abc"), token("bcd")}, "xabcd"), "x|*abc|d");
    EXPECT_EQ(cut({token("aa")}, "aaaaa"), "*aa|*aa|a");
}

TEST(AddedTokens, StandAloneWhereTheyMust)
{
    AddedToken alone = token("ab");
    alone.single_word = true;
    EXPECT_EQ(cut({alone}, "ab xab abx _ab é ab-é"), "*ab| xab abx _ab é |*ab|-é");
    EXPECT_EQ(cut({alone}, "éab abé"), "éab abé");
}

TEST(AddedTokens, TakeTheWhiteSpaceBesideThem)
{
    AddedToken left = token("<m>");
    left.lstrip = true;
    EXPECT_EQ(cut({left}, "a \u3000<m> b"), "a|* \u3000<m>| b");
    AddedToken right = token("<r>");
    right.rstrip = true;
    EXPECT_EQ(cut({right}, "a <r>\n b"), "a |*<r>\n |b");
    EXPECT_EQ(cut({left, right}, "<r> <m>"), "*<r> |*<m>"); // who comes first takes it
}

TEST(AddedTokens, LeaveOutWhatAnotherHasTaken)
{
    AddedToken right = token("<r>");
    right.rstrip = true;
    EXPECT_EQ(cut({right, token("  ")}, "<r>   a"), "*<r>   |a");
}

} // namespace
