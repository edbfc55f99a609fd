#include "cli/system/system.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

namespace attn::cli {
namespace {

constexpr Index unlimited = std::numeric_limits<Index>::max();

/// Address space for a stack, and for an arena of the C library, reserved though hardly used.
constexpr Index room_of_thread = Index{256} << 20U;

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

/// limit - used, when both files hold a number ("max" is none). What the system keeps of files in case somebody reads them
/// again it gives away as soon as somebody needs the memory.
Index room(const std::string& folder, const GroupFiles& files)
{
    const Index limit = number_after(kernel_text(folder + files.limit), "");
    const Index used = number_after(kernel_text(folder + files.used), "");
    const std::string kinds = "\n" + kernel_text(folder + "memory.stat");
    const Index kept = std::max<Index>(number_after(kinds, "\n" + files.total + "active_file "), 0) +
                       std::max<Index>(number_after(kinds, "\n" + files.total + "inactive_file "), 0);
    return limit < 0 || used < 0 ? unlimited : limit - std::clamp<Index>(used - kept, 0, limit);
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

/// RLIMIT_AS less the address space in use (the first number of /proc/self/statm, in pages).
Index address_space_room()
{
    rlimit limit{};
    if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
        return unlimited;
    }
    const Index pages = std::max<Index>(number_after(kernel_text("/proc/self/statm"), ""), 0);
    const auto total = static_cast<Index>(std::min<rlim_t>(limit.rlim_cur, static_cast<rlim_t>(unlimited)));
    return std::max<Index>(total - pages * ::sysconf(_SC_PAGESIZE), 0);
}

} // namespace

int available_processors()
{
    // The kernel refuses a mask that is too small for the machine, so grow it.
    for (int count = most_threads; count <= (1 << 20); count *= 2) {
        std::vector<unsigned char> storage(CPU_ALLOC_SIZE(count));
        auto* mask = reinterpret_cast<cpu_set_t*>(storage.data());
        if (::sched_getaffinity(0, storage.size(), mask) == 0) {
            return std::clamp(CPU_COUNT_S(storage.size(), mask), 1, most_threads);
        }
        if (errno != EINVAL) {
            break;
        }
    }
    return 1;
}

int default_threads()
{
    return static_cast<int>(std::clamp<Index>(address_space_room() / room_of_thread, 1, available_processors()));
}

void prepare_for_threads(int threads)
{
    if (address_space_room() / room_of_thread < threads) {
        ::mallopt(M_ARENA_MAX, 1); // NOLINT(concurrency-mt-unsafe): this thread is the only one yet
    }
}

void keep_freed_memory()
{
    constexpr int most = 1 << 23;          // of an array
    ::mallopt(M_MMAP_THRESHOLD, most);     // NOLINT(concurrency-mt-unsafe): this thread is the only one yet
    ::mallopt(M_TRIM_THRESHOLD, 2 * most); // NOLINT(concurrency-mt-unsafe)
}

std::string_view environment(const char* variable)
{
    const char* value = std::getenv(variable); // NOLINT(concurrency-mt-unsafe): nothing here changes the environment
    return value == nullptr ? std::string_view{} : value;
}

Index number_after(std::string_view text, std::string_view key)
{
    const std::size_t at = text.find(key);
    if (at == std::string_view::npos) {
        return -1;
    }
    text.remove_prefix(at + key.size());
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    Index number = -1;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    // A version-1 group without a limit states a number of pages just below 2^63 bytes; some state more than fits.
    return error == std::errc{} ? number : -1;
}

Index memory_limit()
{
    const Index kilobytes = number_after(kernel_text("/proc/meminfo"), "MemAvailable:");
    const Index available = kilobytes < 0 ? unlimited : kilobytes * 1024;
    const Index least = std::min({available, control_group_room(), address_space_room()});
    return least == unlimited ? least : least - least / 8;
}

} // namespace attn::cli
