#include "attn/io/file_digest.hpp"

#include "attn/io/sha256.hpp"

#include <gtest/gtest.h>

namespace {

using attn::io::as_bytes;
using attn::io::file_digest;

TEST(FileDigest, OfASmallFileIsItsSha256)
{
    const std::string file(attn::io::whole_file_limit, 'x');
    EXPECT_EQ(file_digest(as_bytes(file)), (attn::model::FileDigest{.sha256 = attn::io::sha256(as_bytes(file))}));
}

TEST(FileDigest, OfALargeFileIsThatOfPiecesFromBothEndsAndBetween)
{
    std::string file(attn::io::whole_file_limit + 12'345, '\0');
    for (std::size_t i = 0; i < file.size(); ++i) {
        file[i] = static_cast<char>(i * 2654435761U >> 13U);
    }
    std::string pieces;
    for (std::size_t i = 0; i < 64; ++i) {
        pieces += file.substr(i * (file.size() - 65'536) / 63, 65'536);
    }
    const auto digest = file_digest(as_bytes(file));
    EXPECT_EQ(digest.sha256, "");
    EXPECT_EQ(digest.sha256_sample, attn::io::sha256(as_bytes(pieces)));
    EXPECT_EQ(digest.bytes, file.size());
    for (const std::size_t place : {std::size_t{0}, file.size() / 63 + 100, file.size() - 1}) {
        std::string other = file;
        other[place] = static_cast<char>(other[place] ^ 1);
        EXPECT_NE(file_digest(as_bytes(other)), digest) << place;
    }
}

} // namespace
