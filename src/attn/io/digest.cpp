#include "attn/io/digest.hpp"

#ifdef ATTN_LIBMD
#include <sha2.h>
#else
// The functions of the algorithm alone: EVP, which replaces them, links every algorithm and reads a configuration file.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>
#endif

#include <array>
#include <vector>

namespace attn::io {
namespace {

using Digest = std::array<unsigned char, SHA256_DIGEST_LENGTH>;

Digest digest(Bytes bytes)
{
    Digest digest{};
#ifdef ATTN_LIBMD
    SHA2_CTX state{};
    SHA256Init(&state);
    SHA256Update(&state, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    SHA256Final(digest.data(), &state);
#else
    SHA256_CTX state{};
    SHA256_Init(&state);
    SHA256_Update(&state, bytes.data(), bytes.size());
    SHA256_Final(digest.data(), &state);
#endif
    return digest;
}

} // namespace

std::string sha256(Bytes bytes)
{
    constexpr std::string_view digits = "0123456789abcdef";
    std::string hex;
    for (const unsigned char byte : digest(bytes)) {
        hex += digits[byte >> 4U];
        hex += digits[byte & 15U];
    }
    return hex;
}

std::string sha256_source(Bytes bytes)
{
    constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text = "sha256-";
    unsigned bits = 0; // those that no letter stands for yet
    unsigned count = 0;
    for (const unsigned char byte : digest(bytes)) {
        bits = bits << 8U | byte;
        for (count += 8; count >= 6; count -= 6) {
            text += letters[bits >> (count - 6) & 63U];
        }
    }
    return text + letters[bits << (6 - count) & 63U] + '='; // 256 bits are 42 letters and 4 bits
}

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
