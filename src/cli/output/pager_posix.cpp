#include "cli/output/pager.hpp"

#include "cli/output/output.hpp"
#include "cli/system/system.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" char** environ; // NOLINT(readability-redundant-declaration): macOS has it in no header

namespace attn::cli {
namespace {

/// For the shell, which says 127 of what is not there and 126 of what it cannot run.
constexpr const char* usual_pager = "command -v less >/dev/null || exit 127; exec less -FRX";
constexpr int cannot_run = 126;

/// A command for the shell; empty: the text goes to the terminal as it is.
std::string pager()
{
    const char* chosen = std::getenv("PAGER"); // NOLINT(concurrency-mt-unsafe): nothing here changes the environment
    if (chosen != nullptr) {
        return std::string_view(chosen) == "cat" ? "" : chosen;
    }
    const std::string_view term = environment("TERM");
    return term.empty() || term == "dumb" ? "" : usual_pager;
}

struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

/// A nameless file of the text, at its beginning: unlike a pipe it takes everything at once and no reader can leave it. Null:
/// none.
File file_of(std::string_view text)
{
    File file(std::tmpfile());
    const bool written =
        file && std::fwrite(text.data(), 1, text.size(), file.get()) == text.size() && std::fflush(file.get()) == 0;
    return written && ::lseek(::fileno(file.get()), 0, SEEK_SET) == 0 ? std::move(file) : nullptr;
}

/// Whether it ran: the shell's command with `file` as its standard input.
bool run_shell(const std::string& command, int file)
{
    posix_spawn_file_actions_t actions{};
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, file, STDIN_FILENO);
    sigset_t usual; // which this program ignores
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    sigaddset(&usual, SIGXFSZ);
    posix_spawnattr_t attributes{};
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    std::string shell = "sh";
    std::string option = "-c";
    std::string script = command;
    const std::array<char*, 4> arguments{shell.data(), option.data(), script.data(), nullptr};
    pid_t child = -1;
    const int failed = ::posix_spawn(&child, "/bin/sh", &actions, &attributes, arguments.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) {
        return false;
    }
    // Both keys are the pager's now, as for system(3): less goes on after ^C.
    struct sigaction ignored = {};
    ignored.sa_handler = SIG_IGN;
    ::sigaction(SIGINT, &ignored, nullptr);
    ::sigaction(SIGQUIT, &ignored, nullptr);
    int status = 0;
    while (::waitpid(child, &status, 0) == -1 && errno == EINTR) {
    }
    return !WIFEXITED(status) || (WEXITSTATUS(status) != cannot_run && WEXITSTATUS(status) != cannot_run + 1);
}

} // namespace

void print_paged(std::string_view text)
{
    const std::string command = terminal_columns() ? pager() : "";
    const File file = command.empty() ? nullptr : file_of(text);
    if (!file || !run_shell(command, ::fileno(file.get()))) {
        print(text);
    }
}

} // namespace attn::cli
