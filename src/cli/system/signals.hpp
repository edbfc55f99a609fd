// Interrupts: SIGINT and SIGTERM end the program at once, with exit code 130 and 143, and no temporary file left.
//
// The handler itself cleans up and leaves, as that of GNU sort does: a flag that the work has to look at would be missed
// between the look and a read that blocks, and by any stage that reports no progress. It calls nothing but async-signal-safe
// functions.
#pragma once

#include <string>

namespace attn::cli {

/// From now on. A signal that is ignored when the program starts stays ignored. Also: an input file that became shorter while
/// it was mapped, or whose disk fails (SIGBUS), ends the program in the same way with exit code 74; a write to a pipe without a
/// reader, or beyond the limit on file sizes, becomes an error of that write.
void handle_signals();

/// While one of these lives no handled signal ends the program: this thread gets none, and another that gets one waits. One
/// lives at a time.
class SignalsBlocked {
public:
    SignalsBlocked();
    ~SignalsBlocked();
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked(SignalsBlocked&&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(SignalsBlocked&&) = delete;
};

/// The file that a signal removes, which may then be a real-time one, too; there is one at most. Call both with signals
/// blocked.
void remove_on_signal(const std::string& path);
void keep_on_signal();

/// Whether a signal has to erase a progress line from the terminal first.
void erase_line_on_signal(bool erase);

} // namespace attn::cli
