#include "cli/signals.hpp"

#include "cli/exit_code.hpp"

#include <array>
#include <climits>
#include <csignal>
#include <cstring>
#include <string_view>

#include <unistd.h>

namespace attn::cli {
namespace {

/// Everything that would end the program and leave its temporary file behind.
constexpr std::array handled{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM, SIGXCPU, SIGUSR1, SIGUSR2, SIGVTALRM};

// What a handler may touch: plain memory that is complete before the flag beside it is set.
std::array<char, PATH_MAX> doomed_path{};
volatile std::sig_atomic_t path_is_doomed = 0;
volatile std::sig_atomic_t line_to_erase = 0;

void say(std::string_view text)
{
    // Nothing can be done about a stderr that takes nothing.
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

extern "C" void leave(int signal)
{
    if (path_is_doomed != 0) {
        ::unlink(doomed_path.data());
    }
    if (line_to_erase != 0) {
        say("\r\x1b[K");
    }
    say(signal == SIGINT    ? "attn-cli: error: interrupted\n"
        : signal == SIGTERM ? "attn-cli: error: terminated\n"
        : signal == SIGHUP  ? "attn-cli: error: the terminal was closed\n"
        : signal == SIGXCPU ? "attn-cli: error: the limit of processor time is reached\n"
                            : "attn-cli: error: stopped by a signal\n");
    ::_exit(128 + signal);
}

/// The only mappings that can fail so are those of files.
extern "C" void leave_on_bus_error(int, siginfo_t* info, void*)
{
    if (info->si_code != BUS_ADRERR) {
        struct sigaction action = {}; // a bug of ours: returning repeats it, with a core
        action.sa_handler = SIG_DFL;
        sigaction(SIGBUS, &action, nullptr);
        return;
    }
    if (path_is_doomed != 0) {
        ::unlink(doomed_path.data());
    }
    say("attn-cli: error: an input file became shorter while it was read, or cannot be read\n");
    ::_exit(exit_code(ErrorKind::io));
}

sigset_t handled_set()
{
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : handled) {
        sigaddset(&set, signal);
    }
    return set;
}

} // namespace

void handle_signals()
{
    struct sigaction action = {};
    action.sa_handler = leave;
    action.sa_mask = handled_set();
    for (const int signal : handled) {
        struct sigaction before = {};
        sigaction(signal, nullptr, &before);
        // Whoever started us asked that it be survived: nohup a closed terminal, a shell script ^C for what it runs with &.
        if (before.sa_handler != SIG_IGN) {
            sigaction(signal, &action, nullptr);
        }
    }
    struct sigaction bus = {};
    bus.sa_sigaction = leave_on_bus_error;
    bus.sa_flags = SA_SIGINFO;
    bus.sa_mask = handled_set();
    sigaction(SIGBUS, &bus, nullptr);
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, nullptr);
    sigaction(SIGXFSZ, &action, nullptr);
}

SignalsBlocked::SignalsBlocked()
{
    const sigset_t set = handled_set();
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

SignalsBlocked::~SignalsBlocked()
{
    const sigset_t set = handled_set();
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

void remove_on_signal(const std::string& path)
{
    if (path.size() < doomed_path.size()) {
        std::memcpy(doomed_path.data(), path.c_str(), path.size() + 1);
        path_is_doomed = 1;
    }
}

void keep_on_signal()
{
    path_is_doomed = 0;
}

void erase_line_on_signal(bool erase)
{
    line_to_erase = erase ? 1 : 0;
}

} // namespace attn::cli
