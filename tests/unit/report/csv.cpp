#include "attn/report/csv.hpp"

#include "unit/report/sample.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace {

using attn::Tensor;
using attn::model::Item;
using attn::model::Result;

std::string csv_of(const Result& result, const attn::report::CsvOptions& options = {})
{
    return sample::text_of([&](auto& out) { attn::report::write_csv(result, options, out); });
}

constexpr const char* header = "array,head,row,column,query_token,key_token,value\n";

TEST(Csv, HasOneRecordANumber)
{
    EXPECT_EQ(csv_of(sample::two_words()), std::string(header) + "weights,0,0,0,to,to,0.75\n"
                                                                 "weights,0,0,1,to,be,0.25\n"
                                                                 "weights,0,1,0,be,to,5e-04\n"
                                                                 "weights,0,1,1,be,be,0.9995\n"
                                                                 "context,,0,0,to,,1.0\n"
                                                                 "context,,0,1,to,,2.0\n"
                                                                 "context,,0,2,to,,3.0\n"
                                                                 "context,,1,0,be,,-0.0\n"
                                                                 "context,,1,1,be,,5e-09\n"
                                                                 "context,,1,2,be,,6.0\n");
}

TEST(Csv, NamesTheWordOfTheSideThatAnArrayBelongsTo)
{
    Result result = sample::two_words();
    result.cross = true;
    result.key_tokens = {"or"};
    result.key_token_ids = {2};
    result.parameters = {{"embedding", Tensor<float>({1, 1}, {0.5F})},
                         {"W_q", Tensor<float>({1, 1, 1}, {1.5F})},
                         {"b_q", Tensor<float>({2}, {2.5F, 3.5F})}};
    result.front().arrays = {{"embeddings", Tensor<float>({2, 1}, {1, 2})}, {"key_embeddings", Tensor<float>({1, 1}, {3})},
                             {"keys", Tensor<float>({1, 1, 1}, {4})},       {"values", Tensor<float>({1, 1, 1}, {5})},
                             {"scores", Tensor<float>({1, 2, 1}, {6, 7})},  {"entropy", Tensor<float>({1, 2}, {8, 9})}};
    result.show = {Item::tokens,         Item::token_ids, Item::key_token_ids, Item::parameters, Item::embeddings,
                   Item::key_embeddings, Item::keys,      Item::values,        Item::scores,     Item::entropy};
    EXPECT_EQ(csv_of(result), std::string(header) + "token_ids,,0,,to,,1\n"
                                                    "token_ids,,1,,be,,0\n"
                                                    "key_token_ids,,0,,,or,2\n"
                                                    "embedding,,0,0,,,0.5\n"
                                                    "W_q,0,0,0,,,1.5\n"
                                                    "b_q,,,0,,,2.5\n"
                                                    "b_q,,,1,,,3.5\n"
                                                    "embeddings,,0,0,to,,1.0\n"
                                                    "embeddings,,1,0,be,,2.0\n"
                                                    "key_embeddings,,0,0,,or,3.0\n"
                                                    "keys,0,0,0,,or,4.0\n"
                                                    "values,0,0,0,,or,5.0\n"
                                                    "scores,0,0,0,to,or,6.0\n"
                                                    "scores,0,1,0,be,or,7.0\n"
                                                    "entropy,0,0,,to,,8.0\n"
                                                    "entropy,0,1,,be,,9.0\n");
}

TEST(Csv, NumbersChosenRowsAsInTheFullRun)
{
    Result result = sample::two_words();
    result.query_positions = {1};
    result.front().arrays = {{"weights", Tensor<float>({2, 1, 2}, {0, 1, 0.5F, 0.5F})}};
    EXPECT_EQ(csv_of(result), std::string(header) + "weights,0,1,0,be,to,0.0\n"
                                                    "weights,0,1,1,be,be,1.0\n"
                                                    "weights,1,1,0,be,to,0.5\n"
                                                    "weights,1,1,1,be,be,0.5\n");
}

TEST(Csv, SwapsTheWordsWhereRowsAreKeys)
{
    Result result = sample::two_words();
    result.config().attention.order = attn::model::ScoreOrder::key_query;
    result.show = {Item::weights};
    EXPECT_EQ(csv_of(result).substr(std::string_view(header).size(), 50),
              "weights,0,0,0,to,to,0.75\nweights,0,0,1,be,to,0.25\n");
}

TEST(Csv, QuotesFields)
{
    Result result = sample::two_words();
    result.tokens = {"a,b", "say \"x\"\n"};
    result.show = {Item::token_ids};
    EXPECT_EQ(csv_of(result), std::string(header) + "token_ids,,0,,\"a,b\",,1\ntoken_ids,,1,,\"say \"\"x\"\"\n\",,0\n");
}

TEST(Csv, KeepsControlCharactersBetweenQuotes)
{
    Result result = sample::two_words();
    result.tokens = {"\x1b[31mred", "a\tb\x7f"};
    result.show = {Item::token_ids};
    EXPECT_EQ(csv_of(result), std::string(header) + "token_ids,,0,,\"\x1b[31mred\",,1\ntoken_ids,,1,,\"a\tb\x7f\",,0\n");
}

TEST(Csv, LeavesMaskedScoresEmpty)
{
    constexpr float infinity = std::numeric_limits<float>::infinity();
    Result result = sample::two_words();
    result.front().arrays = {{"scores", Tensor<float>({1, 1, 2}, {-infinity, infinity})},
                             {"masked_scores", Tensor<float>({1, 1, 2}, {-infinity, infinity})}};
    result.show = {Item::scores, Item::masked_scores};
    EXPECT_EQ(csv_of(result), std::string(header) + "scores,0,0,0,to,to,-inf\n"
                                                    "scores,0,0,1,to,be,inf\n"
                                                    "masked_scores,0,0,0,to,to,\n"
                                                    "masked_scores,0,0,1,to,be,inf\n");
}

TEST(Csv, NumbersTheLines)
{
    Result result = sample::two_words();
    result.show = {Item::token_ids};
    EXPECT_EQ(csv_of(result, {.header = true, .index = 0}),
              "index," + std::string(header) + "0,token_ids,,0,,to,,1\n0,token_ids,,1,,be,,0\n");
    EXPECT_EQ(csv_of(result, {.header = false, .index = 12}), "12,token_ids,,0,,to,,1\n12,token_ids,,1,,be,,0\n");
    EXPECT_EQ(csv_of(result, {.header = false, .index = 0}), "0,token_ids,,0,,to,,1\n0,token_ids,,1,,be,,0\n");
}

} // namespace
