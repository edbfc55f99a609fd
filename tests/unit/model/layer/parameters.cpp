#include "attn/model/layer/parameters.hpp"

#include "attn/random/stream.hpp"
#include "attn/tensor/error.hpp"
#include "unit/model/recipe/option_names.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
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

constexpr ModelDims dims{.V = 6, .T = 5, .S = 5, .D = 8, .H = 2, .H_kv = 1, .d_k = 4, .d_v = 3};

std::string message_of(const std::function<void()>& action)
{
    try {
        action();
    } catch (const attn::Error& error) {
        return error.what();
    }
    return "no error";
}

Recipe projections(Initialisation init, Side side, std::optional<std::vector<model::Length>> shape = {})
{
    Recipe recipe;
    recipe.draws = {Seed{1}, Draw{.target = Target::embedding, .init = Initialisation::normal}};
    for (const Target target : {Target::W_q, Target::W_k, Target::W_v}) {
        recipe.draws.emplace_back(Draw{.target = target, .init = init, .side = side});
    }
    std::get<Draw>(recipe.draws[2]).shape = std::move(shape);
    return recipe;
}

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

TEST(Resolve, ListsTheDivisorsWhenTheHeadsDoNotDivideTheDimension)
{
    Recipe recipe = model::default_recipe();
    std::get<model::SentenceInput>(recipe.input).sentence = "a";
    recipe.dims.heads = 3;
    const model::Words words = model::read_words(recipe);
    EXPECT_NE(message_of([&] { (void)model::resolve(recipe, words); }).find("(1, 2, 4, 8, 16)"), std::string::npos);
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
    EXPECT_EQ(message_of([&] { (void)model::resolve(recipe, ids, model::options_alone()); }),
              "--ids requires --vocab-size; allowed: 7 and more for these ids");
    EXPECT_EQ(message_of([&] { (void)model::resolve(recipe, ids); }),
              "input.ids requires dims.vocab_size; allowed: 7 and more for these ids");
    recipe.dims.vocab_size = 6;
    EXPECT_NE(message_of([&] { (void)model::resolve(recipe, model::read_words(recipe)); }).find("got 6; allowed: 0 to 5"),
              std::string::npos);
    recipe.dims.vocab_size = 7;
    EXPECT_EQ(model::resolve(recipe, model::read_words(recipe)).V, 7);
    recipe.input = model::SentenceInput{"a b c d e f g h", {}, {}, false};
    EXPECT_NE(message_of([&] { (void)model::resolve(recipe, model::read_words(recipe)); }).find("8 and more"),
              std::string::npos);
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
    const auto parameters =
        model::draw_parameters<float>(projections(Initialisation::uniform, Side::left), {.dims = dims, .cross = false});
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
    const auto parameters = model::draw_parameters<double>(recipe, {.dims = dims, .cross = false});
    attn::random::Stream stream = attn::random::TorchStream(1);
    (void)attn::random::uniform(stream, 7);
    (void)attn::random::normal(stream, 6 * 8);
    const auto three = attn::random::uniform(stream, 3 * 64);
    EXPECT_EQ(parameters[1].tensor.values, std::vector<double>(three.begin() + 64, three.begin() + 128));
}

TEST(DrawParameters, TakesIntegersThatTheTypeHoldsExactly)
{
    Recipe recipe = projections(Initialisation::integers, Side::left);
    const auto set = [&](double low, double high) {
        auto& W_k = std::get<Draw>(recipe.draws[3]);
        W_k.first = low;
        W_k.second = high;
    };
    const auto float32 = [&] { return message_of([&] { (void)model::draw_parameters<float>(recipe, {.dims = dims}); }); };
    set(-16777216, 16777217);
    EXPECT_EQ(float32(), "no error");
    set(-16777217, 16777217);
    EXPECT_EQ(float32(), "draws[3]: integers of W_k: got -16777217 to 16777216; allowed: -16777216 to 16777216, which float32 "
                         "holds exactly");
    set(0, 16777218);
    EXPECT_EQ(float32(), "draws[3]: integers of W_k: got 0 to 16777217; allowed: -16777216 to 16777216, which float32 holds "
                         "exactly");
    const auto parameters = model::draw_parameters<double>(recipe, {.dims = dims});
    attn::random::Stream stream = attn::random::TorchStream(1);
    (void)attn::random::normal(stream, 6 * 8);
    (void)attn::random::integers(stream, 64, 0, 1);
    EXPECT_EQ(parameters[2].tensor.values, attn::random::integers(stream, 32, 0, 16777218));
    std::get<Draw>(recipe.draws[3]).target = Target::none; // what is thrown away may be anything
    std::get<Draw>(recipe.draws[3]).shape = {{Index{32}}};
    recipe.draws.emplace_back(Draw{.target = Target::W_k});
    EXPECT_EQ(float32(), "no error");
}

TEST(DrawParameters, RefusesRecipesThatDoNotHangTogether)
{
    const auto message = [](const std::function<void(Recipe&)>& change, bool cross = false) {
        Recipe recipe = projections(Initialisation::uniform, Side::left);
        change(recipe);
        return message_of([&] { (void)model::draw_parameters<float>(recipe, {.dims = dims, .cross = cross}); });
    };
    const auto draw = [](Target target) { return Draw{.target = target}; };
    EXPECT_EQ(message([](Recipe&) {}), "no error");
    EXPECT_EQ(message([](Recipe& r) { r.draws.erase(r.draws.begin()); }),
              "draws[0] comes before any seed; allowed: a seed first");
    EXPECT_NE(message([](Recipe& r) { r.draws.pop_back(); }).find("W_v is not drawn"), std::string::npos);
    EXPECT_NE(message([](Recipe& r) { r.draws.push_back(r.draws.back()); }).find("W_v is drawn twice"), std::string::npos);
    EXPECT_NE(message([&](Recipe& r) { r.draws.emplace_back(draw(Target::embeddings)); }).find("both"), std::string::npos);
    EXPECT_NE(message([&](Recipe& r) { r.draws.emplace_back(draw(Target::b_o)); }).find("without W_o"), std::string::npos);
    EXPECT_NE(message([&](Recipe& r) { r.draws.emplace_back(draw(Target::key_embeddings)); }).find("key_embeddings"),
              std::string::npos);
    EXPECT_NE(message([](Recipe& r) {
                  std::get<Draw>(r.draws[2]).shape = {{Index{5}, "D"}};
              }).find("draws[2]: W_q: got the shape (5, 8); allowed: (2, 4, 8) or (8, 8)"),
              std::string::npos);
    EXPECT_NE(message([](Recipe& r) { r.input = model::PositionsInput{5, {}}; }).find("bare positions"), std::string::npos);
    EXPECT_NE(message([](Recipe& r) {
                  r.generator = model::Generator::numpy;
                  std::get<Seed>(r.draws[0]).value = std::uint64_t{1} << 32U;
              }).find("4294967295"),
              std::string::npos);
}

TEST(DrawParameters, TakesBoundsFromTheWholeStackOfHeads)
{
    // Two heads of 4 over 8 inputs are one layer with 8 inputs and 8 outputs.
    for (const auto& [init, bound] :
         {std::pair{Initialisation::linear, 1 / std::sqrt(8.0)}, std::pair{Initialisation::xavier, std::sqrt(6.0 / 16)}}) {
        const auto parameters = model::draw_parameters<double>(projections(init, Side::left), {.dims = dims, .cross = false});
        const Eigen::Map<const Eigen::ArrayXd> W_q(parameters[1].tensor.values.data(), 64);
        EXPECT_LE(W_q.abs().maxCoeff(), bound * (1 + 1e-7));
        EXPECT_GT(W_q.abs().maxCoeff(), bound * 0.8);
        EXPECT_LT(W_q.minCoeff(), 0);
    }
}

/// X·W for the heads' identity copies X: head h holds columns h·d … of X.
TEST(DrawParameters, MakesTheIdentityOfTheHeadsStackFromEitherSide)
{
    for (const Side side : {Side::left, Side::right}) {
        const auto parameters =
            model::draw_parameters<double>(projections(Initialisation::identity, side), {.dims = dims, .cross = false});
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
