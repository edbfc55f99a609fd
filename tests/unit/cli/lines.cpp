#include "cli/lines.hpp"

#include <gtest/gtest.h>

#include <random>
#include <sstream>
#include <thread>
#include <vector>

#include <unistd.h>

namespace {

using namespace attn::cli;

/// The lines of `text`, read through a pipe; a line that was too long is "<too long>".
std::vector<std::string> lines_of(const std::string& text, std::size_t most)
{
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    std::thread writer([&] {
        for (std::size_t done = 0; done < text.size();) {
            const ssize_t count = ::write(ends[1], text.data() + done, text.size() - done);
            ASSERT_GT(count, 0);
            done += static_cast<std::size_t>(count);
        }
        ::close(ends[1]);
    });
    LineReader reader(ends[0], "a pipe", most, [] {});
    std::vector<std::string> lines;
    while (const auto line = reader.next()) {
        lines.push_back(line->too_long ? "<too long>" : line->text);
    }
    writer.join();
    ::close(ends[0]);
    return lines;
}

using Lines = std::vector<std::string>;

TEST(LineReader, EndsALineAtTheNewline)
{
    EXPECT_EQ(lines_of("", 9), Lines{});
    EXPECT_EQ(lines_of("a\nb\n", 9), (Lines{"a", "b"}));
    EXPECT_EQ(lines_of("a\n\nb", 9), (Lines{"a", "", "b"}));
    EXPECT_EQ(lines_of("\n", 9), (Lines{""}));
}

TEST(LineReader, DropsACarriageReturnBeforeTheNewlineOnly)
{
    EXPECT_EQ(lines_of("a\r\nb\rc\r\r\nd\r", 9), (Lines{"a", "b\rc\r", "d\r"}));
}

TEST(LineReader, SkipsALineThatIsTooLongAndGoesOn)
{
    EXPECT_EQ(lines_of("abc\nabcd\nabc\r\nabc", 3), (Lines{"abc", "<too long>", "abc", "abc"}));
    EXPECT_EQ(lines_of("abcd", 3), (Lines{"<too long>"}));
    EXPECT_EQ(lines_of("abc\r", 3), (Lines{"<too long>"}));
    EXPECT_EQ(lines_of(std::string(1000000, 'x') + "\nok\n", 100), (Lines{"<too long>", "ok"}));
}

TEST(LineReader, AgreesWithGetlineAcrossPieces)
{
    std::mt19937 random(11);
    for (int round = 0; round < 20; ++round) {
        std::string text;
        for (int i = 0; i < 40; ++i) {
            text += std::string(random() % 9000, 'a') + "\n";
        }
        std::istringstream stream(text);
        Lines expected;
        for (std::string line; std::getline(stream, line);) {
            expected.push_back(line);
        }
        EXPECT_EQ(lines_of(text, 9000), expected);
    }
}

} // namespace
