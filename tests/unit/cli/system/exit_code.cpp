#include "cli/system/exit_code.hpp"

#include <gtest/gtest.h>

namespace {

using attn::ErrorKind;
using attn::cli::exit_code;

TEST(ExitCode, IsTheOneThatScriptsRelyOn)
{
    EXPECT_EQ(exit_code(ErrorKind::usage), 2);
    EXPECT_EQ(exit_code(ErrorKind::data), 65);
    EXPECT_EQ(exit_code(ErrorKind::no_input), 66);
    EXPECT_EQ(exit_code(ErrorKind::internal), 70);
    EXPECT_EQ(exit_code(ErrorKind::too_large), 71);
    EXPECT_EQ(exit_code(ErrorKind::cannot_create), 73);
    EXPECT_EQ(exit_code(ErrorKind::io), 74);
    EXPECT_EQ(exit_code(ErrorKind::interrupted), 130);
}

} // namespace
