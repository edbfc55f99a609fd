// ZIP archives as NumPy, Python and zip(1) write them (PKWARE's APPNOTE.TXT 6.3), without encryption, parts or anything before
// the first member.
//
//   for each member:  local header, name, extra fields, data          "PK\3\4"
//   directory:        an entry for each member                        "PK\1\2"
//   with zip64:       end record of 64 bits, and where to find it     "PK\6\6", "PK\6\7"
//   end record:       where the directory is; a comment               "PK\5\6"
//
// A size or offset of 32 one-bits stands for the one of 64 bits in an extra field; NumPy writes those in every local header.
// What counts is the directory; a local header must agree with it.
#pragma once

#include "attn/io/bytes.hpp"
#include "attn/tensor/buffer.hpp"

#include <memory>
#include <string>
#include <vector>

struct z_stream_s;

namespace attn::io {

/// Inflates raw deflate data (RFC 1951, by zlib) part by part, so that the front can be checked before there is room for the
/// rest.
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

struct ZipMember {
    std::string name;
    std::size_t header = 0; ///< where its local header begins
    Bytes data;             ///< as stored, or deflated
    bool deflated = false;
    std::uint32_t crc = 0; ///< CRC-32 of the contents
    Index size = 0;        ///< of the contents
};

/// In the order of the directory. Throws Error(data), naming `what`: anything that contradicts itself or the file, members that
/// overlap, methods other than stored and deflated, sizes that deflate cannot reach, more members than most_tensors.
[[nodiscard]] std::vector<ZipMember> zip_members(Bytes file, std::string_view what);

/// The comment at its end. Throws Error(data) where there is no end record.
[[nodiscard]] std::string_view zip_comment(Bytes file, std::string_view what);

/// Contents to be stored, in parts of any sizes.
struct ZipSource {
    std::string name; ///< UTF-8
    std::vector<Bytes> parts;
};
/// Writes an archive without compression, dated 1980-01-01. From `zip64_from` on, a size or offset is written in 64 bits. The
/// comment has up to 65535 bytes.
void write_zip(const std::vector<ZipSource>& sources, Buffer& buffer, std::uint64_t zip64_from = 0xffffffffU,
               std::string_view comment = {});

} // namespace attn::io
