#include "attn/model/layer/draw_plan.hpp"

#include "attn/tensor/error.hpp"
#include "unit/error_of.hpp"
#include "unit/model/layer/small_layers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace {

namespace model = attn::model;
using attn::Index;
using attn::Shape;
using model::Distribution;
using model::Draw;
using model::Initialisation;
using model::PlannedDraw;
using model::Recipe;
using model::Seed;
using model::Side;
using model::Target;
using small::dims;
using small::projections;
using small::single_heads;
using small::two_heads;

/// The plan's draw of the target; of several the last.
PlannedDraw planned(const Recipe& recipe, Target target, const model::ModelDims& sizes = dims)
{
    PlannedDraw found;
    for (const auto& step : model::plan_draws(recipe, {.dims = sizes}).steps) {
        const auto* draw = std::get_if<PlannedDraw>(&step);
        found = draw != nullptr && draw->target == target ? *draw : found;
    }
    return found;
}

TEST(PlanDraws, SaysWhatIsDrawnAndWhereItGoes)
{
    Recipe recipe = projections(Initialisation::uniform, Side::left, {{Index{3}, "H", "d_k", "D"}});
    std::get<Draw>(recipe.draws[2]).take = {1};
    recipe.draws.emplace_back(Draw{.target = Target::none, .shape = {{Index{7}}}});
    const PlannedDraw W_q = planned(recipe, Target::W_q);
    EXPECT_EQ(W_q.shape, (Shape{2, 4, 8}));
    EXPECT_EQ((std::array{W_q.count, W_q.first, W_q.kept, W_q.at}), (std::array<Index, 4>{192, 64, 64, 0}));
    EXPECT_EQ(W_q.step, 2U);
    const PlannedDraw thrown_away = planned(recipe, Target::none);
    EXPECT_EQ((std::array{thrown_away.count, thrown_away.kept}), (std::array<Index, 2>{7, 0}));
    const PlannedDraw b_v = planned(single_heads(), Target::b_v, two_heads); // of head 1
    EXPECT_EQ(b_v.shape, Shape{6});
    EXPECT_EQ((std::array{b_v.count, b_v.kept, b_v.at}), (std::array<Index, 3>{3, 3, 3}));
}

TEST(PlanDraws, KnowsTheBoundsBeforeANumberIsDrawn)
{
    const auto W_v = planned(projections(Initialisation::linear, Side::left), Target::W_v);
    const auto& numbers = std::get<Distribution>(W_v.numbers);
    EXPECT_EQ(numbers.kind, Distribution::Kind::uniform);
    EXPECT_EQ(numbers.first, -numbers.second);
    EXPECT_EQ(numbers.second, attn::random::linear_weight_bound(8));
    const auto one = planned(projections(Initialisation::identity, Side::left), Target::W_v);
    EXPECT_EQ(std::get<model::Ones>(one.numbers).places, (std::vector<Index>{0, 9, 18}));
}

TEST(PlanDraws, TakesIntegersThatTheTypeHoldsExactly)
{
    Recipe recipe = projections(Initialisation::integers, Side::left);
    const auto set = [&](double low, double high) {
        auto& W_k = std::get<Draw>(recipe.draws[3]);
        W_k.first = low;
        W_k.second = high;
    };
    const auto refusal = [&] { return error_of([&] { (void)model::plan_draws(recipe, {.dims = dims}); }); };
    set(-16777216, 16777217);
    EXPECT_EQ(refusal(), "no error");
    set(-16777217, 16777217);
    EXPECT_EQ(refusal(), "draws[3]: integers of W_k: got -16777217 to 16777216; allowed: -16777216 to 16777216, which float32 "
                         "holds exactly");
    set(0, 16777218);
    EXPECT_EQ(refusal(), "draws[3]: integers of W_k: got 0 to 16777217; allowed: -16777216 to 16777216, which float32 holds "
                         "exactly");
    recipe.dtype = attn::Dtype::float64;
    EXPECT_EQ(refusal(), "no error");
    recipe.dtype = attn::Dtype::float32;
    std::get<Draw>(recipe.draws[3]).target = Target::none; // what is thrown away may be anything
    std::get<Draw>(recipe.draws[3]).shape = {{Index{32}}};
    recipe.draws.emplace_back(Draw{.target = Target::W_k});
    EXPECT_EQ(refusal(), "no error");
}

TEST(PlanDraws, RefusesRecipesThatDoNotHangTogether)
{
    const auto message = [](const std::function<void(Recipe&)>& change, bool cross = false) {
        Recipe recipe = projections(Initialisation::uniform, Side::left);
        change(recipe);
        return error_of([&] { (void)model::plan_draws(recipe, {.dims = dims, .cross = cross}); });
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
              }).find("draws[2]: W_q: got the shape (5, 8); allowed: with these dimensions (2, 4, 8) or (8, 8)"),
              std::string::npos);
    EXPECT_NE(message([](Recipe& r) { r.input = model::PositionsInput{5, {}}; }).find("bare positions"), std::string::npos);
    EXPECT_NE(message([](Recipe& r) {
                  r.generator = model::Generator::numpy;
                  std::get<Seed>(r.draws[0]).value = std::uint64_t{1} << 32U;
              }).find("4294967295"),
              std::string::npos);
    EXPECT_EQ(message([&](Recipe& r) {
                  r.draws.insert(r.draws.begin() + 1, Draw{.target = Target::embedding, .padding_idx = 6});
                  r.draws.erase(r.draws.begin() + 2);
              }),
              "draws[1]: padding_idx: got 6; allowed: 0 to 5, the rows of embedding");
    EXPECT_EQ(message([&](Recipe& r) {
                  r.draws.insert(r.draws.begin() + 1, Draw{.target = Target::b_q, .init = Initialisation::kaiming_normal});
              }),
              "draws[1]: a draw initialised as kaiming_normal: got the shape (8,); allowed: two dimensions and more, outputs "
              "and inputs first");
}

TEST(PlanDraws, NeedsEveryHeadOnce)
{
    const auto message = [](const std::function<void(Recipe&)>& change) {
        Recipe recipe = single_heads();
        change(recipe);
        return error_of([&] { (void)model::plan_draws(recipe, {.dims = two_heads}); });
    };
    const auto last = [](Recipe& r) -> Draw& { return std::get<Draw>(r.draws.back()); };
    EXPECT_EQ(message([](Recipe& r) { r.draws.pop_back(); }),
              "draws: b_v of head 1 is not drawn; allowed: each of its 2 heads, or all in one draw without head");
    EXPECT_EQ(message([&](Recipe& r) { last(r).head = 0; }),
              "draws[13]: b_v of head 0 is drawn twice, first by draws[7]; allowed: once");
    EXPECT_EQ(message([&](Recipe& r) { last(r).head.reset(); }),
              "draws[13]: b_v is drawn twice, first by draws[7]; allowed: once");
    EXPECT_EQ(message([&](Recipe& r) { last(r).head = 2; }), "draws[13]: head: got 2; allowed: 0 to 1, the heads of b_v");
    EXPECT_EQ(message([](Recipe& r) { std::get<Draw>(r.draws[8]).side = Side::right; }),
              "draws[8]: side of W_q of head 1: got right; allowed: left, as of the head before it");
    EXPECT_EQ(message([](Recipe& r) {
                  std::get<Draw>(r.draws[8]).shape = {{"H*d_k", "D"}};
              }),
              "draws[8]: W_q: got the shape (8, 8); allowed: with these dimensions (4, 8) or (1, 4, 8); d_k is 4 by default, "
              "dims.d_k sets it");
}

} // namespace
