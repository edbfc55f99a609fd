#include "cli/options/attend_options.hpp"

#include "attn/model/recipe/recipe_fields.hpp"
#include "attn/tensor/error.hpp"

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
    declare_tensor(options, "--past-key", "cached keys (B, H_kv, P, d), before the new ones", attend.past_key);
    declare_tensor(options, "--past-value", "cached values", attend.past_value);
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
                 .meaning = "position of query 0 among the keys, for --causal and --window; top-left: 0; bottom-right: keys - "
                            "T; offset (ONNX): the cache length, with --lengths the valid length - T, else 0",
                 .usual = "offset",
                 .symbol = "RULE"},
                how.align);
    declare_tensor(
        options, "--mask",
        "bool, true = seen, or numbers that are added; broadcast from the right to (B, H, T, P+S); if the last dimension is "
        "too short, the remaining keys are masked",
        attend.mask);
    declare_tensor(options, "--lengths", "(B) int32 or int64: number of valid keys per batch entry; not with --past-key",
                   attend.lengths);
    options.add(option_of(field::scale), how.scale);
    options.add(option_of(field::softcap), how.softcap);
    options.add({.name = "--softmax-dtype",
                 .allowed = model::allow::one_of(model::softmax_type_names),
                 .meaning = "type to round to before and after the softmax",
                 .symbol = "TYPE"},
                how.softmax_type);
    options.add({.name = "--empty-rows",
                 .allowed = model::allow::one_of(model::empty_row_names),
                 .meaning = "result for a query that sees no key",
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
    declare_output(options, attend.output, attend_formats);
    declare_against(options, attend.against);
    declare_suggest_input(options, attend.against);
    options.need({"--kv-heads"}, "--heads");
    options.need({"--past-key"}, "--past-value");
    options.need({"--past-value"}, "--past-key");
    options.exclude({"--lengths", "--past-key"});
}

void finish_attend_options(const Operands& operands, AttendOptions& attend)
{
    if (!attend.against.given()) {
        expect_at_most(operands, 0, "tensors are given with -q, -k and -v");
    }
    for (const auto& [file, name] : {std::pair(&attend.queries, "-q"), {&attend.keys, "-k"}, {&attend.values, "-v"}}) {
        if (!*file) {
            throw Error(ErrorKind::usage,
                        std::string("attend: ") + name + " FILE is missing; queries, keys and values are required");
        }
    }
    if (attend.against.given()) {
        std::vector<std::string> read;
        for (const auto& file :
             {attend.queries, attend.keys, attend.values, attend.past_key, attend.past_value, attend.mask, attend.lengths}) {
            read.push_back(file.value_or(""));
        }
        finish_against(attend.against, operands.words, attend.output, read);
    }
    if (attend.show.given()) {
        const model::Attend& how = attend.attend;
        const bool masked = how.causal || how.window || attend.mask || attend.lengths;
        attend.attend.show = attend.show.all
                                 ? model::attend_items({how.softcap.has_value(), masked, attend.past_key.has_value()})
                                 : attend.show.items;
    }
    if (attend.against.given() && attend.attend.show.size() > 1) {
        throw Error(ErrorKind::usage, "--show", std::to_string(attend.attend.show.size()) + " stages", "one with --against");
    }
    attend.format = decide_format(attend.output, attend_formats);
    if (attend.format == Format::npy && attend.attend.show.size() > 1) {
        throw Error(ErrorKind::usage, "--show", std::to_string(attend.attend.show.size()) + " stages",
                    "one in an .npy; .npz and .safetensors hold several");
    }
}

} // namespace attn::cli
