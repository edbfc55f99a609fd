#include "attn/report/text/explanation.hpp"

#include "attn/report/text/display.hpp"

#include "unit/report/sample.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <cmath>
#include <sstream>

namespace {

namespace model = attn::model;
namespace report = attn::report;

/// A query that sees two keys, of one dimension each.
model::Explanation two_keys()
{
    model::Explanation e;
    e.config = model::default_recipe();
    e.config.input = model::SentenceInput{.sentence = "to be", .cross = {}};
    e.tokens = {"to", "be"};
    e.position = 1;
    e.x = {1};
    e.query = {2};
    e.keys_read = e.values_read = 1;
    e.keys.resize(2);
    model::ExplainedKey& to = e.keys[0];
    to.word = "to";
    to.key = {3};
    to.products = {6};
    to.score = to.scaled = 6;
    to.exponential = 1;
    to.weight = 0.75;
    to.value = {8};
    to.weighted_value = {6};
    model::ExplainedKey& be = e.keys[1];
    be.word = "be";
    be.key = {-1};
    be.products = {-2};
    be.score = be.scaled = -2;
    be.exponential = 0.1;
    be.weight = 0.25;
    be.value = {-4};
    be.weighted_value = {-1};
    e.maximum = 6;
    e.sum = 1.1F;
    e.context = e.joined = {5};
    return e;
}

std::string text_of(const model::Explanation& e, std::optional<attn::Index> width = {})
{
    return sample::text_of([&](auto& buffer) { report::write_explanation(e, {.digits = 2, .width = width}, buffer); });
}

nlohmann::json json_of(const model::Explanation& e)
{
    return nlohmann::json::parse(sample::text_of([&](auto& buffer) { report::write_explanation_json(e, buffer); }));
}

TEST(ExplanationText, PutsTheNumbersIntoTheFormulas)
{
    EXPECT_EQ(text_of(two_keys()), R"(How "be" (position 1) attends to each word of
   to be

1. Embedding x(be): (1,), row 1 of the embeddings
   [0]  1.00

2. Query q(be) = W_q·x(be): (1,) = (1, 1)·(1,)
   [0]  2.00

3. Keys and values, of every word in the same way
   k(word) = W_k·x(word): (1,) = (1, 1)·(1,)
   v(word) = W_v·x(word): (1,) = (1, 1)·(1,)

4. Scores: score = q(be)·k(word), the sum of 1 product
   The scores of all keys are in the table of step 6.

5. Scaling: scaled = score / √d_k
   score / √1 = score / 1.00 = score·1.00

6. Softmax: weight = exp(scaled - max) / sum
   max = 6.00, the largest of the scaled scores; sum = 1.10, of the exponentials
   of all 2 keys

        score  scaled   exp  weight
   to    6.00    6.00  1.00    0.75
   be   -2.00   -2.00  0.10    0.25
   sum                 1.10    1.00

   The largest, "to": exp(6.00 - 6.00) / 1.10 = 1.00 / 1.10 = 0.75

7. Context: the sum of weight·v(word) over the keys, (1,)
   context = 0.75·v(to) + 0.25·v(be)
   [0]  5.00
   Its first number, from the first of each value:
   0.75·8.00 + 0.25·(-4.00) = 5.00

Printed numbers are rounded, so that sums and products of them may differ in the
last digits; --digits and --json show more. The arithmetic is in float64, and
each number is rounded to float32 once it is done.
)");
}

/// The query of two_keys() as a number of W_q·x.
model::Projected projected_query()
{
    model::Projected made;
    made.position = 1;
    made.x = {1, -2};
    made.weights = {4, 1};
    made.products = {4, -2};
    made.value = 2;
    return made;
}

TEST(ExplanationText, ShowsOneNumberOfAProjectionTermByTerm)
{
    model::Explanation e = two_keys();
    e.projections = {projected_query()};
    EXPECT_NE(text_of(e).find("   q(be)[0] is row 0 of W_q times x(be):\n"
                              "   q(be)[0] = 4.00·1.00 + 1.00·(-2.00) = 2.00\n"),
              std::string::npos)
        << text_of(e);
    e.heads = 2;
    e.projections.front().side = model::Side::right;
    e.projections.front().bias = -0.5;
    e.projections.front().value = 1.5;
    EXPECT_NE(text_of(e).find("   q(be)[0] is x(be) times column 0 of this head's W_q, plus b_q:\n"
                              "   q(be)[0] = 1.00·4.00 + (-2.00)·1.00 + (-0.50) (b_q) = 1.50\n"),
              std::string::npos)
        << text_of(e);
    e.projections.front().W = model::Target::W_o;
    e.output = {1.5};
    EXPECT_NE(text_of(e).find("   output[0] is heads times column 0 of W_o, plus b_o:\n"), std::string::npos) << text_of(e);
}

TEST(ExplanationText, OfOneCellHasEveryTermOfAProjection)
{
    model::Explanation e = two_keys();
    e.key = 1;
    e.projections = {projected_query()};
    e.projections.front().bias = -0.5;
    e.projections.front().value = 1.5;
    EXPECT_NE(text_of(e).find("   i  W_q[0,i]   x[i]  W_q[0,i]·x[i]  sum so far\n"
                              "   0      4.00   1.00           4.00        4.00\n"
                              "   1      1.00  -2.00          -2.00        2.00\n"
                              "   q(be)[0] = 2.00 + (-0.50) (b_q) = 1.50\n"),
              std::string::npos)
        << text_of(e);
}

TEST(ExplanationText, TurnsANumberWithItsPartner)
{
    model::Explanation e = two_keys();
    e.projections = {projected_query()};
    e.projections.front().turn = model::Turn{.partner = 1, .other = -4, .own = 0, .others = -0.5, .value = 2};
    EXPECT_NE(text_of(e).find("   q(be)[0], before it is turned, is row 0 of W_q times x(be):\n"
                              "   before = 4.00·1.00 + 1.00·(-2.00) = 2.00\n"
                              "   turned with its partner [1], which is -4.00 before:\n"
                              "   q(be)[0] = 2.00·0.00 + (-4.00)·(-0.50) = 2.00\n"),
              std::string::npos)
        << text_of(e);
}

TEST(ExplanationText, NamesALongProjectionByItsLargestProducts)
{
    model::Explanation e = two_keys();
    model::Projected made = projected_query();
    made.x.assign(20, 1);
    made.weights.clear();
    for (int i = 0; i < 20; ++i) {
        made.weights.push_back(i % 2 == 0 ? i : -i);
    }
    made.products = made.weights;
    e.projections = {made};
    const std::string text = text_of(e);
    EXPECT_NE(text.find("   q(be)[0] = 4.00·1.00 + (-5.00)·1.00 + "), std::string::npos) << text;
    EXPECT_NE(text.find("+ … 4 smaller products = 2.00\n"), std::string::npos) << text;
}

TEST(ExplanationText, LooksAnIdUpAndAddsASinusoid)
{
    model::Explanation e = two_keys();
    e.id = 3;
    EXPECT_NE(text_of(e).find("   look-up: \"be\" has id 3; id 3 is row 3\n"), std::string::npos) << text_of(e);
    e.id_by_vocabulary = true;
    e.embedding = {0.5};
    e.added = {0.5};
    const std::string text = text_of(e);
    EXPECT_NE(text.find("\"be\" has id 3, its place in the vocabulary; id 3 is row 3\n"), std::string::npos) << text;
    EXPECT_NE(text.find("   x(be)[0] = 0.50 + sin(1 / 10000^(0/1)) = 0.50 + 0.50 = 1.00\n"), std::string::npos) << text;
}

TEST(ExplanationText, IsMarkdownWhenAsked)
{
    const std::string text = sample::text_of(
        [&](auto& buffer) { report::write_explanation(two_keys(), {.digits = 2, .width = {}, .markdown = true}, buffer); });
    EXPECT_TRUE(text.starts_with("# How \"be\" (position 1) attends to each word of\n\nto be\n\n## 1. Embedding x(be)"))
        << text;
    EXPECT_NE(text.find("\n\n|  | score | scaled | exp | weight |\n| --- | ---: |"), std::string::npos) << text;
    EXPECT_NE(text.find("```\ncontext = 0.75·v(to) + 0.25·v(be)\n[0]  5.00\n```\n"), std::string::npos) << text;
}

TEST(ExplanationText, OfOneCellHasItsProducts)
{
    model::Explanation e = two_keys();
    e.key = 1;
    const std::string text = text_of(e);
    EXPECT_NE(text.find("   i  q[i]   k[i]  q[i]·k[i]  sum so far\n"
                        "   0  2.00  -1.00      -2.00       -2.00\n"
                        "   score = -2.00\n"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("\"be\": exp(-2.00 - 6.00) / 1.10 = 0.10 / 1.10 = 0.25\n"), std::string::npos) << text;
    EXPECT_NE(text.find("its share, 0.25·v(be)\n   [0]  -1.00\n"), std::string::npos) << text;
}

TEST(ExplanationText, SaysWhatHidesAKey)
{
    model::Explanation e = two_keys();
    e.position = 0;
    e.config.attention.causal = true;
    e.keys[0].masked = 6;
    e.keys[1].masked = -INFINITY;
    e.keys[1].hidden = model::Hidden::causal;
    e.keys[1].exponential = e.keys[1].weight = 0;
    const std::string text = text_of(e);
    EXPECT_NE(text.find("causal: hides the keys after position 0\n"), std::string::npos) << text;
    EXPECT_NE(text.find("   be   -2.00   -2.00  causal  0.00    0.00\n"), std::string::npos) << text;
    EXPECT_NE(text.find("context = 0.75·v(to)\n"), std::string::npos) << text;
}

TEST(ExplanationText, NamesALongSumByItsLargestTerms)
{
    model::Explanation e = two_keys();
    e.tokens.resize(30);
    e.keys.resize(30, e.keys[1]);
    for (std::size_t j = 0; j < e.keys.size(); ++j) {
        e.tokens[j] = e.keys[j].word = "w" + std::to_string(j);
        e.keys[j].weight = static_cast<double>(j + 1) / 465;
    }
    const std::string text = text_of(e);
    EXPECT_NE(text.find("context = 0.04·v(w18)"), std::string::npos) << text;
    EXPECT_NE(text.find("+ 0.06·v(w29) + … 18 with smaller weights\n"), std::string::npos) << text;
}

TEST(ExplanationText, TellsRepeatedWordsApartAndTheWordBiasFromTheBias)
{
    model::Explanation e = two_keys();
    e.tokens = {"be", "be"};
    e.keys[0].word = "be";
    e.keys[0].weight = e.keys[1].weight = 0.5;
    std::string text = text_of(e);
    EXPECT_NE(text.find("context = 0.50·v(be[0]) + 0.50·v(be[1])\n"), std::string::npos) << text;
    EXPECT_NE(text.find("The first of 2 largest, \"be[0]\": "), std::string::npos) << text;

    e = two_keys();
    e.tokens[1] = e.keys[1].word = "(bias)";
    e.keys.push_back(e.keys[1]);
    e.key = 1;
    text = text_of(e);
    EXPECT_NE(text.find(" Key k((bias)[1]) = W_k·x((bias)[1]): "), std::string::npos) << text;
    e.key = 2;
    text = text_of(e);
    EXPECT_NE(text.find(" Key k(bias) = bias_k: "), std::string::npos) << text;
}

TEST(ExplanationText, AddsAMaskInOneNotation)
{
    model::Explanation e = two_keys();
    e.key = 1;
    e.config.attention.mask = model::FileTensor{.file = "m.npy", .name = "", .sha256 = ""};
    e.keys[0].masked = 6;
    e.keys[0].mask = 0;
    e.keys[1].masked = -2.5;
    e.keys[1].mask = -0.5;
    e.keys.push_back(e.keys[0]);
    e.keys.back().masked = e.keys.back().mask = -3e38;
    EXPECT_NE(text_of(e).find("-2.00 + (-0.50) (mask) = -2.50\n"), std::string::npos) << text_of(e);
}

TEST(ExplanationText, ShowsControlCharactersAndKeepsWithinTheTerminal)
{
    model::Explanation e = two_keys();
    e.tokens[1] = e.keys[1].word = "\x1b[31mbe";
    EXPECT_EQ(text_of(e).find('\x1b'), std::string::npos);
    for (attn::Index width = 40; width < 100; ++width) {
        std::istringstream lines(text_of(e, width));
        for (std::string line; std::getline(lines, line);) {
            EXPECT_LE(report::display_width(line), width) << line;
            EXPECT_EQ(line.find('\x1f'), std::string::npos) << line;
        }
    }
}

TEST(ExplanationJson, HasEveryTermAndTheResultsNumbersInTheirType)
{
    model::Explanation e = two_keys();
    e.context = {static_cast<double>(0.1F)};
    e.keys[0].products = {static_cast<double>(0.1F)};
    const nlohmann::json json = json_of(e);
    EXPECT_EQ(json["schema"], "attn-cli/explanation/1");
    EXPECT_EQ(json["query"], nlohmann::json({{"position", 1}, {"word", "be"}, {"x", {1.0}}, {"vector", {2.0}}}));
    EXPECT_EQ(json["head_context"].dump(), "[0.1]");                        // a float32, in its shortest form
    EXPECT_EQ(json["keys"][0]["products"].dump(), "[0.10000000149011612]"); // the same as a float64
    EXPECT_EQ(json["keys"][1]["weighted_value"], nlohmann::json({-1.0}));
    EXPECT_FALSE(json.contains("key_position") || json.contains("output") || json["keys"][0].contains("masked_score"));
    EXPECT_EQ(json["projections"], nlohmann::json::array());
}

TEST(ExplanationJson, HasTheTermsOfAProjection)
{
    model::Explanation e = two_keys();
    e.component = 1;
    e.projections = {projected_query()};
    nlohmann::json expected = {{"matrix", "W_q"},       {"side", "left"},          {"position", 1}, {"x", {1.0, -2.0}},
                               {"weights", {4.0, 1.0}}, {"products", {4.0, -2.0}}, {"value", 2.0}};
    EXPECT_EQ(json_of(e)["component"], 1);
    EXPECT_EQ(json_of(e)["projections"], nlohmann::json({expected}));
    e.projections.front().bias = 0.5;
    e.projections.front().turn = model::Turn{.partner = 0, .other = -4, .own = 0.5, .others = -0.25, .value = 2};
    expected["bias"] = 0.5;
    expected["turn"] = {{"partner", 0}, {"other", -4.0}, {"own_factor", 0.5}, {"other_factor", -0.25}, {"value", 2.0}};
    EXPECT_EQ(json_of(e)["projections"], nlohmann::json({expected}));
}

TEST(ExplanationJson, HasNullAndAReasonForAHiddenKey)
{
    model::Explanation e = two_keys();
    e.key = 1;
    e.keys[0].masked = 6;
    e.keys[1].masked = -INFINITY;
    e.keys[1].mask = -INFINITY;
    e.keys[1].hidden = model::Hidden::mask;
    const nlohmann::json json = json_of(e);
    EXPECT_EQ(json["key_position"], 1);
    EXPECT_EQ(json["keys"][0]["masked_score"], 6.0);
    EXPECT_FALSE(json["keys"][0].contains("hidden_by"));
    EXPECT_TRUE(json["keys"][1]["masked_score"].is_null());
    EXPECT_EQ(json["keys"][1]["hidden_by"], "mask");
    EXPECT_EQ(json["keys"][1]["mask"], "-inf");
}

} // namespace
