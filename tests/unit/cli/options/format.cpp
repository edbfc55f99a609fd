#include "cli/options/format.hpp"

#include "attn/tensor/error.hpp"

#include <gtest/gtest.h>

#include <array>

namespace {

using attn::cli::Format;

constexpr std::array tables{Format::table, Format::json, Format::csv};
constexpr std::array tensors{Format::json, Format::npy, Format::npz, Format::safetensors};

Format decide(const std::optional<std::string>& format, bool json, const std::optional<std::string>& output,
              std::span<const Format> allowed = tables)
{
    return attn::cli::decide_format({.format = format, .path = output, .json = json, .digits = {}, .notation = {}}, allowed);
}

TEST(Format, IsATableUnlessSomethingSaysOtherwise)
{
    EXPECT_EQ(decide({}, false, {}), Format::table);
    EXPECT_EQ(decide({}, false, "-"), Format::table);
    EXPECT_EQ(decide({}, false, "out"), Format::table);
    EXPECT_EQ(decide({}, false, "some.dir/out"), Format::table);
    EXPECT_EQ(decide({}, false, "out.json/out"), Format::table);
}

TEST(Format, FollowsTheEnding)
{
    EXPECT_EQ(decide({}, false, "out.json"), Format::json);
    EXPECT_EQ(decide({}, false, "OUT.JSON"), Format::json);
    EXPECT_EQ(decide({}, false, "a.b/out.csv"), Format::csv);
    EXPECT_EQ(decide({}, false, "out.txt"), Format::table);
    EXPECT_EQ(decide("csv", false, "out.dat"), Format::csv);
}

TEST(Format, MayHaveAnEndingOfTwoParts)
{
    constexpr std::array with_recipes{Format::table, Format::json, Format::recipe};
    EXPECT_EQ(decide({}, false, "my.Recipe.json", with_recipes), Format::recipe);
    EXPECT_EQ(decide({}, false, "a/.recipe.json", with_recipes), Format::json); // the name of a file
    EXPECT_EQ(decide({}, false, "myrecipe.json", with_recipes), Format::json);
    EXPECT_EQ(decide({}, false, "my.recipe.json"), Format::json); // where no recipe is written
    EXPECT_THROW((void)decide({}, true, "my.recipe.json", with_recipes), attn::Error);
}

TEST(Format, MayBeSaidTwiceButNotDifferently)
{
    EXPECT_EQ(decide("json", true, "out.json"), Format::json);
    EXPECT_THROW((void)decide("csv", true, {}), attn::Error);
    EXPECT_THROW((void)decide("csv", false, "out.json"), attn::Error);
    EXPECT_THROW((void)decide({}, true, "out.txt"), attn::Error);
}

TEST(Format, IsTheFirstOfThoseAllowedUnlessSomethingSaysOtherwise)
{
    EXPECT_EQ(decide({}, false, {}, tensors), Format::json);
    EXPECT_EQ(decide({}, false, "y.NPY", tensors), Format::npy);
    EXPECT_EQ(decide({}, false, "y.npz", tensors), Format::npz);
    EXPECT_EQ(decide({}, false, "y.safetensors", tensors), Format::safetensors);
    EXPECT_EQ(decide("npz", false, "y", tensors), Format::npz);
    EXPECT_THROW((void)decide("table", false, {}, tensors), attn::Error);
    EXPECT_THROW((void)decide({}, false, "y.txt", tensors), attn::Error);
    EXPECT_THROW((void)decide("npy", false, "y.npz", tensors), attn::Error);
}

TEST(Format, RefusesAnUnknownEndingUnlessTheFormatIsSaid)
{
    for (const char* name : {"out.jsn", "a/out.dat", "out.2024", "a.b.c"}) {
        EXPECT_THROW((void)decide({}, false, name), attn::Error) << name;
        EXPECT_EQ(decide({}, true, name), Format::json) << name;
    }
    for (const char* name : {".hidden", "out.", "..", "a/.b"}) {
        EXPECT_EQ(decide({}, false, name), Format::table) << name;
    }
}

TEST(Format, RefusesEndingsOfFormatsItDoesNotWrite)
{
    for (const char* name : {"out.npz", "out.npy", "out.safetensors", "out.svg", "out.html"}) {
        EXPECT_THROW((void)decide({}, false, name), attn::Error) << name;
        EXPECT_THROW((void)decide("json", false, name), attn::Error) << name;
    }
}

} // namespace
