#include "attn/model/layer/parameters.hpp"

#include "attn/random/stream.hpp"
#include "attn/tensor/error.hpp"
#include "unit/error_of.hpp"
#include "unit/model/layer/small_layers.hpp"
#include "unit/model/recipe/option_names.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>

namespace {

namespace model = attn::model;
using attn::Index;
using attn::Shape;
using model::Draw;
using model::Initialisation;
using model::ModelDims;
using model::Recipe;
using model::Seed;
using model::Side;
using model::Target;
using small::dims;
using small::drawn;
using small::projections;
using small::single_heads;
using small::two_heads;

TEST(Resolve, FillsInTheDefaultsOfOneHeadAndOfMore)
{
    Recipe recipe = model::default_recipe();
    std::get<model::SentenceInput>(recipe.input).sentence = "a b a";
    const model::Words words = model::read_words(recipe);
    const ModelDims one = model::resolve(recipe, words);
    EXPECT_EQ(std::tie(one.V, one.T, one.S, one.D, one.H, one.H_kv, one.d_k, one.d_v),
              std::make_tuple(2, 3, 3, 16, 1, 1, 24, 28));
    recipe.dims.heads = 4;
    recipe.dims.kv_heads = 2;
    recipe.dims.d_v = 7;
    recipe.dims.vocab_size = 10;
    const ModelDims four = model::resolve(recipe, words);
    EXPECT_EQ(std::tie(four.V, four.H, four.H_kv, four.d_k, four.d_v), std::make_tuple(10, 4, 2, 4, 7));
}

TEST(Resolve, RefusesHeadsThatDoNotDivideTheDimension)
{
    Recipe recipe = model::default_recipe();
    std::get<model::SentenceInput>(recipe.input).sentence = "a";
    recipe.dims.heads = 3;
    const model::Words words = model::read_words(recipe);
    EXPECT_NE(error_of([&] { (void)model::resolve(recipe, words); }).find("a divisor of the embedding dimension 16, or"),
              std::string::npos);
    recipe.dims.d_k = recipe.dims.d_v = 5;
    EXPECT_EQ(model::resolve(recipe, words).d_k, 5);
    recipe.dims.kv_heads = 2;
    EXPECT_THROW((void)model::resolve(recipe, words), attn::Error);
}

TEST(Resolve, RefusesIdsBeyondTheTableAndTablesSmallerThanTheVocabulary)
{
    Recipe recipe = model::default_recipe();
    recipe.input = model::IdsInput{{2, 6}, {}};
    const model::Words ids = model::read_words(recipe);
    EXPECT_EQ(error_of(attn::ErrorKind::usage, [&] { (void)model::resolve(recipe, ids, model::options_alone()); }),
              "--ids requires --vocab-size; allowed: 7 or more for these ids");
    EXPECT_EQ(error_of([&] { (void)model::resolve(recipe, ids); }),
              R"(input.ids requires dims.vocab_size, or the embedding's "shape" in numbers; allowed: 7 or more for these ids)");
    recipe.dims.vocab_size = 6;
    EXPECT_NE(error_of([&] { (void)model::resolve(recipe, model::read_words(recipe)); }).find("got 6; allowed: 0 to 5"),
              std::string::npos);
    recipe.dims.vocab_size = 7;
    EXPECT_EQ(model::resolve(recipe, model::read_words(recipe)).V, 7);
    recipe.input = model::SentenceInput{"a b c d e f g h", {}, {}, false};
    EXPECT_NE(error_of([&] { (void)model::resolve(recipe, model::read_words(recipe)); }).find("8 or more"), std::string::npos);
}

TEST(ShapeOf, MultipliesLetters)
{
    EXPECT_EQ(model::shape_of(Draw{.shape = {{Index{4}, "H*d_k", "D"}}}, dims), (Shape{4, 8, 8}));
    EXPECT_EQ(model::shape_of(Draw{.target = Target::W_q}, dims), (Shape{2, 4, 8}));
    EXPECT_EQ(model::shape_of(Draw{.target = Target::W_v, .side = Side::right}, dims), (Shape{1, 8, 3}));
    EXPECT_EQ(model::shape_of(Draw{.target = Target::W_o}, dims), (Shape{6, 8}));
    EXPECT_THROW((void)model::shape_of(Draw{.shape = {{"d_q"}}}, dims), attn::Error);
    EXPECT_THROW((void)model::shape_of(Draw{.shape = {{"H*"}}}, dims), attn::Error);
}

TEST(DrawParameters, TakesThemFromOneStreamInOrder)
{
    const auto parameters = drawn<float>(projections(Initialisation::uniform, Side::left), {.dims = dims}).parameters;
    attn::random::Stream stream = attn::random::TorchStream(1);
    const auto embedding = attn::random::normal(stream, 6 * 8);
    const auto W_q = attn::random::uniform(stream, 2 * 4 * 8);
    ASSERT_EQ(parameters.size(), 4U);
    EXPECT_EQ(parameters[0].target, Target::embedding);
    EXPECT_EQ(parameters[0].tensor.values, std::vector<float>(embedding.begin(), embedding.end()));
    EXPECT_EQ(parameters[1].tensor.shape, (Shape{2, 4, 8}));
    EXPECT_EQ(parameters[1].tensor.values, std::vector<float>(W_q.begin(), W_q.end()));
}

TEST(DrawParameters, MovesTheStreamForWhatIsThrownAwayAndTakesAPart)
{
    Recipe recipe = projections(Initialisation::uniform, Side::left, {{Index{3}, "H", "d_k", "D"}});
    std::get<Draw>(recipe.draws[2]).take = {1};
    recipe.draws.insert(recipe.draws.begin() + 1, Draw{.target = Target::none, .shape = {{Index{7}}}});
    const auto parameters = drawn<double>(recipe, {.dims = dims}).parameters;
    attn::random::Stream stream = attn::random::TorchStream(1);
    (void)attn::random::uniform(stream, 7);
    (void)attn::random::normal(stream, 6 * 8);
    const auto three = attn::random::uniform(stream, 3 * 64);
    EXPECT_EQ(parameters[1].tensor.values, std::vector<double>(three.begin() + 64, three.begin() + 128));
}

TEST(DrawParameters, TakesIntegersAsTheyAreDrawn)
{
    Recipe recipe = projections(Initialisation::integers, Side::left);
    auto& W_k = std::get<Draw>(recipe.draws[3]);
    W_k.first = 0;
    W_k.second = 16777218;
    const auto parameters = drawn<double>(recipe, {.dims = dims}).parameters;
    attn::random::Stream stream = attn::random::TorchStream(1);
    (void)attn::random::normal(stream, 6 * 8);
    (void)attn::random::integers(stream, 64, 0, 1);
    EXPECT_EQ(parameters[2].tensor.values, attn::random::integers(stream, 32, 0, 16777218));
}

TEST(DrawParameters, TellsOfNumbersThatAreNotFiniteOnTheWay)
{
    Recipe recipe = projections(Initialisation::normal, Side::left);
    std::get<Draw>(recipe.draws[3]).second = 1e39;
    EXPECT_EQ(error_of([&] { (void)drawn<float>(recipe, {.dims = dims}); }),
              "draws[3]: W_k: got numbers that are not finite; allowed: limits, means, deviations and gains for numbers up to "
              "3.4e38; generators of NumPy go beyond with --dtype float64");
    std::get<Draw>(recipe.draws[3]).target = Target::none; // what is thrown away may be anything
    std::get<Draw>(recipe.draws[3]).shape = {{Index{32}}};
    recipe.draws.emplace_back(Draw{.target = Target::W_k});
    EXPECT_EQ(error_of([&] { (void)drawn<float>(recipe, {.dims = dims}); }), "no error");
}

TEST(DrawParameters, TakesBoundsFromTheWholeStackOfHeads)
{
    // Two heads of 4 over 8 inputs are one layer with 8 inputs and 8 outputs.
    for (const auto& [init, bound] :
         {std::pair{Initialisation::linear, 1 / std::sqrt(8.0)}, std::pair{Initialisation::xavier, std::sqrt(6.0 / 16)}}) {
        const auto parameters = drawn<double>(projections(init, Side::left), {.dims = dims}).parameters;
        const Eigen::Map<const Eigen::ArrayXd> W_q(parameters[1].tensor.values.data(), 64);
        EXPECT_LE(W_q.abs().maxCoeff(), bound * (1 + 1e-7));
        EXPECT_GT(W_q.abs().maxCoeff(), bound * 0.8);
        EXPECT_LT(W_q.minCoeff(), 0);
    }
}

/// The first numbers of what the draw makes right behind seed 1.
std::vector<double> first_of(const Draw& draw, std::ptrdiff_t from = 0, std::ptrdiff_t count = 3)
{
    Recipe recipe = projections(Initialisation::uniform, Side::left);
    std::erase_if(recipe.draws, [&](const model::Step& step) {
        const auto* other = std::get_if<Draw>(&step);
        return other != nullptr && other->target == draw.target;
    });
    recipe.draws.insert(recipe.draws.begin() + 1, draw);
    for (const auto& parameter : drawn<double>(recipe, {.dims = dims}).parameters) {
        if (parameter.target == draw.target) {
            const auto first = parameter.tensor.values.begin() + from;
            return {first, first + count};
        }
    }
    return {};
}

using Numbers = std::vector<double>;

TEST(DrawParameters, InitialisesAsPytorch)
{
    // torch.manual_seed(1), then torch.nn.init of torch.empty(3, 8): W_v with one head of keys and values
    const auto W_v = [](Draw draw) {
        draw.target = Target::W_v;
        return first_of(draw);
    };
    EXPECT_EQ(W_v({.init = Initialisation::xavier}), (Numbers{0x1.85ae22p-2, -0x1.4dcd8cp-2, -0x1.25399p-3}));
    EXPECT_EQ(W_v({.init = Initialisation::xavier_normal, .second = 2}),
              (Numbers{-0x1.4d1078p+0, -0x1.4793d8p-1, -0x1.1d8d0ep-1}));
    EXPECT_EQ(W_v({.init = Initialisation::kaiming_uniform}), (Numbers{0x1.c8f0c8p-2, -0x1.876b2cp-2, -0x1.57d62cp-3}));
    EXPECT_EQ(W_v({.init = Initialisation::kaiming_normal, .first = 0.5, .mode = model::FanMode::out}),
              (Numbers{-0x1.1d382p+0, -0x1.188548p-1, -0x1.e91002p-2}));
    // of torch.empty(8, 3), whose second dimension counts what is read
    EXPECT_EQ(W_v({.init = Initialisation::kaiming_uniform, .side = Side::right}),
              (Numbers{0x1.751724p-1, -0x1.3f978cp-1, -0x1.18bdcep-2}));
}

TEST(DrawParameters, XavierGoesByTheThreeDimensionsOfAShapeThatIsGiven)
{
    // torch.manual_seed(1); torch.nn.init.xavier_uniform_(torch.empty(2, 3, 8))
    const Numbers wanted{0x1.98b338p-3, -0x1.5e1872p-3, -0x1.33896ep-4};
    EXPECT_EQ(first_of({.target = Target::W_v, .init = Initialisation::xavier, .shape = {{Index{2}, "d_v", "D"}}, .take = {0}}),
              wanted);
}

TEST(DrawParameters, MakesTheRowOfThePaddingZero)
{
    // torch.manual_seed(1); torch.nn.Embedding(6, 8, padding_idx=2)
    const Draw draw{.target = Target::embedding, .init = Initialisation::normal, .padding_idx = 2};
    EXPECT_EQ(first_of(draw, 2 * 8, 8), Numbers(8));
    EXPECT_EQ(first_of(draw, 3 * 8, 2), (Numbers{0x1.1a07bep+0, -0x1.685128p-3}));
}

TEST(DrawParameters, NeedsNoSeedForWhatIsNotDrawn)
{
    Recipe recipe = projections(Initialisation::zeros, Side::left);
    recipe.draws.erase(recipe.draws.begin());
    std::get<Draw>(recipe.draws[0]).init = Initialisation::identity;
    for (const auto& parameter : drawn<float>(recipe, {.dims = dims}).parameters) {
        const bool zero = std::ranges::all_of(parameter.tensor.values, [](float number) { return number == 0; });
        EXPECT_EQ(zero, parameter.target != Target::embedding);
    }
}

TEST(DrawParameters, DrawsHeadByHeadInAnyOrder)
{
    const auto parameters = drawn<double>(single_heads(), {.dims = two_heads}).parameters;
    attn::random::Stream stream = attn::random::TorchStream(1);
    const double bound = attn::random::linear_weight_bound(8);
    const auto next = [&](Index count) { return attn::random::uniform(stream, count, -bound, bound); };
    Numbers W_q, W_v, b_v;
    for (int head = 0; head < 2; ++head) {
        const Numbers q = next(4 * 8);
        (void)next(4 + 4 * 8 + 4);
        const Numbers v = next(3 * 8);
        const Numbers b = attn::random::uniform(stream, 3, -1 / std::sqrt(8.0), 1 / std::sqrt(8.0));
        W_q.insert(W_q.end(), q.begin(), q.end());
        W_v.insert(W_v.end(), v.begin(), v.end());
        b_v.insert(b_v.end(), b.begin(), b.end());
    }
    EXPECT_EQ(parameters[1].tensor.shape, (Shape{2, 4, 8}));
    EXPECT_EQ(parameters[1].tensor.values, W_q);
    EXPECT_EQ(parameters[3].tensor.shape, (Shape{2, 3, 8}));
    EXPECT_EQ(parameters[3].tensor.values, W_v);
    EXPECT_EQ(parameters[6].tensor.shape, Shape{6});
    EXPECT_EQ(parameters[6].tensor.values, b_v);
}

TEST(DrawParameters, MakesTheSameIdentityHeadByHead)
{
    for (const Side side : {Side::left, Side::right}) {
        Recipe recipe = projections(Initialisation::identity, side);
        const Draw W_q = std::get<Draw>(recipe.draws[2]);
        const auto whole = drawn<double>(recipe, {.dims = dims}).parameters[1].tensor;
        recipe.draws.erase(recipe.draws.begin() + 2);
        for (const Index head : {1, 0}) {
            recipe.draws.emplace_back(W_q);
            std::get<Draw>(recipe.draws.back()).head = head;
        }
        const auto parts = drawn<double>(recipe, {.dims = dims}).parameters[1].tensor;
        EXPECT_EQ(parts.shape, whole.shape);
        EXPECT_EQ(parts.values, whole.values);
    }
}

/// The tensors of one layer, by their targets.
std::map<Target, model::Parameter<double>> layer(const Draw& draw, const ModelDims& sizes)
{
    Recipe recipe;
    recipe.draws = {Draw{.target = Target::embedding, .init = Initialisation::zeros}, Seed{0}, draw};
    if (sizes.key_dim != 0) {
        recipe.draws.insert(recipe.draws.begin(), {Draw{.target = Target::key_embedding, .init = Initialisation::zeros},
                                                   Draw{.target = Target::value_embedding, .init = Initialisation::zeros}});
    }
    std::map<Target, model::Parameter<double>> tensors;
    for (auto& parameter : drawn<double>(recipe, {.dims = sizes}).parameters) {
        tensors.emplace(parameter.target, std::move(parameter));
    }
    return tensors;
}

Numbers three_of(const model::Parameter<double>& parameter)
{
    return {parameter.tensor.values.begin(), parameter.tensor.values.begin() + 3};
}

TEST(DrawParameters, DrawsMultiheadAttentionWhole)
{
    // torch.manual_seed(0); torch.nn.MultiheadAttention(8, 2, add_bias_kv=True)
    constexpr ModelDims sizes{.V = 2, .T = 2, .S = 2, .D = 8, .H = 2, .H_kv = 2, .d_k = 4, .d_v = 4};
    const auto tensors = layer({.init = Initialisation::multihead_attention, .add_bias_kv = true}, sizes);
    EXPECT_EQ(tensors.size(), 11U);
    EXPECT_EQ(tensors.at(Target::W_o).side, Side::left);
    EXPECT_EQ(tensors.at(Target::W_q).tensor.shape, (Shape{2, 4, 8}));
    EXPECT_EQ(tensors.at(Target::bias_k).tensor.shape, Shape{8});
    EXPECT_EQ(three_of(tensors.at(Target::W_o)), (Numbers{-0x1.5af244p-9, 0x1.846d38p-3, -0x1.29f962p-2}));
    EXPECT_EQ(three_of(tensors.at(Target::W_q)), (Numbers{0x1.5c866ep-3, 0x1.6f6208p-2, 0x1.81dab2p-2}));
    EXPECT_EQ(three_of(tensors.at(Target::W_k)), (Numbers{0x1.8a57b6p-7, -0x1.32043ap-5, 0x1.66f29ap-4}));
    EXPECT_EQ(three_of(tensors.at(Target::W_v)), (Numbers{0x1.2a7394p-6, 0x1.1dd43ep-2, -0x1.4f2dc2p-2}));
    EXPECT_EQ(three_of(tensors.at(Target::bias_k)), (Numbers{-0x1.64b66p-1, 0x1.c6c80cp-3, -0x1.47b8fcp-5}));
    EXPECT_EQ(three_of(tensors.at(Target::bias_v)), (Numbers{0x1.ae0c2ap-2, 0x1.bb672cp-2, -0x1.34800cp-2}));
    for (const Target bias : {Target::b_q, Target::b_k, Target::b_v, Target::b_o}) {
        EXPECT_EQ(tensors.at(bias).tensor.values, Numbers(8));
    }
}

TEST(DrawParameters, DrawsMultiheadAttentionOfOtherKeysAndValuesMatrixByMatrix)
{
    // torch.manual_seed(0); torch.nn.MultiheadAttention(8, 2, kdim=6, vdim=5, bias=False)
    constexpr ModelDims sizes{
        .V = 2, .T = 2, .S = 2, .D = 8, .H = 2, .H_kv = 2, .d_k = 4, .d_v = 4, .key_dim = 6, .value_dim = 5};
    const auto tensors = layer({.init = Initialisation::multihead_attention, .bias = false}, sizes);
    EXPECT_FALSE(tensors.contains(Target::b_q));
    EXPECT_EQ(three_of(tensors.at(Target::W_o)), (Numbers{-0x1.5af244p-9, 0x1.846d38p-3, -0x1.29f962p-2}));
    EXPECT_EQ(three_of(tensors.at(Target::W_q)), (Numbers{0x1.583e5ap-2, -0x1.3c9694p-4, 0x1.7f1464p-6}));
    EXPECT_EQ(three_of(tensors.at(Target::W_k)), (Numbers{-0x1.d50848p-3, -0x1.12b916p-1, -0x1.1d3198p-3}));
    EXPECT_EQ(three_of(tensors.at(Target::W_v)), (Numbers{-0x1.411b3ap-4, -0x1.368d64p-2, 0x1.1625d6p-1}));
}

TEST(Resolve, GivesMultiheadAttentionTheSizesOfItsHeads)
{
    Recipe recipe = model::default_recipe();
    recipe.draws.resize(2);
    recipe.draws.emplace_back(Draw{.init = Initialisation::multihead_attention});
    recipe.input = model::SentenceInput{"a b", {}, {}, false};
    const model::Words words = model::read_words(recipe);
    const ModelDims one = model::resolve(recipe, words);
    EXPECT_EQ(std::tie(one.d_k, one.d_v), std::make_tuple(16, 16));
    recipe.dims.heads = 4;
    EXPECT_EQ(model::resolve(recipe, words).d_k, 4);
    recipe.dims.kv_heads = 2;
    const auto message = [&] { return error_of([&] { (void)model::resolve(recipe, words); }); };
    EXPECT_EQ(message(), "dims.kv_heads: got 2; allowed: 4 with init multihead_attention, as many as heads");
    recipe.dims.kv_heads.reset();
    recipe.dims.d_v = 3;
    EXPECT_EQ(message(), "dims.d_v: got 3; allowed: 4 with init multihead_attention, embed_dim/heads");
    recipe.dims.heads = 3;
    recipe.dims.d_k = recipe.dims.d_v = 5;
    EXPECT_NE(message().find("dims.heads: got 3; allowed: a divisor of the embedding dimension 16"), std::string::npos);
}

/// X·W for the heads' identity copies X: head h holds columns h·d … of X.
TEST(DrawParameters, MakesTheIdentityOfTheHeadsStackFromEitherSide)
{
    for (const Side side : {Side::left, Side::right}) {
        const auto parameters = drawn<double>(projections(Initialisation::identity, side), {.dims = dims}).parameters;
        EXPECT_EQ(model::as_right_factor(parameters[1], 2), attn::Matrix<double>::Identity(8, 8));
        EXPECT_EQ(model::as_right_factor(parameters[3], 1), attn::Matrix<double>::Identity(8, 3));
    }
}

TEST(AsRightFactor, IsTheSameForEveryWayToStoreAProjection)
{
    // W_q of two heads, d_k 1, D 2: head 0 reads (1, 2), head 1 reads (3, 4).
    const attn::Matrix<double> expected = (attn::Matrix<double>(2, 2) << 1, 3, 2, 4).finished();
    using Parameter = model::Parameter<float>;
    EXPECT_EQ(model::as_right_factor(Parameter{Target::W_q, Side::left, {{2, 1, 2}, {1, 2, 3, 4}}}, 2), expected);
    EXPECT_EQ(model::as_right_factor(Parameter{Target::W_q, Side::left, {{2, 2}, {1, 2, 3, 4}}}, 2), expected);
    EXPECT_EQ(model::as_right_factor(Parameter{Target::W_q, Side::right, {{2, 2, 1}, {1, 2, 3, 4}}}, 2), expected);
    EXPECT_EQ(model::as_right_factor(Parameter{Target::W_q, Side::right, {{2, 2}, {1, 3, 2, 4}}}, 2), expected);
}

} // namespace
