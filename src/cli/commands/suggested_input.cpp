#include "cli/commands/suggested_input.hpp"

#include "attn/model/attend/attend.hpp"
#include "cli/output/hints.hpp"
#include "cli/output/output.hpp"
#include "cli/output/tensor_output.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace attn::cli {
namespace {

using model::diagnose::Compared;
using model::diagnose::Suggestion;

/// The options of tensors, by their names in a suggestion.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> tensor_options{{{"queries", "-q"},
                                                                                       {"keys", "-k"},
                                                                                       {"values", "-v"},
                                                                                       {"past_key", "--past-key"},
                                                                                       {"past_value", "--past-value"},
                                                                                       {"mask", "--mask"},
                                                                                       {"lengths", "--lengths"},
                                                                                       {"sinks", "--sinks"},
                                                                                       {"segments", "--segments"}}};

/// Whether an option says how attention is computed, or what of it is compared.
bool is_kept(const TypedOption& option)
{
    constexpr std::array<std::string_view, 5> others{"--heads", "--kv-heads", "--layout", "--show", "--out-dtype"};
    const bool tensor = std::ranges::any_of(tensor_options, [&](const auto& named) { return named.second == option.name; });
    return !tensor && (option.group == "Attention" || std::ranges::find(others, option.name) != others.end());
}

/// "attn-cli attend -q tie.npz:queries … --causal --against FILE"
std::string command_for(const std::string& path, const Suggestion& suggestion, const Operands& typed)
{
    std::string command = "attn-cli attend";
    for (const auto& [name, option] : tensor_options) {
        if (std::ranges::find(suggestion.tensors, name, &StoredTensor::name) != suggestion.tensors.end()) {
            command += fmt::format(" {} {}", option, shell_word(fmt::format("{}:{}", path, name)));
        }
    }
    for (const TypedOption& option : typed.options) {
        if (is_kept(option)) {
            command += " " + option.name + (option.value ? " " + shell_word(*option.value) : "");
        }
    }
    return command + " --against FILE";
}

void write(const std::vector<StoredTensor>& tensors, const AgainstOptions& options)
{
    std::vector<io::TensorBytes> written;
    written.reserve(tensors.size());
    for (const StoredTensor& tensor : tensors) {
        written.push_back({tensor.name, tensor.type, tensor.shape, tensor.bytes});
    }
    Output output(options.suggest);
    write_tensors(written, format_of_suggested(options), {}, output);
    output.finish();
}

} // namespace

report::SuggestedFile write_suggested_input(const TiedCall& call, const model::diagnose::Diagnosis& diagnosis)
{
    const AgainstOptions& options = call.options.against;
    const bool weights = call.options.attend.show.contains(model::Item::weights);
    const std::span tied = std::span(diagnosis.candidates).first(diagnosis.named);
    report::SuggestedFile file;
    const Compared compared = weights ? Compared::weights : Compared::context;
    file.suggestion = suggest_input({call.inputs, call.options.attend, compared}, tied, {.threads = call.threads});
    if (!file.suggestion.tensors.empty()) {
        write(file.suggestion.tensors, options);
        file.path = *options.suggest;
        file.command = command_for(file.path, file.suggestion, call.typed);
    }
    return file;
}

} // namespace attn::cli
