// A stream, line by line.
#pragma once

#include "attn/tensor/shape.hpp"

#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attn::cli {

struct Line {
    std::string text;      ///< without its end: "\n", or "\r\n"
    bool too_long = false; ///< longer than allowed; the text is dropped
};

/// Whether to wait for whoever writes the stream.
enum class Wait { no, yes };

/// A line ends at "\n"; the last one may lack it. Never holds more than one line and one piece of the stream: a line that is
/// too long is given as soon as it is, and the rest of it passed over.
class LineReader {
public:
    /// `most` bytes are allowed in a line.
    LineReader(int descriptor, std::string name, std::size_t most);

    /// What the first read of the stream gives, which is still to be given line by line. Before anything else is asked for.
    [[nodiscard]] std::string_view front();
    /// Nothing at the end of the stream and, without waiting, when there is no whole line yet.
    [[nodiscard]] std::optional<Line> next(Wait wait);
    /// Some lines in a row, as many as have come when the first of them has, up to about so many. None at the end. What fails
    /// behind lines that have come is thrown at the next call.
    [[nodiscard]] std::vector<Line> some(std::size_t most_lines, std::size_t most_bytes);
    /// Bytes of the stream up to the end of the last line that was given.
    [[nodiscard]] std::size_t consumed() const { return read_ - unread_.size(); }

private:
    enum class Input { more, none_yet, ended };

    void take(std::string_view part);
    [[nodiscard]] Line finish(bool ended);
    [[nodiscard]] Input fill(Wait wait);

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
