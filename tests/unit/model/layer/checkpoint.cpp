#include "unit/model/layer/checkpoint_cases.hpp"

#include "attn/tensor/view.hpp"
#include "unit/error_of.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace {

using namespace attn::model;
using attn::ElementType;
using attn::Index;
using attn::Shape;

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
        "--prefix: got 'h.11.attn'; allowed: the layers of 'f': 'g/attn', 'h.1.attn', 'h.10.attn'; did you mean 'h.1.attn'?");
    EXPECT_EQ(refusal(layers({""}), recipe_with(1, "x")),
              "--prefix: got 'x'; allowed: no --prefix: 'f' holds one layer, whose names have none");
}

TEST(Prefix, DoesNotChooseBetweenTwoKindsOfNames)
{
    Tensors tensors = layers({""});
    for (const char* name : {"W_q", "W_k", "W_v"}) {
        tensors.push_back({name, {2, 2}});
    }
    EXPECT_EQ(refusal(tensors, recipe_with(1)), "'f': got names of two kinds, plain names and GPT-2; allowed: those of one");
    tensors = layers({"h.0.attn."});
    for (const char* name : {"W_q", "W_k", "W_v"}) {
        tensors.push_back({std::string("h.0.attn.") + name, {2, 2}});
    }
    for (const char* prefix : {"", "h", "h.0.attn"}) {
        EXPECT_EQ(refusal(tensors, recipe_with(1, prefix)),
                  "'f': got names of two kinds below 'h.0.attn', plain names and GPT-2; allowed: those of one");
    }
    std::ranges::move(layers({"h.1.attn.", "h.2.attn."}), std::back_inserter(tensors)); // of which one kind is there
    EXPECT_EQ(refusal(tensors, recipe_with(1)),
              "'f': got several layers; allowed: --prefix with one of 'h.1.attn', 'h.2.attn'");
}

/// Layers of Llama: h.1 without keys, h.10 without values, h.2 with all.
Tensors incomplete_layers(bool one_is_complete)
{
    Tensors tensors{{"h.1.q_proj.weight", {4, 4}},
                    {"h.1.v_proj.weight", {4, 4}},
                    {"h.10.q_proj.weight", {4, 4}},
                    {"h.10.k_proj.weight", {4, 4}},
                    {"h.10.o_proj.weight", {4, 4}}};
    for (const char* name : {"h.2.q_proj.weight", "h.2.k_proj.weight", "h.2.v_proj.weight"}) {
        if (one_is_complete) {
            tensors.push_back({name, {4, 4}});
        }
    }
    return tensors;
}

TEST(Prefix, OfAnIncompleteLayerIsToldWhatItLacks)
{
    for (const bool one_is_complete : {false, true}) {
        const Tensors tensors = incomplete_layers(one_is_complete);
        for (const auto& [prefix, missing] : {std::pair{"h.1", "'h.1.k_proj.weight' (W_k)"},
                                              {"h.1.", "'h.1.k_proj.weight' (W_k)"},
                                              {"h.10", "'h.10.v_proj.weight' (W_v)"}}) {
            EXPECT_NE(refusal(tensors, recipe_with(1, prefix)).find("'f': no tensor " + std::string(missing)),
                      std::string::npos)
                << prefix;
        }
    }
    EXPECT_EQ(fitted(incomplete_layers(true), recipe_with(1, "h")).layer.prefix, "h.2"); // the one below h that is whole
    EXPECT_EQ(
        refusal(incomplete_layers(true), recipe_with(1, "h.3")).find("--prefix: got 'h.3'; allowed: the layers of 'f': 'h.2'"),
        0);
}

TEST(OutputProjection, NeedsItsMatrixForItsBias)
{
    const Tensors tensors{{"in_proj_weight", {24, 8}}, {"out_proj.bias", {8}}};
    EXPECT_EQ(refusal(tensors, recipe_with(2)),
              "'out_proj.bias' of 'f' (b_o): got no W_o; allowed: both, or --no-output-projection");
    Recipe without = recipe_with(2);
    without.parameters->output_projection = false;
    EXPECT_EQ(fitted(tensors, without).layer.find(Target::b_o), nullptr);
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
attn::StoredTensor counting_tensor(const Shape& shape)
{
    attn::StoredTensor tensor("t", ElementType::float32, shape);
    std::vector<float> values(static_cast<std::size_t>(attn::element_count(shape)));
    std::iota(values.begin(), values.end(), 0.0F);
    attn::store(tensor, 0, std::span<const float>(values));
    return tensor;
}

std::vector<float> part(const Shape& shape, const Source& source)
{
    const attn::StoredTensor whole = counting_tensor(shape);
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

TEST(StoredParameter, MustBeOfNumbers)
{
    const attn::StoredTensor whole("t", ElementType::boolean, {2});
    EXPECT_EQ(error_of([&] {
                  (void)stored_parameter({Target::b_q, "t", {2}}, whole.view());
              }),
              "type of 't': got bool; allowed: float16, bfloat16, float32, float64, uint8, int32, int64");
}

} // namespace
