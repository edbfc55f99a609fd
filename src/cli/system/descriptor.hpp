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

/// Whether it was open when the program started.
[[nodiscard]] bool is_usable(int descriptor);

/// Bytes of a regular file between the place where the descriptor stands and the end; nothing of any other.
[[nodiscard]] std::optional<std::size_t> bytes_left(int descriptor);

/// The next bytes of the descriptor; 0 at its end. `name` is for the message of Error(io), or Error(no_input) for a directory.
[[nodiscard]] std::size_t read_some(int descriptor, std::span<char> buffer, std::string_view name);

/// poll(2), also when signals interrupt it; every other failure is Error(io).
void wait_for(std::span<pollfd> descriptors, int timeout, std::string_view name);

/// Error(io) when it cannot write all, ReaderGone when nobody reads.
void write_all(int descriptor, std::string_view bytes, std::string_view name);
/// The same; a signal that ends the program waits for the end of the line under way (signals.hpp).
void write_lines(int descriptor, std::string_view bytes, std::string_view name);

/// What a reader must not find cut off: nothing, because it sees the bytes only when all are there; or a line.
enum class Content { bytes, lines };

/// Collects bytes and writes them in large pieces, of whole lines where they are shorter than a piece. What is not flushed is
/// not written: a command that fails stays silent.
class BufferedWriter {
public:
    BufferedWriter(int descriptor, std::string name, Content content)
        : descriptor_(descriptor), name_(std::move(name)), content_(content)
    {
    }
    void write(std::string_view bytes);
    void flush();

private:
    void send(std::string_view bytes);

    int descriptor_;
    std::string name_;
    Content content_;
    std::string buffer_;
};

} // namespace attn::cli
