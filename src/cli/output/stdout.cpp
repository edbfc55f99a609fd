#include "cli/output/stdout.hpp"

#include "attn/tensor/error.hpp"

#include <cerrno>

#include <sys/ioctl.h>
#include <unistd.h>

namespace attn::cli {

StandardOutput::StandardOutput() : writer_(STDOUT_FILENO, "standard output", Content::lines) {}

void StandardOutput::finish()
{
    writer_.flush();
    // A duplicate, so that descriptor 1 stays taken.
    const int duplicate = is_usable(STDOUT_FILENO) ? ::dup(STDOUT_FILENO) : -1;
    if (duplicate != -1 && ::close(duplicate) != 0 && errno != EINTR) {
        throw Error(ErrorKind::io, std::string("cannot write standard output: ") + reason(errno));
    }
}

void print(std::string_view text)
{
    StandardOutput output;
    output.write(text);
    output.finish();
}

std::optional<int> terminal_columns()
{
    if (::isatty(STDOUT_FILENO) == 0) {
        return std::nullopt;
    }
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        return size.ws_col;
    }
    return 80;
}

} // namespace attn::cli
