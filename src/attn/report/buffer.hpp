// Collects small pieces of a report and hands them to the sink in large ones.
#pragma once

#include "attn/report/sink.hpp"

#include <string>
#include <string_view>

namespace attn::report {

class Buffer {
public:
    explicit Buffer(const Sink& sink) : sink_(sink) { text_.reserve(capacity + 1024); }

    /// For appending in place; call `settle` now and then.
    [[nodiscard]] std::string& text() { return text_; }

    /// Hands over what has gathered when it is a large piece.
    void settle()
    {
        if (text_.size() >= capacity) {
            flush();
        }
    }

    void append(std::string_view bytes)
    {
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
    static constexpr std::size_t capacity = std::size_t{64} * 1024;
    const Sink& sink_;
    std::string text_;
};

} // namespace attn::report
