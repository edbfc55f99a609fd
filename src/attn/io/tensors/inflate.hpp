// Deflated data and checksums (RFC 1951, zlib).
#pragma once

#include "attn/io/bytes.hpp"

#include <memory>

struct z_stream_s;

namespace attn::io {

/// Inflates raw deflate data part by part, so that the front can be checked before there is room for the rest.
class Inflater {
public:
    /// `what` names the data in messages and must outlive this.
    Inflater(Bytes deflated, std::string_view what);

    /// Fills `out`, or less where the data ends; returns how many bytes it wrote. Throws Error(data) for what is no deflate
    /// data.
    std::size_t read(std::span<std::byte> out);
    /// Throws Error(data) unless all was read and nothing is left over.
    void finish();

private:
    struct End {
        void operator()(z_stream_s* stream) const;
    };
    std::unique_ptr<z_stream_s, End> stream_;
    Bytes rest_; ///< what zlib has not been given yet: it counts in 32 bits
    std::string_view what_;
    bool ended_ = false;
};

/// CRC-32 of ZIP and PNG; `before` is that of what comes before.
[[nodiscard]] std::uint32_t crc32_of(Bytes bytes, std::uint32_t before = 0);

} // namespace attn::io
