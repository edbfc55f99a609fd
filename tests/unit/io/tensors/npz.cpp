#include "attn/io/tensors/npy.hpp"

#include "attn/io/tensors/zip.hpp"
#include "oracle/tensor_file_bytes.hpp"

namespace {

using oracle::elements;
using oracle::expect_refused;
using oracle::Member;
using oracle::npy;
using oracle::npy_header;
using oracle::number;
using oracle::patched;
using oracle::read;
using oracle::values;
using oracle::zip;

using Values = std::vector<double>;

const std::string local = "PK\x03\x04", entry = "PK\x01\x02", end_record = "PK\x05\x06", end64 = "PK\x06\x06",
                  locator = "PK\x06\x07";
const std::string one_two = npy(npy_header("<f4", "(2,)"), elements<float>({1, 2}));
const std::string three = npy(npy_header("<f8", "()"), elements<double>({3}));
const std::string plain = zip({{"a.npy", one_two}});
const std::string squeezed = zip({{"a.npy", one_two, true}});
const std::string two = zip({{"a.npy", one_two, true}, {"b.npy", three}});

/// An archive in which every size and offset has 64 bits.
std::string wide()
{
    attn::Buffer file;
    attn::io::write_zip({{"a.npy", {oracle::bytes_of(one_two)}}, {"b.npy", {oracle::bytes_of(three)}}}, file, 0);
    return file.text();
}

TEST(Npz, ReadsStoredAndDeflatedMembers)
{
    EXPECT_EQ(values(read(plain), "a"), (Values{1, 2}));
    EXPECT_EQ(values(read(squeezed), "a"), (Values{1, 2}));
    const auto both = read(two);
    ASSERT_EQ(both.entries.size(), 2);
    EXPECT_EQ(both.entries[0].name, "a");
    EXPECT_EQ(both.entries[1].name, "b");
    EXPECT_EQ(values(both, "a"), (Values{1, 2}));
    EXPECT_EQ(values(both, "b"), (Values{3}));
}

TEST(Npz, LeavesStoredElementsWhereTheyAre)
{
    const auto tensors = read(plain);
    EXPECT_EQ(static_cast<const void*>(tensors.at("a", "").view.bytes.data()), plain.data() + 30 + 5 + one_two.size() - 8);
    EXPECT_EQ(tensors.at("a", "").owner, nullptr);
}

TEST(Npz, ReadsAnEmptyArchiveACommentAndStreamedMembers)
{
    EXPECT_TRUE(read(zip({})).entries.empty());
    EXPECT_EQ(values(read(zip({{"a.npy", one_two}}, "a comment")), "a"), (Values{1, 2}));
    EXPECT_EQ(values(read(zip({{"a.npy", one_two}}, std::string(65535, '#'))), "a"), (Values{1, 2}));
    EXPECT_EQ(values(read(zip({{"a.npy", one_two}}, "PK\x05\x06" + std::string(20, '\0'))), "a"), (Values{1, 2}));
    EXPECT_EQ(values(read(zip({{"a.npy", one_two, true, true}, {"b.npy", three, false, true}})), "b"), (Values{3}));
}

TEST(Npz, ReadsSizesAndOffsetsOf64Bits)
{
    const std::string file = wide();
    EXPECT_EQ(values(read(file), "a"), (Values{1, 2}));
    EXPECT_EQ(values(read(file), "b"), (Values{3}));
}

TEST(Npz, TakesNamesWithPathsAsNames)
{
    EXPECT_EQ(values(read(zip({{"../../etc/passwd.npy", three}})), "../../etc/passwd"), (Values{3}));
    EXPECT_EQ(values(read(zip({{".npy", three}})), ""), (Values{3}));
}

TEST(Npz, LooksAtNothingButTheWantedMember)
{
    const std::string file = zip({{"a.npy", one_two}, {"b.npy", "no array"}, {"c.npy", "nor this", true}});
    const auto tensors = read(file, "a");
    ASSERT_EQ(tensors.entries.size(), 1);
    EXPECT_EQ(values(tensors, "a"), (Values{1, 2}));
    expect_refused(file, "'b'");
    expect_refused(two, "no tensor 'z'", "z");
}

TEST(Npz, ReadsTwoBytesOfNoTypeAsItIsTold)
{
    const std::string halves = npy(npy_header("<V2", "(2,)"), std::string("\x80\x3f\xc0\xbf", 4));
    const std::string file = zip({{"a.npy", one_two}, {"h.npy", halves}, {"squeezed.npy", halves, true}});
    const auto untold = read(file);
    ASSERT_EQ(untold.unsupported.size(), 2);
    EXPECT_EQ(values(untold, "a"), (Values{1, 2}));
    expect_refused(file, "'h' in q.file: element type: got '<V2', two bytes without a type; allowed: FILE:bfloat16", "h");
    for (const char* name : {"h", "squeezed"}) {
        const auto one = read(file, name + std::string(":bfloat16"));
        ASSERT_EQ(one.entries.size(), 1);
        EXPECT_EQ(values(one, name), (Values{1, -1.5}));
    }
    const auto all = read(file, "bfloat16");
    EXPECT_EQ(all.entries.size(), 3);
    EXPECT_EQ(values(all, "squeezed"), (Values{1, -1.5}));
    EXPECT_EQ(values(all, "a"), (Values{1, 2}));
    expect_refused(file, "element type: got bfloat16 for a tensor of type '<f4'", "a:bfloat16");
    expect_refused(file, "no tensor 'x'", "x:bfloat16");
    const std::string named = zip({{"bfloat16.npy", three}, {"a:bfloat16.npy", one_two}, {"h.npy", halves}});
    EXPECT_EQ(values(read(named, "bfloat16"), "bfloat16"), (Values{3}));
    EXPECT_EQ(values(read(named, "a:bfloat16"), "a:bfloat16"), (Values{1, 2}));
}

TEST(Npz, WritesBfloat16AsTwoBytesOfNoType)
{
    const std::string bits("\x80\x3f\xc0\xbf", 4);
    attn::Buffer file;
    attn::io::write_npz({{"h", attn::row_major_view(attn::ElementType::bfloat16, {2}, oracle::bytes_of(bits))}}, file);
    EXPECT_EQ(values(read(file.text(), "h:bfloat16"), "h"), (Values{1, -1.5}));
}

TEST(Npz, ListsTypesThatItDoesNotReadUntilOneIsWanted)
{
    const std::string integers = npy(npy_header("<u4", "(1,)"), "1234");
    const std::string objects = npy(npy_header("|O", "(1,)"), "\x80\x03.");
    const std::string file = zip({{"a.npy", one_two}, {"i.npy", integers, true}, {"o.npy", objects}});
    const auto tensors = read(file);
    ASSERT_EQ(tensors.unsupported.size(), 2);
    EXPECT_EQ(tensors.unsupported[0].name, "i");
    EXPECT_EQ(tensors.unsupported[0].type, "<u4");
    EXPECT_EQ(values(tensors, "a"), (Values{1, 2}));
    oracle::expect_refusal([&] { (void)tensors.at("i", "q.file"); }, "'i' in q.file: element type: got '<u4'");
    oracle::expect_refusal([&] { (void)tensors.at("x", "q.file"); }, "got no tensor 'x'; allowed: 'a'");
    expect_refused(file, "got '<u4'", "i");
    expect_refused(file, "a pickle, which is never loaded", "o");
}

TEST(Npz, RefusesSizesThatDeflateCannotReach)
{
    // 40 GB, in 64 bits, out of a few bytes; then the largest that 32 bits can say.
    std::string bomb = patched(wide(), entry, 10, number(8, 2));
    bomb = patched(bomb, entry, 46 + 5 + 4, number(40'000'000'000, 8));
    bomb = patched(bomb, local, 8, number(8, 2));
    bomb = patched(bomb, local, 30 + 5 + 4, number(40'000'000'000, 8));
    expect_refused(bomb, "cannot be 40000000000 bytes out of");
    const std::string small = patched(patched(squeezed, entry, 24, number(0xfffffffe, 4)), local, 22, number(0xfffffffe, 4));
    expect_refused(small, "cannot be 4294967294 bytes out of");
}

TEST(Npz, RefusesToInflateMoreThanTheLimit)
{
    const auto size = static_cast<attn::Index>(one_two.size());
    EXPECT_EQ(values(read(two, {}, size), "a"), (Values{1, 2}));
    oracle::expect_refusal([&] { (void)read(two, {}, size - 1); }, "inflated size");
    EXPECT_EQ(values(read(two, "b", 0), "b"), (Values{3})); // stored
}

TEST(Npz, RefusesAShapeLargerThanTheMember)
{
    const std::string liar = npy(npy_header("<f4", "(1000000000000,)"), "1234");
    expect_refused(zip({{"a.npy", liar, true}}), "elements: got 4 bytes; allowed: 4000000000000");
    expect_refused(zip({{"a.npy", liar}}), "elements: got 4 bytes; allowed: 4000000000000");
    expect_refused(zip({{"a.npy", one_two + "x", true}}), "elements: got 9 bytes; allowed: 8");
}

TEST(Npz, RefusesDeflateDataThatSaysOtherwise)
{
    const auto with_size = [](std::string file, std::size_t size) {
        return patched(patched(std::move(file), entry, 24, number(size, 4)), local, 22, number(size, 4));
    };
    const auto data = std::size_t{30} + 5;
    expect_refused(patched(squeezed, local, data, "\x07"), "damaged deflate data");
    const std::string larger = npy(npy_header("<f4", "(3,)"), elements<float>({1, 2})); // says 3, holds 2
    expect_refused(with_size(zip({{"a.npy", larger, true}}), larger.size() + 4), "fewer bytes than the archive says");
    const std::string smaller = npy(npy_header("<f4", "(1,)"), elements<float>({1, 2}));
    expect_refused(with_size(zip({{"a.npy", smaller, true}}), smaller.size() - 4), "ends elsewhere");
    expect_refused(patched(squeezed, local, data, std::string(1, '\0')), "'a'"); // not the last block, and no other comes
    // Something behind the end of the stream: stored first, then declared as deflated.
    std::string more = zip({{"a.npy", oracle::deflated(one_two) + "x"}});
    const std::string crc = number(oracle::crc32(one_two), 4);
    more = patched(patched(more, entry, 10, number(8, 2)), local, 8, number(8, 2));
    more = with_size(patched(patched(more, entry, 16, crc), local, 14, crc), one_two.size());
    expect_refused(more, "ends elsewhere");
}

TEST(Npz, RefusesContentsThatDoNotMatchTheirCrc)
{
    const std::size_t last = 30 + 5 + one_two.size() - 1;
    expect_refused(patched(plain, local, last, "\x41"), "CRC-32");
    expect_refused(patched(squeezed, local, last + 5, "\x41"), "CRC-32");
}

TEST(Npz, TellsShapesBeforeItLooksAtNumbers)
{
    const std::size_t last = 30 + 5 + one_two.size() - 1;
    for (const std::string& damaged : {patched(plain, local, last, "\x41"), patched(squeezed, local, last + 5, "\x41")}) {
        const attn::io::TensorFile file = attn::io::open_tensors(oracle::bytes_of(damaged), "q.file");
        EXPECT_EQ(file.at("a", "q.file").view.shape, attn::Shape{2});
        oracle::expect_refusal([&] { file.at("a", "q.file").read_numbers(); }, "CRC-32");
        oracle::expect_refusal([&] { file.read_numbers(); }, "CRC-32"); // each time
    }
    const attn::io::TensorFile file = attn::io::open_tensors(oracle::bytes_of(two), "q.file");
    file.at("a", "q.file").read_numbers();
    EXPECT_EQ(values(file, "a"), (Values{1, 2}));
    file.read_numbers();
    EXPECT_EQ(values(file, "a"), (Values{1, 2}));
    EXPECT_EQ(values(file, "b"), Values{3});
}

TEST(Npz, InflatedNumbersStayAsLongAsAnybodyHasThem)
{
    const attn::NamedTensor a = attn::io::open_tensors(oracle::bytes_of(squeezed), "q.file").at("a", "q.file");
    const attn::NamedTensor copy = a;
    copy.read_numbers();
    EXPECT_NE(a.owner, nullptr);
    EXPECT_EQ(attn::load<double>(a.view).values, (Values{1, 2}));
}

TEST(Npz, RefusesMembersTwice)
{
    expect_refused(zip({{"a.npy", one_two}, {"b.npy", three}, {"a.npy", three}}), "'a.npy': got two of them");
}

TEST(Npz, RefusesMembersThatAreNoNpy)
{
    expect_refused(zip({{"folder/notes.txt", "a"}}), "'folder/notes.txt'; allowed: names that end in .npy");
    expect_refused(zip({{"folder/", ""}}), "names that end in .npy");
}

TEST(Npz, RefusesCheckpointsOfPyTorchByTheirName)
{
    expect_refused(zip({{"archive/data.pkl", "\x80\x02."}}), "got a PyTorch checkpoint (torch.save)");
    expect_refused(zip({{"archive/version", "3"}, {"archive/data.pkl", "\x80\x02."}}), "numpy.savez");
}

TEST(Npz, RefusesEncryptedMembers)
{
    for (const std::uint64_t flag : {0x0001U, 0x0020U, 0x0040U, 0x2000U}) {
        expect_refused(patched(patched(plain, entry, 8, number(flag, 2)), local, 6, number(flag, 2)), "encrypted");
        expect_refused(patched(plain, local, 6, number(flag, 2)), "contradicts");
    }
}

TEST(Npz, RefusesOtherCompressions)
{
    expect_refused(patched(patched(plain, entry, 10, number(12, 2)), local, 8, number(12, 2)),
                   "got method 12; allowed: stored (0)");
}

TEST(Npz, RefusesMembersThatOverlap)
{
    // The second entry of the directory names the first member once more, under the first one's name in its local header.
    std::string file = zip({{"a.npy", one_two}, {"b.npy", one_two}});
    const std::size_t second = file.rfind(entry);
    file.replace(second + 42, 4, number(0, 4));
    file.replace(second + 46, 5, "a.npy");
    expect_refused(file, "'a.npy' and 'a.npy' overlap");
    // One inside of the other: "quoted" in its data, which is how the small bombs of great effect are made.
    const std::string inner = zip({{"b.npy", three}});
    std::string outer = zip({{"a.npy", inner.substr(0, inner.find(entry))}, {"b.npy", three}});
    const std::size_t last = outer.rfind(entry);
    outer.replace(last + 42, 4, number(30 + 5, 4));
    expect_refused(outer, "'a.npy' and 'b.npy' overlap");
}

TEST(Npz, RefusesLocalHeadersThatContradictTheDirectory)
{
    expect_refused(patched(plain, local, 30, "b"), "contradicts the directory");
    expect_refused(patched(plain, local, 8, number(8, 2)), "contradicts the directory");
    for (const std::size_t field : {14, 18, 22}) {
        expect_refused(patched(plain, local, field, number(1, 4)), "contradicts the directory");
    }
    expect_refused(patched(plain, local, 26, number(60000, 2)), "cut short");
    expect_refused(patched(plain, entry, 42, number(1, 4)), "no local header");
}

TEST(Npz, RefusesMembersOutsideOfTheFile)
{
    expect_refused(patched(plain, entry, 42, number(100000, 4)), "outside of the file");
    expect_refused(patched(plain, entry, 34, number(1, 2)), "outside of the file");
    const std::string larger = number(one_two.size() + 1, 4);
    expect_refused(patched(patched(plain, entry, 20, larger + larger), local, 18, larger + larger), "larger than the file");
    const std::string other = number(one_two.size() - 1, 4);
    expect_refused(patched(patched(plain, entry, 24, other), local, 22, other), "cannot be");
}

TEST(Npz, RefusesDirectoriesThatDoNotAddUp)
{
    expect_refused(patched(plain, end_record, 16, number(0, 4)), "does not end where the end record begins");
    expect_refused(patched(plain, end_record, 16, number(0xfffffff0, 4)), "does not end where");
    expect_refused(patched(plain, end_record, 12, number(1, 4)), "does not end where");
    expect_refused(patched(plain, end_record, 8, number(0, 4)), "fewer members");
    expect_refused(patched(plain, end_record, 8, number(0x00020002, 4)), "more members");
    expect_refused(patched(plain, end_record, 8, number(0xffffffff, 4)), "more members");
    expect_refused(patched(plain, end_record, 8, number(0x00010000, 4)), "several parts");
    expect_refused(patched(plain, end_record, 4, number(1, 2)), "several parts");
    expect_refused(patched(plain, entry, 0, "QK"), "no directory entry");
    expect_refused(patched(plain, entry, 32, number(1, 2)), "cut short"); // a comment past the end
    expect_refused(patched(plain, entry, 30, number(4, 2)), "cut short"); // extra fields past the end
    expect_refused(std::string("x") + plain, "x");                        // another file in front
}

TEST(Npz, RefusesWrongRecordsOf64Bits)
{
    const std::string file = wide();
    expect_refused(patched(file, end64, 0, "QK"), "no zip64 end record");
    expect_refused(patched(file, end64, 4, number(43, 8)), "wrong size");
    expect_refused(patched(file, end64, 4, number(~std::uint64_t{0}, 8)), "wrong size");
    expect_refused(patched(file, end64, 16, number(1, 4)), "several parts");
    expect_refused(patched(file, end64, 24, number(1, 8)), "several parts");
    expect_refused(patched(file, end64, 24, number(~std::uint64_t{0}, 8) + number(~std::uint64_t{0}, 8)), "more members");
    expect_refused(patched(file, end64, 40, number(~std::uint64_t{0}, 8)), "does not end where");
    expect_refused(patched(file, end64, 48, number(~std::uint64_t{0}, 8)), "does not end where");
    expect_refused(patched(file, locator, 8, number(~std::uint64_t{0}, 8)), "locator");
    expect_refused(patched(file, locator, 4, number(1, 4)), "locator");
    expect_refused(patched(file, locator, 16, number(2, 4)), "locator");
    expect_refused(patched(file, end_record, 10, number(7, 2)), "contradict each other");
    expect_refused(patched(file, end_record, 12, number(7, 4)), "contradict each other");
    expect_refused(patched(file, end_record, 16, number(7, 4)), "contradict each other");
    expect_refused(patched(file, entry, 46 + 5 + 4 + 8, number(~std::uint64_t{0}, 8)), "contradicts the directory");
    expect_refused(patched(file, entry, 46 + 5 + 4 + 16, number(~std::uint64_t{0}, 8)), "outside of the file");
    expect_refused(patched(file, entry, 46 + 5 + 2, number(16, 2)), "cut short");      // no room for the offset
    expect_refused(patched(file, entry, 46 + 5, number(2, 2)), "outside of the file"); // not the zip64 field any more
}

TEST(Npz, RefusesEveryOtherLength)
{
    oracle::expect_every_length_but_its_own_refused(two);
    oracle::expect_every_length_but_its_own_refused(wide());
    expect_refused(plain + plain, "does not end where"); // a second file behind the first
}

TEST(Npz, SurvivesEveryChangedBit)
{
    oracle::expect_every_changed_bit_read_or_refused(two);
    oracle::expect_every_changed_bit_read_or_refused(wide());
    oracle::expect_every_changed_bit_read_or_refused(zip({{"a.npy", one_two, true, true}}, "comment"));
}

TEST(Npz, WritesWhatItReads)
{
    const std::string data = elements<float>({1, 2, 3, 4, 5, 6}), flag = "\1";
    attn::Buffer written;
    attn::io::write_npz({{"weights", attn::row_major_view(attn::ElementType::float32, {2, 3}, oracle::bytes_of(data))},
                         {"λ", attn::row_major_view(attn::ElementType::boolean, {}, oracle::bytes_of(flag))}},
                        written);
    const std::string& file = written.text();
    const auto tensors = read(file);
    ASSERT_EQ(tensors.entries.size(), 2);
    EXPECT_EQ(tensors.at("weights", "").view.shape, (attn::Shape{2, 3}));
    EXPECT_EQ(values(tensors, "weights"), (Values{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(values(tensors, "λ"), (Values{1}));
    EXPECT_EQ(file.find("PK\x06\x06"), std::string::npos); // nothing that old readers would stumble over
}

TEST(Npz, WritesTensorsWithoutElements)
{
    attn::Buffer file;
    attn::io::write_npz({{"none", attn::row_major_view(attn::ElementType::float32, {0, 3}, {})}}, file);
    EXPECT_EQ(read(file.text()).at("none", "").view.shape, (attn::Shape{0, 3}));
}

} // namespace
