// A stream, line by line.
#pragma once

#include "attn/tensor/shape.hpp"

#include <cstddef>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attn::cli {

struct Line {
    std::string text;      ///< without its end: "\n", or "\r\n"
    bool too_long = false; ///< longer than allowed; the text is dropped
};

/// How long to wait for whoever writes the stream: milliseconds, or for ever.
enum class Wait { yes = -1, no = 0, shortly = 2000 };

/// A line ends at "\n"; the last one may lack it. Never holds more than one line and a piece of the stream, no longer than one:
/// a line that is too long is given as soon as it is, and the rest of it passed over.
class LineReader {
public:
    /// `most` bytes are allowed in a line.
    LineReader(int descriptor, std::string name, std::size_t most);

    /// The beginning of the stream, which is still to be given line by line: what the first read gives, and further ones as
    /// long as `goes_on` says of each that there is more to it, up to about the length of a line. Once there is a whole line it
    /// waits shortly. Before anything else is asked for.
    [[nodiscard]] std::string_view front(const std::function<bool(std::string_view)>& goes_on);
    /// Nothing at the end of the stream and, without waiting, when there is no whole line yet.
    [[nodiscard]] std::optional<Line> next(Wait wait);
    /// Some lines in a row, as many as have come when the first of them has, up to about so many. None at the end. What fails
    /// behind lines that have come is thrown at the next call.
    [[nodiscard]] std::vector<Line> some(std::size_t most_lines, std::size_t most_bytes);
    /// Bytes of the stream up to the end of the last line that was given.
    [[nodiscard]] std::size_t consumed() const { return read_ - unread_.size(); }

private:
    enum class Arrival { more, none_yet, ended };

    void take(std::string_view part);
    [[nodiscard]] Line finish(bool ended);
    [[nodiscard]] Arrival fill(Wait wait);

    int descriptor_;
    std::string name_;
    std::size_t most_;
    std::string buffer_;
    std::string_view unread_; ///< of buffer_
    std::size_t read_ = 0;    ///< bytes of the stream
    Line line_;               ///< the part that was read of the next one
    bool ended_ = false;
    bool begun_ = false;        ///< there is such a part, be it empty
    bool first_ = true;         ///< of the lines, which may begin with a byte order mark
    bool passing_over_ = false; ///< up to the end of a line that was too long
    std::exception_ptr failure_;
};

} // namespace attn::cli
