// File descriptors: reads and writes whose every failure is noticed.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <poll.h>

namespace attn::cli {

/// Thrown when the reader of what we write has gone away (`| head`). That is no error: the program ends quietly.
struct ReaderGone {};

/// What the system says of an errno value: "No space left on device".
[[nodiscard]] std::string reason(int error);

/// Descriptors 0, 1 and 2 that were closed when the program started are taken by something that can be neither read nor
/// written, so that no file opened later becomes standard output, and using them fails as it would have.
void occupy_closed_descriptors();

/// Whether it can be read, as what was closed when the program started cannot.
[[nodiscard]] bool is_readable(int descriptor);

/// Bytes of a regular file between the place where the descriptor stands and the end; nothing of any other.
[[nodiscard]] std::optional<std::size_t> bytes_left(int descriptor);

/// The next bytes of the descriptor; 0 at its end. `name` is for the message of Error(io), or Error(no_input) for a directory.
[[nodiscard]] std::size_t read_some(int descriptor, std::span<char> buffer, std::string_view name);

/// poll(2), also when signals interrupt it; every other failure is Error(io).
void wait_for(std::span<pollfd> descriptors, int timeout, std::string_view name);

/// Error(io) when it cannot write all, ReaderGone when nobody reads.
void write_all(int descriptor, std::string_view bytes, std::string_view name);

} // namespace attn::cli
