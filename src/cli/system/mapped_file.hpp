// Input files as bytes in memory, without a copy where there can be one without.
#pragma once

#include "cli/system/files.hpp"

#include <cstddef>
#include <cstdlib>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include <sys/stat.h>

namespace attn::cli {

/// A regular file is mapped; whatever else can be read (a pipe, a FIFO, standard input) is read to its end.
///
/// A mapped file may change while we look at it. Where it has become shorter, looking raises SIGBUS, which ends the program
/// with exit code 74 (signals.hpp); require_unchanged() tells every other change.
class MappedFile {
public:
    /// Looks at the first bytes of what is not mapped, 16 or all that there are, so that no endless input is read in vain; what
    /// it throws ends the reading.
    using FrontCheck = std::function<void(std::span<const std::byte> front)>;

    /// "-" is standard input. Throws Error(no_input), Error(io), and Error(too_large) for what does not fit in memory.
    explicit MappedFile(const std::string& path, const FrontCheck& check = {});
    MappedFile(const MappedFile&) = delete;
    MappedFile(MappedFile&&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;
    MappedFile& operator=(MappedFile&&) = delete;
    ~MappedFile();

    [[nodiscard]] std::span<const std::byte> bytes() const { return {static_cast<const std::byte*>(begin_), size_}; }
    [[nodiscard]] const std::string& name() const { return name_; } ///< for messages

    /// Lets the pages between two offsets leave the memory. They come back from the file when somebody looks at them again.
    void drop(std::size_t from, std::size_t to) const;

    /// Throws Error(io) when somebody wrote to the file, or cut it, since it was mapped.
    void require_unchanged() const;

private:
    [[nodiscard]] bool is_mapped() const { return descriptor_.number() != -1; }
    void map(const struct stat& status);
    void read_to_end(const FrontCheck& check, bool empty);

    std::string name_;
    Descriptor descriptor_; ///< of a mapped file
    struct stat status_ = {};
    void* begin_ = nullptr; ///< the mapping, or what was read
    std::size_t size_ = 0;

    struct Free {
        void operator()(void* memory) const { std::free(memory); } // NOLINT(cppcoreguidelines-no-malloc): of realloc
    };
    std::unique_ptr<void, Free> read_; ///< of what is not mapped
};

} // namespace attn::cli
