#include "cli/system/platform.hpp"

#include <array>
#include <csignal>
#include <cstdio>

#include <sys/resource.h>
#include <sys/sysctl.h>
#include <unistd.h>

namespace attn::cli::platform {

int processors()
{
    return static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
}

Index free_memory()
{
    // All that the machine has: what others hold the system compresses or writes out before it refuses any.
    Index bytes = 0;
    std::size_t size = sizeof bytes;
    return ::sysctlbyname("hw.memsize", &bytes, &size, nullptr, 0) == 0 && bytes > 0 ? bytes : unlimited;
}

Index address_space_room()
{
    return unlimited; // RLIMIT_AS is not enforced
}

Index peak_memory()
{
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return Index{usage.ru_maxrss}; // in bytes here
}

void share_heap() {}

void keep_freed(int /*most*/) {}

std::span<const int> ending_signals()
{
    static constexpr std::array signals{SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGALRM, SIGVTALRM,
                                        SIGPROF, SIGXCPU, SIGUSR1, SIGUSR2, SIGSYS};
    return signals;
}

SignalRange real_time_signals()
{
    return {};
}

bool only_appends(const std::string& path)
{
    struct stat status = {};
    return ::stat(path.c_str(), &status) == 0 && (status.st_flags & (UF_APPEND | SF_APPEND)) != 0;
}

bool is_mount(const std::string& /*path*/)
{
    return false; // only directories are mounted
}

bool exchange(const std::string& one, const std::string& other)
{
    return ::renamex_np(one.c_str(), other.c_str(), RENAME_SWAP) == 0;
}

timespec write_time(const struct stat& status)
{
    return status.st_mtimespec;
}

} // namespace attn::cli::platform
