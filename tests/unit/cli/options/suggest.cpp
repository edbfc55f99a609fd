#include "cli/options/suggest.hpp"

#include "attn/tensor/error.hpp"

#include <gtest/gtest.h>

#include <array>

namespace {

using namespace attn::cli;
using namespace std::string_view_literals;

TEST(Choice, GivesThePlaceOrTheNames)
{
    constexpr std::array formats{"table"sv, "json"sv, "csv"sv};
    EXPECT_EQ(choice("--format", "csv", formats), 2U);
    try {
        (void)choice("--format", "jsn", formats);
        FAIL();
    } catch (const attn::Error& error) {
        EXPECT_STREQ(error.what(), "--format: got 'jsn'; allowed: table, json, csv; did you mean 'json'?");
    }
}

} // namespace
