#include "cli/output/output.hpp"

#include "attn/tensor/error.hpp"
#include "cli/system/descriptor.hpp"
#include "cli/system/progress.hpp"
#include "cli/system/signals.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace attn::cli {
namespace {

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

/// What is to be replaced: where links lead, which have to lead somewhere.
std::string target_of(const std::string& path, bool exists, const std::string& name)
{
    struct stat link = {};
    if (path.empty() || (!exists && ::lstat(path.c_str(), &link) == 0)) {
        cannot_create(name, ENOENT);
    }
    if (!exists) {
        if (path.back() == '/') {
            cannot_create(name, EISDIR);
        }
        return path;
    }
    const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr), &std::free);
    if (!real) {
        cannot_create(name, errno);
    }
    return real.get();
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
    const std::optional<int> inherited = descriptor_named(path);
    const auto open_it = [&] {
        return inherited ? ::fcntl(*inherited, F_DUPFD_CLOEXEC, 0) : ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    };
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

Output::Output(const std::optional<std::string>& path) : Buffer(usual_size)
{
    if (path && *path != "-" && descriptor_named(*path) != STDOUT_FILENO) {
        name_ = quoted_path(*path);
        open_file(*path);
        return;
    }
    name_ = "standard output";
    to_terminal_ = ::isatty(STDOUT_FILENO) != 0;
    // A duplicate to close, for some file systems report a full disk only then; descriptor 1 stays taken.
    descriptor_ = Descriptor(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0));
    if (descriptor_.number() == -1) {
        cannot_write(name_, errno);
    }
}

void Output::open_file(const std::string& path)
{
    struct stat old = {};
    const bool exists = ::stat(path.c_str(), &old) == 0;
    if (!exists && errno != ENOENT) {
        cannot_create(name_, errno);
    }
    if (exists && S_ISDIR(old.st_mode)) {
        cannot_create(name_, EISDIR);
    }
    if (descriptor_named(path) || (exists && !S_ISREG(old.st_mode))) {
        descriptor_ = open_special(path, name_);
        return;
    }
    require_apart(path, "-");
    target_ = target_of(path, exists, name_);
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

Output::~Output()
{
    if (!temporary_.empty()) {
        const SignalsBlocked blocked;
        ::unlink(temporary_.c_str());
        keep_on_signal();
    }
}

void Output::show_progress(StageReporter& progress)
{
    progress_ = bytes_left(descriptor_.number()) ? &progress : nullptr; // a regular file
}

void Output::send(std::string_view bytes)
{
    constexpr std::size_t piece = std::size_t{1} << 20U;
    while (!bytes.empty()) {
        const std::string_view part = progress_ == nullptr ? bytes : bytes.substr(0, piece);
        write_all(descriptor_.number(), part, name_);
        bytes.remove_prefix(part.size());
        written_ += part.size();
        if (progress_ != nullptr) {
            progress_->show_bytes(written_);
        }
    }
}

void Output::finish()
{
    flush();
    if (progress_ != nullptr) {
        progress_->erase();
    }
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

std::optional<int> Output::columns() const
{
    return to_terminal_ ? terminal_columns() : std::nullopt;
}

void print(std::string_view text)
{
    Output output;
    output.append(text);
    output.finish();
}

std::optional<int> terminal_columns()
{
    if (::isatty(STDOUT_FILENO) == 0) {
        return std::nullopt;
    }
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        return size.ws_col;
    }
    return 80;
}

} // namespace attn::cli
