#include "attn/report/text/summary.hpp"

#include "attn/report/json/json.hpp"
#include "attn/report/text/display.hpp"
#include "unit/report/sample.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace {

using attn::Index;
using attn::Tensor;
using attn::model::HeadSummary;
using attn::model::Item;
using attn::model::Result;
using attn::model::Summary;

/// "to be to" with two heads.
Result two_heads()
{
    Result result = sample::two_words();
    result.tokens = {"to", "be", "to"};
    result.show = {Item::summary};
    result.front().summary =
        Summary{attn::Dtype::float32,
                1.0986122886681098,
                {HeadSummary{0.25, 0.5, 1, 0.75, 0, {{1, 0, 0.75}, {2, 1, 0.1F}}}, HeadSummary{0.5, 0, 0.125, 0.00001, 1, {}}}};
    return result;
}

std::string summary_table(const Result& result, std::optional<Index> width = {})
{
    return sample::text_of([&](auto& out) { attn::report::write_table(result, {.digits = 4, .width = width}, out); });
}

TEST(Summary, ReadsLikeThis)
{
    EXPECT_EQ(summary_table(two_heads()), "summary (means of 3 rows; entropy in nats, at most 1.0986)\n"
                                          "        entropy  itself  first word  previous    next\n"
                                          "head 0   0.2500  0.5000      1.0000    0.7500  0.0000\n"
                                          "head 1   0.5000  0.0000      0.1250    0.0000  1.0000\n"
                                          "\n"
                                          "strongest pairs\n"
                                          "head 0  be → to[0] 0.7500, to[2] → be 0.1000\n"
                                          "head 1  none\n");
}

TEST(Summary, OfOneHeadAndOneWord)
{
    Result result = two_heads();
    result.tokens = {"\x1b[31m"};
    result.front().summary = Summary{attn::Dtype::float64, 0, {HeadSummary{0, 1, 1, {}, {}, {{0, 0, 1}}}}};
    EXPECT_EQ(summary_table(result), "summary (means of 1 row; entropy in nats, at most 0.0000)\n"
                                     "entropy  itself  first word\n"
                                     " 0.0000  1.0000      1.0000\n"
                                     "\n"
                                     "strongest pairs\n"
                                     "\\x1b[31m → \\x1b[31m 1.0000\n");
}

TEST(Summary, BreaksLinesBetweenPairs)
{
    EXPECT_EQ(summary_table(two_heads(), 35), "summary (means of 3 rows;\n"
                                              "entropy in nats, at most 1.0986)\n"
                                              "        entropy  itself  first …  …\n"
                                              "head 0   0.2500  0.5000   1.0000  …\n"
                                              "head 1   0.5000  0.0000   0.1250  …\n"
                                              "\n"
                                              "strongest pairs\n"
                                              "head 0  be → to[0] 0.7500,\n"
                                              "        to[2] → be 0.1000\n"
                                              "head 1  none\n");
    Result result = two_heads();
    result.tokens = {"antidisestablishmentarianism", "\u4eba\u4eba\u4eba\u4eba", "antidisestablishmentarianism"};
    for (Index width = 20; width < 120; ++width) {
        std::istringstream lines(summary_table(result, width));
        for (std::string line; std::getline(lines, line);) {
            EXPECT_LE(attn::report::display_width(line), width) << line;
            EXPECT_FALSE(line.ends_with(' ')) << line;
        }
    }
}

TEST(Summary, StandsBehindTheArrays)
{
    Result result = two_heads();
    result.front().arrays = {{"weights", Tensor<float>({1, 1, 1}, {1})}};
    EXPECT_TRUE(summary_table(result).starts_with("summary")); // weights that nobody asked for are not shown
    result.show.insert(Item::weights);
    EXPECT_NE(summary_table(result).find("\n\nsummary ("), std::string::npos);
}

TEST(Summary, InJson)
{
    const std::string json = sample::text_of([&](auto& out) { attn::report::write_json(two_heads(), {}, out); });
    EXPECT_NE(
        json.find(R"("summary":{"largest_entropy":1.0986122886681098,"heads":[)"
                  R"({"entropy":0.25,"itself":0.5,"first":1.0,"previous":0.75,"next":0.0,"pairs":[)"
                  R"({"query":1,"query_token":"be","key":0,"key_token":"to","weight":0.75},)"
                  R"({"query":2,"query_token":"to","key":1,"key_token":"be","weight":0.1}]},)"
                  R"({"entropy":0.5,"itself":0.0,"first":0.125,"previous":1e-05,"next":1.0,"pairs":[]}]},"warnings":[]})"),
        std::string::npos)
        << json;
}

} // namespace
