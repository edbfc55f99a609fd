#include "cli/system/mapped_file.hpp"

#include "attn/tensor/error.hpp"
#include "cli/system/platform.hpp"
#include "cli/system/system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include <sys/mman.h>
#include <unistd.h>

namespace attn::cli {
namespace {

constexpr std::size_t first_room = std::size_t{1} << 20U;
constexpr std::size_t enough_to_check = 16;

bool same_time(const timespec& a, const timespec& b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

} // namespace

MappedFile::MappedFile(const std::string& path, const FrontCheck& check)
    : name_(name_of_input(path)), descriptor_(open_input(path))
{
    if (::fstat(descriptor_.number(), &status_) != 0) {
        throw Error(ErrorKind::io, fmt::format("cannot read {}: {}", name_, reason(errno)));
    }
    // Standard input may stand in the middle of a file.
    const bool whole = ::lseek(descriptor_.number(), 0, SEEK_CUR) == 0;
    if (S_ISREG(status_.st_mode) && status_.st_size > 0 && whole) {
        map(status_);
    }
    if (begin_ == nullptr) {
        // Files that the kernel makes up say that they are empty. None of them is of use here, and some never end.
        read_to_end(check, S_ISREG(status_.st_mode) && status_.st_size == 0);
        descriptor_.close();
    }
}

MappedFile::~MappedFile()
{
    if (is_mapped()) {
        ::munmap(begin_, size_);
    }
}

void MappedFile::map(const struct stat& status)
{
    const auto size = static_cast<std::size_t>(status.st_size);
    void* begin = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor_.number(), 0);
    if (begin == MAP_FAILED) {
        if (errno == ENOMEM) {
            does_not_fit(name_, size);
        }
        return; // some file systems cannot map; all can read
    }
    begin_ = begin;
    size_ = size;
}

void MappedFile::read_to_end(const FrontCheck& check, bool empty)
{
    const auto most = static_cast<std::size_t>(memory_limit());
    std::size_t room = 0;
    bool checked = false;
    for (;;) {
        if (size_ == room) {
            room = std::max(first_room, 2 * room);
            // realloc moves the pages of what is large, without a copy.
            void* grown = std::realloc(read_.get(), room); // NOLINT(cppcoreguidelines-no-malloc)
            if (grown == nullptr) {
                does_not_fit(name_, room);
            }
            static_cast<void>(read_.release());
            read_.reset(grown);
            begin_ = grown;
        }
        const std::span free(static_cast<char*>(begin_) + size_, room - size_);
        const std::size_t count = empty ? 0 : read_some(descriptor_.number(), free, name_);
        size_ += count;
        if (!checked && check && (count == 0 || size_ >= enough_to_check)) {
            check(bytes());
            checked = true;
        }
        if (count == 0) {
            return;
        }
        if (size_ > most) {
            does_not_fit(name_, size_);
        }
    }
}

void MappedFile::drop(std::size_t from, std::size_t to) const
{
    if (!is_mapped()) {
        return; // memory of our own, which would be lost
    }
    platform::drop_pages(begin_, from, to);
}

void MappedFile::require_unchanged() const
{
    struct stat now = {};
    if (!is_mapped() || ::fstat(descriptor_.number(), &now) != 0) {
        return;
    }
    if (now.st_size != status_.st_size || !same_time(platform::write_time(now), platform::write_time(status_))) {
        throw Error(ErrorKind::io, name_ + " changed while it was read");
    }
}

} // namespace attn::cli
