// --against, and what goes with it.
#pragma once

#include "attn/model/diagnose/against.hpp"
#include "cli/options/format.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace attn::cli {

namespace option {

inline constexpr OptionInfo against{
    "--against", "FILE[:NAME]",
    "compare FILE with the result and name its mistake; FILE is read as by `compare`; every word after it is another FILE; "
    "-o error.svg draws where one differs"};
inline constexpr OptionInfo suggest_input{
    "--suggest-input", "FILE",
    "write to FILE (.npz, .safetensors) queries, keys, values (and mask, lengths, cache) that tell apart what "
    "--against cannot, or show more of what --blind-spots lists"};

inline constexpr OptionInfo blind_spots = switch_option(
    "--blind-spots", "list the mistakes that a test on these inputs would miss; and count those that it would show");
inline constexpr OptionInfo require_seen{"--require", "N", "exit with 1 if the test sees fewer than N mistakes", "",
                                         model::allow::integer(0, 100000)};

inline constexpr OptionInfo against_rtol = rtol_option("relative tolerance of --against", "by type");
inline constexpr OptionInfo against_atol = atol_option("absolute tolerance of --against", "by type");
inline constexpr OptionInfo strict = switch_option(
    "--strict", "with --against: the tolerance alone counts; otherwise float16 and bfloat16 files also agree where "
                "they are as near float64 as the type allows");

} // namespace option

struct AgainstOptions {
    std::optional<std::string> first;   ///< as typed behind --against
    std::vector<std::string> files;     ///< to hold against the result; none: it is written
    std::optional<std::string> picture; ///< of -o: where the file differs
    std::optional<std::string> suggest; ///< of --suggest-input
    std::optional<double> rtol, atol;
    bool strict = false;
    bool blind_spots = false;      ///< of attend: no file is held against the result, but every mistake
    std::optional<Index> required; ///< so many of them are to be seen

    [[nodiscard]] bool given() const { return first.has_value(); }
    [[nodiscard]] model::diagnose::Criterion criterion() const;
};

/// Declares --against, which goes with --json, and with -o for a picture, and its tolerances.
void declare_against(Options& options, AgainstOptions& against);
/// What goes with it for the tensors of `attend` alone: --strict, --suggest-input, and --blind-spots in its place.
void declare_against_tensors(Options& options, AgainstOptions& against);
/// Throws Error(usage) for a tolerance with nothing to judge.
void require_judged(const AgainstOptions& against);

/// The files are the one behind --against and the words after it; takes the path of -o for the picture. `read`: other files
/// that are read, "-" among them perhaps. Throws Error(usage) for what looks like an option, another ending of -o, standard
/// input twice, and what goes with one file alone.
void finish_against(AgainstOptions& against, std::span<const std::string> words, OutputOptions& output,
                    std::span<const std::string> read);

/// That of --suggest-input, by its ending. Throws Error(usage).
[[nodiscard]] Format format_of_suggested(const AgainstOptions& against);

} // namespace attn::cli
