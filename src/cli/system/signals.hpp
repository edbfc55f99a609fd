// Interrupts: SIGINT and SIGTERM end the program at once, with exit code 130 and 143, no temporary file left and no line of the
// output cut off.
//
// The handler itself cleans up and leaves, as that of GNU sort does: a flag that the work has to look at would be missed
// between the look and a read that blocks, and by any stage that reports no progress. Only where a line has been begun that a
// reader sees the handler leaves the leaving to whoever writes that line, and to a second signal, which an alarm makes sure of.
// Handlers call nothing but async-signal-safe functions.
#pragma once

#include <string>

namespace attn::cli {

/// What `main` does lies between the two ends of one of these.
class SignalsHandled {
public:
    /// A signal that is ignored when the program starts stays ignored. Also: an input file that became shorter while it was
    /// mapped, or whose disk fails (SIGBUS), ends the program in the same way with exit code 74; a write to a pipe without a
    /// reader, or beyond the limit on file sizes, becomes an error of that write.
    SignalsHandled();
    /// A signal that waits for a line has its way, whatever became of the line. One that comes later finds the work done.
    ~SignalsHandled();
    SignalsHandled(const SignalsHandled&) = delete;
    SignalsHandled(SignalsHandled&&) = delete;
    SignalsHandled& operator=(const SignalsHandled&) = delete;
    SignalsHandled& operator=(SignalsHandled&&) = delete;
};

/// While one of these lives no handled signal is delivered to this thread.
class SignalsBlocked {
public:
    SignalsBlocked();
    ~SignalsBlocked();
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked(SignalsBlocked&&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(SignalsBlocked&&) = delete;
};

/// The file that a signal removes; there is one at most. Call both with signals blocked.
void remove_on_signal(const std::string& path);
void keep_on_signal();

/// Whether a signal has to erase a progress line from the terminal first.
void erase_line_on_signal(bool erase);

/// This thread is about to write a line, or more of it, to where a reader sees it. From now on a signal waits for end_line(), a
/// second at most; a second signal does not wait.
void begin_line();
void end_line();
/// A signal waits: nothing that comes after the line is written.
[[nodiscard]] bool line_is_last();

} // namespace attn::cli
