#include "attn/io/file_digest.hpp"

#include "attn/io/sha256.hpp"

#include <vector>

namespace attn::io {

model::FileDigest file_digest(Bytes bytes)
{
    if (bytes.size() <= whole_file_limit) {
        return {.sha256 = sha256(bytes), .sha256_sample = {}, .bytes = {}};
    }
    std::vector<std::byte> pieces;
    pieces.reserve(sample_pieces * sample_piece);
    const std::size_t last = bytes.size() - sample_piece;
    for (std::size_t i = 0; i < sample_pieces; ++i) {
        // last·i would overflow for files of 2^58 bytes only, which nobody can map
        const Bytes piece = bytes.subspan(last * i / (sample_pieces - 1), sample_piece);
        pieces.insert(pieces.end(), piece.begin(), piece.end());
    }
    return {.sha256 = {}, .sha256_sample = sha256(pieces), .bytes = static_cast<Index>(bytes.size())};
}

} // namespace attn::io
