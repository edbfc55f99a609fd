#include "cli/format.hpp"

#include "attn/tensor/error.hpp"

#include <gtest/gtest.h>

#include <array>

namespace {

using attn::cli::Format;

constexpr std::array tables{Format::table, Format::json, Format::csv};
constexpr std::array tensors{Format::json, Format::npy, Format::npz, Format::safetensors};

Format decide_format(const std::optional<std::string>& format, bool json, const std::optional<std::string>& output,
                     std::span<const Format> allowed = tables)
{
    return attn::cli::decide_format(format, json, output, allowed);
}

TEST(Format, IsATableUnlessSomethingSaysOtherwise)
{
    EXPECT_EQ(decide_format({}, false, {}), Format::table);
    EXPECT_EQ(decide_format({}, false, "-"), Format::table);
    EXPECT_EQ(decide_format({}, false, "out"), Format::table);
    EXPECT_EQ(decide_format({}, false, "some.dir/out"), Format::table);
    EXPECT_EQ(decide_format({}, false, "out.json/out"), Format::table);
}

TEST(Format, FollowsTheEnding)
{
    EXPECT_EQ(decide_format({}, false, "out.json"), Format::json);
    EXPECT_EQ(decide_format({}, false, "OUT.JSON"), Format::json);
    EXPECT_EQ(decide_format({}, false, "a.b/out.csv"), Format::csv);
    EXPECT_EQ(decide_format({}, false, "out.txt"), Format::table);
    EXPECT_EQ(decide_format("csv", false, "out.dat"), Format::csv);
}

TEST(Format, MayBeSaidTwiceButNotDifferently)
{
    EXPECT_EQ(decide_format("json", true, "out.json"), Format::json);
    EXPECT_THROW((void)decide_format("csv", true, {}), attn::Error);
    EXPECT_THROW((void)decide_format("csv", false, "out.json"), attn::Error);
    EXPECT_THROW((void)decide_format({}, true, "out.txt"), attn::Error);
}

TEST(Format, IsTheFirstOfThoseAllowedUnlessSomethingSaysOtherwise)
{
    EXPECT_EQ(decide_format({}, false, {}, tensors), Format::json);
    EXPECT_EQ(decide_format({}, false, "y.NPY", tensors), Format::npy);
    EXPECT_EQ(decide_format({}, false, "y.npz", tensors), Format::npz);
    EXPECT_EQ(decide_format({}, false, "y.safetensors", tensors), Format::safetensors);
    EXPECT_EQ(decide_format("npz", false, "y", tensors), Format::npz);
    EXPECT_THROW((void)decide_format("table", false, {}, tensors), attn::Error);
    EXPECT_THROW((void)decide_format({}, false, "y.txt", tensors), attn::Error);
    EXPECT_THROW((void)decide_format("npy", false, "y.npz", tensors), attn::Error);
}

TEST(Format, RefusesEndingsOfFormatsItDoesNotWrite)
{
    for (const char* name : {"out.npz", "out.npy", "out.safetensors", "out.svg", "out.html"}) {
        EXPECT_THROW((void)decide_format({}, false, name), attn::Error) << name;
        EXPECT_THROW((void)decide_format("json", false, name), attn::Error) << name;
    }
}

} // namespace
