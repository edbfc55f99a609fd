#include "attn/model/run/memory.hpp"

#include "attn/model/recipe/overrides.hpp"
#include "attn/tensor/error.hpp"
#include "unit/error_of.hpp"

#include <gtest/gtest.h>

namespace {

using namespace attn::model;

/// Words numbered from 0.
Recipe words(int count)
{
    Recipe recipe = default_recipe();
    auto& input = std::get<SentenceInput>(recipe.input);
    for (int i = 0; i < count; ++i) {
        input.sentence += "w" + std::to_string(i) + " ";
    }
    return recipe;
}

Memory memory_of(const Recipe& recipe, const Show& show)
{
    const Words read = read_words(recipe);
    return required_memory(recipe, resolve(recipe, read), read.T(), show);
}

std::string message_of(const Memory& memory, attn::Index limit)
{
    return error_of(attn::ErrorKind::too_large, [&] { require_memory(memory, limit); });
}

TEST(Memory, IsTheSumOfDrawsAndArrays)
{
    const Memory memory = memory_of(words(100), {Item::weights});
    EXPECT_EQ(memory.total, memory.draws + memory.arrays);
    EXPECT_GE(memory.draws, (100 * 16 + (24 + 24 + 28) * 16) * 4);
    EXPECT_EQ(memory_of(words(100), {}).arrays, memory.arrays - 100 * 100 * 4);
    EXPECT_EQ(memory.largest_draw, "draws[1], embedding (100, 16)");
}

TEST(Memory, OfWhatIsTooLargeGivesAdviceThatHelps)
{
    const std::string arrays = message_of(memory_of(words(100), {Item::weights}), 9'999);
    EXPECT_TRUE(arrays.starts_with("the arrays asked for need ")) << arrays;
    EXPECT_NE(arrays.find(" bytes (0.00 GiB) and 9,999 bytes (0.00 GiB) are free"), std::string::npos) << arrays;
    EXPECT_NE(arrays.find("--query"), std::string::npos) << arrays;

    Recipe wide = words(2);
    wide.dims.vocab_size = attn::Index{1} << 31;
    const std::string draws = message_of(memory_of(wide, {Item::weights}), attn::Index{1} << 30);
    EXPECT_TRUE(draws.starts_with("the draws need 412,316,8")) << draws; // 2^35 float32 and the same in double
    EXPECT_NE(draws.find("(384.00 GiB) (the largest: draws[1], embedding (2147483648, 16))"), std::string::npos) << draws;
    EXPECT_NE(draws.find("and 1,073,741,824 bytes (1.00 GiB) are free"), std::string::npos) << draws;
    EXPECT_NE(draws.find("--vocab-size"), std::string::npos) << draws;
    EXPECT_EQ(draws.find("--query"), std::string::npos) << draws;
}

/// In double, a row a word and one for the unknown word; and once more in float32 where parameters are shown.
TEST(Memory, OfATableOfAFileIsNoMatterOfOptions)
{
    Overrides overrides;
    overrides.set(field::embeddings_file, "a.txt");
    Recipe recipe = apply(words(1000), overrides);
    recipe.dims.embed_dim = 100;
    const Memory known = memory_of(recipe, {Item::weights});
    EXPECT_GE(known.draws, 1000 * 100 * 8);
    EXPECT_EQ(memory_of(recipe, {Item::weights, Item::parameters}).draws, known.draws + 1000 * 100 * 4);
    const Words read = read_words(recipe);
    const Memory in_place = required_memory(recipe, resolve(recipe, read), read.T(), {Item::weights}, 5);
    EXPECT_EQ(in_place.draws, known.draws - 1000 * 100 * 8 + 5);
    recipe.embeddings->unknown = "w1";
    EXPECT_EQ(memory_of(recipe, {Item::weights}).draws, known.draws + 100 * 8);
    recipe.dims.vocab_size = 1'000'000;
    const std::string message = message_of(memory_of(recipe, {Item::weights}), 9'999);
    EXPECT_TRUE(message.starts_with("the parameters, of files and drawn, need 8")) << message;
    EXPECT_EQ(message.find("--"), std::string::npos) << message;
}

TEST(Memory, ThatIsThereIsEnough)
{
    const Memory memory = memory_of(words(3), {});
    EXPECT_EQ(message_of(memory, memory.total), "no error");
    EXPECT_NE(message_of(memory, memory.total - 1), "no error");
}

} // namespace
