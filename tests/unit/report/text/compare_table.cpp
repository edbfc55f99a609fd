#include "attn/report/text/compare_table.hpp"
#include "unit/report/sample.hpp"

#include <gtest/gtest.h>

namespace {

std::string check_text(const attn::model::CheckReport& report, std::string_view name, bool failures_alone = false)
{
    return sample::text_of([&](auto& buffer) { attn::report::write_check(report, name, failures_alone, buffer); });
}

TEST(CheckTable, HasOneLineAFindingThenTheVerdict)
{
    attn::model::CheckReport report;
    report.findings = {
        {.what = "vocabulary", .compared = 6, .first = {}},
        {.what = "weights", .compared = 36, .first = {}, .largest_absolute = 1.23e-8},
    };
    EXPECT_EQ(check_text(report, "golden.json"), "ok        vocabulary  6 compared, all equal\n"
                                                 "ok        weights     36 compared, largest difference 1.2e-08\n"
                                                 "golden.json: passed\n");
}

TEST(CheckTable, ShowsTheFirstMismatch)
{
    attn::model::CheckReport report;
    report.findings = {
        {.what = "scores", .compared = 1, .mismatched = 1, .first = "stated 1, computed 2", .hint = "give atol"},
        {.what = "weights[0][1]",
         .compared = 6,
         .mismatched = 2,
         .first = "weights[0][1][3]: stated 0.6369, computed 0.6368",
         .largest_absolute = 1e-4},
        {.what = "tokens", .compared = 1, .first = {}},
    };
    EXPECT_EQ(check_text(report, "owen-2025"),
              "MISMATCH  scores         1 of 1: stated 1, computed 2; give atol\n"
              "MISMATCH  weights[0][1]  2 of 6: weights[0][1][3]: stated 0.6369, computed 0.6368; largest difference 1.0e-04\n"
              "ok        tokens         1 compared, all equal\n"
              "owen-2025: failed (2 of 3 statements)\n");
    EXPECT_EQ(check_text(report, "owen-2025", true),
              "MISMATCH  scores         1 of 1: stated 1, computed 2; give atol\n"
              "MISMATCH  weights[0][1]  2 of 6: weights[0][1][3]: stated 0.6369, computed 0.6368; largest difference 1.0e-04\n"
              "owen-2025: failed (2 of 3 statements)\n");
    report.findings.erase(report.findings.begin(), report.findings.begin() + 2);
    EXPECT_EQ(check_text(report, "owen-2025", true), "");
}

TEST(CheckTable, CannotBeBrokenByTheTextItQuotes)
{
    attn::model::CheckReport report;
    report.findings = {{.what = "tokens", .compared = 1, .mismatched = 1, .first = "stated a\nb\x1b[2J"}};
    EXPECT_EQ(check_text(report, "x\ny"), "MISMATCH  tokens  1 of 1: stated a\\nb\\x1b[2J\n"
                                          "x\\ny: failed (1 of 1 statements)\n");
}

} // namespace
