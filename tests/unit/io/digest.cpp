#include "attn/io/digest.hpp"

#include <gtest/gtest.h>

namespace {

using attn::io::as_bytes;
using attn::io::file_digest;
using attn::io::sha256;

TEST(Sha256, GivesTheDigestsOfTheStandardsExamples)
{
    EXPECT_EQ(sha256(as_bytes("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(sha256(as_bytes("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(sha256(as_bytes("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(sha256(as_bytes(std::string(1'000'000, 'a'))),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// The padding takes one block or two; sha256sum made the digests.
TEST(Sha256, PadsEveryLengthAroundABlock)
{
    EXPECT_EQ(sha256(as_bytes(std::string(55, 'a'))), "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
    EXPECT_EQ(sha256(as_bytes(std::string(56, 'a'))), "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
    EXPECT_EQ(sha256(as_bytes(std::string(64, 'a'))), "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
}

// As `openssl dgst -sha256 -binary | base64` prints it.
TEST(Sha256, NamesAScriptInAPolicy)
{
    EXPECT_EQ(attn::io::sha256_source(as_bytes("abc")), "sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
    EXPECT_EQ(attn::io::sha256_source(as_bytes("")), "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
}

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
