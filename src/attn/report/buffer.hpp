// Collects small pieces of a report and hands them to the sink in large ones.
#pragma once

#include "attn/report/sink.hpp"

#include <string>
#include <string_view>

namespace attn::report {

class Buffer {
public:
    /// The pieces are of about `size` bytes. The sink must outlive the buffer.
    explicit Buffer(const Sink& sink, std::size_t size = usual_size) : sink_(sink), size_(size)
    {
        text_.reserve(size_ + room_for_one_append);
    }

    /// For appending in place; call `settle` now and then.
    [[nodiscard]] std::string& text() { return text_; }

    /// Hands over what has gathered when it is a large piece.
    void settle()
    {
        if (text_.size() >= size_) {
            flush();
        }
    }

    /// What is a large piece by itself is handed over as it is.
    void append(std::string_view bytes)
    {
        if (bytes.size() >= size_) {
            flush();
            return sink_(bytes);
        }
        text_ += bytes;
        settle();
    }

    /// Hands over the rest. Not done by a destructor, because the sink may throw.
    void flush()
    {
        if (!text_.empty()) {
            sink_(text_);
            text_.clear();
        }
    }

private:
    static constexpr std::size_t usual_size = std::size_t{64} * 1024;
    static constexpr std::size_t room_for_one_append = 8192;
    const Sink& sink_;
    std::size_t size_;
    std::string text_;
};

} // namespace attn::report
