#include "attn/model/run/masked_places.hpp"

#include "attn/tensor/error.hpp"
#include "unit/infinity.hpp"

#include <gtest/gtest.h>

namespace {

using namespace attn::model;
using attn::Index;
using attn::Shape;
using attn::Tensor;

/// Weights of 0 over as many words as rows and columns need.
Result zeros(const Shape& shape)
{
    Result result;
    result.config() = default_recipe();
    result.tokens.resize(static_cast<std::size_t>(shape[1]));
    result.front().arrays = {{"weights", Tensor<float>(shape)}};
    return result;
}

MaskedPlaces places(const Result& result)
{
    return masked_places(result, result.front());
}

/// A line a row: "." where a key is seen, "x" where it is hidden.
std::string picture(const Result& result)
{
    const Shape& shape = attn::shape_of(*result.find("weights"));
    const std::vector<bool> hidden = places(result).masked;
    std::string text;
    for (std::size_t i = 0; i < hidden.size(); ++i) {
        text += hidden[i] ? 'x' : '.';
        text += static_cast<Index>(i) % shape[2] == shape[2] - 1 ? "\n" : "";
    }
    return text;
}

TEST(Hidden, NothingWithoutAMask)
{
    EXPECT_TRUE(places(zeros({1, 3, 3})).masked.empty());
    EXPECT_TRUE(places(zeros({1, 3, 3})).certain);
}

TEST(Hidden, ByCausalAndWindow)
{
    Result result = zeros({2, 3, 3});
    result.config().attention.causal = true;
    EXPECT_EQ(picture(result), ".xx\n..x\n...\n"
                               ".xx\n..x\n...\n");
    result.config().attention.window = attn::core::Window{.left = 1, .right = -1};
    EXPECT_EQ(picture(result), ".xx\n..x\nx..\n"
                               ".xx\n..x\nx..\n");
    EXPECT_TRUE(places(result).certain);
}

TEST(Hidden, OfTheRowsThatWereChosen)
{
    Result result = zeros({1, 2, 4});
    result.tokens.resize(4);
    result.query_positions = {0, 2};
    result.config().attention.causal = true;
    EXPECT_EQ(picture(result), ".xxx\n"
                               "...x\n");
}

TEST(Hidden, NeverTheKeyBehindThoseOfTheWords)
{
    Result result = zeros({1, 2, 3});
    result.key_labels = {"to", "be", "(bias)"};
    result.config().attention.window = attn::core::Window{.left = 0, .right = 0};
    EXPECT_EQ(picture(result), ".x.\n"
                               "x..\n");
}

TEST(Hidden, ByTheMaskedScoresWhereTheResultHasThem)
{
    Result result = zeros({1, 2, 2});
    result.config().attention.mask = FileTensor{.file = "mask.npy", .name = {}, .sha256 = {}};
    EXPECT_TRUE(places(result).masked.empty() || picture(result) == "..\n..\n");
    EXPECT_FALSE(places(result).certain);
    result.front().arrays.push_back({"masked_scores", Tensor<float>({1, 2, 2}, {-infinity, 1, -500, infinity})});
    EXPECT_EQ(picture(result), "x.\n"
                               "..\n");
    EXPECT_TRUE(places(result).certain);
}

TEST(Hidden, NotByAScoreThatOverflowedWithoutAMask)
{
    Result result = zeros({1, 1, 1});
    result.config().attention.positions = Positions{.kind = PositionKind::alibi};
    result.front().arrays.push_back({"masked_scores", Tensor<float>({1, 1, 1}, {-infinity})});
    EXPECT_TRUE(places(result).masked.empty());
}

TEST(Hidden, IsUncertainOfAnotherProgram)
{
    Result result = zeros({1, 2, 2});
    result.foreign = true;
    EXPECT_FALSE(places(result).certain);
}

TEST(Hidden, NeedsWeights)
{
    EXPECT_THROW((void)places(Result{}), attn::Error);
}

} // namespace
