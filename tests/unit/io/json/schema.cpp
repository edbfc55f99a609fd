#include "attn/io/json/schema.hpp"

#include <gtest/gtest.h>

namespace {

using attn::io::json_schema;

TEST(Schema, SaysOfAFieldWhatItsTableSays)
{
    constexpr const char* dim = R"--(
            "dim": {
              "type": "integer",
              "minimum": 2,
              "maximum": 1048576,
              "multipleOf": 2,
              "description": "number of leading components to rotate, even (default d_k)"
            },)--";
    EXPECT_NE(json_schema("recipe").find(dim), std::string::npos);
}

TEST(Schema, SaysOfAnArrayItsDimensions)
{
    constexpr const char* entropy = R"(
        "entropy": {
          "$ref": "#/$defs/matrix",
          "description": "(H, T), in nats"
        },)";
    EXPECT_NE(json_schema("result").find(entropy), std::string::npos);
}

TEST(Schema, OfResultsAndExplanationsHoldsTheOneOfRecipes)
{
    for (const char* const name : {"result", "explanation"}) {
        const std::string schema = json_schema(name);
        EXPECT_EQ(schema.find("recipe.json"), std::string::npos) << name;
        EXPECT_NE(schema.find("attn-cli/recipe/1"), std::string::npos) << name;
    }
}

} // namespace
