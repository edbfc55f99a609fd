// What `run` and `explain` compute from: the options of input, parameters and attention.
#pragma once

#include "attn/model/recipe/overrides.hpp"
#include "attn/model/recipe/trained_config.hpp"
#include "cli/options/command.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace attn::cli {

/// Where the input comes from.
enum class SentenceSource {
    overrides,      ///< SENTENCE or --ids, already in the overrides
    recipe,         ///< --recipe without a sentence: its own
    standard_input, ///< "-"
    pipe,           ///< nothing: standard input, unless it is a terminal
    lines,          ///< --lines
};

namespace option {

inline constexpr OptionInfo lines{"--lines", "FILE", "one sentence and result per line (- is standard input)"};
inline constexpr std::string_view first_index_key = "lines.first_index";
inline constexpr OptionInfo first_index{"--first-index", "N", "\"index\" of the first line, for a part of a longer input", "0",
                                        model::allow::integer(0, Index{1} << 62U)}; // no input makes the last one overflow
inline constexpr OptionInfo recipe{"--recipe", "NAME|FILE",        "take everything from a recipe; other options override it",
                                   "",         model::allow::text, "RECIPE, *.json"};

} // namespace option

struct InputOptions {
    SentenceSource source = SentenceSource::overrides;
    std::optional<std::string> lines; ///< path of --lines, "-" for standard input
    std::optional<Index> first_index; ///< of its first line
    std::optional<std::string> recipe;
    model::Overrides overrides;
    model::TrainedConfig trained;                   ///< of --model
    std::optional<Index> layer_of_head;             ///< of --head LAYER.HEAD, where it is the only one
    std::vector<model::LayerHead> layer_heads;      ///< of --head LAYER.HEAD with several layers
    std::optional<std::vector<std::string>> labels; ///< of --ids, or of the ids or positions of the recipe
    std::map<Index, model::StepValues> steps;       ///< of the recipe's draws, by their place
    std::size_t max_input_bytes = std::size_t{64} << 20U;

    /// Whether standard input is the sentence.
    [[nodiscard]] bool reads_sentence() const
    {
        return source == SentenceSource::standard_input || source == SentenceSource::pipe;
    }
};

/// The fields of a recipe as options and as keys of --set, with --recipe.
void declare_input(Options& options, InputOptions& input);
/// Whether the options of a group say what is computed, and not how it is shown.
[[nodiscard]] bool is_of_computation(std::string_view group);

/// Throws Error(data) for more bytes than --max-input-bytes allows.
void require_size(std::string_view name, std::size_t bytes, std::size_t most);

/// Throws Error(usage): "--ids 2 6" lacks commas.
[[noreturn]] void refuse_second_item(const std::string& option, const std::string& list, const std::string& stray);

/// Says where the input comes from: SENTENCE, --lines, --ids, --recipe, standard input. Throws Error(usage) for what is
/// contradictory. Touches no file.
void read_source(const TypedArguments& typed, InputOptions& input);

} // namespace attn::cli
