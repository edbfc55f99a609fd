#include "cli/system/signals.hpp"

#include "cli/system/exit_code.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <ctime>
#include <string_view>

#include <poll.h>
#include <unistd.h>

namespace attn::cli {
namespace {

/// Everything that would end the program and leave its temporary file behind.
constexpr std::array handled{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM, SIGXCPU, SIGUSR1, SIGUSR2, SIGVTALRM};

// What a handler may touch: plain memory that is complete before the flag beside it is set.
std::array<char, PATH_MAX> doomed_path{};
volatile std::sig_atomic_t path_is_doomed = 0;
volatile std::sig_atomic_t line_to_erase = 0;

std::atomic<int> waiting = 0;  // the first signal, which waits for the end of a line
std::atomic<pid_t> writer = 0; // the thread that has begun a line
std::atomic<long> came_at = 0; // when the first signal came, in milliseconds
std::atomic_flag leaving;
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<long>::is_always_lock_free);

/// Milliseconds within which the same signal once more is no second one: timeout(1) sends it to the program and to its group.
constexpr long twice_at_once = 20;

sigset_t handled_set()
{
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : handled) {
        sigaddset(&set, signal);
    }
    return set;
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
    const sigset_t set = handled_set();
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    while (leaving.test_and_set()) {
        ::pause(); // until the thread that leaves already is done: one message is enough
    }
    if (path_is_doomed != 0) {
        ::unlink(doomed_path.data());
    }
    if (line_to_erase != 0) {
        say("\r\x1b[K");
    }
    say(message);
    ::_exit(code);
}

[[noreturn]] void leave_by(int signal)
{
    leave(128 + signal, signal == SIGINT    ? "attn-cli: error: interrupted\n"
                        : signal == SIGTERM ? "attn-cli: error: terminated\n"
                        : signal == SIGHUP  ? "attn-cli: error: the terminal was closed\n"
                        : signal == SIGXCPU ? "attn-cli: error: the limit of processor time is reached\n"
                                            : "attn-cli: error: stopped by a signal\n");
}

long milliseconds_now()
{
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

extern "C" void on_signal(int signal, siginfo_t* info, void* context);

struct sigaction handling()
{
    struct sigaction action = {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO;
    action.sa_mask = handled_set();
    return action;
}

/// The first signal: leaves, unless a line is under way, which then has a second.
void leave_after_line(int signal)
{
    const pid_t thread = writer;
    if (thread == 0) {
        leave_by(signal);
    }
    const struct sigaction action = handling();
    sigaction(SIGALRM, &action, nullptr); // which may have been ignored
    ::alarm(1);
    if (thread != ::gettid()) {
        ::tgkill(::getpid(), thread, signal); // its write may hold many lines; interrupted, it goes on with this one only
    }
}

extern "C" void on_signal(int signal, siginfo_t* info, void* /*context*/)
{
    const int error = errno;
    const long now = milliseconds_now();
    long never = 0;
    came_at.compare_exchange_strong(never, now);
    int first = 0;
    if (info->si_code == SI_TKILL && info->si_pid == ::getpid()) {
        // from leave_after_line(), and has done its work by interrupting
    } else if (waiting.compare_exchange_strong(first, signal)) {
        leave_after_line(signal);
    } else if (signal != first || now - came_at >= twice_at_once) {
        leave_by(first);
    }
    errno = error;
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

} // namespace

SignalsHandled::SignalsHandled()
{
    struct sigaction action = handling();
    for (const int signal : handled) {
        struct sigaction before = {};
        sigaction(signal, nullptr, &before);
        // Whoever started us asked that it be survived: nohup a closed terminal, a shell script ^C for what it runs with &.
        if (before.sa_handler != SIG_IGN) {
            sigaction(signal, &action, nullptr);
        }
    }
    action.sa_sigaction = on_bus_error;
    sigaction(SIGBUS, &action, nullptr);
    action = {};
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, nullptr);
    sigaction(SIGXFSZ, &action, nullptr);
    sigset_t alarm; // which a line waits for, may be blocked from the start
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_sigmask(SIG_UNBLOCK, &alarm, nullptr);
}

SignalsHandled::~SignalsHandled()
{
    const sigset_t set = handled_set();
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    if (waiting != 0) {
        leave_by(waiting);
    }
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

void begin_line()
{
    // Either the handler sees the writer or the writer sees the signal.
    if (writer.exchange(::gettid()) == 0 && line_is_last()) {
        leave_by(waiting);
    }
}

void end_line()
{
    writer = 0;
    if (line_is_last()) {
        leave_by(waiting);
    }
}

bool line_is_last()
{
    return waiting != 0;
}

} // namespace attn::cli
