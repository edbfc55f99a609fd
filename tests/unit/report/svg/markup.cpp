#include "attn/report/svg/markup.hpp"

#include <gtest/gtest.h>

namespace {

using attn::report::attribute;
using attn::report::drawable;
using attn::report::escaped;
using attn::report::hex;
using attn::report::length;

TEST(Markup, EscapesWhatXmlReadsAsMarkup)
{
    EXPECT_EQ(escaped("<script>alert(1)</script>"), "&lt;script&gt;alert(1)&lt;/script&gt;");
    EXPECT_EQ(escaped("\"&'"), "&quot;&amp;&#39;");
    EXPECT_EQ(escaped("]]>"), "]]&gt;");
    EXPECT_EQ(escaped("\u4eba \U0001f600 e\u0301"), "\u4eba \U0001f600 e\u0301");
}

TEST(Markup, ShowsWhatXmlCannotHold)
{
    EXPECT_EQ(drawable("a\x1b[31mb\x01\x7f"), "a\\x1b[31mb\\x01\\x7f");
    EXPECT_EQ(drawable("a\uFFFEb\uFFFF\uFFFE"), "a\\ufffeb\\uffff\\ufffe");
    EXPECT_EQ(drawable("\u202egnirts"), "\\u202egnirts");
    EXPECT_EQ(drawable("\uFFFD\uFFFC"), "\uFFFD\uFFFC");
}

TEST(Markup, WritesLengthsShort)
{
    EXPECT_EQ(length(0), "0");
    EXPECT_EQ(length(12), "12");
    EXPECT_EQ(length(0.5), "0.5");
    EXPECT_EQ(length(-3.25), "-3.25");
    EXPECT_EQ(length(1.005), "1"); // just below in binary
    EXPECT_EQ(length(1.006), "1.01");
    EXPECT_EQ(length(10.07), "10.07");
    EXPECT_EQ(length(-0.004), "0");
    EXPECT_EQ(length(8192.999), "8193");
}

TEST(Markup, WritesAttributes)
{
    EXPECT_EQ(attribute("x", 12.5), " x=\"12.5\"");
    EXPECT_EQ(attribute("fill", "#fff"), " fill=\"#fff\"");
}

TEST(Markup, WritesColoursInHex)
{
    EXPECT_EQ(hex({0, 34, 78}), "#00224e");
    EXPECT_EQ(hex({255, 255, 255}), "#ffffff");
}

} // namespace
