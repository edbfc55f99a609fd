#include "cli/attend_options.hpp"

#include "attn/tensor/error.hpp"
#include "cli/option_values.hpp"

#include <array>

namespace attn::cli {
namespace {

// ---- what they are called --------------------------------------------------------------------------------------------

constexpr std::array input_specs{
    OptionSpec{"--queries", "FILE[:NAME]", "(T, d), (H, T, d) or (B, H, T, d); with --heads (T, H·d) or (B, T, H·d)", "-q"},
    OptionSpec{"--keys", "FILE[:NAME]", "as the queries, with S keys and H_kv heads, a divisor of H", "-k"},
    OptionSpec{"--values", "FILE[:NAME]", "as the keys; the last dimension may differ", "-v"},
    OptionSpec{"--heads", "H", "heads lie side by side in the last dimension", {}},
    OptionSpec{"--kv-heads", "H_KV", "of keys and values, with --heads (default H)", {}},
    OptionSpec{"--past-key", "FILE[:NAME]", "cached keys (B, H_kv, P, d), before the new ones; with --past-value", {}},
    OptionSpec{"--past-value", "FILE[:NAME]", "cached values", {}},
    OptionSpec{"--allow-nonfinite", "", "compute with infinities and NaN in the inputs", {}},
};
constexpr std::array attention_specs{
    OptionSpec{"--causal", "", "a query sees no later key", {}},
    OptionSpec{"--window", "L[,R]", "a query sees L keys back and R ahead; -1 is no limit; one number means both", {}},
    OptionSpec{
        "--causal-align",
        "RULE",
        "where query 0 stands among the keys, for --causal and --window: offset (default), ONNX's rule: the length of the "
        "cache, or the valid length - T, or 0; top-left: 0; bottom-right: (valid) keys - T",
        {}},
    OptionSpec{
        "--mask",
        "FILE[:NAME]",
        "bool, true = seen, or numbers that are added; broadcast from the right to (B, H, T, P+S); keys beyond a short last "
        "dimension are masked",
        {}},
    OptionSpec{"--lengths", "FILE[:NAME]", "(B) int64: the valid keys of each batch entry; not with a cache", {}},
    OptionSpec{"--scale", "X|none", "factor of the scores (default 1/√d)", {}},
    OptionSpec{"--softcap", "X", "X·tanh(scores/X) before masks, X > 0 (default none)", {}},
    OptionSpec{"--softmax-dtype", "TYPE", "round to float16, bfloat16, float32 or float64 before and after the softmax", {}},
    OptionSpec{"--empty-rows", "WHAT", "what a query without any key gives: zero (default), nan", {}},
};
constexpr std::array output_specs{
    OptionSpec{
        "--show",
        "LIST",
        "stages (default context), or all: scores, scaled_scores, capped_scores, masked_scores, weights, context, entropy, "
        "present_key, present_value",
        {}},
    OptionSpec{"--format", "NAME", "json (default), npy, npz, safetensors; or by the ending of -o", {}},
    OptionSpec{"--json", "", "the same as --format json", {}},
    OptionSpec{"-o", "FILE", "written whole or not at all; - is standard output", {}},
};
constexpr std::array<OptionGroup, 3> groups{{{"Input", input_specs}, {"Attention", attention_specs}, {"Output", output_specs}}};

// ---- what they mean --------------------------------------------------------------------------------------------------

std::string required(const Arguments& arguments, const char* option, const char* names)
{
    const auto value = arguments.value(option);
    if (!value) {
        throw Error(ErrorKind::usage,
                    std::string("attend: ") + names + " FILE is missing; queries, keys and values are needed");
    }
    return *value;
}

/// Every stage that there is with these options.
std::set<model::Stage> every_stage(const AttendOptions& options)
{
    using model::Stage;
    std::set stages{Stage::scores, Stage::scaled_scores, Stage::weights, Stage::context, Stage::entropy};
    if (options.attend.softcap) {
        stages.insert(Stage::capped_scores);
    }
    if (options.attend.causal || options.attend.window || options.mask || options.lengths) {
        stages.insert(Stage::masked_scores);
    }
    if (options.past_key) {
        stages.insert({Stage::present_key, Stage::present_value});
    }
    return stages;
}

void read_stages(const Arguments& arguments, AttendOptions& options)
{
    const ShownNames shown = show_option(arguments, model::stage_names);
    options.stages_named = shown.all || !shown.places.empty();
    if (options.stages_named) {
        options.attend.show = shown.all ? every_stage(options) : std::set<model::Stage>{};
    }
    for (const std::size_t place : shown.places) {
        options.attend.show.insert(static_cast<model::Stage>(place));
    }
}

model::Attend read_attend(const Arguments& arguments)
{
    constexpr std::array<std::string_view, 3> alignments{"offset", "top-left", "bottom-right"};
    constexpr std::array<std::string_view, 4> types{"float16", "bfloat16", "float32", "float64"};
    constexpr std::array<std::string_view, 2> empty_rows{"zero", "nan"};
    model::Attend attend;
    attend.heads = integer_option(arguments, "--heads", 1, most_heads);
    attend.kv_heads = integer_option(arguments, "--kv-heads", 1, most_heads);
    attend.scale = scale_option(arguments);
    attend.softcap = softcap_option(arguments);
    attend.causal = arguments.flag("--causal");
    attend.window = window_option(arguments);
    attend.align = choice_option<model::CausalAlign>(arguments, "--causal-align", alignments).value_or(model::CausalAlign{});
    attend.nan_for_empty_rows = choice_option<int>(arguments, "--empty-rows", empty_rows) == 1;
    attend.softmax_type = choice_option<ElementType>(arguments, "--softmax-dtype", types);
    attend.allow_nonfinite = arguments.flag("--allow-nonfinite");
    return attend;
}

} // namespace

std::span<const OptionGroup> attend_option_groups()
{
    return groups;
}

AttendOptions read_attend_options(const Arguments& arguments)
{
    constexpr std::array formats{Format::json, Format::npy, Format::npz, Format::safetensors};
    expect_at_most(arguments, 0, "tensors are given with -q, -k and -v");
    AttendOptions options;
    options.queries = required(arguments, "--queries", "-q");
    options.keys = required(arguments, "--keys", "-k");
    options.values = required(arguments, "--values", "-v");
    options.past_key = arguments.value("--past-key");
    options.past_value = arguments.value("--past-value");
    options.mask = arguments.value("--mask");
    options.lengths = arguments.value("--lengths");
    options.attend = read_attend(arguments);
    options.output = arguments.value("-o");
    options.format = decide_format(arguments.value("--format"), arguments.flag("--json"), options.output, formats);
    read_stages(arguments, options);
    if (options.format == Format::npy && options.attend.show.size() > 1) {
        throw Error(ErrorKind::usage, "--show", std::to_string(options.attend.show.size()) + " stages",
                    "one in an .npy; .npz and .safetensors hold several");
    }
    return options;
}

} // namespace attn::cli
