#include "cli/options/suggest.hpp"

#include "attn/tensor/error.hpp"
#include "unit/error_of.hpp"

#include <gtest/gtest.h>

#include <array>

namespace {

using namespace attn::cli;
using namespace std::string_view_literals;

TEST(Choice, GivesThePlaceOrTheNames)
{
    constexpr std::array formats{"table"sv, "json"sv, "csv"sv};
    EXPECT_EQ(choice("--format", "csv", formats), 2U);
    EXPECT_EQ(error_of(attn::ErrorKind::usage, [&] { (void)choice("--format", "jsn", formats); }),
              "--format: got 'jsn'; allowed: table, json, csv; did you mean 'json'?");
}

} // namespace
