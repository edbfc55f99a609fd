#include "cli/output/output.hpp"

#include "attn/model/recipe/option_names.hpp"
#include "attn/tensor/error.hpp"
#include "cli/system/descriptor.hpp"
#include "cli/system/platform.hpp"
#include "cli/system/progress.hpp"
#include "cli/system/signals.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include <fcntl.h>
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

/// Why a rename to `path`, where `old` is now, would fail although files can be created beside it; 0: it would not.
int obstacle_to_renaming(const std::string& path, const struct stat* old)
{
    const std::string directory = directory_of(path);
    if (platform::only_appends(directory)) {
        return EPERM; // not even our own temporary file would go from there
    }
    if (old == nullptr) {
        return 0;
    }
    if (platform::is_mount(path)) {
        return EBUSY;
    }
    // In a directory such as /tmp everybody may create files, and only owners replace them.
    struct stat around = {};
    const bool sticky = ::stat(directory.c_str(), &around) == 0 && (around.st_mode & S_ISVTX) != 0;
    const bool owner = platform::acts_for(old->st_uid) || platform::acts_for(around.st_uid);
    return platform::only_appends(path) || (sticky && !owner) ? EPERM : 0;
}

/// A new file in `directory`, or -1. Its permission bits are those of any new file.
Descriptor new_file(const std::string& directory, std::string& path)
{
    constexpr int attempts = 1000;
    for (int attempt = 0; attempt < attempts; ++attempt) {
        path = directory + "/.attn-cli-" + std::to_string(::getpid()) + "-" + std::to_string(attempt) + ".tmp";
        Descriptor created(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
        if (created.number() != -1 || errno != EEXIST) {
            return created;
        }
    }
    return Descriptor();
}

/// One for what is to be at `place`, with the bits of the file that is there.
Descriptor create_temporary(const Output::Place& place, std::string& path)
{
    Descriptor created = new_file(directory_of(place.target), path);
    if (created.number() == -1) {
        const int error = errno;
        path.clear();
        cannot_create(place.name, error);
    }
    if (place.old) {
        platform::give_rights(created.number(), *place.old);
    }
    return created;
}

/// On the disk before it takes the old file's place, so that not even a power cut leaves half of it.
void sync_and_close(Descriptor& descriptor, const std::string& name, bool sync)
{
    if (sync && ::fsync(descriptor.number()) != 0 && errno != EINVAL) {
        cannot_write(name, errno);
    }
    if (const int error = descriptor.close(); error != 0) {
        cannot_write(name, error);
    }
}

/// Where `path` is or is to be; nothing for what is no regular file. Throws Error(cannot_create) for what cannot be written
/// there.
std::optional<Output::Place> place_of(const std::string& path)
{
    Output::Place place{quoted_path(path)};
    struct stat old = {};
    const bool exists = ::stat(path.c_str(), &old) == 0;
    if (!exists && errno != ENOENT) {
        cannot_create(place.name, errno);
    }
    if (exists && S_ISDIR(old.st_mode)) {
        cannot_create(place.name, EISDIR);
    }
    require_apart(path, "-");
    if (descriptor_named(path) || (exists && !S_ISREG(old.st_mode))) {
        return std::nullopt;
    }
    place.target = target_of(path, exists, place.name);
    // Renaming could replace a file that is write-protected; who protected it did not mean that.
    if (exists && ::access(place.target.c_str(), W_OK) != 0) {
        cannot_create(place.name, errno);
    }
    if (const int error = obstacle_to_renaming(place.target, exists ? &old : nullptr); error != 0) {
        cannot_create(place.name, error);
    }
    if (exists) {
        place.old = old;
    }
    return place;
}

/// A file that goes unless it was renamed.
struct Temporary {
    std::string path;
    Temporary() = default;
    Temporary(const Temporary&) = delete;
    Temporary(Temporary&&) = delete;
    Temporary& operator=(const Temporary&) = delete;
    Temporary& operator=(Temporary&&) = delete;
    ~Temporary()
    {
        if (!path.empty()) {
            ::unlink(path.c_str());
        }
    }
};

/// What is locked while the file at `target` and the one beside it are replaced.
std::string lock_at(const std::string& target)
{
    constexpr std::size_t longest = 200; // bytes, so that what is made of a long name is still a name
    return fmt::format("{}/.attn-cli-{}.lock", directory_of(target), target.substr(target.rfind('/') + 1, longest));
}

/// Of programs that replace the same two files at once, one waits here until the other has both in place. What they lock is a
/// file beside them, which goes with the lock; where none can be made or locked, nobody waits.
class PairLock {
public:
    explicit PairLock(const std::string& target) : path_(lock_at(target))
    {
        do {
            descriptor_ = Descriptor(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
        } while (descriptor_.number() != -1 && platform::lock(descriptor_.number()) && !is_there());
    }
    PairLock(const PairLock&) = delete;
    PairLock(PairLock&&) = delete;
    PairLock& operator=(const PairLock&) = delete;
    PairLock& operator=(PairLock&&) = delete;
    ~PairLock()
    {
        if (descriptor_.number() != -1) {
            ::unlink(path_.c_str());
        }
    }

private:
    /// Whether the locked file still has its name: who held the lock before took that away.
    [[nodiscard]] bool is_there() const
    {
        struct stat locked = {};
        struct stat named = {};
        return ::fstat(descriptor_.number(), &locked) == 0 && ::lstat(path_.c_str(), &named) == 0 &&
               locked.st_dev == named.st_dev && locked.st_ino == named.st_ino;
    }

    std::string path_;
    Descriptor descriptor_;
};

[[noreturn]] void refuse_beside(const std::string& path, std::string_view beside)
{
    throw Error(ErrorKind::usage, model::option::output, path == "-" ? "standard output" : in_quotes(path),
                fmt::format("a regular file; FILE{} beside it says what is in it", beside));
}

/// Opens what is no regular file: a device, a FIFO.
Descriptor open_special(const std::string& path, const std::string& name)
{
    const std::optional<int> inherited = descriptor_named(path);
    const auto open_it = [&] {
        return inherited ? platform::duplicate(*inherited) : ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
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

Output::Output(const std::optional<std::string>& path, std::string_view beside) : Buffer(usual_size)
{
    if (path && *path != "-" && descriptor_named(*path) != STDOUT_FILENO) {
        if (!beside.empty()) {
            const std::optional<Place> place = place_of(*path);
            place_beside_ = place ? place_of(*path + std::string(beside)) : std::nullopt;
            if (!place_beside_ || place_beside_->target == place->target) { // by a link
                refuse_beside(*path, beside);
            }
        }
        open_file(*path);
        return;
    }
    if (!beside.empty()) {
        refuse_beside("-", beside);
    }
    name_ = "standard output";
    to_terminal_ = ::isatty(STDOUT_FILENO) != 0;
    // A duplicate to close, for some file systems report a full disk only then; descriptor 1 stays taken.
    descriptor_ = Descriptor(platform::duplicate(STDOUT_FILENO));
    if (descriptor_.number() == -1) {
        cannot_write(name_, errno);
    }
}

void Output::open_file(const std::string& path)
{
    name_ = quoted_path(path);
    const std::optional<Place> place = place_of(path);
    if (!place) {
        descriptor_ = open_special(path, name_);
        return;
    }
    place_ = *place;
    const SignalsBlocked blocked;
    descriptor_ = create_temporary(place_, temporary_);
    remove_on_signal(temporary_);
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
    sync_and_close(descriptor_, name_, !temporary_.empty());
    if (temporary_.empty()) {
        return;
    }
    const SignalsBlocked blocked;
    if (place_beside_) {
        replace_both();
    } else if (std::rename(temporary_.c_str(), place_.target.c_str()) != 0) {
        cannot_create(name_, errno);
    }
    temporary_.clear();
    keep_on_signal();
}

/// The second file is small: it is written while no signal comes. The first changes places with the old one, which comes back
/// when the second cannot be put in its place.
void Output::replace_both()
{
    Temporary second;
    Descriptor written = create_temporary(*place_beside_, second.path);
    write_all(written.number(), text_beside_, place_beside_->name);
    sync_and_close(written, place_beside_->name, true);
    const PairLock lock(place_.target);
    const bool swapped = platform::exchange(temporary_, place_.target);
    // A file system that cannot swap has no way back, either.
    if (!swapped && std::rename(temporary_.c_str(), place_.target.c_str()) != 0) {
        cannot_create(name_, errno);
    }
    if (std::rename(second.path.c_str(), place_beside_->target.c_str()) != 0) {
        const int error = errno;
        if (swapped) {
            platform::exchange(temporary_, place_.target);
        } else if (!place_.old) {
            ::unlink(place_.target.c_str());
        }
        cannot_create(place_beside_->name, error);
    }
    second.path.clear();
    if (swapped) {
        ::unlink(temporary_.c_str());
    }
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
    constexpr int usual = 80;
    const int width = platform::terminal_width(STDOUT_FILENO);
    return width > 0 ? width : usual;
}

} // namespace attn::cli
