// A stream, line by line.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace attn::cli {

struct Line {
    std::string text;      ///< without its end: "\n", or "\r\n"
    bool too_long = false; ///< longer than allowed; the text is dropped
};

/// A line ends at "\n"; the last one may lack it. Never holds more than one line and one piece of the stream.
class LineReader {
public:
    /// `before_waiting` is called before each read, which may take as long as whoever writes the stream: a good moment to
    /// flush.
    LineReader(int descriptor, std::string name, std::size_t most, std::function<void()> before_waiting);

    [[nodiscard]] std::optional<Line> next();

private:
    bool fill();

    int descriptor_;
    std::string name_;
    std::size_t most_;
    std::function<void()> before_waiting_;
    std::string buffer_;
    std::string_view unread_; ///< of buffer_
};

} // namespace attn::cli
