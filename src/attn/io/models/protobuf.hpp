// The wire format of protobuf (protobuf.dev/programming-guides/encoding): a message is fields, one after the other.
//
//   field:  varint  number << 3 | wire
//   wire 0  varint                      7 bits a byte, the lowest first; the high bit says that more follow
//   wire 1  8 bytes, little-endian
//   wire 2  varint  size, so many bytes     texts and messages
//   wire 5  4 bytes, little-endian
//
// A message says neither its kind nor its size; of a field that is there twice the last one counts.
#pragma once

#include "attn/io/bytes.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace attn::io {

struct ProtoMessage {
    Bytes bytes;
    std::size_t at = 0; ///< where it begins in the file, for messages
};

class ProtoField {
public:
    enum class Wire { varint, eight_bytes, sized, four_bytes = 5 };

    std::uint64_t number = 0;
    Wire wire = Wire::varint;
    std::uint64_t value = 0;   ///< of a varint, of four bytes or of eight
    ProtoMessage content = {}; ///< of what has a size

    // Each throws Error(data) for a field of another wire.
    [[nodiscard]] std::uint64_t varint() const;
    [[nodiscard]] bool flag() const { return varint() != 0; }
    [[nodiscard]] float float32() const;
    [[nodiscard]] std::string_view text() const;
    [[nodiscard]] ProtoMessage message() const;

private:
    void require(Wire wanted) const;
};

class ProtoReader {
public:
    explicit ProtoReader(ProtoMessage message) : message_(message) {}

    /// Nothing where the message ends. Throws Error(data) for a field that does not end within it, a number of 0, and a wire
    /// that is not above.
    [[nodiscard]] std::optional<ProtoField> next();

private:
    [[nodiscard]] std::uint64_t varint();
    [[nodiscard]] Bytes take(std::uint64_t count);
    [[noreturn]] void refuse(std::string_view value, std::string_view allowed) const;

    ProtoMessage message_;
    std::size_t read_ = 0; ///< bytes of it
};

} // namespace attn::io
