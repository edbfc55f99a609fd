// What `run` and `explain` compute from: the options of input, parameters and attention, and what the typed text means.
#pragma once

#include "attn/model/overrides.hpp"
#include "cli/command.hpp"

#include <optional>
#include <string>
#include <vector>

namespace attn::cli {

inline constexpr std::size_t default_max_input_bytes = std::size_t{64} << 20U;

/// Where the input comes from.
enum class Source {
    overrides,      ///< SENTENCE or --ids, already in the overrides
    recipe,         ///< --recipe without a sentence: its own
    standard_input, ///< "-"
    pipe,           ///< nothing: standard input, unless it is a terminal
    lines,          ///< --lines
};

struct InputOptions {
    Source source = Source::overrides;
    std::string lines;     ///< path of --lines, "-" for standard input
    Index first_index = 0; ///< of its first line
    std::optional<std::string> recipe;
    model::Overrides overrides;
    std::optional<std::vector<std::string>> labels;
    std::optional<std::string> mask; ///< FILE[:NAME]
    std::size_t max_input_bytes = default_max_input_bytes;
};

[[nodiscard]] std::span<const OptionSpec> input_specs(bool lines); ///< with --lines or without
[[nodiscard]] std::span<const OptionSpec> parameter_specs();
[[nodiscard]] std::span<const OptionSpec> attention_specs();

/// All but where the input comes from. Throws Error(usage) for what is malformed, out of range or contradictory. Touches no
/// file.
[[nodiscard]] InputOptions read_input_options(const Arguments& arguments);
/// Where it comes from: SENTENCE, --lines, --ids, --recipe, standard input. Throws as the above.
void read_source(const Arguments& arguments, InputOptions& options);

/// --max-input-bytes
[[nodiscard]] std::size_t max_input_bytes(const Arguments& arguments, std::size_t otherwise);

} // namespace attn::cli
