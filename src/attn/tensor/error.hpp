// The one exception of the library: what was wrong, the value received, what is allowed; and the words of its messages.
//
// The library throws it and never catches it; the program turns it into one line on stderr and an exit code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace attn {

/// Whose fault it was. `cli/system/exit_code.hpp` maps each kind to one exit code of the contract.
enum class ErrorKind {
    usage,         ///< an option or a value on the command line (2)
    data,          ///< the content of an input (65)
    no_input,      ///< an input that does not exist or cannot be opened (66)
    internal,      ///< our bug (70)
    too_large,     ///< would not fit in memory (71)
    cannot_create, ///< the output cannot be created (73)
    io,            ///< reading or writing failed midway (74)
    interrupted,   ///< the user or the system asked us to stop (130, 143)
};

class Error : public std::runtime_error {
public:
    /// `message` is one line, complete in itself.
    Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}

    /// "<thing>: got <value>; allowed: <allowed>"
    Error(ErrorKind kind, std::string_view thing, std::string_view value, std::string_view allowed);

    [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }

private:
    ErrorKind kind_;
};

/// `bytes` between single quotes, fit for one line of a terminal: control characters, those that break a line or turn its
/// direction, and bytes that are not UTF-8 are escaped as \n, \t or \xNN, and what is longer than `most` bytes ends in "…".
[[nodiscard]] std::string in_quotes(std::string_view bytes, std::size_t most = 60);

/// "1 row", "3 rows"
[[nodiscard]] std::string counted(std::int64_t count, std::string_view thing);

/// Insertions, deletions, substitutions and swaps of neighbouring bytes that turn `a` into `b` (optimal string alignment).
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// What others call a candidate, and the candidate.
using Alias = std::pair<std::string_view, std::string_view>;

/// "; did you mean 'heads'?" for the candidate that `text` is an alias of, otherwise for the one nearest to `text`, or nothing
/// when none is near. A candidate is near when a third of the letters of the longer of the two or fewer differ, or when `text`
/// abbreviates it; dashes in front do not count.
[[nodiscard]] std::string did_you_mean(std::string_view text, std::span<const std::string_view> candidates,
                                       std::span<const Alias> aliases = {});

/// "a, b"
[[nodiscard]] std::string joined(std::span<const std::string_view> names);

/// "'a', 'b', …": the first few are enough.
[[nodiscard]] std::string quoted_list(std::span<const std::string> names, std::size_t most = 8);

} // namespace attn
