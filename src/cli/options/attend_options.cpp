#include "cli/options/attend_options.hpp"

#include "attn/model/recipe/recipe_fields.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace attn::cli {
namespace {

namespace field = model::field;

constexpr std::array attend_formats{Format::json, Format::npy, Format::npz, Format::safetensors};
constexpr std::string_view tensor_symbol = "FILE[:NAME]";

void declare_tensor(Options& options, const char* name, const char* meaning, std::optional<std::string>& file)
{
    options.add({.name = name, .meaning = meaning, .symbol = tensor_symbol}, file);
}

void declare_files(Options& options, AttendOptions& attend, std::initializer_list<std::string_view> names)
{
    for (const AttendFile& file : attend_files) {
        if (std::ranges::find(names, file.option) != names.end()) {
            declare_tensor(options, file.option, file.meaning, attend.*file.typed);
        }
    }
}

/// A type that something is rounded to.
OptionInfo type_option(const char* name, std::string_view meaning, std::string_view usual = {})
{
    return {.name = name,
            .allowed = model::allow::one_of(model::float_type_names),
            .meaning = meaning,
            .usual = usual,
            .symbol = "TYPE"};
}

void declare_inputs(Options& options, AttendOptions& attend)
{
    model::Attend& how = attend.attend;
    options.group("Input");
    declare_tensor(options, "-q,--queries", "shape (T, d), (H, T, d) or (B, H, T, d); with --heads (T, H·d) or (B, T, H·d)",
                   attend.queries);
    declare_tensor(options, "-k,--keys", "as the queries, with S keys and H_kv heads, a divisor of H", attend.keys);
    declare_tensor(options, "-v,--values", "as the keys; the last dimension may differ", attend.values);
    options.add({.name = "--heads",
                 .allowed = field::heads.allowed,
                 .meaning = "heads that lie side by side in the last dimension",
                 .symbol = "H"},
                how.heads);
    options.add({.name = "--kv-heads",
                 .allowed = field::kv_heads.allowed,
                 .meaning = "number of heads in the keys and values",
                 .usual = "H",
                 .symbol = "H_KV"},
                how.kv_heads);
    options.add({.name = "--layout",
                 .allowed = model::allow::one_of(model::tensor_layout_names),
                 .meaning =
                     "order of batch, heads, positions and components; bshd: (B, T, H, d) or (T, H, d), as FlashAttention "
                     "and JAX have it, the cache and the result too; not with --heads",
                 .usual = "bhsd",
                 .symbol = "ORDER"},
                how.layout);
    declare_files(options, attend, {"--past-key", "--past-value", "--cu-seqlens", "--cu-seqlens-k"});
    options.add(
        {.name = "--allow-nonfinite", .allowed = model::allow::flag, .meaning = "accept infinities and NaN in the inputs"},
        how.allow_nonfinite);
}

void declare_attention(Options& options, AttendOptions& attend)
{
    model::Attend& how = attend.attend;
    options.group("Attention");
    options.add(option_of(field::causal), how.causal);
    options.add(option_of(field::window), how.window);
    options.add({.name = "--causal-align",
                 .allowed = model::allow::one_of(model::align_names),
                 .meaning =
                     "position of query 0 among the keys, for --causal, --window, --alibi and --segments; top-left: 0; "
                     "bottom-right: keys - T; offset (ONNX): the cache length, with --lengths the valid length - T, else 0",
                 .usual = "offset",
                 .symbol = "RULE"},
                how.align);
    declare_files(options, attend, {"--mask", "--lengths", "--segments"});
    options.add(
        {.name = "--alibi",
         .allowed = model::allow::flag,
         .meaning = "subtract slope·|position - key| from the scores; slopes as in the ALiBi paper, by the number of heads"},
        how.alibi);
    options.add(option_of(field::scale), how.scale);
    options.add(option_of(field::softcap), how.softcap);
    declare_files(options, attend, {"--sinks"});
    options.add(type_option("--softmax-dtype", "type to round to before and after the softmax"), how.softmax_type);
    options.add(type_option("--weights-dtype", "type to round exp(score - maximum) to for the product with V alone, as flash "
                                               "kernels do"),
                how.weights_type);
    options.add({.name = "--empty-rows",
                 .allowed = model::allow::one_of(model::empty_row_names),
                 .meaning = "result for a query that sees no key, and no sink",
                 .usual = "zero",
                 .symbol = "WHAT"},
                how.nan_for_empty_rows);
}

} // namespace

void declare_attend(Options& options, AttendOptions& attend)
{
    declare_inputs(options, attend);
    declare_attention(options, attend);
    options.group("Output");
    declare_show(options, model::ShownBy::attend, {"stages to write, such as scores,weights,context", "context"}, attend.show);
    options.add(type_option("--out-dtype", "type of the result; float64 is computed in float64", "that of the queries"),
                attend.attend.out_type);
    declare_output(options, attend.output, attend_formats);
    declare_against(options, attend.against);
    declare_suggest_input(options, attend.against);
    options.need({"--kv-heads"}, "--heads");
    options.need({"--past-key"}, "--past-value");
    options.need({"--past-value"}, "--past-key");
    options.need({"--cu-seqlens-k"}, "--cu-seqlens");
}

void finish_attend_options(const Operands& operands, AttendOptions& attend)
{
    if (!attend.against.given()) {
        expect_at_most(operands, 0, "tensors are given with -q, -k and -v");
    }
    for (const auto& [file, name] : {std::pair(&attend.queries, "-q"), {&attend.keys, "-k"}, {&attend.values, "-v"}}) {
        if (!*file) {
            throw Error(ErrorKind::usage,
                        fmt::format("attend: {} FILE is missing; queries, keys and values are required", name));
        }
    }
    if (attend.against.given()) {
        std::vector<std::string> read{*attend.queries, *attend.keys, *attend.values};
        for (const AttendFile& file : attend_files) {
            read.push_back((attend.*file.typed).value_or(""));
        }
        finish_against(attend.against, operands.words, attend.output, read);
    }
    if (attend.show.given()) {
        const model::Attend& how = attend.attend;
        const bool masked = how.causal || how.window || how.alibi || attend.mask || attend.lengths || attend.segments;
        attend.attend.show = attend.show.all ? model::attend_items({how.softcap.has_value(), masked,
                                                                    attend.past_key.has_value(), attend.cu_seqlens.has_value()})
                                             : attend.show.items;
    }
    if (attend.against.given() && attend.attend.show.size() > 1) {
        throw Error(ErrorKind::usage, "--show", fmt::format("{} stages", attend.attend.show.size()), "one with --against");
    }
    attend.format = decide_format(attend.output, attend_formats);
    if (attend.format == Format::npy && attend.attend.show.size() > 1) {
        throw Error(ErrorKind::usage, "--show", fmt::format("{} stages", attend.attend.show.size()),
                    "one in an .npy; .npz and .safetensors hold several");
    }
}

} // namespace attn::cli
