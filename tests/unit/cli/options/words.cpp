#include "cli/options/words.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace attn::cli;

TEST(Marked, IsUndone)
{
    const std::vector<std::string> starts{"",    "-", "--", "---", "@", "--@", "-@", "=",
                                          "--=", "+", "[",  "{",   "/", "%",   "!",  "–"};
    for (const std::string& start : starts) {
        for (const std::string_view rest : {"", "a", "run", "heads", "heads=", "heads=2", "heads=@2", "5", "=", "@", "@=@",
                                            "a b", "a=b=c", "+", "{}", "[a]", "%", "-x", "--x=1"}) {
            const std::string word = start + std::string(rest);
            EXPECT_EQ(unmarked(marked(word)), word) << marked(word);
        }
    }
}

TEST(Marked, LeavesWhatCLI11IsToKnow)
{
    for (const std::string word : {"run", "completions", "-o", "--heads"}) {
        EXPECT_EQ(marked(word), word);
    }
    EXPECT_EQ(marked("--heads="), "--heads=@");
    EXPECT_EQ(marked("-5"), "@-5");
    EXPECT_EQ(marked("-heads"), "--@-heads");
    EXPECT_EQ(marked("--"), "--@--");
}

} // namespace
