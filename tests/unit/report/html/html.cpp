#include "attn/report/html/html.hpp"

#include "attn/tensor/error.hpp"
#include "unit/error_of.hpp"
#include "unit/report/sample.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace {

using attn::Error;
using attn::Index;
using attn::Tensor;
using attn::model::Result;
using attn::report::PageParts;

constexpr PageParts parts{.frame = "{{style_hash}} {{script_hash}}|{{style}}|{{script}}|{{declared}}|{{asked}}|{{result}}",
                          .style = "p {}",
                          .script = "f({{}})",
                          .style_hash = "sha256-A",
                          .script_hash = "sha256-B"};

std::string html_of(const Result& result, const PageParts& page = parts, const attn::report::PageOptions& options = {})
{
    return sample::text_of([&](auto& out) { write_html(result, page, options, out); });
}

TEST(Html, PutsEveryPartInItsPlace)
{
    const std::string html = html_of(sample::two_words());
    EXPECT_TRUE(html.starts_with("sha256-A sha256-B|p {}|f({{}})|{\"light\":\"f7fafd")) << html;
    EXPECT_NE(html.find("\"colour\":\"#b07d00\"}]}|{\"means\":[[{"), std::string::npos) << html;
    EXPECT_TRUE(html.ends_with("}]]}|" + sample::json_of(sample::two_words()))) << html;
    const auto of_light = html.find("\"f7fafd"), of_dark = html.find("\"00224e");
    EXPECT_EQ(html.find("\",\"dark\"") - of_light, 1 + 256 * 6);
    EXPECT_EQ(html.find("\",\"least_role\":0.4") - of_dark, 1 + 256 * 6);
}

TEST(Html, HoldsWhatWasAskedFor)
{
    using attn::report::Shade;
    const PageParts page{.frame = "{{asked}}"};
    EXPECT_TRUE(html_of(sample::two_words(), page).starts_with(R"({"means":[[{"entropy":)"));
    const std::string asked =
        html_of(sample::two_words(), page, {.shade = {Shade::log, 0.1}, .command = "attn-cli run \"a </script>\""});
    EXPECT_TRUE(asked.starts_with(R"({"shade":"log","shade_max":0.1,"command":"attn-cli run \"a \u003c/script>\"","means":[)"))
        << asked;
}

TEST(Html, SaysWhatEachHeadDoes)
{
    const PageParts page{.frame = "{{asked}}"};
    Result result = sample::two_words();
    result.front().arrays = {{"weights", Tensor<float>({2, 2, 2}, {0.5F, 0.5F, 1.0F, 0.0F, 0.0F, 1.0F, 0.0F, NAN})},
                             {"entropy", Tensor<float>({2, 2}, {0.75F, 0.0F, 0.0F, NAN})}};
    EXPECT_EQ(html_of(result, page),
              R"({"means":[[{"role":"previous","entropy":0.375,"itself":0.25,"first":0.75,"previous":1.0,"next":0.5},)"
              R"({"role":"next","first":0.0,"previous":0.0,"next":1.0}]]})");
}

TEST(Html, HoldsNoLessThanSignOfTheResultAndTheSameJson)
{
    Result result = sample::two_words();
    result.tokens = {"</script><!--<", "\\u003c\\<"};
    result.warnings = {"<"};
    std::string page = html_of(result, {.frame = "{{result}}"});
    EXPECT_EQ(page.find('<'), std::string::npos);
    EXPECT_EQ(nlohmann::json::parse(page), nlohmann::json::parse(sample::json_of(result)));
    EXPECT_NE(page.find(R"("\u003c/script>\u003c!--\u003c","\\u003c\\\u003c")"), std::string::npos) << page;
}

/// What is said of weights of such a shape; nothing may be written.
std::string refusal(attn::Shape shape)
{
    Result result = sample::two_words();
    result.front().arrays = {{"weights", Tensor<float>(std::move(shape))}};
    attn::Buffer written;
    const auto write = [&] { write_html(result, parts, {}, written); };
    const std::string message = error_of(attn::ErrorKind::too_large, write);
    EXPECT_EQ(written.text(), "");
    return message;
}

TEST(Html, RefusesWhatAPageCannotHoldBeforeItWrites)
{
    EXPECT_EQ(refusal({1, 1025, 1}),
              "HTML: got 1025 query words; allowed: up to 1024 query words in a page; --query shows some of them");
    EXPECT_EQ(refusal({1, 1, 8193}),
              "HTML: got 8193 key words; allowed: up to 8192 key words in a page; a shorter text has fewer");
    EXPECT_EQ(refusal({1025, 1, 1}), "HTML: got 1025 heads; allowed: up to 1024 heads in a page; --heads computes fewer");
    EXPECT_EQ(refusal({5, 1000, 1001}),
              "HTML: got 5005000 weights; allowed: up to 5000000 weights in a page; --query shows those of some words");
    attn::report::require_page_size({5, 1000, 1000});
    attn::report::require_page_size({1024, 1, 1});
}

TEST(Html, NeedsWeightsAndAFrameItKnows)
{
    Result result = sample::two_words();
    EXPECT_THROW((void)html_of(result, {.frame = "{{colour}}"}), Error);
    EXPECT_THROW((void)html_of(result, {.frame = "{{result"}), Error);
    result.front().arrays.clear();
    EXPECT_THROW((void)html_of(result), Error);
}

} // namespace
