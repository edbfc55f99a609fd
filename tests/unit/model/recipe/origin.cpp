#include "attn/model/layer/parameters.hpp"
#include "unit/model/recipe/option_names.hpp"

#include <gtest/gtest.h>

namespace {

using namespace attn::model;
using attn::Error;
using attn::ErrorKind;
using attn::Index;

/// Of a recipe over which these values lie.
Origin from(std::initializer_list<std::pair<const FieldInfo*, FieldValue>> values)
{
    Overrides overrides;
    for (const auto& [field, value] : values) {
        overrides.set(*field, value);
    }
    return {overrides, option_name};
}

/// Kind and message of what is wrong with the recipe.
std::pair<ErrorKind, std::string> fault_of(const Recipe& recipe, const Origin& origin)
{
    try {
        (void)resolve(recipe, Words{.tokens = {"a"}, .key_tokens = {}, .vocabulary = {}, .ids = {}, .key_ids = {}}, origin);
    } catch (const Error& error) {
        return {error.kind(), error.what()};
    }
    return {ErrorKind::internal, "no error"};
}

TEST(Origin, NamesOptionsByTheirDashesAndTheRestByItsKey)
{
    const Origin file;
    EXPECT_EQ(file.name_of(field::embed_dim), "dims.embed_dim");
    EXPECT_EQ(file.name_of(field::cross), "input.cross");
    EXPECT_EQ(file.name_of(field::positions), "attention.positions.kind");
    EXPECT_EQ(file.option_of(field::heads), "");
    EXPECT_EQ(options_alone().name_of(field::embed_dim), "--embed-dim");
    EXPECT_EQ(options_alone().name_of(field::query), "--query");
    const Origin heads = from({{&field::heads, 3}});
    EXPECT_EQ(heads.name_of(field::heads), "--heads");
    EXPECT_EQ(heads.name_of(field::kv_heads), "dims.kv_heads");
    EXPECT_EQ(heads.option_of(field::kv_heads), "--kv-heads");
}

TEST(Origin, IsAMatterOfUsageWhenAnOptionTakesPart)
{
    EXPECT_EQ(Origin().fault({&field::heads, &field::kv_heads}), ErrorKind::data);
    EXPECT_EQ(options_alone().fault({&field::heads}), ErrorKind::usage);
    const Origin heads = from({{&field::heads, 3}});
    EXPECT_EQ(heads.fault({&field::heads, &field::kv_heads}), ErrorKind::usage);
    EXPECT_EQ(heads.fault({&field::kv_heads}), ErrorKind::data);
}

TEST(Origin, KnowsEachFieldThatLiesOverARecipe)
{
    for (const FieldInfo* f : field::all) {
        const Origin origin = from({{f, {}}});
        for (const FieldInfo* other : field::all) {
            EXPECT_EQ(origin.from_option(*other), f == other) << f->key << " " << other->key;
        }
    }
}

TEST(Origin, KeepsWhoSaidWhatBesideATableOfAFile)
{
    const Origin heads = from({{&field::heads, 3}}).with_table_of("'f'");
    EXPECT_EQ(heads.name_of(field::heads), "--heads");
    EXPECT_EQ(heads.table(), "the embedding table of 'f'");
    EXPECT_EQ(heads.with_table_of("").table(), "");
}

TEST(Resolve, BlamesWhoGaveTheNumbersThatDoNotFit)
{
    Recipe recipe;
    recipe.dims.heads = 3;
    const Origin heads = from({{&field::heads, 3}});
    const Origin embed_dim = from({{&field::embed_dim, 16}});
    EXPECT_EQ(
        fault_of(recipe, {}),
        std::pair(
            ErrorKind::data,
            std::string(
                "dims.heads: got 3; allowed: a divisor of the embedding dimension 16, or any with dims.d_k and dims.d_v")));
    EXPECT_EQ(fault_of(recipe, heads),
              std::pair(ErrorKind::usage,
                        std::string(
                            "--heads: got 3; allowed: a divisor of the embedding dimension 16, or any with --d-k and --d-v")));
    EXPECT_EQ(fault_of(recipe, embed_dim),
              std::pair(ErrorKind::usage,
                        std::string("--embed-dim: got 16; allowed: a multiple of the 3 heads, or any with --d-k and --d-v")));
    recipe.dims.heads = 4;
    recipe.dims.kv_heads = 3;
    const std::string divisors = "kv_heads: got 3; allowed: a divisor of the number of heads, 4";
    EXPECT_EQ(fault_of(recipe, {}), std::pair(ErrorKind::data, "dims." + divisors));
    EXPECT_EQ(fault_of(recipe, heads),
              std::pair(ErrorKind::usage,
                        std::string("--heads: got 4; allowed: a multiple of the 3 key/value heads, or give --kv-heads")));
    EXPECT_EQ(fault_of(recipe, from({{&field::kv_heads, 3}})),
              std::pair(ErrorKind::usage, std::string("--kv-heads: got 3; allowed: a divisor of the number of heads, 4")));
    recipe.dims = {};
    recipe.dims.heads = recipe.dims.d_k = recipe.dims.d_v = 1048576;
    const std::string product = "got 1048576 times 1048576; allowed: a product up to 2147483647";
    EXPECT_EQ(fault_of(recipe, {}), std::pair(ErrorKind::data, "dims.heads times dims.d_k: " + product));
    EXPECT_EQ(fault_of(recipe, heads), std::pair(ErrorKind::usage, "--heads times dims.d_k: " + product));
    recipe.dims.d_k = 1;
    EXPECT_EQ(fault_of(recipe, {}), std::pair(ErrorKind::data, "dims.heads times dims.d_v: " + product));
}

TEST(Resolve, BlamesWhoGaveARopeThatDoesNotTurnPairs)
{
    Recipe recipe;
    recipe.dims.d_k = 7;
    recipe.attention.positions = Positions{.kind = PositionKind::rope};
    EXPECT_EQ(fault_of(recipe, {}),
              std::pair(ErrorKind::data,
                        std::string("dims.d_k: got 7; allowed: an even number, since rope of attention.positions.kind rotates "
                                    "pairs of components, or attention.positions.dim up to 6")));
    EXPECT_EQ(
        fault_of(recipe, options_alone()),
        std::pair(ErrorKind::usage, std::string("--d-k: got 7; allowed: an even number, since rope of --positions rotates "
                                                "pairs of components, or --positions rope:dim up to 6")));
    EXPECT_EQ(fault_of(recipe, from({{&field::d_v, 7}})),
              std::pair(ErrorKind::data, std::string("dims.d_k (--d-k): got 7; allowed: an even number, since rope of "
                                                     "attention.positions.kind (--positions) rotates pairs of components, or "
                                                     "attention.positions.dim (--positions rope:dim) up to 6")));
    EXPECT_EQ(fault_of(recipe, from({{&field::d_k, 7}})).first, ErrorKind::usage);
    EXPECT_EQ(fault_of(recipe, from({{&field::d_v, 7}})).first, ErrorKind::data);
    EXPECT_EQ(fault_of(recipe, from({{&field::positions, static_cast<Index>(PositionKind::rope)}})).first, ErrorKind::usage);
    recipe.attention.positions->rope.dim = 8;
    EXPECT_EQ(fault_of(recipe, {}),
              std::pair(ErrorKind::data,
                        std::string("attention.positions.dim: got 8; allowed: an even number up to 7, which is dims.d_k")));
    recipe.attention.positions->rope.dim = 6;
    EXPECT_EQ(fault_of(recipe, {}).second, "no error");
    recipe.attention.positions = Positions{.kind = PositionKind::alibi};
    EXPECT_EQ(fault_of(recipe, {}).second, "no error");
    recipe.attention.positions = Positions{.kind = PositionKind::rope};
    recipe.dims = {.embed_dim = 15, .heads = 3};
    EXPECT_EQ(fault_of(recipe, {}).first, ErrorKind::data);
    EXPECT_EQ(fault_of(recipe, from({{&field::heads, 3}})).first, ErrorKind::usage);
}

} // namespace
