// What each system does in its own way, as functions that say the same on all. A file whose name ends in a system's is compiled
// for that alone (src/CMakeLists.txt): _linux, whatever its C library; _macos; _posix, which is both; _wasi, WebAssembly in a
// page. Nothing else in the program asks which system it is on.
#pragma once

#include "attn/tensor/shape.hpp"

#include <cstddef>
#include <limits>
#include <span>
#include <string>

#include <sys/stat.h>

namespace attn::cli::platform {

inline constexpr Index unlimited = std::numeric_limits<Index>::max();

// ---- the machine -------------------------------------------------------------------------------------------------------

/// Processors that this process may run on; 0: nobody says.
[[nodiscard]] int processors();
/// Bytes that the machine and the control groups of this process still have.
[[nodiscard]] Index free_memory();
/// Bytes of address space that RLIMIT_AS leaves this process.
[[nodiscard]] Index address_space_room();
/// Bytes of memory that this process held at most, so far.
[[nodiscard]] Index peak_memory();

/// Settings of the allocator, where it has them; before threads start. One heap for all threads:
void share_heap();
/// Freed arrays up to `most` bytes are not given back to the system.
void keep_freed(int most);

// ---- signals -----------------------------------------------------------------------------------------------------------

/// Those that end a program unless it handles them, beside the real-time signals, and but for what bugs raise.
[[nodiscard]] std::span<const int> ending_signals();
/// first … last; none where last < first.
struct SignalRange {
    int first = 0;
    int last = -1;
};
[[nodiscard]] SignalRange real_time_signals();

// ---- descriptors -------------------------------------------------------------------------------------------------------

/// Another one of the same open file, closed when another program is started; -1 and errno where there is none.
[[nodiscard]] int duplicate(int descriptor);
/// A closed one is taken by something that can be neither read nor written, so that using it fails as before.
void occupy(int descriptor);
/// Columns of the terminal that it is; 0: nobody says.
[[nodiscard]] int terminal_width(int descriptor);

// ---- files -------------------------------------------------------------------------------------------------------------

/// Whether a file may only grow, or a directory only get more files: nothing of it can be replaced.
[[nodiscard]] bool only_appends(const std::string& path);
/// Whether a file is a mount of its own, which no rename can replace.
[[nodiscard]] bool is_mount(const std::string& path);
/// Exchanges two files in one step; false where the file system cannot, or one is not there.
bool exchange(const std::string& one, const std::string& other);
/// Owner, group and permissions of the file that an open one is to replace, as far as this process may give them.
void give_rights(int descriptor, const struct stat& old);
/// Whether this process is the user, or may do as root.
[[nodiscard]] bool acts_for(uid_t user);
/// Waits until nobody else has locked the open file; false where files have no locks.
bool lock(int descriptor);
/// When the file was last written.
[[nodiscard]] timespec write_time(const struct stat& status);
/// Lets the pages of a mapped file that lie between two offsets leave the memory, where that is the system's.
void drop_pages(void* begin, std::size_t from, std::size_t to);

} // namespace attn::cli::platform
