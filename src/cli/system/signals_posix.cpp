#include "cli/system/signals.hpp"

#include "cli/system/exit_code.hpp"
#include "cli/system/platform.hpp"

#include <array>
#include <atomic>
#include <climits>
#include <csignal>
#include <cstring>
#include <string_view>

#include <poll.h>
#include <unistd.h>

namespace attn::cli {
namespace {

/// Everything that would end the program and leave its temporary file behind, but for what our own bugs raise.
const sigset_t& handled_set()
{
    static const sigset_t handled = [] {
        sigset_t set;
        sigemptyset(&set);
        for (const int signal : platform::ending_signals()) {
            sigaddset(&set, signal);
        }
        for (auto [signal, last] = platform::real_time_signals(); signal <= last; ++signal) {
            sigaddset(&set, signal);
        }
        return set;
    }();
    return handled;
}

// What a handler may touch: plain memory that is complete before the flag beside it is set.
std::array<char, PATH_MAX> doomed_path{};
volatile std::sig_atomic_t path_is_doomed = 0;
volatile std::sig_atomic_t line_to_erase = 0;

/// Set while a thread ends the program, or does to its files what a signal must not come between.
std::atomic_flag taken;

/// For good if the program ends meanwhile.
void take()
{
    while (taken.test_and_set()) {
        ::poll(nullptr, 0, 1); // a millisecond
    }
}

void say(std::string_view text)
{
    // Nothing can be done about a stderr that takes nothing, nor must it hold a signal.
    constexpr int milliseconds = 500;
    pollfd wait{STDERR_FILENO, POLLOUT, 0};
    if (::poll(&wait, 1, milliseconds) != 0) {
        [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
    }
}

[[noreturn]] void leave(int code, std::string_view message)
{
    take(); // one message is enough
    if (path_is_doomed != 0) {
        ::unlink(doomed_path.data());
    }
    if (line_to_erase != 0) {
        say("\r\x1b[K");
    }
    say(message);
    ::_exit(code);
}

extern "C" void on_signal(int signal)
{
    leave(128 + signal, signal == SIGINT    ? "attn-cli: error: interrupted\n"
                        : signal == SIGTERM ? "attn-cli: error: terminated\n"
                        : signal == SIGHUP  ? "attn-cli: error: the terminal was closed\n"
                        : signal == SIGXCPU ? "attn-cli: error: the limit of processor time is reached\n"
                                            : "attn-cli: error: stopped by a signal\n");
}

/// The only mappings that can fail so are those of files.
extern "C" void on_bus_error(int, siginfo_t* info, void* /*context*/)
{
    if (info->si_code != BUS_ADRERR) {
        struct sigaction action = {}; // a bug of ours: returning repeats it, with a core
        action.sa_handler = SIG_DFL;
        sigaction(SIGBUS, &action, nullptr);
        return;
    }
    leave(exit_code(ErrorKind::io), "attn-cli: error: an input file became shorter while it was read, or cannot be read\n");
}

void handle(int signal)
{
    struct sigaction before = {};
    // Whoever started us asked that it be survived: nohup a closed terminal, a shell script ^C for what it runs with &.
    if (sigaction(signal, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) {
        struct sigaction action = {};
        action.sa_mask = handled_set();
        action.sa_handler = on_signal;
        sigaction(signal, &action, nullptr);
    }
}

} // namespace

void handle_signals()
{
    for (const int signal : platform::ending_signals()) {
        handle(signal);
    }
    struct sigaction action = {};
    action.sa_mask = handled_set();
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = on_bus_error;
    sigaction(SIGBUS, &action, nullptr);
    action = {};
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, nullptr);
    sigaction(SIGXFSZ, &action, nullptr);
}

SignalsBlocked::SignalsBlocked()
{
    pthread_sigmask(SIG_BLOCK, &handled_set(), nullptr);
    take();
}

SignalsBlocked::~SignalsBlocked()
{
    taken.clear();
    pthread_sigmask(SIG_UNBLOCK, &handled_set(), nullptr);
}

void remove_on_signal(const std::string& path)
{
    if (path.size() < doomed_path.size()) {
        std::memcpy(doomed_path.data(), path.c_str(), path.size() + 1);
        path_is_doomed = 1;
    }
    // There are so many that a run without a file would be slower.
    for (auto [signal, last] = platform::real_time_signals(); signal <= last; ++signal) {
        handle(signal);
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
