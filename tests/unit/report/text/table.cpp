#include "attn/report/text/table.hpp"

#include "attn/model/run/run.hpp"
#include "attn/report/text/display.hpp"
#include "unit/report/sample.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <regex>
#include <set>
#include <sstream>

namespace {

using attn::Index;
using attn::Tensor;
using attn::model::Item;
using attn::model::Result;

std::string table_of(const Result& result, const attn::report::TableOptions& options = {})
{
    return sample::text_of([&](auto& out) { attn::report::write_table(result, options, out); });
}

std::vector<std::string> lines_of(const std::string& text)
{
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
        lines.push_back(line);
    }
    return lines;
}

/// A result that shows one array.
Result showing(Item item, attn::AnyTensor tensor)
{
    Result result = sample::two_words();
    result.front().arrays = {{std::string(attn::model::name_of(item)), std::move(tensor)}};
    result.show = {item};
    return result;
}

TEST(Table, ReadsLikeThis)
{
    EXPECT_EQ(table_of(sample::two_words()), "tokens      to be\n"
                                             "vocabulary  be 0, to 1\n"
                                             "\n"
                                             "weights (2, 2)\n"
                                             "        to      be\n"
                                             "to  0.7500  0.2500\n"
                                             "be  0.0005  0.9995\n"
                                             "\n"
                                             "context (2, 3)\n"
                                             "          0       1       2\n"
                                             "to   1.0000  2.0000  3.0000\n"
                                             "be  -0.0000  0.0000  6.0000\n");
}

TEST(Table, PrintsTheTutorialsNumbers)
{
    attn::model::Recipe recipe = attn::model::default_recipe();
    recipe.input = attn::model::SentenceInput{.sentence = "Life is short, eat dessert first", .cross = {}};
    const std::string text = table_of(attn::model::run(recipe));
    EXPECT_NE(text.find("\nvocabulary  Life 0, dessert 1, eat 2, first 3, is 4, short 5\n"), std::string::npos);
    EXPECT_NE(text.find("\nis       0.0185  0.0312  0.1778  0.6368   0.1265  0.0092\n"), std::string::npos) << text;
}

TEST(Table, HasATableForEachHead)
{
    const Result result = showing(Item::weights, Tensor<double>({2, 2, 2}, {1, 0, 0.5, 0.5, 0, 1, 0.25, 0.75}));
    EXPECT_EQ(table_of(result, {.digits = 2, .width = {}}), "weights, head 0 (2, 2)\n"
                                                            "      to    be\n"
                                                            "to  1.00  0.00\n"
                                                            "be  0.50  0.50\n"
                                                            "\n"
                                                            "weights, head 1 (2, 2)\n"
                                                            "      to    be\n"
                                                            "to  0.00  1.00\n"
                                                            "be  0.25  0.75\n");
}

TEST(Table, ShowsParametersVectorsAndEntropy)
{
    Result result = showing(Item::entropy, Tensor<float>({2, 2}, {0, 1, 2, 3}));
    result.parameters = {{"embedding", Tensor<float>({3, 1}, {1, 2, 3})}, {"b_q", Tensor<float>({2}, {0.5F, 0.25F})}};
    result.show.insert(Item::parameters);
    result.show.insert(Item::token_ids);
    EXPECT_EQ(table_of(result, {.digits = 1, .width = {}}), "token_ids  1 0\n"
                                                            "\n"
                                                            "embedding (3, 1)\n"
                                                            "      0\n"
                                                            "be  1.0\n"
                                                            "to  2.0\n"
                                                            "2   3.0\n"
                                                            "\n"
                                                            "b_q (2,)\n"
                                                            "  0    1\n"
                                                            "0.5  0.2\n"
                                                            "\n"
                                                            "entropy (2, 2)\n"
                                                            "         to   be\n"
                                                            "head 0  0.0  1.0\n"
                                                            "head 1  2.0  3.0\n");
    result = showing(Item::entropy, Tensor<float>({1, 2}, {0, 1}));
    EXPECT_EQ(table_of(result), "entropy (2,)\n    to      be\n0.0000  1.0000\n");
}

TEST(Table, NumbersTheRowsOfAParameter)
{
    Result result = sample::two_words();
    result.parameters = {{"W_q", Tensor<float>({2, 11, 1})}};
    result.show = {Item::parameters};
    const std::vector<std::string> lines = lines_of(table_of(result, {.digits = 0, .width = {}}));
    EXPECT_EQ(lines.at(0), "W_q, head 0 (11, 1)");
    EXPECT_EQ(lines.at(1), "    0");
    EXPECT_EQ(lines.at(2), " 0  0");
    EXPECT_EQ(lines.at(12), "10  0");
    EXPECT_EQ(lines.at(14), "W_q, head 1 (11, 1)");
}

TEST(Table, HasOnlyTheChosenRows)
{
    Result result = showing(Item::weights, Tensor<float>({1, 1, 2}, {0.5F, 0.5F}));
    result.query_positions = {1};
    EXPECT_EQ(table_of(result), "weights (1, 2)\n        to      be\nbe  0.5000  0.5000\n");
}

TEST(Table, TellsTheSecondSentenceFromTheFirst)
{
    Result result = showing(Item::weights, Tensor<float>({1, 2, 1}, {1, 1}));
    result.cross = true;
    result.key_tokens = {"or"};
    result.key_token_ids = {2};
    result.show = {Item::tokens, Item::key_tokens, Item::token_ids, Item::key_token_ids, Item::weights};
    EXPECT_EQ(table_of(result), "tokens         to be\n"
                                "key_tokens     or\n"
                                "token_ids      1 0\n"
                                "key_token_ids  2\n"
                                "\n"
                                "weights (2, 1)\n"
                                "        or\n"
                                "to  1.0000\n"
                                "be  1.0000\n");
}

// ---- notation ---------------------------------------------------------------------------------------------------------

std::string without_alignment(const std::string& row)
{
    return std::regex_replace(row, std::regex("^ +| +(?= )"), "");
}

TEST(Table, HasOneNotationForTheWholeMatrixOfAHead)
{
    const Result result = showing(Item::scores, Tensor<double>({2, 2, 2}, {1, 2, 3, 1e6, 1, 2, 3, 4}));
    const std::vector<std::string> lines = lines_of(table_of(result));
    EXPECT_EQ(without_alignment(lines.at(2)), "to 1.0000e+00 2.0000e+00");
    EXPECT_EQ(without_alignment(lines.at(3)), "be 3.0000e+00 1.0000e+06");
    EXPECT_EQ(without_alignment(lines.at(7)), "to 1.0000 2.0000");
    const std::vector<std::string> by_row = lines_of(table_of(result, {.notation = attn::report::NotationRule::row}));
    EXPECT_EQ(without_alignment(by_row.at(2)), "to 1.0000 2.0000");
    EXPECT_EQ(without_alignment(by_row.at(3)), "be 3.0000e+00 1.0000e+06");
}

TEST(Table, IsWhatPyTorchPrintsWhenTold)
{
    const attn::report::TableOptions torch{.digits = 2, .notation = attn::report::NotationRule::torch};
    Result result = showing(Item::scores, Tensor<double>({2, 1, 2}, {1, -2.5, 3, 4}));
    EXPECT_EQ(table_of(result, torch), "scores (2, 1, 2)\n"
                                       "tensor([[[ 1.00, -2.50]],\n"
                                       "\n"
                                       "        [[ 3.00,  4.00]]], dtype=torch.float64)\n");
    result = showing(Item::weights, Tensor<float>({1, 1, 2}, {0.25F, 0.75F})); // one head is no dimension
    EXPECT_EQ(table_of(result, torch), "weights (1, 2)\ntensor([[0.25, 0.75]])\n");
    result.front().heads = {3};
    EXPECT_EQ(table_of(result, torch), "weights, head 3 (1, 2)\ntensor([[0.25, 0.75]])\n");
    result = showing(Item::context, Tensor<float>({1, 2}, {1, 2})); // nor is one word
    EXPECT_EQ(table_of(result, torch), "context (1, 2)\ntensor([[1., 2.]])\n");
}

TEST(Table, HasSumsOnlyWhereARowDoesNotSumTo1)
{
    EXPECT_EQ(table_of(showing(Item::weights, Tensor<float>({2, 2, 2}, {0.5F, 0.5F, 0, 0, 0.5F, 0.5F, 0.25F, 0.74999F}))),
              "weights, head 0 (2, 2)\n"
              "        to      be     sum\n"
              "to  0.5000  0.5000  1.0000\n"
              "be  0.0000  0.0000  0.0000\n"
              "\n"
              "weights, head 1 (2, 2)\n"
              "        to      be\n"
              "to  0.5000  0.5000\n"
              "be  0.2500  0.7500\n");
    const Result rounded = showing(Item::weights, Tensor<float>({1, 1, 2}, {0.5F, 0.4999999F}));
    EXPECT_EQ(table_of(rounded, {.digits = 8, .width = {}}).find("sum"), std::string::npos);
    const Result less = showing(Item::weights, Tensor<float>({1, 1, 2}, {0.5F, 0.4999F}));
    EXPECT_NE(table_of(less).find("0.9999\n"), std::string::npos);
}

TEST(Table, SaysMaskedOnlyInMaskedScores)
{
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const Tensor<float> tensor({1, 2, 2}, {1.5F, -infinity, 2, 3});
    EXPECT_EQ(table_of(showing(Item::masked_scores, tensor)), "masked_scores (2, 2)\n"
                                                              "        to      be\n"
                                                              "to  1.5000  masked\n"
                                                              "be  2.0000  3.0000\n");
    EXPECT_NE(table_of(showing(Item::scores, tensor)).find("-inf\n"), std::string::npos);
}

// ---- words ------------------------------------------------------------------------------------------------------------

TEST(Table, AlignsWideAndCombiningWords)
{
    Result result = showing(Item::weights, Tensor<float>({1, 3, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1}));
    result.tokens = {"\u4eba\u4eba\u4eba\u4eba", "e\u0301", "\U0001f468\u200d\U0001f469\u200d\U0001f467"};
    EXPECT_EQ(table_of(result),
              "weights (3, 3)\n"
              "          \u4eba\u4eba\u4eba\u4eba       e\u0301      \U0001f468\u200d\U0001f469\u200d\U0001f467\n"
              "\u4eba\u4eba\u4eba\u4eba    1.0000  0.0000  0.0000\n"
              "e\u0301           0.0000  1.0000  0.0000\n"
              "\U0001f468\u200d\U0001f469\u200d\U0001f467          0.0000  0.0000  1.0000\n");
}

TEST(Table, EscapesControlCharacters)
{
    Result result = showing(Item::weights, Tensor<float>({1, 2, 2}, {1, 0, 0, 1}));
    result.tokens = {"a\x1b[2J", "b\nc"};
    result.vocabulary = result.tokens;
    result.show = {Item::tokens, Item::vocabulary, Item::weights};
    const std::string text = table_of(result);
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_EQ(lines_of(text).size(), 3U + 4U);
    EXPECT_NE(text.find("tokens      a\\x1b[2J b\\nc\n"), std::string::npos);
    EXPECT_NE(text.find("\na\\x1b[2J    1.0000"), std::string::npos);
}

// ---- terminals --------------------------------------------------------------------------------------------------------

TEST(Table, LeavesOutColumnsButKeepsTheSum)
{
    const Result result = showing(Item::weights, Tensor<float>({1, 2, 4}, {1, 0, 0, 0, 0.25F, 0.25F, 0.25F, 0}));
    Result four = result;
    four.cross = true;
    four.key_tokens = {"a", "b", "c", "d"};
    EXPECT_EQ(table_of(four, {.digits = 4, .width = 32}), "weights (2, 4)\n"
                                                          "         a       b  …     sum\n"
                                                          "to  1.0000  0.0000  …  1.0000\n"
                                                          "be  0.2500  0.2500  …  0.7500\n");
    EXPECT_EQ(table_of(four, {.digits = 4, .width = 23}), "weights (2, 4)\n"
                                                          "         a  …     sum\n"
                                                          "to  1.0000  …  1.0000\n"
                                                          "be  0.2500  …  0.7500\n");
    EXPECT_EQ(table_of(four, {.digits = 4, .width = 20}), "weights (2, 4)\n" // a column of weights rather than their sum
                                                          "         a  …\n"
                                                          "to  1.0000  …\n"
                                                          "be  0.2500  …\n");
    EXPECT_EQ(table_of(four, {.digits = 4, .width = 8}), "weights\n"
                                                         "(2, 4)\n"
                                                         "    …\n"
                                                         "to  …\n"
                                                         "be  …\n");
}

TEST(Table, DrawsColumnsTogetherWhereThatMakesAllOfThemFit)
{
    const Result result = showing(Item::weights, Tensor<float>({1, 1, 2}, {0.5F, 0.25F}));
    EXPECT_EQ(table_of(result, {.digits = 4, .width = 26}), "weights (1, 2)\n"
                                                            "        to      be     sum\n"
                                                            "to  0.5000  0.2500  0.7500\n");
    EXPECT_EQ(table_of(result, {.digits = 4, .width = 23}), "weights (1, 2)\n"
                                                            "       to     be    sum\n"
                                                            "to 0.5000 0.2500 0.7500\n");
    EXPECT_EQ(table_of(result, {.digits = 4, .width = 20}), "weights (1, 2)\n"
                                                            "        to      be\n"
                                                            "to  0.5000  0.2500\n");
    EXPECT_EQ(table_of(result, {.digits = 4, .width = 17}), "weights (1, 2)\n"
                                                            "        to  …\n"
                                                            "to  0.5000  …\n");
}

TEST(Table, CutsLinesBetweenWords)
{
    Result result = sample::two_words();
    result.tokens = {"Life", "is", "short", "eat", "dessert", "first"};
    result.vocabulary = {"Life", "dessert", "eat", "first", "is", "short"};
    result.show = {Item::tokens, Item::vocabulary};
    EXPECT_EQ(table_of(result, {.digits = 4, .width = 40}), "tokens      Life is short eat dessert …\n"
                                                            "vocabulary  Life 0, dessert 1, eat 2, …\n");
    EXPECT_EQ(table_of(result, {.digits = 4, .width = 20}), "tokens\nLife is short eat …\nvocabulary\nLife 0, dessert 1, …\n");
    result.tokens = {"antidisestablishmentarianism", "x"};
    result.show = {Item::tokens};
    EXPECT_EQ(table_of(result, {.digits = 4, .width = 40}), "tokens  antidisestablishmen… x\n");
}

TEST(Table, SaysWordsAndIdsInOneLine)
{
    const attn::report::TableOptions options{.ids_in_words = true, .introduced = true};
    Result result = sample::two_words();
    EXPECT_TRUE(table_of(result, options)
                    .starts_with("2 words, 1 head, random matrices (seed 123), which mean nothing\n"
                                 "ids  to 1, be 0\n"
                                 "\n"
                                 "weights (2, 2)\n"));
    result.cross = true;
    result.key_tokens = {"7", "or"};
    result.key_token_ids = {7, 2};
    EXPECT_TRUE(
        table_of(result, {.ids_in_words = true}).starts_with("ids      to 1, be 0\nkey ids  7, or 2\n\nweights (2, 2)\n"));
    result = sample::two_words();
    result.config().input = attn::model::PositionsInput{2, {"to", "be"}};
    result.token_ids.clear();
    result.show = {Item::tokens, Item::weights};
    EXPECT_TRUE(table_of(result, options)
                    .starts_with("2 positions, 1 head, random matrices (seed 123), which mean nothing\n"
                                 "tokens  to be\n"
                                 "\n"));
}

/// A result with everything, words wide and long, numbers of all sizes.
Result large_result(std::mt19937& random)
{
    static constexpr std::array words{"Life", "\u4eba\u4eba",        "e\u0301", "antidisestablishmentarianism",
                                      "a\nb", "\U0001f44b\U0001f3fd"};
    Result result = sample::two_words();
    result.tokens.clear();
    for (auto n = 1 + random() % 8; n > 0; --n) {
        result.tokens.emplace_back(words[random() % words.size()]);
    }
    const auto T = static_cast<Index>(result.tokens.size());
    const auto H = static_cast<Index>(1 + random() % 2);
    result.vocabulary = result.tokens;
    result.token_ids.assign(result.tokens.size(), 12345);
    result.parameters = {{"W_q", sample::random_tensor<float>({H, 3, 4}, random)}};
    result.front().arrays = {{"queries", sample::random_tensor<float>({H, T, 5}, random)},
                             {"masked_scores", sample::random_tensor<float>({H, T, T}, random)},
                             {"weights", sample::random_tensor<float>({H, T, T}, random)},
                             {"entropy", sample::random_tensor<float>({H, T}, random)}};
    result.show = {Item::tokens,  Item::vocabulary,    Item::token_ids, Item::parameters,
                   Item::queries, Item::masked_scores, Item::weights,   Item::entropy};
    return result;
}

TEST(Table, FitsEveryTerminalWithoutBreakingANumber)
{
    for (unsigned seed = 0; seed < 60; ++seed) {
        std::mt19937 random(seed);
        const Result result = large_result(random);
        const auto numbers_in = [](const std::string& text) {
            static const std::regex number(R"((^|\s)(-?\d[\d.e+-]*)(?=[,\s]|$))");
            std::multiset<std::string> found;
            for (std::sregex_iterator i(text.begin(), text.end(), number); i != std::sregex_iterator(); ++i) {
                found.insert((*i)[2]);
            }
            return found;
        };
        const std::multiset<std::string> all = numbers_in(table_of(result));
        for (const Index width : {15, 20, 21, 30, 47, 80, 132, 1000}) {
            const std::string text = table_of(result, {.digits = 4, .width = width});
            for (const std::string& line : lines_of(text)) {
                EXPECT_LE(attn::report::display_width(line), width) << seed << ": " << line;
                EXPECT_FALSE(line.ends_with(' ')) << line;
            }
            for (const std::string& number : numbers_in(text)) {
                EXPECT_TRUE(all.contains(number)) << seed << ": " << number;
            }
        }
    }
}

TEST(Table, AlignsEveryRowOfATable)
{
    for (unsigned seed = 0; seed < 60; ++seed) {
        std::mt19937 random(seed);
        Result result = large_result(random);
        result.show = {Item::weights};
        Index width = 0; // of the table that the line belongs to
        for (const std::string& line : lines_of(table_of(result))) {
            if (line.empty() || line.starts_with("weights")) {
                width = 0;
            } else {
                width = width == 0 ? attn::report::display_width(line) : width;
                EXPECT_EQ(attn::report::display_width(line), width) << line;
            }
        }
    }
}

} // namespace
