#include "cli/input/lines.hpp"

#include "attn/tensor/error.hpp"
#include "cli/system/descriptor.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <sstream>
#include <string_view>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace {

using namespace attn::cli;

/// Whether the first piece of a stream is looked at before its first line.
enum class Look { no, yes };

/// The lines of `text`, read through a pipe; a line that was too long is "<too long>".
std::vector<std::string> lines_of(const std::string& text, std::size_t most, Look look = Look::no)
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
    LineReader reader(ends[0], "a pipe", most);
    if (look == Look::yes) {
        EXPECT_TRUE(text.starts_with(reader.front([&](std::string_view piece) { return piece.size() > 1; })));
    }
    std::vector<std::string> lines;
    while (const auto line = reader.next(Wait::yes)) {
        lines.push_back(line->too_long ? "<too long>" : line->text);
    }
    writer.join();
    ::close(ends[0]);
    return lines;
}

TEST(Lines, AreAllThereAfterALookAtTheBeginning)
{
    const std::string long_line(200'000, 'a');
    for (const std::string& text :
         {std::string(), std::string("a"), std::string("a\n\nb\r\nc"), long_line + "\n" + long_line}) {
        EXPECT_EQ(lines_of(text, 300'000, Look::yes), lines_of(text, 300'000));
    }
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

/// A pipe whose ends close themselves.
class Pipe {
public:
    Pipe() { EXPECT_EQ(::pipe(ends_), 0); }
    Pipe(const Pipe&) = delete;
    Pipe(Pipe&&) = delete;
    Pipe& operator=(const Pipe&) = delete;
    Pipe& operator=(Pipe&&) = delete;
    ~Pipe()
    {
        end();
        ::close(ends_[0]);
    }
    [[nodiscard]] int reading() const { return ends_[0]; }
    void send(std::string_view text) const
    {
        ASSERT_EQ(::write(ends_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
    }
    void end()
    {
        if (ends_[1] != -1) {
            ::close(ends_[1]);
            ends_[1] = -1;
        }
    }

private:
    int ends_[2] = {-1, -1};
};

TEST(LineReader, DoesNotWaitWhenAskedNotTo)
{
    Pipe pipe;
    LineReader reader(pipe.reading(), "a pipe", 100);
    EXPECT_FALSE(reader.next(Wait::no));
    pipe.send("one\ntw");
    EXPECT_EQ(reader.next(Wait::no)->text, "one");
    EXPECT_FALSE(reader.next(Wait::no)); // half a line is none
    pipe.send("o\n");
    EXPECT_EQ(reader.next(Wait::no)->text, "two");
    pipe.send("three");
    EXPECT_FALSE(reader.next(Wait::no));
    pipe.end();
    EXPECT_EQ(reader.next(Wait::no)->text, "three");
    EXPECT_FALSE(reader.next(Wait::yes));
}

TEST(LineReader, GivesALineThatIsTooLongBeforeItsEndComes)
{
    Pipe pipe;
    LineReader reader(pipe.reading(), "a pipe", 3);
    pipe.send("abcde");
    EXPECT_TRUE(reader.next(Wait::yes)->too_long);
    pipe.send("fgh");
    EXPECT_FALSE(reader.next(Wait::no));
    pipe.send("i\nok\nabcde");
    EXPECT_EQ(reader.next(Wait::no)->text, "ok");
    EXPECT_TRUE(reader.next(Wait::no)->too_long);
    pipe.end();
    EXPECT_FALSE(reader.next(Wait::yes));
}

/// While one lives poll(2) fails, for it refuses more descriptors than may be open.
class PollFails {
public:
    PollFails()
    {
        EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
        const rlimit none{0, before_.rlim_max};
        EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
    }
    PollFails(const PollFails&) = delete;
    PollFails(PollFails&&) = delete;
    PollFails& operator=(const PollFails&) = delete;
    PollFails& operator=(PollFails&&) = delete;
    ~PollFails() { ::setrlimit(RLIMIT_NOFILE, &before_); }

private:
    rlimit before_{};
};

TEST(LineReader, DoesNotRepeatAPollThatFails)
{
    const Pipe pipe;
    LineReader reader(pipe.reading(), "a pipe", 100);
    const PollFails fails;
    EXPECT_THROW((void)reader.next(Wait::no), attn::Error);
}

TEST(Descriptors, ThatDoNotBlockAreNotReadForeverWhenPollFails)
{
    const Pipe pipe;
    ASSERT_EQ(::fcntl(pipe.reading(), F_SETFL, O_NONBLOCK), 0);
    const PollFails fails;
    std::string buffer(9, ' ');
    EXPECT_THROW((void)read_some(pipe.reading(), buffer, "a pipe"), attn::Error);
}

constexpr std::size_t many = 1000;

/// What has come, as far as it may be so much.
Lines some(LineReader& reader, std::size_t most_lines = many, std::size_t most_bytes = many)
{
    Lines texts;
    for (const Line& line : reader.some(most_lines, most_bytes)) {
        texts.push_back(line.text);
    }
    return texts;
}

TEST(SomeLines, AreThoseThatHaveComeAndKeepNothingWaiting)
{
    Pipe pipe;
    LineReader reader(pipe.reading(), "a pipe", 100);
    pipe.send("a\nb\nhalf");
    EXPECT_EQ(some(reader), (Lines{"a", "b"}));
    pipe.send(" a line\n");
    EXPECT_EQ(some(reader), (Lines{"half a line"}));
    EXPECT_EQ(reader.consumed(), 16U);
    pipe.end();
    EXPECT_EQ(some(reader), Lines{});
}

TEST(SomeLines, AreLookedAtAsFarAsIsAskedForUnlessNoneComeForAWhile)
{
    Pipe pipe;
    LineReader reader(pipe.reading(), "a pipe", 100);
    pipe.send("{\n");
    EXPECT_EQ(reader.front([](std::string_view) { return true; }), "{\n"); // the pipe stays open
    EXPECT_EQ(some(reader), Lines{"{"});
    EXPECT_EQ(reader.consumed(), 2U);
}

TEST(SomeLines, AreLookedAtUpToTheLengthOfOne)
{
    Pipe pipe;
    LineReader reader(pipe.reading(), "a pipe", 2);
    std::vector<std::string> pieces;
    pipe.send("{");
    const std::string_view front = reader.front([&](std::string_view piece) {
        pieces.emplace_back(piece);
        if (pieces.size() == 1) {
            pipe.send("\na");
        }
        return true;
    });
    EXPECT_EQ(front, "{\na");
    EXPECT_EQ(pieces, (std::vector<std::string>{"{", "\na"}));
    pipe.end();
    EXPECT_EQ(some(reader), (Lines{"{", "a"}));
}

TEST(SomeLines, AreBoundedInNumberAndInBytes)
{
    Pipe pipe;
    pipe.send("a\nb\nc\ndddd\ne\nf\ng");
    pipe.end();
    LineReader reader(pipe.reading(), "a pipe", 100);
    EXPECT_EQ(some(reader, 2), (Lines{"a", "b"}));
    EXPECT_EQ(some(reader, 3, 4), (Lines{"c", "dddd"}));
    EXPECT_EQ(some(reader), (Lines{"e", "f", "g"}));
    EXPECT_EQ(some(reader), Lines{});
}

TEST(SomeLines, ComeBeforeAFailure)
{
    Pipe pipe;
    LineReader reader(pipe.reading(), "a pipe", 100);
    pipe.send("a\n");
    EXPECT_EQ(reader.front([](std::string_view) { return false; }), "a\n");
    const PollFails fails;
    EXPECT_EQ(some(reader), Lines{"a"});
    EXPECT_THROW((void)some(reader), attn::Error);
}

} // namespace
