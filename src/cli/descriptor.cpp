#include "cli/descriptor.hpp"

#include "attn/tensor/error.hpp"

#include <array>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace attn::cli {
namespace {

constexpr std::size_t piece = std::size_t{1} << 16U;

/// Whether the call failed for the moment only; waits until it may succeed.
bool try_again(int error, int descriptor, short event)
{
    if (error == EAGAIN || error == EWOULDBLOCK) { // somebody else made the descriptor non-blocking
        pollfd wait{descriptor, event, 0};
        ::poll(&wait, 1, -1);
        return true;
    }
    return error == EINTR;
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
            // The lowest free number is the closed one. Every read and write of an O_PATH descriptor fails with EBADF.
            [[maybe_unused]] const int taken = ::open("/", O_PATH);
        }
    }
}

bool is_usable(int descriptor)
{
    const int flags = ::fcntl(descriptor, F_GETFL);
    return flags != -1 && (flags & O_PATH) == 0;
}

std::size_t read_some(int descriptor, std::span<char> buffer, std::string_view name)
{
    for (;;) {
        const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
        if (count >= 0) {
            return static_cast<std::size_t>(count);
        }
        const int error = errno;
        if (!try_again(error, descriptor, POLLIN)) {
            throw Error(error == EISDIR ? ErrorKind::no_input : ErrorKind::io,
                        "cannot read " + std::string(name) + ": " + reason(error));
        }
    }
}

void write_all(int descriptor, std::string_view bytes, std::string_view name)
{
    while (!bytes.empty()) {
        const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
        if (count >= 0) {
            bytes.remove_prefix(static_cast<std::size_t>(count));
            continue;
        }
        const int error = errno;
        if (error == EPIPE) {
            throw ReaderGone{};
        }
        if (!try_again(error, descriptor, POLLOUT)) {
            throw Error(ErrorKind::io, "cannot write " + std::string(name) + ": " + reason(error));
        }
    }
}

void BufferedWriter::write(std::string_view bytes)
{
    if (bytes.size() >= piece) { // large enough to go without a copy
        flush();
        write_all(descriptor_, bytes, name_);
        return;
    }
    buffer_ += bytes;
    if (buffer_.size() >= piece) {
        flush();
    }
}

void BufferedWriter::flush()
{
    write_all(descriptor_, buffer_, name_);
    buffer_.clear();
}

} // namespace attn::cli
