#include "attn/model/check.hpp"

#include "attn/io/builtin.hpp"
#include "attn/io/recipe.hpp"
#include "attn/math/decimal.hpp"
#include "attn/tensor/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace {

using namespace attn::model;
using attn::Dtype;
using attn::Index;
using attn::Shape;

Draw draw(Target target, Initialisation init)
{
    return Draw{.target = target, .init = init};
}

/// Two ids whose embeddings are the unit vectors; every projection is the identity. So the scores are ((1, 0), (0, 1)), and the
/// weights (a, b), (b, a) with a = e/(e+1) = 0.7310586 and b = 1/(e+1) = 0.2689414.
Recipe unit_vectors()
{
    Recipe recipe;
    recipe.input = IdsInput{{0, 1}, {"x", "y"}};
    recipe.dims = {.embed_dim = 2, .heads = 1, .kv_heads = {}, .d_k = 2, .d_v = 2, .vocab_size = 2};
    recipe.draws = {Seed{0}, draw(Target::embedding, Initialisation::identity), draw(Target::W_q, Initialisation::identity),
                    draw(Target::W_k, Initialisation::identity), draw(Target::W_v, Initialisation::identity)};
    recipe.attention.scale = 1;
    return recipe;
}

Published stated(const std::string& array, Shape shape, std::vector<std::string> values)
{
    Published published;
    published.array = array;
    published.shape = std::move(shape);
    published.values = std::move(values);
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
    const CheckReport report = check(recipe, {});
    EXPECT_EQ(report.findings.size(), 1U);
    EXPECT_EQ(report.passed(), report.findings.at(0).mismatched == 0);
    return report.findings.at(0);
}

std::string first_of(const Published& published)
{
    return finding_of(unit_vectors(), published).first;
}

// ---- recipes ---------------------------------------------------------------------------------------------------------

TEST(CheckRecipe, EveryBuiltInRecipeAgreesWithItsNumbers)
{
    for (const auto& file : attn::io::builtin_recipes()) {
        const CheckReport report = check(attn::io::parse_recipe(file.contents), {});
        for (const Finding& finding : report.findings) {
            EXPECT_EQ(finding.mismatched, 0) << file.name << ": " << finding.first;
            EXPECT_GT(finding.compared, 0) << file.name << ": " << finding.what;
        }
        EXPECT_TRUE(report.passed()) << file.name;
    }
}

TEST(CheckRecipe, EveryPrintedDigitOfAnArticleCounts)
{
    Recipe recipe = attn::io::parse_recipe(*attn::io::find(attn::io::builtin_recipes(), "raschka-2023"));
    Index edits = 0;
    for (std::size_t s = 0; s < recipe.published.size(); ++s) {
        for (std::size_t i = 0; recipe.published[s].printed && i < recipe.published[s].values.size(); ++i) {
            Published edited = recipe.published[s];
            char& last = edited.values[i].back();
            last = last == '9' ? '0' : static_cast<char>(last + 1);
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
    EXPECT_EQ(first_of(stated("scores", {2, 2}, {})), "scores: stated shape (2, 2), computed (1, 2, 2)");
    Published outside = stated("scores", {2}, {"1", "0"});
    outside.at = {1, 0};
    EXPECT_EQ(first_of(outside), "scores[1][0]: these indices do not fit the computed shape (1, 2, 2)");
    outside.at = {0, 0, 0, 0};
    EXPECT_EQ(first_of(outside), "scores[0][0][0][0]: these indices do not fit the computed shape (1, 2, 2)");
    EXPECT_EQ(first_of(stated("capped_scores", {1}, {})), "capped_scores: stated, but no part of this run");
    EXPECT_EQ(first_of(stated("vocabulary", {2, 2}, {"x", "0", "y", "1"})), "vocabulary: stated, but no part of this run");
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
    EXPECT_TRUE(check(recipe, {}).passed());
    recipe.precision = {{"weights", 0, 1e-9}};
    const CheckReport report = check(recipe, {});
    EXPECT_EQ(report.findings.at(0).what, "weights in float32 against float64");
    EXPECT_EQ(report.findings.at(0).compared, 4);
    EXPECT_EQ(report.findings.at(0).first, "weights[0][0][0]: stated 0.7310585786300049, computed 0.7310586");
    recipe.precision = {{"tokens", 0, 0}};
    EXPECT_FALSE(check(recipe, {}).passed());
}

TEST(CheckRecipe, RefusesARecipeThatStatesNothing)
{
    EXPECT_THROW((void)check(unit_vectors(), {}), attn::Error);
}

// ---- saved results ---------------------------------------------------------------------------------------------------

StatedArray stated_array(const Array& array)
{
    StatedArray saved{array.name, shape_of(array.tensor), {}};
    std::visit(
        [&](const auto& tensor) {
            for (const auto value : tensor.values) {
                const std::string text = attn::math::shortest(value);
                saved.decimals.push_back(array.name == "masked_scores" && text == "-inf" ? "null" : text);
            }
        },
        array.tensor);
    return saved;
}

StatedArray stated_integers(const char* name, const std::vector<Index>& list)
{
    StatedArray saved{name, {static_cast<Index>(list.size())}, {}};
    for (const Index number : list) {
        saved.decimals.push_back(std::to_string(number));
    }
    return saved;
}

/// Everything that a result can state, as a file would.
SavedResult saved_from(const Recipe& recipe)
{
    RunSettings settings;
    settings.show = everything(recipe);
    const Result result = run(recipe, settings);
    SavedResult saved;
    saved.config = result.config;
    saved.tokens = result.tokens;
    if (result.vocabulary) {
        saved.vocabulary.emplace();
        for (std::size_t i = 0; i < result.vocabulary->size(); ++i) {
            saved.vocabulary->emplace_back(result.vocabulary->at(i), std::to_string(i));
        }
    }
    saved.arrays.push_back(stated_integers("token_ids", result.token_ids));
    if (!result.query_positions.empty()) {
        saved.arrays.push_back(stated_integers("query_positions", result.query_positions));
    }
    for (const std::vector<Array>* list : {&result.parameters, &result.arrays}) {
        for (const Array& array : *list) {
            saved.arrays.push_back(stated_array(array));
        }
    }
    for (const Difference& difference : result.verify) {
        saved.verify.push_back(
            {difference.array, attn::math::shortest(difference.absolute), attn::math::shortest(difference.relative)});
    }
    saved.warnings = result.warnings;
    return saved;
}

/// Two heads, causal, capped, verified, two of three rows: every array there is, but for cross-attention.
Recipe rich()
{
    Recipe recipe = default_recipe();
    recipe.input = SentenceInput{.sentence = "to be, to", .cross = {}};
    recipe.dims = {.embed_dim = 4, .heads = 2, .kv_heads = {}, .d_k = 3, .d_v = 2, .vocab_size = {}};
    recipe.draws.emplace_back(draw(Target::W_o, Initialisation::uniform));
    recipe.attention.causal = true;
    recipe.attention.softcap = 5;
    recipe.query = {"1", "2"};
    recipe.verify = true;
    return recipe;
}

/// The last digit of the number itself, not of its exponent, changed.
std::string edited(const std::string& decimal)
{
    std::string text = decimal;
    char& digit = text[std::min(text.find('e'), text.size()) - 1];
    digit = digit == '9' ? '0' : static_cast<char>(digit + 1);
    return text;
}

std::vector<std::string> mismatches(const SavedResult& saved, const Tolerance& tolerance = {})
{
    std::vector<std::string> lines;
    for (const Finding& finding : check(saved, tolerance, {}).findings) {
        if (finding.mismatched > 0) {
            lines.push_back(finding.first);
        }
    }
    return lines;
}

TEST(CheckSavedResult, WhatWasComputedAgrees)
{
    for (const Recipe& recipe : {unit_vectors(), rich(), default_recipe()}) {
        Recipe one = recipe;
        if (auto* sentence = std::get_if<SentenceInput>(&one.input); sentence != nullptr && sentence->sentence.empty()) {
            sentence->sentence = "Life is short";
        }
        EXPECT_EQ(mismatches(saved_from(one)), std::vector<std::string>{});
    }
}

TEST(CheckSavedResult, FindsTheLastDigitOfEveryNumber)
{
    const SavedResult saved = saved_from(rich());
    Index edits = 0;
    for (std::size_t a = 0; a < saved.arrays.size(); ++a) {
        for (std::size_t i = 0; i < saved.arrays[a].decimals.size(); ++i) {
            const std::string& decimal = saved.arrays[a].decimals[i];
            if (decimal == "null") {
                continue;
            }
            SavedResult other = saved;
            other.arrays[a].decimals[i] = edited(decimal);
            const std::vector<std::string> lines = mismatches(other);
            ASSERT_EQ(lines.size(), 1U) << saved.arrays[a].name << " " << decimal;
            EXPECT_EQ(lines[0].find(saved.arrays[a].name + "["), 0U) << lines[0];
            EXPECT_NE(lines[0].find("]: stated " + edited(decimal) + ", computed " + decimal), std::string::npos) << lines[0];
            ++edits;
        }
    }
    EXPECT_GT(edits, 200);
    for (std::size_t i = 0; i < saved.verify.size(); ++i) {
        SavedResult other = saved;
        other.verify[i].relative = edited(saved.verify[i].relative);
        EXPECT_EQ(mismatches(other),
                  std::vector<std::string>{"verify." + saved.verify[i].array + ".relative: stated " + other.verify[i].relative +
                                           ", computed " + saved.verify[i].relative});
    }
}

TEST(CheckSavedResult, FindsDigitsThatTheTypeCannotHold)
{
    SavedResult saved = saved_from(unit_vectors());
    const auto weights =
        std::find_if(saved.arrays.begin(), saved.arrays.end(), [](const auto& array) { return array.name == "weights"; });
    weights->decimals[0] += "0";
    EXPECT_EQ(mismatches(saved), std::vector<std::string>{}); // 0.73105860 is the same number
    weights->decimals[0].back() = '1';                        // reads back to the same float32
    EXPECT_EQ(mismatches(saved), std::vector<std::string>{"weights[0][0][0]: stated 0.73105861, computed 0.7310586"});
    weights->decimals[0] = "-0.7310586";
    EXPECT_EQ(mismatches(saved).size(), 1U);
}

TEST(CheckSavedResult, ComparesWordsIdsAndWarnings)
{
    const SavedResult saved = saved_from(rich());
    SavedResult other = saved;
    other.tokens->at(1) = "or";
    EXPECT_EQ(mismatches(other), std::vector<std::string>{"tokens[1]: stated 'or', computed 'be'"});
    other = saved;
    other.vocabulary->at(1).second = "2";
    EXPECT_EQ(mismatches(other), std::vector<std::string>{"vocabulary[1][1]: stated 2, computed 1"});
    other = saved;
    std::swap(other.vocabulary->at(0), other.vocabulary->at(1));
    EXPECT_EQ(mismatches(other).size(), 1U);
    other = saved;
    other.warnings->push_back("beware");
    EXPECT_EQ(mismatches(other), std::vector<std::string>{"warnings: stated shape (1,), computed (0,)"});
}

TEST(CheckSavedResult, MaskedScoresAreNullAndNothingElse)
{
    const SavedResult saved = saved_from(rich());
    for (std::size_t a = 0; a < saved.arrays.size(); ++a) {
        if (saved.arrays[a].name != "masked_scores") {
            continue;
        }
        const auto& decimals = saved.arrays[a].decimals;
        const auto masked = static_cast<std::size_t>(std::find(decimals.begin(), decimals.end(), "null") - decimals.begin());
        ASSERT_LT(masked, decimals.size());
        SavedResult other = saved;
        other.arrays[a].decimals[masked] = "-inf";
        EXPECT_EQ(mismatches(other).size(), 1U);
        other = saved;
        other.arrays[a].decimals[0] = "null";
        EXPECT_EQ(mismatches(other, {1, 1}).size(), 1U); // no tolerance makes a number masked
    }
}

TEST(CheckSavedResult, AnEditedConfigLeadsToOtherNumbers)
{
    SavedResult saved = saved_from(rich());
    saved.config.attention.softcap = 6;
    EXPECT_FALSE(mismatches(saved).empty());
    saved = saved_from(rich());
    std::get<Seed>(saved.config.draws[0]).value = 124;
    EXPECT_FALSE(mismatches(saved).empty());
}

TEST(CheckSavedResult, StatedArraysThatTheRunDoesNotHaveAreMismatches)
{
    SavedResult saved = saved_from(unit_vectors());
    saved.arrays.push_back({"output", {1}, {"1.0"}});
    saved.arrays.push_back({"query_positions", {1}, {"0"}});
    saved.verify.push_back({"weights", "0.0", "0.0"});
    EXPECT_EQ(mismatches(saved), (std::vector<std::string>{"output: stated, but no part of this run",
                                                           "query_positions: stated, but no part of this run",
                                                           "verify.weights: stated, but no part of this run"}));
    saved = saved_from(unit_vectors());
    saved.arrays.back().shape.push_back(1);
    EXPECT_EQ(mismatches(saved), std::vector<std::string>{"entropy: stated shape (1, 2, 1), computed (1, 2)"});
}

TEST(CheckSavedResult, AToleranceRelaxesNumbersAlone)
{
    SavedResult saved = saved_from(unit_vectors());
    const auto weights =
        std::find_if(saved.arrays.begin(), saved.arrays.end(), [](const auto& array) { return array.name == "weights"; });
    weights->decimals[0] = "0.7310";
    EXPECT_EQ(mismatches(saved, {8.1e-5, 0}), std::vector<std::string>{});
    EXPECT_EQ(mismatches(saved, {7.9e-5, 0}).size(), 1U);
    EXPECT_EQ(mismatches(saved, {0, 5.9e-5}), std::vector<std::string>{});
    saved.arrays[0].decimals[1] = "2"; // token_ids
    EXPECT_EQ(mismatches(saved, {10, 10}), std::vector<std::string>{"token_ids[1]: stated 2, computed 1"});
}

} // namespace
