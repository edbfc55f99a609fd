#include "cli/system/system.hpp"

#include <gtest/gtest.h>

#include <cstdio>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace attn::cli;

TEST(NumberAfter, FindsTheNumberBehindItsKey)
{
    EXPECT_EQ(number_after("MemFree: 5 kB\nMemAvailable:   123 kB\n", "MemAvailable:"), 123);
    EXPECT_EQ(number_after("4096\n", ""), 4096);
}

TEST(NumberAfter, IsNegativeWithoutOne)
{
    EXPECT_EQ(number_after("max\n", ""), -1);
    EXPECT_EQ(number_after("", ""), -1);
    EXPECT_EQ(number_after("MemFree: 5 kB", "MemAvailable:"), -1);
    EXPECT_EQ(number_after("99999999999999999999", ""), -1);
}

TEST(Processors, AreAtLeastOne)
{
    EXPECT_GE(available_processors(), 1);
    EXPECT_LE(available_processors(), most_threads);
    EXPECT_GE(default_threads(), 1);
    EXPECT_LE(default_threads(), available_processors());
}

TEST(MemoryLimit, FollowsTheLimitOfTheAddressSpace)
{
    EXPECT_GT(memory_limit(), 0);
    const pid_t child = ::fork();
    if (child == 0) { // a limit cannot be taken back, so it is set in a process of its own
        rlimit limit{};
        ::getrlimit(RLIMIT_AS, &limit);
        const attn::Index pages = [] {
            attn::Index count = 0;
            std::FILE* file = std::fopen("/proc/self/statm", "r");
            const int read = std::fscanf(file, "%td", &count);
            std::fclose(file);
            return read == 1 ? count : 0;
        }();
        constexpr attn::Index left = attn::Index{64} << 20U;
        limit.rlim_cur = static_cast<rlim_t>(pages * ::sysconf(_SC_PAGESIZE) + left);
        ::setrlimit(RLIMIT_AS, &limit);
        const attn::Index room = memory_limit();
        ::_exit(room > left / 2 && room <= left && default_threads() == 1 ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

} // namespace
