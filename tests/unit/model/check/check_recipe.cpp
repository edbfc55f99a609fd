#include "attn/model/check/check.hpp"

#include "unit/model/check/written.hpp"
#include "unit/model/layer/unit_vectors.hpp"

#include "attn/io/builtin.hpp"
#include "attn/io/json/recipe.hpp"
#include "attn/tensor/error.hpp"

#include <gtest/gtest.h>

namespace {

using namespace attn::model;
using attn::Dtype;
using attn::Index;
using attn::Shape;

Published stated(const std::string& array, Shape shape, std::vector<std::string> values)
{
    Published published;
    published.array = array;
    published.shape = std::move(shape);
    published.values = attn::TextList(values);
    return published;
}

Published printed(const std::string& array, Shape shape, std::vector<std::string> values)
{
    Published published = stated(array, std::move(shape), std::move(values));
    published.printed = true;
    return published;
}

Finding finding_of(Recipe recipe, const Published& published)
{
    recipe.published = {published};
    const CheckReport report = check(recipe, {}, written);
    EXPECT_EQ(report.findings.size(), 1U);
    EXPECT_EQ(report.passed(), report.findings.at(0).mismatched == 0);
    return report.findings.at(0);
}

std::string first_of(const Published& published)
{
    return finding_of(unit_vectors(), published).first;
}

TEST(CheckRecipe, EveryBuiltInRecipeAgreesWithItsNumbers)
{
    for (const auto& file : attn::io::builtin_recipes()) {
        const CheckReport report = check(attn::io::parse_recipe(file.contents), {}, written);
        for (const Finding& finding : report.findings) {
            EXPECT_EQ(finding.mismatched, 0) << file.name << ": " << finding.first;
            EXPECT_GT(finding.compared, 0) << file.name << ": " << finding.what;
        }
        EXPECT_TRUE(report.passed()) << file.name;
    }
}

TEST(CheckRecipe, ABatchStatesItsArraysWithTheEntryFirst)
{
    Recipe batch = unit_vectors();
    batch.input = IdsInput{{0, 1, 1, 0, 1, 1}, {}, 3};
    const Finding all = finding_of(batch, stated("token_ids", {3, 2}, {"0", "1", "1", "0", "1", "1"}));
    EXPECT_EQ(all.compared, 6);
    EXPECT_EQ(all.mismatched, 0);
    Published second = stated("token_ids", {2}, {"1", "1"});
    second.at = {1};
    EXPECT_EQ(finding_of(batch, second).first, "token_ids[1][1]: stated 1, computed 0");
    second.at = {3};
    EXPECT_EQ(finding_of(batch, second).first, "token_ids[3]: these indices do not fit the computed shape (3, 2)");
    EXPECT_EQ(finding_of(batch, stated("W_q", {2, 2}, {})).mismatched, 0);
    batch.entry = 2;
    EXPECT_EQ(finding_of(batch, stated("token_ids", {2}, {"1", "1"})).mismatched, 0);
}

TEST(CheckRecipe, EveryPrintedDigitOfAnArticleCounts)
{
    Recipe recipe = attn::io::parse_recipe(*attn::io::find(attn::io::builtin_recipes(), "raschka-2023"));
    Index edits = 0;
    for (std::size_t s = 0; s < recipe.published.size(); ++s) {
        for (std::size_t i = 0; recipe.published[s].printed && i < recipe.published[s].values.size(); ++i) {
            Published edited = recipe.published[s];
            std::vector<std::string> values = edited.values.strings();
            char& last = values[i].back();
            last = last == '9' ? '0' : static_cast<char>(last + 1);
            edited.values = attn::TextList(values);
            const Finding finding = finding_of(recipe, edited);
            EXPECT_EQ(finding.mismatched, 1) << finding.what << " " << edited.values[i];
            ++edits;
        }
    }
    EXPECT_EQ(edits, 96 + 6 + 6 + 28);
}

TEST(CheckRecipe, NamesArrayIndexAndBothValues)
{
    Published weights = printed("weights", {2}, {"0.2689", "0.7310"}); // the second one is 0.73106
    weights.at = {0, 1};
    const Finding finding = finding_of(unit_vectors(), weights);
    EXPECT_EQ(finding.what, "weights[0][1]");
    EXPECT_EQ(finding.compared, 2);
    EXPECT_EQ(finding.mismatched, 1);
    EXPECT_EQ(finding.first, "weights[0][1][1]: stated 0.7310, computed 0.7310586");
    EXPECT_NEAR(finding.largest_absolute, 5.86e-5, 1e-7);
    EXPECT_NEAR(finding.largest_relative, 1.541e-4, 1e-7);
    weights.units = 1;
    EXPECT_EQ(finding_of(unit_vectors(), weights).mismatched, 0);
}

TEST(CheckRecipe, HintsAtQuotesWhenNumbersAgreeAsPrintedDigits)
{
    Published weights = stated("weights", {2}, {"0.2689", "7.311e-01"}); // the second one is 0.73106
    weights.at = {0, 1};
    EXPECT_EQ(finding_of(unit_vectors(), weights).mismatched, 2);
    EXPECT_NE(finding_of(unit_vectors(), weights).hint.find("as strings"), std::string::npos);
    for (const char* other : {"0.7312", "73.11e-2", "7.311e-001", "0.7311e0"}) {
        weights.values = {"0.2689", other};
        EXPECT_GT(finding_of(unit_vectors(), weights).mismatched, 0) << other;
        EXPECT_EQ(finding_of(unit_vectors(), weights).hint, "") << other;
    }
    weights.values = {"0.2689", "0.7311"};
    weights.atol = 1e-9;
    EXPECT_EQ(finding_of(unit_vectors(), weights).hint, "");
}

TEST(CheckRecipe, SlicesAnyLeadingIndex)
{
    Published column = stated("scores", {1, 2}, {"1", "0"});
    column.at = {std::nullopt, 0};
    EXPECT_EQ(finding_of(unit_vectors(), column).what, "scores[:][0]");
    EXPECT_EQ(first_of(column), "");
    column.at = {std::nullopt, std::nullopt, 1};
    column.values = {"0", "2"};
    EXPECT_EQ(first_of(column), "scores[0][1][1]: stated 2, computed 1.0");
    Published scalar = stated("scores", {}, {"1"});
    scalar.at = {0, 1, 0};
    EXPECT_EQ(first_of(scalar), "scores[0][1][0]: stated 1, computed 0.0");
}

TEST(CheckRecipe, FindsShapesThatDiffer)
{
    EXPECT_EQ(first_of(stated("scores", {1, 2, 2}, {})), "");
    EXPECT_EQ(first_of(stated("scores", {2, 2}, {})), ""); // one head
    EXPECT_EQ(first_of(stated("scores", {2, 3}, {})),
              "scores: stated shape (2, 3), computed (2, 2), or (1, 2, 2) with the head");
    Published outside = stated("scores", {2}, {"1", "0"});
    outside.at = {2, 0};
    EXPECT_EQ(first_of(outside), "scores[2][0]: these indices do not fit the computed shape (1, 2, 2)");
    outside.at = {0, 0, 0, 0};
    EXPECT_EQ(first_of(outside), "scores[0][0][0][0]: these indices do not fit the computed shape (1, 2, 2)");
    EXPECT_EQ(first_of(stated("capped_scores", {1}, {})), "capped_scores: this run has none");
    EXPECT_EQ(first_of(stated("vocabulary", {2, 2}, {"x", "0", "y", "1"})), "vocabulary: this run has none");
}

TEST(CheckRecipe, ComparesWordsAndIds)
{
    EXPECT_EQ(first_of(stated("tokens", {2}, {"x", "y"})), "");
    EXPECT_EQ(first_of(stated("tokens", {2}, {"x", "z"})), "tokens[1]: stated 'z', computed 'y'");
    EXPECT_EQ(first_of(stated("token_ids", {2}, {"0", "2"})), "token_ids[1]: stated 2, computed 1");
    Recipe words = unit_vectors();
    words.input = SentenceInput{.sentence = "b, a", .cross = {}};
    EXPECT_EQ(finding_of(words, stated("vocabulary", {2, 2}, {"a", "0", "b", "1"})).first, "");
    EXPECT_EQ(finding_of(words, stated("vocabulary", {2, 2}, {"a", "0", "b", "2"})).first,
              "vocabulary[1][1]: stated 2, computed 1");
    EXPECT_EQ(finding_of(words, stated("vocabulary", {2, 2}, {"b", "0", "a", "1"})).first,
              "vocabulary[0][0]: stated 'b', computed 'a'");
}

TEST(CheckRecipe, WithoutTolerancesAsksForTheSameNumberOfTheType)
{
    // The float32 computed is 0.73105859756…, one step from 0.73105866.
    Published weights = stated("weights", {2}, {"0.26894143", "0.731058598"});
    weights.at = {0, 1};
    EXPECT_EQ(first_of(weights), "");
    weights.values = {"0.26894143", "0.73105866"};
    EXPECT_EQ(first_of(weights), "weights[0][1][1]: stated 0.73105866, computed 0.7310586");
    weights.dtype = Dtype::float64;
    weights.values = {"0.2689414213699951", "0.73105856"};
    EXPECT_EQ(finding_of(unit_vectors(), weights).what, "weights[0][1] in float64");
    EXPECT_EQ(first_of(weights), "weights[0][1][1]: stated 0.73105856, computed 0.7310585786300049");
}

TEST(CheckRecipe, ForgivesWhatTheTolerancesSay)
{
    Published weights = stated("weights", {2}, {"0.2689414", "0.731"});
    weights.at = {0, 1};
    weights.rtol = 8.1e-5;
    EXPECT_EQ(first_of(weights), "");
    weights.rtol = 7.9e-5;
    EXPECT_NE(first_of(weights), "");
    weights.rtol = 0;
    weights.atol = 5.9e-5;
    EXPECT_EQ(first_of(weights), "");
    weights.atol = 5.8e-5;
    EXPECT_NE(first_of(weights), "");
}

TEST(CheckRecipe, NullMeansMasked)
{
    Recipe causal = unit_vectors();
    causal.attention.causal = true;
    EXPECT_EQ(finding_of(causal, stated("masked_scores", {1, 2, 2}, {"1", "null", "0", "1"})).first, "");
    EXPECT_EQ(finding_of(causal, stated("masked_scores", {1, 2, 2}, {"1", "null", "null", "1"})).first,
              "masked_scores[0][1][0]: stated null, computed 0.0");
}

TEST(CheckRecipe, ComparesTheTwoTypesForAPrecisionClaim)
{
    Recipe recipe = unit_vectors();
    recipe.precision = {{"weights", 0, 1e-7}};
    EXPECT_TRUE(check(recipe, {}, written).passed());
    recipe.precision = {{"weights", 0, 1e-9}};
    const CheckReport report = check(recipe, {}, written);
    EXPECT_EQ(report.findings.at(0).what, "weights in float32 against float64");
    EXPECT_EQ(report.findings.at(0).compared, 4);
    EXPECT_EQ(report.findings.at(0).first, "weights[0][0][0]: float64 0.7310585786300049, float32 0.7310586");
    recipe.precision = {{"tokens", 0, 0}};
    EXPECT_FALSE(check(recipe, {}, written).passed());
}

TEST(CheckRecipe, RefusesARecipeThatStatesNothing)
{
    EXPECT_THROW((void)check(unit_vectors(), {}, written), attn::Error);
}

} // namespace
