#include "cli/options/attend_options.hpp"

#include "attn/model/recipe/option_names.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace attn::cli {
namespace {

namespace field = model::field;

constexpr std::array attend_formats{Format::json, Format::npy, Format::npz, Format::safetensors, Format::bin};

void declare_files(Options& options, AttendOptions& attend, std::initializer_list<const model::AttendOperand*> operands)
{
    for (const model::AttendOperand* operand : operands) {
        options.add({operand->option, "FILE[:NAME]", operand->meaning},
                    [&attend, operand](const model::FieldValue& file) { attend.files[operand] = std::get<std::string>(file); });
    }
}

void declare_inputs(Options& options, AttendOptions& attend)
{
    using namespace model::operand;
    model::Attend& how = attend.attend;
    options.group("Input");
    declare_files(options, attend, {&queries, &keys, &values});
    declare_random(options, attend.random);
    options.add(option::attend_heads, how.heads);
    options.add(option::attend_kv_heads, how.kv_heads);
    options.add(option::layout, how.layout);
    declare_files(options, attend, {&past_key, &past_value, &cu_seqlens, &cu_seqlens_k});
    options.add(option::allow_nonfinite, how.allow_nonfinite);
    options.need({option::attend_kv_heads.name}, option::attend_heads.name);
    options.need({past_key.option}, past_value.option);
    options.need({past_value.option}, past_key.option);
    options.need({cu_seqlens_k.option}, cu_seqlens.option);
    for (const std::string_view other :
         {queries.short_option(), keys.short_option(), values.short_option(), option::attend_heads.name}) {
        options.exclude({option::random.name, other});
    }
}

void declare_attention(Options& options, AttendOptions& attend)
{
    using namespace model::operand;
    constexpr model::Allowed type = model::allow::one_of(model::float_type_names);
    model::Attend& how = attend.attend;
    const std::string causal_name = option_name(field::causal), scale_name = option_name(field::scale);
    options.group(attention_group);
    OptionInfo causal = option_of(field::causal, causal_name);
    causal.meaning = "query i sees no key after key i (see --causal-align)";
    options.add(causal, how.causal);
    options.add(field::window, how.window);
    options.add(option::causal_align, how.align);
    declare_files(options, attend, {&mask, &lengths, &segments});
    options.add(
        option::alibi("subtract slope·|position - key| from the scores; slopes as in the ALiBi paper, by the number of heads"),
        how.alibi);
    declare_files(options, attend, {&alibi_slopes});
    options.exclude({model::option::alibi, alibi_slopes.option});
    OptionInfo scale = option_of(field::scale, scale_name);
    scale.usual = "1/√d_k"; // attend has no other scores
    options.add(scale, how.scale);
    options.add(field::softcap, how.softcap);
    declare_files(options, attend, {&sinks});
    options.add({"--softmax-dtype", "TYPE", "type to round to before and after the softmax", "", type}, how.softmax_type);
    options.add(option::weights_dtype("round exp(score - maximum) to this type for the product with V, as flash kernels do"),
                how.weights_type);
    options.add({"--empty-rows", "WHAT", "result for a query that sees no key, and no sink", "zero",
                 model::allow::one_of(model::empty_row_names)},
                how.nan_for_empty_rows);
}

void declare_gradients(Options& options, AttendOptions& attend)
{
    using namespace model::operand;
    options.group("Gradients and dropout");
    declare_files(options, attend, {&grad, &grad_lse});
    options.add(option::grad_ones, attend.attend.grad_ones);
    options.add(option::grad_random, attend.random.drawn.gradient);
    options.exclude({option::grad_ones.name, option::grad_random.name, grad.option});
    options.need({option::grad_random.name}, option::random.name);
    declare_files(options, attend, {&kept});
    OptionInfo dropout = option_of(field::dropout, model::option::dropout);
    dropout.meaning = "share that --kept leaves out: divide the rest by 1 - P";
    options.add(dropout, [&attend](const model::FieldValue& p) { attend.attend.dropout = {.p = std::get<double>(p)}; });
    options.need({model::option::dropout}, kept.option);
    options.need({kept.option}, model::option::dropout);
}

std::string shown(const AttendOptions& attend)
{
    return fmt::format("{} stages", attend.attend.show.size());
}

/// What --against and --blind-spots are for.
void require_judged_stages(const AttendOptions& attend)
{
    using namespace model::operand;
    const std::string stages = shown(attend);
    const bool several = attend.attend.show.size() > 1;
    const bool of_variants = attend.attend.show.without({model::Item::context, model::Item::weights, model::Item::lse}).empty();
    const bool of_gradients = std::ranges::all_of(attend.attend.show, model::is_gradient);
    if (attend.against.given() && several && !of_variants && !of_gradients) {
        throw Error(ErrorKind::usage, model::option::show, stages,
                    "one, several gradients, or several of context, weights and lse with --against");
    }
    if (several && (attend.against.picture || (attend.against.suggest && !of_gradients))) {
        throw Error(ErrorKind::usage, model::option::show, stages,
                    fmt::format("one with {}", attend.against.picture ? model::option::output : option::suggest_input.name));
    }
    if (attend.against.suggest && !of_gradients && attend.has(kept)) {
        throw Error(ErrorKind::usage,
                    fmt::format("{} with {} is for gradients alone", option::suggest_input.name, kept.option));
    }
    const bool of_one = !several && of_variants && !attend.attend.show.contains(model::Item::lse);
    if (attend.against.blind_spots && !of_gradients && (!of_one || attend.has(kept))) {
        throw Error(ErrorKind::usage, model::option::show, several ? stages : std::string(name_of(*attend.attend.show.begin())),
                    attend.has(kept) ? "gradients with --blind-spots and --kept"
                                     : "context, weights or gradients with --blind-spots");
    }
}

} // namespace

void declare_attend(Options& options, AttendOptions& attend)
{
    declare_inputs(options, attend);
    declare_attention(options, attend);
    declare_gradients(options, attend);
    options.group("Output");
    declare_show(options, model::ShownBy::attend,
                 {"stages to write, such as scores,weights,context", "context; with a gradient dq,dk,dv"}, attend.show);
    options.add(option::out_dtype, attend.attend.out_type);
    declare_output(options, attend.output, attend_formats, "a table");
    declare_against(options, attend.against);
    declare_against_tensors(options, attend.against);
    for (const std::string_view other : // what no mistake of the list is made in
         {model::operand::cu_seqlens.option, option::weights_dtype("").name, option::allow_nonfinite.name}) {
        options.exclude({option::blind_spots.name, other});
    }
    options.exclude({option::suggest_input.name, model::operand::cu_seqlens.option});
}

namespace {

/// Throws Error(usage) for --causal-align where no query has a place.
void require_placed(const TypedArguments& typed, const AttendOptions& attend)
{
    using namespace model::operand;
    const model::Attend& how = attend.attend;
    const bool placed = how.causal || how.window || how.alibi || attend.has(alibi_slopes) || attend.has(segments);
    const auto aligned = std::ranges::find(typed.options, option::causal_align.name, &TypedOption::name);
    if (!placed && aligned != typed.options.end()) {
        throw Error(ErrorKind::usage,
                    fmt::format("{} requires {}, {}, {}, {} or {}, for which it places the queries", option::causal_align.name,
                                option_name(field::causal), option_name(field::window), model::option::alibi,
                                alibi_slopes.option, segments.option));
    }
}

} // namespace

void finish_attend_options(const TypedArguments& typed, AttendOptions& attend)
{
    using namespace model::operand;
    require_judged(attend.against);
    require_placed(typed, attend);
    if (!attend.against.given()) {
        expect_at_most(typed, 0, "tensors are given with -q, -k and -v");
    }
    for (const model::AttendOperand* needed : {&queries, &keys, &values}) {
        if (!attend.has(*needed) && !attend.random.given()) {
            throw Error(ErrorKind::usage,
                        fmt::format("attend: {} FILE is missing; queries, keys and values are required, or {}",
                                    needed->short_option(), option::random.name));
        }
    }
    attend.random.drawn.layout = attend.attend.layout;
    attend.random.drawn.packed = attend.has(cu_seqlens);
    finish_random(attend.random);
    if (attend.against.given()) {
        std::vector<std::string> read;
        for (const auto& [operand, file] : attend.files) {
            read.push_back(file);
        }
        finish_against(attend.against, typed.words, attend.output, read);
    }
    if (attend.against.suggest) {
        (void)format_of_suggested(attend.against);
    }
    const auto given = [&](const model::AttendOperand& operand) { return attend.has(operand); };
    if (attend.show.all) {
        attend.attend.show = model::attend_items(attend.attend, given);
    } else if (!attend.show.given() && model::differentiates(attend.attend, given)) {
        attend.attend.show = {model::Item::dq, model::Item::dk, model::Item::dv};
    } else if (attend.show.given()) {
        attend.attend.show = attend.show.items;
    }
    require_judged_stages(attend);
    attend.format = decide_format(attend.output, attend_formats);
    attend.format_given = attend.output.format || attend.output.json;
    if (info_of(attend.format).one_array && attend.attend.show.size() > 1) {
        throw Error(
            ErrorKind::usage, model::option::output, shown(attend),
            fmt::format("one in an .npy ({} chooses it); .npz, .safetensors and .bin hold several", model::option::show));
    }
}

} // namespace attn::cli
