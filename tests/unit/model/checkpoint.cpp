#include "attn/model/checkpoint.hpp"

#include "attn/tensor/error.hpp"
#include "attn/tensor/stored.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <random>

namespace {

using namespace attn::model;
using attn::ElementType;
using attn::Index;
using attn::Shape;

using Tensors = std::vector<StoredShape>;

Recipe recipe_with(std::optional<Index> heads = {}, const std::string& prefix = "", std::optional<MatrixLayout> layout = {})
{
    Recipe recipe = default_recipe();
    recipe.draws.resize(2); // the seed and the embedding
    recipe.dims.heads = heads;
    recipe.parameters = FileParameters{.file = "f", .prefix = prefix, .layout = layout};
    return recipe;
}

FittedLayer fitted(const Tensors& tensors, const Recipe& recipe)
{
    return fit(find_layer(tensors, recipe, "'f'"), recipe, "'f'", Given::all());
}

std::string message_of(const std::function<void()>& action)
{
    try {
        action();
    } catch (const attn::Error& error) {
        return error.what();
    }
    return "no error";
}

std::string refusal(const Tensors& tensors, const Recipe& recipe)
{
    return message_of([&] { (void)fitted(tensors, recipe); });
}

const Source& source(const FittedLayer& fitted, Target target)
{
    return *fitted.layer.find(target);
}

struct Known {
    const char* family;
    Tensors tensors;
    std::optional<Index> heads;
    Dims dims;
    std::optional<MatrixLayout> layout;
    const char* description;
};

std::vector<Known> fused_and_separate()
{
    return {
        {"nn.MultiheadAttention",
         {{"in_proj_weight", {24, 8}}, {"in_proj_bias", {24}}, {"out_proj.weight", {8, 8}}, {"out_proj.bias", {8}}},
         2,
         {8, 2, 2, 4, 4, {}},
         MatrixLayout::out_in,
         "in_proj_weight → W_q, W_k, W_v; out_proj.weight → W_o; in_proj_bias → b_q, b_k, b_v; out_proj.bias → b_o"},
        {"nn.MultiheadAttention",
         {{"q_proj_weight", {8, 8}},
          {"k_proj_weight", {8, 3}},
          {"v_proj_weight", {8, 5}},
          {"bias_k", {1, 1, 8}},
          {"bias_v", {1, 1, 8}}},
         4,
         {8, 4, 4, 2, 2, {}, 3, 5},
         MatrixLayout::out_in,
         "q_proj_weight → W_q; k_proj_weight → W_k; v_proj_weight → W_v; bias_k → bias_k; bias_v → bias_v"},
        {"BERT",
         {{"l.0.attention.self.query.weight", {6, 6}},
          {"l.0.attention.self.key.weight", {6, 6}},
          {"l.0.attention.self.value.weight", {6, 6}},
          {"l.0.attention.output.dense.weight", {6, 6}},
          {"l.0.output.dense.weight", {6, 24}}},
         3,
         {6, 3, 3, 2, 2, {}},
         MatrixLayout::out_in,
         "l.0.attention.self.query.weight → W_q; l.0.attention.self.key.weight → W_k; l.0.attention.self.value.weight → W_v; "
         "l.0.attention.output.dense.weight → W_o"},
        {"GPT-2",
         {{"h.0.attn.c_attn.weight", {6, 18}}, {"h.0.attn.c_proj.weight", {6, 6}}, {"h.0.attn.bias", {1, 1, 4, 4}}},
         2,
         {6, 2, 2, 3, 3, {}},
         MatrixLayout::in_out,
         "h.0.attn.c_attn.weight → W_q, W_k, W_v; h.0.attn.c_proj.weight → W_o"},
        {"GPT-2", // as nn.Linear keeps it
         {{"c_attn.weight", {18, 6}}, {"c_proj.weight", {6, 6}}},
         2,
         {6, 2, 2, 3, 3, {}},
         MatrixLayout::out_in,
         "c_attn.weight → W_q, W_k, W_v; c_proj.weight → W_o"},
    };
}

std::vector<Known> grouped_and_plain()
{
    return {
        {"Llama",
         {{"q_proj.weight", {24, 10}}, {"k_proj.weight", {8, 10}}, {"v_proj.weight", {8, 10}}, {"o_proj.weight", {10, 24}}},
         6,
         {10, 6, 2, 4, 4, {}},
         MatrixLayout::out_in,
         "q_proj.weight → W_q; k_proj.weight → W_k; v_proj.weight → W_v; o_proj.weight → W_o"},
        {"plain names",
         {{"W_q", {2, 3, 5}}, {"W_k", {1, 3, 5}}, {"W_v", {1, 4, 5}}, {"W_o", {8, 5}}, {"embedding", {9, 5}}},
         {},
         {5, 2, 1, 3, 4, 9},
         MatrixLayout::run,
         "embedding → embedding; W_q → W_q; W_k → W_k; W_v → W_v; W_o → W_o"},
        {"plain names",
         {{"m/W_q", {5, 6}}, {"m/W_k", {5, 6}}, {"m/W_v", {5, 8}}, {"m/b_v", {8}}},
         2,
         {5, 2, 2, 3, 4, {}},
         MatrixLayout::in_out,
         "m/W_q → W_q; m/W_k → W_k; m/W_v → W_v; m/b_v → b_v"},
    };
}

const std::vector<Known>& known()
{
    static const std::vector<Known> list = [] {
        std::vector<Known> all = fused_and_separate();
        std::ranges::move(grouped_and_plain(), std::back_inserter(all));
        return all;
    }();
    return list;
}

TEST(Checkpoint, IsToldByNamesAndShapes)
{
    for (const Known& each : known()) {
        const FittedLayer found = fitted(each.tensors, recipe_with(each.heads));
        EXPECT_EQ(found.layer.family, each.family);
        EXPECT_EQ(describe(found.layer), each.description);
        EXPECT_EQ(found.dims, each.dims) << each.description;
        EXPECT_EQ(found.layout, each.layout) << each.description;
    }
}

TEST(Checkpoint, IsToldWhateverTheOrderOfItsTensors)
{
    std::mt19937 engine(1);
    for (const Known& each : known()) {
        Tensors tensors = each.tensors;
        for (int i = 0; i < 10; ++i) {
            std::shuffle(tensors.begin(), tensors.end(), engine);
            EXPECT_EQ(describe(fitted(tensors, recipe_with(each.heads)).layer), each.description);
        }
    }
}

TEST(Checkpoint, ReadsTheConfigOfItsOwnResult)
{
    for (const Known& each : known()) {
        const FittedLayer found = fitted(each.tensors, recipe_with(each.heads));
        const Recipe config = with_layer(recipe_with(each.heads), found);
        const FittedLayer again = fitted(each.tensors, config);
        EXPECT_EQ(again.dims, found.dims);
        EXPECT_EQ(again.layout, found.layout);
        EXPECT_EQ(with_layer(config, again).parameters, config.parameters);
        EXPECT_EQ(with_layer(config, again).draws, config.draws);
    }
}

Tensors layers(const std::vector<std::string>& prefixes)
{
    Tensors tensors;
    for (const std::string& prefix : prefixes) {
        tensors.push_back({prefix + "c_attn.weight", {2, 6}});
    }
    return tensors;
}

TEST(Prefix, ChoosesTheLayerThatItNamesOrTheOneBelowIt)
{
    const Tensors tensors = layers({"h.1.attn.", "h.10.attn.", "g/attn/"});
    for (const auto& [prefix, expected] :
         {std::pair{"h.1.attn", "h.1.attn"}, {"h.1", "h.1.attn"}, {"h.10.", "h.10.attn"}, {"g/attn/", "g/attn"}}) {
        EXPECT_EQ(find_layer(tensors, recipe_with(1, prefix), "'f'").prefix, expected);
    }
    EXPECT_EQ(find_layer(layers({"", "h.1."}), recipe_with(1), "'f'").prefix, ""); // nothing before the names: that is the one
}

TEST(Prefix, IsAskedForWhereThereAreSeveralLayers)
{
    const Tensors tensors = layers({"h.1.attn.", "h.10.attn.", "g/attn/"});
    EXPECT_EQ(refusal(tensors, recipe_with(1)),
              "'f': got several layers; allowed: --prefix with one of 'g/attn', 'h.1.attn', 'h.10.attn'");
    EXPECT_EQ(refusal(tensors, recipe_with(1, "h")),
              "'f': got several layers; allowed: --prefix with one of 'h.1.attn', 'h.10.attn'");
    EXPECT_EQ(
        refusal(tensors, recipe_with(1, "h.11.attn")),
        "--prefix: got 'h.11.attn'; allowed: the layers of 'f': 'g/attn', 'h.1.attn', 'h.10.attn'; did you mean h.1.attn?");
    EXPECT_EQ(refusal(layers({""}), recipe_with(1, "x")),
              "--prefix: got 'x'; allowed: none, 'f' holds one layer, whose names have no prefix");
}

TEST(Prefix, DoesNotChooseBetweenTwoKindsOfNames)
{
    Tensors tensors = layers({""});
    for (const char* name : {"W_q", "W_k", "W_v"}) {
        tensors.push_back({name, {2, 2}});
    }
    EXPECT_EQ(refusal(tensors, recipe_with(1)), "'f': got names of two kinds, plain names and GPT-2; allowed: those of one");
}

TEST(Layout, IsAskedForOnlyWhereShapesReadBothWays)
{
    const Tensors square{{"W_q", {4, 4}}, {"W_k", {4, 4}}, {"W_v", {4, 4}}};
    EXPECT_NE(refusal(square, recipe_with()).find("'W_q' of 'f': got the shape (4, 4), which can be read both ways"),
              std::string::npos);
    for (const MatrixLayout layout : {MatrixLayout::in_out, MatrixLayout::out_in, MatrixLayout::run}) {
        const FittedLayer found = fitted(square, recipe_with({}, "", layout));
        EXPECT_EQ(source(found, Target::W_q).side, layout == MatrixLayout::in_out ? Side::right : Side::left);
    }
    // (6, 4) thrice may read 4 numbers and give 6, or the other way round, unless a table says how many a word has.
    Tensors same{{"W_q", {6, 4}}, {"W_k", {6, 4}}, {"W_v", {6, 4}}};
    EXPECT_NE(refusal(same, recipe_with()).find("both ways"), std::string::npos);
    same.push_back({"embedding", {3, 6}});
    EXPECT_EQ(fitted(same, recipe_with()).layout, MatrixLayout::in_out);
    Tensors output = known()[6].tensors; // W_q tells, W_o does not
    output[3].shape = {8, 8};
    for (StoredShape& tensor : output) {
        tensor.shape.back() = 8;
    }
    EXPECT_NE(refusal(output, recipe_with()).find("'W_o' of 'f': got the shape (8, 8)"), std::string::npos);
}

TEST(Layout, ThatTheShapesContradictIsRefused)
{
    const Known& in_out = known()[7];
    EXPECT_NE(refusal(in_out.tensors, recipe_with(2, "", MatrixLayout::out_in)).find("'m/W_v' of 'f': got the shape (5, 8)"),
              std::string::npos);
    EXPECT_EQ(refusal(known()[2].tensors, recipe_with(3, "", MatrixLayout::in_out)),
              "--layout: got in-out; allowed: out-in, as the matrices of BERT lie");
}

TEST(Heads, ComeFromStacksOrAreSaidOrAssumed)
{
    const Tensors& llama = known()[5].tensors;
    EXPECT_EQ(refusal(llama, recipe_with()),
              "--heads: got 1, as nothing else is said; allowed: 3, 6, 12, 24, into which the matrices of 'f' can be divided");
    EXPECT_EQ(refusal(llama, recipe_with(4)),
              "--heads: got 4; allowed: 3, 6, 12, 24, into which the matrices of 'f' can be divided");
    const Tensors uneven{{"q_proj.weight", {24, 5}}, {"k_proj.weight", {16, 5}}, {"v_proj.weight", {16, 5}}};
    EXPECT_EQ(refusal(uneven, recipe_with(3)),
              "'k_proj.weight' of 'f' (W_k): got the shape (16, 5); allowed: heads as large as "
              "those of 'q_proj.weight' of 'f' (W_q), (24, 5)");
    EXPECT_TRUE(fitted(known()[0].tensors, recipe_with()).heads_assumed);
    EXPECT_FALSE(fitted(known()[0].tensors, recipe_with(1)).heads_assumed);
    EXPECT_EQ(refusal(known()[6].tensors, recipe_with(3)), "--heads: got 3; allowed: 2, which follows from 'W_q' of 'f'");
}

std::string refusal_with(const char* name, const Shape& shape)
{
    Tensors tensors = known()[5].tensors; // D 10, W_q 24, W_k and W_v 8
    std::erase_if(tensors, [&](const StoredShape& tensor) { return tensor.name == name; });
    tensors.push_back({name, shape});
    return refusal(tensors, recipe_with(6));
}

TEST(Shapes, ThatDoNotBelongTogetherAreRefused)
{
    const std::vector<std::tuple<const char*, Shape, std::string>> cases{
        {"o_proj.weight", {9, 24}, "(W_o): got the shape (9, 24); allowed: (10, 24)"},
        {"o_proj.weight", {10, 23}, "(W_o): got the shape (10, 23); allowed: (10, 24)"},
        {"q_proj.bias", {8}, "(b_q): got the shape (8,); allowed: (24,)"},
        {"k_proj.bias", {2, 4}, "(b_k): got the shape (2, 4); allowed: (8,)"},
        {"v_proj.bias", {}, "(b_v): got the shape (); allowed: (8,)"},
        {"q_proj.weight",
         {24},
         "(W_q): got the shape (24,); allowed: (out, in), or with a matrix for each head three dimensions"},
        {"q_proj.weight",
         {24, 0},
         "(W_q): got the shape (24, 0); allowed: (out, in), or with a matrix for each head three dimensions"},
        {"q_proj.weight", {24, 1048577}, "(W_q): got the shape (24, 1048577); allowed: lengths up to 1048576"},
    };
    for (const auto& [name, shape, message] : cases) {
        EXPECT_EQ(refusal_with(name, shape), "'" + std::string(name) + "' of 'f' " + message);
    }
    EXPECT_EQ(refusal_with("embedding", {9, 11}),
              "'embedding' of 'f': got the shape (9, 11); allowed: rows of 10 numbers, as the matrices read");
}

TEST(WithLayer, LeavesOutWhatTheFileHoldsAndDrawsWhatItNeeds)
{
    const Recipe with_table = with_layer(recipe_with(), fitted(known()[6].tensors, recipe_with()));
    EXPECT_EQ(with_table.draws, (std::vector<Step>{Seed{123}}));
    EXPECT_TRUE(*with_table.parameters->output_projection);
    const Recipe separate = with_layer(recipe_with(4), fitted(known()[1].tensors, recipe_with(4)));
    const auto normal = [](Target target) { return Draw{.target = target, .init = Initialisation::normal}; };
    EXPECT_EQ(separate.draws, (std::vector<Step>{Seed{123}, normal(Target::embedding), normal(Target::key_embedding),
                                                 normal(Target::value_embedding)}));
    EXPECT_FALSE(*separate.parameters->output_projection);
    Tensors tables = known()[1].tensors;
    tables.push_back({"key_embedding", {9, 3}});
    const Recipe half = with_layer(separate, fitted(tables, separate)); // which draws that table too
    EXPECT_EQ(half.draws, (std::vector<Step>{Seed{123}, normal(Target::embedding), normal(Target::value_embedding)}));
    EXPECT_EQ(half.dims.vocab_size, 9);
}

/// 0, 1, 2, …
attn::StoredTensor counting(const Shape& shape)
{
    attn::StoredTensor tensor("t", ElementType::float32, shape);
    std::vector<float> values(static_cast<std::size_t>(attn::element_count(shape)));
    std::iota(values.begin(), values.end(), 0.0F);
    attn::store(tensor, 0, std::span<const float>(values));
    return tensor;
}

std::vector<float> part(const Shape& shape, const Source& source)
{
    const attn::StoredTensor whole = counting(shape);
    return attn::load<float>(stored_parameter(source, whole.view()).tensor).values;
}

TEST(StoredParameter, IsThePartOfTheOutputs)
{
    const Source second{Target::W_k, "t", {}, 1, 3, Side::left};
    EXPECT_EQ(part({6, 2}, second), (std::vector<float>{4, 5, 6, 7}));
    EXPECT_EQ(part({2, 6}, {Target::W_k, "t", {}, 1, 3, Side::right}), (std::vector<float>{2, 3, 8, 9}));
    EXPECT_EQ(part({6}, {Target::b_v, "t", {}, 2, 3, Side::left}), (std::vector<float>{4, 5}));
    EXPECT_EQ(part({1, 6}, {Target::b_v, "t", {}, 2, 3, Side::right}), (std::vector<float>{4, 5}));
    EXPECT_EQ(part({2, 2}, {Target::W_q, "t", {}, 0, 1, Side::left}), (std::vector<float>{0, 1, 2, 3}));
}

TEST(StoredParameter, MustBeOfAFloatingType)
{
    const attn::StoredTensor whole("t", ElementType::int64, {2});
    EXPECT_EQ(message_of([&] {
                  (void)stored_parameter({Target::b_q, "t", {2}}, whole.view());
              }),
              "type of 't': got int64; allowed: float16, bfloat16, float32, float64");
}

} // namespace
