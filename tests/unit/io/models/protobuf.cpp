#include "attn/io/models/protobuf.hpp"

#include "unit/error_of.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace {

using attn::io::ProtoField;
using attn::io::ProtoReader;
using namespace std::string_literals;

std::vector<ProtoField> fields_of(std::string_view bytes)
{
    ProtoReader reader({attn::io::as_bytes(bytes)});
    std::vector<ProtoField> fields;
    while (const auto field = reader.next()) {
        fields.push_back(*field);
    }
    return fields;
}

std::string fault_of(const std::string& bytes)
{
    return error_of([&] { (void)fields_of(bytes); });
}

TEST(Protobuf, ReadsFieldsOfEveryWire)
{
    const std::string bytes = "\x08\x96\x01"         // field 1, a varint: 0x16 + 128
                              "\x12\x02hi"           // field 2, of 2 bytes
                              "\x1d\x00\x00\x80\xbf" // field 3, four bytes: -1 as float32
                              "\x21\x07\0\0\0\0\0\0\x80"
                              "\xaa\x06\x00"s; // field 101, of no bytes
    const std::vector<ProtoField> fields = fields_of(bytes);
    ASSERT_EQ(fields.size(), 5U);
    EXPECT_EQ(fields[0].number, 1U);
    EXPECT_EQ(fields[0].varint(), 150U);
    EXPECT_TRUE(fields[0].flag());
    EXPECT_EQ(fields[1].text(), "hi");
    EXPECT_EQ(fields[1].message().at, 5U);
    EXPECT_EQ(fields[2].float32(), -1);
    EXPECT_EQ(fields[3].value, 0x8000000000000007U);
    EXPECT_EQ(fields[4].number, 101U);
    EXPECT_EQ(fields[4].text(), "");
    EXPECT_EQ(fields_of("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")[0].varint(), 0xffffffffffffffffU);
    EXPECT_TRUE(fields_of("").empty());
}

TEST(Protobuf, RefusesWhatDoesNotEndWithinTheMessage)
{
    EXPECT_EQ(fault_of("\x08"), "byte 1 of the protobuf: got 1 bytes; allowed: up to 0, which are left");
    EXPECT_EQ(fault_of("\x08\x80"), "byte 2 of the protobuf: got 1 bytes; allowed: up to 0, which are left");
    EXPECT_EQ(fault_of("\x0a\x03no"), "byte 2 of the protobuf: got 3 bytes; allowed: up to 2, which are left");
    EXPECT_EQ(fault_of("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
              "byte 11 of the protobuf: got 18446744073709551615 bytes; allowed: up to 0, which are left");
    EXPECT_EQ(fault_of("\x0d\x01\x02\x03"), "byte 1 of the protobuf: got 4 bytes; allowed: up to 3, which are left");
    EXPECT_EQ(fault_of("\x09\x01"), "byte 1 of the protobuf: got 8 bytes; allowed: up to 1, which are left");
    EXPECT_EQ(fault_of("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
              "byte 11 of the protobuf: got a varint of more than 10 bytes; allowed: 64 bits");
}

TEST(Protobuf, RefusesOtherWiresAndFieldZero)
{
    EXPECT_EQ(fault_of("\x0b"), "byte 1 of the protobuf: got wire type 3; allowed: 0, 1, 2, 5"); // a group
    EXPECT_EQ(fault_of("\x0f"), "byte 1 of the protobuf: got wire type 7; allowed: 0, 1, 2, 5");
    EXPECT_EQ(fault_of("\x02\x01x"), "byte 1 of the protobuf: got field 0; allowed: fields from 1 on");
}

TEST(Protobuf, GivesAValueAsItsWireOnly)
{
    const std::string bytes = "\x08\x01\x12\x01x";
    const std::vector<ProtoField> fields = fields_of(bytes);
    EXPECT_EQ(error_of([&] { (void)fields[0].text(); }), "field 1 at byte 1: got a varint; allowed: sized bytes");
    EXPECT_EQ(error_of([&] { (void)fields[0].float32(); }), "field 1 at byte 1: got a varint; allowed: four bytes");
    EXPECT_EQ(error_of([&] { (void)fields[1].varint(); }), "field 2 at byte 4: got sized bytes; allowed: a varint");
    EXPECT_EQ(error_of([&] { (void)fields[0].message(); }), "field 1 at byte 1: got a varint; allowed: sized bytes");
}

} // namespace
