// What Linux and macOS do in the same way, and WASI does not.
#include "cli/system/platform.hpp"

#include <array>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace attn::cli::platform {

int duplicate(int descriptor)
{
    return ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
}

void occupy(int descriptor)
{
    std::array<int, 2> pipe{}; // an end to read, an end to write
    if (::pipe(pipe.data()) != 0) {
        return;
    }
    // Reads of the one and writes to the other fail as those of a closed descriptor do.
    ::dup2(pipe[descriptor == STDIN_FILENO ? 1 : 0], descriptor);
    for (const int end : pipe) {
        if (end != descriptor) {
            ::close(end);
        }
    }
}

int terminal_width(int descriptor)
{
    winsize size{};
    return ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

void give_rights(int descriptor, const struct stat& old)
{
    // Of a file that belongs to somebody else only root can keep the owner; others get a file of their own. What was trusted to
    // run as its owner or group is not there any more, so those bits go.
    [[maybe_unused]] const int owned = ::fchown(descriptor, old.st_uid, old.st_gid);
    ::fchmod(descriptor, old.st_mode & 0777U);
}

bool acts_for(uid_t user)
{
    const uid_t own = ::geteuid();
    return own == 0 || own == user;
}

bool lock(int descriptor)
{
    return ::flock(descriptor, LOCK_EX) == 0;
}

void drop_pages(void* begin, std::size_t from, std::size_t to)
{
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const std::size_t first = from / page * page;
    ::madvise(static_cast<std::byte*>(begin) + first, to / page * page - first, MADV_DONTNEED);
}

} // namespace attn::cli::platform
