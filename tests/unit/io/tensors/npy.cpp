#include "attn/io/tensors/npy.hpp"

#include "oracle/tensor_file_bytes.hpp"
#include "unit/error_of.hpp"

namespace {

using attn::ElementType;
using attn::Shape;
using oracle::elements;
using oracle::expect_refused;
using oracle::npy;
using oracle::npy_header;
using oracle::read;
using oracle::values;

const std::string six = elements<float>({1, 2, 3, 4, 5, 6});

TEST(Npy, ReadsAMatrix)
{
    const std::string file = npy(npy_header("<f4", "(2, 3)"), six);
    const auto tensors = read(file);
    const attn::TensorView& view = tensors.at("", "").view;
    EXPECT_EQ(view.type, ElementType::float32);
    EXPECT_EQ(view.shape, (Shape{2, 3}));
    EXPECT_EQ(values(tensors), (std::vector<double>{1, 2, 3, 4, 5, 6}));
}

TEST(Npy, LeavesTheElementsWhereTheyAre)
{
    const std::string file = npy(npy_header("<f4", "(2, 3)"), six);
    const auto tensors = read(file);
    EXPECT_EQ(static_cast<const void*>(tensors.at("", "").view.bytes.data()), file.data() + file.size() - six.size());
}

TEST(Npy, ReadsAllThreeVersions)
{
    for (const int version : {1, 2, 3}) {
        EXPECT_EQ(values(read(npy(npy_header("<f4", "(6,)"), six, version))), (std::vector<double>{1, 2, 3, 4, 5, 6}));
    }
}

TEST(Npy, ReadsEveryElementType)
{
    const auto one = [](std::string_view descr, const std::string& data) {
        const std::string file = npy(npy_header(descr, "()"), data);
        const auto tensors = read(file);
        return std::pair(tensors.at("", "").view.type, values(tensors).at(0));
    };
    EXPECT_EQ(one("<f2", elements<std::uint16_t>({0x3e00})), std::pair(ElementType::float16, 1.5));
    EXPECT_EQ(one("<f4", elements<float>({1.5F})), std::pair(ElementType::float32, 1.5));
    EXPECT_EQ(one("<f8", elements<double>({1.5})), std::pair(ElementType::float64, 1.5));
    EXPECT_EQ(one("|b1", elements<char>({1})), std::pair(ElementType::boolean, 1.0));
    EXPECT_EQ(one("<i8", elements<std::int64_t>({-5})), std::pair(ElementType::int64, -5.0));
}

TEST(Npy, ReadsBothByteOrders)
{
    EXPECT_EQ(values(read(npy(npy_header(">f4", "(1,)"), std::string("\x3f\xc0\0\0", 4)))), std::vector<double>{1.5});
    EXPECT_EQ(values(read(npy(npy_header(">f2", "(1,)"), std::string("\x3e\0", 2)))), std::vector<double>{1.5});
    EXPECT_EQ(values(read(npy(npy_header(">f8", "(1,)"), std::string("\x3f\xf8\0\0\0\0\0\0", 8)))), std::vector<double>{1.5});
    EXPECT_EQ(values(read(npy(npy_header(">i8", "(1,)"), std::string("\0\0\0\0\0\0\1\2", 8)))), std::vector<double>{258});
    for (const std::string_view own : {"=f4", "|f4", "f4"}) {
        EXPECT_EQ(values(read(npy(npy_header(own, "(1,)"), elements<float>({1.5F})))), std::vector<double>{1.5});
    }
}

TEST(Npy, ReadsFortranOrder)
{
    // [[1, 3, 5], [2, 4, 6]] column by column
    EXPECT_EQ(values(read(npy(npy_header("<f4", "(2, 3)", "True"), six))), (std::vector<double>{1, 3, 5, 2, 4, 6}));
}

TEST(Npy, ReadsRankZeroAndNoElements)
{
    EXPECT_EQ(values(read(npy(npy_header("<f4", "()"), elements<float>({7})))), std::vector<double>{7});
    const auto none = read(npy(npy_header("<f4", "(0, 3)", "True"), ""));
    EXPECT_EQ(none.at("", "").view.shape, (Shape{0, 3}));
    EXPECT_TRUE(values(none).empty());
}

TEST(Npy, ReadsWhatOtherWritersMakeOfTheHeader)
{
    for (const std::string_view header : {
             "{'shape': (2, 3), 'descr': '<f4', 'fortran_order': False}",
             "{\"descr\": \"<f4\", \"fortran_order\": False, \"shape\": (2, 3)}   \n",
             "{'descr':'<f4','fortran_order':False,'shape':(2,3,)}",
             " { 'descr' : '<f4' ,\n'fortran_order' : False , 'shape' : ( 2 , 3 ) , } ",
             "{'descr': '<f4', 'fortran_order': False, 'shape': (2L, 3L), }", // Python 2
         }) {
        EXPECT_EQ(values(read(npy(header, six))), (std::vector<double>{1, 2, 3, 4, 5, 6})) << header;
    }
}

TEST(Npy, RefusesHeadersThatAreNoSuchLiteral)
{
    for (const std::string_view header : {
             "",
             "{}",
             "[]",
             "{",
             "{'descr'",
             "{'descr': '<f4', 'fortran_order': False, 'shape': (6,)",
             "{'descr': '<f4', 'fortran_order': False, 'shape': (6,)} x",
             "{'descr': '<f4', 'fortran_order': False}",
             "{'descr': '<f4', 'shape': (6,)}",
             "{'fortran_order': False, 'shape': (6,)}",
             "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (6,)}",
             "{'descr': '<f4', 'fortran_order': False, 'shape': (6,), 'shape': (6,)}",
             "{'descr': '<f4', 'fortran_order': False, 'fortran_order': False, 'shape': (6,)}",
             "{'descr': '<f4', 'fortran_order': False, 'shape': (6,), 'more': 1}",
             "{'descr': '<f4', 'fortran_order': 0, 'shape': (6,)}",
             "{'descr': '<f4', 'fortran_order': False, 'shape': 6}",
             "{'descr': '<f4', 'fortran_order': False, 'shape': (6)}",
             "{'descr': '<f4', 'fortran_order': False, 'shape': [6]}",
             "{'descr': '<f4', 'fortran_order': False, 'shape': (-6,)}",
             "{'descr': '<f4', 'fortran_order': False, 'shape': (+6,)}",
             "{'descr': '<f4', 'fortran_order': False, 'shape': (06,)}",
             "{'descr': '<f4', 'fortran_order': False, 'shape': (6.0,)}",
             "{'descr': '<f4', 'fortran_order': False, 'shape': (0x6,)}",
             "{'descr': '<f4', 'fortran_order': False, 'shape': (,)}",
             "{'descr': '<f4', 'fortran_order': False, 'shape': (6,,)}",
             "{'descr': '<f4', 'fortran_order': False, 'shape': (True,)}",
             "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
             "{'descr': '\\x3cf4', 'fortran_order': False, 'shape': (6,)}",
             "{'descr': '<f4, 'fortran_order': False, 'shape': (6,)}",
             "{'descr': ['<f4', 'fortran_order': False, 'shape': (6,)}",
             "{'descr': __import__('os').system('id'), 'fortran_order': False, 'shape': (6,)}",
             "{descr: '<f4', 'fortran_order': False, 'shape': (6,)}",
         }) {
        expect_refused(npy(header, six), "header");
    }
}

TEST(Npy, RefusesPickles)
{
    expect_refused(npy(npy_header("|O", "(1,)"), "\x80\x03."), "Python objects ('O'), a pickle, which is never loaded");
}

TEST(Npy, RefusesOtherTypesByName)
{
    expect_refused(npy(npy_header("<c8", "(1,)"), "12345678"),
                   "element type: got '<c8'; allowed: float16, bfloat16, float32, float64, bool, uint8, int32, int64");
    for (const std::string_view type : {"<u4", "<U3", "|S2", "|V2", "<M8[ns]", "f", "<f16", "<<f4", "", "<"}) {
        expect_refused(npy(npy_header(type, "(1,)"), "1234"), "element type: got '" + std::string(type) + "'");
    }
    expect_refused(npy("{'descr': [('a', '<f4'), ('b', [('c', '>i2')], (2,))], 'fortran_order': False, 'shape': (1,)}", "1234"),
                   "element type: got '[('a', '<f4'), ('b', [('c', '>i2')], (2,))]'");
    expect_refused(npy("{'descr': (f4), 'fortran_order': False, 'shape': (1,)}", "1234"), "element type: got '(f4)'");
}

TEST(Npy, RefusesTwelveBytesThatAskForFourGigabytes)
{
    expect_refused(std::string("\x93NUMPY\x02\0\xff\xff\xff\xff", 12), "length of the header: got 4294967295");
    expect_refused(npy(npy_header("<f4", "(1073741824,)"), ""), "elements: got 0 bytes; allowed: 4294967296");
}

TEST(Npy, RefusesProductsThatOverflow)
{
    expect_refused(npy(npy_header("<f4", "(4611686018427387904, 4)"), six), "shape (4611686018427387904, 4)");
    expect_refused(npy(npy_header("<f4", "(4294967296, 4294967296)"), ""), "addressed");
    expect_refused(npy(npy_header("<f8", "(1152921504606846976,)"), ""), "addressed");
    // No element, and still too many for whoever walks over the rows.
    expect_refused(npy(npy_header("<f4", "(0, 4294967296, 4294967296)"), ""), "addressed");
}

TEST(Npy, RefusesMoreDimensionsThanNumPy)
{
    std::string ones;
    for (int i = 0; i < 64; ++i) {
        ones += "1, ";
    }
    EXPECT_EQ(values(read(npy(npy_header("<f4", "(" + ones + ")"), elements<float>({7})))), std::vector<double>{7});
    expect_refused(npy(npy_header("<f4", "(" + ones + "1)"), elements<float>({7})), "up to 64 dimensions");
    expect_refused(npy(npy_header("<f4", "(" + ones + ")"), ""), "a shape of 64 dimensions");
}

TEST(Npy, RefusesHeadersPastTheEndOrTooLong)
{
    const std::string header = npy_header("<f4", "(6,)");
    std::string file = npy(header, "");
    file[8] = static_cast<char>(header.size() + 1);
    expect_refused(file, "the rest of the file");
    EXPECT_EQ(values(read(npy(header + std::string(10000 - header.size(), ' '), six, 1))).size(), 6);
    expect_refused(npy(header + std::string(10001 - header.size(), ' '), six, 2), "up to 10000");
}

TEST(Npy, RefusesOtherVersions)
{
    expect_refused(npy(npy_header("<f4", "(6,)"), six, 4), "version: got 4.0; allowed: 1.0, 2.0, 3.0");
    expect_refused(npy(npy_header("<f4", "(6,)"), six, 0), "version: got 0.0");
    std::string file = npy(npy_header("<f4", "(6,)"), six);
    file[7] = 1;
    expect_refused(file, "version: got 1.1");
}

TEST(Npy, RefusesMoreAndFewerBytesThanTheShapeNeeds)
{
    expect_refused(npy(npy_header("<f4", "(2, 3)"), six + six),
                   "elements: got 48 bytes; allowed: 24 for the shape (2, 3) of float32");
    oracle::expect_every_length_but_its_own_refused(npy(npy_header("<f4", "(2, 3)"), six));
    oracle::expect_every_length_but_its_own_refused(npy(npy_header("<f4", "(2, 3)"), six, 2));
    // A second file behind the first.
    expect_refused(npy(npy_header("<f4", "(6,)"), six) + npy(npy_header("<f4", "(6,)"), six), "elements");
}

TEST(Npy, SurvivesEveryChangedBit)
{
    oracle::expect_every_changed_bit_read_or_refused(npy(npy_header("|b1", "(2, 1)", "True"), std::string("\1\0", 2)));
}

TEST(Npy, RefusesBooleansOtherThanZeroAndOneWhenRead)
{
    const std::string file = npy(npy_header("|b1", "(3,)"), std::string("\0\1\2", 3));
    oracle::expect_refusal([&] { (void)read(file); }, "at (2,): got 2; allowed: 0 or 1 in a bool tensor");
}

TEST(Npy, HasNoNamesToAskFor)
{
    expect_refused(npy(npy_header("<f4", "(6,)"), six), "the name 'W_q'", "W_q");
}

TEST(Npy, WritesWhatNumPyWrites)
{
    attn::Buffer file;
    attn::io::write_npy({"", attn::row_major_view(ElementType::float32, {2, 3}, oracle::bytes_of(six))}, file);
    const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
    EXPECT_EQ(file.text(), npy(header + std::string(128 - 10 - 1 - header.size(), ' ') + "\n", six));
    EXPECT_EQ(values(read(file.text())), (std::vector<double>{1, 2, 3, 4, 5, 6}));
}

TEST(Npy, WritesEveryTypeAndShape)
{
    for (const ElementType type : {ElementType::float16, ElementType::float32, ElementType::float64, ElementType::boolean,
                                   ElementType::uint8, ElementType::int32, ElementType::int64}) {
        for (const Shape& shape : {Shape{}, Shape{1}, Shape{0}, Shape{2, 0, 3}, Shape(64, 1)}) {
            const std::string zeros(static_cast<std::size_t>(attn::element_count(shape) * attn::size_of(type)), '\0');
            attn::Buffer file;
            attn::io::write_npy({"", attn::row_major_view(type, shape, oracle::bytes_of(zeros))}, file);
            EXPECT_EQ((file.text().size() - zeros.size()) % 64, 0);
            const auto tensors = read(file.text());
            EXPECT_EQ(tensors.at("", "").view.type, type);
            EXPECT_EQ(tensors.at("", "").view.shape, shape);
        }
    }
}

TEST(Npy, WritesBfloat16AsTwoBytesOfNoType)
{
    const std::string bits("\x80\x3f\xc0\xbf", 4);
    attn::Buffer file;
    attn::io::write_npy({"", attn::row_major_view(ElementType::bfloat16, {2}, oracle::bytes_of(bits))}, file);
    const std::string header = "{'descr': '<V2', 'fortran_order': False, 'shape': (2,), }"; // as ml_dtypes has it
    EXPECT_EQ(file.text(), npy(header + std::string(128 - 10 - 1 - header.size(), ' ') + "\n", bits));
    expect_refused(file.text(),
                   "element type: got '<V2', two bytes without a type; allowed: FILE:bfloat16 or FILE:NAME:bfloat16, if");
    const auto tensors = read(file.text(), "bfloat16");
    EXPECT_EQ(tensors.at("", "").view.type, ElementType::bfloat16);
    EXPECT_EQ(values(tensors), (std::vector<double>{1, -1.5}));
}

TEST(Npy, ReadsTwoBytesOfNoTypeAsItIsTold)
{
    const std::string bits("\x80\x3f\xc0\xbf\x40\x40\x00\x00", 8);
    for (const char* type : {"<V2", "|V2", "=V2", "V2"}) {
        EXPECT_EQ(values(read(npy(npy_header(type, "(2, 2)"), bits), "bfloat16")), (std::vector<double>{1, -1.5, 3, 0}))
            << type;
    }
    EXPECT_EQ(values(read(npy(npy_header("<V2", "(2, 2)", "True"), bits), "bfloat16")), (std::vector<double>{1, 3, -1.5, 0}));
    for (const char* type : {"<f4", "<f2", "<u2", ">V2", "|V4", "V", ""}) {
        expect_refused(npy(npy_header(type, "(2, 2)"), bits),
                       "element type: got bfloat16 for a tensor of type '" + std::string(type) +
                           "'; allowed: :bfloat16 for '<V2' and '|V2' alone",
                       "bfloat16");
    }
    expect_refused(npy(npy_header("<V2", "(5,)"), bits), "elements: got 8 bytes; allowed: 10 for the shape (5,) of bfloat16",
                   "bfloat16");
    expect_refused(npy(npy_header("<V2", "(4,)"), bits), "the name 'q'; allowed: none", "q:bfloat16");
    oracle::expect_every_length_but_its_own_refused(npy(npy_header("<V2", "(4,)"), bits));
}

} // namespace
