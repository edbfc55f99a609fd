#include "attn/model/explain/plotted.hpp"

#include "attn/tensor/error.hpp"
#include "attn/tensor/view.hpp"
#include "unit/error_of.hpp"
#include "unit/model/recipe/option_names.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace {

using namespace attn::model;
using attn::ElementType;
using attn::ErrorKind;
using attn::Index;
using attn::Shape;
using attn::StoredTensor;
using attn::Tensor;

StoredTensor stored(ElementType type, Shape shape, const std::vector<double>& values)
{
    StoredTensor tensor("", type, std::move(shape));
    attn::store<double>(tensor, 0, values);
    return tensor;
}

Leaf numbers(std::string name, Shape shape, attn::TextList decimals, ElementType type = ElementType::float32)
{
    return {std::move(name), std::move(shape), std::move(decimals), type};
}

SavedResult saved(Leaf weights)
{
    Recipe config = default_recipe();
    config.input = SentenceInput{.sentence = "to be", .cross = {}};
    return {std::move(config), {}, {std::move(weights)}};
}

PlottedWeights plotted(const StoredTensor& tensor)
{
    return {.weights = tensor.view(), .batch = {}, .tokens = {}, .key_tokens = {}};
}

Result with_heads(Result result, const std::vector<Index>& heads)
{
    keep_heads(result, heads, attn::model::options_alone());
    return result;
}

Result with_rows(Result result, const std::vector<std::string>& query)
{
    keep_rows(result, query);
    return result;
}

std::optional<std::string> doubt_about(const Result& result)
{
    return attn::model::doubt_about(result, result.front());
}

const std::vector<double> halves{0.5, 0.5, 0.25, 0.75};

TEST(Plotted, RefusesOtherArraysThatDoNotGoWithTheWeights)
{
    const auto error_with = [](const Leaf& array) {
        SavedResult file = saved(numbers("weights", {1, 2, 2}, {"0.75", "0.25", "0.5", "0.5"}));
        file.leaves.push_back(array);
        return error_of([&] { (void)result_of(file); });
    };
    EXPECT_EQ(error_with(numbers("queries", {}, {"1.0"})),
              "queries: got the shape (); allowed: one that goes with weights (1, 2, 2)");
    EXPECT_EQ(error_with(numbers("keys", {0}, {})), "keys: got the shape (0,); allowed: one that goes with weights (1, 2, 2)");
    EXPECT_EQ(error_with(numbers("values", {2, 2, 1}, {"1", "2", "3", "4"})),
              "values: got the shape (2, 2, 1); allowed: one that goes with weights (1, 2, 2)");
    EXPECT_EQ(error_with(numbers("entropy", {2, 1}, {"1", "2"})),
              "entropy: got the shape (2, 1); allowed: one that goes with weights (1, 2, 2)");
    EXPECT_EQ(error_with(numbers("entropy", {1, 2}, {"1", "2"})), "no error");
    EXPECT_EQ(error_with(numbers("keys", {1, 2, 3}, {"1", "2", "3", "4", "5", "6"})), "no error");
}

TEST(Plotted, TakesTheNumbersAndWordsOfASavedResult)
{
    SavedResult file = saved(numbers("weights", {1, 2, 2}, {"0.75", "0.25", "5e-4", "0.1"}));
    file.leaves.push_back(numbers("scores", {1, 2, 2}, {"1", "2", "3", "4"}));
    file.leaves.push_back({"tokens", {2}, {"so", "be"}});
    const Result result = result_of(file);
    EXPECT_EQ(result.tokens, (std::vector<std::string>{"so", "be"}));
    const auto& weights = std::get<Tensor<float>>(*result.find("weights"));
    EXPECT_EQ(weights.values, (std::vector<float>{0.75F, 0.25F, 5e-4F, 0.1F})); // not what the recipe would give
    EXPECT_TRUE(result.show.contains(Item::scores));
    EXPECT_TRUE(result.show.contains(Item::tokens));
    EXPECT_FALSE(result.show.contains(Item::context));
}

TEST(Plotted, TakesWordsThatTheFileLacksFromItsConfig)
{
    const Result result = result_of(saved(numbers("weights", {1, 2, 2}, {"1", "0", "0", "1"})));
    EXPECT_EQ(result.tokens, (std::vector<std::string>{"to", "be"}));
    EXPECT_FALSE(result.show.contains(Item::tokens));
}

TEST(Plotted, KnowsTheColumnOfAnExtraKey)
{
    const Result result = result_of(saved(numbers("weights", {1, 2, 3}, {"1", "0", "0", "0", "1", "0"})));
    EXPECT_EQ(result.words_of_keys(), (std::vector<std::string>{"to", "be", "(bias)"}));
}

TEST(Plotted, RefusesASavedResultThatCannotBeDrawn)
{
    const auto refusal = [](const SavedResult& file) { return error_of([&] { (void)result_of(file); }); };
    EXPECT_EQ(refusal(saved(numbers("scores", {1, 2, 2}, {"1", "2", "3", "4"}))),
              "the result holds no weights; allowed: one saved with weights among --show");
    EXPECT_EQ(refusal(saved(numbers("weights", {2, 2}, {"1", "2", "3", "4"}))),
              "weights: got the shape (2, 2); allowed: (H, 2, 2), as many rows and columns as words");
    EXPECT_EQ(refusal(saved(numbers("weights", {1, 2, 2}, {"1", "2", "nan", "4"}))),
              "weights at (0, 1, 0): got nan; allowed: finite numbers");
    EXPECT_EQ(refusal(saved(numbers("weights", {1, 2, 2}, {"1", "1e99", "3", "4"}))),
              "weights at (0, 0, 1): got 1e99, which is beyond float32; allowed: up to 3.4e38 in a result of that type");
    SavedResult beyond = saved(numbers("weights", {1, 1, 2}, {"1", "0"}));
    beyond.leaves.push_back(numbers("query_positions", {1}, {"7"}, ElementType::int64));
    EXPECT_EQ(refusal(beyond), "query_positions: got a position beyond the words; allowed: 0 to 1");
}

TEST(Plotted, TakesTensorsOfTwoThreeAndFourDimensions)
{
    for (const Shape& shape : {Shape{2, 2}, Shape{1, 2, 2}, Shape{1, 1, 2, 2}}) {
        const StoredTensor tensor = stored(ElementType::float16, shape, halves);
        const Result result = result_of(plotted(tensor), "'w.npy'");
        EXPECT_EQ(attn::shape_of(*result.find("weights")), (Shape{1, 2, 2}));
        EXPECT_EQ(std::get<Tensor<float>>(*result.find("weights")).values, (std::vector<float>{0.5F, 0.5F, 0.25F, 0.75F}));
        EXPECT_EQ(result.tokens, (std::vector<std::string>{"0", "1"}));
        EXPECT_FALSE(result.cross);
    }
    const StoredTensor exact = stored(ElementType::float64, {2, 2}, halves);
    EXPECT_TRUE(std::holds_alternative<Tensor<double>>(*result_of(plotted(exact), "w").find("weights")));
}

TEST(Plotted, TakesOneBatch)
{
    const StoredTensor tensor = stored(ElementType::float32, {2, 1, 1, 2}, halves);
    PlottedWeights weights = plotted(tensor);
    EXPECT_EQ(error_of([&] { (void)result_of(weights, "'w.npy'"); }),
              "'w.npy': got the shape (2, 1, 1, 2); allowed: one batch; --batch N takes one of the 2");
    weights.batch = 1;
    EXPECT_EQ(std::get<Tensor<float>>(*result_of(weights, "w").find("weights")).values, (std::vector<float>{0.25F, 0.75F}));
    weights.batch = 2;
    EXPECT_EQ(error_of(ErrorKind::usage, [&] { (void)result_of(weights, "w"); }), "--batch: got 2; allowed: 0 to 1");
}

TEST(Plotted, NamesRowsAndColumns)
{
    const StoredTensor tensor = stored(ElementType::float32, {2, 2}, halves);
    PlottedWeights weights = plotted(tensor);
    weights.tokens = {"a", "b"};
    EXPECT_EQ(result_of(weights, "w").words_of_keys(), (std::vector<std::string>{"a", "b"}));
    weights.key_tokens = {"x", "y"};
    EXPECT_EQ(result_of(weights, "w").words_of_keys(), (std::vector<std::string>{"x", "y"}));
    weights.tokens = {"a", "b", "c"};
    EXPECT_EQ(error_of([&] { (void)result_of(weights, "'w.npy'"); }),
              "--tokens: got 3 words; allowed: 2, as many as 'w.npy' has rows");
    const StoredTensor wide = stored(ElementType::float32, {1, 3}, {0.5, 0.25, 0.25});
    EXPECT_EQ(result_of(plotted(wide), "w").words_of_keys(), (std::vector<std::string>{"0", "1", "2"}));
}

TEST(Plotted, RefusesWhatHasNoRowsAndWhatIsNoNumber)
{
    for (const Shape& shape : {Shape{3}, Shape{0, 3}, Shape{1, 1, 1, 1, 1, 1}}) {
        const StoredTensor tensor("", ElementType::float32, shape);
        EXPECT_EQ(error_of([&] { (void)result_of(plotted(tensor), "w"); }),
                  "w: got the shape " + attn::to_string(shape) +
                      "; allowed: (T, S), (H, T, S), (B, H, T, S) or (L, B, H, T, S), without an empty dimension");
    }
    const StoredTensor tensor = stored(ElementType::float32, {1, 2}, {0.5, -std::numeric_limits<double>::infinity()});
    EXPECT_EQ(error_of([&] { (void)result_of(plotted(tensor), "w"); }), "w at (0, 0, 1): got -inf; allowed: finite numbers");
}

TEST(Plotted, HasALayerPerLayerWhateverTheOrderOfItsDimensions)
{
    const StoredTensor tensor =
        stored(ElementType::float32, {2, 1, 3, 2, 2}, {1, 0, 0.5,  0.5,  1, 0, 0.25,  0.75,  1, 0, 0.125,  0.875,
                                                       0, 1, 0.25, 0.75, 0, 1, 0.375, 0.625, 0, 1, 0.0625, 0.9375});
    const std::vector<Layer> layers = result_of(plotted(tensor), "w").layers;
    ASSERT_EQ(layers.size(), 2U);
    EXPECT_EQ(layers[1].number, 1);
    EXPECT_EQ(layers[1].name_of_head(2), "head 2");
    const auto weights_of = [](const Layer& layer) { return std::get<Tensor<float>>(*layer.find("weights")).values; };
    EXPECT_EQ(weights_of(layers[1]), (std::vector<float>{0, 1, 0.25F, 0.75F, 0, 1, 0.375F, 0.625F, 0, 1, 0.0625F, 0.9375F}));

    attn::TensorView turned = tensor.view(); // heads, queries, keys, layers, batch
    turned.shape = {3, 2, 2, 2, 1};
    turned.strides = {4, 2, 1, 12, 12};
    PlottedWeights permuted{.weights = turned, .axes = "htslb", .batch = {}, .tokens = {}, .key_tokens = {}};
    EXPECT_EQ(weights_of(result_of(permuted, "w").front()), weights_of(layers[0]));
    permuted.layer = 1;
    ASSERT_EQ(result_of(permuted, "w").layers.size(), 1U);
    EXPECT_EQ(weights_of(result_of(permuted, "w").front()), weights_of(layers[1]));
    permuted.layer = 2;
    EXPECT_EQ(error_of(ErrorKind::usage, [&] { (void)result_of(permuted, "w"); }), "--layer: got 2; allowed: 0 to 1");
    permuted.axes = "lhts";
    EXPECT_EQ(error_of(ErrorKind::usage, [&] { (void)result_of(permuted, "w"); }),
              "--axes: got 'lhts'; allowed: 5 letters, one per dimension of w, (3, 2, 2, 2, 1)");
}

TEST(Plotted, KeepsTheRowsThatAreAskedFor)
{
    const StoredTensor tensor = stored(ElementType::float32, {2, 3, 1}, {1, 2, 3, 4, 5, 6});
    PlottedWeights weights = plotted(tensor);
    weights.tokens = {"a", "b", "a"};
    const Result rows = with_rows(result_of(weights, "w"), {"a"});
    EXPECT_EQ(rows.query_positions, (std::vector<Index>{0, 2}));
    EXPECT_EQ(std::get<Tensor<float>>(*rows.find("weights")).values, (std::vector<float>{1, 3, 4, 6}));
    const Result fewer = with_rows(rows, {"2"}); // a position of the whole
    EXPECT_EQ(std::get<Tensor<float>>(*fewer.find("weights")).values, (std::vector<float>{3, 6}));
    const std::string allowed = "allowed: the rows that the file holds: 0 'a', 2 'a'";
    const auto refusal = [](const Result& result, const std::string& item) {
        return error_of(ErrorKind::usage, [&] { (void)with_rows(result, {item}); });
    };
    EXPECT_EQ(refusal(rows, "1"), "--query: got position 1; " + allowed);
    EXPECT_EQ(refusal(rows, "b"), "--query: got position 1; " + allowed);
    EXPECT_EQ(refusal(rows, "3"), "--query: got position '3'; " + allowed);
    EXPECT_EQ(refusal(rows, "zebra"), "--query: got the word 'zebra'; " + allowed);
    const Result all = result_of(weights, "w");
    EXPECT_EQ(refusal(all, "3"), "--query: got position '3'; allowed: 0 to 2");
    EXPECT_EQ(refusal(all, "zebra"),
              "--query: got the word 'zebra'; allowed: a word of the input ('a', 'b', 'a') or a position, 0 to 2");
}

TEST(Plotted, DoubtsWhatIsNoWeights)
{
    const auto doubt = [](const std::vector<double>& values) {
        const StoredTensor tensor = stored(ElementType::float32, {1, 2, 2}, values);
        return doubt_about(result_of(plotted(tensor), "w"));
    };
    EXPECT_FALSE(doubt(halves));
    EXPECT_FALSE(doubt({0.5, 0.49, 0, 0})); // rounded, and fully masked
    EXPECT_EQ(doubt({1, 0, 0.5, 0.25}),
              "these are not weights: row 1 of head 0 sums to 0.75, not 1; the numbers from 0.0 to 1.0 "
              "are drawn as they are");
    EXPECT_FALSE(doubt({1.01, 0.005, 0.4, 0.6})); // rounded to bfloat16
    EXPECT_EQ(doubt({-1, 2, 0.5, 0.5}),
              "these are not weights: some are negative; the numbers from -1.0 to 2.0 are drawn as they are");
}

TEST(Plotted, KeepsOneHead)
{
    const StoredTensor tensor = stored(ElementType::float32, {2, 2, 1}, {1, 1, 1, 0.5});
    const Result all = result_of(plotted(tensor), "w");
    const Result one = with_heads(all, {1});
    EXPECT_EQ(attn::shape_of(*one.find("weights")), (Shape{1, 2, 1}));
    EXPECT_EQ(std::get<Tensor<float>>(*one.find("weights")).values, (std::vector<float>{1, 0.5}));
    EXPECT_EQ(one.front().heads, std::vector<Index>{1});
    EXPECT_NE(doubt_about(one).value_or("").find("row 1 of head 1 sums to 0.5"), std::string::npos);
    EXPECT_FALSE(doubt_about(with_heads(all, {0})));
    EXPECT_EQ(error_of(ErrorKind::usage, [&] { (void)with_heads(all, {2}); }), "--head: got 2; allowed: 0 to 1");
    const StoredTensor single = stored(ElementType::float32, {1, 1}, {1});
    EXPECT_TRUE(with_heads(result_of(plotted(single), "w"), {0}).front().heads.empty());
    EXPECT_EQ(error_of(ErrorKind::usage, [&] { (void)with_heads(result_of(plotted(single), "w"), {1}); }),
              "--head: got 1; allowed: 0, there is one head");
}

TEST(Plotted, DoubtsOfTheRowsThatAreThere)
{
    const StoredTensor tensor = stored(ElementType::float32, {1, 3, 1}, {1, 1, 0.5});
    PlottedWeights weights = plotted(tensor);
    weights.tokens = {"to", "be", "or"};
    const Result all = result_of(weights, "w");
    EXPECT_FALSE(doubt_about(with_rows(all, {"to", "be"})));
    const std::string doubt = doubt_about(with_rows(all, {"be", "or"})).value_or("");
    EXPECT_EQ(doubt, "these are not weights: row 2 'or' of head 0 sums to 0.5, not 1; the numbers from 0.5 to 1.0 are drawn "
                     "as they are");
}

TEST(Plotted, KeepsOfTheMaskedScoresTheSameRows)
{
    SavedResult file = saved(numbers("weights", {1, 2, 2}, {"1", "0", "0.5", "0.5"}));
    file.leaves.push_back(numbers("masked_scores", {1, 2, 2}, {"1", "2", "3", "4"}));
    file.leaves.push_back(numbers("scores", {1, 2, 2}, {"1", "2", "3", "4"}));
    const Result rows = with_rows(result_of(file), {"be"});
    EXPECT_EQ(std::get<Tensor<float>>(*rows.find("masked_scores")).values, (std::vector<float>{3, 4}));
    EXPECT_EQ(rows.find("scores"), nullptr);
    EXPECT_FALSE(rows.show.contains(Item::masked_scores));
}

} // namespace
