#include "attn/io/models/protobuf.hpp"

#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>

namespace attn::io {

void ProtoField::require(Wire wanted) const
{
    static constexpr std::array<std::string_view, 6> names{"a varint", "eight bytes", "sized bytes", "", "", "four bytes"};
    if (wire != wanted) {
        throw Error(ErrorKind::data, fmt::format("field {} at byte {}", number, content.at),
                    names.at(static_cast<std::size_t>(wire)), names.at(static_cast<std::size_t>(wanted)));
    }
}

std::uint64_t ProtoField::varint() const
{
    require(Wire::varint);
    return value;
}

float ProtoField::float32() const
{
    require(Wire::four_bytes);
    return std::bit_cast<float>(static_cast<std::uint32_t>(value));
}

std::string_view ProtoField::text() const
{
    require(Wire::sized);
    return as_text(content.bytes);
}

ProtoMessage ProtoField::message() const
{
    require(Wire::sized);
    return content;
}

void ProtoReader::refuse(std::string_view value, std::string_view allowed) const
{
    throw Error(ErrorKind::data, fmt::format("byte {} of the protobuf", message_.at + read_), value, allowed);
}

Bytes ProtoReader::take(std::uint64_t count)
{
    const std::size_t left = message_.bytes.size() - read_;
    if (count > left) {
        refuse(fmt::format("{} bytes", count), fmt::format("up to {}, which are left", left));
    }
    const Bytes taken = message_.bytes.subspan(read_, static_cast<std::size_t>(count));
    read_ += taken.size();
    return taken;
}

std::uint64_t ProtoReader::varint()
{
    constexpr unsigned bits = 64;
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < bits; shift += 7) {
        const auto byte = std::to_integer<std::uint64_t>(take(1).front());
        value |= (byte & 0x7FU) << shift;
        if (byte < 0x80U) {
            return value;
        }
    }
    refuse("a varint of more than 10 bytes", "64 bits");
}

std::optional<ProtoField> ProtoReader::next()
{
    if (read_ == message_.bytes.size()) {
        return std::nullopt;
    }
    const std::uint64_t tag = varint();
    ProtoField field;
    field.number = tag >> 3U;
    field.wire = static_cast<ProtoField::Wire>(tag & 7U);
    if (field.number == 0) {
        refuse("field 0", "fields from 1 on");
    }
    const std::uint64_t size = field.wire == ProtoField::Wire::sized ? varint() : 0;
    field.content.at = message_.at + read_;
    switch (field.wire) {
    case ProtoField::Wire::varint: field.value = varint(); break;
    case ProtoField::Wire::eight_bytes: field.value = little<std::uint64_t>(take(sizeof(std::uint64_t)), 0); break;
    case ProtoField::Wire::four_bytes: field.value = little<std::uint32_t>(take(sizeof(std::uint32_t)), 0); break;
    case ProtoField::Wire::sized: field.content.bytes = take(size); break;
    default: refuse(fmt::format("wire type {}", tag & 7U), "0, 1, 2, 5");
    }
    return field;
}

} // namespace attn::io
