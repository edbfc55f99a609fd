// attn-cli attend: the attention operator over tensors from files.
#include "attn/model/attend/attend.hpp"

#include "attn/model/diagnose/backward/against.hpp"
#include "attn/model/diagnose/blind_spots.hpp"
#include "attn/model/layer/mask.hpp"
#include "attn/report/json/comparison_json.hpp"
#include "attn/report/json/json.hpp"
#include "attn/report/text/blind_spots.hpp"
#include "attn/report/text/tensor_table.hpp"
#include "attn/tensor/error.hpp"
#include "cli/commands/judged_files.hpp"
#include "cli/commands/suggested_input.hpp"
#include "cli/input/tensor_inputs.hpp"
#include "cli/options/attend_options.hpp"
#include "cli/output/notes.hpp"
#include "cli/output/output.hpp"
#include "cli/output/result_output.hpp"
#include "cli/system/exit_code.hpp"
#include "cli/system/progress.hpp"
#include "cli/system/system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>
#include <vector>

namespace attn::cli {
namespace {

constexpr std::array attend_examples{
    Example{"attn-cli attend -q q.npy -k k.npy -v v.npy --causal -o y.npy", "from and to NumPy"},
    Example{"attn-cli attend -q t.npz:q -k t.npz:k -v t.npz:v --show all -o s.npz", "all stages, saved"},
    Example{"attn-cli attend -q q.npy -k k.npy -v v.npy --against mine.npy", "which mistake gives mine.npy"},
    Example{"attn-cli attend --random 2,8,128,64 --causal -o case.safetensors", "inputs drawn as by PyTorch, and the result"},
    Example{"attn-cli attend -q q.npy -k k.npy -v v.npy --mask mask.npy | jq -c '.data[0]'", "JSON, for programs"},
};
constexpr std::string_view attend_common =
    "-q -k -v --random --dtype --seed --causal --causal-align --mask --window --grad --against --blind-spots --show -o";
constexpr std::string_view attend_notes = "FILE is .npy, .npz, .safetensors or text (printed, np.savetxt, CSV, a list);\n"
                                          "NAME is required if it holds several arrays; - is standard input. Integer\n"
                                          "queries, keys and values become float32. A terminal gets a table, anything else\n"
                                          "JSON. Order: Q·Kᵀ, scale, softcap, mask, softmax, product with V.\n"
                                          "float16 and bfloat16 are computed in float32 and rounded once, at the end. The\n"
                                          "result has the type and the layout of the queries. With --against the exit code\n"
                                          "is 0 if all files agree, 1 if one differs, or that of an error.\n";

/// What was drawn, and the tensors that the options name.
model::AttendInputs open(const AttendOptions& options, const std::vector<StoredTensor>& drawn, TensorInputs& files, Log& log)
{
    model::AttendInputs inputs = model::inputs_of(drawn);
    const auto tell = [&](const model::AttendOperand& operand) {
        const TensorView& view = *operand.in(inputs);
        log.detail(fmt::format("{} {} {}", operand.name, name_of(view.type), to_string(view.shape)));
    };
    for (const StoredTensor& tensor : drawn) {
        tell(*model::operand::called(tensor.name));
    }
    for (const model::AttendOperand* operand : model::operand::all) {
        if (const auto typed = options.files.find(operand); typed != options.files.end()) {
            const bool numbers = std::ranges::find(model::operand::numbers, operand) != model::operand::numbers.end();
            operand->put(inputs, (numbers ? files.open_numbers(typed->second) : files.open(typed->second)).view);
            tell(*operand);
        }
    }
    return inputs;
}

void write_tables(const std::vector<StoredTensor>& tensors, Output& output)
{
    for (const StoredTensor& tensor : tensors) {
        const model::Item stage = *model::item_called(tensor.name);
        output.append(&tensor == &tensors.front() ? "" : "\n");
        report::write_tensor_table(
            tensor.view(),
            {.name = tensor.name, .masked = is_masked(stage), .sums = stage == model::Item::weights, .width = output.columns()},
            output);
    }
}

/// `drawn` goes before them into a file that holds several.
void write(const std::vector<StoredTensor>& drawn, const std::vector<StoredTensor>& tensors, const AttendOptions& options,
           Output& output)
{
    if (info_of(options.format).is_binary) {
        std::vector<NamedTensor> views = options.makes_case() ? views_of(drawn) : std::vector<NamedTensor>();
        std::ranges::move(views_of(tensors), std::back_inserter(views));
        output.set_beside(header_of(views, options.format));
        return write_tensors(views, options.format, {}, output);
    }
    if (!options.format_given && output.columns()) { // somebody looks at it
        return write_tables(tensors, output);
    }
    for (const StoredTensor& tensor : tensors) {
        const auto name =
            options.show.given() || tensors.size() > 1 ? std::optional<std::string_view>(tensor.name) : std::nullopt;
        report::write_tensor_json(tensor.view(), {.name = name, .masked = is_masked(*model::item_called(tensor.name))}, output);
    }
}

/// What a file holds of one of the stages asked for. Throws Error(data) where it is not there.
const model::ComparedTensor& held(const ComparedFile& file, std::string_view stage, bool several)
{
    return several ? file.called(stage) : file.only({stage});
}

/// The gradients that a file holds; nothing of one without names.
model::Show gradients_in(const ComparedFile& file)
{
    model::Show held;
    for (const model::ComparedTensor& tensor : file.contents().tensors) {
        const std::optional<model::Item> item = model::item_called(tensor.name);
        if (item && is_gradient(*item)) {
            held.insert(*item);
        }
    }
    return held;
}

/// Throws Error(usage) for a file that holds gradients and no context.
void require_no_gradients(const ComparedFile& file)
{
    const bool has_context = std::ranges::any_of(
        file.contents().tensors, [](const auto& tensor) { return tensor.name == name_of(model::Item::context); });
    if (!has_context && !gradients_in(file).empty()) {
        throw Error(ErrorKind::usage, fmt::format("{} holds gradients, which require {} FILE: that of the context", file.name(),
                                                  model::operand::grad.option));
    }
}

/// Their shapes must be those of the stages.
void read_stages(const ComparedFile& file, const std::vector<model::AskedStage>& stages)
{
    std::vector<const NamedTensor*> tensors;
    for (const model::AskedStage& stage : stages) {
        const std::string_view name = name_of(stage.item);
        const model::ComparedTensor& tensor = held(file, name, stages.size() > 1);
        model::diagnose::require_shape(tensor, stage.shape, name, file.name());
        tensors.push_back(&tensor);
    }
    read_numbers(tensors);
}

/// The files of --against, each of which holds one of these stages, or all; `only`: what open_only() gave.
int judge(const TypedCall& call, const std::vector<StoredTensor>& stages, const std::shared_ptr<const ComparedFile>& only,
          Log& log)
{
    namespace diagnose = model::diagnose;
    const diagnose::Call attention = diagnose::call_of(call.resolved);
    const core::Work work{.threads = call.globals.threads};
    diagnose::HalfReference half(call.resolved);
    const bool several = stages.size() > 1, of_gradients = is_gradient(call.resolved.stages.front().item);
    Judge judge;
    judge.json = call.options.output.json;
    judge.most_bytes = call.globals.most_bytes();
    judge.only = only;
    judge.against = [&](const ComparedFile& file) {
        std::vector<diagnose::HeldArray> arrays;
        for (const StoredTensor& right : stages) {
            const model::ComparedTensor& mine = held(file, right.name, several);
            arrays.push_back(
                {mine, right,
                 diagnose::against(attention, right, mine, file.name(), call.options.against.criterion(), half, work)});
            arrays.back().found.array = several || of_gradients ? right.name : "";
        }
        JudgedArrays judged;
        if (of_gradients) {
            const diagnose::Together together = diagnose::explain_gradients(attention, arrays, work);
            judged.together = several ? std::optional(together) : std::nullopt;
        } else if (several) {
            judged.together = diagnose::together(attention, arrays, work);
        }
        diagnose::try_other_layout(call.resolved, arrays);
        std::ranges::transform(arrays, std::back_inserter(judged.found),
                               [](diagnose::HeldArray& each) { return std::move(each.found); });
        return judged;
    };
    if (call.options.against.suggest) {
        judge.suggest = [&](const model::diagnose::Diagnosis& tied) { return write_suggested_input(call, tied); };
    }
    return judge_files(call.options.against, judge, log);
}

/// What a test on these inputs would not see.
int list_blind_spots(const TypedCall& call, const std::vector<StoredTensor>& right)
{
    const AgainstOptions& options = call.options.against;
    const core::Work work{.threads = call.globals.threads};
    const model::diagnose::BlindSpots spots = blind_spots(call.resolved, right, options.criterion(), work);
    try {
        const auto suggested =
            options.suggest ? std::optional(write_revealing_input(call, spots)) : std::optional<report::RevealingFile>();
        Output output;
        (call.options.output.json ? report::write_blind_spots_json
                                  : report::write_blind_spots)(spots, suggested ? &*suggested : nullptr, output);
        output.finish();
    } catch (const ReaderGone&) { // the exit code says what it left unread
    }
    return static_cast<Index>(spots.seen()) < options.required.value_or(0) ? difference_found : success;
}

/// Throws for a file that is to be written and read, too, and for inputs that cannot be written.
void require_writable(const AttendOptions& options, const TensorInputs& files)
{
    for (const auto& path : {options.output.path, options.against.picture, options.against.suggest}) {
        files.require_apart_from(path);
    }
    if (const std::string_view beside = info_of(options.format).beside; !beside.empty()) {
        files.require_apart_from(*options.output.path + std::string(beside));
    }
    if (options.against.suggest) {
        (void)Output(options.against.suggest);
    }
}

int execute_attend(AttendOptions& options, const TypedArguments& typed, const Globals& globals, Log& log)
{
    finish_attend_options(typed, options);
    Output output(options.output.path, info_of(options.format).beside);
    refuse_terminal(output, options.format);
    const std::shared_ptr<const ComparedFile> only = open_only(options.against, globals.most_bytes());
    TensorInputs files;
    std::vector<StoredTensor> drawn =
        options.random.given() ? model::room_for_inputs(options.random.drawn, memory_limit()) : std::vector<StoredTensor>();
    const model::AttendInputs inputs = open(options, drawn, files, log);
    if (options.show.all && inputs.mask && (inputs.mask->type == ElementType::boolean || is_integer(inputs.mask->type))) {
        options.attend.show = options.attend.show.without({model::Item::dmask}); // of booleans there is none
    }
    if (only && !options.show.given()) {
        if (!is_gradient(*options.attend.show.begin())) {
            require_no_gradients(*only);
        } else if (const model::Show held = gradients_in(*only); !held.empty()) {
            options.attend.show = held;
        }
    }
    require_writable(options, files);
    StageReporter stages(log);
    model::RunSettings settings;
    settings.threads = globals.threads;
    settings.isa = globals.isa.value_or(core::best_isa());
    settings.memory_limit = memory_limit();
    settings.observer = stages.observer();
    settings.read_numbers = [&](const NumberJudge& judge) { // now that there is room for what is asked for
        if (only) {
            read_stages(*only, model::asked_stages(inputs, options.attend));
        }
        if (!drawn.empty()) {
            model::draw_inputs(options.random.drawn, drawn);
        }
        files.read_numbers(judge);
    };
    const model::ResolvedAttend resolved(inputs, options.attend, settings);
    const model::AttendResult result = model::attend(resolved);
    files.require_unchanged();
    for (const std::string& warning : result.warnings) {
        log.warning(warning);
    }
    log.warn_of(inputs.mask ? model::doubt_about(*inputs.mask) : std::nullopt);
    log.warn_of(IsaNote(globals.isa).about(result.portable_because));
    if (options.against.given()) {
        return judge({resolved, options, typed, globals}, result.tensors, only, log);
    }
    if (options.against.blind_spots) {
        return list_blind_spots({resolved, options, typed, globals}, result.tensors);
    }
    output.show_progress(stages);
    const auto tell = [&](double share) {
        if (settings.observer) {
            settings.observer({"output", {}, share});
        }
    };
    tell(0);
    write(drawn, result.tensors, options, output);
    output.finish();
    tell(1);
    return success;
}

} // namespace

constinit const Command attend_command{
    .name = "attend",
    .summary = "Attention over queries, keys and values from files, with every stage on request.",
    .examples = attend_examples,
    .common = attend_common,
    .notes = attend_notes,
    .page = "tensors",
    .declare = with_options<AttendOptions, declare_attend, execute_attend>,
};

} // namespace attn::cli
