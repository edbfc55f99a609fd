#include "cli/system/files.hpp"

#include "attn/model/recipe/option_names.hpp"
#include "attn/tensor/error.hpp"
#include "cli/system/signals.hpp"

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

constexpr int most_links = 40; // as the kernel

constexpr std::string_view before_json = " \t\r\n\xEF\xBB\xBF"; // white space, and the byte order mark
constexpr std::string_view first_of_json = "{[\"-0123456789tfn";

[[noreturn]] void cannot_create(const std::string& name, int error)
{
    throw Error(ErrorKind::cannot_create, fmt::format("cannot create {}: {}", name, reason(error)));
}

[[noreturn]] void cannot_write(const std::string& name, int error)
{
    throw Error(ErrorKind::io, fmt::format("cannot write {}: {}", name, reason(error)));
}

std::string directory_of(const std::string& path)
{
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

/// The target of the link that `path` is; nothing when it is none.
std::optional<std::string> link_target(const std::string& path)
{
    std::array<char, PATH_MAX> target{};
    const ssize_t length = ::readlink(path.c_str(), target.data(), target.size());
    if (length <= 0) {
        return std::nullopt;
    }
    const std::string text(target.data(), static_cast<std::size_t>(length));
    return text.front() == '/' ? text : directory_of(path) + "/" + text;
}

/// Where the links that begin at `path` end, which need not exist.
std::string follow_links(std::string path, const std::string& name)
{
    for (int links = 0; links < most_links; ++links) {
        std::optional<std::string> target = link_target(path);
        if (!target) {
            return path;
        }
        path = std::move(*target);
    }
    cannot_create(name, ELOOP);
}

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

/// The flags STATX_ATTR_…; none where the system does not tell them.
std::uint64_t attributes_of(const std::string& path)
{
    struct statx status = {};
    return ::statx(AT_FDCWD, path.c_str(), 0, 0, &status) == 0 ? status.stx_attributes : 0;
}

/// Why a rename to `path`, where `old` is now, would fail although files can be created beside it; 0: it would not.
int obstacle_to_renaming(const std::string& path, const struct stat* old)
{
    const std::string directory = directory_of(path);
    if ((attributes_of(directory) & STATX_ATTR_APPEND) != 0) {
        return EPERM; // not even our own temporary file would go from there
    }
    if (old == nullptr) {
        return 0;
    }
    const std::uint64_t attributes = attributes_of(path);
    if ((attributes & STATX_ATTR_MOUNT_ROOT) != 0) {
        return EBUSY;
    }
    // In a directory such as /tmp everybody may create files, and only owners replace them.
    struct stat around = {};
    const bool sticky = ::stat(directory.c_str(), &around) == 0 && (around.st_mode & S_ISVTX) != 0;
    const uid_t user = ::geteuid();
    const bool owner = user == 0 || user == old->st_uid || user == around.st_uid;
    return (attributes & STATX_ATTR_APPEND) != 0 || (sticky && !owner) ? EPERM : 0;
}

/// A new file in `directory`, which a signal removes. Its permission bits are those of any new file.
Descriptor create_temporary(const std::string& directory, const std::string& name, std::string& path)
{
    constexpr int attempts = 1000;
    const SignalsBlocked blocked;
    for (int attempt = 0; attempt < attempts; ++attempt) {
        path = directory + "/.attn-cli-" + std::to_string(::getpid()) + "-" + std::to_string(attempt) + ".tmp";
        Descriptor created(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
        if (created.number() != -1) {
            remove_on_signal(path);
            return created;
        }
        if (errno != EEXIST) {
            break;
        }
    }
    const int error = errno;
    path.clear();
    cannot_create(name, error);
}

/// Opens what is no regular file: a device, a FIFO.
Descriptor open_special(const std::string& path, const std::string& name)
{
    const std::optional<int> inherited = descriptor_behind(path);
    const auto open_it = [&] { return inherited ? ::dup(*inherited) : ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY); };
    Descriptor opened(open_it());
    while (opened.number() == -1 && errno == EINTR) {
        opened = Descriptor(open_it());
    }
    if (opened.number() == -1) {
        cannot_create(name, errno);
    }
    return opened;
}

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
    Descriptor opened(standard ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
    if (opened.number() == -1) {
        throw Error(ErrorKind::no_input, fmt::format("cannot open {}: {}", name_of_input(path), reason(errno)));
    }
    return opened;
}

namespace {

/// read_all up to where is_enough(all that was read) says so.
template <typename Enough>
std::string read_until(Enough is_enough, int descriptor, std::size_t most, std::string_view name)
{
    constexpr std::size_t smallest = std::size_t{1} << 16U;
    std::string bytes;
    std::size_t used = 0;
    for (;;) {
        // One byte more than allowed is enough to know.
        const std::size_t wanted = std::max(smallest, bytes.size() * 2);
        bytes.resize(used < bytes.size() ? bytes.size() : std::min(wanted, most + 1));
        const std::size_t count = read_some(descriptor, std::span(bytes).subspan(used), name);
        used += count;
        if (count == 0 || is_enough(std::string_view(bytes).substr(0, used))) {
            bytes.resize(used);
            return bytes;
        }
        if (used > most) {
            throw Error(ErrorKind::data, fmt::format("{} is larger than {} bytes; --max-input-bytes allows more", name, most));
        }
    }
}

} // namespace

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

std::optional<int> descriptor_behind(const std::string& path)
{
    std::string hop = path;
    for (int links = 0; links < most_links; ++links) {
        if (const std::optional<int> number = descriptor_named(hop)) {
            return number;
        }
        std::optional<std::string> target = link_target(hop);
        if (!target) {
            return std::nullopt;
        }
        hop = std::move(*target);
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

OutputFile::OutputFile(const std::string& path) : name_(quoted_path(path)), target_(path), writer_(-1, name_, Content::lines)
{
    struct stat old = {};
    const bool exists = ::stat(path.c_str(), &old) == 0;
    if (!exists && errno != ENOENT) {
        cannot_create(name_, errno);
    }
    if (exists && S_ISDIR(old.st_mode)) {
        cannot_create(name_, EISDIR);
    }
    if (descriptor_behind(path) || (exists && !S_ISREG(old.st_mode))) {
        descriptor_ = open_special(path, name_);
    } else {
        require_apart(path, "-");
        target_ = follow_links(path, name_);
        if (path.empty() || target_.back() == '/') {
            cannot_create(name_, path.empty() ? ENOENT : EISDIR);
        }
        // Renaming could replace a file that is write-protected; who protected it did not mean that.
        if (exists && ::access(target_.c_str(), W_OK) != 0) {
            cannot_create(name_, errno);
        }
        if (const int error = obstacle_to_renaming(target_, exists ? &old : nullptr); error != 0) {
            cannot_create(name_, error);
        }
        descriptor_ = create_temporary(directory_of(target_), name_, temporary_);
        if (exists) {
            // Of a file that belongs to somebody else only root can keep the owner; others get a file of their own. What was
            // trusted to run as its owner or group is not there any more, so those bits go.
            [[maybe_unused]] const int owned = ::fchown(descriptor_.number(), old.st_uid, old.st_gid);
            ::fchmod(descriptor_.number(), old.st_mode & 0777U);
        }
    }
    writer_ = BufferedWriter(descriptor_.number(), name_, is_read_at_once() ? Content::lines : Content::bytes);
}

OutputFile::~OutputFile()
{
    if (!temporary_.empty()) {
        const SignalsBlocked blocked;
        ::unlink(temporary_.c_str());
        keep_on_signal();
    }
}

void OutputFile::commit()
{
    writer_.flush();
    // On the disk before it takes the old file's place, so that not even a power cut leaves half of it.
    if (!temporary_.empty() && ::fsync(descriptor_.number()) != 0 && errno != EINVAL) {
        cannot_write(name_, errno);
    }
    if (const int error = descriptor_.close(); error != 0) {
        cannot_write(name_, error);
    }
    if (temporary_.empty()) {
        return;
    }
    const SignalsBlocked blocked;
    if (std::rename(temporary_.c_str(), target_.c_str()) != 0) {
        cannot_create(name_, errno);
    }
    temporary_.clear();
    keep_on_signal();
}

} // namespace attn::cli
