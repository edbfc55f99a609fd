#include "unit/model/layer/checkpoint_cases.hpp"

#include <gtest/gtest.h>

namespace {

using namespace attn::model;
using attn::ErrorKind;
using attn::Shape;

TEST(Layout, IsAskedForOnlyWhereShapesReadBothWays)
{
    const Tensors square{{"W_q", {4, 4}}, {"W_k", {4, 4}}, {"W_v", {4, 4}}};
    EXPECT_NE(refusal(square, recipe_with()).find("'W_q' of 'f': got the shape (4, 4), which fits both layouts"),
              std::string::npos);
    for (const MatrixLayout layout : {MatrixLayout::in_out, MatrixLayout::out_in, MatrixLayout::run}) {
        const FittedLayer found = fitted(square, recipe_with({}, "", layout));
        EXPECT_EQ(found.layer.find(Target::W_q)->side, layout == MatrixLayout::in_out ? Side::right : Side::left);
    }
    // (6, 4) thrice may read 4 numbers and give 6, or the other way round, unless a table says how many a word has.
    Tensors same{{"W_q", {6, 4}}, {"W_k", {6, 4}}, {"W_v", {6, 4}}};
    EXPECT_NE(refusal(same, recipe_with()).find("fits both layouts"), std::string::npos);
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
              "--set parameters.layout: got in-out; allowed: out-in, the order of BERT");
}

TEST(Heads, ComeFromStacksOrAreSaidOrAssumed)
{
    const Tensors& llama = known()[5].tensors;
    EXPECT_EQ(refusal(llama, recipe_with(), ErrorKind::usage),
              "--heads: got 1, the default; allowed: 3, 6, 12, 24, into which the matrices of 'f' can be divided");
    EXPECT_EQ(refusal(llama, recipe_with(4), ErrorKind::usage),
              "--heads: got 4; allowed: 3, 6, 12, 24, into which the matrices of 'f' can be divided");
    const Tensors uneven{{"q_proj.weight", {24, 5}}, {"k_proj.weight", {16, 5}}, {"v_proj.weight", {16, 5}}};
    EXPECT_EQ(refusal(uneven, recipe_with(3)),
              "'k_proj.weight' of 'f' (W_k): got the shape (16, 5); allowed: heads as large as "
              "those of 'q_proj.weight' of 'f' (W_q), (24, 5)");
    EXPECT_TRUE(fitted(known()[0].tensors, recipe_with()).heads_assumed);
    EXPECT_FALSE(fitted(known()[0].tensors, recipe_with(1)).heads_assumed);
    EXPECT_EQ(refusal(known()[6].tensors, recipe_with(3), ErrorKind::usage),
              "--heads: got 3; allowed: 2, which follows from 'W_q' of 'f'");
}

TEST(Shapes, OfAFusedMatrixAreReadOneWay)
{
    // W_o does not tell, or is not there: D is what goes in, and a third of what comes out.
    for (const bool turned : {false, true}) {
        const Tensors whole{{"c_attn.weight", turned ? Shape{9, 27} : Shape{27, 9}}, {"c_proj.weight", {9, 9}}};
        for (const Tensors& tensors : {whole, Tensors{whole[0]}}) {
            for (const std::optional<bool> output : {std::optional<bool>(), std::optional(false)}) {
                Recipe recipe = recipe_with(3);
                recipe.parameters->output_projection = output;
                EXPECT_EQ(fitted(tensors, recipe).dims, (Dims{9, 3, 3, 3, 3, {}}));
            }
        }
    }
    EXPECT_EQ(refusal({{"in_proj_weight", {24, 6}}}, recipe_with(2)),
              "'in_proj_weight' of 'f' (W_q): got the shape (24, 6); allowed: (3·D, D), or (D, 3·D) in GPT-2");
    EXPECT_EQ(refusal({{"c_attn.weight", {27, 9}}}, recipe_with(3, "", MatrixLayout::in_out)),
              "'c_attn.weight' of 'f' (W_q): got the shape (27, 9); allowed: (D, 3·D) with that layout");
}

TEST(Shapes, OfAnOutputProjectionThatIsNotAppliedTellTheLayout)
{
    // Two heads of (3, 4) read 4 numbers and give 6, or read 3 and give 8.
    const Tensors stacks{{"W_q", {2, 3, 4}}, {"W_k", {2, 3, 4}}, {"W_v", {2, 3, 4}}};
    EXPECT_NE(refusal(stacks, recipe_with()).find("fits both layouts"), std::string::npos);
    Recipe without = recipe_with();
    without.parameters->output_projection = false;
    for (const auto& [shape, D, layout] : {std::tuple{Shape{6, 4}, 4, MatrixLayout::out_in},
                                           {Shape{4, 6}, 4, MatrixLayout::out_in},
                                           {Shape{8, 3}, 3, MatrixLayout::in_out}}) {
        Tensors tensors = stacks;
        tensors.push_back({"W_o", shape});
        EXPECT_EQ(fitted(tensors, recipe_with()).dims.embed_dim, D);
        const FittedLayer found = fitted(tensors, without);
        EXPECT_EQ(found.dims.embed_dim, D);
        EXPECT_EQ(found.layout, layout);
        EXPECT_EQ(found.layer.find(Target::W_o), nullptr);
    }
    Tensors none = stacks; // one that fits no reading says nothing, and may be left out
    none.push_back({"W_o", {5, 5}});
    EXPECT_NE(refusal(none, without).find("'W_q' of 'f': got the shape (2, 3, 4), which fits both layouts"), std::string::npos);
    without.parameters->layout = MatrixLayout::in_out;
    EXPECT_EQ(fitted(none, without).dims.embed_dim, 3);
}

TEST(Shapes, OfTheOutputProjectionSayHowWideTheOutputIs)
{
    Tensors tensors = known()[5].tensors; // D 10, heads 6, W_v 8 of 2 heads: 24 numbers of a word's context
    std::erase_if(tensors, [](const StoredShape& tensor) { return tensor.name == "o_proj.weight"; });
    EXPECT_EQ(fitted(tensors, recipe_with(6)).dims.output_dim, std::nullopt);
    tensors.push_back({"o_proj.weight", {9, 24}});
    EXPECT_EQ(fitted(tensors, recipe_with(6)).dims.output_dim, 9);
    tensors.back().shape = {10, 24};
    EXPECT_EQ(fitted(tensors, recipe_with(6)).dims.output_dim, std::nullopt);
}

TEST(Shapes, OfKeysAndValuesReadOtherWidthsOnlyWhereALayerCan)
{
    const Tensors llama{{"q_proj.weight", {8, 8}}, {"k_proj.weight", {8, 9}}, {"v_proj.weight", {8, 9}}};
    const std::string message =
        "'k_proj.weight' of 'f' (W_k): got the shape (8, 9); allowed: a matrix that reads 8 components per word, not 9";
    EXPECT_EQ(refusal(llama, recipe_with(2)), message);
    Tensors tables = llama;
    tables.push_back({"key_embedding", {5, 9}});
    EXPECT_EQ(fitted(tables, recipe_with(2)).dims, (Dims{8, 2, 2, 4, 4, 5, 9}));
    const Tensors bert{{"self.query.weight", {8, 8}}, {"self.key.weight", {8, 8}}, {"self.value.weight", {8, 7}}};
    EXPECT_NE(refusal(bert, recipe_with(2)).find("(W_v): got the shape (8, 7); allowed: a matrix that reads 8 components"),
              std::string::npos);
    const Tensors plain{{"W_q", {2, 4, 8}}, {"W_k", {2, 4, 9}}, {"W_v", {2, 4, 9}}};
    EXPECT_NE(refusal(plain, recipe_with(2, "", MatrixLayout::out_in)).find("not 9"), std::string::npos);
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
        {"o_proj.weight", {10, 23}, "(W_o): got the shape (10, 23); allowed: (out, 24)"},
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

} // namespace
