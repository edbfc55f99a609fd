#include "attn/model/check/check.hpp"

#include "unit/model/layer/unit_vectors.hpp"

#include "attn/math/decimal.hpp"
#include "attn/model/check/computed.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace {

using namespace attn::model;
using attn::Index;

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
        for (const Finding& finding : check(saved_from(one), {}, {}).findings) {
            EXPECT_EQ(finding.largest_absolute, 0) << finding.what;
        }
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
    EXPECT_EQ(mismatches(saved), std::vector<std::string>{"lse: stated shape (1, 2, 1), computed (1, 2)"});
}

// A decimal such as 0.1 stands for a float32 that is 1.5e-9 off; a tolerance smaller than that must not turn it into a
// mismatch.
TEST(CheckSavedResult, AnyToleranceAcceptsWhatIsEqualWithoutOne)
{
    const SavedResult saved = saved_from(rich());
    for (const Tolerance tolerance : {Tolerance{0, 1e-12}, Tolerance{1e-12, 0}, Tolerance{1e-9, 1e-9}}) {
        const CheckReport report = check(saved, tolerance, {});
        EXPECT_TRUE(report.passed());
        for (const Finding& finding : report.findings) {
            EXPECT_EQ(finding.largest_absolute, 0) << finding.what;
        }
    }
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

TEST(CheckSavedResult, CutsOverlongDecimalsInItsReport)
{
    Recipe recipe = default_recipe();
    std::get<SentenceInput>(recipe.input).sentence = "a";
    SavedResult saved;
    saved.config = recipe;
    const std::string forty = "0." + std::string(37, '1') + "2";
    for (const std::string& decimal : {forty, forty + "3"}) {
        saved.arrays = {{"weights", {1, 1, 1}, {decimal}}};
        const std::string shown = forty + (decimal == forty ? "" : "…");
        EXPECT_EQ(check(saved, {}, {}).findings.at(0).first, "weights[0][0][0]: stated " + shown + ", computed 1.0");
    }
}

TEST(CheckSavedResult, ComputesNothingForPositionsAlone)
{
    EXPECT_EQ(items_of(default_recipe(), {"query_positions"}), Show{Item::tokens});
    EXPECT_EQ(items_of(default_recipe(), {"query_positions", "W_q"}), Show{Item::parameters});
}

} // namespace
