#include "cli/system/platform.hpp"

#include "cli/system/system.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <vector>

#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace attn::cli::platform {
namespace {

/// Up to 64 KiB of a file that the kernel makes; empty when there is none.
std::string kernel_text(const std::string& path)
{
    std::array<char, std::size_t{1} << 16U> text; // NOLINT(cppcoreguidelines-pro-type-member-init): hardly any of it is used
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    const ssize_t count = file == -1 ? 0 : ::read(file, text.data(), text.size());
    if (file != -1) {
        ::close(file);
    }
    return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))};
}

/// Where a version of control groups says what.
struct GroupFiles {
    const char* mount;
    const char* limit;
    const char* used;
    std::string total; ///< before a key of memory.stat that counts the groups below, too
};

/// limit - used, when both files hold a number. No limit is "max", or in version 1 the last page that 63 bits address. What the
/// system keeps of files in case somebody reads them again it gives away as soon as somebody needs the memory.
Index room(const std::string& folder, const GroupFiles& files)
{
    const Index limit = number_after(kernel_text(folder + files.limit), "");
    if (limit < 0 || limit > unlimited / 2) {
        return unlimited;
    }
    const Index used = number_after(kernel_text(folder + files.used), "");
    const std::string kinds = "\n" + kernel_text(folder + "memory.stat");
    const Index kept = std::max<Index>(number_after(kinds, "\n" + files.total + "active_file "), 0) +
                       std::max<Index>(number_after(kinds, "\n" + files.total + "inactive_file "), 0);
    return used < 0 ? unlimited : limit - std::clamp<Index>(used - kept, 0, limit);
}

/// The least room in the group `path` and the groups above it.
Index room_in_groups(const GroupFiles& files, std::string path)
{
    Index least = unlimited;
    for (;;) {
        least = std::min(least, room(files.mount + (path == "/" ? "" : path) + "/", files));
        if (path.empty() || path == "/") {
            return least;
        }
        path.resize(path.rfind('/'));
    }
}

/// Lines of /proc/self/cgroup are "0::/path" (version 2) or "9:memory:/path" (version 1).
Index control_group_room()
{
    Index least = unlimited;
    const std::string groups = kernel_text("/proc/self/cgroup");
    for (std::size_t begin = 0; begin < groups.size();) {
        const std::size_t end = std::min(groups.find('\n', begin), groups.size());
        const std::string line = groups.substr(begin, end - begin);
        const std::size_t first = line.find(':');
        const std::size_t second = line.find(':', first + 1);
        if (second != std::string::npos && line.find('/', second) == second + 1) {
            const std::string controllers = line.substr(first + 1, second - first - 1);
            const std::string path = line.substr(second + 1);
            if (controllers.empty()) {
                least = std::min(least, room_in_groups({"/sys/fs/cgroup", "memory.max", "memory.current", ""}, path));
            } else if (controllers == "memory") {
                const GroupFiles files{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_"};
                least = std::min(least, room_in_groups(files, path));
            }
        }
        begin = end + 1;
    }
    return least;
}

// STATX_ATTR_APPEND and STATX_ATTR_MOUNT_ROOT, which not every C library names.
constexpr std::uint64_t append_only = 0x20;
constexpr std::uint64_t mount_root = 0x2000;

/// None where the system does not tell them.
std::uint64_t attributes_of(const std::string& path)
{
    struct statx status = {};
    return ::statx(AT_FDCWD, path.c_str(), 0, 0, &status) == 0 ? status.stx_attributes : 0;
}

} // namespace

int processors()
{
    // The kernel refuses a mask that is too small for the machine, so grow it.
    for (int count = most_threads; count <= (1 << 20); count *= 2) {
        std::vector<unsigned char> storage(CPU_ALLOC_SIZE(count));
        auto* mask = reinterpret_cast<cpu_set_t*>(storage.data());
        if (::sched_getaffinity(0, storage.size(), mask) == 0) {
            return CPU_COUNT_S(storage.size(), mask);
        }
        if (errno != EINVAL) {
            break;
        }
    }
    return 0;
}

Index free_memory()
{
    const Index kilobytes = number_after(kernel_text("/proc/meminfo"), "MemAvailable:");
    return std::min(kilobytes < 0 ? unlimited : kilobytes * 1024, control_group_room());
}

Index address_space_room()
{
    rlimit limit{};
    if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
        return unlimited;
    }
    const auto total = static_cast<Index>(std::min<rlim_t>(limit.rlim_cur, static_cast<rlim_t>(unlimited)));
    // The first number of /proc/self/statm is in pages.
    const Index used = std::max<Index>(number_after(kernel_text("/proc/self/statm"), ""), 0) * ::sysconf(_SC_PAGESIZE);
    return std::max<Index>(total - used, 0);
}

Index peak_memory()
{
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return Index{usage.ru_maxrss} * 1024;
}

void share_heap()
{
#ifdef M_ARENA_MAX             // of the GNU C library; others have one heap, and nothing to set
    ::mallopt(M_ARENA_MAX, 1); // NOLINT(concurrency-mt-unsafe): this thread is the only one yet
#endif
}

void keep_freed([[maybe_unused]] int most)
{
#ifdef M_MMAP_THRESHOLD
    ::mallopt(M_MMAP_THRESHOLD, most);     // NOLINT(concurrency-mt-unsafe): this thread is the only one yet
    ::mallopt(M_TRIM_THRESHOLD, 2 * most); // NOLINT(concurrency-mt-unsafe)
#endif
}

std::span<const int> ending_signals()
{
    static constexpr std::array signals{SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGALRM, SIGVTALRM, SIGPROF,
                                        SIGXCPU, SIGUSR1, SIGUSR2, SIGPOLL, SIGPWR,  SIGSTKFLT, SIGSYS};
    return signals;
}

SignalRange real_time_signals()
{
    return {SIGRTMIN, SIGRTMAX};
}

bool only_appends(const std::string& path)
{
    return (attributes_of(path) & append_only) != 0;
}

bool is_mount(const std::string& path)
{
    return (attributes_of(path) & mount_root) != 0;
}

bool exchange(const std::string& one, const std::string& other)
{
    constexpr unsigned swap = 1U << 1U; // RENAME_EXCHANGE of <linux/fs.h>; not every C library has the call
    return ::syscall(SYS_renameat2, AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), swap) == 0;
}

timespec write_time(const struct stat& status)
{
    return status.st_mtim;
}

} // namespace attn::cli::platform
