// Tensor files built byte by byte for tests, independently of the library's writers, and what must be refused.
#pragma once

#include "attn/io/tensors/tensor_file.hpp"
#include "attn/tensor/error.hpp"
#include "unit/error_of.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace oracle {

inline std::string number(std::uint64_t value, int bytes)
{
    std::string out;
    for (int i = 0; i < bytes; ++i) {
        out += static_cast<char>(value & 0xff);
        value >>= 8U;
    }
    return out;
}

/// The elements' own bytes.
template <typename Value>
std::string elements(const std::vector<Value>& values)
{
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value)};
}

inline std::string npy(std::string_view header, std::string_view data, int major = 1)
{
    return "\x93NUMPY" + number(static_cast<std::uint64_t>(major), 1) + number(0, 1) +
           number(header.size(), major == 1 ? 2 : 4) + std::string(header) + std::string(data);
}

/// "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"
inline std::string npy_header(std::string_view descr, std::string_view shape, std::string_view fortran = "False")
{
    return "{'descr': '" + std::string(descr) + "', 'fortran_order': " + std::string(fortran) +
           ", 'shape': " + std::string(shape) + ", }\n";
}

inline std::string safetensors(std::string_view json, std::string_view data = "")
{
    return number(json.size(), 8) + std::string(json) + std::string(data);
}

inline std::uint32_t crc32(std::string_view bytes)
{
    std::uint32_t crc = 0xffffffffU;
    for (const char c : bytes) {
        crc ^= static_cast<unsigned char>(c);
        for (int bit = 0; bit < 8; ++bit) {
            crc = crc >> 1U ^ ((crc & 1U) != 0 ? 0xedb88320U : 0U);
        }
    }
    return ~crc;
}

/// Deflate data of one block that is not compressed (RFC 1951, 3.2.4); up to 65535 bytes.
inline std::string deflated(std::string_view contents)
{
    return number(1, 1) + number(contents.size(), 2) + number(~contents.size(), 2) + std::string(contents);
}

struct Member {
    std::string name;
    std::string contents;
    bool deflate = false;
    bool sizes_follow = false; ///< as in a stream: the local header has zeros, a descriptor comes behind the data
};

inline std::string zip(const std::vector<Member>& members, std::string_view comment = "")
{
    std::string out, directory;
    for (const Member& member : members) {
        const std::string data = member.deflate ? deflated(member.contents) : member.contents;
        const std::string sizes =
            number(crc32(member.contents), 4) + number(data.size(), 4) + number(member.contents.size(), 4);
        const std::string what =
            number(20, 2) + number(member.sizes_follow ? 8 : 0, 2) + number(member.deflate ? 8 : 0, 2) + number(0x00210000, 4);
        const std::string lengths = number(member.name.size(), 2) + number(0, 2);
        directory +=
            "PK\x01\x02" + number(20, 2) + what + sizes + lengths + number(0, 10) + number(out.size(), 4) + member.name;
        out += "PK\x03\x04" + what + (member.sizes_follow ? number(0, 12) : sizes) + lengths + member.name + data;
        out += member.sizes_follow ? "PK\x07\x08" + sizes : "";
    }
    return out + directory + "PK\x05\x06" + number(0, 4) + number(members.size(), 2) + number(members.size(), 2) +
           number(directory.size(), 4) + number(out.size(), 4) + number(comment.size(), 2) + std::string(comment);
}

/// `file` with `bytes` at `offset` behind the place where `mark` begins.
inline std::string patched(std::string file, std::string_view mark, std::size_t offset, std::string_view bytes)
{
    return file.replace(file.find(mark) + offset, bytes.size(), bytes);
}

inline std::span<const std::byte> bytes_of(std::string_view file)
{
    return std::as_bytes(std::span(file));
}

inline attn::io::TensorFile read(std::string_view file, std::string_view only = {}, attn::Index limit = attn::Index{1} << 40)
{
    return attn::io::read_tensors(bytes_of(file), "q.file", only, limit);
}

/// The values of the one tensor of that name, or of the only one.
inline std::vector<double> values(const attn::io::TensorFile& file, std::string_view name = "")
{
    return attn::load<double>(file.at(name, "file").view).values;
}

/// Refused as bad data (exit code 65), in one line that names the file and says `words`.
inline void expect_refusal(const std::function<void()>& read, std::string_view words)
{
    EXPECT_NE(error_of(read).find(words), std::string::npos) << words;
}
inline void expect_refused(std::string_view file, std::string_view words, std::string_view only = {})
{
    expect_refusal([&] { (void)read(file, only); }, words);
    expect_refusal([&] { (void)read(file, only); }, "q.file");
}

/// Whatever is cut off, one byte less or all, the rest is refused; so is one byte more.
inline void expect_every_length_but_its_own_refused(const std::string& file)
{
    for (std::size_t length = 0; length < file.size(); ++length) {
        const std::string front = file.substr(0, length); // its own copy, so that a sanitizer sees a read past the end
        expect_refused(front, "q.file");
    }
    expect_refused(file + '\0', "q.file");
}

/// Each bit of the file turned over in turn: read or refused, never anything else.
inline void expect_every_changed_bit_read_or_refused(const std::string& file)
{
    for (std::size_t bit = 0; bit < 8 * file.size(); ++bit) {
        std::string changed = file;
        changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ 1 << bit % 8);
        try {
            for (const auto& entry : read(changed).entries) {
                (void)attn::load<double>(entry.view);
            }
        } catch (const attn::Error& error) {
            EXPECT_EQ(error.kind(), attn::ErrorKind::data) << error.what();
        }
    }
}

} // namespace oracle
