// A stream, line by line, and in batches for several threads.
#pragma once

#include "attn/tensor/shape.hpp"

#include <cstddef>
#include <exception>
#include <mutex>
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
    /// Once the descriptor `wake` can be read, nobody waits for the stream any more, as though it had ended; -1: none.
    LineReader(int descriptor, std::string name, std::size_t most, int wake = -1);

    /// What the first read of the stream gives, which is still to be given line by line. Before anything else is asked for.
    [[nodiscard]] std::string_view front();
    /// Nothing at the end of the stream and, without waiting, when there is no whole line yet.
    [[nodiscard]] std::optional<Line> next(Wait wait);
    /// Bytes of the stream up to the end of the last line that was given.
    [[nodiscard]] std::size_t consumed() const { return read_ - unread_.size(); }

private:
    enum class Input { more, none_yet, ended };

    void take(std::string_view part);
    [[nodiscard]] Line finish(bool ended);
    [[nodiscard]] Input fill(Wait wait);

    int descriptor_;
    int wake_;
    std::string name_;
    std::size_t most_;
    std::string buffer_;
    std::string_view unread_;   ///< of buffer_
    std::size_t read_ = 0;      ///< bytes of the stream
    Line line_;                 ///< the part that was read of the next one
    bool begun_ = false;        ///< there is such a part, be it empty
    bool first_ = true;         ///< of the lines, which may begin with a byte order mark
    bool passing_over_ = false; ///< up to the end of a line that was too long
};

/// Some lines in a row.
struct Batch {
    Index number = 0; ///< of the batches
    Index first = 0;  ///< the number of its first line
    std::vector<Line> lines;
    std::optional<double> share; ///< of the stream up to its end, where that has a known size
    bool full = false;           ///< it could have been longer
    std::exception_ptr failure;  ///< that came after these lines
};

/// Hands out a stream in batches, each as long as it can be without keeping a line waiting for one that has not come yet.
/// May be used by several threads at once.
class Batches {
public:
    /// `first` is the number of the first line, `size` the bytes of a stream that ends.
    explicit Batches(LineReader reader, Index first = 0, std::optional<std::size_t> size = {})
        : reader_(std::move(reader)), size_(size), next_line_(first)
    {
    }

    /// As LineReader::front, before the first batch.
    [[nodiscard]] std::string_view front();
    /// An empty one at the end, and after a failure.
    [[nodiscard]] Batch next();

private:
    std::mutex mutex_;
    LineReader reader_;
    std::optional<std::size_t> size_;
    Index next_number_ = 0;
    Index next_line_;
    bool ended_ = false;
};

} // namespace attn::cli
