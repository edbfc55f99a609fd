// Files that are read, and how a message calls them.
#pragma once

#include "cli/system/descriptor.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace attn::cli {

/// An open descriptor that closes itself.
class Descriptor {
public:
    explicit Descriptor(int number = -1) : number_(number) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor(Descriptor&& other) noexcept;
    Descriptor& operator=(const Descriptor&) = delete;
    Descriptor& operator=(Descriptor&& other) noexcept;
    ~Descriptor();
    [[nodiscard]] int number() const { return number_; }
    /// 0, or the error that closing reported.
    int close();

private:
    int number_;
};

/// For reading; "-" is standard input. Throws Error(no_input).
[[nodiscard]] Descriptor open_input(const std::string& path);

/// Everything up to the end. Throws Error(data) as soon as there are more than `most` bytes, however large the input is, and
/// Error(too_large) for what does not fit in memory.
[[nodiscard]] std::string read_all(int descriptor, std::size_t most, std::string_view name);
/// The same of a file of JSON: reading ends at a first byte that no JSON begins with, which whoever parses it refuses.
[[nodiscard]] std::string read_json_file(const std::string& path, std::size_t most);

/// Throws Error(too_large). `name` as in messages; so many bytes are known of.
[[noreturn]] void does_not_fit(std::string_view name, std::size_t bytes);

/// How a path is called in a message: quoted, and never shortened, for its end tells most.
[[nodiscard]] std::string quoted_path(const std::string& path);
/// The same without the quotes, for reports that name one file per line.
[[nodiscard]] std::string visible_path(const std::string& path);
/// Quoted, but "standard input" for "-".
[[nodiscard]] std::string name_of_input(const std::string& path);

/// The descriptor that a path such as /dev/stdout or /dev/fd/3 names. Such a path must not be opened anew: that would start at
/// the file's beginning, or replace the file under whoever opened it.
[[nodiscard]] std::optional<int> descriptor_named(const std::string& path);

/// Throws Error(usage) when `output`, a path of -o where it is given, is the regular file at `input`, which may be "-": writing
/// one would end the other.
void require_apart(const std::optional<std::string>& output, const std::string& input);

} // namespace attn::cli
