#include "attn/model/given.hpp"

#include "attn/model/parameters.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace {

using attn::Error;
using attn::ErrorKind;
using attn::model::Given;
using attn::model::Overrides;
using attn::model::Recipe;
using attn::model::Setting;

Overrides dims(const std::function<void(attn::model::Dims&)>& change)
{
    Overrides overrides;
    change(overrides.dims);
    return overrides;
}

/// Kind and message of what is wrong with the recipe.
std::pair<ErrorKind, std::string> fault_of(const Recipe& recipe, const Given& given)
{
    try {
        (void)attn::model::resolve(
            recipe, attn::model::Words{.tokens = {"a"}, .key_tokens = {}, .vocabulary = {}, .ids = {}, .key_ids = {}}, given);
    } catch (const Error& error) {
        return {error.kind(), error.what()};
    }
    return {ErrorKind::internal, "no error"};
}

TEST(Given, NamesOptionsByTheirDashesAndTheRestByItsKey)
{
    const Given none;
    EXPECT_EQ(none.name_of(Setting::embed_dim), "dims.embed_dim");
    EXPECT_EQ(none.name_of(Setting::cross), "input.cross");
    EXPECT_EQ(none.name_of(Setting::positions), "attention.positions");
    EXPECT_EQ(Given::all().name_of(Setting::embed_dim), "--embed-dim");
    EXPECT_EQ(Given::all().name_of(Setting::query), "--query");
    const Given heads(dims([](auto& d) { d.heads = 3; }));
    EXPECT_EQ(heads.name_of(Setting::heads), "--heads");
    EXPECT_EQ(heads.name_of(Setting::kv_heads), "dims.kv_heads");
}

TEST(Given, IsAMatterOfUsageWhenAnOptionTakesPart)
{
    EXPECT_EQ(Given().fault({Setting::heads, Setting::kv_heads}), ErrorKind::data);
    EXPECT_EQ(Given::all().fault({Setting::heads}), ErrorKind::usage);
    const Given heads(dims([](auto& d) { d.heads = 3; }));
    EXPECT_EQ(heads.fault({Setting::heads, Setting::kv_heads}), ErrorKind::usage);
    EXPECT_EQ(heads.fault({Setting::kv_heads}), ErrorKind::data);
}

TEST(Given, KnowsEachOptionThatLiesOverARecipe)
{
    EXPECT_TRUE(Given(dims([](auto& d) { d.embed_dim = 1; })).contains(Setting::embed_dim));
    EXPECT_TRUE(Given(dims([](auto& d) { d.kv_heads = 1; })).contains(Setting::kv_heads));
    EXPECT_TRUE(Given(dims([](auto& d) { d.d_k = 1; })).contains(Setting::d_k));
    EXPECT_TRUE(Given(dims([](auto& d) { d.d_v = 1; })).contains(Setting::d_v));
    EXPECT_TRUE(Given(dims([](auto& d) { d.vocab_size = 1; })).contains(Setting::vocab_size));
    Overrides overrides;
    overrides.input = attn::model::SentenceInput{"a", {}, {}, false};
    EXPECT_FALSE(Given(overrides).contains(Setting::ids));
    overrides.input = attn::model::IdsInput{{1}, {}};
    EXPECT_TRUE(Given(overrides).contains(Setting::ids));
    overrides.cross = "b";
    EXPECT_TRUE(Given(overrides).contains(Setting::cross));
    EXPECT_FALSE(Given(overrides).contains(Setting::query));
    EXPECT_FALSE(Given(overrides).contains(Setting::positions));
    overrides.positions = std::optional<attn::model::Positions>();
    EXPECT_TRUE(Given(overrides).contains(Setting::positions));
    overrides.query = {"a"};
    EXPECT_TRUE(Given(overrides).contains(Setting::query));
    overrides.embeddings = attn::model::FileEmbeddings{.file = "a.txt"};
    EXPECT_FALSE(Given(overrides).contains(Setting::unknown));
    overrides.embeddings->unknown = "<unk>";
    EXPECT_TRUE(Given(overrides).contains(Setting::unknown));
}

TEST(Resolve, BlamesWhoGaveTheNumbersThatDoNotFit)
{
    Recipe recipe;
    recipe.dims.heads = 3;
    const Given heads(dims([](auto& d) { d.heads = 3; }));
    const Given embed_dim(dims([](auto& d) { d.embed_dim = 16; }));
    EXPECT_EQ(fault_of(recipe, {}),
              std::pair(ErrorKind::data, std::string("dims.heads: got 3; allowed: a divisor of the embedding dimension 16 "
                                                     "(1, 2, 4, 8, 16), or give dims.d_k and dims.d_v")));
    EXPECT_EQ(fault_of(recipe, heads),
              std::pair(ErrorKind::usage, std::string("--heads: got 3; allowed: a divisor of the embedding dimension 16 "
                                                      "(1, 2, 4, 8, 16), or give --d-k and --d-v")));
    EXPECT_EQ(fault_of(recipe, embed_dim),
              std::pair(ErrorKind::usage,
                        std::string("--embed-dim: got 16; allowed: a multiple of the 3 heads, or give --d-k and --d-v")));
    recipe.dims.heads = 4;
    recipe.dims.kv_heads = 3;
    const std::string divisors = "kv_heads: got 3; allowed: a divisor of the 4 heads (1, 2, 4)";
    EXPECT_EQ(fault_of(recipe, {}), std::pair(ErrorKind::data, "dims." + divisors));
    EXPECT_EQ(fault_of(recipe, heads),
              std::pair(ErrorKind::usage,
                        std::string("--heads: got 4; allowed: a multiple of the 3 key/value heads, or give --kv-heads")));
    EXPECT_EQ(fault_of(recipe, Given(dims([](auto& d) { d.kv_heads = 3; }))),
              std::pair(ErrorKind::usage, std::string("--kv-heads: got 3; allowed: a divisor of the 4 heads (1, 2, 4)")));
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
    recipe.attention.positions = attn::model::Positions{.kind = attn::model::PositionKind::rope};
    EXPECT_EQ(fault_of(recipe, {}),
              std::pair(ErrorKind::data, std::string("dims.d_k (--d-k): got 7; allowed: an even number, since rope of "
                                                     "attention.positions (--positions) turns pairs, or "
                                                     "attention.positions.dim (--rope-dim) up to 6")));
    EXPECT_EQ(fault_of(recipe, Given::all()),
              std::pair(ErrorKind::usage, std::string("--d-k: got 7; allowed: an even number, since rope of --positions turns "
                                                      "pairs, or --rope-dim up to 6")));
    EXPECT_EQ(fault_of(recipe, Given(dims([](auto& d) { d.d_k = 7; }))).first, ErrorKind::usage);
    EXPECT_EQ(fault_of(recipe, Given(dims([](auto& d) { d.d_v = 7; }))).first, ErrorKind::data);
    Overrides positions;
    positions.positions = recipe.attention.positions;
    EXPECT_EQ(fault_of(recipe, Given(positions)).first, ErrorKind::usage);
    recipe.attention.positions->rope.dim = 8;
    EXPECT_EQ(
        fault_of(recipe, {}),
        std::pair(ErrorKind::data, std::string("attention.positions.dim (--rope-dim): got 8; allowed: an even number up to "
                                               "the 7 of dims.d_k (--d-k), the numbers of a query or key")));
    recipe.attention.positions->rope.dim = 6;
    EXPECT_EQ(fault_of(recipe, {}).second, "no error");
    recipe.attention.positions = attn::model::Positions{.kind = attn::model::PositionKind::alibi};
    EXPECT_EQ(fault_of(recipe, {}).second, "no error");
    recipe.attention.positions = attn::model::Positions{.kind = attn::model::PositionKind::rope};
    recipe.dims = {.embed_dim = 15, .heads = 3};
    EXPECT_EQ(fault_of(recipe, {}).first, ErrorKind::data);
    EXPECT_EQ(fault_of(recipe, Given(dims([](auto& d) { d.heads = 3; }))).first, ErrorKind::usage);
}

} // namespace
