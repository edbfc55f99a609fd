// Bytes on their way out.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

namespace attn {

/// What every writer writes into. It gathers small pieces; who derives from it takes them away in large ones. By itself it
/// keeps all that is written, as one text.
class Buffer {
public:
    Buffer() = default;
    Buffer(const Buffer&) = delete;
    Buffer(Buffer&&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    Buffer& operator=(Buffer&&) = delete;
    virtual ~Buffer() = default;

    /// For appending in place; call `settle` now and then.
    [[nodiscard]] std::string& text() { return text_; }

    /// Hands over what has gathered when it is a large piece.
    void settle()
    {
        if (text_.size() >= size_) {
            flush();
        }
    }

    void append(std::string_view bytes)
    {
        if (bytes.size() >= size_) { // large enough to go without a copy
            flush();
            send(bytes);
        } else {
            text_ += bytes;
            settle();
        }
    }

    /// Hands over the rest. Not done by a destructor, because that may throw.
    void flush()
    {
        if (size_ != everything && !text_.empty()) {
            send(text_);
            text_.clear();
        }
    }

protected:
    /// The pieces are of about `size` bytes.
    explicit Buffer(std::size_t size) : size_(size) { text_.reserve(size_ + room_for_one_append); }

    /// Takes away the next piece. What it throws ends the writing.
    virtual void send(std::string_view /*bytes*/) {}

    static constexpr std::size_t usual_size = std::size_t{64} * 1024;

private:
    static constexpr std::size_t everything = std::numeric_limits<std::size_t>::max();
    static constexpr std::size_t room_for_one_append = 8192;
    std::size_t size_ = everything;
    std::string text_;
};

} // namespace attn
