#include "cli/format.hpp"

#include "attn/tensor/error.hpp"

#include <gtest/gtest.h>

namespace {

using attn::cli::decide_format;
using attn::cli::Format;

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

TEST(Format, RefusesAnUnknownEndingUnlessTheFormatIsSaid)
{
    for (const char* name : {"out.jsn", "a/out.dat", "out.2024", "a.b.c"}) {
        EXPECT_THROW((void)decide_format({}, false, name), attn::Error) << name;
        EXPECT_EQ(decide_format({}, true, name), Format::json) << name;
    }
    for (const char* name : {".hidden", "out.", "..", "a/.b"}) {
        EXPECT_EQ(decide_format({}, false, name), Format::table) << name;
    }
}

TEST(Format, RefusesEndingsOfFormatsItDoesNotWrite)
{
    for (const char* name : {"out.npz", "out.npy", "out.safetensors", "out.svg", "out.html"}) {
        EXPECT_THROW((void)decide_format({}, false, name), attn::Error) << name;
        EXPECT_THROW((void)decide_format("json", false, name), attn::Error) << name;
    }
}

} // namespace
