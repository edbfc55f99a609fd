// The options of `attend`: what they are called, and what the typed text means.
#pragma once

#include "attn/model/attend/attend.hpp"
#include "cli/options/against_options.hpp"
#include "cli/options/command.hpp"
#include "cli/options/show_option.hpp"

#include <array>
#include <optional>
#include <string>

namespace attn::cli {

/// Tensors are named as typed: FILE or FILE:NAME.
struct AttendOptions {
    std::optional<std::string> queries, keys, values; ///< all three are needed
    std::optional<std::string> past_key, past_value, mask, lengths, sinks, segments, cu_seqlens, cu_seqlens_k;
    model::Attend attend;
    ShowOption show; ///< where it is given, each object of JSON says which stage it is
    OutputOptions output;
    Format format = Format::json;
    AgainstOptions against;
};

/// A file that attention can do without.
struct AttendFile {
    const char *option, *name, *meaning;
    std::optional<std::string> AttendOptions::*typed;
    std::optional<TensorView> model::AttendInputs::*read;
};
inline constexpr std::array attend_files{
    AttendFile{"--past-key", "past_key", "cached keys (B, H_kv, P, d), before the new ones", &AttendOptions::past_key,
               &model::AttendInputs::past_key},
    AttendFile{"--past-value", "past_value", "cached values", &AttendOptions::past_value, &model::AttendInputs::past_value},
    AttendFile{"--cu-seqlens", "cu_seqlens",
               "(N+1) integers, where each of N packed sequences begins and the last one ends; queries, keys, values and "
               "result are (total, H, d); not with --heads, --past-key, --mask, --lengths, --segments",
               &AttendOptions::cu_seqlens, &model::AttendInputs::cu_seqlens},
    AttendFile{"--cu-seqlens-k", "cu_seqlens_k", "the same of keys and values, where they differ", &AttendOptions::cu_seqlens_k,
               &model::AttendInputs::cu_seqlens_k},
    AttendFile{
        "--mask", "mask",
        "bool, true = seen, or numbers that are added; broadcast from the right to (B, H, T, P+S); if the last dimension "
        "is too short, the remaining keys are masked",
        &AttendOptions::mask, &model::AttendInputs::mask},
    AttendFile{"--lengths", "lengths", "(B) integers: number of valid keys per batch entry, of P+S", &AttendOptions::lengths,
               &model::AttendInputs::lengths},
    AttendFile{"--segments", "segments",
               "(P+S) or (B, P+S) integers: the document of each key; a query sees the keys of that at its position",
               &AttendOptions::segments, &model::AttendInputs::segments},
    AttendFile{"--sinks", "sinks", "(H) numbers, finite or -inf: one more score per row, whose weight is dropped",
               &AttendOptions::sinks, &model::AttendInputs::sinks},
};

void declare_attend(Options& options, AttendOptions& attend);

/// What follows from the options as typed. Throws Error(usage) for what is missing or contradictory. Touches no file.
void finish_attend_options(const Operands& operands, AttendOptions& attend);

} // namespace attn::cli
