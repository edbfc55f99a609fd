// The one exception of the library: what was wrong, the value received, what is allowed.
//
// The library throws it and never catches it; the program turns it into one line on stderr and an exit code.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

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

} // namespace attn
