#include "attn/model/check/check.hpp"

#include "unit/model/check/written.hpp"
#include "unit/model/layer/unit_vectors.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace {

using namespace attn::model;
using attn::ElementType;
using attn::Index;

/// Everything that a result can state.
SavedResult saved_from(const Recipe& recipe)
{
    RunSettings settings;
    settings.show = everything(recipe);
    return written(run(recipe, settings));
}

/// The document that a run of the config writes now, compared.
std::vector<Finding> check(const SavedResult& saved, const Tolerance& tolerance = {})
{
    return findings_of(saved, written(run(std::get<Recipe>(saved.config), settings_for(saved, {}))), tolerance);
}

Leaf& leaf_of(SavedResult& saved, std::string_view name)
{
    return *std::ranges::find(saved.leaves, name, &Leaf::name);
}

void set(Leaf& leaf, std::size_t place, const std::string& text)
{
    std::vector<std::string> texts = leaf.texts.strings();
    texts.at(place) = text;
    leaf.texts = attn::TextList(texts);
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
    for (const Finding& finding : check(saved, tolerance)) {
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
        for (const Finding& finding : check(saved_from(one))) {
            EXPECT_EQ(finding.largest_absolute, 0) << finding.what;
        }
    }
}

TEST(CheckSavedResult, FindsTheLastDigitOfEveryNumber)
{
    const SavedResult saved = saved_from(rich());
    Index edits = 0;
    for (std::size_t a = 0; a < saved.leaves.size(); ++a) {
        const Leaf& leaf = saved.leaves[a];
        for (std::size_t i = 0; leaf.type && i < leaf.texts.size(); ++i) {
            const std::string decimal(leaf.texts[i]);
            if (decimal == "null") {
                continue;
            }
            SavedResult other = saved;
            set(other.leaves[a], i, edited(decimal));
            const std::vector<std::string> lines = mismatches(other);
            ASSERT_EQ(lines.size(), 1U) << leaf.name << " " << decimal;
            EXPECT_EQ(lines[0].find(leaf.name + (leaf.shape.empty() ? ":" : "[")), 0U) << lines[0];
            EXPECT_NE(lines[0].find(": stated " + edited(decimal) + ", computed " + decimal), std::string::npos) << lines[0];
            ++edits;
        }
    }
    EXPECT_GT(edits, 200);
}

TEST(CheckSavedResult, FindsDigitsThatTheTypeCannotHold)
{
    SavedResult saved = saved_from(unit_vectors());
    Leaf& weights = leaf_of(saved, "weights");
    set(weights, 0, "0.73105860"); // the same number
    EXPECT_EQ(mismatches(saved), std::vector<std::string>{});
    set(weights, 0, "0.73105861"); // reads back to the same float32
    EXPECT_EQ(mismatches(saved), std::vector<std::string>{"weights[0][0][0]: stated 0.73105861, computed 0.7310586"});
    set(weights, 0, "-0.7310586");
    EXPECT_EQ(mismatches(saved).size(), 1U);
}

TEST(CheckSavedResult, ComparesWordsIdsAndWarnings)
{
    const SavedResult saved = saved_from(rich());
    SavedResult other = saved;
    set(leaf_of(other, "tokens"), 1, "or");
    EXPECT_EQ(mismatches(other), std::vector<std::string>{"tokens[1]: stated 'or', computed 'be'"});
    other = saved;
    set(leaf_of(other, "vocabulary"), 3, "2");
    EXPECT_EQ(mismatches(other), std::vector<std::string>{"vocabulary[1][1]: stated 2, computed 1"});
    other = saved;
    Leaf& warnings = leaf_of(other, "warnings");
    warnings.texts.push_back("beware");
    ++warnings.shape[0];
    EXPECT_EQ(mismatches(other), std::vector<std::string>{"warnings: stated shape (1,), computed (0,)"});
}

TEST(CheckSavedResult, MaskedScoresAreNullAndNothingElse)
{
    const SavedResult saved = saved_from(rich());
    const std::vector<std::string> decimals = saved.find("masked_scores")->texts.strings();
    const auto masked = static_cast<std::size_t>(std::ranges::find(decimals, "null") - decimals.begin());
    ASSERT_LT(masked, decimals.size());
    SavedResult other = saved;
    set(leaf_of(other, "masked_scores"), masked, "-inf");
    EXPECT_EQ(mismatches(other).size(), 1U);
    other = saved;
    set(leaf_of(other, "masked_scores"), 0, "null");
    EXPECT_EQ(mismatches(other, {1, 1}).size(), 1U); // no tolerance makes a number masked
    leaf_of(other, "masked_scores").texts = attn::TextList(decimals);
    set(leaf_of(other, "masked_scores"), masked, "0.5");
    EXPECT_EQ(mismatches(other, {1, 1}).at(0).substr(0, 17), "masked_scores[0][");
    EXPECT_NE(mismatches(other, {1, 1}).at(0).find("stated 0.5, computed -inf"), std::string::npos);
}

TEST(CheckSavedResult, AnEditedConfigLeadsToOtherNumbers)
{
    SavedResult saved = saved_from(rich());
    std::get<Recipe>(saved.config).attention.softcap = 6;
    EXPECT_FALSE(mismatches(saved).empty());
    saved = saved_from(rich());
    std::get<Seed>(std::get<Recipe>(saved.config).draws[0]).value = 124;
    EXPECT_FALSE(mismatches(saved).empty());
}

TEST(CheckSavedResult, StatedArraysThatTheRunDoesNotHaveAreMismatches)
{
    SavedResult saved = saved_from(unit_vectors());
    saved.leaves.push_back({"output", {1}, {"1.0"}, ElementType::float32});
    saved.leaves.push_back({"query_positions", {1}, {"0"}, ElementType::int64});
    saved.leaves.push_back({"verify.weights.absolute", {}, {"0.0"}, ElementType::float64});
    EXPECT_EQ(mismatches(saved), (std::vector<std::string>{"output: this run has none", "query_positions: this run has none",
                                                           "verify.weights: this run has none"}));
    saved = saved_from(unit_vectors());
    leaf_of(saved, "lse").shape.push_back(1);
    EXPECT_EQ(mismatches(saved), std::vector<std::string>{"lse: stated shape (1, 2, 1), computed (1, 2)"});
}

// A decimal such as 0.1 stands for a float32 that is 1.5e-9 off; a tolerance smaller than that must not turn it into a
// mismatch.
TEST(CheckSavedResult, AnyToleranceAcceptsWhatIsEqualWithoutOne)
{
    const SavedResult saved = saved_from(rich());
    for (const Tolerance tolerance : {Tolerance{0, 1e-12}, Tolerance{1e-12, 0}, Tolerance{1e-9, 1e-9}}) {
        for (const Finding& finding : check(saved, tolerance)) {
            EXPECT_EQ(finding.mismatched, 0) << finding.what;
            EXPECT_EQ(finding.largest_absolute, 0) << finding.what;
        }
    }
}

TEST(CheckSavedResult, AToleranceRelaxesNumbersAlone)
{
    SavedResult saved = saved_from(unit_vectors());
    set(leaf_of(saved, "weights"), 0, "0.7310");
    EXPECT_EQ(mismatches(saved, {8.1e-5, 0}), std::vector<std::string>{});
    EXPECT_EQ(mismatches(saved, {7.9e-5, 0}).size(), 1U);
    EXPECT_EQ(mismatches(saved, {0, 5.9e-5}), std::vector<std::string>{});
    set(leaf_of(saved, "token_ids"), 1, "2");
    EXPECT_EQ(mismatches(saved, {10, 10}), std::vector<std::string>{"token_ids[1]: stated 2, computed 1"});
}

TEST(CheckSavedResult, CutsOverlongDecimalsInItsReport)
{
    Recipe recipe = default_recipe();
    std::get<SentenceInput>(recipe.input).sentence = "a";
    const std::string forty = "0." + std::string(37, '1') + "2";
    for (const std::string& decimal : {forty, forty + "3"}) {
        const SavedResult saved{recipe, {}, {{"weights", {1, 1, 1}, {decimal}, ElementType::float32}}};
        const std::string shown = forty + (decimal == forty ? "" : "…");
        EXPECT_EQ(mismatches(saved), std::vector<std::string>{"weights[0][0][0]: stated " + shown + ", computed 1.0"});
    }
}

TEST(CheckSavedResult, ComputesNothingForPositionsAlone)
{
    EXPECT_EQ(items_of(default_recipe(), {"query_positions"}), Show{Item::tokens});
    EXPECT_EQ(items_of(default_recipe(), {"query_positions", "W_q"}), Show{Item::parameters});
}

} // namespace
