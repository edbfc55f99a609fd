#include "attn/io/builtin.hpp"

#include <gtest/gtest.h>

namespace {

std::size_t count(std::string_view text, std::string_view part)
{
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) {
        ++found;
    }
    return found;
}

TEST(BuiltinPage, HasAPlaceForEachOfItsParts)
{
    const auto page = attn::io::builtin_page();
    for (const char* part :
         {"{{style_hash}}", "{{script_hash}}", "{{style}}", "{{script}}", "{{declared}}", "{{asked}}", "{{result}}"}) {
        EXPECT_EQ(count(page.frame, part), 1) << part;
    }
    EXPECT_EQ(count(page.frame, "{{"), 7);
    EXPECT_TRUE(page.script.starts_with("\"use strict\";"));
}

TEST(BuiltinPage, AsksForNothingAndTurnsNoTextIntoMarkup)
{
    const auto page = attn::io::builtin_page();
    for (const std::string_view text : {page.frame, page.style, page.script}) {
        for (const char* word :
             {"src=", "url(", "@import", "fetch(", "XMLHttpRequest", "WebSocket", "sendBeacon", "innerHTML", "outerHTML",
              "insertAdjacentHTML", "document.write", "eval(", "new Function", "onclick=", "style="}) {
            EXPECT_EQ(count(text, word), 0) << word;
        }
    }
    EXPECT_EQ(count(page.script, "</"), 0) << "would end the element that holds it";
    EXPECT_EQ(count(page.style, "</"), 0);
}

} // namespace
