#include "attn/text/pieces/matcher.hpp"

#include "attn/text/pieces/tokenizer_spec.hpp"
#include "unit/error_of.hpp"

#include <gtest/gtest.h>

namespace {

using attn::text::pcre2_of;
using attn::text::Regex;

std::vector<std::string> matches(std::string_view pattern, std::string_view text)
{
    std::vector<std::string> found;
    attn::text::Budget budget(text.size());
    for (const attn::text::Span span : Regex(pattern).matches(text, budget)) {
        found.emplace_back(part(text, span));
    }
    return found;
}

using Found = std::vector<std::string>;

TEST(Regex, SplitsAsGpt2Does)
{
    EXPECT_EQ(matches(attn::text::gpt2_pattern, "I'll go,  42 times\n\nnow"),
              (Found{"I", "'ll", " go", ",", " ", " 42", " times", "\n", "\n", "now"}));
    EXPECT_EQ(matches(attn::text::gpt2_pattern, "naïve 中文 ½!"), (Found{"naïve", " 中文", " ½", "!"}));
    EXPECT_EQ(matches(attn::text::gpt2_pattern, ""), Found{});
}

TEST(Regex, SplitsAsLlama3Does)
{
    constexpr std::string_view pattern =
        R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
    EXPECT_EQ(matches(pattern, "WE'LL (see) 12345 !!\n\n  end"),
              (Found{"WE", "'LL", " (", "see", ")", " ", "123", "45", " !!\n\n", " ", " end"}));
}

TEST(Regex, TakesTheMongolianSeparatorForNoSpace)
{
    EXPECT_EQ(matches(R"(\s+)", "a\u180e \u3000b"), Found{" \u3000"});
    EXPECT_EQ(matches(R"([^\s]+)", "a\u180eb c"), (Found{"a\u180eb", "c"}));
    EXPECT_EQ(matches(R"([\S]+)", "a\u180eb c"), (Found{"a\u180eb", "c"}));
    EXPECT_EQ(matches(R"(\S+)", "\u0085a\u2028\u205f中\u00a0"), (Found{"a", "中"}));
    EXPECT_EQ(matches(R"([\S\s]+)", "a \u180e"), (Found{"a \u180e"}));
}

TEST(Regex, KnowsWordsAsOnigurumaDoes)
{
    EXPECT_EQ(matches(R"(\w+)", "e\u0301_a-ⒶⅧ⁴"), (Found{"e\u0301_a", "ⒶⅧ"})); // a mark belongs, a superscript does not
    EXPECT_EQ(matches(R"([\w-]+)", "a-b c"), (Found{"a-b", "c"}));
    EXPECT_EQ(matches(R"(\W+)", "a⁴b"), (Found{"⁴"}));
    EXPECT_EQ(matches(R"(\w+)", "a\u200Cb\u200Dc"), (Found{"a", "b", "c"})); // which are Unicode's joiners
    EXPECT_EQ(matches(R"([\w]+)", "a\u200Cb\u200Dc"), (Found{"a", "b", "c"}));
    EXPECT_EQ(matches(R"(\w+)", "a²³¹¼½¾b"), (Found{"a²³¹¼½¾b"}));
    EXPECT_EQ(matches(R"(\W+)", "a²-b"), (Found{"-"}));
    EXPECT_EQ(matches(R"([\w]+)", "a²³¹¼½¾b"), (Found{"a", "b"})); // a class knows other words
    EXPECT_EQ(matches(R"(\d+)", "1٣²"), (Found{"1٣"}));
}

TEST(Regex, FindsLinesWhereOnigurumaDoes)
{
    EXPECT_EQ(matches("^a", "a\na"), (Found{"a", "a"}));
    EXPECT_EQ(matches("a$", "a\na"), (Found{"a", "a"}));
    EXPECT_EQ(matches(".+", "ab\ncd\r"), (Found{"ab", "cd\r"}));
}

TEST(Regex, LeavesEmptyMatchesOut)
{
    EXPECT_EQ(matches("a*", "baac"), Found{"aa"});
    EXPECT_EQ(matches("x*", "中文"), Found{});
}

TEST(Regex, TakesScriptsAndCodePointsAsOnigurumaWritesThem)
{
    EXPECT_EQ(matches(R"(\p{Han}+)", "a中文ー〇"), (Found{"中文", "〇"})); // by script, not by its extensions
    EXPECT_EQ(matches(R"([\u4e00-\u4e2d]+)", "中文"), Found{"中"});
    EXPECT_EQ(matches(R"([\x{4E00}-\x{4E2D}])", "中文"), Found{"中"});
    EXPECT_EQ(matches(R"(\p{^L}+)", "a1b"), Found{"1"});
    EXPECT_EQ(pcre2_of(R"(\v)"), R"(\x{B})");
    EXPECT_EQ(pcre2_of(R"(a{2}[{}&|]\[\]\-(?!b))"), R"(a{2}[{}&|]\[\]\-(?!b))");
}

TEST(Regex, RefersBackToAGroupThatIsClosed)
{
    EXPECT_EQ(matches(R"(([!?])\1*)", "a!!?? !"), (Found{"!!", "??", "!"}));
    EXPECT_EQ(matches(R"((?:x)(a|b)\1|(c)\2)", "xaa xab cc c"), (Found{"xaa", "cc"}));
    EXPECT_EQ(matches(R"((a)|b\1)", "ab"), Found{"a"}); // to nothing
}

TEST(Regex, RefusesByNameWhatThePeersReadOtherwise)
{
    const std::vector<std::pair<std::string, std::string>> cases{
        {R"([a&&b])", "'&& in a class'"},
        {R"([a[b]])", "'[ in a class'"},
        {R"(\h)", R"('\h')"},
        {R"([\W])", R"('\W in a class')"},
        {R"(a{1,3}+)", "'{1,3}+'"},
        {R"(a{2}?)", "'{2}?'"},
        {R"(a{,3})", "'{,3}'"},
        {R"((?m:a))", "'(?m'"},
        {R"((*UTF)a)", "'(*U'"},
        {R"(\bа)", R"('\b')"},
        {R"(\1)", R"('\1')"},
        {R"((a\1))", R"('\1')"},
        {R"((a)\2)", R"('\2')"},
        {R"((a)[\1])", R"('\1')"},
        {R"((a)\11)", R"('\1')"},
        {R"(\pL)", R"('\pL')"},
        {R"(\p{L&})", R"('\p{L&}')"},
        {R"(a\)", R"('\')"},
        {"[]a]", "'[]'"},
        {R"(\u12)", R"('\u12')"},
        {R"((?i)a)", "'(?i'"},
        {R"(\x41)", R"('\x41')"},
        {R"(\x{g})", R"('\x{g}')"},
        {R"(\é)", R"('\é')"},
    };
    for (const auto& each : cases) {
        const std::string message = error_of([&] { (void)pcre2_of(each.first); });
        EXPECT_NE(message.find("got " + each.second + "; allowed: what Oniguruma and PCRE2 read alike"), std::string::npos)
            << message;
    }
}

TEST(Regex, RefusesWhatIsNoExpression)
{
    EXPECT_EQ(error_of([] { (void)Regex("(a"); }),
              "regular expression '(a': got missing closing parenthesis; allowed: what PCRE2 understands");
    EXPECT_NE(error_of([] { (void)Regex(R"(\p{Klingonese})"); }), "no error");
    EXPECT_NE(error_of([] { (void)Regex(std::string(20000, 'a')); }).find("20000 bytes"), std::string::npos);
    EXPECT_NE(error_of([] { (void)Regex(std::string(1000, '(') + "a" + std::string(1000, ')')); }), "no error");
}

TEST(Regex, GivesUpOnExpressionsThatTryTooLong)
{
    EXPECT_NE(error_of([] {
                  (void)matches("(a+)+[bc]", std::string(200, 'a') + "!" + std::string(1000, ' '));
              }).find("within 1048576 steps"),
              std::string::npos);
}

TEST(Regex, TriesNoLongerThanTheBudgetLasts)
{
    std::string text;
    for (int i = 0; i < 100; ++i) {
        text += std::string(180, 'x') + ' ';
    }
    EXPECT_NE(error_of([&] { (void)matches("(?:x+x+x+#)?.", text); }).find("more work"), std::string::npos);
    EXPECT_EQ(matches("(?:x+x+x+#)?.", "xx x"), (Found{"x", "x", " ", "x"}));
}

TEST(Regex, SeesAllOfALongText)
{
    std::string middle;
    for (int i = 0; i < 700; ++i) {
        middle += "é中";
    }
    for (const std::size_t more : {0U, 1U, 2U, 3U}) { // so that windows end inside of characters
        const std::string text = std::string(more, 'x') + middle + "b";
        EXPECT_EQ(matches("[^b]+b", text), Found{text});
        EXPECT_EQ(matches("é(?=[^b]*b$)", text).size(), 700U);
        EXPECT_EQ(matches("(?:é中){60}(?!é)|.", text).size(), more + 1400U - 120U + 1 + 1);
        EXPECT_EQ(matches("[^b]+(?!b)", text), Found{text.substr(0, text.size() - std::string("中b").size())});
    }
}

TEST(Regex, WalksLongRunsOfSpace)
{
    const std::string spaces(60000, ' ');
    EXPECT_EQ(matches(attn::text::gpt2_pattern, spaces + "a"), (Found{spaces.substr(1), " a"}));
    EXPECT_EQ(matches(R"(\s*[\r\n]+|\s+(?!\S)|\s+)", spaces + "a"), (Found{spaces.substr(1), " "}));
}

} // namespace
