// --against, and what goes with it.
#pragma once

#include "cli/options/format.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace attn::cli {

namespace option {

inline constexpr OptionInfo against{
    "--against", "FILE[:NAME]",
    "compare FILE with the result, and name the mistake that gives its numbers; more FILEs may follow. FILE is anything that "
    "`compare` reads; -o error.svg draws where it differs"};
inline constexpr OptionInfo suggest_input{"--suggest-input", "FILE",
                                          "where --against cannot tell mistakes apart, write queries, keys, values (and mask, "
                                          "lengths, cache) on which they differ to "
                                          "FILE (.npz, .safetensors)"};

} // namespace option

struct AgainstOptions {
    std::optional<std::string> first;   ///< as typed behind --against
    std::vector<std::string> files;     ///< to hold against the result; none: it is written
    std::optional<std::string> picture; ///< of -o: where the file differs
    std::optional<std::string> suggest; ///< of --suggest-input

    [[nodiscard]] bool given() const { return first.has_value(); }
};

/// Declares --against, which goes with --json, and with -o for a picture.
void declare_against(Options& options, AgainstOptions& against);
void declare_suggest_input(Options& options, AgainstOptions& against);

/// The files are the one behind --against and the words after it; takes the path of -o for the picture. `read`: other files
/// that are read, "-" among them perhaps. Throws Error(usage) for what looks like an option, another ending of -o, standard
/// input twice, and what goes with one file alone.
void finish_against(AgainstOptions& against, std::span<const std::string> words, OutputOptions& output,
                    std::span<const std::string> read);

/// That of --suggest-input, by its ending. Throws Error(usage).
[[nodiscard]] Format format_of_suggested(const AgainstOptions& against);

} // namespace attn::cli
