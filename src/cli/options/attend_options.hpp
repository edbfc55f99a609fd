// The options of `attend`: what they are called, and what the typed text means.
#pragma once

#include "attn/model/attend/attend.hpp"
#include "attn/model/recipe/recipe_fields.hpp"
#include "cli/options/against_options.hpp"
#include "cli/options/command.hpp"
#include "cli/options/random_option.hpp"
#include "cli/options/show_option.hpp"

#include <map>
#include <string>

namespace attn::cli {

namespace option {

inline constexpr OptionInfo attend_heads{model::option::heads, "H", "heads that lie side by side in the last dimension", "",
                                         model::field::heads.allowed};
inline constexpr OptionInfo attend_kv_heads{model::option::kv_heads, "H_KV", "number of heads in the keys and values", "H",
                                            model::field::kv_heads.allowed};
inline constexpr OptionInfo layout{
    "--layout", "ORDER",
    "order of batch, heads, positions and components; bshd: (B, T, H, d) or (T, H, d), as FlashAttention and JAX have it, the "
    "cache and the result too; not with --heads",
    "bhsd", model::allow::one_of(model::tensor_layout_names)};
inline constexpr OptionInfo causal_align{
    "--causal-align", "RULE",
    "where query 0 stands; for --causal, --window, --alibi and --segments; top-left: 0; bottom-right: keys - T; "
    "offset (ONNX): the cache length, with --lengths the valid length - T, else 0",
    "offset", model::allow::one_of(model::align_names)};
inline constexpr OptionInfo out_dtype{"--out-dtype", "TYPE", "type of the result; float64 is computed in float64",
                                      "that of the queries", model::allow::one_of(model::float_type_names)};

inline constexpr OptionInfo grad_ones =
    switch_option(model::option::grad_ones, "--grad of ones: the gradients of the context's sum");
inline constexpr OptionInfo grad_random =
    switch_option(model::option::grad_random, "--grad drawn after the values of --random");

inline constexpr OptionInfo allow_nonfinite = switch_option("--allow-nonfinite", "accept infinities and NaN in the inputs");

/// As `bench` has them too.
[[nodiscard]] constexpr OptionInfo alibi(std::string_view meaning)
{
    return switch_option(model::option::alibi, meaning);
}
[[nodiscard]] constexpr OptionInfo weights_dtype(std::string_view meaning)
{
    return {"--weights-dtype", "TYPE", meaning, "", model::allow::one_of(model::float_type_names)};
}

} // namespace option

inline constexpr std::string_view attention_group = "Attention";

struct AttendOptions {
    std::map<const model::AttendOperand*, std::string> files; ///< as typed: FILE or FILE:NAME
    RandomOptions random;                                     ///< in place of queries, keys and values
    model::Attend attend;
    ShowOption show; ///< where it is given, or several are, each object of JSON says which stage it is
    OutputOptions output;
    Format format = Format::json;
    bool format_given = false; ///< or the name of a file that has one; a terminal gets no JSON otherwise
    AgainstOptions against;

    [[nodiscard]] bool has(const model::AttendOperand& operand) const
    {
        return files.contains(&operand) || (&operand == &model::operand::grad && random.drawn.gradient);
    }
    /// What is drawn is written, too.
    [[nodiscard]] bool makes_case() const { return random.given() && info_of(format).is_binary && !info_of(format).one_array; }
};

void declare_attend(Options& options, AttendOptions& attend);

/// What follows from the options as typed. Throws Error(usage) for what is missing or contradictory. Touches no file.
void finish_attend_options(const TypedArguments& typed, AttendOptions& attend);

} // namespace attn::cli
