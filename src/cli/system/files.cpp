#include "cli/system/files.hpp"

#include "attn/model/recipe/option_names.hpp"
#include "attn/tensor/error.hpp"
#include "cli/system/platform.hpp"
#include "cli/system/signals.hpp"
#include "cli/system/system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace attn::cli {
namespace {

constexpr std::string_view before_json = " \t\r\n\xEF\xBB\xBF"; // white space, and the byte order mark
constexpr std::string_view first_of_json = "{[\"-0123456789tfn";

} // namespace

// ---- descriptors -----------------------------------------------------------------------------------------------------

Descriptor::Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept
{
    std::swap(number_, other.number_);
    return *this;
}

Descriptor::~Descriptor()
{
    close();
}

int Descriptor::close()
{
    const int number = std::exchange(number_, -1);
    return number == -1 || ::close(number) == 0 || errno == EINTR ? 0 : errno;
}

// ---- reading ---------------------------------------------------------------------------------------------------------

std::string quoted_path(const std::string& path)
{
    return in_quotes(path, std::size_t{4} * PATH_MAX); // escaped, a byte takes up to four
}

std::string visible_path(const std::string& path)
{
    const std::string text = quoted_path(path);
    return text.substr(1, text.size() - 2);
}

std::string name_of_input(const std::string& path)
{
    return path == "-" ? "standard input" : quoted_path(path);
}

Descriptor open_input(const std::string& path)
{
    const bool standard = path == "-";
    Descriptor opened(standard ? platform::duplicate(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
    if (opened.number() == -1) {
        throw Error(ErrorKind::no_input, fmt::format("cannot open {}: {}", name_of_input(path), reason(errno)));
    }
    return opened;
}

namespace {

/// How many bytes a file says it has from where it is read on; 0 for what is none.
std::size_t stated_size(int descriptor)
{
    struct stat status = {};
    const off_t place = ::lseek(descriptor, 0, SEEK_CUR);
    const bool known = ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && place >= 0 && status.st_size > place;
    return known ? static_cast<std::size_t>(status.st_size - place) : 0;
}

/// read_all up to where is_enough(all that was read) says so. What says how long it is is refused at once where that is too
/// long, and gets its room in one piece. It must fit in memory: where that ends during a read, the kernel may try for ever.
template <typename Enough>
std::string read_until(Enough is_enough, int descriptor, std::size_t most, std::string_view name)
{
    constexpr std::size_t smallest = std::size_t{1} << 16U;
    std::string bytes;
    std::size_t used = 0;
    const std::size_t stated = stated_size(descriptor);
    std::optional<std::size_t> room; // for all bytes, read or not; asked for once they are many
    for (;;) {
        std::size_t wanted = std::max(smallest, bytes.size() * 2);
        if (bytes.size() < stated) {
            wanted = std::min(wanted, stated + 1);
        }
        // One byte more than allowed is enough to know.
        bytes.resize(used < bytes.size() ? bytes.size() : std::min(wanted, most + 1));
        const std::size_t count = read_some(descriptor, std::span(bytes).subspan(used), name);
        used += count;
        if (count == 0 || is_enough(std::string_view(bytes).substr(0, used))) {
            bytes.resize(used);
            return bytes;
        }
        if (used > most || stated > most) {
            throw Error(ErrorKind::data, fmt::format("{} is larger than {} bytes; --max-input-bytes allows more", name, most));
        }
        const std::size_t known = std::max(used, stated);
        if (!room && known > static_cast<std::size_t>(small_memory)) {
            room = used + static_cast<std::size_t>(memory_limit());
        }
        if (room && known > *room) {
            does_not_fit(name, known);
        }
        bytes.reserve(stated + 1);
    }
}

} // namespace

void does_not_fit(std::string_view name, std::size_t bytes)
{
    throw Error(ErrorKind::too_large, fmt::format("{} does not fit in memory: {} bytes and more", name, bytes));
}

std::string read_all(int descriptor, std::size_t most, std::string_view name)
{
    return read_until([](std::string_view) { return false; }, descriptor, most, name);
}

std::string read_json_file(const std::string& path, std::size_t most)
{
    const Descriptor input = open_input(path);
    const auto is_no_json = [passed = std::size_t{0}](std::string_view bytes) mutable {
        passed = std::min(bytes.find_first_not_of(before_json, passed), bytes.size());
        return passed < bytes.size() && first_of_json.find(bytes[passed]) == std::string_view::npos;
    };
    return read_until(is_no_json, input.number(), most, name_of_input(path));
}

// ---- writing ---------------------------------------------------------------------------------------------------------

std::optional<int> descriptor_named(const std::string& path)
{
    constexpr std::array<std::pair<std::string_view, int>, 3> streams{
        {{"/dev/stdin", STDIN_FILENO}, {"/dev/stdout", STDOUT_FILENO}, {"/dev/stderr", STDERR_FILENO}}};
    for (const auto& [stream, number] : streams) {
        if (path == stream) {
            return number;
        }
    }
    for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
        const std::string digits = path.starts_with(folder) ? path.substr(folder.size()) : "";
        if (!digits.empty() && digits.size() < 8 && std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; })) {
            return std::stoi(digits);
        }
    }
    return std::nullopt;
}

void require_apart(const std::optional<std::string>& output, const std::string& input)
{
    struct stat written = {};
    struct stat read = {};
    if (!output || output == "-" || ::stat(output->c_str(), &written) != 0 || !S_ISREG(written.st_mode) ||
        ::stat(input == "-" ? "/dev/stdin" : input.c_str(), &read) != 0) {
        return;
    }
    if (written.st_dev == read.st_dev && written.st_ino == read.st_ino) {
        throw Error(ErrorKind::usage, model::option::output, quoted_path(*output) + ", which is also read", "another file");
    }
}

} // namespace attn::cli
