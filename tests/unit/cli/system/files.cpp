#include "cli/system/files.hpp"
#include "cli/output/output.hpp"

#include "attn/tensor/error.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

using namespace attn::cli;
namespace fs = std::filesystem;

class Files : public ::testing::Test {
protected:
    Files() { fs::create_directory(folder_); }
    ~Files() override { fs::remove_all(folder_); }

    [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }

    void put(const std::string& name, const std::string& text) const { std::ofstream(path(name)) << text; }

    [[nodiscard]] std::string get(const std::string& name) const
    {
        std::ifstream file(path(name));
        return {std::istreambuf_iterator<char>(file), {}};
    }

    [[nodiscard]] std::vector<std::string> names() const
    {
        std::vector<std::string> found;
        for (const auto& entry : fs::directory_iterator(folder_)) {
            found.push_back(entry.path().filename());
        }
        return found;
    }

    fs::path folder_ = fs::temp_directory_path() / ("attn-files-" + std::to_string(::getpid()));
};

template <typename Work>
attn::ErrorKind kind_of_failure(Work work)
{
    try {
        work();
    } catch (const attn::Error& error) {
        return error.kind();
    }
    return attn::ErrorKind::internal;
}

TEST_F(Files, AreReadWhole)
{
    for (const std::string begin : {"{", " \n[", "\xEF\xBB\xBF {", "nan", "-1", "\""}) {
        std::string text = begin + std::string(300000 - begin.size(), 'x');
        text[200000] = '\0';
        put("in", text);
        EXPECT_EQ(read_json_file(path("in"), 300000), text);
    }
    put("empty", "");
    EXPECT_EQ(read_json_file(path("empty"), 1), "");
}

TEST_F(Files, LongerThanAllowedAreBadData)
{
    put("in", std::string(300000, ' '));
    EXPECT_EQ(kind_of_failure([&] { (void)read_json_file(path("in"), 299999); }), attn::ErrorKind::data);
    // Endless input is left soon after the limit, not read to an end that never comes.
    const Descriptor endless = open_input("/dev/zero");
    EXPECT_EQ(kind_of_failure([&] { (void)read_all(endless.number(), 1 << 20, "zeros"); }), attn::ErrorKind::data);
}

TEST_F(Files, OfNoJsonAreLeftAtTheFirstByteThatTells)
{
    EXPECT_LE(read_json_file("/dev/zero", std::size_t{1} << 40U).size(), 1U << 20U);
    put("in", "\xEF\xBB\xBF" + std::string(1U << 20U, '\n') + std::string(1U << 22U, 'x'));
    EXPECT_LE(read_json_file(path("in"), std::size_t{1} << 40U).size(), 3U << 20U);
}

TEST_F(Files, ThatAreMissingOrDirectoriesAreNoInput)
{
    EXPECT_EQ(kind_of_failure([&] { (void)read_json_file(path("none"), 9); }), attn::ErrorKind::no_input);
    EXPECT_EQ(kind_of_failure([&] { (void)read_json_file(folder_.string(), 9); }), attn::ErrorKind::no_input);
}

TEST_F(Files, AppearOnlyWhenCommitted)
{
    put("out", "old");
    {
        Output file(path("out"));
        file.append(std::string(200000, 'n')); // more than one buffer
        file.flush();
        EXPECT_EQ(get("out"), "old");
        file.finish();
    }
    EXPECT_EQ(get("out"), std::string(200000, 'n'));
    EXPECT_EQ(names(), std::vector<std::string>{"out"});
}

TEST_F(Files, StayAsTheyWereWhenTheWorkFails)
{
    put("out", "old");
    {
        Output file(path("out"));
        file.append("new");
    }
    EXPECT_EQ(get("out"), "old");
    EXPECT_EQ(names(), std::vector<std::string>{"out"});
}

TEST_F(Files, KeepTheirPermissionBits)
{
    put("out", "old");
    ASSERT_EQ(::chmod(path("out").c_str(), 0640), 0);
    Output file(path("out"));
    file.finish();
    struct stat now = {};
    ASSERT_EQ(::stat(path("out").c_str(), &now), 0);
    EXPECT_EQ(now.st_mode & 07777U, 0640U);
}

TEST_F(Files, LoseTheBitsThatLendTheirOwnersRights)
{
    put("out", "old");
    ASSERT_EQ(::chmod(path("out").c_str(), 06751), 0);
    Output file(path("out"));
    file.finish();
    struct stat now = {};
    ASSERT_EQ(::stat(path("out").c_str(), &now), 0);
    EXPECT_EQ(now.st_mode & 07777U, 0751U);
}

TEST_F(Files, AreNewWithTheBitsThatTheUmaskLeaves)
{
    const mode_t before = ::umask(027);
    Output file(path("out"));
    file.finish();
    ::umask(before);
    struct stat now = {};
    ASSERT_EQ(::stat(path("out").c_str(), &now), 0);
    EXPECT_EQ(now.st_mode & 07777U, 0640U);
}

TEST_F(Files, AreWrittenWhereLinksLead)
{
    fs::create_directory(path("there"));
    put("there/target", "old");
    fs::create_symlink("there/target", path("link"));
    fs::create_symlink("link", path("link to link"));
    Output file(path("link to link"));
    file.append("new");
    file.finish();
    EXPECT_EQ(get("there/target"), "new");
    EXPECT_TRUE(fs::is_symlink(path("link")));
    EXPECT_TRUE(fs::is_symlink(path("link to link")));
}

TEST_F(Files, CannotBeCreatedInMissingDirectoriesNorAsDirectories)
{
    for (const std::string& name : {path("none/out"), folder_.string(), path("new/"), std::string()}) {
        EXPECT_EQ(kind_of_failure([&] { const Output file(name); }), attn::ErrorKind::cannot_create) << name;
    }
    fs::create_symlink("loop", path("loop"));
    fs::create_symlink("nothing", path("dangling"));
    for (const char* link : {"loop", "dangling"}) {
        EXPECT_EQ(kind_of_failure([&] { const Output file(path(link)); }), attn::ErrorKind::cannot_create) << link;
        EXPECT_TRUE(fs::is_symlink(path(link)));
    }
}

TEST_F(Files, ThatAreDevicesAreWrittenDirectly)
{
    Output nothing("/dev/null");
    nothing.append("new");
    nothing.finish();
    Output full("/dev/full");
    full.append("new");
    EXPECT_EQ(kind_of_failure([&] { full.finish(); }), attn::ErrorKind::io);
}

TEST_F(Files, ThatNameADescriptorGoOnWhereItStands)
{
    put("log", "");
    const int log = ::open(path("log").c_str(), O_WRONLY);
    ASSERT_EQ(::write(log, "first ", 6), 6);
    Output file("/dev/fd/" + std::to_string(log));
    file.append("second");
    file.finish();
    ::close(log);
    EXPECT_EQ(get("log"), "first second");
}

TEST_F(Files, ThatNameADescriptorAreRecognised)
{
    EXPECT_EQ(descriptor_named("/dev/stdout"), 1);
    EXPECT_EQ(descriptor_named("/dev/fd/7"), 7);
    EXPECT_EQ(descriptor_named("/proc/self/fd/2"), 2);
    EXPECT_EQ(descriptor_named("/dev/fd/x"), std::nullopt);
    EXPECT_EQ(descriptor_named("/dev/fd/"), std::nullopt);
    EXPECT_EQ(descriptor_named("/dev/full"), std::nullopt);
    EXPECT_EQ(descriptor_named(path("out")), std::nullopt);
}

} // namespace
