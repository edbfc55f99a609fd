// SHA-256 (FIPS 180-4; libcrypto, or libmd), by which a config names the files that it was computed with.
//
// SHA-256 of all of a file of gigabytes takes longer than finding ten words in it. So a file of more than whole_file_limit
// bytes is known by its length and the SHA-256 of sample_pieces pieces of sample_piece bytes one after the other: piece i
// begins at byte i·(length - sample_piece)/(sample_pieces - 1), rounded down. Another file, or one that lacks or has something,
// is told by it; a change between the pieces is not, but then the numbers of the result tell.
#pragma once

#include "attn/io/bytes.hpp"
#include "attn/model/recipe/file_embeddings.hpp"

#include <string>

namespace attn::io {

/// 64 lower-case hexadecimal digits, as `sha256sum` prints them.
[[nodiscard]] std::string sha256(Bytes bytes);
/// "sha256-" and the digest in base64, by which a Content-Security-Policy names a script.
[[nodiscard]] std::string sha256_source(Bytes bytes);

inline constexpr std::size_t whole_file_limit = std::size_t{4} << 20U;
inline constexpr std::size_t sample_pieces = 64;
inline constexpr std::size_t sample_piece = std::size_t{64} << 10U;

[[nodiscard]] model::FileDigest file_digest(Bytes bytes);

} // namespace attn::io
