#include "cli/commands/suggested_input.hpp"

#include "attn/io/tensors/npy.hpp"
#include "attn/model/attend/attend.hpp"
#include "attn/model/recipe/option_names.hpp"
#include "cli/output/hints.hpp"
#include "cli/output/output.hpp"
#include "cli/output/result_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace attn::cli {
namespace {

/// Whether an option says how attention is computed, or what of it is compared and how strictly.
bool is_kept(const TypedOption& typed)
{
    constexpr std::array others{option::attend_heads.name, option::attend_kv_heads.name, option::layout.name,
                                model::option::show,       option::out_dtype.name,       option::against_rtol.name,
                                option::against_atol.name, option::strict.name,          option::grad_ones.name,
                                model::option::dropout};
    const auto is_it = [&](const model::AttendOperand* operand) { return operand->option == typed.name; };
    const bool tensor = std::ranges::any_of(model::operand::all, is_it);
    return !tensor && (typed.group == attention_group || std::ranges::find(others, typed.name) != others.end());
}

/// "attn-cli attend -q tie.npz:queries … --causal --against FILE"
std::string command_for(const AgainstOptions& options, const std::vector<StoredTensor>& tensors, const TypedArguments& typed)
{
    std::string command = "attn-cli attend";
    const Format format = format_of_suggested(options);
    for (const StoredTensor& tensor : tensors) {
        const bool untyped = tensor.type == ElementType::bfloat16 && format == Format::npz;
        command += fmt::format(" {} {}", model::operand::called(tensor.name)->short_option(),
                               shell_word(fmt::format("{}:{}{}", *options.suggest, tensor.name,
                                                      untyped ? io::bfloat16_said : std::string_view())));
    }
    for (const TypedOption& each : typed.options) {
        if (is_kept(each)) {
            command += as_typed(each);
        }
    }
    return fmt::format("{} {} FILE", command, option::against.name);
}

void write(const std::vector<StoredTensor>& tensors, const AgainstOptions& options)
{
    Output output(options.suggest);
    write_tensors(views_of(tensors), format_of_suggested(options), {}, output);
    output.finish();
}

} // namespace

report::SuggestedFile write_suggested_input(const TypedCall& call, const model::diagnose::Diagnosis& diagnosis)
{
    const AgainstOptions& options = call.options.against;
    const std::span tied = std::span(diagnosis.candidates).first(diagnosis.named);
    report::SuggestedFile file;
    file.suggestion = suggest_input(call.resolved, tied, {.threads = call.globals.threads});
    if (!file.suggestion.tensors.empty()) {
        write(file.suggestion.tensors, options);
        file.path = *options.suggest;
        file.command = command_for(options, file.suggestion.tensors, call.typed);
    }
    return file;
}

report::RevealingFile write_revealing_input(const TypedCall& call, const model::diagnose::BlindSpots& spots)
{
    const AgainstOptions& options = call.options.against;
    model::diagnose::RevealingInput found =
        revealing_input(call.resolved, spots, options.criterion(), {.threads = call.globals.threads});
    report::RevealingFile file;
    if (!found.tensors.empty()) {
        write(found.tensors, options);
        file.path = *options.suggest;
        file.command = command_for(options, found.tensors, call.typed);
    }
    file.spots = std::move(found.spots);
    return file;
}

} // namespace attn::cli
