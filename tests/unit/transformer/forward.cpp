#include "attn/transformer/run/forward.hpp"

#include "attn/core/positions.hpp"
#include "attn/transformer/run/embedding.hpp"
#include "unit/error_of.hpp"
#include "unit/transformer/small_models.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

namespace {

namespace transformer = attn::transformer;
using attn::Index;
using attn::Tensor;
using small::described;
using small::Tensors;
using transformer::Asked;
using transformer::Logits;
using transformer::Model;

/// One head of two, no norm in front of the attention, weights that change nothing, and an MLP that adds nothing: what attends
/// is the embedding itself.
transformer::Architecture plain(bool causal)
{
    transformer::Architecture a;
    a.type = "plain";
    a.D = 2;
    a.causal = causal;
    a.most_tokens = 4;
    a.embedding = {.words = "words", .V = 3, .size = 2};
    transformer::LayerPart layer;
    layer.attention.H = layer.attention.H_kv = 1;
    layer.attention.d = 2;
    layer.attention.scale = 1;
    for (auto* linear : {&layer.attention.query, &layer.attention.key, &layer.attention.value, &layer.attention.output}) {
        *linear = {.name = "identity", .in = 2, .out = 2, .bias = false};
    }
    layer.mlp.up = {.name = "nothing", .in = 2, .out = 2, .bias = false};
    layer.mlp.down = {.name = "nothing", .in = 2, .out = 2, .bias = false};
    a.layers = {layer};
    a.head = transformer::HeadPart{.words = "words", .tied = transformer::Tied::yes};
    return a;
}

/// Word 0 is (1, 0), word 1 is (0, 1), word 2 is nothing.
Tensors plain_tensors()
{
    Tensors tensors;
    tensors.set("words.weight", {3, 2}, {1, 0, 0, 1, 0, 0});
    tensors.set("identity.weight", {2, 2}, {1, 0, 0, 1});
    tensors.set("nothing.weight", {2, 2}, {0, 0, 0, 0});
    return tensors;
}

struct Ran {
    std::vector<transformer::LayerStages> layers;
    transformer::Outputs outputs;
};

Ran run(const Model& model, const transformer::TokenInput& input, const Asked& asked, const attn::core::Work& work = {})
{
    Ran ran;
    ran.outputs = transformer::forward(model, input, asked, work,
                                       [&](transformer::LayerStages&& stages) { ran.layers.push_back(std::move(stages)); });
    return ran;
}

/// A decoder that sees one word of the encoder's, since its queries of the cross-attention are large.
transformer::Architecture two_stacks()
{
    transformer::Architecture decoder = plain(true);
    decoder.encoder = std::make_shared<const transformer::Architecture>(plain(false));
    decoder.layers.front().cross = transformer::CrossPart{.attention = decoder.layers.front().attention};
    decoder.layers.front().cross->attention.scale = 1e4;
    return decoder;
}

TEST(Forward, OfADecoderTakesWhatTheEncoderGave)
{
    using transformer::Part;
    const Tensors tensors = plain_tensors();
    const Model model(two_stacks(), tensors.weights());
    const Ran encoder = run(model, {.ids = {1, 0, 2}}, {.parts = {Part::encoder}, .last = true});
    EXPECT_TRUE(encoder.layers.empty());
    ASSERT_EQ(encoder.outputs.last.rows(), 3);
    const Asked asked{
        .parts = {Part::decoder, Part::cross}, .layers = {0}, .stages = {attn::core::Stage::weights}, .logits = Logits::last};
    const Ran decoder = run(model, {.ids = {0, 1}, .encoded = &encoder.outputs.last}, asked);
    ASSERT_EQ(decoder.layers.size(), 2U);
    EXPECT_EQ(decoder.layers[0].part, Part::decoder);
    EXPECT_EQ(decoder.layers[0].stages[attn::core::Stage::weights].shape, (attn::Shape{1, 2, 2}));
    EXPECT_EQ(decoder.layers[0].stages[attn::core::Stage::weights].values[1], 0); // causal
    EXPECT_EQ(decoder.layers[1].part, Part::cross);
    EXPECT_EQ(decoder.layers[1].stages[attn::core::Stage::weights].values, (std::vector<float>{0, 1, 0, 1, 0, 0}));
    EXPECT_EQ(decoder.outputs.logits.shape, (attn::Shape{1, 3}));
    const Ran cross = run(model, {.ids = {0, 1}, .encoded = &encoder.outputs.last},
                          {.parts = {Part::cross}, .layers = {0}, .stages = {attn::core::Stage::weights}});
    ASSERT_EQ(cross.layers.size(), 1U);
    EXPECT_EQ(cross.layers[0].stages[attn::core::Stage::weights].values,
              decoder.layers[1].stages[attn::core::Stage::weights].values);
    EXPECT_NE(error_of(attn::ErrorKind::internal, [&] { (void)run(model, {.ids = {0}}, asked); })
                  .find("what the encoder gave: got none"),
              std::string::npos);
}

TEST(Forward, AttendsAsOneCanSee)
{
    const Tensors tensors = plain_tensors();
    const Model model(plain(false), tensors.weights());
    const Ran ran = run(model, {.ids = {0, 1, 0}},
                        {.layers = {0},
                         .stages = {attn::core::Stage::scores, attn::core::Stage::weights},
                         .queries_keys_values = true,
                         .hidden_states = true,
                         .logits = Logits::all});
    ASSERT_EQ(ran.layers.size(), 1U);
    const auto& done = ran.layers[0];
    EXPECT_EQ(done.layer, 0);
    EXPECT_EQ(done.queries.values, (std::vector<float>{1, 0, 0, 1, 1, 0}));
    EXPECT_EQ(done.queries.shape, (attn::Shape{1, 3, 2}));
    EXPECT_EQ(done.stages[attn::core::Stage::scores].values, (std::vector<float>{1, 0, 1, 0, 1, 0, 1, 0, 1}));
    const auto e = static_cast<float>(std::exp(1.0));
    const float same = e / (2 * e + 1), other = 1 / (2 * e + 1); // of the three keys two are the word itself
    EXPECT_NEAR(done.stages[attn::core::Stage::weights].values[0], same, 1e-7);
    EXPECT_NEAR(done.stages[attn::core::Stage::weights].values[1], other, 1e-7);
    EXPECT_NEAR(done.context.values[0], 2 * same, 1e-7);
    EXPECT_NEAR(done.context.values[1], other, 1e-7);
    EXPECT_EQ(done.output.values, done.context.values);
    ASSERT_EQ(ran.outputs.hidden_states.size(), 2U);
    EXPECT_EQ(ran.outputs.hidden_states[0].values, (std::vector<float>{1, 0, 0, 1, 1, 0}));
    EXPECT_NEAR(ran.outputs.hidden_states[1].values[0], 1 + 2 * same, 1e-6); // added to what came in
    EXPECT_EQ(ran.outputs.logits.shape, (attn::Shape{3, 3}));
    EXPECT_NEAR(ran.outputs.logits.values[0], 1 + 2 * same, 1e-6);
    EXPECT_EQ(ran.outputs.logits.values[2], 0);
}

TEST(Forward, OfACausalModelLooksAtNothingBehind)
{
    const Tensors tensors = plain_tensors();
    const Model model(plain(true), tensors.weights());
    const Ran ran = run(model, {.ids = {0, 1, 0}}, {.layers = {0}, .stages = {attn::core::Stage::weights}});
    const std::vector<float>& weights = ran.layers[0].stages[attn::core::Stage::weights].values;
    EXPECT_EQ((std::vector<float>{weights[0], weights[1], weights[2]}), (std::vector<float>{1, 0, 0}));
    EXPECT_EQ(weights[5], 0);
    EXPECT_TRUE(ran.layers[0].queries.values.empty()); // not asked for
    EXPECT_TRUE(ran.outputs.hidden_states.empty());
    EXPECT_TRUE(ran.outputs.logits.values.empty());
}

TEST(Forward, GivesTheLogitsOfTheLastTokenAlone)
{
    const transformer::Architecture architecture = described(small::llama());
    const Tensors tensors = small::random_tensors(architecture);
    const Model model(architecture, tensors.weights());
    const auto all = run(model, {.ids = {1, 2, 3}}, {.logits = Logits::all}).outputs.logits;
    const auto last = run(model, {.ids = {1, 2, 3}}, {.logits = Logits::last}).outputs.logits;
    EXPECT_EQ(last.shape, (attn::Shape{1, 10}));
    EXPECT_EQ(last.values, std::vector<float>(all.values.end() - 10, all.values.end()));
}

TEST(Forward, HandsOverTheAskedLayersInOrderAndRunsNoneAboveThem)
{
    const transformer::Architecture architecture = described(small::with(small::llama(), "num_hidden_layers", 5.0));
    Tensors tensors = small::random_tensors(architecture);
    tensors.set("layers.3.input_layernorm.weight", {8}, std::vector<float>(8, std::nanf(""))); // layer 3 would fail
    const Model model(architecture, tensors.weights());
    const Ran ran = run(model, {.ids = {1, 2}}, {.layers = {2, 0}, .stages = {attn::core::Stage::weights}});
    ASSERT_EQ(ran.layers.size(), 2U);
    EXPECT_EQ(ran.layers[0].layer, 0);
    EXPECT_EQ(ran.layers[1].layer, 2);
    EXPECT_EQ(ran.layers[1].stages[attn::core::Stage::weights].shape, (attn::Shape{4, 2, 2})); // every query head
    EXPECT_TRUE(ran.layers[1].stages[attn::core::Stage::scores].values.empty());
    EXPECT_EQ(run(model, {.ids = {1, 2}}, {.layers = {2, 0}, .hidden_states = true}).outputs.hidden_states.size(), 4U);
    EXPECT_EQ(
        error_of([&] {
            (void)run(model, {.ids = {1, 2}}, {.layers = {3}});
        }),
        "queries, keys or values beside 'layers.3.self_attn.q_proj': got a number that is not finite; allowed: numbers that "
        "float32 can hold; the weights are damaged, or no model's");
}

TEST(Forward, LeavesOutTheMlpBehindWhichNothingIsAskedFor)
{
    Tensors tensors = plain_tensors();
    const Model right(plain(false), tensors.weights());
    const Ran wanted = run(right, {.ids = {0, 1}}, {.layers = {0}, .hidden_states = true});
    tensors.set("nothing.weight", {2, 2}, std::vector<float>(4, std::nanf(""))); // whoever runs it fails
    const Model model(plain(false), tensors.weights());
    const Ran ran = run(model, {.ids = {0, 1}}, {.layers = {0}});
    ASSERT_EQ(ran.layers.size(), 1U);
    EXPECT_EQ(ran.layers[0].output.values, wanted.layers.at(0).output.values);
    const std::string damaged =
        "hidden states after layer 0: got a number that is not finite; allowed: numbers that float32 can "
        "hold; the weights are damaged, or no model's";
    for (const Asked& asked : {Asked{.layers = {0}, .hidden_states = true}, Asked{.logits = Logits::last}, Asked{.last = true},
                               Asked{.layers = {0}, .lens = true}}) {
        EXPECT_EQ(error_of([&] { (void)run(model, {.ids = {0, 1}}, asked); }), damaged);
    }
}

TEST(Forward, GivesTheSameBytesOnAnyNumberOfThreads)
{
    const transformer::Architecture architecture = described(small::bert());
    const Tensors tensors = small::random_tensors(architecture);
    const Model model(architecture, tensors.weights());
    const Asked asked{.hidden_states = true, .logits = Logits::all};
    const transformer::TokenInput input{.ids = {1, 2, 3, 4, 5}, .types = {0, 0, 1, 1, 1}};
    const Ran one = run(model, input, asked), four = run(model, input, asked, {.threads = 4});
    EXPECT_EQ(one.outputs.logits.values, four.outputs.logits.values);
    EXPECT_EQ(one.outputs.hidden_states.back().values, four.outputs.hidden_states.back().values);
}

TEST(Forward, GivesOfSeveralSentencesWhatEachGivesAlone)
{
    const std::vector<transformer::TokenInput> inputs{{.ids = {1, 2, 3}}, {.ids = {4}}, {.ids = {3, 2, 1, 0, 1}}};
    const Asked asked{.layers = {0, 1},
                      .stages = {attn::core::Stage::weights},
                      .queries_keys_values = true,
                      .hidden_states = true,
                      .logits = Logits::all};
    for (const transformer::Architecture& architecture : {described(small::bert()), described(small::llama())}) {
        const Tensors tensors = small::random_tensors(architecture);
        const Model model(architecture, tensors.weights());
        std::vector<std::vector<transformer::LayerStages>> layers(inputs.size());
        const std::vector<transformer::Outputs> outputs =
            transformer::forward(model, inputs, asked, {}, [&](transformer::LayerStages&& stages) {
                layers.at(stages.sentence).push_back(std::move(stages));
            });
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const Ran alone = run(model, inputs[i], asked);
            ASSERT_EQ(layers[i].size(), alone.layers.size());
            for (std::size_t l = 0; l < layers[i].size(); ++l) {
                EXPECT_EQ(layers[i][l].layer, alone.layers[l].layer);
                EXPECT_EQ(layers[i][l].queries.values, alone.layers[l].queries.values);
                EXPECT_EQ(layers[i][l].stages[attn::core::Stage::weights].values,
                          alone.layers[l].stages[attn::core::Stage::weights].values);
                EXPECT_EQ(layers[i][l].output.values, alone.layers[l].output.values);
            }
            EXPECT_EQ(outputs[i].logits.values, alone.outputs.logits.values);
            EXPECT_EQ(outputs[i].hidden_states.back().values, alone.outputs.hidden_states.back().values);
        }
    }
}

TEST(Forward, CountsTypesAsTheyAreGiven)
{
    const transformer::Architecture architecture = described(small::bert());
    const Tensors tensors = small::random_tensors(architecture);
    const Model model(architecture, tensors.weights());
    const auto hidden = [&](const std::vector<Index>& types) {
        return run(model, {.ids = {1, 2}, .types = types}, {.hidden_states = true}).outputs.hidden_states[0].values;
    };
    EXPECT_EQ(hidden({}), hidden({0, 0}));
    EXPECT_NE(hidden({}), hidden({0, 1}));
}

TEST(Require, RefusesWhatTheModelCannotTake)
{
    const transformer::Architecture architecture = described(small::bert());
    const auto tokens = [&](const transformer::TokenInput& input) {
        return error_of(attn::ErrorKind::data,
                        [&] { transformer::require_tokens(architecture, input, attn::ErrorKind::data); });
    };
    const std::string positions = "; allowed: 1 to 8, for which this model has positions";
    EXPECT_EQ(tokens({.ids = {}}), "tokens: got 0" + positions);
    EXPECT_EQ(tokens({.ids = std::vector<Index>(9, 1)}), "tokens: got 9" + positions);
    EXPECT_EQ(tokens({.ids = {1}, .types = {0, 0}}), "type ids: got 2; allowed: 1, one for each token, or none");
    const auto rows = [&](const transformer::TokenInput& input) {
        return error_of([&] { transformer::require_rows(architecture, input, {}, attn::ErrorKind::data); });
    };
    EXPECT_EQ(rows({.ids = {1, 10}}), "token id: got 10; allowed: 0 to 9, the rows of its table");
    EXPECT_EQ(rows({.ids = {-1}}), "token id: got -1; allowed: 0 to 9, the rows of its table");
    EXPECT_EQ(rows({.ids = {1}, .types = {2}}), "type id: got 2; allowed: 0 to 1, the rows of its table");
    EXPECT_EQ(rows({.ids = {1, 9}, .types = {0, 1}}), "no error");
}

TEST(Require, KnowsHowManyPositionsTurnExactly)
{
    const transformer::Architecture architecture = described(small::llama());
    const transformer::TokenInput input{.ids = std::vector<Index>(attn::core::most_positions + 1, 1)};
    EXPECT_EQ(error_of([&] { transformer::require_rows(architecture, input, {.layers = {0}}, attn::ErrorKind::data); }),
              "rotary positions: got 100001 tokens; allowed: up to 100000");
    EXPECT_EQ(error_of([&] { transformer::require_rows(architecture, input, {}, attn::ErrorKind::data); }),
              "no error"); // none runs
}

TEST(Forward, StopsAtACallThatAsksForWhatIsNotThere)
{
    const transformer::Architecture architecture = described(small::bert());
    Tensors tensors = small::random_tensors(architecture);
    for (const std::string& name : tensors.names()) {
        if (name.starts_with("cls.")) {
            tensors.erase(name);
        }
    }
    const Model model(architecture, tensors.weights());
    EXPECT_ANY_THROW((void)run(model, {.ids = {1}}, {.layers = {1}}));
    EXPECT_ANY_THROW((void)run(model, {.ids = {1}}, {.logits = Logits::all}));
    for (const transformer::TokenInput& unjudged : {transformer::TokenInput{.ids = {10}},
                                                    {.ids = {-1}},
                                                    {.ids = {}},
                                                    {.ids = std::vector<Index>(9, 1)},
                                                    {.ids = {1}, .types = {2}},
                                                    {.ids = {1}, .types = {0, 0}}}) {
        EXPECT_NE(error_of(attn::ErrorKind::internal, [&] { (void)run(model, unjudged, {}); }), "no error");
    }
}

TEST(Forward, OfADecoderGivesWithWhatItReadBeforeTheBitsOfReadingAll)
{
    using transformer::Part;
    transformer::Architecture architecture = two_stacks();
    architecture.most_tokens = 40;
    architecture.embedding.sinusoidal = true;
    architecture.relative_bias =
        transformer::RelativeBiasPart{.name = "bias", .buckets = 4, .most_distance = 8, .causal = true};
    architecture.layers.front().attention.rope = transformer::RopePart{.base = 10, .dim = 2};
    architecture.layers.front().cross->attention.scale = 1;
    architecture.layers.push_back(architecture.layers.front());
    const Tensors tensors = small::random_tensors(architecture);
    const Model model(architecture, tensors.weights());
    attn::Matrix<float> encoded(3, 2);
    encoded << 0.5F, -1, 2, 0.25F, -0.75F, 1;
    transformer::ReadBefore one_by_one, at_once;
    std::vector<Index> ids;
    const auto logits = [&](transformer::ReadBefore* before) {
        const Asked asked{.parts = {Part::decoder}, .logits = Logits::last};
        return run(model, {.ids = ids, .encoded = &encoded, .before = before}, asked).outputs.logits.values;
    };
    for (Index i = 0; i < architecture.most_tokens; ++i) {
        ids.push_back(i * i % 3);
        EXPECT_EQ(logits(&one_by_one), logits(nullptr)) << i;
        if (i % 7 == 1) {
            EXPECT_EQ(logits(&at_once), logits(nullptr)) << i;
        }
    }
    EXPECT_EQ(one_by_one.tokens, 40);
    EXPECT_EQ(one_by_one.layers.at(1).own.keys.rows(), 40);
    EXPECT_EQ(one_by_one.layers.at(1).cross.values.rows(), 3);
}

TEST(Forward, TellsHowFarItIs)
{
    const transformer::Architecture architecture = described(small::with(small::llama(), "num_hidden_layers", 4.0));
    const Tensors tensors = small::random_tensors(architecture);
    const Model model(architecture, tensors.weights());
    std::vector<double> shares;
    (void)run(model, {.ids = {1, 2}}, {.layers = {3}}, {.progress = [&](double share) { shares.push_back(share); }});
    ASSERT_FALSE(shares.empty());
    EXPECT_LE(shares.front(), 0.25);
    EXPECT_EQ(shares.back(), 1.0);
}

TEST(PositionRows, OfRobertaBeginBehindThePaddingAndLeaveItOut)
{
    EXPECT_EQ(transformer::position_rows({}, {7, 8, 9}), (std::vector<Index>{0, 1, 2}));
    EXPECT_EQ(transformer::position_rows({.first_position = 2}, {7, 1, 9}), (std::vector<Index>{2, 3, 4}));
    EXPECT_EQ(transformer::position_rows({.padding = 1}, {7, 1, 9}), (std::vector<Index>{2, 1, 3}));
}

} // namespace
