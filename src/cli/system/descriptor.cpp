#include "cli/system/descriptor.hpp"

#include "attn/tensor/error.hpp"
#include "cli/system/platform.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace attn::cli {
namespace {

/// Whether the call failed for the moment only; waits until it may succeed.
bool try_again(int error, int descriptor, short event, std::string_view name)
{
    if (error == EAGAIN || error == EWOULDBLOCK) { // somebody else made the descriptor non-blocking
        pollfd wait{descriptor, event, 0};
        wait_for({&wait, 1}, -1, name);
        return true;
    }
    return error == EINTR;
}

/// How many bytes a single write takes; 0 when it has to be repeated.
std::size_t write_some(int descriptor, std::string_view bytes, std::string_view name)
{
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count >= 0) {
        return static_cast<std::size_t>(count);
    }
    const int error = errno;
    if (error == EPIPE) {
        throw ReaderGone{};
    }
    if (!try_again(error, descriptor, POLLOUT, name)) {
        throw Error(ErrorKind::io, fmt::format("cannot write {}: {}", name, reason(error)));
    }
    return 0;
}

} // namespace

std::string reason(int error)
{
    return std::generic_category().message(error);
}

void occupy_closed_descriptors()
{
    for (const int descriptor : std::array{STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(descriptor, F_GETFD) == -1 && errno == EBADF) {
            platform::occupy(descriptor);
        }
    }
}

bool is_readable(int descriptor)
{
    const int flags = ::fcntl(descriptor, F_GETFL);
    return flags != -1 && (flags & O_ACCMODE) != O_WRONLY;
}

std::optional<std::size_t> bytes_left(int descriptor)
{
    struct stat status = {};
    const off_t place = ::lseek(descriptor, 0, SEEK_CUR);
    if (place < 0 || ::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
        return std::nullopt;
    }
    return static_cast<std::size_t>(std::max<off_t>(status.st_size - place, 0));
}

std::size_t read_some(int descriptor, std::span<char> buffer, std::string_view name)
{
    for (;;) {
        const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
        if (count >= 0) {
            return static_cast<std::size_t>(count);
        }
        const int error = errno;
        if (!try_again(error, descriptor, POLLIN, name)) {
            throw Error(error == EISDIR ? ErrorKind::no_input : ErrorKind::io,
                        fmt::format("cannot read {}: {}", name, reason(error)));
        }
    }
}

void wait_for(std::span<pollfd> descriptors, int timeout, std::string_view name)
{
    while (::poll(descriptors.data(), descriptors.size(), timeout) == -1) {
        if (errno != EINTR) {
            throw Error(ErrorKind::io, fmt::format("cannot wait for {}: {}", name, reason(errno)));
        }
    }
}

void write_all(int descriptor, std::string_view bytes, std::string_view name)
{
    while (!bytes.empty()) {
        bytes.remove_prefix(write_some(descriptor, bytes, name));
    }
}

} // namespace attn::cli
